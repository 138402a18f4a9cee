// SPDX-License-Identifier: MIT
//
// statics_private.h: what the files of static solves share: statics.c (one solve), branch.c (which
// branch of equilibria it ends on) and stability.c.
#pragma once

#include "base/arena.h"
#include "constraint/projection.h"
#include "integrate/step_control.h"
#include "solve/newton.h"
#include "study/statics.h"

struct snw_statics {
    const snw_model *m;
    snw_model *own; // m, where rows of its redundant loops may be chosen anew; else NULL
    snw_work *w;
    snw_inputs *before, *after, *now; // of the last solve, of this one, and between
    snw_state *trial;
    double blended; // fraction that `now` holds
    double from,
        to;      // the part of the change of load that the equations below are asked for as 0 and 1
    bool steady; // of the last solve: rates of what is given count. Elsewhere `before` has none
    snw_interrupt interrupt; // of the solve under way
    snw_arena scratch;
    double *K, *T; // elastic stiffness and tangent, nv x nv
    double *x;     // configuration and multipliers, nq + nrow
    double *kept;  // three times the same: to come back to
    double *aside; // nv: a motion that leaves an unstable equilibrium
    int negative;  // eigenvalues of the tangent at the last equilibrium; counted in conservative
                   // models
    double *scale; // of forces, then of gaps
    double *soft;  // what may be added to the diagonal where joints are held by nothing; NULL: they
                   // all are
    double *slow;  // damping by which mechanisms settle, zero for rows
    double *rows;  // nv x nrow: C', and tau and order of its factors
    double *tau;
    int *order;
    snw_projection *projection;
    snw_impacts *impacts;
    double give;           // compliance of rows relative to typical ones; 0: they hold exactly
    double soft_energy;    // the smallest typical energy of a coordinate
    double *open;          // nrow: gaps where the solve began; they close as the load grows
    snw_sparse *sparse[2]; // factors of tangents; NULL: they are dense
};

// The equations at st->x for the solvers, between the loads st->from and st->to.
snw_problem snw_statics_problem(snw_statics *st);
// st->x <- s, and st->open its gaps under all of the load.
void snw_statics_start(snw_statics *st, const snw_state *s);
// st->trial, st->now, st->w <- st->x under the fraction `load` of the change.
void snw_statics_evaluate(snw_statics *st, double load, const double *x);
// Close the loops of st->x under the load st->to, where they are open; multipliers begin anew then:
// *moved.
SNW_NODISCARD snw_status snw_statics_close(snw_statics *st, bool *moved, snw_error *err);
// st->x <- by Newton with increments from st->from to st->to, of which the last reached is
// info->reached.
SNW_NODISCARD snw_status snw_statics_newton(snw_statics *st, const snw_statics_opts *opts,
                                            snw_statics_info *info);

// ---- branch.c
// --------------------------------------------------------------------------------------

// From a start that is no equilibrium, or beyond the end of a branch (info->reached > 0, st->x the
// last on it): to a stable equilibrium under all of the load. Where none is found st->x and
// info->reached stay.
SNW_NODISCARD snw_status snw_branch_settle(snw_statics *st, const snw_statics_opts *opts,
                                           const snw_state *start, snw_statics_info *info,
                                           snw_error *err);
// On along the branch of which st->x is the last equilibrium found, where its loops can be closed
// and Newton's method ends no further away than the branch would lead: a bifurcation was in the
// way. Else st->x and info->reached stay.
SNW_NODISCARD snw_status snw_branch_cross(snw_statics *st, const snw_statics_opts *opts,
                                          const snw_state *start, snw_statics_info *info);
// Look at the equilibrium st->x that was reached from `start`: where it is unstable it is left for
// a stable one beside it, unless opts->follow. SNW_E_STOPPED alone is a failure.
SNW_NODISCARD snw_status snw_branch_judge(snw_statics *st, const snw_statics_opts *opts,
                                          const snw_state *start, snw_statics_info *info);
