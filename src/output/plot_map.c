// SPDX-License-Identifier: MIT
//
// Figure of a map of the workspace.
#include "output/plot_map.h"

#include "base/fail.h"
#include "output/plot_bands.h"
#include "output/plot_data.h"

#include <math.h>
#include <string.h>

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

// near singularity dark
static unsigned shade_of(const snw_bands *b, int band) { return snw_band_colour(b, b->n - band); }

// ---- stability ----------------------------------------------------------------------------------

// Does a point belong to what is reached? All points but lost and unstable ones have a stability.
static bool is_shaded(const snw_workspace *map, int point) {
    return map->point[point].kind <= SNW_MAP_LIMIT;
}

// The name of the shades, which heads the list of them.
static snw_status add_heading(snw_pool *pool, const snw_bands *b, snw_panel *panel,
                              snw_error *err) {
    snw_curve *head;
    SNW_TRY(new_curve(pool, 0, panel, &head, err));
    head->bare = true;
    head->name =
        b->scale.unit[0] ? snw_pool_format(pool, "stability (%s)", b->scale.unit) : "stability";
    return head->name ? SNW_OK : snw_fail_memory(err);
}

static const char *shade_name(snw_pool *pool, const snw_bands *b, int band) {
    return b->n ? snw_band_name(pool, b, band) : "stable";
}

// Nodes by their stability, in shades; those near singularity are dark and drawn last. `covered`:
// nodes that triangles show.
static snw_status add_nodes(snw_pool *pool, const snw_workspace *map, const int column[2],
                            const snw_bands *b, const bool *covered, snw_panel *panel,
                            snw_error *err) {
    const size_t room = (size_t)map->npoint;
    const double width = fmin(LARGEST, FILL / sqrt((double)map->npoint + 1.0));
    for (int k = b->n; k >= 0; k--) {
        snw_curve *c;
        SNW_TRY(new_curve(pool, room, panel, &c, err));
        c->pen = (snw_pen){.colour = shade_of(b, k), .width = width};
        c->marks = c->bare = true;
        for (int i = 0; i < map->npoint; i++) {
            if (is_shaded(map, i) && !covered[i] && snw_band_of(b, map->point[i].stability) == k)
                add_point(map, column, i, c);
        }
        if (c->n == 0) {
            panel->ncurve--;
            continue;
        }
        if (map->ntriangle > 0) continue; // areas have the names
        c->name = shade_name(pool, b, k);
        if (!c->name) return snw_fail_memory(err);
    }
    return SNW_OK;
}

// Corners of a triangle, turned like those of all others, so that overlapping areas add.
static void corners_of(const snw_workspace *map, const int column[2], const double *stability,
                       int triangle, snw_band_point corner[3]) {
    for (int k = 0; k < 3; k++) {
        const int point = map->triangle[triangle].point[k];
        corner[k] = (snw_band_point){
            .at = {map_value(map, column[0], point), map_value(map, column[1], point)},
            .z = stability[point]};
    }
    const double *a = corner[0].at, *b = corner[1].at, *c = corner[2].at;
    if ((b[0] - a[0]) * (c[1] - a[1]) >= (c[0] - a[0]) * (b[1] - a[1])) return;
    const snw_band_point last = corner[2];
    corner[2] = corner[1];
    corner[1] = last;
}

static bool is_complete(const snw_band_point corner[3]) {
    for (int k = 0; k < 3; k++) {
        if (!isfinite(corner[k].at[0]) || !isfinite(corner[k].at[1]) || !isfinite(corner[k].z))
            return false;
    }
    return true;
}

// The reached area, in shades of the stability. Where the map lies over itself, beyond a loss of
// rank, the least stable part is on top; lines between the shades would show the others through.
static snw_status add_areas(snw_pool *pool, const snw_workspace *map, const int column[2],
                            const snw_bands *b, const double *stability, snw_panel *panel,
                            snw_error *err) {
    snw_band_point corner[3];
    snw_curve *c;
    for (int k = b->n; k >= 0; k--) {
        SNW_TRY(new_curve(pool, 6 * (size_t)map->ntriangle, panel, &c, err));
        c->pen.colour = shade_of(b, k);
        c->area = true;
        for (int i = 0; i < map->ntriangle; i++) {
            corners_of(map, column, stability, i, corner);
            if (is_complete(corner)) snw_band_add_triangle(b, corner, k, c);
        }
        c->name = shade_name(pool, b, k);
        if (!c->name) return snw_fail_memory(err);
        if (c->n == 0) panel->ncurve--;
    }
    return SNW_OK;
}

// The reached poses by their stability: areas where the map has triangles, else dots.
static snw_status add_stability(snw_pool *pool, const snw_workspace *map, const int column[2],
                                snw_panel *panel, snw_error *err) {
    double *stability = snw_pool_array(pool, (size_t)map->npoint + 1, sizeof *stability);
    double *shown = snw_pool_array(pool, (size_t)map->npoint + 1, sizeof *shown);
    bool *covered = snw_pool_array(pool, (size_t)map->npoint + 1, sizeof *covered);
    if (!stability || !shown || !covered) return snw_fail_memory(err);
    for (int i = 0; i < map->ntriangle; i++) {
        for (int k = 0; k < 3; k++) covered[map->triangle[i].point[k]] = true;
    }
    bool any = false;
    for (int i = 0; i < map->npoint; i++) {
        stability[i] = map->point[i].stability;
        const bool counts = covered[i] || is_shaded(map, i);
        shown[i] = counts ? stability[i] : NAN;
        any = any || counts;
    }
    snw_bands b = {0};
    snw_bands_choose(map->npoint, shown, "", &b);
    if (b.n > 0 && any) SNW_TRY(add_heading(pool, &b, panel, err));
    if (map->ntriangle > 0) SNW_TRY(add_areas(pool, map, column, &b, stability, panel, err));
    return add_nodes(pool, map, column, &b, covered, panel, err);
}

// ---- the boundary -------------------------------------------------------------------------------

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
    snw_curve *curve = snw_pool_array(pool, 2 * SNW_BANDS + 3 + SNW_MAP_KINDS, sizeof *curve);
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
    SNW_TRY(add_stability(pool, map, at, panel, err));
    static const snw_map_kind kinds[] = {SNW_MAP_LIMIT, SNW_MAP_RANK, SNW_MAP_END,
                                         SNW_MAP_BIFURCATION, SNW_MAP_FOLD};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        SNW_TRY(add_boundary(pool, map, at, kinds[k], panel, err));
    if (panel->ncurve > 0) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "the map has no point to show");
}
