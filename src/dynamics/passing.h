// SPDX-License-Identifier: MIT
//
// passing.h: variations of the motion of material that passes a node of a rod, theory.md (3.14.2):
//   delta V_m = delta V + c dxi
//   delta A_m = delta A - c ad_xi delta V + c' dxi + 2 c dxi' + c ad_V dxi + c^2 d(dxi/ds)
// for a given speed c; rods of variable length and concentric tubes that slide. Private to
// src/dynamics.
#pragma once

#include "dynamics/dynamics.h"

typedef struct snw_passing {
    const double *V, *A; // twist of the node and its rate
    const double *xi;    // strain
    double speed, rate;  // c and its rate at the node
    double gradient;     // c^2 over the length that the derivatives of shape functions refer to
    bool is_static;
    double cq, cv, ca; // factors of the variations of positions, velocities, accelerations
} snw_passing;

// vel, acc (6 x n, rows ld apart) <- delta V_m, delta A_m through the motion of the node, with the
// columns J and their rates.
void snw_passing_columns(const snw_passing *p, int n, int ld, const double *J, const double *dJ,
                         const double *ddJ, double *vel, double *acc);

// vel, acc += the same through the strain. phi, phi_d1: shape functions and derivatives; own: index
// of the first coordinate of the rod among the columns.
void snw_passing_strain_columns(const snw_passing *p, const snw_rod *rod, const int first[6],
                                const int count[6], const double *phi, const double *phi_d1,
                                int own, int ld, double *vel, double *acc);
