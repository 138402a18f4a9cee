// SPDX-License-Identifier: MIT
//
// force_element_kind.h: kinds of force elements between two sites, one row of a table each. Reader,
// help, checks, probes and scene read these rows; dynamics/force_element.c has their forces.
#pragma once

#include <stdbool.h>

typedef enum snw_force_element_kind {
    SNW_ELEMENT_SPRING,  // pulls or pushes along the line between the sites
    SNW_ELEMENT_CABLE,   // pulls only
    SNW_ELEMENT_DAMPER,  // resists the rate of the distance
    SNW_ELEMENT_BUSHING, // six-axis spring and damper between two frames
    SNW_ELEMENT_COUNT
} snw_force_element_kind;

// Properties of an element in the model language.
enum {
    SNW_ELEMENT_TAKES_REST = 1,        // length at which it is unloaded
    SNW_ELEMENT_TAKES_FORCE = 2,       // law of the elongation instead of a stiffness
    SNW_ELEMENT_TAKES_RESTITUTION = 4, // Hunt-Crossley damping, by a ratio of speeds
    SNW_ELEMENT_TAKES_STIFFNESS = 8,
    SNW_ELEMENT_NEEDS_DAMPING = 16,
};

typedef struct snw_force_element_type {
    const char *name, *meaning; // in the model language
    int options;                // bitwise or of those above
    bool frames;                // acts between frames; else along the line between two points
    bool one_sided;             // pulls only, with smooth onset
} snw_force_element_type;

extern const snw_force_element_type snw_force_element_table[SNW_ELEMENT_COUNT];
