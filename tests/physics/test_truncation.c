// SPDX-License-Identifier: MIT
//
// Truncation error of strain bases, of positions and of frequencies: the estimate against closed
// forms and against richer bases. theory.md 5.1, 7.2.
#include "executed.h"
#include "random_rod.h"
#include "sanitized.h"

#include <stdio.h>

// Run a rod with this strain and the remaining text of its file.
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

// ---- closed forms -------------------------------------------------------------------------------

// A force at the tip causes the curvature F (L - x)/EI. One function has half of its root value
// everywhere, and the tip sags by F L^3/4EI instead of F L^3/3EI.
static void one_function_misses_a_twelfth_of_a_cantilevers_sag(void **state) {
    (void)state;
    const double EI = 1e6 * M_PI / 4 * pow(0.02, 4), F = 1e-4;
    const double got = estimate("{bend_y: legendre 1}",
                                "gravity: 0\nloads: {f: {on: arm.tip, force: [0, 0, -1e-4 N]}}\n"
                                "study: [static:]\n");
    assert_near(got / (F / (12 * EI)), 1, 1e-4);
}

// Two elements of constant strain miss a quarter of that; elements divided in three recover eight
// ninths of it, and the remaining ninth is added.
static void elements_of_constant_strain_miss_a_square_of_their_length(void **state) {
    (void)state;
    const double EI = 1e6 * M_PI / 4 * pow(0.02, 4), F = 1e-4;
    const double got = estimate("{bend_y: constant}, elements: 2",
                                "gravity: 0\nloads: {f: {on: arm.tip, force: [0, 0, -1e-4 N]}}\n"
                                "study: [static:]\n");
    assert_near(got / (F / (48 * EI)), 1, 1e-4);
}

// Weight causes a quadratic curvature, which three functions represent; the small remainder comes
// from the shape, which is no longer straight.
static void three_functions_hold_the_sag_under_weight(void **state) {
    (void)state;
    const char *const light = "gravity: [0, 0, -0.01]\nstudy: [static:]\n";
    const double two = estimate("{bend_y: legendre 2}", light),
                 three = estimate("{bend_y: legendre 3}", light);
    print_message("two functions %.1e, three %.1e\n", two, three);
    assert_true(two > 1e-6);
    assert_true(three < 1e-3 * two);
}

// Shear that a rod theory excludes is not a truncation: a thick Kirchhoff rod is as accurate as its
// bending.
static void strains_held_fixed_are_not_cut_off(void **state) {
    (void)state;
    assert_true(estimate("kirchhoff legendre 10", "gravity: [0, 0, -1]\nstudy: [static:]\n") <
                1e-6);
}

// Too few nodes are not too few functions: the warning names the nodes, not the basis.
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

// ---- against richer bases -----------------------------------------------------------------------

// out <- text with this basis in place of each BASIS.
static void with_basis(const char *text, const char *basis, char *out, size_t size) {
    size_t n = 0;
    while (*text && n + strlen(basis) + 1 < size) {
        if (strncmp(text, "BASIS", 5) == 0) {
            n += (size_t)snprintf(out + n, size - n, "%s", basis);
            text += 5;
        } else {
            out[n++] = *text++;
        }
    }
    out[n] = 0;
}

// Largest distance of nine stations, m.
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

// Every basis under every kind of load: the estimate is the distance to the equilibrium with 16
// polynomials, or with cubics on 12 elements where the load is concentrated.
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

// Three straight legs that cannot stretch carry a plate. With two functions for each bending strain
// the loops leave no motion at all, so that constraints alone carry the load. With more functions
// the plate is in balance there as well, but only at a pole of the response to the load.
static void a_basis_that_locks_the_robot_is_reported(void **state) {
    (void)state;
    outcome o;
    static const char *const text =
        "sinew: 1\ngravity: 0\nmaterials: {m: {young: 60 GPa, density: 6000}}\nrobot:\n"
        "  plate: {on: world, joint: free}\n"
        "  leg1: {on: world, pose: {xyz: [0.03667, -0.01433, 0], x: [0.0008, 0.02591, 0.138]}, "
        "rod: "
        "{length: 0.1404133932358306, section: {circle: {radius: 0.005}}, material: m, strain: "
        "{bend_y: BASIS, bend_z: BASIS}}}\n"
        "  leg2: {on: world, pose: {xyz: [-0.02236, 0.02679, 0], x: [-0.00639, 0, 0.138]}, rod: "
        "{length: 0.13814795582997239, section: {circle: {radius: 0.005}}, material: m, strain: "
        "{bend_y: BASIS, bend_z: BASIS}}}\n"
        "  leg3: {on: world, pose: {xyz: [-0.02758, -0.0325, 0], x: [0.01889, -0.00572, 0.138]}, "
        "rod: {length: 0.1394042700206848, section: {circle: {radius: 0.005}}, material: m, "
        "strain: "
        "{bend_y: BASIS, bend_z: BASIS}}}\n"
        "sites:\n"
        "  seat1: {on: plate, pose: {xyz: [0.03744, 0.01158, 0], x: [0.0008, 0.02591, 0.138]}}\n"
        "  seat2: {on: plate, pose: {xyz: [-0.02875, 0.02663, 0], x: [-0.00639, 0, 0.138]}}\n"
        "  seat3: {on: plate, pose: {xyz: [-0.00869, -0.03822, 0], x: [0.01889, -0.00572, "
        "0.138]}}\n"
        "loops:\n  j1: {join: [seat1, leg1.tip], as: fixed}\n  j2: {join: [seat2, leg2.tip], as: "
        "fixed}\n  j3: {join: [seat3, leg3.tip], as: fixed}\n"
        "loads: {push: {on: plate, force: [1000, 0, 0]}}\n"
        "study: [static:]\nprobes: {plate: {position: plate}}\n";
    char model[3000];
    with_basis(text, "chebyshev 2", model, sizeof model);
    execute_ok(model, &o);
    const double few = last(&o, 0), told = o.totals.worst_truncation;
    assert_non_null(strstr(o.said, "would move the robot"));
    snw_series_clear(&o.series);
    with_basis(text, "chebyshev 8", model, sizeof model);
    execute_ok(model, &o);
    const double far = fabs(last(&o, 0) - few) / 0.14;
    print_message("estimated %.3g, the plate is off by %.3g\n", told, far);
    assert_true(far > 0.01 && told > 0.8 * far && told < 1.5 * far); // of all nodes the farthest
    snw_series_clear(&o.series);
}

// ---- frequencies --------------------------------------------------------------------------------

enum { MOST_MODES = 4 };

typedef struct spectrum {
    int n;
    snw_stats mode[MOST_MODES + 1];
} spectrum;

static snw_status keep_mode(void *user, const snw_frame *f, snw_error *err) {
    (void)err;
    spectrum *s = user;
    if (f->stats.mode > 0 && s->n < MOST_MODES) s->mode[s->n++] = f->stats;
    return SNW_OK;
}

static snw_status end_modes(void *user, snw_status status, const char *message, snw_error *err) {
    (void)user, (void)status, (void)message, (void)err;
    return SNW_OK;
}

static void count_bases(void *user, const char *message) {
    int *n = user;
    *n += strstr(message, "strain basis") != NULL;
}

// Number of warnings that a basis is too small.
static int find_modes(const char *text, spectrum *s) {
    outcome o = {0};
    int told = 0;
    snw_document *doc;
    snw_desc *desc;
    snw_run *run = NULL;
    *s = (spectrum){0};
    if (describe(text, &doc, &desc, &o.err) != SNW_OK ||
        snw_run_create(desc, "main", &run, &o.err) != SNW_OK) {
        fail_msg("%d:%d: %s", o.err.line, o.err.column, o.err.text);
    }
    const snw_recorder recorder = {.user = s, .frame = keep_mode, .end = end_modes};
    const snw_run_hooks hooks = {.user = &told, .warn = count_bases};
    if (snw_run_execute(run, 1, &recorder, &hooks, &o.totals, &o.err) != SNW_OK)
        fail_msg("%s", o.err.text);
    snw_run_destroy(run);
    release(doc, desc);
    return told;
}

#define SOFT "materials: {m: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"

// A rod bent by one function oscillates as w = x^2 with omega^2 = 20 EI/(rho A L^4), where
// 3.516015^2 is exact.
static void one_function_swings_too_fast(void **state) {
    (void)state;
    spectrum s;
    const int warnings =
        find_modes("sinew: 1\ngravity: 0\n" SOFT
                   "robot: {arm: {on: world, rod: {length: 1, section: {circle: {radius: 0.002}}, "
                   "material: m, strain: {bend_y: legendre 1}}}}\nstudy: [modes:]\n",
                   &s);
    assert_int_equal(s.n, 1);
    assert_int_equal(warnings, 1);
    // the frequency with five functions is exact to that accuracy
    assert_near(s.mode[0].truncation, 1 - 3.516015 / sqrt(20), 1e-4);
}

// With frequencies, too, few nodes are not reported as few functions.
static void few_nodes_do_not_blame_the_basis_for_frequencies(void **state) {
    (void)state;
    outcome o;
    run("{bend_y: legendre 8}, nodes: 4, magnus: 2", "gravity: 0\nstudy: [modes: {count: 1}]\n",
        &o);
    print_message("quadrature %.1e: %s\n", o.totals.worst_quadrature, o.said);
    assert_true(o.totals.worst_quadrature > 1e-4);
    assert_null(strstr(o.said, "basis"));
    snw_series_clear(&o.series);
}

// Rods clamped, on joints with springs and bodies, closed to loops, in water, on a rotating hub:
// the estimate is the difference to the frequencies of cubic functions on ten elements, for every
// mode.
static void estimates_are_differences_to_frequencies_of_richer_bases(void **state) {
    (void)state;
    static const char *const bases[] = {"legendre 2",          "legendre 3",
                                        "chebyshev 2",         "monomial 3",
                                        "fourier 3",           "constant, elements: 3",
                                        "linear, elements: 1", "quadratic, elements: 1",
                                        "cubic, elements: 1",  "constant, elements: 5"};
#define ARM                                                                                        \
    "rod: {length: 1, section: {circle: {radius: 0.02}}, material: m, strain: kirchhoff BASIS}"
    static const char *const robots[] = {
        "gravity: [0, 0, -2]\nrobot: {arm: {on: world, " ARM "}}\n"
        "study: [static:, modes: {count: 4}]\n",
        "gravity: [0, 0, -1]\nrobot: {arm: {on: world, joint: revolute, axis: y, stiffness: "
        "0.3, " ARM
        "}, hand: {on: arm.tip, joint: universal, stiffness: 0.1, body: {mass: 0.2, com: [0.1, 0, "
        "0], box: [0.1, 0.1, 0.1]}}, more: {on: hand, pose: {xyz: [0.1, 0, 0]}, " ARM
        "}}\nstudy: [static:, modes: {count: 4}]\n",
        "gravity: [0, 0, -1]\nrobot: {arm: {on: world, " ARM
        "}}\nloops: {l: {join: [world, arm.tip], as: spherical, pose: {xyz: [0.95, 0.05, 0]}}}\n"
        "study: [static:, modes: {count: 4}]\n",
        "gravity: [0, 0, -2]\nrobot: {arm: {on: world, " ARM
        "}}\nfluid: {water: {on: arm, density: 1000, added: auto, buoyancy: on}}\n"
        "study: [static:, modes: {count: 4}]\n",
        "gravity: 0\nrobot: {hub: {on: world, joint: revolute}, arm: {on: hub, pose: {xyz: [0.1, "
        "0, 0], "
        "rpy: [0, 0.3, 0.1]}, " ARM "}}\nactuators: {motor: {joint: hub, rate: 1 rad/s}}\n"
        "study: [static: {steady: on}, modes: {steady: on, count: 4}]\n"};
#undef ARM
    double least = INFINITY, most = 0;
    int told = 0;
    for (int k = 0; k < AMONG(5, 50); k++) {
        char text[2400], model[2600];
        (void)snprintf(text, sizeof text, "sinew: 1\n" SOFT "%s", robots[k % 5]);
        spectrum few;
        static spectrum fines[5];
        const spectrum *fine = &fines[k % 5];
        with_basis(text, bases[k / 5 % 10], model, sizeof model);
        const int warnings = find_modes(model, &few);
        with_basis(text, "cubic, elements: 10, magnus: 6", model, sizeof model);
        if (k < 5) assert_int_equal(find_modes(model, &fines[k]), 0);
        assert_true(few.n > 0);
        bool off = false;
        for (int i = 0; i < few.n; i++) {
            const double f = few.mode[i].frequency, g = fine->mode[i].frequency;
            const double far = fabs(f - g) / fmax(fabs(f), fabs(g)), e = few.mode[i].truncation;
            off |= far > 0.0105;
            if (!(e > 0.9 * far - 1e-5 && e < 1.1 * far + 1e-4))
                print_message("%s, robot %d, mode %d: %.3g for %.3g\n", bases[k / 5 % 10], k % 5,
                              i + 1, e, far);
            assert_true(e < 1.1 * far + 1e-4);
            if (far < 1e-2) continue;
            told++;
            least = fmin(least, e / far), most = fmax(most, e / far);
        }
        if (off) assert_true(warnings > 0);
    }
    print_message("%d frequencies off, estimated over true: %.3f to %.3f\n", told, least, most);
    assert_true(told > 0 && least > 0.9 && most < 1.1);
}

// A rod whose richer basis has 312 coordinates, beyond a former limit, has estimates. Elements of
// constant strain have errors with the square of their length, so the frequencies of 26 and 52
// elements give the exact ones by Richardson's extrapolation.
static void a_robot_of_many_coordinates_has_estimates(void **state) {
    (void)state;
    spectrum few, more;
    char text[600];
    static const char *const form =
        "sinew: 1\ngravity: 0\n" SOFT "robot: {arm: {on: world, rod: {length: 1, section: "
        "{rectangle: {y: 0.04, z: 0.03}}, material: m, "
        "strain: cosserat constant, elements: %d}}}\nstudy: [modes: {count: 4}]\n";
    (void)snprintf(text, sizeof text, form, 26);
    (void)find_modes(text, &few);
    (void)snprintf(text, sizeof text, form, 52);
    (void)find_modes(text, &more);
    for (int i = 0; i < few.n; i++) {
        const double f = few.mode[i].frequency, g = more.mode[i].frequency;
        const double far = (f - g) * 4 / 3 / f;
        print_message("mode %d: %.3g for %.3g\n", i + 1, few.mode[i].truncation, far);
        assert_near(few.mode[i].truncation / far, 1, 0.02);
    }
}

// Every frequency has an estimate of its error or a warning that it has none, with the reason.
static void a_frequency_without_an_estimate_is_reported(void **state) {
    (void)state;
    outcome o;
    run("{bend_y: constant}, elements: 210", "gravity: 0\nstudy: [modes: {count: 3}]\n", &o);
    assert_int_equal(o.warnings, 1);
    assert_non_null(strstr(o.said, "mode 1 to 3 at t = 0 s is not known: the model"));
    snw_series_clear(&o.series);
    run("{bend_y: legendre 2}",
        "gravity: 0\nactuators: {pull: {rod: arm, effort: [0, 0]}}\nstudy: [modes: {count: 2}]\n",
        &o);
    assert_int_equal(o.warnings, 1);
    assert_non_null(strstr(o.said, "mode 1, 2 at t = 0 s is not known: actuators"));
    snw_series_clear(&o.series);
    // rods without strain coordinates and joints have no truncation
    execute_ok("sinew: 1\ngravity: 0\n" SOFT
               "robot: {arm: {on: world, joint: revolute, stiffness: 1, rod: {length: 1, section: "
               "{circle: {radius: 0.02}}, material: m, strain: {bend_y: 0.3 1/m}}}}\n"
               "study: [modes: {count: 1}]\n",
               &o);
    assert_int_equal(o.warnings, 0);
    snw_series_clear(&o.series);
}

// ---- in motion ----------------------------------------------------------------------------------

static snw_status keep_last(void *user, const snw_frame *f, snw_error *err) {
    (void)err;
    *(double *)user = f->stats.truncation;
    return SNW_OK;
}

// The estimate of the last frame alone.
static double last_estimate(const char *strain, const char *rest) {
    char text[1600];
    (void)snprintf(text, sizeof text,
                   "sinew: 1\n" SOFT
                   "robot: {arm: {on: world, rod: {length: 1, section: {circle: {radius: 0.02}}, "
                   "material: m, strain: %s}}}\n%s",
                   strain, rest);
    snw_document *doc;
    snw_desc *desc;
    snw_run *run = NULL;
    snw_error err = {0};
    snw_run_totals totals;
    double e = NAN;
    const snw_recorder recorder = {.user = &e, .frame = keep_last, .end = end_modes};
    if (describe(text, &doc, &desc, &err) != SNW_OK ||
        snw_run_create(desc, "main", &run, &err) != SNW_OK ||
        snw_run_execute(run, 1, &recorder, NULL, &totals, &err) != SNW_OK)
        fail_msg("%s", err.text);
    snw_run_destroy(run);
    release(doc, desc);
    return e;
}

// A robot that starts at its equilibrium and stays there has the estimate of the equilibrium to
// first order, in a tree without the contribution of the functions it has. In a loop the truncated
// part moves along with them: the loop leaves it little motion of its own.
static void a_motion_at_rest_has_the_estimate_of_its_equilibrium(void **state) {
    (void)state;
    static const struct {
        const char *strain, *robot;
    } of[] = {
        {"{bend_y: legendre 2}", "gravity: [0, 0, -1]\n"},
        {"kirchhoff legendre 3",
         "gravity: [0, 0, -1]\nloops: {l: {join: [world, arm.tip], as: spherical, pose: {xyz: "
         "[0.95, 0.05, 0]}}}\n"}};
    for (int i = 0; i < 2; i++) {
        char rest[600];
        (void)snprintf(rest, sizeof rest, "%sstudy: [static:]\n", of[i].robot);
        const double still = last_estimate(of[i].strain, rest);
        (void)snprintf(rest, sizeof rest, "%sstudy: [static:, dynamic: {for: 10 ms, step: 5 ms}]\n",
                       of[i].robot);
        const double moving = last_estimate(of[i].strain, rest);
        print_message("at rest %.3g, in motion %.3g\n", still, moving);
        assert_true(still > 1e-4);
        assert_near(moving / still, 1, 0.05);
    }
}

static void a_basis_too_small_is_reported(void **state) {
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
        cmocka_unit_test(elements_of_constant_strain_miss_a_square_of_their_length),
        cmocka_unit_test(three_functions_hold_the_sag_under_weight),
        cmocka_unit_test(strains_held_fixed_are_not_cut_off),
        cmocka_unit_test(few_nodes_are_not_taken_for_few_functions),
        cmocka_unit_test(estimates_are_distances_to_richer_equilibria),
        cmocka_unit_test(a_basis_that_locks_the_robot_is_reported),
        cmocka_unit_test(one_function_swings_too_fast),
        cmocka_unit_test(few_nodes_do_not_blame_the_basis_for_frequencies),
        cmocka_unit_test(estimates_are_differences_to_frequencies_of_richer_bases),
        cmocka_unit_test(a_robot_of_many_coordinates_has_estimates),
        cmocka_unit_test(a_frequency_without_an_estimate_is_reported),
        cmocka_unit_test(a_motion_at_rest_has_the_estimate_of_its_equilibrium),
        cmocka_unit_test(a_basis_too_small_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
