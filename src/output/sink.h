// SPDX-License-Identifier: MIT
//
// sink.h: output of text to a stream, memory or a callback, and formatting of numbers.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct snw_sink {
    void *user;
    // Write all bytes; false on failure (errno may have the reason).
    bool (*write)(void *user, const char *bytes, size_t size);
} snw_sink;

// Sink to a stream, which the caller flushes and closes.
snw_sink snw_sink_stream(FILE *stream);

// Text in memory of sufficient size, provided by the caller; NULL: only the size is counted.
typedef struct snw_buffer {
    char *text; // not terminated
    size_t size;
} snw_buffer;

snw_sink snw_sink_buffer(snw_buffer *to);

enum { SNW_NUMBER_SIZE = 32 };

// The shortest of 15, 16 or 17 digits that read back as the same number, with a decimal point in
// any locale; "nan", "inf", "-inf".
void snw_number_text(double x, char text[SNW_NUMBER_SIZE]);
// The number rounded to single precision, in nine digits, which read back as the same one.
void snw_number_single(double x, char text[SNW_NUMBER_SIZE]);

// Writer of XML. After a failure of the sink nothing more is written.
typedef struct snw_xml {
    snw_sink sink;
    bool failed;
} snw_xml;

// Bytes as they are; false after a failure. `user` is the snw_xml, so that this may be the function
// of a sink.
bool snw_xml_bytes(void *user, const char *bytes, size_t size);
// Formatted text of at most 511 characters.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void snw_xml_print(snw_xml *x, const char *format, ...);
// Text with entities for the characters that need them. Control characters become blanks.
void snw_xml_escaped(snw_xml *x, const char *text);
