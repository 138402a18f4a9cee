// SPDX-License-Identifier: MIT
//
// observer.h: a frame placed on demand: a segment, or a section of a rod at any arc length, with a
// constant offset. Its motion and Jacobian are those of a probe's station there, which the compiler
// adds to a model as a segment of its own (model/compile_station.c).
#pragma once

#include "dynamics/dynamics.h"

// Observer of a model: its place, its motion and Jacobian, and its memory.
typedef struct snw_observer {
    int seg;       // segment, or the node below the section
    int rod;       // -1: the segment itself
    double x;      // arc length of the section, m
    snw_se3 shift; // constant pose of the frame in the segment or section
    // filled by snw_observer_motion
    snw_se3 g;      // pose in the world
    snw_twist V, A; // body twist, and its rate less gravity
    // filled by snw_observer_jacobian: 6 rows of length path->ld, in the frame of the observer
    const snw_path *path;
    double *J, *dJ;
    struct snw_observer_memory *memory;
} snw_observer;

SNW_NODISCARD snw_status snw_observer_create(const snw_model *m, snw_observer **out);
void snw_observer_destroy(snw_observer *o); // NULL is fine

// Pose of one segment, from the segments on its path only. Overwrites w.
snw_se3 snw_pose_along_path(const snw_model *m, const snw_inputs *in, const snw_state *s, int seg,
                            snw_work *w);

// Place it at a segment, or at arc length x of a rod (0 to its length), with offset `shift`.
void snw_observer_at_seg(snw_observer *o, int seg, snw_se3 shift);
void snw_observer_at_section(const snw_model *m, snw_observer *o, int rod, double x, snw_se3 shift);

// Motion at s, after snw_kinematics with the same inputs, not static.
void snw_observer_motion(const snw_model *m, const snw_inputs *in, const snw_state *s,
                         const snw_work *w, snw_observer *o);
// Jacobian and its rate, after snw_observer_motion and snw_jacobian_pass.
void snw_observer_jacobian(const snw_model *m, const snw_work *w, snw_observer *o);
