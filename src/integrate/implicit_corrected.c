// SPDX-License-Identifier: MIT
//
// Estimate of the global error of implicit steps. A second solution is integrated with the same
// scheme corrected by its truncation errors, which follow from the accelerations of the steps; the
// distance between both solutions is the estimate. theory.md (6.18)
#include "integrate/implicit_private.h"

#include "constraint/projection.h"
#include "dynamics/constraint.h"

#include <math.h>
#include <string.h>

static const double NOTICEABLE = 1e-4;   // truncation error over typical values: filtered above
static const double CLOSE = 0.01;        // last correction of a solve, relative to the distance
static const double LEAST = 1e-8;        // the same, relative to typical values
static const double ACROSS_ROWS = 1e-10; // the same, with constraint rows
static const double ROUNDING = 1e-13;    // the same, in short steps
static const double LOST = 0.1; // distance over length of the robot at which the estimate ends

enum {
    ITERATIONS = 8,   // most in one step
    COMPARE_EVERY = 8 // steps between two comparisons
};

// Truncation errors of a step of length h, by the jerk j and its rate k: q h^3 j in the increment,
// v_j h^2 j + v_k h^3 k in the velocity, p h^2 k in the pseudo-acceleration, which is the
// acceleration at t + lag h.
typedef struct truncation {
    double q, v_j, v_k, p, lag;
} truncation;

static truncation implicit_corrected_truncation_of(const snw_scheme *s) {
    const double lag = s->am - s->af;
    return (truncation){.q = 1.0 / 6 - 0.5 * lag - s->beta,
                        .v_j = 0.5 - s->gamma - lag,
                        .v_k = 1.0 / 6 - 0.5 * (lag * lag + 2 * s->gamma * lag + s->gamma),
                        .p = 0.5 * lag * (1 - s->am - s->af),
                        .lag = lag};
}

// Not with contacts and conditions, which change at other instants in the second solution; nor with
// signals or relaxing materials, whose memory it does not have; nor with nonholonomic rows, of
// which steps drop some.
static bool estimable(const snw_implicit *im) {
    const snw_model *m = im->m;
    return im->opts.estimate && im->opts.scheme.levels.past == 0 && !im->opts.uniform_past &&
           !snw_touches(m) && m->ncondition == 0 && m->nsignal == 0 && m->nnonholonomic == 0 &&
           m->nbranch == 0;
}

void snw_corrected_start(snw_implicit *im) {
    snw_corrected *c = &im->corrected;
    c->active = estimable(im);
    c->distance = c->max_distance = c->steps = 0;
    c->t = im->now->t;
    c->failed = NAN;
    snw_state_copy(im->m, im->now, c->now);
    memcpy(c->past.v, im->past.v, snw_history_doubles(im->m->nv) * sizeof(double));
    memcpy(im->corrected_a, im->past.a, (size_t)im->m->nv * sizeof(double));
    c->past.h = c->h = 0;
}

// s->v, s->a, rate, acc <- what the constraint rows allow at s (6.11); unchanged at a singular
// configuration.
static void implicit_corrected_consistent(snw_implicit *im, snw_state *s, double *rate,
                                          double *acc) {
    snw_error ignored;
    if (snw_projection_velocities(im->projection, im->in, s, &ignored) != SNW_OK) return;
    if (snw_projection_accelerations(im->projection, im->in, s, &ignored) != SNW_OK) return;
    snw_chart_from_state(im->m, im->opts.chart, s, rate, acc);
}

void snw_corrected_settle_start(snw_implicit *im) {
    snw_corrected *c = &im->corrected;
    if (c->active == 0) return;
    implicit_corrected_consistent(im, c->now, c->past.v, c->past.a);
    memcpy(c->past.pseudo, c->past.a, (size_t)im->m->nv * sizeof(double));
    memcpy(im->corrected_a, im->past.a, (size_t)im->m->nv * sizeof(double));
    c->past.h = c->h = 0;
}

void snw_corrected_restart(snw_implicit *im, const double *before) {
    snw_corrected *c = &im->corrected;
    if (im->m->nconstraint > 0) {
        for (int i = 0; i < im->m->nv; i++) c->now->v[i] += im->now->v[i] - before[i];
        snw_corrected_settle_start(im);
        return;
    }
    for (int i = 0; i < im->m->nv; i++) c->past.a[i] = c->past.pseudo[i] = im->past.a[i];
    c->past.h = c->h = 0;
}

// jerk <- rate of the accelerations of the step, across constraint rows of those that the rows
// allow: the scheme's own oscillate there (6.6). Second rates of the rows, C a - y, become zero by
// the least change of a in the metric of Newton's matrix.
static void implicit_corrected_jerk(snw_implicit *im, double h, double *jerk) {
    const snw_model *m = im->m;
    if (m->nconstraint == 0) {
        for (int i = 0; i < m->nv; i++) jerk[i] = (im->past.a[i] - im->past_kept.a[i]) / h;
        return;
    }
    const double *y = im->corrected_rows;
    for (int i = 0; i < m->nv; i++) im->dx[i] = 0;
    for (int i = 0; i < m->nconstraint; i++) im->dx[m->nv + i] = -im->constraint_scale * y[i];
    snw_bordered_matrix_solve(im->T, im->dx);
    snw_chart_from_state(m, im->opts.chart, im->now, im->rate, im->acc);
    for (int i = 0; i < m->nv; i++) {
        const double a = im->acc[i] - im->dx[i];
        jerk[i] = (a - im->corrected_a[i]) / h;
        im->corrected_a[i] = a;
    }
}

// x <- (M + a/b D + K/b)^-1 M x at the present state: removes motions that a step does not resolve.
// Across constraint rows x keeps its values.
static void implicit_corrected_filter(snw_implicit *im, double b, double *x) {
    const snw_model *m = im->m;
    double *y = im->corrected_rows, *there = y + m->nconstraint;
    snw_state_copy(m, im->now, im->scratch_state);
    for (int i = 0; i < m->nv; i++) im->scratch_state->a[i] += b * x[i];
    snw_residual(m, im->in, im->scratch_state, false,
                 im->w); // b M x, since the residual of the step is zero
    snw_implicit_project(im, im->dx);
    if (m->nconstraint > 0) snw_constraints_rates(m, im->in, im->scratch_state, im->w, NULL, there);
    for (int i = 0; i < m->nconstraint; i++)
        im->dx[m->nv + i] = -im->constraint_scale * (there[i] - y[i]) / b;
    snw_bordered_matrix_solve(im->T, im->dx);
    memcpy(x, im->dx, (size_t)m->nv * sizeof *x);
}

// Predicted increment of coordinate i in a step of length h, from a history, as in the steps
// themselves.
static double predicted_increment(const snw_history *p, double history_h, double h, int i) {
    if (!(history_h > 0)) return h * (p->v[i] + (history_h < 0 ? 0 : 0.5 * h * p->a[i]));
    return h / history_h * (p->d[i] + 0.5 * (h + history_h) * (p->v[i] - p->vb[i]));
}

// im->f, im->g <- velocities and accelerations of the corrected step without its increment; tau
// (nv) <- errors of the pseudo-accelerations.
static void implicit_corrected_begin(snw_implicit *im, const truncation *e, double h, double af,
                                     double *a, double *b, double *jerk, double *tau) {
    snw_corrected *c = &im->corrected;
    const double history_h = im->history_h, hp = fabs(c->h);
    double largest = 0;
    implicit_corrected_jerk(im, h, jerk);
    for (int i = 0; i < im->m->nv; i++) {
        largest = fmax(largest, fabs(e->q * h * h * h * jerk[i]) / im->m->typical[i]);
        double *p = c->past.pseudo + i; // at the lag of this step
        if (history_h > 0) *p = c->past.a[i] + h / history_h * (*p - c->past.a[i]);
        if (history_h == 0) *p = c->past.a[i] + e->lag * h * jerk[i];
    }
    c->past.h = history_h;
    snw_scheme_begin(&im->opts.scheme, &c->past, h, a, b, im->f, im->g);
    if (!(largest <= NOTICEABLE)) implicit_corrected_filter(im, *b, jerk);
    // after a start the rate of the jerk is known from the second step on, which corrects for both
    const double cubes = h * h * h + (c->h < 0 ? hp * hp * hp : 0);
    for (int i = 0; i < im->m->nv; i++) {
        const double k = hp > 0 ? 2 * (jerk[i] - im->corrected_jerk[i]) / (h + hp) : 0;
        const double q = e->q * h * h * h * jerk[i],
                     v = e->v_j * h * h * jerk[i] + e->v_k * cubes * k;
        tau[i] = e->p * h * h * k;
        im->f[i] += v - *a * q;
        im->g[i] -= *b * q + tau[i] / (1 - af);
        im->corrected_jerk[i] = jerk[i];
    }
    c->h = hp > 0 ? h : -h;
}

// im->scratch_state <- state reached by the increment d.
static void implicit_corrected_state(snw_implicit *im, double a, double b, const double *d) {
    const snw_model *m = im->m;
    for (int i = 0; i < m->nv; i++) {
        im->rate[i] = a * d[i] + im->f[i];
        im->acc[i] = b * d[i] + im->g[i];
    }
    snw_chart_to_state(m, im->opts.chart, im->corrected.now->q, d, im->rate, im->acc,
                       im->scratch_state);
    snw_constraints_impose(m, im->in, im->scratch_state);
}

// Newton's matrix at im->scratch_state; the next step of the integrator makes its own.
static bool implicit_corrected_renew(snw_implicit *im, double a, double b, double *d) {
    snw_state *end = im->trial;
    double *increment = im->d;
    im->T_origin.known = false;
    im->trial = im->scratch_state, im->d = d;
    const snw_status s = snw_implicit_factor(im, a, b);
    im->trial = end, im->d = increment;
    return s == SNW_OK;
}

// im->scratch_state <- state in equilibrium, d <- its increment, by Newton's matrix of the step, or
// with new_matrix by a new one in each iteration. False: no convergence.
static bool implicit_corrected_solve(snw_implicit *im, double h, double a, double b,
                                     bool new_matrix, double *d) {
    const snw_model *m = im->m;
    snw_corrected *c = &im->corrected;
    // accelerations amplify errors of a short step by h^-2, and those across constraint rows
    const bool rows = m->nconstraint > 0;
    const double loose = rows ? ACROSS_ROWS : fmax(LEAST, CLOSE * c->distance / m->length);
    const double close = h < 0.5 * im->longest ? ROUNDING : loose;
    double moved = INFINITY;
    snw_state_copy(m, im->now, im->scratch_state);
    snw_broyden_reset(&c->broyden);
    implicit_corrected_state(im, a, b, d);
    for (int k = 0; k < ITERATIONS; k++) {
        snw_residual(m, im->in, im->scratch_state, false, im->w);
        if (new_matrix && !implicit_corrected_renew(im, a, b, d)) return false;
        snw_implicit_project(im, im->dx);
        for (int i = 0; i < im->T->n; i++) im->dx[i] = -im->dx[i];
        snw_bordered_matrix_solve(im->T, im->dx);
        if (!new_matrix && !snw_broyden_next(&c->broyden, im->dx)) return false;
        const double before = moved;
        moved = 0;
        for (int i = 0; i < m->nv; i++) {
            if (!isfinite(im->dx[i])) return false;
            moved = fmax(moved, fabs(im->dx[i]) / m->typical[i]);
        }
        if (before <= loose && moved > 0.1 * before) return true; // limited by rounding
        for (int i = 0; i < m->nv; i++) d[i] += im->dx[i];
        for (int i = 0; i < m->nconstraint; i++)
            im->scratch_state->lambda[i] += im->constraint_scale * im->dx[m->nv + i];
        implicit_corrected_state(im, a, b, d);
        // with rows, where the tolerance is small: the next correction would be moved^2/before
        const double next = rows && before < INFINITY ? moved * moved / before : moved;
        if (moved <= close || next <= close) return true;
    }
    return moved <= loose;
}

// Points of each segment on its three axes, at the distance of its radius of gyration from the
// origin.
static void lever_points(const snw_implicit *im, double *point) {
    const snw_model *m = im->m;
    for (int i = 0; i < m->nseg; i++) {
        const snw_inertia *M = &m->seg[i].M;
        const double spread = M->m > 0 ? sqrt(0.5 * (M->I[0] + M->I[1] + M->I[2]) / M->m) : 0;
        const snw_se3 g = im->w->g[i];
        for (int k = 0; k < 3; k++) {
            double *p = point + 9 * i + 3 * k;
            for (int j = 0; j < 3; j++) p[j] = g.p.e[j] + spread * g.R.e[j][k];
        }
    }
}

// Largest distance between points of the segments in both solutions, m.
static double implicit_corrected_distance(snw_implicit *im) {
    const snw_model *m = im->m;
    double *here = im->corrected_point, *there = here + 9 * m->nseg, distance = 0;
    snw_kinematics(m, im->in, im->corrected.now, false, im->w);
    lever_points(im, there);
    snw_kinematics(m, im->in, im->now, false, im->w);
    lever_points(im, here);
    for (int i = 0; i < 3 * m->nseg; i++) {
        const double *p = here + 3 * i, *q = there + 3 * i;
        distance = fmax(distance, hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]));
    }
    return distance;
}

// Ensures Newton's matrix of the last step; a step that started within its tolerance made none.
static bool implicit_corrected_has_matrix(snw_implicit *im) {
    if (im->matrix_current) return true;
    snw_residual(im->m, im->in, im->trial, false, im->w);
    im->T_origin.known = false;
    return snw_implicit_factor(im, im->a, im->b) == SNW_OK;
}

// The second solution ends here: its equations were not solved.
static void implicit_corrected_fail(snw_implicit *im) {
    im->corrected.active = 0;
    im->corrected.failed = im->now->t;
}

static void implicit_corrected_compare(snw_implicit *im) {
    snw_corrected *c = &im->corrected;
    c->distance = implicit_corrected_distance(im);
    if (!(c->distance <= c->max_distance)) c->max_distance = c->distance, c->t = im->now->t;
    if (!(c->max_distance <= LOST * im->m->length)) c->active = 0;
}

// One step of the second solution.
static void implicit_corrected_step(snw_implicit *im, double h) {
    snw_corrected *c = &im->corrected;
    const snw_model *m = im->m;
    const snw_scheme first = {.gamma = 1, .beta = 0.5}; // first step as in snw_scheme_begin
    const snw_scheme *s = im->history_h < 0 ? &first : &im->opts.scheme;
    const truncation e = implicit_corrected_truncation_of(s);
    if (!implicit_corrected_has_matrix(im)) {
        implicit_corrected_fail(im);
        return;
    }
    double a, b, *d = im->scratch, *tau = d + m->nv, *jerk = tau + m->nv, *guess = jerk;
    for (int i = 0; i < m->nv; i++) {
        d[i] = im->d[i] + predicted_increment(&c->past, im->history_h, h, i) -
               predicted_increment(&im->past_kept, im->history_h, h, i);
    }
    implicit_corrected_begin(im, &e, h, s->af, &a, &b, jerk, tau);
    const size_t size = (size_t)m->nv * sizeof *d;
    memcpy(guess, d, size);
    if (!implicit_corrected_solve(im, h, a, b, false, d) &&
        !implicit_corrected_solve(im, h, a, b, true, memcpy(d, guess, size))) {
        implicit_corrected_fail(im);
        return;
    }
    if (im->settled) implicit_corrected_consistent(im, im->scratch_state, im->rate, im->acc);
    snw_scheme_end(&im->opts.scheme, h, d, im->rate, im->acc, &c->past);
    for (int i = 0; i < m->nv && im->history_h >= 0; i++) c->past.pseudo[i] += tau[i] / (1 - s->am);
    snw_state_copy(m, im->scratch_state, c->now);
    c->now->t = im->now->t;
    c->steps++;
    if (fmod(c->steps, COMPARE_EVERY) == 0) implicit_corrected_compare(im);
}

void snw_implicit_accept(snw_implicit *im, double h) {
    const bool known = im->T_origin.known;
    snw_implicit_note(im, SNW_WATCH_STEP, h, im->settled ? im->unsettled : NULL);
    if (im->corrected.active == 0) return;
    implicit_corrected_step(im, h);
    if (im->m->nconstraint == 0 || !known || im->T_origin.known) return;
    // the estimate made a matrix of its own
    const double t = im->in->t;
    im->T_origin.known = true;
    snw_implicit_remake_matrix(im);
    snw_inputs_at(im->m, t, im->in);
}

double snw_implicit_global_error(snw_implicit *im, double *t, double *failed) {
    if (im->corrected.active != 0) implicit_corrected_compare(im);
    *t = im->corrected.t;
    *failed = im->corrected.failed;
    return im->corrected.max_distance / im->m->length;
}
