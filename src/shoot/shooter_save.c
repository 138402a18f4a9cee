// SPDX-License-Identifier: MIT
//
// A shooter as a row of numbers, and back.
#include "shoot/shooter_private.h"

#include "base/fail.h"
#include "shoot/saving.h"

#include <math.h>

static void carry(snw_shooter *e, snw_row *row) {
    for (int i = 0; i < e->grid.npiece; i++) snw_row_int(row, &e->grid.intervals[i]);
    double *const single[] = {&e->t,    &e->h,          &e->applied,   &e->power,
                              &e->heat, &e->books.work, &e->books.heat};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) snw_row_carry(row, single[i], 1);
    snw_shoot_carry(e->r, row);
    if (e->cords.n > 0) snw_cords_carry(&e->cords, row);
    snw_boundary_carry(e->b, e->room, row);
}

// numbers on the present grid; the first one, the time of the laws, is not carried
static size_t size(const snw_shooter *e) {
    snw_row count = {.n = 1};
    carry((snw_shooter *)e, &count);
    return count.n;
}

enum { SPARE = 4 }; // grids that change may grow by as much

void snw_shooter_reserve(snw_shooter *e) {
    const double h = e->step->step;
    double segments = 1;
    if (h > 0 && e->b->opts.kind == SNW_BOUNDARY_BANDED) {
        // as many as steps of half the length need: none of the formulas has a larger c_0 than this one
        snw_shoot_formula(e->r, SNW_TIME_TRAPEZOIDAL, 0, 0.5 * h);
        segments = ceil(snw_shoot_growth(e->r, e->r->length) / e->b->opts.growth);
        snw_shoot_formula(e->r, SNW_TIME_STATIC, 0, 1);
    }
    e->room = (int)fmin(fmax(segments, 1), e->b->segments->most);
    e->saves = (e->step->shooting.error > 0 ? SPARE : 1) * size(e);
}

size_t snw_shooter_saves(const snw_shooter *e) { return e->saves; }
bool snw_shooter_fits(const snw_shooter *e) { return size(e) <= e->saves; }

void snw_shooter_save(const snw_shooter *e, double *out) {
    snw_row row = {.out = out, .n = 1};
    out[0] = e->in->t;
    carry((snw_shooter *)e, &row);
}

snw_status snw_shooter_restore(snw_shooter *e, const double *in, snw_error *err) {
    snw_shooter_grid grid = e->grid;
    bool same = true;
    for (int i = 0; i < grid.npiece; i++) {
        grid.intervals[i] = (int)in[1 + i];
        same = same && grid.intervals[i] == e->grid.intervals[i];
    }
    if (!same) SNW_TRY(snw_shooter_rebuild(e, &grid, err));
    snw_shooter_load(e, in[0], 1);
    snw_row row = {.in = in, .n = 1};
    carry(e, &row);
    return SNW_OK;
}
