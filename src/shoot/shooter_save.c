// SPDX-License-Identifier: MIT
//
// A shooter as a tape of numbers, and back.
#include "shoot/shooter_private.h"

#include "base/fail.h"
#include "shoot/saving.h"

#include <math.h>

static void carry(snw_shooter *e, snw_tape *tape) {
    for (int l = 0; l < e->nleg; l++) {
        snw_shooter_grid *grid = &e->leg[l].grid;
        for (int i = 0; i < grid->npiece; i++) snw_tape_int(tape, &grid->intervals[i]);
    }
    double *const single[] = {&e->t,    &e->h,          &e->applied,   &e->power,
                              &e->heat, &e->books.work, &e->books.heat};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) snw_tape_carry(tape, single[i], 1);
    if (e->p) snw_platform_carry(e->p, tape);
    for (int l = 0; l < e->nleg; l++) {
        snw_tape_carry(tape, e->leg[l].foot, sizeof e->leg[l].foot / (sizeof(double)));
        snw_tape_carry(tape, e->leg[l].foot_V.e, 6);
        snw_shoot_carry(e->leg[l].r, tape);
        if (e->cords.n > 0) snw_cords_carry(&e->cords, tape); // there is one rod then
        snw_boundary_carry(snw_shooter_boundary(e, l), e->leg[l].room, tape);
    }
}

// numbers on the present grid; the first one, the time of the laws, is not carried
static size_t size(const snw_shooter *e) {
    snw_tape count = {.n = 1};
    carry((snw_shooter *)e, &count);
    return count.n;
}

enum { SPARE = 4 }; // grids that change may grow by as much

// as many segments as steps of half the length need: none of the formulas has a larger c_0 than this one
static int segments_of(const snw_boundary *b, snw_shoot_rod *r, double h) {
    double segments = 1;
    if (h > 0 && b->opts.kind == SNW_BOUNDARY_BANDED) {
        snw_shoot_formula(r, SNW_TIME_TRAPEZOIDAL, 0, 0.5 * h);
        segments = ceil(snw_shoot_growth(r, r->length) / b->opts.growth);
        snw_shoot_formula(r, SNW_TIME_STATIC, 0, 1);
    }
    return (int)fmin(fmax(segments, 1), b->segments->most);
}

void snw_shooter_reserve(snw_shooter *e) {
    for (int i = 0; i < e->nleg; i++) {
        e->leg[i].room = segments_of(snw_shooter_boundary(e, i), e->leg[i].r, e->step->step);
    }
    e->saves = (e->step->shooting.error > 0 ? SPARE : 1) * size(e);
}

size_t snw_shooter_saves(const snw_shooter *e) { return e->saves; }
bool snw_shooter_fits(const snw_shooter *e) { return size(e) <= e->saves; }

void snw_shooter_save(const snw_shooter *e, double *out) {
    snw_tape tape = {.out = out, .n = 1};
    out[0] = e->in->t;
    carry((snw_shooter *)e, &tape);
}

snw_status snw_shooter_restore(snw_shooter *e, const double *in, snw_error *err) {
    const double *intervals = in + 1;
    bool same = true;
    for (int l = 0; l < e->nleg; l++) {
        snw_shooter_grid *grid = &e->leg[l].grid;
        for (int i = 0; i < grid->npiece; i++) {
            const int n = (int)*intervals++;
            same = same && n == grid->intervals[i];
            grid->intervals[i] = n;
        }
    }
    if (!same) SNW_TRY(snw_shooter_rebuild(e, e, err));
    snw_shooter_load(e, in[0], 1);
    snw_tape tape = {.in = in, .n = 1};
    carry(e, &tape);
    return SNW_OK;
}
