// SPDX-License-Identifier: MIT
//
// robots.h: robots of several benchmarks: a rod, a chain of n hinges, a humanoid of 29 degrees of
// freedom; in motion.
#pragma once

#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// twist and two bendings with three Legendre functions each, nine coordinates, clamped
#define SOFT_ROD(strain)                                                                           \
    "sinew: 1\n"                                                                                   \
    "materials: {soft: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3}}\n"                      \
    "robot:\n"                                                                                     \
    "  arm: {on: world, rod: {length: 0.5 m, section: {circle: {radius: 1 cm}}, material: soft, "  \
    "strain: " strain ", nodes: 20}}\n"
static const char rod_text[] = SOFT_ROD("kirchhoff legendre 3");
// the same with twelve functions each, 36 coordinates; and bending in one plane, four coordinates
static const char rod36_text[] = SOFT_ROD("kirchhoff legendre 12");
static const char plane_text[] = SOFT_ROD("{bend_y: legendre 4}");

static const char chain_text[] =
    "sinew: 1\n"
    "parameters: {n: 20}\n"
    "robot:\n"
    "  link(1): {on: world, joint: revolute, axis: y, body: {box: [10 cm, 2 cm, 2 cm], mass: 0.1 "
    "kg, com: [5 cm, 0, 0]}}\n"
    "  link(k=2..n): {on: link(k - 1), pose: {xyz: [10 cm, 0, 0]}, joint: revolute, axis: [0, k "
    "- 2*floor(k/2), 1 - k + 2*floor(k/2)], body: {box: [10 cm, 2 cm, 2 cm], mass: 0.1 kg, com: "
    "[5 cm, 0, 0]}}\n";

// six coordinates of the trunk, three of the waist, six of each leg, four of each arm
#define LIMB(name, on, xyz, axis, length)                                                          \
    "  " name ": {on: " on ", pose: {xyz: " xyz "}, joint: revolute, axis: " axis                  \
    ", body: {box: [6 cm, 6 cm, " length "], mass: 2 kg, com: [0, 0, -" length "/2]}}\n"
#define LEG(s, side)                                                                               \
    LIMB("hip_x" s, "trunk", "[0, " side "10 cm, 0]", "x", "5 cm")                                 \
    LIMB("hip_y" s, "hip_x" s, "[0, 0, 0]", "y", "5 cm")                                           \
    LIMB("hip_z" s, "hip_y" s, "[0, 0, 0]", "z", "40 cm")                                          \
    LIMB("knee" s, "hip_z" s, "[0, 0, -40 cm]", "y", "40 cm")                                      \
    LIMB("ankle" s, "knee" s, "[0, 0, -40 cm]", "y", "4 cm")                                       \
    LIMB("foot" s, "ankle" s, "[0, 0, 0]", "x", "6 cm")
#define ARM(s, side)                                                                               \
    LIMB("shoulder_y" s, "chest", "[0, " side "20 cm, 40 cm]", "y", "5 cm")                        \
    LIMB("shoulder_x" s, "shoulder_y" s, "[0, 0, 0]", "x", "30 cm")                                \
    LIMB("elbow" s, "shoulder_x" s, "[0, 0, -30 cm]", "y", "30 cm")                                \
    LIMB("wrist" s, "elbow" s, "[0, 0, -30 cm]", "z", "10 cm")
static const char humanoid_text[] =
    "sinew: 1\n"
    "robot:\n"
    "  trunk: {on: world, joint: free, body: {box: [20 cm, 30 cm, 20 cm], mass: 10 kg}}\n" LIMB(
        "waist_z", "trunk", "[0, 0, 10 cm]", "z", "5 cm")
        LIMB("waist_y", "waist_z", "[0, 0, 5 cm]", "y", "5 cm")
            LIMB("chest", "waist_y", "[0, 0, 5 cm]", "x", "40 cm") LEG("_l", "") LEG("_r", "-")
                ARM("_l", "") ARM("_r", "-");

static inline void robots_must(snw_status s, const snw_error *err) {
    if (s == SNW_OK) return;
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

// A robot in motion, away from its initial configuration; n links of the chain (0: another robot).
static inline snw_robot *robots_open(const char *text, int n) {
    char set[32];
    snprintf(set, sizeof set, "n=%d", n);
    const char *const list[] = {set};
    snw_error err = {0};
    snw_robot *r = NULL;
    robots_must(snw_robot_parse("bench", text, strlen(text), NULL, n > 0, list, &r, &err), &err);
    const int nv = snw_robot_nv(r);
    double *dx = calloc((size_t)nv, sizeof *dx);
    if (!dx) abort();
    for (int i = 0; i < nv; i++) {
        dx[i] = 0.3 * sin(3 * i + 1);
        snw_robot_v(r)[i] = 0.2 * cos(2 * i);
        snw_robot_a(r)[i] = 0.4 * sin(5 * i);
    }
    robots_must(snw_robot_move(r, dx), snw_robot_error(r));
    free(dx);
    return r;
}
