// SPDX-License-Identifier: MIT
//
// gauss_private.h: the parts of a staged motion. Private to src/study/staged*.c.
#pragma once

#include "constraint/impact.h"
#include "integrate/gauss.h"
#include "solve/broyden.h"
#include "solve/collocation.h"
#include "solve/condition.h"

// Where Newton's matrix was made, as in motion.c, stage by stage; the columns of the chart stand
// beside.
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
    snw_projection *projection; // of drives; NULL: none
    snw_impacts *impacts;       // of what comes and goes; with it
    int ng;                     // rows of contacts,
    int *row;                   // ng: which of the model's
    snw_redundancy *redundancy; // of contacts; NULL: none
    double redundant;           // whether they say the same
    double constraint_scale;    // what their rows and multipliers are scaled by
    snw_error failure;          // why the last step could not end
    double *memory;             // everything below
    double h;                   // of the step being solved
    double *rate, *acc;         // nv: of the chart at its start
    double *ddx;                // s nv: accelerations at the stages, and
    double *lambda;             // s ng: multipliers of contacts over `bond`: the unknowns
    double *dx;                 // s (nv + ng): their change
    double *typical;            // s (nv + ng)
    double *x, *v, *a;          // nv each: of one stage
    double *past;               // s nv: accelerations at the stages of the step before;
    double past_h;              // its length, 0: there is none;
    double degree;              // of which they would have gone on best to this one
    double *mean_rate;          // nv: mean rates of the chart in the step before
    double *mass, *scale;       // nv
    double *force;              // nv: typical forces
    double *integrand;          // s nsignal: what integrals grow by at the stages
    double *chart_jacobian;     // of the chart where the matrix was made
    double *M, *D, *K;          // nv x nv
    double *J;                  // s (nv + ng) square: Newton's matrix, factorised
    double *scratch;            // 2 s (nv + ng)
    int *pivot;
    snw_gauge gauge;
    double condition; // asked for since; NaN: not yet
    snw_gauss_origin J_origin;
    snw_broyden broyden;
    double *work, *power_stage;
    double heat;
    double *kept; // before the last step
    double defect;
};

// Accelerations at the stages, and all unknowns.
static inline size_t snw_gauss_accelerations(const snw_gauss_collocation *g) {
    return (size_t)g->k.s * (size_t)g->m->nv;
}
static inline size_t snw_gauss_unknowns(const snw_gauss_collocation *g) {
    return (size_t)g->k.s * (size_t)(g->m->nv + g->ng);
}

// Doubles of the chart's columns of so many stages.
static inline size_t snw_gauss_jacobian_doubles(const snw_model *m, int stages) {
    return 108 * (size_t)m->nlie_block * (size_t)stages;
}

// Rows of stage i in g->J, from the residual in w; and its factors.
void snw_gauss_place(snw_gauss_collocation *g, int i, snw_work *w);
SNW_NODISCARD snw_status snw_gauss_factor(snw_gauss_collocation *g);

// g->dx <- -inv(J) S' r, with the columns of where J was made.
void snw_gauss_correct(snw_gauss_collocation *g);

// Where contacts hold at stage i under multipliers g->l: s->lambda before the residual. The largest
// rate of them after it, over the robot's length.
void snw_gauss_nonholonomic(const snw_gauss_collocation *g, int i, snw_state *s);
double snw_gauss_slip(const snw_gauss_collocation *g, int i);

// Contacts that say the same at s rest at all stages; g->l to begin with.
void snw_gauss_drop_redundant(snw_gauss_collocation *g, const snw_inputs *in, snw_state *s);
