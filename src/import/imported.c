// SPDX-License-Identifier: MIT
//
// The public interface: a file of another format as the text of a model, with its notes.
#include "sinew/import.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "import/import.h"

#include <string.h>

enum { POOL_LIMIT = 256 << 20 };

struct snw_imported {
    snw_pool *pool;
    snw_imported_robot robot;
    const char *text;
};

snw_import_options snw_import_defaults(void) { return (snw_import_options){.shapes = "both"}; }

snw_status snw_import_choose(const char *shapes, int npackages, const char *const *packages,
                             snw_import_opts *out, snw_error *err) {
    static const char *const word[] = {"both", "collision", "visual", "none"};
    out->npackage = npackages;
    out->package = packages;
    int kind = 0;
    while (shapes && kind < 4 && strcmp(shapes, word[kind]) != 0) kind++;
    if (kind == 4)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "shapes '%.60s' are not known; they are both, collision, visual or none",
                        shapes);
    out->shapes = (snw_import_shapes_kind)kind;
    for (int i = 0; i < npackages; i++) {
        if (!packages[i] || !strchr(packages[i], '='))
            return snw_fail(err, SNW_E_ARGUMENT, "package '%.200s' is not NAME=FOLDER",
                            packages[i] ? packages[i] : "");
    }
    return SNW_OK;
}

static snw_status imported_read(snw_imported *m, const char *path,
                                const snw_import_options *options, snw_error *err) {
    snw_import_opts opts = {.free = options->free != 0};
    SNW_TRY(snw_import_choose(options->shapes, options->npackages, options->packages, &opts, err));
    m->pool = snw_pool_create(POOL_LIMIT);
    const char *own = m->pool ? snw_pool_text(m->pool, path, strlen(path)) : NULL;
    if (!own) return snw_fail_memory(err);
    SNW_TRY(snw_import_file(m->pool, own, &opts, &m->robot, err));
    return snw_imported_write(&m->robot, &opts, NULL, &m->text, err);
}

snw_status snw_imported_open(const char *path, const snw_import_options *options,
                             snw_imported **out, snw_error *err) {
    const snw_import_options usual = snw_import_defaults();
    if (!path || !out)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", path ? "out" : "the path");
    *out = NULL;
    snw_imported *m = snw_alloc(sizeof *m);
    if (!m) return snw_fail_memory(err);
    const snw_status s = imported_read(m, path, options ? options : &usual, err);
    if (s == SNW_OK)
        *out = m;
    else
        snw_imported_close(m);
    return s;
}

void snw_imported_close(snw_imported *m) {
    if (!m) return;
    snw_pool_destroy(m->pool);
    snw_free(m);
}

const char *snw_imported_text(const snw_imported *m) { return m ? m->text : NULL; }

int snw_imported_notes(const snw_imported *m) { return m ? m->robot.nnote : 0; }

const char *snw_imported_note(const snw_imported *m, int note, int *line) {
    if (line) *line = 0;
    if (!m || note < 0 || note >= m->robot.nnote) return NULL;
    if (line) *line = m->robot.note[note].line;
    return m->robot.note[note].text;
}
