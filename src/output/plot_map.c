// SPDX-License-Identifier: MIT
//
// Figure of a map of the workspace.
#include "output/plot_map.h"

#include "base/fail.h"
#include "output/plot_data.h"

#include <math.h>
#include <string.h>

enum { SHADES = 6 };

static const double BORDER = 0.5, // width of lines of the boundary, mm
    LARGEST = 0.4,                // half the radius of dots, mm
    FILL = 11;                    // the same for one dot in the figure

// A column of the map: an output, or an input behind them.
static double map_value(const snw_workspace *map, int column, int point) {
    const size_t i = (size_t)point;
    if (column < map->noutput) return map->y[i * (size_t)map->noutput + (size_t)column];
    return map->u[i * (size_t)map->ninput + (size_t)(column - map->noutput)];
}

static const snw_map_column *map_column(const snw_workspace *map, int column) {
    return column < map->noutput ? &map->output[column] : &map->input[column - map->noutput];
}

static bool is_reached(const snw_map_point *p) {
    return p->kind != SNW_MAP_LOST && p->kind != SNW_MAP_UNSTABLE;
}

static double extent_of(const snw_workspace *map, int column) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < map->npoint; i++) {
        if (!is_reached(&map->point[i])) continue;
        low = fmin(low, map_value(map, column, i));
        high = fmax(high, map_value(map, column, i));
    }
    return high > low ? high - low : 0;
}

static snw_status find_column(const snw_workspace *map, const char *name, int *out,
                              snw_error *err) {
    for (int i = 0; i < map->noutput + map->ninput; i++) {
        *out = i;
        if (strcmp(map_column(map, i)->name, name) == 0) return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT, "the map has no column '%.100s'; its first is '%.100s'",
                    name, map_column(map, 0)->name);
}

// the two outputs of largest extent in lengths, in their order; or the inputs
static void choose_columns(const snw_workspace *map, int column[2]) {
    int best[2] = {-1, -1};
    for (int i = 0; i < map->noutput; i++) {
        const double extent = extent_of(map, i);
        if (strcmp(map->output[i].unit, "m") != 0 || !(extent > 0)) continue;
        if (best[0] < 0 || extent > extent_of(map, best[0])) {
            best[1] = best[0];
            best[0] = i;
        } else if (best[1] < 0 || extent > extent_of(map, best[1])) {
            best[1] = i;
        }
    }
    if (best[1] < 0) { // one input: an output over it; else the inputs
        best[0] = map->noutput;
        best[1] = map->ninput > 1 ? map->noutput + 1 : 0;
    } else if (best[0] > best[1]) {
        const int first = best[1];
        best[1] = best[0];
        best[0] = first;
    }
    memcpy(column, best, 2 * sizeof *column);
}

static snw_status new_curve(snw_pool *pool, size_t n, snw_panel *panel, snw_curve **out,
                            snw_error *err) {
    *out = &panel->curve[panel->ncurve++];
    **out = (snw_curve){0}; // one without points may have been there
    (*out)->x = snw_pool_array(pool, n + 1, sizeof(double));
    (*out)->y = snw_pool_array(pool, n + 1, sizeof(double));
    return (*out)->x && (*out)->y ? SNW_OK : snw_fail_memory(err);
}

static void add_point(const snw_workspace *map, const int column[2], int point, snw_curve *c) {
    c->x[c->n] = map_value(map, column[0], point);
    c->y[c->n++] = map_value(map, column[1], point);
}

// nodes by their stability, in shades; those near singularity are dark and drawn last
static snw_status add_nodes(snw_pool *pool, const snw_workspace *map, const int column[2],
                            snw_panel *panel, snw_error *err) {
    double most = -INFINITY, least = INFINITY;
    int n = 0;
    for (int i = 0; i < map->npoint; i++) {
        if (map->point[i].kind > SNW_MAP_LIMIT) continue;
        most = fmax(most, map->point[i].stability);
        least = fmin(least, map->point[i].stability);
        n++;
    }
    const double shade = (most - least) / SHADES;
    const double width = fmin(LARGEST, FILL / sqrt(n + 1.0));
    for (int k = SHADES - 1; k >= 0; k--) {
        snw_curve *c;
        SNW_TRY(new_curve(pool, (size_t)n, panel, &c, err));
        c->pen = (snw_pen){.colour = snw_plot_gradient(1 - (k + 0.5) / SHADES), .width = width};
        c->marks = c->bare = true;
        for (int i = 0; i < map->npoint; i++) {
            if (map->point[i].kind > SNW_MAP_LIMIT) continue;
            const double part = shade > 0 ? (map->point[i].stability - least) / shade : NAN;
            const int own = part < SHADES ? (int)fmax(part, 0) : SHADES - 1; // NaN: the last
            if (own == k) add_point(map, column, i, c);
        }
        if (c->n == 0) {
            panel->ncurve--;
            continue;
        }
        c->name = shade > 0 ? snw_pool_format(pool, "stability %.2f to %.2f", least + k * shade,
                                              least + (k + 1) * shade)
                            : "stable";
        if (!c->name) return snw_fail_memory(err);
    }
    return SNW_OK;
}

// lines between the points of the boundary of one kind; without segments, dots
static snw_status add_boundary(snw_pool *pool, const snw_workspace *map, const int column[2],
                               snw_map_kind kind, snw_panel *panel, snw_error *err) {
    snw_curve *c;
    SNW_TRY(new_curve(pool, 3 * (size_t)map->nsegment + (size_t)map->npoint, panel, &c, err));
    c->pen = (snw_pen){.colour = kind == SNW_MAP_LIMIT
                                     ? 0x333333
                                     : snw_plot_colour(kind == SNW_MAP_FOLD          ? 1
                                                       : kind == SNW_MAP_BIFURCATION ? 3
                                                       : kind == SNW_MAP_RANK        ? 0
                                                                                     : 5),
                       .width = BORDER};
    for (int i = 0; i < map->nsegment; i++) {
        if (map->segment[i].kind != kind) continue;
        for (int k = 0; k < 2; k++) add_point(map, column, map->segment[i].point[k], c);
        c->x[c->n] = c->y[c->n] = NAN;
        c->n++;
    }
    if (map->nsegment == 0 && kind > SNW_MAP_LOST) {
        c->marks = c->bare = true;
        for (int i = 0; i < map->npoint; i++) {
            if (map->point[i].kind == kind) add_point(map, column, i, c);
        }
    }
    c->name = snw_map_kind_name(kind);
    if (c->n == 0) panel->ncurve--;
    return SNW_OK;
}

snw_status snw_plot_map(snw_pool *pool, const snw_workspace *map, const char *const *column,
                        snw_figure *out, snw_error *err) {
    int at[2];
    if (map->ninput < 1 || map->noutput < 1)
        return snw_fail(err, SNW_E_PARSE, "the map has no inputs or outputs");
    choose_columns(map, at);
    for (int k = 0; column && k < 2; k++) SNW_TRY(find_column(map, column[k], &at[k], err));
    snw_panel *panel = snw_pool_array(pool, 1, sizeof *panel);
    snw_curve *curve = snw_pool_array(pool, SHADES + SNW_MAP_KINDS, sizeof *curve);
    if (!panel || !curve) return snw_fail_memory(err);
    const snw_map_column *x = map_column(map, at[0]), *y = map_column(map, at[1]);
    *panel = (snw_panel){.quantity = snw_plot_text(pool, y->name),
                         .unit = snw_plot_text(pool, y->unit),
                         .curve = curve};
    *out = (snw_figure){.quantity = snw_plot_text(pool, x->name),
                        .unit = snw_plot_text(pool, x->unit),
                        .npanel = 1,
                        .panel = panel,
                        .equal = strcmp(x->unit, y->unit) == 0};
    if (!panel->quantity || !panel->unit || !out->quantity || !out->unit)
        return snw_fail_memory(err);
    SNW_TRY(add_nodes(pool, map, at, panel, err));
    static const snw_map_kind kinds[] = {SNW_MAP_LIMIT, SNW_MAP_RANK, SNW_MAP_END,
                                         SNW_MAP_BIFURCATION, SNW_MAP_FOLD};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        SNW_TRY(add_boundary(pool, map, at, kinds[k], panel, err));
    if (panel->ncurve > 0) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "the map has no point to show");
}
