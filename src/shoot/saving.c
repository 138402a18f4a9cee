// SPDX-License-Identifier: MIT
#include "shoot/saving.h"

#include "base/fail.h"

void snw_shoot_carry(snw_shoot_rod *r, snw_tape *tape) {
    const size_t nn = (size_t)r->nnode, nz = (size_t)snw_shoot_nz(r);
    const size_t history = sizeof(snw_shoot_history) / sizeof(double);
    for (int k = 0; k < SNW_TIME_LEVELS; k++) {
        snw_tape_carry(tape, r->level[k], nn * history);
        snw_tape_carry(tape, r->zlevel[k], nn * nz);
    }
    snw_tape_carry(tape, r->rate, nn * history);
    snw_tape_carry(tape, r->zrate, nn * nz);
    snw_tape_carry(tape, r->step, SNW_TIME_LEVELS);
    snw_tape_carry(tape, r->g, nn * sizeof *r->g / sizeof(double));
    snw_tape_carry(tape, r->F, nn * sizeof *r->F / sizeof(double));
    snw_tape_carry(tape, r->base_V.e, 6);
    snw_tape_carry(tape, r->out, SNW_TIME_LEVELS + 1);
    snw_tape_carry(tape, &r->out_rate, 1);
    snw_tape_carry(tape, &r->feed, 1);
    if (!tape->in) return;
    for (size_t i = 0; i < nn; i++) r->V[i] = r->level[0][i].V;
    memcpy(r->z, r->zlevel[0], nn * nz * sizeof *r->z);
}

// ---- what solves it ---------------------------------------------------------------------------------

enum { STATE = sizeof(snw_shoot_state) / sizeof(double) };

static void carry_pivots(int n, int *pivot, snw_tape *tape) {
    for (int i = 0; i < n; i++) snw_tape_int(tape, &pivot[i]);
}

// what stays of a tangent: variations of the end, and the condensation
static void carry_segment(int nz, snw_segment *seg, snw_tape *tape) {
    snw_tape_int(tape, &seg->columns);
    snw_tape_carry(tape, seg->S, (size_t)(SNW_ROW_Z + nz) * (size_t)seg->columns);
    snw_tape_carry(tape, seg->Y, sizeof seg->Y / sizeof(double));
    snw_tape_carry(tape, seg->P, sizeof seg->P / sizeof(double));
    snw_tape_carry(tape, seg->Mp, sizeof seg->Mp / sizeof(double));
    snw_tape_carry(tape, seg->M, 36);
    carry_pivots(6, seg->pivot, tape);
}

static void carry_tip(snw_boundary *b, snw_tape *tape) {
    snw_tape_carry(tape, b->closing, sizeof b->closing / sizeof(double));
    carry_pivots(6 + SNW_SHOOT_Z, b->pivot, tape);
    snw_tape_carry(tape, b->Wa, sizeof b->Wa / sizeof(double));
}

// numbers of one segment at most: its node and past, and what carry_segment has
static size_t most_of(int nz) {
    snw_segment one = {.columns = (15 + nz + 1) / 2 * 2};
    snw_tape count = {0};
    carry_segment(nz, &one, &count);
    return 1 + SNW_BOUNDARY_PAST * STATE + count.n;
}

void snw_boundary_carry(snw_boundary *b, int segments, snw_tape *tape) {
    snw_segments *s = b->segments;
    const int nz = snw_shoot_nz(s->r);
    snw_tape_int(tape, &s->n);
    snw_tape_int(tape, &s->na);
    snw_tape_int(tape, &b->npast);
    snw_tape_flag(tape, &s->factored);
    snw_tape_carry(tape, &b->c0, 1);
    carry_tip(b, tape);
    const size_t end = tape->n + ((size_t)segments + 1) * most_of(nz);
    SNW_ASSERT(s->n <= segments);
    for (int k = 0; k <= s->n && s->n > 0; k++) {
        for (int i = 0; i < SNW_BOUNDARY_PAST && k < s->n; i++) {
            snw_tape_carry(tape, &b->past[i][k], STATE);
        }
        snw_tape_int(tape, &s->seg[k].node);
        if (s->factored) carry_segment(nz, &s->seg[k], tape);
    }
    SNW_ASSERT(tape->n <= end);
    tape->n = end;
}

static void carry_leg(snw_leg *l, snw_tape *tape) {
    snw_tape_carry(tape, l->E, 36);
    carry_pivots(6, l->pivot, tape);
    snw_tape_carry(tape, l->Y, 36);
    snw_tape_carry(tape, l->Z, 36);
    snw_tape_carry(tape, l->Wa, sizeof l->Wa / sizeof(double));
}

void snw_platform_carry(snw_platform *p, snw_tape *tape) {
    snw_tape_carry(tape, &p->g, sizeof p->g / sizeof(double));
    snw_tape_carry(tape, p->V.e, 6);
    snw_tape_carry(tape, p->A.e, 6);
    snw_tape_carry(tape, p->past, sizeof p->past / (sizeof(double)));
    snw_tape_carry(tape, p->V_past, sizeof p->V_past / (sizeof(double)));
    snw_tape_int(tape, &p->npast);
    snw_tape_flag(tape, &p->factored);
    snw_tape_carry(tape, &p->c0, 1);
    snw_tape_carry(tape, p->A_plate, 36);
    snw_tape_carry(tape, p->LU, 36);
    carry_pivots(6, p->pivot, tape);
    for (int i = 0; i < p->n; i++) carry_leg(&p->leg[i], tape);
}
