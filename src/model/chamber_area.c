// SPDX-License-Identifier: MIT
//
// Volume per length of a chamber whose area varies, and the force conjugate to its stretch, by
// Gauss quadrature over the pressure; derivatives by the jets of the area law.
#include "model/chamber_area.h"

#include "math/quadrature.h"

#include <math.h>

bool snw_chamber_area_varies(snw_law law) {
    return law && (snw_expr_vars(law) & SNW_VAR_SIGNAL) != 0;
}

double snw_chamber_area_made(snw_law law, double x, double L, double stretch) {
    const double variable[SNW_CHAMBER_VARIABLES] = {stretch, 0};
    return snw_expr_value(law, (snw_at){.x = x, .L = L, .signal = variable});
}

void snw_chamber_area_prepare(snw_law law, snw_chamber_area *out) {
    *out = (snw_chamber_area){.law = law, .by_pressure = snw_expr_reads(law, SNW_CHAMBER_PRESSURE)};
    snw_gauss(SNW_CHAMBER_RULE, out->node, out->weight);
}

// area and its derivatives by the stretch
static snw_jet area_jet(const snw_chamber_area *c, double x, double L, double stretch, double p) {
    const double variable[SNW_CHAMBER_VARIABLES] = {stretch, p};
    const snw_at at = {.x = x, .L = L, .signal = variable};
    return snw_expr_jet_signal(c->law, at, SNW_CHAMBER_STRETCH);
}

// F and dF/dl between the pressures p0 and p1
static void add_force(const snw_chamber_area *c, double x, double L, double stretch, double p0,
                      double p1, double *force, double *force_l) {
    for (int k = 0; k < SNW_CHAMBER_RULE; k++) {
        const snw_jet A = area_jet(c, x, L, stretch, p0 + (p1 - p0) * c->node[k]);
        *force += (p1 - p0) * c->weight[k] * (A.v + stretch * A.d);
        *force_l += (p1 - p0) * c->weight[k] * (2 * A.d + stretch * A.dd);
    }
}

snw_chamber_section snw_chamber_section_at(const snw_chamber_area *c, double x, double L,
                                           double stretch, double pressure) {
    const snw_jet A = area_jet(c, x, L, stretch, pressure);
    snw_chamber_section s = {.area = A.v,
                             .a = A.v > 0 ? A.v * stretch : NAN, // the solver must step back
                             .a_l = A.v + stretch * A.d,
                             .a_ll = 2 * A.d + stretch * A.dd};
    if (!c->by_pressure) {
        s.force = pressure * s.a_l;
        s.force_l = pressure * s.a_ll;
        return s;
    }
    (void)snw_chamber_volume_at(c, x, L, stretch, pressure, &s.a_p);
    add_force(c, x, L, stretch, 0, pressure, &s.force, &s.force_l);
    return s;
}

double snw_chamber_volume_at(const snw_chamber_area *c, double x, double L, double stretch,
                             double pressure, double *by_pressure) {
    const double variable[SNW_CHAMBER_VARIABLES] = {stretch, pressure};
    const snw_at at = {.x = x, .L = L, .signal = variable};
    const snw_jet A = snw_expr_jet_signal(c->law, at, SNW_CHAMBER_PRESSURE);
    *by_pressure = stretch * A.d;
    return A.v > 0 ? A.v * stretch : NAN;
}

double snw_chamber_force_error(const snw_chamber_area *c, double x, double L, double stretch,
                               double pressure) {
    const snw_chamber_section s = snw_chamber_section_at(c, x, L, stretch, pressure);
    double force = 0, ignored = 0;
    add_force(c, x, L, stretch, 0, 0.5 * pressure, &force, &ignored);
    add_force(c, x, L, stretch, 0.5 * pressure, pressure, &force, &ignored);
    const double size = fabs(pressure * s.area);
    return size > 0 ? fabs(force - s.force) / size : 0;
}
