// SPDX-License-Identifier: MIT
//
// linear_private.h: state of a linear model; private to the files linear_*.c of src/study.
#pragma once

#include "base/fields.h"
#include "dynamics/observer.h"
#include "solve/collocation.h"
#include "study/closed_contacts.h"
#include "study/directions.h"
#include "study/linear_memory.h"
#include "study/output_bars.h"
#include "study/step_tangent.h"

// A given input: how it enters, and its number among the inputs.
typedef enum linear_entry {
    LINEAR_STATE, // acceleration; value and rate are states
    LINEAR_THREE, // value, rate, acceleration
    LINEAR_DIRECT // value; its rates are zero
} linear_entry;

// nc: room for columns, states and inputs; ng, ni: given inputs, variables of first order; ns: 1
// with memory for steps, else 0; nh: states of a step; nm: its variables of first order.
#define LINEAR_FIELDS(AT)                                                                          \
    AT(double, K, nv *nv, "stiffness; with all coordinates free at fixed velocities")              \
    AT(double, D, nv *nv, "damping; likewise")                                                     \
    AT(double, N, nv *nv, "directions with mass: unit components in the independent coordinates")  \
    AT(double, dN, nv *nv, "rates of all directions P")                                            \
    AT(double, ddN, nv *nv, "second rates")                                                        \
    AT(double, Mr, nv *nv, "factor of N'MN")                                                       \
    AT(double, S, nv *nv, "factors of the massless directions")                                    \
    AT(double, Y, nv *ng, "motion with the given coordinates")                                     \
    AT(double, dY, nv *ng, "its rate")                                                             \
    AT(double, ddY, nv *ng, "its second rate")                                                     \
    AT(double, G, nv *nu, "generalised force of the inputs")                                       \
    AT(double, F, nv *ni, "generalised force of the variables of first order")                     \
    AT(double, R, 2 * nv * ni, "their rates by x and x'")                                          \
    AT(double, Q, ni *ni, "their rates by each other")                                             \
    AT(double, C, nv *nr, "constraint rows as columns")                                            \
    AT(double, dC, nv *nr, "rates")                                                                \
    AT(double, ddC, nv *nr, "second rates")                                                        \
    AT(double, by_rate, nv *nv, "accelerations of independent coordinates that turn with rows")    \
    AT(double, by_place, nv *nv, "the same by these coordinates")                                  \
    AT(double, by_given_rate, nv *ng, "the same by rates of given coordinates")                    \
    AT(double, by_given, nv *ng, "and by their values")                                            \
    AT(double, inverse, nv *nr, "of the constraint rows")                                          \
    AT(double, svd_U, nr *nr + nr, "scratch")                                                      \
    AT(double, svd_V, nv *nv + nv, "scratch")                                                      \
    AT(double, svd_A, nv *nr + nv, "scratch")                                                      \
    AT(double, x, nv *nc, "variation of the configuration per column, body twists")                \
    AT(double, x1, nv *nc, "its rate")                                                             \
    AT(double, dv, nv *nc, "variation of the velocities")                                          \
    AT(double, da, nv *nc, "variation of the accelerations")                                       \
    AT(double, multiplier, nr *nc, "variation of the multipliers")                                 \
    AT(double, A, nc *nc, "matrices of the model")                                                 \
    AT(double, B, nc *nc, "likewise")                                                              \
    AT(double, outC, ny *nc, "likewise")                                                           \
    AT(double, outD, ny *nc, "likewise")                                                           \
    AT(double, motion, nu, "static displacement by the inputs")                                    \
    AT(double, row, 3 * nv + nr, "row of an output")                                               \
    AT(double, line, 10 * nv + 4 * nc + nr, "scratch")                                             \
    AT(double, reading, width, "values of a probe")                                                \
    AT(double, sample, 8 * ny, "of outputs by differences")                                        \
    AT(snw_adjoint_output, place_of, ny, "probe and column of each output")                        \
    AT(bool, known, ny, "are the derivatives of the output by the state known?")                   \
    AT(snw_vec3, rotation, frames, "rotation vectors, scratch")                                    \
    AT(snw_linear_state, state, nc, "states")                                                      \
    AT(int, of_input, nc, "inputs of the columns of B")                                            \
    AT(int, derivative, nc, "their derivatives")                                                   \
    AT(int, independent, nv, "independent coordinates")                                            \
    AT(snw_linear_state, memory_of, ni, "variables of first order")                                \
    AT(int, given, ng, "inputs that are given")                                                    \
    AT(int, given_part, ng, "of a number of the file: of which rate of the rows")                  \
    AT(double, given_unit, 3 * ng, "units of given inputs and of their rates")                     \
    AT(linear_entry, entry, ng, "how they enter")                                                  \
    AT(int, pivot, nv, "of S")                                                                     \
    AT(double, step_A, nh *nh, "of a step")                                                        \
    AT(double, step_B, nh *nc, "likewise")                                                         \
    AT(double, step_C, ny *nh, "likewise")                                                         \
    AT(double, step_M, ns *nv *nv, "reduced mass matrix")                                          \
    AT(double, step_D, ns *nv *nv, "damping")                                                      \
    AT(double, step_K, ns *nv *nv, "stiffness")                                                    \
    AT(double, step_G, ns *nv * 3 * nc, "forces of the inputs")                                    \
    AT(double, step_T,                                                                             \
       SNW_STAGES *SNW_STAGES *ns *(nv + ni) * (nv + ni) + ns * (nv + nr) * (nv + nr + 12) + nm,   \
       "matrix of the step, and an image")                                                         \
    AT(double, step_S, ns *nv *nv, "tangent map of the chart")                                     \
    AT(double, step_line, (SNW_STAGES + 12) * ns * nv + SNW_STAGES * nm, "scratch")                \
    AT(int, step_pivot, (SNW_STAGES + 1) * ns * (nv + nr) + SNW_STAGES * nm, "of step_T")          \
    AT(double, step_F, nv *nm, "forces of the variables of first order in the directions")         \
    AT(double, step_R, 2 * nv * nm, "their rates by the directions and by their rates")            \
    AT(double, step_E, nm *ni, "factors of 1 - c1 Q")                                              \
    AT(double, step_rule, 2 * nm, "c0, c1 of their rule")                                          \
    AT(double, step_memory, 4 * nm, "scratch")                                                     \
    AT(int, step_memory_pivot, nm, "of step_E")                                                    \
    AT(bool, step_driven, ns *nv, "is the rate of the coordinate given by a law?")                 \
    AT(double, step_slip, ns *nr, "friction per multiplier of a row")                              \
    AT(int, step_slip_dof, ns *nr, "coordinate on which it acts; -1: none")                        \
    AT(snw_linear_state, step_state, nh, "states of a step")                                       \
    AT(double, chart, 108 * lie, "columns of the chart")

struct snw_linear {
    const snw_model *m;
    int ninput, noutput;
    const snw_linear_input *input;
    bool holds; // hard contacts hold
    snw_linear_output *output;
    bool three, steps;
    snw_directions *d;
    snw_closed_contacts *closed; // NULL: no hard contacts
    snw_state *rest;             // hard contacts: the point without accelerations
    snw_state *s;
    snw_inputs *in;
    snw_observer *observer;
    snw_output_bars *output_bars;
    snw_arena scratch;
    // at the point of the last solve
    bool full;     // all coordinates are states (zeta, delta v): all are independent and have mass,
                   // or constraint rows border the matrix of a step
    bool bordered; // the latter
    bool mapped;   // the step is a map of its own (linear_map.c), also through hard contacts
    bool moving;   // velocities differ from zero
    bool rows_turn; // the constraint rows change along the motion
    int n1, nd, ns, ni, ng, nx, nu;
    double *static_directions, *damped_directions; // in d->P
    snw_linear_system result;
    int width, ncolumn; // of the longest probe; room for columns
    LINEAR_FIELDS(SNW_FIELD_POINTER)
    void *block;
};

// Unit of a state or an input, in the variables of the equations.
typedef struct linear_column {
    const double *z, *dz, *y, *memory; // n1, n1, nd, ni; NULL: zero
    const double *u, *du, *ddu;        // ng; NULL: zero
    const double *force;               // nv: generalised force; NULL: none
    const double *rate;                // of snw_linear_memory_rates; NULL: none
} linear_column;

// The part of snw_linear_solve before the elimination of constraints: tangents at s, rows, forces
// of the inputs, variables of first order.
SNW_NODISCARD snw_status linear_tangents(snw_linear *l, const snw_inputs *in, const snw_state *s,
                                         snw_work *w, snw_error *err);
// K, D <- tangents at fixed velocities and accelerations, where all coordinates are states.
void linear_fix_velocities(snw_linear *l, const snw_state *s);

// G <- generalised forces of the inputs, after the assembly of a tangent.
void linear_input_forces(snw_linear *l, const snw_inputs *in, snw_work *w);
// Columns of all coordinates as states: unit displacements at fixed velocities, unit velocities;
// zero for the inputs, since an input does not move the robot at once.
void linear_all_columns(snw_linear *l, const snw_state *s);
// Does a probe need accelerations or multipliers?
bool linear_needs_balance(snw_probe_kind kind);

// y (n) += c A x, A n x k; x NULL: zero.
void linear_add_product(int n, int k, double c, const double *A, const double *x, double *y);

// x (nv) <- ad_v x of the spherical and free joints, zero elsewhere.
void linear_adjoint(const snw_model *m, const double *v, const double *x, double *out);

// C and D of the result <- rows of the outputs from the columns. After linear columns are known.
SNW_NODISCARD snw_status linear_outputs(snw_linear *l, const snw_inputs *in, const snw_state *s,
                                        const snw_vec3 *rotation, snw_work *w, snw_error *err);

// Name of an input for messages.
const char *linear_input_name(const snw_linear *l, int input);
