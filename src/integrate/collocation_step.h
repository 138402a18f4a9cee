// SPDX-License-Identifier: MIT
//
// collocation_step.h: time integration by collocation: steps of s stages. Gauss: order 2 s,
// symmetric in time; Radau: order 2 s - 1, damps fast motions.
// The unknowns are the accelerations at the stages; the residual vanishes there, and work and heat
// are sums over them (theory.md 6.7). Constraint rows may be drives, imposed exactly at the stages,
// or nonholonomic. A step allocates nothing and, when it fails, changes nothing.
#pragma once

#include "integrate/step_control.h"
#include "solve/collocation.h"

typedef struct snw_collocation_step snw_collocation_step;

typedef struct snw_collocation_step_opts {
    snw_collocation points;
    snw_chart chart;
    double tolerance; // as in snw_implicit_opts
    bool tighten;     // lower the tolerance to the step's own error, theory.md (6.13)
    int max_iter;
} snw_collocation_step_opts;

SNW_NODISCARD snw_status snw_collocation_step_create(const snw_model *m,
                                                     const snw_collocation_step_opts *opts,
                                                     snw_collocation_step **out);

// Single-step interface, as that of snw_implicit. The local error is that of the configuration
// within the last step: the change that the acceleration at its start, which the polynomial does
// not interpolate, would cause. It scales with h^(stages + 2).
extern const snw_stepper snw_collocation_stepper;

// Driven coordinates of s <- the values and derivatives of their laws.
void snw_collocation_impose(const snw_model *m, const snw_inputs *in, snw_state *s);

size_t snw_collocation_step_saves(const snw_model *m, const snw_collocation *points);
