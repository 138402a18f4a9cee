// SPDX-License-Identifier: MIT
//
// Poses of a frame as numbers, in the form that result files, pages and the public API share.
#include "study/record.h"

#include <math.h>

// The quaternion is computed from its largest component, which avoids cancellation.
void snw_frame_pose(const snw_se3 *g, double out[SNW_FRAME_POSE]) {
    const double(*R)[3] = g->R.e;
    const double trace = R[0][0] + R[1][1] + R[2][2];
    double q[4] = {1 + trace, 1 + 2 * R[0][0] - trace, 1 + 2 * R[1][1] - trace,
                   1 + 2 * R[2][2] - trace}; // 4 q_i^2
    int k = 0;
    for (int i = 1; i < 4; i++) {
        if (q[i] > q[k]) k = i;
    }
    // rows of 4 q_i q_j
    const double w[3] = {R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]};
    const double xy = R[0][1] + R[1][0], xz = R[0][2] + R[2][0], yz = R[1][2] + R[2][1];
    const double pair[4][4] = {
        {q[0], w[0], w[1], w[2]}, {w[0], q[1], xy, xz}, {w[1], xy, q[2], yz}, {w[2], xz, yz, q[3]}};
    double norm = 0;
    for (int i = 0; i < 4; i++) norm += pair[k][i] * pair[k][i];
    const double scale = (pair[k][0] < 0 ? -1 : 1) / sqrt(norm);
    out[0] = g->p.x;
    out[1] = g->p.y;
    out[2] = g->p.z;
    for (int i = 0; i < 4; i++) out[3 + i] = scale * pair[k][i];
}
