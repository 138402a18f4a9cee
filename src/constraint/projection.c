// SPDX-License-Identifier: MIT
//
// Closing of loops by Levenberg-Marquardt steps and the rank of the constraint rows, from the
// violations and the constraint Jacobian of all rows, redundant ones included (theory.md 3.8).

#include "constraint/closure_choice.h"
#include "constraint/projection_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/scratch.h"
#include "base/vectorise.h"
#include "dynamics/constraint.h"
#include "dynamics/segment_pair.h"
#include "dynamics/tendon.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- memory -------------------------------------------------------------------------------------

static void size_rows(const snw_model *m, double *size) {
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].row >= 0) size[m->drive[i].row] = m->typical[m->drive[i].dof];
    }
    for (int i = 0; i < m->ntendon; i++) {
        if (m->tendon[i].row >= 0) size[m->tendon[i].row] = m->length;
    }
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int r = 0; r < loop->nrow; r++) size[loop->row + r] = snw_loop_kept_size(m, loop, r);
    }
}

// pr->all <- the model with its redundant rows, in the memory of pr->rows
static void restore_redundant_rows(snw_projection *pr, int spare) {
    const snw_model *m = pr->m;
    pr->all = m;
    if (spare == 0) return;
    const snw_model_rows rows = pr->rows;
    pr->whole = *m;
    pr->whole.nconstraint += spare;
    pr->whole.loop = rows.loop;
    pr->whole.drive = rows.drive;
    pr->whole.tendon = rows.tendon;
    for (int i = 0; i < m->ntendon; i++) {
        rows.tendon[i] = m->tendon[i];
        if (m->tendon[i].row >= 0) rows.tendon[i].row += spare;
    }
    for (int i = 0; i < m->ndrive; i++) {
        rows.drive[i] = m->drive[i];
        if (m->drive[i].row >= 0) rows.drive[i].row += spare;
    }
    for (int i = 0, row = 0; i < m->nloop; i++) {
        snw_loop *loop = &rows.loop[i];
        *loop = m->loop[i];
        loop->nrow += loop->nredundant;
        loop->row = row;
        row += loop->nrow;
    }
    pr->all = &pr->whole;
}

static int projection_redundant_rows(const snw_model *m) {
    int spare = 0;
    for (int i = 0; i < m->nloop; i++) spare += m->loop[i].nredundant;
    return spare;
}

static snw_status create_redundant_rows(snw_projection *pr) {
    const snw_model *m = pr->m;
    const int spare = projection_redundant_rows(m);
    if (spare > 0) {
        pr->rows.loop = snw_alloc((size_t)m->nloop * sizeof *pr->rows.loop);
        pr->rows.drive = snw_alloc((size_t)m->ndrive * sizeof *pr->rows.drive);
        pr->rows.tendon = snw_alloc((size_t)m->ntendon * sizeof *pr->rows.tendon);
        if (!pr->rows.loop || !pr->rows.drive || !pr->rows.tendon) return SNW_E_MEMORY;
    }
    restore_redundant_rows(pr, spare);
    return SNW_OK;
}

void snw_projection_know_closed(snw_projection *pr, const double *closed) { pr->closed = closed; }

void snw_projection_use(snw_projection *pr, const snw_model *m) {
    pr->m = m;
    pr->closed = NULL;
    if (pr->T) snw_elimination_use(pr->T->local, m);
    restore_redundant_rows(pr, projection_redundant_rows(m));
    if (pr->redundancy) snw_redundancy_use(pr->redundancy, m);
}

static void projection_place(void *object, snw_fields *f) {
    snw_projection *o = object;
    const bool bare = o->m->bare && !o->m->local;
    const size_t nv = bare ? 0 : (size_t)o->m->nv, nr = (size_t)o->all->nconstraint;
    const bool dense = !bare && (o->m->local || o->m->nv <= SNW_MOST_DENSE);
    const size_t n = dense ? nv : 0, square = dense ? nr * nr : 0;
    PROJECTION_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

// The matrices are written before they are read; the vectors behind them begin as zero.
static void *create_arrays(snw_projection *pr) {
    snw_fields all = {NULL, 0};
    projection_place(pr, &all);
    unsigned char *block = snw_fields_create_scratch(projection_place, pr);
    if (block) memset(pr->rhs, 0, all.used - (size_t)((unsigned char *)pr->rhs - block));
    return block;
}

// Mass matrix bordered by the rows; dense factors of it need no memory of their own.
static snw_status create_bordered(snw_projection *pr, bool analysed, const snw_sparse *like) {
    const snw_model *m = pr->m;
    if (m->local || (!m->bare && !analysed))
        SNW_TRY(snw_bordered_matrix_create(m, SNW_ALGEBRA_AUTO, &pr->T));
    else if (like)
        SNW_TRY(snw_bordered_matrix_create_like(m, like, &pr->T));
    if (!pr->T || pr->T->sparse || pr->T->local) return SNW_OK;
    snw_bordered_matrix_destroy(pr->T);
    pr->T = NULL;
    return SNW_OK;
}

static snw_status projection_create(const snw_model *m, bool analysed, const snw_sparse *like,
                                    snw_projection **out) {
    *out = NULL;
    snw_projection *pr = snw_alloc(sizeof *pr);
    if (!pr) return SNW_E_MEMORY;
    pr->m = m;
    if (create_redundant_rows(pr) != SNW_OK) {
        snw_projection_destroy(pr);
        return SNW_E_MEMORY;
    }
    const size_t qr = m->bare && !m->local ? 0 : snw_qr_scratch(m->nv, pr->all->nconstraint);
    const size_t ls = m->bare ? 0 : snw_minimum_norm_scratch(pr->all->nconstraint + m->nv, m->nv);
    pr->scratch.size = qr > ls ? qr : ls;
    pr->scratch.base = snw_alloc_scratch(pr->scratch.size);
    pr->block = create_arrays(pr);
    const bool has_contacts = m->nnonholonomic > 0 && !m->bare;
    if (!pr->scratch.base || !pr->block || create_bordered(pr, analysed, like) != SNW_OK ||
        (has_contacts && snw_redundancy_create(m, &pr->redundancy) != SNW_OK) ||
        snw_work_create(pr->all, &pr->w) != SNW_OK ||
        snw_state_create(pr->all, &pr->trial) != SNW_OK ||
        snw_state_create(pr->all, &pr->previous) != SNW_OK ||
        snw_state_create(pr->all, &pr->near) != SNW_OK) {
        snw_projection_destroy(pr);
        return SNW_E_MEMORY;
    }
    size_rows(m, pr->size);
    size_rows(pr->all, pr->all_size);
    if (snw_row_gram_create(pr->all, pr->all_size, &pr->gram) != SNW_OK) {
        snw_projection_destroy(pr);
        return SNW_E_MEMORY;
    }
    *out = pr;
    return SNW_OK;
}

snw_status snw_projection_create(const snw_model *m, snw_projection **out) {
    return projection_create(m, false, NULL, out);
}

snw_status snw_projection_create_like(const snw_model *m, const snw_sparse *like,
                                      snw_projection **out) {
    return projection_create(m, true, like, out);
}

void snw_projection_destroy(snw_projection *pr) {
    if (!pr) return;
    snw_work_destroy(pr->w);
    snw_state_destroy(pr->trial);
    snw_state_destroy(pr->previous);
    snw_state_destroy(pr->near);
    snw_free(pr->rows.loop);
    snw_free(pr->rows.drive);
    snw_free(pr->rows.tendon);
    snw_free(pr->scratch.base);
    snw_free(pr->block);
    snw_bordered_matrix_destroy(pr->T);
    snw_redundancy_destroy(pr->redundancy);
    snw_row_gram_destroy(pr->gram);
    snw_free(pr);
}

int snw_projection_loop_at(const snw_model *m, int row) {
    int i = 0;
    while (i < m->nloop && row >= m->loop[i].row + m->loop[i].nrow) i++;
    return i;
}

snw_redundancy *snw_projection_redundancy(snw_projection *pr) { return pr->redundancy; }

int snw_projection_rows(const snw_projection *pr) { return pr->all->nconstraint; }
int snw_projection_first_row(const snw_projection *pr, int i) { return pr->all->loop[i].row; }
int snw_projection_loop_of(const snw_projection *pr, int row) {
    return snw_projection_loop_at(pr->all, row);
}

snw_source_location snw_projection_owner(const snw_model *m, int row, const char **kind,
                                         const char **name) {
    int i = snw_projection_loop_at(m, row);
    *kind = "loop";
    if (i < m->nloop) {
        if (m->loop[i].drive) *kind = "actuator";
        if (m->loop[i].nonholonomic) *kind = "contact";
        *name = m->label.loop[i].name;
        return m->label.loop[i].location;
    }
    *kind = "actuator";
    for (i = 0; i < m->ntendon; i++) {
        if (m->tendon[i].row != row) continue;
        *name = m->tendon[i].name;
        return m->tendon[i].location;
    }
    for (i = 0; m->drive[i].row != row;) i++;
    *name = snw_drive_name(m, i);
    return m->label.motor[m->drive[i].motor].location;
}

snw_source_location snw_projection_location_of(const snw_projection *pr, int row, const char **kind,
                                               const char **name) {
    return snw_projection_owner(pr->all, row, kind, name);
}

void snw_projection_transpose(snw_projection *pr, const snw_model *m) {
    const size_t nv = (size_t)m->nv;
    memset(pr->X, 0, nv * (size_t)m->nconstraint * sizeof *pr->X);
    for (int k = 0; m->local && k < m->nconstraint; k++) {
        const snw_row_force row = snw_row_force_at(m, pr->w, k);
        snw_row_force_project(m, pr->w, &row, 1, pr->X + (size_t)k * nv);
    }
    if (m->local) return;
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint row = snw_constraint_at(m, pr->w, k);
        for (int j = 0; j < row.n; j++) pr->X[(size_t)k * nv + (size_t)row.dof[j]] = row.C[j];
    }
}

// w->C <- constraint Jacobian. The curvature of the maps of slices is no part of it.
static void row_columns(const snw_model *m, snw_work *w) {
    snw_jacobian_pass(m, w);
    snw_jacobian_read(m, w);
    snw_constraints_jacobian(m, w);
}

void snw_projection_jacobian(snw_projection *pr, const snw_inputs *in, const snw_state *s,
                             bool closing) {
    const snw_model *m = pr->all;
    snw_residual(m, in, s, true, pr->w);
    if (m->local) {
        snw_tendons_jacobian(m, pr->w);
    } else {
        row_columns(m, pr->w);
    }
    snw_projection_transpose(pr, m);
    for (int k = 0; k < m->nconstraint; k++) {
        double *x = pr->X + (size_t)k * (size_t)m->nv;
        for (int i = 0; i < m->nv; i++) x[i] *= m->typical[i] / pr->all_size[k];
    }
    for (int i = 0; closing && i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        const size_t nv = (size_t)m->nv;
        if (!loop->nonholonomic) continue;
        memset(pr->X + (size_t)loop->row * nv, 0, (size_t)loop->nrow * nv * sizeof *pr->X);
    }
}

void snw_projection_set_trial(snw_projection *pr, const snw_state *s) {
    const snw_model *m = pr->all;
    if (m->nq) memcpy(pr->trial->q, s->q, (size_t)m->nq * sizeof *s->q);
    if (m->nsignal) memcpy(pr->trial->z, s->z, (size_t)m->nsignal * sizeof *s->z);
}

// ---- closing ------------------------------------------------------------------------------------

// Largest violation with its row, and sum of squares of all violations, each relative to its size.
typedef struct violation_norm {
    double largest, square;
    int row;
} violation_norm;

// Violation of constraint row k less its target, relative to its size.
static double scaled_violation(const snw_projection *pr, int k) {
    const double wanted = pr->remaining > 0 ? pr->remaining * pr->violation0[k] : 0;
    return (pr->w->violation[k] - wanted) / pr->all_size[k];
}

static violation_norm measure_violations(const snw_projection *pr) {
    violation_norm o = {0};
    for (int k = 0; k < pr->all->nconstraint; k++) {
        const double violation = fabs(scaled_violation(pr, k));
        o.square += violation * violation;
        if (!(violation <= o.largest)) o.largest = violation, o.row = k;
    }
    return o;
}

double snw_projection_violation(snw_projection *pr, const snw_inputs *in, const snw_state *s,
                                int *row) {
    snw_projection_set_trial(pr, s);
    snw_residual(pr->all, in, pr->trial, true, pr->w);
    const violation_norm o = measure_violations(pr);
    if (row) *row = o.row;
    return o.largest;
}

double snw_projection_size(const snw_projection *pr, int row) { return pr->all_size[row]; }

void snw_projection_explain_violation(const snw_projection *pr, int row, double violation,
                                      char *out, size_t size) {
    const int owner = snw_projection_loop_of(pr, row);
    if (owner == pr->all->nloop) {
        (void)snprintf(out, size, "%.3g in SI units", violation * pr->all_size[row]);
        return;
    }
    const snw_loop *loop = &pr->all->loop[owner];
    bool turns = pr->all_size[row] == 1;
    // a combination counts as a length when it moves anything
    for (int k = 0; k < loop->nraw; k++) {
        const bool moves = snw_loop_row_name(loop, k)[0] == 'm';
        if (moves && loop->coefficient[row - loop->row][k] != 0) turns = false;
    }
    if (turns) {
        (void)snprintf(out, size, "%.3g degrees", violation * 57.295779513082321);
    } else if (violation * pr->m->length < 1) {
        (void)snprintf(out, size, "%.3g mm", violation * pr->m->length * 1e3);
    } else {
        (void)snprintf(out, size, "%.3g m", violation * pr->m->length);
    }
}

enum { CLOSE_ITERATIONS = 100, CLOSE_STARTS = 8, CLOSE_GRADUAL = 3, CLOSE_PARTS = 80 };

// Largest relative violation of closed loops.
static const double CLOSED = 1e-12;

// Tolerance of the intermediate targets of gradual closing, relative to the sizes of the rows.
static const double GRADUAL_TOLERANCE = 1e-7;

// Relative violation below which a failure is put down to a robot at the end of its reach, where
// the rows meet to second order only.
static const double REACH_LIMIT = 1e-5;

// The step of levenberg_step from the matrix of the rows, C'(C C' + |e|^2)^-1 e, where coordinates
// are many and rows few. Rows that depend on others are met by |e|^2 while the loops are open.
static snw_status gram_levenberg_step(snw_projection *pr, double square, int *rank) {
    const snw_model *m = pr->all;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint;
    for (size_t k = 0; k < nr; k++) {
        for (size_t i = k; i < nr; i++)
            pr->S[k * nr + i] = snw_vector_dot(m->nv, pr->X + i * nv, pr->X + k * nv);
        pr->S[k * (nr + 1)] += fmax(square, 1e-13 * pr->S[k * (nr + 1)]);
        pr->rhs[k] = scaled_violation(pr, (int)k);
    }
    if (snw_cholesky_factor(m->nconstraint, pr->S) != SNW_OK) return SNW_E_SINGULAR;
    snw_cholesky_solve(m->nconstraint, pr->S, pr->rhs);
    for (size_t i = 0; i < nv; i++) {
        double sum = 0;
        for (size_t k = 0; k < nr; k++) sum += pr->X[k * nv + i] * pr->rhs[k];
        pr->dx[i] = sum * m->typical[i];
    }
    *rank = m->nconstraint;
    return SNW_OK;
}

// pr->dx <- Levenberg-Marquardt step in typical coordinates: minimises |C x - e|^2 + |e|^2 |x|^2,
// so that rows which are independent only because the loops are open do not cause long steps
static snw_status levenberg_step(snw_projection *pr, double square, int *rank) {
    const snw_model *m = pr->all;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint, ld = nr + nv;
    const double mu = sqrt(square);
    if (m->local) return gram_levenberg_step(pr, square, rank);
    for (size_t i = 0; i < nv; i++) {
        for (size_t k = 0; k < nr; k++) pr->C[i * ld + k] = pr->X[k * nv + i];
        for (size_t k = 0; k < nv; k++) pr->C[i * ld + nr + k] = k == i ? mu : 0;
    }
    for (size_t k = 0; k < nr; k++) pr->dx[k] = scaled_violation(pr, (int)k);
    for (size_t k = nr; k < ld; k++) pr->dx[k] = 0;
    SNW_TRY(snw_minimum_norm((int)ld, m->nv, pr->C, 1e-11, &pr->scratch, pr->dx, rank));
    for (size_t i = 0; i < nv; i++) pr->dx[i] *= m->typical[i];
    return SNW_OK;
}

// The same at pr->trial by the sparse matrix C C', where there is one; false: not so.
static bool sparse_levenberg_step(snw_projection *pr, const snw_inputs *in, double square) {
    const snw_model *m = pr->all;
    if (!pr->gram) return false;
    snw_residual(m, in, pr->trial, true, pr->w);
    row_columns(m, pr->w);
    for (int k = 0; k < m->nconstraint; k++) pr->rhs[k] = scaled_violation(pr, k);
    if (snw_row_gram_factor(pr->gram, pr->w, square) != SNW_OK) return false;
    snw_row_gram_step(pr->gram, pr->w, pr->rhs, pr->dx);
    for (int i = 0; i < m->nv; i++) pr->dx[i] *= m->typical[i];
    return true;
}

// damped iterations from pr->trial; returns the violation that is left
static violation_norm iterate_closure(snw_projection *pr, const snw_inputs *in,
                                      snw_projection_info *info) {
    const snw_model *m = pr->all;
    const double enough = pr->remaining > 0 ? GRADUAL_TOLERANCE : 1e-14;
    snw_residual(m, in, pr->trial, true, pr->w);
    violation_norm now = measure_violations(pr);
    for (int n = 0; !(now.largest <= enough) && n < CLOSE_ITERATIONS; n++) {
        info->iterations++;
        if (!sparse_levenberg_step(pr, in, now.square)) {
            int rank;
            if (!m->local && m->nv > SNW_MOST_DENSE) break; // there is no dense matrix
            snw_projection_jacobian(pr, in, pr->trial, true);
            if (levenberg_step(pr, now.square, &rank) != SNW_OK) break;
        }
        // at most about a third of a radian a step, and the violation must decrease
        double most = 0, step = 1;
        for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(pr->dx[i]) / m->typical[i]);
        if (most > 0.3) step = 0.3 / most;
        snw_state_copy(m, pr->trial, pr->previous);
        violation_norm then = now;
        for (; step > 1e-6; step *= 0.5) {
            snw_move(m, pr->previous->q, -step, pr->dx, pr->trial->q);
            snw_residual(m, in, pr->trial, true, pr->w);
            then = measure_violations(pr);
            if (then.square < now.square * (1 - 1e-3 * step)) break;
        }
        if (!(step > 1e-6)) {
            snw_state_copy(m, pr->previous, pr->trial);
            break;
        }
        now = then;
    }
    return now;
}

// Close from pr->trial through intermediate targets e = (1 - s) e0 with growing s. It converges
// from configurations that are far open, where direct iterations fail.
static violation_norm close_gradually(snw_projection *pr, const snw_inputs *in,
                                      snw_projection_info *info) {
    const snw_model *m = pr->all;
    const size_t bytes = (size_t)m->nq * sizeof *pr->q;
    snw_residual(m, in, pr->trial, true, pr->w);
    memcpy(pr->violation0, pr->w->violation, (size_t)m->nconstraint * sizeof *pr->violation0);
    double closed = 0, fraction = 0.1;
    for (int n = 0; n < CLOSE_PARTS && closed + fraction < 1 && fraction > 1e-3; n++) {
        memcpy(pr->q, pr->trial->q, bytes);
        pr->remaining = 1 - closed - fraction;
        if (iterate_closure(pr, in, info).largest <= GRADUAL_TOLERANCE) {
            closed += fraction;
            fraction *= 1.5;
        } else {
            memcpy(pr->trial->q, pr->q, bytes);
            fraction *= 0.4;
        }
    }
    pr->remaining = 0;
    return iterate_closure(pr, in, info);
}

double snw_projection_random(unsigned long long *seed) {
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*seed >> 11) / (double)(1ULL << 52) - 1;
}

// out <- text that names the most open loop beside the owner of `row`; empty when all others are
// closed
static void name_other_open_loop(const snw_projection *pr, int row, char *out, size_t size) {
    const snw_model *m = pr->all;
    const int owner = snw_projection_loop_at(m, row);
    double largest = 0.01 * measure_violations(pr).largest;
    int other = -1;
    for (int k = 0; k < m->nconstraint; k++) {
        const int i = snw_projection_loop_at(m, k);
        const double violation = fabs(pr->w->violation[k]) / pr->all_size[k];
        if (i != owner && i < m->nloop && violation > largest) largest = violation, other = i;
    }
    out[0] = 0;
    if (other >= 0) {
        (void)snprintf(out, size, " together with loop '%.60s'", m->label.loop[other].name);
    }
}

// Takes the known closed configuration if s is the initial one, from which it was reached; false:
// there is none, or it is not closed under these inputs.
static bool take_closed(snw_projection *pr, const snw_inputs *in, snw_state *s,
                        snw_projection_info *info) {
    const snw_model *m = pr->all;
    const size_t bytes = (size_t)m->nq * sizeof *s->q;
    if (!pr->closed || memcmp(s->q, m->q0, bytes) != 0) return false;
    snw_projection_set_trial(pr, s);
    memcpy(pr->trial->q, pr->closed, bytes);
    snw_residual(m, in, pr->trial, true, pr->w);
    const violation_norm o = measure_violations(pr);
    if (!(o.largest <= CLOSED)) return false;
    *info = (snw_projection_info){.violation = o.largest, .row = o.row};
    memcpy(s->q, pr->closed, bytes);
    return true;
}

// If the iterations fail, the configuration is usually singular (links in line): the rows have no
// first-order descent direction. Restart from perturbed configurations with growing perturbations,
// then close gradually.
snw_status snw_projection_close(snw_projection *pr, const snw_inputs *in, snw_state *s,
                                snw_projection_info *info, snw_error *err) {
    const snw_model *m = pr->all;
    if (take_closed(pr, in, s, info)) return SNW_OK;
    *info = (snw_projection_info){.violation = INFINITY};
    unsigned long long seed = 3;
    double offset = 0;
    for (int n = 0; n < CLOSE_STARTS + CLOSE_GRADUAL; n++) {
        const bool gradual = n >= CLOSE_STARTS;
        if (n == CLOSE_STARTS) offset = 0.05; // straight rods do not shorten to first order
        snw_projection_set_trial(pr, s);
        for (int i = 0; i < m->nv; i++)
            pr->dx[i] = offset * m->typical[i] * snw_projection_random(&seed);
        snw_clear_inactive_vector(m, pr->w, pr->dx);
        if (n > 0) snw_move(m, s->q, 1, pr->dx, pr->trial->q);
        const violation_norm o =
            gradual ? close_gradually(pr, in, info) : iterate_closure(pr, in, info);
        if (o.largest < info->violation) info->violation = o.largest, info->row = o.row;
        if (o.largest <= CLOSED) {
            memcpy(s->q, pr->trial->q, (size_t)m->nq * sizeof *s->q);
            return SNW_OK;
        }
        offset = n == 0 ? 0.02 : (gradual ? 4 : 1.7) * offset;
    }
    char by[64], with[100];
    snw_projection_explain_violation(pr, info->row, info->violation, by, sizeof by);
    name_other_open_loop(pr, info->row, with, sizeof with);
    const char *kind, *name;
    const snw_source_location at = snw_projection_owner(m, info->row, &kind, &name);
    return snw_fail_at_location(
        err,
        snw_fail(err, SNW_E_DIVERGED,
                 "%s '%.60s' cannot be %s%s from the initial configuration: it stays open by %s at "
                 "t = %g s. %s",
                 kind, name, kind[0] == 'l' ? "closed" : "followed", with, by, in->t,
                 info->violation < REACH_LIMIT
                     ? "So small a gap shows that the robot is at the end of its reach, which is "
                       "singular: move the sites a little nearer, or let a rod stretch"
                     : "Give initial: values nearer to the closed robot, check lengths, poses and "
                       "drives, or allow more motion"),
        at.file, at.line, at.column);
}

// ---- rank ---------------------------------------------------------------------------------------

// Pivots relative to their row: below DEPENDENT a row is dependent. Below DOUBTFUL it may be
// independent nearby only, which is assumed if it is below NEARBY_FRACTION of the pivot nearby.
static const double DEPENDENT = 1e-8;
static const double DOUBTFUL = 1e-4;
static const double NEARBY_FRACTION = 1e-3;
// Of the squared length of a row: what rounding leaves of a dependent one is below 1e-14.
static const double ROUNDED_PART = 1e-12;

// Rows found to be independent so far: an orthonormal basis of them in pr->C, columns of nv.
typedef struct row_basis {
    int n;
    bool ended;     // a row that must be kept depends on others: no further ones are taken
    double longest; // of the rows in the basis
} row_basis;

enum { SUMS = 16 }; // at a time, so that none waits for the one before

// a'b
SNW_CLONES static double dot_rows(size_t n, const double *a, const double *b) {
    double sum[SUMS] = {0};
    size_t i = 0;
    for (; i + SUMS <= n; i += SUMS) {
        for (size_t k = 0; k < SUMS; k++) sum[k] += a[i + k] * b[i + k];
    }
    for (; i < n; i++) sum[0] += a[i] * b[i];
    for (size_t half = SUMS / 2; half > 0; half /= 2) {
        for (size_t k = 0; k < half; k++) sum[k] += sum[k + half];
    }
    return sum[0];
}

// x (nv) -= its part along the vectors of the basis from `first` on
SNW_CLONES static void remove_part(const row_basis *basis, int first, size_t nv, const double *Q,
                                   double *x) {
    for (int k = first; k < basis->n; k++) {
        const double *q = Q + nv * (size_t)k, d = dot_rows(nv, q, x);
        if (d == 0) continue;
        SNW_INDEPENDENT
        for (size_t i = 0; i < nv; i++) x[i] -= d * q[i];
    }
}

// x (nv) <- its part that is orthogonal to the basis, whose length it returns. A second time where
// little is left, which otherwise has the rounding of what was removed.
static double remove_basis(const row_basis *basis, size_t nv, const double *Q, double *x) {
    const double before = dot_rows(nv, x, x);
    remove_part(basis, 0, nv, Q, x);
    double after = dot_rows(nv, x, x);
    if (after < 0.5 * before) {
        remove_part(basis, 0, nv, Q, x);
        after = dot_rows(nv, x, x);
    }
    return sqrt(after);
}

// Take the row x, orthogonal to the basis up to rounding and of length `length`, into it.
static void extend_basis(row_basis *basis, size_t nv, double *Q, const double *x, double length) {
    double *q = Q + nv * (size_t)basis->n++;
    for (size_t i = 0; i < nv; i++) q[i] = x[i] / length;
}

// Rows of loop i behind those kept so far: the row with the longest part that is independent of all
// before comes next, until that is below `tolerance` of the longest row.
static void keep_independent(snw_projection *pr, int i, double tolerance, row_basis *basis,
                             bool *kept, snw_projection_pivot *least) {
    const snw_loop *loop = &pr->all->loop[i];
    const size_t nv = (size_t)pr->all->nv;
    const int room = pr->all->nv - basis->n, most_new = loop->nrow < room ? loop->nrow : room;
    // remaining parts of the rows, behind the room that the basis may need, and their lengths
    double *rest = pr->C + nv * (size_t)(basis->n + most_new), length[6];
    double longest = basis->longest;
    memcpy(rest, pr->X + nv * (size_t)loop->row, nv * (size_t)loop->nrow * sizeof *rest);
    for (int k = 0; k < loop->nrow; k++) {
        double *x = rest + nv * (size_t)k;
        longest = snw_larger(longest, sqrt(dot_rows(nv, x, x)));
        length[k] = remove_basis(basis, nv, pr->C, x);
    }
    if (!(longest < INFINITY)) basis->ended = true;
    bool taken[6] = {false};
    for (int count = 0; count < most_new && !basis->ended; count++) {
        int most = -1;
        for (int k = 0; k < loop->nrow; k++) {
            if (!taken[k] && (most < 0 || length[k] > length[most])) most = k;
        }
        if (!(length[most] > tolerance * longest)) break;
        double *x = rest + nv * (size_t)most;
        if (count > 0) length[most] = remove_basis(basis, nv, pr->C, x);
        extend_basis(basis, nv, pr->C, x, length[most]);
        taken[most] = kept[loop->row + most] = true;
        if (length[most] < least->value)
            *least = (snw_projection_pivot){.value = length[most], .loop = i};
        for (int k = 0; k < loop->nrow; k++) {
            if (taken[k]) continue;
            double *other = rest + nv * (size_t)k;
            remove_part(basis, basis->n - 1, nv, pr->C, other);
            length[k] = sqrt(dot_rows(nv, other, other));
        }
    }
    for (int k = 0; k < loop->nrow; k++) {
        const double *row = pr->X + nv * (size_t)(loop->row + k);
        if (taken[k]) basis->longest = fmax(basis->longest, sqrt(dot_rows(nv, row, row)));
    }
}

// Rank of the rows at s->q as for snw_projection_rank; rows count as independent when their pivot
// behind the rows before them exceeds `tolerance`. *least <- the smallest such pivot.
static int rank_at(snw_projection *pr, const snw_inputs *in, const snw_state *s, double tolerance,
                   bool *kept, snw_projection_pivot *least) {
    const snw_model *m = pr->all;
    const size_t nv = (size_t)m->nv;
    snw_projection_set_trial(pr, s);
    snw_projection_jacobian(pr, in, pr->trial, false);
    // loop by loop, those that are always active first; rows of drives stand in front
    *least = (snw_projection_pivot){.value = 1};
    for (int k = 0; k < m->nconstraint; k++) kept[k] = false;
    for (int k = 0; k < m->ndrive; k++) {
        const snw_drive *d = &m->drive[k];
        if (d->row >= 0 && !d->passive && snw_is_active(pr->w, d->condition)) kept[d->row] = true;
    }
    for (int k = 0; k < m->ntendon; k++) {
        if (m->tendon[k].row >= 0) kept[m->tendon[k].row] = true;
    }
    row_basis basis = {.n = 0};
    for (int k = 0; k < m->nconstraint; k++) {
        const double *row = pr->X + nv * (size_t)k;
        if (kept[k]) basis.longest = snw_larger(basis.longest, sqrt(dot_rows(nv, row, row)));
    }
    for (int k = 0; k < m->nconstraint && !basis.ended; k++) {
        double *x = pr->dx;
        if (!kept[k]) continue;
        memcpy(x, pr->X + nv * (size_t)k, nv * sizeof *x);
        const double length = remove_basis(&basis, nv, pr->C, x);
        basis.ended = !(length > tolerance * basis.longest && basis.longest < INFINITY);
        if (!basis.ended) extend_basis(&basis, nv, pr->C, x, length);
    }
    for (int i = 0; i < 2 * m->nloop; i++) {
        const snw_loop *loop = &m->loop[i % m->nloop];
        if ((loop->condition < 0) != (i < m->nloop) || !snw_is_active(pr->w, loop->condition))
            continue;
        keep_independent(pr, i % m->nloop, tolerance, &basis, kept, least);
    }
    return basis.n;
}

// Are all rows at s->q independent, by a margin that needs no look nearby? By the pivots of C C',
// which are squared lengths; false also where that is not known. In a network, pivots down to the
// ratio of the length of a rod to that of the robot, times the strain that it can have, are
// regular: *pivot is not that of a robot near a singular configuration.
bool snw_projection_plainly_independent(snw_projection *pr, const snw_inputs *in,
                                        const snw_state *s) {
    if (!pr->gram) return false;
    snw_projection_set_trial(pr, s);
    snw_residual(pr->all, in, pr->trial, true, pr->w);
    row_columns(pr->all, pr->w);
    if (snw_row_gram_factor(pr->gram, pr->w, 0) != SNW_OK) return false;
    // Coordinates of nodes have the size of the robot, so that in large networks the part that is
    // left, of strains of a rod, falls with the square of the number of rods: rows are compared
    // with rounding.
    const double enough = pr->all->nv > SNW_MOST_DENSE ? ROUNDED_PART : DOUBTFUL * DOUBTFUL;
    return snw_row_gram_least_part(pr->gram) > enough;
}

// pr->near <- s perturbed and closed again; false when it cannot be closed
static bool perturb_and_close(snw_projection *pr, const snw_inputs *in, const snw_state *s,
                              double fraction, unsigned long long *seed) {
    const snw_model *m = pr->all;
    snw_projection_info info;
    snw_error ignored = {0};
    for (int i = 0; i < m->nv; i++)
        pr->dx[i] = fraction * m->typical[i] * snw_projection_random(seed);
    if (m->nsignal) memcpy(pr->near->z, s->z, (size_t)m->nsignal * sizeof *s->z);
    if (m->nconditional) {
        snw_kinematics(m, in, pr->near, true, pr->w);
        snw_clear_inactive_vector(m, pr->w, pr->dx);
    }
    snw_move(m, s->q, 1, pr->dx, pr->near->q);
    return snw_projection_close(pr, in, pr->near, &info, &ignored) == SNW_OK;
}

enum { NEARBY = 3 };

int snw_projection_rank(snw_projection *pr, snw_projection *closer, const snw_inputs *in,
                        const snw_state *s, int enough, bool *here, bool *most,
                        snw_projection_pivot *pivot) {
    const size_t bytes = (size_t)pr->all->nconstraint * sizeof *here;
    unsigned long long seed = 5;
    snw_projection_pivot least;
    double best = 0;
    if (snw_projection_plainly_independent(pr, in, s)) {
        if (pivot) *pivot = (snw_projection_pivot){.value = 1};
        for (int k = 0; k < pr->all->nconstraint; k++) here[k] = most[k] = true;
        return pr->all->nconstraint;
    }
    SNW_ASSERT(pr->all->local ||
               pr->all->nv <= SNW_MOST_DENSE); // others are refused when they are compiled
    int rank = rank_at(pr, in, s, DEPENDENT, here, &least);
    // a singular configuration that is closed to rounding may look regular
    const bool doubtful = least.value < DOUBTFUL;
    memcpy(most, here, bytes);
    if (rank >= enough && !doubtful) {
        if (pivot) *pivot = least;
        return rank;
    }
    if (!closer) return -1;
    for (int n = 0; n < NEARBY && (rank < enough || doubtful); n++) {
        if (!perturb_and_close(closer, in, s, 0.03 * (n + 1), &seed)) continue;
        const int there = rank_at(pr, in, closer->near, DEPENDENT, here, &least);
        if (there >= rank) best = fmax(there > rank ? 0 : best, least.value);
        if (there <= rank) continue;
        rank = there;
        memcpy(most, here, bytes);
    }
    (void)rank_at(pr, in, s, fmax(DEPENDENT, NEARBY_FRACTION * best), here, &least);
    if (pivot) *pivot = least;
    return rank;
}
