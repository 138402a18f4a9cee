// SPDX-License-Identifier: MIT
//
// robot.h: a robot in memory: read from a model file, asked for forces, matrices, equilibria and
// probes.
//
// A robot belongs to one thread; several robots may be used in as many threads. Apart from opening,
// starting and closing, no function allocates memory.
//
// Every call looks at its arguments, in all builds: a NULL that is not allowed, a number beyond the
// last one, a number that is not finite, a saved state of another robot. It then returns
// SNW_E_ARGUMENT, having changed nothing, and the text names the argument: in `err` where the call
// has one, else in snw_robot_error. Calls that return a count, a pointer or a number return 0, -1,
// NULL or NaN.
//
// Units are SI; twists and wrenches are written angular part first, in the body frame; quaternions
// w first; matrices column by column.
//
//   snw_robot *arm;
//   snw_error err;
//   if (snw_robot_open("arm.yaml", NULL, 0, NULL, &arm, &err) != SNW_OK) { fputs(err.text, stderr);
//   ... } if (snw_robot_equilibrium(arm, 0, &err) == SNW_OK) {
//       double tip[3];
//       snw_robot_probe(arm, "tip", 3, tip);
//   }
//   snw_robot_close(arm);
#pragma once

#include "sinew/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct snw_robot snw_robot;

// Read a model file. `run` names one of its runs, NULL takes the first; `set` are overrides
// "path=value".
SNW_NODISCARD snw_status snw_robot_open(const char *path, const char *run, int nset,
                                        const char *const *set, snw_robot **out, snw_error *err);
// The same from text in memory; `name` stands in messages.
SNW_NODISCARD snw_status snw_robot_parse(const char *name, const char *text, size_t length,
                                         const char *run, int nset, const char *const *set,
                                         snw_robot **out, snw_error *err);
void snw_robot_close(snw_robot *r); // NULL is fine

// Why the last call without an `err` of its own that failed did so; its status is SNW_OK when none
// has. Belongs to the robot.
const snw_error *snw_robot_error(const snw_robot *r);

// ---- state
// ------------------------------------------------------------------------------------------

// Configuration numbers and velocities. A rod has one of each per strain function, a joint one per
// axis; a spherical joint has four numbers (unit quaternion) and three velocities (body rates), a
// free joint seven numbers (unit quaternion, position) and six velocities (body twist).
int snw_robot_nq(const snw_robot *r);
int snw_robot_nv(const snw_robot *r);

// The state, to read and to write: configuration (nq), velocities and accelerations (nv), finite,
// quaternions of length 1; rods of more than eight monomials have the coordinates of Legendre
// polynomials here. It begins as the file's initial state, at rest.
double *snw_robot_q(snw_robot *r);
double *snw_robot_v(snw_robot *r);
double *snw_robot_a(snw_robot *r);

// The time at which laws of loads, gravity and base motion are taken; 0 at first.
double snw_robot_time(const snw_robot *r);
snw_status snw_robot_set_time(snw_robot *r, double t);

// q <- q moved by the increments dx (nv): sums for rods and axes, rigid motions for others.
snw_status snw_robot_move(snw_robot *r, const double *dx);

// ---- dynamics
// ---------------------------------------------------------------------------------------

// Laws read probes at the present state. Before it is started (below) a robot has no past:
// conditions that read probes, samples and latches are as the present state has them, integrals are
// zero.

// tau (nv) <- generalised forces the motion (q, v, a) needs beyond those that act; zero when it is
// free motion.
snw_status snw_robot_inverse_dynamics(snw_robot *r, double *tau);

// a <- accelerations of free motion at (q, v), which must keep the loops closed. SNW_E_SINGULAR
// when some coordinate moves no mass but is pushed, or loops are in a singular configuration.
SNW_NODISCARD snw_status snw_robot_forward_dynamics(snw_robot *r, snw_error *err);

// Derivatives of the inverse dynamics in q, v and a, nv x nv each; any may be NULL. Columns of a
// free joint are body twists.
snw_status snw_robot_tangent(snw_robot *r, double *K, double *C, double *M);

// M (nv x nv) <- mass matrix at q.
snw_status snw_robot_mass(snw_robot *r, double *M);

typedef struct snw_robot_energies {
    double kinetic, elastic, gravity; // J
    double dissipation;               // power turned into heat, W
    double momentum[6];               // world frame, angular part about its origin
} snw_robot_energies;

snw_status snw_robot_energy(snw_robot *r, snw_robot_energies *out);

// ---- statics
// ----------------------------------------------------------------------------------------

// q <- equilibrium under the loads at time t, those set by hand (below) included; v and a become
// zero. Where the equilibria that the change of load leads along become unstable or end, it is a
// stable one beyond. On failure q is the last equilibrium found on the way and err says how far it
// got.
SNW_NODISCARD snw_status snw_robot_equilibrium(snw_robot *r, double t, snw_error *err);

// Smallest eigenvalue of the static tangent relative to the unloaded stiffness: 1 unloaded, 0 at
// buckling. NaN when it is not defined.
double snw_robot_stability(snw_robot *r);

// ---- motion, live
// -----------------------------------------------------------------------------------

// How steps are made. The schemes are those of the model language.
typedef struct snw_robot_steps {
    const char *scheme; // "generalized-alpha" unless given, see `sinew help language`
    double step; // s: longest step, needed; one that does not converge is made of shorter ones
    double rho, alpha;  // of the schemes that have them; NaN: as in the language
    double tolerance;   // of forces out of balance (of the error, where steps are chosen); 0: as in
                        // the language
    const char *engine; // "strain", or "shooting" for robots that it knows (scheme: bdf2, say);
                        // NULL: strain
    int points;         // of the shooting engine, along a rod; 0: as in the language
} snw_robot_steps;

snw_robot_steps snw_robot_steps_defaults(double step);

// Prepare for motion from the present state and time; all memory is taken here. Again: begin anew,
// from the state as it is then. A state written to afterwards is not looked at before the next
// start.
SNW_NODISCARD snw_status snw_robot_start(snw_robot *r, const snw_robot_steps *how, snw_error *err);

// On by h seconds, at most the longest step. When it fails (SNW_E_DIVERGED) nothing has changed. q,
// v, a, the time and probes are those of the end of the step. What laws sample and conditions
// switch on is looked at there, too: a loop that closes on moving parts, or a body that is picked
// up, is a plastic impact at the end of the step.
SNW_NODISCARD snw_status snw_robot_step(snw_robot *r, double h, snw_error *err);

// Energy that the time scheme itself has removed since the start, J; negative: it has created some,
// so the steps are too long for an impact, a release or the motion. 0 before the start and of
// schemes that choose their steps by errors.
double snw_robot_scheme_energy(const snw_robot *r);

// Loads by number, in the order of the file; -1: none of that name.
int snw_robot_load(const snw_robot *r, const char *name);
// From now on force (N) and torque (N m; both per metre along a rod), axes as the file says,
// instead of the load's laws and its `when`. Either may be NULL: zero.
snw_status snw_robot_set_load(snw_robot *r, int load, const double force[3],
                              const double torque[3]);
// Back to the laws of the file.
snw_status snw_robot_unset_load(snw_robot *r, int load);
// Gravity (m/s^2, world frame) instead of the file's; NULL: back to the file's.
snw_status snw_robot_set_gravity(snw_robot *r, const double gravity[3]);

// Actuators by number, -1: none of that name: on coordinates of joints and rods, then tendons and
// chambers, then muscles, each in the order of the file. And how many coordinates one of them acts
// on.
int snw_robot_actuator(const snw_robot *r, const char *name);
int snw_robot_actuator_size(const snw_robot *r, int actuator);
// From now on these efforts (N m on angles, N on slides; by coordinate; N of a tendon, Pa of a
// chamber) instead of the laws of an actuator whose `effort` is given, and of its `when`.
// SNW_E_ARGUMENT: it has its motion given, or there is no such number.
SNW_NODISCARD snw_status snw_robot_set_effort(snw_robot *r, int actuator, const double *effort,
                                              snw_error *err);
// From now on the coordinates of an actuator whose `position` or `rate` is given go position + rate
// s + acceleration s^2/2, s seconds from the present time, instead of following its laws; of a
// tendon it is the `shortening` (m), of a chamber the `volume` (m^3). Rate and acceleration may be
// NULL, taken as zero: implicit schemes then make rates of the positions they are led to, step by
// step. What is `free` in the file stays so. A position away from where the coordinate is, or a
// rate that is not its own, is reached within one step, at whatever effort. SNW_E_ARGUMENT: its
// effort is given, or it is switched off.
SNW_NODISCARD snw_status snw_robot_set_motion(snw_robot *r, int actuator, const double *position,
                                              const double *rate, const double *acceleration,
                                              snw_error *err);
// From now on this amount of gas (mol) in a chamber whose `gas` is given, at the temperature of the
// file.
SNW_NODISCARD snw_status snw_robot_set_gas(snw_robot *r, int actuator, double moles,
                                           snw_error *err);
// From now on the active stress of a muscle is this factor times its laws; it begins with 1.
SNW_NODISCARD snw_status snw_robot_set_activation(snw_robot *r, int actuator, double factor,
                                                  snw_error *err);
// Back to the laws of the file.
snw_status snw_robot_unset_actuator(snw_robot *r, int actuator);
// effort <- what the actuator exerts at present, by coordinate: as given, or, where the motion is
// given, what the last step (or forward dynamics) found; tension or gauge pressure; of a muscle its
// activation.
snw_status snw_robot_effort(snw_robot *r, int actuator, double *effort);

// Nodes of the robot, numbered as in frames of result files: stations of rods, ends of joints and
// bodies. And where one of them is at present, m, world frame.
int snw_robot_nodes(const snw_robot *r);
snw_status snw_robot_node(snw_robot *r, int node, double position[3]);
// From now on a spring and a damper (N/m, N s/m) pull the point `at` of a node's frame (m; NULL:
// its origin) towards the place `to` of the world. Part of the equations, slopes included, so that
// implicit steps stay stable however stiff it is; one at a time, another one takes its place.
// SNW_E_ARGUMENT: there is no such node, a number is not finite or negative, or the scheme is the
// conserving one, which knows no such force.
SNW_NODISCARD snw_status snw_robot_pull(snw_robot *r, int node, const double at[3],
                                        const double to[3], double stiffness, double damping,
                                        snw_error *err);
void snw_robot_let_go(snw_robot *r);

// Everything the steps to come depend on, snw_robot_saves numbers; 0: the scheme cannot say, or
// nothing was started. Restored, in this or another robot of the same file started in the same way,
// they give the same steps bit for bit. They begin with a signature: numbers of another model,
// scheme or version of Sinew, or that were changed on the way, are refused.
size_t snw_robot_saves(const snw_robot *r);
snw_status snw_robot_save(const snw_robot *r, double *out);
snw_status snw_robot_restore(snw_robot *r, const double *in);

// ---- looking
// ----------------------------------------------------------------------------------------

// out <- the numbers of a probe of the file at the present state, at most `max`. Returns how many
// the probe has, 0 when there is no probe of that name or the state is none (snw_robot_error).
int snw_robot_probe(snw_robot *r, const char *probe, int max, double *out);

#ifdef __cplusplus
}
#endif
