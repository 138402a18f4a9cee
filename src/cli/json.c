// SPDX-License-Identifier: MIT
#include "cli/json.h"

#include "base/fail.h"

#include <math.h>
#include <stdlib.h>

static void put_text(FILE *out, const char *text) {
    (void)fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            (void)fprintf(out, "\\%c", *c);
        } else if (*c == '\n') {
            (void)fputs("\\n", out);
        } else if (*c < 0x20) {
            (void)fprintf(out, "\\u%04x", *c);
        } else {
            (void)fputc(*c, out);
        }
    }
    (void)fputc('"', out);
}

// comma, line break and key before the next value
static void put_key(snw_json *j, const char *key) {
    if (j->depth == 0) return;
    const int top = j->depth - 1;
    SNW_ASSERT(j->list[top] == !key);
    (void)fputs(j->first[top] ? "" : ",", j->out);
    // lists stay on one line: they are mostly numbers
    if (!j->list[top]) {
        (void)fprintf(j->out, "\n%*s", 2 * j->depth, "");
    } else if (!j->first[top]) {
        (void)fputc(' ', j->out);
    }
    j->first[top] = false;
    if (!key) return;
    put_text(j->out, key);
    (void)fputs(": ", j->out);
}

static void open_scope(snw_json *j, const char *key, bool list) {
    put_key(j, key);
    SNW_ASSERT(j->depth < SNW_JSON_DEPTH);
    (void)fputc(list ? '[' : '{', j->out);
    j->list[j->depth] = list;
    j->first[j->depth] = true;
    j->depth++;
}

void snw_json_object(snw_json *j, const char *key) { open_scope(j, key, false); }

void snw_json_list(snw_json *j, const char *key) { open_scope(j, key, true); }

void snw_json_close(snw_json *j) {
    SNW_ASSERT(j->depth > 0);
    j->depth--;
    const bool list = j->list[j->depth];
    if (!list && !j->first[j->depth]) (void)fprintf(j->out, "\n%*s", 2 * j->depth, "");
    (void)fputc(list ? ']' : '}', j->out);
    if (j->depth == 0) (void)fputc('\n', j->out);
}

void snw_json_text(snw_json *j, const char *key, const char *text) {
    if (!text) {
        snw_json_null(j, key);
        return;
    }
    put_key(j, key);
    put_text(j->out, text);
}

void snw_json_number(snw_json *j, const char *key, double value) {
    if (!isfinite(value)) {
        snw_json_null(j, key);
        return;
    }
    // as few digits as give the same number back
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    put_key(j, key);
    (void)fputs(text, j->out);
}

void snw_json_integer(snw_json *j, const char *key, long value) {
    put_key(j, key);
    (void)fprintf(j->out, "%ld", value);
}

void snw_json_bool(snw_json *j, const char *key, bool value) {
    put_key(j, key);
    (void)fputs(value ? "true" : "false", j->out);
}

void snw_json_null(snw_json *j, const char *key) {
    put_key(j, key);
    (void)fputs("null", j->out);
}
