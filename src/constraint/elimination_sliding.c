// SPDX-License-Identifier: MIT
//
// Tendons of given tension with friction along several rods, through the air and round corners, in
// the equations with states and wrenches as unknowns, theory.md (4.8a). The speed N_k and the
// tension M_k = d(ln T_k) - cq after_k turn_k at each point are unknowns as along one rod (4.7a):
//   N_k = N_(k+1) - d(speed of part k),
//   M_k = M_(k-1) - by_speed_k N_k - cq ((before_k + after_k) turn_k + s_k corner_k),
//   forces += T_k (dl_k/dq)' (M_k + cq after_k turn_k).
// Lengths, speeds and angles vary with the coordinates at one section, or with the states of the
// segments at the ends of a straight part and on both sides of a corner.

#include "constraint/elimination_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/tendon_corner.h"
#include "dynamics/tendon_friction.h"
#include "dynamics/tendon_point.h"

#include <string.h>

// ---- linear forms -------------------------------------------------------------------------------

// Entry of a linear form: component `at` of the state of segment seg, or coordinate `at` (seg 0).
typedef struct snw_form_entry {
    int seg, at;
    double value;
} snw_form_entry;

// A form has these entries at most.
static int form_room(const snw_model *m) {
    int most = 0;
    for (int r = 0; r < m->nrod; r++) most = m->rod[r].ndof > most ? m->rod[r].ndof : most;
    return 3 * most + 48;
}

static void form_clear(snw_form *f) { f->n = 0; }

static void form_put(snw_form *f, int seg, int at, double value) {
    f->entry[f->n++] = (snw_form_entry){seg, at, value};
}

// f += c1 . phi + c2 . dphi of the functions at a point; c2 NULL: none
static void form_functions(snw_form *f, const snw_model *m, const snw_tendon_point *p,
                           const double *c1, const double *c2) {
    const snw_rod *rod = &m->rod[p->rod];
    int n = p->phi;
    for (int a = 0; a < rod->na; n += p->count[a], a++) {
        const int c = rod->comp[a];
        for (int j = 0; j < p->count[a]; j++) {
            const double of_slope = c2 ? c2[c] * m->tendon_dphi[n + j] : 0;
            form_put(f, 0, rod->dof[a] + p->first[a] + j, c1[c] * m->tendon_phi[n + j] + of_slope);
        }
    }
}

// f += g . components first .. first + 2 of the state of a segment, g in its axes
static void form_state(snw_form *f, int seg, int first, snw_vec3 g) {
    for (int k = 0; seg > 0 && k < 3; k++) form_put(f, seg, first + k, g.e[k]);
}

// f += g . (displacement of b less that of a), g in world axes
static void form_straight(snw_form *f, const snw_tendon_segment *p, const snw_work *w, snw_vec3 g) {
    form_state(f, p->a, 3, snw_scale(-1, snw_rotate_inv(w->g[p->a].R, g)));
    form_state(f, p->b, 3, snw_rotate_inv(w->g[p->b].R, g));
}

// f += variation of the rate of the length of a straight part: n . d(v_b - v_a) + dn . (v_b - v_a)
static void form_straight_rate(snw_form *f, const snw_tendon_segment *p, const snw_work *w,
                               const snw_tendon_point_work *at, double cq, double cv) {
    snw_vec3 v = {{0}};
    const int end[2] = {p->a, p->b};
    for (int k = 0; k < 2; k++)
        v = snw_add(v, snw_scale(k ? 1 : -1, snw_rotate(w->g[end[k]].R, w->V[end[k]].v)));
    const snw_vec3 across = snw_scale(cq / at->f, snw_sub(v, snw_scale(at->df, at->n)));
    form_straight(f, p, w, snw_add(across, snw_scale(cv, at->n)));
    for (int k = 0; k < 2; k++) { // d(R v) = R (zeta'.v + w x zeta.v)
        const snw_vec3 n = snw_scale(k ? cq : -cq, snw_rotate_inv(w->g[end[k]].R, at->n));
        form_state(f, end[k], 9, n);
        form_state(f, end[k], 3, snw_cross(n, w->V[end[k]].w));
    }
}

// f += factor times the variation of the angle at a corner
static void form_corner(snw_form *f, const snw_model *m, int i, const snw_work *w, double factor) {
    const snw_tendon_corner *c = &m->tendon_corner[i];
    const snw_tendon_corner_work *at = &w->tendon_corner[i];
    const snw_vec3 slope = snw_scale(factor, snw_tendon_corner_slope(i, w));
    for (int side = 0; side < 2; side++) {
        const snw_duct *duct = &c->duct[side];
        const snw_vec3 g = snw_scale(side ? 1 : -1, slope);
        if (duct->end.rod < 0) {
            const int k = c->point - 1 + side;
            const snw_vec3 n = w->tendon_point[k].n;
            form_straight(
                f, &m->tendon_segment[m->tendon_point[k].segment], w,
                snw_scale(1 / w->tendon_point[k].f, snw_sub(g, snw_scale(snw_dot(n, g), n))));
            continue;
        }
        const snw_mat3 R = w->g[duct->seg].R;
        const snw_twist own = {{.v = snw_rotate_inv(R, g)}};
        form_state(f, duct->seg, 0, snw_cross(snw_rotate_inv(R, at->d[side]), own.v));
        double d1[6];
        snw_tendon_point_d2(&duct->end, at->xi[side], own, d1);
        form_functions(f, m, &duct->end, d1, NULL);
    }
}

static double form_times(const snw_elimination *e, const snw_form *f, const double *x) {
    double sum = 0;
    for (int k = 0; k < f->n; k++) {
        const snw_form_entry *t = &f->entry[k];
        sum += t->value *
               (t->seg ? e->state[(size_t)t->seg * (size_t)e->ns + (size_t)t->at] : x[t->at]);
    }
    return sum;
}

// Forces of the form: y by coordinates, e->f on segments.
static void form_push(snw_elimination *e, const snw_form *f, double factor, double *y) {
    for (int k = 0; k < f->n; k++) {
        const snw_form_entry *t = &f->entry[k];
        *(t->seg ? &e->f[t->seg].e[t->at] : &y[t->at]) += factor * t->value;
    }
}

// ---- points -------------------------------------------------------------------------------------

// Friction at point k and its tension; e->sliding_form has the variations of length, speed of the
// part, angle per length and angle of the corner.
typedef struct snw_sliding_point {
    snw_tendon_friction_point f;
    double T;
} snw_sliding_point;

static snw_sliding_point sliding_take(snw_elimination *e, const snw_tangent_at *at,
                                      const snw_work *w, int tendon, int k) {
    const snw_model *m = e->m;
    const snw_tendon_point *p = &m->tendon_point[k];
    const snw_tendon_point_work *now = &w->tendon_point[k];
    snw_form *of = e->sliding_form;
    snw_sliding_point x = {.f = snw_tendon_friction_point_at(m, tendon, k, w),
                           .T = w->tendon[tendon].effort * now->tension_fraction};
    for (int i = 0; i < SNW_SLIDING_FORMS; i++) form_clear(&of[i]);
    if (p->segment >= 0) {
        const snw_tendon_segment *s = &m->tendon_segment[p->segment];
        form_straight(&of[SNW_SLIDING_LENGTH], s, w, now->n);
        if (e->ns > 6) form_straight_rate(&of[SNW_SLIDING_SPEED], s, w, now, at->cq, at->cv);
    } else {
        double length[6], speed[6], of_xi[6], of_dxi[6];
        for (int c = 0; c < 6; c++) {
            length[c] = p->w * x.f.d1[c];
            speed[c] = p->w * (at->cq * x.f.d2[c] + at->cv * x.f.d1[c]);
            of_xi[c] = at->cq * x.f.of_xi[c], of_dxi[c] = at->cq * x.f.of_dxi[c];
        }
        form_functions(&of[SNW_SLIDING_LENGTH], m, p, length, NULL);
        form_functions(&of[SNW_SLIDING_SPEED], m, p, speed, NULL);
        form_functions(&of[SNW_SLIDING_TURN], m, p, of_xi, of_dxi);
    }
    if (p->corner >= 0) form_corner(&of[SNW_SLIDING_CORNER], m, p->corner, w, at->cq * x.f.corner);
    return x;
}

bool snw_sliding_acts(const snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    if (!e->sliding || (at->cq == 0 && at->cv == 0)) return false;
    for (int i = 0; i < e->m->ntendon; i++) {
        if (e->sliding[e->m->tendon[i].point_adr] >= 0 && snw_tendon_friction_acts(e->m, i, w))
            return true;
    }
    return false;
}

// Does the tendon leave its rod, or pass a corner?
static bool tendon_leaves_rod(const snw_model *m, const snw_tendon *t) {
    for (int k = t->point_adr; k < t->point_adr + t->npoint; k++) {
        if (m->tendon_point[k].segment >= 0 || m->tendon_point[k].corner >= 0) return true;
    }
    return false;
}

bool snw_tendon_is_sliding(const snw_model *m, int i) {
    return m->tendon[i].has_friction && tendon_leaves_rod(m, &m->tendon[i]);
}

snw_status snw_sliding_create(snw_elimination *e) {
    const snw_model *m = e->m;
    bool any = false;
    for (int i = 0; i < m->ntendon; i++) any |= snw_tendon_is_sliding(m, i);
    if (!any) return SNW_OK;
    const size_t room = (size_t)form_room(m);
    e->sliding = snw_alloc((size_t)m->ntendon_point * sizeof *e->sliding);
    e->sliding_speed = snw_alloc((size_t)m->ntendon_point * sizeof *e->sliding_speed);
    e->sliding_entry = snw_alloc(SNW_SLIDING_FORMS * room * sizeof *e->sliding_entry);
    if (!e->sliding || !e->sliding_speed || !e->sliding_entry) return SNW_E_MEMORY;
    for (int k = 0; k < m->ntendon_point; k++) e->sliding[k] = -1;
    for (int i = 0; i < SNW_SLIDING_FORMS; i++)
        e->sliding_form[i].entry = e->sliding_entry + (size_t)i * room;
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *t = &m->tendon[i];
        if (!snw_tendon_is_sliding(m, i)) continue;
        for (int k = t->point_adr; k < t->point_adr + t->npoint; k++) e->sliding[k] = e->nsliding++;
    }
    return SNW_OK;
}

void snw_sliding_destroy(snw_elimination *e) {
    snw_free(e->sliding);
    snw_free(e->sliding_speed);
    snw_free(e->sliding_entry);
}

// ---- product ------------------------------------------------------------------------------------

void snw_sliding_product(snw_elimination *e, const snw_tangent_at *at, const snw_work *w,
                         const double *x, double *y) {
    const snw_model *m = e->m;
    const snw_form *of = e->sliding_form;
    for (int i = 0; e->sliding && i < m->ntendon; i++) {
        const snw_tendon *t = &m->tendon[i];
        if (e->sliding[t->point_adr] < 0 || !snw_tendon_friction_acts(m, i, w)) continue;
        double speed = 0, tension = 0;
        for (int k = t->point_adr + t->npoint - 1; k >= t->point_adr; k--) {
            (void)sliding_take(e, at, w, i, k);
            speed -= form_times(e, &of[SNW_SLIDING_SPEED], x);
            e->sliding_speed[k] = speed;
        }
        for (int k = t->point_adr; k < t->point_adr + t->npoint; k++) {
            const snw_sliding_point p = sliding_take(e, at, w, i, k);
            const double turn = form_times(e, &of[SNW_SLIDING_TURN], x);
            tension -= p.f.by_speed * e->sliding_speed[k] + p.f.before * turn +
                       form_times(e, &of[SNW_SLIDING_CORNER], x);
            form_push(e, &of[SNW_SLIDING_LENGTH], p.T * tension, y);
            tension -= p.f.after * turn;
        }
    }
}

// ---- entries ------------------------------------------------------------------------------------

// Row of the speed of point k in its cell; the tension follows.
static void add_form(snw_elimination *e, int k, int row, const snw_form *f, double factor) {
    for (int i = 0; i < f->n; i++) {
        const snw_form_entry *t = &f->entry[i];
        snw_mixed_add(e, snw_mixed_point(e, k, row),
                      t->seg ? snw_mixed_state(e, t->seg, t->at) : snw_mixed_dof(e, t->at),
                      factor * t->value);
    }
}

static void add_identity(snw_elimination *e, int k) {
    for (int row = 0; row < 2; row++)
        snw_mixed_add(e, snw_mixed_point(e, k, row), snw_mixed_point(e, k, row), 1);
}

void snw_sliding_add(snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    const snw_model *m = e->m;
    const snw_form *of = e->sliding_form;
    for (int i = 0; e->sliding && i < m->ntendon; i++) {
        const snw_tendon *t = &m->tendon[i];
        if (e->sliding[t->point_adr] < 0) continue;
        const bool acts = snw_tendon_friction_acts(m, i, w);
        for (int k = t->point_adr; k < t->point_adr + t->npoint; k++) {
            add_identity(e, k);
            if (!acts) continue;
            const snw_sliding_point p = sliding_take(e, at, w, i, k);
            if (k + 1 < t->point_adr + t->npoint)
                snw_mixed_add(e, snw_mixed_point(e, k, 0), snw_mixed_point(e, k + 1, 0), -1);
            add_form(e, k, 0, &of[SNW_SLIDING_SPEED], 1);
            if (k > t->point_adr)
                snw_mixed_add(e, snw_mixed_point(e, k, 1), snw_mixed_point(e, k - 1, 1), -1);
            snw_mixed_add(e, snw_mixed_point(e, k, 1), snw_mixed_point(e, k, 0), p.f.by_speed);
            add_form(e, k, 1, &of[SNW_SLIDING_TURN], p.f.before + p.f.after);
            add_form(e, k, 1, &of[SNW_SLIDING_CORNER], 1);
            // forces
            const snw_form *length = &of[SNW_SLIDING_LENGTH], *turn = &of[SNW_SLIDING_TURN];
            for (int a = 0; a < length->n; a++) {
                const snw_form_entry *on = &length->entry[a];
                const snw_mixed_place row =
                    on->seg ? snw_mixed_wrench_row(e, on->seg, on->at) : snw_mixed_dof(e, on->at);
                snw_mixed_add(e, row, snw_mixed_point(e, k, 1), p.T * on->value);
                for (int b = 0; b < turn->n; b++)
                    snw_mixed_add(e, row, snw_mixed_dof(e, turn->entry[b].at),
                                  p.T * on->value * p.f.after * turn->entry[b].value);
            }
        }
    }
}

// ---- couplings ----------------------------------------------------------------------------------

// Cells that the functions at a point have; returns the number of pairs with them.
static int pair_functions(snw_elimination *e, int k, const snw_tendon_point *p, int n) {
    const snw_rod *rod = &e->m->rod[p->rod];
    int last = -1;
    for (int a = 0; a < rod->na; a++) {
        for (int j = 0; j < p->count[a]; j++) {
            const int cell = snw_mixed_dof(e, rod->dof[a] + p->first[a] + j).cell;
            if (cell != last) snw_mixed_pair(e, n++, snw_mixed_point(e, k, 0).cell, cell);
            last = cell;
        }
    }
    return n;
}

static int pair_segment(snw_elimination *e, int k, int seg, int n) {
    if (seg > 0)
        snw_mixed_pair(e, n++, snw_mixed_point(e, k, 0).cell, snw_mixed_state(e, seg, 0).cell);
    return n;
}

static int pair_straight(snw_elimination *e, int k, int segment, int n) {
    const snw_tendon_segment *s = &e->m->tendon_segment[segment];
    return pair_segment(e, k, s->b, pair_segment(e, k, s->a, n));
}

int snw_sliding_pairs(snw_elimination *e, int n) {
    const snw_model *m = e->m;
    for (int i = 0; e->sliding && i < m->ntendon; i++) {
        const snw_tendon *t = &m->tendon[i];
        for (int k = t->point_adr; k < t->point_adr + t->npoint; k++) {
            const snw_tendon_point *p = &m->tendon_point[k];
            if (e->sliding[k] < 0) continue;
            if (k > t->point_adr)
                snw_mixed_pair(e, n++, snw_mixed_point(e, k, 0).cell,
                               snw_mixed_point(e, k - 1, 0).cell);
            n = p->segment >= 0 ? pair_straight(e, k, p->segment, n) : pair_functions(e, k, p, n);
            for (int side = 0; p->corner >= 0 && side < 2; side++) {
                const snw_duct *duct = &m->tendon_corner[p->corner].duct[side];
                if (duct->end.rod < 0) {
                    n = pair_straight(e, k, m->tendon_point[k - 1 + side].segment, n);
                } else {
                    n = pair_functions(e, k, &duct->end, pair_segment(e, k, duct->seg, n));
                }
            }
        }
    }
    return n;
}
