// SPDX-License-Identifier: MIT
//
// Table of the kinds of force elements: names, properties, how they act.
#include "model/force_element_kind.h"

const snw_force_element_type snw_force_element_table[SNW_ELEMENT_COUNT] = {
    [SNW_ELEMENT_SPRING] = {.name = "spring",
                            .meaning =
                                "pulls when longer than its rest length, pushes when shorter",
                            .options = SNW_ELEMENT_TAKES_REST | SNW_ELEMENT_TAKES_FORCE |
                                       SNW_ELEMENT_TAKES_STIFFNESS},
    [SNW_ELEMENT_CABLE] = {.name = "cable",
                           .meaning = "pulls when longer than its rest length, else slack",
                           .options = SNW_ELEMENT_TAKES_REST | SNW_ELEMENT_TAKES_STIFFNESS |
                                      SNW_ELEMENT_TAKES_RESTITUTION,
                           .one_sided = true},
    [SNW_ELEMENT_DAMPER] = {.name = "damper",
                            .meaning = "resists the rate of its length",
                            .options = SNW_ELEMENT_NEEDS_DAMPING},
    [SNW_ELEMENT_BUSHING] = {
        .name = "bushing",
        .meaning = "resists displacement and rotation of the second site in the first",
        .options = SNW_ELEMENT_TAKES_STIFFNESS,
        .frames = true}};
