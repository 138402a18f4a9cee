// SPDX-License-Identifier: MIT
//
// Search for the places where rods touch, theory.md (3.20.7): boxes around the slices of each rod
// in a binary tree; a sweep along one axis finds rods whose boxes overlap, both trees their near
// slices, Newton's method the places. Costs grow with the number of rods and of near slices.

#include "dynamics/rod_contact.h"

#include "dynamics/rod_gap.h"

#include <math.h>

// ---- boxes ----------------------------------------------------------------------------------

static snw_box box_around(snw_box a, snw_box b) {
    for (int i = 0; i < 3; i++) {
        a.low.e[i] = fmin(a.low.e[i], b.low.e[i]);
        a.high.e[i] = fmax(a.high.e[i], b.high.e[i]);
    }
    return a;
}

// The radius is within the range of its Bezier points.
static double largest_radius(const snw_touching_slice *s) {
    const double a = s->radius[0] + s->h / 3 * s->radius_d1[0],
                 b = s->radius[1] - s->h / 3 * s->radius_d1[1];
    return fmax(fmax(s->radius[0], s->radius[1]), fmax(a, b));
}

// The cubic is within the hull of its Bezier points; a slice that is not in use has an empty box.
static snw_box slice_box(const snw_model *m, const snw_work *w, int slice) {
    const snw_touching_slice *s = &m->touching_slice[slice];
    snw_box box = {{{INFINITY, INFINITY, INFINITY}}, {{-INFINITY, -INFINITY, -INFINITY}}};
    if (!(s->h > 0)) return box;
    const snw_rod_side side = snw_rod_side_of(m, w, slice);
    const snw_vec3 point[4] = {side.z[0], snw_add(side.z[0], snw_scale(s->h / 3, side.z[1])),
                               side.z[2], snw_sub(side.z[2], snw_scale(s->h / 3, side.z[3]))};
    for (int k = 0; k < 4; k++) box = box_around(box, (snw_box){point[k], point[k]});
    const double r = largest_radius(s) + 0.5 * m->touch_smooth;
    for (int i = 0; i < 3; i++) box.low.e[i] -= r, box.high.e[i] += r;
    return box;
}

// Part of the tree of a rod: its box, and the slices in it. Boxes are stored before those of their
// parts, the first part before the second.
typedef struct tree {
    int box, from, to;
} tree;

static tree tree_part(tree t, int k) {
    const int mid = (t.from + t.to) / 2;
    return k ? (tree){t.box + 2 * (mid - t.from), mid, t.to} : (tree){t.box + 1, t.from, mid};
}

static tree whole_tree(const snw_model *m, int rod) {
    const snw_touching_rod *r = &m->touching_rod[rod];
    return (tree){2 * r->slice0, r->slice0, r->slice0 + r->nslice};
}

static bool is_leaf(tree t) { return t.to - t.from == 1; }

static void fill_tree(const snw_model *m, tree t, snw_work *w) {
    if (is_leaf(t)) {
        w->touching_box[t.box] = slice_box(m, w, t.from);
        return;
    }
    const tree part[2] = {tree_part(t, 0), tree_part(t, 1)};
    for (int k = 0; k < 2; k++) fill_tree(m, part[k], w);
    w->touching_box[t.box] = box_around(w->touching_box[part[0].box], w->touching_box[part[1].box]);
}

static bool overlap(const snw_box *a, const snw_box *b) {
    for (int i = 0; i < 3; i++) {
        if (a->low.e[i] > b->high.e[i] || b->low.e[i] > a->high.e[i]) return false;
    }
    return true;
}

// ---- arc length between two sections --------------------------------------------------------

// Way from x on `rod` to y on a rod that carries it; INFINITY: it does not.
static double way_down(const snw_model *m, const snw_touching_rod *rod, double x,
                       const snw_touching_rod *to, double y) {
    double way = x;
    while (rod->carrier >= 0) {
        const snw_touching_rod *next = &m->touching_rod[rod->carrier];
        if (next == to) return way + fabs(rod->carrier_x - y);
        way += rod->carrier_x;
        rod = next;
    }
    return INFINITY;
}

// Way along rods that carry each other.
static double way_along(const snw_model *m, int rod, double x, int other, double y) {
    const snw_touching_rod *a = &m->touching_rod[rod], *b = &m->touching_rod[other];
    if (rod == other) return fabs(x - y);
    if (a->carrier < 0 && b->carrier < 0) return INFINITY;
    return fmin(way_down(m, a, x, b, y), way_down(m, b, y, a, x));
}

// The shortest way, also through one loop.
static double arc_between(const snw_model *m, const snw_touching_slice *const slice[2],
                          const double u[2]) {
    const int a = slice[0]->rod, b = slice[1]->rod;
    const double x = slice[0]->x + u[0] * slice[0]->h, y = slice[1]->x + u[1] * slice[1]->h;
    double way = way_along(m, a, x, b, y);
    for (int i = 0; i < m->ntouching_joint; i++) {
        const snw_touching_joint *j = &m->touching_joint[i];
        for (int k = 0; k < 2; k++) {
            way = fmin(way, way_along(m, a, x, j->rod[k], j->x[k]) +
                                way_along(m, j->rod[1 - k], j->x[1 - k], b, y));
        }
    }
    return way;
}

// Sections nearer than this along the rod do not touch: a rod of the radius r bent most tightly,
// with the radius r, returns after pi r.
static double least_arc(const snw_model *m, const snw_touching_slice *const slice[2]) {
    const snw_touching_rod *a = &m->touching_rod[slice[0]->rod],
                           *b = &m->touching_rod[slice[1]->rod];
    return 3.14159265358979323846 * fmax(a->radius, b->radius) + fmax(a->longest, b->longest);
}

static bool are_neighbours(const snw_model *m, const snw_touching_slice *const slice[2],
                           const double u[2]) {
    return arc_between(m, slice, u) < least_arc(m, slice);
}

// ---- places ---------------------------------------------------------------------------------

// Two slices that are near each other.
typedef struct near_pair {
    const snw_model *m;
    int contact, id[2];
    const snw_touching_slice *slice[2];
    snw_rod_side side[2];
} near_pair;

static near_pair near_pair_of(const snw_model *m, const snw_work *w, int contact, int a, int b) {
    near_pair x = {.m = m, .contact = contact, .id = {a, b}};
    for (int k = 0; k < 2; k++) {
        x.slice[k] = &m->touching_slice[x.id[k]];
        x.side[k] = snw_rod_side_in(m, w, contact, x.id[k]);
    }
    return x;
}

// Can the gap be stationary somewhere along slice k, to any section of the other? There
// w.p' = r' |w|. With D between the middles of the chords, the direction c/h of that of k, and both
// lengths of the Bezier polygons, 2R together, |w - D| <= R and |w.p'| >= |D.c/h| - R |c/h| - |w|
// |p' - c/h|.
static bool may_be_opposite(const near_pair *x, int k) {
    if (x->slice[k]->end[0] || x->slice[k]->end[1]) return true;
    snw_vec3 chord[2], middle[2], inner[2];
    double R = 0;
    for (int i = 0; i < 2; i++) {
        const snw_rod_side *s = &x->side[i];
        chord[i] = snw_scale(1 / s->h, snw_sub(s->z[2], s->z[0]));
        middle[i] = snw_scale(0.5, snw_add(s->z[0], s->z[2]));
        // second of the three Bezier points of p', the others being those of the nodes
        inner[i] = snw_sub(snw_scale(3, chord[i]), snw_add(s->z[1], s->z[3]));
        R += s->h * (2 + snw_norm(inner[i])) / 6;
    }
    const snw_rod_side *s = &x->side[k];
    const snw_vec3 D = snw_sub(middle[k], middle[1 - k]), c = chord[k];
    const double *r = s->radius;
    double spread = snw_norm(snw_sub(inner[k], c));
    for (int i = 1; i < 4; i += 2) spread = fmax(spread, snw_norm(snw_sub(s->z[i], c)));
    const double slope =
        fmax(fmax(fabs(r[1]), fabs(r[3])), fabs(3 * (r[2] - r[0]) / s->h - r[1] - r[3]));
    const double farthest = snw_norm(D) + R;
    return fabs(snw_dot(D, c)) <= R * snw_norm(c) + (spread + slope + 1e-9) * farthest;
}

// Side that is in the bore of the other one; -1: none.
static int inner_side(const near_pair *x) {
    const int outer = x->m->contact[x->contact].outer;
    return !outer ? -1 : x->slice[0]->rod == outer - 1;
}

// Gap between the surfaces, or to the wall of a bore.
static double surface_gap(const near_pair *x, const snw_rod_gap *g) {
    return x->m->contact[x->contact].outer ? -g->gap : g->gap;
}

// Is the same crossing in the list? It is found twice when it is at a node.
static bool is_known(const near_pair *x, const snw_work *w, const double u[2]) {
    static const double SAME = 1e-6;
    for (int i = snw_ntouch(x->m, w) - 1; i >= 0; i--) {
        const snw_touch *t = &w->touch[i];
        if (!t->crossing) continue;
        bool same = true;
        for (int k = 0; k < 2; k++) {
            const snw_touching_slice *a = &x->m->touching_slice[t->slice[k]], *b = x->slice[k];
            same = same && a->rod == b->rod &&
                   fabs(a->x + t->u[k] * a->h - b->x - u[k] * b->h) < SAME * b->h;
        }
        if (same) return true;
    }
    return false;
}

// Adds the touch if its surfaces are near and its weight is not zero.
static void add_touch(const near_pair *x, snw_touch touch, snw_work *w) {
    snw_rod_gap g;
    double z[3] = {1};
    snw_rod_gap_at(x->side, touch.u, &g);
    if (!(surface_gap(x, &g) < 0.5 * x->m->contact[x->contact].smooth) || !(g.rho > 0)) return;
    const double c = snw_dot(g.at[0].d[0], g.at[1].d[0]);
    if (!touch.inside) snw_rod_weight(touch.crossing, fabs(c), z);
    if (!(z[0] > 0) || are_neighbours(x->m, x->slice, touch.u)) return;
    if (touch.crossing && is_known(x, w, touch.u)) return;
    const int i = w->ntouch++;
    if (i >= x->m->most_touch) return;
    touch.contact = x->contact;
    for (int k = 0; k < 2; k++) touch.slice[k] = x->id[k];
    w->touch[i] = touch;
}

// Stiffness where rods cross and at their ends.
static double crossing_stiffness(const near_pair *x) {
    const snw_contact *c = &x->m->contact[x->contact];
    if (c->crossing > 0) return c->crossing;
    return c->line * (x->m->touching_rod[x->slice[0]->rod].radius +
                      x->m->touching_rod[x->slice[1]->rod].radius);
}

// The section of side k at u against the line of the other side. Where it is beyond the end of the
// other rod it loses its weight over the length `fade`; 0: it does not.
static void add_section(const near_pair *x, int k, double at, double stiffness, double fade,
                        snw_work *w) {
    snw_touch touch = {.foot = 1 - k, .u = {at, at}, .stiffness = stiffness, .fade = fade};
    if (snw_rod_gap_foot(x->side, x->slice[1 - k], 1 - k, touch.u, &touch.is_free[1 - k]))
        add_touch(x, touch, w);
}

// Distance of a point from the chord of a slice less the largest distance of its line from the
// chord.
static double least_distance(const snw_rod_side *s, snw_vec3 y) {
    const snw_vec3 chord = snw_sub(s->z[2], s->z[0]), from = snw_sub(y, s->z[0]);
    const double x = snw_dot(from, chord) / snw_dot(chord, chord);
    const snw_vec3 foot = snw_scale(fmin(fmax(x, 0), 1), chord);
    // of its Bezier points from those of the chord
    const double bend = fmax(snw_norm(snw_sub(snw_scale(s->h, s->z[1]), chord)),
                             snw_norm(snw_sub(snw_scale(s->h, s->z[3]), chord)));
    return snw_norm(snw_sub(from, foot)) - bend / 3;
}

// Is the section of side k at u so near to the other slice that it may touch it?
static bool may_touch(const near_pair *x, int k, double u) {
    const snw_touching_slice *other = x->slice[1 - k];
    snw_rod_section s;
    snw_rod_section_at(&x->side[k], u, &s);
    return least_distance(&x->side[1 - k], s.p[0]) <
           s.r[0] + largest_radius(other) + 0.5 * x->m->contact[x->contact].smooth;
}

// A section that slides beyond the end of the other rod sees a hemisphere, which pushes it along
// its rod: it loses its weight over this fraction of the distance of the centre lines. The end
// itself, one more section, keeps its own.
static const double FADE = 0.02;

// Half of the stiffness belongs to the sections of each of the two rods.
static void add_sections(const near_pair *x, snw_work *w) {
    const double line = 0.5 * x->m->contact[x->contact].line;
    const double fade = FADE * (x->slice[0]->radius[0] + x->slice[1]->radius[0]);
    for (int k = 0; k < 2; k++) {
        const snw_touching_slice *s = x->slice[k];
        const int n = x->m->touching_rod[s->rod].sections;
        if (!may_be_opposite(x, 1 - k)) continue;
        for (int i = 0; i < n; i++) {
            const double u = (i + 0.5) / n;
            if (may_touch(x, k, u)) add_section(x, k, u, line * s->h / n, fade, w);
        }
        for (int end = 0; end < 2; end++) {
            if (s->end[end] && may_touch(x, k, end))
                add_section(x, k, end, 0.5 * crossing_stiffness(x), 0, w);
        }
    }
}

// Length by which a section of side k is beyond an end of the other rod, whose foot it has at u.
static double length_beyond(const near_pair *x, int k, const double u[2]) {
    snw_rod_section s, end;
    snw_rod_section_at(&x->side[k], u[k], &s);
    snw_rod_section_at(&x->side[1 - k], u[1 - k], &end);
    return (u[1 - k] > 0.5 ? 1 : -1) * snw_dot(end.d[0], snw_sub(s.p[0], end.p[0]));
}

// Sections of side k in the bore of the other side. One that slides out of the end of the bore
// loses its weight over the distance of two sections.
static void add_inner_sections(const near_pair *x, int k, snw_work *w) {
    const snw_contact *c = &x->m->contact[x->contact];
    const int n = x->m->touching_rod[x->slice[k]->rod].sections;
    const double length = x->slice[k]->h / n;
    for (int i = 0; i < n; i++) {
        const double u = (i + 0.5) / n;
        snw_touch touch = {.foot = 1 - k,
                           .inside = true,
                           .u = {u, u},
                           .stiffness = c->line * length,
                           .fade = FADE * (c->bore - x->slice[k]->radius[0])};
        if (!snw_rod_axis_foot(x->side, x->slice[1 - k], 1 - k, touch.u, &touch.is_free[1 - k]))
            continue;
        if (touch.is_free[1 - k] || length_beyond(x, k, touch.u) < touch.fade)
            add_touch(x, touch, w);
    }
}

static void compare_slices(const snw_model *m, int contact, tree a, tree b, snw_work *w) {
    const near_pair x = near_pair_of(m, w, contact, a.from, b.from);
    double least = INFINITY, most = -INFINITY;
    bool near_all = true; // neighbours along the rod?
    for (int i = 0; i < 4; i++) {
        const double u[2] = {i % 2, i / 2};
        // between its values at nodes, since the directions are linear in sigma of each slice
        const double c = snw_dot(x.side[0].z[i % 2 ? 3 : 1], x.side[1].z[i / 2 ? 3 : 1]);
        near_all = near_all && are_neighbours(m, x.slice, u);
        least = fmin(least, c);
        most = fmax(most, c);
    }
    if (near_all) return;
    w->near_slices++;
    if (inner_side(&x) >= 0) {
        add_inner_sections(&x, inner_side(&x), w);
        return;
    }
    const bool turns = least < 0 && most > 0;
    const double smallest = turns ? 0 : fmin(fabs(least), fabs(most)),
                 largest = fmax(fabs(least), fabs(most));
    double z[3];
    snw_rod_weight(true, smallest, z);
    if (z[0] > 0 && may_be_opposite(&x, 0) && may_be_opposite(&x, 1)) {
        snw_touch touch = {.crossing = true, .stiffness = crossing_stiffness(&x)};
        if (snw_rod_gap_pair(x.side, x.slice, touch.u, touch.is_free)) add_touch(&x, touch, w);
    }
    snw_rod_weight(false, largest, z);
    if (z[0] > 0) add_sections(&x, w);
}

// ---- pairs of slices ------------------------------------------------------------------------

static void compare_trees(const snw_model *m, int contact, tree a, tree b, snw_work *w) {
    if (!overlap(&w->touching_box[a.box], &w->touching_box[b.box])) return;
    if (is_leaf(a) && is_leaf(b)) {
        compare_slices(m, contact, a, b, w);
        return;
    }
    // the part with more slices is divided
    const bool first = a.to - a.from >= b.to - b.from;
    for (int k = 0; k < 2; k++)
        compare_trees(m, contact, first ? tree_part(a, k) : a, first ? b : tree_part(b, k), w);
}

static void compare_with_itself(const snw_model *m, int contact, tree t, snw_work *w) {
    if (is_leaf(t)) return;
    const tree part[2] = {tree_part(t, 0), tree_part(t, 1)};
    for (int k = 0; k < 2; k++) compare_with_itself(m, contact, part[k], w);
    compare_trees(m, contact, part[0], part[1], w);
}

static const snw_box *rod_box(const snw_model *m, const snw_work *w, int rod) {
    return &w->touching_box[2 * m->touching_rod[rod].slice0];
}

static double lower_side(const snw_model *m, const snw_work *w, int axis, int i) {
    return rod_box(m, w, w->touching_order[i])->low.e[axis];
}

// Order of the rods along the axis in which their boxes are spread most. Shell's method; the order
// does not depend on former ones.
static void sort_rods(const snw_model *m, snw_work *w) {
    const int n = m->ntouching_rod;
    int *order = w->touching_order, axis = 0;
    double spread[3] = {0}, mean[3] = {0};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < n; k++) mean[i] += rod_box(m, w, k)->low.e[i] / n;
        for (int k = 0; k < n; k++) spread[i] += fabs(rod_box(m, w, k)->low.e[i] - mean[i]);
        if (spread[i] > spread[axis]) axis = i;
    }
    for (int k = 0; k < n; k++) order[k] = k;
    int step = 1;
    while (step < n / 3) step = 3 * step + 1;
    for (; step > 0; step /= 3) {
        for (int i = step; i < n; i++) {
            const int moved = order[i];
            const double low = rod_box(m, w, moved)->low.e[axis];
            int k = i;
            for (; k >= step && lower_side(m, w, axis, k - step) > low; k -= step)
                order[k] = order[k - step];
            order[k] = moved;
        }
    }
    w->touching_axis = axis;
}

static bool rod_is_active(const snw_model *m, const snw_work *w, int rod) {
    return snw_seg_is_active(m, w, m->rod[m->touching_rod[rod].rod].seg0);
}

void snw_rod_contacts_search(const snw_model *m, snw_work *w) {
    const int n = m->ntouching_rod;
    w->ntouch = 0;
    w->near_slices = 0;
    for (int i = 0; i < n; i++) fill_tree(m, whole_tree(m, i), w);
    sort_rods(m, w);
    for (int i = 0; i < n; i++) {
        const int a = w->touching_order[i];
        const double high = rod_box(m, w, a)->high.e[w->touching_axis];
        if (!rod_is_active(m, w, a)) continue;
        const int self = m->touching_contact[(size_t)a * (size_t)(n + 1)] - 1;
        if (self >= 0 && snw_is_active(w, m->contact[self].condition))
            compare_with_itself(m, self, whole_tree(m, a), w);
        for (int k = i + 1; k < n && lower_side(m, w, w->touching_axis, k) <= high; k++) {
            const int b = w->touching_order[k];
            const int contact = m->touching_contact[(size_t)a * (size_t)n + (size_t)b] - 1;
            if (contact < 0 || !rod_is_active(m, w, b) ||
                !snw_is_active(w, m->contact[contact].condition))
                continue;
            // the rod that comes first in the model is the first side
            compare_trees(m, contact, whole_tree(m, a < b ? a : b), whole_tree(m, a < b ? b : a),
                          w);
        }
    }
}

// ---- slices within a distance ---------------------------------------------------------------

// Pairs of slices that are nearer than `reach`, which `take` may reduce.
typedef struct visit {
    const snw_model *m;
    const snw_work *w;
    double reach;
    void (*take)(struct visit *v, const near_pair *x);
    snw_touch *nearest;     // of take_nearest and take_passed
    double h;               // of take_passing
    const snw_vec3 *before; // of take_passed: 2 ntouching_slice
} visit;

// Distance of two boxes, which is below the gap of what they contain.
static double box_distance(const snw_box *a, const snw_box *b) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double d = fmax(a->low.e[i] - b->high.e[i], b->low.e[i] - a->high.e[i]);
        if (d > 0) sum += d * d;
    }
    return sum > 0 ? sqrt(sum) : -INFINITY;
}

static void visit_trees(visit *v, int contact, tree a, tree b) {
    if (!(box_distance(&v->w->touching_box[a.box], &v->w->touching_box[b.box]) < v->reach)) return;
    if (is_leaf(a) && is_leaf(b)) {
        if (a.from == b.from) return;
        const near_pair x = near_pair_of(v->m, v->w, contact, a.from, b.from);
        if (x.slice[0]->h > 0 && x.slice[1]->h > 0) v->take(v, &x);
        return;
    }
    const bool first = a.to - a.from >= b.to - b.from;
    for (int k = 0; k < 2; k++) {
        // of a part with itself each pair once
        if (a.box == b.box) {
            visit_trees(v, contact, tree_part(a, k), tree_part(a, k));
            if (k) visit_trees(v, contact, tree_part(a, 0), tree_part(a, 1));
        } else {
            visit_trees(v, contact, first ? tree_part(a, k) : a, first ? b : tree_part(b, k));
        }
    }
}

// All rods of a contact, or (-1) of all contacts.
static void visit_contact(visit *v, int contact) {
    const int n = v->m->ntouching_rod, axis = v->w->touching_axis;
    for (int i = 0; i < n; i++) {
        const int a = v->w->touching_order[i];
        const double high = rod_box(v->m, v->w, a)->high.e[axis];
        for (int k = i; k < n && lower_side(v->m, v->w, axis, k) < high + v->reach; k++) {
            const int b = v->w->touching_order[k];
            const int of = v->m->touching_contact[(size_t)a * (size_t)n + (size_t)b] - 1;
            if (of >= 0 && (contact < 0 || of == contact) && rod_is_active(v->m, v->w, a) &&
                rod_is_active(v->m, v->w, b))
                visit_trees(v, of, whole_tree(v->m, a), whole_tree(v->m, b));
        }
    }
}

// Takes the sections u if they are the nearest and not neighbours along the rod.
static void take_sections(visit *v, const near_pair *x, const double u[2]) {
    snw_touch *best = v->nearest;
    snw_rod_gap g;
    snw_rod_gap_at(x->side, u, &g);
    const double gap = surface_gap(x, &g);
    if (!(gap < v->reach) || are_neighbours(x->m, x->slice, u)) return;
    v->reach = best->gap = gap;
    best->n = g.n;
    best->place = g.at[0].p[0];
    if (g.rho > 0) // else it is in the middle of a bore
        best->place = snw_sub(best->place, snw_scale(g.at[0].r[0] + 0.5 * g.gap, g.n));
    for (int k = 0; k < 2; k++) best->slice[k] = x->id[k], best->u[k] = u[k];
}

static void take_nearest(visit *v, const near_pair *x) {
    double u[2];
    bool is_free[2];
    const int inner = inner_side(x);
    for (int i = 0; inner >= 0 && i < x->m->touching_rod[x->slice[inner]->rod].sections; i++) {
        u[inner] = (i + 0.5) / x->m->touching_rod[x->slice[inner]->rod].sections;
        if (snw_rod_axis_foot(x->side, x->slice[1 - inner], 1 - inner, u, is_free) && *is_free)
            take_sections(v, x, u);
    }
    if (inner >= 0) return;
    const bool opposite[2] = {may_be_opposite(x, 0), may_be_opposite(x, 1)};
    if (opposite[0] && opposite[1] && snw_rod_gap_pair(x->side, x->slice, u, is_free))
        take_sections(v, x, u);
    for (int k = 0; k < 2; k++) {
        if (!opposite[1 - k]) continue;
        const int n = x->m->touching_rod[x->slice[k]->rod].sections;
        for (int i = 0; i < n + 2; i++) { // and both nodes
            u[k] = i < n ? (i + 0.5) / n : i - n;
            if (snw_rod_gap_foot(x->side, x->slice[1 - k], 1 - k, u, is_free))
                take_sections(v, x, u);
        }
    }
}

double snw_rod_contact_nearest(const snw_model *m, const snw_work *w, int contact,
                               snw_touch *touch) {
    visit v = {.m = m, .w = w, .reach = INFINITY, .take = take_nearest, .nearest = touch};
    *touch = (snw_touch){.contact = contact, .gap = INFINITY};
    visit_contact(&v, contact);
    return touch->gap;
}

// ---- steps ----------------------------------------------------------------------------------

// Velocity and acceleration (plus gravity) of a node, world axes.
static void node_motion(const snw_work *w, int seg, snw_vec3 *v, snw_vec3 *a) {
    const snw_twist V = w->V[seg], A = w->A[seg];
    *v = snw_rotate(w->g[seg].R, V.v);
    *a = snw_rotate(w->g[seg].R, snw_add(A.v, snw_cross(V.w, V.v)));
}

// (3.20.9)
static void take_passing(visit *v, const near_pair *x) {
    static const double FRACTION = 0.7, LEAST = 0.07;
    snw_rod_gap g;
    double u[2], speed = 0, rate = 0;
    snw_rod_gap_chords(x->side, u);
    snw_rod_gap_at(x->side, u, &g);
    if (are_neighbours(x->m, x->slice, u)) return;
    for (int k = 0; k < 4; k++) {
        snw_vec3 velocity[2], acceleration[2];
        for (int i = 0; i < 2; i++)
            node_motion(v->w, x->slice[i]->seg[i ? k / 2 : k % 2], &velocity[i], &acceleration[i]);
        speed = fmax(speed, snw_norm(snw_sub(velocity[0], velocity[1])));
        rate = fmax(rate, snw_norm(snw_sub(acceleration[0], acceleration[1])));
    }
    const double wall = x->m->contact[x->contact].wall;
    const double middle = wall > 0 ? wall : g.at[0].r[0] + g.at[1].r[0];
    const double way = fmax(FRACTION * (surface_gap(x, &g) + middle), LEAST * middle);
    const double root = speed + sqrt(speed * speed + 2 * rate * way);
    if (root > 0) v->h = fmin(v->h, 2 * way / root);
}

double snw_rod_contacts_step_limit(const snw_model *m, const snw_work *w, double h) {
    static const double FRACTION = 0.7;
    visit v = {.m = m, .w = w, .take = take_passing, .h = h};
    // distance by which two rods may approach each other in the step
    snw_vec3 velocity, acceleration, mean[2] = {{{0, 0, 0}}, {{0, 0, 0}}};
    double most[2] = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < m->ntouching_slice; i++) {
            node_motion(w, m->touching_slice[i].seg[1], &velocity, &acceleration);
            if (pass == 0) {
                mean[0] = snw_add(mean[0], snw_scale(1.0 / m->ntouching_slice, velocity));
                mean[1] = snw_add(mean[1], snw_scale(1.0 / m->ntouching_slice, acceleration));
                continue;
            }
            most[0] = fmax(most[0], snw_norm(snw_sub(velocity, mean[0])));
            most[1] = fmax(most[1], snw_norm(snw_sub(acceleration, mean[1])));
        }
    }
    v.reach = (2 * most[0] * h + most[1] * h * h) / FRACTION;
    if (v.reach > 0) visit_contact(&v, -1);
    return v.h;
}

int snw_rod_contacts_too_deep(const snw_model *m, const snw_work *w) {
    static const double FRACTION = 0.9;
    for (int i = 0; i < snw_ntouch(m, w); i++) {
        const snw_touch *t = &w->touch[i];
        double middle = m->contact[t->contact].wall;
        for (int k = 0; k < 2 && !t->inside; k++) {
            const snw_touching_slice *s = &m->touching_slice[t->slice[k]];
            middle += fmin(s->radius[0], s->radius[1]);
        }
        if (-t->gap > FRACTION * middle) return i;
    }
    return -1;
}

// The chords of two slices at the fraction `part` of their way.
static void chords_at(const visit *v, const near_pair *x, double part, snw_rod_side side[2]) {
    for (int k = 0; k < 4; k++) {
        const snw_vec3 from = v->before[2 * x->id[k / 2] + k % 2], to = x->side[k / 2].z[k % 2 * 2];
        side[k / 2].z[k % 2 * 2] = snw_add(snw_scale(1 - part, from), snw_scale(part, to));
    }
}

// Volume that two chords span, six times: its sign says on which side they pass each other.
static double chord_volume(const snw_rod_side side[2]) {
    const snw_vec3 a = snw_sub(side[0].z[2], side[0].z[0]), b = snw_sub(side[1].z[2], side[1].z[0]);
    return snw_dot(snw_cross(a, b), snw_sub(side[0].z[0], side[1].z[0]));
}

// Are two chords nearer than a quarter of the sum of both radii, and not neighbours along a rod?
static bool chords_meet(const near_pair *x, const snw_rod_side side[2]) {
    double u[2];
    snw_vec3 at[2];
    snw_rod_gap_chords(side, u);
    for (int k = 0; k < 2; k++)
        at[k] = snw_add(snw_scale(1 - u[k], side[k].z[0]), snw_scale(u[k], side[k].z[2]));
    const double near = 0.25 * (x->slice[0]->radius[0] + x->slice[1]->radius[0]);
    return snw_norm(snw_sub(at[0], at[1])) < near && !are_neighbours(x->m, x->slice, u);
}

// Where the volume changes its sign, the lines of the chords meet; if the chords do, too, rods
// pass. In a plane it is zero, and chords that meet are those of rods that pass.
static void take_passed(visit *v, const near_pair *x) {
    enum { SAMPLES = 16 };
    snw_rod_side side[2] = {x->side[0], x->side[1]};
    double last = 0;
    if (inner_side(x) >= 0) return; // centre lines in a bore may meet
    for (int i = 0; i <= SAMPLES; i++) {
        chords_at(v, x, (double)i / SAMPLES, side);
        const double now = chord_volume(side);
        bool passed = i > 0 && chords_meet(x, side);
        if (i > 0 && last * now < 0) {
            chords_at(v, x, (i - now / (now - last)) / SAMPLES, side);
            passed = passed || chords_meet(x, side);
        }
        if (passed) {
            *v->nearest = (snw_touch){.contact = x->contact, .slice = {x->id[0], x->id[1]}};
            v->reach = -INFINITY; // no need to look further
            return;
        }
        last = now;
    }
}

bool snw_rod_contacts_passed(const snw_model *m, const snw_work *w, const snw_vec3 *before,
                             snw_touch *where) {
    visit v = {.m = m, .w = w, .take = take_passed, .nearest = where};
    v.before = before + SNW_CONTACT_PLACES * m->ncontact_point;
    double most = 0, thinnest = INFINITY;
    for (int i = 0; i < 2 * m->ntouching_slice; i++) {
        const snw_touching_slice *s = &m->touching_slice[i / 2];
        most = fmax(most, snw_norm(snw_sub(w->g[s->seg[i % 2]].p, v.before[i])));
        thinnest = fmin(thinnest, s->radius[i % 2]);
    }
    // before they pass, centre lines are nearly as far apart as both radii
    if (m->ntouching_rod == 0 || most < 0.5 * thinnest) return false;
    v.reach = 2 * most;
    visit_contact(&v, -1);
    return v.reach < 0;
}
