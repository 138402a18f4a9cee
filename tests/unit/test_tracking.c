// SPDX-License-Identifier: MIT
//
// Least squares over a chain of steps: random problems against their normal equations, and one
// that is known.
#include "base/alloc.h"
#include "solve/tracking.h"

#include "near.h"

#include <string.h>

enum { STEPS = 7, NX = 5, NU = 3, NY = 4, MOST = STEPS * NU };

static double uniform(unsigned long long *seed) { // -1 to 1
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 11) / 4503599627370496.0 - 1;
}

typedef struct chain {
    int nx, nu, ny;
    double A[STEPS * NX * NX], B[STEPS * NX * NU], C[STEPS * NX * NY], e[STEPS * NY], u[MOST],
        r[NU];
} chain;

// sum that the changes d give
static double sum_of(const chain *c, const double *d) {
    double x[NX] = {0}, sum = 0;
    for (int n = 0; n < STEPS; n++) {
        double next[NX] = {0};
        for (int i = 0; i < c->nx; i++) {
            for (int j = 0; j < c->nx; j++) next[i] += c->A[(n * c->nx + j) * c->nx + i] * x[j];
            for (int j = 0; j < c->nu; j++)
                next[i] += c->B[(n * c->nu + j) * c->nx + i] * d[n * c->nu + j];
        }
        memcpy(x, next, sizeof x);
        for (int k = 0; k < c->ny; k++) {
            double e = c->e[n * c->ny + k];
            for (int j = 0; j < c->nx; j++) e += c->C[(n * c->nx + j) * c->ny + k] * x[j];
            sum += 0.5 * e * e;
        }
        for (int j = 0; j < c->nu; j++) {
            const double u = c->u[n * c->nu + j] + d[n * c->nu + j];
            sum += 0.5 * c->r[j] * u * u;
        }
    }
    return sum;
}

// d <- of the solution k, K by the steps of the chain
static void changes_of(const chain *c, const double *k, const double *K, double *d) {
    double x[NX] = {0};
    for (int n = 0; n < STEPS; n++) {
        double next[NX] = {0};
        for (int i = 0; i < c->nu; i++) {
            d[n * c->nu + i] = k[n * c->nu + i];
            for (int j = 0; j < c->nx; j++)
                d[n * c->nu + i] += K[(n * c->nx + j) * c->nu + i] * x[j];
        }
        for (int i = 0; i < c->nx; i++) {
            for (int j = 0; j < c->nx; j++) next[i] += c->A[(n * c->nx + j) * c->nx + i] * x[j];
            for (int j = 0; j < c->nu; j++)
                next[i] += c->B[(n * c->nu + j) * c->nx + i] * d[n * c->nu + j];
        }
        memcpy(x, next, sizeof x);
    }
}

static void fill(unsigned long long *seed, int n, double *x) {
    for (int i = 0; i < n; i++) x[i] = uniform(seed);
}

// The sum is quadratic: its gradient by central differences is exact, and zero at the minimum; it
// falls by as much as is said.
static void random_chains_end_at_a_minimum(void **state) {
    (void)state;
    unsigned long long seed = 3;
    for (int trial = 0; trial < 60; trial++) {
        chain c = {.nx = 1 + trial % NX, .nu = 1 + trial % NU, .ny = 1 + trial % NY};
        fill(&seed, STEPS * c.nx * c.nx, c.A);
        fill(&seed, STEPS * c.nx * c.nu, c.B);
        fill(&seed, STEPS * c.nx * c.ny, c.C);
        fill(&seed, STEPS * c.ny, c.e);
        fill(&seed, STEPS * c.nu, c.u);
        for (int i = 0; i < c.nu; i++) c.r[i] = 0.1 + fabs(uniform(&seed));
        if (trial % 4 == 0)
            memset(c.C, 0, sizeof(double) * (size_t)(3 * c.nx * c.ny)); // free first
        snw_arena scratch = {.size = snw_tracking_scratch(c.nx, c.nu)};
        scratch.base = snw_alloc(scratch.size);
        const snw_tracking p = {STEPS, c.nx, c.nu, c.ny, c.A, c.B, c.C, c.e, c.u, c.r};
        double k[MOST], K[MOST * NX], d[MOST], zero[MOST] = {0}, fall;
        assert_int_equal(snw_tracking_solve(&p, &scratch, k, K, &fall), SNW_OK);
        changes_of(&c, k, K, d);
        const double best = sum_of(&c, d);
        assert_near(sum_of(&c, zero) - best, fall, 1e-10 * (1 + fall));
        for (int i = 0; i < STEPS * c.nu; i++) {
            const double at = d[i], h = 1e-2;
            d[i] = at + h;
            const double up = sum_of(&c, d);
            d[i] = at - h;
            const double down = sum_of(&c, d);
            d[i] = at;
            assert_near((up - down) / (2 * h), 0, 1e-9 * (1 + best));
            assert_true(up > best && down > best);
        }
        snw_free(scratch.base);
    }
}

// One step, one state: d = -(c b e + r u)/(c^2 b^2 + r)
static void one_step_is_known(void **state) {
    (void)state;
    const double A = 3, B = 2, C = 0.5, e = 0.7, u = 0.2, r = 0.3;
    double k, K, fall;
    snw_arena scratch = {.size = snw_tracking_scratch(1, 1)};
    scratch.base = snw_alloc(scratch.size);
    const snw_tracking p = {1, 1, 1, 1, &A, &B, &C, &e, &u, &r};
    assert_int_equal(snw_tracking_solve(&p, &scratch, &k, &K, &fall), SNW_OK);
    assert_near(k, -(C * B * e + r * u) / (C * C * B * B + r), 1e-15);
    assert_near(K, -(C * C * A * B) / (C * C * B * B + r), 1e-15);
    snw_free(scratch.base);
}

static void numbers_that_are_not_finite_fail(void **state) {
    (void)state;
    const double A = 1, B = NAN, C = 1, e = 1, u = 0, r = 1;
    double k, K, fall;
    snw_arena scratch = {.size = snw_tracking_scratch(1, 1)};
    scratch.base = snw_alloc(scratch.size);
    const snw_tracking p = {1, 1, 1, 1, &A, &B, &C, &e, &u, &r};
    assert_int_not_equal(snw_tracking_solve(&p, &scratch, &k, &K, &fall), SNW_OK);
    snw_free(scratch.base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_chains_end_at_a_minimum),
        cmocka_unit_test(one_step_is_known),
        cmocka_unit_test(numbers_that_are_not_finite_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
