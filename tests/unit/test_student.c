// SPDX-License-Identifier: MIT
#include "identify/student.h"
#include "near.h"

#include <math.h>

static void closed_forms_are_met(void **state) {
    (void)state;
    const double pi = acos(-1);
    for (int i = 1; i < 200; i++) {
        const double p = i / 200.0;
        // one and two degrees of freedom have closed forms
        const double one = -1 / tan(pi * p), two = (2 * p - 1) / sqrt(2 * p * (1 - p));
        assert_near(snw_student_quantile(p, 1), one, 1e-12 * (1 + fabs(one)));
        assert_near(snw_student_quantile(p, 2), two, 1e-12 * (1 + fabs(two)));
        assert_near(snw_student_quantile(p, 7), -snw_student_quantile(1 - p, 7), 1e-12);
    }
}

static void tabulated_quantiles_are_met(void **state) {
    (void)state;
    assert_near(snw_student_quantile(0.975, 4), 2.776445105, 1e-9);
    assert_near(snw_student_quantile(0.975, INFINITY), 1.959963984540054, 1e-13);
    assert_near(snw_student_quantile(0.995, 30), 2.749995653567, 1e-10);
    assert_near(snw_student_quantile(0.95, 1e7), snw_student_quantile(0.95, INFINITY), 1e-6);
    const double chi = snw_student_quantile(0.975, INFINITY);
    assert_near(chi * chi, 3.841459, 1e-6);
}

static void arguments_outside_have_no_quantile(void **state) {
    (void)state;
    assert_true(isnan(snw_student_quantile(0, 4)) && isnan(snw_student_quantile(1, 4)));
    assert_true(isnan(snw_student_quantile(0.5, 0)) && isnan(snw_student_quantile(NAN, 4)));
    assert_true(isnan(snw_student_quantile(0.5, NAN)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_forms_are_met),
        cmocka_unit_test(tabulated_quantiles_are_met),
        cmocka_unit_test(arguments_outside_have_no_quantile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
