// SPDX-License-Identifier: MIT
//
// Parses the overrides of the command line and plans the runs of a file: expands index ranges in
// run names and products of `each`, and collects the overrides of each run.
#include "language/source.h"

#include "base/fail.h"
#include "language/document.h"
#include "language/yaml.h"

#include <string.h>

// ---- the command line ---------------------------------------------------------------------------

static const char command_line[] = "--set";

const char *snw_set_equals(const char *text) {
    int depth = 0;
    for (; *text; text++) {
        if (*text == '=' && depth <= 0) return text;
        depth += (*text == '(') - (*text == ')');
    }
    return NULL;
}

// Is a value a number with or without a unit, "-0.25 mm" or "3e5 kg/m^3"? YAML reads it as a plain
// text, which a row of a sweep need not start a parser for.
static bool is_plain_number(const char *text, size_t n) {
    static const char within[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 " .+-/^";
    const size_t sign = n > 1 && text[0] == '-';
    return n > 0 && text[sign] >= '0' && text[sign] <= '9' && strspn(text, within) == n &&
           text[n - 1] != ' ';
}

static snw_status runs_parse_set(snw_source *s, const char *text, snw_entry *out, snw_error *err) {
    const snw_source_location start = {.file = command_line, .line = 1, .column = 1};
    const char *eq = snw_set_equals(text);
    if (!eq || eq == text) {
        return snw_fail_at(err, start, "'%s' is not of the form path=value", text);
    }
    const size_t before = (size_t)(eq - text) + 1, length = strlen(text);
    // replace the path by blanks so that the columns in messages stay correct
    char *value = snw_pool_take(s->pool, length + 1);
    const char *path = snw_pool_text(s->pool, text, before - 1);
    if (!value || !path) return snw_source_no_memory(err);
    size_t blanks = 0;
    for (size_t i = 0; i < before; i++) {
        if ((text[i] & 0xC0) != 0x80) value[blanks++] = ' ';
    }
    memcpy(value + blanks, text + before, length - before);
    if (strspn(value + blanks, " \t\r\n") == length - before) {
        const snw_source_location at = {.file = command_line, .line = 1, .column = (int)blanks + 1};
        return snw_fail_at(err, at, "'%s' has no value", text);
    }
    *out = (snw_entry){.key = path, .location = start};
    if (is_plain_number(text + before, length - before)) {
        snw_node *number = snw_pool_take(s->pool, sizeof *number);
        const char *plain = snw_pool_text(s->pool, text + before, length - before);
        if (!number || !plain) return snw_source_no_memory(err);
        *number = (snw_node){.kind = SNW_NODE_TEXT, .location = start, .text = plain};
        number->location.column = (int)blanks + 1;
        out->value = number;
        return SNW_OK;
    }
    SNW_TRY(
        snw_yaml_parse(s->pool, command_line, value, blanks + length - before, &out->value, err));
    if (out->value->kind == SNW_NODE_MAP && snw_node_get(out->value, "each")) {
        return snw_fail_at(err, out->value->location,
                           "'each' makes runs and is allowed only under 'runs:'");
    }
    return SNW_OK;
}

snw_status snw_runs_parse_set(snw_source *s, int nset, const char *const *set, snw_error *err) {
    snw_entry *all = snw_pool_array(s->pool, (size_t)nset + 1, sizeof *all);
    if (!all) return snw_source_no_memory(err);
    for (int i = 0; i < nset; i++) SNW_TRY(runs_parse_set(s, set[i], &all[i], err));
    s->set = all;
    s->nset = nset;
    return SNW_OK;
}

// ---- runs ---------------------------------------------------------------------------------------

typedef struct planner {
    snw_source *s;
    snw_error *err;
    snw_builder b; // its scope has the parameters of the file, for the bounds of ranges
    snw_run_plan *run;
    const snw_entry *from; // name and overrides as written in the file
} planner;

// the list in `{each: [..]}`, NULL for any other value
static const snw_node *each_of(const snw_node *value) {
    if (value->kind != SNW_NODE_MAP || value->n != 1) return NULL;
    return strcmp(value->entry[0].key, "each") == 0 ? value->entry[0].value : NULL;
}

// number of combinations of all `each` lists
static snw_status count_product(planner *p, int *out) {
    long n = 1;
    const snw_node *map = p->from->value;
    for (int i = 0; i < map->n; i++) {
        const snw_node *each = each_of(map->entry[i].value);
        if (!each) continue;
        if (each->kind != SNW_NODE_LIST || each->n == 0) {
            return snw_fail_at(p->err, each->location, "'each' takes a list of values");
        }
        n *= each->n;
        if (n > SNW_RUNS_MAX) break;
    }
    if (n > SNW_RUNS_MAX - p->s->nrun) {
        return snw_fail_at(p->err, p->from->location,
                           "more than %d runs; a plan for 'sinew sweep' has as many rows as wanted",
                           SNW_RUNS_MAX);
    }
    *out = (int)n;
    return SNW_OK;
}

// overrides of combination `which`; the last `each` varies fastest
static snw_status choose_combination(planner *p, int which, snw_run_plan *run) {
    const snw_node *map = p->from->value;
    snw_entry *all = snw_pool_array(p->s->pool, (size_t)map->n + 1, sizeof *all);
    if (!all) return snw_source_no_memory(p->err);
    for (int i = map->n; i-- > 0;) {
        all[i] = map->entry[i];
        const snw_node *each = each_of(all[i].value);
        if (!each) continue;
        all[i].value = each->entry[which % each->n].value;
        which /= each->n;
    }
    run->n = map->n;
    run->override = all;
    return SNW_OK;
}

static snw_status add_runs(void *user, const char *name, const snw_scope *scope, int nbind,
                           const snw_binding *bind) {
    (void)scope;
    planner *p = user;
    snw_pool *pool = p->s->pool;
    bool product = false;
    for (int i = 0; i < p->from->value->n; i++) {
        product = product || each_of(p->from->value->entry[i].value);
    }
    int n = 0;
    SNW_TRY(count_product(p, &n));
    snw_binding *kept = snw_pool_array(pool, (size_t)nbind + 1, sizeof *kept);
    if (!kept) return snw_source_no_memory(p->err);
    if (nbind) memcpy(kept, bind, (size_t)nbind * sizeof *kept);
    for (int i = 0; i < n; i++) {
        snw_run_plan *run = &p->run[p->s->nrun];
        *run = (snw_run_plan){.location = p->from->location, .nbind = nbind, .bind = kept};
        run->name = product ? snw_pool_format(pool, "%s.%d", name, i + 1)
                            : snw_pool_text(pool, name, strlen(name));
        if (!run->name) return snw_source_no_memory(p->err);
        SNW_TRY(choose_combination(p, i, run));
        p->s->nrun++;
    }
    return SNW_OK;
}

static snw_status runs_check_distinct(const planner *p) {
    for (int i = 0; i < p->s->nrun; i++) {
        for (int k = 0; k < i; k++) {
            if (strcmp(p->run[i].name, p->run[k].name) != 0) continue;
            return snw_fail_at(p->err, p->run[i].location, "run '%s' is given twice, first in %s",
                               p->run[i].name,
                               snw_location_text(p->run[k].location, p->run[i].location).text);
        }
    }
    return SNW_OK;
}

static snw_status check_run(const planner *p, const snw_entry *e) {
    const size_t word = snw_name_word(e->key);
    const char *suffix = e->key + word;
    if (word == 0 || (*suffix && *suffix != '(') || strchr(e->key, '/')) {
        return snw_fail_at(p->err, e->location,
                           "'%s' is not a name for a run: letters, digits and _, beginning with a "
                           "letter",
                           e->key);
    }
    if (e->value->kind == SNW_NODE_MAP || e->value->kind == SNW_NODE_NULL) return SNW_OK;
    return snw_fail_at(p->err, e->value->location,
                       "run '%s' is a map of overrides, '{path: value}'", e->key);
}

static snw_status plan_all(planner *p, const snw_node *runs) {
    for (int i = 0; i < runs->n; i++) {
        const snw_entry *e = &runs->entry[i];
        SNW_TRY(check_run(p, e));
        p->from = e;
        const bool indexed = strchr(e->key, '(') != NULL;
        if (indexed && !p->b.scope) SNW_TRY(snw_parameters_make(&p->b, p->s, NULL));
        if (indexed) {
            SNW_TRY(snw_name_each(&p->b, e->key, e->location, p->b.scope, true, add_runs, p));
        } else {
            SNW_TRY(add_runs(p, e->key, NULL, 0, NULL));
        }
    }
    return runs_check_distinct(p);
}

snw_status snw_runs_plan(snw_source *s, snw_error *err) {
    planner p = {.s = s, .err = err, .b = {.pool = s->pool, .err = err}};
    p.run = snw_pool_array(s->pool, SNW_RUNS_MAX, sizeof *p.run);
    if (!p.run) return snw_source_no_memory(err);
    s->run = p.run;
    const snw_node *runs = snw_node_get(s->root, "runs");
    if (runs && runs->kind != SNW_NODE_MAP && runs->kind != SNW_NODE_NULL) {
        return snw_fail_at(err, runs->location, "'runs' is a map of names and overrides");
    }
    if (runs && runs->n) return plan_all(&p, runs);
    p.run[0] = (snw_run_plan){.name = "main", .location = s->root->location};
    s->nrun = 1;
    return SNW_OK;
}
