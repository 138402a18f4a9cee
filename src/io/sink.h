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

enum { SNW_NUMBER_SIZE = 32 };

// The shortest of 15, 16 or 17 digits that read back as the same number, with a point whatever the
// locale; "nan", "inf", "-inf".
void snw_number_text(double x, char text[SNW_NUMBER_SIZE]);
