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
    *end = *start;
    dispatch(r, node, n, pose || r->world, columns, S, end);
    if (r->replica) snw_replica_march(r, node, n, start, end);
}
