// SPDX-License-Identifier: MIT
//
// Tangent continuation with the step control of Deuflhard (Newton Methods for Nonlinear Problems,
// 2004, ch. 5), for equilibria under increasing loads.
//
// At a solution x under some load the factors of J are available. For an increment d of the load:
//
//     dx   = inv(J) r(x, load + d)        linear prediction
//     back = inv(J) r(x - dx, load + d)   its error
//     theta = |back| / |dx|               relative error, proportional to d for small d
//
// An increment with theta above THETA_MAX is rejected at the cost of two residuals, and theta
// determines how much shorter the next one is. After an accepted one, Newton's method starts at x -
// dx - back, close enough to converge to the same branch in one or two iterations. The first
// increment tried is the whole load.
//
// Three checks keep the solution on the branch. A solution further from the prediction than that is
// from x is a jump. A change of the sign of det J means that a branch was crossed; it is rejected
// unless the increment is small, and then accepted, since a column may be loaded along its axis
// beyond the Euler load. Lengths are energies, |dx|^2 = sum |J_ii| dx_i^2, so that angles and
// metres are comparable; multipliers have no diagonal and do not count.
//
// Intermediate equilibria are solved only to a small fraction of the residual of the increment. The
// last one, under the full load or not, is solved to the given tolerance. So is one from which the
// next increment is rejected while its own residual is a large part of that of the increment.

#include "solve/continuation.h"

#include "base/fail.h"

#include <math.h>
#include <string.h>

enum { MAX_ITER = 8 }; // Newton iterations in an increment: one that needs more is too long
enum { CRAWL_INCREMENTS = 200 }; // after so many increments more than
static const double CRAWL_LOAD =
    1e-2; // of the load must be reached: tangents of a singular start give no direction

// Increments after which the regularisation of neutral directions is increased, and the factors.
// Neutral directions move by the remaining residual over the regularisation, which makes increments
// short. The solution does not depend on it.
enum { SLOW = 30, LEVELS = 2 };
static const double REGULARISATION_FACTOR[LEVELS + 1] = {1, 1e3, 1e5};

static const double THETA_MAX = 0.5;  // longest increment: half of the response is nonlinear
static const double THETA_AIM = 0.25; // target of the next increment
static const double GROWTH = 4;       // from one increment to the next, at most
static const double LOOSE = 1e-2; // residual of intermediate equilibria, relative to that of the
                                  // increment or a typical force
static const double LEFT =
    0.1; // largest part of an increment's residual that may stem from the previous solution
static const double CROSSING = 1e-2; // fraction of the load in which det J may change sign
static const double UNPREDICTED_INCREMENT =
    1e-3; // first increment without prediction, relative to the load
static const double UNPREDICTED_RATE = 1e3; // largest ratio of the rate of x to the previous one

snw_continuation_opts snw_continuation_defaults(void) {
    return (snw_continuation_opts){
        .newton = snw_newton_defaults(), .smallest = 1e-6, .max_increments = 2000};
}

// present point of the path, and buffers for the next increment
typedef struct path {
    const snw_problem *p;               // &own
    snw_problem own;                    // as given, but for the regularisation
    const double *given_regularisation; // regularisation as given
    double *regularisation;             // regularisation in use: times REGULARISATION_FACTOR
    int level, most;                    // of REGULARISATION_FACTOR: present, and largest allowed
    int since;                          // increments at the last change of the level
    const snw_continuation_opts *opts;
    snw_arena *scratch;
    double *x;        // solution under `load`
    double load;      // present load
    double rate;      // |change of x| per load in the last increment, 0: unknown
    double left;      // residual of the last correction, also when it failed
    bool loose;       // the last increment was rejected, and the residual at x contributed to that
    snw_tangent at;   // tangent at x
    snw_tangent next; // tangent at trial
    double *trial, *dx, *back, *moved;
    snw_continuation_info *info;
} path;

static double continuation_length(const snw_tangent *t, const double *dx) {
    double energy = 0, plain = 0;
    for (int i = 0; i < t->n; i++) {
        energy += fabs(t->diagonal[i]) * dx[i] * dx[i];
        plain += dx[i] * dx[i];
    }
    return sqrt(energy > 0 ? energy : plain);
}

static snw_status continuation_residual(path *c, double load, const double *x, double *r) {
    c->info->residuals++;
    const snw_status s = c->p->residual(c->p->user, load, x, r);
    if (s == SNW_OK || s == SNW_E_STOPPED) return s;
    return SNW_E_DIVERGED; // outside the domain: the step is too long
}

// Newton's method from trial; the last tangent is kept in c->next, the total increment in c->moved.
static snw_status continuation_correct(path *c, double load, double tol, int max_iter) {
    const snw_newton_opts opts = {.tol = fmax(tol, c->opts->newton.tol),
                                  .stagnant = c->opts->newton.stagnant,
                                  .max_iter = max_iter};
    snw_newton_info info;
    const snw_status s =
        snw_newton_solve_on(c->p, load, &opts, c->scratch, c->trial, &c->next, c->moved, &info);
    c->info->iterations += info.iterations;
    c->info->residuals += info.residuals;
    c->info->tangents += info.tangents;
    c->left = info.residual;
    if (s == SNW_OK) c->info->residual = info.residual;
    return s;
}

// trial becomes the present point
static void continuation_accept(path *c, double load) {
    const snw_tangent old = c->at;
    memcpy(c->x, c->trial, (size_t)c->p->nx * sizeof *c->x);
    c->at = c->next;
    c->next = old;
    c->load = load;
}

// Does only the regularisation carry the load? dx is a solution; if other stiffness resists it,
// inv(J + S) S dx is far smaller. `more` is scratch.
static bool regularisation_carries_load(const path *c, const double *dx, double *more) {
    const snw_problem *p = c->p;
    for (int i = 0; i < p->n; i++) more[i] = p->regularisation[i] * dx[i];
    snw_tangent_solve(&c->at, more);
    for (int i = 0; i < p->n; i++) {
        if (!(p->regularisation[i] * fabs(more[i]) <= 1e-7 * (p->scale ? p->scale[i] : 1)))
            return true;
    }
    return false;
}

// does dx change x by no more than rounding? then the residual is noise
static bool is_at_rounding(const path *c) {
    double distance = 0, size = 1;
    for (int i = 0; i < c->p->n; i++) distance = fmax(distance, fabs(c->dx[i]));
    for (int i = 0; i < c->p->nx; i++) size = fmax(size, fabs(c->x[i]));
    return distance <= SNW_ROUNDING * size;
}

// One increment with prediction. SNW_E_DIVERGED: rejected. *d <- the next increment to try.
// SNW_E_SINGULAR: a mechanism, no increment can succeed.
static snw_status continuation_step(path *c, double *d) {
    const snw_problem *p = c->p;
    const double to = c->load + *d < 1 ? c->load + *d : 1;
    *d *= 0.5; // if the residual cannot be evaluated

    // linear prediction
    snw_status s = continuation_residual(c, to, c->x, c->dx);
    if (s != SNW_OK) return s;
    const double start = snw_problem_norm(p, c->dx);
    snw_tangent_solve(&c->at, c->dx);
    if (c->load == 0 && c->at.regularisation && regularisation_carries_load(c, c->dx, c->back))
        return SNW_E_SINGULAR;
    snw_tangent_remove_null(&c->at, p->regularisation, c->dx);
    const double predicted = continuation_length(&c->at, c->dx);
    snw_problem_move(p, c->x, -1, c->dx, c->trial);

    // its error; zero if the prediction is a solution
    s = continuation_residual(c, to, c->trial, c->back);
    if (s != SNW_OK) return s;
    const bool solved = snw_problem_norm(p, c->back) <= c->opts->newton.tol || is_at_rounding(c);
    snw_tangent_solve(&c->at, c->back);
    snw_tangent_remove_null(&c->at, p->regularisation, c->back);
    const double theta = solved ? 0 : continuation_length(&c->at, c->back) / predicted;
    if (!(theta <= THETA_MAX)) {
        c->loose = c->info->residual > LEFT * start;
        *d *= 2 * fmin(fmax(THETA_AIM / theta, 0.1), 0.5); // NaN: a tenth
        return SNW_E_DIVERGED;
    }
    snw_problem_move(p, c->trial, -1, c->back, c->trial);

    // correction, on the same branch
    const bool loosely =
        to < 1 && c->at.nnull == 0; // neutral directions are identified at equilibria only
    s = continuation_correct(c, to, loosely ? LOOSE * fmin(start, 1) : 0, MAX_ITER);
    if (s != SNW_OK) return s == SNW_E_STOPPED ? s : SNW_E_DIVERGED;
    const double passed = to - c->load;
    for (int i = 0; i < p->n; i++) c->moved[i] -= c->back[i];
    if (!solved && !(continuation_length(&c->at, c->moved) <= predicted)) return SNW_E_DIVERGED;
    if (c->next.sign != c->at.sign && passed > CROSSING * to) return SNW_E_DIVERGED;

    c->rate = predicted / passed;
    continuation_accept(c, to);
    *d = passed * fmin(fmax(THETA_AIM / theta, 0.5), GROWTH);
    return SNW_OK;
}

// One increment without prediction, where the tangent is no use: where it is singular, or where the
// equations are not differentiable (a tendon that becomes taut). x may not move much faster than
// along the path before: at a limit point that would be a jump to another branch.
static snw_status step_without_prediction(path *c, double *d) {
    const double to = c->load + *d < 1 ? c->load + *d : 1;
    const double passed = to - c->load;
    memcpy(c->trial, c->x, (size_t)c->p->nx * sizeof *c->x);
    *d *= 0.1;
    const snw_status s = continuation_correct(c, to, 0, MAX_ITER);
    if (s != SNW_OK) return s == SNW_E_STOPPED ? s : SNW_E_DIVERGED;
    const double distance = continuation_length(&c->at, c->moved);
    if (c->rate > 0 && !(distance <= UNPREDICTED_RATE * c->rate * passed)) return SNW_E_DIVERGED;

    c->rate = distance / passed;
    continuation_accept(c, to);
    *d = passed * GROWTH;
    return SNW_OK;
}

// Solve the present point to the given tolerance; if that fails it is unchanged.
static snw_status solve_to_tolerance(path *c) {
    c->loose = false;
    memcpy(c->trial, c->x, (size_t)c->p->nx * sizeof *c->x);
    const snw_status s = continuation_correct(c, c->load, 0, c->opts->newton.max_iter);
    if (s == SNW_OK) continuation_accept(c, c->load);
    return s == SNW_E_STOPPED ? s : SNW_OK;
}

// Regularise neutral directions by `level`, from the next tangent on, which is that of the present
// point.
static snw_status continuation_regularise(path *c, int level) {
    c->level = level;
    c->since = c->info->increments;
    c->own.always_regularise = level > 0;
    for (int i = 0; i < c->p->n; i++)
        c->regularisation[i] = REGULARISATION_FACTOR[level] * c->given_regularisation[i];
    return solve_to_tolerance(c);
}

// From the present load to 1 in increments. SNW_E_DIVERGED: no further than c->load.
// SNW_E_SINGULAR: a mechanism without load.
static snw_status continuation_follow(path *c, bool (*stop)(void *user), void *stop_user) {
    double d = 1;
    bool unpredicted = c->at.sign == 0; // no tangent for predictions
    while (c->load < 1) {
        if (c->info->increments == c->opts->max_increments) return SNW_E_DIVERGED;
        if (c->info->increments >= CRAWL_INCREMENTS && c->load < CRAWL_LOAD) return SNW_E_DIVERGED;
        if (stop && stop(stop_user)) return SNW_E_STOPPED;
        if (c->level < c->most && c->info->increments >= c->since + SLOW) {
            SNW_TRY(continuation_regularise(c, c->level + 1));
            d = 1 - c->load;
            unpredicted = c->at.sign == 0;
        }

        const snw_status s =
            unpredicted ? step_without_prediction(c, &d) : continuation_step(c, &d);
        if (s == SNW_E_STOPPED || s == SNW_E_SINGULAR) return s;
        if (c->loose) SNW_TRY(solve_to_tolerance(c));
        if (s == SNW_OK) c->info->increments++;
        if (d < c->opts->smallest * fmax(c->load, c->opts->smallest)) {
            if (unpredicted && s != SNW_OK) {
                if (c->level == 0) return SNW_E_DIVERGED;
                c->most = 0; // the larger regularisation carries load where it should not
                SNW_TRY(continuation_regularise(c, 0));
            }
            unpredicted = true;
            d = c->load > 0 ? UNPREDICTED_INCREMENT * c->load : UNPREDICTED_INCREMENT;
        } else if (s == SNW_OK) {
            unpredicted = c->at.sign == 0;
        }
    }
    return SNW_OK;
}

size_t snw_continuation_scratch(int n, int nx) {
    return snw_continuation_scratch_own(n, nx) +
           3 * (snw_tangent_scratch(n) - snw_tangent_scratch_own(n));
}

size_t snw_continuation_scratch_own(int n, int nx) {
    const size_t pad = 64, newton = snw_newton_scratch(n, nx) - snw_tangent_scratch(n);
    return (size_t)(6 * n + nx) * sizeof(double) + 6 * pad + newton +
           3 * snw_tangent_scratch_own(n);
}

snw_status snw_continuation_solve(const snw_problem *p, const snw_continuation_opts *opts,
                                  bool (*stop)(void *user), void *stop_user, snw_arena *scratch,
                                  double *x, snw_continuation_info *info) {
    const size_t mark = snw_arena_mark(scratch);
    const size_t n = (size_t)p->n, nx = (size_t)p->nx;
    path c = {.own = *p,
              .given_regularisation = p->regularisation,
              .opts = opts,
              .scratch = scratch,
              .x = x,
              .info = info};
    c.p = &c.own;
    c.own.nearby = &c.at;
    c.most = p->regularisation ? LEVELS : 0;
    c.at = snw_tangent_take(p->n, p->own[0], p->sparse[0], scratch);
    c.next = snw_tangent_take(p->n, p->own[1], p->sparse[1], scratch);
    c.regularisation = snw_arena_doubles(scratch, n);
    if (p->regularisation)
        c.own.regularisation =
            memcpy(c.regularisation, p->regularisation, n * sizeof *c.regularisation);
    c.trial = snw_arena_doubles(scratch, nx);
    double *spare = snw_arena_doubles(scratch, 2 * n);
    c.dx = snw_arena_doubles(scratch, n);
    c.back = snw_arena_doubles(scratch, n);
    c.moved = snw_arena_doubles(scratch, n);
    *info = (snw_continuation_info){.residual = NAN};

    // start; if it is no equilibrium under load 0, it may be a guess for load 1
    memcpy(c.trial, x, nx * sizeof *x);
    snw_status s = continuation_correct(&c, 0, 0, opts->newton.max_iter);
    if (s == SNW_OK) {
        continuation_accept(&c, 0);
        s = continuation_follow(&c, stop, stop_user);
    } else if (s != SNW_E_STOPPED) {
        const double none = c.left;
        memcpy(c.trial, x, nx * sizeof *x);
        const snw_status whole = continuation_correct(&c, 1, 0, opts->newton.max_iter);
        if (whole == SNW_OK) continuation_accept(&c, 1);
        if (whole == SNW_OK || whole == SNW_E_STOPPED) s = whole;
        // the smallest residual seen; fmin ignores NaN
        if (whole != SNW_OK) info->residual = fmin(none, c.left);
        goto done;
    }

    // not at the full load: return an equilibrium
    if (c.load < 1 && !(info->residual <= opts->newton.tol) &&
        solve_to_tolerance(&c) == SNW_E_STOPPED)
        s = SNW_E_STOPPED;

done:
    info->reached = c.load;
    info->condition = snw_tangent_condition(&c.at, spare);
    snw_arena_reset(scratch, mark);
    return s;
}
