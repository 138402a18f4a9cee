// SPDX-License-Identifier: MIT
//
// Fields of a table of comma-separated values, quoted as in RFC 4180 when they need it.
#include "cli/cells.h"

#include <stdbool.h>
#include <string.h>

void snw_cell_text(const snw_sink *to, const char *text) {
    const bool quote = strpbrk(text, ",\"\r\n ") != NULL;
    if (quote) (void)to->write(to->user, "\"", 1);
    for (const char *c = text; *c; c++)
        (void)to->write(to->user, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    if (quote) (void)to->write(to->user, "\"", 1);
}

void snw_cell_number(const snw_sink *to, double x) {
    char text[SNW_NUMBER_SIZE + 1] = ",";
    snw_number_text(x, text + 1);
    (void)to->write(to->user, text, strlen(text));
}

void snw_cell_comma(const snw_sink *to) { (void)to->write(to->user, ",", 1); }
void snw_cell_end(const snw_sink *to) { (void)to->write(to->user, "\n", 1); }
