// SPDX-License-Identifier: MIT
//
// nested.h: strain bases that contain others, and projections between them, for the estimate of
// truncation errors. theory.md 5.1
#pragma once

#include "base/pool.h"
#include "math/basis.h"
#include "sinew/status.h"

#include <stdbool.h>

// *out <- basis that represents all fields of b, and more: global bases get more functions;
// elements are split in two or three, and with `generous` get a higher degree where the
// higher-degree functions contain those of b.
SNW_NODISCARD snw_status snw_nested_enrich(snw_pool *pool, const snw_basis *b, bool generous,
                                           snw_basis *out);

// *out (to x from) <- least-squares coordinates in `to` of the functions of `from`; `fine`: the one
// of both whose elements subdivide those of the other.
SNW_NODISCARD snw_status snw_nested_projection(snw_pool *pool, const snw_basis *to,
                                               const snw_basis *from, const snw_basis *fine,
                                               double **out);

// *cut (rich x rich) <- 1 - up down: projector onto the part of a richer field that a basis with n
// functions cannot represent.
SNW_NODISCARD snw_status snw_nested_remainder(snw_pool *pool, const double *up, const double *down,
                                              int n, int rich, double **cut);

// Index of the element of b that contains x (relative to the length).
int snw_nested_element(const snw_basis *b, double x);
