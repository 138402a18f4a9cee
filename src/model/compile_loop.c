// SPDX-License-Identifier: MIT
//
// Loop closures and nonholonomic contacts: their segments, joint axes, number of rows and the
// coordinates on which their rows depend (theory.md 3.8, 3.15). constraint/projection_compile.c
// removes rows that hold identically or are redundant.
#include "model/compile.h"

#include "base/fail.h"

// Number of raw rows of a joint or contact.
static int loop_row_count(const snw_loop *loop) {
    if (loop->ncoupled > 0) return 1;
    return loop->nonholonomic ? snw_nonholonomic_table[loop->nonholonomic].nrow
                              : 6 - snw_joint_dof(loop->joint);
}

// Axes of the rows by columns.
static snw_mat3 loop_axes(const snw_loop_desc *d) {
    if (snw_nonholonomic_table[d->nonholonomic].section) return snw_mat3_identity();
    snw_vec3 axes[3];
    snw_mat3 Q;
    snw_joint_axes(d->axis, d->second, axes);
    for (int k = 0; k < 3; k++) {
        const int column = snw_joint_table[d->joint].axis_is_x ? k : (k + 2) % 3;
        for (int i = 0; i < 3; i++) Q.e[i][column] = axes[k].e[i];
    }
    return Q;
}

snw_status snw_build_order(snw_build *b) {
    const snw_model *m = b->m;
    int longest = 0;
    for (int p = 0; p < m->npath; p++) longest = b->path[p].n > longest ? b->path[p].n : longest;
    b->position = snw_build_array(b, (size_t)m->nv, sizeof *b->position);
    b->order = snw_build_array(b, (size_t)longest, sizeof *b->order);
    if (b->memory_out) return SNW_E_MEMORY;
    for (int i = 0; i < longest; i++) b->order[i] = i;
    return SNW_OK;
}

// Position of a coordinate in the list dof (*n), to which it is appended when missing.
static int position_in(snw_build *b, int coordinate, int *dof, int *n) {
    int k = b->position[coordinate];
    if (k < *n && dof[k] == coordinate) return k; // else the entry belongs to another list
    k = b->position[coordinate] = (*n)++;
    dof[k] = coordinate;
    return k;
}

const int *snw_build_positions(snw_build *b, const snw_path *path, int *dof, int *n) {
    if (b->local) { // without Jacobians, only the list is used
        for (int j = 0; j < path->n; j++) (void)position_in(b, path->dof[j], dof, n);
        return b->order;
    }
    int *at = snw_build_array(b, (size_t)path->n, sizeof *at);
    for (int j = 0; at && j < path->n; j++) at[j] = position_in(b, path->dof[j], dof, n);
    return at;
}

// Coordinates of both segments; only those of b when a is fixed to the world.
static snw_status loop_coordinates(snw_build *b, snw_loop *loop) {
    if (loop->ncoupled > 0) return SNW_OK; // by set_coupling
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
    loop->of_a = snw_build_positions(b, pa, dof, &loop->ndof);
    loop->of_b = snw_build_positions(b, pb, dof, &loop->ndof);
    return SNW_OK;
}

// A sliding contact needs a rod whose strains are all given.
static snw_status check_sliding(const snw_build *b, const snw_loop_desc *d, snw_error *err) {
    const snw_rod *rod = &b->rod[b->link_rod[d->b.link]];
    if (rod->grid)
        return snw_fail_desc(
            err, d->location,
            snw_fail(err, SNW_E_MODEL,
                     "contact '%s' slides along rod '%s', whose sections are those of one grid "
                     "(integrator: chebyshev); use magnus 6, or a fixed station",
                     d->name, b->m->desc->link[d->b.link].name));
    if (rod->ndof == 0 && rod->feed < 0) return SNW_OK;
    return snw_fail_desc(
        err, d->location,
        snw_fail(err, SNW_E_MODEL,
                 "contact '%s' slides along rod '%s', whose strains have coordinates; give all of "
                 "them as laws of x and t, or use a fixed station",
                 d->name, b->m->desc->link[d->b.link].name));
}

// The rod that slides through the loop, theory.md 3.18.
static void set_sliding_rod(snw_build *b, const snw_loop_desc *d, snw_loop *loop) {
    if (d->slides) loop->through = 1 + b->link_rod[d->b.link];
    loop->friction = d->friction;
    loop->creep = d->creep;
    b->m->has_slip_friction = b->m->has_slip_friction || d->friction > 0;
    loop->keeps_length = d->keeps_length;
    if (!d->keeps_length) return;
    loop->part[0] = b->link_rod[d->b.link];
    loop->part[1] = b->link_rod[b->m->desc->link[d->b.link].beyond - 1];
}

// The coordinates of a linear constraint, theory.md (3.8.5): free lengths of the two parts of a
// rod, or those of joints.
static snw_status set_coupling(snw_build *b, const snw_loop_desc *d, snw_loop *loop) {
    if (!snw_loop_couples(d) || !snw_exists(d->when)) return SNW_OK;
    const size_t n = d->keeps_length ? 2 : (size_t)d->ncoupled;
    int *q = snw_build_array(b, n, sizeof *q), *dof = snw_build_array(b, n, sizeof *dof);
    double *factor = snw_build_array(b, n, sizeof *factor);
    if (b->memory_out) return SNW_E_MEMORY;
    loop->offset = d->offset;
    for (size_t k = 0; k < n; k++) {
        const snw_rod *rod = d->keeps_length ? &b->rod[loop->part[k]] : NULL;
        const snw_block *block = rod ? NULL : &b->block[b->link_block[d->coupled[k].link]];
        q[k] = rod ? rod->feed_q : block->q;
        dof[k] = rod ? rod->feed : block->dof;
        factor[k] = rod ? 1 : d->coupled[k].factor;
        if (rod) loop->offset += rod->L;
    }
    loop->ncoupled = loop->ndof = (int)n;
    loop->coupled_q = q;
    loop->dof = dof;
    loop->factor = factor;
    loop->of_a = loop->of_b = b->order;
    return SNW_OK;
}

snw_status snw_build_loops(snw_build *b, snw_error *err) {
    snw_model *m = b->m;
    const snw_desc *d = m->desc;
    m->nloop = d->nloop;
    b->loop = snw_build_array(b, (size_t)d->nloop, sizeof *b->loop);
    snw_sliding_station *station = snw_build_array(b, (size_t)d->nloop, sizeof *station);
    if (b->memory_out) return SNW_E_MEMORY;
    m->loop = b->loop;
    m->sliding_station = station;
    for (int i = 0; i < d->nloop; i++) {
        snw_loop *loop = &b->loop[i];
        SNW_TRY(snw_build_condition(b, d->loop[i].when, &loop->condition, err));
        // a loop that never closes has no rows
        loop->joint = snw_exists(d->loop[i].when) ? d->loop[i].joint : SNW_JOINT_FREE;
        loop->nonholonomic =
            snw_exists(d->loop[i].when) ? d->loop[i].nonholonomic : SNW_NONHOLONOMIC_NONE;
        loop->drive = d->loop[i].drive;
        loop->Q = loop_axes(&d->loop[i]);
        loop->normal = snw_rotate_inv(loop->Q, d->loop[i].normal);
        loop->radius = d->loop[i].radius;
        loop->pitch = d->loop[i].pitch;
        loop->weight = d->loop[i].weight > 0 ? d->loop[i].weight : 1;
        loop->preload = d->loop[i].preload;
        for (int k = 0; k < 2; k++) loop->slip[k] = loop->nonholonomic ? d->loop[i].slip[k] : 0;
        loop->nonholonomic_index =
            snw_nonholonomic_table[loop->nonholonomic].nrow > 0 ? m->nnonholonomic++ : -1;
        if (!snw_loop_couples(&d->loop[i])) {
            loop->a = snw_build_pose(b, &d->loop[i].pose, snw_build_site(b, &d->loop[i].a), -1);
            loop->b = snw_build_site(b, &d->loop[i].b);
        }
        if (d->loop[i].b.sliding && loop->nonholonomic) {
            SNW_TRY(check_sliding(b, &d->loop[i], err));
            station[m->nsliding_station++] =
                (snw_sliding_station){.rod = b->link_rod[d->loop[i].b.link],
                                      .x = d->loop[i].b.sliding,
                                      .fixes_frame = d->loop[i].fixes_frame};
            loop->sliding_station = m->nsliding_station;
        }
        set_sliding_rod(b, &d->loop[i], loop);
        SNW_TRY(set_coupling(b, &d->loop[i], loop));
        loop->nraw = loop->nrow = loop_row_count(loop);
        loop->row = m->nconstraint;
        for (int k = 0; k < loop->nrow; k++) loop->coefficient[k][k] = 1;
        m->nconstraint += loop->nrow;
        SNW_TRY(loop_coordinates(b, loop));
        loop->store = m->store_loop;
        m->store_loop += 6 * (size_t)loop->ndof;
        if (loop->ndof > m->most_loop) m->most_loop = loop->ndof;
    }
    return b->memory_out ? SNW_E_MEMORY : SNW_OK;
}
