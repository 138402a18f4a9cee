// SPDX-License-Identifier: MIT
//
// target_error.h: errors of outputs from their targets, theory.md 5.3: differences, and of a
// rotation the vector of the rotation from the target. Outputs are n columns; turns[i] is 3 where a
// rotation vector begins, 4 where a unit quaternion does, else 0.
#pragma once

#include "model/model.h"

// Rotation by its n columns; the n columns of a rotation; rotation vector from A to B.
snw_mat3 snw_target_rotation(int n, const double *x);
void snw_target_columns(int n, snw_mat3 R, double *x);
snw_vec3 snw_target_turn(snw_mat3 A, snw_mat3 B);

// e (n) <- errors of the outputs y; of a rotation three, of a quaternion then 0.
void snw_target_errors(int n, const int *turns, const double *aim, const double *y, double *e);
// de <- their changes with changes dy of y: of rotations T(error)^-1 times the body rotation.
void snw_target_errors_along(int n, const int *turns, const double *aim, const double *y,
                             const double *dy, double *de);
// y_bar += the products of e_bar with these.
void snw_target_errors_back(int n, const int *turns, const double *aim, const double *y,
                            const double *e_bar, double *y_bar);
