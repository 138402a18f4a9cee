// SPDX-License-Identifier: MIT
//
// projection_private.h: state of a projection; private to src/constraint/projection*.c.
#pragma once

#include "base/arena.h"
#include "constraint/bordered_matrix.h"
#include "constraint/projection.h"
#include "constraint/redundancy.h"

struct snw_projection {
    const snw_model *m;
    const snw_model *all; // model with the redundant rows, which tell assembly modes apart
    snw_model whole;      // storage of `all` when there are redundant rows, with its arrays
    snw_model_rows rows;
    snw_work *w;
    snw_state *trial, *previous, *near;
    snw_arena scratch;
    double *memory;
    double *M;              // nv x nv: mass matrix and its factor
    double *diagonal;       // nv: diagonal of M before the factorisation
    double *X;              // nv x nconstraint: C', or the inverse metric times C'
    double *C;              // (nconstraint of all + nv) x nv: copy of the rows for factorisations
    double *S;              // nconstraint x nconstraint: C X
    double *rhs;            // nconstraint: right-hand side and solution
    double *bias;           // nconstraint: accelerations of the rows at a = 0, or rates of the rows
    double *size;           // nconstraint: unit of each row's violation
    double *all_size;       // the same for the rows of `all`
    double *dx;             // nv or nconstraint, whichever is more
    double *violation0;     // nconstraint: violations where gradual closing began
    double remaining;       // fraction of violation0 that is the present target of gradual closing
    double *q;              // nq: last accepted configuration of gradual closing
    int *order;             // nconstraint: pivots
    double weight;          // weight of C'C in M, snw_mass_factor
    bool regularised;       // M has additional inertia on massless coordinates
    snw_bordered_matrix *T; // mass matrix bordered by the rows; NULL: dense factors
    double *x;              // nv + nconstraint
    snw_redundancy *redundancy; // of the contact rows; NULL without contacts
    double *P; // nconstraint x nconstraint: combines the rows to independent ones, redundancy.h
    int nP;    // number of these combinations; 0: all rows are independent
};

// Loop of a row of m, nloop when the row belongs to no loop; and the owner of a row as messages
// name it, with its location.
int snw_projection_loop_at(const snw_model *m, int row);
snw_source_location snw_projection_owner(const snw_model *m, int row, const char **kind,
                                         const char **name);

// pr->X <- C' as a dense matrix, from the Jacobian of the rows of m in pr->w.
void snw_projection_transpose(snw_projection *pr, const snw_model *m);

// pr->X <- C' of all rows at s, columns in typical coordinates and rows divided by their sizes.
// With `closing` the rows of nonholonomic constraints are zero: they do not restrict positions.
void snw_projection_jacobian(snw_projection *pr, const snw_inputs *in, const snw_state *s,
                             bool closing);

// pr->trial <- coordinates and signals of s.
void snw_projection_set_trial(snw_projection *pr, const snw_state *s);
