// SPDX-License-Identifier: MIT
//
// Transposed maps of a run, theory.md 7.5. A step of increment d solves
//
//     r(g_0 exp(d), a d + f, b d + g, lambda) = 0,   e = 0,
//
// a start or restart M (v - v_before) = C'p, e' = 0, then r = 0, e" = 0 for accelerations and
// multipliers; an equilibrium r = 0, e = 0 at rest. Tangents are taken at fixed body rates: with
// delta V = x' + ad_V x and delta V' = x" + ad_V x' + ad_V' x,
//
//     K_V = K - D ad_V + M (ad_V ad_V - ad_V'),   D_V = D - M ad_V
#include "study/adjoint_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/chart.h"
#include "dynamics/constraint.h"
#include "dynamics/hard_contact.h"
#include "dynamics/relaxation.h"
#include "integrate/conserving.h"
#include "integrate/hard_step.h"
#include "math/vector.h"
#include "model/probe_kind.h"
#include "study/probe.h"
#include "study/probe_row.h"

#include <math.h>
#include <string.h>

static const double sample_move = 1e-3, // of coordinates in differences, typical
    sample_rate = 1e-2,                 // of velocities, accelerations, multipliers
    singular = 1e13;                    // condition number of a singular matrix
const double snw_adjoint_weight[ADJOINT_SAMPLES] = {3.0 / 4, -3.0 / 20, 1.0 / 60};

// ---- memory -------------------------------------------------------------------------------------

// Forces of hard contacts.
static size_t touch_size(const snw_model *m) { return m->hard ? 3 * (size_t)snw_hard_most(m) : 0; }

static void adjoint_place(void *object, snw_fields *f) {
    snw_adjoint *o = object;
    const snw_model *m = o->m;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint + 1, n = nv + nr;
    const size_t ns = (size_t)o->nscalar, ny = (size_t)o->noutput + 1, width = (size_t)o->width;
    const size_t frames = (size_t)(m->nseg + m->nobs), nz = (size_t)m->nsignal + 1;
    const size_t nb = (size_t)m->nbranch_coordinate, nt = touch_size(m);
    ADJOINT_FIELDS(SNW_FIELD_PLACE)
}

// Numbers of the bars, and of the covectors, of one scalar.
static size_t bars_size(const snw_adjoint *a) {
    return 6 * (size_t)a->m->nv + (size_t)a->m->nconstraint + 1 + 2 * ((size_t)a->m->nsignal + 1) +
           1 + (size_t)a->m->nbranch_coordinate + touch_size(a->m) + SNW_TIMES;
}

static size_t covectors_size(const snw_adjoint *a) {
    return 6 * (size_t)a->m->nv + 2 * ((size_t)a->m->nconstraint + 1) + (size_t)a->m->nsignal + 1 +
           (size_t)a->m->nbranch_coordinate;
}

static void set_pointers(snw_adjoint *a) {
    const size_t nv = (size_t)a->m->nv, nr = (size_t)a->m->nconstraint + 1;
    const size_t nz = (size_t)a->m->nsignal + 1;
    for (int i = 0; i < a->nscalar; i++) {
        double *x = a->bar + (size_t)i * bars_size(a), *z = x + 6 * nv + nr;
        double *touch = z + 2 * nz + (size_t)a->m->nbranch_coordinate;
        double *last = touch + touch_size(a->m);
        a->bars[i] = (snw_bars){.place = x,
                                .rate = x + nv,
                                .acc = x + 2 * nv,
                                .pseudo = x + 3 * nv,
                                .increment = x + 4 * nv,
                                .old = x + 5 * nv,
                                .lambda = x + 6 * nv,
                                .z = z,
                                .integrand = z + nz,
                                .branch = z + 2 * nz,
                                .touch = touch,
                                .energy = last,
                                .time = last + 1};
        x = a->covector + (size_t)i * covectors_size(a);
        a->covectors[i] = (snw_covectors){.mu = x,
                                          .y = x + nv,
                                          .law_rate = x + 2 * nv,
                                          .law_acc = x + 3 * nv,
                                          .by_law_rate = x + 4 * nv,
                                          .by_law_acc = x + 5 * nv,
                                          .nu = x + 6 * nv,
                                          .z = x + 6 * nv + nr,
                                          .integrand = x + 6 * nv + 2 * nr,
                                          .branch = x + 6 * nv + 2 * nr + nz};
    }
}

static snw_status adjoint_prepare(snw_adjoint *a) {
    const snw_model *m = a->m;
    a->width = 1;
    for (int i = 0; i < a->noutput; i++) {
        const int n = snw_probe_columns(&m->desc->probe[a->output[i].probe]);
        if (n > a->width) a->width = n;
    }
    a->block = snw_fields_create(adjoint_place, a);
    a->bars = snw_alloc((size_t)a->nscalar * sizeof *a->bars);
    a->covectors = snw_alloc((size_t)a->nscalar * sizeof *a->covectors);
    if (!a->block || !a->bars || !a->covectors) return SNW_E_MEMORY;
    set_pointers(a);
    SNW_TRY(snw_bordered_matrix_create(m, SNW_ALGEBRA_DENSE_MATRIX, &a->T));
    SNW_TRY(snw_inputs_create(m, &a->in));
    SNW_TRY(snw_work_create(m, &a->w));
    SNW_TRY(snw_state_create(m, &a->s));
    SNW_TRY(snw_state_create(m, &a->still));
    a->w->velocity_time = 1;
    for (int i = 0; i < m->nsignal; i++) a->remembers |= adjoint_is_memory(m, i);
    SNW_TRY(snw_sampler_create(m, &a->clock));
    if (a->noutput > 0) SNW_TRY(snw_output_bars_create(m, &a->output_bars));
    for (int i = 0; i < a->noutput; i++) a->known[i] = snw_output_bars_know(m, &a->output[i]);
    return snw_observer_create(m, &a->observer);
}

snw_adjoint_dear snw_adjoint_differenced(const snw_adjoint *a) { return a->dear; }

snw_status snw_adjoint_create(const snw_model *m, int nscalar, int noutput,
                              const snw_adjoint_output *output, snw_adjoint **out) {
    snw_adjoint *a = snw_alloc(sizeof *a);
    *out = a;
    if (!a) return SNW_E_MEMORY;
    *a = (snw_adjoint){
        .m = m, .nscalar = nscalar, .noutput = noutput, .output = output, .in_time = NAN};
    return adjoint_prepare(a);
}

void snw_adjoint_destroy(snw_adjoint *a) {
    if (!a) return;
    adjoint_stages_destroy(a);
    adjoint_hard_destroy(a);
    adjoint_conserved_destroy(a);
    adjoint_explicit_destroy(a);
    adjoint_fold_destroy(a);
    snw_bordered_matrix_destroy(a->T);
    snw_inputs_destroy(a->in);
    snw_work_destroy(a->w);
    snw_state_destroy(a->s);
    snw_state_destroy(a->still);
    snw_observer_destroy(a->observer);
    snw_output_bars_destroy(a->output_bars);
    snw_sampler_destroy(&a->clock);
    snw_free(a->bars);
    snw_free(a->covectors);
    snw_free(a->block);
    snw_free(a);
}

void snw_adjoint_set_manual(snw_adjoint *a, const snw_manual_inputs *manual) {
    a->in->manual = a->clock.in->manual = manual;
    a->in_time = NAN;
}

snw_bars *snw_adjoint_bars(snw_adjoint *a, int scalar) { return &a->bars[scalar]; }

double snw_adjoint_magnitude(const snw_adjoint *a, const snw_map *map, int scalar) {
    const snw_model *m = a->m;
    if (map->kind == SNW_MAP_HARD) return adjoint_hard_magnitude(a, scalar);
    if (map->kind == SNW_MAP_EXPLICIT) return adjoint_explicit_magnitude(a, scalar);
    const int stages = map->kind == SNW_MAP_STAGES ? map->points.s : 1;
    const double *mu = map->kind == SNW_MAP_STAGES
                           ? a->stage_mu + (size_t)scalar * (size_t)stages *
                                               (size_t)(m->nv + adjoint_stage_extra(a))
                           : a->covectors[scalar].mu;
    double sum = 0;
    const bool equations = map->kind != SNW_MAP_FRAME && map->kind != SNW_MAP_ENERGY;
    for (int i = 0; i < stages * m->nv && equations; i++) sum += fabs(mu[i]) * m->scale[i % m->nv];
    return sum;
}

void snw_adjoint_clear(snw_adjoint *a) {
    a->split = a->split_past = false;
    a->came = a->at = NULL;
    memset(a->bar, 0, (size_t)a->nscalar * bars_size(a) * sizeof *a->bar);
}

void adjoint_clear_covectors(snw_adjoint *a) {
    memset(a->covector, 0, (size_t)a->nscalar * covectors_size(a) * sizeof *a->covector);
}

// ---- matrices -----------------------------------------------------------------------------------

static double *column_of(double *A, int n, int j) { return A + (size_t)n * (size_t)j; }

// y (n) += c A'x, A n x n.
void adjoint_add_transposed(int n, double c, const double *A, const double *x, double *y) {
    for (int j = 0; j < n; j++) y[j] += c * snw_vector_dot(n, A + (size_t)n * (size_t)j, x);
}

// out (6 x 6, by columns) <- ad of a block's part of v
void adjoint_block_ad(const snw_block *b, const double *v, double *out) {
    snw_twist V = {0};
    for (int i = 0; i < b->n; i++) V.e[i] = v[b->dof + i];
    for (int k = 0; k < b->n; k++) {
        snw_twist e = {0};
        e.e[k] = 1;
        const snw_twist r = snw_ad(V, e);
        for (int i = 0; i < 6; i++) out[6 * k + i] = r.e[i];
    }
}

// out (nv x b->n) += c A X on the columns of a block, X 6 x 6 by columns
static void add_block_product(int nv, const snw_block *b, double c, const double *A,
                              const double *X, double *out) {
    for (int k = 0; k < b->n; k++) {
        double *to = column_of(out, nv, b->dof + k);
        for (int j = 0; j < b->n; j++) {
            const double f = c * X[6 * k + j];
            if (f == 0) continue;
            const double *from = A + (size_t)nv * (size_t)(b->dof + j);
            for (int i = 0; i < nv; i++) to[i] += f * from[i];
        }
    }
}

// by_place <- row at fixed body rates: x' = -ad_v x
static void fix_rows(const snw_block *b, const double *V, const double *by_rate, double *by_place) {
    for (int k = 0; k < b->n; k++) {
        for (int j = 0; j < b->n; j++) by_place[b->dof + k] -= by_rate[b->dof + j] * V[6 * k + j];
    }
}

void adjoint_fix_row(const snw_model *m, const snw_state *s, double *row) {
    double *by_place = row, *by_rate = row + m->nv;
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        if (b->space == SNW_SPACE_RN) continue;
        double V[36];
        adjoint_block_ad(b, s->v, V);
        fix_rows(b, V, by_rate, by_place);
    }
}

// K, D, C_place <- at fixed body rates
void adjoint_fix_rates(snw_adjoint *a, const snw_state *s) {
    const snw_model *m = a->m;
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        if (b->space == SNW_SPACE_RN) continue;
        double V[36], A[36], VV[36] = {0};
        adjoint_block_ad(b, s->v, V);
        adjoint_block_ad(b, s->a, A);
        for (int k = 0; k < b->n; k++) {
            for (int j = 0; j < b->n; j++) {
                for (int i = 0; i < b->n; i++) VV[6 * k + i] += V[6 * j + i] * V[6 * k + j];
            }
        }
        add_block_product(m->nv, b, -1, a->D, V, a->K);
        add_block_product(m->nv, b, 1, a->M, VV, a->K);
        add_block_product(m->nv, b, -1, a->M, A, a->K);
        add_block_product(m->nv, b, -1, a->M, V, a->D);
        for (int r = 0; r < m->nconstraint; r++) {
            if (a->of_rates[r])
                fix_rows(b, V, column_of(a->C, m->nv, r), column_of(a->C_place, m->nv, r));
        }
    }
}

void adjoint_inputs_at(snw_adjoint *a, double t) {
    if (!(a->in_time == t && a->in->t == t)) snw_inputs_at(a->m, t, a->in);
    a->in->integral_step = 0;
    a->in_time = t;
}

// K, D, M, C <- tangents at s under the inputs of time t.
void adjoint_tangents(snw_adjoint *a, double t, const snw_state *s, bool is_static) {
    const snw_model *m = a->m;
    snw_work *w = a->w;
    adjoint_inputs_at(a, t);
    a->in->integral_step = a->half;
    snw_residual(m, a->in, s, is_static, w);
    snw_tangent_pass(m, NULL, w);
    const size_t live = (size_t)m->nlive * (size_t)m->nv;
    if (!is_static) {
        snw_tangent_assemble(m, a->in, 0, 0, 1, w, a->M);
        snw_tangent_assemble(m, a->in, 0, 1, 0, w, a->D);
        if (live > 0) memcpy(a->live_row + live, w->signal_jacobian, live * sizeof *a->live_row);
    }
    snw_tangent_assemble(m, a->in, 1, 0, 0, w, a->K);
    if (live > 0) memcpy(a->live_row, w->signal_jacobian, live * sizeof *a->live_row);
    if (a->remembers) adjoint_find_memory(a, s);
    memset(a->C, 0, (size_t)m->nv * (size_t)m->nconstraint * sizeof *a->C);
    memset(a->C_place, 0, (size_t)m->nv * (size_t)m->nconstraint * sizeof *a->C);
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, w, k);
        a->of_rates[k] = !is_static && c.R != c.C;
        for (int j = 0; j < c.n && !c.inactive; j++) {
            column_of(a->C, m->nv, k)[c.dof[j]] += c.C[j];
            column_of(a->C_place, m->nv, k)[c.dof[j]] += c.R[j];
        }
    }
}

// T <- [T -C'; sign C 0], T (nv x nv) in its first rows and columns; the rows below are `rows`.
void adjoint_border(snw_adjoint *a, const double *rows, double sign) {
    const snw_model *m = a->m;
    const int nv = m->nv, n = nv + m->nconstraint;
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, a->w, k);
        double *column = column_of(a->T->A.entry, n, nv + k);
        memset(column, 0, (size_t)n * sizeof *column);
        for (int i = 0; i < nv; i++) {
            column[i] = -column_of(a->C, nv, k)[i];
            column_of(a->T->A.entry, n, i)[nv + k] =
                sign * rows[(size_t)nv * (size_t)k + (size_t)i];
        }
        if (c.slip_dof >= 0) column[c.slip_dof] += c.slip;
        if (c.inactive) column[nv + k] = 1;
    }
}

// Factors of T; near: whether it may be close to singular, which an equilibrium and accelerations
// may be, but no step.
snw_status adjoint_factor(snw_adjoint *a, bool near, const char *what, double t, snw_error *err) {
    if (snw_bordered_matrix_factor(a->T) == SNW_OK &&
        !(near && !(snw_bordered_matrix_condition(a->T) < singular)))
        return SNW_OK;
    return snw_fail(err, SNW_E_SINGULAR,
                    "there is no derivative at t = %g s: the matrix of %s is singular", t, what);
}

// The first nv columns of T <- A (nv x nv).
void adjoint_place_matrix(snw_adjoint *a, const double *A) {
    const int nv = a->m->nv, n = nv + a->m->nconstraint;
    snw_bordered_matrix_clear(a->T);
    for (int j = 0; j < nv; j++)
        memcpy(column_of(a->T->A.entry, n, j), A + (size_t)nv * (size_t)j, (size_t)nv * sizeof *A);
}

void adjoint_solve_transposed(const snw_adjoint *a, const double *top, const double *bottom,
                              double *mu, double *nu) {
    const int nv = a->m->nv, nr = a->m->nconstraint;
    double *x = a->x;
    memcpy(x, top, (size_t)nv * sizeof *x);
    for (int k = 0; k < nr; k++) x[nv + k] = bottom ? bottom[k] : 0;
    snw_bordered_matrix_solve_transposed(a->T, x);
    memcpy(mu, x, (size_t)nv * sizeof *mu);
    memcpy(nu, x + nv, (size_t)nr * sizeof *nu);
}

// y (nv) += c C'x, rows by places
static void add_rows(const snw_adjoint *a, double c, const double *x, double *y) {
    for (int k = 0; k < a->m->nconstraint; k++) {
        const double *row = a->C_place + (size_t)a->m->nv * (size_t)k;
        for (int i = 0; i < a->m->nv; i++) y[i] += c * x[k] * row[i];
    }
}

// ---- equilibria ---------------------------------------------------------------------------------

void adjoint_static_matrix(snw_adjoint *a, const snw_map *map) {
    const snw_state s = adjoint_map_state(map);
    a->half = 0;
    adjoint_tangents(a, map->t_laws, &s, !map->steady);
    adjoint_find_driven(a, map);
    adjoint_place_matrix(a, a->K);
    adjoint_border(a, a->C, -1);
}

static snw_status back_static(snw_adjoint *a, const snw_map *map, snw_error *err) {
    if (map->hard) return adjoint_rest_back(a, map, err);
    adjoint_static_matrix(a, map);
    SNW_TRY(adjoint_factor(a, true, "the equilibrium", map->s.t, err));
    for (int i = 0; i < a->nscalar; i++) {
        const snw_bars *b = &a->bars[i];
        adjoint_branch_begin(a, map, i);
        adjoint_solve_transposed(a, b->place, b->lambda, a->covectors[i].mu, a->covectors[i].nu);
        const size_t nv = (size_t)a->m->nv;
        snw_covectors *v = &a->covectors[i];
        for (size_t k = 0; k < nv && map->steady; k++) { // rates of the laws
            if (!a->driven[k]) continue;
            v->law_rate[k] = b->rate[k], v->law_acc[k] = b->acc[k];
            v->by_law_rate[k] = b->rate[k] - snw_vector_dot(a->m->nv, a->D + nv * k, v->mu);
            v->by_law_acc[k] = b->acc[k] - snw_vector_dot(a->m->nv, a->M + nv * k, v->mu);
        }
        adjoint_memory_back(a, map, i);
        adjoint_branch_back(a, map, i);
        memset(b->place, 0, (size_t)(b->z - b->place) * sizeof *b->place);
    }
    return SNW_OK;
}

// ---- steps --------------------------------------------------------------------------------------

snw_scheme_map adjoint_scheme_map(const snw_map *map) {
    snw_scheme_map c = snw_scheme_map_of(&map->scheme, map->h, map->history_h, map->no_past);
    if (map->rest && map->history_h <= 0) { // the accelerations before were taken as zero
        c.f[SNW_PAST_ACCELERATION] = c.g[SNW_PAST_ACCELERATION] = c.pseudo[SNW_PAST_ACCELERATION] =
            0;
        c.f[SNW_PAST_PSEUDO] = c.g[SNW_PAST_PSEUDO] = c.pseudo[SNW_PAST_PSEUDO] = 0;
    }
    return c;
}

void adjoint_find_driven(snw_adjoint *a, const snw_map *map) {
    const snw_model *m = a->m;
    memset(a->driven, 0, (size_t)m->nv * sizeof *a->driven);
    for (int i = 0; i < m->ndrive; i++) {
        if (snw_drive_holds(m, &map->s, i)) a->driven[m->drive[i].dof] = true;
    }
}

// T <- K S + a D + b M without the columns of driven rates, bordered; C <- rows times S.
void adjoint_step_matrix(snw_adjoint *a, const snw_map *map, const snw_scheme_map *c) {
    const snw_model *m = a->m;
    const int nv = m->nv, n = nv + m->nconstraint;
    adjoint_find_driven(a, map);
    snw_bordered_matrix_clear(a->T);
    for (int j = 0; j < nv; j++) {
        double *to = column_of(a->T->A.entry, n, j);
        const double *K = column_of(a->K, nv, j), *D = column_of(a->D, nv, j);
        const double *M = column_of(a->M, nv, j);
        const double ca = a->driven[j] ? 0 : c->a, cb = a->driven[j] ? 0 : c->b;
        for (int i = 0; i < nv; i++) to[i] = K[i] + ca * D[i] + cb * M[i];
    }
    if (m->nlie_block == 0) return;
    snw_chart_jacobian(m, map->split ? SNW_CHART_SO3R3 : SNW_CHART_SE3, map->d, c->a, c->b, &map->s,
                       a->chart);
    for (int f = 0; f < m->nblock; f++) { // K S in place of K
        const snw_block *b = &m->block[f];
        if (b->space == SNW_SPACE_RN) continue;
        const double *S = a->chart + 108 * (size_t)b->lie_block;
        for (int k = 0; k < b->n; k++) {
            double *to = column_of(a->T->A.entry, n, b->dof + k);
            for (int j = 0; j < b->n; j++) {
                const double by = S[6 * j + k] - (j == k);
                const double *K = column_of(a->K, nv, b->dof + j);
                for (int i = 0; i < nv; i++) to[i] += by * K[i];
            }
        }
    }
}

// The rows of constraints, border of T, times S on the spherical and free joints.
void adjoint_chart_rows(snw_adjoint *a) {
    const snw_model *m = a->m;
    const int nv = m->nv, n = nv + m->nconstraint;
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        if (b->space == SNW_SPACE_RN) continue;
        const double *S = a->chart + 108 * (size_t)b->lie_block;
        for (int r = nv; r < n; r++) {
            double y[6] = {0};
            for (int k = 0; k < b->n; k++) {
                for (int j = 0; j < b->n; j++)
                    y[k] += column_of(a->T->A.entry, n, b->dof + j)[r] * S[6 * j + k];
            }
            for (int k = 0; k < b->n; k++) column_of(a->T->A.entry, n, b->dof + k)[r] = y[k];
        }
    }
}

void adjoint_rate_rows(snw_adjoint *a, double rate) {
    const int nv = a->m->nv, n = nv + a->m->nconstraint;
    for (int k = 0; k < a->m->nconstraint; k++) {
        for (int i = 0; i < nv && a->of_rates[k]; i++) {
            if (!a->driven[i])
                column_of(a->T->A.entry, n, i)[nv + k] -= rate * column_of(a->C, nv, k)[i];
        }
    }
}

// x (nv) <- S'x on the spherical and free joints
void adjoint_chart_transposed(const snw_adjoint *a, double *x) {
    for (int f = 0; f < a->m->nblock; f++) {
        const snw_block *b = &a->m->block[f];
        if (b->space == SNW_SPACE_RN) continue;
        const double *S = a->chart + 108 * (size_t)b->lie_block;
        double y[6] = {0};
        for (int k = 0; k < b->n; k++) {
            for (int i = 0; i < b->n; i++) y[k] += S[6 * i + k] * x[b->dof + i];
        }
        for (int k = 0; k < b->n; k++) x[b->dof + k] = y[k];
    }
}

// x (nv) <- Ad(exp(-d))'x on the spherical and free joints
void adjoint_carry_back(const snw_model *m, const double *d, double *x) {
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        if (b->space == SNW_SPACE_RN) continue;
        snw_twist D = {0};
        for (int i = 0; i < b->n; i++) D.e[i] = d[b->dof + i];
        const snw_se3 g = snw_se3_exp(D);
        double y[6] = {0};
        for (int k = 0; k < b->n; k++) {
            snw_twist e = {0};
            e.e[k] = 1;
            const snw_twist moved = snw_twist_to_child(g, e);
            for (int i = 0; i < b->n; i++) y[k] += moved.e[i] * x[b->dof + i];
        }
        for (int k = 0; k < b->n; k++) x[b->dof + k] = y[k];
    }
}

static void back_step_scalar(snw_adjoint *a, const snw_map *map, const snw_scheme_map *c, int i) {
    const snw_model *m = a->m;
    const int nv = m->nv;
    snw_bars *b = &a->bars[i];
    snw_covectors *v = &a->covectors[i];
    adjoint_memory_begin(a, map, i);
    adjoint_branch_begin(a, map, i);
    if (map->split) adjoint_split_bars_to_chart(m, &map->s, b->place, b->rate, b->acc);
    double *right = a->line, *f = right + nv, *g = f + nv, *past = g + nv; // past: 4 nv
    double *const part[SNW_PAST_PARTS] = {[SNW_PAST_RATE] = past,
                                          [SNW_PAST_ACCELERATION] = past + nv,
                                          [SNW_PAST_PSEUDO] = past + 2 * nv,
                                          [SNW_PAST_INCREMENT] = past + 3 * nv,
                                          [SNW_PAST_RATE_BEFORE] = a->row};
    for (int k = 0; k < nv; k++) {
        if (!map->settles) b->acc[k] += c->pseudo_acc * b->pseudo[k];
        for (int j = SNW_PAST_RATE; j < SNW_PAST_PARTS; j++)
            part[j][k] = c->pseudo[j] * b->pseudo[k];
        part[SNW_PAST_RATE][k] += b->old[k];
        v->law_rate[k] = v->law_acc[k] = 0;
        f[k] = b->rate[k], g[k] = b->acc[k];
        if (a->driven[k]) f[k] = g[k] = 0;
        right[k] = b->place[k];
    }
    if (m->nlie_block > 0) adjoint_chart_transposed(a, right);
    for (int k = 0; k < nv; k++) right[k] += c->a * f[k] + c->b * g[k] + b->increment[k];
    adjoint_solve_transposed(a, right, b->lambda, v->mu, v->nu);
    adjoint_add_transposed(nv, -1, a->D, v->mu, f);
    adjoint_add_transposed(nv, -1, a->M, v->mu, g);
    for (int r = 0; r < m->nconstraint; r++) {
        for (int k = 0; k < nv && a->of_rates[r]; k++) f[k] += v->nu[r] * column_of(a->C, nv, r)[k];
    }
    for (int k = 0; k < nv; k++) {
        if (!a->driven[k]) continue;
        // rates of the laws: their part of mu'r is that of the equations
        v->law_rate[k] = b->rate[k], v->law_acc[k] = b->acc[k];
        v->by_law_rate[k] = b->rate[k] + f[k], v->by_law_acc[k] = b->acc[k] + g[k];
        for (int j = 0; j < m->nsignal && a->remembers; j++)
            v->by_law_rate[k] += v->integrand[j] * a->integrand_row[2 * nv * j + nv + k];
        f[k] = g[k] = 0;
    }
    a->by_own[i] = snw_vector_dot(nv, f, a->by_length) + snw_vector_dot(nv, g, a->by_length + nv);
    a->by_before[i] =
        snw_vector_dot(nv, f, a->by_length + 2 * nv) + snw_vector_dot(nv, g, a->by_length + 3 * nv);
    adjoint_memory_back(a, map, i);
    adjoint_branch_back(a, map, i);
    adjoint_add_transposed(nv, -1, a->K, v->mu, b->place);
    add_rows(a, 1, v->nu, b->place);
    if (m->nlie_block > 0) adjoint_carry_back(m, adjoint_turn(a, map), b->place);
    for (int k = 0; k < nv; k++) {
        for (int j = SNW_PAST_RATE; j < SNW_PAST_PARTS; j++)
            part[j][k] += c->f[j] * f[k] + c->g[j] * g[k];
        b->rate[k] = part[SNW_PAST_RATE][k];
        b->acc[k] = part[SNW_PAST_ACCELERATION][k];
        b->pseudo[k] = part[SNW_PAST_PSEUDO][k];
        b->increment[k] = part[SNW_PAST_INCREMENT][k];
        b->old[k] = part[SNW_PAST_RATE_BEFORE][k];
    }
    for (int k = 0; k < m->nconstraint; k++) b->lambda[k] = 0;
}

static snw_status back_step(snw_adjoint *a, const snw_map *map, snw_error *err) {
    const snw_model *m = a->m;
    const snw_scheme_map c = adjoint_scheme_map(map);
    const snw_state s = adjoint_map_state(map);
    a->half = adjoint_half_step(map);
    adjoint_tangents(a, map->t_laws, &s, false);
    adjoint_fix_rates(a, &map->s);
    if (map->split) adjoint_split_tangents(a, &map->s);
    adjoint_step_matrix(a, map, &c);
    adjoint_border(a, a->C_place, -1);
    if (m->nlie_block > 0) adjoint_chart_rows(a);
    adjoint_rate_rows(a, c.a);
    SNW_TRY(adjoint_factor(a, false, "the step", map->s.t, err));
    adjoint_find_lengths(a, map);
    for (int i = 0; i < a->nscalar; i++) back_step_scalar(a, map, &c, i);
    a->split = a->split_past = map->split;
    return SNW_OK;
}

// ---- starts and restarts ------------------------------------------------------------------------

// e (nconstraint) <- first and second rates of the rows at s with the inputs in place.
void adjoint_row_rates(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w,
                       double *rate, double *acceleration) {
    snw_kinematics(m, in, s, false, w);
    snw_constraints_rates(m, in, s, w, rate, acceleration);
}

// mu'M(v - v_before) - mu'C'p: difference of two residuals at rest, with accelerations and
// multipliers and without.
static double momentum_product(const snw_model *m, const snw_inputs *in, const snw_state *s,
                               const double *jump, const double *impulse, const double *mu,
                               snw_state *still, snw_work *w) {
    double value = 0;
    snw_state_copy(m, s, still);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < m->nv; i++) still->v[i] = 0, still->a[i] = k ? 0 : jump[i];
        for (int i = 0; i < m->nconstraint; i++) still->lambda[i] = k ? 0 : impulse[i];
        snw_residual(m, in, still, false, w);
        value += (k ? -1 : 1) * snw_vector_dot(m->nv, mu, w->r);
    }
    return value;
}

// Products of the covectors of a restart with its equations, except mu'r.
static double restart_product(const snw_model *m, const snw_inputs *in, const snw_state *s,
                              const snw_covectors *v, const double *impulse, const double *before,
                              double *rows, snw_state *still, snw_work *w) {
    if (m->nconstraint == 0) return 0;
    double *rate = rows, *acceleration = rows + m->nconstraint,
           *jump = acceleration + m->nconstraint;
    adjoint_row_rates(m, in, s, w, rate, acceleration);
    double value = snw_vector_dot(m->nconstraint, v->nu, acceleration);
    if (!before) return value;
    value += snw_vector_dot(m->nconstraint, v->z, rate);
    for (int i = 0; i < m->nv; i++) jump[i] = s->v[i] - before[i];
    return value + momentum_product(m, in, s, jump, impulse, v->y, still, w);
}

// bar -= derivative of `restart_product` along coordinates (of = 0) or velocities (1), by
// differences of order 6: second derivatives of the rows that no other part of the library needs.
static void subtract_second(snw_adjoint *a, const snw_map *map, const snw_covectors *v,
                            const double *before, snw_state *still, int of, double *bar) {
    const snw_model *m = a->m;
    double *unit = a->line + 4 * m->nv, *rows = unit + m->nv;
    memset(unit, 0, (size_t)m->nv * sizeof *unit);
    for (int k = 0; k < m->nv; k++) {
        const double h = (of ? sample_rate : sample_move) * m->typical[k];
        double sum = 0;
        for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
            if (j == 0) continue;
            snw_state_copy(m, &map->s, a->s);
            unit[k] = j * h;
            if (of == 0) snw_move(m, map->s.q, 1, unit, a->s->q);
            if (of == 1) a->s->v[k] += j * h;
            unit[k] = 0;
            // v_before moves with v: its own derivative is M y
            const double value = restart_product(m, a->in, a->s, v, a->impulse,
                                                 of == 0 ? before : NULL, rows, still, a->w);
            sum += (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / h * value;
        }
        bar[k] -= sum;
    }
}

// a->impulse <- p with C'p = M (v - v_before)
void adjoint_find_impulse(snw_adjoint *a, const snw_map *map) {
    const snw_model *m = a->m;
    const int nv = m->nv;
    double *x = a->x;
    memset(x, 0, (size_t)(nv + m->nconstraint) * sizeof *x);
    for (int j = 0; j < nv; j++) {
        const double jump = map->s.v[j] - map->before[j];
        for (int i = 0; i < nv; i++) x[i] += a->M[(size_t)nv * (size_t)j + (size_t)i] * jump;
    }
    snw_bordered_matrix_solve(a->T, x);
    for (int k = 0; k < m->nconstraint; k++) a->impulse[k] = -x[nv + k];
}

// Bars of accelerations += c times those of the pseudo-accelerations, which are those of the chart.
static void add_pseudo(snw_adjoint *a, const snw_map *map, double c, const snw_bars *b) {
    const int nv = a->m->nv;
    double *rate = a->line, *acc = rate + nv;
    for (int k = 0; k < nv; k++) rate[k] = 0, acc[k] = c * b->pseudo[k];
    if (a->split_past) adjoint_split_bars_to_body(a->m, &map->s, b->place, rate, acc);
    for (int k = 0; k < nv; k++) b->rate[k] += rate[k], b->acc[k] += acc[k];
}

static snw_status back_restart(snw_adjoint *a, const snw_map *map, snw_error *err) {
    const snw_model *m = a->m;
    const int nv = m->nv;
    const snw_state s = adjoint_map_state(map);
    a->half = adjoint_half_step(map);
    adjoint_tangents(a, map->t_laws, &s, false);
    adjoint_fix_rates(a, &map->s);
    adjoint_place_matrix(a, a->M);
    adjoint_border(a, a->C, 1);
    SNW_TRY(adjoint_factor(a, true, "the accelerations", map->s.t, err));
    const bool projects = map->kind == SNW_MAP_RESTART && m->nconstraint > 0;
    // the pseudo-acceleration of a step that settles follows from its projected acceleration
    const double by_pseudo = map->settles ? adjoint_scheme_map(map).pseudo_acc : 1;
    if (projects) adjoint_find_impulse(a, map);
    snw_state *still = a->still;
    for (int i = 0; i < a->nscalar; i++) {
        snw_bars *b = &a->bars[i];
        snw_covectors *v = &a->covectors[i];
        adjoint_memory_begin(a, map, i);
        add_pseudo(a, map, by_pseudo, b);
        adjoint_solve_transposed(a, b->acc, b->lambda, v->mu, v->nu);
        adjoint_memory_back(a, map, i);
        adjoint_branch_back(a, map, i);
        adjoint_add_transposed(nv, -1, a->K, v->mu, b->place);
        adjoint_add_transposed(nv, -1, a->D, v->mu, b->rate);
        memset(v->y, 0, (size_t)nv * sizeof *v->y);
        memset(v->z, 0, (size_t)m->nconstraint * sizeof *v->z);
        if (m->nconstraint > 0) {
            subtract_second(a, map, v, NULL, still, 0, b->place);
            subtract_second(a, map, v, NULL, still, 1, b->rate);
        }
        if (projects) {
            adjoint_solve_transposed(a, b->rate, NULL, v->y, v->z);
            snw_covectors velocity = *v;
            velocity.nu = a->line + 7 * nv + 2 * m->nconstraint; // zeros
            memset(velocity.nu, 0, (size_t)m->nconstraint * sizeof *velocity.nu);
            subtract_second(a, map, &velocity, map->before, still, 0, b->place);
            memset(b->rate, 0, (size_t)nv * sizeof *b->rate);
            adjoint_add_transposed(nv, 1, a->M, v->y, b->rate);
        }
        memset(b->acc, 0, (size_t)nv * sizeof *b->acc);
        memset(b->lambda, 0, (size_t)m->nconstraint * sizeof *b->lambda);
        if (map->settles) continue;
        memset(b->pseudo, 0, (size_t)nv * sizeof *b->pseudo);
        memset(b->increment, 0, (size_t)nv * sizeof *b->increment);
        memset(b->old, 0, (size_t)nv * sizeof *b->old);
    }
    if (!map->settles) a->split_past = false;
    return SNW_OK;
}

snw_status adjoint_accelerations_back(snw_adjoint *a, const snw_map *map, snw_error *err) {
    adjoint_clear_covectors(a);
    return back_restart(a, map, err);
}

// Do no scalars depend on an equilibrium or on its time?
static bool is_unused(const snw_adjoint *a) {
    for (int i = 0; i < a->nscalar; i++) {
        const snw_bars *b = &a->bars[i];
        for (const double *x = b->place; x < b->z; x++) {
            if (*x != 0) return false;
        }
        for (int k = 0; k < a->m->nbranch_coordinate; k++) {
            if (b->branch[k] != 0) return false;
        }
        if (b->time[SNW_TIME_NOW] != 0) return false;
    }
    return true;
}

bool snw_adjoint_idle(const snw_adjoint *a, const snw_map *map) {
    if (map->kind == SNW_MAP_STATIC || map->kind == SNW_MAP_FOLD) return is_unused(a);
    const bool shows = map->kind == SNW_MAP_ACCELERATIONS;
    if (a->split) return false; // the bars are turned at the state of the map
    if (!shows && (map->kind != SNW_MAP_RESTART || a->m->nconstraint > 0)) return false;
    for (int i = 0; i < a->nscalar; i++) {
        for (int k = 0; k < a->m->nconstraint; k++) {
            if (a->bars[i].lambda[k] != 0) return false;
        }
        for (int k = 0; k < a->m->nv; k++) {
            if (a->bars[i].acc[k] != 0 || a->bars[i].pseudo[k] != 0) return false;
        }
        for (int k = 0; k < a->m->nsignal; k++) {
            if (a->bars[i].integrand[k] != 0) return false;
        }
    }
    return true;
}

static snw_status back_through(snw_adjoint *a, const snw_map *map, snw_error *err) {
    switch (map->kind) {
    case SNW_MAP_STATIC:
        return back_static(a, map, err);
    case SNW_MAP_FOLD:
        return adjoint_fold_back(a, map, err);
    case SNW_MAP_INITIAL:
    case SNW_MAP_RESTART:
    case SNW_MAP_ACCELERATIONS:
        return back_restart(a, map, err);
    case SNW_MAP_STEP:
        return back_step(a, map, err);
    case SNW_MAP_STAGES:
        return adjoint_stages_back(a, map, err);
    case SNW_MAP_HARD:
        return adjoint_hard_back(a, map, err);
    case SNW_MAP_CONSERVED:
    case SNW_MAP_ENERGY:
        return adjoint_conserved_back(a, map, err);
    case SNW_MAP_EXPLICIT:
        return adjoint_explicit_back(a, map, err);
    case SNW_MAP_INPUTS:
    case SNW_MAP_EVENT:
    case SNW_MAP_SAMPLE:
    case SNW_MAP_KEPT:
    case SNW_MAP_FROM:
    case SNW_MAP_FRAME:
        break;
    }
    return SNW_OK;
}

snw_status snw_adjoint_back(snw_adjoint *a, const snw_map *map, snw_error *err) {
    adjoint_clear_covectors(a);
    adjoint_split_end(a, &map->s);
    a->longest = fmax(a->longest, map->h);
    if (map->kind == SNW_MAP_HARD) a->in_time = NAN; // its inputs have the gravity of its middle
    SNW_TRY(back_through(a, map, err));
    const bool own =
        map->kind == SNW_MAP_HARD || map->kind == SNW_MAP_EXPLICIT || map->kind == SNW_MAP_FOLD;
    if (adjoint_moves(map) && !own) adjoint_back_times(a, map);
    return SNW_OK;
}

// ---- samples of other models --------------------------------------------------------------------

snw_status snw_sampler_create(const snw_model *m, snw_sampler *out) {
    *out = (snw_sampler){.m = m};
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint;
    int width = 1;
    for (int i = 0; i < m->desc->nprobe; i++) {
        const int n = snw_probe_columns(&m->desc->probe[i]);
        if (n > width) width = n;
    }
    out->rotation = snw_alloc((size_t)(m->nseg + m->nobs) * sizeof *out->rotation);
    out->rows = snw_alloc((nv + 2 * nr + 1) * sizeof *out->rows);
    out->column = snw_alloc((size_t)width * sizeof *out->column);
    out->integrand = snw_alloc(((size_t)m->nsignal + (size_t)m->nbranch_coordinate + 1) *
                               sizeof *out->integrand);
    if (!out->rotation || !out->rows || !out->column || !out->integrand) return SNW_E_MEMORY;
    SNW_TRY(snw_inputs_create(m, &out->in));
    SNW_TRY(snw_state_create(m, &out->s));
    SNW_TRY(snw_state_create(m, &out->still));
    SNW_TRY(snw_work_create(m, &out->w));
    out->w->velocity_time = 1; // rows of velocities
    return SNW_OK;
}

void snw_sampler_destroy(snw_sampler *x) {
    snw_inputs_destroy(x->in);
    snw_state_destroy(x->s);
    snw_state_destroy(x->still);
    snw_work_destroy(x->w);
    snw_free(x->rotation);
    snw_free(x->rows);
    snw_free(x->column);
    snw_free(x->integrand);
    snw_conserving_destroy(x->conserving);
    snw_free(x->conserved);
}

void adjoint_sampler_state(snw_sampler *x, const snw_map *map) {
    const size_t nz = (size_t)x->m->nsignal;
    snw_inputs_at(x->m, map->t_laws + x->shift, x->in);
    x->in->integral_step = adjoint_half_step(map);
    snw_state_copy(x->m, &map->s, x->s);
    if (nz > 0) memcpy(x->s->z, adjoint_map_state(map).z, nz * sizeof *x->s->z);
    adjoint_sampler_branches(x, map);
    if (map->kind == SNW_MAP_STEP || map->steady) snw_constraints_impose(x->m, x->in, x->s);
}

// value (nscalar) <- the products with residual, rows, rates of laws and memory of a map at the
// state of the sampler.
static void sample_residual(snw_sampler *x, const snw_adjoint *a, const snw_map *map,
                            double *value) {
    const snw_model *m = x->m;
    const bool is_static = map->kind == SNW_MAP_STATIC, step = map->kind == SNW_MAP_STEP;
    snw_residual(m, x->in, x->s, is_static && !map->steady, x->w);
    if (!is_static) adjoint_integrands(m, x->in, x->w, x->integrand);
    double *strain = x->integrand + m->nsignal;
    adjoint_branches_after(x, map, strain);
    for (int i = 0; i < a->nscalar; i++) {
        const snw_covectors *v = &a->covectors[i];
        value[i] = snw_vector_dot(m->nv, v->mu, x->w->r);
        if (step || is_static) value[i] -= snw_vector_dot(m->nconstraint, v->nu, x->w->violation);
        if (!is_static) value[i] -= snw_vector_dot(m->nsignal, v->integrand, x->integrand);
        if (m->nbranch) value[i] -= snw_vector_dot(m->nbranch_coordinate, v->branch, strain);
        if (!step && !map->steady) continue;
        value[i] -= snw_vector_dot(m->nv, v->law_rate, x->s->v);
        value[i] -= snw_vector_dot(m->nv, v->law_acc, x->s->a);
    }
}

void snw_sampler_map(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *value) {
    const snw_model *m = x->m;
    if (map->kind == SNW_MAP_STAGES) {
        adjoint_stages_sample(a, map, x, value);
        return;
    }
    if (map->kind == SNW_MAP_HARD) {
        adjoint_hard_sample(x, a, map, value);
        return;
    }
    if (map->kind == SNW_MAP_CONSERVED || map->kind == SNW_MAP_ENERGY) {
        adjoint_conserved_sample(a, map, x, value);
        return;
    }
    if (map->kind == SNW_MAP_EXPLICIT) {
        adjoint_explicit_sample(x, a, map, value);
        return;
    }
    if (map->kind == SNW_MAP_FOLD) {
        adjoint_fold_sample(x, a, map, value);
        return;
    }
    const bool is_static = map->kind == SNW_MAP_STATIC, step = map->kind == SNW_MAP_STEP;
    adjoint_sampler_state(x, map);
    if (is_static && map->hard) {
        adjoint_rest_sample(x, a, map, value);
    } else {
        sample_residual(x, a, map, value);
    }
    if (step || is_static) return;
    if (map->kind == SNW_MAP_RESTART && map->ode.locomotion)
        adjoint_kinematic_sample(x, a, map, value);
    for (int i = 0; i < a->nscalar; i++)
        value[i] += restart_product(m, x->in, x->s, &a->covectors[i], a->impulse,
                                    map->kind == SNW_MAP_RESTART ? map->before : NULL, x->rows,
                                    x->still, x->w);
}

void snw_sampler_frame(snw_sampler *x, const snw_adjoint *a, const snw_map *map, double *y) {
    const snw_model *m = x->m;
    if (x->known) {
        snw_observe(m, x->in, &map->s, false, x->w);
    } else {
        snw_inputs_at(m, map->t_laws + x->shift, x->in);
        (void)adjoint_frame_forces(map, a->touch);
        adjoint_evaluate(m, map, a->touch, x->in, &map->s, x->w);
    }
    memset(x->rotation, 0, (size_t)(m->nseg + m->nobs) * sizeof *x->rotation);
    adjoint_read_outputs(a, m, x->in, &map->s, x->w, x->rotation, x->column, y);
}
