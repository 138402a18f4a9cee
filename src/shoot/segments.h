// SPDX-License-Identifier: MIT
//
// segments.h: multiple shooting. The rod is cut into segments short enough that nothing grows much
// along one; the states where they begin are unknowns. Newton's equations are condensed from the
// base to the tip, theory.md 10.4:
//   d(pose, velocity, z) = Y dF + y + P dp
// at each start, and at the tip, where whoever closes the rod (a load, a body, a platform) finds dF
// and dp. One segment is single shooting.
#pragma once

#include "shoot/rod.h"

enum {
    SNW_SEGMENT_A = 20 // most rows of a start besides the wrench: pose 6, velocity 6, z
};

// How much of the pose takes part: none; rotations, where loads are those of the world; all of it,
// for rods whose tip is held at a place.
typedef enum snw_segment_pose { SNW_POSE_NONE, SNW_POSE_TURN, SNW_POSE_ALL } snw_segment_pose;

typedef struct snw_segment {
    int node;              // where it begins
    snw_shoot_state start; // the unknown
    snw_shoot_state
        end; // what the march made of it, the station behind it included unless that is the tip
    double defect[SNW_SEGMENT_A + 6];                // end less the next start: rows, wrench
    double S[SNW_SHOOT_ROWS * (SNW_SHOOT_ROWS + 2)]; // variations of the end
    int columns;
    double Y[SNW_SEGMENT_A][6], y[SNW_SEGMENT_A], P[SNW_SEGMENT_A][SNW_SHOOT_Z]; // at its start
    double M[36]; // factors of d(wrench at the end)/d(wrench at the start)
    int pivot[6];
    double m[6], Mp[6][SNW_SHOOT_Z];
} snw_segment;

typedef struct snw_segments {
    snw_shoot_rod *r;
    snw_segment_pose pose;
    int n, most;
    snw_segment *seg;                // n, then the tip: Y, y and P of its variation
    int na, row[SNW_SEGMENT_A];      // rows of a start besides the wrench, as in march.h
    double scale[SNW_SEGMENT_A + 6]; // what defects are measured by
    bool factored;
} snw_segments;

// For at most as many segments as r has intervals.
SNW_NODISCARD snw_status snw_segments_create(snw_shoot_rod *r, snw_segment_pose pose,
                                             snw_segments **out);
void snw_segments_destroy(snw_segments *s); // NULL is fine

// Cut: the growth over a segment at most `growth` by the present formula, or, with n > 0, n of
// them. Starts as the nodes are. Says whether anything changed; factors are void then.
bool snw_segments_cut(snw_segments *s, double growth, int n);

// March all segments from their starts, nodes of r and ends included; with variations if `slopes`.
// Returns the largest scaled defect, NaN when the march has left the numbers.
double snw_segments_march(snw_segments *s, bool slopes);

// From the last march with slopes: factors. SNW_E_SINGULAR.
SNW_NODISCARD snw_status snw_segments_factor(snw_segments *s);
// With these factors and the defects of the last march: y, up to the tip's.
void snw_segments_condense(snw_segments *s);
// Given the variation dF of the tip's wrench and dp of the free z: delta (n rows of na + 6) <- what
// all starts change by.
void snw_segments_solution(const snw_segments *s, const double dF[6], const double *dp,
                           double *delta);
// Starts <- moved by `step` times delta.
void snw_segments_move(snw_segments *s, const double *delta, double step);

// The state at the tip, and its variation there: rows na (see row) by wrench, constant and dp.
static inline const snw_shoot_state *snw_segments_tip(const snw_segments *s) {
    return &s->seg[s->n - 1].end;
}
static inline const snw_segment *snw_segments_relation(const snw_segments *s) {
    return &s->seg[s->n];
}
