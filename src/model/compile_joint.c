// SPDX-License-Identifier: MIT
//
// Segments, coordinates and springs of a joint. Joints with fixed axes are sequences of screws, one
// segment each (a planar joint: two translations and a rotation). Spherical and free joints are
// blocks on SO(3) and SE(3).
#include "model/compile.h"

#include <math.h>

static snw_twist turn_about(snw_vec3 axis) { return (snw_twist){{.w = axis}}; }
static snw_twist slide_along(snw_vec3 axis) { return (snw_twist){{.v = axis}}; }

// S <- twists of the screws of a joint, in order; returns their number.
static int screws(const snw_link_desc *d, snw_twist S[SNW_JOINT_MOST]) {
    const snw_joint_desc *j = &d->moves;
    const snw_vec3 z = {{0, 0, 1}}, axis = snw_dot(j->axis, j->axis) > 0 ? j->axis : z;
    snw_vec3 first, second;
    snw_joint_across(axis, &first, &second);
    switch (d->joint) {
    case SNW_JOINT_FIXED:
    case SNW_JOINT_SPHERICAL:
    case SNW_JOINT_FREE:
        return 0;
    case SNW_JOINT_REVOLUTE:
        S[0] = turn_about(axis);
        return 1;
    case SNW_JOINT_PRISMATIC:
        S[0] = slide_along(axis);
        return 1;
    case SNW_JOINT_SCREW:
        S[0] = (snw_twist){{.w = axis, .v = snw_scale(j->pitch / (2 * M_PI), axis)}};
        return 1;
    case SNW_JOINT_CYLINDRICAL:
        S[0] = turn_about(axis), S[1] = slide_along(axis);
        return 2;
    case SNW_JOINT_UNIVERSAL:
        S[0] = turn_about(axis);
        S[1] = turn_about(snw_dot(j->second, j->second) > 0 ? j->second : first);
        return 2;
    case SNW_JOINT_PLANAR:
        S[0] = slide_along(first), S[1] = slide_along(second), S[2] = turn_about(axis);
        return 3;
    }
    return 0;
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

static int add_joint_seg(snw_build *b, snw_seg_kind kind, int parent, int block, int l) {
    const snw_block *k = &b->block[block];
    const int path = snw_build_path(b, b->seg[parent].path, k->dof, k->n);
    return snw_build_seg(b, kind, parent, block, l, path);
}

int snw_build_joint(snw_build *b, int l, int parent) {
    const snw_link_desc *d = &b->m->desc->link[l];
    b->link_block[l] = b->m->nblock;
    snw_twist S[SNW_JOINT_MOST];
    const int n = screws(d, S);
    for (int i = 0; i < n; i++) {
        const int block = snw_build_block(b, SNW_SPACE_RN, 1);
        b->block[block].S = S[i];
        add_spring(b, &d->moves, i, block);
        parent = add_joint_seg(b, SNW_SEG_SCREW, parent, block, l);
    }
    if (d->joint == SNW_JOINT_SPHERICAL) {
        const int block = snw_build_block(b, SNW_SPACE_SO3, 3);
        add_spring(b, &d->moves, 0, block);
        return add_joint_seg(b, SNW_SEG_BALL, parent, block, l);
    }
    if (d->joint == SNW_JOINT_FREE) {
        const int block = snw_build_block(b, SNW_SPACE_SE3, 6);
        return add_joint_seg(b, SNW_SEG_FREE, parent, block, l);
    }
    return parent;
}
