// SPDX-License-Identifier: MIT
//
// Contact with the ground: derivatives of its forces against differences, rest, sliding, rolling
// and bouncing against closed forms, the energy account.
#include "dynamics/constraint.h"
#include "dynamics/contact.h"
#include "random_tree.h"
#include "robot_texts.h"
#include "setting.h"

#include <stdio.h>

enum { DISSIPATED = 3, WORK = 4, SCHEME = 5, BALANCE = 6 }; // columns of an energy probe

// ---- derivatives --------------------------------------------------------------------------------

// Contacts of every kind, on a tilted ground. Differences need forces that are smooth over their
// steps: either all contact points are in the smooth onset of the force, or all are deep.
static const char robot_text[] = SOFT_TREE
    "  ball: {on: side.tip, joint: universal, body: {sphere: {radius: 40 mm}, density: 700, com: "
    "[0.1, 0, 0.02]}}\n"
    "  drum: {on: lower.tip, joint: revolute, body: {cylinder: {radius: 50 mm, length: 80 mm, "
    "axis: [1, 2, 2]}, density: 500, com: [0, 0.03, 0]}}\n"
    "  foot: {on: drum, joint: prismatic, body: {mass: 1}}\n"
    "contacts:\n"
    "  floor: {ground: {on: [upper, lower, side], normal: [0.3, -0.2, 0.9], at: [0, 0.1, %s], "
    "stiffness: 3 kPa, ends: 40, damping: %s, friction: {along: 0.2, across: 0.9}, creep: 0.7, "
    "smooth: %s}}\n"
    "  bodies: {ground: {on: [base, ball, drum], normal: [0.3, -0.2, 0.9], at: [0, 0.1, %s], "
    "stiffness: 300, damping: %s, friction: 0.6, creep: 0.7, smooth: %s}}\n"
    "  toes: {ground: {on: foot, normal: x, at: [%s, 0, 0], stiffness: 200, friction: 0.5, "
    "creep: 0.5, smooth: 8, points: [[0.1, 0, 0], [0, 0.1, 0.05]]}}\n";

typedef struct place {
    const char *height, *damping, *smooth;
} place;

static const place places[] = {
    {"0", "0.05", "8 m"},  // all in the onset of the force
    {"9", "0.05", "1 mm"}, // all deep
    {"0", "0", "8 m"},
};

static void robot_open(setting *s, place p) {
    char text[4000];
    (void)snprintf(text, sizeof text, robot_text, p.height, p.damping, p.smooth, p.height,
                   p.damping, p.smooth, p.height);
    setting_open(s, text);
}

// every contact point is in contact
static void all_touch(const rig *g) {
    snw_residual(g->m, g->in, g->s, false, g->w);
    assert_true(g->m->ncontact_point > 40);
    for (int k = 0; k < g->m->ncontact_point; k++)
        assert_true(g->w->contact_point[k].elastic_force > 0);
}

static void the_ground_has_exact_derivatives(void **state) {
    (void)state;
    dice d = {91};
    for (int k = 0; k < 6; k++) {
        setting s;
        robot_open(&s, places[k % 3]);
        state_random(s.g.m, &d, s.g.s);
        snw_inputs_at(s.g.m, s.g.s->t, s.g.in);
        all_touch(&s.g);
        rig_check(&s.g);
        setting_close(&s);
    }
}

// slipping wheels of all kinds, on bodies, sections and tips of a tumbling robot
static void slipping_wheels_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {95};
    char text[4000];
    (void)snprintf(text, sizeof text,
                   SOFT_TREE
                   "sites: {heel: {on: base, pose: {xyz: [0.1, 0, -0.1], rpy: [0.3, 0.2, 0.1]}}}\n"
                   "contacts:\n"
                   "  blade: {wheel: {on: heel, axis: y, lateral: 3}}\n"
                   "  dolly: {wheel: {on: upper@40%%, axis: [1, 2, 0], lateral: 2, rolling: 0.7}}\n"
                   "  drum: {wheel: {on: lower.tip, axis: [0, 1, 1], radius: 0.2, lateral: 1.3, "
                   "rolling: 2.2, normal: [0.3, -0.2, 0.9]}}\n"
                   "  castor: {wheel: {on: side.tip, axis: y, radius: 0.1, lateral: 0, rolling: "
                   "4}}\n");
    for (int k = 0; k < 4; k++) {
        setting s;
        setting_random(&s, text, &d);
        snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
        assert_int_equal(s.g.m->ncontact_point, 4);
        assert_int_equal(s.g.m->nconstraint, 0);
        for (int i = 0; i < 4; i++) assert_true(snw_norm(s.g.w->contact_point[i].f) > 0.01);
        rig_check(&s.g);
        // the power of their forces is the dissipated power
        double sum = 0;
        for (int i = 0; i < 4; i++) {
            sum += snw_power(snw_loop_wrench(s.g.m, s.g.w, i, s.g.s->lambda),
                             s.g.w->V[s.g.m->loop[i].b]);
        }
        assert_near(sum, -snw_contact_heat(s.g.m, s.g.w), 1e-12 * (1 - sum));
        assert_true(sum < 0);
        setting_close(&s);
    }
}

// Separation so fast that damping would pull: in the transition 1 - damping g' is below one half.
static void smoothly_vanishing_damping_has_exact_derivatives(void **state) {
    (void)state;
    dice d = {92};
    setting s;
    robot_open(&s, (place){"0", "0.1", "8 m"});
    const snw_model *m = s.g.m;
    for (int i = 0; i < m->nv; i++) s.g.s->v[i] = roll(&d, -0.1, 0.1);
    const double speed[6] = {0.1, -0.1, 0.1, 3, -2, 9};
    for (int i = 0; i < 6; i++) s.g.s->v[i] = speed[i];
    snw_inputs_at(m, 0, s.g.in);
    all_touch(&s.g);
    for (int k = 0; k < m->ncontact_point; k++) {
        if (m->desc->contact[m->contact_point[k].contact].damping == 0) continue;
        const double lost = 0.1 * s.g.w->contact_point[k].rate;
        assert_true(lost > 0.55 && lost < 1.45);
    }
    rig_check(&s.g);
    setting_close(&s);
}

static void statics_have_an_exact_symmetric_stiffness(void **state) {
    (void)state;
    dice d = {93};
    setting s;
    robot_open(&s, places[0]);
    rig *g = &s.g;
    state_random(g->m, &d, g->s);
    snw_inputs_at(g->m, g->s->t, g->in);
    rig_check_stiffness(g);
    rig_check_energy(g);
    setting_close(&s);
}

static void random_trees_on_the_ground_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {94};
    for (int k = 0; k < 6; k++) {
        tree t;
        tree_random(&t, &d, (tree_opts){.nlink = 7, .floating = k % 2});
        static const snw_vec3 points[] = {{{0.1, 0.05, 0}}, {{-0.1, 0, 0.1}}};
        int rods[TREE_MOST], bodies[TREE_MOST];
        snw_contact_desc c[2] = {{.link = rods}, {.link = bodies, .npoint = 2, .point = points}};
        for (int i = 0; i < 7; i++) {
            snw_contact_desc *to = &c[!t.link[i].has_rod];
            (t.link[i].has_rod ? rods : bodies)[to->nlink++] = i;
        }
        for (int i = 0; i < 2; i++) {
            c[i].name = "ground";
            c[i].normal = roll_unit(&d);
            c[i].stiffness = roll(&d, 50, 300);
            c[i].damping = 0.02;
            c[i].across = 0.8;
            c[i].along = i ? 0.8 : 0.1;
            c[i].creep = 1;
            c[i].smooth = 20;
        }
        t.r.desc.ncontact = 2;
        t.r.desc.contact = c;
        rig g;
        rig_open(&g, &t.r.desc);
        state_random(g.m, &d, g.s);
        snw_inputs_at(g.m, g.s->t, g.in);
        snw_residual(g.m, g.in, g.s, false, g.w);
        assert_true(g.m->ncontact_point > 0);
        for (int i = 0; i < g.m->ncontact_point; i++)
            assert_true(g.w->contact_point[i].elastic_force > 0);
        rig_check(&g);
        rig_close(&g);
        robot_free(&t.r);
    }
}

#ifndef SNW_NUMBERS // tests without derivatives

// a common rigid displacement of ground and robot changes nothing
static void the_ground_may_lie_anywhere(void **state) {
    (void)state;
    dice d = {95};
    setting s;
    robot_open(&s, (place){"0.5", "0.2", "50 mm"});
    rig *g = &s.g;
    state_random(g->m, &d, g->s);
    snw_inputs_at(g->m, g->s->t, g->in);
    for (int i = 0; i < 3; i++) g->in->gravity.e[i] = 0;
    snw_residual(g->m, g->in, g->s, false, g->w);
    double *r = malloc((size_t)g->m->nv * sizeof *r);
    memcpy(r, g->w->r, (size_t)g->m->nv * sizeof *r);
    const snw_wrench F = snw_contact_wrench(g->m, g->w, 0);
    assert_true(snw_norm(F.f) > 1);
    const snw_se3 G = {snw_so3_exp(roll_vec3(&d, 2)), roll_vec3(&d, 1)};
    snw_model elsewhere = *g->m;
    snw_contact contact[8];
    assert_true(g->m->ncontact <= 8);
    for (int i = 0; i < g->m->ncontact; i++) {
        contact[i] = g->m->contact[i];
        contact[i].normal = snw_rotate(G.R, contact[i].normal);
        contact[i].at = snw_se3_point(G, contact[i].at);
    }
    elsewhere.contact = contact;
    snw_se3_to_numbers(snw_se3_mul(G, snw_se3_from_numbers(g->s->q)), g->s->q);
    snw_residual(&elsewhere, g->in, g->s, false, g->w);
    for (int i = 0; i < g->m->nv; i++) assert_near(g->w->r[i], r[i], 1e-11 * snw_norm(F.f));
    const snw_wrench moved = snw_contact_wrench(g->m, g->w, 0), want = snw_wrench_to_parent(G, F);
    for (int i = 0; i < 6; i++) assert_near(moved.e[i], want.e[i], 1e-11 * snw_norm(F.f));
    free(r);
    setting_close(&s);
}

// At any state the normal force only pushes, friction is within its cone, and the dissipated power
// is not negative: the ground returns no more energy than it stored.
static void the_ground_never_pulls(void **state) {
    (void)state;
    dice d = {96};
    for (int k = 0; k < 20; k++) {
        setting s;
        robot_open(&s, (place){"0", "2", "10 mm"});
        rig *g = &s.g;
        state_random(g->m, &d, g->s);
        for (int i = 0; i < 6; i++) g->s->v[i] *= 5;
        snw_inputs_at(g->m, g->s->t, g->in);
        snw_residual(g->m, g->in, g->s, false, g->w);
        for (int i = 0; i < g->m->ncontact_point; i++) {
            const snw_contact_point_work *at = &g->w->contact_point[i];
            const double N = snw_dot(at->f, at->d);
            const snw_vec3 f = snw_sub(at->f, snw_scale(N, at->d));
            assert_true(N >= 0 && snw_norm(f) <= 0.9 * N + 1e-12);
            assert_true(-snw_dot(at->f, at->v) + at->elastic_force * at->rate >= -1e-10);
        }
        setting_close(&s);
    }
}

// ---- rest ---------------------------------------------------------------------------------------

static void done(const char *text, outcome *o) {
    execute(text, o);
    if (o->status != SNW_OK) fail_msg("%s", o->err.text);
}

// Bodies and rods that move vertically, and the height of their frames at rest on a ground of 5
// kN/m at a point, 5 kPa per length; all weigh 2 kg.
static void bodies_rest_at_the_equilibrium_depth(void **state) {
    (void)state;
    static const char form[] =
        "sinew: 1\nmaterials: {stuff: {young: 1 MPa, poisson: 0.3, density: %.17g}}\n"
        "robot: {it: {on: world, pose: {%s}, joint: prismatic, axis: %s, %s}}\n"
        "initial: {it: {position: 0.2}}\n"
        "contacts: {floor: {ground: {on: it, %s, friction: 0.4, damping: 1}}}\n"
        "study: [dynamic: {for: 3 s, step: 1 ms}, static:, modes: {count: 1}]\nrecord: {every: 0.5 "
        "s}\n"
        "probes: {z: {position: %s}, f: frequency, F: {reaction: floor}}\n";
    const double W = 2 * 9.81, k = 5000, r = 0.02, A = M_PI * r * r;
    const struct {
        const char *pose, *axis, *what, *ground, *site;
        double area, z;
        double stiffness; // 0: not checked, the lowest mode is another one
    } cases[] = {
        {"xyz: [0, 0, 0]", "z", "body: {sphere: {radius: 20 mm}, mass: 2}", "stiffness: 5 kN/m",
         "it", A, r - W / k, k},
        {"xyz: [0, 0, 0]", "z", "body: {box: [0.1, 0.2, 0.04], mass: 2}", "stiffness: 5 kN/m", "it",
         A, r - W / (4 * k), 4 * k},
        {"xyz: [0, 0, 0]", "z", "body: {cylinder: {radius: 50 mm, length: 40 mm}, mass: 2}",
         "stiffness: 5 kN/m", "it", A, r - W / k, k},
        {"xyz: [0, 0, 0]", "z",
         "body: {cylinder: {radius: 20 mm, length: 40 mm, axis: y}, mass: "
         "2}",
         "stiffness: 5 kN/m", "it", A, r - W / (2 * k), 2 * k},
        {"xyz: [0, 0, 0]", "z", "body: {mass: 2}",
         "stiffness: 5 kN/m, points: [[0, 0, -20 mm], [0.1, 0, -20 mm]]", "it", A, r - W / (2 * k),
         2 * k},
        {"xyz: [0, 0, 0]", "z",
         "rod: {length: 0.4, section: {circle: {radius: 20 mm}}, material: "
         "stuff, strain: {bend_y: legendre 3}}",
         "stiffness: 5 kPa, ends: 0", "it@30%", A, r - W / (0.4 * k), 0.4 * k},
        {"xyz: [0, 0, 0]", "z",
         "rod: {length: 0.4, section: {tube: {radius: 20 mm, inner: 10 "
         "mm}}, material: stuff, strain: cosserat legendre 3}",
         "stiffness: 5 kPa, ends: 0", "it.tip", 0.75 * A, r - W / (0.4 * k), 0},
        {"xyz: [0, 0, 0]", "z",
         "rod: {length: 0.4, section: {ellipse: {y: 60 mm, z: 40 mm}}, "
         "material: stuff, strain: rigid}",
         "stiffness: 5 kPa", "it.tip", 1.5 * A, r - W / ((0.4 + 0.04) * k), (0.4 + 0.04) * k},
        {"xyz: [0, 0, 0]", "z",
         "rod: {length: 0.4, section: {rectangle: {y: 60 mm, z: 40 mm}}, "
         "material: stuff, strain: {bend_y: legendre 3}}",
         "stiffness: 5 kPa, ends: 0", "it.root", 2.4e-3, r - W / (0.4 * k), 0.4 * k},
        // on its tip, which has the stiffness of a length equal to its radius
        {"rpy: [0, 90 deg, 0]", "-x",
         "rod: {length: 0.4, section: {circle: {radius: 20 mm}}, "
         "material: stuff, strain: rigid}",
         "stiffness: 2 MPa, ends: 5 kN/m", "it.tip", A, -W / k, k},
        {"rpy: [0, 90 deg, 0]", "-x",
         "rod: {length: 0.4, section: {circle: {radius: 20 mm}}, "
         "material: stuff, strain: rigid}",
         "stiffness: 2 MPa", "it.tip", A, -W / 4e4, 4e4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2000];
        outcome o;
        (void)snprintf(text, sizeof text, form, 2 / (0.4 * cases[i].area), cases[i].pose,
                       cases[i].axis, cases[i].what, cases[i].ground, cases[i].site);
        done(text, &o);
        // the last two frames: the static one and the mode
        const double z = shown(&o, o.series.nframe - 2, 2), f = last(&o, 3);
        const double want = sqrt(cases[i].stiffness / 2) / (2 * M_PI);
        if (!(fabs(z - cases[i].z) < 1e-9 && (want == 0 || fabs(f - want) < 1e-6 * want))) {
            fail_msg("case %zu: z %.10g, want %.10g; f %.10g, want %.10g", i, z, cases[i].z, f,
                     want);
        }
        snw_series_clear(&o.series);
    }
}

// A very flexible rod bends down on a ground a hundred thousand times as stiff. Clamp and ground
// together carry its weight, and the moment about the clamp is that of both. The equilibrium, once
// found, is kept.
static void a_clamped_rod_leans_on_the_ground(void **state) {
    (void)state;
    outcome o;
    done("sinew: 1\nmaterials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
         "robot: {arm: {on: world, pose: {xyz: [0, 0, 50 mm]}, rod: {length: 0.5 m, section: "
         "{circle: {radius: 10 mm}}, material: rubber, strain: kirchhoff legendre 6, nodes: 30}}}\n"
         "contacts: {floor: {ground: {on: arm, stiffness: 20 kPa, smooth: 1 mm}}}\n"
         "study: [static: {for: 1 s, step: 0.25 s}]\n"
         "probes: {clamp: {reaction: arm}, floor: {reaction: floor}, in: {wrench: arm.root}, c: "
         "center_of_mass}\n",
         &o);
    const double W = 1000 * M_PI * 1e-4 * 0.5 * 9.81;
    assert_near(last(&o, 5) + last(&o, 11), W, 1e-11);
    assert_true(last(&o, 5) > 0.1 * W && last(&o, 11) > 0.1 * W);
    assert_near(last(&o, 3), 0, 1e-12);
    assert_near(last(&o, 1) + last(&o, 7) + W * last(&o, 18), 0, 1e-11);
    assert_near(last(&o, 13), -last(&o, 1), 1e-11);
    assert_near(last(&o, 17), -last(&o, 5), 1e-11);
    for (int c = 0; c < 18; c++) assert_near(last(&o, c), shown(&o, 0, c), 1e-10);
    snw_series_clear(&o.series);
}

// ---- sliding ------------------------------------------------------------------------------------

// A point mass on an incline of 30 degrees, pressed in to its depth at rest.
static void incline(double friction, double speed, double duration, outcome *o) {
    char text[2000];
    (void)snprintf(text, sizeof text,
                   "sinew: 1\nparameters: {a: 30 deg, depth: 2 kg*9.81 m/s^2*cos(a)/(5 "
                   "kN/m)}\n"
                   "robot: {block: {on: world, pose: {rpy: [0, a, 0]}, joint: planar, axis: "
                   "y, body: {mass: 2, inertia: [1, 1, 1]}}}\n"
                   "initial: {block: {position: [-depth, 0, 0], rate: [0, %.17g, 0]}}\n"
                   "contacts: {slope: {ground: {on: block, normal: [\"sin(a)\", 0, \"cos(a)\"], "
                   "points: [[0, 0, 0]], stiffness: 5 kN/m, friction: %.17g, damping: 1}}}\n"
                   "study: [dynamic: {for: %.17g, scheme: adaptive, tolerance: 1e-10}]\n"
                   "record: {every: %.17g}\n"
                   "probes: {v: {velocity: block, in: body}, e: energy, F: {reaction: slope}}\n",
                   speed, friction, duration, duration);
    done(text, o);
}

static void blocks_slide_and_stick_as_coulomb_says(void **state) {
    (void)state;
    outcome o;
    const double a = M_PI / 6, g = 9.81, N = 2 * g * cos(a), creep = SNW_CREEP;
    incline(0.3, 1, 0.4, &o);
    // v' = g (sin - mu cos v/sqrt(v^2 + creep^2)): the last factor is 1 - 5e-7 and less
    assert_near(last(&o, 0), 1 + g * (sin(a) - 0.3 * cos(a)) * 0.4, 1e-6);
    assert_near(last(&o, 2), 0, 1e-8);
    assert_near(last(&o, 3 + BALANCE), 0, 1e-8);
    const double s = 0.4 * 1 + 0.5 * g * (sin(a) - 0.3 * cos(a)) * 0.16;
    assert_near(last(&o, 3 + DISSIPATED), 0.3 * N * s, 2e-6);
    // normal force, and friction up the incline
    const int F = 3 + 8;
    const double along = last(&o, F + 3) * cos(a) - last(&o, F + 5) * sin(a);
    const double out = last(&o, F + 3) * sin(a) + last(&o, F + 5) * cos(a);
    assert_near(out, N, 1e-7);
    assert_near(along, -0.3 * N, 1e-5);
    snw_series_clear(&o.series);
    // below the cone it creeps: tan = mu v/sqrt(v^2 + creep^2)
    incline(0.8, 0, 0.1, &o);
    const double t = tan(a), v = creep * t / sqrt(0.64 - t * t);
    assert_near(last(&o, 0) / v, 1, 1e-6);
    snw_series_clear(&o.series);
}

// A rigid rod on its side, pressed in to its depth at rest: slip along and across it, before it
// rolls.
static void rods_slide_more_easily_along_than_across(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        char text[2000];
        outcome o;
        const double angle = k * M_PI / 4, mu[2] = {0.1, 0.5}; // along, at 45 degrees, across
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\nmaterials: {m: {young: 1 MPa, density: 1000}}\n"
            "parameters: {r: 20 mm, z: r - 1000 kg/m^3*pi*r^2*9.81 m/s^2/(5 kPa)}\n"
            "robot: {rod: {on: world, joint: free, rod: {length: 0.5, section: {circle: {radius: "
            "r}}, material: m, strain: rigid}}}\n"
            "initial: {rod: {pose: {xyz: [0, 0, z]}, twist: [0, 0, 0, %.17g, %.17g, 0]}}\n"
            "contacts: {floor: {ground: {on: rod, stiffness: 5 kPa, ends: 0, friction: {along: "
            "0.1, across: 0.5}}}}\n"
            "study: [dynamic: {for: 10 ms, scheme: adaptive, tolerance: 1e-10}]\n"
            "record: {every: 10 ms}\nprobes: {v: {velocity: rod.root}, e: energy}\n",
            3 * cos(angle), 3 * sin(angle));
        done(text, &o);
        // across, the slip is less by the rolling of the rod: r alpha = mu g r^2 m/I = 2 mu g; at
        // most 0.15 of 3 m/s, which changes the direction of the slip slightly
        const double want[2] = {3 * cos(angle) - mu[0] * 9.81 * 0.01 * cos(angle),
                                3 * sin(angle) - mu[1] * 9.81 * 0.01 * sin(angle)};
        for (int c = 0; c < 2; c++) assert_near(last(&o, c), want[c], k == 1 ? 1e-3 : 1e-6);
        assert_near(last(&o, 3 + BALANCE), 0, 1e-8);
        snw_series_clear(&o.series);
    }
}

// A slipping sphere starts to roll, and keeps 5/7 of its speed for any friction.
static void a_sliding_ball_ends_rolling(void **state) {
    (void)state;
    outcome o;
    done("sinew: 1\n"
         "robot: {ball: {on: world, joint: free, body: {sphere: {radius: 50 mm}, mass: 2}}}\n"
         "initial: {ball: {pose: {xyz: [0, 0, \"50 mm - 2 kg*9.81 m/s^2/(5 kN/m)\"]}, twist: [0, "
         "0, 0, 1, 0, 0]}}\n"
         "contacts: {floor: {ground: {on: ball, stiffness: 5 kN/m, friction: 0.4}}}\n"
         "study: [dynamic: {for: 0.3 s, scheme: stiff, tolerance: 1e-9}]\n"
         "record: {every: 0.1 s}\nprobes: {V: {twist: ball}, e: energy}\n",
         &o);
    assert_near(last(&o, 3), 5.0 / 7, 1e-6);
    assert_near(last(&o, 1), 5.0 / 7 / 0.05, 2e-5);
    assert_near(last(&o, 6 + DISSIPATED), 2.0 / 7, 1e-6); // 2/7 of 1 J
    snw_series_clear(&o.series);
}

// The same for a drum on its rims and a rod on its side, with 2/3; their rounded rims roll on their
// full radius.
static void drums_end_rolling(void **state) {
    (void)state;
    static const char *const body[] = {
        "{on: world, joint: free, body: {cylinder: {radius: 50 mm, length: 0.2, axis: y}, mass: "
        "2}}",
        "{on: world, joint: free, pose: {x: y}, rod: {length: 0.2, section: {circle: {radius: 50 "
        "mm}}, material: wood, strain: rigid, nodes: 6}}"};
    static const char *const how[] = {"stiffness: 2.5 kN/m", "stiffness: 25 kPa, ends: 0"};
    for (int k = 0; k < 2; k++) {
        outcome o;
        char text[2000];
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\nmaterials: {wood: {density: 2/(0.2*pi*0.05^2)}}\n"
            "robot: {drum: %s}\n"
            "initial: {drum: {pose: {xyz: [0, 0, \"50 mm - 2 kg*9.81 m/s^2/(5 kN/m)\"]}, "
            "twist: [0, 0, 0, %s]}}\n"
            "contacts: {floor: {ground: {on: drum, %s, friction: 0.4}}}\n"
            "study: [dynamic: {for: 0.3 s, scheme: stiff, tolerance: 1e-9}]\n"
            "record: {every: 0.1 s}\nprobes: {V: {twist: drum}, e: energy}\n",
            body[k], k == 0 ? "1, 0, 0" : "0, -1, 0", how[k]);
        done(text, &o);
        assert_near(last(&o, 1), 2.0 / 3 / 0.05, 5e-5);
        assert_near(last(&o, 3), 2.0 / 3, 2e-6);
        assert_near(last(&o, 6 + DISSIPATED), 1.0 / 3, 2e-6);
        snw_series_clear(&o.series);
    }
}

// A box on its corners slides down: it leans forward, and accelerates like a point mass.
static void a_box_slides_on_its_corners(void **state) {
    (void)state;
    outcome o;
    done("sinew: 1\nparameters: {a: 30 deg}\n"
         "robot: {box: {on: world, pose: {rpy: [0, a, 0]}, joint: free, body: {box: [0.3, 0.2, "
         "0.1], mass: 2}}}\n"
         "initial: {box: {pose: {xyz: [0, 0, 50 mm]}, twist: [0, 0, 0, 1, 0, 0]}}\n"
         "contacts: {slope: {ground: {on: box, normal: [\"sin(a)\", 0, \"cos(a)\"], stiffness: 5 "
         "kN/m, friction: 0.3, damping: 20}}}\n"
         "study: [dynamic: {for: 1 s, scheme: generalized-alpha, rho: 0.8, step: 0.5 ms}]\n"
         "record: {every: 0.5 s}\n"
         "probes: {A: {acceleration: box}, F: {reaction: slope}, p: {position: box}, e: energy}\n",
         &o);
    const double a = M_PI / 6, g = 9.81, along = g * (sin(a) - 0.3 * cos(a));
    assert_near(last(&o, 0), along * cos(a), 1e-4);
    assert_near(last(&o, 2), -along * sin(a), 1e-4);
    const double out = last(&o, 6 + 3) * sin(a) + last(&o, 6 + 5) * cos(a);
    assert_near(out, 2 * g * cos(a), 1e-3);
    snw_series_clear(&o.series);
}

// ---- bouncing -----------------------------------------------------------------------------------

#define BALL(ground, study)                                                                        \
    "sinew: 1\n"                                                                                   \
    "robot: {ball: {on: world, joint: free, body: {sphere: {radius: 50 mm}, mass: 2}}}\n"          \
    "initial: {ball: {pose: {xyz: [0, 0, 0.3]}, twist: [0, 3, 2, 0.5, 0, 0]}}\n"                   \
    "contacts: {floor: {ground: {on: ball, stiffness: 20 kN/m, " ground "}}}\n" study              \
    "probes: {z: {position: ball}, e: energy, F: {reaction: floor}, P: momentum}\n"

// free fall, half a period on the spring, and back up
static void an_elastic_ball_returns_to_its_height(void **state) {
    (void)state;
    outcome o;
    done(BALL("smooth: 1 um", "study: [dynamic: {for: 1 s, scheme: adaptive, tolerance: 1e-11}]\n"
                              "record: {every: 1 ms}\n"),
         &o);
    const double g = 9.81, v = sqrt(2 * g * 0.25), w = sqrt(2e4 / 2), x0 = g / w / w;
    // x = x0 - A cos(w t - phase) from the instant of contact: down for pi + 2 atan(..)
    const double touch = v / g, swing = (M_PI + 2 * atan(w * x0 / v)) / w;
    const double period = 2 * touch + swing;
    double top = 0, low = 1;
    for (int f = 0; f < o.series.nframe; f++) {
        const double t = o.series.t[f], z = shown(&o, f, 2);
        if (t > touch && t < 1.5 * period) low = fmin(low, z);
        if (fabs(t - period) < 2e-3) top = fmax(top, z);
        assert_near(shown(&o, f, 3 + BALANCE), 0, 1e-7);
        assert_true(shown(&o, f, 11 + 5) >= 0);
    }
    assert_near(top, 0.3, 1e-5); // frames are 1 ms apart: g t^2/2
    assert_near(low, 0.05 - x0 - sqrt(x0 * x0 + v * v / w / w), 1e-4);
    snw_series_clear(&o.series);
}

// With dissipation: the ground never pulls, and the energy balance holds to the tolerance of the
// steps.
static void a_bouncing_ball_has_a_closed_energy_account(void **state) {
    (void)state;
    outcome o;
    done(BALL("damping: 0.3 s/m, friction: 0.3",
              "study: [dynamic: {for: 0.6 s, scheme: stiff, tolerance: 1e-10}]\nrecord: {every: 1 "
              "ms}\n"),
         &o);
    for (int f = 0; f < o.series.nframe; f++) {
        assert_near(shown(&o, f, 3 + BALANCE), 0, 1e-6);
        assert_true(shown(&o, f, 11 + 5) >= 0);
    }
    assert_true(last(&o, 3 + DISSIPATED) > 1);
    snw_series_clear(&o.series);
}

// A soft rod that stays in contact, slips and rotates: its errors, and the energy that the scheme
// removes, fall with the order of the scheme; the balance is nearly zero.
static void implicit_steps_keep_their_order(void **state) {
    (void)state;
    static const char *const scheme[] = {"generalized-alpha", "newmark", "bdf2", "euler"};
    static const int order[] = {2, 2, 2, 1};
#define ROLLING                                                                                    \
    "sinew: 1\nmaterials: {m: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 5 ms}}\n"       \
    "robot: {rod: {on: world, joint: free, rod: {length: 0.5, section: {circle: {radius: 20 "      \
    "mm}}, material: m, strain: {bend_y: legendre 2}}}}\n"                                         \
    "initial: {rod: {pose: {xyz: [0, 0, 18 mm]}, twist: [0, 0, 1, 0.5, 0.3, 0]}}\n"                \
    "contacts: {floor: {ground: {on: rod, stiffness: 5 kPa, damping: 2, friction: {along: 0.1, "   \
    "across: 0.5}, creep: 0.3, smooth: 80 mm}}}\n"                                                 \
    "probes: {p: {position: rod.tip}, e: energy}\n"
    outcome o;
    double want[3], error[2], removed[2], left[2];
    done(ROLLING "study: [dynamic: {for: 0.2 s, scheme: adaptive, tolerance: 1e-12}]\n", &o);
    for (int c = 0; c < 3; c++) want[c] = last(&o, c);
    snw_series_clear(&o.series);
    for (size_t i = 0; i < sizeof scheme / sizeof *scheme; i++) {
        for (int k = 0; k < 2; k++) {
            char text[2000];
            (void)snprintf(text, sizeof text,
                           ROLLING "study: [dynamic: {for: 0.2 s, scheme: %s, step: %g}]\n",
                           scheme[i], k ? 1.25e-4 : 2.5e-4);
            done(text, &o);
            error[k] = 0;
            removed[k] = fabs(last(&o, 3 + SCHEME));
            left[k] = fabs(last(&o, 3 + BALANCE));
            for (int c = 0; c < 3; c++) error[k] += fabs(last(&o, c) - want[c]);
            snw_series_clear(&o.series);
        }
        const double slope = log2(error[0] / error[1]);
        if (!(fabs(slope - order[i]) < 0.15)) {
            fail_msg("%s: errors %.3g and %.3g, slope %.3f", scheme[i], error[0], error[1], slope);
        }
        const double less = log2(removed[0] / removed[1]);
        printf("%-18s error %.2e m, slope %.2f; removed %.2e J, slope %.2f; left %.1e J\n",
               scheme[i], error[1], slope, removed[1], less, left[1]);
        assert_true(less > order[i] - 0.2);
        assert_near(left[1], 0, order[i] == 2 ? 1e-11 : 1e-7);
    }
}

// A soft rod falls flat, and comes to rest straight, everywhere at the depth that its weight
// determines.
static void a_soft_rod_comes_to_rest_flat(void **state) {
    (void)state;
    outcome o;
    done("sinew: 1\nmaterials: {m: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 20 ms}}\n"
         "parameters: {r: 10 mm}\n"
         "robot: {rod: {on: world, joint: free, rod: {length: 0.5, section: {circle: {radius: "
         "r}}, material: m, strain: kirchhoff legendre 3}}}\n"
         "initial: {rod: {pose: {xyz: [0, 0, 30 mm], rpy: [0, -3 deg, 0]}}}\n"
         "contacts: {floor: {ground: {on: rod, stiffness: 10 kPa, ends: 0, damping: 3, friction: "
         "0.5}}}\n"
         "study: [dynamic: {for: 2 s, step: 1 ms}]\nrecord: {every: 0.5 s}\n"
         "probes: {F: {reaction: floor}, p: {position: rod, along: 5}, P: momentum}\n",
         &o);
    const double line = 1000 * M_PI * 1e-4 * 9.81;
    assert_near(last(&o, 5), 0.5 * line, 1e-5);
    for (int i = 0; i < 5; i++) assert_near(last(&o, 6 + 3 * i + 2), 0.01 - line / 1e4, 1e-6);
    snw_series_clear(&o.series);
}

// ---- refused models, changes --------------------------------------------------------------------

static void impossible_contacts_are_reported(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"robot: {a: {on: world, joint: free, body: {mass: 1}}}\n"
         "contacts: {c: {ground: {on: a, stiffness: 1}}}\n",
         "its body has no shape"},
        {"robot: {a: {on: world, joint: free}, b: {on: a, body: {mass: 1}}}\n"
         "contacts: {c: {ground: {on: a, stiffness: 1}}}\n",
         "neither a rod nor a body"},
        {"robot: {a: {on: world, joint: free, body: {sphere: {radius: 1}, mass: 1}}}\n"
         "contacts: {c: {ground: {on: a, stiffness: 1, friction: {along: 1, across: 2}}}}\n",
         "are for rods"},
        {"materials: {m: {young: 1, density: 1}}\n"
         "robot: {a: {on: world, rod: {length: 1, section: {circle: {radius: 1}}, material: m, "
         "strain: rigid}}}\ncontacts: {c: {ground: {on: a, stiffness: 1, points: [[0, 0, 0]]}}}\n",
         "'points' are for bodies"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snw_document *doc;
        snw_desc *desc;
        snw_model *m = NULL;
        snw_error err;
        (void)snprintf(text, sizeof text, "sinew: 1\n%s", cases[i].text);
        assert_int_equal(describe(text, &doc, &desc, &err), SNW_OK);
        assert_int_equal(snw_model_compile(desc, &m, &err), SNW_E_MODEL);
        if (!strstr(err.text, cases[i].says)) fail_msg("%s", err.text);
        release(doc, desc);
    }
    refuses("sinew: 1\n"
            "robot: {a: {on: world, joint: free, body: {sphere: {radius: 1}, mass: 1}}, lift: {on: "
            "world, pose: {xyz: [0, 0, -2 + t*(1 m/s)]}, body: {mass: 1}}}\n"
            "contacts: {c: {ground: {on: a, at: [0, 0, -2], stiffness: 1}}}\n"
            "study: [dynamic: {for: 1 s, step: 1 ms, scheme: conserving}]\n",
            "does not support contacts where a pose moves by a law");
}

// A trap door: the ball rests, and falls when the ground is removed, by a change or by its
// condition. The energy of the contact spring is removed with it.
static void the_ground_can_be_deactivated(void **state) {
    (void)state;
#define DOOR(when, study)                                                                          \
    "sinew: 1\n"                                                                                   \
    "robot: {ball: {on: world, joint: prismatic, axis: z, body: {sphere: {radius: 50 mm}, mass: "  \
    "2}}}\n"                                                                                       \
    "initial: {ball: {position: \"50 mm - 2 kg*9.81 m/s^2/(5 kN/m)\"}}\n"                          \
    "contacts: {floor: {ground: {on: ball, stiffness: 5 kN/m, smooth: 1 um}" when "}}\n"           \
    "study: [" study "]\nprobes: {v: {rate: ball}, e: energy}\n"
    static const char *const text[] = {
        DOOR("", "dynamic: {for: 0.5 s, step: 10 ms}, change: {floor: off}, dynamic: {for: 0.5 s, "
                 "step: 10 ms}"),
        DOOR(", when: t < 0.5 s", "dynamic: {for: 1 s, step: 10 ms}"),
        DOOR(", when: t < 0.5 s", "dynamic: {for: 1 s, scheme: adaptive}"),
    };
    for (int k = 0; k < 3; k++) {
        outcome o;
        done(text[k], &o);
        assert_near(last(&o, 0), -0.5 * 9.81, 1e-6);
        assert_near(last(&o, 1 + BALANCE), 0, 1e-9);
        // k x^2/2 of the spring
        if (k) assert_near(last(&o, 1 + WORK), -0.5 * 4 * 9.81 * 9.81 / 5000, 1e-9);
        snw_series_clear(&o.series);
    }
#undef DOOR
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ground_has_exact_derivatives),
        cmocka_unit_test(slipping_wheels_have_exact_derivatives),
        cmocka_unit_test(smoothly_vanishing_damping_has_exact_derivatives),
#ifndef SNW_WIDE
        cmocka_unit_test(statics_have_an_exact_symmetric_stiffness),
#endif
        cmocka_unit_test(random_trees_on_the_ground_have_exact_derivatives),
#ifndef SNW_NUMBERS
        cmocka_unit_test(the_ground_may_lie_anywhere),
        cmocka_unit_test(the_ground_never_pulls),
        cmocka_unit_test(bodies_rest_at_the_equilibrium_depth),
        cmocka_unit_test(a_clamped_rod_leans_on_the_ground),
        cmocka_unit_test(blocks_slide_and_stick_as_coulomb_says),
        cmocka_unit_test(rods_slide_more_easily_along_than_across),
        cmocka_unit_test(a_sliding_ball_ends_rolling),
        cmocka_unit_test(drums_end_rolling),
        cmocka_unit_test(a_box_slides_on_its_corners),
        cmocka_unit_test(an_elastic_ball_returns_to_its_height),
        cmocka_unit_test(a_bouncing_ball_has_a_closed_energy_account),
        cmocka_unit_test(implicit_steps_keep_their_order),
        cmocka_unit_test(a_soft_rod_comes_to_rest_flat),
        cmocka_unit_test(impossible_contacts_are_reported),
        cmocka_unit_test(the_ground_can_be_deactivated),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
