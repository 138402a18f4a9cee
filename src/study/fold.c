// SPDX-License-Identifier: MIT
//
// Derivatives of folds and curves of folds in two parameters. A curve solves r = 0 and tau = 0 for
// the configuration, t and m, where tau and the null vectors phi, psi follow from the tangent
// bordered by fixed vectors, [J b; c' 0] (phi, tau) = (0, 1) and the transposed; tau vanishes with
// the determinant of J, and d(tau) = -psi' dJ phi. theory.md 5.2
#include "study/fold.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "solve/dense.h"
#include "solve/root.h"
#include "study/equilibria_private.h"
#include "study/family.h"

#include <math.h>
#include <string.h>

enum { PAIRS = 3 }; // of differences

static const double SPACING = 1e-3;       // of differences in a parameter, relative to its value
static const double ALONG_MODE = 1e-4;    // of differences along phi, in typical coordinates
static const double IN_RANGE = 1.0 / 256; // of differences of J in t, part of its range
static const double FIRST_STEP = 0.02;
static const double LOCATED = 1e-9;      // arc length to which a cusp is found
static const double BEYOND_RANGE = 1.05; // of the way to its end, by the tangent

// A copy of eq that evaluates with another model.
static snw_equilibria with_model(const snw_equilibria *eq, const snw_member *f) {
    snw_equilibria other = *eq;
    other.st = f->st;
    other.m = f->model;
    return other;
}

// Spacing of differences in parameter k: a part of its value, or of one unit if that is zero.
static double spacing_of(const snw_path_desc *path, int k) {
    const double size = fabs(path->family.parameter[k].value);
    return SPACING * (size > 0 ? size : 1);
}

snw_status snw_fold_derivatives(snw_equilibria *eq, const snw_path_desc *path, const double *point,
                                const double *psi, double psi_t, double *derivative,
                                snw_error *err) {
    static const double weight[PAIRS] = {3.0 / 4, -3.0 / 20, 1.0 / 60};
    const int n = eq->problem.n;
    for (int k = 0; k < path->family.nparameter; k++) {
        const double h = spacing_of(path, k);
        double psi_m = 0;
        for (int i = -PAIRS; i <= PAIRS; i++) {
            snw_member f = {0};
            if (i == 0) continue;
            const double value = path->family.parameter[k].value + i * h;
            SNW_TRY(snw_member_at(path, k, value, eq->st, &f, err));
            snw_equilibria other = with_model(eq, &f);
            const snw_status s =
                snw_equilibria_evaluate(&other, point, point[eq->problem.nx], eq->r);
            snw_member_free(&f);
            SNW_TRY(s);
            const double w = (i > 0 ? 1 : -1) * weight[(i > 0 ? i : -i) - 1] / h;
            for (int j = 0; j < n; j++) psi_m += w * psi[j] * eq->r[j];
        }
        derivative[k] = -psi_m / psi_t;
    }
    return SNW_OK;
}

// ---- curve of folds

// nv velocities, n with the multipliers, nx numbers of a configuration with them; N = n + 1
// equations
#define CURVE_FIELDS(X)                                                                            \
    X(double, scale, n + 2, "of residuals")                                                        \
    X(double, size, n + 2, "of increments")                                                        \
    X(double, weight, n + 2, "in the arc length")                                                  \
    X(double, b, n + 1, "border: the left null vector at the start")                               \
    X(double, c, n + 1, "border: the null vector at the start")                                    \
    X(double, phi, n + 1, "null vector, increments")                                               \
    X(double, psi, n + 1, "left null vector")                                                      \
    X(double, g, n + 1, "derivative of psi' J phi along the coordinates")                          \
    X(double, y, n + 1, "right-hand side")                                                         \
    X(double, r, n + 1, "residual of the differences")                                             \
    X(double, J, n *n, "tangent")                                                                  \
    X(double, K, n *n, "tangent of the differences")                                               \
    X(double, B, (n + 1) * (n + 1), "bordered tangent")                                            \
    X(double, x, 3 * (nx + 2), "points: the last, the next, one between")                          \
    X(double, tangent, 3 * (n + 2), "their tangents")                                              \
    X(double, start, nx + 2, "the fold at the start")                                              \
    X(double, moved, nx + 2, "point of the differences")                                           \
    X(int, pivot, n + 1, "of the bordered tangent")

typedef struct fold_curve {
    snw_equilibria *eq;
    const snw_model *m;
    const snw_path_desc *path;
    snw_error *err;
    snw_member now; // at the value of the last evaluation
    CURVE_FIELDS(SNW_FIELD_POINTER)
    void *block;
    snw_arena scratch;
    snw_path_problem problem;
    double curvature; // psi' (dJ phi) phi at the last evaluation with derivatives; 0 at a cusp
    double arc;
} fold_curve;

static void curve_place(void *object, snw_fields *f) {
    fold_curve *o = object;
    const size_t n = (size_t)(o->m->nv + o->m->nconstraint);
    const size_t nx = (size_t)(o->m->nq + o->m->nconstraint);
    CURVE_FIELDS(SNW_FIELD_PLACE)
}

// cv->now <- the model at this value of the parameter
static snw_status curve_model(fold_curve *cv, double value) {
    return snw_member_at(cv->path, cv->path->curve, value, cv->eq->st, &cv->now, cv->err);
}

// cv->phi, cv->psi, *tau <- from the tangent cv->J
static snw_status curve_border(fold_curve *cv, double *tau) {
    const size_t n = (size_t)cv->eq->problem.n, ld = n + 1;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++)
            cv->B[j * ld + i] = cv->J[j * n + i] * cv->size[j] / cv->scale[i];
        cv->B[j * ld + n] = cv->c[j];
        cv->B[n * ld + j] = cv->b[j];
    }
    cv->B[n * ld + n] = 0;
    SNW_TRY(snw_lu_factor((int)ld, cv->B, cv->pivot));
    for (int left = 0; left < 2; left++) {
        double *to = left ? cv->psi : cv->phi;
        memset(cv->y, 0, n * sizeof *cv->y);
        cv->y[n] = 1;
        if (left) {
            snw_lu_solve_transposed((int)ld, cv->B, cv->pivot, cv->y);
        } else {
            snw_lu_solve((int)ld, cv->B, cv->pivot, cv->y);
        }
        for (size_t i = 0; i < n; i++)
            to[i] = left ? cv->y[i] / cv->scale[i] : cv->y[i] * cv->size[i];
    }
    *tau = cv->y[n];
    return SNW_OK;
}

// psi' K phi with the tangent at a point of another configuration, t or model
static snw_status curve_form(fold_curve *cv, snw_equilibria *other, const double *point,
                             double *out) {
    const size_t n = (size_t)cv->eq->problem.n;
    SNW_TRY(snw_equilibria_equations(other, point, cv->r, cv->K, NULL));
    *out = 0;
    for (size_t j = 0; j < n; j++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += cv->psi[i] * cv->K[j * n + i];
        *out += sum * cv->phi[j];
    }
    return SNW_OK;
}

// last row of J <- d(tau) by the configuration and t
static snw_status curve_row(fold_curve *cv, snw_equilibria *here, const double *point, double *J) {
    const size_t n = (size_t)cv->eq->problem.n, ld = n + 1;
    const int nx = cv->eq->problem.nx;
    memset(cv->g, 0, n * sizeof *cv->g);
    for (int side = -1; side <= 1; side += 2) {
        snw_equilibria_move(here, point, side * ALONG_MODE, cv->phi, cv->moved);
        cv->moved[nx] = point[nx];
        SNW_TRY(snw_equilibria_equations(here, cv->moved, cv->r, cv->K, NULL));
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++) sum += cv->psi[i] * cv->K[j * n + i];
            cv->g[j] += side * sum / (2 * ALONG_MODE);
        }
    }
    cv->curvature = 0;
    for (size_t j = 0; j < n; j++) {
        J[j * ld + n] = -cv->g[j];
        cv->curvature += cv->g[j] * cv->phi[j];
    }
    const double h = IN_RANGE * cv->size[n];
    double form[2];
    memcpy(cv->moved, point, ((size_t)nx + 1) * sizeof *point);
    for (int k = 0; k < 2; k++) {
        cv->moved[nx] = point[nx] + (k ? h : -h);
        SNW_TRY(curve_form(cv, here, cv->moved, &form[k]));
    }
    J[n * ld + n] = -(form[1] - form[0]) / (2 * h);
    return SNW_OK;
}

// r_m (n + 1) <- derivatives of the residual and of tau by the parameter
static snw_status curve_parameter(fold_curve *cv, const double *point, double *r_m) {
    const size_t n = (size_t)cv->eq->problem.n;
    const double h = spacing_of(cv->path, cv->path->curve), value = cv->now.value;
    memset(r_m, 0, (n + 1) * sizeof *r_m);
    for (int side = -1; side <= 1; side += 2) {
        snw_member f = {0};
        SNW_TRY(
            snw_member_at(cv->path, cv->path->curve, value + side * h, cv->eq->st, &f, cv->err));
        snw_equilibria other = with_model(cv->eq, &f);
        double form = 0;
        const snw_status s = curve_form(cv, &other, point, &form);
        snw_member_free(&f);
        SNW_TRY(s);
        for (size_t i = 0; i < n; i++) r_m[i] += side * cv->r[i] / (2 * h);
        r_m[n] -= side * form / (2 * h);
    }
    return SNW_OK;
}

static snw_status curve_equations(void *user, const double *point, double *r, double *J,
                                  double *r_p) {
    fold_curve *cv = user;
    const size_t n = (size_t)cv->eq->problem.n, ld = n + 1;
    SNW_TRY(curve_model(cv, point[cv->eq->problem.nx + 1]));
    snw_equilibria here = with_model(cv->eq, &cv->now);
    double *r_t = J ? J + n * ld : cv->y; // the column of t is its own
    SNW_TRY(snw_equilibria_equations(&here, point, r, cv->J, r_t));
    SNW_TRY(curve_border(cv, &r[n]));
    if (!J) return SNW_OK;
    for (size_t j = 0; j < n; j++) memcpy(J + j * ld, cv->J + j * n, n * sizeof *J);
    SNW_TRY(curve_row(cv, &here, point, J));
    return curve_parameter(cv, point, r_p);
}

static void curve_move(void *user, const double *x, double step, const double *dx, double *out) {
    const fold_curve *cv = user;
    const int n = cv->eq->problem.n, nx = cv->eq->problem.nx;
    const double t = x[nx] + step * dx[n];
    snw_equilibria_move(cv->eq, x, step, dx, out);
    out[nx] = t;
}

static double *curve_point(const fold_curve *cv, int k) {
    return cv->x + (size_t)k * (size_t)(cv->problem.nx + 1);
}
static double *curve_tangent(const fold_curve *cv, int k) {
    return cv->tangent + (size_t)k * (size_t)(cv->problem.n + 1);
}

// Hand a point to the caller.
static snw_status curve_give(fold_curve *cv, const double *point, snw_special special,
                             const snw_arclength_info *info) {
    snw_equilibria *eq = cv->eq;
    const snw_model *m = eq->m;
    snw_state *s = eq->state;
    SNW_TRY(curve_model(cv, point[cv->problem.nx]));
    if (m->nq) memcpy(s->q, point, (size_t)m->nq * sizeof *s->q);
    if (m->nconstraint) memcpy(s->lambda, point + m->nq, (size_t)m->nconstraint * sizeof *s->q);
    for (int i = 0; i < m->nv; i++) s->v[i] = s->a[i] = 0;
    s->t = point[eq->problem.nx];
    eq->info->points++;
    if (special) eq->info->special[special]++;
    const snw_equilibrium e = {.state = s,
                               .parameter = s->t,
                               .statics = cv->now.st,
                               .path = eq->path,
                               .arc = cv->arc,
                               .special = special,
                               .number = special ? eq->info->special[special] : 0,
                               .multiplicity = 1,
                               .mode = special ? cv->phi : NULL,
                               .symmetric = true,
                               .iterations = info->iterations,
                               .residual = info->residual};
    return eq->receive(eq->user, &e, cv->err);
}

// Value of psi' (dJ phi) phi at the point at a distance along the last tangent.
static snw_status curve_cusp(void *user, double distance, double *value) {
    fold_curve *cv = user;
    double *c = curve_point(cv, 2);
    snw_arclength_info info;
    snw_arclength_move(&cv->problem, curve_point(cv, 0), distance, curve_tangent(cv, 0), c);
    SNW_TRY(snw_arclength_correct(&cv->problem, curve_tangent(cv, 0), cv->eq->opts->tolerance,
                                  &cv->scratch, c, &info));
    SNW_TRY(snw_arclength_tangent(&cv->problem, c, curve_tangent(cv, 0), &cv->scratch,
                                  curve_tangent(cv, 2), NULL));
    *value = cv->curvature;
    return SNW_OK;
}

// b <- corrected at the bound that it exceeds, with its parameter fixed
static snw_status curve_end(fold_curve *cv, double bound, double *b, const double *tangent,
                            snw_arclength_info *info) {
    const int n = cv->problem.n;
    const double beyond = (bound - b[cv->problem.nx]) / tangent[n];
    snw_arclength_move(&cv->problem, b, beyond, tangent, b);
    b[cv->problem.nx] = bound;
    double *normal = curve_tangent(cv, 2);
    memset(normal, 0, (size_t)n * sizeof *normal);
    normal[n] = cv->size[n];
    return snw_arclength_correct(&cv->problem, normal, cv->eq->opts->tolerance, &cv->scratch, b,
                                 info);
}

// From the start to one side, until the parameter or t leaves its range.
static snw_status curve_side(fold_curve *cv, double side) {
    const snw_path_problem *p = &cv->problem;
    const snw_equilibria_opts *opts = cv->eq->opts;
    const double low = cv->path->curve_low, high = cv->path->curve_high;
    double *a = curve_point(cv, 0), *b = curve_point(cv, 1);
    double *ta = curve_tangent(cv, 0), *tb = curve_tangent(cv, 1);
    const size_t points = ((size_t)p->nx + 1) * sizeof *a,
                 tangents = ((size_t)p->n + 1) * sizeof *a;
    double step = FIRST_STEP, length;
    snw_arclength_info info = {0};
    memcpy(a, cv->start, points);
    memset(tb, 0, tangents);
    tb[p->n] = side * cv->size[p->n];
    SNW_TRY(snw_arclength_tangent(p, a, tb, &cv->scratch, ta, NULL));
    double curvature = cv->curvature;
    cv->eq->path++;
    cv->eq->info->paths++;
    cv->arc = 0;
    SNW_TRY(curve_give(cv, a, SNW_SPECIAL_NONE, &info));
    for (int k = 1; k < opts->points; k++) {
        int sign;
        if (opts->stop && opts->stop(opts->user))
            return snw_fail(cv->err, SNW_E_STOPPED, "stopped on the curve of folds");
        // hardly beyond the range, where there may be no such robot
        const double to = ta[p->n] > 0 ? high : low;
        if (ta[p->n] != 0) step = fmin(step, BEYOND_RANGE * (to - a[p->nx]) / ta[p->n]);
        SNW_TRY(snw_arclength_advance(p, a, ta, opts->step, opts->tolerance, &cv->scratch, &step,
                                      &length, b, tb, &sign, &info));
        const double m = b[p->nx], t = b[p->nx - 1], next = cv->curvature;
        if ((curvature > 0) != (next > 0)) {
            double at;
            SNW_TRY(snw_find_root(curve_cusp, cv, 0, curvature, length, next, LOCATED, &at));
            const double arc = cv->arc;
            cv->arc += at;
            SNW_TRY(curve_give(cv, curve_point(cv, 2), SNW_SPECIAL_CUSP, &info));
            cv->arc = arc;
        }
        const bool last = m < low || m > high || t < opts->low || t > opts->high;
        if (m < low || m > high) SNW_TRY(curve_end(cv, m < low ? low : high, b, tb, &info));
        cv->arc += length;
        SNW_TRY(curve_give(cv, b, SNW_SPECIAL_NONE, &info));
        if (last) return SNW_OK;
        memcpy(a, b, points);
        memcpy(ta, tb, tangents);
        curvature = next;
    }
    return SNW_OK;
}

// Sizes, borders and start, from a fold of the path.
static snw_status curve_prepare(fold_curve *cv, const double *point) {
    snw_equilibria *eq = cv->eq;
    const size_t n = (size_t)eq->problem.n, nx = (size_t)eq->problem.nx;
    cv->problem = (snw_path_problem){.n = (int)n + 1,
                                     .nx = (int)nx + 1,
                                     .user = cv,
                                     .equations = curve_equations,
                                     .move = curve_move,
                                     .scale = cv->scale,
                                     .size = cv->size,
                                     .weight = cv->weight};
    memcpy(cv->scale, eq->scale, n * sizeof *cv->scale);
    memcpy(cv->size, eq->size, (n + 1) * sizeof *cv->size);
    memcpy(cv->weight, eq->weight, (n + 1) * sizeof *cv->weight);
    cv->scale[n] = cv->weight[n + 1] = 1;
    cv->size[n + 1] = cv->path->curve_high - cv->path->curve_low;
    double psi_t;
    SNW_TRY(snw_arclength_null(&eq->problem, point, &eq->scratch, cv->phi, cv->psi, &psi_t));
    for (size_t i = 0; i < n; i++) {
        cv->c[i] = cv->phi[i] / cv->size[i];
        cv->b[i] = cv->psi[i] * cv->scale[i];
    }
    memcpy(cv->start, point, (nx + 1) * sizeof *point);
    cv->start[nx + 1] = cv->path->family.parameter[cv->path->curve].value;
    return SNW_OK;
}

static snw_status curve_follow(fold_curve *cv, const double *point) {
    const snw_path_desc *path = cv->path;
    const double m = path->family.parameter[path->curve].value;
    SNW_TRY(curve_prepare(cv, point));
    if (m < path->curve_high) SNW_TRY(curve_side(cv, 1));
    return m > path->curve_low ? curve_side(cv, -1) : SNW_OK;
}

snw_status snw_fold_curve(snw_equilibria *eq, const snw_path_desc *path, const double *point,
                          snw_error *err) {
    fold_curve cv = {.eq = eq, .m = eq->m, .path = path, .err = err};
    const size_t size = snw_arclength_scratch(eq->problem.n + 1);
    cv.scratch = (snw_arena){.base = snw_alloc(size), .size = size};
    cv.block = snw_fields_create(curve_place, &cv);
    snw_status s = cv.scratch.base && cv.block ? curve_follow(&cv, point) : snw_fail_memory(err);
    if (s == SNW_E_DIVERGED || s == SNW_E_SINGULAR) {
        s = snw_fail(err, s,
                     "the curve of folds could not be continued beyond %s = %.9g (SI units); the "
                     "points before are kept. Try a smaller 'step' or a shorter range",
                     path->family.parameter[path->curve].name, cv.now.value);
    }
    snw_member_free(&cv.now);
    snw_free(cv.scratch.base);
    snw_free(cv.block);
    return s;
}
