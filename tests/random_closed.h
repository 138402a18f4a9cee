// SPDX-License-Identifier: MIT
//
// random_closed.h: random closed robots as graphs of parts and joints, and the trees with loop
// closures that they can be cut into, for tests.
#pragma once

#include "closed_robot.h"
#include "random_tree.h"

enum { PARTS_MOST = 10, JOINTS_MOST = 12 };

// A rigid body or a straight rod, in the reference configuration; part 0 is the ground.
typedef struct part {
    bool rod;
    double mass;
    snw_vec3 com;
    snw_mat3 inertia; // about com, world axes
    snw_se3 root;     // of a rod: its frame at end 0; end 1 is `length` along x
    double length;
} part;

// Its first axis is z of `at`, its second axis x. A rod is joined at its ends.
typedef struct link_joint {
    int part[2], end[2];
    snw_joint_kind kind;
    snw_se3 at;
} link_joint;

typedef struct graph {
    int npart, njoint;
    part part[PARTS_MOST];
    link_joint joint[JOINTS_MOST];
    bool floating; // part 0 is a body as well
    double gravity[3];
    snw_vec3 force[2]; // dead forces on the centres of two bodies
    int pushed[2];
} graph;

// One cut of a graph: the description of the tree, and where parts and joints are in it.
typedef struct cut {
    tree t;
    snw_loop_desc loop[JOINTS_MOST];
    snw_motor_desc motor[JOINTS_MOST];
    int link[PARTS_MOST];      // link of each part, -1: the ground
    snw_se3 frame[PARTS_MOST]; // frame of that link in the reference configuration
    bool turned[PARTS_MOST];   // the rod begins at its end 1
    int child[JOINTS_MOST];   // tree joint: which of its two parts is the child; -1: the joint is a
                              // loop closure
    int closure[JOINTS_MOST]; // index of that loop closure
    bool swapped[JOINTS_MOST]; // the second site of the closure is on part[0]
    closed_robot c;
} cut;

// ---- graphs -------------------------------------------------------------------------------------

static inline snw_se3 graph_frame(dice *d, snw_vec3 p) {
    return (snw_se3){snw_so3_exp(roll_vec3(d, 2)), p};
}

// Rotation whose x axis points along `to`.
static inline snw_mat3 graph_along(snw_vec3 to) {
    const snw_vec3 x = snw_normalise(to);
    const snw_vec3 y = snw_normalise(
        snw_cross(fabs(x.z) < 0.9 ? (snw_vec3){{0, 0, 1}} : (snw_vec3){{1, 0, 0}}, x));
    const snw_vec3 z = snw_cross(x, y);
    snw_mat3 R;
    for (int i = 0; i < 3; i++) R.e[i][0] = x.e[i], R.e[i][1] = y.e[i], R.e[i][2] = z.e[i];
    return R;
}

enum { ROD_FREEDOM = 6 };

// Degrees of freedom of the parts relative to each other without the loops.
static inline int graph_freedom(const graph *g) {
    int n = 0;
    for (int i = 0; i < g->njoint; i++) n += snw_joint_dof(g->joint[i].kind);
    for (int i = 0; i < g->npart; i++) n += g->part[i].rod ? ROD_FREEDOM : 0;
    return n;
}

// A ring of n parts in addition to part 0, rods with probability `soft`, and `chords` joints across
// the ring. Joints get more degrees of freedom until the loops leave at least one motion.
static inline void graph_random(graph *g, dice *d, int n, int chords, double soft, bool floating) {
    *g = (graph){.npart = n + 1, .floating = floating};
    snw_vec3 at[PARTS_MOST];
    for (int i = 0; i <= n; i++) {
        const double a = 2 * M_PI * i / (n + 1);
        at[i] = snw_add((snw_vec3){{0.4 * cos(a), 0.4 * sin(a), 0}}, roll_vec3(d, 0.1));
    }
    for (int i = 0; i <= n; i++) {
        part *p = &g->part[i];
        const snw_vec3 from = at[(i + n) % (n + 1)], to = at[i];
        const bool beside = i > 1 && g->part[i - 1].rod;
        p->rod = i > 0 && !beside && roll(d, 0, 1) < soft;
        p->length = snw_norm(snw_sub(to, from));
        p->root = (snw_se3){graph_along(snw_sub(to, from)), from};
        p->mass = p->rod ? 0 : roll(d, 0.5, 1.5);
        p->com = snw_add(snw_scale(0.5, snw_add(from, to)), roll_vec3(d, 0.1));
        const snw_mat3 R = snw_so3_exp(roll_vec3(d, 2));
        snw_mat3 I = {{{0}}};
        for (int k = 0; k < 3; k++) I.e[k][k] = roll(d, 0.02, 0.04);
        p->inertia = snw_mat3_mul(R, snw_mat3_mul(I, snw_mat3_transpose(R)));
        // Joint from part i to the next one. One end of a rod is clamped or on a revolute joint, so
        // that the rod cannot spin about its axis.
        link_joint *j = &g->joint[g->njoint++];
        *j = (link_joint){.part = {i, (i + 1) % (n + 1)}, .end = {1, 0}, .at = graph_frame(d, to)};
        j->kind = p->rod ? SNW_JOINT_FIXED
                         : (snw_joint_kind)pick_int(d, SNW_JOINT_REVOLUTE, SNW_JOINT_PLANAR);
    }
    for (int i = 0; i < chords; i++) {
        link_joint *j = &g->joint[g->njoint++];
        int a = 0, b = 0;
        while (a == b || g->part[a].rod || g->part[b].rod)
            a = pick_int(d, 0, n), b = pick_int(d, 0, n);
        *j = (link_joint){.part = {a, b}, .at = graph_frame(d, roll_vec3(d, 0.3))};
        j->kind = SNW_JOINT_SPHERICAL;
    }
    while (graph_freedom(g) < 6 * (1 + chords) + 1) {
        link_joint *j = &g->joint[pick_int(d, 0, g->njoint - 1)];
        if (snw_joint_dof(j->kind) < 3) j->kind = (snw_joint_kind)(j->kind + 1);
    }
    for (int k = 0; k < 3; k++) g->gravity[k] = roll(d, -5, 5);
    for (int k = 0; k < 2; k++) {
        do g->pushed[k] = pick_int(d, 0, n);
        while (g->part[g->pushed[k]].rod || (g->pushed[k] == 0 && !floating));
        g->force[k] = roll_vec3(d, 3);
    }
}

// ---- cutting ------------------------------------------------------------------------------------

// Frame of one end of a rod in its link in the reference configuration; for a body, the frame of
// its link.
static inline snw_se3 cut_end(const graph *g, const cut *c, int p, int end) {
    snw_se3 f = c->frame[p];
    if (g->part[p].rod && (end == 1) != c->turned[p]) {
        f.p = snw_add(f.p, snw_rotate(f.R, (snw_vec3){{g->part[p].length, 0, 0}}));
    }
    return f;
}

static inline snw_site cut_site(const graph *g, const cut *c, int p, int end) {
    if (p == 0 && !g->floating) return (snw_site){.kind = SNW_SITE_WORLD, .link = -1};
    const bool root = g->part[p].rod && (end == 1) == c->turned[p];
    return (snw_site){.kind = root ? SNW_SITE_ROOT : SNW_SITE_END, .link = c->link[p]};
}

static inline snw_mat3 mat3_into(snw_mat3 R, snw_mat3 A) {
    return snw_mat3_mul(snw_mat3_transpose(R), snw_mat3_mul(A, R));
}

// Add a link for part p with the frame `at` in the reference configuration.
static inline snw_link_desc *cut_link(const graph *g, cut *c, int p, snw_se3 at) {
    const int l = c->t.r.desc.nlink++;
    snw_link_desc *link = &c->t.link[l];
    *link = (snw_link_desc){.name = "part", .on = {.kind = SNW_SITE_WORLD, .link = -1}};
    c->link[p] = l;
    c->frame[p] = at;
    const part *q = &g->part[p];
    if (!q->rod) {
        link->has_body = true;
        link->body = (snw_body_desc){.mass = q->mass,
                                     .com = snw_rotate_inv(at.R, snw_sub(q->com, at.p)),
                                     .inertia = mat3_into(at.R, q->inertia)};
        return link;
    }
    link->has_rod = true;
    link->rod = c->t.r.link[0].rod;
    link->rod.length = q->length;
    link->rod.nodes = 5;
    for (int i = 0; i < 4; i++) { // twist, bends, stretch
        link->rod.active[i] = true;
        link->rod.basis[i] =
            (snw_basis){.kind = SNW_BASIS_LEGENDRE, .nfun = i == 1 || i == 2 ? 2 : 1, .nelem = 1};
    }
    return link;
}

static inline void cut_axes(snw_mat3 R, bool other_way, snw_joint_kind kind, snw_vec3 *axis,
                            snw_vec3 *second) {
    const snw_vec3 z = {{R.e[0][2], R.e[1][2], R.e[2][2]}}, x = {{R.e[0][0], R.e[1][0], R.e[2][0]}};
    const bool swap = kind == SNW_JOINT_UNIVERSAL && other_way;
    *axis = swap ? x : z;
    *second = kind == SNW_JOINT_UNIVERSAL ? (swap ? z : x) : (snw_vec3){{0}};
}

// Attach part joint[side] to the other part of the joint.
static inline void cut_hang(const graph *g, cut *c, int i, int side) {
    const link_joint *j = &g->joint[i];
    const int p = j->part[side], on = j->part[1 - side];
    const part *q = &g->part[p];
    snw_se3 at = j->at;
    c->turned[p] = false;
    if (q->rod) {
        at = q->root;
        c->turned[p] = j->end[side] == 1;
        if (c->turned[p]) { // half a turn about z, from the other end
            at.p = snw_add(at.p, snw_rotate(at.R, (snw_vec3){{q->length, 0, 0}}));
            at.R = snw_mat3_mul(at.R, (snw_mat3){{{-1, 0, 0}, {0, -1, 0}, {0, 0, 1}}});
        }
    }
    snw_link_desc *link = cut_link(g, c, p, at);
    snw_se3 base = snw_se3_identity();
    if (on != 0 || g->floating) base = cut_end(g, c, on, j->end[1 - side]);
    link->on = cut_site(g, c, on, j->end[1 - side]);
    link->joint = j->kind;
    cut_axes(snw_mat3_mul(snw_mat3_transpose(at.R), j->at.R), side == 0, j->kind, &link->moves.axis,
             &link->moves.second);
    tree_place(&c->t, c->link[p], snw_se3_mul(snw_se3_inv(base), at));
    c->child[i] = side;
}

static inline void cut_close(const graph *g, cut *c, int i, bool swap) {
    const link_joint *j = &g->joint[i];
    const bool ground = !g->floating;
    if (ground && j->part[0] == 0) swap = false; // the ground has the first site
    if (ground && j->part[1] == 0) swap = true;
    const int n = c->t.r.desc.nloop++;
    snw_loop_desc *loop = &c->loop[n];
    *loop = (snw_loop_desc){.name = "cut", .joint = j->kind, .pose = snw_pose_desc_identity()};
    for (int k = 0; k < 2; k++) {
        const int side = swap ? 1 - k : k, p = j->part[side];
        snw_site *site = k ? &loop->b : &loop->a;
        *site = cut_site(g, c, p, j->end[side]);
        if (p == 0 && ground) {
            loop->pose.R0 = j->at.R;
            for (int e = 0; e < 3; e++) loop->pose.xyz[e] = number(&c->t.r, j->at.p.e[e]);
            continue;
        }
        site->offset = true;
        site->pose = snw_se3_mul(snw_se3_inv(cut_end(g, c, p, j->end[side])), j->at);
    }
    cut_axes(snw_mat3_identity(), swap, j->kind, &loop->axis, &loop->second);
    c->child[i] = -1;
    c->closure[i] = n;
    c->swapped[i] = swap;
}

// Drive the first axes of up to n tree joints by a law, from their reference positions.
static inline void cut_drive(cut *c, int n) {
    static const char *const laws[] = {"0.3*sin(4*t)", "0.2*t^2", "-0.2*sin(3*t)"};
    snw_desc *desc = &c->t.r.desc;
    desc->motor = c->motor;
    for (int l = desc->nlink - 1; l >= 0 && desc->nmotor < n; l--) {
        const int dof = snw_joint_dof(c->t.link[l].joint);
        if (dof == 0 || dof > 2) continue;
        snw_law *law_of = snw_pool_array(desc->pool, 2, sizeof *law_of);
        law_of[0] = law(&c->t.r, laws[desc->nmotor % 3]);
        law_of[1] = NULL;
        c->motor[desc->nmotor++] = (snw_motor_desc){
            .name = "motor", .given = SNW_GIVEN_MOTION, .link = l, .n = dof, .law = law_of};
    }
}

// A random spanning tree of the graph, rooted at the ground or, with `platform`, at one of its
// bodies with a free joint; the remaining joints are loop closures. The robot is compiled, at rest,
// in the reference configuration; up to `drives` joints are driven.
static inline void cut_open(const graph *g, dice *d, bool platform, int drives, cut *c) {
    tree_init(&c->t, 0);
    c->t.r.material.young = number(&c->t.r, 2e5);
    c->t.r.desc.loop = c->loop;
    for (int k = 0; k < 3; k++) c->t.r.desc.gravity[k] = number(&c->t.r, g->gravity[k]);
    bool there[PARTS_MOST] = {false}, used[JOINTS_MOST] = {false};
    for (int p = 0; p < g->npart; p++) c->link[p] = -1, c->turned[p] = false;
    c->frame[0] = snw_se3_identity();
    if (platform || g->floating) {
        int p = 0;
        while ((p == 0 && !g->floating) || g->part[p].rod) p = pick_int(d, 0, g->npart - 1);
        const snw_se3 at = graph_frame(d, g->part[p].com);
        cut_link(g, c, p, at)->joint = SNW_JOINT_FREE;
        tree_place(&c->t, c->link[p], at);
        there[p] = true;
    } else {
        there[0] = true;
    }
    const int parts = g->npart - (platform && !g->floating);
    for (int n = 1; n < parts;) {
        const int i = pick_int(d, 0, g->njoint - 1);
        const int a = g->joint[i].part[0], b = g->joint[i].part[1];
        const bool grounded = platform && !g->floating && (a == 0 || b == 0);
        if (grounded || there[a] == there[b]) continue;
        cut_hang(g, c, i, there[a] ? 1 : 0);
        there[a] = there[b] = used[i] = true;
        n++;
    }
    for (int i = 0; i < g->njoint; i++) {
        if (!used[i]) cut_close(g, c, i, pick_int(d, 0, 1));
    }
    for (int k = 0; k < 2; k++) {
        snw_load_desc *load = &c->t.r.load[c->t.r.desc.nload++];
        const int p = g->pushed[k];
        *load = (snw_load_desc){.name = "push", .on = link_end(c->link[p])};
        load->on.offset = true;
        load->on.pose =
            (snw_se3){snw_mat3_identity(),
                      snw_rotate_inv(c->frame[p].R, snw_sub(g->part[p].com, c->frame[p].p))};
        for (int e = 0; e < 3; e++) load->force[e] = number(&c->t.r, g->force[k].e[e]);
    }
    cut_drive(c, drives);
    // A drive that the loops forbid is refused; then use fewer drives.
    snw_model *tried = NULL;
    while (c->t.r.desc.nmotor > 0 && snw_projection_compile(&c->t.r.desc, &tried, NULL) != SNW_OK) {
        c->t.r.desc.nmotor--;
    }
    snw_model_destroy(tried);
    c->c = (closed_robot){0};
    closed_robot_compile(&c->c, &c->t.r.desc);
    snw_inputs_at(c->c.m, 0, c->c.in);
}

static inline void cut_shut(cut *c) {
    closed_robot_close(&c->c);
    robot_free(&c->t.r);
}

// ---- reactions and positions --------------------------------------------------------------------

// Wrench of a joint on its second part, about the origin of the world, in world axes.
static inline snw_wrench cut_reaction(const graph *g, const cut *c, const snw_work *w,
                                      const snw_state *s, int i) {
    const snw_model *m = c->c.m;
    if (c->child[i] < 0) {
        const int n = c->closure[i];
        const snw_wrench F = snw_loop_wrench(m, w, n, s->lambda);
        return snw_wrench_scale(c->swapped[i] ? -1 : 1,
                                snw_wrench_to_parent(w->g[m->loop[n].b], F));
    }
    const int l = c->link[g->joint[i].part[c->child[i]]];
    const int seg = m->link_rod[l] >= 0 ? m->rod[m->link_rod[l]].root : m->link_end[l];
    return snw_wrench_scale(c->child[i] == 0 ? -1 : 1, snw_wrench_to_parent(w->g[seg], w->F[seg]));
}

// Centre of a body, and its rotation from the reference configuration.
static inline snw_vec3 cut_centre(const graph *g, const cut *c, const snw_work *w, int p) {
    const snw_se3 now = w->g[c->c.m->link_end[c->link[p]]];
    return snw_se3_point(now,
                         snw_rotate_inv(c->frame[p].R, snw_sub(g->part[p].com, c->frame[p].p)));
}

static inline snw_mat3 cut_turn(const cut *c, const snw_work *w, int p) {
    return snw_mat3_mul(w->g[c->c.m->link_end[c->link[p]]].R, snw_mat3_transpose(c->frame[p].R));
}
