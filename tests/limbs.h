// SPDX-License-Identifier: MIT
//
// limbs.h: a parallel robot of n identical flexible limbs, for tests and benchmarks.
#pragma once

// Limbs of twelve coordinates hang from the ceiling. Spherical joints close them on a free
// platform, on which a varying force acts. The file describes the limbs straight and closed.
// Parameter n.
static const char limbs_text[] =
    "sinew: 1\n"
    "parameters: {n: 2}\n"
    "materials: {rubber: {young: 2 MPa, poisson: 0.45, density: 1000, damping: 2 ms}}\n"
    "robot:\n"
    "  platform: {on: world, pose: {xyz: [0, 0, -1]}, joint: free, body: {mass: 0.1 kg*n, inertia: "
    "[4e-3*n, 4e-3*n, 8e-3*n]}}\n"
    "  limb(k=1..n):\n"
    "    on: world\n"
    "    pose: {xyz: [0.3*cos(2*pi*k/n), 0.3*sin(2*pi*k/n), 0], x: -z}\n"
    "    joint: universal\n"
    "    rod: {length: 1, section: {circle: {radius: 6 mm}}, material: rubber, nodes: 10, strain: "
    "{bend_y: legendre 4, bend_z: legendre 4, twist: legendre 1, stretch: legendre 1}}\n"
    "sites: {seat(k=1..n): {on: platform, pose: {xyz: [0.3*cos(2*pi*k/n), 0.3*sin(2*pi*k/n), "
    "0]}}}\n"
    "loops: {tip(k=1..n): {join: [limb(k).tip, seat(k)], as: spherical}}\n"
    "loads: {push: {on: platform, force: [0.3*n*sin(3*t), 0.2*n*sin(2*t), 0.3*n*sin(4*t)], torque: "
    "[0, 0, 0.02*n*sin(5*t)]}}\n"
    "study: [dynamic: {for: 1 s, step: 5 ms}]\n";
