// SPDX-License-Identifier: MIT
//
// Least squares over a chain of steps: random problems against their normal equations, and one
// that is known.
#include "base/alloc.h"
#include "solve/tracking.h"
#include "solve/tracking_limits.h"

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
    bool terms; // further ones; the last states are then the changes before
    double weight[MOST], gradient[MOST], change_weight[MOST], change_gradient[MOST];
} chain;

static snw_tracking problem_of(const chain *c) {
    return (snw_tracking){.steps = STEPS,
                          .nx = c->nx,
                          .nu = c->nu,
                          .ny = c->ny,
                          .A = c->A,
                          .B = c->B,
                          .C = c->C,
                          .e = c->e,
                          .u = c->u,
                          .r = c->r,
                          .weight = c->terms ? c->weight : NULL,
                          .gradient = c->gradient,
                          .change_weight = c->terms ? c->change_weight : NULL,
                          .change_gradient = c->change_gradient};
}

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
            if (!c->terms) continue;
            const int k = n * c->nu + j;
            const double change = d[k] - (n > 0 ? d[k - c->nu] : 0);
            sum += c->gradient[k] * d[k] + 0.5 * c->weight[k] * d[k] * d[k];
            sum += c->change_gradient[k] * change + 0.5 * c->change_weight[k] * change * change;
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

static void remember_changes(chain *c) {
    for (int n = 0; n < STEPS; n++) {
        for (int i = c->nx - c->nu; i < c->nx; i++) {
            for (int j = 0; j < c->nx; j++) c->A[(n * c->nx + j) * c->nx + i] = 0;
            for (int j = 0; j < c->nu; j++)
                c->B[(n * c->nu + j) * c->nx + i] = j == i - (c->nx - c->nu);
        }
    }
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
        c.terms = trial % 3 == 1 && c.nx > c.nu;
        if (c.terms) {
            remember_changes(&c);
            fill(&seed, STEPS * c.nu, c.gradient);
            fill(&seed, STEPS * c.nu, c.change_gradient);
            for (int i = 0; i < STEPS * c.nu; i++) {
                c.weight[i] = 1 + uniform(&seed);
                c.change_weight[i] = 1 + uniform(&seed);
            }
        }
        const snw_tracking p = problem_of(&c);
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
            assert_near((up - down) / (2 * h), 0, 1e-9 * (1 + fabs(best)));
            assert_true(up > best && down > best);
        }
        snw_free(scratch.base);
    }
}

// Random chains within limits: the inputs are within them, and the gradient of the sum is that of
// the multipliers, which are positive only at their limits.
static void random_chains_keep_their_limits(void **state) {
    (void)state;
    unsigned long long seed = 5;
    int held = 0;
    for (int trial = 0; trial < 30; trial++) {
        chain c = {.nx = 2 + NU, .nu = 1 + trial % NU, .ny = 1 + trial % NY, .terms = true};
        c.nx = 2 + c.nu;
        fill(&seed, STEPS * c.nx * c.nx, c.A);
        fill(&seed, STEPS * c.nx * c.nu, c.B);
        fill(&seed, STEPS * c.nx * c.ny, c.C);
        fill(&seed, STEPS * c.ny, c.e);
        for (int i = 0; i < c.nu; i++) c.r[i] = 0.1 + fabs(uniform(&seed));
        for (int i = 0; i < STEPS * c.ny; i++) c.e[i] *= 5;
        remember_changes(&c);
        double low[NU], high[NU], change[NU], before[NU] = {0}, z[4][MOST];
        for (int i = 0; i < c.nu; i++) {
            low[i] = trial % 5 == 0 ? -INFINITY : -0.3 * (1.5 + uniform(&seed));
            high[i] = 0.3 * (1.5 + uniform(&seed));
            change[i] = trial % 4 == 0 ? INFINITY : 0.2 * (1.5 + uniform(&seed));
        }
        snw_tracking_limits l = {.steps = STEPS,
                                 .nu = c.nu,
                                 .low = low,
                                 .high = high,
                                 .change = change,
                                 .before = before,
                                 .mu = 1,
                                 .z = {z[0], z[1], z[2], z[3]},
                                 .weight = c.weight,
                                 .gradient = c.gradient,
                                 .change_weight = c.change_weight,
                                 .change_gradient = c.change_gradient};
        assert_int_equal(snw_limits_contradiction(&l), -1);
        snw_limits_enter(&l, c.u);
        assert_true(isfinite(snw_limits_barrier(&l, c.u)));
        snw_limits_begin(&l, c.u);
        snw_arena scratch = {.size = snw_tracking_scratch(c.nx, c.nu)};
        scratch.base = snw_alloc(scratch.size);
        chain plain = c;
        plain.terms = false;
        for (int k = 0; k < 80; k++) {
            // errors of the present inputs
            chain now = c;
            double x[NX] = {0};
            for (int n = 0; n < STEPS; n++) {
                double next[NX] = {0};
                for (int i = 0; i < c.nx; i++) {
                    for (int j = 0; j < c.nx; j++) next[i] += c.A[(n * c.nx + j) * c.nx + i] * x[j];
                    for (int j = 0; j < c.nu; j++)
                        next[i] += c.B[(n * c.nu + j) * c.nx + i] * c.u[n * c.nu + j];
                }
                memcpy(x, next, sizeof x);
                for (int i = 0; i < c.ny; i++) {
                    for (int j = 0; j < c.nx; j++)
                        now.e[n * c.ny + i] += c.C[(n * c.nx + j) * c.ny + i] * x[j];
                }
            }
            snw_limits_weigh(&l, c.u);
            memcpy(now.weight, c.weight, sizeof now.weight);
            memcpy(now.gradient, c.gradient, sizeof now.gradient);
            memcpy(now.change_weight, c.change_weight, sizeof now.weight);
            memcpy(now.change_gradient, c.change_gradient, sizeof now.weight);
            const snw_tracking p = problem_of(&now);
            double gain[MOST], K[MOST * NX], d[MOST], next[MOST], fall;
            assert_int_equal(snw_tracking_solve(&p, &scratch, gain, K, &fall), SNW_OK);
            changes_of(&now, gain, K, d);
            double part = 1; // of the step, to within the limits
            memcpy(next, c.u, sizeof next);
            for (int tries = 0; tries < 60; tries++, part *= 0.7) {
                for (int i = 0; i < STEPS * c.nu; i++) next[i] = c.u[i] + part * d[i];
                if (isfinite(snw_limits_barrier(&l, next))) break;
            }
            part *= 0.99;
            for (int i = 0; i < STEPS * c.nu; i++) next[i] = c.u[i] + part * d[i];
            snw_limits_update(&l, c.u, next, part);
            memcpy(c.u, next, sizeof next);
            if (k % 2) l.mu = fmax(1e-8, 0.3 * l.mu);
        }
        // gradient of the sum, by central differences, which are exact
        memset(plain.u, 0, sizeof plain.u);
        for (int n = 0; n < STEPS; n++) {
            for (int i = 0; i < c.nu; i++) {
                const int k = n * c.nu + i;
                const double at = c.u[k], h = 1e-2;
                c.u[k] = at + h;
                const double up = sum_of(&plain, c.u);
                c.u[k] = at - h;
                const double down = sum_of(&plain, c.u);
                c.u[k] = at;
                const double later = n + 1 < STEPS ? z[2][k + c.nu] - z[3][k + c.nu] : 0;
                const double force = z[0][k] - z[1][k] + z[2][k] - z[3][k] - later;
                assert_near((up - down) / (2 * h), force, 1e-6);
                assert_true(at > low[i] && at < high[i]);
                held += z[1][k] > 1e-3 || z[0][k] > 1e-3 || z[2][k] > 1e-3 || z[3][k] > 1e-3;
                for (int side = 0; side < 4; side++) assert_true(z[side][k] >= 0);
                assert_true(z[1][k] * (high[i] - at) < 1.1e-8);
            }
        }
        snw_free(scratch.base);
    }
    assert_true(held > 100);
}

static void limits_that_leave_nothing_are_told(void **state) {
    (void)state;
    double low = 1, high = 2, change = 0.5, before = 0;
    const snw_tracking_limits l = {
        .steps = 3, .nu = 1, .low = &low, .high = &high, .change = &change, .before = &before};
    assert_int_equal(snw_limits_contradiction(&l), 0); // too slow
    change = 1.5;
    assert_int_equal(snw_limits_contradiction(&l), -1);
    low = 3;
    assert_int_equal(snw_limits_contradiction(&l), 0);
}

// One step, one state: d = -(c b e + r u)/(c^2 b^2 + r)
static void one_step_is_known(void **state) {
    (void)state;
    const double A = 3, B = 2, C = 0.5, e = 0.7, u = 0.2, r = 0.3;
    double k, K, fall;
    snw_arena scratch = {.size = snw_tracking_scratch(1, 1)};
    scratch.base = snw_alloc(scratch.size);
    const snw_tracking p = {.steps = 1,
                            .nx = 1,
                            .nu = 1,
                            .ny = 1,
                            .A = &A,
                            .B = &B,
                            .C = &C,
                            .e = &e,
                            .u = &u,
                            .r = &r};
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
    const snw_tracking p = {.steps = 1,
                            .nx = 1,
                            .nu = 1,
                            .ny = 1,
                            .A = &A,
                            .B = &B,
                            .C = &C,
                            .e = &e,
                            .u = &u,
                            .r = &r};
    assert_int_not_equal(snw_tracking_solve(&p, &scratch, &k, &K, &fall), SNW_OK);
    snw_free(scratch.base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_chains_end_at_a_minimum),
        cmocka_unit_test(random_chains_keep_their_limits),
        cmocka_unit_test(limits_that_leave_nothing_are_told),
        cmocka_unit_test(one_step_is_known),
        cmocka_unit_test(numbers_that_are_not_finite_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
