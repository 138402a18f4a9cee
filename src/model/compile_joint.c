// SPDX-License-Identifier: MIT
//
// Segments, coordinates, springs and stops of a joint. Joints with fixed axes are sequences of
// screws, one segment each (a planar joint: two translations and a rotation). Spherical and free
// joints are blocks on SO(3) and SE(3).
#include "model/compile.h"

#include <math.h>

// Twist of the screw of a coordinate.
static snw_twist screw_of(const snw_joint_coordinate *c, const snw_vec3 axes[3], double pitch) {
    const snw_vec3 axis = axes[c->axis];
    if (c->pitched) return (snw_twist){{.w = axis, .v = snw_scale(pitch / (2 * M_PI), axis)}};
    return c->turn ? (snw_twist){{.w = axis}} : (snw_twist){{.v = axis}};
}

// Spring, damper and friction of coordinate i of a joint, on its block.
static void add_spring(snw_build *b, const snw_joint_desc *j, int i, int block) {
    if (!(j->stiffness[i] > 0 || j->damping[i] > 0 || j->friction[i] > 0)) return;
    b->block[block].spring = b->m->nspring;
    snw_spring *s = &b->spring[b->m->nspring++];
    *s = (snw_spring){.block = block,
                      .stiffness = j->stiffness[i],
                      .damping = j->damping[i],
                      .friction = j->friction[i],
                      .creep = j->creep[i] > 0 ? j->creep[i] : SNW_CREEP};
    if (b->block[block].space == SNW_SPACE_RN) {
        s->rest[0] = j->rest[i];
    } else {
        snw_so3_to_numbers(j->has_rest_turn ? j->rest_turn : snw_mat3_identity(), s->rest);
    }
}

// Stops at the limits of coordinate i of a joint, on its block.
static void add_stop(snw_build *b, const snw_joint_desc *j, int i, int block) {
    if (!j->limited[i] || !(j->stop_stiffness[i] > 0 || j->stop_hard)) return;
    b->block[block].stop = b->m->nstop;
    b->stop[b->m->nstop++] = (snw_stop){.block = block,
                                        .low = j->low[i],
                                        .high = j->high[i],
                                        .stiffness = j->stop_stiffness[i],
                                        .damping = j->stop_damping[i],
                                        .smooth = j->stop_smooth[i],
                                        .hard = j->stop_hard,
                                        .restitution = j->stop_restitution,
                                        .arm = 1};
    b->m->hard = b->m->hard || j->stop_hard;
}

void snw_build_stop_arms(snw_build *b) {
    for (int i = 0; i < b->m->nstop; i++) {
        const snw_block *k = &b->block[b->stop[i].block];
        const bool turns = k->space == SNW_SPACE_SO3 || snw_norm(k->S.w) > 0;
        if (turns) b->stop[i].arm = b->m->length;
    }
}

static int add_joint_seg(snw_build *b, snw_seg_kind kind, int parent, int block, int l) {
    const snw_block *k = &b->block[block];
    const int path = snw_build_path(b, b->seg[parent].path, k->dof, k->n);
    return snw_build_seg(b, kind, parent, block, l, path);
}

int snw_build_joint(snw_build *b, int l, int parent) {
    const snw_link_desc *d = &b->m->desc->link[l];
    b->link_block[l] = b->m->nblock;
    const snw_joint_type *joint = &snw_joint_table[d->joint];
    snw_vec3 axes[3];
    snw_joint_axes(d->moves.axis, d->moves.second, axes);
    switch (joint->space) {
    case SNW_SPACE_RN:
        for (int i = 0; i < joint->dof; i++) {
            const int block = snw_build_block(b, SNW_SPACE_RN, 1);
            b->block[block].S = screw_of(&joint->coordinate[i], axes, d->moves.pitch);
            add_spring(b, &d->moves, i, block);
            add_stop(b, &d->moves, i, block);
            b->block[block].armature = d->moves.armature[i];
            parent = add_joint_seg(b, SNW_SEG_SCREW, parent, block, l);
        }
        break;
    case SNW_SPACE_SO3: {
        const int block = snw_build_block(b, SNW_SPACE_SO3, 3);
        add_spring(b, &d->moves, 0, block);
        add_stop(b, &d->moves, 0, block);
        b->block[block].armature = d->moves.armature[0];
        return add_joint_seg(b, SNW_SEG_BALL, parent, block, l);
    }
    case SNW_SPACE_SE3: {
        const int block = snw_build_block(b, SNW_SPACE_SE3, 6);
        return add_joint_seg(b, SNW_SEG_FREE, parent, block, l);
    }
    }
    return parent;
}
