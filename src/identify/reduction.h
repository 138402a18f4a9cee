// SPDX-License-Identifier: MIT
//
// reduction.h: strain functions of the rods of a robot from snapshots of its runs (theory.md 9.1):
// proper orthogonal decomposition of each strain of each rod, or of all strains of each rod
// together, in the norm of the elastic energy, with one threshold for all of them; the functions as
// rows of a table; errors on other runs.
#pragma once

#include "study/run.h"

typedef struct snw_reduction snw_reduction;

// One strain component of one rod.
typedef struct snw_reduced_strain {
    const char *link;
    int strain;           // SNW_TWIST, ..
    int parent;           // functions of the parent
    int rank;             // functions above rounding
    const double *sigma;  // rank: singular values, sqrt(J)
    int n;                // functions kept
    double energy;        // sum of all sigma^2
    double kept;          // share of it that the functions keep
    bool linear;          // straight lines between the rows of the table, else a cubic spline
    double interpolation; // largest error of the table between its rows, relative to a function
    const double *phi;    // nrow x n: functions at the rows
    bool given_beside;    // laws give other strains of this rod
    int first_together;   // first strain of those that share its coordinates, perhaps itself; rank,
                          // sigma, energy and kept are theirs
} snw_reduced_strain;

// For the rods of this run: of these links, or of all links (nlink 0), less those that cannot be
// reduced (snw_reduction_left). `together`: the strains of a rod share their coordinates, and one
// decomposition finds their functions; else each strain has its own. The run must outlive it.
// SNW_E_ARGUMENT: a link is no rod, or cannot be reduced; none is left.
SNW_NODISCARD snw_status snw_reduction_create(const snw_run *run, int nlink,
                                              const char *const *link, bool together,
                                              snw_reduction **out, snw_error *err);
void snw_reduction_destroy(snw_reduction *r); // NULL is fine

// Reason why a rod keeps its functions, i from 0; NULL: there are no more.
const char *snw_reduction_left(const snw_reduction *r, int i);

// A run with strains of its own of the same rods: another file, another basis, the reduced robot.
typedef struct snw_reduction_source snw_reduction_source;
// SNW_E_ARGUMENT: another robot; a rod or strain is missing, or has another length. A `reduced`
// robot may lack strains. `name` is that of the file, for messages.
SNW_NODISCARD snw_status snw_reduction_open(snw_reduction *r, const snw_run *run, const char *name,
                                            bool reduced, snw_reduction_source **out,
                                            snw_error *err);
void snw_reduction_close(snw_reduction_source *s); // NULL is fine

// Adds coordinates (nq, in the bases of the file) as a snapshot. Room for them is `most`.
SNW_NODISCARD snw_status snw_reduction_room(snw_reduction *r, int most, snw_error *err);
void snw_reduction_add(snw_reduction *r, const snw_reduction_source *s, const double *q);

// Finds the functions: `functions` of them in all, or, if 0, as few as keep the share `energy`.
// SNW_E_ARGUMENT: the snapshots have no strain.
SNW_NODISCARD snw_status snw_reduction_solve(snw_reduction *r, int functions, double energy,
                                             snw_error *err);

int snw_reduction_strains(const snw_reduction *r);
const snw_reduced_strain *snw_reduction_strain(const snw_reduction *r, int i);
int snw_reduction_rows(const snw_reduction *r, const double **x); // x/L of the rows of the table
double snw_reduction_kept(const snw_reduction *r);                // share of the energy, of all
int snw_reduction_functions(const snw_reduction *r);              // kept, in all
int snw_reduction_parent(const snw_reduction *r); // coordinates of these rods of the parent
int snw_reduction_snapshots(const snw_reduction *r);

// *missing, *whole <- squares of the energy norm of the strains less their projection on the
// functions, and of the strains.
void snw_reduction_project(const snw_reduction *r, const snw_reduction_source *s, const double *q,
                           double *missing, double *whole);
// *difference <- square of the energy norm of the difference of the strains of two sources.
void snw_reduction_compare(const snw_reduction *r, const snw_reduction_source *a, const double *qa,
                           const snw_reduction_source *b, const double *qb, double *difference);
