// SPDX-License-Identifier: MIT
//
// Hard stops of joints (theory.md (3.4d)): random chains that run into them gain no energy and pass
// no limit, equilibria are the limits of those with ever stiffer stops, the tangent of equilibria
// is the derivative of the residual. Impacts in closed form are in
// examples/springs/hard_stops.yaml.
#include "dynamics/hard_contact.h"
#include "executed.h"
#include "near.h"
#include "setting.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINKS = 3, TEXT = 3000 };

// A chain of a revolute, a prismatic or universal, and a spherical joint, all with limits; `stop`:
// the text of their stops. limit <- those of the first joint.
static void write_chain(dice *d, const char *stop, double limit[2], char *text) {
    const bool slides = pick_int(d, 0, 1);
    char limits[2][80];
    limit[0] = roll(d, -0.5, -0.05), limit[1] = roll(d, 0.05, 0.5);
    (void)snprintf(limits[0], sizeof limits[0], "[%.17g, %.17g]", limit[0], limit[1]);
    (void)snprintf(limits[1], sizeof limits[1], slides ? "[%g, %g]" : "[[%g, 1], [free, %g]]",
                   roll(d, -0.2, -0.02), roll(d, 0.02, 0.2));
    (void)snprintf(
        text, TEXT,
        "sinew: 1\ngravity: [%g, 3, -9.81]\nrobot:\n"
        "  one: {on: world, joint: revolute, axis: [0.2, 1, 0], limits: %s, stop: %s, stiffness: "
        "0.3, body: {mass: 1, com: [0.1, 0, -0.2], inertia: [0.02, 0.02, 0.01]}}\n"
        "  two: {on: one, pose: {xyz: [0, 0, -0.4]}, joint: %s, axis: [1, 0.2, 0.1], limits: %s, "
        "stop: %s, stiffness: %s, body: {mass: 0.7, com: [0, 0.05, -0.1], inertia: [0.01, 0.01, "
        "0.02]}}\n"
        "  three: {on: two, pose: {xyz: [0, 0, -0.3], x: -z}, joint: spherical, limits: %g, stop: "
        "%s, stiffness: 0.2, body: {mass: 0.5, com: [0.2, 0.02, 0], inertia: [0.004, 0.006, "
        "0.006]}}\n"
        "initial: {one: {rate: %g}, two: {rate: [%g%s]}, three: {rate: [%g, %g, %g]}}\n"
        "probes: {e: energy, one: {angle: one}, two: {value: two}, three: {pose: three}}\n",
        roll(d, -9, 9), limits[0], stop, slides ? "prismatic" : "universal", limits[1], stop,
        slides ? "40" : "0.1", roll(d, 0.1, 0.6), stop, roll(d, -6, 6), roll(d, -2, 2),
        slides ? "" : ", 3", roll(d, -5, 5), roll(d, -5, 5), roll(d, -5, 5));
}

enum { TOTAL = 7, FIRST = 8 }; // columns: energy, coordinate of the first joint

static void chains_gain_no_energy_and_pass_no_limit(void **state) {
    (void)state;
    dice d = {77};
    double gain = 0, beyond = -1;
    for (int k = 0; k < 8; k++) {
        char text[TEXT], stop[60], whole[TEXT + 100];
        double limit[2];
        (void)snprintf(stop, sizeof stop, "{hard: true, restitution: %g}",
                       k % 2 ? 0 : roll(&d, 0, 1));
        write_chain(&d, stop, limit, text);
        (void)snprintf(whole, sizeof whole, "%sstudy: [dynamic: {for: 0.5 s, step: 2 ms}]\n", text);
        outcome o;
        execute(whole, &o);
        if (o.status != SNW_OK) fail_msg("%s\n%s", o.err.text, whole);
        const double start = shown(&o, 0, TOTAL), size = 10;
        double least = start;
        for (int i = 1; i < o.series.nframe; i++) {
            gain = fmax(gain, (shown(&o, i, TOTAL) - least) / size);
            least = fmin(least, shown(&o, i, TOTAL));
            const double q = shown(&o, i, FIRST);
            beyond = fmax(beyond, fmax(limit[0] - q, q - limit[1]));
        }
        // the stops have acted: without them the energy of elastic chains would be constant
        assert_true(k % 2 == 0 || least < start - 1e-3);
        snw_series_clear(&o.series);
    }
    printf("energy grows by at most %.2g of 10 J, angles pass limits by %.2g\n", gain, beyond);
    assert_true(gain <= 1e-10);
    assert_true(beyond <= 1e-9);
    assert_true(beyond >= -1e-9); // a limit was reached
}

static void equilibria_are_limits_of_stiff_stops(void **state) {
    (void)state;
    int touching = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        outcome o[3];
        static const char *const stops[3] = {"{hard: true}", "{stiffness: 1e5, smooth: 1e-6}",
                                             "{stiffness: 1e6, smooth: 1e-7}"};
        for (int i = 0; i < 3; i++) {
            char text[TEXT], whole[TEXT + 100];
            double limit[2];
            dice d = {seed};
            write_chain(&d, stops[i], limit, text);
            (void)snprintf(whole, sizeof whole, "%sstudy: [static:]\n", text);
            execute(whole, &o[i]);
            if (o[i].status != SNW_OK) fail_msg("%s\n%s", o[i].err.text, whole);
        }
        double off[2] = {0, 0};
        for (int c = TOTAL + 1; c < o[0].series.ncolumn; c++) {
            for (int i = 0; i < 2; i++)
                off[i] = fmax(off[i], fabs(last(&o[1 + i], c) - last(&o[0], c)));
        }
        touching += off[0] > 1e-7;
        assert_true(off[0] < 1e-3 && off[1] < 1e-4); // forces of some 10 N and N m, over k
        assert_true(off[1] < 0.2 * off[0] + 1e-9);
        for (int i = 0; i < 3; i++) snw_series_clear(&o[i].series);
    }
    assert_true(touching >= 3);
}

// Multipliers and an onset so wide that all stops act.
static void tangents_are_derivatives(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        char text[TEXT];
        double limit[2];
        setting s;
        dice d = {seed};
        write_chain(&d, "{hard: true}", limit, text);
        setting_random(&s, text, &d);
        s.g.w->hard_stiffness = 40;
        s.g.w->hard_smooth = 8;
        for (int k = 0; k < 2 * s.g.m->nstop; k++) s.g.w->hard_stop[k] = k % 2 ? roll(&d, 1, 5) : 0;
        snw_residual(s.g.m, s.g.in, s.g.s, true, s.g.w);
        int acting = 0;
        for (int k = 0; k < s.g.m->nstop; k++) acting += s.g.w->stop[k].elastic_force > 0;
        assert_true(acting >= 2);
        rig_check_stiffness(&s.g);
        setting_close(&s);
    }
}

static void other_schemes_refuse(void **state) {
    (void)state;
    char text[TEXT], whole[TEXT + 100];
    double limit[2];
    dice d = {5};
    write_chain(&d, "{hard: true}", limit, text);
    (void)snprintf(whole, sizeof whole,
                   "%sstudy: [dynamic: {for: 0.1 s, step: 2 ms, scheme: bdf2}]\n", text);
    snw_document *doc;
    snw_desc *desc;
    snw_run *run = NULL;
    snw_error err = {0};
    assert_int_equal(describe(whole, &doc, &desc, &err), SNW_OK);
    assert_int_equal(snw_run_create(desc, "main", &run, &err), SNW_E_MODEL);
    assert_non_null(strstr(err.text, "scheme 'bdf2' does not support hard contacts and stops"));
    release(doc, desc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_gain_no_energy_and_pass_no_limit),
        cmocka_unit_test(equilibria_are_limits_of_stiff_stops),
        cmocka_unit_test(tangents_are_derivatives),
        cmocka_unit_test(other_schemes_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
