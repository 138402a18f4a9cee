// SPDX-License-Identifier: MIT
//
// Convergence of the expansions along rods, theory.md (3.1c): the bounds of Magnus and Fer and the
// slices of a rod that come nearest to them, for `sinew check`.
#include "model/step_bound.h"

#include "math/quadrature.h"

// Bound of the Fer expansion in a norm with |[a, b]| <= 2|a||b|: the root x of
// int_0^x phi(2s) ds = x, phi as in fer.c. For rotations alone |a x b| <= |a||b| gives twice as
// much.
#define FER_BOUND 0.86040650896

double snw_rule_turn_bound(snw_rule_kind kind) {
    return kind == SNW_RULE_FER ? 2 * FER_BOUND : 3.14159265358979323846;
}

double snw_rule_norm_bound(snw_rule_kind kind) {
    return kind == SNW_RULE_FER ? FER_BOUND : 3.14159265358979323846;
}

double snw_step_bound_norm(snw_rule_kind kind, double beta) {
    return snw_rule_norm_bound(kind) / sqrt(6 * beta * beta + 1);
}

double snw_step_bound_turn(snw_rule_kind kind, double beta) {
    return snw_rule_turn_bound(kind) / (sqrt(3) * beta);
}

static void keep_larger(snw_slice_bound *most, double value, double from, double to) {
    if (value > most->value) *most = (snw_slice_bound){value, from, to};
}

snw_step_bound snw_rod_step_bound(const snw_model *m, const snw_rod *rod, const double *q,
                                  double t) {
    enum { POINTS = 8 };
    double x[POINTS], w[POINTS], from = 0;
    snw_gauss(POINTS, x, w);
    snw_step_bound out = {0};
    for (int s = rod->seg0; s < rod->seg0 + rod->nseg; s++) {
        const double to = m->seg_x[s], h = to - from;
        double turn = 0, norm = 0;
        for (int k = 0; k < POINTS && h > 0; k++) {
            const snw_twist xi = snw_rod_strain(rod, q, t, from + h * x[k]);
            const double kappa = snw_dot(xi.w, xi.w);
            turn += h * w[k] * sqrt(kappa);
            norm += h * w[k] * sqrt(2 * kappa + snw_dot(xi.v, xi.v));
        }
        keep_larger(&out.turn, turn, from, to);
        keep_larger(&out.frobenius, norm, from, to);
        keep_larger(&out.length, h, from, to);
        if (h > 0) from = to;
    }
    return out;
}
