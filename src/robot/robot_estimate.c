// SPDX-License-Identifier: MIT
//
// Extended Kalman filter on the map of steps, theory.md (7.12): covariance of body deviations,
// unknown inputs as random walks, loops.
#include "sinew/estimate.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fields.h"
#include "robot/robot_private.h"
#include "solve/dense.h"
#include "study/directions.h"

#include <math.h>
#include <string.h>

// n states of the filter, of which nx are those of the map; ny outputs, nr constraint rows.
#define ESTIMATE_FIELDS(AT)                                                                        \
    AT(double, point, np, "the estimate")                                                          \
    AT(double, unknown, n, "unknown inputs")                                                       \
    AT(double, P, n *n, "covariance")                                                              \
    AT(double, A, n *n, "of a step; change of axes")                                               \
    AT(double, T, nx *nx, "change of axes of the map's states")                                    \
    AT(double, X, n *n, "scratch")                                                                 \
    AT(double, Y, n *n, "scratch")                                                                 \
    AT(double, C, ny *n, "rows of the outputs")                                                    \
    AT(double, PC, n *ny, "P C' of what was measured")                                             \
    AT(double, K, n *ny, "gain")                                                                   \
    AT(double, S, ny *ny, "covariance of the innovation, its factor")                              \
    AT(double, e, ny, "innovation")                                                                \
    AT(double, se, ny, "in units of its covariance")                                               \
    AT(double, y, ny, "outputs of the estimate")                                                   \
    AT(double, spread, ny, "their variances")                                                      \
    AT(double, d, n, "correction")                                                                 \
    AT(double, u, nu, "inputs")                                                                    \
    AT(double, rows, nr *nv, "constraint rows")                                                    \
    AT(double, gram, nr *nr + nr, "of the rows, and scratch")                                      \
    AT(double, first, n, "variances of the first estimate")                                        \
    AT(double, process, n, "of the process noise")                                                 \
    AT(double, noise, ny, "of the measurements")                                                   \
    AT(double, start, n, "first values of the unknown inputs")                                     \
    AT(double, unseen, n *n, "directions of the unknown inputs that nothing shows")                \
    AT(double, metric, n *n, "scratch of them; displacements of an equilibrium")                   \
    AT(double, part, n, "of the variance without measurements that is left along them")            \
    AT(int, of_input, n, "numbers of the unknown inputs in the map")                               \
    AT(int, pivot, nx, "of the displacements of an equilibrium")                                   \
    AT(int, here, ny, "outputs that were measured")                                                \
    AT(int, turn, ny, "first outputs of rotation vectors")

struct snw_estimator {
    snw_estimate view;
    snw_step_map *map;
    int n, nx, nw, nu, ny, nv, nr, nturn;
    double steps; // since the start
    ESTIMATE_FIELDS(SNW_FIELD_POINTER)
    void *block;
    snw_arena scratch; // of eigenvalues
};

// Part of a variance without measurements that counts as nothing learnt.
static const double nothing_learnt = 0.99;

static void estimate_place(void *object, snw_fields *f) {
    snw_estimator *o = object;
    const size_t n = (size_t)o->n + 1, nx = (size_t)o->nx + 1, ny = (size_t)o->ny + 1;
    const size_t nu = (size_t)o->nu + 1, nv = (size_t)o->nv + 1, nr = (size_t)o->nr + 1;
    const size_t np = snw_step_map_points(o->map);
    ESTIMATE_FIELDS(SNW_FIELD_PLACE)
}

void snw_estimator_close(snw_estimator *e) {
    if (!e) return;
    snw_free(e->block);
    snw_free(e->scratch.base);
    snw_free(e);
}

const snw_estimate *snw_estimator_view(const snw_estimator *e) { return e ? &e->view : NULL; }

// ---- options ------------------------------------------------------------------------------------

static snw_status take_variances(const char *name, int n, const double *from, bool positive,
                                 double *to, snw_error *err) {
    for (int i = 0; from && i < n; i++) {
        if (!(from[i] >= 0 && isfinite(from[i])) || (positive && from[i] == 0))
            return snw_fail(err, SNW_E_ARGUMENT, "%s: variance %d must be %s, got %g", name, i,
                            positive ? "positive" : "not negative", from[i]);
        to[i] = from[i];
    }
    return SNW_OK;
}

static snw_status take_unknown(snw_estimator *e, const snw_estimate_options *how, snw_error *err) {
    const snw_linear_model *m = snw_step_map_model(e->map);
    for (int i = 0; i < how->nunknown; i++) {
        const snw_estimate_input *from = &how->unknown[i];
        int k = 0;
        while (k < m->nu && (!from->name || strcmp(m->input[k].name, from->name) != 0)) k++;
        if (k == m->nu)
            return snw_fail(err, SNW_E_ARGUMENT, "'%.100s' is no input of the map",
                            from->name ? from->name : "NULL");
        if (!isfinite(from->value) || !(from->deviation >= 0 && isfinite(from->deviation)) ||
            !(from->walk >= 0 && isfinite(from->walk)))
            return snw_fail(err, SNW_E_ARGUMENT,
                            "unknown input '%s' needs a finite value and standard deviations that "
                            "are not negative",
                            from->name);
        e->of_input[i] = k;
        e->start[i] = from->value;
        e->first[e->nx + i] = from->deviation * from->deviation;
        e->process[e->nx + i] = from->walk * from->walk;
    }
    return SNW_OK;
}

// Rotation vectors among the outputs: columns rx, ry, rz in a row.
static void list_turns(snw_estimator *e) {
    const snw_linear_model *m = snw_step_map_model(e->map);
    static const char *const last[3] = {".rx", ".ry", ".rz"};
    for (int i = 0; i + 2 < m->ny; i++) {
        bool all = true;
        for (int k = 0; k < 3; k++) {
            const char *name = m->output[i + k].name;
            const size_t n = strlen(name);
            all = all && n > 3 && strcmp(name + n - 3, last[k]) == 0;
        }
        if (all) e->turn[e->nturn++] = i;
    }
}

static snw_status estimator_open(snw_estimator *e, const snw_estimate_options *how,
                                 snw_error *err) {
    e->block = snw_fields_create(estimate_place, e);
    e->scratch.size = snw_eigen_symmetric_scratch(e->nw);
    e->scratch.base = snw_alloc(e->scratch.size + 1);
    if (!e->block || !e->scratch.base) return snw_fail_memory(err);
    SNW_TRY(take_variances("first", e->nx, how->first, false, e->first, err));
    SNW_TRY(take_variances("process", e->nx, how->process, false, e->process, err));
    SNW_TRY(take_variances("noise", e->ny, how->noise, true, e->noise, err));
    SNW_TRY(take_unknown(e, how, err));
    list_turns(e);
    e->view = (snw_estimate){.n = e->n,
                             .nunknown = e->nw,
                             .point = e->point,
                             .unknown = e->unknown,
                             .covariance = e->P,
                             .output = e->y,
                             .spread = e->spread,
                             .surprise = NAN};
    return SNW_OK;
}

snw_status snw_estimator_open(snw_step_map *map, const snw_estimate_options *how,
                              snw_estimator **out, snw_error *err) {
    if (!map || !how || !out)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", !map ? "the map" : !how ? "how" : "out");
    *out = NULL;
    const snw_linear_model *m = snw_step_map_model(map);
    if (how->nunknown < 0 || (how->nunknown && !how->unknown) || (m->ny && !how->noise))
        return snw_fail(err, SNW_E_ARGUMENT, "%s",
                        m->ny && !how->noise ? "noise is NULL" : "the unknown inputs are missing");
    snw_estimator *e = snw_alloc(sizeof *e);
    if (!e) return snw_fail_memory(err);
    int nq;
    snw_step_map_sizes(map, &nq, &e->nv, &e->nr);
    e->map = map;
    e->nx = m->nx, e->nu = m->nu, e->ny = m->ny, e->nw = how->nunknown;
    e->n = e->nx + e->nw;
    const snw_status s = estimator_open(e, how, err);
    if (s != SNW_OK) {
        snw_estimator_close(e);
        return s;
    }
    *out = e;
    return SNW_OK;
}

// ---- the filter ---------------------------------------------------------------------------------

// B (m x n) <- A' with A n x m
static void transpose(int n, int m, const double *A, double *B) {
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < n; i++)
            B[(size_t)i * (size_t)m + (size_t)j] = A[(size_t)j * (size_t)n + (size_t)i];
    }
}

// P <- A P A', symmetric
static void carry_covariance(snw_estimator *e) {
    const int n = e->n;
    snw_combine_columns(n, n, e->A, n, e->P, e->X);
    transpose(n, n, e->A, e->Y);
    snw_combine_columns(n, n, e->X, n, e->Y, e->P);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < j; i++) {
            double *a = snw_column_of(e->P, n, j) + i, *b = snw_column_of(e->P, n, i) + j;
            *a = *b = 0.5 * (*a + *b);
        }
    }
}

// A (n x n) <- [B 0; 0 1], B nx x nx
static void widen(snw_estimator *e, const double *B) {
    snw_identity(e->n, e->A);
    for (int j = 0; j < e->nx; j++)
        memcpy(snw_column_of(e->A, e->n, j), B + (size_t)e->nx * (size_t)j,
               (size_t)e->nx * sizeof *B);
}

// Loops are closed, and P <- without what they forbid: N P N', N = 1 - C'(C C')^-1 C in
// displacements and rates.
static snw_status close_loops(snw_estimator *e, snw_error *err) {
    const int nr = e->nr, nv = e->nv;
    if (nr == 0) return SNW_OK;
    SNW_TRY(snw_step_map_project(e->map, e->point, e->point, e->rows, err));
    for (int j = 0; j < nr; j++) {
        for (int i = 0; i < nr; i++) {
            double sum = 0;
            for (int k = 0; k < nv; k++) {
                const double *c = e->rows + (size_t)k * (size_t)nr;
                sum += c[i] * c[j];
            }
            e->gram[j * nr + i] = i == j && sum == 0 ? 1 : sum; // an open loop has no row
        }
    }
    if (snw_cholesky_factor(nr, e->gram) != SNW_OK)
        return snw_fail(err, SNW_E_SINGULAR, "the configuration of the loops is singular");
    snw_identity(e->nx, e->T);
    double *x = e->gram + nr * nr; // scratch
    for (int j = 0; j < nv; j++) {
        memcpy(x, e->rows + (size_t)j * (size_t)nr, (size_t)nr * sizeof *x);
        snw_cholesky_solve(nr, e->gram, x);
        for (int i = 0; i < nv; i++) {
            double sum = 0;
            for (int k = 0; k < nr; k++) sum += e->rows[(size_t)i * (size_t)nr + (size_t)k] * x[k];
            snw_column_of(e->T, e->nx, j)[i] -= sum;
            snw_column_of(e->T, e->nx, nv + j)[nv + i] -= sum;
        }
    }
    widen(e, e->T);
    carry_covariance(e);
    return SNW_OK;
}

snw_status snw_estimator_begin(snw_estimator *e, const double *point, snw_error *err) {
    if (!e || !point)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", e ? "point" : "the estimator");
    memcpy(e->point, point, snw_step_map_points(e->map) * sizeof *point);
    memcpy(e->unknown, e->start, (size_t)e->nw * sizeof *e->start);
    memset(e->P, 0, (size_t)e->n * (size_t)e->n * sizeof *e->P);
    for (int i = 0; i < e->n; i++) snw_column_of(e->P, e->n, i)[i] = e->first[i];
    e->view.log_likelihood = 0;
    e->view.surprise = NAN;
    e->view.nmeasured = 0;
    e->steps = 0;
    return close_loops(e, err);
}

static snw_status set_inputs(snw_estimator *e, const double *u, snw_error *err) {
    if (!e) return snw_fail(err, SNW_E_ARGUMENT, "the estimator is NULL");
    if (!u && e->nw < e->nu) return snw_fail(err, SNW_E_ARGUMENT, "u is NULL");
    for (int i = 0; u && i < e->nu; i++) e->u[i] = u[i];
    for (int i = 0; i < e->nw; i++) e->u[e->of_input[i]] = e->unknown[i];
    return SNW_OK;
}

// X (nx x nx) <- factors of 1 - A of the step that was taken last. Pivots as small as rounding:
// motions that nothing restores.
static snw_status factor_settled(snw_estimator *e, snw_error *err) {
    static const double restored = 1e-13;
    const size_t nx = (size_t)e->nx;
    const snw_linear_model *m = snw_step_map_model(e->map);
    snw_identity(e->nx, e->X);
    for (size_t i = 0; i < nx * nx; i++) e->X[i] -= m->A[i];
    snw_status s = snw_lu_factor(e->nx, e->X, e->pivot);
    double least = INFINITY, most = 0;
    for (size_t i = 0; s == SNW_OK && i < nx; i++) {
        least = fmin(least, fabs(e->X[i * (nx + 1)]));
        most = fmax(most, fabs(e->X[i * (nx + 1)]));
    }
    if (s == SNW_OK && !(least > restored * most)) s = SNW_E_SINGULAR;
    if (s == SNW_OK) return SNW_OK;
    return snw_fail(
        err, SNW_E_SINGULAR,
        "nothing restores a motion of the robot, so it has no equilibrium under unknown "
        "inputs; begin without them");
}

snw_status snw_estimator_begin_settled(snw_estimator *e, const double *point, const double *u,
                                       snw_error *err) {
    if (!e || !point)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", e ? "point" : "the estimator");
    memcpy(e->unknown, e->start, (size_t)e->nw * sizeof *e->start);
    SNW_TRY(set_inputs(e, u, err));
    // x = A x + B w at rest
    SNW_TRY(snw_step_map_step(e->map, point, e->u, 1, e->point, NULL, err));
    const snw_linear_model *m = snw_step_map_model(e->map);
    SNW_TRY(factor_settled(e, err));
    for (int i = 0; i < e->nw; i++) {
        double *x = snw_column_of(e->metric, e->nx, i);
        memcpy(x, m->B + (size_t)e->nx * (size_t)e->of_input[i], (size_t)e->nx * sizeof *x);
        snw_lu_solve(e->nx, e->X, e->pivot, x);
    }
    SNW_TRY(snw_estimator_begin(e, point, err));
    snw_identity(e->n, e->A);
    for (int i = 0; i < e->nw; i++)
        memcpy(snw_column_of(e->A, e->n, e->nx + i), snw_column_of(e->metric, e->nx, i),
               (size_t)e->nx * sizeof *e->metric);
    carry_covariance(e);
    return SNW_OK;
}

snw_status snw_estimator_predict(snw_estimator *e, const double *u, snw_error *err) {
    SNW_TRY(set_inputs(e, u, err));
    SNW_TRY(snw_step_map_step(e->map, e->point, e->u, 1, e->point, NULL, err));
    const snw_linear_model *m = snw_step_map_model(e->map);
    widen(e, m->A);
    for (int i = 0; i < e->nw; i++)
        memcpy(snw_column_of(e->A, e->n, e->nx + i), m->B + (size_t)e->nx * (size_t)e->of_input[i],
               (size_t)e->nx * sizeof *m->B);
    carry_covariance(e);
    for (int i = 0; i < e->n; i++) snw_column_of(e->P, e->n, i)[i] += e->process[i];
    e->steps++;
    return SNW_OK;
}

// e, here <- innovations of what was measured; returns their number, -1 where one is not finite
static int innovations(snw_estimator *e, const double *y) {
    int n = 0;
    for (int i = 0; i < e->ny; i++) e->se[i] = y[i];
    for (int k = 0; k < e->nturn; k++) { // the vector of the same rotation next to the estimate
        double *v = e->se + e->turn[k], size = 0, along = 0;
        for (int i = 0; i < 3; i++) size += v[i] * v[i], along += v[i] * e->y[e->turn[k] + i];
        size = sqrt(size);
        if (!(size > 1e-9)) continue;
        const double turns = round((along / size - size) / (2 * acos(-1.0)));
        for (int i = 0; i < 3; i++) v[i] *= 1 + 2 * acos(-1.0) * turns / size;
    }
    for (int i = 0; i < e->ny; i++) {
        if (isnan(y[i])) continue;
        if (!isfinite(y[i])) return -1;
        e->here[n] = i;
        e->e[n++] = e->se[i] - e->y[i];
    }
    return n;
}

// K (n x m), S, surprise <- of the m numbers measured
static snw_status find_gain(snw_estimator *e, int m, snw_error *err) {
    const int n = e->n;
    for (int a = 0; a < m; a++) {
        double *to = snw_column_of(e->PC, n, a);
        memset(to, 0, (size_t)n * sizeof *to);
        for (int j = 0; j < n; j++) {
            const double c = e->C[(size_t)j * (size_t)e->ny + (size_t)e->here[a]];
            for (int i = 0; i < n && c != 0; i++) to[i] += c * snw_column_of(e->P, n, j)[i];
        }
    }
    for (int a = 0; a < m; a++) {
        for (int b = 0; b < m; b++) {
            double sum = a == b ? e->noise[e->here[a]] : 0;
            for (int j = 0; j < n; j++)
                sum += e->C[(size_t)j * (size_t)e->ny + (size_t)e->here[a]] *
                       snw_column_of(e->PC, n, b)[j];
            e->S[b * m + a] = sum;
        }
    }
    if (snw_cholesky_factor(m, e->S) != SNW_OK)
        return snw_fail(err, SNW_E_SINGULAR, "the covariance of the measurement is not positive");
    double determinant = 0;
    memcpy(e->se, e->e, (size_t)m * sizeof *e->e);
    snw_cholesky_solve(m, e->S, e->se);
    e->view.surprise = 0;
    for (int a = 0; a < m; a++) {
        e->view.surprise += e->e[a] * e->se[a];
        determinant += 2 * log(e->S[a * m + a]) + log(2 * acos(-1.0));
    }
    e->view.log_likelihood -= 0.5 * (e->view.surprise + determinant);
    for (int i = 0; i < n; i++) { // K = P C'S^-1, row by row
        for (int a = 0; a < m; a++) e->se[a] = snw_column_of(e->PC, n, a)[i];
        snw_cholesky_solve(m, e->S, e->se);
        for (int a = 0; a < m; a++) snw_column_of(e->K, n, a)[i] = e->se[a];
    }
    return SNW_OK;
}

// P <- (1 - K C) P (1 - K C)' + K V K', d <- K e
static void take_in(snw_estimator *e, int m) {
    const int n = e->n;
    snw_identity(n, e->A);
    memset(e->d, 0, (size_t)n * sizeof *e->d);
    for (int a = 0; a < m; a++) {
        const double *k = snw_column_of(e->K, n, a);
        for (int i = 0; i < n; i++) e->d[i] += k[i] * e->e[a];
        for (int j = 0; j < n; j++) {
            const double c = e->C[(size_t)j * (size_t)e->ny + (size_t)e->here[a]];
            for (int i = 0; i < n && c != 0; i++) snw_column_of(e->A, n, j)[i] -= c * k[i];
        }
    }
    carry_covariance(e);
    for (int a = 0; a < m; a++) {
        const double *k = snw_column_of(e->K, n, a);
        for (int j = 0; j < n; j++) {
            const double f = e->noise[e->here[a]] * k[j];
            for (int i = 0; i < n; i++) snw_column_of(e->P, n, j)[i] += f * k[i];
        }
    }
}

snw_status snw_estimator_correct(snw_estimator *e, const double *u, const double *y,
                                 snw_error *err) {
    SNW_TRY(set_inputs(e, u, err));
    if (!y) return snw_fail(err, SNW_E_ARGUMENT, "y is NULL");
    SNW_TRY(snw_step_map_outputs(e->map, e->point, e->u, 1, e->y, err));
    const snw_linear_model *m = snw_step_map_model(e->map);
    memcpy(e->C, m->C, (size_t)e->ny * (size_t)e->nx * sizeof *m->C);
    for (int i = 0; i < e->nw; i++)
        memcpy(e->C + (size_t)e->ny * (size_t)(e->nx + i),
               m->D + (size_t)e->ny * (size_t)e->of_input[i], (size_t)e->ny * sizeof *m->D);
    const int measured = innovations(e, y);
    if (measured < 0)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "a measurement is a finite number, or NaN where there is none");
    e->view.nmeasured = measured;
    if (measured > 0) {
        SNW_TRY(find_gain(e, measured, err));
        take_in(e, measured);
        SNW_TRY(snw_step_map_move(e->map, e->point, e->d, e->point, err));
        for (int i = 0; i < e->nw; i++) e->unknown[i] += e->d[e->nx + i];
        SNW_TRY(snw_step_map_reset(e->map, e->d, e->T, err));
        widen(e, e->T);
        carry_covariance(e);
        SNW_TRY(close_loops(e, err));
    }
    for (int a = 0; a < e->ny; a++) { // C P C'
        e->spread[a] = 0;
        for (int j = 0; j < e->n; j++) {
            const double c = e->C[(size_t)j * (size_t)e->ny + (size_t)a];
            for (int i = 0; i < e->n && c != 0; i++)
                e->spread[a] += c * snw_column_of(e->P, e->n, j)[i] *
                                e->C[(size_t)i * (size_t)e->ny + (size_t)a];
        }
    }
    return SNW_OK;
}

// Standard deviation of an unknown input if nothing were measured.
static double unmeasured(const snw_estimator *e, int i) {
    return sqrt(e->first[e->nx + i] + e->steps * e->process[e->nx + i]);
}

snw_status snw_estimator_unseen(snw_estimator *e, int *count, const double **directions,
                                snw_error *err) {
    if (!e || !count || !directions)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL",
                        !e       ? "the estimator"
                        : !count ? "count"
                                 : "directions");
    const int n = e->nw;
    *count = 0;
    *directions = e->unseen;
    if (n == 0) return SNW_OK;
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) {
            const double unit = unmeasured(e, i) * unmeasured(e, k);
            const double P = snw_column_of(e->P, e->n, e->nx + k)[e->nx + i];
            e->unseen[k * n + i] = unit > 0 ? P / unit : 0;
            e->metric[k * n + i] = i == k;
        }
    }
    const snw_status s = snw_eigen_symmetric(n, e->unseen, e->metric, true, &e->scratch, e->part);
    if (s != SNW_OK) return snw_fail(err, s, "the covariance of the unknown inputs is not finite");
    for (int k = 0; k < n; k++) {
        double most = 0;
        if (!(e->part[k] > nothing_learnt)) continue;
        double *to = e->unseen + (*count)++ * n;
        memmove(to, e->unseen + k * n, (size_t)n * sizeof *to);
        for (int i = 0; i < n; i++)
            if (fabs(to[i]) > fabs(most)) most = to[i];
        for (int i = 0; i < n; i++)
            to[i] = fabs(to[i]) > 1e-6 * fabs(most) ? to[i] / most * unmeasured(e, i) : 0;
    }
    return SNW_OK;
}
