// SPDX-License-Identifier: MIT
//
// Motion of a segment relative to its parent by the coordinates that act on it, and variation of
// its own wrench: the pieces of the linearised recursion, theory.md 4.2.

#include "dynamics/segment_map.h"

#include "dynamics/drag_spring.h"
#include "dynamics/joint.h"
#include "dynamics/slice.h"
#include "dynamics/stop.h"

#include <string.h>

int snw_segment_own_count(const snw_model *m, const snw_seg *seg) {
    switch (seg->kind) {
    case SNW_SEG_WORLD:
    case SNW_SEG_POSE:
        return 0;
    case SNW_SEG_SCREW:
    case SNW_SEG_BALL:
    case SNW_SEG_FREE:
        return m->block[seg->item].n;
    case SNW_SEG_ROD:
        return m->rod[m->slice[seg->item].rod].ndof;
    }
    return 0;
}

void snw_joint_columns(const snw_block *b, const double *chart, bool is_static, int ld, double *J,
                       double *dJ, double *ddJ) {
    if (b->space == SNW_SPACE_RN) {
        for (int i = 0; i < 6; i++) J[i * ld] = b->S.e[i];
        return;
    }
    if (chart) chart += 108 * b->lie_block;
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < b->n; k++) {
            J[i * ld + k] = chart ? chart[6 * i + k] : i == k;
            if (is_static) continue;
            dJ[i * ld + k] = chart ? chart[36 + 6 * i + k] : 0;
            ddJ[i * ld + k] = chart ? chart[72 + 6 * i + k] : 0;
        }
    }
}

int snw_segment_map_count(const snw_model *m, int i) {
    const snw_seg *seg = &m->seg[i];
    return seg->kind == SNW_SEG_ROD ? m->slice[seg->item].ncol : snw_segment_own_count(m, seg);
}

void snw_segment_map_dofs(const snw_model *m, int i, int *dof) {
    const snw_seg *seg = &m->seg[i];
    if (seg->kind != SNW_SEG_ROD) {
        for (int k = 0; k < snw_segment_own_count(m, seg); k++)
            dof[k] = m->block[seg->item].dof + k;
        return;
    }
    const snw_slice *sl = &m->slice[seg->item];
    const snw_rod *rod = &m->rod[sl->rod];
    for (int a = 0; a < rod->na; a++) {
        for (int j = 0; j < sl->count[a]; j++) *dof++ = rod->dof[a] + sl->first[a] + j;
    }
}

void snw_segment_map_at(const snw_model *m, const double *chart, int i, bool curvature, snw_work *w,
                        const snw_segment_map *to) {
    const snw_seg *seg = &m->seg[i];
    const int n = snw_segment_map_count(m, i);
    const size_t size = 6 * (size_t)n * sizeof(double);
    if (n == 0) return;
    memset(to->S, 0, size);
    if (!w->is_static) memset(to->dS, 0, size), memset(to->ddS, 0, size);
    memset(to->K, 0, (size_t)n * (size_t)n * sizeof(double));
    if (seg->kind != SNW_SEG_ROD) {
        snw_joint_columns(&m->block[seg->item], chart, w->is_static, n, to->S, to->dS, to->ddS);
        return;
    }
    const snw_slice *sl = &m->slice[seg->item];
    if (snw_all(sl->h == 0)) return;
    snw_slice_jacobian part = {.J = to->S, .dJ = to->dS, .ddJ = to->ddS, .K = to->K, .ldk = n};
    for (int a = 0, column = 0; a < m->rod[sl->rod].na; column += sl->count[a], a++)
        part.column[a] = column;
    snw_slice_jacobian_columns(m, seg->item, n, curvature ? &w->F[i] : NULL, w, part);
}

// Does any force act at the segment itself?
static bool is_acted_on(const snw_model *m, const snw_inputs *in, int i) {
    return m->seg[i].has_mass || m->load_point_of_seg[i] < m->load_point_of_seg[i + 1] ||
           m->fluid_point_of_seg[i] < m->fluid_point_of_seg[i + 1] ||
           m->contact_point_of_seg[i] < m->contact_point_of_seg[i + 1] ||
           m->force_field_point_of_seg[i] < m->force_field_point_of_seg[i + 1] ||
           i == snw_drag_spring_seg(in);
}

void snw_segment_wrench_columns(const snw_model *m, const snw_inputs *in, const snw_work *w, int i,
                                const snw_columns *c, double cq, double cv, double ca, double *WJ,
                                double *P) {
    memset(WJ, 0, 6 * (size_t)c->ld * sizeof *WJ);
    memset(P, 0, (size_t)c->nrow * (size_t)c->ld * sizeof *P);
    if (!is_acted_on(m, in, i)) return;
    snw_fluid_columns(m, in, w, i, c, cq, cv, ca, WJ, P);
    snw_segment_columns(m, snw_loads(m, in, w), w, i, c, cq, cv, ca, WJ);
    if (snw_any(cq != 0) || snw_any(cv != 0)) snw_contact_columns(m, in, w, i, c, cq, cv, WJ);
}

void snw_segment_map_add_joint(const snw_model *m, int i, const snw_segment_map *of,
                               const snw_work *w, double cq, double cv, double ca, double *T) {
    const snw_seg *seg = &m->seg[i];
    const int n = snw_segment_map_count(m, i);
    if (n == 0 || seg->kind == SNW_SEG_ROD) return;
    const snw_block *b = &m->block[seg->item];
    const snw_columns own = {.n = n, .ld = n, .J = of->S, .dJ = of->dS, .ddJ = of->ddS};
    if (snw_any(b->armature > 0)) snw_armature_tangent(b, w, &own, cq, cv, ca, (size_t)n, T);
    if (b->spring >= 0) snw_spring_tangent(m, &m->spring[b->spring], w, &own, cq, cv, (size_t)n, T);
    if (b->stop >= 0) snw_stop_tangent(m, b->stop, &own, cq, cv, w, (size_t)n, T);
}
