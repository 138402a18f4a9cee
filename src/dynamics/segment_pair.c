// SPDX-License-Identifier: MIT
//
// Forces that couple distant segments: variations of the wrenches of force elements and loops, and
// constraint rows as forces, without the Jacobians of the segments.

#include "dynamics/segment_pair.h"

#include "dynamics/constraint.h"
#include "dynamics/force_element.h"

int snw_segment_pairs(const snw_model *m) { return m->nforce_element + m->nloop; }

void snw_segment_pair_ends(const snw_model *m, int k, int seg[2]) {
    if (k < m->nforce_element) {
        for (int end = 0; end < 2; end++) seg[end] = m->force_element[k].end[end];
        return;
    }
    const snw_loop *loop = &m->loop[k - m->nforce_element];
    seg[0] = loop->a, seg[1] = loop->b;
}

bool snw_segment_pair_acts(const snw_model *m, const snw_work *w, int k) {
    if (k < m->nforce_element) return w->force_element[k].acts;
    return m->loop[k - m->nforce_element].ncoupled == 0;
}

void snw_segment_pair_variation(const snw_model *m, const snw_work *w, int k,
                                const snw_twist zeta[2], const snw_twist dV[2], snw_wrench d[2]) {
    if (k >= m->nforce_element) {
        snw_loop_variation(m, w, k - m->nforce_element, zeta, d);
        return;
    }
    snw_force_element_variation(m, w, k, zeta, dV, d);
    for (int end = 0; end < 2; end++) d[end] = snw_wrench_scale(-1, d[end]);
}

snw_row_force snw_row_force_at(const snw_model *m, const snw_work *w, int row) {
    snw_row_force f = {0};
    int i = 0;
    while (i < m->nloop && row >= m->loop[i].row + m->loop[i].nrow) i++;
    if (i < m->nloop && m->loop[i].ncoupled == 0) {
        f.seg[0] = m->loop[i].a, f.seg[1] = m->loop[i].b;
        snw_loop_row_wrenches(m, w, i, row - m->loop[i].row, f.on);
        return f;
    }
    if (i < m->nloop) { // a constraint on coordinates
        f.n = m->loop[i].ncoupled, f.dof = m->loop[i].dof, f.value = m->loop[i].factor;
        return f;
    }
    const snw_constraint c = snw_constraint_at(m, w, row); // of a tendon or drive
    f.n = c.n, f.dof = c.dof, f.value = c.C;
    return f;
}

void snw_row_force_project(const snw_model *m, const snw_work *w, const snw_row_force *row,
                           double factor, double *out) {
    for (int k = 0; k < 2; k++)
        snw_wrench_project(m, w, row->seg[k], snw_wrench_scale(factor, row->on[k]), out);
    for (int j = 0; j < row->n; j++) out[row->dof[j]] += factor * row->value[j];
}
