// SPDX-License-Identifier: MIT
//
// moving_rod.h: a fast moving rod in which all six strains vary strongly, and the error of its
// discretisation against an oracle without segments (oracle/strong.h).
#pragma once

#include "oracle/linear.h"
#include "oracle/strong.h"
#include "oracle/trial.h"

#include "random_rod.h"

// The rod; the caller sets the rule of integration along it.
static inline void moving_rod(robot *r) {
    robot_init(r, 1, 0.03);
    r->link[0].rod.section.size[0] = law(r, "0.03 - 0.01*x/L");
    r->link[0].rod.rest[SNW_BEND_Y] = law(r, "sin(4*x/(1 m))");
    r->desc.gravity[2] = number(r, -9.81);
    for (int i = 0; i < 6; i++) robot_strain(r, 0, i, SNW_BASIS_CHEBYSHEV, 4);
}

static inline void moving_rod_state(const trial *t, uint64_t seed) {
    dice d = {seed};
    for (int i = 0; i < t->m->nv; i++) {
        const double size = i < 12 ? 2 : 0.1; // angular, linear
        t->s->q[i] = roll(&d, -size, size);
        t->s->v[i] = roll(&d, -size, size);
        t->s->a[i] = roll(&d, -size, size);
    }
}

enum { TIP, TURN, KINETIC, GRAVITY, FORCE, SPEED, RATE, KINDS };

// Errors of tip position and rotation, kinetic and gravity energy, generalised forces, tip
// velocity and acceleration.
static inline void moving_rod_errors(const trial *t, double e[KINDS]) {
    const size_t n = (size_t)t->m->nv;
    oracle_answer a = {.r = oracle_alloc(n, sizeof(double))};
    const oracle_rod q = {.m = t->m, .s = t->s, .g = snw_se3_identity()};
    oracle_by_runge_kutta(&q, 1e-13, &a);
    snw_residual(t->m, t->in, t->s, false, t->w);
    const int end = t->m->link_end[0];
    const snw_se3 g = t->w->g[end];
    e[TIP] = oracle_distance(3, g.p.e, a.tip.p.e);
    e[TURN] = oracle_distance(9, &g.R.e[0][0], &a.tip.R.e[0][0]);
    e[KINETIC] = fabs(snw_kinetic_energy(t->m, t->w) / a.kinetic - 1);
    e[GRAVITY] = fabs(snw_gravity_energy(t->m, t->in, t->w) / a.gravity - 1);
    e[FORCE] = oracle_distance(n, t->w->r, a.r) / oracle_size(n, a.r);
    e[SPEED] = oracle_distance(6, t->w->V[end].e, a.V.e) / oracle_size(6, a.V.e);
    // A contains gravity as an upward acceleration, in the section's frame
    snw_twist A = t->w->A[end];
    A.v = snw_add(A.v, snw_rotate_inv(g.R, t->in->gravity));
    e[RATE] = oracle_distance(6, A.e, a.dV.e) / oracle_size(6, a.dV.e);
    free(a.r);
}
