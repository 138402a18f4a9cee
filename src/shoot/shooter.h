// SPDX-License-Identifier: MIT
//
// shooter.h: the boundary-value engine on a compiled model: which models it can do, laws into
// loads, steps, and the fields in the terms of the model: coordinates nearest to them, poses and
// velocities of its segments, strains and wrenches at stations.
#pragma once

#include "dynamics/dynamics.h"
#include "shoot/boundary.h"

typedef struct snw_shooter snw_shooter;

// Refuses, with the place of `step`, what the engine cannot do: it knows one rod that stands on the
// world or on links fixed to it (by poses that may move, and by joints whose position actuators
// give), with bodies, loads, tendons and chambers on it, and square drag; and several rods, without
// tendons and chambers, whose tips are joined to one body, free or at the tip of one of them. Rods
// may be fed.
SNW_NODISCARD snw_status snw_shooter_create(const snw_model *m, const snw_step_desc *step,
                                            snw_shooter **out, snw_error *err);
void snw_shooter_destroy(snw_shooter *e); // NULL is fine
// Another one like it, with its fields.
SNW_NODISCARD snw_status snw_shooter_copy(const snw_shooter *e, snw_shooter **out, snw_error *err);

// From now on the hand stands for the laws it gives; NULL: none.
void snw_shooter_set_manual_inputs(snw_shooter *e, const snw_manual_inputs *manual);

// Fields <- those of coordinates and velocities; or of another shooter on a model with the same
// rod, on its own nodes.
void snw_shooter_set_state(snw_shooter *e, const snw_state *s);
// Likewise, of coordinates near an equilibrium: rods carry what their loads and, by the multipliers
// of w, which is that of s, their loops exert, and not what their strains are the stress of.
void snw_shooter_guess(snw_shooter *e, const snw_state *s, const snw_work *w);
// Where both choose intervals by their error, and are cut alike, the grid is the other's, too.
SNW_NODISCARD snw_status snw_shooter_copy_fields(snw_shooter *e, const snw_shooter *other,
                                                 snw_error *err);

// Equilibrium under the laws of time t, from the present fields, or, where that fails, under
// growing loads. *reached: the share of the loads that it got to.
SNW_NODISCARD snw_status snw_shooter_static(snw_shooter *e, double t, snw_boundary_info *info,
                                            double *reached);

// From an unstable equilibrium of one rod on a base that stands still, under conservative loads, to
// a stable one: pushed aside, it moves with much damping until it rests (shooter_settle.c). When
// none is found SNW_E_DIVERGED, and the fields are as before.
SNW_NODISCARD snw_status snw_shooter_settle(snw_shooter *e, double t, snw_boundary_info *info);

// Motion begins, in steps of h: uniform before.
void snw_shooter_begin(snw_shooter *e, double h);
// A step of length h under the laws of time t_laws. When it fails nothing has changed.
SNW_NODISCARD snw_status snw_shooter_step(snw_shooter *e, snw_time_kind kind, double alpha,
                                          double h, double t_laws, snw_boundary_info *info);

// What happened since snw_shooter_begin, J: work of loads and of what moves the base, heat.
typedef struct snw_shooter_energy_account {
    double work, heat;
} snw_shooter_energy_account;
snw_shooter_energy_account snw_shooter_work(const snw_shooter *e);

// Numbers that say all the steps to come depend on, laws and hands aside; they stay as many while
// the grid changes, unless it has become so fine that they do not fit. Restoring, into a shooter of
// the same model and step, may take memory for another grid.
size_t snw_shooter_checkpoint_size(const snw_shooter *e);
bool snw_shooter_checkpoint_fits(const snw_shooter *e);
void snw_shooter_save(const snw_shooter *e, double *out);
SNW_NODISCARD snw_status snw_shooter_restore(snw_shooter *e, const double *in, snw_error *err);

// ---- looking
// ----------------------------------------------------------------------------------------

double snw_shooter_time(const snw_shooter *e);
void snw_shooter_set_time(snw_shooter *e, double t); // where sums of steps have been rounded
const snw_inputs *snw_shooter_inputs(const snw_shooter *e);

// Energies of the fields.
snw_shoot_energy snw_shooter_energy(const snw_shooter *e);
// At the equilibrium just found. Of one rod the smallest eigenvalue of its tangent stiffness
// relative to the elastic one, as the strain engine has it with ever more functions
// (shooter_stability.c); NaN unless all loads are conservative. Of rods that a body joins the
// smallest eigenvalue of what the body's moves meet, turns counted by the length of a rod, in
// typical forces over it; where rods are unstable even with their joints held, the smallest
// eigenvalue of these as of one rod. Below zero where the equilibrium is not stable.
double snw_shooter_stability(snw_shooter *e);
// How many eigenvalues are below zero by more than rounding; -1: not known, as where a body joins
// rods that are all stable with their joints held.
#define SNW_SHOOTER_UNSTABLE (-1e-6)
int snw_shooter_unstable(snw_shooter *e);

// At arc length x of a rod, of a fed one as if it were as long as in the model: strain (whole), and
// the wrench that the part beyond exerts.
snw_twist snw_shooter_strain(const snw_shooter *e, int rod, double x);
snw_wrench snw_shooter_wrench(const snw_shooter *e, int rod, double x);

// s <- time, coordinates and velocities nearest to the fields; w <- poses, velocities and
// accelerations of all segments and observers, and what holds the links.
void snw_shooter_get_state(const snw_shooter *e, snw_state *s, snw_work *w);
