// SPDX-License-Identifier: MIT
//
// projection.h: robots with loops and drives, put together: rows that say nothing left out, loops
// closed, velocities and accelerations made consistent with them. theory.md 3.8.
#pragma once

#include "constraint/redundancy.h"

// Compile a description and leave out rows of loops that hold whatever the coordinates are (a hinge
// in a planar model has two that mean something), and those that say what others say already, near
// the closed robot and at several times of the study. SNW_E_MODEL when a row that was left out is
// open: that loop can never be closed. What was left out stands in m->loop, how the closed robot
// can move in m->freedom and m->singular.
SNW_NODISCARD snw_status snw_projection_compile(const snw_desc *desc, snw_model **out,
                                                snw_error *err);
// The same for nothing but kinematic steps: without columns (m->bare) where these need none, so
// that joints in a row may be many.
SNW_NODISCARD snw_status snw_projection_compile_kinematic(const snw_desc *desc, snw_model **out,
                                                          snw_error *err);

// out <- how many rows loop i has and which hold by themselves; and what there is to warn of: rows
// that others imply; a singular configuration in which the robot begins. The latter are empty when
// there is nothing.
void snw_projection_describe(const snw_model *m, int i, char *out, size_t size);
void snw_projection_describe_redundant(const snw_model *m, int i, char *out, size_t size);
void snw_projection_describe_singular(const snw_model *m, int i, char *out, size_t size);

typedef struct snw_projection snw_projection;

// Everything that the functions below need; but for the last they allocate nothing. Of a bare model
// only gaps can be asked for.
SNW_NODISCARD snw_status snw_projection_create(const snw_model *m, snw_projection **out);
void snw_projection_destroy(snw_projection *pr); // NULL is fine

// Of its contacts; NULL: there are none.
snw_redundancy *snw_projection_redundancy(snw_projection *pr);

// What is said of a contact that cannot hold: its name, t, the speed.
#define SNW_SLIP_MESSAGE                                                                           \
    "contact '%s' contradicts the other contacts and what is driven at t = %.9g s: it would have " \
    "to slip with %.3g m/s. Let a coordinate free, take contacts away, or change the laws"

typedef struct snw_projection_info {
    int iterations;
    double violation; // largest left, in radians or relative to the size of the robot
    int row;          // which one has it, rows that others imply included
} snw_projection_info;

// Largest gap at s->q under the inputs, and its row unless NULL; as a length or an angle in words.
double snw_projection_violation(snw_projection *pr, const snw_inputs *in, const snw_state *s,
                                int *row);
void snw_projection_explain_violation(const snw_projection *pr, int row, double gap, char *out,
                                      size_t size);
// What gaps of a row are measured by: 1 for angles, the size of the robot for lengths.
double snw_projection_size(const snw_projection *pr, int row);
// How many such rows there are, and the first one of loop i.
int snw_projection_rows(const snw_projection *pr);
int snw_projection_first_row(const snw_projection *pr, int i);
// The loop that such a row belongs to; m->nloop: none.
int snw_projection_loop_of(const snw_projection *pr, int row);
// What it belongs to in words, "loop" or "actuator", and where that stands.
snw_source_location snw_projection_location_of(const snw_projection *pr, int row, const char **kind,
                                               const char **name);

// s->q <- a near configuration in which all loops are closed under the inputs and driven
// coordinates are where their laws want them, lengths measured by typical coordinates.
// SNW_E_DIVERGED: not found, the loop or actuator with the largest gap is named; s->q is as it was.
SNW_NODISCARD snw_status snw_projection_close(snw_projection *pr, const snw_inputs *in,
                                              snw_state *s, snw_projection_info *info,
                                              snw_error *err);

// Rank of the rows of all drives that act and all loops that are closed, and for each row whether
// it is kept in a largest independent set: those of drives, then of loops that never open, then of
// loops that stand first in the file are kept first. Where most rows are independent, at s or at
// closed configurations nearby; these are looked at while fewer than `enough` are. `closer` closes
// them: `as`, or one of a model without the drives. `here` and `most` have room for all rows.
int snw_projection_rank(snw_projection *pr, snw_projection *closer, const snw_inputs *in,
                        const snw_state *s, int enough, bool *here, bool *most);

// Are there rows that others imply, and that are left out?
bool snw_projection_redundant(const snw_projection *pr); // NULL: no

// Rows of redundant loops that are kept, chosen anew at the configuration of s where those kept so
// far tell motions apart far worse than others would: m, the model of the assembly, has them from
// now on, as many as before. False: nothing has changed. Reactions of redundant loops are of the
// rows that are kept. A multiplier belongs to another row then: what moves begins anew.
bool snw_projection_choose(snw_projection *pr, snw_model *m, const snw_inputs *in,
                           const snw_state *s);

// That choice for loop i as a number, and made again from it; 0: the one of the beginning. False:
// it is none.
double snw_projection_choice(const snw_projection *pr, int i);
bool snw_projection_set_choice(const snw_projection *pr, snw_model *m, int i, double choice);

// *loop <- the contact that would have to slip most where rows of velocities do not fit each other
// and what is driven, at the configuration of s, with *left m/s or rad/s times the robot's length;
// -1: they fit. Allocates.
SNW_NODISCARD snw_status snw_projection_find_slip(const snw_model *m, const snw_inputs *in,
                                                  const snw_state *s, int *loop, double *left);

// Numbers between -1 and 1, the same every time: configurations a little beside.
double snw_projection_random(unsigned long long *seed);

// s->v <- the nearest velocities that keep all rows, by the energy of the difference.
SNW_NODISCARD snw_status snw_projection_velocities(snw_projection *pr, const snw_inputs *in,
                                                   snw_state *s, snw_error *err);

// The same after a blow: M (v+ - v) = f + C' p. f (nv; NULL: none) is the generalised impulse of
// what struck, impulse (nrow, unless NULL) <- p, what the rows did.
SNW_NODISCARD snw_status snw_projection_impact(snw_projection *pr, const snw_inputs *in,
                                               const double *f, snw_state *s, double *impulse,
                                               snw_error *err);

// s->a, s->lambda <- accelerations and multipliers of free motion at (q, v). SNW_E_SINGULAR: a
// coordinate moves no mass but is pushed, or the configuration is singular.
SNW_NODISCARD snw_status snw_projection_accelerations(snw_projection *pr, const snw_inputs *in,
                                                      snw_state *s, snw_error *err);

// idle[l] (nlink) <- whether the joint of link l has a motion at s->q that the loops allow, nothing
// resists and no mass takes part in. Allocates.
SNW_NODISCARD snw_status snw_projection_idle(snw_projection *pr, const snw_inputs *in,
                                             const snw_state *s, bool *idle);

// M (nv x nv, symmetric) <- its Cholesky factor. When it is singular: of M + weight C'
// diag(1/size^2) C, with X = C' (nv x nrow; NULL without rows), which is definite when M is on the
// motions that the rows allow; and when that is not either, *soft, made a little heavier on the
// coordinates of joints: then the caller checks that nothing pushes what has no mass. diagonal: nv
// numbers of scratch.
SNW_NODISCARD snw_status snw_mass_factor(const snw_model *m, const double *X, const double *size,
                                         double *diagonal, double *M, double *weight, bool *soft);
