// SPDX-License-Identifier: MIT
//
// projection_private.h: state of a projection; private to src/constraint/projection*.c.
#pragma once

#include "base/arena.h"
#include "base/fields.h"
#include "constraint/bordered_matrix.h"
#include "constraint/projection.h"
#include "constraint/redundancy.h"
#include "constraint/row_gram.h"
#include "solve/dense.h"

// nv velocities, nr rows of `all`, none of them in models that are bare and not local; n and square
// = nr x nr: sizes of dense matrices, n = nv, none in networks of more than SNW_MOST_DENSE
// coordinates
#define PROJECTION_FIELDS(AT, PACK)                                                                \
    AT(double, M, o->m->local ? 0 : n *n, "mass matrix and its factor")                            \
    PACK(double, diagonal, nv, "diagonal of M before the factorisation")                           \
    PACK(double, X, n *nr, "C', or the inverse metric times C'")                                   \
    PACK(double, C, n *(nr + (o->m->local ? 12 : n)),                                              \
         "(nr + nv) x nv: copy of the rows for factorisations; few more in a local model")         \
    PACK(double, S, square, "C X")                                                                 \
    PACK(double, rhs, nr, "right-hand side and solution")                                          \
    PACK(double, bias, nr, "accelerations of the rows at a = 0, or rates of the rows")             \
    PACK(double, size, nr, "unit of each row's violation")                                         \
    PACK(double, all_size, nr, "the same for the rows of `all`")                                   \
    PACK(double, dx, nv + nr, "increment, or rows")                                                \
    PACK(double, violation0, nr, "violations where gradual closing began")                         \
    PACK(double, friction, (size_t)o->m->nloop, "of rods that slide through the loops, N")         \
    PACK(double, q, o->m->nq, "last accepted configuration of gradual closing")                    \
    AT(int, order, nr, "pivots")                                                                   \
    AT(double, P, o->m->nnonholonomic > 0 ? 2 * square : 0,                                        \
       "combines the rows to independent ones, redundancy.h; and scratch")                         \
    AT(double, x, nv + (size_t)o->m->nconstraint, "solution with T")

struct snw_projection {
    const snw_model *m;
    const snw_model *all; // model with the redundant rows, which tell assembly modes apart
    snw_model whole;      // storage of `all` when there are redundant rows, with its arrays
    snw_model_rows rows;
    snw_work *w;
    snw_state *trial, *previous, *near;
    snw_arena scratch;
    PROJECTION_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    const double *closed;   // closed configuration known for the initial one; NULL: none
    double remaining;       // fraction of violation0 that is the present target of gradual closing
    double weight;          // weight of C'C in M, snw_mass_factor
    bool regularised;       // M has additional inertia on massless coordinates
    snw_bordered_matrix *T; // mass matrix bordered by the rows; NULL: dense factors
    snw_row_gram *gram;     // of the rows of `all`; NULL: dense methods
    snw_redundancy *redundancy; // of the contact rows; NULL without contacts
    int nP; // number of independent combinations in P; 0: all rows are independent
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
