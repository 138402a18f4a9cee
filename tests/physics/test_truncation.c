// SPDX-License-Identifier: MIT
//
// What strain bases leave out: the estimate against closed forms and against richer bases. theory.md 5.1.
#include "executed.h"
#include "random_rod.h"
#include "sanitized.h"

#include <stdio.h>

// a run of a rod with this strain, and the rest of its file
static void run(const char *strain, const char *rest, outcome *o) {
    char text[1600];
    (void)snprintf(text, sizeof text,
                   "sinew: 1\nmaterials: {m: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
                   "robot: {arm: {on: world, rod: {length: 1, section: {circle: {radius: 0.02}}, "
                   "material: m, strain: %s}}}\n%s",
                   strain, rest);
    execute_ok(text, o);
}

static double estimate(const char *strain, const char *rest) {
    outcome o;
    run(strain, rest, &o);
    snw_series_clear(&o.series);
    return o.totals.worst_truncation;
}

// ---- closed forms ------------------------------------------------------------------------------------

// A force at the tip bends by F (L - x)/EI; one function has half of it at the root everywhere, and the tip sags by F L^3/4EI
// instead of F L^3/3EI.
static void one_function_misses_a_twelfth_of_a_cantilevers_sag(void **state) {
    (void)state;
    const double EI = 1e6 * M_PI / 4 * pow(0.02, 4), F = 1e-4;
    const double got = estimate("{bend_y: legendre 1}",
                                "gravity: 0\nloads: {f: {on: arm.tip, force: [0, 0, -1e-4 N]}}\n"
                                "study: [static:]\n");
    assert_near(got / (F / (12 * EI)), 1, 1e-4);
}

// Weight bends by a square, which three functions hold; the small rest is that of a shape that is no longer straight.
static void three_functions_hold_the_sag_under_weight(void **state) {
    (void)state;
    const char *const light = "gravity: [0, 0, -0.01]\nstudy: [static:]\n";
    const double two = estimate("{bend_y: legendre 2}", light),
                 three = estimate("{bend_y: legendre 3}", light);
    print_message("two functions %.1e, three %.1e\n", two, three);
    assert_true(two > 1e-6);
    assert_true(three < 1e-3 * two);
}

// Shear that a theory holds fixed is not cut off: a thick rod of Kirchhoff's is as good as its bending.
static void strains_held_fixed_are_not_cut_off(void **state) {
    (void)state;
    assert_true(estimate("kirchhoff legendre 10", "gravity: [0, 0, -1]\nstudy: [static:]\n") <
                1e-6);
}

// Few nodes are not few functions: the nodes are told, the basis is not blamed.
static void few_nodes_are_not_taken_for_few_functions(void **state) {
    (void)state;
    outcome o;
    run("{bend_y: legendre 8}, nodes: 5, magnus: 2", "study: [static:]\n", &o);
    print_message("geometry %.1e, quadrature %.1e, basis %.1e\n", o.totals.worst_geometry,
                  o.totals.worst_quadrature, o.totals.worst_truncation);
    assert_true(o.totals.worst_geometry > 1e-5);
    assert_int_equal(o.warnings, 2); // shape and integrals
    snw_series_clear(&o.series);
}

// ---- against richer bases ----------------------------------------------------------------------------

// largest distance of nine stations, m
static double apart(const outcome *a, const outcome *b) {
    double far = 0;
    for (int k = 0; k < 9; k++) {
        double sum = 0;
        for (int i = 0; i < 3; i++) {
            const double d = last(a, 3 * k + i) - last(b, 3 * k + i);
            sum += d * d;
        }
        far = fmax(far, sqrt(sum));
    }
    return far;
}

#define STATIONS                                                                                   \
    "probes: {a: {position: arm@12%%}, b: {position: arm@25%%}, c: {position: arm@37%%}, d: "      \
    "{position: arm@50%%}, e: {position: arm@62%%}, "                                              \
    "f: {position: arm@75%%}, g: {position: arm@87%%}, h: {position: arm@95%%}, i: {position: "    \
    "arm.tip}}\n"

// Every basis under every sort of load: the estimate is the distance to where 16 polynomials, or cubics on 12 elements where the
// load has a place, put the rod.
static void estimates_are_distances_to_richer_equilibria(void **state) {
    (void)state;
    static const char *const bases[] = {"legendre 2",
                                        "chebyshev 3",
                                        "monomial 2",
                                        "fourier 3",
                                        "constant, elements: 2",
                                        "linear, elements: 1",
                                        "quadratic, elements: 1",
                                        "cubic, elements: 1"};
    static const char *const loads[] = {
        "loads: {f: {on: arm.tip, force: [0, 0.2 N, 0.1 N]}}\n",
        ("loads: {f: {on: arm.tip, force: [0, 0.3 N, 0.1 N], frame: body}, t: {on: arm.tip, "
         "torque: "
         "[0.05, 0, 0.1]}}\n"),
        "loads: {f: {along: arm, force: [0.5, 0, 1 N/m]}}\n",
        "loads: {f: {on: arm@40%, force: [0, 1 N, 0]}}\n",
        "actuators: {t: {tendon: {along: arm, at: [0, 0.015, 0], to: 0.7}, effort: 8 N}}\n",
        "loops: {l: {join: [world, arm.tip], as: spherical, pose: {xyz: [0.95, 0.05, 0]}}}\n"};
    double least = INFINITY, most = 0;
    for (int k = 0; k < AMONG(6, 48); k++) {
        char rest[1200], strain[80];
        const int load = k % 6;
        (void)snprintf(rest, sizeof rest, "gravity: [0, 0, -2]\n%sstudy: [static:]\n" STATIONS,
                       loads[load]);
        (void)snprintf(strain, sizeof strain, "kirchhoff %s", bases[k / 6 % 8]);
        outcome coarse, fine;
        run(strain, rest, &coarse);
        run("kirchhoff cubic, elements: 10, magnus: 6", rest, &fine);
        const double far = apart(&coarse, &fine), e = coarse.totals.worst_truncation;
        if (!(e > 0.8 * far && e < 1.25 * far + 1e-6))
            print_message("%s, load %d: %.3g for %.3g\n", strain, load, e, far);
        least = fmin(least, e / far);
        most = fmax(most, e / far);
        snw_series_clear(&coarse.series);
        snw_series_clear(&fine.series);
    }
    print_message("estimated over true: %.2f to %.2f\n", least, most);
    assert_true(least > 0.8 && most < 1.25);
}

// ---- in motion ---------------------------------------------------------------------------------------

// a robot that begins at its equilibrium and stays there has the estimate of the equilibrium
static void a_motion_at_rest_has_the_estimate_of_its_equilibrium(void **state) {
    (void)state;
    const char *const strain = "{bend_y: legendre 2}";
    const double still = estimate(strain, "gravity: [0, 0, -1]\nstudy: [static:]\n");
    const double moving = estimate(
        strain, "gravity: [0, 0, -1]\nstudy: [static:, dynamic: {for: 10 ms, step: 5 ms}]\n");
    assert_true(still > 1e-4);
    assert_near(moving / still, 1,
                0.01); // to first order, and without what the functions it has would add
}

static void a_basis_too_small_is_told(void **state) {
    (void)state;
    outcome o;
    run("{bend_y: legendre 1}", "study: [static:]\n", &o);
    assert_true(o.totals.worst_truncation > 1e-2);
    assert_int_equal(o.warnings, 1);
    snw_series_clear(&o.series);
    run("{bend_y: legendre 8}", "study: [static:]\n", &o);
    assert_true(o.totals.worst_truncation < 1e-3);
    assert_int_equal(o.warnings, 0);
    snw_series_clear(&o.series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_function_misses_a_twelfth_of_a_cantilevers_sag),
        cmocka_unit_test(three_functions_hold_the_sag_under_weight),
        cmocka_unit_test(strains_held_fixed_are_not_cut_off),
        cmocka_unit_test(few_nodes_are_not_taken_for_few_functions),
        cmocka_unit_test(estimates_are_distances_to_richer_equilibria),
        cmocka_unit_test(a_motion_at_rest_has_the_estimate_of_its_equilibrium),
        cmocka_unit_test(a_basis_too_small_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
