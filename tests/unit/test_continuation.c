// SPDX-License-Identifier: MIT
#include "solve/continuation.h"

#include "base/alloc.h"

#include "near.h"

#include <string.h>

static _Alignas(64) unsigned char memory[1 << 16];

static const double pi = 3.14159265358979323846;

// ---- a planar rod ------------------------------------------------------------------------------

// Clamped at 0, inextensible, EI = L = 1; curvature on Legendre functions, so that the angle is
// th(s) = sum_j A_j(s) q_j, A_j the integral of P_j. A force of size P, in the direction of angle
// `dir`, acts at the tip or is distributed over the length; a follower turns with the tip. Midpoint
// rule on CELLS cells: the test is of the continuation, not of the rod.
enum { NQ = 8, CELLS = 100 };

typedef struct rod {
    double P, dir;
    bool spread, follower;
    double A[CELLS][NQ], A_tip[NQ];
} rod;

static double legendre(int j, double x) {
    double p[NQ + 2] = {1, x};
    for (int k = 1; k < j; k++) p[k + 1] = ((2 * k + 1) * x * p[k] - k * p[k - 1]) / (k + 1);
    return p[j];
}

static double legendre_integral(int j, double s) {
    if (j == 0) return s;
    return (legendre(j + 1, 2 * s - 1) - legendre(j - 1, 2 * s - 1)) / (2 * (2 * j + 1));
}

static rod rod_make(double P, double dir) {
    rod b = {.P = P, .dir = dir};
    for (int j = 0; j < NQ; j++) {
        b.A_tip[j] = legendre_integral(j, 1);
        for (int k = 0; k < CELLS; k++) b.A[k][j] = legendre_integral(j, (k + 0.5) / CELLS);
    }
    return b;
}

static double rod_tip_angle(const rod *b, const double *q) {
    double th = 0;
    for (int j = 0; j < NQ; j++) th += b->A_tip[j] * q[j];
    return th;
}

static snw_status rod_tangent(void *user, double load, const double *q, double *r, double *J) {
    const rod *b = user;
    const double dir = b->dir + (b->follower ? rod_tip_angle(b, q) : 0);
    double turn[NQ] = {0}; // dr/d dir
    for (int i = 0; i < NQ; i++) r[i] = q[i] / (2 * i + 1);
    if (J) memset(J, 0, (size_t)NQ * NQ * sizeof *J);
    for (int i = 0; J && i < NQ; i++) J[i + i * NQ] = 1.0 / (2 * i + 1);
    for (int k = 0; k < CELLS; k++) {
        double th = 0;
        for (int j = 0; j < NQ; j++) th += b->A[k][j] * q[j];
        const double beyond =
            b->spread ? 1 - (k + 0.5) / CELLS : 1; // part of the load beyond this point
        const double f = load * b->P * beyond / CELLS, s = f * sin(th - dir), c = f * cos(th - dir);
        for (int i = 0; i < NQ; i++) {
            r[i] += b->A[k][i] * s;
            turn[i] -= b->A[k][i] * c;
            for (int j = 0; J && j < NQ; j++) J[i + j * NQ] += b->A[k][i] * b->A[k][j] * c;
        }
    }
    for (int i = 0; J && b->follower && i < NQ; i++) {
        for (int j = 0; j < NQ; j++) J[i + j * NQ] += turn[i] * b->A_tip[j];
    }
    return SNW_OK;
}

static snw_status rod_residual(void *user, double load, const double *q, double *r) {
    return rod_tangent(user, load, q, r, NULL);
}

static snw_problem rod_problem(rod *b) {
    return (snw_problem){
        .n = NQ, .nx = NQ, .user = b, .residual = rod_residual, .tangent = rod_tangent};
}

static snw_status solve(const snw_problem *p, double *x, snw_continuation_info *info) {
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    const snw_continuation_opts opts = snw_continuation_defaults();
    return snw_continuation_solve(p, &opts, NULL, NULL, &scratch, x, info);
}

// ---- rods --------------------------------------------------------------------------------------

static void a_small_load_is_taken_at_once(void **state) {
    (void)state;
    rod b = rod_make(1, pi / 2);
    const snw_problem p = rod_problem(&b);
    snw_continuation_info info;
    double q[NQ] = {0};
    assert_int_equal(solve(&p, q, &info), SNW_OK);
    assert_near(rod_tip_angle(&b, q), 0.46135, 1e-4); // elastica, tables give 0.4614
    assert_int_equal(info.increments, 1);
    assert_true(info.reached == 1 && info.residual <= 1e-10);
    assert_true(info.tangents <= 3 && info.residuals <= 4); // Newton alone: 4 and 4
}

// closed values of references.md B4.9, tip angles of a horizontal cantilever under its weight gamma
static void a_heavy_cantilever_hangs_where_it_should(void **state) {
    (void)state;
    const double gamma[] = {1, 2, 5, 10, 20, 50, 100};
    const double angle[] = {0.1651155605, 0.3215937977, 0.6970047775, 1.0526431172,
                            1.3395015417, 1.5264531504, 1.5641073206};
    for (int k = 0; k < 7; k++) {
        rod b = rod_make(gamma[k], -pi / 2);
        b.spread = true;
        const snw_problem p = rod_problem(&b);
        snw_continuation_info info;
        double q[NQ] = {0};
        assert_int_equal(solve(&p, q, &info), SNW_OK);
        // the midpoint rule with 100 cells and 8 functions is accurate to 1e-4
        assert_near(rod_tip_angle(&b, q), -angle[k], 1e-4);
        assert_true(info.tangents <= 20);
    }
}

// Many solutions exist, most of them coiled; the right one is reached by small steps of the load.
static void huge_loads_end_on_the_branch_of_small_steps(void **state) {
    (void)state;
    const double P[] = {10, 100, 1000, 1e4, 1e6};
    for (int k = 0; k < 10; k++) {
        rod b = rod_make(P[k / 2], pi / 2);
        b.follower = k % 2;
        if (b.follower && b.P > 300) continue; // has a limit point, see below
        snw_problem p = rod_problem(&b);
        double scale[NQ];
        for (int i = 0; i < NQ; i++) scale[i] = b.P;
        p.scale = scale;
        snw_continuation_info info;
        double q[NQ] = {0}, want[NQ] = {0};
        assert_int_equal(solve(&p, q, &info), SNW_OK);
        assert_true(info.tangents <= 70); // a few per decade, and per revolution of the follower

        snw_arena scratch = {.base = memory, .size = sizeof memory};
        const snw_newton_opts opts = snw_newton_defaults();
        snw_newton_info newton;
        const double first = 0.1 / b.P, growth = pow(1 / first, 1.0 / 400);
        for (int i = 0; i <= 400; i++) {
            const double load = i < 400 ? first * pow(growth, i) : 1;
            assert_int_equal(snw_newton_solve(&p, load, &opts, &scratch, want, &newton), SNW_OK);
        }
        // residuals of 1e-10 P through stiffnesses down to 1/15
        for (int i = 0; i < NQ; i++) assert_near(q[i], want[i], 1e-5);
    }
}

// Newton alone finds the nearly straight column, which is not the state under eight times Euler's
// load
static void a_crooked_column_buckles(void **state) {
    (void)state;
    rod b = rod_make(20, pi - 0.01);
    const snw_problem p = rod_problem(&b);
    double q[NQ] = {0}, straight[NQ] = {0};
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    const snw_newton_opts opts = snw_newton_defaults();
    snw_newton_info newton;
    assert_int_equal(snw_newton_solve(&p, 1, &opts, &scratch, straight, &newton), SNW_OK);
    assert_true(fabs(rod_tip_angle(&b, straight)) < 0.1);

    snw_continuation_info info;
    assert_int_equal(solve(&p, q, &info), SNW_OK);
    assert_true(rod_tip_angle(&b, q) > 3);
}

// a load exactly along the axis has no component that makes the column leave the straight branch
static void a_perfect_column_passes_eulers_load(void **state) {
    (void)state;
    rod b = rod_make(10, pi);
    const snw_problem p = rod_problem(&b);
    snw_continuation_info info;
    double q[NQ] = {0};
    assert_int_equal(solve(&p, q, &info), SNW_OK);
    assert_near(rod_tip_angle(&b, q), 0, 1e-9);
}

// In this discretisation the path of the follower turns back at P = 674.25, as Newton's method in
// small steps of the load also finds; solutions beyond it are not on the path.
static void a_follower_load_reaches_its_limit_point(void **state) {
    (void)state;
    const double P[] = {1e3, 1e4, 1e6};
    for (int k = 0; k < 3; k++) {
        rod b = rod_make(P[k], pi / 2);
        b.follower = true;
        snw_problem p = rod_problem(&b);
        double scale[NQ];
        for (int i = 0; i < NQ; i++) scale[i] = b.P;
        p.scale = scale;
        snw_continuation_info info;
        double q[NQ] = {0};
        assert_int_equal(solve(&p, q, &info), SNW_E_DIVERGED);
        // the tolerance, 1e-10 of the force, limits how accurately the turning point of the largest
        // one is found
        assert_near(info.reached * P[k], 674.25, 1e-4);
    }
}

// x is loaded and moves far; y is an imperfect column that x compresses, beyond its critical load
// at 1. Most of the motion is linear, and Newton ends at the straight column, y = -0.0025.
static snw_status pressed_tangent(void *user, double load, const double *z, double *r, double *J) {
    (void)user;
    const double x = z[0], y = z[1];
    r[0] = x - load;
    r[1] = (1 - 1.4 * x) * y + y * y * y - 1e-3 * load;
    if (J) {
        J[0] = 1, J[2] = 0;
        J[1] = -1.4 * y, J[3] = 1 - 1.4 * x + 3 * y * y;
    }
    return SNW_OK;
}

static snw_status pressed_residual(void *user, double load, const double *z, double *r) {
    return pressed_tangent(user, load, z, r, NULL);
}

static void a_weak_direction_buckles_beside_a_strong_linear_motion(void **state) {
    (void)state;
    const snw_problem p = {
        .n = 2, .nx = 2, .residual = pressed_residual, .tangent = pressed_tangent};
    snw_continuation_info info;
    double z[2] = {0, 0};
    assert_int_equal(solve(&p, z, &info), SNW_OK);
    assert_near(z[1], 0.6337, 1e-3); // slightly more than sqrt(0.4)
}

// ---- scalar paths ------------------------------------------------------------------------------

// f(x, load) and its derivative in x
typedef struct scalar {
    double (*f)(double x, double load), (*slope)(double x, double load);
    snw_status outside; // status for f that is NaN
} scalar;

static snw_status scalar_tangent(void *user, double load, const double *x, double *r, double *J) {
    const scalar *s = user;
    r[0] = s->f(x[0], load);
    if (J) J[0] = s->slope(x[0], load);
    return isnan(r[0]) ? s->outside : SNW_OK;
}

static snw_status scalar_residual(void *user, double load, const double *x, double *r) {
    return scalar_tangent(user, load, x, r, NULL);
}

static snw_problem scalar_problem(scalar *s) {
    return (snw_problem){
        .n = 1, .nx = 1, .user = s, .residual = scalar_residual, .tangent = scalar_tangent};
}

// a shallow arch: x (x - 1) (x - 2) carries up to 2 sqrt(3)/9 before it snaps, then again beyond 2
static double arch(double x, double load) { return x * (x - 1) * (x - 2) - 0.7 * load; }
static double arch_slope(double x, double load) {
    (void)load;
    return 3 * x * x - 6 * x + 2;
}

static void a_limit_point_is_reported_and_not_jumped_over(void **state) {
    (void)state;
    scalar s = {.f = arch, .slope = arch_slope};
    const snw_problem p = scalar_problem(&s);
    snw_continuation_info info;
    double x = 0;
    assert_int_equal(solve(&p, &x, &info), SNW_E_DIVERGED);
    // the solver stops when increments fall below 1e-6 of the load
    assert_near(info.reached, 2 * sqrt(3) / 9 / 0.7, 2e-6);
    assert_true(x < 1 - sqrt(3) / 3 + 1e-5);
    assert_near(arch(x, info.reached), 0, 1e-10);
    assert_true(info.residual <= 1e-10);
}

// a tendon of stiffness 1000 just below taut, pulling a spring of stiffness 1: the tangent at the
// start does not contain the tendon
static double tendon(double x, double load) { return x - 1000 * fmax(0, load - x); }
static double tendon_slope(double x, double load) { return load - x > 0 ? 1001 : 1; }

static void a_corner_at_the_start_is_passed(void **state) {
    (void)state;
    scalar s = {.f = tendon, .slope = tendon_slope};
    const snw_problem p = scalar_problem(&s);
    snw_continuation_info info;
    double x = 0;
    assert_int_equal(solve(&p, &x, &info), SNW_OK);
    assert_near(x, 1000.0 / 1001, 1e-12);
}

// a wall at 0.4, a thousand times stiffer than the spring that is pushed against it
static double wall(double x, double load) { return x + 1000 * fmax(0, x - 0.4) - load; }
static double wall_slope(double x, double load) {
    (void)load;
    return x > 0.4 ? 1001 : 1;
}

static void a_corner_on_the_path_is_passed(void **state) {
    (void)state;
    scalar s = {.f = wall, .slope = wall_slope};
    const snw_problem p = scalar_problem(&s);
    snw_continuation_info info;
    double x = 0;
    assert_int_equal(solve(&p, &x, &info), SNW_OK);
    assert_near(x, 401.0 / 1001, 1e-12);
}

// beyond half of the load the only solution is far away
static double gap(double x, double load) {
    return load > 0.5 ? (x - 5) * (x - 5) * (x - 5) + (x - 5) : x - load;
}
static double gap_slope(double x, double load) {
    return load > 0.5 ? 3 * (x - 5) * (x - 5) + 1 : 1;
}

static void a_jump_of_the_solution_is_no_path(void **state) {
    (void)state;
    scalar s = {.f = gap, .slope = gap_slope};
    const snw_problem p = scalar_problem(&s);
    snw_continuation_info info;
    double x = 0;
    assert_int_equal(solve(&p, &x, &info), SNW_E_DIVERGED);
    assert_near(info.reached, 0.5, 1e-6);
    assert_near(x, 0.5, 1e-6);
}

// without gravity a pendulum is in equilibrium anywhere, with gravity at 1
static double pendulum(double x, double load) { return load * sin(x - 1); }
static double pendulum_slope(double x, double load) { return load * cos(x - 1); }

static void a_singular_start_is_left_by_newton_alone(void **state) {
    (void)state;
    scalar s = {.f = pendulum, .slope = pendulum_slope};
    const snw_problem p = scalar_problem(&s);
    snw_continuation_info info;
    double x = 0.3;
    assert_int_equal(solve(&p, &x, &info), SNW_OK);
    assert_near(x, 1, 1e-10);
}

static double edge(double x, double load) { return x < 0.5 ? x - load : NAN; }
static double one(double x, double load) {
    (void)x, (void)load;
    return 1;
}

static void the_edge_of_the_domain_ends_the_path(void **state) {
    (void)state;
    const snw_status outside[2] = {SNW_OK, SNW_E_MODEL};
    for (int k = 0; k < 2; k++) {
        scalar s = {.f = edge, .slope = one, .outside = outside[k]};
        const snw_problem p = scalar_problem(&s);
        snw_continuation_info info;
        double x = 0;
        assert_int_equal(solve(&p, &x, &info), SNW_E_DIVERGED);
        assert_near(info.reached, 0.5, 1e-6);
        assert_true(x == info.reached);
    }
}

static void a_stop_from_the_callback_is_passed_up(void **state) {
    (void)state;
    scalar s = {.f = edge, .slope = one, .outside = SNW_E_STOPPED};
    const snw_problem p = scalar_problem(&s);
    snw_continuation_info info;
    double x = 0;
    assert_int_equal(solve(&p, &x, &info), SNW_E_STOPPED);
    assert_true(x == 0 && info.reached == 0);
}

// ---- starts that are not equilibria -------------------------------------------------------------

static double cubic(double x, double load) { return x * x * x + x - 2 - 8 * load; }
static double cubic_slope(double x, double load) {
    (void)load;
    return 3 * x * x + 1;
}

static void a_guess_is_corrected_first(void **state) {
    (void)state;
    scalar s = {.f = cubic, .slope = cubic_slope};
    const snw_problem p = scalar_problem(&s);
    snw_continuation_info info;
    double x = -3;
    assert_int_equal(solve(&p, &x, &info), SNW_OK);
    assert_near(x, 2, 1e-10);
}

static double late(double x, double load) { return x * x + 1 - 2 * load; }
static double late_slope(double x, double load) {
    (void)load;
    return 2 * x;
}

// no equilibrium without load; the initial guess belongs to the whole load
static void a_guess_may_be_one_for_the_whole_load(void **state) {
    (void)state;
    scalar s = {.f = late, .slope = late_slope};
    const snw_problem p = scalar_problem(&s);
    snw_continuation_info info;
    double x = 3;
    assert_int_equal(solve(&p, &x, &info), SNW_OK);
    assert_near(x, 1, 1e-10);
    assert_true(info.reached == 1);
}

static double never(double x, double load) { return x * x + 1 + load; }

static void x_is_as_given_when_nothing_is_found(void **state) {
    (void)state;
    scalar s = {.f = never, .slope = late_slope};
    const snw_problem p = scalar_problem(&s);
    snw_continuation_info info;
    double x = 3;
    const snw_status status = solve(&p, &x, &info);
    assert_true(status == SNW_E_DIVERGED || status == SNW_E_SINGULAR);
    assert_true(x == 3 && info.reached == 0);
}

static double nothing(double x, double load) { return NAN * x * load; }

static void nan_is_not_an_equilibrium(void **state) {
    (void)state;
    scalar s = {.f = nothing, .slope = one};
    const snw_problem p = scalar_problem(&s);
    snw_continuation_info info;
    double x = 3;
    assert_int_equal(solve(&p, &x, &info), SNW_E_DIVERGED);
    assert_true(x == 3 && info.reached == 0 && !(info.residual <= 1));
}

// ---- groups ------------------------------------------------------------------------------------

// x is a unit complex number whose direction must be that of 3 load; the opposite direction is a
// solution too
static void turn(void *user, const double *x, double step, const double *dx, double *out) {
    (void)user;
    const double c = cos(step * dx[0]), s = sin(step * dx[0]), re = x[0], im = x[1];
    out[0] = c * re - s * im, out[1] = s * re + c * im;
}

static snw_status compass_tangent(void *user, double load, const double *x, double *r, double *J) {
    (void)user;
    const double re = cos(3 * load), im = sin(3 * load);
    r[0] = re * x[1] - im * x[0];
    if (J) J[0] = re * x[0] + im * x[1];
    return SNW_OK;
}

static snw_status compass_residual(void *user, double load, const double *x, double *r) {
    return compass_tangent(user, load, x, r, NULL);
}

static void follows_a_path_on_a_group(void **state) {
    (void)state;
    const snw_problem p = {
        .n = 1, .nx = 2, .residual = compass_residual, .tangent = compass_tangent, .move = turn};
    snw_continuation_info info;
    double x[2] = {1, 0};
    assert_int_equal(solve(&p, x, &info), SNW_OK);
    assert_near(x[0], cos(3), 1e-10);
    assert_near(x[1], sin(3), 1e-10);
}

// ---- the contract ------------------------------------------------------------------------------

static bool count_down(void *user) {
    int *left = user;
    return (*left)-- == 0;
}

static void stopping_leaves_an_equilibrium(void **state) {
    (void)state;
    rod b = rod_make(1000, pi / 2);
    const snw_problem p = rod_problem(&b);
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    const snw_continuation_opts opts = snw_continuation_defaults();
    snw_continuation_info info;
    double q[NQ] = {0}, r[NQ];
    int left = 15;
    assert_int_equal(snw_continuation_solve(&p, &opts, count_down, &left, &scratch, q, &info),
                     SNW_E_STOPPED);
    assert_true(info.reached > 0 && info.reached < 1);
    assert_int_equal(rod_residual(&b, info.reached, q, r), SNW_OK);
    assert_true(snw_problem_norm(&p, r) <= opts.newton.tol && info.residual <= opts.newton.tol);
}

static void increments_are_limited(void **state) {
    (void)state;
    rod b = rod_make(1000, pi / 2);
    const snw_problem p = rod_problem(&b);
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    snw_continuation_opts opts = snw_continuation_defaults();
    opts.max_increments = 3;
    snw_continuation_info info;
    double q[NQ] = {0};
    assert_int_equal(snw_continuation_solve(&p, &opts, NULL, NULL, &scratch, q, &info),
                     SNW_E_DIVERGED);
    assert_int_equal(info.increments, 3);
    assert_true(info.reached > 0 && info.reached < 1 && info.residual <= opts.newton.tol);
}

// x^2 + 1 = 0 has no root under any load; the smallest residual is 1, and finite
static snw_status rootless(void *user, double load, const double *x, double *r) {
    (void)user, (void)load;
    r[0] = x[0] * x[0] + 1;
    return SNW_OK;
}

static snw_status rootless_tangent(void *user, double load, const double *x, double *r, double *J) {
    J[0] = 2 * x[0];
    return rootless(user, load, x, r);
}

static void the_residual_of_a_failed_search_is_finite(void **state) {
    (void)state;
    const snw_problem p = {.n = 1, .nx = 1, .residual = rootless, .tangent = rootless_tangent};
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    const snw_continuation_opts opts = snw_continuation_defaults();
    snw_continuation_info info;
    double x = 3;
    assert_true(snw_continuation_solve(&p, &opts, NULL, NULL, &scratch, &x, &info) != SNW_OK);
    assert_true(info.reached == 0 && x == 3);
    assert_true(info.residual >= 1 && info.residual <= 10);
}

static void uses_the_scratch_announced_and_no_heap(void **state) {
    (void)state;
    rod b = rod_make(1000, pi / 2);
    const snw_problem p = rod_problem(&b);
    snw_arena scratch = {.base = memory, .used = 8}; // not aligned: the worst case
    scratch.size = scratch.used + snw_continuation_scratch(NQ, NQ);
    const snw_continuation_opts opts = snw_continuation_defaults();
    const size_t allocations = snw_alloc_count();
    snw_continuation_info info;
    double q[NQ] = {0};
    assert_int_equal(snw_continuation_solve(&p, &opts, NULL, NULL, &scratch, q, &info), SNW_OK);
    assert_true(snw_alloc_count() == allocations);
    assert_true(scratch.used == 8 && scratch.peak <= scratch.size);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_load_is_taken_at_once),
        cmocka_unit_test(the_residual_of_a_failed_search_is_finite),
        cmocka_unit_test(a_heavy_cantilever_hangs_where_it_should),
        cmocka_unit_test(huge_loads_end_on_the_branch_of_small_steps),
        cmocka_unit_test(a_crooked_column_buckles),
        cmocka_unit_test(a_perfect_column_passes_eulers_load),
        cmocka_unit_test(a_follower_load_reaches_its_limit_point),
        cmocka_unit_test(a_weak_direction_buckles_beside_a_strong_linear_motion),
        cmocka_unit_test(a_limit_point_is_reported_and_not_jumped_over),
        cmocka_unit_test(a_corner_at_the_start_is_passed),
        cmocka_unit_test(a_corner_on_the_path_is_passed),
        cmocka_unit_test(a_jump_of_the_solution_is_no_path),
        cmocka_unit_test(a_singular_start_is_left_by_newton_alone),
        cmocka_unit_test(the_edge_of_the_domain_ends_the_path),
        cmocka_unit_test(a_stop_from_the_callback_is_passed_up),
        cmocka_unit_test(a_guess_is_corrected_first),
        cmocka_unit_test(a_guess_may_be_one_for_the_whole_load),
        cmocka_unit_test(x_is_as_given_when_nothing_is_found),
        cmocka_unit_test(nan_is_not_an_equilibrium),
        cmocka_unit_test(follows_a_path_on_a_group),
        cmocka_unit_test(stopping_leaves_an_equilibrium),
        cmocka_unit_test(increments_are_limited),
        cmocka_unit_test(uses_the_scratch_announced_and_no_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
