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

// A <- its eigenvalues on the diagonal, V <- eigenvectors by columns, by Jacobi's rotations.
static void eigen_symmetric(snw_mat3 *A, snw_mat3 *V) {
    *V = snw_mat3_identity();
    for (int sweep = 0; sweep < 12; sweep++) {
        for (int k = 0; k < 3; k++) {
            const int i = k, j = (k + 1) % 3;
            if (A->e[i][j] == 0) continue;
            // at most an eighth of a turn, else the sweeps need not converge
            const double d = A->e[j][j] - A->e[i][i], a = d < 0 ? -A->e[i][j] : A->e[i][j];
            const double turn = 0.5 * atan2(2 * a, fabs(d));
            snw_mat3 R = snw_mat3_identity();
            R.e[i][i] = R.e[j][j] = cos(turn);
            R.e[i][j] = sin(turn);
            R.e[j][i] = -sin(turn);
            *A = snw_mat3_mul(snw_mat3_transpose(R), snw_mat3_mul(*A, R));
            *V = snw_mat3_mul(*V, R);
            A->e[i][j] = A->e[j][i] = 0;
        }
    }
}

snw_mat3 snw_inertia_nearest(const snw_mat3 *I, double p[3]) {
    snw_mat3 A = *I, V, out = {0};
    eigen_symmetric(&A, &V);
    const double half = 0.5 * (A.e[0][0] + A.e[1][1] + A.e[2][2]);
    double trace = 0;
    for (int k = 0; k < 3; k++) {
        const double second = fmax(half - A.e[k][k], 0);
        trace += second;
        for (int i = 0; i < 9; i++) out.e[i / 3][i % 3] -= second * V.e[i / 3][k] * V.e[i % 3][k];
        int at = k; // sorted in
        for (; at > 0 && p[at - 1] > A.e[k][k]; at--) p[at] = p[at - 1];
        p[at] = A.e[k][k];
    }
    for (int i = 0; i < 3; i++) out.e[i][i] += trace;
    return out;
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
