// SPDX-License-Identifier: MIT
//
// shooting_rod.h: cantilevers for the shooting engine, built by calls from the tables of
// references.md: round rods, base tangent along z of the world.
#pragma once

#include "model/scheme.h"
#include "shoot/boundary.h"

#include <math.h>
#include <string.h>

typedef struct shooting_case {
    double L, radius, E, G, rho;
    int points; // nodes
    snw_space_kind along;
    snw_history_interpolation interpolation;
    bool kirchhoff, still; // still: no rotary inertia
    snw_vec3 gravity, tip; // tip: a dead force at the tip
    double drag;           // coefficient of v|v|, kg/m^2
    double damping;        // Kelvin-Voigt time, s
    snw_boundary_kind kind;
} shooting_case;

typedef struct shooting_rod {
    snw_shoot_rod *r;
    snw_boundary *b;
    int iterations, tangents, marches;
} shooting_rod;

// The program of the paper's appendix, and the benchmark of its section 3.
static inline shooting_case shooting_appendix(void) {
    return (shooting_case){.L = 0.4,
                           .radius = 1.2e-3,
                           .E = 207e9,
                           .G = 207e9 / 2.6,
                           .rho = 8000,
                           .points = 40,
                           .along = SNW_ALONG_RK4,
                           .gravity = {{-98.1, 0, 0}}};
}
static inline shooting_case shooting_benchmark(void) {
    return (shooting_case){.L = 0.4,
                           .radius = 1e-3,
                           .E = 207e9,
                           .G = 79e9,
                           .rho = 8000,
                           .points = 150,
                           .along = SNW_ALONG_RK4,
                           .tip = {{-0.5, 0, 0}}};
}

// Local x, y, z along z, x, y of the world.
static inline snw_se3 shooting_base(void) {
    return (snw_se3){.R = {{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}}};
}

// Set sections, gravity and tip load of a rod with npiece pieces.
static inline snw_status shooting_fill(const shooting_case *s, snw_shoot_rod *r) {
    const double A = acos(-1) * s->radius * s->radius, I = A * s->radius * s->radius / 4;
    const double K[6] = {s->G * 2 * I, s->E * I, s->E * I, s->E * A, s->G * A, s->G * A};
    const double J = s->still ? 0 : s->rho * I;
    for (int p = 0; p < (r->uniform ? 1 : r->npoint); p++) {
        for (int i = 0; i < 6; i++) {
            r->K[36 * p + 7 * i] = K[i];
            r->section[p].B[7 * i] = s->damping * K[i];
        }
        r->section[p].rest = (snw_twist){.e = {0, 0, 0, 1, 0, 0}};
        r->section[p].M = (snw_inertia){.m = s->rho * A, .I = {2 * J, J, J}};
        for (int i = 0; i < 3; i++) r->section[p].drag[i] = s->drag;
    }
    for (int i = 3; i < 6; i++) r->active[i] = !s->kirchhoff;
    r->gravity = s->gravity;
    snw_shoot_station *tip = &r->station[r->npiece - 1];
    tip->nload = snw_norm(s->tip) > 0;
    tip->load[0] = (snw_shoot_load){.W.f = s->tip};
    return snw_shoot_ready(r, snw_norm(s->tip));
}

static inline snw_status shooting_make(const shooting_case *s, shooting_rod *out) {
    *out = (shooting_rod){0};
    const int n = s->points - 1;
    const snw_shoot_opts o = {.along = s->along,
                              .interpolation = s->interpolation,
                              .npiece = 1,
                              .length = &s->L,
                              .intervals = &n};
    snw_status status = snw_shoot_create(&o, NULL, true, false, &out->r);
    if (status == SNW_OK) status = shooting_fill(s, out->r);
    if (status != SNW_OK) return status;
    snw_shoot_set_unstressed(out->r, shooting_base());
    snw_boundary_opts opts = snw_boundary_defaults();
    opts.kind = s->kind;
    return snw_boundary_create(out->r, &opts, &out->b);
}

static inline void shooting_free(shooting_rod *s) {
    snw_boundary_destroy(s->b);
    snw_shoot_destroy(s->r);
}

static inline snw_status shooting_solve(shooting_rod *s) {
    snw_boundary_info info;
    const snw_status status = snw_boundary_solve(s->b, &info);
    s->iterations += info.iterations;
    s->marches += info.marches;
    s->tangents += info.tangents;
    return status;
}

static inline snw_status shooting_static(shooting_rod *s) {
    snw_shoot_formula(s->r, (snw_levels){0}, 1);
    const snw_status status = shooting_solve(s);
    if (status == SNW_OK) snw_shoot_accept(s->r, 1);
    return status;
}

static inline snw_status shooting_step(shooting_rod *s, snw_scheme_kind kind, double alpha,
                                       double h) {
    snw_shoot_formula(s->r, snw_scheme_levels(kind, alpha), h);
    const snw_status status = shooting_solve(s);
    if (status != SNW_OK) return status;
    snw_shoot_accept(s->r, h);
    snw_boundary_accept(s->b, h);
    return SNW_OK;
}

// Remove the tip load and start the motion.
static inline snw_status shooting_release(shooting_rod *s, double h) {
    s->r->station[s->r->npiece - 1].nload = 0;
    const snw_status status = snw_shoot_ready(s->r, s->r->force);
    snw_shoot_begin(s->r, true, h);
    snw_boundary_reset_guess(s->b);
    return status;
}

static inline snw_vec3 shooting_tip(const shooting_rod *s) { return s->r->g[s->r->nnode - 1].p; }
// Wrench at the base, world axes.
static inline snw_wrench shooting_root(const shooting_rod *s) {
    snw_wrench W;
    W.f = snw_rotate(s->r->base.R, s->r->F[0].f);
    W.m = snw_rotate(s->r->base.R, s->r->F[0].m);
    return W;
}

// ---- one mode -----------------------------------------------------------------------------------

// Shape of the first mode of a cantilever, clamped at 0, free at 1; also the load per length that
// bends it to this shape.
static inline double shooting_mode_shape(double x) {
    const double b = 1.87510406871196, k = (cosh(b) + cos(b)) / (sinh(b) + sin(b));
    return cosh(b * x) - cos(b * x) - k * (sinh(b * x) - sin(b * x));
}

// The benchmark rod bent slightly to its first mode, after the load is removed.
static inline snw_status shooting_first_mode(int points, shooting_rod *a) {
    shooting_case s = shooting_benchmark();
    s.tip.x = 0;
    const int n = points - 1;
    const snw_shoot_opts o = {.along = s.along, .npiece = 1, .length = &s.L, .intervals = &n};
    *a = (shooting_rod){0};
    snw_status status = snw_shoot_create(&o, NULL, true, true, &a->r);
    if (status != SNW_OK) return status;
    for (int p = 0; p < a->r->npoint; p++) {
        a->r->density[p].force.x = 2e-3 * shooting_mode_shape(snw_shoot_point_s(a->r, p) / s.L);
    }
    status = shooting_fill(&s, a->r);
    snw_shoot_set_unstressed(a->r, shooting_base());
    const snw_boundary_opts opts = snw_boundary_defaults();
    if (status == SNW_OK) status = snw_boundary_create(a->r, &opts, &a->b);
    if (status == SNW_OK) status = shooting_static(a);
    memset(a->r->density, 0, (size_t)a->r->npoint * sizeof *a->r->density);
    return status;
}
