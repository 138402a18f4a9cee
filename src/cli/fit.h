// SPDX-License-Identifier: MIT
//
// fit.h: the two uses of `sinew fit`; each returns the exit status.
#pragma once

#include "cli/args.h"

// --find: parameters of a model from what its probes were measured to show.
int snw_fit_values(const snw_args *args, snw_reply *reply);

// --shape: coordinates of a rod from points measured along it.
int snw_fit_shape(const snw_args *args, snw_reply *reply);
