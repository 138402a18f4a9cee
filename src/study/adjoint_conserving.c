// SPDX-License-Identifier: MIT
//
// Steps of the conserving scheme and their transposes, theory.md (7.5.21). A step from x = (g_0,
// v_0, E_0, z_0) solves R(y, x) = 0 for y = (d, lambda), with R = R_0 + theta c, theta =
// gain/length, and gives g_1 = g_0 exp(d), v_1(y, x), E_1(y, x), z_1(y, x). Newton's matrix lacks
// second derivatives of the kinetic energy and theta, so that it is no derivative of R. Here R_0,
// c, gain, length, v_1, E_1 and z_1, smooth functions all of them, are differentiated by
// differences of order 6 along d and g_0, of which those of order 4 tell the error; along v_0 and
// lambda they are quadratic, so that differences of order 2 are exact.
#include "study/adjoint_conserving_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/chart.h"
#include "dynamics/constraint.h"
#include "math/vector.h"
#include "solve/dense.h"

#include <math.h>
#include <string.h>

static const double move = 1e-3, // of coordinates, typical
    move_length = 1e-3,          // of the length of a step, relative
    closer = 0.1,                // of these, where they cross the onset of a contact
    resolved = 1e-9,             // difference of orders 6 and 4 that needs no finer samples
    rounding = 1e-14;            // relative
enum { CLOSER = 6 };             // times that samples are moved closer, at most
static const double weight4[] = {2.0 / 3, -1.0 / 12, 0};

#define CONSERVED_FIELDS(AT)                                                                       \
    AT(double, by_y, size *n, "equations by the unknowns")                                         \
    AT(double, by_place, size *nv, "by the configuration before the step")                         \
    AT(double, by_rate, size *nv, "by the velocities")                                             \
    AT(double, by_memory, size *nz, "by the memory of the laws")                                   \
    AT(double, by_energy, size, "by the reference energy")                                         \
    AT(double, by_length, size, "by the length")                                                   \
    AT(double, matrix, n *n, "factors")                                                            \
    AT(int, pivot, n, "of them")                                                                   \
    AT(double, q, (size_t)m->nq, "of a sample")                                                    \
    AT(double, v, nv, "likewise")                                                                  \
    AT(double, z, nz, "likewise")                                                                  \
    AT(double, d, n, "likewise")                                                                   \
    AT(double, x, n, "right side")                                                                 \
    AT(double, sample, 5 * parts_n, "a sample, differences of two orders, twice")                  \
    AT(double, by_q, nv, "energy by place")                                                        \
    AT(double, by_v, nv, "energy by velocity")                                                     \
    AT(double, parts, parts_n, "at the step")                                                      \
    AT(double, tangent, (size_t)CONSERVED_TANGENTS *nv *nv, "written tangents")                    \
    AT(double, line, (size_t)CONSERVED_LINES *nv, "scratch of them")                               \
    AT(double, rows, (size_t)CONSERVED_ROWS *(n - nv) * nv, "rows of constraints")                 \
    AT(bool, inactive, n, "coordinates of inactive links, rows that do not act")                   \
    AT(bool, of_rates, n, "rows of velocities")                                                    \
    AT(double, signals, 2 * (size_t)m->nlive * nv, "of the middle, by places and velocities")      \
    AT(double, contact,                                                                            \
       ((size_t)m->ncontact_point + 1) * (CONSERVED_CONTACT * nv + CONSERVED_SLOPES),              \
       "of contact points, and of rods that touch")

static void conserved_place(void *object, snw_fields *f) {
    adjoint_conserved *o = object;
    const snw_model *m = o->c->m;
    const size_t n = (size_t)o->n, nv = (size_t)m->nv, nz = (size_t)m->nsignal + 1;
    const size_t size = (size_t)o->size, parts_n = (size_t)o->at.n;
    CONSERVED_FIELDS(SNW_FIELD_PLACE)
}

static snw_status conserved_create(snw_adjoint *a) {
    const snw_model *m = a->m;
    if (a->conserved) return SNW_OK;
    adjoint_conserved *o = snw_alloc(sizeof *o);
    if (!o) return SNW_E_MEMORY;
    a->conserved = o;
    SNW_TRY(snw_conserving_create(m, &o->c));
    o->at = snw_conserving_parts(m);
    o->n = m->nv + m->nconstraint;
    o->size = o->n + m->nv + 1 + m->nsignal;
    o->block = snw_fields_create(conserved_place, o);
    if (!o->block) return SNW_E_MEMORY;
    return conserved_tangent_create(m, o);
}

void adjoint_conserved_destroy(snw_adjoint *a) {
    if (!a->conserved) return;
    snw_conserving_destroy(a->conserved->c);
    conserved_tangent_destroy(a->conserved);
    snw_free(a->conserved->block);
    snw_free(a->conserved);
}

// ---- equations ----------------------------------------------------------------------------------

int adjoint_conserved_size(const snw_model *m, const snw_map *map) {
    return map->kind == SNW_MAP_ENERGY ? 1 : 2 * m->nv + m->nconstraint + 1 + m->nsignal;
}

static snw_conserved_step step_of(const snw_map *map, double shift) {
    return (snw_conserved_step){.q = map->q0,
                                .v = map->v0,
                                .z = map->z_from,
                                .energy = map->energy,
                                .t = map->s.t - map->h + shift,
                                .h = map->h,
                                .t_laws = map->t_laws + shift,
                                .start_laws = map->start_laws + shift,
                                .gravity_laws = map->gravity_laws + shift,
                                .d = map->d};
}

// out (size) <- R, v_1, E_1, z_1 from the parts
static void join_parts(const snw_model *m, const double *part, double theta, double *out) {
    const snw_conserved_parts at = snw_conserving_parts(m);
    const int n = m->nv + m->nconstraint;
    for (int i = 0; i < n; i++)
        out[i] = part[at.residual + i] + (i < m->nv ? theta * part[at.correction + i] : 0);
    memcpy(out + n, part + at.rate, (size_t)(m->nv + 1 + m->nsignal) * sizeof *out);
}

// x->conserving for the model of the sampler; NaN results: no memory, which is told at creation
static bool sampler_ready(snw_sampler *x) {
    if (!x->conserving) {
        x->conserved = snw_alloc((size_t)snw_conserving_parts(x->m).n * 2 * sizeof *x->conserved);
        if (!x->conserved || snw_conserving_create(x->m, &x->conserving) != SNW_OK) return false;
    }
    snw_conserving_use(x->conserving, x->m);
    x->conserving->in->manual = x->conserving->last->manual = x->in->manual;
    return true;
}

void adjoint_conserved_equations(snw_sampler *x, const snw_map *map, double *out) {
    const int size = adjoint_conserved_size(x->m, map);
    if (!sampler_ready(x)) {
        for (int i = 0; i < size; i++) out[i] = NAN;
        return;
    }
    if (map->kind == SNW_MAP_ENERGY) {
        out[0] = snw_conserving_energy(x->conserving, map->s.q, map->s.v, map->s.z,
                                       map->t_laws + x->shift);
        return;
    }
    const snw_conserved_step step = step_of(map, x->shift);
    const double theta = snw_conserving_evaluate_step(x->conserving, &step, x->conserved);
    join_parts(x->m, x->conserved, theta, out);
}

void adjoint_conserved_sample(const snw_adjoint *a, const snw_map *map, snw_sampler *x,
                              double *value) {
    const snw_model *m = x->m;
    const int nv = m->nv, n = nv + m->nconstraint;
    double *out = a->sampled_time;
    adjoint_conserved_equations(x, map, out);
    for (int i = 0; i < a->nscalar; i++) {
        const snw_covectors *c = &a->covectors[i];
        if (map->kind == SNW_MAP_ENERGY) {
            value[i] = -c->energy * out[0];
            continue;
        }
        value[i] = snw_vector_dot(nv, c->mu, out) + snw_vector_dot(n - nv, c->nu, out + nv) -
                   snw_vector_dot(nv, c->law_rate, out + n) - c->energy * out[n + nv] -
                   snw_vector_dot(m->nsignal, c->integrand, out + n + nv + 1);
    }
}

// ---- derivatives --------------------------------------------------------------------------------

// A function of one number, with n results.
typedef struct conserved_line {
    adjoint_conserved *o;
    const snw_adjoint *a;
    const snw_map *map;
    conserved_variable of;
    int k; // coordinate
    int n;
} conserved_line;

// o->sample <- the function at `by`
static void evaluate_line(const conserved_line *l, double by) {
    adjoint_conserved *o = l->o;
    const snw_model *m = l->a->m;
    const snw_map *map = l->map;
    const bool energy = map->kind == SNW_MAP_ENERGY;
    snw_conserved_step x = energy
                               ? (snw_conserved_step){.q = map->s.q, .v = map->s.v, .z = map->s.z}
                               : step_of(map, 0);
    switch (l->of) {
    case BY_INCREMENT:
        memcpy(o->d, x.d, (size_t)o->n * sizeof *o->d);
        o->d[l->k] += by;
        x.d = o->d;
        break;
    case BY_PLACE:
        memset(o->x, 0, (size_t)m->nv * sizeof *o->x);
        o->x[l->k] = by;
        snw_move(m, x.q, 1, o->x, o->q);
        x.q = o->q;
        break;
    case BY_RATE:
        memcpy(o->v, x.v, (size_t)m->nv * sizeof *o->v);
        o->v[l->k] += by;
        x.v = o->v;
        break;
    case BY_MEMORY:
        memcpy(o->z, x.z, (size_t)m->nsignal * sizeof *o->z);
        o->z[l->k] += by;
        x.z = o->z;
        break;
    case BY_LENGTH:
        x.h += by;
        x.t_laws += by;
        break;
    }
    if (energy) {
        o->sample[0] = snw_conserving_energy(o->c, x.q, x.v, x.z, map->t_laws);
    } else {
        (void)snw_conserving_evaluate_step(o->c, &x, o->sample);
    }
}

// by, coarse (n) <- differences of orders 6 and 4
static void difference_line(const conserved_line *l, double step, double *by, double *coarse) {
    for (int i = 0; i < l->n; i++) by[i] = coarse[i] = 0;
    for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
        if (j == 0) continue;
        evaluate_line(l, j * step);
        const double sign = j < 0 ? -1 / step : 1 / step;
        const int k = (j < 0 ? -j : j) - 1;
        for (int i = 0; i < l->n; i++) {
            by[i] += sign * adjoint_weight[k] * l->o->sample[i];
            coarse[i] += sign * weight4[k] * l->o->sample[i];
        }
    }
}

// Size of the terms of result i, whose rounding errors a difference divides by its step.
static double size_of_result(const conserved_line *l, int i) {
    const adjoint_conserved *o = l->o;
    const double *part = o->parts;
    if (l->map->kind == SNW_MAP_ENERGY) return fabs(o->sample[0]);
    if (i < l->a->m->nv) return l->a->m->scale[i];
    if (i == o->at.gain) return fabs(l->map->energy);
    return fabs(part[i]);
}

// Do differences of both orders agree, in each part relative to its largest number or to rounding?
static bool is_resolved(const conserved_line *l, double step, const double *by,
                        const double *coarse) {
    const snw_conserved_parts at = l->o->at;
    const int end[] = {l->a->m->nv, at.correction, at.gain,   at.length,
                       at.rate,     at.energy,     at.memory, at.n};
    for (int k = 0, i = 0; k < (int)(sizeof end / sizeof *end) && i < l->n; k++) {
        double most = 0, error = 0, noise = 0;
        for (; i < end[k] && i < l->n; i++) {
            most = fmax(most, fabs(by[i]));
            error = fmax(error, fabs(by[i] - coarse[i]));
            noise = fmax(noise, rounding * size_of_result(l, i) / step);
        }
        if (!(error <= resolved * most + noise)) return false;
    }
    return true;
}

// Derivatives along the line, n of them. Where the onset of a contact, or friction at slow sliding,
// lies within the samples these are moved closer, and for each result the estimate counts whose
// orders differ least.
static const double *differentiate_line(const conserved_line *l, double step) {
    const size_t n = (size_t)l->o->at.n;
    double *by = l->o->sample + n, *coarse = by + n, *near = coarse + n, *near_coarse = near + n;
    difference_line(l, step, by, coarse);
    for (int k = 1; k < CLOSER && !is_resolved(l, step, by, coarse); k++) {
        step *= closer;
        difference_line(l, step, near, near_coarse);
        for (int i = 0; i < l->n; i++) {
            if (!(fabs(near[i] - near_coarse[i]) < fabs(by[i] - coarse[i]))) continue;
            by[i] = near[i];
            coarse[i] = near_coarse[i];
        }
    }
    return by;
}

// The same of functions that are quadratic along it.
static const double *differentiate_quadratic(const conserved_line *l, double step) {
    double *by = l->o->sample + l->o->at.n;
    evaluate_line(l, step);
    memcpy(by, l->o->sample, (size_t)l->n * sizeof *by);
    evaluate_line(l, -step);
    for (int i = 0; i < l->n; i++) by[i] = (by[i] - l->o->sample[i]) / (2 * step);
    return by;
}

// column (size) <- derivatives of the equations from those of the parts: theta by the quotient rule
static void join_column(const snw_model *m, const adjoint_conserved *o, const double *by,
                        double *column) {
    const double *part = o->parts;
    join_parts(m, by, o->theta, column);
    if (o->theta == 0) return;
    const double by_theta = (by[o->at.gain] - o->theta * by[o->at.length]) / part[o->at.length];
    for (int i = 0; i < m->nv; i++) column[i] += by_theta * part[o->at.correction + i];
}

// Derivatives of the energy of a state.
static void prepare_energy(snw_adjoint *a, const snw_map *map) {
    adjoint_conserved *o = a->conserved;
    conserved_line l = {.o = o, .a = a, .map = map, .n = 1};
    if (conserved_tangent_energy(a->m, o, map)) return;
    for (int k = 0; k < a->m->nv; k++) {
        l.k = k, l.of = BY_PLACE;
        o->by_q[k] = differentiate_line(&l, move * a->m->typical[k])[0];
        l.of = BY_RATE;
        o->by_v[k] = differentiate_quadratic(&l, a->m->typical[k])[0];
    }
}

// Marks coordinates and rows that do not act, those of inactive links and loops: increments and
// multipliers are zero. After the step has been evaluated.
static void find_inactive(const snw_model *m, adjoint_conserved *o) {
    const snw_work *w = o->c->w;
    memset(o->inactive, 0, (size_t)o->n * sizeof *o->inactive);
    for (int k = 0; k < m->nconditional; k++)
        o->inactive[m->conditional[k]] = !snw_is_active(w, m->conditional_on[k]);
    for (int k = 0; k < m->nconstraint; k++)
        o->inactive[m->nv + k] = snw_constraint_at(m, w, k).inactive;
    for (int i = 0; i < m->nloop; i++) {
        const snw_loop *loop = &m->loop[i];
        for (int k = 0; k < loop->nrow; k++)
            o->of_rates[loop->row + k] = loop->nonholonomic != SNW_NONHOLONOMIC_NONE;
    }
}

snw_status adjoint_conserved_prepare(snw_adjoint *a, const snw_map *map, snw_error *err) {
    const snw_model *m = a->m;
    if (conserved_create(a) != SNW_OK) return snw_fail_memory(err);
    adjoint_conserved *o = a->conserved;
    o->c->in->manual = o->c->last->manual = a->in->manual;
    if (map->kind == SNW_MAP_ENERGY) {
        prepare_energy(a, map);
        return SNW_OK;
    }
    const size_t size = (size_t)o->size, n = (size_t)o->n, nv = (size_t)m->nv;
    const snw_conserved_step x = step_of(map, 0);
    o->theta = snw_conserving_evaluate_step(o->c, &x, o->parts);
    find_inactive(m, o);
    conserved_line l = {.o = o, .a = a, .map = map, .n = o->at.n};
    const bool written = o->shown = conserved_tangent_find(m, o, map);
    a->dear.steps += !written;
    for (size_t k = 0; k < n; k++) {
        l.k = (int)k, l.of = BY_INCREMENT;
        const double *by = written  ? conserved_tangent_column(m, o, map->h, BY_INCREMENT, (int)k)
                           : k < nv ? differentiate_line(&l, move * m->typical[k])
                                    : differentiate_quadratic(&l, fmax(1, fabs(map->d[k])));
        join_column(m, o, by, o->by_y + k * size);
        if (o->inactive[k]) o->by_y[k * size + k] = 1; // it is zero
        memcpy(o->matrix + k * n, o->by_y + k * size, n * sizeof *o->matrix);
    }
    for (size_t k = 0; k < nv; k++) {
        l.k = (int)k, l.of = BY_PLACE;
        const double *by = written ? conserved_tangent_column(m, o, map->h, BY_PLACE, l.k)
                                   : differentiate_line(&l, move * m->typical[k]);
        join_column(m, o, by, o->by_place + k * size);
        l.of = BY_RATE;
        by = written ? conserved_tangent_column(m, o, map->h, BY_RATE, l.k)
                     : differentiate_quadratic(&l, m->typical[k]);
        join_column(m, o, by, o->by_rate + k * size);
    }
    for (int k = 0; k < m->nsignal; k++) {
        if (!adjoint_is_memory(m, k)) continue;
        l.k = k, l.of = BY_MEMORY;
        o->shown = false;
        join_column(m, o, differentiate_line(&l, 1e-2 * fmax(1e-3, fabs(map->z_from[k]))),
                    o->by_memory + (size_t)k * size);
    }
    l.of = BY_LENGTH;
    if (adjoint_moves(map)) {
        join_column(m, o, differentiate_line(&l, move_length * map->h), o->by_length);
        o->shown = false;
    }
    // gain by E_0 is -1, E_1 by E_0 is 1
    memset(o->by_energy, 0, size * sizeof *o->by_energy);
    o->by_energy[n + nv] = 1;
    for (size_t i = 0; i < nv && o->theta != 0; i++)
        o->by_energy[i] = -o->parts[o->at.correction + (int)i] / o->parts[o->at.length];
    if (m->nlie_block > 0) snw_chart_jacobian(m, SNW_CHART_SE3, map->d, 0, 0, &map->s, a->chart);
    if (snw_lu_factor(o->n, o->matrix, o->pivot) == SNW_OK) return SNW_OK;
    return snw_fail(err, SNW_E_SINGULAR,
                    "there is no derivative at t = %g s: the matrix of the step is singular",
                    map->s.t);
}

void adjoint_conserved_show(const snw_adjoint *a, const snw_map *map) {
    const snw_conserved_step x = step_of(map, 0);
    if (!a->conserved->shown)
        (void)snw_conserving_evaluate_step(a->conserved->c, &x, a->conserved->parts);
}

const snw_state *adjoint_conserved_middle(const snw_adjoint *a, const snw_map *map) {
    adjoint_conserved_show(a, map);
    return a->conserved->c->mid;
}

void adjoint_conserved_add_force(const snw_adjoint *a, const double *G, double *by) {
    const adjoint_conserved *o = a->conserved;
    const int nv = a->m->nv;
    for (int i = 0; i < nv; i++) by[i] -= G[i]; // theta does not correct its work
    by[o->n + nv] += snw_vector_dot(nv, o->c->d, G);
}

// ---- backward -----------------------------------------------------------------------------------

// Product of a column with the covectors of a scalar: minus those of R, those of the results
static double column_product(const snw_adjoint *a, const snw_covectors *v, const double *column) {
    const int nv = a->m->nv, nr = a->m->nconstraint, n = nv + nr;
    return snw_vector_dot(nv, v->law_rate, column + n) + v->energy * column[n + nv] +
           snw_vector_dot(a->m->nsignal, v->integrand, column + n + nv + 1) -
           snw_vector_dot(nv, v->mu, column) - snw_vector_dot(nr, v->nu, column + nv);
}

static void clear_past(const snw_model *m, const snw_bars *b) {
    const size_t bytes = (size_t)m->nv * sizeof(double);
    memset(b->acc, 0, bytes);
    memset(b->pseudo, 0, bytes);
    memset(b->increment, 0, bytes);
    memset(b->old, 0, bytes);
    memset(b->lambda, 0, (size_t)m->nconstraint * sizeof(double));
}

static void back_scalar(snw_adjoint *a, const snw_map *map, int scalar) {
    const snw_model *m = a->m;
    adjoint_conserved *o = a->conserved;
    const int nv = m->nv, n = o->n;
    const size_t size = (size_t)o->size;
    snw_bars *b = &a->bars[scalar];
    snw_covectors *v = &a->covectors[scalar];
    // those of the results
    memcpy(v->law_rate, b->rate, (size_t)nv * sizeof *v->law_rate);
    memcpy(v->integrand, b->z, (size_t)m->nsignal * sizeof *v->integrand);
    v->energy = *b->energy;
    // R_y'(mu, nu) = S'z_bar and the results by y
    double *x = o->x;
    memcpy(x, b->place, (size_t)nv * sizeof *x);
    if (m->nlie_block > 0) adjoint_chart_transposed(a, x);
    memset(x + nv, 0, (size_t)m->nconstraint * sizeof *x);
    for (int k = 0; k < n; k++) // mu and nu are zero so far
        x[k] += column_product(a, v, o->by_y + (size_t)k * size);
    snw_lu_solve_transposed(n, o->matrix, o->pivot, x);
    for (int k = 0; k < n; k++) x[k] = o->inactive[k] ? 0 : x[k];
    memcpy(v->mu, x, (size_t)nv * sizeof *x);
    memcpy(v->nu, x + nv, (size_t)m->nconstraint * sizeof *x);
    if (m->nlie_block > 0) adjoint_carry_back(m, map->d, b->place);
    for (int k = 0; k < nv; k++) {
        b->place[k] += column_product(a, v, o->by_place + (size_t)k * size);
        b->rate[k] = column_product(a, v, o->by_rate + (size_t)k * size);
    }
    for (int k = 0; k < m->nsignal; k++) {
        if (adjoint_is_memory(m, k))
            b->z[k] = column_product(a, v, o->by_memory + (size_t)k * size);
    }
    *b->energy = column_product(a, v, o->by_energy);
    a->by_own[scalar] = adjoint_moves(map) ? column_product(a, v, o->by_length) : 0;
    a->by_before[scalar] = 0;
    clear_past(m, b);
}

snw_status adjoint_conserved_back(snw_adjoint *a, const snw_map *map, snw_error *err) {
    SNW_TRY(adjoint_conserved_prepare(a, map, err));
    for (int i = 0; i < a->nscalar; i++) {
        if (map->kind == SNW_MAP_CONSERVED) {
            back_scalar(a, map, i);
            continue;
        }
        const snw_bars *b = &a->bars[i];
        const double by = a->covectors[i].energy = *b->energy;
        for (int k = 0; k < a->m->nv; k++) {
            b->place[k] += by * a->conserved->by_q[k];
            b->rate[k] += by * a->conserved->by_v[k];
        }
        *b->energy = 0;
    }
    return SNW_OK;
}

// ---- forward ------------------------------------------------------------------------------------

static void add_column(int n, double c, const double *column, double *to) {
    for (int i = 0; i < n && c != 0; i++) to[i] += c * column[i];
}

void adjoint_conserved_apply(snw_adjoint *a, const snw_map *map, int k, const double *by,
                             double length) {
    const snw_model *m = a->m;
    adjoint_conserved *o = a->conserved;
    const int nv = m->nv, n = o->n, size = o->size;
    const snw_bars *b = &a->bars[k];
    if (map->kind == SNW_MAP_ENERGY) {
        *b->energy =
            by[0] + snw_vector_dot(nv, o->by_q, b->place) + snw_vector_dot(nv, o->by_v, b->rate);
        return;
    }
    double *sum = o->sample, *x = o->x;
    memcpy(sum, by, (size_t)size * sizeof *sum);
    for (int i = 0; i < nv; i++) {
        add_column(size, b->place[i], o->by_place + (size_t)i * (size_t)size, sum);
        add_column(size, b->rate[i], o->by_rate + (size_t)i * (size_t)size, sum);
    }
    for (int i = 0; i < m->nsignal; i++) {
        if (adjoint_is_memory(m, i))
            add_column(size, b->z[i], o->by_memory + (size_t)i * (size_t)size, sum);
    }
    add_column(size, *b->energy, o->by_energy, sum);
    add_column(size, length, o->by_length, sum);
    for (int i = 0; i < n; i++) x[i] = -sum[i];
    snw_lu_solve(n, o->matrix, o->pivot, x);
    for (int i = 0; i < n; i++) add_column(size, x[i], o->by_y + (size_t)i * (size_t)size, sum);
    adjoint_carry(m, map->d, b->place);
    if (m->nlie_block > 0) {
        adjoint_add_chart(a, 0, x, b->place);
    } else {
        for (int i = 0; i < nv; i++) b->place[i] += x[i];
    }
    memcpy(b->rate, sum + n, (size_t)nv * sizeof *sum);
    *b->energy = sum[n + nv];
    for (int i = 0; i < m->nsignal; i++) {
        if (adjoint_is_memory(m, i)) b->z[i] = sum[n + nv + 1 + i];
    }
    clear_past(m, b);
}
