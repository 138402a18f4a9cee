// SPDX-License-Identifier: MIT
//
// Implements the document: opens the source, reads the top-level keys and calls the readers of all
// sections in the order of their dependencies. Also evaluates single numbers for fits and options.
#include "language/document.h"

#include "base/fail.h"
#include "language/read.h"
#include "language/source.h"
#include "language/table.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { LANGUAGE = 1 }; // version of the model language

static const size_t LIMIT = (size_t)256
                            << 20; // bytes allowed for a description, and for all tables

struct snw_document {
    snw_pool *pool; // owns the document itself, names of runs, tables
    snw_source *source;
    snw_tables *tables;
    const char **run_name;
    pthread_mutex_t lock; // descriptions may add tables
};

// ---- reading ------------------------------------------------------------------------------------

// takes ownership of the source, also on failure
static snw_status create_document(snw_source *source, const char *path, snw_document **out,
                                  snw_error *err) {
    const int n = snw_source_runs(source);
    snw_pool *pool = snw_pool_create(LIMIT);
    snw_document *d = pool ? snw_pool_take(pool, sizeof *d) : NULL;
    const char **name = pool ? snw_pool_array(pool, (size_t)n, sizeof *name) : NULL;
    snw_tables *tables = pool ? snw_tables_create(pool, path, source) : NULL;
    if (!d || !name || !tables) {
        snw_pool_destroy(pool);
        snw_source_destroy(source);
        return snw_fail(err, SNW_E_MEMORY, "no memory for the document");
    }
    for (int i = 0; i < n; i++) name[i] = snw_source_run_name(source, i);
    snw_source_tables(source, snw_tables_find, tables);
    *d = (snw_document){.pool = pool, .source = source, .tables = tables, .run_name = name};
    (void)pthread_mutex_init(&d->lock, NULL);
    *out = d;
    return SNW_OK;
}

snw_status snw_document_read(const char *path, int nset, const char *const *set, snw_document **out,
                             snw_error *err) {
    snw_source *source = NULL;
    SNW_TRY(snw_source_read(path, nset, set, &source, err));
    return create_document(source, path, out, err);
}

snw_status snw_document_parse(const char *name, const char *text, size_t length, int nset,
                              const char *const *set, snw_document **out, snw_error *err) {
    snw_source *source = NULL;
    SNW_TRY(snw_source_parse(name, text, length, nset, set, &source, err));
    return create_document(source, "", out, err);
}

snw_status snw_document_parse_kept(const char *name, const char *text, int nset,
                                   const char *const *set, snw_document **out, snw_error *err) {
    snw_source *source = NULL;
    SNW_TRY(snw_source_parse_kept(name, text, nset, set, &source, err));
    return create_document(source, "", out, err);
}

void snw_document_destroy(snw_document *d) {
    if (!d) return;
    snw_source_destroy(d->source);
    (void)pthread_mutex_destroy(&d->lock);
    snw_pool_destroy(d->pool); // frees d itself
}

int snw_document_runs(const snw_document *d) { return snw_source_runs(d->source); }

const char *snw_document_run_name(const snw_document *d, int run) { return d->run_name[run]; }

uint64_t snw_document_tables(const snw_document *d) { return snw_tables_sum(d->tables); }
const char *snw_document_text(const snw_document *d) { return snw_source_text(d->source); }

const char *snw_document_file(const snw_document *d, int i) {
    const int n = snw_source_files(d->source);
    return i < n ? snw_source_file(d->source, i) : snw_tables_file(d->tables, i - n);
}

// ---- describing ---------------------------------------------------------------------------------

#define FILE_KEYS(X)                                                                               \
    X(FILE_SINEW, "sinew", "1", "version of the language, required")                               \
    X(FILE_TITLE, "title", "text", "one line")                                                     \
    X(FILE_ABOUT, "about", "text", "subject and source of the model")                              \
    X(FILE_INCLUDE, "include", "list of files", "their keys apply unless this file gives them")    \
    X(FILE_PARAMETERS, "parameters", "by name", "values, laws, lists and functions")               \
    X(FILE_GRAVITY, "gravity", "0 or three, m/s^2, laws of t", "[0, 0, -9.81] unless given")       \
    X(FILE_MATERIALS, "materials", "materials by name", "materials of rods")                       \
    X(FILE_ROBOT, "robot", "links by name", "the links of the robot, required")                    \
    X(FILE_SITES, "sites", "sites by name", "named frames")                                        \
    X(FILE_LOOPS, "loops", "loops by name", "closures: two sites joined by a joint")               \
    X(FILE_ACTUATORS, "actuators", "actuators by name", "motors, tendons, chambers and muscles")   \
    X(FILE_LOADS, "loads", "loads by name", "forces and torques")                                  \
    X(FILE_CONTACTS, "contacts", "contacts by name", "contacts: ground, wheels, rings, anchors")   \
    X(FILE_SPRINGS, "springs", "springs by name",                                                  \
      "springs, cables, dampers and bushings between two sites")                                   \
    X(FILE_FLUID, "fluid", "fluids by name", "surrounding fluids: added mass, buoyancy, drag")     \
    X(FILE_FIELDS, "fields", "fields by name", "magnetic fields, dipoles, fields of force")        \
    X(FILE_STATES, "states", "states by name",                                                     \
      "numbers with a rate: pressures, filters, actuators")                                        \
    X(FILE_INITIAL, "initial", "by link", "state at the start, zero unless given")                 \
    X(FILE_PROBES, "probes", "probes by name", "quantities to record and to compare")              \
    X(FILE_STUDY, "study", "list of steps", "steps of the study, in order")                        \
    X(FILE_RUNS, "runs", "overrides by name", "variants of this file")                             \
    X(FILE_LIVE, "live", "[low, high] by name",                                                    \
      "ranges of the actuators and parameters that 'sinew play' shows")                            \
    X(FILE_OPTIMIZE, "optimize", "variables, cost, constraints",                                   \
      "what 'sinew optimize' changes, minimises and keeps")                                        \
    X(FILE_COMMANDS, "commands", "options by command",                                             \
      "options of 'sinew gradient' and others, unless the command line gives them")                \
    X(FILE_RECORD, "record", "what to record", "which probes, and at which interval")              \
    X(FILE_EXPECT, "expect", "list of expectations", "expected values of probes")

enum { FILE_KEYS(SNW_KEY_CODE) FILE_N };
SNW_KEYS(file, "file", "a model file", FILE_KEYS);

// A description with the expectations and the optimisation that belong to the run.
typedef struct described {
    snw_desc desc; // first member, so that a pointer to it can be converted
    int nexpect;
    const snw_expect *expect;
    const struct snw_optimize_options *optimize; // NULL: none
} described;

static snw_status read_version(snw_reader *r, const snw_entry *e) {
    if (!e) {
        return snw_fail_at(r->err, r->root->location,
                           "'sinew: %d', the version of the language, is missing", LANGUAGE);
    }
    double version = 0;
    SNW_TRY(snw_read_constant(r, e->value, "sinew", SNW_DIM_NONE, &version));
    if (version == LANGUAGE) return SNW_OK;
    return snw_fail_at(r->err, e->value->location,
                       "version %g of the language is not known, this program reads version %d",
                       version, LANGUAGE);
}

static snw_status read_gravity(snw_reader *r, const snw_entry *e) {
    static const double standard[3] = {0, 0, -9.81};
    snw_law *g = r->desc->gravity;
    double value = 0;
    if (e && e->value->kind == SNW_NODE_LIST) {
        SNW_TRY(snw_read_laws(r, e->value, "gravity", SNW_DIM_ACCELERATION, SNW_VAR_T, g));
    } else if (e) {
        SNW_TRY(snw_read_constant(r, e->value, "gravity", SNW_DIM_ACCELERATION, &value));
        if (value != 0) {
            return snw_fail_at(r->err, e->value->location,
                               "'gravity' is 0 or a vector, e.g. [0, 0, %g]: z points up",
                               -fabs(value));
        }
    }
    for (int i = 0; i < 3; i++) {
        if (!g[i]) g[i] = snw_expr_constant(r->pool, e ? 0 : standard[i]);
        if (!g[i]) return snw_read_memory(r);
    }
    r->weightless = true;
    for (int i = 0; i < 3; i++) {
        if (!snw_law_constant(g[i], &value) || value != 0) r->weightless = false;
    }
    if (snw_study_has_dynamic(snw_node_get(r->root, "study"))) r->weightless = false;
    return SNW_OK;
}

snw_status snw_read_model(snw_reader *r) {
    const snw_entry *e[FILE_N];
    SNW_TRY(snw_read_map(r, r->root, &snw_keys_file, e));
    SNW_TRY(read_version(r, e[FILE_SINEW]));
    snw_desc *d = r->desc;
    d->title = d->about = "";
    if (e[FILE_TITLE]) SNW_TRY(snw_read_text(r, e[FILE_TITLE]->value, "title", &d->title));
    if (e[FILE_ABOUT]) SNW_TRY(snw_read_text(r, e[FILE_ABOUT]->value, "about", &d->about));
    SNW_TRY(read_gravity(r, e[FILE_GRAVITY]));
    SNW_TRY(snw_read_names(r));
    SNW_TRY(snw_read_materials(r));
    SNW_TRY(snw_read_robot(r));
    SNW_TRY(snw_read_loops(r));
    SNW_TRY(snw_read_actuators(r));
    SNW_TRY(snw_read_loads(r));
    SNW_TRY(snw_read_contacts(r));
    SNW_TRY(snw_read_force_elements(r));
    SNW_TRY(snw_read_fluids(r));
    SNW_TRY(snw_read_force_fields(r));
    SNW_TRY(snw_read_initial(r));
    SNW_TRY(snw_read_probes(r));
    SNW_TRY(snw_read_states(r));
    return snw_read_holds(r);
}

static snw_status document_read_all(snw_reader *r) {
    SNW_TRY(snw_read_model(r));
    SNW_TRY(snw_read_study(r));
    SNW_TRY(snw_read_record(r));
    SNW_TRY(snw_read_expects(r));
    SNW_TRY(snw_read_live(r));
    r->desc->signal_use = r->signals->use;
    SNW_TRY(snw_read_changes(r));
    SNW_TRY(snw_read_signals(r));
    return snw_read_run_overrides(r);
}

// *out <- the source of a document with other overrides of the command line, which `pool` owns
static snw_status with_overrides(const snw_document *d, snw_pool *pool, int nset,
                                 const char *const *set, snw_source *out, snw_error *err) {
    *out = *d->source;
    out->pool = pool;
    return snw_runs_parse_set(out, nset, set, err);
}

static snw_status describe_locked(const snw_document *d, const snw_source *source, snw_pool *pool,
                                  int run, int until, int nset, const char *const *set,
                                  snw_desc **out, snw_error *err) {
    described *with_expects = pool ? snw_pool_take(pool, sizeof *with_expects) : NULL;
    if (!with_expects) {
        snw_pool_destroy(pool);
        return snw_fail(err, SNW_E_MEMORY, "no memory for the description");
    }
    with_expects->desc.pool = pool;
    snw_node *root = NULL;
    snw_signals *signals = snw_signals_create(pool);
    snw_status status =
        signals ? SNW_OK : snw_fail(err, SNW_E_MEMORY, "no memory for the description");
    int n = 0;
    const snw_entry *change = NULL;
    if (status == SNW_OK && (until > 0 || nset > 0)) {
        status = snw_read_overrides(source, run, until, nset, set, pool, &n, &change, err);
    }
    if (status == SNW_OK) {
        status = snw_source_tree_changed(source, run, n, change, signals, pool, &root, err);
    }
    if (status == SNW_OK) {
        snw_reader r = {.pool = pool,
                        .desc = &with_expects->desc,
                        .root = root,
                        .err = err,
                        .document = d,
                        .source = source,
                        .signals = signals,
                        .nrun = snw_source_runs(source),
                        .run_name = d->run_name,
                        .run = run};
        status = document_read_all(&r);
        if (status == SNW_OK) status = snw_read_optimize(&r, &with_expects->optimize);
        if (status == SNW_OK) status = snw_read_commands(&r);
        with_expects->nexpect = r.nexpect;
        with_expects->expect = r.expect;
    }
    if (status != SNW_OK) {
        snw_pool_destroy(pool);
        return status;
    }
    *out = &with_expects->desc;
    return SNW_OK;
}

// Read the tree of a run of `source`, that of the document or one with other overrides in `pool`,
// with the changes of its study before step `until`, then the `nset` overrides. Takes ownership of
// the pool. One thread at a time: runs of a file in several threads read it again on their way.
static snw_status document_describe(const snw_document *d, const snw_source *source, snw_pool *pool,
                                    int run, int until, int nset, const char *const *set,
                                    snw_desc **out, snw_error *err) {
    pthread_mutex_t *lock = &((snw_document *)(uintptr_t)d)->lock;
    (void)pthread_mutex_lock(lock);
    const snw_status s = describe_locked(d, source, pool, run, until, nset, set, out, err);
    (void)pthread_mutex_unlock(lock);
    return s;
}

snw_status snw_document_describe(const snw_document *d, int run, snw_desc **out, snw_error *err) {
    return document_describe(d, d->source, snw_pool_create(LIMIT), run, 0, 0, NULL, out, err);
}

snw_status snw_document_describe_with(const snw_document *d, int run, int nset,
                                      const char *const *set, const snw_desc *like, snw_desc **out,
                                      snw_error *err) {
    *out = NULL;
    snw_pool *pool = snw_pool_create(LIMIT);
    snw_source *source = pool ? snw_pool_take(pool, sizeof *source) : NULL;
    if (!source) {
        snw_pool_destroy(pool);
        return snw_fail(err, SNW_E_MEMORY, "no memory for the description");
    }
    snw_status status = with_overrides(d, pool, nset, set, source, err);
    if (status != SNW_OK) {
        snw_pool_destroy(pool);
        return status;
    }
    SNW_TRY(document_describe(d, source, pool, run, 0, 0, NULL, out, err));
    status = like ? snw_check_change(like, *out, "set", err) : SNW_OK;
    if (status == SNW_OK) return SNW_OK;
    snw_desc_destroy(*out);
    *out = NULL;
    return status;
}

snw_status snw_document_change(const snw_document *d, int run, int until, int nset,
                               const char *const *set, const snw_desc *like, snw_desc **out,
                               snw_error *err) {
    *out = NULL;
    SNW_TRY(
        document_describe(d, d->source, snw_pool_create(LIMIT), run, until, nset, set, out, err));
    const snw_status status = like ? snw_check_change(like, *out, "live", err) : SNW_OK;
    if (status == SNW_OK) return SNW_OK;
    snw_desc_destroy(*out);
    *out = NULL;
    return status;
}

snw_status snw_document_reread(const snw_document *d, const snw_source *source, int run, int until,
                               int nset, const char *const *set, const snw_desc *like,
                               snw_desc **out, snw_error *err) {
    *out = NULL;
    SNW_TRY(document_describe(d, source, snw_pool_create(LIMIT), run, until, nset, set, out, err));
    const snw_status status = snw_check_change(like, *out, "path", err);
    if (status == SNW_OK) return SNW_OK;
    snw_desc_destroy(*out);
    *out = NULL;
    return status;
}

// ---- single numbers -----------------------------------------------------------------------------

static snw_status document_measure(snw_pool *pool, const snw_scope *scope, const char *text,
                                   const char *option, snw_quantity_read *out, snw_error *err) {
    snw_dim dim;
    SNW_TRY(snw_expr_parse_constant(pool, scope, text, option, 1, 1, &out->value, &dim, err));
    snw_dim_unit(dim, out->unit, sizeof out->unit);
    return SNW_OK;
}

static snw_status find_number_in(snw_node *root, snw_pool *pool, const char *path,
                                 const char *option, bool *given, snw_quantity_read *out,
                                 snw_error *err) {
    const snw_source_location at = {.file = option, .line = 1, .column = 1};
    const snw_node *node = NULL;
    *given = false;
    SNW_TRY(snw_tree_find(root, path, at, pool, &node, err));
    *given = node && node->kind != SNW_NODE_NULL;
    if (!*given) return SNW_OK;
    if (node->kind != SNW_NODE_TEXT) {
        return snw_fail_at(err, at, "'%s' is %s, not a number; name one of its numbers", path,
                           node->kind == SNW_NODE_LIST ? "a list" : "a map");
    }
    snw_error why = {0};
    if (document_measure(pool, node->scope, node->text, option, out, &why) == SNW_OK) return SNW_OK;
    return snw_fail_at(err, at,
                       "'%s' is '%.60s', not a constant number (%.200s); find a parameter instead",
                       path, node->text, why.text);
}

static snw_status find_number(const snw_source *source, int run, snw_pool *pool, const char *path,
                              const char *option, bool *given, snw_quantity_read *out,
                              snw_error *err) {
    snw_node *root = NULL;
    *given = false;
    SNW_TRY(snw_source_tree(source, run, pool, &root, err));
    return find_number_in(root, pool, path, option, given, out, err);
}

snw_status snw_document_find(const snw_document *d, int run, const char *path, const char *option,
                             bool *given, snw_quantity_read *out, snw_error *err) {
    snw_pool *pool = snw_pool_create(LIMIT);
    if (!pool) return snw_fail_memory(err);
    const snw_status status = find_number(d->source, run, pool, path, option, given, out, err);
    snw_pool_destroy(pool);
    return status;
}

struct snw_document_numbers {
    snw_pool *pool;
    snw_node *root;
};

snw_status snw_document_numbers_open(const snw_document *d, int run, int nset,
                                     const char *const *set, snw_document_numbers **out,
                                     snw_error *err) {
    snw_pool *pool = snw_pool_create(LIMIT);
    snw_document_numbers *n = pool ? snw_pool_take(pool, sizeof *n) : NULL;
    *out = NULL;
    if (!n) {
        snw_pool_destroy(pool);
        return snw_fail_memory(err);
    }
    snw_source source;
    n->pool = pool;
    snw_status status = with_overrides(d, pool, nset, set, &source, err);
    if (status == SNW_OK) status = snw_source_tree(&source, run, pool, &n->root, err);
    if (status == SNW_OK) {
        *out = n;
    } else {
        snw_pool_destroy(pool);
    }
    return status;
}

snw_status snw_document_numbers_find(snw_document_numbers *n, const char *path, const char *option,
                                     bool *given, snw_quantity_read *out, snw_error *err) {
    return find_number_in(n->root, n->pool, path, option, given, out, err);
}

snw_status snw_document_numbers_law(snw_document_numbers *n, const char *path, const char *unit,
                                    int nt, const double *t, double *out, snw_error *err) {
    const snw_source_location at = {.file = "path", .line = 1, .column = 1};
    const snw_node *node = NULL;
    const snw_expr *law = NULL;
    snw_dim dim;
    double one = 1;
    const char *text = snw_pool_format(n->pool, "1 %s", unit);
    if (!text) return snw_fail_memory(err);
    SNW_TRY(snw_expr_parse_constant(n->pool, NULL, text, "unit", 1, 1, &one, &dim, err));
    SNW_TRY(snw_tree_find(n->root, path, at, n->pool, &node, err));
    if (!node || node->kind != SNW_NODE_TEXT)
        return snw_fail_at(err, at, "'%s' is no law of the file", path);
    SNW_TRY(snw_expr_parse_any(n->pool, node->scope, node->text, SNW_VAR_T, "path", 1, 1, &law,
                               &dim, err));
    for (int k = 0; k < nt; k++) out[k] = snw_expr_value(law, (snw_at){.t = t[k]}) / one;
    return SNW_OK;
}

void snw_document_numbers_close(snw_document_numbers *n) {
    if (n) snw_pool_destroy(n->pool);
}

snw_status snw_document_evaluate(const snw_document *d, int run, const char *text,
                                 const char *option, snw_quantity_read *out, snw_error *err) {
    snw_pool *pool = snw_pool_create(LIMIT);
    if (!pool) return snw_fail_memory(err);
    snw_node *root = NULL;
    snw_status status = snw_source_tree(d->source, run, pool, &root, err);
    if (status == SNW_OK) status = document_measure(pool, root->scope, text, option, out, err);
    snw_pool_destroy(pool);
    return status;
}

// ---- parameters ---------------------------------------------------------------------------------

static void read_parameter(const snw_node *root, const snw_entry *e, snw_pool *scratch,
                           snw_parameter_read *out) {
    out->kind = e->value->kind == SNW_NODE_LIST ? "list" : strchr(e->key, '(') ? "function" : "law";
    out->number.value = NAN;
    if (strcmp(out->kind, "law") != 0) return;
    snw_error why = {0};
    if (document_measure(scratch, root->scope, e->key, "parameters", &out->number, &why) == SNW_OK)
        out->kind = "number";
}

static snw_status list_parameters(const snw_source *source, int run, snw_pool *scratch,
                                  snw_pool *pool, int *n, const snw_parameter_read **out,
                                  snw_error *err) {
    snw_node *root = NULL;
    SNW_TRY(snw_source_tree(source, run, scratch, &root, err));
    const snw_node *all = snw_node_get(root, "parameters");
    const int count = all ? all->n : 0;
    snw_parameter_read *list = snw_pool_array(pool, (size_t)count + 1, sizeof *list);
    if (!list) return snw_fail_memory(err);
    for (int i = 0; i < count; i++) {
        const snw_entry *e = &all->entry[i];
        list[i].name = snw_pool_text(pool, e->key, strlen(e->key));
        if (!list[i].name) return snw_fail_memory(err);
        read_parameter(root, e, scratch, &list[i]);
    }
    *n = count;
    *out = list;
    return SNW_OK;
}

snw_status snw_document_parameters(const snw_document *d, int run, int nset, const char *const *set,
                                   snw_pool *pool, int *n, const snw_parameter_read **out,
                                   snw_error *err) {
    snw_pool *scratch = snw_pool_create(LIMIT);
    if (!scratch) return snw_fail_memory(err);
    snw_source source;
    snw_status status = with_overrides(d, scratch, nset, set, &source, err);
    if (status == SNW_OK) status = list_parameters(&source, run, scratch, pool, n, out, err);
    snw_pool_destroy(scratch);
    return status;
}

void snw_desc_destroy(snw_desc *d) {
    if (d) snw_pool_destroy(d->pool);
}

const struct snw_optimize_options *snw_document_optimize(const snw_desc *desc) {
    const described *d = (const described *)(const void *)desc;
    return d->optimize;
}

snw_status snw_document_command(const snw_document *d, int run, const char *command, snw_pool *pool,
                                const snw_node **out, snw_error *err) {
    *out = NULL;
    if (!snw_node_get(d->source->root, "commands")) return SNW_OK;
    snw_node *root = NULL;
    SNW_TRY(snw_source_tree(d->source, run, pool, &root, err));
    *out = snw_node_get(snw_node_get(root, "commands"), command);
    return SNW_OK;
}

snw_status snw_document_expects(const snw_document *d, int run, const snw_desc *desc, int *n,
                                const snw_expect **out, snw_error *err) {
    (void)d;
    (void)run;
    (void)err;
    const described *with_expects = (const described *)(const void *)desc;
    *n = with_expects->nexpect;
    *out = with_expects->expect;
    return SNW_OK;
}
