// SPDX-License-Identifier: MIT
#include "math/spline_grid.h"

#include "near.h"

#include <math.h>

// A cubic polynomial in each coordinate, and its derivatives.
static double cubic(double x, int d) {
    static const double c[4] = {0.3, -1.2, 0.7, 0.5};
    return d == 0   ? c[0] + x * (c[1] + x * (c[2] + x * c[3]))
           : d == 1 ? c[1] + x * (2 * c[2] + 3 * x * c[3])
                    : 2 * c[2] + 6 * x * c[3];
}

static double product(snw_vec3 y, int a, int b, int c) {
    return cubic(y.x, a) * cubic(0.5 * y.y, b) * pow(0.5, b) * cubic(-y.z, c) * pow(-1, c);
}

static snw_spline_grid fitted(snw_pool *pool, int nz) {
    snw_spline_grid g = {.n = {5, 4, nz}, .first = {-1, -0.5, 0.2}, .step = {0.3, 0.4, 0.25}};
    double sample[5 * 4 * 6], *to = sample;
    for (int k = 0; k < nz; k++) {
        for (int j = 0; j < 4; j++) {
            for (int i = 0; i < 5; i++) {
                *to++ =
                    product((snw_vec3){{-1 + 0.3 * i, -0.5 + 0.4 * j, nz > 1 ? 0.2 + 0.25 * k : 0}},
                            0, 0, 0);
            }
        }
    }
    assert_true(snw_spline_grid_fit(pool, sample, &g));
    return g;
}

// polynomials of the third degree are reproduced with their derivatives, also with four samples
static void cubics_are_reproduced(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 20);
    for (int nz = 1; nz <= 6; nz += 5) {
        const snw_spline_grid g = fitted(pool, nz);
        for (int k = 0; k < 200; k++) {
            const snw_vec3 y = {{-1 + 1.2 * fmod(0.618 * k, 1), -0.5 + 1.2 * fmod(0.755 * k, 1),
                                 nz > 1 ? 0.2 + 1.25 * fmod(0.57 * k, 1) : 0}};
            snw_vec3 slope;
            snw_mat3 second;
            assert_near(snw_spline_grid_at(&g, y, &slope, &second), product(y, 0, 0, 0), 1e-13);
            assert_near(slope.x, product(y, 1, 0, 0), 1e-12);
            assert_near(slope.y, product(y, 0, 1, 0), 1e-12);
            assert_near(second.e[0][0], product(y, 2, 0, 0), 1e-11);
            assert_near(second.e[0][1], product(y, 1, 1, 0), 1e-11);
            assert_near(second.e[1][1], product(y, 0, 2, 0), 1e-11);
            if (nz == 1) continue;
            assert_near(slope.z, product(y, 0, 0, 1), 1e-12);
            assert_near(second.e[2][2], product(y, 0, 0, 2), 1e-11);
            assert_near(second.e[0][2], product(y, 1, 0, 1), 1e-11);
            assert_near(second.e[2][1], product(y, 0, 1, 1), 1e-11);
        }
    }
    snw_pool_destroy(pool);
}

// value, slope and second derivatives are continuous at samples and at the edge, and constant
// across it from three cells on
static void it_is_twice_differentiable_everywhere(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 20);
    const snw_spline_grid g = fitted(pool, 6);
    for (int i = -4; i <= 8; i++) {
        double value[2];
        snw_vec3 slope[2];
        snw_mat3 second[2];
        for (int side = 0; side < 2; side++) {
            const snw_vec3 y = {{-1 + 0.3 * i + (side ? 1e-12 : -1e-12), 0.1, 0.7}};
            value[side] = snw_spline_grid_at(&g, y, &slope[side], &second[side]);
        }
        assert_near(value[1], value[0], 1e-10);
        for (int k = 0; k < 3; k++) {
            assert_near(slope[1].e[k], slope[0].e[k], 1e-9);
            for (int j = 0; j < 3; j++) assert_near(second[1].e[k][j], second[0].e[k][j], 1e-9);
        }
    }
    snw_vec3 slope;
    snw_mat3 second;
    const double far = snw_spline_grid_at(&g, (snw_vec3){{0.2 + 0.9, 0.1, 0.7}}, &slope, &second);
    assert_near(slope.x, 0, 1e-13);
    assert_near(snw_spline_grid_at(&g, (snw_vec3){{1e300, 0.1, 0.7}}, &slope, &second), far, 1e-13);
    snw_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cubics_are_reproduced),
        cmocka_unit_test(it_is_twice_differentiable_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
