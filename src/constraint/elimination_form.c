// SPDX-License-Identifier: MIT
//
// Linear forms in the states of segments and the coordinates, theory.md (4.7a): variations of the
// length, speed and angles of a tendon with friction at one of its points. They depend on the
// coordinates at one section, or on the states of the segments at the ends of a straight part and
// on both sides of a corner.

#include "constraint/elimination_private.h"

#include "base/alloc.h"
#include "dynamics/tendon_corner.h"
#include "dynamics/tendon_point.h"

// ---- linear forms -------------------------------------------------------------------------------

static int functions_at(const snw_model *m, const snw_tendon_point *p) {
    int n = 0;
    for (int a = 0; p->segment < 0 && a < m->rod[p->rod].na; a++) n += p->count[a];
    return n;
}

// Entries of a form at point k at most: of a straight part 6 and 12 of its ends, of a corner two of
// these or the functions of the rods' ends.
int snw_form_room(const snw_model *m, int k) {
    const snw_tendon_point *p = &m->tendon_point[k];
    int n = 24 + functions_at(m, p);
    for (int side = 0; p->corner >= 0 && side < 2; side++) {
        const snw_duct *duct = &m->tendon_corner[p->corner].duct[side];
        n += 6 + (duct->end.rod < 0 ? 0 : functions_at(m, &duct->end));
    }
    return n;
}

static void form_put(snw_form *f, int seg, int at, double value) {
    f->entry[f->n++] = (snw_form_entry){seg, at, value};
}

// f += c1 . phi + c2 . dphi of the functions at a point; c2 NULL: none
static void form_functions(snw_form *f, const snw_model *m, const snw_tendon_point *p,
                           const double *c1, const double *c2) {
    const snw_rod *rod = &m->rod[p->rod];
    int n = p->phi;
    for (int a = 0; a < rod->na; n += p->count[a], a++) {
        const int c = rod->comp[a];
        for (int j = 0; j < p->count[a]; j++) {
            const double of_slope = c2 ? c2[c] * m->tendon_dphi[n + j] : 0;
            form_put(f, 0, rod->dof[a] + p->first[a] + j, c1[c] * m->tendon_phi[n + j] + of_slope);
        }
    }
}

// f += g . components first .. first + 2 of the state of a segment, g in its axes
static void form_state(snw_form *f, int seg, int first, snw_vec3 g) {
    for (int k = 0; seg > 0 && k < 3; k++) form_put(f, seg, first + k, g.e[k]);
}

// f += g . (displacement of b less that of a), g in world axes
static void form_straight(snw_form *f, const snw_tendon_segment *p, const snw_work *w, snw_vec3 g) {
    form_state(f, p->a, 3, snw_scale(-1, snw_rotate_inv(w->g[p->a].R, g)));
    form_state(f, p->b, 3, snw_rotate_inv(w->g[p->b].R, g));
}

// f += variation of the rate of the length of a straight part: n . d(v_b - v_a) + dn . (v_b - v_a)
static void form_straight_rate(snw_form *f, const snw_tendon_segment *p, const snw_work *w,
                               const snw_tendon_point_work *at, double cq, double cv) {
    snw_vec3 v = {{0}};
    const int end[2] = {p->a, p->b};
    for (int k = 0; k < 2; k++)
        v = snw_add(v, snw_scale(k ? 1 : -1, snw_rotate(w->g[end[k]].R, w->V[end[k]].v)));
    const snw_vec3 across = snw_scale(cq / at->f, snw_sub(v, snw_scale(at->df, at->n)));
    form_straight(f, p, w, snw_add(across, snw_scale(cv, at->n)));
    for (int k = 0; k < 2; k++) { // d(R v) = R (zeta'.v + w x zeta.v)
        const snw_vec3 n = snw_scale(k ? cq : -cq, snw_rotate_inv(w->g[end[k]].R, at->n));
        form_state(f, end[k], 9, n);
        form_state(f, end[k], 3, snw_cross(n, w->V[end[k]].w));
    }
}

// f += factor times the variation of the angle at a corner
static void form_corner(snw_form *f, const snw_model *m, int i, const snw_work *w, double factor) {
    const snw_tendon_corner *c = &m->tendon_corner[i];
    const snw_tendon_corner_work *at = &w->tendon_corner[i];
    const snw_vec3 slope = snw_scale(factor, snw_tendon_corner_slope(i, w));
    for (int side = 0; side < 2; side++) {
        const snw_duct *duct = &c->duct[side];
        const snw_vec3 g = snw_scale(side ? 1 : -1, slope);
        if (duct->end.rod < 0) {
            const int k = c->point - 1 + side;
            const snw_vec3 n = w->tendon_point[k].n;
            form_straight(
                f, &m->tendon_segment[m->tendon_point[k].segment], w,
                snw_scale(1 / w->tendon_point[k].f, snw_sub(g, snw_scale(snw_dot(n, g), n))));
            continue;
        }
        const snw_mat3 R = w->g[duct->seg].R;
        const snw_twist own = {{.v = snw_rotate_inv(R, g)}};
        form_state(f, duct->seg, 0, snw_cross(snw_rotate_inv(R, at->d[side]), own.v));
        double d1[6];
        snw_tendon_point_d2(&duct->end, at->xi[side], own, d1);
        form_functions(f, m, &duct->end, d1, NULL);
    }
}

double snw_form_times(const snw_elimination *e, const snw_form *f, const double *x) {
    double sum = 0;
    for (int k = 0; k < f->n; k++) {
        const snw_form_entry *t = &f->entry[k];
        sum += t->value *
               (t->seg ? e->state[(size_t)t->seg * (size_t)e->ns + (size_t)t->at] : x[t->at]);
    }
    return sum;
}

void snw_form_push(snw_elimination *e, const snw_form *f, double factor, double on_segments,
                   double *y) {
    for (int k = 0; k < f->n; k++) {
        const snw_form_entry *t = &f->entry[k];
        if (t->seg) {
            e->f[t->seg].e[t->at] += on_segments * t->value;
        } else {
            y[t->at] += factor * t->value;
        }
    }
}

void snw_form_add(snw_form *to, const snw_form *f, double factor) {
    for (int k = 0; factor != 0 && k < f->n; k++)
        form_put(to, f->entry[k].seg, f->entry[k].at, factor * f->entry[k].value);
}

// ---- points -------------------------------------------------------------------------------------

snw_status snw_forms_create(snw_elimination *e) {
    const snw_model *m = e->m;
    size_t most = 0, points = 0;
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *t = &m->tendon[i];
        for (int k = t->point_adr; t->has_friction && k < t->point_adr + t->npoint; k++, points++) {
            const size_t n = (size_t)snw_form_room(m, k);
            most = n > most ? n : most;
        }
    }
    if (points == 0) return SNW_OK;
    e->form_entry = snw_alloc(SNW_FORMS * most * sizeof *e->form_entry);
    e->along = snw_alloc((size_t)m->ntendon_point * sizeof *e->along);
    if (!e->form_entry || !e->along) return SNW_E_MEMORY;
    for (size_t i = 0; i < SNW_FORMS; i++) e->form[i].entry = e->form_entry + i * most;
    return SNW_OK;
}

snw_friction_at snw_friction_forms(snw_elimination *e, const snw_tangent_at *at, const snw_work *w,
                                   int tendon, int k) {
    const snw_model *m = e->m;
    const snw_tendon_point *p = &m->tendon_point[k];
    const snw_tendon_point_work *now = &w->tendon_point[k];
    const snw_tendon_slide sl = snw_tendon_slide_at(m, tendon, w);
    snw_form *of = e->form;
    snw_friction_at x = {.f = snw_tendon_friction_point_at(m, tendon, k, w),
                         .T = w->tendon[tendon].effort * now->tension_fraction};
    for (int i = 0; i < SNW_FORMS; i++) of[i].n = 0;
    const double by_length = -sl.r * sl.a * at->cq;
    if (p->segment >= 0) {
        const snw_tendon_segment *s = &m->tendon_segment[p->segment];
        form_straight(&of[SNW_FORM_LENGTH], s, w, now->n);
        if (e->ns > 6)
            form_straight_rate(&of[SNW_FORM_SPEED], s, w, now, sl.r * at->cq,
                               sl.r * at->cv + by_length);
    } else {
        double length[6], speed[6], of_xi[6], of_dxi[6];
        for (int c = 0; c < 6; c++) {
            length[c] = p->w * x.f.d1[c];
            speed[c] =
                p->w * (sl.r * (at->cq * x.f.d2[c] + at->cv * x.f.d1[c]) + by_length * x.f.d1[c]);
            of_xi[c] = at->cq * x.f.of_xi[c], of_dxi[c] = at->cq * x.f.of_dxi[c];
        }
        form_functions(&of[SNW_FORM_LENGTH], m, p, length, NULL);
        form_functions(&of[SNW_FORM_SPEED], m, p, speed, NULL);
        form_functions(&of[SNW_FORM_TURN], m, p, of_xi, of_dxi);
    }
    if (p->corner >= 0) form_corner(&of[SNW_FORM_CORNER], m, p->corner, w, at->cq * x.f.corner);
    return x;
}
