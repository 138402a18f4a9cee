// SPDX-License-Identifier: MIT
//
// Reads sites: `world`, `arm`, `arm.root`, `arm@50%`, and named sites.
#include "language/read.h"

#include "base/fail.h"

#include <math.h>
#include <string.h>

#define SITE_KEYS(X)                                                                               \
    X(SITE_ON, "on", "a site", "the link or site it is fixed to, required")                        \
    X(SITE_POSE, "pose", "a constant pose", "of the site, relative to 'on'")

enum { SITE_KEYS(SNW_KEY_CODE) SITE_N };
SNW_KEYS(site, "site", "a named site", SITE_KEYS);

static snw_status read_named_site(snw_reader *r, int index);

// station from the text after the @
static snw_status site_read_station(snw_reader *r, const snw_node *node, const char *text,
                                    snw_site *out) {
    const snw_link_desc *link = &r->desc->link[out->link];
    const snw_link_desc *beyond = link->beyond ? &r->desc->link[link->beyond - 1] : NULL;
    const double L = link->rod.length + (beyond ? beyond->rod.length : 0);
    const char *mark = strchr(node->text, '@');
    const size_t skip = mark ? (size_t)(mark - node->text) + 1 : 0;
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ') length--;
    if (length == 0) {
        return snw_fail_at(r->err, snw_text_location(node, skip),
                           "'@' needs a station, e.g. '%s@50%%' or '%s@0.12 m'", link->name,
                           link->name);
    }
    const bool percent = text[length - 1] == '%';
    const char *expr = snw_pool_text(r->pool, text, percent ? length - 1 : length);
    if (!expr) return snw_read_memory(r);
    double value = 0;
    if (r->sliding_allowed && !percent) {
        SNW_TRY(snw_read_sliding_station(r, node, expr, skip, &out->sliding));
        if (out->sliding) { // a law of time: the site is attached to the root in the kinematic tree
            out->kind = SNW_SITE_ROOT;
            return SNW_OK;
        }
    }
    SNW_TRY(snw_read_constant_in(r, node, expr, skip, "station",
                                 percent ? SNW_DIM_NONE : SNW_DIM_LENGTH, L, &value));
    const double x = percent ? value / 100 * L : value;
    const double slack = 1e-12 * L; // rounding error of the expression
    if (!(x >= -slack && x <= L + slack)) {
        return snw_fail_at(r->err, snw_text_location(node, skip),
                           "station %g m is outside of rod '%s', which goes from 0 to %g m", x,
                           link->name, L);
    }
    out->kind = SNW_SITE_AT;
    out->x = fmin(fmax(x, 0), L);
    if (beyond && x >= link->rod.length - slack) {
        out->link = link->beyond - 1;
        out->x = fmax(out->x - link->rod.length, 0);
    }
    return SNW_OK;
}

snw_status snw_read_site_on_link(snw_reader *r, const snw_node *node, const char *suffix,
                                 snw_site *out) {
    const snw_link_desc *link = &r->desc->link[out->link];
    out->kind = SNW_SITE_END;
    const int end = link->beyond ? link->beyond - 1 : out->link;
    if (suffix[0] == '\0') {
        out->link = end;
        return SNW_OK;
    }
    const bool tip = strcmp(suffix, ".tip") == 0, root = strcmp(suffix, ".root") == 0;
    if (!tip && !root && suffix[0] != '@') {
        return snw_fail_at(r->err, node->location,
                           "'%s%s' is not a site; a rod has '%s.root', '%s.tip' and '%s@50%%'",
                           link->name, suffix, link->name, link->name, link->name);
    }
    if (!link->has_rod) {
        return snw_fail_at(r->err, node->location, "link '%s' has no rod; its end is '%s'",
                           link->name, link->name);
    }
    if (suffix[0] == '@') return site_read_station(r, node, suffix + 1, out);
    out->kind = tip ? SNW_SITE_END : SNW_SITE_ROOT;
    if (tip) out->link = end;
    return SNW_OK;
}

snw_status snw_read_site(snw_reader *r, const snw_node *node, const char *what, snw_site *out) {
    const char *text = "";
    SNW_TRY(snw_read_name(r, node, what, &text));
    *out = (snw_site){.kind = SNW_SITE_WORLD, .link = -1, .location = node->location};
    out->pose = snw_se3_identity();
    if (strcmp(text, "world") == 0) return SNW_OK;

    const size_t stem = snw_thing_stem(r, text);
    const char *name = snw_pool_text(r->pool, text, stem);
    if (!name) return snw_read_memory(r);
    const snw_name *found = snw_names_find(&r->things, name);
    if (!found || found->kind != (int)SNW_THING_SITE) {
        SNW_TRY(snw_find_thing(r, node, name, SNW_THING_LINK, &out->link));
        return snw_read_site_on_link(r, node, text + stem, out);
    }
    if (text[stem] != '\0') {
        return snw_fail_at(r->err, node->location, "'%s' is a named site and has no '%s'", name,
                           text + stem);
    }
    SNW_TRY(read_named_site(r, found->index));
    *out = r->site[found->index];
    out->location = node->location;
    return SNW_OK;
}

static snw_status read_named_site(snw_reader *r, int index) {
    const snw_entry *entry = r->site_entry[index];
    if (r->site_state[index] == 2) return SNW_OK;
    if (r->site_state[index] == 1) {
        return snw_fail_at(r->err, entry->location, "site '%s' is on itself, through other sites",
                           entry->key);
    }
    r->site_state[index] = 1;
    const snw_entry *e[SITE_N];
    SNW_TRY(snw_read_map(r, entry->value, &snw_keys_site, e));
    if (!e[SITE_ON]) {
        return snw_fail_at(r->err, entry->location, "site '%s' needs 'on:', e.g. 'on: world'",
                           entry->key);
    }
    snw_site site;
    SNW_TRY(snw_read_site(r, e[SITE_ON]->value, "on", &site));
    if (e[SITE_POSE]) {
        snw_se3 own;
        SNW_TRY(snw_read_pose_constant(r, e[SITE_POSE]->value, &own));
        site.pose = snw_se3_mul(site.pose, own);
        site.offset = true;
    }
    r->site[index] = site;
    r->site_state[index] = 2;
    return SNW_OK;
}

snw_status snw_read_sites(snw_reader *r) {
    const snw_node *node;
    int n = 0;
    SNW_TRY(snw_read_section_entries(r, "sites", &node, &n));
    r->site = snw_pool_array(r->pool, (size_t)n, sizeof *r->site);
    r->site_entry = snw_pool_array(r->pool, (size_t)n, sizeof(const snw_entry *));
    r->site_state = snw_pool_array(r->pool, (size_t)n, sizeof *r->site_state);
    if (n > 0 && !(r->site && r->site_entry && r->site_state)) return snw_read_memory(r);
    for (int i = 0; i < n; i++) r->site_entry[i] = &node->entry[i];
    for (int i = 0; i < n; i++) SNW_TRY(read_named_site(r, i));
    r->desc->nnamed = n;
    return SNW_OK;
}

snw_status snw_list_sites(snw_reader *r) {
    const int n = r->desc->nnamed;
    snw_named_site *kept = snw_pool_array(r->pool, (size_t)n, sizeof *kept);
    if (n > 0 && !kept) return snw_read_memory(r);
    for (int i = 0; i < n; i++) kept[i] = (snw_named_site){r->site_entry[i]->key, r->site[i]};
    r->desc->named = kept;
    return SNW_OK;
}
