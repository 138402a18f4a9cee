// SPDX-License-Identifier: MIT
//
// Files of meshes that a robot names: where they are, whether they enclose a solid, and mass and
// inertia of shapes by their density.
#include "import/importer.h"

#include "base/fail.h"
#include "language/mesh_file.h"
#include "language/text.h"
#include "model/convex_hull.h"
#include "model/solid_mass.h"

#include <string.h>
#include <unistd.h>

enum { LEVELS_UP = 8 };

// ---- where a file is ----------------------------------------------------------------------------

static const char *folder_of(snw_importer *u) {
    const char *slash = strrchr(u->r->path, '/');
    return slash ? snw_pool_text(u->r->pool, u->r->path, (size_t)(slash - u->r->path + 1)) : "";
}

// First of the folder of the file and those above it in which package/rest or rest exists.
static const char *search_upwards(snw_importer *u, const char *package, const char *rest) {
    const char *folder = folder_of(u);
    for (int level = 0; folder && level < LEVELS_UP; level++) {
        for (int k = package ? 0 : 1; k < 2; k++) {
            const char *path = k == 0
                                   ? snw_pool_format(u->r->pool, "%s%s/%s", folder, package, rest)
                                   : snw_pool_format(u->r->pool, "%s%s", folder, rest);
            if (path && access(path, R_OK) == 0) return path;
        }
        if (!package) return NULL;
        folder = snw_pool_format(u->r->pool, "%s../", folder);
    }
    return NULL;
}

// NAME/REST of a package
static const char *find_in_package(snw_importer *u, const char *at) {
    at += strspn(at, "/");
    const char *slash = strchr(at, '/');
    if (!slash) return NULL;
    const size_t length = (size_t)(slash - at);
    for (int i = 0; i < u->opts->npackage; i++) {
        const char *given = u->opts->package[i];
        if (strncmp(given, at, length) != 0 || given[length] != '=') continue;
        const char *path = snw_pool_format(u->r->pool, "%s/%s", given + length + 1, slash + 1);
        if (path && access(path, R_OK) == 0) return path;
    }
    const char *package = snw_pool_text(u->r->pool, at, length);
    return package ? search_upwards(u, package, slash + 1) : NULL;
}

const char *snw_import_find_file(snw_importer *u, const char *file) {
    static const char *const scheme[] = {"package://", "model://"};
    for (size_t i = 0; i < sizeof scheme / sizeof *scheme; i++) {
        const size_t n = strlen(scheme[i]);
        if (strncmp(file, scheme[i], n) == 0) return find_in_package(u, file + n);
    }
    if (strncmp(file, "file://", 7) == 0) file += 7;
    if (file[0] == '/') return access(file, R_OK) == 0 ? file : NULL;
    return search_upwards(u, NULL, file);
}

// ---- what it encloses ---------------------------------------------------------------------------

// Triangles of a file in its own units, from `pool`.
static snw_status read_triangles(snw_pool *pool, const char *path, snw_triangle_mesh *out,
                                 snw_error *err) {
    const char *bytes;
    size_t length;
    SNW_TRY(snw_text_read(pool, path, SNW_MESH_FILE_MAX, &bytes, &length, err));
    SNW_TRY(snw_mesh_file_parse(pool, path, bytes, length, 1, out, err));
    return snw_mesh_weld(pool, out, err);
}

// Kind of shape that the file of a mesh can be. *solid: is it wanted to touch? <- can it? *why has
// the reason where it is no closed mesh.
static snw_status mesh_kind(const char *path, bool *solid, snw_imported_shape_kind *kind, bool *use,
                            snw_error *why) {
    snw_pool *pool = snw_pool_create((size_t)512 << 20);
    if (!pool) return SNW_E_MEMORY;
    snw_triangle_mesh mesh;
    snw_convex_hull *hull;
    snw_error of_hull = {0};
    snw_status s = read_triangles(pool, path, &mesh, why);
    *use = s == SNW_OK;
    if (*use && *solid) {
        s = snw_mesh_check(pool, &mesh, why);
        *kind = s == SNW_OK ? SNW_IMPORTED_MESH : SNW_IMPORTED_HULL;
        if (s != SNW_OK &&
            snw_convex_hull_create(pool, mesh.nvertex, mesh.vertex, &hull, &of_hull) != SNW_OK) {
            *kind = SNW_IMPORTED_MESH;
            *why = of_hull;
            *solid = false;
        }
    }
    snw_pool_destroy(pool);
    return s == SNW_E_MEMORY ? s : SNW_OK;
}

snw_status snw_import_mesh(snw_importer *u, const snw_element *e, const char *link,
                           const double scale[3], snw_imported_shape *shape, bool *use) {
    *use = false;
    shape->kind = SNW_IMPORTED_MESH;
    shape->scale = scale[0];
    if (!snw_mesh_file_known(shape->file)) {
        SNW_IMPORT_NOTE(u, e,
                        "link '%.80s': mesh '%.120s' is left out, only " SNW_MESH_FILES
                        " are read; convert it",
                        link, shape->file);
        return SNW_OK;
    }
    shape->found = snw_import_find_file(u, shape->file);
    if (!shape->found) {
        SNW_IMPORT_NOTE(u, e,
                        "link '%.80s': mesh '%.120s' is left out, the file was not found; give its "
                        "package by --package NAME=FOLDER",
                        link, shape->file);
        return SNW_OK;
    }
    if (!(scale[0] > 0) || scale[1] != scale[0] || scale[2] != scale[0]) {
        SNW_IMPORT_NOTE(u, e,
                        "link '%.80s': mesh '%.120s' is left out, its scale differs between axes "
                        "or is not positive",
                        link, shape->file);
        return SNW_OK;
    }
    snw_error why = {0};
    const bool only_drawn = !shape->collision && u->opts->shapes == SNW_IMPORT_BOTH;
    bool solid = !only_drawn;
    if (mesh_kind(shape->found, &solid, &shape->kind, use, &why) != SNW_OK)
        return snw_fail_memory(u->err);
    if (*use && !solid && !only_drawn) {
        // it cannot touch; it is drawn where that is wanted
        *use = u->opts->shapes == SNW_IMPORT_BOTH;
        shape->collision = false;
        SNW_IMPORT_NOTE(
            u, e, "link '%.80s': mesh '%.100s' does not touch%s, it is no solid: %.160s", link,
            shape->file, *use ? " and is only drawn" : " and is left out", why.text);
    } else if (!*use) {
        SNW_IMPORT_NOTE(u, e, "link '%.80s': mesh '%.100s' is left out: %.200s", link, shape->file,
                        why.text);
    } else if (shape->kind == SNW_IMPORTED_HULL) {
        SNW_IMPORT_NOTE(u, e,
                        "link '%.80s': mesh '%.100s' is no solid, its convex hull is taken: %.200s",
                        link, shape->file, why.text);
    }
    return SNW_OK;
}

snw_status snw_import_shapes(snw_importer *u, snw_imported_link *link, int most) {
    link->shape = snw_pool_array(u->r->pool, (size_t)most + 1, sizeof *link->shape);
    return link->shape ? SNW_OK : snw_fail_memory(u->err);
}

void snw_import_choose_shapes(const snw_importer *u, snw_imported_link *link) {
    const snw_import_shapes_kind which = u->opts->shapes;
    if (which == SNW_IMPORT_BOTH) return;
    bool wanted = false;
    for (int i = 0; i < link->nshape; i++)
        wanted = wanted || link->shape[i].collision == (which == SNW_IMPORT_COLLISION);
    int n = 0;
    for (int i = 0; i < link->nshape && which != SNW_IMPORT_NO_SHAPES; i++) {
        if ((link->shape[i].collision == (which == SNW_IMPORT_COLLISION)) != wanted) continue;
        link->shape[n] = link->shape[i];
        link->shape[n++].collision = true;
    }
    link->nshape = n;
}

// ---- mass by density ----------------------------------------------------------------------------

// Volume, centre and inertia of the triangles of a file with these scales.
static snw_status triangles_mass(const char *path, const double *scale, snw_solid_mass *out,
                                 snw_error *err) {
    snw_pool *pool = snw_pool_create((size_t)512 << 20);
    if (!pool) return snw_fail_memory(err);
    snw_convex_hull solid = {0};
    snw_status s = read_triangles(pool, path, &solid.mesh, err);
    if (s == SNW_OK) {
        for (int i = 0; i < solid.mesh.nvertex; i++)
            for (int k = 0; k < 3; k++) solid.mesh.vertex[i].e[k] *= scale[k];
        const snw_body_solid body = {.shape = {.kind = SNW_OBSTACLE_HULL, .hull = &solid},
                                     .pose = snw_se3_identity()};
        *out = snw_solids_mass(1, &body);
    }
    snw_pool_destroy(pool);
    return s;
}

snw_status snw_imported_shape_mass(snw_importer *u, const snw_imported_shape *s,
                                   const double *scale, double density, double *mass, snw_vec3 *com,
                                   snw_mat3 *inertia, bool *solid) {
    const snw_se3 g = snw_imported_se3(&s->pose);
    snw_body_solid body = {.pose = snw_se3_identity()};
    snw_solid_mass own = {0};
    body.shape.radius = s->size[0];
    body.shape.half.z = 0.5 * s->size[1];
    switch (s->kind) {
    case SNW_IMPORTED_BOX:
        body.shape.kind = SNW_OBSTACLE_BOX;
        for (int i = 0; i < 3; i++) body.shape.half.e[i] = 0.5 * s->size[i];
        break;
    case SNW_IMPORTED_CYLINDER:
        body.shape.kind = SNW_OBSTACLE_CYLINDER;
        break;
    case SNW_IMPORTED_CAPSULE:
        body.shape.kind = SNW_OBSTACLE_CAPSULE;
        break;
    case SNW_IMPORTED_SPHERE:
        body.shape.kind = SNW_OBSTACLE_SPHERE;
        break;
    case SNW_IMPORTED_MESH:
    case SNW_IMPORTED_HULL:
        SNW_TRY(triangles_mass(s->found, scale, &own, u->err));
        break;
    }
    const bool mesh = s->kind == SNW_IMPORTED_MESH || s->kind == SNW_IMPORTED_HULL;
    if (!mesh) own = snw_solids_mass(1, &body);
    own.volume = fabs(own.volume); // negative of triangles that are inside out
    *solid = own.volume > 0 && isfinite(own.volume);
    if (!*solid) return SNW_OK;
    if (!(*mass > 0)) *mass = density * own.volume;
    *com = snw_se3_point(g, own.centre);
    *inertia = snw_turn_inertia(g.R, snw_mat3_scale(*mass, own.inertia));
    return SNW_OK;
}
