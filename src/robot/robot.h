// SPDX-License-Identifier: MIT
//
// robot.h: construction of the public robot (sinew/robot.h) from a description.
#pragma once

#include "model/desc.h"
#include "sinew/robot.h"

// The description must live until the robot is closed; `release(owner)` is then called (may be
// NULL), also when this fails.
SNW_NODISCARD snw_status snw_robot_create(const snw_desc *desc, void (*release)(void *owner),
                                          void *owner, snw_robot **out, snw_error *err);
