// SPDX-License-Identifier: MIT
//
// Parser for the messages of the viewer page: a strict subset of JSON, then a check of the keys.
#include "output/play_message.h"

#include "base/fail.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- one flat object of JSON -------------------------------------------------------------------

typedef enum kind { NUMBER, BOOLEAN, LIST, TEXT } kind;

typedef struct value {
    kind is;
    double number[3]; // a number is the first; a list has three
    bool on;
    char text[16];
} value;

typedef struct cursor {
    const char *at; // ends with a NUL
} cursor;

static void message_skip_blanks(cursor *c) { c->at += strspn(c->at, " \t\r\n"); }

static bool message_take(cursor *c, char sign) {
    message_skip_blanks(c);
    if (*c->at != sign) return false;
    c->at++;
    return true;
}

// A text without escapes, at most 15 bytes.
static bool message_read_text(cursor *c, char out[16]) {
    size_t n = 0;
    if (!message_take(c, '"')) return false;
    while (*c->at && *c->at != '"' && *c->at != '\\' && (unsigned char)*c->at >= 0x20 && n < 15) {
        out[n++] = *c->at++;
    }
    out[n] = '\0';
    return *c->at++ == '"';
}

static size_t digits(const char *text) { return strspn(text, "0123456789"); }

// A JSON number: no leading zeros or plus sign, no hexadecimal digits, infinity or NaN.
static bool read_number(cursor *c, double *out) {
    message_skip_blanks(c);
    const char *s = c->at;
    s += *s == '-';
    const size_t whole = digits(s);
    if (whole == 0 || (whole > 1 && *s == '0')) return false;
    s += whole;
    if (*s == '.') {
        const size_t n = digits(++s);
        if (n == 0) return false;
        s += n;
    }
    if (*s == 'e' || *s == 'E') {
        s++;
        s += *s == '-' || *s == '+';
        const size_t n = digits(s);
        if (n == 0) return false;
        s += n;
    }
    *out = strtod(c->at, NULL);
    c->at = s;
    return isfinite(*out);
}

static bool read_word(cursor *c, const char *word) {
    const size_t n = strlen(word);
    message_skip_blanks(c);
    if (strncmp(c->at, word, n) != 0) return false;
    c->at += n;
    return true;
}

static bool read_value(cursor *c, value *out) {
    message_skip_blanks(c);
    switch (*c->at) {
    case '"':
        out->is = TEXT;
        return message_read_text(c, out->text);
    case 't':
    case 'f':
        out->is = BOOLEAN;
        out->on = *c->at == 't';
        return read_word(c, out->on ? "true" : "false");
    case '[':
        out->is = LIST;
        c->at++;
        for (int i = 0; i < 3; i++) {
            if ((i > 0 && !message_take(c, ',')) || !read_number(c, &out->number[i])) return false;
        }
        return message_take(c, ']');
    default:
        out->is = NUMBER;
        return read_number(c, &out->number[0]);
    }
}

// ---- keys --------------------------------------------------------------------------------------

#define KEYS(X)                                                                                    \
    X(KEY_DO, "do", TEXT)                                                                          \
    X(KEY_CONTROL, "control", NUMBER)                                                              \
    X(KEY_VALUE, "value", NUMBER)                                                                  \
    X(KEY_NODE, "node", NUMBER)                                                                    \
    X(KEY_AT, "at", LIST)                                                                          \
    X(KEY_TO, "to", LIST)                                                                          \
    X(KEY_STRENGTH, "strength", NUMBER)                                                            \
    X(KEY_ON, "on", BOOLEAN)

enum {
#define X(code, word, kind) code,
    KEYS(X)
#undef X
        NKEY
};

static const struct {
    const char *word;
    kind is;
} keys[NKEY] = {
#define X(code, word, kind) {word, kind},
    KEYS(X)
#undef X
};

static const struct {
    const char *word, *needs;
} verbs[] = {
#define X(code, word, needs, meaning) {word, needs},
    SNW_PLAY_VERBS(X)
#undef X
};

static bool listed(const char *list, const char *word) {
    const size_t n = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += n) {
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0')) return true;
    }
    return false;
}

static snw_status message_refuse(snw_error *err, const char *why, const char *what) {
    return snw_fail(err, SNW_E_PARSE, "a message was refused: %s%s", why, what);
}

static snw_status message_read_keys(cursor *c, value all[NKEY], bool given[NKEY], snw_error *err) {
    if (!message_take(c, '{')) return message_refuse(err, "it is not an object", "");
    if (message_take(c, '}')) return SNW_OK;
    do {
        char name[16];
        int k = 0;
        if (!message_read_text(c, name) || !message_take(c, ':'))
            return message_refuse(err, "it is not valid JSON", "");
        while (k < NKEY && strcmp(keys[k].word, name) != 0) k++;
        if (k == NKEY || given[k]) return message_refuse(err, "unknown or repeated key ", name);
        if (!read_value(c, &all[k]) || all[k].is != keys[k].is) {
            return message_refuse(err, "invalid value of ", name);
        }
        given[k] = true;
    } while (message_take(c, ','));
    return message_take(c, '}') ? SNW_OK : message_refuse(err, "it is not complete", "");
}

static bool index_of(double x, int *out) {
    if (!(x >= 0 && x < INT_MAX && floor(x) == x)) return false;
    *out = (int)x;
    return true;
}

snw_status snw_play_read(const char *text, size_t length, snw_play_message *out, snw_error *err) {
    char copy[SNW_PLAY_LONGEST + 1];
    if (length > SNW_PLAY_LONGEST || memchr(text, '\0', length)) {
        return message_refuse(err, "it is too long, or not text", "");
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    cursor c = {copy};
    value all[NKEY] = {{0}};
    bool given[NKEY] = {false};
    SNW_TRY(message_read_keys(&c, all, given, err));
    message_skip_blanks(&c);
    if (*c.at) return message_refuse(err, "there is text after its end", "");
    int verb = 0;
    const int nverb = (int)(sizeof verbs / sizeof verbs[0]);
    while (verb < nverb && !(given[KEY_DO] && !strcmp(verbs[verb].word, all[KEY_DO].text))) verb++;
    if (verb == nverb) return message_refuse(err, "it has no 'do'", "");
    for (int k = KEY_DO + 1; k < NKEY; k++) {
        if (given[k] == listed(verbs[verb].needs, keys[k].word)) continue;
        return message_refuse(err, given[k] ? "it has an unexpected key, " : "it lacks ",
                              keys[k].word);
    }
    *out = (snw_play_message){.verb = (snw_play_verb)verb,
                              .value = all[KEY_VALUE].number[0],
                              .strength = all[KEY_STRENGTH].number[0],
                              .on = all[KEY_ON].on};
    memcpy(out->at, all[KEY_AT].number, sizeof out->at);
    memcpy(out->to, all[KEY_TO].number, sizeof out->to);
    if (!index_of(all[KEY_CONTROL].number[0], &out->control) ||
        !index_of(all[KEY_NODE].number[0], &out->node)) {
        return message_refuse(err, "an index is not a whole number", "");
    }
    return SNW_OK;
}
