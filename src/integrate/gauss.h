// SPDX-License-Identifier: MIT
//
// gauss.h: time integration by Gauss collocation: steps of s stages, order 2 s, symmetric in time.
// The unknowns are the accelerations at the stages; the residual vanishes there, and work and heat
// are sums over them (theory.md 6.7). Constraint rows may be drives, imposed exactly at the stages,
// or nonholonomic. A step allocates nothing and, when it fails, changes nothing.
#pragma once

#include "integrate/step_control.h"
#include "solve/collocation.h"

typedef struct snw_gauss_collocation snw_gauss_collocation;

typedef struct snw_gauss_opts {
    snw_collocation points;
    snw_chart chart;
    double tolerance; // as in snw_implicit_opts
    bool tighten;     // lower the tolerance to the step's own error, theory.md (6.13)
    int max_iter;
} snw_gauss_opts;

SNW_NODISCARD snw_status snw_gauss_create(const snw_model *m, const snw_gauss_opts *opts,
                                          snw_gauss_collocation **out);

// Single-step interface, as that of snw_implicit. The local error is that of the configuration
// within the last step: the change that the acceleration at its start, which the polynomial does
// not interpolate, would cause. It scales with h^(stages + 2).
extern const snw_stepper snw_gauss_stepper;

size_t snw_gauss_saves(const snw_model *m, const snw_collocation *points);
