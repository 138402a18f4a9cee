// SPDX-License-Identifier: MIT
//
// Consistency of contact rows with each other and with the driven coordinates: least-squares
// velocities are fitted to the rates of all rows, and the largest remaining rate is the slip. For
// snw_projection_compile.

#include "constraint/projection.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/fields.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// nv coordinates, nr rows, most: the larger of both
#define SLIP_FIELDS(AT, PACK)                                                                      \
    AT(double, A, nv *nr, "rates of the rows per velocity, scaled")                                \
    PACK(double, b, most, "right-hand side, then velocities")                                      \
    PACK(double, rate, nr, "rates of the rows")

typedef struct slip_check {
    const snw_model *m;
    snw_work *w;
    snw_state *at_rest;
    SLIP_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    snw_arena scratch;
} slip_check;

static void slip_check_place(void *object, snw_fields *f) {
    slip_check *o = object;
    const size_t nv = (size_t)o->m->nv, nr = (size_t)o->m->nconstraint, most = nr > nv ? nr : nv;
    SLIP_FIELDS(SNW_FIELD_PLACE, SNW_FIELD_PACK)
}

static snw_status slip_check_create(const snw_model *m, slip_check *r) {
    *r = (slip_check){.m = m};
    r->scratch.size = snw_minimum_norm_scratch(m->nconstraint, m->nv);
    r->scratch.base = snw_alloc(r->scratch.size);
    r->block = snw_fields_create(slip_check_place, r);
    if (!r->scratch.base || !r->block || snw_work_create(m, &r->w) != SNW_OK ||
        snw_state_create(m, &r->at_rest) != SNW_OK)
        return SNW_E_MEMORY;
    return SNW_OK;
}

static void slip_check_destroy(slip_check *r) {
    snw_work_destroy(r->w);
    snw_state_destroy(r->at_rest);
    snw_free(r->block);
    snw_free(r->scratch.base);
}

// r->rate <- residual rates of the rows at the least-squares velocities, relative to their sizes
static snw_status fit_velocities(slip_check *r, const snw_inputs *in, const snw_state *s) {
    const snw_model *m = r->m;
    const size_t nr = (size_t)m->nconstraint, nv = (size_t)m->nv;
    snw_state_copy(m, s, r->at_rest);
    for (int i = 0; i < m->nv; i++) r->at_rest->v[i] = r->at_rest->a[i] = 0;
    snw_residual(m, in, r->at_rest, false, r->w);
    snw_constraints_rates(m, in, r->at_rest, r->w, r->rate, NULL);
    snw_tangent_pass(m, NULL, r->w);
    snw_constraints_jacobian(m, r->w);
    memset(r->A, 0, nr * nv * sizeof *r->A);
    for (size_t k = 0; k < nr; k++) {
        const snw_constraint row = snw_constraint_at(m, r->w, (int)k);
        for (int j = 0; j < row.n; j++) {
            r->A[(size_t)row.dof[j] * nr + k] = row.C[j] * m->typical[row.dof[j]] / row.size;
        }
        r->rate[k] /= row.size;
        r->b[k] = -r->rate[k];
    }
    int rank;
    SNW_TRY(snw_minimum_norm(m->nconstraint, m->nv, r->A, 1e-8, &r->scratch, r->b, &rank));
    for (size_t k = 0; k < nr; k++) {
        const snw_constraint row = snw_constraint_at(m, r->w, (int)k);
        for (int j = 0; j < row.n; j++) {
            r->rate[k] += row.C[j] * m->typical[row.dof[j]] / row.size * r->b[row.dof[j]];
        }
    }
    return SNW_OK;
}

snw_status snw_projection_find_slip(const snw_model *m, const snw_inputs *in, const snw_state *s,
                                    int *loop, double *left) {
    slip_check r;
    snw_status status = slip_check_create(m, &r);
    double fast = 0;
    *loop = -1;
    *left = 0;
    if (status == SNW_OK) status = fit_velocities(&r, in, s);
    for (int i = 0; status == SNW_OK && i < m->ndrive; i++) {
        fast = fmax(fast, fabs(in->drive[i].d) / m->typical[m->drive[i].dof]);
    }
    if (status == SNW_OK) fast = fmax(fast, snw_field_rate(m, in));
    for (int i = 0; status == SNW_OK && i < m->nloop; i++) {
        for (int k = 0; k < m->loop[i].nrow && m->loop[i].nonholonomic; k++) {
            const double e = fabs(r.rate[m->loop[i].row + k]);
            if (e <= 1e-6 * fast + 1e-12 || e * m->length <= *left) continue;
            *loop = i, *left = e * m->length;
        }
    }
    slip_check_destroy(&r);
    return status;
}
