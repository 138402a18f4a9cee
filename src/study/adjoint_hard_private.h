// SPDX-License-Identifier: MIT
//
// adjoint_hard_private.h: steps with hard contacts as smooth maps, theory.md (7.5.25) to (7.5.27):
// their unknowns and equations, for adjoint_hard.c (maps), adjoint_hard_equations.c,
// adjoint_hard_tangent.c (derivatives), adjoint_hard_blocks.c (solution) and model_hard.c
// (derivatives by numbers of the model).
#pragma once

#include "dynamics/chart.h"
#include "integrate/hard_step.h"
#include "study/adjoint_private.h"
#include "study/part_model.h"

enum { MIDDLE, END, START }; // time of the laws of an equation
enum { BY_MIDDLE, BY_FRICTION, BY_START, BY_GAP, ENERGIES };
enum { Q_MID, V_MID, A_MID, Q_END, V_END, A_END, OUTPUTS }; // of the path of a step
enum { BY_PLACE, BY_RATE, BY_D, INPUTS };
// Motions whose energies are read: at the start, at the end with the velocities after the first
// scaling, of the state there, after the impulse. Parts of an energy: kinetic, elastic, gravity.
enum { OF_START, OF_SCALED, OF_END, OF_IMPULSE, MOTIONS };
enum { ENERGY_PARTS = 3 };

// Places of the unknowns, and of the equations; -1: there is none.
typedef struct hard_layout {
    int n;
    int nclosed, nturned, nbounce, nheld; // contacts closed in the step, .., in the impulse
    int d, lambda, P, h, energy, s, v, S, P1, A, v1, impulse, p, s2, v2;
} hard_layout;

// A diagonal block of the matrix of a step with its factors, scaled.
typedef struct hard_block {
    int at, n;
    double *A, *kept, *rows, *columns;
    int *pivot;
    bool redundant; // contacts hold the robot more than once
} hard_block;

struct adjoint_hard {
    int room;       // unknowns
    size_t numbers; // of contact rows
    hard_layout l;
    double h; // length of the step at which the equations are evaluated
    snw_state *mid, *end, *start, *moved;
    bool exact; // derivatives of energies and impulses are written, not differences
    snw_part_model *conservative, *impulse;
    snw_inputs *part_in;
    snw_work *part_w;
    snw_twist *twist; // nseg + nobs: zeros
    hard_block block[2];
    int off; // equation that a redundant contact does not allow; -1: none
    double *J, *right, *F[OUTPUTS], *by_place, *by_rate, *by_z, *by_h, *by_t, *x, *sample, *mu;
    double *G, *M, *lie, *acc_h, *line, *row, *power;
    double *base; // equations at the step taken
    // Energies of the step taken. They are subtracted part by part: in differences of whole sums
    // the rounding of parts that do not change, such as heights, would exceed what changes.
    double energy[MOTIONS][ENERGY_PARTS];
    double *place; // of pieces of rods in the step taken, at each of its times (snw_work.span_held)
    double *value; // of the unknowns S and A, by their places
    bool *idle;    // 2 for each contact: can the robot not move along the tangent?
    snw_vec3 *tangent; // first tangents of the contacts at the middle and at the end, in the world
    void *memory;
};

static inline double *hard_entry(const adjoint_hard *x, double *A, int row, int column) {
    return A + (size_t)x->l.n * (size_t)column + (size_t)row;
}

// Places of pieces of rods at a time of the step taken, ncontact_point.
static inline double *hard_places(const adjoint_hard *x, const snw_model *m, int stage) {
    return x->place + (size_t)stage * (size_t)m->ncontact_point;
}

// ---- equations (adjoint_hard_equations.c)

// A hard contact placed in w: gap, velocities, axes in the world, with tangents `near` unless NULL;
// rows G (3 nv) unless NULL, after snw_jacobian_pass.
typedef struct hard_place {
    double gap, u[3];
    snw_vec3 axis[3];
} hard_place;
hard_place hard_place_contact(const snw_model *m, const snw_work *w, const snw_hard_contact *at,
                              const snw_vec3 *near, double *G);

// A model that evaluates the equations, with its inputs at the time of a stage.
typedef struct hard_evaluation {
    const snw_model *m;
    snw_inputs *in;
    snw_work *w;
    snw_state *still;
    adjoint_hard *x;
    const snw_map *map;
    double shift, h; // of times; length of the step
    bool slips;      // tangential equations of contacts are the slip velocities alone
    bool keeps;      // x->energy <- energies, x->place <- places
    bool holds;      // pieces of rods touch at x->place or nearby
    snw_vec3 gravity;
} hard_evaluation;

void hard_inputs_at(hard_evaluation *e, int stage);
// mu <- friction coefficients of a contact; returns it.
const double *hard_friction(const snw_model *m, const snw_hard_contact *c, double mu[2]);
// Does the contact stick along tangent j, with the state and the coefficients?
bool hard_sticks(snw_hard_state state, const bool idle[2], const double mu[2], int j);
// out (2) <- the tangential equations of a closed contact with force f and slip u; by_u (2 x 2)
// unless NULL. The force along a tangent in which the robot cannot move is idle.
void hard_friction_rows(snw_hard_state state, const bool idle[2], const double mu[2],
                        const double f[3], const double *u, double *out, double by_u[2][2]);
// out (2) <- tangential forces along the axes at the end of the step, of the force S in the world.
void hard_turned_force(const hard_place *at, const double *S, double size, double out[2]);
// out (nv) += c times the velocities with which the robot at s is carried along (6.53).
void hard_add_carried(const hard_evaluation *e, const snw_state *s, double c, double *out);
// out += equations at the middle of the step, s (`all`: with the residual); at its end, s with the
// velocities before the first scaling, which is changed; at its start.
void hard_middle_rows(hard_evaluation *e, const snw_state *s, bool all, double *out);
void hard_end_rows(hard_evaluation *e, snw_state *s, double *out);
void hard_start_rows(const hard_evaluation *e, const snw_state *s, double *out);
// out (n) <- all equations, at the states in x.
void hard_all_rows(hard_evaluation *e, double *out);

// ---- derivatives (adjoint_hard_tangent.c): F, by_place, by_rate, J

void hard_find_middle(snw_adjoint *a, hard_evaluation *e);
void hard_find_end(snw_adjoint *a, hard_evaluation *e);
void hard_find_start(snw_adjoint *a, hard_evaluation *e);
// w->hard_given, hard_touch <- forces of the contacts: of = 0 those of the step, 1 what the impulse
// adds to them, in N and N s; NULL: none.
void hard_give_forces(const hard_evaluation *e, const snw_hard_step *r, int of, snw_work *w);
// rows <- those of the contact at the motion in w (snw_hard_power_row) of the force f.
void hard_power_row(const hard_evaluation *e, const snw_work *w, const snw_state *s,
                    const snw_hard_contact *c, const double f[3], double *row);

// Forces that frames show of the contacts of a step or equilibrium: mu += the bars by them, which
// are taken, returns the bar of the length of the step; or, forward, those of variable k <- from
// the unknowns in x->x and the change of the length.
double adjoint_hard_take_forces(const snw_adjoint *a, const snw_map *map, int scalar, double *mu);
void adjoint_hard_keep_forces(const snw_adjoint *a, const snw_map *map, int k, double length);

// Memory for the equations of a map. SNW_E_SINGULAR: the state of a contact is not clear, or (the
// second) contacts hold the robot more than once, which the sweep back does not allow.
SNW_NODISCARD snw_status adjoint_hard_begin(snw_adjoint *a, const snw_map *map, snw_error *err);
SNW_NODISCARD snw_status adjoint_hard_refuse_redundant(const snw_adjoint *a, const snw_map *map,
                                                       snw_error *err);

// ---- solution (adjoint_hard_blocks.c): the equations of d, lambda, P and h know no other
// unknowns, those of v1 and the impulses none behind them; the rest is explicit.

// False: singular, even with a small compliance of redundant contacts.
bool hard_factor(adjoint_hard *x, const snw_map *map);
void hard_solve(adjoint_hard *x, double *b);
void hard_solve_transposed(const adjoint_hard *x, double *b);
bool hard_is_redundant(const adjoint_hard *x);
