// SPDX-License-Identifier: MIT
//
// Indices of sensitivity against closed forms.
#include "near.h"

#include "sweep/plan.h"
#include "sweep/sensitivity.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 8 };

static snw_sweep_plan *uniform_plan(snw_sweep_method method, int n, double low, double high,
                                    int64_t count) {
    snw_pool *pool = snw_pool_create(1 << 20);
    snw_sweep_plan *p = snw_pool_take(pool, sizeof *p);
    p->pool = pool;
    p->method = method;
    p->count = count;
    p->seed = 1;
    p->shifted = true;
    p->levels = 4;
    p->nparameter = n;
    p->parameter = snw_pool_array(pool, (size_t)n, sizeof *p->parameter);
    for (int i = 0; i < n; i++)
        p->parameter[i] =
            (snw_sweep_parameter){.spread = SNW_SPREAD_UNIFORM, .a = low, .b = high, .high = 1};
    snw_error err = {0};
    assert_int_equal(snw_sweep_plan_complete(p, &err), SNW_OK);
    return p;
}

typedef double function_of(const double *x);

static double *evaluate(const snw_sweep_plan *p, function_of *f) {
    double *y = malloc((size_t)p->rows * sizeof *y), x[MOST];
    for (int64_t i = 0; i < p->rows; i++) {
        snw_sweep_plan_values(p, i, x);
        y[i] = f(x);
    }
    return y;
}

// Ishigami and Homma 1990, a = 7, b = 0.1
static double ishigami(const double *x) {
    return sin(x[0]) + 7 * sin(x[1]) * sin(x[1]) + 0.1 * pow(x[2], 4) * sin(x[0]);
}

static void expect_indices(int k, const snw_interval *found, const double *exact, double bound) {
    for (int i = 0; i < k; i++) {
        assert_near(found[i].value, exact[i], bound);
        assert_true(found[i].low <= exact[i] + 0.002 && exact[i] <= found[i].high + 0.002);
        assert_true(found[i].low <= found[i].value && found[i].value <= found[i].high);
    }
}

static void indices_of_ishigami_are_exact(void **state) {
    (void)state;
    enum { N = 8192 };
    const double pi = acos(-1.0), a = 7, b = 0.1;
    const double v1 = pow(1 + b * pow(pi, 4) / 5, 2) / 2, v2 = a * a / 8,
                 v13 = b * b * pow(pi, 8) * (1.0 / 18 - 1.0 / 50), v = v1 + v2 + v13;
    const double first[] = {v1 / v, v2 / v, 0}, total[] = {(v1 + v13) / v, v2 / v, v13 / v};
    snw_sweep_plan *p = uniform_plan(SNW_SWEEP_SALTELLI, 3, -pi, pi, N);
    double *y = evaluate(p, ishigami);
    snw_interval s[3], t[3];
    int64_t used;
    snw_error err = {0};
    assert_int_equal(snw_sensitivity_sobol(3, N, y, 1, s, t, &used, &err), SNW_OK);
    assert_int_equal(used, N);
    expect_indices(3, s, first, 0.01);
    expect_indices(3, t, total, 0.01);
    // a failed row takes its block with it and little else
    y[5 * 100 + 3] = NAN;
    assert_int_equal(snw_sensitivity_sobol(3, N, y, 1, s, t, &used, &err), SNW_OK);
    assert_int_equal(used, N - 1);
    expect_indices(3, s, first, 0.01);
    for (int64_t i = 0; i < p->rows; i++) y[i] = 2;
    assert_int_equal(snw_sensitivity_sobol(3, N, y, 1, s, t, &used, &err), SNW_E_ARGUMENT);
    free(y);
    snw_sweep_plan_destroy(p);
}

static const double g_weight[MOST] = {0, 1, 4.5, 9, 99, 99, 99, 99};

// Saltelli and Sobol' 1995
static double g_function(const double *x) {
    double y = 1;
    for (int i = 0; i < MOST; i++) y *= (fabs(4 * x[i] - 2) + g_weight[i]) / (1 + g_weight[i]);
    return y;
}

static void indices_of_the_g_function_are_exact(void **state) {
    (void)state;
    enum { N = 8192 };
    double part[MOST], v = 1, first[MOST], total[MOST];
    for (int i = 0; i < MOST; i++) {
        part[i] = 1 / (3 * pow(1 + g_weight[i], 2));
        v *= 1 + part[i];
    }
    for (int i = 0; i < MOST; i++) {
        first[i] = part[i] / (v - 1);
        total[i] = part[i] / (1 + part[i]) * v / (v - 1);
    }
    snw_sweep_plan *p = uniform_plan(SNW_SWEEP_SALTELLI, MOST, 0, 1, N);
    double *y = evaluate(p, g_function);
    snw_interval s[MOST], t[MOST];
    int64_t used;
    snw_error err = {0};
    assert_int_equal(snw_sensitivity_sobol(MOST, N, y, 1, s, t, &used, &err), SNW_OK);
    expect_indices(MOST, s, first, 0.01);
    expect_indices(MOST, t, total, 0.01);
    free(y);
    snw_sweep_plan_destroy(p);
}

static double bilinear(const double *x) { return 3 * x[0] - 2 * x[1] + 4 * x[1] * x[2]; }

// effects: 3; -2 + 4 z, which is -2 + 4/8, .. 7/8 on the levels; 4 y
static void effects_of_a_bilinear_function_are_exact(void **state) {
    (void)state;
    enum { N = 2000 };
    snw_sweep_plan *p = uniform_plan(SNW_SWEEP_MORRIS, 3, 0, 1, N);
    double *y = evaluate(p, bilinear), *x = malloc(3 * (size_t)p->rows * sizeof *x), row[3];
    for (int64_t i = 0; i < p->rows; i++) {
        snw_sweep_plan_values(p, i, row);
        for (int k = 0; k < 3; k++) x[k * p->rows + i] = row[k];
    }
    double mean[3], deviation[3];
    snw_interval size[3];
    int64_t used;
    snw_error err = {0};
    assert_int_equal(snw_sensitivity_morris(3, N, x, y, 1, mean, deviation, size, &used, &err),
                     SNW_OK);
    assert_int_equal(used, N);
    assert_near(mean[0], 3, 1e-13);
    assert_near(deviation[0], 0, 1e-13);
    assert_near(size[0].value, 3, 1e-13);
    // levels 1/8, 3/8, 5/8, 7/8: mean 1/2, variance 5/64
    const double spread = 4 * sqrt(5.0 / 64);
    assert_near(mean[1], 0, 3 * spread / sqrt(N));
    assert_near(deviation[1], spread, 0.05);
    assert_near(size[1].value, 1, 0.05); // |-1.5|, |-0.5|, |0.5|, |1.5|
    assert_near(mean[2], 2, 3 * spread / sqrt(N));
    assert_near(deviation[2], spread, 0.05);
    assert_true(size[2].low < 2 && 2 < size[2].high);
    free(x);
    free(y);
    snw_sweep_plan_destroy(p);
}

static void correlations_of_known_samples(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, 4, NAN, 5}, line[] = {3, 5, 7, 9, 1, 11},
                 cube[] = {1, 8, 27, 64, 3, 125}, bent[] = {1, 3, 2, 5, 0, 4},
                 flat[] = {2, 2, 2, 2, 2, 2};
    snw_error err = {0};
    snw_interval r;
    assert_near(snw_sensitivity_correlation(6, x, line).value, 1, 1e-15);
    assert_true(snw_sensitivity_correlation(6, x, cube).value < 0.99);
    assert_int_equal(snw_sensitivity_rank_correlation(6, x, cube, &r, &err), SNW_OK);
    assert_near(r.value, 1, 1e-15);
    assert_int_equal(snw_sensitivity_rank_correlation(6, x, bent, &r, &err), SNW_OK);
    assert_near(r.value, 1 - 6 * (1 + 1 + 1 + 1) / (5.0 * 24), 1e-15); // 1 - 6 sum d^2/(n^3 - n)
    assert_true(isnan(snw_sensitivity_correlation(6, x, flat).value));
}

static void a_pareto_front_has_no_better_rows(void **state) {
    (void)state;
    const double a[] = {1, 2, 3, 2, 4, NAN, 1, 0.5}, b[] = {5, 3, 3, 4, 1, 0, 5, 9};
    int64_t front[8], n;
    snw_error err = {0};
    assert_int_equal(snw_sensitivity_pareto(8, a, b, front, &n, &err), SNW_OK);
    assert_int_equal(n, 4);
    const int64_t known[] = {7, 0, 1, 4};
    for (int i = 0; i < 4; i++) assert_int_equal(front[i], known[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_of_ishigami_are_exact),
        cmocka_unit_test(indices_of_the_g_function_are_exact),
        cmocka_unit_test(effects_of_a_bilinear_function_are_exact),
        cmocka_unit_test(correlations_of_known_samples),
        cmocka_unit_test(a_pareto_front_has_no_better_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
