// SPDX-License-Identifier: MIT
//
// text.h: reads a whole text file and checks its encoding before any parser uses it.
#pragma once

#include "base/pool.h"
#include "sinew/status.h"

#include <stddef.h>

enum {
    SNW_TEXT_FILE_MAX = 4 << 20,  // bytes of one file
    SNW_TEXT_TOTAL_MAX = 16 << 20 // bytes of a file with all its includes
};

// Read a regular file of at most `limit` bytes into the pool, NUL terminated. Directories, pipes
// and devices are refused, and the message names which it is. The error has the path as file and no
// line.
SNW_NODISCARD snw_status snw_text_read(snw_pool *pool, const char *path, size_t limit,
                                       const char **bytes, size_t *length, snw_error *err);

// Check that the bytes are valid UTF-8 without control characters other than tab and line ends: no
// NUL, overlong form, surrogate or value above U+10FFFF. The error has `name` as file, a line and a
// column counted in characters.
SNW_NODISCARD snw_status snw_text_check(const char *name, const char *bytes, size_t length,
                                        snw_error *err);

// Replace every character that snw_text_check would refuse by '?', in place. For untrusted text
// that is printed to a terminal.
void snw_text_clean(char *text);
