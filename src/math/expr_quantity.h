// SPDX-License-Identifier: MIT
//
// expr_quantity.h: what is known about the dimension of an expression while it is parsed.
//
// A plain number is SI and fits where it stands. The variables t, x, L and probes are plain as
// well, but in a product with something that carries a unit they may count as a number or as what
// they are: so each exponent is an interval, s^0..1 for t, m^0..1 for x and L. Products add
// intervals, powers scale them, sums and comparisons intersect them; an empty intersection is an
// error.
#pragma once

#include "math/expr.h"

enum { SNW_NDIM = 6 };

typedef struct snw_quantity {
    bool truth;         // a condition; the rest is meaningless then
    bool plain;         // no unit anywhere inside: fits everywhere
    float lo[SNW_NDIM]; // exponents lie between these, in the order of snw_dim
    float hi[SNW_NDIM];
    float said[SNW_NDIM]; // with t, x, L taken as what they are; for messages
} snw_quantity;

snw_quantity snw_quantity_plain(void);
snw_quantity snw_quantity_truth(void);
snw_quantity snw_quantity_any(void); // the argument of a function not called yet
snw_quantity snw_quantity_of(snw_dim d);
snw_quantity snw_quantity_var(snw_var v);
snw_quantity snw_quantity_signal(snw_dim d); // plain or what it is, as t, x and L are

// a*b for sign 1, a/b for sign -1.
snw_quantity snw_quantity_times(snw_quantity a, snw_quantity b, int sign);
snw_quantity snw_quantity_power(snw_quantity a, double exponent);

// What a sum of a and b is; false when they do not fit.
bool snw_quantity_join(snw_quantity a, snw_quantity b, snw_quantity *out);
bool snw_quantity_fits(snw_quantity q, snw_dim d);

// The dimension it has; none when it is plain, or its exponents are not whole.
snw_dim snw_quantity_dim(snw_quantity q);

// "a length (m)", "a condition", "a plain number", "m^0.5".
void snw_quantity_phrase(snw_quantity q, char *out, size_t size);
