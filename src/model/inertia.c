// SPDX-License-Identifier: MIT
//
// Inertia of rigid bodies: from centre of mass and central inertia, and in another frame.
#include "model/inertia.h"

#include <math.h>

bool snw_mat3_semidefinite(const snw_mat3 *A, double slack) {
    const double(*a)[3] = A->e;
    const double scale = fabs(a[0][0]) + fabs(a[1][1]) + fabs(a[2][2]);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        if (!(a[i][i] >= -slack * scale)) return false;
        if (!(a[i][i] * a[j][j] - a[i][j] * a[j][i] >= -slack * scale * scale)) return false;
    }
    const double det = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
                       a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
                       a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    return det >= -slack * scale * scale * scale;
}

snw_inertia snw_inertia_of_body(double mass, snw_vec3 com, snw_mat3 central) {
    const double x = com.x, y = com.y, z = com.z;
    return (snw_inertia){
        .m = mass,
        .mc = snw_scale(mass, com),
        .I = {central.e[0][0] + mass * (y * y + z * z), central.e[1][1] + mass * (z * z + x * x),
              central.e[2][2] + mass * (x * x + y * y),
              0.5 * (central.e[1][2] + central.e[2][1]) - mass * y * z,
              0.5 * (central.e[2][0] + central.e[0][2]) - mass * z * x,
              0.5 * (central.e[0][1] + central.e[1][0]) - mass * x * y},
    };
}

// The first moment is R mc + m p. The rotational inertia (R I R' and the parallel-axis terms) is
// the angular momentum about the new origin of unit rotations about its axes.
snw_inertia snw_inertia_seen(snw_se3 g, const snw_inertia *M) {
    snw_inertia out = {.m = M->m};
    double A[3][3];
    for (int k = 0; k < 3; k++) {
        snw_twist V = snw_twist_zero();
        V.w.e[k] = 1;
        const snw_wrench P =
            snw_wrench_to_parent(g, snw_inertia_apply(M, snw_twist_to_child(g, V)));
        for (int i = 0; i < 3; i++) A[i][k] = P.m.e[i];
    }
    out.mc = snw_add(snw_rotate(g.R, M->mc), snw_scale(M->m, g.p));
    const double I[6] = {A[0][0], A[1][1], A[2][2], A[1][2], A[0][2], A[0][1]};
    for (int i = 0; i < 6; i++) out.I[i] = I[i];
    return out;
}
