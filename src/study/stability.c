// SPDX-License-Identifier: MIT
//
// Stability of a static equilibrium: eigenvalues and unstable directions of its tangent relative to
// the unloaded elastic stiffness, restricted to the null space of loop closures and drives.
// theory.md 5
#include "study/statics_private.h"

#include "dynamics/constraint.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// Has coordinate i no stiffness, load or constraint? It then does not count for stability.
static bool unresisted(const snw_statics *st, int i) {
    const snw_model *m = st->m;
    const size_t n = (size_t)m->nv, I = (size_t)i;
    double most = 0;
    for (size_t j = 0; j < n; j++) {
        const double f = m->typical[j] / m->scale[i];
        most = fmax(most, fmax(fabs(st->T[j * n + I]), fabs(st->T[I * n + j])) * f);
    }
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint row = snw_constraint_at(m, st->w, k);
        for (int j = 0; j < row.n; j++) {
            if (row.dof[j] == i) most = fmax(most, fabs(row.C[j]) * m->typical[i] / row.size);
        }
    }
    return most < 1e-10;
}

// B (n x n) <- its last m rows and columns, m x m.
static void trailing_block(size_t n, size_t m, double *B) {
    const size_t skip = n - m;
    for (size_t j = 0; j < m; j++) memmove(B + j * m, B + (j + skip) * n + skip, m * sizeof *B);
}

// A (nv rows) <- without the rows, and if square without the columns, of inactive coordinates.
static void remove_inactive(const snw_statics *st, bool square, int columns, double *A) {
    const snw_model *m = st->m;
    const size_t nv = (size_t)m->nv;
    double *to = A;
    for (int j = 0; j < columns; j++) {
        bool stays = true;
        for (int k = 0; square && k < m->nconditional; k++) {
            stays = stays && (m->conditional[k] != j || snw_is_active(st->w, m->conditional_on[k]));
        }
        int next = 0; // conditional coordinates are sorted
        for (int i = 0; stays && i < m->nv; i++) {
            while (next < m->nconditional && m->conditional[next] < i) next++;
            const bool inactive = next < m->nconditional && m->conditional[next] == i &&
                                  !snw_is_active(st->w, m->conditional_on[next]);
            if (!inactive) *to++ = A[(size_t)j * nv + (size_t)i];
        }
    }
}

// Restricts K and T (n x n) to the null space of the constraints, in an orthonormal basis; returns
// its dimension.
static int restrict_to_allowed(snw_statics *st, int n, int *rank) {
    const snw_model *m = st->m;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint, here = (size_t)n;
    memset(st->rows, 0, nv * nr * sizeof *st->rows);
    for (size_t k = 0; k < nr; k++) {
        for (size_t i = 0; i < nr; i++) st->tau[i] = i == k;
        snw_constraints_apply_transpose(m, st->w, st->tau, st->rows + k * nv);
    }
    remove_inactive(st, false, m->nconstraint, st->rows);
    *rank = snw_qr_factor(n, m->nconstraint, st->rows, 0, 1e-10, &st->scratch, st->tau, st->order);
    snw_qr_turn(n, m->nconstraint, st->rows, st->tau, st->T, &st->scratch);
    snw_qr_turn(n, m->nconstraint, st->rows, st->tau, st->K, &st->scratch);
    trailing_block(here, here - (size_t)*rank, st->T);
    trailing_block(here, here - (size_t)*rank, st->K);
    return n - *rank;
}

// st->T, st->K <- tangent at s and unloaded elastic stiffness, restricted to the null space of the
// constraints; returns their size. *is_symmetric: of the tangent; *rank: independent constraint
// rows.
static int reduced_matrices(snw_statics *st, const snw_state *s, bool *is_symmetric, int *rank) {
    const snw_model *m = st->m;
    int n = m->nv;
    snw_residual(m, st->now, s, !st->steady, st->w);
    snw_tangent_pass(m, NULL, st->w);
    snw_tangent_assemble(m, st->now, 1, 0, 0, st->w, st->T);
    snw_elastic_matrices(m, st->K, NULL);
    // joints without stiffness are scaled by typical forces instead
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (m->seg[b->seg].kind == SNW_SEG_ROD) continue;
        for (int i = b->dof; i < b->dof + b->n; i++) {
            double *own = &st->K[(size_t)i * (size_t)(n + 1)];
            if (!(*own > 0)) *own = m->scale[i] / m->typical[i];
        }
    }
    for (int i = 0; st->regularisation && i < n; i++) {
        if (unresisted(st, i))
            st->T[(size_t)i * (size_t)(n + 1)] = st->K[(size_t)i * (size_t)(n + 1)];
    }
    remove_inactive(st, true, m->nv, st->T);
    remove_inactive(st, true, m->nv, st->K);
    for (int k = 0; k < m->nconditional; k++) n -= !snw_is_active(st->w, m->conditional_on[k]);
    *rank = 0;
    if (m->nconstraint) n = restrict_to_allowed(st, n, rank);
    // a torque on a body that turns about a fixed axis only is conservative
    *is_symmetric = snw_is_symmetric(n, st->T);
    return n;
}

// Smallest and number of negative ones among the n eigenvalues with real parts re.
static void stability_judge(int n, const double *re, snw_stability *out) {
    out->value = re[0];
    for (int i = 0; i < n; i++) {
        out->value = fmin(out->value, re[i]);
        out->negative += re[i] < SNW_UNSTABLE;
    }
}

// By insertion: qsort may allocate.
static void sort_ascending(int n, double *x) {
    for (int i = 1; i < n; i++) {
        const double moved = x[i];
        int k = i;
        for (; k > 0 && x[k - 1] > moved; k--) x[k] = x[k - 1];
        x[k] = moved;
    }
}

int snw_statics_spectrum(snw_statics *st, const snw_state *s, double *value, bool *symmetric) {
    int rank;
    *symmetric = true;
    if (st->m->nv == 0 || st->m->nv > SNW_MOST_DENSE) return 0;
    const int n = reduced_matrices(st, s, symmetric, &rank);
    if (n == 0) return 0;
    const size_t mark = snw_arena_mark(&st->scratch);
    double *im = snw_arena_doubles(&st->scratch, (size_t)n);
    const snw_status status = *symmetric
                                  ? snw_eigen_symmetric(n, st->T, st->K, false, &st->scratch, value)
                                  : snw_eigen_general(n, st->T, st->K, &st->scratch, value, im);
    snw_arena_reset(&st->scratch, mark);
    if (status != SNW_OK) return 0;
    if (!*symmetric) sort_ascending(n, value);
    return n;
}

snw_stability snw_statics_stability(snw_statics *st, const snw_state *s) {
    if (st->m->local) return snw_local_stability(st, s, NULL);
    snw_stability out = {.value = NAN, .symmetric = true};
    const size_t mark = snw_arena_mark(&st->scratch);
    double *re = snw_arena_doubles(&st->scratch, (size_t)st->m->nv);
    const int n = snw_statics_spectrum(st, s, re, &out.symmetric);
    if (n > 0) stability_judge(n, re, &out);
    snw_arena_reset(&st->scratch, mark);
    return out;
}

// x (nv) <- direction with the coordinates y (n) in the null space of the constraints.
static void expand(snw_statics *st, int n, int rank, const double *y, double *x) {
    const snw_model *m = st->m;
    memset(x, 0, (size_t)rank * sizeof *x);
    memcpy(x + rank, y, (size_t)n * sizeof *x);
    if (m->nconstraint) snw_qr_apply(n + rank, m->nconstraint, st->rows, st->tau, x, &st->scratch);
    // insert zeros at the inactive coordinates
    int from = n + rank;
    for (int i = m->nv, k = m->nconditional; i-- > 0;) {
        while (k > 0 && m->conditional[k - 1] > i) k--;
        const bool inactive =
            k > 0 && m->conditional[k - 1] == i && !snw_is_active(st->w, m->conditional_on[k - 1]);
        x[i] = inactive ? 0 : x[--from];
    }
}

// As of a round column: the one with the largest component along the first coordinate that they
// move most, positive and of typical size.
void snw_choose_direction(const snw_model *m, int k, const double *X, double *dx) {
    const size_t nv = (size_t)m->nv;
    double most = 0;
    int lead = 0;
    for (int i = 0; i < m->nv; i++) {
        double sum = 0;
        for (int j = 0; j < k; j++) {
            const double a = X[(size_t)j * nv + (size_t)i] / m->typical[i];
            sum += a * a;
        }
        if (sum > most * (1 + 1e-6)) most = sum, lead = i;
    }
    memset(dx, 0, nv * sizeof *dx);
    for (int j = 0; j < k; j++) {
        const double *x = X + (size_t)j * nv;
        for (size_t i = 0; i < nv; i++) dx[i] += x[lead] * x[i];
    }
    const double size = m->typical[lead] / dx[lead];
    for (size_t i = 0; i < nv; i++) dx[i] *= size;
}

// Relative difference below which eigenvalues count as equal.
static const double ALIKE = 1e-6;

snw_stability snw_statics_direction(snw_statics *st, const snw_state *s, double *dx) {
    snw_stability out = {.value = NAN, .symmetric = true};
    int rank;
    if (st->m->nv == 0) return out;
    if (st->m->local) return snw_local_stability(st, s, dx);
    const int n = reduced_matrices(st, s, &out.symmetric, &rank);
    if (n == 0 || !out.symmetric) return out;
    const size_t mark = snw_arena_mark(&st->scratch), nv = (size_t)st->m->nv;
    double *lambda = snw_arena_doubles(&st->scratch, (size_t)n);
    if (snw_eigen_symmetric(n, st->T, st->K, true, &st->scratch, lambda) == SNW_OK) {
        stability_judge(n, lambda, &out);
        int k = 0;
        for (; k < n && lambda[k] <= lambda[0] + ALIKE * fabs(lambda[0]); k++) {
            expand(st, n, rank, st->T + (size_t)k * (size_t)n, st->K + (size_t)k * nv);
        }
        if (out.negative > 0) snw_choose_direction(st->m, k, st->K, dx);
    }
    snw_arena_reset(&st->scratch, mark);
    return out;
}
