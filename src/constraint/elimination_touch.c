// SPDX-License-Identifier: MIT
//
// Contact of rods with rods in an elimination, theory.md (4.8): the wrenches of all touches of two
// slices act on the four segments at their ends and depend on the poses and velocities of these.
// What a segment's wrench takes from its own motion belongs to the tangent along the tree; each
// touched segment has six unknowns for the rest.

#include "constraint/elimination_private.h"

#include "dynamics/rod_contact.h"

#include <string.h>

enum { STATE = SNW_ELIMINATION_STATE };

void snw_touch_room(const snw_model *m, int *pairs, int *segments, int *all) {
    const int ends = m->ntouching_slice + m->ntouching_rod;
    *pairs = m->most_touch < SNW_LOCAL_TOUCHES ? m->most_touch : SNW_LOCAL_TOUCHES;
    *all = ends;
    *segments = ends < SNW_LOCAL_TOUCHED ? ends : SNW_LOCAL_TOUCHED;
}

// Variation of the wrenches W = -F on the four segments by component j of the state of segment l,
// as in (4.8).
static void vary_touch(const snw_elimination *e, const snw_tangent_at *at, const snw_work *w,
                       const snw_touch_jacobian *of, const int seg[4], int l, int j, double W[24]) {
    snw_twist s[2] = {0}, dV = {0};
    s[j / 6].e[j % 6] = 1;
    if (e->ns == STATE) {
        const snw_twist rate = snw_twist_add(s[1], snw_ad(w->V[seg[l]], s[0]));
        dV = snw_twist_add(snw_twist_scale(at->cq, rate), snw_twist_scale(at->cv, s[0]));
    }
    for (int r = 0; r < 24; r++) {
        double sum = 0;
        for (int c = 0; c < 6; c++) {
            sum += of->by_pose[6 * l + c][r] * at->cq * s[0].e[c];
            sum += of->by_velocity[6 * l + c][r] * dV.e[c];
        }
        W[r] = -sum;
    }
}

// p <- variations of the wrenches of the slices of touch i; returns the first touch of the next
// ones.
static int vary_slices(const snw_elimination *e, const snw_tangent_at *at, const snw_work *w, int i,
                       snw_touch_matrix *p) {
    const int parts = e->ns < 12 ? e->ns : 12; // zeta'' has no part
    snw_touch_jacobian of;
    const int next = snw_rod_contacts_slices(e->m, w, i, p->seg, &of);
    memset(p->E, 0, sizeof p->E);
    for (int l = 0; l < 4; l++) {
        for (int j = 0; j < parts && p->seg[l] > 0; j++) { // 0: the world
            double W[24];
            vary_touch(e, at, w, &of, p->seg, l, j, W);
            for (int r = 0; r < 24; r++) p->E[r][12 * l + j] = W[r];
        }
    }
    return next;
}

// Touches whose wrenches vary.
static int count_varying(const snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    const bool varies = e->m->most_touch > 0 && (at->cq != 0 || at->cv != 0);
    return varies && !w->touching_crowd ? snw_ntouch(e->m, w) : 0;
}

void snw_touch_take(snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    for (int i = 0; i < e->ntouched; i++) e->touched_of_seg[e->touched[i]] = -1;
    e->ntouched = e->ntouch = 0;
    const int n = count_varying(e, at, w);
    for (int i = 0; i < n;) {
        snw_touch_matrix *p = &e->touch[e->ntouch++];
        i = vary_slices(e, at, w, i, p);
        p->is_border = !snw_mixed_has(e, p->seg);
        for (int l = 0; l < 4 && p->is_border; l++) {
            if (p->seg[l] == 0) continue;
            int *place = &e->touched_of_seg[p->seg[l]];
            if (*place < 0) *place = e->ntouched, e->touched[e->ntouched++] = p->seg[l];
        }
    }
}

void snw_touch_add_own(snw_elimination *e) {
    const int parts = e->ns < 12 ? e->ns : 12;
    for (int i = 0; i < e->ntouch; i++) {
        snw_touch_matrix *p = &e->touch[i];
        for (int k = 0; k < 4; k++) {
            double *P = e->P + (size_t)e->slot[p->seg[k]] * 6 * (size_t)e->ns;
            for (int l = 0; l < 4 && p->seg[k] > 0; l++) {
                if (p->seg[k] != p->seg[l]) continue;
                for (int r = 0; r < 6; r++) {
                    double *E = &p->E[6 * k + r][12 * l];
                    for (int j = 0; j < parts; j++) P[r * e->ns + j] += E[j], E[j] = 0;
                }
            }
        }
    }
}

// W <- E s of two slices
static void touch_wrenches(const snw_elimination *e, const snw_touch_matrix *p, double W[24]) {
    const int parts = e->ns < 12 ? e->ns : 12;
    for (int r = 0; r < 24; r++) W[r] = 0;
    for (int l = 0; l < 4; l++) {
        const double *s = e->state + (size_t)p->seg[l] * (size_t)e->ns;
        for (int r = 0; r < 24; r++) {
            for (int j = 0; j < parts; j++) W[r] += p->E[r][12 * l + j] * s[j];
        }
    }
}

void snw_touch_product(snw_elimination *e, const snw_tangent_at *at, const snw_work *w) {
    const int n = count_varying(e, at, w);
    for (int i = 0; i < n;) {
        snw_touch_matrix p; // e->touch is that of the factors
        double W[24];
        i = vary_slices(e, at, w, i, &p);
        touch_wrenches(e, &p, W);
        for (int r = 0; r < 24; r++) e->f[p.seg[r / 6]].e[r % 6] += W[r];
    }
}

void snw_touch_rows(const snw_elimination *e, double *rows) {
    for (int i = 0; i < 6 * e->ntouched; i++) rows[i] = 0;
    for (int i = 0; i < e->ntouch; i++) {
        const snw_touch_matrix *p = &e->touch[i];
        double W[24];
        if (!p->is_border) continue;
        touch_wrenches(e, p, W);
        for (int r = 0; r < 24; r++) {
            const int seg = p->seg[r / 6];
            if (seg > 0) rows[6 * e->touched_of_seg[seg] + r % 6] -= W[r];
        }
    }
}

void snw_touch_list(snw_elimination *e) {
    e->touch_first = e->nborder;
    for (int i = 0; i < 6 * e->ntouched; i++) {
        snw_border_unknown *u = &e->border[e->nborder++];
        *u = (snw_border_unknown){.force_seg = {e->touched[i / 6]}, .diagonal = 1, .pair = -1};
        u->force[0].e[i % 6] = 1;
    }
}

void snw_touch_stiffness(const snw_elimination *e, size_t ld, double *Pi) {
    for (int i = 0; i < e->ntouch; i++) {
        const snw_touch_matrix *p = &e->touch[i];
        for (int r = 0; r < 24 && p->is_border; r++) {
            if (p->seg[r / 6] == 0) continue;
            const size_t row = (size_t)(6 * e->touched_of_seg[p->seg[r / 6]] + r % 6);
            for (int c = 0; c < 24; c++) {
                if (p->seg[c / 6] == 0) continue;
                const size_t column = (size_t)(6 * e->touched_of_seg[p->seg[c / 6]] + c % 6);
                const double E = 0.5 * p->E[r][12 * (c / 6) + c % 6];
                Pi[column * ld + row] += E, Pi[row * ld + column] += E;
            }
        }
    }
}
