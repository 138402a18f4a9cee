// SPDX-License-Identifier: MIT
//
// device_args.h: arguments of the functions that step robots on a graphics processor, or on the
// host by the same source (device_engine.inc). Number k of robot i is at [k * n + i] in the arrays
// of robots, so that neighbouring threads read neighbouring numbers.
#pragma once

#include "solve/scheme.h"

#include <stddef.h>

// Numbers of the arguments are doubles whatever the engine computes with. In C++ the prelude of the
// engine has defined this type.
#ifndef __cplusplus
typedef double narrow;
#endif

// Result of a robot; it stays where it is until its next start when it is not SNW_DEVICE_OK.
typedef enum snw_device_status {
    SNW_DEVICE_OK,
    SNW_DEVICE_NOT_STARTED,
    SNW_DEVICE_NOT_FINITE,  // a number of its state or of its inputs is not finite
    SNW_DEVICE_MASSLESS,    // its mass matrix is singular
    SNW_DEVICE_DIVERGED,    // no step was solved, however short
    SNW_DEVICE_SHORT_STEPS, // it needs shorter steps, within which the laws of the file vary
    SNW_DEVICE_ENERGY,      // the scheme creates or loses energy: steps are too long
    SNW_DEVICE_OPEN,        // its loops cannot be closed, or its drives not be followed
    SNW_DEVICE_DRAWN,       // a law draws a rod of variable length in completely
    SNW_DEVICE_DEEP,        // a link is about to come out of an obstacle on another side
    SNW_DEVICE_MANY,        // it takes too many short steps
    SNW_DEVICE_DEPENDENT    // rows of wheels or contacts without slip depend on each other
} snw_device_status;

// snw_scheme, member by member.
typedef struct snw_device_scheme {
    int order;
    narrow am, af, gamma, beta;
    bool loss_known;
    struct {
        int past;
        narrow alpha;
    } levels;
    narrow e;
} snw_device_scheme;

// Action of a caller's input on a number of snw_inputs: block[at] += by * u[input].
typedef struct snw_device_map {
    int input, at;
    narrow by;
} snw_device_map;

// Numbers of the energy account of a robot: energy created, largest in motion, heat, work of each
// kind; of one with forces on one side energy created, largest in motion, steps since the set of
// these forces changed, short steps one after the other, and whether the next step is one by
// backward Euler (contact_steps.h).
enum { SNW_DEVICE_MONITOR = 5 };
static inline int snw_device_energies(int npower, int touches) {
    return touches ? SNW_DEVICE_MONITOR : 3 + npower;
}

// A column of a probe.
typedef struct snw_device_column {
    int reading; // snw_reading
    int of;      // segment, first coordinate of a strain, coordinate, velocity or tendon
    int column;  // component of a pose or a velocity
    int flag;    // velocity: axes of the body; tendon: its length
    int count;   // strain: shape functions
    int phi;     // strain: the first of them, behind the rest strain, in column_phi
} snw_device_column;

typedef struct snw_device_args {
    const void *model;      // made by device_model on the same processor
    size_t model_bytes;     // from the model of a robot to that of the next; 0: one model for all
    int n;                  // robots
    int lanes;              // threads of a robot, a power of two up to 32; the host has one
    unsigned char *scratch; // n times scratch_bytes: workspaces; NULL: on the stacks of the threads
    size_t scratch_bytes;
    // state
    narrow *q;      // nq x n
    narrow *past;   // 5 nv x n: velocities, accelerations and the rest of snw_history
    narrow *h;      // n: length of the last step (snw_history); NaN before the first start
    narrow *mass;   // nv x n: diagonal of the mass matrix at the start
    narrow *onset;  // 4 x n: present limit of the step after a start, updates without growth; limit
                    // after a step that created energy, 0: none; are contact rows redundant?
    narrow *lambda; // nconstraint x n: multipliers
    narrow *z;      // 2 nsignal x n: memory of laws (snw_state), rates of integrals and states
    narrow *relaxed; // nbranch_coordinate x n: strains of Maxwell branches (snw_state)
    narrow *energy;  // snw_device_energies x n
    int *status;     // n
    unsigned *iterations, *tangents; // n: sums over the steps
    const unsigned char *at;         // n: robots to start; NULL: all
    int only_failed;                 // start those of them that have failed
    const narrow *home;              // (nq + nv) x n: q, v at the start; NULL: present q and v
    // inputs
    const narrow *u; // inputs x n; of each step where they change within the call
    size_t u_step;   // numbers from the inputs of a step to those of the next; 0: the same
    const snw_device_map *map; // nmap
    int nmap;
    narrow t;          // time at the beginning of the call, s
    int time_laws;     // laws of time are evaluated on the device; else by the host, below
    const bool *taken; // motors, tendons and loads (none) whose laws the caller replaces by u
    const narrow *zero, *one; // as many numbers as inputs of actuators and stresses
    int nlaw;                 // numbers of gravity and of snw_inputs
    const narrow *law; // (3 count + 1) x nlaw: at the beginning, then at points of each step and
                       // its end; x n where robots have laws of their own
    int own_laws;      // they have
    const unsigned char *steady; // count: laws are constant within the step
    // steps
    int count;
    narrow step;    // length, s
    narrow longest; // longest step, s
    snw_device_scheme scheme, euler;
    int patience; // Newton iterations allowed in a step
    int tighten, max_iter;
    int account;       // steps are judged by the energy that they create
    narrow loss_limit; // of the energy in motion, in a step of a robot with loops
    int project_end;   // velocities and accelerations at the end of steps satisfy the loops
    narrow tolerance;
    // points
    int npoint;
    const int *point_seg;   // segments
    const narrow *point_at; // 3 x npoint: in the frame of the segment, m
    narrow *point;          // 3 npoint x n: in the world, m
    narrow *point_rate;     // 3 npoint x n: their velocities, m/s
    // probes
    int ncolumn;
    const snw_device_column *column;
    const narrow *column_phi;
    narrow *probe; // ncolumn x n
} snw_device_args;
