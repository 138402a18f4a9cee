// SPDX-License-Identifier: MIT
//
// Options that a model file gives to commands, commands: {gradient: {of: .., by: [..]}}, as the
// texts that the command line would have: of a map each entry is NAME=VALUE, of a list each item,
// and a list in a map is a range LOW..HIGH, VALUE+-SIGMA or a list with commas, as the option
// shows. Names of files are relative to the file that has them.
#include "cli/args_file.h"

#include "base/fail.h"
#include "base/pool.h"
#include "cli/commands.h"
#include "language/node.h"

#include <string.h>

enum { POOL_LIMIT = 256 << 20, MOST_NAMES = 64 };

// Options that only the command line has.
static const char *const of_the_line[] = {"output", "run", "set", "json", "help"};

static bool is_of_the_line(const char *name) {
    for (size_t i = 0; i < sizeof of_the_line / sizeof *of_the_line; i++) {
        if (strcmp(of_the_line[i], name) == 0) return true;
    }
    return false;
}

bool snw_args_file_has(const snw_command *c, int index) {
    return c->in_file && !is_of_the_line(c->option[index].name);
}

static int find_option(const snw_command *c, const char *name) {
    for (int i = 0; c->option[i].name; i++) {
        if (strcmp(c->option[i].name, name) == 0) return i;
    }
    return -1;
}

static snw_status unknown(const snw_command *c, const snw_entry *e, snw_error *err) {
    const char *known[MOST_NAMES];
    int n = 0;
    if (c->data) known[n++] = c->data;
    for (int i = 0; c->option[i].name && n < MOST_NAMES; i++) {
        if (!is_of_the_line(c->option[i].name)) known[n++] = c->option[i].name;
    }
    return snw_fail_at(err, e->location,
                       "'sinew %s' has no option '%s'%s; 'sinew help %s' lists them", c->name,
                       e->key, snw_hint_text(snw_nearest(e->key, n, known)).text, c->name);
}

// ---- texts --------------------------------------------------------------------------------------

typedef struct file_reader {
    snw_args *args; // NULL: only a check
    snw_pool *pool;
    const snw_command *command;
    snw_error *err;
} file_reader;

// The name of a file as seen from the current folder.
static const char *from_here(const file_reader *f, const snw_node *n) {
    const char *of = n->location.file ? n->location.file : "", *slash = strrchr(of, '/');
    if (n->text[0] == '/' || !slash) return n->text;
    return snw_pool_format(f->pool, "%.*s%s", (int)(slash + 1 - of), of, n->text);
}

static snw_status text_of(const file_reader *f, const snw_option *o, const snw_node *n,
                          const char **out) {
    if (n->kind != SNW_NODE_TEXT)
        return snw_fail_at(f->err, n->location, "a value of '%s' is a text, as in %s", o->name,
                           o->value);
    *out = strncmp(o->value, "FILE", 4) == 0 ? from_here(f, n) : n->text;
    return *out ? SNW_OK : snw_fail_memory(f->err);
}

static snw_status take(const file_reader *f, int index, snw_source_location at, const char *text) {
    if (!f->args) return SNW_OK;
    const char *place =
        snw_pool_format(f->pool, "%s:%d:%d", at.file ? at.file : "", at.line, at.column);
    if (!place) return snw_fail_memory(f->err);
    return snw_args_add(f->args, index, text, place, f->err);
}

// The items of a list in one text.
static snw_status joined(const file_reader *f, const snw_option *o, const snw_node *list,
                         const char **out) {
    const char *between = strstr(o->value, "..") ? ".." : strstr(o->value, "+-") ? "+-" : ", ";
    *out = "";
    for (int i = 0; i < list->n; i++) {
        const char *item = NULL;
        SNW_TRY(text_of(f, o, list->entry[i].value, &item));
        *out = snw_pool_format(f->pool, "%s%s%s", *out, i > 0 ? between : "", item);
        if (!*out) return snw_fail_memory(f->err);
    }
    return SNW_OK;
}

// NAME=VALUE, or NAME alone.
static snw_status take_entry(const file_reader *f, int index, const snw_option *o,
                             const snw_entry *e) {
    if (e->value->kind == SNW_NODE_NULL) return take(f, index, e->location, e->key);
    const char *value = NULL;
    SNW_TRY(e->value->kind == SNW_NODE_LIST ? joined(f, o, e->value, &value)
                                            : text_of(f, o, e->value, &value));
    const char *text = snw_pool_format(f->pool, "%s=%s", e->key, value);
    return text ? take(f, index, e->location, text) : snw_fail_memory(f->err);
}

static snw_status take_switch(const file_reader *f, int index, const snw_entry *e) {
    const char *word = e->value->kind == SNW_NODE_TEXT ? e->value->text : "";
    if (strcmp(word, "on") == 0 || strcmp(word, "true") == 0)
        return take(f, index, e->location, e->key);
    if (strcmp(word, "off") == 0 || strcmp(word, "false") == 0) return SNW_OK;
    return snw_fail_at(f->err, e->value->location, "'%s' is on or off", e->key);
}

static snw_status take_option(const file_reader *f, int index, const snw_entry *e) {
    const snw_option *o = &f->command->option[index];
    const snw_node *n = e->value;
    if (!o->value) return take_switch(f, index, e);
    if (!o->repeats && n->kind != SNW_NODE_TEXT)
        return snw_fail_at(f->err, n->location, "'%s' is one text, %s", e->key, o->value);
    if (n->kind == SNW_NODE_MAP && !strchr(o->value, '='))
        return snw_fail_at(f->err, n->location, "'%s' is a text or a list, %s", e->key, o->value);
    if (n->kind == SNW_NODE_TEXT) {
        const char *text = NULL;
        SNW_TRY(text_of(f, o, n, &text));
        return take(f, index, n->location, text);
    }
    for (int i = 0; i < n->n; i++) {
        if (n->kind == SNW_NODE_MAP) {
            SNW_TRY(take_entry(f, index, o, &n->entry[i]));
            continue;
        }
        const char *text = NULL;
        SNW_TRY(text_of(f, o, n->entry[i].value, &text));
        SNW_TRY(take(f, index, n->entry[i].value->location, text));
    }
    return SNW_OK;
}

// ---- operands -----------------------------------------------------------------------------------

static snw_status take_operand(const file_reader *f, const snw_entry *e, const snw_node *n) {
    if (n->kind != SNW_NODE_TEXT)
        return snw_fail_at(f->err, n->location,
                           "'%s' is a file, or a list of files, or a map of "
                           "files by run",
                           e->key);
    const char *path = from_here(f, n);
    if (!path) return snw_fail_memory(f->err);
    return f->args ? snw_args_add_operand(f->args, path, f->err) : SNW_OK;
}

// Files of data; by name they choose the runs.
static snw_status take_data(const file_reader *f, const snw_entry *e) {
    const snw_node *n = e->value;
    if (n->kind != SNW_NODE_LIST && n->kind != SNW_NODE_MAP) return take_operand(f, e, n);
    const int run = find_option(f->command, "run");
    const bool by_run = n->kind == SNW_NODE_MAP;
    if (by_run && f->args && snw_args_has(f->args, "run"))
        return snw_fail_at(f->err, n->location,
                           "'%s' has files by run; leave out --run, or give the files on the "
                           "command line",
                           e->key);
    for (int i = 0; i < n->n; i++) {
        SNW_TRY(take_operand(f, e, n->entry[i].value));
        if (by_run) SNW_TRY(take(f, run, n->entry[i].location, n->entry[i].key));
    }
    return SNW_OK;
}

// ---- blocks -------------------------------------------------------------------------------------

static snw_status take_block(const file_reader *f, const snw_node *block) {
    for (int i = 0; i < block->n; i++) {
        const snw_entry *e = &block->entry[i];
        if (snw_node_removes(e->value)) continue;
        if (f->command->data && strcmp(e->key, f->command->data) == 0) {
            if (!f->args || snw_args_operands(f->args) == 1) SNW_TRY(take_data(f, e));
            continue;
        }
        const int index = find_option(f->command, e->key);
        if (index < 0) return unknown(f->command, e, f->err);
        if (is_of_the_line(e->key))
            return snw_fail_at(f->err, e->location, "'%s' belongs to the command line, --%s",
                               e->key, e->key);
        if (f->args && snw_args_has(f->args, e->key)) continue;
        SNW_TRY(take_option(f, index, e));
    }
    return SNW_OK;
}

// The run that the command line chooses, the first one unless it is one.
static int chosen_run(const snw_args *a, const snw_document *d) {
    const char *const *name = NULL;
    if (snw_args_values(a, "run", &name) != 1) return 0;
    for (int i = 0; i < snw_document_runs(d); i++) {
        if (strcmp(snw_document_run_name(d, i), name[0]) == 0) return i;
    }
    return 0;
}

static snw_status read_block(const file_reader *f, const snw_document *d, int run) {
    const snw_node *block = NULL;
    SNW_TRY(snw_document_command(d, run, f->command->name, f->pool, &block, f->err));
    return block && block->kind == SNW_NODE_MAP ? take_block(f, block) : SNW_OK;
}

snw_status snw_args_read_file(snw_args *a, snw_error *err) {
    const snw_command *c = snw_args_command(a);
    if (!c->in_file || snw_args_operands(a) < 1) return SNW_OK;
    const char *const *set = NULL;
    const int nset = snw_args_values(a, "set", &set);
    snw_document *d = NULL;
    snw_error none = {0};
    if (snw_document_read(snw_args_operand(a, 0), nset, set, &d, &none) != SNW_OK) return SNW_OK;
    const file_reader f = {
        .args = a, .pool = snw_pool_create(POOL_LIMIT), .command = c, .err = err};
    const snw_status s = f.pool ? read_block(&f, d, chosen_run(a, d)) : snw_fail_memory(err);
    snw_pool_destroy(f.pool);
    snw_document_destroy(d);
    SNW_TRY(s);
    return snw_args_check_operands(a, err);
}

snw_status snw_args_check_file(const snw_document *d, int run, snw_error *err) {
    snw_status s = SNW_OK;
    for (const snw_command *const *c = snw_commands; *c && s == SNW_OK; c++) {
        if (!(*c)->in_file) continue;
        const file_reader f = {.pool = snw_pool_create(POOL_LIMIT), .command = *c, .err = err};
        s = f.pool ? read_block(&f, d, run) : snw_fail_memory(err);
        snw_pool_destroy(f.pool);
    }
    return s;
}
