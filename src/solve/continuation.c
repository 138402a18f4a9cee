// SPDX-License-Identifier: MIT
//
// Tangent continuation with the step control of Deuflhard (Newton Methods for Nonlinear Problems,
// 2004, ch. 5). At a solution x under some load the factors of J are at hand. For an increment d of
// the load:
//
//   dx   = inv(J) r(x, load + d)        how far the linear answer goes
//   back = inv(J) r(x - dx, load + d)   what it misses
//   theta = |back| / |dx|               the part missed, proportional to d when d is small
//
// An increment with theta above THETA_MAX is refused at the price of two residuals, and theta says
// how much shorter the next must be. One that passes starts Newton at x - dx - back, close enough
// to converge to the same branch in one or two iterations. The first increment tried is all of the
// load.
//
// Three guards keep it on the branch. A solution further from the linear one than that is from x is
// a jump, not a continuation. A change of sign of det J means that a branch was crossed: refused as
// long as the increment is not small, then accepted, since a column may well be loaded along its
// axis past Euler's load. And lengths are energies, |dx|^2 = sum |J_ii| dx_i^2, so that angles and
// metres can be compared; multipliers have no diagonal and do not count.
//
// Equilibria on the way are found only to a small part of the increment's residual. The last one,
// whether it carries the whole load or not, is brought to the tolerance asked for; so is one from
// which the next increment is refused while what was left of its residual is a good part of what it
// starts with.
#include "solve/continuation.h"

#include "base/fail.h"

#include <math.h>
#include <string.h>

enum { MAX_ITER = 8 };   // of Newton in an increment: one that needs more is too long
enum { CRAWLING = 200 }; // increments in which more than
static const double CRAWLED =
    1e-2; // of the load must be carried: tangents of a start that is singular lead nowhere

// Increments after which the directions that nothing resists are held more, and by how much more:
// they are moved by what is left of the residual on the way, over what holds them, and that is what
// crawls. The solution does not change with it.
enum { SLOW = 30, LEVELS = 2 };
static const double HOLD_MORE[LEVELS + 1] = {1, 1e3, 1e5};

static const double THETA_MAX = 0.5;  // longest increment: half of the answer is not linear
static const double THETA_AIM = 0.25; // what the next one aims at
static const double GROWTH = 4;       // from one increment to the next, at most
static const double LOOSE =
    1e-2; // residual on the way, relative to that of the increment or a typical force
static const double LEFT = 0.1; // the part of an increment's residual that may be left from before
static const double CROSSING = 1e-2;   // part of the load in which det J may change sign
static const double LEAP = 1e-3;       // first increment without prediction, relative to load
static const double LEAP_FACTOR = 1e3; // how much faster than before it may move x

snw_continuation_opts snw_continuation_defaults(void) {
    return (snw_continuation_opts){
        .newton = snw_newton_defaults(), .smallest = 1e-6, .max_increments = 2000};
}

// where we are on the path, and the buffers for the next increment
typedef struct path {
    const snw_problem *p; // own
    snw_problem own;      // as given, but for what it holds with
    const double *hold;   // as given
    double *held;         // the same, times HOLD_MORE
    int level, most;      // of HOLD_MORE: now, and allowed
    int since;            // increments when the level began
    const snw_continuation_opts *opts;
    snw_arena *scratch;
    double *x;      // solution under `load`
    double load;    // carried so far
    double rate;    // |change of x| per load in the last increment, 0: unknown
    double left;    // residual of the last correction, whether it succeeded or not
    bool loose;     // what is left of the residual at x is part of what refused the last increment
    snw_tangent at; // tangent at x
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
    return SNW_E_DIVERGED; // outside the domain: too far
}

// Newton from trial; the tangent found on the way stays in c->next, the way itself in c->moved.
static snw_status continuation_correct(path *c, double load, double tol, int max_iter) {
    const snw_newton_opts opts = {.tol = fmax(tol, c->opts->newton.tol), .max_iter = max_iter};
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

// trial becomes the point we stand on
static void continuation_accept(path *c, double load) {
    const snw_tangent old = c->at;
    memcpy(c->x, c->trial, (size_t)c->p->nx * sizeof *c->x);
    c->at = c->next;
    c->next = old;
    c->load = load;
}

// Whether what only makes the tangent regular would have to bear the load: then nothing else does.
// dx is a solution; what else resists it makes inv(J + S) S dx far smaller. `more` is scratch.
static bool continuation_carries(const path *c, const double *dx, double *more) {
    const snw_problem *p = c->p;
    for (int i = 0; i < p->n; i++) more[i] = p->soft[i] * dx[i];
    snw_tangent_solve(&c->at, more);
    for (int i = 0; i < p->n; i++) {
        if (!(p->soft[i] * fabs(more[i]) <= 1e-7 * (p->scale ? p->scale[i] : 1))) return true;
    }
    return false;
}

// whether dx moves x by no more than rounding: what is left of the residual is noise
static bool stays(const path *c) {
    double way = 0, size = 1;
    for (int i = 0; i < c->p->n; i++) way = fmax(way, fabs(c->dx[i]));
    for (int i = 0; i < c->p->nx; i++) size = fmax(size, fabs(c->x[i]));
    return way <= SNW_ROUNDING * size;
}

// One increment with prediction. Refused: SNW_E_DIVERGED. *d <- the one to try next.
// SNW_E_SINGULAR: no use to try.
static snw_status continuation_step(path *c, double *d) {
    const snw_problem *p = c->p;
    const double to = c->load + *d < 1 ? c->load + *d : 1;
    *d *= 0.5; // when it fails for want of a residual

    // the linear answer
    snw_status s = continuation_residual(c, to, c->x, c->dx);
    if (s != SNW_OK) return s;
    const double start = snw_problem_norm(p, c->dx);
    snw_tangent_solve(&c->at, c->dx);
    if (c->load == 0 && c->at.soft && continuation_carries(c, c->dx, c->back))
        return SNW_E_SINGULAR;
    snw_tangent_hold_null(&c->at, p->soft, c->dx);
    const double reach = continuation_length(&c->at, c->dx);
    snw_problem_move(p, c->x, -1, c->dx, c->trial);

    // what it misses; nothing, if it is as good as a solution
    s = continuation_residual(c, to, c->trial, c->back);
    if (s != SNW_OK) return s;
    const bool solved = snw_problem_norm(p, c->back) <= c->opts->newton.tol || stays(c);
    snw_tangent_solve(&c->at, c->back);
    snw_tangent_hold_null(&c->at, p->soft, c->back);
    const double theta = solved ? 0 : continuation_length(&c->at, c->back) / reach;
    if (!(theta <= THETA_MAX)) {
        c->loose = c->info->residual > LEFT * start;
        *d *= 2 * fmin(fmax(THETA_AIM / theta, 0.1), 0.5); // NaN: a tenth
        return SNW_E_DIVERGED;
    }
    snw_problem_move(p, c->trial, -1, c->back, c->trial);

    // the true one, on the same branch
    const bool loosely =
        to < 1 && c->at.nnull == 0; // what nothing resists is seen at equilibria only
    s = continuation_correct(c, to, loosely ? LOOSE * fmin(start, 1) : 0, MAX_ITER);
    if (s != SNW_OK) return s == SNW_E_STOPPED ? s : SNW_E_DIVERGED;
    const double passed = to - c->load;
    for (int i = 0; i < p->n; i++) c->moved[i] -= c->back[i];
    if (!solved && !(continuation_length(&c->at, c->moved) <= reach)) return SNW_E_DIVERGED;
    if (c->next.sign != c->at.sign && passed > CROSSING * to) return SNW_E_DIVERGED;

    c->rate = reach / passed;
    continuation_accept(c, to);
    *d = passed * fmin(fmax(THETA_AIM / theta, 0.5), GROWTH);
    return SNW_OK;
}

// One increment without prediction, for when a tangent says nothing of what comes: where it is
// singular, or where the equations have a kink (a tendon just coming taut). It may not move x
// wildly faster than the path did before: at a limit point that would be a jump to some other
// branch.
static snw_status leap(path *c, double *d) {
    const double to = c->load + *d < 1 ? c->load + *d : 1;
    const double passed = to - c->load;
    memcpy(c->trial, c->x, (size_t)c->p->nx * sizeof *c->x);
    *d *= 0.1;
    const snw_status s = continuation_correct(c, to, 0, MAX_ITER);
    if (s != SNW_OK) return s == SNW_E_STOPPED ? s : SNW_E_DIVERGED;
    const double way = continuation_length(&c->at, c->moved);
    if (c->rate > 0 && !(way <= LEAP_FACTOR * c->rate * passed)) return SNW_E_DIVERGED;

    c->rate = way / passed;
    continuation_accept(c, to);
    *d = passed * GROWTH;
    return SNW_OK;
}

// Bring the point we stand on to the tolerance asked for, or leave it.
static snw_status tighten(path *c) {
    c->loose = false;
    memcpy(c->trial, c->x, (size_t)c->p->nx * sizeof *c->x);
    const snw_status s = continuation_correct(c, c->load, 0, c->opts->newton.max_iter);
    if (s == SNW_OK) continuation_accept(c, c->load);
    return s == SNW_E_STOPPED ? s : SNW_OK;
}

// Hold neutral directions as `level` says, from the next tangent on: that of the point we stand on.
static snw_status continuation_hold(path *c, int level) {
    c->level = level;
    c->since = c->info->increments;
    c->own.softened = level > 0;
    for (int i = 0; i < c->p->n; i++) c->held[i] = HOLD_MORE[level] * c->hold[i];
    return tighten(c);
}

// From load to load 1 in increments. SNW_E_DIVERGED: no further than c->load. SNW_E_SINGULAR:
// without load nothing resists it.
static snw_status continuation_follow(path *c, bool (*stop)(void *user), void *stop_user) {
    double d = 1;
    bool leaping = c->at.sign == 0; // no tangent to follow
    while (c->load < 1) {
        if (c->info->increments == c->opts->max_increments) return SNW_E_DIVERGED;
        if (c->info->increments >= CRAWLING && c->load < CRAWLED) return SNW_E_DIVERGED;
        if (stop && stop(stop_user)) return SNW_E_STOPPED;
        if (c->level < c->most && c->info->increments >= c->since + SLOW) {
            SNW_TRY(continuation_hold(c, c->level + 1));
            d = 1 - c->load;
            leaping = c->at.sign == 0;
        }

        const snw_status s = leaping ? leap(c, &d) : continuation_step(c, &d);
        if (s == SNW_E_STOPPED || s == SNW_E_SINGULAR) return s;
        if (c->loose) SNW_TRY(tighten(c));
        if (s == SNW_OK) c->info->increments++;
        if (d < c->opts->smallest * fmax(c->load, c->opts->smallest)) {
            if (leaping && s != SNW_OK) {
                if (c->level == 0) return SNW_E_DIVERGED;
                c->most = 0; // what is held more resists where nothing should
                SNW_TRY(continuation_hold(c, 0));
            }
            leaping = true;
            d = c->load > 0 ? LEAP * c->load : LEAP;
        } else if (s == SNW_OK) {
            leaping = c->at.sign == 0;
        }
    }
    return SNW_OK;
}

size_t snw_continuation_scratch(int n, int nx) {
    const size_t pad = 64;
    return (size_t)(6 * n + nx) * sizeof(double) + 6 * pad + snw_tangent_scratch(n) +
           snw_tangent_scratch(n) + snw_newton_scratch(n, nx);
}

snw_status snw_continuation_solve(const snw_problem *p, const snw_continuation_opts *opts,
                                  bool (*stop)(void *user), void *stop_user, snw_arena *scratch,
                                  double *x, snw_continuation_info *info) {
    const size_t mark = snw_arena_mark(scratch);
    const size_t n = (size_t)p->n, nx = (size_t)p->nx;
    path c = {.own = *p, .hold = p->soft, .opts = opts, .scratch = scratch, .x = x, .info = info};
    c.p = &c.own;
    c.most = p->soft ? LEVELS : 0;
    c.at = snw_tangent_take(p->n, scratch);
    c.next = snw_tangent_take(p->n, scratch);
    c.at.sparse = p->sparse[0];
    c.next.sparse = p->sparse[1];
    c.held = snw_arena_doubles(scratch, n);
    if (p->soft) c.own.soft = memcpy(c.held, p->soft, n * sizeof *c.held);
    c.trial = snw_arena_doubles(scratch, nx);
    double *spare = snw_arena_doubles(scratch, 2 * n);
    c.dx = snw_arena_doubles(scratch, n);
    c.back = snw_arena_doubles(scratch, n);
    c.moved = snw_arena_doubles(scratch, n);
    *info = (snw_continuation_info){.residual = NAN};

    // the start; when it is no equilibrium under load 0, perhaps it is a guess for load 1
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
        // the nearest that was seen; fmin passes over what is not a number
        if (whole != SNW_OK) info->residual = fmin(none, c.left);
        goto done;
    }

    // stuck on the way: leave an equilibrium
    if (c.load < 1 && !(info->residual <= opts->newton.tol) && tighten(&c) == SNW_E_STOPPED)
        s = SNW_E_STOPPED;

done:
    info->reached = c.load;
    info->condition = snw_tangent_condition(&c.at, spare);
    snw_arena_reset(scratch, mark);
    return s;
}
