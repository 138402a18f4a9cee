// SPDX-License-Identifier: MIT
//
// closure_rows.h: the rows of redundant loops that a simulation uses. Each simulation that may
// choose other rows along its motion (snw_projection_choose, theory.md 3.8) has a model of its own:
// all arrays are those of the compiled model, which others may share, except the loops.
#pragma once

#include "model/model.h"

typedef struct snw_closure_rows {
    const snw_model *compiled;
    snw_model model; // the simulation computes with it; its loops are those below
    snw_loop *loop;  // nloop
} snw_closure_rows;

// *out <- the rows of the compiled model, which must outlive it; NULL when no loop is redundant.
SNW_NODISCARD snw_status snw_closure_rows_create(const snw_model *compiled, snw_closure_rows **out);
void snw_closure_rows_destroy(snw_closure_rows *rows); // NULL is fine

// Model to compute with: that of the rows, or, without redundant loops, the compiled one.
static inline const snw_model *snw_closure_rows_model(const snw_closure_rows *rows,
                                                      const snw_model *compiled) {
    return rows ? &rows->model : compiled;
}

// Index among the first n rows of `of` of the row with the coefficients of row r of `now`; n - 1
// when no row before that one has them.
int snw_closure_row_of(const snw_loop *now, int r, const snw_loop *of, int n);

// Back to the rows of the compiled model.
void snw_closure_rows_reset(snw_closure_rows *rows);
// The rows of `from`, of a model that fits (snw_model_fits), for the loops that have the same ones.
void snw_closure_rows_copy(const snw_closure_rows *from, snw_closure_rows *to);

// The choice for loop i as a number, for checkpoints; 0 is that of the compiled model. The second
// function restores it and returns false when the number is no valid choice.
double snw_closure_rows_choice(const snw_closure_rows *rows, int i);
bool snw_closure_rows_set_choice(snw_closure_rows *rows, int i, double choice);
