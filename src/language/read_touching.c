// SPDX-License-Identifier: MIT
//
// Reads which links a contact is about: by name, by layer, or by the words rods, bodies and all;
// links next to each other touch always and are left out unless they are named.
#include "language/read.h"

#include "base/fail.h"

#include <string.h>

// ---- layers -------------------------------------------------------------------------------------

snw_status snw_read_layers(snw_reader *r, const snw_entry *e, snw_link_desc *out) {
    const snw_node *node = e->value;
    const bool list = node->kind == SNW_NODE_LIST;
    const int n = list ? node->n : 1;
    const char **name = snw_pool_array(r->pool, (size_t)n + 1, sizeof *name);
    if (!name) return snw_read_memory(r);
    for (int i = 0; i < n; i++) {
        const snw_node *item = list ? node->entry[i].value : node;
        SNW_TRY(snw_read_name(r, item, "layer", &name[i]));
        SNW_TRY(snw_check_name(r, name[i], item->location));
    }
    out->nlayer = n;
    out->layer = name;
    return SNW_OK;
}

static bool is_in_layer(const snw_link_desc *link, const char *name) {
    for (int i = 0; i < link->nlayer; i++) {
        if (strcmp(link->layer[i], name) == 0) return true;
    }
    return false;
}

snw_status snw_check_layers(snw_reader *r) {
    for (int l = 0; l < r->desc->nlink; l++) {
        const snw_link_desc *link = &r->desc->link[l];
        for (int i = 0; i < link->nlayer; i++) {
            if (!snw_names_find(&r->things, link->layer[i])) continue;
            return snw_fail_at(r->err, link->location,
                               "layer '%s' of link '%s' has the name of something else; rename it",
                               link->layer[i], link->name);
        }
    }
    return SNW_OK;
}

snw_status snw_read_group(snw_reader *r, const snw_node *node, bool *grouped, int *nlink,
                          const int **out) {
    const snw_desc *d = r->desc;
    const bool list = node->kind == SNW_NODE_LIST;
    const int n = list ? node->n : 1;
    int *link = snw_pool_array(r->pool, (size_t)d->nlink + 1, sizeof *link);
    bool *listed = snw_pool_array(r->pool, (size_t)d->nlink + 1, sizeof *listed);
    if (!link || !listed) return snw_read_memory(r);
    if (n == 0) return snw_fail_at(r->err, node->location, "no link is listed");
    *nlink = 0;
    *out = link;
    for (int i = 0; i < n; i++) {
        const snw_node *item = list ? node->entry[i].value : node;
        const char *name = "";
        int found = *nlink, one = -1;
        SNW_TRY(snw_read_name(r, item, "link or layer", &name));
        for (int l = 0; l < d->nlink; l++) {
            if (!is_in_layer(&d->link[l], name)) continue;
            if (!listed[l]) link[(*nlink)++] = l;
            if (!listed[l] && grouped) grouped[l] = true;
            listed[l] = true;
            found = -1;
        }
        if (found < 0) continue;
        SNW_TRY(snw_find_thing(r, item, name, SNW_THING_LINK, &one));
        if (listed[one]) {
            return snw_fail_at(r->err, item->location, "link '%s' is listed twice", name);
        }
        listed[one] = true;
        link[(*nlink)++] = one;
    }
    return SNW_OK;
}

// ---- neighbours ---------------------------------------------------------------------------------

// First link of those rigidly connected to link l, towards the world; -1: the world.
static int rigid_root(const snw_desc *d, int l) {
    while (l >= 0 && d->link[l].joint == SNW_JOINT_FIXED && !d->link[l].has_rod)
        l = d->link[l].on.kind == SNW_SITE_WORLD ? -1 : d->link[l].on.link;
    return l;
}

static int rigid_parent(const snw_desc *d, int l) {
    if (l < 0 || d->link[l].on.kind == SNW_SITE_WORLD) return -1;
    return rigid_root(d, d->link[l].on.link);
}

// Are two links the same, rigidly connected, or parent and child? They touch always.
static bool are_neighbours(const snw_desc *d, int a, int b) {
    const int i = rigid_root(d, a), j = rigid_root(d, b);
    if (a < 0 || b < 0) return false;
    return a == b || i == j || (i >= 0 && rigid_parent(d, j) == i) ||
           (j >= 0 && rigid_parent(d, i) == j);
}

// Links of the words `rods`, `bodies` and `all`: those with a shape that are not next to the
// carrier.
static snw_status all_links(snw_reader *r, int word, snw_contact_desc *out) {
    enum { RODS, BODIES };
    const snw_desc *d = r->desc;
    const int carrier = out->on.kind == SNW_SITE_WORLD ? -1 : out->on.link;
    int *link = snw_pool_array(r->pool, (size_t)d->nlink, sizeof *link);
    if (!link) return snw_read_memory(r);
    out->nlink = 0;
    for (int l = 0; l < d->nlink; l++) {
        const snw_link_desc *at = &d->link[l];
        const bool body = !at->has_rod && at->has_body && at->body.nsolid > 0;
        if (are_neighbours(d, carrier, l)) continue;
        if ((at->has_rod && word != BODIES) || (body && word != RODS)) link[out->nlink++] = l;
    }
    out->link = link;
    return SNW_OK;
}

// Links by name, and those of layers that are not next to the carrier.
static snw_status named_links(snw_reader *r, const snw_node *node, snw_contact_desc *out) {
    const snw_desc *d = r->desc;
    const int carrier = out->on.kind == SNW_SITE_WORLD ? -1 : out->on.link;
    const int *all;
    int nall = 0;
    int *link = snw_pool_array(r->pool, (size_t)d->nlink, sizeof *link);
    bool *grouped = snw_pool_array(r->pool, (size_t)d->nlink, sizeof *grouped);
    if (!link || !grouped) return snw_read_memory(r);
    SNW_TRY(snw_read_group(r, node, grouped, &nall, &all));
    out->nlink = 0;
    for (int i = 0; i < nall; i++) {
        if (!grouped[all[i]] || !are_neighbours(d, carrier, all[i])) link[out->nlink++] = all[i];
    }
    out->link = link;
    return SNW_OK;
}

// Links that touch the obstacle, after its carrier.
snw_status snw_read_touching(snw_reader *r, const snw_entry *links, const snw_entry *less,
                             snw_contact_desc *out) {
    static const char *const words[] = {"rods", "bodies", "all"};
    enum { WORDS = 3 };
    const snw_node *node = links->value;
    int word = 0, nwithout = 0, kept = 0;
    const int *without = NULL;
    while (word < WORDS && (node->kind != SNW_NODE_TEXT || strcmp(node->text, words[word]) != 0))
        word++;
    if (word < WORDS && snw_names_find(&r->things, words[word])) word = WORDS; // so named
    SNW_TRY(word < WORDS ? all_links(r, word, out) : named_links(r, node, out));
    if (less) SNW_TRY(snw_read_group(r, less->value, NULL, &nwithout, &without));
    int *link = snw_pool_array(r->pool, (size_t)out->nlink, sizeof *link);
    if (!link) return snw_read_memory(r);
    for (int k = 0; k < out->nlink; k++) {
        bool left = false;
        for (int i = 0; i < nwithout; i++) left = left || without[i] == out->link[k];
        if (!left) link[kept++] = out->link[k];
    }
    out->nlink = kept;
    out->link = link;
    if (kept == 0) {
        return snw_fail_at(r->err, links->location,
                           "no link is left that touches the obstacle '%s'", out->name);
    }
    for (int k = 0; k < kept; k++) {
        if (out->on.kind == SNW_SITE_WORLD || out->on.link != link[k]) continue;
        return snw_fail_at(r->err, links->location,
                           "link '%s' carries the obstacle '%s' and cannot touch it",
                           r->desc->link[link[k]].name, out->name);
    }
    return SNW_OK;
}
