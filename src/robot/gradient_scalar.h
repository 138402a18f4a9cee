// SPDX-License-Identifier: MIT
//
// gradient_scalar.h: scalars of a study as expressions: sums over its frames of functions of probe
// columns, combined by an outer expression.
//
//     J = F(S_1, S_2, ..),   S_j = sum over frames n of w_jn l_j(y_n, t_n)
//
// end(e), at(T, e), integral(e), sum(e), mean(e), max(e), min(e), fold(K, e) give the weights w.
#pragma once

#include "base/pool.h"
#include "math/expr.h"
#include "model/probe_kind.h"
#include "study/record.h"

typedef enum snw_scalar_kind {
    SNW_SCALAR_END,
    SNW_SCALAR_AT,
    SNW_SCALAR_INTEGRAL,
    SNW_SCALAR_SUM,
    SNW_SCALAR_MEAN,
    SNW_SCALAR_MAX,
    SNW_SCALAR_MIN,
    SNW_SCALAR_FOLD
} snw_scalar_kind;

// One sum over frames.
typedef struct snw_scalar_sum {
    snw_scalar_kind kind;
    double time;          // of SNW_SCALAR_AT, s
    int number;           // of the fold, from 1, in the order of the frames
    const snw_expr *what; // its signals are columns of the run
    int part, parts; // of an extreme: over this part, from 0, of the frames, without vertex between
                     // them; parts 0: over all
} snw_scalar_sum;

typedef struct snw_scalar {
    const char *text;      // as it was read
    const snw_expr *outer; // its signals are the sums
    int nsum;
    snw_scalar_sum *sum;
} snw_scalar;

// The frames of a run, in order: times, columns (nframe x ncolumn), whether a frame belongs to a
// dynamic step and is not its first, the kinds of special points of paths (snw_special).
typedef struct snw_scalar_frames {
    int n, ncolumn;
    const double *t, *y;
    const bool *moves;
    const int *special;
} snw_scalar_frames;

// Columns that a scalar reads, those of a run. One that stands outside of end(..) and the other
// words is its value at the end. The last `nconstant` of them are the same in all frames; their
// whole names are those of their probes.
typedef struct snw_scalar_columns {
    const snw_run_info *info;
    int nconstant;
    const snw_component *kind; // ncolumn: dimension, and whether it is an angle; NULL: not needed
} snw_scalar_columns;

SNW_NODISCARD snw_status snw_scalar_parse(snw_pool *pool, const char *text,
                                          const snw_scalar_columns *columns, snw_scalar *out,
                                          snw_error *err);

// unit <- SI unit of a scalar, as in snw_dim_unit, or "rad"; empty for plain numbers and where the
// dimensions of its columns do not determine it (end(tip.x) - 0.02). Needs columns->kind.
void snw_scalar_unit(snw_pool *pool, const char *text, const snw_scalar_columns *columns,
                     char *unit, size_t size);

// Is the whole text one extreme, max(e) or min(e)?
bool snw_scalar_is_extreme(const char *text, snw_scalar_kind kind);

// weight (n) <- w of a sum. SNW_E_ARGUMENT: its time is outside the run.
SNW_NODISCARD snw_status snw_scalar_weights(const snw_scalar_sum *sum, const snw_scalar_frames *f,
                                            double *weight, snw_error *err);

// SNW_E_MODEL: an extreme is reached at two times, so it has no derivative.
SNW_NODISCARD snw_status snw_scalar_check_extreme(const snw_scalar_sum *sum,
                                                  const snw_scalar_frames *f, snw_error *err);

// Derivative of a sum by the time of a frame, columns fixed.
double snw_scalar_time_slope(const snw_scalar_sum *sum, const snw_scalar_frames *f, int frame);

// The scalar; by_sum (nsum) <- dF/dS. weight (n): scratch.
SNW_NODISCARD snw_status snw_scalar_value(const snw_scalar *s, const snw_scalar_frames *f,
                                          double *weight, double *by_sum, double *value,
                                          snw_error *err);
