// SPDX-License-Identifier: MIT
//
// Builds the node tree from the events of a YAML text. They are neither limited in depth nor in
// number, and aliases are not followed, so this file limits depth and size itself.
#include "language/yaml.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "language/text.h"
#include "language/yaml_events.h"

#include <stdio.h>
#include <string.h>

typedef struct anchor {
    const char *name;
    const snw_node *node; // NULL while its node is still being read
} anchor;

typedef struct reader {
    snw_pool *pool;
    snw_error *err;
    const char *file;
    snw_yaml_events *events;
    snw_yaml_event event;     // current event
    snw_source_location last; // of the last event that had a mark
    snw_source_location open; // of the innermost list or map in brackets
    int nodes;
    int nanchor;
    anchor anchor[SNW_YAML_ANCHORS];
} reader;

static snw_status yaml_out_of_memory(reader *r) {
    return snw_fail(r->err, SNW_E_MEMORY, "no memory left to read '%s'", r->file);
}

// ---- events -------------------------------------------------------------------------------------

static snw_status next_event(reader *r) {
    SNW_TRY(snw_yaml_events_next(r->events, r->last, r->open, &r->event, r->err));
    if (r->event.line > 0) {
        r->last = (snw_source_location){
            .file = r->file, .line = r->event.line, .column = r->event.column};
    }
    return SNW_OK;
}

// escape sequences can produce characters that are not allowed in the file
static snw_status check_text(reader *r, const char *text, size_t length) {
    snw_error fault = {0};
    if (!text || snw_text_check(r->file, text, length, &fault) == SNW_OK) return SNW_OK;
    return snw_fail_at(r->err, r->last, "in quoted text: %s", fault.text);
}

// ---- nodes --------------------------------------------------------------------------------------

static snw_status new_node(reader *r, snw_node_kind kind, snw_source_location location,
                           snw_node **out) {
    if (++r->nodes > SNW_YAML_NODES) {
        return snw_fail_at(r->err, r->last,
                           "more than %d values, aliases followed; is an alias multiplying?",
                           SNW_YAML_NODES);
    }
    snw_node *n = snw_pool_take(r->pool, sizeof *n);
    if (!n) return yaml_out_of_memory(r);
    *n = (snw_node){.kind = kind, .location = location, .text = ""};
    *out = n;
    return SNW_OK;
}

static snw_status yaml_too_deep(reader *r) {
    return snw_fail_at(r->err, r->last, "lists and maps are nested more than %d deep",
                       SNW_YAML_DEPTH);
}

// reserve room for n entries, keeping the present ones
static snw_status yaml_reserve(reader *r, snw_node *node, int n, int *room) {
    if (n <= *room) return SNW_OK;
    const int want = n > 2 * *room ? n : 2 * *room;
    snw_entry *grown = snw_pool_array(r->pool, (size_t)want, sizeof *grown);
    if (!grown) return yaml_out_of_memory(r);
    if (node->n) memcpy(grown, node->entry, (size_t)node->n * sizeof *grown);
    node->entry = grown;
    *room = want;
    return SNW_OK;
}

static snw_status copy_node(reader *r, const snw_node *from, int depth, snw_node **out) {
    if (depth > SNW_YAML_DEPTH) return yaml_too_deep(r);
    snw_node *to = NULL;
    SNW_TRY(new_node(r, from->kind, from->location, &to));
    if (!to) return yaml_out_of_memory(r);
    to->text = from->text;
    to->quoted = from->quoted;
    int room = 0;
    SNW_TRY(yaml_reserve(r, to, from->n, &room));
    for (int i = 0; to->entry && i < from->n; i++) {
        to->entry[i] = from->entry[i];
        SNW_TRY(copy_node(r, from->entry[i].value, depth + 1, &to->entry[i].value));
        to->n = i + 1;
    }
    *out = to;
    return SNW_OK;
}

// ---- anchors and aliases ------------------------------------------------------------------------

static snw_status open_anchor(reader *r, int *index) {
    *index = -1;
    if (!r->event.anchor) return SNW_OK;
    if (r->nanchor == SNW_YAML_ANCHORS) {
        return snw_fail_at(r->err, r->last, "more than %d anchors", SNW_YAML_ANCHORS);
    }
    *index = r->nanchor++;
    r->anchor[*index] = (anchor){.name = r->event.anchor};
    return check_text(r, r->event.anchor, strlen(r->event.anchor));
}

static void close_anchor(reader *r, int index, const snw_node *node) {
    if (index >= 0) r->anchor[index].node = node;
}

static snw_status follow_alias(reader *r, int depth, snw_node **out) {
    const char *name = r->event.text;
    SNW_TRY(check_text(r, name, r->event.length));
    for (int i = r->nanchor; i-- > 0;) {
        if (strcmp(r->anchor[i].name, name) != 0) continue;
        if (r->anchor[i].node) return copy_node(r, r->anchor[i].node, depth, out);
        return snw_fail_at(r->err, r->last, "alias '*%s' is inside its own anchor", name);
    }
    return snw_fail_at(r->err, r->last, "alias '*%s' has no anchor '&%s' before it", name, name);
}

// ---- scalars ------------------------------------------------------------------------------------

static bool is_null(const char *text) {
    return !*text || !strcmp(text, "~") || !strcmp(text, "null") || !strcmp(text, "Null") ||
           !strcmp(text, "NULL");
}

// check the tag, if any; *as <- the part after tag:yaml.org,2002:, or ""
static snw_status read_tag(reader *r, const char *allowed, const char **as) {
    static const char core[] = "tag:yaml.org,2002:";
    *as = "";
    const char *tag = r->event.tag;
    if (!tag) return SNW_OK;
    SNW_TRY(check_text(r, tag, strlen(tag)));
    const bool known = strncmp(tag, core, sizeof core - 1) == 0;
    const char *word = known ? tag + sizeof core - 1 : tag;
    // allowed is a list of words, each surrounded by blanks
    char between[16];
    const int length = snprintf(between, sizeof between, " %s ", word);
    if (!known || length >= (int)sizeof between || !strstr(allowed, between)) {
        return snw_fail_at(r->err, r->last, "tag '%s%s' is not allowed here", known ? "!!" : "",
                           word);
    }
    *as = word;
    return SNW_OK;
}

static snw_status read_scalar(reader *r, snw_node **out) {
    const char *as;
    SNW_TRY(read_tag(r, " str int float bool null ", &as));
    snw_node *n = NULL;
    SNW_TRY(new_node(r, SNW_NODE_TEXT, r->last, &n));
    SNW_TRY(check_text(r, r->event.text, r->event.length));
    if (r->event.text) n->text = r->event.text;
    n->quoted = r->event.quoted || strcmp(as, "str") == 0;
    if (strcmp(as, "null") == 0 && !is_null(n->text)) {
        return snw_fail_at(r->err, n->location, "'%s' is tagged !!null", n->text);
    }
    if (!n->quoted && is_null(n->text)) {
        n->kind = SNW_NODE_NULL;
        n->text = *n->text ? "~" : ""; // explicit null or empty
    }
    *out = n;
    return SNW_OK;
}

// ---- lists and maps -----------------------------------------------------------------------------

static snw_status yaml_read_node(reader *r, int depth, snw_node **out);

static snw_status yaml_read_list(reader *r, int depth, snw_node *list) {
    int room = 0;
    for (;;) {
        SNW_TRY(next_event(r));
        if (r->event.kind == SNW_YAML_LIST_END) return SNW_OK;
        SNW_TRY(yaml_reserve(r, list, list->n + 1, &room));
        snw_entry *e = &list->entry[list->n];
        SNW_TRY(yaml_read_node(r, depth + 1, &e->value));
        e->key = NULL;
        e->location = e->value->location;
        list->n++;
    }
}

static snw_status read_key(reader *r, snw_entry *e, bool *merge) {
    snw_node *key = NULL;
    const snw_source_location at = r->last;
    const bool scalar = r->event.kind == SNW_YAML_SCALAR || r->event.kind == SNW_YAML_ALIAS;
    const bool blank = r->event.kind == SNW_YAML_SCALAR && !r->event.text;
    if (scalar && !blank) SNW_TRY(yaml_read_node(r, 0, &key));
    if (!key || key->n || key->kind == SNW_NODE_LIST || key->kind == SNW_NODE_MAP) {
        return snw_fail_at(r->err, at,
                           blank ? "a key is missing before ':'"
                                 : "a key must be a word, not a list or a map");
    }
    if (key->kind == SNW_NODE_NULL || !*key->text) {
        return snw_fail_at(r->err, key->location, "a key must be a word, not empty or null");
    }
    if (strpbrk(key->text, "\r\n\t")) {
        return snw_fail_at(r->err, key->location, "a key must be on one line");
    }
    r->nodes--; // keys do not count as values
    e->key = key->text;
    e->location = key->location;
    *merge = !key->quoted && strcmp(key->text, "<<") == 0;
    return SNW_OK;
}

static snw_status check_duplicates(reader *r, const snw_node *map) {
    const snw_entry *first, *second;
    SNW_TRY(snw_node_duplicate(map, &first, &second, r->err));
    if (!second) return SNW_OK;
    return snw_fail_at(r->err, second->location, "key '%s' is given twice, first in line %d",
                       second->key, first->location.line);
}

// append the entries of `from` whose keys are not in `own`, the sorted entries of the original map
static snw_status append_missing(reader *r, const snw_entry *const *own, int nown,
                                 const snw_node *from, snw_node *map, int *room) {
    for (int i = 0; i < from->n; i++) {
        if (snw_node_find(own, nown, from->entry[i].key)) continue;
        SNW_TRY(yaml_reserve(r, map, map->n + 1, room));
        map->entry[map->n++] = from->entry[i];
    }
    return SNW_OK;
}

static snw_status merge_one(reader *r, const snw_node *from, snw_source_location at,
                            snw_node *map) {
    if (from->kind != SNW_NODE_MAP) {
        return snw_fail_at(r->err, at, "'<<' takes a map or a list of maps");
    }
    if (map->n + from->n > SNW_YAML_KEYS) {
        return snw_fail_at(r->err, at, "more than %d keys in one map", SNW_YAML_KEYS);
    }
    const snw_entry **own = snw_node_sorted(map);
    if (!own) return yaml_out_of_memory(r);
    // `own` points into the present entries, so they must not move: append to a copy
    snw_node wide = *map;
    int room = 0;
    snw_status s = yaml_reserve(r, &wide, map->n + from->n, &room);
    if (s == SNW_OK) s = append_missing(r, own, map->n, from, &wide, &room);
    snw_free(own);
    if (s == SNW_OK) *map = wide;
    return s;
}

// remove keys set to `~` that were also in the merged maps
static void drop_removed(const snw_node *from, snw_node *map) {
    int kept = 0;
    for (int i = 0; i < map->n; i++) {
        bool removed = false;
        if (snw_node_removes(map->entry[i].value)) {
            removed = snw_node_get(from, map->entry[i].key) != NULL;
            for (int k = 0; from->kind == SNW_NODE_LIST && k < from->n && !removed; k++) {
                removed = snw_node_get(from->entry[k].value, map->entry[i].key) != NULL;
            }
        }
        if (!removed) map->entry[kept++] = map->entry[i];
    }
    map->n = kept;
}

// merge the value of `<<`; in a list of maps the earlier takes precedence
static snw_status yaml_merge(reader *r, const snw_entry *under, snw_node *map) {
    const snw_node *v = under->value;
    if (v->kind != SNW_NODE_LIST) SNW_TRY(merge_one(r, v, under->location, map));
    for (int i = 0; v->kind == SNW_NODE_LIST && i < v->n; i++) {
        SNW_TRY(merge_one(r, v->entry[i].value, v->entry[i].location, map));
    }
    drop_removed(v, map);
    return SNW_OK;
}

// true for a plain scalar with an unclosed parenthesis
static bool unfinished(const snw_node *n) {
    int open = 0;
    for (const char *c = n->text; n->kind == SNW_NODE_TEXT && !n->quoted && *c; c++) {
        open += (*c == '(') - (*c == ')');
    }
    return open > 0;
}

// in flow style a comma ends the value, also inside the parentheses of an expression
static snw_status check_commas(reader *r, const snw_node *flow) {
    for (int i = 0; i + 1 < flow->n; i++) {
        const snw_node *n = flow->entry[i].value, *following = flow->entry[i + 1].value;
        const bool continues = flow->kind == SNW_NODE_MAP ? following->kind == SNW_NODE_NULL
                                                          : following->kind == SNW_NODE_TEXT;
        if (!continues || !unfinished(n)) continue;
        return snw_fail_at(r->err, n->location,
                           "'%.60s' ends at the comma; inside {} and [] an expression with a ',' "
                           "needs quotes: \"%.60s, ..)\"",
                           n->text, n->text);
    }
    return SNW_OK;
}

static snw_status read_map(reader *r, int depth, bool flow, snw_node *map) {
    int room = 0;
    snw_entry merged = {0};
    for (;;) {
        SNW_TRY(next_event(r));
        if (r->event.kind == SNW_YAML_MAP_END) break;
        snw_entry e = {0};
        bool is_merge = false;
        SNW_TRY(read_key(r, &e, &is_merge));
        SNW_TRY(next_event(r));
        SNW_TRY(yaml_read_node(r, depth + 1, &e.value));
        if (is_merge && merged.key) {
            return snw_fail_at(r->err, e.location, "key '<<' is given twice, first in line %d",
                               merged.location.line);
        }
        if (is_merge) {
            merged = e;
            continue;
        }
        if (map->n == SNW_YAML_KEYS) {
            return snw_fail_at(r->err, e.location, "more than %d keys in one map", SNW_YAML_KEYS);
        }
        SNW_TRY(yaml_reserve(r, map, map->n + 1, &room));
        map->entry[map->n++] = e;
    }
    // a block map begins at its first key
    if (map->n && map->entry[0].location.line == map->location.line &&
        map->entry[0].location.column < map->location.column) {
        map->location = map->entry[0].location;
    }
    if (flow) SNW_TRY(check_commas(r, map));
    SNW_TRY(check_duplicates(r, map));
    return merged.key ? yaml_merge(r, &merged, map) : SNW_OK;
}

static snw_status read_collection(reader *r, int depth, snw_node **out) {
    const bool is_map = r->event.kind == SNW_YAML_MAP_START;
    if (depth >= SNW_YAML_DEPTH) return yaml_too_deep(r);
    const char *as;
    SNW_TRY(read_tag(r, is_map ? " map " : " seq ", &as));
    SNW_TRY(new_node(r, is_map ? SNW_NODE_MAP : SNW_NODE_LIST, r->last, out));
    const snw_source_location outer = r->open;
    const bool flow = r->event.flow;
    if (flow) r->open = r->last;
    SNW_TRY(is_map ? read_map(r, depth, flow, *out) : yaml_read_list(r, depth, *out));
    r->open = outer;
    return flow && !is_map ? check_commas(r, *out) : SNW_OK;
}

// read the node that starts at the current event, up to and including its end event
static snw_status yaml_read_node(reader *r, int depth, snw_node **out) {
    if (r->event.kind == SNW_YAML_ALIAS) return follow_alias(r, depth, out);
    int index;
    SNW_TRY(open_anchor(r, &index));
    SNW_TRY(r->event.kind == SNW_YAML_SCALAR ? read_scalar(r, out)
                                             : read_collection(r, depth, out));
    close_anchor(r, index, *out);
    return SNW_OK;
}

// ---- the document -------------------------------------------------------------------------------

static snw_status read_stream(reader *r, snw_node **root) {
    const snw_source_location start = {.file = r->file, .line = 1, .column = 1};
    r->last = start;
    SNW_TRY(next_event(r));
    *root = NULL;
    if (r->event.kind == SNW_YAML_DOCUMENT_START) {
        SNW_TRY(next_event(r));
        SNW_TRY(yaml_read_node(r, 0, root));
        SNW_TRY(next_event(r)); // document end
        SNW_TRY(next_event(r));
    }
    if (r->event.kind != SNW_YAML_STREAM_END) {
        return snw_fail_at(r->err, r->last, "a second document begins here; a file holds one");
    }
    if (!*root || (*root)->kind == SNW_NODE_NULL) {
        return snw_fail_at(r->err, start, "it contains only blanks and comments");
    }
    return SNW_OK;
}

static snw_status run_parser(reader *r, const char *text, size_t length, snw_node **root) {
    SNW_TRY(snw_yaml_events_open(r->pool, r->file, text, length, &r->events, r->err));
    return read_stream(r, root);
}

snw_status snw_yaml_parse(snw_pool *pool, const char *name, const char *text, size_t length,
                          snw_node **root, snw_error *err) {
    SNW_TRY(snw_text_check(name, text, length, err));
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    SNW_TRY(snw_yaml_guard(name, text, length, err));
    reader *r = snw_pool_take(pool, sizeof *r);
    const char *file = snw_pool_text(pool, name, strlen(name));
    if (!r || !file) return snw_fail(err, SNW_E_MEMORY, "no memory left to read '%s'", name);
    r->pool = pool;
    r->err = err;
    r->file = file;

    // terminate the last line: libfyaml would read past the end after an incomplete escape
    if (length && text[length - 1] != '\n') {
        char *ended = snw_pool_take(pool, length + 1);
        if (!ended) return yaml_out_of_memory(r);
        memcpy(ended, text, length);
        ended[length++] = '\n';
        text = ended;
    }
    const snw_status s =
        length ? run_parser(r, text, length, root)
               : snw_fail_at(err, (snw_source_location){file, 1, 1}, "the file is empty");
    snw_yaml_events_close(r->events);
    return s;
}
