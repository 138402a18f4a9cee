// SPDX-License-Identifier: MIT
//
// Values, derivatives, supports and degrees of the strain bases, theory.md (2.1) and 3 (many
// monomials).
#include "math/basis.h"

#include "base/fail.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

static const struct {
    const char *name;
    bool piecewise;
} table[] = {
#define X(code, name, piecewise) [code] = {name, piecewise},
    SNW_BASIS_LIST(X)
#undef X
};

const char *snw_basis_name(snw_basis_kind kind) { return table[kind].name; }
bool snw_basis_piecewise(snw_basis_kind kind) { return table[kind].piecewise; }

// Degree of a piecewise basis, -1 for a global one.
static int element_degree(snw_basis_kind kind) {
    switch (kind) {
    case SNW_BASIS_LEGENDRE:
    case SNW_BASIS_CHEBYSHEV:
    case SNW_BASIS_MONOMIAL:
    case SNW_BASIS_FOURIER:
        return -1;
    case SNW_BASIS_CONSTANT:
        return 0;
    case SNW_BASIS_LINEAR:
        return 1;
    case SNW_BASIS_QUADRATIC:
        return 2;
    case SNW_BASIS_CUBIC:
        return 3;
    }
    return -1;
}

snw_basis snw_basis_well_conditioned(const snw_basis *b) {
    snw_basis out = *b;
    if (b->kind == SNW_BASIS_MONOMIAL && b->nfun > SNW_BASIS_MONOMIALS) {
        out.kind = SNW_BASIS_LEGENDRE;
    }
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

int snw_basis_size(snw_basis_kind kind, int nelem) {
    const int degree = element_degree(kind);
    SNW_ASSERT(degree >= 0 && nelem >= 1);
    return degree == 0 ? nelem : degree * nelem + 1;
}

// The Chebyshev coefficients of sin(2 pi k x) on [0, 1] are Bessel functions J_j(pi k), which are
// below 1e-16 for j > y + 13 y^(1/3), y = pi k (checked up to k = 200).
static int fourier_degree(int nfun) {
    const int k = nfun / 2; // highest frequency
    const double y = pi * k;
    return (int)ceil(y + 13 * cbrt(y));
}

int snw_basis_degree(const snw_basis *b) {
    const int degree = element_degree(b->kind);
    if (degree >= 0) return degree;
    return b->kind == SNW_BASIS_FOURIER ? fourier_degree(b->nfun) : b->nfun - 1;
}

double snw_basis_break(const snw_basis *b, int i) {
    SNW_ASSERT(i >= 0 && i <= b->nelem);
    return b->breaks ? b->breaks[i] : (double)i / b->nelem;
}

void snw_basis_support(const snw_basis *b, int element, int *first, int *count) {
    SNW_ASSERT(element >= 0 && element < b->nelem);
    const int degree = element_degree(b->kind);
    *first = degree < 0 ? 0 : degree == 0 ? element : degree * element;
    *count = degree < 0 ? b->nfun : degree + 1;
}

// P_j(t), (j+1) P_{j+1} = (2j+1) t P_j - j P_{j-1}
static void basis_legendre(int n, double t, double *phi) {
    phi[0] = 1;
    if (n > 1) phi[1] = t;
    for (int j = 1; j + 1 < n; j++) {
        phi[j + 1] = ((2 * j + 1) * t * phi[j] - j * phi[j - 1]) / (j + 1);
    }
}

// T_j(t), T_{j+1} = 2 t T_j - T_{j-1}
static void chebyshev(int n, double t, double *phi) {
    phi[0] = 1;
    if (n > 1) phi[1] = t;
    for (int j = 1; j + 1 < n; j++) phi[j + 1] = 2 * t * phi[j] - phi[j - 1];
}

static void monomial(int n, double x, double *phi) {
    if (n > 0) phi[0] = 1;
    for (int j = 1; j < n; j++) phi[j] = phi[j - 1] * x;
}

// 1, sin 2 pi x, cos 2 pi x, sin 4 pi x, ...; whole turns are subtracted first, so that the values
// at both ends are exact
static void fourier(int n, double x, double *phi) {
    phi[0] = 1;
    for (int j = 1; j < n; j++) {
        const int k = (j + 1) / 2;
        const double turns = k * x, angle = 2 * pi * (turns - round(turns));
        phi[j] = j % 2 ? sin(angle) : cos(angle);
    }
}

void snw_basis_eval(const snw_basis *b, int element, double x, double *phi) {
    SNW_ASSERT(element >= 0 && element < b->nelem && b->nfun >= 1);
    const double x0 = snw_basis_break(b, element), x1 = snw_basis_break(b, element + 1);
    const double t = (x - x0) / (x1 - x0); // local coordinate, exactly 0 and 1 at the ends
    switch (b->kind) {
    case SNW_BASIS_LEGENDRE:
        basis_legendre(b->nfun, 2 * x - 1, phi);
        return;
    case SNW_BASIS_CHEBYSHEV:
        chebyshev(b->nfun, 2 * x - 1, phi);
        return;
    case SNW_BASIS_MONOMIAL:
        monomial(b->nfun, x, phi);
        return;
    case SNW_BASIS_FOURIER:
        fourier(b->nfun, x, phi);
        return;
    case SNW_BASIS_CONSTANT:
        phi[0] = 1;
        return;
    case SNW_BASIS_LINEAR:
        phi[0] = 1 - t;
        phi[1] = t;
        return;
    case SNW_BASIS_QUADRATIC:
        phi[0] = (1 - t) * (1 - 2 * t);
        phi[1] = 4 * t * (1 - t);
        phi[2] = t * (2 * t - 1);
        return;
    case SNW_BASIS_CUBIC:
        phi[0] = 0.5 * (1 - 3 * t) * (2 - 3 * t) * (1 - t);
        phi[1] = 4.5 * t * (2 - 3 * t) * (1 - t);
        phi[2] = 4.5 * t * (3 * t - 1) * (1 - t);
        phi[3] = 0.5 * t * (3 * t - 1) * (3 * t - 2);
        return;
    }
}

// ---- derivatives -------------------------------------------------------------------------------

// P'_j in t: P'_{j+1} = P'_{j-1} + (2j+1) P_j
static void legendre_d1(int n, double t, double *d) {
    double before = 1, P = t; // P_{j-1}, P_j
    d[0] = 0;
    if (n > 1) d[1] = 1;
    for (int j = 1; j + 1 < n; j++) {
        d[j + 1] = d[j - 1] + (2 * j + 1) * P;
        const double next = ((2 * j + 1) * t * P - j * before) / (j + 1);
        before = P, P = next;
    }
}

// T'_{j+1} = 2 T_j + 2 t T'_j - T'_{j-1}
static void chebyshev_d1(int n, double t, double *d) {
    double before = 1, T = t;
    d[0] = 0;
    if (n > 1) d[1] = 1;
    for (int j = 1; j + 1 < n; j++) {
        d[j + 1] = 2 * T + 2 * t * d[j] - d[j - 1];
        const double next = 2 * t * T - before;
        before = T, T = next;
    }
}

static void monomial_d1(int n, double x, double *d) {
    double power = 1;
    d[0] = 0;
    for (int j = 1; j < n; j++, power *= x) d[j] = j * power;
}

// the derivative of sin 2 pi k x is 2 pi k cos 2 pi k x, which follows it in the basis
static void fourier_d1(int n, double x, double *d) {
    d[0] = 0;
    for (int j = 1; j < n; j++) {
        const int k = (j + 1) / 2;
        const double turns = k * x, angle = 2 * pi * (turns - round(turns));
        d[j] = 2 * pi * k * (j % 2 ? cos(angle) : -sin(angle));
    }
}

void snw_basis_d1(const snw_basis *b, int element, double x, double *d) {
    SNW_ASSERT(element >= 0 && element < b->nelem && b->nfun >= 1);
    const double x0 = snw_basis_break(b, element), x1 = snw_basis_break(b, element + 1);
    const double inverse_length = 1 / (x1 - x0), t = inverse_length * (x - x0);
    switch (b->kind) {
    case SNW_BASIS_LEGENDRE:
        legendre_d1(b->nfun, 2 * x - 1, d);
        for (int j = 0; j < b->nfun; j++) d[j] *= 2;
        return;
    case SNW_BASIS_CHEBYSHEV:
        chebyshev_d1(b->nfun, 2 * x - 1, d);
        for (int j = 0; j < b->nfun; j++) d[j] *= 2;
        return;
    case SNW_BASIS_MONOMIAL:
        monomial_d1(b->nfun, x, d);
        return;
    case SNW_BASIS_FOURIER:
        fourier_d1(b->nfun, x, d);
        return;
    case SNW_BASIS_CONSTANT:
        d[0] = 0;
        return;
    case SNW_BASIS_LINEAR:
        d[0] = -inverse_length;
        d[1] = inverse_length;
        return;
    case SNW_BASIS_QUADRATIC:
        d[0] = inverse_length * (4 * t - 3);
        d[1] = inverse_length * (4 - 8 * t);
        d[2] = inverse_length * (4 * t - 1);
        return;
    case SNW_BASIS_CUBIC:
        d[0] = inverse_length * (-5.5 + t * (18 - 13.5 * t));
        d[1] = inverse_length * (9 + t * (-45 + 40.5 * t));
        d[2] = inverse_length * (-4.5 + t * (36 - 40.5 * t));
        d[3] = inverse_length * (1 + t * (-9 + 13.5 * t));
        return;
    }
}
