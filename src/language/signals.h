// SPDX-License-Identifier: MIT
//
// signals.h: what the laws of a file read besides t, x and L, numbered as the file is read:
// components of probes, and what is remembered of expressions. One list serves all trees of a
// study, before and after its changes, so that what is remembered lives on; a remembrance is known
// by its kind, its text and how many of the same came before. Private to io/.
#pragma once

#include "language/node.h"

typedef struct snw_signals {
    snw_signal_source source; // for the scope of a tree
    snw_pool *pool;
    const snw_node *probes;            // of the tree being read, NULL when it has none
    const snw_node *robot, *actuators; // likewise
    int n;
    snw_signal_desc slot[SNW_SIGNALS_MAX];
    const char *text[SNW_SIGNALS_MAX];      // of a probe its name, else the call
    const char *component[SNW_SIGNALS_MAX]; // of a probe
    snw_signal_use *use;                    // SNW_SIGNALS_MAX: of the tree being read
} snw_signals;

// NULL when memory is out.
snw_signals *snw_signals_create(snw_pool *pool);

// A new tree: its probes, and no sources yet.
SNW_NODISCARD snw_status snw_signals_begin(snw_signals *s, const snw_node *root, snw_error *err);

// A gate for a condition; the law that stands for it goes to *law.
SNW_NODISCARD snw_status snw_signals_condition(snw_signals *s, const char *text, snw_law *law,
                                               snw_error *err);

// A gate that is open where the gates that two laws stand for both are.
SNW_NODISCARD snw_status snw_signals_both(snw_signals *s, snw_law a, snw_law b, snw_law *out,
                                          snw_error *err);

// n signals in a row for what is met when the gate of `law` opens; *first <- 1 + the first of them.
SNW_NODISCARD snw_status snw_signals_met(snw_signals *s, const char *name, int n, snw_law law,
                                         int *first, snw_error *err);

// Which column of a probe `component` is, and of what dimension.
SNW_NODISCARD snw_status snw_signal_column(snw_probe_kind kind, snw_joint_kind joint,
                                           const char *name, const char *component, int *column,
                                           snw_dim *dim, snw_error *err);
