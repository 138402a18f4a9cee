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
    double *start; // 2 nv: derivatives of the initial configuration and velocities; NULL: none
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

// Slopes of numbers of the file that are moved together, where each array number depends on one of
// them only. owner (size) <- 1 + number, or 0; by, coarse (size) <- derivatives.
typedef struct gradient_owners {
    int *owner;
    double *by, *coarse;
} gradient_owners;

// Fraction of its move by which number k of n is moved in model i of GRADIENT_MOVED. The first two
// tell the number on which an array number depends linearly: the ratio of its changes is that of
// the fractions.
enum { GRADIENT_MOVED = 3 };
double gradient_group_fraction(int i, int k, int n);
// x: vectors of the arrays at p and in `models` of those models, 2 or more; move (n). *ok <- each
// array number depends on one number only, linearly, in all of them. scale (size): scratch
void gradient_group_linear(const snw_model_arrays *a, int n, const double *move, int models,
                           const double *x, double *scale, gradient_owners *out, bool *ok);

// The same for numbers that do not enter linearly: x holds the vectors at p; with those numbers
// moved in whose k + 1 bit b is set, for each bit b, so that the bits in which an array number
// changes spell its owner; then with all of them moved by the steps of six samples, of which the
// last has the same moves as the bits. *ok <- each array number depends on one number only.
void gradient_group_bits(const snw_model_arrays *a, int n, int bits, const double *x,
                         gradient_owners *out, bool *ok);
// by, coarse <- derivatives from the vectors x of the six samples, with the steps of the numbers.
void gradient_group_samples(const snw_model_arrays *a, const double *step, const double *x,
                            gradient_owners *out);
// *out <- the slope of number k of the group.
SNW_NODISCARD snw_status gradient_group_slope(const snw_model_arrays *a, int k,
                                              const gradient_owners *from, gradient_slope *out);
