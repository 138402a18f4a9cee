// SPDX-License-Identifier: MIT
//
// The grid of a shooter: sections at its points, and, where that is asked for, pieces that are cut finer or coarser by the error
// of their intervals. A grid stands still while a step is solved; between two solutions the fields, with all of their past, may
// move to another one. That is the only place where a step may take memory.
#include "shoot/shooter_private.h"

#include "shoot/march.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <math.h>
#include <string.h>

// ---- sections ---------------------------------------------------------------------------------------

// does a law depend on x?
static bool varies(snw_law law) { return law && (snw_expr_vars(law) & SNW_VAR_X) != 0; }

static bool is_uniform(const snw_model *m, const snw_link_desc *link) {
    const snw_rod_desc *d = &link->rod;
    const snw_material_desc *mat = d->material;
    bool x = false;
    for (int i = 0; i < 6; i++) x = x || varies(d->rest[i]);
    for (int i = 0; i < 4; i++) x = x || varies(d->section.size[i]);
    for (int i = 0; i < 36; i++) {
        x = x || varies(d->section.stiffness[i]) || varies(d->section.inertia[i]) ||
            varies(d->section.damping[i]);
    }
    if (mat) {
        x = x || varies(mat->young) || varies(mat->poisson) || varies(mat->shear) ||
            varies(mat->density) || varies(mat->damping);
    }
    for (int i = 0; i < m->desc->nfluid; i++) {
        for (int k = 3; k < 6; k++) x = x || varies(m->desc->fluid[i].square[k]);
    }
    return !x;
}

static snw_status fill_sections(snw_shooter *e, snw_error *err) {
    snw_shoot_rod *r = e->r;
    const snw_desc *d = e->m->desc;
    for (int i = 0; i < 6; i++) r->active[i] = e->link->rod.active[i];
    for (int p = 0; p < (r->uniform ? 1 : r->npoint); p++) {
        const double x = snw_shoot_point_s(r, p);
        snw_shoot_section *s = &r->section[p];
        SNW_TRY(snw_section_at(&e->link->rod, e->link->name, x, r->K + 36 * (ptrdiff_t)p, s->B,
                               &s->M, err));
        s->rest = snw_rod_rest(&e->link->rod, x);
        for (int i = 0; i < d->nfluid; i++) {
            for (int k = 0; k < 3; k++) {
                const snw_law law = d->fluid[i].square[3 + k];
                if (law) s->drag[k] += snw_expr_value(law, (snw_at){.x = x, .L = e->rod->L});
            }
        }
    }
    const snw_status status = snw_shoot_ready(r, 0);
    if (status == SNW_OK) return status;
    return snw_fail_place(err,
                          snw_fail(err, SNW_E_MODEL,
                                   "rod '%s': a strain that may change has no stiffness; give it "
                                   "one, or leave it out of 'strain'",
                                   e->link->name),
                          e->link->rod.place.file, e->link->rod.place.line,
                          e->link->rod.place.column);
}

// ---- cutting ----------------------------------------------------------------------------------------

enum {
    LEAST = 3,      // intervals of a piece: a cubic takes four nodes
    PIECE = 6,      // intervals of a piece that may be cut by its error
    FINEST = 200000 // intervals of a rod
};

void snw_shooter_cut(snw_shooter *e) {
    const snw_shooting_desc *how = &e->step->shooting;
    snw_shooter_grid *g = &e->grid;
    g->npiece = 0;
    for (int i = 0; i < g->nspan; i++) {
        const double span = g->x[i] - (i > 0 ? g->x[i - 1] : 0);
        const int n = (int)fmax(round((how->points - 1) * span / e->rod->L), LEAST);
        // room for at least one piece of each span to come
        const int room = SNW_SHOOTER_STATIONS - g->npiece - (g->nspan - i - 1);
        int parts = how->error > 0 ? n / PIECE : 1;
        parts = parts < 1 ? 1 : (parts > room ? room : parts);
        for (int k = 0; k < parts; k++) {
            g->length[g->npiece] = span / parts;
            const int share = n / parts + (k < n % parts);
            g->intervals[g->npiece++] = share > LEAST ? share : LEAST;
        }
        g->end[i] = g->npiece - 1;
    }
}

snw_status snw_shooter_build(snw_shooter *e, snw_error *err) {
    static const snw_space_kind along[] = {SNW_ALONG_RK4, SNW_ALONG_EULER, SNW_ALONG_DP5};
    static const snw_between between[] = {SNW_BETWEEN_CUBIC, SNW_BETWEEN_LINEAR};
    static const snw_boundary_kind solver[] = {SNW_BOUNDARY_BANDED, SNW_BOUNDARY_NEWTON,
                                               SNW_BOUNDARY_LEVENBERG, SNW_BOUNDARY_DOGLEG};
    const snw_shooting_desc *how = &e->step->shooting;
    const snw_shoot_opts o = {.along = along[how->along],
                              .between = between[how->history],
                              .npiece = e->grid.npiece,
                              .length = e->grid.length,
                              .intervals = e->grid.intervals};
    e->r = NULL;
    e->b = NULL;
    e->kept = NULL;
    SNW_TRY(snw_shoot_create(&o, e->cords.n > 0 ? &e->cords.law : NULL, is_uniform(e->m, e->link),
                             e->along, &e->r));
    e->r->replica = how->replica;
    SNW_TRY(fill_sections(e, err));
    if (e->cords.n > 0) SNW_TRY(snw_cords_place(&e->cords, e->r));
    snw_shooter_place(e);
    e->kept = snw_alloc((size_t)e->r->nnode * sizeof *e->kept);
    if (!e->kept) return SNW_E_MEMORY;
    snw_boundary_opts opts = snw_boundary_defaults();
    opts.kind = solver[how->solver];
    if (e->step->tolerance > 0) opts.tol = e->step->tolerance;
    return snw_boundary_create(e->r, &opts, &e->b);
}

snw_status snw_shooter_rebuild(snw_shooter *e, const snw_shooter_grid *grid, snw_error *err) {
    snw_boundary_destroy(e->b);
    snw_shoot_destroy(e->r);
    snw_free(e->kept);
    snw_cords_release(&e->cords);
    e->grid = *grid;
    return snw_shooter_build(e, err);
}

// ---- refining ---------------------------------------------------------------------------------------

// fields of one rod on the nodes of another
static void carry_fields(const snw_shooter *e, const snw_shoot_rod *from, snw_shoot_rod *to) {
    const snw_shooter old = {.m = e->m, .link = e->link, .rod = e->rod, .r = (snw_shoot_rod *)from};
    for (int p = 0; p < to->npiece; p++) {
        const snw_shoot_piece *piece = &to->piece[p];
        for (int j = 0; j <= piece->n; j++) {
            const int node = piece->node + j;
            // a node before a break looks at what is before it
            const double back = j == piece->n ? 1e-12 * e->rod->L : 0;
            const double x = piece->s + j * piece->h - back;
            const snw_shooter_at at = snw_shooter_look(&old, x);
            to->g[node] = at.g, to->F[node] = at.F, to->V[node] = at.x.V;
            for (int k = 0; k < SNW_TIME_LEVELS; k++) {
                to->level[k][node] = snw_shooter_between(from, from->level[k], x);
            }
            to->rate[node] = at.rate;
        }
    }
    memcpy(to->step, from->step, sizeof to->step);
    to->base = from->base;
    to->base_V = from->base_V;
}

// the largest error of the intervals of a piece
static double error_of(const snw_shoot_rod *r, int p) {
    double worst = 0;
    for (int j = 0; j < r->piece[p].n; j++) {
        const double x = snw_shoot_error(r, r->piece[p].node + j);
        if (!(x <= worst)) worst = x;
    }
    return worst;
}

// intervals of each piece by its error, which falls with the fifth power of their length; does one need more?
static bool choose(const snw_shooter *e, snw_shooter_grid *g) {
    const double want = e->step->shooting.error;
    bool coarse = false;
    int total = 0;
    for (int p = 0; p < g->npiece; p++) {
        const double miss = error_of(e->r, p) / want;
        coarse = coarse || miss > 2;
        const double by = fmin(fmax(pow(miss, 0.2), 0.5), 3);
        const double n = ceil(1.1 * by * g->intervals[p]);
        g->intervals[p] = (int)fmin(fmax(n, LEAST), FINEST);
        total += g->intervals[p];
    }
    return coarse && total <= FINEST;
}

snw_status snw_shooter_refine(snw_shooter *e, bool *again) {
    *again = false;
    if (!(e->step->shooting.error > 0)) return SNW_OK;
    snw_shooter_grid finer = e->grid;
    if (!choose(e, &finer)) return SNW_OK;
    const snw_shooter was = *e;
    e->grid = finer;
    snw_error ignored = {0};
    const snw_status status = snw_shooter_build(e, &ignored);
    if (status != SNW_OK) {
        snw_boundary_destroy(e->b);
        snw_shoot_destroy(e->r);
        snw_free(e->kept);
        *e = was;
        return status;
    }
    carry_fields(e, was.r, e->r);
    snw_boundary_destroy(was.b);
    snw_shoot_destroy(was.r);
    snw_free(was.kept);
    *again = true;
    return SNW_OK;
}
