// SPDX-License-Identifier: MIT
//
// Reads a model file and compiles its selected runs; text of the model as stored in results.
#include "job/job.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "job/choice.h"
#include "language/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static snw_status job_choose(snw_job *job, int nwanted, const char *const *wanted, snw_error *err) {
    const int total = snw_document_runs(job->document);
    job->run = snw_alloc((size_t)total * sizeof *job->run);
    const char **name = snw_alloc((size_t)total * sizeof *name);
    int *chosen = snw_alloc((size_t)total * sizeof *chosen);
    snw_status status = SNW_OK;
    if (!job->run || !name || !chosen) {
        status = snw_fail_memory(err);
        goto done;
    }
    for (int i = 0; i < total; i++) name[i] = snw_document_run_name(job->document, i);
    status = snw_choose_runs(total, name, nwanted, wanted, chosen, &job->n, err);
    for (int i = 0; i < job->n; i++) {
        job->run[i] = (snw_job_run){.index = chosen[i], .name = name[chosen[i]]};
    }
done:
    snw_free(chosen);
    snw_free(name);
    return status;
}

static const char mark_set[] = "# --set ", mark_tables[] = "# tables: ";

snw_status snw_job_sets(snw_pool *pool, const char *text, int *n, const char ***set,
                        snw_error *err) {
    const char *end = text + strlen(text);
    int room = 0;
    for (const char *p = text; (p = strstr(p, mark_set)); p++) room++;
    const char **all = snw_pool_array(pool, (size_t)room + 1, sizeof *all);
    if (!all) return snw_fail_memory(err);
    int first = room; // the last lines of the text, read backwards
    while (end > text) {
        const char *line = end - 1;
        while (line > text && line[-1] != '\n') line--;
        const size_t length = (size_t)(end - 1 - line), head = sizeof mark_set - 1;
        if (strncmp(line, mark_set, head) == 0) {
            all[--first] = snw_pool_text(pool, line + head, length - head);
            if (!all[first]) return snw_fail_memory(err);
        } else if (strncmp(line, mark_tables, sizeof mark_tables - 1) != 0) {
            break;
        }
        end = line;
    }
    *n = room - first;
    *set = all + first;
    return SNW_OK;
}

// overrides and tables determine the results as much as the file, so they are part of the text
snw_status snw_job_text(const snw_document *d, int nset, const char *const *set, char **out,
                        snw_error *err) {
    const char *text = snw_document_text(d);
    const uint64_t tables = snw_document_tables(d);
    size_t size = strlen(text) + 64, used = strlen(text);
    for (int i = 0; i < nset; i++) size += strlen(set[i]) + sizeof "# --set \n";
    char *all = *out = snw_alloc(size);
    if (!all) return snw_fail_memory(err);
    memcpy(all, text, used);
    if ((nset > 0 || tables) && used > 0 && text[used - 1] != '\n') all[used++] = '\n';
    for (int i = 0; i < nset; i++) {
        used += (size_t)snprintf(all + used, size - used, "%s%s\n", mark_set, set[i]);
    }
    if (tables) {
        (void)snprintf(all + used, size - used, "%s%016" PRIx64 "\n", mark_tables, tables);
    }
    snw_text_clean(all); // file names may contain any bytes
    return SNW_OK;
}

static snw_status ask_stop(const snw_job *job, snw_error *err) {
    if (!job->stop || !job->stop(job->user)) return SNW_OK;
    return snw_fail(err, SNW_E_STOPPED, "stopped while the model was read; nothing was computed");
}

// A message without a location refers to the file of the job.
static snw_status name_file(const snw_job *job, snw_status status, snw_error *err) {
    if (status != SNW_OK && !err->file[0])
        (void)snprintf(err->file, sizeof err->file, "%s", job->path);
    return status;
}

static snw_status compile_run(snw_job *job, int i, snw_error *err) {
    snw_job_run *r = &job->run[i];
    SNW_TRY(ask_stop(job, err));
    SNW_TRY(snw_document_describe(job->document, r->index, &r->desc, err));
    return snw_run_create(r->desc, r->name, &r->run, err);
}

snw_status snw_job_compile(snw_job *job, int i, snw_error *err) {
    return name_file(job, compile_run(job, i, err), err);
}

void snw_job_release(snw_job *job, int i) {
    snw_job_run *r = &job->run[i];
    snw_run_destroy(r->run);
    snw_desc_destroy(r->desc);
    r->run = NULL;
    r->desc = NULL;
}

static snw_status open_job(snw_job *job, const snw_job_choice *choice, snw_error *err) {
    SNW_TRY(snw_document_read(job->path, choice->nset, choice->set, &job->document, err));
    SNW_TRY(job_choose(job, choice->nrun, choice->run, err));
    for (int i = 0; !choice->one_by_one && i < job->n; i++) {
        const snw_status status = compile_run(job, i, err);
        if (status == SNW_E_MEMORY && i > 0) {
            return snw_fail(err, status,
                            "no memory for %d runs at once, from '%s' on; choose some by --run",
                            job->n, job->run[i].name);
        }
        SNW_TRY(status);
    }
    SNW_TRY(ask_stop(job, err));
    return snw_job_text(job->document, choice->nset, choice->set, &job->text, err);
}

snw_status snw_job_open(const char *path, const snw_job_choice *choice, snw_job *job,
                        snw_error *err) {
    *job = (snw_job){.path = path, .stop = choice->stop, .user = choice->user};
    return name_file(job, open_job(job, choice, err), err);
}

void snw_job_close(snw_job *job) {
    for (int i = 0; i < job->n; i++) snw_job_release(job, i);
    snw_free(job->run);
    snw_free(job->text);
    snw_document_destroy(job->document);
    *job = (snw_job){0};
}

snw_status snw_job_refuse_output(const char *what, const char *input, const char *output,
                                 snw_error *err) {
    struct stat a, b;
    if (stat(input, &a) || stat(output, &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino) {
        return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT, "results would overwrite the %s '%s'; give another -o",
                    what, input);
}

snw_status snw_job_refuse_output_model(const snw_document *model, const char *output,
                                       snw_error *err) {
    const char *file;
    for (int i = 0; (file = snw_document_file(model, i)) != NULL; i++) {
        SNW_TRY(snw_job_refuse_output(i == 0 ? "model" : "model's", file, output, err));
    }
    return SNW_OK;
}
