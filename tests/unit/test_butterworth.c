// SPDX-License-Identifier: MIT
#include "base/alloc.h"
#include "identify/butterworth.h"
#include "near.h"

#include <math.h>

enum { N = 2001 };
static const double h = 1e-3;

static void smooth(int n, double cutoff, double *y) {
    snw_arena scratch = {.size = snw_butterworth_scratch(n)};
    scratch.base = snw_alloc(scratch.size);
    snw_butterworth(n, h, cutoff, &scratch, y);
    snw_free(scratch.base);
}

// away from the ends the filter multiplies the amplitude by |H|^2 of the digital filter and adds no
// phase
static void a_sinusoid_keeps_its_phase_and_loses_what_it_should(void **state) {
    (void)state;
    const double cutoff = 20, frequency[] = {5, 15, 20, 25, 60};
    for (int k = 0; k < 5; k++) {
        static double y[N];
        const double w = 2 * M_PI * frequency[k];
        for (int i = 0; i < N; i++) y[i] = sin(w * i * h + 0.3);
        smooth(N, cutoff, y);
        const double ratio = tan(M_PI * frequency[k] * h) / tan(M_PI * cutoff * h);
        const double gain = 1 / (1 + pow(ratio, 8));
        // the reflected ends introduce other frequencies, which decay by exp(-0.38 2 pi 20 Hz 0.5
        // s) = 1e-10
        for (int i = 500; i <= N - 500; i++) assert_near(y[i], gain * sin(w * i * h + 0.3), 1e-8);
    }
}

static void lines_are_left_alone(void **state) {
    (void)state;
    static double y[N];
    for (int i = 0; i < N; i++) y[i] = 3 - 2 * i * h;
    smooth(N, 50, y);
    for (int i = 0; i < N; i++) assert_near(y[i], 3 - 2 * i * h, 1e-10);
}

static void few_samples_are_no_harm(void **state) {
    (void)state;
    for (int n = 1; n < 6; n++) {
        double y[5] = {2, 2, 2, 2, 2};
        smooth(n, 100, y);
        for (int i = 0; i < n; i++) assert_near(y[i], 2, 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sinusoid_keeps_its_phase_and_loses_what_it_should),
        cmocka_unit_test(lines_are_left_alone),
        cmocka_unit_test(few_samples_are_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
