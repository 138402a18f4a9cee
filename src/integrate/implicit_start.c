// SPDX-License-Identifier: MIT
//
// First implicit steps, at the start of a motion and after discontinuities of the inputs: how long
// they may be, and whether the scheme may use the initial accelerations. theory.md 6.2
#include "integrate/implicit_private.h"

#include "dynamics/constraint.h"
#include "integrate/first_step.h"
#include "math/vector.h"

#include <math.h>

// Inputs and tangents at the present configuration and velocity, with zero accelerations: those of
// a start may be so large that the derivative of the inertia forces hides the stiffness.
static void implicit_start_tangent(snw_implicit *im) {
    const snw_model *m = im->m;
    snw_state_copy(m, im->now, im->scratch_state);
    for (int i = 0; i < m->nv; i++) im->scratch_state->a[i] = 0;
    snw_inputs_at(m, im->now->t + snw_time_resolution(im->now->t), im->in);
    snw_residual(m, im->in, im->scratch_state, false, im->w);
    if (!m->local) snw_tangent_pass(m, NULL, im->w);
    im->start_known = false;
}

// T <- cq K + cv D + ca M, bordered by zero rows and columns for the constraints.
static void implicit_start_assemble(snw_implicit *im, double cq, double cv, double ca) {
    im->T_origin.known = false;
    snw_bordered_matrix_clear(im->T);
    snw_tangent_add(im->m, im->in, cq, cv, ca, im->w, im->T->A);
}

// out (nv) += A x over the first nv rows and columns of im->T.
static void implicit_start_multiply(const snw_implicit *im, const double *x, double *out) {
    const int nv = im->m->nv;
    for (int j = 0; j < nv; j++) {
        const snw_column_entries a = snw_matrix_column(im->T->A, j);
        const int *row = NULL,
                  count = im->T->sparse ? snw_sparse_column(im->T->sparse, j, &row) : nv;
        for (int k = 0; k < count; k++) {
            const int i = row ? row[k] : k;
            if (i < nv) out[i] += *snw_column_entry(a, i, k) * x[j];
        }
    }
}

// out <- (cq K + cv D + ca M) x of a local model.
static void local_product(snw_implicit *im, double cq, double cv, double ca, const double *x,
                          double *out) {
    const snw_tangent_at at = {
        .in = im->in, .cq = cq, .cv = cv, .ca = ca, .same_point = im->start_known};
    im->T_origin.known = false;
    snw_elimination_product(im->T->local, &at, im->w, x, out);
    im->start_known = true;
}

// x'(cq K + cv D + ca M) y.
static double implicit_start_form(snw_implicit *im, double cq, double cv, double ca,
                                  const double *x, const double *y) {
    if (im->m->local) {
        local_product(im, cq, cv, ca, y, im->dx);
        return snw_vector_dot(im->m->nv, x, im->dx);
    }
    implicit_start_assemble(im, cq, cv, ca);
    for (int i = 0; i < im->m->nv; i++) im->dx[i] = 0;
    implicit_start_multiply(im, y, im->dx);
    return snw_vector_dot(im->m->nv, x, im->dx);
}

// Largest acceleration, in typical values per s^2.
static double implicit_start_largest(const snw_model *m, const double *a) {
    double most = 0;
    for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(a[i]) / m->typical[i]);
    return most;
}

bool snw_implicit_resolves(snw_implicit *im, double h) {
    const double overshoot = snw_scheme_overshoot(&im->opts.scheme), *acc = im->now->a;
    const double farthest = 0.5 * h * h * implicit_start_largest(im->m, acc);
    if (im->opts.uniform_past || im->opts.control || !(overshoot > 0) || farthest < SNW_NOTICEABLE)
        return true;
    implicit_start_tangent(im);
    const double moves = implicit_start_form(im, 0, 0, 1, acc, acc);
    const double damped = fmax(-implicit_start_form(im, 0, 1, 0, acc, im->now->v) / moves, 0);
    const double by_rate = 0.5 * sqrt(overshoot) * h * fmin(damped, 1);
    return !(implicit_start_form(im, overshoot * h * h, by_rate, 0, acc, acc) > moves);
}

// Displacement by a step of length h, in typical values, due to accelerations that decay within the
// step: (M + h D + h^2 K) y = (h D + stiff h^2 K) a, theory.md (6.15).
static double implicit_start_displacement(snw_implicit *im, double h, double stiff) {
    const snw_model *m = im->m;
    if (m->local) {
        const snw_tangent_at whole = {
            .in = im->in, .cq = h * h, .cv = h, .ca = 1, .rows = 1, .same_point = true};
        local_product(im, stiff * h * h, h, 0, im->now->a, im->dx);
        for (int i = 0; i < m->nconstraint; i++) im->dx[m->nv + i] = 0;
        if (snw_bordered_matrix_eliminate(im->T, &whole, im->w) != SNW_OK) return 0;
        snw_bordered_matrix_solve(im->T, im->dx);
        return snw_scheme_displacement(&im->opts.scheme) * h * h *
               implicit_start_largest(m, im->dx);
    }
    double *y = im->dx;
    implicit_start_assemble(im, stiff * h * h, h, 0);
    for (int i = 0; i < im->T->n; i++) y[i] = 0;
    implicit_start_multiply(im, im->now->a, y);
    snw_tangent_add(m, im->in, (1 - stiff) * h * h, 0, 1, im->w, im->T->A);
    if (m->nconstraint) snw_constraints_place(m, im->w, 1, im->T->A);
    if (snw_bordered_matrix_factor(im->T) != SNW_OK) return 0;
    snw_bordered_matrix_solve(im->T, y);
    return snw_scheme_displacement(&im->opts.scheme) * h * h * implicit_start_largest(m, y);
}

// Chooses the first step as short as damping requires.
static void set_first_step(snw_implicit *im, double longest) {
    snw_onset *o = &im->onset;
    const double all =
        snw_scheme_displacement(&im->opts.scheme) * implicit_start_largest(im->m, im->now->a);
    o->longest = 0;
    o->waits = 0;
    if (im->opts.uniform_past || im->opts.control || !(all * longest * longest > SNW_DISPLACED))
        return;
    implicit_start_tangent(im);
    double h = longest;
    for (int k = 0;
         k < SNW_MAX_QUARTERINGS && implicit_start_displacement(im, h, 0) > SNW_DISPLACED; k++)
        h *= 0.25;
    if (h < longest) o->longest = h;
}

// Lets the following steps grow as the initial transient decays.
static void implicit_start_grow(snw_implicit *im, double longest) {
    snw_onset *o = &im->onset;
    if (o->longest == 0) return;
    implicit_start_tangent(im);
    if (implicit_start_displacement(im, SNW_GROWTH * o->longest, 1) > SNW_DISPLACED &&
        o->waits < SNW_WAITS) {
        o->waits++;
    } else {
        o->longest *= SNW_GROWTH;
    }
    if (o->longest >= longest) o->longest = 0;
}

double snw_implicit_limit(snw_implicit *im, double h, double longest) {
    im->longest = longest;
    if (im->opts.fixed_length) return h;
    if (!(im->onset.checked_at == im->now->t)) {
        im->past.h > 0 ? implicit_start_grow(im, longest) : set_first_step(im, longest);
        im->onset.checked_at = im->now->t;
    }
    if (im->onset.longest > 0) h = fmin(h, im->onset.longest);
    if (im->impact.longest > 0) h = fmin(h, im->impact.longest);
    return h;
}
