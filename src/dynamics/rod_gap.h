// SPDX-License-Identifier: MIT
//
// rod_gap.h: distance of the surfaces of two rods and the energy stored where they touch, with
// exact derivatives, theory.md 3.20. The centre line of a slice is the cubic between its two nodes
// with the directions of their x axes; its radius is a cubic too. Private to src/dynamics.
#pragma once

#include "dynamics/dynamics.h"

// Slice of a rod: positions and directions of its nodes p0, a0, p1, a1 in the world; radii and
// their derivatives in the same order.
typedef struct snw_rod_side {
    snw_vec3 z[4];
    double radius[4];
    double h; // m
} snw_rod_side;

snw_rod_side snw_rod_side_of(const snw_model *m, const snw_work *w, int slice);
// The same as it is seen by a contact: of rods in a bore the radii are those of the bore and minus
// their own, so that the gap below is minus that to the wall, theory.md (3.20.10).
snw_rod_side snw_rod_side_in(const snw_model *m, const snw_work *w, int contact, int slice);

// A section of a slice, at the fraction u of its length: index 0 the value, 1.. derivatives in the
// arc length. The direction d = (1 - sigma) a0 + sigma a1, sigma = u^2 (3 - 2u), has no derivative
// at nodes, so that weights by the angle between rods are differentiable there.
typedef struct snw_rod_section {
    double weight[4][4]; // of p0, a0, p1, a1 in p
    double turn[3];      // sigma
    snw_vec3 p[4], d[3];
    double r[4];
} snw_rod_section;

void snw_rod_section_at(const snw_rod_side *s, double u, snw_rod_section *out);

// Two sections: w = p_A - p_B = rho n, gap rho - r_A - r_B, its derivatives in both arc lengths
// (s of A, t of B; second: ss, st, tt), and Q = (1 - n n')/rho.
typedef struct snw_rod_gap {
    snw_rod_section at[2];
    snw_vec3 w, n;
    double rho, gap, first[2], second[3];
    snw_mat3 Q;
} snw_rod_gap;

void snw_rod_gap_at(const snw_rod_side side[2], const double u[2], snw_rod_gap *out);

// u <- fractions at the closest points of the two chords
void snw_rod_gap_chords(const snw_rod_side side[2], double u[2]);

// u[k] <- fraction of slice k at which the gap to the given section of the other slice is smallest,
// strictly within the slice, at its start, or at an end of the rod. False: it is beyond the slice.
bool snw_rod_gap_foot(const snw_rod_side side[2], const snw_touching_slice *slice, int k,
                      double u[2], bool *is_free);
// The same for the distance from the centre line, which may be zero, of a slice of constant radius.
bool snw_rod_axis_foot(const snw_rod_side side[2], const snw_touching_slice *slice, int k,
                       double u[2], bool *is_free);
// The same for both: a minimum of the gap by both arc lengths.
bool snw_rod_gap_pair(const snw_rod_side side[2], const snw_touching_slice *const slice[2],
                      double u[2], bool is_free[2]);

// The five vectors on which the energy of a touch depends: w, p_A', p_B', and the directions.
enum { SNW_OF_W, SNW_OF_A, SNW_OF_B, SNW_OF_DA, SNW_OF_DB, SNW_TOUCH_VECTORS };
// Functions of them on which it depends: gap, cosine c of the angle between the directions, length
// b of a section beyond the end of the other rod.
enum { SNW_BY_GAP, SNW_BY_ANGLE, SNW_BY_BEYOND, SNW_TOUCH_FUNCTIONS };

// Energy zeta(c) phi(b) k I(-gap), in a bore phi(b) k I(gap), I the integral of the smooth positive
// part, with its first and second derivatives by these functions, and theirs by the vectors; the
// derivatives of c by both arc lengths; multipliers of the conditions that the gap is stationary;
// gradient of the energy by the vectors, and by the node vectors p0, a0, p1, a1 of both sides.
typedef struct snw_rod_potential {
    double energy, d1[SNW_TOUCH_FUNCTIONS], d2[SNW_TOUCH_FUNCTIONS][SNW_TOUCH_FUNCTIONS];
    snw_vec3 by[SNW_TOUCH_FUNCTIONS][SNW_TOUCH_VECTORS];
    bool varies;      // the weights zeta and phi are not constant
    double sign, way; // of c, of b
    int beyond;       // vector of the direction at the end from which b is measured
    double by_u[2];
    double lambda[2];
    snw_vec3 gradient[SNW_TOUCH_VECTORS], slope[2][4];
} snw_rod_potential;

// Weight of crossings (1 - z) or of sections (z) at the cosine c, with its derivatives.
void snw_rod_weight(bool crossing, double c, double z[3]);

void snw_rod_potential_at(const snw_rod_gap *g, const snw_touch *touch, double smooth,
                          snw_rod_potential *out);

// H (24 x 24, by rows; A before B, p0 a0 p1 a1, x y z) <- second derivative of the energy by the
// node vectors, the stationary arc lengths varying with them.
void snw_rod_potential_hessian(const snw_rod_gap *g, const snw_rod_potential *e,
                               const snw_touch *touch, double *H);

// d (2) <- derivatives of the stationary arc lengths along variations of the vectors; zero of given
// sections. dw, da, db: variations of w, p_A', p_B' at fixed arc lengths.
void snw_rod_gap_slide(const snw_rod_gap *g, const bool is_free[2], snw_vec3 dw, snw_vec3 da,
                       snw_vec3 db, double d[2]);
