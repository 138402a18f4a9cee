// SPDX-License-Identifier: MIT
//
// expr.h: expressions with units. They are parsed once, checked for dimensions, and evaluated with
// exact derivatives.
//
// An expression is immutable after parsing and may be shared by threads. Evaluation allocates
// nothing.
#pragma once

#include "base/pool.h"
#include "math/units.h"
#include "sinew/status.h"

#include <stdbool.h>

// A value with its first and second derivatives in one variable.
typedef struct snw_jet {
    double v, d, dd;
} snw_jet;

// Variables of an expression: time, arc length along a rod, length of the rod, signals.
typedef enum snw_var { SNW_VAR_T = 1, SNW_VAR_X = 2, SNW_VAR_L = 4, SNW_VAR_SIGNAL = 16 } snw_var;

// Values of the variables, SI. Signals are probe values and memory states (integrals, samples,
// latches), indexed by their number; NULL is fine for an expression that reads none.
typedef struct snw_at {
    double t, x, L;
    const double *signal;
} snw_at;

typedef struct snw_expr snw_expr;

// ---- names: parameters, functions, lists, indices, tables --------------------------------------

// Table of names. Scopes nest: a name of an inner scope (an index of a repetition) hides that of
// the outer one. Parameters are stored as text and parsed at their first use, so they may be
// defined in any order; a parameter that depends on itself is an error. Parsing may therefore
// change a scope, although it is const: only one thread at a time may parse with it. Evaluation
// does not use it.
typedef struct snw_scope snw_scope;

// Samples of a measured column, from a callback that reads files; x is strictly ascending.
typedef struct snw_table {
    int n;
    const double *x, *y;
} snw_table;

// Find column `column` (a name, or a decimal number counted from 1) of `file`. `from` is the file
// whose text uses the table, as it appears in messages; relative paths start there. NULL: unknown.
typedef snw_status snw_table_fn(void *user, const char *from, const char *file, const char *column,
                                snw_table *out, snw_error *err);

// A new scope, which lives as long as the pool; NULL when out of memory. `outer` may be NULL.
snw_scope *snw_scope_create(snw_pool *pool, const snw_scope *outer);
// Set the source of tables for this scope and its inner ones. The samples must live as long as the
// pool.
void snw_scope_tables(snw_scope *s, snw_table_fn *fn, void *user);

// Memory functions of an expression: its integral over time, its value at the last multiple of a
// period, whether it has ever been true.
typedef enum snw_memory { SNW_MEMORY_INTEGRAL, SNW_MEMORY_SAMPLED, SNW_MEMORY_ONCE } snw_memory;

typedef struct snw_signal_source {
    void *user;
    // *slot <- number of the signal of this probe component, *dim <- its dimension; -1 when there
    // is no such probe. Indices in `name` are evaluated, `d(2)`; component "" when none is written.
    snw_status (*probe)(void *user, const char *name, const char *component, int *slot,
                        snw_dim *dim, snw_error *err);
    // *slot <- number of a new signal for the memory of `law`; `text` is the call as written,
    // period that of SNW_MEMORY_SAMPLED, s.
    snw_status (*memory)(void *user, snw_memory kind, const char *text, const snw_expr *law,
                         double period, int *slot, snw_error *err);
    // Name of probe i, for suggestions; NULL after the last one.
    const char *(*name)(void *user, int i);
    const char *what; // word for its signals in messages; NULL: probes
    bool strict;      // its signals have their dimensions; otherwise they are plain numbers as well
} snw_signal_source;

// Set the source of signals for this scope and its inner ones. It must live as long as the pool.
void snw_scope_signals(snw_scope *s, const snw_signal_source *source);

// Define a parameter, `head` = `C`, or a function, `head` = `f(a, b)`, by the expression `text`.
// `file`, `line`, `column` are the location of text, for messages. Fails for a word of the language
// and for a name that this scope already has. Names of units are allowed (`m: 3`), since a unit can
// only follow a number, pi or `)`.
SNW_NODISCARD snw_status snw_scope_define(snw_scope *s, const char *head, const char *text,
                                          const char *file, int line, int column, snw_error *err);
// Define a list, used as `a(1)`, `a(k)`. Each item has its own location, since overridden items may
// come from other files.
SNW_NODISCARD snw_status snw_scope_define_list(snw_scope *s, const char *name, int n,
                                               const char *const *text, const char *const *file,
                                               const int *line, const int *column, snw_error *err);
// Define an index of a repetition.
SNW_NODISCARD snw_status snw_scope_index(snw_scope *s, const char *name, long value,
                                         snw_error *err);
bool snw_scope_has(const snw_scope *s, const char *name);
// Parse all definitions of this scope, so that errors in unused parameters are reported too.
SNW_NODISCARD snw_status snw_scope_check(snw_scope *s, snw_error *err);

// ---- parsing -----------------------------------------------------------------------------------

typedef struct snw_expr_rules {
    const snw_dim *dim; // required dimension, NULL: any
    int vars;           // allowed variables, or-ed snw_var; 0: a constant
    bool condition;     // a truth value is required (comparisons, and, or, not, on, off)
} snw_expr_rules;

// Parse `text`, which begins at file, line, column. Messages name the required and the actual
// dimension ("a length (m) is wanted here, got a mass (kg)") and the location of the faulty token.
SNW_NODISCARD snw_status snw_expr_parse(snw_pool *pool, const snw_scope *scope, const char *text,
                                        const snw_expr_rules *rules, const char *file, int line,
                                        int column, const snw_expr **out, snw_error *err);

// The same for a constant of any dimension: its value, SI, and its dimension; SNW_DIM_NONE for a
// plain number and for a quantity with fractional exponents.
SNW_NODISCARD snw_status snw_expr_parse_constant(snw_pool *pool, const snw_scope *scope,
                                                 const char *text, const char *file, int line,
                                                 int column, double *value, snw_dim *dim,
                                                 snw_error *err);

// The same for a law of these variables: the law and its dimension.
SNW_NODISCARD snw_status snw_expr_parse_any(snw_pool *pool, const snw_scope *scope,
                                            const char *text, int vars, const char *file, int line,
                                            int column, const snw_expr **out, snw_dim *dim,
                                            snw_error *err);

// A constant, SI, and a signal; NULL when out of memory.
const snw_expr *snw_expr_constant(snw_pool *pool, double value);
const snw_expr *snw_expr_signal(snw_pool *pool, int slot);
// *out <- law of x that jumps: value[i] up to at[i], i < n, which rise, and value[n] beyond.
SNW_NODISCARD snw_status snw_expr_steps(snw_pool *pool, int n, const double *at,
                                        const double *value, const snw_expr **out, snw_error *err);
// The condition that two signals are both nonzero; NULL when out of memory.
const snw_expr *snw_expr_both(snw_pool *pool, int a, int b);

// ---- evaluation --------------------------------------------------------------------------------

double snw_expr_value(const snw_expr *e, snw_at at);
snw_jet snw_expr_jet_t(const snw_expr *e, snw_at at); // derivatives in t
snw_jet snw_expr_jet_x(const snw_expr *e, snw_at at); // derivatives in x

snw_jet snw_expr_jet_signal(const snw_expr *e, snw_at at, int slot); // derivatives in a signal
// Derivatives along the direction u of the space of x and the signals `slot` and slot + 1.
snw_jet snw_expr_jet_along(const snw_expr *e, snw_at at, int slot, const double u[3]);
// Derivatives along the direction u of the space of all signals.
snw_jet snw_expr_jet_signals(const snw_expr *e, snw_at at, const double *u);

// out <- the first `max` margins of a condition: left side minus right side of each comparison <,
// <=, >, >= that reads signals. Returns their number; their order is the same at all values.
int snw_expr_margins(const snw_expr *e, snw_at at, double *out, int max);

// out <- the first `max` margins of all comparisons, also those of time alone, with their
// derivatives in a signal (slot) or in t (slot -1). Returns their number.
int snw_expr_margin_jets(const snw_expr *e, snw_at at, int slot, snw_jet *out, int max);

// Can a comparison of the condition change by a jump while the signals vary continuously? So with
// mod, floor, ceil, sign, step, if or a comparison in its sides, and with == and !=.
bool snw_expr_margins_jump(const snw_expr *e);

// Variables it depends on, or-ed snw_var.
int snw_expr_vars(const snw_expr *e);

// Does it read this signal?
bool snw_expr_reads(const snw_expr *e, int slot);

// ---- feedback ----------------------------------------------------------------------------------

// A control error in a law: a signal minus its reference, or the reverse. The reference is a
// function of time.
typedef struct snw_expr_error {
    int slot;
    double sign;                // of the signal in the difference
    bool limited;               // min, max or limit may saturate it
    const snw_expr *difference; // the error as an expression
} snw_expr_error;

// out <- the first `max` control errors on which the value of e depends linearly, saturation aside:
// through sums, constant factors and limits. k*(r - p) has one, -k*p and k/(r - p)^2 have none.
// SNW_E_MEMORY when the pool is exhausted.
SNW_NODISCARD snw_status snw_expr_errors(snw_pool *pool, const snw_expr *e, int max,
                                         snw_expr_error *out, int *n);
// Does the value of e depend on the signal itself in this way?
bool snw_expr_proportional(const snw_expr *e, int slot);

// out <- the first `max` times in (t0, t1], ascending, at which the law or one of its first two
// derivatives may jump (step, linear, hat, mod, if, comparisons, min, max, abs, sign, floor, ceil,
// ends of a table). Returns their number. Times are exact to rounding. None is missed if the
// arguments of all switching operations are piecewise linear in t; otherwise an operation that
// switches there and back within a thousandth of the interval may be missed. Operations that also
// depend on x or L have no single switching time and are ignored.
int snw_expr_breaks_t(const snw_expr *e, double t0, double t1, double *out, int max);
// The same for arc lengths in (0, L] of a law of x and L. Operations that switch there and back
// within a thousandth of the length may be missed, those that also depend on t are ignored.
int snw_expr_breaks_x(const snw_expr *e, double L, double *out, int max);

// ---- words of the language ---------------------------------------------------------------------

// Dimensions of a function's arguments and of its result.
typedef enum snw_function_kind {
    SNW_FUNCTION_NUMBER, // a number or an angle -> a number
    SNW_FUNCTION_KEEP,   // any dimension -> the same
    SNW_FUNCTION_ROOT,   // any dimension -> its square root
    SNW_FUNCTION_SIGN,   // any dimension -> a number
    SNW_FUNCTION_ALIKE,  // arguments of one dimension -> the same
    SNW_FUNCTION_RATIO,  // arguments of one dimension -> a number
    SNW_FUNCTION_RISE,   // arguments of one dimension, the second below the third -> a number
    SNW_FUNCTION_IF,     // a condition and two arguments of one dimension -> the same
    SNW_FUNCTION_LIMIT,  // three arguments of one dimension -> the same
    SNW_FUNCTION_MEMORY, // see snw_memory
    SNW_FUNCTION_TABLE   // a file and a column -> a number
} snw_function_kind;

// One function of the language. The parser, its suggestions and the documentation use this table.
typedef struct snw_function {
    const char *name, *args, *meaning;
    int min_args, max_args; // max_args 0: any number
    snw_function_kind kind;
    int op; // snw_op, or snw_memory for SNW_FUNCTION_MEMORY
} snw_function;

const snw_function *snw_functions(int *n);

// Is this a word of the language (variable, function, pi, on, off, and, or, not), which no
// parameter may have as its name? Names of units are not reserved.
bool snw_word_reserved(const char *word);
