// SPDX-License-Identifier: MIT
//
// expr.h: expressions with units, parsed once, dimension-checked, evaluated with exact derivatives.
//
// An expression is immutable after parsing and shared by threads. Evaluation allocates nothing.
#pragma once

#include "base/pool.h"
#include "math/units.h"
#include "sinew/status.h"

#include <stdbool.h>

// A value and its first and second derivative in one variable.
typedef struct snw_jet {
    double v, d, dd;
} snw_jet;

// What an expression may depend on: time, arc length along a rod, the rod's length, signals.
typedef enum snw_var { SNW_VAR_T = 1, SNW_VAR_X = 2, SNW_VAR_L = 4, SNW_VAR_SIGNAL = 16 } snw_var;

// Signals are numbered: what probes show, and what is remembered of that. An expression that reads
// none does not look at them.
typedef struct snw_at {
    double t, x, L;
    const double *signal;
} snw_at;

typedef struct snw_expr snw_expr;

// ---- names: parameters, functions, lists, indices, tables --------------------------------------

// What names mean. Scopes nest: an inner one (an index of a repetition) hides the outer one.
// Parameters are kept as text and parsed when first used, so their order in a file is free; a
// parameter that needs itself is an error. So parsing may change a scope, though it is const: one
// thread at a time parses with it; evaluation is free.
typedef struct snw_scope snw_scope;

// Samples of a measured column, handed out by whoever may read files; y over strictly rising x.
typedef struct snw_table {
    int n;
    const double *x, *y;
} snw_table;

// Find column `column` (a name, or a number counted from 1 written in decimal) of `file`. `from`
// names the text in which the table is called, as in messages: relative paths begin there. NULL:
// unknown.
typedef snw_status snw_table_fn(void *user, const char *from, const char *file, const char *column,
                                snw_table *out, snw_error *err);

// Lives as long as the pool; NULL when memory is out. `outer` may be NULL.
snw_scope *snw_scope_create(snw_pool *pool, const snw_scope *outer);
// Who hands out tables to this scope and the inner ones. The samples must live as long as the pool.
void snw_scope_tables(snw_scope *s, snw_table_fn *fn, void *user);

// What a law remembers of an expression: its integral over time, its value at the last multiple of
// a period, whether it has ever held.
typedef enum snw_memory { SNW_MEMORY_INTEGRAL, SNW_MEMORY_SAMPLED, SNW_MEMORY_ONCE } snw_memory;

typedef struct snw_signal_source {
    void *user;
    // *slot <- the signal that is this component of a probe, *dim what it is; -1 when there is no
    // such probe. `name` has its indices evaluated, `d(2)`; component "" when none is written.
    snw_status (*probe)(void *user, const char *name, const char *component, int *slot,
                        snw_dim *dim, snw_error *err);
    // *slot <- a signal of its own for what is remembered of `law`; `text` is the call as written,
    // period that of a sample, s.
    snw_status (*memory)(void *user, snw_memory kind, const char *text, const snw_expr *law,
                         double period, int *slot, snw_error *err);
    // Names of probes for suggestions, NULL behind the last one.
    const char *(*name)(void *user, int i);
} snw_signal_source;

// Who hands out signals to this scope and the inner ones. It must live as long as the pool.
void snw_scope_signals(snw_scope *s, const snw_signal_source *source);

// `head` is `C`, or `B(u)`, `f(a, b)` for a function; `text` its expression. `file`, `line`,
// `column` say where text begins, for messages. Refuses a word of the language and a name this
// scope already has; units are free (`m: 3`), for they only stand behind a number, pi or `)`.
SNW_NODISCARD snw_status snw_scope_define(snw_scope *s, const char *head, const char *text,
                                          const char *file, int line, int column, snw_error *err);
// A list, used as `a(1)`, `a(k)`; overridden items may stand in other files.
SNW_NODISCARD snw_status snw_scope_define_list(snw_scope *s, const char *name, int n,
                                               const char *const *text, const char *const *file,
                                               const int *line, const int *column, snw_error *err);
// An index of a repetition.
SNW_NODISCARD snw_status snw_scope_index(snw_scope *s, const char *name, long value,
                                         snw_error *err);
bool snw_scope_has(const snw_scope *s, const char *name);
// Parse everything defined here, so that an unused faulty parameter is reported too.
SNW_NODISCARD snw_status snw_scope_check(snw_scope *s, snw_error *err);

// ---- parsing -----------------------------------------------------------------------------------

typedef struct snw_expr_rules {
    const snw_dim *dim; // wanted dimension, NULL when any will do
    int vars;           // allowed variables, or-ed snw_var; 0: a constant
    bool condition;     // a truth value is wanted (comparisons, and, or, not, on, off)
} snw_expr_rules;

// Messages name what was found and what was wanted in words ("a length (m) is wanted here, got a
// mass (kg)") and carry file, line and column of the offending token, given where `text` begins.
SNW_NODISCARD snw_status snw_expr_parse(snw_pool *pool, const snw_scope *scope, const char *text,
                                        const snw_expr_rules *rules, const char *file, int line,
                                        int column, const snw_expr **out, snw_error *err);

// The same for a constant of any dimension: its value, SI, and what it is; none for a plain number,
// and for what has no whole exponents.
SNW_NODISCARD snw_status snw_expr_measure(snw_pool *pool, const snw_scope *scope, const char *text,
                                          const char *file, int line, int column, double *value,
                                          snw_dim *dim, snw_error *err);

// The same for a law of these variables: the law, and what it is.
SNW_NODISCARD snw_status snw_expr_parse_any(snw_pool *pool, const snw_scope *scope,
                                            const char *text, int vars, const char *file, int line,
                                            int column, const snw_expr **out, snw_dim *dim,
                                            snw_error *err);

// A constant, SI, and a signal; NULL when memory is out.
const snw_expr *snw_expr_constant(snw_pool *pool, double value);
const snw_expr *snw_expr_signal(snw_pool *pool, int slot);
// Whether two signals are both other than zero.
const snw_expr *snw_expr_both(snw_pool *pool, int a, int b);

// ---- evaluation --------------------------------------------------------------------------------

double snw_expr_value(const snw_expr *e, snw_at at);
snw_jet snw_expr_jet_t(const snw_expr *e, snw_at at); // derivatives in t
snw_jet snw_expr_jet_x(const snw_expr *e, snw_at at); // derivatives in x

snw_jet snw_expr_jet_signal(const snw_expr *e, snw_at at, int slot); // derivatives in a signal

// Which variables it depends on, or-ed snw_var.
int snw_expr_vars(const snw_expr *e);

// Whether it reads a signal.
bool snw_expr_reads(const snw_expr *e, int slot);

// ---- feedback ----------------------------------------------------------------------------------

// An error that a control law acts on: a signal less its reference, or the reverse. The reference
// is a law of time.
typedef struct snw_expr_error {
    int slot;
    double sign;                // of the signal in the difference
    bool limited;               // a limit may cut it off on its way into the law
    const snw_expr *difference; // a law of its own
} snw_expr_error;

// out <- the first `max` differences of that kind which enter the value of e proportionally: by
// sums, by factors that do not depend on them, by limits. k*(r - p) has one, -k*p and k/(r - p)^2
// have none. SNW_E_MEMORY when the pool is out.
SNW_NODISCARD snw_status snw_expr_errors(snw_pool *pool, const snw_expr *e, int max,
                                         snw_expr_error *out, int *n);
// Whether a signal enters in this way itself.
bool snw_expr_proportional(const snw_expr *e, int slot);

// Times after t0 up to t1 at which the law or one of its first two derivatives may jump (from step,
// linear, hat, mod, if, comparisons, min, max, abs, sign, floor, ceil, ends of a table); the first
// `max` of them, rising, into out. Returns how many. Located to rounding. Where everything that
// switches is piecewise linear in t none is missed; otherwise a switch that flips there and back
// within a thousandth of the interval may be. Switches that also hang on x or L have no single time
// and are left out.
int snw_expr_breaks_t(const snw_expr *e, double t0, double t1, double *out, int max);

// ---- words of the language ---------------------------------------------------------------------

// What a function asks of its arguments' dimensions, and gives back.
typedef enum snw_function_kind {
    SNW_FUNCTION_NUMBER, // a number or an angle; gives a number
    SNW_FUNCTION_KEEP,   // anything; gives the same
    SNW_FUNCTION_ROOT,   // anything; gives its root
    SNW_FUNCTION_SIGN,   // anything; gives a number
    SNW_FUNCTION_ALIKE,  // things of one dimension; gives the same
    SNW_FUNCTION_RATIO,  // things of one dimension; gives a number
    SNW_FUNCTION_RISE,   // things of one dimension, the second below the third; gives a number
    SNW_FUNCTION_IF,     // a condition, then two alike
    SNW_FUNCTION_LIMIT,  // three things of one dimension; gives the same
    SNW_FUNCTION_MEMORY, // see snw_memory
    SNW_FUNCTION_TABLE   // a file and a column
} snw_function_kind;

// One function of the language. The table serves the parser, its suggestions and the documentation.
typedef struct snw_function {
    const char *name, *args, *meaning;
    int min_args, max_args; // max_args 0: any number
    snw_function_kind kind;
    int op; // what the parser makes of it
} snw_function;

const snw_function *snw_functions(int *n);

// Whether a word belongs to the language (variable, function, pi, on, off, and, or, not), so that
// no parameter may take it. Unit names are free.
bool snw_word_reserved(const char *word);
