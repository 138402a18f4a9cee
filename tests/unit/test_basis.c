// SPDX-License-Identifier: MIT
#include "math/basis.h"

#include "math/quadrature.h"
#include "near.h"

#include <math.h>
#include <string.h>

#include <float.h>

static const double pi = 3.14159265358979323846;
static const double uneven[] = {0, 0.1, 0.35, 0.4, 0.85, 1};
static const snw_basis_kind pieces[] = {SNW_BASIS_CONSTANT, SNW_BASIS_LINEAR, SNW_BASIS_QUADRATIC,
                                        SNW_BASIS_CUBIC};
enum { NPIECES = 4, NELEM = 5, MAXFUN = 64 };

static snw_basis global(snw_basis_kind kind, int nfun) {
    return (snw_basis){.kind = kind, .nfun = nfun, .nelem = 1};
}

static snw_basis piecewise(snw_basis_kind kind, const double *breaks) {
    return (snw_basis){
        .kind = kind, .nfun = snw_basis_size(kind, 3, NELEM), .nelem = NELEM, .breaks = breaks};
}

// all functions at x, seen from `element`
static void eval_all(const snw_basis *b, int element, double x, double *phi) {
    int first, count;
    snw_basis_support(b, element, &first, &count);
    for (int i = 0; i < b->nfun; i++) phi[i] = 0;
    snw_basis_eval(b, element, x, phi + first);
}

// position of node i of a nodal basis, degree >= 1
static double node_at(const snw_basis *b, int i) {
    const int degree = snw_basis_degree(b);
    const int element = i < b->nfun - 1 ? i / degree : NELEM - 1;
    const double x0 = snw_basis_break(b, element), x1 = snw_basis_break(b, element + 1);
    return x0 + (x1 - x0) * (i - degree * element) / degree;
}

// ---- the tables --------------------------------------------------------------------------------

static void every_basis_has_its_own_name(void **state) {
    (void)state;
    for (int i = 0; i < SNW_BASIS_COUNT; i++) {
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(snw_basis_name((snw_basis_kind)i),
                                    snw_basis_name((snw_basis_kind)j));
        }
        assert_int_equal(snw_basis_piecewise((snw_basis_kind)i), i >= SNW_BASIS_CONSTANT);
    }
    assert_string_equal(snw_basis_name(SNW_BASIS_LEGENDRE), "legendre");
    assert_string_equal(snw_basis_name(SNW_BASIS_CUBIC), "cubic");
}

static void sizes_and_degrees_are_those_of_the_elements(void **state) {
    (void)state;
    const int size[NPIECES] = {5, 6, 11, 16};
    for (int k = 0; k < NPIECES; k++) {
        const snw_basis b = piecewise(pieces[k], NULL);
        assert_int_equal(b.nfun, size[k]);
        assert_int_equal(snw_basis_degree(&b), k);
    }
    const snw_basis legendre = global(SNW_BASIS_LEGENDRE, 7);
    assert_int_equal(snw_basis_degree(&legendre), 6);
    const snw_basis one = global(SNW_BASIS_FOURIER, 1);
    assert_int_equal(snw_basis_degree(&one), 0);
}

static void breaks_run_from_zero_to_one(void **state) {
    (void)state;
    const snw_basis equal = piecewise(SNW_BASIS_LINEAR, NULL);
    const snw_basis given = piecewise(SNW_BASIS_LINEAR, uneven);
    for (int i = 0; i <= NELEM; i++) {
        assert_near(snw_basis_break(&equal, i), i / 5.0, 0);
        assert_near(snw_basis_break(&given, i), uneven[i], 0);
    }
    const snw_basis whole = global(SNW_BASIS_FOURIER, 3);
    assert_true(snw_basis_break(&whole, 0) == 0 && snw_basis_break(&whole, 1) == 1);
}

static void supports_overlap_in_the_shared_node_only(void **state) {
    (void)state;
    for (int k = 0; k < NPIECES; k++) {
        const snw_basis b = piecewise(pieces[k], uneven);
        int next = 0;
        for (int e = 0; e < NELEM; e++) {
            int first, count;
            snw_basis_support(&b, e, &first, &count);
            assert_int_equal(first, next);
            assert_int_equal(count, k + 1);
            next = first + count - (k > 0);
        }
        assert_int_equal(next + (k > 0), b.nfun);
    }
    const snw_basis b = global(SNW_BASIS_CHEBYSHEV, 9);
    int first, count;
    snw_basis_support(&b, 0, &first, &count);
    assert_int_equal(first, 0);
    assert_int_equal(count, 9);
}

// ---- splines ------------------------------------------------------------------------------------

static snw_basis splines(int degree, const double *breaks) {
    return (snw_basis){.kind = SNW_BASIS_SPLINE,
                       .nfun = snw_basis_size(SNW_BASIS_SPLINE, degree, NELEM),
                       .nelem = NELEM,
                       .breaks = breaks};
}

static double clamped_knot(const snw_basis *b, int i) {
    return snw_basis_break(b, i < 0 ? 0 : i > b->nelem ? b->nelem : i);
}

// Marsden: with the coordinates prod_i (u_{j+i} - t), i = 1 .. p, splines sum up to (x - t)^p, and
// those behind the knot t alone to (x - t)^p for x > t and 0 before it. With the powers of x these
// are as many independent functions with p - 1 continuous derivatives as there are splines, so the
// basis spans all such functions.
static void splines_span_all_smooth_piecewise_polynomials(void **state) {
    (void)state;
    for (int p = 1; p <= 8; p++) {
        for (int even = 0; even < 2; even++) {
            const snw_basis b = splines(p, even ? NULL : uneven);
            assert_int_equal(b.nfun, NELEM - 1 + p + 1);
            assert_int_equal(snw_basis_degree(&b), p);
            for (int k = -p - 1; k < NELEM; k++) { // t: values before the rod, then the knots
                const double t = k < 0 ? 0.3 * (k + 1) : snw_basis_break(&b, k);
                for (int e = 0; e < NELEM; e++) {
                    const double x0 = snw_basis_break(&b, e), x1 = snw_basis_break(&b, e + 1);
                    int first, count;
                    snw_basis_support(&b, e, &first, &count);
                    for (int i = 0; i <= 8; i++) {
                        const double x = x0 + (x1 - x0) * i / 8;
                        double phi[16], d[16], sum = 0, slope = 0;
                        snw_basis_eval(&b, e, x, phi);
                        snw_basis_d1(&b, e, x, d);
                        for (int j = 0; j < count; j++) {
                            const int n = first + j - p; // its first knot
                            double c = k < 0 || n >= k ? 1 : 0;
                            for (int l = 1; l <= p; l++) c *= clamped_knot(&b, n + l) - t;
                            sum += c * phi[j], slope += c * d[j];
                        }
                        const bool behind = k < 0 || e >= k;
                        const double scale = pow(1 - t, p);
                        assert_near(sum, behind ? pow(x - t, p) : 0, 1e-14 * scale);
                        assert_near(slope, behind ? p * pow(x - t, p - 1) : 0, 1e-12 * scale);
                    }
                }
            }
        }
    }
}

static void a_cubic_spline_has_its_known_values(void **state) {
    (void)state;
    const snw_basis b = {.kind = SNW_BASIS_SPLINE, .nfun = 11, .nelem = 8};
    double phi[4], d[4];
    snw_basis_eval(&b, 4, 0.5, phi); // at a knot far from the ends: 1/6, 2/3, 1/6
    snw_basis_d1(&b, 4, 0.5, d);
    const double value[] = {1.0 / 6, 2.0 / 3, 1.0 / 6, 0}, slope[] = {-4, 0, 4, 0};
    for (int j = 0; j < 4; j++) {
        assert_near(phi[j], value[j], 4 * DBL_EPSILON);
        assert_near(d[j], slope[j], 64 * DBL_EPSILON);
    }
    snw_basis_eval(&b, 4, 0.5625, phi); // between two knots: 1/48, 23/48, 23/48, 1/48
    for (int j = 0; j < 4; j++) assert_near(phi[j], (j % 3 ? 23 : 1) / 48.0, 4 * DBL_EPSILON);
    snw_basis_eval(&b, 0, 0, phi); // clamped
    assert_true(phi[0] == 1 && phi[1] == 0 && phi[2] == 0 && phi[3] == 0);
    snw_basis_eval(&b, 7, 1, phi);
    assert_true(phi[0] == 0 && phi[1] == 0 && phi[2] == 0 && phi[3] == 1);
}

// ---- piecewise bases ----------------------------------------------------------------------------

static void pieces_sum_to_one_everywhere(void **state) {
    (void)state;
    for (int k = 0; k < 2 * NPIECES; k++) {
        const snw_basis b = piecewise(pieces[k / 2], k % 2 ? uneven : NULL);
        for (int e = 0; e < NELEM; e++) {
            const double x0 = snw_basis_break(&b, e), x1 = snw_basis_break(&b, e + 1);
            for (int i = 0; i <= 20; i++) {
                double phi[4], sum = 0;
                snw_basis_eval(&b, e, x0 + (x1 - x0) * i / 20, phi);
                for (int j = 0; j <= snw_basis_degree(&b); j++) sum += phi[j];
                assert_near(sum, 1, 4 * DBL_EPSILON);
            }
        }
    }
}

static void a_hat_is_one_at_its_node_and_zero_at_the_others(void **state) {
    (void)state;
    for (int k = 0; k < 6; k++) {
        const snw_basis b = piecewise(pieces[1 + k / 2], k % 2 ? uneven : NULL);
        const int degree = snw_basis_degree(&b);
        for (int i = 0; i < b.nfun; i++) {
            double phi[MAXFUN];
            eval_all(&b, i < b.nfun - 1 ? i / degree : NELEM - 1, node_at(&b, i), phi);
            // inner nodes are rounded, and derivatives are up to 9 per element of at least 0.05
            for (int j = 0; j < b.nfun; j++) assert_near(phi[j], i == j, 200 * DBL_EPSILON);
        }
    }
}

static void hats_meet_exactly_at_the_breaks(void **state) {
    (void)state;
    for (int k = 0; k < 6; k++) {
        const snw_basis b = piecewise(pieces[1 + k / 2], k % 2 ? uneven : NULL);
        for (int e = 1; e < NELEM; e++) {
            double left[MAXFUN], right[MAXFUN];
            eval_all(&b, e - 1, snw_basis_break(&b, e), left);
            eval_all(&b, e, snw_basis_break(&b, e), right);
            for (int j = 0; j < b.nfun; j++) {
                assert_true(left[j] == right[j]);
                assert_true(left[j] == (j == e * snw_basis_degree(&b)));
            }
        }
    }
}

static void constants_jump_at_the_breaks(void **state) {
    (void)state;
    const snw_basis b = piecewise(SNW_BASIS_CONSTANT, uneven);
    for (int e = 0; e < NELEM; e++) {
        for (int end = 0; end < 2; end++) {
            double phi[MAXFUN];
            eval_all(&b, e, snw_basis_break(&b, e + end), phi);
            for (int j = 0; j < b.nfun; j++) assert_true(phi[j] == (j == e));
        }
    }
}

static void hats_reproduce_polynomials_of_their_degree(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        const snw_basis b = piecewise(pieces[1 + k], uneven);
        const int degree = snw_basis_degree(&b);
        for (int e = 0; e < NELEM; e++) {
            for (int i = 0; i <= 10; i++) {
                const double x = uneven[e] + (uneven[e + 1] - uneven[e]) * i / 10;
                double phi[MAXFUN], sum = 0;
                eval_all(&b, e, x, phi);
                for (int j = 0; j < b.nfun; j++) sum += phi[j] * pow(node_at(&b, j) - 0.3, degree);
                assert_near(sum, pow(x - 0.3, degree), 8 * DBL_EPSILON);
            }
        }
    }
}

// nodal functions at the Gauss points of each element: 1 at their own, orthogonal, no function is
// shared by two elements
static void discontinuous_functions_are_nodal_and_orthogonal(void **state) {
    (void)state;
    for (int degree = 1; degree <= 12; degree++) {
        const int n = degree + 1;
        const snw_basis b = {.kind = SNW_BASIS_DISCONTINUOUS,
                             .nfun = snw_basis_size(SNW_BASIS_DISCONTINUOUS, degree, NELEM),
                             .nelem = NELEM,
                             .breaks = uneven};
        double node[13], weight[13];
        assert_int_equal(b.nfun, NELEM * n);
        assert_int_equal(snw_basis_degree(&b), degree);
        snw_gauss(n, node, weight);
        for (int e = 0; e < NELEM; e++) {
            int first, count;
            snw_basis_support(&b, e, &first, &count);
            assert_int_equal(first, e * n);
            assert_int_equal(count, n);
            const double h = uneven[e + 1] - uneven[e];
            double product[13][13] = {{0}};
            for (int i = 0; i < n; i++) {
                const double x = uneven[e] + h * node[i];
                double phi[13], d[13], sum = 0, slope = 0;
                snw_basis_eval(&b, e, x, phi);
                snw_basis_d1(&b, e, x, d);
                for (int j = 0; j < n; j++) {
                    assert_near(phi[j], i == j, 1e-12);
                    sum += pow(node[j], degree) * phi[j];
                    slope += pow(node[j], degree) * d[j];
                    for (int k = 0; k < n; k++) product[j][k] += weight[i] * phi[j] * phi[k];
                }
                assert_near(sum, pow(node[i], degree), 1e-12);
                assert_near(slope * h, degree * pow(node[i], degree - 1), 1e-9);
            }
            for (int j = 0; j < n; j++) {
                for (int k = 0; k < n; k++)
                    assert_near(product[j][k], j == k ? weight[j] : 0, 1e-13);
            }
        }
    }
}

// ---- global bases ------------------------------------------------------------------------------

// integral of phi_i psi_j with n Gauss points
static double inner(const snw_basis *a, int i, const snw_basis *b, int j, int n) {
    double x[256], w[256], sum = 0;
    snw_gauss(n, x, w);
    for (int k = 0; k < n; k++) {
        double phi[MAXFUN], psi[MAXFUN];
        snw_basis_eval(a, 0, x[k], phi);
        snw_basis_eval(b, 0, x[k], psi);
        sum += w[k] * phi[i] * psi[j];
    }
    return sum;
}

static void legendre_functions_are_orthogonal(void **state) {
    (void)state;
    const snw_basis b = global(SNW_BASIS_LEGENDRE, 12);
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j < 12; j++) {
            const double want = i == j ? 1.0 / (2 * i + 1) : 0;
            assert_near(inner(&b, i, &b, j, 12), want, 16 * DBL_EPSILON);
        }
    }
}

static void chebyshev_functions_are_cosines(void **state) {
    (void)state;
    const snw_basis b = global(SNW_BASIS_CHEBYSHEV, 20);
    for (int i = 0; i <= 60; i++) {
        const double angle = pi * i / 60;
        double phi[MAXFUN];
        snw_basis_eval(&b, 0, (1 + cos(angle)) / 2, phi);
        // rounding x by eps moves T_j by up to j^2 eps
        for (int j = 0; j < 20; j++) assert_near(phi[j], cos(j * angle), (4 + j * j) * DBL_EPSILON);
    }
}

static void monomials_are_powers(void **state) {
    (void)state;
    const snw_basis b = global(SNW_BASIS_MONOMIAL, 9);
    double phi[MAXFUN];
    snw_basis_eval(&b, 0, 0.7, phi);
    for (int j = 0; j < 9; j++) assert_near(phi[j], pow(0.7, j), 8 * DBL_EPSILON);
    snw_basis_eval(&b, 0, 0, phi);
    for (int j = 0; j < 9; j++) assert_true(phi[j] == (j == 0));
}

// an even number of functions ends with a sine
static void fourier_runs_one_sine_cosine_sine(void **state) {
    (void)state;
    for (int n = 1; n <= 6; n++) {
        const snw_basis b = global(SNW_BASIS_FOURIER, n);
        for (int i = 0; i <= 32; i++) {
            const double x = i / 32.0;
            const double want[] = {1,
                                   sin(2 * pi * x),
                                   cos(2 * pi * x),
                                   sin(4 * pi * x),
                                   cos(4 * pi * x),
                                   sin(6 * pi * x)};
            double phi[6];
            snw_basis_eval(&b, 0, x, phi);
            for (int j = 0; j < n; j++) assert_near(phi[j], want[j], 2 * j * pi * DBL_EPSILON);
        }
    }
}

static void fourier_has_equal_ends(void **state) {
    (void)state;
    const snw_basis b = global(SNW_BASIS_FOURIER, 40);
    double left[MAXFUN], right[MAXFUN];
    snw_basis_eval(&b, 0, 0, left);
    snw_basis_eval(&b, 0, 1, right);
    for (int j = 0; j < 40; j++) assert_true(left[j] == right[j]);
}

// products of functions have twice the degree, for which degree + 1 Gauss points suffice; the same
// must hold for the degree reported for fourier, whose functions are orthogonal
static void fourier_degree_resolves_it_on_quadrature(void **state) {
    (void)state;
    for (int n = 2; n <= MAXFUN; n = n * 3 / 2 + 1) {
        const snw_basis b = global(SNW_BASIS_FOURIER, n);
        const int points = snw_basis_degree(&b) + 1;
        for (int i = 0; i<n; i += n> 20 ? 7 : 1) {
            for (int j = 0; j<n; j += n> 20 ? 5 : 1) {
                const double want = i != j ? 0 : i == 0 ? 1 : 0.5;
                // rounding of the argument, 2 pi k eps, and of the sum
                assert_near(inner(&b, i, &b, j, points), want, (8 + n) * DBL_EPSILON);
            }
        }
        // and with the linear strain of a bent rod: the integral of x sin(2 pi k x) is -1/(2 pi k)
        const snw_basis line = global(SNW_BASIS_MONOMIAL, 2);
        assert_near(inner(&line, 1, &b, n - 1, points), n % 2 ? 0 : -1 / (pi * n),
                    (8 + n) * DBL_EPSILON);
    }
}

// projection onto Legendre polynomials reproduces each function of the other families to rounding;
// the last coefficient is not zero, so both families span the same space
static void polynomial_bases_span_the_same_space(void **state) {
    (void)state;
    enum { N = 8 };
    const snw_basis legendre = global(SNW_BASIS_LEGENDRE, N);
    const snw_basis_kind kinds[] = {SNW_BASIS_CHEBYSHEV, SNW_BASIS_MONOMIAL};
    for (int k = 0; k < 2; k++) {
        const snw_basis b = global(kinds[k], N);
        for (int j = 0; j < N; j++) {
            double c[N];
            for (int i = 0; i < N; i++) c[i] = (2 * i + 1) * inner(&b, j, &legendre, i, N);
            for (int i = j + 1; i < N; i++) assert_near(c[i], 0, 64 * DBL_EPSILON);
            assert_true(fabs(c[j]) > 1e-4); // 1/3432 for x^7
            for (int m = 0; m <= 16; m++) {
                const double x = m / 16.0;
                double phi[N], p[N], sum = 0;
                snw_basis_eval(&b, 0, x, phi);
                snw_basis_eval(&legendre, 0, x, p);
                for (int i = 0; i < N; i++) sum += c[i] * p[i];
                assert_near(sum, phi[j], 128 * DBL_EPSILON);
            }
        }
    }
}

// the integral of a derivative between two points of an element is the increase of the function
static void derivatives_integrate_to_the_functions(void **state) {
    (void)state;
    enum { POINTS = 40 };
    double at[POINTS], weight[POINTS];
    snw_gauss(POINTS, at, weight);
    for (int kind = 0; kind < SNW_BASIS_COUNT; kind++) {
        const bool pieces_of = snw_basis_piecewise((snw_basis_kind)kind);
        const snw_basis b =
            pieces_of ? piecewise((snw_basis_kind)kind, uneven) : global((snw_basis_kind)kind, 9);
        for (int e = 0; e < b.nelem; e++) {
            const double x0 = snw_basis_break(&b, e), x1 = snw_basis_break(&b, e + 1);
            const double from = x0 + 0.1 * (x1 - x0), to = x0 + 0.8 * (x1 - x0);
            double sum[MAXFUN] = {0}, slope[MAXFUN], a[MAXFUN], c[MAXFUN];
            int first, count;
            snw_basis_support(&b, e, &first, &count);
            for (int k = 0; k < POINTS; k++) {
                snw_basis_d1(&b, e, from + (to - from) * at[k], slope);
                for (int j = 0; j < count; j++) sum[j] += (to - from) * weight[k] * slope[j];
            }
            snw_basis_eval(&b, e, from, a);
            snw_basis_eval(&b, e, to, c);
            for (int j = 0; j < count; j++) assert_near(sum[j], c[j] - a[j], 1e-13);
        }
    }
}

// a sum of any number of Legendre polynomials, converted to a sum of powers
static void legendre_polynomials_become_monomials(void **state) {
    (void)state;
    double phi[13], x[13], power[13];
    for (int n = 1; n <= 13; n++) {
        const snw_basis legendre = {.kind = SNW_BASIS_LEGENDRE, .nfun = n, .nelem = 1};
        const snw_basis monomial = {.kind = SNW_BASIS_MONOMIAL, .nfun = n, .nelem = 1};
        for (int j = 0; j < n; j++) x[j] = cos(2.3 * j + 0.4);
        for (int k = 0; k <= 10; k++) {
            double want = 0, got = 0, size = 0;
            memcpy(power, x, sizeof power);
            snw_basis_to_monomials(n, power);
            snw_basis_eval(&legendre, 0, 0.1 * k, phi);
            for (int j = 0; j < n; j++) want += x[j] * phi[j];
            snw_basis_eval(&monomial, 0, 0.1 * k, phi);
            for (int j = 0; j < n; j++) {
                got += power[j] * phi[j];
                size += fabs(power[j] * phi[j]);
            }
            assert_near(got, want, 1e-15 * (size + n));
        }
        // up to SNW_BASIS_MONOMIALS monomials are kept as they are
        assert_int_equal(snw_basis_well_conditioned(&monomial).kind,
                         n <= SNW_BASIS_MONOMIALS ? SNW_BASIS_MONOMIAL : SNW_BASIS_LEGENDRE);
        assert_int_equal(snw_basis_well_conditioned(&monomial).nfun, n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(legendre_polynomials_become_monomials),
        cmocka_unit_test(every_basis_has_its_own_name),
        cmocka_unit_test(sizes_and_degrees_are_those_of_the_elements),
        cmocka_unit_test(breaks_run_from_zero_to_one),
        cmocka_unit_test(supports_overlap_in_the_shared_node_only),
        cmocka_unit_test(splines_span_all_smooth_piecewise_polynomials),
        cmocka_unit_test(a_cubic_spline_has_its_known_values),
        cmocka_unit_test(pieces_sum_to_one_everywhere),
        cmocka_unit_test(a_hat_is_one_at_its_node_and_zero_at_the_others),
        cmocka_unit_test(hats_meet_exactly_at_the_breaks),
        cmocka_unit_test(constants_jump_at_the_breaks),
        cmocka_unit_test(hats_reproduce_polynomials_of_their_degree),
        cmocka_unit_test(discontinuous_functions_are_nodal_and_orthogonal),
        cmocka_unit_test(legendre_functions_are_orthogonal),
        cmocka_unit_test(chebyshev_functions_are_cosines),
        cmocka_unit_test(monomials_are_powers),
        cmocka_unit_test(fourier_runs_one_sine_cosine_sine),
        cmocka_unit_test(fourier_has_equal_ends),
        cmocka_unit_test(fourier_degree_resolves_it_on_quadrature),
        cmocka_unit_test(polynomial_bases_span_the_same_space),
        cmocka_unit_test(derivatives_integrate_to_the_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
