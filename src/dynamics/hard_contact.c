// SPDX-License-Identifier: MIT
//
// Hard contacts of all kinds (dynamics/hard_contact.h).
#include "dynamics/hard_contact.h"

#include <string.h>

int snw_hard_most(const snw_model *m) {
    int n = 0;
    for (int k = 0; k < m->ncontact_point; k++) n += snw_contact_is_hard(m, k);
    for (int i = 0; i < m->ncontact; i++) {
        if (m->contact[i].hard && m->contact[i].line > 0) return n + m->most_touch;
    }
    return n;
}

bool snw_hard_is_same(const snw_model *m, const snw_hard_contact *a, const snw_hard_contact *b) {
    if (a->point >= 0 || b->point >= 0) return a->point == b->point;
    return snw_hard_touch_is_same(m, &a->touch, &b->touch);
}

int snw_hard_law(const snw_model *m, const snw_hard_contact *c) {
    return c->point >= 0 ? m->contact_point[c->point].contact : c->touch.contact;
}

const char *snw_hard_link(const snw_model *m, const snw_hard_contact *c, int k) {
    if (c->point < 0) return snw_touch_link(m, &c->touch, k);
    return k == 0 ? m->label.link[m->contact_point[c->point].link].name : NULL;
}

double snw_hard_gap(const snw_model *m, const snw_work *w, snw_hard_contact *c) {
    if (c->point >= 0) return w->contact_point[c->point].gap;
    snw_hard_touch_place(m, w, &c->touch);
    return c->touch.gap;
}

void snw_hard_velocity(const snw_model *m, const snw_work *w, const snw_hard_contact *c,
                       double u[3]) {
    if (c->point >= 0) {
        snw_contact_velocity(m, w, c->point, u);
    } else {
        snw_hard_touch_velocity(m, w, &c->touch, u);
    }
}

void snw_hard_rows(const snw_model *m, const snw_work *w, const snw_hard_contact *c, double *G) {
    if (c->point >= 0) {
        snw_contact_rows(m, w, c->point, G);
    } else {
        snw_hard_touch_rows(m, w, &c->touch, G);
    }
}

int snw_hard_axes(const snw_model *m, const snw_work *w, const snw_hard_contact *c,
                  snw_vec3 axis[3]) {
    if (c->point >= 0) {
        snw_contact_axes(w, c->point, axis);
        return m->contact_point[c->point].seg;
    }
    const int seg = m->touching_slice[c->touch.slice[0]].seg[1];
    snw_hard_touch_axes(&c->touch, axis);
    for (int i = 0; i < 3; i++) axis[i] = snw_rotate_inv(w->g[seg].R, axis[i]);
    return seg;
}

double snw_hard_gradient(const snw_work *w, const snw_hard_contact *c) {
    return c->point >= 0 ? w->contact_point[c->point].gradient : 1;
}

int snw_hard_power_bars(const snw_model *m, const snw_work *w, const snw_hard_contact *c,
                        const double f[3], const snw_twist *eta, snw_contact_bars *out, int *own) {
    if (c->point >= 0) {
        const int n = snw_contact_power_bars(m, w, c->point, f, eta, out);
        *own = n - 1;
        return n;
    }
    snw_hard_touch_power_bars(m, w, &c->touch, f, eta, out);
    *own = 2;
    return 4;
}

int snw_hard_force_bars(const snw_model *m, const snw_work *w, const snw_hard_contact *c,
                        const double f[3], snw_vec3 e, snw_twist *eta, snw_contact_bars *out) {
    int own;
    int n = snw_hard_power_bars(m, w, c, f, eta, out, &own); // segments
    const snw_contact_bars at = *out;
    for (int i = 0; i < own; i++) eta[at.seg[i]].v = snw_rotate_inv(w->g[at.seg[i]].R, e);
    n = snw_hard_power_bars(m, w, c, f, eta, out, &own);
    for (int i = 0; i < own; i++) { // the axes of the segments turn in the world
        const snw_vec3 v = eta[at.seg[i]].v;
        out->pose[i].m = snw_add(out->pose[i].m, snw_cross(at.V[i].f, v));
    }
    for (int i = 0; i < own; i++) eta[at.seg[i]] = snw_twist_zero();
    memset(out->V, 0, sizeof out->V);
    return n;
}

void snw_hard_power_row(const snw_model *m, const snw_work *w, int n, const snw_contact_bars *bars,
                        double *row) {
    for (int i = 0; i < n; i++) {
        const int seg = bars->seg[i];
        const snw_path *path = &m->path[m->seg[seg].path];
        if (path->n == 0) continue;
        const double *J = w->J + m->seg_store[seg], *dJ = w->dJ + m->seg_store[seg];
        // delta V = (J' + ad_V J) x + J x', theory.md (4.2)
        const snw_wrench pose = snw_wrench_add(bars->pose[i], snw_ad_pull(w->V[seg], bars->V[i]));
        for (int j = 0; j < path->n; j++) {
            double by_place = 0, by_rate = 0;
            for (int e = 0; e < 6; e++) {
                const size_t at = (size_t)e * (size_t)path->ld + (size_t)j;
                by_place += pose.e[e] * J[at] + bars->V[i].e[e] * dJ[at];
                by_rate += bars->V[i].e[e] * J[at];
            }
            row[path->dof[j]] += by_place;
            row[m->nv + path->dof[j]] += by_rate;
        }
    }
}
