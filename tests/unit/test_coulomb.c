// SPDX-License-Identifier: MIT
//
// Impulses of hard contacts: impacts in closed form, random problems whose solution is checked
// against the law itself.
#include "solve/coulomb.h"

#include "near.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 12, ROOM = 3 * MOST };

static double memory[200000];

typedef struct problem {
    int n;
    double W[ROOM * ROOM], b[ROOM], mu[2 * MOST], p[ROOM], u[ROOM];
} problem;

// near: x->p are impulses near the solution
static snw_status solve_near(problem *x, bool near, double tol, snw_coulomb_info *info) {
    snw_arena arena = {(unsigned char *)memory, sizeof memory, 0, 0};
    const snw_coulomb_problem from = {
        .n = x->n, .W = x->W, .b = x->b, .mu = x->mu, .near = near ? x->p : NULL};
    const snw_status s = snw_coulomb_solve(&from, tol, &arena, x->p, x->u, info);
    assert_true(arena.peak <= snw_coulomb_scratch(x->n));
    assert_int_equal(arena.used, 0);
    return s;
}

static snw_status solve(problem *x, double tol, snw_coulomb_info *info) {
    return solve_near(x, false, tol, info);
}

// ---- closed forms -------------------------------------------------------------------------------

// A thin rod, m = 1, L = 1, falls with v = 3 without turning, its axis at the angle a to the
// horizontal; its lower end touches. Velocity of the end by impulses there, normal and tangent.
static problem falling_rod(double angle, double restitution, double mu) {
    const double c = cos(angle), s = sin(angle), arm = 0.5, inertia = 1.0 / 12;
    problem x = {.n = 1, .mu = {mu, mu}};
    // end at -(c, s) L/2: u_n = w - arm c omega, u_t = v + arm s omega
    const double wn = -arm * c, wt = arm * s;
    x.W[0] = 1 + wn * wn / inertia;
    x.W[1] = x.W[3] = wn * wt / inertia;
    x.W[4] = 1 + wt * wt / inertia;
    x.W[8] = 1;
    x.b[0] = -3 * (1 + restitution);
    return x;
}

static void a_falling_rod_hits_the_ground(void **state) {
    (void)state;
    const double angle = 40 * acos(-1) / 180, c = cos(angle);
    snw_coulomb_info info;
    for (int k = 0; k < 3; k++) { // without friction
        const double e = 0.5 * k;
        problem x = falling_rod(angle, e, 0);
        assert_int_equal(solve(&x, 1e-12, &info), SNW_OK);
        assert_near(x.p[0], 3 * (1 + e) / (1 + 3 * c * c), 1e-11);
        assert_near(x.p[1], 0, 1e-13);
    }
    problem stick = falling_rod(angle, 0, 0.66);
    assert_int_equal(solve(&stick, 1e-12, &info), SNW_OK);
    assert_near(hypot(stick.u[0], stick.u[1]), 0, 1e-11);
    assert_near(stick.p[0], 1.67964580, 1e-8);
    assert_near(fabs(stick.p[1]), 1.10790872, 1e-8);
    problem almost = falling_rod(angle, 0, 0.6596);
    assert_int_equal(solve(&almost, 1e-12, &info), SNW_OK);
    assert_true(hypot(almost.u[1], almost.u[2]) > 1e-6);
    problem slip = falling_rod(angle, 0, 0.2);
    assert_int_equal(solve(&slip, 1e-12, &info), SNW_OK);
    assert_near(slip.p[0], 1.2170237572, 1e-10);
    assert_near(fabs(slip.p[1]), 0.2434047514, 1e-10);
    assert_near(fabs(slip.u[1]), 1.2526899563, 1e-10);
}

// Two spheres, R = 0.05, m = 1 and 2: velocity of the contact, moment of inertia 2/5 m R^2.
static void two_spheres_collide(void **state) {
    (void)state;
    snw_coulomb_info info;
    problem x = {.n = 1, .mu = {0.3, 0.3}, .b = {-2 * 1.7, 0.5, 0}};
    x.W[0] = 1.5;
    x.W[4] = x.W[8] = 1.5 * 3.5; // 1/m + R^2/(2/5 m R^2)
    assert_int_equal(solve(&x, 1e-12, &info), SNW_OK);
    assert_near(x.p[0], 2.2666666667, 1e-10);
    assert_near(x.p[1], -0.0952380952, 1e-9);
    assert_near(x.u[1], 0, 1e-12);
}

// One ball hits two equal balls at rest that touch: the impulses of both contacts together.
static void a_row_of_balls(void **state) {
    (void)state;
    snw_coulomb_info info;
    problem x = {.n = 2, .b = {-2, 0, 0, 0, 0, 0}}; // e = 1, speed 1
    for (int i = 0; i < 6; i++) x.W[7 * i] = 2;
    x.W[3] = x.W[18] = -1;
    assert_int_equal(solve(&x, 1e-12, &info), SNW_OK);
    assert_near(1 - x.p[0], -1.0 / 3, 1e-11); // the first ball afterwards
    assert_near(x.p[3], 2.0 / 3, 1e-11);      // the last one
}

// A block rests on four corners: the forces are not unique, their sum is.
static void a_table_on_four_legs(void **state) {
    (void)state;
    snw_coulomb_info info;
    problem x = {.n = 4};
    double G[12][6];
    for (int i = 0; i < 4; i++) {
        const double r[3] = {i & 1 ? 1 : -1, i & 2 ? 1 : -1, -0.5};
        const double axis[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
        for (int k = 0; k < 3; k++) {
            const double *a = axis[k], g[6] = {r[1] * a[2] - r[2] * a[1],
                                               r[2] * a[0] - r[0] * a[2],
                                               r[0] * a[1] - r[1] * a[0],
                                               a[0],
                                               a[1],
                                               a[2]};
            for (int l = 0; l < 6; l++) G[3 * i + k][l] = g[l];
        }
        x.mu[2 * i] = x.mu[2 * i + 1] = 0.5;
    }
    const double v[6] = {0, 0, 0, 0.04, 0, -0.1}; // weight and a push of 0.4 of it
    for (int i = 0; i < 12; i++) {
        for (int l = 0; l < 6; l++) x.b[i] += G[i][l] * v[l];
        for (int k = 0; k < 12; k++) {
            for (int l = 0; l < 6; l++) x.W[12 * i + k] += G[i][l] * G[k][l];
        }
    }
    assert_int_equal(solve(&x, 1e-12, &info), SNW_OK);
    double sum[2] = {0, 0};
    for (int i = 0; i < 4; i++) sum[0] += x.p[3 * i], sum[1] += x.p[3 * i + 1];
    for (int i = 0; i < 12; i++) assert_near(x.u[i], 0, 1e-12);
    assert_near(sum[0], 0.1, 1e-12);
    assert_near(sum[1], -0.04, 1e-12);
    // the centre of the solutions is symmetric about the plane of the push
    assert_near(x.p[0], x.p[6], 1e-6);
}

// Two contacts on a rod that hardly stretches: impulses along it move both by nearly the same. The
// first slips and has the friction mu, the second one sticks with what is left. Eigenvalues of W
// down to `stretch`.
static void two_contacts_on_a_stiff_rod(void **state) {
    (void)state;
    const double mu = 0.05, slips = 0.01, sticks = 0.01;
    for (double stretch = 1e-3; stretch > 1e-9; stretch /= 10) {
        snw_coulomb_info info;
        problem x = {
            .n = 2, .mu = {mu, mu, mu, mu}, .b = {-1, slips + 10 * stretch, 0, -1, sticks, 0}};
        for (int i = 0; i < 6; i++) x.W[7 * i] = 1;
        x.W[6 * 1 + 4] = x.W[6 * 4 + 1] = 1 - stretch;
        assert_int_equal(solve(&x, 1e-12, &info), SNW_OK);
        const double second = (1 - stretch) * mu - sticks;
        assert_near(x.p[0], 1, 1e-11);
        assert_near(x.p[1], -mu, 1e-11);
        assert_near(x.p[4], second, 1e-11);
        assert_near(x.u[1], slips + 10 * stretch - mu + (1 - stretch) * second, 1e-12);
        assert_near(x.u[4], 0, 1e-12);
    }
}

// ---- random problems ----------------------------------------------------------------------------

static unsigned long long seed;
static double uniform(void) { // in [-1, 1]
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return 2 * (double)(seed >> 11) / 9007199254740992.0 - 1;
}

// Contacts on bodies with `dofs` velocities, masses that differ by up to 100
static problem random_problem(int n, int dofs) {
    problem x = {.n = n};
    double G[ROOM][2 * ROOM], inverse_mass[2 * ROOM], v[2 * ROOM];
    for (int l = 0; l < dofs; l++) inverse_mass[l] = pow(10, uniform()), v[l] = uniform();
    for (int i = 0; i < 3 * n; i++) {
        for (int l = 0; l < dofs; l++) G[i][l] = uniform(), x.b[i] += G[i][l] * v[l];
    }
    for (int i = 0; i < 3 * n; i++) {
        for (int k = 0; k < 3 * n; k++) {
            for (int l = 0; l < dofs; l++)
                x.W[3 * n * i + k] += G[i][l] * inverse_mass[l] * G[k][l];
        }
    }
    for (int i = 0; i < n; i++) {
        x.mu[2 * i] = uniform() < -0.6 ? 0 : 0.6 + 0.6 * uniform();
        x.mu[2 * i + 1] = uniform() < -0.6 ? 0.3 : x.mu[2 * i];
    }
    return x;
}

// Largest violation of (6.50), velocities relative to the largest b, impulses to b/W
static double violation(const problem *x) {
    double speed = 0, worst = 0;
    for (int i = 0; i < 3 * x->n; i++) speed = fmax(speed, fabs(x->b[i]));
    for (int i = 0; i < x->n; i++) {
        const double *p = x->p + 3 * i, *u = x->u + 3 * i, *mu = x->mu + 2 * i;
        double trace = 0, f[2];
        for (int k = 0; k < 3; k++) trace += x->W[(3 * i + k) * (3 * x->n + 1)] / 3;
        const double unit = speed / trace;
        for (int k = 0; k < 2; k++) f[k] = mu[k] > 0 ? p[1 + k] / mu[k] : 0;
        for (int k = 0; k < 2; k++) worst = fmax(worst, mu[k] > 0 ? 0 : fabs(p[1 + k]) / unit);
        const double y[2] = {mu[0] * u[1], mu[1] * u[2]}, slip = hypot(y[0], y[1]),
                     friction = hypot(f[0], f[1]);
        worst = fmax(worst, fmax(-u[0] / speed, -p[0] / unit));
        worst = fmax(worst, fmin(fabs(u[0]) / speed, fabs(p[0]) / unit));
        worst = fmax(worst, (friction - p[0]) / unit);
        worst = fmax(worst, fmin(slip / speed, (p[0] - friction) / unit));
        // slip and friction are opposite: f.y = -|f||y|
        worst = fmax(worst, (f[0] * y[0] + f[1] * y[1] + slip * friction) / (unit * speed));
    }
    return worst;
}

static void random_contacts_obey_the_law(void **state) {
    (void)state;
    seed = 1;
    int failed = 0;
    double worst = 0;
    for (int k = 0; k < 600; k++) {
        const int n = 1 + k % MOST, dofs = k % 2 ? 3 * n + 2 : 6 * (1 + n / 4);
        problem x = random_problem(n, dofs);
        snw_coulomb_info info;
        if (solve(&x, 1e-10, &info) != SNW_OK) {
            failed++;
            printf("case %d: %d contacts, %d velocities, residual %g\n", k, n, dofs, info.residual);
            continue;
        }
        worst = fmax(worst, violation(&x));
    }
    assert_int_equal(failed, 0);
    assert_near(worst, 0, 1e-8);
}

// From a solution nothing is searched; from impulses beside it, or from wrong ones, the law is
// fulfilled as well, with the same velocities.
static void known_impulses_are_a_start(void **state) {
    (void)state;
    seed = 7;
    int searched = 0;
    double worst = 0, moved = 0;
    for (int k = 0; k < 200; k++) {
        const int n = 1 + k % MOST;
        problem x = random_problem(n, 3 * n + 2);
        snw_coulomb_info info;
        assert_int_equal(solve(&x, 1e-12, &info), SNW_OK);
        problem again = x;
        assert_int_equal(solve_near(&again, true, 1e-11, &info), SNW_OK);
        searched += info.iterations > 0;
        for (int way = 0; way < 2; way++) {
            problem other = x;
            for (int i = 0; i < 3 * n; i++)
                other.p[i] = way == 0 ? x.p[i] * (0.9 + 0.02 * (i % 10)) : (double)(i % 5) - 2;
            assert_int_equal(solve_near(&other, true, 1e-10, &info), SNW_OK);
            worst = fmax(worst, violation(&other));
            for (int i = 0; i < 3 * n && way == 0; i++)
                moved = fmax(moved, fabs(other.u[i] - x.u[i]));
        }
    }
    printf("%d of 200 searched from their solution, velocities differ by %.2g\n", searched, moved);
    assert_int_equal(searched, 0);
    assert_near(worst, 0, 1e-8);
    assert_near(moved, 0, 1e-7);
}

static void bad_numbers_and_no_impulse(void **state) {
    (void)state;
    snw_coulomb_info info;
    problem x = falling_rod(0.7, 0, 0.3);
    x.b[0] = NAN;
    assert_int_equal(solve(&x, 1e-10, &info), SNW_E_DIVERGED);
    problem rest = falling_rod(0.7, 0, 0.3);
    rest.b[0] = 0;
    assert_int_equal(solve(&rest, 1e-10, &info), SNW_OK);
    assert_true(rest.p[0] == 0);
    problem apart = falling_rod(0.7, 0, 0.3);
    apart.b[0] = 1;
    assert_int_equal(solve(&apart, 1e-10, &info), SNW_OK);
    assert_near(apart.p[0], 0, 1e-12);
    assert_near(apart.u[0], 1, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_falling_rod_hits_the_ground),
        cmocka_unit_test(two_spheres_collide),
        cmocka_unit_test(a_row_of_balls),
        cmocka_unit_test(a_table_on_four_legs),
        cmocka_unit_test(two_contacts_on_a_stiff_rod),
        cmocka_unit_test(random_contacts_obey_the_law),
        cmocka_unit_test(known_impulses_are_a_start),
        cmocka_unit_test(bad_numbers_and_no_impulse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
