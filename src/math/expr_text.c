// SPDX-License-Identifier: MIT
//
// Suggestions for misspelt words by edit distance, for messages of the parsers.
#include "math/expr_text.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 40 }; // longer words get no suggestion

size_t snw_word_length(const char *text) {
    if (!snw_is_letter(text[0])) return 0;
    size_t n = 1;
    while (snw_is_letter(text[n]) || snw_is_digit(text[n])) n++;
    return n;
}

static char expr_text_lower(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

// Number of edits (insert, delete, replace, swap neighbours) from a to b; a change of case is one.
static int expr_text_distance(const char *a, size_t na, const char *b, size_t nb) {
    int row[3][WORD_MAX + 1];
    for (size_t j = 0; j <= nb; j++) row[0][j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *twice = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best) best = before[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                twice[j - 2] + 1 < best) {
                best = twice[j - 2] + 1;
            }
            now[j] = best;
        }
    }
    return row[na % 3][nb];
}

snw_guess snw_guess_start(const char *word, size_t length) {
    // up to a third of the letters may be wrong, but a short word must share a letter
    const int allowed = length <= 1 ? 0 : length <= 4 ? 1 : length <= 7 ? 2 : 3;
    return (snw_guess){.word = word, .length = length, .distance = allowed + 1};
}

void snw_guess_offer(snw_guess *g, const char *candidate) {
    const size_t n = strlen(candidate);
    if (g->length > WORD_MAX || n > WORD_MAX) return;
    int d = expr_text_distance(g->word, g->length, candidate, n);
    // words that differ only in case have distance 1 at most
    if (n == g->length) {
        size_t same = 0;
        while (same < n && expr_text_lower(candidate[same]) == expr_text_lower(g->word[same]))
            same++;
        if (same == n && d > 1) d = 1;
    }
    if (d >= g->distance && !(d == 1 && g->length == 1 && g->best[0] == '\0' && n == 1 &&
                              expr_text_lower(candidate[0]) == expr_text_lower(g->word[0]))) {
        return;
    }
    g->distance = d;
    (void)snprintf(g->best, sizeof g->best, "%s", candidate);
}

void snw_guess_append(const snw_guess *g, char *out, size_t size) {
    if (!g->best[0]) return;
    const size_t used = strlen(out);
    (void)snprintf(out + used, size - used, " (did you mean '%s'?)", g->best);
}
