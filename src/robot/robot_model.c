// SPDX-License-Identifier: MIT
//
// Models of the public API: reading, overrides, references, and the compiled model that robots
// share.

#include "robot/robot_model.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "constraint/closure_choice.h"
#include "sinew/version.h"
#include "solve/blas_buffer.h"

#include <math.h>
#include <string.h>

static const size_t MODEL_LIMIT = (size_t)256 << 20; // bytes of names and tables

// ---- sources ------------------------------------------------------------------------------------

static void source_close(snw_robot_source *s) {
    if (!s || atomic_fetch_sub(&s->references, 1) > 1) return;
    (void)pthread_mutex_destroy(&s->lock);
    (void)pthread_mutex_destroy(&s->loops_lock);
    snw_closure_choice_destroy(s->loops);
    snw_document_destroy(s->document);
    snw_free(s);
}

// takes ownership of the document
static snw_status source_create(snw_document *d, snw_robot_source **out, snw_error *err) {
    snw_robot_source *s = snw_alloc(sizeof *s);
    *out = s;
    if (!s) {
        snw_document_destroy(d);
        return snw_fail_memory(err);
    }
    atomic_init(&s->references, 1);
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_mutex_init(&s->loops_lock, NULL);
    s->document = d;
    if (snw_closure_choice_create(&s->loops) == SNW_OK) return SNW_OK;
    source_close(s);
    *out = NULL;
    return snw_fail_memory(err);
}

static snw_status source_find_run(snw_robot_source *s, const char *run, snw_error *err) {
    const snw_document *d = s->document;
    if (!run) return SNW_OK;
    for (s->run = 0; s->run < snw_document_runs(d); s->run++) {
        if (strcmp(snw_document_run_name(d, s->run), run) == 0) return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT, "there is no run '%s'; the first is '%s'", run,
                    snw_document_run_name(d, 0));
}

// ---- models -------------------------------------------------------------------------------------

// FNV-1a hash of a text with its terminating zero
static uint64_t add_text(uint64_t h, const char *text) {
    do {
        h = (h ^ (unsigned char)*text) * 0x100000001b3ULL;
    } while (*text++);
    return h;
}

// Identity of a model: hash of its file with all includes, tables, overrides and run.
static uint64_t model_identity(const snw_robot_model *m) {
    const snw_document *d = m->source->document;
    uint64_t h = add_text(0xcbf29ce484222325ULL, snw_document_text(d));
    h ^= snw_document_tables(d);
    h = add_text(h, snw_document_run_name(d, m->source->run));
    for (int i = 0; i < m->nset; i++) h = add_text(h, m->set[i]);
    return h;
}

static snw_status model_allocate(snw_robot_model **out, snw_error *err) {
    snw_robot_model *m = snw_alloc(sizeof *m);
    *out = m;
    if (!m) return snw_fail_memory(err);
    atomic_init(&m->references, 1);
    m->pool = snw_pool_create(MODEL_LIMIT);
    return m->pool ? SNW_OK : snw_fail_memory(err);
}

// Models of one source that differ in other numbers than those of the kinematics find out about
// their loops once; the model does not depend on which were compiled before.
static snw_status model_compile(snw_robot_model *m, snw_error *err) {
    SNW_TRY(snw_blas_ready(err));
    snw_robot_source *s = m->source;
    const bool known = s && pthread_mutex_trylock(&s->loops_lock) == 0;
    const snw_status status = snw_projection_compile_choice(
        m->desc, SNW_USE_ANY, known ? s->loops : NULL, &m->compiled, err);
    if (known) (void)pthread_mutex_unlock(&s->loops_lock);
    return status;
}

snw_robot_model *snw_robot_model_share(snw_robot_model *m) {
    if (m) (void)atomic_fetch_add(&m->references, 1);
    return m;
}

void snw_robot_model_close(snw_robot_model *m) {
    if (!m || atomic_fetch_sub(&m->references, 1) > 1) return;
    snw_model_destroy(m->compiled);
    for (int i = 0; i < m->nphase; i++) snw_model_destroy(m->phase[i]);
    snw_free(m->phase);
    if (m->source) snw_desc_destroy((snw_desc *)m->desc);
    if (m->release) m->release(m->owner);
    source_close(m->source);
    snw_pool_destroy(m->pool);
    snw_free(m);
}

snw_status snw_robot_model_of_desc(const snw_desc *desc, void (*release)(void *owner), void *owner,
                                   snw_robot_model **out, snw_error *err) {
    snw_robot_model *m = NULL;
    *out = NULL;
    snw_status s = model_allocate(&m, err);
    if (!m) {
        if (release) release(owner);
        return s;
    }
    m->desc = desc;
    m->release = release;
    m->owner = owner;
    if (s == SNW_OK) s = model_compile(m, err);
    if (s == SNW_OK) {
        *out = m;
    } else {
        snw_robot_model_close(m);
    }
    return s;
}

// length of the path of an override "path=value"
static size_t path_length(const char *set) {
    const char *equals = snw_set_equals(set);
    return equals ? (size_t)(equals - set) : strlen(set);
}

static bool same_path(const char *a, const char *b) {
    const size_t n = path_length(a);
    return n == path_length(b) && strncmp(a, b, n) == 0;
}

// m->set <- the overrides of `before`, without those whose path `set` has, then `set`
static snw_status model_set(snw_robot_model *m, int nbefore, const char *const *before, int nset,
                            const char *const *set, snw_error *err) {
    m->set = snw_pool_array(m->pool, (size_t)nbefore + (size_t)nset + 1, sizeof *m->set);
    if (!m->set) return snw_fail_memory(err);
    for (int i = 0; i < nbefore + nset; i++) {
        const char *text = i < nbefore ? before[i] : set[i - nbefore];
        bool replaced = false;
        for (int k = 0; k < nset && i < nbefore; k++) replaced |= same_path(text, set[k]);
        if (replaced) continue;
        m->set[m->nset] = snw_pool_text(m->pool, text, strlen(text));
        if (!m->set[m->nset++]) return snw_fail_memory(err);
    }
    return SNW_OK;
}

// A model to make: `like`, a description whose coordinates it must have (NULL: none), `points`, a
// compiled model whose numbers of nodes and points along rods it takes (NULL: its own), whether its
// parts are listed, and whether it is only described, not compiled.
typedef struct model_wish {
    const snw_desc *like;
    const snw_model *points;
    bool listed, described;
} model_wish;

// Numbers of nodes and points of rods as in a compiled model of the same robot.
static void take_points(const snw_model *from, snw_desc *to) {
    for (int i = 0; i < from->nrod; i++) {
        const snw_rod *rod = &from->rod[i];
        if (rod->link >= to->nlink || rod->tolerance > 0 || rod->feed >= 0) continue;
        snw_rod_desc *d = &to->link[rod->link].rod;
        d->nodes = rod->nodes;
        d->strain_points = rod->npoint / rod->nelem;
    }
}

// describe, compile and list
static snw_status model_fill(snw_robot_model *m, model_wish wish, snw_error *err) {
    snw_robot_source *s = m->source;
    snw_desc *desc = NULL;
    (void)pthread_mutex_lock(&s->lock);
    const snw_status status =
        snw_document_describe_with(s->document, s->run, m->nset, m->set, wish.like, &desc, err);
    if (status == SNW_OK) m->identity = model_identity(m);
    (void)pthread_mutex_unlock(&s->lock);
    if (status != SNW_OK) return status;
    m->desc = desc;
    if (wish.points && wish.points->ntube == 0) take_points(wish.points, desc);
    if (wish.described) return SNW_OK;
    SNW_TRY(model_compile(m, err));
    return wish.listed ? snw_robot_model_list(m, err) : SNW_OK;
}

// takes ownership of a reference of the source
static snw_status model_create(snw_robot_source *source, int nbefore, const char *const *before,
                               int nset, const char *const *set, model_wish wish,
                               snw_robot_model **out, snw_error *err) {
    snw_robot_model *m = NULL;
    snw_status s = model_allocate(&m, err);
    if (!m) {
        source_close(source);
        return s;
    }
    m->source = source;
    if (s == SNW_OK) s = model_set(m, nbefore, before, nset, set, err);
    if (s == SNW_OK) s = model_fill(m, wish, err);
    if (s == SNW_OK) {
        *out = m;
    } else {
        snw_robot_model_close(m);
    }
    return s;
}

// takes ownership of the document
static snw_status from_document(snw_document *d, const char *run, int nset, const char *const *set,
                                snw_robot_model **out, snw_error *err) {
    snw_robot_source *source = NULL;
    SNW_TRY(source_create(d, &source, err));
    const snw_status s = source_find_run(source, run, err);
    if (s == SNW_OK)
        return model_create(source, 0, NULL, nset, set, (model_wish){.listed = true}, out, err);
    source_close(source);
    return s;
}

// ---- public calls -------------------------------------------------------------------------------

static snw_status check_overrides(int nset, const char *const *set, snw_error *err) {
    if (nset < 0 || (nset > 0 && !set)) {
        return snw_fail(err, SNW_E_ARGUMENT, "set must have nset overrides, got %s and nset = %d",
                        set ? "a list" : "NULL", nset);
    }
    for (int i = 0; i < nset; i++) {
        if (!set[i]) return snw_fail(err, SNW_E_ARGUMENT, "set[%d] is NULL", i);
    }
    return SNW_OK;
}

static snw_status check_arguments(const char *what, const void *text, int nset,
                                  const char *const *set, snw_robot_model **out, snw_error *err) {
    if (out) *out = NULL;
    if (!text || !out) {
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", out ? what : "out");
    }
    return check_overrides(nset, set, err);
}

snw_status snw_robot_model_open(const char *path, const char *run, int nset, const char *const *set,
                                snw_robot_model **out, snw_error *err) {
    SNW_TRY(check_arguments("path", path, nset, set, out, err));
    snw_document *d = NULL;
    SNW_TRY(snw_document_read(path, nset, set, &d, err));
    return from_document(d, run, nset, set, out, err);
}

snw_status snw_robot_model_parse(const char *name, const char *text, size_t length, const char *run,
                                 int nset, const char *const *set, snw_robot_model **out,
                                 snw_error *err) {
    SNW_TRY(check_arguments("text", text, nset, set, out, err));
    if (!name) return snw_fail(err, SNW_E_ARGUMENT, "name is NULL");
    snw_document *d = NULL;
    SNW_TRY(snw_document_parse(name, text, length, nset, set, &d, err));
    return from_document(d, run, nset, set, out, err);
}

static snw_status check_has_source(const snw_robot_model *m, snw_error *err) {
    if (!m) return snw_fail(err, SNW_E_ARGUMENT, "the model is NULL");
    if (m->source) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "the model was not read from a text");
}

static snw_status model_change(const snw_robot_model *m, int nset, const char *const *set,
                               model_wish wish, snw_robot_model **out, snw_error *err) {
    SNW_TRY(check_arguments("the model", m, nset, set, out, err));
    SNW_TRY(check_has_source(m, err));
    (void)atomic_fetch_add(&m->source->references, 1);
    wish.like = m->desc;
    return model_create(m->source, m->nset, m->set, nset, set, wish, out, err);
}

snw_status snw_robot_model_change(const snw_robot_model *m, int nset, const char *const *set,
                                  snw_robot_model **out, snw_error *err) {
    return model_change(m, nset, set, (model_wish){.listed = true}, out, err);
}

snw_status snw_robot_model_sample(const snw_robot_model *m, int nset, const char *const *set,
                                  const snw_model *points, snw_robot_model **out, snw_error *err) {
    return model_change(m, nset, set, (model_wish){.points = points}, out, err);
}

snw_status snw_robot_model_describe(const snw_robot_model *m, int nset, const char *const *set,
                                    snw_robot_model **out, snw_error *err) {
    return model_change(m, nset, set, (model_wish){.described = true}, out, err);
}

snw_status snw_robot_model_value(const snw_robot_model *m, const char *path, double *value,
                                 char unit[48], snw_error *err) {
    if (!path || !value)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", path ? "value" : "path");
    snw_document_numbers *numbers = NULL;
    SNW_TRY(snw_robot_model_numbers(m, &numbers, err));
    const snw_status status = snw_robot_number(numbers, path, value, unit, err);
    snw_document_numbers_close(numbers);
    return status;
}

snw_status snw_robot_model_numbers(const snw_robot_model *m, snw_document_numbers **out,
                                   snw_error *err) {
    SNW_TRY(check_has_source(m, err));
    snw_robot_source *s = m->source;
    (void)pthread_mutex_lock(&s->lock);
    const snw_status status =
        snw_document_numbers_open(s->document, s->run, m->nset, m->set, out, err);
    (void)pthread_mutex_unlock(&s->lock);
    return status;
}

snw_status snw_robot_number(snw_document_numbers *numbers, const char *path, double *value,
                            char unit[48], snw_error *err) {
    bool given = false;
    snw_quantity_read found = {0};
    const snw_status status = snw_document_numbers_find(numbers, path, "path", &given, &found, err);
    if (status != SNW_OK && err && strcmp(err->file, "path") == 0) { // a name is in no file
        err->file[0] = '\0';
        err->line = err->column = 0;
    }
    if (status != SNW_OK) return status;
    if (!given) return snw_fail(err, SNW_E_ARGUMENT, "the file does not give '%.200s'", path);
    *value = found.value;
    if (unit) memcpy(unit, found.unit, sizeof found.unit);
    return SNW_OK;
}

const char *snw_robot_model_title(const snw_robot_model *m) {
    return m && m->desc->title ? m->desc->title : "";
}

const char *snw_robot_model_run(const snw_robot_model *m) {
    return m && m->source ? snw_document_run_name(m->source->document, m->source->run) : "";
}

const char *snw_version(void) { return SNW_VERSION; }

// ---- model and robot in one ---------------------------------------------------------------------

static snw_status robot_of_model(snw_status s, snw_robot_model *m, snw_robot **out,
                                 snw_error *err) {
    if (s == SNW_OK) s = snw_robot_from_model(m, out, err);
    snw_robot_model_close(m);
    return s;
}

snw_status snw_robot_open(const char *path, const char *run, int nset, const char *const *set,
                          snw_robot **out, snw_error *err) {
    if (!out) return snw_fail(err, SNW_E_ARGUMENT, "out is NULL");
    *out = NULL;
    snw_robot_model *m = NULL;
    const snw_status s = snw_robot_model_open(path, run, nset, set, &m, err);
    return robot_of_model(s, m, out, err);
}

snw_status snw_robot_parse(const char *name, const char *text, size_t length, const char *run,
                           int nset, const char *const *set, snw_robot **out, snw_error *err) {
    if (!out) return snw_fail(err, SNW_E_ARGUMENT, "out is NULL");
    *out = NULL;
    snw_robot_model *m = NULL;
    const snw_status s = snw_robot_model_parse(name, text, length, run, nset, set, &m, err);
    return robot_of_model(s, m, out, err);
}
