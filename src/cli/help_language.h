// SPDX-License-Identifier: MIT
//
// help_language.h: the model language as tables, written from those the reader itself uses.
#pragma once

#include "cli/reply.h"

// Some parts of the language, `rod`, `units`, or all of it when n is 0: on standard output, or as
// the key `parts` of the reply's object. Returns the exit status; an unknown part is wrong usage.
int snw_help_language(int n, const char *const *part, snw_reply *reply);
