// SPDX-License-Identifier: MIT
//
// Streaming JSON writer with escapes, UTF-8 check and exact numbers.
#include "output/json.h"

#include "base/fail.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static void json_put(snw_json *j, const char *bytes, size_t size) {
    if (!j->failed && size > 0) j->failed = !j->sink.write(j->sink.user, bytes, size);
}

// The comma before a key or a value.
static void json_separate(snw_json *j) {
    if (j->any && !j->after_key) json_put(j, ",", 1);
    j->any = true;
    j->after_key = false;
}

static void before_value(snw_json *j) {
    SNW_ASSERT(j->depth > 0 ? (j->kind[j->depth - 1] == '{') == j->after_key : !j->any);
    json_separate(j);
}

// Bytes of the character at s, 0 when it is not well formed UTF-8 (RFC 3629: shortest form, no
// surrogates, up to U+10FFFF).
static size_t utf8_length(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    const size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4) return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
    }
    if (s[0] == 0xE0 && s[1] < 0xA0) return 0;
    if (s[0] == 0xED && s[1] > 0x9F) return 0;
    if (s[0] == 0xF0 && s[1] < 0x90) return 0;
    if (s[0] == 0xF4 && s[1] > 0x8F) return 0;
    return n;
}

static void json_put_escaped(snw_json *j, unsigned char c) {
    static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    const char *at = c ? strchr(plain, c) : NULL;
    char text[8];
    if (at) {
        (void)snprintf(text, sizeof text, "\\%c", letter[at - plain]);
    } else {
        (void)snprintf(text, sizeof text, "\\u%04x", (unsigned)c);
    }
    json_put(j, text, strlen(text));
}

static void json_put_text(snw_json *j, const char *text) {
    const unsigned char *s = (const unsigned char *)text, *clean = s;
    json_put(j, "\"", 1);
    while (*s) {
        const size_t n = utf8_length(s);
        if (n > 0 && *s >= 0x20 && *s != '"' && *s != '\\') {
            s += n;
            continue;
        }
        json_put(j, (const char *)clean, (size_t)(s - clean));
        if (n == 0) {
            json_put(j, "\xEF\xBF\xBD", 3);
        } else {
            json_put_escaped(j, *s);
        }
        clean = ++s;
    }
    json_put(j, (const char *)clean, (size_t)(s - clean));
    json_put(j, "\"", 1);
}

void snw_json_begin(snw_json *j, snw_sink sink) { *j = (snw_json){.sink = sink}; }

static void open_container(snw_json *j, char kind) {
    before_value(j);
    SNW_ASSERT(j->depth < SNW_JSON_DEPTH);
    j->kind[j->depth++] = kind;
    j->any = false;
    json_put(j, &kind, 1);
}

void snw_json_object(snw_json *j) { open_container(j, '{'); }
void snw_json_array(snw_json *j) { open_container(j, '['); }

void snw_json_close(snw_json *j) {
    SNW_ASSERT(j->depth > 0 && !j->after_key);
    json_put(j, j->kind[--j->depth] == '{' ? "}" : "]", 1);
    j->any = true;
}

void snw_json_key(snw_json *j, const char *name) {
    SNW_ASSERT(j->depth > 0 && j->kind[j->depth - 1] == '{' && !j->after_key);
    json_separate(j);
    json_put_text(j, name);
    json_put(j, ":", 1);
    j->after_key = true;
}

void snw_json_text(snw_json *j, const char *text) {
    if (!text) {
        snw_json_null(j);
        return;
    }
    before_value(j);
    json_put_text(j, text);
}

static void put_literal(snw_json *j, const char *word) {
    before_value(j);
    json_put(j, word, strlen(word));
}

void snw_json_number(snw_json *j, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const size_t place = (size_t)(bits * 0x9E3779B97F4A7C15u >> 32) % SNW_JSON_KNOWN;
    char *text = j->known_text[place];
    if (!text[0] || memcmp(&x, &j->known[place], sizeof x) != 0) {
        snw_number_text(x, text);
        j->known[place] = x;
    }
    put_literal(j, isfinite(x) ? text : "null");
}

void snw_json_integer(snw_json *j, long long x) {
    char text[SNW_NUMBER_SIZE];
    (void)snprintf(text, sizeof text, "%lld", x);
    put_literal(j, text);
}

void snw_json_bool(snw_json *j, bool x) { put_literal(j, x ? "true" : "false"); }
void snw_json_null(snw_json *j) { put_literal(j, "null"); }

snw_status snw_json_finish(snw_json *j, snw_error *err) {
    SNW_ASSERT(j->depth == 0 && !j->after_key);
    json_put(j, "\n", 1);
    return j->failed ? snw_fail(err, SNW_E_IO, "cannot write JSON: the output accepts no more data")
                     : SNW_OK;
}
