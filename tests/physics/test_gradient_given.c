// SPDX-License-Identifier: MIT
//
// Gradients by numbers of given motions, friction of tendons, states of laws, changes of the model
// and initial states, and of wrenches within rods: all are gathered along the run, theory.md
// (7.5.11) to (7.5.24), equal forward sensitivities and differences of whole runs, and need one
// sweep and a few models whatever their number.
#include "asked_gradient.h"
#include "random_rod.h"
#include "sanitized.h"

#include <stdlib.h>

static const char *const schemes[] = {"bdf2", "generalized-alpha", "gauss4", "newmark", "euler"};

// Hub, link and soft rod; pose and joint of the hub, more parts, actuators and study are left open.
#define ARM                                                                                        \
    "sinew: 1\n"                                                                                   \
    "parameters: {amp: %.3f, w: %.3f, sx: %.3f cm, f: %.3f, tilt: %.3f, dy: 0.1 m, k: 1.5 N*m, "   \
    "m: "                                                                                          \
    "0.5 kg, E: 0.4 MPa, g: 9.81 m/s^2, ki: 300 N*m/s, T: 2 N}\n"                                  \
    "gravity: [g, 0, 0]\n"                                                                         \
    "materials: {s: {young: E, poisson: 0.45, density: 1100, damping: 8 ms}}\n"                    \
    "robot:\n"                                                                                     \
    "  base: {on: world%s, body: {mass: 0.1 kg}}\n"                                                \
    "  upper: {on: base, joint: revolute, axis: z%s, body: {mass: 0.8 kg, com: [0.6 m, 0, 0]}}\n"  \
    "  lower: {on: upper, pose: {xyz: [0.6 m, 0, dy]}, joint: revolute, axis: [0.2, 0.1, 1], "     \
    "stiffness: k, damping: 0.02, body: {mass: m, com: [0.4 m, 0, 0]}}\n"                          \
    "  soft: {on: lower, pose: {xyz: [0.4 m, 0, 0]}, rod: {length: 0.3 m, section: {circle: "      \
    "{radius: 1 cm}}, material: s, strain: {bend_y: legendre 2, bend_z: legendre 1}, nodes: 4}}\n" \
    "sites: {bob: {on: soft.tip, pose: {xyz: [0.1 m, 0, 0]}}}\n"                                   \
    "probes: {bob: {position: bob}, vv: {velocity: bob}, e: energy, in: {wrench: soft@30%%}, "     \
    "ten: "                                                                                        \
    "{tension: cable}}\n"                                                                          \
    "%s"                                                                                           \
    "actuators: {cable: {tendon: {along: soft, at: [0, 5 mm, 1 mm]%s}, effort: "                   \
    "\"T*(1 + 0.5*sin(w*t/(1 s)))\"}%s}\n"                                                         \
    "study:\n%s"

static const char moving[] =
    ", pose: {xyz: [\"sx*sin(f*t/(1 s))\", \"dy*t/(1 s)\", \"0.02 m + sx*cos(f*t/(1 s))^3\"], rpy: "
    "[\"amp*sin(3*t/(1 s))\", \"tilt*exp(-t/(1 s))\", \"0.1*tilt + amp*tanh(t/(1 s))\"]}";
static const char driven[] =
    ", drive: {joint: upper, position: \"amp*sin(w*t/(1 s)) + 0.1*amp^2*(t/(1 s))^2 + "
    "tilt*poly5(t, 10 ms, 90 ms)\"}, motor: {joint: lower, effort: \"-ki*integral(vv.vy*2/(1 "
    "m))*(0.05 s)\"}";

typedef struct numbers {
    double x[5];
} numbers;

static numbers draw(dice *d) {
    return (numbers){
        {roll(d, 0.2, 0.5), roll(d, 3, 8), roll(d, 2, 6), roll(d, 5, 9), roll(d, 0.2, 0.5)}};
}

static void write_arm(char *text, numbers x, const char *pose, const char *spring, const char *more,
                      const char *path, const char *acts, const char *study) {
    (void)snprintf(text, TEXT, ARM, x.x[0], x.x[1], x.x[2], x.x[3], x.x[4], pose, spring, more,
                   path, acts, study);
}

static const char *motion(const char *scheme, const char *before) {
    static char text[400];
    (void)snprintf(text, sizeof text, "%s  - dynamic: {for: 0.1 s, step: 5 ms, scheme: %s}\n",
                   before, scheme);
    return text;
}

// Poses and joints that move as given, with an integral of a rate that they give; from rest and
// not.
static void given_motions(void **state) {
    (void)state;
    dice d = {11};
    char text[TEXT];
    static outcome got, want;
    for (int n = 0; n < AMONG(2, 5); n++) {
        write_arm(text, draw(&d), moving, "", "", "", driven,
                  motion(schemes[n], n == 1 ? "  - dynamic: {for: 20 ms, step: 5 ms}\n"
                                              "  - static: {tolerance: 1e-13}\n"
                                            : ""));
        question q = {.text = text,
                      .nby = 12,
                      .by = {"amp", "w", "sx", "f", "tilt", "dy", "k", "m", "E", "g", "ki", "T"},
                      .nof = 2,
                      .of = {"integral(bob.y^2 + vv.vz)", "e.kinetic"}};
        gathers(&q, 0, 1e-10);
        if (n > 1) continue; // an equilibrium between two motions starts the second from rest
        answer(&q, &got);
        differences(&q, 1e-4, &want);
        near_all(12, got.dJ, want.dJ, 1e-8);
    }
}

// A joint that is held, and its place: the stages of collocation read it, too.
static void a_constant_position(void **state) {
    (void)state;
    dice d = {12};
    char text[TEXT];
    static outcome got, want;
    for (int n = 1; n < 4; n++) {
        write_arm(text, draw(&d), "", "", "", "", ", drive: {joint: upper, position: amp}",
                  motion(schemes[n], ""));
        question q = {.text = text, .nby = 2, .by = {"amp", "k"}, .nof = 1, .of = {"bob.y"}};
        gathers(&q, 0, 1e-10);
        answer(&q, &got);
        differences(&q, 1e-3, &want);
        near_all(2, got.dJ, want.dJ, 1e-8);
    }
}

static void friction_of_tendons(void **state) {
    (void)state;
    dice d = {13};
    char text[TEXT];
    for (int n = 0; n < AMONG(1, 3); n++) {
        write_arm(text, draw(&d), "", ", stiffness: k", "initial: {upper: 0.3, lower: amp}\n",
                  ", friction: amp, viscous: tilt", "", motion(schemes[n], ""));
        gathers(&(question){.text = text,
                            .nby = 8,
                            .by = {"amp", "w", "tilt", "dy", "k", "m", "E", "T"},
                            .nof = 2,
                            .of = {"integral(bob.y^2)", "bob.z"}},
                0, 1e-10);
    }
}

// Laws that read states, which read each other, and a tension; the wrench within the rod.
static void states_efforts_and_wrenches(void **state) {
    (void)state;
    dice d = {14};
    char text[TEXT];
    static const char states[] =
        "initial: {lower: amp}\n"
        "states:\n"
        "  y: {rate: \"w*(bob.z/(1 m) - y)*10/(1 s) + f*u/(1 s)\", initial: amp}\n"
        "  u: {rate: \"(-f*u + 3*y + vv.vy/(1 m/s))*20/(1 s)\", initial: tilt}\n";
    for (int n = 0; n < 2; n++) {
        write_arm(text, draw(&d), "", ", stiffness: k", states, "",
                  ", motor: {joint: upper, effort: \"-(0.2 N*m)*y*w - tilt*(0.1 m)*ten + "
                  "u*integral(u*f/(1 s))*(1 N*m)\"}",
                  motion(schemes[n], ""));
        question q = {.text = text,
                      .nby = 8,
                      .by = {"amp", "w", "f", "tilt", "k", "m", "E", "T"},
                      .nof = 2,
                      .of = {"integral(bob.y^2)", "bob.z"}};
        gathers(&q, 0, 1e-10);
        q.of[0] = "integral(in.my^2 + in.fx)", q.of[1] = "in.mz + in.fy";
        gathers(&q, 0, 1e-9); // the wrench along coordinates by differences
    }
}

// Two changes, the second before an equilibrium; the initial state moves with a number.
static void changes_of_the_model(void **state) {
    (void)state;
    dice d = {15};
    char text[TEXT];
    for (int n = 0; n < AMONG(1, 3); n++) {
        char study[800];
        (void)snprintf(study, sizeof study,
                       "  - dynamic: {for: 50 ms, step: 5 ms, scheme: %s}\n"
                       "  - change: {lower.stiffness: 2*k, lower.body.mass: m*(1 + amp)}\n"
                       "  - dynamic: {for: 50 ms, step: 5 ms, scheme: %s}\n"
                       "%s",
                       schemes[n], schemes[n],
                       n == 1 ? ""
                              : "  - change: {upper.stiffness: 3*k}\n  - static: {tolerance: "
                                "1e-13}\n  - dynamic: {for: 20 ms, step: 5 ms}\n");
        write_arm(text, draw(&d), "", ", stiffness: k", "initial: {upper: 0.3, lower: amp}\n", "",
                  "", study);
        gathers(&(question){.text = text,
                            .nby = 7,
                            .by = {"amp", "w", "dy", "k", "m", "E", "T"},
                            .nof = 2,
                            .of = {"integral(bob.y^2 + vv.vz)", "e.elastic"}},
                0, 1e-10);
    }
}

// A swimming wave: bending and stretch of a rod on a free body are given, the rest follows.
static void given_strains(void **state) {
    (void)state;
    static const char *const by[] = {"A", "w", "k", "c", "B", "E", "m"};
    for (int n = 0; n < AMONG(1, 4); n++) {
        char text[TEXT];
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "parameters: {A: 3, w: 12, k: 5, c: 0.5, B: 0.02, E: 0.4 MPa, m: 0.1 kg}\n"
            "gravity: [0, 0.4, -9.81 m/s^2]\n"
            "materials: {gel: {young: E, poisson: 0.45, density: 1000, damping: 5 ms}}\n"
            "robot:\n"
            "  hub: {on: world, joint: free, body: {mass: m, inertia: [1e-4, 1e-4, 2e-4]}}\n"
            "  arm: {on: hub, rod: {length: 0.3, section: {circle: {radius: 1 cm}}, material: gel, "
            "strain: {bend_y: legendre 2, bend_z: \"A*(1 + c*x/L)*sin(w*t/(1 s) - k*x/L)\", "
            "stretch: \"B*sin(7*t/(1 s))*x/L\"}, nodes: 6}}\n"
            "probes: {tip: {position: arm.tip}, v: {velocity: arm@40%%}, e: energy, a: "
            "{acceleration: arm.tip}, f: {reaction: arm}}\n"
            "study: [dynamic: {for: 30 ms, step: 2 ms, scheme: %s}]\n",
            schemes[n]);
        question q = {.text = text,
                      .nby = 7,
                      .nof = 4,
                      .of = {"integral(tip.y^2 + v.vx)", "e.kinetic", "a.ay", "f.fx + f.mz"}};
        memcpy(q.by, by, sizeof by);
        gathers(&q, 0, 1e-10);
        static outcome got, want;
        if (n > 0) continue;
        answer(&q, &got);
        differences(&q, 1e-4, &want);
        for (int k = 0; k < q.nby; k++)
            assert_true(fabs((got.dJ[k] - want.dJ[k]) * got.p[k]) <= 1e-8 * fabs(got.J[0]));
    }
}

// One sweep and three models for 10 and 300 amplitudes of a given motion, whose rates at the start
// they change, through a change of the model.
static void one_sweep_for_any_number(void **state) {
    (void)state;
    enum { SIZE = 300, ROOM = 60000 };
    static char text[ROOM], name[SIZE][16];
    static snw_gradient_variable by[SIZE];
    static double p[SIZE], dJ[SIZE];
    double J;
    for (int n = 10; n <= SIZE; n += SIZE - 10) {
        size_t used = (size_t)snprintf(text, ROOM, "sinew: 1\nparameters: {");
        for (int i = 0; i < n; i++) {
            (void)snprintf(name[i], sizeof name[i], "a%d", i);
            by[i] = (snw_gradient_variable){.name = name[i]};
            used += (size_t)snprintf(text + used, ROOM - used, "a%d: %.3f, ", i, 0.1 / (i + 1));
        }
        used += (size_t)snprintf(
            text + used, ROOM - used,
            "k: 2 N*m}\ngravity: [9.81, 0, 0]\nrobot:\n"
            "  hub: {on: world, joint: revolute, axis: z, body: {mass: 1, com: [0.3, 0, 0]}}\n"
            "  arm: {on: hub, pose: {xyz: [0.5, 0, 0]}, joint: revolute, axis: z, stiffness: k, "
            "body: {mass: 1, com: [0.3, 0, 0]}}\n"
            "probes: {q: {value: arm}}\nactuators: {drive: {joint: hub, position: \"0");
        for (int i = 0; i < n; i++)
            used += (size_t)snprintf(text + used, ROOM - used, " + a%d*sin(%d*t/(1 s))", i, i + 1);
        (void)snprintf(text + used, ROOM - used,
                       "\"}}\nstudy:\n  - dynamic: {for: 20 ms, step: 2 ms}\n"
                       "  - change: {arm.stiffness: 2*k}\n  - static: {}\n"
                       "  - dynamic: {for: 20 ms, step: 2 ms}\n");
        const char *const of = "integral(q^2)";
        snw_gradient_options how = snw_gradient_defaults();
        how.nvariable = n, how.variable = by;
        how.nscalar = 1, how.scalar = &of;
        how.method = SNW_GRADIENT_ADJOINT;
        snw_robot_model *model = NULL;
        snw_gradient *g = NULL;
        snw_error err = {0};
        snw_status s =
            snw_robot_model_parse("test", text, strlen(text), NULL, 0, NULL, &model, &err);
        if (s == SNW_OK) s = snw_gradient_create(model, &how, &g, &err);
        if (s == SNW_OK) s = snw_gradient_start(g, p, &err);
        if (s == SNW_OK) s = snw_gradient_evaluate(g, p, &J, dJ, &err);
        if (s != SNW_OK) print_error("%s\n", err.text);
        assert_int_equal(s, SNW_OK);
        const snw_gradient_info info = snw_gradient_report(g);
        assert_int_equal(info.gathered, n);
        assert_int_equal(info.sweeps, 1);
        assert_int_equal(info.models, 3);
        snw_gradient_close(g);
        snw_robot_model_close(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_motions),
        cmocka_unit_test(a_constant_position),
        cmocka_unit_test(friction_of_tendons),
        cmocka_unit_test(states_efforts_and_wrenches),
        cmocka_unit_test(changes_of_the_model),
        cmocka_unit_test(given_strains),
        cmocka_unit_test(one_sweep_for_any_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
