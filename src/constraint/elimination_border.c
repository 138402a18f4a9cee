// SPDX-License-Identifier: MIT
//
// Border of an elimination, theory.md (4.8): constraint rows, and forces between distant segments.
//   [T0 U; V G] [x; y] = [b; c]
// T0 is the tangent with all forces that act at one segment, eliminated along the tree; y are the
// multipliers of the rows (U = -s C', V = -s C, G = 0), the wrenches on an end of a pair by the
// state of the other end (U its force, V = -E, G = 1) and the efforts of tendons by their lengths.
// With S = G - V inv(T0) U,
//   S y = c - V inv(T0) b,   x = inv(T0) (b - U y).
// The tree alone may answer b with motions much larger than x, whose rounding stays in the rows:
// what these leave, c - V x - G y, is solved for once more. A column of S takes one solution along
// the tree, a right-hand side three. Nothing is stored for each coordinate and unknown.

#include "constraint/elimination_private.h"

#include "base/alloc.h"
#include "dynamics/constraint.h"
#include "dynamics/segment_pair.h"
#include "dynamics/tendon.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum { STATE = SNW_ELIMINATION_STATE };

snw_status snw_border_create(snw_elimination *e) {
    const snw_model *m = e->m;
    const int pairs = snw_segment_pairs(m);
    int touches, ends;
    snw_touch_room(m, &touches, &e->most_touched, &ends);
    e->most_straight =
        m->ntendon_segment < SNW_LOCAL_STRAIGHT ? m->ntendon_segment : SNW_LOCAL_STRAIGHT;
    e->most_border = m->nconstraint + 12 * pairs + m->ntendon + snw_winch_room(m) +
                     2 * e->most_straight + 6 * e->most_touched;
    const size_t n = (size_t)e->most_border;
    if (n == 0) return SNW_OK;
    e->border = snw_alloc(n * sizeof *e->border);
    e->pair = snw_alloc((size_t)(pairs + 1) * sizeof *e->pair);
    e->schur = snw_alloc(n * n * sizeof *e->schur);
    e->gram = snw_alloc(6 * n * n * sizeof *e->gram);
    e->touch = snw_alloc((size_t)(touches + 1) * sizeof *e->touch);
    e->touched = snw_alloc((size_t)(ends + 1) * sizeof *e->touched);
    e->touch_seen = snw_alloc((size_t)m->nseg * sizeof *e->touch_seen);
    e->touched_of_seg = snw_alloc((size_t)m->nseg * sizeof *e->touched_of_seg);
    for (int i = 0; e->touched_of_seg && i < m->nseg; i++) e->touched_of_seg[i] = -1;
    e->border_rhs = snw_alloc(2 * n * sizeof *e->border_rhs);
    e->border_pivot = snw_alloc(n * sizeof *e->border_pivot);
    e->x = snw_alloc((size_t)m->nv * sizeof *e->x);
    size_t values = 2 * m->store_tendon + (size_t)m->ndrive + 1;
    for (int i = 0; i < m->nloop; i++) values += 6 * (size_t)m->loop[i].ncoupled;
    e->value = snw_alloc(values * sizeof *e->value);
    return e->touch && e->touch_seen && e->touched && e->touched_of_seg && e->gram && e->border &&
                   e->pair && e->schur && e->border_rhs && e->border_pivot && e->x && e->value
               ? SNW_OK
               : SNW_E_MEMORY;
}

void snw_border_destroy(snw_elimination *e) {
    void *const own[] = {e->border,       e->pair,    e->schur,          e->border_rhs,
                         e->border_pivot, e->x,       e->value,          e->gram,
                         e->touch,        e->touched, e->touched_of_seg, e->touch_seen};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) snw_free(own[i]);
}

// ---- pairs --------------------------------------------------------------------------------------

// Variation of the wrenches of pair k by component j of the state of end l: with the state
// (zeta, zeta', zeta'') the pose varies by cq zeta, the velocity by cq (zeta' + ad_V zeta) + cv
// zeta.
static void vary_pair(const snw_elimination *e, const snw_tangent_at *at, const snw_work *w, int k,
                      int l, int j, snw_wrench d[2]) {
    const int seg = e->pair[k].seg[l];
    snw_twist s[2] = {0}, zeta[2] = {0}, dV[2] = {0};
    s[j / 6].e[j % 6] = 1;
    zeta[l] = snw_twist_scale(at->cq, s[0]);
    if (e->ns == STATE) {
        const snw_twist rate = snw_twist_add(s[1], snw_ad(w->V[seg], s[0]));
        dV[l] = snw_twist_add(snw_twist_scale(at->cq, rate), snw_twist_scale(at->cv, s[0]));
    }
    snw_segment_pair_variation(e->m, w, k, zeta, dV, d);
}

static void take_pairs(snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    for (int k = 0; k < snw_segment_pairs(e->m); k++) {
        snw_pair_matrix *p = &e->pair[k];
        snw_segment_pair_ends(e->m, k, p->seg);
        p->acts = snw_segment_pair_acts(e->m, w, k) && (at->cq != 0 || at->cv != 0);
        if (!p->acts) continue;
        memset(p->E, 0, sizeof p->E);
        for (int l = 0; l < 2; l++) {
            const int columns = e->ns < 12 ? e->ns : 12; // zeta'' has no part
            for (int j = 0; p->seg[l] > 0 && j < columns; j++) {
                snw_wrench d[2];
                vary_pair(e, at, w, k, l, j, d);
                for (int r = 0; r < 6; r++) {
                    p->E[0][l][r * e->ns + j] = d[0].e[r];
                    p->E[1][l][r * e->ns + j] = d[1].e[r];
                }
            }
        }
    }
}

// ---- straight segments of tendons ---------------------------------------------------------------

// Tension in point k of tendon i times cq; 0: it has no curvature.
static double straight_force(const snw_model *m, const snw_tangent_at *at, const snw_work *w, int i,
                             int k) {
    if (m->tendon_point[k].segment < 0) return 0;
    return at->cq * w->tendon[i].effort * w->tendon_point[k].tension_fraction;
}

// P <- variation of its wrench W = -F on one end (sign of its position in p_b - p_a) by the
// rotation of that end alone: its direction n in the axes of the end turns.
static void add_straight_end(const snw_elimination *e, const snw_work *w, int seg, double f,
                             snw_vec3 n, double *P) {
    const snw_vec3 own = snw_rotate_inv(w->g[seg].R, n);
    for (int j = 0; j < 3; j++) {
        snw_vec3 axis = {{0}};
        axis.e[j] = 1;
        const snw_vec3 d = snw_cross(axis, own);
        for (int r = 0; r < 3; r++) P[(3 + r) * e->ns + j] -= f * d.e[r];
    }
}

static void add_straight_ends(snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    const snw_model *m = e->m;
    for (int i = 0; i < m->ntendon; i++) {
        for (int k = m->tendon[i].point_adr; k < m->tendon[i].point_adr + m->tendon[i].npoint;
             k++) {
            const double f = straight_force(m, at, w, i, k);
            if (f == 0) continue;
            const snw_tendon_segment *p = &m->tendon_segment[m->tendon_point[k].segment];
            const snw_vec3 n = w->tendon_point[k].n;
            const size_t size = 6 * (size_t)e->ns;
            if (p->a) add_straight_end(e, w, p->a, -f, n, e->P + (size_t)e->slot[p->a] * size);
            if (p->b) add_straight_end(e, w, p->b, f, n, e->P + (size_t)e->slot[p->b] * size);
        }
    }
}

// The difference of the displacements of both ends across n changes the direction of the tension
// f: T += f/l (t t' + s s') for unit vectors t, s across n.
static void straight_axes(snw_vec3 n, snw_vec3 axis[2]) {
    int least = 0;
    for (int i = 1; i < 3; i++) least = fabs(n.e[i]) < fabs(n.e[least]) ? i : least;
    snw_vec3 x = {{0}};
    x.e[least] = 1;
    const snw_vec3 t = snw_cross(n, x);
    axis[0] = snw_scale(1 / snw_norm(t), t);
    axis[1] = snw_cross(n, axis[0]);
}

int snw_count_straight(const snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    const snw_model *m = e->m;
    int n = 0;
    for (int i = 0; i < m->ntendon; i++) {
        for (int k = m->tendon[i].point_adr; k < m->tendon[i].point_adr + m->tendon[i].npoint; k++)
            n += straight_force(m, at, w, i, k) != 0;
    }
    return n;
}

void snw_straight_take(const snw_elimination *e, const snw_tangent_at *at, const snw_work *w, int i,
                       int k, snw_straight_matrix *out) {
    const double f = straight_force(e->m, at, w, i, k);
    out->acts = f != 0;
    if (f == 0) return;
    const snw_tendon_segment *p = &e->m->tendon_segment[e->m->tendon_point[k].segment];
    snw_vec3 axis[2];
    straight_axes(w->tendon_point[k].n, axis);
    out->seg[0] = p->a, out->seg[1] = p->b;
    memset(out->E, 0, sizeof out->E);
    for (int a = 0; a < 2; a++) {
        snw_vec3 u[2];
        for (int l = 0; l < 2; l++)
            u[l] = snw_scale(l ? 1 : -1, snw_rotate_inv(w->g[out->seg[l]].R, axis[a]));
        for (int r = 0; r < 6; r++) {
            for (int c = 0; c < 6; c++)
                out->E[r][c] += f / w->tendon_point[k].f * u[r / 3].e[r % 3] * u[c / 3].e[c % 3];
        }
    }
}

static void list_straight(snw_elimination *e, const snw_tangent_at *at, const snw_work *w, int i,
                          int k) {
    const double f = straight_force(e->m, at, w, i, k);
    if (f == 0) return;
    const snw_tendon_segment *p = &e->m->tendon_segment[e->m->tendon_point[k].segment];
    const double stiffness = -f / w->tendon_point[k].f;
    snw_vec3 axis[2];
    straight_axes(w->tendon_point[k].n, axis);
    for (int a = 0; a < 2; a++) {
        snw_border_unknown *u = &e->border[e->nborder++];
        *u = (snw_border_unknown){.force_seg = {p->a, p->b},
                                  .row_seg = {p->a, p->b},
                                  .diagonal = 1,
                                  .pair = -1,
                                  .stiffness = stiffness};
        u->force[0].f = snw_scale(-1, snw_rotate_inv(w->g[p->a].R, axis[a]));
        u->force[1].f = snw_rotate_inv(w->g[p->b].R, axis[a]);
        for (int j = 0; j < 12; j++) u->row[j / 6][j % 6] = stiffness * u->force[j / 6].e[j % 6];
    }
}

// The same for all, with the states e->state: e->f += their wrenches.
static void straight_product(snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    const snw_model *m = e->m;
    for (int i = 0; i < m->ntendon; i++) {
        for (int k = m->tendon[i].point_adr; k < m->tendon[i].point_adr + m->tendon[i].npoint;
             k++) {
            const double f = straight_force(m, at, w, i, k);
            if (f == 0) continue;
            const snw_tendon_segment *p = &m->tendon_segment[m->tendon_point[k].segment];
            const snw_vec3 n = w->tendon_point[k].n;
            const int end[2] = {p->a, p->b};
            snw_vec3 turn[2], d = {{0}};
            for (int l = 0; l < 2; l++) {
                const double *s = e->state + (size_t)end[l] * (size_t)e->ns;
                const snw_vec3 zw = {{s[0], s[1], s[2]}}, zv = {{s[3], s[4], s[5]}};
                turn[l] = snw_rotate(w->g[end[l]].R, zw);
                d = snw_add(d, snw_scale(l ? 1 : -1, snw_rotate(w->g[end[l]].R, zv)));
            }
            const snw_vec3 dn =
                snw_scale(1 / w->tendon_point[k].f, snw_sub(d, snw_scale(snw_dot(n, d), n)));
            for (int l = 0; l < 2; l++) {
                const snw_vec3 force = snw_sub(dn, snw_cross(turn[l], n));
                snw_wrench *to = &e->f[end[l]];
                to->f =
                    snw_add(to->f, snw_scale(l ? f : -f, snw_rotate_inv(w->g[end[l]].R, force)));
            }
        }
    }
}

// ---- products -----------------------------------------------------------------------------------

void snw_border_add_own(snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    take_pairs(e, at, w);
    add_straight_ends(e, at, w);
    snw_touch_take(e, at, w);
    snw_touch_add_own(e);
    for (int k = 0; k < snw_segment_pairs(e->m); k++) {
        const snw_pair_matrix *p = &e->pair[k];
        for (int l = 0; p->acts && l < 2; l++) {
            double *P = e->P + (size_t)e->slot[p->seg[l]] * 6 * (size_t)e->ns;
            for (int j = 0; j < 6 * e->ns; j++) P[j] += p->E[l][l][j];
        }
    }
}

// Of a winch whose friction acts see elimination_winch.c.
static double tendon_stiffness_of(const snw_elimination *e, const snw_tangent_at *at,
                                  const snw_work *w, int i) {
    return snw_tendon_friction_acts(e->m, i, w) ? 0 : at->cq * w->tendon[i].stiffness;
}

void snw_border_product(snw_elimination *e, const snw_tangent_at *at, const snw_work *w,
                        const double *x, double *y) {
    const snw_model *m = e->m;
    take_pairs(e, at, w);
    straight_product(e, at, w);
    snw_touch_product(e, at, w);
    for (int k = 0; k < snw_segment_pairs(m); k++) {
        const snw_pair_matrix *p = &e->pair[k];
        for (int end = 0; p->acts && end < 2; end++) {
            for (int l = 0; l < 2; l++) {
                const double *s = e->state + (size_t)p->seg[l] * (size_t)e->ns;
                for (int r = 0; r < 6; r++) {
                    for (int j = 0; j < e->ns; j++)
                        e->f[p->seg[end]].e[r] += p->E[end][l][r * e->ns + j] * s[j];
                }
            }
        }
    }
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *t = &m->tendon[i];
        const double stiffness = tendon_stiffness_of(e, at, w, i);
        if (stiffness == 0) continue;
        const double *G = w->tendon_jacobian + t->store;
        double sum = 0;
        for (int j = 0; j < t->ndof; j++) sum += G[j] * x[t->dof[j]];
        for (int j = 0; j < t->ndof; j++) y[t->dof[j]] -= stiffness * sum * G[j];
    }
}

// ---- unknowns -----------------------------------------------------------------------------------

// A copy of n numbers by coordinates: those of the workspace change with the next evaluation.
static const double *keep_values(snw_elimination *e, int n, const double *value) {
    double *to = e->value + e->nvalue;
    if (n > 0) memcpy(to, value, (size_t)n * sizeof *to);
    e->nvalue += (size_t)n;
    return to;
}

static void list_rows(snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    for (int i = 0; e->has_rows && i < e->m->nconstraint; i++) {
        const snw_row_force row = snw_row_force_at(e->m, w, i);
        snw_border_unknown *u = &e->border[e->nborder++];
        *u = (snw_border_unknown){.n = row.n,
                                  .dof = row.dof,
                                  .value = keep_values(e, row.n, row.value),
                                  .force_factor = -at->rows,
                                  .row_factor = -at->rows,
                                  .diagonal = at->added ? at->added[e->m->nv + i] : 0,
                                  .pair = -1};
        for (int k = 0; k < 2; k++) {
            u->force_seg[k] = u->row_seg[k] = row.seg[k];
            u->force[k] = snw_wrench_scale(-at->rows, row.on[k]);
            for (int j = 0; j < 6; j++) u->row[k][j] = u->force[k].e[j];
        }
    }
}

// Wrench component r on end `on` of a pair by the state of its other end; none where that is zero.
static void list_pair_component(snw_elimination *e, const snw_pair_matrix *p, int on, int r) {
    const double *E = p->E[on][1 - on] + r * e->ns;
    bool any = false;
    for (int j = 0; j < e->ns; j++) any |= E[j] != 0;
    if (!any) return;
    snw_border_unknown *u = &e->border[e->nborder++];
    *u = (snw_border_unknown){.force_seg = {p->seg[on]},
                              .row_seg = {p->seg[1 - on]},
                              .diagonal = 1,
                              .pair = (int)(p - e->pair),
                              .end = on,
                              .component = r};
    u->force[0].e[r] = 1;
    for (int j = 0; j < e->ns; j++) u->row[0][j] = -E[j];
}

static void list_unknowns(snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    const snw_model *m = e->m;
    e->nborder = 0;
    e->nvalue = 0;
    e->has_rows = at->rows > 0;
    list_rows(e, at, w);
    for (int k = 0; k < snw_segment_pairs(m); k++) {
        const snw_pair_matrix *p = &e->pair[k];
        if (!p->acts || p->seg[0] == 0 || p->seg[1] == 0) continue;
        for (int on = 0; on < 2; on++) {
            for (int r = 0; r < 6; r++) list_pair_component(e, p, on, r);
        }
    }
    for (int i = 0; i < m->ntendon; i++) { // T -= stiffness G G'
        const double stiffness = tendon_stiffness_of(e, at, w, i);
        const snw_tendon *t = &m->tendon[i];
        for (int k = t->point_adr; !e->is_mixed && k < t->point_adr + t->npoint; k++)
            list_straight(e, at, w, i, k);
        if (stiffness == 0) continue;
        const double *G = w->tendon_jacobian + t->store;
        e->border[e->nborder++] = (snw_border_unknown){.n = t->ndof,
                                                       .dof = t->dof,
                                                       .value = keep_values(e, t->ndof, G),
                                                       .force_factor = 1,
                                                       .row_factor = stiffness,
                                                       .diagonal = 1,
                                                       .pair = -1,
                                                       .stiffness = stiffness};
    }
    snw_winch_list(e, at, w);
    snw_touch_list(e);
}

// x, -e->f += factor times the forces of unknown k
static void add_force(snw_elimination *e, int k, double factor, double *x) {
    const snw_border_unknown *u = &e->border[k];
    for (int end = 0; end < 2; end++) {
        snw_wrench *f = &e->f[u->force_seg[end]];
        *f = snw_wrench_axpy(-factor, u->force[end], *f);
    }
    for (int j = 0; j < u->n; j++) x[u->dof[j]] += factor * u->force_factor * u->value[j];
    if (u->force_form) snw_form_push(e, u->force_form, factor, -factor, x);
}

// Row k times x, with the states e->state of x.
static double row_times(const snw_elimination *e, int k, const double *x) {
    const snw_border_unknown *u = &e->border[k];
    double sum = 0;
    for (int end = 0; end < 2; end++) {
        const double *s = e->state + (size_t)u->row_seg[end] * (size_t)e->ns;
        for (int j = 0; j < e->ns; j++) sum += u->row[end][j] * s[j];
    }
    for (int j = 0; j < u->n; j++) sum += u->row_factor * u->value[j] * x[u->dof[j]];
    return u->row_form ? sum + snw_form_times(e, u->row_form, x) : sum;
}

void snw_border_add_rows(snw_elimination *e, const double *lambda, double *y) {
    for (int k = 0; k < e->m->nconstraint; k++) {
        const snw_border_unknown *u = &e->border[k];
        for (int end = 0; end < 2; end++) {
            snw_wrench *f = &e->f[u->force_seg[end]];
            *f = snw_wrench_axpy(lambda[k], u->force[end], *f);
        }
        for (int j = 0; j < u->n; j++) y[u->dof[j]] += lambda[k] * u->force_factor * u->value[j];
    }
}

void snw_border_rows(const snw_elimination *e, const double *x, double *out) {
    for (int k = 0; k < e->m->nconstraint; k++)
        out[k] = row_times(e, k, x) + e->border[k].diagonal * x[e->m->nv + k];
}

// out (nborder) <- V x, with the states e->state of x.
static void rows_times(const snw_elimination *e, const double *x, double *out) {
    for (int k = 0; k < e->touch_first; k++) out[k] = row_times(e, k, x);
    snw_touch_rows(e, out + e->touch_first);
}

// U' x of unknown k, with the states e->state of x.
static double force_times(const snw_elimination *e, int k, const double *x) {
    const snw_border_unknown *u = &e->border[k];
    double sum = 0;
    for (int end = 0; end < 2; end++) {
        const double *s = e->state + (size_t)u->force_seg[end] * (size_t)e->ns;
        for (int j = 0; j < 6; j++) sum += u->force[end].e[j] * s[j];
    }
    for (int j = 0; j < u->n; j++) sum += u->force_factor * u->value[j] * x[u->dof[j]];
    return sum;
}

static void clear_wrenches(snw_elimination *e) {
    memset(e->f, 0, (size_t)e->m->nseg * sizeof *e->f);
}

// ---- inertia ------------------------------------------------------------------------------------

// Stiffness by which unknowns i and k of pairs and tendons act on each other: T = T0 + U Pi U'.
static double coupling_stiffness(const snw_elimination *e, int i, int k) {
    const snw_border_unknown *a = &e->border[i], *b = &e->border[k];
    if (i == k && a->stiffness != 0) return -a->stiffness;
    if (a->pair < 0 || a->pair != b->pair || a->end == b->end) return 0;
    const snw_pair_matrix *p = &e->pair[a->pair];
    return 0.5 * (p->E[a->end][b->end][a->component * e->ns + b->component] +
                  p->E[b->end][a->end][b->component * e->ns + a->component]);
}

// A(i, k) of a symmetric matrix, its lower triangle by columns
static double *lower(double *A, size_t n, size_t i, size_t k) {
    return i > k ? &A[k * n + i] : &A[i * n + k];
}

// Negative eigenvalues of T = T0 + U Pi U' on the motions that the rows allow, from those of T0,
// theory.md (4.9):
//   [T0 U 0 C'; U' 0 -1 0; 0 -1 Pi 0; C 0 0 0]
// has those of T and as many more as there are columns of U and rows of C.
static void count_negative(snw_elimination *e) {
    const size_t n = (size_t)e->nborder, rows = e->has_rows ? (size_t)e->m->nconstraint : 0,
                 acting = n - rows, size = n + acting;
    double *Q = e->gram, *Pi = Q + n * n, *A = Pi + n * n, most[2] = {0};
    int negative = 0;
    memset(Pi, 0, n * n * sizeof *Pi);
    memset(A, 0, size * size * sizeof *A);
    for (size_t k = rows; k < n; k++) {
        for (size_t i = rows; i < n; i++) Pi[k * n + i] = coupling_stiffness(e, (int)i, (int)k);
    }
    snw_touch_stiffness(e, n, Pi + (size_t)e->touch_first * (n + 1));
    for (size_t k = rows; k < n; k++) {
        most[0] = fmax(most[0], fabs(Q[k * (n + 1)]));
        for (size_t i = rows; i < n; i++) most[1] = fmax(most[1], fabs(Pi[k * n + i]));
    }
    // unknowns of the size of forces and displacements
    const double y = most[0] > 0 ? 1 / sqrt(most[0]) : 1, z = most[1] > 0 ? 1 / sqrt(most[1]) : 1;
    for (size_t k = 0; k < n; k++) {
        for (size_t i = k; i < n; i++)
            *lower(A, size, i, k) = -Q[k * n + i] * (i < rows ? 1 : y) * (k < rows ? 1 : y);
        if (k < rows) *lower(A, size, k, k) += e->border[k].diagonal;
        if (k >= rows) *lower(A, size, k + acting, k) = -y * z;
        for (size_t i = k; k >= rows && i < n; i++)
            *lower(A, size, i + acting, k + acting) = Pi[k * n + i] * z * z;
    }
    if (snw_count_negative((int)size, A, &e->scratch, &negative) != SNW_OK) e->is_definite = false;
    e->negative += negative - (int)n;
}

snw_status snw_border_factor(snw_elimination *e, const snw_tangent_at *at, snw_work *w) {
    list_unknowns(e, at, w);
    const size_t n = (size_t)e->nborder;
    if (n == 0) return SNW_OK;
    for (size_t k = 0; k < n; k++) {
        memset(e->x, 0, (size_t)e->m->nv * sizeof *e->x);
        clear_wrenches(e);
        add_force(e, (int)k, 1, e->x);
        snw_elimination_solve_tree(e, e->x);
        rows_times(e, e->x, e->schur + k * n);
        for (size_t i = 0; i < n; i++) e->schur[k * n + i] *= -1;
        e->schur[k * n + k] += e->border[k].diagonal;
        for (size_t i = 0; at->inertia && i < n; i++)
            e->gram[k * n + i] = force_times(e, (int)i, e->x);
    }
    if (at->inertia) count_negative(e);
    if (snw_lu_factor(e->nborder, e->schur, e->border_pivot) != SNW_OK) return SNW_E_SINGULAR;
    e->sign *= snw_lu_sign(e->nborder, e->schur, e->border_pivot);
    return SNW_OK;
}

// x <- inv(T0) (x - U y)
static void solve_with(snw_elimination *e, const double *y, double *x) {
    clear_wrenches(e);
    for (int k = 0; k < e->nborder; k++) add_force(e, k, -y[k], x);
    snw_elimination_solve_tree(e, x);
}

void snw_border_solve(snw_elimination *e, double *b) {
    const int nv = e->m->nv, n = e->nborder, rows = e->has_rows ? e->m->nconstraint : 0;
    double *y = e->border_rhs, *dy = y + n;
    memcpy(e->x, b, (size_t)nv * sizeof *b);
    clear_wrenches(e);
    snw_elimination_solve_tree(e, e->x);
    rows_times(e, e->x, y);
    for (int k = 0; k < n; k++) y[k] = (k < rows ? b[nv + k] : 0) - y[k];
    snw_lu_solve(n, e->schur, e->border_pivot, y);
    solve_with(e, y, b);
    // correction by what the rows leave
    rows_times(e, b, dy);
    for (int k = 0; k < n; k++)
        dy[k] = (k < rows ? b[nv + k] : 0) - dy[k] - e->border[k].diagonal * y[k];
    snw_lu_solve(n, e->schur, e->border_pivot, dy);
    memset(e->x, 0, (size_t)nv * sizeof *e->x);
    solve_with(e, dy, e->x);
    for (int i = 0; i < nv; i++) b[i] += e->x[i];
    for (int k = 0; k < rows; k++) b[nv + k] = y[k] + dy[k];
}
