// SPDX-License-Identifier: MIT
//
// shooter.h: the boundary-value engine on a compiled model: which models it supports, inputs and
// loads, steps, and results in the model's terms: coordinates nearest to the fields, poses and
// velocities of the segments, strains and wrenches along rods.
#pragma once

#include "dynamics/dynamics.h"
#include "shoot/boundary.h"

typedef struct snw_shooter snw_shooter;

// Reports, at the location of `step` or of the part, models that the engine does not support. It
// supports one rod clamped to the world or to links whose motion is prescribed (moving poses,
// joints with position actuators), with bodies, loads, tendons, chambers and quadratic drag; and
// several rods, without tendons and chambers, whose tips are joined to one body, which is free or
// fixed to the tip of one of them. Rods may have variable length. m and step must outlive the
// shooter.
SNW_NODISCARD snw_status snw_shooter_create(const snw_model *m, const snw_step_desc *step,
                                            snw_shooter **out, snw_error *err);
void snw_shooter_destroy(snw_shooter *e); // NULL is fine
// From now on another model that fits (snw_model_fits).
void snw_shooter_use(snw_shooter *e, const snw_model *m);
// A copy with the same fields.
SNW_NODISCARD snw_status snw_shooter_copy(const snw_shooter *e, snw_shooter **out, snw_error *err);

// Use the values in `manual`, where it has any, instead of the model's laws from now on; NULL: the
// laws. It is not copied.
void snw_shooter_set_manual_inputs(snw_shooter *e, const snw_manual_inputs *manual);

// Fields <- those of the coordinates and velocities of s.
void snw_shooter_set_state(snw_shooter *e, const snw_state *s);
// Likewise near an equilibrium: the wrenches are those of the loads and, by the multipliers in w
// (at s), of the loops, instead of those of the strains.
void snw_shooter_guess(snw_shooter *e, const snw_state *s, const snw_work *w);
// Fields <- those of another shooter, on a model with the same rods, interpolated to the nodes of
// e. If both choose their intervals by an error and have the same pieces, e takes the grid of the
// other.
SNW_NODISCARD snw_status snw_shooter_copy_fields(snw_shooter *e, const snw_shooter *other,
                                                 snw_error *err);

// Equilibrium under the inputs of time t, from the present fields, or, where that fails, by
// continuation in the loads. *reached: fraction of the loads that was reached.
SNW_NODISCARD snw_status snw_shooter_static(snw_shooter *e, double t, snw_boundary_info *info,
                                            double *reached);

// From an unstable equilibrium of one rod on a fixed base, under conservative loads, to a stable
// one by perturbation and damped motion (shooter_settle.c). SNW_E_DIVERGED: none was found, the
// fields are unchanged.
SNW_NODISCARD snw_status snw_shooter_settle(snw_shooter *e, double t, snw_boundary_info *info);

// Start a motion in steps of h; before it, rates are taken as constant.
void snw_shooter_begin(snw_shooter *e, double h);
// A step of length h under the inputs of time t_laws. If it fails, nothing changes.
SNW_NODISCARD snw_status snw_shooter_step(snw_shooter *e, snw_levels levels, double h,
                                          double t_laws, snw_boundary_info *info);

// Since snw_shooter_begin, J: work of loads, actuators and moving bases, and dissipated energy.
typedef struct snw_shooter_energy_account {
    double work, heat;
} snw_shooter_energy_account;
snw_shooter_energy_account snw_shooter_work(const snw_shooter *e);

// Checkpoint of the state on which later steps depend, without laws and manual inputs. Its size is
// constant while the grid changes; checkpoint_fits is false when the grid has become too fine for
// it. Restoring, into a shooter of the same model and step, may allocate for another grid.
size_t snw_shooter_checkpoint_size(const snw_shooter *e);
bool snw_shooter_checkpoint_fits(const snw_shooter *e);
void snw_shooter_save(const snw_shooter *e, double *out);
SNW_NODISCARD snw_status snw_shooter_restore(snw_shooter *e, const double *in, snw_error *err);

// ---- results ------------------------------------------------------------------------------------

double snw_shooter_time(const snw_shooter *e);
void snw_shooter_set_time(snw_shooter *e, double t); // corrects the rounding of summed steps
const snw_inputs *snw_shooter_inputs(const snw_shooter *e);

// Energies of the fields, J.
snw_shoot_energy snw_shooter_energy(const snw_shooter *e);
// Call at the equilibrium just found; negative: unstable. For one rod the smallest eigenvalue of
// its tangent stiffness relative to the elastic stiffness, the limit of that of the strain engine
// with ever more functions (shooter_stability.c); NaN unless all loads are conservative. For a
// platform the smallest eigenvalue of the stiffness of the plate, rotations scaled by the length of
// a rod, in typical forces per length; where legs are unstable even with their joints fixed, the
// smallest eigenvalue of these, as for one rod.
double snw_shooter_stability(snw_shooter *e);
// Number of eigenvalues below SNW_SHOOTER_UNSTABLE, zero but for rounding; -1: unknown, also for a
// platform whose legs are all stable with their joints fixed.
#define SNW_SHOOTER_UNSTABLE (-1e-6)
int snw_shooter_unstable(snw_shooter *e);

// At arc length x of a rod: strain (rest strain included), and the wrench of the part beyond. For a
// variable-length rod x is scaled to the length in the model.
snw_twist snw_shooter_strain(const snw_shooter *e, int rod, double x);
snw_wrench snw_shooter_wrench(const snw_shooter *e, int rod, double x);

// s <- time, coordinates and velocities nearest to the fields; w <- poses, velocities and
// accelerations of all segments and observers, and the wrenches on links.
void snw_shooter_get_state(const snw_shooter *e, snw_state *s, snw_work *w);
