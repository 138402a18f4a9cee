// SPDX-License-Identifier: MIT
//
// tracking_limits.h: limits of the inputs u of solve/tracking.h and of their changes from step to
// step, by a primal-dual interior-point method: mu sum(-log(slack)) is added to the sum of squares,
// with multipliers z of the limits, z slack -> mu, and mu -> 0. Arrays are nu by steps.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SNW_TRACKING_SIDES = 4 }; // low, high, fall, rise

typedef struct snw_tracking_limits {
    int steps, nu;
    const double *low, *high; // nu; -INFINITY, INFINITY: none
    const double *change;     // nu: most between two steps; INFINITY: none
    const double *before;     // nu: inputs before the first step
    double mu;
    double *z[SNW_TRACKING_SIDES];
    double *weight, *gradient;               // of the values, for snw_tracking
    double *change_weight, *change_gradient; // of the changes
} snw_tracking_limits;

// Number of finite limits in all steps.
size_t snw_limits_count(const snw_tracking_limits *l);
// The first input that no sequence brings within its limits; -1: none.
int snw_limits_contradiction(const snw_tracking_limits *l);
// u <- nearby, strictly within all limits.
void snw_limits_enter(const snw_tracking_limits *l, double *u);
// z <- mu/slack at u.
void snw_limits_begin(snw_tracking_limits *l, const double *u);
// Weights and gradients <- second and first derivatives at u.
void snw_limits_weigh(snw_tracking_limits *l, const double *u);
// sum(-log(slack)) at u; INFINITY outside.
double snw_limits_barrier(const snw_tracking_limits *l, const double *u);
// x <- within the range that is left for input i of step n in a new sequence, whose input in the
// step before is `previous`, from the sequence u: a part of each slack stays.
double snw_limits_clip(const snw_tracking_limits *l, const double *u, int n, int i, double previous,
                       double x);
// Is input i of step n of u, or its change, at a limit: within a thousandth of the range?
bool snw_limits_hold(const snw_tracking_limits *l, const double *u, int n, int i);
// z <- after the step from u to `next`, the part `part` of the whole one.
void snw_limits_update(snw_tracking_limits *l, const double *u, const double *next, double part);
