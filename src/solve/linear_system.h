// SPDX-License-Identifier: MIT
//
// linear_system.h: poles of x' = A x + B u, y = C x, and the modes that inputs do not reach or
// outputs do not show, by the rank test of Popov, Belevitch and Hautus on left and right
// eigenvectors. Matrices are column major.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"

#include <stdbool.h>

// Scratch taken by snw_system_analyse, in bytes.
size_t snw_system_scratch(int n, int m);

// re, im (n) <- eigenvalues of A by rising modulus, pairs adjacent. unreached, unseen (n): whether
// the mode is lost to the inputs B (n x nu) or to the outputs C (ny x n). Of k equal eigenvalues as
// many are marked as the rank lacks. SNW_E_DIVERGED: A is not finite.
SNW_NODISCARD snw_status snw_system_analyse(int n, const double *A, int nu, const double *B, int ny,
                                            const double *C, snw_arena *scratch, double *re,
                                            double *im, bool *unreached, bool *unseen);
