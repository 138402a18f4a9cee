// SPDX-License-Identifier: MIT
//
// single.h: single shooting by a minimiser of the residual, for initial guesses from which Newton's
// method does not converge.
#pragma once

#include "shoot/boundary.h"

// As snw_boundary_solve, for kinds SNW_BOUNDARY_LEVENBERG and SNW_BOUNDARY_DOGLEG. Call after
// snw_boundary_begin, with one segment.
SNW_NODISCARD snw_status snw_single_solve(snw_boundary *b, snw_boundary_info *info);
