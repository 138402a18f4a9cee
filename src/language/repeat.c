// SPDX-License-Identifier: MIT
//
// Expands names with indices. In `leg(k-1).tip` the index is an expression; `leg(k=1..6)` is a
// range that expands to several names. Bounds may use parameters and indices further left. Only
// parentheses directly after a word enclose indices; the part from an '@' on is a station and is
// not changed.
#include "language/source.h"

#include "base/fail.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 1000, WHOLE_MAX = 1000000 };

static bool word_start(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

size_t snw_name_word(const char *text) {
    size_t n = 0;
    if (!word_start(text[0])) return 0;
    while (word_char(text[n])) n++;
    return n;
}

// ---- parsing ------------------------------------------------------------------------------------

// end of the index that begins at p, its ',' or ')'; NULL when a bracket or quote is not closed
static const char *argument_end(const char *p) {
    int depth = 0;
    for (; *p; p++) {
        if (*p == '"') {
            p = strchr(p + 1, '"');
            if (!p) return NULL;
            continue;
        }
        if (depth == 0 && (*p == ',' || *p == ')')) return p;
        depth += (*p == '(') - (*p == ')');
    }
    return NULL;
}

typedef struct range {
    const char *name;
    size_t name_length;
    const char *low, *low_end, *high, *high_end;
} range;

static const char *repeat_skip_blanks(const char *p) {
    while (*p == ' ') p++;
    return p;
}

// parse `k = low .. high` between p and end
static bool is_range(const char *p, const char *end, range *out) {
    p = repeat_skip_blanks(p);
    out->name = p;
    out->name_length = snw_name_word(p);
    if (out->name_length == 0) return false;
    p = repeat_skip_blanks(p + out->name_length);
    if (*p != '=' || p[1] == '=' || p >= end) return false;
    out->low = p + 1;
    for (p = out->low; p + 1 < end; p++) {
        if (p[0] != '.' || p[1] != '.') continue;
        out->low_end = p;
        out->high = p + 2;
        out->high_end = end;
        return true;
    }
    return false;
}

bool snw_name_has_range(const char *text) {
    if (strnlen(text, NAME_MAX_LENGTH + 1) > NAME_MAX_LENGTH) return false; // too long for a name
    for (const char *p = text; *p; p++) {
        if (*p == '"') {
            p = strchr(p + 1, '"');
            if (!p) return false;
            continue;
        }
        if (*p != '(' || p == text || !word_char(p[-1])) continue;
        for (const char *a = p + 1, *end = argument_end(a); end; end = argument_end(a)) {
            range r;
            if (is_range(a, end, &r)) return true;
            if (*end == ')') break;
            a = end + 1;
        }
    }
    return false;
}

// ---- evaluation ---------------------------------------------------------------------------------

// location of character `skip` of a text on one line; columns count characters, not bytes
static snw_source_location location_in_text(snw_source_location at, const char *text, size_t skip) {
    for (size_t i = 0; i < skip; i++) at.column += (text[i] & 0xC0) != 0x80;
    return at;
}

snw_status snw_name_integer(snw_builder *b, const snw_scope *scope, const char *text, size_t skip,
                            size_t length, snw_source_location at, long *out) {
    while (length && text[skip] == ' ') skip++, length--;
    while (length && text[skip + length - 1] == ' ') length--;
    const snw_source_location here = location_in_text(at, text, skip);
    if (length == 0) return snw_fail_at(b->err, here, "an index is missing in '%s'", text);
    const char *argument = snw_pool_text(b->pool, text + skip, length);
    if (!argument) return snw_builder_memory(b);
    // plain digits are by far the most common
    long value = 0;
    size_t digits = 0;
    while (digits < length && digits < 7 && isdigit((unsigned char)argument[digits])) {
        value = value * 10 + (argument[digits++] - '0');
    }
    if (digits < length) {
        const snw_dim none = SNW_DIM_NONE;
        const snw_expr_rules rules = {.dim = &none};
        const snw_expr *e = NULL;
        SNW_TRY(snw_builder_locate(b,
                                   snw_expr_parse(b->pool, scope, argument, &rules, here.file,
                                                  here.line, here.column, &e, b->err),
                                   here));
        const double v = snw_expr_value(e, (snw_at){0});
        if (!(fabs(v) <= WHOLE_MAX) || fabs(v - round(v)) > 1e-9) {
            return snw_fail_at(b->err, here, "an index must be a whole number, '%s' is %g",
                               argument, v);
        }
        value = (long)round(v);
    }
    if (value > WHOLE_MAX) {
        return snw_fail_at(b->err, here, "an index must be at most %d, found %s", (int)WHOLE_MAX,
                           argument);
    }
    *out = value;
    return SNW_OK;
}

// ---- expansion ----------------------------------------------------------------------------------

typedef struct walk {
    snw_builder *b;
    const char *text;
    snw_source_location at;
    bool ranges;
    snw_name_fn *fn;
    void *user;
    size_t used;
    char out[NAME_MAX_LENGTH + 1];
    int nbind;
    snw_binding bind[SNW_REPEAT_INDICES];
} walk;

static snw_status walk_argument(walk *w, const char *p, const snw_scope *scope);

static snw_status fail_in(walk *w, const char *p, const char *why) {
    return snw_fail_at(w->b->err, location_in_text(w->at, w->text, (size_t)(p - w->text)),
                       "%s in '%.200s'", why, w->text);
}

static snw_status repeat_append(walk *w, const char *p, size_t n) {
    if (n > NAME_MAX_LENGTH - w->used) return fail_in(w, p, "a name is too long");
    memcpy(w->out + w->used, p, n);
    w->used += n;
    return SNW_OK;
}

static snw_status repeat_finish(walk *w, const snw_scope *scope) {
    w->out[w->used] = '\0';
    return w->fn(w->user, w->out, scope, w->nbind, w->bind);
}

// copy from p, outside of parentheses
static snw_status walk_name(walk *w, const char *p, const snw_scope *scope) {
    while (*p) {
        const size_t word = snw_name_word(p);
        size_t step = word ? word : 1;
        if (*p == '@') step = strlen(p);
        if (!word && word_char(*p)) { // a digit and the word characters after it
            while (word_char(p[step])) step++;
        }
        SNW_TRY(repeat_append(w, p, step));
        p += step;
        if (word && *p == '(') {
            SNW_TRY(repeat_append(w, p, 1));
            return walk_argument(w, p + 1, scope);
        }
    }
    return repeat_finish(w, scope);
}

// append the value of an index and continue after it; end is its ',' or ')'
static snw_status walk_after_index(walk *w, long value, const char *end, const snw_scope *scope) {
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%ld%c", value, *end);
    SNW_TRY(repeat_append(w, digits, (size_t)n));
    return *end == ',' ? walk_argument(w, end + 1, scope) : walk_name(w, end + 1, scope);
}

static snw_status walk_range(walk *w, const range *r, const snw_scope *scope) {
    snw_builder *b = w->b;
    if (!w->ranges) return fail_in(w, r->name, "an index range is not allowed here,");
    if (w->nbind == SNW_REPEAT_INDICES) return fail_in(w, r->name, "too many indices");
    long low = 0, high = 0;
    SNW_TRY(snw_name_integer(b, scope, w->text, (size_t)(r->low - w->text),
                             (size_t)(r->low_end - r->low), w->at, &low));
    SNW_TRY(snw_name_integer(b, scope, w->text, (size_t)(r->high - w->text),
                             (size_t)(r->high_end - r->high), w->at, &high));
    const char *name = snw_pool_text(b->pool, r->name, r->name_length);
    if (!name) return snw_builder_memory(b);
    const size_t used = w->used;
    const int nbind = w->nbind++;
    for (long v = low; v <= high; v++) {
        if (++b->repeats > SNW_REPEAT_MAX) {
            return snw_fail_at(b->err, w->at, "repetitions make more than %d elements",
                               SNW_REPEAT_MAX);
        }
        snw_scope *inner = snw_scope_create(b->pool, scope);
        if (!inner) return snw_builder_memory(b);
        const snw_source_location here =
            location_in_text(w->at, w->text, (size_t)(r->name - w->text));
        SNW_TRY(snw_builder_locate(b, snw_scope_index(inner, name, v, b->err), here));
        w->used = used;
        w->nbind = nbind + 1;
        w->bind[nbind] = (snw_binding){.name = name, .value = v};
        SNW_TRY(walk_after_index(w, v, r->high_end, inner));
    }
    w->nbind = nbind;
    return SNW_OK;
}

// evaluate the index that begins at p
static snw_status walk_argument(walk *w, const char *p, const snw_scope *scope) {
    const char *end = argument_end(p);
    if (!end)
        return fail_in(w, p, "a ')' is missing (within [] and {} quote names that have commas)");
    range r;
    if (is_range(p, end, &r)) return walk_range(w, &r, scope);
    long value = 0;
    SNW_TRY(snw_name_integer(w->b, scope, w->text, (size_t)(p - w->text), (size_t)(end - p), w->at,
                             &value));
    return walk_after_index(w, value, end, scope);
}

snw_status snw_name_each(snw_builder *b, const char *text, snw_source_location at,
                         const snw_scope *scope, bool ranges, snw_name_fn *fn, void *user) {
    walk w = {.b = b, .text = text, .at = at, .ranges = ranges, .fn = fn, .user = user};
    return walk_name(&w, text, scope);
}

// ---- a single name ------------------------------------------------------------------------------

typedef struct single {
    snw_builder *b;
    const char *name;
} single;

static snw_status keep_name(void *user, const char *name, const snw_scope *scope, int nbind,
                            const snw_binding *bind) {
    (void)scope, (void)nbind, (void)bind;
    single *s = user;
    s->name = snw_pool_text(s->b->pool, name, strlen(name));
    return s->name ? SNW_OK : snw_builder_memory(s->b);
}

snw_status snw_name_resolve(const snw_node *node, snw_pool *pool, const char **out,
                            snw_error *err) {
    SNW_ASSERT(node->kind == SNW_NODE_TEXT);
    snw_builder b = {.pool = pool, .err = err};
    snw_source_location at = node->location;
    if (node->quoted) at.column++;
    single s = {.b = &b, .name = node->text};
    if (strchr(node->text, '(')) {
        SNW_TRY(snw_name_each(&b, node->text, at, node->scope, false, keep_name, &s));
    }
    *out = s.name;
    return SNW_OK;
}
