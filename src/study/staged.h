// SPDX-License-Identifier: MIT
//
// staged.h: a model in motion by Gauss' collocation: steps of s stages, order 2 s, symmetric in time. Accelerations at the
// stages are the unknowns; forces balance there, and works and heat are sums over them. theory.md 6.7. A step allocates
// nothing and, when it fails, changes nothing. Models whose rows are all drives: what is driven has its laws at the stages.
#pragma once

#include "study/motion.h"

typedef struct snw_staged snw_staged;

typedef struct snw_staged_opts {
    int stages;
    snw_chart chart;
    double tolerance; // as of snw_motion_opts
    int max_iter;
} snw_staged_opts;

SNW_NODISCARD snw_status snw_staged_create(const snw_model *m, const snw_staged_opts *opts,
                                           snw_staged **out);
void snw_staged_destroy(snw_staged *g); // NULL is fine

// As those of snw_motion: begin, one step, after a jump, undo a step (once).
SNW_NODISCARD snw_status snw_staged_start(snw_staged *g, const snw_state *s, snw_error *err);
SNW_NODISCARD snw_status snw_staged_step(snw_staged *g, double h, double t_laws,
                                         snw_chord_info *info);
SNW_NODISCARD snw_status snw_staged_restart(snw_staged *g, const double *z, snw_error *err);
void snw_staged_back(snw_staged *g);

// Estimated error of the configuration within the last step, relative to typical strains and lengths: what the acceleration
// at its start, which the polynomial does not know, would change. It falls with the power stages + 2 of the step.
double snw_staged_error(const snw_staged *g);
double snw_staged_condition(snw_staged *g);

const snw_state *snw_staged_state(const snw_staged *g);
const snw_inputs *snw_staged_inputs(const snw_staged *g);
const snw_work *snw_staged_look(snw_staged *g);
void snw_staged_hold(snw_staged *g, const snw_hand *hand);
snw_work_done snw_staged_work(const snw_staged *g);
SNW_NODISCARD snw_status snw_staged_check(snw_staged *g, double t, snw_error *err);

size_t snw_staged_saves(const snw_model *m, int stages);
void snw_staged_save(const snw_staged *g, double *out);
void snw_staged_load(snw_staged *g, const double *in);
