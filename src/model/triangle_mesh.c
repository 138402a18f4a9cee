// SPDX-License-Identifier: MIT
//
// Triangle meshes: merging of vertices, checks, a tree of boxes, signed distance. The sign is that
// of the product with the normal of the closest face, with the sum of the normals of both faces at
// an edge, and with their sum weighted by angles at a vertex: of a closed surface that does not cut
// itself it is right everywhere (Baerentzen and Aanaes, 2005).
#include "model/triangle_mesh.h"

#include "base/fail.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

// ---- names of places ----------------------------------------------------------------------------

typedef struct mesh_words {
    char text[120];
} mesh_words;

// "face 12" or "the face of line 80"
static mesh_words face_words(const snw_triangle_mesh *m, int f) {
    mesh_words w;
    if (m->line)
        (void)snprintf(w.text, sizeof w.text, "the face of line %d", m->line[f]);
    else
        (void)snprintf(w.text, sizeof w.text, "face %d", f + 1);
    return w;
}

static mesh_words edge_words(const snw_triangle_mesh *m, int a, int b) {
    mesh_words w;
    const snw_vec3 p = m->vertex[a], q = m->vertex[b];
    (void)snprintf(w.text, sizeof w.text, "from (%.5g, %.5g, %.5g) to (%.5g, %.5g, %.5g) m",
                   (double)p.x, (double)p.y, (double)p.z, (double)q.x, (double)q.y, (double)q.z);
    return w;
}

// ---- vertices -----------------------------------------------------------------------------------

typedef struct placed { // a vertex and its number
    snw_vec3 at;
    int index;
} placed;

static int compare_placed(const void *a, const void *b) {
    const placed *p = (const placed *)a, *q = (const placed *)b;
    for (int k = 0; k < 3; k++) {
        if (p->at.e[k] < q->at.e[k]) return -1;
        if (p->at.e[k] > q->at.e[k]) return 1;
    }
    return (p->index > q->index) - (p->index < q->index);
}

snw_status snw_mesh_weld(snw_pool *scratch, snw_triangle_mesh *m, snw_error *err) {
    placed *all = snw_pool_array(scratch, (size_t)m->nvertex, sizeof *all);
    int *to = snw_pool_array(scratch, (size_t)m->nvertex, sizeof *to);
    if (!all || !to) return snw_fail_memory(err);
    for (int i = 0; i < m->nvertex; i++) all[i] = (placed){m->vertex[i], i};
    qsort(all, (size_t)m->nvertex, sizeof *all, compare_placed);
    int n = 0;
    for (int i = 0; i < m->nvertex; i++) {
        bool same = i > 0;
        for (int k = 0; same && k < 3; k++) same = all[i].at.e[k] == all[i - 1].at.e[k];
        if (!same) m->vertex[n++] = all[i].at;
        to[all[i].index] = n - 1;
    }
    m->nvertex = n;
    for (int f = 0; f < m->nface; f++) {
        for (int k = 0; k < 3; k++) m->face[f][k] = to[m->face[f][k]];
    }
    return SNW_OK;
}

static snw_vec3 corner_of(const snw_triangle_mesh *m, int f, int k) {
    return m->vertex[m->face[f][k]];
}

// Twice the area along the normal.
static snw_vec3 face_area(const snw_triangle_mesh *m, int f) {
    const snw_vec3 a = corner_of(m, f, 0);
    return snw_cross(snw_sub(corner_of(m, f, 1), a), snw_sub(corner_of(m, f, 2), a));
}

double snw_mesh_volume(const snw_triangle_mesh *m) {
    double sum = 0;
    for (int f = 0; f < m->nface; f++)
        sum += snw_dot(snw_sub(corner_of(m, f, 0), m->vertex[0]), face_area(m, f));
    return sum / 6;
}

// Tetrahedra from the first vertex to the faces. With corners 0, a, b, c and s = a + b + c: volume
// V = a.(b x c)/6, centre s/4, int x x' = V (s s' + a a' + b b' + c c')/20.
void snw_mesh_moments(const snw_triangle_mesh *m, snw_vec3 *centre, snw_mat3 *second) {
    double volume = 0;
    snw_vec3 first = {{0}};
    snw_mat3 sum = {{{0}}};
    for (int f = 0; f < m->nface; f++) {
        snw_vec3 corner[4] = {{{0}}};
        for (int k = 0; k < 3; k++) {
            corner[k] = snw_sub(corner_of(m, f, k), m->vertex[0]);
            corner[3] = snw_add(corner[3], corner[k]);
        }
        const double v = snw_dot(corner[0], snw_cross(corner[1], corner[2])) / 6;
        volume += v;
        first = snw_add(first, snw_scale(v / 4, corner[3]));
        for (int k = 0; k < 4; k++)
            sum = snw_mat3_add(sum, snw_mat3_scale(v / 20, snw_outer(corner[k], corner[k])));
    }
    const snw_vec3 mean = snw_scale(1 / volume, first);
    *centre = snw_add(m->vertex[0], mean);
    *second =
        snw_mat3_add(snw_mat3_scale(1 / volume, sum), snw_mat3_scale(-1, snw_outer(mean, mean)));
}

// ---- edges --------------------------------------------------------------------------------------

typedef struct half_edge { // of a face, from corner k to the next
    int low, high;         // its vertices
    int face, k;
} half_edge;

static int compare_edges(const void *a, const void *b) {
    const half_edge *p = (const half_edge *)a, *q = (const half_edge *)b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->face > q->face) - (p->face < q->face);
}

// Half edges of all faces, the two of an edge beside each other; NULL: no memory.
static half_edge *sorted_edges(snw_pool *pool, const snw_triangle_mesh *m) {
    half_edge *edge = snw_pool_array(pool, 3 * (size_t)m->nface, sizeof *edge);
    for (int f = 0; edge && f < m->nface; f++) {
        for (int k = 0; k < 3; k++) {
            const int a = m->face[f][k], b = m->face[f][(k + 1) % 3];
            edge[3 * f + k] = (half_edge){a < b ? a : b, a < b ? b : a, f, k};
        }
    }
    if (edge) qsort(edge, 3 * (size_t)m->nface, sizeof *edge, compare_edges);
    return edge;
}

// neighbour[3 f + k] <- face across the edge k of face f
static snw_status join_faces(const snw_triangle_mesh *m, const half_edge *edge, int *neighbour,
                             snw_error *err) {
    for (int i = 0; i < 3 * m->nface;) {
        int n = 1;
        while (i + n < 3 * m->nface && edge[i + n].low == edge[i].low &&
               edge[i + n].high == edge[i].high)
            n++;
        const half_edge *e = &edge[i];
        const mesh_words where = edge_words(m, e->low, e->high), of = face_words(m, e->face);
        if (n == 1) {
            return snw_fail(err, SNW_E_PARSE,
                            "the surface is open: the edge %s of %s has a face on one side only; "
                            "close the mesh",
                            where.text, of.text);
        }
        if (n > 2) {
            return snw_fail(err, SNW_E_PARSE,
                            "%d faces meet at the edge %s, among them %s; at an edge of a solid "
                            "there are two",
                            n, where.text, of.text);
        }
        if (m->face[e[0].face][e[0].k] == m->face[e[1].face][e[1].k]) {
            return snw_fail(err, SNW_E_PARSE,
                            "both faces at the edge %s, one of them %s, run along it in the same "
                            "direction: one of them is inside out",
                            where.text, of.text);
        }
        neighbour[3 * e[0].face + e[0].k] = e[1].face;
        neighbour[3 * e[1].face + e[1].k] = e[0].face;
        i += 2;
    }
    return SNW_OK;
}

// The faces at each vertex are one fan.
static snw_status check_fans(snw_pool *scratch, const snw_triangle_mesh *m, const int *neighbour,
                             snw_error *err) {
    int *count = snw_pool_array(scratch, (size_t)m->nvertex, sizeof *count);
    int *first = snw_pool_array(scratch, (size_t)m->nvertex, sizeof *first);
    if (!count || !first) return snw_fail_memory(err);
    for (int f = 0; f < m->nface; f++) {
        for (int k = 0; k < 3; k++) {
            count[m->face[f][k]]++;
            first[m->face[f][k]] = f;
        }
    }
    for (int v = 0; v < m->nvertex; v++) {
        int n = 0, f = first[v];
        if (count[v] == 0) continue; // used by no face
        do {
            int k = 0;
            while (m->face[f][k] != v) k++;
            f = neighbour[3 * f + k];
            n++;
        } while (f != first[v] && n < count[v]);
        if (n == count[v] && f == first[v]) continue;
        const snw_vec3 p = m->vertex[v];
        return snw_fail(err, SNW_E_PARSE,
                        "parts of the surface meet in the single vertex (%.5g, %.5g, %.5g) m, one "
                        "of them with %s; separate or join them",
                        (double)p.x, (double)p.y, (double)p.z, face_words(m, first[v]).text);
    }
    return SNW_OK;
}

// ---- tree of boxes ------------------------------------------------------------------------------

enum { LEAF = 4, DEPTH = 64 };

typedef struct mesh_box {
    snw_vec3 low, high;
    int first, count; // of a leaf: faces in the order of the tree; else count is 0 and `first` the
                      // second child, the first one follows its parent
} mesh_box;

struct snw_mesh_search {
    const snw_triangle_mesh *m;
    mesh_box *box;
    int nbox;
    int *order;            // faces
    snw_vec3 (*normal)[7]; // of each face in that order: of the features of snw_triangle_closest
};

static double face_middle(const snw_triangle_mesh *m, int f, int axis) {
    return corner_of(m, f, 0).e[axis] + corner_of(m, f, 1).e[axis] + corner_of(m, f, 2).e[axis];
}

// Order faces so that those below place `at` have the smaller middles along the axis.
static void select_middle(const snw_triangle_mesh *m, int axis, int *order, int n, int at) {
    int low = 0, high = n - 1;
    while (low < high) {
        const double pivot = face_middle(m, order[(low + high) / 2], axis);
        int i = low, j = high;
        while (i <= j) {
            while (face_middle(m, order[i], axis) < pivot) i++;
            while (face_middle(m, order[j], axis) > pivot) j--;
            if (i <= j) {
                const int swap = order[i];
                order[i++] = order[j];
                order[j--] = swap;
            }
        }
        if (at <= j)
            high = j;
        else if (at >= i)
            low = i;
        else
            return;
    }
}

static void grow_box(mesh_box *b, snw_vec3 p) {
    for (int k = 0; k < 3; k++) {
        if (p.e[k] < b->low.e[k]) b->low.e[k] = p.e[k];
        if (p.e[k] > b->high.e[k]) b->high.e[k] = p.e[k];
    }
}

static void build_boxes(snw_mesh_search *s, int first, int n) {
    mesh_box *b = &s->box[s->nbox++];
    *b = (mesh_box){.low = {{INFINITY, INFINITY, INFINITY}},
                    .high = {{-INFINITY, -INFINITY, -INFINITY}},
                    .first = first,
                    .count = n};
    for (int i = first; i < first + n; i++) {
        for (int k = 0; k < 3; k++) grow_box(b, corner_of(s->m, s->order[i], k));
    }
    if (n <= LEAF) return;
    const snw_vec3 size = snw_sub(b->high, b->low);
    const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    const int half = n / 2;
    select_middle(s->m, axis, s->order + first, n, half);
    b->count = 0;
    build_boxes(s, first, half);
    b->first = s->nbox;
    build_boxes(s, first + half, n - half);
}

static snw_mesh_search *boxes_create(snw_pool *pool, const snw_triangle_mesh *m) {
    snw_mesh_search *s = snw_pool_take(pool, sizeof *s);
    if (!s) return NULL;
    s->m = m;
    s->order = snw_pool_array(pool, (size_t)m->nface, sizeof *s->order);
    s->box = snw_pool_array(pool, 2 * (size_t)m->nface, sizeof *s->box);
    if (!s->order || !s->box) return NULL;
    for (int f = 0; f < m->nface; f++) s->order[f] = f;
    build_boxes(s, 0, m->nface);
    return s;
}

// ---- faces that cut each other ------------------------------------------------------------------

// Does the segment from p to q cut the triangle? Touching counts.
static bool segment_cuts(const snw_vec3 c[3], snw_vec3 p, snw_vec3 q) {
    const snw_vec3 along = snw_sub(q, p);
    const snw_vec3 N = snw_cross(snw_sub(c[1], c[0]), snw_sub(c[2], c[0]));
    const double a = snw_dot(N, snw_sub(p, c[0])), b = snw_dot(N, snw_sub(q, c[0]));
    if ((a > 0 && b > 0) || (a < 0 && b < 0)) return false;
    const double across = snw_dot(N, along);
    if (across == 0) return false; // in the plane: seen by edges of the other triangle, or harmless
    const snw_vec3 x = snw_sub(snw_add(p, snw_scale(-a / across, along)), c[0]);
    for (int k = 0; k < 3; k++) {
        const snw_vec3 from = snw_sub(c[k], c[0]), side = snw_sub(c[(k + 1) % 3], c[k]);
        if (snw_dot(N, snw_cross(side, snw_sub(x, from))) < 0) return false;
    }
    return true;
}

// Face that the edge from vertex a to b cuts, without faces at a or b; -1: none.
static int cut_face(const snw_mesh_search *s, int a, int b) {
    const snw_triangle_mesh *m = s->m;
    const snw_vec3 p = m->vertex[a], q = m->vertex[b];
    int stack[DEPTH], n = 0;
    stack[n++] = 0;
    while (n > 0) {
        const int at = stack[--n];
        const mesh_box *box = &s->box[at];
        bool apart = false;
        for (int k = 0; k < 3; k++) {
            apart = apart || fmax(p.e[k], q.e[k]) < box->low.e[k] ||
                    fmin(p.e[k], q.e[k]) > box->high.e[k];
        }
        if (apart) continue;
        if (box->count == 0) {
            stack[n++] = box->first;
            stack[n++] = at + 1;
            continue;
        }
        for (int i = box->first; i < box->first + box->count; i++) {
            const int f = s->order[i];
            bool meets = false;
            for (int k = 0; k < 3; k++) meets |= m->face[f][k] == a || m->face[f][k] == b;
            const snw_vec3 c[3] = {corner_of(m, f, 0), corner_of(m, f, 1), corner_of(m, f, 2)};
            if (!meets && segment_cuts(c, p, q)) return f;
        }
    }
    return -1;
}

static snw_status check_cuts(snw_pool *scratch, const snw_triangle_mesh *m, const half_edge *edge,
                             snw_error *err) {
    const snw_mesh_search *s = boxes_create(scratch, m);
    if (!s) return snw_fail_memory(err);
    for (int i = 0; i < 3 * m->nface; i += 2) {
        const int f = cut_face(s, edge[i].low, edge[i].high);
        if (f < 0) continue;
        return snw_fail(err, SNW_E_PARSE,
                        "the surface cuts itself: the edge %s of %s goes through %s",
                        edge_words(m, edge[i].low, edge[i].high).text,
                        face_words(m, edge[i].face).text, face_words(m, f).text);
    }
    return SNW_OK;
}

snw_status snw_mesh_check(snw_pool *scratch, snw_triangle_mesh *m, snw_error *err) {
    if (m->nface < 4)
        return snw_fail(err, SNW_E_PARSE, "%d faces enclose no solid, 4 or more do", m->nface);
    for (int f = 0; f < m->nface; f++) {
        double longest = 0;
        for (int k = 0; k < 3; k++) {
            const snw_vec3 side = snw_sub(corner_of(m, f, (k + 1) % 3), corner_of(m, f, k));
            longest = fmax(longest, snw_dot(side, side));
        }
        if (snw_norm(face_area(m, f)) > 1e-12 * longest) continue;
        return snw_fail(err, SNW_E_PARSE, "%s has no area: its corners are in a line",
                        face_words(m, f).text);
    }
    half_edge *edge = sorted_edges(scratch, m);
    int *neighbour = snw_pool_array(scratch, 3 * (size_t)m->nface, sizeof *neighbour);
    if (!edge || !neighbour) return snw_fail_memory(err);
    SNW_TRY(join_faces(m, edge, neighbour, err));
    SNW_TRY(check_fans(scratch, m, neighbour, err));
    SNW_TRY(check_cuts(scratch, m, edge, err));
    if (snw_mesh_volume(m) > 0) return SNW_OK;
    for (int f = 0; f < m->nface; f++) {
        const int swap = m->face[f][1];
        m->face[f][1] = m->face[f][2];
        m->face[f][2] = swap;
    }
    return SNW_OK;
}

// ---- distance -----------------------------------------------------------------------------------

snw_vec3 snw_triangle_closest(const snw_vec3 c[3], snw_vec3 y, int *feature) {
    // by the products of y with both sides at each corner (Ericson, 2005)
    const snw_vec3 ab = snw_sub(c[1], c[0]), ac = snw_sub(c[2], c[0]);
    double s[3], t[3]; // of y seen from each corner along ab and ac
    for (int k = 0; k < 3; k++) {
        const snw_vec3 w = snw_sub(y, c[k]);
        s[k] = snw_dot(ab, w), t[k] = snw_dot(ac, w);
    }
    *feature = 4;
    if (s[0] <= 0 && t[0] <= 0) return c[0];
    *feature = 5;
    if (s[1] >= 0 && t[1] <= s[1]) return c[1];
    *feature = 6;
    if (t[2] >= 0 && s[2] <= t[2]) return c[2];
    const double w2 = s[0] * t[1] - s[1] * t[0], w1 = s[2] * t[0] - s[0] * t[2],
                 w0 = s[1] * t[2] - s[2] * t[1];
    *feature = 1;
    if (w2 <= 0 && s[0] >= 0 && s[1] <= 0)
        return snw_add(c[0], snw_scale(s[0] / (s[0] - s[1]), ab));
    *feature = 3;
    if (w1 <= 0 && t[0] >= 0 && t[2] <= 0)
        return snw_add(c[0], snw_scale(t[0] / (t[0] - t[2]), ac));
    *feature = 2;
    const double p = t[1] - s[1], q = s[2] - t[2];
    if (w0 <= 0 && p >= 0 && q >= 0)
        return snw_add(c[1], snw_scale(p / (p + q), snw_sub(c[2], c[1])));
    *feature = 0;
    const double over = 1 / (w0 + w1 + w2);
    return snw_add(c[0], snw_add(snw_scale(w1 * over, ab), snw_scale(w2 * over, ac)));
}

static double corner_angle(const snw_triangle_mesh *m, int f, int k) {
    const snw_vec3 p = corner_of(m, f, k);
    const snw_vec3 a = snw_sub(corner_of(m, f, (k + 1) % 3), p);
    const snw_vec3 b = snw_sub(corner_of(m, f, (k + 2) % 3), p);
    return atan2(snw_norm(snw_cross(a, b)), snw_dot(a, b));
}

snw_mesh_search *snw_mesh_search_create(snw_pool *pool, const snw_triangle_mesh *m) {
    snw_mesh_search *s = boxes_create(pool, m);
    snw_vec3 *of_vertex = snw_pool_array(pool, (size_t)m->nvertex, sizeof *of_vertex);
    snw_vec3 *of_face = snw_pool_array(pool, (size_t)m->nface, sizeof *of_face);
    snw_vec3(*of_edge)[3] = snw_pool_array(pool, (size_t)m->nface, sizeof *of_edge);
    const half_edge *edge = sorted_edges(pool, m);
    if (!s || !of_vertex || !of_face || !of_edge || !edge) return NULL;
    s->normal = snw_pool_array(pool, (size_t)m->nface, sizeof *s->normal);
    if (!s->normal) return NULL;
    for (int f = 0; f < m->nface; f++) {
        of_face[f] = snw_normalise(face_area(m, f));
        for (int k = 0; k < 3; k++) {
            snw_vec3 *n = &of_vertex[m->face[f][k]];
            *n = snw_add(*n, snw_scale(corner_angle(m, f, k), of_face[f]));
        }
    }
    for (int i = 0; i < 3 * m->nface; i += 2) {
        const snw_vec3 n = snw_add(of_face[edge[i].face], of_face[edge[i + 1].face]);
        of_edge[edge[i].face][edge[i].k] = of_edge[edge[i + 1].face][edge[i + 1].k] = n;
    }
    for (int i = 0; i < m->nface; i++) {
        const int f = s->order[i];
        s->normal[i][0] = of_face[f];
        for (int k = 0; k < 3; k++) {
            s->normal[i][1 + k] = of_edge[f][k];
            s->normal[i][4 + k] = of_vertex[m->face[f][k]];
        }
    }
    return s;
}

// Square of the distance of y from a box.
static double box_gap(const mesh_box *b, snw_vec3 y) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double out = fmax(b->low.e[k] - y.e[k], y.e[k] - b->high.e[k]);
        if (out > 0) sum += out * out;
    }
    return sum;
}

// The closest point so far: square of the distance, product with the normal there, and the face.
typedef struct mesh_nearest {
    double square, side;
    int at;
} mesh_nearest;

static void try_face(const snw_mesh_search *s, int i, snw_vec3 y, mesh_nearest *best) {
    const int f = s->order[i];
    const snw_vec3 c[3] = {corner_of(s->m, f, 0), corner_of(s->m, f, 1), corner_of(s->m, f, 2)};
    int feature;
    const snw_vec3 w = snw_sub(y, snw_triangle_closest(c, y, &feature));
    const double square = snw_dot(w, w);
    if (square < best->square) *best = (mesh_nearest){square, snw_dot(w, s->normal[i][feature]), i};
}

double snw_mesh_distance(const snw_mesh_search *s, snw_vec3 y, int *near) {
    struct {
        int box;
        double gap;
    } stack[DEPTH];
    int n = 0;
    mesh_nearest best = {INFINITY, 1, 0};
    try_face(s, near ? *near : 0, y, &best);
    stack[n].box = 0;
    stack[n++].gap = box_gap(&s->box[0], y);
    while (n > 0) {
        n--;
        if (stack[n].gap >= best.square) continue;
        const int at = stack[n].box;
        const mesh_box *b = &s->box[at];
        if (b->count == 0) { // the nearer child on top
            const int child[2] = {at + 1, b->first};
            const double gap[2] = {box_gap(&s->box[child[0]], y), box_gap(&s->box[child[1]], y)};
            const int nearer = gap[1] < gap[0];
            stack[n].box = child[!nearer], stack[n++].gap = gap[!nearer];
            stack[n].box = child[nearer], stack[n++].gap = gap[nearer];
            continue;
        }
        for (int i = b->first; i < b->first + b->count; i++) try_face(s, i, y, &best);
    }
    if (near) *near = best.at;
    return best.side < 0 ? -sqrt(best.square) : sqrt(best.square);
}
