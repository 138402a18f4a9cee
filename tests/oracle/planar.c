// SPDX-License-Identifier: MIT
#include "oracle/planar.h"

#include "oracle/ode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { X, Y, ANGLE, MOMENT, ELASTIC, HEIGHT, N };

typedef struct shooting_case {
    const oracle_planar *p;
    double tip; // tip angle
} shooting_case;

// Internal force at s in world axes: the sum of all forces beyond s.
static void force(const shooting_case *k, double s, double n[2]) {
    const oracle_planar *p = k->p;
    const double c = cos(k->tip), z = sin(k->tip);
    n[0] = p->dead[0] + c * p->follower[0] - z * p->follower[1];
    n[1] = p->dead[1] + z * p->follower[0] + c * p->follower[1] - p->weight * (p->L - s);
}

// angle' = M / EI, r' = R (1 + N / EA, Q / GA), M' = -(r' x n)
static void rate(void *user, double s, const double *y, double *dy) {
    const shooting_case *k = user;
    const oracle_planar *p = k->p;
    const double c = cos(y[ANGLE]), z = sin(y[ANGLE]);
    double n[2];
    force(k, s, n);
    const double N_ = c * n[0] + z * n[1], Q = -z * n[0] + c * n[1];
    const double g1 = 1 + p->stretch * N_, g2 = p->shear * Q;
    dy[X] = c * g1 - z * g2;
    dy[Y] = z * g1 + c * g2;
    dy[ANGLE] = y[MOMENT] / p->EI;
    dy[MOMENT] = -(dy[X] * n[1] - dy[Y] * n[0]);
    dy[ELASTIC] = 0.5 * (y[MOMENT] * y[MOMENT] / p->EI + p->stretch * N_ * N_ + p->shear * Q * Q);
    dy[HEIGHT] = p->weight * y[Y];
}

// Integrate from the tip, placed at the origin, to the root; y <- the state at the root.
static void shoot(shooting_case *k, double tip, double y[N]) {
    k->tip = tip;
    for (int i = 0; i < N; i++) y[i] = 0;
    y[ANGLE] = tip;
    y[MOMENT] = k->p->moment;
    (void)oracle_ode(N, rate, k, k->p->L, 0, 1e-13, y);
}

// In units of the length and of EI / L.
static oracle_planar scaled(const oracle_planar *p) {
    const double L = p->L, force = p->EI / (L * L);
    return (oracle_planar){.L = 1,
                           .EI = 1,
                           .stretch = p->stretch * force,
                           .shear = p->shear * force,
                           .weight = p->weight * L / force,
                           .dead = {p->dead[0] / force, p->dead[1] / force},
                           .follower = {p->follower[0] / force, p->follower[1] / force},
                           .moment = p->moment * L / p->EI};
}

oracle_planar_tip oracle_planar_solve(const oracle_planar *given, double guess) {
    const oracle_planar units = scaled(given), *p = &units;
    const double L = given->L, moment = given->EI / L;
    shooting_case k = {.p = p};
    double a = guess, b = guess + 1e-3, ya[N], yb[N];
    shoot(&k, a, ya);
    for (int i = 0; i < 60; i++) {
        shoot(&k, b, yb);
        const double slope = (yb[ANGLE] - ya[ANGLE]) / (b - a);
        if (!(fabs(yb[ANGLE]) > 1e-14 * (1 + fabs(b))) || !isfinite(1 / slope)) break;
        const double next = b - fmax(-0.3, fmin(0.3, yb[ANGLE] / slope));
        a = b;
        for (int j = 0; j < N; j++) ya[j] = yb[j];
        b = next;
        if (b == a) break;
    }
    if (!(fabs(yb[ANGLE]) < 1e-11)) {
        fprintf(stderr, "oracle: shooting missed the clamp by %g\n", yb[ANGLE]);
        abort();
    }
    // The integrals were taken from L to 0.
    return (oracle_planar_tip){.x = -L * yb[X],
                               .y = -L * yb[Y],
                               .angle = b,
                               .root_moment = moment * yb[MOMENT],
                               .elastic = -moment * yb[ELASTIC],
                               .gravity = -moment * (yb[HEIGHT] + yb[Y] * p->weight * p->L)};
}
