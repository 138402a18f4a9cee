// SPDX-License-Identifier: MIT
//
// expr_parser.h: the parser's state, and what its files do for each other.
//
//   expr_parse.c  grammar: operators and their dimensions, entry points
//   expr_read.c   tokens: places, messages, numbers, units
//   expr_name.c   names: variables, parameters, lists, functions of the user
//   expr_call.c   functions of the language
//   expr_signal.c probes, and what is remembered of them
#pragma once

#include "math/expr_scope.h"
#include "math/expr_words.h"

// One text being read. Texts nest: a parameter's inside the one that names it, a function's body
// inside its call.
typedef struct snw_parser {
    const char *text, *p;         // p: what is left
    snw_source_location location; // where text begins
    const snw_scope *scope;
    snw_pool *pool;              // nodes go here
    int vars;                    // allowed variables
    int *budget;                 // steps left, shared with the functions called
    int depth;                   // brackets, calls and parameters around us
    const snw_expr_entry *entry; // whose text this is, NULL for a text of its own
    const snw_term *args;        // values of entry's arguments, when it is a function
    int call_at;                 // where in up's text it is called
    const struct snw_parser *up; // the text that made us read this one
    const char *taken; // a parameter whose name stands for a unit here, 9.81 m/s^2*h; NULL: none
    snw_error *err;
} snw_parser;

// ---- expr_read.c -------------------------------------------------------------------------------

static inline int snw_parser_at(const snw_parser *p) { return (int)(p->p - p->text); }
void snw_skip_blanks(snw_parser *p);
snw_source_location snw_parser_location(const snw_parser *p, int at);

// Say what is wrong at an offset of the text. Failing sites read `return snw_parser_fail(p, at,
// ..)`; it is a macro so that compilers and checkers see that it always fails.
#define snw_parser_fail(...)    (snw_parser_complain(__VA_ARGS__), SNW_E_PARSE)
#define snw_parser_no_memory(p) (snw_parser_out_of_memory(p), SNW_E_MEMORY)
void snw_parser_out_of_memory(const snw_parser *p);
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void
snw_parser_complain(const snw_parser *p, int at, const char *format, ...);

// Spend one step; every node and call costs one, so that small texts cannot grow without end.
SNW_NODISCARD snw_status snw_parser_spend(snw_parser *p);

// Enter one more level, if there is one left; the caller gives it back.
SNW_NODISCARD snw_status snw_parser_enter(snw_parser *p);

// The word at `at`, quoted, or the character there, or "the end", for messages.
void snw_parser_quote(const snw_parser *p, int at, char *out, size_t size);

SNW_NODISCARD snw_status snw_read_number(snw_parser *p, snw_term *out);
// The unit that may follow a number, pi or a bracket, multiplied into the term.
SNW_NODISCARD snw_status snw_read_unit(snw_parser *p, snw_term *term);

// ---- expr_parse.c ------------------------------------------------------------------------------

SNW_NODISCARD snw_status snw_parse_expression(snw_parser *p, snw_term *out);
// The whole text, nothing left over.
SNW_NODISCARD snw_status snw_parse_all(snw_parser *p, snw_term *out);

// A node of one, two or three terms; arguments of no matter are NULL.
SNW_NODISCARD snw_status snw_parser_make(snw_parser *p, int at, snw_op op, const snw_term *a,
                                         const snw_term *b, const snw_term *c, snw_expr_node **out);

// Complaints about what a term is: "a number is wanted here, got a condition".
SNW_NODISCARD snw_status snw_want_value(const snw_parser *p, const snw_term *a);
SNW_NODISCARD snw_status snw_want_condition(const snw_parser *p, const snw_term *a);
SNW_NODISCARD snw_status snw_want_number(const snw_parser *p, const snw_term *a);
// b fits to a; out <- what both are
SNW_NODISCARD snw_status snw_want_alike(const snw_parser *p, const snw_term *a, const snw_term *b,
                                        snw_quantity *out);

// ---- expr_name.c, expr_call.c ------------------------------------------------------------------

// The word of `length` bytes at p, and its arguments if it has some.
SNW_NODISCARD snw_status snw_parse_name(snw_parser *p, size_t length, snw_term *out);
// Its arguments; the opening bracket is next.
SNW_NODISCARD snw_status snw_parse_call(snw_parser *p, const snw_function *f, int at,
                                        snw_term *out);

// One argument, and whether another follows; else the closing bracket has been read.
SNW_NODISCARD snw_status snw_parse_argument(snw_parser *p, snw_term *out, bool *more);
// A whole number a term must be at once, such as an index.
SNW_NODISCARD snw_status snw_term_whole(const snw_parser *p, const snw_term *a, const char *what,
                                        long *out);
// Complain unless all of `used` may be used; `what` begins the sentence.
SNW_NODISCARD snw_status snw_check_vars(const snw_parser *p, int at, int used, const char *what);
// A variable, if it may be used here.
SNW_NODISCARD snw_status snw_parse_variable(snw_parser *p, snw_op op, int at, snw_term *out);

// ---- expr_signal.c -----------------------------------------------------------------------------

// Who hands out signals here, NULL when nobody does.
const snw_signal_source *snw_parser_signals(const snw_parser *p);
// The word of `length` bytes at offset `at` as a probe's, with index (`bracket` is where it opens,
// else NULL) and component: `tip.x`, `d(2).vz`. *found is false, and nothing was read, when there
// is no such probe.
SNW_NODISCARD snw_status snw_parse_probe(snw_parser *p, size_t length, int at, const char *bracket,
                                         bool *found, snw_term *out);
// integral(e), sampled(e, T), once(c): its arguments have been read; the text of the call ends
// here.
SNW_NODISCARD snw_status snw_make_memory(snw_parser *p, snw_memory kind, int at,
                                         const snw_term *arg, snw_term *out);
