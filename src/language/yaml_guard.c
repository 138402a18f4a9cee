// SPDX-License-Identifier: MIT
//
// yaml_guard.c: what libfyaml 0.7.12 cannot be trusted with is refused before it sees it, all of it
// things that models do not need:
// - directives, lines that begin with '%': some make it loop for ever;
// - keys announced by '?': a fault behind one frees a record of it twice;
// - long runs of blanks and empty lines: it looks ahead one character at a time, from the start
// each
//   time, and keeps empty lines of block text on the stack;
// - brackets thousands deep, and marks by the million: it queues all tokens of a line or of the
//   outermost bracket, hundreds of bytes for each;
// - anchors, aliases and tags beyond a modest length, and tags in angle brackets: the same looking
//   ahead.
// The scan knows no quotes, comments or block text, so the same inside of them is refused as well.
#include "language/yaml.h"

#include "base/fail.h"

#include <string.h>

enum {
    DEEP = 1000, // well beyond the depth allowed, for brackets in quotes and comments
    LONG_TAG = 200
};

typedef struct scan {
    snw_error *err;
    snw_source_location at; // its column is not kept
    const char *line, *end;
    int depth, marks, blanks;
    int tag; // length of what may be an anchor, alias or tag, 0 outside
} scan;

static bool blank(char c) { return c == ' ' || c == '\t'; }
static bool one_of(char c, const char *set) { return c && strchr(set, c); }

static snw_status yaml_guard_refuse(const scan *s, const char *p, const char *why) {
    snw_source_location at = s->at;
    at.column = 1;
    for (const char *q = s->line; q < p; q++) at.column += (*q & 0xC0) != 0x80;
    return snw_fail_at(s->err, at, "%s", why);
}

// is the '?' at p an announced key: behind nothing, an indicator, or an anchor or tag
static bool announces_key(const scan *s, const char *p) {
    if (p + 1 < s->end && !blank(p[1]) && !one_of(p[1], "\r\n,[]{}#")) return false;
    const char *q = p;
    while (q > s->line && blank(q[-1])) q--;
    if (q == s->line || one_of(q[-1], "-?:,[{")) return true;
    if (q == p) return false; // the end of a word
    while (q > s->line && !blank(q[-1])) q--;
    return *q == '&' || *q == '!';
}

static snw_status look_at_tags(scan *s, const char *p) {
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

static snw_status yaml_guard_look(scan *s, const char *p) {
    const char c = *p;
    SNW_TRY(look_at_tags(s, p));
    s->blanks = blank(c) || c == '\n' || c == '\r' ? s->blanks + 1 : 0;
    if (s->blanks > SNW_YAML_BLANKS)
        return yaml_guard_refuse(s, p, "too many blanks or empty lines in a row");
    if (c == '?' && announces_key(s, p)) {
        return yaml_guard_refuse(s, p, "'?' cannot stand here: write keys as 'key: value'");
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
        SNW_TRY(yaml_guard_look(&s, p));
        if (*p == '\n' || (*p == '\r' && !(p + 1 < s.end && p[1] == '\n'))) {
            s.at.line++;
            s.line = p + 1;
        }
    }
    return SNW_OK;
}
