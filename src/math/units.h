// SPDX-License-Identifier: MIT
//
// units.h: physical dimensions, and the table of units that may follow a number.
//
// A unit is written without blanks: symbols joined by `*` and `/`, each with an optional integer
// exponent, optionally after a leading `1/`: `N*m`, `kg/m^3`, `1/s`, `m*s^-2`.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Physical dimension: exponents of m, kg, s, A, K, mol. Angles are dimensionless.
typedef struct snw_dim {
    signed char m, kg, s, A, K, mol;
} snw_dim;

#define SNW_DIM_NONE         ((snw_dim){0})
#define SNW_DIM_LENGTH       ((snw_dim){.m = 1})
#define SNW_DIM_TIME         ((snw_dim){.s = 1})
#define SNW_DIM_MASS         ((snw_dim){.kg = 1})
#define SNW_DIM_FORCE        ((snw_dim){.m = 1, .kg = 1, .s = -2})
#define SNW_DIM_TORQUE       ((snw_dim){.m = 2, .kg = 1, .s = -2})
#define SNW_DIM_PRESSURE     ((snw_dim){.m = -1, .kg = 1, .s = -2})
#define SNW_DIM_DENSITY      ((snw_dim){.m = -3, .kg = 1})
#define SNW_DIM_ACCELERATION ((snw_dim){.m = 1, .s = -2})
#define SNW_DIM_CURVATURE    ((snw_dim){.m = -1})

// Name of a dimension for messages: "length (m)", "force (N)", or "kg*m^2/s".
void snw_dim_text(snw_dim d, char *out, size_t size);

// The same with its article, for use in a sentence: "a length (m)", "kg*m^2/s".
void snw_dim_phrase(snw_dim d, char *out, size_t size);

// SI unit of a dimension in the form that may follow a number: "Pa", "kg*m^2/s"; empty for plain
// numbers and angles.
void snw_dim_unit(snw_dim d, char *out, size_t size);

// One unit of the table. Its SI value is num/den; the two are stored apart so that `9.5 mm` is
// rounded once.
typedef struct snw_unit {
    const char *symbol, *name;
    double num, den;
    snw_dim dim;
    const char *prefixes; // letters of the SI prefixes it accepts
} snw_unit;

// One SI prefix. `letter` identifies it in snw_unit.prefixes (the spellings of micro share one).
typedef struct snw_prefix {
    const char *symbol;
    char letter;
    double num, den;
} snw_prefix;

// The tables, for the parser, its suggestions and the documentation.
const snw_unit *snw_units(int *n);
const snw_prefix *snw_prefixes(int *n);

// A product of units: SI value num/den and dimension.
typedef struct snw_unit_value {
    double num, den;
    snw_dim dim;
} snw_unit_value;

// Read the longest unit at the start of `text`. Returns its length in bytes, 0 when there is none.
// A word followed by `(` is a function, never a unit.
size_t snw_unit_read(const char *text, snw_unit_value *out);

// Are the `length` bytes at `word` one unit of the table, with or without a prefix?
bool snw_unit_word(const char *word, size_t length, snw_unit_value *out);
