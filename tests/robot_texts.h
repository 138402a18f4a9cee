// SPDX-License-Identifier: MIT
//
// robot_texts.h: robots in the model language that several tests use.
#pragma once

// A free box, a rod that stretches and shears, a rod with free bending and given twist, a flat rod
// on a spherical joint; a format for printf.
#define SOFT_TREE                                                                                  \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"           \
    "robot:\n"                                                                                     \
    "  base: {on: world, joint: free, body: {box: [0.1, 0.2, 0.3], mass: 4, com: [0.02, -0.03, "   \
    "0.05]}}\n"                                                                                    \
    "  upper: {on: base, rod: {length: 0.5, section: {ellipse: {y: 40 mm + 20 mm*x/L, z: 60 "      \
    "mm}}, "                                                                                       \
    "material: rubber, strain: cosserat legendre 3, rest: {bend_y: 0.5*x/L}}}\n"                   \
    "  lower: {on: upper.tip, rod: {length: 0.4, section: {tube: {radius: 15 mm, inner: 5 mm}}, "  \
    "material: rubber, strain: {bend_y: linear, bend_z: linear, twist: 0.3*sin(3*t)*x}, "          \
    "elements: "                                                                                   \
    "3}}\n"                                                                                        \
    "  side: {on: upper@60%%, pose: {rpy: [10 deg, 20 deg, 30 deg]}, joint: spherical, rod: "      \
    "{length: 0.3, section: {rectangle: {y: 15 mm, z: 40 mm}}, material: rubber, strain: "         \
    "kirchhoff "                                                                                   \
    "legendre 2}}\n"

// A crank, a coupler and a rocker, closed by a pin; sites a and b.
#define FOUR_BAR                                                                                   \
    "robot:\n"                                                                                     \
    "  crank: {on: world, joint: revolute, body: {mass: 1, com: [0.1, 0, 0], inertia: [1e-3, "     \
    "1e-3, "                                                                                       \
    "2e-3]}}\n"                                                                                    \
    "  coupler: {on: crank, pose: {xyz: [0.2, 0, 0]}, joint: revolute, body: {mass: 2, com: "      \
    "[0.25, "                                                                                      \
    "0.05, 0], inertia: [1e-2, 1e-2, 2e-2]}}\n"                                                    \
    "  rocker: {on: world, pose: {xyz: [0.45, 0, 0]}, joint: revolute, body: {mass: 1.5, com: "    \
    "[0.15, 0, 0], inertia: [5e-3, 5e-3, 1e-2]}}\n"                                                \
    "sites: {a: {on: coupler, pose: {xyz: [0.5, 0, 0]}}, b: {on: rocker, pose: {xyz: [0.3, 0, "    \
    "0]}}}\n"                                                                                      \
    "loops: {pin: {join: [a, b], as: revolute}}\n"
