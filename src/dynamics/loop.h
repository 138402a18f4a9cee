// SPDX-License-Identifier: MIT
//
// loop.h: closures, theory.md 3.8. With A and B the frames of a loop's two sites in the axes of its joint and
// h = A^-1 B = (R, p), a joint forbids some of
//   turning      log R (three rows), the axis' tilt e_x R e_z and e_y R e_z, or of a universal joint e_x R e_y
//   moving       components of p, in the axes of A
// as rows e(h) = 0. A variation delta = (h^-1 delta h) changes row k by c_k delta, so along the rows the joint exerts
// F = sum l_k c_k on B, and -F, carried over, on A.
#pragma once

#include "dynamics/dynamics.h"

// w->gap and the wrenches of all loops at the motion in w and multipliers l (nrow), taken off w->F. Part of snw_residual.
void snw_loops_add(const snw_model *m, const double *l, snw_work *w);

// w->C <- rows per coordinate, after snw_tangent_sweep; and, unless T is NULL, T += cq (what the wrenches of the loops
// change as they are carried along). Part of snw_tangent_assemble.
void snw_loops_columns(const snw_model *m, double cq, snw_work *w, double *T);
// The same with the columns of T ld apart.
void snw_loops_add_columns(const snw_model *m, double cq, snw_work *w, size_t ld, double *T);

// What loop i exerts on its second site, in that segment's frame. NaN where rows that were left out would say more: there
// it is not determined.
snw_wrench snw_loop_wrench(const snw_model *m, const snw_work *w, int i, const double *l);

// A raw row of a loop by name ("tilt x"), and what it is measured by: a radian, or the length of the robot.
const char *snw_loop_row_name(const snw_loop *loop, int k);
double snw_loop_row_size(const snw_model *m, const snw_loop *loop, int k);

// rate, bend (nrow) <- C v as it is, time included, and what is left of the rows' accelerations when those of the
// coordinates are as in w. After snw_kinematics, not still; either may be NULL.
void snw_loops_rates(const snw_model *m, const snw_work *w, double *rate, double *bend);

// out (nv) += C' x, out (nrow) += C x; from w->C.
void snw_loops_pull(const snw_model *m, const snw_work *w, const double *x, double *out);
void snw_loops_push(const snw_model *m, const snw_work *w, const double *x, double *out);

// J <- [T -s C'; -s C 0] from T, nv x nv at the beginning of J, which has room for all (column major); from w->C.
void snw_loops_border(const snw_model *m, const snw_work *w, double s, double *J);
// The same where T stands in J as it will: -s C' and -s C alone, nothing moved or cleared.
void snw_loops_place(const snw_model *m, const snw_work *w, double s, double *J);
