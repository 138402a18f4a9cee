// SPDX-License-Identifier: MIT
//
// nested.h: strain bases that contain others, and the same fields in both. theory.md 5.1.
#pragma once

#include "base/pool.h"
#include "math/basis.h"
#include "sinew/status.h"

#include <stdbool.h>

// *out <- a basis that holds all fields of b, and more: a few functions more of a global one;
// elements cut in two or three, and a degree more where continuous functions of that degree hold
// those of the other, and it may be generous.
SNW_NODISCARD snw_status snw_nested_enrich(snw_pool *pool, const snw_basis *b, bool generous,
                                           snw_basis *out);

// *out (to x from) <- least squares coordinates in `to` of the functions of `from`; `fine`: of both
// the one whose elements lie within those of the other.
SNW_NODISCARD snw_status snw_nested_projection(snw_pool *pool, const snw_basis *to,
                                               const snw_basis *from, const snw_basis *fine,
                                               double **out);

// *cut (rich x rich) <- 1 - up down: what of a richer field a basis with n functions does not hold.
SNW_NODISCARD snw_status snw_nested_remainder(snw_pool *pool, const double *up, const double *down,
                                              int n, int rich, double **cut);

// The element of b in which x (of the length) lies.
int snw_nested_element(const snw_basis *b, double x);
