// SPDX-License-Identifier: MIT
//
// fit.h: values of a model's parameters at which its runs come nearest to what was measured, in the
// sense of least squares, and how well the measurements determine them. theory.md 9.
#pragma once

#include "solve/levenberg.h"
#include "study/series.h"

// One measured number.
typedef struct snw_fit_value {
    int run, column; // of the series it is compared with
    double t, value;
    double error; // by which its residual is divided; > 0
} snw_fit_value;

typedef struct snw_fit_problem {
    int nfind, nrun;
    int shift; // 1 + the parameter by which the times of the runs are later than the measured ones;
               // 0: none
    int nvalue; // >= nfind
    const snw_fit_value *value;
    void *user;
    // series (nrun, each empty) <- what the runs show with the parameters x (nfind). `err` says why
    // not. SNW_E_STOPPED ends the search.
    snw_status (*run)(void *user, const double *x, snw_series *series, snw_error *err);
} snw_fit_problem;

typedef struct snw_fit_info {
    snw_levenberg_info search;
    int misplaced; // a value that the series do not reach, -1: none
    int idle;      // a parameter on which no value depends, -1: none
    int vague;     // the parameter that the others hide most, -1: not known, and by how much: the
    double inflation; // variance of its estimate, over that with the others held
} snw_fit_info;

// Improve x (nfind, none zero: the start says what is large and small).
//   error (nfind)               standard errors; NaN when there are no more values than parameters
//   correlation (nfind x nfind) of the estimates
//   before, after (nvalue)      value of the model less the measured one, not divided by the error
// When the first run fails, or lacks a value (`misplaced`), its message is passed up. On
// SNW_E_STOPPED and SNW_E_DIVERGED x and `after` are the best found, error and correlation NaN.
// SNW_E_SINGULAR: a parameter is `idle`.
SNW_NODISCARD snw_status snw_fit(const snw_fit_problem *p, const snw_levenberg_opts *opts,
                                 double *x, double *error, double *correlation, double *before,
                                 double *after, snw_fit_info *info, snw_error *err);
