// SPDX-License-Identifier: MIT
//
// random_drop.h: links of random falling robots: a sphere, a box, a cylinder, two links, a rod.
#pragma once

#include "random_rod.h"

#include <math.h>
#include <stdio.h>

// Writes the links of a falling robot, of which `body` touches the ground; *rod <- it is a rod.
// Half widths of bodies are between `least` and 50 mm.
static inline void write_falling_body(dice *d, double least, char *text, size_t size, bool *rod) {
    const double a = roll(d, least, 0.05), b = roll(d, least, 0.05), c = roll(d, least, 0.05);
    const double mass = pow(10, roll(d, -2, 0.5));
    *rod = false;
    switch (pick_int(d, 0, 4)) {
    case 0:
        (void)snprintf(text, size,
                       "  body: {on: world, joint: free, body: {sphere: {radius: %g}, mass: %g}}\n",
                       a, mass);
        break;
    case 1:
        (void)snprintf(text, size,
                       "  body: {on: world, joint: free, body: {box: [%g, %g, %g], mass: %g}}\n",
                       2 * a, 2 * b, 2 * c, mass);
        break;
    case 2:
        (void)snprintf(text, size,
                       "  body: {on: world, joint: free, body: {cylinder: {radius: %g, length: %g, "
                       "axis: x}, mass: %g}}\n",
                       a, 2 * b, mass);
        break;
    case 3: // two links
        (void)snprintf(text, size,
                       "  arm: {on: world, joint: free, body: {box: [%g, 0.02, 0.02], mass: %g}}\n"
                       "  body: {on: arm, pose: {xyz: [%g, 0, 0]}, joint: spherical, body: "
                       "{sphere: {radius: %g}, mass: %g}}\n",
                       2 * a, mass, 2 * a, a, mass);
        break;
    default:
        *rod = true;
        (void)snprintf(text, size,
                       "  body: {on: world, joint: free, rod: {length: %g, section: {circle: "
                       "{radius: %g}}, material: stuff, "
                       "strain: {bend_y: legendre %d, bend_z: legendre 2, twist: legendre 1}, "
                       "nodes: 8}}\n",
                       roll(d, 0.1, 0.5), roll(d, 4e-3, 2e-2), pick_int(d, 1, 4));
    }
}
