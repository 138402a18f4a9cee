// SPDX-License-Identifier: MIT
//
// Velocities, impacts and accelerations that satisfy the constraint rows, from the mass matrix and
// the constraint Jacobian: bordered sparse factors where they pay, else dense Cholesky factors; and
// motions without mass and stiffness (theory.md 3.8).

#include "constraint/projection_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fields.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

static snw_status projection_rates_massless(snw_error *err) {
    return snw_fail(err, SNW_E_SINGULAR,
                    "the mass matrix is singular: a coordinate moves no mass, or two are linearly "
                    "dependent; give the rod density, rotary inertia or more nodes, or allow fewer "
                    "strains");
}

// pr->M <- factor of the mass matrix, pr->X <- inv(M) C', at s
static snw_status factor_mass_rows(snw_projection *pr, const snw_inputs *in, const snw_state *s,
                                   snw_error *err) {
    const snw_model *m = pr->m;
    if (m->local || m->nv > SNW_MOST_DENSE) {
        return snw_fail(
            err, SNW_E_SINGULAR,
            "the mass matrix of a network or long rod of %d coordinates, bordered by its "
            "constraint "
            "rows, is singular or nearly so: give all bodies and rods mass and inertia, "
            "and remove loops that others imply",
            m->nv);
    }
    snw_mass_matrix(m, in, s, pr->w, pr->M);
    if (m->nconstraint > 0) snw_jacobian_pass(m, pr->w);
    snw_constraints_jacobian(m, pr->w);
    snw_projection_transpose(pr, m);
    if (snw_mass_factor(m, pr->X, pr->size, pr->diagonal, pr->M, &pr->weight, &pr->regularised) !=
        SNW_OK)
        return projection_rates_massless(err);
    for (int k = 0; k < m->nconstraint; k++) {
        snw_cholesky_solve(m->nv, pr->M, pr->X + (size_t)k * (size_t)m->nv);
    }
    return SNW_OK;
}

static snw_status fail_dependent(const snw_projection *pr, int row, snw_error *err) {
    const char *kind, *name;
    const snw_source_location at = snw_projection_owner(pr->m, row, &kind, &name);
    if (snw_projection_loop_at(pr->m, row) < pr->m->nloop) {
        return snw_fail(err, SNW_E_SINGULAR,
                        "the robot is in a singular configuration: here %s '%s' is redundant, so "
                        "forces and motion are not determined; start away from it (initial:)",
                        kind, name);
    }
    return snw_fail_at_location(
        err,
        snw_fail(err, SNW_E_SINGULAR,
                 "loops and drives are linearly dependent here: actuator '%s' is redundant; leave "
                 "it out, or start away from this configuration (initial:)",
                 name),
        at.file, at.line, at.column);
}

// pr->P <- independent combinations of the rows at s, where rows are dependent
static void projection_rates_combine(snw_projection *pr, const snw_inputs *in, const snw_state *s) {
    pr->nP = 0;
    if (pr->redundancy) (void)snw_redundancy_combine(pr->redundancy, in, s, pr->P, &pr->nP);
}

// row with the largest coefficient in combination k
static int projection_rates_row_of(const snw_projection *pr, int k) {
    if (pr->nP == 0) return k;
    const double *p = pr->P + (size_t)k * (size_t)pr->m->nconstraint;
    int most = 0;
    for (int i = 1; i < pr->m->nconstraint; i++) most = fabs(p[i]) > fabs(p[most]) ? i : most;
    return most;
}

// dx <- X inv(C X) rhs: the shortest step, in the metric of M, that changes the rows by `rhs`; rhs
// <- inv(C X) rhs
static snw_status correct_rows(snw_projection *pr, snw_error *err) {
    const snw_model *m = pr->m;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint;
    for (size_t k = 0; k < nr; k++) {
        memset(pr->S + k * nr, 0, nr * sizeof *pr->S);
        snw_constraints_apply(m, pr->w, pr->X + k * nv, pr->S + k * nr);
        if (snw_constraint_at(m, pr->w, (int)k).inactive) pr->S[k * (nr + 1)] = 1;
        pr->dx[k] = pr->S[k * (nr + 1)];
    }
    const int n = pr->nP > 0 ? pr->nP : m->nconstraint;
    if (pr->nP > 0) {
        snw_redundancy_reduce(m->nconstraint, n, pr->P, pr->S, pr->rhs, pr->P + nr * nr);
        for (size_t k = 0; k < (size_t)n; k++) pr->dx[k] = pr->S[k * (size_t)(n + 1)];
    }
    if (snw_cholesky_factor(n, pr->S) != SNW_OK)
        return fail_dependent(pr, projection_rates_row_of(pr, n - 1), err);
    for (int k = 0; k < n; k++) {
        const double pivot = pr->S[(size_t)k * (size_t)(n + 1)];
        if (!(pivot * pivot > 1e-14 * pr->dx[k]))
            return fail_dependent(pr, projection_rates_row_of(pr, k), err);
    }
    snw_cholesky_solve(n, pr->S, pr->rhs);
    if (pr->nP > 0) snw_redundancy_expand(m->nconstraint, n, pr->P, pr->rhs, pr->P + nr * nr);
    for (size_t i = 0; i < nv; i++) {
        pr->dx[i] = 0;
        for (size_t k = 0; k < nr; k++) pr->dx[i] += pr->X[k * nv + i] * pr->rhs[k];
    }
    return SNW_OK;
}

// Pivots below this, relative to their column, may belong to a singular matrix.
static const double DOUBTFUL = 1e-9;

// Sparse factors of [M -b C'; -b C 0] at s, with multipliers scaled by 1/b. False: there are none,
// or the matrix may be singular; the caller then takes the dense path, which handles singular mass
// matrices and dependent rows.
static bool factor_bordered(snw_projection *pr, const snw_inputs *in, const snw_state *s,
                            double *b) {
    const snw_model *m = pr->m;
    if (!pr->T || (m->nconstraint == 0 && !m->local) || pr->nP > 0) return false;
    snw_kinematics(m, in, s, true, pr->w);
    if (m->local) {
        snw_tangent_at at = {.in = in, .ca = 1};
        snw_elimination_diagonal(pr->T->local, &at, pr->w, pr->x);
        *b = 0;
        for (int i = 0; i < m->nv; i++) {
            const double size = m->typical[i] / m->length;
            *b = fmax(*b, fabs(pr->x[i]) * size * size);
        }
        at.rows = *b;
        return snw_bordered_matrix_eliminate(pr->T, &at, pr->w) == SNW_OK;
    }
    snw_jacobian_pass(m, pr->w);
    snw_bordered_matrix_clear(pr->T);
    snw_tangent_add(m, in, 0, 0, 1, pr->w, pr->T->A);
    *b = 0;
    for (int i = 0; i < m->nv; i++) {
        const double size = m->typical[i] / m->length;
        *b = fmax(*b, fabs(*snw_matrix_at(pr->T->A, i, i)) * size * size);
    }
    snw_constraints_place(m, pr->w, *b, pr->T->A);
    return snw_bordered_matrix_factor(pr->T) == SNW_OK && !pr->T->overwritten &&
           snw_sparse_smallest(pr->T->sparse, pr->T->A) > DOUBTFUL;
}

// M (v+ - v) = f + C' p with zero rates of the rows at v+. On the dense path M may stand for M + C'
// W C, W = weight diag(1/size^2); then the unknown is p - W rate.
static snw_status solve_impact(snw_projection *pr, const snw_inputs *in, const double *f,
                               snw_state *s, double *impulse, snw_error *err) {
    const snw_model *m = pr->m;
    snw_projection_set_trial(pr, s);
    memcpy(pr->trial->v, s->v, (size_t)m->nv * sizeof *s->v);
    for (int i = 0; i < m->nv; i++) pr->trial->a[i] = 0;
    double b;
    if (factor_bordered(pr, in, s, &b)) {
        snw_kinematics(m, in, pr->trial, false, pr->w);
        snw_constraints_rates(m, in, pr->trial, pr->w, pr->x + m->nv, NULL);
        for (int i = 0; i < m->nv; i++) pr->x[i] = f ? f[i] : 0;
        for (int i = 0; i < m->nconstraint; i++) pr->x[m->nv + i] *= b;
        snw_bordered_matrix_solve(pr->T, pr->x);
        for (int i = 0; i < m->nv; i++) s->v[i] += pr->x[i];
        for (int i = 0; impulse && i < m->nconstraint; i++) impulse[i] = b * pr->x[m->nv + i];
        return SNW_OK;
    }
    SNW_TRY(factor_mass_rows(pr, in, s, err));
    snw_kinematics(m, in, pr->trial, false, pr->w);
    snw_constraints_rates(m, in, pr->trial, pr->w, pr->bias, NULL);
    memcpy(pr->rhs, pr->bias, (size_t)m->nconstraint * sizeof *pr->rhs);
    if (f) {
        memcpy(pr->x, f, (size_t)m->nv * sizeof *pr->x);
        snw_cholesky_solve(m->nv, pr->M, pr->x);
        snw_constraints_apply(m, pr->w, pr->x, pr->rhs);
        for (int i = 0; i < m->nv; i++) s->v[i] += pr->x[i];
    }
    if (m->nconstraint == 0) return SNW_OK;
    SNW_TRY(correct_rows(pr, err));
    for (int i = 0; i < m->nv; i++) s->v[i] -= pr->dx[i];
    for (int i = 0; impulse && i < m->nconstraint; i++) {
        impulse[i] = pr->weight / (pr->size[i] * pr->size[i]) * pr->bias[i] - pr->rhs[i];
    }
    return SNW_OK;
}

// do all contact rows hold, dependent ones included?
static snw_status projection_rates_check_slip(snw_projection *pr, const snw_inputs *in,
                                              const snw_state *s, snw_error *err) {
    double left;
    const int i = snw_redundancy_slips(pr->redundancy, in, s, &left);
    if (i < 0) return SNW_OK;
    const snw_label *d = &pr->m->label.loop[i];
    return snw_fail_at_location(
        err, snw_fail(err, SNW_E_MODEL, SNW_SLIP_MESSAGE, d->name, in->t, fabs(left)),
        d->location.file, d->location.line, d->location.column);
}

static int first_contact(const snw_model *m) {
    int i = 0;
    while (!m->loop[i].nonholonomic || m->loop[i].nrow == 0) i++;
    return m->loop[i].row;
}

snw_status snw_projection_impact(snw_projection *pr, const snw_inputs *in, const double *f,
                                 snw_state *s, double *impulse, snw_error *err) {
    const snw_model *m = pr->m;
    if (m->nconstraint == 0 && !f) return SNW_OK;
    projection_rates_combine(pr, in, s);
    const bool singular = pr->nP > 0 && snw_redundancy_passes(pr->redundancy, in, s);
    SNW_TRY(solve_impact(pr, in, f, s, impulse, err));
    if (singular && !snw_redundancy_limit(pr->redundancy, in, s))
        return fail_dependent(pr, first_contact(m), err);
    return pr->nP > 0 ? projection_rates_check_slip(pr, in, s, err) : SNW_OK;
}

snw_status snw_projection_velocities(snw_projection *pr, const snw_inputs *in, snw_state *s,
                                     snw_error *err) {
    return snw_projection_impact(pr, in, NULL, s, NULL, err);
}

// no force may act on coordinates with additional inertia
static snw_status check_regularised(snw_projection *pr, const snw_inputs *in, const snw_state *s,
                                    snw_error *err) {
    const snw_model *m = pr->m;
    snw_residual(m, in, s, false, pr->w);
    for (int i = 0; i < m->nv; i++) {
        if (fabs(pr->w->r[i]) <= 1e-7 * m->scale[i]) continue;
        int k = 0;
        while (i >= m->block[k].dof + m->block[k].n) k++;
        return snw_fail(err, SNW_E_SINGULAR,
                        "the mass matrix is singular: '%s' moves no mass but a force acts on it; "
                        "give it inertia",
                        snw_block_link(m, k));
    }
    return SNW_OK;
}

// b -= friction of rods that slide through loops, which depends on the multipliers
static void subtract_friction(const snw_projection *pr, double *b) {
    for (int i = 0; pr->m->has_slip_friction && i < pr->m->nloop; i++) {
        if (pr->m->loop[i].friction > 0)
            b[pr->m->rod[pr->m->loop[i].through - 1].feed] -= pr->friction[i];
    }
}

// M a - C' lambda = -r0, C a = -bias. Where M is singular, (3.8.4)
//   (M + C' W C) a - C' (lambda - W bias) = -r0
// has the same solution for any W and is positive definite if M is on the motions that the rows
// allow.
static snw_status solve_accelerations(snw_projection *pr, const snw_inputs *in, snw_state *s,
                                      snw_error *err) {
    const snw_model *m = pr->m;
    for (int i = 0; i < m->nv; i++) s->a[i] = 0;
    for (int i = 0; i < m->nconstraint; i++) s->lambda[i] = 0;
    double b;
    if (factor_bordered(pr, in, s, &b)) {
        snw_residual(m, in, s, false, pr->w);
        snw_constraints_rates(m, in, s, pr->w, NULL, pr->x + m->nv);
        for (int i = 0; i < m->nv; i++) pr->x[i] = -pr->w->r[i];
        subtract_friction(pr, pr->x);
        for (int i = 0; i < m->nconstraint; i++) pr->x[m->nv + i] *= b;
        snw_bordered_matrix_solve(pr->T, pr->x);
        memcpy(s->a, pr->x, (size_t)m->nv * sizeof *s->a);
        for (int i = 0; i < m->nconstraint; i++) s->lambda[i] = b * pr->x[m->nv + i];
        return SNW_OK;
    }
    SNW_TRY(factor_mass_rows(pr, in, s, err));
    snw_residual(m, in, s, false, pr->w);
    snw_constraints_rates(m, in, s, pr->w, NULL, pr->bias);
    for (int i = 0; i < m->nv; i++) s->a[i] = -pr->w->r[i];
    subtract_friction(pr, s->a);
    snw_cholesky_solve(m->nv, pr->M, s->a);
    if (m->nconstraint > 0) {
        // accelerations of the rows with these; the multipliers cancel them
        snw_kinematics(m, in, s, false, pr->w);
        snw_constraints_rates(m, in, s, pr->w, NULL, pr->rhs);
        SNW_TRY(correct_rows(pr, err));
        for (int i = 0; i < m->nv; i++) s->a[i] -= pr->dx[i];
        for (int i = 0; i < m->nconstraint; i++) {
            s->lambda[i] = pr->weight / (pr->size[i] * pr->size[i]) * pr->bias[i] - pr->rhs[i];
        }
    }
    return SNW_OK;
}

// pr->friction <- friction of the rods that slide through loops, with the multipliers of s; returns
// its largest change, *most <- its largest value, N
static double update_friction(snw_projection *pr, const snw_inputs *in, const snw_state *s,
                              double *most) {
    const snw_model *m = pr->m;
    double change = 0;
    *most = 0;
    snw_kinematics(m, in, s, false, pr->w);
    for (int i = 0; i < m->nloop; i++) {
        const double f = snw_slip_friction(m, pr->w, i, s->lambda);
        change = fmax(change, fabs(f - pr->friction[i]));
        *most = fmax(*most, fabs(f));
        pr->friction[i] = f;
    }
    return change;
}

snw_status snw_projection_accelerations(snw_projection *pr, const snw_inputs *in, snw_state *s,
                                        snw_error *err) {
    enum { MOST = 100 };
    const snw_model *m = pr->m;
    projection_rates_combine(pr, in, s);
    for (int i = 0; i < m->nloop; i++) pr->friction[i] = 0;
    SNW_TRY(solve_accelerations(pr, in, s, err));
    // friction depends on the multipliers, which it changes: fixed point
    for (int k = 0; m->has_slip_friction; k++) {
        double most;
        if (update_friction(pr, in, s, &most) <= 1e-13 * most) break;
        if (k == MOST) {
            return snw_fail(err, SNW_E_DIVERGED,
                            "a rod jams in the loop through which it slides: no accelerations "
                            "agree with its friction; reduce the coefficient of friction");
        }
        SNW_TRY(solve_accelerations(pr, in, s, err));
    }
    if (pr->regularised) SNW_TRY(check_regularised(pr, in, s, err));
    // (3.8.4) with dependent rows gives multipliers that are not of minimum norm
    return pr->nP > 0 && pr->weight > 0 ? snw_redundancy_minimum_norm(pr->redundancy, in, s)
                                        : SNW_OK;
}

// ---- idle motions -------------------------------------------------------------------------------

// G += B'B, with columns of B in typical coordinates, rows scaled by row_size and all entries
// divided by the largest
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

static void mark_idle(const snw_model *m, const double *lambda, const double *V, bool *idle) {
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

// nv coordinates, nr rows
#define IDLE_FIELDS(AT, PACK)                                                                      \
    AT(double, G, nv *nv, "sum of squares, then its eigenvectors")                                 \
    PACK(double, B, nv *nv, "mass matrix, then stiffness matrix")                                  \
    PACK(double, identity, nv *nv, "identity matrix")                                              \
    PACK(double, lambda, nv, "eigenvalues")                                                        \
    PACK(double, size, nr, "1 over the sizes of the rows")

typedef struct idle_check {
    const snw_model *m;
    IDLE_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
} idle_check;

static void idle_check_place(void *object, snw_fields *f) {
    idle_check *o = object;
    const size_t nv = (size_t)o->m->nv, nr = (size_t)o->m->nconstraint;
    IDLE_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

snw_status snw_projection_idle(snw_projection *pr, const snw_inputs *in, const snw_state *s,
                               bool *idle) {
    const snw_model *m = pr->m;
    const size_t n = (size_t)m->nv, nr = (size_t)m->nconstraint;
    for (int l = 0; l < m->nlink; l++) idle[l] = false;
    bool any = false;
    for (int k = 0; k < m->nblock; k++) any = any || snw_is_joint(m, &m->block[k]);
    if (!any) return SNW_OK;
    snw_arena scratch = {.size = snw_eigen_symmetric_scratch(m->nv)};
    scratch.base = snw_alloc(scratch.size);
    idle_check x = {.m = m};
    x.block = snw_fields_create(idle_check_place, &x);
    snw_status status = SNW_E_MEMORY;
    if (x.block && scratch.base) {
        for (size_t k = 0; k < nr; k++) x.size[k] = 1 / pr->size[k];
        for (size_t i = 0; i < n; i++) x.identity[i * (n + 1)] = 1;
        snw_mass_matrix(m, in, s, pr->w, x.B);
        add_square(m, m->nv, x.B, m->typical, x.G);
        snw_residual(m, in, s, true, pr->w);
        snw_tangent_pass(m, NULL, pr->w);
        snw_tangent_assemble(m, in, 1, 0, 0, pr->w, x.B);
        add_square(m, m->nv, x.B, m->typical, x.G);
        snw_projection_transpose(pr, m);
        for (size_t k = 0; k < nr; k++) {
            for (size_t i = 0; i < n; i++) pr->C[i * nr + k] = pr->X[k * n + i];
        }
        add_square(m, m->nconstraint, pr->C, x.size, x.G);
        status = snw_eigen_symmetric(m->nv, x.G, x.identity, true, &scratch, x.lambda);
        if (status == SNW_OK) mark_idle(m, x.lambda, x.G, idle);
        if (status == SNW_E_DIVERGED) status = SNW_OK; // not finite: report no idle joint
    }
    snw_free(x.block);
    snw_free(scratch.base);
    return status;
}
