// SPDX-License-Identifier: MIT
#include "math/difference.h"
#include "near.h"

#include <math.h>

static void polynomials_are_exact(void **state) {
    (void)state;
    for (int half = 1; half <= 4; half++) {
        for (int shift = -half; shift <= half; shift++) {
            double weight[9];
            snw_difference_weights(half, shift, weight);
            for (int power = 0; power <= 2 * half; power++) {
                double sum = 0;
                for (int i = 0; i <= 2 * half; i++)
                    sum += weight[i] * pow(shift - half + i + 3, power); // at 3
                const double wanted = power * pow(3, power - 1);
                assert_near(sum / fmax(1, wanted), wanted > 0 ? 1 : 0, 1e-9);
            }
        }
    }
}

static void central_weights_are_the_known_ones(void **state) {
    (void)state;
    const double known[7] = {-1.0 / 60, 3.0 / 20, -3.0 / 4, 0, 3.0 / 4, -3.0 / 20, 1.0 / 60};
    double weight[7];
    snw_difference_weights(3, 0, weight);
    for (int i = 0; i < 7; i++) assert_near(weight[i], known[i], 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polynomials_are_exact),
        cmocka_unit_test(central_weights_are_the_known_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
