// SPDX-License-Identifier: MIT
//
// Linear models about a state, theory.md 7.3. With variations x of the configuration (body twists
// of spherical and free joints) at each instant,
//
//     M x" + D x' + K x - C'dlambda = G f,   C x = E u
//
// with the exact tangents at the state. Constraints and given coordinates u are eliminated by
//
//     x = N z + Nd y + Ns s + Y u,   C (N, Nd, Ns) = 0,   C Y = E
//
// N: directions with mass; Nd: without mass, with damping, states of first order; Ns: without mass
// and damping, which follow statically. The matrix is built column by column: a unit of one state
// or input is put into these equations, and the rates that follow are the column.
#include "study/linear_model.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "dynamics/feedback.h"
#include "dynamics/tendon.h"
#include "math/vector.h"
#include "model/probe_kind.h"
#include "solve/dense.h"
#include "study/linear_private.h"
#include "study/statics.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double no_damping = 1e-14, // of a massless direction, relative to the largest
    no_rate = 1e-6,                     // force of its rate, likewise
    heavy = 1e-5,                       // pivot of the scaled mass matrix, certainly with mass
    dependent = 1e-9,                   // singular value of dependent rows, relative
    stencil_angle = 1e-2,               // of the motion between samples of the rows, typical
    stencil_time = 2e-3,                // the longest time between them, s
    at_rest = 1e-4;                     // rate of motion below which rows do not turn, 1/s
enum { SAMPLES = 4 };                   // on either side: differences of order 8

// ---- memory

static void linear_place(void *object, snw_fields *f) {
    snw_linear *o = object;
    const snw_model *m = o->m;
    const size_t nv = (size_t)m->nv + 1, nr = (size_t)m->nconstraint + 1, nc = (size_t)o->ncolumn;
    const size_t ng = 3 * (size_t)o->ninput + 1, nu = (size_t)o->ninput + 1,
                 ni = (size_t)snw_linear_memory_room(m) + 1;
    const size_t ny = (size_t)o->noutput + 1, width = (size_t)o->width;
    const size_t frames = (size_t)(m->nseg + m->nobs), ns = o->steps,
                 lie = ns * (size_t)m->nlie_block;
    const size_t nh = ns * (6 * nv + ni), nm = ns * ni;
    LINEAR_FIELDS(SNW_FIELD_PLACE)
}

static size_t linear_scratch_size(const snw_model *m) {
    const size_t parts[] = {snw_project_scratch(m->nv, m->nv + 1),
                            snw_svd_scratch(m->nconstraint, m->nv), snw_svd_scratch(m->nv, m->nv),
                            snw_qr_scratch(m->nv, m->nv) +
                                2 * (size_t)(m->nv + 8) * sizeof(double)};
    size_t most = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        most = parts[i] > most ? parts[i] : most;
    return most + 256;
}

static snw_status linear_prepare(snw_linear *l) {
    const snw_model *m = l->m;
    l->width = 1;
    for (int i = 0; i < l->noutput; i++) {
        const int n = snw_probe_columns(&m->desc->probe[l->output[i].probe]);
        if (n > l->width) l->width = n;
    }
    l->ncolumn = 2 * m->nv + snw_linear_memory_room(m) + 7 * l->ninput + 1;
    l->block = snw_fields_create(linear_place, l);
    l->scratch.size = linear_scratch_size(m);
    l->scratch.base = snw_alloc(l->scratch.size);
    if (!l->block || !l->scratch.base) return SNW_E_MEMORY;
    SNW_TRY(snw_closed_contacts_create(m, &l->closed));
    SNW_TRY(snw_directions_create(m, l->closed ? 3 * l->closed->most : 0, &l->d));
    SNW_TRY(snw_state_create(m, &l->s));
    if (l->closed) SNW_TRY(snw_state_create(m, &l->rest));
    SNW_TRY(snw_inputs_create(m, &l->in));
    for (int i = 0; i < l->noutput; i++) {
        l->place_of[i] =
            (snw_adjoint_output){.probe = l->output[i].probe, .column = l->output[i].column};
        l->known[i] = snw_output_bars_know(m, &l->place_of[i]);
    }
    if (l->noutput > 0) SNW_TRY(snw_output_bars_create(m, &l->output_bars));
    return snw_observer_create(m, &l->observer);
}

snw_status snw_linear_create(const snw_model *m, int ninput, const snw_linear_input *input,
                             int noutput, snw_linear_output *output, bool three, bool steps,
                             snw_linear **out) {
    snw_linear *l = snw_alloc(sizeof *l);
    *out = l;
    if (!l) return SNW_E_MEMORY;
    *l = (snw_linear){.m = m,
                      .ninput = ninput,
                      .noutput = noutput,
                      .input = input,
                      .output = output,
                      .three = three,
                      .steps = steps};
    return linear_prepare(l);
}

void snw_linear_destroy(snw_linear *l) {
    if (!l) return;
    snw_directions_destroy(l->d);
    snw_closed_contacts_destroy(l->closed);
    snw_state_destroy(l->s);
    snw_state_destroy(l->rest);
    snw_inputs_destroy(l->in);
    snw_observer_destroy(l->observer);
    snw_output_bars_destroy(l->output_bars);
    snw_free(l->scratch.base);
    snw_free(l->block);
    snw_free(l);
}

const snw_linear_system *snw_linear_result(const snw_linear *l) { return &l->result; }

// ---- matrices

void linear_add_product(int n, int k, double c, const double *A, const double *x, double *y) {
    for (int j = 0; x && j < k; j++) {
        const double f = c * x[j];
        if (f == 0) continue;
        const double *a = A + (size_t)n * (size_t)j;
        for (int i = 0; i < n; i++) y[i] += f * a[i];
    }
}

// y (k) <- A' x, A n x k.
static void transposed_product(int n, int k, const double *A, const double *x, double *y) {
    for (int j = 0; j < k; j++) y[j] = snw_vector_dot(n, A + (size_t)n * (size_t)j, x);
}

void linear_adjoint(const snw_model *m, const double *v, const double *x, double *out) {
    memset(out, 0, (size_t)m->nv * sizeof *out);
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (b->space == SNW_SPACE_RN) continue;
        snw_twist V = {0}, X = {0};
        for (int i = 0; i < b->n; i++) V.e[i] = v[b->dof + i], X.e[i] = x[b->dof + i];
        const snw_twist r = snw_ad(V, X); // of a spherical joint the linear parts are zero
        for (int i = 0; i < b->n; i++) out[b->dof + i] = r.e[i];
    }
}

// out (nv x nv) += c T ad_v.
static void add_adjoint_product(const snw_model *m, double c, const double *T, const double *v,
                                double *unit, double *out) {
    double *column = unit + m->nv;
    memset(unit, 0, (size_t)m->nv * sizeof *unit);
    for (int j = 0; j < m->nv; j++) {
        unit[j] = 1;
        linear_adjoint(m, v, unit, column);
        unit[j] = 0;
        linear_add_product(m->nv, m->nv, c, T, column, snw_column_of(out, m->nv, j));
    }
}

// ---- constraint rows

// C (nv x nr) <- rows of the last kinematics as columns.
static void store_rows(const snw_model *m, snw_work *w, double *C) {
    memset(C, 0, (size_t)m->nv * (size_t)m->nconstraint * sizeof *C);
    for (int k = 0; k < m->nconstraint; k++) {
        const snw_constraint c = snw_constraint_at(m, w, k);
        for (int j = 0; j < c.n && !c.inactive; j++) snw_column_of(C, m->nv, k)[c.dof[j]] += c.C[j];
    }
}

double snw_linear_rate(const snw_model *m, const snw_state *s) {
    double fast = 0;
    for (int i = 0; i < m->nv; i++) {
        fast = fmax(fast, fabs(s->v[i]) / m->typical[i]);
        fast = fmax(fast, sqrt(fabs(s->a[i]) / m->typical[i]));
    }
    return fast;
}

// dC, ddC <- rates of the rows along the motion, by differences of order 8 of the rows at instants
// around the present one.
static void rows_along(snw_linear *l, const snw_inputs *in, const snw_state *s, snw_work *w) {
    static const double first[SAMPLES] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280},
                        second[SAMPLES + 1] = {8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560,
                                               -205.0 / 72};
    const snw_model *m = l->m;
    const size_t n = (size_t)m->nv * (size_t)m->nconstraint;
    // of slow motions an instant that is short for laws of time
    const double h = fmin(stencil_angle / snw_linear_rate(m, s), stencil_time);
    memset(l->dC, 0, n * sizeof *l->dC);
    store_rows(m, w, l->C);
    for (size_t i = 0; i < n; i++) l->ddC[i] = second[SAMPLES] * l->C[i] / (h * h);
    snw_state_copy(m, s, l->s);
    l->in->manual = in->manual;
    for (int k = 1; k <= SAMPLES; k++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            const double t = sign * k * h;
            double *step = l->line;
            for (int i = 0; i < m->nv; i++) step[i] = t * (s->v[i] + 0.5 * t * s->a[i]);
            snw_move(m, s->q, 1, step, l->s->q);
            l->s->t = s->t + t;
            snw_inputs_at(m, l->s->t, l->in);
            snw_kinematics(m, l->in, l->s, false, w);
            snw_jacobian_pass(m, w);
            snw_constraints_jacobian(m, w);
            store_rows(m, w, l->C);
            for (size_t i = 0; i < n; i++) {
                l->dC[i] += sign * first[k - 1] / h * l->C[i];
                l->ddC[i] += second[k - 1] / (h * h) * l->C[i];
            }
        }
    }
}

// inverse (nv x nr) <- of the rows, shortest in the scaled coordinates.
static snw_status invert_rows(snw_linear *l) {
    const int nv = l->m->nv, nr = l->m->nconstraint, k = nr < nv ? nr : nv;
    double *S = l->line;
    for (int j = 0; j < nv; j++) {
        for (int i = 0; i < nr; i++)
            l->svd_A[(size_t)j * (size_t)nr + (size_t)i] =
                snw_column_of(l->C, nv, i)[j] * l->d->unit[j];
    }
    SNW_TRY(snw_svd(nr, nv, l->svd_A, &l->scratch, l->svd_U, S, l->svd_V));
    memset(l->inverse, 0, (size_t)nv * (size_t)nr * sizeof *l->inverse);
    for (int a = 0; a < k && S[a] > dependent * S[0]; a++) {
        for (int i = 0; i < nr; i++) {
            const double f = l->svd_U[(size_t)a * (size_t)nr + (size_t)i] / S[a];
            for (int j = 0; j < nv; j++) // row a of V'
                snw_column_of(l->inverse, nv, i)[j] +=
                    f * l->d->unit[j] * l->svd_V[(size_t)j * (size_t)nv + (size_t)a];
        }
    }
    return SNW_OK;
}

// x (nv) -= N (N'M x), N'MN = 1: the part that the directions with mass do not see.
static void remove_mass(const snw_linear *l, const double *N, double *scratch, double *x) {
    const int nv = l->m->nv;
    double *Mx = scratch, *c = scratch + nv;
    memset(Mx, 0, (size_t)nv * sizeof *Mx);
    linear_add_product(nv, nv, 1, l->d->M, x, Mx);
    transposed_product(nv, l->n1, N, Mx, c);
    linear_add_product(nv, l->n1, -1, N, c, x);
}

// out (nv x k) <- rate of the directions X, which satisfy C X = const: -C^+ dC X, and second rate
// -C^+ (2 dC dX + ddC X). Both have no mass in the directions N.
static void turn_directions(snw_linear *l, const double *N, int k, const double *X, double *dX,
                            double *ddX) {
    const int nv = l->m->nv, nr = l->m->nconstraint;
    double *e = l->line, *scratch = e + nr;
    for (int j = 0; j < k; j++) {
        const double *x = X + (size_t)nv * (size_t)j;
        double *to = snw_column_of(dX, nv, j), *to2 = snw_column_of(ddX, nv, j);
        memset(to, 0, (size_t)nv * sizeof *to);
        memset(to2, 0, (size_t)nv * sizeof *to2);
        transposed_product(nv, nr, l->dC, x, e);
        linear_add_product(nv, nr, -1, l->inverse, e, to);
        remove_mass(l, N, scratch, to);
        transposed_product(nv, nr, l->dC, to, e);
        linear_add_product(nv, nr, -2, l->inverse, e, to2);
        transposed_product(nv, nr, l->ddC, x, e);
        linear_add_product(nv, nr, -1, l->inverse, e, to2);
        remove_mass(l, N, scratch, to2);
    }
}

// ---- directions

// Are all coordinates free, with mass by a wide margin? The cheap case.
static bool all_free(const snw_linear *l, const snw_work *w) {
    const snw_model *m = l->m;
    if (m->nconstraint || l->d->nheld) return false;
    for (int k = 0; k < m->nconditional; k++) {
        if (!snw_is_active(w, m->conditional_on[k])) return false;
    }
    const size_t nv = (size_t)m->nv;
    for (size_t j = 0; j < nv; j++) {
        for (size_t i = 0; i < nv; i++) {
            const double size = l->d->M[i * (nv + 1)] * l->d->M[j * (nv + 1)];
            if (!(size > 0)) return false;
            l->Mr[j * nv + i] = l->d->M[j * nv + i] / sqrt(size);
        }
    }
    if (snw_cholesky_factor(m->nv, l->Mr) != SNW_OK) return false;
    for (size_t i = 0; i < nv; i++) {
        if (!(l->Mr[i * (nv + 1)] > heavy)) return false;
    }
    return true;
}

// d->P <- idle, static, damped, with mass; their numbers.
static snw_status sort_directions(snw_linear *l, const snw_work *w, snw_error *err) {
    snw_directions *d = l->d;
    const snw_model *m = l->m;
    snw_status s = snw_directions_find(d, w);
    if (s == SNW_E_MODEL) {
        return snw_fail(err, s,
                        "the robot has no mass, so it has no linear model; give its materials a "
                        "density or its links bodies");
    }
    double most = 0;
    for (int i = 0; i < m->nv; i++)
        most = fmax(most, fabs(snw_column_of(d->D, m->nv, i)[i]) * d->unit[i] * d->unit[i]);
    int undamped = 0, nidle = 0;
    if (s == SNW_OK) s = snw_directions_sort(d, d->D, 0, d->n0, no_damping * most, &undamped);
    if (s == SNW_OK)
        s = snw_directions_sort(d, d->K, 0, undamped, snw_directions_no_stiffness(m), &nidle);
    if (s != SNW_OK) {
        return snw_fail(err, SNW_E_DIVERGED,
                        "mass, damping or stiffness is not a number; check the loads and the "
                        "configuration");
    }
    l->result.nidle = nidle;
    l->ns = undamped - nidle;
    l->nd = d->n0 - undamped;
    l->n1 = d->n - d->n0;
    l->static_directions = snw_column_of(d->P, m->nv, nidle);
    l->damped_directions = snw_column_of(d->P, m->nv, undamped);
    return SNW_OK;
}

// independent (n1, rising) <- coordinates in which the directions with mass differ most, each
// compared with its unit.
static void choose_independent(snw_linear *l, const double *N) {
    const int nv = l->m->nv, n1 = l->n1;
    if (n1 == 0) return;
    double *A = l->svd_V; // n1 x nv
    const size_t mark = snw_arena_mark(&l->scratch);
    double *tau = snw_arena_doubles(&l->scratch, (size_t)nv);
    int *order = snw_arena_ints(&l->scratch, (size_t)nv);
    for (int j = 0; j < nv; j++) {
        for (int i = 0; i < n1; i++)
            A[(size_t)j * (size_t)n1 + (size_t)i] =
                N[(size_t)i * (size_t)nv + (size_t)j] / l->d->unit[j];
    }
    const int rank = snw_qr_factor(n1, nv, A, 0, 0, &l->scratch, tau, order);
    for (int k = 0, i = 0; i < nv && rank > 0; i++) {
        bool chosen = false;
        for (int j = 0; j < n1; j++) chosen = chosen || order[j] == i;
        if (chosen) l->independent[k++] = i;
    }
    snw_arena_reset(&l->scratch, mark);
}

// N <- with unit components in the independent coordinates, from directions with N'MN = 1; X (nv x
// k) <- without components there.
static snw_status use_coordinates(snw_linear *l, double *P, double *dP, double *ddP) {
    const int nv = l->m->nv, n1 = l->n1;
    if (n1 == 0) return SNW_OK;
    double *R = l->Mr; // inverse of the independent rows
    const size_t mark = snw_arena_mark(&l->scratch);
    int *pivot = snw_arena_ints(&l->scratch, (size_t)n1);
    for (int j = 0; j < n1; j++) {
        for (int i = 0; i < n1; i++)
            l->svd_V[(size_t)j * (size_t)n1 + (size_t)i] =
                P[(size_t)j * (size_t)nv + (size_t)l->independent[i]];
    }
    const snw_status s = snw_lu_factor(n1, l->svd_V, pivot);
    snw_identity(n1, R);
    for (int j = 0; s == SNW_OK && j < n1; j++)
        snw_lu_solve(n1, l->svd_V, pivot, snw_column_of(R, n1, j));
    snw_arena_reset(&l->scratch, mark);
    if (s != SNW_OK) return s;
    double *const set[] = {P, dP, ddP};
    for (int k = 0; k < 3; k++) {
        if (!set[k]) continue;
        snw_combine_columns(nv, n1, set[k], n1, R, l->N);
        memcpy(set[k], l->N, (size_t)nv * (size_t)n1 * sizeof *l->N);
    }
    memcpy(l->N, P, (size_t)nv * (size_t)n1 * sizeof *l->N);
    for (int j = 0; j < n1; j++) { // exactly
        for (int i = 0; i < n1; i++) snw_column_of(l->N, nv, j)[l->independent[i]] = i == j;
    }
    return SNW_OK;
}

// Forces that depend on the rate of a direction without mass and damping would make its motion
// depend on the rates of the inputs: D Ns = 0 where D is a damping.
static snw_status check_static(const snw_linear *l, snw_error *err) {
    const snw_model *m = l->m;
    double most = 0;
    for (int i = 0; i < m->nv; i++)
        most =
            fmax(most, fabs(snw_column_of(l->d->D, m->nv, i)[i]) * l->d->unit[i] * l->d->unit[i]);
    for (int k = 0; k < l->ns; k++) {
        double *f = l->line;
        memset(f, 0, (size_t)m->nv * sizeof *f);
        linear_add_product(m->nv, m->nv, 1, l->d->D, snw_column_of(l->static_directions, m->nv, k),
                           f);
        for (int i = 0; i < m->nv; i++) {
            if (fabs(f[i]) * l->d->unit[i] <= no_rate * most) continue;
            return snw_fail(err, SNW_E_MODEL,
                            "a motion without mass and damping has forces that depend on its rate, "
                            "so there is no linear model here; linearise at rest, or give it mass");
        }
    }
    return SNW_OK;
}

// Mr <- factor of N'MN; S <- factors of [Ns'K Ns, Ns'D Nd; Nd'K Ns, Nd'D Nd].
static snw_status factor_reduced(snw_linear *l, snw_error *err) {
    const int nv = l->m->nv, n0 = l->ns + l->nd;
    if (l->n1 > 0) snw_project(nv, l->d->M, l->n1, l->N, l->n1, l->N, &l->scratch, l->Mr);
    if (l->n1 > 0 && snw_cholesky_factor(l->n1, l->Mr) != SNW_OK) {
        return snw_fail(err, SNW_E_SINGULAR, "the mass matrix is not positive definite");
    }
    if (n0 == 0) return SNW_OK;
    SNW_TRY(check_static(l, err));
    // static and damped directions are adjacent columns of P
    const double *massless = l->static_directions;
    if (l->ns > 0) snw_project(nv, l->d->K, n0, massless, l->ns, massless, &l->scratch, l->S);
    if (l->nd > 0)
        snw_project(nv, l->d->D, n0, massless, l->nd, l->damped_directions, &l->scratch,
                    l->S + (size_t)n0 * (size_t)l->ns);
    if (snw_lu_factor(n0, l->S, l->pivot) == SNW_OK) return SNW_OK;
    return snw_fail(err, SNW_E_SINGULAR,
                    "a motion without mass is not held by stiffness or damping, so it does not "
                    "follow; give the link mass or a spring");
}

// ---- inputs

const char *linear_input_name(const snw_linear *l, int input) {
    const snw_linear_input *in = &l->input[input];
    switch (in->kind) {
    case SNW_LINEAR_EFFORT:
        return l->m->label.motor[in->item].name;
    case SNW_LINEAR_TENDON:
        return l->m->tendon[in->item].name;
    case SNW_LINEAR_LOAD:
        return l->m->label.load[in->item].name;
    case SNW_LINEAR_GIVEN:
        for (int i = 0; i < l->m->ntendon; i++) {
            if (l->m->tendon[i].row == in->row) return l->m->tendon[i].name;
        }
        return l->m->label.motor[in->item].name;
    case SNW_LINEAR_ACTIVATION:
    case SNW_LINEAR_OTHER:
        break;
    }
    return "input";
}

// Effort of a tendon or chamber per unit of its given load.
static double tendon_gain(const snw_model *m, int i, const snw_inputs *in, const snw_work *w) {
    const snw_tendon *tendon = &m->tendon[i];
    const snw_tendon_work *now = &w->tendon[i];
    const bool yields = tendon->area && tendon->area->by_pressure;
    switch (tendon->given) {
    case SNW_GIVEN_GAS:
        if (yields)
            return now->gain * SNW_GAS_CONSTANT *
                   snw_expr_value(tendon->temperature, (snw_at){.t = in->t});
        return SNW_GAS_CONSTANT * snw_expr_value(tendon->temperature, (snw_at){.t = in->t}) /
               now->value;
    case SNW_GIVEN_MOTION:
        if (yields) return now->gain;
        // winch: (length + extra)/paid out - 1 = compliance tension
        return now->effort == 0 ? 0
                                : (tendon->reference - now->value + tendon->extra) /
                                      (now->paid_out * now->paid_out * tendon->compliance);
    case SNW_GIVEN_EFFORT:
    case SNW_GIVEN_SOURCE:
    case SNW_GIVEN_RATE:
    case SNW_GIVEN_ACTIVATION:
        break;
    }
    return now->gain;
}

void linear_input_forces(snw_linear *l, const snw_inputs *in, snw_work *w) {
    const snw_model *m = l->m;
    memset(l->G, 0, (size_t)m->nv * (size_t)l->ninput * sizeof *l->G);
    for (int i = 0; i < l->ninput; i++) {
        const snw_linear_input *input = &l->input[i];
        double *Q = snw_column_of(l->G, m->nv, i);
        switch (input->kind) {
        case SNW_LINEAR_EFFORT:
            for (int k = 0; k < m->nmotor; k++) {
                const bool same =
                    m->motor[k].same && m->motor[k].same == m->motor[input->item].same;
                if (k == input->item || same) Q[m->motor[k].dof + input->component] += 1;
            }
            break;
        case SNW_LINEAR_TENDON: {
            const snw_tendon *tendon = &m->tendon[input->item];
            const double gain = tendon_gain(m, input->item, in, w);
            for (int j = 0; j < tendon->ndof; j++)
                Q[tendon->dof[j]] += gain * w->tendon_jacobian[tendon->store + (size_t)j];
            break;
        }
        case SNW_LINEAR_ACTIVATION:
            snw_stress_at(m, input->item, (snw_at){.t = in->t, .signal = w->signal}, 1, Q);
            break;
        case SNW_LINEAR_LOAD:
            snw_load_force(m, input->item, input->component, w, Q);
            break;
        case SNW_LINEAR_OTHER:
            memcpy(Q, input->force, (size_t)m->nv * sizeof *Q);
            break;
        case SNW_LINEAR_GIVEN:
            break;
        }
    }
}

// Is an input a given motion that is left out, since hard contacts hold?
static bool is_left_out(const snw_linear *l, const snw_linear_input *in) {
    return l->holds && in->optional && in->kind == SNW_LINEAR_GIVEN;
}

// -de/du of the rows, or of their k-th rate, by an input; NULL: a given coordinate.
static const double *shift_of(const snw_linear_input *in, int k) {
    const double *const of[] = {in->shift, in->shift_rate, in->shift_acc};
    return in->kind == SNW_LINEAR_OTHER ? of[k] : NULL;
}

// given, given_part, entry, ng <- inputs that move constraint rows. A number of the file may move
// their rates alone: of a law p sin(t) where that is zero.
static void list_given(snw_linear *l) {
    l->ng = 0;
    for (int i = 0; i < l->ninput; i++) {
        const snw_linear_input *in = &l->input[i];
        for (int part = 0; part < 3; part++) {
            const double *shift = shift_of(in, part);
            bool moves = in->kind == SNW_LINEAR_GIVEN && part == 0;
            for (int k = 0; shift && k < l->m->nconstraint; k++) moves = moves || shift[k] != 0;
            if (!moves || is_left_out(l, in)) continue;
            l->given[l->ng] = i;
            l->given_part[l->ng] = part;
            l->entry[l->ng++] = in->kind == SNW_LINEAR_OTHER ? LINEAR_DIRECT
                                : l->three                   ? LINEAR_THREE
                                                             : LINEAR_STATE;
        }
    }
}

// Y <- motion with the given coordinates, without mass in the directions N.
static void given_motion(snw_linear *l, const double *N) {
    const int nv = l->m->nv, nr = l->m->nconstraint;
    double *e = l->line;
    for (int g = 0; g < l->ng; g++) {
        const snw_linear_input *in = &l->input[l->given[g]];
        double *to = snw_column_of(l->Y, nv, g);
        const double *shift = shift_of(in, l->given_part[g]);
        for (int k = 0; k < nr; k++) e[k] = shift ? shift[k] : k == in->row ? in->unit : 0;
        memset(to, 0, (size_t)nv * sizeof *to);
        linear_add_product(nv, nr, 1, l->inverse, e, to);
        remove_mass(l, N, l->line + nr, to);
    }
}

// ---- laws with memory

// F, R, Q <- integrals and states that act on the robot, branches; samples and latches are held.
// `rows`: w->signal_jacobian by x and, behind it, by x'.
static void list_memory(snw_linear *l, const snw_inputs *in, const snw_work *w,
                        const double *rows) {
    const snw_model *m = l->m;
    snw_linear_memory y = {.of = l->memory_of, .F = l->F, .R = l->R, .Q = l->Q};
    l->result.nheld = 0;
    for (int k = 0; k < m->nlive; k++) {
        const snw_signal_kind kind = m->signal[m->live[k]].kind;
        l->result.nheld += kind == SNW_SIGNAL_SAMPLED || kind == SNW_SIGNAL_ONCE;
    }
    snw_linear_memory_find(m, in, w, rows, true, &y);
    l->ni = y.n;
}

// A rate that reads the effort of a tendon would follow an input of that tendon at once.
static snw_status check_rates(const snw_linear *l, snw_error *err) {
    const snw_model *m = l->m;
    for (int i = 0; i < l->ninput; i++) {
        if (l->input[i].kind != SNW_LINEAR_TENDON) continue;
        for (int k = 0; k < l->ni; k++) {
            if (l->memory_of[k].role != SNW_STATE_INTEGRAL) continue;
            const snw_signal *signal = &m->signal[l->memory_of[k].index];
            for (int j = 0; j < m->nlive; j++) {
                const snw_signal *read = &m->signal[m->live[j]];
                if (read->kind != SNW_SIGNAL_PROBE || read->reading != SNW_READ_TENDON_EFFORT ||
                    read->tendon != l->input[i].item || !snw_expr_reads(signal->source, m->live[j]))
                    continue;
                return snw_fail(err, SNW_E_MODEL,
                                "the rate of '%s' reads the effort of '%s', which is an input of "
                                "the linear model; leave it out of the inputs",
                                signal->text, linear_input_name(l, i));
            }
        }
    }
    return SNW_OK;
}

// ---- columns

// Rates that follow from a column.
typedef struct linear_rates {
    double *ddz, *dy, *dmemory; // n1, nd, ni
} linear_rates;

// s (ns), dy (nd), x, x1 (nv), b (nv: what is left for N) <- of a column; the static directions at
// fixed rates.
static void column_positions(const snw_linear *l, const linear_column *c, double *follow, double *x,
                             double *x1, double *b) {
    const int nv = l->m->nv, n0 = l->ns + l->nd, first = l->d->n0 - n0;
    const bool turn = l->rows_turn;
    memset(x, 0, (size_t)nv * sizeof *x);
    memset(x1, 0, (size_t)nv * sizeof *x1);
    memset(b, 0, (size_t)nv * sizeof *b);
    linear_add_product(nv, l->n1, 1, l->N, c->z, x);
    linear_add_product(nv, l->nd, 1, l->damped_directions, c->y, x);
    linear_add_product(nv, l->ng, 1, l->Y, c->u, x);
    linear_add_product(nv, l->n1, 1, l->N, c->dz, x1);
    linear_add_product(nv, l->ng, 1, l->Y, c->du, x1);
    if (turn) {
        linear_add_product(nv, l->n1, 1, snw_column_of(l->dN, nv, l->d->n0), c->z, x1);
        linear_add_product(nv, l->nd, 1, snw_column_of(l->dN, nv, first + l->ns), c->y, x1);
        linear_add_product(nv, l->ng, 1, l->dY, c->u, x1);
    }
    for (int i = 0; c->force && i < nv; i++) b[i] = c->force[i];
    linear_add_product(nv, l->ni, 1, l->F, c->memory, b);
    linear_add_product(nv, nv, -1, l->K, x, b);
    linear_add_product(nv, nv, -1, l->D, x1, b);
    if (n0 == 0) return;
    transposed_product(nv, n0, l->static_directions, b, follow);
    snw_lu_solve(n0, l->S, l->pivot, follow);
    double *dx = l->line + 6 * nv, *dx1 = dx + nv;
    memset(dx, 0, 2 * (size_t)nv * sizeof *dx);
    linear_add_product(nv, l->ns, 1, l->static_directions, follow, dx);
    linear_add_product(nv, l->nd, 1, l->damped_directions, follow + l->ns, dx1);
    if (turn) linear_add_product(nv, l->ns, 1, snw_column_of(l->dN, nv, first), follow, dx1);
    for (int i = 0; i < nv; i++) x[i] += dx[i], x1[i] += dx1[i];
    linear_add_product(nv, nv, -1, l->K, dx, b);
    linear_add_product(nv, nv, -1, l->D, dx1, b);
}

// Rates and variations of column k.
static void solve_column(snw_linear *l, const snw_state *s, const linear_column *c, int k,
                         linear_rates out) {
    const snw_model *m = l->m;
    const int nv = m->nv, n0 = l->ns + l->nd;
    double *x = snw_column_of(l->x, nv, k), *x1 = snw_column_of(l->x1, nv, k);
    double *dv = snw_column_of(l->dv, nv, k), *da = snw_column_of(l->da, nv, k);
    double *b = l->line, *x2 = b + nv, *other = b + 2 * nv, *follow = b + 5 * nv;
    column_positions(l, c, follow, x, x1, b);
    memcpy(out.dy, follow + l->ns, (size_t)l->nd * sizeof *out.dy);
    if (c->ddu) {
        memset(x2, 0, (size_t)nv * sizeof *x2);
        linear_add_product(nv, l->ng, 1, l->Y, c->ddu, x2);
        linear_add_product(nv, nv, -1, l->d->M, x2, b);
    }
    transposed_product(nv, l->n1, l->N, b, out.ddz);
    if (l->n1 > 0) snw_cholesky_solve(l->n1, l->Mr, out.ddz);
    if (l->rows_turn) { // see keep_coordinates
        linear_add_product(l->n1, l->n1, 1, l->by_rate, c->dz, out.ddz);
        linear_add_product(l->n1, l->n1, 1, l->by_place, c->z, out.ddz);
        linear_add_product(l->n1, l->ng, 1, l->by_given_rate, c->du, out.ddz);
        linear_add_product(l->n1, l->ng, 1, l->by_given, c->u, out.ddz);
    }
    for (int i = 0; i < l->ni; i++) {
        const double *by_x = l->R + 2 * (size_t)nv * (size_t)i;
        out.dmemory[i] = snw_vector_dot(nv, by_x, x) + snw_vector_dot(nv, by_x + nv, x1);
        for (int j = 0; c->memory && j < l->ni; j++)
            out.dmemory[i] += l->Q[(size_t)j * (size_t)l->ni + (size_t)i] * c->memory[j];
        if (c->rate) out.dmemory[i] += c->rate[snw_linear_memory_number(m, l->memory_of[i])];
    }
    if (l->full) {
        memcpy(dv, x1, (size_t)nv * sizeof *dv);
        memcpy(da, out.ddz, (size_t)nv * sizeof *da);
        if (l->moving && m->nlie_block) {
            linear_adjoint(m, s->v, x, other);
            for (int i = 0; i < nv; i++) x1[i] -= other[i];
        }
        return;
    }
    memset(x2, 0, (size_t)nv * sizeof *x2);
    if (n0 > 0) { // rates of the massless directions, from the rates of the column
        const linear_column rates = {.z = c->dz,
                                     .dz = out.ddz,
                                     .y = out.dy,
                                     .memory = out.dmemory,
                                     .u = c->du,
                                     .du = c->ddu};
        column_positions(l, &rates, follow, other, other + nv, b);
        linear_add_product(nv, l->ns, 1, l->static_directions, follow, x1);
        linear_add_product(nv, l->nd, 1, l->damped_directions, follow + l->ns, x2);
    }
    linear_add_product(nv, l->n1, 1, l->N, out.ddz, x2);
    linear_add_product(nv, l->ng, 1, l->Y, c->ddu, x2);
    if (l->rows_turn) {
        const double *dN = snw_column_of(l->dN, nv, l->d->n0);
        linear_add_product(nv, l->n1, 2, dN, c->dz, x2);
        linear_add_product(nv, l->n1, 1, snw_column_of(l->ddN, nv, l->d->n0), c->z, x2);
        linear_add_product(nv, l->ng, 2, l->dY, c->du, x2);
        linear_add_product(nv, l->ng, 1, l->ddY, c->u, x2);
    }
    // C'dlambda = M x" + D x' + K x - G f
    memset(b, 0, (size_t)nv * sizeof *b);
    linear_add_product(nv, nv, 1, l->d->M, x2, b);
    linear_add_product(nv, nv, 1, l->D, x1, b);
    linear_add_product(nv, nv, 1, l->K, x, b);
    for (int i = 0; c->force && i < nv; i++) b[i] -= c->force[i];
    linear_add_product(nv, l->ni, -1, l->F, c->memory, b);
    transposed_product(nv, m->nconstraint, l->inverse, b,
                       snw_column_of(l->multiplier, m->nconstraint, k));
    // dv = x' + ad_v x, da = x" + ad_v x' + ad_a x
    memcpy(dv, x1, (size_t)nv * sizeof *dv);
    memcpy(da, x2, (size_t)nv * sizeof *da);
    if (!m->nlie_block) return;
    linear_adjoint(m, s->v, x, other);
    for (int i = 0; i < nv; i++) dv[i] += other[i];
    linear_adjoint(m, s->v, x1, other);
    for (int i = 0; i < nv; i++) da[i] += other[i];
    linear_adjoint(m, s->a, x, other);
    for (int i = 0; i < nv; i++) da[i] += other[i];
}

// ---- the system

// state, of_input, derivative, nx, nu <- meaning of rows and columns.
static void list_states(snw_linear *l) {
    int n = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < l->n1; i++)
            l->state[n++] =
                (snw_linear_state){pass ? SNW_STATE_RATE : SNW_STATE_COORDINATE, l->independent[i]};
    }
    for (int i = 0; i < l->nd; i++) l->state[n++] = (snw_linear_state){SNW_STATE_MASSLESS, i};
    for (int i = 0; i < l->ni; i++) l->state[n++] = l->memory_of[i];
    for (int pass = 0; pass < 2; pass++) {
        for (int g = 0; g < l->ng; g++) {
            if (l->entry[g] != LINEAR_STATE) continue;
            l->state[n++] =
                (snw_linear_state){pass ? SNW_STATE_GIVEN_RATE : SNW_STATE_GIVEN, l->given[g]};
        }
    }
    l->nx = n;
    l->nu = 0;
    for (int i = 0; i < l->ninput; i++) {
        const bool given = l->input[i].kind == SNW_LINEAR_GIVEN;
        if (is_left_out(l, &l->input[i])) continue;
        for (int k = given && !l->three ? 2 : 0; k < (given ? 3 : 1); k++) {
            l->of_input[l->nu] = i;
            l->derivative[l->nu++] = k;
        }
    }
}

// Column k of the model <- of the unit column c: rates of all states.
static void place_column(snw_linear *l, const snw_state *s, const linear_column *c, int k,
                         double *to) {
    double *rate = l->line + 10 * l->m->nv;
    const linear_rates out = {rate, rate + l->n1, rate + l->n1 + l->nd};
    solve_column(l, s, c, k, out);
    int n = 0;
    const double *x1 = snw_column_of(l->x1, l->m->nv, k);
    for (int i = 0; i < l->n1; i++) // with all coordinates free x' = dv - ad_v x
        to[n++] = l->full ? x1[i] : c->dz ? c->dz[i] : 0;
    for (int i = 0; i < l->n1 + l->nd + l->ni; i++) to[n++] = rate[i];
    for (int pass = 0; pass < 2; pass++) {
        const double *from = pass ? c->ddu : c->du;
        for (int g = 0; g < l->ng; g++) {
            if (l->entry[g] == LINEAR_STATE) to[n++] = from ? from[g] : 0;
        }
    }
}

static int find_given_part(const snw_linear *l, int input, int part) {
    for (int g = 0; g < l->ng; g++) {
        if (l->given[g] == input && l->given_part[g] == part) return g;
    }
    return -1;
}

static int find_given(const snw_linear *l, int input) { return find_given_part(l, input, 0); }

static void fill_matrices(snw_linear *l, const snw_state *s) {
    const int nv = l->m->nv, most = nv + l->ni + l->ng;
    double *unit = l->line + 10 * nv + 2 * l->ncolumn; // behind the rates
    memset(unit, 0, (size_t)most * sizeof *unit);
    int within = 0;
    for (int k = 0; k < l->nx; k++) {
        const snw_linear_role role = l->state[k].role;
        within = k > 0 && l->state[k - 1].role == role ? within + 1 : 0;
        if (role == SNW_STATE_BRANCH) within = k - 2 * l->n1 - l->nd; // behind the signals
        linear_column c = {0};
        int at = within;
        switch (role) {
        case SNW_STATE_COORDINATE:
            c.z = unit;
            break;
        case SNW_STATE_RATE:
            c.dz = unit;
            break;
        case SNW_STATE_MASSLESS:
            c.y = unit;
            break;
        case SNW_STATE_INTEGRAL:
        case SNW_STATE_BRANCH:
            c.memory = unit;
            break;
        case SNW_STATE_GIVEN:
            c.u = unit, at = find_given(l, l->state[k].index);
            break;
        case SNW_STATE_GIVEN_RATE:
            c.du = unit, at = find_given(l, l->state[k].index);
            break;
        case SNW_STATE_ACCELERATION: // of time schemes only
        case SNW_STATE_PSEUDO:
        case SNW_STATE_INCREMENT:
        case SNW_STATE_RATE_BEFORE:
            break;
        }
        unit[at] = 1;
        place_column(l, s, &c, k, snw_column_of(l->A, l->nx, k));
        unit[at] = 0;
    }
    for (int i = 0; i < l->nu; i++) {
        const int input = l->of_input[i];
        linear_column c = {.force = snw_column_of(l->G, nv, input), .rate = l->input[input].rate};
        const double **const of[] = {&c.u, &c.du, &c.ddu};
        memset(l->given_unit, 0, 3 * (size_t)l->ng * sizeof *l->given_unit);
        for (int part = 0; part < 3; part++) {
            // a given coordinate is input by its value, rate or acceleration, a number by all
            const bool number = l->input[input].kind == SNW_LINEAR_OTHER;
            const int g = find_given_part(l, input, number ? part : 0);
            if (g < 0 || (!number && l->derivative[i] != part)) continue;
            double *own = l->given_unit + (size_t)part * (size_t)l->ng;
            own[g] = 1;
            *of[part] = own;
        }
        place_column(l, s, &c, l->nx + i, snw_column_of(l->B, l->nx, i));
    }
}

static snw_status check_robot(const snw_linear *l, const snw_work *w, snw_error *err) {
    const snw_model *m = l->m;
    for (int i = 0; i < m->nloop; i++) {
        if (!m->loop[i].sliding_station || m->loop[i].nrow == 0) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "contact '%s' moves along a rod and constrains the velocity of passing "
                        "material, so there is no linear model; switch it off",
                        m->label.loop[i].name);
    }
    for (int i = 0; l->moving && !l->mapped && i < m->nloop; i++) {
        if (!m->loop[i].nonholonomic || m->loop[i].nrow == 0) continue;
        if (!snw_is_active(w, m->loop[i].condition) && m->loop[i].condition >= 0) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "contact '%s' constrains velocities and moves; rolling motion has linear "
                        "models of steps of gauss, radau, conserving and moreau only ('step' with "
                        "'scheme'): take one of these, linearise at rest, or switch it off",
                        m->label.loop[i].name);
    }
    for (int i = 0; i < l->ninput; i++) {
        const snw_linear_input *in = &l->input[i];
        if (in->kind == SNW_LINEAR_TENDON && m->tendon[in->item].has_friction &&
            m->tendon[in->item].given == SNW_GIVEN_MOTION) {
            return snw_fail(err, SNW_E_MODEL,
                            "input '%s': the tension at a winch with friction along the tendon has "
                            "no linear model; give its tension instead",
                            linear_input_name(l, i));
        }
        if (in->kind == SNW_LINEAR_GIVEN && snw_constraint_at(m, w, in->row).inactive) {
            return snw_fail(err, SNW_E_MODEL, "a given coordinate is inactive, so it is no input");
        }
    }
    return SNW_OK;
}

// out (n1) <- entries of a column at the independent coordinates
static void read_independent(const snw_linear *l, const double *column, double *out) {
    for (int i = 0; i < l->n1; i++) out[i] = column[l->independent[i]];
}

// Directions that turn with the rows, so that the independent coordinates stay those of the state:
// with S = N_ind, N <- N S^-1, Y <- Y - N Y_ind at all times. What that adds to their accelerations
// is kept: 2 S' z' - (2 S'S' - S") z + 2 Y_ind' u' + (Y_ind" - 2 S'Y_ind') u.
static void keep_coordinates(snw_linear *l, double *dP, double *ddP) {
    const int nv = l->m->nv, n1 = l->n1;
    double *S1 = l->by_rate, *S2 = l->by_place, *part = l->line;
    for (int j = 0; j < n1; j++) {
        read_independent(l, snw_column_of(dP, nv, j), snw_column_of(S1, n1, j));
        read_independent(l, snw_column_of(ddP, nv, j), snw_column_of(S2, n1, j));
    }
    for (int g = 0; g < l->ng; g++) {
        read_independent(l, snw_column_of(l->dY, nv, g), snw_column_of(l->by_given_rate, n1, g));
        read_independent(l, snw_column_of(l->ddY, nv, g), snw_column_of(l->by_given, n1, g));
    }
    for (int j = 0; j < n1; j++) { // ddN <- ddN - 2 dN S' + N (2 S'S' - S")
        const double *own = snw_column_of(S1, n1, j);
        double *to = snw_column_of(ddP, nv, j), *second = snw_column_of(S2, n1, j);
        for (int i = 0; i < n1; i++) part[i] = -second[i];
        linear_add_product(n1, n1, 2, S1, own, part);
        linear_add_product(nv, n1, -2, dP, own, to);
        linear_add_product(nv, n1, 1, l->N, part, to);
        for (int i = 0; i < n1; i++) second[i] = -part[i];
    }
    for (int j = 0; j < n1; j++)
        linear_add_product(nv, n1, -1, l->N, snw_column_of(S1, n1, j), snw_column_of(dP, nv, j));
    for (int g = 0; g < l->ng; g++) {
        double *own = snw_column_of(l->by_given_rate, n1, g),
               *second = snw_column_of(l->by_given, n1, g), *to = snw_column_of(l->ddY, nv, g);
        linear_add_product(nv, n1, -1, l->N, own, snw_column_of(l->dY, nv, g));
        linear_add_product(nv, n1, -2, dP, own, to);
        linear_add_product(nv, n1, -1, l->N, second, to);
        linear_add_product(n1, n1, -2, S1, own, second);
        for (int i = 0; i < n1; i++) own[i] *= 2;
    }
    for (int i = 0; i < n1 * n1; i++) S1[i] *= 2;
}

// directions, given motion and their rates at the point in w
static snw_status eliminate(snw_linear *l, const snw_work *w, snw_error *err) {
    const snw_model *m = l->m;
    const int nv = m->nv;
    l->ns = l->nd = 0;
    l->full = all_free(l, w);
    if (l->full) {
        l->n1 = nv;
        l->d->n = nv, l->d->n0 = l->d->nidle = l->result.nidle = 0;
        snw_identity(nv, l->N);
        for (int i = 0; i < nv; i++) l->independent[i] = i;
        memcpy(l->Mr, l->d->M, (size_t)nv * (size_t)nv * sizeof *l->Mr);
        return snw_cholesky_factor(nv, l->Mr);
    }
    SNW_TRY(sort_directions(l, w, err));
    double *P = snw_column_of(l->d->P, nv, l->d->n0);
    if (m->nconstraint) {
        snw_status s = invert_rows(l);
        if (s != SNW_OK) return snw_fail(err, s, "the constraint rows are not numbers");
        given_motion(l, P);
        if (l->rows_turn) {
            turn_directions(l, P, l->d->n, l->d->P, l->dN, l->ddN);
            turn_directions(l, P, l->ng, l->Y, l->dY, l->ddY);
        }
    }
    double *dP = l->rows_turn ? snw_column_of(l->dN, nv, l->d->n0) : NULL;
    double *ddP = l->rows_turn ? snw_column_of(l->ddN, nv, l->d->n0) : NULL;
    choose_independent(l, P);
    if (use_coordinates(l, P, dP, ddP) != SNW_OK)
        return snw_fail(err, SNW_E_SINGULAR, "no independent coordinates were found");
    // given coordinates do not move the independent ones
    for (int g = 0; g < l->ng; g++) {
        double *part = l->line;
        for (int i = 0; i < l->n1; i++) part[i] = snw_column_of(l->Y, nv, g)[l->independent[i]];
        linear_add_product(nv, l->n1, -1, l->N, part, snw_column_of(l->Y, nv, g));
        for (int i = 0; i < l->n1; i++) snw_column_of(l->Y, nv, g)[l->independent[i]] = 0;
        if (!l->rows_turn) continue;
        linear_add_product(nv, l->n1, -1, dP, part, snw_column_of(l->dY, nv, g));
        linear_add_product(nv, l->n1, -1, ddP, part, snw_column_of(l->ddY, nv, g));
    }
    if (l->rows_turn) keep_coordinates(l, dP, ddP);
    return factor_reduced(l, err);
}

// K, D <- tangents of the residual; with all coordinates free, at fixed velocities and
// accelerations instead of fixed x' and x".
void linear_fix_velocities(snw_linear *l, const snw_state *s) {
    const snw_model *m = l->m;
    const size_t size = (size_t)m->nv * (size_t)m->nv * sizeof *l->K;
    memcpy(l->K, l->d->K, size);
    memcpy(l->D, l->d->D, size);
    if (!l->full || !l->moving || m->nlie_block == 0) return;
    // x' = dv - ad_v x, x" = da - ad_v x' - ad_a x
    add_adjoint_product(m, -1, l->d->M, s->v, l->line, l->D);
    add_adjoint_product(m, -1, l->D, s->v, l->line, l->K);
    add_adjoint_product(m, -1, l->d->M, s->a, l->line, l->K);
}

// Hard contacts that carry a force are rows that hold at rest; w <- with their forces, *at <- the
// point s without the accelerations that it would have if they did not hold.
static snw_status hold_contacts(snw_linear *l, const snw_inputs *in, const snw_state *s,
                                snw_work *w, const snw_state **at, snw_error *err) {
    const snw_model *m = l->m;
    snw_closed_contacts *c = l->closed;
    snw_state_copy(m, s, l->rest);
    for (int i = 0; i < m->nv; i++) l->rest->a[i] = 0;
    SNW_TRY(snw_closed_contacts_balance(c, in, l->rest, "linear model", w, err));
    snw_closed_contacts_hold(c, l->d);
    const int of = c->ngrazing ? c->grazing : c->holding;
    const char *name = c->n ? snw_hard_law_name(m, of) : "";
    if (c->ngrazing)
        return snw_fail(err, SNW_E_MODEL,
                        "the hard contact '%s' touches without force: it opens one way and holds "
                        "the other, so there is no linear model; load it, or move it away",
                        name);
    if (c->nholding && l->moving)
        return snw_fail(err, SNW_E_MODEL,
                        "the hard contact '%s' holds a robot that moves; linear models hold "
                        "contacts at rest only",
                        name);
    for (int i = 0; c->nholding && i < l->ninput; i++) {
        if (l->input[i].kind != SNW_LINEAR_GIVEN || l->input[i].optional) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "input '%s' is a given motion, and the hard contact '%s' holds; give a "
                        "force or an effort instead, or the contact a stiffness",
                        linear_input_name(l, i), name);
    }
    l->holds = c->nholding > 0;
    if (c->nholding) *at = l->rest;
    snw_residual(m, in, *at, false, w);
    return SNW_OK;
}

snw_status linear_tangents(snw_linear *l, const snw_inputs *in, const snw_state *s, snw_work *w,
                           snw_error *err) {
    const snw_model *m = l->m;
    const size_t nv = (size_t)m->nv;
    l->moving = l->rows_turn = false;
    for (int i = 0; i < m->nv; i++) l->moving = l->moving || s->v[i] != 0;
    if (m->nv == 0)
        return snw_fail(err, SNW_E_MODEL, "the robot has no coordinates, so no linear model");
    // rows also turn where the robot sets out from rest
    const bool turns = !l->bordered && (l->moving || snw_linear_rate(m, s) > at_rest);
    for (int k = 0; turns && k < m->nloop; k++) l->rows_turn = l->rows_turn || m->loop[k].nrow;
    for (int k = 0; turns && k < m->ntendon; k++)
        l->rows_turn = l->rows_turn || m->tendon[k].row >= 0;
    snw_residual(m, in, s, false, w);
    SNW_TRY(check_robot(l, w, err));
    if (l->closed && l->bordered && !l->mapped) return snw_fail(err, SNW_E_MODEL, SNW_HARD_STATICS);
    l->holds = false;
    if (l->closed && !l->bordered) SNW_TRY(hold_contacts(l, in, s, w, &s, err));
    if (l->rows_turn) {
        snw_jacobian_pass(m, w);
        snw_constraints_jacobian(m, w);
        rows_along(l, in, s, w);
        snw_residual(m, in, s, false, w);
    }
    l->result.residual = snw_out_of_balance(m, w);
    snw_tangent_pass(m, NULL, w);
    snw_tangent_assemble(m, in, 0, 0, 1, w, l->d->M);
    snw_tangent_assemble(m, in, 1, 0, 0, w, l->d->K);
    double *rows = l->A; // room for the rows of the signals until the matrices are filled
    const size_t live = (size_t)m->nlive * nv;
    if (live) memcpy(rows, w->signal_jacobian, live * sizeof *rows);
    snw_tangent_assemble(m, in, 0, 1, 0, w, l->d->D);
    if (live) memcpy(rows + live, w->signal_jacobian, live * sizeof *rows);
    store_rows(m, w, l->C);
    linear_input_forces(l, in, w);
    list_memory(l, in, w, rows);
    list_given(l);
    return check_rates(l, err);
}

static snw_status solve_at(snw_linear *l, const snw_inputs *in, const snw_state *s,
                           const snw_vec3 *rotation, snw_work *w, snw_error *err) {
    l->bordered = false;
    SNW_TRY(linear_tangents(l, in, s, w, err));
    if (l->closed && l->closed->nholding) s = l->rest;
    SNW_TRY(eliminate(l, w, err));
    linear_fix_velocities(l, s);
    list_states(l);
    fill_matrices(l, s);
    SNW_TRY(linear_outputs(l, in, s, rotation, w, err));
    l->result.nx = l->nx;
    l->result.nu = l->nu;
    l->result.ny = l->noutput;
    l->result.A = l->A;
    l->result.B = l->B;
    l->result.C = l->outC;
    l->result.D = l->outD;
    l->result.state = l->state;
    l->result.of_input = l->of_input;
    l->result.derivative = l->derivative;
    for (size_t i = 0; i < (size_t)l->nx * (size_t)l->nx; i++) {
        if (!isfinite(l->A[i]))
            return snw_fail(err, SNW_E_DIVERGED, "the linear model is not finite; check the state");
    }
    return SNW_OK;
}

snw_status snw_linear_solve(snw_linear *l, const snw_inputs *in, const snw_state *s,
                            const snw_vec3 *rotation, snw_work *w, snw_error *err) {
    const snw_status status = solve_at(l, in, s, rotation, w, err);
    if (l->closed) snw_closed_contacts_release(l->closed, w);
    return status;
}

// ---- static gain

// x of column i <- displacement of the equilibrium per unit of input i, x = Y u + P z with P'K P z
// = P'(G - K Y) u; multipliers. U, V', S: singular values of P'K P, of which `rank` count.
static void static_column(snw_linear *l, int i, int rank, const double *U, const double *Vt,
                          const double *S) {
    const int nv = l->m->nv, n = l->d->n, given = find_given(l, i);
    double *x = snw_column_of(l->x, nv, i), *b = l->line + 2 * nv, *z = b + nv;
    const double *G = snw_column_of(l->G, nv, i);
    memset(x, 0, (size_t)nv * sizeof *x);
    if (given >= 0) memcpy(x, snw_column_of(l->Y, nv, given), (size_t)nv * sizeof *x);
    memcpy(b, G, (size_t)nv * sizeof *b);
    linear_add_product(nv, nv, -1, l->d->K, x, b);
    transposed_product(nv, n, l->d->P, b, z);
    double *moved = z + nv;
    memset(moved, 0, (size_t)nv * sizeof *moved);
    for (int k = 0; k < rank; k++) {
        const double f = snw_vector_dot(n, U + (size_t)n * (size_t)k, z) / S[k];
        for (int j = 0; j < n; j++) moved[j] += f * Vt[(size_t)j * (size_t)n + (size_t)k];
    }
    linear_add_product(nv, n, 1, l->d->P, moved, x);
    l->motion[i] = 0;
    for (int j = 0; j < nv; j++) l->motion[i] = fmax(l->motion[i], fabs(x[j]) / l->m->typical[j]);
    // C'dlambda = K x - G u
    for (int j = 0; j < nv; j++) b[j] = -G[j];
    linear_add_product(nv, nv, 1, l->d->K, x, b);
    if (l->m->nconstraint)
        transposed_product(nv, l->m->nconstraint, l->inverse, b,
                           snw_column_of(l->multiplier, l->m->nconstraint, i));
}

snw_status snw_linear_gain(snw_linear *l, const snw_inputs *in, const snw_state *s,
                           const snw_vec3 *rotation, snw_work *w, snw_error *err) {
    const snw_model *m = l->m;
    const int nv = m->nv;
    if (nv == 0) return snw_fail(err, SNW_E_MODEL, "the robot has no coordinates");
    if (m->hard) return snw_fail(err, SNW_E_MODEL, SNW_HARD_STATICS);
    l->moving = l->rows_turn = l->full = l->bordered = false;
    l->n1 = l->nd = l->ns = l->ni = l->nx = 0;
    snw_residual(m, in, s, false, w);
    SNW_TRY(check_robot(l, w, err));
    l->result.residual = snw_out_of_balance(m, w);
    snw_tangent_pass(m, NULL, w);
    snw_tangent_assemble(m, in, 1, 0, 0, w, l->d->K);
    store_rows(m, w, l->C);
    linear_input_forces(l, in, w);
    list_given(l);
    snw_status status = snw_directions_allowed(l->d, w);
    if (status == SNW_OK && m->nconstraint) status = invert_rows(l);
    if (status != SNW_OK) return snw_fail(err, status, "the constraint rows are not numbers");
    if (m->nconstraint) given_motion(l, NULL);
    const int n = l->d->n;
    double *U = l->Mr, *Vt = l->dN, *S = l->line;
    snw_project(nv, l->d->K, n, l->d->P, n, l->d->P, &l->scratch, l->S);
    if (n && snw_svd(n, n, l->S, &l->scratch, U, S, Vt) != SNW_OK)
        return snw_fail(err, SNW_E_DIVERGED, "the stiffness is not a number; check the loads");
    int rank = n;
    while (rank > 0 && S[rank - 1] <= snw_directions_no_stiffness(m)) rank--;
    const size_t moves = (size_t)nv * (size_t)l->ninput * sizeof *l->x1;
    memset(l->x1, 0, moves);
    memset(l->dv, 0, moves);
    memset(l->da, 0, moves);
    for (int i = 0; i < l->ninput; i++) {
        static_column(l, i, rank, U, Vt, S);
        l->of_input[i] = i;
        l->derivative[i] = 0;
    }
    l->nu = l->ninput;
    SNW_TRY(linear_outputs(l, in, s, rotation, w, err));
    l->result.nx = 0;
    l->result.nu = l->nu;
    l->result.ny = l->noutput;
    l->result.nidle = n - rank;
    l->result.nheld = 0;
    l->result.D = l->outD;
    l->result.motion = l->motion;
    l->result.of_input = l->of_input;
    l->result.derivative = l->derivative;
    for (size_t i = 0; i < (size_t)l->nu * (size_t)l->noutput; i++) {
        if (!isfinite(l->outD[i]))
            return snw_fail(err, SNW_E_DIVERGED, "the gain is not finite; check the state");
    }
    return SNW_OK;
}
