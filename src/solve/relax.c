// SPDX-License-Identifier: MIT
//
// Relaxation D x' = -r(x) with equal Runge-Kutta steps, for statics.

#include "solve/relax.h"

#include "solve/dense.h"

#include <math.h>
#include <string.h>

snw_relax_opts snw_relax_defaults(void) { return (snw_relax_opts){0}; }

size_t snw_relax_scratch(int n, int nx) {
    const size_t N = (size_t)n, pad = 64;
    return (N * N + 3 * N + (size_t)nx) * sizeof(double) + 5 * pad;
}

// the problem with factorised D
typedef struct flow {
    const snw_problem *p;
    const double *L;
} flow;

// k <- inv(D) r(x), minus the velocity; *residual <- norm of r
static snw_status descent(const flow *f, const double *x, double *k, double *residual) {
    const snw_status s = f->p->residual(f->p->user, 1, x, k);
    if (s != SNW_OK) return s;
    *residual = snw_problem_norm(f->p, k);
    if (!(*residual < INFINITY)) return SNW_E_DIVERGED;
    snw_cholesky_solve(f->p->n, f->L, k);
    return SNW_OK;
}

// out <- x after one step of the classical Runge-Kutta method with first stage k1. sum, k: n
// numbers of scratch
static snw_status runge_kutta(const flow *f, const double *x, const double *k1, double h,
                              double *sum, double *k, double *out) {
    const double reach[3] = {0.5, 0.5, 1}, weight[3] = {2, 2, 1};
    const size_t n = (size_t)f->p->n;
    double unused;
    memcpy(k, k1, n * sizeof *k);
    memcpy(sum, k1, n * sizeof *sum);
    for (int stage = 0; stage < 3; stage++) {
        snw_problem_move(f->p, x, -reach[stage] * h, k, out);
        const snw_status s = descent(f, out, k, &unused);
        if (s != SNW_OK) return s;
        for (size_t i = 0; i < n; i++) sum[i] += weight[stage] * k[i];
    }
    snw_problem_move(f->p, x, -h / 6, sum, out);
    return SNW_OK;
}

snw_status snw_relax(const snw_problem *p, const double *D, const snw_relax_opts *opts,
                     bool (*stop)(void *user), void *stop_user, snw_arena *scratch, double *x,
                     snw_relax_info *info) {
    *info = (snw_relax_info){.residual = NAN};
    const bool valid = opts->duration >= 0 && opts->duration < INFINITY && opts->step > 0;
    const double count = valid ? ceil(opts->duration / opts->step * (1 - 1e-12)) : 0;
    if (!valid || count > 1e9) return SNW_E_ARGUMENT;
    const int steps = (int)count;
    const double h = steps > 0 ? opts->duration / steps : 0;

    const size_t mark = snw_arena_mark(scratch);
    const size_t n = (size_t)p->n, nx = (size_t)p->nx;
    double *L = snw_arena_doubles(scratch, n * n);
    double *k1 = snw_arena_doubles(scratch, n);
    double *k = snw_arena_doubles(scratch, n);
    double *sum = snw_arena_doubles(scratch, n);
    double *next = snw_arena_doubles(scratch, nx);
    memcpy(L, D, n * n * sizeof *L);

    const flow f = {p, L};
    snw_status s = snw_cholesky_factor(p->n, L);
    if (s == SNW_OK) s = descent(&f, x, k1, &info->residual);
    while (s == SNW_OK && info->steps < steps && !(info->residual <= opts->tol)) {
        if (stop && stop(stop_user)) {
            s = SNW_E_STOPPED;
            break;
        }
        // a new x is accepted once its residual is known to be finite
        s = runge_kutta(&f, x, k1, h, sum, k, next);
        double residual = NAN;
        if (s == SNW_OK) s = descent(&f, next, k1, &residual);
        if (s != SNW_OK) break;
        memcpy(x, next, nx * sizeof *x);
        info->residual = residual;
        info->steps++;
        info->time = info->steps * h;
    }
    snw_arena_reset(scratch, mark);
    return s;
}
