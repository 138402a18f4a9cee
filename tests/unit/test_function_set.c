// SPDX-License-Identifier: MIT
//
// Strain functions given by the user: conditioning against values in closed form or computed with
// 50 digits elsewhere, breaks, one-sided values, derivatives, richer sets, refusals.
#include "math/function_set.h"

#include "math/quadrature.h"
#include "near.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static snw_pool *pool;

static int open_pool(void **state) {
    (void)state;
    pool = snw_pool_create(1 << 26);
    return pool ? 0 : -1;
}

static int close_pool(void **state) {
    (void)state;
    snw_pool_destroy(pool);
    return 0;
}

// Functions from laws of x and L, each up to a NULL.
static snw_status laws(const char *const *text, double L, snw_basis *b, snw_error *err) {
    snw_shape_function *f = snw_pool_array(pool, 20, sizeof *f);
    const snw_expr_rules rules = {.vars = SNW_VAR_X | SNW_VAR_L};
    snw_scope *scope = snw_scope_create(pool, NULL);
    int n = 0;
    for (; text[n]; n++) {
        f[n].text = text[n];
        f[n].location = (snw_source_location){"file", n + 1, 1};
        assert_int_equal(
            snw_expr_parse(pool, scope, text[n], &rules, "file", n + 1, 1, &f[n].law, err), SNW_OK);
    }
    return snw_function_set_create(pool, "bend_z", n, f, L, true, b, err);
}

static snw_basis basis_of(const char *const *text, double L) {
    snw_basis b = {0};
    snw_error err = {0};
    if (laws(text, L, &b, &err) != SNW_OK) fail_msg("%s", err.text);
    return b;
}

// ---- conditioning ------------------------------------------------------------------------------

// Smallest eigenvalue and condition number of Gram matrices, specification 1.2; the digits shown
// are those of the source.
static void gram_matrices_have_the_known_eigenvalues(void **state) {
    (void)state;
    static const struct {
        const char *text[6];
        double smallest, condition, digits;
    } row[] = {{{"1", "exp(-x/L)"}, 3.862894e-2, 5.077465e1, 5e-7},
               {{"1", "x/L", "exp(-x/L)"}, 3.670251e-4, 7.320902e3, 5e-7},
               {{"1", "x/L", "(x/L)^2", "exp(-x/L)"}, 2.178565e-6, 1.560378e6, 5e-7},
               {{"1", "exp(-x/L)", "exp(-1.001*x/L)"}, 6.030e-10, 4.890e9, 5e-4}};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 2; k++) { // any length
            const snw_basis b = basis_of(row[i].text, k ? 0.37 : 1);
            assert_near(b.set->smallest, row[i].smallest, row[i].digits * row[i].smallest);
            assert_near(b.set->condition, row[i].condition, row[i].digits * row[i].condition);
            assert_true((b.set->smallest < SNW_FUNCTION_SET_NEARLY) == (i == 3));
        }
    }
    // the size of a function does not matter
    static const char *const large[] = {"1", "1e6*exp(-x/L)", NULL};
    assert_near(basis_of(large, 1).set->smallest, 3.862894e-2, 5e-7 * 4e-2);
}

static void dependent_functions_are_refused_by_name(void **state) {
    (void)state;
    static const char *const text[] = {"1", "cos(x/L)^2", "cos(2*x/L)", NULL};
    snw_basis b;
    snw_error err = {0};
    assert_int_equal(laws(text, 1, &b, &err), SNW_E_PARSE);
    assert_non_null(strstr(err.text, "depends on the others"));
    assert_true(err.line >= 1 && err.line <= 3);
}

static void functions_must_be_finite_and_not_zero(void **state) {
    (void)state;
    static const char *const bad[][3] = {
        {"1", "log(x/L)", NULL}, {"1", "1/(L - x)", NULL}, {"1", "0*x", NULL}};
    for (int i = 0; i < 3; i++) {
        snw_basis b;
        snw_error err = {0};
        assert_int_equal(laws(bad[i], 1, &b, &err), SNW_E_PARSE);
        assert_non_null(strstr(err.text, i < 2 ? "not a finite number" : "is zero"));
        assert_int_equal(err.line, 2);
    }
}

// ---- breaks and values -------------------------------------------------------------------------

static void breaks_of_laws_are_those_of_their_operations(void **state) {
    (void)state;
    static const char *const text[] = {"1", "abs(x/L - 0.3)", "step(x, 0.6*L)", "x/L*sin(3*x/L)",
                                       NULL};
    const snw_basis b = basis_of(text, 2);
    double left[4], right[4];
    assert_int_equal(b.nelem, 3);
    assert_near(snw_basis_break(&b, 1), 0.3, 1e-15);
    assert_near(snw_basis_break(&b, 2), 0.6, 1e-15);
    assert_false(b.set->continuous);
    assert_false(snw_basis_continuous(&b));
    // at a break the element selects the side
    snw_basis_eval(&b, 1, snw_basis_break(&b, 2), left);
    snw_basis_eval(&b, 2, snw_basis_break(&b, 2), right);
    assert_near(left[2], 0, 0);
    assert_near(right[2], 1, 0);
    assert_near(left[3], right[3], 1e-11);
    snw_basis_d1(&b, 0, snw_basis_break(&b, 1), left);
    snw_basis_d1(&b, 1, snw_basis_break(&b, 1), right);
    assert_near(left[1], -1, 1e-12);
    assert_near(right[1], 1, 1e-12);
}

static void derivatives_are_those_in_x_over_length(void **state) {
    (void)state;
    static const char *const text[] = {"1", "exp(-x/0.2)", "sin(5*x/L)", NULL};
    const double L = 0.4;
    const snw_basis b = basis_of(text, L);
    for (int k = 0; k <= 10; k++) {
        const double u = k / 10.0;
        double phi[3], d[3];
        snw_basis_eval(&b, 0, u, phi);
        snw_basis_d1(&b, 0, u, d);
        assert_near(phi[1], exp(-u * L / 0.2), 1e-15);
        assert_near(d[0], 0, 0);
        assert_near(d[1], -L / 0.2 * exp(-u * L / 0.2), 1e-14);
        assert_near(d[2], 5 * cos(5 * u), 1e-14);
    }
}

static void degrees_are_those_of_polynomials(void **state) {
    (void)state;
    static const char *const text[] = {"1", "x/L", "(x/L)^5", NULL};
    const snw_basis b = basis_of(text, 1);
    assert_int_equal(b.nelem, 1);
    assert_int_equal(snw_basis_degree(&b), 5);
    assert_near(b.set->size[2], 1 / sqrt(11), 1e-14);
    static const char *const more[] = {"exp(-x/L)", NULL};
    const snw_basis e = basis_of(more, 1);
    // the parts of exp(-x) on Legendre polynomials are sqrt(2k + 1) i_k(1/2) exp(-1/2), with
    // modified spherical Bessel functions: 1.8e-4 of its norm for k = 4, 1e-5 for k = 5
    assert_int_equal(snw_basis_degree(&e), 4);
}

static snw_basis table_basis(int n, const double *x, const double *y, bool cubic) {
    snw_shape_function *f = snw_pool_take(pool, sizeof *f);
    snw_spline *spline = NULL;
    snw_error err = {0};
    snw_basis b;
    f->samples = (snw_table){n, x, y};
    f->text = "a table";
    if (cubic) assert_int_equal(snw_spline_create(pool, f->samples, &spline, &err), SNW_OK);
    f->spline = spline;
    if (snw_function_set_create(pool, "bend_z", 1, f, 1, true, &b, &err) != SNW_OK)
        fail_msg("%s", err.text);
    return b;
}

static void rows_of_straight_lines_are_breaks(void **state) {
    (void)state;
    static const double x[] = {0, 0.2, 0.7, 1}, y[] = {1, 3, 2, 2};
    const snw_basis b = table_basis(4, x, y, false);
    double phi, d;
    assert_int_equal(b.nelem, 3);
    assert_int_equal(snw_basis_degree(&b), 1);
    assert_true(b.set->continuous);
    snw_basis_eval(&b, 0, 0.1, &phi);
    assert_near(phi, 2, 1e-15);
    snw_basis_eval(&b, 1, 0.2, &phi);
    assert_near(phi, 3, 1e-15);
    snw_basis_d1(&b, 0, 0.2, &d);
    assert_near(d, 10, 1e-13);
    snw_basis_d1(&b, 1, 0.2, &d);
    assert_near(d, -2, 1e-13);
}

// A spline through samples of a smooth function has no breaks, one through samples that jump has.
static void rows_of_cubic_tables_are_breaks_where_they_are_rough(void **state) {
    (void)state;
    enum { N = 65 };
    double x[N], smooth[N], rough[N];
    for (int i = 0; i < N; i++) {
        x[i] = i / (N - 1.0);
        smooth[i] = exp(-2 * x[i]);
        rough[i] = i % 7 == 3;
    }
    const snw_basis a = table_basis(N, x, smooth, true), b = table_basis(N, x, rough, true);
    double phi;
    assert_int_equal(a.nelem, 1);
    assert_int_equal(b.nelem, N - 1);
    assert_true(snw_basis_degree(&b) <= 3);
    snw_basis_eval(&a, 0, 0.333, &phi);
    assert_near(phi, exp(-0.666), 1e-8);
}

// ---- richer sets -------------------------------------------------------------------------------

static void richer_sets_contain_the_functions_and_orthogonal_others(void **state) {
    (void)state;
    static const char *const text[][5] = {{"1", "x/L", "exp(-x/L)", NULL},
                                          {"1", "abs(x/L - 0.3)", "step(x, 0.6*L)", NULL}};
    enum { POINTS = 40, MORE = 4 };
    double at[POINTS], w[POINTS];
    snw_gauss(POINTS, at, w);
    for (int k = 0; k < 2; k++) {
        const snw_basis b = basis_of(text[k], 1);
        snw_basis rich;
        assert_int_equal(snw_function_set_enrich(pool, &b, MORE, &rich), SNW_OK);
        assert_int_equal(rich.nfun, 3 + MORE);
        assert_int_equal(rich.nelem, b.nelem);
        double G[7][7] = {{0}};
        for (int e = 0; e < b.nelem; e++) {
            for (int i = 0; i < POINTS; i++) {
                const double from = snw_basis_break(&b, e), h = snw_basis_break(&b, e + 1) - from;
                double phi[7], own[3];
                snw_basis_eval(&rich, e, from + h * at[i], phi);
                snw_basis_eval(&b, e, from + h * at[i], own);
                for (int f = 0; f < 3; f++) assert_near(phi[f], own[f], 0);
                for (int f = 0; f < 7; f++) {
                    for (int g = 0; g < 7; g++) G[f][g] += h * w[i] * phi[f] * phi[g];
                }
            }
        }
        for (int f = 3; f < 7; f++) {
            for (int g = 0; g < 7; g++) assert_near(G[f][g], f == g, 1e-10);
        }
    }
}

static void equal_functions_are_recognised(void **state) {
    (void)state;
    static const char *const text[][3] = {
        {"1", "exp(-x/L)", NULL}, {"2 - 1", "exp(-x/L/1)", NULL}, {"1", "exp(-1.01*x/L)", NULL}};
    const snw_basis a = basis_of(text[0], 1), b = basis_of(text[1], 2), c = basis_of(text[2], 1);
    assert_true(snw_function_set_same(&a, &b));
    assert_false(snw_function_set_same(&a, &c));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gram_matrices_have_the_known_eigenvalues),
        cmocka_unit_test(dependent_functions_are_refused_by_name),
        cmocka_unit_test(functions_must_be_finite_and_not_zero),
        cmocka_unit_test(breaks_of_laws_are_those_of_their_operations),
        cmocka_unit_test(derivatives_are_those_in_x_over_length),
        cmocka_unit_test(degrees_are_those_of_polynomials),
        cmocka_unit_test(rows_of_straight_lines_are_breaks),
        cmocka_unit_test(rows_of_cubic_tables_are_breaks_where_they_are_rough),
        cmocka_unit_test(richer_sets_contain_the_functions_and_orthogonal_others),
        cmocka_unit_test(equal_functions_are_recognised),
    };
    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
