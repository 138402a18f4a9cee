// SPDX-License-Identifier: MIT
//
// Stability of equilibria of local models, theory.md (4.9): numbers of eigenvalues of T x = lambda
// K x below a bound from the pivots of T - bound K, least eigenvalues by subspace iteration with
// such factors; the condition number of T. For statics.c, branch.c and runs.
#include "study/statics_private.h"

#include "base/fail.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

enum {
    SPAN = 4,        // dimension of the subspace
    MOST_WIDER = 14, // times by which the shift is lowered to find one below all eigenvalues
    ROUNDS = 12,     // changes of the shift
    ITERATIONS = 8   // between them
};

static const double CONVERGED = 1e-10; // change of the least eigenvalue, relative to one
static const double ALIKE = 1e-6;      // relative difference of eigenvalues that count as equal

// Eigenvalues near the least one, and their vectors X (n x SPAN), K X.
typedef struct spectrum {
    snw_statics *st;
    snw_local_factors *f;
    size_t n;
    double *X, *KX, *spare;
    double value[SPAN];
    double shift; // of the last factors
} spectrum;

// Number of eigenvalues below `shift`, and factors of T - shift K; -1: not known.
static int count_below(spectrum *x, double shift) {
    int sign, negative;
    x->shift = shift;
    if (snw_statics_local_factor(x->f, NULL, shift, &sign, &negative) != SNW_OK) return -1;
    return negative;
}

// X, KX <- K-orthonormal columns that span the same as X and make T diagonal, s->value <- its
// diagonal. KX on entry: (T - shift K) X, up to forces of the rows, which do no work on X.
static snw_status rotate(spectrum *s) {
    const int nv = s->st->m->nv;
    double A[SPAN * SPAN], B[SPAN * SPAN];
    unsigned char memory[4096];
    snw_arena scratch = {.base = memory, .size = sizeof memory};
    if (snw_eigen_symmetric_scratch(SPAN) > sizeof memory) return SNW_E_MEMORY;
    for (int k = 0; k < SPAN; k++) {
        double *before = s->KX + (size_t)k * s->n;
        for (int i = k; i < SPAN; i++)
            A[k * SPAN + i] = snw_vector_dot(nv, s->X + (size_t)i * s->n, before);
        snw_elimination_stiffness(s->f->elimination, s->X + (size_t)k * s->n, before);
        for (int i = k; i < SPAN; i++) {
            B[k * SPAN + i] = snw_vector_dot(nv, s->X + (size_t)i * s->n, before);
            A[k * SPAN + i] += s->shift * B[k * SPAN + i];
        }
    }
    SNW_TRY(snw_eigen_symmetric(SPAN, A, B, true, &scratch, s->value));
    for (int pass = 0; pass < 2; pass++) {
        double *V = pass ? s->KX : s->X;
        for (int i = 0; i < nv; i++) {
            double row[SPAN];
            for (int k = 0; k < SPAN; k++) row[k] = V[(size_t)k * s->n + (size_t)i];
            for (int k = 0; k < SPAN; k++)
                V[(size_t)k * s->n + (size_t)i] = snw_vector_dot(SPAN, row, A + k * SPAN);
        }
    }
    return SNW_OK;
}

// X <- inv(T - shift K) K X within the motions that the rows allow
static void iterate(spectrum *s) {
    const snw_model *m = s->st->m;
    for (int k = 0; k < SPAN; k++) {
        double *x = s->X + (size_t)k * s->n;
        memcpy(x, s->KX + (size_t)k * s->n, (size_t)m->nv * sizeof *x);
        for (int i = 0; i < m->nconstraint; i++) x[m->nv + i] = 0;
        snw_elimination_solve(s->f->elimination, x);
    }
}

// Least eigenvalues, from a shift below all of them that has just been factorised.
static snw_status find_least(spectrum *s) {
    const snw_model *m = s->st->m;
    unsigned long long seed = 3;
    for (int k = 0; k < SPAN; k++) {
        for (int i = 0; i < m->nv; i++) s->spare[i] = m->typical[i] * snw_projection_random(&seed);
        snw_elimination_stiffness(s->f->elimination, s->spare, s->KX + (size_t)k * s->n);
    }
    double least = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < ITERATIONS; k++) {
            iterate(s);
            SNW_TRY(rotate(s));
            const double change = fabs(s->value[0] - least);
            least = s->value[0];
            if (change <= CONVERGED * fmax(1, fabs(least))) return SNW_OK;
        }
        // a shift nearer to the least eigenvalue, still below it
        const double shift = s->shift;
        double step = 0.9 * (least - shift);
        while (count_below(s, shift + step) != 0) {
            step *= 0.5;
            if (!(step > 1e-9 * fabs(least))) return SNW_OK;
        }
    }
    return SNW_OK;
}

snw_stability snw_local_stability(snw_statics *st, const snw_state *s, double *dx) {
    const snw_model *m = st->m;
    snw_stability out = {.value = NAN, .symmetric = snw_statics_has_potential(st)};
    if (m->nv < SPAN + m->nconstraint || !out.symmetric) return out;
    const size_t n = (size_t)(m->nv + m->nconstraint);
    spectrum x = {.st = st, .f = &st->local[1], .n = n, .X = st->subspace};
    x.KX = x.X + SPAN * n;
    x.spare = x.KX + SPAN * n;
    snw_residual(m, st->now, s, !st->steady, st->w);
    out.negative = count_below(&x, SNW_UNSTABLE);
    if (out.negative < 0) return (snw_stability){.value = NAN, .symmetric = true};
    double shift = out.negative > 0 ? SNW_UNSTABLE : 0;
    int below = out.negative > 0 ? out.negative : count_below(&x, shift);
    if (below != 0) { // lower the shift until all eigenvalues are above
        shift = 10 * SNW_UNSTABLE;
        for (int k = 0; k < MOST_WIDER && (below = count_below(&x, shift)) != 0; k++) shift *= 10;
    }
    if (below != 0 || find_least(&x) != SNW_OK) return out;
    out.value = x.value[0];
    if (!dx || out.negative == 0) return out;
    int k = 1;
    while (k < SPAN && x.value[k] <= x.value[0] + ALIKE * fabs(x.value[0])) k++;
    for (int i = 1; i < k; i++)
        memmove(x.X + (size_t)(i * m->nv), x.X + (size_t)i * n, (size_t)m->nv * sizeof *x.X);
    snw_choose_direction(m, k, x.X, dx);
    return out;
}

double snw_statics_condition(snw_statics *st, const snw_state *s) {
    const snw_tangent_at at = {.in = st->now, .cq = 1, .rows = 1};
    snw_elimination *e = st->local[1].elimination;
    snw_residual(st->m, st->now, s, !st->steady, st->w);
    return snw_elimination_factor(e, &at, st->w) == SNW_OK
               ? snw_elimination_condition(e, &at, st->w, st->subspace)
               : NAN;
}
