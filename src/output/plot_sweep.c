// SPDX-License-Identifier: MIT
//
// Figures of the results of a sweep over its parameters.
#include "output/plot_sweep.h"

#include "base/fail.h"
#include "language/node.h"
#include "output/plot_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RESULTS = 8, MOST_OVER = 6, MOST_CURVES = 64, MARKED = 60, SHADES = 9 };
enum { NAMED = 12, SOME_NAMES = 7 }; // curves that all have names; names of more curves
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
        f->panel[i].unit = "";
        f->panel[i].curve = snw_pool_array(d->pool, (size_t)most, sizeof(snw_curve));
        if (!f->panel[i].quantity || !f->panel[i].curve) return snw_fail_memory(d->err);
    }
    return SNW_OK;
}

static snw_status set_across(const sweep_drawing *d, int parameter, snw_figure *f) {
    const snw_sweep_column *c = &d->t->head.parameter[parameter];
    f->quantity = snw_plot_text(d->pool, c->name);
    f->unit = snw_plot_text(d->pool, c->unit);
    f->counted = c->nlabel > 0;
    return f->quantity && f->unit ? SNW_OK : snw_fail_memory(d->err);
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
        const snw_unit_scale s = snw_unit_scale_make(c->unit, fabs(x));
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.40s = %.4g%s%s", comma,
                                 c->name, x / s.size, s.unit[0] ? " " : "", s.unit);
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
                              const int *order, const double *y, snw_panel *panel) {
    for (int k = 0, names = 0; k < n; k++) {
        const snw_pen pen = {.colour = snw_plot_gradient((double)k / (n - 1)), .width = LINE_WIDTH};
        // the name number j is that of the curve j (n - 1)/(SOME_NAMES - 1), rounded
        const bool named = k == (2 * names * (n - 1) + SOME_NAMES - 1) / (2 * (SOME_NAMES - 1));
        const char *name = named ? others_text(d, first[order[k]]) : NULL;
        if (named && !name) return snw_fail_memory(d->err);
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
            SNW_TRY(draw_family(d, group, n, first, order, y, &f->panel[i]));
            continue;
        }
        if (n > NAMED) SNW_TRY(add_dots(d, parameter_of(d, d->over[0]), y, &f->panel[i]));
        for (int g = 0; n <= NAMED && g < n; g++) {
            const char *name = d->nother ? others_text(d, first[g]) : NULL;
            if (d->nother && !name) return snw_fail_memory(d->err);
            const snw_pen pen = {
                .colour = snw_plot_colour(g), .width = LINE_WIDTH, .dash = g / SNW_PLOT_COLOURS};
            SNW_TRY(add_line(d, group, g, y, name, pen, false, &f->panel[i]));
        }
    }
    return SNW_OK;
}

// ---- over two parameters ------------------------------------------------------------------------

// Round levels between the least and the largest value; their number.
static int round_levels(int64_t n, const double *z, double level[SHADES + 1]) {
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(z[i])) continue;
        least = fmin(least, z[i]);
        most = fmax(most, z[i]);
    }
    if (!(most > least)) return 0;
    const snw_ticks ticks = snw_ticks_make(least, most, SHADES - 1);
    int count = 0;
    for (int i = 0; i < ticks.n && count < SHADES; i++) {
        const double at = snw_tick_value(&ticks, i);
        if (at > least && at < most) level[count++] = at;
    }
    return count;
}

static snw_status add_shades(const sweep_drawing *d, const double *z, int n, const double *level,
                             snw_panel *panel) {
    const double *x = parameter_of(d, d->over[0]), *y = parameter_of(d, d->over[1]);
    for (int k = n; k >= 0; k--) {
        snw_curve *c;
        SNW_TRY(sweep_curve(d, (size_t)d->rows, panel, &c));
        c->marks = c->bare = true;
        c->pen = (snw_pen){.colour = snw_plot_gradient(n ? (double)k / n : 0.5),
                           .width = fmin(LARGEST_DOT, FILL / sqrt((double)d->rows))};
        for (int64_t i = 0; i < d->rows; i++) {
            if (!isfinite(z[i])) continue;
            if ((k > 0 && z[i] < level[k - 1]) || (k < n && z[i] >= level[k])) continue;
            c->x[c->n] = x[i];
            c->y[c->n++] = y[i];
        }
        c->name = n == 0   ? snw_pool_format(d->pool, "all rows")
                  : k == 0 ? snw_pool_format(d->pool, "below %.4g", level[0])
                  : k == n ? snw_pool_format(d->pool, "above %.4g", level[n - 1])
                           : snw_pool_format(d->pool, "%.4g to %.4g", level[k - 1], level[k]);
        if (!c->name) return snw_fail_memory(d->err);
        if (c->n == 0) panel->ncurve--;
    }
    return SNW_OK;
}

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

// Crossings of a level in a triangle of nodes; two points or none. Lines that are short beside the
// triangle, where a node is on the level, are left out.
static void cross_triangle(const double p[3][2], const double z[3], double level, double least,
                           snw_curve *c) {
    double at[2][2];
    int n = 0;
    for (int i = 0; i < 3 && n < 2; i++) {
        const int k = (i + 1) % 3;
        if (!(isfinite(z[0]) && isfinite(z[1]) && isfinite(z[2]))) return;
        if ((z[i] < level) == (z[k] < level)) continue;
        const double part = (level - z[i]) / (z[k] - z[i]);
        for (int a = 0; a < 2; a++) at[n][a] = p[i][a] + part * (p[k][a] - p[i][a]);
        n++;
    }
    if (n < 2) return;
    const double short_x = least * (fabs(p[1][0] - p[0][0]) + fabs(p[2][0] - p[0][0])),
                 short_y = least * (fabs(p[1][1] - p[0][1]) + fabs(p[2][1] - p[0][1]));
    if (fabs(at[1][0] - at[0][0]) < short_x && fabs(at[1][1] - at[0][1]) < short_y) return;
    for (int i = 0; i < 2; i++) {
        c->x[c->n] = at[i][0];
        c->y[c->n++] = at[i][1];
    }
    c->x[c->n] = c->y[c->n] = NAN;
    c->n++;
}

// Contours: each cell is four triangles about its middle.
static snw_status add_contours(const sweep_drawing *d, const sweep_grid *g, const double *z, int n,
                               const double *level, snw_panel *panel) {
    snw_curve *c;
    if (g->nx == 0 || n == 0) return SNW_OK;
    SNW_TRY(sweep_curve(d, (size_t)n * (size_t)(g->nx - 1) * (size_t)(g->ny - 1) * 12, panel, &c));
    c->pen = (snw_pen){.colour = 0x333333, .width = CONTOUR};
    const double least = fmin(0.5, SHORT * fmax(g->nx, g->ny));
    for (int a = 0; a + 1 < g->nx; a++) {
        for (int b = 0; b + 1 < g->ny; b++) {
            const int place[4][2] = {{a, b}, {a + 1, b}, {a + 1, b + 1}, {a, b + 1}};
            double p[4][2], f[4], middle[2] = {0}, mean = 0;
            for (int i = 0; i < 4; i++) {
                p[i][0] = g->x[place[i][0]];
                p[i][1] = g->y[place[i][1]];
                f[i] = z[g->row[place[i][0] * g->ny + place[i][1]]];
                middle[0] += p[i][0] / 4, middle[1] += p[i][1] / 4, mean += f[i] / 4;
            }
            for (int i = 0; i < 4; i++) {
                const int k = (i + 1) % 4;
                const double corner[3][2] = {
                    {p[i][0], p[i][1]}, {p[k][0], p[k][1]}, {middle[0], middle[1]}};
                const double value[3] = {f[i], f[k], mean};
                for (int l = 0; l < n; l++) cross_triangle(corner, value, level[l], least, c);
            }
        }
    }
    return SNW_OK;
}

static snw_status draw_maps(const sweep_drawing *d, snw_figure_row *row) {
    sweep_grid grid = {0};
    if (d->nother == 0) SNW_TRY(find_grid(d, &grid));
    // a figure for each result: the panels show a parameter along y
    row->n = d->nresult;
    row->figure = snw_pool_array(d->pool, (size_t)d->nresult, sizeof *row->figure);
    if (!row->figure) return snw_fail_memory(d->err);
    const snw_sweep_column *up = &d->t->head.parameter[d->over[1]];
    for (int i = 0; i < d->nresult; i++) {
        snw_figure *f = &row->figure[i];
        const double *z = result_of(d, d->result[i]);
        double level[SHADES + 1];
        const int n = round_levels(d->rows, z, level);
        f->npanel = 1;
        f->panel = snw_pool_array(d->pool, 1, sizeof *f->panel);
        if (!f->panel) return snw_fail_memory(d->err);
        f->panel->curve = snw_pool_array(d->pool, SHADES + 4, sizeof(snw_curve));
        f->panel->quantity = snw_plot_text(d->pool, up->name);
        f->panel->unit = snw_plot_text(d->pool, up->unit);
        if (!f->panel->curve || !f->panel->quantity || !f->panel->unit)
            return snw_fail_memory(d->err);
        SNW_TRY(set_across(d, d->over[0], f));
        // the name of the result heads the list of its shades
        snw_curve *head;
        SNW_TRY(sweep_curve(d, 1, f->panel, &head));
        head->name = snw_plot_text(d->pool, d->t->head.result[d->result[i]].name);
        head->bare = true;
        if (!head->name) return snw_fail_memory(d->err);
        SNW_TRY(add_shades(d, z, n, level, f->panel));
        SNW_TRY(add_contours(d, &grid, z, n, level, f->panel));
    }
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
    bool any = false;
    for (int64_t i = 0; i < d.rows * t->head.nresult; i++) any = any || isfinite(t->result[i]);
    if (!any) return snw_fail(err, SNW_E_ARGUMENT, "the sweep has no results to show yet");
    if (d.nover == 2) return draw_maps(&d, out);
    if (d.nover > 2) return draw_matrix(&d, out);
    out->n = 1;
    out->figure = snw_pool_array(pool, 1, sizeof *out->figure);
    return out->figure ? draw_lines(&d, out->figure) : snw_fail_memory(err);
}
