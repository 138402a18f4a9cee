// SPDX-License-Identifier: MIT
//
// projection.h: projection onto the constraint manifold of loop closures, contacts and driven
// coordinates (theory.md 3.8): trivial and redundant constraint rows are found when a model is
// compiled; positions, velocities and accelerations are projected so that the remaining rows hold.
#pragma once

#include "constraint/closure_rows.h"
#include "constraint/redundancy.h"
#include "solve/sparse.h"

// Compile a description and remove constraint rows of loops: trivial ones, which hold at every
// configuration (a revolute joint in a planar model has two effective rows of five), and redundant
// ones, which other rows imply near the closed configuration and at several times of the study.
// SNW_E_MODEL when a removed row is violated: the loop can never be closed. m->loop lists the
// removed rows; m->freedom and m->singular hold the degrees of freedom of the closed robot and its
// rank loss.
SNW_NODISCARD snw_status snw_projection_compile(const snw_desc *desc, snw_model **out,
                                                snw_error *err);
// The same for one use. For kinematic steps only, Jacobians are left out (m->bare) where these need
// none, so a chain may have many joints. For the steps of its study the model may become local.
SNW_NODISCARD snw_status snw_projection_compile_for(const snw_desc *desc, snw_model_use use,
                                                    snw_model **out, snw_error *err);

// out <- text on loop i: the number of its rows and the trivial ones among them; a warning of
// redundant rows; a warning of a singular initial configuration. The warnings are empty when there
// is nothing to warn of.
void snw_projection_describe(const snw_model *m, int i, char *out, size_t size);
void snw_projection_describe_redundant(const snw_model *m, int i, char *out, size_t size);
void snw_projection_describe_singular(const snw_model *m, int i, char *out, size_t size);

typedef struct snw_projection snw_projection;

// Memory for the functions below, which allocate only where their comments state it. With a bare
// model only violations can be computed.
SNW_NODISCARD snw_status snw_projection_create(const snw_model *m, snw_projection **out);
// The same where the pattern of the matrix of the model and its rows is known from
// snw_pattern_create: `like`; NULL: dense factors, which closing loops and ranks never need.
SNW_NODISCARD snw_status snw_projection_create_like(const snw_model *m, const snw_sparse *like,
                                                    snw_projection **out);
void snw_projection_destroy(snw_projection *pr); // NULL is fine
// From now on another model that fits (snw_model_fits).
void snw_projection_use(snw_projection *pr, const snw_model *m);

// Redundancy of the contact rows; NULL without contacts.
snw_redundancy *snw_projection_redundancy(snw_projection *pr);

// Message for a contact that cannot hold; arguments: its name, time in s, slip speed in m/s.
#define SNW_SLIP_MESSAGE                                                                           \
    "contact '%s' contradicts the other contacts and drives at t = %.9g s: it would have to slip " \
    "with %.3g m/s. Leave a coordinate free, remove contacts, or change the laws"

typedef struct snw_projection_info {
    int iterations;
    double violation; // largest remaining violation, in radians or relative to the robot's length
    int row;          // row that has it; rows are counted with the redundant ones
} snw_projection_info;

// Largest violation at s->q under the inputs, relative to the size of its row, and that row unless
// NULL. The second function writes a violation as a length or an angle.
double snw_projection_violation(snw_projection *pr, const snw_inputs *in, const snw_state *s,
                                int *row);
void snw_projection_explain_violation(const snw_projection *pr, int row, double violation,
                                      char *out, size_t size);
// Unit of a violation: 1 for angles, the robot's length for lengths, typical values for drives.
double snw_projection_size(const snw_projection *pr, int row);
// Number of rows with the redundant ones, and the first row of loop i in this numbering.
int snw_projection_rows(const snw_projection *pr);
int snw_projection_first_row(const snw_projection *pr, int i);
// Loop of such a row; m->nloop when the row belongs to no loop.
int snw_projection_loop_of(const snw_projection *pr, int row);
// Owner of such a row: its location in the model file, *kind <- "loop", "contact" or "actuator",
// and its name.
snw_source_location snw_projection_location_of(const snw_projection *pr, int row, const char **kind,
                                               const char **name);

// s->q <- a nearby configuration at which all loops are closed under the inputs and the driven
// coordinates follow their laws; distances are measured in typical coordinates. SNW_E_DIVERGED:
// none was found; the message names the loop or actuator with the largest violation; s->q is
// unchanged.
SNW_NODISCARD snw_status snw_projection_close(snw_projection *pr, const snw_inputs *in,
                                              snw_state *s, snw_projection_info *info,
                                              snw_error *err);

// Part of a row that is independent of the rows before it, in units of the row per typical
// coordinate: of the order of 0.1 in robots, small near singular configurations.
typedef struct snw_projection_pivot {
    double value;
    int loop; // that has the row
} snw_projection_pivot;

// Are all rows at s independent by a margin, as their sparse Gram matrix shows (row_gram.h)? False:
// not so, or the model has no such matrix.
bool snw_projection_plainly_independent(snw_projection *pr, const snw_inputs *in,
                                        const snw_state *s);

// Rank of the active constraint rows, and for each row whether it belongs to a largest independent
// set. Rows of drives enter the set first, then those of loops that are always active, then those
// of conditional loops, each in the order of the file. `here` is the set at s, `most` the set of
// largest rank among s and closed configurations nearby, visited if the rank at s is below `enough`
// or in doubt. `closer` closes the loops there: pr itself, or the projection of the model without
// drives (NULL: -1 is returned where that is needed). `here` and `most` have one entry for each
// row, redundant ones included. *pivot (unless NULL) <- the smallest pivot of the independent rows
// at s.
int snw_projection_rank(snw_projection *pr, snw_projection *closer, const snw_inputs *in,
                        const snw_state *s, int enough, bool *here, bool *most,
                        snw_projection_pivot *pivot);

// Does the model have redundant rows that were removed?
bool snw_projection_redundant(const snw_projection *pr); // NULL: no

// Choose the active rows of redundant loops again at the configuration of s, where those in use are
// much worse conditioned than the best choice (theory.md 3.8): `rows`, whose model is that of the
// projection, <- the choice; NULL: no loop is redundant. The number of rows stays. Returns false
// when nothing has changed. Reactions of redundant loops refer to the chosen rows. Multipliers
// change their rows, so integrators must be started again.
bool snw_projection_choose(snw_projection *pr, snw_closure_rows *rows, const snw_inputs *in,
                           const snw_state *s);

// *loop <- the contact that would slip most because the velocity rows contradict each other or the
// driven coordinates at the configuration of s, and *left <- its slip, in m/s (angular rates times
// the robot's length); -1: all rows are consistent. Allocates.
SNW_NODISCARD snw_status snw_projection_find_slip(const snw_model *m, const snw_inputs *in,
                                                  const snw_state *s, int *loop, double *left);

// Pseudo-random number between -1 and 1, reproducible from the seed; used to perturb
// configurations.
double snw_projection_random(unsigned long long *seed);

// s->v <- the velocities nearest to s->v, in the metric of kinetic energy, that satisfy all rows.
SNW_NODISCARD snw_status snw_projection_velocities(snw_projection *pr, const snw_inputs *in,
                                                   snw_state *s, snw_error *err);

// Velocities after a plastic impact: M (v+ - v) = f + C' p and the rows hold at v+. f (nv; NULL:
// zero) is the generalised impulse of external bodies; impulse (nconstraint, unless NULL) <- p, the
// impulses of the rows.
SNW_NODISCARD snw_status snw_projection_impact(snw_projection *pr, const snw_inputs *in,
                                               const double *f, snw_state *s, double *impulse,
                                               snw_error *err);

// s->a, s->lambda <- accelerations and multipliers of the constrained motion at (q, v).
// SNW_E_SINGULAR: a force acts on a coordinate without mass, or the configuration is singular.
SNW_NODISCARD snw_status snw_projection_accelerations(snw_projection *pr, const snw_inputs *in,
                                                      snw_state *s, snw_error *err);

// idle[l] (nlink) <- whether the joint of link l has a motion at s->q that satisfies the
// constraints, meets no stiffness and moves no mass. Allocates.
SNW_NODISCARD snw_status snw_projection_idle(snw_projection *pr, const snw_inputs *in,
                                             const snw_state *s, bool *idle);

// M (nv x nv, symmetric) <- its Cholesky factor. If M is singular, the factor is that of M + weight
// C' diag(1/size^2) C, with X = C' (nv x nconstraint; NULL without rows), which is positive
// definite when M is on the motions that the rows allow. If that is singular too, *regularised <-
// true and a small inertia is added to the coordinates of joints; the caller must then check that
// no force acts on massless motions. diagonal: nv doubles of scratch.
SNW_NODISCARD snw_status snw_mass_factor(const snw_model *m, const double *X, const double *size,
                                         double *diagonal, double *M, double *weight,
                                         bool *regularised);
