// SPDX-License-Identifier: MIT
//
// jacobian_column.h: columns of six numbers, by value, for loops of the tangent along the columns.
// Private to src/dynamics.
#pragma once

#include "model/inertia.h"

// Named fields, so that the compiler keeps the column in registers.
typedef struct col {
    double a, b, c, d, e, f;
} col;

static inline col col_load(const double *J, int ld, int j) {
    return (col){J[j], J[ld + j], J[2 * ld + j], J[3 * ld + j], J[4 * ld + j], J[5 * ld + j]};
}

static inline void col_store(double *J, int ld, int j, col x) {
    J[j] = x.a, J[ld + j] = x.b, J[2 * ld + j] = x.c;
    J[3 * ld + j] = x.d, J[4 * ld + j] = x.e, J[5 * ld + j] = x.f;
}

static inline col col_plus(col x, col y) {
    return (col){x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d, x.e + y.e, x.f + y.f};
}

static inline col col_minus(col x, col y) {
    return (col){x.a - y.a, x.b - y.b, x.c - y.c, x.d - y.d, x.e - y.e, x.f - y.f};
}

static inline col col_times(double s, col x) {
    return (col){s * x.a, s * x.b, s * x.c, s * x.d, s * x.e, s * x.f};
}

// ad_V x
static inline col col_ad(const double *V, col x) {
    return (col){V[1] * x.c - V[2] * x.b,
                 V[2] * x.a - V[0] * x.c,
                 V[0] * x.b - V[1] * x.a,
                 V[4] * x.c - V[5] * x.b + V[1] * x.f - V[2] * x.e,
                 V[5] * x.a - V[3] * x.c + V[2] * x.d - V[0] * x.f,
                 V[3] * x.b - V[4] * x.a + V[0] * x.e - V[1] * x.d};
}

// coad(F) x = ad_x' F
static inline col col_coad(const double *F, col x) {
    return (col){F[1] * x.c - F[2] * x.b + F[4] * x.f - F[5] * x.e,
                 F[2] * x.a - F[0] * x.c + F[5] * x.d - F[3] * x.f,
                 F[0] * x.b - F[1] * x.a + F[3] * x.e - F[4] * x.d,
                 F[4] * x.c - F[5] * x.b,
                 F[5] * x.a - F[3] * x.c,
                 F[3] * x.b - F[4] * x.a};
}

// - ad_V' P, P a wrench column
static inline col col_minus_ad_pull(const double *V, col P) {
    return (col){V[1] * P.c - V[2] * P.b + V[4] * P.f - V[5] * P.e,
                 V[2] * P.a - V[0] * P.c + V[5] * P.d - V[3] * P.f,
                 V[0] * P.b - V[1] * P.a + V[3] * P.e - V[4] * P.d,
                 V[1] * P.f - V[2] * P.e,
                 V[2] * P.d - V[0] * P.f,
                 V[0] * P.e - V[1] * P.d};
}

// M x
static inline col col_inertia(const snw_inertia *M, col x) {
    const double *I = M->I, m = M->m, cx = M->mc.x, cy = M->mc.y, cz = M->mc.z;
    return (col){I[0] * x.a + I[5] * x.b + I[4] * x.c + cy * x.f - cz * x.e,
                 I[5] * x.a + I[1] * x.b + I[3] * x.c + cz * x.d - cx * x.f,
                 I[4] * x.a + I[3] * x.b + I[2] * x.c + cx * x.e - cy * x.d,
                 m * x.d + x.b * cz - x.c * cy,
                 m * x.e + x.c * cx - x.a * cz,
                 m * x.f + x.a * cy - x.b * cx};
}

// Ad(h^-1) x
static inline col col_to_child(const snw_se3 *h, col x) {
    const snw_mat3 *R = &h->R;
    const double d = x.d - (h->p.y * x.c - h->p.z * x.b), e = x.e - (h->p.z * x.a - h->p.x * x.c),
                 f = x.f - (h->p.x * x.b - h->p.y * x.a);
    return (col){R->e[0][0] * x.a + R->e[1][0] * x.b + R->e[2][0] * x.c,
                 R->e[0][1] * x.a + R->e[1][1] * x.b + R->e[2][1] * x.c,
                 R->e[0][2] * x.a + R->e[1][2] * x.b + R->e[2][2] * x.c,
                 R->e[0][0] * d + R->e[1][0] * e + R->e[2][0] * f,
                 R->e[0][1] * d + R->e[1][1] * e + R->e[2][1] * f,
                 R->e[0][2] * d + R->e[1][2] * e + R->e[2][2] * f};
}

// Ad(h^-1)' P
static inline col col_to_parent(const snw_se3 *h, col P) {
    const snw_mat3 *R = &h->R;
    const double d = R->e[0][0] * P.d + R->e[0][1] * P.e + R->e[0][2] * P.f,
                 e = R->e[1][0] * P.d + R->e[1][1] * P.e + R->e[1][2] * P.f,
                 f = R->e[2][0] * P.d + R->e[2][1] * P.e + R->e[2][2] * P.f;
    return (col){R->e[0][0] * P.a + R->e[0][1] * P.b + R->e[0][2] * P.c + h->p.y * f - h->p.z * e,
                 R->e[1][0] * P.a + R->e[1][1] * P.b + R->e[1][2] * P.c + h->p.z * d - h->p.x * f,
                 R->e[2][0] * P.a + R->e[2][1] * P.b + R->e[2][2] * P.c + h->p.x * e - h->p.y * d,
                 d,
                 e,
                 f};
}
