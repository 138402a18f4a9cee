// SPDX-License-Identifier: MIT
//
// Convex hull, built point by point: faces that see a new point are replaced by those from their
// horizon to the point. Points within a tolerance of the hull are left out, and the result is
// checked: closed, and no point beyond a face.
#include "model/convex_hull.h"

#include "base/fail.h"

#include <math.h>
#include <stdbool.h>

static const double TOLERANCE = 1e-10; // over the size of the set of points

typedef struct hull_face {
    int v[3];
    snw_vec3 n;
    double level;
    bool sees; // the point being added
} hull_face;

typedef struct hull_build {
    const snw_vec3 *point;
    int n, nface;
    hull_face *face;
    int (*horizon)[2];
    snw_vec3 middle; // within
    double tolerance;
} hull_build;

static double face_height(const hull_face *f, snw_vec3 p) { return snw_dot(f->n, p) - f->level; }

static hull_face hull_face_of(const hull_build *b, int i, int j, int k) {
    const snw_vec3 *p = b->point;
    hull_face f = {.v = {i, j, k}};
    f.n = snw_cross(snw_sub(p[j], p[i]), snw_sub(p[k], p[i]));
    const double size = snw_norm(f.n);
    if (size > 0) f.n = snw_scale(1 / size, f.n);
    f.level = snw_dot(f.n, p[i]);
    return f;
}

// Add a face with the middle on its inner side.
static void hull_add(hull_build *b, int i, int j, int k) {
    hull_face f = hull_face_of(b, i, j, k);
    if (face_height(&f, b->middle) > 0) f = hull_face_of(b, i, k, j);
    b->face[b->nface++] = f;
}

// Point furthest from the point, line or plane through those found before; distances of p.
static double hull_apart(const hull_build *b, const int *found, int n, snw_vec3 p) {
    const snw_vec3 w = snw_sub(p, b->point[found[0]]);
    if (n == 1) return snw_norm(w);
    const snw_vec3 a = snw_normalise(snw_sub(b->point[found[1]], b->point[found[0]]));
    if (n == 2) return snw_norm(snw_cross(a, w));
    const snw_vec3 c = snw_cross(a, snw_sub(b->point[found[2]], b->point[found[0]]));
    return fabs(snw_dot(snw_normalise(c), w));
}

// Four points that span a solid; false: there are none.
static bool hull_start(hull_build *b, double size) {
    int found[4] = {0};
    for (int n = 1; n < 4; n++) {
        double most = 0;
        for (int i = 0; i < b->n; i++) {
            const double apart = hull_apart(b, found, n, b->point[i]);
            if (!(apart > most)) continue;
            most = apart;
            found[n] = i;
        }
        if (!(most > 1e-6 * size)) return false;
    }
    b->middle = (snw_vec3){{0}};
    for (int k = 0; k < 4; k++) b->middle = snw_add(b->middle, snw_scale(0.25, b->point[found[k]]));
    for (int k = 0; k < 4; k++) hull_add(b, found[k], found[(k + 1) % 4], found[(k + 2) % 4]);
    return true;
}

// Has a face that is not seen the edge from j to i?
static bool is_horizon(const hull_build *b, int i, int j) {
    for (int f = 0; f < b->nface; f++) {
        const hull_face *at = &b->face[f];
        for (int k = 0; k < 3; k++) {
            if (at->v[k] == j && at->v[(k + 1) % 3] == i) return !at->sees;
        }
    }
    return false;
}

// Include point p; false: there are too many faces.
static bool hull_include(hull_build *b, int p) {
    int nhorizon = 0, kept = 0;
    bool any = false;
    for (int f = 0; f < b->nface; f++) {
        b->face[f].sees = face_height(&b->face[f], b->point[p]) > b->tolerance;
        any = any || b->face[f].sees;
    }
    if (!any) return true;
    for (int f = 0; f < b->nface; f++) {
        const hull_face *at = &b->face[f];
        for (int k = 0; at->sees && k < 3; k++) {
            const int i = at->v[k], j = at->v[(k + 1) % 3];
            if (!is_horizon(b, i, j)) continue;
            b->horizon[nhorizon][0] = i;
            b->horizon[nhorizon++][1] = j;
        }
    }
    for (int f = 0; f < b->nface; f++) {
        if (!b->face[f].sees) b->face[kept++] = b->face[f];
    }
    b->nface = kept;
    if (b->nface + nhorizon > SNW_HULL_FACES) return false;
    for (int k = 0; k < nhorizon; k++)
        b->face[b->nface++] = hull_face_of(b, b->horizon[k][0], b->horizon[k][1], p);
    return true;
}

// Closed, and without points beyond its faces.
static bool hull_is_sound(const hull_build *b) {
    for (int f = 0; f < b->nface; f++) {
        const hull_face *at = &b->face[f];
        if (!(face_height(at, b->middle) < 0)) return false;
        for (int k = 0; k < 3; k++) {
            if (!is_horizon(b, at->v[k], at->v[(k + 1) % 3])) return false;
        }
        for (int i = 0; i < b->n; i++) {
            if (face_height(at, b->point[i]) > 1000 * b->tolerance) return false;
        }
    }
    return true;
}

// Copy of the faces and of the vertices they use.
static snw_convex_hull *hull_copy(snw_pool *pool, const hull_build *b) {
    snw_convex_hull *c = snw_pool_take(pool, sizeof *c);
    int *to = snw_pool_array(pool, (size_t)b->n, sizeof *to);
    if (!c || !to) return NULL;
    snw_triangle_mesh *m = &c->mesh;
    m->nface = b->nface;
    m->face = snw_pool_array(pool, (size_t)b->nface, sizeof *m->face);
    m->vertex = snw_pool_array(pool, (size_t)b->nface * 3, sizeof *m->vertex);
    c->normal = snw_pool_array(pool, (size_t)b->nface, sizeof *c->normal);
    c->level = snw_pool_array(pool, (size_t)b->nface, sizeof *c->level);
    if (!m->face || !m->vertex || !c->normal || !c->level) return NULL;
    snw_vec3 sum = {{0}};
    for (int f = 0; f < b->nface; f++) {
        c->normal[f] = b->face[f].n;
        c->level[f] = b->face[f].level;
        for (int k = 0; k < 3; k++) {
            const int v = b->face[f].v[k];
            if (to[v] == 0) {
                m->vertex[m->nvertex] = b->point[v];
                sum = snw_add(sum, b->point[v]);
                to[v] = ++m->nvertex;
            }
            m->face[f][k] = to[v] - 1;
        }
    }
    const snw_vec3 mean = snw_scale(1.0 / m->nvertex, sum);
    c->inner = INFINITY;
    for (int f = 0; f < b->nface; f++)
        c->inner = fmin(c->inner, c->level[f] - snw_dot(c->normal[f], mean));
    return c;
}

snw_status snw_convex_hull_create(snw_pool *pool, int n, const snw_vec3 *point,
                                  snw_convex_hull **out, snw_error *err) {
    double size = 0;
    if (n > SNW_HULL_POINTS) {
        return snw_fail(err, SNW_E_MODEL, "a hull of %d points is too large, at most %d", n,
                        (int)SNW_HULL_POINTS);
    }
    for (int i = 0; i < n; i++) size = fmax(size, snw_norm(snw_sub(point[i], point[0])));
    hull_build b = {.point = point, .n = n, .tolerance = TOLERANCE * size};
    b.face = snw_pool_array(pool, SNW_HULL_FACES, sizeof *b.face);
    b.horizon = snw_pool_array(pool, 3 * (size_t)SNW_HULL_FACES, sizeof *b.horizon);
    if (!b.face || !b.horizon) return snw_fail_memory(err);
    if (n < 4 || !hull_start(&b, size)) {
        return snw_fail(err, SNW_E_MODEL,
                        "the points are in a plane; a hull needs four that are not");
    }
    for (int i = 0; i < n; i++) {
        if (hull_include(&b, i)) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "the hull has more than %d faces; use fewer points, or 'shape: mesh'",
                        (int)SNW_HULL_FACES);
    }
    for (int f = 0; f < b.nface; f++) b.face[f].sees = false;
    if (!hull_is_sound(&b)) {
        return snw_fail(err, SNW_E_MODEL,
                        "the hull is uncertain by rounding: points are nearly in a plane or at the "
                        "same place; leave out points that are not its corners");
    }
    *out = hull_copy(pool, &b);
    return *out ? SNW_OK : snw_fail_memory(err);
}

// ---- distance -----------------------------------------------------------------------------------

// Distance of y from a face, and its derivatives, from the face, the edge or the vertex closest to
// y; `feature` of snw_triangle_closest.
static double feature_distance(const snw_convex_hull *c, int f, int feature, snw_vec3 y,
                               snw_vec3 *n, snw_mat3 *H) {
    const int *v = c->mesh.face[f];
    *H = (snw_mat3){{{0}}};
    *n = c->normal[f];
    if (feature == 0) return snw_dot(*n, y) - c->level[f];
    const int k = (feature - 1) % 3;
    const snw_vec3 from = c->mesh.vertex[v[k]];
    snw_vec3 w = snw_sub(y, from), t = {{0}};
    if (feature <= 3) {
        t = snw_normalise(snw_sub(c->mesh.vertex[v[(k + 1) % 3]], from));
        w = snw_sub(w, snw_scale(snw_dot(t, w), t));
    }
    const double size = snw_norm(w);
    if (!(size > 0)) return size; // on the core: the normal of the face
    *n = snw_scale(1 / size, w);
    const snw_mat3 across = snw_mat3_add(snw_outer(*n, *n), snw_outer(t, t));
    *H = snw_mat3_scale(1 / size, snw_mat3_add(snw_mat3_identity(), snw_mat3_scale(-1, across)));
    return size;
}

double snw_convex_hull_distance(const snw_convex_hull *c, snw_vec3 y, snw_vec3 *n, snw_mat3 *H) {
    int best = 0, feature = 0;
    double highest = -INFINITY, nearest = INFINITY;
    for (int f = 0; f < c->mesh.nface; f++) {
        const double height = snw_dot(c->normal[f], y) - c->level[f];
        if (height > highest) {
            highest = height;
            if (!(highest > 0)) best = f;
        }
        if (!(height > 0) || height * height > nearest) continue;
        const int *v = c->mesh.face[f];
        const snw_vec3 corner[3] = {c->mesh.vertex[v[0]], c->mesh.vertex[v[1]],
                                    c->mesh.vertex[v[2]]};
        int what;
        const snw_vec3 w = snw_sub(y, snw_triangle_closest(corner, y, &what));
        if (!(snw_dot(w, w) < nearest)) continue;
        nearest = snw_dot(w, w);
        best = f;
        // above an edge between faces of one plane it is that plane
        feature = nearest - height * height > 1e-12 * nearest ? what : 0;
    }
    return feature_distance(c, best, feature, y, n, H);
}
