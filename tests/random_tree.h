// SPDX-License-Identifier: MIT
//
// random_tree.h: random trees of rigid bodies and rods with joints of every kind, for tests.
#pragma once

#include "random_rod.h"

enum { TREE_MOST = 24 };

// A robot with room for more links.
typedef struct tree {
    robot r;
    snw_link_desc link[TREE_MOST];
} tree;

typedef enum tree_kind { TREE_MIXED, TREE_RIGID, TREE_SOFT } tree_kind;

typedef struct tree_opts {
    int nlink;
    tree_kind kind;    // rods on some links, on none, on all links with mass
    bool floating;     // the first link has a free joint and is the only one on the world
    bool conservative; // no damping, friction, loads or moving poses
    bool weightless;
    bool first_joints; // kinds up to the free joint only
} tree_opts;

// A robot of links without rods or bodies, all fixed on the world; the caller sets the remaining
// fields.
static inline void tree_init(tree *t, int nlink) {
    robot_init(&t->r, 1, 0.02);
    t->r.desc.nlink = nlink;
    t->r.desc.link = t->link;
    for (int i = 0; i < nlink; i++) {
        t->link[i] = (snw_link_desc){.name = "link",
                                     .on = {.kind = SNW_SITE_WORLD, .link = -1},
                                     .pose = snw_pose_desc_identity()};
    }
}

static inline snw_vec3 roll_vec3(dice *d, double size) {
    snw_vec3 v;
    for (int i = 0; i < 3; i++) v.e[i] = roll(d, -size, size);
    return v;
}

static inline snw_vec3 roll_unit(dice *d) {
    snw_vec3 v = {{0}};
    while (!(snw_norm(v) > 0.3)) v = roll_vec3(d, 1);
    return snw_normalise(v);
}

// Set a constant pose.
static inline void tree_place(tree *t, int link, snw_se3 g) {
    t->link[link].pose = snw_pose_desc_identity();
    t->link[link].pose.R0 = g.R;
    for (int i = 0; i < 3; i++) t->link[link].pose.xyz[i] = number(&t->r, g.p.e[i]);
}

// Add a body whose inertia differs about every axis.
static inline void tree_body(tree *t, int link, double mass, snw_vec3 com, snw_vec3 inertia) {
    t->link[link].has_body = true;
    t->link[link].body = (snw_body_desc){.mass = mass, .com = com};
    for (int i = 0; i < 3; i++) t->link[link].body.inertia.e[i][i] = inertia.e[i];
}

static inline void tree_springs(dice *d, snw_joint_desc *j, bool lossless) {
    for (int i = 0; i < SNW_JOINT_MOST; i++) {
        if (pick_int(d, 0, 1)) j->stiffness[i] = roll(d, 0.5, 5);
        j->rest[i] = roll(d, -0.5, 0.5);
        j->armature[i] = 0.02 * j->stiffness[i]; // some have a rotor
        if (lossless) continue;
        if (pick_int(d, 0, 1)) j->damping[i] = roll(d, 0.1, 1);
        if (pick_int(d, 0, 1)) j->friction[i] = roll(d, 0.1, 1);
        j->creep[i] = roll(d, 0.5, 2); // large, so that friction is smooth for differences
    }
    j->has_rest_turn = true;
    j->rest_turn = snw_so3_exp(roll_vec3(d, 0.4));
}

static inline void tree_rod(tree *t, dice *d, int link) {
    t->link[link].has_rod = true;
    t->link[link].rod = t->r.link[0].rod;
    snw_rod_desc *rod = &t->link[link].rod;
    rod->length = roll(d, 0.2, 0.6);
    rod->nodes = pick_int(d, 3, 5);
    for (int i = 0; i < 6; i++) {
        if (roll(d, 0, 1) < 0.5) continue;
        rod->active[i] = true;
        rod->basis[i] =
            (snw_basis){.kind = SNW_BASIS_LEGENDRE, .nfun = pick_int(d, 1, 2), .nelem = 1};
    }
    rod->rest[SNW_BEND_Y] = number(&t->r, roll(d, -1, 1));
}

// Chains, branches and several roots; joints of all kinds in turn, rods and bodies in between, some
// links without inertia, dead and follower loads. The mass matrix is regular: leaves are bodies,
// and a link without inertia has one axis and carries a body whose joint is not free.
static inline void tree_random(tree *t, dice *d, tree_opts o) {
    tree_init(t, o.nlink);
    t->r.material.young = number(&t->r, 1e5);
    t->r.material.damping = number(&t->r, o.conservative ? 0 : 0.01);
    bool empty[TREE_MOST] = {false}, leaf[TREE_MOST];
    int parent[TREE_MOST];
    for (int i = 0; i < o.nlink; i++) {
        leaf[i] = true;
        const bool root = i == 0 || (!o.floating && pick_int(d, 0, 5) == 0);
        parent[i] = root ? -1 : pick_int(d, i > 3 ? i - 3 : 0, i - 1);
        if (parent[i] >= 0) leaf[parent[i]] = false;
    }
    for (int i = 0; i < o.nlink; i++) {
        snw_link_desc *l = &t->link[i];
        const int p = parent[i];
        const int last = o.first_joints ? SNW_JOINT_FREE : SNW_JOINT_COUNT - 1;
        l->joint = (snw_joint_kind)pick_int(d, 0, last);
        if (l->joint == SNW_JOINT_FREE && p >= 0) l->joint = SNW_JOINT_SPHERICAL;
        if (o.floating && i == 0) l->joint = SNW_JOINT_FREE;
        const bool axis = l->joint == SNW_JOINT_REVOLUTE || l->joint == SNW_JOINT_PRISMATIC;
        empty[i] = axis && !leaf[i] && !(p >= 0 && empty[p]) && pick_int(d, 0, 1);
        l->moves.axis = roll_unit(d);
        if (snw_joint_table[l->joint].options & SNW_JOINT_TAKES_PITCH)
            l->moves.pitch = roll(d, -0.5, 0.5);
        tree_springs(d, &l->moves, o.conservative);
        tree_place(t, i, (snw_se3){snw_so3_exp(roll_vec3(d, 1)), roll_vec3(d, 0.4)});
        if (!o.conservative && p < 0 && pick_int(d, 0, 2) == 0) {
            l->pose.xyz[0] = law(&t->r, "0.3*sin(2*t + 0.3)");
            l->pose.nturn = 1;
            l->pose.turn[0] = (snw_turn){{{0, 0.6, 0.8}}, law(&t->r, "t + t^2")};
        }
        if (p >= 0) l->on = link_end(p);
        if (p >= 0 && t->link[p].has_rod && pick_int(d, 0, 1)) {
            l->on = rod_at(p, roll(d, 0, 1) * t->link[p].rod.length);
        }
        const bool some = !empty[i] && pick_int(d, 0, 2) == 0;
        if (o.kind == TREE_MIXED ? some : o.kind == TREE_SOFT && !empty[i]) tree_rod(t, d, i);
        // The child of a link without inertia always has a body.
        if (leaf[i] || (p >= 0 && empty[p]) || (!empty[i] && pick_int(d, 0, 2) > 0)) {
            tree_body(t, i, roll(d, 0.5, 2), roll_vec3(d, 0.3),
                      (snw_vec3){{roll(d, 0.05, 0.1), roll(d, 0.05, 0.1), roll(d, 0.05, 0.1)}});
        } else if (!empty[i] && !l->has_rod) {
            if (o.kind != TREE_RIGID)
                tree_rod(t, d, i); // it has mass of its own, the same about every axis
            tree_body(t, i, 0.3, roll_vec3(d, 0.1), (snw_vec3){{0.01, 0.02, 0.02}});
        }
    }
    for (int i = 0; !o.weightless && i < 3; i++) {
        t->r.desc.gravity[i] = number(&t->r, roll(d, -9, 9));
    }
    for (int i = 0; !o.conservative && i < 2; i++) {
        snw_load_desc *load = &t->r.load[t->r.desc.nload++];
        *load = (snw_load_desc){.name = "load", .body = i == 1};
        load->on = link_end(pick_int(d, 0, o.nlink - 1));
        for (int k = 0; k < 3; k++) {
            load->force[k] = number(&t->r, roll(d, -2, 2));
            load->torque[k] = law(&t->r, "0.3*sin(2*t + 1)");
        }
    }
}
