// SPDX-License-Identifier: MIT
//
// Transposed steps of rk4, theory.md (7.5.53). With y = (q, v, z), quaternions of any length in q,
// a step is y_1 = y_0 + h sum b_i k_i with the rates k_i = f(y_0 + h a_i k_(i-1), t_i). Backwards,
//
//     k_bar_i = h b_i y_bar + h a_(i+1) Y_bar_(i+1),   Y_bar_i = f'(k_bar_i),   y_bar_0 = y_bar +
//     sum Y_bar_i
//
// and f' is the transpose of a map to accelerations, (7.5.8), of the state of the stage, with its
// written tangents; so are starts, restarts and the accelerations at the end of a step.
#include "study/adjoint_explicit_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "integrate/lie_block.h"

#include <math.h>
#include <string.h>

enum { STAGES = 4 };
static const double weight[STAGES] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
                    reach[STAGES] = {0, 0.5, 0.5, 1};

struct explicit_stages {
    int room, n;   // stages: room, and those of the last map
    bool ends;     // the accelerations at its end count, too
    snw_state **s; // states of the stages
    double *q;     // room x nq: their configurations, with quaternions of any length
    double *trial; // 2 ny: of a stage, its rates
    double *y;     // nscalar x ny: bars of y
    double *next;  // nscalar x ny: those of the stage after
    double *sum;   // nscalar x ny: those of all stages of a step
    double *block; // of covectors: (room + 1) x nscalar x (nv + nconstraint + nsignal)
};

bool snw_adjoint_transposed_stages(const snw_adjoint *a) {
    return a->explicit_map && a->explicit_map->written;
}

bool adjoint_runge_kutta_applies(const snw_adjoint *a, const snw_map *map) {
    const snw_model *m = a->m;
    // velocities jump where rates of given strains or poses do
    const bool jumps = memcmp(map->s.v, map->v0, (size_t)m->nv * sizeof *map->v0) != 0;
    if (map->ode.kind != SNW_ODE_RK4 || (map->h > 0 ? !map->stage_rates : jumps)) return false;
    return !map->ode.locomotion && m->nconstraint == 0 && m->ncondition == 0 && m->nbranch == 0;
}

// ---- memory -------------------------------------------------------------------------------------

static size_t y_size(const snw_model *m) {
    return (size_t)m->nq + (size_t)m->nv + (size_t)m->nsignal;
}

static size_t covector_size(const snw_model *m) {
    return (size_t)m->nv + (size_t)m->nconstraint + (size_t)m->nsignal;
}

void adjoint_runge_kutta_destroy(explicit_stages *x) {
    if (!x) return;
    for (int i = 0; i < x->room && x->s; i++) snw_state_destroy(x->s[i]);
    snw_free(x->s);
    snw_free(x->q);
    snw_free(x->y);
    snw_free(x->block);
    snw_free(x);
}

static snw_status stages_create(const snw_adjoint *a, int room, explicit_stages **out) {
    const snw_model *m = a->m;
    const size_t ny = y_size(m), ns = (size_t)a->nscalar, n = (size_t)room;
    explicit_stages *x = snw_alloc(sizeof *x);
    *out = x;
    if (!x) return SNW_E_MEMORY;
    *x = (explicit_stages){.room = room};
    x->s = snw_alloc(n * sizeof *x->s);
    x->q = snw_alloc((n * (size_t)m->nq + 2 * ny + 1) * sizeof *x->q);
    x->y = snw_alloc((3 * ns * ny + 1) * sizeof *x->y);
    x->block = snw_alloc(((n + 1) * ns * covector_size(m) + 1) * sizeof *x->block);
    if (!x->s || !x->q || !x->y || !x->block) return SNW_E_MEMORY;
    memset(x->s, 0, n * sizeof *x->s);
    for (size_t i = 0; i < n; i++) SNW_TRY(snw_state_create(m, &x->s[i]));
    x->trial = x->q + n * (size_t)m->nq;
    x->next = x->y + ns * ny;
    x->sum = x->next + ns * ny;
    return SNW_OK;
}

// x->stages with room for the stages of a map
static snw_status stages_open(const snw_adjoint *a, const snw_map *map, snw_error *err) {
    struct adjoint_explicit *x = a->explicit_map;
    const int most = map->nstage > STAGES ? map->nstage : STAGES;
    if (x->stages && x->stages->room < most) {
        adjoint_runge_kutta_destroy(x->stages);
        x->stages = NULL;
    }
    if (!x->stages && stages_create(a, most, &x->stages) != SNW_OK) return snw_fail_memory(err);
    x->stages->n = map->nstage;
    return SNW_OK;
}

// ---- spherical and free joints ------------------------------------------------------------------

// A quaternion, or a bar of one: its scalar and its vector.
typedef struct quaternion {
    double s;
    snw_vec3 v;
} quaternion;

static quaternion quaternion_at(const double *q) {
    return (quaternion){q[0], {{q[1], q[2], q[3]}}};
}

static void add_quaternion(double c, quaternion h, double *to) {
    to[0] += c * h.s;
    for (int i = 0; i < 3; i++) to[1 + i] += c * h.v.e[i];
}

static snw_vec3 vector_at(const double *x) { return (snw_vec3){{x[0], x[1], x[2]}}; }

static snw_mat3 rotation_at(const double *q) {
    return snw_quat_to_mat3((snw_quat){{q[0], q[1], q[2], q[3]}});
}

static void add_vector(double c, snw_vec3 x, double *to) {
    for (int i = 0; i < 3; i++) to[i] += c * x.e[i];
}

// Transpose of x -> h (0, x), which is linear in both: by x, and by h.
static snw_vec3 product_by_vector(quaternion h, quaternion bar) {
    return snw_add(snw_sub(snw_scale(h.s, bar.v), snw_scale(bar.s, h.v)), snw_cross(bar.v, h.v));
}

static quaternion product_by_quaternion(snw_vec3 x, quaternion bar) {
    return (quaternion){snw_dot(bar.v, x), snw_add(snw_scale(-bar.s, x), snw_cross(x, bar.v))};
}

// to (nq) += bars of q from those by body twists, place (nv), at q: z = 2 Im(h* dh)/|h|^2.
static void add_place(const snw_model *m, const double *q, const double *place, double *to) {
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (b->space == SNW_SPACE_RN) {
            for (int i = 0; i < b->n; i++) to[b->q + i] += place[b->dof + i];
            continue;
        }
        const quaternion h = quaternion_at(q + b->q);
        const snw_vec3 z = vector_at(place + b->dof);
        const quaternion by = {-snw_dot(h.v, z), snw_add(snw_scale(h.s, z), snw_cross(h.v, z))};
        add_quaternion(2 / (h.s * h.s + snw_dot(h.v, h.v)), by, to + b->q);
        if (b->space == SNW_SPACE_SO3) continue;
        const snw_mat3 R = rotation_at(q + b->q);
        add_vector(1, snw_rotate(R, vector_at(place + b->dof + 3)), to + b->q + 4);
    }
}

// place (nv) <- bars by body twists at q, whose quaternions have the length 1
static void find_place(const snw_model *m, const double *q, const double *bar, double *place) {
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (b->space == SNW_SPACE_RN) {
            for (int i = 0; i < b->n; i++) place[b->dof + i] = bar[b->q + i];
            continue;
        }
        const quaternion h = quaternion_at(q + b->q), by = quaternion_at(bar + b->q);
        memset(place + b->dof, 0, (size_t)b->n * sizeof *place);
        add_vector(0.5, product_by_vector(h, by), place + b->dof);
        if (b->space == SNW_SPACE_SO3) continue;
        const snw_mat3 R = rotation_at(q + b->q);
        add_vector(1, snw_rotate_inv(R, vector_at(bar + b->q + 4)), place + b->dof + 3);
    }
}

// to (nq), place, rate (nv) += bars of q, and by body twists and rates, from those of the rates of
// q
static void add_rates(const snw_model *m, const double *q, const double *v, const double *bar,
                      double *to, double *place, double *rate) {
    for (int k = 0; k < m->nblock; k++) {
        const snw_block *b = &m->block[k];
        if (b->space == SNW_SPACE_RN) {
            for (int i = 0; i < b->n; i++) rate[b->dof + i] += bar[b->q + i];
            continue;
        }
        const quaternion h = quaternion_at(q + b->q), by = quaternion_at(bar + b->q);
        const snw_vec3 w = vector_at(v + b->dof);
        add_vector(0.5, product_by_vector(h, by), rate + b->dof);
        add_quaternion(0.5, product_by_quaternion(w, by), to + b->q);
        if (b->space == SNW_SPACE_SO3) continue;
        const snw_mat3 R = rotation_at(q + b->q);
        const snw_vec3 p = snw_rotate_inv(R, vector_at(bar + b->q + 4));
        add_vector(1, p, rate + b->dof + 3);
        add_vector(1, snw_cross(vector_at(v + b->dof + 3), p), place + b->dof);
    }
}

// ---- equations ----------------------------------------------------------------------------------

// The map to the accelerations at a state.
static snw_map accelerations_at(const snw_map *map, const snw_state *s, double t_laws) {
    snw_map at = *map;
    at.kind = SNW_MAP_ACCELERATIONS;
    at.s = *s;
    at.t_laws = t_laws;
    at.h = 0;
    at.z_from = NULL;
    at.settles = at.time_moves = at.length_moves = false;
    return at;
}

static double *covector_of(const snw_adjoint *a, const explicit_stages *x, int i, int scalar) {
    return x->block + ((size_t)i * (size_t)a->nscalar + (size_t)scalar) * covector_size(a->m);
}

static void keep_covectors(const snw_adjoint *a, const explicit_stages *x, int i) {
    const size_t nv = (size_t)a->m->nv, nr = (size_t)a->m->nconstraint;
    for (int k = 0; k < a->nscalar; k++) {
        const snw_covectors *v = &a->covectors[k];
        double *to = covector_of(a, x, i, k);
        memcpy(to, v->mu, nv * sizeof *to);
        memcpy(to + nv, v->nu, nr * sizeof *to);
        memcpy(to + nv + nr, v->integrand, (size_t)a->m->nsignal * sizeof *to);
    }
}

int adjoint_runge_kutta_count(const snw_adjoint *a) {
    const explicit_stages *x = a->explicit_map->stages;
    return x->n + x->ends;
}

snw_map adjoint_runge_kutta_show(const snw_adjoint *a, const snw_map *map, int i, int *part) {
    const explicit_stages *x = a->explicit_map->stages;
    const size_t nv = (size_t)a->m->nv, nr = (size_t)a->m->nconstraint;
    for (int k = 0; k < a->nscalar; k++) {
        const snw_covectors *v = &a->covectors[k];
        const double *from = covector_of(a, x, i, k);
        memcpy(v->mu, from, nv * sizeof *from);
        memcpy(v->nu, from + nv, nr * sizeof *from);
        memcpy(v->integrand, from + nv + nr, (size_t)a->m->nsignal * sizeof *from);
    }
    if (i == x->n) {
        *part = map->h > 0 ? EXPLICIT_END : EXPLICIT_START;
        return accelerations_at(map, &map->s, map->t_laws);
    }
    // of several steps in one map, the nearest of its three times
    const double at = (double)STAGES * (i / STAGES + reach[i % STAGES]) / x->n;
    *part = at < 0.25 ? EXPLICIT_START : at > 0.75 ? EXPLICIT_END : EXPLICIT_MIDDLE;
    return accelerations_at(map, x->s[i], x->s[i]->t);
}

double adjoint_runge_kutta_magnitude(const snw_adjoint *a, int scalar) {
    const explicit_stages *x = a->explicit_map->stages;
    double sum = 0;
    for (int i = 0; i < adjoint_runge_kutta_count(a); i++) {
        const double *mu = covector_of(a, x, i, scalar);
        for (int k = 0; k < a->m->nv; k++) sum += fabs(mu[k]) * a->m->scale[k];
    }
    return sum;
}

// ---- a map --------------------------------------------------------------------------------------

// Bars back through the accelerations at the end of a map.
static snw_status back_end(snw_adjoint *a, const snw_map *map, explicit_stages *x, snw_error *err) {
    const snw_map at = accelerations_at(map, &map->s, map->t_laws);
    x->ends = !snw_adjoint_idle(a, &at);
    if (!x->ends) return SNW_OK;
    SNW_TRY(adjoint_accelerations_back(a, &at, err));
    keep_covectors(a, x, x->n);
    return SNW_OK;
}

// x->y <- bars of y from those of the state at the end of a step
static void leave_state(const snw_adjoint *a, const snw_map *map, const explicit_stages *x) {
    const snw_model *m = a->m;
    for (int k = 0; k < a->nscalar; k++) {
        const snw_bars *b = &a->bars[k];
        double *y = x->y + (size_t)k * y_size(m);
        memset(y, 0, (size_t)m->nq * sizeof *y);
        add_place(m, map->s.q, b->place, y);
        memcpy(y + m->nq, b->rate, (size_t)m->nv * sizeof *y);
        memcpy(y + m->nq + m->nv, b->z, (size_t)m->nsignal * sizeof *y);
    }
}

// Bars <- those of the state before a step, from x->y.
static void reach_state(const snw_adjoint *a, const snw_map *map, const explicit_stages *x) {
    const snw_model *m = a->m;
    for (int k = 0; k < a->nscalar; k++) {
        const snw_bars *b = &a->bars[k];
        const double *y = x->y + (size_t)k * y_size(m);
        find_place(m, map->q0, y, b->place);
        memcpy(b->rate, y + m->nq, (size_t)m->nv * sizeof *y);
        memcpy(b->z, y + m->nq + m->nv, (size_t)m->nsignal * sizeof *y);
    }
}

// Bars <- those of the rates of stage i of a step of length h from x->y and x->next.
static void begin_stage(const snw_adjoint *a, const explicit_stages *x, int i, double h) {
    const snw_model *m = a->m;
    const size_t ny = y_size(m), nv = (size_t)m->nv;
    const snw_state *s = x->s[i];
    const double *q = x->q + (size_t)i * (size_t)m->nq;
    const int stage = i % STAGES;
    for (int k = 0; k < a->nscalar; k++) {
        const snw_bars *b = &a->bars[k];
        const double *y = x->y + (size_t)k * ny;
        double *next = x->next + (size_t)k * ny, *sum = x->sum + (size_t)k * ny;
        for (size_t j = 0; j < ny; j++) {
            next[j] =
                h * (weight[stage] * y[j] + (stage < STAGES - 1 ? reach[stage + 1] * next[j] : 0));
        }
        memset(b->place, 0, nv * sizeof *b->place);
        memset(b->rate, 0, nv * sizeof *b->rate);
        memcpy(b->acc, next + m->nq, nv * sizeof *b->acc);
        for (int j = 0; j < m->nsignal; j++) {
            b->z[j] = 0;
            b->integrand[j] = adjoint_is_integral(m, j) ? next[m->nq + m->nv + j] : 0;
        }
        double *rates = a->line; // nq <= 7/6 nv
        memcpy(rates, next, (size_t)m->nq * sizeof *rates);
        memset(next, 0, (size_t)m->nq * sizeof *next);
        add_rates(m, q, s->v, rates, next, b->place, b->rate);
        for (int j = 0; j < m->nq; j++) sum[j] += next[j];
    }
}

// x->next, x->sum <- bars of y at the stage
static void end_stage(const snw_adjoint *a, const explicit_stages *x, int i) {
    const snw_model *m = a->m;
    const size_t ny = y_size(m);
    for (int k = 0; k < a->nscalar; k++) {
        const snw_bars *b = &a->bars[k];
        double *next = x->next + (size_t)k * ny, *sum = x->sum + (size_t)k * ny, *q = a->line;
        memset(q, 0, (size_t)m->nq * sizeof *q);
        add_place(m, x->q + (size_t)i * (size_t)m->nq, b->place, q);
        for (int j = 0; j < m->nq; j++) next[j] += q[j], sum[j] += q[j];
        memcpy(next + m->nq, b->rate, (size_t)m->nv * sizeof *next);
        memcpy(next + m->nq + m->nv, b->z, (size_t)m->nsignal * sizeof *next);
        for (size_t j = (size_t)m->nq; j < ny; j++) sum[j] += next[j];
    }
}

static snw_status back_step(snw_adjoint *a, const snw_map *map, int step, explicit_stages *x,
                            snw_error *err) {
    const size_t bytes = (size_t)a->nscalar * y_size(a->m) * sizeof *x->y;
    memcpy(x->sum, x->y, bytes);
    for (int i = STAGES * step + STAGES - 1; i >= STAGES * step; i--) {
        const snw_map at = accelerations_at(map, x->s[i], x->s[i]->t);
        begin_stage(a, x, i, STAGES * map->h / x->n);
        SNW_TRY(adjoint_accelerations_back(a, &at, err));
        keep_covectors(a, x, i);
        end_stage(a, x, i);
    }
    memcpy(x->y, x->sum, bytes);
    return SNW_OK;
}

// The states of the stages, from the state before the map and the rates of the stages.
static void find_stages(const snw_adjoint *a, const snw_map *map, const explicit_stages *x) {
    const snw_model *m = a->m;
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv, nz = (size_t)m->nsignal, ny = y_size(m);
    const double h = STAGES * map->h / map->nstage;
    double *y = x->y, *at = x->trial, *rates = at + ny, *sum = x->sum; // not in use so far
    memcpy(y, map->q0, nq * sizeof *y);
    memcpy(y + nq, map->v0, nv * sizeof *y);
    if (nz > 0) memcpy(y + nq + nv, map->z_from, nz * sizeof *y);
    memset(rates, 0, ny * sizeof *rates);
    memcpy(sum, y, ny * sizeof *sum);
    for (int i = 0; i < x->n; i++) {
        const int stage = i % STAGES;
        const double *of = map->stage_rates + i * snw_explicit_stage_size(m);
        snw_state *s = x->s[i];
        if (stage == 0) memcpy(y, sum, ny * sizeof *y);
        for (size_t k = 0; k < ny; k++) at[k] = y[k] + reach[stage] * h * rates[k];
        snw_state_copy(m, &map->s, s);
        snw_explicit_to_state(m, at, s);
        memcpy(x->q + (size_t)i * nq, at, nq * sizeof *at);
        s->t = of[0];
        memcpy(s->v, of + 1, nv * sizeof *of);
        memcpy(s->a, of + 1 + nv, nv * sizeof *of);
        snw_explicit_configuration_rates(m, at, s, rates);
        memcpy(rates + nq, of + 1 + nv, (nv + nz) * sizeof *of);
        for (size_t k = 0; k < ny; k++) sum[k] += weight[stage] * h * rates[k];
    }
}

snw_status adjoint_runge_kutta_back(snw_adjoint *a, const snw_map *map, snw_error *err) {
    SNW_TRY(stages_open(a, map, err));
    explicit_stages *x = a->explicit_map->stages;
    if (map->h > 0) find_stages(a, map, x);
    SNW_TRY(back_end(a, map, x, err));
    if (map->h == 0) return SNW_OK;
    leave_state(a, map, x);
    for (int i = x->n / STAGES - 1; i >= 0; i--) SNW_TRY(back_step(a, map, i, x, err));
    reach_state(a, map, x);
    return SNW_OK;
}
