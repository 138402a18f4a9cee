// SPDX-License-Identifier: MIT
//
// Tables of dimensions, units and SI prefixes, and the reader of units for the expression parser.
#include "math/units.h"

#include "math/expr_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

// Names of dimensions. The first entry of a dimension is used.
static const struct {
    const char *name, *unit;
    snw_dim dim;
} names[] = {
    {"number or angle", "", {0}},
    {"length", "m", {.m = 1}},
    {"area", "m^2", {.m = 2}},
    {"volume", "m^3", {.m = 3}},
    {"second moment of area", "m^4", {.m = 4}},
    {"mass", "kg", {.kg = 1}},
    {"time", "s", {.s = 1}},
    {"current", "A", {.A = 1}},
    {"temperature", "K", {.K = 1}},
    {"amount of substance", "mol", {.mol = 1}},
    {"speed", "m/s", {.m = 1, .s = -1}},
    {"acceleration", "m/s^2", {.m = 1, .s = -2}},
    {"rate", "1/s", {.s = -1}},
    {"angular acceleration", "1/s^2", {.s = -2}},
    {"curvature", "1/m", {.m = -1}},
    {"force", "N", {.m = 1, .kg = 1, .s = -2}},
    {"torque or energy", "N*m", {.m = 2, .kg = 1, .s = -2}},
    {"power", "W", {.m = 2, .kg = 1, .s = -3}},
    {"pressure", "Pa", {.m = -1, .kg = 1, .s = -2}},
    {"viscosity", "Pa*s", {.m = -1, .kg = 1, .s = -1}},
    {"density", "kg/m^3", {.m = -3, .kg = 1}},
    {"mass per length", "kg/m", {.m = -1, .kg = 1}},
    {"mass per area", "kg/m^2", {.m = -2, .kg = 1}},
    {"moment of inertia", "kg*m^2", {.m = 2, .kg = 1}},
    {"momentum", "kg*m/s", {.m = 1, .kg = 1, .s = -1}},
    {"force per length", "N/m", {.kg = 1, .s = -2}},
    {"bending stiffness", "N*m^2", {.m = 3, .kg = 1, .s = -2}},
    {"damping", "N*s/m", {.kg = 1, .s = -1}},
    {"compliance", "1/N", {.m = -1, .kg = -1, .s = 2}},
    {"magnetic flux density", "T", {.kg = 1, .s = -2, .A = -1}},
    {"magnetic moment", "A*m^2", {.m = 2, .A = 1}},
    {"magnetic moment per length", "A*m", {.m = 1, .A = 1}},
};

// Only prefixes in common use are listed; `min`, `mol` and the like take precedence as whole words.
static const snw_unit units[] = {
    {"m", "metre", 1, 1, {.m = 1}, "kcdmunp"},
    {"g", "gram", 1, 1000, {.kg = 1}, "Mkmun"},
    {"s", "second", 1, 1, {.s = 1}, "munp"},
    {"N", "newton", 1, 1, {.m = 1, .kg = 1, .s = -2}, "GMkcmun"},
    {"Pa", "pascal", 1, 1, {.m = -1, .kg = 1, .s = -2}, "GMkhmu"},
    {"J", "joule", 1, 1, {.m = 2, .kg = 1, .s = -2}, "GMkmun"},
    {"W", "watt", 1, 1, {.m = 2, .kg = 1, .s = -3}, "GMkmun"},
    {"Hz", "hertz, 1/s", 1, 1, {.s = -1}, "GMkm"},
    {"rad", "radian", 1, 1, {0}, "mu"},
    {"deg", "degree, pi/180", PI, 180, {0}, ""},
    {"rev", "revolution, 2 pi", 2 * PI, 1, {0}, ""},
    {"rpm", "revolution per minute", PI, 30, {.s = -1}, ""},
    {"min", "minute", 60, 1, {.s = 1}, ""},
    {"h", "hour", 3600, 1, {.s = 1}, ""},
    {"K", "kelvin", 1, 1, {.K = 1}, "mu"},
    {"mol", "mole", 1, 1, {.mol = 1}, "kmun"},
    {"A", "ampere", 1, 1, {.A = 1}, "kmun"},
    {"T", "tesla", 1, 1, {.kg = 1, .s = -2, .A = -1}, "mun"},
    {"l", "litre", 1, 1000, {.m = 3}, "cdmu"},
    {"bar", "bar, 10^5 Pa", 1e5, 1, {.m = -1, .kg = 1, .s = -2}, "km"},
    {"atm", "standard atmosphere", 101325, 1, {.m = -1, .kg = 1, .s = -2}, ""},
    {"psi", "pound-force per square inch", 6894.757293168361, 1, {.m = -1, .kg = 1, .s = -2}, ""},
};

static const snw_prefix prefixes[] = {
    {"G", 'G', 1e9, 1},        {"M", 'M', 1e6, 1},        {"k", 'k', 1e3, 1}, {"h", 'h', 1e2, 1},
    {"d", 'd', 1, 10},         {"c", 'c', 1, 100},        {"m", 'm', 1, 1e3}, {"u", 'u', 1, 1e6},
    {"\xc2\xb5", 'u', 1, 1e6}, {"\xce\xbc", 'u', 1, 1e6}, {"n", 'n', 1, 1e9}, {"p", 'p', 1, 1e12},
};

enum {
    NNAME = sizeof names / sizeof names[0],
    NUNIT = sizeof units / sizeof units[0],
    NPREFIX = sizeof prefixes / sizeof prefixes[0],
    TOTAL_MAX = 60, // largest exponent of a product, so that snw_dim never overflows
};

const snw_unit *snw_units(int *n) {
    *n = NUNIT;
    return units;
}

const snw_prefix *snw_prefixes(int *n) {
    *n = NPREFIX;
    return prefixes;
}

// ---- names of dimensions -----------------------------------------------------------------------

static bool same_dim(snw_dim a, snw_dim b) {
    return a.m == b.m && a.kg == b.kg && a.s == b.s && a.A == b.A && a.K == b.K && a.mol == b.mol;
}

static void units_append(char *out, size_t size, const char *text) {
    const size_t used = strlen(out);
    if (used < size) (void)snprintf(out + used, size - used, "%s", text);
}

// out <- text such as kg*m^2/s, from the exponents
static void product_text(snw_dim d, char *out, size_t size) {
    const struct {
        const char *name;
        int e;
    } part[] = {{"kg", d.kg}, {"m", d.m}, {"s", d.s}, {"A", d.A}, {"K", d.K}, {"mol", d.mol}};
    out[0] = '\0';
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
            if (part[i].e * sign <= 0) continue;
            if (sign < 0) units_append(out, size, out[0] ? "/" : "1/");
            if (sign > 0 && out[0]) units_append(out, size, "*");
            units_append(out, size, part[i].name);
            char power[16];
            (void)snprintf(power, sizeof power, "^%d", abs(part[i].e));
            if (abs(part[i].e) > 1) units_append(out, size, power);
        }
    }
}

void snw_dim_text(snw_dim d, char *out, size_t size) {
    if (size == 0) return;
    for (int i = 0; i < NNAME; i++) {
        if (!same_dim(d, names[i].dim)) continue;
        if (i == 0) {
            (void)snprintf(out, size, "%s", names[i].name);
        } else {
            (void)snprintf(out, size, "%s (%s)", names[i].name, names[i].unit);
        }
        return;
    }
    product_text(d, out, size);
}

void snw_dim_phrase(snw_dim d, char *out, size_t size) {
    char text[96];
    snw_dim_text(d, text, sizeof text);
    const bool named = strchr(text, ' ') != NULL;
    const char *article = !named ? "" : strchr("aeiou", text[0]) ? "an " : "a ";
    (void)snprintf(out, size, "%s%s", article, text);
}

void snw_dim_unit(snw_dim d, char *out, size_t size) {
    if (size == 0) return;
    for (int i = 0; i < NNAME; i++) {
        if (!same_dim(d, names[i].dim)) continue;
        (void)snprintf(out, size, "%s", names[i].unit);
        return;
    }
    product_text(d, out, size);
}

// ---- reading -----------------------------------------------------------------------------------

static const snw_unit *find_unit(const char *word, size_t length) {
    for (int i = 0; i < NUNIT; i++) {
        if (strlen(units[i].symbol) == length && memcmp(units[i].symbol, word, length) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

bool snw_unit_word(const char *word, size_t length, snw_unit_value *out) {
    const snw_unit *u = find_unit(word, length);
    if (u) {
        *out = (snw_unit_value){u->num, u->den, u->dim};
        return true;
    }
    for (int i = 0; i < NPREFIX; i++) {
        const size_t n = strlen(prefixes[i].symbol);
        if (length <= n || memcmp(prefixes[i].symbol, word, n) != 0) continue;
        u = find_unit(word + n, length - n);
        if (!u || !strchr(u->prefixes, prefixes[i].letter)) continue;
        // the kilo of kg cancels against the 1/1000 of the gram
        double num = u->num * prefixes[i].num, den = u->den * prefixes[i].den;
        if (num >= den && num > 1 && den > 1 && num / den * den == num) {
            num /= den;
            den = 1;
        }
        *out = (snw_unit_value){num, den, u->dim};
        return true;
    }
    return false;
}

// Read the one-digit integer exponent after `^`; false when there is none.
static bool read_exponent(const char *text, int *exponent, size_t *length) {
    const char *p = text;
    const int sign = *p == '-' ? -1 : 1;
    if (*p == '-') p++;
    if (!snw_is_digit(p[0]) || snw_is_digit(p[1]) || p[1] == '.' || snw_is_letter(p[1])) {
        return false;
    }
    *exponent = sign * (*p - '0');
    *length = (size_t)(p + 1 - text);
    return true;
}

static bool raise_dim(snw_dim *d, snw_dim u, int e) {
    const int sum[6] = {d->m + e * u.m, d->kg + e * u.kg, d->s + e * u.s,
                        d->A + e * u.A, d->K + e * u.K,   d->mol + e * u.mol};
    for (int i = 0; i < 6; i++) {
        if (abs(sum[i]) > TOTAL_MAX) return false;
    }
    *d = (snw_dim){(signed char)sum[0], (signed char)sum[1], (signed char)sum[2],
                   (signed char)sum[3], (signed char)sum[4], (signed char)sum[5]};
    return true;
}

// Multiply one factor, `m` or `m^-2`, into the product; returns its length, 0 when there is none.
static size_t read_factor(const char *text, bool divide, snw_unit_value *product) {
    const size_t word = snw_word_length(text);
    size_t after = word;
    while (snw_is_blank(text[after])) after++;
    snw_unit_value u;
    if (word == 0 || text[after] == '(' || !snw_unit_word(text, word, &u)) return 0;
    size_t length = word;
    int exponent = 1;
    if (text[word] == '^') {
        size_t digits = 0;
        if (read_exponent(text + word + 1, &exponent, &digits)) length += 1 + digits;
    }
    if (divide) exponent = -exponent;
    if (!raise_dim(&product->dim, u.dim, exponent)) return 0;
    for (int i = 0; i < abs(exponent); i++) {
        product->num *= exponent > 0 ? u.num : u.den;
        product->den *= exponent > 0 ? u.den : u.num;
    }
    return length;
}

size_t snw_unit_read(const char *text, snw_unit_value *out) {
    snw_unit_value product = {1, 1, SNW_DIM_NONE};
    size_t at = 0;
    bool divide = false;
    if (text[0] == '1' && text[1] == '/') {
        at = 2;
        divide = true;
    }
    size_t length = read_factor(text + at, divide, &product);
    if (length == 0) return 0;
    at += length;
    while (text[at] == '*' || text[at] == '/') {
        length = read_factor(text + at + 1, text[at] == '/', &product);
        if (length == 0) break;
        at += 1 + length;
    }
    *out = product;
    return at;
}
