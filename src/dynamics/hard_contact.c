// SPDX-License-Identifier: MIT
//
// Hard contacts of all kinds (dynamics/hard_contact.h).
#include "dynamics/hard_contact.h"

#include <math.h>
#include <string.h>

int snw_hard_most(const snw_model *m) {
    int n = 0;
    for (int k = 0; k < m->ncontact_point; k++) n += snw_contact_is_hard(m, k);
    for (int i = 0; i < m->nstop; i++) n += m->stop[i].hard ? 2 : 0;
    for (int i = 0; i < m->ncontact; i++) {
        if (m->contact[i].hard && m->contact[i].line > 0) return n + m->most_touch;
    }
    return n;
}

bool snw_hard_is_same(const snw_model *m, const snw_hard_contact *a, const snw_hard_contact *b) {
    if (a->point >= 0 || b->point >= 0) return a->point == b->point;
    if (a->limit >= 0 || b->limit >= 0) return a->limit == b->limit;
    return snw_hard_touch_is_same(m, &a->touch, &b->touch);
}

int snw_hard_law(const snw_model *m, const snw_hard_contact *c) {
    if (c->limit >= 0) return -1 - c->limit / 2;
    return c->point >= 0 ? m->contact_point[c->point].contact : c->touch.contact;
}

static const char *stop_link(const snw_model *m, int stop) {
    return m->label.link[m->seg[m->block[m->stop[stop].block].seg].link].name;
}

const char *snw_hard_law_name(const snw_model *m, int law) {
    return law >= 0 ? m->label.contact[m->contact[law].of].name : stop_link(m, -1 - law);
}

void snw_hard_friction(const snw_model *m, const snw_hard_contact *c, double mu[2]) {
    const int law = snw_hard_law(m, c);
    mu[0] = law >= 0 ? m->contact[law].along : 0;
    mu[1] = law >= 0 ? m->contact[law].across : 0;
}

double snw_hard_restitution(const snw_model *m, const snw_hard_contact *c) {
    const int law = snw_hard_law(m, c);
    return law >= 0 ? m->contact[law].restitution : m->stop[-1 - law].restitution;
}

const char *snw_hard_link(const snw_model *m, const snw_hard_contact *c, int k) {
    if (c->limit >= 0) return k == 0 ? stop_link(m, c->limit / 2) : NULL;
    if (c->point < 0) return snw_touch_link(m, &c->touch, k);
    return k == 0 ? m->label.link[m->contact_point[c->point].link].name : NULL;
}

// ---- limits of hard stops -----------------------------------------------------------------------

// Direction in which a limit pushes the coordinate.
static double limit_way(int limit) { return limit % 2 == 0 ? 1 : -1; }

// Gap as a length, m; w has that of the limit that acts or is nearer.
static double limit_gap(const snw_model *m, const snw_work *w, int limit) {
    const snw_stop *stop = &m->stop[limit / 2];
    const snw_stop_work *at = &w->stop[limit / 2];
    const bool own = at->way == limit_way(limit);
    return stop->arm * (own ? at->gap : stop->high - stop->low - at->gap);
}

int snw_hard_limits_near(const snw_model *m, const snw_work *w, double reach,
                         snw_hard_contact *out) {
    int n = 0;
    for (int i = 0; i < m->nstop; i++) {
        const snw_block *b = &m->block[m->stop[i].block];
        if (!m->stop[i].hard || !snw_seg_is_active(m, w, b->seg)) continue;
        for (int k = b->space == SNW_SPACE_SO3; k < 2; k++) { // a cone has its upper limit only
            const double gap = limit_gap(m, w, 2 * i + k);
            if (gap < reach && gap < INFINITY) out[n++] = snw_hard_limit(2 * i + k);
        }
    }
    return n;
}

bool snw_hard_near(const snw_model *m, const snw_work *w, double points, double rods,
                   snw_touch *near, snw_hard_contact *out, int *n) {
    *n = snw_hard_limits_near(m, w, points, out);
    for (int k = 0; k < m->ncontact_point; k++) {
        if (!snw_contact_is_hard(m, k) || !snw_contact_exists(m, w, k)) continue;
        if (w->contact_point[k].gap < points) out[(*n)++] = snw_hard_point(k);
    }
    if (!m->ntouching_rod) return true;
    const int found = snw_hard_touches_near(m, w, rods, m->most_touch, near);
    for (int i = 0; i < found && i < m->most_touch; i++) out[(*n)++] = snw_hard_rods(&near[i]);
    return found <= m->most_touch;
}

static void limit_velocity(const snw_model *m, const snw_work *w, int limit, double u[3]) {
    const snw_stop_work *at = &w->stop[limit / 2];
    u[0] = m->stop[limit / 2].arm * limit_way(limit) * at->way * at->rate;
    u[1] = u[2] = 0;
}

static void limit_rows(const snw_model *m, const snw_work *w, int limit, double *G) {
    const snw_stop *stop = &m->stop[limit / 2];
    const snw_block *b = &m->block[stop->block];
    memset(G, 0, 3 * (size_t)m->nv * sizeof *G);
    for (int k = 0; k < b->n; k++)
        G[b->dof + k] = stop->arm * limit_way(limit) * w->stop[limit / 2].n.e[k];
}

// ---- contacts of all kinds ----------------------------------------------------------------------

void snw_hard_release(const snw_model *m, snw_work *w) {
    for (int k = 0; k < m->ncontact_point; k++) {
        w->hard_force[k] = 0;
        for (int j = 0; j < 3; j++) w->hard_given[3 * k + j] = 0;
    }
    for (int k = 0; k < 2 * m->nstop; k++) w->hard_stop[k] = 0;
    w->nhard_touch = 0;
}

void snw_hard_give(const snw_hard_contact *c, const double P[3], snw_work *w) {
    if (c->limit >= 0) {
        w->hard_stop[c->limit] = P[0];
    } else if (c->point >= 0) {
        w->hard_force[c->point] = P[0];
        for (int j = 1; j < 3; j++) w->hard_given[3 * c->point + j] = P[j];
    } else {
        snw_touch *touch = &w->hard_touch[w->nhard_touch++];
        *touch = c->touch;
        for (int j = 0; j < 3; j++) touch->held[j] = P[j];
    }
}

double snw_hard_gap(const snw_model *m, const snw_work *w, snw_hard_contact *c) {
    if (c->limit >= 0) return limit_gap(m, w, c->limit);
    if (c->point >= 0) return w->contact_point[c->point].gap;
    snw_hard_touch_place(m, w, &c->touch);
    return c->touch.gap;
}

void snw_hard_velocity(const snw_model *m, const snw_work *w, const snw_hard_contact *c,
                       double u[3]) {
    if (c->limit >= 0) {
        limit_velocity(m, w, c->limit, u);
    } else if (c->point >= 0) {
        snw_contact_velocity(m, w, c->point, u);
    } else {
        snw_hard_touch_velocity(m, w, &c->touch, u);
    }
}

void snw_hard_rows(const snw_model *m, const snw_work *w, const snw_hard_contact *c, double *G) {
    if (c->limit >= 0) {
        limit_rows(m, w, c->limit, G);
    } else if (c->point >= 0) {
        snw_contact_rows(m, w, c->point, G);
    } else {
        snw_hard_touch_rows(m, w, &c->touch, G);
    }
}

int snw_hard_axes(const snw_model *m, const snw_work *w, const snw_hard_contact *c,
                  snw_vec3 axis[3]) {
    if (c->limit >= 0) { // rows of the coordinate, without directions in space
        for (int i = 0; i < 3; i++) axis[i] = (snw_vec3){{i == 0, i == 1, i == 2}};
        return 0;
    }
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
    if (c->limit >= 0) return *own = 0;
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
