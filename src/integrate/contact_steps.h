// SPDX-License-Identifier: MIT
//
// contact_steps.h: lengths of the steps of robots with forces on one side only (contacts, stops,
// cables), by the energy that steps exchange with them and create, theory.md (6.16). For one robot
// (implicit_energy.c) and for robots on a graphics processor (gpu/device_contacts.inc).
#pragma once

#include "integrate/step_energies.h"

// Monitoring of contacts with the ground, step by step.
typedef struct snw_impact_monitor {
    double longest; // present limit of the step, s; 0: none
    double gain;  // energy created by steps, relative to the energy in motion; without ground in J
    double peak;  // largest energy in motion so far, J
    double since; // steps since the set of contacts changed
    double short_steps; // consecutive short steps
} snw_impact_monitor;

// A step just solved.
typedef struct snw_contact_step {
    double h, longest; // its length, and the longest one allowed, s
    double work, heat; // of external actions and of dampers within it, J
    double exchanged;  // sum of their magnitudes, J
    double noise;      // energy that residuals within Newton's tolerance may create, J
    const snw_step_energies *from, *to; // at both ends
} snw_contact_step;

// Fraction of its length with which the step must be repeated; 0: it need not be.
double snw_contact_step_judge(const snw_contact_step *s, snw_impact_monitor *i);

// Length with which it is repeated, by that fraction; 0: it is accepted, and i->longest limits the
// next one. `touches`: the robot has such forces. `patient`: it may be repeated. *use_euler: it was
// solved, or will be, by backward Euler, which gains no energy in contacts.
double snw_contact_step_again(snw_impact_monitor *i, double fraction, double h, double longest,
                              bool touches, bool patient, bool *use_euler);

// Is a step of this length the shortest for the sake of contacts, and solved by backward Euler?
bool snw_contact_step_is_least(double h, double longest);
