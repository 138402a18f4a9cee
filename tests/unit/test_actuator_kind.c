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
    snw_control_names(SNW_ACTUATOR_TENDON, " or ", text, sizeof text);
    assert_string_equal(text, "'effort' (its tension) or 'shortening'");
    snw_actuator_forms(text, sizeof text);
    assert_non_null(strstr(text, "'joint: link', 'rod: link'"));
    assert_non_null(strstr(text, " or 'stress: {along: .., bend_y: ..}'"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(controls_are_found_by_key_and_by_given_quantity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
