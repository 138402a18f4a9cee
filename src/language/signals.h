// SPDX-License-Identifier: MIT
//
// signals.h: numbers the quantities that the laws of a file read besides t, x and L: components of
// probes, and stored values (integrals, samples, conditions). One list serves all trees of a study,
// before and after its changes, so that stored values persist across changes. A stored value is
// identified by its kind, its text and the number of equal ones before it. Private to language/.
#pragma once

#include "language/node.h"

typedef struct snw_signals {
    snw_signal_source source; // interface for the scope of a tree
    snw_pool *pool;
    const snw_node *probes;                    // of the tree being read, NULL when it has none
    const snw_node *robot, *actuators, *loops; // of the tree being read, NULL when it has none
    const snw_node *states;                    // likewise
    const snw_scope *scope;                    // of that tree
    int n;
    snw_signal_desc slot[SNW_SIGNALS_MAX];
    const char *text[SNW_SIGNALS_MAX];      // name of the probe, else the text of the call
    const char *component[SNW_SIGNALS_MAX]; // component of a probe
    snw_signal_use *use;                    // SNW_SIGNALS_MAX entries, of the tree being read
} snw_signals;

// NULL when memory is exhausted.
snw_signals *snw_signals_create(snw_pool *pool);

// Begin a new tree: take its probes and mark all stored values as unused.
SNW_NODISCARD snw_status snw_signals_begin(snw_signals *s, const snw_node *root, snw_error *err);

// Create a condition signal for the condition *law, and replace *law by a law that reads the
// signal.
SNW_NODISCARD snw_status snw_signals_condition(snw_signals *s, const char *text, snw_law *law,
                                               snw_error *err);

// Create a condition signal that is true while the conditions of both laws are; *out reads it.
SNW_NODISCARD snw_status snw_signals_both(snw_signals *s, snw_law a, snw_law b, snw_law *out,
                                          snw_error *err);

// n consecutive signals that store values sampled when the condition of `law` becomes true (`pose:
// met`). *first <- 1 + index of the first.
SNW_NODISCARD snw_status snw_signals_captured(snw_signals *s, const char *name, int n, snw_law law,
                                              int *first, snw_error *err);

// *slot <- signal of the state `name`, *value and *dim <- its initial value, SI, and its dimension;
// slot -1: there is no such state.
SNW_NODISCARD snw_status snw_signals_state(snw_signals *s, const char *name, int *slot,
                                           double *value, snw_dim *dim, snw_error *err);

// Column index of `component` among the columns of a probe, and its dimension.
SNW_NODISCARD snw_status snw_signal_column(snw_probe_kind kind, snw_joint_kind joint,
                                           const char *name, const char *component, int *column,
                                           snw_dim *dim, snw_error *err);
