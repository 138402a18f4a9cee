// SPDX-License-Identifier: MIT
//
// Poles and lost modes. States are scaled first so that rows and columns of A have equal size: with
// displacements beside rates of fast motions, eigenvectors could not be compared otherwise. A mode
// with left eigenvectors W is reached when W'B has the rank of W; one with right eigenvectors V is
// seen when C V has the rank of V. Equal eigenvalues are taken together.
#include "solve/linear_system.h"

#include "base/fail.h"
#include "solve/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double lost = 1e-11, // relative size of a product that counts as zero
    equal = 1e-7,                 // distance of equal eigenvalues, relative
    equal_zero = 1e-10,           // the same near zero, relative to the largest
    parallel = 1e-6;              // singular value of equal directions
enum { SWEEPS = 20 };

static int most_of(int a, int b) { return a > b ? a : b; }

size_t snw_system_scratch(int n, int m) {
    enum { PIECES = 40 }; // arrays at a time, for their alignment
    const size_t N = (size_t)n + 1, wide = (size_t)most_of(n, m) + 1;
    const size_t svd[] = {snw_svd_scratch(2 * n, 2 * n), snw_svd_scratch(2 * m, 2 * n)};
    // matrices and eigenvectors; eigenvectors of a group, products and singular vectors, in real
    // form
    const size_t own = 7 * N * N + N * wide + 12 * N * N + 8 * N * wide + PIECES * (N + wide);
    return (own + PIECES * 8) * sizeof(double) + snw_eigen_general_scratch(n) +
           (svd[0] > svd[1] ? svd[0] : svd[1]);
}

// scale (n) <- powers of two with which A has rows and columns of equal size.
static void balance(int n, const double *A, double *scale) {
    for (int i = 0; i < n; i++) scale[i] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool changed = false;
        for (int i = 0; i < n; i++) {
            double row = 0, column = 0;
            for (int j = 0; j < n; j++) {
                if (j == i) continue;
                row += fabs(A[(size_t)j * (size_t)n + (size_t)i]) * scale[j] / scale[i];
                column += fabs(A[(size_t)i * (size_t)n + (size_t)j]) * scale[i] / scale[j];
            }
            if (!(row > 0 && column > 0)) continue;
            const double f = exp2(nearbyint(0.5 * log2(row / column)));
            if (f == 1) continue;
            scale[i] *= f;
            changed = true;
        }
        if (!changed) return;
    }
}

// Rank of A (m x n, overwritten) with singular values above tol.
static int rank_of(int m, int n, double *A, double tol, snw_arena *scratch) {
    const size_t mark = snw_arena_mark(scratch);
    const int k = m < n ? m : n;
    double *U = snw_arena_doubles(scratch, (size_t)m * (size_t)k + 1);
    double *S = snw_arena_doubles(scratch, (size_t)k + 1);
    double *Vt = snw_arena_doubles(scratch, (size_t)n * (size_t)n + 1);
    int rank = 0;
    if (k > 0 && snw_svd(m, n, A, scratch, U, S, Vt) == SNW_OK) {
        while (rank < k && S[rank] > tol) rank++;
    }
    snw_arena_reset(scratch, mark);
    return rank;
}

// V (n x k) <- orthonormal basis of the vectors that powers of S' - s annihilate, k of them: those
// of a defective eigenvalue. Each pass adds the vectors that S' - s takes to the span of the
// others. False: they were not found.
static bool invariant_space(int n, const double *S, bool transposed, double s, int k, double *V,
                            snw_arena *scratch) {
    const size_t N = (size_t)n, mark = snw_arena_mark(scratch);
    double *T = snw_arena_doubles(scratch, N * N), *U = snw_arena_doubles(scratch, N * N);
    double *size = snw_arena_doubles(scratch, N), *Vt = snw_arena_doubles(scratch, N * N);
    int found = 0;
    for (int pass = 0; pass < k && found < k; pass++) {
        for (size_t j = 0; j < N; j++) {
            for (size_t i = 0; i < N; i++)
                T[j * N + i] = (transposed ? S[i * N + j] : S[j * N + i]) - (i == j ? s : 0);
            for (int v = 0; v < found; v++) { // without its part in the span
                double part = 0;
                for (size_t i = 0; i < N; i++) part += V[(size_t)v * N + i] * T[j * N + i];
                for (size_t i = 0; i < N; i++) T[j * N + i] -= part * V[(size_t)v * N + i];
            }
        }
        if (snw_svd(n, n, T, scratch, U, size, Vt) != SNW_OK) break;
        const int before = found;
        found = 0;
        while (found < k && size[n - 1 - found] <= lost * size[0]) {
            for (size_t i = 0; i < N; i++)
                V[(size_t)found * N + i] = Vt[i * N + (N - 1 - (size_t)found)];
            found++;
        }
        if (found <= before) break;
    }
    snw_arena_reset(scratch, mark);
    return found == k;
}

// Q (k x k) <- with one more orthonormal column, the part of x (k) that is new; rank <- rank + 1 if
// there is one.
static void add_direction(int k, const double *x, double *Q, int *rank) {
    const size_t K = (size_t)k;
    if (*rank == k) return;
    double *to = Q + K * (size_t)*rank, size = 0;
    memcpy(to, x, K * sizeof *to);
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < *rank; j++) {
            double part = 0;
            for (size_t i = 0; i < K; i++) part += Q[(size_t)j * K + i] * to[i];
            for (size_t i = 0; i < K; i++) to[i] -= part * Q[(size_t)j * K + i];
        }
    }
    for (size_t i = 0; i < K; i++) size += to[i] * to[i];
    if (!(sqrt(size) > lost)) return;
    for (size_t i = 0; i < K; i++) to[i] /= sqrt(size);
    ++*rank;
}

// Directions of the space V (n x k), on which S acts (its transpose, `transposed`), that F and its
// images do not meet.
static int lost_chain(int n, const double *S, bool transposed, double s, int k, const double *V,
                      int m, const double *F, snw_arena *scratch) {
    const size_t N = (size_t)n, K = (size_t)k, mark = snw_arena_mark(scratch);
    double *T = snw_arena_doubles(scratch, K * K), *x = snw_arena_doubles(scratch, N);
    double *Q = snw_arena_doubles(scratch, K * K);
    double largest = 0;
    for (size_t j = 0; j < K; j++) { // T = (V'(S - s) V)', nilpotent: it acts on products with V
        for (size_t i = 0; i < N; i++) {
            x[i] = -s * V[j * N + i];
            for (size_t l = 0; l < N; l++)
                x[i] += (transposed ? S[i * N + l] : S[l * N + i]) * V[j * N + l];
        }
        for (size_t i = 0; i < K; i++) {
            T[i * K + j] = 0;
            for (size_t l = 0; l < N; l++) T[i * K + j] += V[i * N + l] * x[l];
            largest = fmax(largest, fabs(T[i * K + j]));
        }
    }
    int met = 0;
    for (int j = 0; j < m; j++) {
        for (size_t i = 0; i < K; i++) {
            x[i] = 0;
            for (size_t l = 0; l < N; l++) x[i] += V[i * N + l] * F[(size_t)j * N + l];
        }
        add_direction(k, x, Q, &met);
    }
    for (int j = 0; j < met && largest > 0; j++) { // images, also of images
        for (size_t i = 0; i < K; i++) {
            x[i] = 0;
            for (size_t l = 0; l < K; l++) x[i] += T[l * K + i] / largest * Q[(size_t)j * K + l];
        }
        add_direction(k, x, Q, &met);
    }
    snw_arena_reset(scratch, mark);
    return k - met;
}

// Of the k eigenvectors X (columns `of`; complex: real and imaginary parts in columns of and of +
// 1), how many do the m columns of F (n x m, unit columns) not meet?
static int lost_directions(int n, const double *X, int k, const int *of, bool complex, int m,
                           const double *F, snw_arena *scratch, bool *defective) {
    const size_t N = (size_t)n, parts = complex ? 2 : 1, mark = snw_arena_mark(scratch);
    // real form of a complex matrix: [re -im; im re], of twice the rank
    const int rows = (int)parts * n, columns = (int)parts * k;
    double *W = snw_arena_doubles(scratch, (size_t)rows * (size_t)columns + 1);
    double *P = snw_arena_doubles(scratch, parts * (size_t)m * (size_t)columns + 1);
    for (int j = 0; j < k; j++) {
        const double *re = X + N * (size_t)of[j], *im = re + N;
        double size = 0;
        for (size_t i = 0; i < N; i++) size += re[i] * re[i] + (complex ? im[i] * im[i] : 0);
        size = sqrt(size);
        for (size_t part = 0; part < parts; part++) {
            double *to = W + (size_t)rows * ((size_t)j * parts + part);
            for (size_t i = 0; i < N; i++) {
                to[i] = (part == 0 ? re[i] : -im[i]) / size;
                if (complex) to[N + i] = (part == 0 ? im[i] : re[i]) / size;
            }
        }
    }
    for (int j = 0; j < columns; j++) {
        for (size_t part = 0; part < parts; part++) {
            for (int l = 0; l < m; l++) {
                double sum = 0;
                const double *w = W + (size_t)rows * (size_t)j + part * N;
                for (size_t i = 0; i < N; i++) sum += w[i] * F[(size_t)l * N + i];
                P[(size_t)j * parts * (size_t)m + part * (size_t)m + (size_t)l] = sum;
            }
        }
    }
    const int met = m > 0 ? rank_of((int)parts * m, columns, P, lost, scratch) : 0;
    const int all = rank_of(rows, columns, W, parallel, scratch);
    snw_arena_reset(scratch, mark);
    *defective = all < columns;
    return (all - met) / (int)parts;
}

// marked <- modes of S that the directions F do not meet, X its right or, `left`, left
// eigenvectors.
static void mark_lost(int n, const double *S, bool left, const double *X, const double *re,
                      const double *im, int m, const double *F, snw_arena *scratch, bool *marked) {
    const size_t mark = snw_arena_mark(scratch);
    int *group = snw_arena_ints(scratch, (size_t)n), *done = snw_arena_ints(scratch, (size_t)n);
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, hypot(re[i], im[i])), done[i] = 0;
    for (int i = 0; i < n; i++) marked[i] = false;
    for (int i = 0; i < n; i++) {
        if (done[i] || im[i] < 0) continue;
        int k = 0;
        const double near = fmax(equal * hypot(re[i], im[i]), equal_zero * largest);
        for (int j = i; j < n; j++) {
            if (done[j] || im[j] < 0 || (im[j] > 0) != (im[i] > 0)) continue;
            if (hypot(re[i] - re[j], im[i] - im[j]) > near) continue;
            group[k++] = j;
            done[j] = 1;
        }
        const bool complex = im[i] > 0;
        bool defective;
        int none = lost_directions(n, X, k, group, complex, m, F, scratch, &defective);
        if (defective && !complex) { // double poles of rigid motions, as a rule
            const size_t here = snw_arena_mark(scratch);
            double *V = snw_arena_doubles(scratch, (size_t)n * (size_t)k);
            if (invariant_space(n, S, left, re[i], k, V, scratch))
                none = lost_chain(n, S, left, re[i], k, V, m, F, scratch);
            snw_arena_reset(scratch, here);
        }
        for (int j = 0; j < none && j < k; j++) {
            marked[group[j]] = true;
            if (complex) marked[group[j] + 1] = true;
        }
    }
    snw_arena_reset(scratch, mark);
}

// sorts eigenvalues by modulus, pairs adjacent, with the marks
static void sort_poles(int n, double *re, double *im, bool *a, bool *b) {
    for (int i = 1; i < n; i++) {
        for (int j = i; j > 0; j--) {
            const double x = hypot(re[j], im[j]), y = hypot(re[j - 1], im[j - 1]);
            const bool pair = re[j] == re[j - 1] && im[j] == -im[j - 1];
            if (pair || !(x < y)) break;
            const double r = re[j], c = im[j];
            const bool p = a[j], q = b[j];
            re[j] = re[j - 1], im[j] = im[j - 1], a[j] = a[j - 1], b[j] = b[j - 1];
            re[j - 1] = r, im[j - 1] = c, a[j - 1] = p, b[j - 1] = q;
        }
    }
}

// F (n x m) <- unit columns
static void normalise(int n, int m, double *F) {
    for (int j = 0; j < m; j++) {
        double *f = F + (size_t)n * (size_t)j, size = 0;
        for (int i = 0; i < n; i++) size += f[i] * f[i];
        for (int i = 0; i < n && size > 0; i++) f[i] /= sqrt(size);
    }
}

snw_status snw_system_analyse(int n, const double *A, int nu, const double *B, int ny,
                              const double *C, snw_arena *scratch, double *re, double *im,
                              bool *unreached, bool *unseen) {
    const size_t N = (size_t)n, mark = snw_arena_mark(scratch);
    if (n == 0) return SNW_OK;
    const size_t wide = (size_t)most_of(most_of(nu, ny), 1);
    double *scale = snw_arena_doubles(scratch, N + 1), *S = snw_arena_doubles(scratch, N * N + 1);
    double *I = snw_arena_doubles(scratch, N * N + 1),
           *left = snw_arena_doubles(scratch, N * N + 1);
    double *right = snw_arena_doubles(scratch, N * N + 1);
    double *F = snw_arena_doubles(scratch, N * wide), *T = snw_arena_doubles(scratch, N * N + 1);
    balance(n, A, scale);
    for (size_t j = 0; j < N; j++) {
        for (size_t i = 0; i < N; i++) {
            S[j * N + i] = A[j * N + i] * scale[j] / scale[i];
            I[j * N + i] = i == j;
            T[j * N + i] = S[j * N + i]; // S is overwritten
        }
    }
    const snw_status s = snw_eigen_general_vectors(n, S, I, scratch, re, im, left, right);
    if (s == SNW_OK) {
        for (size_t j = 0; j < (size_t)nu; j++) {
            for (size_t i = 0; i < N; i++) F[j * N + i] = B[j * N + i] / scale[i];
        }
        normalise(n, nu, F);
        mark_lost(n, T, true, left, re, im, nu, F, scratch, unreached);
        for (size_t j = 0; j < (size_t)ny; j++) {
            for (size_t i = 0; i < N; i++) F[j * N + i] = C[i * (size_t)ny + j] * scale[i];
        }
        normalise(n, ny, F);
        mark_lost(n, T, false, right, re, im, ny, F, scratch, unseen);
        sort_poles(n, re, im, unreached, unseen);
    }
    snw_arena_reset(scratch, mark);
    return s;
}
