// SPDX-License-Identifier: MIT
//
// Projections between nested bases with many elements. With the Gram matrices G and Ĝ of a basis
// and of a richer one, and M = (products of the richer functions with those of the basis),
//   P = Ĝ⁻¹ M,  P⁺ = G⁻¹ M',  C = 1 - P P⁺.
// G, Ĝ and M have entries near the diagonal only, since functions live on few elements.
#include "study/nested_bands.h"

#include "base/fail.h"
#include "math/quadrature.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

// Symmetric band matrix, row i: entries at columns i - width .. i.
typedef struct band {
    int n, width;
    double *row; // n x (width + 1)
} band;

struct snw_nested_bands {
    band own, rich; // Cholesky factors of G and Ĝ
    int span;       // columns of M in a row
    int *first;     // first column of each row of M
    double *M;      // rows of the richer functions
    double *a, *b;  // numbers of the functions of the basis, of the richer one
    double *value;  // of the functions of both on an element
};

// ---- band matrices ------------------------------------------------------------------------------

static double *band_at(const band *x, int i, int j) {
    return &x->row[(size_t)i * (size_t)(x->width + 1) + (size_t)(j - i + x->width)];
}

// x <- its Cholesky factor
static snw_status band_factor(band *x) {
    for (int i = 0; i < x->n; i++) {
        const int from = i > x->width ? i - x->width : 0;
        for (int j = from; j <= i; j++) {
            const int low = j - x->width > from ? j - x->width : from;
            const double rest =
                *band_at(x, i, j) - snw_vector_dot(j - low, band_at(x, i, low), band_at(x, j, low));
            if (j == i && !(rest > 0)) return SNW_E_SINGULAR;
            *band_at(x, i, j) = j == i ? sqrt(rest) : rest / *band_at(x, j, j);
        }
    }
    return SNW_OK;
}

static void band_solve(const band *x, double *b) {
    for (int i = 0; i < x->n; i++) {
        const int from = i > x->width ? i - x->width : 0;
        b[i] = (b[i] - snw_vector_dot(i - from, band_at(x, i, from), b + from)) / *band_at(x, i, i);
    }
    for (int i = x->n - 1; i >= 0; i--) {
        const int from = i > x->width ? i - x->width : 0;
        b[i] /= *band_at(x, i, i);
        for (int j = from; j < i; j++) b[j] -= b[i] * *band_at(x, i, j);
    }
}

// ---- products of functions ----------------------------------------------------------------------

// The functions of both bases on an element of the richer one.
typedef struct common_element {
    int e, own;             // its number; the element of the basis that contains it
    int first[2], count[2]; // functions of the basis, of the richer one
} common_element;

static bool next_element(const snw_basis *rich, const snw_basis *b, common_element *at) {
    if (++at->e >= rich->nelem) return false;
    const double middle = 0.5 * (snw_basis_break(rich, at->e) + snw_basis_break(rich, at->e + 1));
    while (at->own + 1 < b->nelem && middle >= snw_basis_break(b, at->own + 1)) at->own++;
    snw_basis_support(b, at->own, &at->first[0], &at->count[0]);
    snw_basis_support(rich, at->e, &at->first[1], &at->count[1]);
    return true;
}

// Widths of the bands, and the first column of each row of M.
static void find_bands(snw_nested_bands *x, const snw_basis *rich, const snw_basis *b) {
    for (int i = 0; i < rich->nfun; i++) x->first[i] = b->nfun;
    for (common_element at = {.e = -1}; next_element(rich, b, &at);) {
        if (at.count[0] - 1 > x->own.width) x->own.width = at.count[0] - 1;
        if (at.count[1] - 1 > x->rich.width) x->rich.width = at.count[1] - 1;
        for (int i = at.first[1]; i < at.first[1] + at.count[1]; i++) {
            if (at.first[0] < x->first[i]) x->first[i] = at.first[0];
            const int span = at.first[0] + at.count[0] - x->first[i];
            if (span > x->span) x->span = span;
        }
    }
    // all rows have the same length, also the last ones
    for (int i = 0; i < rich->nfun; i++) {
        if (x->first[i] > b->nfun - x->span) x->first[i] = b->nfun - x->span;
    }
}

// Sums of products by Gauss' formula, exact for polynomials.
static void add_products(snw_nested_bands *x, const snw_basis *rich, const snw_basis *b,
                         double *psi, double *phi) {
    enum { MOST_POINTS = 200 };
    double at[MOST_POINTS], weight[MOST_POINTS];
    const int degree = 2 * snw_basis_degree(rich) + 2;
    const int n = degree < MOST_POINTS ? degree : MOST_POINTS;
    snw_gauss(n, at, weight);
    for (common_element on = {.e = -1}; next_element(rich, b, &on);) {
        const double from = snw_basis_break(rich, on.e);
        const double h = snw_basis_break(rich, on.e + 1) - from;
        for (int p = 0; p < n; p++) {
            snw_basis_eval(b, on.own, from + h * at[p], psi);
            snw_basis_eval(rich, on.e, from + h * at[p], phi);
            for (int i = 0; i < on.count[0]; i++) {
                const int row = on.first[0] + i;
                for (int j = 0; j <= i; j++)
                    *band_at(&x->own, row, on.first[0] + j) += h * weight[p] * psi[i] * psi[j];
            }
            for (int i = 0; i < on.count[1]; i++) {
                const int row = on.first[1] + i;
                double *M = x->M + (size_t)row * (size_t)x->span + (on.first[0] - x->first[row]);
                for (int j = 0; j <= i; j++)
                    *band_at(&x->rich, row, on.first[1] + j) += h * weight[p] * phi[i] * phi[j];
                for (int j = 0; j < on.count[0]; j++) M[j] += h * weight[p] * phi[i] * psi[j];
            }
        }
    }
}

snw_status snw_nested_bands_create(snw_pool *pool, const snw_basis *rich, const snw_basis *b,
                                   snw_nested_bands **out) {
    const size_t n = (size_t)b->nfun, N = (size_t)rich->nfun;
    snw_nested_bands *x = *out = snw_pool_take(pool, sizeof *x);
    if (!x) return SNW_E_MEMORY;
    x->own.n = b->nfun;
    x->rich.n = rich->nfun;
    x->first = snw_pool_array(pool, N, sizeof *x->first);
    if (!x->first) return SNW_E_MEMORY;
    find_bands(x, rich, b);
    x->own.row = snw_pool_array(pool, n * (size_t)(x->own.width + 1), sizeof(double));
    x->rich.row = snw_pool_array(pool, N * (size_t)(x->rich.width + 1), sizeof(double));
    x->M = snw_pool_array(pool, N * (size_t)x->span, sizeof(double));
    x->a = snw_pool_array(pool, n, sizeof(double));
    x->b = snw_pool_array(pool, N, sizeof(double));
    x->value = snw_pool_array(pool, 2 * SNW_BASIS_MAX_FUNCTIONS, sizeof(double));
    if (!x->own.row || !x->rich.row || !x->M || !x->a || !x->b || !x->value) return SNW_E_MEMORY;
    add_products(x, rich, b, x->value, x->value + SNW_BASIS_MAX_FUNCTIONS);
    SNW_TRY(band_factor(&x->own));
    return band_factor(&x->rich);
}

// ---- projections --------------------------------------------------------------------------------

// to (richer functions) <- M from
static void products_times(const snw_nested_bands *x, const double *from, double *to) {
    for (int i = 0; i < x->rich.n; i++)
        to[i] = snw_vector_dot(x->span, x->M + (size_t)i * (size_t)x->span, from + x->first[i]);
}

// to (functions of the basis) <- M' from
static void products_transposed(const snw_nested_bands *x, const double *from, double *to) {
    for (int j = 0; j < x->own.n; j++) to[j] = 0;
    for (int i = 0; i < x->rich.n; i++) {
        for (int j = 0; j < x->span; j++)
            to[x->first[i] + j] += x->M[(size_t)i * (size_t)x->span + (size_t)j] * from[i];
    }
}

void snw_nested_bands_embed(const snw_nested_bands *x, const double *from, double *to) {
    products_times(x, from, to);
    band_solve(&x->rich, to);
}

void snw_nested_bands_cut(const snw_nested_bands *x, const double *d, double *to) {
    products_transposed(x, d, x->a);
    band_solve(&x->own, x->a);
    snw_nested_bands_embed(x, x->a, to);
    for (int i = 0; i < x->rich.n; i++) to[i] = d[i] - to[i];
}

void snw_nested_bands_cut_transposed(const snw_nested_bands *x, double *r) {
    memcpy(x->b, r, (size_t)x->rich.n * sizeof *r);
    band_solve(&x->rich, x->b);
    products_transposed(x, x->b, x->a);
    band_solve(&x->own, x->a);
    products_times(x, x->a, x->b);
    for (int i = 0; i < x->rich.n; i++) r[i] -= x->b[i];
}
