// SPDX-License-Identifier: MIT
//
// gradient_slope.h: derivative of the numbers of the models (gradient_numbers.c) by a number of the
// file, theory.md (7.5.11): those that are not zero.
#pragma once

#include "sinew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Rounding of a number, relative to the largest of its matrix.
static const double gradient_rounding = 1e-14;

typedef struct gradient_slope {
    int entry;     // of p
    bool sections; // of the vector by sections
    size_t n;
    uint32_t *at;        // n: places in the vector
    double *by, *coarse; // n: derivatives; the same with differences of lower order
} gradient_slope;

// *out <- the derivative sum (size) of the vector, and that of lower order; free it by
// gradient_slope_close.
SNW_NODISCARD snw_status gradient_slope_find(size_t size, const double *sum, const double *coarse,
                                             gradient_slope *out);
void gradient_slope_close(gradient_slope *s);
// Does x lie in the middle between low and high? scale (size): for rounding
bool gradient_slope_straight(size_t size, const double *low, const double *x, const double *high,
                             const double *scale);
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
// x: vectors at p and in `models` of those models, 2 or more; move (n). *ok <- each array number
// depends on one number only, linearly, in all of them. scale (size): for rounding
void gradient_group_linear(size_t size, int n, const double *move, int models, const double *x,
                           const double *scale, gradient_owners *out, bool *ok);

// The same for numbers that do not enter linearly: x holds the vectors at p; with those numbers
// moved in whose k + 1 bit b is set, for each bit b, so that the bits in which an array number
// changes spell its owner; then with all of them moved by the steps of six samples, of which the
// last has the same moves as the bits. *ok <- each array number depends on one number only. noise
// (size): changes up to which are none; 0 where models give the same number to the last bit
void gradient_group_bits(size_t size, int n, int bits, const double *x, const double *noise,
                         gradient_owners *out, bool *ok);
// Can it be, after the models of the bits alone?
bool gradient_group_owned(size_t size, int n, int bits, const double *x, const double *noise);
// by, coarse <- derivatives from the vector x0 at p and those of the six samples x, with the steps
// of the numbers.
void gradient_group_samples(size_t size, const double *step, const double *x0, const double *x,
                            gradient_owners *out);
// Numbers of the file that share array numbers, each of which is a sum of linear functions of them.
// x0, x: vectors at p and with one number moved by `move`; by (size) <- its derivatives, and sum
// (size) += its part in the vector of all numbers moved by these fractions of their moves.
void gradient_shared_add(size_t size, double move, double fraction, const double *x0,
                         const double *x, const double *scale, double *by, double *sum);
// Is x that vector?
bool gradient_shared_is(size_t size, const double *x0, const double *x, const double *sum,
                        const double *scale);
// *out <- the slope of number k of the group.
SNW_NODISCARD snw_status gradient_group_slope(size_t size, int k, const gradient_owners *from,
                                              gradient_slope *out);
