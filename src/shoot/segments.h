// SPDX-License-Identifier: MIT
//
// segments.h: multiple shooting. The rod is divided into segments short enough that disturbances
// grow little along each; the states at their starts are the unknowns. Newton's equations are
// condensed from the base to the tip (theory.md 10.4):
//   d(pose, velocity, z) = Y dF + y + P dp
// at each start and at the tip. There the boundary conditions (a load, a body, a platform)
// determine dF and dp. With one segment this is single shooting.
//
// p are the unknown values of z at the base; of a rod that is carried by another one (tree.h) the
// motion of the base, all rows of its start. A segment ends at each station with branches.
#pragma once

#include "shoot/rod.h"

enum {
    SNW_SEGMENT_A = 20 // most rows of a start without the wrench: pose 6, velocity 6, z
};

// Part of the pose among the unknowns: none; the rotation, where loads are in world axes; all of
// it, for rods whose tip is constrained to a position.
typedef enum snw_segment_pose { SNW_POSE_NONE, SNW_POSE_TURN, SNW_POSE_ALL } snw_segment_pose;

typedef struct snw_segment {
    int node;              // first node
    snw_shoot_state start; // unknown
    snw_shoot_state
        end; // result of the march; stations passed are included, the tip station is not
    double defect[SNW_SEGMENT_A + 6]; // end less the next start: na rows, then the wrench
    double S[SNW_SHOOT_ROWS * (SNW_SHOOT_ROWS + 2)]; // variations of the end by those of the start
    int columns;
    double Y[SNW_SEGMENT_A][6], y[SNW_SEGMENT_A], P[SNW_SEGMENT_A][SNW_SEGMENT_A]; // at its start
    double M[36]; // LU factors of d(wrench at the end)/d(wrench at the start)
    int pivot[6];
    double m[6], Mp[6][SNW_SEGMENT_A];
    double jump[6]; // change of the wrench of the branches at its end, the base of each held
} snw_segment;

typedef struct snw_segments {
    snw_shoot_rod *r;
    snw_segment_pose pose;
    int n, most;
    snw_segment *seg;                // n, then the tip with Y, y and P of its variation
    int na, row[SNW_SEGMENT_A];      // rows of a start without the wrench, numbered as in march.h
    double scale[SNW_SEGMENT_A + 6]; // scales of the defects
    bool factored;
} snw_segments;

// Allocates for at most as many segments as r has intervals.
SNW_NODISCARD snw_status snw_segments_create(snw_shoot_rod *r, snw_segment_pose pose,
                                             snw_segments **out);
void snw_segments_destroy(snw_segments *s); // NULL is fine

// Divide the rod so that the growth exponent over a segment is at most `growth` with the present
// time formula, or, with n > 0, into n segments. Starts are copied from the nodes. Returns whether
// the division changed; the factors are then invalid.
bool snw_segments_cut(snw_segments *s, double growth, int n);

// March all segments from their starts; sets ends, defects and the nodes of r, and with
// `derivatives` the variations. Returns the largest scaled defect, NaN when the march overflowed.
double snw_segments_march(snw_segments *s, bool derivatives);

// out (na + 6) <- state a less state b, in the rows of a start.
void snw_segments_difference(const snw_segments *s, const snw_shoot_state *a,
                             const snw_shoot_state *b, double *out);
// Number of parameters p.
int snw_segments_parameters(const snw_segments *s);
// Index of the segment that starts behind the station that ends a piece; the number of segments for
// the tip.
int snw_segments_behind(const snw_segments *s, int piece);
// Call after a march with derivatives, before snw_segments_factor: variation by W (6 x na) of the
// wrench of the branches at the end of segment k, by the motion there.
void snw_segments_add_branch(snw_segments *s, int k, double (*W)[SNW_SEGMENT_A]);

// Factorise the condensation with the variations of the last march. SNW_E_SINGULAR.
SNW_NODISCARD snw_status snw_segments_factor(snw_segments *s);
// y of all starts and of the tip <- from these factors and the defects of the last march.
void snw_segments_condense(snw_segments *s);
// delta (n rows of na + 6) <- increments of all starts, for the variation dF of the wrench at the
// tip and dp of the free z.
void snw_segments_solution(const snw_segments *s, const double dF[6], const double *dp,
                           double *delta);
// Starts <- starts moved by `step` times delta.
void snw_segments_move(snw_segments *s, const double *delta, double step);

// w (n rows of na + 6) <- weights of increments for secants, 1/scale^2; returns their end.
double *snw_segments_weights(const snw_segments *s, double *w);

// State at the tip; and its variation there: na rows (see row) by wrench, constant and dp.
static inline const snw_shoot_state *snw_segments_tip(const snw_segments *s) {
    return &s->seg[s->n - 1].end;
}
static inline const snw_segment *snw_segments_relation(const snw_segments *s) {
    return &s->seg[s->n];
}
