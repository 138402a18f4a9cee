// SPDX-License-Identifier: MIT
//
// expr_words.h: looking up the words of the language, and offering them as guesses.
#pragma once

#include "math/expr.h"
#include "math/expr_text.h"

bool snw_word_is(const char *word, size_t length, const char *other);

// NULL when there is none.
const snw_function *snw_function_find(const char *word, size_t length);

void snw_guess_functions(snw_guess *g);
void snw_guess_keywords(snw_guess *g);
void snw_guess_units(snw_guess *g);
