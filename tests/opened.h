// SPDX-License-Identifier: MIT
//
// opened.h: robots of the public interface from texts in memory.
#pragma once

#include "near.h"
#include "sinew/sinew.h"

#include <string.h>

// Robot of this run of a text (NULL: the first) with `set` put over it; a text that cannot be read
// fails the test.
static inline snw_robot *opened_run(const char *text, const char *run, int nset,
                                    const char *const *set) {
    snw_robot *r = NULL;
    snw_error err = {0};
    if (snw_robot_parse("robot", text, strlen(text), run, nset, set, &r, &err) != SNW_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
    return r;
}

static inline snw_robot *opened(const char *text) { return opened_run(text, NULL, 0, NULL); }
