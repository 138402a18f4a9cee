// SPDX-License-Identifier: MIT
//
// Equilibria against independent solutions: circles, follower forces, weight; buckling loads of
// columns. references.md B4.1, B4.2, B4.8, B4.9
#include "oracle/closed.h"
#include "oracle/linear.h"
#include "oracle/planar.h"
#include "oracle/trial.h"

#include "near.h"
#include "random_rod.h"

#include <string.h>

// A rod given by its stiffnesses: twist and bending EI, axial EA, shear GA; without mass.
static void rod_given(robot *r, double L, double EI, double EA, double GA) {
    robot_init(r, L, 1);
    snw_section_desc *s = &r->link[0].rod.section;
    *s = (snw_section_desc){
        .kind = SNW_SECTION_NONE, .stiffness_given = true, .inertia_given = true};
    for (int i = 0; i < 3; i++) s->stiffness[7 * i] = number(r, EI);
    s->stiffness[21] = number(r, EA);
    s->stiffness[28] = s->stiffness[35] = number(r, GA);
    r->link[0].rod.material = NULL;
    r->link[0].rod.magnus = 6;
}

static snw_load_desc *load_at_tip(robot *r, bool body) {
    snw_load_desc *load = &r->load[r->desc.nload++];
    *load = (snw_load_desc){.name = "load", .on = link_end(0), .body = body};
    return load;
}

static double tip_angle(snw_se3 g) { return atan2(g.R.e[1][0], g.R.e[0][0]); }

// ---- Boyer's first test: tip moment -------------------------------------------------------------

// Error of the tip of a rod bent by a tip moment.
static double circle_error(snw_basis_kind kind, int n, int magnus, double C) {
    const double EI = M_PI / 4;
    robot r;
    trial t;
    robot_init(&r, 1, 0.01);
    r.material.young = number(&r, 1e8);
    r.link[0].rod.magnus = magnus;
    robot_strain(&r, 0, SNW_BEND_Y, kind, n);
    robot_strain(&r, 0, SNW_BEND_Z, kind, n);
    snw_load_desc *load = load_at_tip(&r, true);
    load->torque[1] = load->torque[2] = number(&r, C / sqrt(2));
    trial_open(&t, &r.desc);
    (void)trial_settle(&t);
    const snw_vec3 circle = oracle_circle(C / EI, 1);
    const snw_vec3 want = {{circle.x, circle.y / sqrt(2), -circle.y / sqrt(2)}};
    const double e = snw_norm(snw_sub(trial_end(&t, 0).p, want));
    trial_close(&t);
    robot_free(&r);
    return e;
}

// Constant strain is exact for every Magnus order, but the moment's work on the other functions is
// a Gauss sum of order / 2 points per segment: exact up to degree order - 1. Functions up to that
// degree give the circle to rounding (times the condition of a monomial stiffness); others to the
// accuracy of the nodes.
static void tip_moment_bends_to_a_circle(void **state) {
    (void)state;
    for (int C = 1; C <= 5; C++) {
        for (int k = 0; k < SNW_BASIS_COUNT; k++) { // constants are in the span of every basis
            const snw_basis_kind kind = (snw_basis_kind)k;
            for (int magnus = 2; magnus <= 6; magnus += 2) {
                const int n = snw_basis_piecewise(kind) ? 3 : magnus;
                robot r;
                robot_init(&r, 1, 0.01);
                robot_strain(&r, 0, SNW_BEND_Y, kind, n);
                const int degree = snw_basis_degree(&r.link[0].rod.basis[SNW_BEND_Y]);
                robot_free(&r);
                if (kind == SNW_BASIS_FOURIER || degree >= magnus) continue;
                assert_true(circle_error(kind, n, magnus, C) <= 1e-12);
            }
        }
        // five functions as in the paper are of degree 4; the nodes resolve trigonometric functions
        assert_true(circle_error(SNW_BASIS_MONOMIAL, 5, 6, C) <= 1e-12);
        assert_true(circle_error(SNW_BASIS_FOURIER, 5, 6, C) <= 1e-11);
    }
}

// The printed digits of references.md B4.1.
static void circle_has_the_digits_of_the_specification(void **state) {
    (void)state;
    const double table[5][3] = {{1, 0.7508843574, 0.3925369093},
                                {2, 0.2201482043, 0.5076229340},
                                {3, -0.1642358494, 0.3292823665},
                                {4, -0.1823013905, 0.0872680780},
                                {5, 0.0130245890, 0.0003824825}};
    for (int i = 0; i < 5; i++) {
        const snw_vec3 p = oracle_circle(table[i][0] / (M_PI / 4), 1);
        assert_near(p.x, table[i][1], 6e-11);
        assert_near(p.y / sqrt(2), table[i][2], 6e-11);
    }
}

// Moment and torque of a body-fixed tip wrench wind the rod to a helix: constant strain, exact.
static void tip_torque_winds_to_a_helix(void **state) {
    (void)state;
    robot r;
    trial t;
    rod_given(&r, 2, 0.5, 100, 40);
    for (int i = 0; i < 3; i++) {
        r.link[0].rod.rest[i] = number(&r, 0.4 - 0.3 * i);
        robot_strain(&r, 0, i, SNW_BASIS_LEGENDRE, 3);
    }
    // With the rest strain w0 the moment EI (w - w0) of a wound rod is constant along it only if it
    // is parallel to w: C = EI (w - w0), C x w = 0.
    snw_twist xi = {{.v = {{1, 0, 0}}}};
    for (int i = 0; i < 3; i++) xi.w.e[i] = 2.5 * (0.4 - 0.3 * i);
    snw_load_desc *load = load_at_tip(&r, true);
    for (int i = 0; i < 3; i++) load->torque[i] = number(&r, 0.5 * 1.5 * (0.4 - 0.3 * i));
    trial_open(&t, &r.desc);
    (void)trial_settle(&t);
    const snw_se3 g = trial_end(&t, 0), want = oracle_helix(xi, 2);
    assert_true(oracle_distance(3, g.p.e, want.p.e) <= 1e-13); // rounding
    assert_true(oracle_distance(9, &g.R.e[0][0], &want.R.e[0][0]) <= 1e-13);
    trial_close(&t);
    robot_free(&r);
}

// ---- Boyer's second test: follower force --------------------------------------------------------

static void follower(robot *r, trial *t, double kN, bool reissner) {
    rod_given(r, 100, 3.5e7, 4.2e8, 1.61e8);
    r->link[0].rod.nodes = 48;
    robot_strain(r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, reissner ? 16 : 14);
    if (reissner) {
        robot_strain(r, 0, SNW_STRETCH, SNW_BASIS_LEGENDRE, 12);
        robot_strain(r, 0, SNW_SHEAR_Y, SNW_BASIS_LEGENDRE, 12);
    }
    load_at_tip(r, true)->force[1] = number(r, 1e3 * kN);
    trial_open(t, &r->desc);
}

static void check_follower(bool reissner, double tol) {
    const double load[] = {10, 20, 30, 40, 60, 80, 100, 120, 130};
    for (size_t i = 0; i < sizeof load / sizeof load[0]; i++) {
        robot r;
        trial t;
        follower(&r, &t, load[i], reissner);
        (void)trial_settle(&t); // the whole load at once
        const snw_se3 g = trial_end(&t, 0);
        const oracle_planar p = {.L = 100,
                                 .EI = 3.5e7,
                                 .stretch = reissner ? 1 / 4.2e8 : 0,
                                 .shear = reissner ? 1 / 1.61e8 : 0,
                                 .follower = {0, 1e3 * load[i]}};
        const oracle_planar_tip tip = oracle_planar_solve(&p, 1);
        assert_true(fabs(g.p.x - tip.x) <= 100 * tol);
        assert_true(fabs(g.p.y - tip.y) <= 100 * tol);
        assert_true(fabs(tip_angle(g) - tip.angle) <= 10 * tol);
        trial_close(&t);
        robot_free(&r);
    }
}

// 14 functions: their truncation error at 130 kN.
static void follower_force_on_an_inextensible_rod(void **state) {
    (void)state;
    check_follower(false, 1e-6);
}

static void follower_force_on_a_reissner_rod(void **state) {
    (void)state;
    check_follower(true, 1e-6);
}

// The shooting oracle that the tests above rely on has the printed digits of references.md B4.2.
static void shooting_has_the_digits_of_the_specification(void **state) {
    (void)state;
    const double table[][5] = {{10, 58.31255099, 71.10700474, 1.3402270790, 825515.3076},
                               {40, -6.99418420, 50.39602733, 3.0879590815, 387430.0126},
                               {130, 24.13885866, -47.85898277, 0.8521720695, -2617189.4592}};
    for (int i = 0; i < 3; i++) {
        const oracle_planar p = {.L = 100, .EI = 3.5e7, .follower = {0, 1e3 * table[i][0]}};
        const oracle_planar_tip tip = oracle_planar_solve(&p, 1);
        assert_true(fabs(tip.x - table[i][1]) <= 6e-9);
        assert_true(fabs(tip.y - table[i][2]) <= 6e-9);
        assert_true(fabs(tip.angle - table[i][3]) <= 6e-11);
        assert_true(fabs(tip.root_moment - table[i][4]) <= 6e-5);
    }
}

// ---- weight -------------------------------------------------------------------------------------

static void heavy(robot *r, trial *t, double gamma, int n) {
    rod_given(r, 1, 1, 1, 1);
    r->link[0].rod.nodes = 48;
    robot_strain(r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, n);
    snw_load_desc *load = &r->load[r->desc.nload++];
    *load = (snw_load_desc){.name = "weight", .along = true, .on = {.link = 0}};
    load->force[1] = number(r, -gamma);
    trial_open(t, &r->desc);
}

static void heavy_cantilever_hangs_as_the_elastica(void **state) {
    (void)state;
    // Table: tip, angle, root curvature.
    const double table[][5] = {{1, 0.9912463953, 0.1234714020, 0.1651155605, 0.4969333999},
                               {2, 0.9668929469, 0.2385065829, 0.3215937977, 0.9767427151},
                               {5, 0.8466571800, 0.4959050446, 0.6970047775, 2.2268925538},
                               {10, 0.6563537612, 0.7001997155, 1.0526431172, 3.7421911109},
                               {20, 0.4452320522, 0.8298814434, 1.3395015417, 5.7615325858},
                               {50, 0.2450147563, 0.9079171235, 1.5264531504, 9.5284685206},
                               {100, 0.1592233826, 0.9375239354, 1.5641073206, 13.6932387359}};
    double guess = 0;
    for (int i = 0; i < 7; i++) {
        robot r;
        trial t;
        heavy(&r, &t, table[i][0], 18);
        (void)trial_settle(&t);
        const snw_se3 g = trial_end(&t, 0);
        const oracle_planar p = {.L = 1, .EI = 1, .weight = table[i][0]};
        const oracle_planar_tip tip = oracle_planar_solve(&p, guess);
        guess = tip.angle;
        // The printed digits.
        assert_near(tip.x, table[i][1], 6e-11);
        assert_near(tip.y, -table[i][2], 6e-11);
        assert_near(tip.angle, -table[i][3], 6e-11);
        assert_near(tip.root_moment, -table[i][4], 6e-11);
        // 18 functions and the geometry of 48 nodes.
        assert_near(g.p.x, tip.x, 1e-9);
        assert_near(g.p.y, tip.y, 1e-9);
        assert_near(tip_angle(g), tip.angle, 1e-9);
        // The wrench at the clamp: the whole weight, and a moment that converges like the tip.
        assert_near(t.w->F[t.m->link_first[0]].f.y, table[i][0], 1e-12);
        assert_near(t.w->F[t.m->link_first[0]].m.z, -tip.root_moment, 1e-9);
        trial_close(&t);
        robot_free(&r);
    }
}

// Ufkes' rod, all six strains, incompressible and compressible.
static void ufkes_rod_hangs_as_reissners(void **state) {
    (void)state;
    const double table[2][5] = {{0.5, 0.2962896806, -0.0446951270, -0.1936116415, -1.2371767342},
                                {0.3, 0.2963093155, -0.0445250011, -0.1936269564, -1.2372687832}};
    for (int i = 0; i < 2; i++) {
        robot r;
        trial t;
        robot_init(&r, 0.3, 0.03);
        r.material.poisson = number(&r, table[i][0]);
        r.desc.gravity[2] = number(&r, -9.81);
        r.link[0].rod.nodes = 24;
        r.link[0].rod.magnus = 6;
        for (int k = 0; k < 6; k++) robot_strain(&r, 0, k, SNW_BASIS_CHEBYSHEV, 8);
        trial_open(&t, &r.desc);
        (void)trial_settle(&t);
        const snw_se3 g = trial_end(&t, 0);
        const double A = M_PI * 9e-4, E = 1e6, G = E / (2 * (1 + table[i][0]));
        const oracle_planar p = {.L = 0.3,
                                 .EI = E * A * 9e-4 / 4,
                                 .stretch = 1 / (E * A),
                                 .shear = 1 / (G * A),
                                 .weight = 1000 * A * 9.81};
        const oracle_planar_tip tip = oracle_planar_solve(&p, 0);
        assert_true(fabs(tip.x - table[i][1]) <= 6e-11); // the printed digits
        assert_true(fabs(tip.y - table[i][2]) <= 6e-11);
        assert_true(fabs(tip.angle - table[i][3]) <= 6e-11);
        assert_true(fabs(tip.root_moment - table[i][4]) <= 6e-11);
        // 8 functions: truncation below 1e-10 L.
        assert_true(fabs(g.p.x - tip.x) <= 3e-11);
        assert_true(fabs(g.p.z - tip.y) <= 3e-11);
        assert_true(fabs(atan2(-g.R.e[2][0], g.R.e[0][0]) + tip.angle) <= 1e-10);
        assert_near(snw_elastic_energy(t.m, t.s), tip.elastic, 1e-10);
        assert_near(snw_gravity_energy(t.m, t.in, t.w), tip.gravity, 1e-10);
        // The solution is planar.
        assert_true(fabs(g.p.y) <= 1e-15);
        trial_close(&t);
        robot_free(&r);
    }
}

// ---- requests to stop ---------------------------------------------------------------------------

typedef struct requests {
    int asked, patience;
} requests;

static bool ask(void *user) {
    requests *r = user;
    return ++r->asked > r->patience;
}

// A solve checks at each iteration, not only between increments, whether it shall stop. When it is
// stopped it leaves the last equilibrium, from which it can continue.
static void a_solve_stops_within_an_iteration(void **state) {
    (void)state;
    robot r;
    trial t;
    robot_init(&r, 0.3, 0.03);
    r.desc.gravity[2] = number(&r, -9.81);
    for (int k = 0; k < 3; k++) robot_strain(&r, 0, k, SNW_BASIS_LEGENDRE, 6);
    trial_open(&t, &r.desc);
    snw_error err = {0};
    snw_statics_info info;
    snw_statics_opts opts = snw_statics_defaults();
    requests request = {.patience = 1000};
    opts.stop = ask;
    opts.user = &request;
    for (int patience = 1000, last = 1000; patience > 0; patience = last--) {
        snw_statics *st = NULL;
        request = (requests){.patience = patience};
        assert_int_equal(snw_statics_create(t.m, &st), SNW_OK);
        memset(t.s->q, 0, (size_t)t.m->nq * sizeof *t.s->q);
        const snw_status s = snw_statics_solve(st, 0, &opts, t.s, &info, &err);
        if (patience == 1000) { // without a stop
            assert_int_equal(s, SNW_OK);
            assert_in_range(info.iterations, 2, 100);
            assert_true(request.asked > info.iterations);
            last = request.asked - 2; // the last check is after the solution, for stability
            snw_statics_destroy(st);
            continue;
        }
        assert_int_equal(s, SNW_E_STOPPED);
        assert_int_equal(request.asked, patience + 1); // it stops at once
        assert_non_null(strstr(err.text, "stopped at t = 0 s"));
        assert_true(info.reached >= 0 && info.reached <= 1);
        request = (requests){.patience = 1000};
        assert_int_equal(snw_statics_solve(st, 0, &opts, t.s, &info, &err), SNW_OK);
        snw_statics_destroy(st);
    }
    trial_close(&t);
    robot_free(&r);
}

// ---- buckling -----------------------------------------------------------------------------------

static double smallest_eigenvalue(trial *t) {
    snw_statics *st = NULL;
    snw_error err = {0};
    snw_statics_info info;
    snw_statics_opts opts = snw_statics_defaults();
    opts.follow = true; // follow the straight column, stable or not
    assert_int_equal(snw_statics_create(t->m, &st), SNW_OK);
    assert_int_equal(snw_statics_solve(st, t->s->t, &opts, t->s, &info, &err), SNW_OK);
    const snw_stability s = snw_statics_stability(st, t->s);
    assert_true(s.symmetric);
    snw_statics_destroy(st);
    return s.value;
}

// Load (a law of t, growing with t) at which the straight column loses its stiffness.
static double critical(trial *t, double low, double high) {
    const size_t nv = (size_t)t->m->nv;
    for (int i = 0; i < 60 && high - low > 1e-13 * high; i++) {
        const double c = 0.5 * (low + high);
        memset(t->s->q, 0, nv * sizeof(double));
        trial_at(t, c);
        if (smallest_eigenvalue(t) > 0) {
            low = c;
        } else {
            high = c;
        }
    }
    return 0.5 * (low + high);
}

static void column(robot *r, double EI, double L) {
    rod_given(r, L, EI, 1, 1);
    r->link[0].rod.nodes = 40;
    robot_strain(r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 9);
    robot_strain(r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 9);
}

static void column_buckles_at_eulers_load(void **state) {
    (void)state;
    robot r;
    trial t;
    column(&r, 3, 2);
    load_at_tip(&r, false)->force[0] = law(&r, "-t");
    trial_open(&t, &r.desc);
    assert_near(smallest_eigenvalue(&t), 1, 1e-13); // unloaded, by definition
    // 9 functions, 40 nodes of order 6: geometry below 1e-9.
    assert_near(critical(&t, 0.5, 4) * 4 / 3, oracle_euler_load(), 1e-9);
    trial_close(&t);
    robot_free(&r);
}

static void column_buckles_under_its_own_weight(void **state) {
    (void)state;
    assert_near(oracle_self_weight(), 7.837347, 1e-7); // the digits of the specification
    robot r;
    trial t;
    column(&r, 3, 2);
    snw_load_desc *load = &r.load[r.desc.nload++];
    *load = (snw_load_desc){.name = "weight", .along = true, .on = {.link = 0}};
    load->force[0] = law(&r, "-t");
    trial_open(&t, &r.desc);
    assert_near(critical(&t, 0.5, 9) * 8 / 3, oracle_self_weight(), 1e-9);
    trial_close(&t);
    robot_free(&r);
}

// The eigenvalue does not depend on the basis, only on the space it spans.
static void stability_is_the_same_in_every_basis_of_a_space(void **state) {
    (void)state;
    double value[3];
    for (int k = 0; k < 3; k++) {
        robot r;
        trial t;
        rod_given(&r, 1, 1, 1, 1);
        r.link[0].rod.nodes = 20;
        robot_strain(&r, 0, SNW_BEND_Z, (snw_basis_kind)k, 6);
        load_at_tip(&r, false)->force[0] = number(&r, -1);
        trial_open(&t, &r.desc);
        value[k] = smallest_eigenvalue(&t);
        trial_close(&t);
        robot_free(&r);
    }
    // Rounding times the condition of the monomials.
    assert_near(value[1], value[0], 1e-12);
    assert_near(value[2], value[0], 1e-9);
    assert_true(value[0] > 0 && value[0] < 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tip_moment_bends_to_a_circle),
        cmocka_unit_test(circle_has_the_digits_of_the_specification),
        cmocka_unit_test(tip_torque_winds_to_a_helix),
        cmocka_unit_test(follower_force_on_an_inextensible_rod),
        cmocka_unit_test(follower_force_on_a_reissner_rod),
        cmocka_unit_test(shooting_has_the_digits_of_the_specification),
        cmocka_unit_test(heavy_cantilever_hangs_as_the_elastica),
        cmocka_unit_test(ufkes_rod_hangs_as_reissners),
        cmocka_unit_test(a_solve_stops_within_an_iteration),
        cmocka_unit_test(column_buckles_at_eulers_load),
        cmocka_unit_test(column_buckles_under_its_own_weight),
        cmocka_unit_test(stability_is_the_same_in_every_basis_of_a_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
