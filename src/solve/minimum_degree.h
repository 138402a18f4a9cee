// SPDX-License-Identifier: MIT
//
// minimum_degree.h: order in which the unknowns of a sparse symmetric pattern are eliminated: the
// one that couples with the fewest others, fill-in included, comes next; of equals that with the
// smallest number.
#pragma once

#include "sinew/status.h"

#include <stdbool.h>

// Column j has entries in the rows row[start[j]] .. row[start[j + 1] - 1]; the pattern is
// symmetric. `bound` (NULL: none) as for snw_sparse_create. order (n) <- the unknown of each step,
// degree (n) <- the number of others that it couples with then. Memory is linear in the entries of
// the pattern and of the factors.
SNW_NODISCARD snw_status snw_minimum_degree(int n, const int *start, const int *row,
                                            const bool *bound, int *order, int *degree);
