// SPDX-License-Identifier: MIT
//
// help_language.h: reference of the model language, generated from the tables of its reader.
#pragma once

#include "cli/reply.h"

// Print n parts of the language, `rod`, `units`, or all of it when n is 0, on standard output; or
// write them as the key `parts` of the JSON reply. Returns the exit status; an unknown part is
// wrong usage.
int snw_help_language(int n, const char *const *part, snw_reply *reply);
