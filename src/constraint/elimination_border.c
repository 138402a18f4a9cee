// SPDX-License-Identifier: MIT
//
// Border of an elimination, theory.md (4.8): constraint rows, and forces between distant segments.
//   [T0 U; V G] [x; y] = [b; c]
// T0 is the tangent with all forces that act at one segment, eliminated along the tree; y are the
// multipliers of the rows (U = -s C', V = -s C, G = 0), the wrenches on an end of a pair by the
// state of the other end (U its force, V = -E, G = 1) and the efforts of tendons by their lengths.
// With S = G - V inv(T0) U,
//   S y = c - V inv(T0) b,   x = inv(T0) (b - U y).
// A column of S takes one solution along the tree, a right-hand side two. Nothing is stored for
// each coordinate and unknown.

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
    e->most_border = m->nconstraint + 12 * pairs + m->ntendon;
    const size_t n = (size_t)e->most_border;
    if (n == 0) return SNW_OK;
    e->border = snw_alloc(n * sizeof *e->border);
    e->pair = snw_alloc((size_t)(pairs + 1) * sizeof *e->pair);
    e->schur = snw_alloc(n * n * sizeof *e->schur);
    e->gram = snw_alloc(4 * n * n * sizeof *e->gram);
    e->border_rhs = snw_alloc(n * sizeof *e->border_rhs);
    e->border_pivot = snw_alloc(n * sizeof *e->border_pivot);
    e->x = snw_alloc((size_t)m->nv * sizeof *e->x);
    size_t values = 2 * m->store_tendon + (size_t)m->ndrive + 1;
    for (int i = 0; i < m->nloop; i++) values += 6 * (size_t)m->loop[i].ncoupled;
    e->value = snw_alloc(values * sizeof *e->value);
    const size_t eigen = snw_eigen_symmetric_scratch(12);
    e->eigen = (snw_arena){.base = snw_alloc(eigen), .size = eigen};
    return e->eigen.base && e->gram && e->border && e->pair && e->schur && e->border_rhs &&
                   e->border_pivot && e->x && e->value
               ? SNW_OK
               : SNW_E_MEMORY;
}

void snw_border_destroy(snw_elimination *e) {
    void *const own[] = {e->border, e->pair,  e->schur, e->border_rhs, e->border_pivot,
                         e->x,      e->value, e->gram,  e->eigen.base};
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

void snw_border_add_own(snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    take_pairs(e, at, w);
    for (int k = 0; k < snw_segment_pairs(e->m); k++) {
        const snw_pair_matrix *p = &e->pair[k];
        for (int l = 0; p->acts && l < 2; l++) {
            double *P = e->P + (size_t)e->slot[p->seg[l]] * 6 * (size_t)e->ns;
            for (int j = 0; j < 6 * e->ns; j++) P[j] += p->E[l][l][j];
        }
    }
}

static double tendon_stiffness_of(const snw_tangent_at *at, const snw_work *w, int i) {
    return at->cq * w->tendon[i].stiffness;
}

void snw_border_product(snw_elimination *e, const snw_tangent_at *at, const snw_work *w,
                        const double *x, double *y) {
    const snw_model *m = e->m;
    take_pairs(e, at, w);
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
        const double stiffness = tendon_stiffness_of(at, w, i);
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
        const double stiffness = tendon_stiffness_of(at, w, i);
        if (stiffness == 0) continue;
        const snw_tendon *t = &m->tendon[i];
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
}

// x, -e->f += factor times the forces of unknown k
static void add_force(snw_elimination *e, int k, double factor, double *x) {
    const snw_border_unknown *u = &e->border[k];
    for (int end = 0; end < 2; end++) {
        snw_wrench *f = &e->f[u->force_seg[end]];
        *f = snw_wrench_axpy(-factor, u->force[end], *f);
    }
    for (int j = 0; j < u->n; j++) x[u->dof[j]] += factor * u->force_factor * u->value[j];
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
    return sum;
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

// The unknowns from `first` on that belong to one pair, or one tendon: X (n x n) <- directions with
// a stiffness, lambda <- these; returns their number.
static int coupling_directions(snw_elimination *e, int first, int n, double *X, double *lambda) {
    double one[144];
    snw_arena scratch = e->eigen;
    const size_t N = (size_t)n;
    memset(one, 0, sizeof one);
    for (int i = 0; i < n; i++) {
        one[i * (n + 1)] = 1;
        for (int k = 0; k < n; k++) X[k * n + i] = coupling_stiffness(e, first + i, first + k);
    }
    if (snw_eigen_symmetric(n, X, one, true, &scratch, lambda) != SNW_OK) return -1;
    const double most = fmax(fabs(lambda[0]), fabs(lambda[n - 1]));
    int kept = 0;
    for (int k = 0; k < n; k++) {
        if (!(fabs(lambda[k]) > 1e-13 * most)) continue;
        lambda[kept] = lambda[k];
        memmove(X + (size_t)kept++ * N, X + (size_t)k * N, N * sizeof *X);
    }
    return kept;
}

// Negative eigenvalues of T on the motions that the rows allow, from those of T0, theory.md (4.9):
//   [T0 UX C'; X'U' -1/lambda 0; C 0 0],   Pi = X lambda X',
// has those of T and as many more as there are positive lambda and rows.
static void count_negative(snw_elimination *e) {
    const int n = e->nborder, rows = e->has_rows ? e->m->nconstraint : 0;
    const size_t N = (size_t)n;
    double *Q = e->gram, *Z = Q + N * N, *K = Z + N * N, X[144], lambda[12];
    int kept = rows, negative = 0, extra = rows;
    memset(Z, 0, N * N * sizeof *Z); // columns: the new unknowns
    memset(K, 0, N * N * sizeof *K);
    for (int i = 0; i < rows; i++) Z[(size_t)i * (N + 1)] = 1, K[i] = e->border[i].diagonal;
    for (int first = rows, count; first < n; first += count) {
        const int pair = e->border[first].pair;
        for (count = 1; pair >= 0 && first + count < n && e->border[first + count].pair == pair;)
            count++;
        const int found = coupling_directions(e, first, count, X, lambda);
        if (found < 0) e->is_definite = false;
        for (int k = 0; k < found; k++, kept++) {
            for (int i = 0; i < count; i++)
                Z[(size_t)kept * N + (size_t)(first + i)] = X[k * count + i];
            K[kept] = -1 / lambda[k];
            extra += lambda[k] > 0;
        }
    }
    // K <- diagonal - Z' Q Z, kept x kept, its lower triangle
    double *A = K + N * N;
    for (int k = 0; k < kept; k++) {
        for (int i = k; i < kept; i++) {
            double sum = i == k ? K[k] : 0;
            for (size_t a = 0; a < N; a++) {
                if (Z[(size_t)i * N + a] == 0) continue;
                for (size_t b = 0; b < N; b++)
                    sum -= Z[(size_t)i * N + a] * Q[b * N + a] * Z[(size_t)k * N + b];
            }
            A[(size_t)k * (size_t)kept + (size_t)i] = sum;
        }
    }
    if (snw_count_negative(kept, A, &e->scratch, &negative) != SNW_OK) e->is_definite = false;
    e->negative += negative - extra;
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
        for (size_t i = 0; i < n; i++) e->schur[k * n + i] = -row_times(e, (int)i, e->x);
        e->schur[k * n + k] += e->border[k].diagonal;
        for (size_t i = 0; at->inertia && i < n; i++)
            e->gram[k * n + i] = force_times(e, (int)i, e->x);
    }
    if (at->inertia) count_negative(e);
    if (snw_lu_factor(e->nborder, e->schur, e->border_pivot) != SNW_OK) return SNW_E_SINGULAR;
    e->sign *= snw_lu_sign(e->nborder, e->schur, e->border_pivot);
    return SNW_OK;
}

void snw_border_solve(snw_elimination *e, double *b) {
    const int nv = e->m->nv, rows = e->has_rows ? e->m->nconstraint : 0;
    double *y = e->border_rhs;
    memcpy(e->x, b, (size_t)nv * sizeof *b);
    clear_wrenches(e);
    snw_elimination_solve_tree(e, e->x);
    for (int k = 0; k < e->nborder; k++) y[k] = (k < rows ? b[nv + k] : 0) - row_times(e, k, e->x);
    snw_lu_solve(e->nborder, e->schur, e->border_pivot, y);
    clear_wrenches(e);
    for (int k = 0; k < e->nborder; k++) add_force(e, k, -y[k], b);
    snw_elimination_solve_tree(e, b);
    for (int k = 0; k < rows; k++) b[nv + k] = y[k];
}
