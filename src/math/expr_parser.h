// SPDX-License-Identifier: MIT
//
// expr_parser.h: state of the expression parser, and the functions shared by its files:
//
//   expr_parse.c  grammar: operators and their dimensions, entry points
//   expr_read.c   tokens: locations, messages, numbers, units
//   expr_name.c   names: variables, parameters, lists, user-defined functions
//   expr_call.c   functions of the language
//   expr_signal.c probes and memory functions
#pragma once

#include "math/expr_scope.h"
#include "math/expr_words.h"

// Parser of one text. Parsers nest: that of a parameter's text inside the text that names it, that
// of a function's body inside its call.
typedef struct snw_parser {
    const char *text, *p;         // the text, and the current position in it
    snw_source_location location; // of the beginning of text
    const snw_scope *scope;
    snw_pool *pool;              // of the nodes
    int vars;                    // allowed variables
    int *budget;                 // remaining steps, shared with the functions called
    int depth;                   // nesting depth of brackets, calls and parameters
    const snw_expr_entry *entry; // entry that owns the text, NULL for a top-level text
    const snw_term *args;        // values of entry's arguments, when it is a function
    int call_at;                 // offset of the use of entry in up's text
    const struct snw_parser *up; // parser of the enclosing text
    const char *unit_clash;      // a parameter whose name was read as a unit, 9.81 m/s^2*h, or NULL
    snw_error *err;
} snw_parser;

// ---- expr_read.c -------------------------------------------------------------------------------

static inline int snw_parser_at(const snw_parser *p) { return (int)(p->p - p->text); }
void snw_skip_blanks(snw_parser *p);
snw_source_location snw_parser_location(const snw_parser *p, int at);

// Report an error at an offset of the text, used as `return snw_parser_fail(p, at, ..)`. A macro,
// so that compilers and checkers see that it always fails.
#define snw_parser_fail(...)    (snw_parser_report(__VA_ARGS__), SNW_E_PARSE)
#define snw_parser_no_memory(p) (snw_parser_out_of_memory(p), SNW_E_MEMORY)
void snw_parser_out_of_memory(const snw_parser *p);
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void
snw_parser_report(const snw_parser *p, int at, const char *format, ...);

// Use one step of the budget. Every node and call costs one, which bounds the size of expressions
// that short texts can produce.
SNW_NODISCARD snw_status snw_parser_spend(snw_parser *p);

// Increase the depth by one, or fail at the limit; the caller decreases it again.
SNW_NODISCARD snw_status snw_parser_enter(snw_parser *p);

// out <- the word or character at offset `at` in quotes, or "the end", for messages.
void snw_parser_quote(const snw_parser *p, int at, char *out, size_t size);

SNW_NODISCARD snw_status snw_read_number(snw_parser *p, snw_term *out);
// Read the unit that may follow a number, pi or a bracket, and multiply the term by it.
SNW_NODISCARD snw_status snw_read_unit(snw_parser *p, snw_term *term);

// ---- expr_parse.c ------------------------------------------------------------------------------

SNW_NODISCARD snw_status snw_parse_expression(snw_parser *p, snw_term *out);
// Parse the whole text; trailing characters are an error.
SNW_NODISCARD snw_status snw_parse_all(snw_parser *p, snw_term *out);

// Make a node from one, two or three terms; unused arguments are NULL.
SNW_NODISCARD snw_status snw_parser_make(snw_parser *p, int at, snw_op op, const snw_term *a,
                                         const snw_term *b, const snw_term *c, snw_expr_node **out);

// Fail unless a term is a value, a condition, or dimensionless: "a number is wanted here, got a
// condition".
SNW_NODISCARD snw_status snw_want_value(const snw_parser *p, const snw_term *a);
SNW_NODISCARD snw_status snw_want_condition(const snw_parser *p, const snw_term *a);
SNW_NODISCARD snw_status snw_want_number(const snw_parser *p, const snw_term *a);
// Fail unless a and b have compatible dimensions; out <- their common dimension.
SNW_NODISCARD snw_status snw_want_alike(const snw_parser *p, const snw_term *a, const snw_term *b,
                                        snw_quantity *out);

// ---- expr_name.c, expr_call.c ------------------------------------------------------------------

// Parse the name of `length` bytes at p->p, with its arguments if it has any.
SNW_NODISCARD snw_status snw_parse_name(snw_parser *p, size_t length, snw_term *out);
// Parse the arguments of a function of the language; p->p is at the opening bracket.
SNW_NODISCARD snw_status snw_parse_call(snw_parser *p, const snw_function *f, int at,
                                        snw_term *out);

// Parse one argument. *more: another one follows; else the closing bracket has been read.
SNW_NODISCARD snw_status snw_parse_argument(snw_parser *p, snw_term *out, bool *more);
// *out <- value of a term that must be a constant integer, such as an index.
SNW_NODISCARD snw_status snw_term_whole(const snw_parser *p, const snw_term *a, const char *what,
                                        long *out);
// Fail unless all variables `used` are allowed; `what` is the subject of the message.
SNW_NODISCARD snw_status snw_check_vars(const snw_parser *p, int at, int used, const char *what);
// A variable; fails if it is not allowed here.
SNW_NODISCARD snw_status snw_parse_variable(snw_parser *p, snw_op op, int at, snw_term *out);

// ---- expr_signal.c -----------------------------------------------------------------------------

// Source of signals of the scope, NULL when there is none.
const snw_signal_source *snw_parser_signals(const snw_parser *p);
// Read the word of `length` bytes at offset `at` as a probe, with index (`bracket`: its opening
// bracket, NULL when there is none) and component: `tip.x`, `d(2).vz`. When there is no such probe
// *found is false and nothing is read.
SNW_NODISCARD snw_status snw_parse_probe(snw_parser *p, size_t length, int at, const char *bracket,
                                         bool *found, snw_term *out);
// Make the signal of integral(e), sampled(e, T) or once(c) after its arguments have been read;
// p->p is at the end of the call.
SNW_NODISCARD snw_status snw_make_memory(snw_parser *p, snw_memory kind, int at,
                                         const snw_term *arg, snw_term *out);
