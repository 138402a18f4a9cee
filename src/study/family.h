// SPDX-License-Identifier: MIT
//
// family.h: robots that differ in the value of one parameter of the file, read and compiled on
// demand, for paths and curves of folds in that parameter.
#pragma once

#include "study/statics.h"

typedef struct snw_member {
    snw_desc *desc;
    snw_model *model; // NULL: none
    snw_statics *st;
    double value;
} snw_member;

// *out <- the robot with this value (SI units) of parameter k of the path, which has the
// coordinates and constraint rows of `like` and its signals; nothing is done if it is that already.
// An earlier one is freed. Allocates. SNW_E_MODEL: other coordinates, nodes or rows; failures of
// reading and compiling are passed on.
SNW_NODISCARD snw_status snw_member_at(const snw_path_desc *path, int k, double value,
                                       const snw_statics *like, snw_member *out, snw_error *err);
void snw_member_free(snw_member *member);
