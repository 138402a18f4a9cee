// SPDX-License-Identifier: MIT
//
// Directions of motion at a configuration: null space of the constraint rows with coordinates
// scaled by their own mass, then split by the eigenvalues of the mass matrix on it; massless
// directions by those of the stiffness. theory.md 7
#include "study/directions.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fields.h"
#include "dynamics/constraint.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

static const double
    no_mass = 1e-13, // of a direction, relative to the largest, coordinates scaled by their mass
    no_stiffness = 1e-11, // of a massless direction, relative to the typical energy
    no_inertia = 1e-18,   // of a coordinate, relative to the largest
    dependent_row = 1e-9; // relative size below which constraint rows are dependent

// ---- memory

#define DIRECTIONS_FIELDS(AT)                                                                      \
    AT(double, M, nv *nv, "mass matrix")                                                           \
    AT(double, K, nv *nv, "stiffness")                                                             \
    AT(double, D, nv *nv, "damping")                                                               \
    AT(double, P, nv *nv, "directions")                                                            \
    AT(double, A, nv *(most + nconditional + held_rows), "scratch")                                \
    AT(double, held, nv *held_rows, "rows besides the constraints")                                \
    AT(double, B, nv *nv, "scratch")                                                               \
    AT(double, U, nv *nv, "scratch")                                                               \
    AT(double, x, nv *nv, "scratch")                                                               \
    AT(double, unit, nv, "scales")                                                                 \
    AT(double, value, most, "eigenvalues")                                                         \
    AT(double, line, most, "scratch")

static void directions_place(void *object, snw_fields *f) {
    snw_directions *o = object;
    const size_t nv = (size_t)o->m->nv, nconstraint = (size_t)o->m->nconstraint;
    const size_t nconditional = (size_t)o->m->nconditional, held_rows = (size_t)o->most_held;
    const size_t most = (nv > nconstraint ? nv : nconstraint) + 1;
    DIRECTIONS_FIELDS(SNW_FIELD_PLACE)
}

static size_t directions_scratch_size(const snw_model *m, int held) {
    const size_t parts[] = {snw_null_space_scratch(m->nv, m->nconstraint + m->nconditional + held),
                            snw_project_scratch(m->nv, m->nv), snw_eigen_symmetric_scratch(m->nv)};
    size_t most = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        most = parts[i] > most ? parts[i] : most;
    return most + (size_t)m->nv * sizeof(int) + 64; // pivots
}

snw_status snw_directions_create(const snw_model *m, int held, snw_directions **out) {
    snw_directions *d = snw_alloc(sizeof *d);
    *out = d;
    if (!d) return SNW_E_MEMORY;
    d->m = m;
    d->most_held = held;
    d->block = snw_fields_create(directions_place, d);
    d->scratch.size = directions_scratch_size(m, held);
    d->scratch.base = snw_alloc(d->scratch.size);
    return d->block && d->scratch.base ? SNW_OK : SNW_E_MEMORY;
}

void snw_directions_destroy(snw_directions *d) {
    if (!d) return;
    snw_free(d->block);
    snw_free(d->scratch.base);
    snw_free(d);
}

// ---- matrices

void snw_combine_columns(int n, int m, const double *A, int k, const double *Y, double *out) {
    for (int j = 0; j < k; j++) {
        double *to = snw_column_of(out, n, j);
        for (int i = 0; i < n; i++) to[i] = 0;
        for (int l = 0; l < m; l++) {
            const double y = Y[(size_t)m * (size_t)j + (size_t)l];
            const double *a = A + (size_t)n * (size_t)l;
            for (int i = 0; i < n; i++) to[i] += y * a[i];
        }
    }
}

void snw_identity(int n, double *A) {
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) A[(size_t)n * (size_t)j + (size_t)i] = i == j;
    }
}

double snw_out_of_balance(const snw_model *m, const snw_work *w) {
    double residual = 0;
    for (int i = 0; i < m->nv; i++) {
        const double r = fabs(w->r[i]) / m->scale[i];
        if (!(r <= residual)) residual = r;
    }
    for (int i = 0; i < m->nconstraint; i++) {
        const double violation = fabs(w->violation[i]) / m->length;
        if (!(violation <= residual)) residual = violation;
    }
    return residual;
}

// ---- directions

// unit[i] <- displacement at which a coordinate has the energy of the one with the largest inertia
// at its typical value; without inertia, its typical value. Returns that inertia; NaN if some
// inertia is not finite.
static double scale_coordinates(snw_directions *d) {
    const snw_model *m = d->m;
    double most = 0;
    for (int i = 0; i < m->nv; i++) {
        const double typical = m->typical[i], own = snw_column_of(d->M, m->nv, i)[i];
        if (!isfinite(own)) return NAN;
        most = fmax(most, own * typical * typical);
    }
    for (int i = 0; i < m->nv; i++) {
        const double own = snw_column_of(d->M, m->nv, i)[i], typical = m->typical[i];
        const bool with_mass = own * typical * typical > no_inertia * most;
        d->unit[i] = with_mass ? sqrt(most / own) : typical;
    }
    return most;
}

// P <- basis of the null space of the constraints on the active coordinates, n columns.
static snw_status free_directions(snw_directions *d, const snw_work *w) {
    const snw_model *m = d->m;
    int rows = m->nconstraint;
    for (int k = 0; k < m->nconstraint; k++) {
        double *row = snw_column_of(d->A, m->nv, k);
        for (int i = 0; i < m->nconstraint; i++) d->line[i] = i == k;
        for (int i = 0; i < m->nv; i++) row[i] = 0;
        snw_constraints_apply_transpose(m, w, d->line, row);
    }
    if (d->nheld > 0)
        memcpy(snw_column_of(d->A, m->nv, rows), d->held,
               (size_t)d->nheld * (size_t)m->nv * sizeof *d->A);
    rows += d->nheld;
    for (int k = 0; k < rows; k++) {
        double *row = snw_column_of(d->A, m->nv, k);
        for (int i = 0; i < m->nv; i++) row[i] *= d->unit[i];
        const double size = sqrt(snw_vector_dot(m->nv, row, row));
        for (int i = 0; i < m->nv && size > 0; i++) row[i] /= size;
    }
    for (int k = 0; k < m->nconditional; k++) { // inactive coordinates do not move
        if (snw_is_active(w, m->conditional_on[k])) continue;
        double *row = snw_column_of(d->A, m->nv, rows++);
        for (int i = 0; i < m->nv; i++) row[i] = i == m->conditional[k];
    }
    int rank = 0;
    SNW_TRY(snw_null_space(m->nv, rows, d->A, dependent_row, &d->scratch, d->P, &rank));
    d->n = m->nv - rank;
    for (int j = 0; j < d->n; j++) {
        for (int i = 0; i < m->nv; i++) snw_column_of(d->P, m->nv, j)[i] *= d->unit[i];
    }
    return SNW_OK;
}

snw_status snw_directions_allowed(snw_directions *d, const snw_work *w) {
    for (int i = 0; i < d->m->nv; i++) d->unit[i] = d->m->typical[i];
    return free_directions(d, w);
}

// P <- the n0 massless directions first, then directions with P'MP = 1.
static snw_status split_by_mass(snw_directions *d, double most) {
    const int nv = d->m->nv, n = d->n;
    if (n == 0) return SNW_OK;
    snw_project(nv, d->M, n, d->P, n, d->P, &d->scratch, d->U);
    snw_identity(n, d->B);
    SNW_TRY(snw_eigen_symmetric(n, d->U, d->B, true, &d->scratch, d->value));
    int n0 = 0;
    while (n0 < n && !(d->value[n0] > no_mass * fmax(most, d->value[n - 1]))) n0++;
    for (int j = n0; j < n; j++) {
        for (int i = 0; i < n; i++) snw_column_of(d->U, n, j)[i] /= sqrt(d->value[j]);
    }
    snw_combine_columns(nv, n, d->P, n, d->U, d->x);
    memcpy(d->P, d->x, (size_t)nv * (size_t)n * sizeof *d->P);
    d->n0 = n0;
    return SNW_OK;
}

snw_status snw_directions_sort(snw_directions *d, const double *T, int first, int count,
                               double small, int *nsmall) {
    const int nv = d->m->nv;
    double *P = snw_column_of(d->P, nv, first);
    *nsmall = 0;
    if (count == 0) return SNW_OK;
    snw_project(nv, T, count, P, count, P, &d->scratch, d->A);
    for (int j = 0; j < count; j++) {
        for (int i = 0; i < count; i++) {
            snw_column_of(d->U, count, j)[i] =
                0.5 * (snw_column_of(d->A, count, j)[i] + snw_column_of(d->A, count, i)[j]);
        }
    }
    snw_identity(count, d->B);
    SNW_TRY(snw_eigen_symmetric(count, d->U, d->B, true, &d->scratch, d->value));
    snw_combine_columns(nv, count, P, count, d->U, d->x);
    for (int pass = 0, k = 0; pass < 2; pass++) {
        for (int j = 0; j < count; j++) {
            const bool is_small = fabs(d->value[j]) <= small;
            if (is_small != (pass == 0)) continue;
            *nsmall += is_small;
            memcpy(snw_column_of(P, nv, k++), snw_column_of(d->x, nv, j),
                   (size_t)nv * sizeof *d->P);
        }
    }
    return SNW_OK;
}

double snw_directions_no_stiffness(const snw_model *m) {
    double energy = 0;
    for (int i = 0; i < m->nv; i++) energy = fmax(energy, m->typical[i] * m->scale[i]);
    return no_stiffness * energy;
}

snw_status snw_directions_find(snw_directions *d, const snw_work *w) {
    d->n = d->n0 = d->nidle = 0;
    const double most = scale_coordinates(d);
    if (isnan(most)) return SNW_E_DIVERGED;
    if (!(most > 0)) return SNW_E_MODEL;
    SNW_TRY(free_directions(d, w));
    SNW_TRY(split_by_mass(d, most));
    return snw_directions_sort(d, d->K, 0, d->n0, snw_directions_no_stiffness(d->m), &d->nidle);
}

snw_status snw_directions_condense(snw_directions *d, double *A) {
    const int nv = d->m->nv, n1 = d->n - d->n0, ns = d->n0 - d->nidle;
    double *with_mass = snw_column_of(d->P, nv, d->n0);
    const double *massless = snw_column_of(d->P, nv, d->nidle);
    double *x = d->x;
    memcpy(x, with_mass, (size_t)nv * (size_t)n1 * sizeof *x);
    if (ns > 0) {
        const size_t mark = snw_arena_mark(&d->scratch);
        int *pivot = snw_arena_ints(&d->scratch, (size_t)ns);
        snw_project(nv, d->K, ns, massless, ns, massless, &d->scratch, d->A);
        snw_project(nv, d->K, ns, massless, n1, with_mass, &d->scratch, d->B);
        const snw_status s = snw_lu_factor(ns, d->A, pivot);
        for (int j = 0; s == SNW_OK && j < n1; j++) {
            double *follow = snw_column_of(d->B, ns, j);
            snw_lu_solve(ns, d->A, pivot, follow);
            for (int k = 0; k < ns; k++) {
                for (int i = 0; i < nv; i++)
                    snw_column_of(x, nv, j)[i] -=
                        follow[k] * massless[(size_t)nv * (size_t)k + (size_t)i];
            }
        }
        snw_arena_reset(&d->scratch, mark);
        SNW_TRY(s);
    }
    snw_project(nv, d->K, n1, with_mass, n1, x, &d->scratch, A);
    memcpy(with_mass, x, (size_t)nv * (size_t)n1 * sizeof *x);
    return SNW_OK;
}

snw_status snw_directions_follow(snw_directions *d, int k, const double *F, double *X) {
    const int nv = d->m->nv, ns = d->n0 - d->nidle;
    const double *massless = snw_column_of(d->P, nv, d->nidle);
    memset(X, 0, (size_t)nv * (size_t)k * sizeof *X);
    if (ns == 0) return SNW_OK;
    const size_t mark = snw_arena_mark(&d->scratch);
    int *pivot = snw_arena_ints(&d->scratch, (size_t)ns);
    snw_project(nv, d->K, ns, massless, ns, massless, &d->scratch, d->A);
    const snw_status s = snw_lu_factor(ns, d->A, pivot);
    for (int j = 0; s == SNW_OK && j < k; j++) {
        const double *f = F + (size_t)nv * (size_t)j;
        for (int i = 0; i < ns; i++)
            d->value[i] = snw_vector_dot(nv, massless + (size_t)nv * (size_t)i, f);
        snw_lu_solve(ns, d->A, pivot, d->value);
        snw_combine_columns(nv, ns, massless, 1, d->value, X + (size_t)nv * (size_t)j);
    }
    snw_arena_reset(&d->scratch, mark);
    return s;
}
