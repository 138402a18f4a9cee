// SPDX-License-Identifier: MIT
//
// assembly_motion.c: velocities, accelerations and blows that the rows allow, and motions that nothing resists.
#include "study/assembly_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/loop.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

static snw_status massless(snw_error *err) {
    return snw_fail(err, SNW_E_SINGULAR,
                    "the mass matrix is singular: a coordinate moves no mass, or two move the "
                    "same; give the rod density and rotary inertia, or allow fewer strains");
}

// as->M <- factor of the mass matrix, as->X <- inv(M) C', at s
static snw_status mass_rows(snw_assembly *as, const snw_inputs *in, const snw_state *s,
                            snw_error *err) {
    const snw_model *m = as->m;
    snw_mass_matrix(m, in, s, as->w, as->M);
    snw_rows_columns(m, as->w);
    snw_assembly_transpose(as, m);
    if (snw_mass_factor(m, as->X, as->size, as->diagonal, as->M, &as->weight, &as->soft) != SNW_OK)
        return massless(err);
    for (int k = 0; k < m->nrow; k++) {
        snw_cholesky_solve(m->nv, as->M, as->X + (size_t)k * (size_t)m->nv);
    }
    return SNW_OK;
}

static snw_status dependent(const snw_assembly *as, int row, snw_error *err) {
    const char *kind, *name;
    const snw_place at = snw_assembly_owner(as->m, row, &kind, &name);
    if (snw_assembly_loop_at(as->m, row) < as->m->nloop) {
        return snw_fail(
            err, SNW_E_SINGULAR,
            "the robot is in a singular configuration: here %s '%s' says what others say "
            "already, so forces and motion are not determined; start beside it (initial:)",
            kind, name);
    }
    return snw_fail_place(
        err,
        snw_fail(err, SNW_E_SINGULAR,
                 "loops and drives are not independent of each other here: actuator '%s' says what "
                 "others say already; leave out what is redundant, or start beside it (initial:)",
                 name),
        at.file, at.line, at.column);
}

// as->P <- independent combinations of the rows at s, where some depend on others
static void combine(snw_assembly *as, const snw_inputs *in, const snw_state *s) {
    as->nP = 0;
    if (as->share) (void)snw_share_combine(as->share, in, s, as->P, &as->nP);
}

// the row that a combination has most of
static int row_of(const snw_assembly *as, int k) {
    if (as->nP == 0) return k;
    const double *p = as->P + (size_t)k * (size_t)as->m->nrow;
    int most = 0;
    for (int i = 1; i < as->m->nrow; i++) most = fabs(p[i]) > fabs(p[most]) ? i : most;
    return most;
}

// dx <- X inv(C X) side: the shortest way, in the metric of X, to change the rows by `side`, which becomes inv(C X) side
static snw_status shortest(snw_assembly *as, snw_error *err) {
    const snw_model *m = as->m;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nrow;
    for (size_t k = 0; k < nr; k++) {
        memset(as->S + k * nr, 0, nr * sizeof *as->S);
        snw_rows_push(m, as->w, as->X + k * nv, as->S + k * nr);
        if (snw_row_at(m, as->w, (int)k).off) as->S[k * (nr + 1)] = 1;
        as->dx[k] = as->S[k * (nr + 1)];
    }
    const int n = as->nP > 0 ? as->nP : m->nrow;
    if (as->nP > 0) {
        snw_share_reduce(m->nrow, n, as->P, as->S, as->side, as->P + nr * nr);
        for (size_t k = 0; k < (size_t)n; k++) as->dx[k] = as->S[k * (size_t)(n + 1)];
    }
    if (snw_cholesky_factor(n, as->S) != SNW_OK) return dependent(as, row_of(as, n - 1), err);
    for (int k = 0; k < n; k++) {
        const double pivot = as->S[(size_t)k * (size_t)(n + 1)];
        if (!(pivot * pivot > 1e-14 * as->dx[k])) return dependent(as, row_of(as, k), err);
    }
    snw_cholesky_solve(n, as->S, as->side);
    if (as->nP > 0) snw_share_expand(m->nrow, n, as->P, as->side, as->P + nr * nr);
    for (size_t i = 0; i < nv; i++) {
        as->dx[i] = 0;
        for (size_t k = 0; k < nr; k++) as->dx[i] += as->X[k * nv + i] * as->side[k];
    }
    return SNW_OK;
}

// below this, relative to its column, a pivot may be all that a singular mass matrix or rows that depend on each other leave
static const double DOUBTFUL = 1e-9;

// The factors of [M -b C'; -b C 0] at s, multipliers over b. False: there are none, or the matrix may be singular, and the
// dense way, which knows what to do then, is to be gone.
static bool bordered(snw_assembly *as, const snw_inputs *in, const snw_state *s, double *b) {
    const snw_model *m = as->m;
    if (!as->T || m->nrow == 0 || as->nP > 0) return false;
    const size_t n = (size_t)as->T->n;
    snw_kinematics(m, in, s, true, as->w);
    snw_columns_sweep(m, as->w);
    snw_matrix_clear(as->T);
    snw_tangent_add(m, in, 0, 0, 1, as->w, n, as->T->A);
    *b = 0;
    for (int i = 0; i < m->nv; i++) {
        const double size = m->typical[i] / m->length;
        *b = fmax(*b, fabs(as->T->A[(size_t)i * (n + 1)]) * size * size);
    }
    snw_rows_place(m, as->w, *b, as->T->A);
    return snw_matrix_factor(as->T) == SNW_OK && !as->T->overwritten &&
           snw_sparse_smallest(as->T->sparse, as->T->A) > DOUBTFUL;
}

// M (v+ - v) = f + C' p with the rows' rates zero at v+. As below, M may stand for M + C' W C: then what is solved for is
// p - W rate.
static snw_status strike(snw_assembly *as, const snw_inputs *in, const double *f, snw_state *s,
                         double *impulse, snw_error *err) {
    const snw_model *m = as->m;
    snw_assembly_take(as, s);
    memcpy(as->trial->v, s->v, (size_t)m->nv * sizeof *s->v);
    for (int i = 0; i < m->nv; i++) as->trial->a[i] = 0;
    double b;
    if (bordered(as, in, s, &b)) {
        snw_kinematics(m, in, as->trial, false, as->w);
        snw_rows_rates(m, in, as->trial, as->w, as->x + m->nv, NULL);
        for (int i = 0; i < m->nv; i++) as->x[i] = f ? f[i] : 0;
        for (int i = 0; i < m->nrow; i++) as->x[m->nv + i] *= b;
        snw_matrix_solve(as->T, as->x);
        for (int i = 0; i < m->nv; i++) s->v[i] += as->x[i];
        for (int i = 0; impulse && i < m->nrow; i++) impulse[i] = b * as->x[m->nv + i];
        return SNW_OK;
    }
    SNW_TRY(mass_rows(as, in, s, err));
    snw_kinematics(m, in, as->trial, false, as->w);
    snw_rows_rates(m, in, as->trial, as->w, as->bend, NULL);
    memcpy(as->side, as->bend, (size_t)m->nrow * sizeof *as->side);
    if (f) {
        memcpy(as->x, f, (size_t)m->nv * sizeof *as->x);
        snw_cholesky_solve(m->nv, as->M, as->x);
        snw_rows_push(m, as->w, as->x, as->side);
        for (int i = 0; i < m->nv; i++) s->v[i] += as->x[i];
    }
    if (m->nrow == 0) return SNW_OK;
    SNW_TRY(shortest(as, err));
    for (int i = 0; i < m->nv; i++) s->v[i] -= as->dx[i];
    for (int i = 0; impulse && i < m->nrow; i++) {
        impulse[i] = as->weight / (as->size[i] * as->size[i]) * as->bend[i] - as->side[i];
    }
    return SNW_OK;
}

// contacts that depend on each other: do all hold?
static snw_status slip_nowhere(snw_assembly *as, const snw_inputs *in, const snw_state *s,
                               snw_error *err) {
    double left;
    const int i = snw_share_slips(as->share, in, s, &left);
    if (i < 0) return SNW_OK;
    const snw_loop_desc *d = &as->m->desc->loop[i];
    return snw_fail_place(err, snw_fail(err, SNW_E_MODEL, SNW_SLIPS, d->name, in->t, fabs(left)),
                          d->place.file, d->place.line, d->place.column);
}

static int first_contact(const snw_model *m) {
    int i = 0;
    while (!m->loop[i].grip || m->loop[i].nrow == 0) i++;
    return m->loop[i].row;
}

snw_status snw_assembly_strike(snw_assembly *as, const snw_inputs *in, const double *f,
                               snw_state *s, double *impulse, snw_error *err) {
    const snw_model *m = as->m;
    if (m->nrow == 0 && !f) return SNW_OK;
    combine(as, in, s);
    const bool singular = as->nP > 0 && snw_share_passes(as->share, in, s);
    SNW_TRY(strike(as, in, f, s, impulse, err));
    if (singular && !snw_share_limit(as->share, in, s)) return dependent(as, first_contact(m), err);
    return as->nP > 0 ? slip_nowhere(as, in, s, err) : SNW_OK;
}

snw_status snw_assembly_velocities(snw_assembly *as, const snw_inputs *in, snw_state *s,
                                   snw_error *err) {
    return snw_assembly_strike(as, in, NULL, s, NULL, err);
}

// what was made heavier must not be pushed
static snw_status check_soft(snw_assembly *as, const snw_inputs *in, const snw_state *s,
                             snw_error *err) {
    const snw_model *m = as->m;
    snw_residual(m, in, s, false, as->w);
    for (int i = 0; i < m->nv; i++) {
        if (fabs(as->w->r[i]) <= 1e-7 * m->scale[i]) continue;
        int k = 0;
        while (i >= m->block[k].dof + m->block[k].n) k++;
        return snw_fail(err, SNW_E_SINGULAR,
                        "the mass matrix is singular: '%s' moves no mass but is pushed; give it "
                        "inertia",
                        m->desc->link[m->seg[m->block[k].seg].link].name);
    }
    return SNW_OK;
}

// M a - C' l = -r0, C a = -bend. Where M is singular alone it may be definite together with the rows: with any W,
//   (M + C' W C) a - C' (l - W bend) = -r0
// has the same solution.
static snw_status accelerate(snw_assembly *as, const snw_inputs *in, snw_state *s, snw_error *err) {
    const snw_model *m = as->m;
    for (int i = 0; i < m->nv; i++) s->a[i] = 0;
    for (int i = 0; i < m->nrow; i++) s->l[i] = 0;
    double b;
    if (bordered(as, in, s, &b)) {
        snw_residual(m, in, s, false, as->w);
        snw_rows_rates(m, in, s, as->w, NULL, as->x + m->nv);
        for (int i = 0; i < m->nv; i++) as->x[i] = -as->w->r[i];
        for (int i = 0; i < m->nrow; i++) as->x[m->nv + i] *= b;
        snw_matrix_solve(as->T, as->x);
        memcpy(s->a, as->x, (size_t)m->nv * sizeof *s->a);
        for (int i = 0; i < m->nrow; i++) s->l[i] = b * as->x[m->nv + i];
        return SNW_OK;
    }
    SNW_TRY(mass_rows(as, in, s, err));
    snw_residual(m, in, s, false, as->w);
    snw_rows_rates(m, in, s, as->w, NULL, as->bend);
    for (int i = 0; i < m->nv; i++) s->a[i] = -as->w->r[i];
    snw_cholesky_solve(m->nv, as->M, s->a);
    if (m->nrow > 0) {
        // rows' accelerations with these; then what multipliers must take away
        snw_kinematics(m, in, s, false, as->w);
        snw_rows_rates(m, in, s, as->w, NULL, as->side);
        SNW_TRY(shortest(as, err));
        for (int i = 0; i < m->nv; i++) s->a[i] -= as->dx[i];
        for (int i = 0; i < m->nrow; i++) {
            s->l[i] = as->weight / (as->size[i] * as->size[i]) * as->bend[i] - as->side[i];
        }
    }
    return as->soft ? check_soft(as, in, s, err) : SNW_OK;
}

snw_status snw_assembly_accelerations(snw_assembly *as, const snw_inputs *in, snw_state *s,
                                      snw_error *err) {
    combine(as, in, s);
    SNW_TRY(accelerate(as, in, s, err));
    // beside links without mass multipliers have a part of their own
    return as->nP > 0 && as->weight > 0 ? snw_share_shorten(as->share, in, s) : SNW_OK;
}

// ---- idle motions ----------------------------------------------------------------------------------

// G += B'B, B per typical coordinate, its rows measured by theirs and all of it by its largest entry
static void add_square(const snw_model *m, int rows, const double *B, const double *row_size,
                       double *G) {
    const size_t n = (size_t)m->nv, nr = (size_t)rows;
    double largest = 0;
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < nr; k++) {
            largest = fmax(largest, fabs(B[j * nr + k] * m->typical[j] * row_size[k]));
        }
    }
    if (!(largest > 0 && largest < INFINITY)) return;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < nr; k++) {
                const double f = row_size[k] / largest;
                sum += B[i * nr + k] * f * B[j * nr + k] * f;
            }
            G[j * n + i] += sum * m->typical[i] * m->typical[j];
        }
    }
}

static void name_idle(const snw_model *m, const double *lambda, const double *V, bool *idle) {
    const size_t n = (size_t)m->nv;
    for (size_t k = 0; k < n && lambda[k] < 1e-20 * lambda[n - 1]; k++) {
        for (int b = 0; b < m->nblock; b++) {
            const snw_block *block = &m->block[b];
            if (!snw_is_joint(m, block)) continue;
            for (int i = block->dof; i < block->dof + block->n; i++) {
                if (fabs(V[k * n + (size_t)i]) > 1e-3) idle[m->seg[block->seg].link] = true;
            }
        }
    }
}

snw_status snw_assembly_idle(snw_assembly *as, const snw_inputs *in, const snw_state *s,
                             bool *idle) {
    const snw_model *m = as->m;
    const size_t n = (size_t)m->nv, nr = (size_t)m->nrow;
    for (int l = 0; l < m->desc->nlink; l++) idle[l] = false;
    bool any = false;
    for (int k = 0; k < m->nblock; k++) any = any || snw_is_joint(m, &m->block[k]);
    if (!any) return SNW_OK;
    snw_arena scratch = {.size = snw_eigen_symmetric_scratch(m->nv)};
    scratch.base = snw_alloc(scratch.size);
    double *memory = snw_alloc((3 * n * n + n + nr) * sizeof *memory);
    snw_status status = SNW_E_MEMORY;
    if (memory && scratch.base) {
        double *G = memory, *B = G + n * n, *one = B + n * n, *lambda = one + n * n;
        double *size = lambda + n;
        for (size_t k = 0; k < nr; k++) size[k] = 1 / as->size[k];
        for (size_t i = 0; i < n; i++) one[i * (n + 1)] = 1;
        snw_mass_matrix(m, in, s, as->w, B);
        add_square(m, m->nv, B, m->typical, G);
        snw_residual(m, in, s, true, as->w);
        snw_tangent_sweep(m, NULL, as->w);
        snw_tangent_assemble(m, in, 1, 0, 0, as->w, B);
        add_square(m, m->nv, B, m->typical, G);
        snw_assembly_transpose(as, m);
        for (size_t k = 0; k < nr; k++) {
            for (size_t i = 0; i < n; i++) as->C[i * nr + k] = as->X[k * n + i];
        }
        add_square(m, m->nrow, as->C, size, G);
        status = snw_eigen_symmetric(m->nv, G, one, true, &scratch, lambda);
        if (status == SNW_OK) name_idle(m, lambda, G, idle);
        if (status == SNW_E_DIVERGED) status = SNW_OK; // not finite: nothing to say of it
    }
    snw_free(memory);
    snw_free(scratch.base);
    return status;
}
