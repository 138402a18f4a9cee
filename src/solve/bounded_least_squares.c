// SPDX-License-Identifier: MIT
//
// Least squares within bounds. The linear problem: an active set of bounds, as in Stark and Parker,
// Computational Statistics 10 (1995) 129-141, with rows that are kept. The nonlinear one: a
// sequence of linear ones in a box around the point, whose size follows the success of the steps.
#include "solve/bounded_least_squares.h"

#include "base/fail.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

// Steps that change |r|^2 by no more than rounding, after which no others are expected: those that
// were taken, and those that were not.
enum { FLAT_STEPS = 60, REFUSED_STEPS = 4 };

static const double independent = 1e-12, // singular value that counts, relative
    kept_rank = 1e-10,                   // row that counts among the kept ones, relative
    rounding = 1e-11,                    // gradient that counts as zero, relative to its terms
    damping = 1e-6,   // of unknowns, relative to the largest column of J squared, at |r| = 1
    at_bound = 1e-13, // distance from a bound, relative
    flat = 1e-9,     // fall of |r|^2 relative to it that rounding hides: steps are not judged by it
    shortest = 1e-9, // length of steps at which there is no way on
    no_gain = 1e-12, // change of |r|^2, or of the second goal, by rounding, relative
    most_part = 10,  // times a step to the least second goal
    straight_goal = 0.05, // factors this near to 1 are taken for it
    close_to_goal = 1e-6, // steps to the least second goal below which its changes are rounding
    skew = 1e-8;          // y's at which (5.14a) is not divided by it, relative to |y| |s|

// ---- linear -------------------------------------------------------------------------------------

size_t snw_bounded_linear_scratch(int n, int m, int nkept) {
    const size_t N = (size_t)n + 1, M = (size_t)m + 1, K = (size_t)nkept + 1;
    const size_t most = snw_minimum_norm_scratch(m, n) + snw_minimum_norm_scratch(n, nkept) +
                        snw_null_space_scratch(n, nkept);
    return (6 * N + 2 * M + 2 * K + 2 * M * N + 2 * N * K + N * N) * sizeof(double) +
           2 * N * sizeof(int) + most + 16 * 64;
}

// Active set of a linear problem; arrays from the arena.
typedef struct active_set {
    const snw_bounded_linear *p;
    snw_arena *scratch;
    double *x;
    int *held; // n: -1: at the lower bound, 1: at the upper one, 0: free
    int *free_of;
    int nfree;
    double *left;            // m: b - A x
    double *gradient, *size; // n: A'(A x - b) without what E takes, and the size of its terms
    double *step;            // n: of the free unknowns
    double *N, *E, *A, *y;   // directions that keep E x; scratch
} active_set;

static double *take(active_set *a, size_t n) { return snw_arena_doubles(a->scratch, n + 1); }

static void list_free(active_set *a) {
    a->nfree = 0;
    for (int i = 0; i < a->p->n; i++) {
        if (!a->held[i]) a->free_of[a->nfree++] = i;
    }
}

static void update_left(active_set *a) {
    const snw_bounded_linear *p = a->p;
    for (int k = 0; k < p->m; k++) a->left[k] = p->b[k];
    for (int i = 0; i < p->n; i++) {
        const double *column = p->A + (size_t)i * (size_t)p->m;
        for (int k = 0; k < p->m; k++) a->left[k] -= column[k] * a->x[i];
    }
}

// E (nfree x nkept) <- the kept rows on the free unknowns, as columns.
static void kept_columns(active_set *a) {
    const snw_bounded_linear *p = a->p;
    for (int k = 0; k < p->nkept; k++) {
        for (int j = 0; j < a->nfree; j++)
            a->E[(size_t)k * (size_t)a->nfree + (size_t)j] =
                p->E[(size_t)a->free_of[j] * (size_t)p->nkept + (size_t)k];
    }
}

// gradient <- A'(A x - b) - E'lambda, with lambda from the free unknowns.
static snw_status find_gradient(active_set *a) {
    const snw_bounded_linear *p = a->p;
    for (int i = 0; i < p->n; i++) {
        const double *column = p->A + (size_t)i * (size_t)p->m;
        a->gradient[i] = a->size[i] = 0;
        for (int k = 0; k < p->m; k++) {
            a->gradient[i] -= column[k] * a->left[k];
            a->size[i] += fabs(column[k]) * (fabs(a->left[k]) + fabs(p->b[k]));
        }
    }
    if (p->nkept == 0 || a->nfree == 0) return SNW_OK;
    kept_columns(a);
    for (int j = 0; j < a->nfree; j++) a->y[j] = a->gradient[a->free_of[j]];
    int rank = 0;
    SNW_TRY(snw_minimum_norm(a->nfree, p->nkept, a->E, kept_rank, a->scratch, a->y, &rank));
    for (int i = 0; i < p->n; i++) {
        for (int k = 0; k < p->nkept; k++) {
            const double term = p->E[(size_t)i * (size_t)p->nkept + (size_t)k] * a->y[k];
            a->gradient[i] -= term;
            a->size[i] += fabs(term);
        }
    }
    return SNW_OK;
}

// step (nfree) <- to the minimum with the present bounds held.
static snw_status find_step(active_set *a) {
    const snw_bounded_linear *p = a->p;
    const int nf = a->nfree;
    int n = nf, rank = 0;
    if (nf <= 0) return SNW_OK;
    if (p->nkept) {
        kept_columns(a);
        SNW_TRY(snw_null_space(nf, p->nkept, a->E, kept_rank, a->scratch, a->N, &rank));
        n = nf - rank;
    }
    for (int j = 0; j < n; j++) {
        double *to = a->A + (size_t)j * (size_t)p->m;
        memset(to, 0, (size_t)p->m * sizeof *to);
        for (int i = 0; i < nf; i++) {
            const double f = p->nkept ? a->N[(size_t)j * (size_t)nf + (size_t)i] : i == j;
            const double *column = p->A + (size_t)a->free_of[i] * (size_t)p->m;
            for (int k = 0; f != 0 && k < p->m; k++) to[k] += f * column[k];
        }
    }
    memset(a->step, 0, (size_t)nf * sizeof *a->step);
    if (n == 0) return SNW_OK;
    memcpy(a->y, a->left, (size_t)p->m * sizeof *a->y);
    SNW_TRY(snw_minimum_norm(p->m, n, a->A, independent, a->scratch, a->y, &rank));
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < nf; i++)
            a->step[i] += (p->nkept ? a->N[(size_t)j * (size_t)nf + (size_t)i] : i == j) * a->y[j];
    }
    return SNW_OK;
}

// x <- along the step to its end or to the first bound, which is then held. Is the end reached?
static bool go_along(active_set *a) {
    const snw_bounded_linear *p = a->p;
    double fraction = 1;
    int first = -1;
    for (int j = 0; j < a->nfree; j++) {
        const int i = a->free_of[j];
        const double d = a->step[j], room = d > 0 ? p->high[i] - a->x[i] : a->x[i] - p->low[i];
        if (fabs(d) * fraction > room) fraction = fmax(0, room / fabs(d)), first = j;
    }
    for (int j = 0; j < a->nfree; j++) {
        const int i = a->free_of[j];
        a->x[i] = fmin(fmax(a->x[i] + fraction * a->step[j], p->low[i]), p->high[i]);
    }
    if (first < 0) return true;
    const int i = a->free_of[first];
    a->held[i] = a->step[first] > 0 ? 1 : -1;
    a->x[i] = a->held[i] > 0 ? p->high[i] : p->low[i];
    list_free(a);
    return false;
}

// Bound that opposes the descent least sensibly: the one to free; -1: none.
static int bound_to_free(const active_set *a) {
    int worst = -1;
    double most = 0;
    for (int i = 0; i < a->p->n; i++) {
        if (!a->held[i] || !(a->p->low[i] < a->p->high[i])) continue;
        const double inward = a->held[i] * a->gradient[i]; // > 0: the minimum is inside
        if (inward > rounding * a->size[i] && inward > most) most = inward, worst = i;
    }
    return worst;
}

snw_status snw_bounded_linear_solve(const snw_bounded_linear *p, snw_arena *scratch, double *x,
                                    double *multiplier) {
    const size_t mark = snw_arena_mark(scratch);
    const size_t n = (size_t)p->n, m = (size_t)p->m, kept = (size_t)p->nkept;
    active_set a = {.p = p, .scratch = scratch, .x = x};
    a.left = take(&a, m);
    a.gradient = take(&a, n);
    a.size = take(&a, n);
    a.step = take(&a, n);
    a.N = take(&a, n * n);
    a.E = take(&a, n * kept);
    a.A = take(&a, m * n);
    a.y = take(&a, m + n + kept);
    a.held = snw_arena_ints(scratch, n + 1);
    a.free_of = snw_arena_ints(scratch, n + 1);
    for (int i = 0; i < p->n; i++) a.held[i] = x[i] <= p->low[i] ? -1 : x[i] >= p->high[i] ? 1 : 0;
    list_free(&a);
    snw_status s = SNW_OK;
    int left = 20 * p->n + 20;
    for (bool done = false; s == SNW_OK && !done; left--) {
        if (left == 0) s = SNW_E_DIVERGED;
        update_left(&a);
        if (s == SNW_OK) s = find_step(&a);
        if (s != SNW_OK || !go_along(&a)) continue;
        update_left(&a);
        s = find_gradient(&a);
        const int next = bound_to_free(&a);
        done = next < 0;
        if (done) continue;
        a.held[next] = 0;
        list_free(&a);
    }
    for (int i = 0; multiplier && i < p->n; i++)
        multiplier[i] = a.held[i] ? fmax(0, -a.held[i] * a.gradient[i]) : 0;
    snw_arena_reset(scratch, mark);
    return s;
}

// ---- nonlinear ----------------------------------------------------------------------------------

snw_bounded_opts snw_bounded_defaults(void) {
    return (snw_bounded_opts){.tol = 1e-12, .reached = 1e-13, .longest = 0.5, .max_iter = 200};
}

size_t snw_bounded_scratch(int n, int m) {
    const size_t N = (size_t)n + 1, M = (size_t)m + 1;
    const size_t first = snw_bounded_linear_scratch(n, m + n, 0),
                 second = snw_bounded_linear_scratch(n, n, m);
    return (18 * N + 5 * M + 4 * M * N + 7 * N * N) * sizeof(double) + 32 * 64 +
           (first > second ? first : second) + snw_eigen_symmetric_scratch(n);
}

// State of the iteration; arrays from the arena.
typedef struct bounded_search {
    const snw_bounded_problem *problem;
    const snw_least_squares *p;
    const snw_bounded_opts *opts;
    snw_bounded_info *info;
    snw_arena *scratch;
    double *x, *r, *J;                    // point, residuals and derivatives
    double *d, *low, *high;               // step and its bounds
    double *trial, *trial_r, *b;          // point at its end
    double *before, *before_r, *before_J; // point of the second goal
    double *last_x, *last_d;              // the one before, and its step to the least goal
    double *A;                            // (m + n) x n: damped system
    double *one;                          // n x n
    double *curvature;      // n x n: estimate of the sum of r_k times its second derivatives
    double *H, *B, *lambda; // n x n, n x n, n: eigenvalues of J'J + curvature
    double *slope, *change, *error; // n: J'r; of J'r, of it that the curvature should explain
    bool curved;                    // the next step is with the curvature
    double longest;                 // step of an unknown
} bounded_search;

static double half_square(int n, const double *r) { return 0.5 * snw_vector_dot(n, r, r); }

static double largest(int n, const double *x) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static snw_status evaluate(bounded_search *s, const double *x, double *r) {
    s->info->evaluations++;
    snw_status status = s->p->residual(s->p->user, x, r);
    if (status == SNW_OK && !isfinite(half_square(s->p->m, r))) status = SNW_E_DIVERGED;
    s->info->failures += status != SNW_OK;
    return status;
}

static snw_status derive(bounded_search *s) { return s->p->derivative(s->p->user, s->x, s->J); }

// low, high <- bounds of a step from x, no longer than `longest`.
static void bound_step(bounded_search *s, double step) {
    for (int i = 0; i < s->p->n; i++) {
        s->low[i] = fmin(0, fmax(s->problem->low[i] - s->x[i], -step));
        s->high[i] = fmax(0, fmin(s->problem->high[i] - s->x[i], step));
    }
}

// trial <- x + d, exactly on the bounds that hold.
static void move(bounded_search *s) {
    for (int i = 0; i < s->p->n; i++) {
        const double low = s->problem->low[i], high = s->problem->high[i];
        s->trial[i] = fmin(fmax(s->x[i] + s->d[i], low), high);
        if (s->d[i] <= low - s->x[i]) s->trial[i] = low;
        if (s->d[i] >= high - s->x[i]) s->trial[i] = high;
    }
}

// Weight of |d|^2 in both kinds of steps: unknowns that hardly change r are damped as long as r is
// large; it vanishes with r.
static double damping_of(const bounded_search *s) {
    const int m = s->p->m;
    double largest_column = 0;
    for (int i = 0; i < s->p->n; i++) {
        const double *column = s->J + (size_t)i * (size_t)m;
        largest_column = fmax(largest_column, snw_vector_dot(m, column, column));
    }
    return damping * fmin(1, sqrt(2 * half_square(m, s->r))) * largest_column;
}

// d <- minimum of |A d - b|^2 within the bounds, A (rows x n) and b those of s.
static snw_status bounded_step(bounded_search *s, int rows) {
    bound_step(s, s->longest);
    memset(s->d, 0, (size_t)s->p->n * sizeof *s->d);
    const snw_bounded_linear linear = {
        .n = s->p->n, .m = rows, .A = s->A, .b = s->b, .low = s->low, .high = s->high};
    return snw_bounded_linear_solve(&linear, s->scratch, s->d, NULL);
}

// d <- Gauss-Newton step within the bounds: minimum of |J d + r|^2 + mu |d|^2. A zero slope gives
// d = 0 with any mu.
static snw_status gauss_newton(bounded_search *s) {
    const int n = s->p->n, m = s->p->m, rows = m + n;
    const double weight = sqrt(damping_of(s));
    for (int i = 0; i < n; i++) {
        double *to = s->A + (size_t)i * (size_t)rows;
        memcpy(to, s->J + (size_t)i * (size_t)m, (size_t)m * sizeof *to);
        for (int k = 0; k < n; k++) to[m + k] = k == i ? weight : 0;
    }
    for (int k = 0; k < rows; k++) s->b[k] = k < m ? -s->r[k] : 0;
    return bounded_step(s, rows);
}

// slope <- J'r with another r and the present J.
static void slope_of(const bounded_search *s, const double *r, double *slope) {
    for (int i = 0; i < s->p->n; i++)
        slope[i] = snw_vector_dot(s->p->m, s->J + (size_t)i * (size_t)s->p->m, r);
}

// d <- step with the curvature of r: minimum of d'(J'J + S)d/2 + (J'r)'d, with the magnitudes of
// negative eigenvalues; as least squares in the axes of its eigenvectors.
static snw_status curved_step(bounded_search *s) {
    const int n = s->p->n, m = s->p->m;
    const double least = damping_of(s);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            const double *a = s->J + (size_t)i * (size_t)m, *b = s->J + (size_t)k * (size_t)m;
            s->H[i * n + k] = snw_vector_dot(m, a, b) + s->curvature[i * n + k];
            s->B[i * n + k] = i == k;
        }
    }
    SNW_TRY(snw_eigen_symmetric(n, s->H, s->B, true, s->scratch, s->lambda));
    slope_of(s, s->r, s->slope);
    for (int k = 0; k < n; k++) {
        const double root = sqrt(fmax(fabs(s->lambda[k]), least));
        const double *axis = s->H + (size_t)k * (size_t)n;
        for (int i = 0; i < n; i++) s->A[(size_t)i * (size_t)n + (size_t)k] = root * axis[i];
        s->b[k] = -snw_vector_dot(n, axis, s->slope) / root;
    }
    return bounded_step(s, n);
}

// d'S d/2, the share of the curvature in |r|^2/2 after d.
static double curvature_along(const bounded_search *s, const double *d) {
    const int n = s->p->n;
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += 0.5 * d[i] * snw_vector_dot(n, s->curvature + (size_t)i * (size_t)n, d);
    return sum;
}

// Fall of |r|^2/2 after d by r + J d.
static double linear_fall(bounded_search *s) {
    const int n = s->p->n, m = s->p->m;
    for (int k = 0; k < m; k++) s->b[k] = -s->r[k];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < m; k++) s->b[k] -= s->J[(size_t)i * (size_t)m + (size_t)k] * s->d[i];
    }
    return half_square(m, s->r) - half_square(m, s->b);
}

// The curvature <- after the step d, with J at its end and `slope` = J'r with the J before: the
// update of Dennis, Gay and Welsch. theory.md (5.14a)
static void update_curvature(bounded_search *s) {
    const int n = s->p->n;
    double *const S = s->curvature;
    // here `change` is J_before' r_before and `slope` J_before' r_after
    for (int i = 0; i < n; i++) {
        const double after = snw_vector_dot(s->p->m, s->J + (size_t)i * (size_t)s->p->m, s->r);
        s->change[i] = after - s->change[i];
        s->error[i] = after - s->slope[i];
    }
    const double length = snw_vector_dot(n, s->d, s->d), along = snw_vector_dot(n, s->change, s->d),
                 explained = snw_vector_dot(n, s->error, s->d);
    const double size = sqrt(length * snw_vector_dot(n, s->change, s->change));
    if (!(along > skew * size) || !(size > 0)) return;
    const double now = fabs(2 * curvature_along(s, s->d));
    const double shrink = now > fabs(explained) ? fabs(explained) / now : 1;
    for (int i = 0; i < n * n; i++) S[i] *= shrink;
    for (int i = 0; i < n; i++) s->error[i] -= snw_vector_dot(n, S + (size_t)i * (size_t)n, s->d);
    const double rest = snw_vector_dot(n, s->error, s->d) / (along * along);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++)
            S[i * n + k] += (s->error[i] * s->change[k] + s->change[i] * s->error[k]) / along -
                            rest * s->change[i] * s->change[k];
    }
}

// x, r, J <- at the trial point, where the residual was evaluated last; the curvature <- there.
static snw_status accept(bounded_search *s) {
    slope_of(s, s->r, s->change);
    slope_of(s, s->trial_r, s->slope);
    for (int i = 0; i < s->p->n; i++) s->d[i] = s->trial[i] - s->x[i];
    memcpy(s->x, s->trial, (size_t)s->p->n * sizeof *s->x);
    memcpy(s->r, s->trial_r, (size_t)s->p->m * sizeof *s->r);
    SNW_TRY(derive(s));
    update_curvature(s);
    return SNW_OK;
}

static bool is_final(snw_status s) { return s == SNW_E_STOPPED || s == SNW_E_MEMORY; }

// x <- minimum of |r|^2 within the bounds, from x with its r and J. Each step is that of the model,
// with or without the curvature, which foretold the fall in the last one better.
static snw_status first_goal(bounded_search *s) {
    const int n = s->p->n, m = s->p->m;
    int patience = s->opts->max_iter, in_rounding = 0, refused = 0;
    s->longest = s->opts->longest;
    s->curved = false;
    memset(s->curvature, 0, (size_t)(n * n) * sizeof *s->curvature);
    while (largest(m, s->r) > s->opts->reached) {
        SNW_TRY(s->curved ? curved_step(s) : gauss_newton(s));
        const double straight = linear_fall(s), bent = straight - curvature_along(s, s->d);
        const double fall = s->curved ? bent : straight;
        const double length = largest(n, s->d), now = half_square(m, s->r);
        if (patience-- == 0 || s->longest < shortest) return SNW_E_DIVERGED;
        if (length <= s->opts->tol * fmax(1, largest(n, s->x))) return SNW_OK;
        s->info->iterations++;
        move(s);
        const snw_status status = evaluate(s, s->trial, s->trial_r);
        if (is_final(status)) return status;
        const double gain = status == SNW_OK ? now - half_square(m, s->trial_r) : -INFINITY;
        const bool hidden = fabs(fall) <= flat * now; // by rounding
        if (status == SNW_OK && !hidden) s->curved = fabs(gain - bent) < fabs(gain - straight);
        if ((fall > 0 && gain > 1e-3 * fall) || (hidden && gain >= -no_gain * now)) {
            SNW_TRY(accept(s));
            if (hidden && ++in_rounding == FLAT_STEPS) return SNW_OK; // in weak directions
            if (gain > 0.75 * fall && length > 0.9 * s->longest) s->longest *= 2;
            if (!hidden && gain < 0.25 * fall) s->longest = 0.5 * length;
            continue;
        }
        const bool close = hidden || largest(m, s->r) <= 1e3 * s->opts->reached;
        if (close && status == SNW_OK && ++refused == REFUSED_STEPS) return SNW_OK;
        if (hidden) s->curved = !s->curved;
        s->longest = 0.25 * length;
    }
    return SNW_OK;
}

static double goal_of(const bounded_search *s, const double *x) {
    double sum = 0;
    for (int i = 0; i < s->p->n; i++) {
        const double d = x[i] - s->problem->rest[i];
        sum += 0.5 * d * d;
    }
    return sum;
}

// d <- step to the least |x + d - rest|^2 with J d = 0, within the bounds.
static snw_status rest_step(bounded_search *s, double *multiplier) {
    const int n = s->p->n;
    bound_step(s, INFINITY);
    for (int i = 0; i < n; i++) s->b[i] = s->problem->rest[i] - s->x[i];
    memset(s->d, 0, (size_t)n * sizeof *s->d);
    const snw_bounded_linear linear = {.n = n,
                                       .m = n,
                                       .A = s->one,
                                       .b = s->b,
                                       .nkept = s->p->m,
                                       .E = s->J,
                                       .low = s->low,
                                       .high = s->high};
    return snw_bounded_linear_solve(&linear, s->scratch, s->d, multiplier);
}

static void keep_point(bounded_search *s, bool back) {
    const size_t n = (size_t)s->p->n, m = (size_t)s->p->m;
    double *const now[] = {s->x, s->r, s->J}, *const kept[] = {s->before, s->before_r, s->before_J};
    const size_t size[] = {n, m, m * n};
    for (int i = 0; i < 3; i++)
        memcpy(back ? now[i] : kept[i], back ? kept[i] : now[i], size[i] * sizeof(double));
}

// d <- times the factor by which the last two points say that it is too long or too short (Barzilai
// and Borwein 1988), within the bounds: d is minus the slope of the goal along the minima of the
// first one, which curve.
static void scale_rest_step(bounded_search *s) {
    double ss = 0, sy = 0, room = INFINITY;
    for (int i = 0; i < s->p->n; i++) {
        const double moved = s->x[i] - s->last_x[i];
        ss += moved * moved;
        sy += moved * (s->last_d[i] - s->d[i]);
        if (s->d[i] != 0) room = fmin(room, (s->d[i] > 0 ? s->high[i] : s->low[i]) / s->d[i]);
    }
    const double part = fmin(fmin(ss / sy, most_part), fmax(room, 1));
    if (!(sy > 0) || fabs(part - 1) < straight_goal) return;
    for (int i = 0; i < s->p->n; i++) s->d[i] *= part;
}

// x <- minimum of |x - rest|^2 among the minima of the first goal: steps that keep r to first
// order, each followed by the first goal.
static snw_status second_goal(bounded_search *s) {
    const int n = s->p->n, m = s->p->m;
    const size_t bytes = (size_t)n * sizeof *s->d;
    double step = s->opts->longest, last = INFINITY;
    for (int left = s->opts->max_iter, known = 0; left > 0; left--) {
        SNW_TRY(rest_step(s, NULL));
        memcpy(s->trial, s->d, bytes);
        if (known) scale_rest_step(s);
        memcpy(s->last_x, s->x, bytes);
        memcpy(s->last_d, s->trial, bytes);
        double length = largest(n, s->d);
        const double size = fmax(1, largest(n, s->x));
        for (int i = 0; i < n && length > step; i++) s->d[i] *= step / length;
        length = fmin(length, step);
        // the goal is flat where steps are short: there it is enough that their length falls
        const bool near = length <= close_to_goal * size && length < 0.7 * last;
        if (length <= (near ? 1 : 1e3) * s->opts->tol * size) return SNW_OK;
        last = length;
        const double goal = goal_of(s, s->x), first = half_square(m, s->r);
        keep_point(s, false);
        move(s);
        s->info->iterations++;
        snw_status status = evaluate(s, s->trial, s->trial_r);
        if (is_final(status)) return status;
        if (status == SNW_OK) {
            SNW_TRY(accept(s));
            status = first_goal(s);
            if (is_final(status)) return status;
        }
        const double worse = half_square(m, s->r) - first;
        const double enough = 1e6 * s->opts->reached * s->opts->reached;
        const double bound = near ? goal + no_gain * fmax(goal, 1) : goal;
        if (status == SNW_OK && goal_of(s, s->x) < bound && worse <= enough + 1e-8 * first) {
            known = 1;
            if (length > 0.9 * step) step *= 2;
            continue;
        }
        // a point that is not taken tells how the goal curves all the same
        known = status == SNW_OK;
        if (known) SNW_TRY(rest_step(s, NULL));
        memcpy(s->last_x, s->x, bytes);
        memcpy(s->last_d, s->d, bytes);
        keep_point(s, true); // the caller's robot is brought back by the next evaluation
        step = 0.25 * length;
        if (step < 1e-7) return SNW_OK; // no further gain that rounding does not hide
    }
    return SNW_OK;
}

// One more step to the first goal, which the last step to the second one has left by rounding.
static snw_status polish(bounded_search *s) {
    const double now = largest(s->p->m, s->r);
    if (now <= s->opts->reached || now > 1e3 * s->opts->reached) return SNW_OK;
    s->longest = s->opts->longest;
    SNW_TRY(gauss_newton(s));
    move(s);
    const snw_status status = evaluate(s, s->trial, s->trial_r);
    if (is_final(status)) return status;
    return status == SNW_OK && largest(s->p->m, s->trial_r) < now ? accept(s) : SNW_OK;
}

static void first_multipliers(const bounded_search *s, double *multiplier) {
    const int n = s->p->n, m = s->p->m;
    for (int i = 0; i < n; i++) {
        const double g = snw_vector_dot(m, s->J + (size_t)i * (size_t)m, s->r);
        const double near = at_bound * fmax(1, fabs(s->x[i]));
        const bool low = s->x[i] <= s->problem->low[i] + near,
                   high = s->x[i] >= s->problem->high[i] - near;
        multiplier[i] = (low && g > 0) || (high && g < 0) ? fabs(g) : 0;
    }
}

snw_status snw_bounded_least_squares(const snw_bounded_problem *problem,
                                     const snw_bounded_opts *opts, snw_arena *scratch, double *x,
                                     double *r, double *J, double *multiplier,
                                     double *goal_multiplier, snw_bounded_info *info) {
    const size_t n = (size_t)problem->p->n, m = (size_t)problem->p->m;
    const size_t mark = snw_arena_mark(scratch);
    *info = (snw_bounded_info){0};
    bounded_search s = {.problem = problem,
                        .p = problem->p,
                        .opts = opts,
                        .info = info,
                        .scratch = scratch,
                        .x = x,
                        .r = r,
                        .J = J};
    double **const line[] = {&s.d, &s.low, &s.high, &s.trial, &s.before, &s.last_x, &s.last_d};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        *line[i] = snw_arena_doubles(scratch, n + 1);
    s.b = snw_arena_doubles(scratch, n + m + 1);
    s.trial_r = snw_arena_doubles(scratch, m + 1);
    s.before_r = snw_arena_doubles(scratch, m + 1);
    s.before_J = snw_arena_doubles(scratch, m * n + 1);
    s.A = snw_arena_doubles(scratch, (m + n) * n + 1);
    s.one = snw_arena_doubles(scratch, n * n + 1);
    s.curvature = snw_arena_doubles(scratch, n * n + 1);
    s.H = snw_arena_doubles(scratch, n * n + 1);
    s.B = snw_arena_doubles(scratch, n * n + 1);
    double **const more[] = {&s.lambda, &s.slope, &s.change, &s.error};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        *more[i] = snw_arena_doubles(scratch, n + 1);
    for (size_t i = 0; i < n * n; i++) s.one[i] = i % (n + 1) == 0;
    memset(goal_multiplier, 0, n * sizeof *goal_multiplier);
    memset(multiplier, 0, n * sizeof *multiplier);
    snw_status status = evaluate(&s, x, r);
    if (status == SNW_OK) status = derive(&s);
    if (status == SNW_OK) status = first_goal(&s);
    if (status == SNW_OK && problem->rest) {
        status = second_goal(&s);
        if (status == SNW_OK) status = polish(&s);
        if (status == SNW_OK) status = rest_step(&s, goal_multiplier);
    }
    if (status == SNW_OK) first_multipliers(&s, multiplier);
    snw_arena_reset(scratch, mark);
    return status;
}
