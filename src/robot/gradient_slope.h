// SPDX-License-Identifier: MIT
//
// gradient_slope.h: derivative of the arrays of a model (study/model_arrays.h) by a number of the
// file, theory.md (7.5.11): the numbers that are not zero.
#pragma once

#include "sinew/status.h"
#include "study/model_arrays.h"

#include <stdint.h>

typedef struct gradient_slope {
    int entry;     // of p
    bool sections; // of the vector by sections
    size_t n;
    uint32_t *at;        // n: places in the vector of the arrays
    double *by, *coarse; // n: derivatives; the same with differences of lower order
} gradient_slope;

// A sample of the arrays: the model at another value, and its weights in both derivatives.
typedef struct gradient_sample {
    const snw_model *m;
    double weight, coarse;
} gradient_sample;

// *out <- the weighted sum of the arrays of n samples; free it by gradient_slope_close.
SNW_NODISCARD snw_status gradient_slope_find(const snw_model_arrays *a, int n,
                                             const gradient_sample *sample, gradient_slope *out);
void gradient_slope_close(gradient_slope *s);
// Do the arrays of m lie in the middle between those of low and high?
SNW_NODISCARD snw_status gradient_slope_straight(const snw_model_arrays *a, const snw_model *low,
                                                 const snw_model *m, const snw_model *high,
                                                 bool *out);
// Derivative of a scalar: its bars times the slope; *coarse <- that of lower order, *size <- the
// sum of the sizes of its terms.
double gradient_slope_product(const gradient_slope *s, const double *bars, double *coarse,
                              double *size);

// Slopes of n numbers that are moved several at once, by move[k] each: x holds vectors of the
// arrays, first at p; then, for each bit b, with the numbers k moved in whose k + 1 bit b is set;
// then two with all of them moved, by the fractions `fraction` (2 x n). Where each array number
// depends on one number of the file only, linearly, the bits tell on which: owner (size) <- 1 + k
// or 0, slope (size) <- derivative. *ok <- the last two vectors confirm it.
void gradient_group_decode(const snw_model_arrays *a, int n, const double *move, int bits,
                           const double *x, const double *fraction, int *owner, double *slope,
                           double *scale, bool *ok);
// After the first two bits already: has no array number changed in both by different amounts?
bool gradient_group_apart(const snw_model_arrays *a, const double *x);
// *out <- the slope of number k of the group.
SNW_NODISCARD snw_status gradient_group_slope(const snw_model_arrays *a, int k, const int *owner,
                                              const double *slope, gradient_slope *out);
