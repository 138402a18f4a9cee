// SPDX-License-Identifier: MIT
//
// adjoint_explicit_private.h: maps of explicit schemes, for adjoint_explicit.c (differences of
// maps) and adjoint_runge_kutta.c (written transposes of their stages).
#pragma once

#include "base/arena.h"
#include "integrate/explicit.h"
#include "study/adjoint_private.h"

enum { EXPLICIT_START, EXPLICIT_MIDDLE, EXPLICIT_END }; // times of a step at which laws are read

typedef struct explicit_stages explicit_stages; // adjoint_runge_kutta.c

struct adjoint_explicit {
    snw_explicit *engine;
    snw_explicit_opts opts;
    snw_state *s;            // from which a map is done again
    int nin, nout;           // numbers of x_0 and x_1
    double *J;               // nout x nin
    double *by_h, *by_t;     // nout: by the length at a fixed start, by time
    double *base;            // nout: x_1 of the map, its configuration as the difference zero
    double *sample;          // nout
    double *bar;             // nscalar x nout
    double *condition;       // ncondition: with which the engine has started
    bool *idle;              // nin: the map does not depend on it
    explicit_stages *stages; // NULL before the first written map
    bool stale;              // it has gone on with other conditions
    bool written;            // the last map was taken back by transposes of its stages
};

// Equations of kinematic steps (adjoint_kinematic.c): of a stage, of the end of a step, and of the
// momentum of the state before it.
typedef enum kinematic_equation {
    KINEMATIC_STAGE,
    KINEMATIC_END,
    KINEMATIC_MOMENTUM
} kinematic_equation;

typedef struct kinematic_work {
    const snw_locomotion *lo;
    struct snw_model_geometry *geometry;
    double *metric;      // nv x nv: inverse squares of typical values
    double *scratch;     // nv x nv
    double *rows;        // 3 nv
    double *jump;        // nv
    double *matrix;      // nv x nconstraint
    double *side;        // nv + nconstraint
    snw_arena arena;     // of least squares
    double *given;       // nscalar x nv: covectors of KINEMATIC_MOMENTUM
    double *closing;     // nconstraint x (2 nv + nconstraint) + 2 nv: of steps that close loops
    int *pivot;          // nconstraint
    snw_twist *momentum; // nscalar: bars of the conserved momentum, in the world
} kinematic_work;

// Are the equations of steps with these options known, in the class of locomotion and with the
// present bars?
bool adjoint_kinematic_applies(const snw_adjoint *a, const snw_locomotion *lo,
                               const snw_explicit_opts *opts);
// Do its open motions go on with their rates?
bool adjoint_kinematic_is_open(const snw_locomotion *lo);
// Bars back through the equations at the state of a map, where the velocities were `from` before;
// covectors and a->impulse of it, as of a restart.
SNW_NODISCARD snw_status adjoint_kinematic_back(snw_adjoint *a, const snw_map *at,
                                                kinematic_equation of, const double *from,
                                                kinematic_work *x, snw_error *err);
// x->given <- covectors of the momentum at the state of a map from x->momentum.
void adjoint_kinematic_find_given(snw_adjoint *a, const snw_map *at, kinematic_work *x);

// a->K <- derivatives of M j - C'p by the configuration, at s; `before`: nv x nv of scratch.
void adjoint_momentum_tangent(snw_adjoint *a, double *before, const snw_state *s, const double *j,
                              const double *p);

// Steps of rk4 that close loops (adjoint_loop_stages.c): are their rows known? Does a step close
// them by so short a way that its square is below the rounding of derivatives? d (nv) <- that way.
bool adjoint_loops_apply(const snw_model *m);
bool adjoint_loops_are_near(const snw_model *m, const double *open, const double *closed,
                            double *d);
// Bars back through accelerations, or a restart; through closing from the state `open` to that of
// the map, by the way d: covectors nu of minus the rows, y of M 0 - C'a->impulse at `open`.
SNW_NODISCARD snw_status adjoint_loops_back(snw_adjoint *a, const snw_map *at, kinematic_work *x,
                                            snw_error *err);
SNW_NODISCARD snw_status adjoint_loops_close_back(snw_adjoint *a, const snw_map *at,
                                                  const snw_state *open, const double *d,
                                                  kinematic_work *x, snw_error *err);

// Do they apply to a map? After it was opened.
bool adjoint_runge_kutta_applies(snw_adjoint *a, const snw_map *map);
// Written transposes: bars back; typical size of the products of their covectors.
SNW_NODISCARD snw_status adjoint_runge_kutta_back(snw_adjoint *a, const snw_map *map,
                                                  snw_error *err);
// value (nscalar) += the products with the metric in which equation i closes loops, by typical
// values of a model.
void adjoint_runge_kutta_metric(const snw_adjoint *a, const snw_model *m, int i, double *value);
double adjoint_runge_kutta_magnitude(const snw_adjoint *a, int scalar);
void adjoint_runge_kutta_destroy(explicit_stages *x);
