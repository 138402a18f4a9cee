// SPDX-License-Identifier: MIT
//
// Values, derivatives, supports and degrees of the strain bases, theory.md (2.1) and 3 (many
// monomials).
#include "math/basis.h"

#include "base/fail.h"
#include "math/function_set.h"
#include "math/quadrature.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

const char *snw_basis_name(snw_basis_kind kind) { return snw_basis_table[kind].name; }
bool snw_basis_piecewise(snw_basis_kind kind) { return snw_basis_table[kind].piecewise; }

bool snw_basis_continuous(const snw_basis *b) {
    return b->set ? b->set->continuous : snw_basis_table[b->kind].continuous;
}

// Number of functions that do not vanish on an element.
static int count_on_element(const snw_basis *b) {
    const snw_basis_type *type = &snw_basis_table[b->kind];
    return type->separate ? b->nfun / b->nelem : b->nfun - type->shift * (b->nelem - 1);
}

snw_basis snw_basis_well_conditioned(const snw_basis *b) {
    const snw_basis_type *type = &snw_basis_table[b->kind];
    snw_basis out = *b;
    if (type->well_conditioned > 0 && b->nfun > type->well_conditioned) out.kind = type->richer;
    return out;
}

// P_j(2x - 1) = sum_k (-1)^(j + k) C(j, k) C(j + k, k) x^k, from term to term by
// C(j, k) C(j + k, k) = C(j, k - 1) C(j + k - 1, k - 1) (j - k + 1) (j + k)/k^2
void snw_basis_to_monomials(int n, double *x) {
    for (int j = 0; j < n; j++) { // x[k < j] are partial sums, x[j] is still a Legendre coordinate
        const double own = x[j];
        double c = j % 2 ? -1 : 1;
        x[j] = 0;
        for (int k = 0; k <= j; k++) {
            if (k > 0) c *= -(double)(j - k + 1) * (j + k) / ((double)k * k);
            x[k] += c * own;
        }
    }
}

int snw_basis_size(snw_basis_kind kind, int number, int nelem) {
    const snw_basis_type *type = &snw_basis_table[kind];
    SNW_ASSERT(nelem >= 1 && (nelem == 1 || type->piecewise));
    const int count = !type->piecewise ? number : (type->number ? number : type->degree) + 1;
    return type->separate ? count * nelem : count + type->shift * (nelem - 1);
}

int snw_basis_degree(const snw_basis *b) {
    const snw_basis_type *type = &snw_basis_table[b->kind];
    if (b->set) return b->set->degree;
    return type->polynomial_degree ? type->polynomial_degree(b->nfun) : count_on_element(b) - 1;
}

double snw_basis_break(const snw_basis *b, int i) {
    SNW_ASSERT(i >= 0 && i <= b->nelem);
    return b->breaks ? b->breaks[i] : (double)i / b->nelem;
}

void snw_basis_support(const snw_basis *b, int element, int *first, int *count) {
    SNW_ASSERT(element >= 0 && element < b->nelem);
    const snw_basis_type *type = &snw_basis_table[b->kind];
    *count = count_on_element(b);
    *first = element * (type->separate ? *count : type->shift);
}

void snw_basis_eval(const snw_basis *b, int element, double x, double *phi) {
    SNW_ASSERT(element >= 0 && element < b->nelem && b->nfun >= 1);
    snw_basis_table[b->kind].eval(b, element, x, phi);
}

void snw_basis_d1(const snw_basis *b, int element, double x, double *d) {
    SNW_ASSERT(element >= 0 && element < b->nelem && b->nfun >= 1);
    snw_basis_table[b->kind].d1(b, element, x, d);
}

// ---- global bases ------------------------------------------------------------------------------

// P_j(t), (j+1) P_{j+1} = (2j+1) t P_j - j P_{j-1}
static void legendre(const snw_basis *b, int element, double x, double *phi) {
    (void)element;
    const double t = 2 * x - 1;
    phi[0] = 1;
    if (b->nfun > 1) phi[1] = t;
    for (int j = 1; j + 1 < b->nfun; j++) {
        phi[j + 1] = ((2 * j + 1) * t * phi[j] - j * phi[j - 1]) / (j + 1);
    }
}

// in t: P'_{j+1} = P'_{j-1} + (2j+1) P_j
static void legendre_d1(const snw_basis *b, int element, double x, double *d) {
    (void)element;
    const double t = 2 * x - 1;
    double before = 1, P = t; // P_{j-1}, P_j
    d[0] = 0;
    if (b->nfun > 1) d[1] = 1;
    for (int j = 1; j + 1 < b->nfun; j++) {
        d[j + 1] = d[j - 1] + (2 * j + 1) * P;
        const double next = ((2 * j + 1) * t * P - j * before) / (j + 1);
        before = P, P = next;
    }
    for (int j = 0; j < b->nfun; j++) d[j] *= 2;
}

// T_j(t), T_{j+1} = 2 t T_j - T_{j-1}
static void chebyshev(const snw_basis *b, int element, double x, double *phi) {
    (void)element;
    const double t = 2 * x - 1;
    phi[0] = 1;
    if (b->nfun > 1) phi[1] = t;
    for (int j = 1; j + 1 < b->nfun; j++) phi[j + 1] = 2 * t * phi[j] - phi[j - 1];
}

// in t: T'_{j+1} = 2 T_j + 2 t T'_j - T'_{j-1}
static void chebyshev_d1(const snw_basis *b, int element, double x, double *d) {
    (void)element;
    const double t = 2 * x - 1;
    double before = 1, T = t;
    d[0] = 0;
    if (b->nfun > 1) d[1] = 1;
    for (int j = 1; j + 1 < b->nfun; j++) {
        d[j + 1] = 2 * T + 2 * t * d[j] - d[j - 1];
        const double next = 2 * t * T - before;
        before = T, T = next;
    }
    for (int j = 0; j < b->nfun; j++) d[j] *= 2;
}

static void monomial(const snw_basis *b, int element, double x, double *phi) {
    (void)element;
    phi[0] = 1;
    for (int j = 1; j < b->nfun; j++) phi[j] = phi[j - 1] * x;
}

static void monomial_d1(const snw_basis *b, int element, double x, double *d) {
    (void)element;
    double power = 1;
    d[0] = 0;
    for (int j = 1; j < b->nfun; j++, power *= x) d[j] = j * power;
}

// 1, sin 2 pi x, cos 2 pi x, sin 4 pi x, ...; whole turns are subtracted first, so that the values
// at both ends are exact
static void fourier(const snw_basis *b, int element, double x, double *phi) {
    (void)element;
    phi[0] = 1;
    for (int j = 1; j < b->nfun; j++) {
        const int k = (j + 1) / 2;
        const double turns = k * x, angle = 2 * pi * (turns - round(turns));
        phi[j] = j % 2 ? sin(angle) : cos(angle);
    }
}

// the derivative of sin 2 pi k x is 2 pi k cos 2 pi k x, which follows it in the basis
static void fourier_d1(const snw_basis *b, int element, double x, double *d) {
    (void)element;
    d[0] = 0;
    for (int j = 1; j < b->nfun; j++) {
        const int k = (j + 1) / 2;
        const double turns = k * x, angle = 2 * pi * (turns - round(turns));
        d[j] = 2 * pi * k * (j % 2 ? cos(angle) : -sin(angle));
    }
}

// The Chebyshev coefficients of sin(2 pi k x) on [0, 1] are Bessel functions J_j(pi k), which are
// below 1e-16 for j > y + 13 y^(1/3), y = pi k (checked up to k = 200).
static int fourier_degree(int nfun) {
    const int k = nfun / 2; // highest frequency
    const double y = pi * k;
    return (int)ceil(y + 13 * cbrt(y));
}

// ---- Lagrange functions on elements ------------------------------------------------------------

// Coordinate in an element, exactly 0 and 1 at its ends.
static double local(const snw_basis *b, int element, double x) {
    const double x0 = snw_basis_break(b, element), x1 = snw_basis_break(b, element + 1);
    return (x - x0) / (x1 - x0);
}

static double inverse_length(const snw_basis *b, int element) {
    return 1 / (snw_basis_break(b, element + 1) - snw_basis_break(b, element));
}

static void constant(const snw_basis *b, int element, double x, double *phi) {
    (void)b, (void)element, (void)x;
    phi[0] = 1;
}

static void constant_d1(const snw_basis *b, int element, double x, double *d) {
    (void)b, (void)element, (void)x;
    d[0] = 0;
}

static double constant_place(const snw_basis *b, int f) { return (f + 0.5) / b->nfun; }

static double lagrange_place(const snw_basis *b, int f) { return (double)f / (b->nfun - 1); }

static void linear(const snw_basis *b, int element, double x, double *phi) {
    const double t = local(b, element, x);
    phi[0] = 1 - t;
    phi[1] = t;
}

static void linear_d1(const snw_basis *b, int element, double x, double *d) {
    (void)x;
    const double k = inverse_length(b, element);
    d[0] = -k;
    d[1] = k;
}

static void quadratic(const snw_basis *b, int element, double x, double *phi) {
    const double t = local(b, element, x);
    phi[0] = (1 - t) * (1 - 2 * t);
    phi[1] = 4 * t * (1 - t);
    phi[2] = t * (2 * t - 1);
}

static void quadratic_d1(const snw_basis *b, int element, double x, double *d) {
    const double k = inverse_length(b, element), t = k * (x - snw_basis_break(b, element));
    d[0] = k * (4 * t - 3);
    d[1] = k * (4 - 8 * t);
    d[2] = k * (4 * t - 1);
}

static void cubic(const snw_basis *b, int element, double x, double *phi) {
    const double t = local(b, element, x);
    phi[0] = 0.5 * (1 - 3 * t) * (2 - 3 * t) * (1 - t);
    phi[1] = 4.5 * t * (2 - 3 * t) * (1 - t);
    phi[2] = 4.5 * t * (3 * t - 1) * (1 - t);
    phi[3] = 0.5 * t * (3 * t - 1) * (3 * t - 2);
}

static void cubic_d1(const snw_basis *b, int element, double x, double *d) {
    const double k = inverse_length(b, element), t = k * (x - snw_basis_break(b, element));
    d[0] = k * (-5.5 + t * (18 - 13.5 * t));
    d[1] = k * (9 + t * (-45 + 40.5 * t));
    d[2] = k * (-4.5 + t * (36 - 40.5 * t));
    d[3] = k * (1 + t * (-9 + 13.5 * t));
}

// ---- B-splines ---------------------------------------------------------------------------------

// Knot i: the breaks are knots 0 .. nelem, both ends are repeated (clamped).
static double knot(const snw_basis *b, int i) {
    return snw_basis_break(b, i < 0 ? 0 : i > b->nelem ? b->nelem : i);
}

// phi[0..degree] <- splines of a degree on an element, by the recursion of Cox and de Boor. Spline
// j of degree d lives between knots j and j + d + 1, and with its ends u and w contributes (x -
// u)/(w - u) to spline j and (w - x)/(w - u) to spline j - 1 of degree d + 1.
static void splines(const snw_basis *b, int degree, int element, double x, double *phi) {
    phi[0] = 1;
    for (int d = 0; d < degree; d++) {
        double carry = 0;
        for (int k = 0; k <= d; k++) {
            const double u = knot(b, element - d + k), w = knot(b, element + 1 + k);
            const double part = phi[k] / (w - u);
            phi[k] = carry + (w - x) * part;
            carry = (x - u) * part;
        }
        phi[d + 1] = carry;
    }
}

static void spline(const snw_basis *b, int element, double x, double *phi) {
    splines(b, count_on_element(b) - 1, element, x, phi);
}

// spline j of degree p - 1, between its ends u and w, contributes p/(w - u) to the derivative of
// spline j and the opposite to that of spline j - 1 of degree p
static void spline_d1(const snw_basis *b, int element, double x, double *d) {
    const int p = count_on_element(b) - 1;
    double carry = 0;
    splines(b, p - 1, element, x, d);
    for (int k = 0; k < p; k++) {
        const double u = knot(b, element + 1 - p + k), w = knot(b, element + 1 + k);
        const double part = p * d[k] / (w - u);
        d[k] = carry - part;
        carry = part;
    }
    d[p] = carry;
}

// mean of the inner knots of a spline (Greville): its coordinates there give linear functions
static double spline_place(const snw_basis *b, int f) {
    const int p = count_on_element(b) - 1;
    double sum = 0;
    for (int i = 1; i <= p; i++) sum += knot(b, f - p + i);
    return sum / p;
}

// ---- nodal functions at the Gauss points of each element
// -----------------------------------------

enum { MOST_GAUSS = 13 }; // nodes of an element

// phi_j = prod over k != j of (t - t_k)/(t_j - t_k): 1 at node j, 0 at the others. Being exact for
// products of two of them, the quadrature at these nodes makes them orthogonal.
static void discontinuous(const snw_basis *b, int element, double x, double *phi) {
    const int n = count_on_element(b);
    const double t = local(b, element, x);
    double node[MOST_GAUSS], weight[MOST_GAUSS];
    snw_gauss(n, node, weight);
    for (int j = 0; j < n; j++) {
        phi[j] = 1;
        for (int k = 0; k < n; k++) {
            if (k != j) phi[j] *= (t - node[k]) / (node[j] - node[k]);
        }
    }
}

// sum over the factors differentiated
static void discontinuous_d1(const snw_basis *b, int element, double x, double *d) {
    const int n = count_on_element(b);
    const double t = local(b, element, x), slope = inverse_length(b, element);
    double node[MOST_GAUSS], weight[MOST_GAUSS];
    snw_gauss(n, node, weight);
    for (int j = 0; j < n; j++) {
        d[j] = 0;
        for (int i = 0; i < n; i++) {
            if (i == j) continue;
            double term = slope / (node[j] - node[i]);
            for (int k = 0; k < n; k++) {
                if (k != j && k != i) term *= (t - node[k]) / (node[j] - node[k]);
            }
            d[j] += term;
        }
    }
}

static double discontinuous_place(const snw_basis *b, int f) {
    const int n = count_on_element(b);
    double node[MOST_GAUSS], weight[MOST_GAUSS];
    snw_gauss(n, node, weight);
    return (f / n + node[f % n]) / b->nelem;
}

// ---- the table ---------------------------------------------------------------------------------

static const char functions[] = "number of functions";

const snw_basis_type snw_basis_table[SNW_BASIS_KINDS] = {
    [SNW_BASIS_LEGENDRE] = {.name = "legendre",
                            .meaning = "Legendre polynomials; the usual choice",
                            .number = functions,
                            .most = SNW_BASIS_MAX_FUNCTIONS,
                            .continuous = true,
                            .richer = SNW_BASIS_LEGENDRE,
                            .eval = legendre,
                            .d1 = legendre_d1},
    [SNW_BASIS_CHEBYSHEV] = {.name = "chebyshev",
                             .meaning = "Chebyshev polynomials; the same space as legendre",
                             .number = functions,
                             .most = SNW_BASIS_MAX_FUNCTIONS,
                             .continuous = true,
                             .richer = SNW_BASIS_LEGENDRE,
                             .eval = chebyshev,
                             .d1 = chebyshev_d1},
    [SNW_BASIS_MONOMIAL] = {.name = "monomial",
                            .meaning = "1, x/L, (x/L)^2, ..; the same space, more than 8 computed "
                                       "as legendre",
                            .number = functions,
                            .most = SNW_BASIS_MAX_FUNCTIONS,
                            .continuous = true,
                            .well_conditioned = SNW_BASIS_MONOMIALS,
                            .richer = SNW_BASIS_LEGENDRE,
                            .eval = monomial,
                            .d1 = monomial_d1},
    [SNW_BASIS_FOURIER] = {.name = "fourier",
                           .meaning = "1, sin(2 pi x/L), cos(2 pi x/L), sin(4 pi x/L), ..",
                           .number = functions,
                           .most = SNW_BASIS_MAX_FUNCTIONS,
                           .continuous = true,
                           .richer = SNW_BASIS_LEGENDRE,
                           .polynomial_degree = fourier_degree,
                           .eval = fourier,
                           .d1 = fourier_d1},
    [SNW_BASIS_CONSTANT] = {.name = "constant",
                            .meaning = "one value per element, jumps between them",
                            .piecewise = true,
                            .degree = 0,
                            .shift = 1,
                            .richer = SNW_BASIS_CONSTANT,
                            .eval = constant,
                            .d1 = constant_d1,
                            .place = constant_place},
    [SNW_BASIS_LINEAR] = {.name = "linear",
                          .meaning = "linear in each element, continuous",
                          .piecewise = true,
                          .continuous = true,
                          .degree = 1,
                          .shift = 1,
                          .richer = SNW_BASIS_QUADRATIC,
                          .eval = linear,
                          .d1 = linear_d1,
                          .place = lagrange_place},
    [SNW_BASIS_QUADRATIC] = {.name = "quadratic",
                             .meaning = "degree 2 in each element, continuous",
                             .piecewise = true,
                             .continuous = true,
                             .degree = 2,
                             .shift = 2,
                             .richer = SNW_BASIS_CUBIC,
                             .eval = quadratic,
                             .d1 = quadratic_d1,
                             .place = lagrange_place},
    [SNW_BASIS_CUBIC] = {.name = "cubic",
                         .meaning = "degree 3 in each element, continuous",
                         .piecewise = true,
                         .continuous = true,
                         .degree = 3,
                         .shift = 3,
                         .richer = SNW_BASIS_CUBIC,
                         .eval = cubic,
                         .d1 = cubic_d1,
                         .place = lagrange_place},
    [SNW_BASIS_SPLINE] = {.name = "spline",
                          .meaning = "B-splines of this degree, smooth: all derivatives below the "
                                     "degree are continuous",
                          .number = "degree",
                          .most = 8,
                          .piecewise = true,
                          .continuous = true,
                          .shift = 1,
                          .richer = SNW_BASIS_SPLINE,
                          .eval = spline,
                          .d1 = spline_d1,
                          .place = spline_place},
    [SNW_BASIS_DISCONTINUOUS] = {.name = "discontinuous",
                                 .meaning = "polynomials of this degree in each element, jumps "
                                            "between them",
                                 .number = "degree",
                                 .most = MOST_GAUSS - 1,
                                 .piecewise = true,
                                 .separate = true,
                                 .richer = SNW_BASIS_DISCONTINUOUS,
                                 .eval = discontinuous,
                                 .d1 = discontinuous_d1,
                                 .place = discontinuous_place},
    [SNW_BASIS_FUNCTIONS] = {.name = "functions",
                             .meaning = "functions given by the user",
                             .richer = SNW_BASIS_FUNCTIONS,
                             .eval = snw_function_set_eval,
                             .d1 = snw_function_set_d1},
};
