// SPDX-License-Identifier: MIT
//
// pack_lane.h: interface of the engines that solve implicit steps of several robots in packs. It is
// read both with doubles and by the engines, where its numbers stay doubles.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SNW_LANES_MOST = 8, SNW_LANE_POINTS = 2 };

// A step of one robot: rates = a d + f, accelerations = b d + g, residual within `tolerance` of
// `scale`. Arrays of nv numbers, and nq for q.
typedef struct snw_pack_lane {
    bool active;         // false: the other members are not read
    double a, b;         // coefficients of the scheme
    double tolerance;    // of the residual
    int max_iter;        // Newton iterations
    const double *f, *g; // of the scheme
    const double *q;     // configuration at the beginning
    const double *scale; // typical forces
    const double *gravity;
    const double *inputs; // block of snw_inputs at the end of the step
    double *d;            // increment: initial guess, then solution
    // results
    double *rate, *acc;                  // in the chart of the step
    double *trial_q, *trial_v, *trial_a; // state at the end
    bool solved;
    int iterations, tangents;
    double residual; // relative to `scale`
    // energy account, theory.md (6.5)
    bool account;
    double h, past_h;         // length of this step and of the one before; <= 0: none
    const double *v0, *a0;    // velocities and accelerations at the beginning
    const double *rate0, *vb; // in the chart; before the step before
    const double *point_gravity[SNW_LANE_POINTS], *point_inputs[SNW_LANE_POINTS]; // at its points
    double heat, other_heat, unbalanced;
    double *work; // by load, active stress, given motion
} snw_pack_lane;

struct snw_model_stream;
typedef struct snw_pack_model snw_pack_model; // numbers of the models of all lanes
typedef struct snw_pack_work snw_pack_work;   // scratch of a thread

// One for each number of lanes. Functions that create return NULL when out of memory.
typedef struct snw_pack_engine {
    int lanes;
    const char *name;
    // of models with the same structure, one per lane
    snw_pack_model *(*model_create)(const struct snw_model_stream *const *stream);
    void (*model_destroy)(snw_pack_model *m);
    snw_pack_work *(*work_create)(const snw_pack_model *m);
    void (*work_destroy)(snw_pack_work *w);
    // Solve the steps of all active lanes.
    void (*solve)(const snw_pack_model *m, snw_pack_work *w, snw_pack_lane *lane);
    // Residual (nv) and tangent (nv x nv, by columns) cq K + cv D + ca M of all lanes at the states
    // (q, v, a) with the inputs of the lanes, for tests.
    void (*evaluate)(const snw_pack_model *m, snw_pack_work *w, const snw_pack_lane *lane,
                     const double *coefficient, double *const *residual, double *const *tangent);
} snw_pack_engine;

#ifdef __cplusplus
}
#endif
