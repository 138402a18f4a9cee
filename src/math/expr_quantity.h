// SPDX-License-Identifier: MIT
//
// expr_quantity.h: dimension of an expression during parsing.
//
// A plain number is SI and compatible with every dimension. The variables t, x, L and probes are
// plain as well, but in a product with a quantity that has a unit they may count as a number or
// with their own dimension. Each exponent is therefore an interval, s^0..1 for t, m^0..1 for x and
// L. Products add intervals, powers scale them, sums and comparisons intersect them; an empty
// intersection is an error.
#pragma once

#include "math/expr.h"

enum { SNW_NDIM = 6 };

typedef struct snw_quantity {
    bool truth;         // a condition; the other fields are undefined then
    bool plain;         // no unit in the expression: compatible with every dimension
    float lo[SNW_NDIM]; // bounds of the exponents, in the order of snw_dim
    float hi[SNW_NDIM];
    float nominal[SNW_NDIM]; // exponents if t, x, L have their own dimensions; for messages
} snw_quantity;

snw_quantity snw_quantity_plain(void);
snw_quantity snw_quantity_truth(void);
snw_quantity snw_quantity_any(void); // argument of a function that is checked without a call
snw_quantity snw_quantity_of(snw_dim d);
snw_quantity snw_quantity_var(snw_var v);
snw_quantity snw_quantity_signal(snw_dim d); // plain or of dimension d, as t, x and L are

// a*b for sign 1, a/b for sign -1.
snw_quantity snw_quantity_times(snw_quantity a, snw_quantity b, int sign);
snw_quantity snw_quantity_power(snw_quantity a, double exponent);

// *out <- dimension of a + b; false when a and b are incompatible.
bool snw_quantity_join(snw_quantity a, snw_quantity b, snw_quantity *out);
bool snw_quantity_fits(snw_quantity q, snw_dim d);

// The dimension; SNW_DIM_NONE when q is plain or its exponents are not integers.
snw_dim snw_quantity_dim(snw_quantity q);

// "a length (m)", "a condition", "a plain number", "m^0.5".
void snw_quantity_phrase(snw_quantity q, char *out, size_t size);
