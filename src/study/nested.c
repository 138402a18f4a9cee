// SPDX-License-Identifier: MIT
//
// Richer strain bases, and least-squares projections between two bases by exact quadrature of
// products of their functions. For src/study/truncation.c, theory.md 5.1
#include "study/nested.h"

#include "base/alloc.h"
#include "math/function_set.h"
#include "math/quadrature.h"
#include "solve/dense.h"

#include <string.h>

enum {
    MIN_MORE = 4, // functions added to a global basis, at least
    MAX_MORE = 12 // at most
};

// ---- richer bases

static int richer_size(int n, bool generous) {
    const int least = n < MIN_MORE || !generous ? MIN_MORE : n;
    return n + (least > MAX_MORE ? MAX_MORE : least);
}

// Splits each element of b in `parts`; out->kind is set.
static snw_status split_elements(snw_pool *pool, const snw_basis *b, int parts, snw_basis *out) {
    double *breaks = snw_pool_array(pool, (size_t)(b->nelem * parts) + 1, sizeof *breaks);
    if (!breaks) return SNW_E_MEMORY;
    for (int i = 0; i < b->nelem * parts; i++) {
        const double from = snw_basis_break(b, i / parts), to = snw_basis_break(b, i / parts + 1);
        breaks[i] = from + (to - from) * (i % parts) / parts;
    }
    breaks[b->nelem * parts] = 1;
    out->nelem = b->nelem * parts;
    out->breaks = breaks;
    out->nfun = snw_basis_size(out->kind, snw_basis_degree(b), out->nelem);
    return SNW_OK;
}

snw_status snw_nested_enrich(snw_pool *pool, const snw_basis *b, bool generous, snw_basis *out) {
    const snw_basis_type *type = &snw_basis_table[b->kind];
    if (b->set)
        return snw_function_set_enrich(pool, b, richer_size(b->nfun, generous) - b->nfun, out);
    *out = *b;
    if (!type->piecewise || generous) out->kind = type->richer;
    if (type->piecewise)
        return split_elements(pool, b, generous && snw_basis_degree(b) == 0 ? 3 : 2, out);
    // functions that are not polynomials are represented up to a small error
    out->nfun = type->polynomial_degree ? 2 * b->nfun + 12 : richer_size(b->nfun, generous);
    return SNW_OK;
}

// ---- projections between the bases

// Integrals of products of basis functions.
typedef struct products {
    const snw_basis *to, *from;
    double *G,
        *F; // Gram matrix of `to`; products of `to` with `from` (to x from); column major
} products;

int snw_nested_element(const snw_basis *b, double x) {
    int e = 0;
    while (e + 1 < b->nelem && x >= snw_basis_break(b, e + 1)) e++;
    return e;
}

// fine: the one of both whose elements subdivide those of the other.
static void nested_add_products(const products *s, const snw_basis *fine, double *phi,
                                double *psi) {
    enum { MOST_POINTS = 200 };
    double x[MOST_POINTS], w[MOST_POINTS];
    const int degree = snw_basis_degree(s->to) + snw_basis_degree(s->from);
    const int n = degree + 2 < MOST_POINTS ? degree + 2 : MOST_POINTS;
    const size_t rows = (size_t)s->to->nfun;
    snw_gauss(n, x, w);
    for (int e = 0; e < fine->nelem; e++) {
        const double a = snw_basis_break(fine, e), h = snw_basis_break(fine, e + 1) - a;
        const int et = snw_nested_element(s->to, a + 0.5 * h),
                  ef = snw_nested_element(s->from, a + 0.5 * h);
        int first, count, first_f, count_f;
        snw_basis_support(s->to, et, &first, &count);
        snw_basis_support(s->from, ef, &first_f, &count_f);
        for (int p = 0; p < n; p++) {
            snw_basis_eval(s->to, et, a + h * x[p], phi);
            snw_basis_eval(s->from, ef, a + h * x[p], psi);
            for (int i = 0; i < count; i++) {
                const double v = h * w[p] * phi[i];
                const size_t row = (size_t)(first + i);
                for (int j = 0; j < count; j++)
                    s->G[(size_t)(first + j) * rows + row] += v * phi[j];
                for (int j = 0; j < count_f; j++) {
                    s->F[(size_t)(first_f + j) * rows + row] += v * psi[j];
                }
            }
        }
    }
}

snw_status snw_nested_projection(snw_pool *pool, const snw_basis *to, const snw_basis *from,
                                 const snw_basis *fine, double **out) {
    const size_t n = (size_t)to->nfun, k = (size_t)from->nfun;
    double *G = snw_alloc((n * n + 2 * SNW_BASIS_MAX_FUNCTIONS) * sizeof *G);
    *out = snw_pool_array(pool, n * k, sizeof **out);
    if (!G || !*out) {
        snw_free(G);
        return SNW_E_MEMORY;
    }
    memset(G, 0, n * n * sizeof *G);
    memset(*out, 0, n * k * sizeof **out);
    const products s = {.to = to, .from = from, .G = G, .F = *out};
    nested_add_products(&s, fine, G + n * n, G + n * n + SNW_BASIS_MAX_FUNCTIONS);
    const snw_status status = snw_cholesky_factor((int)n, G);
    for (size_t j = 0; status == SNW_OK && j < k; j++) snw_cholesky_solve((int)n, G, *out + j * n);
    snw_free(G);
    return status;
}

snw_status snw_nested_remainder(snw_pool *pool, const double *up, const double *down, int n,
                                int rich, double **cut) {
    const size_t N = (size_t)rich, K = (size_t)n;
    *cut = snw_pool_array(pool, N * N, sizeof **cut);
    if (!*cut) return SNW_E_MEMORY;
    for (size_t j = 0; j < N; j++) {
        for (size_t i = 0; i < N; i++) {
            double v = i == j;
            for (size_t k = 0; k < K; k++) v -= up[k * N + i] * down[j * K + k];
            (*cut)[j * N + i] = v;
        }
    }
    return SNW_OK;
}
