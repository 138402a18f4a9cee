// SPDX-License-Identifier: MIT
//
// Runge-Kutta methods on the Lie algebra se(3) (Munthe-Kaas 1999), theory.md (3.1a): the rules rk4,
// rk45 and spectral as lists of sums and brackets. With g = g_0 exp(W), g' = g xi^ becomes
//   W' = ad_W/(1 - exp(-ad_W)) xi
//      = xi + [W, xi]/2 + [W, [W, xi]]/12 - ad_W^4 xi/720 + ad_W^6 xi/30240 - ..
// A tableau gives the stages F_i = h W'(W_i), W_i = sum a_ij F_j, and W = sum b_j F_j. W is O(h),
// so the order of the method determines how many brackets of the series are needed.
//
// Collocation at p Gauss points is implicit. Since xi does not depend on g, a fixed-point iteration
// of its stages from F_i = h xi_i gains a power of h each time, and 2p - 2 iterations suffice for
// the order 2p; iteration k needs k brackets. The result agrees with Gauss collocation to its
// order, is symmetric in the two ends of the segment, and exact for constant strain.
#include "math/rule.h"

#include "math/quadrature.h"

// step number of h (xi + [W, xi]/2 + ..) with up to `depth` brackets, for the strain of leaf c
static int munthe_kaas_stage(snw_brackets *p, int W, int c, int depth) {
    static const double series[] = {1, 0.5, 1.0 / 12, 0, -1.0 / 720, 0, 1.0 / 30240};
    int of[7] = {c};
    for (int k = 1; k <= depth; k++) of[k] = snw_brackets_bracket(p, W, of[k - 1]);
    return snw_brackets_sum(p, depth + 1, of, series);
}

snw_status snw_rule_rk4(snw_pool *pool, snw_rule *out) {
    out->order = 4;
    out->nc = 3;
    out->c[1] = 0.5, out->c[2] = 1;
    snw_brackets *p = &out->brackets;
    const snw_status s = snw_brackets_begin(pool, out->nc, 32, p);
    if (s != SNW_OK) return s;
    const double half = 0.5, b[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    int F[4] = {0};
    F[1] = munthe_kaas_stage(p, snw_brackets_sum(p, 1, &F[0], &half), 1, 2);
    F[2] = munthe_kaas_stage(p, snw_brackets_sum(p, 1, &F[1], &half), 1, 2);
    F[3] = munthe_kaas_stage(p, F[2], 2, 2);
    (void)snw_brackets_sum(p, 4, F, b);
    return SNW_OK;
}

// Stages of Dormand and Prince (1980). The series has no third power, so two brackets suffice for
// order 5.
static void dormand_prince(snw_brackets *p, int nstage, int F[7]) {
    static const double a[6][6] = {
        {1.0 / 5},
        {3.0 / 40, 9.0 / 40},
        {44.0 / 45, -56.0 / 15, 32.0 / 9},
        {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
        {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
        {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
    F[0] = 0;
    for (int i = 1; i < nstage; i++) {
        // the last two stages are both at the end of the segment
        F[i] = munthe_kaas_stage(p, snw_brackets_sum(p, i, F, a[i - 1]), i < 6 ? i : 5, 2);
    }
}

snw_status snw_rule_rk45(snw_pool *pool, snw_rule *out) {
    static const double c[6] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1};
    static const double b[6] = {35.0 / 384,     0,        500.0 / 1113, 125.0 / 192,
                                -2187.0 / 6784, 11.0 / 84};
    static const double b_error[7] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                      -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
    out->order = 5;
    out->nc = 6;
    for (int i = 0; i < 6; i++) out->c[i] = c[i];
    int F[7];
    snw_status s = snw_brackets_begin(pool, out->nc, 64, &out->brackets);
    if (s == SNW_OK) s = snw_brackets_begin(pool, out->nc, 64, &out->error);
    if (s != SNW_OK) return s;
    dormand_prince(&out->brackets, 6, F);
    (void)snw_brackets_sum(&out->brackets, 6, F, b);
    dormand_prince(&out->error, 7, F);
    (void)snw_brackets_sum(&out->error, 7, F, b_error);
    return SNW_OK;
}

snw_status snw_rule_spectral(snw_pool *pool, snw_rule *out) {
    const int n = out->nc = out->number;
    double w[SNW_MAGNUS_POINTS], a[SNW_MAGNUS_POINTS][SNW_MAGNUS_POINTS];
    out->order = 2 * n;
    snw_gauss(n, out->c, w);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) a[i][j] = snw_lagrange_integral(n, out->c, j, out->c[i]);
    }
    snw_brackets *p = &out->brackets;
    const snw_status s = snw_brackets_begin(pool, n, 512, p);
    if (s != SNW_OK) return s;
    int F[SNW_MAGNUS_POINTS];
    for (int i = 0; i < n; i++) F[i] = i;
    for (int k = 1; k <= 2 * n - 2; k++) {
        int next[SNW_MAGNUS_POINTS];
        // the series has no third and no fifth power
        const int depth = k > 1 ? k / 2 * 2 : 1;
        for (int i = 0; i < n; i++) {
            next[i] = munthe_kaas_stage(p, snw_brackets_sum(p, n, F, a[i]), i, depth);
        }
        for (int i = 0; i < n; i++) F[i] = next[i];
    }
    (void)snw_brackets_sum(p, n, F, w);
    return SNW_OK;
}
