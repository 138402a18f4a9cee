// SPDX-License-Identifier: MIT
//
// tendon_rod.h: rods with tendons and chambers for the shooting engine, built by calls from the
// tables of references.md.
#pragma once

#include "base/pool.h"
#include "math/expr.h"
#include "shoot/tendons.h"
#include "shooting_rod.h"

#include <stdio.h>

typedef struct tendon_rod {
    shooting_rod s;
    snw_shoot_tendons c;
    snw_pool *pool;
} tendon_rod;

// Parse a law of arc length.
static inline snw_law tendon_rod_law(tendon_rod *a, const char *text) {
    const snw_expr_rules rules = {.vars = SNW_VAR_X | SNW_VAR_L};
    const snw_expr *out = NULL;
    snw_error err = {0};
    if (snw_expr_parse(a->pool, NULL, text, &rules, "test", 1, 1, &out, &err) != SNW_OK)
        return NULL;
    return out;
}

// Tendons 0 .. n-1 at distance d from the axis, 90 degrees apart, wound `turns` times over the
// length.
static inline void tendon_rod_ring(tendon_rod *a, int n, double d, double turns, double L) {
    a->c.n = n;
    for (int i = 0; i < n; i++) {
        char text[2][96];
        snprintf(text[0], sizeof text[0], "%.9g*cos(pi/2*%d + 2*pi*%.9g*x/L)", d, i, turns);
        snprintf(text[1], sizeof text[1], "%.9g*sin(pi/2*%d + 2*pi*%.9g*x/L)", d, i, turns);
        a->c.tendon[i].to = L;
        for (int k = 0; k < 2; k++) a->c.tendon[i].at[k] = tendon_rod_law(a, text[k]);
    }
}

// A section that is not round: area, and moments of area about x, y, z.
typedef struct tendon_rod_section {
    double A, I[3];
} tendon_rod_section;

static inline void tendon_rod_reshape(const shooting_case *s, const tendon_rod_section *x,
                                      snw_shoot_rod *r) {
    const double K[6] = {s->G * x->I[0], s->E * x->I[1], s->E * x->I[2],
                         s->E * x->A,    s->G * x->A,    s->G * x->A};
    for (int i = 0; i < 6; i++) r->K[7 * i] = K[i];
    r->section[0].M = (snw_inertia){.m = s->rho * x->A};
    for (int i = 0; i < 3; i++) r->section[0].M.I[i] = s->rho * x->I[i];
}

// Make the rod of `s` with the tendons in a->c. `damping` (twist and bending, N m^2 s) is as the
// tables give it. The section is round unless x is given.
static inline snw_status tendon_rod_make(const shooting_case *s, double damping,
                                         const tendon_rod_section *x, tendon_rod *a) {
    snw_status status = snw_shoot_tendons_law(&a->c);
    if (status != SNW_OK) return status;
    const int n = s->points - 1;
    const snw_shoot_opts o = {.along = s->along,
                              .interpolation = s->interpolation,
                              .npiece = 1,
                              .length = &s->L,
                              .intervals = &n};
    status = snw_shoot_create(&o, &a->c.law, true, false, &a->s.r);
    if (status == SNW_OK) status = shooting_fill(s, a->s.r);
    for (int i = 0; i < 3 && status == SNW_OK; i++) a->s.r->section[0].B[7 * i] = damping;
    if (x && status == SNW_OK) tendon_rod_reshape(s, x, a->s.r);
    if (status == SNW_OK) status = snw_shoot_ready(a->s.r, 0);
    if (status == SNW_OK) status = snw_shoot_tendons_place(&a->c, a->s.r);
    if (status != SNW_OK) return status;
    snw_shoot_set_unstressed(a->s.r, shooting_base());
    snw_boundary_opts opts = snw_boundary_defaults();
    opts.kind = s->kind;
    return snw_boundary_create(a->s.r, &opts, &a->s.b);
}

static inline void tendon_rod_free(tendon_rod *a) {
    snw_shoot_tendons_release(&a->c);
    shooting_free(&a->s);
    snw_pool_destroy(a->pool);
}

static inline snw_status tendon_rod_static(tendon_rod *a) {
    snw_shoot_tendons_base(&a->c, a->s.r);
    return shooting_static(&a->s);
}

static inline void tendon_rod_begin(tendon_rod *a, double h) {
    snw_shoot_begin(a->s.r, true, h);
    snw_boundary_reset_guess(a->s.b);
}

static inline snw_status tendon_rod_step(tendon_rod *a, snw_scheme_kind kind, double alpha,
                                         double h) {
    snw_shoot_tendons_base(&a->c, a->s.r);
    return shooting_step(&a->s, kind, alpha, h);
}

// ---- robots of the paper ------------------------------------------------------------------------

// The author's static example, and the robot that transfers an object.
static inline shooting_case tendon_rod_arm(void) {
    return (shooting_case){.L = 0.5,
                           .radius = 1e-3,
                           .E = 200e9,
                           .G = 80e9,
                           .rho = 8000,
                           .points = 101,
                           .along = SNW_ALONG_RK4};
}
static inline shooting_case tendon_rod_transfer(void) {
    return (shooting_case){.L = 0.24,
                           .radius = 0.4e-3,
                           .E = 207e9,
                           .G = 207e9 / 2.6,
                           .rho = 1.6e4,
                           .points = 61,
                           .along = SNW_ALONG_RK4,
                           .drag = 0.03};
}
// The robot of the step response, and its tendon.
static inline shooting_case tendon_rod_step_robot(void) {
    const double r = 0.675e-3, L = 0.7144;
    return (shooting_case){.L = L,
                           .radius = r,
                           .E = 207e9,
                           .G = 207e9 / 2.6,
                           .rho = 0.034 / (acos(-1) * r * r * L),
                           .points = 101,
                           .along = SNW_ALONG_RK4,
                           .drag = 1e-4,
                           .gravity = {{-9.81, 0, 0}}};
}
static inline void tendon_rod_winch(tendon_rod *a, double at, double compliance, double L) {
    tendon_rod_ring(a, 1, at, 0, L);
    snw_shoot_tendon *c = &a->c.tendon[0];
    c->given = SNW_SHOOT_TENDON_LENGTH;
    c->extra = 0.0518;
    c->compliance = compliance;
    c->value = L + 0.0518;
}
// Length that the winch has paid out at time t, and its rate.
static inline double tendon_rod_winch_rate(double t) {
    const double in = t > 3.652 && t < 3.967 ? 1 / 0.315 : 0,
                 out = t > 17.63 && t < 17.94 ? 1 / 0.31 : 0;
    return -0.01619 * (in - out);
}
static inline double tendon_rod_winch_at(double t) {
    const double in = fmin(fmax((t - 3.652) / 0.315, 0), 1),
                 out = fmin(fmax((t - 17.63) / 0.31, 0), 1);
    return 0.7144 + 0.0518 - 0.01619 * (in - out);
}

// The soft finger.
static inline snw_status tendon_rod_finger_with(snw_shoot_tendon_given given, snw_space_kind along,
                                                int points, snw_history_interpolation interpolation,
                                                tendon_rod *a) {
    const shooting_case s = {.L = 0.1,
                             .radius = 0.015,
                             .E = 20e3,
                             .G = 20e3 / 3,
                             .rho = 300,
                             .points = points,
                             .along = along,
                             .interpolation = interpolation};
    const tendon_rod_section x = {6.8722339e-4, {7.7440609e-8, 3.9730102e-8, 3.7710507e-8}};
    a->c.n = 1;
    a->c.tendon[0] = (snw_shoot_tendon){.chamber = true,
                                        .given = given,
                                        .to = s.L,
                                        .at = {tendon_rod_law(a, "-0.01*(1 + 1/35)")},
                                        .area = tendon_rod_law(a, "1.96349541e-5"),
                                        .ambient = 101325};
    return tendon_rod_make(&s, 0, &x, a);
}
// The finger filled with a gas or with a liquid.
static inline snw_status tendon_rod_finger(bool gas, int points,
                                           snw_history_interpolation interpolation, tendon_rod *a) {
    return tendon_rod_finger_with(gas ? SNW_SHOOT_TENDON_GAS : SNW_SHOOT_TENDON_VOLUME,
                                  SNW_ALONG_RK4, points, interpolation, a);
}
// Given value of the chamber at the fill fraction `filled` (0 to 1).
static inline double tendon_rod_finger_at(bool gas, double filled) {
    const double n0 = 8.1629396e-5, V0 = 1.96349541e-6;
    return gas ? (n0 + (2e-4 - n0) * filled) * 8.314 * 293.15 : V0 + (2.65e-6 - V0) * filled;
}
