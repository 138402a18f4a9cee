// SPDX-License-Identifier: MIT
//
// assembly.h: robots with loops and drives, put together: rows that say nothing left out, loops closed, velocities and
// accelerations made consistent with them. theory.md 3.8.
#pragma once

#include "dynamics/dynamics.h"

// Compile a description and leave out rows of loops that hold whatever the coordinates are (a hinge in a planar model
// has two that mean something). SNW_E_MODEL when such a row is open: that loop can never be closed.
SNW_NODISCARD snw_status snw_assembly_compile(const snw_desc *desc, snw_model **out,
                                              snw_error *err);

typedef struct snw_assembly snw_assembly;

SNW_NODISCARD snw_status snw_assembly_create(const snw_model *m, snw_assembly **out);
void snw_assembly_destroy(snw_assembly *as); // NULL is fine

typedef struct snw_assembly_info {
    int iterations;
    double gap; // largest left, relative to the size of the robot
    int row;    // which one has it
    int rank;   // of the rows at the end
} snw_assembly_info;

// s->q <- the nearest configuration in which all loops are closed and driven coordinates where their laws want them, lengths measured by typical
// coordinates. SNW_E_DIVERGED: not found, the loop or actuator with the largest gap is named; s->q is as it was.
SNW_NODISCARD snw_status snw_assembly_close(snw_assembly *as, const snw_inputs *in, snw_state *s,
                                            snw_assembly_info *info, snw_error *err);

// s->v <- the nearest velocities that keep all rows, by the energy of the difference.
SNW_NODISCARD snw_status snw_assembly_velocities(snw_assembly *as, const snw_inputs *in,
                                                 snw_state *s, snw_error *err);

// s->a, s->l <- accelerations and multipliers of free motion at (q, v).
SNW_NODISCARD snw_status snw_assembly_accelerations(snw_assembly *as, const snw_inputs *in,
                                                    snw_state *s, snw_error *err);
