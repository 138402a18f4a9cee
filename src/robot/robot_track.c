// SPDX-License-Identifier: MIT
//
// Inverse dynamics of the public robot over a horizon: Gauss-Newton steps on the inputs of all time
// steps, from the derivatives of each step (theory.md 5.6), with feedback along the new motion.
#include "sinew/track.h"

#include "robot/robot_follow.h"
#include "robot/robot_linear.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/pool.h"
#include "integrate/implicit.h"
#include "solve/tracking.h"
#include "solve/tracking_limits.h"
#include "study/step_tangent.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { HALVINGS = 3, HORIZONS = 16, MOST_STEPS = 1000000 };

static const size_t POOL_LIMIT = // of bytes; half of the addresses where these have 32 bits
    SIZE_MAX > UINT32_MAX ? (size_t)(UINT64_C(1) << 34) : SIZE_MAX / 2;
static const double first_barrier = 1e-3, // of the cost: terms of limits at the start
    last_barrier = 1e-7,                  // and at the end
    barrier_step = 0.1,                   // factor from one to the next
    least_barrier = 1e-16;                // of the first cost
// Damping of the changes of inputs, over what an input does to the targets in a step alone.
static const double first_damping = 1, least_damping = 1e-14, most_damping = 1e6,
                    free_damping = 1e-8; // this much hardly changes a step
// A motion follows its targets when its errors are this small relative to the first ones, and the
// cost falls in a step by less than this part.
static const double close = 1e-4, slow = 1e-2,
                    least_fall = 1e-6; // of the cost, promised: no step is better
static const double closed = 1e-9;     // typical: changes of a start that is closed already
static const double rounding = 1e-11;  // of the terms of an effect on the targets: there is none

// A motion: states, inputs and outputs of all steps.
typedef struct motion {
    double *q, *v; // at the beginnings of the steps, and at the end
    double *u;     // inputs of the steps
    double *y;     // outputs at the ends
    double *d;     // increments of the steps
    double cost;
} motion;

typedef struct track_robot {
    snw_track_result view; // first: the public part
    snw_robot *r;
    const snw_track_options *how;
    snw_pool *pool;
    snw_error *err;
    snw_linear_model *rates,
        *step;                 // continuous, and of a time step; with constraints the latter only
    snw_implicit *im;          // which does the steps
    snw_step_tangent *tangent; // in its place with constraints; NULL: none
    const snw_linear_model *names; // of inputs and outputs
    snw_arena scratch;
    double t0;
    int nu, ny, nx, steps;
    snw_varied *varied;
    double *weight, *r_u, *damping; // of outputs, of inputs, of the steps of the search
    double *s_u;                    // of the changes of inputs from step to step
    motion now, trial;
    bool begun;           // is the first motion of the search known?
    double *first;        // its inputs, and those of another search
    double first_squares; // of the errors of the first motion
    int ns; // states of the linear problem: nx, and where changes count the changes before
    double *A, *B, *C, *e; // of the steps, C and e weighted
    double *k, *K;
    double *dx; // ns
    bool limited, rated;
    bool smooth;    // changes of inputs count
    bool *followed; // of the steps: is there a target at its end, and at that of the step before?
    double *change_weight, *change_gradient; // of the changes of inputs
    size_t nlimit;                           // limits of all steps
    snw_tracking_limits limits;
} track_robot;

snw_track_options snw_track_defaults(void) {
    return (snw_track_options){.effort = 1e-9, .iterations = 100, .tolerance = 1e-10};
}

// ---- motions ------------------------------------------------------------------------------------

static size_t at(int row, int width) { return (size_t)row * (size_t)width; }

// the robot is at the beginning of step n of a motion
static void go_to_step(const track_robot *v, const motion *m, int n) {
    snw_robot *r = v->r;
    memcpy(r->s->q, m->q + at(n, r->m->nq), (size_t)r->m->nq * sizeof *m->q);
    memcpy(r->s->v, m->v + at(n, r->m->nv), (size_t)r->m->nv * sizeof *m->v);
    r->s->t = v->t0 + n * v->how->step;
    r->inputs_stale = true;
}

static void set_inputs(const track_robot *v, const double *u) {
    for (int i = 0; i < v->nu; i++) snw_varied_set(v->r, &v->varied[i], u[i]);
}

// The step of robots with constraints, which leads from places and velocities that respect them to
// such.
static snw_status do_constrained_step(track_robot *v) {
    snw_robot *r = v->r;
    snw_robot_refresh_inputs(r);
    SNW_TRY(snw_step_tangent_do(v->tangent, &r->held.manual, r->s, v->err));
    if (snw_step_tangent_parts(v->tangent) > 1)
        return snw_fail(v->err, SNW_E_DIVERGED,
                        "the step to t = %g s was solved in parts; use shorter steps",
                        snw_step_tangent_end(v->tangent)->t);
    snw_state_copy(r->m, snw_step_tangent_end(v->tangent), r->s);
    r->inputs_stale = true;
    snw_robot_refresh_inputs(r);
    return SNW_OK;
}

// The robot does step n, from its present state; its end and the outputs there are kept. `derive`:
// the linear model of the step, too. The step is never divided, so that it is the map whose
// derivatives are taken.
static snw_status do_step(track_robot *v, motion *m, int n, bool derive) {
    snw_robot *r = v->r;
    double *y = m->y + at(n, v->ny);
    SNW_TRY(snw_robot_apply_inputs(r, v->err));
    if (v->tangent) {
        SNW_TRY(do_constrained_step(v));
    } else {
        SNW_TRY(snw_implicit_start(v->im, r->s, v->err));
        // near the motion v->now, whose steps are known but for the first time
        snw_implicit_guess(v->im, v->begun ? v->now.d + at(n, r->m->nv) : NULL);
        SNW_TRY(snw_linear_do_step(v->step, r, v->im, v->err));
    }
    memcpy(m->q + at(n + 1, r->m->nq), r->s->q, (size_t)r->m->nq * sizeof *m->q);
    memcpy(m->v + at(n + 1, r->m->nv), r->s->v, (size_t)r->m->nv * sizeof *m->v);
    double *d = m->d + at(n, r->m->nv);
    if (!v->tangent) memcpy(d, snw_implicit_increment(v->im), (size_t)r->m->nv * sizeof *d);
    if (!derive) return snw_linear_values(v->step, y), SNW_OK;
    SNW_TRY(snw_linear_of_step(v->step, d, v->err));
    for (int i = 0; i < v->ny; i++) y[i] = v->step->output[i].value;
    return SNW_OK;
}

// Outputs must be functions of place and velocity.
static snw_status check_outputs(const track_robot *v, const snw_linear_model *model) {
    for (int i = 0; i < v->ny * v->nu; i++) {
        if (model->D[i] != 0)
            return snw_fail(v->err, SNW_E_ARGUMENT,
                            "output '%.100s' changes with the inputs at once; track places, angles "
                            "and velocities",
                            model->output[i % v->ny].name);
    }
    return SNW_OK;
}

// weighted error of output i at the end of step n; 0: free
static double error_of(const track_robot *v, const motion *m, int n, int i) {
    const size_t k = at(n, v->ny) + (size_t)i;
    const double target = v->how->target[k];
    return isnan(target) ? 0 : v->weight[i] * (m->y[k] - target);
}

// sum of the squares of the weighted errors of a motion
static double squares_of(const track_robot *v, const motion *m) {
    double sum = 0;
    for (int n = 0; n < v->steps; n++) {
        for (int i = 0; i < v->ny; i++) sum += error_of(v, m, n, i) * error_of(v, m, n, i);
    }
    return sum;
}

// change of input i in step n from the step before
static double change_of(const track_robot *v, const motion *m, int n, int i) {
    const size_t k = at(n, v->nu) + (size_t)i;
    return m->u[k] - m->u[k - (size_t)v->nu];
}

static double cost_of(const track_robot *v, const motion *m) {
    double sum = squares_of(v, m);
    for (int n = 0; n < v->steps; n++) {
        for (int i = 0; i < v->nu; i++) {
            const double u = m->u[at(n, v->nu) + (size_t)i];
            sum += v->r_u[i] * u * u;
            if (!v->smooth || !v->followed[n]) continue;
            const double change = change_of(v, m, n, i);
            sum += v->s_u[i] * change * change;
        }
    }
    return 0.5 * sum;
}

// ---- derivatives --------------------------------------------------------------------------------

// Columns of A and B of step n of a robot with constraints: its states are all coordinates and
// their rates.
static void copy_step(const track_robot *v, int n) {
    const int nx = v->nx, ns = v->ns;
    double *A = v->A + at(n, ns * ns), *B = v->B + at(n, ns * v->nu);
    for (int j = 0; j < nx; j++)
        memcpy(A + at(j, ns), v->step->A + at(j, nx), (size_t)nx * sizeof *A);
    for (int j = 0; j < v->nu; j++) {
        memcpy(B + at(j, ns), v->step->B + at(j, nx), (size_t)nx * sizeof *B);
        if (ns > nx) B[at(j, ns) + (size_t)(nx + j)] = 1; // the next step knows the change
    }
}

// Columns of A and B of step n that pass through the accelerations at its beginning, which follow
// from place, velocity and inputs there: v->rates has their derivatives.
static void derive_through_rates(const track_robot *v, int n) {
    const int nv = v->r->m->nv, nx = v->nx, ns = v->ns, rows = v->step->nx;
    const double *F = v->step->A;
    double *A = v->A + at(n, ns * ns), *B = v->B + at(n, ns * v->nu);
    for (int j = 0; j < nx + v->nu; j++) {
        const bool input = j >= nx;
        const int column = input ? j - nx : j;
        const double *direct = input ? v->step->B + at(column, rows) : F + at(column, rows);
        const double *rate = (input ? v->rates->B : v->rates->A) + at(column, nx) + nv;
        double *to = input ? B + at(column, ns) : A + at(column, ns);
        for (int i = 0; i < nx; i++) {
            double sum = direct[i];
            for (int l = 0; l < nv; l++) sum += F[at(nx + l, rows) + (size_t)i] * rate[l];
            to[i] = sum;
        }
        if (input && v->ns > nx) to[nx + column] = 1; // the next step knows the change
    }
}

// C, e of the end of step n, after its derivatives
static void weigh_outputs(track_robot *v, int n) {
    const int rows = v->ny;
    double *C = v->C + at(n, v->ny * v->ns), *e = v->e + at(n, v->ny);
    for (int i = 0; i < v->ny; i++) {
        const bool wanted = !isnan(v->how->target[at(n, v->ny) + (size_t)i]);
        e[i] = error_of(v, &v->now, n, i);
        for (int j = 0; j < v->nx; j++) {
            const size_t k = at(j, rows) + (size_t)i;
            C[k] = wanted ? v->weight[i] * v->step->C[k] : 0;
        }
    }
}

// The motion v->now under its inputs, with all derivatives.
static snw_status linearise(track_robot *v) {
    for (int n = 0; n < v->steps; n++) {
        go_to_step(v, &v->now, n);
        set_inputs(v, v->now.u + at(n, v->nu));
        if (v->tangent) {
            SNW_TRY(do_step(v, &v->now, n, true));
            SNW_TRY(check_outputs(v, v->step));
            copy_step(v, n);
        } else {
            SNW_TRY(snw_linear_update(v->rates, v->err));
            SNW_TRY(check_outputs(v, v->rates));
            SNW_TRY(do_step(v, &v->now, n, true));
            derive_through_rates(v, n);
        }
        weigh_outputs(v, n);
    }
    return SNW_OK;
}

// ---- the search ---------------------------------------------------------------------------------

// cost and terms of the limits
static double merit_of(const track_robot *v, const motion *m) {
    return m->cost + (v->limited ? v->limits.mu * snw_limits_barrier(&v->limits, m->u) : 0);
}

// The motion v->trial: inputs changed by the part a of k and by feedback of its deviation.
static snw_status try_part(track_robot *v, double a) {
    const int nv = v->r->m->nv, nq = v->r->m->nq;
    motion *m = &v->trial;
    memcpy(m->q, v->now.q, (size_t)nq * sizeof *m->q);
    memcpy(m->v, v->now.v, (size_t)nv * sizeof *m->v);
    for (int n = 0; n < v->steps; n++) {
        const double *K = v->K + at(n, v->nu * v->ns);
        double *u = m->u + at(n, v->nu);
        const double *last = n > 0 ? u - v->nu : v->limits.before;
        snw_difference(v->r->m, v->now.q + at(n, nq), m->q + at(n, nq), v->dx);
        for (int i = 0; i < nv; i++)
            v->dx[nv + i] = m->v[at(n, nv) + (size_t)i] - v->now.v[at(n, nv) + (size_t)i];
        for (int i = 0; v->ns > v->nx && i < v->nu; i++)
            v->dx[v->nx + i] = n > 0 ? last[i] - v->now.u[at(n - 1, v->nu) + (size_t)i] : 0;
        for (int i = 0; i < v->nu; i++) {
            u[i] = v->now.u[at(n, v->nu) + (size_t)i] + a * v->k[at(n, v->nu) + (size_t)i];
            for (int j = 0; j < v->ns; j++) u[i] += K[at(j, v->nu) + (size_t)i] * v->dx[j];
            if (v->limited) u[i] = snw_limits_clip(&v->limits, v->now.u, n, i, last[i], u[i]);
        }
        go_to_step(v, m, n);
        set_inputs(v, u);
        SNW_TRY(do_step(v, m, n, false));
    }
    m->cost = cost_of(v, m);
    return SNW_OK;
}

// largest |C_kj| and |x_j| of the places or of the rates, multiplied: a term of output k that may
// cancel
static double term_of(const track_robot *v, int n, int k, const double *x) {
    const int nv = v->r->m->nv;
    const double *C = v->C + at(n, v->ny * v->ns) + k;
    double most = 0;
    for (int part = 0; part < 2; part++) {
        double c = 0, size = 0;
        for (int j = part * nv; j < (part + 1) * nv; j++)
            c = fmax(c, fabs(C[at(j, v->ny)])), size = fmax(size, fabs(x[j]));
        most = fmax(most, c * size);
    }
    return most;
}

// Squares of what input i in the first step alone does to the targets; *size <- of the terms of
// these sums.
static double effect_of(const track_robot *v, int i, double *size) {
    double *x = v->dx, *next = v->dx + v->ns, sum = 0;
    *size = 0;
    memcpy(x, v->B + at(i, v->ns), (size_t)v->ns * sizeof *x);
    for (int n = 0; n < v->steps; n++) {
        for (int k = 0; k < v->ny; k++) {
            const double term = term_of(v, n, k, x);
            double y = 0;
            for (int j = 0; j < v->ns; j++)
                y += v->C[at(n, v->ny * v->ns) + at(j, v->ny) + (size_t)k] * x[j];
            sum += y * y;
            *size += term * term;
        }
        if (n + 1 == v->steps) break;
        const double *A = v->A + at(n + 1, v->ns * v->ns);
        memset(next, 0, (size_t)v->ns * sizeof *next);
        for (int j = 0; j < v->ns; j++) {
            for (int l = 0; l < v->ns; l++) next[l] += A[at(j, v->ns) + (size_t)l] * x[j];
        }
        memcpy(x, next, (size_t)v->ns * sizeof *x);
    }
    return sum;
}

// r_u <- weights of inputs, by what each does to the targets in the first step alone. Some must do
// more than rounding.
static snw_status choose_effort(track_robot *v) {
    bool some = false;
    for (int i = 0; i < v->nu; i++) {
        double size = 0, sum = effect_of(v, i, &size);
        const bool effect = sum > rounding * rounding * size;
        some = some || effect;
        if (!effect || !isfinite(sum)) sum = 1;
        v->r_u[i] = v->how->effort * sum;
        v->s_u[i] = v->how->smooth * sum;
    }
    if (some) return SNW_OK;
    return snw_fail(v->err, SNW_E_SINGULAR,
                    "to first order no input moves the targets where the motion begins, as where "
                    "'%.100s' acts along straight rods or links; begin with other inputs or "
                    "elsewhere",
                    v->view.input[0].name);
}

// Weights and gradients <- of the changes of inputs: those of rates, and of smooth inputs.
static void weigh_changes(const track_robot *v) {
    for (int n = 0; n < v->steps; n++) {
        for (int i = 0; i < v->nu; i++) {
            const size_t k = at(n, v->nu) + (size_t)i;
            v->change_weight[k] = v->rated ? v->limits.change_weight[k] : 0;
            v->change_gradient[k] = v->rated ? v->limits.change_gradient[k] : 0;
            if (!v->smooth || !v->followed[n]) continue;
            v->change_weight[k] += v->s_u[i];
            v->change_gradient[k] += v->s_u[i] * change_of(v, &v->now, n, i);
        }
    }
}

// k, K <- of the linear problem about v->now; *fall <- decrease of the cost that it promises
static snw_status solve_linear(track_robot *v, double damping, double *fall) {
    for (int i = 0; i < v->nu; i++) v->damping[i] = damping * v->r_u[i] / v->how->effort;
    snw_tracking p = {.steps = v->steps,
                      .nx = v->ns,
                      .nu = v->nu,
                      .ny = v->ny,
                      .A = v->A,
                      .B = v->B,
                      .C = v->C,
                      .e = v->e,
                      .u = v->now.u,
                      .r = v->r_u,
                      .damping = v->damping};
    if (v->limited) {
        snw_limits_weigh(&v->limits, v->now.u);
        p.weight = v->limits.weight, p.gradient = v->limits.gradient;
    }
    if (v->ns > v->nx) {
        weigh_changes(v);
        p.change_weight = v->change_weight, p.change_gradient = v->change_gradient;
    }
    if (snw_tracking_solve(&p, &v->scratch, v->k, v->K, fall) == SNW_OK) return SNW_OK;
    return snw_fail(v->err, SNW_E_DIVERGED,
                    "the derivatives of the motion grow beyond all numbers; take a shorter "
                    "horizon, or begin with other inputs");
}

// v->trial <- a motion of less cost; *part <- of the step, 0: there is none
static snw_status improve(track_robot *v, double *part) {
    const double before = merit_of(v, &v->now);
    *part = 1;
    for (int k = 0; k < HALVINGS; k++, *part *= 0.5) {
        const snw_status s = try_part(v, *part);
        if (s != SNW_OK && s != SNW_E_DIVERGED) return s;
        if (s == SNW_OK && merit_of(v, &v->trial) < before) return SNW_OK;
    }
    *part = 0;
    return SNW_OK;
}

// Are the terms of the limits as small as they shall become? Else they are made smaller.
static bool limits_done(track_robot *v, double least) {
    snw_tracking_limits *l = &v->limits;
    if (!v->limited) return true;
    const double sum = (double)v->nlimit * l->mu;
    if (sum <= last_barrier * v->now.cost || sum <= least) return true;
    l->mu *= barrier_step;
    return false;
}

// Do the outputs follow so closely that only the inputs are still to become smaller, and hardly do?
static bool is_tracked(const track_robot *v, double gain) {
    return v->how->tolerance > 0 && gain <= slow * v->now.cost &&
           squares_of(v, &v->now) <= close * close * v->first_squares;
}

// Gauss-Newton steps whose changes of the inputs are damped as Levenberg and Marquardt do it, at
// first so much that the motion stays near the present one, less when the linear problem has
// promised what came, more when a motion was worse or did not exist.
static snw_status search_horizon(track_robot *v) {
    v->limits.steps = v->steps;
    v->begun = false;
    v->view.converged = 0;
    if (v->limited) snw_limits_enter(&v->limits, v->now.u);
    SNW_TRY(linearise(v));
    v->begun = true;
    SNW_TRY(choose_effort(v));
    v->now.cost = cost_of(v, &v->now);
    v->first_squares = squares_of(v, &v->now);
    const double least = least_barrier * v->now.cost;
    if (v->limited) {
        v->limits.mu = first_barrier * v->now.cost / (double)v->nlimit;
        snw_limits_begin(&v->limits, v->now.u);
    }
    const int most =
        v->limited && v->how->iterations < MOST_STEPS ? 3 * v->how->iterations : v->how->iterations;
    double damping = first_damping;
    for (int n = 0; n < most && !v->view.converged; n++) {
        double fall, part;
        SNW_TRY(solve_linear(v, damping, &fall));
        v->view.iterations++;
        SNW_TRY(improve(v, &part));
        if (part == 0) {
            if (fall > least_fall * v->now.cost && damping < most_damping) {
                damping = fmax(10 * damping, least_damping);
                continue;
            }
            if (!limits_done(v, least)) continue;
            // undamped, the model promises no more than rounding, or its steps do not help
            SNW_TRY(solve_linear(v, 0, &fall));
            v->view.converged = is_tracked(v, 0) || fall <= least_fall * v->now.cost;
            break;
        }
        const double gain = merit_of(v, &v->now) - merit_of(v, &v->trial);
        if (part == 1 && gain > 0.5 * fall) damping = damping > least_damping ? 0.1 * damping : 0;
        if (part < 0.5 || gain < 0.1 * fall) damping = fmax(4 * damping, least_damping);
        if (v->limited) snw_limits_update(&v->limits, v->now.u, v->trial.u, part);
        const motion last = v->now;
        v->now = v->trial;
        v->trial = last;
        const double small = v->limited ? 0.1 * (double)v->nlimit * v->limits.mu : 0;
        if (gain <= small || gain <= v->how->tolerance * last.cost || is_tracked(v, gain)) {
            const bool done = limits_done(v, least);
            v->view.converged = done && (damping <= free_damping || is_tracked(v, gain));
            if (done) damping *= 0.1;
        }
        if (v->view.converged) break;
        const snw_status s = linearise(v);
        if (s == SNW_E_DIVERGED && damping < most_damping) { // steps at the edge of what has any
            v->trial = v->now;
            v->now = last;
            damping = fmax(10 * damping, first_damping);
            SNW_TRY(linearise(v));
        } else {
            SNW_TRY(s);
        }
    }
    return SNW_OK;
}

// Does an output have a target at one of the first n steps?
static bool has_targets(const track_robot *v, int n) {
    for (size_t k = 0; k < at(n, v->ny); k++) {
        if (!isnan(v->how->target[k])) return true;
    }
    return false;
}

// The search over a horizon that grows from its beginning: inputs found hold from there on. It ends
// where it does not converge.
static snw_status search_growing(track_robot *v, const double *first) {
    const int all = v->steps;
    snw_status s = SNW_OK;
    memcpy(v->now.u, first, at(all, v->nu) * sizeof *first);
    for (int k = 1; k <= HORIZONS && s == SNW_OK; k++) {
        const int n = (int)((long long)all * k / HORIZONS);
        if (n == 0 || !has_targets(v, n)) continue;
        v->steps = n;
        s = search_horizon(v);
        if (s == SNW_OK && !v->view.converged && n < all) // a longer one would not either
            s = snw_fail(v->err, SNW_E_DIVERGED, "the search over %d steps did not converge", n);
        for (int i = n; i < all && s == SNW_OK; i++)
            memcpy(v->now.u + at(i, v->nu), v->now.u + at(n - 1, v->nu),
                   (size_t)v->nu * sizeof *v->now.u);
    }
    v->steps = v->limits.steps = all;
    return s;
}

// The search over all steps. Where the first motion leads far from the targets, as of a robot that
// falls, or through singular configurations of its loops, it may not be computed, or the search
// ends beside them; then the horizon grows.
static snw_status search(track_robot *v) {
    const size_t size = at(v->steps, v->nu) * sizeof *v->now.u;
    double *first = v->first, *found = v->first + at(v->steps, v->nu);
    memcpy(first, v->now.u, size);
    const snw_status s = search_horizon(v);
    if ((s == SNW_OK && v->view.converged) || (s != SNW_OK && s != SNW_E_DIVERGED)) return s;
    snw_error before = {0}, *err = v->err;
    if (s != SNW_OK && err) before = *err;
    const double cost = v->now.cost;
    const int iterations = v->view.iterations;
    memcpy(found, v->now.u, size);
    snw_error ignored = {0};
    v->err = &ignored;
    const snw_status grown = search_growing(v, first);
    v->err = err;
    if (grown == SNW_OK && (s != SNW_OK || v->view.converged || v->now.cost < cost)) return SNW_OK;
    if (s != SNW_OK)
        return snw_fail(err, s,
                        "the search has no motion to begin with: %.250s; begin with inputs that "
                        "hold the robot near its targets, or take shorter steps",
                        before.text);
    memcpy(v->now.u, found, size);
    v->begun = false;
    v->view.converged = 0;
    v->view.iterations = iterations;
    SNW_TRY(linearise(v));
    v->now.cost = cost_of(v, &v->now);
    return SNW_OK;
}

// ---- the call -----------------------------------------------------------------------------------

// Memory of laws and materials are no states of the search.
static bool has_memory(const snw_model *m) {
    for (int i = 0; i < m->nsignal; i++) {
        if (m->signal[i].source) return true;
    }
    return m->nbranch > 0;
}

// The robot's state <- the nearest one whose loops are closed and whose rates respect them; the
// result tells how far that is.
static snw_status close_start(track_robot *v) {
    snw_robot *r = v->r;
    const snw_model *m = r->m;
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv;
    double *q = snw_pool_array(v->pool, nq + 2 * nv, sizeof *q), *rate = q + nq, *d = rate + nv;
    if (!q) return snw_fail_memory(v->err);
    memcpy(q, r->s->q, nq * sizeof *q);
    memcpy(rate, r->s->v, nv * sizeof *rate);
    SNW_TRY(snw_robot_project(r, v->err));
    snw_difference(m, q, r->s->q, d);
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        for (int i = b->dof; i < b->dof + b->n; i++) {
            const double turned = v->how->step * fabs(r->s->v[i] - rate[i]),
                         moved = fmax(fabs(d[i]), turned) / m->typical[i];
            if (!(moved > closed) || moved <= v->view.start_moved) continue;
            const char *link = snw_block_link(m, k);
            v->view.start_moved = moved;
            v->view.start_link = snw_pool_text(v->pool, link, strlen(link));
            if (!v->view.start_link) return snw_fail_memory(v->err);
        }
    }
    return SNW_OK;
}

// Loops and wheels: steps of the conserving scheme, whose velocities respect the constraints at
// their ends, theory.md 6.3; with given coordinates, which it does not have, of moreau. Coordinates
// that the constraints tie together are all states; deviations of motions stay within the
// constraints by themselves.
static snw_status prepare_constrained(track_robot *v, snw_linear_options *o) {
    snw_robot *r = v->r;
    o->step = v->how->step;
    o->scheme = r->m->ndrive ? "moreau" : "conserving";
    if (r->m->ndrive > 0 && r->m->nnonholonomic > 0) {
        const char *name = snw_drive_name(r->m, 0);
        return snw_fail(v->err, SNW_E_MODEL,
                        "motions of robots on wheels are tracked by efforts: '%.60s' gives a "
                        "coordinate; give its 'effort' instead, and add a column of the angle or "
                        "place that it gave to the targets",
                        name);
    }
    SNW_TRY(snw_linear_prepare(r, o, &v->step, v->err));
    v->tangent = snw_linear_tangent(v->step);
    SNW_TRY(snw_robot_check_state(r, v->err));
    SNW_TRY(close_start(v));
    snw_robot_refresh_inputs(r);
    return snw_linear_of_step(v->step, NULL, v->err); // names, values, sizes
}

static snw_status prepare_models(track_robot *v) {
    snw_linear_options o = snw_linear_defaults();
    o.ninput = v->how->ninput, o.input = v->how->input;
    o.noutput = v->how->noutput, o.output = v->how->output;
    const snw_model *m = v->r->m;
    const bool constrained = m->nconstraint > 0;
    if (constrained) {
        SNW_TRY(prepare_constrained(v, &o));
    } else {
        SNW_TRY(snw_robot_linearize(v->r, &o, &v->rates, v->err));
        o.step = v->how->step;
        o.scheme = "trapezoidal";
        SNW_TRY(snw_linear_prepare(v->r, &o, &v->step, v->err));
        SNW_TRY(snw_linear_stepper(v->step, v->r, &v->im, v->err));
    }
    v->names = constrained ? v->step : v->rates;
    v->nx = v->names->nx;
    v->nu = v->names->nu;
    v->ny = v->names->ny;
    if (v->nx != 2 * m->nv || v->names->nheld || (constrained && has_memory(m)))
        return snw_fail(v->err, SNW_E_MODEL,
                        "motions are tracked for robots all of whose coordinates have mass, "
                        "without integrals, states or samples in laws and without materials that "
                        "relax");
    if (v->nu == 0)
        return snw_fail(
            v->err, SNW_E_ARGUMENT, "the robot has no actuators whose inputs could be found%s",
            constrained ? "; the effort of a given coordinate is a probe of the study" : "");
    return constrained ? SNW_OK : check_outputs(v, v->rates);
}

// ---- limits

// the entry of the options for an input, its own before that of its actuator or load; NULL: none
static const snw_track_limit *limit_of(const track_robot *v, int input) {
    const snw_robot_model *model = v->r->model;
    const char *name = v->names->input[input].name;
    snw_varied x;
    if (snw_varied_find(v->r, name, &x, v->err) != SNW_OK) return NULL;
    const char *whole =
        x.input < 0
            ? v->r->desc->load[x.load].name
            : model->part[SNW_PART_ACTUATOR][model->part[SNW_PART_INPUT][x.input].first].name;
    for (int own = 1; own >= 0; own--) {
        for (int k = 0; k < v->how->nlimit; k++) {
            if (strcmp(v->how->limit[k].input, own ? name : whole) == 0) return &v->how->limit[k];
        }
    }
    return NULL;
}

// Is an input a tension? Cords do not push.
static bool is_tension(const track_robot *v, int input) {
    const snw_robot_model *model = v->r->model;
    const int of = snw_robot_model_find(model, SNW_PART_INPUT, v->names->input[input].name);
    return of >= 0 && strcmp(model->part[SNW_PART_INPUT][of].type, "tension") == 0;
}

static snw_status take_limits(track_robot *v, double *low, double *high, double *change,
                              double *before) {
    for (int i = 0; i < v->nu; i++) {
        const snw_track_limit *o = limit_of(v, i);
        low[i] = is_tension(v, i) ? 0 : -INFINITY;
        high[i] = change[i] = INFINITY;
        before[i] = v->names->input[i].value;
        v->limited = v->limited || o || low[i] == 0;
        if (!o) continue;
        if (!isnan(o->low)) low[i] = o->low;
        if (!isnan(o->high)) high[i] = o->high;
        if (!isnan(o->rate)) change[i] = o->rate * v->how->step;
        v->rated = v->rated || isfinite(change[i]);
    }
    for (int k = 0; k < v->how->nlimit; k++) {
        bool some = false;
        for (int i = 0; i < v->nu; i++) some = some || limit_of(v, i) == &v->how->limit[k];
        if (!some)
            return snw_fail(v->err, SNW_E_ARGUMENT,
                            "'%.100s' has limits and is no input of the motion",
                            v->how->limit[k].input);
    }
    return SNW_OK;
}

// followed <- where targets come step on step: there inputs could alternate from step to step,
// which the targets hardly see. Elsewhere nothing asks for it.
static snw_status find_followed(track_robot *v) {
    v->followed = snw_pool_array(v->pool, (size_t)v->steps, sizeof *v->followed);
    if (!v->followed) return snw_fail_memory(v->err);
    bool before = false;
    for (int n = 0; n < v->steps; n++) {
        bool some = false;
        for (int i = 0; i < v->ny; i++)
            some = some || !isnan(v->how->target[at(n, v->ny) + (size_t)i]);
        v->followed[n] = n > 0 && some && before;
        v->smooth = v->smooth || (v->followed[n] && v->how->smooth > 0);
        before = some;
    }
    return SNW_OK;
}

static snw_status prepare_limits(track_robot *v) {
    snw_tracking_limits *l = &v->limits;
    const size_t nu = (size_t)v->nu, all = nu * (size_t)v->steps;
    double *bound = snw_pool_array(v->pool, 4 * nu, sizeof *bound);
    if (!bound) return snw_fail_memory(v->err);
    SNW_TRY(take_limits(v, bound, bound + nu, bound + 2 * nu, bound + 3 * nu));
    SNW_TRY(find_followed(v));
    v->ns = v->nx + (v->rated || v->smooth ? v->nu : 0);
    *l = (snw_tracking_limits){.steps = v->steps,
                               .nu = v->nu,
                               .low = bound,
                               .high = bound + nu,
                               .change = bound + 2 * nu,
                               .before = bound + 3 * nu};
    if (!v->limited) return SNW_OK;
    const int bad = snw_limits_contradiction(l);
    if (bad >= 0 && isinf(l->change[bad]))
        return snw_fail(v->err, SNW_E_ARGUMENT,
                        "the limits of '%.100s' leave nothing between %g and %g",
                        v->names->input[bad].name, l->low[bad], l->high[bad]);
    if (bad >= 0)
        return snw_fail(v->err, SNW_E_ARGUMENT,
                        "the limits of '%.100s' leave nothing: from %g at present it changes by %g "
                        "in a step at most, and shall be between %g and %g",
                        v->names->input[bad].name, l->before[bad], l->change[bad], l->low[bad],
                        l->high[bad]);
    v->nlimit = snw_limits_count(l);
    double **const array[] = {&l->z[0],   &l->z[1],     &l->z[2],          &l->z[3],
                              &l->weight, &l->gradient, &l->change_weight, &l->change_gradient};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
        *array[i] = snw_pool_array(v->pool, all, sizeof **array[i]);
        if (!*array[i]) return snw_fail_memory(v->err);
    }
    return SNW_OK;
}

static snw_status motion_memory(track_robot *v, motion *m) {
    const size_t n = (size_t)v->steps;
    m->q = snw_pool_array(v->pool, (n + 1) * (size_t)v->r->m->nq, sizeof *m->q);
    m->v = snw_pool_array(v->pool, (n + 1) * (size_t)v->r->m->nv, sizeof *m->v);
    m->u = snw_pool_array(v->pool, n * (size_t)v->nu, sizeof *m->u);
    m->y = snw_pool_array(v->pool, n * (size_t)v->ny, sizeof *m->y);
    m->d = snw_pool_array(v->pool, n * (size_t)v->r->m->nv, sizeof *m->d);
    return m->q && m->v && m->u && m->y && m->d ? SNW_OK : SNW_E_MEMORY;
}

static snw_status track_memory(track_robot *v) {
    const size_t n = (size_t)v->steps, nx = (size_t)v->ns, nu = (size_t)v->nu, ny = (size_t)v->ny;
    SNW_TRY(motion_memory(v, &v->now));
    SNW_TRY(motion_memory(v, &v->trial));
    const struct {
        double **to;
        size_t size;
    } array[] = {{&v->A, n * nx * nx},
                 {&v->B, n * nx * nu},
                 {&v->C, n * ny * nx},
                 {&v->e, n * ny},
                 {&v->k, n * nu},
                 {&v->K, n * nu * nx},
                 {&v->dx, 2 * nx + 12},
                 {&v->weight, ny},
                 {&v->r_u, nu},
                 {&v->damping, nu},
                 {&v->s_u, nu},
                 {&v->change_weight, n * nu},
                 {&v->change_gradient, n * nu},
                 {&v->first, 2 * n * nu}};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
        *array[i].to = snw_pool_array(v->pool, array[i].size, sizeof(double));
        if (!*array[i].to) return SNW_E_MEMORY;
    }
    v->varied = snw_pool_array(v->pool, nu, sizeof *v->varied);
    v->scratch.size = snw_tracking_scratch(v->ns, v->nu);
    v->scratch.base = snw_alloc(v->scratch.size);
    return v->varied && v->scratch.base ? SNW_OK : SNW_E_MEMORY;
}

// names, weights, and the first motion
static snw_status begin(track_robot *v) {
    snw_robot *r = v->r;
    snw_track_column *input = snw_pool_array(v->pool, (size_t)v->nu, sizeof *input);
    snw_track_column *output = snw_pool_array(v->pool, (size_t)v->ny, sizeof *output);
    if (!input || !output) return snw_fail_memory(v->err);
    const struct {
        int n;
        const snw_linear_signal *from;
        snw_track_column *to;
    } list[] = {{v->nu, v->names->input, input}, {v->ny, v->names->output, output}};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < list[k].n; i++) { // texts of its own: a result may outlive the robot
            const snw_linear_signal *s = &list[k].from[i];
            list[k].to[i] =
                (snw_track_column){.name = snw_pool_text(v->pool, s->name, strlen(s->name)),
                                   .unit = snw_pool_text(v->pool, s->unit, strlen(s->unit))};
            if (!list[k].to[i].name || !list[k].to[i].unit) return snw_fail_memory(v->err);
        }
    }
    for (int i = 0; i < v->ny; i++) {
        const bool length = strcmp(output[i].unit, "m") == 0;
        v->weight[i] = v->how->weight ? v->how->weight[i] : length ? 1 / r->m->length : 1;
    }
    for (int i = 0; i < v->nu; i++)
        SNW_TRY(snw_varied_find(r, v->names->input[i].name, &v->varied[i], v->err));
    for (int n = 0; n < v->steps; n++) {
        for (int i = 0; i < v->nu; i++) {
            const size_t k = at(n, v->nu) + (size_t)i;
            v->now.u[k] = v->how->first ? v->how->first[k] : v->names->input[i].value;
        }
    }
    for (int i = 0; i < v->nu; i++) snw_varied_hold(r, &v->varied[i], v->names->input[i].value);
    memcpy(v->now.q, r->s->q, (size_t)r->m->nq * sizeof *r->s->q);
    memcpy(v->now.v, r->s->v, (size_t)r->m->nv * sizeof *r->s->v);
    v->view.input = input;
    v->view.output = output;
    return SNW_OK;
}

// Part of the squares of the inputs, without their means, that alternates from step to step: 1 for
// inputs that change between two values, of the order of (w h)^4/16 for a vibration w. Of all
// inputs in units of their effects.
static double alternation_of(const track_robot *v) {
    double alternate = 0, all = 0;
    for (int i = 0; i < v->nu; i++) {
        double mean = 0;
        for (int n = 0; n < v->steps; n++) mean += v->now.u[at(n, v->nu) + (size_t)i] / v->steps;
        for (int n = 0; n < v->steps; n++) {
            const size_t k = at(n, v->nu) + (size_t)i, one = (size_t)v->nu;
            const double *u = v->now.u + k;
            all += v->r_u[i] * (*u - mean) * (*u - mean);
            if (n == 0 || n + 1 == v->steps) continue;
            const double bend = (u[one] - 2 * *u + *(u - one)) / 4;
            alternate += v->r_u[i] * bend * bend;
        }
    }
    return all > 0 ? alternate / all : 0;
}

static void conclude(track_robot *v) {
    snw_track_result *out = &v->view;
    out->alternation = alternation_of(v);
    double sum = 0;
    int count = 0;
    for (int n = 0; n < v->steps; n++) {
        for (int i = 0; i < v->ny; i++) {
            const double e = error_of(v, &v->now, n, i);
            sum += e * e;
            out->largest = fmax(out->largest, fabs(e));
            count += !isnan(v->how->target[at(n, v->ny) + (size_t)i]);
        }
        for (int i = 0; i < v->nu; i++) {
            const double u = v->now.u[at(n, v->nu) + (size_t)i];
            out->squares += v->how->step * u * u;
        }
    }
    for (int n = 0; v->limited && n < v->steps; n++) {
        for (int i = 0; i < v->nu; i++) {
            snw_tracking_limits *l = &v->limits;
            const size_t k = at(n, v->nu) + (size_t)i;
            // of two sides one may hold; the multiplier of the other is of the size of the barrier
            l->weight[k] = fmax(l->z[0][k], l->z[1][k]);
            l->change_weight[k] = fmax(l->z[2][k], l->z[3][k]);
            out->limited += snw_limits_hold(l, v->now.u, n, i);
        }
    }
    if (v->limited) {
        out->multiplier = v->limits.weight;
        out->rate_multiplier = v->limits.change_weight;
    }
    out->error = sqrt(sum / count);
    out->cost = v->now.cost;
    out->nstep = v->steps;
    out->ninput = v->nu;
    out->noutput = v->ny;
    out->u = v->now.u;
    out->y = v->now.y;
}

static snw_status check_targets(const track_robot *v) {
    int some = 0;
    for (size_t k = 0; k < at(v->steps, v->ny); k++) {
        if (isinf(v->how->target[k]))
            return snw_fail(v->err, SNW_E_ARGUMENT, "a target is infinite; NaN leaves it free");
        some += !isnan(v->how->target[k]);
    }
    for (int i = 0; v->how->weight && i < v->ny; i++) {
        if (!(v->how->weight[i] > 0 && isfinite(v->how->weight[i])))
            return snw_fail(v->err, SNW_E_ARGUMENT, "weights must be positive, got %g",
                            v->how->weight[i]);
    }
    for (size_t k = 0; v->how->first && k < at(v->steps, v->nu); k++) {
        if (!isfinite(v->how->first[k]))
            return snw_fail(v->err, SNW_E_ARGUMENT, "the first inputs must be finite");
    }
    if (some) return SNW_OK;
    return snw_fail(v->err, SNW_E_ARGUMENT, "there are no targets: all are NaN");
}

static snw_status track(track_robot *v) {
    v->steps = v->how->nstep;
    v->t0 = v->r->s->t;
    SNW_TRY(prepare_models(v));
    SNW_TRY(check_targets(v));
    SNW_TRY(prepare_limits(v));
    if (track_memory(v) != SNW_OK) return snw_fail_memory(v->err);
    SNW_TRY(begin(v));
    SNW_TRY(search(v));
    conclude(v);
    return SNW_OK;
}

static snw_status check_options(const snw_track_options *how, snw_error *err) {
    if (how->ninput < 0 || (how->ninput && !how->input) || how->noutput < 1 || !how->output)
        return snw_fail(err, SNW_E_ARGUMENT, "the names of %s are missing",
                        how->noutput < 1 || !how->output ? "outputs" : "inputs");
    if (how->nstep < 1 || how->nstep > MOST_STEPS || !(how->step > 0) || !isfinite(how->step) ||
        !how->target)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "a motion has targets at 1 to %d steps of positive length, got %d of %g s",
                        MOST_STEPS, how->nstep, how->step);
    for (int i = 0; i < how->nlimit; i++) {
        const snw_track_limit *l = &how->limit[i];
        if (!l->input || l->low == INFINITY || l->high == -INFINITY || l->rate <= 0)
            return snw_fail(err, SNW_E_ARGUMENT, "limit %d %s", i,
                            l->input ? "is not possible: rates are positive" : "has no input");
    }
    if (!(how->effort > 0) || !isfinite(how->effort) || how->iterations < 1 ||
        !(how->tolerance >= 0) || !(how->smooth >= 0) || !isfinite(how->smooth))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "effort and iterations must be positive, tolerance and smooth not "
                        "negative, got %g, %d, %g and %g",
                        how->effort, how->iterations, how->tolerance, how->smooth);
    return SNW_OK;
}

snw_status snw_robot_track(snw_robot *r, const snw_track_options *how, snw_track_result **out,
                           snw_error *err) {
    if (!r || !how || !out)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", !r ? "the robot" : !how ? "how" : "out");
    *out = NULL;
    SNW_TRY(check_options(how, err));
    SNW_TRY(snw_robot_check_forces(r, err));
    snw_robot *copy = NULL; // the caller's robot keeps its state and its motion
    SNW_TRY(snw_robot_from_model(r->model, &copy, err));
    snw_robot_take_over(copy, r);
    track_robot *v = snw_alloc(sizeof *v);
    snw_status s = v ? SNW_OK : snw_fail_memory(err);
    if (s == SNW_OK) {
        *v = (track_robot){.r = copy, .how = how, .err = err};
        v->pool = snw_pool_create(POOL_LIMIT);
        s = v->pool ? track(v) : snw_fail_memory(err);
        snw_linear_close(v->rates);
        snw_linear_close(v->step);
        snw_implicit_destroy(v->im);
        if (s != SNW_OK) snw_track_close(&v->view);
    }
    snw_robot_close(copy);
    if (s == SNW_OK) *out = &v->view;
    return s;
}

void snw_track_close(snw_track_result *result) {
    track_robot *v = (track_robot *)result;
    if (!v) return;
    snw_free(v->scratch.base);
    snw_pool_destroy(v->pool);
    snw_free(v);
}
