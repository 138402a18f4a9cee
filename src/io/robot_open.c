// SPDX-License-Identifier: MIT
//
// The public robot from a model file.
#include "base/alloc.h"
#include "base/fail.h"
#include "io/document.h"
#include "study/robot.h"

#include <string.h>

// a description names places in its document, so both live as long as the robot
typedef struct origin {
    snw_document *document;
    snw_desc *desc;
} origin;

static void release(void *owner) {
    origin *o = owner;
    snw_desc_destroy(o->desc);
    snw_document_destroy(o->document);
    snw_free(o);
}

static snw_status find_run(const snw_document *d, const char *run, int *out, snw_error *err) {
    *out = 0;
    if (!run) return SNW_OK;
    for (int i = 0; i < snw_document_runs(d); i++) {
        *out = i;
        if (strcmp(snw_document_run_name(d, i), run) == 0) return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT, "there is no run '%s'; the first is '%s'", run,
                    snw_document_run_name(d, 0));
}

// takes the document over
static snw_status from_document(snw_document *d, const char *run, snw_robot **out, snw_error *err) {
    origin *o = snw_alloc(sizeof *o);
    if (!o) {
        snw_document_destroy(d);
        return snw_fail(err, SNW_E_MEMORY, "out of memory");
    }
    o->document = d;
    int number = 0;
    snw_status s = find_run(d, run, &number, err);
    if (s == SNW_OK) s = snw_document_describe(d, number, &o->desc, err);
    if (s == SNW_OK) return snw_robot_create(o->desc, release, o, out, err);
    release(o);
    return s;
}

snw_status snw_robot_open(const char *path, const char *run, int nset, const char *const *set,
                          snw_robot **out, snw_error *err) {
    *out = NULL;
    snw_document *d = NULL;
    SNW_TRY(snw_document_read(path, nset, set, &d, err));
    return from_document(d, run, out, err);
}

snw_status snw_robot_parse(const char *name, const char *text, size_t length, const char *run,
                           int nset, const char *const *set, snw_robot **out, snw_error *err) {
    *out = NULL;
    snw_document *d = NULL;
    SNW_TRY(snw_document_parse(name, text, length, nset, set, &d, err));
    return from_document(d, run, out, err);
}
