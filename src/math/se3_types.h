// SPDX-License-Identifier: MIT
//
// se3_types.h: types of vectors, rotations, rigid motions, twists and wrenches; se3.h has their
// operations.
#pragma once

#ifdef __cplusplus
#include "math/se3_types.hpp"
#else

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

// Moment and force, an element of the dual of se(3). It has a type of its own so that adding a
// wrench to a twist does not compile.
typedef union snw_wrench {
    struct {
        snw_vec3 m, f; // moment, force
    };
    double e[6];
} snw_wrench;

// w + x i + y j + z k, unit length; q and -q represent the same rotation.
typedef union snw_quat {
    struct {
        double w, x, y, z;
    };
    double e[4];
} snw_quat;
#endif
