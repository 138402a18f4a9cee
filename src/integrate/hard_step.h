// SPDX-License-Identifier: MIT
//
// hard_step.h: what a step with hard contacts (integrate/moreau.h) reports for derivatives, with
// the contacts that act and their states.
#pragma once

#include "dynamics/hard_contact.h"

// State of a hard contact, in the equations of a step or in its impulse.
typedef enum snw_hard_state { SNW_HARD_OPEN, SNW_HARD_STICKS, SNW_HARD_SLIDES } snw_hard_state;

// A hard contact that acts in a step (theory.md 6.9).
typedef struct snw_hard_step_contact {
    snw_hard_contact at;
    snw_hard_state in_step, in_impulse;
    bool closes;         // it is open at the start, and the step ends where it closes
    bool bounces;        // with restitution
    double P[3];         // forces along the axes at the middle of the step, N
    double P1[3];        // the same along those at its end
    double p[3];         // impulses of the step, N s
    const char *unclear; // NULL, or why its state changes with the slightest change of the motion
} snw_hard_step_contact;

// Velocities scaled to an energy, theory.md (6.53): v <- factor v, or about the velocity of the
// centre of mass where the robot is `carried`. `free`: the factor follows from the energy.
typedef struct snw_hard_scaling {
    double factor;
    bool free, carried;
} snw_hard_scaling;

// A step with hard contacts.
typedef struct snw_hard_step {
    int n; // contacts
    const snw_hard_step_contact *contact;
    const double *q0, *v0; // configuration (nq) and velocities (nv) at its start
    double theta;
    const double *v, *v1;  // velocities (nv) after the first scaling, and after the impulse
    const double *impulse; // nconstraint: impulses of the constraint rows, N s
    bool velocities;       // is there an impulse?
    bool taken;            // contacts take the energy of the impulse
    snw_hard_scaling scaling[2];
} snw_hard_step;
