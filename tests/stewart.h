// SPDX-License-Identifier: MIT
//
// stewart.h: the continuum Stewart-Gough robot (references.md T3.3) for the shooting engine, built
// by calls.
#pragma once

#include "shoot/platform.h"
#include "shooting_rod.h"
#include "solve/dense.h"

#include <stdio.h>
#include <string.h>

enum { STEWART_LEGS = 6 };

typedef struct stewart {
    snw_shoot_rod *rod[STEWART_LEGS];
    snw_platform *p;
    int iterations, marches, tangents;
} stewart;

#define STEWART_HOME 0.504237999

static inline snw_vec3 stewart_hole(double deg) {
    const double a = deg * acos(-1) / 180;
    return (snw_vec3){{0.087 * cos(a), 0.087 * sin(a), 0}};
}

// The home position. The legs are given straight; in equilibrium they are not.
static inline snw_status stewart_make(int points, snw_space_kind along,
                                      snw_history_interpolation interpolation, stewart *out) {
    static const double base[] = {-10, 10, 110, 130, 230, 250},
                        plate[] = {-50, 50, 70, 170, 190, 290};
    const shooting_case s = {.L = STEWART_HOME,
                             .radius = 1e-3,
                             .E = 207e9,
                             .G = 207e9 / 2.6,
                             .rho = 8000,
                             .points = points,
                             .gravity = {{0, 0, -9.81}}};
    *out = (stewart){0};
    const int n = points - 1;
    const snw_shoot_opts o = {.along = along,
                              .interpolation = interpolation,
                              .npiece = 1,
                              .length = &s.L,
                              .intervals = &n};
    snw_leg_end end[STEWART_LEGS];
    for (int i = 0; i < STEWART_LEGS; i++) {
        snw_status status = snw_shoot_create(&o, NULL, true, false, &out->rod[i]);
        if (status == SNW_OK) status = shooting_fill(&s, out->rod[i]);
        if (status != SNW_OK) return status;
        const snw_se3 g = {shooting_base().R, stewart_hole(base[i])};
        snw_shoot_set_unstressed(out->rod[i], g);
        end[i] = (snw_leg_end){.rod = out->rod[i],
                               .tip_frame = snw_se3_identity(),
                               .plate_frame = {shooting_base().R, stewart_hole(plate[i])}};
    }
    const snw_boundary_opts opts = snw_boundary_defaults();
    const snw_se3 home = {snw_mat3_identity(), {{0, 0, 0.5}}};
    const snw_status status = snw_platform_create(STEWART_LEGS, end, home, &opts, &out->p);
    if (status != SNW_OK) return status;
    out->p->plate.has_body = true;
    out->p->plate.M = (snw_inertia){.m = 0.0921, .I = {1.91e-4, 1.91e-4, 3.81e-4}};
    snw_platform_ready(out->p);
    return SNW_OK;
}

static inline void stewart_free(stewart *s) {
    snw_platform_destroy(s->p);
    for (int i = 0; i < STEWART_LEGS; i++) snw_shoot_destroy(s->rod[i]);
}

static inline snw_status stewart_solve(stewart *s) {
    snw_boundary_info info;
    const snw_status status = snw_platform_solve(s->p, &info);
    s->iterations += info.iterations;
    s->marches += info.marches;
    s->tangents += info.tangents;
    return status;
}

static inline snw_status stewart_static(stewart *s) {
    snw_platform_reset_guess(s->p); // the last equilibrium is the best guess
    snw_platform_formula(s->p, (snw_levels){0}, 1);
    const snw_status status = stewart_solve(s);
    if (status == SNW_OK) snw_platform_accept(s->p, 1);
    return status;
}

static inline snw_status stewart_step(stewart *s, double alpha, double h) {
    snw_platform_formula(s->p, snw_scheme_levels(SNW_SCHEME_BDF_ALPHA, alpha), h);
    const snw_status status = stewart_solve(s);
    if (status == SNW_OK) snw_platform_accept(s->p, h);
    return status;
}

// Free lengths for the plate at x = -0.08 m/s t: rows of the example's table, interpolated by
// cubics through four of them.
typedef struct stewart_path {
    int n;
    double t[512], length[512][STEWART_LEGS];
} stewart_path;

static inline bool stewart_read(const char *file, stewart_path *out) {
    FILE *f = fopen(file, "r");
    char line[512];
    out->n = 0;
    while (f && out->n < 512 && fgets(line, sizeof line, f)) {
        double *l = out->length[out->n];
        out->n += sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf", &out->t[out->n], l, l + 1, l + 2,
                         l + 3, l + 4, l + 5) == 7;
    }
    if (f) fclose(f);
    return out->n > 1;
}

static inline double stewart_length(const stewart_path *path, int leg, double t) {
    int i = 0;
    while (i < path->n - 4 && path->t[i + 2] < t) i++;
    const double at = fmin(fmax(t, path->t[0]), path->t[path->n - 1]);
    double sum = 0;
    for (int k = i; k < i + 4; k++) {
        double w = 1;
        for (int l = i; l < i + 4; l++)
            w *= l == k ? 1 : (at - path->t[l]) / (path->t[k] - path->t[l]);
        sum += w * path->length[k][leg];
    }
    return sum;
}

static inline void stewart_feed(stewart *s, const stewart_path *path, double t) {
    for (int i = 0; i < STEWART_LEGS; i++)
        snw_shoot_set_length(s->rod[i], stewart_length(path, i, t));
}

// Wrench in the leg at the base, world axes.
static inline snw_wrench stewart_root(const stewart *s, int leg) {
    const snw_shoot_rod *r = s->rod[leg];
    snw_wrench W;
    W.f = snw_rotate(r->base.R, r->F[0].f);
    W.m = snw_rotate(r->base.R, r->F[0].m);
    return W;
}

// ---- the inverse problem ------------------------------------------------------------------------

// Free lengths and root wrenches for which the plate is in equilibrium at (x, 0, 0.5) without
// rotation: Newton's method on 6 x 7 unknowns with finite differences. The tips (36 numbers) must
// be in their holes and the plate in balance. The legs are independent of each other, so that one
// difference serves all six. The equilibrium may be unstable, and a single leg may be beyond
// buckling.
enum { STEWART_ASK = 7, STEWART_ALL = STEWART_ASK * STEWART_LEGS };

static inline void stewart_try(stewart *s, int k, double by) {
    for (int i = 0; i < STEWART_LEGS; i++) {
        snw_shoot_rod *r = s->rod[i];
        if (k < 6) r->F[0].e[k] += by;
        if (k == 6) snw_shoot_set_length(r, r->length + by);
    }
    snw_platform_formula(s->p, (snw_levels){0}, 1);
    snw_platform_evaluate(s->p);
}

static inline void stewart_residual(const stewart *s, double r[STEWART_ALL]) {
    for (int i = 0; i < STEWART_LEGS; i++) memcpy(r + 6 * i, s->p->leg[i].violation, 6 * sizeof *r);
    memcpy(r + 6 * STEWART_LEGS, s->p->balance.e, 6 * sizeof *r);
}

static inline snw_status stewart_inverse(stewart *s, double x) {
    static double A[STEWART_ALL * STEWART_ALL];
    double r[STEWART_ALL];
    s->p->g = (snw_se3){snw_mat3_identity(), {{x, 0, 0.5}}};
    for (int iteration = 0; iteration < 30; iteration++) {
        stewart_try(s, -1, 0);
        stewart_residual(s, r);
        double norm = 0;
        for (int i = 0; i < STEWART_ALL; i++) norm = fmax(norm, fabs(r[i]));
        if (!isfinite(norm)) return SNW_E_DIVERGED;
        if (norm < 1e-11) return SNW_OK;
        memset(A, 0, sizeof A);
        for (int k = 0; k < STEWART_ASK; k++) {
            const double h = 1e-5;
            for (int side = 1; side >= -1; side -= 2) {
                stewart_try(s, k, side * h);
                for (int i = 0; i < STEWART_LEGS; i++) {
                    const snw_leg *leg = &s->p->leg[i];
                    double *column = A + (STEWART_ASK * i + k) * STEWART_ALL;
                    for (int a = 0; a < 6; a++) {
                        column[6 * i + a] += side * leg->violation[a] / (2 * h);
                        column[6 * STEWART_LEGS + a] += side * leg->on_plate.e[a] / (2 * h);
                    }
                }
                stewart_try(s, k, -side * h);
            }
        }
        int pivot[STEWART_ALL];
        if (snw_lu_factor(STEWART_ALL, A, pivot) != SNW_OK) return SNW_E_SINGULAR;
        snw_lu_solve(STEWART_ALL, A, pivot, r);
        for (int i = 0; i < STEWART_LEGS; i++) {
            snw_shoot_rod *rod = s->rod[i];
            for (int k = 0; k < 6; k++) rod->F[0].e[k] -= r[STEWART_ASK * i + k];
            snw_shoot_set_length(rod, rod->length - r[STEWART_ASK * i + 6]);
        }
    }
    return SNW_E_DIVERGED;
}

// The same at several x, from the last pose found, in steps of about dx.
static inline snw_status stewart_go(stewart *s, double from, double to, double dx) {
    const int n = (int)fmax(1, round(fabs(to - from) / dx));
    snw_status status = SNW_OK;
    for (int k = 1; k <= n && status == SNW_OK; k++) {
        status = stewart_inverse(s, from + (to - from) * k / n);
    }
    return status;
}

// Eigenvalues, ascending, of a symmetric 3 x 3 block, rows and columns i, j, k of A.
static inline void stewart_eigenvalues(const double *A, int i, int j, int k, double out[3]) {
    const int at[3] = {i, j, k};
    double B[3][3], mean = 0, p = 0;
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) B[a][b] = 0.5 * (A[6 * at[a] + at[b]] + A[6 * at[b] + at[a]]);
        mean += B[a][a] / 3;
    }
    for (int a = 0; a < 3; a++) B[a][a] -= mean;
    for (int a = 0; a < 9; a++) p += B[a / 3][a % 3] * B[a / 3][a % 3];
    p = sqrt(p / 6);
    const double det = B[0][0] * (B[1][1] * B[2][2] - B[1][2] * B[2][1]) -
                       B[0][1] * (B[1][0] * B[2][2] - B[1][2] * B[2][0]) +
                       B[0][2] * (B[1][0] * B[2][1] - B[1][1] * B[2][0]);
    const double phi = acos(fmin(fmax(det / (2 * p * p * p), -1), 1)) / 3;
    out[2] = mean + 2 * p * cos(phi);
    out[0] = mean + 2 * p * cos(phi + 2 * acos(-1) / 3);
    out[1] = 3 * mean - out[0] - out[2];
}
