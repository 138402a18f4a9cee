// SPDX-License-Identifier: MIT
//
// Integrals along rods with `nodes: auto`: against closed forms of one element of constant strain,
// and random rods of all bases against many nodes. theory.md (3.5).
#include "executed.h"
#include "oracle/linear.h"
#include "oracle/trial.h"
#include "random_rod.h"
#include "sanitized.h"
#include "solve/dense.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>

static const double L = 0.3, R = 0.01, E = 1e6, RHO = 1070;

// ---- one element of constant strain -------------------------------------------------------------

// The only mode bends the straight rod along k x^2/2: K = EI L, M = rho A L^5/20 + rho I L^3/3.
static void one_element_swings_with_the_frequency_of_its_assumed_mode(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\ngravity: 0\n"
               "materials: {m: {young: 1 MPa, poisson: 0.5, density: 1070 kg/m^3}}\n"
               "robot: {arm: {on: world, rod: {length: 30 cm, section: {circle: {radius: 1 cm}}, "
               "material: m, strain: {bend_y: constant}}}}\n"
               "study: [modes: {count: 1}]\nprobes: {f: frequency}\n",
               &o);
    const double A = M_PI * R * R, I = A * R * R / 4;
    const double M = RHO * (A * pow(L, 5) / 20 + I * pow(L, 3) / 3);
    assert_near(last(&o, 0), sqrt(E * I * L / M) / (2 * M_PI), 1e-9);
    snw_series_clear(&o.series);
}

// d/dk of the mean height of an arc of curvature k.
static double lowers(double k) { return (2 * sin(k * L) / k - L * cos(k * L) - L) / (k * k); }

// Virtual work of the weight of an arc, solved for its curvature by bisection.
static void one_element_sags_as_virtual_work_says(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\n"
               "materials: {m: {young: 1 MPa, poisson: 0.5, density: 1070 kg/m^3}}\n"
               "robot: {arm: {on: world, rod: {length: 30 cm, section: {circle: {radius: 1 cm}}, "
               "material: m, strain: {bend_y: constant}}}}\n"
               "study: [static:]\nprobes: {tip: {position: arm.tip}}\n",
               &o);
    const double A = M_PI * R * R, I = A * R * R / 4;
    double low = 1e-3, high = 10;
    for (int i = 0; i < 100; i++) {
        const double k = 0.5 * (low + high);
        if (RHO * A * 9.81 * lowers(k) > E * I * L * k) {
            low = k;
        } else {
            high = k;
        }
    }
    assert_near(last(&o, 0) / L, sin(low * L) / (low * L), 1e-5);
    assert_near(last(&o, 2) / L, (cos(low * L) - 1) / (low * L), 1e-5);
    snw_series_clear(&o.series);
}

// ---- random rods --------------------------------------------------------------------------------

// Inertia and weight of a rod at a random shape, and its elastic stiffness.
typedef struct sums {
    int n;
    double *M, *K, *G;
} sums;

static sums sums_of(const snw_desc *desc, uint64_t seed) {
    trial t;
    dice d = {seed};
    trial_open(&t, desc);
    trial_at(&t, 0);
    const size_t n = (size_t)t.m->nv;
    for (int i = 0; i < t.m->nv; i++) t.s->q[i] = 0.3 * t.m->typical[i] * roll(&d, -1, 1);
    sums s = {.n = t.m->nv,
              .M = oracle_alloc(n * n, sizeof(double)),
              .K = oracle_alloc(n * n, sizeof(double)),
              .G = oracle_alloc(n, sizeof(double))};
    snw_residual(t.m, t.in, t.s, true, t.w);
    snw_elastic_forces(t.m, t.s->q, s.G);
    for (size_t i = 0; i < n; i++) s.G[i] -= t.w->r[i];
    snw_mass_matrix(t.m, t.in, t.s, t.w, s.M);
    snw_elastic_matrices(t.m, s.K, NULL);
    trial_close(&t);
    return s;
}

static void drop_sums(sums *s) {
    free(s->M);
    free(s->K);
    free(s->G);
}

// x, *lambda <- the mode of M and K with the lowest frequency, which determines frequencies and
// sags.
static void slowest(const sums *s, double *x, double *lambda) {
    const size_t n = (size_t)s->n, size = snw_eigen_symmetric_scratch(s->n) + n * 8 + 64;
    double *A = oracle_alloc(n * n, sizeof *A), *B = oracle_alloc(n * n, sizeof *B);
    memcpy(A, s->M, n * n * sizeof *A);
    memcpy(B, s->K, n * n * sizeof *B);
    snw_arena scratch = {.base = snw_alloc(size), .size = size};
    double *all = oracle_alloc(n, sizeof *all);
    assert_int_equal(snw_eigen_symmetric(s->n, A, B, true, &scratch, all), SNW_OK);
    memcpy(x, A + (n - 1) * n, n * sizeof *x);
    *lambda = all[n - 1];
    snw_free(scratch.base);
    free(all);
    free(A);
    free(B);
}

static double product(int n, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// Every basis, one to four functions or elements, straight and bent at rest, tapered or not: the
// lowest frequency and the work of the weight along its mode are those of many nodes.
static void random_rods_integrate_as_with_many_nodes(void **state) {
    (void)state;
    dice d = {5};
    double worst = 0;
    for (int k = 0; k < AMONG(16, 96); k++) {
        robot r;
        robot_init(&r, roll(&d, 0.2, 1), 0.01);
        r.link[0].rod.magnus = 6;
        const snw_basis_kind kind = (snw_basis_kind)(k % 8);
        const int n = 1 + k / 8 % 4;
        for (int i = SNW_TWIST; i <= SNW_BEND_Z; i++) robot_strain(&r, 0, i, kind, n);
        if (k % 3 == 0) robot_strain(&r, 0, SNW_STRETCH, kind, n);
        if (k % 2) r.link[0].rod.section.size[0] = law(&r, "0.012*exp(-x/L)");
        for (int i = 0; i < 3; i++) r.link[0].rod.rest[i] = number(&r, roll(&d, -1, 1));
        for (int i = 0; i < 3; i++) r.desc.gravity[i] = number(&r, roll(&d, -9, 9));
        const uint64_t seed = 100 + (uint64_t)k;
        sums coarse = sums_of(&r.desc, seed);
        r.link[0].rod.nodes = 160;
        sums fine = sums_of(&r.desc, seed);
        double *x = oracle_alloc((size_t)fine.n, sizeof *x),
               *y = oracle_alloc((size_t)fine.n, sizeof *y);
        double lambda_c, lambda_f;
        slowest(&fine, x, &lambda_f);
        slowest(&coarse, y, &lambda_c);
        worst = fmax(worst, fabs(lambda_c / lambda_f - 1));
        // bound by the Cauchy-Schwarz inequality with the mass of the rod
        const double size = sqrt(lambda_f * 9 * 9 * 3 * RHO * M_PI * 1e-4);
        worst = fmax(worst, fabs(product(fine.n, x, coarse.G) - product(fine.n, x, fine.G)) / size);
        free(x);
        free(y);
        drop_sums(&coarse);
        drop_sums(&fine);
        robot_free(&r);
    }
    print_message("worst error of slowest motions and their weight: %.1e\n", worst);
    assert_true(worst < 2e-5);
}

// ---- actions on strains -------------------------------------------------------------------------

static double turned_by_helix(const char *nodes) {
    char text[700];
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\ngravity: 0\nmaterials: {m: {young: 1 MPa, poisson: 0.5, density: 0}}\n"
        "robot: {arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 0.01}}, material: "
        "m, "
        "strain: kirchhoff constant%s}}}\n"
        "actuators: {cord: {tendon: {along: arm, at: [0, \"0.008*cos(25*x/L)\", "
        "\"0.008*sin(25*x/L)\"]}, "
        "effort: 2 N}}\n"
        "study: [static:]\nprobes: {e: {strain: arm@50%%}}\n",
        nodes);
    outcome o;
    execute_ok(text, &o);
    const double twist = last(&o, 0);
    snw_series_clear(&o.series);
    return twist;
}

// Four points of an element cannot resolve four turns of a helix.
static void a_helical_tendon_turns_one_element_as_it_turns_with_many_points(void **state) {
    (void)state;
    const double want = turned_by_helix(", nodes: 60");
    assert_true(fabs(want) > 0.1);
    assert_near(turned_by_helix("") / want, 1, 1e-6);
}

static void too_few_nodes_are_reported(void **state) {
    (void)state;
    outcome o;
    const char *const text =
        "sinew: 1\nmaterials: {m: {young: 1 MPa, poisson: 0.5, density: 1070 kg/m^3}}\n"
        "robot: {arm: {on: world, rod: {length: 30 cm, section: {circle: {radius: 2 cm}}, "
        "material: m, strain: {bend_y: legendre 6}, nodes: %s}}}\nstudy: [static:]\n";
    char own[500];
    (void)snprintf(own, sizeof own, text, "3");
    execute_ok(own, &o);
    assert_true(o.totals.worst_quadrature > 1e-4);
    assert_true(o.warnings > 0);
    snw_series_clear(&o.series);
    (void)snprintf(own, sizeof own, text, "auto");
    execute_ok(own, &o);
    assert_true(o.totals.worst_quadrature < 1e-5);
    assert_int_equal(o.warnings, 0);
    snw_series_clear(&o.series);
}

// Curvature of one element under a load that varies along it; `change` may precede the equilibrium.
static double bent_by_wave(const char *nodes, const char *waves, const char *change) {
    char text[800];
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\ngravity: 0\nparameters: {k: %s}\n"
        "materials: {m: {young: 1 MPa, poisson: 0.5, density: 1070 kg/m^3}}\n"
        "robot: {arm: {on: world, rod: {length: 30 cm, section: {circle: {radius: 1 cm}}, "
        "material: m, strain: {bend_y: constant}%s}}}\n"
        "loads: {wave: {along: arm, force: [0, 0, \"8*cos(k*x/L)\"]}}\n"
        "study: [%sstatic:]\nprobes: {tip: {strain: arm@50%%}}\n",
        waves, nodes, change);
    outcome o;
    execute_ok(text, &o);
    const double bend = last(&o, 1);
    snw_series_clear(&o.series);
    return bend;
}

static void a_load_of_short_waves_bends_one_element_as_it_does_with_many_nodes(void **state) {
    (void)state;
    const double want = bent_by_wave(", nodes: 80", "20", "");
    assert_true(fabs(want) > 1e-2);
    assert_near(bent_by_wave("", "20", "") / want, 1, 1e-3);
}

// The second half of a study has a load that needs many nodes: the study has them from the
// beginning, without an error.
static void a_change_that_asks_for_more_nodes_has_them_from_the_beginning(void **state) {
    (void)state;
    const double want = bent_by_wave(", nodes: 80", "20", "");
    assert_near(bent_by_wave("", "1", "change: {k: 20}, ") / want, 1, 1e-3);
}

// Two hundred elements get two points each, as fewer ones do. One point each, where the search for
// nodes once ended, made frequencies too high by 5e-5.
static void many_elements_have_enough_nodes(void **state) {
    (void)state;
    static const char *const form =
        "sinew: 1\ngravity: [0, 0, -0.01]\n"
        "materials: {m: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
        "robot: {arm: {on: world, rod: {length: 1, section: {circle: {radius: 1 cm}}, material: m, "
        "strain: {bend_y: constant}, elements: 200%s}}}\n"
        "study: [static:]\nprobes: {tip: {position: arm.tip}}\n";
    char text[600];
    outcome o, fine;
    (void)snprintf(text, sizeof text, form, "");
    execute_ok(text, &o);
    (void)snprintf(text, sizeof text, form, ", nodes: 1000");
    execute_ok(text, &fine);
    print_message("quadrature %.1e, tip %.3g of %.3g\n", o.totals.worst_quadrature, last(&o, 2),
                  last(&fine, 2));
    assert_true(o.totals.worst_quadrature < 1e-5);
    assert_near(last(&o, 2) / last(&fine, 2), 1, 1e-8);
    snw_series_clear(&o.series);
    snw_series_clear(&fine.series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_element_swings_with_the_frequency_of_its_assumed_mode),
        cmocka_unit_test(one_element_sags_as_virtual_work_says),
        cmocka_unit_test(random_rods_integrate_as_with_many_nodes),
        cmocka_unit_test(a_helical_tendon_turns_one_element_as_it_turns_with_many_points),
        cmocka_unit_test(a_load_of_short_waves_bends_one_element_as_it_does_with_many_nodes),
        cmocka_unit_test(too_few_nodes_are_reported),
        cmocka_unit_test(a_change_that_asks_for_more_nodes_has_them_from_the_beginning),
        cmocka_unit_test(many_elements_have_enough_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
