// SPDX-License-Identifier: MIT
//
// model_arrays_compare.h: comparison of two models, for model_arrays.c.
#pragma once

#include "model/model.h"

// Do the equations of two models of one robot differ in the numbers of model_arrays.h only, with
// `geometry` in those of model_geometry.h, too? False also where that is not known.
bool snw_models_differ_in_arrays(const snw_model *m, const snw_model *other, bool geometry,
                                 bool motions);
// Have such models the same coefficients of contacts?
bool snw_models_touch_alike(const snw_model *m, const snw_model *other);
