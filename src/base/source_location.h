// SPDX-License-Identifier: MIT
//
// source_location.h: position of a text in a file, for error messages.
#pragma once

typedef struct snw_source_location {
    const char *file; // NULL: not from a file
    int line, column; // counted from 1; 0: unknown
} snw_source_location;
