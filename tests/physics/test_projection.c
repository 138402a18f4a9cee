// SPDX-License-Identifier: MIT
//
// Projection of robots with loops: the same joint in the tree and as a closure, different cuts of
// the same loop, closing, redundant and singular closures, idle links, mechanisms in equilibrium
// against minima of their energy.
#include "executed.h"
#include "random_tree.h"

#include "base/alloc.h"
#include "dynamics/constraint.h"
#include "integrate/implicit.h"
#include "study/statics.h"

#include <stdio.h>

// ---- a model with its state and work ------------------------------------------------------------

typedef struct built {
    snw_document *doc;
    snw_desc *desc;
    snw_model *m;
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
    snw_projection *as;
} built;

static void open_desc(built *b, const snw_desc *desc) {
    snw_error err = {0};
    if (snw_projection_compile(desc, &b->m, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_state_create(b->m, &b->s), SNW_OK);
    assert_int_equal(snw_inputs_create(b->m, &b->in), SNW_OK);
    assert_int_equal(snw_work_create(b->m, &b->w), SNW_OK);
    assert_int_equal(snw_projection_create(b->m, &b->as), SNW_OK);
    memcpy(b->s->q, b->m->q0, (size_t)b->m->nq * sizeof *b->s->q);
    snw_inputs_at(b->m, 0, b->in);
}

static void open_text(built *b, const char *text) {
    snw_error err;
    if (describe(text, &b->doc, &b->desc, &err) != SNW_OK) {
        fail_msg("%d:%d %s", err.line, err.column, err.text);
    }
    open_desc(b, b->desc);
}

static void close_built(built *b) {
    snw_projection_destroy(b->as);
    snw_work_destroy(b->w);
    snw_inputs_destroy(b->in);
    snw_state_destroy(b->s);
    snw_model_destroy(b->m);
    if (b->doc) release(b->doc, b->desc);
    *b = (built){0};
}

// Error of compiling a text that must be refused.
static snw_status refused(const char *text, snw_error *err) {
    built b = {0};
    if (describe(text, &b.doc, &b.desc, err) != SNW_OK) fail_msg("%s", err->text);
    const snw_status s = snw_projection_compile(b.desc, &b.m, err);
    snw_model_destroy(b.m);
    release(b.doc, b.desc);
    return s;
}

static double *joint(built *b, const char *link) {
    for (int l = 0; l < b->m->desc->nlink; l++) {
        if (!strcmp(b->m->desc->link[l].name, link))
            return b->s->q + b->m->block[b->m->link_block[l]].q;
    }
    fail_msg("no link %s", link);
    return NULL;
}

// ---- a joint as a loop --------------------------------------------------------------------------

// The frame behind the joint of a link.
static int joint_seg(const snw_model *m, int l) {
    return m->link_rod[l] >= 0 ? m->rod[m->link_rod[l]].root : m->link_end[l];
}

static int numbers_of(const snw_block *b) {
    return b->space == SNW_SPACE_RN ? b->n : b->space == SNW_SPACE_SO3 ? 4 : 7;
}

// Next block of a link from k on, only of its rod if `rod`; nblock: there is none.
static int next_block(const snw_model *m, int l, bool rod, int k) {
    while (k < m->nblock && !(m->seg[m->block[k].seg].link == l &&
                              (!rod || m->seg[m->block[k].seg].kind == SNW_SEG_ROD))) {
        k++;
    }
    return k;
}

typedef void each_fn(const built *grown, const snw_block *a, built *cut, const snw_block *b);

static void copy_block(const built *grown, const snw_block *a, built *cut, const snw_block *b) {
    for (int i = 0; i < numbers_of(a); i++) cut->s->q[b->q + i] = grown->s->q[a->q + i];
    for (int i = 0; i < a->n; i++) cut->s->v[b->dof + i] = grown->s->v[a->dof + i];
}

// Light links on long arms have accelerations of all magnitudes: rounding is that of the largest,
// magnified by the condition of the mass matrix (1.6e-10 with some BLAS kernels).
static void compare_block(const built *grown, const snw_block *a, built *cut, const snw_block *b) {
    double most = 1;
    for (int i = 0; i < grown->m->nv; i++) most = fmax(most, fabs(grown->s->a[i]));
    for (int i = 0; i < a->n; i++) {
        assert_near(cut->s->a[b->dof + i] / most, grown->s->a[a->dof + i] / most, 1e-9);
    }
}

// Calls fn for each block that both models have.
static void each_block(const built *grown, built *cut, int at, each_fn *fn) {
    for (int l = 0; l < grown->m->desc->nlink; l++) {
        int j = next_block(grown->m, l, l == at, 0), k = next_block(cut->m, l, l == at, 0);
        while (j < grown->m->nblock) {
            fn(grown, &grown->m->block[j], cut, &cut->m->block[k]);
            j = next_block(grown->m, l, l == at, j + 1);
            k = next_block(cut->m, l, l == at, k + 1);
        }
    }
}

// Cut a random tree at a joint and close it by a loop: accelerations and the wrench in the joint
// are the same.
static void cut_and_compare(snw_joint_kind kind, dice *d) {
    const int at = pick_int(d, 0, 5);
    tree t;
    tree_random(&t, d, (tree_opts){.nlink = 6, .first_joints = true});
    snw_link_desc *link = &t.link[at];
    link->joint = kind;
    link->moves = (snw_joint_desc){.axis = roll_unit(d)};
    if (snw_joint_table[kind].options & SNW_JOINT_TAKES_PITCH) link->moves.pitch = roll(d, 0.01, 1);
    if (snw_joint_table[kind].options & SNW_JOINT_TAKES_AXES) {
        const snw_vec3 any = {{0.6, 0, 0.8}};
        link->moves.second = snw_normalise(snw_cross(link->moves.axis, any));
    }
    // mass behind the joint, so that the tree has a regular mass matrix without the loop, too
    if (!link->has_body) {
        tree_body(&t, at, 1, roll_vec3(d, 0.1), (snw_vec3){{0.05, 0.06, 0.07}});
    }
    built grown = {0}, cut = {0};
    open_desc(&grown, &t.r.desc);
    state_random(grown.m, d, grown.s);
    snw_inputs_at(grown.m, grown.s->t, grown.in);
    snw_error err = {0};
    double *M = calloc((size_t)(grown.m->nv * grown.m->nv), sizeof *M);
    assert_int_equal(snw_accelerations(grown.m, grown.in, grown.s, grown.w, M, &err), SNW_OK);
    snw_residual(grown.m, grown.in, grown.s, false, grown.w);

    snw_loop_desc loop = {.name = "cut",
                          .a = link->on,
                          .b = {.kind = link->has_rod ? SNW_SITE_ROOT : SNW_SITE_END, .link = at},
                          .joint = kind,
                          .axis = link->moves.axis,
                          .second = link->moves.second,
                          .pose = link->pose,
                          .pitch = link->moves.pitch};
    const snw_link_desc whole = *link;
    link->on = (snw_site){.kind = SNW_SITE_WORLD, .link = -1};
    link->pose = snw_pose_desc_identity();
    link->joint = SNW_JOINT_FREE;
    t.r.desc.nloop = 1;
    t.r.desc.loop = &loop;
    open_desc(&cut, &t.r.desc);
    assert_int_equal(cut.m->nconstraint, 6 - snw_joint_dof(kind));
    assert_int_equal(cut.m->freedom, grown.m->nv);
    assert_int_equal(cut.m->singular, 0);
    each_block(&grown, &cut, at, copy_block);
    const int seg = joint_seg(grown.m, at), seg2 = joint_seg(cut.m, at);
    const snw_block *b = &cut.m->block[cut.m->link_block[at]];
    snw_se3_to_numbers(grown.w->g[seg], cut.s->q + b->q);
    for (int i = 0; i < 6; i++) cut.s->v[b->dof + i] = grown.w->V[seg].e[i];
    cut.s->t = grown.s->t;
    snw_inputs_at(cut.m, cut.s->t, cut.in);
    assert_near(snw_projection_violation(cut.as, cut.in, cut.s, NULL), 0, 1e-13);
    const size_t before = snw_alloc_count();
    assert_int_equal(snw_projection_accelerations(cut.as, cut.in, cut.s, &err), SNW_OK);
    assert_int_equal(snw_alloc_count(), before);
    each_block(&grown, &cut, at, compare_block);
    snw_residual(cut.m, cut.in, cut.s, false, cut.w);
    const snw_wrench F = snw_loop_wrench(cut.m, cut.w, 0, cut.s->lambda);
    for (int i = 0; i < 6; i++) {
        assert_near(cut.w->A[seg2].e[i], grown.w->A[seg].e[i], 2e-9);
        assert_near(F.e[i], grown.w->F[seg].e[i], 2e-9);
    }
    // velocities that satisfy the loop are unchanged
    double *v = calloc((size_t)cut.m->nv, sizeof *v);
    for (int i = 0; i < cut.m->nv; i++) v[i] = cut.s->v[i];
    assert_int_equal(snw_projection_velocities(cut.as, cut.in, cut.s, &err), SNW_OK);
    for (int i = 0; i < cut.m->nv; i++) assert_near(cut.s->v[i], v[i], 1e-9);
    free(v);
    free(M);
    *link = whole;
    t.r.desc.nloop = 0;
    close_built(&cut);
    close_built(&grown);
    robot_free(&t.r);
}

static void a_cut_joint_is_the_joint(void **state) {
    (void)state;
    dice d = {41};
    for (int n = 0; n < 5 * SNW_JOINT_FREE; n++)
        cut_and_compare((snw_joint_kind)(n % SNW_JOINT_FREE), &d);
    for (int kind = SNW_JOINT_FREE + 1; kind < SNW_JOINT_COUNT; kind++) {
        for (int n = 0; n < 5; n++) cut_and_compare((snw_joint_kind)kind, &d);
    }
}

// A hanging mast with its last joint in the tree or as a closure of a free body: the same
// equilibrium.
static void a_cut_joint_hangs_as_the_joint(void **state) {
    (void)state;
    static const char *const kinds[] = {"fixed", "revolute, axis: [0, 1, 1]", "universal",
                                        "spherical"};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        char text[2][2000];
        static const char common[] =
            "sinew: 1\ngravity: [0, 0, -9.81]\n"
            "materials: {rubber: {young: 2 MPa, poisson: 0.4, density: 1000}}\n"
            "robot:\n"
            "  arm: {on: world, rod: {length: 0.4, section: {circle: {radius: 15 mm}}, material: "
            "rubber, strain: kirchhoff legendre 3}}\n";
        (void)snprintf(text[0], sizeof text[0],
                       "%s  bob: {on: arm.tip, pose: {xyz: [0.01, 0.02, 0]}, joint: %s, body: "
                       "{mass: 0.1, com: [0.1, 0.03, 0.02], inertia: [1e-4, 2e-4, 3e-4]}}\n"
                       "study: [static:]\nprobes: {tip: {position: bob}, e: energy}\n",
                       common, kinds[k]);
        (void)snprintf(
            text[1], sizeof text[1],
            "%s  bob: {on: world, joint: free, body: "
            "{mass: 0.1, com: [0.1, 0.03, 0.02], inertia: [1e-4, 2e-4, 3e-4]}}\n"
            "loops: {cut: {join: [arm.tip, bob], as: %s, pose: {xyz: [0.01, 0.02, 0]}}}\n"
            "study: [static:]\nprobes: {tip: {position: bob}, e: energy}\n",
            common, kinds[k]);
        outcome o[2];
        for (int i = 0; i < 2; i++) {
            execute(text[i], &o[i]);
            if (o[i].status != SNW_OK) fail_msg("%s: %s", kinds[k], o[i].err.text);
        }
        assert_int_equal(o[0].warnings, 0);
        assert_int_equal(o[1].warnings, 1); // warning: the loop was open
        for (int c = 0; c < 6; c++) assert_near(last(&o[1], c), last(&o[0], c), 1e-9);
        for (int i = 0; i < 2; i++) snw_series_clear(&o[i].series);
    }
}

// ---- mechanisms ---------------------------------------------------------------------------------

// Links of a four-bar: lengths, masses, positions of the centres of mass.
typedef struct fourbar {
    double crank, coupler, rocker, ground;
} fourbar;
static const fourbar bars = {0.2, 0.5, 0.3, 0.45};

#define CRANK  "body: {mass: 1, com: [0.1, 0, 0], inertia: [1e-3, 1e-3, 2e-3]}"
#define COUPLE "body: {mass: 2, com: [0.25, 0.05, 0], inertia: [1e-2, 1e-2, 2e-2]}"
#define ROCKER "body: {mass: 1.5, com: [0.15, 0, 0], inertia: [5e-3, 5e-3, 1e-2]}"
#define FOUR   "sinew: 1\ngravity: [0, -9.81, 0]\n"

// Cut at the far pin, at the near pin, and at the ground.
static const char *const four[] = {
    FOUR "robot:\n"
         "  crank: {on: world, joint: revolute, " CRANK "}\n"
         "  coupler: {on: crank, pose: {xyz: [0.2, 0, 0]}, joint: revolute, " COUPLE "}\n"
         "  rocker: {on: world, pose: {xyz: [0.45, 0, 0]}, joint: revolute, " ROCKER "}\n"
         "sites: {a: {on: coupler, pose: {xyz: [0.5, 0, 0]}}, b: {on: rocker, pose: {xyz: [0.3, 0, "
         "0]}}}\n"
         "loops: {pin: {join: [a, b], as: revolute}}\n",
    FOUR "robot:\n"
         "  crank: {on: world, joint: revolute, " CRANK "}\n"
         "  rocker: {on: world, pose: {xyz: [0.45, 0, 0]}, joint: revolute, " ROCKER "}\n"
         "  coupler: {on: rocker, pose: {xyz: [0.3, 0, 0]}, joint: revolute, body: {mass: 2, com: "
         "[-0.25, 0.05, 0], inertia: [1e-2, 1e-2, 2e-2]}}\n"
         "sites: {a: {on: coupler, pose: {xyz: [-0.5, 0, 0]}}, b: {on: crank, pose: {xyz: [0.2, 0, "
         "0]}}}\n"
         "loops: {pin: {join: [b, a], as: spherical}}\n",
    FOUR "robot:\n"
         "  crank: {on: world, joint: revolute, " CRANK "}\n"
         "  coupler: {on: crank, pose: {xyz: [0.2, 0, 0]}, joint: revolute, " COUPLE "}\n"
         "  rocker: {on: coupler, pose: {xyz: [0.5, 0, 0]}, joint: revolute, body: {mass: 1.5, "
         "com: [-0.15, 0, 0], inertia: [5e-3, 5e-3, 1e-2]}}\n"
         "sites: {a: {on: rocker, pose: {xyz: [-0.3, 0, 0]}}}\n"
         "loops: {pin: {join: [world, a], as: revolute, pose: {xyz: [0.45, 0, 0]}}}\n",
};
enum { CUTS = 3 };

// Angles of the coupler and the rocker in the world, by intersection of circles; `up` selects one
// of the two solutions. Returns false if the loop cannot be closed.
static bool four_angles(double crank, bool up, double *coupler, double *rocker) {
    const double x = bars.ground - bars.crank * cos(crank), y = -bars.crank * sin(crank);
    const double d = hypot(x, y);
    const double c =
        (bars.coupler * bars.coupler + d * d - bars.rocker * bars.rocker) / (2 * bars.coupler * d);
    if (!(fabs(c) <= 1)) return false;
    *coupler = atan2(y, x) + (up ? 1 : -1) * acos(c);
    *rocker = atan2(bars.coupler * sin(*coupler) - y, bars.coupler * cos(*coupler) - x);
    return true;
}

static double four_energy(double crank, bool up) {
    double c, r;
    if (!four_angles(crank, up, &c, &r)) return INFINITY;
    return 9.81 * (1 * 0.1 * sin(crank) + 2 * (0.2 * sin(crank) + 0.25 * sin(c) + 0.05 * cos(c)) +
                   1.5 * 0.15 * sin(r));
}

// Minimum of a function on [low, high] by golden section.
static double lowest(double (*f)(double, bool), bool up, double low, double high) {
    const double g = 0.5 * (sqrt(5) - 1);
    for (int i = 0; i < 100; i++) {
        const double a = high - g * (high - low), b = low + g * (high - low);
        if (f(a, up) < f(b, up)) {
            high = b;
        } else {
            low = a;
        }
    }
    return 0.5 * (low + high);
}

// Energy at a crank angle less that of the nearest local minimum, for one of the two solutions of
// the closure.
static double above_minimum(double crank, bool up) {
    return four_energy(crank, up) -
           four_energy(lowest(four_energy, up, crank - 0.3, crank + 0.3), up);
}

static double world_angle(const snw_work *w, int seg) {
    return atan2(w->g[seg].R.e[1][0], w->g[seg].R.e[0][0]);
}

static void four_bars_hang_where_energy_is_lowest(void **state) {
    (void)state;
    dice d = {43};
    for (int n = 0; n < 60; n++) {
        built b = {0};
        open_text(&b, four[n % CUTS]);
        assert_int_equal(b.m->nconstraint, 2);
        assert_int_equal(b.m->freedom, 1);
        snw_statics *st = NULL;
        assert_int_equal(snw_statics_create(b.m, &st), SNW_OK);
        const snw_statics_opts opts = snw_statics_defaults();
        snw_statics_info info;
        snw_error err = {0};
        for (int i = 0; i < b.m->nq && n >= CUTS; i++) b.s->q[i] = roll(&d, -2, 2);
        const size_t before = snw_alloc_count();
        if (snw_statics_solve(st, 0, &opts, b.s, &info, &err) != SNW_OK)
            fail_msg("%d: %s", n, err.text);
        assert_int_equal(snw_alloc_count(), before);
        assert_true(info.residual <= 1e-12);
        assert_near(snw_projection_violation(b.as, b.in, b.s, NULL), 0, 1e-13);
        // determine the solution of the closure, then its minimum
        snw_kinematics(b.m, b.in, b.s, true, b.w);
        const double crank = world_angle(b.w, b.m->link_end[0]);
        double c = 0, r = 0;
        const int l = n % CUTS == 1 ? 2 : 1;
        assert_true(four_angles(crank, true, &c, &r));
        const bool up = fabs(remainder(c - world_angle(b.w, b.m->link_end[l]), 2 * M_PI)) < 1e-6;
        assert_true(four_angles(crank, up, &c, &r));
        assert_near(remainder(c - world_angle(b.w, b.m->link_end[l]), 2 * M_PI), 0, 1e-9);
        // golden section finds the argument of a minimum to the root of rounding only, its energy
        // to rounding
        assert_near(above_minimum(crank, up), 0, 1e-12);
        assert_near(lowest(four_energy, up, crank - 0.3, crank + 0.3), crank, 1e-7);
        snw_statics_destroy(st);
        close_built(&b);
    }
}

// Crank, connecting rod, block on a line 0.1 below.
static const double line = -0.1;

static double slider_energy(double crank, bool up) {
    const double y = 0.2 * sin(crank), s = (line - y) / 0.5;
    if (!(fabs(s) <= 1)) return INFINITY;
    (void)up; // the height of the rod's centre of mass is the same for both
    return 9.81 * (1 * 0.1 * sin(crank) + 2 * (y + 0.25 * s));
}

static void slider_cranks_hang_where_energy_is_lowest(void **state) {
    (void)state;
    static const char text[] =
        FOUR "robot:\n"
             "  crank: {on: world, joint: revolute, " CRANK "}\n"
             "  rod: {on: crank, pose: {xyz: [0.2, 0, 0]}, joint: revolute, body: {mass: 2, com: "
             "[0.25, 0, 0], inertia: [1e-2, 1e-2, 2e-2]}}\n"
             "  block: {on: world, pose: {xyz: [0, -0.1, 0]}, joint: prismatic, axis: x, body: "
             "{mass: 3, inertia: [1e-3, 1e-3, 1e-3]}}\n"
             "sites: {a: {on: rod, pose: {xyz: [0.5, 0, 0]}}}\n"
             "loops: {pin: {join: [a, block], as: revolute}}\n";
    dice d = {44};
    for (int n = 0; n < 10; n++) {
        built b = {0};
        open_text(&b, text);
        snw_statics *st = NULL;
        assert_int_equal(snw_statics_create(b.m, &st), SNW_OK);
        const snw_statics_opts opts = snw_statics_defaults();
        snw_statics_info info;
        snw_error err = {0};
        *joint(&b, "crank") = n ? roll(&d, -2, 2) : 0;
        *joint(&b, "rod") = n ? roll(&d, -2, 2) : 0;
        if (snw_statics_solve(st, 0, &opts, b.s, &info, &err) != SNW_OK) fail_msg("%s", err.text);
        const double crank = *joint(&b, "crank");
        const double best = lowest(slider_energy, true, crank - 0.3, crank + 0.3);
        assert_near(slider_energy(crank, true), slider_energy(best, true), 1e-13);
        assert_near(crank, best, 1e-7);
        snw_statics_destroy(st);
        close_built(&b);
    }
}

// Accelerations do not depend on where a loop is cut, nor do forces at joints that are not cut.
static void other_cuts_move_alike(void **state) {
    (void)state;
    const double crank = 0.7, rate = 3;
    double c, r, c1, r1, c2, r2;
    assert_true(four_angles(crank, true, &c, &r));
    assert_true(four_angles(crank + 1e-4, true, &c2, &r2));
    assert_true(four_angles(crank - 1e-4, true, &c1, &r1));
    const double dc = (c2 - c1) / 2e-4 * rate, dr = (r2 - r1) / 2e-4 * rate;
    const double q[CUTS][3] = {{crank, c - crank, r}, {crank, r, c - r}, {crank, c - crank, r - c}};
    const double v[CUTS][3] = {
        {rate, dc - rate, dr}, {rate, dr, dc - dr}, {rate, dc - rate, dr - dc}};
    double first = 0, force[2] = {0};
    for (int n = 0; n < CUTS; n++) {
        built b = {0};
        open_text(&b, four[n]);
        snw_error err = {0};
        for (int i = 0; i < 3; i++) b.s->q[i] = q[n][i], b.s->v[i] = v[n][i];
        assert_near(snw_projection_violation(b.as, b.in, b.s, NULL), 0, 1e-12);
        // rates by differences: the projection corrects them only slightly
        assert_int_equal(snw_projection_velocities(b.as, b.in, b.s, &err), SNW_OK);
        for (int i = 0; i < 3; i++) assert_near(b.s->v[i], v[n][i], 1e-6);
        const double f = rate / b.s->v[0];
        for (int i = 0; i < 3; i++) b.s->v[i] *= f; // one degree of freedom
        assert_int_equal(snw_projection_accelerations(b.as, b.in, b.s, &err), SNW_OK);
        snw_residual(b.m, b.in, b.s, false, b.w);
        const snw_wrench F = b.w->F[b.m->link_end[0]]; // in the bearing of the crank
        if (n == 0) first = b.s->a[0], force[0] = F.f.x, force[1] = F.f.y;
        assert_near(b.s->a[0], first, 1e-11);
        assert_near(F.f.x, force[0], 1e-10);
        assert_near(F.f.y, force[1], 1e-10);
        close_built(&b);
    }
    assert_true(fabs(first) > 1); // it moves
}

// ---- redundant, singular and impossible closures ------------------------------------------------

#define LINK "body: {mass: 1, com: [0, 0.1, 0], inertia: [1e-3, 1e-3, 2e-3]}"
#define PARALLEL                                                                                   \
    FOUR "robot:\n"                                                                                \
         "  left: {on: world, joint: revolute, " LINK "}\n"                                        \
         "  mid: {on: world, pose: {xyz: [0.2, 0, 0]}, joint: revolute, " LINK "}\n"               \
         "  right: {on: world, pose: {xyz: [0.5, 0, 0]}, joint: revolute, " LINK "}\n"             \
         "  bar: {on: left, pose: {xyz: [0, 0.3, 0]}, joint: revolute, body: {mass: 1, inertia: "  \
         "[1e-3, 1e-3, 2e-3]}}\n"                                                                  \
         "sites: {m: {on: mid, pose: {xyz: [0, 0.3, 0]}}, r: {on: right, pose: {xyz: [0, 0.3, "    \
         "0]}}, bm: {on: bar, pose: {xyz: [0.2, 0, 0]}}, br: {on: bar, pose: {xyz: [0.5, 0, "      \
         "0]}}}\n"                                                                                 \
         "loops: {close: {join: [br, r], as: revolute}, brace: {join: [bm, m], as: revolute}}\n"

// Rows are named by the axes of the first site, or as across and along the joint's axis if that is
// none of them.
static void rows_are_named_by_axes_of_the_site(void **state) {
    (void)state;
    static const struct {
        const char *axis, *rows;
    } said[] = {{"y", "tilt z, tilt x, move z, move x, move y"},
                {"-x", "tilt y, tilt z, move y, move z, move x"},
                {"[1, 0, 1]", "tilt first across, tilt second across, move first across, move "
                              "second across, move along"}};
    for (int i = 0; i < 3; i++) {
        char text[300], want[300];
        built b = {0};
        (void)snprintf(text, sizeof text,
                       "sinew: 1\nrobot: {p: {on: world, joint: revolute, axis: %s, body: {mass: "
                       "1}}}\nloops: {pin: {join: [world, p], as: revolute, axis: %s}}\n",
                       said[i].axis, said[i].axis);
        open_text(&b, text);
        (void)snprintf(want, sizeof want,
                       "5 rows, 5 identically satisfied: %s; their reactions are undetermined",
                       said[i].rows);
        snw_projection_describe(b.m, 0, text, sizeof text);
        assert_string_equal(text, want);
        assert_int_equal(b.m->freedom, 1); // rows that vary by rounding only remove no freedom
        close_built(&b);
    }
}

// A bar on three equal parallel links: one redundant row, and motion by the closed form.
static void a_third_parallel_link_is_redundant(void **state) {
    (void)state;
    built b = {0};
    open_text(&b, PARALLEL "initial: {left: {position: 0.4}}\n");
    assert_int_equal(b.m->nconstraint, 3);
    assert_int_equal(b.m->loop[0].nredundant, 0);
    assert_int_equal(b.m->loop[0].ntrivial, 3);
    assert_int_equal(b.m->loop[1].nredundant, 1);
    assert_int_equal(b.m->loop[1].ntrivial, 3);
    assert_int_equal(b.m->freedom, 1);
    assert_int_equal(b.m->singular, 0);
    char text[300];
    snw_projection_describe_redundant(b.m, 0, text, sizeof text);
    assert_string_equal(text, "");
    snw_projection_describe_redundant(b.m, 1, text, sizeof text);
    assert_string_equal(text, "loop 'brace': 1 of its constraint rows is redundant and dropped; "
                              "its reaction is undetermined");
    snw_projection_describe(b.m, 0, text, sizeof text);
    assert_string_equal(text, "5 rows, 3 identically satisfied: tilt x, tilt y, move z; their "
                              "reactions are undetermined");
    // closed from a state in which only one link is inclined, the bar stays parallel
    snw_projection_info info;
    snw_error err = {0};
    assert_int_equal(snw_projection_close(b.as, b.in, b.s, &info, &err), SNW_OK);
    const double q = *joint(&b, "left");
    assert_near(*joint(&b, "mid"), q, 1e-11);
    assert_near(*joint(&b, "right"), q, 1e-11);
    assert_near(*joint(&b, "bar"), -q, 1e-11);
    assert_true(fabs(q) > 0.05);
    // three links of 0.012 kg m^2 about their pins and 1 kg at 0.3 m
    assert_int_equal(snw_projection_accelerations(b.as, b.in, b.s, &err), SNW_OK);
    assert_near(b.s->a[b.m->block[b.m->link_block[0]].dof], 0.6 * 9.81 * sin(q) / 0.126, 1e-10);
    // dropped reactions are not determined, the others are
    snw_residual(b.m, b.in, b.s, false, b.w);
    const snw_wrench F = snw_loop_wrench(b.m, b.w, 0, b.s->lambda);
    assert_true(isnan(F.m.x) && isnan(F.m.y) && isnan(F.f.z));
    assert_true(isfinite(F.f.x) && isfinite(F.f.y) && F.m.z == 0);
    const snw_wrench B = snw_loop_wrench(b.m, b.w, 1, b.s->lambda);
    assert_true(isnan(B.f.x) || isnan(B.f.y));
    close_built(&b);
}

// All links in one line: one more freedom than nearby, which is reported but not removed by
// dropping a row.
static void a_line_of_links_is_singular_not_redundant(void **state) {
    (void)state;
    built b = {0};
    open_text(&b,
              FOUR "robot:\n"
                   "  crank: {on: world, joint: revolute, " CRANK "}\n"
                   "  coupler: {on: crank, pose: {xyz: [0.2, 0, 0]}, joint: revolute, " COUPLE "}\n"
                   "  rocker: {on: world, pose: {xyz: [0.4, 0, 0]}, joint: revolute, " ROCKER "}\n"
                   "sites: {a: {on: coupler, pose: {xyz: [0.5, 0, 0]}}, b: {on: rocker, pose: "
                   "{xyz: [0.3, 0, 0]}}}\n"
                   "loops: {pin: {join: [a, b], as: revolute}}\n");
    assert_int_equal(b.m->nconstraint, 2);
    assert_int_equal(b.m->loop[0].nredundant, 0);
    assert_int_equal(b.m->singular, 1);
    assert_int_equal(b.m->freedom, 2);
    char text[300];
    snw_projection_describe_singular(b.m, 0, text, sizeof text);
    assert_non_null(strstr(text, "singular configuration"));
    assert_non_null(strstr(text, "'pin'"));
    // forces and accelerations are not determined there: refused, with the name
    snw_error err = {0};
    assert_int_equal(snw_projection_accelerations(b.as, b.in, b.s, &err), SNW_E_SINGULAR);
    assert_non_null(strstr(err.text, "'pin'"));
    close_built(&b);
}

static void loops_that_cannot_be_closed_are_named(void **state) {
    (void)state;
    snw_error err;
    // two links of 0.1 m do not reach 1 m
    assert_int_equal(
        refused(FOUR "robot:\n"
                     "  a: {on: world, joint: revolute, " CRANK "}\n"
                     "  b: {on: a, pose: {xyz: [0.1, 0, 0]}, joint: revolute, " CRANK "}\n"
                     "sites: {tip: {on: b, pose: {xyz: [0.1, 0, 0]}}}\n"
                     "loops: {far: {join: [world, tip], as: revolute, pose: {xyz: [1, 0, 0]}}}\n",
                &err),
        SNW_E_MODEL);
    assert_non_null(strstr(err.text, "'far'"));
    assert_non_null(strstr(err.text, "open by 800 mm"));
    assert_int_equal(err.line, 7);
    assert_non_null(strstr(err.text, "check lengths"));
    // a bent rod that reaches the closure only when it is straight: to second order only
    assert_int_equal(
        refused(FOUR "robot: {a: {on: world, joint: revolute, rod: {length: 1, section: "
                     "{stiffness: {bend_z: 1}}, strain: {bend_z: legendre 12}}}}\n"
                     "initial: {a: {strain: {bend_z: 0.2*sin(pi*x/L) 1/m}}}\n"
                     "loops: {far: {join: [world, a.tip], as: revolute, pose: {xyz: [1, 0, 0]}}}\n",
                &err),
        SNW_E_MODEL);
    assert_non_null(strstr(err.text, "at the end of its reach"));
    // out of the plane: no solution exists
    assert_int_equal(
        refused(FOUR "robot:\n"
                     "  a: {on: world, joint: revolute, " CRANK "}\n"
                     "  b: {on: a, pose: {xyz: [0.1, 0, 0]}, joint: revolute, " CRANK "}\n"
                     "loops: {up: {join: [world, b], as: revolute, pose: {xyz: [0.1, 0, 0.1]}}}\n",
                &err),
        SNW_E_MODEL);
    assert_non_null(strstr(err.text, "'up'"));
    // two loops that agree at first and contradict each other later
    assert_int_equal(
        refused(FOUR "robot: {block: {on: world, joint: prismatic, axis: x, " CRANK "}}\n"
                     "loops:\n"
                     "  one: {join: [world, block], as: spherical, pose: {xyz: [0.1*t, 0, 0]}}\n"
                     "  two: {join: [world, block], as: spherical, pose: {xyz: [0.2*t, 0, 0]}}\n"
                     "study: [dynamic: {for: 2 s, step: 0.01 s}]\n",
                &err),
        SNW_E_MODEL);
    assert_non_null(strstr(err.text, "cannot be closed"));
    assert_non_null(strstr(err.text, "'one'"));
    assert_non_null(strstr(err.text, "'two'"));
}

// A pose that leaves the plane only later: its row is not dropped at t = 0.
static void rows_of_moving_poses_are_not_dropped_at_the_start(void **state) {
    (void)state;
    snw_error err;
    assert_int_equal(
        refused(FOUR "robot: {a: {on: world, joint: revolute, " CRANK "}}\n"
                     "sites: {tip: {on: a, pose: {xyz: [0.1, 0, 0]}}}\n"
                     "loops: {lift: {join: [world, tip], as: spherical, pose: {xyz: [0.1, 0, "
                     "0.01*t]}}}\n"
                     "study: [dynamic: {for: 2 s, step: 0.01 s}]\n",
                &err),
        SNW_E_MODEL);
    assert_non_null(strstr(err.text, "'lift' can never be closed"));
}

// Closing succeeds from distant starts, with small displacements where these suffice.
static void closing_moves_no_more_than_it_must(void **state) {
    (void)state;
    dice d = {45};
    for (int n = 0; n < 20; n++) {
        built b = {0};
        open_text(&b, four[0]);
        snw_projection_info info;
        snw_error err = {0};
        assert_int_equal(snw_projection_close(b.as, b.in, b.s, &info, &err), SNW_OK);
        double q[3], moved = 0, pushed = 0;
        const double e = n < 10 ? 1e-3 : 1;
        for (int i = 0; i < 3; i++) {
            q[i] = b.s->q[i];
            const double dq = roll(&d, -e, e);
            b.s->q[i] += dq;
            pushed += dq * dq;
        }
        const size_t before = snw_alloc_count();
        assert_int_equal(snw_projection_close(b.as, b.in, b.s, &info, &err), SNW_OK);
        assert_int_equal(snw_alloc_count(), before);
        assert_near(snw_projection_violation(b.as, b.in, b.s, NULL), 0, 1e-12);
        // the displacement to the closed state is not longer than the perturbation
        for (int i = 0; i < 3; i++) moved += (b.s->q[i] - q[i]) * (b.s->q[i] - q[i]);
        if (n < 10) assert_true(moved <= 1.01 * pushed);
        // nearest velocities: the change is an impulse of the loop, M (v - v0) = C' x
        double v0[3], M[9], p[3] = {0}, x[2], C[6] = {0};
        for (int i = 0; i < 3; i++) v0[i] = b.s->v[i] = roll(&d, -1, 1);
        assert_int_equal(snw_projection_velocities(b.as, b.in, b.s, &err), SNW_OK);
        snw_mass_matrix(b.m, b.in, b.s, b.w, M);
        snw_constraints_jacobian(b.m, b.w);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) p[i] += M[3 * j + i] * (b.s->v[j] - v0[j]);
        }
        for (int k = 0; k < 2; k++) {
            x[0] = k == 0, x[1] = k == 1;
            snw_constraints_apply_transpose(b.m, b.w, x, C + 3 * k);
        }
        // p in the plane of the two rows: their triple product vanishes
        const snw_vec3 c0 = {{C[0], C[1], C[2]}}, c1 = {{C[3], C[4], C[5]}},
                       P = {{p[0], p[1], p[2]}};
        assert_near(snw_dot(snw_cross(c0, c1), P), 0, 1e-13);
        snw_kinematics(b.m, b.in, b.s, false, b.w);
        double rate[2];
        snw_constraints_rates(b.m, b.in, b.s, b.w, rate, NULL);
        for (int k = 0; k < 2; k++) assert_near(rate[k], 0, 1e-13);
        close_built(&b);
    }
}

// ---- idle links ---------------------------------------------------------------------------------

#define TWO_LIMBS(plate)                                                                           \
    "sinew: 1\ngravity: [0, -9.81, 0]\n"                                                           \
    "materials: {composite: {young: 36 GPa, poisson: 0.3, density: 1900}}\n"                       \
    "robot:\n"                                                                                     \
    "  limb(k=1..2): {on: world, pose: {xyz: [0.3*(k - 1.5), 0, 0], axis: z, angle: 80 deg + 15 "  \
    "deg*(-1)^k}, rod: {length: 0.47, section: {rectangle: {y: 2.5 mm, z: 10 mm}}, material: "     \
    "composite, strain: {bend_z: legendre 3}}}\n"                                                  \
    "  plate: {on: limb(1), joint: revolute, body: " plate "}\n"                                   \
    "loops: {tip: {join: [limb(2).tip, plate], as: revolute}}\n"

// A point mass on a pin rotates freely: its rotation is not determined, all else is as with a body.
static void a_point_on_a_pin_is_idle(void **state) {
    (void)state;
    built b[2] = {{0}};
    open_text(&b[0], TWO_LIMBS("{mass: 0.2}"));
    open_text(&b[1], TWO_LIMBS("{mass: 0.2, inertia: [1e-4, 1e-4, 2e-4]}"));
    for (int n = 0; n < 2; n++) {
        snw_statics *st = NULL;
        snw_statics_info info;
        snw_error err = {0};
        const snw_statics_opts opts = snw_statics_defaults();
        assert_int_equal(snw_statics_create(b[n].m, &st), SNW_OK);
        if (snw_statics_solve(st, 0, &opts, b[n].s, &info, &err) != SNW_OK) {
            fail_msg("%s", err.text);
        }
        assert_true(info.residual <= 1e-13);
        const snw_stability stable = snw_statics_stability(st, b[n].s);
        assert_true(stable.value > 0.5 && stable.value < 1);
        bool idle[3];
        assert_int_equal(snw_projection_idle(b[n].as, b[n].in, b[n].s, idle), SNW_OK);
        assert_int_equal(idle[2], n == 0);
        assert_false(idle[0] || idle[1]);
        snw_statics_destroy(st);
    }
    for (int i = 0; i < b[0].m->nq; i++) {
        if (b[0].s->q + i != joint(&b[0], "plate")) assert_near(b[0].s->q[i], b[1].s->q[i], 1e-10);
    }
    // released from elsewhere, at rest
    for (int n = 0; n < 2; n++) {
        snw_projection_info info;
        snw_error err = {0};
        for (int i = 0; i < b[n].m->nq; i++) b[n].s->q[i] = 0.3 * (i % 3);
        assert_int_equal(snw_projection_close(b[n].as, b[n].in, b[n].s, &info, &err), SNW_OK);
        if (n) memcpy(b[1].s->q, b[0].s->q, (size_t)b[0].m->nq * sizeof(double));
        if (snw_projection_accelerations(b[n].as, b[n].in, b[n].s, &err) != SNW_OK) {
            fail_msg("%s", err.text);
        }
    }
    const int plate = b[0].m->block[b[0].m->link_block[2]].dof;
    for (int i = 0; i < b[0].m->nv; i++) {
        if (i != plate) assert_near(b[0].s->a[i], b[1].s->a[i], 1e-9);
    }
    assert_near(b[0].s->lambda[0], b[1].s->lambda[0], 1e-9);
    assert_near(b[0].s->lambda[1], b[1].s->lambda[1], 1e-9);
    for (int n = 0; n < 2; n++) close_built(&b[n]);
}

static void massless_motions_must_not_be_loaded(void **state) {
    (void)state;
    built b = {0};
    open_text(&b, TWO_LIMBS("{mass: 0.2}") "loads: {twist: {on: plate, torque: [0, 0, 0.1]}}\n");
    snw_projection_info info;
    snw_error err = {0};
    assert_int_equal(snw_projection_close(b.as, b.in, b.s, &info, &err), SNW_OK);
    assert_int_equal(snw_projection_accelerations(b.as, b.in, b.s, &err), SNW_E_SINGULAR);
    assert_non_null(strstr(err.text, "'plate' moves no mass but a force acts on it"));
    close_built(&b);
}

// A massless coupler is moved by its pins: the mass matrix alone is singular, with the rows it is
// not.
static void loops_hold_massless_links(void **state) {
    (void)state;
    static const char *const mass[2] = {"{mass: 0}",
                                        "{mass: 1e-9, inertia: [1e-10, 1e-10, 1e-10]}"};
    double a[2], l[2];
    for (int n = 0; n < 2; n++) {
        char text[2000];
        (void)snprintf(text, sizeof text,
                       FOUR
                       "robot:\n"
                       "  crank: {on: world, joint: revolute, " CRANK "}\n"
                       "  coupler: {on: crank, pose: {xyz: [0.2, 0, 0]}, joint: revolute%s%s}\n"
                       "  rocker: {on: world, pose: {xyz: [0.45, 0, 0]}, joint: "
                       "revolute, " ROCKER "}\n"
                       "sites: {a: {on: coupler, pose: {xyz: [0.5, 0, 0]}}, b: {on: rocker, "
                       "pose: {xyz: [0.3, 0, 0]}}}\n"
                       "loops: {pin: {join: [a, b], as: revolute}}\n",
                       n ? ", body: " : "", n ? mass[1] : "");
        built b = {0};
        open_text(&b, text);
        snw_projection_info info;
        snw_error err = {0};
        *joint(&b, "crank") = 0.7;
        assert_int_equal(snw_projection_close(b.as, b.in, b.s, &info, &err), SNW_OK);
        if (snw_projection_accelerations(b.as, b.in, b.s, &err) != SNW_OK) fail_msg("%s", err.text);
        a[n] = b.s->a[0], l[n] = b.s->lambda[0];
        close_built(&b);
    }
    assert_near(a[0], a[1], 1e-6);
    assert_near(l[0], l[1], 1e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_joint_is_the_joint),
        cmocka_unit_test(a_cut_joint_hangs_as_the_joint),
        cmocka_unit_test(four_bars_hang_where_energy_is_lowest),
        cmocka_unit_test(slider_cranks_hang_where_energy_is_lowest),
        cmocka_unit_test(other_cuts_move_alike),
        cmocka_unit_test(rows_are_named_by_axes_of_the_site),
        cmocka_unit_test(a_third_parallel_link_is_redundant),
        cmocka_unit_test(a_line_of_links_is_singular_not_redundant),
        cmocka_unit_test(loops_that_cannot_be_closed_are_named),
        cmocka_unit_test(rows_of_moving_poses_are_not_dropped_at_the_start),
        cmocka_unit_test(closing_moves_no_more_than_it_must),
        cmocka_unit_test(a_point_on_a_pin_is_idle),
        cmocka_unit_test(massless_motions_must_not_be_loaded),
        cmocka_unit_test(loops_hold_massless_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
