// SPDX-License-Identifier: MIT
//
// closure_choice_private.h: the choice while a model is compiled; private to
// src/constraint/closure_choice.c and projection_compile.c.
#pragma once

#include "constraint/closure_choice.h"

// Parts of a choice: rows that are trivial; and behind them redundant rows and the closed robot,
// which depend on drives, too.
typedef enum snw_choice_part {
    SNW_CHOICE_ROWS,
    SNW_CHOICE_CLOSED,
    SNW_CHOICE_PARTS
} snw_choice_part;

// A model with all raw rows, for which the choice is asked, and all else that its compilation
// reads.
typedef struct snw_choice_key {
    const snw_model *m;
    snw_model_use use;
    bool shares_reactions;
    int ntime; // instants at which motions are compared
    const double *time;
    const snw_work *w;  // kinematics and violations at a configuration with velocities, at time[0]
    const double *rate; // nconstraint: rates of the rows there
} snw_choice_key;

// Compares the model with that of the choice, whose next model it becomes: `in` is overwritten.
// *part <- whether each part may be taken; SNW_CHOICE_CLOSED only with SNW_CHOICE_ROWS.
SNW_NODISCARD snw_status snw_closure_choice_look(snw_closure_choice *c, const snw_choice_key *key,
                                                 snw_inputs *in, bool part[SNW_CHOICE_PARTS]);

// Had the model before as many loops, and none of them trivial or redundant rows?
bool snw_closure_choice_had_all_rows(const snw_closure_choice *c, const snw_model *m);

// loop (nloop of m) <- rows that are not trivial; m, loop <- redundant rows, degrees of freedom and
// singularity.
void snw_closure_choice_take_rows(const snw_closure_choice *c, const snw_model *m, snw_loop *loop);
void snw_closure_choice_take_closed(const snw_closure_choice *c, snw_model *m, snw_loop *loop);

// Remember these parts of the model that was looked at; `closed` (nq; NULL: none).
SNW_NODISCARD snw_status snw_closure_choice_keep_rows(snw_closure_choice *c, const snw_model *m);
SNW_NODISCARD snw_status snw_closure_choice_keep_closed(snw_closure_choice *c, const snw_model *m,
                                                        const double *closed);
