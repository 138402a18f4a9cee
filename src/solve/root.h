// SPDX-License-Identifier: MIT
//
// root.h: root of a continuous function of one variable in an interval.
#pragma once

#include "sinew/status.h"

typedef snw_status snw_root_function(void *user, double x, double *value);

// *root <- root of f between a and b, where it has the values fa and fb of opposite sign, to
// `tolerance`, by Brent's method. The last call of f is at the root returned. A failure of f is
// returned.
SNW_NODISCARD snw_status snw_find_root(snw_root_function *f, void *user, double a, double fa,
                                       double b, double fb, double tolerance, double *root);
