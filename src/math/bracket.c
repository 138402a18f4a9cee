// SPDX-License-Identifier: MIT
//
// Automatic differentiation of lists of sums and brackets, for the rules of munthe_kaas.c. Forward:
// values v_k and, for one strain at a time, blocks N_k = dv_k/dxi_c. Backward: wrenches
// F_k = (dW/dv_k)' F; those of the arguments of a bracket [a, b] are -ad_b' F and ad_a' F. Brackets
// are the only nonlinear steps: each adds V + V', V = N_b' F^ N_a, to the Hessian.
#include "math/bracket.h"

#include "base/fail.h"
#include "math/dual.h"

#include <stdbool.h>
#include <string.h>

enum { MOST = SNW_BRACKETS_MOST, POINTS = SNW_MAGNUS_POINTS };

// ---- construction ------------------------------------------------------------------------------

snw_status snw_brackets_begin(snw_pool *pool, int nc, int most, snw_brackets *out) {
    *out = (snw_brackets){.nc = nc, .n = nc, .most = most};
    out->step = snw_pool_array(pool, MOST, sizeof *out->step);
    out->of = snw_pool_array(pool, (size_t)most, sizeof *out->of);
    out->weight = snw_pool_array(pool, (size_t)most, sizeof *out->weight);
    return out->step && out->of && out->weight ? SNW_OK : SNW_E_MEMORY;
}

int snw_brackets_sum(snw_brackets *p, int n, const int *of, const double *weight) {
    SNW_ASSERT(p->n < MOST && p->nterm + n <= p->most);
    snw_bracket_step *s = &p->step[p->n];
    *s = (snw_bracket_step){.a = -1, .b = -1, .first = p->nterm};
    for (int i = 0; i < n; i++) {
        if (weight[i] == 0) continue;
        p->of[p->nterm] = of[i];
        p->weight[p->nterm++] = weight[i];
        s->nterm++;
    }
    return p->n++;
}

int snw_brackets_bracket(snw_brackets *p, int a, int b) {
    SNW_ASSERT(p->n < MOST && a < p->n && b < p->n);
    p->step[p->n] = (snw_bracket_step){.a = a, .b = b};
    return p->n++;
}

// ---- values ------------------------------------------------------------------------------------

// v[k] <- value and rates of step k
static void bracket_evaluate(const snw_brackets *p, int levels, double h,
                             const snw_twist *const *xi, snw_twist (*v)[3]) {
    for (int k = 0; k < p->nc; k++) {
        for (int l = 0; l < levels; l++) v[k][l] = snw_twist_scale(h, xi[l][k]);
    }
    for (int k = p->nc; k < p->n; k++) {
        const snw_bracket_step *s = &p->step[k];
        if (s->a >= 0) {
            snw_dual_bracket_jet(levels, v[s->a], v[s->b], v[k]);
            continue;
        }
        for (int l = 0; l < levels; l++) v[k][l] = (snw_twist){0};
        for (int i = s->first; i < s->first + s->nterm; i++) {
            const snw_twist *x = v[p->of[i]];
            for (int l = 0; l < levels; l++) v[k][l] = snw_twist_axpy(p->weight[i], x[l], v[k][l]);
        }
    }
}

void snw_brackets_rates(const snw_brackets *p, int levels, double h, const snw_twist *const *xi,
                        snw_twist *W) {
    snw_twist v[MOST][3];
    bracket_evaluate(p, levels, h, xi, v);
    for (int l = 0; l < levels; l++) W[l] = v[p->n - 1][l];
}

// ---- wrenches ----------------------------------------------------------------------------------

// F_k <- wrenches conjugate to all steps, from that of the last one
static void pull_back_wrenches(const snw_brackets *p, snw_twist (*v)[3], snw_wrench F,
                               snw_wrench *F_k) {
    for (int k = 0; k < p->n; k++) F_k[k] = (snw_wrench){0};
    F_k[p->n - 1] = F;
    for (int k = p->n - 1; k >= p->nc; k--) {
        const snw_bracket_step *s = &p->step[k];
        if (s->a >= 0) {
            F_k[s->a] = snw_wrench_sub(F_k[s->a], snw_ad_pull(v[s->b][0], F_k[k]));
            F_k[s->b] = snw_wrench_add(F_k[s->b], snw_ad_pull(v[s->a][0], F_k[k]));
        }
        for (int i = s->first; s->a < 0 && i < s->first + s->nterm; i++) {
            F_k[p->of[i]] = snw_wrench_axpy(p->weight[i], F_k[k], F_k[p->of[i]]);
        }
    }
}

void snw_brackets_pull(const snw_brackets *p, double h, const snw_twist *xi, snw_wrench F,
                       snw_wrench *F_c) {
    snw_twist v[MOST][3];
    snw_wrench F_k[MOST];
    bracket_evaluate(p, 1, h, &xi, v);
    pull_back_wrenches(p, v, F, F_k);
    for (int c = 0; c < p->nc; c++) F_c[c] = snw_wrench_scale(h, F_k[c]);
}

// ---- Jacobian ----------------------------------------------------------------------------------

// N (levels x n) <- dv_k/dxi_c of all steps with their rates
static void bracket_jacobian_blocks(const snw_brackets *p, int levels, double h, int c,
                                    snw_twist (*v)[3], snw_dual33 *N) {
    const size_t size = (size_t)levels * sizeof *N;
    memset(N, 0, (size_t)p->n * size);
    bool depends[MOST] = {false};
    depends[c] = true;
    N[levels * c] = snw_dual_hat(h, 0, (snw_dual3){0});
    for (int k = p->nc; k < p->n; k++) {
        const snw_bracket_step *s = &p->step[k];
        snw_dual33 *to = N + levels * k;
        if (s->a >= 0) {
            const snw_dual33 *A = N + levels * s->a, *B = N + levels * s->b;
            depends[k] = depends[s->a] || depends[s->b];
            if (depends[s->b]) snw_dual_hat_add_jet(levels, 1, v[s->a], B, to);
            if (depends[s->a]) snw_dual_hat_add_jet(levels, -1, v[s->b], A, to);
        }
        for (int i = s->first; s->a < 0 && i < s->first + s->nterm; i++) {
            if (!depends[p->of[i]]) continue;
            const snw_dual33 *X = N + levels * p->of[i];
            depends[k] = true;
            for (int l = 0; l < levels; l++) {
                to[l] = snw_dual_combine(1, &to[l], p->weight[i], &X[l]);
            }
        }
    }
}

void snw_brackets_jacobian(const snw_brackets *p, int levels, double h, const snw_twist *const *xi,
                           double *const *Y) {
    snw_twist v[MOST][3];
    snw_dual33 N[3 * MOST];
    bracket_evaluate(p, levels, h, xi, v);
    for (int c = 0; c < p->nc; c++) {
        bracket_jacobian_blocks(p, levels, h, c, v, N);
        for (int l = 0; l < levels; l++) {
            snw_dual_put_block(&N[levels * (p->n - 1) + l], c, Y[l]);
        }
    }
}

// ---- Hessian -----------------------------------------------------------------------------------

void snw_brackets_hessian(const snw_brackets *p, double h, const snw_twist *xi, snw_wrench F,
                          double *G) {
    snw_twist v[MOST][3];
    snw_wrench F_k[MOST];
    snw_dual33 N[POINTS][MOST], V[POINTS][POINTS] = {0};
    bracket_evaluate(p, 1, h, &xi, v);
    pull_back_wrenches(p, v, F, F_k);
    for (int c = 0; c < p->nc; c++) bracket_jacobian_blocks(p, 1, h, c, v, N[c]);
    for (int k = p->nc; k < p->n; k++) {
        const snw_bracket_step *s = &p->step[k];
        for (int c = 0; s->a >= 0 && c < p->nc; c++) {
            snw_dual33 FA = {0};
            snw_dual_hat_add(1, snw_dual_of_wrench(F_k[k]), &N[c][s->a], &FA);
            for (int b = 0; b < p->nc; b++) snw_dual_transpose_add(&N[b][s->b], &FA, &V[b][c]);
        }
    }
    for (int c = 0; c < p->nc; c++) {
        for (int b = 0; b <= c; b++) {
            const snw_dual33 sum = snw_dual_plus_transpose(&V[b][c], &V[c][b]);
            snw_dual_put_form(&sum, b, c, G);
        }
    }
}
