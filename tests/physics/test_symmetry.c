// SPDX-License-Identifier: MIT
//
// Symmetries of mass and stiffness matrices, on random rods. theory.md 3, 4
#include "oracle/linear.h"

#include "math/quadrature.h"
#include "near.h"
#include "random_trial.h"
#include "solve/dense.h"

// More nodes than functions: a rule of three points resolves at most three functions of a strain.
enum { ROBOTS = 24, NODES = 24 };

static double at(const double *A, int n, int i, int j) {
    return A[(size_t)j * (size_t)n + (size_t)i];
}

// The same with loads that have a potential: concentrated and distributed dead forces.
static void open_potential(robot *r, trial *t, dice *d, snw_joint_kind joint) {
    robot_random(r, d, joint, false);
    for (int i = 0; i < r->desc.nload; i++) {
        r->load[i].body = false;
        for (int k = 0; k < 3; k++) r->load[i].torque[k] = NULL;
    }
    trial_open(t, &r->desc);
    state_random(t->m, d, t->s);
    trial_at(t, t->s->t);
}

static void check_mass(uint64_t seed, snw_joint_kind joint) {
    dice d = {seed};
    for (int k = 0; k < ROBOTS; k++) {
        robot r;
        trial t;
        open_random(&r, &t, &d, joint, false, NODES);
        const int n = t.m->nv;
        double *M = oracle_alloc((size_t)n * (size_t)n, sizeof *M);
        snw_mass_matrix(t.m, t.in, t.s, t.w, M);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++) assert_true(at(M, n, i, j) == at(M, n, j, i));
        }
        // Twice the kinetic energy is v' M v.
        snw_kinematics(t.m, t.in, t.s, false, t.w);
        double vMv = 0;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) vMv += t.s->v[i] * at(M, n, i, j) * t.s->v[j];
        }
        // Sums of squares: rounding only.
        assert_near(vMv / (2 * snw_kinetic_energy(t.m, t.w)), 1, 1e-12);
        assert_int_equal(snw_cholesky_factor(n, M), SNW_OK);
        free(M);
        close_random(&r, &t);
    }
}

static void mass_is_symmetric_to_the_last_bit_and_positive_clamped(void **state) {
    (void)state;
    check_mass(41, SNW_JOINT_FIXED);
}

static void mass_is_symmetric_to_the_last_bit_and_positive_free(void **state) {
    (void)state;
    check_mass(42, SNW_JOINT_FREE);
}

static void stiffness_of_potential_loads_is_symmetric(void **state) {
    (void)state;
    dice d = {43};
    for (int k = 0; k < ROBOTS; k++) {
        robot r;
        trial t;
        open_potential(&r, &t, &d, SNW_JOINT_FIXED);
        const int n = t.m->nv;
        double *K = trial_tangent(&t, true, 1, 0, 0);
        const double size = oracle_size((size_t)n * (size_t)n, K);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++) {
                // Second derivatives summed in another order: rounding.
                assert_true(fabs(at(K, n, i, j) - at(K, n, j, i)) <= 1e-13 * size);
            }
        }
        free(K);
        close_random(&r, &t);
    }
}

// A follower torque and a follower force have no potential: the test above detects it.
static void stiffness_of_follower_loads_is_not_symmetric(void **state) {
    (void)state;
    dice d = {44};
    robot r;
    trial t;
    robot_random_single(&r, &d, SNW_JOINT_FIXED, false, 4, 8);
    for (int i = 0; i < 6; i++) r.link[0].rod.active[i] = false;
    robot_strain(&r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 3);
    robot_strain(&r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 3);
    for (int i = 0; i < r.desc.nload; i++) r.load[i].body = true;
    trial_open(&t, &r.desc);
    state_random(t.m, &d, t.s);
    double *K = trial_tangent(&t, true, 1, 0, 0), skew = 0;
    const int n = t.m->nv;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) skew = fmax(skew, fabs(at(K, n, i, j) - at(K, n, j, i)));
    }
    assert_true(skew > 1e-3 * oracle_size((size_t)n * (size_t)n, K));
    free(K);
    close_random(&r, &t);
}

// Rows of the base: K_0q = K_q0', and K_00 - K_00' = coad(R_0), since trivialised second
// derivatives do not commute there.
static void stiffness_of_a_free_base_has_the_skew_part_of_its_residual(void **state) {
    (void)state;
    dice d = {45};
    for (int k = 0; k < ROBOTS; k++) {
        robot r;
        trial t;
        open_potential(&r, &t, &d, SNW_JOINT_FREE);
        const int n = t.m->nv, f = t.m->block[0].dof;
        double *K = trial_tangent(&t, true, 1, 0, 0);
        const double tol = 1e-13 * oracle_size((size_t)n * (size_t)n, K);
        snw_wrench R0;
        for (int i = 0; i < 6; i++) R0.e[i] = t.w->r[f + i];
        for (int j = 0; j < 6; j++) {
            snw_twist e = {0};
            e.e[j] = 1;
            const snw_wrench skew = snw_coad(R0, e);
            for (int i = 0; i < 6; i++) {
                const double got = at(K, n, f + i, f + j) - at(K, n, f + j, f + i);
                assert_true(fabs(got - skew.e[i]) <= tol);
            }
            for (int i = 0; i < n; i++) {
                if (i >= f && i < f + 6) continue;
                assert_true(fabs(at(K, n, i, f + j) - at(K, n, f + j, i)) <= tol);
            }
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < i; j++) {
                if (j >= f && j < f + 6 && i >= f && i < f + 6) continue;
                assert_true(fabs(at(K, n, i, j) - at(K, n, j, i)) <= tol);
            }
        }
        free(K);
        close_random(&r, &t);
    }
}

// At rest the only velocity-dependent forces are those of damping, and damping dissipates power.
static void damping_at_rest_is_the_elastic_one(void **state) {
    (void)state;
    dice d = {46};
    for (int k = 0; k < ROBOTS; k++) {
        robot r;
        trial t;
        open_random(&r, &t, &d, SNW_JOINT_FIXED, false, NODES);
        const size_t n = (size_t)t.m->nv;
        for (size_t i = 0; i < n; i++) t.s->v[i] = t.s->a[i] = 0;
        // gravity enters the recursion as an acceleration, but does not make rates matter
        double *C = trial_tangent(&t, false, 0, 1, 0), *D = oracle_alloc(n * n, sizeof *D);
        snw_elastic_matrices(t.m, NULL, D);
        assert_true(oracle_distance(n * n, C, D) <= 1e-14 * oracle_size(n * n, D));
        free(C);
        free(D);
        close_random(&r, &t);
    }
}

// 1/2 int (xi - xi0)' H (xi - xi0) of the strain field itself, by a rule of 40 points per element:
// the rods' own rule has fewer points and is also exact, with varying sections.
static void elastic_energy_is_that_of_the_strain_field(void **state) {
    (void)state;
    dice d = {47};
    for (int k = 0; k < ROBOTS; k++) {
        robot r;
        trial t;
        robot_random(&r, &d, SNW_JOINT_FIXED, false); // few nodes
        trial_open(&t, &r.desc);
        state_random(t.m, &d, t.s);
        enum { N = 40, PARTS = 6 }; // random rods have elements of a half and a third
        double x[N], w[N], sum = 0;
        snw_gauss(N, x, w);
        for (int i = 0; i < t.m->nrod * PARTS * N; i++) {
            const snw_rod *rod = &t.m->rod[i / (PARTS * N)];
            const double h = rod->L / PARTS, s = h * (i / N % PARTS + x[i % N]);
            const snw_rod_desc *desc = &r.link[rod->link].rod;
            double H[36], D[36];
            snw_inertia M;
            assert_int_equal(snw_section_at(desc, "rod", s, H, D, &M, NULL), SNW_OK);
            const snw_twist e =
                snw_twist_sub(snw_rod_strain(rod, t.s->q, 0, s), snw_rod_rest(rod, s));
            for (int c = 0; c < 36; c++) sum += 0.5 * h * w[i % N] * e.e[c / 6] * H[c] * e.e[c % 6];
        }
        assert_near(snw_elastic_energy(t.m, t.s) / sum, 1, 1e-12); // rounding
        close_random(&r, &t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_is_symmetric_to_the_last_bit_and_positive_clamped),
        cmocka_unit_test(mass_is_symmetric_to_the_last_bit_and_positive_free),
        cmocka_unit_test(stiffness_of_potential_loads_is_symmetric),
        cmocka_unit_test(stiffness_of_follower_loads_is_not_symmetric),
        cmocka_unit_test(stiffness_of_a_free_base_has_the_skew_part_of_its_residual),
        cmocka_unit_test(damping_at_rest_is_the_elastic_one),
        cmocka_unit_test(elastic_energy_is_that_of_the_strain_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
