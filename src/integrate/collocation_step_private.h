// SPDX-License-Identifier: MIT
//
// collocation_step_private.h: internals of Gauss and Radau collocation. Private to
// src/integrate/collocation_step*.c.
#pragma once

#include "base/fields.h"
#include "constraint/impact.h"
#include "constraint/law_jump.h"
#include "integrate/collocation_step.h"
#include "solve/broyden.h"
#include "solve/condition.h"

// States and inputs of the stages at which Newton's matrix was made; the Jacobians of the chart are
// stored in chart_jacobian.
typedef struct snw_collocation_step_origin {
    bool known;
    double h;
    snw_inputs *in[SNW_STAGES];
    snw_state *at[SNW_STAGES];
} snw_collocation_step_origin;

// nv velocities, s stages, ns = s nv accelerations, all = s (nv + ng) unknowns, np powers
#define COLLOCATION_FIELDS(AT, PACK)                                                               \
    AT(double, rate, nv, "velocities of the chart at its start")                                   \
    PACK(double, acc, nv, "accelerations of the chart at its start")                               \
    PACK(double, ddx, ns, "accelerations at the stages; unknowns")                                 \
    PACK(double, lambda, all - ns, "multipliers over constraint_scale; unknowns")                  \
    PACK(double, dx, all, "change of the unknowns")                                                \
    PACK(double, typical, all, "typical values of the unknowns")                                   \
    PACK(double, x, nv, "chart coordinates at one stage")                                          \
    PACK(double, v, nv, "their rates")                                                             \
    PACK(double, free, nv, "velocities at the end before their projection")                        \
    PACK(double, a, nv, "their accelerations")                                                     \
    PACK(double, past, all, "ns: accelerations at the stages of the previous step")                \
    PACK(double, mean_rate, nv, "mean velocities of the chart in the previous step")               \
    PACK(double, mass, nv, "typical masses")                                                       \
    PACK(double, scale, nv, "scale of the residual")                                               \
    PACK(double, force, nv, "typical forces")                                                      \
    PACK(double, integrand, s *(size_t)m->nsignal,                                                 \
         "integrands of the laws' integrals, rates of states at the stages")                       \
    PACK(double, branch_rate, s *(size_t)m->nbranch_coordinate,                                    \
         "rates of the strains of Maxwell branches at the stages")                                 \
    PACK(double, state_matrix, s *s *nstate *nstate, "of the rates of states")                     \
    PACK(double, state_signal, (size_t)m->nsignal, "signals at a stage")                           \
    PACK(double, chart_jacobian, snw_collocation_step_jacobian_doubles(m, (int)s),                 \
         "Jacobians of the chart where the matrix was made")                                       \
    PACK(double, M, nv *nv, "derivative of the residual in x''")                                   \
    PACK(double, D, nv *nv, "in x'")                                                               \
    PACK(double, K, nv *nv, "in x")                                                                \
    PACK(double, J, all *all, "factors of Newton's matrix")                                        \
    PACK(double, scratch, 2 * all, "for the matrix")                                               \
    PACK(double, equilibration_row, all, "scales of the rows of J before it was factorised")       \
    PACK(double, equilibration_column, all, "scales of its columns")                               \
    PACK(double, work, np, "work of loads and actuators")                                          \
    PACK(double, power_stage, np, "power at one stage")                                            \
    PACK(double, kept, undo_doubles(m, &o->k), "state before the last step")                       \
    PACK(double, broyden_memory, nb, "increments of Broyden's method")                             \
    AT(int, pivot, all, "of the factors of J")

// Point of the quadrature of works along the polynomial of a step.
typedef struct snw_work_point {
    double c, b; // fraction of the step, weight
    snw_collocation_weights of;
} snw_work_point;

struct snw_collocation_step {
    const snw_model *m;
    snw_collocation_step_opts opts;
    snw_collocation k;
    bool has_integrals; // some signal is an integral or a state
    snw_inputs *in;
    snw_state *now, *end;
    snw_inputs *in_stage[SNW_STAGES];
    snw_state *stage[SNW_STAGES];
    snw_work *w[SNW_STAGES];
    snw_projection *projection; // NULL: no constraints or conditions
    snw_impacts *impacts;       // of conditional elements; NULL where projection is
    snw_law_jump *law_jump;     // of given strains and moving poses; NULL: none
    int ng;                     // nonholonomic rows
    int *row;                   // ng: their indices in the model
    snw_redundancy *redundancy; // owned by the projection; NULL: no redundancy possible
    double redundant;           // 1: nonholonomic rows are redundant
    double constraint_scale;    // scale of these rows and their multipliers in Newton's matrix
    snw_error failure;          // reason why the last step could not finish
    COLLOCATION_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    double h;      // length of the step being solved
    double past_h; // length of the previous step, s; 0: none
    double degree; // degree of extrapolation that would have predicted `past` best
    snw_equilibration equilibration;
    double condition; // cached; NaN: not computed yet
    snw_collocation_step_origin J_origin;
    snw_broyden broyden;
    double heat;
    double scheme;                         // energy removed by the scheme; 0 where it damps nothing
    snw_work_point work_point[SNW_STAGES]; // s + 1, of a scheme that damps
    double defect;
    snw_step_watch watch;
};

// Numbers of accelerations at the stages, and of all unknowns.
static inline size_t snw_collocation_step_accelerations(const snw_collocation_step *g) {
    return (size_t)g->k.s * (size_t)g->m->nv;
}
static inline size_t snw_collocation_step_unknowns(const snw_collocation_step *g) {
    return (size_t)g->k.s * (size_t)(g->m->nv + g->ng);
}

// Doubles of the chart's Jacobians at so many stages.
static inline size_t snw_collocation_step_jacobian_doubles(const snw_model *m, int stages) {
    return 108 * (size_t)m->nlie_block * (size_t)stages;
}

// Places the rows of stage i into g->J, from the residual in w; and factorises it.
void snw_collocation_step_place(snw_collocation_step *g, int i, snw_work *w);
SNW_NODISCARD snw_status snw_collocation_step_factor(snw_collocation_step *g);

// g->dx <- -inv(J) S' r, with the Jacobians S of the chart where J was made.
void snw_collocation_step_correct(snw_collocation_step *g);

// Variables of first order (collocation_step_memory.c). Rates of the branches at the stages <- from
// the accelerations; s->relaxed <- with the weights A; columns of their derivatives in the rows of
// stage i of g->J; heat and, where the scheme damps, its energy at s, with the weights l of the
// rates, times a weight.
void snw_collocation_step_branches(snw_collocation_step *g);
void snw_collocation_step_relaxed(const snw_collocation_step *g, const double *A, snw_state *s);
void snw_collocation_step_place_branches(snw_collocation_step *g, int i);
void snw_collocation_step_add_heat(snw_collocation_step *g, double weight, const double *l,
                                   const snw_state *s);
// Rates of the states <- 0, where a step begins; <- at the stages just evaluated, false if they
// were those used there. NaN if there are none.
void snw_collocation_step_forget_rates(snw_collocation_step *g);
bool snw_collocation_step_solve_rates(snw_collocation_step *g);

// Sets s->lambda of the nonholonomic rows at stage i from g->lambda, before the residual.
// snw_collocation_step_slip: their largest violation after it, relative to the length of the robot.
void snw_collocation_step_nonholonomic(const snw_collocation_step *g, int i, snw_state *s);
double snw_collocation_step_slip(const snw_collocation_step *g, int i);

// Drops nonholonomic rows that are redundant at s, at all stages, and sets the initial g->lambda.
void snw_collocation_step_drop_redundant(snw_collocation_step *g, const snw_inputs *in,
                                         snw_state *s);
