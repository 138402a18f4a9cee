// SPDX-License-Identifier: MIT
//
// Tokens of expressions: numbers and units, and the location and text of error messages.
#include "math/expr_parser.h"

#include "base/fail.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 200, QUOTE_MAX = 40 };

void snw_skip_blanks(snw_parser *p) {
    while (snw_is_blank(*p->p)) p->p++;
}

// ---- locations and messages --------------------------------------------------------------------

// Columns count characters, not bytes; a line break resets them to 1.
snw_source_location snw_parser_location(const snw_parser *p, int at) {
    snw_source_location location = p->location;
    for (int i = 0; i < at; i++) {
        const unsigned char c = (unsigned char)p->text[i];
        if (c == '\n') {
            location.line++;
            location.column = 1;
        } else if ((c & 0xC0) != 0x80) {
            location.column++;
        }
    }
    return location;
}

void snw_parser_report(const snw_parser *p, int at, const char *format, ...) {
    char text[420];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    // inside a function the message also names the call
    if (p->up && p->args) {
        const size_t used = strlen(text);
        const snw_source_location call = snw_parser_location(p->up, p->call_at);
        (void)snprintf(text + used, sizeof text - used, " (in %s, called at %d:%d)", p->entry->name,
                       call.line, call.column);
    }
    (void)snw_expr_fail(p->err, SNW_E_PARSE, snw_parser_location(p, at), text);
}

void snw_parser_out_of_memory(const snw_parser *p) {
    (void)snw_expr_fail(p->err, SNW_E_MEMORY, snw_parser_location(p, snw_parser_at(p)),
                        "no memory left for this expression");
}

snw_status snw_parser_spend(snw_parser *p) {
    if (--*p->budget > 0) return SNW_OK;
    // report the call in the outermost text, not the place in a function where the budget ended
    const snw_parser *q = p;
    int at = snw_parser_at(p);
    while (q->up && q->args) {
        at = q->call_at;
        q = q->up;
    }
    return snw_parser_fail(q, at, "this needs more than %d operations, make it simpler",
                           SNW_EXPR_OPS_MAX);
}

snw_status snw_parser_enter(snw_parser *p) {
    if (++p->depth <= SNW_EXPR_DEPTH_MAX) return SNW_OK;
    return snw_parser_fail(p, snw_parser_at(p), "this is nested more than %d deep",
                           SNW_EXPR_DEPTH_MAX);
}

void snw_parser_quote(const snw_parser *p, int at, char *out, size_t size) {
    const char *text = p->text + at;
    size_t n = snw_word_length(text);
    if (n == 0) {
        while (snw_is_digit(text[n])) n++;
    }
    if (n == 0) n = 1;
    if (n > QUOTE_MAX) n = QUOTE_MAX;
    if (*text == '\0') {
        (void)snprintf(out, size, "the end");
    } else if ((unsigned char)*text < 0x20 || *text == 0x7f) {
        (void)snprintf(out, size, "a control character");
    } else {
        (void)snprintf(out, size, "'%.*s'", (int)n, text);
    }
}

// ---- numbers -----------------------------------------------------------------------------------

// Length of 12, 1.5, .5, 5., 1e-3.
static size_t number_length(const char *s) {
    size_t n = 0;
    while (snw_is_digit(s[n])) n++;
    if (s[n] == '.') n++;
    while (snw_is_digit(s[n])) n++;
    if (s[n] == 'e' || s[n] == 'E') {
        size_t e = n + 1;
        if (s[e] == '+' || s[e] == '-') e++;
        if (snw_is_digit(s[e])) {
            while (snw_is_digit(s[e])) e++;
            n = e;
        }
    }
    return n;
}

// strtod expects the decimal point of the locale; expressions always use a dot.
static double to_double(const char *s, size_t length) {
    char buffer[NUMBER_MAX + 1];
    memcpy(buffer, s, length);
    buffer[length] = '\0';
    const char *point = localeconv()->decimal_point;
    char *dot = strchr(buffer, '.');
    if (dot && point[0] != '.' && point[1] == '\0') *dot = point[0];
    return strtod(buffer, NULL);
}

// Fail if characters that are not a unit follow the number directly: 1..2, 0x, 1e, 3.2.1.
static snw_status check_tail(const snw_parser *p, const char *start, size_t length) {
    const char *tail = start + length;
    snw_unit_value ignored;
    const bool word = snw_is_letter(*tail);
    if (*tail != '.' && !word) return SNW_OK;
    if (word && snw_unit_read(tail, &ignored) > 0) return SNW_OK;
    size_t n = length;
    while (snw_is_letter(start[n]) || snw_is_digit(start[n]) || start[n] == '.') n++;
    const int at = (int)(start - p->text), shown = n > QUOTE_MAX ? QUOTE_MAX : (int)n;
    if (!word) return snw_parser_fail(p, at, "'%.*s' is not a number", shown, start);
    const size_t nword = snw_word_length(tail);
    char text[200];
    (void)snprintf(text, sizeof text, "'%.*s' is not a number, and '%.*s' is not a unit", shown,
                   start, (int)(nword > QUOTE_MAX ? QUOTE_MAX : nword), tail);
    snw_guess g = snw_guess_start(tail, nword);
    snw_guess_units(&g);
    snw_guess_append(&g, text, sizeof text);
    return snw_parser_fail(p, at, "%s", text);
}

snw_status snw_read_number(snw_parser *p, snw_term *out) {
    const char *start = p->p;
    const int at = snw_parser_at(p);
    const size_t length = number_length(start);
    if (length > NUMBER_MAX) return snw_parser_fail(p, at, "this number has too many digits");
    SNW_TRY(check_tail(p, start, length));
    errno = 0;
    const double value = to_double(start, length);
    if (!isfinite(value)) {
        return snw_parser_fail(p, at, "'%.*s' is too large", (int)length, start);
    }
    if (value == 0 && errno == ERANGE) {
        return snw_parser_fail(p, at, "'%.*s' is too small, write 0", (int)length, start);
    }
    p->p += length;
    SNW_TRY(snw_parser_spend(p));
    *out = (snw_term){
        .node = snw_expr_node_constant(p->pool, value), .q = snw_quantity_plain(), .at = at};
    return out->node ? SNW_OK : snw_parser_no_memory(p);
}

// ---- units -------------------------------------------------------------------------------------

// Is the word at s an operator, which may follow a number?
static bool is_operator_word(const char *s, size_t length) {
    return snw_word_is(s, length, "and") || snw_word_is(s, length, "or");
}

static bool is_known_name(const snw_parser *p, const char *s, size_t length) {
    char name[64];
    if (length < sizeof name) {
        memcpy(name, s, length);
        name[length] = '\0';
        if (snw_word_reserved(name)) return true;
    }
    for (int i = 0; p->args && i < p->entry->nargs; i++) {
        if (snw_word_is(s, length, p->entry->args[i])) return true;
    }
    return snw_scope_find(p->scope, s, length) != NULL;
}

static snw_status unknown_unit(const snw_parser *p, const char *s, size_t length) {
    const int at = (int)(s - p->text), shown = (int)(length > QUOTE_MAX ? QUOTE_MAX : length);
    if (is_known_name(p, s, length)) {
        return snw_parser_fail(p, at, "an operator is missing before '%.*s'", shown, s);
    }
    char text[200];
    (void)snprintf(text, sizeof text, "'%.*s' is not a unit", shown, s);
    snw_guess g = snw_guess_start(s, length);
    snw_guess_units(&g);
    snw_guess_append(&g, text, sizeof text);
    return snw_parser_fail(p, at, "%s", text);
}

// Multiply the term by the unit as value*num/den, so that both mm and GPa are rounded once.
static snw_status apply_unit(snw_parser *p, int at, snw_unit_value unit, snw_term *term) {
    if (term->q.truth || !snw_quantity_fits(term->q, SNW_DIM_NONE)) {
        char got[96];
        snw_quantity_phrase(term->q, got, sizeof got);
        return snw_parser_fail(p, at, "a unit follows a number, but this is already %s", got);
    }
    const snw_term num = {.node = snw_expr_node_constant(p->pool, unit.num)};
    const snw_term den = {.node = snw_expr_node_constant(p->pool, unit.den)};
    if (!num.node || !den.node) return snw_parser_no_memory(p);
    SNW_TRY(snw_parser_make(p, at, SNW_OP_MUL, term, &num, NULL, &term->node));
    SNW_TRY(snw_parser_make(p, at, SNW_OP_DIV, term, &den, NULL, &term->node));
    snw_quantity number = term->q;
    if (!number.plain) {
        // (t/(2 s)) mm: the unit implies that the bracket is a number
        (void)snw_quantity_join(number, snw_quantity_of(SNW_DIM_NONE), &number);
    }
    term->q = snw_quantity_times(number, snw_quantity_of(unit.dim), 1);
    term->unit = true;
    return SNW_OK;
}

// parameter with the name of a factor of the unit, for a hint: in 9.81 m/s^2*h, h is hours
static const char *unit_clash_name(const snw_parser *p, const char *s, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (s[i] != '*' && s[i] != '/') continue;
        const snw_expr_entry *e = snw_scope_find(p->scope, s + i + 1, snw_word_length(s + i + 1));
        if (e) return e->name;
    }
    return NULL;
}

snw_status snw_read_unit(snw_parser *p, snw_term *term) {
    const char *s = p->p;
    while (snw_is_blank(*s)) s++;
    const bool inverse = s > p->p && s[0] == '1' && s[1] == '/';
    const size_t word = snw_word_length(s);
    if (!inverse && (word == 0 || is_operator_word(s, word))) return SNW_OK;
    // a word with a bracket is a function; the missing operator is reported later
    size_t after = word;
    while (snw_is_blank(s[after])) after++;
    if (word && s[after] == '(') return SNW_OK;
    snw_unit_value unit;
    const size_t length = snw_unit_read(s, &unit);
    if (length == 0) return inverse ? SNW_OK : unknown_unit(p, s, word);
    if (s[length] == '^') {
        return snw_parser_fail(p, (int)(s + length - p->text),
                               "the exponent of a unit is a whole number, as in m^2 or s^-1");
    }
    const int at = (int)(s - p->text);
    p->p = s + length;
    if (!p->unit_clash) p->unit_clash = unit_clash_name(p, s, length);
    return apply_unit(p, at, unit, term);
}
