// SPDX-License-Identifier: MIT
//
// Momenta and generalised forces of the conserving scheme at the middle of a step, from the
// kinematics and the Jacobian pass there. theory.md 6.3
#include "integrate/conserving.h"

#include "dynamics/constraint.h"
#include "dynamics/contact.h"
#include "dynamics/force_element.h"
#include "dynamics/force_field.h"
#include "dynamics/joint.h"
#include "dynamics/rod_contact.h"
#include "dynamics/stop.h"
#include "dynamics/tube.h"
#include "integrate/lie_block.h"
#include "math/stumpff.h"
#include "solve/dense.h"

#include <string.h>

static void conserving_forces_add_transposed(const snw_path *path, const double *J,
                                             const snw_wrench *F, double *out) {
    for (int j = 0; j < path->n; j++) {
        double sum = 0;
        for (int i = 0; i < 6; i++) sum += J[(size_t)i * (size_t)path->ld + (size_t)j] * F->e[i];
        out[path->dof[j]] += sum;
    }
}

// Wrench of loads and weight on segment i, in its body frame.
static snw_wrench load_and_weight(const snw_conserving *c, int i) {
    const snw_model *m = c->m;
    const snw_wrench *load = snw_loads(m, c->in, c->w);
    const snw_mat3 R = c->w->g[i].R;
    snw_wrench F = {0};
    if (!snw_seg_is_active(m, c->w, i)) return F;
    if (snw_seg_has_mass(m, c->w, i)) {
        const snw_twist g = {.v = snw_rotate_inv(R, c->in->gravity)};
        F = snw_inertia_apply(&m->seg[i].M, g);
    }
    for (int k = m->load_point_of_seg[i]; k < m->load_point_of_seg[i + 1]; k++) {
        snw_wrench L = load[k];
        if (!m->load[m->load_point[k].load].body) {
            L = (snw_wrench){.m = snw_rotate_inv(R, L.m), .f = snw_rotate_inv(R, L.f)};
        }
        F = snw_wrench_add(F, L);
    }
    return F;
}

// At the middle: P <- dT/dv, dT <- dT/dq, sums of J' M V and (dJ + ad_V J)' M V; force <-
// generalised forces that balance elasticity, weight and loads, the loads at the velocities of the
// middle.
static void middle_forces(snw_conserving *c) {
    const snw_model *m = c->m;
    snw_work *w = c->w;
    snw_conserving_rods_elastic(c);
    snw_kinematics(m, c->in, c->mid, false, w);
    snw_jacobian_pass(m, w);
    for (int i = 0; i < m->nv; i++) c->P[i] = c->dT[i] = w->r[i] = 0;
    snw_conserving_contacts_apply(c);
    if (m->nlive) { // w->r <- minus the active stress of laws that read signals
        snw_observe_read(m, c->in, c->mid, false, w);
        snw_feedback(m, c->in, c->mid, w);
    }
    snw_elastic_forces(m, c->mid->q, c->force);
    for (int i = 0; i < m->nv; i++) c->force[i] += w->r[i] - c->in->stress[i];
    snw_stops_add(m, w, 1, 0, c->force);
    snw_tubes_add(m, w, 1, 0, c->force);
    snw_clear_inactive_vector(m, w, c->force);
    for (int i = 0; i < m->nforce_element; i++) {
        for (int k = 0; k < 2; k++) {
            const int s = m->force_element[i].end[k];
            const snw_wrench F = snw_wrench_scale(-1, snw_force_element_elastic(m, w, i, k));
            conserving_forces_add_transposed(&m->path[m->seg[s].path], w->J + m->seg_store[s], &F,
                                             c->force);
        }
    }
    for (int k = 0; k < m->nforce_field_point; k++) {
        const int end[2] = {m->force_field_point[k].seg,
                            m->force_field[m->force_field_point[k].field].carrier};
        for (int e = 0; e < 2; e++) {
            const snw_wrench F = snw_wrench_scale(-1, w->force_field[k].on[e]);
            conserving_forces_add_transposed(&m->path[m->seg[end[e]].path],
                                             w->J + m->seg_store[end[e]], &F, c->force);
        }
    }
    snw_conserving_contacts_forces(c, true, c->force);
    snw_conserving_rods_forces(c, true, c->force);
    for (int s = 1; s < m->nseg; s++) {
        const bool heavy = snw_seg_has_mass(m, w, s);
        if (!heavy && m->load_point_of_seg[s] == m->load_point_of_seg[s + 1]) continue;
        const snw_path *path = &m->path[m->seg[s].path];
        const size_t at = (size_t)m->seg_store[s];
        const snw_wrench applied = snw_wrench_scale(-1, load_and_weight(c, s));
        conserving_forces_add_transposed(path, w->J + at, &applied, c->force);
        if (!heavy) continue;
        const snw_wrench MV = snw_inertia_apply(&m->seg[s].M, w->V[s]);
        const snw_wrench turned = snw_ad_pull(w->V[s], MV);
        conserving_forces_add_transposed(path, w->J + at, &MV, c->P);
        conserving_forces_add_transposed(path, w->dJ + at, &MV, c->dT);
        conserving_forces_add_transposed(path, w->J + at, &turned, c->dT);
    }
    if (m->has_armature) snw_armature_add(m, c->mid->v, c->P);
    if (m->nconstraint) {
        for (int i = 0; i < m->nv; i++) w->r[i] = 0;
        snw_constraints_jacobian(m, w);
        snw_constraints_apply_transpose(m, w, c->mid->lambda, w->r);
        for (int i = 0; i < m->nv; i++) c->force[i] -= w->r[i];
    }
}

// Converts dT/dq of ball and free joints to fixed body velocities u by subtracting ad_u' P, which
// the coadjoint transport accounts for. Nothing remains for roots on a fixed base.
static void trivialise(snw_conserving *c) {
    const snw_model *m = c->m;
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        const snw_wrench turn =
            snw_ad_pull(snw_lie_block_twist(b, 1, c->mid->v), snw_lie_block_wrench(b, c->P));
        const bool none = snw_lie_block_is_root(m, b) && !c->moving;
        for (int k = 0; k < b->n; k++) {
            c->dT[b->dof + k] = none ? 0 : c->dT[b->dof + k] - turn.e[k];
        }
    }
}

double snw_conserving_potential(const snw_conserving *c, const snw_state *s, snw_work *w) {
    return snw_stored_energy(c->m, s, w) + snw_gravity_energy(c->m, c->in, w);
}

double snw_conserving_damping(snw_conserving *c, double *damping) {
    const snw_model *m = c->m;
    const snw_work *w = c->w;
    snw_conserving_contacts_forces(c, false, damping);
    snw_conserving_rods_forces(c, false, damping);
    snw_stops_add(m, w, 0, 1, damping);
    snw_tubes_add(m, w, 0, 1, damping);
    for (int i = 0; i < m->nforce_element; i++) {
        for (int k = 0; k < 2; k++) {
            const int s = m->force_element[i].end[k];
            const snw_wrench F =
                snw_wrench_sub(snw_force_element_elastic(m, w, i, k), w->force_element[i].on[k]);
            conserving_forces_add_transposed(&m->path[m->seg[s].path], w->J + m->seg_store[s], &F,
                                             damping);
        }
    }
    return snw_stops_heat(m, w) + snw_force_elements_heat(m, w) + snw_tubes_heat(m, w) +
           snw_contact_heat(m, w) + snw_rod_contacts_heat(m, w);
}

// out <- `in` without gravity and loads, with the velocities of poses as their accelerations:
// inertia forces become momenta.
static void momentum_inputs(const snw_model *m, const snw_inputs *in, snw_inputs *out) {
    snw_inputs_copy(in, out);
    snw_inputs_unload(m, out);
    out->inertia_only = true;
    for (int i = 0; i < m->npose; i++) {
        out->pose_du[i] = in->pose_u[i];
        out->pose_u[i] = (snw_twist){0};
    }
}

// Inertia forces of a motion from rest with the velocities of s as accelerations.
void snw_conserving_momenta(snw_conserving *c, const snw_inputs *in, const snw_state *s,
                            double *p) {
    const snw_model *m = c->m;
    momentum_inputs(m, in, c->unloaded);
    memcpy(c->momentum_state->q, s->q, (size_t)m->nq * sizeof(double));
    memcpy(c->momentum_state->z, s->z, (size_t)m->nsignal * sizeof(double));
    memcpy(c->momentum_state->dropped, s->dropped, (size_t)m->nnonholonomic * sizeof(double));
    for (int i = 0; i < m->nv; i++) c->momentum_state->v[i] = 0, c->momentum_state->a[i] = s->v[i];
    snw_residual(m, c->unloaded, c->momentum_state, false, c->w);
    for (int k = 0; k < m->ncontact_point; k++) // nor in tangents of the momenta
        c->w->contact_point[k].in_contact = false;
    snw_elastic_forces(m, s->q, p);
    for (int i = 0; i < m->nv; i++) p[i] = c->w->r[i] - p[i];
    snw_clear_inactive_vector(m, c->w, p);
}

bool snw_conserving_velocities(snw_conserving *c, const double *p, snw_state *s) {
    const size_t n = (size_t)c->m->nv;
    memset(s->v, 0, n * sizeof *s->v);
    if (c->moving) snw_conserving_momenta(c, c->last, s, s->v);
    for (size_t i = 0; i < n; i++) s->v[i] = p[i] - s->v[i];
    snw_mass_matrix(c->m, c->last, s, c->w, c->M);
    if (snw_cholesky_factor(c->m->nv, c->M) != SNW_OK) return false;
    snw_cholesky_solve(c->m->nv, c->M, s->v);
    return true;
}

// Weight of bodies on a free or ball root acts at the mean position of the centre of mass over the
// arc of the step, which is offset from that at the middle by d_w x u (1 - sinc(d_w/2))/d_w^2, u
// the displacement of the centre. The work of weight on a rotating rigid body is then exact. Call
// after the kinematics of the middle.
static void weight_over_arc(snw_conserving *c) {
    const snw_model *m = c->m;
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        if (!snw_lie_block_is_root(m, b)) continue;
        const int dof = b->dof;
        double mass = 0;
        snw_vec3 moment = {{0}};
        for (int s = 1; s < m->nseg; s++) {
            const snw_path *path = &m->path[m->seg[s].path];
            if (!snw_seg_has_mass(m, c->w, s) || path->n == 0 || path->dof[0] != dof) continue;
            const snw_inertia *M = &m->seg[s].M;
            const snw_se3 g = c->w->g[s];
            mass += M->m;
            moment = snw_add(moment, snw_add(snw_scale(M->m, g.p), snw_rotate(g.R, M->mc)));
        }
        if (mass == 0) continue;
        const snw_se3 g = c->w->g[b->seg];
        const snw_vec3 center = snw_rotate_inv(g.R, snw_sub(snw_scale(1 / mass, moment), g.p));
        const snw_vec3 weight = snw_rotate_inv(g.R, snw_scale(mass, c->in->gravity));
        const snw_twist d = snw_lie_block_twist(b, 1, c->d);
        const snw_vec3 turn = d.w, path = snw_add(d.v, snw_cross(turn, center));
        // (1 - sinc(x))/(4 x^2), x half the angle
        double stumpff[SNW_STUMPFF_MAX];
        snw_stumpff(0.25 * snw_dot(turn, turn), 3, stumpff);
        const snw_vec3 offset = snw_scale(0.25 * stumpff[3], snw_cross(turn, path));
        const snw_vec3 moment_of_weight = snw_cross(offset, weight);
        for (int k = 0; k < 3; k++) c->force[dof + k] -= moment_of_weight.e[k];
    }
}

void snw_conserving_forces(snw_conserving *c) {
    middle_forces(c);
    weight_over_arc(c);
    trivialise(c);
}
