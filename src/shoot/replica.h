// SPDX-License-Identifier: MIT
//
// replica.h: the marches of the paper, to compare digits with: a quaternion that is not kept at
// unit length, no group steps, and along the rod the internal force and moment of the rod alone in
// world axes; where there are tendons its strains. The continuous equation is that of march.h, the
// discrete ones differ by the truncation error. theory.md 10.5
//
// With tendons all strains may change, or all but stretch and shear, and K, B and rest are the same
// along the rod.
#pragma once

#include "shoot/rod.h"

// As snw_shoot_march, with poses.
void snw_replica_march(snw_shoot_rod *r, int node, int n, const snw_shoot_state *start,
                       snw_shoot_state *end);
// With tendons, at a node and its point: slope of the strain along the rod.
snw_twist snw_replica_strain_d1(const snw_shoot_rod *r, int point, int node);
// S (rows as in march.h) <- variations of the end, by differences, as the paper has them.
void snw_replica_march_vary(snw_shoot_rod *r, int node, int n, const snw_shoot_state *start,
                            int columns, double *S, snw_shoot_state *end);
