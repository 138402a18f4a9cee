// SPDX-License-Identifier: MIT
//
// Reads the links that a fluid or a contact acts on.
#include "language/read.h"

#include "base/fail.h"

snw_status snw_read_links(snw_reader *r, const snw_node *node, int *nlink, const int **out) {
    const bool list = node->kind == SNW_NODE_LIST;
    const int n = list ? node->n : 1;
    int *link = snw_pool_array(r->pool, (size_t)n, sizeof *link);
    if (!link) return snw_read_memory(r);
    if (n == 0) return snw_fail_at(r->err, node->location, "'on' lists no link");
    for (int i = 0; i < n; i++) {
        const snw_node *item = list ? node->entry[i].value : node;
        const char *name = "";
        SNW_TRY(snw_read_name(r, item, "on", &name));
        SNW_TRY(snw_find_thing(r, item, name, SNW_THING_LINK, &link[i]));
        for (int k = 0; k < i; k++) {
            if (link[k] == link[i]) {
                return snw_fail_at(r->err, item->location, "'on' lists link '%s' twice", name);
            }
        }
    }
    *nlink = n;
    *out = link;
    return SNW_OK;
}

snw_status snw_read_are_rods(snw_reader *r, const snw_entry *e, const char *name, int nlink,
                             const int *link, bool *out) {
    *out = r->desc->link[link[0]].has_rod;
    for (int k = 1; k < nlink; k++) {
        if (r->desc->link[link[k]].has_rod == *out) continue;
        return snw_fail_at(r->err, e->location,
                           "'%s' has other units for rods than for bodies; make two of '%s'",
                           e->key, name);
    }
    return SNW_OK;
}
