// SPDX-License-Identifier: MIT
//
// robot.h: a robot in memory: read from a model file, asked for forces, matrices, equilibria and probes.
//
// A robot belongs to one thread. Apart from opening and closing, no function allocates memory. Units
// are SI; twists and wrenches are written angular part first, in the body frame; quaternions w first;
// matrices column by column.
//
//   snw_robot *arm;
//   snw_error err;
//   if (snw_robot_open("arm.yaml", NULL, 0, NULL, &arm, &err) != SNW_OK) { fputs(err.text, stderr); ... }
//   if (snw_robot_equilibrium(arm, 0, &err) == SNW_OK) {
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

// Read a model file. `run` names one of its runs, NULL takes the first; `set` are overrides "path=value".
SNW_NODISCARD snw_status snw_robot_open(const char *path, const char *run, int nset,
                                        const char *const *set, snw_robot **out, snw_error *err);
// The same from text in memory; `name` stands in messages.
SNW_NODISCARD snw_status snw_robot_parse(const char *name, const char *text, size_t length,
                                         const char *run, int nset, const char *const *set,
                                         snw_robot **out, snw_error *err);
void snw_robot_close(snw_robot *r); // NULL is fine

// ---- state ------------------------------------------------------------------------------------------

// Configuration numbers and velocities. A rod has one of each per strain function; a free joint has seven numbers
// (unit quaternion, position) and six velocities (body twist).
int snw_robot_nq(const snw_robot *r);
int snw_robot_nv(const snw_robot *r);

// The state, to read and to write: configuration (nq), velocities and accelerations (nv). It begins as the
// file's initial state, at rest.
double *snw_robot_q(snw_robot *r);
double *snw_robot_v(snw_robot *r);
double *snw_robot_a(snw_robot *r);

// The time at which laws of loads, gravity and base motion are taken; 0 at first.
double snw_robot_time(const snw_robot *r);
void snw_robot_set_time(snw_robot *r, double t);

// q <- q moved by the increments dx (nv): sums for rods, rigid motions for free joints.
void snw_robot_move(snw_robot *r, const double *dx);

// ---- dynamics ---------------------------------------------------------------------------------------

// Laws read probes at the present state. A robot has no past: conditions that read probes, samples and latches are as the
// present state has them, integrals are zero.

// tau (nv) <- generalised forces the motion (q, v, a) needs beyond those that act; zero when it is free motion.
void snw_robot_inverse_dynamics(snw_robot *r, double *tau);

// a <- accelerations of free motion at (q, v). SNW_E_SINGULAR when some coordinate moves no mass.
SNW_NODISCARD snw_status snw_robot_forward_dynamics(snw_robot *r, snw_error *err);

// Derivatives of the inverse dynamics in q, v and a, nv x nv each; any may be NULL. Columns of a free joint are
// body twists.
void snw_robot_tangent(snw_robot *r, double *K, double *C, double *M);

// M (nv x nv) <- mass matrix at q.
void snw_robot_mass(snw_robot *r, double *M);

typedef struct snw_robot_energies {
    double kinetic, elastic, gravity; // J
    double dissipation;               // power turned into heat, W
    double momentum[6];               // world frame, angular part about its origin
} snw_robot_energies;

void snw_robot_energy(snw_robot *r, snw_robot_energies *out);

// ---- statics ----------------------------------------------------------------------------------------

// q <- equilibrium under the loads at time t; v and a become zero. On failure q is the last equilibrium found on the
// way and err says how far it got.
SNW_NODISCARD snw_status snw_robot_equilibrium(snw_robot *r, double t, snw_error *err);

// Smallest eigenvalue of the static tangent relative to the unloaded stiffness: 1 unloaded, 0 at buckling.
// NaN when it is not defined.
double snw_robot_stability(snw_robot *r);

// ---- looking ----------------------------------------------------------------------------------------

// out <- the numbers of a probe of the file at the present state, at most `max`. Returns how many the probe has, 0
// when there is no probe of that name.
int snw_robot_probe(snw_robot *r, const char *probe, int max, double *out);

#ifdef __cplusplus
}
#endif
