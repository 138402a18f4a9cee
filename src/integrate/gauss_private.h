// SPDX-License-Identifier: MIT
//
// gauss_private.h: internals of Gauss collocation. Private to src/integrate/gauss*.c.
#pragma once

#include "constraint/impact.h"
#include "integrate/gauss.h"
#include "solve/broyden.h"
#include "solve/collocation.h"
#include "solve/condition.h"

// Where Newton's matrix was made, stage by stage; the Jacobians of the chart are stored in
// chart_jacobian.
typedef struct snw_gauss_origin {
    bool known;
    double h;
    snw_inputs *in[SNW_STAGES];
    snw_state *at[SNW_STAGES];
} snw_gauss_origin;

struct snw_gauss_collocation {
    const snw_model *m;
    snw_gauss_opts opts;
    snw_collocation k;
    bool has_integrals; // some signal is an integral
    snw_inputs *in;
    snw_state *now, *end;
    snw_inputs *in_stage[SNW_STAGES];
    snw_state *stage[SNW_STAGES];
    snw_work *w[SNW_STAGES];
    snw_projection *projection; // NULL: no constraints or conditions
    snw_impacts *impacts;       // of conditional elements; NULL where projection is
    int ng;                     // nonholonomic rows
    int *row;                   // ng: their indices in the model
    snw_redundancy *redundancy; // owned by the projection; NULL: no redundancy possible
    double redundant;           // 1: nonholonomic rows are redundant
    double constraint_scale;    // scale of these rows and their multipliers in Newton's matrix
    snw_error failure;          // reason why the last step could not finish
    double *memory;             // everything below
    double h;                   // length of the step being solved
    double *rate, *acc;         // nv: velocities and accelerations of the chart at its start
    double *ddx;                // s nv: accelerations at the stages; unknowns
    double *lambda;             // s ng: multipliers over constraint_scale; unknowns
    double *dx;                 // s (nv + ng): change of the unknowns
    double *typical;            // s (nv + ng): typical values of the unknowns
    double *x, *v, *a;          // nv each: chart coordinates and their derivatives at one stage
    double *past;               // s nv: accelerations at the stages of the previous step
    double past_h;              // its length, s; 0: none
    double degree;              // degree of extrapolation that would have predicted them best
    double *mean_rate;          // nv: mean velocities of the chart in the previous step
    double *mass, *scale;       // nv
    double *force;              // nv: typical forces
    double *integrand;          // s nsignal: integrands of the laws' integrals at the stages
    double *chart_jacobian;     // Jacobians of the chart where the matrix was made
    double *M, *D, *K;          // nv x nv: derivatives of the residual in x'', x', x
    double *J;                  // s (nv + ng) square: factors of Newton's matrix
    double *scratch;            // 2 s (nv + ng)
    int *pivot;
    snw_equilibration equilibration;
    double condition; // cached; NaN: not computed yet
    snw_gauss_origin J_origin;
    snw_broyden broyden;
    double *work, *power_stage;
    double heat;
    double *kept; // undo_doubles: state before the last step
    double defect;
};

// Numbers of accelerations at the stages, and of all unknowns.
static inline size_t snw_gauss_accelerations(const snw_gauss_collocation *g) {
    return (size_t)g->k.s * (size_t)g->m->nv;
}
static inline size_t snw_gauss_unknowns(const snw_gauss_collocation *g) {
    return (size_t)g->k.s * (size_t)(g->m->nv + g->ng);
}

// Doubles of the chart's Jacobians at so many stages.
static inline size_t snw_gauss_jacobian_doubles(const snw_model *m, int stages) {
    return 108 * (size_t)m->nlie_block * (size_t)stages;
}

// Places the rows of stage i into g->J, from the residual in w; and factorises it.
void snw_gauss_place(snw_gauss_collocation *g, int i, snw_work *w);
SNW_NODISCARD snw_status snw_gauss_factor(snw_gauss_collocation *g);

// g->dx <- -inv(J) S' r, with the Jacobians S of the chart where J was made.
void snw_gauss_correct(snw_gauss_collocation *g);

// Sets s->lambda of the nonholonomic rows at stage i from g->lambda, before the residual.
// snw_gauss_slip: their largest violation after it, relative to the length of the robot.
void snw_gauss_nonholonomic(const snw_gauss_collocation *g, int i, snw_state *s);
double snw_gauss_slip(const snw_gauss_collocation *g, int i);

// Drops nonholonomic rows that are redundant at s, at all stages, and sets the initial g->lambda.
void snw_gauss_drop_redundant(snw_gauss_collocation *g, const snw_inputs *in, snw_state *s);
