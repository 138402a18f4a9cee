// SPDX-License-Identifier: MIT
//
// step_energies.h: energies of a state and its forces on one side only (contacts, stops, cables),
// by which a step is judged, theory.md (6.16). For one robot (implicit_energy.c) and for packs
// (pack_engine.cpp).
#pragma once

#include "dynamics/dynamics.h"

typedef struct snw_step_energies {
    double stored;      // stored in contacts, stops and cables, J
    double interaction; // stored in contacts and in all force elements, J
    double kinetic;     // of the robot, J
    double total;       // kinetic, elastic, gravitational and stored, J
    double power;       // of the forces on one side, sum of magnitudes, W
    double touching;    // number of such forces that are not zero
    double set;         // a whole number that tells which ones, the same for the same ones
} snw_step_energies;

// Has the model stored energies besides those of rods, joints and gravity?
bool snw_step_energies_count(const snw_model *m);
// At the state s, not static; in: inputs at its time.
snw_step_energies snw_step_energies_at(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                       snw_work *w);
