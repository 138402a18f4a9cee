// SPDX-License-Identifier: MIT
//
// closure.h: what a robot is forced to keep, as rows with multipliers. Those of closures come
// first, theory.md 3.8. With A and B the frames of a loop's two sites in the axes of its joint and
// h = A^-1 B = (R, p), a joint forbids some of
//   turning      log R (three rows), the axis' tilt e_x R e_z and e_y R e_z, or of a universal
//   joint e_x R e_y moving       components of p, in the axes of A
// as rows e(h) = 0. A variation delta = (h^-1 delta h) changes row k by c_k delta, so along the
// rows the joint exerts F = sum l_k c_k on B, and -F, carried over, on A.
//
// Behind them come driven coordinates, theory.md 3.9: e = q_i - law(t), and l is the effort on the
// coordinate; and given lengths of tendons and volumes of chambers, 3.11.
//
// Contacts that grip (wheels, rings, anchors; 3.15) are closures that forbid velocities: rows c u,
// u the velocity of b against a in the axes of b. Their gap is w->velocity_time c u; where all is
// still it is zero, or, where contacts hold (snw_constraints_hold), what they forbid of the way
// from there.
#pragma once

#include "dynamics/dynamics.h"

// w->violation <- the rows at the motion in w; what the multipliers s->lambda (nrow) do is taken
// off w->F and w->r. Part of snw_residual.
void snw_constraints_add_forces(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                snw_work *w);

// w->C <- rows per coordinate, after snw_tangent_pass.
void snw_constraints_jacobian(const snw_model *m, snw_work *w);
// The same and T += cq (what the wrenches of the loops change as they are carried along), columns
// ld apart; w->R <- derivatives cq d/dq + cv d/dv of rows of velocities, times w->velocity_time; C
// where cq is zero. Part of snw_tangent_assemble.
void snw_constraints_add_tangent(const snw_model *m, double cq, double cv, snw_work *w, size_t ld,
                                 double *T);

// From now on, where all is still, contacts hold where they are at the motion in w; and how far the
// one of loop i has come since, m.
void snw_constraints_hold(const snw_model *m, snw_work *w);
double snw_loop_way(const snw_model *m, const snw_work *w, int i);

// What loop i exerts on its second site, in that segment's frame. NaN where rows that were left out
// would say more: there it is not determined.
snw_wrench snw_loop_wrench(const snw_model *m, const snw_work *w, int i, const double *lambda);

// The same with zeros there: what the multipliers of w->lambda say.
snw_wrench snw_loop_known_wrench(const snw_model *m, const snw_work *w, int i);

// A raw row of a loop by name ("tilt x", an axis of the first site; "tilt first across" where the
// joint's axes are none of those), and what it is measured by: a radian, or the length of the
// robot.
const char *snw_loop_row_name(const snw_loop *loop, int k);
double snw_loop_row_size(const snw_model *m, const snw_loop *loop, int k);

// Is the multiplier of kept row r a moment?
bool snw_loop_turns(const snw_loop *loop, int r);

// The pose of loop i's second site in the world.
snw_se3 snw_loop_pose(const snw_model *m, const snw_work *w, int i);

// What kept row r of a loop is measured by; and that row as a wrench on b in the frame of the
// world, whose power on a motion is what the row says of it. Zero where it is off. After
// snw_kinematics.
double snw_loop_kept_size(const snw_model *m, const snw_loop *loop, int r);
snw_wrench snw_loop_row(const snw_model *m, const snw_work *w, int i, int r);

// One row, after snw_constraints_jacobian: it varies by C[k] with coordinate dof[k], and `size` is
// neither small nor large of it. R: the same, but of a row of velocities its derivative within a
// step. One that is off forbids nothing: its C, gap and rates are zero, and its multiplier has to
// be.
typedef struct snw_constraint {
    bool off;
    int n;
    const int *dof;
    const double *C, *R;
    double size;
} snw_constraint;
snw_constraint snw_constraint_at(const snw_model *m, const snw_work *w, int row);

// rate, bend (nrow) <- C v as it is, time included, and what is left of the rows' accelerations
// when those of the coordinates are as in w. After snw_kinematics, not still; either may be NULL.
void snw_constraints_rates(const snw_model *m, const snw_inputs *in, const snw_state *s,
                           const snw_work *w, double *rate, double *bend);

// Does drive i hold its coordinate at s? And where it holds it.
static inline bool snw_drive_holds(const snw_model *m, const snw_state *s, int i) {
    const snw_drive *d = &m->drive[i];
    return d->row >= 0 && !d->passive &&
           (d->condition < 0 || s->z[m->condition_signal[d->condition]] != 0);
}
double snw_drive_target(const snw_model *m, const snw_inputs *in, const snw_state *s, int i);

// s->v, s->a <- those of the laws, for driven coordinates.
void snw_constraints_impose(const snw_model *m, const snw_inputs *in, snw_state *s);

// out (nv) += C' x, out (nrow) += C x; from w->C.
void snw_constraints_apply_transpose(const snw_model *m, const snw_work *w, const double *x,
                                     double *out);
void snw_constraints_apply(const snw_model *m, const snw_work *w, const double *x, double *out);

// What was met: z <- poses of loops and offsets of drives as they are at the motion in w, of those
// that `fresh` (nswitch) says have just been switched on.
void snw_constraints_meet(const snw_model *m, const snw_inputs *in, const snw_state *s,
                          const snw_work *w, const bool *fresh, double *z);

// J <- [T -s C'; -s C 0] from T, nv x nv at the beginning of J, which has room for all (column
// major); from w->C.
void snw_constraints_border(const snw_model *m, const snw_work *w, double s, double *J);
// The same where T stands in J as it will: -s C' and -s R alone, nothing moved or cleared.
void snw_constraints_place(const snw_model *m, const snw_work *w, double s, double *J);

// ---- parts of the above that are about loops alone
// ---------------------------------------------------

// Is a row of this loop one of those that hold now? The gate of a loop that comes and goes also
// says which of its rows are left out as long as it is closed. Rows of contacts may rest.
static inline bool snw_closure_row_is_active(const snw_loop *loop, const snw_work *w, int r) {
    if (loop->nonholonomic_index >= 0 && w->dropped[loop->nonholonomic_index] >> r & 1)
        return false;
    return loop->condition < 0 ||
           (w->active[loop->condition] != 0 && !(w->active[loop->condition] >> (r + 1) & 1));
}

// As snw_constraints_add_forces and snw_constraints_rates.
void snw_closures_add_forces(const snw_model *m, const double *lambda, snw_work *w);
void snw_closures_rates(const snw_model *m, const snw_work *w, double *rate, double *bend);
