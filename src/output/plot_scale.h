// SPDX-License-Identifier: MIT
//
// plot_scale.h: ticks of an axis, SI prefixes, and their texts.
#pragma once

#include <stddef.h>

// Ticks first, first + step, .., n of them; the step is 1, 2 or 5 times a power of ten.
typedef struct snw_ticks {
    int n;
    double first, step;
    int decimals; // needed to distinguish them
    int log;      // 0: linear; 1: powers of ten; 3: consecutive terms of 1, 2, 5, 10, 20, ..
} snw_ticks;

// Round numbers in [lo, hi], at most `most` >= 2 of them; lo < hi, both finite.
snw_ticks snw_ticks_make(double lo, double hi, int most);

// The same between base-10 logarithms: 1, 2, 5 of each decade where these are few, else powers of
// ten.
snw_ticks snw_ticks_log(double lo, double hi, int most);

// Ticks of another range with the step of `k`.
snw_ticks snw_ticks_like(const snw_ticks *k, double lo, double hi);

enum { SNW_TICK_SIZE = 40 };

double snw_tick_value(const snw_ticks *k, int i); // the logarithm when k->log
void snw_tick_text(const snw_ticks *k, int i,
                   char text[SNW_TICK_SIZE]); // with the minus sign U+2212

// A number with four digits, and with that minus sign.
void snw_shown_number(double x, char text[SNW_TICK_SIZE]);

// Scale of a unit: shown value = SI value / size.
typedef struct snw_unit_scale {
    double size;
    char unit[48]; // "mm", "kPa", "10⁻³", "10³ 1/m"; empty for plain numbers
} snw_unit_scale;

// Scale for SI values up to `largest` in magnitude, with the unit written as in snw_dim_unit. The
// largest shown number is in [0.5, 500) where the unit takes an SI prefix; otherwise the unit text
// has a power of ten.
snw_unit_scale snw_unit_scale_make(const char *unit, double largest);
