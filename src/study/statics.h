// SPDX-License-Identifier: MIT
//
// statics.h: static equilibria of a model, by Newton's method with continuation in the load, or by
// the damped pseudo-time march of Boyer 2020; and their stability. theory.md 5
#pragma once

#include "constraint/impact.h"

typedef struct snw_statics snw_statics;

typedef struct snw_statics_opts {
    double tolerance;         // on residuals relative to typical forces, default 1e-13
    double march, march_step; // pseudo-time of the damped march and its step, s; 0: Newton's method
    double march_gain;        // 1/s, rate at which loops close in a march; 0: in every step
    bool march_flow;          // the pseudo-time is t: the state at t of the damped flow (5.2a)
    double penalty;           // stiffness of loops, N/m, theory.md (5.2d); 0: they are exact
    double penalty_length;    // m, by which rotations of loops count in it
    int penalty_updates;      // updates of their multipliers; -1: until they are closed
    bool steady; // drives and bases move at their constant rates; the remaining velocities are
                 // zero, theory.md 7.1
    bool follow; // stay on the branch of equilibria of the load, even where it is unstable or ends
    bool friction; // of hard contacts, along the path from the start, theory.md 5.4
    snw_relaxation_rule relaxation; // of materials that relax; needed where there are some
    double smallest; // increment of the load below which a branch has ended, relative to the
                     // present load; 0: that of solve/continuation.h
    bool assemble;   // the start is an initial shape: close the loops before applying loads
    bool (*stop)(void *user); // asked between iterations; NULL: never
    void *user;
} snw_statics_opts;

// Result of following the branch of equilibria as the load grows.
typedef enum snw_branch {
    SNW_BRANCH_KEPT,     // followed, or none to follow
    SNW_BRANCH_ENDED,    // ended at the fraction `left` of the load; the robot snapped to a stable
                         // equilibrium
    SNW_BRANCH_LEFT,     // unstable from the fraction `left` on; replaced by a stable equilibrium
                         // nearby
    SNW_BRANCH_UNSTABLE, // unstable from the fraction `left` on, and kept
    SNW_BRANCH_OF_START, // followed, but a damped motion from the start leads to another stable
                         // equilibrium, which is the result
} snw_branch;

// Loops as springs with updated multipliers, theory.md (5.2d).
typedef struct snw_penalty_info {
    int updates;        // of the multipliers; the violation is that after the last
    double violation;   // root of c' W c, m
    double contraction; // factor by which a further update multiplies it; NaN: not known
    double needed;      // stiffness, N/m, below which updates diverge; 0: any converges
} snw_penalty_info;

typedef struct snw_statics_info {
    int iterations, increments;
    double residual;  // largest, relative to typical forces
    double reached;   // fraction of the change of load, 1: all
    double condition; // estimate for the last tangent (solve/condition.h); NaN: not known
    snw_branch branch;
    double left;      // fraction of the load, to within a hundredth; NaN: not known
    int unstable;     // unstable directions by the signs of pivots; -1: not known
    bool others;      // a second stable equilibrium exists on the other side of the unstable one
    double violation; // largest, of nearly contradictory loops solved with a small compliance, m or
                      // rad; otherwise 0
    int dependent;    // march: number of constraint rows that depend on others at its end, whose
                      // multipliers stay as they were
    int dependent_row;        // the first of them
    snw_penalty_info penalty; // with opts->penalty
} snw_statics_info;

snw_statics_opts snw_statics_defaults(void);

// Message of what does not support hard contacts.
#define SNW_HARD_STATICS                                                                           \
    "paths of equilibria, their inverse and maps of steps do not support hard contacts and "       \
    "stops, which touch and open; give them a stiffness instead of 'hard'"

// Allocates everything that solves need; a solve allocates nothing.
SNW_NODISCARD snw_status snw_statics_create(const snw_model *m, snw_statics **out);
// The same with the order of `like`, as for snw_pattern_create_like.
SNW_NODISCARD snw_status snw_statics_create_like(const snw_model *m, const struct snw_sparse *like,
                                                 snw_statics **out);
void snw_statics_destroy(snw_statics *st); // NULL is fine
// Pattern and order of its matrices, which belong to it; NULL: dense ones.
const struct snw_sparse *snw_statics_pattern(const snw_statics *st);

// Lets solves select other rows of redundant loop closures (snw_projection_choose) where the kept
// ones lose rank; `rows`, whose model is that of the statics, is changed then. NULL: no redundant
// loops.
void snw_statics_choose_rows(snw_statics *st, snw_closure_rows *rows);
// From now on another model that fits (snw_model_fits).
void snw_statics_use(snw_statics *st, const snw_model *m);

// s->q <- equilibrium under the loads at time t, starting from s->q as the equilibrium under the
// loads of the previous solve (none at first). Open loops close as the load grows, or before. If
// the start is no equilibrium, the branch ends, or the result is unstable, a damped motion leads to
// a stable equilibrium unless opts->follow; see info->branch. s->v and s->a become zero, except
// those of drives if `steady` (theory.md 7.1). On failure s->q is the last equilibrium found and
// `err` names the fraction of the load.
SNW_NODISCARD snw_status snw_statics_solve(snw_statics *st, double t, const snw_statics_opts *opts,
                                           snw_state *s, snw_statics_info *info, snw_error *err);

// Later evaluations include velocities if `count`, as after a steady solve.
void snw_statics_count_rates(snw_statics *st, bool count);

// Previous loads of the next solve: none at all, or those of time t with their rates, as after a
// motion.
void snw_statics_reset(snw_statics *st);
void snw_statics_assume(snw_statics *st, double t);
// Copies the previous loads from the statics of another model with the same coordinates and loads,
// after a change.
void snw_statics_copy_previous(snw_statics *st, const snw_statics *from);

// Lets `manual` override the laws from now on.
void snw_statics_set_manual(snw_statics *st, const snw_manual_inputs *manual);

// Loads of the last solve: all that a solve keeps of the previous ones.
snw_inputs *snw_statics_previous_inputs(snw_statics *st);

// Kinematics, wrenches and inputs at s, with observers.
const snw_work *snw_statics_work_at(snw_statics *st, const snw_state *s);
// The same under the inputs at time t, before a solve: for conditions.
const snw_work *snw_statics_work_at_time(snw_statics *st, const snw_state *s, double t);
const snw_inputs *snw_statics_inputs(const snw_statics *st);
const snw_model *snw_statics_model(const snw_statics *st);
// Projection onto the constraints and impacts of conditional elements, also for other uses; NULL if
// the model has none.
snw_projection *snw_statics_projection(snw_statics *st);
snw_impacts *snw_statics_impacts(snw_statics *st);

// Number of negative eigenvalues of the tangent at the equilibrium of the last solve, 0 if it is
// stable; -1: not known, since loads have no potential or the model is too large.
int snw_statics_negative(const snw_statics *st);

// Condition number of the tangent of a local model at the equilibrium of the last solve,
// snw_elimination_condition; NaN: none.
double snw_statics_condition(snw_statics *st, const snw_state *s);

// ---- stability (stability.c)

// Smallest eigenvalue, relative to the elastic stiffness, that counts as rounding; below it an
// equilibrium is unstable.
#define SNW_UNSTABLE (-1e-6)

typedef struct snw_stability {
    double
        value; // smallest real part of the eigenvalues of K_T x = lambda K x; NaN if K is singular
    int negative;   // number below SNW_UNSTABLE
    bool symmetric; // no follower load: zero means buckling. Otherwise flutter may come first,
                    // which depends on the mass
} snw_stability;

// Eigenvalues of the tangent at the present equilibrium relative to the unloaded elastic stiffness,
// both restricted to the null space of the constraints; NaN if that is empty.
snw_stability snw_statics_stability(snw_statics *st, const snw_state *s);

// The same for conservative loads; if `negative` is not zero, dx (nv) <- direction of the smallest
// eigenvalue, of typical size; of several equal eigenvalues always the same direction. value is NaN
// with follower loads.
snw_stability snw_statics_direction(snw_statics *st, const snw_state *s, double *dx);

// value (nv) <- the eigenvalues by rising real part, at s under snw_statics_inputs; returns their
// number, 0 if they are not known. *symmetric as above.
int snw_statics_spectrum(snw_statics *st, const snw_state *s, double *value, bool *symmetric);
