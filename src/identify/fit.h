// SPDX-License-Identifier: MIT
//
// fit.h: least-squares estimation of a model's parameters from measured values, by whole runs of
// its study: bounds, prior knowledge, outliers, standard errors and confidence intervals (theory.md
// 9).
#pragma once

#include "solve/levenberg.h"
#include "study/series.h"

// A measured value.
typedef struct snw_fit_value {
    int run, column; // run and column of the series that it is compared with
    double t, value;
    double error; // measurement error, divides the residual; > 0
} snw_fit_value;

// Prior knowledge of a parameter.
typedef struct snw_fit_parameter {
    double low, high;    // bounds; -INFINITY, INFINITY: none
    double prior, sigma; // expected value and its standard deviation > 0; NaN: none
} snw_fit_parameter;

typedef struct snw_fit_problem {
    int nfind, nrun;
    int shift;  // 1 + index of the parameter by which run times exceed measured times; 0: none
    int nvalue; // with the priors >= nfind
    const snw_fit_value *value;
    const snw_fit_parameter *parameter; // nfind; NULL: no bounds and no priors
    double huber; // > 0: residuals beyond this many errors count linearly (Huber's loss)
    bool known;   // errors are standard deviations; false: only their ratios are used, and the
                  // size follows from the residuals. Priors and Huber's loss need the former
    double level; // of the confidence intervals, 0 < level < 1; 0: 0.95
    bool profile; // intervals by profile likelihood; not with Huber's loss
    void *user;
    // series (nrun, each empty) <- results of the runs with the parameters x (nfind). On failure
    // `err` holds the reason. SNW_E_STOPPED ends the search.
    snw_status (*run)(void *user, const double *x, snw_series *series, snw_error *err);
    // dy (nvalue x nfind, by columns) <- derivatives of the values of the model by the parameters;
    // NULL, or a failure other than SNW_E_STOPPED: differences of runs.
    snw_status (*derive)(void *user, const double *x, double *dy);
} snw_fit_problem;

// Answers beside the values of the parameters. The arrays belong to the caller; NaN: unknown.
typedef struct snw_fit_answer {
    double *error;          // nfind: standard errors; NaN at a bound, and when there are no more
                            // values than parameters and errors are not known
    double *correlation;    // nfind x nfind, of the estimates
    double *low, *high;     // nfind: ends of the confidence intervals; NaN like error
    int *at;                // nfind: -1 at the lower bound, 1 at the upper one, else 0
    double *before, *after; // nvalue: value of the model less the measured one, not divided by the
                            // error, at the start and at the end
    double *weight;         // nvalue: of the residuals by Huber's loss, 1 for small ones
    double *direction; // nfind x nfind, the first info.nunseen columns: relative changes dx/x of
                       // the parameters, the largest 1, that no value shows
} snw_fit_answer;

typedef struct snw_fit_info {
    snw_levenberg_info search;
    int misplaced;    // index of a value outside the series; -1: none
    int idle;         // index of a parameter without influence on the values; -1: none
    int vague;        // parameter with the largest variance inflation; -1: unknown
    double inflation; // variance of its estimate over that with the other parameters fixed
    int nunseen;      // directions that no value shows
    bool exact;       // derivatives at the end by `derive`
    double chi2;      // sum of squares of (model - measured)/error, priors included
    double variance;  // of a residual: 1 if errors are known, else |r|^2/(m - n)
    double freedom;   // degrees of freedom of the intervals: INFINITY if errors are known
} snw_fit_info;

// Improve x (nfind, nonzero: the start values are the scales; within the bounds). When the first
// run fails, or does not cover a value (`misplaced`), its message is returned. On SNW_E_STOPPED and
// SNW_E_DIVERGED x and `after` are the best found, the other answers NaN. SNW_E_SINGULAR: a
// parameter has no influence (`idle`); the others have their errors and intervals all the same.
SNW_NODISCARD snw_status snw_fit(const snw_fit_problem *p, const snw_levenberg_opts *opts,
                                 double *x, snw_fit_answer *answer, snw_fit_info *info,
                                 snw_error *err);
