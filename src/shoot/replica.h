// SPDX-License-Identifier: MIT
//
// replica.h: the marches of Till 2019, for comparison with its printed digits (theory.md 10.5).
// They use a quaternion that is not normalised, no group steps, and as variables the internal force
// and moment of the rod alone in world axes, or, with tendons, its strains. The differential
// equation is that of march.h; the discrete solutions differ by the truncation error.
//
// With tendons, all strains must be active, or all but stretch and shear, and K, B and the rest
// strain must be constant along the rod.
#pragma once

#include "shoot/rod.h"

// As snw_shoot_march, always with poses.
void snw_replica_march(snw_shoot_rod *r, int node, int n, const snw_shoot_state *start,
                       snw_shoot_state *end);
// With tendons: derivative of the strain along the rod, at a node and its point.
snw_twist snw_replica_strain_d1(const snw_shoot_rod *r, int point, int node);
// S (rows as in march.h) <- variations of the end by finite differences, as in Till 2019.
void snw_replica_march_vary(snw_shoot_rod *r, int node, int n, const snw_shoot_state *start,
                            int columns, double *S, snw_shoot_state *end);
