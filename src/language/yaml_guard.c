// SPDX-License-Identifier: MIT
//
// Refuses input on which libfyaml 0.7.12 misbehaves, before it is parsed. Models need none of it:
// - directives, lines that begin with '%': some cause an endless loop;
// - keys introduced by '?': a later error frees one of its records twice;
// - long runs of blanks and empty lines: the library looks ahead one character at a time,
//   restarting each time, and keeps empty lines of block text on the stack;
// - brackets nested thousands deep, and millions of indicators: the library queues all tokens of a
//   line or of the outermost bracket, hundreds of bytes each;
// - long anchors, aliases and tags, and tags in angle brackets: the same look-ahead.
// The scan does not recognise quotes, comments or block text, so these patterns are refused inside
// them as well.
#include "language/yaml.h"

#include "base/fail.h"

#include <string.h>

enum {
    DEEP = 1000, // far above SNW_YAML_DEPTH, to allow brackets in quotes and comments
    LONG_TAG = 200
};

typedef struct scan {
    snw_error *err;
    snw_source_location at; // column is not maintained
    const char *line, *end;
    int depth, marks, blanks;
    int tag; // length so far of a possible anchor, alias or tag, 0 outside
} scan;

static bool blank(char c) { return c == ' ' || c == '\t'; }
static bool one_of(char c, const char *set) { return c && strchr(set, c); }

static snw_status yaml_guard_refuse(const scan *s, const char *p, const char *why) {
    snw_source_location at = s->at;
    at.column = 1;
    for (const char *q = s->line; q < p; q++) at.column += (*q & 0xC0) != 0x80;
    return snw_fail_at(s->err, at, "%s", why);
}

// true if the '?' at p introduces a key: first on its line, or after an indicator, anchor or tag
static bool announces_key(const scan *s, const char *p) {
    if (p + 1 < s->end && !blank(p[1]) && !one_of(p[1], "\r\n,[]{}#")) return false;
    const char *q = p;
    while (q > s->line && blank(q[-1])) q--;
    if (q == s->line || one_of(q[-1], "-?:,[{")) return true;
    if (q == p) return false; // end of a word
    while (q > s->line && !blank(q[-1])) q--;
    return *q == '&' || *q == '!';
}

static snw_status check_tag(scan *s, const char *p) {
    const bool begins = p == s->line || blank(p[-1]) || one_of(p[-1], ",[]{}:-");
    if (one_of(*p, "!&*") && begins) {
        s->tag = 1;
        if (p[0] == '!' && p + 1 < s->end && p[1] == '<')
            return yaml_guard_refuse(s, p, "no tags in '!<..>'");
        return SNW_OK;
    }
    if (blank(*p) || one_of(*p, "\r\n,[]{}")) s->tag = 0;
    if (s->tag && ++s->tag > LONG_TAG)
        return yaml_guard_refuse(s, p, "a tag or anchor is too long");
    return SNW_OK;
}

static snw_status check_character(scan *s, const char *p) {
    const char c = *p;
    SNW_TRY(check_tag(s, p));
    s->blanks = blank(c) || c == '\n' || c == '\r' ? s->blanks + 1 : 0;
    if (s->blanks > SNW_YAML_BLANKS)
        return yaml_guard_refuse(s, p, "too many blanks or empty lines in a row");
    if (c == '?' && announces_key(s, p)) {
        return yaml_guard_refuse(s, p, "'?' is not allowed here: write keys as 'key: value'");
    }
    if (!one_of(c, "[]{},:&*!'\"")) return SNW_OK;
    if (c == '[' || c == '{') s->depth++;
    if ((c == ']' || c == '}') && s->depth > 0) s->depth--;
    if (s->depth > DEEP) return yaml_guard_refuse(s, p, "brackets are nested too deep");
    if (++s->marks > SNW_YAML_MARKS) {
        return yaml_guard_refuse(s, p,
                                 "too many brackets, commas and the like; move data to a table");
    }
    return SNW_OK;
}

snw_status snw_yaml_guard(const char *name, const char *text, size_t length, snw_error *err) {
    scan s = {.err = err, .at = {.file = name, .line = 1}, .line = text, .end = text + length};
    for (const char *p = text; p < s.end; p++) {
        if (p == s.line && *p == '%') {
            return yaml_guard_refuse(
                &s, p, "a line cannot begin with '%': YAML directives are not used here");
        }
        SNW_TRY(check_character(&s, p));
        if (*p == '\n' || (*p == '\r' && !(p + 1 < s.end && p[1] == '\n'))) {
            s.at.line++;
            s.line = p + 1;
        }
    }
    return SNW_OK;
}
