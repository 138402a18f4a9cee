// SPDX-License-Identifier: MIT
//
// Opens a public robot from a model file or from text: document, description, compiled robot and
// identity hash.

#include "base/alloc.h"
#include "base/fail.h"
#include "language/document.h"
#include "robot/robot.h"

#include <string.h>

// the description refers to locations in its document, so the robot owns both
typedef struct origin {
    snw_document *document;
    snw_desc *desc;
} origin;

static void robot_open_release(void *owner) {
    origin *o = owner;
    snw_desc_destroy(o->desc);
    snw_document_destroy(o->document);
    snw_free(o);
}

static snw_status robot_open_find_run(const snw_document *d, const char *run, int *out,
                                      snw_error *err) {
    *out = 0;
    if (!run) return SNW_OK;
    for (int i = 0; i < snw_document_runs(d); i++) {
        *out = i;
        if (strcmp(snw_document_run_name(d, i), run) == 0) return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT, "there is no run '%s'; the first is '%s'", run,
                    snw_document_run_name(d, 0));
}

// FNV-1a hash of a text with its terminating zero
static uint64_t add_text(uint64_t h, const char *text) {
    do {
        h = (h ^ (unsigned char)*text) * 0x100000001b3ULL;
    } while (*text++);
    return h;
}

// Identity of a robot: hash of its file with all includes, tables, overrides and run.
static uint64_t robot_open_identity(const snw_document *d, int run, int nset,
                                    const char *const *set) {
    uint64_t h = add_text(0xcbf29ce484222325ULL, snw_document_text(d));
    h ^= snw_document_tables(d);
    h = add_text(h, snw_document_run_name(d, run));
    for (int i = 0; i < nset; i++) h = add_text(h, set[i]);
    return h;
}

static snw_status check_arguments(const char *what, const void *text, int nset,
                                  const char *const *set, snw_robot **out, snw_error *err) {
    if (out) *out = NULL;
    if (!text || !out) {
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", out ? what : "out");
    }
    if (nset < 0 || (nset > 0 && !set)) {
        return snw_fail(err, SNW_E_ARGUMENT, "set must have nset overrides, got %s and nset = %d",
                        set ? "a list" : "NULL", nset);
    }
    for (int i = 0; i < nset; i++) {
        if (!set[i]) return snw_fail(err, SNW_E_ARGUMENT, "set[%d] is NULL", i);
    }
    return SNW_OK;
}

// takes ownership of the document
static snw_status from_document(snw_document *d, const char *run, int nset, const char *const *set,
                                snw_robot **out, snw_error *err) {
    origin *o = snw_alloc(sizeof *o);
    if (!o) {
        snw_document_destroy(d);
        return snw_fail(err, SNW_E_MEMORY, "out of memory");
    }
    o->document = d;
    int number = 0;
    snw_status s = robot_open_find_run(d, run, &number, err);
    if (s == SNW_OK) s = snw_document_describe(d, number, &o->desc, err);
    if (s != SNW_OK) {
        robot_open_release(o);
        return s;
    }
    const uint64_t id = robot_open_identity(d, number, nset, set);
    s = snw_robot_create(o->desc, robot_open_release, o, out, err);
    if (s == SNW_OK) snw_robot_identify(*out, id);
    return s;
}

snw_status snw_robot_open(const char *path, const char *run, int nset, const char *const *set,
                          snw_robot **out, snw_error *err) {
    SNW_TRY(check_arguments("path", path, nset, set, out, err));
    snw_document *d = NULL;
    SNW_TRY(snw_document_read(path, nset, set, &d, err));
    return from_document(d, run, nset, set, out, err);
}

snw_status snw_robot_parse(const char *name, const char *text, size_t length, const char *run,
                           int nset, const char *const *set, snw_robot **out, snw_error *err) {
    SNW_TRY(check_arguments("text", text, nset, set, out, err));
    if (!name) return snw_fail(err, SNW_E_ARGUMENT, "name is NULL");
    snw_document *d = NULL;
    SNW_TRY(snw_document_parse(name, text, length, nset, set, &d, err));
    return from_document(d, run, nset, set, out, err);
}
