// SPDX-License-Identifier: MIT
//
// se3_types.h: vectors, rotations and rigid motions as numbers; se3.h says what is done with them.
#pragma once

typedef union snw_vec3 {
    struct {
        double x, y, z;
    };
    double e[3];
} snw_vec3;

typedef struct snw_mat3 {
    double e[3][3];
} snw_mat3;

// Rigid motion, an element of SE(3).
typedef struct snw_se3 {
    snw_mat3 R;
    snw_vec3 p;
} snw_se3;

// Velocity or strain, an element of se(3).
typedef union snw_twist {
    struct {
        snw_vec3 w, v; // angular, linear
    };
    double e[6];
} snw_twist;

// Force, an element of the dual of se(3). A different type on purpose: adding a wrench to a twist
// must not compile.
typedef union snw_wrench {
    struct {
        snw_vec3 m, f; // moment, force
    };
    double e[6];
} snw_wrench;

// w + x i + y j + z k, of unit length; q and -q are the same rotation.
typedef union snw_quat {
    struct {
        double w, x, y, z;
    };
    double e[4];
} snw_quat;
