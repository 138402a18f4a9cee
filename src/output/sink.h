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

// XML entity of a character; NULL: the character itself. Control characters become blanks.
const char *snw_xml_entity(char c);
