// SPDX-License-Identifier: MIT
//
// nested_bands.h: least-squares projections between a basis on elements and a richer one, by the
// bands of their Gram matrices: time and memory are linear in the number of elements. For the
// estimate of truncation errors of local models, theory.md 5.1
#pragma once

#include "base/pool.h"
#include "math/basis.h"
#include "sinew/status.h"

typedef struct snw_nested_bands snw_nested_bands;

// The elements of `rich` subdivide those of b. Memory is that of the pool.
SNW_NODISCARD snw_status snw_nested_bands_create(snw_pool *pool, const snw_basis *rich,
                                                 const snw_basis *b, snw_nested_bands **out);

// to (functions of `rich`) <- P from: coordinates of the same field.
void snw_nested_bands_embed(const snw_nested_bands *x, const double *from, double *to);

// to <- C d, C = 1 - P P+: the part of a richer field that b cannot represent. to and d differ.
void snw_nested_bands_cut(const snw_nested_bands *x, const double *d, double *to);
// r <- C' r
void snw_nested_bands_cut_transposed(const snw_nested_bands *x, double *r);
