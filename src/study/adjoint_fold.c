// SPDX-License-Identifier: MIT
//
// Folds of paths of equilibria, theory.md (7.5.58). With F = (r, -e), unknowns x = (g, lambda) and
// the matrix A = F_x of an equilibrium, which is singular at a fold, A phi = 0, A'psi = 0, the fold
// is the solution (x, t) of
//
//     F(x, t) = 0,   tau(x, t) = psi'A phi = 0,
//
// psi and phi as they are there: their changes have no part in that of tau. A along phi is the
// derivative of F along phi, so that tau and its derivatives are differences of order 6 of F and A
// between states that are moved along phi. On spherical and free joints the order of two moves does
// not matter here, since psi'A = 0.
#include "study/adjoint_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum { MOVED = 2 * ADJOINT_SAMPLES, NEWTON = 20 };
static const double along_mode = 1e-2, // typical move of a coordinate in a sample
    is_fold = 1e-6,                    // smallest singular value, scaled
    flat = 1e-9,                       // curvature of a fold that has none, scaled
    settled = 1e-13;                   // last move of Newton's method, typical

struct adjoint_fold {
    int n;
    double *J, *B;        // n x n, (n + 1) x (n + 1): matrix, and scaled with borders
    double *row, *column; // n: scales
    double *phi, *psi;    // n
    double *g;            // n: derivatives of tau by x
    double *F_t;          // n
    double *x, *y;        // n + 1: scratch
    double *mu, *nu;      // nscalar x n, nscalar
    double tau_t;
    double distance, weight[MOVED];
    snw_state *at[MOVED];
    int *pivot;
};

void adjoint_fold_destroy(snw_adjoint *a) {
    adjoint_fold *f = a->fold;
    if (!f) return;
    for (int i = 0; i < MOVED; i++) snw_state_destroy(f->at[i]);
    snw_free(f->J);
    snw_free(f->pivot);
    snw_free(f);
}

static snw_status create(snw_adjoint *a, snw_error *err) {
    const size_t n = (size_t)(a->m->nv + a->m->nconstraint), ns = (size_t)a->nscalar;
    adjoint_fold *f = a->fold = snw_alloc(sizeof *f);
    if (!f) return snw_fail_memory(err);
    f->n = (int)n;
    f->J =
        snw_alloc((n * n + (n + 1) * (n + 1) + 6 * n + 2 * (n + 1) + ns * (n + 1)) * sizeof *f->J);
    f->pivot = snw_alloc((n + 1) * sizeof *f->pivot);
    if (!f->J || !f->pivot) return snw_fail_memory(err);
    double *x = f->J + n * n;
    f->B = x, x += (n + 1) * (n + 1);
    double **const line[] = {&f->row, &f->column, &f->phi, &f->psi, &f->g, &f->F_t};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++, x += n) *line[i] = x;
    f->x = x, f->y = x + n + 1, f->mu = f->y + n + 1, f->nu = f->mu + ns * n;
    for (int i = 0; i < MOVED; i++)
        if (snw_state_create(a->m, &f->at[i]) != SNW_OK) return snw_fail_memory(err);
    return SNW_OK;
}

// ---- the equations ------------------------------------------------------------------------------

// out (n) <- F by a model at a state, under the inputs of the sampler.
static void rows_at(snw_sampler *x, const snw_state *s, double *out) {
    const snw_model *m = x->m;
    snw_residual(m, x->in, s, true, x->w);
    memcpy(out, x->w->r, (size_t)m->nv * sizeof *out);
    for (int k = 0; k < m->nconstraint; k++) out[m->nv + k] = -x->w->violation[k];
}

// tau by the model of a sampler, whose inputs are those of the map.
static double tau_by(snw_sampler *x, const adjoint_fold *f, double *scratch) {
    double tau = 0;
    for (int i = 0; i < MOVED; i++) {
        rows_at(x, f->at[i], scratch);
        tau += f->weight[i] * snw_vector_dot(f->n, f->psi, scratch);
    }
    return tau;
}

void adjoint_fold_equations(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *out) {
    const adjoint_fold *f = a->fold;
    snw_inputs_at(x->m, map->t_laws + x->shift, x->in);
    out[f->n] = tau_by(x, f, out);
    rows_at(x, &map->s, out);
}

void adjoint_fold_sample(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *value) {
    const adjoint_fold *f = a->fold;
    adjoint_fold_equations(x, a, map, f->y);
    for (int i = 0; i < a->nscalar; i++)
        value[i] =
            snw_vector_dot(f->n, f->mu + (size_t)i * (size_t)f->n, f->y) + f->nu[i] * f->y[f->n];
}

// ---- null vectors -------------------------------------------------------------------------------

// Scales of the rows and columns of J: typical values, and of constraints what makes entries one.
static void find_scales(adjoint_fold *f, const snw_model *m) {
    const int n = f->n, nv = m->nv;
    for (int i = 0; i < nv; i++) f->row[i] = 1 / m->scale[i], f->column[i] = m->typical[i];
    for (int k = nv; k < n; k++) {
        double by_row = 0, by_column = 0;
        for (int i = 0; i < nv; i++) {
            by_row = fmax(by_row, fabs(f->J[i * n + k]) * f->column[i]);
            by_column = fmax(by_column, fabs(f->J[k * n + i]) * f->row[i]);
        }
        f->row[k] = by_row > 0 ? 1 / by_row : 1;
        f->column[k] = by_column > 0 ? 1 / by_column : 1;
    }
}

static void normalise(int n, double *x) {
    const double size = sqrt(snw_vector_dot(n, x, x));
    for (int i = 0; i < n; i++) x[i] /= size;
}

// B <- factors of the scaled matrix with the borders psi (right) and phi (below).
static snw_status factor(adjoint_fold *f) {
    const int n = f->n, ld = n + 1;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) f->B[j * ld + i] = f->row[i] * f->J[j * n + i] * f->column[j];
        f->B[j * ld + n] = f->phi[j];
        f->B[n * ld + j] = f->psi[j];
    }
    f->B[n * ld + n] = 0;
    return snw_lu_factor(ld, f->B, f->pivot);
}

// phi, psi <- of the scaled matrix, of length 1; *value <- its smallest singular value, about.
static snw_status find_null(adjoint_fold *f, double *value) {
    const int n = f->n;
    for (int i = 0; i < n; i++) f->phi[i] = sin(1 + 1.7 * i), f->psi[i] = cos(0.3 + 2.3 * i);
    for (int k = 0; k < 3; k++) {
        SNW_TRY(factor(f));
        memset(f->x, 0, (size_t)(n + 1) * sizeof *f->x);
        memset(f->y, 0, (size_t)(n + 1) * sizeof *f->y);
        f->x[n] = f->y[n] = 1;
        snw_lu_solve(n + 1, f->B, f->pivot, f->x);
        snw_lu_solve_transposed(n + 1, f->B, f->pivot, f->y);
        *value = fabs(f->x[n]);
        memcpy(f->phi, f->x, (size_t)n * sizeof *f->phi);
        memcpy(f->psi, f->y, (size_t)n * sizeof *f->psi);
        normalise(n, f->phi);
        normalise(n, f->psi);
    }
    return factor(f);
}

// The states that are moved along phi, with the weights of differences.
static void move_states(adjoint_fold *f, const snw_model *m, const snw_map *map) {
    double most = 0;
    for (int i = 0; i < f->n; i++) f->x[i] = f->column[i] * f->phi[i];
    for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(f->x[i]) / m->typical[i]);
    f->distance = most > 0 ? along_mode / most : along_mode;
    for (int i = 0; i < MOVED; i++) {
        const int j = i < ADJOINT_SAMPLES ? i - ADJOINT_SAMPLES : i - ADJOINT_SAMPLES + 1;
        const double w = adjoint_weight[(j < 0 ? -j : j) - 1] / f->distance;
        f->weight[i] = j < 0 ? -w : w;
        snw_state_copy(m, &map->s, f->at[i]);
        snw_move(m, map->s.q, j * f->distance, f->x, f->at[i]->q);
        for (int k = 0; k < m->nconstraint; k++)
            f->at[i]->lambda[k] += j * f->distance * f->x[m->nv + k];
    }
}

// f->J <- A at a state
static void matrix_at(snw_adjoint *a, const snw_map *map, const snw_state *s) {
    snw_map at = *map;
    at.s = *s;
    adjoint_static_matrix(a, &at);
    memcpy(a->fold->J, a->T->A.entry, (size_t)a->fold->n * (size_t)a->fold->n * sizeof *a->fold->J);
}

// F_t, tau_t <- by differences in time
static void find_time(snw_adjoint *a, const snw_map *map) {
    adjoint_fold *f = a->fold;
    const double step = snw_adjoint_time_step(a, map);
    memset(f->F_t, 0, (size_t)f->n * sizeof *f->F_t);
    f->tau_t = 0;
    for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
        if (j == 0) continue;
        const double c = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / step;
        a->clock.shift = j * step;
        adjoint_fold_equations(&a->clock, a, map, f->y);
        for (int i = 0; i < f->n; i++) f->F_t[i] += c * f->y[i];
        f->tau_t += c * f->y[f->n];
    }
    a->clock.shift = 0;
}

static snw_status refuse(const snw_map *map, const char *why, snw_error *err) {
    return snw_fail(err, SNW_E_SINGULAR, "there is no derivative of the fold at t = %.9g: %s",
                    map->s.t, why);
}

snw_status adjoint_fold_prepare(snw_adjoint *a, const snw_map *map, snw_error *err) {
    const snw_model *m = a->m;
    if (a->remembers || m->nbranch > 0)
        return snw_fail(err, SNW_E_MODEL, "there is no derivative of the fold at t = %.9g: %s",
                        map->s.t,
                        m->nbranch > 0 ? "a material of the robot relaxes"
                                       : "laws of the robot read integrals, states or samples");
    if (!a->fold) SNW_TRY(create(a, err));
    adjoint_fold *f = a->fold;
    double value;
    a->half = 0;
    matrix_at(a, map, &map->s);
    find_scales(f, m);
    const snw_status status = find_null(f, &value);
    if (status != SNW_OK || !(value < is_fold))
        return refuse(map, "the matrix of the equilibrium has not one null vector there", err);
    move_states(f, m, map);
    for (int i = 0; i < f->n; i++) f->psi[i] *= f->row[i]; // of A from here on
    memset(f->g, 0, (size_t)f->n * sizeof *f->g);
    for (int k = 0; k < MOVED; k++) {
        matrix_at(a, map, f->at[k]);
        for (int j = 0; j < f->n; j++)
            f->g[j] += f->weight[k] * snw_vector_dot(f->n, f->psi, f->J + (size_t)j * (size_t)f->n);
    }
    find_time(a, map);
    for (int i = 0; i < f->n; i++) f->phi[i] *= f->column[i];
    double size = 0;
    for (int i = 0; i < f->n; i++) size = fmax(size, fabs(f->g[i]) * f->column[i]);
    if (!(fabs(snw_vector_dot(f->n, f->g, f->phi)) > flat * size))
        return refuse(map, "the path does not turn there (a cusp)", err);
    const double by_time = snw_vector_dot(f->n, f->psi, f->F_t);
    double most = 0;
    for (int i = 0; i < f->n; i++) most = fmax(most, fabs(f->psi[i] * f->F_t[i]));
    return fabs(by_time) > flat * most
               ? SNW_OK
               : refuse(map, "its parameter t does not act along the mode (a bifurcation)", err);
}

// ---- back and forward ---------------------------------------------------------------------------

// mu (n), *nu <- inv([A F_t; g' tau_t]') (x, t)
static void solve_transposed(adjoint_fold *f, const double *x, double t, double *mu, double *nu) {
    const int n = f->n;
    *nu = snw_vector_dot(n, f->phi, x) / snw_vector_dot(n, f->phi, f->g);
    for (int i = 0; i < n; i++) f->y[i] = f->column[i] * (x[i] - *nu * f->g[i]);
    f->y[n] = 0;
    snw_lu_solve_transposed(n + 1, f->B, f->pivot, f->y);
    for (int i = 0; i < n; i++) mu[i] = f->row[i] * f->y[i];
    const double rest = t - f->tau_t * *nu - snw_vector_dot(n, f->F_t, mu);
    const double along = rest / snw_vector_dot(n, f->F_t, f->psi);
    for (int i = 0; i < n; i++) mu[i] += along * f->psi[i];
}

snw_status adjoint_fold_back(snw_adjoint *a, const snw_map *map, snw_error *err) {
    SNW_TRY(adjoint_fold_prepare(a, map, err));
    adjoint_fold *f = a->fold;
    const size_t nv = (size_t)a->m->nv, nr = (size_t)a->m->nconstraint, n = nv + nr;
    for (int i = 0; i < a->nscalar; i++) {
        const snw_bars *b = &a->bars[i];
        memcpy(f->x, b->place, nv * sizeof *f->x);
        if (nr) memcpy(f->x + nv, b->lambda, nr * sizeof *f->x);
        solve_transposed(f, f->x, b->time[SNW_TIME_NOW], f->mu + (size_t)i * n, &f->nu[i]);
        memset(b->place, 0, (size_t)(b->z - b->place) * sizeof *b->place);
        b->time[SNW_TIME_NOW] = b->time[SNW_TIME_LENGTH] = 0;
    }
    (void)adjoint_fold_show(a, map, 0);
    return SNW_OK;
}

int adjoint_fold_count(void) { return 1 + MOVED; }

snw_map adjoint_fold_show(const snw_adjoint *a, const snw_map *map, int k) {
    adjoint_fold *f = a->fold;
    const size_t nv = (size_t)a->m->nv, nr = (size_t)a->m->nconstraint, n = nv + nr;
    snw_map at = *map;
    at.kind = SNW_MAP_STATIC;
    at.time_moves = at.length_moves = false;
    if (k > 0) at.s = *f->at[k - 1];
    for (int i = 0; i < a->nscalar; i++) {
        snw_covectors *v = &a->covectors[i];
        const double *from = k > 0 ? f->psi : f->mu + (size_t)i * n;
        const double c = k > 0 ? f->nu[i] * f->weight[k - 1] : 1;
        for (size_t j = 0; j < nv; j++) v->mu[j] = c * from[j];
        for (size_t j = 0; j < nr; j++) v->nu[j] = c * from[nv + j];
    }
    return at;
}

void adjoint_fold_apply(snw_adjoint *a, int k, const double *by) {
    adjoint_fold *f = a->fold;
    const int n = f->n, nv = a->m->nv;
    snw_bars *b = &a->bars[k];
    const double t = -snw_vector_dot(n, f->psi, by) / snw_vector_dot(n, f->psi, f->F_t);
    for (int i = 0; i < n; i++) f->y[i] = -f->row[i] * (by[i] + f->F_t[i] * t);
    f->y[n] = 0;
    snw_lu_solve(n + 1, f->B, f->pivot, f->y);
    for (int i = 0; i < n; i++) f->y[i] *= f->column[i];
    const double rest = -by[n] - f->tau_t * t - snw_vector_dot(n, f->g, f->y);
    const double along = rest / snw_vector_dot(n, f->g, f->phi);
    memset(b->place, 0, (size_t)(b->z - b->place) * sizeof *b->place);
    for (int i = 0; i < n; i++)
        (i < nv ? b->place + i : b->lambda + (i - nv))[0] = f->y[i] + along * f->phi[i];
    b->time[SNW_TIME_NOW] = t;
}

// ---- equilibria nearby --------------------------------------------------------------------------

snw_status snw_adjoint_equilibrium(snw_adjoint *a, const snw_map *map, snw_state *s,
                                   snw_error *err) {
    const snw_model *m = a->m;
    double last = INFINITY;
    for (int k = 0; k < NEWTON; k++) {
        snw_map at = *map;
        at.s = *s;
        adjoint_static_matrix(a, &at);
        SNW_TRY(adjoint_factor(a, true, "an equilibrium under other inputs", s->t, err));
        double *x = a->x, move = 0;
        for (int i = 0; i < m->nv; i++) x[i] = -a->w->r[i];
        for (int i = 0; i < m->nconstraint; i++) x[m->nv + i] = a->w->violation[i];
        snw_bordered_matrix_solve(a->T, x);
        snw_move(m, s->q, 1, x, s->q);
        for (int i = 0; i < m->nconstraint; i++) s->lambda[i] += x[m->nv + i];
        for (int i = 0; i < m->nv; i++) move = fmax(move, fabs(x[i]) / m->typical[i]);
        if (move < settled || (move < 1e-9 && !(move < 0.5 * last))) return SNW_OK;
        if (!isfinite(move)) break;
        last = move;
    }
    return snw_fail(err, SNW_E_DIVERGED,
                    "there is no derivative at t = %g s: an equilibrium under other inputs was not "
                    "found",
                    s->t);
}
