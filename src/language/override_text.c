// SPDX-License-Identifier: MIT
//
// Formats the overrides of a run as text and, where possible, as numbers with units. The result
// file stores them to identify the runs of a sweep.
#include "language/read.h"

#include "base/fail.h"
#include "language/source.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 240 }; // bytes of the text of a value

typedef struct writer {
    char text[MOST + 8];
    size_t used;
    bool full;
} writer;

static void append_text(writer *w, const char *piece) {
    const size_t length = strlen(piece);
    if (w->full) return;
    if (w->used + length > MOST) {
        w->full = true;
        memcpy(w->text + w->used, " ..", 4);
        w->used += 3;
        return;
    }
    memcpy(w->text + w->used, piece, length + 1);
    w->used += length;
}

// append a node as YAML on one line
static void append_node(writer *w, const snw_node *n) {
    const bool map = n->kind == SNW_NODE_MAP;
    switch (n->kind) {
    case SNW_NODE_NULL:
        append_text(w, "~");
        return;
    case SNW_NODE_TEXT:
        append_text(w, n->text);
        return;
    case SNW_NODE_LIST:
    case SNW_NODE_MAP:
        append_text(w, map ? "{" : "[");
        for (int i = 0; i < n->n && !w->full; i++) {
            if (i) append_text(w, ", ");
            if (map) append_text(w, n->entry[i].key);
            if (map) append_text(w, ": ");
            append_node(w, n->entry[i].value);
        }
        append_text(w, map ? "}" : "]");
    }
}

static snw_status override_text_describe(snw_reader *r, const snw_entry *e,
                                         snw_override_desc *out) {
    writer w = {.used = 0};
    append_node(&w, e->value);
    char unit[48] = "";
    out->value = NAN;
    if (e->value->kind == SNW_NODE_TEXT && !e->value->quoted) {
        snw_dim dim;
        double value = 0;
        snw_error none = {0};
        if (snw_expr_parse_constant(r->pool, r->root->scope, e->value->text, "", 1, 1, &value, &dim,
                                    &none) == SNW_OK) {
            out->value = value;
            snw_dim_unit(dim, unit, sizeof unit);
        }
    }
    out->path = snw_pool_text(r->pool, e->key, strlen(e->key));
    out->text = snw_pool_text(r->pool, w.text, w.used);
    out->unit = snw_pool_text(r->pool, unit, strlen(unit));
    return out->path && out->text && out->unit ? SNW_OK : snw_read_memory(r);
}

snw_status snw_read_run_overrides(snw_reader *r) {
    const int n = snw_source_overrides(r->source, r->run);
    snw_override_desc *all = snw_pool_array(r->pool, (size_t)n + 1, sizeof *all);
    if (!all) return snw_read_memory(r);
    int kept = 0;
    for (int i = 0; i < n; i++) {
        const snw_entry *e = snw_source_override(r->source, r->run, i);
        bool replaced = false; // replaced by the command line
        for (int k = i + 1; k < n && !replaced; k++) {
            replaced = strcmp(e->key, snw_source_override(r->source, r->run, k)->key) == 0;
        }
        if (!replaced) SNW_TRY(override_text_describe(r, e, &all[kept++]));
    }
    r->desc->noverride = kept;
    r->desc->override = all;
    return SNW_OK;
}
