// SPDX-License-Identifier: MIT
//
// inputs.h: what acts on the robot from outside at one instant: laws evaluated, or numbers set by a
// caller who steps live. The recursion sees only this.
#pragma once

#include "model/model.h"

#include <float.h>
#include <math.h>

// A hand that pulls at a point of a segment, dynamics/drag_spring.h.
typedef struct snw_drag_spring {
    int seg;                   // 0: none
    snw_vec3 at, to;           // the point in the segment's frame, the hand in the world, m
    double stiffness, damping; // N/m, N s/m
} snw_drag_spring;

// Numbers that stand for laws, set by a caller who steps live.
typedef struct snw_manual_inputs {
    const bool *load_given;    // nload
    const snw_wrench *load;    // nload: as the load's laws would give it; along a rod per length
    const bool *motor_given;   // nmotor
    const double *motor_since; // nmotor: time at which that was, s
    const int *motor_first;    // nmotor: where its coordinates begin in
    const snw_jet *motor;      // efforts (v), or positions, rates and accelerations at that time
    const bool *tendon_given;  // nmeasure
    const double *tendon_since;
    const snw_jet *tendon;    // efforts, shortenings and volumes likewise, moles of a gas
    const double *activation; // nstress: factors of the laws of muscles
    bool gravity_given;
    snw_vec3 gravity;
    snw_drag_spring drag_spring;
} snw_manual_inputs;

typedef struct snw_inputs {
    double t;
    const snw_manual_inputs *manual; // NULL: all by laws
    snw_vec3 gravity;                // acceleration, world frame
    snw_se3 *pose;                   // npose: relative pose,
    snw_twist *pose_u;               // its body velocity,
    snw_twist *pose_du;              // and acceleration
    snw_wrench
        *load; // nact: in the frame of the load, world or body; zero for laws that read signals
    double *stress; // nv: generalised force of actuators, on the side of the loads; likewise
    double *signal_fraction; // 1: how much of the laws that read signals acts, less than 1 while
                             // loads are built up
    snw_jet *drive; // ndrive: where the coordinate is to be, how fast, how accelerated
    // nmeasure: what is given of a tendon or chamber, its effort or coordinate, of a gas moles R
    // temperature; zero for laws that read signals. Pressure around a gas
    snw_jet *tendon;
    double *ambient;
    snw_twist *xi, *dxi, *ddxi; // nfield: given strains, on top of the reference, and their rates
    snw_vec3 *current, *current_rate; // nfluid: velocity of the fluid, world frame, and its rate
    double lead;  // s: an integral read by a law is what the state has plus this much of its source
    size_t bytes; // of the block behind the struct
} snw_inputs;

// Doubles in the block behind inputs.
size_t snw_inputs_doubles(const snw_model *m);

SNW_NODISCARD snw_status snw_inputs_create(const snw_model *m, snw_inputs **out);
void snw_inputs_destroy(snw_inputs *in); // NULL is fine
void snw_inputs_copy(const snw_inputs *from, snw_inputs *to);

// A few roundings of t: laws that jump at t are asked that much before or behind it, whether they
// say < or <=. At t = 0 a time too short for any law, yet long enough that a force which grows from
// nothing leaves no subnormal numbers in the matrix of the first step: those cost a processor a
// hundred times what others do.
static inline double snw_grain(double t) { return 8 * DBL_EPSILON * fmax(fabs(t), 1e-15); }

// All laws at time t, but for what the hand gives.
void snw_inputs_at(const snw_model *m, double t, snw_inputs *in);

// Which tendon or chamber is given something without value, or that cannot be: a tendon shorter
// than nothing.
SNW_NODISCARD snw_status snw_tendons_check(const snw_model *m, const snw_inputs *in, double t,
                                           snw_error *err);

// No gravity, no loads, no stress, poses and drives as in `in`: the state from which loads are
// built up.
void snw_inputs_unload(const snw_model *m, snw_inputs *in);

// out <- a + fraction (b - a) for gravity, loads and stress; poses and drives of b. fraction 1
// gives b exactly.
void snw_inputs_blend(const snw_model *m, const snw_inputs *a, const snw_inputs *b, double fraction,
                      snw_inputs *out);

// The fastest rate of given strains: 1/s, of curvatures times the length of the robot.
double snw_field_rate(const snw_model *m, const snw_inputs *in);

// Whether a load follows signals at present.
static inline bool snw_load_reads_signals(const snw_model *m, const snw_inputs *in, int load) {
    return m->load_reads[load] && !(in->manual && in->manual->load_given[load]);
}

// Whether the effort of an actuator does.
static inline bool snw_motor_reads_signals(const snw_model *m, const snw_inputs *in, int motor) {
    return m->motor_reads[motor] && !(in->manual && in->manual->motor_given[motor]);
}

// By how much a muscle acts, times its law.
static inline double snw_activation(const snw_inputs *in, int stress) {
    return in->manual ? in->manual->activation[stress] : 1;
}

// Whether what is given of a tendon or chamber was set by hand, and whether it follows signals.
static inline bool snw_tendon_is_manual(const snw_inputs *in, int tendon) {
    return in->manual && in->manual->tendon_given[tendon];
}
static inline bool snw_tendon_reads_signals(const snw_model *m, const snw_inputs *in, int tendon) {
    return m->tendon_reads[tendon] && !snw_tendon_is_manual(in, tendon);
}

// Laws at one instant and one reading of the signals: load of an act; generalised force of an
// active stress and of an actuator on coordinates, times `share`, added to Q (nv).
void snw_load_at(const snw_model *m, int act, snw_at at, snw_wrench *out);
void snw_stress_at(const snw_model *m, int stress, snw_at at, double share, double *Q);
// What that active stress does per second at velocities v (nv).
double snw_stress_power(const snw_model *m, int stress, snw_at at, const double *v);
void snw_effort_at(const snw_model *m, int motor, snw_at at, double share, double *Q);
