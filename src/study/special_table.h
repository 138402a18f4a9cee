// SPDX-License-Identifier: MIT
//
// special_table.h: table of the special points of a path step.
#pragma once

#include "study/equilibria.h"

typedef struct snw_special_point {
    snw_special kind;
    int number;       // of its kind, from 1
    int path;         // from 1
    double t, arc;    // the parameter, s or SI units; arc length from the start of the path
    int multiplicity; // of a bifurcation
    int negative;     // unstable directions there
    double frequency; // flutter: Hz; else NaN
    double derivative[SNW_PARAMETERS]; // of a fold, dt/dm in SI units
    const char *moves; // coordinate that moves most in its mode: "arm.bend_z.0"; NULL: none
} snw_special_point;

typedef struct snw_special_table {
    int n;
    const snw_special_point *point;
    const char *name; // of the parameter of the path, "t" or a constant; NULL: not known
    int nparameter;   // of the derivatives
    const snw_parameter_desc *parameter;
    int points, paths; // equilibria found, and paths
} snw_special_table;
