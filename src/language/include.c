// SPDX-License-Identifier: MIT
//
// Reads a model file and the files it includes, and merges them into one map. The including file
// takes precedence: maps are merged key by key, any other value is replaced, and `key: ~` removes a
// key. Of several includes the later takes precedence.
#include "language/source.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "language/text.h"
#include "language/yaml.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct file_id {
    dev_t device;
    ino_t number;
} file_id;

typedef struct loader {
    snw_pool *pool;
    snw_error *err;
    size_t bytes; // read so far
    int depth;
    file_id open[SNW_INCLUDE_DEPTH + 1];
    bool kept;                // included files are part of the text, as written by join_text
    const char *first_folder; // then the folder of the first file, with its slash
    int npart;
    struct {
        const char *name, *text;
        size_t length;
    } part[SNW_INCLUDE_FILES];
    int nfile;
    struct {
        const char *name, *text;
        size_t length;
    } file[SNW_INCLUDE_FILES];
} loader;

// ---- maps ---------------------------------------------------------------------------------------

// remove keys that begin with x-, at any depth
static void drop_private(snw_node *node) {
    int kept = 0;
    for (int i = 0; i < node->n; i++) {
        const snw_entry e = node->entry[i];
        if (e.key && strncmp(e.key, "x-", 2) == 0) continue;
        drop_private(e.value);
        node->entry[kept++] = e;
    }
    node->n = kept;
}

static snw_status merge_maps(loader *l, const snw_node *base, snw_node *overlay);

static snw_status merge_value(loader *l, const snw_node *base, const snw_entry *overlay) {
    if (base->kind != SNW_NODE_MAP) return SNW_OK;
    if (overlay->value->kind == SNW_NODE_MAP) return merge_maps(l, base, overlay->value);
    // an empty section removes nothing
    if (overlay->value->kind == SNW_NODE_NULL) *overlay->value = *base;
    return SNW_OK;
}

static snw_status merge_entries(loader *l, const snw_node *base, const snw_node *overlay,
                                const snw_entry *const *sorted, snw_entry *all, bool *used,
                                int *n) {
    *n = 0;
    for (int i = 0; i < base->n; i++) {
        const snw_entry *b = &base->entry[i];
        const snw_entry *a = snw_node_find(sorted, overlay->n, b->key);
        if (a) used[a - overlay->entry] = true;
        if (a && snw_node_removes(a->value)) continue;
        if (a) SNW_TRY(merge_value(l, b->value, a));
        all[(*n)++] = a ? *a : *b;
    }
    for (int k = 0; k < overlay->n; k++) {
        if (!used[k]) all[(*n)++] = overlay->entry[k];
    }
    return SNW_OK;
}

// overlay <- entries of `base` in their order, replaced where `overlay` has the key, then its new
// ones
static snw_status merge_maps(loader *l, const snw_node *base, snw_node *overlay) {
    snw_entry *all = snw_pool_array(l->pool, (size_t)base->n + (size_t)overlay->n, sizeof *all);
    bool *used = snw_pool_array(l->pool, (size_t)overlay->n + 1, sizeof *used);
    const snw_entry **sorted = snw_node_sorted(overlay);
    int n = 0;
    const snw_status s = all && used && sorted
                             ? merge_entries(l, base, overlay, sorted, all, used, &n)
                             : snw_source_no_memory(l->err);
    snw_free(sorted);
    SNW_TRY(s);
    if (n > SNW_YAML_KEYS) {
        return snw_fail_at(l->err, overlay->location, "more than %d keys in one map",
                           SNW_YAML_KEYS);
    }
    overlay->entry = all;
    overlay->n = n;
    return SNW_OK;
}

// ---- files --------------------------------------------------------------------------------------

static snw_status load_file(loader *l, const char *path, const snw_entry *by, snw_node **root);

// path of an included file, relative to the including one
static const char *resolve_path(loader *l, const char *including, const char *name) {
    const char *slash = strrchr(including, '/');
    if (name[0] == '/' || !slash) return snw_pool_text(l->pool, name, strlen(name));
    return snw_pool_format(l->pool, "%.*s/%s", (int)(slash - including), including, name);
}

static snw_status include_one(loader *l, const char *including, const snw_entry *item,
                              snw_node **base) {
    if (item->value->kind != SNW_NODE_TEXT || !*item->value->text) {
        return snw_fail_at(l->err, item->location, "'include' takes file names");
    }
    const char *path = resolve_path(l, including, item->value->text);
    if (!path) return snw_source_no_memory(l->err);
    snw_node *loaded = NULL;
    SNW_TRY(load_file(l, path, item, &loaded));
    if (*base) SNW_TRY(merge_maps(l, *base, loaded));
    *base = loaded;
    return SNW_OK;
}

// remove the key `include` and merge the files it names
static snw_status include_all(loader *l, const char *including, snw_node *root) {
    int at = 0;
    while (at < root->n && strcmp(root->entry[at].key, "include") != 0) at++;
    if (at == root->n) return SNW_OK;
    const snw_entry include = {.location = root->entry[at].value->location,
                               .value = root->entry[at].value};
    memmove(root->entry + at, root->entry + at + 1,
            (size_t)(root->n - at - 1) * sizeof *root->entry);
    root->n--;

    snw_node *base = NULL;
    if (include.value->kind == SNW_NODE_LIST) {
        for (int i = 0; i < include.value->n; i++) {
            SNW_TRY(include_one(l, including, &include.value->entry[i], &base));
        }
    } else {
        SNW_TRY(include_one(l, including, &include, &base));
    }
    return base ? merge_maps(l, base, root) : SNW_OK;
}

static snw_status check_version(loader *l, const snw_node *root) {
    const snw_node *version = snw_node_get(root, "sinew");
    if (!version && l->depth > 0) return SNW_OK; // only the including file must state the version
    if (!version) {
        const snw_source_location top = {.file = root->location.file, .line = 1, .column = 1};
        return snw_fail_at(l->err, top,
                           "the language's version is missing: begin the file with 'sinew: 1'");
    }
    if (version->kind == SNW_NODE_TEXT && strcmp(version->text, "1") == 0) return SNW_OK;
    return snw_fail_at(l->err, version->location,
                       "this program reads version 1 of the language, 'sinew: 1', found '%s'",
                       version->kind == SNW_NODE_TEXT ? version->text : "something else");
}

static snw_status record_file(loader *l, const char *name, const char *text, size_t length) {
    for (int i = 0; i < l->nfile; i++) {
        if (strcmp(l->file[i].name, name) == 0) return SNW_OK;
    }
    SNW_ASSERT(l->nfile < SNW_INCLUDE_FILES);
    const char *copy = snw_pool_text(l->pool, name, strlen(name));
    if (!copy) return snw_source_no_memory(l->err);
    l->file[l->nfile].name = copy;
    l->file[l->nfile].text = text;
    l->file[l->nfile++].length = length;
    return SNW_OK;
}

static snw_status load_text(loader *l, const char *name, const char *folder, const char *text,
                            size_t length, snw_node **root) {
    SNW_TRY(record_file(l, name, text, length));
    SNW_TRY(snw_yaml_parse(l->pool, name, text, length, root, l->err));
    if ((*root)->kind != SNW_NODE_MAP) {
        return snw_fail_at(l->err, (*root)->location,
                           "a model is a map of keys, 'sinew: 1' the first of them");
    }
    drop_private(*root);
    SNW_TRY(check_version(l, *root));
    return include_all(l, folder, *root);
}

static snw_status check_cycle(loader *l, const char *path, snw_source_location at) {
    struct stat info;
    if (stat(path, &info) != 0) return SNW_OK; // the attempt to read it reports the reason
    for (int i = 0; i < l->depth; i++) {
        if (l->open[i].device != info.st_dev || l->open[i].number != info.st_ino) continue;
        return snw_fail_at(l->err, at, "'%.200s' includes itself%s", path,
                           i + 1 == l->depth ? "" : " by way of others");
    }
    l->open[l->depth] = (file_id){.device = info.st_dev, .number = info.st_ino};
    return SNW_OK;
}

// Index of the part of a kept text that an include names, -1: none. Parts carry the names under
// which the files were opened, with the folder of the first file in front. That folder is not
// known; it is deduced from the first name that ends in `path`.
static int find_part(loader *l, const char *path) {
    const size_t length = strlen(path);
    for (int i = 0; i < l->npart; i++) {
        const char *name = l->part[i].name;
        const size_t all = strlen(name);
        if (strcmp(name, path) == 0) return i;
        if (l->first_folder && strncmp(name, l->first_folder, strlen(l->first_folder)) == 0 &&
            strcmp(name + strlen(l->first_folder), path) == 0) {
            return i;
        }
        if (l->first_folder || path[0] == '/' || all <= length || name[all - length - 1] != '/' ||
            strcmp(name + all - length, path) != 0) {
            continue;
        }
        l->first_folder = snw_pool_text(l->pool, name, all - length);
        return i;
    }
    return -1;
}

static snw_status load_part(loader *l, const char *path, const snw_entry *by, snw_node **root) {
    const int i = find_part(l, path);
    if (i < 0)
        return snw_fail_at(l->err, by->location, "'%.200s' is not part of this stored text", path);
    if (++l->depth > SNW_INCLUDE_DEPTH) {
        return snw_fail_at(l->err, by->location, "files include each other more than %d deep",
                           SNW_INCLUDE_DEPTH);
    }
    l->bytes += l->part[i].length;
    if (l->bytes > SNW_TEXT_TOTAL_MAX) { // a part may be included many times
        return snw_fail_at(l->err, by->location, "more than %d bytes, included files counted",
                           SNW_TEXT_TOTAL_MAX);
    }
    SNW_TRY(
        load_text(l, l->part[i].name, l->part[i].name, l->part[i].text, l->part[i].length, root));
    l->depth--;
    return SNW_OK;
}

// `by` is the list item of an include, NULL for the first file
static snw_status load_file(loader *l, const char *path, const snw_entry *by, snw_node **root) {
    const snw_source_location at =
        by ? by->location : (snw_source_location){.file = path, .line = 1, .column = 1};
    if (l->kept) return load_part(l, path, by, root);
    if (by) l->depth++;
    if (l->depth > SNW_INCLUDE_DEPTH) {
        return snw_fail_at(l->err, at, "files include each other more than %d deep",
                           SNW_INCLUDE_DEPTH);
    }
    SNW_TRY(check_cycle(l, path, at));
    if (l->nfile == SNW_INCLUDE_FILES) {
        return snw_fail_at(l->err, at, "more than %d files included", SNW_INCLUDE_FILES);
    }
    const char *text;
    size_t length;
    snw_error fault = {0};
    const snw_status s = snw_text_read(l->pool, path, SNW_TEXT_FILE_MAX, &text, &length, &fault);
    if (s != SNW_OK && by) {
        return snw_fail_at(l->err, at, "'%.200s' %s", path, fault.text);
    }
    if (s != SNW_OK) {
        if (l->err) *l->err = fault;
        return s;
    }
    l->bytes += length;
    if (l->bytes > SNW_TEXT_TOTAL_MAX) {
        return snw_fail_at(l->err, at, "more than %d bytes, included files counted",
                           SNW_TEXT_TOTAL_MAX);
    }
    SNW_TRY(load_text(l, path, path, text, length, root));
    if (by) l->depth--;
    return SNW_OK;
}

static const char include_header[] = "\n# ---- included: ";

// The inverse of join_text: find the length of the first file and list the others by name.
static snw_status split_text(loader *l, const char *text, size_t *length) {
    const char *next = strstr(text, include_header);
    l->kept = true;
    if (next) *length = (size_t)(next - text);
    while (next) {
        const char *name = next + sizeof include_header - 1, *end = strchr(name, '\n');
        if (!end || l->npart == SNW_INCLUDE_FILES - 1) break; // the first file counts too
        next = strstr(end, include_header);
        const char *copy = snw_pool_text(l->pool, name, (size_t)(end - name));
        if (!copy) return snw_source_no_memory(l->err);
        l->part[l->npart].name = copy;
        l->part[l->npart].text = end + 1;
        l->part[l->npart++].length = next ? (size_t)(next - end - 1) : strlen(end + 1);
    }
    return SNW_OK;
}

// concatenate the first file and the others, each of these after a header line with its name
static snw_status join_text(loader *l, snw_source *s) {
    size_t size = 1;
    for (int i = 0; i < l->nfile; i++) {
        size += sizeof include_header + strlen(l->file[i].name) + l->file[i].length + 1;
    }
    char *all = snw_pool_take(l->pool, size);
    if (!all) return snw_source_no_memory(l->err);
    size_t used = 0;
    for (int i = 0; i < l->nfile; i++) {
        if (i)
            used += (size_t)snprintf(all + used, size - used, "%s%s\n", include_header,
                                     l->file[i].name);
        memcpy(all + used, l->file[i].text, l->file[i].length);
        used += l->file[i].length;
    }
    all[used] = '\0';
    s->text = all;
    s->file = snw_pool_array(l->pool, (size_t)l->nfile, sizeof *s->file);
    if (!s->file) return snw_source_no_memory(l->err);
    for (int i = 0; i < l->nfile; i++) s->file[i] = l->file[i].name;
    s->nfile = l->nfile;
    return SNW_OK;
}

static snw_status include_load(snw_source *s, const char *name, const char *text, size_t length,
                               bool kept, snw_error *err) {
    loader *l = snw_pool_take(s->pool, sizeof *l);
    if (!l) return snw_source_no_memory(err);
    l->pool = s->pool;
    l->err = err;
    snw_node *root = NULL;
    if (kept) SNW_TRY(split_text(l, text, &length));
    if (text) {
        l->open[0] = (file_id){0};
        SNW_TRY(load_text(l, name, "", text, length, &root));
    } else {
        SNW_TRY(load_file(l, name, NULL, &root));
    }
    s->root = root;
    return join_text(l, s);
}

snw_status snw_source_load(snw_source *s, const char *path, snw_error *err) {
    return include_load(s, path, NULL, 0, false, err);
}

snw_status snw_source_load_text(snw_source *s, const char *name, const char *text, size_t length,
                                bool kept, snw_error *err) {
    const size_t limit = kept ? SNW_TEXT_TOTAL_MAX : SNW_TEXT_FILE_MAX;
    if (length > limit) {
        return snw_fail_at(err, (snw_source_location){name, 1, 1},
                           "%zu bytes, at most %zu are allowed", length, limit);
    }
    const char *copy = snw_pool_text(s->pool, text, length);
    if (!copy) return snw_source_no_memory(err);
    return include_load(s, name, copy, length, kept, err);
}
