// SPDX-License-Identifier: MIT
//
// led_rod.h: the planar rod of B4.11, clamped at both ends, whose tip is led along a line of poses;
// its statics solved directly.
#pragma once

#include "closed_robot.h"

#include "study/statics.h"

// L = 1 m, EI = 1, EA = 100, damping 0.1 of both, weight 2 N/m; the goal moves in the first second.
#define LED_ROD                                                                                    \
    "sinew: 1\ngravity: 0\n"                                                                       \
    "parameters: {part: 'min(t/(1 s), 1)'}\n"                                                      \
    "robot: {rod: {on: world, rod: {length: 1, nodes: 48, magnus: 6, section: {stiffness: "        \
    "{bend_z: 1, stretch: 100}, damping: {bend_z: 0.1, stretch: 10}}, strain: {bend_z: legendre "  \
    "4, stretch: legendre 2}}}}\n"                                                                 \
    "loads: {weight: {along: rod, force: [0, -2 N/m, 0], frame: world}}\n"                         \
    "loops: {clamp: {join: [world, rod.tip], as: fixed, pose: {xyz: [1 m - 0.2 m*part, 0.1 "       \
    "m*part, 0], "                                                                                 \
    "axis: z, angle: 0.3*part}}}\n"

typedef struct led_rod {
    closed_robot c;
    snw_statics *st;
} led_rod;

// Straight and unloaded at t = 0.
static inline void led_rod_open(led_rod *l, const char *text) {
    snw_error err;
    *l = (led_rod){0};
    if (describe(text, &l->c.doc, &l->c.desc, &err) != SNW_OK) fail_msg("%s", err.text);
    closed_robot_compile(&l->c, l->c.desc);
    assert_int_equal(snw_statics_create(l->c.m, &l->st), SNW_OK);
    snw_statics_reset(l->st);
}

static inline void led_rod_close(led_rod *l) {
    snw_statics_destroy(l->st);
    closed_robot_close(&l->c);
}

static inline snw_statics_info led_rod_solve(led_rod *l, double t, const snw_statics_opts *opts) {
    snw_statics_info info;
    snw_error err = {0};
    if (snw_statics_solve(l->st, t, opts, l->c.s, &info, &err) != SNW_OK) fail_msg("%s", err.text);
    return info;
}

// x (9) <- coordinates of bending and stretch, then moment and force of the clamp on the rod, in
// the axes of its tip.
static inline void led_rod_numbers(led_rod *l, double x[9]) {
    const snw_work *w = snw_statics_work_at(l->st, l->c.s);
    const snw_wrench F = snw_loop_wrench(l->c.m, w, 0, l->c.s->lambda);
    for (int i = 0; i < 6; i++) x[i] = l->c.s->q[i];
    x[6] = F.m.z, x[7] = F.f.x, x[8] = F.f.y;
}
