// SPDX-License-Identifier: MIT
//
// Bodies with several shapes: mass, centre and inertia; the same motion as that of one shape, of
// links rigidly connected and of separate obstacles; what is refused. Derivatives of their forces
// are checked in test_obstacles.c.
#include "executed.h"
#include "near.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

// A cube with the edges 2, about (1, 0, 0); and without one of its faces.
#define CUBE                                                                                       \
    "v 0 -1 -1\nv 2 -1 -1\nv 2 1 -1\nv 0 1 -1\nv 0 -1 1\nv 2 -1 1\nv 2 1 1\nv 0 1 1\n"             \
    "f 4 3 2 1\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"
static char folder[] = "/tmp/sinew_XXXXXX", cube[80], open_cube[80];

static int write_text(const char *name, const char *text) {
    FILE *f = fopen(name, "w");
    if (!f) return -1;
    (void)fputs(text, f);
    return fclose(f);
}

static int write_files(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    (void)snprintf(cube, sizeof cube, "%s/cube.obj", folder);
    (void)snprintf(open_cube, sizeof open_cube, "%s/open.obj", folder);
    return write_text(cube, CUBE "f 5 6 7 8\n") | write_text(open_cube, CUBE);
}

static int remove_files(void **state) {
    (void)state;
    return remove(cube) | remove(open_cube) | rmdir(folder);
}

// ---- mass ---------------------------------------------------------------------------------------

// Body of these keys, with the file of the cube for %s.
static snw_body_desc body_of(const char *keys) {
    snw_document *doc;
    snw_desc *d;
    snw_error err;
    char with_file[900], text[1200];
    (void)snprintf(with_file, sizeof with_file, keys, cube);
    (void)snprintf(text, sizeof text,
                   "sinew: 1\nrobot: {a: {on: world, joint: free, body: {density: 2, "
                   "%s}}}\nstudy: [dynamic: {for: 1 s, step: 1 s}]\n",
                   with_file);
    if (describe(text, &doc, &d, &err) != SNW_OK) fail_msg("%s", err.text);
    const snw_body_desc out = d->link[0].body;
    release(doc, d);
    return out;
}

static void assert_same_mass(const snw_body_desc *a, const snw_body_desc *b, double error) {
    assert_near(a->mass, b->mass, error * b->mass);
    assert_near(a->volume, b->volume, error * b->volume);
    for (int i = 0; i < 3; i++) {
        assert_near(a->com.e[i], b->com.e[i], error);
        for (int j = 0; j < 3; j++)
            assert_near(a->inertia.e[i][j], b->inertia.e[i][j], error * b->inertia.e[2][2]);
    }
}

// One body in several ways: as a box, two halves of it, its hull, a mesh, all turned.
static void the_same_body_has_the_same_mass(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"box: [2, 2, 2], com: [1, 0, 0]", "shapes: [{shape: mesh, file: %s, cells: 8}]"},
        {"box: [2, 2, 2], com: [1, 0, 0]", "shapes: [{shape: hull, file: %s}]"},
        {"box: [2, 1, 3], com: [1, 2, 3]",
         "shapes: [{shape: box, size: [1, 1, 3], at: [0.5, 2, 3]}, {shape: box, size: [1, 3, 1], "
         "pose: {xyz: [1.5, 2, 3], rpy: [90 deg, 0, 0]}}]"},
        {"cylinder: {radius: 0.3, length: 2, axis: [1, 2, 2]}",
         "shapes: [{shape: cylinder, radius: 0.3, length: 0.5, axis: [1, 2, 2], at: [-0.25, -0.5, "
         "-0.5]}, {shape: cylinder, radius: 0.3, length: 1.5, axis: [1, 2, 2], at: [1/12, 1/6, "
         "1/6]}]"},
        {"sphere: {radius: 0.3}", "shapes: [{shape: capsule, radius: 0.3, length: 1e-12}]"},
        {"shapes: [{shape: box, size: [2, 2, 2], pose: {xyz: [1, 2, 3], rpy: [0.3, 0.2, 0.5]}}]",
         "shapes: [{shape: hull, corners: [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], "
         "[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], pose: {xyz: [1, 2, 3], rpy: [0.3, 0.2, "
         "0.5]}}]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const snw_body_desc a = body_of(cases[i][0]), b = body_of(cases[i][1]);
        assert_same_mass(&b, &a, 1e-11);
    }
}

// A capsule by slices of discs, their radius as a function of z, by Simpson's rule.
static void a_capsule_has_the_mass_of_its_slices(void **state) {
    (void)state;
    enum { N = 200000 };
    const double r = 0.3, half = 0.7, top = half + r, h = 2 * top / N;
    double volume = 0, along = 0, across = 0;
    for (int i = 0; i <= N; i++) {
        const double z = -top + h * i, off = fmax(fabs(z) - half, 0);
        const double square = fmax(r * r - off * off, 0);
        const double w = (i == 0 || i == N ? 1 : i % 2 ? 4 : 2) * h / 3 * M_PI;
        volume += w * square;
        along += w * square * square / 2;
        across += w * (square * square / 4 + square * z * z);
    }
    const snw_body_desc b =
        body_of("shapes: [{shape: capsule, radius: 0.3, length: 1.4, at: [1, 0, 0]}]");
    assert_near(b.mass, 2 * volume, 1e-9);
    assert_near(b.inertia.e[2][2], 2 * along, 1e-9);
    assert_near(b.inertia.e[0][0], 2 * across, 1e-9);
    assert_near(b.inertia.e[1][1], 2 * across, 1e-9);
    assert_near(b.com.x, 1, 1e-15);
}

// ---- motion -------------------------------------------------------------------------------------

// A body falls askew on a floor, a box and a bar; both texts move it in the same way.
static void fall(const char *links, const char *names, double out[6]) {
    char text[3000];
    outcome o;
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\nrobot:\n%s"
        "initial: {a: {pose: {xyz: [0, 0, 0.2], rpy: [0.3, 0.2, 0.1]}, twist: [1, 2, 0, 0, 0, "
        "-1]}}\n"
        "contacts:\n"
        "  floor: {ground: {on: %s, stiffness: 5 kN/m, damping: 0.5, friction: 0.3}}\n"
        "  block: {obstacle: {links: %s, shape: box, size: [0.2, 0.1, 0.1], at: [0.1, 0, 0.05], "
        "stiffness: 5 kN/m, damping: 0.5, friction: 0.3, spacing: 20 mm}}\n"
        "  bar: {obstacle: {links: %s, shape: capsule, radius: 20 mm, length: 0.4, axis: y, at: "
        "[-0.1, 0, 0.02], stiffness: 5 kN/m, damping: 0.5, friction: 0.3, spacing: 20 mm}}\n"
        "study: [dynamic: {for: 0.15 s, step: 0.5 ms}]\n"
        "probes: {p: {position: a}, v: {velocity: a}, f: {contact: block}, g: {contact: bar}}\n",
        links, names, names, names);
    execute_ok(text, &o);
    for (int i = 0; i < 6; i++) out[i] = last(&o, i);
    double force[2] = {0};
    for (int k = 0; k < o.series.nframe; k++) {
        for (int i = 0; i < 2; i++) force[i] = fmax(force[i], fabs(shown(&o, k, 8 + 8 * i)));
    }
    assert_true(force[0] > 1); // it met the block
    snw_series_clear(&o.series);
}

static void one_shape_is_that_of_the_body(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"box: [0.2, 0.1, 0.06]", "shapes: [{shape: box, size: [0.2, 0.1, 0.06]}]"},
        {"cylinder: {radius: 50 mm, length: 0.2, axis: [1, 2, 2]}",
         "shapes: [{shape: cylinder, radius: 50 mm, length: 0.2, axis: [1, 2, 2]}]"},
        {"sphere: {radius: 60 mm}", "shapes: [{shape: sphere, radius: 60 mm}]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double way[2][6];
        for (int k = 0; k < 2; k++) {
            char links[400];
            (void)snprintf(links, sizeof links,
                           "  a: {on: world, joint: free, body: {mass: 1, %s}}\n", cases[i][k]);
            fall(links, "a", way[k]);
        }
        for (int k = 0; k < 6; k++) assert_near(way[0][k], way[1][k], 1e-9);
    }
}

// Shapes are what links rigidly connected to the body would be.
static void shapes_are_links_without_mass(void **state) {
    (void)state;
    double way[2][6];
    fall("  a: {on: world, joint: free, body: {mass: 1, com: [0, 0, 0], inertia: [0.004, 0.005, "
         "0.006], shapes: [{shape: sphere, radius: 30 mm, at: [0.1, 0, 0]}, {shape: box, size: "
         "[0.1, 0.06, 0.04], pose: {xyz: [-0.1, 0, 0.02], rpy: [0.3, 0.1, 0]}}, {shape: cylinder, "
         "radius: 20 mm, length: 0.1, axis: y, at: [0, 0, -0.05]}]}}\n",
         "a", way[0]);
    fall("  a: {on: world, joint: free, body: {mass: 1, inertia: [0.004, 0.005, 0.006]}}\n"
         "  b: {on: a, pose: {xyz: [0.1, 0, 0]}, body: {mass: 0, sphere: {radius: 30 mm}}}\n"
         "  c: {on: a, pose: {xyz: [-0.1, 0, 0.02], rpy: [0.3, 0.1, 0]}, body: {mass: 0, box: "
         "[0.1, 0.06, 0.04]}}\n"
         "  d: {on: a, pose: {xyz: [0, 0, -0.05]}, body: {mass: 0, cylinder: {radius: 20 mm, "
         "length: 0.1, axis: y}}}\n",
         "[b, c, d]", way[1]);
    // impacts magnify the tolerance of Newton's method
    for (int k = 0; k < 6; k++) assert_near(way[0][k], way[1][k], k < 3 ? 1e-8 : 1e-5);
}

// A hull of the corners of a box moves as the box with the same rounding; a cube as a mesh nearly
// so, its edges being rounded by the cells of the grid.
static void hulls_and_meshes_move_as_boxes(void **state) {
    (void)state;
    double way[3][6];
    char mesh[400];
    (void)snprintf(mesh, sizeof mesh,
                   "  a: {on: world, joint: free, body: {mass: 1, shapes: [{shape: mesh, file: %s, "
                   "scale: 50 mm, at: [-50 mm, 0, 0]}]}}\n",
                   cube);
    fall("  a: {on: world, joint: free, body: {mass: 1, box: [0.1, 0.1, 0.1]}}\n", "a", way[0]);
    fall("  a: {on: world, joint: free, body: {mass: 1, inertia: [1/600, 1/600, 1/600], com: [0, "
         "0, 0], shapes: [{shape: hull, rounding: 10 um, corners: [[-0.05, -0.05, -0.05], [0.05, "
         "-0.05, -0.05], [0.05, 0.05, -0.05], [-0.05, 0.05, -0.05], [-0.05, -0.05, 0.05], [0.05, "
         "-0.05, 0.05], [0.05, 0.05, 0.05], [-0.05, 0.05, 0.05]]}]}}\n",
         "a", way[1]);
    fall(mesh, "a", way[2]);
    for (int k = 0; k < 3; k++) {
        assert_near(way[1][k], way[0][k], 5e-3);
        assert_near(way[2][k], way[0][k], 1e-2);
    }
}

// ---- obstacles ----------------------------------------------------------------------------------

#define SHAPED                                                                                     \
    "sinew: 1\nmaterials: {m: {young: 1 MPa, density: 1000}}\nrobot:\n"                            \
    "  rock: {on: world, joint: free, body: {density: 1000, shapes: [{shape: box, size: [0.2, "    \
    "0.2, 0.1]}, {shape: sphere, radius: 60 mm, at: [0, 0, 0.08]}, {shape: capsule, radius: 20 "   \
    "mm, length: 0.2, axis: x, at: [0.1, 0, 0.1]}]}}\n"                                            \
    "  ball: {on: world, joint: free, body: {sphere: {radius: 30 mm}, mass: 0.2}}\n"               \
    "  whip: {on: world, pose: {xyz: [-0.2, 0.05, 0.16]}, rod: {length: 0.4, nodes: 12, section: " \
    "{circle: {radius: 10 mm}}, material: m, strain: {bend_y: legendre 3}}}\n"                     \
    "initial: {ball: {pose: {xyz: [0.16, 0.01, 0.16]}, twist: [0, 0, 0, 0, 0, -1]}}\n"

// The shapes of a body as an obstacle are separate obstacles carried by it.
static void a_body_is_all_of_its_shapes(void **state) {
    (void)state;
    double way[2][9];
    static const char *const contacts[] = {
        "contacts: {a: {obstacle: {links: ball, on: rock, shape: body, stiffness: 5 kN/m}}, b: "
        "{obstacle: {links: whip, on: rock, shape: body, stiffness: 50 kPa}}}\n",
        "contacts:\n"
        "  a: {obstacle: {links: ball, on: rock, shape: box, size: [0.2, 0.2, 0.1], stiffness: 5 "
        "kN/m}}\n"
        "  a2: {obstacle: {links: ball, on: rock, shape: sphere, radius: 60 mm, at: [0, 0, 0.08], "
        "stiffness: 5 kN/m}}\n"
        "  a3: {obstacle: {links: ball, on: rock, shape: capsule, radius: 20 mm, length: 0.2, "
        "axis: x, at: [0.1, 0, 0.1], stiffness: 5 kN/m}}\n"
        "  b: {obstacle: {links: whip, on: rock, shape: box, size: [0.2, 0.2, 0.1], stiffness: 50 "
        "kPa}}\n"
        "  b2: {obstacle: {links: whip, on: rock, shape: sphere, radius: 60 mm, at: [0, 0, 0.08], "
        "stiffness: 50 kPa}}\n"
        "  b3: {obstacle: {links: whip, on: rock, shape: capsule, radius: 20 mm, length: 0.2, "
        "axis: x, at: [0.1, 0, 0.1], stiffness: 50 kPa}}\n",
    };
    for (int k = 0; k < 2; k++) {
        char text[4000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       SHAPED "%sstudy: [dynamic: {for: 40 ms, step: 0.5 ms}]\nprobes: {p: "
                              "{position: rock}, q: {position: ball}, tip: {position: whip.tip}}\n",
                       contacts[k]);
        execute_ok(text, &o);
        for (int i = 0; i < 9; i++) way[k][i] = last(&o, i);
        snw_series_clear(&o.series);
    }
    for (int i = 0; i < 9; i++) assert_near(way[0][i], way[1][i], 1e-10);
    assert_true(fabs(way[0][4] - 0.01) > 1e-4); // the ball was pushed aside
}

// ---- messages -----------------------------------------------------------------------------------

#define BODY(keys)                                                                                 \
    "sinew: 1\nrobot: {a: {on: world, joint: free, body: {" keys                                   \
    "}}}\nstudy: [dynamic: {for: 1 ms, step: 1 ms}]\n"
#define SHAPE(keys) BODY("mass: 1, shapes: [" keys "]")

static void impossible_shapes_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {BODY("mass: 1, shapes: []"), "'shapes' is a list of solids"},
        {BODY("mass: 1, shapes: box"), "'shapes' is a list of solids"},
        {BODY("shapes: [{shape: sphere, radius: 1}]"), "needs its mass or its density"},
        {BODY("mass: 1, box: [1, 1, 1], shapes: [{shape: sphere, radius: 1}]"), "one shape"},
        {BODY("mass: 1, com: [1, 0, 0], shapes: [{shape: sphere, radius: 1}]"),
         "give 'inertia' too"},
        {SHAPE("{radius: 1}"), "a shape of the body 'a' needs 'shape'"},
        {SHAPE("{shape: sphere}"), "the sphere 'a' needs 'radius'"},
        {SHAPE("{shape: cylinder, radius: 1}"), "the cylinder 'a' needs 'length'"},
        {SHAPE("{shape: sphere, radius: 1, size: [1, 1, 1]}"), "the sphere 'a' has no 'size'"},
        {SHAPE("{shape: box, size: [1, 0, 1]}"), "'size' must be positive"},
        {SHAPE("{shape: plane}"), "a plane is a shape of obstacles"},
        {SHAPE("{shape: torus}"), "a torus is a shape of obstacles"},
        {SHAPE("{shape: height}"), "a height is a shape of obstacles"},
        {SHAPE("{shape: egg}"), "egg"},
        {SHAPE("{shape: sphere, radius: 1, at: [t, 0, 0]}"), "its pose depends on t"},
        {SHAPE("{shape: sphere, radius: 1, at: [0, 0, 0], pose: {}}"), "instead of 'at'"},
        {SHAPE("{shape: hull}"), "needs one of 'corners'"},
        {SHAPE("{shape: hull, corners: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}"), "plane"},
        {SHAPE("{shape: mesh, file: no_such.stl}"), "no_such.stl"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refuses(cases[i].text, cases[i].says);
    char text[400];
    (void)snprintf(text, sizeof text, SHAPE("{shape: mesh, file: %s}"), open_cube);
    refuses(text, "open");
}

// The stored energy is told, with the link, the obstacle and the depth.
static void bodies_that_begin_in_an_obstacle_are_reported(void **state) {
    (void)state;
    static const char *const shapes[] = {
        "{shape: sphere, radius: 0.1}",
        "{shape: capsule, radius: 0.1, length: 0.1}",
        "{shape: box, size: [0.2, 0.2, 0.2]}",
        "{shape: cylinder, radius: 0.1, length: 0.2}",
        "{shape: hull, file: %s, scale: 0.1, at: [-0.1, 0, 0]}",
        "{shape: mesh, file: %s, scale: 0.1, at: [-0.1, 0, 0]}",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char text[1000], shape[300];
        outcome o;
        (void)snprintf(shape, sizeof shape, shapes[i], cube);
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\nrobot: {a: {on: world, joint: free, body: {mass: 1, shapes: "
            "[%s]}}}\ninitial: {a: {pose: {xyz: [0, 0, 0.19]}}}\ncontacts: {rock: "
            "{obstacle: {links: a, shape: sphere, radius: 0.1, stiffness: 1e4}}}\nstudy: "
            "[dynamic: {for: 1 us, step: 1 us}]\n",
            shape);
        execute_ok(text, &o);
        if (!strstr(o.said, "link 'a' begins") || !strstr(o.said, "deep in obstacle 'rock'"))
            fail_msg("%s: %s", shape, o.said);
        snw_series_clear(&o.series);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_body_has_the_same_mass),
        cmocka_unit_test(a_capsule_has_the_mass_of_its_slices),
        cmocka_unit_test(one_shape_is_that_of_the_body),
        cmocka_unit_test(shapes_are_links_without_mass),
        cmocka_unit_test(hulls_and_meshes_move_as_boxes),
        cmocka_unit_test(a_body_is_all_of_its_shapes),
        cmocka_unit_test(impossible_shapes_are_refused),
        cmocka_unit_test(bodies_that_begin_in_an_obstacle_are_reported),
    };
    return cmocka_run_group_tests(tests, write_files, remove_files);
}
