// SPDX-License-Identifier: MIT
//
// Tendons with friction in an elimination along the rod, theory.md (4.7a). From the pulled end on
// the tension falls by the angle of the path, and depends on the speed with which the remaining
// path slides: every section is coupled with all those before it and behind it, but only by two
// numbers from point to point, the variations
//   N_k = dnu_k = N_(k+1) - w_k (cq f_k' phi + cv df_k/dxi phi) x
//   M_k = d(ln T_k) - cq after_k turn_k x = M_(k-1) - by_speed_k N_k - cq (before_k + after_k)
//   turn_k x
// with turn_k x the variation of the angle per length at the point. They are unknowns beside the
// coordinates of the rod, in use between the slices of neighbouring points, and the forces are
//   dr = sum_k w_k T_k (df_k/dxi phi)' (M_k + cq after_k turn_k x).

#include "constraint/elimination_private.h"

#include "base/alloc.h"
#include "dynamics/tendon_friction.h"

#include <string.h>

// Factor of the rows of the unknowns: pivots of a block are chosen by size among those of the
// coordinates first, and then among these.
static const double SMALL = 1e-30;

// Segment of the slice of a rod that ends at x or beyond.
static int slice_at(const snw_model *m, const snw_rod *rod, double x) {
    int low = rod->seg0, high = rod->seg0 + rod->nseg - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        const snw_slice *sl = &m->slice[m->seg[middle].item];
        if (sl->x + sl->h >= x) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

int snw_slice_of_tendon_point(const snw_model *m, int k) {
    const snw_tendon_point *p = &m->tendon_point[k];
    return p->segment >= 0 ? 0 : slice_at(m, &m->rod[p->rod], p->x);
}

// ---- plan ---------------------------------------------------------------------------------------

snw_status snw_friction_create(snw_elimination *e) {
    const snw_model *m = e->m;
    bool any = false;
    for (int i = 0; i < m->ntendon; i++)
        any |= m->tendon[i].has_friction && !snw_tendon_is_sliding(m, i);
    if (!any) return SNW_OK;
    e->friction = snw_alloc((size_t)m->ntendon_point * sizeof *e->friction);
    if (!e->friction) return SNW_E_MEMORY;
    for (int k = 0; k < m->ntendon_point; k++) e->friction[k] = -1;
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *t = &m->tendon[i];
        if (snw_tendon_is_sliding(m, i)) continue;
        for (int k = t->point_adr; t->has_friction && k < t->point_adr + t->npoint; k++) {
            e->friction[k] = m->nv + e->nfriction;
            e->nfriction += 2;
        }
    }
    e->extended = snw_alloc((size_t)(m->nv + e->nfriction) * sizeof *e->extended);
    return e->extended ? SNW_OK : SNW_E_MEMORY;
}

static int tendon_of(const snw_model *m, int point) {
    int i = 0;
    while (point >= m->tendon[i].point_adr + m->tendon[i].npoint) i++;
    return i;
}

// Neighbour of point k towards the pulled end (-1) or the fixed end (1) of its tendon; -1: none.
static int neighbour(const snw_elimination *e, int k, int side) {
    const snw_tendon *t = &e->m->tendon[tendon_of(e->m, k)];
    const int to = k + side;
    return to >= t->point_adr && to < t->point_adr + t->npoint ? to : -1;
}

static void use_between(int unknown, int a, int b, int *first, int *last) {
    first[unknown] = a < b ? a : b;
    last[unknown] = a < b ? b : a;
}

void snw_friction_use(const snw_elimination *e, int *first, int *last) {
    const snw_model *m = e->m;
    for (int k = 0; e->friction && k < m->ntendon_point; k++) {
        if (e->friction[k] < 0) continue;
        const int at = snw_slice_of_tendon_point(m, k), before = neighbour(e, k, -1),
                  behind = neighbour(e, k, 1);
        use_between(e->friction[k], at, before < 0 ? at : snw_slice_of_tendon_point(m, before),
                    first, last);
        use_between(e->friction[k] + 1, at, behind < 0 ? at : snw_slice_of_tendon_point(m, behind),
                    first, last);
    }
}

static bool has(int n, const int *list, int x) {
    while (n > 0 && list[n - 1] != x) n--;
    return n > 0;
}

int snw_friction_enter(const snw_elimination *e, int i, const int *last, int n, int *dof) {
    for (int j = e->point_of_seg[i]; j < e->point_of_seg[i + 1]; j++) {
        const int k = e->point[j];
        if (e->friction[k] < 0) continue;
        const int before = neighbour(e, k, -1), behind = neighbour(e, k, 1);
        const int near[] = {e->friction[k], e->friction[k] + 1,
                            behind < 0 ? -1 : e->friction[behind],
                            before < 0 ? -1 : e->friction[before] + 1};
        for (int a = 0; a < 4; a++) {
            if (near[a] >= 0 && last[near[a]] == i && !has(n, dof, near[a])) dof[n++] = near[a];
        }
    }
    return n;
}

// ---- numbers ------------------------------------------------------------------------------------

static bool friction_varies(const snw_elimination *e, const snw_tangent_at *at, int tendon,
                            const snw_work *w) {
    return (at->cq != 0 || at->cv != 0) && snw_tendon_friction_acts(e->m, tendon, w);
}

static snw_by_function vary(const snw_tendon_friction_point *f, const snw_tendon_slide *sl,
                            const snw_tangent_at *at, double weight, int c, double phi,
                            double dphi) {
    const double speed = sl->r * (at->cq * (f->d2[c] - sl->a * f->d1[c]) + at->cv * f->d1[c]);
    return (snw_by_function){weight * f->d1[c] * phi, weight * speed * phi,
                             at->cq * (f->of_xi[c] * phi + f->of_dxi[c] * dphi)};
}

// Places among the y unknowns dof of the coordinates at point k, and their variations by place.
// Returns their number.
static int vary_each(const snw_model *m, const snw_tendon_friction_point *f,
                     const snw_tendon_slide *sl, const snw_tangent_at *at, int k, int y,
                     const int *dof, int *place, snw_by_function *out) {
    const snw_tendon_point *p = &m->tendon_point[k];
    const snw_rod *rod = &m->rod[p->rod];
    int found = 0;
    for (int c = 0; c < y; c++) {
        int n = p->phi;
        for (int a = 0; a < rod->na; n += p->count[a], a++) {
            const int j = dof[c] - rod->dof[a] - p->first[a];
            if (j < 0 || j >= p->count[a]) continue;
            out[found] =
                vary(f, sl, at, p->w, rod->comp[a], m->tendon_phi[n + j], m->tendon_dphi[n + j]);
            place[found++] = c;
            break;
        }
    }
    return found;
}

static int place_in(const int *dof, int y, int unknown) {
    int k = y - 1;
    while (k >= 0 && dof[k] != unknown) k--;
    return k;
}

static void add_point(snw_elimination *e, const snw_tangent_at *at, int i, int k,
                      const snw_work *w) {
    const snw_model *m = e->m;
    const snw_segment_plan *plan = &e->plan[i];
    const int y = plan->kept + plan->leaving, ld = e->ns + y, tendon = tendon_of(m, k);
    const int *dof = e->list + plan->list;
    const int before = neighbour(e, k, -1), behind = neighbour(e, k, 1);
    const int n = place_in(dof, y, e->friction[k]), t = place_in(dof, y, e->friction[k] + 1);
    double *speed = e->W + (6 + n) * ld + e->ns, *tension = e->W + (6 + t) * ld + e->ns;
    if (!friction_varies(e, at, tendon, w)) {
        speed[n] += 1;
        tension[t] += 1;
        return;
    }
    const snw_tendon_friction_point f = snw_tendon_friction_point_at(m, tendon, k, w);
    const snw_tendon_slide sl = snw_tendon_slide_at(m, tendon, w);
    const double T = w->tendon[tendon].effort * w->tendon_point[k].tension_fraction;
    speed[n] += SMALL;
    if (behind >= 0) speed[place_in(dof, y, e->friction[behind])] -= SMALL;
    tension[t] += SMALL;
    tension[n] += SMALL * f.by_speed;
    if (before >= 0) tension[place_in(dof, y, e->friction[before] + 1)] -= SMALL;
    const int nz = vary_each(m, &f, &sl, at, k, y, dof, e->near, e->by_near);
    for (int c = 0; c < nz; c++) {
        const snw_by_function by = e->by_near[c];
        speed[e->near[c]] += SMALL * by.speed;
        tension[e->near[c]] += SMALL * (f.before + f.after) * by.turn;
        double *row = e->W + (6 + e->near[c]) * ld + e->ns;
        row[t] += T * by.stretch;
        for (int j = 0; j < nz; j++)
            row[e->near[j]] += T * by.stretch * f.after * e->by_near[j].turn;
    }
}

void snw_friction_add(snw_elimination *e, const snw_tangent_at *at, int i, const snw_work *w) {
    for (int j = e->point_of_seg[i]; j < e->point_of_seg[i + 1]; j++) {
        if (e->friction[e->point[j]] >= 0) add_point(e, at, i, e->point[j], w);
    }
}
