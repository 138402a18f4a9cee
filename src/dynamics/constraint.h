// SPDX-License-Identifier: MIT
//
// constraint.h: constraint rows and their Lagrange multipliers. Order of the rows: loop closures
// and contacts, driven coordinates, given lengths and volumes.
//
// Loop closure (holonomic, theory.md 3.8): with A and B the frames of the two sites in the axes of
// the joint and h = A^-1 B = (R, p), the joint forbids some of
//   rotations     log R (three rows); tilt of the axis, e_x R e_z and e_y R e_z;
//                 universal joint: e_x R e_y
//   translations  components of p in the axes of A
// as rows e(h) = 0. A variation delta = (h^-1 delta h) changes row k by c_k delta. The joint exerts
// F = sum lambda_k c_k on B, and -F, transformed to its frame, on A.
//
// Driven coordinate (3.9): e = q_i - law(t); lambda is the effort on the coordinate. Given length
// of a tendon or volume of a chamber (3.11): lambda is the tension or pressure.
//
// Contact without slip (nonholonomic: wheels, rings, anchors; 3.15): rows c u = 0 with u the
// velocity of b relative to a in the axes of b. The violation is w->velocity_time c u. In statics
// it is zero, or, with frozen contacts (snw_contacts_freeze), the forbidden component of the
// displacement from the frozen pose.
#pragma once

#include "dynamics/dynamics.h"

// w->violation <- violation of all rows at the motion in w; w->F, w->r -= forces of the multipliers
// s->lambda (nconstraint). Part of snw_residual.
void snw_constraints_add_forces(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                snw_work *w);

// w->C <- constraint Jacobian, after snw_tangent_pass or snw_jacobian_pass.
void snw_constraints_jacobian(const snw_model *m, snw_work *w);
// The same, and T += cq times the geometric stiffness of the loop wrenches, theory.md (3.8.2),
// w->R <- derivatives cq d/dq + cv d/dv of nonholonomic rows, times
// w->velocity_time, or C if cq is zero. Part of snw_tangent_assemble.
void snw_constraints_add_tangent(const snw_model *m, double cq, double cv, snw_work *w,
                                 snw_matrix T);

// Freeze the nonholonomic contacts at the poses in w for the static evaluations that follow.
// snw_loop_displacement: displacement of contact i since then, m; rotations times the length of the
// robot.
void snw_contacts_freeze(const snw_model *m, snw_work *w);
double snw_loop_displacement(const snw_model *m, const snw_work *w, int i);

// rows (nrow of the loop) <- rates of the rows of loop i along the twist log(h) of SE(3), h the
// relative pose of its sites, if the loop forbids all motion: so a closing along the screw of h is
// told in its rows. The violations of any other loop. After snw_residual.
void snw_loop_closing(const snw_model *m, const snw_work *w, int i, double *rows);

// Wrench of loop i on its second site, in that segment's frame. Components that depend on rows left
// out as redundant are not determined and are NaN.
snw_wrench snw_loop_wrench(const snw_model *m, const snw_work *w, int i, const double *lambda);

// The same from w->lambda, with zero multipliers for the rows left out.
snw_wrench snw_loop_known_wrench(const snw_model *m, const snw_work *w, int i);

// Closed loop i with its multipliers s->lambda: a, b += derivatives by the poses of its two
// segments (body twists) of -F eta - nu'e, F its wrench, eta (2) virtual twists of the segments; nu
// NULL: none. Not of loops at sliding stations or of free lengths.
void snw_loop_bars(const snw_model *m, const snw_work *w, int i, const double *lambda,
                   const double *nu, const snw_twist eta[2], snw_wrench *a, snw_wrench *b);
// Derivatives of nu'e" + z'e' of loop i at the motion in w by the poses of its two segments (body
// twists), their velocities and their accelerations; z NULL: none. Not of loops at sliding stations
// or of linear constraints on coordinates.
void snw_closure_rates_bars(const snw_model *m, const snw_work *w, int i, const double *nu,
                            const double *z, snw_wrench by_g[2], snw_wrench by_V[2],
                            snw_wrench by_A[2]);

// Raw row k of a loop: its name ("tilt x" for an axis of the first site; "tilt first across" if the
// axes of the joint are not aligned with those), and its unit: 1 rad, or the length of the robot.
const char *snw_loop_row_name(const snw_loop *loop, int k);
double snw_loop_row_size(const snw_model *m, const snw_loop *loop, int k);

// Is the multiplier of row r a moment?
bool snw_loop_row_is_moment(const snw_loop *loop, int r);

// Pose of the second site of loop i in the world.
snw_se3 snw_loop_pose(const snw_model *m, const snw_work *w, int i);

// Row r of a loop, a combination of raw rows: its unit, and the row as a wrench c on b in the world
// frame, so that the rate of the row is the power of c on the relative motion; zero if inactive.
// After snw_kinematics.
double snw_loop_kept_size(const snw_model *m, const snw_loop *loop, int r);
snw_wrench snw_loop_row(const snw_model *m, const snw_work *w, int i, int r);

// Row r of loop i, without sliding station: on <- the wrenches of a unit multiplier on the segments
// a and b, own frames. d <- variation of the wrenches W = -F of the loop on its two segments, own
// frames, under variations zeta of their poses, with the multipliers in w->lambda: theory.md
// (3.8.2).
void snw_loop_row_wrenches(const snw_model *m, const snw_work *w, int i, int r, snw_wrench on[2]);
void snw_loop_variation(const snw_model *m, const snw_work *w, int i, const snw_twist zeta[2],
                        snw_wrench d[2]);

// One constraint row, after snw_constraints_jacobian. C[k] is its derivative by coordinate dof[k];
// R is equal to C, except for a nonholonomic row, where it is the derivative within a time step.
// `size` is a typical magnitude of the violation. Friction of a rod that slides through a loop adds
// `slip` times the multiplier to the residual of coordinate slip_dof; -1: none. An inactive row has
// zero C, violation and rates, and its multiplier must be zero.
typedef struct snw_constraint {
    bool inactive;
    int n;
    const int *dof;
    const double *C, *R;
    double size;
    int slip_dof;
    double slip;
} snw_constraint;
snw_constraint snw_constraint_at(const snw_model *m, const snw_work *w, int row);

// rate, acceleration (nconstraint) <- first and second time derivatives of the rows at the motion
// in w, explicit time dependence included, theory.md (3.8.3). After snw_kinematics, not static;
// either may be NULL.
void snw_constraints_rates(const snw_model *m, const snw_inputs *in, const snw_state *s,
                           const snw_work *w, double *rate, double *acceleration);

// Is drive i active at s? Its target value of the coordinate.
static inline bool snw_drive_holds(const snw_model *m, const snw_state *s, int i) {
    const snw_drive *d = &m->drive[i];
    return d->row >= 0 && !d->passive &&
           (d->condition < 0 || snw_any(s->z[m->condition_signal[d->condition]] != 0));
}
double snw_drive_target(const snw_model *m, const snw_inputs *in, const snw_state *s, int i);

// s->v, s->a <- values of the laws, for driven coordinates.
void snw_constraints_impose(const snw_model *m, const snw_inputs *in, snw_state *s);

// out (nv) += C' x; out (nconstraint) += C x. From w->C.
void snw_constraints_apply_transpose(const snw_model *m, const snw_work *w, const double *x,
                                     double *out);
void snw_constraints_apply(const snw_model *m, const snw_work *w, const double *x, double *out);

// Loops and drives that close in the configuration they find: z <- relative poses and offsets at
// the motion in w, for the conditions in `fresh` (ncondition) that have just become true.
void snw_constraints_capture(const snw_model *m, const snw_inputs *in, const snw_state *s,
                             const snw_work *w, const bool *fresh, double *z);

// J <- bordered matrix [T -s C'; -s R 0], column major. On entry T stands at the
// beginning of J, nv x nv; J has room for the whole matrix.
void snw_constraints_border(const snw_model *m, const snw_work *w, double s, double *J);
// The same with T in its final place: writes -s C' and -s R only, moves and clears nothing.
void snw_constraints_place(const snw_model *m, const snw_work *w, double s, snw_matrix J);

// Rods that slide through loops: friction of loop i with these multipliers, which the residual of
// the arc length at the loop contains, N; heat of all with w->lambda, W. After snw_kinematics.
double snw_slip_friction(const snw_model *m, const snw_work *w, int i, const double *lambda);
double snw_slip_heat(const snw_model *m, const snw_work *w);

// ---- loops only -------------------------------------------------------------

// Is row r of this loop active? Bit 0 of the condition of a conditional loop is its state; bit r +
// 1 marks row r as redundant while the loop is closed. Redundant contact rows are dropped per step.
static inline bool snw_closure_row_is_active(const snw_loop *loop, const snw_work *w, int r) {
    if (loop->nonholonomic_index >= 0 && w->dropped[loop->nonholonomic_index] >> r & 1)
        return false;
    return loop->condition < 0 ||
           (w->active[loop->condition] != 0 && !(w->active[loop->condition] >> (r + 1) & 1));
}

// Parts of snw_constraints_add_forces and snw_constraints_rates.
void snw_closures_add_forces(const snw_model *m, const snw_state *s, snw_work *w);
void snw_closures_rates(const snw_model *m, const snw_state *s, const snw_work *w, double *rate,
                        double *acceleration);
// The same of loop i.
void snw_closure_rates(const snw_model *m, const snw_state *s, const snw_work *w, int i,
                       double *rate, double *acceleration);

// Effort of linear constraints (mimic) on coordinate dof with the multipliers in w->lambda, N m or
// N; NaN where such a row is redundant, so that its effort is not determined.
double snw_coupling_effort(const snw_model *m, const snw_work *w, int dof);
