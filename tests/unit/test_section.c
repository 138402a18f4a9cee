// SPDX-License-Identifier: MIT
//
// Cross-sections against integrals over their area: area and second moments as sums over strips
// between contour and bore, derivatives along the rod by differences, points inside and outside.
#include "model/section_kind.h"

#include "near.h"

#include <math.h>
#include <string.h>

// Sizes of each kind, as functions of s.
static void sizes_at(int kind, double s, double size[SNW_SECTION_SIZES]) {
    for (int i = 0; i < SNW_SECTION_SIZES; i++) size[i] = 0;
    size[0] = 0.03 * (1 + 0.2 * s + 0.1 * s * s);
    if (snw_section_table[kind].nsize > 1) size[1] = 0.02 * (1 - 0.3 * s);
    if (snw_section_table[kind].nsize > 2) size[2] = 0.012 * (1 + 0.1 * s * s);
}

// value[0..2] <- integrals of 1, z^2, y^2 over a contour with half widths a and b, by the midpoint
// rule in t with y = a sin t, so that the strips shrink towards the ends.
static void integrate(bool rectangle, double a, double b, double value[3]) {
    enum { STRIPS = 4000 };
    value[0] = value[1] = value[2] = 0;
    for (int k = 0; k < STRIPS; k++) {
        const double t = ((k + 0.5) / STRIPS - 0.5) * M_PI, y = a * sin(t);
        const double dy = a * cos(t) * M_PI / STRIPS, half = rectangle ? b : b * cos(t);
        value[0] += 2 * half * dy;
        value[1] += 2 * half * half * half / 3 * dy;
        value[2] += 2 * half * y * y * dy;
    }
}

static void moments_are_integrals_over_the_area(void **state) {
    (void)state;
    for (int kind = SNW_SECTION_NONE + 1; kind < SNW_SECTION_GIVEN; kind++) {
        double size[SNW_SECTION_SIZES], outer[3], bore[3];
        snw_jet jet[SNW_SECTION_SIZES] = {0};
        sizes_at(kind, 0.4, size);
        int wrong;
        assert_null(snw_section_table[kind].fault(size, &wrong));
        for (int i = 0; i < SNW_SECTION_SIZES; i++) jet[i].v = size[i];
        const snw_section_moments m = snw_section_moments_of((snw_section_kind)kind, jet);
        const snw_section_contour c = snw_section_contour_of((snw_section_kind)kind, size);
        const bool rectangle = snw_section_table[kind].rectangle;
        integrate(rectangle, c.half[0], c.half[1], outer);
        integrate(rectangle, c.hole * c.half[0], c.hole * c.half[1], bore);
        assert_near(m.A.v, outer[0] - bore[0], 1e-6 * m.A.v);
        assert_near(m.I[1].v, outer[1] - bore[1], 1e-6 * m.I[1].v);
        assert_near(m.I[2].v, outer[2] - bore[2], 1e-6 * m.I[2].v);
        assert_near(m.I[0].v, m.I[1].v + m.I[2].v, 1e-15 * m.I[0].v);
    }
}

// Derivatives of the sizes at s = 0.4, and those of the moments by differences of fourth order.
static void moments_have_derivatives_along_the_rod(void **state) {
    (void)state;
    const double h = 1e-3, s = 0.4;
    for (int kind = SNW_SECTION_NONE + 1; kind < SNW_SECTION_GIVEN; kind++) {
        snw_jet jet[SNW_SECTION_SIZES];
        snw_section_moments at[5];
        double size[5][SNW_SECTION_SIZES];
        for (int k = 0; k < 5; k++) {
            sizes_at(kind, s + (k - 2) * h, size[k]);
            for (int i = 0; i < SNW_SECTION_SIZES; i++) jet[i] = (snw_jet){.v = size[k][i]};
            at[k] = snw_section_moments_of((snw_section_kind)kind, jet);
        }
        for (int i = 0; i < SNW_SECTION_SIZES; i++) {
            const double f[5] = {size[0][i], size[1][i], size[2][i], size[3][i], size[4][i]};
            jet[i].v = f[2]; // differences of quadratic functions are exact
            jet[i].d = (f[3] - f[1]) / (2 * h);
            jet[i].dd = (f[3] - 2 * f[2] + f[1]) / (h * h);
        }
        const snw_section_moments m = snw_section_moments_of((snw_section_kind)kind, jet);
        const snw_jet got[] = {m.A, m.I[0], m.I[1], m.I[2], m.torsion};
        for (int q = 0; q < 5; q++) {
            double f[5];
            for (int k = 0; k < 5; k++)
                f[k] = q == 4 ? at[k].torsion.v : q ? at[k].I[q - 1].v : at[k].A.v;
            const double d = (f[0] - 8 * f[1] + 8 * f[3] - f[4]) / (12 * h);
            const double dd = (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / (12 * h * h);
            assert_near(got[q].d, d, 1e-10 * fabs(f[2]));
            assert_near(got[q].dd, dd, 1e-7 * fabs(f[2]));
        }
    }
}

static double torsion_of(snw_section_kind kind, double y, double z) {
    const snw_jet size[SNW_SECTION_SIZES] = {{.v = y}, {.v = z}};
    return snw_section_moments_of(kind, size).torsion.v;
}

// Timoshenko and Goodier, Theory of Elasticity, table 7: J = k1 a b^3 of a rectangle by a/b; and
// the series itself, summed without rearrangement.
static void rectangles_have_the_tabled_torsion_constant(void **state) {
    (void)state;
    const double table[][2] = {{1, 0.1406}, {1.2, 0.166}, {1.5, 0.196}, {2, 0.229}, {2.5, 0.249},
                               {3, 0.263},  {4, 0.281},   {5, 0.291},   {10, 0.312}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const double a = 0.03 * table[i][0], b = 0.03;
        const double J = torsion_of(SNW_SECTION_RECTANGLE, a, b);
        assert_near(J / (a * b * b * b), table[i][1], i ? 6e-4 : 6e-5);
        double sum = 0;
        for (int n = 1999; n > 0; n -= 2) sum += tanh(0.5 * n * M_PI * a / b) / pow(n, 5);
        assert_near(J, a * b * b * b * (1.0 / 3 - 64 / pow(M_PI, 5) * b / a * sum), 1e-13 * J);
        // the sides may be exchanged, and warping always softens
        assert_near(torsion_of(SNW_SECTION_RECTANGLE, b, a), J, 1e-15 * J);
        assert_true(J < a * b * (a * a + b * b) / 12);
    }
}

static void ellipses_have_the_torsion_constant_of_saint_venant(void **state) {
    (void)state;
    for (double a = 0.01; a < 0.1; a *= 1.5) {
        const double b = 0.02, J = torsion_of(SNW_SECTION_ELLIPSE, 2 * a, 2 * b);
        assert_near(J, M_PI * pow(a * b, 3) / (a * a + b * b), 1e-14 * J);
    }
    const double r = 0.01;
    assert_near(torsion_of(SNW_SECTION_ELLIPSE, 2 * r, 2 * r), torsion_of(SNW_SECTION_CIRCLE, r, 0),
                1e-22);
}

// Between two similar ellipses: that of the solid one less that of the bore; a round one is a tube.
static void an_elliptic_tube_has_the_difference_of_two_ellipses(void **state) {
    (void)state;
    const double k = 0.7, y = 0.05, z = 0.03, r = 0.02;
    const snw_jet size[SNW_SECTION_SIZES] = {{.v = y}, {.v = z}, {.v = k * y}};
    const double J = snw_section_moments_of(SNW_SECTION_ELLIPTIC_TUBE, size).torsion.v;
    const double solid = torsion_of(SNW_SECTION_ELLIPSE, y, z);
    assert_near(J, solid - torsion_of(SNW_SECTION_ELLIPSE, k * y, k * z), 1e-14 * solid);
    const snw_jet round[SNW_SECTION_SIZES] = {{.v = 2 * r}, {.v = 2 * r}, {.v = 2 * k * r}};
    const snw_section_moments m = snw_section_moments_of(SNW_SECTION_ELLIPTIC_TUBE, round);
    const snw_jet radii[SNW_SECTION_SIZES] = {{.v = r}, {.v = k * r}};
    const snw_section_moments tube = snw_section_moments_of(SNW_SECTION_TUBE, radii);
    assert_near(m.A.v, tube.A.v, 1e-14 * tube.A.v);
    assert_near(m.I[1].v, tube.I[1].v, 1e-14 * tube.I[1].v);
    assert_near(m.torsion.v, tube.torsion.v, 1e-14 * tube.torsion.v);
}

// Torsion constant of a square of side a from Prandtl's stress function on n x n cells:
// phi_yy + phi_zz = -2, zero on the rim, J = 2 x its integral. Differences of second order.
static double prandtl(double a, int n) {
    enum { MOST = 48 };
    static double phi[MOST + 1][MOST + 1];
    const double h = a / n, over = 2 / (1 + sin(M_PI / n)); // relaxation factor
    double J = 0;
    assert_true(n <= MOST);
    memset(phi, 0, sizeof phi);
    for (int sweep = 0; sweep < 8 * n; sweep++) {
        for (int i = 1; i < n; i++) {
            for (int j = 1; j < n; j++) {
                const double mean = 0.25 * (phi[i - 1][j] + phi[i + 1][j] + phi[i][j - 1] +
                                            phi[i][j + 1] + 2 * h * h);
                phi[i][j] += over * (mean - phi[i][j]);
            }
        }
    }
    for (int i = 1; i < n; i++) {
        for (int j = 1; j < n; j++) J += 2 * phi[i][j] * h * h;
    }
    return J;
}

static void torsion_constants_are_those_of_a_stress_function(void **state) {
    (void)state;
    const double a = 0.03, J = (4 * prandtl(a, 48) - prandtl(a, 24)) / 3; // error of order four
    assert_near(torsion_of(SNW_SECTION_RECTANGLE, a, a), J, 1e-5 * J);
}

static void points_are_inside_or_outside(void **state) {
    (void)state;
    for (int kind = SNW_SECTION_NONE + 1; kind < SNW_SECTION_GIVEN; kind++) {
        const snw_section_kind k = (snw_section_kind)kind;
        double size[SNW_SECTION_SIZES];
        sizes_at(kind, 0, size);
        const snw_section_contour c = snw_section_contour_of(k, size);
        const bool rectangle = snw_section_table[kind].rectangle;
        for (int i = 0; i < 40; i++) {
            const double t = 2 * M_PI * i / 40, y = c.half[0] * cos(t), z = c.half[1] * sin(t);
            assert_true(snw_section_contains(k, size, y, z));
            assert_true(snw_section_contains(k, size, 0.999 * y, 0.999 * z));
            if (!rectangle) assert_false(snw_section_contains(k, size, 1.001 * y, 1.001 * z));
        }
        // the corner of the enclosing rectangle
        assert_int_equal(snw_section_contains(k, size, c.half[0], c.half[1]), rectangle);
        assert_false(snw_section_contains(k, size, 1.001 * c.half[0], 0));
        assert_false(snw_section_contains(k, size, 0, 1.001 * c.half[1]));
        // a rod may end in a point
        const double nothing[SNW_SECTION_SIZES] = {0};
        assert_true(snw_section_contains(k, nothing, 0, 0));
        assert_false(snw_section_contains(k, nothing, 1e-6, 0));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_integrals_over_the_area),
        cmocka_unit_test(moments_have_derivatives_along_the_rod),
        cmocka_unit_test(rectangles_have_the_tabled_torsion_constant),
        cmocka_unit_test(ellipses_have_the_torsion_constant_of_saint_venant),
        cmocka_unit_test(an_elliptic_tube_has_the_difference_of_two_ellipses),
        cmocka_unit_test(torsion_constants_are_those_of_a_stress_function),
        cmocka_unit_test(points_are_inside_or_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
