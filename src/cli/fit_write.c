// SPDX-License-Identifier: MIT
//
// The model file that `sinew fit --find .. -o` and `sinew optimize -o` write. It includes the model
// and overrides its runs by the values found.
#include "base/fail.h"
#include "cli/fit.h"
#include "cli/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_quoted(FILE *out, const char *text, size_t length) {
    (void)fputc('"', out);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\') (void)fputc('\\', out);
        (void)fputc(text[i], out);
    }
    (void)fputc('"', out);
}

// *out (from malloc) <- path of the model in a file at `output`: its name when both are in the same
// folder, else its full path.
static snw_status name_model(const char *model, const char *output, char **out, snw_error *err) {
    char folder[1024];
    const char *slash = strrchr(output, '/');
    (void)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - output + 1) : 2,
                   slash ? output : "./");
    char *there = realpath(folder, NULL), *whole = realpath(model, NULL);
    const size_t n = there ? strlen(there) : 0;
    snw_status status = SNW_OK;
    if (!there || !whole) {
        status = snw_fail(err, SNW_E_IO, "the folder '%.200s' cannot be found", folder);
    } else if (strncmp(whole, there, n) == 0 && whole[n] == '/' && !strchr(whole + n + 1, '/')) {
        memmove(whole, whole + n + 1, strlen(whole + n + 1) + 1);
    }
    free(there);
    if (status == SNW_OK) {
        *out = whole;
    } else {
        free(whole);
    }
    return status;
}

// Length of `table(` and an opening quote at the start of text, 0 when it starts otherwise.
static size_t table_length(const char *text) {
    static const char word[] = "table";
    if (strncmp(text, word, sizeof word - 1) != 0) return 0;
    const char *p = text + sizeof word - 1;
    p += strspn(p, " ");
    if (*p++ != '(') return 0;
    p += strspn(p, " ");
    if (*p == '\\') p++; // escaped in a YAML string
    return *p == '"' || *p == '\'' ? (size_t)(p - text) + 1 : 0;
}

// Write a value of --set. Its relative paths start at the folder of the model, those of the new
// file at its own folder: the first `length` bytes of `folder`, which end with a slash, are put
// before relative paths; 0 when both folders are the same.
static void put_value(FILE *out, const char *text, int length, const char *folder) {
    while (*text) {
        const size_t n = length ? table_length(text) : 0;
        (void)fwrite(text, 1, n ? n : 1, out);
        text += n ? n : 1;
        if (n && *text != '/') (void)fprintf(out, "%.*s", length, folder);
    }
}

// overrides of each run: values of --set, then the values found
static void put_runs(const snw_job *job, const char *model, int nset, const char *const *set,
                     FILE *out) {
    const char *slash = strrchr(model, '/');
    for (int r = 0; r < job->n; r++) {
        (void)fputs("  ", out);
        put_quoted(out, job->run[r].name, strlen(job->run[r].name));
        (void)fputs(":\n", out);
        for (int i = 0; i < nset; i++) {
            const char *text = set[i], *eq = snw_set_equals(text);
            (void)fputs("    ", out);
            put_quoted(out, text, (size_t)(eq - text));
            (void)fputs(": ", out);
            put_value(out, eq + 1, slash ? (int)(slash - model) + 1 : 0, model);
            (void)fputc('\n', out);
        }
    }
}

snw_status snw_fit_can_name(const char *model, const char *output, snw_error *err) {
    char *name = NULL;
    SNW_TRY(name_model(model, output, &name, err));
    free(name);
    return SNW_OK;
}

snw_status snw_fit_write(const snw_job *job, int nset, const char *const *set, const char *by,
                         const char *output, snw_error *err) {
    char *model = NULL;
    snw_output o;
    SNW_TRY(name_model(job->path, output, &model, err));
    const snw_status status = snw_output_open(output, &o, err);
    if (status == SNW_OK) {
        (void)fprintf(o.file, "# Values found by %s\nsinew: 1\ninclude: ", by);
        put_quoted(o.file, model, strlen(model));
        (void)fputs("\nruns:\n", o.file);
        put_runs(job, model, nset, set, o.file);
    }
    free(model);
    return status == SNW_OK ? snw_output_close(&o, SNW_OK, err) : status;
}
