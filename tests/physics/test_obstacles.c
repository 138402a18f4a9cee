// SPDX-License-Identifier: MIT
//
// Contact with obstacles of all shapes, at rest, moved by laws and carried by links: distances,
// derivatives of the forces, momentum, energy, and closed forms.
#include "dynamics/contact.h"
#include "model/distance_grid.h"
#include "random_tree.h"
#include "setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// ---- files --------------------------------------------------------------------------------------

// An octahedron with the corners 6 m from its centre, a little askew.
static const char octahedron[] = "v 6 0 0.3\nv -6 0.2 0\nv 0 6 0\nv 0.1 -6 0\nv 0 0 6\nv 0 0.2 -6\n"
                                 "f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\n"
                                 "f 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n";
static char octahedron_file[64];

static int write_files(void **state) {
    (void)state;
    char folder[] = "/tmp/sinew_XXXXXX";
    if (!mkdtemp(folder)) return -1;
    (void)snprintf(octahedron_file, sizeof octahedron_file, "%s/octahedron.obj", folder);
    FILE *f = fopen(octahedron_file, "w");
    if (!f) return -1;
    (void)fputs(octahedron, f);
    return fclose(f);
}

static int remove_files(void **state) {
    (void)state;
    (void)remove(octahedron_file);
    *strrchr(octahedron_file, '/') = '\0';
    return rmdir(octahedron_file);
}

#ifndef SNW_WIDE
// The obstacle of a text such as "shape: hull, ..".
typedef struct read_shape {
    snw_document *doc;
    snw_desc *desc;
} read_shape;

static const snw_obstacle *read_shape_open(read_shape *s, const char *shape) {
    char text[1000];
    snw_error err;
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\nrobot: {ball: {on: world, joint: free, body: {sphere: {radius: 1}, mass: "
        "1}}}\ncontacts: {o: {obstacle: {links: ball, stiffness: 1, %s}}}\nstudy: [static: ]\n",
        shape);
    if (describe(text, &s->doc, &s->desc, &err) != SNW_OK) fail_msg("%s", err.text);
    return &s->desc->contact[0].obstacle;
}
#endif

// ---- distances ----------------------------------------------------------------------------------

static const snw_obstacle shapes[] = {
    {.kind = SNW_OBSTACLE_PLANE},
    {.kind = SNW_OBSTACLE_SPHERE, .radius = 0.7},
    {.kind = SNW_OBSTACLE_CAPSULE, .radius = 0.4, .half = {{0, 0, 0.5}}},
    {.kind = SNW_OBSTACLE_BOX, .half = {{0.5, 0.7, 0.9}}, .rounding = 0.2},
    {.kind = SNW_OBSTACLE_CYLINDER, .radius = 0.6, .half = {{0, 0, 0.5}}, .rounding = 0.1},
    {.kind = SNW_OBSTACLE_CYLINDER, .radius = 0.6, .half = {{0, 0, INFINITY}}},
    {.kind = SNW_OBSTACLE_TORUS, .radius = 0.9, .section = 0.3},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

// Gradient and Hessian are the derivatives of distance and gradient, the gradient is a unit vector,
// and the Hessian is zero along it: over faces, edges, corners, ends and insides.
static void check_distance(const snw_obstacle *o, snw_vec3 y) {
    snw_vec3 n, ignored;
    snw_mat3 H, also;
    (void)snw_obstacle_distance(o, y, &n, &H);
    if (o->kind != SNW_OBSTACLE_MESH) { // whose distance is interpolated
        assert_near(snw_norm(n), 1, 1e-14);
        assert_near(snw_norm(snw_rotate(H, n)), 0, 1e-13);
    }
    for (int j = 0; j < 3; j++) {
        double slope = 0;
        snw_vec3 turn = {{0}};
        for (int way = 0; way < BESIDE; way++) {
            snw_vec3 moved = y;
            moved.e[j] += beside(way);
            slope += slope_of(way, snw_obstacle_distance(o, moved, &ignored, &also));
            for (int i = 0; i < 3; i++) turn.e[i] += slope_of(way, ignored.e[i]);
        }
        assert_near(slope, n.e[j], 10 * LEFT);
        for (int i = 0; i < 3; i++) assert_near(turn.e[i], H.e[i][j], 100 * LEFT);
    }
}

static void distances_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {211};
    for (int k = 0; k < 40 * SHAPES; k++) {
        snw_obstacle o = shapes[k % SHAPES];
        o.inside = o.kind != SNW_OBSTACLE_PLANE && k % 2;
        check_distance(&o, roll_vec3(&d, 2));
    }
}

#define FIELD "height, height: 0.3 m*cos(x/1.2 m)*sin(y/1.4 m + 0.2), area: [6, 5], cells: 20"
#define HULL                                                                                       \
    "hull, rounding: 0.2, corners: [[0.5, 0, 0], [-0.6, 0.1, 0], [0, 0.7, 0.1], [0, -0.5, 0], "    \
    "[0.1, 0.1, 0.6], [0, 0, -0.4], [0.3, 0.3, 0.3], [0.01, 0.02, 0.03]]"

// The same of height fields, also beyond their edges, of hulls and of meshes. By complex steps
// only: third derivatives jump.
#ifdef SNW_COMPLEX
static void surfaces_of_data_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {215};
    char mesh[200];
    (void)snprintf(mesh, sizeof mesh, "mesh, scale: 0.1 m, cells: 12, file: %s", octahedron_file);
    const char *const shape[] = {FIELD, HULL, mesh};
    for (int k = 0; k < 3; k++) {
        char text[600];
        read_shape s;
        (void)snprintf(text, sizeof text, "shape: %s", shape[k]);
        const snw_obstacle *o = read_shape_open(&s, text);
        for (int i = 0; i < 150; i++) {
            snw_vec3 y = roll_vec3(&d, k == 2 ? 1.5 : 2);
            if (k == 0) y.x *= 2.2;
            check_distance(o, y);
        }
        release(s.doc, s.desc);
    }
}
#endif

// ---- derivatives --------------------------------------------------------------------------------

// Two robots that float: round and rectangular rods, spheres and points; an obstacle for rods and
// one for bodies, in the smooth onset of the force everywhere.
#define ROBOTS                                                                                     \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"           \
    "robot:\n"                                                                                     \
    "  base: {on: world, joint: free, body: {sphere: {radius: 60 mm}, mass: 2, com: [0.02, 0.1, "  \
    "0]}}\n"                                                                                       \
    "  arm: {on: base, rod: {length: 0.5, section: {circle: {radius: 20 mm + 5 mm*x/L}}, "         \
    "material: "                                                                                   \
    "rubber, strain: cosserat legendre 2}}\n"                                                      \
    "  strip: {on: arm@60%%, pose: {rpy: [0.1, 0.2, 0.3]}, joint: spherical, rod: {length: 0.3, "  \
    "section: {rectangle: {y: 15 mm, z: 40 mm}}, material: rubber, strain: kirchhoff linear}}\n"   \
    "  other: {on: world, joint: free, body: {mass: 3, com: [0, 0.05, 0], inertia: [0.02, 0.03, "  \
    "0.04]}}\n"                                                                                    \
    "  finger: {on: other, pose: {xyz: [0.1, 0, 0.2], rpy: [0.3, 0.1, 0]}, joint: revolute, rod: " \
    "{length: 0.4, section: {tube: {radius: 15 mm, inner: 5 mm}}, material: rubber, strain: "      \
    "{bend_y: linear, bend_z: linear}}}\n"                                                         \
    "  pad: {on: finger.tip, joint: prismatic, body: {sphere: {radius: 30 mm}, mass: 1}}\n"

static const char robot_text[] = ROBOTS
    "contacts:\n"
    "  rods: {obstacle: {links: [arm, strip], shape: %s, %s, stiffness: 3 kPa, ends: 40, damping: "
    "0.05, friction: {along: 0.2, across: 0.9}, creep: 0.7, smooth: 20}}\n"
    "  bodies: {obstacle: {links: base, shape: %s, %s, stiffness: 300, damping: 0.05, friction: "
    "0.6, creep: 0.7, smooth: 20}}\n"
    "  toes: {obstacle: {links: base, shape: %s, %s, stiffness: 200, damping: 0.04, friction: 0.5, "
    "creep: 0.5, smooth: 20, points: [[0.1, 0, 0], [0, 0.1, 0.05]]}}\n";

static const char *const shape_texts[] = {
    "plane",
    "sphere, radius: 0.7",
    "capsule, radius: 0.4, length: 1",
    "box, size: [1, 1.4, 1.8], rounding: 0.2",
    "cylinder, radius: 0.6, length: 1, rounding: 0.1",
    "cylinder, radius: 0.6",
    "torus, radius: 0.9, section: 0.3",
    "sphere, radius: 10.2, inside: true",
    "capsule, radius: 10.2, length: 0.6, inside: true",
    "cylinder, radius: 10.2, inside: true",
    "torus, radius: 11.5, section: 10.2, inside: true",
    FIELD,
    HULL,
    "mesh, cells: 8, file: %s",
    "mesh, cells: 8, inside: true, file: %s",
};
enum { SHAPE_TEXTS = sizeof shape_texts / sizeof *shape_texts };

// Complex steps check all shapes. Differences check planes only: a Hessian that jumps at an edge,
// or grows near a centre, varies over their steps.
static bool is_checked(int shape) {
#ifdef SNW_COMPLEX
    (void)shape;
    return true;
#else
    return shape == 0;
#endif
}

// at rest, moving and rotating by laws, carried by the other robot and by a link of the same one
static const char *const frames[] = {
    "at: [0.3, -0.4, 0.2], axis: [1, 2, 2]",
    "pose: {xyz: [0.3 + 0.5*t, -0.4*t^2, 0.2], rpy: [0.7*t, 0.3, 2*t]}",
    "on: finger.tip, at: [0.1, 0.2, -0.1], axis: [1, 2, 2]",
    "on: other, pose: {xyz: [0.1*t, 0, 0.1], rpy: [0, t, 0]}",
    "on: pad, at: [0, 0.1, 0.2]",
};
enum { FRAMES = sizeof frames / sizeof *frames };

static void open_text(setting *s, dice *d, const char *text) {
    setting_open(s, text);
    state_random(s->g.m, d, s->g.s);
    s->g.s->t = 0.3;
    snw_inputs_at(s->g.m, s->g.s->t, s->g.in);
}

// The same with boxes, cylinders and bodies of several shapes, which touch obstacles from both
// sides, and a body of several shapes that is an obstacle.
static const char solid_text[] =
    "sinew: 1\n"
    "robot:\n"
    "  base: {on: world, joint: free, body: {mass: 2, com: [0.02, 0.1, 0], inertia: [0.02, 0.03, "
    "0.04]}}\n"
    "  crate: {on: base, pose: {xyz: [0, 0.2, 0.1], rpy: [0.3, 0.1, 0]}, joint: spherical, body: "
    "{box: [0.3, 0.4, 0.5], mass: 3, com: [0, 0.05, 0.1]}}\n"
    "  log: {on: base, pose: {xyz: [0.4, 0, -0.2]}, joint: revolute, body: {cylinder: {radius: "
    "0.1, "
    "length: 0.5, axis: [1, 2, 2]}, mass: 3}}\n"
    "  part: {on: base, pose: {xyz: [-0.3, 0.1, 0]}, joint: revolute, axis: x, body: {mass: 2, "
    "shapes: [{shape: capsule, radius: 0.1, length: 0.3, at: [0.1, 0.2, 0], axis: [0, 3, 4]}, "
    "{shape: sphere, radius: 0.15, at: [0, -0.3, 0.1]}, {shape: hull, rounding: 0.05, corners: "
    "[[0.5, 0, 0], [-0.6, 0.1, 0], [0, 0.7, 0.1], [0, 0.1, 0.4]], pose: {rpy: [0.3, 0.1, 0]}}, "
    "{shape: mesh, cells: 8, file: %s, at: [0.1, 0, 0.2]}]}}\n"
    "  other: {on: world, joint: free, body: {mass: 3, com: [0, 0.05, 0], inertia: [0.02, 0.03, "
    "0.04]}}\n"
    "  finger: {on: other, pose: {xyz: [0.1, 0, 0.2], rpy: [0.3, 0.1, 0]}, joint: revolute, body: "
    "{mass: 1}}\n"
    "contacts:\n"
    "  touch: {obstacle: {links: [crate, log, part], shape: %s, %s, spacing: 0.9, stiffness: 30, "
    "damping: 0.05, friction: 0.6, creep: 0.7, smooth: 20}}\n"
    "  pair: {obstacle: {links: crate, on: part, shape: body, spacing: 0.9, stiffness: 20, "
    "damping: 0.05, friction: 0.4, creep: 0.7, smooth: 20}}\n";

static const char *const solid_frames[] = {
    "at: [0.3, -0.4, 0.2], axis: [1, 2, 2]",
    "on: finger, pose: {xyz: [0.1*t, 0, 0.1], rpy: [0, t, 0]}",
};

static bool is_solid_shape(int shape) {
    return shape != 0 && strcmp(shape_texts[shape], "cylinder, radius: 0.6") != 0;
}

static void solids_open(setting *s, dice *d, const char *shape, const char *frame) {
    char text[3000], with_file[400];
    (void)snprintf(with_file, sizeof with_file, shape, octahedron_file);
    (void)snprintf(text, sizeof text, solid_text, octahedron_file, with_file, frame);
    setting_random(s, text, d);
}

static void robot_open(setting *s, dice *d, const char *shape, const char *frame) {
    char text[5000], with_file[400];
    (void)snprintf(with_file, sizeof with_file, shape, octahedron_file);
    (void)snprintf(text, sizeof text, robot_text, with_file, frame, with_file, frame, with_file,
                   frame);
    open_text(s, d, text);
}

// The tapered rod touches where it is nearest, in the smooth onset of the force everywhere.
static const char nearest_text[] = ROBOTS
    "contacts:\n"
    "  rod: {obstacle: {links: arm, shape: %s, %s, nearest: true, stiffness: 300, damping: 0.05, "
    "friction: {along: 0.2, across: 0.9}, creep: 0.7, smooth: 20}}\n";

static bool has_nearest(int shape) {
    return shape > 0 && !strstr(shape_texts[shape], "inside") &&
           !strstr(shape_texts[shape], "mesh") && !strstr(shape_texts[shape], "height") &&
           is_checked(shape);
}

static void nearest_open(setting *s, dice *d, const char *shape, const char *frame) {
    char text[4000];
    (void)snprintf(text, sizeof text, nearest_text, shape, frame);
    open_text(s, d, text);
}

static int touching(const rig *g) {
    int n = 0;
    for (int k = 0; k < g->m->ncontact_point; k++) n += g->w->contact_point[k].elastic_force > 0;
    return n;
}

static void obstacles_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {212};
    for (int k = 0; k < SHAPE_TEXTS * FRAMES; k++) {
        setting s;
        if (!is_checked(k % SHAPE_TEXTS)) continue;
        robot_open(&s, &d, shape_texts[k % SHAPE_TEXTS], frames[k / SHAPE_TEXTS]);
        snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
        assert_true(touching(&s.g) > 10);
        rig_check(&s.g);
        setting_close(&s);
    }
}

#ifdef SNW_COMPLEX
static void solids_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {217};
    for (int k = 0; k < 2 * SHAPE_TEXTS; k++) {
        setting s;
        if (!is_solid_shape(k % SHAPE_TEXTS)) continue;
        solids_open(&s, &d, shape_texts[k % SHAPE_TEXTS], solid_frames[k / SHAPE_TEXTS]);
        snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
        assert_true(touching(&s.g) > 1);
        rig_check(&s.g);
        rig_check_energy(&s.g);
        setting_close(&s);
    }
}
#endif

#ifndef SNW_WIDE
// Between nodes the curvature is a second difference of their places, over pieces of 2 cm: rounding
// is 12/(2 cm)^2 times larger.
#define LEFT_OF_PIECES (100 * LEFT)

// Places of the contact: between nodes, at the root and at the tip of the rod.
static void contacts_of_pieces_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {218};
    int between = 0, at_end = 0;
    for (int k = 0; k < 4 * SHAPE_TEXTS * FRAMES; k++) {
        setting s;
        if (!has_nearest(k % SHAPE_TEXTS)) continue;
        nearest_open(&s, &d, shape_texts[k % SHAPE_TEXTS], frames[k % FRAMES]);
        snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
        // within an obstacle a distance may have a kink where it is smallest
        bool outside = true;
        for (int i = 0; i < s.g.m->ncontact_point; i++)
            outside = outside && s.g.w->contact_point[i].gap > 0;
        for (int i = 0; i < s.g.m->ncontact_point && outside; i++) {
            if (!s.g.w->contact_point[i].in_contact) continue;
            between += s.g.w->contact_point[i].free;
            at_end += !s.g.w->contact_point[i].free;
        }
        if (outside) {
            assert_true(touching(&s.g) > 0);
            rig_check_within(&s.g, LEFT_OF_PIECES);
        }
        if (outside && (k % FRAMES == 2 || k % FRAMES == 4)) {
            rig_check_stiffness_within(&s.g, LEFT_OF_PIECES);
            rig_check_energy(&s.g);
        }
        setting_close(&s);
    }
#ifdef SNW_COMPLEX
    assert_true(between > 5 && at_end > 30);
#else
    (void)between, (void)at_end;
#endif
}

// in statics forces are derivatives of the stored energy, and the stiffness is symmetric
static void obstacles_store_the_energy_of_their_forces(void **state) {
    (void)state;
    dice d = {213};
    for (int k = 0; k < SHAPE_TEXTS; k++) {
        setting s;
        if (!is_checked(k)) continue;
        robot_open(&s, &d, shape_texts[k], frames[k % 2 ? 2 : 4]);
        rig_check_stiffness(&s.g);
        rig_check_energy(&s.g);
        setting_close(&s);
    }
}
#endif

#ifndef SNW_NUMBERS
// The interpolated distance of a mesh is that of its triangles within the error that is told, on
// samples exactly, and a hull has the distance of its faces.
static void a_mesh_has_the_distance_of_its_faces(void **state) {
    (void)state;
    dice d = {216};
    char text[400];
    read_shape s, t;
    (void)snprintf(text, sizeof text, "shape: mesh, scale: 0.1 m, cells: 30, file: %s",
                   octahedron_file);
    const snw_obstacle *o = read_shape_open(&s, text);
    (void)snprintf(text, sizeof text, "shape: hull, scale: 0.1 m, rounding: 0.1 m, file: %s",
                   octahedron_file);
    const snw_obstacle *hull = read_shape_open(&t, text);
    snw_pool *pool = snw_pool_create((size_t)1 << 24);
    const snw_mesh_search *exact = snw_mesh_search_create(pool, &o->grid->mesh);
    // at its corners the distance has a kink; beyond, its second derivative jumps
    const double cell = o->grid->grid.step[0];
    assert_true(o->grid->error < 0.4 * cell && o->grid->error_beyond < 0.06 * cell &&
                o->grid->mean < 0.02 * cell);
    for (int k = 0; k < 2000; k++) {
        const snw_vec3 y = roll_vec3(&d, 1.4);
        snw_vec3 n;
        snw_mat3 H;
        const double want = snw_mesh_distance(exact, y, NULL);
        if (want > 1 || want < -0.05) continue;
        assert_near(snw_obstacle_distance(o, y, &n, &H), want,
                    want < cell ? 1.5 * o->grid->error : 1.5 * o->grid->error_beyond);
        if (want > 0) assert_near(snw_obstacle_distance(hull, y, &n, &H), want - 0.1, 1e-14);
    }
    snw_pool_destroy(pool);
    release(s.doc, s.desc);
    release(t.doc, t.desc);
}
#endif

// ---- momentum -----------------------------------------------------------------------------------

#ifndef SNW_NUMBERS

// The wrenches of a contact on both sides are opposite, and their power is stored or becomes heat.
static void a_carried_obstacle_keeps_momentum(void **state) {
    (void)state;
    dice d = {214};
    for (int k = 0; k < SHAPE_TEXTS * 4; k++) {
        setting s;
        const int shape = k % SHAPE_TEXTS, frame = k / SHAPE_TEXTS;
        if (frame == 3 && !is_solid_shape(shape)) continue;
        if (frame == 3)
            solids_open(&s, &d, shape_texts[shape], solid_frames[1]);
        else
            robot_open(&s, &d, shape_texts[shape], frames[2 + frame]);
        rig *g = &s.g;
        snw_kinematics(g->m, g->in, g->s, false, g->w);
        for (int i = 0; i < g->m->nseg; i++) g->w->F[i] = snw_wrench_zero();
        snw_contact_add(g->m, g->w);
        snw_wrench sum = {0};
        double size = 0, power = 0;
        for (int i = 0; i < g->m->nseg; i++) {
            const snw_wrench F = snw_wrench_to_parent(g->w->g[i], g->w->F[i]);
            sum = snw_wrench_add(sum, F);
            size += snw_norm(F.f) + snw_norm(F.m);
            power -= snw_power(g->w->F[i], g->w->V[i]);
        }
        assert_true(size > 0.1);
        for (int i = 0; i < 6; i++) assert_near(sum.e[i], 0, 1e-13 * size);
        const double heat = snw_contact_heat(g->m, g->w);
        assert_near(power, -heat - snw_contact_energy_rate(g->m, g->w), 1e-12 * size);
        assert_true(heat >= 0);
        setting_close(&s);
    }
}

// ---- motion -------------------------------------------------------------------------------------

// A small ball falls on a small fixed one with steps that would pass it: no scheme misses it. Those
// that repeat steps at impacts gain no energy.
static void long_steps_do_not_pass_an_obstacle(void **state) {
    (void)state;
    static const char *const scheme[] = {"generalized-alpha, step: 0.1 s",
                                         "newmark, step: 0.1 s",
                                         "bdf2, step: 0.1 s",
                                         "euler, step: 0.1 s",
                                         "radau5, step: 0.1 s",
                                         "gauss4, step: 0.1 s",
                                         "rk4, step: 0.1 s",
                                         "adaptive"};
    for (size_t i = 0; i < sizeof scheme / sizeof *scheme; i++) {
        char text[1000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "robot: {ball: {on: world, joint: free, body: {sphere: {radius: 5 mm}, mass: 1}}}\n"
            "initial: {ball: {pose: {xyz: [0, 0, 1]}}}\n"
            "contacts: {peg: {obstacle: {links: ball, shape: sphere, radius: 5 mm, stiffness: "
            "1e6}}}\n"
            "study: [dynamic: {for: 0.8 s, scheme: %s}]\n"
            "probes: {z: {position: ball}, e: energy, c: {contact: peg}}\n",
            scheme[i]);
        execute_ok(text, &o);
        const double z = last(&o, 2), total = last(&o, 3 + 7);
        if (!(z > 0.2) || (i < 4 && !(total < 9.81 * 1.005)))
            fail_msg("%s: ends at %g m with %g J", scheme[i], z, total);
        assert_near(last(&o, 11 + 3), z - 0.01, 1e-12); // the gap
        snw_series_clear(&o.series);
    }
}

// An obstacle that is too soft for the impact would let the ball through: the motion ends there.
static void a_ball_in_the_middle_of_an_obstacle_ends_the_motion(void **state) {
    (void)state;
    static const char *const scheme[] = {"bdf2, step: 1 ms", "adaptive", "radau5, step: 1 ms"};
    for (size_t i = 0; i < sizeof scheme / sizeof *scheme; i++) {
        char text[1000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n"
            "robot: {ball: {on: world, joint: free, body: {sphere: {radius: 5 mm}, mass: 1}}}\n"
            "initial: {ball: {pose: {xyz: [0, 0, 0.1]}, twist: [0, 0, 0, 0, 0, -4]}}\n"
            "contacts: {peg: {obstacle: {links: ball, shape: sphere, radius: 5 mm, stiffness: "
            "1e5}}}\n"
            "study: [dynamic: {for: 0.2 s, scheme: %s}]\nprobes: {z: {position: ball}}\n",
            scheme[i]);
        execute(text, &o);
        assert_int_equal(o.status, SNW_E_DIVERGED);
        if (!strstr(o.err.text, "deep in obstacle 'peg'")) fail_msg("%s", o.err.text);
        snw_series_clear(&o.series);
    }
}

// A plate that rises by a law throws a ball up: what its driver works is what the ball gets, and an
// elastic ball at rest leaves with twice the speed of the plate.
static void the_driver_of_an_obstacle_works(void **state) {
    (void)state;
    static const char *const scheme[] = {"adaptive, tolerance: 1e-10", "step: 20 us",
                                         "bdf2, step: 20 us"};
    for (size_t i = 0; i < sizeof scheme / sizeof *scheme; i++) {
        char text[1000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n"
            "robot: {ball: {on: world, joint: free, body: {sphere: {radius: 20 mm}, mass: 2}}}\n"
            "contacts: {plate: {obstacle: {links: ball, shape: box, size: [1, 1, 0.1], at: [0, 0, "
            "-0.08 + 3*t], stiffness: 1e5, smooth: 1 um}}}\n"
            "study: [dynamic: {for: 40 ms, %s%s}]\n"
            "probes: {v: {velocity: ball}, e: energy}\n",
            i == 1 ? "" : "scheme: ", scheme[i]);
        execute_ok(text, &o);
        assert_near(last(&o, 2), 6, i ? 1e-3 : 1e-7);
        assert_near(last(&o, 3 + 4), 36, i ? 2e-2 : 1e-6); // work
        assert_near(last(&o, 3 + 6), 0, i ? 1e-3 : 1e-7);  // balance
        snw_series_clear(&o.series);
    }
}

// ---- links that touch ---------------------------------------------------------------------------

#define CHAIN(keys)                                                                                \
    "sinew: 1\nmaterials: {m: {young: 1 MPa, density: 1000}}\n"                                    \
    "robot:\n"                                                                                     \
    "  base: {on: world, joint: free, body: {box: [0.2, 0.2, 0.1], mass: 1, com: [0, 0, 0.1]}}\n"  \
    "  rigid: {on: base, layer: limb, body: {sphere: {radius: 20 mm}, mass: 0.1}}\n"               \
    "  arm: {on: rigid, layer: limb, joint: revolute, body: {cylinder: {radius: 20 mm, length: "   \
    "0.2, axis: x}, mass: 0.1}}\n"                                                                 \
    "  hand: {on: arm, layer: [limb, far], joint: revolute, body: {sphere: {radius: 20 mm}, "      \
    "mass: "                                                                                       \
    "0.1}}\n"                                                                                      \
    "  tail: {on: base, rod: {length: 0.3, section: {circle: {radius: 5 mm}}, material: m, "       \
    "strain: "                                                                                     \
    "{bend_y: linear}}}\n"                                                                         \
    "  end: {on: tail.tip, joint: spherical, rod: {length: 0.3, section: {circle: {radius: 5 "     \
    "mm}}, "                                                                                       \
    "material: m, strain: {bend_y: linear}}}\n"                                                    \
    "  bare: {on: hand, joint: fixed}\n"                                                           \
    "  ball: {on: world, layer: far, joint: free, body: {sphere: {radius: 20 mm}, mass: 0.1}}\n"   \
    "contacts: {touch: {obstacle: {stiffness: 10, " keys                                           \
    "}}}\nstudy: [dynamic: {for: 1 ms, step: 1 "                                                   \
    "ms}]\n"

// The words `rods`, `bodies` and `all`, and layers, leave out the carrier, what is rigidly
// connected to it, and parents and children of these; `without` leaves out more.
static void words_stand_for_links(void **state) {
    (void)state;
    static const struct {
        const char *text, *links;
    } cases[] = {
        {CHAIN("links: bodies, shape: plane"), " base rigid arm hand ball"},
        {CHAIN("links: rods, shape: plane"), " tail end"},
        {CHAIN("links: rods, without: end, shape: plane"), " tail"},
        {CHAIN("links: bodies, on: base, shape: body"), " hand ball"},
        {CHAIN("links: bodies, on: rigid, shape: body, without: [ball]"), " hand"},
        {CHAIN("links: rods, on: base, shape: body"), " end"},
        {CHAIN("links: bodies, on: hand, shape: body"), " base rigid ball"},
        {CHAIN("links: [hand, ball], without: hand, on: arm, shape: body"), " ball"},
        {CHAIN("links: bodies, on: end.tip, shape: sphere, radius: 1 cm"),
         " base rigid arm hand ball"},
        {CHAIN("links: limb, shape: plane"), " rigid arm hand"},
        {CHAIN("links: [far, arm, limb], shape: plane"), " hand ball arm rigid"},
        {CHAIN("links: bodies, without: [limb, base], shape: plane"), " ball"},
        {CHAIN("links: limb, on: base, shape: body"), " hand"}, // not next to the base
        {CHAIN("links: [arm, far], on: base, shape: body"), " arm hand ball"}, // named
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snw_document *doc;
        snw_desc *d;
        snw_error err;
        char links[100] = "";
        if (describe(cases[i].text, &doc, &d, &err) != SNW_OK) fail_msg("%zu: %s", i, err.text);
        for (int k = 0; k < d->contact[0].nlink; k++) {
            const size_t used = strlen(links);
            (void)snprintf(links + used, sizeof links - used, " %s",
                           d->link[d->contact[0].link[k]].name);
        }
        assert_string_equal(links, cases[i].links);
        release(doc, d);
    }
}

// An obstacle with the shape of the body that carries it is in the place of that body.
static void a_body_is_an_obstacle(void **state) {
    (void)state;
    static const char *const carrier[] = {"base", "arm", "hand"};
    static const char *const same[] = {
        "shape: box, size: [0.2, 0.2, 0.1], at: [0, 0, 0.1]",
        "shape: cylinder, radius: 20 mm, length: 0.2, axis: x",
        "shape: sphere, radius: 20 mm",
    };
    for (int k = 0; k < 3; k++) {
        double gap[2];
        for (int way = 0; way < 2; way++) {
            char text[4000], keys[200];
            outcome o;
            (void)snprintf(keys, sizeof keys, "links: ball, on: %s, %s", carrier[k],
                           way ? same[k] : "shape: body");
            (void)snprintf(text, sizeof text,
                           CHAIN("%s") "initial: {ball: {pose: {xyz: [0.3, 0.2, 0.4]}}}\n"
                                       "probes: {c: {contact: touch}}\n",
                           keys);
            execute_ok(text, &o);
            gap[way] = last(&o, 3);
            snw_series_clear(&o.series);
        }
        assert_near(gap[0], gap[1], 1e-15);
        assert_true(gap[0] > 0.01);
    }
}

// ---- messages -----------------------------------------------------------------------------------

#define PEG(keys)                                                                                  \
    "sinew: 1\nmaterials: {m: {young: 1 MPa, density: 1000}}\n"                                    \
    "robot: {a: {on: world, joint: free, body: {sphere: {radius: 20 mm}, mass: 1}}, b: {on: a, "   \
    "body: {box: [0.1, 0.1, 0.1], mass: 1}}, c: {on: a, rod: {length: 1, section: {circle: "       \
    "{radius: 10 mm}}, material: m, strain: {bend_y: legendre 3}, nodes: 10}}}\n"                  \
    "contacts: {peg: {obstacle: {" keys "}}}\nstudy: [dynamic: {for: 1 ms, step: 1 ms}]\n"

static void impossible_obstacles_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {PEG("shape: sphere, radius: 1, stiffness: 1"), "needs 'links'"},
        {PEG("links: a, radius: 1, stiffness: 1"), "needs 'shape'"},
        {PEG("links: a, shape: sphere, radius: 1"), "needs 'stiffness'"},
        {PEG("links: a, shape: ball, radius: 1, stiffness: 1"), "ball"},
        {PEG("links: a, shape: sphere, stiffness: 1"), "needs 'radius'"},
        {PEG("links: a, shape: sphere, radius: -1, stiffness: 1"), "radius"},
        {PEG("links: a, shape: sphere, radius: 1, size: [1, 1, 1], stiffness: 1"), "has no 'size'"},
        {PEG("links: a, shape: box, size: [1, 0, 1], stiffness: 1"), "'size' must be positive"},
        {PEG("links: a, shape: box, size: [1, 1, 1], rounding: 0.6, stiffness: 1"),
         "smallest half width"},
        {PEG("links: a, shape: torus, radius: 1, section: 2, stiffness: 1"), "no hole"},
        {PEG("links: a, shape: plane, inside: true, stiffness: 1"), "no inside"},
        {PEG("links: a, shape: sphere, radius: 1, at: [0, 0, 0], pose: {xyz: [1, 0, 0]}, "
             "stiffness: 1"),
         "instead of 'at'"},
        {PEG("links: a, on: a, shape: sphere, radius: 1, stiffness: 1"), "cannot touch it"},
        {PEG("links: b, shape: cylinder, radius: 1, stiffness: 1"), "edges are endless"},
        {PEG("links: all, shape: plane, stiffness: 1"), "other units for rods"},
        {PEG("links: bodies, without: [a, b], shape: plane, stiffness: 1"), "no link is left"},
        {PEG("links: bodies, without: d, shape: plane, stiffness: 1"), "d"},
        {PEG("links: [a, a], shape: plane, stiffness: 1"), "link 'a' is listed twice"},
        {"sinew: 1\nrobot: {a: {on: world, layer: b, body: {sphere: {radius: 1 cm}, mass: 1}}, b: "
         "{on: world, joint: free, body: {sphere: {radius: 1 cm}, mass: 1}}}\ncontacts: {c: "
         "{ground: "
         "{on: b, stiffness: 1}}}\nstudy: [static: ]\n",
         "layer 'b' of link 'a' has the name of something else"},
        {PEG("links: a, shape: body, stiffness: 1"), "needs 'on', a link whose body"},
        {PEG("links: a, on: c, shape: body, stiffness: 1"), "needs 'on', a link whose body"},
        {PEG("links: c, on: b, shape: body, radius: 1, stiffness: 1"), "leave out 'radius'"},
        {PEG("links: b, shape: box, size: [1, 1, 1], spacing: 1 um, stiffness: 1"),
         "larger 'spacing'"},
        {PEG("links: a, shape: box, size: [1, 1, 1], inside: true, stiffness: 1"),
         "larger rounding"},
        {PEG("links: a, shape: sphere, radius: 1, stiffness: 1, damping: 1, restitution: {ratio: "
             "0.5, speed: 1}"),
         "leave one out"},
        {PEG("links: a, shape: sphere, radius: 1, stiffness: 1, restitution: {ratio: 1.5, speed: "
             "1}"),
         "above 0 and at most 1"},
        {PEG("links: c, shape: plane, nearest: true, stiffness: 1"), "cannot touch where"},
        {PEG("links: c, shape: sphere, radius: 1, inside: true, nearest: true, stiffness: 1"),
         "cannot touch where"},
        {PEG("links: a, shape: sphere, radius: 1, nearest: true, stiffness: 1"),
         "have contact points"},
        {PEG("links: c, shape: sphere, radius: 1, nearest: true, ends: 1, stiffness: 1"),
         "leave out 'ends'"},
        {PEG("links: a, shape: sphere, radius: 1, stiffness: 1, restitution: {ratio: 0.5}"),
         "needs 'speed'"},
        {PEG("links: a, shape: height, height: 0.1*x, stiffness: 1"), "needs 'area'"},
        {PEG("links: a, shape: height, area: [1, 1], stiffness: 1"), "needs one of 'height'"},
        {PEG("links: a, shape: height, area: [1, 1], height: y^2, stiffness: 1"),
         "a length (m) is wanted"},
        {PEG("links: a, shape: height, area: [1, 1], height: t*x/1 s, stiffness: 1"), "t"},
        {PEG("links: a, shape: height, area: [1, 1], height: sqrt(x*1 m), stiffness: 1"),
         "not a finite number at x = -0.5 m"},
        {PEG("links: a, shape: height, area: [1, 1], height: x, file: a.csv, stiffness: 1"),
         "needs one of 'height'"},
        {PEG("links: a, shape: height, area: [1, 0], height: x, stiffness: 1"), "positive"},
        {PEG("links: a, shape: height, area: 1, height: x, stiffness: 1"), "area"},
        {PEG("links: a, shape: height, area: [1, 1], height: x, cells: 2, stiffness: 1"), "cells"},
        {PEG("links: a, shape: height, area: [1, 1], height: x, inside: true, stiffness: 1"),
         "no inside"},
        {PEG("links: a, shape: height, area: [1, 1], file: /nowhere/a.csv, stiffness: 1"),
         "cannot be read"},
        {PEG("links: a, shape: mesh, stiffness: 1"), "needs 'file'"},
        {PEG("links: a, shape: mesh, file: /nowhere/a.stl, stiffness: 1"), "cannot be read"},
        {PEG("links: a, shape: mesh, file: /tmp, stiffness: 1"), "this is a folder"},
        {PEG("links: a, shape: mesh, file: a.stl, radius: 1, stiffness: 1"), "has no 'radius'"},
        {PEG("links: a, shape: hull, stiffness: 1"), "needs one of 'corners'"},
        {PEG("links: a, shape: hull, corners: [[0, 0, 0], [1, 0, 0], [0, 1, 0]], stiffness: 1"),
         "four points or more"},
        {PEG("links: a, shape: hull, corners: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], "
             "stiffness: 1"),
         "in a plane"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refuses(cases[i].text, cases[i].says);
}

static void poor_contacts_are_reported(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {PEG("links: c, shape: sphere, radius: 20 mm, at: [0, 0, 9], stiffness: 1"), "nodes: 107"},
        {PEG("links: c, shape: sphere, radius: 20 mm, at: [0, 0, 9], stiffness: 1}}, two: "
             "{obstacle: "
             "{links: c, shape: sphere, radius: 30 mm, at: [0, 0, 9], stiffness: 1}}, three: "
             "{obstacle: {links: c, shape: sphere, radius: 30 mm, at: [0, 0, 9], stiffness: 1}}, "
             "four: {obstacle: {links: c, shape: sphere, radius: 30 mm, at: [0, 0, 9], stiffness: "
             "1"),
         "contacts 'peg', 'two', 'three' and 1 more"},
        {PEG("links: a, shape: sphere, radius: 0.1, at: [0, 0, 0.06], stiffness: 1e5"),
         "begins 0.06 m deep in obstacle 'peg', which stores 180 J"},
        {PEG("links: a, shape: height, area: [1, 1], height: 10 mm*cos(x/0.01 m), at: [0, 0, -1], "
             "stiffness: 1"),
         "touches at several places"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome o;
        bool found = false;
        execute_ok(cases[i].text, &o);
        found = strstr(o.said, cases[i].says) != NULL && o.warnings == 1;
        if (!found) fail_msg("%d warnings, the last: %s", o.warnings, o.said);
        snw_series_clear(&o.series);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_have_exact_derivatives),
#ifdef SNW_COMPLEX
        cmocka_unit_test(surfaces_of_data_have_exact_derivatives),
#endif
        cmocka_unit_test(obstacles_have_exact_derivatives),
#ifdef SNW_COMPLEX
        cmocka_unit_test(solids_have_exact_derivatives),
#endif
#ifndef SNW_WIDE
        cmocka_unit_test(contacts_of_pieces_have_exact_derivatives),
        cmocka_unit_test(obstacles_store_the_energy_of_their_forces),
#endif
#ifndef SNW_NUMBERS
        cmocka_unit_test(a_mesh_has_the_distance_of_its_faces),
        cmocka_unit_test(a_carried_obstacle_keeps_momentum),
        cmocka_unit_test(long_steps_do_not_pass_an_obstacle),
        cmocka_unit_test(a_ball_in_the_middle_of_an_obstacle_ends_the_motion),
        cmocka_unit_test(the_driver_of_an_obstacle_works),
        cmocka_unit_test(words_stand_for_links),
        cmocka_unit_test(a_body_is_an_obstacle),
        cmocka_unit_test(impossible_obstacles_are_refused),
        cmocka_unit_test(poor_contacts_are_reported),
#endif
    };
    return cmocka_run_group_tests(tests, write_files, remove_files);
}
