// SPDX-License-Identifier: MIT
//
// Written tangents of a step of the conserving scheme, theory.md (7.5.21a). With P = M v
// and the derivative Q of P by places at fixed v, the kinetic energy has T_q = Q^T v/2, and the
// inertia forces at zero acceleration are G = Q v - T_q - ad_v^T P; ad_v is that of the spherical
// and free joints, of which all derivatives by places are body twists at fixed body velocities. So
// the forces of a step F + D v - T_q = r(q_m, v, 0) - Q v + ad_v^T P have the derivatives
//
//     by places  K - Q' + Q ad_v + ad_v^T Q,   by velocities  D - D_G - Q^T,
//     T_qq = Q' - Q ad_v - ad_v^T Q - K_G,
//
// K, D those of the residual r, K_G, D_G of G, Q' the derivative of Q along v, which is a
// difference of order 4 of four tangents: the second derivatives of M are in no written tangent.
// The conservative forces in motion are those at rest and G, so that the tangents of the other
// forces are K - K_c - K_G and D - D_G.
//
// A contact point has the mean force N of its ends, (7.5.51): the tangents above are those at fixed
// N, to which its change by the gaps at both ends is added.
//
// Rods that touch rods act by their forces at the middle, which K has; the correction by them has
// the force f = sum sqrt(2 k W) of both ends, whose derivatives are -k Q/sqrt(2 k W) with their
// generalised forces Q there, and enters like that of a contact point without forces of its own.
//
// Loops have forces -C^T lambda at the middle, which are conservative ones here, and at the end an
// impulse C^T pi for which C v_1 = 0. Its derivative by places is C' + C ad at fixed v_1, C' that
// of the rows along v_1, a difference of order 4.
#include "study/adjoint_conserving_private.h"

#include "base/fail.h"
#include "dynamics/constraint.h"
#include "dynamics/contact.h"
#include "dynamics/rod_contact.h"
#include "integrate/lie_block.h"
#include "math/stumpff.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

// Of places along v in the difference of Q, typical: errors of 10^-13 by order and by rounding.
static const double nudge = 1e-3;
// Of places in the differences of the correction by contacts, typical.
static const double nearby = 1e-4;

// Matrices: forces of the step by places and velocities; Q, M at the middle, the start and the end
// (M there as factors); T_qq; conservative forces by places, other forces by both; weight over the
// arc of the step (6.3) by places at the middle and by increments.
enum { FORCE_K, FORCE_D, MID_Q, MID_M, START_Q, START_M, END_Q, END_M, HESSIAN, STATIC_K, HEAT_K };
// AGAINST_Q, AGAINST: correction by contacts, by places at fixed velocities, and by increments.
enum { HEAT_D = HEAT_K + 1, ARC_K, ARC_D, AGAINST_Q, AGAINST };
_Static_assert(AGAINST == CONSERVED_TANGENTS - 1, "matrices of the written tangents");
// Vectors: T_q at the middle and the end; conservative forces at the middle, gradient of the
// potential at the end; other forces; change of gravity at the start; momenta at the end and at
// the start, transported to the middle; variations.
// END_W: the momenta at the end, with the impulse, by places, times v_1.
enum { MID_T, END_T, END_W, STATIC_F, END_U, HEAT_F, START_U, MOMENTUM_1, MOMENTUM_0 };
enum { VARY_P = MOMENTUM_0 + 1, VARY_P0, VARY_P1, VARY_M, VARY_V, CONTACT_C };
_Static_assert(CONTACT_C == CONSERVED_LINES - 1, "vectors of the written tangents");
// Of a contact point: gradients of the gap at the start and the end, elastic and whole force at the
// middle and correction per force N; then derivatives of N by both gaps, length of the correction.
enum { GAP_0, GAP_1, ELASTIC, WHOLE, CORRECTION };
enum { SLOPE_0, SLOPE_1, LENGTH };
_Static_assert(CORRECTION == CONSERVED_CONTACT - 1 && LENGTH == CONSERVED_SLOPES - 1,
               "numbers of a contact point");

static double *matrix_of(const snw_model *m, const adjoint_conserved *o, int k) {
    return o->tangent + (size_t)k * (size_t)m->nv * (size_t)m->nv;
}

// Rows of the constraints (nconstraint x nv): at the middle, at the end; the derivative of C v_1
// there by places at fixed velocities; that of rows of velocities (wheels) at the middle.
enum { MID_C, END_C, RATE_C, MID_R };
_Static_assert(MID_R == CONSERVED_ROWS - 1, "rows of the written tangents");

static double *rows_of(const snw_model *m, const adjoint_conserved *o, int k) {
    return o->rows + (size_t)k * (size_t)m->nconstraint * (size_t)m->nv;
}

static double *line_of(const snw_model *m, const adjoint_conserved *o, int k) {
    return o->line + (size_t)k * (size_t)m->nv;
}

static bool contacts_apply(const snw_model *m) {
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point *p = &m->contact_point[k];
        if (p->wheel || p->span > 0 || m->contact[p->contact].hard) return false;
    }
    return true;
}

// Are all variables of first order among the signals with Jacobians?
static bool memory_applies(const snw_model *m) {
    for (int i = 0; i < m->nsignal; i++) {
        bool live = !snw_signal_grows(&m->signal[i]);
        for (int k = 0; k < m->nlive; k++) live |= m->live[k] == i;
        if (!live) return false;
    }
    return true;
}

bool conserved_tangent_applies(const snw_model *m) {
    return memory_applies(m) && contacts_apply(m) && snw_part_model_applies(m, true);
}

snw_status conserved_tangent_create(const snw_model *m, adjoint_conserved *o) {
    if (!conserved_tangent_applies(m)) return SNW_OK;
    SNW_TRY(snw_inputs_create(m, &o->part_in));
    SNW_TRY(snw_state_create(m, &o->still));
    SNW_TRY(snw_part_model_create(m, SNW_PART_CONSERVATIVE, &o->conservative));
    SNW_TRY(snw_part_model_create(m, SNW_PART_IMPULSE, &o->inertia));
    o->inertia->m.ntouching_rod = 0;
    return SNW_OK;
}

void conserved_tangent_destroy(adjoint_conserved *o) {
    snw_inputs_destroy(o->part_in);
    snw_state_destroy(o->still);
    snw_part_model_destroy(o->conservative);
    snw_part_model_destroy(o->inertia);
}

// ---- matrices -----------------------------------------------------------------------------------

// o->still <- the configuration q with velocities and accelerations (NULL: zero), no multipliers
static void place(const snw_model *m, const adjoint_conserved *o, const double *q, const double *v,
                  const double *a) {
    const size_t bytes = (size_t)m->nv * sizeof(double);
    snw_state_copy(m, o->c->mid, o->still);
    memset(o->still->lambda, 0, (size_t)m->nconstraint * sizeof *o->still->lambda);
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

// o->still gets the multipliers
static void give_multipliers(const snw_model *m, const adjoint_conserved *o, const double *lambda) {
    memcpy(o->still->lambda, lambda, (size_t)m->nconstraint * sizeof *lambda);
}

// out (nv x nv) += c A ad_v, on the columns of the spherical and free joints
static void add_times_ad(const snw_model *m, double c, const double *A, const double *v,
                         double *out) {
    const size_t nv = (size_t)m->nv;
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        double ad[36];
        adjoint_block_ad(b, v, ad);
        for (int k = 0; k < b->n; k++) {
            double *to = out + ((size_t)b->dof + (size_t)k) * nv;
            for (int i = 0; i < b->n; i++) {
                const double *from = A + ((size_t)b->dof + (size_t)i) * nv;
                for (size_t j = 0; j < nv; j++) to[j] += c * ad[6 * k + i] * from[j];
            }
        }
    }
}

// out += c ad_v^T A, on the rows of these joints
static void add_ad_times(const snw_model *m, double c, const double *A, const double *v,
                         double *out) {
    const size_t nv = (size_t)m->nv;
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        double ad[36];
        adjoint_block_ad(b, v, ad);
        for (size_t j = 0; j < nv; j++) {
            const double *from = A + j * nv + b->dof;
            double *to = out + j * nv + b->dof;
            for (int k = 0; k < b->n; k++) {
                for (int i = 0; i < b->n; i++) to[k] += c * ad[6 * k + i] * from[i];
            }
        }
    }
}

void conserved_momentum_inputs(const snw_model *m, const snw_inputs *in, double along,
                               snw_inputs *to) {
    snw_part_inputs(m, in, SNW_PART_IMPULSE, to);
    for (int i = 0; i < m->npose; i++) {
        const snw_twist u = in->pose_u[i];
        if (along != 0)
            to->pose[i] = snw_se3_mul(in->pose[i], snw_se3_exp(snw_twist_scale(along, u)));
        to->pose_du[i] = u;
        to->pose_u[i] = (snw_twist){0};
    }
}

double conserved_along(const snw_model *m, const snw_inputs *in, const double *v) {
    double size = 0;
    for (int i = 0; i < m->nv; i++) size = fmax(size, fabs(v[i]) / m->typical[i]);
    for (int i = 0; i < m->npose; i++) {
        const snw_twist u = in->pose_u[i];
        size = fmax(size, fmax(snw_norm(u.w), snw_norm(u.v) / m->length));
    }
    return size > 0 ? nudge / size : 0;
}

// Q, M <- momenta at q with the velocities v by places at fixed velocities, and the mass matrix;
// o->part_in has their inputs
static void momentum_tangents(const snw_model *m, const adjoint_conserved *o, const double *q,
                              const double *v, double *Q, double *M) {
    place(m, o, q, NULL, v);
    tangents(o, &o->inertia->m, o->part_in, false, Q, NULL, M);
    add_times_ad(m, -1, M, v, Q);
}

// out <- derivative of Q at the middle along the velocities v and those of moving bases
static void find_momentum_rate(const snw_model *m, const adjoint_conserved *o, double *out) {
    static const double weight[] = {2.0 / 3, -1.0 / 12};
    const size_t nv = (size_t)m->nv, all = nv * nv;
    const double *v = o->c->mid->v, step = conserved_along(m, o->c->in, v);
    double *Q = o->c->T, *M = o->c->E;
    memset(out, 0, all * sizeof *out);
    if (step == 0) return; // Q is linear in the velocities
    for (int k = 1; k <= 2; k++) {
        for (int side = -1; side < 2; side += 2) {
            snw_move(m, o->c->mid->q, side * k * step, v, o->q);
            conserved_momentum_inputs(m, o->c->in, side * k * step, o->part_in);
            momentum_tangents(m, o, o->q, v, Q, M);
            const double c = side * weight[k - 1] / step;
            for (size_t i = 0; i < all; i++) out[i] += c * Q[i];
        }
    }
}

// out <- c A^T v
static void times_velocities(const snw_model *m, double c, const double *A, const double *v,
                             double *out) {
    for (int k = 0; k < m->nv; k++)
        out[k] = c * snw_vector_dot(m->nv, A + (size_t)m->nv * (size_t)k, v);
}

// ---- constraints --------------------------------------------------------------------------------

// out (nconstraint x nv) <- rows at the configuration q under the inputs
static void find_rows(const snw_model *m, const adjoint_conserved *o, const snw_inputs *in,
                      const double *q, double *out) {
    const size_t nv = (size_t)m->nv;
    double *unit = o->c->dx;
    place(m, o, q, NULL, NULL);
    snw_kinematics(&o->inertia->m, in, o->still, false, o->c->w);
    snw_jacobian_pass(m, o->c->w);
    snw_constraints_jacobian(m, o->c->w);
    memset(out, 0, (size_t)m->nconstraint * nv * sizeof *out);
    memset(unit, 0, (size_t)m->nconstraint * sizeof *unit);
    for (int k = 0; k < m->nconstraint; k++) {
        unit[k] = 1;
        snw_constraints_apply_transpose(m, o->c->w, unit, out + (size_t)k * nv);
        unit[k] = 0;
    }
}

// to (nv) -= row ad_v, on the columns of the spherical and free joints
static void subtract_turning(const snw_model *m, const double *row, const double *v, double *to) {
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        double ad[36];
        adjoint_block_ad(b, v, ad);
        for (int i = 0; i < b->n; i++) {
            for (int j = 0; j < b->n; j++) to[b->dof + i] -= row[b->dof + j] * ad[6 * i + j];
        }
    }
}

// Rows of velocities (wheels), which are `rows` times the velocities v, by places at fixed v, at
// the configuration q under the inputs; other rows of `out` stay.
static void find_rates_of_wheels(const snw_model *m, const adjoint_conserved *o,
                                 const snw_inputs *in, const double *q, const double *v,
                                 const double *rows, double *out) {
    const size_t nv = (size_t)m->nv;
    snw_work *w = o->c->w;
    if (m->nnonholonomic == 0) return;
    place(m, o, q, v, NULL);
    w->velocity_time = 1;
    tangents(o, &o->inertia->m, in, false, o->c->T, NULL, NULL);
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, w, k);
        double *to = out + (size_t)k * nv;
        if (c.R == c.C || c.inactive) continue;
        memset(to, 0, nv * sizeof *to);
        for (int j = 0; j < c.n; j++) to[c.dof[j]] += c.R[j];
        subtract_turning(m, rows + (size_t)k * nv, v, to);
    }
}

// The rows, and END_Q with the impulse at the end
static void find_constraints(const snw_model *m, const adjoint_conserved *o) {
    static const double weight[] = {2.0 / 3, -1.0 / 12};
    const snw_conserving *c = o->c;
    const size_t nr = (size_t)m->nconstraint, all = nr * (size_t)m->nv;
    const double *v = c->end->v, step = conserved_along(m, c->last, v);
    double *rate = rows_of(m, o, RATE_C), *rows = rows_of(m, o, MID_C), *end = rows_of(m, o, END_C);
    if (nr == 0) return;
    memset(rate, 0, all * sizeof *rate);
    for (int j = -2; j <= 2 && step > 0; j++) {
        if (j == 0) continue;
        const double by = j < 0 ? -weight[-j - 1] : weight[j - 1];
        snw_move(m, c->end->q, j * step, v, o->q);
        conserved_momentum_inputs(m, c->last, j * step, o->part_in);
        find_rows(m, o, o->part_in, o->q, rows);
        for (size_t i = 0; i < all; i++) rate[i] += by / step * rows[i];
    }
    find_rows(m, o, c->last, c->end->q, end);
    for (size_t k = 0; k < all; k += (size_t)m->nv) subtract_turning(m, end + k, v, rate + k);
    find_rates_of_wheels(m, o, c->last, c->end->q, v, end, rate);
    find_rows(m, o, c->in, c->mid->q, rows);
    find_rates_of_wheels(m, o, c->in, c->mid->q, c->mid->v, rows, rows_of(m, o, MID_R));
    place(m, o, c->end->q, NULL, v);
    give_multipliers(m, o, c->S + nr * nr);
    conserved_momentum_inputs(m, c->last, 0, o->part_in);
    tangents(o, &o->inertia->m, o->part_in, false, matrix_of(m, o, END_Q), NULL, NULL);
    add_times_ad(m, -1, matrix_of(m, o, END_M), v, matrix_of(m, o, END_Q));
}

// ---- weight over the arc of the step ------------------------------------------------------------

// Torque on a root by the weight `down` (in its axes) of a mass with the first moment S about it,
// minus that of conserving_forces.c.
static snw_vec3 arc_torque(snw_twist d, double mass, snw_vec3 S, snw_vec3 down) {
    double stumpff[SNW_STUMPFF_MAX];
    snw_stumpff(0.25 * snw_dot(d.w, d.w), 3, stumpff);
    const snw_vec3 path = snw_add(snw_scale(mass, d.v), snw_cross(d.w, S));
    return snw_scale(-0.25 * stumpff[3], snw_cross(snw_cross(d.w, path), down));
}

// ARC_K, ARC_D of a root, STATIC_F += its torque; c->w has the motion of the middle with Jacobians.
static void find_arc(const snw_model *m, const adjoint_conserved *o, const snw_block *b) {
    const snw_conserving *c = o->c;
    const snw_work *w = c->w;
    const size_t nv = (size_t)m->nv;
    const snw_se3 g = w->g[b->seg];
    const snw_twist d = snw_lie_block_twist(b, 1, c->d);
    const snw_vec3 down = snw_rotate_inv(g.R, c->in->gravity);
    double *K = matrix_of(m, o, ARC_K), *D = matrix_of(m, o, ARC_D), mass = 0;
    double *moved = line_of(m, o, VARY_P); // 3 x nv <- change of S by places, with the root fixed
    snw_vec3 S = {{0}};
    memset(moved, 0, 3 * nv * sizeof *moved);
    for (int s = 1; s < m->nseg; s++) {
        const snw_path *path = &m->path[m->seg[s].path];
        if (!snw_seg_has_mass(m, w, s) || path->n == 0 || path->dof[0] != b->dof) continue;
        const snw_inertia *M = &m->seg[s].M;
        const snw_se3 h = snw_se3_mul(snw_se3_inv(g), w->g[s]);
        const double *J = w->J + m->seg_store[s];
        mass += M->m;
        S = snw_add(S, snw_add(snw_scale(M->m, h.p), snw_rotate(h.R, M->mc)));
        for (int j = 0; j < path->n; j++) {
            snw_twist x;
            for (int i = 0; i < 6; i++) x.e[i] = J[(size_t)i * (size_t)path->ld + (size_t)j];
            const snw_vec3 p =
                snw_rotate(h.R, snw_add(snw_scale(M->m, x.v), snw_cross(x.w, M->mc)));
            for (int i = 0; i < 3; i++) moved[3 * path->dof[j] + i] += p.e[i];
        }
    }
    const snw_vec3 torque = arc_torque(d, mass, S, down);
    for (int i = 0; i < 3; i++) line_of(m, o, STATIC_F)[b->dof + i] += torque.e[i];
    for (size_t k = 0; k < nv; k++) { // places
        snw_vec3 by = {{moved[3 * k], moved[3 * k + 1], moved[3 * k + 2]}}, turned = {{0}};
        const int own = (int)k - b->dof;
        if (own >= 0 && own < b->n) { // the root itself: axes turn, its place is subtracted
            const snw_twist e = snw_twist_unit(own);
            by = snw_sub(by, snw_add(snw_cross(e.w, S), snw_scale(mass, e.v)));
            turned = snw_cross(down, e.w);
        }
        const snw_vec3 f = snw_add(arc_torque(d, 0, by, down), arc_torque(d, mass, S, turned));
        for (int i = 0; i < 3; i++) K[k * nv + (size_t)(b->dof + i)] = f.e[i];
    }
    for (int k = 0; k < b->n; k++) { // increments, by differences of order 6
        const double step = 1e-2 * (k < 3 ? 1 : m->length);
        double *column = D + (size_t)(b->dof + k) * nv + b->dof;
        for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
            if (j == 0) continue;
            snw_twist at = d;
            at.e[k] += j * step;
            const snw_vec3 f = arc_torque(at, mass, S, down);
            const double by = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / step;
            for (int i = 0; i < 3; i++) column[i] += by * f.e[i];
        }
    }
}

static void find_arcs(const snw_model *m, const adjoint_conserved *o) {
    const size_t bytes = (size_t)m->nv * (size_t)m->nv * sizeof(double);
    if (m->nlie_block == 0) return;
    memset(matrix_of(m, o, ARC_K), 0, bytes);
    memset(matrix_of(m, o, ARC_D), 0, bytes);
    place(m, o, o->c->mid->q, NULL, NULL);
    snw_kinematics(&o->inertia->m, o->c->in, o->still, false, o->c->w);
    snw_jacobian_pass(m, o->c->w);
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        if (snw_lie_block_is_root(m, b)) find_arc(m, o, b);
    }
}

// ---- contacts -----------------------------------------------------------------------------------

// Vector `of`, and the slopes, of contact i of those that act.
static double *contact_of(const snw_model *m, const adjoint_conserved *o, int i, int of) {
    const size_t nv = (size_t)m->nv;
    return o->contact + (CONSERVED_CONTACT * nv + CONSERVED_SLOPES) * (size_t)i + nv * (size_t)of;
}

static double *slopes_of(const snw_model *m, const adjoint_conserved *o, int i) {
    return contact_of(m, o, i, CONSERVED_CONTACT);
}

// c->w <- the motion at q with velocities v (NULL: zero), and columns
static void move_to(const snw_model *m, const adjoint_conserved *o, const double *q,
                    const double *v) {
    place(m, o, q, v, NULL);
    snw_kinematics(m, o->c->in, o->still, false, o->c->w);
    snw_jacobian_pass(m, o->c->w);
}

// The correction by rods that touch, the last contact of those that act: gradients of the sums of
// forces at both ends.
static void find_touches(const snw_model *m, const adjoint_conserved *o) {
    const snw_conserving *c = o->c;
    const int last = o->nacting - 1;
    double *slope = slopes_of(m, o, last);
    if (!o->touches) return;
    memset(contact_of(m, o, last, ELASTIC), 0, 2 * (size_t)m->nv * sizeof(double)); // and WHOLE
    slope[SLOPE_0] = slope[SLOPE_1] = 1;
    for (int side = 0; side < 2; side++) {
        double *row = contact_of(m, o, last, GAP_0 + side);
        memset(row, 0, (size_t)m->nv * sizeof *row);
        place(m, o, side ? c->end->q : c->now->q, NULL, NULL);
        snw_kinematics(m, side ? c->last : c->in, o->still, true, c->w);
        snw_jacobian_pass(m, c->w);
        for (int i = 0; i < snw_ntouch(m, c->w); i++) {
            const snw_touch *touch = &c->w->touch[i];
            const double f = sqrt(2 * touch->stiffness * touch->energy);
            for (int k = 0; k < 4 && f > 0; k++) {
                const int seg = m->touching_slice[touch->slice[k / 2]].seg[k % 2];
                snw_add_generalised(m, c->w, seg,
                                    snw_wrench_scale(-touch->stiffness / f, touch->on[k]), row);
            }
        }
    }
}

// Gradients of the gaps at both ends, with derivatives of the mean forces by them.
static void find_gaps(const snw_model *m, const adjoint_conserved *o) {
    const snw_conserving *c = o->c;
    for (int side = 0; side < 2; side++) {
        move_to(m, o, side ? c->end->q : c->now->q, NULL);
        for (int k = 0, i = 0; k < m->ncontact_point; k++) {
            if (!(c->mean[k] > 0)) continue;
            const snw_contact_point_work *at = &c->w->contact_point[k];
            double *slope = slopes_of(m, o, i), *row = contact_of(m, o, i++, GAP_0 + side);
            snw_contact_rows(m, c->w, k, c->rows);
            for (int j = 0; j < m->nv; j++) row[j] = at->gradient * c->rows[j];
            slope[side] = at->gap; // until both are known
        }
    }
    for (int k = 0, i = 0; k < m->ncontact_point; k++) {
        if (!(c->mean[k] > 0)) continue;
        double *slope = slopes_of(m, o, i++);
        const double gap[2] = {slope[0], slope[1]};
        slope[SLOPE_0] = snw_conserving_contact_slope(m, k, gap[1], gap[0]);
        slope[SLOPE_1] = snw_conserving_contact_slope(m, k, gap[0], gap[1]);
    }
}

// Forces at the middle per mean force.
static void find_forces(const snw_model *m, const adjoint_conserved *o) {
    const snw_conserving *c = o->c;
    for (int k = 0, i = 0; k < m->ncontact_point; k++) {
        if (!(c->mean[k] > 0)) continue;
        const snw_contact_point_work *at = &c->w->contact_point[k];
        double *elastic = contact_of(m, o, i, ELASTIC), *whole = contact_of(m, o, i++, WHOLE);
        snw_vec3 axis[3];
        snw_contact_rows(m, c->w, k, c->rows);
        snw_contact_axes(c->w, k, axis);
        for (int j = 0; j < m->nv; j++) {
            elastic[j] = at->gradient * c->rows[j];
            whole[j] = 0;
            for (int n = 0; n < 3; n++)
                whole[j] += snw_dot(axis[n], at->f) / c->mean[k] * c->rows[n * m->nv + j];
        }
    }
}

// The correction by contacts: of each per force, and of all by places and increments.
static void find_correction(const snw_model *m, const adjoint_conserved *o, double h) {
    snw_conserving *c = o->c;
    const size_t nv = (size_t)m->nv, bytes = nv * sizeof(double);
    double *by_q = matrix_of(m, o, AGAINST_Q), *by_d = matrix_of(m, o, AGAINST),
           *all = line_of(m, o, CONTACT_C), *sum = line_of(m, o, VARY_P),
           *unit = line_of(m, o, VARY_M);
    memset(all, 0, bytes);
    for (int k = 0, i = 0; k < m->ncontact_point; k++) {
        if (!(c->mean[k] > 0)) continue;
        double *own = contact_of(m, o, i, CORRECTION);
        memset(own, 0, bytes);
        slopes_of(m, o, i++)[LENGTH] = snw_conserving_contact_correction(c, k, h, 1, own);
        for (size_t j = 0; j < nv; j++) all[j] += c->mean[k] * own[j];
    }
    if (o->touches) {
        double *own = contact_of(m, o, o->nacting - 1, CORRECTION);
        memset(own, 0, bytes);
        slopes_of(m, o, o->nacting - 1)[LENGTH] = snw_conserving_pair_correction(c, h, 1, own);
        for (size_t j = 0; j < nv; j++) all[j] += c->pair_force * own[j];
    }
    memset(by_q, 0, nv * bytes);
    for (size_t j = 0; j < nv; j++) {
        const double step = nearby * m->typical[j];
        memset(unit, 0, bytes);
        for (int n = -ADJOINT_SAMPLES; n <= ADJOINT_SAMPLES; n++) {
            if (n == 0) continue;
            const double by = (n < 0 ? -adjoint_weight[-n - 1] : adjoint_weight[n - 1]) / step;
            unit[j] = n * step;
            snw_move(m, c->mid->q, 1, unit, o->q);
            move_to(&o->inertia->m, o, o->q, c->mid->v); // without a search for rods that touch
            memset(sum, 0, bytes);
            (void)snw_conserving_contacts_correction(c, h, sum);
            for (size_t i = 0; i < nv; i++) by_q[j * nv + i] += by * sum[i];
        }
        unit[j] = 1 / h;
        move_to(&o->inertia->m, o, c->mid->q, unit);
        memset(by_d + j * nv, 0, bytes);
        (void)snw_conserving_contacts_correction(c, h, by_d + j * nv);
    }
}

static void find_contacts(const snw_model *m, adjoint_conserved *o, double h) {
    snw_conserving *c = o->c;
    o->nacting = 0;
    for (int k = 0; k < m->ncontact_point; k++) o->nacting += c->mean[k] > 0;
    o->touches = m->ntouching_rod > 0 && o->theta != 0 && c->pair_force > 0;
    o->nacting += o->touches;
    if (o->nacting == 0) return;
    find_touches(m, o);
    find_gaps(m, o);
    c->w->elastic_held = c->mean;
    move_to(m, o, c->mid->q, c->mid->v);
    c->w->elastic_held = NULL;
    find_forces(m, o);
    if (o->theta != 0) find_correction(m, o, h);
}

// ---- a step -------------------------------------------------------------------------------------

// K, D <- tangents of all forces at the middle; signals, which grow by twice their change up to
// there, by places at fixed velocities and by velocities
static void find_forces_and_signals(const snw_model *m, const adjoint_conserved *o, double *K,
                                    double *D) {
    snw_conserving *c = o->c;
    snw_work *w = c->w;
    const size_t rows = (size_t)m->nlive * (size_t)m->nv;
    double *by_v = o->signals + rows;
    snw_residual(m, c->in, o->still, false, w);
    snw_tangent_pass(m, NULL, w);
    snw_tangent_assemble(m, c->in, 1, 0, 0, w, K);
    if (rows) memcpy(o->signals, w->signal_jacobian, rows * sizeof *by_v);
    snw_tangent_assemble(m, c->in, 0, 1, 0, w, D);
    if (rows) memcpy(by_v, w->signal_jacobian, rows * sizeof *by_v);
    for (int f = 0; f < m->nlie_block && rows; f++) {
        const snw_block *b = snw_lie_block(m, f);
        double ad[36];
        adjoint_block_ad(b, c->mid->v, ad);
        for (size_t at = (size_t)b->dof; at < rows; at += (size_t)m->nv) {
            for (int k = 0; k < b->n; k++) {
                for (int i = 0; i < b->n; i++)
                    o->signals[at + (size_t)k] -= ad[6 * k + i] * by_v[at + (size_t)i];
            }
        }
    }
}

bool conserved_tangent_find(const snw_model *m, adjoint_conserved *o, const snw_map *map) {
    snw_conserving *c = o->c;
    const size_t nv = (size_t)m->nv, bytes = nv * sizeof(double);
    if (!o->inertia) return false;
    const snw_model *inertia = &o->inertia->m, *conservative = &o->conservative->m;
    const double *v = c->mid->v;
    double *K = matrix_of(m, o, FORCE_K), *D = matrix_of(m, o, FORCE_D);
    double *KG = c->T, *DG = c->E, *force = line_of(m, o, HEAT_F);
    double *S = matrix_of(m, o, HESSIAN), *static_K = matrix_of(m, o, STATIC_K);
    double *Q = matrix_of(m, o, MID_Q), *M = matrix_of(m, o, MID_M), *F = line_of(m, o, STATIC_F);
    // momenta, transported to the middle
    for (size_t i = 0; i < nv; i++) force[i] = 2 * c->P[i] - c->p0[i]; // before the impulse
    snw_transport_half(m, c->d, true, force, line_of(m, o, MOMENTUM_1));
    snw_transport_half(m, c->d, false, c->p0, line_of(m, o, MOMENTUM_0));
    // conservative forces at rest; potential at the end, and of the change of gravity at the start
    snw_part_inputs(m, c->in, SNW_PART_CONSERVATIVE, o->part_in);
    place(m, o, c->end->q, NULL, NULL);
    tangents(o, conservative, o->part_in, true, NULL, NULL, NULL);
    memcpy(line_of(m, o, END_U), c->w->r, bytes);
    place(m, o, c->mid->q, NULL, NULL);
    give_multipliers(m, o, c->mid->lambda);
    c->w->elastic_held = c->mean;
    tangents(o, conservative, o->part_in, true, static_K, NULL, NULL);
    c->w->elastic_held = NULL;
    memcpy(F, c->w->r, bytes);
    o->part_in->manual = c->in->manual;
    snw_inputs_at(m, map->gravity_laws, o->part_in);
    const snw_vec3 change = snw_sub(c->in->gravity, o->part_in->gravity);
    snw_part_inputs(m, c->in, SNW_PART_IMPULSE, o->part_in);
    memset(line_of(m, o, START_U), 0, bytes);
    if (snw_dot(change, change) > 0) {
        o->part_in->gravity = change;
        place(m, o, c->now->q, NULL, NULL);
        tangents(o, inertia, o->part_in, true, NULL, NULL, NULL);
        memcpy(line_of(m, o, START_U), c->w->r, bytes);
        o->part_in->gravity = (snw_vec3){{0}};
    }
    // all forces
    place(m, o, c->mid->q, v, NULL);
    give_multipliers(m, o, c->mid->lambda);
    c->w->elastic_held = c->mean;
    c->in->integral_step = 0.5 * map->h;
    find_forces_and_signals(m, o, K, D);
    c->w->elastic_held = NULL;
    memcpy(force, c->w->r, bytes);
    // inertia
    conserved_momentum_inputs(m, c->in, 0, o->part_in);
    momentum_tangents(m, o, c->mid->q, v, Q, M);
    if (c->moving) {
        c->unloaded->manual = c->in->manual;
        snw_inputs_at(m, map->start_laws, c->unloaded);
        conserved_momentum_inputs(m, c->unloaded, 0, o->part_in);
    }
    momentum_tangents(m, o, c->now->q, c->now->v, matrix_of(m, o, START_Q),
                      matrix_of(m, o, START_M));
    if (c->moving) conserved_momentum_inputs(m, c->last, 0, o->part_in);
    momentum_tangents(m, o, c->end->q, c->end->v, matrix_of(m, o, END_Q), matrix_of(m, o, END_M));
    times_velocities(m, 0.5, matrix_of(m, o, END_Q), c->end->v, line_of(m, o, END_T));
    times_velocities(m, 0.5, Q, v, line_of(m, o, MID_T));
    find_constraints(m, o);
    times_velocities(m, 1, matrix_of(m, o, END_Q), c->end->v, line_of(m, o, END_W));
    find_momentum_rate(m, o, S);
    snw_part_inputs(m, c->in, SNW_PART_IMPULSE, o->part_in);
    place(m, o, c->mid->q, v, NULL);
    tangents(o, inertia, o->part_in, false, KG, DG, NULL);
    for (size_t i = 0; i < nv; i++) force[i] -= F[i] + c->w->r[i];
    // G at fixed velocities; S is the derivative of Q, then T_qq
    double *heat_K = matrix_of(m, o, HEAT_K), *heat_D = matrix_of(m, o, HEAT_D);
    for (size_t i = 0; i < nv * nv; i++) {
        heat_D[i] = D[i] - DG[i];
        heat_K[i] = K[i] - KG[i] - static_K[i];
    }
    if (c->moving) { // G without the accelerations of bases
        memset(o->part_in->pose_du, 0, (size_t)m->npose * sizeof *o->part_in->pose_du);
        tangents(o, inertia, o->part_in, false, KG, NULL, NULL);
    }
    add_times_ad(m, -1, heat_D, v, heat_K);
    add_times_ad(m, -1, M, v, DG);
    add_times_ad(m, -1, DG, v, KG);
    for (size_t i = 0; i < nv * nv; i++) S[i] -= KG[i];
    add_times_ad(m, -1, Q, v, S);
    add_ad_times(m, -1, Q, v, S);
    for (size_t j = 0, at = 0; j < nv; j++) {
        for (size_t i = 0; i < nv; i++, at++) {
            K[at] = heat_K[at] + static_K[at] - S[at];
            D[at] = heat_D[at] - Q[i * nv + j];
        }
    }
    find_arcs(m, o);
    find_contacts(m, o, map->h);
    return snw_cholesky_factor(m->nv, matrix_of(m, o, END_M)) == SNW_OK;
}

bool conserved_tangent_energy(const snw_model *m, adjoint_conserved *o, const snw_map *map) {
    snw_conserving *c = o->c;
    if (!o->inertia) return false;
    double *Q = matrix_of(m, o, MID_Q), *M = matrix_of(m, o, MID_M);
    if (c->moving) { // no energy is kept
        memset(o->by_q, 0, (size_t)m->nv * sizeof *o->by_q);
        memset(o->by_v, 0, (size_t)m->nv * sizeof *o->by_v);
        return true;
    }
    snw_inputs_at(m, map->t_laws, c->in);
    snw_part_inputs(m, c->in, SNW_PART_CONSERVATIVE, o->part_in);
    if (m->nsignal) memcpy(c->mid->z, map->s.z, (size_t)m->nsignal * sizeof *c->mid->z);
    place(m, o, map->s.q, NULL, NULL); // under the conditions of this state
    tangents(o, &o->conservative->m, o->part_in, true, NULL, NULL, NULL);
    memcpy(o->by_q, c->w->r, (size_t)m->nv * sizeof *o->by_q);
    snw_part_inputs(m, c->in, SNW_PART_IMPULSE, o->part_in);
    momentum_tangents(m, o, map->s.q, map->s.v, Q, M);
    for (int k = 0; k < m->nv; k++) {
        const size_t at = (size_t)m->nv * (size_t)k;
        o->by_q[k] += 0.5 * snw_vector_dot(m->nv, Q + at, map->s.v);
        o->by_v[k] = snw_vector_dot(m->nv, M + at, map->s.v);
    }
    return true;
}

// ---- columns ------------------------------------------------------------------------------------

// Changes of the places at the start, the middle and the end by a unit of one variable: n of each
// from coordinate `dof` on, those of its joint.
typedef struct step_variation {
    int dof, n;
    snw_twist start, middle, end;
    snw_twist half[2]; // of half the increment, back from the end and forward from the start
} step_variation;

static step_variation vary_step(const snw_model *m, const snw_conserving *c, conserved_variable of,
                                int k) {
    const bool increment = of == BY_INCREMENT;
    for (int f = 0; f < m->nlie_block; f++) {
        const snw_block *b = snw_lie_block(m, f);
        if (k < b->dof || k >= b->dof + b->n) continue;
        const snw_twist d = snw_lie_block_twist(b, 1, c->d), e = snw_twist_unit(k - b->dof);
        step_variation x = {.dof = b->dof, .n = b->n};
        if (of == BY_RATE) return x;
        if (!increment) {
            x.start = e;
            x.middle = snw_twist_to_child(snw_se3_exp(snw_twist_scale(0.5, d)), e);
            x.end = snw_twist_to_child(snw_se3_exp(d), e);
            return x;
        }
        for (int side = 0; side < 2; side++) {
            const double part = side ? 0.5 : -0.5;
            const snw_lower T = snw_se3_tangent(snw_twist_scale(part, d));
            x.half[side] = snw_lower_apply(&T, snw_twist_scale(part, e));
        }
        const snw_lower T = snw_se3_tangent(d);
        x.middle = x.half[1];
        x.end = snw_lower_apply(&T, e);
        return x;
    }
    step_variation x = {.dof = k, .n = 1};
    x.start.e[0] = of == BY_PLACE;
    x.middle.e[0] = increment ? 0.5 : of == BY_PLACE;
    x.end.e[0] = of != BY_RATE;
    return x;
}

// y (nv) += c A x, x the entries of a variation
static void add_product(const snw_model *m, double c, const double *A, const step_variation *s,
                        const snw_twist *x, double *y) {
    for (int k = 0; k < s->n; k++) {
        const double *column = A + (size_t)m->nv * (size_t)(s->dof + k), by = c * x->e[k];
        for (int i = 0; i < m->nv && by != 0; i++) y[i] += by * column[i];
    }
}

static double variation_dot(const step_variation *s, const snw_twist *x, const double *f) {
    double sum = 0;
    for (int k = 0; k < s->n; k++) sum += x->e[k] * f[s->dof + k];
    return sum;
}

// y (nv) += c times column k of A
static void add_column(const snw_model *m, double c, const double *A, int k, double *y) {
    const double *column = A + (size_t)m->nv * (size_t)k;
    for (int i = 0; i < m->nv && c != 0; i++) y[i] += c * column[i];
}

// out (nv) <- change of p_1 - p_0, both transported to the middle, from those of p_1 and p_0
static void vary_momenta(const snw_model *m, const adjoint_conserved *o, const step_variation *s,
                         const double *p1, const double *p0, double *scratch, double *out) {
    snw_transport_half(m, o->c->d, true, p1, out);
    snw_transport_half(m, o->c->d, false, p0, scratch);
    for (int i = 0; i < m->nv; i++) out[i] -= scratch[i];
    if (m->nlie_block == 0 || s->n == 1) return;
    for (int side = 0; side < 2; side++) { // the transport itself
        snw_wrench p = {0};
        for (int i = 0; i < s->n; i++)
            p.e[i] = line_of(m, o, side ? MOMENTUM_0 : MOMENTUM_1)[s->dof + i];
        const snw_wrench by = snw_ad_pull(s->half[side], p);
        for (int i = 0; i < s->n; i++) out[s->dof + i] += (side ? -1 : 1) * by.e[i];
    }
}

// out <- column of a multiplier, whose force is -C^T lambda
static const double *multiplier_column(const snw_model *m, const adjoint_conserved *o, int k) {
    double *out = o->sample + o->at.n;
    const double *row = rows_of(m, o, MID_C) + (size_t)k * (size_t)m->nv;
    memset(out, 0, (size_t)o->at.n * sizeof *out);
    for (int i = 0; i < m->nv; i++) out[o->at.residual + i] = -row[i];
    if (!o->c->moving) out[o->at.gain] = snw_vector_dot(m->nv, o->c->d, row);
    return out;
}

// v (nv) <- with C v = -(C v_1)_q x, by an impulse at the end; out (nconstraint) <- C x, and h
// times the change of rows of velocities at the middle; increment: number of its coordinate, or -1
static void vary_constraints(const snw_model *m, const adjoint_conserved *o,
                             const step_variation *s, double h, int increment, double *v,
                             double *out) {
    const snw_conserving *c = o->c;
    const size_t nv = (size_t)m->nv;
    double *impulse = c->dx;
    for (int k = 0; k < m->nconstraint; k++) {
        const size_t at = (size_t)k * nv;
        const double *row = rows_of(m, o, END_C) + at;
        impulse[k] =
            -variation_dot(s, &s->end, rows_of(m, o, RATE_C) + at) - snw_vector_dot(m->nv, row, v);
        out[k] = o->of_rates[k] ? h * variation_dot(s, &s->middle, rows_of(m, o, MID_R) + at)
                                : variation_dot(s, &s->end, row);
        if (o->of_rates[k] && increment >= 0)
            out[k] += rows_of(m, o, MID_C)[at + (size_t)increment];
    }
    snw_cholesky_solve(m->nconstraint, c->S, impulse);
    for (int k = 0; k < m->nconstraint; k++) {
        for (size_t i = 0; i < nv; i++) v[i] += impulse[k] * c->Z[(size_t)k * nv + i];
    }
}

// out += growth of the memory; coordinate k of the velocities at the middle varies by by_v
static void add_memory(const snw_model *m, const adjoint_conserved *o, const step_variation *x,
                       double by_v, int k, double *out) {
    for (int j = 0; j < m->nlive; j++) {
        const size_t at = (size_t)j * (size_t)m->nv, rates = (size_t)m->nlive * (size_t)m->nv;
        if (!snw_signal_grows(&m->signal[m->live[j]])) continue;
        out[o->at.memory + m->live[j]] = 2 * (variation_dot(x, &x->middle, o->signals + at) +
                                              by_v * o->signals[rates + at + (size_t)k]);
    }
}

// out += through the mean forces of contacts, and the correction by them
static void add_contacts(const snw_model *m, const adjoint_conserved *o, const step_variation *x,
                         int increment, double *out) {
    const double *d = o->c->d;
    const bool corrects = o->theta != 0;
    for (int i = 0; i < o->nacting; i++) {
        const double *slope = slopes_of(m, o, i), *elastic = contact_of(m, o, i, ELASTIC),
                     *whole = contact_of(m, o, i, WHOLE), *own = contact_of(m, o, i, CORRECTION);
        const double N = slope[SLOPE_0] * variation_dot(x, &x->start, contact_of(m, o, i, GAP_0)) +
                         slope[SLOPE_1] * variation_dot(x, &x->end, contact_of(m, o, i, GAP_1));
        const double work = snw_vector_dot(m->nv, d, elastic);
        for (int j = 0; j < m->nv && N != 0; j++) {
            out[o->at.residual + j] -= N * whole[j];
            if (corrects) out[o->at.correction + j] += N * own[j];
        }
        out[o->at.gain] += N * work;
        out[o->at.energy] += N * (snw_vector_dot(m->nv, d, whole) - work);
        if (corrects) out[o->at.length] += N * slope[LENGTH];
    }
    if (!corrects || o->nacting == 0) return;
    double *by_q = line_of(m, o, VARY_M);
    memset(by_q, 0, (size_t)m->nv * sizeof *by_q);
    add_product(m, 1, matrix_of(m, o, AGAINST_Q), x, &x->middle, by_q);
    for (int j = 0; j < m->nv; j++) out[o->at.correction + j] += by_q[j];
    out[o->at.length] += snw_vector_dot(m->nv, d, by_q);
    if (increment < 0) return;
    add_column(m, 1, matrix_of(m, o, AGAINST), increment, out + o->at.correction);
    out[o->at.length] += 2 * line_of(m, o, CONTACT_C)[increment];
}

const double *conserved_tangent_column(const snw_model *m, const adjoint_conserved *o, double h,
                                       conserved_variable of, int k) {
    const snw_conserving *c = o->c;
    const int nv = m->nv;
    if (k >= nv) return multiplier_column(m, o, k - nv);
    if (o->inactive[k]) return memset(o->sample + o->at.n, 0, (size_t)o->at.n * sizeof(double));
    const bool increment = of == BY_INCREMENT, rate = of == BY_RATE, arcs = m->nlie_block > 0;
    const step_variation x = vary_step(m, c, of, k);
    const double by_v = increment ? 1 / h : 0;
    double *out = o->sample + o->at.n, *P = line_of(m, o, VARY_P), *p0 = line_of(m, o, VARY_P0),
           *p1 = line_of(m, o, VARY_P1), *middle = line_of(m, o, VARY_M),
           *v1 = line_of(m, o, VARY_V);
    const double *T = line_of(m, o, MID_T), *U1 = line_of(m, o, END_U), *T1 = line_of(m, o, END_T),
                 *F = line_of(m, o, STATIC_F), *heat = line_of(m, o, HEAT_F), *d = c->d,
                 *Q = matrix_of(m, o, MID_Q);
    memset(out, 0, (size_t)o->at.n * sizeof *out);
    memset(P, 0, (size_t)(VARY_V + 1 - VARY_P) * (size_t)nv * sizeof *P);
    add_product(m, 1, Q, &x, &x.middle, P);
    add_column(m, by_v, matrix_of(m, o, MID_M), k, P);
    add_product(m, 1, matrix_of(m, o, START_Q), &x, &x.start, p0);
    add_column(m, rate ? 1 : 0, matrix_of(m, o, START_M), k, p0);
    for (int i = 0; i < nv; i++) v1[i] = p1[i] = 2 * P[i] - p0[i];
    add_product(m, -1, matrix_of(m, o, END_Q), &x, &x.end, v1);
    snw_cholesky_solve(nv, matrix_of(m, o, END_M), v1);
    if (m->nconstraint > 0)
        vary_constraints(m, o, &x, h, increment ? k : -1, v1, out + o->at.residual + nv);
    memcpy(out + o->at.rate, v1, (size_t)nv * sizeof *v1);
    // residual without theta; its correction
    double *r = out + o->at.residual, *change = P;
    vary_momenta(m, o, &x, p1, p0, middle, change);
    for (int i = 0; i < nv; i++) r[i] = change[i] / h;
    add_product(m, 1, matrix_of(m, o, FORCE_K), &x, &x.middle, r);
    add_column(m, by_v, matrix_of(m, o, FORCE_D), k, r);
    if (increment) {
        out[o->at.correction + k] = c->weight[k];
        out[o->at.length] = 2 * c->weight[k] * d[k];
    }
    if (arcs) {
        add_product(m, 1, matrix_of(m, o, ARC_K), &x, &x.middle, r);
        add_column(m, increment ? 1 : 0, matrix_of(m, o, ARC_D), k, r);
    }
    if (o->nacting > 0) add_contacts(m, o, &x, increment ? k : -1, out);
    add_memory(m, o, &x, by_v, k, out);
    if (c->moving) return out; // theta is zero, and no reference energy is kept
    // gain: E_1 - E_0 - d'(p_1 - p_0)/h + d'T_q - d'F, conservative forces alone
    memset(middle, 0, (size_t)nv * sizeof *middle);
    add_product(m, 1, matrix_of(m, o, HESSIAN), &x, &x.middle, middle);
    add_product(m, -1, matrix_of(m, o, STATIC_K), &x, &x.middle, middle);
    if (arcs) {
        add_product(m, -1, matrix_of(m, o, ARC_K), &x, &x.middle, middle);
        add_column(m, increment ? -1 : 0, matrix_of(m, o, ARC_D), k, middle);
    }
    for (int i = 0; i < nv; i++) middle[i] += by_v * Q[(size_t)nv * (size_t)i + (size_t)k]; // Q^T
    const double of_start = variation_dot(&x, &x.start, line_of(m, o, START_U));
    double gain = variation_dot(&x, &x.end, U1) + variation_dot(&x, &x.end, T1) -
                  variation_dot(&x, &x.end, line_of(m, o, END_W)) - of_start +
                  (increment ? T[k] - F[k] : 0);
    for (int i = 0; i < nv; i++) gain += c->end->v[i] * p1[i] + d[i] * (middle[i] - change[i] / h);
    if (increment) gain -= (line_of(m, o, MOMENTUM_1)[k] - line_of(m, o, MOMENTUM_0)[k]) / h;
    out[o->at.gain] += gain;
    // reference energy: less the work of the other forces on d; change of gravity
    memset(middle, 0, (size_t)nv * sizeof *middle);
    add_product(m, 1, matrix_of(m, o, HEAT_K), &x, &x.middle, middle);
    add_column(m, by_v, matrix_of(m, o, HEAT_D), k, middle);
    out[o->at.energy] += of_start - (increment ? heat[k] : 0) - snw_vector_dot(nv, d, middle);
    return out;
}
