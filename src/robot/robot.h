// SPDX-License-Identifier: MIT
//
// robot.h: construction of the public robot (sinew/robot.h) from a description.
#pragma once

#include "model/desc.h"
#include "sinew/robot.h"

#include <stdint.h>

// The description must live until the robot is closed; `release(owner)` is then called (may be
// NULL), also when this fails.
SNW_NODISCARD snw_status snw_robot_create(const snw_desc *desc, void (*release)(void *owner),
                                          void *owner, snw_robot **out, snw_error *err);
// Identity of the model for saved states: only states of robots with the same identity are
// accepted. Default 0.
void snw_robot_identify(snw_robot *r, uint64_t identity);
