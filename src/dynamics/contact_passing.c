// SPDX-License-Identifier: MIT
//
// Can a contact point come out on another side of its obstacle? Lengths of steps in which it
// cannot, and the test whether it did, theory.md (3.13.10).
#include "dynamics/contact.h"
#include "dynamics/rod_contact.h"

#include <math.h>

// Velocity and acceleration in the world of the material at the point x of segment i.
static void material_motion(const snw_work *w, int i, snw_vec3 x, snw_vec3 *v, snw_vec3 *a) {
    const snw_twist V = w->V[i], A = w->A[i];
    const snw_vec3 u = snw_add(V.v, snw_cross(V.w, x));
    *v = snw_rotate(w->g[i].R, u);
    *a = snw_rotate(w->g[i].R, snw_add(snw_add(A.v, snw_cross(A.w, x)), snw_cross(V.w, u)));
}

bool snw_contact_has_curved(const snw_model *m) {
    for (int i = 0; i < m->ncontact; i++) {
        if (m->contact[i].seg && m->contact[i].obstacle.kind != SNW_OBSTACLE_PLANE) return true;
    }
    return m->ntouching_rod > 0;
}

// Can a contact point come out on another side of its obstacle? *middle <- its depth there.
static bool can_pass(const snw_contact *c, const snw_contact_point *p, double *middle) {
    if (p->wheel || !c->seg || c->obstacle.kind == SNW_OBSTACLE_PLANE || c->obstacle.inside)
        return false;
    *middle = p->radius + snw_obstacle_table[c->obstacle.kind].depth(&c->obstacle);
    return !isinf(*middle);
}

double snw_contact_step_limit(const snw_model *m, const snw_work *w, double longest) {
    static const double FRACTION = 0.7, LEAST = 0.07;
    double h = m->ntouching_rod ? snw_rod_contacts_step_limit(m, w, longest) : longest, middle;
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        const snw_contact *c = &m->contact[p->contact];
        if (!can_pass(c, p, &middle)) continue;
        const snw_vec3 place = snw_se3_point(w->g[p->seg], p->centre);
        const snw_vec3 there = snw_rotate_inv(w->g[c->seg].R, snw_sub(place, w->g[c->seg].p));
        snw_vec3 v[2], a[2]; // gravity cancels in the difference of accelerations less gravity
        material_motion(w, p->seg, p->centre, &v[0], &a[0]);
        material_motion(w, c->seg, there, &v[1], &a[1]);
        const double speed = snw_norm(snw_sub(v[0], v[1])), rate = snw_norm(snw_sub(a[0], a[1]));
        const double way = fmax(FRACTION * (w->contact_point[k].gap + middle), LEAST * middle);
        // positive root of speed h + rate h^2/2 = way
        const double root = speed + sqrt(speed * speed + 2 * rate * way);
        if (root > 0) h = fmin(h, 2 * way / root);
    }
    return h;
}

int snw_contact_too_deep(const snw_model *m, const snw_work *w) {
    static const double FRACTION = 0.9;
    double middle;
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        if (!w->contact_point[k].in_contact || !can_pass(&m->contact[p->contact], p, &middle))
            continue;
        if (-w->contact_point[k].gap > FRACTION * middle) return k;
    }
    return -1;
}

// out <- centre of contact point k in the axes of its obstacle, or ends of a piece of rod; false:
// against a half-space or from inside
static bool contact_place(const snw_model *m, const snw_work *w, int k,
                          snw_vec3 out[SNW_CONTACT_PLACES]) {
    const snw_contact_point *p = &m->contact_point[k];
    const snw_contact *c = &m->contact[p->contact];
    double middle;
    if (!can_pass(c, p, &middle)) return false;
    const snw_se3 G = snw_se3_mul(snw_se3_inv(w->g[c->seg]), w->g[p->seg]);
    out[0] = out[1] = snw_se3_point(G, p->centre);
    if (p->span > 0)
        out[0] = snw_rotate_inv(w->g[c->seg].R, snw_sub(w->g[p->from].p, w->g[c->seg].p));
    return true;
}

void snw_contact_places(const snw_model *m, const snw_work *w, snw_vec3 *out) {
    for (int k = 0; k < m->ncontact_point; k++) {
        snw_vec3 *at = out + SNW_CONTACT_PLACES * (ptrdiff_t)k;
        if (!contact_place(m, w, k, at)) at[0] = at[1] = (snw_vec3){{0}};
    }
    for (int i = 0; i < 2 * m->ntouching_slice; i++)
        out[SNW_CONTACT_PLACES * m->ncontact_point + i] =
            w->g[m->touching_slice[i / 2].seg[i % 2]].p;
}

static snw_vec3 on_line(double s, snw_vec3 a, snw_vec3 b) {
    return snw_add(snw_scale(1 - s, a), snw_scale(s, b));
}

// Does the straight way of a sphere of the radius r from a to b go deep through the obstacle?
static bool way_passes(const snw_obstacle *o, double r, snw_vec3 a, snw_vec3 b) {
    enum { SAMPLES = 32 };
    const double thickness = r + snw_obstacle_table[o->kind].depth(o);
    const double length = snw_norm(snw_sub(b, a));
    // distances change no faster than places, so a shorter way cannot fulfil the test below
    if (length < 0.5 * thickness) return false;
    double least = INFINITY, ends = INFINITY;
    for (int i = 0; i <= SAMPLES; i++) {
        snw_vec3 n;
        snw_mat3 H;
        const double gap = snw_obstacle_distance(o, on_line((double)i / SAMPLES, a, b), &n, &H) - r;
        // far from it all the way
        if (i == 0 && gap > length) return false;
        least = fmin(least, gap);
        if (i == 0 || i == SAMPLES) ends = fmin(ends, gap);
    }
    return least < -0.5 * thickness && ends > -0.25 * thickness;
}

int snw_contact_passed(const snw_model *m, const snw_work *w, const snw_vec3 *before) {
    enum { MOST = 64 }; // sections of a piece of rod
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        const snw_obstacle *o = &m->contact[p->contact].obstacle;
        const snw_vec3 *from = before + SNW_CONTACT_PLACES * (ptrdiff_t)k;
        snw_vec3 now[SNW_CONTACT_PLACES];
        if (!contact_place(m, w, k, now)) continue;
        // sections of a piece are closer than half the thickness of the obstacle
        const double apart = 0.5 * (p->radius + snw_obstacle_table[o->kind].depth(o));
        const int parts = p->span > MOST * apart ? MOST : (int)ceil((double)(p->span / apart));
        for (int i = 0; i <= parts; i++) {
            const double s = parts > 0 ? (double)i / parts : 1;
            if (way_passes(o, p->radius, on_line(s, from[0], from[1]), on_line(s, now[0], now[1])))
                return k;
        }
    }
    return -1;
}
