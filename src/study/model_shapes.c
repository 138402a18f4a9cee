// SPDX-License-Identifier: MIT
//
// Derivatives by sizes and places of what touches (study/model_shapes.h).
#include "study/model_shapes.h"

#include "dynamics/contact_law.h"
#include "study/adjoint.h"

#include <math.h>
#include <string.h>

// Numbers of a contact: point and normal of a ground, sizes of an obstacle; of a contact point:
// centre, surface, radius, and those of a piece of rod.
enum { GROUND_AT, NORMAL = 3, SIZES = 6, CONTACT = SIZES + 6 };
enum { CENTRE, SURFACE = 3, ROUND = 9, RADIUS, END_RADIUS, END_SLOPE = 13, SPAN = 15, POINT };

enum { SAMPLES = 3 };
static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};

static double *contact_number(snw_contact *c, int i) {
    if (i < NORMAL) return &c->at.e[i];
    if (i < SIZES) return &c->normal.e[i - NORMAL];
    snw_obstacle *o = &c->obstacle;
    double *const size[] = {&o->radius,    &o->section,   &o->half.e[0],
                            &o->half.e[1], &o->half.e[2], &o->rounding};
    return size[i - SIZES];
}

static double *point_number(snw_contact_point *p, int i) {
    if (i < SURFACE) return &p->centre.e[i];
    if (i < ROUND) return &p->Q.e[pair[i - SURFACE][0]][pair[i - SURFACE][1]];
    if (i == ROUND) return &p->round;
    if (i == RADIUS) return &p->radius;
    if (i < END_SLOPE) return &p->end_radius[i - END_RADIUS];
    return i < SPAN ? &p->end_slope[i - END_SLOPE] : &p->span;
}

static void set_point_number(snw_contact_point *p, int i, double x) {
    *point_number(p, i) = x;
    if (i >= SURFACE && i < ROUND) p->Q.e[pair[i - SURFACE][1]][pair[i - SURFACE][0]] = x;
}

size_t snw_shapes_size(const snw_model *m) {
    return CONTACT * (size_t)m->ncontact + POINT * (size_t)m->ncontact_point;
}

void snw_shapes_read(const snw_model *m, double *out) {
    for (int k = 0; k < m->ncontact; k++) {
        snw_contact c = m->contact[k];
        for (int i = 0; i < CONTACT; i++, out++) {
            const double x = *contact_number(&c, i);
            *out = isfinite(x) ? x : 0;
        }
    }
    for (int k = 0; k < m->ncontact_point; k++) {
        snw_contact_point p = m->contact_point[k];
        for (int i = 0; i < POINT; i++) *out++ = *point_number(&p, i);
    }
}

snw_contact snw_shapes_bare_contact(snw_contact c) {
    for (int i = 0; i < CONTACT; i++) {
        double *x = contact_number(&c, i);
        *x = isfinite(*x) ? (i >= SIZES && *x > 0) : 1e300; // there or not
    }
    return c;
}

snw_contact_point snw_shapes_bare_point(snw_contact_point p) {
    for (int i = 0; i < POINT; i++)
        set_point_number(&p, i, i == SPAN || i == RADIUS ? *point_number(&p, i) > 0 : 0);
    return p;
}

// ---- motion of one contact point ----------------------------------------------------------------

// What products read, as numbers that are differentiated together.
typedef struct shape_motion {
    double gap, gradient, u[3], relative[3], d[3], axis[3], v[3], world[9];
} shape_motion;
enum { MOTION = sizeof(shape_motion) / sizeof(double) };

// A contact point alone: a model with it, and a workspace that shares all but its motion.
typedef struct shape_trial {
    snw_model m;
    snw_contact c;
    snw_contact_point p;
    snw_work w;
    snw_contact_point_work at;
} shape_trial;

static void store(snw_vec3 x, double *out) { memcpy(out, x.e, sizeof x.e); }

static void move_trial(shape_trial *t, const snw_work *w, const snw_shape_product *x,
                       shape_motion *out) {
    snw_vec3 axis[3];
    double u[3];
    memset(out, 0, sizeof *out);
    if (x->eta) { // velocity of the touching point when the segments move with eta
        t->w.V = (snw_twist *)x->eta;
        snw_contact_motion(&t->m, false, &t->w);
        snw_contact_velocity(&t->m, &t->w, 0, u);
        snw_contact_axes(&t->w, 0, axis);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) out->relative[i] += u[j] * axis[j].e[i];
        }
    }
    t->w.V = (snw_twist *)(x->V ? x->V : w->V);
    snw_contact_motion(&t->m, w->is_static && !x->V, &t->w);
    snw_contact_axes(&t->w, 0, axis);
    out->gap = t->at.gap;
    out->gradient = t->at.gradient;
    if (x->f) snw_contact_velocity(&t->m, &t->w, 0, out->u);
    store(t->at.d, out->d);
    store(t->at.axis, out->axis);
    for (int i = 0; i < 3; i++)
        store(snw_rotate(w->g[t->p.seg].R, axis[i]), out->world + 3 * (size_t)i);
    if (!x->eta || w->is_static) return;
    snw_contact_velocity(&t->m, &t->w, 0, u);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) out->v[i] += u[j] * axis[j].e[i];
    }
}

static snw_vec3 vector_of(const double *x) { return (snw_vec3){{x[0], x[1], x[2]}}; }

// The derivative of the product along that of the motion
static double vary_product(const snw_model *m, const snw_work *w, const snw_shape_product *x,
                           const shape_motion *now, const shape_motion *by) {
    const snw_contact_point *p = &m->contact_point[x->point];
    double sum = x->gap * by->gap;
    for (int i = 0; i < 3 && x->f; i++) sum += x->f[i] * by->u[i];
    for (int i = 0; i < 3 && x->g; i++)
        sum += x->g[i] * snw_dot(x->along, vector_of(by->world + 3 * (size_t)i));
    if (!x->eta) return sum;
    const snw_contact_point_work *at = &w->contact_point[x->point];
    const snw_contact_variation force = {.gap = by->gap,
                                         .gradient = by->gradient,
                                         .d = vector_of(by->d),
                                         .v = vector_of(by->v),
                                         .axis = vector_of(by->axis)};
    const snw_vec3 df =
        snw_contact_law_variation(&m->contact[p->contact], w->is_static, at, &force);
    return sum - snw_dot(df, vector_of(now->relative)) - snw_dot(at->f, vector_of(by->relative));
}

// Size of the number in differences; 0: it does not act
static double move_of(const snw_model *m, const shape_trial *t, bool of_point, int i, double x) {
    static const double part = 5e-3;
    const double size = fmax(t->p.radius, sqrt(fmax(t->p.Q.e[0][0], t->p.Q.e[1][1])));
    const double length = part * (size > 0 ? size : m->length);
    const bool ground = t->c.seg == 0, plane = t->c.obstacle.kind == SNW_OBSTACLE_PLANE,
               piece = t->p.span > 0;
    if (!of_point) {
        if (i < SIZES) return !ground ? 0 : i < NORMAL ? length : part;
        return ground || plane || !isfinite(x) || x == 0 ? 0 : part * fabs(x);
    }
    if (i >= END_RADIUS) {
        if (!piece) return 0;
        return i == SPAN ? part * x : i >= END_SLOPE ? part : length;
    }
    if (piece) return 0;
    if (i < SURFACE) return length;
    if (i == RADIUS) return plane || ground ? 0 : length;
    return t->p.sharp || !(plane || ground) ? 0 : i == ROUND ? part * x : part * size * size;
}

void snw_shapes_subtract(const snw_model *m, const snw_work *w, const snw_shape_product *x,
                         double *bar) {
    shape_trial t = {.m = *m, .p = m->contact_point[x->point], .w = *w};
    const int contact = t.p.contact;
    shape_motion now;
    t.c = m->contact[contact];
    t.p.contact = 0;
    t.m.contact = &t.c, t.m.contact_point = &t.p;
    t.m.ncontact = t.m.ncontact_point = 1;
    t.w.contact_point = &t.at;
    t.w.hard_is_given = false;
    move_trial(&t, w, x, &now);
    for (int n = 0; n < CONTACT + POINT; n++) {
        const bool of_point = n >= CONTACT;
        const int i = of_point ? n - CONTACT : n;
        const double at = of_point ? *point_number(&t.p, i) : *contact_number(&t.c, i);
        const double step = move_of(m, &t, of_point, i, at);
        double sum[MOTION] = {0}, value[MOTION];
        shape_motion moved, by;
        if (step == 0) continue;
        for (int j = -SAMPLES; j <= SAMPLES; j++) {
            if (j == 0) continue;
            if (of_point) {
                set_point_number(&t.p, i, at + j * step);
            } else {
                *contact_number(&t.c, i) = at + j * step;
            }
            move_trial(&t, w, x, &moved);
            memcpy(value, &moved, sizeof moved);
            const double weight =
                (j < 0 ? -snw_adjoint_weight[-j - 1] : snw_adjoint_weight[j - 1]) / step;
            for (int k = 0; k < (int)MOTION; k++) sum[k] += weight * value[k];
        }
        if (of_point) {
            set_point_number(&t.p, i, at);
        } else {
            *contact_number(&t.c, i) = at;
        }
        memcpy(&by, sum, sizeof by);
        double *to = of_point ? bar + CONTACT * (size_t)m->ncontact + POINT * (size_t)x->point
                              : bar + CONTACT * (size_t)contact;
        to[i] -= vary_product(m, w, x, &now, &by);
    }
}
