// SPDX-License-Identifier: MIT
//
// held_inputs.h: memory for inputs that replace laws: those that a live caller sets, or that a step
// of a study found and holds.
#pragma once

#include "dynamics/inputs.h"

//   X(type, name, count, "meaning"), counts in terms of `d`, the description
#define SNW_HELD_FIELDS(X)                                                                         \
    X(snw_wrench, load, d->nload, "force and torque of a load")                                    \
    X(snw_jet, motor, o->ncoordinate, "effort or motion of the coordinates of motors")             \
    X(snw_jet, tendon, d->ntendon, "of tendons and chambers")                                      \
    X(snw_jet, slide, d->ntube, "translation of concentric tubes")                                 \
    X(double, motor_since, d->nmotor, "time from which it holds, s")                               \
    X(double, tendon_since, d->ntendon, "likewise")                                                \
    X(double, slide_since, d->ntube, "likewise")                                                   \
    X(double, activation, d->nstress, "factor of a muscle")                                        \
    X(double, field, d->nforce_field, "factor of a field")                                         \
    X(int, motor_first, d->nmotor, "first coordinate of a motor")                                  \
    X(bool, load_given, d->nload, "is it held?")                                                   \
    X(bool, motor_given, d->nmotor, "likewise")                                                    \
    X(bool, tendon_given, d->ntendon, "likewise")                                                  \
    X(bool, slide_given, d->ntube, "likewise")

typedef struct snw_held_inputs {
    snw_manual_inputs manual; // the arrays, as snw_inputs reads them
    const snw_desc *desc;     // of the creation, for the sizes
    size_t ncoordinate;       // coordinates of all motors
    SNW_HELD_FIELDS(SNW_FIELD_POINTER)
    void *block; // behind these arrays
    size_t bytes;
} snw_held_inputs;

// Nothing is held at first. The object must not move afterwards.
SNW_NODISCARD snw_status snw_held_create(const snw_desc *d, snw_held_inputs *out);
void snw_held_destroy(snw_held_inputs *h);
void snw_held_copy(const snw_held_inputs *from, snw_held_inputs *to);
// Nothing is held any more.
void snw_held_clear(snw_held_inputs *h);

// All values as numbers: their count, written to a row and read from it; the place behind them.
size_t snw_held_doubles(const snw_held_inputs *h);
double *snw_held_save(const snw_held_inputs *h, double *row);
const double *snw_held_load(snw_held_inputs *h, const double *row);

// From time t on, coordinate k of an actuator is `value`, constant; other coordinates of a motor
// that was not held before become zero. Motors that share an effort take it together.
void snw_held_set(snw_held_inputs *h, int actuator, int k, double value, double t);
// The actuator, or the load, follows its law again.
void snw_held_release(snw_held_inputs *h, int actuator);
void snw_held_release_load(snw_held_inputs *h, int load);
bool snw_held_is_set(const snw_held_inputs *h, int actuator);
