// SPDX-License-Identifier: MIT
//
// Inverse dynamics of strong.h by adaptive Runge-Kutta: pose, twist and acceleration forward; then
// all equations together backward from the tip, as in the second appendix of Boyer et al. (with the
// sign of theory.md 8).
#include "oracle/strong.h"

#include "oracle/linear.h"
#include "oracle/ode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUAT = 0,
    PLACE = 4,
    TWIST = 7,
    RATE = 13,
    FORWARD = 19,
    WRENCH = 19,
    ENERGY = 25,
    PROJECT = 27
};
enum { MOST_STRETCHES = 256 };

typedef struct run {
    const oracle_rod *q;
    double middle;
    bool backward;
    int ndof;
} run;

static snw_twist twist_of(const double *y) {
    snw_twist V;
    memcpy(V.e, y, sizeof V.e);
    return V;
}

static snw_se3 pose_of(const double *y) {
    const snw_quat h = {{y[QUAT], y[QUAT + 1], y[QUAT + 2], y[QUAT + 3]}};
    return (snw_se3){snw_quat_to_mat3(h), {{y[PLACE], y[PLACE + 1], y[PLACE + 2]}}};
}

static void rate(void *user, double x, const double *y, double *dy) {
    const run *k = user;
    oracle_fields f;
    oracle_fields_at(k->q, x, k->middle, &f);
    const snw_se3 g = pose_of(y);
    const snw_twist V = twist_of(y + TWIST), A = twist_of(y + RATE);

    // h' = h (0, K) / 2, p' = R Gamma
    const snw_vec3 K = f.xi.w, dp = snw_rotate(g.R, f.xi.v);
    const double *h = y + QUAT;
    dy[QUAT] = 0.5 * (-h[1] * K.x - h[2] * K.y - h[3] * K.z);
    dy[QUAT + 1] = 0.5 * (h[0] * K.x + h[2] * K.z - h[3] * K.y);
    dy[QUAT + 2] = 0.5 * (h[0] * K.y + h[3] * K.x - h[1] * K.z);
    dy[QUAT + 3] = 0.5 * (h[0] * K.z + h[1] * K.y - h[2] * K.x);
    for (int i = 0; i < 3; i++) dy[PLACE + i] = dp.e[i];
    const snw_twist dV = snw_twist_sub(f.dxi, snw_ad(f.xi, V));
    const snw_twist dA = snw_twist_sub(snw_twist_sub(f.ddxi, snw_ad(f.xi, A)), snw_ad(f.dxi, V));
    for (int i = 0; i < 6; i++) dy[TWIST + i] = dV.e[i], dy[RATE + i] = dA.e[i];
    if (!k->backward) return;

    snw_wrench L;
    memcpy(L.e, y + WRENCH, sizeof L.e);
    snw_wrench dL = snw_wrench_add(snw_ad_pull(f.xi, L), oracle_inertia(k->q, &f.M, g.R, V, A));
    dL = snw_wrench_sub(dL, f.follow);
    dL.m = snw_sub(dL.m, snw_rotate_inv(g.R, f.dead.m));
    dL.f = snw_sub(dL.f, snw_rotate_inv(g.R, f.dead.f));
    memcpy(dy + WRENCH, dL.e, sizeof dL.e);
    // These integrals are taken from the tip to the root, against the direction of x.
    dy[ENERGY] = -oracle_kinetic(&f.M, V);
    dy[ENERGY + 1] = -oracle_potential(k->q, &f.M, g);
    memset(dy + PROJECT, 0, (size_t)k->ndof * sizeof *dy);
    for (int i = 0; i < f.n; i++) {
        dy[PROJECT + f.dof[i]] = f.phi[i] * (L.e[f.comp[i]] - f.stress.e[f.comp[i]]);
    }
}

void oracle_by_runge_kutta(const oracle_rod *q, double tol, oracle_answer *a) {
    const int ndof = q->m->rod[q->rod].ndof;
    run k = {.q = q, .ndof = ndof};
    double x[MOST_STRETCHES], *y = oracle_alloc((size_t)(PROJECT + ndof), sizeof *y);
    const int n = oracle_stretches(q, x, MOST_STRETCHES);
    double *const r = a->r;
    *a = (oracle_answer){.r = r};

    const snw_quat h = snw_quat_from_mat3(q->g.R);
    for (int i = 0; i < 4; i++) y[QUAT + i] = h.e[i];
    for (int i = 0; i < 3; i++) y[PLACE + i] = q->g.p.e[i];
    for (int i = 0; i < 6; i++) y[TWIST + i] = q->V.e[i], y[RATE + i] = q->dV.e[i];
    for (int i = 0; i + 1 < n; i++) {
        k.middle = 0.5 * (x[i] + x[i + 1]);
        a->calls += oracle_ode(FORWARD, rate, &k, x[i], x[i + 1], tol, y);
    }
    a->tip = pose_of(y), a->V = twist_of(y + TWIST), a->dV = twist_of(y + RATE);
    snw_inertia store;
    const snw_inertia *body = oracle_body(q, &store);
    if (body) {
        y[ENERGY] = oracle_kinetic(body, a->V);
        y[ENERGY + 1] = oracle_potential(q, body, a->tip);
    }

    k.backward = true;
    int watch = q->nwatch - 1;
    for (int i = n - 1; i >= 0; i--) {
        // At a station with a load the wrench would depend on the side; the tests keep stations and
        // loads apart.
        const snw_wrench F =
            oracle_lump(q, x[i], pose_of(y), twist_of(y + TWIST), twist_of(y + RATE));
        for (int c = 0; i > 0 && c < 6; c++) y[WRENCH + c] += F.e[c];
        if (watch >= 0 && fabs(q->watch[watch] - x[i]) <= 1e-12 * x[n - 1]) {
            memcpy(a->watch[watch--].e, y + WRENCH, sizeof F.e);
        }
        if (i == 0) break;
        k.middle = 0.5 * (x[i - 1] + x[i]);
        a->calls += oracle_ode(PROJECT + ndof, rate, &k, x[i], x[i - 1], tol, y);
    }
    memcpy(a->root.e, y + WRENCH, sizeof a->root.e);
    a->kinetic = y[ENERGY];
    a->gravity = y[ENERGY + 1];
    for (int i = 0; i < ndof; i++) r[i] = y[PROJECT + i];
    free(y);
}
