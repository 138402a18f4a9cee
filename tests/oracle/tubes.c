// SPDX-License-Identifier: MIT
//
// Concentric tubes in strong form: with the rotation-free frame R, u its curvature and theta_i the
// angles of the tubes about the tangent,
//   p' = R e_z,  R' = R u^,  (sum k_i) u = m_xy + sum k_i kappa_i e_i,  m = R' M,
//   c_i theta_i'' = -k_i kappa_i u . e_i^,  M' = -R e_z x F  in the world,
// sums over the tubes present, e_i = (cos, sin)(theta_i), e_i^ = (-sin, cos)(theta_i). Unknown at
// the exit are theta_i' and m_xy; theta_i(0) = alpha_i + behind_i theta_i'(0), m_z(0) = sum c_i
// theta_i'(0). At the ends theta_i' = 0 and m_xy = 0.
#include "oracle/tubes.h"

#include "oracle/linear.h"
#include "oracle/ode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    P = 0,
    R = 3,
    M = 12,
    THETA = 15,
    TWIST = THETA + ORACLE_TUBES,
    SIZE = TWIST + ORACLE_TUBES
};

typedef struct problem {
    int n;
    const oracle_tube *tube;
    const double *force;
    double middle; // of the present piece
} problem;

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void rate(void *user, double s, const double *y, double *dy) {
    const problem *a = user;
    (void)s;
    double stiffness = 0, u[2];
    for (int i = 0; i < 2; i++)
        u[i] = y[R + i] * y[M] + y[R + 3 + i] * y[M + 1] + y[R + 6 + i] * y[M + 2];
    memset(dy, 0, SIZE * sizeof *dy);
    for (int i = 0; i < a->n; i++) {
        const oracle_tube *t = &a->tube[i];
        if (a->middle > t->length) continue;
        stiffness += t->k;
        if (a->middle < t->straight) continue;
        u[0] += t->k * t->kappa * cos(y[THETA + i]);
        u[1] += t->k * t->kappa * sin(y[THETA + i]);
    }
    u[0] /= stiffness, u[1] /= stiffness;
    for (int i = 0; i < a->n; i++) {
        const oracle_tube *t = &a->tube[i];
        if (a->middle > t->length) continue;
        dy[THETA + i] = y[TWIST + i];
        if (a->middle < t->straight) continue;
        const double across = u[1] * cos(y[THETA + i]) - u[0] * sin(y[THETA + i]);
        dy[TWIST + i] = -t->k * t->kappa * across / t->c;
    }
    const double tangent[3] = {y[R + 2], y[R + 5], y[R + 8]};
    double moment[3];
    cross(tangent, a->force, moment);
    for (int i = 0; i < 3; i++) {
        const double *row = y + R + 3 * i;
        dy[P + i] = tangent[i];
        dy[M + i] = -moment[i];
        // row of R u^, u^ = [0 0 uy; 0 0 -ux; -uy ux 0]
        dy[R + 3 * i] = -row[2] * u[1];
        dy[R + 3 * i + 1] = row[2] * u[0];
        dy[R + 3 * i + 2] = row[0] * u[1] - row[1] * u[0];
    }
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// error (n + 2) <- twists at the ends and moment at the tip; y <- the state there
static void march(problem *a, const double *unknown, double *error, double *angle, double *y) {
    double at[2 * ORACLE_TUBES + 1] = {0}, from = 0;
    int nat = 0;
    memset(y, 0, SIZE * sizeof *y);
    y[R] = y[R + 4] = y[R + 8] = 1;
    y[M] = unknown[a->n], y[M + 1] = unknown[a->n + 1];
    for (int i = 0; i < a->n; i++) {
        const oracle_tube *t = &a->tube[i];
        at[nat++] = t->straight, at[nat++] = t->length;
        y[TWIST + i] = unknown[i];
        y[THETA + i] = t->alpha + t->behind * unknown[i];
        y[M + 2] += t->c * unknown[i];
    }
    qsort(at, (size_t)nat, sizeof *at, compare);
    for (int k = 0; k < nat; k++) {
        if (at[k] - from < 1e-12) continue;
        a->middle = 0.5 * (from + at[k]);
        (void)oracle_ode(SIZE, rate, a, from, at[k], 1e-12, y);
        from = at[k];
    }
    for (int i = 0; i < a->n; i++) error[i] = y[TWIST + i], angle[i] = y[THETA + i];
    for (int i = 0; i < 2; i++) {
        error[a->n + i] = y[R + i] * y[M] + y[R + 3 + i] * y[M + 1] + y[R + 6 + i] * y[M + 2];
        error[a->n + i] /= a->tube[0].k;
    }
}

void oracle_tubes(int n, const oracle_tube *tube, const double force[3], double *unknown,
                  double tip[3], double *angle) {
    enum { MOST = ORACLE_TUBES + 2, PATIENCE = 20 };
    problem a = {.n = n, .tube = tube, .force = force};
    double y[SIZE], error[MOST], beside[2][MOST], J[MOST * MOST];
    int pivot[MOST];
    for (int k = 0; k < PATIENCE; k++) {
        march(&a, unknown, error, angle, y);
        memcpy(tip, y + P, 3 * sizeof *tip);
        if (oracle_size((size_t)n + 2, error) < 1e-9) return;
        for (int j = 0; j < n + 2; j++) {
            const double kept = unknown[j], h = 1e-5 * (j < n ? 1 : tube[0].k);
            for (int side = 0; side < 2; side++) {
                unknown[j] = side ? kept + h : kept - h;
                march(&a, unknown, beside[side], angle, y);
            }
            unknown[j] = kept;
            for (int i = 0; i < n + 2; i++)
                J[i * (n + 2) + j] = (beside[1][i] - beside[0][i]) / (2 * h);
        }
        oracle_factor(n + 2, J, pivot);
        oracle_solve(n + 2, J, pivot, 1, error);
        for (int j = 0; j < n + 2; j++) unknown[j] -= error[j];
    }
    fprintf(stderr, "oracle_tubes: no solution near the guess\n");
    abort();
}
