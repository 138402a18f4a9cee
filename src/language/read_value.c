// SPDX-License-Identifier: MIT
//
// Reads values for all other readers: keys of a map, words, numbers, laws, conditions, vectors and
// values by strain component.
#include "language/read.h"

#include "base/fail.h"

#include <math.h>
#include <string.h>

snw_status snw_read_memory(snw_reader *r) {
    return snw_fail(r->err, SNW_E_MEMORY, "the description of this file needs too much memory");
}

snw_source_location snw_text_location(const snw_node *node, size_t skip) {
    snw_source_location p = node->location;
    p.column += (int)skip + (node->quoted ? 1 : 0);
    return p;
}

const snw_scope *snw_read_scope(const snw_reader *r, const snw_node *node) {
    return node->scope ? node->scope : r->root->scope;
}

static const char *kind_text(snw_node_kind kind) {
    switch (kind) {
    case SNW_NODE_NULL:
        return "nothing";
    case SNW_NODE_TEXT:
        return "a single value";
    case SNW_NODE_LIST:
        return "a list";
    case SNW_NODE_MAP:
        return "a map";
    }
    return "something else";
}

// ---- maps ---------------------------------------------------------------------------------------

static snw_status unknown_key(snw_reader *r, const snw_entry *e, const snw_key_table *table) {
    const char *advice = snw_language_retired(table->name, e->key);
    if (advice) {
        return snw_fail_at(r->err, e->location, "'%s' is retired: %s", e->key, advice);
    }
    const char **known = snw_pool_array(r->pool, (size_t)table->n, sizeof *known);
    if (!known) return snw_read_memory(r);
    for (int i = 0; i < table->n; i++) known[i] = table->key[i].name;
    const char *meant = snw_language_meant(table->name, e->key);
    const char *near = meant ? meant : snw_nearest(e->key, table->n, known);
    if (near) {
        return snw_fail_at(r->err, e->location, "unknown key '%s'%s", e->key,
                           snw_hint_text(near).text);
    }
    char list[256] = "";
    size_t used = 0;
    for (int i = 0; i < table->n && used + strlen(known[i]) + 3 < sizeof list; i++) {
        if (i > 0) list[used++] = ' ';
        memcpy(list + used, known[i], strlen(known[i]) + 1);
        used += strlen(known[i]);
    }
    return snw_fail_at(r->err, e->location, "unknown key '%s'; %s has the keys: %s", e->key,
                       table->about, list);
}

snw_status snw_read_map(snw_reader *r, const snw_node *node, const snw_key_table *table,
                        const snw_entry **entry) {
    if (node->kind != SNW_NODE_MAP) {
        return snw_fail_at(r->err, node->location, "%s is a map, '%s: ..', found %s", table->about,
                           table->key[0].name, kind_text(node->kind));
    }
    for (int k = 0; k < table->n; k++) entry[k] = NULL;
    for (int i = 0; i < node->n; i++) {
        const snw_entry *e = &node->entry[i];
        int k = 0;
        while (k < table->n && strcmp(table->key[k].name, e->key) != 0) k++;
        if (k == table->n) return unknown_key(r, e, table);
        if (entry[k]) return snw_fail_at(r->err, e->location, "'%s' is given twice", e->key);
        entry[k] = e;
    }
    return SNW_OK;
}

snw_status snw_read_section_entries(snw_reader *r, const char *key, const snw_node **out, int *n) {
    const snw_node *node = snw_node_get(r->root, key);
    *out = node;
    *n = 0;
    if (!node || node->kind == SNW_NODE_NULL) return SNW_OK;
    if (node->kind != SNW_NODE_MAP) {
        return snw_fail_at(r->err, node->location, "'%s' is a map of names, 'name: {..}', found %s",
                           key, kind_text(node->kind));
    }
    *n = node->n;
    return SNW_OK;
}

// ---- words --------------------------------------------------------------------------------------

snw_status snw_read_text(snw_reader *r, const snw_node *node, const char *what, const char **out) {
    if (node->kind == SNW_NODE_NULL) {
        return snw_fail_at(r->err, node->location, "'%s' has no value", what);
    }
    if (node->kind != SNW_NODE_TEXT) {
        return snw_fail_at(r->err, node->location, "'%s' is a single value, found %s", what,
                           kind_text(node->kind));
    }
    *out = node->text;
    return SNW_OK;
}

snw_status snw_read_name(snw_reader *r, const snw_node *node, const char *what, const char **out) {
    SNW_TRY(snw_read_text(r, node, what, out));
    return snw_name_resolve(node, r->pool, out, r->err);
}

snw_status snw_read_word(snw_reader *r, const snw_node *node, const char *what, int n,
                         const char *const *word, int *out) {
    const char *text = "";
    SNW_TRY(snw_read_text(r, node, what, &text));
    for (int i = 0; i < n; i++) {
        if (strcmp(text, word[i]) == 0) {
            *out = i;
            return SNW_OK;
        }
    }
    char list[160] = "";
    size_t used = 0;
    for (int i = 0; i < n && used + strlen(word[i]) + 3 < sizeof list; i++) {
        if (i > 0) used += strlen(memcpy(list + used, ", ", 3));
        memcpy(list + used, word[i], strlen(word[i]) + 1);
        used += strlen(word[i]);
    }
    const char *near = snw_nearest(text, n, word);
    if (near) {
        return snw_fail_at(r->err, node->location, "unknown %s '%s'%s", what, text,
                           snw_hint_text(near).text);
    }
    return snw_fail_at(r->err, node->location, "unknown %s '%s'; it is one of %s", what, text,
                       list);
}

snw_status snw_read_switch(snw_reader *r, const snw_node *node, const char *what, bool *out) {
    static const char *const words[] = {"off", "on", "false", "true"}; // the last two are JSON's
    int word = 0;
    SNW_TRY(snw_read_word(r, node, what, 4, words, &word));
    *out = word % 2 == 1;
    return SNW_OK;
}

// ---- numbers and laws ---------------------------------------------------------------------------

bool snw_law_constant(snw_law law, double *value) {
    if (!law || snw_expr_vars(law) != 0) return false;
    *value = snw_expr_value(law, (snw_at){0});
    return true;
}

static snw_status read_value_parse(snw_reader *r, const snw_node *node, const char *text,
                                   size_t skip, const snw_expr_rules *rules, snw_law *out) {
    const snw_source_location p = snw_text_location(node, skip);
    return snw_expr_parse(r->pool, snw_read_scope(r, node), text, rules, p.file, p.line, p.column,
                          out, r->err);
}

snw_status snw_read_law(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                        int vars, snw_law *out) {
    const char *text = "";
    SNW_TRY(snw_read_text(r, node, what, &text));
    const snw_expr_rules rules = {.dim = &dim, .vars = vars};
    SNW_TRY(read_value_parse(r, node, text, 0, &rules, out));
    double value = 0;
    if (snw_law_constant(*out, &value) && !isfinite(value)) {
        return snw_fail_at(r->err, node->location, "'%s' is not a finite number", what);
    }
    return SNW_OK;
}

snw_status snw_read_condition(snw_reader *r, const snw_node *node, const char *what, snw_law *out) {
    const char *text = "";
    SNW_TRY(snw_read_text(r, node, what, &text));
    const snw_expr_rules rules = {.vars = SNW_VAR_T | SNW_VAR_SIGNAL, .condition = true};
    return read_value_parse(r, node, text, 0, &rules, out);
}

snw_status snw_read_when(snw_reader *r, const snw_node *node, const char *what, snw_law *out) {
    SNW_TRY(snw_read_condition(r, node, what, out));
    const bool reads = snw_expr_vars(*out) & SNW_VAR_SIGNAL;
    return reads ? snw_read_condition_signal(r, node->location, node->text, out) : SNW_OK;
}

snw_status snw_read_active_when(snw_reader *r, const snw_node *node, const char *what,
                                snw_law *out) {
    SNW_TRY(snw_read_condition(r, node, what, out));
    return snw_expr_vars(*out) == 0 ? SNW_OK
                                    : snw_read_condition_signal(r, node->location, node->text, out);
}

snw_status snw_read_both(snw_reader *r, snw_source_location at, snw_law other, snw_law *law) {
    double value = 1;
    snw_error why = {0};
    if (!other || other == *law || (snw_law_constant(other, &value) && value != 0)) return SNW_OK;
    if (*law && snw_law_constant(*law, &value) && value == 0) return SNW_OK;
    if (!*law || snw_expr_vars(*law) == 0 || snw_expr_vars(other) == 0) {
        *law = other;
        return SNW_OK;
    }
    if (snw_signals_both(r->signals, *law, other, law, &why) == SNW_OK) return SNW_OK;
    return snw_fail_at(r->err, at, "%s", why.text);
}

snw_law snw_site_when(const snw_desc *d, const snw_site *site) {
    return site->kind == SNW_SITE_WORLD ? NULL : d->link[site->link].when;
}

snw_status snw_read_condition_signal(snw_reader *r, snw_source_location at, const char *text,
                                     snw_law *law) {
    snw_error why = {0};
    if (snw_signals_condition(r->signals, text, law, &why) == SNW_OK) return SNW_OK;
    return snw_fail_at(r->err, at, "%s", why.text);
}

snw_status snw_read_captured(snw_reader *r, snw_source_location at, const char *name, int n,
                             snw_law condition, int *first) {
    snw_error why = {0};
    if (snw_signals_captured(r->signals, name, n, condition, first, &why) == SNW_OK) return SNW_OK;
    return snw_fail_at(r->err, at, "%s", why.text);
}

snw_status snw_read_constant_in(snw_reader *r, const snw_node *node, const char *text, size_t skip,
                                const char *what, snw_dim dim, double L, double *out) {
    const snw_expr_rules rules = {.dim = &dim, .vars = SNW_VAR_T | SNW_VAR_X | SNW_VAR_L};
    snw_law law = NULL;
    SNW_TRY(read_value_parse(r, node, text, skip, &rules, &law));
    const int vars = snw_expr_vars(law) & ~(isnan(L) ? 0 : SNW_VAR_L);
    if (vars) {
        return snw_fail_at(r->err, snw_text_location(node, skip),
                           "'%s' must be a constant in this version, this depends on %s", what,
                           vars & SNW_VAR_T   ? "t"
                           : vars & SNW_VAR_X ? "x"
                                              : "L");
    }
    *out = snw_expr_value(law, (snw_at){.L = L});
    if (!isfinite(*out)) {
        return snw_fail_at(r->err, snw_text_location(node, skip), "'%s' is not a finite number",
                           what);
    }
    return SNW_OK;
}

snw_status snw_read_sliding_station(snw_reader *r, const snw_node *node, const char *text,
                                    size_t skip, snw_law *out) {
    const snw_dim dim = SNW_DIM_LENGTH;
    const snw_expr_rules rules = {.dim = &dim, .vars = SNW_VAR_T | SNW_VAR_L};
    SNW_TRY(read_value_parse(r, node, text, skip, &rules, out));
    if (!(snw_expr_vars(*out) & SNW_VAR_T)) *out = NULL;
    return SNW_OK;
}

snw_status snw_read_constant(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                             double *out) {
    const char *text = "";
    SNW_TRY(snw_read_text(r, node, what, &text));
    return snw_read_constant_in(r, node, text, 0, what, dim, (double)NAN, out);
}

snw_status snw_read_positive(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                             double *out) {
    SNW_TRY(snw_read_constant(r, node, what, dim, out));
    if (*out > 0) return SNW_OK;
    return snw_fail_at(r->err, node->location, "'%s' must be positive, got %g", what, *out);
}

snw_status snw_read_nonnegative(snw_reader *r, const snw_entry *e, snw_dim dim, double *out) {
    SNW_TRY(snw_read_constant(r, e->value, e->key, dim, out));
    if (*out >= 0) return SNW_OK;
    return snw_fail_at(r->err, e->value->location, "'%s' must not be negative, got %g", e->key,
                       *out);
}

snw_status snw_read_integer(snw_reader *r, const snw_node *node, const char *what, int min, int max,
                            int *out) {
    double value = 0;
    SNW_TRY(snw_read_constant(r, node, what, SNW_DIM_NONE, &value));
    if (value != floor(value)) {
        return snw_fail_at(r->err, node->location, "'%s' must be a whole number, got %g", what,
                           value);
    }
    if (!(value >= min && value <= max)) {
        return snw_fail_at(r->err, node->location, "'%s' must be from %d to %d, got %g", what, min,
                           max, value);
    }
    *out = (int)value;
    return SNW_OK;
}

// ---- vectors ------------------------------------------------------------------------------------

snw_status snw_read_list(snw_reader *r, const snw_node *node, const char *what, int n) {
    if (node->kind != SNW_NODE_LIST) {
        return snw_fail_at(r->err, node->location, "'%s' is a list of %d, found %s", what, n,
                           kind_text(node->kind));
    }
    if (node->n != n) {
        return snw_fail_at(r->err, node->location, "'%s' is a list of %d, found %d", what, n,
                           node->n);
    }
    return SNW_OK;
}

snw_status snw_read_laws(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                         int vars, snw_law out[3]) {
    SNW_TRY(snw_read_list(r, node, what, 3));
    for (int i = 0; i < 3; i++) {
        SNW_TRY(snw_read_law(r, node->entry[i].value, what, dim, vars, &out[i]));
    }
    return SNW_OK;
}

snw_status snw_read_vec3(snw_reader *r, const snw_node *node, const char *what, snw_dim dim,
                         snw_vec3 *out) {
    SNW_TRY(snw_read_list(r, node, what, 3));
    for (int i = 0; i < 3; i++) {
        SNW_TRY(snw_read_constant(r, node->entry[i].value, what, dim, &out->e[i]));
    }
    return SNW_OK;
}

snw_status snw_read_direction(snw_reader *r, const snw_node *node, const char *what,
                              snw_vec3 *out) {
    if (node->kind == SNW_NODE_TEXT) {
        const bool minus = node->text[0] == '-';
        const char *axis = node->text + (minus ? 1 : 0);
        if (axis[0] < 'x' || axis[0] > 'z' || axis[1] != '\0') {
            return snw_fail_at(r->err, node->location, "'%s' is x, y, z or a vector, found '%s'",
                               what, node->text);
        }
        *out = (snw_vec3){0};
        out->e[axis[0] - 'x'] = minus ? -1 : 1;
        return SNW_OK;
    }
    // the components may be lengths or plain numbers
    SNW_TRY(snw_read_vec3(r, node, what, SNW_DIM_LENGTH, out));
    const double size = sqrt(snw_dot(*out, *out));
    if (!(size > 0 && isfinite(size))) {
        return snw_fail_at(r->err, node->location,
                           "'%s' has no direction, its length is %g; give x, y, z or a vector",
                           what, size);
    }
    *out = snw_scale(1 / size, *out);
    return SNW_OK;
}

// ---- by strain component ------------------------------------------------------------------------

#define COMPONENT_FORM "see where it is used; functions: a list"
#define COMPONENT_KEYS(X)                                                                          \
    X(SNW_TWIST, "twist", COMPONENT_FORM, "about the tangent, local x")                            \
    X(SNW_BEND_Y, "bend_y", COMPONENT_FORM, "about local y")                                       \
    X(SNW_BEND_Z, "bend_z", COMPONENT_FORM, "about local z")                                       \
    X(SNW_STRETCH, "stretch", COMPONENT_FORM, "along the tangent; 0: unstretched")                 \
    X(SNW_SHEAR_Y, "shear_y", COMPONENT_FORM, "along local y")                                     \
    X(SNW_SHEAR_Z, "shear_z", COMPONENT_FORM, "along local z")

SNW_KEYS(components, "components", "a value by strain component", COMPONENT_KEYS);

snw_status snw_read_components(snw_reader *r, const snw_node *node, const char *what,
                               snw_dim angular, snw_dim linear, int vars, snw_law out[6]) {
    if (node->kind == SNW_NODE_MAP) {
        const snw_entry *e[6];
        SNW_TRY(snw_read_map(r, node, &snw_keys_components, e));
        for (int i = 0; i < 6; i++) {
            if (!e[i]) continue;
            SNW_TRY(
                snw_read_law(r, e[i]->value, e[i]->key, i < 3 ? angular : linear, vars, &out[i]));
        }
        return SNW_OK;
    }
    if (node->kind == SNW_NODE_TEXT) {
        double zero = 0;
        SNW_TRY(snw_read_constant(r, node, what, SNW_DIM_NONE, &zero));
        if (zero != 0) {
            return snw_fail_at(r->err, node->location,
                               "'%s' is 0, six numbers or by component ('{bend_z: ..}'), got %g",
                               what, zero);
        }
        for (int i = 0; i < 6; i++) {
            out[i] = snw_expr_constant(r->pool, 0);
            if (!out[i]) return snw_read_memory(r);
        }
        return SNW_OK;
    }
    SNW_TRY(snw_read_list(r, node, what, 6));
    for (int i = 0; i < 6; i++) {
        SNW_TRY(
            snw_read_law(r, node->entry[i].value, what, i < 3 ? angular : linear, vars, &out[i]));
    }
    return SNW_OK;
}
