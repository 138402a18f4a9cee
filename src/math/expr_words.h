// SPDX-License-Identifier: MIT
//
// expr_words.h: lookup of the words of the expression language, also as candidates of suggestions.
#pragma once

#include "math/expr.h"
#include "math/expr_text.h"

bool snw_word_is(const char *word, size_t length, const char *other);

// The function of this name, NULL when there is none.
const snw_function *snw_function_find(const char *word, size_t length);

// Offer all functions, keywords or units as candidates.
void snw_guess_functions(snw_guess *g);
void snw_guess_keywords(snw_guess *g);
void snw_guess_units(snw_guess *g);
