// SPDX-License-Identifier: MIT
//
// text.h: a text file taken in whole and checked before any parser sees it.
#pragma once

#include "base/pool.h"
#include "sinew/status.h"

#include <stddef.h>

enum {
    SNW_TEXT_FILE_MAX = 4 << 20,  // bytes of one file
    SNW_TEXT_TOTAL_MAX = 16 << 20 // bytes of a file and all it includes
};

// Bytes of a regular file of at most `limit` bytes, NUL terminated, in the pool. Directories, pipes
// and devices are refused by name. The message carries the path as file, without a line.
SNW_NODISCARD snw_status snw_text_read(snw_pool *pool, const char *path, size_t limit,
                                       const char **bytes, size_t *length, snw_error *err);

// Nothing but valid UTF-8 without control characters (tab and line ends aside): no NUL, no overlong
// form, surrogate or value beyond U+10FFFF. The message gives line and column, counted in
// characters. `name` stands as file.
SNW_NODISCARD snw_status snw_text_check(const char *name, const char *bytes, size_t length,
                                        snw_error *err);

// What snw_text_check would refuse becomes '?', in place: text of strangers that a terminal is to
// show.
void snw_text_clean(char *text);
