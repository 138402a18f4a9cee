// SPDX-License-Identifier: MIT
//
// Inverse dynamics: wrenches from the leaves to the root and their projection on the generalised
// coordinates, theory.md (3.3). Also elastic and damping forces alone.

#include "dynamics/dynamics.h"

#include "base/fail.h"
#include "dynamics/constraint.h"
#include "dynamics/contact.h"
#include "dynamics/drag_spring.h"
#include "dynamics/fluid.h"
#include "dynamics/force_element.h"
#include "dynamics/force_field.h"
#include "dynamics/joint.h"
#include "dynamics/nonlinear_law.h"
#include "dynamics/plane_motion.h"
#include "dynamics/relaxation.h"
#include "dynamics/rod_contact.h"
#include "dynamics/rod_grid.h"
#include "dynamics/segment_pair.h"
#include "dynamics/stop.h"
#include "dynamics/tendon.h"
#include "dynamics/tube.h"
#include "dynamics/tube_slide.h"
#include "dynamics/variable_length.h"

// sum of the loads on segment i, in its body frame, whose axes are R
static inline snw_wrench external_wrench(const snw_model *m, const snw_wrench *load, snw_mat3 R,
                                         int i) {
    snw_wrench F = {0};
    for (int k = m->load_point_of_seg[i]; k < m->load_point_of_seg[i + 1]; k++) {
        const snw_wrench *L = &load[k];
        if (m->load[m->load_point[k].load].body) {
            F = snw_wrench_add(F, *L);
        } else {
            F.m = snw_add(F.m, snw_rotate_inv(R, L->m));
            F.f = snw_add(F.f, snw_rotate_inv(R, L->f));
        }
    }
    return F;
}

// M V' - ad_V' M V, the latter unless at rest; V' includes gravity
static inline snw_wrench inertia_wrench(const snw_inertia *M, bool is_static, snw_twist V,
                                        snw_twist A) {
    const snw_wrench F = snw_inertia_apply(M, A);
    if (is_static) return F;
    const snw_wrench P = snw_inertia_apply(M, V);
    return snw_wrench_sub(F, snw_ad_pull(V, P));
}

// r += S' F for a slice: transposed tangent map and Magnus map to the strains, then the strain
// basis; for a variable-length rod also to its free length, which scales all strains
static inline void residual_project(const snw_model *m, int i, const snw_work *w,
                                    const snw_slice_work *sw, snw_wrench F, double *r) {
    const snw_slice *sl = &m->slice[i];
    const snw_rod *rod = &m->rod[sl->rod];
    if (snw_all(sl->h == 0) || rod->grid) return; // grids: snw_rod_grids_project
    snw_wrench p[SNW_MAGNUS_POINTS];
    snw_rule_pull(&rod->rule, sl->h, sw->xi, snw_lower_pull(&sw->T, F), p);
    double ratio = sl->piece ? w->tube_piece[sl->piece - 1].ratio.v : 1;
    if (rod->feed >= 0) {
        const double l = w->feed[sl->rod].l;
        ratio = l / rod->L;
        for (int k = 0; k < rod->nc; k++) r[rod->feed] += snw_power(p[k], sw->xi[k]) / l;
        for (int k = 0; rod->rest_varies && k < rod->nc; k++) {
            r[rod->feed] += ratio * snw_power(p[k], w->rest_varies[i * SNW_MAGNUS_POINTS + k].d[0]);
        }
    }
    const double *phi = m->phi + sl->phi;
    for (int k = 0; k < rod->nc; k++) {
        for (int a = 0; a < rod->na; a++) {
            const double f = ratio * p[k].e[rod->comp[a]];
            double *to = r + rod->dof[a] + sl->first[a];
            for (int j = 0; j < sl->count[a]; j++) to[j] += phi[j] * f;
            phi += sl->count[a];
        }
    }
}

// r += S' F for the coordinates of segment i; sw: its slice of a rod
static inline void residual_own(const snw_model *m, int i, const snw_work *w,
                                const snw_slice_work *sw, snw_wrench F, double *r) {
    const snw_seg *seg = &m->seg[i];
    switch (seg->kind) {
    case SNW_SEG_WORLD:
    case SNW_SEG_POSE:
        break;
    case SNW_SEG_SCREW:
        r[m->block[seg->item].dof] += snw_power(F, m->block[seg->item].S);
        break;
    case SNW_SEG_BALL:
    case SNW_SEG_FREE:
        for (int k = 0; k < m->block[seg->item].n; k++) r[m->block[seg->item].dof + k] += F.e[k];
        break;
    case SNW_SEG_ROD:
        residual_project(m, seg->item, w, sw, F, r);
        break;
    }
}

static inline const snw_slice_work *slice_of(const snw_model *m, const snw_work *w, int i) {
    return m->seg[i].kind == SNW_SEG_ROD ? &w->slice[m->seg[i].item] : NULL;
}

void snw_wrench_project(const snw_model *m, const snw_work *w, int i, snw_wrench F, double *out) {
    SNW_ASSERT(m->ngrid == 0);
    for (; i > 0; i = m->seg[i].parent) {
        residual_own(m, i, w, slice_of(m, w, i), F, out);
        F = snw_wrench_to_parent(w->h[i], F);
    }
}

void snw_wrenches_project(const snw_model *m, const snw_work *w, snw_wrench *F, double *out) {
    SNW_ASSERT(m->ngrid == 0);
    for (int i = m->nseg - 1; i > 0; i--) {
        const int up = m->seg[i].parent;
        residual_own(m, i, w, slice_of(m, w, i), F[i], out);
        F[up] = snw_wrench_add(F[up], snw_wrench_to_parent(w->h[i], F[i]));
    }
}

// r += K q + D v of a rod
static void add_elastic(const snw_rod *rod, const snw_state *s, bool is_static, double *r) {
    const int n = rod->ndof;
    const double *q = s->q + rod->dof0 + rod->shift, *v = s->v + rod->dof0;
    for (int i = 0; i < n; i++) {
        double sum = snw_rod_row_times(rod, rod->K, i, q, 0);
        if (!is_static) sum = snw_rod_row_times(rod, rod->D, i, v, sum);
        r[rod->dof0 + i] += sum;
    }
}

void snw_residual(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                  snw_work *w) {
    snw_kinematics(m, in, s, is_static, w);
    snw_forces(m, in, s, is_static, w);
}

// w->r <- forces that act on the coordinates themselves: active stress, elastic and damping forces
// of rods and joints, armatures
static inline void coordinate_forces(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                     bool is_static, snw_work *w) {
    for (int i = 0; i < m->nv; i++) w->r[i] = -in->stress[i];
    for (int r = 0; r < m->nrod; r++) {
        if (m->rod[r].feed >= 0) {
            snw_variable_length_elastic(m, &m->rod[r], s, is_static, w);
        } else {
            add_elastic(&m->rod[r], s, is_static, w->r);
        }
    }
    if (m->nlaw_point) snw_nonlinear_laws_add(m, s->q, w);
    if (m->nbranch) snw_relaxation_add(m, s, w);
    for (int k = 0; k < m->nspring; k++) {
        snw_spring_add(m, &m->spring[k], s->q, is_static ? NULL : s->v, w->r);
    }
    if (m->has_armature && !is_static) snw_armature_add(m, s->a, w->r);
}

void snw_forces(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                snw_work *w) {
    coordinate_forces(m, in, s, is_static, w);
    if (m->nlive) {
        snw_observe_read(m, in, s, is_static, w);
        snw_feedback(m, in, s, w);
    }
    const snw_wrench *load = snw_loads(m, in, w);

    // W = M V' - ad_V' M V - F_applied at each segment
    for (int i = 0; i < m->nseg; i++) {
        snw_wrench F = {0};
        const int node = m->seg[i].variable_node;
        if (m->seg[i].tube_node) {
            if (snw_seg_is_active(m, w, i)) F = snw_tube_node_wrench(m, w, m->seg[i].tube_node - 1);
        } else if (snw_seg_has_mass(m, w, i)) {
            const snw_variable_length_work *at = node ? &w->variable_node[node - 1] : NULL;
            F = inertia_wrench(node ? snw_material_inertia(m, w, i) : &m->seg[i].M, is_static,
                               node ? at->V : w->V[i], node ? at->A : w->A[i]);
        }
        if (m->load_point_of_seg[i] < m->load_point_of_seg[i + 1] && snw_seg_is_active(m, w, i))
            F = snw_wrench_sub(F, external_wrench(m, load, w->g[i].R, i));
        w->F[i] = node ? snw_variable_length_node_wrench(m, node - 1, F, w) : F;
    }
    if (m->ntendon) snw_tendons_add(m, in, s, is_static, w);
    if (m->nfluid_point) snw_fluid_add(m, in, is_static, w);
    if (m->ncontact_point && !in->inertia_only) snw_contact_add(m, w);
    if (m->ntouching_rod && !in->inertia_only) snw_rod_contacts_add(m, w);
    if (m->nstop) snw_stops_add(m, w, 1, 1, w->r);
    if (m->nforce_element) snw_force_elements_add(m, w);
    if (m->nforce_field_point) snw_force_fields_add(m, w);
    if (m->ntube) snw_tubes_add(m, w, 1, 1, w->r);
    const int dragged = snw_drag_spring_seg(in);
    if (dragged)
        w->F[dragged] = snw_wrench_sub(w->F[dragged], snw_drag_spring_wrench(in, is_static, w));
    if (m->nconstraint) snw_constraints_add_forces(m, in, s, w);
    for (int i = m->nseg - 1; i > 0; i--) {
        const snw_wrench F = w->F[i];
        const int parent = m->seg[i].parent;
        if (m->seg[i].kind == SNW_SEG_ROD &&
            snw_rod_in_plane(&m->rod[m->slice[m->seg[i].item].rod])) {
            snw_plane_project(m, i, w, w->r);
            continue;
        }
        residual_own(m, i, w, slice_of(m, w, i), F, w->r);
        w->F[parent] = snw_wrench_add(w->F[parent], snw_wrench_to_parent(w->h[i], F));
    }
    if (m->ngrid) snw_rod_grids_project(m, w, w->r);
    snw_clear_inactive_vector(m, w, w->r);
}

void snw_clear_inactive_vector(const snw_model *m, const snw_work *w, double *x) {
    for (int k = 0; k < m->nconditional; k++) {
        if (!snw_is_active(w, m->conditional_on[k])) x[m->conditional[k]] = 0;
    }
}

void snw_elastic_forces(const snw_model *m, const double *q, double *out) {
    for (int i = 0; i < m->nv; i++) out[i] = 0;
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        const double *x = q + rod->dof0 + rod->shift;
        for (int i = 0; i < rod->ndof; i++)
            out[rod->dof0 + i] = snw_rod_row_times(rod, rod->K, i, x, out[rod->dof0 + i]);
        snw_nonlinear_law_add(m, rod, q, out, NULL, NULL);
    }
    for (int k = 0; k < m->nspring; k++) snw_spring_add(m, &m->spring[k], q, NULL, out);
}

void snw_damping_forces(const snw_model *m, const double *v, double *out) {
    for (int i = 0; i < m->nv; i++) out[i] = 0;
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        for (int i = 0; i < rod->ndof; i++) {
            double *to = &out[rod->dof0 + i];
            *to = snw_rod_row_times(rod, rod->D, i, v + rod->dof0, *to);
        }
    }
    for (int k = 0; k < m->nspring; k++) snw_spring_add(m, &m->spring[k], NULL, v, out);
}
