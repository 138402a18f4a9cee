// SPDX-License-Identifier: MIT
//
// Tendons with friction along several rods, through the air and round corners, in the equations
// with states and wrenches as unknowns, theory.md (4.8a). The speed N_k and the tension M_k =
// d(ln T_k) - cq after_k turn_k at each point are unknowns as along one rod (4.7a):
//   N_k = N_(k+1) - d(speed of part k),
//   M_k = M_(k-1) - by_speed_k N_k - cq ((before_k + after_k) turn_k + s_k corner_k),
//   forces += T_k (dl_k/dq)' (M_k + cq after_k turn_k).

#include "constraint/elimination_private.h"

#include "base/alloc.h"

bool snw_sliding_acts(const snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    if (!e->sliding || (at->cq == 0 && at->cv == 0)) return false;
    for (int i = 0; i < e->m->ntendon; i++) {
        if (e->sliding[e->m->tendon[i].point_adr] >= 0 && snw_tendon_friction_acts(e->m, i, w))
            return true;
    }
    return false;
}

// Does the tendon leave its rod, or pass a corner?
static bool tendon_leaves_rod(const snw_model *m, const snw_tendon *t) {
    for (int k = t->point_adr; k < t->point_adr + t->npoint; k++) {
        if (m->tendon_point[k].segment >= 0 || m->tendon_point[k].corner >= 0) return true;
    }
    return false;
}

bool snw_tendon_is_sliding(const snw_model *m, int i) {
    return m->tendon[i].has_friction && tendon_leaves_rod(m, &m->tendon[i]);
}

snw_status snw_sliding_create(snw_elimination *e) {
    const snw_model *m = e->m;
    bool any = false;
    for (int i = 0; i < m->ntendon; i++) any |= snw_tendon_is_sliding(m, i);
    if (!any) return SNW_OK;
    e->sliding = snw_alloc((size_t)m->ntendon_point * sizeof *e->sliding);
    if (!e->sliding) return SNW_E_MEMORY;
    for (int k = 0; k < m->ntendon_point; k++) e->sliding[k] = -1;
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *t = &m->tendon[i];
        if (!snw_tendon_is_sliding(m, i)) continue;
        for (int k = t->point_adr; k < t->point_adr + t->npoint; k++) e->sliding[k] = e->nsliding++;
    }
    return SNW_OK;
}

// ---- entries ------------------------------------------------------------------------------------

// Row of the speed of point k in its cell; the tension follows.
static void add_form(snw_elimination *e, int k, int row, const snw_form *f, double factor) {
    for (int i = 0; i < f->n; i++) {
        const snw_form_entry *t = &f->entry[i];
        snw_mixed_add(e, snw_mixed_point(e, k, row),
                      t->seg ? snw_mixed_state(e, t->seg, t->at) : snw_mixed_dof(e, t->at),
                      factor * t->value);
    }
}

static void add_identity(snw_elimination *e, int k) {
    for (int row = 0; row < 2; row++)
        snw_mixed_add(e, snw_mixed_point(e, k, row), snw_mixed_point(e, k, row), 1);
}

void snw_sliding_add(snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    const snw_model *m = e->m;
    const snw_form *of = e->form;
    for (int i = 0; e->sliding && i < m->ntendon; i++) {
        const snw_tendon *t = &m->tendon[i];
        if (e->sliding[t->point_adr] < 0) continue;
        const bool acts = snw_tendon_friction_acts(m, i, w);
        for (int k = t->point_adr; k < t->point_adr + t->npoint; k++) {
            add_identity(e, k);
            if (!acts) continue;
            const snw_friction_at p = snw_friction_forms(e, at, w, i, k);
            if (k + 1 < t->point_adr + t->npoint)
                snw_mixed_add(e, snw_mixed_point(e, k, 0), snw_mixed_point(e, k + 1, 0), -1);
            add_form(e, k, 0, &of[SNW_FORM_SPEED], 1);
            if (k > t->point_adr)
                snw_mixed_add(e, snw_mixed_point(e, k, 1), snw_mixed_point(e, k - 1, 1), -1);
            snw_mixed_add(e, snw_mixed_point(e, k, 1), snw_mixed_point(e, k, 0), p.f.by_speed);
            add_form(e, k, 1, &of[SNW_FORM_TURN], p.f.before + p.f.after);
            add_form(e, k, 1, &of[SNW_FORM_CORNER], 1);
            // forces
            const snw_form *length = &of[SNW_FORM_LENGTH], *turn = &of[SNW_FORM_TURN];
            for (int a = 0; a < length->n; a++) {
                const snw_form_entry *on = &length->entry[a];
                const snw_mixed_place row =
                    on->seg ? snw_mixed_wrench_row(e, on->seg, on->at) : snw_mixed_dof(e, on->at);
                snw_mixed_add(e, row, snw_mixed_point(e, k, 1), p.T * on->value);
                for (int b = 0; b < turn->n; b++)
                    snw_mixed_add(e, row, snw_mixed_dof(e, turn->entry[b].at),
                                  p.T * on->value * p.f.after * turn->entry[b].value);
            }
        }
    }
}

// ---- couplings ----------------------------------------------------------------------------------

// Cells that the functions at a point have; returns the number of pairs with them.
static int pair_functions(snw_elimination *e, int k, const snw_tendon_point *p, int n) {
    const snw_rod *rod = &e->m->rod[p->rod];
    int last = -1;
    for (int a = 0; a < rod->na; a++) {
        for (int j = 0; j < p->count[a]; j++) {
            const int cell = snw_mixed_dof(e, rod->dof[a] + p->first[a] + j).cell;
            if (cell != last) snw_mixed_pair(e, n++, snw_mixed_point(e, k, 0).cell, cell);
            last = cell;
        }
    }
    return n;
}

static int pair_segment(snw_elimination *e, int k, int seg, int n) {
    if (seg > 0)
        snw_mixed_pair(e, n++, snw_mixed_point(e, k, 0).cell, snw_mixed_state(e, seg, 0).cell);
    return n;
}

static int pair_straight(snw_elimination *e, int k, int segment, int n) {
    const snw_tendon_segment *s = &e->m->tendon_segment[segment];
    return pair_segment(e, k, s->b, pair_segment(e, k, s->a, n));
}

int snw_sliding_pairs(snw_elimination *e, int n) {
    const snw_model *m = e->m;
    for (int i = 0; e->sliding && i < m->ntendon; i++) {
        const snw_tendon *t = &m->tendon[i];
        for (int k = t->point_adr; k < t->point_adr + t->npoint; k++) {
            const snw_tendon_point *p = &m->tendon_point[k];
            if (e->sliding[k] < 0) continue;
            if (k > t->point_adr)
                snw_mixed_pair(e, n++, snw_mixed_point(e, k, 0).cell,
                               snw_mixed_point(e, k - 1, 0).cell);
            n = p->segment >= 0 ? pair_straight(e, k, p->segment, n) : pair_functions(e, k, p, n);
            for (int side = 0; p->corner >= 0 && side < 2; side++) {
                const snw_duct *duct = &m->tendon_corner[p->corner].duct[side];
                if (duct->end.rod < 0) {
                    n = pair_straight(e, k, m->tendon_point[k - 1 + side].segment, n);
                } else {
                    n = pair_functions(e, k, &duct->end, pair_segment(e, k, duct->seg, n));
                }
            }
        }
    }
    return n;
}
