// SPDX-License-Identifier: MIT
#include "math/restitution.h"

#include "math/positive_part.h"
#include "near.h"

#include <math.h>

// v dv/dz = -z c(1 - d v) for unit mass and stiffness, z the depth: speed out over speed in by
// Runge-Kutta steps in time
static double ratio_of(double d, double v_in) {
    double z = 0, v = v_in; // depth and its rate
    const double h = 1e-3;
    for (;;) {
        const double a[4] = {0, 0.5, 0.5, 1}, b[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
        double kz = 0, kv = 0, dz = 0, dv = 0;
        for (int i = 0; i < 4; i++) {
            const double zi = z + a[i] * h * kz, vi = v + a[i] * h * kv;
            kz = vi;
            kv = -zi * snw_positive_part(1 + d * vi, SNW_HUNT_CROSSLEY_WIDTH);
            dz += h * b[i] * kz;
            dv += h * b[i] * kv;
        }
        if (z + dz < 0) return -(v + dv * z / -dz) / v_in;
        z += dz, v += dv;
    }
}

// published rows: a sphere that falls with 3.1320919527 m/s on d = 0.2 and 0.1 s/m
static void known_ratios_give_their_damping(void **state) {
    (void)state;
    assert_near(snw_restitution_damping(0.7028518717, 3.1320919527), 0.2, 1e-10);
    assert_near(snw_restitution_damping(0.8267464245, 3.1320919527), 0.1, 1e-10);
    assert_true(snw_restitution_damping(1, 2) == 0);
}

// small losses: x = 3/2 (1 - e) + ..
static void almost_no_loss_is_linear(void **state) {
    (void)state;
    assert_near(snw_restitution_damping(1 - 1e-7, 1) / 1.5e-7, 1, 1e-6);
}

static void the_motion_has_the_ratio(void **state) {
    (void)state;
    const double e[] = {0.95, 0.7, 0.66, 0.5, 0.3, 0.1};
    for (int i = 0; i < 6; i++) {
        assert_near(ratio_of(snw_restitution_damping(e[i], 0.8), 0.8), e[i], 1e-6);
    }
}

static void other_numbers_are_refused(void **state) {
    (void)state;
    assert_true(isnan(snw_restitution_damping(0, 1)));
    assert_true(isnan(snw_restitution_damping(1.1, 1)));
    assert_true(isnan(snw_restitution_damping(0.5, 0)));
    assert_true(isnan(snw_restitution_damping(NAN, 1)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_ratios_give_their_damping),
        cmocka_unit_test(almost_no_loss_is_linear),
        cmocka_unit_test(the_motion_has_the_ratio),
        cmocka_unit_test(other_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
