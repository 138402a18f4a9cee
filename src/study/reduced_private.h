// SPDX-License-Identifier: MIT
//
// reduced_private.h: the parts of the reduced motion. Private to src/study/reduced*.c.
#pragma once

#include "base/arena.h"
#include "study/reduced.h"

// A row that unknown rates keep: of a loop, or of a drive that comes and goes.
typedef struct snw_reduced_row {
    int row; // of the model
    int loop, r, drive;
    bool hold;     // of a drive: it keeps a probe on a law, and its effort acts elsewhere
    double size;   // what it is measured by
    double weight; // of its multiplier where reactions are shared
} snw_reduced_row;

struct snw_reduced {
    const snw_model *m;
    snw_reduced_opts opts;
    snw_work *w;
    snw_state *near;
    int nu;        // unknown rates: their coordinates,
    int *dof;      // nu
    int *block;    // nu: blocks of these,
    bool *follows; // nu: and whether motors there exert what is needed,
    bool *holding; // nu: and so that a probe is held,
    int *same;     // nu: with one effort for all that have this number; 0: alone
    int nr;
    bool holds; // some of these rows keep probes on laws
    snw_reduced_row *row;
    signed char *sign; // nloop x nu
    int nominal;       // rank of the rows, but for instants at which they lose it
    snw_reduced_class class;
    int nbase;           // of the symmetric class: unknowns of the base,
    int *base;           // nbase: which
    snw_wrench momentum; // that is kept, of the world
    double until;
    snw_arena scratch;
    double *memory; // everything below
    double *C;      // nr x nu, and
    double *B;      // what factors overwrite
    double *U, *S, *Vt;
    double *MN;          // 2 nu x nu: mass times open motions, and their mass matrix
    double *side;        // nr or nu
    double *rate, *bend; // rows of the model
    double *x;           // 6 vectors of nu
    double *v0;          // nv
    double *Z;           // where probes are held nu x nu as Vt, and scratch: snw_reduced_unworked
    int *pivot;          // nu
    snw_twist *X;        // nu: motions of the world
    snw_wrench *handed;  // nseg: of the projective form; NULL: not asked for
};

// red->C and its singular values at the motion in red->w, and how many there are.
SNW_NODISCARD snw_status snw_reduced_decompose(snw_reduced *red, int *rank);
// x (nu, per typical numbers) <- the shortest with C x = -e by the largest `rank` singular values; e: rows of the model.
void snw_reduced_shortest(const snw_reduced *red, int rank, const double *e, double *x);
// s <- what is driven, with its rates; accelerations of what is not are zero.
void snw_reduced_impose(const snw_reduced *red, const snw_inputs *in, snw_state *s);
// s->v <- what the rows ask for, as far as they have `rank`; open motions stay.
SNW_NODISCARD snw_status snw_reduced_velocities(snw_reduced *red, snw_inputs *in, snw_state *s,
                                                int *rank, snw_error *err);
SNW_NODISCARD snw_status snw_reduced_accelerations(snw_reduced *red, snw_inputs *in, snw_state *s,
                                                   int rank, snw_error *err);
// s->l <- reactions and efforts at the motion s, after snw_reduced_decompose there.
SNW_NODISCARD snw_status snw_reduced_forces(snw_reduced *red, const snw_inputs *in, snw_state *s,
                                            snw_error *err);
// red->w <- the motion s.
void snw_reduced_at(snw_reduced *red, const snw_inputs *in, const snw_state *s);
// Rows that keep probes on laws, theory.md 6.8: red->row <- these behind the others; row k of red->C at the motion in red->w; and, after snw_rows_rates, their rates
// and what is left of their accelerations; either may be NULL.
void snw_reduced_list_holds(snw_reduced *red);
void snw_reduced_hold_row(snw_reduced *red, size_t k);
void snw_reduced_rates(snw_reduced *red, const snw_inputs *in, const snw_state *s, double *rate,
                       double *bend);
// red->Z <- open motions, behind the first red->nominal of nu, on which motors that hold probes do no work.
SNW_NODISCARD snw_status snw_reduced_unworked(snw_reduced *red, double t, snw_error *err);
// y (k) <- inv(A) y, A (k x k) being masses between these and open motions, which no effort may make singular.
SNW_NODISCARD snw_status snw_reduced_keep(snw_reduced *red, double t, int k, double *A, double *y,
                                          snw_error *err);
// s->l <- efforts of the projective form at the motion s; reactions zero.
void snw_reduced_projective(snw_reduced *red, const snw_inputs *in, snw_state *s);
// red->class from the rank.
void snw_reduced_classify(snw_reduced *red, int rank);
// The motion at an instant at which the rows lose rank: the limit, where there is one. Its velocities alone, and all.
SNW_NODISCARD snw_status snw_reduced_limit_rates(snw_reduced *red, snw_inputs *in, snw_state *s,
                                                 int rank, snw_error *err);
SNW_NODISCARD snw_status snw_reduced_limit(snw_reduced *red, snw_inputs *in, snw_state *s, int rank,
                                           snw_error *err);
