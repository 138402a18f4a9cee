// SPDX-License-Identifier: MIT
//
// Measured orders of convergence against the theoretical ones: in the nodes that of the rule along
// the rod, in the basis functions spectral; limits and bases that span the same space.
#include "oracle/linear.h"
#include "oracle/planar.h"

#include "moving_rod.h"
#include "near.h"

// ---- nodes --------------------------------------------------------------------------------------

// a rule and its order
typedef struct along {
    snw_rule_kind kind;
    int order;
} along;

static void make_moving_rod(robot *r, trial *t, along rule, int nodes, uint64_t seed) {
    moving_rod(r);
    r->link[0].rod.integrator = rule.kind;
    r->link[0].rod.magnus = rule.order;
    r->link[0].rod.points = rule.kind == SNW_RULE_SPECTRAL ? rule.order / 2 : 0;
    r->link[0].rod.nodes = nodes;
    trial_open(t, &r->desc);
    moving_rod_state(t, seed);
}

static void errors_of(along rule, int nodes, uint64_t seed, double e[KINDS]) {
    robot r;
    trial t;
    make_moving_rod(&r, &t, rule, nodes, seed);
    moving_rod_errors(&t, e);
    trial_close(&t);
    robot_free(&r);
}

static void check_order(snw_rule_kind kind, int order, int coarse, int fine) {
    const along rule = {kind, order};
    for (uint64_t seed = 1; seed <= 4; seed++) {
        double a[KINDS], b[KINDS];
        errors_of(rule, coarse, seed, a);
        errors_of(rule, fine, seed, b);
        // with the few nodes that order 8 allows, the quadrature error of the inertia is not
        // negligible
        const int kinds = order == 8 ? KINETIC : KINDS;
        for (int k = 0; k < kinds; k++) {
            // n + 1 segments of Gauss points; the observed order may be higher where an error
            // happens to be small
            const double slope = log(a[k] / b[k]) / log((fine + 1.0) / (coarse + 1.0));
            if (!(slope >= order - 0.25)) {
                fail_msg("%s of order %d, seed %d, kind %d: slope %.3f, errors %.3g %.3g",
                         snw_rule_name(kind), order, (int)seed, k, slope, a[k], b[k]);
            }
        }
        // and not higher in general: at the tip the order is not exceeded for at least one seed
        const double slope = log(a[TIP] / b[TIP]) / log((fine + 1.0) / (coarse + 1.0));
        assert_true(slope <= order + 1.5);
    }
}

static void magnus_converges_with_its_order(void **state) {
    (void)state;
    check_order(SNW_RULE_MAGNUS, 2, 80, 160);
    check_order(SNW_RULE_MAGNUS, 4, 40, 80);
    check_order(SNW_RULE_MAGNUS, 6, 20, 40);
}

static void other_rules_converge_with_theirs(void **state) {
    (void)state;
    check_order(SNW_RULE_FER, 2, 80, 160);
    check_order(SNW_RULE_FER, 4, 80, 160); // not symmetric, as rk4
    check_order(SNW_RULE_FER, 6, 20, 40);
    check_order(SNW_RULE_RK4, 4, 160, 320); // not symmetric: its next error term is h^5
    check_order(SNW_RULE_RK45, 5, 30, 60);
    check_order(SNW_RULE_SPECTRAL, 4, 40, 80);
    check_order(SNW_RULE_SPECTRAL, 6, 20, 40);
    check_order(SNW_RULE_SPECTRAL, 8, 12, 20);
}

// The library's estimate of the geometry error is within a factor of ten of the true one.
static void geometry_error_is_estimated(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        for (int magnus = 2; magnus <= 6; magnus += 2) {
            double e[KINDS];
            const along rule = {SNW_RULE_MAGNUS, magnus};
            errors_of(rule, 20, seed, e);
            robot r;
            trial t;
            make_moving_rod(&r, &t, rule, 20, seed);
            const double estimate = snw_geometry_error(t.m, t.s->q, 0);
            assert_true(estimate >= 0.1 * e[TIP] && estimate <= 10 * e[TIP]);
            trial_close(&t);
            robot_free(&r);
        }
    }
}

// ---- functions ----------------------------------------------------------------------------------

typedef struct beam {
    double gamma; // weight L^3 / EI
    double soft;  // EI / (EA L^2) = EI / (GA L^2); 0: inextensible
    int n;        // functions per strain
    snw_basis_kind kind;
} beam;

// Static equilibrium of a heavy cantilever of length 1 and EI 1; tip position, and if asked its
// bending field at five stations.
static snw_vec3 hang(const beam *b, double *field) {
    robot r;
    trial t;
    robot_init(&r, 1, 1);
    snw_section_desc *s = &r.link[0].rod.section;
    *s = (snw_section_desc){
        .kind = SNW_SECTION_NONE, .stiffness_given = true, .inertia_given = true};
    for (int i = 0; i < 3; i++) {
        s->stiffness[7 * i] = number(&r, 1);
        s->stiffness[21 + 7 * i] = number(&r, b->soft > 0 ? 1 / b->soft : 1);
    }
    r.link[0].rod.material = NULL;
    r.link[0].rod.magnus = 6;
    r.link[0].rod.nodes = 64;
    robot_strain(&r, 0, SNW_BEND_Z, b->kind, b->n);
    if (b->soft > 0) {
        robot_strain(&r, 0, SNW_STRETCH, b->kind, b->n);
        robot_strain(&r, 0, SNW_SHEAR_Y, b->kind, b->n);
    }
    r.load[r.desc.nload++] = (snw_load_desc){.name = "weight", .along = true, .on = {.link = 0}};
    r.load[0].force[1] = number(&r, -b->gamma);
    trial_open(&t, &r.desc);
    (void)trial_settle(&t);
    const snw_vec3 p = trial_end(&t, 0).p;
    for (int i = 0; field && i < 5; i++) {
        field[i] = snw_rod_strain(&t.m->rod[0], t.s->q, 0, 0.25 * i).e[SNW_BEND_Z];
    }
    trial_close(&t);
    robot_free(&r);
    return p;
}

static double error_against_shooting(const beam *b) {
    const oracle_planar p = {
        .L = 1, .EI = 1, .stretch = b->soft, .shear = b->soft, .weight = b->gamma};
    const oracle_planar_tip tip = oracle_planar_solve(&p, -0.5);
    const snw_vec3 got = hang(b, NULL);
    return hypot(got.x - tip.x, got.y - tip.y);
}

// Each additional function divides the error by a factor, until rounding: geometric, not a power of
// n.
static void functions_converge_spectrally(void **state) {
    (void)state;
    const double soft[2] = {0, 1e-2};
    for (int k = 0; k < 2; k++) {
        double e[11];
        for (int n = 2; n <= 10; n += 2) {
            const beam b = {.gamma = 5, .soft = soft[k], .n = n, .kind = SNW_BASIS_LEGENDRE};
            e[n] = error_against_shooting(&b);
            if (n > 2) assert_true(e[n] <= e[n - 2] / 4); // odd and even functions matter unequally
        }
        // on average a factor of ten per function: a power n^-p would need p > 11
        assert_true(pow(e[2] / e[10], 1.0 / 8) >= 10);
        assert_true(e[10] <= 1e-12);
    }
}

// Piecewise functions of degree p converge as a power of the number of elements: 2 p + 2 in the
// tip.
static void elements_converge_with_twice_their_order(void **state) {
    (void)state;
    const snw_basis_kind kind[] = {SNW_BASIS_CONSTANT, SNW_BASIS_LINEAR, SNW_BASIS_CUBIC};
    const int elements[] = {16, 8, 4}, degree[] = {0, 1, 3};
    for (int k = 0; k < 3; k++) {
        const beam coarse = {.gamma = 5, .n = elements[k], .kind = kind[k]};
        const beam fine = {.gamma = 5, .n = 2 * elements[k], .kind = kind[k]};
        const double a = error_against_shooting(&coarse), b = error_against_shooting(&fine);
        assert_true(log2(a / b) >= 2 * degree[k] + 2 - 0.25); // approached from either side
    }
}

// ---- limits and equal spaces --------------------------------------------------------------------

// With growing stiffness in stretch and shear the difference from the inextensible rod is
// proportional to the compliance.
static void kirchhoff_is_the_limit_of_cosserat(void **state) {
    (void)state;
    const beam limit = {.gamma = 5, .n = 8, .kind = SNW_BASIS_LEGENDRE};
    const snw_vec3 p = hang(&limit, NULL);
    double last = 0;
    for (int k = 2; k <= 6; k++) {
        const beam b = {.gamma = 5, .soft = pow(10, -k), .n = 8, .kind = SNW_BASIS_LEGENDRE};
        const double e = snw_norm(snw_sub(hang(&b, NULL), p));
        // order one; the next term is of the relative size of the compliance itself
        if (k > 2) assert_true(fabs(log10(last / e) - 1) <= 5 * pow(10, 1 - k));
        last = e;
    }
    assert_true(last < 1e-5);
}

static void bases_of_equal_degree_give_equal_results(void **state) {
    (void)state;
    const snw_basis_kind kind[] = {SNW_BASIS_LEGENDRE, SNW_BASIS_CHEBYSHEV, SNW_BASIS_MONOMIAL};
    for (int n = 3; n <= 7; n += 2) {
        double field[3][5];
        snw_vec3 p[3];
        for (int k = 0; k < 3; k++) {
            const beam b = {.gamma = 10, .soft = 1e-2, .n = n, .kind = kind[k]};
            p[k] = hang(&b, field[k]);
        }
        for (int k = 1; k < 3; k++) {
            // rounding times the condition number of the stiffness: 1e2, and 1e8 of seven monomials
            const double tol = kind[k] == SNW_BASIS_MONOMIAL ? 1e-9 : 1e-12;
            assert_true(oracle_distance(3, p[k].e, p[0].e) <= tol);
            assert_true(oracle_distance(5, field[k], field[0]) <= tol * 10);
        }
    }
}

// one cubic element spans the same space as well
static void one_element_is_a_polynomial(void **state) {
    (void)state;
    const beam a = {.gamma = 10, .soft = 1e-2, .n = 4, .kind = SNW_BASIS_LEGENDRE};
    const beam b = {.gamma = 10, .soft = 1e-2, .n = 1, .kind = SNW_BASIS_CUBIC};
    double field[2][5];
    const snw_vec3 p = hang(&a, field[0]), q = hang(&b, field[1]);
    assert_true(oracle_distance(3, p.e, q.e) <= 1e-12);
    assert_true(oracle_distance(5, field[0], field[1]) <= 1e-11);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(magnus_converges_with_its_order),
        cmocka_unit_test(other_rules_converge_with_theirs),
        cmocka_unit_test(geometry_error_is_estimated),
        cmocka_unit_test(functions_converge_spectrally),
        cmocka_unit_test(elements_converge_with_twice_their_order),
        cmocka_unit_test(kirchhoff_is_the_limit_of_cosserat),
        cmocka_unit_test(bases_of_equal_degree_give_equal_results),
        cmocka_unit_test(one_element_is_a_polynomial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
