// SPDX-License-Identifier: MIT
//
// fit.h: numbers of models for which their studies fit measurements best, with standard errors and
// confidence intervals: bounds, prior knowledge, outliers. Equations in docs/theory.md 9.
//
//   const double t[] = {0, 0.1, 0.2}, x[] = {0.298, 0.291, 0.285};
//   const snw_fit_column tip = {.name = "tip.x", .n = 3, .t = t, .y = x, .error = 1e-3};
//   const snw_fit_data data = {.model = model, .ncolumn = 1, .column = &tip};
//   const snw_fit_find young = snw_fit_find_defaults("silicone.young");
//   snw_fit_options how = snw_fit_defaults();
//   how.nfind = 1, how.find = &young, how.ndata = 1, how.data = &data, how.known = 1;
//   snw_fit_result *found;
//   snw_status s = snw_fit_models(&how, &found, &err);
//   if (s == SNW_OK)
//       printf("%g Pa, from %g to %g\n", found->found->value, found->found->low,
//       found->found->high);
//   snw_fit_close(found);
#pragma once

#include "sinew/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// A number to find, as `--set` names it; of all models the same. Values in SI.
typedef struct snw_fit_find {
    const char *path;
    double start;        // not 0; NaN: the value of the file of the first model
    double low, high;    // bounds; NaN: none
    double prior, sigma; // known before: expected value and its standard deviation; NaN: nothing
} snw_fit_find;

SNW_API snw_fit_find snw_fit_find_defaults(const char *path);

// Measured values of a column of a probe.
typedef struct snw_fit_column {
    const char *name; // "tip.x"
    int n;
    const double *t, *y; // n: times of the study, s, and values, SI; a NaN was not measured
    double error;        // its size, > 0
} snw_fit_column;

// Measurements of the study of a model.
typedef struct snw_fit_data {
    snw_robot_model *model;
    int ncolumn;
    const snw_fit_column *column;
} snw_fit_data;

typedef struct snw_fit_options {
    int nfind, ndata;
    const snw_fit_find *find;
    const snw_fit_data *data;
    int known; // 1: errors are standard deviations; 0: weights, and the size of the errors follows
               // from the residuals. Priors and `robust` need 1
    double robust;     // > 0: residuals beyond so many errors count linearly (Huber's loss)
    double confidence; // level of the intervals, default 0.95
    int profile;       // 1: intervals by profile likelihood; not with `robust`
} snw_fit_options;

SNW_API snw_fit_options snw_fit_defaults(void);

typedef struct snw_fit_found {
    const char *path, *unit; // SI
    double value, start;
    double error;     // standard error; NaN at a bound and where it is unknown
    double low, high; // confidence interval; NaN likewise
    int at;           // -1 at the lower bound, 1 at the upper one, else 0
} snw_fit_found;

// NaN: unknown. Belongs to the caller, who calls snw_fit_close.
typedef struct snw_fit_result {
    int nfind;
    const snw_fit_found *found;
    const double *correlation; // nfind x nfind, of the values found
    int nunseen;
    const double *unseen; // nunseen x nfind: relative changes, the largest 1, that nothing shows
    int nvalue;           // measured values, in the order of data and columns, without NaN
    const double *before, *after; // nvalue: model less measurement at the start and at the end
    const double *weight;         // nvalue: by Huber's loss, 1 for small residuals
    double chi2;     // sum of the squares of (model - measurement)/error, priors included
    double variance; // of a residual: 1 if errors are known, else estimated
    int runs;        // evaluations of all studies, but those of derivatives
    int exact;       // 1: derivatives by gradients (gradient.h), 0: by differences of runs
    // steps of all data whose lengths the motion chose, and by how much others change the
    // derivatives, as in snw_gradient_info; 0 with differences
    int cut_steps;
    double cut_effect;
} snw_fit_result;

// Least squares from the start. SNW_E_ARGUMENT: a name is unknown, or a value out of range.
// SNW_E_SINGULAR: nothing depends on a number, which err names. After that and after SNW_E_DIVERGED
// *out is the best that was found, or NULL if the runs fail at the start.
SNW_API SNW_NODISCARD snw_status snw_fit_models(const snw_fit_options *how, snw_fit_result **out,
                                                snw_error *err);
SNW_API void snw_fit_close(snw_fit_result *r); // NULL is fine

#ifdef __cplusplus
}
#endif
