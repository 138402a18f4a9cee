// SPDX-License-Identifier: MIT
//
// A model file is read into the description that it states.
#include "described.h"
#include "language/language.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A description that must be read without error, with its document.
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
    "  muscle: {stress: {along: arm, bend_y: 0.1 N*m*sin(x), twist: 2 N*m}, when: on}\n"
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
    assert_int_equal(arm->location.line, 11);
    assert_int_equal(arm->location.column, 3);
    assert_string_equal(arm->location.file, "m.yaml");

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
    assert_int_equal(cubic->nfun, snw_basis_size(SNW_BASIS_CUBIC, 0, 3));

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
    assert_near(value(d->stress[0].stress[SNW_TWIST], 0, 0, 0), 2, 0);
    assert_null(d->stress[0].stress[SNW_STRETCH]);

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

#define ARM                                                                                        \
    "sinew: 1\ngravity: 0\nparameters: {C0: 4 N*m, C: 2 N*m, E: 1 MPa, f: [1 N, 2 N, 3 N]}\n"      \
    "materials: {rubber: {young: E, poisson: 0.5, density: 1000}}\n"                               \
    "robot:\n"                                                                                     \
    "  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 1 mm}}, material: rubber, "  \
    "strain: {bend_y: legendre 3}}}\n"                                                             \
    "  ball: {on: arm.tip, body: {mass: 1 g}}\n"                                                   \
    "loads:\n"                                                                                     \
    "  twist: {on: arm.tip, torque: [0, C, 0], when: \"mod(t, 2 s) < 1 s\"}\n"                     \
    "  push(k=1..2): {on: ball, force: f}\n"                                                       \
    "probes: {tip: {position: arm.tip}}\n"

static void motion_is_read(void **state) {
    (void)state;
    const model m =
        good(ARM "study:\n"
                 "  - dynamic: {for: 1 s, step: 5 ms}\n"
                 "  - dynamic: {name: fall, from: dynamic, for: 2 s, step: 1 ms, "
                 "until: t > 1.5 s, scheme: hht, rho: 0.5, tolerance: 1e-8, "
                 "base: split, start: rest}\n"
                 "  - dynamic: {for: 1 s, adapt: on, scheme: bdf-alpha}\n"
                 "  - dynamic: {for: 1 s, adapt: true, step: 0.1 s, alpha: -0.4, "
                 "scheme: bdf-alpha, tolerance: 1e-3}\n"
                 "  - dynamic: {for: 1 s, scheme: adaptive}\n"
                 "  - dynamic: {for: 1 s, scheme: stiff, step: 0.1 s, tolerance: 1e-9}\n"
                 "  - dynamic: {for: 1 s, scheme: rk4, step: 1 ms}\n"
                 "  - dynamic: {for: 1 s, scheme: conserving, step: 1 ms, adapt: off, "
                 "base: se3, start: consistent}\n"
                 "record: {every: 10 ms}\n"
                 "expect:\n"
                 "  - {probe: tip.z, over: [0.2 s, 1 s], is: period, value: 1 s, "
                 "within: 1}\n"
                 "  - {probe: tip.z, at: 8.9 s, value: 1, within: 1}\n");
    const snw_step_desc *s = m.desc->step;
    assert_int_equal(m.desc->nstep, 8);
    assert_near(m.desc->record_every, 0.01, 1e-15);
    assert_string_equal(s[0].name, "dynamic");
    assert_int_equal(s[0].kind, SNW_STEP_DYNAMIC);
    assert_int_equal(s[0].scheme, SNW_SCHEME_GENERALIZED_ALPHA);
    assert_near(s[0].duration, 1, 0);
    assert_near(s[0].step, 5e-3, 1e-15);
    assert_near(s[0].rho, 0.9, 0);
    assert_near(s[0].tolerance, 0, 0);
    assert_int_equal(s[0].from, -1);
    assert_true(!s[0].until && !s[0].control && !s[0].split && !s[0].uniform_past);

    assert_string_equal(s[1].name, "fall");
    assert_int_equal(s[1].from, 0);
    assert_int_equal(s[1].scheme, SNW_SCHEME_HHT);
    assert_near(s[1].rho, 0.5, 0);
    assert_near(s[1].tolerance, 1e-8, 0);
    assert_true(s[1].split && s[1].uniform_past);
    assert_near(value(s[1].until, 1.4, 0, 0), 0, 0);
    assert_near(value(s[1].until, 1.6, 0, 0), 1, 0);

    assert_string_equal(s[2].name, "dynamic.2");
    assert_true(s[2].control);
    assert_near(s[2].alpha, -0.2, 0);
    assert_near(s[2].step, 0, 0);
    assert_near(s[2].tolerance, 1e-6, 0);
    assert_true(s[3].control);
    assert_near(s[3].alpha, -0.4, 0);
    assert_near(s[3].step, 0.1, 0);
    assert_near(s[3].tolerance, 1e-3, 0);
    assert_int_equal(s[4].scheme, SNW_SCHEME_ADAPTIVE);
    assert_near(s[4].step, 0, 0);
    assert_near(s[4].tolerance, 1e-6, 0);
    assert_int_equal(s[5].scheme, SNW_SCHEME_STIFF);
    assert_near(s[5].step, 0.1, 0);
    assert_near(s[5].tolerance, 1e-9, 0);
    assert_int_equal(s[6].scheme, SNW_SCHEME_RK4);
    assert_int_equal(s[7].scheme, SNW_SCHEME_CONSERVING);
    assert_false(s[7].control);
    release(m.doc, m.desc);
}

static void every_scheme_is_read(void **state) {
    (void)state;
    for (int i = 0; i < SNW_SCHEME_COUNT; i++) {
        const snw_scheme_info *row = &snw_scheme_table[i];
        char text[2048];
        (void)snprintf(text, sizeof text,
                       ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: %s%s}]\n", row->name,
                       row->works & SNW_SCHEME_ON_STRAIN ? "" : ", engine: shooting");
        const model m = good(text);
        assert_int_equal(m.desc->step[0].scheme, i);
        assert_int_equal(snw_scheme_find(row->name), i);
        release(m.doc, m.desc);
    }
}

static void changes_add_up_and_leave_the_rest(void **state) {
    (void)state;
    const model m =
        good(ARM "study:\n"
                 "  - static: {name: rolled}\n"
                 "  - change: {twist: off}\n"
                 "  - dynamic: {for: 1 s, step: 5 ms}\n"
                 "  - change:\n"
                 "      name: heavier\n"
                 "      E: 2 MPa\n"
                 "      C: 3*E*1 cm^3\n"
                 "      f(2): 7 N\n"
                 "      push(k=1..2).torque: [k*1 N*m, 0, 0]\n"
                 "      gravity: [0, 0, -9.81]\n"
                 "      arm.pose: {xyz: [t, 0, 0]}\n"
                 "      arm.rod.section.circle.radius: 2 mm\n"
                 "      ball: off\n"
                 "  - dynamic: {for: 1 s, step: 5 ms}\n"
                 "  - change: {twist: on, arm.rod.rest: {bend_y: 1 1/m}, push(1).force: f}\n"
                 "  - static: {from: rolled}\n"
                 "expect: [{probe: tip.x, at: 2 s, value: 1, within: 1}]\n");
    const snw_desc *d = m.desc;
    assert_int_equal(d->nstep, 7);
    assert_string_equal(d->step[1].name, "change");
    assert_string_equal(d->step[3].name, "heavier");
    assert_string_equal(d->step[5].name, "change.2");
    assert_string_equal(d->step[5].paths, "twist, arm.rod.rest, push(1).force");
    assert_null(d->step[0].changed);
    assert_null(d->step[2].changed);
    assert_int_equal(d->step[3].location.line, 16);

    // before the first change
    assert_near(value(d->load[0].when, 0.5, 0, 0), 1, 0);
    assert_near(value(d->load[0].torque[1], 0, 0, 0), 2, 0);
    assert_near(value(d->gravity[2], 0, 0, 0), 0, 0);

    const snw_desc *a = d->step[1].changed, *b = d->step[3].changed, *c = d->step[5].changed;
    const snw_desc *const each[] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        assert_non_null(each[i]);
        assert_ptr_equal(each[i]->pool, d->pool);
        assert_int_equal(each[i]->nlink, 2);
        assert_int_equal(each[i]->nload, 3);
        assert_int_equal(each[i]->nprobe, 1);
        assert_int_equal(each[i]->nstep, 7);
        assert_ptr_equal(each[i]->step, d->step);
        assert_int_equal(each[i]->nrecord, d->nrecord);
    }
    assert_near(value(a->load[0].when, 0.5, 0, 0), 0, 0);
    assert_near(value(a->load[0].torque[1], 0, 0, 0), 2, 0);
    assert_near(value(a->link[0].rod.material->young, 0, 0, 0), 1e6, 0);

    // parameters may use each other, items of lists are changed one by one, a path may name several
    // values
    assert_near(value(b->load[0].when, 0.5, 0, 0), 0, 0);
    assert_near(value(b->link[0].rod.material->young, 0, 0, 0), 2e6, 0);
    assert_near(value(b->load[0].torque[1], 0, 0, 0), 6, 1e-12);
    assert_near(value(b->load[1].force[1], 0, 0, 0), 7, 0);
    assert_near(value(b->load[2].torque[0], 0, 0, 0), 2, 0);
    assert_near(value(b->gravity[2], 0, 0, 0), -9.81, 0);
    assert_near(value(b->link[0].pose.xyz[0], 3, 0, 0), 3, 0);
    assert_near(value(b->link[0].rod.section.size[0], 0, 0, 0), 2e-3, 1e-18);
    assert_near(value(b->link[1].when, 0, 0, 0), 0, 0);

    // the last change of a value applies, the other changes stay in effect
    assert_near(value(c->load[0].when, 0.5, 0, 0), 1, 0);
    assert_near(value(c->load[0].when, 1.5, 0, 0), 1, 0);
    assert_near(value(c->load[0].torque[1], 0, 0, 0), 6, 1e-12);
    assert_near(value(c->load[1].force[1], 0, 0, 0), 7, 0);
    assert_near(value(c->link[0].rod.rest[SNW_BEND_Y], 0, 0, 1), 1, 0);
    assert_null(b->link[0].rod.rest[SNW_BEND_Y]);
    release(m.doc, m.desc);
}

static void too_many_changes_are_refused(void **state) {
    (void)state;
    enum { ROOM = 20000 };
    char *const text = malloc(ROOM);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, ROOM, "%s", ARM "study:\n");
    for (int i = 0; i < 201; i++) {
        used += (size_t)snprintf(text + used, ROOM - used, "  - change: {C: %d N*m}\n", i);
    }
    snw_document *doc;
    snw_desc *desc;
    snw_error err;
    assert_int_equal(describe(text, &doc, &desc, &err), SNW_E_PARSE);
    assert_non_null(strstr(err.text, "more than 200 changes"));
    assert_int_equal(err.line, 213);
    release(doc, desc);
    free(text);
}

// overrides of `runs:` and of the command line are applied before changes, also to values that a
// change contains
static void changes_have_priority_over_runs(void **state) {
    (void)state;
    static const char text[] =
        ARM "study: [static, change: {C: 2*C0}, dynamic: {for: 1 s, step: 1 ms}]\n"
            "runs: {more: {C: 5 N*m, E: 3 MPa}, other: {change.C: 9 N*m, change.twist.when: off},\n"
            "       none: {study: [static]}}\n";
    const char *const set[] = {"rubber.density=5"};
    snw_document *doc;
    snw_error err = {0};
    assert_int_equal(snw_document_parse("m.yaml", text, strlen(text), 1, set, &doc, &err), SNW_OK);
    snw_desc *more, *other, *none;
    assert_int_equal(snw_document_describe(doc, 0, &more, &err), SNW_OK);
    assert_int_equal(snw_document_describe(doc, 1, &other, &err), SNW_OK);
    assert_int_equal(snw_document_describe(doc, 2, &none, &err), SNW_OK);
    const snw_desc *changed = more->step[1].changed;
    assert_near(value(more->load[0].torque[1], 0, 0, 0), 5, 0);
    assert_near(value(changed->load[0].torque[1], 0, 0, 0), 8, 0);
    assert_near(value(changed->link[0].rod.material->young, 0, 0, 0), 3e6, 0);
    assert_near(value(changed->link[0].rod.material->density, 0, 0, 0), 5, 0);
    changed = other->step[1].changed;
    assert_near(value(other->load[0].when, 0.5, 0, 0), 1, 0);
    assert_near(value(changed->load[0].when, 0.5, 0, 0), 0, 0);
    assert_near(value(changed->load[0].torque[1], 0, 0, 0), 9, 0);
    assert_int_equal(none->nstep, 1);
    snw_desc_destroy(more);
    snw_desc_destroy(other);
    snw_desc_destroy(none);
    snw_document_destroy(doc);
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
    assert_int_equal(n, 7); // all but the one of run `load`
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
    assert_int_equal(e[4].ncolumn, 8); // one number for all columns over an interval of time
    assert_int_equal(e[4].is, SNW_EXPECT_SIZE);
    assert_true(isinf(e[4].t0) && isinf(e[4].t1));
    assert_string_equal(e[5].column[0], "all@3.my");
    assert_int_equal(e[5].how, SNW_EXPECT_ABOVE);
    assert_near(e[5].value[0], 3e-3, 1e-15);
    assert_string_equal(e[6].column[0], "s");

    // another run has the expectation for all runs that `each` made, and its own parameter
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

// R of the link's pose, as in the file
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
        "x: z", // the rotation of smallest angle
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
            for (int j = 0; j < k; j++) {
                assert_string_not_equal(key->name, tables[i]->key[j].name);
            }
        }
    }
}

static void modes_and_their_probe_are_read(void **state) {
    (void)state;
    const model m = good(ROD("section: {stiffness: {bend_z: 1}}, strain: {bend_z: legendre 3}") //
                         "study: [static, modes, modes: {name: few, count: 3, from: static}]\n"
                         "probes: {f: frequency}\n"
                         "expect: [{probe: f, after: few, value: [1, 2, 3 1/s], within: 1}]\n");
    const snw_step_desc *s = m.desc->step;
    assert_int_equal(m.desc->nstep, 3);
    assert_int_equal(s[1].kind, SNW_STEP_MODES);
    assert_string_equal(s[1].name, "modes");
    assert_int_equal(s[1].count, 6);
    assert_string_equal(s[2].name, "few");
    assert_int_equal(s[2].count, 3);
    assert_int_equal(s[2].from, 0);
    assert_int_equal(m.desc->probe[0].kind, SNW_PROBE_FREQUENCY);
    assert_int_equal(snw_probe_columns(&m.desc->probe[0]), SNW_PROBE_FREQUENCIES);
    int first, count;
    snw_probe_primary(SNW_PROBE_FREQUENCY, SNW_JOINT_FIXED, 3, &first, &count);
    assert_int_equal(first, 0);
    assert_int_equal(count, 3); // as many as are expected
    release(m.doc, m.desc);
}

static void quantities_have_their_names(void **state) {
    (void)state;
    for (int k = 0; k < SNW_PROBE_COUNT; k++) {
        const snw_probe_kind kind = (snw_probe_kind)k;
        int from, size;
        snw_component c[SNW_PROBE_WIDTH];
        const int n = snw_probe_components(kind, SNW_JOINT_REVOLUTE, c);
        snw_probe_primary(kind, SNW_JOINT_REVOLUTE, 0, &from, &size);
        assert_true(n > 0 && size > 0 && from + size <= n);
        // the reader relies on it
        assert_string_equal(snw_keys_probe.key[k].name, snw_probe_name(kind));
    }
    int first, count;
    snw_probe_primary(SNW_PROBE_ROTATION, SNW_JOINT_FIXED, 9, &first, &count);
    assert_int_equal(count, 9);
    snw_component rotation[SNW_PROBE_WIDTH];
    assert_int_equal(snw_probe_components(SNW_PROBE_ROTATION, SNW_JOINT_FIXED, rotation), 16);
    assert_string_equal(rotation[first].name, "xx");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robot_is_read),
        cmocka_unit_test(pose_is_read),
        cmocka_unit_test(rod_is_read),
        cmocka_unit_test(loads_and_start_are_read),
        cmocka_unit_test(probes_and_study_are_read),
        cmocka_unit_test(modes_and_their_probe_are_read),
        cmocka_unit_test(motion_is_read),
        cmocka_unit_test(every_scheme_is_read),
        cmocka_unit_test(changes_add_up_and_leave_the_rest),
        cmocka_unit_test(changes_have_priority_over_runs),
        cmocka_unit_test(too_many_changes_are_refused),
        cmocka_unit_test(expectations_are_read),
        cmocka_unit_test(sections_are_read),
        cmocka_unit_test(stiffness_is_read_in_every_form),
        cmocka_unit_test(ways_to_turn_agree),
        cmocka_unit_test(sites_are_found),
        cmocka_unit_test(repetitions_make_chains),
        cmocka_unit_test(defaults_stand),
        cmocka_unit_test(tables_have_all_keys_of_all_maps),
        cmocka_unit_test(quantities_have_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
