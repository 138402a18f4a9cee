// SPDX-License-Identifier: MIT
//
// Transposed steps of Gauss and Radau collocation, theory.md 7.5. With chart coordinates x about
// the configuration at the start, x_i = c_i h v_0 + h^2 sum AA_ij X_j, x'_i = v_0 + h sum A_ij X_j
// and x''_i = X_i at the stages,
//
//     B_ij = delta_ij M_i + h A_ij D_i + h^2 AA_ij K_i,   B' mu = X_bar.
//
// The chart gives zeta = S x, so that a stage has the derivatives K S + D S' + M S", D S + 2 M S',
// M S. Integrals of laws have the integrands e_j at the stages as further unknowns,
//
//     r_i(.., z_i) = 0,   e_i - E_i(.., z_i) = 0,   z_i = z_0 + h sum A_ij e_j,   z_1 = z_0 + h sum
//     b_j e_j.
//
// Rows of velocities e = 0 (wheels) have their multipliers l_i at the stages as unknowns,
//
//     r_i - C_i' l_i = 0,   -e_i(x_i, x'_i) = 0,
//
// whose derivatives are those of an integrand; the velocities at the end are then projected by the
// restart that follows.
//
// Driven coordinates have the values of their laws at the stages and at the end of the step: their
// rows and columns of B are those of the unit matrix, and the end depends on parameters by itself.
#include "study/adjoint_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/chart.h"
#include "dynamics/constraint.h"
#include "integrate/collocation_step.h"
#include "integrate/step_path.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <string.h>

// ---- memory -------------------------------------------------------------------------------------

static snw_status stages_create(snw_adjoint *a, int s) {
    const size_t nv = (size_t)a->m->nv, nm = (size_t)adjoint_stage_memory(a),
                 ne = (size_t)adjoint_stage_extra(a), ns = (size_t)a->nscalar;
    const size_t stages = (size_t)s, n = stages * (nv + ne);
    if (a->stage_matrix) return SNW_OK;
    double *x = snw_alloc((n * n + 3 * stages * nv * nv + ns * n + n + nv + 1 +
                           stages * (ne * 4 * nv + nm * (nv + nm)) +
                           stages * (size_t)a->m->ndrive * (3 * nv + 2 * ne)) *
                          sizeof *x);
    a->stage_pivot = snw_alloc((n + 1) * sizeof *a->stage_pivot);
    if (!x || !a->stage_pivot) {
        snw_free(x);
        return SNW_E_MEMORY;
    }
    a->stage_matrix = x;
    a->stage_K = x + n * n;
    a->stage_D = a->stage_K + stages * nv * nv;
    a->stage_V = a->stage_D + stages * nv * nv;
    a->stage_mu = a->stage_V + stages * nv * nv;
    a->stage_x = a->stage_mu + ns * n;
    a->stage_row = a->stage_x + n + nv;
    a->stage_by = a->stage_row + stages * ne * 4 * nv;
    a->stage_force = a->stage_by + stages * nm * nm;
    a->stage_given = a->stage_force + stages * nm * nv;
    for (int i = 0; i < s; i++) SNW_TRY(snw_state_create(a->m, &a->stage[i]));
    return SNW_OK;
}

void adjoint_stages_destroy(snw_adjoint *a) {
    for (int i = 0; i < SNW_STAGES; i++) snw_state_destroy(a->stage[i]);
    snw_free(a->stage_matrix);
    snw_free(a->stage_pivot);
}

// ---- stages -------------------------------------------------------------------------------------

// x, rate (nv) <- chart coordinates and rates at the fraction c of the step
static void path_at(const snw_model *m, const snw_map *map, double c, const double *A,
                    const double *AA, double *x, double *rate) {
    const double h = map->h;
    for (int i = 0; i < m->nv; i++) {
        double v = 0, d = 0;
        for (int j = 0; j < map->points.s; j++) {
            v += A[j] * map->ddx[j * m->nv + i];
            d += AA[j] * map->ddx[j * m->nv + i];
        }
        rate[i] = map->v0[i] + h * v;
        x[i] = h * (c * map->v0[i] + h * d);
    }
}

void adjoint_stage_slopes(const snw_model *m, const snw_map *map, double c, const double *A,
                          const double *AA, double *x, double *rate) {
    for (int i = 0; i < m->nv; i++) {
        double v = 0, d = 0;
        for (int j = 0; j < map->points.s; j++) {
            v += A[j] * map->ddx[j * m->nv + i];
            d += AA[j] * map->ddx[j * m->nv + i];
        }
        rate[i] = v;
        x[i] = c * map->v0[i] + 2 * map->h * d;
    }
}

// x'A y, A n x n
static double form(int n, const double *x, const double *A, const double *y) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += y[j] * snw_vector_dot(n, A + (size_t)n * (size_t)j, x);
    return sum;
}

double snw_map_stage_time(const snw_map *map, int i) {
    if (map->kind == SNW_MAP_HARD) return adjoint_hard_time(map, i);
    if (map->kind == SNW_MAP_EXPLICIT) return adjoint_explicit_time(map, i);
    const snw_collocation *k = &map->points;
    if (map->kind == SNW_MAP_CONSERVED) return 0.5 * (map->s.t - map->h + map->t_laws);
    if (map->kind != SNW_MAP_STAGES || i == k->s) return map->t_laws;
    return k->ends && i == k->s - 1 ? map->t_laws : map->s.t - map->h + k->c[i] * map->h;
}

// to (nv x nv) columns of the spherical and free joints <- K A0 + D A1 + M A2, each S, S' or S" of
// the chart times its weight; other columns are already there
static void chart_columns(const snw_adjoint *a, const double *const *from, const int *order,
                          const double *weight, int n, double *to) {
    const snw_model *m = a->m;
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *b = &m->block[f];
        if (b->space == SNW_SPACE_RN) continue;
        for (int k = 0; k < b->n; k++) {
            double *column = to + (size_t)m->nv * (size_t)(b->dof + k);
            memset(column, 0, (size_t)m->nv * sizeof *column);
            for (int t = 0; t < n; t++) {
                const double *S = a->chart + 108 * (size_t)b->lie_block + 36 * order[t];
                for (int j = 0; j < b->n; j++) {
                    const double by = weight[t] * S[6 * j + k];
                    const double *A = from[t] + (size_t)m->nv * (size_t)(b->dof + j);
                    for (int i = 0; i < m->nv; i++) column[i] += by * A[i];
                }
            }
        }
    }
}

int adjoint_stage_memory(const snw_adjoint *a) { return a->remembers ? a->m->nsignal : 0; }

int adjoint_stage_rows(const snw_model *m) {
    int n = 0;
    for (int i = 0; i < m->nloop; i++) n += m->loop[i].nrow;
    return n;
}

int adjoint_stage_extra(const snw_adjoint *a) {
    return adjoint_stage_memory(a) + adjoint_stage_rows(a->m);
}

int adjoint_stage_row(const snw_model *m, int k) {
    int i = 0;
    while (k >= m->loop[i].nrow) k -= m->loop[i++].nrow;
    return m->loop[i].row + k;
}

double adjoint_stage_integral(const snw_adjoint *a, const snw_map *map, const double *A,
                              int signal) {
    double sum = 0;
    for (int j = 0; map->integrand && j < map->points.s; j++)
        sum += A[j] * map->integrand[j * a->m->nsignal + signal];
    return sum;
}

// by_x, by_rate (nv) <- row by chart coordinates and rates from one by place and rate at fixed body
// rates, at a state with velocities v and the columns a->chart.
static void row_of_chart(const snw_adjoint *a, const double *v, const double *place,
                         const double *of_rate, double *by_x, double *by_rate) {
    const snw_model *m = a->m;
    memcpy(by_x, place, (size_t)m->nv * sizeof *by_x);
    memcpy(by_rate, of_rate, (size_t)m->nv * sizeof *by_rate);
    for (int f = 0; f < m->nblock; f++) {
        const snw_block *block = &m->block[f];
        if (block->space == SNW_SPACE_RN) continue;
        const double *S = a->chart + 108 * (size_t)block->lie_block, *dS = S + 36;
        double ad[36], turned[6]; // v_bar' ad_V
        adjoint_block_ad(block, v, ad);
        for (int k = 0; k < block->n; k++) {
            turned[k] = place[block->dof + k];
            for (int i = 0; i < block->n; i++) turned[k] += of_rate[block->dof + i] * ad[6 * k + i];
        }
        for (int k = 0; k < block->n; k++) {
            double x = 0, rate = 0;
            for (int i = 0; i < block->n; i++) {
                x += S[6 * i + k] * turned[i] + dS[6 * i + k] * of_rate[block->dof + i];
                rate += S[6 * i + k] * of_rate[block->dof + i];
            }
            by_x[block->dof + k] = x;
            by_rate[block->dof + k] = rate;
        }
    }
}

int snw_map_parts(const snw_map *map) {
    if (map->kind == SNW_MAP_HARD) return ADJOINT_HARD_STAGES;
    if (map->kind == SNW_MAP_EXPLICIT) return adjoint_explicit_parts(map);
    return map->kind == SNW_MAP_STAGES ? map->points.s + (map->m->ndrive > 0 ? 1 : 0) : 1;
}

double adjoint_stage_fraction(const snw_map *map, int i) {
    return i < map->points.s ? map->points.c[i] : 1;
}

// A (nv x nv) <- without rows and columns of driven coordinates.
static void clear_driven(const snw_adjoint *a, double *A) {
    const size_t nv = (size_t)a->m->nv;
    for (size_t k = 0; k < nv; k++) {
        for (size_t i = 0; i < nv && a->driven[k]; i++) A[nv * k + i] = A[nv * i + k] = 0;
    }
}

// x (nv) <- without driven coordinates
static void clear_driven_vector(const snw_adjoint *a, double *x) {
    for (int k = 0; k < a->m->nv; k++) {
        if (a->driven[k]) x[k] = 0;
    }
}

// Rows of B of the unknowns of stage i beside its accelerations, by these: of a row at fixed rates
// (nv by place, nv by rate) those of the chart behind it.
static void place_row(snw_adjoint *a, const snw_map *map, int i, size_t extra) {
    const snw_collocation *c = &map->points;
    const size_t nv = (size_t)a->m->nv, ne = (size_t)adjoint_stage_extra(a), s = (size_t)c->s;
    const size_t n = s * (nv + ne), at = s * nv + (size_t)i * ne + extra;
    double *row = a->stage_row + ((size_t)i * ne + extra) * 4 * nv;
    row_of_chart(a, a->stage[i]->v, row, row + nv, row + 2 * nv, row + 3 * nv);
    for (int part = 0; part < 4; part++) clear_driven_vector(a, row + (size_t)part * nv);
    for (size_t j = 0; j < s; j++) {
        const double cd = map->h * c->A[i][j], ck = map->h * map->h * c->AA[i][j];
        for (size_t col = 0; col < nv; col++)
            a->stage_matrix[n * (j * nv + col) + at] =
                -cd * row[3 * nv + col] - ck * row[2 * nv + col];
    }
}

// Columns of B of the unknowns beside accelerations <- 0.
static void clear_columns(snw_adjoint *a, const snw_map *map) {
    const size_t nv = (size_t)a->m->nv, ne = (size_t)adjoint_stage_extra(a);
    const size_t s = (size_t)map->points.s, n = s * (nv + ne);
    memset(a->stage_matrix + n * s * nv, 0, n * s * ne * sizeof *a->stage_matrix);
}

// Rows and columns of B of the integrands, after the tangents of stage i.
static void stage_memory(snw_adjoint *a, const snw_map *map, int i) {
    const snw_model *m = a->m;
    const snw_collocation *c = &map->points;
    const size_t nv = (size_t)m->nv, nm = (size_t)adjoint_stage_memory(a), s = (size_t)c->s;
    const size_t ne = (size_t)adjoint_stage_extra(a), n = s * (nv + ne), first = s * nv;
    const size_t at = first + (size_t)i * ne;
    double *rows = a->stage_row + (size_t)i * ne * 4 * nv, *by = a->stage_by + (size_t)i * nm * nm;
    double *force = a->stage_force + (size_t)i * nm * nv;
    if (nm == 0) return;
    memcpy(by, a->integrand_by, nm * nm * sizeof *by);
    memcpy(force, a->memory_force, nm * nv * sizeof *force);
    for (size_t k = 0; k < nm; k++) clear_driven_vector(a, force + k * nv);
    for (size_t k = 0; k < nm; k++) {
        memcpy(rows + 4 * nv * k, a->integrand_row + 2 * nv * k, 2 * nv * sizeof *rows);
        place_row(a, map, i, k);
    }
    for (size_t j = 0; j < s; j++) {
        const double cd = map->h * c->A[i][j];
        for (size_t l = 0; l < nm; l++) {
            double *to = a->stage_matrix + n * (first + j * ne + l);
            for (size_t row = 0; row < nv; row++)
                to[(size_t)i * nv + row] = -cd * force[l * nv + row];
            for (size_t k = 0; k < nm; k++)
                to[at + k] = ((size_t)i == j && k == l ? 1 : 0) - cd * by[k * nm + l];
        }
    }
}

// Rows and columns of B of the multipliers of wheels, after the tangents of stage i at fixed rates.
static void stage_constraints(snw_adjoint *a, const snw_map *map, int i) {
    const snw_model *m = a->m;
    const size_t nv = (size_t)m->nv, nm = (size_t)adjoint_stage_memory(a),
                 s = (size_t)map->points.s;
    const size_t ne = (size_t)adjoint_stage_extra(a), n = s * (nv + ne);
    for (int k = 0; k < adjoint_stage_rows(m); k++) {
        const size_t of = (size_t)adjoint_stage_row(m, k), extra = nm + (size_t)k;
        const size_t at = s * nv + (size_t)i * ne + extra;
        const snw_constraint c = snw_constraint_at(m, a->w, (int)of);
        double *row = a->stage_row + ((size_t)i * ne + extra) * 4 * nv;
        memcpy(row, a->C_place + nv * of, nv * sizeof *row);
        memcpy(row + nv, a->C + nv * of, nv * sizeof *row);
        place_row(a, map, i, extra);
        double *column = a->stage_matrix + n * at + (size_t)i * nv;
        for (size_t j = 0; j < nv; j++) column[j] = a->driven[j] ? 0 : -a->C[nv * of + j];
        if (c.slip_dof >= 0 && !a->driven[c.slip_dof]) column[c.slip_dof] += c.slip;
        if (c.inactive) a->stage_matrix[(n + 1) * at] = 1;
    }
}

// First number of drive k at a stage in a->stage_given.
static size_t given_at(const snw_adjoint *a, int stage, int k) {
    return ((size_t)stage * (size_t)a->m->ndrive + (size_t)k) *
           (3 * (size_t)a->m->nv + 2 * (size_t)adjoint_stage_extra(a));
}

// Derivatives of the equations of stage i by driven coordinates, after its tangents.
static void keep_given(snw_adjoint *a, int i) {
    const size_t nv = (size_t)a->m->nv, nm = (size_t)adjoint_stage_memory(a);
    const size_t ne = (size_t)adjoint_stage_extra(a);
    for (int k = 0; k < a->m->ndrive; k++) {
        double *to = a->stage_given + given_at(a, i, k);
        const size_t dof = (size_t)a->m->drive[k].dof;
        memcpy(to, a->K + nv * dof, nv * sizeof *to);
        memcpy(to + nv, a->D + nv * dof, nv * sizeof *to);
        memcpy(to + 2 * nv, a->M + nv * dof, nv * sizeof *to);
        for (size_t j = 0; j < nm; j++) {
            to[3 * nv + j] = a->integrand_row[2 * nv * j + dof];
            to[3 * nv + ne + j] = a->integrand_row[2 * nv * j + nv + dof];
        }
        for (size_t j = nm; j < ne; j++) {
            const size_t row = (size_t)adjoint_stage_row(a->m, (int)(j - nm));
            to[3 * nv + j] = a->C_place[nv * row + dof];
            to[3 * nv + ne + j] = a->C[nv * row + dof];
        }
    }
}

void adjoint_stage_by_drive(const snw_adjoint *a, int stage, int k, const double *mu,
                            const double *extra, double *out) {
    const int nv = a->m->nv, ne = adjoint_stage_extra(a);
    const double *of = a->stage_given + given_at(a, stage, k);
    for (int j = 0; j < 3; j++) out[j] = -snw_vector_dot(nv, of + (size_t)j * (size_t)nv, mu);
    for (int j = 0; j < ne; j++) {
        out[0] += extra[j] * of[3 * nv + j];
        out[1] += extra[j] * of[3 * nv + ne + j];
    }
}

// Derivatives of the residual of stage i, and its rows of B.
static void stage_rows(snw_adjoint *a, const snw_map *map, int i, double *scratch) {
    static const double one[3] = {1, 1, 1}, two[2] = {1, 2};
    const snw_model *m = a->m;
    const snw_collocation *c = &map->points;
    const size_t nv = (size_t)m->nv, square = nv * nv;
    const size_t n = (size_t)c->s * (nv + (size_t)adjoint_stage_extra(a));
    double *x = a->stage_x + (size_t)i * nv, *rate = scratch, *acc = scratch + nv;
    double *K = a->stage_K + (size_t)i * square, *D = a->stage_D + (size_t)i * square;
    const double *ddx = map->ddx + (size_t)i * nv;
    snw_state *s = a->stage[i];
    path_at(m, map, c->c[i], c->A[i], c->AA[i], x, rate);
    memcpy(acc, ddx, nv * sizeof *acc);
    snw_step_path_state(m, SNW_CHART_SE3, map->q0, x, rate, acc, s);
    for (int k = 0; k < m->nsignal; k++)
        s->z[k] = map->z_from ? map->z_from[k] + map->h * adjoint_stage_integral(a, map, c->A[i], k)
                              : map->s.z[k];
    s->t = snw_map_stage_time(map, i);
    if (map->stage_lambda)
        memcpy(s->lambda, map->stage_lambda + (size_t)i * (size_t)m->nconstraint,
               (size_t)m->nconstraint * sizeof *s->lambda);
    for (int k = 0; k < m->nnonholonomic && map->stage_dropped; k++)
        s->dropped[k] = map->stage_dropped[k];
    if (m->nbranch > 0) {
        adjoint_stage_strains(m, map, i, s->relaxed);
        memset(s->follow, 0, (size_t)m->nbranch * sizeof *s->follow);
    }
    snw_inputs_at(m, s->t, a->in);
    snw_collocation_impose(m, a->in, s);
    adjoint_tangents(a, s->t, s, false);
    memcpy(K, a->K, square * sizeof *K);
    memcpy(D, a->D, square * sizeof *D);
    keep_given(a, i);
    double *M = a->stage_V + (size_t)i * square; // K at fixed rates later
    memcpy(M, a->M, square * sizeof *M);
    if (m->nlie_block > 0) {
        path_at(m, map, c->c[i], c->A[i], c->AA[i], x, rate);
        snw_chart_jets(m, SNW_CHART_SE3, x, rate, ddx, s, a->chart);
        const double *const all[] = {a->K, a->D, a->M};
        chart_columns(a, all, (const int[]){0, 1, 2}, one, 3, K);
        chart_columns(a, all + 1, (const int[]){0, 1}, two, 2, D);
        chart_columns(a, all + 2, (const int[]){0}, one, 1, M);
    }
    clear_driven(a, K);
    clear_driven(a, D);
    clear_driven(a, M);
    for (size_t k = 0; k < nv; k++) {
        if (a->driven[k]) M[nv * k + k] = 1;
    }
    for (int j = 0; j < c->s; j++) {
        const double cd = map->h * c->A[i][j], ck = map->h * map->h * c->AA[i][j];
        for (size_t col = 0; col < nv; col++) {
            double *to = a->stage_matrix + n * ((size_t)j * nv + col) + (size_t)i * nv;
            for (size_t row = 0; row < nv; row++)
                to[row] = cd * D[nv * col + row] + ck * K[nv * col + row] +
                          (i == j ? M[nv * col + row] : 0);
        }
    }
    stage_memory(a, map, i);
    adjoint_stage_branch_rows(a, map, i);
    adjoint_fix_rates(a, s);
    stage_constraints(a, map, i);
    memcpy(M, a->K, square * sizeof *M);
    clear_driven(a, M);
}

// ---- the step -----------------------------------------------------------------------------------

// y (n) += c x
static void add_scaled(size_t n, double c, const double *x, double *y) {
    for (size_t i = 0; i < n && c != 0; i++) y[i] += c * x[i];
}

// Bars of memory and rates += those through stage j, whose covectors are mu (of the residual) and s
// (of the integrands); returns the derivative by the length, along `slope` of path and rate.
static double memory_back(const snw_adjoint *a, const snw_map *map, int j, const double *mu,
                          const double *s, const double *slope, const snw_bars *b) {
    const snw_collocation *c = &map->points;
    const size_t nv = (size_t)a->m->nv, nm = (size_t)adjoint_stage_memory(a);
    const size_t ne = (size_t)adjoint_stage_extra(a);
    const double *by = a->stage_by + (size_t)j * nm * nm;
    double by_length = 0;
    for (size_t k = 0; k < ne; k++) {
        const double *row = a->stage_row + ((size_t)j * ne + k) * 4 * nv + 2 * nv;
        double z = 0;
        if (k < nm) {
            z = snw_vector_dot((int)nv, a->stage_force + ((size_t)j * nm + k) * nv, mu);
            for (size_t i = 0; i < nm; i++) z += s[i] * by[i * nm + k];
            b->z[k] += z;
        }
        add_scaled(nv, s[k] * c->c[j] * map->h, row, b->rate);
        add_scaled(nv, s[k], row + nv, b->rate);
        if (!adjoint_moves(map)) continue;
        if (k < nm) by_length += z * adjoint_stage_integral(a, map, c->A[j], (int)k);
        by_length += s[k] * (snw_vector_dot((int)nv, row, slope) +
                             snw_vector_dot((int)nv, row + nv, slope + nv));
    }
    return by_length;
}

static void back_scalar(snw_adjoint *a, const snw_map *map, int scalar) {
    const snw_model *m = a->m;
    const snw_collocation *c = &map->points;
    const size_t nv = (size_t)m->nv, nm = (size_t)adjoint_stage_memory(a), end = (size_t)c->s * nv;
    const size_t ne = (size_t)adjoint_stage_extra(a), n = end + (size_t)c->s * ne;
    const double h = map->h;
    snw_bars *b = &a->bars[scalar];
    double *by_x = a->line, *by_rate = by_x + nv, *place = by_rate + nv;
    double *mu = a->stage_mu + (size_t)scalar * n;
    row_of_chart(a, map->s.v, b->place, b->rate, by_x, by_rate);
    // the end of driven coordinates is that of their laws
    for (size_t i = 0; i < nv && m->ndrive > 0; i++) {
        a->covectors[scalar].y[i] = a->driven[i] ? b->place[i] : 0;
        a->covectors[scalar].law_rate[i] = a->driven[i] ? b->rate[i] : 0;
        if (a->driven[i]) by_x[i] = by_rate[i] = b->place[i] = 0;
    }
    double by_length = 0;
    for (int j = 0; j < c->s; j++) {
        for (size_t i = 0; i < nv; i++)
            mu[(size_t)j * nv + i] = h * h * c->bb[j] * by_x[i] + h * c->b[j] * by_rate[i];
        for (size_t k = 0; k < ne; k++)
            mu[end + (size_t)j * ne + k] = k < nm ? h * c->b[j] * b->z[k] : 0;
    }
    adjoint_stage_branch_begin(a, map, scalar, mu);
    snw_lu_solve_transposed((int)n, a->stage_matrix, a->stage_pivot, mu);
    const bool moves = adjoint_moves(map);
    double *slope = place + nv; // of the path by the length: x, then its rate
    if (moves) {
        adjoint_stage_slopes(m, map, 1, c->b, c->bb, slope, slope + nv);
        by_length = snw_vector_dot(m->nv, by_x, slope) + snw_vector_dot(m->nv, by_rate, slope + nv);
        for (size_t k = 0; k < nm; k++)
            by_length += b->z[k] * adjoint_stage_integral(a, map, c->b, (int)k);
    }
    adjoint_carry_back(m, a->stage_x + end, b->place);
    for (size_t i = 0; i < nv; i++) b->rate[i] = h * by_x[i] + by_rate[i];
    for (int j = 0; j < c->s; j++) {
        const size_t at = (size_t)j * nv * nv;
        const double *own = mu + (size_t)j * nv;
        memset(place, 0, nv * sizeof *place);
        adjoint_add_transposed(m->nv, -1, a->stage_V + at, own, place);
        for (size_t k = 0; k < ne; k++)
            add_scaled(nv, mu[end + (size_t)j * ne + k],
                       a->stage_row + ((size_t)j * ne + k) * 4 * nv, place);
        adjoint_carry_back(m, a->stage_x + (size_t)j * nv, place);
        for (size_t i = 0; i < nv; i++) b->place[i] += place[i];
        if (moves) {
            adjoint_stage_slopes(m, map, c->c[j], c->A[j], c->AA[j], slope, slope + nv);
            by_length -= form(m->nv, own, a->stage_K + at, slope) +
                         form(m->nv, own, a->stage_D + at, slope + nv);
        }
        by_length += memory_back(a, map, j, own, mu + end + (size_t)j * ne, slope, b);
        adjoint_add_transposed(m->nv, -c->c[j] * h, a->stage_K + at, own, b->rate);
        adjoint_add_transposed(m->nv, -1, a->stage_D + at, own, b->rate);
    }
    by_length += adjoint_stage_branch_back(a, map, scalar, mu);
    memset(b->integrand, 0, nm * sizeof *b->integrand);
    a->by_own[scalar] = by_length;
    a->by_before[scalar] = 0;
}

snw_status adjoint_stages_prepare(snw_adjoint *a, const snw_map *map, snw_error *err) {
    const snw_model *m = a->m;
    const snw_collocation *c = &map->points;
    if (stages_create(a, c->s) != SNW_OK) return snw_fail_memory(err);
    const int n = c->s * (m->nv + adjoint_stage_extra(a)), end = c->s * m->nv;
    double *scratch = a->line;
    a->half = 0;
    adjoint_find_driven(a, map);
    clear_columns(a, map);
    for (int i = 0; i < c->s; i++) stage_rows(a, map, i, scratch);
    if (snw_lu_factor(n, a->stage_matrix, a->stage_pivot) != SNW_OK)
        return snw_fail(err, SNW_E_SINGULAR,
                        "there is no derivative at t = %g s: the matrix of the step is singular",
                        map->s.t);
    path_at(m, map, 1, c->b, c->bb, a->stage_x + end, scratch);
    if (m->nlie_block > 0)
        snw_chart_jets(m, SNW_CHART_SE3, a->stage_x + end, scratch, map->ddx, &map->s, a->chart);
    return SNW_OK;
}

snw_status adjoint_stages_back(snw_adjoint *a, const snw_map *map, snw_error *err) {
    SNW_TRY(adjoint_stages_prepare(a, map, err));
    for (int i = 0; i < a->nscalar; i++) back_scalar(a, map, i);
    return SNW_OK;
}

const snw_state *adjoint_stage_state(snw_sampler *x, const snw_map *map, int i,
                                     const snw_state *s) {
    if (x->m->ndrive == 0 && x->m->nbranch == 0) return s;
    snw_state_copy(x->m, s, x->s);
    snw_collocation_impose(x->m, x->in, x->s);
    if (x->m->nbranch > 0) adjoint_stage_strains(x->m, map, i, x->s->relaxed);
    return x->s;
}

void adjoint_stage_end(snw_sampler *x, const snw_map *map) {
    snw_inputs_at(x->m, map->t_laws + x->shift, x->in);
    (void)adjoint_stage_state(x, map, map->points.s, &map->s);
}

void adjoint_stages_sample(const snw_adjoint *a, const snw_map *map, snw_sampler *x,
                           double *value) {
    const snw_model *m = x->m;
    const size_t nv = (size_t)m->nv, nm = (size_t)adjoint_stage_memory(a);
    const size_t ne = (size_t)adjoint_stage_extra(a), end = (size_t)map->points.s * nv;
    const size_t n = end + (size_t)map->points.s * ne;
    for (int j = 0; j < a->nscalar; j++) value[j] = 0;
    for (int i = 0; i < map->points.s; i++) {
        if (x->stage > 0 && i != x->stage - 1) continue;
        snw_inputs_at(m, snw_map_stage_time(map, i) + x->shift, x->in);
        snw_residual(m, x->in, adjoint_stage_state(x, map, i, a->stage[i]), false, x->w);
        adjoint_integrands(m, x->in, x->w, x->integrand);
        for (int j = 0; j < a->nscalar; j++) {
            const double *mu = a->stage_mu + (size_t)j * n;
            value[j] += snw_vector_dot(m->nv, mu + (size_t)i * nv, x->w->r) -
                        snw_vector_dot((int)nm, mu + end + (size_t)i * ne, x->integrand);
            for (size_t k = nm; k < ne; k++)
                value[j] -= mu[end + (size_t)i * ne + k] *
                            x->w->violation[adjoint_stage_row(m, (int)(k - nm))];
        }
    }
    if (m->nbranch > 0 && x->stage == 0) {
        double *strain = x->integrand + m->nsignal;
        adjoint_stage_strains(m, map, map->points.s, strain);
        for (int j = 0; j < a->nscalar; j++)
            value[j] -= snw_vector_dot(m->nbranch_coordinate, a->covectors[j].branch, strain);
    }
    if (m->ndrive == 0 || (x->stage > 0 && x->stage != map->points.s + 1)) return;
    adjoint_stage_end(x, map);
    for (int j = 0; j < a->nscalar; j++) {
        const snw_covectors *c = &a->covectors[j];
        for (int k = 0; k < m->ndrive; k++) {
            const snw_drive *d = &m->drive[k];
            value[j] -= c->y[d->dof] * x->s->q[d->q] + c->law_rate[d->dof] * x->s->v[d->dof];
        }
    }
}
