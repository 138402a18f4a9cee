// SPDX-License-Identifier: MIT
#include "output/scene.h"

#include "base/alloc.h"
#include "executed.h"
#include "language/yaml.h"
#include "math/se3.h"

#include <stdio.h>
#include <stdlib.h>

// a rod of varying section with a tendon and a chamber, a box on a hinge at its tip, held by a
// loop, above the ground
static const char robot[] =
    "sinew: 1\ngravity: [0, 0, -9.81]\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
    "robot:\n"
    "  arm: {on: world, rod: {length: 0.5 m, section: {circle: {radius: 10 mm*(1 - x/(2*L))}},\n"
    "    material: rubber, strain: {bend_y: legendre 2, bend_z: legendre 2}}}\n"
    "  hand: {on: arm.tip, pose: {xyz: [0.1, 0, 0]}, joint: revolute, axis: y,\n"
    "    body: {box: [0.1, 0.2, 0.3], mass: 2, com: [0.01, 0, 0]}}\n"
    "loops: {rope: {join: [hand, world], as: spherical}}\n"
    "actuators:\n"
    "  cord: {tendon: {along: arm, at: [0, 5 mm, -2 mm], to: 0.4 m}, effort: 3 N}\n"
    "  bag: {chamber: {along: arm, at: [0, 0, 0], area: 20 mm^2}, effort: 7 kPa}\n"
    "loads: {push: {on: arm.tip, force: [0, 0, 1e-3]}, wind: {along: arm, force: [0, 1e-3, 0]}}\n"
    "contacts: {floor: {ground: {on: hand, normal: z, at: [0, 0, -2], stiffness: 100}}}\n"
    "study: [static: {}]\n"
    "sites: {elbow: {on: arm@37%, pose: {xyz: [1 mm, 2 mm, 3 mm]}}, nail: {on: world}, grip: {on: "
    "hand}}\n"
    "probes: {tip: {position: arm.tip}, speed: {velocity: arm.tip}}\n";

typedef struct stand {
    snw_document *doc;
    snw_desc *desc;
    snw_run *run;
    snw_pool *pool;
    snw_node *root;
} stand;

static void set(const char *text, stand *s) {
    snw_error err = {0};
    char *scene = NULL;
    if (describe(text, &s->doc, &s->desc, &err) != SNW_OK ||
        snw_run_create(s->desc, "main", &s->run, &err) != SNW_OK ||
        snw_scene_of_run(s->run, &scene, &err) != SNW_OK) {
        fail_msg("%d:%d: %s", err.line, err.column, err.text);
    }
    // JSON is YAML, whose reader is independent
    s->pool = snw_pool_create(1 << 24);
    if (snw_yaml_parse(s->pool, "scene", scene, strlen(scene), &s->root, &err) != SNW_OK) {
        fail_msg("%d:%d: %s", err.line, err.column, err.text);
    }
    snw_free(scene);
}

static void clear(stand *s) {
    snw_pool_destroy(s->pool);
    snw_run_destroy(s->run);
    release(s->doc, s->desc);
}

// the node at a path such as "links.0.rod.half.3.0"
static const snw_node *at(const stand *s, const char *path) {
    const snw_node *n = s->root;
    char key[64];
    for (const char *p = path; *p;) {
        const size_t length = strcspn(p, ".");
        (void)snprintf(key, sizeof key, "%.*s", (int)length, p);
        p += length + (p[length] == '.');
        if (n->kind == SNW_NODE_LIST) {
            const long i = strtol(key, NULL, 10);
            if (i >= n->n) fail_msg("%s: there are only %d", path, n->n);
            n = n->entry[i].value;
        } else {
            n = snw_node_get(n, key);
        }
        if (!n) fail_msg("%s: no '%s'", path, key);
    }
    return n;
}

static double value(const stand *s, const char *path) { return strtod(at(s, path)->text, NULL); }

static void rods_have_stations_sections_and_stiffness(void **state) {
    (void)state;
    stand s;
    set(robot, &s);
    const int stations = at(&s, "links.0.rod.x")->n;
    assert_int_equal(stations, (int)value(&s, "links.0.rod.count") + 1);
    assert_string_equal(at(&s, "links.0.name")->text, "arm");
    assert_string_equal(at(&s, "links.0.rod.section")->text, "circle");
    for (int k = 0; k < stations; k++) {
        char path[64];
        (void)snprintf(path, sizeof path, "links.0.rod.x.%d", k);
        const double x = value(&s, path), r = 0.01 * (1 - x);
        (void)snprintf(path, sizeof path, "links.0.rod.half.%d.0", k);
        assert_near(value(&s, path), r, 1e-15);
        (void)snprintf(path, sizeof path, "links.0.rod.stiffness.%d.1", k); // E I
        assert_near(value(&s, path), 1e6 * acos(-1.0) / 4 * pow(r, 4), 1e-15);
        (void)snprintf(path, sizeof path, "links.0.rod.rest.%d.3", k);
        assert_near(value(&s, path), 1, 0);
    }
    clear(&s);
}

// half widths and bore of a hollow section, the contour of a rectangle
static void contours_are_those_of_the_sections(void **state) {
    (void)state;
    static const char *const section[] = {"circle: {radius: 30 mm}",
                                          "tube: {diameter: 60 mm, inner: 30 mm}",
                                          "rectangle: {y: 60 mm, z: 40 mm}",
                                          "ellipse: {y: 60 mm, z: 40 mm}",
                                          "elliptic_tube: {y: 60 mm, z: 40 mm, inner: 45 mm}",
                                          "area: 900 mm^2*pi, moments: [2, 1, 1]"};
    const double half[][3] = {{0.03, 0.03, 0}, {0.03, 0.03, 0.5},  {0.03, 0.02, 0},
                              {0.03, 0.02, 0}, {0.03, 0.02, 0.75}, {0.03, 0.03, 0}};
    for (int i = 0; i < 6; i++) {
        char text[400];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\nmaterials: {m: {young: 1e6, poisson: 0.5, density: "
                       "1000}}\nrobot: {arm: {on: world, rod: {length: 1 m, section: {%s}, "
                       "material: m, strain: {bend_y: legendre 1}}}}\nstudy: [static]\n",
                       section[i]);
        stand s;
        set(text, &s);
        assert_string_equal(at(&s, "links.0.rod.rectangle")->text, i == 2 ? "true" : "false");
        assert_near(value(&s, "links.0.rod.half.1.0"), half[i][0], 1e-15);
        assert_near(value(&s, "links.0.rod.half.1.1"), half[i][1], 1e-15);
        assert_near(value(&s, "links.0.rod.half.1.2"), half[i][2], 1e-15);
        clear(&s);
    }
}

static void bodies_joints_loops_and_ground_are_in_the_scene(void **state) {
    (void)state;
    stand s;
    set(robot, &s);
    assert_string_equal(at(&s, "links.1.joint")->text, "revolute");
    assert_near(value(&s, "links.1.axis.1"), 1, 0);
    assert_string_equal(at(&s, "links.1.body.shape")->text, "box");
    assert_near(value(&s, "links.1.body.size.2"), 0.3, 0);
    assert_near(value(&s, "links.1.body.com.0"), 0.01, 0);
    assert_near(value(&s, "links.1.body.inertia.0"), 2.0 / 12 * (0.04 + 0.09), 1e-15);
    assert_string_equal(at(&s, "loops.0.name")->text, "rope");
    assert_near(value(&s, "loops.0.b"), -1, 0); // the world
    assert_near(value(&s, "contacts.0.at.2"), -2, 0);
    assert_near(value(&s, "contacts.0.normal.2"), 1, 0);
    assert_near(value(&s, "gravity.2"), -9.81, 0);
    assert_string_equal(at(&s, "probes.0.kind")->text, "position");
    assert_string_equal(at(&s, "probes.0.units.z")->text, "m");
    assert_string_equal(at(&s, "contacts.0.kind")->text, "ground");
    assert_string_equal(at(&s, "links.0.rod.free.1")->text, "true");
    assert_string_equal(at(&s, "links.0.rod.free.3")->text, "false");
    clear(&s);
}

// Shapes of `visual` are drawn instead of the box, whose mass and inertia stay; a turned inertia.
static void shapes_that_are_only_drawn_replace_the_others(void **state) {
    (void)state;
    stand s;
    set("sinew: 1\n"
        "robot:\n"
        "  a: {on: world, joint: free, body: {box: [0.1, 0.2, 0.3], mass: 2, visual: [{shape: "
        "sphere, "
        "radius: 5 mm, at: [0, 0, 1 mm]}, {shape: capsule, radius: 2 mm, length: 1 cm, axis: "
        "x}]}}\n"
        "  b: {on: world, joint: free, body: {mass: 1, inertia: [1, 2, 2.5], inertia_axes: {rpy: "
        "[0, "
        "0, 90 deg]}}}\n"
        "study: [dynamic: {for: 1 ms, step: 1 ms}]\n",
        &s);
    assert_string_equal(at(&s, "links.0.body.shape")->text, "several");
    assert_int_equal(at(&s, "links.0.body.shapes")->n, 2);
    assert_string_equal(at(&s, "links.0.body.shapes.0.kind")->text, "sphere");
    assert_near(value(&s, "links.0.body.shapes.0.at.2"), 1e-3, 0);
    assert_string_equal(at(&s, "links.0.body.shapes.1.kind")->text, "capsule");
    assert_near(value(&s, "links.0.body.inertia.0"), 2.0 / 12 * (0.04 + 0.09), 1e-15);
    assert_near(value(&s, "links.1.body.inertia.0"), 2, 1e-15);
    assert_near(value(&s, "links.1.body.inertia.1"), 1, 1e-15);
    assert_near(value(&s, "links.1.body.inertia.2"), 2.5, 1e-15);
    clear(&s);
}

static void named_sites_lie_between_their_nodes(void **state) {
    (void)state;
    stand s;
    set(robot, &s);
    const snw_model *m = snw_run_model(s.run);
    const int a = (int)value(&s, "sites.0.a"), b = (int)value(&s, "sites.0.b");
    const double share = value(&s, "sites.0.share");
    const double from = m->seg_x[a + 1], to = m->seg_x[b + 1];
    assert_near(from + share * (to - from), 0.37 * 0.5, 1e-15);
    assert_true(share >= 0 && share <= 1);
    assert_near(value(&s, "sites.0.at.2"), 3e-3, 0);
    assert_near(value(&s, "sites.0.turn.0"), 1, 0);
    assert_near(value(&s, "sites.1.a"), -1, 0);
    assert_near(value(&s, "sites.2.a"), m->link_end[1] - 1, 0);
    assert_near(value(&s, "sites.2.share"), 0, 0);
    clear(&s);
}

// changes of visible parts are recorded from their step on, other changes are not
static void scenes_change_in_the_course_of_a_study(void **state) {
    (void)state;
    stand s;
    set("sinew: 1\ngravity: 0\nparameters: {r: 10 mm, F: 0 N}\n"
        "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
        "robot: {arm: {on: world, rod: {length: 1 m, section: {circle: {radius: r}}, material: "
        "rubber,\n"
        "  strain: {bend_y: legendre 2}}}}\n"
        "loads: {push: {on: arm.tip, force: [0, 0, F]}}\n"
        "study: [static: {}, change: {F: 1 mN}, static: {}, change: {r: 20 mm}, static: {}]\n"
        "probes: {tip: {position: arm.tip}}\n",
        &s);
    assert_near(value(&s, "links.0.rod.half.0.0"), 0.01, 0);
    assert_int_equal(at(&s, "changes")->n, 1);
    assert_near(value(&s, "changes.0.stage"), 3, 0);
    assert_near(value(&s, "changes.0.links.0.rod.half.0.0"), 0.02, 0);
    clear(&s);
}

static void tendons_follow_nodes_to_their_ends(void **state) {
    (void)state;
    stand s;
    set(robot, &s);
    const snw_model *m = snw_run_model(s.run);
    const snw_node *points = at(&s, "measures.0.points");
    double last = -1;
    for (int i = 0; i < points->n; i++) {
        const snw_node *p = points->entry[i].value;
        const int node = (int)strtol(p->entry[0].value->text, NULL, 10);
        const double x =
            (node < 0 ? 0 : m->seg_x[node + 1]) + strtod(p->entry[1].value->text, NULL);
        assert_true(x > last);
        last = x;
        assert_near(strtod(p->entry[2].value->text, NULL), 5e-3, 1e-18);
        assert_near(strtod(p->entry[3].value->text, NULL), -2e-3, 1e-18);
    }
    assert_near(last, 0.4, 1e-15);
    assert_near(value(&s, "measures.1.points.0.4"), sqrt(20e-6 / acos(-1.0)), 1e-15);
    clear(&s);
}

// nonholonomic constraints have their kind, sliding stations their positions in time; parts that
// are never active are left out
static void nonholonomic_contacts_are_in_the_scene(void **state) {
    (void)state;
    stand s;
    set("sinew: 1\ngravity: 0\n"
        "materials: {flesh: {young: 1, poisson: 0.5, density: 1000}}\n"
        "robot: {worm: {on: world, joint: planar, rod: {length: 2 m, section: {circle: {radius: 1 "
        "cm}}, material: flesh, strain: {bend_z: 2*cos(3*(x - t))}}}}\n"
        "contacts:\n"
        "  post: {ring: {on: \"worm@(mod(0.5*t, L))\"}}\n"
        "  tyre: {wheel: {on: worm.root, axis: y, lateral: 3}}\n"
        "  foot: {anchor: {on: worm.tip}, when: off}\n"
        "  groove: {ring: {along: worm, stations: 3}}\n"
        "study: [kinematic: {for: 8 s, step: 10 ms}]\n",
        &s);
    static const char *const joint[] = {"contact", "wheel", "anchor", "groove", "groove", "groove"};
    for (int i = 0; i < 6; i++) {
        char path[40];
        (void)snprintf(path, sizeof path, "loops.%d.joint", i);
        assert_string_equal(at(&s, path)->text, joint[i]);
        (void)snprintf(path, sizeof path, "loops.%d.switch", i);
        assert_near(value(&s, path), i == 2 ? -2 : -1, 0);
    }
    assert_string_equal(at(&s, "loops.4.name")->text, "groove(2)");
    assert_near(value(&s, "loops.0.span"), 8, 0);
    const snw_node *x = at(&s, "loops.0.stations");
    for (int i = 0; i < x->n; i++) { // to a hundred thousandth; it jumps back after 4 s
        const double t = 8.0 * i / (x->n - 1), want = fmod(0.5 * t, 2);
        assert_near(strtod(x->entry[i].value->text, NULL), want, 1.1e-5);
    }
    clear(&s);
}

// fields have their names, and the points at which they act with the magnetic moments there
static void fields_are_in_the_scene(void **state) {
    (void)state;
    stand s;
    set("sinew: 1\ngravity: 0\n"
        "robot:\n"
        "  a: {on: world, joint: free, body: {mass: 1, inertia: [1, 1, 1], com: [0.1, 0, 0]}, "
        "magnetic_moment: [0, 2, 0]}\n"
        "  b: {on: world, pose: {xyz: [1, 0, 0]}, body: {mass: 1}}\n"
        "fields: {coils: {magnetic: [0, 0, 1 mT]}, magnet: {dipole: [1, 0, 0], on: b}, wind: "
        "{force: [1 N, 0, 0], links: a}}\n",
        &s);
    assert_string_equal(at(&s, "fields.1.kind")->text, "dipole");
    assert_string_equal(at(&s, "fields.2.name")->text, "wind");
    const snw_model *m = snw_run_model(s.run);
    assert_int_equal(at(&s, "field_points")->n, m->nforce_field_point);
    assert_int_equal(m->nforce_field_point, 3);
    for (int k = 0; k < 3; k++) {
        char path[40];
        (void)snprintf(path, sizeof path, "field_points.%d.1", k);
        assert_near(value(&s, path), m->force_field_point[k].seg - 1, 0);
        (void)snprintf(path, sizeof path, "field_points.%d.2", k);
        assert_near(value(&s, path), 0.1, 1e-16);
        (void)snprintf(path, sizeof path, "field_points.%d.6", k);
        assert_near(value(&s, path), k < 2 ? 2 : 0, 1e-16);
    }
    clear(&s);
}

// obstacles have their shape, and a node that follows their carrier
static void obstacles_are_in_the_scene(void **state) {
    (void)state;
    stand s;
    set("sinew: 1\ngravity: 0\n"
        "robot: {a: {on: world, joint: free, body: {sphere: {radius: 1}, mass: 1}}, b: {on: world, "
        "joint: free, body: {mass: 1}}}\n"
        "contacts:\n"
        "  post: {obstacle: {links: a, shape: cylinder, radius: 0.3, at: [9, 0, 0], stiffness: "
        "1}}\n"
        "  case: {obstacle: {links: a, on: b, shape: box, size: [5, 6, 7], rounding: 2, inside: "
        "true, stiffness: 1}}\n"
        "  rock: {obstacle: {links: a, shape: hull, rounding: 0.5, corners: [[1, 0, 0], [0, 1, 0], "
        "[0, 0, 1], [-1, -1, -1]], stiffness: 1}}\n"
        "  dune: {obstacle: {links: a, shape: height, height: 0.5*x, area: [4, 3], cells: 200, "
        "stiffness: 1}}\n"
        "study: [static: {}]\n",
        &s);
    assert_string_equal(at(&s, "contacts.0.kind")->text, "cylinder");
    assert_near(value(&s, "contacts.0.radius"), 0.3, 0);
    assert_near(value(&s, "contacts.0.size.2"), 0, 0); // endless
    assert_string_equal(at(&s, "contacts.0.inside")->text, "false");
    assert_string_equal(at(&s, "contacts.1.kind")->text, "box");
    assert_near(value(&s, "contacts.1.size.2"), 7, 0);
    assert_near(value(&s, "contacts.1.rounding"), 2, 0);
    assert_string_equal(at(&s, "contacts.1.inside")->text, "true");
    char path[40];
    (void)snprintf(path, sizeof path, "parent.%d", (int)value(&s, "contacts.0.node"));
    assert_near(value(&s, path), -1, 0);
    (void)snprintf(path, sizeof path, "parent.%d", (int)value(&s, "contacts.1.node"));
    assert_near(value(&s, path), value(&s, "links.1.end"), 0);
    // surfaces that are data are triangles, fine height fields coarser ones
    assert_string_equal(at(&s, "contacts.2.kind")->text, "hull");
    assert_int_equal(at(&s, "contacts.2.vertices")->n, 3 * 4);
    assert_int_equal(at(&s, "contacts.2.faces")->n, 3 * 4);
    assert_near(value(&s, "contacts.2.size.0"), 2 * (1 + 0.5), 1e-12);
    assert_int_equal(at(&s, "contacts.3.vertices")->n, 3 * 97 * 97);
    assert_int_equal(at(&s, "contacts.3.faces")->n, 3 * 2 * 96 * 96);
    assert_near(value(&s, "contacts.3.vertices.0"), -2, 0);
    assert_near(value(&s, "contacts.3.vertices.2"), -1, 1e-12);
    assert_near(value(&s, "contacts.3.size.1"), 3, 1e-12);
    clear(&s);
}

// ---- loads and reactions ------------------------------------------------------------------------

typedef struct last_seen {
    const snw_run_info *info; // while it runs
    int nload, nmeasure;
    double load[18], effort[2], contact[6], loop[6];
    snw_se3 tip;
} last_seen;

static snw_status keep(void *user, const snw_frame *f, snw_error *err) {
    (void)err;
    last_seen *to = user;
    memcpy(to->load, f->load, (size_t)(6 * to->info->nload) * sizeof(double));
    memcpy(to->effort, f->effort, (size_t)to->info->ntendon * sizeof(double));
    memcpy(to->contact, f->contact, (size_t)(6 * to->info->ncontact) * sizeof(double));
    memcpy(to->loop, f->loop, (size_t)(6 * to->info->nloop) * sizeof(double));
    to->tip = f->pose[to->info->nnode - 1];
    return SNW_OK;
}

static snw_status end(void *user, snw_status status, const char *message, snw_error *err) {
    (void)user, (void)message, (void)err;
    return status;
}

// the last frame of a study
static void watch(const char *text, last_seen *seen) {
    snw_document *doc;
    snw_desc *desc;
    snw_run *run = NULL;
    snw_error err = {0};
    if (describe(text, &doc, &desc, &err) != SNW_OK ||
        snw_run_create(desc, "main", &run, &err) != SNW_OK) {
        fail_msg("%d:%d: %s", err.line, err.column, err.text);
    }
    *seen = (last_seen){.info = snw_run_describe(run)};
    const snw_recorder recorder = {seen, keep, end};
    if (snw_run_execute(run, 1, &recorder, NULL, NULL, &err) != SNW_OK) fail_msg("%s", err.text);
    seen->nload = seen->info->nload;
    seen->nmeasure = seen->info->ntendon;
    seen->info = NULL;
    snw_run_destroy(run);
    release(doc, desc);
}

// a follower load turns with the tip, a dead load does not, a load along the rod is integrated
static void frames_contain_loads(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\ngravity: 0\n"
        "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
        "robot: {arm: {on: world, rod: {length: 0.5 m, section: {circle: {radius: 10 mm}},\n"
        "  material: rubber, strain: {bend_y: legendre 3, bend_z: legendre 3}}}}\n"
        "actuators: {cord: {tendon: {along: arm, at: [0, 5 mm, 0]}, effort: 3 N*t/(1 s)}}\n"
        "loads:\n"
        "  follower: {on: arm.tip, force: [0, 0, 20 mN], torque: [0, 1 mN*m, 0], frame: body}\n"
        "  dead: {on: arm.tip, force: [0, 1 mN, 2 mN]}\n"
        "  wind: {along: arm, force: [0, 0, 4 mN/m*t/(1 s)]}\n"
        "study: [static: {for: 1 s, step: 0.5 s}]\n";
    last_seen seen;
    watch(text, &seen);
    assert_int_equal(seen.nload, 3);
    assert_int_equal(seen.nmeasure, 1);
    const snw_vec3 force = snw_rotate(seen.tip.R, (snw_vec3){{0, 0, 0.02}});
    const snw_vec3 torque = snw_rotate(seen.tip.R, (snw_vec3){{0, 1e-3, 0}});
    assert_true(fabs(force.x) > 1e-3); // the tip has turned
    for (int k = 0; k < 3; k++) {
        assert_near(seen.load[k], torque.e[k], 1e-15);
        assert_near(seen.load[3 + k], force.e[k], 1e-15);
        assert_near(seen.load[6 + k], 0, 0);
        assert_near(seen.load[9 + k], 1e-3 * k, 1e-18);
        assert_near(seen.load[15 + k], k == 2 ? 2e-3 : 0, 1e-15); // 4 mN/m along 0.5 m
    }
    assert_near(seen.effort[0], 3, 1e-15);
}

// a ball on the ground 0.3 m from the origin and one held by a loop: both reactions equal their
// weights
static void frames_contain_reactions(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\ngravity: [0, 0, -10]\n"
        "robot:\n"
        "  ball: {on: world, pose: {xyz: [0.3, 0, 0]}, joint: prismatic, axis: z, damping: 500 "
        "N*s/m,\n"
        "    body: {sphere: {radius: 0.1}, mass: 2}}\n"
        "  bob: {on: world, joint: prismatic, axis: z, body: {mass: 3}}\n"
        "loops: {hook: {join: [world, bob], as: spherical}}\n"
        "contacts: {floor: {ground: {on: ball, normal: z, at: [0, 0, -0.099], stiffness: 1e5}}}\n"
        "study: [dynamic: {for: 1 s, step: 10 ms, scheme: euler}]\n"; // comes to rest within 0.1 s
    last_seen seen;
    watch(text, &seen);
    const double ground[6] = {0, -0.3 * 20, 0, 0, 0, 20}; // moment about the origin, force
    for (int k = 0; k < 6; k++) assert_near(seen.contact[k], ground[k], 1e-9);
    assert_near(seen.loop[5], 30, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rods_have_stations_sections_and_stiffness),
        cmocka_unit_test(contours_are_those_of_the_sections),
        cmocka_unit_test(bodies_joints_loops_and_ground_are_in_the_scene),
        cmocka_unit_test(shapes_that_are_only_drawn_replace_the_others),
        cmocka_unit_test(named_sites_lie_between_their_nodes),
        cmocka_unit_test(scenes_change_in_the_course_of_a_study),
        cmocka_unit_test(tendons_follow_nodes_to_their_ends),
        cmocka_unit_test(nonholonomic_contacts_are_in_the_scene),
        cmocka_unit_test(fields_are_in_the_scene),
        cmocka_unit_test(obstacles_are_in_the_scene),
        cmocka_unit_test(frames_contain_loads),
        cmocka_unit_test(frames_contain_reactions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
