// SPDX-License-Identifier: MIT
//
// Rods whose nodes follow their shape: errors against the tolerance with an independent integrator,
// placement of the nodes, and agreement with rods on fixed nodes.
#include "executed.h"
#include "moving_rod.h"
#include "random_trial.h"
#include "sanitized.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 420 };

// ---- tolerance ----------------------------------------------------------------------------------

// Errors with the cells that the tolerance requires; returns the number of cells.
static int errors_of(double tolerance, uint64_t seed, double e[KINDS]) {
    double cell[MOST];
    int n = 0, nseg = 0;
    for (int pass = 0; pass < 2; pass++) {
        robot r;
        trial t;
        moving_rod(&r);
        r.link[0].rod.integrator = SNW_RULE_RK45;
        r.link[0].rod.tolerance = tolerance;
        r.link[0].rod.ncell = n, r.link[0].rod.cell = cell;
        trial_open(&t, &r.desc);
        moving_rod_state(&t, seed);
        if (pass == 0) {
            n = snw_rod_mesh_cells(t.m, &t.m->rod[0], t.s, false, cell);
            nseg = t.m->nseg;
            assert_true(n > 0 && n <= t.m->rod[0].room && n < MOST);
        } else {
            assert_int_equal(t.m->nseg, nseg); // the other segments stay in reserve
            // slices across the ends of cells are no less accurate than those within
            assert_true(snw_rod_error(t.m, &t.m->rod[0], t.s, false) <= tolerance);
            moving_rod_errors(&t, e);
        }
        trial_close(&t);
        robot_free(&r);
    }
    return n;
}

// Against an integrator without segments: over six powers of ten the errors of whole rods stay
// within a small multiple of the tolerance and decrease with it. The number of cells grows with the
// fifth root of its inverse.
static void the_tolerance_is_met(void **state) {
    (void)state;
    enum { N = 7 };
    for (uint64_t seed = 1; seed <= AMONG(1, 4); seed++) {
        double worst[N];
        int n[N];
        for (int k = 0; k < N; k++) {
            const double tolerance = pow(10, -5 - k);
            double e[KINDS];
            n[k] = errors_of(tolerance, seed, e);
            worst[k] = 0;
            for (int i = 0; i < KINDS; i++) worst[k] = fmax(worst[k], e[i]);
            print_message("seed %d, %.0e: %3d cells, %.1e %.1e %.1e %.1e %.1e %.1e %.1e\n",
                          (int)seed, tolerance, n[k], e[0], e[1], e[2], e[3], e[4], e[5], e[6]);
            // the accuracy of the oracle ends at 1e-12
            assert_true(worst[k] <= tolerance + 2e-12);
        }
        const double slope = log10(worst[0] / worst[5]) / 5;
        print_message("seed %d: error falls with the power %.2f of the tolerance\n", (int)seed,
                      slope);
        assert_true(slope > 0.8 && slope < 1.3);
        // at small tolerances, where the rule along the rod dominates the integrals
        assert_near(log10((double)n[6] / n[4]) / 2, 0.2, 0.02);
    }
}

// ---- placement of nodes -------------------------------------------------------------------------

// Cells of a rod that turns by half a radian more within `width` of x = 0.7.
static int bent(double width, double tolerance, double cell[MOST]) {
    robot r;
    trial t;
    char text[100];
    (void)snprintf(text, sizeof text, "%.17g*exp(-((x - 0.7)/%g)^2)", 0.5 / width, width);
    robot_init(&r, 1, 0.01);
    r.link[0].rod.integrator = SNW_RULE_RK45;
    r.link[0].rod.tolerance = tolerance;
    r.link[0].rod.nodes = 3 * (MOST - 1);
    r.link[0].rod.rest[SNW_BEND_Y] = law(&r, text);
    robot_strain(&r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 3);
    robot_strain(&r, 0, SNW_TWIST, SNW_BASIS_LEGENDRE, 3);
    trial_open(&t, &r.desc);
    t.s->q[3] = 1; // some twist: in plane bending the Lie brackets vanish
    const int n = snw_rod_mesh_cells(t.m, &t.m->rod[0], t.s, true, cell);
    trial_close(&t);
    robot_free(&r);
    return n;
}

static double length_at(int n, const double *cell, double x) {
    for (int i = 0; i < n; i++) {
        if (x < cell[i + 1]) return cell[i + 1] - cell[i];
    }
    return NAN;
}

static void nodes_are_denser_where_a_rod_bends_sharply(void **state) {
    (void)state;
    double cell[MOST];
    int before = 0;
    for (double width = 0.2; width > 0.02; width /= 2) {
        const int n = bent(width, 1e-9, cell);
        print_message("width %.3f: %d cells, %.4f m there, %.4f m elsewhere\n", width, n,
                      length_at(n, cell, 0.7), length_at(n, cell, 0.15));
        assert_true(n > before);
        assert_near(cell[n], 1, 0);
        if (width < 0.15) assert_true(length_at(n, cell, 0.7) < 0.4 * length_at(n, cell, 0.15));
        before = n;
    }
    assert_true(length_at(before, cell, 0.7) < 0.1 * length_at(before, cell, 0.15));
}

// ---- all rules agree ----------------------------------------------------------------------------

typedef struct along {
    snw_rule_kind kind;
    int number, nodes;
    double tolerance;
} along;

// Numbers of one random rod in one random state; the rods bend by radians.
static double *numbers_of(along rule, uint64_t seed, size_t *count) {
    dice d = {seed};
    robot r;
    trial t;
    robot_random(&r, &d, seed % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, false);
    for (int l = 0; l < r.desc.nlink; l++) {
        snw_rod_desc *rod = &r.link[l].rod;
        rod->integrator = rule.kind;
        rod->magnus = rule.number;
        rod->points = rule.kind == SNW_RULE_SPECTRAL ? rule.number : 0;
        rod->nodes = rule.nodes;
        rod->tolerance = rule.tolerance;
    }
    trial_open(&t, &r.desc);
    state_random(t.m, &d, t.s);
    trial_at(&t, t.s->t);
    double *x = trial_numbers(&t, (size_t)r.desc.nlink, count);
    trial_close(&t);
    robot_free(&r);
    return x;
}

static void all_rules_agree(void **state) {
    (void)state;
    static const along rules[] = {{SNW_RULE_MAGNUS, 6, 120, 0},
                                  {SNW_RULE_MAGNUS, 4, 900, 0},
                                  {SNW_RULE_RK4, 0, 900, 0},
                                  {SNW_RULE_SPECTRAL, 3, 120, 0},
                                  {SNW_RULE_SPECTRAL, 4, 60, 0},
                                  {SNW_RULE_RK45, 0, 300, 0},
                                  {SNW_RULE_FER, 6, 60, 0},
                                  {SNW_RULE_RK45, 0, 300, 1e-6}}; // 100 cells of the same length
    enum { RULES = sizeof rules / sizeof rules[0] };
    for (uint64_t seed = 11; seed <= AMONG(11, 14); seed++) {
        size_t n = 0;
        double *want = numbers_of(rules[0], seed, &n);
        for (int k = 1; k < RULES; k++) {
            size_t same = 0;
            double *got = numbers_of(rules[k], seed, &same), worst = 0;
            assert_int_equal(same, n);
            for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(got[i] - want[i]));
            print_message("seed %d, %s %d: %.1e\n", (int)seed, snw_rule_name(rules[k].kind),
                          rules[k].number, worst);
            assert_true(worst <= 1e-9);
            free(got);
        }
        free(want);
    }
}

// ---- studies ------------------------------------------------------------------------------------

// A robot with all elements that depend on nodes: loads along rods, a fluid, the ground, tendons, a
// child at a station, a loop, a driven strain.
#define ROBOT                                                                                      \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 20 ms}}\n"           \
    "robot:\n"                                                                                     \
    "  arm: {on: world, rod: {length: 0.5, section: {circle: {radius: 12 mm*(1 - 0.3*x/L)}}, "     \
    "material: rubber, strain: {bend_y: legendre 4, bend_z: legendre 3, stretch: legendre 2, "     \
    "twist: 3*sin(9*t)*x/L}, %s}}\n"                                                               \
    "  bob: {on: arm@40%%, pose: {xyz: [0, 0.02, 0]}, body: {mass: 20 g}}\n"                       \
    "  leg: {on: arm.tip, rod: {length: 0.2, section: {circle: {radius: 8 mm}}, material: "        \
    "rubber, strain: {bend_y: linear, bend_z: quadratic, twist: constant}, elements: 2, %s}}\n"    \
    "loads: {wind: {along: arm, force: [0, \"2 N/m*x/L\", 0]}}\n"                                  \
    "actuators: {pull: {tendon: {along: arm, at: [0, 0, 8 mm]}, effort: \"3 N*sin(8*t)^2\"}}\n"    \
    "fluid: {air: {on: arm, density: 20, drag: {normal: 1}}}\n"                                    \
    "probes: {tip: {position: leg.tip}, mid: {position: arm@50%%}, bob: {velocity: bob}, e: "      \
    "energy}\n"                                                                                    \
    "record: {every: 2 ms}\n"

static void run_with(const char *arm, const char *leg, const char *study, outcome *o) {
    char text[4000];
    const int n = snprintf(text, sizeof text, ROBOT, arm, leg);
    (void)snprintf(text + n, sizeof text - (size_t)n, "%s", study);
    execute_ok(text, o);
}

#define UNTIL AMONG("8 ms", "60 ms")
#define BRIEF AMONG("1 ms", "6 ms")

// With all elements that depend on nodes, a study agrees with one on many fixed nodes, and more
// closely with a smaller tolerance.
static void studies_agree_with_those_on_many_nodes(void **state) {
    (void)state;
    static const char *const studies[] = {
        "study: [static:]\n",
        "study: [static:, dynamic: {for: " UNTIL ", step: 4 ms, tolerance: 1e-12}]\n",
        "study: [dynamic: {for: " BRIEF ", scheme: adaptive, tolerance: 1e-8}]\n"};
    for (int k = 0; k < 3; k++) {
        outcome want;
        run_with("nodes: 40, magnus: 6", "nodes: 20, magnus: 6", studies[k], &want);
        for (int i = 0; i < 2; i++) {
            const double tolerance = i ? 1e-8 : 1e-5;
            char rule[100];
            outcome o;
            (void)snprintf(rule, sizeof rule, "integrator: rk45, tolerance: %g", tolerance);
            run_with(rule, rule, studies[k], &o);
            assert_int_equal(o.series.nframe, want.series.nframe);
            double worst = 0;
            for (int c = 0; c < o.series.ncolumn; c++) {
                double size = 1e-2, miss = 0; // metres, or the largest force or energy
                for (int f = 0; f < o.series.nframe; f++) {
                    size = fmax(size, fabs(shown(&want, f, c)));
                    miss = fmax(miss, fabs(shown(&o, f, c) - shown(&want, f, c)));
                }
                worst = fmax(worst, miss / size);
            }
            print_message("study %d, %.0e: nodes placed %d times, at most %d; error %.1e\n", k,
                          tolerance, o.totals.meshes, o.totals.most_nodes, worst);
            assert_true(o.totals.meshes >= 1);
            // the motion amplifies its initial error several times
            assert_true(worst <= 100 * tolerance);
            snw_series_clear(&o.series);
        }
        snw_series_clear(&want.series);
    }
}

// Nodes are placed anew between steps only, and not in every one: the rod's error crosses its
// tolerance several times.
static void the_number_of_nodes_follows_the_shape(void **state) {
    (void)state;
    static const char before[] =
        "sinew: 1\n"
        "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
        "robot: {arm: {on: world, rod: {length: 0.5, section: {circle: {radius: 10 mm}}, material: "
        "rubber, strain: {bend_y: legendre 3, bend_z: legendre 3, twist: legendre 2}, ";
    static const char after[] =
        "}}}\n"
        "gravity: 0\n"
        "loads: {turn: {on: arm.tip, torque: [0.02, 0.1, 0.05], when: \"t < 0.5 s\"}}\n"
        "study: [dynamic: {for: 1 s, step: 5 ms}]\n"
        "probes: {e: energy}\n";
    char text[1000];
    outcome o, stay;
    (void)snprintf(text, sizeof text, "%snodes: 60%s", before, after);
    execute_ok(text, &stay);
    (void)snprintf(text, sizeof text, "%sintegrator: rk45, tolerance: 1e-7%s", before, after);
    execute_ok(text, &o);
    print_message("placed %d times in %d steps, at most %d nodes\n", o.totals.meshes,
                  o.totals.increments, o.totals.most_nodes);
    assert_true(o.totals.meshes >= 3 && o.totals.meshes < o.totals.increments / 10);
    // the energy that such steps leave unaccounted for (1.2e-4 J of 1.6 J) is the same on fixed
    // nodes
    assert_near(last(&o, 6), last(&stay, 6), 1e-7);
    snw_series_clear(&o.series);
    snw_series_clear(&stay.series);
}

static void a_change_keeps_the_nodes(void **state) {
    (void)state;
    static const char study[] = "parameters: {wet: 1}\n"
                                "study: [static:, change: {wind.force: [0, \"3 N/m\", 0]}, "
                                "static:, dynamic: {for: 8 ms, step: 2 ms, tolerance: 1e-12}]\n";
    outcome a, b;
    run_with("nodes: 60, magnus: 6", "nodes: 40, magnus: 6", study, &a);
    run_with("integrator: rk45, tolerance: 1e-9", "nodes: 40, magnus: 6", study, &b);
    assert_int_equal(a.series.nframe, b.series.nframe);
    for (int f = 0; f < a.series.nframe; f++) {
        for (int c = 0; c < 6; c++) assert_near(shown(&b, f, c), shown(&a, f, c), 2e-9);
    }
    snw_series_clear(&a.series);
    snw_series_clear(&b.series);
}

static void faults_are_named(void **state) {
    (void)state;
    static const struct {
        const char *rod, *study, *says;
    } cases[] = {{"tolerance: 1e-6", "", "is for integrator: rk45"},
                 {"integrator: rk45, tolerance: 1", "", "between 1e-12 and 1e-2"},
                 {"integrator: rk45 5", "", "no integrator 'rk45 5'"},
                 {"integrator: rk45, tolerance: 1e-10, nodes: 12",
                  "loads: {tip: {on: arm.tip, force: [0, 3 N, 0]}}\nstudy: [static:]\n",
                  "needs more than its 12 nodes"},
                 {"integrator: rk45", "actuators: {push: {feed: arm, position: 0.3 m}}\n",
                  "it has variable length"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\n"
                       "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
                       "robot: {arm: {on: world, rod: {length: 0.5, section: {circle: {radius: 10 "
                       "mm}}, material: rubber, strain: kirchhoff legendre 3, %s}}}\n%s",
                       cases[i].rod, cases[i].study);
        snw_document *doc;
        snw_desc *desc;
        snw_run *run = NULL;
        snw_error err = {0};
        snw_status s = describe(text, &doc, &desc, &err);
        if (s == SNW_OK) {
            s = snw_run_create(desc, "main", &run, &err);
            if (s == SNW_OK) s = snw_run_execute(run, 0, NULL, NULL, NULL, &err);
            snw_run_destroy(run);
        }
        release(doc, desc);
        assert_int_not_equal(s, SNW_OK);
        if (!strstr(err.text, cases[i].says)) fail_msg("%s", err.text);
        assert_true(err.line > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tolerance_is_met),
        cmocka_unit_test(nodes_are_denser_where_a_rod_bends_sharply),
        cmocka_unit_test(all_rules_agree),
        cmocka_unit_test(studies_agree_with_those_on_many_nodes),
        cmocka_unit_test(the_number_of_nodes_follows_the_shape),
        cmocka_unit_test(a_change_keeps_the_nodes),
        cmocka_unit_test(faults_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
