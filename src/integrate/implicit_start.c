// SPDX-License-Identifier: MIT
//
// Where implicit steps begin, at the start of a motion and behind jumps of what acts: how long the
// first ones may be, and whether the scheme may use the accelerations they begin with.
// theory.md 6.2
#include "integrate/implicit_private.h"

#include "dynamics/constraint.h"

#include <math.h>

static const double NOTICEABLE = 0.01; // theory.md (6.10)
static const double DISPLACED = 1e-4;  // theory.md (6.15)
static const double GROWTH = 1.5;      // of the steps behind a start

enum {
    SHORTEST = 12, // first steps are not shorter than 4^-12 of what is asked for
    WAITS = 60     // steps behind a start that may be as short as those before
};

// Inputs and tangents at the present place and velocity. Without acceleration: those of a start may
// be so large that the change of the inertial forces with the place hides the stiffness.
static void implicit_start_look(snw_implicit *im) {
    const snw_model *m = im->m;
    snw_state_copy(m, im->now, im->way);
    for (int i = 0; i < m->nv; i++) im->way->a[i] = 0;
    snw_inputs_at(m, im->now->t + snw_grain(im->now->t), im->in);
    snw_residual(m, im->in, im->way, false, im->w);
    snw_tangent_pass(m, NULL, im->w);
}

// T <- cq K + cv D + ca M, with a row and a column for each row of the model, empty
static double *implicit_start_assemble(snw_implicit *im, double cq, double cv, double ca) {
    im->of_T.known = false;
    snw_bordered_matrix_clear(im->T);
    snw_tangent_add(im->m, im->in, cq, cv, ca, im->w, (size_t)im->T->n, im->T->A);
    return im->T->A;
}

// x'(cq K + cv D + ca M) y
static double implicit_start_form(snw_implicit *im, double cq, double cv, double ca,
                                  const double *x, const double *y) {
    const size_t nv = (size_t)im->m->nv, n = (size_t)im->T->n;
    const double *A = implicit_start_assemble(im, cq, cv, ca);
    double sum = 0;
    for (size_t j = 0; j < nv; j++) {
        for (size_t i = 0; i < nv; i++) sum += x[i] * A[j * n + i] * y[j];
    }
    return sum;
}

// the largest acceleration, in typical values per s^2
static double implicit_start_largest(const snw_model *m, const double *a) {
    double most = 0;
    for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(a[i]) / m->typical[i]);
    return most;
}

bool snw_implicit_resolves(snw_implicit *im, double h) {
    const double share = snw_scheme_overshoot(&im->opts.scheme), *acc = im->now->a;
    const double farthest = 0.5 * h * h * implicit_start_largest(im->m, acc);
    if (im->opts.uniform_past || im->opts.control || !(share > 0) || farthest < NOTICEABLE)
        return true;
    implicit_start_look(im);
    const double moves = implicit_start_form(im, 0, 0, 1, acc, acc);
    const double damped = fmax(-implicit_start_form(im, 0, 1, 0, acc, im->now->v) / moves, 0);
    const double by_rate = 0.5 * sqrt(share) * h * fmin(damped, 1);
    return !(implicit_start_form(im, share * h * h, by_rate, 0, acc, acc) > moves);
}

// How far a step of length h displaces the robot, in typical values, by accelerations that do not
// last for the step: (M + h D + h^2 K) y = (h D + stiff h^2 K) a, theory.md (6.15).
static double implicit_start_displaced(snw_implicit *im, double h, double stiff) {
    const snw_model *m = im->m;
    const size_t nv = (size_t)m->nv, n = (size_t)im->T->n;
    double *y = im->dx, *A = implicit_start_assemble(im, stiff * h * h, h, 0);
    for (size_t i = 0; i < n; i++) y[i] = 0;
    for (size_t j = 0; j < nv; j++) {
        for (size_t i = 0; i < nv; i++) y[i] += A[j * n + i] * im->now->a[j];
    }
    snw_tangent_add(m, im->in, (1 - stiff) * h * h, 0, 1, im->w, n, A);
    if (m->nconstraint) snw_constraints_place(m, im->w, 1, A);
    if (snw_bordered_matrix_factor(im->T) != SNW_OK) return 0;
    snw_bordered_matrix_solve(im->T, y);
    return snw_scheme_displacement(&im->opts.scheme) * h * h * implicit_start_largest(m, y);
}

// the first step, as short as damping asks for
static void set_out(snw_implicit *im, double longest) {
    snw_onset *o = &im->onset;
    const double all =
        snw_scheme_displacement(&im->opts.scheme) * implicit_start_largest(im->m, im->now->a);
    o->longest = 0;
    o->waits = 0;
    if (im->opts.uniform_past || im->opts.control || !(all * longest * longest > DISPLACED)) return;
    implicit_start_look(im);
    double h = longest;
    for (int k = 0; k < SHORTEST && implicit_start_displaced(im, h, 0) > DISPLACED; k++) h *= 0.25;
    if (h < longest) o->longest = h;
}

// those behind it grow as what was there at the start fades
static void implicit_start_go_on(snw_implicit *im, double longest) {
    snw_onset *o = &im->onset;
    if (o->longest == 0) return;
    implicit_start_look(im);
    if (implicit_start_displaced(im, GROWTH * o->longest, 1) > DISPLACED && o->waits < WAITS) {
        o->waits++;
    } else {
        o->longest *= GROWTH;
    }
    if (o->longest >= longest) o->longest = 0;
}

double snw_implicit_limit(snw_implicit *im, double h, double longest) {
    im->longest = longest;
    if (im->opts.fixed_length) return h;
    if (!(im->onset.looked == im->now->t)) {
        im->past.h > 0 ? implicit_start_go_on(im, longest) : set_out(im, longest);
        im->onset.looked = im->now->t;
    }
    if (im->onset.longest > 0) h = fmin(h, im->onset.longest);
    if (im->impact.longest > 0) h = fmin(h, im->impact.longest);
    return h;
}
