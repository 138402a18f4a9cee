// SPDX-License-Identifier: MIT
//
// json.h: streaming JSON writer.
//
//     snw_json j;
//     snw_json_begin(&j, snw_sink_stream(stdout));
//     snw_json_object(&j);
//     snw_json_key(&j, "t");
//     snw_json_number(&j, 0.5);
//     snw_json_close(&j);
//     SNW_TRY(snw_json_finish(&j, err)); // {"t":0.5}
//
// Commas are inserted automatically. A sequence of calls that is not valid JSON fails an assertion.
// After a failure of the sink nothing more is written, and snw_json_finish reports it.
#pragma once

#include "output/sink.h"
#include "sinew/status.h"

enum { SNW_JSON_DEPTH = 32, SNW_JSON_KNOWN = 32 };

typedef struct snw_json {
    snw_sink sink;
    int depth;
    char kind[SNW_JSON_DEPTH]; // '{' or '['
    bool any, after_key, failed;
    // numbers that have been written, with their texts: many stand in a document many times
    double known[SNW_JSON_KNOWN];
    char known_text[SNW_JSON_KNOWN][SNW_NUMBER_SIZE]; // "": none
} snw_json;

void snw_json_begin(snw_json *j, snw_sink sink);

void snw_json_object(snw_json *j);
void snw_json_array(snw_json *j);
void snw_json_close(snw_json *j); // the innermost object or array

void snw_json_key(snw_json *j, const char *name);
void snw_json_text(snw_json *j, const char *text); // NULL: null; invalid UTF-8 becomes U+FFFD
void snw_json_number(snw_json *j, double x);       // reads back exactly; null unless finite
void snw_json_integer(snw_json *j, long long x);
void snw_json_bool(snw_json *j, bool x);
void snw_json_null(snw_json *j);

// End of the document: a line feed. SNW_E_IO when anything could not be written.
SNW_NODISCARD snw_status snw_json_finish(snw_json *j, snw_error *err);
