// SPDX-License-Identifier: MIT
//
// gradient.h: derivatives of the results of a study by numbers of its model: parameters of the
// file, the initial state, the knots of laws. They are those of the steps taken: same steps, same
// branch of every law, same states of hard contacts. Equations in docs/theory.md 7.5.
//
//   const snw_gradient_variable by[] = {{.name = "silicone.young"}, {.name = "v(hip.angle)"}};
//   const char *const of[] = {"end(tip.x)", "integral(tip.z^2) + 0.1*at(0.5, tip.x)"};
//   snw_gradient_options o = snw_gradient_defaults();
//   o.nvariable = 2, o.variable = by, o.nscalar = 2, o.scalar = of;
//   snw_gradient *g;
//   if (snw_gradient_create(model, &o, &g, &err) == SNW_OK) {
//       double p[2], J[2], dJ[4];
//       if (snw_gradient_start(g, p, &err) == SNW_OK && // values of the file
//           snw_gradient_evaluate(g, p, J, dJ, &err) == SNW_OK) // dJ[2*i + k] = dJ_i/dp_k
//           printf("%g %g\n", J[0], dJ[0]);
//       snw_gradient_close(g);
//   }
#pragma once

#include "sinew/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct snw_gradient snw_gradient;

// Rule by which a law passes between the values at its knots; before the first and after the last
// it is constant.
typedef enum snw_knot_rule {
    SNW_KNOTS_HOLD,   // the value of a knot holds until the next one
    SNW_KNOTS_LINEAR, // straight lines
    SNW_KNOTS_SMOOTH  // poly5 from knot to knot: two continuous derivatives
} snw_knot_rule;

// A variable, by its name:
//   "silicone.young"   a number of the file, as `--set` names it; nothing that changes the number
//                      of coordinates or nodes
//   "q(hip.angle)"     an initial coordinate, by its name; of a spherical or free joint a
//                      component of the rotation or displacement from the initial pose in axes of
//                      the body: "q(top.wx)", "q(base.vz)"
//   "v(hip.angle)"     an initial velocity, likewise; of a spherical or free joint its body twist
//   "drive.effort"     with knots: a law of the file, replaced by the law through the knots. Its
//                      values at the knots are nknot entries of p.
typedef struct snw_gradient_variable {
    const char *name;
    int nknot;          // 0: one number
    const double *knot; // times, s, rising
    snw_knot_rule rule;
    const char *unit; // of the values at the knots, as in the file ("N*m"); NULL: a plain number
} snw_gradient_variable;

typedef enum snw_gradient_method {
    // adjoint; forward where there are fewer entries of p than scalars; differences for numbers of
    // kinematic studies whose steps have no transposes (theory.md 7.5), for studies with inverse
    // steps that find numbers of the file, or paths of such numbers, and where a variable changes
    // how long a step of the study lasts, or its step
    SNW_GRADIENT_AUTO,
    SNW_GRADIENT_ADJOINT,    // one sweep backward per scalar
    SNW_GRADIENT_FORWARD,    // sensitivities along the run, one for each entry of p
    SNW_GRADIENT_DIFFERENCES // of whole runs, order 6: for comparison, and where nothing else works
} snw_gradient_method;

// A scalar is an expression of these, with numbers and functions of the language. Columns of probes
// are plain numbers in SI units, and so is t.
//   end(e)         at the end of the study; an expression without any of these words is meant so
//   at(T, e)       at the time T, s; linear between instants
//   integral(e)    over time, by the trapezoidal rule through the instants of dynamic steps
//   sum(e)         the same, with each value at the end of its interval: sum of h e
//   mean(e)        integral divided by the time
//   max(e), min(e) over all instants, of one expression; within a motion the vertex of the parabola
//                  through the largest or smallest value and its neighbours
//   fold(K, e)     at the K-th fold of the paths of the study, in the order of its frames; fold(e):
//                  at the first
typedef struct snw_gradient_options {
    int nvariable;
    const snw_gradient_variable *variable;
    int nscalar;
    const char *const *scalar;
    snw_gradient_method method;
    double memory;    // bytes for the states of steps; beyond, some are computed again. 0: 256e6
    double tolerance; // of the equations of a step, relative; 0: 1e-13
    int cut_effect;   // 1: find info.cut_effect, by derivatives of a second run where steps are cut
} snw_gradient_options;

SNW_API snw_gradient_options snw_gradient_defaults(void);

// Prepares gradients of the study of a model; reads it again where p has changed. The names are
// copied. SNW_E_ARGUMENT: a name is unknown; SNW_E_PARSE: an expression is wrong; SNW_E_MODEL: the
// study has a part without derivatives, which err names.
SNW_API SNW_NODISCARD snw_status snw_gradient_create(snw_robot_model *m,
                                                     const snw_gradient_options *how,
                                                     snw_gradient **out, snw_error *err);
SNW_API void snw_gradient_close(snw_gradient *g); // NULL is fine

// Entries of p: number, names ("drive.effort[3]" of knots), units (SI). NULL beyond the last.
SNW_API int snw_gradient_size(const snw_gradient *g);
SNW_API const char *snw_gradient_name(const snw_gradient *g, int k);
SNW_API const char *snw_gradient_unit(const snw_gradient *g, int k);
// p <- values of the file, SI; knots those of the file's law at their times if it is a law of time,
// else 0.
SNW_API SNW_NODISCARD snw_status snw_gradient_start(snw_gradient *g, double *p, snw_error *err);

// J (nscalar) <- scalars at p; dJ (nscalar x size, row by row; NULL: not wanted) <- derivatives.
// Runs the study. SNW_E_MODEL: no derivative, err names what and when; J is set then.
SNW_API SNW_NODISCARD snw_status snw_gradient_evaluate(snw_gradient *g, const double *p, double *J,
                                                       double *dJ, snw_error *err);

// Of the last evaluation.
typedef struct snw_gradient_info {
    snw_gradient_method method;
    int steps;      // of time, of the run
    int recomputed; // steps done again because of the bound on memory
    double error;   // largest estimated error of a derivative by a parameter of the file, times the
                    // parameter, relative to the largest of these products and of the scalars.
                    // Some are differences of order 6 of one step's equations, or of whole
                    // runs; 0: all are exact
    double run_seconds, gradient_seconds; // wall clock of the run, and of the rest
    int gathered; // parameters of the file whose derivatives were found together, at no cost each
    int sweeps;   // over the run, back or forward
    int models;   // compiled besides that of the run, at other values of the parameters
    // steps whose equations, and instants at which results, were differentiated by the state by
    // differences along all coordinates: the dearest part where there are any
    int differenced_steps, differenced_results;
    // Steps of implicit schemes whose lengths the motion chose: cut at contacts, obstacles, stops,
    // cables and starts, halved, or by their error. These lengths are of a fixed scale and do not
    // follow the parameters: results jump where a parameter changes one of them, and derivatives
    // are those between two jumps. Shorter steps make the jumps smaller.
    int cut_steps;
    double cut_effect; // change of the derivatives of a scalar, relative to the largest, by other
                       // lengths of these steps: times 2^(-1/8); 0: none, or not asked for;
                       // NaN: there are none by these
} snw_gradient_info;
// After an evaluation: *steps <- info.cut_steps at p, *effect <- info.cut_effect, 0 where there are
// no such steps; NaN: no derivatives by other lengths. Two evaluations, for what asks once only.
SNW_API SNW_NODISCARD snw_status snw_gradient_cut_effect(snw_gradient *g, const double *p,
                                                         int *steps, double *effect,
                                                         snw_error *err);
SNW_API snw_gradient_info snw_gradient_report(const snw_gradient *g);
// Did the last evaluation, by the adjoint, differentiate each step by entry k alone, at a cost of
// its own? 1: yes, 0: no. That of all others does not grow with their number along the run.
SNW_API int snw_gradient_sampled(const snw_gradient *g, int k);

#ifdef __cplusplus
}
#endif
