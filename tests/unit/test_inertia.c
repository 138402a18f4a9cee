// SPDX-License-Identifier: MIT
//
// The nearest inertia that a body can have, against eigenvalues by LAPACK and the property of a
// projection onto a convex cone.
#include "model/inertia.h"
#include "near.h"
#include "random_rod.h"
#include "solve/dense.h"

// second moments of an inertia, tr(I)/2 - I
static snw_mat3 second_moments(const snw_mat3 *I) {
    snw_mat3 S;
    const double half = 0.5 * (I->e[0][0] + I->e[1][1] + I->e[2][2]);
    for (int i = 0; i < 9; i++) S.e[i / 3][i % 3] = (i % 4 == 0 ? half : 0) - I->e[i / 3][i % 3];
    return S;
}

static double product(const snw_mat3 *a, const snw_mat3 *b) {
    double sum = 0;
    for (int i = 0; i < 9; i++) sum += a->e[i / 3][i % 3] * b->e[i / 3][i % 3];
    return sum;
}

// With the residual X - P: it is orthogonal to P, and at an obtuse angle to every possible matrix.
static void the_nearest_inertia_is_a_projection(void **state) {
    (void)state;
    dice d = {71};
    double space[512];
    assert_true(snw_eigen_symmetric_scratch(3) <= sizeof space);
    for (int k = 0; k < 200; k++) {
        snw_mat3 I;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j <= i; j++) I.e[i][j] = I.e[j][i] = roll(&d, i == j ? -0.5 : -1, 1);
        }
        if (k % 10 == 0) I = snw_mat3_scale(roll(&d, 0.1, 1), snw_mat3_identity());
        double p[3], lambda[3], A[9], one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        const snw_mat3 near = snw_inertia_nearest(&I, p), S = second_moments(&I),
                       P = second_moments(&near);
        snw_arena scratch = {.base = (void *)space, .size = sizeof space};
        for (int i = 0; i < 9; i++) A[i] = I.e[i / 3][i % 3];
        assert_int_equal(snw_eigen_symmetric(3, A, one, false, &scratch, lambda), SNW_OK);
        for (int i = 0; i < 3; i++) assert_near(p[i], lambda[i], 1e-14);
        assert_true(snw_mat3_semidefinite(&P, 1e-14));
        snw_mat3 left;
        for (int i = 0; i < 9; i++) left.e[i / 3][i % 3] = S.e[i / 3][i % 3] - P.e[i / 3][i % 3];
        assert_near(product(&left, &P), 0, 1e-14);
        for (int n = 0; n < 20; n++) { // v v' span the possible matrices
            snw_mat3 Y;
            snw_vec3 v;
            for (int i = 0; i < 3; i++) v.e[i] = roll(&d, -1, 1);
            for (int i = 0; i < 9; i++) Y.e[i / 3][i % 3] = v.e[i / 3] * v.e[i % 3];
            assert_true(product(&left, &Y) <= 1e-14);
        }
        if (snw_mat3_semidefinite(&S, 0)) assert_near(product(&left, &left), 0, 1e-28);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_nearest_inertia_is_a_projection)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
