// SPDX-License-Identifier: MIT
//
// Lists the state of rods and their solvers for checkpoints. Arrays of variable size are padded to
// their largest size, so that a checkpoint has the same length while the number of segments
// changes.

#include "shoot/checkpoint_save.h"

void snw_shoot_rod_checkpoint(snw_shoot_rod *r, snw_shoot_checkpoint *row) {
    const size_t nn = (size_t)r->nnode, nz = (size_t)snw_shoot_nz(r);
    const size_t history = sizeof(snw_shoot_history) / sizeof(double);
    for (int k = 0; k < SNW_TIME_LEVELS; k++) {
        snw_shoot_checkpoint_numbers(row, r->level[k], nn * history);
        snw_shoot_checkpoint_numbers(row, r->zlevel[k], nn * nz);
    }
    snw_shoot_checkpoint_numbers(row, r->rate, nn * history);
    snw_shoot_checkpoint_numbers(row, r->zrate, nn * nz);
    if (snw_shoot_integrates_strain(r)) {
        for (int k = 0; k < SNW_TIME_LEVELS; k++)
            snw_shoot_checkpoint_numbers(row, r->strain_d1[k], 6 * nn);
        snw_shoot_checkpoint_numbers(row, r->strain_d1_rate, 6 * nn);
    }
    snw_shoot_checkpoint_numbers(row, r->step, SNW_TIME_LEVELS);
    snw_shoot_checkpoint_numbers(row, r->g, nn * sizeof *r->g / sizeof(double));
    snw_shoot_checkpoint_numbers(row, r->F, nn * sizeof *r->F / sizeof(double));
    snw_shoot_checkpoint_numbers(row, r->base_V.e, 6);
    snw_shoot_checkpoint_numbers(row, r->free_length, SNW_TIME_LEVELS + 1);
    snw_shoot_checkpoint_numbers(row, &r->free_length_rate, 1);
    snw_shoot_checkpoint_numbers(row, &r->feed_rate, 1);
    if (!row->in) return;
    if (r->free_length[0] != r->length) snw_shoot_set_length(r, r->free_length[0]);
    for (size_t i = 0; i < nn; i++) r->V[i] = r->level[0][i].V;
    memcpy(r->z, r->zlevel[0], nn * nz * sizeof *r->z);
}

// ---- solvers ------------------------------------------------------------------------------------

enum { STATE = sizeof(snw_shoot_state) / sizeof(double) };

static void checkpoint_pivots(int n, int *pivot, snw_shoot_checkpoint *row) {
    for (int i = 0; i < n; i++) {
        snw_shoot_checkpoint_int(row, 0, n, &pivot[i]);
        // LU pivots: a row is swapped with itself or a later one
        if (row->in && pivot[i] < i + 1) pivot[i] = i + 1;
    }
}

static int most_columns(const snw_shoot_rod *r) {
    return ((r->placed ? 18 : 15) + snw_shoot_nz(r) + 1) / 2 * 2;
}

// columns of the parameters of a rod in its segments, at most
static int most_parameters(const snw_shoot_rod *r) {
    return r->carried ? SNW_SEGMENT_A : SNW_SHOOT_Z;
}

// kept tangent of a segment: variations of its end, and the condensation
static void checkpoint_segment(const snw_shoot_rod *r, snw_segment *seg,
                               snw_shoot_checkpoint *row) {
    const int nz = snw_shoot_nz(r);
    const size_t np = (size_t)most_parameters(r);
    snw_shoot_checkpoint_int(row, 0, most_columns(r), &seg->columns);
    snw_shoot_checkpoint_numbers(row, seg->S, (size_t)(SNW_ROW_Z + nz) * (size_t)seg->columns);
    snw_shoot_checkpoint_numbers(row, seg->Y, sizeof seg->Y / sizeof(double));
    for (int a = 0; a < SNW_SEGMENT_A; a++) snw_shoot_checkpoint_numbers(row, seg->P[a], np);
    for (int i = 0; i < 6; i++) snw_shoot_checkpoint_numbers(row, seg->Mp[i], np);
    snw_shoot_checkpoint_numbers(row, seg->M, 36);
    checkpoint_pivots(6, seg->pivot, row);
}

static void checkpoint_tip(snw_boundary *b, snw_shoot_checkpoint *row) {
    snw_shoot_checkpoint_numbers(row, b->closing, sizeof b->closing / sizeof(double));
    checkpoint_pivots(6 + SNW_SHOOT_Z, b->pivot, row);
    snw_shoot_checkpoint_numbers(row, b->Wa, sizeof b->Wa / sizeof(double));
}

// largest count of one segment: its node, previous starts, and checkpoint_segment
static size_t largest_segment(const snw_shoot_rod *r) {
    snw_segment one = {.columns = most_columns(r)};
    snw_shoot_checkpoint count = {0};
    checkpoint_segment(r, &one, &count);
    return 1 + SNW_BOUNDARY_PAST * STATE + count.n;
}

// secants of previous steps, with space for increments of `most` numbers
static void checkpoint_secants(snw_secants *s, size_t most, double *weight, double *memory,
                               snw_shoot_checkpoint *row) {
    int n = s->n, kept = s->kept, newest = s->newest;
    snw_shoot_checkpoint_int(row, 0, (int)most, &n);
    snw_shoot_checkpoint_int(row, 0, SNW_BOUNDARY_SECANTS, &kept);
    snw_shoot_checkpoint_int(row, 0, SNW_BOUNDARY_SECANTS - 1, &newest);
    if (row->in) {
        *s = snw_secants_on(n, SNW_BOUNDARY_SECANTS, weight, memory);
        s->kept = kept, s->newest = newest;
    }
    snw_shoot_checkpoint_numbers(row, s->gram, sizeof s->gram / sizeof(double));
    const size_t end = row->n + (1 + 2 * SNW_BOUNDARY_SECANTS) * most;
    const size_t pairs = (size_t)n * (size_t)kept;
    snw_shoot_checkpoint_numbers(row, weight, (size_t)n);
    snw_shoot_checkpoint_numbers(row, s->g, pairs);
    snw_shoot_checkpoint_numbers(row, s->e, pairs);
    snw_shoot_checkpoint_skip(row, end);
}

enum { INCREMENT = SNW_SEGMENT_A + 6 }; // of one segment, at most

static void checkpoint_segments(snw_boundary *b, int segments, snw_shoot_checkpoint *row) {
    snw_segments *s = b->segments;
    snw_shoot_checkpoint_int(row, 0, segments < s->most ? segments : s->most, &s->n);
    snw_shoot_checkpoint_int(row, 0, SNW_SEGMENT_A, &s->na);
    snw_shoot_checkpoint_int(row, 0, SNW_BOUNDARY_PAST, &b->npast);
    snw_shoot_checkpoint_flag(row, &s->factored);
    snw_shoot_checkpoint_numbers(row, &b->c0, 1);
    checkpoint_tip(b, row);
    const size_t end = row->n + ((size_t)segments + 1) * largest_segment(s->r);
    for (int k = 0; k <= s->n && s->n > 0; k++) {
        for (int i = 0; i < SNW_BOUNDARY_PAST && k < s->n; i++) {
            snw_shoot_checkpoint_numbers(row, &b->past[i][k], STATE);
        }
        const int low = k > 0 && k < s->n ? s->seg[k - 1].node + 1 : 0;
        snw_shoot_checkpoint_int(row, low, s->r->nnode, &s->seg[k].node);
        if (s->factored) checkpoint_segment(s->r, &s->seg[k], row);
    }
    snw_shoot_checkpoint_skip(row, end);
}

// largest size of an increment of a rod in `segments`, limited by its memory
static size_t most_rows(const snw_boundary *b, int segments) {
    const int n = segments < b->segments->most ? segments : b->segments->most;
    return (size_t)n * INCREMENT;
}

void snw_boundary_checkpoint(snw_boundary *b, int segments, snw_shoot_checkpoint *row) {
    checkpoint_segments(b, segments, row);
    checkpoint_secants(&b->secants, most_rows(b, segments), b->weight, b->memory, row);
}

void snw_platform_checkpoint(snw_platform *p, int segments, snw_shoot_checkpoint *row) {
    snw_shoot_checkpoint_numbers(row, &p->g, sizeof p->g / sizeof(double));
    snw_shoot_checkpoint_numbers(row, p->V.e, 6);
    snw_shoot_checkpoint_numbers(row, p->A.e, 6);
    snw_shoot_checkpoint_numbers(row, p->past,
                                 SNW_BOUNDARY_PAST * sizeof p->past[0] / sizeof(double));
    snw_shoot_checkpoint_numbers(row, p->V_past, 6 * (size_t)SNW_TIME_LEVELS);
    snw_shoot_checkpoint_int(row, 0, SNW_BOUNDARY_PAST, &p->npast);
    snw_shoot_checkpoint_flag(row, &p->factored);
    snw_shoot_checkpoint_numbers(row, &p->c0, 1);
    snw_shoot_checkpoint_numbers(row, p->LU, 36);
    checkpoint_pivots(6, p->pivot, row);
    for (int i = 0; i < p->n; i++) {
        snw_leg *leg = &p->leg[i];
        checkpoint_segments(leg->b, segments, row);
        snw_shoot_checkpoint_numbers(row, leg->E, 36);
        checkpoint_pivots(6, leg->pivot, row);
        snw_shoot_checkpoint_numbers(row, leg->Y, 36);
        snw_shoot_checkpoint_numbers(row, leg->Z, 36);
        snw_shoot_checkpoint_numbers(row, leg->Wa, sizeof leg->Wa / sizeof(double));
    }
    size_t most = 6;
    for (int i = 0; i < p->n; i++) most += most_rows(p->leg[i].b, segments);
    checkpoint_secants(&p->secants, most, p->weight, p->memory, row);
}

static void checkpoint_limb(snw_limb *l, snw_shoot_checkpoint *row) {
    snw_shoot_checkpoint_numbers(row, l->Wa, sizeof l->Wa / sizeof(double));
    snw_shoot_checkpoint_numbers(row, l->closing, 36);
    checkpoint_pivots(6, l->pivot, row);
    snw_shoot_checkpoint_numbers(row, l->X, sizeof l->X / sizeof(double));
    snw_shoot_checkpoint_numbers(row, l->Z, sizeof l->Z / sizeof(double));
    if (snw_shoot_nz(l->end.rod) == 0) return;
    snw_shoot_checkpoint_numbers(row, l->C, sizeof l->C / sizeof(double));
    for (int i = 0; i < SNW_SHOOT_Z; i++) snw_shoot_checkpoint_flag(row, &l->closes[i]);
    snw_shoot_checkpoint_numbers(row, l->root, sizeof l->root / sizeof(double));
    checkpoint_pivots(SNW_SHOOT_Z, l->root_pivot, row);
}

void snw_tree_checkpoint(snw_tree *t, int segments, snw_shoot_checkpoint *row) {
    size_t most = 0;
    snw_shoot_checkpoint_flag(row, &t->factored);
    snw_shoot_checkpoint_numbers(row, &t->c0, 1);
    for (int i = 0; i < t->n; i++) {
        checkpoint_segments(t->limb[i].b, segments, row);
        checkpoint_limb(&t->limb[i], row);
        most += most_rows(t->limb[i].b, segments);
    }
    checkpoint_secants(&t->secants, most, t->weight, t->memory, row);
}
