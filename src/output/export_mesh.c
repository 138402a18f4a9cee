// SPDX-License-Identifier: MIT
//
// Triangle meshes of an export: rods as tubes through their rings; bars, tendons and chambers as
// tubes along points; bodies; the ground.
#include "base/fail.h"
#include "output/export_parts.h"

#include <string.h>

enum { RIM_ROD = 20, RIM_BAR = 8, RIM_BALL = 24, RIM_CYLINDER = 40 };

// ---- rings -------------------------------------------------------------------------------------

// A section in the frame of a track: centre, half widths as vectors, and normal.
typedef struct ring {
    int track;
    snw_vec3 at, u, v, along;
} ring;

// A vertex of a rim with unit half widths, and the surface normal there.
typedef struct corner {
    double y, z, ny, nz;
} corner;

// A round rim has n vertices; a square one has two per corner, with the normals of both sides.
static int make_rim(bool square, int n, corner *out) {
    static const double side[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    for (int i = 0; i < (square ? 4 : n); i++) {
        if (square) {
            const double ny = side[i][0], nz = side[i][1];
            out[2 * i] = (corner){ny + nz, nz - ny, ny, nz};
            out[2 * i + 1] = (corner){ny - nz, nz + ny, ny, nz};
        } else {
            const double c = cos(2 * M_PI * i / n), s = sin(2 * M_PI * i / n);
            out[i] = (corner){c, s, c, s};
        }
    }
    return square ? 8 : n;
}

static bool alloc_mesh(snw_pool *pool, int nvertex, int nindex, snw_mesh *m) {
    m->at = snw_pool_array(pool, (size_t)nvertex, sizeof *m->at);
    m->normal = snw_pool_array(pool, (size_t)nvertex, sizeof *m->normal);
    m->track = snw_pool_array(pool, (size_t)nvertex, sizeof *m->track);
    m->index = snw_pool_array(pool, (size_t)nindex, sizeof *m->index);
    return m->at && m->normal && m->track && m->index;
}

static void put_vertex(snw_mesh *m, int track, snw_vec3 at, snw_vec3 normal, int k) {
    m->track[m->nvertex] = track;
    m->at[m->nvertex] = at;
    if (m->ring) m->ring[m->nvertex] = k;
    m->normal[m->nvertex++] = normal;
}

static void put_triangle(snw_mesh *m, int a, int b, int c) {
    m->index[m->nindex++] = a;
    m->index[m->nindex++] = b;
    m->index[m->nindex++] = c;
}

static snw_vec3 on_rim(const ring *r, const corner *c) {
    return snw_add(r->at, snw_add(snw_scale(c->y, r->u), snw_scale(c->z, r->v)));
}

static snw_vec3 off_rim(const ring *r, const corner *c) {
    const snw_vec3 n = snw_add(snw_scale(c->ny / snw_dot(r->u, r->u), r->u),
                               snw_scale(c->nz / snw_dot(r->v, r->v), r->v));
    return snw_normalise(n);
}

// End cap of a tube. Every `step`-th vertex of the rim is a distinct position.
static void put_cap(snw_mesh *m, const ring *r, int k, const corner *rim, int nrim, int step,
                    bool last) {
    const snw_vec3 normal = snw_scale(last ? 1 : -1, r->along);
    const int middle = m->nvertex, n = nrim / step;
    put_vertex(m, r->track, r->at, normal, k);
    for (int i = 0; i < n; i++) put_vertex(m, r->track, on_rim(r, &rim[step * i]), normal, k);
    for (int i = 0; i < n; i++) {
        const int a = middle + 1 + i, b = middle + 1 + (i + 1) % n;
        put_triangle(m, middle, last ? a : b, last ? b : a);
    }
}

// m <- a tube through the rings, closed at both ends.
static snw_status make_tube(snw_export *e, bool square, int round, int n, const ring *r,
                            snw_mesh *m, snw_error *err) {
    corner rim[RIM_CYLINDER];
    const int nrim = make_rim(square, round, rim), sides = square ? 4 : nrim;
    const int step = nrim / sides, nvertex = n * nrim + 2 * (sides + 1);
    m->section = snw_pool_array(e->pool, (size_t)n, sizeof *m->section);
    if (!m->section) return snw_export_fail_memory(err);
    m->nsection = n;
    m->circular = !square;
    for (int k = 0; k < n; k++) {
        const double u = snw_norm(r[k].u), v = snw_norm(r[k].v);
        m->section[k] = (snw_tube_section){r[k].track, r[k].at, fmax(u, v)};
        m->circular = m->circular && fabs(u - v) <= 1e-6 * u;
    }
    if (m->rod >= 0) {
        m->ring = snw_pool_array(e->pool, (size_t)nvertex, sizeof *m->ring);
        if (!m->ring) return snw_export_fail_memory(err);
    }
    if (!alloc_mesh(e->pool, nvertex, 6 * n * sides, m)) {
        return snw_export_fail_memory(err);
    }
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < nrim; i++) {
            put_vertex(m, r[k].track, on_rim(&r[k], &rim[i]), off_rim(&r[k], &rim[i]), k);
        }
    }
    for (int k = 0; k + 1 < n; k++) {
        for (int i = 0; i < sides; i++) {
            const int a = k * nrim + step * i;
            const int b = square ? a + 1 : k * nrim + (i + 1) % nrim;
            put_triangle(m, a, b, a + nrim);
            put_triangle(m, b, b + nrim, a + nrim);
        }
    }
    put_cap(m, &r[0], 0, rim, nrim, step, false);
    put_cap(m, &r[n - 1], n - 1, rim, nrim, step, true);
    return SNW_OK;
}

static snw_mesh *add_mesh(snw_export *e, const char *name, snw_paint paint, int condition) {
    snw_mesh *m = &e->mesh[e->nmesh++];
    *m = (snw_mesh){.name = name, .paint = paint, .condition = condition, .rod = -1};
    return m;
}

int snw_export_only_track(const snw_mesh *m) {
    for (int i = 1; i < m->nvertex; i++) {
        if (m->track[i] != m->track[0]) return -1;
    }
    return m->track[0];
}

bool snw_export_is_conditional(const snw_export *e, const snw_mesh *m) {
    return m->condition >= 0 || m->first > 0 || m->last < e->nphase - 1;
}

snw_paint_colour snw_export_colour(const snw_export *e, snw_paint paint) {
    static const snw_paint_colour colour[SNW_NPAINT] = {
        {"rod", {0.624, 0.159, 0.078, 1}},       {"body", {0.153, 0.212, 0.287, 1}},
        {"strut", {0.262, 0.319, 0.381, 1}},     {"tendon", {0.028, 0.205, 0.238, 1}},
        {"chamber", {0.078, 0.347, 0.552, 0.4}}, {"ground", {0.62, 0.58, 0.5, 0.5}}};
    snw_paint_colour out = colour[paint];
    if (paint == SNW_PAINT_ROD && e->geometry.ntendon > 0) out.rgba[3] = 0.6;
    return out;
}

// ---- rods --------------------------------------------------------------------------------------

static snw_status mesh_add_rod(snw_export *e, int index, snw_error *err) {
    const snw_scene_rod *rod = &e->geometry.rod[index];
    const snw_trace *t = &e->trace[index];
    if (t->n < 2) return SNW_OK;
    ring *r = snw_pool_array(e->pool, (size_t)t->n, sizeof *r);
    if (!r) return snw_export_fail_memory(err);
    double widest = 0;
    for (int k = 0; k <= rod->count; k++) {
        widest = fmax(widest, fmax(rod->half[k][0], rod->half[k][1]));
    }
    // a rod of unknown width is drawn with an assumed one
    const double assumed = widest > 0 ? 0 : e->size / 120, least = 1e-3 * fmax(widest, assumed);
    for (int k = 0; k < t->n; k++) {
        const int a = t->station[k], b = a < rod->count ? a + 1 : a;
        double half[2];
        for (int i = 0; i < 2; i++) {
            const double w =
                (1 - t->fraction[k]) * rod->half[a][i] + t->fraction[k] * rod->half[b][i];
            half[i] = fmax(assumed > 0 ? assumed : w, least);
        }
        r[k] = (ring){.track = t->track[k],
                      .u = {{0, half[0], 0}},
                      .v = {{0, 0, half[1]}},
                      .along = {{1, 0, 0}}};
    }
    snw_mesh *m = add_mesh(e, rod->link, SNW_PAINT_ROD, rod->condition);
    m->rod = index;
    return make_tube(e, rod->section == SNW_SCENE_SQUARE, RIM_ROD, t->n, r, m, err);
}

// ---- lines through points ----------------------------------------------------------------------

// A point fixed in a track.
typedef struct line_point {
    int track;
    snw_vec3 at;
    double radius;
} line_point;

static snw_vec3 line_point_at(const snw_export *e, int frame, const line_point *b) {
    return snw_se3_point(snw_export_pose(e, frame, b->track), b->at);
}

// Frame in which a line is longest, where its directions are best defined.
static int mesh_longest(const snw_export *e, int n, const line_point *b, double *length) {
    int best = 0;
    *length = 0;
    for (int k = 0; k < e->n; k++) {
        double sum = 0;
        for (int i = 0; i + 1 < n; i++) {
            sum += snw_norm(snw_sub(line_point_at(e, k, &b[i + 1]), line_point_at(e, k, &b[i])));
        }
        if (sum > *length) best = k;
        *length = fmax(*length, sum);
    }
    return best;
}

static snw_vec3 mesh_across(snw_vec3 d) {
    const double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z);
    const snw_vec3 least = {{x <= y && x <= z, y < x && y <= z, z < x && z < y}};
    return snw_normalise(snw_cross(d, least));
}

// r <- rings at the points of a line, oriented by `frame`. Points that coincide there with their
// predecessor are omitted. Returns their number.
static int make_line_rings(const snw_export *e, int frame, double least_length, int n,
                           line_point *b, ring *r) {
    snw_vec3 d = {{1, 0, 0}}, u = {{0, 1, 0}};
    int kept = 1;
    for (int i = 1; i < n; i++) {
        if (snw_norm(snw_sub(line_point_at(e, frame, &b[i]),
                             line_point_at(e, frame, &b[kept - 1]))) > least_length) {
            b[kept++] = b[i];
        }
    }
    for (int i = 0; i < kept; i++) {
        const int before = i > 0 ? i - 1 : 0, after = i + 1 < kept ? i + 1 : i;
        const snw_vec3 chord =
            snw_sub(line_point_at(e, frame, &b[after]), line_point_at(e, frame, &b[before]));
        const double length = snw_norm(chord);
        if (length > least_length) d = snw_scale(1 / length, chord);
        // keep the lateral direction as far as possible
        const snw_vec3 side = snw_sub(u, snw_scale(snw_dot(u, d), d));
        u = i > 0 && snw_norm(side) > 0.1 ? snw_normalise(side) : mesh_across(d);
        const snw_mat3 R = snw_export_pose(e, frame, b[i].track).R;
        r[i] = (ring){b[i].track, b[i].at, snw_rotate_inv(R, snw_scale(b[i].radius, u)),
                      snw_rotate_inv(R, snw_scale(b[i].radius, snw_cross(d, u))),
                      snw_rotate_inv(R, d)};
    }
    return kept;
}

static snw_status mesh_add_line(snw_export *e, const char *name, snw_paint paint, int condition,
                                int n, line_point *b, int round, snw_error *err) {
    double length;
    if (n < 2) return SNW_OK;
    const int frame = mesh_longest(e, n, b, &length);
    const double least_length = 1e-6 * e->size;
    if (!(length > least_length)) return SNW_OK;
    ring *r = snw_pool_array(e->pool, (size_t)n, sizeof *r);
    if (!r) return snw_export_fail_memory(err);
    const int kept = make_line_rings(e, frame, least_length, n, b, r);
    if (kept < 2) return SNW_OK;
    return make_tube(e, false, round, kept, r, add_mesh(e, name, paint, condition), err);
}

static snw_status add_bar(snw_export *e, const snw_scene_bar *bar, snw_error *err) {
    const double radius = e->size / (bar->rail ? 290 : 200);
    line_point b[2] = {{.track = bar->from, .radius = radius},
                       {.track = bar->to, .radius = radius}};
    return mesh_add_line(e, bar->link, SNW_PAINT_STRUT, bar->condition, 2, b, RIM_BAR, err);
}

// out <- points of a tendon at the rings between two neighbouring stations of a rod.
static int points_between(const snw_export *e, const snw_scene_point *p, const snw_scene_point *q,
                          double least, int room, line_point *out) {
    int n = 0;
    for (int i = 0; i < e->geometry.nrod; i++) {
        const snw_trace *t = &e->trace[i];
        for (int k = 0; k < t->n && n < room; k++) {
            const snw_track *track = &e->track[t->track[k]];
            const double s = track->fraction;
            if (s == 0 || track->a != p->node || track->b != q->node) continue;
            out[n++] =
                (line_point){t->track[k], snw_add(snw_scale(1 - s, p->at), snw_scale(s, q->at)),
                             fmax((1 - s) * p->radius + s * q->radius, least)};
        }
    }
    return n;
}

static snw_status mesh_add_tendon(snw_export *e, const snw_scene_tendon *m, snw_error *err) {
    const double least = e->size / 420;
    const int most = e->ntrack + m->n;
    line_point *b = snw_pool_array(e->pool, (size_t)most, sizeof *b);
    if (!b) return snw_export_fail_memory(err);
    int n = 0;
    for (int i = 0; i < m->n; i++) {
        const snw_scene_point *p = &m->point[i];
        const int track = p->node < 0 ? e->info->nnode : p->node;
        b[n++] = (line_point){track, p->at, fmax(m->line ? 0 : p->radius, least)};
        const int left = m->n - i - 1;
        if (left > 0) n += points_between(e, p, &m->point[i + 1], least, most - n - left, b + n);
    }
    return mesh_add_line(e, m->name, m->line ? SNW_PAINT_TENDON : SNW_PAINT_CHAMBER, -1, n, b,
                         m->line ? RIM_BAR : RIM_ROD, err);
}

// ---- bodies ------------------------------------------------------------------------------------

// Shapes about the origin of their axes, z the axis of round ones; mesh_place moves them.

// A box as a square tube along x.
static snw_status add_box(snw_export *e, snw_mesh *m, int track, const double size[3],
                          snw_error *err) {
    ring r[2];
    for (int i = 0; i < 2; i++) {
        const snw_vec3 at = {{(i - 0.5) * size[0], 0, 0}};
        r[i] = (ring){track, at, {{0, size[1] / 2, 0}}, {{0, 0, size[2] / 2}}, {{1, 0, 0}}};
    }
    return make_tube(e, true, 0, 2, r, m, err);
}

static snw_status add_cylinder(snw_export *e, snw_mesh *m, int track, double radius, double length,
                               snw_error *err) {
    ring r[2];
    for (int i = 0; i < 2; i++) {
        const snw_vec3 at = {{0, 0, (i - 0.5) * length}};
        r[i] = (ring){track, at, {{radius, 0, 0}}, {{0, radius, 0}}, {{0, 0, 1}}};
    }
    return make_tube(e, false, RIM_CYLINDER, 2, r, m, err);
}

static snw_status add_torus(snw_export *e, snw_mesh *m, int track, double radius, double section,
                            snw_error *err) {
    const int n = RIM_CYLINDER, rows = RIM_ROD;
    if (!alloc_mesh(e->pool, n * rows, 6 * n * rows, m)) return snw_export_fail_memory(err);
    for (int i = 0; i < n; i++) {
        const double a = 2 * M_PI * i / n;
        const snw_vec3 out = {{cos(a), sin(a), 0}};
        for (int j = 0; j < rows; j++) {
            const double b = 2 * M_PI * j / rows;
            const snw_vec3 d = {{cos(b) * out.x, cos(b) * out.y, sin(b)}};
            put_vertex(m, track, snw_add(snw_scale(radius, out), snw_scale(section, d)), d, 0);
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < rows; j++) {
            const int next = (i + 1) % n, k = (j + 1) % rows;
            put_triangle(m, rows * i + j, rows * next + j, rows * i + k);
            put_triangle(m, rows * i + k, rows * next + j, rows * next + k);
        }
    }
    return SNW_OK;
}

// Triangles: a smooth surface with shared vertices, one with edges by faces.
static snw_status add_surface(snw_export *e, snw_mesh *m, int track, const snw_scene_triangles *t,
                              snw_error *err) {
    if (!alloc_mesh(e->pool, t->smooth ? t->nvertex : 3 * t->nface, 3 * t->nface, m))
        return snw_export_fail_memory(err);
    for (int i = 0; t->smooth && i < t->nvertex; i++)
        put_vertex(m, track, t->vertex[i], (snw_vec3){{0}}, 0);
    for (int f = 0; f < t->nface; f++) {
        snw_vec3 p[3];
        int at[3];
        for (int k = 0; k < 3; k++) p[k] = t->vertex[t->face[f][k]];
        const snw_vec3 normal = snw_cross(snw_sub(p[1], p[0]), snw_sub(p[2], p[0]));
        for (int k = 0; k < 3; k++) {
            at[k] = t->smooth ? t->face[f][k] : m->nvertex;
            if (t->smooth)
                m->normal[at[k]] = snw_add(m->normal[at[k]], normal);
            else
                put_vertex(m, track, p[k], normal, 0);
        }
        put_triangle(m, at[0], at[1], at[2]);
    }
    for (int i = 0; i < m->nvertex; i++) {
        const double size = snw_norm(m->normal[i]);
        m->normal[i] = size > 0 ? snw_scale(1 / size, m->normal[i]) : (snw_vec3){{0, 0, 1}};
    }
    return SNW_OK;
}

// A ball, or with a length a capsule: two halves, that far apart, and what is between them.
static snw_status add_ball(snw_export *e, snw_mesh *m, int track, double radius, double length,
                           snw_error *err) {
    const int n = RIM_BALL, half = RIM_BALL / 4, rows = 2 * half;
    const int extra = length > 0; // the equator twice
    if (!alloc_mesh(e->pool, n * (rows - 1 + extra) + 2, 6 * n * (rows - 1 + extra), m)) {
        return snw_export_fail_memory(err);
    }
    for (int j = 1; j < rows + extra; j++) {
        const int lower = extra && j > half;
        for (int i = 0; i < n; i++) {
            const double a = M_PI * (j - lower) / rows, b = 2 * M_PI * i / n;
            const snw_vec3 d = {{sin(a) * cos(b), sin(a) * sin(b), cos(a)}};
            snw_vec3 at = snw_scale(radius, d);
            at.z += lower ? -0.5 * length : 0.5 * length;
            put_vertex(m, track, at, d, 0);
        }
    }
    for (int pole = 0; pole < 2; pole++) {
        const snw_vec3 d = {{0, 0, pole ? -1 : 1}};
        put_vertex(m, track, snw_scale(radius + 0.5 * length, d), d, 0);
    }
    const int bands = rows + extra, top = n * (bands - 1), last = n * (bands - 2);
    for (int i = 0; i < n; i++) {
        const int k = (i + 1) % n;
        put_triangle(m, top, i, k);
        for (int j = 0; j + 2 < bands; j++) {
            put_triangle(m, n * j + i, n * (j + 1) + i, n * j + k);
            put_triangle(m, n * j + k, n * (j + 1) + i, n * (j + 1) + k);
        }
        put_triangle(m, top + 1, last + k, last + i);
    }
    return SNW_OK;
}

static void mesh_place(snw_mesh *m, const snw_se3 *pose) {
    for (int i = 0; i < m->nvertex; i++) {
        m->at[i] = snw_se3_point(*pose, m->at[i]);
        m->normal[i] = snw_rotate(pose->R, m->normal[i]);
    }
}

// A body without a shape is drawn as the box with its moments of inertia, or as a ball when no
// solid has these moments.
static snw_status add_any(snw_export *e, snw_mesh *m, int track, const snw_scene_body *b,
                          snw_error *err) {
    const double *i = b->inertia, trace = (i[0] + i[1] + i[2]) / 2;
    double size[3] = {0}, large = 0;
    bool real = true;
    for (int k = 0; k < 3; k++) {
        const double square = 12 * (trace - i[k]) / b->mass;
        if (isfinite(square) && square > 0) size[k] = sqrt(square);
        large = fmax(large, size[k]);
        real = real && trace - i[k] >= -1e-6 * trace;
    }
    if (!(real && large > e->size / 100 && large < e->size)) {
        return add_ball(e, m, track, e->size / 45, 0, err);
    }
    for (int k = 0; k < 3; k++) size[k] = fmax(size[k], large / 12);
    return add_box(e, m, track, size, err);
}

static snw_status add_shape(snw_export *e, snw_mesh *m, int track, const snw_scene_body *b,
                            snw_error *err) {
    double size[3];
    for (int k = 0; k < 3; k++) size[k] = fmax(b->size[k], e->size / 400);
    switch (b->shape) {
    case SNW_SCENE_ANY:
        return add_any(e, m, track, b, err);
    case SNW_SCENE_BOX:
        return add_box(e, m, track, size, err);
    case SNW_SCENE_CYLINDER:
        return add_cylinder(e, m, track, size[0], size[1], err);
    case SNW_SCENE_SPHERE:
        return add_ball(e, m, track, size[0], 0, err);
    case SNW_SCENE_CAPSULE:
        return add_ball(e, m, track, size[0], size[1], err);
    case SNW_SCENE_TORUS:
        return add_torus(e, m, track, size[0], size[1], err);
    case SNW_SCENE_SURFACE:
        return add_surface(e, m, track, &b->surface, err);
    }
    return SNW_OK;
}

static snw_status mesh_add_body(snw_export *e, const snw_scene_body *b, snw_error *err) {
    const int track = b->node < 0 ? e->info->nnode : b->node;
    if (b->bare) {
        // a bar connects it to the end of its link
        line_point bar[2] = {{.track = track, .radius = e->size / 200},
                             {.track = track, .at = b->com, .radius = e->size / 200}};
        SNW_TRY(mesh_add_line(e, b->link, SNW_PAINT_STRUT, b->condition, 2, bar, RIM_BAR, err));
    }
    snw_mesh *m = add_mesh(e, b->link, SNW_PAINT_BODY, b->condition);
    SNW_TRY(add_shape(e, m, track, b, err));
    mesh_place(m, &b->pose);
    return SNW_OK;
}

// ---- ground, phases ----------------------------------------------------------------------------

static snw_status add_ground(snw_export *e, const snw_scene_ground *g, snw_error *err) {
    static const double side[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    const snw_vec3 n = snw_normalise(g->normal), u = mesh_across(n), v = snw_cross(n, u);
    const snw_vec3 middle = snw_scale(0.5, snw_add(e->low, e->high));
    const double away = snw_dot(n, snw_sub(middle, g->at)), half = 0.9 * e->size;
    const snw_vec3 at = snw_sub(middle, snw_scale(away, n));
    snw_mesh *m = add_mesh(e, g->name, SNW_PAINT_GROUND, -1);
    if (!alloc_mesh(e->pool, 4, 6, m)) return snw_export_fail_memory(err);
    for (int i = 0; i < 4; i++) {
        const snw_vec3 off =
            snw_add(snw_scale(half * side[i][0], u), snw_scale(half * side[i][1], v));
        put_vertex(m, e->info->nnode, snw_add(at, off), n, 0);
    }
    put_triangle(m, 0, 1, 2);
    put_triangle(m, 0, 2, 3);
    return SNW_OK;
}

// Add the meshes of e->geometry.
static snw_status add_all(snw_export *e, snw_error *err) {
    const snw_scene_geometry *l = &e->geometry;
    for (int i = 0; i < l->nrod; i++) SNW_TRY(mesh_add_rod(e, i, err));
    for (int i = 0; i < l->nbody; i++) SNW_TRY(mesh_add_body(e, &l->body[i], err));
    for (int i = 0; i < l->nbar; i++) SNW_TRY(add_bar(e, &l->bar[i], err));
    for (int i = 0; i < l->ntendon; i++) SNW_TRY(mesh_add_tendon(e, &l->tendon[i], err));
    for (int i = 0; i < l->nground; i++) SNW_TRY(add_ground(e, &l->ground[i], err));
    return SNW_OK;
}

static bool same_mesh(const snw_mesh *a, const snw_mesh *b) {
    if (strcmp(a->name, b->name) != 0 || a->paint != b->paint || a->condition != b->condition ||
        a->rod != b->rod || a->nvertex != b->nvertex || a->nindex != b->nindex) {
        return false;
    }
    const size_t n = (size_t)a->nvertex;
    return memcmp(a->at, b->at, n * sizeof *a->at) == 0 &&
           memcmp(a->normal, b->normal, n * sizeof *a->normal) == 0 &&
           memcmp(a->track, b->track, n * sizeof *a->track) == 0;
}

// Merge the meshes from `from` on, of this phase, with equal meshes of the phase before.
static void merge_phases(snw_export *e, int from, int phase) {
    int kept = from;
    for (int i = from; i < e->nmesh; i++) {
        e->mesh[i].first = e->mesh[i].last = phase;
        bool known = false;
        for (int k = 0; k < from && !known; k++) {
            known = e->mesh[k].last == phase - 1 && same_mesh(&e->mesh[k], &e->mesh[i]);
            if (known) e->mesh[k].last = phase;
        }
        if (!known) e->mesh[kept++] = e->mesh[i];
    }
    e->nmesh = kept;
}

snw_status snw_export_build_meshes(snw_export *e, snw_error *err) {
    size_t most = 0;
    for (int i = 0; i < e->nphase; i++) {
        const snw_scene_geometry *l = &e->phase[i].geometry;
        most += (size_t)(l->nrod + 2 * l->nbody + l->nbar + l->ntendon + l->nground);
    }
    e->mesh = snw_pool_array(e->pool, most, sizeof *e->mesh);
    if (!e->mesh) return snw_export_fail_memory(err);
    for (int i = 0; i < e->nphase; i++) {
        const int from = e->nmesh;
        e->geometry = e->phase[i].geometry;
        SNW_TRY(add_all(e, err));
        merge_phases(e, from, i);
    }
    e->geometry = e->phase[0].geometry;
    return SNW_OK;
}
