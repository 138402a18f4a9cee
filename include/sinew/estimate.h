// SPDX-License-Identifier: MIT
//
// estimate.h: state and unknown inputs of a robot from measurements, step by step: an extended
// Kalman filter on the map of its steps.
//
// The error of the estimate is a deviation x of its point (step_map.h), in body axes of spherical
// and free joints, followed by the deviations of the unknown inputs, which are random walks.
// Equations in docs/theory.md 7.8.
//
//   snw_estimate_input load = {"payload.fz", 0, 0.1, 0.01};
//   snw_estimate_options o = {.nunknown = 1, .unknown = &load, .noise = noise};
//   snw_estimator *e;
//   if (snw_estimator_open(map, &o, &e, &err) == SNW_OK &&
//       snw_estimator_begin(e, point, &err) == SNW_OK) {
//       snw_estimator_predict(e, u, &err); // one step
//       snw_estimator_correct(e, u, y, &err);
//       printf("%g\n", snw_estimator_view(e)->unknown[0]);
//   }
#pragma once

#include "sinew/step_map.h"

#ifdef __cplusplus
extern "C" {
#endif

// An input of the map that is not known.
typedef struct snw_estimate_input {
    const char *name;
    double value, deviation; // first estimate and its standard deviation
    double walk;             // standard deviation of its change in one step
} snw_estimate_input;

typedef struct snw_estimate_options {
    int nunknown;
    const snw_estimate_input *unknown;
    const double *first;   // nx of the map: variances of the first estimate; NULL: 0
    const double *process; // nx: variances of the process noise in a step; NULL: 0
    const double *noise;   // ny: variances of the measurements, positive
} snw_estimate_options;

typedef struct snw_estimate {
    int n, nunknown;
    const double *point;      // of the map
    const double *unknown;    // nunknown: inputs, in the order of the options
    const double *covariance; // n x n: deviations of the states of the map, then of the inputs
    const double *output;     // ny: outputs of the estimate before the last correction
    const double *spread;     // ny: their variances after it, without noise
    int nmeasured;            // numbers in the last measurement
    double surprise;          // of the last measurement: its squared innovation in units of its own
                              // covariance; its mean is nmeasured
    double log_likelihood;    // of all measurements
} snw_estimate;

typedef struct snw_estimator snw_estimator;

// The map stays the caller's, who keeps it open and may use it between the calls. On success *out
// belongs to the caller, who calls snw_estimator_close.
SNW_API SNW_NODISCARD snw_status snw_estimator_open(snw_step_map *map,
                                                    const snw_estimate_options *how,
                                                    snw_estimator **out, snw_error *err);
SNW_API void snw_estimator_close(snw_estimator *e); // NULL is fine

// First estimate: a point of the map, with the covariance of the options. Loops: what they forbid
// is left out of it. Calls from here on allocate nothing.
SNW_API SNW_NODISCARD snw_status snw_estimator_begin(snw_estimator *e, const double *point,
                                                     snw_error *err);
// The same at an equilibrium under the inputs u (nu of the map; those that are unknown are not
// read) to which the robot has come to rest under the unknown inputs, too: their deviations
// displace it. SNW_E_SINGULAR: an input moves it without end.
SNW_API SNW_NODISCARD snw_status snw_estimator_begin_settled(snw_estimator *e, const double *point,
                                                             const double *u, snw_error *err);
// One step under the inputs u (nu of the map; those that are unknown are not read).
SNW_API SNW_NODISCARD snw_status snw_estimator_predict(snw_estimator *e, const double *u,
                                                       snw_error *err);
// Take in a measurement y (ny; NaN: not measured) at the present instant, with the inputs u there.
SNW_API SNW_NODISCARD snw_status snw_estimator_correct(snw_estimator *e, const double *u,
                                                       const double *y, snw_error *err);
// Changes of the unknown inputs of which the measurements so far tell nothing: along them 99 % of
// the variance is left that first value and walk alone would give. *directions <- count rows of
// nunknown, SI, the largest part of each at its standard deviation; they belong to the estimator.
SNW_API SNW_NODISCARD snw_status snw_estimator_unseen(snw_estimator *e, int *count,
                                                      const double **directions, snw_error *err);
// The present estimate; it belongs to the estimator.
SNW_API const snw_estimate *snw_estimator_view(const snw_estimator *e);

#ifdef __cplusplus
}
#endif
