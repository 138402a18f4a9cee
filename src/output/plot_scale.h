// SPDX-License-Identifier: MIT
//
// plot_scale.h: numbers along an axis: round steps, SI prefixes, and how both are written.
#pragma once

#include <stddef.h>

// Marks first, first + step, .., n of them; the step is 1, 2 or 5 times a power of ten.
typedef struct snw_ticks {
    int n;
    double first, step;
    int decimals; // that tell them apart
    int log; // 0: none; 1: they are powers of ten; 3: the first one and on of 1, 2, 5, 10, 20, ..
} snw_ticks;

// The round numbers in [lo, hi], at most `most` >= 2 of them; lo < hi, both finite.
snw_ticks snw_ticks_make(double lo, double hi, int most);

// The same between logarithms to base ten: 1, 2, 5 of each decade where there are few, else powers
// of ten.
snw_ticks snw_ticks_log(double lo, double hi, int most);

// Those of another range with the step of `k`.
snw_ticks snw_ticks_like(const snw_ticks *k, double lo, double hi);

enum { SNW_TICK_SIZE = 40 };

double snw_tick_value(const snw_ticks *k, int i); // the logarithm, where they are of these
void snw_tick_text(const snw_ticks *k, int i, char text[SNW_TICK_SIZE]); // with a true minus

// How values of one unit are shown: shown = value / size.
typedef struct snw_unit_scale {
    double size;
    char unit[48]; // "mm", "kPa", "10⁻³", "10³ 1/m"; empty for plain numbers
} snw_unit_scale;

// For SI values up to `largest` in magnitude, whose unit is written as in snw_dim_unit: shown
// numbers reach 0.5 and stay below 500 where the unit has a prefix for it, and stand before a power
// of ten where it has none.
snw_unit_scale snw_unit_scale_make(const char *unit, double largest);
