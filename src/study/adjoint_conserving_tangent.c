// SPDX-License-Identifier: MIT
//
// Written tangents of a step of the conserving scheme, theory.md (7.5.22). With P = M v and the
// derivative Q of P by places, the inertia forces at zero acceleration are G = Q v - T_q, and so
// the forces of a step F + D v - T_q = r(q_m, v, 0) - Q v have the derivatives
//
//     by places  K - Q',   by velocities  D - D_G - Q^T,   T_qq = Q' - K_G,
//
// K, D those of the residual r, K_G, D_G of G, Q' the derivative of Q along v, which is a
// difference of order 4 of four tangents: the second derivatives of M are in no written tangent.
// The conservative forces in motion are those at rest and G, so that the tangents of the other
// forces are K - K_c - K_G and D - D_G.
#include "study/adjoint_conserving_private.h"

#include "base/fail.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// Of places along v in the difference of Q, typical: errors of 10^-13 by order and by rounding.
static const double along = 1e-3;

// Matrices: forces of the step by places and velocities; Q, M at the middle, the start and the end
// (M there as factors); T_qq; conservative forces by places, other forces by both.
enum { FORCE_K, FORCE_D, MID_Q, MID_M, START_Q, START_M, END_Q, END_M, HESSIAN, STATIC_K, HEAT_K };
enum { HEAT_D = CONSERVED_TANGENTS - 1 };
// Vectors: T_q at the middle and the end; conservative forces at the middle, gradient of the
// potential at the end; other forces; variations.
enum { MID_T, END_T, STATIC_F, END_U, HEAT_F, VARY_P, VARY_P0, VARY_P1, VARY_M, VARY_V };

static double *matrix_of(const snw_model *m, const adjoint_conserved *o, int k) {
    return o->tangent + (size_t)k * (size_t)m->nv * (size_t)m->nv;
}

static double *line_of(const snw_model *m, const adjoint_conserved *o, int k) {
    return o->line + (size_t)k * (size_t)m->nv;
}

bool conserved_tangent_applies(const snw_model *m) {
    return m->nlie_block == 0 && m->nconstraint == 0 && m->ncontact_point == 0 &&
           m->ntouching_rod == 0 && m->nlive == 0 && m->nconditional == 0 &&
           snw_part_model_applies(m);
}

snw_status conserved_tangent_create(const snw_model *m, adjoint_conserved *o) {
    if (!conserved_tangent_applies(m) || o->c->moving) return SNW_OK;
    SNW_TRY(snw_inputs_create(m, &o->part_in));
    SNW_TRY(snw_state_create(m, &o->still));
    SNW_TRY(snw_part_model_create(m, SNW_PART_CONSERVATIVE, &o->conservative));
    return snw_part_model_create(m, SNW_PART_IMPULSE, &o->inertia);
}

void conserved_tangent_destroy(adjoint_conserved *o) {
    snw_inputs_destroy(o->part_in);
    snw_state_destroy(o->still);
    snw_part_model_destroy(o->conservative);
    snw_part_model_destroy(o->inertia);
}

// o->still <- the configuration q with velocities and accelerations (NULL: zero)
static void place(const snw_model *m, const adjoint_conserved *o, const double *q, const double *v,
                  const double *a) {
    const size_t bytes = (size_t)m->nv * sizeof(double);
    snw_state_copy(m, o->c->mid, o->still);
    memcpy(o->still->q, q, (size_t)m->nq * sizeof *q);
    memset(o->still->v, 0, bytes);
    memset(o->still->a, 0, bytes);
    if (v) memcpy(o->still->v, v, bytes);
    if (a) memcpy(o->still->a, a, bytes);
}

// Residual of a part at o->still, in c->w->r, and its tangents by places, velocities and
// accelerations unless NULL.
static void tangents(const adjoint_conserved *o, const snw_model *part, const snw_inputs *in,
                     bool is_static, double *K, double *D, double *M) {
    snw_work *w = o->c->w;
    snw_residual(part, in, o->still, is_static, w);
    if (!K && !D && !M) return;
    snw_tangent_pass(part, NULL, w);
    if (K) snw_tangent_assemble(part, in, 1, 0, 0, w, K);
    if (D) snw_tangent_assemble(part, in, 0, 1, 0, w, D);
    if (M) snw_tangent_assemble(part, in, 0, 0, 1, w, M);
}

// y (n) <- A x, or A'x
static void multiply(int n, const double *A, bool transposed, const double *x, double *y) {
    if (!transposed) memset(y, 0, (size_t)n * sizeof *y);
    for (int k = 0; k < n; k++) {
        const double *column = A + (size_t)n * (size_t)k;
        if (transposed) {
            y[k] = snw_vector_dot(n, column, x);
        } else {
            for (int i = 0; i < n; i++) y[i] += column[i] * x[k];
        }
    }
}

// T_q (nv) <- Q v - G at q with velocities v; Q is known
static void kinetic_slope(const snw_model *m, const adjoint_conserved *o, const double *q,
                          const double *v, const double *Q, double *out) {
    place(m, o, q, v, NULL);
    tangents(o, &o->inertia->m, o->part_in, false, NULL, NULL, NULL);
    multiply(m->nv, Q, false, v, out);
    for (int i = 0; i < m->nv; i++) out[i] -= o->c->w->r[i];
}

// out <- derivative of Q at the middle along the velocities v
static void find_momentum_rate(const snw_model *m, const adjoint_conserved *o, double *out) {
    static const double weight[] = {2.0 / 3, -1.0 / 12};
    const size_t nv = (size_t)m->nv, all = nv * nv;
    const double *v = o->c->mid->v;
    double *Q = o->c->T, *unit = line_of(m, o, VARY_P), size = 0;
    memset(out, 0, all * sizeof *out);
    for (int i = 0; i < m->nv; i++) size = fmax(size, fabs(v[i]) / m->typical[i]);
    if (!(size > 0)) return; // Q is linear in v
    const double step = along / size;
    memcpy(unit, v, nv * sizeof *unit);
    for (int k = 1; k <= 2; k++) {
        for (int side = -1; side < 2; side += 2) {
            snw_move(m, o->c->mid->q, side * k * step, unit, o->q);
            place(m, o, o->q, NULL, v);
            tangents(o, &o->inertia->m, o->part_in, false, Q, NULL, NULL);
            const double c = side * weight[k - 1] / step;
            for (size_t i = 0; i < all; i++) out[i] += c * Q[i];
        }
    }
}

bool conserved_tangent_find(const snw_model *m, adjoint_conserved *o, const snw_map *map) {
    snw_conserving *c = o->c;
    const size_t nv = (size_t)m->nv, bytes = nv * sizeof(double);
    if (!o->inertia) return false;
    snw_inputs_at(m, map->gravity_laws, o->part_in);
    const snw_vec3 change = snw_sub(o->part_in->gravity, c->in->gravity);
    if (snw_dot(change, change) > 0) return false;
    const snw_model *inertia = &o->inertia->m, *conservative = &o->conservative->m;
    const double *v = c->mid->v;
    double *K = matrix_of(m, o, FORCE_K), *D = matrix_of(m, o, FORCE_D);
    double *KG = c->T, *DG = c->E, *force = line_of(m, o, HEAT_F);
    snw_part_inputs(m, c->in, SNW_PART_CONSERVATIVE, o->part_in);
    // conservative forces at rest; potential at the end
    place(m, o, c->end->q, NULL, NULL);
    tangents(o, conservative, o->part_in, true, NULL, NULL, NULL);
    memcpy(line_of(m, o, END_U), c->w->r, bytes);
    place(m, o, c->mid->q, NULL, NULL);
    tangents(o, conservative, o->part_in, true, matrix_of(m, o, STATIC_K), NULL, NULL);
    memcpy(line_of(m, o, STATIC_F), c->w->r, bytes);
    place(m, o, c->mid->q, v, NULL);
    tangents(o, m, c->in, false, K, D, NULL);
    memcpy(force, c->w->r, bytes);
    // inertia
    snw_part_inputs(m, c->in, SNW_PART_IMPULSE, o->part_in);
    place(m, o, c->mid->q, NULL, v);
    tangents(o, inertia, o->part_in, false, matrix_of(m, o, MID_Q), NULL, matrix_of(m, o, MID_M));
    place(m, o, c->now->q, NULL, c->now->v);
    tangents(o, inertia, o->part_in, false, matrix_of(m, o, START_Q), NULL,
             matrix_of(m, o, START_M));
    place(m, o, c->end->q, NULL, c->end->v);
    tangents(o, inertia, o->part_in, false, matrix_of(m, o, END_Q), NULL, matrix_of(m, o, END_M));
    kinetic_slope(m, o, c->end->q, c->end->v, matrix_of(m, o, END_Q), line_of(m, o, END_T));
    double *S = matrix_of(m, o, HESSIAN), *T = line_of(m, o, MID_T);
    find_momentum_rate(m, o, S);
    place(m, o, c->mid->q, v, NULL);
    tangents(o, inertia, o->part_in, false, KG, DG, NULL);
    // S is the derivative of Q, then T_qq
    const double *Q = matrix_of(m, o, MID_Q), *static_K = matrix_of(m, o, STATIC_K);
    const double *F = line_of(m, o, STATIC_F);
    double *heat_K = matrix_of(m, o, HEAT_K), *heat_D = matrix_of(m, o, HEAT_D);
    for (size_t j = 0, at = 0; j < nv; j++) {
        for (size_t i = 0; i < nv; i++, at++) {
            heat_K[at] = K[at] - static_K[at] - KG[at];
            heat_D[at] = D[at] - DG[at];
            K[at] -= S[at];
            D[at] = heat_D[at] - Q[i * nv + j];
            S[at] -= KG[at];
        }
    }
    multiply(m->nv, Q, false, v, T);
    for (size_t i = 0; i < nv; i++) {
        force[i] -= F[i] + c->w->r[i];
        T[i] -= c->w->r[i];
    }
    return snw_cholesky_factor(m->nv, matrix_of(m, o, END_M)) == SNW_OK;
}

// y (nv) += c times column k of A
static void add_column(const snw_model *m, double c, const double *A, int k, double *y) {
    const double *column = A + (size_t)m->nv * (size_t)k;
    for (int i = 0; i < m->nv && c != 0; i++) y[i] += c * column[i];
}

const double *conserved_tangent_column(const snw_model *m, const adjoint_conserved *o, double h,
                                       conserved_variable of, int k) {
    const snw_conserving *c = o->c;
    const int nv = m->nv;
    const bool increment = of == BY_INCREMENT, rate = of == BY_RATE;
    // variations of the places at the start, the middle and the end, of the mean velocity and of
    // the velocity at the start, along coordinate k
    const double at0 = of == BY_PLACE ? 1 : 0, at = increment ? 0.5 : at0, at1 = rate ? 0 : 1,
                 by_v = increment ? 1 / h : 0;
    double *out = o->sample + o->at.n, *P = line_of(m, o, VARY_P), *p0 = line_of(m, o, VARY_P0),
           *p1 = line_of(m, o, VARY_P1), *middle = line_of(m, o, VARY_M),
           *v1 = line_of(m, o, VARY_V);
    const double *T = line_of(m, o, MID_T), *U1 = line_of(m, o, END_U), *T1 = line_of(m, o, END_T),
                 *F = line_of(m, o, STATIC_F), *heat = line_of(m, o, HEAT_F), *d = c->d;
    memset(out, 0, (size_t)o->at.n * sizeof *out);
    memset(P, 0, (size_t)(VARY_V + 1 - VARY_P) * (size_t)nv * sizeof *P);
    add_column(m, at, matrix_of(m, o, MID_Q), k, P);
    add_column(m, by_v, matrix_of(m, o, MID_M), k, P);
    add_column(m, at0, matrix_of(m, o, START_Q), k, p0);
    add_column(m, rate ? 1 : 0, matrix_of(m, o, START_M), k, p0);
    for (int i = 0; i < nv; i++) v1[i] = p1[i] = 2 * P[i] - p0[i];
    add_column(m, -at1, matrix_of(m, o, END_Q), k, v1);
    snw_cholesky_solve(nv, matrix_of(m, o, END_M), v1);
    memcpy(out + o->at.rate, v1, (size_t)nv * sizeof *v1);
    // residual without theta; its correction
    double *r = out + o->at.residual;
    for (int i = 0; i < nv; i++) r[i] = 2 / h * (P[i] - p0[i]);
    add_column(m, at, matrix_of(m, o, FORCE_K), k, r);
    add_column(m, by_v, matrix_of(m, o, FORCE_D), k, r);
    if (increment) {
        out[o->at.correction + k] = c->weight[k];
        out[o->at.length] = 2 * c->weight[k] * d[k];
    }
    // gain: E_1 - d'(p_1 - p_0)/h + d'T_q - d'F, conservative forces alone
    const double *Q = matrix_of(m, o, MID_Q);
    add_column(m, at, matrix_of(m, o, HESSIAN), k, middle);
    add_column(m, -at, matrix_of(m, o, STATIC_K), k, middle);
    for (int i = 0; i < nv; i++) middle[i] += by_v * Q[(size_t)nv * (size_t)i + (size_t)k]; // Q'
    double gain = at1 * (U1[k] - T1[k]) + (increment ? T[k] - F[k] : 0);
    for (int i = 0; i < nv; i++)
        gain += c->end->v[i] * p1[i] + d[i] * (middle[i] - 2 / h * (P[i] - p0[i]));
    if (increment) gain -= 2 / h * (c->P[k] - c->p0[k]);
    out[o->at.gain] = gain;
    // reference energy: less the work of the other forces on d
    double energy = increment ? -heat[k] : 0;
    memset(middle, 0, (size_t)nv * sizeof *middle);
    add_column(m, at, matrix_of(m, o, HEAT_K), k, middle);
    add_column(m, by_v, matrix_of(m, o, HEAT_D), k, middle);
    out[o->at.energy] = energy - snw_vector_dot(nv, d, middle);
    return out;
}
