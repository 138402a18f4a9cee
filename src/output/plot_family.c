// SPDX-License-Identifier: MIT
//
// Families of runs in figures. The values by which a run differs are its overrides
// (docs/results.md).
#include "output/plot_family.h"

#include "base/fail.h"
#include "output/plot_scale.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SWEPT = 3, MOST_DASHES = 4, NAME = 160 };

static const snw_run_info *info_of(const snw_plot_run *run) {
    return snw_result_info(run->file, run->run);
}

static const snw_override_desc *find_value(const snw_plot_run *run, const char *path) {
    const snw_run_info *info = info_of(run);
    for (int i = 0; i < info->noverride; i++) {
        if (strcmp(info->override[i].path, path) == 0) return &info->override[i];
    }
    return NULL;
}

// Length of the name before the dot of a run of an `each`; 0: it is none.
static size_t base_length(const char *name) {
    const char *dot = strrchr(name, '.');
    if (!dot || !dot[1]) return 0;
    for (const char *c = dot + 1; *c; c++) {
        if (!isdigit((unsigned char)*c)) return 0;
    }
    return (size_t)(dot - name);
}

// Are both runs of one `each`, or parameters, of one file?
static bool same_base(const snw_plot_run *a, const snw_plot_run *b) {
    const char *x = info_of(a)->run, *y = info_of(b)->run;
    const size_t n = base_length(x);
    return a->file == b->file && n > 0 && n == base_length(y) && strncmp(x, y, n) == 0;
}

static bool same_value(const snw_override_desc *a, const snw_override_desc *b) {
    if (isfinite(a->value) && isfinite(b->value)) return a->value == b->value;
    return strcmp(a->text, b->text) == 0;
}

// path <- the overrides in which the runs of the family of `first` differ; returns how many, 0 when
// they are no family: too many, or not in all runs.
static int find_swept(int nrun, const snw_plot_run *run, int first, const char *path[MOST_SWEPT]) {
    const snw_run_info *info = info_of(&run[first]);
    int n = 0;
    for (int k = 0; k < info->noverride; k++) {
        const snw_override_desc *own = &info->override[k];
        bool differs = false;
        for (int i = 0; i < nrun; i++) {
            if (!same_base(&run[i], &run[first])) continue;
            const snw_override_desc *other = find_value(&run[i], own->path);
            if (!other) return 0;
            differs = differs || !same_value(own, other);
        }
        if (!differs) continue;
        if (n == MOST_SWEPT) return 0;
        path[n++] = own->path;
    }
    return n;
}

// ---- names --------------------------------------------------------------------------------------

// The last word of a path, unless another path ends in it, too.
static const char *short_path(int n, const char *const *path, int k) {
    const char *dot = strrchr(path[k], '.'), *word = dot ? dot + 1 : path[k];
    for (int i = 0; i < n; i++) {
        const char *other = strrchr(path[i], '.');
        if (i != k && strcmp(other ? other + 1 : path[i], word) == 0) return path[k];
    }
    return word;
}

static void value_text(const snw_override_desc *o, char *out, size_t size) {
    if (!isfinite(o->value)) {
        (void)snprintf(out, size, "%s", o->text);
        return;
    }
    const snw_unit_scale scale = snw_unit_scale_make(o->unit, fabs(o->value));
    (void)snprintf(out, size, "%.4g%s%s", o->value / scale.size, scale.unit[0] ? " " : "",
                   scale.unit);
}

static snw_status set_name(snw_pool *pool, snw_plot_run *run, bool based, int n,
                           const char *const *path, snw_error *err) {
    char name[NAME] = "";
    size_t used = 0;
    if (based) {
        const char *own = info_of(run)->run;
        used = (size_t)snprintf(name, sizeof name, "%.*s: ", (int)base_length(own) % NAME, own);
    }
    for (int k = 0; k < n && used < sizeof name; k++) {
        char value[64];
        value_text(find_value(run, path[k]), value, sizeof value);
        used += (size_t)snprintf(name + used, sizeof name - used, "%s%s = %s", k > 0 ? ", " : "",
                                 short_path(n, path, k), value);
    }
    run->name = snw_plot_text(pool, name);
    return run->name ? SNW_OK : snw_fail_memory(err);
}

// ---- pens ---------------------------------------------------------------------------------------

// Rank of the value of a run among those of all, *count <- different values; -1: it is no number.
static int rank_of(int nrun, const snw_plot_run *run, int i, const char *path, int *count) {
    const double own = find_value(&run[i], path)->value;
    int rank = 0;
    *count = 0;
    for (int a = 0; a < nrun; a++) {
        const double x = find_value(&run[a], path)->value;
        bool before = false;
        if (!isfinite(x)) return -1;
        for (int b = 0; b < a; b++) before = before || find_value(&run[b], path)->value == x;
        *count += !before;
        rank += !before && x < own;
    }
    return rank;
}

// Shades by the first value, dashes by the second; left out where they would not tell all apart.
static void set_pens(int nrun, snw_plot_run *run, int n, const char *const *path) {
    if (n > 2) return;
    for (int i = 0; i < nrun; i++) {
        int shades, dashes = 1;
        const int shade = rank_of(nrun, run, i, path[0], &shades),
                  dash = n > 1 ? rank_of(nrun, run, i, path[1], &dashes) : 0;
        if (shade < 0 || dash < 0 || shades < 2 || dashes > MOST_DASHES) return;
        run[i].family = true;
        run[i].shade = (double)shade / (shades - 1);
        run[i].dash = dash;
    }
}

snw_status snw_plot_family(snw_pool *pool, int nrun, snw_plot_run *run, snw_error *err) {
    bool one = true; // all runs are of one family
    for (int i = 0; i < nrun; i++) one = one && same_base(&run[i], &run[0]);
    for (int i = 0; i < nrun; i++) {
        const char *path[MOST_SWEPT];
        int others = 0;
        for (int k = 0; k < nrun; k++) others += k != i && same_base(&run[k], &run[i]);
        const int n = others > 0 ? find_swept(nrun, run, i, path) : 0;
        if (n == 0) continue;
        SNW_TRY(set_name(pool, &run[i], !one, n, path, err));
        if (one && i == 0) set_pens(nrun, run, n, path);
    }
    return SNW_OK;
}
