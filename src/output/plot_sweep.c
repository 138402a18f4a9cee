// SPDX-License-Identifier: MIT
//
// Figures of the results of a sweep over its parameters.
#include "output/plot_sweep.h"

#include "base/fail.h"
#include "language/node.h"
#include "output/plot_bands.h"
#include "output/plot_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RESULTS = 8, MOST_OVER = 6, MOST_CURVES = 64, MARKED = 60, SHADES = 9 };
enum { NAMED = 12, SOME_NAMES = 7 }; // curves that all have names; names of more curves
static const unsigned MISSING = 0xb0b0b0;
static const double LINE_WIDTH = 0.35, CONTOUR = 0.25, // mm
    LARGEST_DOT = 0.55, FILL = 14,                     // half the radius; the same of one dot
    SHORT = 6e-4; // of a line that is left out, relative to its triangle, times the cells

typedef struct sweep_drawing {
    snw_pool *pool;
    const snw_sweep_table *t;
    int64_t rows;
    int nresult, nover;
    int result[MOST_RESULTS], over[MOST_OVER];
    int nother, *other; // parameters that vary and are not shown
    snw_error *err;
} sweep_drawing;

static const double *parameter_of(const sweep_drawing *d, int i) {
    return d->t->parameter + (size_t)i * (size_t)d->rows;
}

static const double *result_of(const sweep_drawing *d, int i) {
    return d->t->result + (size_t)i * (size_t)d->rows;
}

// ---- numbers ------------------------------------------------------------------------------------

static int by_number(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// value (n, returned) <- distinct values of a parameter, rising
static int distinct_values(const sweep_drawing *d, int parameter, double *value) {
    memcpy(value, parameter_of(d, parameter), (size_t)d->rows * sizeof *value);
    qsort(value, (size_t)d->rows, sizeof *value, by_number);
    int n = 0;
    for (int64_t i = 0; i < d->rows; i++) {
        if (n == 0 || value[i] != value[n - 1]) value[n++] = value[i];
    }
    return n;
}

// Is a parameter shown on a logarithmic axis? One that was spread so, over a factor of three or
// more: by its distribution, or four values or more in equal ratios.
static snw_status find_log(const sweep_drawing *d, int parameter, bool *log) {
    double *value = snw_pool_array(d->pool, (size_t)d->rows, sizeof *value);
    *log = false;
    if (!value) return snw_fail_memory(d->err);
    const int n = distinct_values(d, parameter, value);
    if (!(value[0] > 0) || value[n - 1] < 3 * value[0]) return SNW_OK;
    *log = strncmp(d->t->head.parameter[parameter].about, "log", 3) == 0;
    if (*log || n < 4) return SNW_OK;
    const double ratio = value[1] / value[0];
    for (int i = 2; i < n; i++) {
        if (fabs(value[i] / value[i - 1] - ratio) > 1e-6 * ratio) return SNW_OK;
    }
    *log = true;
    return SNW_OK;
}

// ---- choice -------------------------------------------------------------------------------------

static snw_status sweep_find(const sweep_drawing *d, const char *what, int n,
                             const snw_sweep_column *column, const char *name, int *out) {
    for (*out = 0; *out < n; ++*out) {
        if (strcmp(column[*out].name, name) == 0) return SNW_OK;
    }
    const char **known = snw_pool_array(d->pool, (size_t)n + 1, sizeof *known);
    if (!known) return snw_fail_memory(d->err);
    for (int i = 0; i < n; i++) known[i] = column[i].name;
    const char *near = snw_nearest(name, n, known);
    if (near)
        return snw_fail(d->err, SNW_E_ARGUMENT, "the sweep has no %s '%.80s'%s", what, name,
                        snw_hint_text(near).text);
    return snw_fail(d->err, SNW_E_ARGUMENT, "the sweep has no %s '%.80s'; its first is '%.80s'",
                    what, name, column[0].name);
}

static bool varies(const sweep_drawing *d, int i) {
    const double *x = parameter_of(d, i);
    for (int64_t k = 1; k < d->rows; k++) {
        if (x[k] != x[0]) return true;
    }
    return false;
}

static snw_status choose_shown(sweep_drawing *d, const snw_sweep_figure *how) {
    const snw_sweep_head *h = &d->t->head;
    d->nresult = how->nresult ? how->nresult : h->nresult;
    if (d->nresult > MOST_RESULTS)
        return snw_fail(d->err, SNW_E_ARGUMENT,
                        "%d results are more than the %d panels a figure has; choose with --probe",
                        d->nresult, MOST_RESULTS);
    for (int i = 0; i < d->nresult; i++) {
        d->result[i] = i;
        if (how->nresult)
            SNW_TRY(sweep_find(d, "result", h->nresult, h->result, how->result[i], &d->result[i]));
    }
    int nvarying = 0;
    int *varying = snw_pool_array(d->pool, (size_t)h->nparameter + 1, sizeof *varying);
    d->other = snw_pool_array(d->pool, (size_t)h->nparameter + 1, sizeof *d->other);
    if (!varying || !d->other) return snw_fail_memory(d->err);
    for (int i = 0; i < h->nparameter; i++) {
        if (varies(d, i)) varying[nvarying++] = i;
    }
    d->nover = how->nover ? how->nover : nvarying;
    if (d->nover > MOST_OVER)
        return snw_fail(d->err, SNW_E_ARGUMENT,
                        "%d parameters are more than the %d columns of a scatter matrix; choose "
                        "with --over",
                        d->nover, MOST_OVER);
    if (d->nover == 0) return snw_fail(d->err, SNW_E_ARGUMENT, "no parameter of the sweep varies");
    for (int i = 0; i < d->nover; i++) {
        d->over[i] = how->nover ? 0 : varying[i];
        if (how->nover)
            SNW_TRY(
                sweep_find(d, "parameter", h->nparameter, h->parameter, how->over[i], &d->over[i]));
    }
    for (int k = 0; k < nvarying; k++) {
        bool shown = false;
        for (int i = 0; i < d->nover; i++) shown = shown || d->over[i] == varying[k];
        if (!shown) d->other[d->nother++] = varying[k];
    }
    return SNW_OK;
}

// ---- parts --------------------------------------------------------------------------------------

static snw_status new_panels(const sweep_drawing *d, int most, snw_figure *f) {
    f->npanel = d->nresult;
    f->panel = snw_pool_array(d->pool, (size_t)d->nresult, sizeof *f->panel);
    if (!f->panel) return snw_fail_memory(d->err);
    for (int i = 0; i < d->nresult; i++) {
        f->panel[i].quantity = snw_plot_text(d->pool, d->t->head.result[d->result[i]].name);
        f->panel[i].unit = snw_plot_text(d->pool, d->t->head.result[d->result[i]].unit);
        f->panel[i].curve = snw_pool_array(d->pool, (size_t)most, sizeof(snw_curve));
        if (!f->panel[i].quantity || !f->panel[i].unit || !f->panel[i].curve)
            return snw_fail_memory(d->err);
    }
    return SNW_OK;
}

static snw_status set_across(const sweep_drawing *d, int parameter, snw_figure *f) {
    const snw_sweep_column *c = &d->t->head.parameter[parameter];
    f->quantity = snw_plot_text(d->pool, c->name);
    f->unit = snw_plot_text(d->pool, c->unit);
    f->counted = c->nlabel > 0;
    if (!f->quantity || !f->unit) return snw_fail_memory(d->err);
    return find_log(d, parameter, &f->log_x);
}

static snw_status sweep_curve(const sweep_drawing *d, size_t n, snw_panel *panel, snw_curve **out) {
    snw_curve *c = *out = &panel->curve[panel->ncurve++];
    *c = (snw_curve){.x = snw_pool_array(d->pool, n + 1, sizeof(double)),
                     .y = snw_pool_array(d->pool, n + 1, sizeof(double))};
    return c->x && c->y ? SNW_OK : snw_fail_memory(d->err);
}

// All rows as dots.
static snw_status add_dots(const sweep_drawing *d, const double *x, const double *y,
                           snw_panel *panel) {
    snw_curve *c;
    SNW_TRY(sweep_curve(d, (size_t)d->rows, panel, &c));
    c->marks = c->bare = true;
    c->pen = (snw_pen){.colour = snw_plot_colour(0),
                       .width = fmin(LARGEST_DOT, FILL / 2 / sqrt((double)d->rows * d->nover))};
    for (int64_t i = 0; i < d->rows; i++) {
        if (!isfinite(y[i])) continue;
        c->x[c->n] = x[i];
        c->y[c->n++] = y[i];
    }
    return SNW_OK;
}

// ---- over one parameter -------------------------------------------------------------------------

static bool same_others(const sweep_drawing *d, int64_t a, int64_t b) {
    for (int k = 0; k < d->nother; k++) {
        if (parameter_of(d, d->other[k])[a] != parameter_of(d, d->other[k])[b]) return false;
    }
    return true;
}

// group (rows) <- number of the combination of the others; returns how many, MOST_CURVES + 1: more
static int group_rows(const sweep_drawing *d, int *group, int64_t first[MOST_CURVES]) {
    int n = 0;
    for (int64_t i = 0; i < d->rows; i++) {
        int g = 0;
        while (g < n && !same_others(d, first[g], i)) g++;
        if (g == MOST_CURVES) return MOST_CURVES + 1;
        if (g == n) first[n++] = i;
        group[i] = g;
    }
    return n;
}

// Scale of a parameter: the same for all its values, unless they spread over a factor of 1000.
static snw_unit_scale scale_of(const sweep_drawing *d, int parameter, double own) {
    const double *x = parameter_of(d, parameter);
    double least = INFINITY, most = 0;
    for (int64_t i = 0; i < d->rows; i++) {
        most = fmax(most, fabs(x[i]));
        if (x[i] != 0) least = fmin(least, fabs(x[i]));
    }
    return snw_unit_scale_make(d->t->head.parameter[parameter].unit,
                               most > 1000 * least ? fabs(own) : most);
}

// "k = 2 N/m, scheme = bdf2": the others in a row
static const char *others_text(const sweep_drawing *d, int64_t row) {
    char text[200] = "";
    size_t used = 0;
    for (int k = 0; k < d->nother && used < sizeof text - 1; k++) {
        const snw_sweep_column *c = &d->t->head.parameter[d->other[k]];
        const double x = parameter_of(d, d->other[k])[row];
        const char *comma = k ? ", " : "";
        if (c->nlabel && x >= 0 && x < c->nlabel) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.40s = %.40s", comma,
                                     c->name, c->label[(int)x]);
            continue;
        }
        const snw_unit_scale s = scale_of(d, d->other[k], x);
        char number[SNW_TICK_SIZE];
        snw_shown_number(x / s.size, number);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.40s = %s%s%s", comma,
                                 c->name, number, s.unit[0] ? " " : "", s.unit);
    }
    return snw_plot_text(d->pool, text);
}

typedef struct sweep_point {
    double x, y;
} sweep_point;

static int by_abscissa(const void *a, const void *b) {
    const double x = ((const sweep_point *)a)->x, y = ((const sweep_point *)b)->x;
    return (x > y) - (x < y);
}

// The rows of one combination, in the order of the parameter.
static snw_status add_line(const sweep_drawing *d, const int *group, int g, const double *y,
                           const char *name, snw_pen pen, bool shaded, snw_panel *panel) {
    sweep_point *point = snw_pool_array(d->pool, (size_t)d->rows, sizeof *point);
    if (!point) return snw_fail_memory(d->err);
    const double *x = parameter_of(d, d->over[0]);
    size_t n = 0;
    for (int64_t i = 0; i < d->rows; i++) {
        if (group[i] == g && isfinite(y[i])) point[n++] = (sweep_point){x[i], y[i]};
    }
    qsort(point, n, sizeof *point, by_abscissa);
    snw_curve *c;
    SNW_TRY(sweep_curve(d, n, panel, &c));
    c->pen = pen;
    c->marks = n <= MARKED && !shaded;
    c->name = name;
    c->n = (int)n;
    for (size_t i = 0; i < n; i++) c->x[i] = point[i].x, c->y[i] = point[i].y;
    return SNW_OK;
}

// Groups in the order of the only other parameter. False: there are others, or words.
static bool sort_groups(const sweep_drawing *d, int n, const int64_t *first, int *order) {
    if (d->nother != 1 || d->t->head.parameter[d->other[0]].nlabel) return false;
    const double *x = parameter_of(d, d->other[0]);
    for (int g = 0; g < n; g++) {
        int k = g;
        for (; k > 0 && x[first[order[k - 1]]] > x[first[g]]; k--) order[k] = order[k - 1];
        order[k] = g;
    }
    return true;
}

// A line for each value of one other parameter, shaded in their order; names of some.
static snw_status draw_family(const sweep_drawing *d, const int *group, int n, const int64_t *first,
                              const int *order, const double *y, bool listed, snw_panel *panel) {
    for (int k = 0, names = 0; k < n; k++) {
        const snw_pen pen = {.colour = snw_plot_gradient((double)k / (n - 1)), .width = LINE_WIDTH};
        // the name number j is that of the curve j (n - 1)/(SOME_NAMES - 1), rounded
        const bool named = k == (2 * names * (n - 1) + SOME_NAMES - 1) / (2 * (SOME_NAMES - 1));
        const char *name = named && listed ? others_text(d, first[order[k]]) : NULL;
        if (named && listed && !name) return snw_fail_memory(d->err);
        names += named;
        SNW_TRY(add_line(d, group, order[k], y, name, pen, true, panel));
    }
    return SNW_OK;
}

static snw_status draw_lines(const sweep_drawing *d, snw_figure *f) {
    int *group = snw_pool_array(d->pool, (size_t)d->rows, sizeof *group);
    int64_t first[MOST_CURVES];
    int order[MOST_CURVES];
    if (!group) return snw_fail_memory(d->err);
    const int n = group_rows(d, group, first);
    const bool family = n > NAMED && n <= MOST_CURVES && sort_groups(d, n, first, order);
    SNW_TRY(new_panels(d, MOST_CURVES, f));
    SNW_TRY(set_across(d, d->over[0], f));
    for (int i = 0; i < d->nresult; i++) {
        const double *y = result_of(d, d->result[i]);
        if (family) {
            SNW_TRY(draw_family(d, group, n, first, order, y, i == 0, &f->panel[i]));
            continue;
        }
        if (n > NAMED) SNW_TRY(add_dots(d, parameter_of(d, d->over[0]), y, &f->panel[i]));
        for (int g = 0; n <= NAMED && g < n; g++) {
            // the curves of all panels have the names of the first one
            const bool named = d->nother && i == 0;
            const char *name = named ? others_text(d, first[g]) : NULL;
            if (named && !name) return snw_fail_memory(d->err);
            const snw_pen pen = {
                .colour = snw_plot_colour(g), .width = LINE_WIDTH, .dash = g / SNW_PLOT_COLOURS};
            SNW_TRY(add_line(d, group, g, y, name, pen, false, &f->panel[i]));
        }
    }
    return SNW_OK;
}

// ---- over two parameters ------------------------------------------------------------------------

// A result over two parameters, and its bands of values.
typedef struct sweep_map {
    const double *z; // rows
    snw_bands bands;
} sweep_map;

static const char *band_name(const sweep_drawing *d, const sweep_map *m, int k) {
    return m->bands.n ? snw_band_name(d->pool, &m->bands, k) : "all rows";
}

// Rows as dots in the colours of their bands; `filled`: those of them that areas show already,
// NULL: none, and the bands have names.
static snw_status add_shades(const sweep_drawing *d, const sweep_map *m, const bool *filled,
                             snw_panel *panel) {
    const double *x = parameter_of(d, d->over[0]), *y = parameter_of(d, d->over[1]);
    for (int k = m->bands.n; k >= 0; k--) {
        snw_curve *c;
        SNW_TRY(sweep_curve(d, (size_t)d->rows, panel, &c));
        c->marks = c->bare = true;
        c->pen = (snw_pen){.colour = snw_band_colour(&m->bands, k),
                           .width = fmin(LARGEST_DOT, FILL / sqrt((double)d->rows))};
        for (int64_t i = 0; i < d->rows; i++) {
            if (!isfinite(m->z[i]) || (filled && filled[i]) || snw_band_of(&m->bands, m->z[i]) != k)
                continue;
            c->x[c->n] = x[i];
            c->y[c->n++] = y[i];
        }
        c->name = filled ? NULL : band_name(d, m, k);
        if (!filled && !c->name) return snw_fail_memory(d->err);
        if (c->n == 0) panel->ncurve--;
    }
    return SNW_OK;
}

// Rows without a result, as small grey dots.
static snw_status add_missing(const sweep_drawing *d, const double *z, snw_panel *panel) {
    const double *x = parameter_of(d, d->over[0]), *y = parameter_of(d, d->over[1]);
    snw_curve *c;
    SNW_TRY(sweep_curve(d, (size_t)d->rows, panel, &c));
    c->marks = c->bare = true;
    c->name = "no result";
    c->pen =
        (snw_pen){.colour = MISSING, .width = fmin(LARGEST_DOT, FILL / sqrt((double)d->rows)) / 2};
    for (int64_t i = 0; i < d->rows; i++) {
        if (isfinite(z[i])) continue;
        c->x[c->n] = x[i];
        c->y[c->n++] = y[i];
    }
    if (c->n == 0) panel->ncurve--;
    return SNW_OK;
}

static int place_of(const double *value, int n, double x) {
    const double *at = bsearch(&x, value, (size_t)n, sizeof *value, by_number);
    return at ? (int)(at - value) : 0;
}

// A complete grid of the two parameters: row of each node.
typedef struct sweep_grid {
    int nx, ny;
    double *x, *y;
    int64_t *row; // nx x ny
} sweep_grid;

// *grid <- the grid; nx 0: the rows are none
static snw_status find_grid(const sweep_drawing *d, sweep_grid *grid) {
    const size_t n = (size_t)d->rows;
    *grid = (sweep_grid){.x = snw_pool_array(d->pool, n, sizeof(double)),
                         .y = snw_pool_array(d->pool, n, sizeof(double)),
                         .row = snw_pool_array(d->pool, n, sizeof(int64_t))};
    if (!grid->x || !grid->y || !grid->row) return snw_fail_memory(d->err);
    const int nx = distinct_values(d, d->over[0], grid->x),
              ny = distinct_values(d, d->over[1], grid->y);
    if ((int64_t)nx * ny != d->rows || nx < 2 || ny < 2) return SNW_OK;
    for (size_t i = 0; i < n; i++) grid->row[i] = -1;
    for (int64_t i = 0; i < d->rows; i++) {
        const int a = place_of(grid->x, nx, parameter_of(d, d->over[0])[i]),
                  b = place_of(grid->y, ny, parameter_of(d, d->over[1])[i]);
        if (grid->row[a * ny + b] >= 0) return SNW_OK; // a node twice
        grid->row[a * ny + b] = i;
    }
    grid->nx = nx;
    grid->ny = ny;
    return SNW_OK;
}

// A cell of the grid: its corners, all turned the same way, and its middle.
typedef struct map_cell {
    snw_band_point corner[4], middle;
    bool whole; // has all values
} map_cell;

static map_cell cell_of(const sweep_grid *g, const sweep_map *m, int a, int b) {
    const int place[4][2] = {{a, b}, {a + 1, b}, {a + 1, b + 1}, {a, b + 1}};
    map_cell c = {.whole = true};
    for (int i = 0; i < 4; i++) {
        snw_band_point *p = &c.corner[i];
        const double at[2] = {g->x[place[i][0]], g->y[place[i][1]]};
        p->z = m->z[g->row[place[i][0] * g->ny + place[i][1]]];
        c.whole = c.whole && isfinite(p->z);
        c.middle.z += p->z / 4;
        for (int k = 0; k < 2; k++) {
            p->at[k] = m->bands.log[k] ? log(at[k]) : at[k];
            c.middle.at[k] += p->at[k] / 4;
        }
    }
    return c;
}

// Does the whole cell lie in band k?
static bool lies_within(const sweep_map *m, const map_cell *c, int k) {
    for (int i = 0; i < 4; i++) {
        if (snw_band_of(&m->bands, c->corner[i].z) != k) return false;
    }
    return true;
}

// Areas of band k: cells that lie within it in strips, of others the parts of their four triangles.
static void add_band(const sweep_grid *g, const sweep_map *m, int k, snw_curve *c) {
    for (int a = 0; a + 1 < g->nx; a++) {
        for (int b = 0; b + 1 < g->ny; b++) {
            map_cell cell = cell_of(g, m, a, b);
            if (!cell.whole) continue;
            if (lies_within(m, &cell, k)) {
                const map_cell first = cell;
                map_cell next = cell;
                for (; b + 2 < g->ny; b++, cell = next) {
                    next = cell_of(g, m, a, b + 1);
                    if (!next.whole || !lies_within(m, &next, k)) break;
                }
                const snw_band_point *const corner[4] = {&first.corner[0], &first.corner[1],
                                                         &cell.corner[2], &cell.corner[3]};
                for (int i = 0; i < 4; i++) snw_band_add_point(&m->bands, corner[i]->at, c);
                snw_band_add_gap(&m->bands, c);
                continue;
            }
            for (int i = 0; i < 4; i++) {
                const snw_band_point triangle[3] = {cell.corner[i], cell.corner[(i + 1) % 4],
                                                    cell.middle};
                snw_band_add_triangle(&m->bands, triangle, k, c);
            }
        }
    }
}

// filled (rows) <- nodes of cells that have all values; returns whether there are any
static bool find_filled(const sweep_grid *g, const sweep_map *m, bool *filled) {
    bool any = false;
    for (int a = 0; a + 1 < g->nx; a++) {
        for (int b = 0; b + 1 < g->ny; b++) {
            if (!cell_of(g, m, a, b).whole) continue;
            any = true;
            for (int i = 0; i < 4; i++) filled[g->row[(a + i / 2) * g->ny + b + i % 2]] = true;
        }
    }
    return any;
}

static snw_status add_areas(const sweep_drawing *d, const sweep_grid *g, const sweep_map *m,
                            snw_panel *panel) {
    for (int k = m->bands.n; k >= 0; k--) {
        snw_curve count = {0}, *c;
        add_band(g, m, k, &count);
        if (count.n == 0) continue;
        SNW_TRY(sweep_curve(d, (size_t)count.n, panel, &c));
        c->area = true;
        c->pen.colour = snw_band_colour(&m->bands, k);
        c->name = band_name(d, m, k);
        if (!c->name) return snw_fail_memory(d->err);
        add_band(g, m, k, c);
    }
    return SNW_OK;
}

// Contours: each cell is four triangles about its middle.
static snw_status add_contours(const sweep_drawing *d, const sweep_grid *g, const sweep_map *m,
                               snw_panel *panel) {
    snw_curve *c;
    if (m->bands.n == 0) return SNW_OK;
    SNW_TRY(sweep_curve(d, (size_t)m->bands.n * (size_t)(g->nx - 1) * (size_t)(g->ny - 1) * 12,
                        panel, &c));
    c->pen = (snw_pen){.colour = 0x333333, .width = CONTOUR};
    const double least = fmin(0.5, SHORT * fmax(g->nx, g->ny));
    for (int a = 0; a + 1 < g->nx; a++) {
        for (int b = 0; b + 1 < g->ny; b++) {
            const map_cell cell = cell_of(g, m, a, b);
            for (int i = 0; cell.whole && i < 4; i++) {
                const snw_band_point triangle[3] = {cell.corner[i], cell.corner[(i + 1) % 4],
                                                    cell.middle};
                for (int l = 0; l < m->bands.n; l++)
                    snw_band_add_contour(&m->bands, triangle, l, least, c);
            }
        }
    }
    return SNW_OK;
}

// The name of the result, which heads the list of its bands.
static snw_status add_heading(const sweep_drawing *d, int result, const sweep_map *m,
                              snw_panel *panel) {
    snw_curve *head;
    SNW_TRY(sweep_curve(d, 1, panel, &head));
    const char *name = snw_plot_text(d->pool, d->t->head.result[result].name);
    head->bare = true;
    head->name = !name || !m->bands.scale.unit[0]
                     ? name
                     : snw_pool_format(d->pool, "%s (%s)", name, m->bands.scale.unit);
    return head->name ? SNW_OK : snw_fail_memory(d->err);
}

static snw_status draw_map(const sweep_drawing *d, const sweep_grid *grid, int result,
                           snw_figure *f) {
    const snw_sweep_column *up = &d->t->head.parameter[d->over[1]];
    sweep_map m = {.z = result_of(d, result)};
    f->npanel = 1;
    f->panel = snw_pool_array(d->pool, 1, sizeof *f->panel);
    if (!f->panel) return snw_fail_memory(d->err);
    f->panel->curve = snw_pool_array(d->pool, 2 * SNW_BANDS + 5, sizeof(snw_curve));
    f->panel->quantity = snw_plot_text(d->pool, up->name);
    f->panel->unit = snw_plot_text(d->pool, up->unit);
    if (!f->panel->curve || !f->panel->quantity || !f->panel->unit) return snw_fail_memory(d->err);
    SNW_TRY(set_across(d, d->over[0], f));
    SNW_TRY(find_log(d, d->over[1], &f->log_y));
    m.bands.log[0] = f->log_x;
    m.bands.log[1] = f->log_y;
    snw_bands_choose(d->rows, m.z, d->t->head.result[result].unit, &m.bands);
    SNW_TRY(add_heading(d, result, &m, f->panel));
    bool *filled = snw_pool_array(d->pool, (size_t)d->rows, sizeof *filled);
    if (!filled) return snw_fail_memory(d->err);
    if (grid->nx > 0 && find_filled(grid, &m, filled)) {
        SNW_TRY(add_areas(d, grid, &m, f->panel));
        SNW_TRY(add_contours(d, grid, &m, f->panel));
        SNW_TRY(add_shades(d, &m, filled, f->panel));
    } else {
        SNW_TRY(add_shades(d, &m, NULL, f->panel));
    }
    return add_missing(d, m.z, f->panel);
}

static snw_status draw_maps(const sweep_drawing *d, snw_figure_row *row) {
    sweep_grid grid = {0};
    if (d->nother == 0) SNW_TRY(find_grid(d, &grid));
    // a figure for each result: the panels show a parameter along y
    row->n = d->nresult;
    row->figure = snw_pool_array(d->pool, (size_t)d->nresult, sizeof *row->figure);
    if (!row->figure) return snw_fail_memory(d->err);
    for (int i = 0; i < d->nresult; i++) SNW_TRY(draw_map(d, &grid, d->result[i], &row->figure[i]));
    return SNW_OK;
}

// ---- over many ----------------------------------------------------------------------------------

static snw_status draw_matrix(const sweep_drawing *d, snw_figure_row *row) {
    row->n = d->nover;
    row->figure = snw_pool_array(d->pool, (size_t)d->nover, sizeof *row->figure);
    if (!row->figure) return snw_fail_memory(d->err);
    for (int k = 0; k < d->nover; k++) {
        snw_figure *f = &row->figure[k];
        SNW_TRY(new_panels(d, 1, f));
        SNW_TRY(set_across(d, d->over[k], f));
        f->beside = k > 0;
        for (int i = 0; i < d->nresult; i++) {
            SNW_TRY(
                add_dots(d, parameter_of(d, d->over[k]), result_of(d, d->result[i]), &f->panel[i]));
        }
    }
    return SNW_OK;
}

snw_status snw_plot_sweep(snw_pool *pool, const snw_sweep_table *t, const snw_sweep_figure *how,
                          snw_figure_row *out, snw_error *err) {
    sweep_drawing d = {.pool = pool, .t = t, .rows = t->head.rows, .err = err};
    *out = (snw_figure_row){0};
    SNW_TRY(choose_shown(&d, how));
    for (int k = 0; k < d.nresult; k++) {
        const double *y = result_of(&d, d.result[k]);
        bool any = false;
        for (int64_t i = 0; !any && i < d.rows; i++) any = isfinite(y[i]);
        if (!any)
            return snw_fail(err, SNW_E_ARGUMENT, "no row has a number for '%.80s' yet",
                            t->head.result[d.result[k]].name);
    }
    if (d.nover == 2) return draw_maps(&d, out);
    if (d.nover > 2) return draw_matrix(&d, out);
    out->n = 1;
    out->figure = snw_pool_array(pool, 1, sizeof *out->figure);
    return out->figure ? draw_lines(&d, out->figure) : snw_fail_memory(err);
}
