// SPDX-License-Identifier: MIT
//
// step_map.h: one step of a robot as a map of states, for optimal control and estimation.
//
// A point is the state of a robot between two steps of an implicit scheme: time, coordinates and
// the past that the scheme keeps. The map takes a point and inputs to the next point and its
// outputs, in one step that is never divided, and has the exact derivatives of that step:
//
//     x(n+1) = A x(n) + B u(n),   y(n+1) = C x(n+1) + D u(n)
//
// for deviations x of points. The states x are those of a discrete linear model (linear.h) with all
// coordinates: displacements (body twists of spherical and free joints), rates, and what the scheme
// keeps of its past. Equations in docs/theory.md 7.4 and 7.7.
//
//   snw_linear_options o = snw_linear_defaults();
//   o.step = 0.01;
//   o.scheme = "trapezoidal";
//   snw_step_map *map;
//   if (snw_robot_step_map(arm, &o, &map, &err) == SNW_OK) {
//       const snw_linear_model *lin = snw_step_map_model(map);
//       ...
//       snw_step_map_begin(map, arm, point, &err);
//       snw_step_map_step(map, point, u, 1, point, y, &err); // lin->A, lin->B: of this step
//       snw_step_map_close(map);
//   }
#pragma once

#include "sinew/linear.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct snw_step_map snw_step_map;

// Map of steps of length how->step of the scheme how->scheme, for schemes of the families alpha and
// levels (trapezoidal, euler, newmark, bdf2, generalized-alpha ..), collocation (gauss4, radau5 ..;
// without loops), conserving and moreau. Inputs
// are actuators, and components of loads; outputs are probes. A given coordinate has three numbers
// in u, its value, rate and acceleration at the end of the step (at a point: there), in schemes of
// the first two families; a tendon of given length has its value. Not for laws with memory
// (integrals, samples, conditions) and rolling wheels. Hard contacts need moreau, where a step in
// which one opens or closes has no derivatives, and goes on after an impact. A point of conserving,
// moreau and collocation is time, coordinates and velocities; the rest of its numbers is zero.
// Inputs that are not listed, and gravity, are those of the robot now. The map works on a robot of
// its own; r stays as it is and may be closed. On success *out belongs to the caller, who calls
// snw_step_map_close.
SNW_API SNW_NODISCARD snw_status snw_robot_step_map(snw_robot *r, const snw_linear_options *how,
                                                    snw_step_map **out, snw_error *err);
SNW_API void snw_step_map_close(snw_step_map *map); // NULL is fine

// Sizes, names, units, and the matrices of the last step that was asked for with `linear`. It
// belongs to the map; values of states are not set.
SNW_API const snw_linear_model *snw_step_map_model(const snw_step_map *map);
// Number of doubles of a point.
SNW_API size_t snw_step_map_points(const snw_step_map *map);
// Numbers of coordinates, velocities and constraint rows of its robot; any may be NULL.
SNW_API void snw_step_map_sizes(const snw_step_map *map, int *nq, int *nv, int *nconstraint);

// Calls below allocate nothing. Each returns SNW_E_ARGUMENT where a pointer is NULL or a number is
// not finite.

// point <- time, coordinates and velocities of r, a robot of the same model, with accelerations
// that balance under the inputs u (nu); loops are closed.
SNW_API SNW_NODISCARD snw_status snw_step_map_begin(snw_step_map *map, const snw_robot *r,
                                                    const double *u, double *point, snw_error *err);
// point <- equilibrium at time t under the inputs u (nu), at rest; the search starts where the map
// was last.
SNW_API SNW_NODISCARD snw_status snw_step_map_rest(snw_step_map *map, double t, const double *u,
                                                   double *point, snw_error *err);
// to <- the point after one step under the inputs u (nu) from the point `from`; `to` may be `from`.
// y (ny; NULL: not wanted) <- outputs at its end. linear: not 0: A, B, C, D of snw_step_map_model
// <- those of this step. SNW_E_DIVERGED: the step was not solved, and `to` is not written.
SNW_API SNW_NODISCARD snw_status snw_step_map_step(snw_step_map *map, const double *from,
                                                   const double *u, int linear, double *to,
                                                   double *y, snw_error *err);
// y (ny) <- outputs at a point under the inputs u (nu). linear: not 0: C and D <- their derivatives
// there.
SNW_API SNW_NODISCARD snw_status snw_step_map_outputs(snw_step_map *map, const double *point,
                                                      const double *u, int linear, double *y,
                                                      snw_error *err);
// x (nx) <- the deviation of `to` from `from`: log(g^-1 g') of spherical and free joints, body
// axes; differences of all other numbers.
SNW_API SNW_NODISCARD snw_status snw_step_map_difference(snw_step_map *map, const double *from,
                                                         const double *to, double *x,
                                                         snw_error *err);
// to <- the point that deviates from `from` by x (nx); `to` may be `from`. Loops are not closed.
SNW_API SNW_NODISCARD snw_status snw_step_map_move(snw_step_map *map, const double *from,
                                                   const double *x, double *to, snw_error *err);
// T (nx x nx, by columns) <- change of axes by a correction d (nx): a small deviation e from the
// corrected point is T e' where d + e' is the deviation from the point before. The tangent map of
// the exponential on spherical and free joints, 1 elsewhere.
SNW_API SNW_NODISCARD snw_status snw_step_map_reset(snw_step_map *map, const double *d, double *T,
                                                    snw_error *err);
// to <- the point next to `from` at which loops are closed and velocities respect them; C
// (snw_robot_constraints x nv, by columns; NULL: not wanted) <- constraint Jacobian there. Without
// loops `to` is `from`.
SNW_API SNW_NODISCARD snw_status snw_step_map_project(snw_step_map *map, const double *from,
                                                      double *to, double *C, snw_error *err);
// t, q (nq), v (nv) <- of a point; any may be NULL.
SNW_API SNW_NODISCARD snw_status snw_step_map_state(snw_step_map *map, const double *point,
                                                    double *t, double *q, double *v,
                                                    snw_error *err);

#ifdef __cplusplus
}
#endif
