// SPDX-License-Identifier: MIT
//
// help_language.h: reference of the model language, generated from the tables of its reader.
#pragma once

#include "cli/reply.h"

// Print n parts of the language, `rod`, `units`, or all of it when n is 0, on standard output; or
// write them as the key `parts` of the JSON reply. Words that are no parts are searched together,
// "inverse kinematics", in topics of the field, in the names of keys and words and in their
// descriptions. Returns the exit status; a word that is found nowhere is wrong usage.
int snw_help_language(int n, const char *const *word, snw_reply *reply);
