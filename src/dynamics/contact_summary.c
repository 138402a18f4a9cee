// SPDX-License-Identifier: MIT
//
// A contact as a whole: the sums over its points that probes and results show.
#include "dynamics/contact.h"
#include "dynamics/rod_contact.h"

#include <math.h>

snw_wrench snw_contact_wrench(const snw_model *m, const snw_work *w, int contact) {
    snw_wrench sum = {0};
    if (m->contact[contact].line > 0) return snw_rod_contact_wrench(m, w, contact);
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        const snw_contact *c = &m->contact[p->contact];
        if (c->of != contact || p->wheel || !w->contact_point[k].in_contact) continue;
        const snw_wrench F = snw_wrench_to_parent(w->g[p->seg], snw_contact_point_wrench(w, k));
        sum = c->reversed ? snw_wrench_sub(sum, F) : snw_wrench_add(sum, F);
    }
    return sum;
}

snw_contact_summary snw_contact_summarise(const snw_model *m, const snw_work *w, int contact) {
    snw_contact_summary c = {.gap = NAN, .nearest = -1};
    snw_vec3 sum = {{0}};
    if (m->contact[contact].line > 0) return snw_rod_contact_summarise(m, w, contact);
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        const snw_contact_point_work *at = &w->contact_point[k];
        if (m->contact[p->contact].of != contact || p->wheel) continue;
        const snw_vec3 place = snw_se3_point(w->g[p->seg], at->s);
        if (!(at->gap >= c.gap)) {
            c.gap = at->gap;
            c.nearest = k;
            c.place = place;
        }
        if (!at->in_contact) continue;
        c.touching++;
        c.force += at->elastic_force;
        c.energy += snw_contact_point_energy(m, w, k);
        const double approach = snw_dot(at->d, at->v);
        c.slip = fmax(c.slip, snw_norm(snw_sub(at->v, snw_scale(approach, at->d))));
        sum = snw_add(sum, snw_scale(at->elastic_force, place));
    }
    if (c.force > 0) c.place = snw_scale(1 / c.force, sum);
    return c;
}
