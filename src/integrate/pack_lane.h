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

// Points of the energy account: within the step, then its ends.
enum { SNW_LANES_MOST = 16, SNW_LANE_POINTS = 4, SNW_LANE_WITHIN = 2, SNW_LANE_ENERGIES = 7 };

// Consecutive rows of a column of the factors.
typedef struct snw_pack_run {
    int first, count;
} snw_pack_run;

// A segment whose motion laws read, or on which loads of laws act.
typedef struct snw_pack_frame {
    int seg;
    int ld;    // numbers in a row of its Jacobian in the workspace of a robot alone
    size_t at; // its first number there
} snw_pack_frame;

// Rows and columns are positions in the order. The entries of a column stand one behind the other,
// rows rising; those above and below the diagonal entry consist of runs.
typedef struct snw_pack_order {
    int n, nentry, nrun;
    const int *unknown;      // n: unknown at each position: coordinate, then nv + row
    const int *entry;        // n + 1: first entry of each column
    const int *diagonal;     // n: its diagonal entry
    const int *run_of;       // n + 1: first run of each column
    const int *run_below;    // n: its first run below the diagonal
    const snw_pack_run *run; // nrun
    const int *together;     // n: columns from this one on, of which each has the rows below the
                             // diagonal of the one before without the first
    const size_t *from;      // nentry: index of the entry in the matrix, n x n by columns
    // laws that read signals
    int nframe, nload, ntendon;
    const snw_pack_frame *frame;
    const int *load;   // load points whose loads follow from signals
    const int *tendon; // tendons and chambers whose efforts do
    void *block;
} snw_pack_order;

// Laws of a robot that read signals, evaluated with its own numbers at a state of its lane, at the
// end of the step (point < 0) or at a point of the energy account. q (nq), v (nv).
typedef struct snw_pack_laws {
    // r (nv) <- minus the generalised forces of active stress and motors; load, effort <- those of
    // the laws of loads and tendons. After g, V of the frames of the order.
    void (*forces)(void *robot, int point, const double *q, const double *v, double *r);
    // T (nv x nv, by columns) <- derivative of the generalised forces of all laws cq d/dq + cv
    // d/dv, there. After J, dJ of these frames.
    void (*tangent)(void *robot, int point, double cq, double cv, double *T);
    void *robot;
    double *q, *v, *r, *T;  // memory for these
    double *g, *V, *J, *dJ; // in the workspace of the robot alone: poses (12 numbers), twists, and
                            // columns (snw_pack_frame)
    const double *load;     // there: 6 numbers by load point
    double *effort;         // by tendon
} snw_pack_laws;

// A step of one robot: rates = a d + f, accelerations = b d + g, residual within `tolerance` of
// `scale`. Arrays of nv numbers, and nq for q.
typedef struct snw_pack_lane {
    bool active;         // false: the other members are not read
    bool single;         // solved by floats
    double a, b;         // coefficients of the scheme
    double tolerance;    // of the residual
    int max_iter;        // Newton iterations
    bool keeps;          // the matrix kept in this lane is that of the robot's last step
    const double *f, *g; // of the scheme
    const double *q;     // configuration at the beginning
    const double *scale; // typical forces
    const double *gravity;
    const double *inputs;           // block of snw_inputs at the end of the step
    const double *relaxed, *follow; // memory of materials at the end (dynamics/state.h)
    double *d;                      // increment: initial guess, then solution
    double *lambda;                 // multipliers of the constraint rows likewise
    // results
    double *rate, *acc;                  // in the chart of the step
    double *trial_q, *trial_v, *trial_a; // state at the end
    bool solved;
    int iterations, tangents;
    double residual; // relative to `scale`
    // energy account, theory.md (6.5)
    bool account;
    double h, past_h;                 // length of this step and of the one before; <= 0: none
    const double *v0, *a0;            // velocities and accelerations at the beginning
    const double *lambda0;            // multipliers there
    const double *relaxed0, *follow0; // memory of materials there
    const double *rate0, *vb;         // in the chart; before the step before
    const double *point_gravity[SNW_LANE_POINTS], *point_inputs[SNW_LANE_POINTS]; // at its points
    double heat, other_heat, unbalanced;
    snw_pack_laws laws;                    // NULL: none read signals
    double *work;                          // by load, active stress, given motion
    double energies[2][SNW_LANE_ENERGIES]; // snw_step_energies at both ends
} snw_pack_lane;

struct snw_model_stream;
typedef struct snw_pack_model snw_pack_model; // numbers of the models of all lanes
typedef struct snw_pack_work snw_pack_work;   // scratch of a thread
typedef struct snw_pack_kept snw_pack_kept;   // matrices of the robots of a pack

// One for each number of lanes. Functions that create return NULL when out of memory.
typedef struct snw_pack_engine {
    int lanes;
    bool single; // numbers of its packs are floats
    const char *name;
    // of models with the same structure, one per lane, and the order of their matrix, which must
    // outlive it
    snw_pack_model *(*model_create)(const struct snw_model_stream *const *stream,
                                    const snw_pack_order *order);
    void (*model_destroy)(snw_pack_model *m);
    snw_pack_work *(*work_create)(const snw_pack_model *m);
    void (*work_destroy)(snw_pack_work *w);
    snw_pack_kept *(*kept_create)(const snw_pack_model *m);
    void (*kept_destroy)(snw_pack_kept *k);
    // Solve the steps of all active lanes.
    void (*solve)(const snw_pack_model *m, snw_pack_work *w, snw_pack_kept *k, snw_pack_lane *lane);
    // Residual with violations of the constraint rows (n) and tangent cq K + cv D + ca M bordered
    // by these rows (n x n, by columns, snw_constraints_place) of all lanes at the states (q, v, a,
    // lambda) with the inputs and `a` of the lanes, for tests.
    void (*evaluate)(const snw_pack_model *m, snw_pack_work *w, const snw_pack_lane *lane,
                     const double *coefficient, double *const *residual, double *const *tangent);
} snw_pack_engine;

#ifdef __cplusplus
}
#endif
