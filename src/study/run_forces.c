// SPDX-License-Identifier: MIT
//
// Forces at a frame, for recorders and drawings: wrenches of loads, loop closures and contacts,
// efforts of tendons and chambers, the active conditions, and fields where they act.
#include "study/run_private.h"

#include "dynamics/constraint.h"
#include "dynamics/contact.h"
#include "dynamics/force_field.h"

#include <string.h>

// out += F, rotated by R unless R is NULL.
static void add_world(snw_wrench F, const snw_mat3 *R, double *out) {
    if (R) F = (snw_wrench){.m = snw_rotate_known(*R, F.m), .f = snw_rotate_known(*R, F.f)};
    for (int k = 0; k < 6; k++) out[k] += F.e[k];
}

// Wrench of a load point in the frame of its load; laws that read signals are evaluated at
// w->signal.
static snw_wrench load_point_wrench(const snw_model *m, int point, const snw_frame_source *v) {
    if (!snw_load_reads_signals(m, v->in, m->load_point[point].load)) return v->in->load[point];
    snw_wrench F;
    snw_load_at(m, point, (snw_at){.t = v->in->t, .signal = v->w->signal}, &F);
    return snw_wrench_scale(*v->in->signal_fraction, F);
}

void snw_run_forces(const snw_run *r, const snw_frame_source *v, double *forces) {
    const snw_model *m = r->now->model;
    const snw_run_info *info = &r->info;
    double *loop = forces + 6 * (size_t)info->nload, *contact = loop + 6 * (size_t)info->nloop;
    double *effort = contact + 6 * (size_t)info->ncontact;
    double *present = effort + info->ntendon;
    double *field = present + info->ncondition;
    memset(forces, 0, (size_t)(field + 3 * info->nforce_field_point - forces) * sizeof *forces);
    for (int i = 0; i < m->nforce_field_point && i < info->nforce_field_point; i++) {
        const snw_vec3 value = snw_force_field_value(m, v->w, i);
        for (int k = 0; k < 3; k++) field[3 * i + k] = value.e[k];
    }
    for (int i = 0; i < m->nload_point; i++) {
        const int load = m->load_point[i].load;
        const snw_mat3 *R = m->load[load].body ? &v->w->g[m->load_point[i].seg].R : NULL;
        if (load < info->nload) add_world(load_point_wrench(m, i, v), R, forces + 6 * (size_t)load);
    }
    for (int i = 0; i < m->nloop && i < info->nloop; i++) {
        const snw_mat3 R = snw_loop_pose(m, v->w, i).R;
        add_world(snw_loop_wrench(m, v->w, i, v->w->lambda), &R, loop + 6 * (size_t)i);
    }
    for (int i = 0; i < m->ncontact && i < info->ncontact; i++) {
        add_world(snw_contact_wrench(m, v->w, i), NULL, contact + 6 * (size_t)i);
    }
    for (int i = 0; i < m->ntendon && i < info->ntendon; i++) effort[i] = v->w->tendon[i].effort;
    for (int i = 0; i < m->ncondition && i < info->ncondition; i++)
        present[i] = snw_is_active(v->w, i);
}
