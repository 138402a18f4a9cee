// SPDX-License-Identifier: MIT
//
// Least squares within bounds: random problems against the conditions of a minimum, tensions and a
// section of constant curvature against reference values, redundancy, failures.
#include "base/alloc.h"
#include "solve/bounded_least_squares.h"

#include "near.h"

#include <stdbool.h>
#include <string.h>

enum { MOST = 12 };

static double uniform(unsigned long long *seed) { // -1 to 1
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 11) / 4503599627370496.0 - 1;
}

static snw_arena arena_of(size_t size) {
    return (snw_arena){.base = snw_alloc(size), .size = size};
}

// Within the bounds, no slope of free unknowns, slopes towards the outside at bounds: necessary and
// sufficient, since the problem is convex.
static void random_linear_problems_end_at_a_minimum(void **state) {
    (void)state;
    unsigned long long seed = 7;
    for (int trial = 0; trial < 400; trial++) {
        const int n = 1 + trial % 8, m = 1 + trial % 11;
        double A[MOST * MOST], b[MOST], low[MOST], high[MOST], x[MOST] = {0}, multiplier[MOST];
        for (int i = 0; i < n * m; i++) A[i] = uniform(&seed);
        for (int i = 0; i < m; i++) b[i] = 2 * uniform(&seed);
        for (int i = 0; i < n; i++) {
            low[i] = trial % 3 == 0 && i % 2 ? -INFINITY : -fabs(uniform(&seed));
            high[i] = trial % 5 == 0 && i % 3 ? INFINITY : 0.7 * fabs(uniform(&seed));
            if (trial % 7 == 0 && i == 0) low[i] = high[i] = 0; // held
        }
        if (trial % 4 == 0 && n > 2) memcpy(A + m, A, (size_t)m * sizeof *A); // two alike
        snw_arena scratch = arena_of(snw_bounded_linear_scratch(n, m, 0));
        const snw_bounded_linear p = {.n = n, .m = m, .A = A, .b = b, .low = low, .high = high};
        assert_int_equal(snw_bounded_linear_solve(&p, &scratch, x, multiplier), SNW_OK);
        double r[MOST];
        for (int k = 0; k < m; k++) {
            r[k] = -b[k];
            for (int i = 0; i < n; i++) r[k] += A[i * m + k] * x[i];
        }
        for (int i = 0; i < n; i++) {
            double g = 0;
            for (int k = 0; k < m; k++) g += A[i * m + k] * r[k];
            assert_true(x[i] >= low[i] && x[i] <= high[i]);
            if (x[i] > low[i] && x[i] < high[i]) assert_near(g, 0, 1e-12);
            if (low[i] == high[i]) continue;
            if (x[i] == low[i]) assert_true(g > -1e-12);
            if (x[i] == high[i]) assert_true(g < 1e-12);
            if (multiplier[i] > 0) assert_near(multiplier[i], fabs(g), 1e-12);
        }
        snw_free(scratch.base);
    }
}

// ---- nonlinear

typedef struct moment {
    double target[2];
} moment;

// three tendons at 0, 120, 240 degrees, offset 0.01
static snw_status moment_derivative(void *user, const double *t, double *J) {
    (void)user, (void)t;
    const double third = 2 * acos(-1.0) / 3;
    for (int i = 0; i < 3; i++)
        J[2 * i] = 0.01 * cos(i * third), J[2 * i + 1] = 0.01 * sin(i * third);
    return SNW_OK;
}
static snw_status moment_residual(void *user, const double *t, double *r) {
    const moment *p = user;
    double J[6];
    (void)moment_derivative(user, t, J);
    for (int k = 0; k < 2; k++)
        r[k] = J[k] * t[0] + J[2 + k] * t[1] + J[4 + k] * t[2] - p->target[k];
    return SNW_OK;
}

typedef struct solution {
    double x[MOST], r[MOST], J[MOST * MOST], multiplier[MOST], goal[MOST];
    snw_bounded_info info;
    snw_status status;
} solution;

static solution solve(snw_least_squares p, const double *low, const double *high,
                      const double *rest, const double *start) {
    solution s = {0};
    snw_arena scratch = arena_of(snw_bounded_scratch(p.n, p.m));
    const snw_bounded_problem problem = {&p, low, high, rest};
    const snw_bounded_opts opts = snw_bounded_defaults();
    memcpy(s.x, start, (size_t)p.n * sizeof *start);
    s.status = snw_bounded_least_squares(&problem, &opts, &scratch, s.x, s.r, s.J, s.multiplier,
                                         s.goal, &s.info);
    snw_free(scratch.base);
    return s;
}

static void tensions_are_the_least_ones(void **state) {
    (void)state;
    static const struct {
        double target[2], low, want[3];
        int at;
        double multiplier; // of the sum of squares
    } row[] = {{{0.05, 0.02}, 0, {6.15470054, 2.30940108, 0}, 2, NAN},
               {{0.05, 0.02}, 1, {7.15470054, 3.30940108, 1}, 2, 22.92820323},
               {{-0.03, 0.04}, 0.5, {0.5, 5.80940108, 1.19059892}, 0, 15}};
    const double high[3] = {INFINITY, INFINITY, INFINITY}, rest[3] = {0}, start[3] = {2, 3, 4};
    for (int i = 0; i < 3; i++) {
        moment p = {{row[i].target[0], row[i].target[1]}};
        const double low[3] = {row[i].low, row[i].low, row[i].low};
        const solution s = solve((snw_least_squares){3, 2, &p, moment_residual, moment_derivative},
                                 low, high, rest, start);
        assert_int_equal(s.status, SNW_OK);
        for (int k = 0; k < 3; k++) assert_near(s.x[k], row[i].want[k], 6e-9);
        for (int k = 0; k < 2; k++) assert_near(s.r[k], 0, 1e-13);
        if (row[i].multiplier > 0) assert_near(2 * s.goal[row[i].at], row[i].multiplier, 1e-8);
        for (int k = 0; k < 3; k++) assert_near(s.multiplier[k], 0, 1e-12);
    }
}

typedef struct section {
    double target[2];
    bool broken;
} section;

// planar section of constant curvature: angle th, length L; end L (sin th, 1 - cos th)/th
static snw_status section_residual(void *user, const double *u, double *r) {
    const section *p = user;
    if (p->broken && u[0] > 0.9) return SNW_E_DIVERGED;
    r[0] = u[1] * sin(u[0]) / u[0] - p->target[0];
    r[1] = u[1] * (1 - cos(u[0])) / u[0] - p->target[1];
    return SNW_OK;
}
static snw_status section_derivative(void *user, const double *u, double *J) {
    (void)user;
    const double th = u[0], L = u[1];
    J[0] = L * (cos(th) / th - sin(th) / (th * th));
    J[1] = L * (sin(th) / th - (1 - cos(th)) / (th * th));
    J[2] = sin(th) / th;
    J[3] = (1 - cos(th)) / th;
    return SNW_OK;
}

// Targets (along, across) at the root.
static void a_section_of_constant_curvature_reaches(void **state) {
    (void)state;
    static const struct {
        double target[2], angle, length, distance;
        int active[2];
    } row[] = {{{0.2, 0.1}, 0.9272952180, 0.2318238045, 0, {0, 0}},
               {{0.25, 0.2}, 1.236712712, 0.25, 0.087165179, {0, 1}},
               {{0.02, 0.15}, 1.57079632679, 0.15, 0.093113934, {1, -1}},
               {{0.3, 0.02}, 0.126032251, 0.25, 0.050840676, {0, 1}}};
    const double low[2] = {1e-6, 0.15}, high[2] = {acos(0.0), 0.25}, start[2] = {0.5, 0.2};
    for (int i = 0; i < 4; i++) {
        section p = {{row[i].target[0], row[i].target[1]}, false};
        const solution s =
            solve((snw_least_squares){2, 2, &p, section_residual, section_derivative}, low, high,
                  NULL, start);
        assert_int_equal(s.status, SNW_OK);
        assert_near(s.x[0], row[i].angle, 1e-9);
        assert_near(s.x[1], row[i].length, 1e-9);
        assert_near(hypot(s.r[0], s.r[1]), row[i].distance, 1e-9);
        // gradient by the multipliers
        for (int k = 0; k < 2; k++) {
            const double g = s.J[2 * k] * s.r[0] + s.J[2 * k + 1] * s.r[1];
            assert_near(g, -row[i].active[k] * s.multiplier[k], 1e-11);
            assert_true(row[i].active[k] == 0 || s.multiplier[k] > 0);
        }
    }
}

// A section of given length, bent by the angle th: the height L (1 - cos th)/th is largest at 2.33,
// and there it does not change with th. Targets above are out of reach.
static snw_status height_residual(void *user, const double *th, double *r) {
    r[0] = 0.3 * (1 - cos(th[0])) / th[0] - *(const double *)user;
    return SNW_OK;
}
static snw_status height_derivative(void *user, const double *th, double *J) {
    (void)user;
    J[0] = 0.3 * (sin(th[0]) / th[0] - (1 - cos(th[0])) / (th[0] * th[0]));
    return SNW_OK;
}
static void a_target_out_of_reach_takes_few_steps(void **state) {
    (void)state;
    const double low[] = {0}, high[] = {10}, rest[] = {0};
    for (int i = 1; i <= 20; i++) {
        double height = 0.2174 + 0.01 * i * i;
        const double start[] = {0.1 * i};
        const solution s =
            solve((snw_least_squares){1, 1, &height, height_residual, height_derivative}, low, high,
                  rest, start);
        assert_int_equal(s.status, SNW_OK);
        assert_near(s.x[0], 2.331122370414423, 1e-8); // root of (1 - cos)/th = sin
        assert_true(s.info.evaluations <= 20);
    }
}

// r_k = a_k'x + x'H_k x/2 - b_k, more rows than unknowns: no root, and a curvature.
typedef struct quadratic {
    int n, m;
    double a[MOST * MOST], H[MOST * MOST * MOST], b[MOST];
} quadratic;
static snw_status quadratic_residual(void *user, const double *x, double *r) {
    const quadratic *p = user;
    for (int k = 0; k < p->m; k++) {
        r[k] = -p->b[k];
        for (int i = 0; i < p->n; i++) {
            r[k] += p->a[k * MOST + i] * x[i];
            for (int j = 0; j < p->n; j++)
                r[k] += 0.5 * x[i] * x[j] * p->H[(k * MOST + i) * MOST + j];
        }
    }
    return SNW_OK;
}
static snw_status quadratic_derivative(void *user, const double *x, double *J) {
    const quadratic *p = user;
    for (int i = 0; i < p->n; i++) {
        for (int k = 0; k < p->m; k++) {
            double sum = p->a[k * MOST + i];
            for (int j = 0; j < p->n; j++) sum += x[j] * p->H[(k * MOST + i) * MOST + j];
            J[i * p->m + k] = sum;
        }
    }
    return SNW_OK;
}
static void curved_problems_end_at_a_minimum(void **state) {
    (void)state;
    unsigned long long seed = 11;
    int most = 0;
    for (int trial = 0; trial < 200; trial++) {
        quadratic p = {.n = 1 + trial % 5, .m = 2 + trial % 7};
        double low[MOST], high[MOST], start[MOST] = {0};
        for (int k = 0; k < p.m; k++) {
            p.b[k] = 3 * uniform(&seed);
            for (int i = 0; i < p.n; i++) {
                p.a[k * MOST + i] = uniform(&seed);
                for (int j = 0; j <= i; j++)
                    p.H[(k * MOST + i) * MOST + j] = p.H[(k * MOST + j) * MOST + i] =
                        0.5 * uniform(&seed);
            }
        }
        for (int i = 0; i < p.n; i++) low[i] = -2, high[i] = trial % 2 ? 0.5 : 2;
        const solution s =
            solve((snw_least_squares){p.n, p.m, &p, quadratic_residual, quadratic_derivative}, low,
                  high, NULL, start);
        assert_int_equal(s.status, SNW_OK);
        for (int i = 0; i < p.n; i++) {
            double g = 0;
            for (int k = 0; k < p.m; k++) g += s.J[i * p.m + k] * s.r[k];
            const double inward = s.x[i] == low[i]    ? fmin(g, 0)
                                  : s.x[i] == high[i] ? fmax(g, 0)
                                                      : g;
            assert_near(inward, 0, 2e-7);
        }
        if (s.info.evaluations > most) most = s.info.evaluations;
    }
    assert_true(most <= 80); // 58
}

static void failures_shorten_steps(void **state) {
    (void)state;
    section p = {{0.2, 0.1}, true}; // its solution is where evaluations fail
    const double low[2] = {1e-6, 0.15}, high[2] = {1.5, 0.25}, start[2] = {0.5, 0.2};
    const snw_least_squares problem = {2, 2, &p, section_residual, section_derivative};
    const solution s = solve(problem, low, high, NULL, start);
    assert_int_equal(s.status, SNW_E_DIVERGED);
    assert_true(s.x[0] > 0.8 && s.x[0] <= 0.9);
    const double bad[2] = {NAN, 0.2};
    assert_int_not_equal(solve(problem, low, high, NULL, bad).status, SNW_OK);
}

// redundant nonlinear: the point of a sphere nearest to rest
static snw_status sphere_residual(void *user, const double *x, double *r) {
    (void)user;
    r[0] = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - 1;
    return SNW_OK;
}
static snw_status sphere_derivative(void *user, const double *x, double *J) {
    (void)user;
    for (int i = 0; i < 3; i++) J[i] = 2 * x[i];
    return SNW_OK;
}
static void redundancy_goes_to_rest(void **state) {
    (void)state;
    const double low[3] = {-2, -2, -2}, high[3] = {2, 2, 0.3}, start[3] = {0.9, -0.1, 0.2};
    const double rest[3] = {0.6, 0.9, 0.5};
    const solution s = solve((snw_least_squares){3, 1, NULL, sphere_residual, sphere_derivative},
                             low, high, rest, start);
    assert_int_equal(s.status, SNW_OK);
    // z at its bound; (x, y) along rest with length sqrt(1 - 0.09)
    const double f = sqrt(0.91) / hypot(0.6, 0.9);
    assert_near(s.r[0], 0, 1e-12);
    assert_near(s.x[0], 0.6 * f, 1e-8);
    assert_near(s.x[1], 0.9 * f, 1e-8);
    assert_near(s.x[2], 0.3, 0);
    // z - rest = multiplier' 2 z - bound, with x - rest = multiplier' 2 x
    const double along = (s.x[0] - rest[0]) / (2 * s.x[0]);
    assert_near(s.goal[2], -((0.3 - 0.5) - along * 0.6), 1e-8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_linear_problems_end_at_a_minimum),
        cmocka_unit_test(tensions_are_the_least_ones),
        cmocka_unit_test(a_section_of_constant_curvature_reaches),
        cmocka_unit_test(a_target_out_of_reach_takes_few_steps),
        cmocka_unit_test(curved_problems_end_at_a_minimum),
        cmocka_unit_test(failures_shorten_steps),
        cmocka_unit_test(redundancy_goes_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
