// SPDX-License-Identifier: MIT
//
// The damped march of Boyer 2020 (55-58), theory.md (5.2a): D q' + r(q) = C' lambda with loops that
// close at a given rate. Without loops it is a relaxation by Runge-Kutta steps (solve/relax.h).
// With loops, and where its path is the result (march_flow), steps are linearly implicit,
//   [D/dt + K_t  -C'; C  0] (dq, lambda) = (-r, exp(-k_p dt) Psi - Psi_+),
// with K_t the tangent at the start of the step under the loads of its end, Psi and Psi_+ the
// errors of the loops at the start of the step against their goals of its start and of its end, on
// the screw of SE(3) for loops that forbid all motion (snw_loop_closing).
#include "study/statics_private.h"

#include "base/fail.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"
#include "solve/kernel.h"
#include "solve/relax.h"

#include <math.h>
#include <string.h>

// Length of the remainder of a constraint row, relative to the longest row, that counts as
// rounding.
#define DEPENDENT 1e-10

// Least part of a step that is too long.
#define SMALLEST_PART (1.0 / 65536)

// Largest part of the right-hand side by which a dependent row may differ.
#define CONTRADICTION 1e-6

size_t snw_statics_march_scratch(const snw_model *m) {
    const size_t n = (size_t)(m->nv + m->nconstraint), pad = 64;
    return (n * n + 5 * n) * sizeof(double) + 6 * pad + snw_kernel_scratch(m->nv, m->nconstraint);
}

// Half the shortest time constant of D x' = -K x: well inside the stability region of Runge-Kutta,
// with a margin for the stiffness of loads. NaN if D is singular.
static double march_step(snw_statics *st) {
    const int n = st->m->nv;
    const size_t mark = snw_arena_mark(&st->scratch);
    double *lambda = snw_arena_doubles(&st->scratch, (size_t)n), largest = NAN;
    snw_elastic_matrices(st->m, st->K, st->T);
    if (snw_eigen_symmetric(n, st->K, st->T, false, &st->scratch, lambda) == SNW_OK) {
        largest = lambda[n - 1];
    }
    snw_arena_reset(&st->scratch, mark);
    return 0.5 / largest;
}

static snw_status statics_relax(snw_statics *st, const snw_statics_opts *opts,
                                snw_statics_info *info, snw_error *err) {
    const snw_problem p = snw_statics_problem(st);
    const double automatic = march_step(st);
    if (!(automatic > 0)) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "march needs stiffness and damping of every allowed strain and joint; give "
                        "the material damping: 1 ms, or leave march out to use Newton");
    }
    snw_elastic_matrices(st->m, NULL, st->T);
    snw_relax_opts o = snw_relax_defaults();
    o.duration = opts->march;
    o.step = opts->march_step > 0 ? opts->march_step : fmin(automatic, opts->march);
    snw_relax_info ri = {0};
    const snw_status s = snw_relax(&p, st->T, &o, opts->stop, opts->user, &st->scratch, st->x, &ri);
    *info = (snw_statics_info){
        .iterations = ri.steps, .increments = 1, .residual = ri.residual, .reached = 1};
    if (s == SNW_E_DIVERGED) {
        return snw_fail(err, s,
                        "march: the integration diverged after %g s of pseudo-time; try a shorter "
                        "step than %g s, or Newton",
                        ri.time, o.step);
    }
    return s;
}

// ---- with loops, or along t --------------------------------------------------------------------

// Scratch of the steps, from st->scratch.
typedef struct march {
    double *J, *r;         // tangent with its border, residual with violations
    double *dx, *b, *rows; // increment of coordinates and multipliers, of rows; errors of rows
    double dt;
    snw_kernel kernel;
} march;

static march march_take(snw_statics *st) {
    const size_t n = (size_t)(st->m->nv + st->m->nconstraint);
    return (march){.J = snw_arena_doubles(&st->scratch, n * n),
                   .r = snw_arena_doubles(&st->scratch, n),
                   .dx = snw_arena_doubles(&st->scratch, n),
                   .b = snw_arena_doubles(&st->scratch, n),
                   .rows = snw_arena_doubles(&st->scratch, n),
                   .kernel = snw_kernel_take(st->m->nv, st->m->nconstraint, &st->scratch)};
}

// Tangent, residual and constraint rows at st->x; the rows are factorised.
static snw_status march_linearise(snw_statics *st, const snw_problem *p, march *h) {
    const size_t nv = (size_t)st->m->nv, nr = (size_t)st->m->nconstraint, n = nv + nr;
    SNW_TRY(p->tangent(st, 1, st->x, h->r, h->J));
    for (size_t k = 0; k < nr; k++) {
        for (size_t i = 0; i < nv; i++) h->kernel.Ct[k * nv + i] = -h->J[(nv + k) * n + i];
    }
    snw_kernel_factor(&h->kernel, DEPENDENT, &st->scratch);
    return SNW_OK;
}

// h->b <- h->b + factor times the errors of the rows at the last evaluation.
static void march_add_errors(const snw_statics *st, double factor, march *h) {
    const snw_model *m = st->m;
    for (int i = 0; i < m->nconstraint; i++) h->rows[i] = st->w->violation[i];
    for (int i = 0; i < m->nloop; i++) snw_loop_closing(m, st->w, i, h->rows + m->loop[i].row);
    for (int i = 0; i < m->nconstraint; i++) h->b[i] += factor * h->rows[i];
}

// Inputs of the flow at t.
static void march_inputs(snw_statics *st, double t) {
    snw_inputs_at(st->m, t, st->now);
    st->blended = 1;
}

// Matrix of a step, D/dt + (1 - u) K_t + u K_t'; u = 1/2 gives its symmetric part.
static void march_matrix(const snw_statics *st, double dt, double u, march *h) {
    const size_t nv = (size_t)st->m->nv, n = nv + (size_t)st->m->nconstraint;
    for (size_t j = 0; j < nv; j++) {
        for (size_t i = 0; i < nv; i++) {
            h->kernel.A[j * nv + i] =
                (1 - u) * h->J[j * n + i] + u * h->J[i * n + j] + st->T[j * nv + i] / dt;
        }
    }
}

// h->dx <- increments of coordinates and multipliers in a step of dt that ends at t; D is st->T.
// SNW_E_SINGULAR where the step is so long that its matrix is not positive definite on the motions
// that the loops allow: the negative stiffness after buckling prevails over D/dt, and the step
// would lead away from the flow.
static snw_status march_increment(snw_statics *st, const snw_statics_opts *opts,
                                  const snw_problem *p, double t, double dt, march *h) {
    const size_t nv = (size_t)st->m->nv, nr = (size_t)st->m->nconstraint;
    const double kept = opts->march_gain > 0 ? exp(-opts->march_gain * dt) : 0;
    memset(h->b, 0, nr * sizeof *h->b);
    if (opts->march_flow && kept > 0) {
        march_inputs(st, t - dt);
        snw_statics_evaluate(st, 1, st->x);
        march_add_errors(st, kept, h);
    }
    if (opts->march_flow) march_inputs(st, t);
    SNW_TRY(march_linearise(st, p, h));
    march_add_errors(st, opts->march_flow ? -1 : kept - 1, h);
    march_matrix(st, dt, 0.5, h);
    if (!snw_kernel_is_definite(&h->kernel, &st->scratch)) return SNW_E_SINGULAR;
    march_matrix(st, dt, 0, h);
    for (size_t i = 0; i < nv; i++) h->r[i] = -h->r[i];
    return snw_kernel_solve(&h->kernel, h->r, h->b, &st->scratch, h->dx, h->dx + nv);
}

// Checks that the model has a march with loops, and that the damping, st->T, is positive definite
// on the motions that they allow.
static snw_status march_check(snw_statics *st, const snw_problem *p, march *h, snw_error *err) {
    const snw_model *m = st->m;
    if (m->nnonholonomic > 0 || m->has_slip_friction) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "march does not support wheels, rings, anchors and rods that slide through "
                        "loops with friction; leave march out to use Newton");
    }
    SNW_TRY(march_linearise(st, p, h));
    memcpy(h->kernel.A, st->T, (size_t)m->nv * (size_t)m->nv * sizeof *st->T);
    if (snw_kernel_is_definite(&h->kernel, &st->scratch)) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "march needs damping of every motion that the loops allow; give the material "
                    "damping: 1 ms, or leave march out to use Newton");
}

// st->x <- st->x moved by h->dx; of a flow at its first instant only the multipliers.
static snw_status march_move(snw_statics *st, const snw_problem *p, bool still, const march *h) {
    const snw_model *m = st->m;
    for (int i = 0; i < m->nv + m->nconstraint; i++) {
        if (!isfinite(h->dx[i])) return SNW_E_DIVERGED;
    }
    if (h->kernel.mismatch > CONTRADICTION) return SNW_E_MODEL;
    if (!still) snw_problem_move(p, st->x, 1, h->dx, st->x);
    for (int i = 0; still && i < m->nconstraint; i++) st->x[m->nq + i] += h->dx[m->nv + i];
    return SNW_OK;
}

// One step from t on, in parts where it is too long.
static snw_status march_advance(snw_statics *st, const snw_statics_opts *opts, const snw_problem *p,
                                double t, double dt, bool still, march *h, snw_statics_info *info) {
    double done = 0, part = 1; // fractions of the step, powers of two
    while (done < 1) {
        h->dt = part * dt;
        const snw_status s = march_increment(st, opts, p, t + (done + part) * dt, h->dt, h);
        if (s == SNW_E_SINGULAR && part > SMALLEST_PART) {
            part *= 0.5;
            continue;
        }
        SNW_TRY(s);
        SNW_TRY(march_move(st, p, still, h));
        info->iterations++;
        done += part;
        if (part < 1 && fmod(done, 2 * part) == 0) part *= 2;
    }
    return SNW_OK;
}

static snw_status march_steps(snw_statics *st, const snw_statics_opts *opts, double from,
                              double duration, march *h, snw_statics_info *info) {
    const snw_problem p = snw_statics_problem(st);
    const double step = opts->march_step > 0 ? opts->march_step
                        : opts->march_flow   ? duration / 10
                                             : duration / 100;
    // at the first instant of a flow no time passes, and only the multipliers are found
    const bool still = !(duration > 0);
    const long n = still ? 1 : (long)ceil(duration / step * (1 - 1e-12));
    const double dt = still ? opts->march_step : duration / (double)n;
    for (long k = 0; k < n; k++) {
        SNW_TRY(march_advance(st, opts, &p, from + (double)k * dt, dt, still, h, info));
    }
    return SNW_OK;
}

// info->dependent <- rows that depend on others after the last step.
static void march_tell_dependent(const snw_kernel *k, snw_statics_info *info) {
    info->dependent = k->c - k->rank;
    if (info->dependent > 0) info->dependent_row = k->order[k->rank];
}

// h->r <- h->r + D q', the forces out of balance in a flow, with the rates of the last step.
static void march_add_damping(const snw_statics *st, march *h) {
    const size_t nv = (size_t)st->m->nv;
    for (size_t j = 0; j < nv; j++) {
        for (size_t i = 0; i < nv; i++) h->r[i] += st->T[j * nv + i] * h->dx[j] / h->dt;
    }
}

static snw_status statics_constrained_march(snw_statics *st, const snw_statics_opts *opts, double t,
                                            const snw_state *s, snw_statics_info *info,
                                            snw_error *err) {
    const size_t mark = snw_arena_mark(&st->scratch);
    const double duration = opts->march_flow ? t - s->t : opts->march;
    const snw_problem p = snw_statics_problem(st);
    march h = march_take(st);
    *info = (snw_statics_info){.increments = 1, .reached = 1, .condition = NAN, .left = NAN};
    snw_elastic_matrices(st->m, NULL, st->T);
    snw_status status = march_check(st, &p, &h, err);
    if (status == SNW_OK) {
        status = march_steps(st, opts, s->t, duration, &h, info);
        march_tell_dependent(&h.kernel, info);
        if (status == SNW_E_MODEL) {
            (void)snw_fail(
                err, status,
                "march: the loops contradict each other; remove some, or use joints with "
                "more freedom in them");
        } else if (status == SNW_E_DIVERGED || status == SNW_E_SINGULAR) {
            status = snw_fail(err, SNW_E_DIVERGED,
                              "march: steps of %g s are still too long after %d steps, where the "
                              "stiffness is negative; give more damping or shorter steps, or leave "
                              "march out to use Newton",
                              h.dt, info->iterations);
        }
    }
    if (status == SNW_OK) {
        status = p.residual(st, 1, st->x, h.r);
        if (opts->march_flow) march_add_damping(st, &h);
        info->residual = snw_problem_norm(&p, h.r);
    }
    snw_arena_reset(&st->scratch, mark);
    return status;
}

snw_status snw_statics_march(snw_statics *st, const snw_statics_opts *opts, double t,
                             const snw_state *s, snw_statics_info *info, snw_error *err) {
    return st->m->nconstraint || opts->march_flow
               ? statics_constrained_march(st, opts, t, s, info, err)
               : statics_relax(st, opts, info, err);
}
