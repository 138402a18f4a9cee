// SPDX-License-Identifier: MIT
//
// Triangles of COLLADA files (.dae): triangles, polylists, strips and fans of all geometries of the
// scene, with the transforms of their nodes, the unit and the upward axis of the file. What moves
// vertices (skins, morphs) is refused.
#include "language/element.h"
#include "language/mesh_builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct dae {
    snw_mesh_builder *r;
    const snw_element *root;
    struct { // elements that are found by their id
        const char *id;
        const snw_element *e;
    } * named;
    int nnamed;
    int visits;  // of nodes and geometries
    size_t work; // characters read for them
} dae;

// A geometry may be in the scene many times, and is read each time.
enum { VISITS = 20000, DEPTH = 64, WORK = 500000000 };

static snw_status dae_fail(dae *d, const snw_element *e, const char *text) {
    d->r->line = e->line;
    return SNW_MESH_FAIL(d->r, "<%.40s>: %s", e->name, text);
}

static bool is_named(const snw_element *e, const char *name) { return strcmp(e->name, name) == 0; }

// Counts the reading of a text; false: it takes too long.
static bool may_read(dae *d, const char *text) {
    d->work += 64 + strlen(text);
    return d->work <= WORK;
}

// ---- ids ----------------------------------------------------------------------------------------

// Elements with ids below e; counted where d->named is NULL.
static void collect_ids(dae *d, const snw_element *e) {
    const char *id = snw_element_attribute(e, "id");
    if (id && d->named) d->named[d->nnamed].id = id, d->named[d->nnamed].e = e;
    d->nnamed += id != NULL;
    for (const snw_element *c = e->child; c; c = c->next) collect_ids(d, c);
}

static int by_id(const void *a, const void *b) {
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

static const snw_element *find_id(const dae *d, const char *url) {
    if (!url || url[0] != '#') return NULL;
    int low = 0, high = d->nnamed;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const int order = strcmp(d->named[middle].id, url + 1);
        if (order == 0) return d->named[middle].e;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

// ---- numbers ------------------------------------------------------------------------------------

// n numbers of a text.
static snw_status dae_numbers(dae *d, const snw_element *e, int n, double *out) {
    const char *at = e->text;
    for (int i = 0; i < n; i++) {
        char *rest;
        out[i] = strtod(at, &rest);
        if (rest == at || !isfinite(out[i])) return dae_fail(d, e, "it needs more numbers");
        at = rest;
    }
    return SNW_OK;
}

// Next whole number of a text that is not negative; -1: there is none.
static long next_whole(const char **at) {
    char *rest;
    const long i = strtol(*at, &rest, 10);
    if (rest == *at || i < 0) return -1;
    *at = rest;
    return i;
}

// ---- geometries ---------------------------------------------------------------------------------

// Positions of a geometry.
typedef struct positions {
    int n;
    double (*at)[3];
} positions;

static snw_status read_positions(dae *d, const snw_element *source, positions *out) {
    const snw_element *array = snw_element_child(source, "float_array");
    const snw_element *common = snw_element_child(source, "technique_common");
    const snw_element *accessor = common ? snw_element_child(common, "accessor") : NULL;
    if (!array || !accessor) return dae_fail(d, source, "it has no floats with an accessor");
    double size[3] = {0, 1, 0}; // count, stride, offset
    static const char *const key[] = {"count", "stride", "offset"};
    for (int i = 0; i < 3; i++)
        SNW_TRY(snw_element_numbers(accessor, key[i], 1, &size[i], d->r->err));
    if (!(size[0] >= 0 && size[0] <= 3 * SNW_MESH_FACES && size[1] >= 3 && size[1] <= 100 &&
          size[2] >= 0 && size[2] <= 1e6))
        return dae_fail(d, accessor, "its count, stride or offset is out of range");
    const int n = (int)size[0], stride = (int)size[1];
    const char *at = array->text;
    if (!may_read(d, at)) return dae_fail(d, array, "the scene takes too long to read");
    // as many numbers as the text can have
    if ((size_t)n * (size_t)stride > strlen(at) + 1)
        return dae_fail(d, accessor, "its count is more than the array has");
    out->n = n;
    out->at = snw_pool_array(d->r->pool, (size_t)n + 1, sizeof *out->at);
    if (!out->at) return snw_mesh_no_memory(d->r);
    for (int skip = (int)size[2], i = -skip; i < n * stride; i++) {
        char *rest;
        const double x = strtod(at, &rest);
        if (rest == at) {
            if (i >= 0 && i % stride >= 3 && i / stride == n - 1) break;
            return dae_fail(d, array, "it has fewer numbers than its accessor says");
        }
        at = rest;
        if (i >= 0 && i % stride < 3) out->at[i / stride][i % stride] = x;
    }
    return SNW_OK;
}

// Vertices of a primitive: offset of their indices, how many each corner has, their positions.
typedef struct corner_inputs {
    int offset, step;
    const snw_element *source;
} corner_inputs;

static snw_status read_inputs(dae *d, const snw_element *primitive, corner_inputs *out) {
    *out = (corner_inputs){.offset = -1};
    for (const snw_element *i = snw_element_child(primitive, "input"); i;
         i = snw_element_again(i)) {
        double offset = 0;
        SNW_TRY(snw_element_numbers(i, "offset", 1, &offset, d->r->err));
        if (!(offset >= 0 && offset <= 100)) return dae_fail(d, i, "its offset is out of range");
        if (offset + 1 > out->step) out->step = (int)offset + 1;
        const char *semantic = snw_element_attribute(i, "semantic");
        if (!semantic || strcmp(semantic, "VERTEX") != 0) continue;
        const snw_element *vertices = find_id(d, snw_element_attribute(i, "source"));
        const snw_element *own = vertices ? snw_element_child(vertices, "input") : NULL;
        while (own && (!snw_element_attribute(own, "semantic") ||
                       strcmp(snw_element_attribute(own, "semantic"), "POSITION") != 0))
            own = snw_element_again(own);
        out->source = own ? find_id(d, snw_element_attribute(own, "source")) : NULL;
        out->offset = (int)offset;
    }
    if (out->offset < 0 || !out->source) return dae_fail(d, primitive, "it has no positions");
    return SNW_OK;
}

// Next vertex of a list of indices; -1: it has ended, -2: there is no such position.
static int next_corner(const char **at, const corner_inputs *in, int n) {
    long own = -1;
    for (int i = 0; i < in->step; i++) {
        const long k = next_whole(at);
        if (k < 0) return -1;
        if (i == in->offset) own = k;
    }
    return own < n ? (int)own : -2;
}

// Triangles of one list <p>: polygons of `count` corners (NULL: of three), strips or fans.
static snw_status read_corners(dae *d, const snw_element *p, const corner_inputs *in,
                               const snw_element *count, bool strip, bool fan, const snw_affine *at,
                               int first, int n) {
    const char *text = p->text, *counts = count ? count->text : NULL;
    const bool endless = strip || fan;
    for (;;) {
        const long corners = counts ? next_whole(&counts) : 3;
        if (corners < 0) return SNW_OK;
        int start = -1, before = -1;
        for (long k = 0; endless || k < corners; k++) {
            const int now = next_corner(&text, in, n);
            d->r->line = p->line;
            if (now == -2) return dae_fail(d, p, "an index is beyond the positions");
            if (now == -1) {
                if (endless || (k == 0 && !counts)) return SNW_OK;
                return dae_fail(d, p, "it has fewer indices than its polygons need");
            }
            const bool turned = strip && k % 2 == 1;
            if (k >= 2)
                SNW_TRY(snw_mesh_add_triangle_at(d->r, at, first + (turned ? before : start),
                                                 first + (turned ? start : before), first + now));
            if (k == 0 || (strip && k >= 2)) start = k == 0 ? now : before;
            if (k >= 1 || strip) before = now;
        }
    }
}

static snw_status read_primitive(dae *d, const snw_element *e, const snw_affine *at) {
    const bool strip = is_named(e, "tristrips"), fan = is_named(e, "trifans");
    const bool list = is_named(e, "polylist"), polygons = is_named(e, "polygons");
    if (!strip && !fan && !list && !polygons && !is_named(e, "triangles")) return SNW_OK;
    const snw_element *corners = snw_element_child(e, "p");
    if (!may_read(d, corners ? corners->text : ""))
        return dae_fail(d, e, "the scene takes too long to read");
    if (!corners) return SNW_OK; // empty
    corner_inputs in;
    positions have = {0};
    SNW_TRY(read_inputs(d, e, &in));
    SNW_TRY(read_positions(d, in.source, &have));
    const int first = d->r->nvertex;
    d->r->line = e->line;
    for (int i = 0; i < have.n; i++) {
        const snw_vec3 p = {{have.at[i][0], have.at[i][1], have.at[i][2]}};
        SNW_TRY(snw_mesh_add_vertex_at(d->r, at, p));
    }
    const snw_element *count = list ? snw_element_child(e, "vcount") : NULL;
    if (list && !count) return dae_fail(d, e, "it has no <vcount>");
    for (const snw_element *p = corners; p; p = snw_element_again(p))
        SNW_TRY(read_corners(d, p, &in, count, strip, fan || polygons, at, first, have.n));
    return SNW_OK;
}

static snw_status read_geometry(dae *d, const snw_element *geometry, const snw_affine *at) {
    const snw_element *mesh = snw_element_child(geometry, "mesh");
    if (!mesh)
        return dae_fail(d, geometry, "it is no mesh; splines and convex meshes are not read");
    if (++d->visits > VISITS) return dae_fail(d, geometry, "there are too many of them");
    for (const snw_element *e = mesh->child; e; e = e->next) SNW_TRY(read_primitive(d, e, at));
    return SNW_OK;
}

// ---- nodes --------------------------------------------------------------------------------------

// *at <- *at times the transform e, if it is one
static snw_status read_transform(dae *d, const snw_element *e, snw_affine *at) {
    snw_affine own = snw_affine_identity();
    double x[16];
    if (is_named(e, "matrix")) { // by rows
        SNW_TRY(dae_numbers(d, e, 16, x));
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) own.A.e[i][j] = x[4 * i + j];
            own.b.e[i] = x[4 * i + 3];
        }
    } else if (is_named(e, "translate")) {
        SNW_TRY(dae_numbers(d, e, 3, own.b.e));
    } else if (is_named(e, "scale")) {
        SNW_TRY(dae_numbers(d, e, 3, x));
        for (int i = 0; i < 3; i++) own.A.e[i][i] = x[i];
    } else if (is_named(e, "rotate")) { // axis and angle in degrees
        SNW_TRY(dae_numbers(d, e, 4, x));
        const snw_vec3 axis = {{x[0], x[1], x[2]}};
        const double size = snw_norm(axis);
        if (size > 0) own.A = snw_so3_exp(snw_scale(x[3] * M_PI / 180 / size, axis));
    } else if (is_named(e, "lookat") || is_named(e, "skew")) {
        return dae_fail(d, e, "this transform is not read; write a <matrix>");
    }
    *at = snw_affine_mul(at, &own);
    return SNW_OK;
}

static snw_status read_node(dae *d, const snw_element *node, snw_affine at, int depth) {
    if (depth == DEPTH || ++d->visits > VISITS)
        return dae_fail(d, node, "nodes are nested too deeply, or too many");
    for (const snw_element *e = node->child; e; e = e->next) {
        const bool geometry = is_named(e, "instance_geometry");
        SNW_TRY(read_transform(d, e, &at));
        if (is_named(e, "instance_controller"))
            return dae_fail(d, e, "skins and morphs are not read; write the geometry");
        if (is_named(e, "node")) SNW_TRY(read_node(d, e, at, depth + 1));
        if (!geometry && !is_named(e, "instance_node")) continue;
        const snw_element *of = find_id(d, snw_element_attribute(e, "url"));
        if (!of) return dae_fail(d, e, "there is nothing with its url in this file");
        SNW_TRY(geometry ? read_geometry(d, of, &at) : read_node(d, of, at, depth + 1));
    }
    return SNW_OK;
}

// ---- the file -----------------------------------------------------------------------------------

// Map to metres with z upwards.
static snw_status read_asset(dae *d, snw_affine *out) {
    const snw_element *asset = snw_element_child(d->root, "asset");
    const snw_element *unit = asset ? snw_element_child(asset, "unit") : NULL;
    const snw_element *up = asset ? snw_element_child(asset, "up_axis") : NULL;
    double metre = 1;
    if (unit) SNW_TRY(snw_element_numbers(unit, "meter", 1, &metre, d->r->err));
    if (!(metre > 0 && metre < 1e6)) return dae_fail(d, unit, "its 'meter' is out of range");
    const bool z = up && strstr(up->text, "Z_UP"), x = up && strstr(up->text, "X_UP");
    static const snw_mat3 upright[3] = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                                        {{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}},   // Y_UP
                                        {{{0, -1, 0}, {0, 0, -1}, {1, 0, 0}}}}; // X_UP
    *out = (snw_affine){.A = upright[z ? 0 : x ? 2 : 1]};
    for (int i = 0; i < 9; i++) out->A.e[i / 3][i % 3] *= metre;
    return SNW_OK;
}

snw_status snw_mesh_read_dae(snw_mesh_builder *r, const char *bytes, size_t length) {
    dae d = {.r = r};
    snw_element *root;
    SNW_TRY(snw_element_parse(r->pool, r->path, bytes, length, &root, r->err));
    d.root = root;
    if (!is_named(root, "COLLADA")) return dae_fail(&d, root, "this is no COLLADA file");
    collect_ids(&d, root);
    d.named = snw_pool_array(r->pool, (size_t)d.nnamed + 1, sizeof *d.named);
    if (!d.named) return snw_mesh_no_memory(r);
    d.nnamed = 0;
    collect_ids(&d, root);
    qsort(d.named, (size_t)d.nnamed, sizeof *d.named, by_id);
    snw_affine at;
    SNW_TRY(read_asset(&d, &at));
    const snw_element *scene = snw_element_child(root, "scene");
    const snw_element *visual = scene ? snw_element_child(scene, "instance_visual_scene") : NULL;
    if (visual) visual = find_id(&d, snw_element_attribute(visual, "url"));
    if (visual) {
        SNW_TRY(read_node(&d, visual, at, 0));
    } else { // a file of geometries alone
        const snw_element *library = snw_element_child(root, "library_geometries");
        for (const snw_element *e = library ? library->child : NULL; e; e = e->next) {
            if (is_named(e, "geometry")) SNW_TRY(read_geometry(&d, e, &at));
        }
    }
    r->line = 0;
    return r->nface > 0 ? SNW_OK : SNW_MESH_FAIL(r, "the file has no triangles");
}
