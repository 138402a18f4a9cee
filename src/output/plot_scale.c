// SPDX-License-Identifier: MIT
//
// Ticks with round steps on linear and logarithmic axes, and SI prefixes of units.
#include "output/plot_scale.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- texts -------------------------------------------------------------------------------------

static const char *const superscript[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};

static void plot_scale_append(char *out, size_t size, const char *text) {
    const size_t used = strlen(out);
    (void)snprintf(out + used, size - used, "%s", text);
}

static void append_ten(char *out, size_t size, int exponent) {
    char digits[16];
    (void)snprintf(digits, sizeof digits, "%d", exponent < 0 ? -exponent : exponent);
    plot_scale_append(out, size, exponent < 0 ? "10⁻" : "10");
    for (const char *c = digits; *c; c++) plot_scale_append(out, size, superscript[*c - '0']);
}

// ---- ticks -------------------------------------------------------------------------------------

// Multiples of the step inside the range, with a tolerance for rounding.
static snw_ticks ticks_of(double lo, double hi, double step) {
    const double slack = 1e-9;
    const double from = ceil(lo / step - slack), to = floor(hi / step + slack);
    return (snw_ticks){.n = (int)(to - from) + 1, .first = from * step, .step = step};
}

snw_ticks snw_ticks_make(double lo, double hi, int most) {
    static const int digit[] = {1, 2, 5};
    // start below any suitable step; one is found within three decades
    const int power = (int)floor(log10((hi - lo) / most)) - 1;
    for (int i = 0;; i++) {
        const int decade = power + i / 3;
        const double step = digit[i % 3] * pow(10, decade);
        if ((hi - lo) / step > most + 1) continue;
        snw_ticks k = ticks_of(lo, hi, step);
        if (k.n > most) continue;
        k.decimals = decade < 0 ? -decade : 0;
        return k;
    }
}

snw_ticks snw_ticks_like(const snw_ticks *k, double lo, double hi) {
    snw_ticks out = ticks_of(lo, hi, k->step);
    out.decimals = k->decimals;
    return out;
}

// Digit and *power of ten of the m-th term of 1, 2, 5, 10, 20, ..
static int digit_of(int m, int *power) {
    static const int digit[] = {1, 2, 5};
    *power = (int)floor(m / 3.0);
    return digit[m - 3 * *power];
}

static double log_of(int m) {
    int power;
    const int digit = digit_of(m, &power);
    return power + log10(digit);
}

snw_ticks snw_ticks_log(double lo, double hi, int most) {
    const double slack = 1e-9;
    int first = 3 * (int)floor(lo), n = 0;
    while (log_of(first) < lo - slack) first++;
    while (log_of(first + n) <= hi + slack) n++;
    snw_ticks k = snw_ticks_make(lo, hi, most);
    if (k.step < 1) k = ticks_of(lo, hi, 1);
    k.decimals = 0;
    k.log = 1;
    // one power of ten is not enough: use 1, 2, 5
    if (n <= most || k.n < 2) k = (snw_ticks){.n = n, .first = first, .step = 1, .log = 3};
    return k;
}

double snw_tick_value(const snw_ticks *k, int i) {
    if (k->log == 3) return log_of((int)k->first + i);
    // integer multiples of the step, so that zero is exact
    return (round(k->first / k->step) + i) * k->step;
}

void snw_tick_text(const snw_ticks *k, int i, char text[SNW_TICK_SIZE]) {
    const double value = snw_tick_value(k, i);
    if (k->log) {
        int power = (int)lround(value);
        const int digit = k->log == 3 ? digit_of((int)k->first + i, &power) : 1;
        text[0] = '\0';
        if (k->log == 3 && abs(power) < 4) {
            (void)snprintf(text, SNW_TICK_SIZE, "%g", digit * pow(10, power));
            return;
        }
        if (digit > 1) (void)snprintf(text, SNW_TICK_SIZE, "%d\u00b7", digit);
        append_ten(text, SNW_TICK_SIZE, power);
        return;
    }
    (void)snprintf(text, SNW_TICK_SIZE, "%s%.*f", value < 0 ? "\u2212" : "", k->decimals,
                   fabs(value));
}

void snw_shown_number(double x, char text[SNW_TICK_SIZE]) {
    char plain[SNW_TICK_SIZE / 2]; // two signs at most, of three bytes each
    (void)snprintf(plain, sizeof plain, "%.4g", x == 0 ? 0 : x);
    text[0] = '\0';
    for (const char *c = plain; *c; c++) {
        const char same[] = {*c, '\0'};
        plot_scale_append(text, SNW_TICK_SIZE, *c == '-' ? "\u2212" : same);
    }
}

// ---- units -------------------------------------------------------------------------------------

// Unit "N*m^2/s" in typographic form, "N·m²/s".
static void append_unit(char *out, size_t size, const char *unit) {
    for (const char *c = unit; *c; c++) {
        const char same[] = {*c, '\0'};
        const bool power = *c == '^' && c[1] >= '0' && c[1] <= '9';
        plot_scale_append(out, size, power ? superscript[c[1] - '0'] : *c == '*' ? "·" : same);
        if (power) c++;
    }
}

// Does an SI prefix before the unit scale it linearly?
static bool takes_prefix(const char *unit) {
    static const char *const those[] = {"m",  "N",   "Pa",    "J",   "W",   "s",
                                        "Hz", "rad", "rad/s", "N*m", "m/s", "m/s^2"};
    for (size_t i = 0; i < sizeof those / sizeof *those; i++) {
        if (strcmp(unit, those[i]) == 0) return true;
    }
    return false;
}

// Power of 1000 that brings `largest` into [0.5, 500).
static int thousands(double largest) {
    if (!(largest > 0) || !isfinite(largest)) return 0;
    return (int)floor(log10(largest * 2) / 3 + 1e-12);
}

snw_unit_scale snw_unit_scale_make(const char *unit, double largest) {
    static const char *const prefix[] = {"n", "µ", "m", "", "k", "M", "G"};
    snw_unit_scale s = {.size = 1};
    int k = thousands(largest);
    if (strcmp(unit, "m^3") == 0) {
        // the prefix is cubed with the metre
        const bool cm = largest < 5e-4, mm = largest < 5e-7;
        s.size = mm ? 1e-9 : cm ? 1e-6 : 1;
        (void)snprintf(s.unit, sizeof s.unit, "%s³", mm ? "mm" : cm ? "cm" : "m");
        return s;
    }
    if (strcmp(unit, "kg") == 0) {
        // the prefix is that of the gram
        k = thousands(1000 * largest);
        k = k > 1 ? 1 : k < -3 ? -3 : k;
        s.size = pow(10, 3 * k - 3);
        (void)snprintf(s.unit, sizeof s.unit, "%sg", prefix[k + 3]);
        return s;
    }
    // no prefixes above one for angles and times
    const bool small = strcmp(unit, "s") == 0 || strncmp(unit, "rad", 3) == 0;
    if (small && k > 0) k = 0;
    if (takes_prefix(unit) && k >= -3 && k <= 3) {
        s.size = pow(10, 3 * k);
        (void)snprintf(s.unit, sizeof s.unit, "%s", prefix[k + 3]);
        append_unit(s.unit, sizeof s.unit, unit);
        return s;
    }
    // numbers from hundredths to thousands need no power of ten
    if (largest >= 0.05 && largest < 5e4) k = 0;
    if (k != 0) {
        s.size = pow(10, 3 * k);
        append_ten(s.unit, sizeof s.unit, 3 * k);
        if (unit[0]) plot_scale_append(s.unit, sizeof s.unit, " ");
    }
    append_unit(s.unit, sizeof s.unit, unit);
    return s;
}
