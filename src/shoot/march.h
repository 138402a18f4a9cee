// SPDX-License-Identifier: MIT
//
// march.h: the rod's equation integrated from a node on, with the exact derivative of what is
// computed: every stage is differentiated, so that variations are those of the discrete map to
// rounding.
#pragma once

#include "shoot/rod.h"

// From `start` at node `node` through n intervals of its piece. r's arrays at the nodes between <-
// the states there; *end <- the state behind the last interval, the station not included. Poses are
// left alone unless `pose` (always when r->world).
void snw_shoot_march(snw_shoot_rod *r, int node, int n, bool pose, const snw_shoot_state *start,
                     snw_shoot_state *end);

// The same with variations. S: SNW_SHOOT_ROWS rows of `columns` numbers, in: variations of the
// start, out: of the end. Rows of the pose mean nothing unless `pose` or r->world.
void snw_shoot_march_vary(snw_shoot_rod *r, int node, int n, bool pose,
                          const snw_shoot_state *start, int columns, double *S,
                          snw_shoot_state *end);

// Of Dormand and Prince's method: the local error of the interval behind a node, from the method of
// order 4 that its stages have too, in typical forces, moments, velocities, and lengths. The nodes
// are a solution.
double snw_shoot_error(const snw_shoot_rod *r, int node);

// The same, start and end in y, columns none or some: by instructions that every processor has, and
// by wider ones, where there are. Equal to rounding; march.c chooses.
void snw_march_any(snw_shoot_rod *r, int node, int n, bool pose, int columns, double *S,
                   snw_shoot_state *y);
void snw_march_avx2(snw_shoot_rod *r, int node, int n, bool pose, int columns, double *S,
                    snw_shoot_state *y);
