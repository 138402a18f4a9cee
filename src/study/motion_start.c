// SPDX-License-Identifier: MIT
//
// Where implicit steps begin, at the start of a motion and behind jumps of what acts: how long the first ones may be, and
// whether the scheme may use the accelerations they begin with. theory.md 6.2
#include "study/motion_private.h"

#include "dynamics/loop.h"

#include <math.h>

static const double NOTICEABLE = 0.01; // theory.md (6.10)
static const double DISPLACED = 1e-4;  // theory.md (6.15)
static const double GROWTH = 1.5;      // of the steps behind a start

enum {
    SHORTEST = 12, // first steps are not shorter than 4^-12 of what is asked for
    WAITS = 60     // steps behind a start that may be as short as those before
};

// Inputs and tangents at the present place and velocity. Without acceleration: those of a start may be so large that the
// change of the inertial forces with the place hides the stiffness.
static void look(snw_motion *mo) {
    const snw_model *m = mo->m;
    snw_state_copy(m, mo->now, mo->way);
    for (int i = 0; i < m->nv; i++) mo->way->a[i] = 0;
    snw_inputs_at(m, mo->now->t + snw_grain(mo->now->t), mo->in);
    snw_residual(m, mo->in, mo->way, false, mo->w);
    snw_tangent_sweep(m, NULL, mo->w);
}

// T <- cq K + cv D + ca M, with a row and a column for each row of the model, empty
static double *assemble(snw_motion *mo, double cq, double cv, double ca) {
    mo->of_T.known = false;
    snw_matrix_clear(mo->T);
    snw_tangent_add(mo->m, mo->in, cq, cv, ca, mo->w, (size_t)mo->T->n, mo->T->A);
    return mo->T->A;
}

// x'(cq K + cv D + ca M) y
static double form(snw_motion *mo, double cq, double cv, double ca, const double *x,
                   const double *y) {
    const size_t nv = (size_t)mo->m->nv, n = (size_t)mo->T->n;
    const double *A = assemble(mo, cq, cv, ca);
    double sum = 0;
    for (size_t j = 0; j < nv; j++) {
        for (size_t i = 0; i < nv; i++) sum += x[i] * A[j * n + i] * y[j];
    }
    return sum;
}

// the largest acceleration, in typical values per s^2
static double largest(const snw_model *m, const double *a) {
    double most = 0;
    for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(a[i]) / m->typical[i]);
    return most;
}

bool snw_motion_resolves(snw_motion *mo, double h) {
    const double share = snw_scheme_overshoot(&mo->opts.scheme), *acc = mo->now->a;
    const double farthest = 0.5 * h * h * largest(mo->m, acc);
    if (mo->opts.rest || mo->opts.control || !(share > 0) || farthest < NOTICEABLE) return true;
    look(mo);
    const double moves = form(mo, 0, 0, 1, acc, acc);
    const double damped = fmax(-form(mo, 0, 1, 0, acc, mo->now->v) / moves, 0);
    const double by_rate = 0.5 * sqrt(share) * h * fmin(damped, 1);
    return !(form(mo, share * h * h, by_rate, 0, acc, acc) > moves);
}

// How far a step of length h displaces the robot, in typical values, by accelerations that do not last for the step:
// (M + h D + h^2 K) y = (h D + stiff h^2 K) a, theory.md (6.15).
static double displaced(snw_motion *mo, double h, double stiff) {
    const snw_model *m = mo->m;
    const size_t nv = (size_t)m->nv, n = (size_t)mo->T->n;
    double *y = mo->dx, *A = assemble(mo, stiff * h * h, h, 0);
    for (size_t i = 0; i < n; i++) y[i] = 0;
    for (size_t j = 0; j < nv; j++) {
        for (size_t i = 0; i < nv; i++) y[i] += A[j * n + i] * mo->now->a[j];
    }
    snw_tangent_add(m, mo->in, (1 - stiff) * h * h, 0, 1, mo->w, n, A);
    if (m->nrow) snw_rows_place(m, mo->w, 1, A);
    if (snw_matrix_factor(mo->T) != SNW_OK) return 0;
    snw_matrix_solve(mo->T, y);
    return snw_scheme_displacement(&mo->opts.scheme) * h * h * largest(m, y);
}

// the first step, as short as damping asks for
static void set_out(snw_motion *mo, double longest) {
    snw_onset *o = &mo->onset;
    const double all = snw_scheme_displacement(&mo->opts.scheme) * largest(mo->m, mo->now->a);
    o->longest = 0;
    o->waits = 0;
    if (mo->opts.rest || mo->opts.control || !(all * longest * longest > DISPLACED)) return;
    look(mo);
    double h = longest;
    for (int k = 0; k < SHORTEST && displaced(mo, h, 0) > DISPLACED; k++) h *= 0.25;
    if (h < longest) o->longest = h;
}

// those behind it grow as what was there at the start fades
static void go_on(snw_motion *mo, double longest) {
    snw_onset *o = &mo->onset;
    if (o->longest == 0) return;
    look(mo);
    if (displaced(mo, GROWTH * o->longest, 1) > DISPLACED && o->waits < WAITS) {
        o->waits++;
    } else {
        o->longest *= GROWTH;
    }
    if (o->longest >= longest) o->longest = 0;
}

double snw_motion_limit(snw_motion *mo, double h, double longest) {
    mo->longest = longest;
    if (mo->opts.alike) return h;
    if (!(mo->onset.looked == mo->now->t)) {
        mo->past.h > 0 ? go_on(mo, longest) : set_out(mo, longest);
        mo->onset.looked = mo->now->t;
    }
    if (mo->onset.longest > 0) h = fmin(h, mo->onset.longest);
    if (mo->impact.longest > 0) h = fmin(h, mo->impact.longest);
    return h;
}
