// SPDX-License-Identifier: MIT
//
// Proper orthogonal decomposition against the reference problem of the specification (1.2): eleven
// exponentials on [0, 1] with the stiffness 1 - x/2, computed elsewhere.
#include "identify/pod.h"

#include "math/quadrature.h"
#include "near.h"

#include <math.h>
#include <stdbool.h>

enum { POINTS = 40, SNAPSHOTS = 11, KEPT = 4, MORE = 3 };

// Snapshots at Gauss points, and without weight at x = 0, 0.5, 1.
typedef struct problem {
    double x[POINTS + MORE], w[POINTS + MORE], e[(POINTS + MORE) * SNAPSHOTS];
    double sigma[POINTS + MORE], C[SNAPSHOTS * (POINTS + MORE)];
    double phi[(POINTS + MORE) * KEPT];
    int rank;
} problem;

static void solve(problem *p, bool weighted) {
    snw_gauss(POINTS, p->x, p->w);
    for (int k = 0; k < POINTS; k++) p->w[k] *= weighted ? 1 - p->x[k] / 2 : 1;
    for (int k = 0; k < MORE; k++) p->x[POINTS + k] = k / 2.0, p->w[POINTS + k] = 0;
    for (int j = 0; j < SNAPSHOTS; j++) {
        for (int k = 0; k < POINTS + MORE; k++)
            p->e[j * (POINTS + MORE) + k] = exp(-0.5 * j * p->x[k]);
    }
    assert_int_equal(snw_pod(POINTS + MORE, p->w, SNAPSHOTS, p->e, p->sigma, p->C, &p->rank),
                     SNW_OK);
    snw_pod_functions(POINTS + MORE, SNAPSHOTS, p->e, KEPT, p->C, p->phi);
}

static void singular_values_are_those_of_the_energy_norm(void **state) {
    (void)state;
    static const double sigma[] = {1.633402885, 0.4537593687, 0.07184829126, 7.739790239e-3,
                                   6.1227003e-4};
    static const double lost[] = {7.332784e-2, 1.813904e-3, 2.093713e-5, 1.306853e-7};
    problem p;
    solve(&p, true);
    double total = 0, kept = 0;
    assert_true(p.rank >= 5 && p.rank <= SNAPSHOTS); // the last ones are rounding
    for (int i = 0; i < SNAPSHOTS; i++) total += p.sigma[i] * p.sigma[i];
    for (int i = 0; i < 5; i++) assert_near(p.sigma[i], sigma[i], (i < 4 ? 1e-9 : 1e-7) * sigma[i]);
    for (int i = 0; i < 4; i++) {
        kept += p.sigma[i] * p.sigma[i];
        assert_near(1 - kept / total, lost[i], 5e-7 * lost[i] + 1e-15);
    }
    // the plain norm is another
    solve(&p, false);
    assert_near(p.sigma[0], 1.785843516, 1e-9);
    assert_near(p.sigma[1], 0.5234623398, 1e-9);
}

static void functions_are_orthonormal_and_the_known_ones(void **state) {
    (void)state;
    static const double phi[3][MORE] = {{1.901096, 0.935583, 0.644018},
                                        {2.527212, -0.969782, -1.475986},
                                        {2.843954, -0.627076, 2.256999}};
    problem p;
    solve(&p, true);
    for (int i = 0; i < KEPT; i++) {
        const double *a = p.phi + i * (POINTS + MORE);
        for (int k = 0; i < 3 && k < MORE; k++) assert_near(a[POINTS + k], phi[i][k], 6e-7);
        for (int j = 0; j < KEPT; j++) {
            const double *b = p.phi + j * (POINTS + MORE);
            double sum = 0;
            for (int k = 0; k < POINTS; k++) sum += p.w[k] * a[k] * b[k];
            assert_near(sum, i == j, 1e-11);
        }
    }
}

static void projection_errors_are_the_known_ones(void **state) {
    (void)state;
    static const double rate[] = {2.25, 6};
    static const double error[2][KEPT] = {{0.2139024, 0.04239310, 0.004102083, 0.000404031},
                                          {0.5723206, 0.1679551, 0.03440169, 0.005519477}};
    problem p;
    solve(&p, true);
    for (int r = 0; r < 2; r++) {
        double e[POINTS + MORE];
        for (int k = 0; k < POINTS + MORE; k++) e[k] = exp(-rate[r] * p.x[k]);
        for (int n = 1; n <= KEPT; n++) {
            double missing, whole;
            snw_pod_project(POINTS + MORE, p.w, n, p.phi, e, &missing, &whole);
            assert_near(sqrt(missing / whole), error[r][n - 1], 2e-6 * error[r][n - 1] + 5e-10);
        }
    }
}

static void snapshots_that_are_not_finite_fail(void **state) {
    (void)state;
    const double w[3] = {1, 1, 1}, e[6] = {1, 2, (double)NAN, 0, 1, 2};
    double sigma[2], C[4];
    int rank;
    assert_int_equal(snw_pod(3, w, 2, e, sigma, C, &rank), SNW_E_DIVERGED);
}

// Dependent snapshots have as many functions as they span.
static void rank_is_the_number_of_functions(void **state) {
    (void)state;
    const double w[3] = {0.2, 0.3, 0.5}, e[9] = {1, 2, 3, 2, 4, 6, 1, 0, 1};
    double sigma[3], C[9];
    int rank;
    assert_int_equal(snw_pod(3, w, 3, e, sigma, C, &rank), SNW_OK);
    assert_int_equal(rank, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(singular_values_are_those_of_the_energy_norm),
        cmocka_unit_test(functions_are_orthonormal_and_the_known_ones),
        cmocka_unit_test(projection_errors_are_the_known_ones),
        cmocka_unit_test(snapshots_that_are_not_finite_fail),
        cmocka_unit_test(rank_is_the_number_of_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
