// SPDX-License-Identifier: MIT
//
// sinew.h: all of Sinew's library in one include.
#pragma once

#include "sinew/robot.h"
#include "sinew/status.h"
#include "sinew/version.h"
