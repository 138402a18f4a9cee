// SPDX-License-Identifier: MIT
//
// Rank of the constraint Jacobian and multipliers of minimum norm, from singular values and pivoted
// QR of the rows restricted to the coordinates that are not driven. Rows are scaled to unit length
// in typical coordinates, so the rank does not depend on units.

#include "constraint/redundancy.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/fields.h"
#include "dynamics/constraint.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// nv velocities, nr constraint rows, of which nf and n are in use
#define REDUNDANCY_FIELDS(AT, PACK)                                                                \
    AT(double, A, nv *nr, "nf x n: transposed rows, coordinates that are not driven")              \
    PACK(double, B, nv *nr, "copy of A for factorisations")                                        \
    PACK(double, x, most, "right-hand side and solution")                                          \
    PACK(double, tau, nr, "reflectors of the QR factorisation")                                    \
    PACK(double, lambda, nr, "multipliers before they are replaced")                               \
    PACK(double, rate, nr, "rates or accelerations of the rows")                                   \
    PACK(double, weight, nr, "weights of the multipliers in their norm")                           \
    PACK(double, size, nr, "n: length of each row in typical coordinates")                         \
    PACK(double, U, nv *nr, "singular value decomposition of the weighted rows")                   \
    PACK(double, S, most, "likewise")                                                              \
    PACK(double, Vt, nv *nv, "likewise")                                                           \
    AT(int, index, nv, "index among the nf coordinates, -1 for driven ones")                       \
    PACK(int, at, nv, "row of the drive of a driven coordinate")                                   \
    PACK(int, row, nr, "n: active rows; closures first, contacts behind them")                     \
    PACK(int, pivot, nr, "pivots, or rows of the fit")                                             \
    AT(bool, nonholonomic, nr, "row of a contact")                                                 \
    PACK(bool, keep, nr, "n: columns of A in the independent subset")

struct snw_redundancy {
    const snw_model *m;
    snw_work *w;
    snw_state *other; // copy of the caller's state, at other velocities or a moment later
    snw_inputs *later;
    snw_arena scratch;
    REDUNDANCY_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    int nf, n, nclosure; // coordinates not driven, active rows, and how many rows are closures
    int rank;
    bool redundant;
};

static void redundancy_place(void *object, snw_fields *f) {
    snw_redundancy *o = object;
    const size_t nv = (size_t)o->m->nv, nr = (size_t)o->m->nconstraint, most = nv > nr ? nv : nr;
    REDUNDANCY_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

snw_status snw_redundancy_create(const snw_model *m, snw_redundancy **out) {
    *out = NULL;
    snw_redundancy *rd = snw_alloc(sizeof *rd);
    if (!rd) return SNW_E_MEMORY;
    rd->m = m;
    const size_t qr = snw_qr_scratch(m->nv, m->nconstraint),
                 ls = snw_minimum_norm_scratch(m->nv, m->nconstraint);
    const size_t svd = snw_svd_scratch(m->nconstraint, m->nv), two = qr > ls ? qr : ls;
    rd->scratch.size = svd > two ? svd : two;
    rd->scratch.base = snw_alloc(rd->scratch.size);
    rd->block = snw_fields_create(redundancy_place, rd);
    if (!rd->scratch.base || !rd->block || snw_work_create(m, &rd->w) != SNW_OK ||
        snw_state_create(m, &rd->other) != SNW_OK || snw_inputs_create(m, &rd->later) != SNW_OK) {
        snw_redundancy_destroy(rd);
        return SNW_E_MEMORY;
    }
    for (int i = 0; i < m->nloop; i++) {
        for (int r = 0; r < m->loop[i].nrow; r++) {
            rd->nonholonomic[m->loop[i].row + r] = m->loop[i].nonholonomic != SNW_NONHOLONOMIC_NONE;
        }
    }
    snw_redundancy_weigh(rd, 1);
    *out = rd;
    return SNW_OK;
}

void snw_redundancy_use(snw_redundancy *rd, const snw_model *m) { rd->m = m; }

void snw_redundancy_destroy(snw_redundancy *rd) {
    if (!rd) return;
    snw_work_destroy(rd->w);
    snw_state_destroy(rd->other);
    snw_inputs_destroy(rd->later);
    snw_free(rd->scratch.base);
    snw_free(rd->block);
    snw_free(rd);
}

void snw_redundancy_weigh(snw_redundancy *rd, double torque) {
    const snw_model *m = rd->m;
    for (int k = 0; k < m->nconstraint; k++) rd->weight[k] = 1;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int r = 0; r < loop->nrow; r++) {
            const double moment = snw_loop_row_is_moment(loop, r) ? torque : 1;
            rd->weight[loop->row + r] = moment * sqrt(loop->weight);
        }
    }
}

// ---- active rows --------------------------------------------------------------------------------

static bool is_drive(const snw_model *m, int row) {
    for (int i = 0; i < m->ndrive; i++) {
        if (m->drive[i].row == row) return true;
    }
    return false;
}

static void redundancy_list_coordinates(snw_redundancy *rd, const snw_state *s) {
    const snw_model *m = rd->m;
    rd->nf = 0;
    for (int i = 0; i < m->nv; i++) rd->index[i] = 0;
    for (int i = 0; i < m->ndrive; i++) {
        if (snw_drive_holds(m, s, i)) rd->index[m->drive[i].dof] = -1;
    }
    for (int i = 0; i < m->nv; i++) {
        if (rd->index[i] == 0) rd->index[i] = rd->nf++;
    }
}

// rd->A <- active rows at s->q in typical coordinates, columns of driven coordinates removed after
// each row was scaled to unit length
static void assemble_rows(snw_redundancy *rd, const snw_inputs *in, const snw_state *s) {
    const snw_model *m = rd->m;
    snw_kinematics(m, in, s, true, rd->w);
    snw_jacobian_pass(m, rd->w);
    snw_constraints_jacobian(m, rd->w);
    redundancy_list_coordinates(rd, s);
    rd->n = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < m->nconstraint; k++) {
            if (rd->nonholonomic[k] == (pass == 1) && !is_drive(m, k) &&
                !snw_constraint_at(m, rd->w, k).inactive)
                rd->row[rd->n++] = k;
        }
        if (pass == 0) rd->nclosure = rd->n;
    }
    const size_t nf = (size_t)rd->nf;
    memset(rd->A, 0, nf * (size_t)rd->n * sizeof *rd->A);
    for (int c = 0; c < rd->n; c++) {
        const snw_constraint row = snw_constraint_at(m, rd->w, rd->row[c]);
        double *to = rd->A + nf * (size_t)c, square = 0;
        for (int j = 0; j < row.n; j++) {
            const double x = row.C[j] * m->typical[row.dof[j]];
            const int at = rd->index[row.dof[j]];
            square += x * x;
            if (at >= 0) to[at] = x;
        }
        rd->size[c] = square > 0 ? sqrt(square) : 1;
        for (size_t i = 0; i < nf; i++) to[i] /= rd->size[c];
    }
}

// ---- rank ---------------------------------------------------------------------------------------

// Relative singular value below which rows count as dependent.
static const double DEPENDENT = 1e-8;

// rd->U, rd->S, rd->Vt, rd->rank <- singular value decomposition of the rows divided by the weights
// of their multipliers
static void decompose(snw_redundancy *rd) {
    const size_t nf = (size_t)rd->nf, n = (size_t)rd->n, least = nf < n ? nf : n;
    rd->rank = 0;
    if (least == 0) return;
    for (size_t c = 0; c < n; c++) {
        const double f = rd->size[c] / rd->weight[rd->row[c]];
        for (size_t i = 0; i < nf; i++) rd->B[i * n + c] = f * rd->A[c * nf + i];
    }
    if (snw_svd(rd->n, rd->nf, rd->B, &rd->scratch, rd->U, rd->S, rd->Vt) != SNW_OK) return;
    while ((size_t)rd->rank < least && rd->S[rd->rank] > DEPENDENT * rd->S[0]) rd->rank++;
}

bool snw_redundancy_combine(snw_redundancy *rd, const snw_inputs *in, const snw_state *s, double *P,
                            int *n) {
    assemble_rows(rd, in, s);
    decompose(rd);
    const size_t nr = (size_t)rd->m->nconstraint, all = (size_t)rd->n;
    rd->redundant = rd->rank < rd->n;
    *n = 0;
    if (!rd->redundant) return false;
    memset(P, 0, nr * nr * sizeof *P);
    for (size_t k = 0; k < nr; k++) rd->rate[k] = 1;
    for (size_t c = 0; c < all; c++) rd->rate[rd->row[c]] = 0;
    for (size_t k = 0; k < nr; k++) {
        if (rd->rate[k] != 0) P[(size_t)(*n)++ * nr + k] = 1;
    }
    for (size_t j = 0; j < (size_t)rd->rank; j++, (*n)++) {
        double *to = P + (size_t)*n * nr;
        for (size_t c = 0; c < all; c++) {
            to[rd->row[c]] = rd->U[j * all + c] / rd->weight[rd->row[c]];
        }
    }
    return true;
}

void snw_redundancy_reduce(int nr, int n, const double *P, double *S, double *side,
                           double *scratch) {
    const size_t N = (size_t)nr, m = (size_t)n;
    for (size_t j = 0; j < m; j++) { // S P
        double *to = scratch + j * N;
        for (size_t i = 0; i < N; i++) to[i] = 0;
        for (size_t k = 0; k < N; k++) {
            const double x = P[j * N + k];
            for (size_t i = 0; x != 0 && i < N; i++) to[i] += x * S[k * N + i];
        }
    }
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < m; i++) {
            S[j * m + i] = 0;
            for (size_t k = 0; k < N; k++) S[j * m + i] += P[i * N + k] * scratch[j * N + k];
        }
    }
    for (size_t j = 0; j < m; j++) {
        scratch[j] = 0;
        for (size_t k = 0; k < N; k++) scratch[j] += P[j * N + k] * side[k];
    }
    memcpy(side, scratch, m * sizeof *side);
}

void snw_redundancy_expand(int nr, int n, const double *P, double *side, double *scratch) {
    const size_t N = (size_t)nr;
    for (size_t k = 0; k < N; k++) scratch[k] = 0;
    for (size_t j = 0; j < (size_t)n; j++) {
        for (size_t k = 0; k < N; k++) scratch[k] += P[j * N + k] * side[j];
    }
    memcpy(side, scratch, N * sizeof *side);
}

// ---- singular configurations --------------------------------------------------------------------

bool snw_redundancy_passes(snw_redundancy *rd, const snw_inputs *in, const snw_state *s) {
    static const double MOMENT = 1e-3; // s
    const snw_model *m = rd->m;
    const int rank = rd->rank;
    snw_state_copy(m, s, rd->other);
    rd->later->manual = in->manual;
    snw_inputs_at(m, s->t + MOMENT, rd->later);
    for (int i = 0; i < m->ndrive; i++) {
        if (!snw_drive_holds(m, s, i)) continue;
        rd->other->q[m->drive[i].q] = snw_drive_target(m, rd->later, s, i);
    }
    assemble_rows(rd, rd->later, rd->other);
    decompose(rd);
    return rd->rank > rank;
}

bool snw_smaller_root(double c0, double c1, double c2, double *z) {
    const double size = fabs(c0) + fabs(c1) + fabs(c2);
    if (!(fabs(c1) + fabs(c2) > 1e-7 * size)) return false;
    const double disc = c1 * c1 - 4 * c0 * c2;
    if (disc < 0) return false;
    const double q = -0.5 * (c1 + copysign(sqrt(disc), c1));
    *z = q == 0 ? 0 : c0 / q;
    return true;
}

// b (n) <- acceleration terms of the rows that no coordinate acceleration can balance, at the
// velocities s->v + z V, with V the null-space direction
static void unbalanced_accelerations(snw_redundancy *rd, const snw_inputs *in, const snw_state *s,
                                     double z, double *b) {
    const snw_model *m = rd->m;
    const size_t nf = (size_t)rd->nf, n = (size_t)rd->n;
    const double *V = rd->Vt + rd->rank;
    snw_state_copy(m, s, rd->other);
    for (int i = 0; i < m->nv; i++) {
        rd->other->a[i] = 0;
        if (rd->index[i] >= 0) rd->other->v[i] += z * m->typical[i] * V[(size_t)rd->index[i] * nf];
    }
    snw_constraints_impose(m, in, rd->other);
    snw_kinematics(m, in, rd->other, false, rd->w);
    snw_constraints_rates(m, in, rd->other, rd->w, NULL, rd->rate);
    for (size_t c = 0; c < n; c++) b[c] = rd->rate[rd->row[c]] / rd->weight[rd->row[c]];
    for (size_t j = 0; j < (size_t)rd->rank; j++) {
        double sum = 0;
        for (size_t c = 0; c < n; c++) sum += rd->U[j * n + c] * b[c];
        for (size_t c = 0; c < n; c++) b[c] -= sum * rd->U[j * n + c];
    }
}

// A left null vector u of C has u'C = 0 along the motion, so u'(dC/dt v + de/dt) = 0 for any
// acceleration: a quadratic in z, found from its values at z = 0, 1, -1.
bool snw_redundancy_limit(snw_redundancy *rd, const snw_inputs *in, snw_state *s) {
    const snw_model *m = rd->m;
    assemble_rows(rd, in, s);
    decompose(rd);
    const size_t n = (size_t)rd->n;
    if (rd->rank + 1 != rd->nf || n < 1 || 4 * n > (size_t)m->nv * (size_t)m->nconstraint)
        return false;
    double *b0 = rd->B, *b1 = b0 + n, *b2 = b1 + n, z;
    unbalanced_accelerations(rd, in, s, 0, b0);
    unbalanced_accelerations(rd, in, s, 1, b1);
    unbalanced_accelerations(rd, in, s, -1, b2);
    for (size_t c = 0; c < n; c++) {
        const double up = b1[c] - b0[c], down = b2[c] - b0[c];
        b1[c] = 0.5 * (up - down), b2[c] = 0.5 * (up + down);
    }
    const double *most = snw_vector_dot((int)n, b1, b1) > snw_vector_dot((int)n, b2, b2) ? b1 : b2;
    if (!snw_smaller_root(snw_vector_dot((int)n, most, b0), snw_vector_dot((int)n, most, b1),
                          snw_vector_dot((int)n, most, b2), &z))
        return false;
    double left = 0, size = 0;
    for (size_t c = 0; c < n; c++) {
        left = fmax(left, fabs(b0[c] + z * (b1[c] + z * b2[c])));
        size = fmax(size, fabs(b0[c]) + fabs(b1[c]) + fabs(b2[c]));
    }
    if (!(left <= 1e-6 * size)) return false;
    for (int i = 0; i < m->nv; i++) {
        if (rd->index[i] < 0) continue;
        s->v[i] +=
            z * m->typical[i] * rd->Vt[(size_t)rd->index[i] * (size_t)rd->nf + (size_t)rd->rank];
    }
    return true;
}

// ---- dropped rows and their multipliers ---------------------------------------------------------

// rd->keep <- an independent subset of the columns of rd->A: closures first, then contacts by
// pivoting
static void select_independent(snw_redundancy *rd) {
    const size_t nf = (size_t)rd->nf;
    int lead = 0;
    rd->rank = 0;
    for (int c = 0; c < rd->n; c++) rd->keep[c] = false;
    if (nf == 0 || rd->n == 0) return;
    if (rd->nclosure > 0) {
        memcpy(rd->B, rd->A, nf * (size_t)rd->nclosure * sizeof *rd->B);
        lead = snw_qr_factor(rd->nf, rd->nclosure, rd->B, 0, DEPENDENT, &rd->scratch, rd->tau,
                             rd->pivot);
        for (int c = 0; c < lead; c++) rd->keep[rd->pivot[c]] = true;
    }
    size_t n = 0;
    for (int c = 0; c < rd->n; c++) {
        if (!rd->keep[c] && c < rd->nclosure) continue;
        memcpy(rd->B + nf * n++, rd->A + nf * (size_t)c, nf * sizeof *rd->B);
    }
    rd->rank =
        snw_qr_factor(rd->nf, (int)n, rd->B, lead, DEPENDENT, &rd->scratch, rd->tau, rd->pivot);
    for (int c = lead; c < rd->rank; c++) rd->keep[rd->nclosure + rd->pivot[c] - lead] = true;
}

// s->lambda <- multipliers of minimum norm, of all rows or of those kept, with the generalised
// force of the present ones on the coordinates that are not driven; the efforts of drives absorb
// the difference on theirs
static snw_status fit_multipliers(snw_redundancy *rd, bool all, snw_state *s) {
    const snw_model *m = rd->m;
    const size_t nf = (size_t)rd->nf;
    int n = 0, rank = 0;
    memcpy(rd->lambda, s->lambda, (size_t)m->nconstraint * sizeof *rd->lambda);
    for (size_t i = 0; i < nf; i++) rd->x[i] = 0;
    for (int c = 0; c < rd->n; c++) {
        const double *from = rd->A + nf * (size_t)c, lambda = rd->lambda[rd->row[c]] * rd->size[c];
        for (size_t i = 0; i < nf; i++) rd->x[i] += from[i] * lambda;
    }
    for (int c = 0; c < rd->n; c++) {
        if (!all && !rd->keep[c] && c >= rd->nclosure) continue;
        const double f = rd->size[c] / rd->weight[rd->row[c]], *from = rd->A + nf * (size_t)c;
        for (size_t i = 0; i < nf; i++) rd->B[nf * (size_t)n + i] = f * from[i];
        rd->pivot[n++] = rd->row[c];
    }
    SNW_TRY(snw_minimum_norm(rd->nf, n, rd->B, DEPENDENT, &rd->scratch, rd->x, &rank));
    for (int c = 0; c < rd->n; c++) s->lambda[rd->row[c]] = 0;
    for (int c = 0; c < n; c++) s->lambda[rd->pivot[c]] = rd->x[c] / rd->weight[rd->pivot[c]];
    for (int i = 0; i < m->ndrive; i++) {
        if (rd->index[m->drive[i].dof] < 0) rd->at[m->drive[i].dof] = m->drive[i].row;
    }
    for (int c = 0; c < rd->n; c++) {
        const snw_constraint row = snw_constraint_at(m, rd->w, rd->row[c]);
        const double change = rd->lambda[rd->row[c]] - s->lambda[rd->row[c]];
        for (int j = 0; j < row.n; j++) {
            if (rd->index[row.dof[j]] < 0) s->lambda[rd->at[row.dof[j]]] += row.C[j] * change;
        }
    }
    return SNW_OK;
}

int snw_redundancy_drop(snw_redundancy *rd, const snw_inputs *in, snw_state *s) {
    const snw_model *m = rd->m;
    for (int i = 0; i < m->nnonholonomic; i++) s->dropped[i] = 0;
    assemble_rows(rd, in, s);
    select_independent(rd);
    int ndropped = 0;
    for (int c = rd->nclosure; c < rd->n; c++) ndropped += !rd->keep[c];
    rd->redundant = ndropped > 0;
    if (ndropped == 0 || fit_multipliers(rd, false, s) != SNW_OK)
        return 0; // not finite: the caller's step fails and reports it
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int c = rd->nclosure; c < rd->n; c++) {
            const int r = rd->row[c] - loop->row;
            if (r < 0 || r >= loop->nrow || rd->keep[c]) continue;
            s->dropped[loop->nonholonomic_index] += 1 << r;
        }
    }
    return ndropped;
}

bool snw_redundancy_found(const snw_redundancy *rd) { return rd->redundant; }

static bool has_dropped(const snw_model *m, const snw_state *s) {
    for (int i = 0; i < m->nnonholonomic; i++) {
        if (s->dropped[i] != 0) return true;
    }
    return false;
}

snw_status snw_redundancy_minimum_norm(snw_redundancy *rd, const snw_inputs *in, snw_state *s) {
    assemble_rows(rd, in, s);
    return fit_multipliers(rd, true, s);
}

snw_status snw_redundancy_recover(snw_redundancy *rd, const snw_inputs *in, snw_state *s) {
    const snw_model *m = rd->m;
    if (!has_dropped(m, s)) return SNW_OK;
    for (int i = 0; i < m->nnonholonomic; i++) s->dropped[i] = 0;
    return snw_redundancy_minimum_norm(rd, in, s);
}

// Violation relative to the largest velocity below which a row counts as satisfied.
static const double SLIP = 1e-6;

int snw_redundancy_slips(snw_redundancy *rd, const snw_inputs *in, const snw_state *s,
                         double *left) {
    const snw_model *m = rd->m;
    int slips = -1;
    double fast = 0, worst;
    *left = 0;
    snw_state_copy(m, s, rd->other);
    for (int i = 0; i < m->nnonholonomic; i++) rd->other->dropped[i] = 0;
    snw_kinematics(m, in, rd->other, false, rd->w);
    snw_constraints_rates(m, in, rd->other, rd->w, rd->rate, NULL);
    for (int i = 0; i < m->nv; i++) fast = fmax(fast, fabs(s->v[i]) / m->typical[i]);
    fast = fmax(fast, snw_field_rate(m, in));
    worst = SLIP * fast + 1e-12;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int r = 0; r < loop->nrow && loop->nonholonomic; r++) {
            const double e = fabs(rd->rate[loop->row + r]) / snw_loop_kept_size(m, loop, r);
            if (!(e > worst)) continue;
            worst = e, slips = i, *left = rd->rate[loop->row + r];
        }
    }
    return slips;
}
