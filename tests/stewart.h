// SPDX-License-Identifier: MIT
//
// stewart.h: the continuum Stewart-Gough robot of the boundary-value engine (shooting.md 3.3), made by calls.
#pragma once

#include "shoot/platform.h"
#include "shot_rod.h"

#include <stdio.h>

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

// At home, legs straight, which they are not.
static inline snw_status stewart_make(int points, snw_space_kind along, snw_between between,
                                      stewart *out) {
    static const double base[] = {-10, 10, 110, 130, 230, 250},
                        plate[] = {-50, 50, 70, 170, 190, 290};
    const shot s = {.L = STEWART_HOME,
                    .radius = 1e-3,
                    .E = 207e9,
                    .G = 207e9 / 2.6,
                    .rho = 8000,
                    .points = points,
                    .gravity = {{0, 0, -9.81}}};
    *out = (stewart){0};
    const int n = points - 1;
    const snw_shoot_opts o = {
        .along = along, .between = between, .npiece = 1, .length = &s.L, .intervals = &n};
    snw_leg_end end[STEWART_LEGS];
    for (int i = 0; i < STEWART_LEGS; i++) {
        snw_status status = snw_shoot_create(&o, NULL, true, false, &out->rod[i]);
        if (status == SNW_OK) status = shot_fill(&s, out->rod[i]);
        if (status != SNW_OK) return status;
        const snw_se3 g = {shot_base().R, stewart_hole(base[i])};
        snw_shoot_rest(out->rod[i], g);
        end[i] = (snw_leg_end){.rod = out->rod[i],
                               .pin = snw_se3_identity(),
                               .hole = {shot_base().R, stewart_hole(plate[i])}};
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
    snw_platform_forget(s->p); // the last equilibrium is the best guess
    snw_platform_formula(s->p, SNW_TIME_STATIC, 0, 1);
    const snw_status status = stewart_solve(s);
    if (status == SNW_OK) snw_platform_accept(s->p, 1);
    return status;
}

static inline snw_status stewart_step(stewart *s, double alpha, double h) {
    snw_platform_formula(s->p, SNW_TIME_BDF_ALPHA, alpha, h);
    const snw_status status = stewart_solve(s);
    if (status == SNW_OK) snw_platform_accept(s->p, h);
    return status;
}

// Free lengths for the plate at x = -0.08 m/s t: rows of the example's table, cubics through four of them.
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
    for (int i = 0; i < STEWART_LEGS; i++) snw_shoot_feed(s->rod[i], stewart_length(path, i, t));
}

// What the leg carries where it leaves the base, world axes.
static inline snw_wrench stewart_root(const stewart *s, int leg) {
    const snw_shoot_rod *r = s->rod[leg];
    snw_wrench W;
    W.f = snw_rotate(r->base.R, r->F[0].f);
    W.m = snw_rotate(r->base.R, r->F[0].m);
    return W;
}

// ---- the inverse problem ----------------------------------------------------------------------------

// x, z and pitch of the plate in equilibrium, less where it shall be
static inline snw_status stewart_miss(stewart *s, double x, double r[3]) {
    const snw_status status = stewart_static(s);
    r[0] = s->p->g.p.x - x, r[1] = s->p->g.p.z - 0.5, r[2] = snw_so3_log(s->p->g.R).y;
    return status;
}

// Free lengths for which the plate is at (x, 0, 0.5), not turned. Legs 1 = 2, 3 = 6, 4 = 5 by symmetry; Newton's method with
// differences.
static inline snw_status stewart_inverse(stewart *s, double x) {
    static const int leg[3][2] = {{0, 1}, {2, 5}, {3, 4}};
    for (int i = 0; i < 20; i++) {
        double r[3], at[3];
        snw_vec3 J[3];
        snw_status status = stewart_miss(s, x, r);
        if (status != SNW_OK) return status;
        if (fabs(r[0]) + fabs(r[1]) + fabs(r[2]) < 1e-9) return SNW_OK;
        for (int c = 0; c < 3; c++) {
            const double L = s->rod[leg[c][0]]->length, h = 1e-6;
            for (int k = 0; k < 2; k++) snw_shoot_feed(s->rod[leg[c][k]], L + h);
            status = stewart_miss(s, x, at);
            if (status != SNW_OK) return status;
            for (int k = 0; k < 3; k++) J[c].e[k] = (at[k] - r[k]) / h;
            for (int k = 0; k < 2; k++) snw_shoot_feed(s->rod[leg[c][k]], L);
        }
        // Cramer's rule
        const snw_vec3 v = {{-r[0], -r[1], -r[2]}};
        const double det = snw_dot(J[0], snw_cross(J[1], J[2]));
        const double d[3] = {snw_dot(v, snw_cross(J[1], J[2])) / det,
                             snw_dot(J[0], snw_cross(v, J[2])) / det,
                             snw_dot(J[0], snw_cross(J[1], v)) / det};
        for (int k = 0; k < 3; k++) {
            for (int l = 0; l < 2; l++)
                snw_shoot_feed(s->rod[leg[k][l]], s->rod[leg[k][l]]->length + d[k]);
        }
    }
    return SNW_E_DIVERGED;
}

// The same along a path from the pose where it was found last, `from`, in n steps; lengths are guessed by lines through those of
// two poses, at first close ones.
static inline snw_status stewart_go(stewart *s, double from, double to, int n) {
    double length[2][STEWART_LEGS], x = from, before = from;
    for (int i = 0; i < STEWART_LEGS; i++) length[0][i] = s->rod[i]->length;
    for (int k = 0; k <= n; k++) {
        const double next =
            k == 0 ? from + 1e-5 * (to > from ? 1 : -1) : from + (to - from) * k / n;
        for (int i = 0; i < STEWART_LEGS; i++) {
            const double L = s->rod[i]->length;
            if (k > 0)
                snw_shoot_feed(s->rod[i], L + (L - length[0][i]) * (next - x) / (x - before));
            length[1][i] = L;
        }
        const snw_status status = stewart_inverse(s, next);
        if (status != SNW_OK) return status;
        for (int i = 0; i < STEWART_LEGS; i++) length[0][i] = length[1][i];
        before = x, x = next;
    }
    return SNW_OK;
}

// Eigenvalues, rising, of a symmetric 3 x 3 block, rows and columns i, j, k of A.
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
