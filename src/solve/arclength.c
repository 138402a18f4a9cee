// SPDX-License-Identifier: MIT
//
// Pseudo-arc-length continuation: the system bordered by a plane, Newton's corrector in it, tangent
// and null vectors. theory.md 5.3
#include "solve/arclength.h"

#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum { MOST_ITERATIONS = 15 };

static const double LEAST_STEP = 1e-7;
static const double AIM = 4;                          // iterations of the corrector
static const double LARGEST_COS = 0.9659258262890683; // of the angle between tangents, 15 degrees
static const double EASY_COS = 0.9961946980917455;    // 5 degrees: the step may grow

// Ratio of pivots below which the bordered matrix counts as singular.
static const double SINGULAR = 1e-12;
// Singular values below this count as zero in a solution of minimum norm.
static const double RANK = 1e-9;
// Residual that is rounding where no iteration reduces it, or one that moves the point by no more
// than NEGLIGIBLE sizes.
static const double STAGNANT = 1e-10;
static const double NEGLIGIBLE = 1e-12;

double snw_arclength_dot(const snw_path_problem *p, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i <= p->n; i++) sum += p->weight[i] * (a[i] / p->size[i]) * (b[i] / p->size[i]);
    return sum;
}

double snw_arclength_normalise(const snw_path_problem *p, double *direction) {
    const double norm = sqrt(snw_arclength_dot(p, direction, direction));
    for (int i = 0; i <= p->n; i++) direction[i] /= norm;
    return norm;
}

void snw_arclength_move(const snw_path_problem *p, const double *point, double distance,
                        const double *direction, double *out) {
    const double parameter = point[p->nx] + distance * direction[p->n];
    p->move(p->user, point, distance, direction, out);
    out[p->nx] = parameter;
}

// Scratch of one solution: residual, matrices with one row and column more, factors.
typedef struct bordered_system {
    double *r, *J, *r_p; // equations
    double *B, *copy;    // n + 1 square, scaled: [J r_p; normal']
    double *y;           // n + 1
    double *U, *S, *Vt;  // singular values
    int *pivot;
} bordered_system;

size_t snw_arclength_scratch(int n) {
    const size_t N = (size_t)n + 1, pad = 64;
    const size_t doubles = 5 * N * N + 5 * N;
    size_t most = snw_minimum_norm_scratch(n + 1, n + 1);
    if (most < snw_svd_scratch(n + 1, n + 1)) most = snw_svd_scratch(n + 1, n + 1);
    return doubles * sizeof(double) + N * sizeof(int) + 12 * pad + most;
}

static bordered_system bordered_take(int n, snw_arena *scratch) {
    const size_t N = (size_t)n + 1;
    bordered_system b;
    b.J = snw_arena_doubles(scratch, N * N);
    b.B = snw_arena_doubles(scratch, N * N);
    b.copy = snw_arena_doubles(scratch, N * N);
    b.U = snw_arena_doubles(scratch, N * N);
    b.Vt = snw_arena_doubles(scratch, N * N);
    b.r = snw_arena_doubles(scratch, N);
    b.r_p = snw_arena_doubles(scratch, N);
    b.y = snw_arena_doubles(scratch, N);
    b.S = snw_arena_doubles(scratch, 2 * N);
    b.pivot = snw_arena_ints(scratch, N);
    return b;
}

// Largest scaled residual; NaN if one is.
static double arclength_norm(const snw_path_problem *p, const double *r) {
    double most = 0;
    for (int i = 0; i < p->n; i++) {
        const double size = fabs(r[i]) / p->scale[i];
        if (!(size <= most)) most = size;
    }
    return most;
}

// b->B <- [J r_p] with rows divided by scales and columns multiplied by sizes; n + 1 rows apart
static void fill_rows(const snw_path_problem *p, bordered_system *b) {
    const size_t n = (size_t)p->n, ld = n + 1;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++)
            b->B[j * ld + i] = b->J[j * n + i] * p->size[j] / p->scale[i];
    }
    for (size_t i = 0; i < n; i++) b->B[n * ld + i] = b->r_p[i] * p->size[n] / p->scale[i];
}

// The last row of b->B <- the plane normal to a direction; then the factors, in b->copy.
static snw_status factor_bordered(const snw_path_problem *p, const double *normal,
                                  bordered_system *b) {
    const size_t n = (size_t)p->n, ld = n + 1;
    for (size_t j = 0; j <= n; j++) b->B[j * ld + n] = p->weight[j] * normal[j] / p->size[j];
    memcpy(b->copy, b->B, ld * ld * sizeof *b->B);
    const snw_status s = snw_lu_factor(p->n + 1, b->copy, b->pivot);
    double least = INFINITY, most = 0;
    for (size_t i = 0; i <= n; i++) {
        const double pivot = fabs(b->copy[i * (ld + 1)]);
        least = fmin(least, pivot);
        most = fmax(most, pivot);
    }
    return s == SNW_OK && least > SINGULAR * most ? SNW_OK : SNW_E_SINGULAR;
}

// b->y <- solution for the right-hand side b->y with the matrix b->B, in increments
static snw_status solve_bordered(const snw_path_problem *p, const double *normal,
                                 bordered_system *b, snw_arena *scratch) {
    if (factor_bordered(p, normal, b) == SNW_OK) {
        snw_lu_solve(p->n + 1, b->copy, b->pivot, b->y);
    } else {
        int rank;
        const size_t N = (size_t)p->n + 1;
        memcpy(b->copy, b->B, N * N * sizeof *b->B);
        const snw_status s =
            snw_minimum_norm(p->n + 1, p->n + 1, b->copy, RANK, scratch, b->y, &rank);
        if (s != SNW_OK) return s;
    }
    for (int i = 0; i <= p->n; i++) b->y[i] *= p->size[i];
    return SNW_OK;
}

static snw_status arclength_newton(const snw_path_problem *p, const double *normal,
                                   double tolerance, bordered_system *b, snw_arena *scratch,
                                   double *point, snw_arclength_info *info) {
    double before = INFINITY, moved = INFINITY;
    for (int k = 0; k <= MOST_ITERATIONS; k++) {
        snw_status s = p->equations(p->user, point, b->r, b->J, b->r_p);
        if (s != SNW_OK) return s;
        const double residual = arclength_norm(p, b->r);
        *info = (snw_arclength_info){.iterations = k, .residual = residual};
        if (residual <= tolerance) return SNW_OK;
        const int stalled = !(residual < 0.5 * before);
        if (stalled && (residual <= STAGNANT || moved <= NEGLIGIBLE)) return SNW_OK;
        // one rise is allowed: the first steps on a strongly curved path
        if (!(residual < INFINITY) || (stalled && k > 3) || k == MOST_ITERATIONS) break;
        before = residual;
        fill_rows(p, b);
        for (int i = 0; i < p->n; i++) b->y[i] = -b->r[i] / p->scale[i];
        b->y[p->n] = 0;
        s = solve_bordered(p, normal, b, scratch);
        if (s != SNW_OK) return s;
        snw_arclength_move(p, point, 1, b->y, point);
        moved = sqrt(snw_arclength_dot(p, b->y, b->y));
    }
    return SNW_E_DIVERGED;
}

snw_status snw_arclength_correct(const snw_path_problem *p, const double *normal, double tolerance,
                                 snw_arena *scratch, double *point, snw_arclength_info *info) {
    const size_t mark = snw_arena_mark(scratch);
    bordered_system b = bordered_take(p->n, scratch);
    const snw_status s = arclength_newton(p, normal, tolerance, &b, scratch, point, info);
    snw_arena_reset(scratch, mark);
    return s;
}

snw_status snw_arclength_tangent(const snw_path_problem *p, const double *point, const double *like,
                                 snw_arena *scratch, double *tangent, int *sign) {
    const size_t mark = snw_arena_mark(scratch);
    bordered_system b = bordered_take(p->n, scratch);
    snw_status s = p->equations(p->user, point, b.r, b.J, b.r_p);
    if (s == SNW_OK) {
        fill_rows(p, &b);
        memset(b.y, 0, (size_t)p->n * sizeof *b.y);
        b.y[p->n] = 1;
        s = solve_bordered(p, like, &b, scratch);
    }
    if (s == SNW_OK) {
        // like' tangent > 0, so that the sign of the determinant is the same with either as the row
        memcpy(tangent, b.y, ((size_t)p->n + 1) * sizeof *tangent);
        if (!(snw_arclength_normalise(p, tangent) > 0)) s = SNW_E_SINGULAR;
        if (sign) {
            *sign =
                factor_bordered(p, like, &b) == SNW_OK ? snw_lu_sign(p->n + 1, b.copy, b.pivot) : 0;
        }
    }
    snw_arena_reset(scratch, mark);
    return s;
}

snw_status snw_arclength_advance(const snw_path_problem *p, const double *a, const double *tangent,
                                 double longest, double tolerance, snw_arena *scratch, double *step,
                                 double *length, double *b, double *b_tangent, int *sign,
                                 snw_arclength_info *info) {
    for (;;) {
        *length = *step;
        snw_arclength_move(p, a, *length, tangent, b);
        snw_status s = snw_arclength_correct(p, tangent, tolerance, scratch, b, info);
        if (s == SNW_OK) s = snw_arclength_tangent(p, b, tangent, scratch, b_tangent, sign);
        if (s != SNW_OK && s != SNW_E_DIVERGED && s != SNW_E_SINGULAR) return s;
        const double along = s == SNW_OK ? snw_arclength_dot(p, tangent, b_tangent) : 0;
        if (s == SNW_OK && (along >= LARGEST_COS || *length < 100 * LEAST_STEP)) {
            const double easy = pow(2, (AIM - info->iterations) / 3);
            const double straight = along > EASY_COS ? 2 : 0.9;
            *step = fmin(longest, *length * fmin(fmax(fmin(easy, straight), 0.5), 2));
            return SNW_OK;
        }
        if (*length < LEAST_STEP) return SNW_E_DIVERGED;
        *step = 0.5 * *length;
    }
}

snw_status snw_arclength_null(const snw_path_problem *p, const double *point, snw_arena *scratch,
                              double *phi, double *psi, double *psi_p) {
    const size_t mark = snw_arena_mark(scratch), n = (size_t)p->n;
    bordered_system b = bordered_take(p->n, scratch);
    snw_status s = p->equations(p->user, point, b.r, b.J, b.r_p);
    if (s == SNW_OK) {
        for (size_t j = 0; j < n; j++) {
            for (size_t i = 0; i < n; i++)
                b.copy[j * n + i] = b.J[j * n + i] * p->size[j] / p->scale[i];
        }
        s = snw_svd(p->n, p->n, b.copy, scratch, b.U, b.S, b.Vt);
    }
    if (s == SNW_OK) {
        double most = 0;
        for (size_t i = 0; i < n; i++) most = fmax(most, fabs(b.U[(n - 1) * n + i]));
        *psi_p = 0;
        for (size_t i = 0; i < n; i++) {
            phi[i] = b.Vt[i * n + n - 1] * p->size[i];
            psi[i] = b.U[(n - 1) * n + i] / (most * p->scale[i]);
            *psi_p += psi[i] * b.r_p[i];
        }
    }
    snw_arena_reset(scratch, mark);
    return s;
}

snw_status snw_arclength_switch(const snw_path_problem *p, const double *point,
                                const double *tangent, snw_arena *scratch, double *other) {
    const size_t mark = snw_arena_mark(scratch), n = (size_t)p->n, ld = n + 1;
    bordered_system b = bordered_take(p->n, scratch);
    snw_status s = p->equations(p->user, point, b.r, b.J, b.r_p);
    if (s == SNW_OK) {
        // the row of the tangent makes a regular matrix of [J r_p] where it has full rank: the
        // direction left is the one that it does not determine
        fill_rows(p, &b);
        for (size_t j = 0; j <= n; j++) b.B[j * ld + n] = p->weight[j] * tangent[j] / p->size[j];
        s = snw_svd(p->n + 1, p->n + 1, b.B, scratch, b.U, b.S, b.Vt);
    }
    if (s == SNW_OK) {
        // the sign of a singular vector is arbitrary: its largest component is made positive
        double most = 0;
        for (size_t i = 0; i <= n; i++) {
            if (fabs(b.Vt[i * ld + n]) > fabs(most)) most = b.Vt[i * ld + n];
        }
        for (size_t i = 0; i <= n; i++)
            other[i] = copysign(1, most) * b.Vt[i * ld + n] * p->size[i];
        if (!(snw_arclength_normalise(p, other) > 0)) s = SNW_E_SINGULAR;
    }
    snw_arena_reset(scratch, mark);
    return s;
}
