// SPDX-License-Identifier: MIT
//
// Weights of differences: derivatives at 0 of Lagrange's polynomials.
#include "math/difference.h"

void snw_difference_weights(int half, int shift, double *weight) {
    double own = 0; // of node 0: the weights sum to 0
    for (int a = shift - half; a <= shift + half; a++) {
        if (a == 0) continue;
        double w = 1.0 / a;
        for (int b = shift - half; b <= shift + half; b++) {
            if (b != 0 && b != a) w *= (double)b / (b - a);
        }
        weight[a - shift + half] = w;
        own -= w;
    }
    weight[half - shift] = own;
}
