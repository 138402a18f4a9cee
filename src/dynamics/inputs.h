// SPDX-License-Identifier: MIT
//
// inputs.h: prescribed quantities at one instant: loads, efforts, poses, driven coordinates, given
// strains, currents. They are laws evaluated at t, or values that a live caller sets. The recursion
// reads nothing else from outside.
#pragma once

#include "base/fields.h"
#include "model/model.h"

#include <float.h>
#include <math.h>

// Spring and damper between a point of a segment and a point of the world (the mouse),
// dynamics/drag_spring.h.
typedef struct snw_drag_spring {
    int seg;                   // 0: no spring
    snw_vec3 at, to;           // point in the segment's frame, target in the world, m
    double stiffness, damping; // N/m, N s/m
} snw_drag_spring;

// Values that replace laws, set by a live caller.
typedef struct snw_manual_inputs {
    const bool *load_given;    // nload
    const snw_wrench *load;    // nload: in the frame of the load; along a rod per length
    const bool *motor_given;   // nmotor
    const double *motor_since; // nmotor: time at which it was set, s
    const int *motor_first;    // nmotor: index of its first coordinate in `motor`
    const snw_jet *motor;      // efforts (v), or positions, rates and accelerations at that time
    const bool *tendon_given;  // ntendon
    const double *tendon_since;
    const snw_jet *tendon;   // likewise efforts, shortenings, volumes, moles of a gas
    const bool *slide_given; // ntube of the description: translations of concentric tubes
    const double *slide_since;
    const snw_jet *slide;     // position, rate and acceleration at that time
    const double *activation; // nstress: factors on the laws of active stress
    const double *field;      // nforce_field: factors on the laws of fields
    bool gravity_given;
    snw_vec3 gravity;
    snw_drag_spring drag_spring;
} snw_manual_inputs;

// All arrays of snw_inputs, contiguous numbers that are copied and blended as one vector.
//
//   X(type, name, count, "meaning"), counts in terms of `m`, the model
#define SNW_INPUTS_FIELDS(X)                                                                       \
    X(snw_se3, pose, m->npose, "relative pose")                                                    \
    X(snw_twist, pose_u, m->npose, "its body twist")                                               \
    X(snw_twist, pose_du, m->npose, "and its rate")                                                \
    X(snw_wrench, load, m->nload_point,                                                            \
      "in the frame of the load, world or body; zero for laws that read signals")                  \
    X(double, stress, m->nv, "generalised force of actuators, sign of a load; likewise")           \
    X(double, signal_fraction, 1,                                                                  \
      "fraction of the laws that read signals; below 1 during load stepping")                      \
    X(snw_jet, drive, m->ndrive, "prescribed position, velocity, acceleration")                    \
    X(snw_jet, slide, m->ntube_piece ? m->ntube : 0,                                               \
      "translation of concentric tubes since their layout, m")                                     \
    X(snw_twist, xi, m->nfield, "given strains, added to the rest strain")                         \
    X(snw_twist, dxi, m->nfield, "their rates")                                                    \
    X(snw_twist, ddxi, m->nfield, "their second rates")                                            \
    X(snw_jet, tendon, m->ntendon,                                                                 \
      "prescribed effort or coordinate of a tendon or chamber, or n R T of a gas; zero for laws "  \
      "that read signals")                                                                         \
    X(double, ambient, m->ntendon, "ambient pressure of a gas, Pa")                                \
    X(snw_vec3, current, m->nfluid, "velocity of the fluid, world frame")                          \
    X(double, force_field, m->nforce_field_point ? 2 + m->nforce_field : 0,                        \
      "time at which fields are taken, s, fraction of them, below 1 during load stepping, and a "  \
      "factor of each")                                                                            \
    X(snw_vec3, current_rate, m->nfluid, "its rate")

typedef struct snw_inputs {
    double t;
    const snw_manual_inputs *manual; // NULL: all values by laws
    snw_vec3 gravity;                // acceleration, world frame
    SNW_INPUTS_FIELDS(SNW_FIELD_POINTER)
    double integral_step;   // s: a law reads an integral as state + integral_step * integrand,
                            // theory.md (3.7.3)
    bool inertia_only;      // force elements, stops and contacts do not act
    const snw_model *model; // of its creation, for the sizes
    void *block;            // the arrays above
    size_t bytes;           // size of the block
} snw_inputs;

// Number of doubles in the block of arrays.
size_t snw_inputs_doubles(const snw_model *m);

SNW_NODISCARD snw_status snw_inputs_create(const snw_model *m, snw_inputs **out);
void snw_inputs_destroy(snw_inputs *in); // NULL is fine
void snw_inputs_copy(const snw_inputs *from, snw_inputs *to);

// A few roundings of t, s. Laws that jump at t are evaluated this much before or after it, so that
// < and <= in a law give the same result. At t = 0 the value is below the resolution of any law,
// yet large enough that a force growing from zero leaves no subnormal numbers in the first matrix;
// arithmetic with those is about a hundred times slower.
static inline double snw_time_resolution(double t) {
    return 8 * DBL_EPSILON * fmax(fabs(t), 1e-15);
}

// in <- all laws at time t; values of in->manual take precedence.
void snw_inputs_at(const snw_model *m, double t, snw_inputs *in);

// Given strains of a rod at arc length x and time t, and their rates; zero in components that are
// not given.
void snw_given_strains(const snw_rod *rod, double x, double t, snw_twist *xi, snw_twist *dxi,
                       snw_twist *ddxi);

// Fails, with the name of the actuator, if a tendon or chamber has a value that is not finite or
// not possible (shortening beyond the length, volume not positive, negative amount of gas).
SNW_NODISCARD snw_status snw_tendons_check(const snw_model *m, const snw_inputs *in, double t,
                                           snw_error *err);

// in <- no gravity, loads or stress; poses and drives unchanged. Start of a load stepping.
void snw_inputs_unload(const snw_model *m, snw_inputs *in);

// out <- a + fraction (b - a) for gravity, loads and stress; poses and drives of b. fraction 1
// gives b exactly.
void snw_inputs_blend(const snw_model *m, const snw_inputs *a, const snw_inputs *b, double fraction,
                      snw_inputs *out);

// Largest rate of the given strains, 1/s; curvatures are multiplied by the length of the robot.
double snw_field_rate(const snw_model *m, const snw_inputs *in);

// Does the law of a load, or the effort of a motor, read signals at present?
static inline bool snw_load_reads_signals(const snw_model *m, const snw_inputs *in, int load) {
    return m->load[load].reads_signals && !(in->manual && in->manual->load_given[load]);
}
static inline bool snw_motor_reads_signals(const snw_model *m, const snw_inputs *in, int motor) {
    return m->motor[motor].reads_signals && !(in->manual && in->manual->motor_given[motor]);
}

// Factor on the law of an active stress.
static inline double snw_activation(const snw_inputs *in, int stress) {
    return in->manual ? in->manual->activation[stress] : 1;
}

// Is the value of a tendon or chamber set by the caller? Does its law read signals at present?
static inline bool snw_tendon_is_manual(const snw_inputs *in, int tendon) {
    return in->manual && in->manual->tendon_given[tendon];
}
static inline bool snw_tendon_reads_signals(const snw_model *m, const snw_inputs *in, int tendon) {
    return m->nlive && m->tendon[tendon].reads_signals && !snw_tendon_is_manual(in, tendon);
}

// Laws at the time and signals of `at`. Value of the law of a tendon or chamber that reads signals;
// load at a load point, times its quadrature weight; generalised force of an active stress or of a
// motor, times `fraction`, added to Q (nv).
double snw_tendon_law(const snw_model *m, int tendon, const snw_inputs *in, snw_at at);
void snw_load_at(const snw_model *m, int point, snw_at at, snw_wrench *out);
void snw_stress_at(const snw_model *m, int stress, snw_at at, double fraction, double *Q);
// Power of the active stress at the velocities v (nv), W.
double snw_stress_power(const snw_model *m, int stress, snw_at at, const double *v);
void snw_effort_at(const snw_model *m, int motor, snw_at at, double fraction, double *Q);
