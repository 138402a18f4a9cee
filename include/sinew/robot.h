// SPDX-License-Identifier: MIT
//
// robot.h: a robot: its state, kinematics, dynamics, equilibria, motion step by step, and probes.
//
// A robot is made from a model (model.h), which robots share, and holds a state and the memory that
// computations need. A robot may be used by one thread at a time; different robots may be used by
// different threads. Only calls that make, copy, change, start or close a robot, and
// snw_robot_modes, allocate or free memory.
//
// Every call checks its arguments, in all builds: NULL where it is not allowed, an index out of
// range, a number that is not finite, a saved state of another robot. On a bad argument it returns
// SNW_E_ARGUMENT and changes nothing; the message names the argument and is in `err` when the call
// has that parameter, else in snw_robot_error. Calls that return a count, an index, a pointer or a
// number return 0, -1, NULL or NaN instead.
//
// SI units and radians. Twists and wrenches have the angular part first and are in the body frame
// unless axes are chosen; quaternions have w first; matrices are stored by columns. Numbers of
// links, rods, loops, actuators, loads, nodes and probes are those of the parts of the model.
//
//   snw_robot *arm;
//   snw_error err;
//   if (snw_robot_open("arm.yaml", NULL, 0, NULL, &arm, &err) != SNW_OK) {
//       fputs(err.text, stderr);
//       return 1;
//   }
//   if (snw_robot_equilibrium(arm, 0, &err) == SNW_OK) {
//       double tip[3];
//       snw_robot_probe(arm, "tip", 3, tip);
//   }
//   snw_robot_close(arm);
#pragma once

#include "sinew/model.h"
#include "sinew/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct snw_robot snw_robot;

// A robot in the initial state of the model. It keeps a reference of the model, which the caller
// may close. On success *out belongs to the caller, who calls snw_robot_close.
SNW_API SNW_NODISCARD snw_status snw_robot_from_model(snw_robot_model *m, snw_robot **out,
                                                      snw_error *err);
// A copy: same model, state, time, inputs set by the caller and, where a motion was started, an
// integrator in the same state. What follows is identical to the last bit in both.
// SNW_E_ARGUMENT: a motion was started with a scheme without checkpoints (snw_robot_saves is 0).
SNW_API SNW_NODISCARD snw_status snw_robot_copy(const snw_robot *r, snw_robot **out,
                                                snw_error *err);
// The model of a robot; it belongs to the robot and changes with snw_robot_set_parameters. Share it
// to keep it.
SNW_API snw_robot_model *snw_robot_model_of(const snw_robot *r);

// Model and robot in one call: read a model file. `run`: name of one of its runs, NULL for the
// first. `set`: nset overrides "path=value".
SNW_API SNW_NODISCARD snw_status snw_robot_open(const char *path, const char *run, int nset,
                                                const char *const *set, snw_robot **out,
                                                snw_error *err);
// The same from `length` bytes of text in memory; `name` is used in messages in place of the path.
SNW_API SNW_NODISCARD snw_status snw_robot_parse(const char *name, const char *text, size_t length,
                                                 const char *run, int nset, const char *const *set,
                                                 snw_robot **out, snw_error *err);
SNW_API void snw_robot_close(snw_robot *r); // NULL is fine

// Change values of the model by nset overrides "path=value", such as "silicone.young=2 MPa",
// without reading files again; see snw_robot_model_change for what must stay the same. State, time
// and inputs set by the caller stay; a motion that was started is started again from the present
// state with the same options. Other robots keep their model. On failure nothing changes.
SNW_API SNW_NODISCARD snw_status snw_robot_set_parameters(snw_robot *r, int nset,
                                                          const char *const *set, snw_error *err);

// Error of the last failed call that has no `err` parameter; its status is SNW_OK when there was
// none. The pointer belongs to the robot.
SNW_API const snw_error *snw_robot_error(const snw_robot *r);

// ---- state

// Number of generalised coordinates q and of generalised velocities v. A rod has one of each per
// shape function, a joint one per axis. A spherical joint has four coordinates (unit quaternion)
// and three velocities (body angular velocity), a free joint seven coordinates (unit quaternion,
// position) and six velocities (body twist).
SNW_API int snw_robot_nq(const snw_robot *r);
SNW_API int snw_robot_nv(const snw_robot *r);

// The state, to read and to write: coordinates (nq), velocities and accelerations (nv). Values
// written must be finite, quaternions of unit length. Strain bases of more than eight monomials
// have Legendre coordinates here. Initially the state of the file, with zero accelerations.
SNW_API double *snw_robot_q(snw_robot *r);
SNW_API double *snw_robot_v(snw_robot *r);
SNW_API double *snw_robot_a(snw_robot *r);

// Time at which laws of loads, gravity and prescribed motion are evaluated, s; initially 0.
SNW_API double snw_robot_time(const snw_robot *r);
SNW_API snw_status snw_robot_set_time(snw_robot *r, double t);

// q <- q moved by the increment dx (nv): q + dx for rods and single axes, right multiplication by
// the exponential for spherical and free joints.
SNW_API snw_status snw_robot_move(snw_robot *r, const double *dx);

// ---- kinematics

// All that follows is evaluated at the coordinates q. With the shooting engine these are the ones
// nearest to its fields; probes show the fields.

// A frame of the robot.
typedef enum snw_place_kind {
    SNW_PLACE_NODE, // node `index`
    SNW_PLACE_SITE, // named site `index`
    SNW_PLACE_ROD   // section of rod `index` at arc length x, 0 to its length in the model; for a
                    // rod of variable length at the fraction x/length of its free length
} snw_place_kind;

typedef struct snw_place {
    snw_place_kind kind;
    int index;
    double x; // m; SNW_PLACE_ROD only
} snw_place;

// *out <- the place of that name in the model language: "hand" (the end of a link), "arm.root",
// "arm.tip", or a named site. SNW_E_ARGUMENT: there is none.
SNW_API snw_status snw_robot_find_place(const snw_robot *r, const char *name, snw_place *out);

// Axes of components. The twist of a frame with pose (R, p) is (w, v) = (angular velocity, velocity
// of its origin p); its acceleration the time derivative of its components in these axes.
//   body   (R' w, R' v), so that dR/dt = R w^ and dp/dt = R v; the acceleration is (w', v') of
//          these, not the acceleration of p
//   world  (w, dp/dt) in the axes of the world; the acceleration contains that of the point p
typedef enum snw_axes { SNW_AXES_BODY, SNW_AXES_WORLD } snw_axes;

// pose (16) <- homogeneous 4 x 4 matrix of a frame in the world, by columns: R, p in the last
// column.
SNW_API snw_status snw_robot_pose(snw_robot *r, snw_place at, double pose[16]);
// poses (16 x number of nodes) <- those of all nodes.
SNW_API snw_status snw_robot_poses(snw_robot *r, double *poses);
// twist, acceleration (6) <- of a frame at (q, v), (q, v, a), motion given by laws included.
SNW_API snw_status snw_robot_twist(snw_robot *r, snw_place at, snw_axes axes, double twist[6]);
SNW_API snw_status snw_robot_acceleration(snw_robot *r, snw_place at, snw_axes axes,
                                          double acceleration[6]);
// J (6 x nv) <- Jacobian of a frame: twist = J v + part of motion given by laws. dJ (6 x nv; NULL:
// not wanted) <- its time derivative along (q, v), so that acceleration = J a + dJ v + part of
// motion given by laws.
SNW_API snw_status snw_robot_jacobian(snw_robot *r, snw_place at, snw_axes axes, double *J,
                                      double *dJ);

// strain (6) <- twist, bend_y, bend_z (1/m), stretch, shear_y, shear_z of a rod at arc length x, in
// the axes of its section; stretch is 0 where it is unstretched.
SNW_API snw_status snw_robot_strain(snw_robot *r, int rod, double x, double strain[6]);
// wrench (6) <- internal wrench of a rod at arc length x, in the axes of its section and about its
// centre: exerted by the tip side on the root side at (q, v, a).
SNW_API snw_status snw_robot_wrench(snw_robot *r, int rod, double x, double wrench[6]);

// ---- dynamics

// Laws that read probes see the present state. Before snw_robot_start, conditions, samples and
// latches are evaluated at the present state and integrals are zero.

// tau (nv) <- inverse dynamics: the generalised forces needed for the motion (q, v, a) in addition
// to those of the model. Zero when (q, v, a) satisfies the equations of motion.
SNW_API snw_status snw_robot_inverse_dynamics(snw_robot *r, double *tau);

// a <- forward dynamics: accelerations at (q, v), which must satisfy the loop closures.
// SNW_E_SINGULAR: a force acts on a coordinate that moves no mass, or the configuration of the
// loops is singular.
SNW_API SNW_NODISCARD snw_status snw_robot_forward_dynamics(snw_robot *r, snw_error *err);

// The same under generalised forces tau (nv; NULL: none) in addition to those of the model: M a +
// bias = tau, with the multipliers of the constraints that hold. Inverse dynamics then gives tau.
SNW_API SNW_NODISCARD snw_status snw_robot_accelerate(snw_robot *r, const double *tau,
                                                      snw_error *err);

// h (nv) <- bias forces: the inverse dynamics at zero accelerations, so that it is M a + h.
SNW_API snw_status snw_robot_bias(snw_robot *r, double *h);

// x (nv x n) <- M^-1 b for n columns b (nv x n), M the mass matrix at q, constraints left aside; x
// may be b. SNW_E_SINGULAR: some coordinate moves no mass.
SNW_API SNW_NODISCARD snw_status snw_robot_mass_solve(snw_robot *r, int n, const double *b,
                                                      double *x, snw_error *err);

// K, C, M (nv x nv) <- derivatives of the inverse dynamics with respect to q, v and a; any may be
// NULL. Variations x of a spherical or free joint are body rotations or body twists; K x is the
// change along a motion with these variations at each instant, in which v of the joint varies by
// the Lie bracket [v, x] and a accordingly. At rest, and for all other coordinates, v and a stay.
SNW_API snw_status snw_robot_tangent(snw_robot *r, double *K, double *C, double *M);

// M (nv x nv) <- mass matrix at q.
SNW_API snw_status snw_robot_mass(snw_robot *r, double *M);

typedef struct snw_robot_energies {
    double kinetic, elastic, gravity; // J
    double dissipation;               // dissipated power, W
    double momentum[6];               // world frame: angular about the origin, linear
} snw_robot_energies;

SNW_API snw_status snw_robot_energy(snw_robot *r, snw_robot_energies *out);
// out (3 x number of links) <- kinetic, elastic and gravity energy of each link, J, with its share
// of fluids and contacts. Their sums over the links are those above.
SNW_API snw_status snw_robot_link_energies(snw_robot *r, double *out);

// ---- constraints

// Rows of loop closures and contacts without slip, then of actuators whose motion is given, then of
// tendons and chambers whose length or volume is given. Their number stays while a robot exists;
// rows of open loops are zero.
SNW_API int snw_robot_constraints(const snw_robot *r);
// C (constraints x nv) <- constraint Jacobian: the rate of a row is C v + part of motion given by
// laws; violation (constraints; NULL: not wanted) <- values of the rows, zero where they hold, m or
// rad; of contacts without slip, which have rates only, m/s or rad/s.
SNW_API snw_status snw_robot_constraint_jacobian(snw_robot *r, double *C, double *violation);
// lambda (constraints) <- Lagrange multipliers of the last forward dynamics, equilibrium or step;
// the generalised forces of the constraints are C' lambda, part of the inverse dynamics with a
// minus sign. f (nv; NULL: not wanted) <- these forces.
SNW_API snw_status snw_robot_multipliers(snw_robot *r, double *lambda, double *f);
// wrench (6) <- that a loop exerts on its second site, about the origin of that site, world axes.
// Components that redundant rows leave undetermined are NaN.
SNW_API snw_status snw_robot_loop_wrench(snw_robot *r, int loop, double wrench[6]);

// ---- statics

// q <- stable equilibrium under the loads at time t, including loads and efforts set by the caller
// (below); v and a <- 0. The solver follows the equilibria from the present state as the load
// changes; where they become unstable or end, it continues to another stable equilibrium. On
// failure q is the last equilibrium found and err tells the fraction of the load reached.
SNW_API SNW_NODISCARD snw_status snw_robot_equilibrium(snw_robot *r, double t, snw_error *err);

// Smallest eigenvalue of the static tangent stiffness relative to the unloaded stiffness: 1 when
// unloaded, 0 at buckling, negative when unstable. NaN when it is not defined.
SNW_API double snw_robot_stability(snw_robot *r);

// Modes of small vibrations about the present configuration at rest, under the inputs at the
// present time, loops closed: at most `max` by rising frequency; *count <- their number. frequency
// (max): Hz, undamped; 0: null motion; negative: grows with the rate 2 pi |f| 1/s. damping (max;
// NULL: not wanted): fraction of critical damping, NaN without vibration. shape (nv x max; NULL:
// not wanted): displacements of unit modal mass. The configuration should be an equilibrium.
// Allocates and frees memory.
SNW_API SNW_NODISCARD snw_status snw_robot_modes(snw_robot *r, int max, double *frequency,
                                                 double *damping, double *shape, int *count,
                                                 snw_error *err);

// ---- motion, step by step

// Time integration. Names and defaults are those of the model language, see `sinew help language`.
typedef struct snw_robot_steps {
    const char *scheme; // default "generalized-alpha"
    double step;        // maximum step size, s; required. A step that does not converge is divided
    double rho, alpha;  // parameters of the schemes that have them; NaN: default
    double tolerance;   // of the residual, or of the error estimate for schemes with step-size
                        // control; 0: default
    const char *engine; // "strain", or "shooting" for the robots it supports (with scheme bdf2, for
                        // example); NULL: strain
    int points;         // shooting engine: points per rod; 0: default
} snw_robot_steps;

SNW_API snw_robot_steps snw_robot_steps_defaults(double step);

// Start a motion from the present state and time; allocates all memory that steps need. May be
// called again, to restart from the state at that time. Changes of t, q and v by the caller take
// effect at the next start only; until then, or until they are undone, steps are refused.
SNW_API SNW_NODISCARD snw_status snw_robot_start(snw_robot *r, const snw_robot_steps *how,
                                                 snw_error *err);

// Advance by h seconds, 0 < h <= step. q, v, a, the time and probes are then those of the end of
// the step. On failure (SNW_E_DIVERGED) nothing changes. Samples and conditions are evaluated at
// the end of the step as well: a loop that closes between moving parts, or a body that is picked
// up, causes a plastic impact there.
SNW_API SNW_NODISCARD snw_status snw_robot_step(snw_robot *r, double h, snw_error *err);

// `count` such steps, for one call; *done (NULL: not wanted) <- how many were done. On failure the
// state is that before the failed step.
SNW_API SNW_NODISCARD snw_status snw_robot_advance(snw_robot *r, double h, int count, int *done,
                                                   snw_error *err);

// Energy removed by the numerical damping of the time integrator since the start, J. Negative: the
// integrator has added energy, so the steps are too long for an impact, a release or the motion. 0
// before the start and for schemes with step-size control.
SNW_API double snw_robot_scheme_energy(const snw_robot *r);

// Index of a load, in the order of the file; -1: no load of that name.
SNW_API int snw_robot_load(const snw_robot *r, const char *name);
// Replace the laws and the condition `when` of a load by a constant force (N) and torque (N m);
// both per metre for a load along a rod; in the axes that the file gives. NULL counts as zero.
SNW_API snw_status snw_robot_set_load(snw_robot *r, int load, const double force[3],
                                      const double torque[3]);
// Return to the laws of the file.
SNW_API snw_status snw_robot_unset_load(snw_robot *r, int load);
// Replace gravity (m/s^2, world frame); NULL: return to that of the file.
SNW_API snw_status snw_robot_set_gravity(snw_robot *r, const double gravity[3]);

// Replace the law by which the base of a concentric tube slides: from now on it is at motion[0]
// along x (m), with the rate motion[1] (m/s) and the constant acceleration motion[2] (m/s^2). NULL:
// return to the law of the file. In a motion positions and rates are to be continuous.
// SNW_E_ARGUMENT: no such tube, no tube of its robot has a law, or its ends and bends would pass
// others; nothing changes then.
SNW_API SNW_NODISCARD snw_status snw_robot_set_translation(snw_robot *r, const char *tube,
                                                           const double motion[3], snw_error *err);

// Index of an actuator: actuators of joint and rod coordinates, then tendons and chambers, then
// muscles, each in the order of the file; -1: no actuator of that name. And the number of its
// coordinates.
SNW_API int snw_robot_actuator(const snw_robot *r, const char *name);
SNW_API int snw_robot_actuator_size(const snw_robot *r, int actuator);
// Replace the laws and the condition `when` of an actuator whose `effort` is given in the file:
// N m on angles, N on slides, by coordinate; N for a tendon, Pa for a chamber. (The pressure of a
// McKibben muscle is set by snw_robot_set_actuator; its effort is a tension.) It is cut off at the
// `effort_limit` of the file, as the law would be. SNW_E_ARGUMENT: its motion is given, or the
// index is out of range.
SNW_API SNW_NODISCARD snw_status snw_robot_set_effort(snw_robot *r, int actuator,
                                                      const double *effort, snw_error *err);
// Replace the laws of an actuator whose `position` or `rate` is given in the file: its coordinates
// become position + rate s + acceleration s^2/2, with s the time from now. For a tendon the
// coordinate is the `shortening` (m), for a chamber the `volume` (m^3). rate and acceleration may
// be NULL (zero); implicit schemes then derive velocities from the positions of successive steps.
// Coordinates that are `free` in the file stay free. A position or rate that differs from the
// present one is reached within one step, with whatever effort that takes. SNW_E_ARGUMENT: its
// effort is given, or the actuator is inactive.
SNW_API SNW_NODISCARD snw_status snw_robot_set_motion(snw_robot *r, int actuator,
                                                      const double *position, const double *rate,
                                                      const double *acceleration, snw_error *err);
// Replace the amount of gas (mol) of a chamber whose `gas` is given in the file; the temperature
// stays that of the file.
SNW_API SNW_NODISCARD snw_status snw_robot_set_gas(snw_robot *r, int actuator, double moles,
                                                   snw_error *err);
// Multiply the active stress of a muscle by a factor; initially 1.
SNW_API SNW_NODISCARD snw_status snw_robot_set_activation(snw_robot *r, int actuator, double factor,
                                                          snw_error *err);
// Multiply the laws of a field (`fields` of the file) by a factor from now on, as the current of
// coils does; initially 1. The energy that a jump of it gives the robot is not in its account.
// SNW_E_ARGUMENT: no field of that name; the scheme is `conserving` or `moreau`.
SNW_API SNW_NODISCARD snw_status snw_robot_set_field(snw_robot *r, const char *name, double factor,
                                                     snw_error *err);
// *factor <- the present one; value <- the field at a place of the world (m) and at the present
// time, with its factor: flux density of magnetic fields and dipoles, T, force per length or on a
// body, or acceleration. Either may be NULL.
SNW_API SNW_NODISCARD snw_status snw_robot_field(snw_robot *r, const char *name,
                                                 const double place[3], double *factor,
                                                 double value[3], snw_error *err);
// Replace the prescribed quantity of an actuator by constants, whatever it is: value
// (snw_robot_actuator_size) are its inputs in the units of the parts of the model: efforts,
// positions, rates, tension, shortening, pressure, volume, amount of gas or activation factor.
// Given rates move coordinates on from where they are.
SNW_API SNW_NODISCARD snw_status snw_robot_set_actuator(snw_robot *r, int actuator,
                                                        const double *value, snw_error *err);
// Return to the laws of the file.
SNW_API snw_status snw_robot_unset_actuator(snw_robot *r, int actuator);
// The inputs of all actuators (parts SNW_PART_INPUT) as one array, to read and to write: as
// snw_robot_set_actuator sets them, snw_input_law() for the law of the file; 1 for a muscle as in
// the file. A number that was written takes effect in the next computation or step, from the
// present time on, and is refused there if it is not valid; the number before then stands in u
// again.
SNW_API int snw_robot_inputs(const snw_robot *r);
SNW_API double *snw_robot_u(snw_robot *r);
// The number that stands for the law of the file in u: a NaN of its own. Any other NaN is refused.
SNW_API double snw_input_law(void);
// effort (snw_robot_actuator_size) <- present effort by coordinate: the given one, or, where the
// motion is given, the multiplier found by the last step or by forward dynamics; tension or gauge
// pressure; for a muscle its activation factor.
SNW_API snw_status snw_robot_effort(snw_robot *r, int actuator, double *effort);
// Limits of the file that an actuator has reached at present: SNW_LIMIT_EFFORT where its effort,
// given by a law or by the caller, is cut off at `effort_limit`, or where its motion needs more;
// SNW_LIMIT_RATE where it is faster than `rate_limit`. 0: none; -1: there is no such actuator, or
// the motion could not be evaluated (snw_robot_message).
enum { SNW_LIMIT_EFFORT = 1, SNW_LIMIT_RATE = 2 };
SNW_API int snw_robot_limits(snw_robot *r, int actuator);

// Number of nodes of the robot, in the order of the frames of result files: stations of rods, ends
// of joints and bodies. And the present position of a node, m, world frame.
SNW_API int snw_robot_nodes(const snw_robot *r);
SNW_API snw_status snw_robot_node(snw_robot *r, int node, double position[3]);
// Pull the point `at` of a node (m, in its frame; NULL: its origin) towards the point `to` (m,
// world frame) by a spring (N/m) and a damper (N s/m). The force is part of the equations of motion
// with its exact derivatives, so implicit steps are stable for any stiffness. A new call replaces
// the previous spring. SNW_E_ARGUMENT: no such node, a number is negative or not finite, or the
// scheme is `conserving`, which does not support it.
SNW_API SNW_NODISCARD snw_status snw_robot_pull(snw_robot *r, int node, const double at[3],
                                                const double to[3], double stiffness,
                                                double damping, snw_error *err);
// Remove the spring.
SNW_API void snw_robot_let_go(snw_robot *r);

// Checkpoint: all numbers on which the following steps depend. snw_robot_saves returns their count;
// 0: the scheme does not support it, or the robot was not started. After snw_robot_restore in this
// robot, or in another one of the same file started in the same way, the steps are identical to the
// last bit. The numbers begin with a signature; those of another model, scheme or version of Sinew,
// and altered ones, are refused.
SNW_API size_t snw_robot_saves(const snw_robot *r);
SNW_API snw_status snw_robot_save(snw_robot *r, double *out);
SNW_API snw_status snw_robot_restore(snw_robot *r, const double *in);

// ---- probes

// out <- the first `max` columns of a probe of the file at the present state. Returns the number of
// columns of the probe; 0: no probe of that name, or the state is not valid (snw_robot_error).
SNW_API int snw_robot_probe(snw_robot *r, const char *probe, int max, double *out);

#ifdef __cplusplus
}
#endif
