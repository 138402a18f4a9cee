// SPDX-License-Identifier: MIT
//
// Transposed equations of rk4 for robots with loops, theory.md (7.5.55). The stages are maps to
// accelerations, r = 0 and e" = 0, at states that are not quite closed. At the end of a step the
// loops are closed, from q~ to q = q~ exp(d), by the shortest way in typical coordinates,
//
//     d = -W C(q~)'l,   e(q) = 0,   W = diag(typical^2)
//
// (the iterations of constraint/projection.c, whose later directions change this by the third power
// of d); there the velocities follow from those of the integration by an impulse, like at a
// restart.
#include "study/adjoint_explicit_private.h"

#include "base/fail.h"
#include "dynamics/chart.h"
#include "math/vector.h"
#include "solve/dense.h"
#include "study/model_geometry.h"

#include <math.h>
#include <string.h>

static const double far_open = 3e-6; // d, typical: its square enters the derivatives

bool adjoint_loops_apply(const snw_model *m) {
    int rows = 0;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        if (loop->nonholonomic || loop->through || loop->ncoupled > 0 || loop->sliding_station)
            return false;
        rows += loop->nrow;
    }
    return rows == m->nconstraint && m->nfeed + m->ntube + m->ngrid == 0;
}

bool adjoint_loops_are_near(const snw_model *m, const double *open, const double *closed,
                            double *d) {
    double most = 0;
    snw_difference(m, open, closed, d);
    for (int i = 0; i < m->nv; i++) most = fmax(most, fabs(d[i]) / m->typical[i]);
    return most <= far_open;
}

snw_status adjoint_loops_back(snw_adjoint *a, const snw_map *at, kinematic_work *x,
                              snw_error *err) {
    const snw_model *m = a->m;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint;
    const bool projects = at->kind == SNW_MAP_RESTART;
    double *by = x->rows, *jump = x->jump;
    adjoint_clear_covectors(a);
    a->half = 0;
    adjoint_tangents(a, at->t_laws, &at->s, false);
    adjoint_fix_rates(a, &at->s);
    adjoint_place_matrix(a, a->M);
    adjoint_border(a, a->C, 1);
    SNW_TRY(adjoint_factor(a, true, "the accelerations", at->s.t, err));
    if (projects) adjoint_find_impulse(a, at);
    for (int k = 0; k < a->nscalar; k++) {
        const snw_bars *b = &a->bars[k];
        const snw_covectors *v = &a->covectors[k];
        adjoint_memory_begin(a, at, k);
        adjoint_solve_transposed(a, b->acc, b->lambda, v->mu, v->nu);
        adjoint_memory_back(a, at, k);
        adjoint_add_transposed(m->nv, -1, a->K, v->mu, b->place);
        adjoint_add_transposed(m->nv, -1, a->D, v->mu, b->rate);
        for (int part = 0; part < (projects ? 2 : 1); part++) { // e", then e'
            const double *z = part ? v->z : NULL;
            if (part) adjoint_solve_transposed(a, b->rate, NULL, v->y, v->z);
            memset(by, 0, 3 * nv * sizeof *by);
            memset(x->side, 0, nr * sizeof *x->side);
            const snw_state_bars to = {.place = by, .rate = by + nv, .acc = by + 2 * nv};
            snw_model_geometry_rows_by_state(x->geometry, &at->s, a->w, part ? x->side : v->nu, z,
                                             &to);
            for (size_t i = 0; i < nv; i++) {
                b->place[i] -= by[i];
                if (!part) b->rate[i] -= by[nv + i];
            }
        }
        if (projects) {
            memset(b->rate, 0, nv * sizeof *b->rate);
            adjoint_add_transposed(m->nv, 1, a->M, v->y, b->rate);
        }
        memset(b->acc, 0, nv * sizeof *b->acc);
        memset(b->lambda, 0, nr * sizeof *b->lambda);
    }
    if (!projects) return SNW_OK;
    for (size_t i = 0; i < nv; i++) jump[i] = at->s.v[i] - at->before[i];
    adjoint_momentum_tangent(a, x->scratch, &at->s, jump, a->impulse);
    for (int k = 0; k < a->nscalar; k++)
        adjoint_add_transposed(m->nv, -1, a->K, a->covectors[k].y, a->bars[k].place);
    return SNW_OK;
}

// rows (nconstraint x nv) <- C at s
static void find_rows(snw_adjoint *a, double t, const snw_state *s, double *rows) {
    adjoint_tangents(a, t, s, true);
    memcpy(rows, a->C, (size_t)a->m->nv * (size_t)a->m->nconstraint * sizeof *rows);
}

// out (nconstraint) <- C W x
static void weigh_rows(const snw_model *m, const double *rows, const double *x, double *out) {
    for (int k = 0; k < m->nconstraint; k++) {
        const double *row = rows + (size_t)m->nv * (size_t)k;
        out[k] = 0;
        for (int i = 0; i < m->nv; i++) out[k] += row[i] * m->typical[i] * m->typical[i] * x[i];
    }
}

static void add_rows(const snw_model *m, double c, const double *rows, const double *x,
                     double *out) {
    for (int k = 0; k < m->nconstraint; k++) {
        const double *row = rows + (size_t)m->nv * (size_t)k;
        for (int i = 0; i < m->nv; i++) out[i] += c * x[k] * row[i];
    }
}

snw_status adjoint_loops_close_back(snw_adjoint *a, const snw_map *at, const snw_state *open,
                                    const double *d, kinematic_work *x, snw_error *err) {
    const snw_model *m = a->m;
    const int nv = m->nv, nr = m->nconstraint;
    const size_t n = (size_t)nv, all = n * (size_t)nr;
    double *before = x->closing, *after = before + all, *G = after + all, *line = G + nr * nr,
           *w = line + nv, *l = a->impulse;
    int *pivot = x->pivot;
    a->half = 0;
    adjoint_clear_covectors(a);
    find_rows(a, at->t_laws, &at->s, after);
    find_rows(a, at->t_laws, open, before);
    if (m->nlie_block > 0) snw_chart_jacobian(m, SNW_CHART_SE3, d, 0, 0, open, a->chart);
    // l: the shortest way, d = -W C'l
    for (int k = 0; k < nr; k++) {
        const double *row = before + n * (size_t)k;
        weigh_rows(m, before, row, G + (size_t)nr * (size_t)k);
        l[k] = -snw_vector_dot(nv, row, d);
    }
    if (snw_cholesky_factor(nr, G) == SNW_OK) {
        snw_cholesky_solve(nr, G, l);
    } else {
        return snw_fail(err, SNW_E_SINGULAR,
                        "there is no derivative at t = %g s: the rows of the loops are singular",
                        at->s.t);
    }
    // S' = C W B'C_1', B the chart of d
    for (int k = 0; k < nr; k++) {
        memcpy(line, after + n * (size_t)k, n * sizeof *line);
        if (m->nlie_block > 0) adjoint_chart_transposed(a, line);
        weigh_rows(m, before, line, G + (size_t)nr * (size_t)k);
    }
    if (snw_lu_factor(nr, G, pivot) != SNW_OK)
        return snw_fail(err, SNW_E_SINGULAR,
                        "there is no derivative at t = %g s: the rows of the loops are singular",
                        at->s.t);
    for (int k = 0; k < a->nscalar; k++) {
        const snw_bars *b = &a->bars[k];
        const snw_covectors *v = &a->covectors[k];
        // nu: S'nu = C W B'z;   w = z - C_1'nu,   y = W B'w
        memcpy(w, b->place, n * sizeof *w);
        if (m->nlie_block > 0) adjoint_chart_transposed(a, w);
        weigh_rows(m, before, w, v->nu);
        snw_lu_solve(nr, G, pivot, v->nu);
        add_rows(m, -1, after, v->nu, b->place);
        memcpy(v->y, b->place, n * sizeof *v->y);
        if (m->nlie_block > 0) adjoint_chart_transposed(a, v->y);
        for (int i = 0; i < nv; i++) v->y[i] *= -m->typical[i] * m->typical[i];
        for (int i = 0; i < nr; i++) v->nu[i] = -v->nu[i];
        adjoint_carry_back(m, d, b->place);
    }
    memset(line, 0, n * sizeof *line);
    adjoint_momentum_tangent(a, x->scratch, open, line, l);
    for (int k = 0; k < a->nscalar; k++)
        adjoint_add_transposed(nv, -1, a->K, a->covectors[k].y, a->bars[k].place);
    return SNW_OK;
}
