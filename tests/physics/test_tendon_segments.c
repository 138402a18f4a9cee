// SPDX-License-Identifier: MIT
//
// Tendons with straight parts between links, and tendons of given length: their coordinates and
// their forces.
#include "dynamics/constraint.h"
#include "dynamics/tendon.h"
#include "random_rod.h"
#include "row_rig.h"
#include "sanitized.h"
#include "setting.h"

#include <stdio.h>

// A free base, hinges, a spherical joint and two rods; tendons run from eye to eye, along rods in
// between, and through free space.
#define ROBOT                                                                                      \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"           \
    "robot:\n"                                                                                     \
    "  base: {on: world, joint: free, body: {mass: 1, inertia: [0.1, 0.2, 0.3]}}\n"                \
    "  arm: {on: base, pose: {xyz: [0.1, 0, 0.05], x: y}, rod: {length: 0.5, section: {circle: "   \
    "{radius: 20 mm}}, material: rubber, strain: cosserat legendre 3, rest: {bend_y: 0.5*x/L}}}\n" \
    "  hand: {on: arm.tip, joint: spherical, pose: {xyz: [0.05, 0, 0]}, body: {mass: 0.2, "        \
    "inertia: [0.01, 0.02, 0.03]}}\n"                                                              \
    "  finger: {on: hand, joint: revolute, rod: {length: 0.3, section: {circle: {radius: 10 "      \
    "mm}}, material: rubber, strain: kirchhoff legendre 2}}\n"                                     \
    "sites:\n"                                                                                     \
    "  winch: {on: base, pose: {xyz: [-0.05, 0.03, 0.1]}}\n"                                       \
    "  eye: {on: arm@40%, pose: {xyz: [0, 0.03, 0.02]}}\n"                                         \
    "  hook: {on: hand, pose: {xyz: [0.02, 0.04, -0.03]}}\n"                                       \
    "  post: {on: world, pose: {xyz: [0.4, -0.2, 0.3]}}\n"                                         \
    "probes: {tip: {position: finger.tip}, long: {length: through}, gone: {rate: free}}\n"

static const char *const tendons[] = {
    "  through: {tendon: {path: [winch, arm, eye, hook, finger], at: [0, 3 mm, 4 mm*cos(5*x)], "
    "%s}, "
    "%s}\n",
    "  free: {tendon: {path: [post, hook, finger.tip], %s}, %s}\n",
    "  part: {tendon: {path: [arm, winch, post], at: [0, 2 mm, 0], from: 0.1, to: L/2, %s}, %s}\n",
    "  joined: {tendon: {along: [arm, finger], at: [0, 2 mm, 3 mm*x/L], %s}, %s}\n",
    "  apart: {tendon: {along: [finger, arm], at: [0, 0, 3 mm], to: L/2, %s}, %s}\n"};
enum { TENDONS = 5 };

static void robot_open(setting *s, const char *more, const char *given, dice *d) {
    char text[6000] = ROBOT "actuators:\n";
    for (int i = 0; i < TENDONS; i++) {
        const size_t at = strlen(text);
        (void)snprintf(text + at, sizeof text - at, tendons[i], more, given);
    }
    setting_random(s, text, d);
}

static const struct {
    const char *more, *given;
} ways[] = {
    {"extra: 0", "effort: 5 N*cos(t)^2"},
    {"extra: 0", "effort: \"3 N + limit(tip.x, -1, 1)*1 N/m\""},
    {"extra: 20 mm, compliance: 2e-2 1/N", "shortening: 0.1 m + 10 mm*sin(t)"},
    {"friction: 0.3, creep: 0.2 m/s", "effort: 5 N*cos(t)^2"},
    {"extra: 20 mm, compliance: 2e-2 1/N, viscous: 1 s/m", "shortening: 0.3 m + 0.1*sin(t)"},
    {"extra: 0", "effort: \"9 N + 2 N/m*limit(long, -1, 1) + 1 N*s/m*limit(gone, -2, 2)\""},
    {"friction: 0.3, creep: 0.2 m/s", "effort: \"9 N + 2 N/m*long + 1 N*s/m*limit(gone, -2, 2)\""},
    {"extra: 0", "shortening: 10 mm*sin(t)"}};
enum { WAYS = 8, BY_ROW = 7 };

static void straight_segments_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {91};
    for (int k = 0; k < WAYS; k++) {
        for (int n = 0; n < 2; n++) {
            setting s;
            robot_open(&s, ways[k].more, ways[k].given, &d);
            for (int i = 0; i < s.g.m->nconstraint; i++) s.g.s->lambda[i] = roll(&d, 1, 5);
            rig_check(&s.g);
            assert_true(s.g.w->tendon[0].effort > 0 && s.g.w->tendon[1].effort > 0);
            const bool friction = s.g.m->tendon[0].has_friction;
            assert_int_equal(s.g.m->ntendon_corner, friction ? 5 + 1 + 2 + 1 + 1 : 0);
            for (int i = 0; i < s.g.m->ntendon_corner; i++) {
                assert_true(s.g.w->tendon_point[s.g.m->tendon_corner[i].point].corner > 0.05);
            }
            setting_close(&s);
        }
    }
}

// The virtual work of the efforts is that of their coordinates.
static void efforts_work_along_their_lengths(void **state) {
    (void)state;
    dice d = {92};
    setting s;
    robot_open(&s, "extra: 0", "effort: 5 N*cos(t)^2", &d);
    rig *g = &s.g;
    const int n = g->m->nv;
    double *with = calloc((size_t)n, sizeof *with), *dx = calloc((size_t)n, sizeof *dx);
    double *off = calloc((size_t)n, sizeof *off), effort[TENDONS];
    snw_residual(g->m, g->in, g->s, false, g->w);
    memcpy(with, g->w->r, (size_t)n * sizeof *with);
    for (int i = 0; i < TENDONS; i++) effort[i] = g->w->tendon[i].effort;
    for (int i = 0; i < TENDONS; i++) g->in->tendon[i].v = 0;
    snw_residual(g->m, g->in, g->s, false, g->w);
    memcpy(off, g->w->r, (size_t)n * sizeof *off);
    snw_state_copy(g->m, g->s, g->moved);
    for (int l = 0; l < g->m->nv; l++) {
        double work = 0, want = 0;
        rig_direction(g, l, dx);
        for (int way = 0; way < BESIDE; way++) {
            snw_move(g->m, g->s->q, beside(way), dx, g->moved->q);
            snw_residual(g->m, g->in, g->moved, true, g->w);
            for (int i = 0; i < TENDONS; i++) {
                want += effort[i] * slope_of(way, g->w->tendon[i].value);
            }
        }
        for (int j = 0; j < n; j++) work += (off[j] - with[j]) * dx[j];
        assert_near(work, want, LEFT);
    }
    free(with);
    free(off);
    free(dx);
    setting_close(&s);
}

// Given lengths: constraint rows are derivatives of the lengths, and so are their rates.
static void rows_have_their_rates(void **state) {
    (void)state;
    dice d = {93};
    setting s;
    robot_open(&s, ways[BY_ROW].more, ways[BY_ROW].given, &d);
    assert_int_equal(s.g.m->nconstraint, TENDONS);
    for (int i = 0; i < TENDONS; i++) s.g.s->lambda[i] = roll(&d, 1, 5);
    rows_check(&s.g);
    setting_close(&s);
}

#ifndef SNW_NUMBERS // no derivatives

// The power on the robot is that of the tendons minus the friction loss, and the friction loss is
// never negative, also where paths have corners; with negligible friction the forces are those
// without friction.
static void friction_at_corners_only_dissipates(void **state) {
    (void)state;
    dice d = {94};
    for (int k = 0; k < 30; k++) {
        setting s;
        robot_open(&s, "friction: 0.3, viscous: 0.1 s/m, creep: 0.2 m/s", "effort: 4 N", &d);
        rig *g = &s.g;
        const int n = g->m->nv;
        double *with = calloc((size_t)n, sizeof *with), got = 0;
        snw_residual(g->m, g->in, g->s, false, g->w);
        memcpy(with, g->w->r, (size_t)n * sizeof *with);
        const double given = snw_tendons_power(g->m, g->w), lost = snw_tendons_heat(g->m, g->w);
        assert_true(lost > 0);
        for (int i = 0; i < TENDONS; i++) {
            const snw_tendon *x = &g->m->tendon[i];
            double before = 1;
            for (int j = x->point_adr; j < x->point_adr + x->npoint; j++) {
                const snw_tendon_point_work *at = &g->w->tendon_point[j];
                assert_true((before - at->tension_fraction) * at->nu >= 0 &&
                            at->tension_fraction > 0 && at->corner >= 0);
                before = at->tension_fraction;
            }
            g->in->tendon[i].v = 0;
        }
        snw_residual(g->m, g->in, g->s, false, g->w);
        for (int i = 0; i < n; i++) got += (g->w->r[i] - with[i]) * g->s->v[i];
        assert_near(got, given - lost, 1e-11 * (fabs(given) + fabs(lost)));
        free(with);
        setting_close(&s);
    }
    static const char *const more[] = {"extra: 0", "friction: 1e-9", "friction: 0.1"};
    setting s[3];
    double far[3] = {0};
    for (int k = 0; k < 3; k++) {
        dice same = {95};
        robot_open(&s[k], more[k], "effort: 4 N", &same);
        snw_residual(s[k].g.m, s[k].g.in, s[k].g.s, false, s[k].g.w);
        for (int i = 0; i < s[k].g.m->nv; i++) {
            far[k] = fmax(far[k], fabs(s[k].g.w->r[i] - s[0].g.w->r[i]));
        }
    }
    assert_true(far[1] < 1e-7 && far[2] > 1e-2);
    for (int k = 0; k < 3; k++) setting_close(&s[k]);
}

#define WEIGHTS                                                                                    \
    "sinew: 1\n"                                                                                   \
    "robot:\n"                                                                                     \
    "  one: {on: world, pose: {xyz: [-0.1, 0, -1]}, joint: prismatic, axis: z, body: {mass: "      \
    "0.3}}\n"                                                                                      \
    "  two: {on: world, pose: {xyz: [0.1, 0, -1]}, joint: prismatic, axis: z, body: {mass: "       \
    "0.2}}\n"                                                                                      \
    "sites: {left: {on: world, pose: {xyz: [-0.1, 0, 0]}}, right: {on: world, pose: {xyz: [0.1, "  \
    "0, 0]}}}\n"

// Two weights on a tendon over an eye.
static void weights_on_a_tendon_fall_as_atwood_says(void **state) {
    (void)state;
    static const char *const schemes[] = {"scheme: adaptive, tolerance: 1e-11", "step: 1 ms",
                                          "scheme: bdf2, step: 1 ms"};
    const double m1 = 0.3, m2 = 0.2, g = 9.81, t = 0.2, a = (m1 - m2) / (m1 + m2) * g;
    for (int k = 0; k < 3; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            WEIGHTS
            "actuators: {cord: {tendon: {path: [one, left, right, two]}, shortening: 0}}\n"
            "study: [dynamic: {for: 0.2 s, %s}]\n"
            "probes: {z: {value: one}, T: {tension: cord}, l: {length: cord}, e: energy, one: "
            "{pull: cord.root}, two: {pull: cord.tip}, way: {tension: cord, along: 5}}\n",
            schemes[k]);
        execute_ok(text, &o);
        const double exact =
            k == 0 ? 1e-9 : 1e-6; // constant acceleration; bdf2 starts with an Euler step
        assert_near(last(&o, 0), -0.5 * a * t * t, k == 2 ? 2e-3 : exact);
        assert_near(last(&o, 1), 2 * m1 * m2 / (m1 + m2) * g, 1e-8);
        assert_near(last(&o, 2), 2.2, 1e-12);
        assert_near(last(&o, 3 + 6), 0, 1e-8);
        enum { ONE = 3 + 8, TWO = ONE + 6, WAY = TWO + 6 };
        for (int i = 0; i < 6; i++) {
            assert_near(last(&o, ONE + i), i == 5 ? last(&o, 1) : 0, 1e-12);
            assert_near(last(&o, TWO + i), i == 5 ? last(&o, 1) : 0, 1e-12);
        }
        for (int i = 0; i < 5; i++) assert_near(last(&o, WAY + i), last(&o, 1), 1e-12);
        snw_series_clear(&o.series);
    }
}

// The same with friction at the eyes, half a turn in all: the tension falls by exp(-friction pi) as
// long as the heavier weight falls. In one case the tension is given as the effort, in the other it
// follows from the very small elongation of the tendon.
static void atwoods_machine_has_friction_at_its_pulley(void **state) {
    (void)state;
    const double m1 = 0.3, m2 = 0.2, g = 9.81, t = 0.2, v = 0.1, mu = 0.1, c = 1e-5;
    const double turn = exp(-0.5 * mu * M_PI), left = turn * turn;
    const double a = g * (left * m1 - m2) / (left * m1 + m2), T = m1 * (g - a);
    const double unstretched = 1 / (1 + c * T) + 0.2 / (1 + c * T * turn) + 1 / (1 + c * T * left);
    for (int k = 0; k < 2; k++) {
        char text[2000], given[100];
        outcome o;
        (void)snprintf(given, sizeof given, k == 0 ? "effort: %.17g N" : "shortening: %.17g m",
                       k == 0 ? T : 2.2 - unstretched);
        (void)snprintf(
            text, sizeof text,
            WEIGHTS
            "actuators: {cord: {tendon: {path: [one, left, right, two], friction: 0.1, creep: 1 "
            "um/s%s}, %s}}\n"
            "initial: {one: {rate: -0.1}, two: {rate: 0.1}}\n"
            "study: [dynamic: {for: 0.2 s, scheme: adaptive, tolerance: 1e-10}]\n"
            "probes: {one: {value: one}, two: {value: two}, T: {tension: cord}, way: {tension: "
            "cord, along: 5}, e: energy}\n",
            k == 0 ? "" : ", compliance: 1e-5 1/N", given);
        execute_ok(text, &o);
        enum { ONE, TWO, TENSION, WAY, ENERGY = WAY + 5, LOST = ENERGY + 3, BALANCE = ENERGY + 6 };
        // both corners are regularised by 1e-5 rad; an elongation of c T moves both weights by as
        // much
        const double fallen = v * t + 0.5 * a * t * t, near = 2e-5 * mu + (k == 0 ? 0 : c * T);
        printf("fallen %.9f, risen %.9f, closed form %.9f m\n", -last(&o, ONE), last(&o, TWO),
               fallen);
        assert_near(last(&o, ONE), -fallen, g * t * t * near);
        assert_near(last(&o, TWO), fallen, g * t * t * near);
        const double rubbed = k == 0 ? T : last(&o, TENSION);
        assert_near(last(&o, TENSION), T, T * (k == 0 ? 0 : 1e-3));
        const double way[5] = {1, 1, turn, left, left};
        for (int i = 0; i < 5; i++) {
            assert_near(last(&o, WAY + i), rubbed * way[i], 2e-5 * mu * T);
        }
        assert_near(last(&o, LOST), T * (1 - left) * fallen, 1e-4 * T * (1 - left) * fallen);
        assert_near(last(&o, BALANCE), 0, 1e-8);
        snw_series_clear(&o.series);
    }
}

// A weight on a string of given length is a pendulum: at the lowest point the tension is m g (3 - 2
// cos a).
static void a_weight_on_a_string_is_a_pendulum(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\n"
        "robot: {bob: {on: world, pose: {xyz: [0.8, 0, -0.6]}, joint: planar, axis: y, body: "
        "{mass: 0.5, inertia: [1e-4, 1e-4, 1e-4]}}}\n"
        "actuators: {string: {tendon: {path: [world, bob]}, shortening: 0}}\n"
        "study: [dynamic: {until: bob.x <= 0, for: 2 s, scheme: adaptive, tolerance: 1e-10}]\n"
        "probes: {bob: {position: bob}, T: {tension: string}}\n",
        &o);
    assert_near(last(&o, 0), 0, 1e-8);
    assert_near(last(&o, 2), -1, 1e-10);
    assert_near(last(&o, 3), 0.5 * 9.81 * (3 - 2 * 0.6), 1e-6);
    snw_series_clear(&o.series);
}

#define ARM                                                                                        \
    "sinew: 1\n"                                                                                   \
    "gravity: [0, 0, -9.81]\n"                                                                     \
    "materials: {rubber: {young: 0.5 MPa, poisson: 0.5, density: 1000, damping: 10 ms}}\n"         \
    "robot: {arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 12 mm}}, material: "   \
    "rubber, strain: cosserat legendre 3}}}\n"

#define UNTIL AMONG("0.02 s", "0.2 s")

// The tension that a given length requires, given as an effort, makes the same shape. In motion the
// same laws of the length through a stiff winch and through a constraint row agree as the winch
// gets stiffer.
static void lengths_and_tensions_agree(void **state) {
    (void)state;
    static const char form[] =
        ARM "actuators: {cord: {tendon: {along: arm, at: [0, 2 mm, 8 mm], %s}, %s}}\n"
            "study: [%s]\n"
            "probes: {pull: {tension: cord}, tip: {position: arm.tip}, path: {length: cord}, e: "
            "energy}\n";
    char text[2000], given[100];
    outcome o[4];
    const double until = AMONG(0.02, 0.2);
    (void)snprintf(text, sizeof text, form, "extra: 0", "shortening: 15 mm", "static:");
    execute(text, &o[0]);
    if (o[0].status != SNW_OK) fail_msg("%s", o[0].err.text);
    assert_near(last(&o[0], 4), 0.3 - 0.015, 1e-12);
    assert_true(last(&o[0], 0) > 0.5);
    (void)snprintf(given, sizeof given, "effort: %.17g N", last(&o[0], 0));
    (void)snprintf(text, sizeof text, form, "extra: 0", given, "static:");
    execute(text, &o[1]);
    if (o[1].status != SNW_OK) fail_msg("%s", o[1].err.text);
    for (int c = 1; c < 5; c++) assert_near(last(&o[1], c), last(&o[0], c), 1e-8);
    snw_series_clear(&o[0].series);
    snw_series_clear(&o[1].series);
    static const char *const more[] = {"extra: 0", "compliance: 1e-3 1/N", "compliance: 1e-4 1/N",
                                       "extra: 0"};
    for (int k = 0; k < 4; k++) {
        (void)snprintf(text, sizeof text, form, more[k], "shortening: 15 mm + 5 mm*sin(9*t)^2",
                       k == 3 ? "static:, dynamic: {for: " UNTIL
                                ", scheme: adaptive, tolerance: 1e-10}"
                              : "static:, dynamic: {for: " UNTIL ", step: 1 ms}");
        execute(text, &o[k]);
        if (o[k].status != SNW_OK) fail_msg("%s", o[k].err.text);
    }
    const double far = fabs(last(&o[1], 3) - last(&o[0], 3));
    const double near = fabs(last(&o[2], 3) - last(&o[0], 3));
    printf(
        "compliance 1e-3: %.2e m, 1e-4: %.2e m from the row; steps %.2e m; T %.4f, %.4f, %.4f N\n",
        far, near, last(&o[0], 3) - last(&o[3], 3), last(&o[0], 0), last(&o[2], 0), last(&o[3], 0));
    assert_true(near > 0.08 * far && near < 0.12 * far);
    assert_near(last(&o[0], 3), last(&o[3], 3), 1e-5);
    assert_near(last(&o[0], 0), last(&o[3], 0), 1e-2);
    assert_near(last(&o[3], 4), 0.3 - 0.015 - 0.005 * pow(sin(9 * until), 2), 1e-12);
    assert_near(last(&o[3], 5 + 6), 0, 1e-8);
    for (int k = 0; k < 4; k++) snw_series_clear(&o[k].series);
}

// A tendon that would have to push gives one warning, with a remedy.
static void a_tendon_that_pushes_is_reported(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       ARM "actuators: {cord: {tendon: {along: arm, at: [0, 0, 8 mm]%s}, "
                           "shortening: \"-30 mm*ramp(t, 0 s, 1 s)\"}}\n"
                           "study: [static: {for: 1 s, step: 0.1 s}]\n"
                           "probes: {pull: {tension: cord}}\n",
                       k == 0 ? "" : ", compliance: 1e-3 1/N");
        execute_ok(text, &o);
        assert_true(k == 0 ? last(&o, 0) < -0.1 : last(&o, 0) == 0);
        assert_int_equal(o.warnings, k == 0);
        snw_series_clear(&o.series);
    }
}

// A plate in the middle of eight cables a million times as stiff as its weight requires: heights
// and tensions follow from the balance of two lengths. Nothing else holds the plate, and rounding
// leaves larger forces than the tolerance.
static void stiff_cables_hold_a_plate(void **state) {
    (void)state;
    for (double c = 1e-4; c > 1e-8; c *= 0.1) {
        outcome o;
        char text[2500];
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\nparameters: {c: %g 1/N, side: [1, -1, -1, 1], front: [1, 1, -1, -1]}\n"
            "robot: {plate: {on: world, pose: {xyz: [0, 0, 1]}, joint: free, body: {box: [0.3, "
            "0.3, "
            "0.1], mass: 10}}}\n"
            "sites:\n"
            "  post(k=1..4): {on: world, pose: {xyz: [side(k), front(k), 2]}}\n"
            "  foot(k=1..4): {on: world, pose: {xyz: [side(k), front(k), 0]}}\n"
            "  eye(k=1..4): {on: plate, pose: {xyz: [0.15*side(k), 0.15*front(k), 0]}}\n"
            "actuators:\n"
            "  up(k=1..4): {tendon: {path: [post(k), eye(k)], compliance: c, extra: 0.5 m}, "
            "shortening: 2 mm}\n"
            "  down(k=1..4): {tendon: {path: [foot(k), eye(k)], compliance: c, extra: 0.5 m}, "
            "shortening: 1 mm}\n"
            "study: [static:]\n"
            "probes: {p: {position: plate}, T: {tension: up(1)}, D: {tension: down(1)}}\n",
            c);
        execute_ok(text, &o);
        const double z = last(&o, 2), flat = 2 * 0.85 * 0.85, made = sqrt(flat + 1) + 0.5;
        const double up = sqrt(flat + (2 - z) * (2 - z)), down = sqrt(flat + z * z);
        const double T = ((up + 0.5) / (made - 2e-3) - 1) / c;
        const double D = fmax(0, ((down + 0.5) / (made - 1e-3) - 1) / c);
        assert_near(4 * (T * (2 - z) / up - D * z / down), 98.1, 1e-8 + 1e-14 / c);
        assert_near(last(&o, 3), T, 1e-14 / c);
        assert_near(last(&o, 4), D, 1e-14 / c);
        snw_series_clear(&o.series);
    }
}

// Where two eyes coincide a tendon has no direction, which gives one warning.
static void segments_of_zero_length_are_reported(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n"
            "robot: {cart: {on: world, pose: {xyz: [0.1, 0, 0]}, joint: prismatic, axis: "
            "x, body: {mass: 1}}}\n"
            "actuators:\n"
            "  drive: {joint: cart, position: -0.1 m*%g*t/(1 s)}\n"
            "  cord: {tendon: {path: [world, cart]}, effort: 1 N}\n"
            "study: [dynamic: {for: 1 s, step: 10 ms}]\n"
            "probes: {way: {length: cord}}\n",
            k == 0 ? 0.9995 : 0.9);
        execute_ok(text, &o);
        assert_near(last(&o, 0), k == 0 ? 5e-5 : 0.01, 1e-12);
        assert_int_equal(o.warnings, k == 0);
        snw_series_clear(&o.series);
    }
}

// A steel tendon on a thin rod: the load is applied although a winch a million times as stiff as
// the rod becomes taut during loading. Its tension converges to that of an inextensible tendon in
// proportion to the compliance.
static void a_stiff_winch_reaches_equilibrium(void **state) {
    (void)state;
    static const char form[] =
        "sinew: 1\n"
        "gravity: [-9.81, 0, 0]\n"
        "materials: {steel: {young: 207 GPa, shear: 80 GPa, density: 33000}}\n"
        "robot: {arm: {on: world, pose: {x: z, y: x}, rod: {length: 0.7, section: {circle: "
        "{diameter: 1.35 mm}}, "
        "material: steel, strain: cosserat legendre 6}}}\n"
        "actuators: {pull: {tendon: {along: arm, at: [0, 15 mm, 0], discs: 15 mm, extra: 50 mm%s}, "
        "shortening: 16 mm}}\n"
        "study: [static:]\n"
        "probes: {T: {tension: pull}, tip: {position: arm.tip}}\n";
    static const char *const stretch[] = {"", ", compliance: 1e-5 1/N", ", compliance: 1e-6 1/N",
                                          ", compliance: 1e-7 1/N"};
    double tension[4];
    for (int k = 0; k < 4; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(text, sizeof text, form, stretch[k]);
        execute(text, &o);
        if (o.status != SNW_OK) fail_msg("%s", o.err.text);
        tension[k] = last(&o, 0);
        snw_series_clear(&o.series);
    }
    assert_true(tension[0] > 1);
    for (int k = 1; k < 3; k++) {
        const double ratio = (tension[0] - tension[k]) / (tension[0] - tension[k + 1]);
        assert_near(ratio, 10, 0.1);
    }
}

// Faults that only the compiled robot shows: a tendon outside of its section, parts without length,
// chambers without area.
static void impossible_paths_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *fragment;
    } bad[] = {
        {"tendon: {along: arm, at: [0, 13 mm, 0]}, effort: 1 N", "leaves the section of rod 'arm'"},
        {"tendon: {along: arm, at: [0, 0, 11 mm*(1 + x/L)]}, effort: 1 N", "'discs: 0.01"},
        {"tendon: {along: arm, at: [0, 15 mm, 0], discs: 14 mm}, effort: 1 N", "beyond its discs"},
        {"tendon: {along: arm, at: [0, 1 mm/(x - L/2), 0]}, effort: 1 N", "leaves the section"},
        {"tendon: {path: [world, arm]}, effort: 1 N", "of zero length"},
        {"tendon: {path: [arm, arm.tip, world]}, effort: 1 N", "of zero length"},
        {"chamber: {along: arm, area: 1 mm^2*(0.5 - x/L)}, effort: 1 Pa", "area must be positive"},
    };
    static const char *const good[] = {
        "tendon: {along: arm, at: [0, 12 mm, 0]}, effort: 1 N",
        "tendon: {along: arm, at: [0, 15 mm, 0], discs: 15 mm}, effort: 1 N",
        "tendon: {path: [arm, world]}, effort: 1 N"};
    for (int k = 0; k < 7 + 3; k++) {
        char text[2000];
        snw_document *doc;
        snw_desc *desc;
        snw_model *m = NULL;
        snw_error err = {0};
        (void)snprintf(text, sizeof text, ARM "actuators:\n  it: {%s}\n",
                       k < 7 ? bad[k].text : good[k - 7]);
        if (describe(text, &doc, &desc, &err) != SNW_OK) fail_msg("%s", err.text);
        const snw_status status = snw_model_compile(desc, &m, &err);
        if (k >= 7) {
            if (status != SNW_OK) fail_msg("%s", err.text);
        } else {
            if (status != SNW_E_MODEL || !strstr(err.text, bad[k].fragment)) {
                fail_msg("%d: %s", k, err.text);
            }
            assert_int_equal(err.line, 6);
            assert_int_equal(err.column, 3);
        }
        snw_model_destroy(m);
        release(doc, desc);
    }
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_segments_have_exact_derivatives),
#ifndef SNW_WIDE
        cmocka_unit_test(efforts_work_along_their_lengths),
        cmocka_unit_test(rows_have_their_rates),
#endif
#ifndef SNW_NUMBERS
        cmocka_unit_test(friction_at_corners_only_dissipates),
        cmocka_unit_test(weights_on_a_tendon_fall_as_atwood_says),
        cmocka_unit_test(atwoods_machine_has_friction_at_its_pulley),
        cmocka_unit_test(a_weight_on_a_string_is_a_pendulum),
        cmocka_unit_test(lengths_and_tensions_agree),
        cmocka_unit_test(a_tendon_that_pushes_is_reported),
        cmocka_unit_test(stiff_cables_hold_a_plate),
        cmocka_unit_test(segments_of_zero_length_are_reported),
        cmocka_unit_test(a_stiff_winch_reaches_equilibrium),
        cmocka_unit_test(impossible_paths_are_refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
