// SPDX-License-Identifier: MIT
//
// Laws of sections: hyperelastic fibres against closed forms and integrals by an independent
// program, tables, and the strains at which a law fails.
#include "model/desc.h"
#include "model/section_law.h"
#include "near.h"

static const bool planar[6] = {[SNW_TWIST] = true, [SNW_BEND_Z] = true, [SNW_STRETCH] = true};
static const bool all[6] = {true, true, true, true, true, true};

static const snw_hyperelastic neo = {.n = 1, .mu = {1e5}, .alpha = {2}};
static const snw_hyperelastic mooney = {.n = 2, .mu = {8e4, -2e4}, .alpha = {2, -2}};
static const snw_hyperelastic ogden = {.n = 3, .mu = {1.2e5, 200, -1.8e4}, .alpha = {1.3, 5, -2}};

// Square of side 2 half, or circle of radius half.
static snw_section_response respond(const snw_hyperelastic *h, bool square, const bool active[6],
                                    const double e[6]) {
    snw_section_law law = {.fibre = *h, .rectangle = square};
    const snw_section_law_point p = {.L = 1, .half = {0.01, 0.01}};
    snw_section_response r;
    double value;
    int component;
    snw_section_law_prepare(&law);
    assert_int_equal(snw_section_law_at(&law, &p, active, e, SNW_WANT_ENERGY | SNW_WANT_TANGENT, &r,
                                        &value, &component),
                     SNW_SECTION_OK);
    return r;
}

// Nominal stresses of uniaxial tension; the table of an independent program, closed forms.
static void fibres_have_the_stress_of_uniaxial_tension(void **state) {
    (void)state;
    static const double row[][4] = {{0.6, -217777.7778, -246814.8148, -242313.5021},
                                    {0.8, -76250, -80062.5, -78694.69392},
                                    {1.2, 50555.55556, 48870.37037, 45814.41210},
                                    {1.5, 105555.55556, 98518.51852, 87687.02011},
                                    {2, 175000, 157500, 128432.83311},
                                    {3, 288888.88889, 250370.37037, 180790.41437}};
    const snw_hyperelastic *const of[] = {&neo, &mooney, &ogden};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        for (int k = 0; k < 3; k++) {
            assert_near(snw_hyperelastic_at(of[k], row[i][0]).P / row[i][1 + k], 1, 1e-9);
        }
    }
    assert_near(snw_hyperelastic_young(&neo), 3e5, 1e-9);
    assert_near(snw_hyperelastic_young(&mooney), 3e5, 1e-9);
    assert_near(snw_hyperelastic_young(&ogden), 289500, 1e-9);
}

static void sections_have_the_stress_and_tangent_of_their_fibres(void **state) {
    (void)state;
    // coupled points of a circle of 10 mm, l0 = 1.3, kappa 20: N, M, N_l, N_k, M_k
    static const double circle[3][5] = {
        {21.91476482, 0.03035355767, 61.06109701, -0.03434211272, 0.001553076050},
        {20.85048011, 0.02771705741, 55.85591790, -0.03825375217, 0.001428033179},
        {19.13287411, 0.02394275495, 48.33443063, -0.04446722616, 0.001242029820}};
    const snw_hyperelastic *const of[] = {&neo, &mooney, &ogden};
    const double e[6] = {[SNW_BEND_Z] = 20, [SNW_STRETCH] = 0.3};
    for (int k = 0; k < 3; k++) {
        const snw_section_response r = respond(of[k], false, planar, e);
        assert_near(r.stress[SNW_STRETCH] / circle[k][0], 1, 1e-9);
        assert_near(r.stress[SNW_BEND_Z] / circle[k][1], 1, 1e-9);
        assert_near(r.tangent[7 * SNW_STRETCH] / circle[k][2], 1, 1e-9);
        assert_near(r.tangent[6 * SNW_STRETCH + SNW_BEND_Z] / circle[k][3], 1, 1e-9);
        assert_near(r.tangent[7 * SNW_BEND_Z] / circle[k][4], 1, 1e-9);
    }
    // square of 20 mm, l0 = 1.1, kappa 40, closed form
    const double f[6] = {[SNW_BEND_Z] = 40, [SNW_STRETCH] = 0.1};
    const snw_section_response r = respond(&neo, true, planar, f);
    assert_near(r.stress[SNW_STRETCH] / 5.904761905, 1, 1e-9);
    assert_near(r.stress[SNW_BEND_Z] / 0.1482773159, 1, 1e-9);
    assert_near(r.tangent[7 * SNW_STRETCH] / 119.8185941, 1, 1e-9);
    assert_near(r.tangent[6 * SNW_STRETCH + SNW_BEND_Z] / -0.2902494331, 1, 1e-9);
    assert_near(r.tangent[7 * SNW_BEND_Z] / 0.004567993616, 1, 1e-9);
}

// A circle bent about any axis has the same moment about it; a square as well if bent about y or z.
static void sections_know_no_preferred_axis(void **state) {
    (void)state;
    const double along[6] = {[SNW_BEND_Z] = 50, [SNW_STRETCH] = 0.1};
    const double oblique[6] = {[SNW_BEND_Y] = -30, [SNW_BEND_Z] = 40, [SNW_STRETCH] = 0.1};
    const snw_section_response a = respond(&ogden, false, all, along),
                               b = respond(&ogden, false, all, oblique);
    assert_near(b.energy / a.energy, 1, 1e-13);
    assert_near(b.stress[SNW_STRETCH] / a.stress[SNW_STRETCH], 1, 1e-12);
    assert_near(b.stress[SNW_BEND_Z] / a.stress[SNW_BEND_Z], 0.8, 1e-12);
    assert_near(b.stress[SNW_BEND_Y] / a.stress[SNW_BEND_Z], -0.6, 1e-12);
    const double about_y[6] = {[SNW_BEND_Y] = 50, [SNW_STRETCH] = 0.1};
    const snw_section_response c = respond(&neo, true, all, along),
                               f = respond(&neo, true, all, about_y);
    assert_near(f.stress[SNW_BEND_Y] / c.stress[SNW_BEND_Z], 1, 1e-13);
}

// Held at its length: the rectangle and the circle of the specification's table at kappa = 80.
static void quadrature_stands_strong_bending(void **state) {
    (void)state;
    const double e[6] = {[SNW_BEND_Z] = 80};
    const snw_section_response square = respond(&neo, true, planar, e),
                               circle = respond(&neo, false, planar, e);
    assert_near(square.stress[SNW_STRETCH] / -71.11111111, 1, 1e-9);
    assert_near(square.stress[SNW_BEND_Z] / 0.8089228751, 1, 1e-9);
    assert_near(circle.stress[SNW_STRETCH] / -34.03392041, 1, 1e-9);
    assert_near(circle.stress[SNW_BEND_Z] / 0.3900810878, 1, 1e-9);
}

static void a_crushed_fibre_has_no_stress(void **state) {
    (void)state;
    snw_section_law law = {.fibre = neo, .covers = {[SNW_BEND_Z] = true, [SNW_STRETCH] = true}};
    const snw_section_law_point p = {.L = 1, .half = {0.01, 0.01}};
    const double e[6] = {[SNW_BEND_Z] = 110, [SNW_STRETCH] = 0.05};
    snw_section_response r;
    double value;
    int component;
    snw_section_law_prepare(&law);
    assert_int_equal(snw_section_law_at(&law, &p, all, e, 0, &r, &value, &component),
                     SNW_SECTION_CRUSHED);
    assert_near(value, 1.05 - 1.1, 1e-15);
    assert_true(isnan(r.stress[SNW_BEND_Z]) && isnan(r.energy));
}

// ---- tables

static void tables_are_monotone_and_exact_at_their_samples(void **state) {
    (void)state;
    static const double x[] = {-2, -1, 0, 0.5, 3, 4}, y[] = {-5, -4, 0, 2, 2.1, 9};
    snw_pool *pool = snw_pool_create(1 << 16);
    const snw_monotone_cubic *c = snw_monotone_cubic_create(pool, 6, x, y);
    assert_non_null(c);
    for (int i = 0; i < 6; i++) assert_near(snw_monotone_cubic_at(c, x[i]).v, y[i], 1e-14);
    double sum = 0, last = y[0];
    enum { N = 6000 };
    for (int i = 0; i < N; i++) {
        const double at = -2 + 6 * (i + 0.5) / N;
        const snw_jet f = snw_monotone_cubic_at(c, at);
        assert_true(f.v >= last && f.d >= 0);
        const double h = 1e-6;
        const double slope =
            (snw_monotone_cubic_at(c, at + h).v - snw_monotone_cubic_at(c, at - h).v) / (2 * h);
        assert_near(f.d, slope, 1e-4);
        last = f.v;
        if (at > 0) sum += f.v * 6 / N;
    }
    assert_near(snw_monotone_cubic_integral(c, 4), sum, 1e-5);
    assert_near(snw_monotone_cubic_integral(c, 0), 0, 1e-15);
    assert_false(snw_monotone_cubic_covers(c, 4.0001));
    assert_false(snw_monotone_cubic_covers(c, NAN));
    snw_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fibres_have_the_stress_of_uniaxial_tension),
        cmocka_unit_test(sections_have_the_stress_and_tangent_of_their_fibres),
        cmocka_unit_test(sections_know_no_preferred_axis),
        cmocka_unit_test(quadrature_stands_strong_bending),
        cmocka_unit_test(a_crushed_fibre_has_no_stress),
        cmocka_unit_test(tables_are_monotone_and_exact_at_their_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
