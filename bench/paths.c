// SPDX-License-Identifier: MIT
//
// The same numbers by all paths: for model files, products with Newton's matrix and its solutions
// by elimination along the tree and by sparse factors against the dense matrix, the mass matrix by
// composite bodies and accelerations by articulated bodies against the tangent. Exits with 1 where
// they differ by more than rounding.
//
// usage: bench_paths FILE.yaml ..
#include "base/alloc.h"
#include "constraint/bordered_matrix.h"
#include "constraint/projection.h"
#include "dynamics/constraint.h"
#include "integrate/implicit.h"
#include "language/document.h"
#include "model/compile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1200 }; // unknowns of a dense matrix

// Bounds of backward errors: plain, also of products; in units in which rows and columns have the
// size 1, by which no path chooses its pivots; and there after one correction.
static const double MOST_BACKWARD[] = {1e-13, 1e-9, 1e-14};

typedef enum way { PRODUCT, ELIMINATED, SPARSE, DENSE, COMPOSITE, ARTICULATED, WAYS } way;
static const char *const way_name[WAYS] = {
    "product by elimination",          "solution by elimination",
    "solution by sparse factors",      "solution by dense factors",
    "mass matrix by composite bodies", "residual of articulated bodies"};

typedef struct tally {
    int n, within;      // compared; of these with 1e-12 at most
    double worst;       // difference relative to the largest number, in typical units
    double of_rounding; // over what is due to rounding
    double backward[3]; // largest backward errors: plain, in units, in units and corrected
} tally;

static tally found[WAYS];
static bool faulty;

// A model at a state in motion near its initial one.
typedef struct subject {
    const char *file;
    snw_model *m;
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
    int n; // unknowns
    snw_bordered_matrix *dense, *sparse;
    double *x, *y, *b, *unit, *first, *left, *corrected; // n
    double *A;                                           // n x n: copy of the dense matrix
} subject;

// due: by rounding, beside 1e-12.
static void note(const subject *k, way by, double difference, double due) {
    tally *t = &found[by];
    const double part = difference / (1e-12 + due);
    t->n++;
    t->within += difference <= 1e-12;
    if (!(difference <= t->worst)) t->worst = difference;
    if (!(part <= t->of_rounding)) t->of_rounding = part;
    if (part <= 1) return;
    faulty = true;
    printf("  %s: %s differs by %.2g, of rounding %.1g\n", k->file, way_name[by], difference, due);
}

// Largest difference in units, relative to the largest number.
static double apart(int n, const double *a, const double *b, const double *unit) {
    double most = 0, size = 0;
    for (int i = 0; i < n; i++) {
        const double d = fabs(a[i] - b[i]) / unit[i];
        if (!(d <= most)) most = d;
        size = fmax(size, fabs(b[i]) / unit[i]);
    }
    return size > 0 ? most / size : most;
}

// T <- cq K + cv D + ca M, bordered by its rows; its factors.
static bool fill(const subject *k, const snw_tangent_at *at, snw_bordered_matrix *T, bool factor) {
    snw_bordered_matrix_clear(T);
    snw_residual(k->m, k->in, k->s, false, k->w);
    snw_tangent_pass(k->m, at->chart, k->w);
    snw_tangent_add(k->m, k->in, at->cq, at->cv, at->ca, k->w, T->A);
    if (k->m->nconstraint) snw_constraints_place(k->m, k->w, at->rows, T->A);
    return !factor || snw_bordered_matrix_factor(T) == SNW_OK;
}

// y (nv) <- T x
static void dense_product(const subject *k, const double *x, double *y) {
    for (int i = 0; i < k->m->nv; i++) y[i] = 0;
    for (int j = 0; j < k->m->nv; j++) {
        for (int i = 0; i < k->m->nv; i++) y[i] += *snw_matrix_at(k->dense->A, i, j) * x[j];
    }
}

// x <- solution by dense factors, corrected twice by the residual in long double. Returns its error
// before: pivots are chosen by size whatever the units, which may cost more than the condition
// tells.
static double solve_dense(const subject *k, double *x) {
    const int n = k->n;
    double *r = k->y, *first = k->first;
    memcpy(x, k->b, (size_t)n * sizeof *x);
    snw_bordered_matrix_solve(k->dense, x);
    memcpy(first, x, (size_t)n * sizeof *x);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < n; i++) {
            long double sum = k->b[i];
            for (int j = 0; j < n; j++)
                sum -= (long double)k->A[(size_t)j * (size_t)n + (size_t)i] * x[j];
            r[i] = (double)sum;
        }
        snw_bordered_matrix_solve(k->dense, r);
        for (int i = 0; i < n; i++) x[i] += r[i];
    }
    return apart(n, first, x, k->unit);
}

// |A x - b| / (|A| |x| + |b|) in the maximum norm: x solves exactly a matrix that differs by as
// much (Rigal and Gaches). In units: rows and columns have the size 1. left (n) <- b - A x.
static double backward_error(const subject *k, bool in_units, const double *x, double *left) {
    const int n = k->n;
    double most = 0, norm = 0, size = 0, right = 0;
    for (int j = 0; j < n; j++) size = fmax(size, fabs(x[j]) / (in_units ? k->unit[j] : 1));
    for (int i = 0; i < n; i++) {
        const double row = in_units ? k->dense->equilibration.row[i] : 1;
        double sum = 0;
        left[i] = k->b[i];
        for (int j = 0; j < n; j++) {
            const double a = k->A[(size_t)j * (size_t)n + (size_t)i];
            left[i] -= a * x[j];
            sum += fabs(a) * (in_units ? k->unit[j] : 1);
        }
        most = fmax(most, row * fabs(left[i]));
        norm = fmax(norm, row * sum);
        right = fmax(right, row * fabs(k->b[i]));
    }
    return most / (norm * size + right);
}

typedef void solve_fn(void *factors, double *x);

// Keeps the largest backward error of a kind; false: it is above the bound of its kind.
static bool keep_backward(way by, int kind, double error) {
    double *most = &found[by].backward[kind];
    if (!(error <= *most)) *most = error;
    if (error <= MOST_BACKWARD[kind]) return true;
    faulty = true;
    return false;
}

// Backward errors of a solution x by some factors, and of x corrected once by what it leaves.
static void note_backward(const subject *k, way by, const double *x, solve_fn *solve,
                          void *factors) {
    double *left = k->left, *corrected = k->corrected;
    double error[3] = {backward_error(k, false, x, left), backward_error(k, true, x, left)};
    solve(factors, left);
    for (int i = 0; i < k->n; i++) corrected[i] = x[i] + left[i];
    error[2] = backward_error(k, true, corrected, left);
    for (int i = 0; i < 3; i++) {
        if (keep_backward(by, i, error[i])) continue;
        printf("  %s: %s has the backward error %.2g%s\n", k->file, way_name[by], error[i],
               i == 0   ? ""
               : i == 1 ? " in units"
                        : " in units, corrected");
    }
}

static void solve_by_matrix(void *factors, double *x) { snw_bordered_matrix_solve(factors, x); }

static void solve_by_elimination(void *factors, double *x) { snw_elimination_solve(factors, x); }

static void compare_elimination(const subject *k, snw_elimination *e, const snw_tangent_at *at,
                                double due, const double *want) {
    const snw_model *m = k->m;
    double *got = k->y;
    for (int i = 0; i < k->n; i++) got[i] = k->b[i];
    snw_residual(m, k->in, k->s, false, k->w);
    if (snw_elimination_make_room(e, k->w) != SNW_OK ||
        snw_elimination_factor(e, at, k->w) != SNW_OK)
        return; // joints without pivots of their own
    snw_elimination_solve(e, got);
    note(k, ELIMINATED, apart(k->n, got, want, k->unit), due);
    note_backward(k, ELIMINATED, got, solve_by_elimination, e);
}

static void compare_matrices(const subject *k, snw_elimination *e, double cq, double cv,
                             double ca) {
    const snw_model *m = k->m;
    const snw_tangent_at at = {
        .in = k->in, .cq = cq, .cv = cv, .ca = ca, .rows = cq > 0 ? 3 : 1e-4};
    if (e) {
        (void)fill(k, &at, k->dense, false);
        for (int i = 0; i < m->nv; i++) k->x[i] = sin(7 * i + 1) * m->typical[i];
        dense_product(k, k->x, k->b);
        snw_residual(m, k->in, k->s, false, k->w);
        snw_elimination_product(e, &at, k->w, k->x, k->y);
        // rows of light coordinates have sums of heavier ones as rounding
        double largest = 0, row = 0, apart = 0;
        for (int i = 0; i < m->nv; i++) {
            double sum = 0;
            for (int j = 0; j < m->nv; j++)
                sum += fabs(*snw_matrix_at(k->dense->A, i, j) * k->x[j]);
            const double d = fabs(k->y[i] - k->b[i]) / (sum + 1e-3 * m->scale[i]);
            if (!(d <= largest)) largest = d;
            if (!(sum <= row)) row = sum;
            if (!(fabs(k->y[i] - k->b[i]) <= apart)) apart = fabs(k->y[i] - k->b[i]);
        }
        if (!keep_backward(PRODUCT, 0, row > 0 ? apart / row : 0))
            printf("  %s: %s differs by %.2g of the largest row\n", k->file, way_name[PRODUCT],
                   apart / row);
        // stiff contacts on many nodes nearly cancel in the matrix: their rounding is that of the
        // sums
        note(k, PRODUCT, largest, m->ncontact_point > 0 ? 1e-10 : 0);
    }
    if (!fill(k, &at, k->dense, false)) return;
    memcpy(k->A, k->dense->A.entry, (size_t)k->n * (size_t)k->n * sizeof *k->A);
    if (snw_bordered_matrix_factor(k->dense) != SNW_OK) return;
    const double condition = snw_bordered_matrix_condition(k->dense);
    if (!(condition < 1e12)) return;
    // errors of solutions are of the size of the condition where columns have the norm 1
    for (int i = 0; i < k->n; i++) k->unit[i] = 1 / k->dense->equilibration.column[i];
    for (int i = 0; i < k->n; i++) k->b[i] = cos(3 * i) * (i < m->nv ? m->scale[i] : 1e-3);
    const double due = 1e-14 * condition + 10 * solve_dense(k, k->x);
    note(k, DENSE, apart(k->n, k->first, k->x, k->unit), due);
    note_backward(k, DENSE, k->first, solve_by_matrix, k->dense);
    if (e) compare_elimination(k, e, &at, due, k->x);
    if (!k->sparse || !fill(k, &at, k->sparse, true)) return;
    memcpy(k->y, k->b, (size_t)k->n * sizeof *k->y);
    snw_bordered_matrix_solve(k->sparse, k->y);
    note(k, SPARSE, apart(k->n, k->y, k->x, k->unit), due);
    note_backward(k, SPARSE, k->y, solve_by_matrix, k->sparse);
}

static void compare_rigid(const subject *k) {
    const snw_model *m = k->m;
    const size_t nv = (size_t)m->nv;
    if (!m->composite && !m->articulated) return;
    double *M = snw_alloc(nv * nv * sizeof *M);
    const snw_tangent_at at = {.in = k->in, .ca = 1, .rows = 1};
    if (!M) abort();
    snw_mass_matrix(m, k->in, k->s, k->w, M);
    (void)fill(k, &at, k->dense, false);
    double most = 0;
    for (size_t i = 0; m->composite && i < nv; i++) {
        for (size_t j = 0; j < nv; j++) {
            const double size = sqrt(M[i * (nv + 1)] * M[j * (nv + 1)]);
            most = fmax(most,
                        fabs(M[i * nv + j] - *snw_matrix_at(k->dense->A, (int)j, (int)i)) / size);
        }
    }
    if (m->composite) note(k, COMPOSITE, most, 0);
    snw_error err;
    if (m->articulated && m->nconstraint == 0 &&
        snw_accelerations(m, k->in, k->s, k->w, M, &err) == SNW_OK) {
        for (size_t i = 0; i < nv; i++) k->x[i] = k->s->a[i];
        snw_residual(m, k->in, k->s, false, k->w);
        for (size_t i = 0; i < nv; i++) k->y[i] = k->w->r[i], k->b[i] = 0;
        // relative to the forces that balance: inertia along the own coordinate
        double largest = 0;
        for (size_t i = 0; i < nv; i++) {
            double sum = m->scale[i];
            for (size_t j = 0; j < nv; j++)
                sum += fabs(*snw_matrix_at(k->dense->A, (int)i, (int)j) * k->x[j]);
            largest = fmax(largest, fabs(k->y[i]) / sum);
        }
        note(k, ARTICULATED, largest, 0);
    }
    snw_free(M);
}

static void compare(const char *file, const snw_desc *desc, snw_model *m) {
    subject k = {.file = file, .m = m, .n = m->nv + m->nconstraint};
    snw_elimination *e = NULL;
    if (snw_state_create(m, &k.s) != SNW_OK || snw_inputs_create(m, &k.in) != SNW_OK ||
        snw_work_create(m, &k.w) != SNW_OK ||
        snw_bordered_matrix_create(m, SNW_ALGEBRA_DENSE, &k.dense) != SNW_OK ||
        snw_bordered_matrix_create(m, SNW_ALGEBRA_SPARSE, &k.sparse) != SNW_OK)
        abort();
    if (!k.sparse->sparse) {
        snw_bordered_matrix_destroy(k.sparse);
        k.sparse = NULL;
    }
    if (!snw_desc_not_local(desc) && snw_elimination_create(m, &e) != SNW_OK) abort();
    const size_t n = (size_t)k.n;
    double *memory = calloc((7 + n) * n, sizeof *memory);
    if (!memory) abort();
    k.x = memory, k.y = k.x + n, k.b = k.y + n, k.unit = k.b + n;
    k.first = k.unit + n, k.left = k.first + n, k.corrected = k.left + n;
    k.A = k.corrected + n;
    for (int i = 0; i < m->nv; i++) {
        k.x[i] = 0.03 * sin(5 * i + 2) * m->typical[i];
        k.s->v[i] = 0.5 * cos(3 * i) * m->typical[i];
        k.s->a[i] = sin(2 * i) * m->typical[i];
    }
    snw_move(m, m->q0, 1, k.x, k.s->q);
    for (int i = 0; i < m->nconstraint; i++) k.s->lambda[i] = 0.1 * cos(i);
    k.s->t = 1e-3;
    snw_inputs_at(m, k.s->t, k.in);
    compare_matrices(&k, e, 1, 40, 900);
    compare_matrices(&k, e, 0, 0, 1);
    compare_rigid(&k);
    free(memory);
    snw_elimination_destroy(e);
    snw_bordered_matrix_destroy(k.dense);
    snw_bordered_matrix_destroy(k.sparse);
    snw_work_destroy(k.w);
    snw_inputs_destroy(k.in);
    snw_state_destroy(k.s);
}

int main(int argc, char **argv) {
    int files = 0;
    for (int i = 1; i < argc; i++) {
        snw_error err = {0};
        snw_document *doc = NULL;
        snw_desc *desc = NULL;
        snw_model *m = NULL;
        if (snw_document_read(argv[i], 0, NULL, &doc, &err) == SNW_OK &&
            snw_document_describe(doc, 0, &desc, &err) == SNW_OK &&
            snw_projection_compile(desc, &m, &err) == SNW_OK && !m->bare && m->nv > 0 &&
            m->nv + m->nconstraint <= MOST && m->nsignal == 0) {
            files++;
            compare(argv[i], desc, m);
        }
        snw_model_destroy(m);
        snw_desc_destroy(desc);
        snw_document_destroy(doc);
    }
    printf("%d of %d files\n", files, argc - 1);
    for (int w = 0; w < WAYS; w++) {
        const tally *of = &found[w];
        printf(
            "  %-32s %4d compared, %4d within 1e-12, largest difference %.1e, %.2g of the rounding "
            "due",
            way_name[w], of->n, of->within, of->worst, of->of_rounding);
        if (w == ELIMINATED || w == SPARSE || w == DENSE)
            printf("; backward errors up to %.1e, in units %.1e, corrected once %.1e",
                   of->backward[0], of->backward[1], of->backward[2]);
        if (w == PRODUCT) printf("; backward errors up to %.1e", of->backward[0]);
        printf("\n");
    }
    return faulty;
}
