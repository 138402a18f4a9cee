// SPDX-License-Identifier: MIT
//
// Loops: two segments, the axes of the joint between them, and the coordinates that move them.
#include "model/compile.h"

#include "base/fail.h"

// how many motions a joint forbids, or velocities a contact
static int loop_forbidden(const snw_loop *loop) {
    switch (loop->nonholonomic) {
    case SNW_NONHOLONOMIC_NONE:
        break;
    case SNW_NONHOLONOMIC_SLIP:
        return 0;
    case SNW_NONHOLONOMIC_WHEEL:
    case SNW_NONHOLONOMIC_TREAD:
    case SNW_NONHOLONOMIC_EDGE:
        return 1;
    case SNW_NONHOLONOMIC_ROLL:
        return 2;
    case SNW_NONHOLONOMIC_RING:
        return 3;
    case SNW_NONHOLONOMIC_ANCHOR:
        return 6;
    }
    return 6 - snw_joint_dof(loop->joint);
}

// the joint's own axes: its axis is z; of a universal joint the first is x, the second y
static snw_mat3 axes_of(const snw_loop_desc *d) {
    snw_vec3 x, y, z = d->axis;
    if (d->nonholonomic == SNW_NONHOLONOMIC_RING || d->nonholonomic == SNW_NONHOLONOMIC_ANCHOR)
        return snw_mat3_identity();
    if (!(snw_dot(z, z) > 0)) z = (snw_vec3){{0, 0, 1}};
    if (d->joint == SNW_JOINT_UNIVERSAL) {
        x = z;
        snw_joint_across(x, &y, &z);
        if (snw_dot(d->second, d->second) > 0) y = d->second;
        z = snw_cross(x, y);
    } else {
        snw_joint_across(z, &x, &y);
    }
    const snw_mat3 Q = {{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
    return Q;
}

snw_status snw_build_order(snw_build *b) {
    const snw_model *m = b->m;
    int longest = 0;
    for (int p = 0; p < m->npath; p++) longest = b->path[p].n > longest ? b->path[p].n : longest;
    b->place = snw_build_array(b, (size_t)m->nv, sizeof *b->place);
    b->order = snw_build_array(b, (size_t)longest, sizeof *b->order);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < longest; i++) b->order[i] = i;
    return SNW_OK;
}

static int among(snw_build *b, int coordinate, int *dof, int *n) {
    int k = b->place[coordinate];
    if (k < *n && dof[k] == coordinate) return k; // else another list left it there
    k = b->place[coordinate] = (*n)++;
    dof[k] = coordinate;
    return k;
}

const int *snw_build_places(snw_build *b, const snw_path *path, int *dof, int *n) {
    int *at = snw_build_array(b, (size_t)path->n, sizeof *at);
    for (int j = 0; at && j < path->n; j++) at[j] = among(b, path->dof[j], dof, n);
    return at;
}

// the coordinates that move a loop; of one that holds on to the world those of its second site
static snw_status list_dofs(snw_build *b, snw_loop *loop) {
    const snw_path *pa = &b->path[b->seg[loop->a].path], *pb = &b->path[b->seg[loop->b].path];
    if (pa->n == 0) {
        loop->ndof = pb->n;
        loop->dof = pb->dof;
        loop->of_a = loop->of_b = b->order;
        return SNW_OK;
    }
    int *dof = snw_build_array(b, (size_t)(pa->n + pb->n), sizeof *dof);
    if (!dof) return SNW_E_MEMORY;
    loop->dof = dof;
    loop->of_a = snw_build_places(b, pa, dof, &loop->ndof);
    loop->of_b = snw_build_places(b, pb, dof, &loop->ndof);
    return SNW_OK;
}

// only where strains are laws is a section at any place known without coordinates
static snw_status check_sweep(const snw_build *b, const snw_loop_desc *d, snw_error *err) {
    const snw_rod *rod = &b->rod[b->link_rod[d->b.link]];
    if (rod->ndof == 0 && rod->feed < 0) return SNW_OK;
    return snw_fail_desc(
        err, d->location,
        snw_fail(err, SNW_E_MODEL,
                 "contact '%s' sweeps along rod '%s', whose strains have coordinates; give all of "
                 "them as laws of x and t, or take a station that stays",
                 d->name, b->m->desc->link[d->b.link].name));
}

snw_status snw_build_loops(snw_build *b, snw_error *err) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    m->nloop = d->nloop;
    m->loop = snw_build_array(b, (size_t)d->nloop, sizeof *m->loop);
    snw_sliding_station *station = snw_build_array(b, (size_t)d->nloop, sizeof *station);
    if (!m->loop || !station) return SNW_E_MEMORY;
    m->sliding_station = station;
    for (int i = 0; i < d->nloop; i++) {
        snw_loop *loop = &m->loop[i];
        SNW_TRY(snw_build_condition(b, d->loop[i].when, &loop->condition, err));
        // what never closes forbids nothing
        loop->joint = snw_exists(d->loop[i].when) ? d->loop[i].joint : SNW_JOINT_FREE;
        loop->nonholonomic =
            snw_exists(d->loop[i].when) ? d->loop[i].nonholonomic : SNW_NONHOLONOMIC_NONE;
        loop->Q = axes_of(&d->loop[i]);
        loop->normal = snw_rotate_inv(loop->Q, d->loop[i].normal);
        loop->radius = d->loop[i].radius;
        for (int k = 0; k < 2; k++) loop->slip[k] = loop->nonholonomic ? d->loop[i].slip[k] : 0;
        loop->nonholonomic_index = loop->nonholonomic && loop->nonholonomic != SNW_NONHOLONOMIC_SLIP
                                       ? m->nnonholonomic++
                                       : -1;
        loop->a = snw_build_pose(b, &d->loop[i].pose, snw_build_site(b, &d->loop[i].a), -1);
        loop->b = snw_build_site(b, &d->loop[i].b);
        if (d->loop[i].b.sliding && loop->nonholonomic) {
            SNW_TRY(check_sweep(b, &d->loop[i], err));
            station[m->nsliding_station++] =
                (snw_sliding_station){.rod = b->link_rod[d->loop[i].b.link],
                                      .x = d->loop[i].b.sliding,
                                      .fixes_frame = d->loop[i].fixes_frame};
            loop->sliding_station = m->nsliding_station;
        }
        loop->nraw = loop->nrow = loop_forbidden(loop);
        loop->row = m->nconstraint;
        for (int k = 0; k < loop->nrow; k++) loop->mix[k][k] = 1;
        m->nconstraint += loop->nrow;
        SNW_TRY(list_dofs(b, loop));
        loop->store = m->store_loop;
        m->store_loop += 6 * (size_t)loop->ndof;
        if (loop->ndof > m->most_loop) m->most_loop = loop->ndof;
    }
    return b->memory_out ? SNW_E_MEMORY : SNW_OK;
}
