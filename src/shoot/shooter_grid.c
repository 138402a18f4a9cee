// SPDX-License-Identifier: MIT
//
// Grids of a shooter: sections at the points, and, where the step has an error bound, pieces whose
// intervals are chosen by the local error. The grid is fixed while a step is solved; between two
// solutions the fields of all levels may be interpolated to another grid. This is the only place
// where a step may allocate.

#include "shoot/shooter_private.h"

#include "model/material_law.h"
#include "shoot/march.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

// ---- sections -----------------------------------------------------------------------------------

// is a rod in this fluid?
static bool is_in_fluid(const snw_fluid_desc *f, int link) {
    for (int i = 0; i < f->nlink; i++) {
        if (f->link[i] == link) return true;
    }
    return false;
}

static bool is_uniform(const snw_model *m, const snw_shooter_leg *l) {
    const snw_rod_desc *d = &l->link->rod;
    const snw_material_desc *mat = d->material;
    bool x = false;
    for (int i = 0; i < 6; i++) x = x || snw_law_varies(d->rest[i]);
    for (int i = 0; i < SNW_SECTION_SIZES; i++) x = x || snw_law_varies(d->section.size[i]);
    for (int i = 0; i < 36; i++) {
        x = x || snw_law_varies(d->section.stiffness[i]) || snw_law_varies(d->section.inertia[i]) ||
            snw_law_varies(d->section.damping[i]);
    }
    if (mat) {
        x = x || snw_law_varies(mat->young) || snw_law_varies(mat->poisson) ||
            snw_law_varies(mat->shear) || snw_law_varies(mat->density) ||
            snw_law_varies(mat->damping);
    }
    for (int i = 0; i < m->nfluid; i++) {
        if (!is_in_fluid(&m->desc->fluid[i], l->rod->link)) continue;
        for (int k = 3; k < 6; k++) x = x || snw_law_varies(m->desc->fluid[i].square[k]);
    }
    return !x;
}

static snw_status fill_sections(const snw_desc *d, snw_shooter_leg *l, snw_error *err) {
    snw_shoot_rod *r = l->r;
    for (int i = 0; i < 6; i++) r->active[i] = l->link->rod.active[i];
    for (int p = 0; p < (r->uniform ? 1 : r->npoint); p++) {
        const double x = snw_shoot_point_s(r, p);
        snw_shoot_section *s = &r->section[p];
        SNW_TRY(snw_section_at(&l->link->rod, l->link->name, x, r->K + 36 * (ptrdiff_t)p, s->B,
                               &s->M, err));
        s->rest = snw_rod_rest(l->rod, x);
        for (int i = 0; i < d->nfluid; i++) {
            if (!is_in_fluid(&d->fluid[i], l->rod->link)) continue;
            for (int k = 0; k < 3; k++) {
                const snw_law law = d->fluid[i].square[3 + k];
                if (law) s->drag[k] += snw_expr_value(law, (snw_at){.x = x, .L = l->rod->L});
            }
        }
    }
    const snw_status status = snw_shoot_ready(r, 0);
    if (status == SNW_OK) return status;
    return snw_fail_at_location(
        err,
        snw_fail(err, SNW_E_MODEL,
                 "rod '%s': a strain that may change has no stiffness; give it "
                 "one, or leave it out of 'strain'",
                 l->link->name),
        l->link->rod.location.file, l->link->rod.location.line, l->link->rod.location.column);
}

// ---- division -----------------------------------------------------------------------------------

enum {
    LEAST = 3,      // fewest intervals of a piece: a cubic needs four nodes
    PIECE = 6,      // intervals of a piece with error control
    FINEST = 200000 // most intervals of a rod
};

static void divide(const snw_shooting_desc *how, double L, snw_shooter_grid *g) {
    g->npiece = 0;
    for (int i = 0; i < g->nspan; i++) {
        const double span = g->x[i] - (i > 0 ? g->x[i - 1] : 0);
        const int n = (int)fmax(round((how->points - 1) * span / L), LEAST);
        // at least one piece for each remaining span
        const int room = SNW_SHOOTER_STATIONS - g->npiece - (g->nspan - i - 1);
        int parts = how->error > 0 ? n / PIECE : 1;
        parts = parts < 1 ? 1 : (parts > room ? room : parts);
        for (int k = 0; k < parts; k++) {
            g->length[g->npiece] = span / parts;
            const int count = n / parts + (k < n % parts);
            g->intervals[g->npiece++] = count > LEAST ? count : LEAST;
        }
        g->end[i] = g->npiece - 1;
    }
}

void snw_shooter_choose_grids(snw_shooter *e) {
    for (int i = 0; i < e->nleg; i++) divide(&e->step->shooting, e->leg[i].rod->L, &e->leg[i].grid);
}

static snw_status build_leg(snw_shooter *e, snw_shooter_leg *l, snw_error *err) {
    static const snw_space_kind along[] = {SNW_ALONG_RK4, SNW_ALONG_EULER, SNW_ALONG_DP5};
    static const snw_history_interpolation interpolation[] = {SNW_HISTORY_CUBIC,
                                                              SNW_HISTORY_LINEAR};
    const snw_shooting_desc *how = &e->step->shooting;
    const snw_shoot_opts o = {.along = along[how->along],
                              .interpolation = interpolation[how->history],
                              .npiece = l->grid.npiece,
                              .length = l->grid.length,
                              .intervals = l->grid.intervals};
    SNW_TRY(snw_shoot_create(&o, l->tendons.n > 0 ? &l->tendons.law : NULL, is_uniform(e->m, l),
                             e->distributed, &l->r));
    l->r->form = how->form;
    l->r->carried = l->parent >= 0;
    l->r->nbranch = l->nbranch;
    l->r->branch = e->branch + l->first;
    SNW_TRY(fill_sections(e->m->desc, l, err));
    SNW_TRY(snw_shooter_build_fields(e, (int)(l - e->leg), err));
    if (l->tendons.n > 0) SNW_TRY(snw_shoot_tendons_place(&l->tendons, l->r));
    l->saved = snw_alloc((size_t)l->r->nnode * sizeof *l->saved);
    return l->saved ? SNW_OK : SNW_E_MEMORY;
}

static snw_status build_platform(snw_shooter *e, const snw_boundary_opts *opts) {
    snw_leg_end *end = snw_alloc((size_t)e->nleg * sizeof *end);
    if (!end) return SNW_E_MEMORY;
    for (int i = 0; i < e->nleg; i++) end[i] = snw_shooter_leg_end(e, i);
    const snw_status s = snw_platform_create(e->nleg, end, snw_se3_identity(), opts, &e->p);
    snw_free(end);
    return s;
}

static snw_status build_tree(snw_shooter *e, const snw_boundary_opts *opts) {
    snw_limb_end *end = snw_alloc((size_t)e->nleg * sizeof *end);
    if (!end) return SNW_E_MEMORY;
    for (int i = 0; i < e->nleg; i++) {
        const snw_shooter_leg *l = &e->leg[i];
        end[i] = (snw_limb_end){.rod = l->r, .parent = l->parent, .branch = l->branch};
    }
    const snw_status s = snw_tree_create(e->nleg, end, opts, &e->tree);
    snw_free(end);
    return s;
}

snw_status snw_shooter_build(snw_shooter *e, snw_error *err) {
    static const snw_boundary_kind solver[] = {SNW_BOUNDARY_BANDED, SNW_BOUNDARY_NEWTON,
                                               SNW_BOUNDARY_LEVENBERG, SNW_BOUNDARY_DOGLEG};
    e->b = NULL;
    e->p = NULL;
    e->tree = NULL;
    for (int i = 0; i < e->nleg; i++) e->leg[i].r = NULL, e->leg[i].saved = NULL;
    for (int i = 0; i < e->nleg; i++) SNW_TRY(build_leg(e, &e->leg[i], err));
    snw_shooter_join_tendons(e);
    snw_shooter_place_bodies(e);
    snw_boundary_opts opts = snw_boundary_defaults();
    opts.kind = solver[e->step->shooting.solver];
    if (e->step->tolerance > 0) opts.tol = e->step->tolerance;
    if (e->plate_seg >= 0) return build_platform(e, &opts);
    if (e->nleg > 1) return build_tree(e, &opts);
    return snw_boundary_create(e->leg[0].r, &opts, &e->b);
}

void snw_shooter_destroy_rods(snw_shooter *e) {
    snw_platform_destroy(e->p);
    snw_boundary_destroy(e->b);
    snw_tree_destroy(e->tree);
    for (int i = 0; i < e->nleg; i++) {
        snw_shoot_destroy(e->leg[i].r);
        snw_shoot_tendons_release(&e->leg[i].tendons);
        snw_shooter_release_fields(&e->leg[i].fields);
        snw_free(e->leg[i].saved);
    }
}

// ---- refinement ---------------------------------------------------------------------------------

// interpolate the fields of a rod, at all levels, to the nodes of another
static void interpolate_fields(const snw_shooter_leg *old, snw_shoot_rod *to) {
    const snw_shoot_rod *from = old->r;
    for (int p = 0; p < to->npiece; p++) {
        const snw_shoot_piece *piece = &to->piece[p];
        for (int j = 0; j <= piece->n; j++) {
            const int node = piece->node + j;
            // the last node of a piece takes the value before the jump
            const double back = j == piece->n ? 1e-12 * from->length : 0;
            const double x = piece->s + j * piece->h - back;
            const snw_shooter_field_values at = snw_shooter_fields_at(old, x / from->length);
            to->g[node] = at.g, to->F[node] = at.F, to->V[node] = at.x.V;
            for (int k = 0; k < SNW_TIME_LEVELS; k++) {
                to->level[k][node] = snw_shooter_interpolate(from, from->level[k], x);
            }
            to->rate[node] = at.rate;
        }
    }
    snw_shoot_derivatives(to);
    memcpy(to->step, from->step, sizeof to->step);
    to->base = from->base;
    to->base_V = from->base_V;
}

// the largest local error of the intervals of a piece
static double error_of(const snw_shoot_rod *r, int p) {
    double worst = 0;
    for (int j = 0; j < r->piece[p].n; j++) {
        const double x = snw_shoot_error(r, r->piece[p].node + j);
        if (!(x <= worst)) worst = x;
    }
    return worst;
}

// intervals of each piece from its error, which falls with the fifth power of their length; returns
// is a piece too coarse?
static bool choose_intervals(const snw_shooter_leg *l, double want, snw_shooter_grid *g) {
    bool coarse = false;
    int total = 0;
    for (int p = 0; p < g->npiece; p++) {
        const double error = error_of(l->r, p) / want;
        coarse = coarse || error > 2;
        const double by = fmin(fmax(pow(error, 0.2), 0.5), 3);
        const double n = ceil(1.1 * by * g->intervals[p]);
        g->intervals[p] = (int)fmin(fmax(n, LEAST), FINEST);
        total += g->intervals[p];
    }
    return coarse && total <= FINEST;
}

snw_status snw_shooter_refine(snw_shooter *e, bool *again) {
    *again = false;
    if (!(e->step->shooting.error > 0)) return SNW_OK;
    snw_shooter_grid finer = e->leg[0].grid; // of the single rod
    if (!choose_intervals(&e->leg[0], e->step->shooting.error, &finer)) return SNW_OK;
    snw_shooter before = *e;
    snw_shooter_leg old = e->leg[0];
    e->leg[0].grid = finer;
    e->leg[0].tendons.block = NULL; // remains with `old`
    snw_error ignored = {0};
    const snw_status status = snw_shooter_build(e, &ignored);
    if (status != SNW_OK) {
        snw_shooter_destroy_rods(e);
        *e = before;
        e->leg[0] = old;
        return status;
    }
    interpolate_fields(&old, e->leg[0].r);
    snw_shooter_regrid_tendons(e, &old);
    before.leg = &old;
    snw_shooter_destroy_rods(&before);
    *again = true;
    return SNW_OK;
}
