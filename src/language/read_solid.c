// SPDX-License-Identifier: MIT
//
// Reads solids whose surface is data: a height field from a formula or a file of samples, a mesh
// of triangles, the convex hull of points.
#include "language/read.h"

#include "base/fail.h"
#include "language/mesh_file.h"
#include "language/source.h"
#include "language/table.h"
#include "model/convex_hull.h"
#include "model/distance_grid.h"
#include "model/height_field.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- files --------------------------------------------------------------------------------------

// A fault in a file keeps its location there, others get that of the key.
static snw_status solid_fail(snw_reader *r, const snw_entry *e, const char *file, snw_status s,
                             const snw_error *why) {
    if (s == SNW_E_MEMORY || why->line > 0) {
        *r->err = *why;
        return s;
    }
    return snw_fail_at(r->err, e->value->location, "%.100s: %.350s", file, why->text);
}

static snw_status solid_file(snw_reader *r, const snw_entry *e, const char **file) {
    SNW_TRY(snw_read_text(r, e->value, e->key, file));
    if (r->source->table) return SNW_OK;
    return snw_fail_at(r->err, e->value->location, "files cannot be read here");
}

// Length of one unit of the file, a metre unless given.
static snw_status read_scale(snw_reader *r, const snw_shape_source *k, double *out) {
    *out = 1;
    if (!k->size[SNW_SHAPE_SCALE]) return SNW_OK;
    return snw_read_positive(r, k->size[SNW_SHAPE_SCALE]->value, "scale", SNW_DIM_LENGTH, out);
}

// Triangles of a file, vertices merged.
static snw_status read_mesh_file(snw_reader *r, const snw_shape_source *k, const char **file,
                                 snw_triangle_mesh *out) {
    snw_table_bytes bytes;
    snw_error why = {0};
    double scale = 1;
    SNW_TRY(solid_file(r, k->size[SNW_SHAPE_FILE], file));
    SNW_TRY(read_scale(r, k, &scale));
    snw_status s = snw_tables_bytes(r->source->table_user, k->size[SNW_SHAPE_FILE]->location.file,
                                    *file, SNW_MESH_FILE_MAX, &bytes, &why);
    if (s == SNW_OK) {
        s = snw_mesh_file_parse(r->pool, bytes.path, bytes.bytes, bytes.length, scale, out, &why);
    }
    if (s == SNW_OK) s = snw_mesh_weld(r->pool, out, &why);
    return s == SNW_OK ? SNW_OK : solid_fail(r, k->size[SNW_SHAPE_FILE], *file, s, &why);
}

// ---- height fields ------------------------------------------------------------------------------

static snw_status read_area(snw_reader *r, const snw_entry *e, double out[2]) {
    SNW_TRY(snw_read_list(r, e->value, "area", 2));
    for (int i = 0; i < 2; i++) {
        SNW_TRY(snw_read_positive(r, e->value->entry[i].value, "area", SNW_DIM_LENGTH, &out[i]));
    }
    return SNW_OK;
}

// Samples of the formula in x along the row y; count of them, from `first`, `step` apart.
static snw_status sample_row(snw_reader *r, const snw_node *node, double y, int count, double first,
                             double step, double *out) {
    char text[40];
    const snw_source_location p = snw_text_location(node, 0);
    const snw_dim length = SNW_DIM_LENGTH;
    const snw_expr_rules rules = {.dim = &length, .vars = SNW_VAR_X};
    snw_law law = NULL;
    snw_scope *scope = snw_scope_create(r->pool, snw_read_scope(r, node));
    if (!scope) return snw_read_memory(r);
    (void)snprintf(text, sizeof text, "(%.17g) m", (double)y);
    SNW_TRY(snw_scope_define(scope, "y", text, p.file, p.line, p.column, r->err));
    SNW_TRY(
        snw_expr_parse(r->pool, scope, node->text, &rules, p.file, p.line, p.column, &law, r->err));
    for (int i = 0; i < count; i++) {
        const double x = first + step * i;
        out[i] = snw_expr_value(law, (snw_at){.x = x});
        if (isfinite(out[i])) continue;
        return snw_fail_at(r->err, p, "'height' is not a finite number at x = %g m, y = %g m",
                           (double)x, (double)y);
    }
    return SNW_OK;
}

// Largest difference between spline and formula in the middles of cells.
static snw_status formula_error(snw_reader *r, const snw_node *node, snw_height_field *f,
                                double *row) {
    const snw_spline_grid *g = &f->h;
    for (int j = 0; j < g->n[1] - 1; j++) {
        const double y = g->first[1] + g->step[1] * (j + 0.5), x = g->first[0] + 0.5 * g->step[0];
        SNW_TRY(sample_row(r, node, y, g->n[0] - 1, x, g->step[0], row));
        for (int i = 0; i < g->n[0] - 1; i++) {
            snw_vec3 slope;
            snw_mat3 second;
            const snw_vec3 at = {{x + g->step[0] * i, y, 0}};
            f->error = fmax(f->error, fabs(snw_spline_grid_at(g, at, &slope, &second) - row[i]));
        }
    }
    return SNW_OK;
}

enum { HEIGHT_CELLS = 64, HEIGHT_CELLS_MOST = 1000 };

static snw_status read_formula(snw_reader *r, const snw_shape_source *k, const double area[2],
                               snw_height_field *f) {
    int cells = HEIGHT_CELLS;
    const char *text;
    const snw_node *node = k->size[SNW_SHAPE_HEIGHT]->value;
    SNW_TRY(snw_read_text(r, node, "height", &text));
    if (k->size[SNW_SHAPE_CELLS])
        SNW_TRY(snw_read_integer(r, k->size[SNW_SHAPE_CELLS]->value, "cells", 3, HEIGHT_CELLS_MOST,
                                 &cells));
    const double cell = fmax(area[0], area[1]) / cells;
    for (int i = 0; i < 2; i++) {
        const double n = fmax(ceil(area[i] / cell * (1 - 1e-12)), SNW_SPLINE_GRID_LEAST - 1);
        f->h.n[i] = (int)n + 1;
        f->h.step[i] = area[i] / n;
        f->h.first[i] = -0.5 * area[i];
    }
    const size_t nx = (size_t)f->h.n[0];
    double *sample = snw_pool_array(r->pool, nx * (size_t)f->h.n[1], sizeof *sample);
    if (!sample) return snw_read_memory(r);
    for (int j = 0; j < f->h.n[1]; j++) {
        SNW_TRY(sample_row(r, node, f->h.first[1] + f->h.step[1] * j, f->h.n[0], f->h.first[0],
                           f->h.step[0], sample + (size_t)j * nx));
    }
    if (!snw_spline_grid_fit(r->pool, sample, &f->h)) return snw_read_memory(r);
    return formula_error(r, node, f, sample);
}

static snw_status read_samples(snw_reader *r, const snw_shape_source *k, const double area[2],
                               snw_height_field *f) {
    const char *file;
    double scale = 1;
    snw_matrix_table t;
    snw_error why = {0};
    if (k->size[SNW_SHAPE_CELLS]) {
        return snw_fail_at(r->err, k->size[SNW_SHAPE_CELLS]->location,
                           "the cells are those between the samples of the file; leave out "
                           "'cells'");
    }
    SNW_TRY(solid_file(r, k->size[SNW_SHAPE_FILE], &file));
    SNW_TRY(read_scale(r, k, &scale));
    const snw_status s = snw_tables_matrix(r->source->table_user,
                                           k->size[SNW_SHAPE_FILE]->location.file, file, &t, &why);
    if (s != SNW_OK) return solid_fail(r, k->size[SNW_SHAPE_FILE], file, s, &why);
    if (t.nrow < SNW_SPLINE_GRID_LEAST || t.ncolumn < SNW_SPLINE_GRID_LEAST) {
        return snw_fail_at(r->err, k->size[SNW_SHAPE_FILE]->value->location,
                           "%.100s has %d lines of %d heights; at least %d of %d are needed", file,
                           t.nrow, t.ncolumn, (int)SNW_SPLINE_GRID_LEAST,
                           (int)SNW_SPLINE_GRID_LEAST);
    }
    f->h.n[0] = t.ncolumn, f->h.n[1] = t.nrow;
    for (int i = 0; i < 2; i++) {
        f->h.step[i] = area[i] / (f->h.n[i] - 1);
        f->h.first[i] = -0.5 * area[i];
    }
    double *sample = snw_pool_array(r->pool, (size_t)t.nrow * (size_t)t.ncolumn, sizeof *sample);
    if (!sample) return snw_read_memory(r);
    for (int j = 0; j < t.nrow; j++) {
        for (int i = 0; i < t.ncolumn; i++) {
            sample[(size_t)j * (size_t)t.ncolumn + (size_t)i] =
                scale * t.value[(size_t)i * (size_t)t.nrow + (size_t)j];
        }
    }
    return snw_spline_grid_fit(r->pool, sample, &f->h) ? SNW_OK : snw_read_memory(r);
}

static snw_status read_height(snw_reader *r, const snw_shape_source *k, snw_obstacle *out) {
    double area[2];
    snw_height_field *f = snw_pool_take(r->pool, sizeof *f);
    if (!f) return snw_read_memory(r);
    if (!k->size[SNW_SHAPE_HEIGHT] == !k->size[SNW_SHAPE_FILE]) {
        return snw_fail_at(r->err, k->shape->location,
                           "the height field '%s' needs one of 'height', a formula in x and y, and "
                           "'file', samples",
                           k->name);
    }
    if (k->size[SNW_SHAPE_HEIGHT] && k->size[SNW_SHAPE_SCALE]) {
        return snw_fail_at(r->err, k->size[SNW_SHAPE_SCALE]->location,
                           "'scale' is for a file; the formula has units of its own");
    }
    SNW_TRY(read_area(r, k->size[SNW_SHAPE_AREA], area));
    f->h.n[2] = 1;
    f->of_formula = k->size[SNW_SHAPE_HEIGHT] != NULL;
    SNW_TRY(k->size[SNW_SHAPE_HEIGHT] ? read_formula(r, k, area, f) : read_samples(r, k, area, f));
    snw_height_field_measure(f);
    out->height = f;
    return SNW_OK;
}

// ---- meshes and hulls ---------------------------------------------------------------------------

// A grid that was made, and of what.
typedef struct made_grid {
    struct made_grid *next;
    const char *path;
    double scale, margin;
    int cells;
    snw_distance_grid *grid;
} made_grid;

// Check the mesh and make its grid, in the memory of the files.
static snw_status make_grid(snw_tables *files, const snw_table_bytes *bytes, made_grid *out,
                            snw_error *err) {
    snw_pool *pool = snw_tables_pool(files);
    snw_triangle_mesh mesh;
    SNW_TRY(snw_mesh_file_parse(pool, bytes->path, bytes->bytes, bytes->length, out->scale, &mesh,
                                err));
    SNW_TRY(snw_mesh_weld(pool, &mesh, err));
    snw_pool *scratch = snw_pool_create((size_t)512 << 20);
    if (!scratch) return snw_fail_memory(err);
    const snw_status s = snw_mesh_check(scratch, &mesh, err);
    snw_pool_destroy(scratch);
    SNW_TRY(s);
    return snw_distance_grid_create(pool, &mesh, out->cells, out->margin, &out->grid, err);
}

// The grid of a file like this one, if it has been made; NULL: it has not.
static made_grid *made_before(snw_tables *files, const char *path, const made_grid *like) {
    made_grid *at = *snw_tables_made(files);
    while (at && (strcmp(at->path, path) != 0 || at->scale != like->scale ||
                  at->margin != like->margin || at->cells != like->cells))
        at = at->next;
    return at;
}

static void add_made(snw_tables *files, made_grid *made) {
    made->next = *snw_tables_made(files);
    *snw_tables_made(files) = made;
}

// The grid of a file, made now unless it has been.
static snw_status find_grid(snw_tables *files, const snw_table_bytes *bytes, const made_grid *like,
                            snw_distance_grid **out, snw_error *err) {
    made_grid *at = made_before(files, bytes->path, like);
    if (!at) {
        at = snw_pool_take(snw_tables_pool(files), sizeof *at);
        if (!at) return snw_fail_memory(err);
        *at = *like;
        at->path = bytes->path;
        SNW_TRY(make_grid(files, bytes, at, err));
        add_made(files, at);
    }
    *out = at->grid;
    return SNW_OK;
}

snw_status snw_read_wider(snw_reader *r, snw_source_location at, double margin, snw_obstacle *out) {
    if (out->kind != SNW_OBSTACLE_MESH || !(out->grid->margin < margin)) return SNW_OK;
    snw_tables *files = r->source->table_user;
    made_grid *from = *snw_tables_made(files), *to;
    while (from->grid != out->grid) from = from->next;
    made_grid like = *from;
    like.margin = margin;
    to = made_before(files, from->path, &like);
    if (!to) {
        to = snw_pool_take(snw_tables_pool(files), sizeof *to);
        if (!to) return snw_read_memory(r);
        *to = like;
        snw_error why = {0};
        const snw_status s = snw_distance_grid_create(snw_tables_pool(files), &from->grid->mesh,
                                                      like.cells, like.margin, &to->grid, &why);
        if (s == SNW_E_MEMORY) return snw_read_memory(r);
        if (s != SNW_OK) return snw_fail_at(r->err, at, "%.100s: %.350s", from->path, why.text);
        add_made(files, to);
    }
    out->grid = to->grid;
    return SNW_OK;
}

// The triangles of a mesh that is only drawn.
static snw_status read_drawn_mesh(snw_reader *r, const snw_shape_source *k, snw_obstacle *out) {
    snw_distance_grid *grid = snw_pool_take(r->pool, sizeof *grid);
    const char *file;
    if (!grid) return snw_read_memory(r);
    SNW_TRY(read_mesh_file(r, k, &file, &grid->mesh));
    out->grid = grid;
    return SNW_OK;
}

static snw_status read_mesh(snw_reader *r, const snw_shape_source *k, double margin,
                            snw_obstacle *out) {
    enum { CELLS = 40, CELLS_MOST = 200 };
    made_grid like = {.margin = margin, .cells = CELLS};
    const char *file;
    snw_table_bytes bytes;
    snw_distance_grid *grid = NULL;
    snw_error why = {0};
    SNW_TRY(solid_file(r, k->size[SNW_SHAPE_FILE], &file));
    SNW_TRY(read_scale(r, k, &like.scale));
    if (k->size[SNW_SHAPE_CELLS])
        SNW_TRY(snw_read_integer(r, k->size[SNW_SHAPE_CELLS]->value, "cells", 8, CELLS_MOST,
                                 &like.cells));
    snw_tables *files = r->source->table_user;
    snw_status s = snw_tables_bytes(files, k->size[SNW_SHAPE_FILE]->location.file, file,
                                    SNW_MESH_FILE_MAX, &bytes, &why);
    if (s == SNW_OK) s = find_grid(files, &bytes, &like, &grid, &why);
    if (s != SNW_OK) return solid_fail(r, k->size[SNW_SHAPE_FILE], file, s, &why);
    out->grid = grid;
    return SNW_OK;
}

static snw_status read_corners(snw_reader *r, const snw_entry *e, snw_triangle_mesh *out) {
    const snw_node *node = e->value;
    if (node->kind != SNW_NODE_LIST || node->n < 4) {
        return snw_fail_at(r->err, node->location,
                           "'corners' is a list of four points or more, e.g. [[0, 0, 0], [1 cm, 0, "
                           "0], [0, 1 cm, 0], [0, 0, 1 cm]]");
    }
    out->vertex = snw_pool_array(r->pool, (size_t)node->n, sizeof *out->vertex);
    if (!out->vertex) return snw_read_memory(r);
    for (out->nvertex = 0; out->nvertex < node->n; out->nvertex++) {
        SNW_TRY(snw_read_vec3(r, node->entry[out->nvertex].value, "corners", SNW_DIM_LENGTH,
                              &out->vertex[out->nvertex]));
    }
    return SNW_OK;
}

static snw_status read_hull(snw_reader *r, const snw_shape_source *k, snw_obstacle *out) {
    snw_triangle_mesh points = {0};
    snw_convex_hull *hull = NULL;
    snw_error why = {0};
    const char *file = "corners";
    if (!k->size[SNW_SHAPE_CORNERS] == !k->size[SNW_SHAPE_FILE]) {
        return snw_fail_at(r->err, k->shape->location,
                           "the hull '%s' needs one of 'corners', a list of points, and 'file', a "
                           "mesh",
                           k->name);
    }
    if (k->size[SNW_SHAPE_CORNERS] && k->size[SNW_SHAPE_SCALE])
        return snw_fail_at(r->err, k->size[SNW_SHAPE_SCALE]->location, "'scale' is for a file");
    SNW_TRY(k->size[SNW_SHAPE_CORNERS] ? read_corners(r, k->size[SNW_SHAPE_CORNERS], &points)
                                       : read_mesh_file(r, k, &file, &points));
    const snw_entry *from =
        k->size[SNW_SHAPE_CORNERS] ? k->size[SNW_SHAPE_CORNERS] : k->size[SNW_SHAPE_FILE];
    snw_status s = snw_mesh_weld(r->pool, &points, &why); // corners given twice
    if (s == SNW_OK)
        s = snw_convex_hull_create(r->pool, points.nvertex, points.vertex, &hull, &why);
    if (s != SNW_OK) return solid_fail(r, from, file, s, &why);
    out->hull = hull;
    out->rounding = SNW_OBSTACLE_ROUNDING * hull->inner;
    if (!k->size[SNW_SHAPE_ROUNDING]) return SNW_OK;
    return snw_read_positive(r, k->size[SNW_SHAPE_ROUNDING]->value, "rounding", SNW_DIM_LENGTH,
                             &out->rounding);
}

snw_status snw_read_solid(snw_reader *r, const snw_shape_source *k, double margin,
                          snw_obstacle *out) {
    switch (out->kind) {
    case SNW_OBSTACLE_HEIGHT:
        return read_height(r, k, out);
    case SNW_OBSTACLE_MESH:
        return margin < 0 ? read_drawn_mesh(r, k, out) : read_mesh(r, k, margin, out);
    case SNW_OBSTACLE_HULL:
        return read_hull(r, k, out);
    case SNW_OBSTACLE_PLANE:
    case SNW_OBSTACLE_SPHERE:
    case SNW_OBSTACLE_CAPSULE:
    case SNW_OBSTACLE_BOX:
    case SNW_OBSTACLE_CYLINDER:
    case SNW_OBSTACLE_TORUS:
    case SNW_OBSTACLE_COUNT:
        return SNW_OK;
    }
    return SNW_OK;
}
