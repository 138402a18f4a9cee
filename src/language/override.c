// SPDX-License-Identifier: MIT
//
// Applies overrides, a path and a value, to the tree of a run. A path begins with the name of a
// parameter, thing, study step or top-level key, followed by keys. `on` and `off` for a thing set
// its `when`; `off` for a key of a thing removes the key. Also checks that names are unique.
// override_order.c determines the order of application.
#include "language/source.h"

#include "base/fail.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// sections whose entries are things, and the word for one entry
static const struct {
    const char *key, *thing;
} sections[] = {
    {"robot", "link"},     {"sites", "site"},       {"loops", "loop"},   {"actuators", "actuator"},
    {"loads", "load"},     {"contacts", "contact"}, {"fluid", "fluid"},  {"materials", "material"},
    {"springs", "spring"}, {"fields", "field"},     {"states", "state"},
};
enum { NSECTION = sizeof sections / sizeof *sections };

static const char *const top_keys[] = {
    "sinew",  "title",  "about",    "include",   "parameters", "gravity",  "materials",
    "robot",  "sites",  "loops",    "actuators", "loads",      "contacts", "springs",
    "fluid",  "fields", "states",   "initial",   "probes",     "study",    "runs",
    "record", "expect", "optimize", "commands",
};
enum { NTOP = sizeof top_keys / sizeof *top_keys };

bool snw_override_top_key(const char *name, size_t length) {
    for (int i = 0; i < NTOP; i++) {
        if (strlen(top_keys[i]) == length && strncmp(top_keys[i], name, length) == 0) return true;
    }
    return false;
}

static bool is_top_key(const char *name) { return snw_override_top_key(name, strlen(name)); }

static bool is_word(const snw_node *n, const char *word) {
    return n->kind == SNW_NODE_TEXT && !n->quoted && strcmp(n->text, word) == 0;
}

static bool is_on_off(const snw_node *n) { return is_word(n, "on") || is_word(n, "off"); }

// ---- paths --------------------------------------------------------------------------------------

enum { PATH_MAX_KEYS = 32 };

typedef struct path {
    const char *whole;
    snw_source_location at;
    int n;
    const char *key[PATH_MAX_KEYS];
} path;

// split at dots outside of parentheses
static snw_status split_path(snw_builder *b, const char *text, snw_source_location at, path *out) {
    *out = (path){.whole = text, .at = at};
    for (int k = 0; k < PATH_MAX_KEYS; k++) out->key[k] = "";
    int depth = 0;
    const char *from = text;
    for (const char *p = text;; p++) {
        if (*p && (*p != '.' || depth > 0)) {
            depth += (*p == '(') - (*p == ')');
            continue;
        }
        if (p == from)
            return snw_fail_at(b->err, at, "'%s' is not a path: a name is missing", text);
        if (out->n == PATH_MAX_KEYS) return snw_fail_at(b->err, at, "'%s' is too long", text);
        const char *key = snw_pool_text(b->pool, from, (size_t)(p - from));
        if (!key) return snw_builder_memory(b);
        out->key[out->n++] = key;
        from = p + 1;
        if (!*p) return SNW_OK;
    }
}

// Is the path from key k on the key of an entry of this section, with dots, and what follows it?
static int dotted_keys(const path *p, int k, const snw_node *section) {
    for (int i = 0; section && section->kind == SNW_NODE_MAP && i < section->n; i++) {
        const char *rest = section->entry[i].key;
        if (!strchr(rest, '.')) continue;
        for (int n = k; n < p->n; n++) {
            const size_t length = strlen(p->key[n]);
            if (strncmp(rest, p->key[n], length) != 0) break;
            if (rest[length] == '\0') return n - k + 1;
            if (rest[length] != '.') break;
            rest += length + 1;
        }
    }
    return 1;
}

// Names of things may have dots: their keys of the path become one.
static snw_status join_dotted(snw_builder *b, const snw_node *root, path *p) {
    for (int k = 0; k < 2 && k < p->n; k++) {
        int n = 1;
        for (int i = 0; i < NSECTION && n == 1; i++) {
            if (k == 0 || strcmp(p->key[0], sections[i].key) == 0)
                n = dotted_keys(p, k, snw_node_get(root, sections[i].key));
        }
        if (k == 0 && is_top_key(p->key[0])) n = 1;
        for (; n > 1; n--) {
            p->key[k] = snw_pool_format(b->pool, "%s.%s", p->key[k], p->key[k + 1]);
            if (!p->key[k]) return snw_builder_memory(b);
            for (int i = k + 1; i + 1 < p->n; i++) p->key[i] = p->key[i + 1];
            p->n--;
        }
    }
    return SNW_OK;
}

// value of a key that is a whole number, else 0
static int number_of(const char *key) {
    int n = 0;
    if (!*key || strlen(key) > 6) return 0;
    for (; *key; key++) {
        if (!isdigit((unsigned char)*key)) return 0;
        n = 10 * n + (*key - '0');
    }
    return n;
}

// ---- parameters ---------------------------------------------------------------------------------

static int count_commas(const char *text) {
    int n = 0;
    for (; *text; text++) n += *text == ',';
    return n;
}

static snw_status set_item(snw_builder *b, const snw_entry *override, const snw_entry *parameter,
                           const path *p, long index, snw_node *value) {
    snw_node *list = parameter->value;
    if (list->kind != SNW_NODE_LIST) {
        return snw_fail_at(b->err, p->at, "'%s': parameter '%s' is not a list", p->whole,
                           parameter->key);
    }
    if (index < 1 || index > list->n) {
        return snw_fail_at(b->err, p->at, "'%s': '%s' has items 1 to %d", p->whole, parameter->key,
                           list->n);
    }
    list->entry[index - 1].value = value;
    char item[24];
    (void)snprintf(item, sizeof item, "%ld", index);
    const char *const suffix = item;
    return snw_override_record(b, override, "parameters", parameter->key, 1, &suffix);
}

snw_status snw_override_parameter(snw_builder *b, const snw_entry *override) {
    path p = {0};
    SNW_TRY(split_path(b, override->key, override->location, &p));
    const snw_entry *found = snw_parameters_find(b->parameters, p.key[0]);
    SNW_ASSERT(found);
    const size_t word = snw_name_word(p.key[0]);
    const char *suffix = p.key[0] + word;
    const bool function = strchr(found->key, '(') != NULL;
    snw_node *value = NULL;
    SNW_TRY(snw_node_copy(b, override->value, b->parameters->scope, &value));

    if (p.n == 2 && !*suffix && number_of(p.key[1]) > 0) {
        return set_item(b, override, found, &p, number_of(p.key[1]), value);
    }
    if (p.n > 1) {
        return snw_fail_at(b->err, p.at, "'%s': a parameter has no keys", override->key);
    }
    if (snw_name_has_range(p.key[0])) {
        return snw_fail_at(b->err, p.at, "'%s': give the whole list to change several of its items",
                           override->key);
    }
    if (function && (*suffix != '(' || count_commas(suffix) != count_commas(found->key))) {
        return snw_fail_at(b->err, p.at, "'%s' is a function, override it as '%s'", p.key[0],
                           found->key);
    }
    if (*suffix && !function) {
        const size_t length = strlen(p.key[0]);
        if (suffix[0] != '(' || p.key[0][length - 1] != ')') {
            return snw_fail_at(b->err, p.at, "'%s' is not a parameter", p.key[0]);
        }
        long index = 0;
        SNW_TRY(snw_name_integer(b, b->run, p.key[0], word + 1, length - word - 2, p.at, &index));
        return set_item(b, override, found, &p, index, value);
    }
    // the arguments of a function may be renamed, so the key is replaced with the value
    snw_entry *target = &b->parameters->entry[found - b->parameters->entry];
    target->key = p.key[0];
    target->value = value;
    const char *name = snw_pool_text(b->pool, p.key[0], word);
    if (!name) return snw_builder_memory(b);
    return snw_override_record(b, override, "parameters", name, 0, NULL);
}

// ---- study steps --------------------------------------------------------------------------------

typedef struct step {
    snw_node *item; // item of the list `study`: a map of one key, or the kind alone
    const char *kind;
    const char *name; // name given in the file, NULL: none
} step;

// advance to the next step of a study; *i is the position, 0 at first
static bool next_step(const snw_node *study, int *i, step *s) {
    if (!study || study->kind != SNW_NODE_LIST) return false;
    while (*i < study->n) {
        snw_node *item = study->entry[(*i)++].value;
        *s = (step){.item = item};
        if (item->kind == SNW_NODE_TEXT) s->kind = item->text;
        if (item->kind == SNW_NODE_MAP && item->n == 1) {
            s->kind = item->entry[0].key;
            const snw_node *name = snw_node_get(item->entry[0].value, "name");
            if (name && name->kind == SNW_NODE_TEXT) s->name = name->text;
        }
        if (s->kind) return true;
    }
    return false;
}

// more than the number of kinds
enum { KINDS = 32 };
typedef struct kind_count {
    int n;
    const char *kind[KINDS];
    int count[KINDS];
} kind_count;

static int count_kind(kind_count *c, const char *kind) {
    int k = 0;
    while (k < c->n && strcmp(c->kind[k], kind) != 0) k++;
    if (k == KINDS) return 1;
    if (k == c->n) {
        c->kind[k] = kind;
        c->count[k] = 0;
        c->n++;
    }
    return ++c->count[k];
}

static void step_name(const step *s, kind_count *c, char *out, size_t size) {
    const int count = s->name ? 1 : count_kind(c, s->kind);
    if (count == 1) {
        (void)snprintf(out, size, "%s", s->name ? s->name : s->kind);
    } else {
        (void)snprintf(out, size, "%s.%d", s->kind, count);
    }
}

// body of a step, created as an empty map if the step has none
static snw_status step_body(snw_builder *b, snw_node *item, snw_node ***slot) {
    if (item->kind == SNW_NODE_TEXT) {
        const char *kind = item->text;
        snw_node *body = NULL;
        const snw_node nothing = {.kind = SNW_NODE_MAP, .location = item->location, .text = ""};
        SNW_TRY(snw_node_copy(b, &nothing, item->scope, &body));
        item->kind = SNW_NODE_MAP;
        item->text = "";
        SNW_TRY(snw_node_set(b, item, kind, item->location, body));
    }
    *slot = &item->entry[0].value;
    return SNW_OK;
}

// ---- finding the first name of a path -----------------------------------------------------------

typedef struct target {
    snw_node **slot;     // value to replace
    const char *section; // top-level key that contains it
    int item;            // index of a step
    const char *what;    // "load", "step", "key"
    bool thing;          // has a key `when`
    bool change;         // a change step, whose keys are paths
    const char *kind;    // kind of a step
    int used;            // keys of the path consumed
    int found;
    const char *also; // second object with the same name
} target;

static void add_target(target *t, snw_node **slot, const char *section, int item, const char *what,
                       bool thing, int used) {
    if (t->found++ == 0) {
        t->slot = slot;
        t->section = section;
        t->item = item;
        t->what = what;
        t->thing = thing;
        t->used = used;
    } else {
        t->also = what;
    }
}

static snw_status find_steps(snw_builder *b, const path *p, snw_node *root, target *t) {
    kind_count counts = {0};
    step s;
    for (int i = 0; next_step(snw_node_get(root, "study"), &i, &s);) {
        char name[256];
        step_name(&s, &counts, name, sizeof name);
        const size_t first = strlen(p->key[0]);
        int used = 0;
        if (strcmp(name, p->key[0]) == 0) used = 1;
        // names with a dot, such as static.2, consume two keys of the path
        if (p->n > 1 && strncmp(name, p->key[0], first) == 0 && name[first] == '.' &&
            strcmp(name + first + 1, p->key[1]) == 0) {
            used = 2;
        }
        if (!used || (used == 1 && p->n > 1 && number_of(p->key[1]) > 0)) continue;
        snw_node **slot = NULL;
        SNW_TRY(step_body(b, s.item, &slot));
        add_target(t, slot, "study", i, "step", false, used);
        t->change = strcmp(s.kind, "change") == 0;
        t->kind = s.kind;
    }
    return SNW_OK;
}

static snw_status find_target(snw_builder *b, const path *p, snw_node *root, target *t) {
    for (int k = 0; k < NSECTION; k++) {
        const snw_node *section = snw_node_get(root, sections[k].key);
        if (!section || section->kind != SNW_NODE_MAP) continue;
        for (int i = 0; i < section->n; i++) {
            if (strcmp(section->entry[i].key, p->key[0]) != 0) continue;
            const bool when =
                strcmp(sections[k].key, "materials") != 0 && strcmp(sections[k].key, "sites") != 0;
            add_target(t, &section->entry[i].value, sections[k].key, 0, sections[k].thing, when, 1);
        }
    }
    // names are already known to be distinct when changes are applied, and there may be many steps
    if (!b->changing || t->found == 0) SNW_TRY(find_steps(b, p, root, t));
    if (!is_top_key(p->key[0])) return SNW_OK;
    static const char *const used_up[] = {"sinew", "include", "parameters", "runs"};
    for (size_t i = 0; i < sizeof used_up / sizeof *used_up; i++) {
        if (strcmp(used_up[i], p->key[0]) != 0) continue;
        return snw_fail_at(b->err, p->at, "'%s': '%s' cannot be overridden%s", p->whole, p->key[0],
                           i == 2 ? ", name the parameter itself" : "");
    }
    if (!snw_node_get(root, p->key[0])) {
        snw_node *empty = NULL;
        const snw_node nothing = {.kind = SNW_NODE_NULL, .location = p->at, .text = ""};
        SNW_TRY(snw_node_copy(b, &nothing, b->scope, &empty));
        SNW_TRY(snw_node_set(b, root, p->key[0], p->at, empty));
    }
    for (int i = 0; i < root->n; i++) {
        if (strcmp(root->entry[i].key, p->key[0]) != 0) continue;
        add_target(t, &root->entry[i].value, p->key[0], 0, "key", false, 1);
    }
    return SNW_OK;
}

// Path of a key in the first element that has it: `steel.young` for `young`; NULL: none has.
static const char *element_with(snw_builder *b, const char *key, const snw_node *root) {
    for (int k = 0; k < NSECTION; k++) {
        const snw_node *section = snw_node_get(root, sections[k].key);
        if (!section || section->kind != SNW_NODE_MAP) continue;
        for (int i = 0; i < section->n; i++) {
            const snw_node *element = section->entry[i].value;
            if (element->kind != SNW_NODE_MAP || !snw_node_get(element, key)) continue;
            return snw_pool_format(b->pool, "%s.%s", section->entry[i].key, key);
        }
    }
    return NULL;
}

// nearest of all names a path could begin with, for suggestions
static const char *nearest_name(snw_builder *b, const char *name, const snw_node *root) {
    int room = NTOP + b->parameters->n;
    for (int k = 0; k < NSECTION; k++) {
        const snw_node *section = snw_node_get(root, sections[k].key);
        room += section ? section->n : 0;
    }
    const snw_node *study = snw_node_get(root, "study");
    room += study ? study->n : 0;
    const char **known = snw_pool_array(b->pool, (size_t)room, sizeof *known);
    if (!known) return NULL;
    int n = 0;
    for (int i = 0; i < b->parameters->n; i++) known[n++] = b->parameters->entry[i].key;
    for (int k = 0; k < NSECTION; k++) {
        const snw_node *section = snw_node_get(root, sections[k].key);
        if (!section || section->kind != SNW_NODE_MAP) continue;
        for (int i = 0; i < section->n; i++) known[n++] = section->entry[i].key;
    }
    step s;
    for (int i = 0; next_step(study, &i, &s);) known[n++] = s.name ? s.name : s.kind;
    for (int i = 0; i < NTOP; i++) known[n++] = top_keys[i];
    // first check for a name without its index or its element, the most common errors
    const size_t length = strlen(name);
    for (int i = 0; i < n; i++) {
        if (strncmp(known[i], name, length) == 0 && known[i][length] == '(') return known[i];
    }
    const char *full = element_with(b, name, root);
    return full ? full : snw_nearest(name, n, known);
}

// ---- setting ------------------------------------------------------------------------------------

static snw_status make_map(snw_builder *b, const path *p, int depth, snw_node *node) {
    if (node->kind == SNW_NODE_NULL) node->kind = SNW_NODE_MAP;
    if (node->kind == SNW_NODE_MAP || node->kind == SNW_NODE_LIST) return SNW_OK;
    return snw_fail_at(b->err, p->at, "'%s': there is no key '%s' in the value '%s'", p->whole,
                       p->key[depth], node->text);
}

static snw_status list_slot(snw_builder *b, const path *p, int depth, snw_node *list,
                            snw_node ***slot) {
    const int index = number_of(p->key[depth]);
    if (index < 1 || index > list->n) {
        return snw_fail_at(b->err, p->at, "'%s': a list of %d has no item '%s'", p->whole, list->n,
                           p->key[depth]);
    }
    *slot = &list->entry[index - 1].value;
    return SNW_OK;
}

// slot of key `depth` of the path in `node`; created when it is missing
static snw_status key_slot(snw_builder *b, const path *p, int depth, snw_node *node,
                           snw_node ***slot) {
    SNW_TRY(make_map(b, p, depth, node));
    if (node->kind == SNW_NODE_LIST) return list_slot(b, p, depth, node, slot);
    const char *key = p->key[depth];
    if (!snw_node_get(node, key)) {
        snw_node *made = NULL;
        const snw_node nothing = {.kind = SNW_NODE_NULL, .location = p->at, .text = ""};
        SNW_TRY(snw_node_copy(b, &nothing, node->scope, &made));
        SNW_TRY(snw_node_set(b, node, key, p->at, made));
    }
    for (int i = 0; i < node->n; i++) {
        if (strcmp(node->entry[i].key, key) == 0) *slot = &node->entry[i].value;
    }
    return SNW_OK;
}

static snw_status set_whole(snw_builder *b, const path *p, const target *t, snw_node *value) {
    const bool onoff = is_on_off(value);
    if (onoff && !t->thing) {
        const bool weight = strcmp(p->whole, "gravity") == 0;
        return snw_fail_at(b->err, p->at, "%s '%s' cannot be switched %s%s", t->what, p->whole,
                           value->text, weight ? "; give it, e.g. 0" : "");
    }
    if (!onoff) {
        *t->slot = value;
        return SNW_OK;
    }
    snw_node *thing = *t->slot;
    if (thing->kind == SNW_NODE_NULL) thing->kind = SNW_NODE_MAP;
    if (thing->kind != SNW_NODE_MAP) {
        return snw_fail_at(b->err, p->at, "'%s' is not a map and has no 'when'", p->whole);
    }
    return snw_node_set(b, thing, "when", p->at, value);
}

static snw_status set_key(snw_builder *b, const path *p, const target *t, snw_node *value) {
    snw_node **slot = t->slot;
    for (int k = t->used; k + 1 < p->n; k++) SNW_TRY(key_slot(b, p, k, *slot, &slot));
    const char *last = p->key[p->n - 1];
    SNW_TRY(make_map(b, p, p->n - 1, *slot));
    if ((*slot)->kind == SNW_NODE_LIST) {
        SNW_TRY(list_slot(b, p, p->n - 1, *slot, &slot));
        *slot = value;
        return SNW_OK;
    }
    if (is_word(value, "off") && strcmp(last, "when") != 0) {
        snw_node_remove(*slot, last);
        return SNW_OK;
    }
    return snw_node_set(b, *slot, last, p->at, value);
}

// override inside a change step: the remaining keys form one path of that change
static snw_status set_change(snw_builder *b, const path *p, const target *t,
                             const snw_node *value) {
    const char *remaining = p->key[t->used];
    for (int k = t->used + 1; remaining && k < p->n; k++) {
        remaining = snw_pool_format(b->pool, "%s.%s", remaining, p->key[k]);
    }
    if (!remaining) return snw_builder_memory(b);
    snw_node *copy = NULL;
    SNW_TRY(snw_node_copy(b, value, b->scope, &copy));
    SNW_TRY(make_map(b, p, t->used, *t->slot));
    return snw_node_set(b, *t->slot, remaining, p->at, copy);
}

// a change step may modify things and gravity, but not steps, probes or other keys
static snw_status check_change(snw_builder *b, const path *p, const target *t) {
    const bool key = strcmp(t->what, "key") == 0;
    if (!key && strcmp(t->what, "step") != 0) return SNW_OK;
    if (key && strcmp(p->key[0], "gravity") == 0) return SNW_OK;
    return snw_fail_at(b->err, p->at,
                       "a change names a parameter, an element or gravity; '%s' is a %s", p->key[0],
                       key ? "key of the file" : "step");
}

// find the single thing, step or key with the first name of the path
static snw_status find_unique_target(snw_builder *b, const path *p, snw_node *root, target *t) {
    SNW_TRY(find_target(b, p, root, t));
    if (t->found == 0) {
        const char *near = nearest_name(b, p->key[0], root);
        return snw_fail_at(b->err, p->at, "'%s' names no parameter, element, step or key%s",
                           p->key[0], snw_hint_text(near).text);
    }
    if (t->found > 1) {
        return snw_fail_at(b->err, p->at, "'%s' is ambiguous: it names a %s and a %s", p->key[0],
                           t->what, t->also);
    }
    return SNW_OK;
}

// Record the value by its keys in the file: `arm.rod` is recorded as `robot.arm.rod`.
static snw_status record_target(snw_builder *b, const snw_entry *override, const path *p,
                                const target *t) {
    char item[80] = "";
    const int n = p->n - t->used;
    const char *const *remaining = p->key + t->used;
    if (strcmp(t->what, "key") == 0) {
        return snw_override_record(b, override, t->section, item, n, remaining);
    }
    if (strcmp(t->what, "step") == 0) {
        (void)snprintf(item, sizeof item, "%d\x1f%.40s", t->item, t->kind);
        return snw_override_record(b, override, t->section, item, n, remaining);
    }
    static const char *const when = "when";
    const bool whole = n == 0 && is_on_off(override->value);
    return snw_override_record(b, override, t->section, p->key[0], whole ? 1 : n,
                               whole ? &when : remaining);
}

typedef struct setting {
    snw_builder *b;
    const snw_entry *override;
    snw_node *root;
} setting;

// apply the override to one of the paths it expands to
static snw_status set_path(void *user, const char *text, const snw_scope *scope, int nbind,
                           const snw_binding *bind) {
    (void)nbind, (void)bind;
    const setting *s = user;
    snw_builder *b = s->b;
    path p = {0};
    SNW_TRY(split_path(b, text, s->override->location, &p));
    SNW_TRY(join_dotted(b, s->root, &p));
    SNW_ASSERT(p.n > 0);
    target t = {0};
    SNW_TRY(find_unique_target(b, &p, s->root, &t));
    if (b->changing) SNW_TRY(check_change(b, &p, &t));
    SNW_TRY(record_target(b, s->override, &p, &t));
    if (t.change && p.n > t.used) return set_change(b, &p, &t, s->override->value);
    snw_node *value = NULL;
    SNW_TRY(snw_expand(b, s->override->value, scope, &value));
    return p.n == t.used ? set_whole(b, &p, &t, value) : set_key(b, &p, &t, value);
}

snw_status snw_override_thing(snw_builder *b, const snw_entry *override, snw_node *root) {
    setting s = {.b = b, .override = override, .root = root};
    return snw_name_each(b, override->key, override->location, b->scope, true, set_path, &s);
}

// ---- lookup -------------------------------------------------------------------------------------

// value of a key of a map or an item of a list, NULL when there is none
static const snw_node *child(const snw_node *node, const char *key) {
    if (!node || node->kind != SNW_NODE_LIST) return snw_node_get(node, key);
    const int index = number_of(key);
    return index >= 1 && index <= node->n ? node->entry[index - 1].value : NULL;
}

// value of a parameter given as `E`, `part.2` or `part(2)`; a function has none
static snw_status override_find_parameter(snw_builder *b, const snw_entry *parameter, const path *p,
                                          const snw_node **out) {
    const size_t word = snw_name_word(p->key[0]), length = strlen(p->key[0]);
    const snw_node *node = parameter->value;
    if (strchr(parameter->key, '(')) return SNW_OK;
    if (length > word) {
        long index = 0;
        if (p->key[0][word] != '(' || p->key[0][length - 1] != ')') return SNW_OK;
        SNW_TRY(snw_name_integer(b, b->run, p->key[0], word + 1, length - word - 2, p->at, &index));
        const bool inside = node->kind == SNW_NODE_LIST && index >= 1 && index <= node->n;
        node = inside ? node->entry[index - 1].value : NULL;
    }
    for (int k = 1; k < p->n; k++) node = child(node, p->key[k]);
    *out = node;
    return SNW_OK;
}

snw_status snw_override_find(snw_builder *b, const char *text, snw_source_location at,
                             snw_node *root, const snw_node **out) {
    path p = {0};
    *out = NULL;
    SNW_TRY(split_path(b, text, at, &p));
    const snw_entry *parameter = snw_parameters_find(b->parameters, p.key[0]);
    if (parameter) return override_find_parameter(b, parameter, &p, out);
    SNW_TRY(join_dotted(b, root, &p));
    target t = {0};
    SNW_TRY(find_unique_target(b, &p, root, &t));
    const snw_node *node = *t.slot;
    for (int k = t.used; k < p.n; k++) node = child(node, p.key[k]);
    *out = node;
    return SNW_OK;
}

// ---- unique names -------------------------------------------------------------------------------

typedef struct name {
    const char *text;
    size_t length;
    snw_source_location location;
    const char *what;
    int order;
} name;

static int by_text(const void *a, const void *b) {
    const name *p = a, *q = b;
    const size_t shorter = p->length < q->length ? p->length : q->length;
    const int order = strncmp(p->text, q->text, shorter);
    if (order) return order;
    if (p->length != q->length) return p->length < q->length ? -1 : 1;
    return p->order - q->order;
}

typedef struct directory {
    int n;
    name *name;
} directory;

static void add_name(directory *d, const char *text, size_t length, snw_source_location location,
                     const char *what) {
    d->name[d->n] =
        (name){.text = text, .length = length, .location = location, .what = what, .order = d->n};
    d->n++;
}

// binary search in a sorted directory
static const name *find_name(const directory *d, const char *text, size_t length) {
    const name key = {.text = text, .length = length, .order = -1};
    int lo = 0, hi = d->n;
    while (lo < hi) {
        const int mid = lo + (hi - lo) / 2;
        if (by_text(&d->name[mid], &key) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    const bool same =
        lo < d->n && d->name[lo].length == length && strncmp(d->name[lo].text, text, length) == 0;
    return same ? &d->name[lo] : NULL;
}

static snw_status check_not_parameter(snw_builder *b, const directory *parameters,
                                      const snw_entry *e, const char *what) {
    const size_t word = snw_name_word(e->key);
    if (e->key[word] && strchr("-/", e->key[word])) return SNW_OK;
    const name *p = word ? find_name(parameters, e->key, word) : NULL;
    if (!p) return SNW_OK;
    return snw_fail_at(b->err, e->location, "%s '%s' has the name of a parameter, %s", what, e->key,
                       snw_location_text(p->location, e->location).text);
}

static snw_status add_section_names(snw_builder *b, const directory *parameters,
                                    const snw_node *root, int k, directory *things) {
    const snw_node *section = snw_node_get(root, sections[k].key);
    if (!section || section->kind != SNW_NODE_MAP) return SNW_OK;
    for (int i = 0; i < section->n; i++) {
        const snw_entry *e = &section->entry[i];
        SNW_TRY(check_not_parameter(b, parameters, e, sections[k].thing));
        if (is_top_key(e->key)) {
            return snw_fail_at(b->err, e->location, "%s '%s' has the name of a key of the file",
                               sections[k].thing, e->key);
        }
        add_name(things, e->key, strlen(e->key), e->location, sections[k].thing);
    }
    return SNW_OK;
}

static snw_status add_step_names(snw_builder *b, const snw_node *root, directory *things) {
    kind_count counts = {0};
    step s;
    for (int i = 0; next_step(snw_node_get(root, "study"), &i, &s);) {
        char text[256];
        step_name(&s, &counts, text, sizeof text);
        const char *copy = snw_pool_text(b->pool, text, strlen(text));
        if (!copy) return snw_builder_memory(b);
        const snw_node *given = s.name ? snw_node_get(s.item->entry[0].value, "name") : s.item;
        add_name(things, copy, strlen(copy), given->location, "step");
    }
    return SNW_OK;
}

static snw_status override_check_distinct(snw_builder *b, directory *d) {
    qsort(d->name, (size_t)d->n, sizeof *d->name, by_text);
    for (int i = 1; i < d->n; i++) {
        const name *p = &d->name[i - 1], *q = &d->name[i];
        if (p->length != q->length || strncmp(p->text, q->text, p->length) != 0) continue;
        return snw_fail_at(b->err, q->location,
                           "name '%.*s' is given twice: this %s and the %s in %s", (int)q->length,
                           q->text, q->what, p->what,
                           snw_location_text(p->location, q->location).text);
    }
    return SNW_OK;
}

static snw_status check_probes(snw_builder *b, const snw_node *root, const directory *parameters) {
    const snw_node *probes = snw_node_get(root, "probes");
    if (!probes || probes->kind != SNW_NODE_MAP) return SNW_OK;
    for (int i = 0; i < probes->n; i++) {
        SNW_TRY(check_not_parameter(b, parameters, &probes->entry[i], "probe"));
    }
    return SNW_OK;
}

snw_status snw_check_names(snw_builder *b, const snw_node *root) {
    int room = 1;
    for (int i = 0; i < root->n; i++) room += root->entry[i].value->n;
    directory parameters = {0}, things = {0};
    parameters.name = snw_pool_array(b->pool, (size_t)b->parameters->n + 1, sizeof(name));
    things.name = snw_pool_array(b->pool, (size_t)room, sizeof(name));
    if (!parameters.name || !things.name) return snw_builder_memory(b);
    for (int i = 0; i < b->parameters->n; i++) {
        const snw_entry *e = &b->parameters->entry[i];
        add_name(&parameters, e->key, snw_name_word(e->key), e->location, "parameter");
    }
    SNW_TRY(override_check_distinct(b, &parameters));
    for (int k = 0; k < NSECTION; k++) SNW_TRY(add_section_names(b, &parameters, root, k, &things));
    SNW_TRY(add_step_names(b, root, &things));
    SNW_TRY(override_check_distinct(b, &things));
    return check_probes(b, root, &parameters);
}
