// SPDX-License-Identifier: MIT
//
// A model file becomes the description it says, or a complaint at the right place.
#include "io/document.h"
#include "io/language.h"
#include "model/probe_columns.h"
#include "near.h"

#include <stdio.h>
#include <string.h>

// Read `text`, called m.yaml, and describe run 0.
static snw_status describe(const char *text, snw_document **doc, snw_desc **desc, snw_error *err) {
    *doc = NULL;
    *desc = NULL;
    *err = (snw_error){0};
    const snw_status s = snw_document_parse("m.yaml", text, strlen(text), 0, NULL, doc, err);
    return s == SNW_OK ? snw_document_describe(*doc, 0, desc, err) : s;
}

static void release(snw_document *doc, snw_desc *desc) {
    snw_desc_destroy(desc);
    snw_document_destroy(doc);
}

// A description that must be made, with its document.
typedef struct model {
    snw_document *doc;
    snw_desc *desc;
} model;

static model good(const char *text) {
    model m;
    snw_error err;
    if (describe(text, &m.doc, &m.desc, &err) != SNW_OK) {
        print_error("%s:%d:%d: %s\n", err.file, err.line, err.column, err.text);
        fail();
    }
    return m;
}

static double value(snw_law law, double t, double x, double L) {
    assert_non_null(law);
    return snw_expr_value(law, (snw_at){.t = t, .x = x, .L = L});
}

// ---- good documents -----------------------------------------------------------------------------

static const char *const whole =
    "sinew: 1\n"
    "title: Everything at once\n"
    "about: a test\n"
    "gravity: [0, \"-9.81*ramp(t, 0 s, 1 s)\", 0]\n"
    "parameters: {C: 2.3 N*m, R: 10 mm}\n"
    "materials:\n"
    "  rubber: {young: 100 MPa, poisson: 0.5, density: 1000 kg/m^3, damping: 1 ms}\n"
    "  steel: {young: 200 GPa, shear: 80 GPa, density: 7800}\n"
    "robot:\n"
    "  load: {on: mark, body: {mass: 20 g, com: [0, 1 mm, 0], inertia: [1, 2, 3]}}\n"
    "  arm:\n"
    "    on: base\n"
    "    pose: {xyz: [0, 0.1*t, 2 cm], rpy: [10 deg, 0, 30 deg]}\n"
    "    rod:\n"
    "      length: 1 m\n"
    "      section: {circle: {diameter: 2*R*(1 - x/(2*L))}, damping: {bend_z: 4.9}}\n"
    "      material: rubber\n"
    "      rest: {bend_y: 2 1/m*x/L}\n"
    "      strain: {bend_y: chebyshev 5, bend_z: cubic, twist: legendre 3}\n"
    "      breaks: [0, 20 cm, 0.5]\n"
    "      nodes: 24\n"
    "      magnus: 6\n"
    "  base: {on: world, joint: free, body: {box: [1, 2, 3], density: 2}}\n"
    "  wire: {on: arm@50%, when: off, rod: {length: 0.2, strain: cosserat legendre 4,\n"
    "         section: {tube: {radius: 2 mm, inner: 1 mm}}, material: steel}}\n"
    "sites:\n"
    "  mark: {on: tip, pose: {xyz: [1, 0, 0]}}\n"
    "  tip: {on: arm.tip, pose: {x: z, y: x}}\n"
    "loads:\n"
    "  twist: {on: arm.tip, torque: [0, C, 0], frame: body, when: t < 1 s}\n"
    "  wind: {along: arm, force: [0, 0, 3 N/m*x/L]}\n"
    "  push: {on: mark, force: [1 N, 0, 0]}\n"
    "actuators:\n"
    "  muscle: {stress: {along: arm, bend_y: 0.1 N*m*sin(x), stretch: 2 N}, when: on}\n"
    "initial:\n"
    "  base: {pose: {xyz: [1, 2, 3]}, twist: [1, 2, 3, 4, 5, 6]}\n"
    "  arm: {strain: {bend_y: 1 1/m}, rate: 0}\n"
    "probes:\n"
    "  tip: {position: arm.tip}\n"
    "  q: {rotation: mark}\n"
    "  e: energy\n"
    "  s: stability\n"
    "  cut: {wrench: arm@0.25 m}\n"
    "  all: {wrench: arm, along: 5}\n"
    "  hold: {reaction: load, in: body}\n"
    "study:\n"
    "  - static:\n"
    "  - static: {name: path, for: 2 s, step: 0.1 s, tolerance: 1e-9, march: 3 s}\n"
    "  - static: {from: static, march: {for: 1 s, step: 10 ms}}\n"
    "  - static\n"
    "record: {every: 5 ms, only: [tip, e, q, s, all]}\n"
    "runs: {text: {}, load: {C: {each: [1, 2]}}}\n"
    "expect:\n"
    "  - {probe: tip, at: end, value: [1, 2, 3 mm], within: 1 um, source: a book}\n"
    "  - {probe: [tip.x, e.total], after: path, value: [1, 2 J], relative: 1e-6, run: text}\n"
    "  - {probe: q, at: 1 s, value: [1, 0, 0, 0], within: 1e-6}\n"
    "  - {probe: q, rows: [[0, 1, 2, 3], [2 s, 4, 5, 6]], within: 1e-6}\n"
    "  - {probe: e, over: all, is: size, value: 0, within: 1e-6}\n"
    "  - {probe: tip.x, over: [0.5 s, 1 s], is: mean, below: 3, run: load}\n"
    "  - {probe: all@3.my, at: 0, above: 3 N*mm}\n"
    "  - {probe: s, at: end, above: 0}\n";

static void robot_is_read(void **state) {
    (void)state;
    const model m = good(whole);
    const snw_desc *d = m.desc;
    assert_string_equal(d->title, "Everything at once");
    assert_string_equal(d->about, "a test");
    assert_near(value(d->gravity[1], 2, 0, 0), -9.81, 1e-15);
    assert_int_equal(d->nlink, 4);

    // parents first, otherwise as written
    const snw_link_desc *base = &d->link[0], *arm = &d->link[1], *load = &d->link[2];
    const snw_link_desc *wire = &d->link[3];
    assert_string_equal(base->name, "base");
    assert_string_equal(arm->name, "arm");
    assert_string_equal(load->name, "load");
    assert_string_equal(wire->name, "wire");
    assert_int_equal(base->on.kind, SNW_SITE_WORLD);
    assert_int_equal(base->on.link, -1);
    assert_int_equal(arm->on.kind, SNW_SITE_END);
    assert_int_equal(arm->on.link, 0);
    assert_int_equal(base->joint, SNW_JOINT_FREE);
    assert_int_equal(arm->joint, SNW_JOINT_FIXED);
    assert_null(arm->when);
    assert_near(value(wire->when, 0, 0, 0), 0, 0);
    assert_int_equal(arm->place.line, 11);
    assert_int_equal(arm->place.column, 3);
    assert_string_equal(arm->place.file, "m.yaml");

    // a site on a site on a rod's tip: x to z, y to x, then 1 m along the local x
    assert_int_equal(load->on.kind, SNW_SITE_END);
    assert_int_equal(load->on.link, 1);
    assert_true(load->on.offset);
    assert_near(load->on.pose.p.z, 1, 1e-15);
    assert_near(load->on.pose.R.e[2][0], 1, 1e-15);
    assert_near(load->on.pose.R.e[0][1], 1, 1e-15);
    assert_near(load->on.pose.R.e[1][2], 1, 1e-15);
    assert_int_equal(wire->on.kind, SNW_SITE_AT);
    assert_near(wire->on.x, 0.5, 1e-15);

    // bodies
    assert_true(load->has_body && !load->has_rod);
    assert_near(load->body.mass, 0.02, 1e-15);
    assert_near(load->body.com.y, 1e-3, 1e-15);
    assert_near(load->body.inertia.e[2][2], 3, 0);
    assert_near(base->body.mass, 12, 1e-15);
    assert_near(base->body.inertia.e[0][0], 12 * (4 + 9) / 12.0, 1e-15);
    release(m.doc, m.desc);
}

static void pose_is_read(void **state) {
    (void)state;
    const model m = good(whole);
    const snw_pose_desc *p = &m.desc->link[1].pose;
    assert_near(value(p->xyz[1], 3, 0, 0), 0.3, 1e-15);
    assert_int_equal(p->nturn, 2);
    assert_near(p->turn[0].axis.z, 1, 0);
    assert_near(p->turn[1].axis.x, 1, 0);
    // R = Rz(30 deg) Rx(10 deg)
    const snw_se3 g = snw_pose_desc_at(p, 3);
    const double roll = 10 * acos(-1) / 180, yaw = 30 * acos(-1) / 180;
    assert_near(g.R.e[0][0], cos(yaw), 1e-15);
    assert_near(g.R.e[0][1], -sin(yaw) * cos(roll), 1e-15);
    assert_near(g.R.e[1][2], -cos(yaw) * sin(roll), 1e-15);
    assert_near(g.R.e[2][1], sin(roll), 1e-15);
    assert_near(g.p.z, 0.02, 1e-15);
    release(m.doc, m.desc);
}

static void rod_is_read(void **state) {
    (void)state;
    const model m = good(whole);
    const snw_rod_desc *r = &m.desc->link[1].rod;
    assert_near(r->length, 1, 0);
    assert_string_equal(r->material->name, "rubber");
    assert_near(value(r->material->damping, 0, 0, 0), 1e-3, 1e-15);
    assert_int_equal(r->section.kind, SNW_SECTION_CIRCLE);
    assert_near(value(r->section.size[0], 0, 0, 1), 0.010, 1e-15);
    assert_near(value(r->section.size[0], 0, 1, 1), 0.005, 1e-15);
    assert_true(r->section.damping_given && !r->section.stiffness_given);
    assert_near(value(r->section.damping[14], 0, 0, 0), 4.9, 0);
    assert_null(r->section.damping[7]);
    assert_near(value(r->rest[SNW_BEND_Y], 0, 0.5, 1), 1, 1e-15);
    assert_null(r->rest[SNW_BEND_Z]);
    assert_int_equal(r->nodes, 24);
    assert_int_equal(r->magnus, 6);
    const bool active[6] = {true, true, true, false, false, false};
    for (int i = 0; i < 6; i++) assert_int_equal(r->active[i], active[i]);
    assert_int_equal(r->basis[SNW_TWIST].kind, SNW_BASIS_LEGENDRE);
    assert_int_equal(r->basis[SNW_TWIST].nfun, 3);
    assert_int_equal(r->basis[SNW_BEND_Y].kind, SNW_BASIS_CHEBYSHEV);
    assert_int_equal(r->basis[SNW_BEND_Y].nfun, 5);
    const snw_basis *cubic = &r->basis[SNW_BEND_Z];
    assert_int_equal(cubic->kind, SNW_BASIS_CUBIC);
    assert_int_equal(cubic->nelem, 3); // the tip was left out of the breaks, the root given
    const double breaks[] = {0, 0.2, 0.5, 1};
    for (int i = 0; i < 4; i++) assert_near(cubic->breaks[i], breaks[i], 1e-15);
    assert_int_equal(cubic->nfun, snw_basis_size(SNW_BASIS_CUBIC, 3));

    const snw_rod_desc *w = &m.desc->link[3].rod;
    assert_int_equal(w->section.kind, SNW_SECTION_TUBE);
    assert_near(value(w->section.size[1], 0, 0, 0), 1e-3, 1e-15);
    assert_int_equal(w->nodes, 0);
    assert_int_equal(w->magnus, 4);
    for (int i = 0; i < 6; i++) assert_true(w->active[i] && w->basis[i].nfun == 4);
    release(m.doc, m.desc);
}

static void loads_and_start_are_read(void **state) {
    (void)state;
    const model m = good(whole);
    const snw_desc *d = m.desc;
    assert_int_equal(d->nload, 3);
    assert_true(d->load[0].body && !d->load[0].along);
    assert_near(value(d->load[0].torque[1], 0, 0, 0), 2.3, 0);
    assert_null(d->load[0].force[0]);
    assert_near(value(d->load[0].when, 0.5, 0, 0), 1, 0);
    assert_near(value(d->load[0].when, 1.5, 0, 0), 0, 0);
    assert_true(d->load[1].along && !d->load[1].body);
    assert_int_equal(d->load[1].on.link, 1);
    assert_near(value(d->load[1].force[2], 0, 0.5, 1), 1.5, 1e-15);
    assert_true(d->load[2].on.offset);
    assert_int_equal(d->nstress, 1);
    assert_int_equal(d->stress[0].link, 1);
    assert_near(value(d->stress[0].stress[SNW_STRETCH], 0, 0, 0), 2, 0);
    assert_null(d->stress[0].stress[SNW_TWIST]);

    assert_int_equal(d->ninitial, 2);
    assert_int_equal(d->initial[0].link, 0);
    assert_true(d->initial[0].has_pose);
    assert_near(d->initial[0].pose.p.z, 3, 0);
    assert_near(d->initial[0].twist.v.z, 6, 0);
    assert_near(value(d->initial[1].strain[SNW_BEND_Y], 0, 0, 0), 1, 0);
    assert_near(value(d->initial[1].rate[SNW_TWIST], 0, 0, 0), 0, 0);
    release(m.doc, m.desc);
}

static void probes_and_study_are_read(void **state) {
    (void)state;
    const model m = good(whole);
    const snw_desc *d = m.desc;
    assert_int_equal(d->nprobe, 7);
    assert_int_equal(d->probe[0].kind, SNW_PROBE_POSITION);
    assert_int_equal(d->probe[0].site.link, 1);
    assert_true(d->probe[1].site.offset);
    assert_int_equal(d->probe[2].kind, SNW_PROBE_ENERGY);
    assert_int_equal(d->probe[3].kind, SNW_PROBE_STABILITY);
    assert_int_equal(d->probe[4].site.kind, SNW_SITE_AT);
    assert_near(d->probe[4].site.x, 0.25, 0);
    assert_int_equal(d->probe[5].along, 5);
    assert_int_equal(snw_probe_columns(&d->probe[5]), 30);
    assert_int_equal(d->probe[6].site.link, 2);
    assert_true(d->probe[6].body);

    assert_int_equal(d->nstep, 4);
    assert_string_equal(d->step[0].name, "static");
    assert_string_equal(d->step[1].name, "path");
    assert_string_equal(d->step[2].name, "static.2");
    assert_string_equal(d->step[3].name, "static.3");
    assert_near(d->step[1].duration, 2, 0);
    assert_near(d->step[1].step, 0.1, 0);
    assert_near(d->step[1].tolerance, 1e-9, 0);
    assert_near(d->step[1].march, 3, 0);
    assert_near(d->step[1].march_step, 0, 0);
    assert_int_equal(d->step[1].from, -1);
    assert_int_equal(d->step[2].from, 0);
    assert_near(d->step[2].march_step, 0.01, 1e-15);
    assert_near(d->record_every, 5e-3, 1e-15);
    assert_int_equal(d->nrecord, 5);
    assert_int_equal(d->record[1], 2);
    release(m.doc, m.desc);
}

static void expectations_are_read(void **state) {
    (void)state;
    const model m = good(whole);
    int n;
    const snw_expect *e;
    snw_error err;
    assert_int_equal(snw_document_runs(m.doc), 3);
    assert_string_equal(snw_document_run_name(m.doc, 2), "load.2");
    assert_int_equal(snw_document_expects(m.doc, 0, m.desc, &n, &e, &err), SNW_OK);
    assert_int_equal(n, 7); // all but the one of run load
    assert_int_equal(e[0].ncolumn, 3);
    assert_string_equal(e[0].column[2], "tip.z");
    assert_int_equal(e[0].when, SNW_EXPECT_END);
    assert_near(e[0].value[2], 3e-3, 1e-15);
    assert_near(e[0].tolerance, 1e-6, 1e-15);
    assert_string_equal(e[0].source, "a book");
    assert_int_equal(e[1].when, SNW_EXPECT_AFTER);
    assert_string_equal(e[1].after, "path");
    assert_string_equal(e[1].column[1], "e.total");
    assert_int_equal(e[1].how, SNW_EXPECT_RELATIVE);
    assert_string_equal(e[2].column[0], "q.qw"); // four values: a quaternion
    assert_near(e[2].t0, 1, 0);
    assert_string_equal(e[3].column[0], "q.rx"); // three: a rotation vector
    assert_int_equal(e[3].nrow, 2);
    assert_near(e[3].row_t[1], 2, 0);
    assert_near(e[3].value[5], 6, 0);
    assert_int_equal(e[4].ncolumn, 6); // one number for all over a span
    assert_int_equal(e[4].is, SNW_EXPECT_SIZE);
    assert_true(isinf(e[4].t0) && isinf(e[4].t1));
    assert_string_equal(e[5].column[0], "all@3.my");
    assert_int_equal(e[5].how, SNW_EXPECT_ABOVE);
    assert_near(e[5].value[0], 3e-3, 1e-15);
    assert_string_equal(e[6].column[0], "s");

    // another run has the one for all that `each` made, and its own parameter
    snw_desc *second;
    assert_int_equal(snw_document_describe(m.doc, 2, &second, &err), SNW_OK);
    assert_int_equal(snw_document_expects(m.doc, 2, second, &n, &e, &err), SNW_OK);
    assert_int_equal(n, 7);
    assert_string_equal(e[4].run, "load");
    assert_int_equal(e[4].how, SNW_EXPECT_BELOW);
    assert_near(value(second->load[0].torque[1], 0, 0, 0), 2, 0);
    snw_desc_destroy(second);
    release(m.doc, m.desc);
}

#define HEAD      "sinew: 1\ngravity: 0\n"
#define ROD(keys) HEAD "robot: {arm: {on: world, rod: {length: 2, " keys "}}}\n"

static void sections_are_read(void **state) {
    (void)state;
    static const struct {
        const char *section;
        snw_section_kind kind;
        int n;
        double size[4];
    } cases[] = {
        {"circle: {radius: 1 mm}", SNW_SECTION_CIRCLE, 1, {1e-3}},
        {"circle: {diameter: 1 mm}", SNW_SECTION_CIRCLE, 1, {0.5e-3}},
        {"tube: {diameter: 4 mm, inner: 2 mm}", SNW_SECTION_TUBE, 2, {2e-3, 1e-3}},
        {"rectangle: {y: 1 mm, z: 2 mm}", SNW_SECTION_RECTANGLE, 2, {1e-3, 2e-3}},
        {"ellipse: {y: 1 mm, z: 2 mm}", SNW_SECTION_ELLIPSE, 2, {1e-3, 2e-3}},
        {"area: 1 mm^2, moments: [1, 2, 3]", SNW_SECTION_GIVEN, 4, {1e-6, 1, 2, 3}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       ROD("strain: rigid, material: m, section: {%s}") "materials: {m: {}}\n",
                       cases[i].section);
        const model m = good(text);
        const snw_section_desc *s = &m.desc->link[0].rod.section;
        assert_int_equal(s->kind, cases[i].kind);
        for (int k = 0; k < 4; k++) {
            if (k >= cases[i].n) {
                assert_null(s->size[k]);
            } else {
                assert_near(value(s->size[k], 0, 0, 2), cases[i].size[k], 1e-15);
            }
        }
        release(m.doc, m.desc);
    }
}

static void stiffness_is_read_in_every_form(void **state) {
    (void)state;
    model m = good(ROD("strain: cosserat legendre 1, section: {stiffness: [1, 2, 3, 4, 5, 6]}"));
    const snw_section_desc *s = &m.desc->link[0].rod.section;
    assert_true(s->stiffness_given);
    for (int i = 0; i < 36; i++) {
        if (i % 7) {
            assert_null(s->stiffness[i]);
        } else {
            assert_near(value(s->stiffness[i], 0, 0, 0), 1 + i / 7.0, 1e-15);
        }
    }
    release(m.doc, m.desc);
    m = good(ROD("strain: {bend_z: legendre 1}, section: {stiffness: 0, inertia: {stretch: x}}"));
    s = &m.desc->link[0].rod.section;
    assert_near(value(s->stiffness[14], 0, 0, 0), 0, 0);
    assert_near(value(s->inertia[21], 0, 0.5, 0), 0.5, 0);
    release(m.doc, m.desc);
    m = good(ROD("strain: rigid, section: {stiffness: [[1, 0, 0, 7, 0, 0], [0, 2, 0, 0, 0, 0], "
                 "[0, 0, 3, 0, 0, 0], [7, 0, 0, 4, 0, 0], [0, 0, 0, 0, 5, 0], "
                 "[0, 0, 0, 0, 0, 6 N]]}"));
    s = &m.desc->link[0].rod.section;
    assert_near(value(s->stiffness[18], 0, 0, 0), 7, 0);
    assert_near(value(s->stiffness[35], 0, 0, 0), 6, 0);
    release(m.doc, m.desc);
}

// R of the link's pose, as written
static snw_mat3 turned(const char *pose) {
    char text[256];
    (void)snprintf(text, sizeof text, HEAD "robot: {a: {on: world, pose: {%s}}}\n", pose);
    const model m = good(text);
    const snw_mat3 R = snw_pose_desc_at(&m.desc->link[0].pose, 0).R;
    release(m.doc, m.desc);
    return R;
}

static void ways_to_turn_agree(void **state) {
    (void)state;
    static const char *const same[] = {
        "rpy: [0, -90 deg, 0]",
        "axis: y, angle: -90 deg",
        "axis: [0, -2, 0], angle: 90 deg",
        "quat: [0.7071067811865476, 0, -0.7071067811865476, 0]",
        "x: z", // the shortest turn
        "x: [0, 0, 3]",
        "x: z, y: y",
        "y: y, z: -x",
        "z: [-1, 0, 0], x: z",
        "x: z, y: y, z: -x",
    };
    const snw_mat3 want = {{{0, 0, -1}, {0, 1, 0}, {1, 0, 0}}};
    for (size_t k = 0; k < sizeof same / sizeof same[0]; k++) {
        const snw_mat3 R = turned(same[k]);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) assert_near(R.e[i][j], want.e[i][j], 1e-15);
        }
    }
}

static void sites_are_found(void **state) {
    (void)state;
    static const struct {
        const char *site;
        snw_site_kind kind;
        double x;
    } cases[] = {
        {"arm", SNW_SITE_END, 0},         {"arm.tip", SNW_SITE_END, 0},
        {"arm.root", SNW_SITE_ROOT, 0},   {"arm@0.12 m", SNW_SITE_AT, 0.12},
        {"arm@12 cm", SNW_SITE_AT, 0.12}, {"arm@100%", SNW_SITE_AT, 2},
        {"arm@(L/4)", SNW_SITE_AT, 0.5},  {"\"arm@(h + 1 cm)\"", SNW_SITE_AT, 0.31},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       ROD("strain: rigid") "parameters: {h: 30 cm}\nprobes: {p: {pose: %s}}\n",
                       cases[i].site);
        const model m = good(text);
        assert_int_equal(m.desc->probe[0].site.kind, cases[i].kind);
        assert_near(m.desc->probe[0].site.x, cases[i].x, 1e-15);
        release(m.doc, m.desc);
    }
}

static void repetitions_make_chains(void **state) {
    (void)state;
    const model m = good(HEAD "robot:\n"
                              "  leg(k=2..4): {on: leg(k-1), pose: {xyz: [k, 0, 0]}}\n"
                              "  leg(1): {on: world}\n"
                              "probes: {p(k=1..4): {position: leg(k)}}\n");
    assert_int_equal(m.desc->nlink, 4);
    assert_string_equal(m.desc->link[3].name, "leg(4)");
    assert_int_equal(m.desc->link[3].on.link, 2);
    assert_near(value(m.desc->link[3].pose.xyz[0], 0, 0, 0), 4, 0);
    assert_int_equal(m.desc->probe[3].site.link, 3);
    release(m.doc, m.desc);
}

static void defaults_stand(void **state) {
    (void)state;
    const model m = good("sinew: 1\nrobot: {a: {on: world}}\nloads:\nprobes:\nstudy:\n");
    assert_near(value(m.desc->gravity[2], 0, 0, 0), -9.81, 0);
    assert_string_equal(m.desc->title, "");
    assert_int_equal(m.desc->nload + m.desc->nprobe + m.desc->nstep, 0);
    assert_int_equal(m.desc->nrecord, -1);
    int n;
    const snw_expect *e;
    assert_int_equal(snw_document_expects(m.doc, 0, m.desc, &n, &e, NULL), SNW_OK);
    assert_int_equal(n, 0);
    assert_int_equal(snw_document_runs(m.doc), 1);
    assert_string_equal(snw_document_run_name(m.doc, 0), "main");
    release(m.doc, m.desc);
}

static void tables_have_all_keys_of_all_maps(void **state) {
    (void)state;
    int n;
    const snw_key_table *const *tables = snw_language_tables(&n);
    assert_true(n > 20);
    for (int i = 0; i < n; i++) {
        assert_true(tables[i]->n > 0 && tables[i]->about[0]);
        for (int k = 0; k < tables[i]->n; k++) {
            const snw_key *key = &tables[i]->key[k];
            assert_true(key->name[0] && key->form[0] && key->meaning[0]);
            assert_false(snw_language_later(tables[i]->name, key->name));
            for (int j = 0; j < k; j++) {
                assert_string_not_equal(key->name, tables[i]->key[j].name);
            }
        }
    }
    assert_true(snw_language_later("joint", "revolute"));
    assert_true(snw_language_later("joint", "planar"));
    assert_false(snw_language_later("joint", "revol"));
    assert_false(snw_language_later("joint", ""));
}

static void quantities_have_their_names(void **state) {
    (void)state;
    static const char *const names[] = {
#define X(code, name) name,
        SNW_PROBE_LIST(X)
#undef X
    };
    for (int k = 0; k <= SNW_PROBE_STABILITY; k++) {
        const snw_probe_kind kind = (snw_probe_kind)k;
        int n, from, size;
        (void)snw_probe_components(kind, &n);
        snw_probe_primary(kind, 0, &from, &size);
        assert_true(n > 0 && size > 0 && from + size <= n);
        assert_string_equal(snw_probe_name(kind), names[k]);
        assert_string_equal(snw_keys_probe.key[k].name, names[k]); // the reader relies on it
    }
    int first, count;
    snw_probe_primary(SNW_PROBE_ROTATION, 9, &first, &count);
    assert_int_equal(count, 9);
    assert_string_equal(snw_probe_components(SNW_PROBE_ROTATION, &count)[first].name, "xx");
}

// ---- bad documents ------------------------------------------------------------------------------

#define RUBBER "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
#define ARM                                                                                        \
    HEAD RUBBER "robot:\n"                                                                         \
                "  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 1 mm}}, "        \
                "material: rubber, strain: kirchhoff legendre 3}}\n"
#define TIP  ARM "probes: {tip: {position: arm.tip}, e: energy, N: {wrench: arm, along: 3}}\n"
#define PATH TIP "study: [static: {for: 2 s, step: 0.1 s}]\n"

// A document, a $ before the place of its fault, and a piece of the complaint.
typedef struct bad_case {
    const char *text, *fragment;
} bad_case;

static const bad_case bad[] = {
    // the file
    {"$robot: {a: {on: world}}\n", "sinew: 1"},
    {"sinew: $2\nrobot: {a: {on: world}}\n", "version"},
    {"$sinew: 1\n", "no robot"},
    {HEAD "robot: $[a]\n", "by name"},
    {HEAD "$robots: {}\n", "unknown key 'robots' (did you mean 'robot'?)"},
    {HEAD "$loops: {}\nrobot: {a: {on: world}}\n", "'loops' is not part of this version"},
    {HEAD "$contacts: {}\nrobot: {a: {on: world}}\n", "'contacts' is not part of this version"},
    {HEAD "$fluid: {}\nrobot: {a: {on: world}}\n", "'fluid' is not part of this version"},
    {"sinew: 1\ntitle: $[a]\nrobot: {a: {on: world}}\n", "'title' is a single value, found a list"},
    {"sinew: 1\ngravity: $9.81\nrobot: {a: {on: world}}\n", "[0, 0, -9.81]"},
    {"sinew: 1\ngravity: $[0, 1]\nrobot: {a: {on: world}}\n", "a list of 3, found 2"},
    {"sinew: 1\ngravity: [0, 0, $9 N]\nrobot: {a: {on: world}}\n", "acceleration"},
    // names
    {HEAD "parameters: {a: 1}\nrobot: {$a: {on: world}}\n", "parameter"},
    {HEAD "robot: {$a-b: {on: world}}\n", "not a name"},
    {HEAD "robot: {$world: {on: world}}\n", "'world'"},
    {HEAD "robot: {$gravity: {on: world}}\n", "'gravity'"},
    {HEAD "robot: {a: {on: world}}\nsites: {$a: {on: world}}\n", "'a' is"},
    {ARM "study: [static: {name: $arm}]\n", "'arm' is"},
    {ARM "study: [static: {name: $a b}]\n", "not a name"},
    // materials
    {HEAD "materials: {m: {young: 1, poisson: 0.5, $shear: 1}}\nrobot: {a: {on: world}}\n",
     "both poisson and shear"},
    {HEAD "materials: {m: {young: 1, poisson: $0.6}}\nrobot: {a: {on: world}}\n",
     "above -1 and up to 0.5, got 0.6"},
    {HEAD "materials: {m: {young: 1, poisson: $-1}}\nrobot: {a: {on: world}}\n", "got -1"},
    {HEAD "materials: {m: {young: $0}}\nrobot: {a: {on: world}}\n", "'young' must be positive"},
    {HEAD "materials: {m: {density: $-1}}\nrobot: {a: {on: world}}\n", "not be negative"},
    {HEAD "materials: {m: {young: $1 mm}}\nrobot: {a: {on: world}}\n", "pressure"},
    {HEAD "materials: {m: {$yuong: 1}}\nrobot: {a: {on: world}}\n", "did you mean 'young'"},
    {HEAD "materials: {m: {young: $[1]}}\nrobot: {a: {on: world}}\n", "found a list"},
    {HEAD "materials: {m: {young: 1*$t}}\nrobot: {a: {on: world}}\n", "t"},
    // links
    {HEAD "robot: {$a: {body: {mass: 1}}}\n", "needs a parent, e.g. 'on: world'"},
    {HEAD "robot: {arm: {on: world}, b: {on: $arn}}\n", "no link 'arn' (did you mean 'arm'?)"},
    {HEAD "robot: {arm: {on: world}, b: {on: $arm.tip}}\n", "link 'arm' has no rod"},
    {HEAD "robot: {a: {on: world, joint: $revolute}}\n",
     "joint 'revolute' is not part of this version; it knows fixed, free"},
    {HEAD "robot: {a: {on: world, joint: $fred}}\n", "did you mean 'free'"},
    {HEAD "robot: {a: {on: world, joint: free, $axis: z}}\n", "'axis' is not part of this version"},
    {HEAD "robot: {a: {on: world, when: $t > 1 s}}\n", "on or off"},
    {HEAD "robot: {$a: {on: b}, b: {on: a}}\n", "a on b on a"},
    {HEAD "robot: {$a: {on: a}}\n", "a on a"},
    {HEAD "robot: {a: {$on: }}\n", "'on' has no value"},
    {HEAD "robot: {a: $world}\n", "a link is a map"},
    {HEAD "robot: {b: {on: world}, $a: {on: s}}\nsites: {s: {on: a}}\n", "a on a"},
    {HEAD "robot: {a: {on: s}}\nsites: {$s: {on: r}, r: {on: s}}\n", "on itself"},
    {HEAD "robot: {a: {on: world}}\nsites: {$s: {pose: {}}}\n", "needs 'on:'"},
    {HEAD "robot: {a: {on: world}}\nsites: {s: {on: a, pose: ${xyz: [t, 0, 0]}}}\n", "constant"},
    // poses
    {HEAD "robot: {a: {on: world, pose: {xyz: $[1, 2]}}}\n", "a list of 3, found 2"},
    {HEAD "robot: {a: {on: world, pose: {xyz: [$1 kg, 2, 3]}}}\n", "mass"},
    {HEAD "robot: {a: {on: world, pose: ${rpy: [0, 0, 0], x: z}}}\n", "turned in one way"},
    {HEAD "robot: {a: {on: world, pose: {$axis: z}}}\n", "'axis' needs 'angle'"},
    {HEAD "robot: {a: {on: world, pose: {quat: $[1, 1, 0, 0]}}}\n", "length 1"},
    {HEAD "robot: {a: {on: world, pose: {x: z, $y: z}}}\n", "right angle"},
    {HEAD "robot: {a: {on: world, pose: {$x: -x}}}\n", "half round"},
    {HEAD "robot: {a: {on: world, pose: {x: x, y: y, $z: -z}}}\n", "right-handed"},
    {HEAD "robot: {a: {on: world, pose: {x: $up}}}\n", "x, y, z or a vector"},
    {HEAD "robot: {a: {on: world, pose: {axis: $[0, 0, 0], angle: 1}}}\n", "no direction"},
    // bodies
    {HEAD "robot: {a: {on: world, body: ${com: [0, 0, 0]}}}\n", "needs its mass"},
    {HEAD "robot: {a: {on: world, body: {mass: $1 m}}}\n", "length"},
    {HEAD "robot: {a: {on: world, body: {mass: $-1}}}\n", "not be negative"},
    {HEAD "robot: {a: {on: world, body: {mass: $t}}}\n", "constant in this version"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, inertia: $[1, 2]}}}\n", "a list of 3"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, inertia: $[1, -2, 1]}}}\n", "negative"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, inertia: $[[1, 1, 0], [0, 1, 0], [0, 0, 1]]}}}\n",
     "symmetric"},
    {HEAD "robot: {a: {on: world, body: ${box: [1, 1, 1]}}}\n", "its mass or its density"},
    {HEAD "robot: {a: {on: world, body: {box: [1, $0, 1], mass: 1}}}\n", "positive"},
    {HEAD "robot: {a: {on: world, body: ${mass: 1, box: [1, 1, 1], sphere: {radius: 1}}}}\n",
     "one shape"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, $density: 1}}}\n", "give the mass"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, cylinder: ${radius: 1}}}}\n", "length"},
    // rods
    {HEAD "robot: {a: {on: world, $rod: {strain: rigid}}}\n", "needs a length"},
    {HEAD "robot: {a: {on: world, rod: {$lenght: 1}}}\n", "did you mean 'length'"},
    {HEAD "robot: {a: {on: world, rod: {length: $-1 m}}}\n", "'length' must be positive, got -1"},
    {HEAD "robot: {a: {on: world, rod: {length: $1 kg}}}\n", "mass"},
    {HEAD "robot: {a: {on: world, rod: {length: $1 m + 1 mm/s*t}}}\n",
     "must be a constant in this version, this depends on t"},
    {HEAD "robot: {a: {on: world, $rod: {length: 1}}}\n", "needs its strain"},
    {HEAD "robot: {a: {on: world, $rod: {length: 1, strain: {bend_y: legendre 1}}}}\n",
     "needs a section"},
    {ROD("$section: {circle: {radius: 1}}, strain: {bend_y: legendre 1}"), "no material"},
    {ROD("material: $stel, strain: rigid") "materials: {steel: {}}\n",
     "no material 'stel' (did you mean 'steel'?)"},
    {ROD("material: $sted, strain: rigid") "sites: {steel: {on: arm}}\n", "no material 'sted'"},
    {ROD("material: $arm, strain: rigid"), "'arm' is a link, not a material"},
    {ROD("material: m, section: {circle: {radius: 1}}, strain: {twist: legendre 1}") "materials: "
                                                                                     "{$m: {young: "
                                                                                     "1}}\n",
     "needs poisson or shear"},
    {ROD("material: m, section: {circle: {radius: 1}}, strain: {bend_y: legendre 1}") "materials: "
                                                                                      "{$m: "
                                                                                      "{shear: "
                                                                                      "1}}\n",
     "needs young"},
    {"sinew: 1\nrobot: {a: {on: world, rod: {length: 1, material: m, section: {circle: {radius: "
     "1}},"
     " strain: {bend_y: legendre 1}}}}\nmaterials: {$m: {young: 1}}\n",
     "needs a density"},
    {ROD("strain: rigid, section: {circle: {radius: $0 mm}}"), "'radius' must be positive"},
    {ROD("strain: rigid, section: {circle: ${}}"), "its radius or diameter"},
    {ROD("strain: rigid, section: {circle: ${radius: 1, diameter: 2}}"), "not both"},
    {ROD("strain: rigid, section: {tube: {radius: 1 mm, inner: $1 mm}}"), "smaller than the outer"},
    {ROD("strain: rigid, section: {tube: ${diameter: 1 mm}}"), "needs 'inner', its inner diameter"},
    {ROD("strain: rigid, section: {rectangle: ${y: 1}}"), "both full widths"},
    {ROD("strain: rigid, section: {circle: {radius: 1}, $ellipse: {y: 1, z: 1}}"), "one shape"},
    {ROD("strain: rigid, section: {$area: 1}"), "'area' needs 'moments'"},
    {ROD("strain: rigid, section: {area: 1, moments: [1 m^4, $1 mm^2, 1]}"), "m^4"},
    {ROD("strain: rigid, section: {circle: {radius: 1 mm*$t}}"), "t"},
    {ROD("strain: rigid, section: {stiffness: $[1, 2, 3]}"), "a list of 6, found 3"},
    {ROD("strain: rigid, section: {stiffness: $7}"), "0, six numbers or by component"},
    {ROD("strain: rigid, section: {stiffness: {bend_z: $1 N}}"), "force"},
    {ROD("strain: rigid, section: {inertia: {stretch: $1 kg*m}}"), "kg"},
    {ROD("strain: rigid, section: {stiffness: {$bend_x: 1}}"), "unknown key 'bend_x'"},
    {ROD("strain: rigid, section: {stiffness: $[-1, 1, 1, 1, 1, 1]}"), "of twist must not be"},
    {ROD("strain: rigid, rest: {bend_y: $1 m}"), "m"},
    {ROD("strain: rigid, nodes: $0"), "from 1 to 10000, got 0"},
    {ROD("strain: rigid, nodes: $10001"), "from 1 to 10000"},
    {ROD("strain: rigid, nodes: $2.5"), "whole number"},
    {ROD("strain: rigid, nodes: $t"), "constant in this version"},
    {ROD("strain: rigid, magnus: $3"), "2, 4 or 6"},
    // strains
    {ROD("strain: {bend_y: $legendr 3}"), "unknown basis 'legendr' (did you mean 'legendre'?)"},
    {ROD("strain: {bend_y: $legendre}"), "needs a number of functions"},
    {ROD("strain: {bend_y: legendre $401}"), "from 1 to 400, got 401"},
    {ROD("strain: {bend_y: legendre $0}"), "from 1 to 400, got 0"},
    {ROD("strain: {bend_y: cubic $3}"), "piecewise"},
    {ROD("strain: {bend_y: $\"sin(x - t)\"}"), "law is not part of this version"},
    {ROD("strain: {bend_y: $0.5}"), "law is not part of this version"},
    {ROD("strain: $legendre 3"), "which strains"},
    {ROD("strain: $kirchof legendre 3"), "did you mean 'kirchhoff'"},
    {ROD("strain: cosserat $legndre 3"), "unknown basis 'legndre' (did you mean 'legendre'?)"},
    {ROD("strain: kirchhoff$"), "needs a basis"},
    {ROD("strain: rigid $legendre 3"), "no basis"},
    {ROD("strain: ${}"), "names no component"},
    {ROD("strain: cosserat cubic, elements: $401"), "from 1 to 400"},
    {ROD("strain: cosserat cubic, elements: $200"), "200 elements of 'cubic' make 601 functions"},
    {ROD("strain: cosserat legendre 3, $elements: 4"), "piecewise"},
    {ROD("strain: cosserat cubic, elements: 4, $breaks: [1]"), "not both"},
    {ROD("strain: cosserat cubic, breaks: [1, $1]"), "must rise"},
    {ROD("strain: cosserat cubic, breaks: [0, $3 m]"), "outside of the rod"},
    // stations
    {ARM "sites: {s: {on: arm@$1.2 m}}\n", "from 0 to 1 m"},
    {ARM "sites: {s: {on: arm@$101%}}\n", "station 1.01 m is outside"},
    {ARM "sites: {s: {on: arm@$1 kg}}\n", "mass"},
    {ARM "sites: {s: {on: arm@$(t)}}\n", "constant in this version, this depends on t"},
    {ARM "sites: {s: {on: $arm.top}}\n", "'arm.root', 'arm.tip'"},
    {ARM "sites: {s: {on: arm@$}}\n", "needs a station"},
    {ARM "sites: {s: {on: world}, r: {on: $s.tip}}\n", "named site"},
    // loads and actuators
    {ARM "loads: {$p: {force: [1, 0, 0]}}\n", "needs a place"},
    {ARM "loads: {$p: {on: arm, along: arm, force: [1, 0, 0]}}\n", "not both"},
    {ARM "loads: {$p: {on: arm}}\n", "a force or a torque"},
    {ARM "loads: {p: {on: arm, force: [$1 N*m, 0, 0]}}\n", "force"},
    {ARM "loads: {p: {along: arm, force: [$1 N, 0, 0]}}\n", "N"},
    {ARM "loads: {p: {on: arm, force: [1*$x, 0, 0]}}\n", "x"},
    {ARM "loads: {p: {on: arm, force: [1, 0, 0], frame: $bodi}}\n", "did you mean 'body'"},
    {ARM "loads: {p: {on: world, force: [1, 0, 0], $frame: body}}\n", "no body frame"},
    {ARM "loads: {p: {on: arm, $forse: [1, 0, 0]}}\n", "did you mean 'force'"},
    {ARM "loads: {p: {on: arm, force: [1, 0, 0], when: $3 s}}\n", ""},
    {TIP "loads: {p: {on: arm, force: [\"2 - $tip.x\", 0, 0]}}\n", "law that reads probes"},
    {TIP "loads: {p: {on: arm, force: [\"1e1*$integral(t)\", 0, 0]}}\n",
     "'integral' is not part of this version"},
    {TIP "loads: {p: {on: arm, force: [1, 0, 0], when: \"$once(tip.z < 0)\"}}\n",
     "'once' is not part of this version"},
    {ARM "actuators: {m: {$tendon: {along: arm}}}\n", "'tendon' is not part of this version"},
    {ARM "actuators: {$m: {when: on}}\n", "drives nothing"},
    {ARM "actuators: {m: {stress: ${bend_y: 1}}}\n", "needs 'along:'"},
    {ARM "actuators: {m: {stress: {along: $arn, bend_y: 1}}}\n", "did you mean 'arm'"},
    {ARM "actuators: {m: {stress: {along: arm, bend_y: $1 N}}}\n", "force"},
    {HEAD "robot: {steel: {on: world}, b: {on: $steal}}\nmaterials: {steam: {}}\n",
     "did you mean 'steel'"},
    // initial state
    {ARM "initial: {$leg: {strain: 0}}\n", "no link 'leg'"},
    {ARM "initial: {arm: $30 deg}\n", "no joint with a single coordinate"},
    {ARM "initial: {arm: {$pose: {}}}\n", "is not free"},
    {ARM "initial: {arm: {strain: ${stretch: 0.1}}}\n", "does not change"},
    // probes
    {ARM "probes: {p: {position: $arn.tip}}\n", "did you mean 'arm'"},
    {ARM "probes: {p: {$postion: arm.tip}}\n", "did you mean 'position'"},
    {ARM "probes: {p: {position: arm, $velocity: arm}}\n", "one quantity"},
    {ARM "probes: {p: {$effort: arm}}\n", "'effort' is not part of this version"},
    {ARM "probes: {p: $position}\n", "'position' of what?"},
    {ARM "probes: {p: $energi}\n", "did you mean 'energy'"},
    {ARM "probes: {p: $energy.work}\n", "'p.work'"},
    {ARM "probes: {p: {$energy: arm}}\n", "whole robot"},
    {ARM "probes: {p: {strain: $world}}\n", "rod's station"},
    {ARM "probes: {p: {wrench: arm.tip, $along: 3}}\n", "whole rod"},
    {ARM "probes: {p: {wrench: arm, along: $1}}\n", "from 2 to"},
    {ARM "probes: {p: {wrench: arm, $in: world}}\n", "section's frame"},
    {HEAD "robot: {a: {on: world, joint: free}}\nprobes: {p: {reaction: $a}}\n", "is free"},
    {HEAD "parameters: {p: 1}\nrobot: {a: {on: world}}\nprobes: {$p: energy}\n", "parameter"},
    // study
    {ARM "study: ${static: {}}\n", "a list of steps"},
    {ARM "study: [$dynamic: {for: 1 s}]\n", "study 'dynamic' is not part of this version"},
    {ARM "study: [$statics]\n", "did you mean 'static'"},
    {ARM "study:\n  - static:\n    $name: a\n", "indent it under 'static:'"},
    {ARM "study: [static: {$for: 1 s}]\n", "'for' needs 'step'"},
    {ARM "study: [static: {for: $-1 s, step: 1 s}]\n", "'for' must be positive"},
    {ARM "study: [static: {for: 1 s, step: $2 s}]\n", "not be longer"},
    {ARM "study: [static: {for: 1 s, step: $1 ns}]\n", "too many"},
    {ARM "study: [static: {for: $1 m, step: 1 s}]\n", "length"},
    {ARM "study: [static: {from: $rest}]\n", "no step of the study 'rest'"},
    {ARM "study: [static: {name: a, from: $b}, static: {name: b}]\n", "earlier step"},
    {ARM "study: [static: {tolerance: $2}]\n", "below 1"},
    {ARM "study: [static: {march: ${step: 1 s}}]\n", "needs 'for'"},
    {ARM "study: [static: {march: {for: 1 s, step: $3 s}}]\n", "not be longer"},
    {ARM "study: [static: {$scheme: rk4}]\n", "'scheme' is not part of this version"},
    // record
    {TIP "record: {every: $0 s}\n", "positive"},
    {TIP "record: {only: [$tap]}\n", "no probe 'tap' (did you mean 'tip'?)"},
    {TIP "record: {only: [tip, $tip]}\n", "twice"},
    // expectations
    {PATH "expect: ${probe: tip}\n", "is a list"},
    {PATH "expect: [${value: 1}]\n", "'probe' is missing"},
    {PATH "expect: [{probe: $tup.x, at: end, value: 1, within: 1}]\n", "did you mean 'tip'"},
    {PATH "expect: [{probe: $tip.q, at: end, value: 1, within: 1}]\n",
     "has no 'q'; position has x y z"},
    {PATH "expect: [{probe: tip.x, run: $mian, at: end, value: 1, within: 1}]\n",
     "did you mean 'main'"},
    {PATH "expect: [{probe: tip.x, after: $rest, value: 1, within: 1}]\n", "no step of the study"},
    {PATH "expect: [{probe: tip.x, after: $arm, value: 1, within: 1}]\n", "'arm' is a link"},
    {PATH "expect: [${probe: tip.x, value: 1, within: 1}]\n", "when?"},
    {PATH "expect: [{probe: tip.x, at: end, $over: all, is: min, value: 1, within: 1}]\n",
     "give one of them"},
    {PATH "expect: [{probe: tip.x, $over: all, value: 1, within: 1}]\n", "needs 'is'"},
    {PATH "expect: [{probe: tip.x, over: all, is: $mode, value: 1, within: 1}]\n", "is"},
    {PATH "expect: [{probe: tip.x, at: end, $is: min, value: 1, within: 1}]\n", "add 'over'"},
    {PATH "expect: [{probe: tip.x, over: $[1 s, 0 s], is: min, value: 1, within: 1}]\n", "earlier"},
    {PATH "expect: [${probe: tip.x, at: end, value: 1}]\n", "within or relative"},
    {PATH "expect: [{probe: tip.x, at: end, value: 1, within: 1, $relative: 1}]\n", "one of them"},
    {PATH "expect: [${probe: tip.x, at: end, within: 1}]\n", "'value' is missing"},
    {PATH "expect: [{probe: tip.x, at: end, $value: 1, below: 2}]\n", "instead of 'value'"},
    {PATH "expect: [{probe: tip.x, at: end, value: 1, within: $-1}]\n", "not be negative"},
    {PATH "expect: [{probe: tip.x, at: end, value: 0, $relative: 1}]\n", "use 'within'"},
    {PATH "expect: [{probe: tip.x, at: end, value: $1 kg, within: 1}]\n", "mass"},
    {PATH "expect: [{probe: tip.x, at: end, value: 1 mm, within: $1 kg}]\n", "mass"},
    {PATH "expect: [{probe: tip, at: end, value: $[1, 2], within: 1}]\n", "needs 3 values"},
    {PATH "expect: [{probe: tip, at: end, value: $1, within: 1}]\n", "needs 3 values"},
    {PATH "expect: [{probe: tip, rows: [[0, 1, 2, 3], $[1, 1, 2]], within: 1}]\n",
     "needs 3 values after the time"},
    {PATH "expect: [{probe: tip.x, rows: $[], within: 1}]\n", "list of rows"},
    {PATH "expect: [{probe: tip.x, at: $2.5 s, value: 1, within: 1}]\n", "from 0 s to 2 s"},
    {PATH "expect: [{probe: tip.x, rows: [[1, 1], [$3, 1]], within: 1}]\n", "from 0 s to 2 s"},
    {TIP "expect: [{probe: tip.x, at: $0 s, value: 1, within: 1}]\n", "no study"},
    {PATH "expect: [{probe: $N, at: end, value: [1, 2, 3, 4, 5, 6], within: 1}]\n",
     "stations 0 to 2"},
    {PATH "expect: [{probe: $N@3.mx, at: end, value: 1, within: 1}]\n", "stations 0 to 2"},
    {PATH "expect: [{probe: $tip@1.x, at: end, value: 1, within: 1}]\n", "no stations"},
    {PATH "record: {only: tip}\nexpect: [{probe: $e.work, at: end, value: 1, within: 1}]\n",
     "not recorded"},
};

// The text without its mark; the place of the mark.
static void take_mark(const char *marked, char *text, size_t size, int *line, int *column) {
    size_t n = 0;
    bool found = false;
    *line = *column = 1;
    for (; *marked; marked++) {
        if (*marked == '$') {
            found = true;
            continue;
        }
        assert_true(n + 1 < size);
        text[n++] = *marked;
        if (found) continue;
        *column = *marked == '\n' ? 1 : *column + 1;
        *line += *marked == '\n';
    }
    text[n] = '\0';
    assert_true(found);
}

static void faults_are_named_at_their_place(void **state) {
    (void)state;
    int missed = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[2048];
        int line, column;
        take_mark(bad[i].text, text, sizeof text, &line, &column);
        snw_document *doc;
        snw_desc *desc;
        snw_error err;
        const snw_status s = describe(text, &doc, &desc, &err);
        const bool right = s == SNW_E_PARSE && strcmp(err.file, "m.yaml") == 0 &&
                           err.line == line && err.column == column &&
                           strstr(err.text, bad[i].fragment);
        if (!right) {
            print_error("%s  wanted %d:%d: ..%s..\n  got %s:%d:%d: %s\n", bad[i].text, line, column,
                        bad[i].fragment, err.file, err.line, err.column,
                        s == SNW_OK ? "no complaint" : err.text);
            missed++;
        }
        release(doc, desc);
    }
    assert_int_equal(missed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robot_is_read),
        cmocka_unit_test(pose_is_read),
        cmocka_unit_test(rod_is_read),
        cmocka_unit_test(loads_and_start_are_read),
        cmocka_unit_test(probes_and_study_are_read),
        cmocka_unit_test(expectations_are_read),
        cmocka_unit_test(sections_are_read),
        cmocka_unit_test(stiffness_is_read_in_every_form),
        cmocka_unit_test(ways_to_turn_agree),
        cmocka_unit_test(sites_are_found),
        cmocka_unit_test(repetitions_make_chains),
        cmocka_unit_test(defaults_stand),
        cmocka_unit_test(tables_have_all_keys_of_all_maps),
        cmocka_unit_test(quantities_have_their_names),
        cmocka_unit_test(faults_are_named_at_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
