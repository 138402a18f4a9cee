// SPDX-License-Identifier: MIT
//
// difference.h: weights of differences on equally spaced nodes, central and one-sided.
#pragma once

// weight[i] (2 half + 1) <- of the values at the nodes shift - half + i, so that their sum is the
// derivative at node 0 of the polynomial through the values, for a spacing of one; |shift| <= half.
void snw_difference_weights(int half, int shift, double *weight);
