// SPDX-License-Identifier: MIT
//
// An observer at a section of a rod is a model of two segments: the node below, whose motion and
// columns are known, and the slice from it to the section. The recursion itself computes it. This
// model shares all arrays with the robot's but those of the slice.

#include "dynamics/observer.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fields.h"
#include "math/pose_grid.h"

#include <math.h>
#include <string.h>

enum { BELOW, SECTION, SEGMENTS };

// nphi shape functions at the points of a slice; columns: numbers of the columns of one segment
#define OBSERVER_FIELDS(AT, PACK)                                                                  \
    AT(double, phi, nphi, "shape functions at the points of the slice")                            \
    PACK(double, shown_J, columns, "Jacobian in the frame of the observer")                        \
    PACK(double, shown_dJ, columns, "its rate")                                                    \
    PACK(double, J, SEGMENTS *columns, "Jacobians of the two segments")                            \
    PACK(double, dJ, SEGMENTS *columns, "their rates")                                             \
    PACK(double, ddJ, SEGMENTS *columns, "and second rates")                                       \
    PACK(double, S, SEGMENTS *columns, "columns of the slice itself")

// Arrays of the two segments.
typedef struct snw_observer_memory {
    snw_model m;
    snw_inputs in;
    snw_work w;
    snw_seg seg[SEGMENTS];
    int seg_store[SEGMENTS];
    snw_slice slice;
    snw_slice_work slice_work;
    snw_grid_frame grid_node;
    snw_twist rest[SNW_MAGNUS_POINTS];
    snw_rest_varies_work rest_varies[SNW_MAGNUS_POINTS];
    snw_twist given[3][SNW_MAGNUS_POINTS]; // given strains and their rates
    snw_se3 h[SEGMENTS], g[SEGMENTS];
    snw_twist u[SEGMENTS], du[SEGMENTS], V[SEGMENTS], A[SEGMENTS];
    size_t nphi, columns;
    OBSERVER_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
} snw_observer_memory;

// shape functions at the points of a slice, and columns of one segment, at most
static void observer_sizes(const snw_model *m, size_t *nphi, size_t *columns) {
    *nphi = *columns = 0;
    for (int i = 0; i < m->nrod; i++) {
        size_t n = 0;
        for (int a = 0; a < m->rod[i].na; a++) n += (size_t)m->rod[i].nfun[a];
        if (n > *nphi) *nphi = n;
    }
    for (int i = 0; i < m->npath; i++) {
        const size_t n = 6 * (size_t)m->path[i].ld;
        if (n > *columns) *columns = n;
    }
    *nphi *= SNW_MAGNUS_POINTS;
    if (m->ngrid) *nphi += SNW_GRID_MOST;
}

static void observer_place(void *object, snw_fields *f) {
    snw_observer_memory *o = object;
    const size_t nphi = o->nphi, columns = o->columns;
    OBSERVER_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

snw_status snw_observer_create(const snw_model *m, snw_observer **out) {
    *out = NULL;
    snw_observer *o = snw_alloc(sizeof *o);
    snw_observer_memory *x = snw_alloc(sizeof *x);
    if (x) {
        observer_sizes(m, &x->nphi, &x->columns);
        x->block = snw_fields_create(observer_place, x);
    }
    if (!o || !x || !x->block) {
        if (x) snw_free(x->block);
        snw_free(x);
        snw_free(o);
        return SNW_E_MEMORY;
    }
    o->memory = x;
    o->J = x->shown_J;
    o->dJ = x->shown_dJ;
    *out = o;
    return SNW_OK;
}

void snw_observer_destroy(snw_observer *o) {
    if (!o) return;
    snw_free(o->memory->block);
    snw_free(o->memory);
    snw_free(o);
}

void snw_observer_at_seg(snw_observer *o, int seg, snw_se3 shift) {
    o->seg = seg;
    o->rod = -1;
    o->x = 0;
    o->shift = shift;
}

void snw_observer_at_section(const snw_model *m, snw_observer *o, int rod, double x,
                             snw_se3 shift) {
    const snw_rod *r = &m->rod[rod];
    int below = r->root;
    double from = 0;
    for (int i = r->seg0; i < r->seg0 + r->nseg && m->seg_x[i] <= x * (1 + 1e-12); i++)
        below = i, from = m->seg_x[i];
    snw_observer_at_seg(o, below, shift);
    if (x - from <= 1e-12 * r->L) return;
    if (r->grid) o->seg = r->root; // sections of a grid are children of its root
    o->rod = rod;
    o->x = x;
}

// the slice from the node below to the section, as model and inputs have them at their slices
static void observer_slice(const snw_model *m, const snw_inputs *in, const snw_observer *o) {
    snw_observer_memory *x = o->memory;
    const snw_rod *r = &m->rod[o->rod];
    const double from = o->seg == r->root ? 0 : m->seg_x[o->seg];
    (void)snw_rod_slice(r, from, o->x, &x->slice, x->phi, x->rest);
    x->slice.rod = o->rod;
    for (int e = 0; e < 6; e++) {
        if (r->given[e]) x->slice.field = 0;
    }
    for (int k = 0; x->slice.field == 0 && k < r->nc; k++) {
        snw_given_strains(r, from + r->rule.c[k] * x->slice.h, in->t, &x->given[0][k],
                          &x->given[1][k], &x->given[2][k]);
    }
}

// the model of two segments, with the motion of the first
static void observer_model(const snw_model *m, const snw_inputs *in, const snw_work *w,
                           const snw_observer *o) {
    snw_observer_memory *x = o->memory;
    const int path = m->seg[m->rod[o->rod].seg0].path;
    x->seg[BELOW] = m->seg[o->seg];
    x->seg[SECTION] = (snw_seg){.kind = SNW_SEG_ROD,
                                .parent = BELOW,
                                .item = 0,
                                .link = m->rod[o->rod].link,
                                .path = path,
                                .condition = m->seg[o->seg].condition};
    x->seg_store[BELOW] = 0;
    x->seg_store[SECTION] = (int)x->columns;
    x->m = *m;
    x->m.nseg = 1;
    x->m.nobs = 1;
    x->m.seg = x->seg;
    x->m.seg_store = x->seg_store;
    x->m.slice = &x->slice;
    x->m.phi = x->phi;
    x->m.xi0 = x->rest;
    x->m.ngrid = 0; // the shapes of grids are known
    x->in = *in;
    x->in.xi = x->given[0];
    x->in.dxi = x->given[1];
    x->in.ddxi = x->given[2];
    x->w = *w;
    x->w.h = x->h;
    x->w.g = x->g;
    x->w.u = x->u;
    x->w.du = x->du;
    x->w.V = x->V;
    x->w.A = x->A;
    x->w.slice = &x->slice_work;
    x->w.grid_node = &x->grid_node;
    x->w.rest_varies = x->rest_varies;
    x->w.J = x->J;
    x->w.dJ = x->dJ;
    x->w.ddJ = x->ddJ;
    x->w.S = x->S;
    x->g[BELOW] = w->g[o->seg];
    x->V[BELOW] = w->V[o->seg];
    x->A[BELOW] = w->A[o->seg];
}

void snw_observer_motion(const snw_model *m, const snw_inputs *in, const snw_state *s,
                         const snw_work *w, snw_observer *o) {
    SNW_ASSERT(!w->is_static);
    snw_observer_memory *x = o->memory;
    snw_se3 g = w->g[o->seg];
    snw_twist V = w->V[o->seg], A = w->A[o->seg];
    if (o->rod >= 0) {
        observer_slice(m, in, o);
        observer_model(m, in, w, o);
        snw_observe(&x->m, &x->in, s, false, &x->w);
        g = x->g[SECTION];
        V = x->V[SECTION];
        A = x->A[SECTION];
    }
    o->g = snw_se3_mul(g, o->shift);
    o->V = snw_twist_to_child(o->shift, V);
    o->A = snw_twist_to_child(o->shift, A);
}

// out <- columns in the frame of the observer
static void observer_shift(const snw_observer *o, const double *J, double *out) {
    const int ld = o->path->ld;
    for (int j = 0; j < o->path->n; j++) {
        snw_twist column;
        for (int i = 0; i < 6; i++) column.e[i] = J[i * ld + j];
        column = snw_twist_to_child(o->shift, column);
        for (int i = 0; i < 6; i++) out[i * ld + j] = column.e[i];
    }
}

void snw_observer_jacobian(const snw_model *m, const snw_work *w, snw_observer *o) {
    snw_observer_memory *x = o->memory;
    o->path = &m->path[m->seg[o->seg].path];
    const size_t at = o->path->n > 0 ? (size_t)m->seg_store[o->seg] : 0;
    const double *J = w->J + at, *dJ = w->dJ + at;
    if (o->rod >= 0) {
        const size_t below = 6 * (size_t)o->path->ld * sizeof *J;
        if (o->path->n > 0) {
            memcpy(x->J, w->J + at, below);
            memcpy(x->dJ, w->dJ + at, below);
            memcpy(x->ddJ, w->ddJ + at, below);
        }
        o->path = &m->path[x->seg[SECTION].path];
        x->m.nseg = SEGMENTS;
        x->m.nobs = 0;
        x->m.store_own = 0;
        snw_jacobian_pass(&x->m, &x->w);
        J = x->J + x->columns;
        dJ = x->dJ + x->columns;
    }
    observer_shift(o, J, o->J);
    observer_shift(o, dJ, o->dJ);
}
