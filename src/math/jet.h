// SPDX-License-Identifier: MIT
//
// jet.h: sums, products and quotients of jets (a value with its first and second derivatives).
#pragma once

#include "math/expr.h"

static inline snw_jet snw_jet_mul(snw_jet a, snw_jet b) {
    return (snw_jet){a.v * b.v, a.d * b.v + a.v * b.d, a.dd * b.v + 2 * a.d * b.d + a.v * b.dd};
}

static inline snw_jet snw_jet_add(snw_jet a, snw_jet b) {
    return (snw_jet){a.v + b.v, a.d + b.d, a.dd + b.dd};
}

static inline snw_jet snw_jet_scale(double s, snw_jet a) {
    return (snw_jet){s * a.v, s * a.d, s * a.dd};
}

static inline snw_jet snw_jet_over(snw_jet a, double s) {
    return (snw_jet){a.v / s, a.d / s, a.dd / s};
}

static inline snw_jet snw_jet_div(snw_jet a, snw_jet b) {
    snw_jet r;
    r.v = a.v / b.v;
    r.d = (a.d - r.v * b.d) / b.v;
    r.dd = (a.dd - 2 * r.d * b.d - r.v * b.dd) / b.v;
    return r;
}
