// SPDX-License-Identifier: MIT
//
// sensitivity.h: dependence of a result on the parameters of a sweep: indices of Sobol' and Morris,
// correlations, Pareto fronts. Equations in docs/theory.md 7.9. Results that are NaN, of rows that
// failed, are left out, with the pair or path that they belong to.
#pragma once

#include "sinew/status.h"

#include <stdint.h>

// A number with its interval of 95 %, by bootstrap.
typedef struct snw_interval {
    double value, low, high;
} snw_interval;

// Indices of Sobol' from n blocks of k + 2 rows: A, B, A with parameter i of B (theory (7.15)).
// first, total (k each) <- shares of the variance; *used <- complete blocks. SNW_E_ARGUMENT: there
// are fewer than two complete blocks, or the result does not vary.
SNW_NODISCARD snw_status snw_sensitivity_sobol(int k, int64_t n, const double *f, uint64_t seed,
                                               snw_interval *first, snw_interval *total,
                                               int64_t *used, snw_error *err);

// Elementary effects of Morris from n paths of k + 1 rows; x (k x rows, column by column) are the
// parameters, of which one changes from row to row by half of its probability. mean, deviation,
// size (k each) <- mean, standard deviation and mean of the absolute value of the effects.
SNW_NODISCARD snw_status snw_sensitivity_morris(int k, int64_t n, const double *x, const double *f,
                                                uint64_t seed, double *mean, double *deviation,
                                                snw_interval *size, int64_t *used, snw_error *err);

// Correlation of x and f where both are numbers; NaN: one of them does not vary. The interval is
// that of Fisher's transformation.
snw_interval snw_sensitivity_correlation(int64_t n, const double *x, const double *f);
// The same of the ranks (Spearman). SNW_E_MEMORY.
SNW_NODISCARD snw_status snw_sensitivity_rank_correlation(int64_t n, const double *x,
                                                          const double *f, snw_interval *out,
                                                          snw_error *err);

// front (n) <- rows for which no other has both a and b smaller or equal, by rising a; *size <- how
// many. SNW_E_MEMORY.
SNW_NODISCARD snw_status snw_sensitivity_pareto(int64_t n, const double *a, const double *b,
                                                int64_t *front, int64_t *size, snw_error *err);
