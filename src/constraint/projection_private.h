// SPDX-License-Identifier: MIT
//
// projection_private.h: what the files of an assembly share.
#pragma once

#include "base/arena.h"
#include "constraint/bordered_matrix.h"
#include "constraint/projection.h"
#include "constraint/redundancy.h"

struct snw_projection {
    const snw_model *m;
    const snw_model *all; // with the rows that others imply: they tell ways of closing apart
    snw_model whole;      // behind `all` when there are such rows
    snw_work *w;
    snw_state *trial, *kept, *near;
    snw_arena scratch;
    double *memory;
    double *M;         // nv x nv
    double *diagonal;  // nv: of M, before factoring
    double *X;         // nv x nrow: inverse metric times C'
    double *C;         // (nrow of all + nv) x nv
    double *S;         // nrow x nrow: C X
    double *side;      // nrow
    double *curvature; // nrow
    double *size;      // nrow: what a row is measured by,
    double *all_size;  // and those of `all`
    double *dx;        // nv, or nrow if that is more
    double *first;     // nrow: gaps where closing began,
    double leave;      // and the part of them that is left open on the way
    double *q;         // nq: a configuration to come back to
    int *order;        // nrow
    double weight;     // of C'C in M, mass_rows
    bool soft;         // M was made heavier where nothing moves
    snw_bordered_matrix
        *T;    // mass matrix bordered by the rows, where its factors are sparse; NULL: they are not
    double *x; // nv + nrow
    snw_redundancy *redundancy; // of contacts; NULL: none grip
    double *P; // nrow x nrow: rows combined to independent ones, constraint/redundancy.h,
    int nP;    // how many; 0: all are
};

// The loop that a row of m belongs to, nloop when it is none; and what a message calls the owner of
// a row, and where it stands.
int snw_projection_loop_at(const snw_model *m, int row);
snw_source_location snw_projection_owner(const snw_model *m, int row, const char **kind,
                                         const char **name);

// pr->X <- C', dense, from the columns of m in pr->w.
void snw_projection_transpose(snw_projection *pr, const snw_model *m);

// pr->X <- C' of all rows, per typical coordinate and measured by the rows' sizes, at s; to close
// loops rows of velocities say nothing.
void snw_projection_jacobian(snw_projection *pr, const snw_inputs *in, const snw_state *s,
                             bool closing);

// pr->trial <- the configuration of s, and what is closed there.
void snw_projection_set_trial(snw_projection *pr, const snw_state *s);
