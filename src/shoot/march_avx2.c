// SPDX-License-Identifier: MIT
//
// The marches once more, for x86 processors with vectors of four and fused multiply-add; the build
// gives this file its flags.
#include "shoot/march.h"

#ifdef __AVX2__
#include "shoot/march_kernel.h"

void snw_march_avx2(snw_shoot_rod *r, int node, int n, bool pose, int columns, double *S,
                    snw_shoot_state *y) {
    march_rod(r, node, n, pose, columns, S, y);
}
#endif
