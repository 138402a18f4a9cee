// SPDX-License-Identifier: MIT
//
// Tables of kinds: every enumerator has a complete row, and names are unique.
#include "model/joint_kind.h"
#include "model/probe_kind.h"
#include "model/section_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void every_joint_has_a_row(void **state) {
    (void)state;
    for (int i = 0; i < SNW_JOINT_COUNT; i++) {
        const snw_joint_type *joint = &snw_joint_table[i];
        assert_true(joint->name && joint->meaning && joint->symbol);
        for (int k = 0; k < i; k++) assert_string_not_equal(joint->name, snw_joint_table[k].name);
        int n = 0;
        const snw_joint_coordinate *c = snw_joint_coordinates((snw_joint_kind)i, &n);
        assert_true(n <= SNW_JOINT_MOST);
        for (int k = 0; k < n; k++) assert_true(c[k].name && c[k].name[0]);
        // rows are listed without gaps or repetitions
        for (int k = 1; k < 6 - joint->dof; k++) {
            for (int l = 0; l < k; l++) {
                assert_memory_not_equal(&joint->row[k], &joint->row[l], sizeof(snw_row));
            }
        }
        // a rotation about an axis is free at the tip only if the joint has as many
        const int turns = joint->tip_turns[0] + joint->tip_turns[1] + joint->tip_turns[2];
        if (joint->at_tip) assert_int_equal(turns, joint->dof);
    }
}

static void every_nonholonomic_constraint_has_a_row(void **state) {
    (void)state;
    for (int i = 0; i < SNW_NONHOLONOMIC_COUNT; i++) {
        const snw_nonholonomic_type *type = &snw_nonholonomic_table[i];
        assert_true(type->name && type->symbol);
        for (int k = 0; k < type->nrow; k++) assert_true(type->row[k].kind >= SNW_ROW_SPIN);
    }
}

static void every_section_has_a_row(void **state) {
    (void)state;
    static const char *const name[] = {
#define X(code, name, form, meaning) [code] = name,
        SNW_SECTION_LIST(X)
#undef X
    };
    for (int i = 0; i < SNW_SECTION_COUNT; i++) {
        const snw_section_type *type = &snw_section_table[i];
        assert_true(type->label && type->keys.name && type->nsize <= SNW_SECTION_SIZES);
        assert_true(type->keys.n <= SNW_SECTION_KEYS);
        if (i == SNW_SECTION_NONE) continue;
        assert_true(type->moments && type->fault && type->contour);
        if (i == SNW_SECTION_GIVEN) continue;
        assert_true(type->shaped);
        assert_string_equal(type->keys.name, name[i]);
        int given[SNW_SECTION_SIZES] = {0};
        for (int k = 0; k < type->keys.n; k++) given[type->gives[k].size]++;
        for (int k = 0; k < type->nsize; k++) assert_true(given[k] > 0);
    }
}

static void every_quantity_has_columns_with_unique_names(void **state) {
    (void)state;
    for (int i = 0; i < SNW_PROBE_COUNT; i++) {
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(snw_probe_table[i].name, snw_probe_table[k].name);
        }
        for (int joint = 0; joint < SNW_JOINT_COUNT; joint++) {
            snw_component c[SNW_PROBE_WIDTH];
            const int n = snw_probe_components((snw_probe_kind)i, (snw_joint_kind)joint, c);
            assert_true(n <= SNW_PROBE_WIDTH && (n > 0 || joint == SNW_JOINT_FREE));
            for (int k = 0; k < n; k++) {
                for (int l = 0; l < k; l++) assert_string_not_equal(c[k].name, c[l].name);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_joint_has_a_row),
        cmocka_unit_test(every_nonholonomic_constraint_has_a_row),
        cmocka_unit_test(every_section_has_a_row),
        cmocka_unit_test(every_quantity_has_columns_with_unique_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
