// SPDX-License-Identifier: MIT
//
// Concentric tubes: derivatives and power of their forces; equilibria against shooting in strong
// form, snap-through, symmetry, tubes that slide, motions that keep their energy.
#include "dynamics/tube.h"
#include "random_tree.h"
#include "setting.h"

#include <stdio.h>

// ---- derivatives --------------------------------------------------------------------------------

// Three tubes on a free base; actuators with given effort leave their angles free.
#define TUBES                                                                                      \
    "sinew: 1\nmaterials: {wire: {young: 1, damping: 30 ms}}\n"                                    \
    "robot:\n"                                                                                     \
    "  base: {on: world, joint: free, body: {box: [0.1, 0.2, 0.3], mass: 2}}\n"                    \
    "  arm:\n    on: base\n    degree: 2\n    elements: 1\n    tubes:\n"                           \
    "      inner: {bending: 0.7, torsion: 0.5, mass: 0.3, material: wire, straight: 0.6, curved: " \
    "0.5, curvature: 2, translation: -0.2}\n"                                                      \
    "      middle: {bending: 1.1, torsion: 0.9, mass: 0.4, material: wire, straight: 0.4, "        \
    "curved: 0.3, curvature: -1.5, translation: -0.1}\n"                                           \
    "      outer: {bending: 1.7, torsion: 1.2, mass: 0.5, curved: 0.5, curvature: 1}\n"
static const char free_text[] = TUBES "actuators: {a: {joint: inner, effort: 0}, b: {joint: "
                                      "middle, effort: 0}, c: {joint: outer, effort: 0}}\n";
static const char loaded_text[] =
    TUBES "actuators: {a: {joint: inner, effort: 0.1}, b: {joint: middle, effort: -0.2*t}, c: "
          "{joint: outer, effort: 0}}\n"
          "loads: {pull: {on: arm.tip, force: [0.1, 0.3, -0.2], torque: [0.2, 0.1, 0]}}\n";

static void tubes_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {81};
    for (int k = 0; k < 2; k++) {
        setting s;
        setting_random(&s, loaded_text, &d);
        assert_int_equal(s.g.m->ntube, 3);
        rig_check(&s.g);
        setting_close(&s);
    }
}

static void statics_have_an_exact_symmetric_stiffness(void **state) {
    (void)state;
    dice d = {82};
    setting s;
    setting_random(&s, free_text, &d);
    rig_check_stiffness(&s.g);
    rig_check_energy(&s.g);
    setting_close(&s);
}

// forces on moving tubes store energy or dissipate it, and never create it
static void power_is_stored_or_heat(void **state) {
    (void)state;
    dice d = {83};
    for (int k = 0; k < 4; k++) {
        setting s;
        setting_random(&s, free_text, &d);
        const rig *g = &s.g;
        double *r = calloc((size_t)g->m->nv, sizeof *r), power = 0;
        snw_residual(g->m, g->in, g->s, false, g->w);
        snw_tubes_add(g->m, g->w, 1, 1, r);
        for (int i = 0; i < g->m->nv; i++) power += r[i] * g->s->v[i];
        const double rate = snw_tubes_energy_rate(g->m, g->w), heat = snw_tubes_heat(g->m, g->w);
        assert_near(power - rate - heat, 0, 1e-11 * (1 + fabs(rate) + heat));
        assert_true(heat > 0);
        free(r);
        setting_close(&s);
    }
}

// ---- tubes that slide ---------------------------------------------------------------------------

// All three slide by laws, the first two with rotary inertia.
static const char sliding_text[] =
    "sinew: 1\nmaterials: {wire: {young: 1, poisson: 0.3, density: 3, damping: 30 ms}}\n"
    "robot:\n"
    "  base: {on: world, joint: free, body: {box: [0.1, 0.2, 0.3], mass: 2}}\n"
    "  arm:\n    on: base\n    degree: 2\n    elements: 1\n    tubes:\n"
    "      inner: {radius: 0.2, inner: 0.1, material: wire, bending: 0.7, torsion: 0.5, mass: 0.3, "
    "straight: 0.6, curved: 0.5, curvature: 2, translation: -0.2 - 0.1*sin(t)}\n"
    "      middle: {radius: 0.4, inner: 0.3, material: wire, bending: 1.1, torsion: 0.9, straight: "
    "0.4, curved: 0.3, curvature: -1.5, translation: -0.1 - 0.05*t^2}\n"
    "      outer: {bending: 1.7, torsion: 1.2, mass: 0.5, straight: 0.15, curved: 0.4, curvature: "
    "1, translation: -0.12 + 0.02*t}\n"
    "loads: {pull: {on: arm.tip, force: [0.1, 0.3, -0.2], torque: [0.2, 0.1, 0]}}\n"
    "actuators: {a: {joint: inner, effort: 0.1}, b: {joint: middle, effort: -0.2*t}, c: {joint: "
    "outer, effort: 0}}\n";

// Laid out at t = 0, in motion at another time: all pieces have other lengths, and all material
// slides. No coordinate is frozen.
static void open_sliding(setting *s, dice *d) {
    snw_error err;
    if (describe(sliding_text, &s->doc, &s->desc, &err) != SNW_OK) fail_msg("%s", err.text);
    for (int i = 0; i < s->desc->ntube; i++) s->desc->tube[i].moves = false;
    rig_open(&s->g, s->desc);
    state_random(s->g.m, d, s->g.s);
    snw_inputs_at(s->g.m, s->g.s->t, s->g.in);
}

static void sliding_tubes_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {84};
    for (int k = 0; k < 2; k++) {
        setting s;
        open_sliding(&s, &d);
        assert_int_equal(s.g.m->ntube_piece, 9);
        rig_check(&s.g);
        setting_close(&s);
    }
}

static void sliding_tubes_have_an_exact_stiffness(void **state) {
    (void)state;
    dice d = {85};
    setting s;
    open_sliding(&s, &d);
    rig_check_stiffness(&s.g);
    setting_close(&s);
}

// The energy of tubes that slide changes by the power of the loads and drives, what material
// carries from node to node, and the heat; along any motion, with the forces that it needs.
static void power_of_sliding_is_accounted_for(void **state) {
    (void)state;
    dice d = {86};
    for (int n = 0; n < 4; n++) {
        setting s;
        open_sliding(&s, &d);
        const rig *g = &s.g;
        const double t = g->s->t;
        double rate = 0, power[8], sum = 0;
        for (int k = 0; k < BESIDE; k++) {
            const double e = beside(k);
            snw_state_copy(g->m, g->s, g->moved);
            snw_move(g->m, g->s->q, e, g->s->v, g->moved->q);
            for (int i = 0; i < g->m->nv; i++) g->moved->v[i] += e * g->s->a[i];
            snw_inputs_at(g->m, t + e, g->in);
            snw_kinematics(g->m, g->in, g->moved, false, g->w);
            rate += slope_of(k, snw_kinetic_energy(g->m, g->w) +
                                    snw_stored_energy(g->m, g->moved, g->w) +
                                    snw_gravity_energy(g->m, g->in, g->w));
        }
        snw_inputs_at(g->m, t, g->in);
        snw_residual(g->m, g->in, g->s, false, g->w);
        snw_load_power(g->m, g->in, g->s, g->w, power);
        for (int k = 0; k < snw_npower(g->m); k++) sum += power[k];
        for (int i = 0; i < g->m->nv; i++) sum += g->w->r[i] * g->s->v[i];
        const double heat = snw_dissipation(g->m, g->s->v) + snw_other_heat(g->m, g->s, g->w);
        assert_true(heat > 0);
        assert_near(rate, sum - heat, 20 * LEFT * (fabs(rate) + heat));
        setting_close(&s);
    }
}

#ifndef SNW_NUMBERS // tests without derivatives

#include "oracle/pushed_beam.h"
#include "oracle/tubes.h"
#include "sinew/robot.h"

// ---- equilibria ---------------------------------------------------------------------------------

enum { MOST_TEXT = 4000 };

// slide: speeds of the bases, m/s; NULL: they stay
static size_t write_tubes(int n, const oracle_tube *t, const double *slide, char *text,
                          size_t size) {
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        const double straight = t[i].behind + t[i].straight, curved = t[i].length - t[i].straight;
        used += (size_t)snprintf(text + used, size - used,
                                 "      t%d: {bending: %.17g, torsion: %.17g, curvature: %.17g, "
                                 "straight: %.17g, curved: %.17g, rotation: %.17g, translation: "
                                 "%.17g m",
                                 i, t[i].k, t[i].c, t[i].kappa, straight, curved, t[i].alpha,
                                 -t[i].behind);
        if (slide) used += (size_t)snprintf(text + used, size - used, " + (%g m/s)*t", slide[i]);
        used += (size_t)snprintf(text + used, size - used, "}\n");
    }
    return used;
}

// The robot and its probes: tip, then of each tube angle, twist and torque at the exit and at its
// end.
static void write_robot(int n, const oracle_tube *t, const double *slide, const double force[3],
                        const char *study, char *text) {
    size_t used = (size_t)snprintf(text, MOST_TEXT,
                                   "sinew: 1\ngravity: 0\nrobot:\n  arm:\n    on: world\n    "
                                   "degree: 5\n    elements: 1\n    tubes:\n");
    used += write_tubes(n, t, slide, text + used, MOST_TEXT - used);
    used += (size_t)snprintf(text + used, MOST_TEXT - used,
                             "loads: {pull: {on: arm.tip, force: [%.17g, %.17g, %.17g]}}\n"
                             "study: [%s]\nprobes:\n  tip: {position: arm}\n",
                             force[2], force[0], force[1], study);
    for (int i = 0; i < n; i++) {
        used += (size_t)snprintf(text + used, MOST_TEXT - used,
                                 "  exit%d: {tube: t%d.root}\n  end%d: {tube: t%d}\n", i, i, i, i);
    }
    (void)snprintf(text + used, MOST_TEXT - used, "  w: {wrench: arm.root}\n");
}

// n tubes, each a little shorter and stiffer than the one in it
static void roll_tubes(dice *d, int n, oracle_tube *t) {
    double length = 0.2, k = 0.01;
    for (int i = 0; i < n; i++) {
        t[i] = (oracle_tube){.k = k * roll(d, 0.8, 1.2), .kappa = roll(d, 3, 9)};
        t[i].c = t[i].k / roll(d, 1.2, 1.5);
        t[i].length = length;
        t[i].straight = length * roll(d, 0, 0.7);
        t[i].behind = roll(d, 0, 0.08);
        t[i].alpha = roll(d, -1.3, 1.3);
        length *= roll(d, 0.5, 0.9);
        k *= 2.5;
    }
}

static void equilibria_are_those_of_the_strong_form(void **state) {
    (void)state;
    dice d = {84};
    for (int round = 0; round < 6; round++) {
        const int n = 2 + round % 2;
        oracle_tube t[3];
        char text[MOST_TEXT];
        outcome o;
        roll_tubes(&d, n, t);
        double force[3], unknown[5], tip[3], angle[3];
        for (int i = 0; i < 3; i++) force[i] = round < 2 ? 0 : roll(&d, -0.2, 0.2);
        write_robot(n, t, NULL, force, "static:", text);
        execute_ok(text, &o);
        // axes y z x of the robot are x y z of the oracle; the frame at the exit is that of tube 0
        const int wrench = 3 + 6 * n;
        const double turn = last(&o, 3), my = last(&o, wrench + 1), mz = last(&o, wrench + 2);
        for (int i = 0; i < n; i++) unknown[i] = last(&o, 3 + 6 * i + 1);
        unknown[n] = my * cos(turn) - mz * sin(turn);
        unknown[n + 1] = my * sin(turn) + mz * cos(turn);
        const double exit[3] = {unknown[0], unknown[1], unknown[n]};
        oracle_tubes(n, t, force, unknown, tip, angle);
        // 0.2 m in polynomials of degree 5 on two elements of each piece
        assert_near(last(&o, 0), tip[2], 2e-9);
        assert_near(last(&o, 1), tip[0], 2e-9);
        assert_near(last(&o, 2), tip[1], 2e-9);
        for (int i = 0; i < n; i++) assert_near(last(&o, 3 + 6 * i + 3), angle[i], 1e-7);
        assert_near(exit[0], unknown[0], 1e-5);
        assert_near(exit[1], unknown[1], 1e-5);
        assert_near(exit[2], unknown[n], 1e-7);
        snw_series_clear(&o.series);
    }
}

// ---- snap-through -------------------------------------------------------------------------------

static double angle_between(double base) {
    char text[1000];
    outcome o;
    (void)snprintf(text, sizeof text,
                   "sinew: 1\ngravity: 0\nrobot: {arm: {on: world, degree: 5, elements: 4, tubes: "
                   "{one: {bending: 0.01, torsion: 0.01/1.3, curvature: 10, curved: 0.2}, two: "
                   "{bending: 0.01, torsion: 0.01/1.3, curvature: 10, curved: 0.2, rotation: "
                   "%.12g deg*t/(1 s)}}}}\nstudy: [static: {for: 1 s, step: 0.25 s}]\n"
                   "probes: {a: {tube: one}, b: {tube: two}}\n",
                   base);
    execute_ok(text, &o);
    const double angle = last(&o, 3) - last(&o, 0);
    snw_series_clear(&o.series);
    return angle * 180 / 3.14159265358979323846;
}

// two equal tubes of curvature 10 over 0.2 m: 214.9551103 deg, from 101.745 to 324.2625 deg at the
// tip. A step that ends short of the limit point by x ends near it by a root of x.
static void tubes_snap_where_their_branch_ends(void **state) {
    (void)state;
    const double snap = 214.9551103;
    assert_near(angle_between(snap - 2e-6), 101.745, 0.05);
    assert_near(angle_between(snap + 2e-6), 324.2625, 1e-3);
    assert_near(angle_between(-snap + 2e-6), -101.745, 0.05);
    assert_near(angle_between(-snap - 2e-6), -324.2625, 1e-3);
}

// ---- symmetry and sliding -----------------------------------------------------------------------

// turning all bases turns the robot
static void bases_that_turn_together_turn_the_robot(void **state) {
    (void)state;
    dice d = {85};
    oracle_tube t[3];
    const double none[3] = {0}, turn = 0.7;
    char text[MOST_TEXT];
    outcome before, after;
    roll_tubes(&d, 3, t);
    write_robot(3, t, NULL, none, "static:", text);
    execute_ok(text, &before);
    for (int i = 0; i < 3; i++) t[i].alpha += turn;
    write_robot(3, t, NULL, none, "static:", text);
    execute_ok(text, &after);
    const double y = last(&before, 1), z = last(&before, 2);
    assert_near(last(&after, 0), last(&before, 0), 1e-12);
    assert_near(last(&after, 1), y * cos(turn) - z * sin(turn), 1e-12);
    assert_near(last(&after, 2), y * sin(turn) + z * cos(turn), 1e-12);
    snw_series_clear(&before.series);
    snw_series_clear(&after.series);
}

// tubes that slide to a place are where tubes are that have been there, though ends and bends pass
// each other on the way
static void sliding_tubes_arrive_where_others_are(void **state) {
    (void)state;
    const double force[3] = {0.05, -0.02, 0.03}, slide[3] = {0.02, -0.03, 0.045};
    oracle_tube t[3] = {{0.005, 0.004, 8, 0.10, 0.10, 0.20, 1.5},
                        {0.019, 0.015, 10, 0.07, 0.05, 0.13, -1.0},
                        {0.085, 0.065, 5, 0.06, 0.02, 0.07, 0.0}};
    char text[MOST_TEXT];
    outcome moved, there;
    write_robot(3, t, slide, force, "static: {for: 1 s, step: 0.2 s}", text);
    execute_ok(text, &moved);
    for (int i = 0; i < 3; i++) {
        t[i].behind -= slide[i];
        t[i].straight += slide[i];
        t[i].length += slide[i];
    }
    assert_true(t[2].length > t[1].length); // the outer one has passed the end of the middle one
    write_robot(3, t, NULL, force, "static:", text);
    execute_ok(text, &there);
    for (int i = 0; i < 3; i++) assert_near(last(&moved, i), last(&there, i), 2e-9);
    for (int i = 0; i < 3; i++) {
        assert_near(last(&moved, 3 + 6 * i + 3), last(&there, 3 + 6 * i + 3), 1e-8);
    }
    snw_series_clear(&moved.series);
    snw_series_clear(&there.series);
}

// ---- by hand ------------------------------------------------------------------------------------

static const char held_text[] =
    "sinew: 1\ngravity: 0\nparameters: {push: -0.1 m}\nrobot:\n  arm:\n    on: world\n    tubes:\n"
    "      inner: {bending: 0.005, torsion: 0.004, curvature: 8, straight: 0.2, curved: 0.1, "
    "translation: push}\n"
    "      outer: {bending: 0.019, torsion: 0.015, curvature: 10, straight: 0.12, curved: 0.08, "
    "translation: -0.07}\nprobes: {tip: {position: arm}}\n";

static snw_robot *held(const char *text, int nset, const char *const *set) {
    snw_robot *r = NULL;
    snw_error err = {0};
    if (snw_robot_parse("m.yaml", text, strlen(text), NULL, nset, set, &r, &err) != SNW_OK)
        fail_msg("%s", err.text);
    return r;
}

static void turn(snw_robot *r, const char *actuator, double angle) {
    snw_error err = {0};
    const int i = snw_robot_actuator(r, actuator);
    assert_true(i >= 0);
    if (snw_robot_set_motion(r, i, &angle, NULL, NULL, &err) != SNW_OK ||
        snw_robot_equilibrium(r, 0, &err) != SNW_OK)
        fail_msg("%s", err.text);
}

// bases turned by their actuators, and slid by a parameter, lead where the file does
static void tubes_are_turned_and_slid_by_hand(void **state) {
    (void)state;
    static const char *const pushed[] = {"push=-0.12 m"};
    snw_error err = {0};
    snw_robot *moved = held(held_text, 0, NULL), *there = held(held_text, 1, pushed);
    double a[3], b[3], before[3];
    turn(moved, "inner_rotation", 1.2);
    assert_int_equal(snw_robot_probe(moved, "tip", 3, before), 3);
    if (snw_robot_set_parameters(moved, 1, pushed, &err) != SNW_OK) fail_msg("%s", err.text);
    turn(moved, "inner_rotation", 1.3);
    turn(there, "inner_rotation", 1.3);
    assert_int_equal(snw_robot_probe(moved, "tip", 3, a), 3);
    assert_int_equal(snw_robot_probe(there, "tip", 3, b), 3);
    for (int i = 0; i < 3; i++) assert_near(a[i], b[i], 1e-11);
    assert_true(fabs(a[0] - before[0]) > 0.01);
    snw_robot_close(moved);
    snw_robot_close(there);
}

// ---- strokes ------------------------------------------------------------------------------------

// The inner of two tubes, turned by 1.2 rad; strokes of `push` move its base. Their energy falls to
// 1e-11 J within 0.4 s.
static const char pushed_text[] =
    "sinew: 1\ngravity: 0\nparameters: {push: 0 m}\nmaterials: {nitinol: {young: 58 GPa, poisson: "
    "0.3, density: 6450, damping: 10 ms}}\nrobot:\n  arm:\n    on: world\n    degree: 2\n    "
    "tubes:\n"
    "      inner: {diameter: 1.2 mm, inner: 0.8 mm, material: nitinol, curvature: 8, straight: "
    "0.2, "
    "curved: 0.1, translation: -0.1 m + push, rotation: 1.2}\n"
    "      outer: {diameter: 1.8 mm, inner: 1.4 mm, material: nitinol, curvature: 10, straight: "
    "0.12, curved: 0.08, translation: -0.07}\nprobes: {tip: {position: arm}, e: energy}\n";
static const double PUSH = 0.02;

// Equilibria of these tubes by shooting in strong form: energy before and after, tip after.
static const double energy_before = 0.013589023729, energy_after = 0.015020590671;
static const double tip_after[3] = {0.1803211204, 0.0301416777, -0.0863085615};

enum { ELASTIC = 4, HEAT = 6, WORK = 7, SCHEME = 8, BALANCE = 9 }; // columns of the probes

// n strokes, each until the robot rests
static void push_in_strokes(int n, outcome *o) {
    char text[MOST_TEXT];
    size_t used = (size_t)snprintf(text, sizeof text, "%sstudy:\n  - static:\n", pushed_text);
    for (int i = 1; i <= n; i++)
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "  - change: {push: %.17g m}\n  - dynamic: {for: 0.4 s, step: 10 ms}\n", PUSH * i / n);
    execute_ok(text, o);
}

// The work of pushing is the difference between both equilibria and heat, which falls as 1/n. The
// heat of each stroke is known from the strains of equilibria by shooting: their energy in pieces
// of the new lengths, less that of the next equilibrium.
static void strokes_work_between_equilibria(void **state) {
    (void)state;
    static const double heat[] = {1.48143186e-4, 7.50923345e-5};
    for (int k = 0; k < 2; k++) {
        outcome o;
        push_in_strokes(4 << k, &o);
        const double lost = last(&o, HEAT) + last(&o, SCHEME);
        for (int i = 0; i < 3; i++) assert_near(last(&o, i), tip_after[i], 1e-9);
        assert_near(shown(&o, 0, ELASTIC), energy_before, 1e-9);
        assert_near(last(&o, ELASTIC), energy_after, 1e-9);
        assert_near(last(&o, WORK) - lost, energy_after - energy_before, 1e-9);
        assert_near(lost, heat[k], 1e-9);
        assert_near(last(&o, BALANCE), 0, 1e-10);
        snw_series_clear(&o.series);
    }
}

// ---- pushed by laws -----------------------------------------------------------------------------

// Two straight tubes are pushed fast under a small gravity: against the linear equation of beams
// with moving material, with functions of the fixed place, by another method.
static void fast_pushes_are_those_of_beams_with_moving_material(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\ngravity: [0, 0, -0.1]\nmaterials: {light: {density: 1}}\nrobot:\n  arm:\n    "
        "on: world\n    degree: 4\n    elements: 2\n    tubes:\n"
        "      inner: {radius: 0.2 mm, inner: 0.1 mm, material: light, bending: %.17g, torsion: "
        "0.01, mass: %.17g, straight: %.17g m, translation: \"-0.3 m + %.17g m*poly5(t, 0 s, 0.2 "
        "s)\"}\n"
        "      outer: {radius: 0.4 mm, inner: 0.3 mm, material: light, bending: %.17g, torsion: "
        "0.01, mass: %.17g, straight: %.17g m, translation: \"-0.3 m + %.17g m*poly5(t, 0 s, 0.2 "
        "s)\"}\n"
        "study: [static: , dynamic: {for: 0.2 s, step: 2 ms, scheme: gauss4}]\n"
        "probes: {tip: {position: arm}, e: energy}\n";
    static const double push[3][2] = {{0.15, 0}, {0, 0.1}, {0.1, -0.12}};
    for (int k = 0; k < 3; k++) {
        const oracle_pushed_tube t[2] = {{0.004, 0.005, 0.4, push[k][0]},
                                         {0.009, 0.02, 0.2, push[k][1]}};
        char made[MOST_TEXT];
        outcome o;
        (void)snprintf(made, sizeof made, text, t[0].k, t[0].mass, 0.3 + t[0].length, t[0].push,
                       t[1].k, t[1].mass, 0.3 + t[1].length, t[1].push);
        execute_ok(made, &o);
        const double want = oracle_pushed_beam(t, 0.1, 0.2, 800);
        assert_near(last(&o, 2), -want, 4e-6 * want);
        assert_near(last(&o, BALANCE), 0, 1e-14);
        snw_series_clear(&o.series);
    }
}

// One tube is a rod of variable length: there the length is a coordinate with a drive.
static void a_tube_is_a_rod_of_variable_length(void **state) {
    (void)state;
    static const char tube[] =
        "robot: {arm: {on: world, degree: 5, elements: 2, tubes: {inner: {diameter: 1.2 mm, inner: "
        "0.8 mm, material: nitinol, straight: 0.7, translation: \"-0.4 m + 0.2 m*poly5(t, 0 s, 0.3 "
        "s)\"}}}}\n";
    static const char rod[] =
        "robot: {arm: {on: world, rod: {length: 0.3, section: {tube: {radius: 0.6 mm, inner: 0.4 "
        "mm}}, material: nitinol, strain: {bend_y: legendre 8}, magnus: 6}}}\n"
        "actuators: {feed: {feed: arm, position: \"0.3 m + 0.2 m*poly5(t, 0 s, 0.3 s)\"}}\n";
    outcome o[2];
    for (int k = 0; k < 2; k++) {
        char text[MOST_TEXT];
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\nmaterials: {nitinol: {young: 58 GPa, poisson: 0.3, density: 6450, "
            "damping: 1 ms}}\n%sstudy: [static: , dynamic: {for: 0.4 s, step: 4 ms, "
            "scheme: gauss4}]\nprobes: {tip: {position: arm}, e: energy}\n",
            k ? rod : tube);
        execute_ok(text, &o[k]);
        assert_near(last(&o[k], BALANCE), 0, 1e-10);
    }
    const double size = fabs(last(&o[1], ELASTIC));
    for (int i = 0; i < 3; i++) assert_near(last(&o[0], i), last(&o[1], i), 3e-8);
    assert_near(last(&o[0], ELASTIC), last(&o[1], ELASTIC), 1e-6 * size);
    assert_near(last(&o[0], HEAT), last(&o[1], HEAT), 1e-6 * size);
    // that rod has no mass in the sleeve, whose motion ends before
    assert_near(last(&o[0], WORK), last(&o[1], WORK), 1e-6 * size);
    for (int k = 0; k < 2; k++) snw_series_clear(&o[k].series);
}

// The tubes of pushed_text by a law within `duration`; `study` behind the static start.
static void push_by_law(double duration, const char *study, outcome *o) {
    char law[100], text[MOST_TEXT];
    (void)snprintf(law, sizeof law,
                   "sinew: 1\ngravity: 0\nparameters: {push: \"0.02 m*poly5(t, 0 "
                   "s, %.17g s)\"}\n",
                   duration);
    const char *rest = strstr(pushed_text, "materials");
    (void)snprintf(text, sizeof text, "%s%sstudy: [static: , %s]\n", law, rest, study);
    execute_ok(text, o);
}

// A slow push passes the equilibria of each instant, behind them by a time of the order of the
// retardation: half as much at half the speed. Its work is the difference of the energies and heat
// that falls alike.
static void slow_pushes_follow_equilibria(void **state) {
    (void)state;
    outcome o, halfway;
    double lag[2], heat[2], at[3];
    push_by_law(1, "static: {for: 0.5 s, step: 0.1 s}", &halfway);
    for (int i = 0; i < 3; i++) at[i] = last(&halfway, i);
    for (int k = 0; k < 2; k++) {
        const double duration = k ? 4 : 2;
        char study[200];
        (void)snprintf(study, sizeof study, "dynamic: {for: %g s, step: 10 ms}", 0.5 * duration);
        push_by_law(duration, study, &o);
        lag[k] = 0;
        for (int i = 0; i < 3; i++) lag[k] = hypot(lag[k], last(&o, i) - at[i]);
        snw_series_clear(&o.series);
        (void)snprintf(study, sizeof study, "dynamic: {for: %g s, step: 10 ms}", duration + 0.4);
        push_by_law(duration, study, &o);
        heat[k] = last(&o, HEAT) + last(&o, SCHEME);
        for (int i = 0; i < 3; i++) assert_near(last(&o, i), tip_after[i], 1e-9);
        assert_near(last(&o, ELASTIC), energy_after, 1e-9);
        assert_near(last(&o, WORK) - heat[k], energy_after - energy_before, 1e-9);
        assert_near(last(&o, BALANCE), 0, 1e-12);
        snw_series_clear(&o.series);
    }
    assert_true(lag[0] < 1e-3 * 0.2);
    assert_near(lag[0] / lag[1], 2, 0.02);
    assert_near(heat[0] / heat[1], 2, 0.02);
    snw_series_clear(&halfway.series);
}

// schemes of order two and four
static void pushes_converge_with_the_order_of_the_scheme(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double order;
    } run[] = {{"generalized-alpha", 2}, {"gauss4", 4}};
    for (int k = 0; k < 2; k++) {
        double tip[3];
        for (int n = 0; n < 3; n++) {
            char study[200];
            outcome o;
            (void)snprintf(study, sizeof study, "dynamic: {for: 0.1 s, step: %g ms, scheme: %s}",
                           4.0 / (1 << n), run[k].scheme);
            push_by_law(0.2, study, &o);
            tip[n] = last(&o, 2);
            snw_series_clear(&o.series);
        }
        const double order = log2(fabs((tip[1] - tip[0]) / (tip[2] - tip[1])));
        assert_near(order, run[k].order, 0.4);
    }
}

// The motion ends, with the names of the tubes, before pieces vanish or appear, and a study goes on
// behind that place.
static void motions_tell_where_pieces_would_vanish(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\ngravity: 0\nparameters: {push: 0 m, jump: 0 m}\nmaterials: {wire: {young: 60 "
        "GPa, poisson: 0.3, density: 6450, damping: 5 ms}}\nrobot:\n  arm:\n    on: world\n    "
        "degree: 1\n    elements: 1\n    tubes:\n"
        "      inner: {diameter: 1.2 mm, inner: 0.8 mm, material: wire, straight: 0.1, curved: "
        "0.1, "
        "curvature: 8, translation: -0.02 m + jump + (%s m/s)*t}\n"
        "      outer: {diameter: 1.8 mm, inner: 1.4 mm, material: wire, straight: 0.04, curved: "
        "0.07, curvature: 8, translation: -0.05 m + (%s m/s)*t}\n"
        "loads: {pull: {on: arm.tip, force: [0, 0.01, 0]}}\n"
        "study: [static: , dynamic: {for: 0.15 s, step: 5 ms, scheme: %s}%s]\n";
    static const char again[] = ", change: {jump: -0.02 m}, dynamic: {for: 0.1 s, step: 5 ms}";
    static const struct {
        const char *inner, *outer, *scheme, *then, *why;
    } run[] = {
        {"-0.2", "0", "generalized-alpha", "",
         "the end of tube 'outer' and the bend of tube 'inner' meet"},
        {"-0.2", "0", "gauss4", "", "the end of tube 'outer' and the bend of tube 'inner' meet"},
        {"0.2", "0", "generalized-alpha", "", "the base of tube 'inner' and the exit meet"},
        {"0", "0.2", "generalized-alpha", "", "the bend of tube 'outer' comes out of the exit"},
        {"-0.1", "0", "generalized-alpha", again, NULL},
    };
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        char made[MOST_TEXT];
        outcome o;
        (void)snprintf(made, sizeof made, text, run[k].inner, run[k].outer, run[k].scheme,
                       run[k].then);
        execute(made, &o);
        if (!run[k].why && o.status != SNW_OK) fail_msg("%zu: %s", k, o.err.text);
        if (run[k].why && !(o.status != SNW_OK && strstr(o.err.text, run[k].why)))
            fail_msg("%zu: '%s' does not say '%s'", k, o.err.text, run[k].why);
        snw_series_clear(&o.series);
    }
    char made[MOST_TEXT];
    (void)snprintf(made, sizeof made, text, "-0.1", "0", "moreau", "");
    refuses(made, "does not support concentric tubes that slide");
}

// a program may push in each time step
static void programs_push_tubes_during_motions(void **state) {
    (void)state;
    enum { PUSHES = 25, STEPS = 75 };
    const double h = 8e-3;
    snw_error err = {0};
    snw_robot *r = held(pushed_text, 0, NULL);
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    double tip[3];
    if (snw_robot_equilibrium(r, 0, &err) != SNW_OK || snw_robot_start(r, &how, &err) != SNW_OK)
        fail_msg("%s", err.text);
    for (int i = 1; i <= STEPS; i++) {
        char push[60];
        const char *const set[] = {push};
        (void)snprintf(push, sizeof push, "push=%.17g m", PUSH * i / PUSHES);
        if ((i <= PUSHES && snw_robot_set_parameters(r, 1, set, &err) != SNW_OK) ||
            snw_robot_step(r, h, &err) != SNW_OK)
            fail_msg("%s", err.text);
    }
    assert_int_equal(snw_robot_probe(r, "tip", 3, tip), 3);
    for (int i = 0; i < 3; i++) assert_near(tip[i], tip_after[i], 1e-6);
    snw_robot_close(r);
}

// A program slides a tube from step to step, as a law would: the motion is that of the law. What is
// not possible changes nothing.
static void programs_slide_tubes_as_laws_do(void **state) {
    (void)state;
    enum { STEPS = 20 };
    const double h = 5e-3, T = 0.1;
    static const char *const law[] = {"push=0.02 m*poly5(t, 0 s, 0.1 s)"};
    snw_error err = {0};
    snw_robot *r[2];
    double tip[2][3];
    for (int k = 0; k < 2; k++) {
        r[k] = held(pushed_text, 1, law);
        const snw_robot_steps how = snw_robot_steps_defaults(h);
        if (snw_robot_equilibrium(r[k], 0, &err) != SNW_OK ||
            snw_robot_start(r[k], &how, &err) != SNW_OK)
            fail_msg("%s", err.text);
        for (int i = 0; i < STEPS; i++) {
            // the law of the step to come has its end as value and rates
            const double u = (i + 1) * h / T, x = u * u * u * (10 + u * (6 * u - 15)),
                         d = 30 * u * u * (1 - u) * (1 - u) / T,
                         dd = 60 * u * (1 - u) * (1 - 2 * u) / (T * T);
            const double motion[3] = {-0.1 + PUSH * (x - h * d + 0.5 * h * h * dd),
                                      PUSH * (d - h * dd), PUSH * dd};
            if (k == 1 && snw_robot_set_translation(r[k], "inner", motion, &err) != SNW_OK)
                fail_msg("%s", err.text);
            if (snw_robot_step(r[k], h, &err) != SNW_OK) fail_msg("%s", err.text);
        }
        assert_int_equal(snw_robot_probe(r[k], "tip", 3, tip[k]), 3);
    }
    for (int i = 0; i < 3; i++) assert_near(tip[0][i], tip[1][i], 1e-7);
    const double far[3] = {-0.01, 0, 0}, nan[3] = {NAN, 0, 0};
    assert_int_equal(snw_robot_set_translation(r[1], "inner", far, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "meet"));
    assert_int_equal(snw_robot_set_translation(r[1], "inner", nan, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_set_translation(r[1], "other", far, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_robot_step(r[1], h, &err), SNW_OK);
    for (int k = 0; k < 2; k++) snw_robot_close(r[k]);
    snw_robot *still = held(pushed_text, 0, NULL);
    assert_int_equal(snw_robot_set_translation(still, "inner", far, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "law of t"));
    snw_robot_close(still);
}

// a torque at the tip twists the innermost tube alone where nothing is curved
static void a_torque_at_the_tip_twists_the_innermost_tube(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\ngravity: 0\nrobot: {arm: {on: world, tubes: {inner: {bending: 2, torsion: "
        "0.5, straight: 1.3, translation: -0.3}, outer: {bending: 3, torsion: 0.7, straight: "
        "0.6}}}}\nloads: {screw: {on: arm.tip, torque: [0.2, 0, 0]}}\nstudy: [static: ]\n"
        "probes: {a: {tube: inner}, b: {tube: outer}}\n",
        &o);
    assert_near(last(&o, 0), 0.2 * 1.3 / 0.5, 1e-12);
    assert_near(last(&o, 3), 0, 1e-12);
    snw_series_clear(&o.series);
}

// ---- motion -------------------------------------------------------------------------------------

// tubes let go spring back: schemes without damping of their own account for all energy
static void motions_keep_their_energy(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\nmaterials: {wire: {young: 60 GPa, poisson: 0.3, density: 6450, damping: %s}}\n"
        "robot:\n  arm:\n    on: world\n    degree: 2\n    elements: 1\n    tubes:\n"
        "      inner: {diameter: 1.2 mm, inner: 0.8 mm, material: wire, straight: 0.1, curved: "
        "0.1, curvature: 8, translation: -0.05}\n"
        "      outer: {diameter: 1.8 mm, inner: 1.4 mm, material: wire, straight: 0.05, curved: "
        "0.07, curvature: 8, translation: -0.02}\n"
        "actuators: {a: {joint: inner, effort: 0}, b: {joint: outer, effort: 0}}\n"
        "initial: {inner: 2 rad}\n"
        "study: [dynamic: {for: 1 ms, step: 0.05 ms, scheme: %s}]\nprobes: {e: energy}\n";
    static const struct {
        const char *scheme, *damping;
    } run[] = {{"conserving", "0 s"}, {"conserving", "1e-4 s"}, {"gauss6", "1e-4 s"}};
    for (int k = 0; k < 3; k++) {
        char made[2000];
        outcome o;
        (void)snprintf(made, sizeof made, text, run[k].damping, run[k].scheme);
        execute_ok(made, &o);
        const double at_start = shown(&o, 0, 1) + shown(&o, 0, 2), kinetic = last(&o, 0);
        assert_true(at_start > 1e-3 && kinetic > 1e-3 * at_start);
        // the heat of stiff damping is found at points of the steps
        assert_near(last(&o, 6), 0, 1e-6 * at_start);
        snw_series_clear(&o.series);
    }
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tubes_have_exact_derivatives),
        cmocka_unit_test(statics_have_an_exact_symmetric_stiffness),
        cmocka_unit_test(power_is_stored_or_heat),
        cmocka_unit_test(sliding_tubes_have_exact_derivatives),
        cmocka_unit_test(sliding_tubes_have_an_exact_stiffness),
        cmocka_unit_test(power_of_sliding_is_accounted_for),
#ifndef SNW_NUMBERS
        cmocka_unit_test(equilibria_are_those_of_the_strong_form),
        cmocka_unit_test(tubes_snap_where_their_branch_ends),
        cmocka_unit_test(bases_that_turn_together_turn_the_robot),
        cmocka_unit_test(sliding_tubes_arrive_where_others_are),
        cmocka_unit_test(tubes_are_turned_and_slid_by_hand),
        cmocka_unit_test(strokes_work_between_equilibria),
        cmocka_unit_test(fast_pushes_are_those_of_beams_with_moving_material),
        cmocka_unit_test(a_tube_is_a_rod_of_variable_length),
        cmocka_unit_test(slow_pushes_follow_equilibria),
        cmocka_unit_test(pushes_converge_with_the_order_of_the_scheme),
        cmocka_unit_test(motions_tell_where_pieces_would_vanish),
        cmocka_unit_test(programs_push_tubes_during_motions),
        cmocka_unit_test(programs_slide_tubes_as_laws_do),
        cmocka_unit_test(a_torque_at_the_tip_twists_the_innermost_tube),
        cmocka_unit_test(motions_keep_their_energy),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
