// SPDX-License-Identifier: MIT
//
// Constraint rows of all kinds in one numbering, for the solvers: loops (closure.c), given
// lengths and volumes (tendon.c), driven coordinates. Assembles violations, rates, C x, C' x and
// the bordered Newton matrix.

#include "dynamics/constraint.h"

#include "dynamics/tendon.h"

#include <math.h>
#include <string.h>

static bool drive_is_active(const snw_drive *d, const snw_work *w) {
    return d->row >= 0 && !d->passive && snw_is_active(w, d->condition);
}

double snw_drive_target(const snw_model *m, const snw_inputs *in, const snw_state *s, int i) {
    return in->drive[i].v + (m->drive[i].captured >= 0 ? s->z[m->drive[i].captured] : 0);
}

void snw_constraints_add_forces(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                snw_work *w) {
    memcpy(w->lambda, s->lambda, (size_t)m->nconstraint * sizeof *s->lambda);
    snw_closures_add_forces(m, s, w);
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0) continue;
        w->violation[d->row] = 0;
        if (d->passive) w->r[d->dof] -= s->lambda[d->row];
        if (!drive_is_active(d, w)) continue;
        w->violation[d->row] = s->q[d->q] - snw_drive_target(m, in, s, i);
        w->r[d->dof] -= s->lambda[d->row];
    }
}

void snw_constraints_rates(const snw_model *m, const snw_inputs *in, const snw_state *s,
                           const snw_work *w, double *rate, double *acceleration) {
    snw_closures_rates(m, s, w, rate, acceleration);
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        const bool active = drive_is_active(d, w);
        if (d->row < 0) continue;
        if (rate) rate[d->row] = active ? s->v[d->dof] - in->drive[i].d : 0;
        if (acceleration) acceleration[d->row] = active ? s->a[d->dof] - in->drive[i].dd : 0;
    }
    snw_tendons_rates(m, in, s, w, rate, acceleration);
}

void snw_constraints_impose(const snw_model *m, const snw_inputs *in, snw_state *s) {
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row < 0 || !snw_drive_holds(m, s, i)) continue;
        s->v[d->dof] = in->drive[i].d;
        s->a[d->dof] = in->drive[i].dd;
    }
}

void snw_constraints_capture(const snw_model *m, const snw_inputs *in, const snw_state *s,
                             const snw_work *w, const bool *fresh, double *z) {
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        if (loop->condition < 0 || !fresh[loop->condition]) continue;
        const snw_seg *pose = &m->seg[loop->a];
        const int captured = m->pose[pose->item].captured;
        if (captured == 0) continue;
        const snw_se3 h = snw_se3_mul(snw_se3_inv(w->g[pose->parent]), w->g[loop->b]);
        snw_se3_to_signals(h, z + captured - 1);
    }
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->condition < 0 || !fresh[d->condition] || d->captured < 0) continue;
        z[d->captured] = s->q[d->q] - in->drive[i].v;
    }
}

// Loop of a constraint row, -1: none. Rows of loops stand in front, in the order of the loops.
static int loop_of_row(const snw_model *m, int number) {
    int low = -1, high = m->nloop; // loop `low` begins at the row or before it, `high` behind it
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        *(m->loop[middle].row <= number ? &low : &high) = middle;
    }
    return low >= 0 && number < m->loop[low].row + m->loop[low].nrow ? low : -1;
}

snw_constraint snw_constraint_at(const snw_model *m, const snw_work *w, int number) {
    static const double one = 1, zero = 0;
    const int found = loop_of_row(m, number);
    if (found >= 0) {
        const snw_loop *loop = &m->loop[found];
        const int r = number - loop->row;
        const bool rated =
            loop->nonholonomic &&
            snw_any(w->velocity_time > 0); // violation is a rate, not an increment of a step
        return (snw_constraint){
            .inactive = !snw_closure_row_is_active(loop, w, r),
            .n = loop->ndof,
            .dof = loop->dof,
            .C = w->C + loop->store + (size_t)r * (size_t)loop->ndof,
            .R = (loop->nonholonomic ? w->R : w->C) + loop->store + (size_t)r * (size_t)loop->ndof,
            .size =
                (loop->ncoupled > 0 && !loop->keeps_length ? m->typical[loop->dof[0]] : m->length) *
                (rated ? fmin(w->velocity_time, 1) : 1),
            .slip_dof = snw_any(loop->friction > 0) ? m->rod[loop->through - 1].feed : -1,
            .slip = snw_any(loop->friction > 0) ? w->slip_column[number] : 0};
    }
    for (int i = 0; i < m->ntendon; i++) {
        const snw_tendon *x = &m->tendon[i];
        if (x->row != number) continue;
        const double *C = x->jacobian ? x->jacobian
                          : x->area   ? w->tendon_row + x->store
                                      : w->tendon_jacobian + x->store;
        return (snw_constraint){
            .n = x->ndof, .dof = x->dof, .C = C, .R = C, .size = m->length, .slip_dof = -1};
    }
    int i = 0;
    while (m->drive[i].row != number) i++;
    const int *dof = &m->drive[i].dof;
    const bool active = drive_is_active(&m->drive[i], w);
    const double *C = active ? &one : &zero;
    return (snw_constraint){.inactive = !active,
                            .n = 1,
                            .dof = dof,
                            .C = C,
                            .R = C,
                            .size = m->typical[*dof],
                            .slip_dof = -1};
}

void snw_constraints_apply_transpose(const snw_model *m, const snw_work *w, const double *x,
                                     double *out) {
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, w, k);
        for (int j = 0; j < c.n; j++) out[c.dof[j]] += c.C[j] * x[k];
    }
}

void snw_constraints_apply(const snw_model *m, const snw_work *w, const double *x, double *out) {
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, w, k);
        for (int j = 0; j < c.n; j++) out[k] += c.C[j] * x[c.dof[j]];
    }
}

void snw_constraints_border(const snw_model *m, const snw_work *w, double s, double *J) {
    const size_t nv = (size_t)m->nv, n = nv + (size_t)m->nconstraint;
    if (n == nv) return;
    for (size_t j = nv; j-- > 0;) memmove(J + j * n, J + j * nv, nv * sizeof *J);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j < nv ? nv : 0; i < n; i++) J[j * n + i] = 0;
    }
    snw_constraints_place(m, w, s, snw_matrix_dense(n, J));
}

void snw_constraints_place(const snw_model *m, const snw_work *w, double s, snw_matrix J) {
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, w, k);
        const int at = m->nv + k;
        snw_column_entries forces = snw_matrix_column(J, at);
        if (c.inactive)
            *snw_matrix_at(J, at, at) = -s; // keeps its multiplier zero; sign as for an active row
        for (int j = 0; j < c.n; j++) {
            *snw_column_at(&forces, c.dof[j]) = -s * c.C[j];
            *snw_matrix_at(J, at, c.dof[j]) = -s * c.R[j];
        }
        if (c.slip_dof >= 0) *snw_matrix_at(J, c.slip_dof, at) += s * c.slip;
    }
}
