// SPDX-License-Identifier: MIT
//
// Columns of probes by name: `tip`, `tip.x`, `wire@12.mx`.
#include "language/read.h"

#include "base/fail.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// station index from `@12` after the name of a probe with `along`; text begins at the @, or is NULL
static snw_status read_station(snw_reader *r, const snw_node *node, const snw_probe_desc *p,
                               const char *text, int *out) {
    *out = -1;
    if (p->along == 0) {
        if (!text) return SNW_OK;
        return snw_fail_at(r->err, node->location, "probe '%s' has no stations", p->name);
    }
    char *end = NULL;
    const long k = text && isdigit((unsigned char)text[1]) ? strtol(text + 1, &end, 10) : -1;
    if (!end || (*end != '\0' && *end != '.') || k < 0 || k >= p->along) {
        return snw_fail_at(r->err, node->location,
                           "probe '%s' has stations 0 to %d; name one, e.g. '%s@0'", p->name,
                           p->along - 1, p->name);
    }
    *out = (int)k;
    return SNW_OK;
}

static snw_status refuse_component(snw_reader *r, const snw_node *node, const snw_probe_desc *p,
                                   const char *part) {
    snw_component known[SNW_PROBE_WIDTH];
    const int n = snw_probe_components(p->kind, p->joint, known);
    char list[200] = "";
    size_t used = 0;
    for (int i = 0; i < n && used + 16 < sizeof list; i++) {
        if (i > 0) list[used++] = ' ';
        memcpy(list + used, known[i].name, strlen(known[i].name) + 1);
        used += strlen(known[i].name);
    }
    if (n == 1) {
        return snw_fail_at(r->err, node->location, "probe '%s' is one number, it has no '%s'",
                           p->name, part);
    }
    return snw_fail_at(r->err, node->location, "probe '%s' has no '%s'; %s has %s", p->name, part,
                       snw_probe_name(p->kind), list);
}

snw_status snw_find_columns(snw_reader *r, const snw_node *node, const char *text, int nvalue,
                            snw_probe_part *out) {
    const char *dot = strchr(text, '.'), *mark = strchr(text, '@');
    const char *name = snw_pool_text(r->pool, text, strcspn(text, ".@"));
    const char *part = dot ? dot + 1 : "";
    if (!name) return snw_read_memory(r);
    SNW_TRY(snw_find_probe(r, node->location, name, &out->probe));
    const snw_probe_desc *p = &r->desc->probe[out->probe];
    SNW_TRY(read_station(r, node, p, mark, &out->station));
    out->first = 0;
    out->count = snw_probe_components(p->kind, p->joint, out->component);
    if (dot) {
        while (out->first < out->count && strcmp(out->component[out->first].name, part) != 0)
            out->first++;
        if (out->first == out->count || !part[0]) return refuse_component(r, node, p, part);
        out->count = 1;
    } else {
        snw_probe_primary(p->kind, p->joint, nvalue, &out->first, &out->count);
    }
    return SNW_OK;
}
