// SPDX-License-Identifier: MIT
//
// Projections between nested bases by bands are those by full matrices, on equal and unequal
// elements; embedded coordinates describe the same field.
#include "near.h"
#include "study/nested.h"
#include "study/nested_bands.h"

#include <math.h>
#include <stdlib.h>

static const double uneven[] = {0, 0.1, 0.35, 0.4, 0.8, 1};

// A basis of each kind on five elements; for global ones on one.
static snw_basis basis_of(snw_basis_kind kind, bool equal) {
    const int number = snw_basis_table[kind].number ? 3 : 0;
    snw_basis b = {.kind = kind, .nelem = snw_basis_piecewise(kind) ? 5 : 1};
    b.nfun = snw_basis_piecewise(kind) ? snw_basis_size(kind, number, b.nelem) : 3;
    b.breaks = equal || b.nelem == 1 ? NULL : uneven;
    return b;
}

static void check(snw_pool *pool, snw_basis_kind kind, bool equal) {
    const snw_basis b = basis_of(kind, equal);
    snw_basis rich;
    double *up, *down, *cut;
    snw_nested_bands *bands;
    assert_int_equal(snw_nested_enrich(pool, &b, false, &rich), SNW_OK);
    const snw_basis *fine = rich.nelem > 1 ? &rich : &b;
    assert_int_equal(snw_nested_projection(pool, &rich, &b, fine, &up), SNW_OK);
    assert_int_equal(snw_nested_projection(pool, &b, &rich, fine, &down), SNW_OK);
    assert_int_equal(snw_nested_remainder(pool, up, down, b.nfun, rich.nfun, &cut), SNW_OK);
    assert_int_equal(snw_nested_bands_create(pool, &rich, &b, &bands), SNW_OK);
    enum { MOST = 64 };
    double x[MOST], y[MOST], z[MOST];
    assert_true(rich.nfun <= MOST);

    for (int j = 0; j < b.nfun; j++) x[j] = sin(3 * j + 1);
    snw_nested_bands_embed(bands, x, y);
    for (int i = 0; i < rich.nfun; i++) {
        double want = 0;
        for (int j = 0; j < b.nfun; j++) want += up[j * rich.nfun + i] * x[j];
        assert_near(y[i], want, 1e-12);
    }
    for (int k = 0; k < 20; k++) { // the same field
        const double at = (k + 0.5) / 20;
        const snw_basis *of[2] = {&b, &rich};
        double phi[MOST], value[2] = {0, 0};
        for (int n = 0; n < 2; n++) {
            int first, count;
            const int e = snw_nested_element(of[n], at);
            snw_basis_support(of[n], e, &first, &count);
            snw_basis_eval(of[n], e, at, phi);
            for (int i = 0; i < count; i++) value[n] += phi[i] * (n ? y : x)[first + i];
        }
        assert_near(value[1], value[0], 1e-11);
    }

    for (int i = 0; i < rich.nfun; i++) x[i] = z[i] = cos(2 * i * i + 1);
    snw_nested_bands_cut(bands, x, y);
    snw_nested_bands_cut_transposed(bands, z);
    for (int i = 0; i < rich.nfun; i++) {
        double want = 0, transposed = 0;
        for (int j = 0; j < rich.nfun; j++) {
            want += cut[j * rich.nfun + i] * x[j];
            transposed += cut[i * rich.nfun + j] * x[j];
        }
        assert_near(y[i], want, 1e-12);
        assert_near(z[i], transposed, 1e-12);
    }
}

static void bands_are_the_full_matrices(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 24);
    for (int kind = 0; kind < SNW_BASIS_COUNT; kind++) {
        if (kind == SNW_BASIS_FOURIER) continue; // richer polynomials hold it to 1e-8 only
        check(pool, (snw_basis_kind)kind, true);
        check(pool, (snw_basis_kind)kind, false);
    }
    snw_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bands_are_the_full_matrices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
