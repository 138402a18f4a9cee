// SPDX-License-Identifier: MIT
#include "shoot/march.h"

#include "shoot/march_kernel.h"
#include "shoot/replica.h"

const snw_along snw_along_methods[] = {
    {SNW_ALONG_EULER, 1, 1, {0}, {0, 1}, {{0}}, {1}},
    {SNW_ALONG_RK4,
     4,
     2,
     {0, 1, 1, 2},
     {0, 0.5, 1},
     {{0}, {0.5}, {0, 0.5}, {0, 0, 1}},
     {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6}},
    {SNW_ALONG_DP5,
     6,
     5,
     {0, 1, 2, 3, 4, 5},
     {0, 0.2, 0.3, 0.8, 8.0 / 9, 1},
     {{0},
      {1.0 / 5},
      {3.0 / 40, 9.0 / 40},
      {44.0 / 45, -56.0 / 15, 32.0 / 9},
      {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
      {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656}},
     {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}},
};

const snw_along *snw_along_of(snw_space_kind kind) { return &methods[kind]; }

// Round rods and the like, by Euler or RK4: each kernel has its flags as constants.
#define PLAIN (SNW_FIELD_WORLD | POSE)
#define FAST(X)                                                                                    \
    X(SNW_FIELD_DIAGONAL, SNW_ALONG_RK4)                                                           \
    X(SNW_FIELD_DIAGONAL, SNW_ALONG_EULER)                                                         \
    X(SNW_FIELD_DIAGONAL | PLAIN, SNW_ALONG_RK4)                                                   \
    X(SNW_FIELD_DIAGONAL | PLAIN, SNW_ALONG_EULER)                                                 \
    X(SNW_FIELD_DIAGONAL | SNW_FIELD_LAW, SNW_ALONG_RK4)                                           \
    X(SNW_FIELD_DIAGONAL | SNW_FIELD_LAW | PLAIN, SNW_ALONG_RK4)                                   \
    X(SNW_FIELD_DIAGONAL | SNW_FIELD_LAW | PLAIN, SNW_ALONG_EULER)

static int flags_of(const snw_shoot_rod *r, bool pose) {
    return (r->diagonal ? SNW_FIELD_DIAGONAL : 0) | (r->law ? SNW_FIELD_LAW : 0) |
           (r->world ? PLAIN : (pose ? POSE : 0));
}

static void dispatch(snw_shoot_rod *r, int node, int n, bool pose, int columns, double *S,
                     snw_shoot_state *y) {
    const int flags = flags_of(r, pose);
    const snw_space_kind along = r->method->kind;
#define X(k, method)                                                                               \
    if (flags == (k) && along == (method)) {                                                       \
        if (columns == 0) {                                                                        \
            march(k, method, r, node, n, 0, S, y);                                                 \
        } else {                                                                                   \
            march(k, method, r, node, n, columns, S, y);                                           \
        }                                                                                          \
        return;                                                                                    \
    }
    FAST(X)
#undef X
    march(flags, along, r, node, n, columns, S, y);
}

void snw_shoot_march(snw_shoot_rod *r, int node, int n, bool pose, const snw_shoot_state *start,
                     snw_shoot_state *end) {
    if (r->replica) {
        snw_replica_march(r, node, n, start, end);
        return;
    }
    *end = *start;
    dispatch(r, node, n, pose || r->world, 0, NULL, end);
}

void snw_shoot_march_vary(snw_shoot_rod *r, int node, int n, bool pose,
                          const snw_shoot_state *start, int columns, double *S,
                          snw_shoot_state *end) {
    SNW_ASSERT(columns % SNW_LANES == 0);
    if (r->replica) {
        snw_replica_march_vary(r, node, n, start, columns, S, end);
        return;
    }
    *end = *start;
    dispatch(r, node, n, pose || r->world, columns, S, end);
}

double snw_shoot_error(const snw_shoot_rod *r, int node) {
    // weights of order 5 less those of order 4; the seventh stage is at the end
    static const double off[7] = {35.0 / 384 - 5179.0 / 57600,
                                  0,
                                  500.0 / 1113 - 7571.0 / 16695,
                                  125.0 / 192 - 393.0 / 640,
                                  -2187.0 / 6784 + 92097.0 / 339200,
                                  11.0 / 84 - 187.0 / 2100,
                                  -1.0 / 40};
    const snw_shoot_piece *piece = &r->piece[snw_shoot_piece_of(r, node)];
    const int nz = snw_shoot_nz(r), np = methods[SNW_ALONG_DP5].np;
    const int point = piece->point + (node - piece->node) * np, flags = flags_of(r, true);
    SNW_ASSERT(r->method->kind == SNW_ALONG_DP5 && node < piece->node + piece->n);
    snw_shoot_state y = {.g = r->g[node], .V = r->V[node], .F = r->F[node]};
    for (int i = 0; i < nz; i++) y.z[i] = r->z[node * nz + i];
    snw_stage st[SNW_SHOOT_STAGES], last;
    stages(flags, SNW_ALONG_DP5, r, point, piece->h, false, &y, st);
    finish(flags, SNW_ALONG_DP5, r, piece->h, st, &y);
    y.g = snw_se3_mul(y.g, snw_se3_exp(advance_by(SNW_ALONG_DP5, piece->h, st)));
    last.V = y.V, last.F = y.F, last.Q = snw_mat3_identity();
    for (int i = 0; i < nz; i++) last.z[i] = y.z[i];
    if (r->world) see_loads(r, point + np, y.g.R, &last);
    snw_field(flags, r, section_at(r, point + np), point + np, false, &last);
    const double c0 = r->formula.c[0] > 0 ? r->formula.c[0] : 1, L = r->length, h = piece->h;
    // the pose: strains integrated by both, and the bracket of the strains at 0.3 and 0.8 in place of that at both ends
    const snw_twist ends = snw_ad(st[0].xi, st[5].xi), within = snw_ad(st[2].xi, st[3].xi);
    double worst = 0;
    for (int c = 0; c < 6; c++) {
        double W = h / 12 * (ends.e[c] - 2 * within.e[c]) + off[6] * last.xi.e[c];
        for (int i = 0; i < 6; i++) W += off[i] * st[i].xi.e[c];
        const double w = fabs(h * W) / (c < 3 ? 1 : L);
        if (!(w <= worst)) worst = w;
        double V = off[6] * last.Vs.e[c], F = off[6] * last.Fs.e[c];
        for (int i = 0; i < 6; i++) V += off[i] * st[i].Vs.e[c], F += off[i] * st[i].Fs.e[c];
        const double v = fabs(h * V) / (c < 3 ? c0 : c0 * L);
        const double f = fabs(h * F) / (c < 3 ? r->force * L : r->force);
        if (!(v <= worst)) worst = v;
        if (!(f <= worst)) worst = f;
    }
    return worst;
}
