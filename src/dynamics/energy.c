// SPDX-License-Identifier: MIT
//
// Energies, dissipation, power of loads and of given motion, momentum, and internal wrenches, from
// the kinematics and the residual in the workspace; for energy balances and probes.

#include "dynamics/dynamics.h"

#include "dynamics/constraint.h"
#include "dynamics/contact.h"
#include "dynamics/drag_spring.h"
#include "dynamics/fluid.h"
#include "dynamics/force_element.h"
#include "dynamics/force_field.h"
#include "dynamics/joint.h"
#include "dynamics/nonlinear_law.h"
#include "dynamics/relaxation.h"
#include "dynamics/rod_contact.h"
#include "dynamics/rod_grid.h"
#include "dynamics/stop.h"
#include "dynamics/tendon.h"
#include "dynamics/tube.h"
#include "dynamics/tube_slide.h"
#include "dynamics/variable_length.h"

// twice the kinetic energy of a segment with mass, without added mass
static double twice_kinetic(const snw_model *m, const snw_work *w, int i) {
    if (m->seg[i].tube_node) return snw_tube_node_kinetic(m, w, m->seg[i].tube_node - 1);
    const snw_twist V = snw_material_velocity(m, w, i);
    return snw_material_scale(m, w, i) *
           snw_power(snw_inertia_apply(snw_material_inertia(m, w, i), V), V);
}

double snw_kinetic_energy(const snw_model *m, const snw_work *w) {
    double sum = 0;
    for (int i = 0; i < m->nseg; i++) {
        if (snw_seg_has_mass(m, w, i)) sum += twice_kinetic(m, w, i);
    }
    for (int k = 0; k < m->nblock && m->has_armature; k++)
        sum += 2 * snw_armature_energy(m, w, &m->block[k]);
    return 0.5 * sum + snw_fluid_kinetic_energy(m, w);
}

// x' A x over the coordinates of a rod
static double quadratic(const snw_rod *rod, const double *A, const double *x) {
    double sum = 0;
    for (int i = 0; i < rod->ndof; i++) {
        const double *entry = A + rod->row[i];
        for (int b = 0; b < rod->na; b++) {
            const snw_rod_range at = rod->near[i * rod->na + b];
            const double *from = x + (rod->dof[b] - rod->dof0) + at.first;
            for (int j = 0; j < at.count; j++) sum += x[i] * entry[j] * from[j];
            entry += at.count;
        }
    }
    return sum;
}

// twice the elastic energy of a rod
static double twice_elastic(const snw_model *m, const snw_rod *rod, const double *q) {
    return rod->section_varies
               ? 2 * snw_section_varies_energy(m, rod, q)
               : snw_rod_length_ratio(rod, q) * quadratic(rod, rod->K, q + rod->dof0 + rod->shift);
}

// elastic energy of a rod, J
static double rod_energy(const snw_model *m, const snw_rod *rod, const snw_state *s) {
    double sum = 0.5 * twice_elastic(m, rod, s->q);
    if (rod->law) sum += snw_nonlinear_law_energy(m, rod, s->q);
    if (rod->nbranch) sum += snw_relaxation_energy(rod, s);
    return sum;
}

// all rods and joints; with w only the active ones
static double elastic_energy(const snw_model *m, const snw_state *s, const snw_work *w) {
    const double *q = s->q;
    double sum = 0;
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        if (!w || snw_seg_is_active(m, w, rod->seg0)) sum += rod_energy(m, rod, s);
    }
    for (int k = 0; k < m->nspring; k++) {
        const snw_spring *spring = &m->spring[k];
        if (!w || snw_seg_is_active(m, w, m->block[spring->block].seg))
            sum += snw_spring_energy(m, spring, q);
    }
    return sum;
}

double snw_elastic_energy(const snw_model *m, const snw_state *s) {
    return elastic_energy(m, s, NULL);
}

double snw_stored_energy(const snw_model *m, const snw_state *s, const snw_work *w) {
    return elastic_energy(m, s, w) + snw_interaction_energy(m, w);
}

double snw_interaction_energy(const snw_model *m, const snw_work *w) {
    return snw_contact_energy(m, w) + snw_rod_contacts_energy(m, w) +
           snw_force_elements_energy(m, w) + snw_stops_energy(m, w) + snw_tubes_energy(m, w) +
           snw_force_fields_energy(m, w);
}

double snw_interaction_energy_rate(const snw_model *m, const snw_work *w) {
    return snw_contact_energy_rate(m, w) + snw_rod_contacts_energy_rate(m, w) +
           snw_force_elements_energy_rate(m, w) + snw_stops_energy_rate(m, w) +
           snw_tubes_energy_rate(m, w) + snw_force_fields_energy_rate(m, w);
}

static double interaction_heat(const snw_model *m, const snw_work *w) {
    return snw_contact_heat(m, w) + snw_rod_contacts_heat(m, w) + snw_force_elements_heat(m, w) +
           snw_stops_heat(m, w) + snw_tubes_heat(m, w);
}

double snw_viscous_dissipation(const snw_model *m, const double *v) {
    double sum = 0;
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        if (rod->feed < 0) sum += quadratic(rod, rod->D, v + rod->dof0);
    }
    for (int k = 0; k < m->nspring; k++) {
        const snw_block *b = &m->block[m->spring[k].block];
        for (int i = 0; i < b->n; i++) {
            sum += m->spring[k].damping * v[b->dof + i] * v[b->dof + i];
        }
    }
    return sum;
}

double snw_friction_dissipation(const snw_model *m, const double *v) {
    double sum = 0;
    for (int k = 0; k < m->nspring; k++) {
        const snw_spring *s = &m->spring[k];
        if (snw_all(s->friction == 0)) continue;
        const snw_block *b = &m->block[s->block];
        double f[3];
        snw_spring_force(m, s, NULL, v, f);
        for (int i = 0; i < b->n; i++) {
            sum += (f[i] - s->damping * v[b->dof + i]) * v[b->dof + i];
        }
    }
    return sum;
}

double snw_dissipation(const snw_model *m, const double *v) {
    return snw_viscous_dissipation(m, v) + snw_friction_dissipation(m, v);
}

double snw_other_heat(const snw_model *m, const snw_state *s, const snw_work *w) {
    return snw_fluid_heat(m, w) + interaction_heat(m, w) + snw_tendons_heat(m, w) +
           snw_variable_length_heat(m, s->q, s->v) + snw_slip_heat(m, w);
}

// mass of a segment; *moment <- its first moment about the origin of the world
static double segment_mass(const snw_model *m, const snw_work *w, int i, snw_vec3 *moment) {
    const snw_inertia *M = snw_material_inertia(m, w, i);
    const double scale = snw_material_scale(m, w, i);
    *moment =
        snw_add(snw_scale(scale * M->m, w->g[i].p), snw_scale(scale, snw_rotate(w->g[i].R, M->mc)));
    return scale * M->m;
}

double snw_center_of_mass(const snw_model *m, const snw_work *w, snw_vec3 *c) {
    double mass = 0;
    snw_vec3 sum = {{0}}, moment;
    for (int i = 0; i < m->nseg; i++) {
        if (!snw_seg_has_mass(m, w, i)) continue;
        mass += segment_mass(m, w, i, &moment);
        sum = snw_add(sum, moment);
    }
    *c = snw_scale(snw_select(mass > 0, 1 / mass, 0), sum);
    return mass;
}

double snw_gravity_energy(const snw_model *m, const snw_inputs *in, const snw_work *w) {
    snw_vec3 c;
    const double mass = snw_center_of_mass(m, w, &c);
    return -mass * snw_dot(in->gravity, c) + snw_fluid_gravity_energy(m, in, w);
}

void snw_energy_by_link(const snw_model *m, const snw_inputs *in, const snw_state *s,
                        const snw_work *w, snw_link_energy *out) {
    for (int l = 0; l < m->nlink; l++) out[l] = (snw_link_energy){0};
    for (int i = 1; i < m->nseg; i++) {
        if (!snw_seg_has_mass(m, w, i)) continue;
        snw_vec3 moment;
        (void)segment_mass(m, w, i, &moment);
        out[m->seg[i].link].kinetic += 0.5 * twice_kinetic(m, w, i);
        out[m->seg[i].link].gravity -= snw_dot(in->gravity, moment);
    }
    for (int r = 0; r < m->nrod; r++) {
        const snw_rod *rod = &m->rod[r];
        if (snw_seg_is_active(m, w, rod->seg0)) out[rod->link].elastic += rod_energy(m, rod, s);
    }
    for (int k = 0; k < m->nspring; k++) {
        const int seg = m->block[m->spring[k].block].seg;
        if (snw_seg_is_active(m, w, seg))
            out[m->seg[seg].link].elastic += snw_spring_energy(m, &m->spring[k], s->q);
    }
    for (int k = 0; k < m->nblock && m->has_armature; k++) {
        const int link = m->seg[m->block[k].seg].link;
        out[link].kinetic += snw_armature_energy(m, w, &m->block[k]);
    }
    for (int k = 0; k < m->nfluid_point; k++) {
        snw_link_energy *link = &out[m->seg[m->fluid_point[k].seg].link];
        link->kinetic += snw_fluid_point_kinetic_energy(m, w, k);
        link->gravity += snw_fluid_point_gravity_energy(m, in, w, k);
    }
    for (int k = 0; k < m->ncontact_point; k++)
        out[m->contact_point[k].link].elastic += snw_contact_point_energy(m, w, k);
    for (int k = 0; k < snw_ntouch(m, w); k++) { // half to each rod
        for (int i = 0; i < 2; i++) {
            const int seg = m->touching_slice[w->touch[k].slice[i]].seg[1];
            out[m->seg[seg].link].elastic += 0.5 * w->touch[k].energy;
        }
    }
    for (int k = 0; k < m->nstop; k++)
        out[m->seg[m->block[m->stop[k].block].seg].link].elastic += snw_stop_energy(m, w, k);
    for (int k = 0; k < m->ntube; k++)
        out[m->rod[m->tube[k].host].link].elastic += snw_tube_energy(m, w, k);
    for (int k = 0; k < m->nforce_field_point; k++)
        out[m->seg[m->force_field_point[k].seg].link].elastic += snw_force_field_energy(m, w, k);
    for (int k = 0; k < m->nforce_element; k++) { // half to the link of each end
        const int *end = m->force_element[k].end;
        const int of[2] = {m->seg[end[0]].link, m->seg[end[1]].link};
        const double energy = snw_force_element_energy(m, w, k);
        for (int i = 0; i < 2; i++) {
            if (of[i] >= 0) out[of[i]].elastic += of[1 - i] >= 0 ? 0.5 * energy : energy;
        }
    }
}

// power of the given strains of a slice that transmits F
static double given_strain_power(const snw_model *m, const snw_inputs *in, const snw_slice *sl,
                                 const snw_slice_work *sw, snw_wrench F) {
    const snw_rod *rod = &m->rod[sl->rod];
    snw_wrench p[SNW_MAGNUS_POINTS];
    double power = 0;
    snw_rule_pull(&rod->rule, sl->h, sw->xi, snw_lower_pull(&sw->T, F), p);
    for (int k = 0; k < rod->nc; k++) power += snw_power(p[k], in->dxi[sl->field + k]);
    return power;
}

// The reaction at a sliding station acts on the node below through a slice with prescribed strains;
// its power on the strain rate of that slice and, at a fixed place, on the material that passes,
// relative to what carries the contact.
static double sliding_station_power(const snw_model *m, const snw_work *w, int i) {
    const snw_sliding_station_work *at = &w->sliding_station[m->loop[i].sliding_station - 1];
    const int a = m->loop[i].a;
    const snw_se3 h = snw_se3_mul(snw_se3_inv(w->g[a]), at->g);
    const snw_twist V = snw_twist_sub(at->V, at->u);
    return snw_power(snw_loop_known_wrench(m, w, i),
                     snw_twist_sub(V, snw_twist_to_child(h, w->V[a])));
}

// active stress, efforts, tendons and chambers, fields
static double effort_power(const snw_model *m, const snw_inputs *in, const snw_state *s,
                           const snw_work *w) {
    double power = 0;
    for (int i = 0; i < m->nv; i++) power += in->stress[i] * s->v[i];
    if (m->nlive) power += snw_feedback_power(m, in, s, w);
    return power + snw_tendons_power(m, w) + snw_force_fields_power(m, w);
}

// given motion: poses, strains, driven coordinates, and fluids except their drag
static double motion_power(const snw_model *m, const snw_inputs *in, const snw_state *s,
                           const snw_work *w) {
    double power = 0;
    for (int i = 1; i < m->nseg; i++) {
        const int item = m->seg[i].item;
        if (m->seg[i].kind == SNW_SEG_POSE) power += snw_power(w->F[i], w->u[i]);
        if (m->seg[i].kind == SNW_SEG_ROD && m->slice[item].field >= 0 &&
            !m->rod[m->slice[item].rod].grid) {
            power += given_strain_power(m, in, &m->slice[item], &w->slice[item], w->F[i]);
        }
    }
    if (m->ngrid && m->nfield) power += snw_rod_grids_given_power(m, in, w);
    power += snw_fluid_power(m, in, s, w);
    if (m->nfield) power -= snw_tendons_given_power(m, w);
    if (m->ntube_piece) power += snw_tubes_drive_power(m, w);
    for (int i = 0; m->nsliding_station && i < m->nloop; i++) {
        if (m->loop[i].sliding_station) power += sliding_station_power(m, w, i);
    }
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row >= 0) power += w->lambda[d->row] * s->v[d->dof];
    }
    return power;
}

void snw_load_power(const snw_model *m, const snw_inputs *in, const snw_state *s, const snw_work *w,
                    double *power) {
    const int nload = m->nload;
    const snw_wrench *load = snw_loads(m, in, w);
    for (int i = 0; i < snw_npower(m); i++) power[i] = 0;
    for (int k = 0; k < m->nload_point; k++) {
        const snw_load_point *point = &m->load_point[k];
        if (!snw_seg_is_active(m, w, point->seg)) continue;
        snw_wrench F = load[k];
        if (!m->load[point->load].body) {
            F.m = snw_rotate_inv(w->g[point->seg].R, F.m);
            F.f = snw_rotate_inv(w->g[point->seg].R, F.f);
        }
        power[point->load] += snw_material_scale(m, w, point->seg) *
                              snw_power(F, snw_material_velocity(m, w, point->seg));
    }
    power[nload] = effort_power(m, in, s, w);
    const int dragged = snw_drag_spring_seg(in);
    if (dragged)
        power[nload] += snw_power(snw_drag_spring_wrench(in, w->is_static, w), w->V[dragged]);
    power[nload + 1] = motion_power(m, in, s, w);
    if (m->nfeed) power[nload + 2] = snw_variable_length_inflow(m, in, w);
    if (m->ntube_piece) power[nload + 2] += snw_tubes_inflow(m, in, w);
}

double snw_drive_power(const snw_model *m, const snw_inputs *in, const snw_state *s,
                       const snw_work *w) {
    return effort_power(m, in, s, w) + motion_power(m, in, s, w);
}

snw_wrench snw_momentum(const snw_model *m, const snw_work *w) {
    snw_wrench sum = {0};
    for (int i = 0; i < m->nseg; i++) {
        if (!snw_seg_has_mass(m, w, i)) continue;
        const int node = m->seg[i].tube_node;
        const snw_wrench P =
            node ? snw_tube_node_momentum(m, w, node - 1)
                 : snw_wrench_scale(snw_material_scale(m, w, i),
                                    snw_inertia_apply(snw_material_inertia(m, w, i),
                                                      snw_material_velocity(m, w, i)));
        sum = snw_wrench_add(sum, snw_wrench_to_parent(w->g[i], P));
    }
    return sum;
}

// Minus the sum of the wrenches that act on the rod beyond the station, each node with its fraction
// at->beyond (theory.md 3). A node takes its transmitted wrench minus that of the next node.
snw_wrench snw_internal_wrench_at(const snw_model *m, const snw_station *at, snw_se3 g, snw_twist V,
                                  const snw_work *w) {
    const snw_rod *rod = &m->rod[at->rod];
    snw_wrench sum = {0};
    for (int k = 0; k < rod->nseg; k++) {
        if (snw_all(at->beyond[k] == 0)) continue;
        const int i = rod->seg0 + k;
        snw_wrench F = w->F[i];
        if (k + 1 < rod->nseg && !rod->grid) // of a grid it is the parent of no other node
            F = snw_wrench_sub(F, snw_wrench_to_parent(w->h[i + 1], w->F[i + 1]));
        const snw_wrench F_w = snw_wrench_to_parent(w->g[i], F); // world frame, about its origin
        for (int c = 0; c < 6; c++) sum.e[c] -= at->beyond[k] * F_w.e[c];
    }
    // reactions at sliding stations were counted at the node below; count them by the station
    // itself
    for (int i = 0; m->nsliding_station && i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        if (!loop->sliding_station || m->sliding_station[loop->sliding_station - 1].rod != at->rod)
            continue;
        const snw_sliding_station_work *sw = &w->sliding_station[loop->sliding_station - 1];
        const double counted = sw->below >= rod->seg0 ? at->beyond[sw->below - rod->seg0] : 0;
        const double missing = snw_select(sw->x.v > at->x, 1, 0) - counted;
        sum = snw_wrench_axpy(missing, snw_wrench_to_parent(sw->g, snw_loop_known_wrench(m, w, i)),
                              sum);
    }
    sum = snw_wrench_to_child(g, sum);
    if (rod->fluid < 0 || !snw_is_active(w, m->fluid[rod->fluid].condition)) return sum;
    // momentum flux of the fluid past the station, theory.md 3.12: Lambda = Lambda~ - Y
    const snw_vec3 U = snw_rotate_inv(g.R, w->current[rod->fluid]);
    sum.f = snw_sub(sum.f, snw_flux(at->flux, snw_sub(V.v, U)));
    return sum;
}

snw_wrench snw_internal_wrench(const snw_model *m, const snw_station *at, const snw_work *w) {
    return snw_internal_wrench_at(m, at, w->g[at->seg], w->V[at->seg], w);
}
