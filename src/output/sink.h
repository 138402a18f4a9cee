// SPDX-License-Identifier: MIT
//
// sink.h: where text goes, a stream or whatever the caller has, and how numbers look in it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct snw_sink {
    void *user;
    // All of the bytes, or false (errno may say why).
    bool (*write)(void *user, const char *bytes, size_t size);
} snw_sink;

// A stream of the caller, who flushes and closes it.
snw_sink snw_sink_stream(FILE *stream);

// Text in memory, whose room is the caller's business; without room only its size is counted.
typedef struct snw_buffer {
    char *text; // not terminated
    size_t size;
} snw_buffer;

snw_sink snw_sink_buffer(snw_buffer *to);

enum { SNW_NUMBER_SIZE = 32 };

// The shortest of 15, 16 or 17 digits that read back as the same number, with a point whatever the
// locale; "nan", "inf", "-inf".
void snw_number_text(double x, char text[SNW_NUMBER_SIZE]);

// What stands for a character of a text in XML; NULL: itself. Control characters become blanks.
const char *snw_xml_entity(char c);
