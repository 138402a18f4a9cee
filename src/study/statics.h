// SPDX-License-Identifier: MIT
//
// statics.h: equilibria of a model: by Newton with load increments, or by the damped march of
// rods.md 2.3.
#pragma once

#include "constraint/impact.h"

typedef struct snw_statics snw_statics;

typedef struct snw_statics_opts {
    double tolerance;         // on forces relative to the model's typical ones, default 1e-13
    double march, march_step; // pseudo-time of the damped march and its step, s; 0: Newton
    bool steady;   // what is driven or moved goes on at its rates, and all else rests beside it
    bool follow;   // stay on the branch of equilibria that the load leads along, also where it is
                   // unstable or ends
    bool assemble; // the start is where a file puts the robot: loops are put together before loads
                   // lead anywhere
    bool (*stop)(void *user); // asked between iterations; NULL: never
    void *user;
} snw_statics_opts;

// Outcome of following the branch of equilibria as the load grows.
typedef enum snw_branch {
    SNW_BRANCH_KEPT,  // it was followed, or there was none to follow
    SNW_BRANCH_ENDED, // it ended at `left` of the load, and the robot snapped to a stable
                      // equilibrium
    SNW_BRANCH_LEFT,  // it is unstable from `left` on, and was left for a stable equilibrium beside
                      // it
    SNW_BRANCH_UNSTABLE, // it is unstable from `left` on, and kept
} snw_branch;

typedef struct snw_statics_info {
    int iterations, increments;
    double residual; // largest, relative to typical forces
    double reached;  // fraction of the change of load, 1 when all
    double
        condition; // of the last tangent (solve/condition.h), estimated; NaN when it is not known
    snw_branch branch;
    double left;      // fraction of the load, within a hundredth; NaN: not known
    bool others;      // another stable equilibrium was found on the other side of an unstable one
    double violation; // largest of loops that nearly contradict each other and give way a little, m
                      // or rad; 0 else
} snw_statics_info;

snw_statics_opts snw_statics_defaults(void);

// Everything a solve needs; a solve allocates nothing.
SNW_NODISCARD snw_status snw_statics_create(const snw_model *m, snw_statics **out);
void snw_statics_destroy(snw_statics *st); // NULL is fine

// From now on solves keep other rows of redundant loops (snw_projection_choose) where those kept
// lose their rank: m, the model of snw_statics_create, has them then.
void snw_statics_choose_rows(snw_statics *st, snw_model *m);

// s->q <- equilibrium under the loads at time t, from s->q as the equilibrium under those of the
// solve before (none at first). Loops that are open close as the load grows, or before. Where the
// start is no equilibrium, the branch ends on the way or what is found is unstable, a damped motion
// leads to a stable one unless opts->follow: info->branch. s->v and s->a become zero, but for those
// of drives where it is `steady` (theory.md 7.1). On failure s->q is the last equilibrium found and
// `err` says at which share of the load.
SNW_NODISCARD snw_status snw_statics_solve(snw_statics *st, double t, const snw_statics_opts *opts,
                                           snw_state *s, snw_statics_info *info, snw_error *err);

// Whether rates count in what is looked at from now on, as they do after a steady solve.
void snw_statics_count_rates(snw_statics *st, bool count);

// What held before the next solve: no loads at all, or those of time t with the rates there, as
// after a motion.
void snw_statics_reset(snw_statics *st);
void snw_statics_assume(snw_statics *st, double t);
// Take over from the statics of another model with the same coordinates and loads, after a change.
void snw_statics_copy_previous(snw_statics *st, const snw_statics *from);

// From now on with what a caller holds in hand instead of laws.
void snw_statics_set_manual(snw_statics *st, const snw_manual_inputs *manual);

// The loads that held at the last solve: all that a solve remembers of the ones before.
snw_inputs *snw_statics_previous_inputs(snw_statics *st);

// Motion, wrenches and inputs at s, observers included, for whoever wants to look.
const snw_work *snw_statics_work_at(snw_statics *st, const snw_state *s);
// The same under the laws at time t, before a solve: what conditions see.
const snw_work *snw_statics_work_at_time(snw_statics *st, const snw_state *s, double t);
const snw_inputs *snw_statics_inputs(const snw_statics *st);
// What closes the loops of the model and switches what comes and goes, for others to use as well;
// NULL without such.
snw_projection *snw_statics_projection(snw_statics *st);
snw_impacts *snw_statics_impacts(snw_statics *st);

// ---- stability (stability.c)
// ------------------------------------------------------------------------

// smallest eigenvalue, relative to the elastic stiffness, below which it is more than rounding
#define SNW_UNSTABLE (-1e-6)

typedef struct snw_stability {
    double value;   // smallest real part of the eigenvalues of K_T x = lambda K x; NaN when K is
                    // singular
    int negative;   // how many are below SNW_UNSTABLE
    bool symmetric; // no follower load: zero means buckling. Else flutter may come first and needs
                    // the mass
} snw_stability;

// Eigenvalues of the tangent at the present equilibrium relative to the unloaded elastic stiffness,
// both on the motions that loops allow; NaN when they allow none.
snw_stability snw_statics_stability(snw_statics *st, const snw_state *s);

// The same for conservative loads, and where `negative` is not zero dx (nv) <- the motion with the
// smallest eigenvalue, of typical size; where several have it, always the same one. value is NaN
// with follower loads.
snw_stability snw_statics_direction(snw_statics *st, const snw_state *s, double *dx);
