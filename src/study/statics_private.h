// SPDX-License-Identifier: MIT
//
// statics_private.h: internals of static solves, shared by statics.c (one solve), branch.c (choice
// of the branch of equilibria) and stability.c.
#pragma once

#include "base/arena.h"
#include "base/fields.h"
#include "constraint/elimination.h"
#include "constraint/projection.h"
#include "integrate/step_control.h"
#include "solve/newton.h"
#include "study/statics.h"

// nv velocities (none in bare models), square = nv nv (none in local models), nr constraint rows, n
// = nv + nr, nx = nq + nr, ncontact places of contacts with obstacles
#define STATICS_FIELDS(AT, PACK)                                                                   \
    AT(double, K, square, "elastic stiffness")                                                     \
    AT(double, T, square, "tangent")                                                               \
    AT(double, x, nx, "configuration and multipliers")                                             \
    PACK(double, kept, 3 * nx, "three copies of x: saved equilibria")                              \
    PACK(double, direction, nv, "direction out of an unstable equilibrium")                        \
    AT(double, scale, n, "of residuals, then of violations")                                       \
    PACK(double, violation0, nr,                                                                   \
         "violations at the start of the solve; they close as the load grows")                     \
    PACK(double, damping, n, "of the damped motion (5.2); zero for constraint rows")               \
    PACK(double, soft, n, "regularisation of the diagonal of joints (5.3)")                        \
    AT(snw_vec3, contact_place, ncontact,                                                          \
       "of contact points at the last tangent, in the frames of obstacles")                        \
    AT(double, rows, rectangle, "C'; tau and order of its QR factors")                             \
    PACK(double, tau, n, "likewise")                                                               \
    AT(int, order, nr, "likewise")                                                                 \
    AT(double, added, m->local ? n : 0, "numbers on the diagonal of the tangent of a local model") \
    PACK(double, subspace, m->local ? 9 * n : 0, "vectors of its least eigenvalues, and products") \
    AT(double, lambda0, nr, "multipliers of loops with a penalty (5.2d) at zero violation")

// Factors of the tangent of a local model.
typedef struct snw_local_factors {
    struct snw_statics *st;
    snw_elimination *elimination; // NULL: the model is not local
} snw_local_factors;

struct snw_statics {
    const snw_model *m;
    snw_closure_rows *closure_rows; // chosen again in solves; NULL: they stay
    snw_work *w;
    snw_inputs *before, *after, *now; // inputs of the last solve, of this one, and blended
    snw_state *trial;
    bool guarded;          // trial points beyond an obstacle count as steps too long
    bool has_places;       // contact_place is known
    bool has_stepped_back; // such a trial point was met
    double blended;        // fraction blended in `now`
    double from,
        to;      // part of the change of load that the solvers see as 0 to 1
    bool steady; // in the last solve: rates of given motion count; otherwise `before` has none
    snw_interrupt interrupt; // of the present solve
    snw_arena scratch;
    STATICS_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    int negative; // negative eigenvalues of the tangent at the last equilibrium; of conservative
                  // models
    const double *regularisation; // `soft`; NULL: all joints are stiff or driven
    snw_projection *projection;
    snw_impacts *impacts;
    double compliance;              // of constraint rows relative to typical compliances; 0: rigid
    double penalty, penalty_length; // of loops, theory.md (5.2d); 0: rigid
    double least_energy;            // smallest typical energy of a coordinate, J
    snw_sparse *sparse[2];          // factors of tangents; NULL: dense
    snw_local_factors local[2];     // those of a local model
    struct snw_static_friction *friction; // NULL: no hard contact has friction
};

// Equations at st->x for the solvers, between the loads st->from and st->to.
snw_problem snw_statics_problem(snw_statics *st);
// st->x <- s, st->violation0 <- its violations under the full load.
void snw_statics_start(snw_statics *st, const snw_state *s);
// st->trial, st->now, st->w <- st->x under the fraction `load` of the change of load.
void snw_statics_evaluate(snw_statics *st, double load, const double *x);
// Closes the loops of st->x under the load st->to where they are open; the multipliers are then
// reset and *moved is true.
SNW_NODISCARD snw_status snw_statics_close(snw_statics *st, bool *moved, snw_error *err);
// st->x <- solution by Newton's method with load increments from st->from to st->to; info->reached
// <- the last fraction reached.
SNW_NODISCARD snw_status snw_statics_newton(snw_statics *st, const snw_statics_opts *opts,
                                            snw_statics_info *info);

// Compliance of constraint row i: its violation per unit of its multiplier.
double snw_statics_compliance(const snw_statics *st, int i);

// Factors of the tangent of a local model at the last evaluation, as snw_own_factors; with `shift`
// times the unloaded stiffness taken off.
SNW_NODISCARD snw_status snw_statics_local_factor(snw_local_factors *f, const double *add,
                                                  double shift, int *sign, int *negative);
// Are equilibria extremes of a potential? Then no load is a follower load and none reads probes.
bool snw_statics_has_potential(const snw_statics *st);

// ---- stability_local.c, local models

// As snw_statics_stability, and, unless dx is NULL, snw_statics_direction.
snw_stability snw_local_stability(snw_statics *st, const snw_state *s, double *dx);

// ---- stability.c

// dx <- one of the equally unstable directions in the columns of X (nv x k), of typical size.
void snw_choose_direction(const snw_model *m, int k, const double *X, double *dx);

// ---- statics_march.c

// st->x <- the end of a damped motion in pseudo-time, or of the damped flow from the time of s to t
// with march_flow.
SNW_NODISCARD snw_status snw_statics_march(snw_statics *st, const snw_statics_opts *opts, double t,
                                           const snw_state *s, snw_statics_info *info,
                                           snw_error *err);
size_t snw_statics_march_scratch(const snw_model *m);

// ---- statics_penalty.c

// Loops have the stiffness of opts from now on, with the multipliers of s; none without
// opts->penalty.
SNW_NODISCARD snw_status snw_statics_penalty_begin(snw_statics *st, const snw_statics_opts *opts,
                                                   const snw_state *s, snw_error *err);
// From an equilibrium st->x with the first multipliers: updates them, and judges the result.
SNW_NODISCARD snw_status snw_statics_penalty_finish(snw_statics *st, const snw_statics_opts *opts,
                                                    snw_statics_info *info, snw_error *err);
size_t snw_statics_penalty_scratch(const snw_model *m);

// ---- statics_hard.c, models with hard contacts

// Forces of hard contacts from now on: those of the last solve and a stiffness.
void snw_statics_hard_begin(snw_statics *st);
// No forces of a last solve.
void snw_statics_hard_reset(snw_statics *st);
// st->x <- equilibrium in which hard contacts neither penetrate nor pull, from the one with the
// present forces.
SNW_NODISCARD snw_status snw_statics_hard_finish(snw_statics *st, const snw_statics_opts *opts,
                                                 double t, snw_statics_info *info, snw_error *err);

// ---- statics_friction.c, models with hard contacts that have friction

// st->friction <- room for their solves; unchanged without friction.
SNW_NODISCARD snw_status snw_statics_friction_create(snw_statics *st);
void snw_statics_friction_destroy(snw_statics *st);
void snw_statics_friction_reset(snw_statics *st); // no forces of a last solve
// st->x <- equilibrium under the full load, reached from s with the forces and sticking places of
// the last solve (theory.md 5.4); info->reached <- the fraction of the load reached.
SNW_NODISCARD snw_status snw_statics_friction_solve(snw_statics *st, const snw_statics_opts *opts,
                                                    double t, const snw_state *s,
                                                    snw_statics_info *info, snw_error *err);

// ---- branch.c

// From a start that is no equilibrium, or beyond the end of a branch (info->reached > 0, st->x its
// last equilibrium): st->x <- stable equilibrium under the full load. If none is found, st->x and
// info->reached are unchanged.
SNW_NODISCARD snw_status snw_branch_settle(snw_statics *st, const snw_statics_opts *opts,
                                           const snw_state *start, snw_statics_info *info,
                                           snw_error *err);
// Continues the branch of which st->x is the last equilibrium found, if its loops can be closed and
// Newton's method ends no further away than the branch would lead: a bifurcation between two
// increments. Otherwise st->x and info->reached are unchanged.
SNW_NODISCARD snw_status snw_branch_cross(snw_statics *st, const snw_statics_opts *opts,
                                          const snw_state *start, snw_statics_info *info);
// Checks the stability of the equilibrium st->x reached from `start`; an unstable one is replaced
// by a stable one nearby, unless opts->follow. Fails only with SNW_E_STOPPED.
SNW_NODISCARD snw_status snw_branch_judge(snw_statics *st, const snw_statics_opts *opts,
                                          const snw_state *start, snw_statics_info *info);
// If the start was an initial shape out of balance: st->x <- the stable equilibrium to which a
// damped motion with closed loops leads from `start`, where that is another than st->x, since
// Newton's method may have jumped to it. Fails only with SNW_E_STOPPED.
SNW_NODISCARD snw_status snw_branch_of_start(snw_statics *st, const snw_statics_opts *opts,
                                             const snw_state *start, snw_statics_info *info);
