// SPDX-License-Identifier: MIT
//
// json_field.h: writes a key of a JSON object and its value in one call. The key is NULL in a list.
#pragma once

#include "output/json.h"

static inline void snw_field_key(snw_json *j, const char *key) {
    if (key) snw_json_key(j, key);
}

static inline void snw_field_object(snw_json *j, const char *key) {
    snw_field_key(j, key);
    snw_json_object(j);
}

static inline void snw_field_list(snw_json *j, const char *key) {
    snw_field_key(j, key);
    snw_json_array(j);
}

static inline void snw_field_text(snw_json *j, const char *key, const char *text) {
    snw_field_key(j, key);
    snw_json_text(j, text);
}

static inline void snw_field_number(snw_json *j, const char *key, double value) {
    snw_field_key(j, key);
    snw_json_number(j, value);
}

static inline void snw_field_integer(snw_json *j, const char *key, long long value) {
    snw_field_key(j, key);
    snw_json_integer(j, value);
}

static inline void snw_field_bool(snw_json *j, const char *key, bool value) {
    snw_field_key(j, key);
    snw_json_bool(j, value);
}

static inline void snw_field_null(snw_json *j, const char *key) {
    snw_field_key(j, key);
    snw_json_null(j);
}

static inline void snw_field_numbers(snw_json *j, const char *key, int n, const double *value) {
    snw_field_list(j, key);
    for (int i = 0; i < n; i++) snw_json_number(j, value[i]);
    snw_json_close(j);
}

static inline void snw_field_texts(snw_json *j, const char *key, int n, const char *const *text) {
    snw_field_list(j, key);
    for (int i = 0; i < n; i++) snw_json_text(j, text[i]);
    snw_json_close(j);
}
