// SPDX-License-Identifier: MIT
//
// sinew.h: all public headers of Sinew.
#pragma once

#include "sinew/batch.h"
#include "sinew/device_batch.h"
#include "sinew/estimate.h"
#include "sinew/fit.h"
#include "sinew/gradient.h"
#include "sinew/import.h"
#include "sinew/inverse.h"
#include "sinew/linear.h"
#include "sinew/model.h"
#include "sinew/optimize.h"
#include "sinew/robot.h"
#include "sinew/status.h"
#include "sinew/step_map.h"
#include "sinew/study.h"
#include "sinew/sweep.h"
#include "sinew/track.h"
#include "sinew/version.h"
#include "sinew/workspace.h"
