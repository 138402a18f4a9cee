// SPDX-License-Identifier: MIT
//
// single.h: single shooting by a minimiser of the residual, for guesses that Newton cannot use.
#pragma once

#include "shoot/boundary.h"

// As snw_boundary_solve, for kinds SNW_BOUNDARY_LEVENBERG and SNW_BOUNDARY_DOGLEG; segments are cut
// (one) and started.
SNW_NODISCARD snw_status snw_single_solve(snw_boundary *b, snw_boundary_info *info);
