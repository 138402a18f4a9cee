// SPDX-License-Identifier: MIT
//
// Estimate of the global error of implicit steps: a second solution is carried beside them, by the same scheme less its
// truncation errors, which the accelerations of the steps tell. Their distance is the estimate. theory.md (6.18)
#include "study/motion_private.h"

#include <math.h>
#include <string.h>

static const double NOTICEABLE = 1e-4; // truncation error, of typical values: filtered where larger
static const double CLOSE = 0.01;      // last correction of a solve, of the distance
static const double LEAST = 1e-8;      // the same of typical values
static const double ROUNDING = 1e-13;  // the same of short steps
static const double LOST = 0.1;        // distance, of the robot's size: the estimate ends

enum {
    ITERATIONS = 8, // most of a step
    BETWEEN = 8     // steps between two looks at the distance
};

// Errors that a step of length h makes of exact values, by the jerk j and its rate k: q h^3 j in the increment, v_j h^2 j + v_k h^3 k
// in the rate, p h^2 k in the pseudo-acceleration, which is the acceleration at t + lag h.
typedef struct truncation {
    double q, v_j, v_k, p, lag;
} truncation;

static truncation truncation_of(const snw_scheme *s) {
    const double lag = s->am - s->af;
    return (truncation){.q = 1.0 / 6 - 0.5 * lag - s->beta,
                        .v_j = 0.5 - s->gamma - lag,
                        .v_k = 1.0 / 6 - 0.5 * (lag * lag + 2 * s->gamma * lag + s->gamma),
                        .p = 0.5 * lag * (1 - s->am - s->af),
                        .lag = lag};
}

// Contacts and switches act at other instants in the second solution, signals have a memory that it lacks, and rows of loops and
// drives ring in it.
static bool estimable(const snw_motion *mo) {
    const snw_model *m = mo->m;
    return mo->opts.estimate && !mo->opts.scheme.levels && !mo->opts.rest && m->ntouch == 0 &&
           m->nswitch == 0 && m->nsignal == 0 && m->nrow == 0;
}

void snw_corrected_start(snw_motion *mo) {
    snw_corrected *c = &mo->corrected;
    c->on = estimable(mo);
    c->far = c->worst = c->steps = 0;
    c->t = mo->now->t;
    snw_state_copy(mo->m, mo->now, c->now);
    memcpy(c->past.v, mo->past.v, snw_history_doubles(mo->m->nv) * sizeof(double));
    c->past.h = c->h = 0;
}

void snw_corrected_restart(snw_motion *mo) {
    snw_corrected *c = &mo->corrected;
    for (int i = 0; i < mo->m->nv; i++) c->past.a[i] = c->past.pseudo[i] = mo->past.a[i];
    c->past.h = c->h = 0;
}

// x <- (M + a/b D + K/b)^-1 M x at the present state: motions that a step does not resolve are left out.
static void filter(snw_motion *mo, double b, double *x) {
    const snw_model *m = mo->m;
    snw_state_copy(m, mo->now, mo->way);
    for (int i = 0; i < m->nv; i++) mo->way->a[i] += b * x[i];
    snw_residual(m, mo->in, mo->way, false, mo->w); // b M x, since that of the step is zero
    snw_motion_project(mo, mo->dx);
    snw_matrix_solve(mo->T, mo->dx);
    memcpy(x, mo->dx, (size_t)m->nv * sizeof *x);
}

// Increment that a history lets expect of a step of length h, per number, as the steps themselves begin.
static double expected(const snw_history *p, double begun, double h, int i) {
    if (!(begun > 0)) return h * (p->v[i] + (begun < 0 ? 0 : 0.5 * h * p->a[i]));
    return h / begun * (p->d[i] + 0.5 * (h + begun) * (p->v[i] - p->vb[i]));
}

// mo->f, mo->g <- rates and accelerations of the corrected step without its increment; tau (nv) <- error of the pseudo-accelerations.
static void begin(snw_motion *mo, const truncation *e, double h, double af, double *a, double *b,
                  double *jerk, double *tau) {
    snw_corrected *c = &mo->corrected;
    const double begun = mo->begun, hp = fabs(c->h);
    double largest = 0;
    for (int i = 0; i < mo->m->nv; i++) jerk[i] = (mo->past.a[i] - mo->kept.a[i]) / h;
    for (int i = 0; i < mo->m->nv; i++) {
        largest = fmax(largest, fabs(e->q * h * h * h * jerk[i]) / mo->m->typical[i]);
        double *p = c->past.pseudo + i; // at the lag of this step
        if (begun > 0) *p = c->past.a[i] + h / begun * (*p - c->past.a[i]);
        if (begun == 0) *p = c->past.a[i] + e->lag * h * jerk[i];
    }
    c->past.h = begun;
    snw_scheme_begin(&mo->opts.scheme, &c->past, h, a, b, mo->f, mo->g);
    if (!(largest <= NOTICEABLE)) filter(mo, *b, jerk);
    // behind a start the rate of the jerk is known from the second step on, which counts for both
    const double cubes = h * h * h + (c->h < 0 ? hp * hp * hp : 0);
    for (int i = 0; i < mo->m->nv; i++) {
        const double k = hp > 0 ? 2 * (jerk[i] - c->jerk[i]) / (h + hp) : 0;
        const double q = e->q * h * h * h * jerk[i],
                     v = e->v_j * h * h * jerk[i] + e->v_k * cubes * k;
        tau[i] = e->p * h * h * k;
        mo->f[i] += v - *a * q;
        mo->g[i] -= *b * q + tau[i] / (1 - af);
        c->jerk[i] = jerk[i];
    }
    c->h = hp > 0 ? h : -h;
}

// mo->way <- the state that the increment d leads to.
static void place(snw_motion *mo, double a, double b, const double *d) {
    const snw_model *m = mo->m;
    for (int i = 0; i < m->nv; i++) {
        mo->rate[i] = a * d[i] + mo->f[i];
        mo->acc[i] = b * d[i] + mo->g[i];
    }
    snw_chart_to_state(m, mo->opts.chart, mo->corrected.now->q, d, mo->rate, mo->acc, mo->way);
}

// Newton's matrix at mo->way; the next step of the motion makes its own.
static bool renew(snw_motion *mo, double a, double b, double *d) {
    snw_state *end = mo->trial;
    double *increment = mo->d;
    mo->of_T.known = false;
    mo->trial = mo->way, mo->d = d;
    const snw_status s = snw_motion_factor(mo, a, b);
    mo->trial = end, mo->d = increment;
    return s == SNW_OK;
}

// mo->way <- the state at which forces balance, d its increment: with Newton's matrix of the step, or a new one for each iteration.
// False: none was found.
static bool solve(snw_motion *mo, double h, double a, double b, bool anew, double *d) {
    const snw_model *m = mo->m;
    snw_corrected *c = &mo->corrected;
    const double loose = fmax(LEAST, CLOSE * c->far / m->length);
    // accelerations see errors of a short step as h^-2
    const double close = h < 0.5 * mo->longest ? ROUNDING : loose;
    double moved = INFINITY;
    snw_state_copy(m, mo->now, mo->way);
    snw_broyden_reset(&c->broyden);
    place(mo, a, b, d);
    for (int k = 0; k < ITERATIONS; k++) {
        snw_residual(m, mo->in, mo->way, false, mo->w);
        if (anew && !renew(mo, a, b, d)) return false;
        snw_motion_project(mo, mo->dx);
        for (int i = 0; i < mo->T->n; i++) mo->dx[i] = -mo->dx[i];
        snw_matrix_solve(mo->T, mo->dx);
        if (!anew && !snw_broyden_next(&c->broyden, mo->dx)) return false;
        const double before = moved;
        moved = 0;
        for (int i = 0; i < m->nv; i++) {
            if (!isfinite(mo->dx[i])) return false;
            moved = fmax(moved, fabs(mo->dx[i]) / m->typical[i]);
        }
        if (before <= loose && moved > 0.1 * before) return true; // rounding
        for (int i = 0; i < m->nv; i++) d[i] += mo->dx[i];
        place(mo, a, b, d);
        if (moved <= close) return true;
    }
    return moved <= loose;
}

// Place of the end of a lever on each segment, which is as long as its mass is spread about the origin.
static void put_points(const snw_motion *mo, double *point) {
    const snw_model *m = mo->m;
    for (int i = 0; i < m->nseg; i++) {
        const snw_inertia *M = &m->seg[i].M;
        const double spread = M->m > 0 ? sqrt(0.5 * (M->I[0] + M->I[1] + M->I[2]) / M->m) : 0;
        const snw_se3 g = mo->w->g[i];
        for (int k = 0; k < 3; k++) {
            double *p = point + 9 * i + 3 * k;
            for (int j = 0; j < 3; j++) p[j] = g.p.e[j] + spread * g.R.e[j][k];
        }
    }
}

// Largest distance between points of segments in both solutions, m.
static double distance(snw_motion *mo) {
    const snw_model *m = mo->m;
    double *here = mo->corrected.point, *there = here + 9 * m->nseg, far = 0;
    snw_kinematics(m, mo->in, mo->corrected.now, false, mo->w);
    put_points(mo, there);
    snw_kinematics(m, mo->in, mo->now, false, mo->w);
    put_points(mo, here);
    for (int i = 0; i < 3 * m->nseg; i++) {
        const double *p = here + 3 * i, *q = there + 3 * i;
        far = fmax(far, hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]));
    }
    return far;
}

// Is there Newton's matrix of the last step? One that began within its tolerance made none.
static bool fits(snw_motion *mo) {
    snw_corrected *c = &mo->corrected;
    if (mo->fits) return true;
    snw_residual(mo->m, mo->in, mo->trial, false, mo->w);
    mo->of_T.known = false;
    c->on = snw_motion_factor(mo, mo->a, mo->b) == SNW_OK;
    return c->on != 0;
}

static void compare(snw_motion *mo) {
    snw_corrected *c = &mo->corrected;
    c->far = distance(mo);
    if (!(c->far <= c->worst)) c->worst = c->far, c->t = mo->now->t;
    if (!(c->worst <= LOST * mo->m->length)) c->on = 0;
}

void snw_motion_accept(snw_motion *mo, double h) {
    snw_corrected *c = &mo->corrected;
    const snw_model *m = mo->m;
    if (c->on == 0) return;
    const snw_scheme blind = {.gamma = 1, .beta = 0.5}; // as snw_scheme_begin has it
    const snw_scheme *s = mo->begun < 0 ? &blind : &mo->opts.scheme;
    const truncation e = truncation_of(s);
    if (!fits(mo)) return;
    double a, b, *d = mo->scratch, *tau = d + m->nv, *jerk = tau + m->nv, *guess = jerk;
    for (int i = 0; i < m->nv; i++) {
        d[i] =
            mo->d[i] + expected(&c->past, mo->begun, h, i) - expected(&mo->kept, mo->begun, h, i);
    }
    begin(mo, &e, h, s->af, &a, &b, jerk, tau);
    const size_t size = (size_t)m->nv * sizeof *d;
    memcpy(guess, d, size);
    c->on = solve(mo, h, a, b, false, d) || solve(mo, h, a, b, true, memcpy(d, guess, size));
    if (c->on == 0) return;
    snw_scheme_end(&mo->opts.scheme, h, d, mo->rate, mo->acc, &c->past);
    for (int i = 0; i < m->nv && mo->begun >= 0; i++) c->past.pseudo[i] += tau[i] / (1 - s->am);
    snw_state_copy(m, mo->way, c->now);
    c->now->t = mo->now->t;
    c->steps++;
    if (fmod(c->steps, BETWEEN) == 0) compare(mo);
}

double snw_motion_astray(snw_motion *mo, double *t) {
    if (mo->corrected.on != 0) compare(mo);
    *t = mo->corrected.t;
    return mo->corrected.worst / mo->m->length;
}
