// SPDX-License-Identifier: MIT
//
// expr_text.h: character classes of the expression language, and suggestions for misspelt words.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// A word is a letter or underscore, followed by letters, digits and underscores. Bytes beyond ASCII
// count as letters, so names may be written in any alphabet.
static inline bool snw_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool snw_is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}
static inline bool snw_is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Length of the word at the start of `text`, 0 when there is none.
size_t snw_word_length(const char *text);

// Best candidate so far for the correct spelling of a word.
typedef struct snw_guess {
    const char *word;
    size_t length;
    int distance;  // edits between word and best
    char best[64]; // empty when no candidate is close
} snw_guess;

snw_guess snw_guess_start(const char *word, size_t length);
void snw_guess_offer(snw_guess *g, const char *candidate);

// Append " (did you mean 'best'?)", or nothing, to the text in out.
void snw_guess_append(const snw_guess *g, char *out, size_t size);
