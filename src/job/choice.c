// SPDX-License-Identifier: MIT
//
// Selection of runs and columns by the names given on the command line.
#include "job/choice.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "language/node.h"
#include "study/series.h"

#include <stdio.h>
#include <string.h>

// is `name` equal to the wanted text of this length, or the wanted text followed by a dot, a
// bracket or a station?
static bool matches(const char *name, const char *wanted, size_t length) {
    if (length == 0 || strncmp(name, wanted, length) != 0) return false;
    return !name[length] || name[length] == '.' || name[length] == '(' || name[length] == '@';
}

// the next name of a list separated by commas; NULL after the last one
static const char *next_name(const char *name, size_t length) {
    return name[length] ? name + length + 1 : NULL;
}

static bool is_listed(const char *name, const char *list) {
    for (const char *one = list; one; one = next_name(one, strcspn(one, ","))) {
        if (matches(name, one, strcspn(one, ","))) return true;
    }
    return false;
}

// `what` is "run" or "probe"
static snw_status choice_unknown(const char *what, const char *wanted, int n,
                                 const char *const *name, snw_error *err) {
    const char *near = snw_nearest(wanted, n, name);
    if (near) {
        return snw_fail(err, SNW_E_ARGUMENT, "there is no %s '%s' (did you mean '%s'?)", what,
                        wanted, near);
    }
    char list[256] = "";
    size_t used = 0;
    for (int i = 0; i < n && used + strlen(name[i]) + 6 < sizeof list; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", name[i]);
    }
    return snw_fail(err, SNW_E_ARGUMENT, "there is no %s '%s'; there is %s", what, wanted,
                    n ? list : "none");
}

// fail unless every name of the list selects something
static snw_status check_list(const char *what, int n, const char *const *name, const char *list,
                             snw_error *err) {
    for (const char *one = list; one; one = next_name(one, strcspn(one, ","))) {
        const size_t length = strcspn(one, ",");
        bool found = false;
        for (int i = 0; i < n && !found; i++) found = matches(name[i], one, length);
        if (found) continue;
        char wanted[128];
        (void)snprintf(wanted, sizeof wanted, "%.*s", (int)(length < 127 ? length : 127), one);
        return choice_unknown(what, wanted, n, name, err);
    }
    return SNW_OK;
}

static snw_status choice_choose(const char *what, int n, const char *const *name, int nwanted,
                                const char *const *wanted, int *chosen, int *nchosen,
                                snw_error *err) {
    for (int w = 0; w < nwanted; w++) SNW_TRY(check_list(what, n, name, wanted[w], err));
    *nchosen = 0;
    for (int i = 0; i < n; i++) {
        bool take = nwanted == 0;
        for (int w = 0; w < nwanted && !take; w++) take = is_listed(name[i], wanted[w]);
        if (take) chosen[(*nchosen)++] = i;
    }
    return SNW_OK;
}

snw_status snw_choose_runs(int n, const char *const *name, int nwanted, const char *const *wanted,
                           int *chosen, int *nchosen, snw_error *err) {
    return choice_choose("run", n, name, nwanted, wanted, chosen, nchosen, err);
}

snw_status snw_choose_columns(const snw_run_info *info, int nwanted, const char *const *wanted,
                              int *chosen, int *nchosen, snw_error *err) {
    enum { NAME = 128 };
    const size_t n = (size_t)info->ncolumn;
    const char **name = snw_alloc(n * (sizeof *name + NAME));
    if (!name) return snw_fail_memory(err);
    char *text = (char *)(name + n);
    for (size_t i = 0; i < n; i++) {
        name[i] = text + i * NAME;
        snw_column_name(&info->column[i], text + i * NAME, NAME);
    }
    const snw_status status =
        choice_choose("probe", info->ncolumn, name, nwanted, wanted, chosen, nchosen, err);
    snw_free(name);
    return status;
}

bool snw_column_is_brief(const snw_column *c) {
    const char *name = c->component;
    if (name[0] >= '1' && name[0] <= '9') return name[0] <= '6' && !name[1]; // first frequencies
    if (strlen(name) != 2) return true;
    const bool quaternion = name[0] == 'q',
               matrix = strchr("xyz", name[0]) && strchr("xyz", name[1]);
    return !quaternion && !matrix;
}
