// SPDX-License-Identifier: MIT
//
// Check of an older result file before `sinew run` replaces it.
#include "cli/replace.h"

#include "base/fail.h"
#include "results/result.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool contains(int n, const char *const *list, const char *word) {
    for (int i = 0; i < n; i++) {
        if (strcmp(list[i], word) == 0) return true;
    }
    return false;
}

// why <- a --set that only the older or only the new results are made with; "" when there is none.
static snw_status compare_sets(const snw_result *old, const snw_args *args, char *why, size_t size,
                               snw_error *err) {
    const char *const *now, **then = NULL;
    const int nnow = snw_args_values(args, "set", &now);
    int nthen = 0;
    snw_pool *pool = snw_pool_create((size_t)64 << 20);
    snw_status s =
        pool ? SNW_OK : snw_fail(err, SNW_E_MEMORY, "out of memory while reading older results");
    if (s == SNW_OK) s = snw_job_sets(pool, snw_result_model(old), &nthen, &then, err);
    for (int i = 0; s == SNW_OK && !*why && i < nthen; i++) {
        if (contains(nnow, now, then[i])) continue;
        (void)snprintf(why, size, "results made with --set %.100s", then[i]);
    }
    for (int i = 0; s == SNW_OK && !*why && i < nnow; i++) {
        if (contains(nthen, then, now[i])) continue;
        (void)snprintf(why, size, "results made without --set %.100s", now[i]);
    }
    snw_pool_destroy(pool);
    return s;
}

// why <- a run of the older results that --run excludes.
static void compare_runs(const snw_result *old, const snw_args *args, const snw_job *job, char *why,
                         size_t size) {
    for (int i = 0; snw_args_has(args, "run") && !*why && i < snw_result_runs(old); i++) {
        const char *name = snw_result_info(old, i)->run;
        bool made = false;
        for (int k = 0; k < job->n && !made; k++) made = strcmp(job->run[k].name, name) == 0;
        if (!made) (void)snprintf(why, size, "results of run '%.60s', left out by --run", name);
    }
}

snw_status snw_replace_check(const char *output, bool named, bool force, const snw_args *args,
                             const snw_job *job, snw_reply *reply, snw_error *err) {
    struct stat info;
    if (force || stat(output, &info) != 0 || !S_ISREG(info.st_mode)) return SNW_OK;
    char why[200] = "";
    snw_result *old = NULL;
    snw_error unread = {0};
    const snw_status opened = snw_result_open(output, &old, &unread);
    if (opened == SNW_E_MEMORY) {
        (void)snw_fail(err, SNW_E_MEMORY,
                       "no memory to read the results in it; give the new ones another name, -o "
                       "NAME.h5, or replace them, --force");
        return snw_fail_at_location(err, SNW_E_MEMORY, output, 0, 0);
    }
    if (opened != SNW_OK) {
        if (named || info.st_size == 0) return SNW_OK;
        (void)snprintf(why, sizeof why, "data that cannot be read as results");
    } else {
        const snw_status s = compare_sets(old, args, why, sizeof why, err);
        if (s == SNW_OK) compare_runs(old, args, job, why, sizeof why);
        snw_result_close(old);
        SNW_TRY(s);
    }
    if (!*why) return SNW_OK;
    if (named) {
        char text[240];
        (void)snprintf(text, sizeof text, "replaces %s", why);
        snw_reply_warn(reply, output, text);
        return SNW_OK;
    }
    (void)snw_fail(err, SNW_E_ARGUMENT,
                   "contains %s; give the new results another name, -o NAME.h5, or replace the old "
                   "ones, --force",
                   why);
    return snw_fail_at_location(err, SNW_E_ARGUMENT, output, 0, 0);
}
