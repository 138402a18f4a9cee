// SPDX-License-Identifier: MIT
//
// Actuators on coordinates: efforts that follow laws and probes, and coordinates that follow laws.
// The efforts of the latter are tested against inverse dynamics and closed forms.
#include "dynamics/constraint.h"
#include "random_rod.h"
#include "row_rig.h"
#include "sanitized.h"
#include "setting.h"

#include <stdio.h>

// ---- efforts ------------------------------------------------------------------------------------

static const char chain_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  base: {on: world, joint: planar, body: {mass: 1, inertia: [0.1, 0.2, 0.3]}}\n"
    "  arm: {on: base, pose: {xyz: [0.1, 0, 0.1]}, joint: universal, damping: 0.1 N*m*s, rod: "
    "{length: 0.6, section: {circle: {radius: 20 mm}}, material: rubber, "
    "strain: {bend_y: legendre 2, stretch: legendre 1}}}\n"
    "  hand: {on: arm.tip, joint: spherical, stiffness: 0.3 N*m, "
    "body: {mass: 0.2, com: [0.02, 0.01, 0], inertia: [1e-3, 2e-3, 3e-3]}}\n"
    "  slide: {on: hand, joint: cylindrical, axis: x, body: {mass: 0.1, com: [0, 0.05, 0], "
    "inertia: [1e-3, 1e-3, 1e-3]}}\n"
    "  nut: {on: slide, pose: {xyz: [0, 0.1, 0]}, joint: screw, axis: [1, 2, 0], pitch: 40 cm, "
    "stiffness: 0.2 N*m, damping: 0.02 N*m*s, friction: 0.05 N*m, creep: 0.7 1/s, body: {mass: "
    "0.1, "
    "com: [0.03, 0, 0.05], inertia: [1e-3, 1e-3, 1e-3]}}\n"
    "actuators:\n"
    "  cart: {joint: base, effort: [\"-3 N/m*tip.x*speed.vy*1 s\", -2 N*s/m*speed.vx, "
    "\"1 N*m*sin(t)*bend.first\"]}\n"
    "  lift: {joint: arm, effort: [\"-1 N*m*bend.first - 0.2 N*m*s*turn.first\", "
    "\"2 N*m*limit(turn.second, -50, 50)*1 s\"]}\n"
    "  grip: {joint: hand, effort: [1 N*m*tip.y*1 1/m, \"0.3 N*m*integral(speed.vz)*1 1/m\", 0]}\n"
    "  shape: {rod: arm, effort: [0.1 N*m^2*curve.bend_y*1 m, 0, 3 N*m*curve.stretch*tip.z*1 "
    "1/m]}\n"
    "  turn: {joint: slide, effort: [\"0.1 N*m*cos(3*t)\", 0.2 N], when: tip.x > -100 m}\n"
    "probes:\n"
    "  tip: {position: hand}\n"
    "  speed: {velocity: slide}\n"
    "  bend: {value: lift}\n"
    "  turn: {rate: arm}\n"
    "  curve: {strain: arm@30%}\n";

static void random_chain(setting *s, dice *d) {
    setting_random(s, chain_text, d);
    for (int i = 0; i < s->g.m->nsignal; i++) s->g.s->z[i] = 1; // all conditions hold
}

static void efforts_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {31};
    for (int i = 0; i < 6; i++) {
        setting s;
        random_chain(&s, &d);
        s.g.in->integral_step = roll(&d, 0.1, 1);
        *s.g.in->signal_fraction = roll(&d, 0.5, 1);
        assert_true(s.g.m->nlive > 8);
        rig_check(&s.g);
        setting_close(&s);
    }
}

// An effort is a force conjugate to the rate of its coordinate, and nothing else: without it, the
// residual increases by the effort.
static void efforts_act_on_their_coordinates(void **state) {
    (void)state;
    dice d = {32};
    setting s;
    random_chain(&s, &d);
    const rig *g = &s.g;
    const snw_model *m = g->m;
    double r[32], want[32] = {0}, column[8];
    assert_true(m->nv < 32);
    snw_residual(m, g->in, g->s, false, g->w);
    for (int i = 0; i < m->nv; i++) r[i] = g->w->r[i];
    // the laws, summed by coordinate
    static const int link[] = {0, 1, 2, 1, 3}, count[] = {3, 2, 3, 3, 2};
    for (int k = 0; k < 5; k++) {
        const snw_motor *motor = &m->motor[k];
        assert_int_equal(motor->n, count[k]);
        assert_int_equal(s.desc->motor[k].link, link[k]);
        const snw_at at = {.t = g->in->t, .signal = g->w->signal};
        for (int i = 0; i < motor->n; i++) {
            column[i] = snw_expr_value(s.desc->motor[k].law[i], at);
            want[motor->dof + i] += column[i];
        }
    }
    snw_model without = *m;
    without.nmotor = 0;
    snw_inputs_at(&without, g->s->t, g->in);
    snw_residual(&without, g->in, g->s, false, g->w);
    for (int i = 0; i < m->nv; i++) assert_near(g->w->r[i] - r[i], want[i], 1e-12);
    setting_close(&s);
}

// ---- driven coordinates -------------------------------------------------------------------------

// Driven coordinates of joints, spherical joints, a rod and a variable-length rod.
static const char driven_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  base: {on: world, joint: planar, body: {mass: 1, inertia: [0.1, 0.2, 0.3]}}\n"
    "  arm: {on: base, pose: {xyz: [0.1, 0, 0.1]}, joint: universal, rod: {length: 0.6, section: "
    "{circle: {radius: 20 mm}}, material: rubber, strain: {bend_y: legendre 2, stretch: legendre "
    "1}}}\n"
    "  hand: {on: arm.tip, joint: spherical, body: {mass: 0.2, com: [0.02, 0.01, 0], inertia: "
    "[1e-3, 2e-3, 3e-3]}}\n"
    "  nut: {on: hand, pose: {xyz: [0, 0.1, 0]}, joint: screw, axis: [1, 2, 0], pitch: 40 cm, "
    "body: {mass: 0.1, com: [0.03, 0, 0.05], inertia: [1e-3, 1e-3, 1e-3]}}\n"
    "  eye: {on: nut, joint: spherical, body: {mass: 0.1, com: [0, 0.02, 0], inertia: [1e-3, "
    "2e-3, 2e-3]}}\n"
    "  needle: {on: eye, rod: {length: 0.3, section: {circle: {radius: 5 mm}}, material: rubber, "
    "strain: kirchhoff legendre 2}}\n"
    "actuators:\n"
    "  cart: {joint: base, position: [0.2*sin(3*t), free, 0.1*t^2]}\n"
    "  lift: {joint: arm, rate: [0.3*cos(t), 0.2*t]}\n"
    "  shape: {rod: arm, position: [0.4*t^2, free, 0.1*sin(t)]}\n"
    "  grip: {joint: hand, position: {axis: [1, 2, 2], angle: 0.3 + 0.4*sin(3*t)}}\n"
    "  look: {joint: eye, position: {rpy: [0.3*t^2, -0.2*t, 0.1 + 0.5*t^3]}}\n"
    "  wind: {joint: nut, position: 0.5*sin(2*t)}\n"
    "  push: {feed: needle, position: 0.25 m + 0.05 m*sin(4*t)}\n";

static void given_coordinates_are_rows(void **state) {
    (void)state;
    dice d = {34};
    snw_document *doc;
    snw_desc *desc;
    snw_error err;
    if (describe(driven_text, &doc, &desc, &err) != SNW_OK) fail_msg("%s", err.text);
    for (int k = 0; k < 4; k++) {
        rig g;
        rig_open(&g, desc);
        state_random(g.m, &d, g.s);
        g.s->q[g.m->rod[1].feed_q] = roll(&d, 0.2, 0.4);
        snw_inputs_at(g.m, g.s->t, g.in);
        // a driven spherical joint has the rows of a loop, including those that are always
        // satisfied
        assert_int_equal(g.m->nconstraint, 2 + 2 + 2 + 6 + 6 + 1 + 1);
        for (int i = 0; i < g.m->nconstraint; i++) g.s->lambda[i] = roll(&d, -3, 3);
        rig_check(&g);
        rows_check(&g);
        rig_close(&g);
    }
    release(doc, desc);
}

#ifndef SNW_NUMBERS // studies

// ---- driven motion ------------------------------------------------------------------------------

#define LAW   "0.4 + 0.7*sin(3*t)"
#define DLAW  (0.7 * 3 * cos(3 * t))
#define AT(t) (0.4 + 0.7 * sin(3 * (t)))

// m l^2 q'' + m g l cos q, with the angle from the horizontal.
static void a_driven_pendulum_takes_its_torque(void **state) {
    (void)state;
    setting s;
    setting_open(&s,
                 "sinew: 1\n"
                 "gravity: [0, -9.81, 0]\n"
                 "robot: {p: {on: world, joint: revolute, damping: 0.2 N*m*s, body: {mass: 1.3, "
                 "com: [0.8, 0, 0]}}}\n"
                 "actuators: {m: {joint: p, position: " LAW "}}\n");
    for (double t = 0; t < 2; t += 0.37) {
        put_together(&s.g, t);
        const double q = AT(t), ddq = -0.7 * 9 * sin(3 * t);
        assert_near(s.g.s->q[0], q, 1e-14);
        assert_near(s.g.s->v[0], DLAW, 1e-14);
        assert_near(s.g.s->a[0], ddq, 1e-13);
        assert_near(s.g.s->lambda[0], 1.3 * 0.64 * ddq + 0.2 * DLAW + 1.3 * 9.81 * 0.8 * cos(q),
                    1e-12);
    }
    setting_close(&s);
}

// The same motion prescribed by its rate, from its initial value.
static void a_rate_is_the_motion_it_makes(void **state) {
    (void)state;
    setting s;
    setting_open(&s,
                 "sinew: 1\n"
                 "gravity: [0, -9.81, 0]\n"
                 "robot: {p: {on: world, joint: revolute, body: {mass: 1.3, com: [0.8, 0, 0]}}}\n"
                 "initial: {p: 0.4 rad}\n"
                 "actuators: {m: {joint: p, rate: 2.1*cos(3*t)}}\n"
                 "study: [dynamic: {for: 2 s, step: 0.1 s}]\n");
    assert_near(s.g.m->v0[0], 2.1, 1e-15);
    for (double t = 0; t < 2; t += 0.37) {
        put_together(&s.g, t);
        const double q = AT(t), ddq = -0.7 * 9 * sin(3 * t);
        assert_near(s.g.s->q[0], q, 1e-13);
        assert_near(s.g.s->v[0], DLAW, 1e-14);
        assert_near(s.g.s->a[0], ddq, 1e-13);
        assert_near(s.g.s->lambda[0], 1.3 * 0.64 * ddq + 1.3 * 9.81 * 0.8 * cos(q), 1e-12);
    }
    setting_close(&s);
}

// A body on a spherical joint, turned about an axis a through its centre by the law th: with J
// about the centre and the weight at c, Euler's equations in body axes give the torque J a th'' +
// th'^2 a x J a - c x R' m g. Prescribed for the joint directly and, equivalently, by three
// rotations of which two are at rest; in statics, by implicit steps and by the reference.
static void a_driven_ball_takes_the_torque_of_euler(void **state) {
    (void)state;
    static const char *const law[] = {"{axis: [2, -1, 2], angle: 0.3 + 0.8*sin(2*t)}",
                                      "{rpy: [0.3 + 0.8*sin(2*t), 0, 0]}"};
    static const char *const study[] = {
        "static: {for: 0.5 s, step: 0.25 s}", "dynamic: {for: 0.5 s, step: 0.5 ms}",
        "dynamic: {for: 0.5 s, scheme: adaptive, tolerance: 1e-10}"};
    static const snw_vec3 axis[2] = {{{2.0 / 3, -1.0 / 3, 2.0 / 3}}, {{1, 0, 0}}};
    const snw_vec3 c = {{0.1, -0.2, 0.05}}, g = {{0, 0, -9.81}};
    const double mass = 0.7;
    for (int k = 0; k < 6; k++) {
        char text[1000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "robot:\n"
            "  b: {on: world, pose: {xyz: [0.1, 0.2, 0.3]}, joint: spherical, body: {mass: 0.7, "
            "com: [0.1, -0.2, 0.05], inertia: [0.02, 0.03, 0.04]}}\n"
            "actuators: {m: {joint: b, position: %s}}\n"
            "study: [%s]\n"
            "probes: {f: {effort: m}, w: {rate: m}, r: {value: m}}\n",
            law[k % 2], study[k / 2]);
        execute_ok(text, &o);
        assert_int_equal(o.warnings, 0);
        const bool is_static = k / 2 == 0;
        const double th = 0.3 + 0.8 * sin(1), w = is_static ? 0 : 1.6 * cos(1),
                     dw = is_static ? 0 : -3.2 * sin(1);
        const snw_vec3 a = axis[k % 2];
        const snw_mat3 R = snw_so3_exp(snw_scale(th, a));
        // about the centre of the spherical joint: J0 a + m (c.c a - c c.a)
        snw_vec3 Ja = {{0.02 * a.x, 0.03 * a.y, 0.04 * a.z}};
        Ja = snw_add(
            Ja, snw_scale(mass, snw_sub(snw_scale(snw_dot(c, c), a), snw_scale(snw_dot(c, a), c))));
        const snw_vec3 weight = snw_rotate_inv(R, snw_scale(mass, g));
        snw_vec3 want = snw_add(snw_scale(dw, Ja), snw_scale(w * w, snw_cross(a, Ja)));
        want = snw_sub(want, snw_cross(c, weight));
        for (int i = 0; i < 3; i++) {
            // implicit: accelerations are accurate to second order in a step of half a millisecond
            assert_near(last(&o, i), want.e[i], k / 2 == 1 ? 2e-6 : 1e-8);
            assert_near(last(&o, 3 + i), w * a.e[i], k / 2 == 1 ? 2e-6 : 1e-9);
            assert_near(last(&o, 6 + i), th * a.e[i], 1e-9);
        }
        snw_series_clear(&o.series);
    }
}

#define UNTIL AMONG("20 ms", "0.3 s")

// The integral of the power of an actuator is its work in the energy account. Motors with
// prescribed effort, position and rate, on a joint, a spherical joint and a rod, and a muscle; one
// of them at a time.
static void the_integral_of_power_is_work(void **state) {
    (void)state;
    static const char *const one[] = {
        "joint: arm, effort: [0.3*sin(4*t), \"-0.1*a.second - 0.02*sin(t)\"]",
        "joint: hand, effort: [0.01*cos(9*t), 0.02, -0.01*t]",
        "rod: arm, effort: [0.05*sin(5*t), 0.02, 0.5*t]",
        "stress: {along: arm, bend_y: 0.2*sin(7*t)*(1 + x), stretch: -2*t}",
        "tendon: {along: arm, at: [0, 0, 1 cm]}, effort: 0.5*t",
        "chamber: {along: arm, at: [0, 0, 1 cm], area: 1 cm^2}, effort: \"2e3*sin(5*t)\"",
        "joint: arm, position: [0.3*sin(4*t)^2, free]",
        "joint: arm, rate: [0.3*sin(4*t)^2, 0.2*t]",
        "rod: arm, position: [0.4*t^2, free, free]",
        "joint: hand, position: {axis: [1, 2, 2], angle: 0.4*sin(3*t)^2}",
        "joint: hand, position: {rpy: [0.3*t^2, -0.2*t^2, 0.5*t^3]}",
    };
    for (size_t k = 0; k < sizeof one / sizeof one[0]; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
            "robot:\n"
            "  arm: {on: world, joint: universal, damping: 0.1 N*m*s, rod: {length: 0.6, section: "
            "{circle: {radius: 20 mm}}, material: rubber, strain: {bend_y: legendre 2, stretch: "
            "legendre 1}}}\n"
            "  hand: {on: arm.tip, pose: {xyz: [0.01, 0, 0.02], rpy: [0.1, 0.2, 0.3]}, joint: "
            "spherical, body: {mass: 0.2, com: [0.02, 0.01, 0], inertia: [1e-3, 2e-3, 2.5e-3]}}\n"
            "actuators: {m: {%s}}\n"
            "study: [dynamic: {for: " UNTIL ", scheme: adaptive, tolerance: 1e-10}]\n"
            "record: {every: 2 ms}\n"
            "probes: {p: {power: m}, e: energy, a: {value: arm}}\n",
            one[k]);
        execute_ok(text, &o);
        // Simpson's rule on frames 2 ms apart: (h^4/180) of a fourth derivative of some 1e4
        const int n = o.series.nframe - 1;
        assert_int_equal(n, AMONG(10, 150));
        double work = 0, size = 0;
        for (int i = 0; i < n; i += 2) {
            const double a = shown(&o, i, 0), b = shown(&o, i + 1, 0), c = shown(&o, i + 2, 0);
            work += 4e-3 / 6 * (a + 4 * b + c);
            size += 4e-3 / 6 * (fabs(a) + 4 * fabs(b) + fabs(c));
        }
        if (AMONG(false, true)) { // long enough for measurable work
            assert_true(size > 1e-5);
            assert_near(work / size, last(&o, 5) / size, 1e-5);
            assert_near(last(&o, 7) / size, 0, 1e-6); // and the balance closes with it
        }
        snw_series_clear(&o.series);
    }
}

// The first angle is prescribed, the second free: Lagrange's equations in relative angles, written
// out.
static void a_driven_double_pendulum_follows_lagrange(void **state) {
    (void)state;
    const double m1 = 0.6, m2 = 0.9, l1 = 0.7, l2 = 0.5, grav = 9.81;
    setting s;
    setting_open(&s, "sinew: 1\n"
                     "gravity: [0, -9.81, 0]\n"
                     "robot:\n"
                     "  up: {on: world, joint: revolute, body: {mass: 0.6, com: [0.7, 0, 0]}}\n"
                     "  low: {on: up, pose: {xyz: [0.7, 0, 0]}, joint: revolute, body: {mass: 0.9, "
                     "com: [0.5, 0, 0]}}\n"
                     "actuators: {m: {joint: up, position: " LAW "}}\n");
    dice d = {33};
    for (int n = 0; n < 8; n++) {
        const double t = roll(&d, 0, 3);
        s.g.s->q[1] = roll(&d, -3, 3);
        s.g.s->v[1] = roll(&d, -3, 3);
        put_together(&s.g, t);
        const double q1 = AT(t), q2 = s.g.s->q[1], v1 = DLAW, v2 = s.g.s->v[1];
        const double a1 = -0.7 * 9 * sin(3 * t), k = m2 * l1 * l2, c = cos(q2), h = k * sin(q2);
        const double M12 = m2 * l2 * l2 + k * c, M22 = m2 * l2 * l2;
        const double M11 = (m1 + m2) * l1 * l1 + m2 * l2 * l2 + 2 * k * c;
        const double G2 = m2 * grav * l2 * cos(q1 + q2), G1 = (m1 + m2) * grav * l1 * cos(q1) + G2;
        const double a2 = -(M12 * a1 + h * v1 * v1 + G2) / M22;
        const double torque = M11 * a1 + M12 * a2 - h * (2 * v1 * v2 + v2 * v2) + G1;
        assert_near(s.g.s->a[1], a2, 1e-11 * (1 + fabs(a2)));
        assert_near(s.g.s->lambda[0], torque, 1e-12 * (1 + fabs(torque)));
    }
    setting_close(&s);
}

#define ROD_ROBOT                                                                                  \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"           \
    "robot: {arm: {on: world, rod: {length: 0.8, section: {circle: {radius: 20 mm}}, "             \
    "material: rubber, strain: {bend_y: legendre 2, bend_z: legendre 2, stretch: legendre 1}}}}\n"

// All strains of a rod are prescribed: the efforts are the residual of inverse dynamics of the rod
// without them.
static void a_driven_rod_takes_the_forces_of_inverse_dynamics(void **state) {
    (void)state;
    static const double size[5] = {1, 0.6, -0.8, 0.5, 0.1}, w[5] = {2, 3, 4, 5, 6};
    setting driven, bare;
    setting_open(&driven, ROD_ROBOT "actuators: {shape: {rod: arm, position: [sin(2*t), "
                                    "0.6*sin(3*t), -0.8*sin(4*t), 0.5*sin(5*t), 0.1*sin(6*t)]}}\n");
    setting_open(&bare, ROD_ROBOT);
    const int nv = driven.g.m->nv;
    assert_int_equal(nv, 5);
    assert_int_equal(driven.g.m->nconstraint, 5);
    for (double t = 0.1; t < 2; t += 0.43) {
        put_together(&driven.g, t);
        for (int i = 0; i < nv; i++) {
            bare.g.s->q[i] = size[i] * sin(w[i] * t);
            bare.g.s->v[i] = size[i] * w[i] * cos(w[i] * t);
            bare.g.s->a[i] = -size[i] * w[i] * w[i] * sin(w[i] * t);
        }
        snw_inputs_at(bare.g.m, t, bare.g.in);
        snw_residual(bare.g.m, bare.g.in, bare.g.s, false, bare.g.w);
        for (int i = 0; i < nv; i++) {
            const double r = bare.g.w->r[i];
            assert_near(driven.g.s->lambda[i], r, 1e-11 * (1 + fabs(r)));
        }
    }
    setting_close(&driven);
    setting_close(&bare);
}

// ---- with a loop --------------------------------------------------------------------------------

// One motor with prescribed motion, one with prescribed effort, a loop, a rate: all rows at once.
static const char closed_text[] =
    "sinew: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "materials: {rubber: {young: 3 MPa, poisson: 0.4, density: 1000, damping: 5 ms}}\n"
    "robot:\n"
    "  limb(k=1..2): {on: world, pose: {xyz: [0.3*(k - 1), 0, 0]}, joint: revolute, rod: {length: "
    "0.5, section: {circle: {radius: 15 mm}}, material: rubber, strain: {bend_z: legendre 3}}}\n"
    "  plate: {on: limb(1), body: {mass: 0.2, inertia: [5e-4, 5e-4, 1e-3]}}\n"
    "  wheel: {on: plate, joint: revolute, body: {mass: 0.1, com: [0.05, 0, 0]}}\n"
    "loops: {pin: {join: [plate, limb(2).tip], as: revolute}}\n"
    "actuators:\n"
    "  left: {joint: limb(1), position: 1.9 + 0.3*sin(2*t)}\n"
    "  right: {joint: limb(2), effort: \"0.2 N*m*cos(t) - 0.5 N*m*s*v\"}\n"
    "  spin: {joint: wheel, rate: 3 rad/s}\n"
    "initial: {limb(2): 1.2, wheel: 0.4}\n"
    "probes: {v: {rate: right}, e: {effort: left}}\n";

static double energy(const rig *g, const snw_state *s) {
    snw_kinematics(g->m, g->in, s, false, g->w);
    return snw_kinetic_energy(g->m, g->w) + snw_elastic_energy(g->m, s) +
           snw_gravity_energy(g->m, g->in, g->w);
}

static void rows_of_loops_and_drives_hold_together(void **state) {
    (void)state;
    setting s;
    setting_open(&s, closed_text);
    const rig *g = &s.g;
    const snw_model *m = g->m;
    double rate[8], bend[8], power[2];
    assert_int_equal(m->nconstraint, 4);
    for (double t = 0; t < 2; t += 0.31) {
        put_together(&s.g, t);
        assert_near(g->s->q[m->drive[1].q], 0.4 + 3 * t, 1e-13);
        assert_near(g->s->a[m->drive[1].dof], 0, 1e-12);
        snw_residual(m, g->in, g->s, false, g->w);
        snw_constraints_rates(m, g->in, g->s, g->w, rate, bend);
        for (int i = 0; i < m->nconstraint; i++) {
            assert_near(g->w->violation[i], 0, 1e-12);
            assert_near(rate[i], 0, 1e-12);
            assert_near(bend[i], 0, 1e-10);
        }
        for (int i = 0; i < m->nv; i++) assert_near(g->w->r[i], 0, 1e-10);
        // the power of efforts and drives is the rate of the energy plus the dissipated power
        snw_load_power(m, g->in, g->s, g->w, power);
        const double want = power[0] + power[1] - snw_dissipation(m, g->s->v);
        // the modes of the rods are fast: steps well below their periods
        const double h = 1e-4, weight[2] = {8.0 / 12, -1.0 / 12};
        double got = 0;
        for (int n = 0; n < 4; n++) {
            const double x = (n % 2 ? 1 : -1) * (1 + n / 2) * h;
            snw_state_copy(m, g->s, g->moved);
            for (int i = 0; i < m->nv; i++) {
                g->moved->q[i] += x * (g->s->v[i] + 0.5 * x * g->s->a[i]);
                g->moved->v[i] += x * g->s->a[i];
            }
            got += (n % 2 ? 1 : -1) * weight[n / 2] * energy(g, g->moved) / h;
        }
        assert_near(got, want, 1e-7 * (1 + fabs(want)));
        assert_true(fabs(power[0]) > 1e-6 && fabs(power[1]) > 1e-6);
    }
    setting_close(&s);
}

// Two inclined bars: each weight times its arm is the pin's force times its height. Reactions
// across the plane are not determined.
static void a_plane_loop_has_the_reactions_of_its_plane(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\n"
        "gravity: [0, -9.81, 0]\n"
        "robot:\n"
        "  bar(k=1..2): {on: world, pose: {xyz: [0.8*(k - 1), 0, 0]}, joint: revolute, body: "
        "{mass: 1, com: [0.25, 0, 0]}}\n"
        "sites: {tip(k=1..2): {on: bar(k), pose: {xyz: [0.5, 0, 0]}}}\n"
        "loops: {pin: {join: [tip(1), tip(2)], as: revolute}}\n"
        "initial: {bar(1): 36 deg, bar(2): 144 deg}\n"
        "study: [static]\n"
        "probes: {r: {reaction: pin}}\n",
        &o);
    static const double want[6] = {NAN, NAN, 0, 9.81 * 0.2 / 0.3, 0, NAN};
    for (int i = 0; i < 6; i++) {
        if (isnan(want[i])) assert_true(isnan(last(&o, i)));
        if (!isnan(want[i])) assert_near(last(&o, i), want[i], 1e-11);
    }
    snw_series_clear(&o.series);
}

// Three parallel cranks: one row is implied and dropped, and the row of the drive follows the
// remaining ones. The robot is a pendulum with J = 3 (0.01 + 0.25^2) + 0.5^2.
static void a_drive_moves_a_robot_with_a_redundant_row(void **state) {
    (void)state;
    static const char *const step[2] = {"step: 1 ms, rho: 0.5",
                                        "scheme: adaptive, tolerance: 1e-10"};
    for (int k = 0; k < 2; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "gravity: [0, -9.81, 0]\n"
            "robot:\n"
            "  crank(k=1..3): {on: world, pose: {xyz: [0.3*(k - 1), 0, 0]}, joint: revolute, body: "
            "{mass: 1, com: [0.25, 0, 0], inertia: [5e-3, 5e-3, 0.01]}}\n"
            "  bar: {on: crank(1), pose: {xyz: [0.5, 0, 0]}, joint: revolute, body: {mass: 1, com: "
            "[0.3, 0, 0], inertia: [5e-3, 5e-3, 0.01]}}\n"
            "sites:\n"
            "  end(k=2..3): {on: crank(k), pose: {xyz: [0.5, 0, 0]}}\n"
            "  hole(k=2..3): {on: bar, pose: {xyz: [0.3*(k - 1), 0, 0]}}\n"
            "loops: {pin(k=2..3): {join: [end(k), hole(k)], as: revolute}}\n"
            "actuators: {motor: {joint: crank(1), position: 1 + 0.3*sin(2*t)}}\n"
            "initial: {crank(2): 1, crank(3): 1, bar: -1}\n"
            "study: [dynamic: {for: 1 s, %s}]\n"
            "probes: {f: {effort: motor}, q: {angle: crank(3)}}\n",
            step[k]);
        execute_ok(text, &o);
        const double q = 1 + 0.3 * sin(2), a = -1.2 * sin(2);
        const double J = 3 * (0.01 + 0.0625) + 0.25;
        assert_near(last(&o, 1), q, 1e-10);
        assert_near(last(&o, 0), J * a + 9.81 * (3 * 0.25 + 0.5) * cos(q), k ? 1e-8 : 1e-5);
        snw_series_clear(&o.series);
    }
}

// A parallelogram driven at both cranks: the loop has rows that the drives imply. They are dropped
// with a warning, and since both cranks have the same rate the sum of the two efforts is that of a
// single motor.
static void motors_that_agree_share_their_effort(void **state) {
    (void)state;
    static const char *const more[2] = {"", ", second: {joint: right, position: 0.4 + 0.3*sin(t)}"};
    double effort[2];
    for (int k = 0; k < 2; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "gravity: [0, -9.81, 0]\n"
            "robot:\n"
            "  left: {on: world, joint: revolute, body: {mass: 1, com: [0, 0.5, 0]}}\n"
            "  right: {on: world, pose: {xyz: [1, 0, 0]}, joint: revolute, body: {mass: 2, com: "
            "[0.1, 0.5, 0]}}\n"
            "  bar: {on: left, pose: {xyz: [0, 1, 0]}, joint: revolute, body: {mass: 1, com: [0.3, "
            "0, 0]}}\n"
            "sites: {end: {on: bar, pose: {xyz: [1, 0, 0]}}, top: {on: right, pose: {xyz: [0, 1, "
            "0]}}}\n"
            "loops: {pin: {join: [end, top], as: revolute}}\n"
            "actuators: {first: {joint: left, position: 0.4 + 0.3*sin(t)}%s}\n"
            "initial: {%sbar: -0.4}\n"
            "study: [dynamic: {for: 1 s, scheme: adaptive, tolerance: 1e-10}]\n"
            "probes: {f: {effort: first}, b: {angle: bar}%s}\n",
            more[k], k ? "" : "right: 0.4, ", k ? ", g: {effort: second}" : "");
        execute_ok(text, &o);
        assert_int_equal(o.warnings, k);
        assert_near(last(&o, 1), -0.4 - 0.3 * sin(1), 1e-9);
        effort[k] = last(&o, 0) + (k ? last(&o, 2) : 0);
        snw_series_clear(&o.series);
    }
    assert_near(effort[1], effort[0], 1e-7); // accelerations at the integrator's tolerance
}

// The law of a motor violates the loop for a short time between the times that are checked
// beforehand.
static void a_loop_that_opens_is_reported(void **state) {
    (void)state;
    static const char *const more[2] = {"", " + 0.05*hat(t, 0.14, 0.24)"};
    for (int k = 0; k < 2; k++) {
        char text[800];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\n"
                       "robot:\n"
                       "  a: {on: world, joint: prismatic, axis: x, body: {mass: 1}}\n"
                       "  b: {on: world, joint: prismatic, axis: x, body: {mass: 1}}\n"
                       "loops: {tie: {join: [a, b], as: fixed}}\n"
                       "actuators: {one: {joint: a, position: 0.1*t^2}, two: {joint: b, position: "
                       "\"0.1*t^2%s\"}}\n"
                       "study: [dynamic: {for: 1 s, step: 10 ms}]\n",
                       more[k]);
        execute_ok(text, &o);
        // warnings: the dropped row; the corner of the hat, and the violation
        assert_int_equal(o.warnings, k ? 3 : 1);
        snw_series_clear(&o.series);
    }
}

// Drives and a loop that contradict each other, at the start or later.
static void drives_that_contradict_a_loop_are_reported(void **state) {
    (void)state;
    static const char *const law[2] = {"0.1", "0.2*t"};
    for (int k = 0; k < 2; k++) {
        char text[600];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\n"
                       "robot:\n"
                       "  a: {on: world, joint: prismatic, axis: x, body: {mass: 1}}\n"
                       "  b: {on: world, joint: prismatic, axis: x, body: {mass: 1}}\n"
                       "loops: {tie: {join: [a, b], as: fixed}}\n"
                       "actuators: {one: {joint: a, position: 0.1*t}, two: {joint: b, position: "
                       "%s}}\n",
                       law[k]);
        snw_document *doc;
        snw_desc *desc;
        snw_error err = {0};
        snw_model *m = NULL;
        assert_int_equal(describe(text, &doc, &desc, &err), SNW_OK);
        assert_int_equal(snw_projection_compile(desc, &m, &err), SNW_E_MODEL);
        assert_non_null(strstr(err.text, "loop 'tie'"));
        assert_non_null(strstr(err.text, "'one', 'two'"));
        assert_non_null(strstr(err.text, k ? "t = 0.125 s" : "t = 0 s"));
        assert_int_equal(err.line, 5);
        release(doc, desc);
    }
}

// ---- motion -------------------------------------------------------------------------------------

// A flexible limb turned by a motor, or by the prescribed pose of its root (`hand`), which uses
// different code: the torque of the motor is that of the reaction.
static void limb(bool motor, const char *step, outcome *o) {
    char text[2000];
    (void)snprintf(text, sizeof text,
                   "sinew: 1\ngravity: [0, -9.81, 0]\n"
                   "materials: {rubber: {young: 20 MPa, poisson: 0.4, density: 1000, damping: 20 "
                   "ms}}\n"
                   "parameters: {q: 0.2 + 0.5*sin(3*t)}\n"
                   "robot:\n"
                   "  limb: {on: world, %s, rod: {length: 0.5, section: {circle: {radius: 10 mm}}, "
                   "material: rubber, strain: {bend_z: legendre 3}}}\n"
                   "  bob: {on: limb.tip, joint: revolute, damping: 2e-3 N*m*s, "
                   "body: {mass: 0.1, com: [0.1, 0, 0]}}\n"
                   "%s"
                   "study: [dynamic: {for: 0.6 s, %s}]\n"
                   "record: {every: 0.1 s}\n"
                   "probes: {bob: {position: bob}, swing: {angle: bob}, %s, e: energy}\n",
                   motor ? "joint: revolute" : "pose: {axis: z, angle: q}",
                   motor ? "actuators: {m: {joint: limb, position: q}}\n" : "", step,
                   motor ? "torque: {effort: m}" : "force: {reaction: limb}");
    execute(text, o);
    if (o->status != SNW_OK) fail_msg("%s", o->err.text);
    assert_int_equal(o->warnings, 0);
}

// columns: x y z of the bob, its swing, then a torque, or mx my mz fx fy fz, then energies
enum { X, SWING = 3, TORQUE = 4, BALANCE = TORQUE + 7, HAND_TORQUE = 6 };

// Largest differences of position and torque after the start.
static void compare(const outcome *motor, const outcome *hand, double out[2]) {
    out[0] = out[1] = 0;
    assert_int_equal(motor->series.nframe, hand->series.nframe);
    for (int n = 1; n < motor->series.nframe; n++) {
        for (int k = X; k <= SWING; k++) {
            out[0] = fmax(out[0], fabs(shown(motor, n, k) - shown(hand, n, k)));
        }
        out[1] = fmax(out[1], fabs(shown(motor, n, TORQUE) - shown(hand, n, HAND_TORQUE)));
    }
}

static void a_motor_moves_as_a_prescribed_pose(void **state) {
    (void)state;
    static const char adaptive[] = "scheme: adaptive, tolerance: 1e-10";
    static const char *const steps[2] = {"step: 2 ms, rho: 0.8", "step: 1 ms, rho: 0.8"};
    outcome hand, motor;
    double d[2], error[2][2];
    limb(false, adaptive, &hand);
    limb(true, adaptive, &motor);
    compare(&motor, &hand, d);
    // tolerance of the integrator, and the resulting tolerance of accelerations
    assert_near(d[0], 0, 1e-8);
    assert_near(d[1], 0, 1e-6);
    assert_near(last(&motor, BALANCE), 0, 1e-9);
    // second order in the position and in the effort
    for (int k = 0; k < 2; k++) {
        outcome o;
        limb(true, steps[k], &o);
        compare(&o, &hand, error[k]);
        assert_near(last(&o, BALANCE), 0, 1e-6); // of the fourth order in the step
        snw_series_clear(&o.series);
    }
    for (int i = 0; i < 2; i++) assert_near(log2(error[0][i] / error[1][i]), 2, 0.1);
    snw_series_clear(&hand.series);
    snw_series_clear(&motor.series);
}

// At rest until the motor gives the upper arm a velocity at once: free coordinates keep their
// momentum, so that M21 dv1 + M22 dv2 = 0, and the work of the motor is the kinetic energy.
static void an_impact_conserves_the_momentum_of_free_motions(void **state) {
    (void)state;
    static const char *const schemes[] = {"step: 10 ms", "scheme: adaptive, tolerance: 1e-9"};
    for (int k = 0; k < 2; k++) {
        char text[1000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\n"
                       "robot:\n"
                       "  up: {on: world, joint: revolute, body: {mass: 0.6, com: [0.7, 0, 0]}}\n"
                       "  low: {on: up, pose: {xyz: [0.7, 0, 0]}, joint: revolute, body: {mass: "
                       "0.9, com: [0.5, 0, 0]}}\n"
                       "initial: {low: 1 rad}\n"
                       "actuators: {m: {joint: up, position: \"0.3*max(t - 0.1, 0)\"}}\n"
                       "study: [dynamic: {for: 0.2 s, %s}]\n"
                       "record: {every: 0.1 s}\n"
                       "probes: {v: {rate: low}, u: {rate: m}, e: energy}\n",
                       schemes[k]);
        execute_ok(text, &o);
        assert_int_equal(o.warnings, 1);
        const double M22 = 0.9 * 0.25, c = 0.9 * 0.35 * cos(1), M12 = M22 + c;
        const double M11 = 1.5 * 0.49 + M22 + 2 * c, v1 = 0.3, v2 = -M12 / M22 * v1;
        const double kinetic = 0.5 * (M11 * v1 * v1 + 2 * M12 * v1 * v2 + M22 * v2 * v2);
        assert_near(shown(&o, 1, 0), v2, 1e-9);
        assert_near(shown(&o, 1, 1), v1, 1e-9);
        assert_near(shown(&o, 1, 2), kinetic, 1e-9);
        assert_near(shown(&o, 1, 6), kinetic, 1e-9); // work
        assert_near(last(&o, 8), 0, 1e-8);           // balance
        snw_series_clear(&o.series);
    }
}

// ---- studies ------------------------------------------------------------------------------------

#define SPRING                                                                                     \
    "sinew: 1\ngravity: 0\n"                                                                       \
    "robot: {p: {on: world, joint: revolute, stiffness: 2 N*m, body: {mass: 1}}, "                 \
    "u: {on: p, joint: universal, stiffness: 3 N*m, body: {mass: 1}}}\n"

// Torques of springs along a path; drives are deactivated and activated by changes.
static void drives_are_switched_by_changes(void **state) {
    (void)state;
    outcome o;
    execute_ok(SPRING
               "actuators: {m: {joint: p, position: 0.1 + 0.2*t}, two: {joint: u, position: "
               "[free, 0.5], when: off}, push: {joint: u, effort: [0.6 N*m, 0]}}\n"
               "study: [static: {name: path, for: 1 s, step: 0.5 s}, change: {m: off, two: on}, "
               "static: {name: loose}, change: {m: on, push: off}, static, static: {from: path}]\n"
               "probes: {e: {effort: m}, q: {value: m}, f: {effort: two}, g: {effort: push}, "
               "u: {value: u}}\n",
               &o);
    //                       e    q    f1 f2   g1   g2 u1   u2
    const double want[6][8] = {{0.2, 0.1, 0, 0, 0.6, 0, 0.2, 0}, {0.4, 0.2, 0, 0, 0.6, 0, 0.2, 0},
                               {0.6, 0.3, 0, 0, 0.6, 0, 0.2, 0}, {0, 0, 0, 1.5, 0.6, 0, 0.2, 0.5},
                               {0.6, 0.3, 0, 1.5, 0, 0, 0, 0.5}, {0.6, 0.3, 0, 1.5, 0, 0, 0, 0.5}};
    assert_int_equal(o.series.nframe, 6);
    for (int n = 0; n < 6; n++) {
        for (int k = 0; k < 8; k++) assert_near(shown(&o, n, k), want[n][k], 1e-12);
    }
    snw_series_clear(&o.series);
}

// The branches of equilibria of examples/parallel/rfrfr_branches.yaml end, references.md G7.8:
// upright between 1 and 0.75 degrees, sagging at about 10.2.
static void branches_of_equilibria_end(void **state) {
    (void)state;
    static const char *const law[] = {"30 deg - 30 deg*t/(1 s)", "12 deg*t/(1 s)"};
    static const char *const bent[] = {"0", "-0.7 1/m"};
    static const double low[] = {0.75, 10.0}, high[] = {1, 10.25};
    for (int k = 0; k < 2; k++) {
        char text[1500];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: [0, -9.81, 0]\n"
            "materials: {composite: {young: 36 GPa, poisson: 0.3, density: 1900 kg/m^3}}\n"
            "parameters: {q: \"%s\"}\n"
            "robot:\n"
            "  limb(k=1..2): {on: world, joint: revolute, rod: {length: 0.47 m, section: "
            "{rectangle: {y: 2.5 mm, z: 10 mm}}, material: composite, strain: {bend_z: legendre "
            "3}, nodes: 16}}\n"
            "  plate: {on: limb(1), body: {mass: 0.2 kg}}\n"
            "loops: {tip: {join: [limb(2).tip, plate], as: revolute}}\n"
            "actuators: {motor(k=1..2): {joint: limb(k), position: -(-1)^k*q}}\n"
            "initial: {limb(k=1..2): {strain: {bend_z: %s}}}\n"
            "study: [static: {for: 1 s, step: 2 ms, branch: follow}]\n"
            "probes: {turned: {angle: motor(1)}}\n",
            law[k], bent[k]);
        execute(text, &o);
        assert_int_equal(o.status, SNW_E_DIVERGED);
        const double angle = last(&o, 0) * 180 / M_PI;
        if (!(angle > low[k] && angle < high[k])) fail_msg("branch %d ends at %g deg", k, angle);
        snw_series_clear(&o.series);
    }
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(efforts_have_exact_derivatives),
#ifndef SNW_WIDE
        cmocka_unit_test(efforts_act_on_their_coordinates),
#endif
        cmocka_unit_test(given_coordinates_are_rows),
#ifndef SNW_NUMBERS
        cmocka_unit_test(a_driven_pendulum_takes_its_torque),
        cmocka_unit_test(a_rate_is_the_motion_it_makes),
        cmocka_unit_test(a_driven_ball_takes_the_torque_of_euler),
        cmocka_unit_test(the_integral_of_power_is_work),
        cmocka_unit_test(a_driven_double_pendulum_follows_lagrange),
        cmocka_unit_test(a_driven_rod_takes_the_forces_of_inverse_dynamics),
        cmocka_unit_test(rows_of_loops_and_drives_hold_together),
        cmocka_unit_test(a_plane_loop_has_the_reactions_of_its_plane),
        cmocka_unit_test(a_drive_moves_a_robot_with_a_redundant_row),
        cmocka_unit_test(motors_that_agree_share_their_effort),
        cmocka_unit_test(a_loop_that_opens_is_reported),
        cmocka_unit_test(drives_that_contradict_a_loop_are_reported),
        cmocka_unit_test(a_motor_moves_as_a_prescribed_pose),
        cmocka_unit_test(an_impact_conserves_the_momentum_of_free_motions),
        cmocka_unit_test(drives_are_switched_by_changes),
        cmocka_unit_test(branches_of_equilibria_end),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
