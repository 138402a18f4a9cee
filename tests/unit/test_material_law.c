// SPDX-License-Identifier: MIT
//
// Laws that move with the material of a variable-length rod: their piecewise polynomials.
#include "model/material_law.h"
#include "near.h"
#include "random_rod.h"

enum { PLACES = 400 };

static double place(int i) { return 0.8 * (-1.5 + 2.5 * (i + 0.37) / PLACES); }

// polynomials of degree five are reproduced, with all three derivatives
static void quintics_are_themselves(void **state) {
    (void)state;
    robot r;
    robot_init(&r, 0.8, 0.01);
    const snw_law f = law(&r, "1 - 2*x + 3*x^2 - x^3 + 0.5*x^4 - 2*x^5");
    for (int i = 0; i < PLACES; i++) {
        const double x = place(i);
        const snw_point_derivatives s = snw_law_material(f, x, 0.8);
        // rounding, which the third derivative magnifies by 60 (32/L)^3
        assert_near(s.v, 1 + x * (-2 + x * (3 + x * (-1 + x * (0.5 - 2 * x)))), 1e-14);
        assert_near(s.d, -2 + x * (6 + x * (-3 + x * (2 - 10 * x))), 1e-12);
        assert_near(s.dd, 6 + x * (-6 + x * (6 - 40 * x)), 1e-10);
        assert_near(s.ddd, -6 + x * (12 - 120 * x), 1e-8);
    }
    robot_free(&r);
}

// for other smooth laws the error is h^6 f''''''/46080, and each derivative loses one power of h
// more
static void smooth_laws_lose_little(void **state) {
    (void)state;
    robot r;
    robot_init(&r, 0.8, 0.01);
    const snw_law f = law(&r, "sin(9*x)");
    const double h = 0.8 / 32, bend = pow(9, 6);
    double worst = 0;
    for (int i = 0; i < PLACES; i++) {
        const double x = place(i);
        const snw_point_derivatives s = snw_law_material(f, x, 0.8);
        worst = fmax(worst, fabs(s.v - sin(9 * x)));
        assert_near(s.d, 9 * cos(9 * x), bend * pow(h, 5) / 2000);
        assert_near(s.dd, -81 * sin(9 * x), bend * pow(h, 4) / 200);
        assert_near(s.ddd, -729 * cos(9 * x), bend * pow(h, 3) / 100);
    }
    assert_true(worst <= bend * pow(h, 6) / 46080 && worst > 0.1 * bend * pow(h, 6) / 46080);
    robot_free(&r);
}

// corners and jumps become smooth: derivatives are those of the interpolant, also across the ends
// of pieces
static void jumps_are_rounded(void **state) {
    (void)state;
    robot r;
    robot_init(&r, 0.8, 0.01);
    const snw_law laws[] = {law(&r, "if(x > 0.31, 3, 1)"), law(&r, "abs(x - 0.43)")};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < PLACES; i++) {
            const double x = place(i), e = 1e-5;
            const snw_point_derivatives s = snw_law_material(laws[k], x, 0.8),
                                        a = snw_law_material(laws[k], x - e, 0.8),
                                        b = snw_law_material(laws[k], x + e, 0.8);
            // e^2/6 of the third and fourth derivatives of a step of 2 over h: 120/h^3, 720/h^4
            assert_near((b.v - a.v) / (2 * e), s.d, 2e-4);
            assert_near((b.d - a.d) / (2 * e), s.dd, 5e-2);
        }
        for (int i = -20; i < 40; i++) {
            const double end = 0.8 - 0.025 * i, e = 1e-9;
            const snw_point_derivatives a = snw_law_material(laws[k], end - e, 0.8),
                                        b = snw_law_material(laws[k], end + e, 0.8);
            assert_near(a.v, b.v, 1e-8);
            assert_near(a.d, b.d, 1e-5);
            assert_near(a.dd, b.dd, 2 * e * 120 / pow(0.025, 3));
        }
    }
    assert_near(snw_law_material(laws[0], 0.2, 0.8).v, 1, 0);
    assert_near(snw_law_material(laws[0], 0.4, 0.8).v, 3, 0);
    assert_near(snw_law_material(NULL, 0.4, 0.8).v, 0, 0);
    robot_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quintics_are_themselves),
        cmocka_unit_test(smooth_laws_lose_little),
        cmocka_unit_test(jumps_are_rounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
