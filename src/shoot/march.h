// SPDX-License-Identifier: MIT
//
// march.h: integrates the rod equations from a node on, with exact derivatives of the discrete map:
// every stage is differentiated, so the variations are exact to rounding.
#pragma once

#include "shoot/rod.h"

// March from `start` at node `node` through n intervals of its piece. Arrays of r at the nodes in
// between <- the states there; *end <- the state after the last interval, without the station.
// Poses are computed only if `pose` or r->world.
void snw_shoot_march(snw_shoot_rod *r, int node, int n, bool pose, const snw_shoot_state *start,
                     snw_shoot_state *end);

// The same with variations. S: SNW_SHOOT_ROWS rows of `columns` numbers; in: variations of the
// start, out: of the end. Rows of the pose are undefined unless `pose` or r->world.
void snw_shoot_march_vary(snw_shoot_rod *r, int node, int n, bool pose,
                          const snw_shoot_state *start, int columns, double *S,
                          snw_shoot_state *end);

// Local error of the interval that begins at a node, by the embedded formula of order 4 of the
// Dormand-Prince method, in typical forces, moments, velocities and lengths. The nodes must be a
// solution.
double snw_shoot_error(const snw_shoot_rod *r, int node);

// Both of the above, with start and end in y and any number of columns: with baseline instructions,
// and with AVX2. The results agree to rounding; march.c selects at run time.
void snw_march_any(snw_shoot_rod *r, int node, int n, bool pose, int columns, double *S,
                   snw_shoot_state *y);
void snw_march_avx2(snw_shoot_rod *r, int node, int n, bool pose, int columns, double *S,
                    snw_shoot_state *y);
