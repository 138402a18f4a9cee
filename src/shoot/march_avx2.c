// SPDX-License-Identifier: MIT
//
// The march kernels compiled for x86 processors with AVX2 and fused multiply-add; the build sets
// the compiler flags of this file.

#include "shoot/march.h"

#ifdef __AVX2__
#include "shoot/march_kernel.h"

void snw_march_avx2(snw_shoot_rod *r, int node, int n, bool pose, int columns, double *S,
                    snw_shoot_state *y) {
    march_rod(r, node, n, pose, columns, S, y);
}
#endif
