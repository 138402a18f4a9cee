// SPDX-License-Identifier: MIT
//
// Events of a YAML text without libfyaml: block and flow collections, plain and quoted scalars,
// block text, anchors, aliases, tags, comments, document marks. Not read, since yaml_guard.c
// refuses them for all readers: directives and keys introduced by '?'. The text is parsed at once
// by recursive descent, and its events are kept; a fault becomes the last of them.
//
// Columns within this file count from 0, as indentation does; n is the indentation of the
// collection around, -1 for the document.
#include "language/yaml_events.h"

#include "base/fail.h"
#include "language/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Recursion ends a little deeper than yaml.c allows, which reports it.
enum { DEEPEST = SNW_YAML_DEPTH + 4, BLOCK = 256, KEY_LENGTH = 1024 };

typedef struct event_block {
    struct event_block *next;
    int n;
    snw_yaml_event event[BLOCK];
} event_block;

struct snw_yaml_events {
    snw_pool *pool;
    const char *file;
    // text and position in it
    const char *p, *end, *line_start;
    int line;            // from 1
    int around;          // indentation of the block collection around a flow node
    const char *counted; // characters of the line up to here are counted
    int count;
    // events
    event_block *first, *last;
    int next; // index in `first` of the next event to give
    bool failed, no_memory;
    int fault_line, fault_column; // from 1
    bool unclosed;                // the fault is a bracket that is not closed
    char fault[160];
};

typedef snw_yaml_events parser;

// A position, to return to.
typedef struct place {
    const char *p, *line_start;
    int line;
} place;

// Properties of a node before its content.
typedef struct properties {
    const char *anchor, *tag;
    bool any;
} properties;

// ---- characters ---------------------------------------------------------------------------------

static char at(const parser *s, int ahead) { return ahead < s->end - s->p ? s->p[ahead] : '\0'; }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static bool is_break(char c) { return c == '\n' || c == '\r'; }
// blank, line end or end of the text
static bool is_space(char c) { return is_blank(c) || is_break(c) || c == '\0'; }
static bool is_flow_mark(char c) {
    return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
}

// column in characters, from 0
static int column(parser *s) {
    if (s->counted < s->line_start || s->counted > s->p) {
        s->counted = s->line_start;
        s->count = 0;
    }
    for (; s->counted < s->p; s->counted++) s->count += (*s->counted & 0xC0) != 0x80;
    return s->count;
}

static place here(const parser *s) { return (place){s->p, s->line_start, s->line}; }
static void go_back(parser *s, place to) {
    s->p = to.p;
    s->line_start = to.line_start;
    s->line = to.line;
}

static void take_break(parser *s) {
    if (at(s, 0) == '\r' && at(s, 1) == '\n') s->p++;
    s->p++;
    s->line++;
    s->line_start = s->p;
}

static void skip_blanks(parser *s) {
    while (is_blank(at(s, 0))) s->p++;
}

// Skip blanks, comments and line ends up to the next content.
static void skip_to_content(parser *s) {
    for (;;) {
        skip_blanks(s);
        const bool apart = s->p == s->line_start || is_blank(s->p[-1]);
        if (at(s, 0) == '#' && apart) {
            while (s->p < s->end && !is_break(*s->p)) s->p++;
        }
        if (s->p == s->end || !is_break(*s->p)) return;
        take_break(s);
    }
}

// is there "---" or "..." at the start of this line?
static bool at_document_mark(const parser *s) {
    return s->p == s->line_start && s->end - s->p >= 3 &&
           (memcmp(s->p, "---", 3) == 0 || memcmp(s->p, "...", 3) == 0) && is_space(at(s, 3));
}

// "- ", and the like: an indicator that a blank follows
static bool at_indicator(const parser *s, char c) { return at(s, 0) == c && is_space(at(s, 1)); }

// ---- faults and events --------------------------------------------------------------------------

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static bool
refuse(parser *s, place where, const char *format, ...) {
    if (s->failed) return false;
    s->failed = true;
    const place now = here(s);
    go_back(s, where);
    s->fault_line = s->line;
    s->fault_column = column(s) + 1;
    go_back(s, now);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(s->fault, sizeof s->fault, format, args);
    va_end(args);
    return false;
}

static bool out_of_memory(parser *s) {
    s->failed = s->no_memory = true;
    return false;
}

static snw_yaml_event *add_event(parser *s, snw_yaml_kind kind) {
    if (!s->last || s->last->n == BLOCK) {
        event_block *b = snw_pool_take(s->pool, sizeof *b);
        if (!b) {
            (void)out_of_memory(s);
            return NULL;
        }
        b->next = NULL;
        b->n = 0;
        if (s->last) s->last->next = b;
        if (!s->first) s->first = b;
        s->last = b;
    }
    snw_yaml_event *e = &s->last->event[s->last->n++];
    *e = (snw_yaml_event){.kind = kind};
    return e;
}

// an event with the location `where`; NULL: no memory
static snw_yaml_event *add_event_at(parser *s, snw_yaml_kind kind, place where) {
    snw_yaml_event *e = add_event(s, kind);
    const place now = here(s);
    go_back(s, where);
    if (e) {
        e->line = s->line;
        e->column = column(s) + 1;
    }
    go_back(s, now);
    return e;
}

static void set_properties(snw_yaml_event *e, const properties *with) {
    e->anchor = with->anchor;
    e->tag = with->tag;
}

static bool add_empty(parser *s, const properties *with) {
    snw_yaml_event *e = add_event(s, SNW_YAML_SCALAR);
    if (e) set_properties(e, with);
    return e != NULL;
}

static bool add_scalar(parser *s, place where, const properties *with, bool quoted, char *text,
                       size_t length) {
    snw_yaml_event *e = add_event_at(s, SNW_YAML_SCALAR, where);
    if (!e) return false;
    text[length] = '\0';
    e->text = text;
    e->length = length;
    e->quoted = quoted;
    set_properties(e, with);
    return true;
}

static bool add_start(parser *s, snw_yaml_kind kind, place where, const properties *with,
                      bool flow) {
    snw_yaml_event *e = add_event_at(s, kind, where);
    if (!e) return false;
    e->flow = flow;
    set_properties(e, with);
    return true;
}

// ---- properties and aliases ---------------------------------------------------------------------

// the name of an anchor or alias, after '&' or '*'
static bool take_name(parser *s, const char **out) {
    const place start = here(s);
    while (!is_space(at(s, 0)) && !is_flow_mark(at(s, 0))) s->p++;
    if (s->p == start.p) return refuse(s, start, "a name is missing after '%c'", start.p[-1]);
    *out = snw_pool_text(s->pool, start.p, (size_t)(s->p - start.p));
    return *out || out_of_memory(s);
}

// "!!int" becomes "tag:yaml.org,2002:int"; other tags stay as they are
static bool take_tag(parser *s, const char **out) {
    const char *start = s->p;
    while (!is_space(at(s, 0)) && !is_flow_mark(at(s, 0))) s->p++;
    const bool core = s->p - start > 1 && start[1] == '!';
    if (core) start += 2;
    const size_t length = (size_t)(s->p - start);
    static const char prefix[] = "tag:yaml.org,2002:";
    const size_t head = core ? sizeof prefix - 1 : 0;
    char *text = snw_pool_take(s->pool, head + length + 1);
    if (!text) return out_of_memory(s);
    memcpy(text, prefix, head);
    memcpy(text + head, start, length);
    text[head + length] = '\0';
    *out = text;
    return true;
}

// anchor and tag, in either order, with the blanks behind them
static bool take_properties(parser *s, properties *out) {
    for (;;) {
        const place start = here(s);
        const char c = at(s, 0);
        if (c != '&' && c != '!') return true;
        if (c == '&' ? out->anchor != NULL : out->tag != NULL) {
            return refuse(s, start, "a second %s for one value", c == '&' ? "anchor" : "tag");
        }
        out->any = true;
        if (c == '&') s->p++;
        if (!(c == '&' ? take_name(s, &out->anchor) : take_tag(s, &out->tag))) return false;
        skip_blanks(s);
    }
}

static bool take_alias(parser *s, const properties *with) {
    const place start = here(s);
    if (with->any) return refuse(s, start, "an alias has neither anchor nor tag");
    s->p++;
    const char *name;
    if (!take_name(s, &name)) return false;
    snw_yaml_event *e = add_event_at(s, SNW_YAML_ALIAS, start);
    if (!e) return false;
    e->text = name;
    e->length = strlen(name);
    return true;
}

// ---- quoted scalars -----------------------------------------------------------------------------

// Line ends within quotes: one is a blank, each further one a line end. `out` has lost the blanks
// before. False: the quotes are not closed before a document mark, or a line is not indented.
static bool fold_lines(parser *s, char **out) {
    int breaks = 0;
    while (is_break(at(s, 0))) {
        take_break(s);
        breaks++;
        if (at_document_mark(s)) return false;
        skip_blanks(s);
    }
    if (s->p < s->end && column(s) <= s->around) {
        return refuse(s, here(s), "lines of quoted text are indented deeper than what is around");
    }
    if (breaks == 1) *(*out)++ = ' ';
    for (int i = 1; i < breaks; i++) *(*out)++ = '\n';
    return true;
}

static char *put_utf8(char *to, unsigned code) {
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xC0 | code >> 6);
        *to++ = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        *to++ = (char)(0xE0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    } else {
        *to++ = (char)(0xF0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 63));
        *to++ = (char)(0x80 | (code >> 6 & 63));
        *to++ = (char)(0x80 | (code & 63));
    }
    return to;
}

static bool take_hexadecimal(parser *s, int digits, char **out) {
    unsigned code = 0;
    for (int i = 0; i < digits; i++, s->p++) {
        const char c = at(s, 0);
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return refuse(s, here(s), "the escape needs %d hexadecimal digits", digits);
        code = code << 4 | (unsigned)digit;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        return refuse(s, here(s), "the escape is no character of Unicode");
    }
    *out = put_utf8(*out, code);
    return true;
}

// the escape after a backslash
static bool take_escape(parser *s, char **out) {
    static const struct {
        char letter;
        unsigned code;
    } simple[] = {{'0', 0},   {'a', 7},     {'b', 8},    {'t', 9},    {'\t', 9},     {'n', 10},
                  {'v', 11},  {'f', 12},    {'r', 13},   {'e', 27},   {' ', ' '},    {'"', '"'},
                  {'/', '/'}, {'\\', '\\'}, {'N', 0x85}, {'_', 0xA0}, {'L', 0x2028}, {'P', 0x2029}};
    const place start = here(s);
    const char c = at(s, 0);
    if (is_break(c)) { // the line goes on without a blank
        char *ignored = *out;
        take_break(s);
        skip_blanks(s);
        while (is_break(at(s, 0))) {
            take_break(s);
            skip_blanks(s);
            *ignored++ = '\n';
        }
        *out = ignored;
        return true;
    }
    s->p++;
    if (c == 'x') return take_hexadecimal(s, 2, out);
    if (c == 'u') return take_hexadecimal(s, 4, out);
    if (c == 'U') return take_hexadecimal(s, 8, out);
    for (size_t i = 0; c && i < sizeof simple / sizeof *simple; i++) {
        if (simple[i].letter != c) continue;
        *out = put_utf8(*out, simple[i].code);
        return true;
    }
    return refuse(s, start, "there is no escape '\\%c'", c > ' ' && c < 127 ? c : '?');
}

// room for the text of a scalar in quotes: up to the closing quote, with escapes that grow
static char *quoted_room(parser *s, char quote) {
    const char *q = s->p;
    while (q < s->end && (*q != quote || (quote == '\'' && q + 1 < s->end && q[1] == quote))) {
        q += (quote == '"' && *q == '\\') || (quote == '\'' && *q == quote) ? 2 : 1;
    }
    char *text = snw_pool_take(s->pool, 2 * (size_t)(q - s->p) + 8);
    if (!text) (void)out_of_memory(s);
    return text;
}

static bool take_quoted(parser *s, const properties *with) {
    const place start = here(s);
    const char quote = *s->p++;
    char *text = quoted_room(s, quote), *to = text, *kept = text; // kept: blanks before it stay
    if (!text) return false;
    while (s->p < s->end) {
        const char c = *s->p;
        if (c == quote && quote == '\'' && at(s, 1) == quote) {
            s->p += 2;
            *to++ = quote;
            kept = to;
        } else if (c == quote) {
            s->p++;
            return add_scalar(s, start, with, true, text, (size_t)(to - text));
        } else if (c == '\\' && quote == '"') {
            s->p++;
            if (!take_escape(s, &to)) return false;
            kept = to;
        } else if (is_break(c)) {
            while (to > kept && is_blank(to[-1])) to--;
            if (!fold_lines(s, &to)) break;
            kept = to;
        } else {
            *to++ = c;
            s->p++;
        }
    }
    return refuse(s, start, "the quote %c is not closed", quote);
}

// ---- plain scalars ------------------------------------------------------------------------------

// may a plain scalar begin here?
static bool begins_plain(const parser *s, bool flow) {
    const char c = at(s, 0), next = at(s, 1);
    if (c == '-' || c == '?' || c == ':') {
        return !is_space(next) && !(flow && is_flow_mark(next));
    }
    return c && !is_space(c) && !strchr(",[]{}#&*!|>'\"%@`", c);
}

// does the plain scalar end at this character?
static bool ends_plain(const parser *s, bool flow) {
    const char c = at(s, 0), next = at(s, 1);
    if (c == ':' && (is_space(next) || (flow && is_flow_mark(next)))) return true;
    if (flow && is_flow_mark(c)) return true;
    return c == '#' && is_blank(s->p[-1]);
}

// Does the text of a plain scalar go on in a following line? Then s is there, and *breaks is the
// number of line ends; else s is unchanged.
static bool plain_continues(parser *s, int n, bool flow, int *breaks) {
    const place before = here(s);
    *breaks = 0;
    while (is_break(at(s, 0))) {
        take_break(s);
        ++*breaks;
        if (at_document_mark(s)) break;
        skip_blanks(s);
    }
    const bool more = *breaks > 0 && s->p < s->end && !at_document_mark(s) && at(s, 0) != '#' &&
                      (flow || column(s) > n) && !ends_plain(s, flow);
    if (!more) go_back(s, before);
    return more;
}

// one line of it; s is behind, blanks at its end are left out
static const char *plain_line(parser *s, bool flow) {
    const char *last = s->p;
    while (s->p < s->end && !is_break(*s->p) && !ends_plain(s, flow)) {
        if (!is_blank(*s->p)) last = s->p + 1;
        s->p++;
    }
    return last;
}

static bool take_plain(parser *s, int n, bool flow, bool one_line, const properties *with) {
    const place start = here(s);
    const char *first = s->p, *last = plain_line(s, flow);
    // room by a first pass over the lines
    int breaks;
    const place second = here(s);
    const char *rear = last;
    while (!one_line && is_break(at(s, 0)) && plain_continues(s, n, flow, &breaks)) {
        rear = plain_line(s, flow);
    }
    go_back(s, second);
    char *text = snw_pool_take(s->pool, (size_t)(rear - first) + 1), *to = text;
    if (!text) return out_of_memory(s);
    memcpy(to, first, (size_t)(last - first));
    to += last - first;
    while (!one_line && is_break(at(s, 0)) && plain_continues(s, n, flow, &breaks)) {
        const place line = here(s);
        if (breaks == 1) *to++ = ' ';
        for (int i = 1; i < breaks; i++) *to++ = '\n';
        first = s->p;
        last = plain_line(s, flow);
        memcpy(to, first, (size_t)(last - first));
        to += last - first;
        if (!flow && at(s, 0) == ':') {
            return refuse(s, line, "a key cannot begin inside a value; is it indented too far?");
        }
    }
    return add_scalar(s, start, with, false, text, (size_t)(to - text));
}

// ---- block text ---------------------------------------------------------------------------------

// the indicators after '|' or '>', up to the end of the line
static bool block_head(parser *s, char *chomp, int *indent) {
    *chomp = ' ';
    *indent = 0;
    for (;; s->p++) {
        const char c = at(s, 0);
        if ((c == '+' || c == '-') && *chomp == ' ') {
            *chomp = c;
        } else if (c >= '1' && c <= '9' && *indent == 0) {
            *indent = c - '0';
        } else {
            break;
        }
    }
    const bool apart = is_blank(at(s, 0));
    skip_blanks(s);
    if (at(s, 0) == '#' && apart) {
        while (s->p < s->end && !is_break(*s->p)) s->p++;
    }
    if (s->p < s->end && !is_break(*s->p)) {
        return refuse(s, here(s), "block text begins in the next line");
    }
    if (s->p < s->end) take_break(s);
    return true;
}

// number of blanks at the start of this line
static int indentation(const parser *s) {
    int i = 0;
    while (at(s, i) == ' ') i++;
    return i;
}

// indentation of block text: that of its first line that is not empty
static int block_indent(parser *s, int n) {
    const place start = here(s);
    int indent = 0;
    for (;;) {
        const int blanks = indentation(s);
        const char c = at(s, blanks);
        if (!is_break(c)) {
            if (c != '\0') indent = blanks;
            break;
        }
        s->p += blanks;
        take_break(s);
    }
    go_back(s, start);
    return indent > n ? indent : n + 1;
}

// does this line belong to block text?
static bool block_line(const parser *s, int indent) {
    if (s->p == s->end || at_document_mark(s)) return false;
    const int blanks = indentation(s);
    return blanks >= indent || is_break(at(s, blanks));
}

static bool take_block_text(parser *s, int n, const properties *with) {
    const bool folded = *s->p++ == '>';
    char chomp;
    int given;
    if (!block_head(s, &chomp, &given)) return false;
    const int indent = given > 0 ? (n < 0 ? 0 : n) + given : block_indent(s, n);
    const place body = here(s);
    while (block_line(s, indent)) {
        while (s->p < s->end && !is_break(*s->p)) s->p++;
        if (s->p < s->end) take_break(s);
    }
    char *text = snw_pool_take(s->pool, (size_t)(s->p - body.p) + 2), *to = text;
    if (!text) return out_of_memory(s);
    go_back(s, body);
    int breaks = 0;           // line ends not yet written
    bool apart_before = true; // the line before began with a blank, or there was none
    while (block_line(s, indent)) {
        const int blanks = indentation(s), skip = blanks < indent ? blanks : indent;
        s->p += skip;
        const char *line = s->p;
        while (s->p < s->end && !is_break(*s->p)) s->p++;
        const size_t length = (size_t)(s->p - line);
        if (s->p < s->end) take_break(s);
        if (length == 0) {
            breaks++;
            continue;
        }
        // a folded line end between lines that begin at the indentation is a blank
        const bool apart = is_blank(line[0]);
        if (folded && !apart && !apart_before && breaks > 0) {
            if (breaks == 1) *to++ = ' ';
            breaks--;
        }
        for (; breaks > 0; breaks--) *to++ = '\n';
        memcpy(to, line, length);
        to += length;
        breaks = 1;
        apart_before = apart;
    }
    if (to == text && chomp != '+') breaks = 0;
    if (chomp == '-') breaks = 0;
    if (chomp == ' ' && breaks > 1) breaks = 1;
    for (; breaks > 0; breaks--) *to++ = '\n';
    return add_scalar(s, body, with, true, text, (size_t)(to - text));
}

// ---- flow collections ---------------------------------------------------------------------------

static bool flow_node(parser *s, int depth);

// are there only blanks before the content here?
static bool is_first_of_line(const parser *s) {
    const char *q = s->p;
    while (q > s->line_start && is_blank(q[-1])) q--;
    return q == s->line_start;
}

// Skip to the next content within brackets, whose lines are indented.
static bool flow_skip(parser *s) {
    skip_to_content(s);
    if (s->p == s->end || !is_first_of_line(s) || column(s) > s->around) return true;
    if (at_document_mark(s)) return true;
    return refuse(s, here(s), "lines within brackets are indented deeper than what is around");
}

// Skip a scalar in quotes or a bracket on this line; false when it does not end there.
static bool skip_group(parser *s) {
    int open = 0;
    char quote = '\0';
    for (; s->p < s->end && !is_break(*s->p); s->p++) {
        const char c = *s->p;
        if (quote) {
            if (quote == '"' && c == '\\') s->p++;
            if (c == quote) quote = '\0';
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else {
            open += (c == '[' || c == '{') - (c == ']' || c == '}');
        }
        if (!quote && open <= 0) {
            s->p++;
            // a quote that is doubled goes on
            if (c == '\'' && at(s, 0) == '\'') {
                quote = c;
                continue;
            }
            return true;
        }
    }
    return false;
}

// Is there a key with its ':' here, on one line? Nothing changes.
static bool at_key(parser *s, bool flow) {
    const place start = here(s);
    bool group = false, good = true;
    while (at(s, 0) == '&' || at(s, 0) == '!') {
        while (!is_space(at(s, 0)) && !(flow && is_flow_mark(at(s, 0)))) s->p++;
        skip_blanks(s);
    }
    const char c = at(s, 0);
    if (c == '*') {
        while (!is_space(at(s, 0)) && !is_flow_mark(at(s, 0))) s->p++;
    } else if (c == '"' || c == '\'' || c == '[' || c == '{') {
        good = group = skip_group(s);
    } else if (begins_plain(s, flow)) {
        (void)plain_line(s, flow);
    } else {
        good = c == ':';
    }
    skip_blanks(s);
    const char next = at(s, 1);
    good = good && s->p - start.p <= KEY_LENGTH && at(s, 0) == ':' &&
           (is_space(next) || (flow && (group || is_flow_mark(next))));
    go_back(s, start);
    return good;
}

static bool unclosed(parser *s, place bracket) {
    s->unclosed = !s->failed;
    return refuse(s, bracket, "the bracket %c is not closed", *bracket.p);
}

// After an entry: true and *more, s behind the comma; true and not *more: s is at the bracket.
static bool flow_comma(parser *s, place bracket, char close, bool *more) {
    if (!flow_skip(s)) return false;
    *more = at(s, 0) == ',';
    if (*more) {
        s->p++;
        return flow_skip(s);
    }
    if (at(s, 0) == close) return true;
    if (s->p == s->end || at_document_mark(s)) return unclosed(s, bracket);
    return refuse(s, here(s), "a comma or '%c' is missing here", close);
}

// value after a key, and the ':' before it; without ':' it is empty
static bool flow_value(parser *s, bool group, int depth) {
    static const properties none = {0};
    if (!flow_skip(s)) return false;
    const char next = at(s, 1);
    if (at(s, 0) != ':' || !(group || is_space(next) || is_flow_mark(next))) {
        return add_empty(s, &none);
    }
    s->p++;
    if (!flow_skip(s)) return false;
    return at(s, 0) == ',' || at(s, 0) == ']' || at(s, 0) == '}' ? add_empty(s, &none)
                                                                 : flow_node(s, depth);
}

// does the key that begins here allow a value directly after its ':'?
static bool is_group(const parser *s) {
    const char c = at(s, 0);
    return c == '"' || c == '\'' || c == '[' || c == '{';
}

static bool flow_pair(parser *s, int depth) {
    static const properties none = {0};
    const bool group = is_group(s);
    if (at(s, 0) == ':' && (is_space(at(s, 1)) || is_flow_mark(at(s, 1)))) {
        if (!add_empty(s, &none)) return false;
    } else if (!flow_node(s, depth)) {
        return false;
    }
    return flow_value(s, group, depth);
}

static bool flow_list(parser *s, const properties *with, int depth) {
    static const properties none = {0};
    const place bracket = here(s);
    if (!add_start(s, SNW_YAML_LIST_START, bracket, with, true)) return false;
    s->p++;
    if (!flow_skip(s)) return false;
    for (bool more = at(s, 0) != ']'; more && at(s, 0) != ']';) {
        if (s->p == s->end) return unclosed(s, bracket);
        if (at_key(s, true)) { // a map of one entry
            if (!add_start(s, SNW_YAML_MAP_START, here(s), &none, true) ||
                !flow_pair(s, depth + 1) || !add_event(s, SNW_YAML_MAP_END)) {
                return false;
            }
        } else if (!flow_node(s, depth + 1)) {
            return false;
        }
        if (!flow_comma(s, bracket, ']', &more)) return false;
    }
    const bool good = add_event_at(s, SNW_YAML_LIST_END, here(s)) != NULL;
    s->p++;
    return good;
}

static bool flow_map(parser *s, const properties *with, int depth) {
    const place bracket = here(s);
    if (!add_start(s, SNW_YAML_MAP_START, bracket, with, true)) return false;
    s->p++;
    if (!flow_skip(s)) return false;
    for (bool more = true; more && at(s, 0) != '}';) {
        if (s->p == s->end) return unclosed(s, bracket);
        if (!flow_pair(s, depth + 1) || !flow_comma(s, bracket, '}', &more)) return false;
    }
    const bool good = add_event_at(s, SNW_YAML_MAP_END, here(s)) != NULL;
    s->p++;
    return good;
}

// content that is the same in block and flow context; *done: there was such content
static bool take_content(parser *s, int n, bool flow, bool one_line, const properties *with,
                         int depth, bool *done) {
    *done = true;
    switch (at(s, 0)) {
    case '[':
        return flow_list(s, with, depth);
    case '{':
        return flow_map(s, with, depth);
    case '"':
    case '\'':
        return take_quoted(s, with);
    case '*':
        return take_alias(s, with);
    default:
        break;
    }
    *done = begins_plain(s, flow);
    return !*done || take_plain(s, n, flow, one_line, with);
}

static bool refuse_character(parser *s) {
    const char c = at(s, 0);
    if (c == '\0') return refuse(s, here(s), "the text ends within a value");
    if (c == '\t') return refuse(s, here(s), "a tab cannot indent; use blanks");
    return refuse(s, here(s), "'%c' cannot begin a value; put it in quotes",
                  c > ' ' && c < 127 ? c : '?');
}

static bool flow_node(parser *s, int depth) {
    if (depth > DEEPEST) return refuse(s, here(s), "brackets are nested too deep");
    properties with = {0};
    do {
        if (!take_properties(s, &with) || !flow_skip(s)) return false;
    } while (at(s, 0) == '&' || at(s, 0) == '!');
    const char c = at(s, 0);
    if (with.any && (c == ',' || c == ']' || c == '}' || c == ':')) return add_empty(s, &with);
    bool done;
    if (!take_content(s, -1, true, false, &with, depth, &done)) return false;
    return done || refuse_character(s);
}

// ---- block collections --------------------------------------------------------------------------

typedef enum position { AT_ROOT, AFTER_DASH, AFTER_KEY } position;

static bool block_node(parser *s, int n, position where, int depth);

// is there a tab before the content of this line?
static bool check_indent(parser *s) {
    for (const char *q = s->line_start; q < s->p && is_blank(*q); q++) {
        if (*q != '\t') continue;
        s->p = q;
        return refuse_character(s);
    }
    return true;
}

static bool block_key(parser *s, int depth) {
    static const properties none = {0};
    properties with = {0};
    if (!take_properties(s, &with)) return false;
    bool done = false;
    if (at(s, 0) == ':' && is_space(at(s, 1))) {
        if (!add_empty(s, with.any ? &with : &none)) return false;
    } else if (!take_content(s, -1, false, true, &with, depth, &done)) {
        return false;
    }
    skip_blanks(s);
    if (at(s, 0) != ':') return refuse(s, here(s), "a ':' is missing after the key");
    s->p++;
    return true;
}

static bool block_map(parser *s, const properties *with, int depth) {
    const int c = column(s);
    if (!check_indent(s) || !add_start(s, SNW_YAML_MAP_START, here(s), with, false)) return false;
    for (;;) {
        if (!block_key(s, depth) || !block_node(s, c, AFTER_KEY, depth + 1)) return false;
        skip_to_content(s);
        if (s->p == s->end || at_document_mark(s)) break;
        if (!is_first_of_line(s)) {
            return refuse(s, here(s), "the value ends before this; put the text in quotes");
        }
        if (column(s) < c) break;
        if (!check_indent(s)) return false;
        if (column(s) > c) return refuse(s, here(s), "this line is indented too far");
        if (!at_key(s, false)) {
            return refuse(s, here(s), "a key with ':' and a blank behind it is missing here");
        }
    }
    return add_event_at(s, SNW_YAML_MAP_END, here(s)) != NULL;
}

static bool block_list(parser *s, const properties *with, int depth) {
    const int c = column(s);
    if (!check_indent(s) || !add_start(s, SNW_YAML_LIST_START, here(s), with, false)) return false;
    for (;;) {
        s->p++; // the dash
        if (!block_node(s, c, AFTER_DASH, depth + 1)) return false;
        skip_to_content(s);
        if (s->p == s->end || at_document_mark(s)) break;
        if (!is_first_of_line(s)) {
            return refuse(s, here(s), "the value ends before this; put the text in quotes");
        }
        if (column(s) > c) return refuse(s, here(s), "this line is indented too far");
        if (column(s) < c || !at_indicator(s, '-')) break;
    }
    return add_event_at(s, SNW_YAML_LIST_END, here(s)) != NULL;
}

// does the content here belong to a node in a collection with indentation n?
static bool belongs(parser *s, int n, position where) {
    if (s->p == s->end || at_document_mark(s)) return false;
    const int c = column(s);
    return c > n || (where == AFTER_KEY && c == n && at_indicator(s, '-'));
}

static bool block_scalar(parser *s, int n, bool fresh, const properties *with, int depth) {
    if (at(s, 0) == '|' || at(s, 0) == '>') return take_block_text(s, n, with);
    const place start = here(s);
    bool done;
    s->around = n;
    if (!take_content(s, n, false, false, with, depth, &done)) return false;
    if (!done) return refuse_character(s);
    skip_blanks(s);
    if (at(s, 0) == ':' && is_space(at(s, 1))) {
        return refuse(s, start,
                      fresh ? "a key must be on one line of at most 1024 characters"
                            : "a second key on this line; put the text in quotes, or begin a line");
    }
    return true;
}

// The node after "key:", "-" or at the start. Block collections begin on a line of their own, or
// directly after a dash.
static bool block_node(parser *s, int n, position where, int depth) {
    if (depth > DEEPEST) return refuse(s, here(s), "lists and maps are nested too deep");
    properties with = {0};
    const int line = s->line;
    for (;;) {
        skip_to_content(s);
        const bool new_line = s->line != line;
        const bool fresh = new_line || where != AFTER_KEY;
        if ((new_line || where == AT_ROOT || s->p == s->end) && !belongs(s, n, where)) {
            return add_empty(s, &with);
        }
        if (at_indicator(s, '-')) {
            if (fresh && (!with.any || new_line)) return block_list(s, &with, depth);
            return refuse(s, here(s), "a list begins on a line of its own");
        }
        if (fresh && (!with.any || new_line) && at_key(s, false)) {
            return block_map(s, &with, depth);
        }
        if (at(s, 0) != '&' && at(s, 0) != '!') return block_scalar(s, n, fresh, &with, depth);
        if (!take_properties(s, &with)) return false;
        if (!is_space(at(s, 0)) && at(s, 0) != '#') {
            return block_scalar(s, n, false, &with, depth);
        }
    }
}

// ---- the stream ---------------------------------------------------------------------------------

static bool parse_stream(parser *s) {
    skip_to_content(s);
    while (s->p < s->end) {
        if (!add_event_at(s, SNW_YAML_DOCUMENT_START, here(s))) return false;
        if (at_document_mark(s) && *s->p == '-') s->p += 3;
        if (!block_node(s, -1, AT_ROOT, 0)) return false;
        skip_to_content(s);
        if (s->p < s->end && !at_document_mark(s)) {
            return refuse(s, here(s),
                          "the text goes on where the model has ended; is this line "
                          "indented wrongly?");
        }
        while (at_document_mark(s) && *s->p == '.') {
            s->p += 3;
            skip_to_content(s);
        }
        if (!add_event(s, SNW_YAML_DOCUMENT_END)) return false;
    }
    return add_event(s, SNW_YAML_STREAM_END) != NULL;
}

snw_status snw_yaml_events_open(snw_pool *pool, const char *file, const char *text, size_t length,
                                snw_yaml_events **out, snw_error *err) {
    snw_yaml_events *s = *out = snw_pool_take(pool, sizeof *s);
    if (!s) return snw_fail(err, SNW_E_MEMORY, "no memory left to read '%s'", file);
    *s = (snw_yaml_events){.pool = pool,
                           .file = file,
                           .p = text,
                           .end = text + length,
                           .line_start = text,
                           .line = 1,
                           .counted = text};
    (void)parse_stream(s);
    if (s->no_memory) return snw_fail(err, SNW_E_MEMORY, "no memory left to read '%s'", file);
    return SNW_OK;
}

snw_status snw_yaml_events_next(snw_yaml_events *s, snw_source_location last,
                                snw_source_location open, snw_yaml_event *out, snw_error *err) {
    if (s->first && s->next == s->first->n) {
        s->first = s->first->next;
        s->next = 0;
    }
    if (s->first && s->next < s->first->n) {
        *out = s->first->event[s->next++];
        return SNW_OK;
    }
    // the events end with a fault
    const snw_source_location at_fault = {s->file, s->fault_line, s->fault_column};
    const bool bracket = s->unclosed && open.file;
    return snw_fail_at(err, bracket ? open : s->fault_line > 0 ? at_fault : last, "%s", s->fault);
}

void snw_yaml_events_close(snw_yaml_events *s) { (void)s; }
