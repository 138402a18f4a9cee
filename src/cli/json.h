// SPDX-License-Identifier: MIT
//
// json.h: writes JSON to a stream as it comes, commas and nesting taken care of.
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum { SNW_JSON_DEPTH = 32 };

typedef struct snw_json {
    FILE *out;
    int depth;
    bool list[SNW_JSON_DEPTH];  // what is open: a list or an object
    bool first[SNW_JSON_DEPTH]; // nothing in it yet
} snw_json;

// `key` is NULL inside a list and at the top.
void snw_json_object(snw_json *j, const char *key);
void snw_json_list(snw_json *j, const char *key);
void snw_json_close(snw_json *j); // the innermost

void snw_json_text(snw_json *j, const char *key, const char *text); // NULL: null
void snw_json_number(snw_json *j, const char *key, double value);   // not finite: null
void snw_json_integer(snw_json *j, const char *key, long value);
void snw_json_bool(snw_json *j, const char *key, bool value);
void snw_json_null(snw_json *j, const char *key);
