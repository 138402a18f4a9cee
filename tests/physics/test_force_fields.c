// SPDX-License-Identifier: MIT
//
// Magnetic fields, dipoles and fields of force: derivatives of their wrenches, energy, momentum,
// motions with closed forms in every scheme, and what is refused.
#include "dynamics/force_field.h"
#include "model/place_law.h"
#include "random_tree.h"
#include "robot_texts.h"
#include "setting.h"

#include <stdio.h>

// ---- derivatives --------------------------------------------------------------------------------

#define MAGNETS                                                                                    \
    "  needle: {on: lower.tip, joint: revolute, body: {mass: 0.3, com: [0.05, 0.02, -0.03]}, "     \
    "magnetic_moment: [3, -2, 1]}\n"                                                               \
    "  hand: {on: side.tip, joint: universal, body: {mass: 0.2, com: [0.1, 0, 0.02]}}\n"           \
    "  worm: {on: base, pose: {xyz: [0, 1, 0]}, rod: {length: 0.3, section: {circle: {radius: 5 "  \
    "mm}}, material: rubber, strain: cosserat legendre 2}, magnetic_moment: [4 A*m*(1 + x/L), 2 "  \
    "A*m*sin(3*x/L), -1]}\n"

// Fields that have a potential, of every kind; the curl of B does not matter for that of m.B.
#define CONSERVATIVE_FIELDS                                                                        \
    "fields:\n"                                                                                    \
    "  coil: {magnetic: [\"2 T*sin(3*x/1 m)*y/1 m\", \"1 T*(z^2 - y*x)/1 m^2 + 1 "                 \
    "T*cos(2*t)\", \"1 T*x*y*z/1 m^3\"]}\n"                                                        \
    "  fixed: {dipole: [1e5, \"2e5 A*m^2*cos(t)\", -3e5], at: [1.3, 2, 0.4 + t]}\n"                \
    "  held: {dipole: [2e5, 1e5, 1e5], on: hand, pose: {xyz: [0.1, 0.3, 0], rpy: [0.2, 0, 1]}}\n"  \
    "  tip: {dipole: [0, 3e5, 1e5], on: upper@70%%, links: [needle]}\n"                            \
    "  bed: {force: [\"-3 N/m^2*x\", \"-5 N/m^2*y - 2 N/m^3*y*z\", \"-1 N/m^3*y^2\"], links: "     \
    "[upper, worm]}\n"                                                                             \
    "  well: {potential: \"2 J*exp(-(x^2 + 2*y^2 + z*y)/1 m^2)*(1 + t/1 s)\", links: [base, "      \
    "hand]}\n"                                                                                     \
    "  tide: {acceleration: [\"2 1/s^2*x\", \"-1 1/s^2*y\", \"-1 1/s^2*z\"], links: [base, side, " \
    "needle]}\n"

static const char conservative_text[] = SOFT_TREE MAGNETS CONSERVATIVE_FIELDS;
static const char robot_text[] = SOFT_TREE MAGNETS CONSERVATIVE_FIELDS
    "  wind: {force: [\"3 N/m^2*y*sin(t)\", \"1 N/m^3*x*z\", 0], links: [lower, worm]}\n"
    "  swirl: {acceleration: [\"-4 1/s^2*y\", \"4 1/s^2*x + 1 m/s^2*(z/1 m)^2\", 1], links: [base, "
    "worm]}\n";

static void fields_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {161};
    for (int k = 0; k < 4; k++) {
        setting s;
        char text[5000];
        (void)snprintf(text, sizeof text, robot_text);
        setting_random(&s, text, &d);
        assert_int_equal(s.g.m->nforce_field, 9);
        for (int i = 0; i < 7; i++) assert_true(s.g.m->force_field[i].has_energy);
        assert_false(s.g.m->force_field[7].has_energy || s.g.m->force_field[8].has_energy);
        rig_check(&s.g);
        setting_close(&s);
    }
}

static void statics_have_an_exact_stiffness_and_a_potential(void **state) {
    (void)state;
    dice d = {162};
    setting s;
    char text[5000];
    (void)snprintf(text, sizeof text, conservative_text);
    setting_random(&s, text, &d);
    rig_check_stiffness(&s.g);
    rig_check_energy(&s.g);
    setting_close(&s);
}

// laws of the place have the derivatives of their formulas
static void laws_of_the_place_have_exact_derivatives(void **state) {
    (void)state;
    setting s;
    setting_open(&s, "sinew: 1\nrobot: {a: {on: world, joint: free, body: {mass: 1}}}\n"
                     "fields: {f: {potential: \"3 J*x*y^2*z^3/1 m^6 + 2 J*sin(x/1 m)\", links: "
                     "a}}\n");
    snw_place_jet j;
    const double x = 0.3, y = -0.7, z = 1.1;
    snw_place_law_at(s.g.m->force_field[0].law[0], 0, (snw_vec3){{x, y, z}}, 2, &j);
    assert_near(j.v, 3 * x * y * y * z * z * z + 2 * sin(x), 1e-14);
    assert_near(j.d1.x, 3 * y * y * z * z * z + 2 * cos(x), 1e-14);
    assert_near(j.d1.y, 6 * x * y * z * z * z, 1e-14);
    assert_near(j.d1.z, 9 * x * y * y * z * z, 1e-14);
    assert_near(j.d2.e[0][0], -2 * sin(x), 1e-14);
    assert_near(j.d2.e[1][0], 6 * y * z * z * z, 1e-13);
    assert_near(j.d2.e[0][2], 9 * y * y * z * z, 1e-13);
    assert_near(j.d2.e[1][2], 18 * x * y * z * z, 1e-13);
    assert_near(j.d2.e[2][2], 18 * x * y * y * z, 1e-13);
    setting_close(&s);
}

// a body with a moment near a dipole, materials of the reference: wrench in its own axes
static void a_body_near_a_dipole_has_the_wrench_of_the_reference(void **state) {
    (void)state;
    static const double want[6] = {2.5339092794e-5,  -6.1865121274e-5, 4.5084717744e-5,
                                   -8.4541770421e-4, 1.2347872636e-3,  3.2920961201e-3};
    setting s;
    setting_open(&s, "sinew: 1\ngravity: 0\n"
                     "robot: {magnet: {on: world, joint: free, body: {mass: 1}, magnetic_moment: "
                     "[0.3, 0.05, -0.1]}}\n"
                     "fields: {near: {dipole: [0.2, -1, 0.4], at: [0.05, 0.06, -0.02]}}\n");
    const rig *g = &s.g;
    const snw_twist turn = {{.w = {{0.3, -0.4, 0.7}}}};
    snw_se3 pose = snw_se3_exp(turn);
    pose.p = (snw_vec3){{0.01, 0.005, 0.02}};
    snw_se3_to_numbers(pose, g->s->q);
    snw_inputs_at(g->m, 0, g->in);
    snw_residual(g->m, g->in, g->s, true, g->w);
    for (int i = 0; i < 6; i++) assert_near(-g->w->r[i], want[i], 2e-13);
    setting_close(&s);
}

#ifndef SNW_NUMBERS // tests without derivatives

// ---- momentum and energy ------------------------------------------------------------------------

// a dipole that the robot carries has the opposite wrench: forces on its free base vanish
static void magnets_within_the_robot_keep_its_momentum(void **state) {
    (void)state;
    dice d = {163};
    static const char text[] = SOFT_TREE MAGNETS
        "fields:\n"
        "  held: {dipole: [2e5, 1e5, 1e5], on: hand, pose: {xyz: [0.1, 0.3, 0], rpy: [0.2, 0, "
        "1]}}\n"
        "  tip: {dipole: [0, 3e5, 1e5], on: upper@70%%, links: [needle]}\n";
    char made[5000];
    (void)snprintf(made, sizeof made, text);
    for (int k = 0; k < 4; k++) {
        setting s;
        setting_random(&s, made, &d);
        const rig *g = &s.g;
        double with[6], size = 0;
        snw_residual(g->m, g->in, g->s, false, g->w);
        for (int i = 0; i < 6; i++) with[i] = g->w->r[i];
        for (int i = 0; i < g->m->nforce_field_point; i++)
            size += snw_norm(g->w->force_field[i].on[0].f);
        assert_true(size > 0.01);
        g->in->inertia_only = true;
        snw_residual(g->m, g->in, g->s, false, g->w);
        for (int i = 0; i < 6; i++) assert_near(g->w->r[i] - with[i], 0, 1e-10 * (size + 1));
        setting_close(&s);
    }
}

// ---- motions ------------------------------------------------------------------------------------

// every scheme moves a mass in a potential as an oscillator, and closes its energy account; so it
// does with a field that varies in time and one without a potential, where it takes these
static void every_scheme_moves_a_mass_in_a_field(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\ngravity: 0\nrobot: {car: {on: world, joint: prismatic, axis: x, body: {mass: "
        "2}, magnetic_moment: [0, 0, 1.5]}}\n"
        "fields:\n"
        "  well: {potential: 80 N/m*x^2/2, links: car}\n"
        "  coil: {magnetic: [0, 0, \"%s\"]}\n"
        "initial: {car: 0.1}\nprobes: {x: {value: car}, e: energy}\n"
        "study: [dynamic: {for: 0.3 s, step: %s, scheme: %s}]\n";
    // m dB/dx = -40 N/m x adds to the stiffness; with sin(7 t) it drives the car
    const double t = 0.3, w0 = sqrt(120 / 2.), w1 = sqrt(80 / 2.), drive = 1.5 * 4 / 2;
    const double want[2] = {0.1 * cos(w0 * t),
                            0.1 * cos(w1 * t) +
                                drive / (w1 * w1 - 49) * (sin(7 * t) - 7 / w1 * sin(w1 * t))};
    for (int k = 0; k < 2 * SNW_SCHEME_COUNT; k++) {
        const snw_scheme_info *scheme = &snw_scheme_table[k / 2];
        if (!(scheme->works & SNW_SCHEME_ON_STRAIN)) continue;
        const bool varies = k % 2, first = scheme->order == 1;
        if (varies && scheme->family == SNW_FAMILY_CONSERVING) continue;
        char made[2000];
        outcome o;
        (void)snprintf(made, sizeof made, text, varies ? "4 T/m*x*sin(7*t)" : "-40 T*(x/1 m)^2/3",
                       first ? "0.05 ms" : "0.5 ms", scheme->name);
        execute_ok(made, &o);
        assert_near(last(&o, 0), want[varies], first ? 1e-3 : 4e-6);
        assert_near(last(&o, 1 + 6), 0, scheme->chooses_steps ? 2e-5 : 1e-9);
        assert_true(o.warnings > 0); // B varies along x only: it has a curl
        snw_series_clear(&o.series);
    }
}

// a field without a potential: its work is that of the force, and the account closes
static void the_work_of_a_swirl_is_counted(void **state) {
    (void)state;
    static const char *const schemes[] = {"generalized-alpha", "gauss4", "conserving", "adaptive"};
    for (int k = 0; k < 4; k++) {
        char text[1000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\nrobot: {puck: {on: world, joint: planar, body: "
                       "{mass: 2, inertia: [1, 1, 1]}}}\n"
                       "fields: {swirl: {force: [\"-3 N/m*y - 5 N/m*x\", \"3 N/m*x - 5 N/m*y\", "
                       "0], links: puck}}\n"
                       "initial: {puck: [0.1, 0, 0]}\nprobes: {x: {value: puck}, e: energy}\n"
                       "study: [dynamic: {for: 2 s, step: 1 ms, scheme: %s}]\n",
                       schemes[k]);
        execute_ok(text, &o);
        // z'' = s z with z = x + i y, s = (-5 + 3 i)/2: z = 0.1 cosh(sqrt(s) t)
        const double size = sqrt(sqrt(34.) / 2), angle = 0.5 * atan2(3, -5);
        const double a = 2 * size * cos(angle), b = 2 * size * sin(angle);
        assert_near(last(&o, 0), 0.1 * cosh(a) * cos(b), 1e-5);
        assert_near(last(&o, 1), 0.1 * sinh(a) * sin(b), 1e-5);
        assert_near(last(&o, 3 + 6), 0, k == 3 ? 2e-5 : 1e-9);
        snw_series_clear(&o.series);
    }
}

// A compass needle of moment of inertia I swings with sqrt(m B/I) by the modes, and keeps its
// energy by the conserving scheme.
static void a_compass_needle_swings(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\ngravity: 0\nrobot: {needle: {on: world, joint: revolute, body: {mass: 0.1, "
        "inertia: [1e-4, 1e-4, 1e-4]}, magnetic_moment: [2, 0, 0]}}\n"
        "fields: {earth: {magnetic: [50 uT, 0, 0]}}\n"
        "initial: {needle: %s}\nprobes: {%s}\nstudy: [%s]\n";
    char made[1000];
    outcome o;
    (void)snprintf(made, sizeof made, text, "0", "f: frequency", "modes: {count: 1}");
    execute_ok(made, &o);
    assert_near(last(&o, 0), sqrt(2 * 50e-6 / 1e-4) / (2 * 3.14159265358979323846), 1e-12);
    snw_series_clear(&o.series);
    (void)snprintf(made, sizeof made, text, "2", "e: energy",
                   "dynamic: {for: 20 s, step: 50 ms, scheme: conserving}");
    execute_ok(made, &o);
    assert_near(shown(&o, 0, 7), -1e-4 * cos(2), 1e-15);
    assert_near(last(&o, 7), -1e-4 * cos(2), 1e-12);
    snw_series_clear(&o.series);
}

// ---- refusals -----------------------------------------------------------------------------------

static void what_fields_cannot_do_is_refused(void **state) {
    (void)state;
#define BODY                                                                                       \
    "sinew: 1\nrobot: {a: {on: world, joint: free, body: {mass: 1}, magnetic_moment: [1, 0, 0]}, " \
    "b: {on: world, rod: {length: 1, section: {stiffness: {bend_z: 1}}, strain: {bend_z: "         \
    "legendre 2}}}}\nprobes: {p: {position: a}}\ngravity: 0\nstudy: [static:]\n"
    refuses(BODY "fields: {f: {magnetic: [\"p.x*1 T/m\", 0, 0]}}\n", "cannot read probe 'p'");
    refuses(BODY "fields: {f: {magnetic: [\"integral(1)*1 T/s\", 0, 0]}}\n", "no memory");
    refuses(BODY "parameters: {u: p.x*1 T/m}\nfields: {f: {magnetic: [u, 0, 0]}}\n",
            "reads a probe");
    refuses(BODY "parameters: {y: 3 T}\nfields: {f: {magnetic: [y, 0, 0]}}\n",
            "hides the coordinate y");
    refuses(BODY "fields: {f: {magnetic: [\"L*1 T/m\", 0, 0]}}\n", "only t, x and y, z may vary");
    refuses(BODY "fields: {f: {magnetic: [1 N, 0, 0]}}\n", "magnetic flux density (T)");
    refuses(BODY "fields: {f: {magnetic: [1, 0, 0], links: b}}\n", "no 'magnetic_moment'");
    refuses(BODY "fields: {f: {dipole: [1, 0, 0], on: a}}\n", "acts on nothing");
    refuses(BODY "fields: {f: {dipole: [1, 0, 0], on: a, links: a}}\n", "which carries it");
    refuses(BODY "fields: {f: {force: [1, 0, 0]}}\n", "needs 'links'");
    refuses(BODY "fields: {f: {force: [1, 0, 0], links: [a, b]}}\n", "rod");
    refuses(BODY "fields: {f: {force: [1, 0, 0], links: a, at: [0, 0, 1]}}\n", "is for dipoles");
    refuses(BODY "fields: {f: {force: [1, 0, 0], potential: 1, links: a}}\n", "not both");
    refuses(BODY "fields: {f: {links: a}}\n", "needs its kind");
    refuses("sinew: 1\nrobot: {a: {on: world, rod: {length: 1, section: {stiffness: {bend_z: 1}}, "
            "strain: {bend_z: legendre 2}}}}\ngravity: 0\nstudy: [static:]\n"
            "actuators: {push: {feed: a, position: 1}}\n"
            "fields: {f: {force: [1, 0, 0], links: a}}\n",
            "a field acts on it");
    refuses("sinew: 1\ngravity: 0\nrobot: {a: {on: world, joint: free, body: {mass: 1, inertia: "
            "[1, 1, 1]}}}\n"
            "fields: {f: {force: [t*1 N/s, 0, 0], links: a}}\n"
            "study: [dynamic: {for: 1 s, step: 10 ms, scheme: conserving}]\n",
            "fields that vary with time ('f')");
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_have_exact_derivatives),
        cmocka_unit_test(statics_have_an_exact_stiffness_and_a_potential),
        cmocka_unit_test(laws_of_the_place_have_exact_derivatives),
        cmocka_unit_test(a_body_near_a_dipole_has_the_wrench_of_the_reference),
#ifndef SNW_NUMBERS
        cmocka_unit_test(magnets_within_the_robot_keep_its_momentum),
        cmocka_unit_test(every_scheme_moves_a_mass_in_a_field),
        cmocka_unit_test(the_work_of_a_swirl_is_counted),
        cmocka_unit_test(a_compass_needle_swings),
        cmocka_unit_test(what_fields_cannot_do_is_refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
