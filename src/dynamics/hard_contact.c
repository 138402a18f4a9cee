// SPDX-License-Identifier: MIT
//
// Hard contacts of all kinds (dynamics/hard_contact.h).
#include "dynamics/hard_contact.h"

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
