// SPDX-License-Identifier: MIT
//
// gauss.h: a model in motion by Gauss' collocation: steps of s stages, order 2 s, symmetric in
// time. Accelerations at the stages are the unknowns; forces balance there, and works and heat are
// sums over them. theory.md 6.7. A step allocates nothing and, when it fails, changes nothing.
// Models whose rows are all drives: what is driven has its laws at the stages.
#pragma once

#include "integrate/step_control.h"

typedef struct snw_gauss_collocation snw_gauss_collocation;

typedef struct snw_gauss_opts {
    int stages;
    snw_chart chart;
    double tolerance; // as of snw_implicit_opts,
    bool tighten;     // or less, where the step's own error is smaller: theory.md (6.13)
    int max_iter;
} snw_gauss_opts;

SNW_NODISCARD snw_status snw_gauss_create(const snw_model *m, const snw_gauss_opts *opts,
                                          snw_gauss_collocation **out);

// What it does, as snw_implicit. Its error is that of the configuration within the last step: what
// the acceleration at its start, which the polynomial does not know, would change. It falls with
// the power stages + 2 of the step.
extern const snw_stepper snw_gauss_stepper;

size_t snw_gauss_saves(const snw_model *m, int stages);
