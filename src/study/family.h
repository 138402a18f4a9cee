// SPDX-License-Identifier: MIT
//
// family.h: robots that differ in the value of one parameter of the file, read and compiled on
// demand, for paths and curves of folds in that parameter.
#pragma once

#include "study/statics.h"

// Do both have the same coordinates, nodes and rows, so that a configuration of one is one of the
// other?
bool snw_same_unknowns(const snw_model *a, const snw_model *b);

typedef struct snw_member {
    snw_desc *desc;
    snw_model *model; // NULL: none
    snw_statics *st;
    double value;
} snw_member;

// out->desc, out->model <- the robot with these values (SI units) of the n parameters k; the
// caller frees it, also after a failure. SNW_E_MODEL: other coordinates, nodes or rows than `like`;
// failures of reading and compiling are passed on.
SNW_NODISCARD snw_status snw_member_compile(const snw_desc_family *family, int n, const int *k,
                                            const double *value, const snw_model *like,
                                            snw_member *out, snw_error *err);

// *out <- the robot with this value (SI units) of parameter k of the path, which has the
// coordinates and constraint rows of `like` and its signals; nothing is done if it is that already.
// An earlier one is freed. Allocates. SNW_E_MODEL: other coordinates, nodes or rows; failures of
// reading and compiling are passed on.
SNW_NODISCARD snw_status snw_member_at(const snw_path_desc *path, int k, double value,
                                       const snw_statics *like, snw_member *out, snw_error *err);
void snw_member_free(snw_member *member);
