// SPDX-License-Identifier: MIT
//
// Text tables: cells are collected in chunks, then printed with the width of the widest cell of
// each column.
#include "cli/grid.h"

#include "base/fail.h"
#include "base/pool.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { CHUNK = 256, MAX_COLUMNS = 16, CELL = 256, POOL_LIMIT = 64 << 20 };

typedef struct chunk {
    struct chunk *next;
    const char *cell[CHUNK];
} chunk;

struct snw_grid {
    snw_pool *pool;
    const char *align;
    int ncolumn, ncell;
    int width[MAX_COLUMNS]; // widest cell of each column, in characters
    chunk *first, *last;
    bool out_of_memory;
};

// number of characters of UTF-8 text: bytes that are not continuation bytes
static int grid_text_width(const char *text) {
    int n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

snw_status snw_grid_create(const char *align, snw_grid **out, snw_error *err) {
    *out = NULL;
    snw_pool *pool = snw_pool_create(POOL_LIMIT);
    if (!pool) return snw_fail_memory(err);
    snw_grid *g = snw_pool_take(pool, sizeof *g);
    if (!g) {
        snw_pool_destroy(pool);
        return snw_fail_memory(err);
    }
    SNW_ASSERT(strlen(align) <= MAX_COLUMNS);
    *g = (snw_grid){.pool = pool, .align = align, .ncolumn = (int)strlen(align)};
    *out = g;
    return SNW_OK;
}

void snw_grid_destroy(snw_grid *g) {
    if (g) snw_pool_destroy(g->pool);
}

void snw_grid_cell(snw_grid *g, const char *format, ...) {
    char text[CELL];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);

    if (g->ncell % CHUNK == 0) {
        chunk *c = snw_pool_take(g->pool, sizeof *c);
        if (!c) {
            g->out_of_memory = true;
            return;
        }
        if (g->last) g->last->next = c;
        if (!g->first) g->first = c;
        g->last = c;
    }
    const char *kept = snw_pool_text(g->pool, text, strlen(text));
    if (!kept) {
        g->out_of_memory = true;
        return;
    }
    const int column = g->ncell % g->ncolumn, width = grid_text_width(text);
    if (width > g->width[column]) g->width[column] = width;
    g->last->cell[g->ncell % CHUNK] = kept;
    g->ncell++;
}

void snw_grid_number(snw_grid *g, int digits, double value) {
    if (isnan(value)) {
        snw_grid_cell(g, "-");
    } else {
        snw_grid_cell(g, "%.*g", digits, value + 0.0); // no -0
    }
}

snw_status snw_grid_print(const snw_grid *g, FILE *out, snw_error *err) {
    if (g->out_of_memory) return snw_fail(err, SNW_E_MEMORY, "output is too long to print");
    SNW_ASSERT(g->ncell % g->ncolumn == 0);
    const chunk *c = g->first;
    for (int i = 0; i < g->ncell; i++) {
        if (i > 0 && i % CHUNK == 0) c = c->next;
        const char *cell = c->cell[i % CHUNK];
        const int column = i % g->ncolumn, blank = g->width[column] - grid_text_width(cell);
        const bool last = column == g->ncolumn - 1;
        const bool left = g->align[column] == 'l';
        (void)fprintf(out, "  %*s%s%*s%s", left ? 0 : blank, "", cell, left && !last ? blank : 0,
                      "", last ? "\n" : "");
    }
    return SNW_OK;
}
