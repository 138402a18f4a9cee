// SPDX-License-Identifier: MIT
//
// Table of actuators: every kind is complete, and its keys, nouns and controls are told apart.
#include "model/actuator_kind.h"
#include "near.h"

#include <string.h>

static void every_row_is_complete(void **state) {
    (void)state;
    for (int i = 0; i < SNW_ACTUATOR_COUNT; i++) {
        const snw_actuator_type *type = &snw_actuator_table[i];
        assert_non_null(type->name);
        assert_non_null(type->noun);
        assert_int_equal(strncmp(type->form, type->name, strlen(type->name)), 0);
        assert_true(type->ncontrol > 0 && type->ncontrol <= SNW_ACTUATOR_CONTROLS);
        assert_true((type->element != NULL) == (type->acts == SNW_ACTUATES_COORDINATES));
        assert_true((type->symbol != NULL) == (type->acts == SNW_ACTUATES_PATH));
        for (int k = 0; k < i; k++) {
            assert_int_not_equal(strcmp(type->name, snw_actuator_table[k].name), 0);
        }
        for (int k = 0; k < type->ncontrol; k++) {
            const snw_control_type *c = &type->control[k];
            assert_non_null(c->name);
            assert_true((c->admissible != NULL) == (c->rule != NULL));
            assert_true(!(c->given == SNW_GIVEN_SOURCE) || type->effort);
            assert_ptr_equal(snw_control_by_key((snw_actuator_kind)i, c->key), c);
        }
    }
}

static void controls_are_found_by_key_and_by_given_quantity(void **state) {
    (void)state;
    char text[400];
    assert_string_equal(snw_control_of(SNW_ACTUATOR_CHAMBER, SNW_GIVEN_MOTION)->name, "volume");
    assert_string_equal(snw_control_of(SNW_ACTUATOR_JOINT, SNW_GIVEN_MOTION)->name, "position");
    assert_null(snw_control_by_key(SNW_ACTUATOR_TENDON, SNW_CONTROL_GAS));
    assert_int_equal(snw_control_owner(SNW_CONTROL_GAS), SNW_ACTUATOR_CHAMBER);
    assert_int_equal(snw_control_owner(SNW_CONTROL_EFFORT), -1);
    assert_int_equal(snw_control_by_key(SNW_ACTUATOR_CHAMBER, SNW_CONTROL_PRESSURE)->given,
                     snw_control_by_key(SNW_ACTUATOR_CHAMBER, SNW_CONTROL_EFFORT)->given);
    snw_control_names(SNW_ACTUATOR_CHAMBER, " or ", text, sizeof text);
    assert_string_equal(text, "'pressure', 'effort' (its pressure), 'volume' or 'gas'");
    snw_control_names(SNW_ACTUATOR_TENDON, " or ", text, sizeof text);
    assert_string_equal(text, "'effort' (its tension) or 'shortening'");
    snw_actuator_forms(text, sizeof text);
    assert_non_null(strstr(text, "'joint: link', 'rod: link'"));
    assert_non_null(strstr(text, " or 'stress: {along: .., bend_y: ..}'"));
}

// Volume inside n turns of a thread of length b around a cylinder of length l.
static double thread_volume(double b, double n, double l) {
    const double pi = acos(-1.0), radius = sqrt(b * b - l * l) / (2 * pi * n);
    return pi * radius * radius * l;
}

// f'(x) by differences of sixth order
static double slope(double (*f)(const double *, double), const double *of, double x, double h) {
    return (45 * (f(of, x + h) - f(of, x - h)) - 9 * (f(of, x + 2 * h) - f(of, x - 2 * h)) +
            (f(of, x + 3 * h) - f(of, x - 3 * h))) /
           (60 * h);
}

static double volume_at(const double *of, double l) { return thread_volume(of[0], of[1], l); }

static double tension_at(const double *constant, double y) {
    return snw_actuator_table[SNW_ACTUATOR_MCKIBBEN].effort(constant, 2e5, y).e;
}

// F dl = -p dV for the volume inside the threads, whose length and number of turns are constant
static void a_braid_pulls_by_the_work_of_its_pressure(void **state) {
    (void)state;
    const snw_actuator_type *type = &snw_actuator_table[SNW_ACTUATOR_MCKIBBEN];
    const double pi = acos(-1.0), r = 9e-3, angle = 0.4, l0 = 0.25, p = 2e5;
    const double thread[2] = {l0 / cos(angle), l0 * tan(angle) / (2 * pi * r)};
    double constant[SNW_ACTUATOR_CONSTANTS] = {r, angle, 0};
    assert_null(type->prepare(l0, constant));
    assert_near(thread_volume(thread[0], thread[1], l0), pi * r * r * l0, 1e-15);
    for (int k = -2; k <= 7; k++) {
        const double y = 0.04 * k * l0;
        const snw_path_effort f = type->effort(constant, p, y);
        assert_near(f.e, -p * slope(volume_at, thread, l0 - y, 1e-3 * l0), 1e-9);
        assert_near(f.by_y, slope(tension_at, constant, y, 1e-4 * l0), 1e-8);
        assert_near(f.by_x, f.e / p, 1e-15);
        assert_null(type->exceeds(constant, y));
    }
    // it ends to pull where the threads are at acos(1/sqrt(3)) = 54.7 degrees, and never pushes
    const double end = l0 - thread[0] / sqrt(3);
    assert_near(type->effort(constant, p, end * (1 - 1e-12)).e, 0, 1e-8);
    assert_near(type->effort(constant, p, 1.1 * end).e, 0, 0);
    assert_near(type->effort(constant, -p, 0).e, 0, 0);
    assert_true(isnan(type->effort(constant, NAN, 0).e));
    assert_non_null(type->exceeds(constant, l0 - 1.001 * thread[0]));
}

// cord beside a shorter braid does not change its force; a braid longer than its path is refused
static void a_braid_may_be_a_part_of_its_path(void **state) {
    (void)state;
    const snw_actuator_type *type = &snw_actuator_table[SNW_ACTUATOR_MCKIBBEN];
    double whole[SNW_ACTUATOR_CONSTANTS] = {9e-3, 0.4, 0};
    double part[SNW_ACTUATOR_CONSTANTS] = {9e-3, 0.4, 0.25};
    double longer[SNW_ACTUATOR_CONSTANTS] = {9e-3, 0.4, 0.26};
    assert_null(type->prepare(0.25, whole));
    assert_null(type->prepare(0.4, part));
    assert_near(type->effort(part, 1e5, 0.02).e, type->effort(whole, 1e5, 0.02).e, 0);
    assert_non_null(type->prepare(0.25, longer));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(controls_are_found_by_key_and_by_given_quantity),
        cmocka_unit_test(a_braid_pulls_by_the_work_of_its_pressure),
        cmocka_unit_test(a_braid_may_be_a_part_of_its_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
