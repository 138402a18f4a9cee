// SPDX-License-Identifier: MIT
//
// Frequencies of the straight rod, from mass and stiffness, against beam theory; flutter load of
// Beck's column against the double root of its frequency equation. references.md B4.9
#include "oracle/closed.h"
#include "oracle/linear.h"
#include "oracle/trial.h"

#include "base/alloc.h"
#include "near.h"
#include "random_rod.h"
#include "solve/dense.h"

static const double L = 2, EI = 3, GA = 150, rhoA = 0.7;

// a cantilever given by its stiffness and inertia
static void beam(robot *r, double rhoI, int magnus, int nodes) {
    robot_init(r, L, 1);
    snw_section_desc *s = &r->link[0].rod.section;
    *s = (snw_section_desc){
        .kind = SNW_SECTION_NONE, .stiffness_given = true, .inertia_given = true};
    for (int i = 0; i < 3; i++) {
        s->stiffness[7 * i] = number(r, EI);
        s->stiffness[21 + 7 * i] = number(r, GA);
        s->inertia[7 * i] = number(r, rhoI);
        s->inertia[21 + 7 * i] = number(r, rhoA);
    }
    r->link[0].rod.material = NULL;
    r->link[0].rod.magnus = magnus;
    r->link[0].rod.nodes = nodes;
}

// eigenvalues of K x = lambda M x at the state, by increasing real part
static void eigenvalues(trial *t, double *re, double *im) {
    const int n = t->m->nv;
    double *K = trial_tangent(t, true, 1, 0, 0);
    double *M = oracle_alloc((size_t)n * (size_t)n, sizeof *M);
    snw_mass_matrix(t->m, t->in, t->s, t->w, M);
    const size_t size = snw_eigen_general_scratch(n);
    snw_arena scratch = {.base = snw_alloc(size), .size = size};
    assert_int_equal(snw_eigen_general(n, K, M, &scratch, re, im), SNW_OK);
    snw_free(scratch.base);
    free(K);
    free(M);
    for (int i = 1; i < n; i++) {
        for (int j = i; j > 0 && re[j] < re[j - 1]; j--) {
            const double a = re[j], b = im[j];
            re[j] = re[j - 1], im[j] = im[j - 1];
            re[j - 1] = a, im[j - 1] = b;
        }
    }
}

enum { MOST = 64 };

static void slender_rod_vibrates_as_euler_and_bernoulli_say(void **state) {
    (void)state;
    robot r;
    trial t;
    beam(&r, 0, 6, 96);
    robot_strain(&r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 16);
    trial_open(&t, &r.desc);
    double re[MOST], im[MOST];
    eigenvalues(&t, re, im);
    for (int i = 1; i <= 5; i++) {
        const double beta = oracle_cantilever_beta(i);
        const double want = beta * beta * sqrt(EI / (rhoA * L * L * L * L));
        assert_true(im[i - 1] == 0);
        // 16 functions for two waves and a quarter, 96 nodes of order 6
        assert_near(sqrt(re[i - 1]) / want, 1, 1e-9);
    }
    trial_close(&t);
    robot_free(&r);
}

// references.md G7.1, check 1: soft, stiff-A and stiff-B without gravity, five functions, 20 nodes
static void cantilevers_have_the_frequencies_of_the_thesis(void **state) {
    (void)state;
    static const struct {
        double length, diameter, young, density, hertz, half_digit;
    } rods[] = {{10, 0.01, 1e11, 7800, 0.0501, 5e-5},
                {0.4, 0.002, 2e11, 8000, 8.74, 5e-3},
                {0.4, 0.002, 2e9, 8000, 0.874, 5e-4}};
    for (int k = 0; k < 3; k++) {
        robot r;
        trial t;
        robot_init(&r, rods[k].length, rods[k].diameter / 2);
        r.material.young = number(&r, rods[k].young);
        r.material.density = number(&r, rods[k].density);
        r.link[0].rod.nodes = 20;
        robot_strain(&r, 0, SNW_BEND_Z, SNW_BASIS_CHEBYSHEV, 5);
        trial_open(&t, &r.desc);
        double re[MOST], im[MOST];
        eigenvalues(&t, re, im);
        const double pi = acos(-1.0), first = sqrt(re[0]) / (2 * pi),
                     beta = oracle_cantilever_beta(1);
        // a circle of diameter d: EI/(rho A) = E d^2/(16 rho)
        const double want = beta * beta / (2 * pi * rods[k].length * rods[k].length) *
                            rods[k].diameter / 4 * sqrt(rods[k].young / rods[k].density);
        assert_true(fabs(want - rods[k].hertz) <= rods[k].half_digit);
        assert_near(first / want, 1, 1e-4); // the bound given there
        trial_close(&t);
        robot_free(&r);
    }
}

// the digits of the specification
static void betas_of_the_cantilever(void **state) {
    (void)state;
    const double beta[4] = {1.8751040687, 4.6940911330, 7.8547574382, 10.9955407349};
    for (int i = 0; i < 4; i++) assert_near(oracle_cantilever_beta(i + 1), beta[i], 6e-11);
}

// bending and shear in a plane
static void cosserat_rod_vibrates_as_timoshenko_says(void **state) {
    (void)state;
    const double rhoI = 0.01;
    robot r;
    trial t;
    beam(&r, rhoI, 6, 96);
    robot_strain(&r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 16);
    robot_strain(&r, 0, SNW_SHEAR_Y, SNW_BASIS_LEGENDRE, 16);
    trial_open(&t, &r.desc);
    double re[MOST], im[MOST];
    eigenvalues(&t, re, im);
    for (int i = 1; i <= 4; i++) {
        const double want = oracle_timoshenko(i, L, EI, GA, rhoA, rhoI);
        const double slender = oracle_cantilever_beta(i);
        assert_near(sqrt(re[i - 1]) / want, 1, 1e-9); // functions and nodes as above
        // the difference from the slender beam is significant
        assert_true(want < 0.995 * slender * slender * sqrt(EI / (rhoA * L * L * L * L)));
    }
    trial_close(&t);
    robot_free(&r);
}

// stretch and twist: quarter waves
static void rod_stretches_and_twists_in_quarter_waves(void **state) {
    (void)state;
    const double rhoI = 0.01;
    const int component[2] = {SNW_STRETCH, SNW_TWIST};
    const double speed[2] = {sqrt(GA / rhoA), sqrt(EI / rhoI)};
    for (int k = 0; k < 2; k++) {
        robot r;
        trial t;
        beam(&r, rhoI, 6, 48);
        robot_strain(&r, 0, component[k], SNW_BASIS_CHEBYSHEV, 14);
        trial_open(&t, &r.desc);
        double re[MOST], im[MOST];
        eigenvalues(&t, re, im);
        for (int i = 0; i < 3; i++) {
            const double want = (2 * i + 1) * M_PI * speed[k] / (2 * L);
            assert_near(sqrt(re[i]) / want, 1, 1e-9);
        }
        trial_close(&t);
        robot_free(&r);
    }
}

// six motions of a free rod have zero stiffness
static void free_rod_has_six_rigid_motions(void **state) {
    (void)state;
    robot r;
    trial t;
    beam(&r, 0.01, 6, 32);
    r.link[0].joint = SNW_JOINT_FREE;
    for (int i = 0; i < 6; i++) robot_strain(&r, 0, i, SNW_BASIS_LEGENDRE, 5);
    trial_open(&t, &r.desc);
    double re[MOST], im[MOST];
    eigenvalues(&t, re, im);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(re[i]) <= 1e-9 * re[6]); // rounding of the matrices
    assert_true(re[6] > 0);
    trial_close(&t);
    robot_free(&r);
}

// ---- Beck's column ------------------------------------------------------------------------------

// whether the two lowest frequencies have coalesced, under a follower compression p EI / L^2
static bool flutters(trial *t, double p, double *omega2) {
    double re[MOST], im[MOST];
    trial_at(t, p * EI / (L * L));
    eigenvalues(t, re, im);
    *omega2 = re[0];
    return im[0] != 0;
}

static void becks_column_flutters_at_its_load(void **state) {
    (void)state;
    double omega;
    const double want = oracle_beck_load(&omega);
    assert_near(want, 20.0509536190, 6e-12); // the digits of the specification
    assert_near(omega, 11.01556, 6e-7);
    robot r;
    trial t;
    beam(&r, 0, 6, 60);
    robot_strain(&r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 12);
    r.load[r.desc.nload++] = (snw_load_desc){.name = "push", .on = link_end(0), .body = true};
    r.load[0].force[0] = law(&r, "-t");
    trial_open(&t, &r.desc);
    double low = 15, high = 25, omega2;
    while (high - low > 1e-11) {
        const double p = 0.5 * (low + high);
        if (flutters(&t, p, &omega2)) {
            high = p;
        } else {
            low = p;
        }
    }
    // 12 functions, 60 nodes of order 6; at the double root the rounding of the matrices is a
    // rounding of the load
    assert_near(low, want, 1e-8);
    // the frequency there is known only to the square root of that
    (void)flutters(&t, low, &omega2);
    assert_near(sqrt(omega2 * rhoA * L * L * L * L / EI), omega, 1e-3);
    trial_close(&t);
    robot_free(&r);
}

// the column of the specification's prototype: 8 functions, Magnus 4, 16 nodes
static void becks_column_is_near_with_few_nodes(void **state) {
    (void)state;
    robot r;
    trial t;
    beam(&r, 0, 4, 16);
    robot_strain(&r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 8);
    r.load[r.desc.nload++] = (snw_load_desc){.name = "push", .on = link_end(0), .body = true};
    r.load[0].force[0] = law(&r, "-t");
    trial_open(&t, &r.desc);
    double omega2;
    assert_false(flutters(&t, 20.05535, &omega2)); // 20.0554, the digits there
    assert_true(flutters(&t, 20.05545, &omega2));
    trial_close(&t);
    robot_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(betas_of_the_cantilever),
        cmocka_unit_test(cantilevers_have_the_frequencies_of_the_thesis),
        cmocka_unit_test(slender_rod_vibrates_as_euler_and_bernoulli_say),
        cmocka_unit_test(cosserat_rod_vibrates_as_timoshenko_says),
        cmocka_unit_test(rod_stretches_and_twists_in_quarter_waves),
        cmocka_unit_test(free_rod_has_six_rigid_motions),
        cmocka_unit_test(becks_column_flutters_at_its_load),
        cmocka_unit_test(becks_column_is_near_with_few_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
