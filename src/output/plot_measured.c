// SPDX-License-Identifier: MIT
//
// Measurements as dots in the panels of the equally named probes.
#include "output/plot_data.h"

#include "base/fail.h"
#include "output/measured.h"
#include "output/plot_scene.h"
#include "study/series.h"

#include <string.h>

static const double DOT = 0.35; // mm, half the radius of a dot

// Append a curve to a panel and return it.
static snw_curve *measured_grow(snw_pool *pool, snw_panel *p) {
    snw_curve *all = snw_pool_array(pool, (size_t)p->ncurve + 1, sizeof *all);
    if (!all) return NULL;
    memcpy(all, p->curve, (size_t)p->ncurve * sizeof *all);
    p->curve = all;
    return &all[p->ncurve++];
}

// Colour of dots: that of their curve, or dark grey when there are several; lighter for each
// further file.
static unsigned colour_of(const snw_panel *p, const char *probe) {
    unsigned colour = 0;
    int curves = 0, files = 0;
    for (int i = 0; i < p->ncurve; i++) {
        const snw_curve *c = &p->curve[i];
        if (!c->probe || strcmp(c->probe, probe) != 0) continue;
        files += c->bare;
        curves += !c->bare;
        if (!c->bare) colour = c->pen.colour;
    }
    const unsigned dark = curves == 1 ? snw_plot_darker(colour, 0.4) : 0x333333;
    return files == 0 ? dark : snw_plot_paler(dark, 1 - 1.0 / (1 + files));
}

static snw_status measured_add_column(snw_pool *pool, const snw_data_table *m, const char *file,
                                      int field, const char *name, snw_panel *panel,
                                      snw_error *err) {
    double *x = snw_pool_array(pool, (size_t)m->nrow, sizeof *x);
    double *y = snw_pool_array(pool, (size_t)m->nrow, sizeof *y);
    char *both = snw_pool_format(pool, "%s, %s", name, file);
    const char *probe = snw_pool_text(pool, name, strlen(name));
    const unsigned colour = colour_of(panel, name);
    snw_curve *c = x && y && both && probe ? measured_grow(pool, panel) : NULL;
    if (!c) return snw_fail_memory(err);
    memcpy(x, m->value, (size_t)m->nrow * sizeof *x);
    memcpy(y, m->value + (size_t)field * (size_t)m->nrow, (size_t)m->nrow * sizeof *y);
    *c = (snw_curve){.name = snw_plot_text(pool, both),
                     .probe = probe,
                     .n = m->nrow,
                     .x = x,
                     .y = y,
                     .pen = {colour, DOT, 0},
                     .marks = true,
                     .bare = true};
    return c->name ? SNW_OK : snw_fail_memory(err);
}

snw_status snw_plot_measured(snw_pool *pool, const snw_plot_run *run, const snw_data_table *m,
                             const char *file, snw_figure *f, snw_error *err) {
    const snw_run_info *info = snw_result_info(run->file, run->run);
    snw_node *scene;
    SNW_TRY(snw_scene_tree(pool, info, &scene, err));
    int found = 0;
    for (int k = 0; k < run->ncolumn; k++) {
        const snw_column *column = &info->column[run->column[k]];
        char name[256];
        const int field = snw_measured_column(m, column);
        if (field == 0) continue;
        snw_column_name(column, name, sizeof name);
        const char *quantity, *unit;
        snw_plot_quantity(scene, column, &quantity, &unit);
        SNW_TRY(measured_add_column(pool, m, file, field, name, snw_plot_panel(f, quantity, unit),
                                    err));
        found++;
    }
    if (found > 0) return SNW_OK;
    return snw_measured_fail(m, file, err);
}
