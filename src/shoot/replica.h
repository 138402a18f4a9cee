// SPDX-License-Identifier: MIT
//
// replica.h: the march of the paper, to compare digits with: internal force and moment in world axes, a quaternion that is
// not kept at unit length, no group steps. The continuous equation is that of march.h, the discrete ones differ by the
// truncation error.
#pragma once

#include "shoot/rod.h"

// As snw_shoot_march, with poses.
void snw_replica_march(snw_shoot_rod *r, int node, int n, const snw_shoot_state *start,
                       snw_shoot_state *end);
// S (rows as in march.h) <- variations of the end, by differences, as the paper has them.
void snw_replica_march_vary(snw_shoot_rod *r, int node, int n, const snw_shoot_state *start,
                            int columns, double *S, snw_shoot_state *end);
