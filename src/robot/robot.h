// SPDX-License-Identifier: MIT
//
// robot.h: making the public robot from a description.
#pragma once

#include "model/desc.h"
#include "sinew/robot.h"

#include <stdint.h>

// The description must live until the robot is closed; `release(owner)` is then called (may be
// NULL), also when this fails.
SNW_NODISCARD snw_status snw_robot_create(const snw_desc *desc, void (*release)(void *owner),
                                          void *owner, snw_robot **out, snw_error *err);
// States saved by robots with the same identity are taken; 0, as it begins, is one like others.
void snw_robot_identify(snw_robot *r, uint64_t identity);
