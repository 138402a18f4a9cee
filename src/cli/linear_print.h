// SPDX-License-Identifier: MIT
//
// linear_print.h: linear models as text and as JSON, for several commands.
#pragma once

#include "output/json_field.h"
#include "sinew/linear.h"

// All of a model: signals, matrices, poles.
void snw_linear_print(const snw_linear_model *m);
void snw_linear_print_poles(const snw_linear_model *m);
// The same as fields of the present object.
void snw_linear_json(snw_json *j, const snw_linear_model *m);
// The model of a step of a study: its sizes and poles; as an object of a list, all of it.
void snw_linear_print_step(const snw_linear_model *m, const char *step);
void snw_linear_json_step(snw_json *j, const snw_linear_model *m, const char *step);
