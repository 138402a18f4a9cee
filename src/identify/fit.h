// SPDX-License-Identifier: MIT
//
// fit.h: least-squares estimation of a model's parameters from measured values, by whole runs of
// its study, with standard errors and correlations (theory.md 9).
#pragma once

#include "solve/levenberg.h"
#include "study/series.h"

// A measured value.
typedef struct snw_fit_value {
    int run, column; // run and column of the series that it is compared with
    double t, value;
    double error; // measurement error, divides the residual; > 0
} snw_fit_value;

typedef struct snw_fit_problem {
    int nfind, nrun;
    int shift;  // 1 + index of the parameter by which run times exceed measured times; 0: none
    int nvalue; // >= nfind
    const snw_fit_value *value;
    void *user;
    // series (nrun, each empty) <- results of the runs with the parameters x (nfind). On failure
    // `err` holds the reason. SNW_E_STOPPED ends the search.
    snw_status (*run)(void *user, const double *x, snw_series *series, snw_error *err);
} snw_fit_problem;

typedef struct snw_fit_info {
    snw_levenberg_info search;
    int misplaced;    // index of a value outside the series; -1: none
    int idle;         // index of a parameter without influence on the values; -1: none
    int vague;        // parameter with the largest variance inflation; -1: unknown
    double inflation; // variance of its estimate over that with the other parameters fixed
} snw_fit_info;

// Improve x (nfind, nonzero: the start values are the scales).
//   error (nfind)               standard errors; NaN when there are no more values than parameters
//   correlation (nfind x nfind) of the estimates
//   before, after (nvalue)      value of the model less the measured one, not divided by the error
// When the first run fails, or does not cover a value (`misplaced`), its message is returned. On
// SNW_E_STOPPED and SNW_E_DIVERGED x and `after` are the best found, error and correlation NaN.
// SNW_E_SINGULAR: a parameter has no influence (`idle`).
SNW_NODISCARD snw_status snw_fit(const snw_fit_problem *p, const snw_levenberg_opts *opts,
                                 double *x, double *error, double *correlation, double *before,
                                 double *after, snw_fit_info *info, snw_error *err);
