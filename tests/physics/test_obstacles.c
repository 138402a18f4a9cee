// SPDX-License-Identifier: MIT
//
// Contact with obstacles of all shapes, at rest, moved by laws and carried by links: distances,
// derivatives of the forces, momentum, energy, and closed forms.
#include "dynamics/contact.h"
#include "random_tree.h"
#include "setting.h"

#include <stdio.h>

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
static void distances_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {211};
    for (int k = 0; k < 40 * SHAPES; k++) {
        snw_obstacle o = shapes[k % SHAPES];
        o.inside = o.kind != SNW_OBSTACLE_PLANE && k % 2;
        const snw_vec3 y = roll_vec3(&d, 2);
        snw_vec3 n, ignored;
        snw_mat3 H, also;
        (void)snw_obstacle_distance(&o, y, &n, &H);
        assert_near(snw_norm(n), 1, 1e-14);
        assert_near(snw_norm(snw_rotate(H, n)), 0, 1e-13);
        for (int j = 0; j < 3; j++) {
            double slope = 0;
            snw_vec3 turn = {{0}};
            for (int way = 0; way < BESIDE; way++) {
                snw_vec3 moved = y;
                moved.e[j] += beside(way);
                slope += slope_of(way, snw_obstacle_distance(&o, moved, &ignored, &also));
                for (int i = 0; i < 3; i++) turn.e[i] += slope_of(way, ignored.e[i]);
            }
            assert_near(slope, n.e[j], 10 * LEFT);
            for (int i = 0; i < 3; i++) assert_near(turn.e[i], H.e[i][j], 100 * LEFT);
        }
    }
}

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

static void robot_open(setting *s, dice *d, const char *shape, const char *frame) {
    char text[4000];
    (void)snprintf(text, sizeof text, robot_text, shape, frame, shape, frame, shape, frame);
    open_text(s, d, text);
}

// The tapered rod touches where it is nearest, in the smooth onset of the force everywhere.
static const char nearest_text[] = ROBOTS
    "contacts:\n"
    "  rod: {obstacle: {links: arm, shape: %s, %s, nearest: true, stiffness: 300, damping: 0.05, "
    "friction: {along: 0.2, across: 0.9}, creep: 0.7, smooth: 20}}\n";

static bool has_nearest(int shape) {
    return shape > 0 && !strstr(shape_texts[shape], "inside") && is_checked(shape);
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
        robot_open(&s, &d, shape_texts[k % SHAPE_TEXTS], frames[k % FRAMES]);
        snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
        assert_true(touching(&s.g) > 20);
        rig_check(&s.g);
        setting_close(&s);
    }
}

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

// ---- momentum -----------------------------------------------------------------------------------

#ifndef SNW_NUMBERS

// The wrenches of a contact on both sides are opposite, and their power is stored or becomes heat.
static void a_carried_obstacle_keeps_momentum(void **state) {
    (void)state;
    dice d = {214};
    for (int k = 0; k < SHAPE_TEXTS * FRAMES; k++) {
        setting s;
        robot_open(&s, &d, shape_texts[k % SHAPE_TEXTS], frames[2 + k % 3]);
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
        assert_true(size > 1);
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
        {PEG("links: b, shape: sphere, radius: 1, stiffness: 1"), "make the body the obstacle"},
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
        cmocka_unit_test(obstacles_have_exact_derivatives),
#ifndef SNW_WIDE
        cmocka_unit_test(contacts_of_pieces_have_exact_derivatives),
        cmocka_unit_test(obstacles_store_the_energy_of_their_forces),
#endif
#ifndef SNW_NUMBERS
        cmocka_unit_test(a_carried_obstacle_keeps_momentum),
        cmocka_unit_test(long_steps_do_not_pass_an_obstacle),
        cmocka_unit_test(a_ball_in_the_middle_of_an_obstacle_ends_the_motion),
        cmocka_unit_test(the_driver_of_an_obstacle_works),
        cmocka_unit_test(impossible_obstacles_are_refused),
        cmocka_unit_test(poor_contacts_are_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
