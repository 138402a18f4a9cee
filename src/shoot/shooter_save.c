// SPDX-License-Identifier: MIT
//
// Checkpoint of a shooter as a row of numbers, and its restoration. The first number is the time of
// the inputs.

#include "shoot/shooter_private.h"

#include "base/fail.h"
#include "shoot/checkpoint_save.h"

#include <limits.h>
#include <math.h>

static void shooter_checkpoint(snw_shooter *e, snw_shoot_checkpoint *row) {
    for (int l = 0; l < e->nleg; l++) {
        snw_shooter_grid *grid = &e->leg[l].grid;
        for (int i = 0; i < grid->npiece; i++) {
            snw_shoot_checkpoint_int(row, 1, INT_MAX, &grid->intervals[i]);
        }
    }
    double *const single[] = {
        &e->t, &e->h, &e->applied, &e->power, &e->heat, &e->account.work, &e->account.heat};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        snw_shoot_checkpoint_numbers(row, single[i], 1);
    for (int l = 0; l < e->nleg; l++) {
        snw_shoot_checkpoint_numbers(row, e->leg[l].base_past,
                                     sizeof e->leg[l].base_past / (sizeof(double)));
        snw_shoot_checkpoint_numbers(row, e->leg[l].base_V_past.e, 6);
        snw_shoot_rod_checkpoint(e->leg[l].r, row);
    }
    for (int l = 0; l < e->nleg; l++) {
        if (e->leg[l].tendons.n > 0) snw_shoot_tendons_checkpoint(&e->leg[l].tendons, row);
    }
    if (e->b) snw_boundary_checkpoint(e->b, e->saved_segments, row);
    if (e->p) snw_platform_checkpoint(e->p, e->saved_segments, row);
    if (e->tree) snw_tree_checkpoint(e->tree, e->saved_segments, row);
}

// numbers on the present grid
static size_t shooter_checkpoint_count(const snw_shooter *e) {
    snw_shoot_checkpoint count = {.n = 1};
    shooter_checkpoint((snw_shooter *)e, &count);
    return count.n;
}

static const snw_boundary *boundary_of(const snw_shooter *e, int leg) {
    if (e->tree) return e->tree->limb[leg].b;
    return e->p ? e->p->leg[leg].b : e->b;
}

// segments that a rod needs for steps of half the length; no other formula has a larger c_0
static double segments_of(const snw_shooter *e, int leg) {
    const snw_boundary *b = boundary_of(e, leg);
    snw_shoot_rod *r = e->leg[leg].r;
    const int at_branches = r->nbranch; // further segments, at most
    if (!(e->step->step > 0) || b->opts.kind != SNW_BOUNDARY_BANDED) return 1 + at_branches;
    snw_shoot_formula(r, (snw_levels){.past = 1, .alpha = -0.5}, 0.5 * e->step->step);
    const double n = ceil(snw_shoot_growth(r, r->length) / b->opts.growth);
    snw_shoot_formula(r, (snw_levels){0}, 1);
    return fmin(fmax(n, 1) + at_branches, b->segments->most);
}

enum { SPARE = 4 }; // factor by which grids with error control may grow

void snw_shooter_reserve(snw_shooter *e) {
    double segments = 1;
    for (int l = 0; l < e->nleg; l++) segments = fmax(segments, segments_of(e, l));
    e->saved_segments = (int)segments;
    e->checkpoint_size = (e->step->shooting.error > 0 ? SPARE : 1) * shooter_checkpoint_count(e);
}

bool snw_shooter_segments_fit(const snw_shooter *e) {
    bool all = true;
    for (int l = 0; l < e->nleg; l++)
        all = all && boundary_of(e, l)->segments->n <= e->saved_segments;
    return all;
}

size_t snw_shooter_checkpoint_size(const snw_shooter *e) { return e->checkpoint_size; }
bool snw_shooter_checkpoint_fits(const snw_shooter *e) {
    return shooter_checkpoint_count(e) <= e->checkpoint_size;
}

void snw_shooter_save(const snw_shooter *e, double *out) {
    snw_shoot_checkpoint row = {.out = out, .room = e->checkpoint_size, .n = 1};
    out[0] = e->t_laws;
    shooter_checkpoint((snw_shooter *)e, &row);
    SNW_ASSERT(!row.bad); // the caller has checked snw_shooter_checkpoint_fits
}

static snw_status report_damage(snw_error *err) {
    return snw_fail(err, SNW_E_ARGUMENT, "the checkpoint is damaged: run again without --resume");
}

// rebuild the rods if the grids of the checkpoint differ from the present ones
static snw_status restore_grids(snw_shooter *e, const double *in, snw_error *err) {
    bool same = true;
    const double *n = in;
    double left = (double)e->checkpoint_size; // an interval saves more than one number
    for (int l = 0; l < e->nleg; l++) {
        const snw_shooter_grid *grid = &e->leg[l].grid;
        for (int i = 0; i < grid->npiece; i++, n++) {
            if (!(*n >= 1 && *n <= fmin(left, INT_MAX))) return report_damage(err);
            left -= *n;
            same = same && grid->intervals[i] == (int)*n;
        }
    }
    if (same) return SNW_OK;
    snw_shooter_destroy_rods(e);
    for (int l = 0; l < e->nleg; l++) {
        snw_shooter_grid *grid = &e->leg[l].grid;
        for (int i = 0; i < grid->npiece; i++) grid->intervals[i] = (int)*in++;
    }
    return snw_shooter_build(e, err);
}

snw_status snw_shooter_restore(snw_shooter *e, const double *in, snw_error *err) {
    SNW_TRY(restore_grids(e, in + 1, err));
    snw_shooter_apply_inputs(e, in[0], 1);
    e->t_laws = in[0];
    snw_shoot_checkpoint row = {.in = in, .room = e->checkpoint_size, .n = 1};
    if (!snw_shooter_checkpoint_fits(e)) return report_damage(err);
    shooter_checkpoint(e, &row);
    return row.bad ? report_damage(err) : SNW_OK;
}
