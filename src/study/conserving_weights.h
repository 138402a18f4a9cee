// SPDX-License-Identifier: MIT
//
// conserving_weights.h: weights W of the coordinates in the energy correction of the conserving
// scheme (theory.md 6.3) as functions of other numbers of the model: the stiffness of a rod or a
// joint, or a typical energy over the square of a typical coordinate. Part of model_arrays.h.
#pragma once

#include "model/model.h"

// The number to which a weight is proportional: entry (at, at) of the stiffness of rod `of`, the
// stiffness of spring `of`, the mass of all segments, a constant.
typedef enum snw_weight_kind {
    SNW_WEIGHT_OF_ROD,
    SNW_WEIGHT_OF_SPRING,
    SNW_WEIGHT_OF_MASS,
    SNW_WEIGHT_CONSTANT,
    SNW_WEIGHT_OF_OTHERS // not known: the typical energy is that of a force element
} snw_weight_kind;

typedef struct snw_weight_source {
    snw_weight_kind kind;
    int of, at;
    double factor; // weight over the number
} snw_weight_source;

// Source of the weight of a coordinate.
snw_weight_source snw_conserving_weight_source(const snw_model *m, int dof);
// Do the weights of two models follow from the sources of m by the numbers of each? Those of roots
// that the correction leaves out are not compared.
bool snw_conserving_weights_alike(const snw_model *m, const snw_model *other);
