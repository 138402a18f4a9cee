// SPDX-License-Identifier: MIT
//
// Surfaces: rods as rings along their tracks, bodies, bars, tendons and chambers as rings along
// points.
#include "base/fail.h"
#include "output/export_parts.h"

#include <string.h>

enum { RIM_ROD = 20, RIM_BAR = 8, RIM_BALL = 24, RIM_CYLINDER = 40 };

// ---- rings -------------------------------------------------------------------------------------

// A section in the frame of a track: its middle, half widths as vectors, and its normal.
typedef struct ring {
    int track;
    snw_vec3 at, u, v, along;
} ring;

// a corner of the rim of half widths one, and the normal there
typedef struct corner {
    double y, z, ny, nz;
} corner;

// Round ones have n corners, square ones two at each of theirs: a normal for either side.
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

static bool take_mesh(snw_pool *pool, int nvertex, int nindex, snw_mesh *m) {
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

// the end of a tube, seen from outside; every `step`th corner of the rim is another place
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
    if (m->rod >= 0) {
        m->ring = snw_pool_array(e->pool, (size_t)nvertex, sizeof *m->ring);
        if (!m->ring) return snw_export_memory(err);
    }
    if (!take_mesh(e->pool, nvertex, 6 * n * sides, m)) {
        return snw_export_memory(err);
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

// ---- rods --------------------------------------------------------------------------------------

static snw_status mesh_add_rod(snw_export *e, int index, snw_error *err) {
    const snw_look_rod *rod = &e->look.rod[index];
    const snw_trace *t = &e->trace[index];
    if (t->n < 2) return SNW_OK;
    ring *r = snw_pool_array(e->pool, (size_t)t->n, sizeof *r);
    if (!r) return snw_export_memory(err);
    double widest = 0;
    for (int k = 0; k <= rod->count; k++) {
        widest = fmax(widest, fmax(rod->half[k][0], rod->half[k][1]));
    }
    // what is of no known width is drawn as a line of some
    const double assumed = widest > 0 ? 0 : e->size / 120, least = 1e-3 * fmax(widest, assumed);
    for (int k = 0; k < t->n; k++) {
        const int a = t->station[k], b = a < rod->count ? a + 1 : a;
        double half[2];
        for (int i = 0; i < 2; i++) {
            const double w = (1 - t->share[k]) * rod->half[a][i] + t->share[k] * rod->half[b][i];
            half[i] = fmax(assumed > 0 ? assumed : w, least);
        }
        r[k] = (ring){.track = t->track[k],
                      .u = {{0, half[0], 0}},
                      .v = {{0, 0, half[1]}},
                      .along = {{1, 0, 0}}};
    }
    snw_mesh *m = add_mesh(e, rod->link, SNW_PAINT_ROD, rod->condition);
    m->rod = index;
    return make_tube(e, rod->section == SNW_LOOK_SQUARE, RIM_ROD, t->n, r, m, err);
}

// ---- lines through points ----------------------------------------------------------------------

// a point that follows a track
typedef struct bead {
    int track;
    snw_vec3 at;
    double radius;
} bead;

static snw_vec3 bead_at(const snw_export *e, int frame, const bead *b) {
    return snw_se3_point(snw_export_pose(e, frame, b->track), b->at);
}

// the frame in which a line is longest, so that its directions are told
static int mesh_longest(const snw_export *e, int n, const bead *b, double *length) {
    int best = 0;
    *length = 0;
    for (int k = 0; k < e->n; k++) {
        double sum = 0;
        for (int i = 0; i + 1 < n; i++) {
            sum += snw_norm(snw_sub(bead_at(e, k, &b[i + 1]), bead_at(e, k, &b[i])));
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

// Beads that lie on top of the one before, in the frame that tells directions, are left out.
static int lay_beads(const snw_export *e, int frame, double grain, int n, bead *b, ring *r) {
    snw_vec3 d = {{1, 0, 0}}, u = {{0, 1, 0}};
    int kept = 1;
    for (int i = 1; i < n; i++) {
        if (snw_norm(snw_sub(bead_at(e, frame, &b[i]), bead_at(e, frame, &b[kept - 1]))) > grain) {
            b[kept++] = b[i];
        }
    }
    for (int i = 0; i < kept; i++) {
        const int before = i > 0 ? i - 1 : 0, behind = i + 1 < kept ? i + 1 : i;
        const snw_vec3 chord =
            snw_sub(bead_at(e, frame, &b[behind]), bead_at(e, frame, &b[before]));
        const double length = snw_norm(chord);
        if (length > grain) d = snw_scale(1 / length, chord);
        // the side stays as it was, as far as it can
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
                                int n, bead *b, int round, snw_error *err) {
    double length;
    if (n < 2) return SNW_OK;
    const int frame = mesh_longest(e, n, b, &length);
    const double grain = 1e-6 * e->size;
    if (!(length > grain)) return SNW_OK;
    ring *r = snw_pool_array(e->pool, (size_t)n, sizeof *r);
    if (!r) return snw_export_memory(err);
    const int kept = lay_beads(e, frame, grain, n, b, r);
    if (kept < 2) return SNW_OK;
    return make_tube(e, false, round, kept, r, add_mesh(e, name, paint, condition), err);
}

static snw_status add_bar(snw_export *e, const snw_look_bar *bar, snw_error *err) {
    const double radius = e->size / (bar->rail ? 290 : 200);
    bead b[2] = {{.track = bar->from, .radius = radius}, {.track = bar->to, .radius = radius}};
    return mesh_add_line(e, bar->link, SNW_PAINT_STRUT, bar->condition, 2, b, RIM_BAR, err);
}

// Between two neighbouring stations of a rod a tendon follows its rings.
static int fill_in(const snw_export *e, const snw_look_point *p, const snw_look_point *q,
                   double least, int room, bead *out) {
    int n = 0;
    for (int i = 0; i < e->look.nrod; i++) {
        const snw_trace *t = &e->trace[i];
        for (int k = 0; k < t->n && n < room; k++) {
            const snw_track *track = &e->track[t->track[k]];
            const double s = track->share;
            if (s == 0 || track->a != p->node || track->b != q->node) continue;
            out[n++] = (bead){t->track[k], snw_add(snw_scale(1 - s, p->at), snw_scale(s, q->at)),
                              fmax((1 - s) * p->radius + s * q->radius, least)};
        }
    }
    return n;
}

static snw_status mesh_add_measure(snw_export *e, const snw_look_tendon *m, snw_error *err) {
    const double least = e->size / 420;
    const int most = e->ntrack + m->n;
    bead *b = snw_pool_array(e->pool, (size_t)most, sizeof *b);
    if (!b) return snw_export_memory(err);
    int n = 0;
    for (int i = 0; i < m->n; i++) {
        const snw_look_point *p = &m->point[i];
        const int track = p->node < 0 ? e->info->nnode : p->node;
        b[n++] = (bead){track, p->at, fmax(m->tendon ? 0 : p->radius, least)};
        const int left = m->n - i - 1;
        if (left > 0) n += fill_in(e, p, &m->point[i + 1], least, most - n - left, b + n);
    }
    return mesh_add_line(e, m->name, m->tendon ? SNW_PAINT_TENDON : SNW_PAINT_CHAMBER, -1, n, b,
                         m->tendon ? RIM_BAR : RIM_ROD, err);
}

// ---- bodies ------------------------------------------------------------------------------------

// a box as a square tube along x, with the widths of all three
static snw_status add_box(snw_export *e, snw_mesh *m, int track, snw_vec3 at, const double size[3],
                          snw_error *err) {
    ring r[2];
    for (int i = 0; i < 2; i++) {
        const snw_vec3 off = {{(i - 0.5) * size[0], 0, 0}};
        r[i] = (ring){
            track, snw_add(at, off), {{0, size[1] / 2, 0}}, {{0, 0, size[2] / 2}}, {{1, 0, 0}}};
    }
    return make_tube(e, true, 0, 2, r, m, err);
}

static snw_status add_cylinder(snw_export *e, snw_mesh *m, int track, const snw_look_body *b,
                               double least, snw_error *err) {
    const double length = snw_norm(b->axis), radius = fmax(b->size[0], least);
    const snw_vec3 d = length > 0 ? snw_scale(1 / length, b->axis) : (snw_vec3){{0, 0, 1}},
                   u = snw_scale(radius, mesh_across(d));
    ring r[2];
    for (int i = 0; i < 2; i++) {
        const snw_vec3 at = snw_add(b->com, snw_scale((i - 0.5) * fmax(b->size[1], least), d));
        r[i] = (ring){track, at, u, snw_cross(d, u), d};
    }
    return make_tube(e, false, RIM_CYLINDER, 2, r, m, err);
}

static snw_status add_ball(snw_export *e, snw_mesh *m, int track, snw_vec3 at, double radius,
                           snw_error *err) {
    const int n = RIM_BALL, rows = RIM_BALL / 2;
    if (!take_mesh(e->pool, n * (rows - 1) + 2, 6 * n * (rows - 1), m)) {
        return snw_export_memory(err);
    }
    for (int j = 1; j < rows; j++) {
        for (int i = 0; i < n; i++) {
            const double a = M_PI * j / rows, b = 2 * M_PI * i / n;
            const snw_vec3 d = {{sin(a) * cos(b), sin(a) * sin(b), cos(a)}};
            put_vertex(m, track, snw_add(at, snw_scale(radius, d)), d, 0);
        }
    }
    for (int pole = 0; pole < 2; pole++) {
        const snw_vec3 d = {{0, 0, pole ? -1 : 1}};
        put_vertex(m, track, snw_add(at, snw_scale(radius, d)), d, 0);
    }
    const int top = n * (rows - 1), last = n * (rows - 2);
    for (int i = 0; i < n; i++) {
        const int k = (i + 1) % n;
        put_triangle(m, top, i, k);
        for (int j = 0; j + 2 < rows; j++) {
            put_triangle(m, n * j + i, n * (j + 1) + i, n * j + k);
            put_triangle(m, n * j + k, n * (j + 1) + i, n * (j + 1) + k);
        }
        put_triangle(m, top + 1, last + k, last + i);
    }
    return SNW_OK;
}

// Nobody said what it looks like: the box that has its moments of inertia, or a ball where no body
// has them.
static snw_status add_any(snw_export *e, snw_mesh *m, int track, const snw_look_body *b,
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
        return add_ball(e, m, track, b->com, e->size / 45, err);
    }
    for (int k = 0; k < 3; k++) size[k] = fmax(size[k], large / 12);
    return add_box(e, m, track, b->com, size, err);
}

static snw_status mesh_add_body(snw_export *e, const snw_look_body *b, snw_error *err) {
    const double least = e->size / 400;
    const int track = b->node < 0 ? e->info->nnode : b->node;
    if (b->bare) {
        // away from the end of its link it hangs on a bar
        bead bar[2] = {{.track = track, .radius = e->size / 200},
                       {.track = track, .at = b->com, .radius = e->size / 200}};
        SNW_TRY(mesh_add_line(e, b->link, SNW_PAINT_STRUT, b->condition, 2, bar, RIM_BAR, err));
    }
    snw_mesh *m = add_mesh(e, b->link, SNW_PAINT_BODY, b->condition);
    switch (b->shape) {
    case SNW_LOOK_ANY:
        return add_any(e, m, track, b, err);
    case SNW_LOOK_BOX: {
        double size[3];
        for (int k = 0; k < 3; k++) size[k] = fmax(b->size[k], least);
        return add_box(e, m, track, b->com, size, err);
    }
    case SNW_LOOK_CYLINDER:
        return add_cylinder(e, m, track, b, least, err);
    case SNW_LOOK_SPHERE:
        return add_ball(e, m, track, b->com, fmax(b->size[0], least), err);
    }
    return SNW_OK;
}

// ---- ground, and all ---------------------------------------------------------------------------

static snw_status add_ground(snw_export *e, const snw_look_ground *g, snw_error *err) {
    static const double side[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    const snw_vec3 n = snw_normalise(g->normal), u = mesh_across(n), v = snw_cross(n, u);
    const snw_vec3 middle = snw_scale(0.5, snw_add(e->low, e->high));
    const double away = snw_dot(n, snw_sub(middle, g->at)), half = 0.9 * e->size;
    const snw_vec3 at = snw_sub(middle, snw_scale(away, n));
    snw_mesh *m = add_mesh(e, g->name, SNW_PAINT_GROUND, -1);
    if (!take_mesh(e->pool, 4, 6, m)) return snw_export_memory(err);
    for (int i = 0; i < 4; i++) {
        const snw_vec3 off =
            snw_add(snw_scale(half * side[i][0], u), snw_scale(half * side[i][1], v));
        put_vertex(m, e->info->nnode, snw_add(at, off), n, 0);
    }
    put_triangle(m, 0, 1, 2);
    put_triangle(m, 0, 2, 3);
    return SNW_OK;
}

// the meshes of e->look
static snw_status add_all(snw_export *e, snw_error *err) {
    const snw_look *l = &e->look;
    for (int i = 0; i < l->nrod; i++) SNW_TRY(mesh_add_rod(e, i, err));
    for (int i = 0; i < l->nbody; i++) SNW_TRY(mesh_add_body(e, &l->body[i], err));
    for (int i = 0; i < l->nbar; i++) SNW_TRY(add_bar(e, &l->bar[i], err));
    for (int i = 0; i < l->ntendon; i++) SNW_TRY(mesh_add_measure(e, &l->tendon[i], err));
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

// Of the meshes from `from` on those stay that the era before did not have.
static void join_eras(snw_export *e, int from, int phase) {
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

snw_status snw_export_build(snw_export *e, snw_error *err) {
    size_t most = 0;
    for (int i = 0; i < e->nphase; i++) {
        const snw_look *l = &e->phase[i].look;
        most += (size_t)(l->nrod + 2 * l->nbody + l->nbar + l->ntendon + l->nground);
    }
    e->mesh = snw_pool_array(e->pool, most, sizeof *e->mesh);
    if (!e->mesh) return snw_export_memory(err);
    for (int i = 0; i < e->nphase; i++) {
        const int from = e->nmesh;
        e->look = e->phase[i].look;
        SNW_TRY(add_all(e, err));
        join_eras(e, from, i);
    }
    e->look = e->phase[0].look;
    return SNW_OK;
}
