// SPDX-License-Identifier: MIT
#include "solve/sparse.h"

#include "base/alloc.h"
#include "solve/dense.h"
#include "solve/tangent.h"

#include "near.h"

#include <string.h>

static double noise(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 23) - 1;
}

enum { MOST = 160 };

// a matrix with its pattern
typedef struct sample {
    int n;
    double A[MOST * MOST];
    bool known[MOST * MOST], bound[MOST];
    int start[MOST + 1], row[MOST * MOST];
} sample;

static void list(sample *s) {
    s->start[0] = 0;
    for (int j = 0; j < s->n; j++) {
        s->start[j + 1] = s->start[j];
        for (int i = 0; i < s->n; i++) {
            if (s->known[j * s->n + i]) s->row[s->start[j + 1]++] = i;
        }
    }
}

static void put(sample *s, int i, int j, double a, double b) {
    s->known[j * s->n + i] = s->known[i * s->n + j] = true;
    s->A[j * s->n + i] = a;
    s->A[i * s->n + j] = b;
}

// limbs of `size` coordinates, each attached to a platform of six by `rows` multipliers; only the
// pattern is symmetric, units have very different magnitudes
static void limbs(sample *s, int limbs_n, int size, int rows, unsigned seed) {
    *s = (sample){.n = limbs_n * (size + rows) + 6};
    const int platform = limbs_n * size, first = platform + 6;
    assert_true(s->n <= MOST);
    for (int l = 0; l <= limbs_n; l++) {
        const int from = l * size, to = l < limbs_n ? from + size : first;
        for (int i = from; i < to; i++) {
            for (int j = from; j < i; j++) put(s, i, j, noise(&seed), noise(&seed));
            put(s, i, i, 3 + noise(&seed), 0);
            s->A[i * s->n + i] = 3 + noise(&seed);
        }
        for (int r = first + l * rows; l < limbs_n && r < first + (l + 1) * rows; r++) {
            s->bound[r] = true;
            for (int j = from; j < to; j++) put(s, r, j, 1e3 * noise(&seed), noise(&seed));
            for (int j = platform; j < first; j++) put(s, r, j, 1e3 * noise(&seed), noise(&seed));
        }
    }
    list(s);
}

static snw_matrix dense(sample *s) { return snw_matrix_dense((size_t)s->n, s->A); }

static snw_sparse *create(const sample *s) {
    snw_sparse *sp = NULL;
    assert_int_equal(snw_sparse_create(s->n, s->start, s->row, s->bound, NULL, &sp), SNW_OK);
    return sp;
}

// largest |A x - b| relative to the sizes of the terms
static double residual(const sample *s, const double *x, const double *b) {
    double worst = 0;
    for (int i = 0; i < s->n; i++) {
        double sum = -b[i], size = fabs(b[i]);
        for (int j = 0; j < s->n; j++) {
            const double term = s->A[j * s->n + i] * x[j];
            sum += term, size += fabs(term);
        }
        worst = fmax(worst, fabs(sum) / size);
    }
    return worst;
}

static void solves_what_lapack_solves(void **state) {
    (void)state;
    static sample s;
    static double LU[MOST * MOST];
    double x[MOST], y[MOST], b[MOST];
    int pivot[MOST];
    // more rows than coordinates in a limb: rows must be exchanged with those of the platform
    static const int kind[][3] = {{1, 1, 0},  {2, 3, 1}, {4, 12, 3}, {8, 12, 5},
                                  {10, 2, 2}, {3, 2, 3}, {9, 6, 6}};
    for (unsigned k = 0; k < sizeof kind / sizeof kind[0]; k++) {
        unsigned seed = k + 1;
        limbs(&s, kind[k][0], kind[k][1], kind[k][2], 7 * k + 5);
        for (int i = 0; i < s.n; i++) b[i] = x[i] = y[i] = noise(&seed);
        snw_sparse *sp = create(&s);
        assert_int_equal(snw_sparse_factor(sp, dense(&s)), SNW_OK);
        snw_sparse_solve(sp, x);
        memcpy(LU, s.A, sizeof LU);
        assert_int_equal(snw_lu_factor(s.n, LU, pivot), SNW_OK);
        snw_lu_solve(s.n, LU, pivot, y);
        // backward stable: rounding, times the growth allowed by pivots of a tenth; the solutions
        // differ by the condition number
        assert_true(residual(&s, x, b) < 1e-12);
        for (int i = 0; i < s.n; i++) assert_near(x[i], y[i], 1e-9);
        snw_sparse_destroy(sp);
    }
}

// A compressed matrix has the entries of the dense one, the same factors to the last bit, and more
// room for them where exchanges of rows need it.
static void compressed_matrices_give_the_same_bits(void **state) {
    (void)state;
    static sample s;
    double x[MOST], y[MOST], a[MOST], b[MOST];
    unsigned seed = 77;
    for (unsigned k = 0; k < 8; k++) {
        limbs(&s, 3 + (int)k % 4, 9, (int)k % 5, 90 + k);
        snw_sparse *sp = create(&s), *compressed = create(&s);
        assert_false(snw_sparse_is_compressed(sp));
        assert_int_equal(snw_sparse_compress(compressed), SNW_OK);
        const snw_matrix A = snw_sparse_matrix(compressed);
        snw_sparse_clear(compressed, A);
        for (int i = 0; i < s.n; i++) { // rows first: columns are searched
            for (int j = 0; j < s.n; j++) {
                if (s.known[j * s.n + i]) *snw_matrix_at(A, i, j) = s.A[j * s.n + i];
            }
        }
        for (int i = 0; i < s.n; i++) a[i] = b[i] = x[i] = y[i] = noise(&seed);
        snw_sparse_multiply(sp, dense(&s), a, x);
        snw_sparse_multiply(compressed, A, a, y);
        assert_memory_equal(x, y, (size_t)s.n * sizeof *x);
        assert_int_equal(snw_sparse_factor(sp, dense(&s)), SNW_OK);
        assert_int_equal(snw_sparse_factor(compressed, A), SNW_OK);
        snw_sparse_solve(sp, a);
        snw_sparse_solve(compressed, b);
        assert_memory_equal(a, b, (size_t)s.n * sizeof *a);
        snw_sparse_destroy(sp);
        snw_sparse_destroy(compressed);
    }
}

// A chain of springs that nothing holds, and one that a weak spring holds: the first is singular,
// of the other the estimate of its condition decides. Pivots without exchanges lose digits one by
// one.
static void chains_that_nothing_holds_are_singular(void **state) {
    (void)state;
    static sample s;
    static _Alignas(64) unsigned char memory[1 << 20];
    const struct {
        double hold;
        snw_status status;
    } trial[] = {{0, SNW_E_SINGULAR}, {1e-17, SNW_E_SINGULAR}, {1e-3, SNW_OK}, {1, SNW_OK}};
    for (int k = 0; k < 4; k++) {
        s = (sample){.n = 100};
        for (int i = 0; i < s.n; i++) put(&s, i, i, 0, 0);
        for (int i = 0; i + 1 < s.n; i++) {
            const double stiff = i % 7 == 3 ? 1e3 : 1;
            put(&s, i, i + 1, -stiff, -stiff);
            s.A[i * (s.n + 1)] += stiff, s.A[(i + 1) * (s.n + 1)] += stiff;
        }
        s.A[0] += trial[k].hold;
        list(&s);
        snw_sparse *sp = create(&s);
        assert_int_equal(snw_sparse_compress(sp), SNW_OK);
        snw_sparse_prefer_diagonal(sp);
        snw_arena arena = {.base = memory, .size = sizeof memory};
        snw_tangent t = snw_tangent_take(s.n, (snw_own_factors){0}, sp, &arena);
        for (int round = 0; round < 2; round++) { // the second time with known rows of the factors
            for (int j = 0; j < s.n; j++) {
                for (int i = 0; i < s.n; i++) {
                    if (s.known[j * s.n + i]) *snw_matrix_at(t.J, i, j) = s.A[j * s.n + i];
                }
            }
            assert_int_equal(snw_tangent_factor(&t, true), trial[k].status);
        }
        snw_sparse_destroy(sp);
    }
}

// a tangent with rows in different units: both have the same solution and the same sign of the
// determinant
static void tangents_are_the_same_either_way(void **state) {
    (void)state;
    static sample s;
    static _Alignas(64) unsigned char memory[1 << 20];
    for (unsigned k = 0; k < 12; k++) {
        limbs(&s, 4, 9, 3, 40 + k);
        for (int i = 0; i < s.n; i++) {
            for (int j = 0; j < s.n; j++) s.A[j * s.n + i] *= pow(10, i % 9 - 4);
        }
        snw_arena arena = {.base = memory, .size = sizeof memory};
        snw_sparse *sp = create(&s);
        snw_tangent t[2] = {snw_tangent_take(s.n, (snw_own_factors){0}, NULL, &arena),
                            snw_tangent_take(s.n, (snw_own_factors){0}, sp, &arena)};
        double x[2][MOST];
        for (int i = 0; i < 2; i++) {
            memcpy(t[i].J.entry, s.A, (size_t)(s.n * s.n) * sizeof *s.A);
            for (int j = 0; j < s.n; j++) x[i][j] = pow(10, j % 9 - 4) * (j - 8);
            assert_int_equal(snw_tangent_factor(&t[i], true), SNW_OK);
            snw_tangent_solve(&t[i], x[i]);
        }
        assert_int_equal(t[1].sign, t[0].sign);
        for (int j = 0; j < s.n; j++) assert_near(x[1][j], x[0][j], 1e-9);
        snw_sparse_destroy(sp);
    }
}

// fill stays within the limbs: linear in their number
static void fill_stays_in_the_branch(void **state) {
    (void)state;
    static sample s;
    double entries[3];
    for (int k = 0; k < 3; k++) {
        limbs(&s, 4 + 3 * k, 12, 3, 3);
        snw_sparse *sp = create(&s);
        entries[k] = snw_sparse_foresee(sp).entries;
        snw_sparse_destroy(sp);
    }
    assert_near(entries[2] - entries[1], entries[1] - entries[0], 0);
    // twelve coordinates and three rows, and the coupling of the rows
    assert_near(entries[1] - entries[0], 3 * (15 * 15 + 2 * 3 * 6), 0);
}

static void order_does_not_begin_with_zeros(void **state) {
    (void)state;
    // one coordinate, one multiplier: the diagonal [1 0] is fine, no exchange
    static sample s;
    s = (sample){.n = 2, .bound = {true, false}};
    put(&s, 0, 1, 2, 2);
    put(&s, 1, 1, 4, 4);
    list(&s);
    snw_sparse *sp = create(&s);
    double x[2] = {2, 10}; // 2 y = 2, 2 l + 4 y = 10
    assert_int_equal(snw_sparse_factor(sp, dense(&s)), SNW_OK);
    snw_sparse_solve(sp, x);
    assert_near(x[1], 1, 0);
    assert_near(x[0], 3, 0);
    snw_sparse_destroy(sp);
}

static void same_numbers_give_same_bits(void **state) {
    (void)state;
    static sample s, other;
    double x[MOST], y[MOST];
    limbs(&s, 6, 12, 4, 11);
    limbs(&other, 6, 12, 4, 12);
    snw_sparse *a = create(&s), *b = create(&s);
    for (int i = 0; i < s.n; i++) x[i] = y[i] = i - 20;
    assert_int_equal(snw_sparse_factor(a, dense(&s)), SNW_OK);
    assert_int_equal(snw_sparse_factor(b, dense(&other)),
                     SNW_OK); // earlier factors have no influence
    assert_int_equal(snw_sparse_factor(b, dense(&s)), SNW_OK);
    snw_sparse_solve(a, x);
    snw_sparse_solve(b, y);
    assert_memory_equal(x, y, (size_t)s.n * sizeof *x);
    snw_sparse_destroy(a);
    snw_sparse_destroy(b);
}

static void singular_and_not_finite_ones_are_refused(void **state) {
    (void)state;
    static sample s;
    limbs(&s, 5, 12, 3, 2);
    snw_sparse *sp = create(&s);
    assert_int_equal(snw_sparse_factor(sp, dense(&s)), SNW_OK);
    // NaN or infinity at any position of the pattern
    for (int j = 0; j < s.n; j++) {
        for (int p = s.start[j]; p < s.start[j + 1]; p++) {
            double *a = &s.A[j * s.n + s.row[p]], was = *a;
            *a = p % 2 ? NAN : INFINITY;
            assert_int_equal(snw_sparse_factor(sp, dense(&s)), SNW_E_SINGULAR);
            *a = was;
        }
    }
    // a column of zeros
    double column[MOST];
    memcpy(column, s.A + 30 * s.n, (size_t)s.n * sizeof *column);
    memset(s.A + 30 * s.n, 0, (size_t)s.n * sizeof *column);
    assert_int_equal(snw_sparse_factor(sp, dense(&s)), SNW_E_SINGULAR);
    memcpy(s.A + 30 * s.n, column, (size_t)s.n * sizeof *column);
    assert_int_equal(snw_sparse_factor(sp, dense(&s)), SNW_OK);
    // singular up to rounding: two columns are equal
    assert_true(snw_sparse_smallest(sp, dense(&s)) > 1e-6);
    for (int i = 0; i < s.n; i++) s.A[31 * s.n + i] = s.A[30 * s.n + i];
    if (snw_sparse_factor(sp, dense(&s)) == SNW_OK)
        assert_true(snw_sparse_smallest(sp, dense(&s)) < 1e-14);
    snw_sparse_destroy(sp);
    // more multipliers than coordinates
    limbs(&s, 1, 2, 9, 3);
    sp = create(&s);
    assert_int_equal(snw_sparse_factor(sp, dense(&s)), SNW_E_SINGULAR);
    snw_sparse_destroy(sp);
}

// many unknowns coupled to one hub, each diagonal a twentieth of the one before: every column takes
// its pivot from the row of the one before, and the upper factor is full
static void too_much_fill_is_reported(void **state) {
    (void)state;
    static sample s;
    s = (sample){.n = MOST};
    unsigned seed = 4;
    for (int i = 0; i < MOST; i++) put(&s, i, i, pow(0.05, i), pow(0.05, i));
    for (int i = 1; i < MOST; i++) put(&s, i, 0, 1, 1);
    list(&s);
    snw_sparse *sp = create(&s);
    const snw_status status = snw_sparse_factor(sp, dense(&s));
    // the next factorisation succeeds
    for (int i = 0; i < MOST; i++) s.A[i * MOST + i] = 100;
    assert_int_equal(snw_sparse_factor(sp, dense(&s)), SNW_OK);
    double x[MOST], b[MOST];
    for (int i = 0; i < MOST; i++) x[i] = b[i] = noise(&seed);
    snw_sparse_solve(sp, x);
    assert_true(residual(&s, x, b) < 1e-14);
    assert_int_equal(status, SNW_E_MEMORY);
    snw_sparse_destroy(sp);
}

static void only_the_pattern_is_touched(void **state) {
    (void)state;
    static sample s;
    limbs(&s, 5, 6, 3, 2);
    snw_sparse *sp = create(&s);
    for (int i = 0; i < s.n * s.n; i++) {
        if (!s.known[i]) s.A[i] = NAN;
    }
    const size_t before = snw_alloc_count();
    assert_int_equal(snw_sparse_factor(sp, dense(&s)), SNW_OK);
    snw_sparse_clear(sp, dense(&s));
    assert_int_equal(snw_alloc_count(), before);
    for (int i = 0; i < s.n * s.n; i++) assert_true(s.known[i] ? s.A[i] == 0 : isnan(s.A[i]));
    snw_sparse_destroy(sp);
    snw_sparse_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_what_lapack_solves),
        cmocka_unit_test(compressed_matrices_give_the_same_bits),
        cmocka_unit_test(chains_that_nothing_holds_are_singular),
        cmocka_unit_test(tangents_are_the_same_either_way),
        cmocka_unit_test(fill_stays_in_the_branch),
        cmocka_unit_test(order_does_not_begin_with_zeros),
        cmocka_unit_test(same_numbers_give_same_bits),
        cmocka_unit_test(singular_and_not_finite_ones_are_refused),
        cmocka_unit_test(too_much_fill_is_reported),
        cmocka_unit_test(only_the_pattern_is_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
