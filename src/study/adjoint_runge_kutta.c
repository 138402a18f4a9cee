// SPDX-License-Identifier: MIT
//
// Transposed steps of rk4, theory.md (7.5.53). With y = (q, v, z), quaternions of any length in q,
// a step is y_1 = y_0 + h sum b_i k_i with the rates k_i = f(y_0 + h a_i k_(i-1), t_i). Backwards,
//
//     k_bar_i = h b_i y_bar + h a_(i+1) Y_bar_(i+1),   Y_bar_i = f'(k_bar_i),   y_bar_0 = y_bar +
//     sum Y_bar_i
//
// and f' is the transpose of a map to accelerations, (7.5.8), of the state of the stage, with its
// written tangents; so are starts, restarts and the accelerations at the end of a step. Kinematic
// steps have those of adjoint_kinematic.c.
#include "study/adjoint_explicit_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"
#include "study/model_geometry.h"

#include <math.h>
#include <string.h>

enum { STAGES = 4 };
static const double weight[STAGES] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
                    reach[STAGES] = {0, 0.5, 0.5, 1};

struct explicit_stages {
    int room, n;   // stages: room, and those of the last map
    bool ends;     // the equations at its end count, too
    bool keeps;    // likewise those of a conserved momentum
    bool loops;    // steps of rk4 end with closed loops
    bool closes;   // likewise two, by which loops are closed at the end
    snw_state **s; // states of the stages
    double *q;     // (room + 1) x nq: their configurations, with quaternions of any length, the end
                   // last
    double *v;     // (room + 1) x nv: velocities that were integrated, those at the end last
    double *trial; // 2 ny: of a stage, its rates
    double *y;     // nscalar x ny: bars of y
    double *next;  // nscalar x ny: those of the stage after
    double *sum;   // nscalar x ny: those of all stages of a step
    double *block; // of covectors: (room + 3) x nscalar x covector_size
    // of kinematic steps and loops
    double *impulse, *before; // room + 3 of nconstraint, nv: of the equations
    snw_state *start;         // of the momentum; not closed
    kinematic_work kinematic;
};

bool snw_adjoint_transposed_stages(const snw_adjoint *a) {
    return a->explicit_map && a->explicit_map->written;
}

// ---- memory -------------------------------------------------------------------------------------

static size_t y_size(const snw_model *m) {
    return (size_t)m->nq + (size_t)m->nv + (size_t)m->nsignal;
}

static size_t covector_size(const snw_model *m) {
    return 3 * (size_t)m->nv + 2 * (size_t)m->nconstraint + (size_t)m->nsignal;
}

void adjoint_runge_kutta_destroy(explicit_stages *x) {
    if (!x) return;
    for (int i = 0; i < x->room && x->s; i++) snw_state_destroy(x->s[i]);
    snw_free(x->s);
    snw_free(x->q);
    snw_free(x->y);
    snw_free(x->block);
    snw_free(x->impulse);
    snw_free(x->kinematic.metric);
    snw_free(x->kinematic.momentum);
    snw_free(x->kinematic.closing);
    snw_free(x->kinematic.pivot);
    snw_free(x->kinematic.arena.base);
    snw_state_destroy(x->start);
    snw_model_geometry_destroy(x->kinematic.geometry);
    snw_free(x);
}

static snw_status kinematic_create(const snw_adjoint *a, explicit_stages *x) {
    const snw_model *m = a->m;
    const size_t nv = (size_t)m->nv, nr = (size_t)m->nconstraint, ns = (size_t)a->nscalar;
    kinematic_work *k = &x->kinematic;
    k->metric = snw_alloc((2 * nv * nv + 5 * nv + nr + nv * nr + ns * nv + 1) * sizeof *k->metric);
    k->momentum = snw_alloc(ns * sizeof *k->momentum);
    k->arena.size = snw_minimum_norm_scratch(m->nv, m->nconstraint);
    k->arena.base = snw_alloc(k->arena.size + 1);
    k->closing = snw_alloc((nr * (2 * nv + nr) + 2 * nv + 1) * sizeof *k->closing);
    k->pivot = snw_alloc((nr + 1) * sizeof *k->pivot);
    if (!k->metric || !k->momentum || !k->arena.base || !k->closing || !k->pivot)
        return SNW_E_MEMORY;
    k->scratch = k->metric + nv * nv;
    k->rows = k->scratch + nv * nv;
    k->jump = k->rows + 3 * nv;
    k->matrix = k->jump + nv;
    k->side = k->matrix + nv * nr;
    k->given = k->side + nv + nr;
    memset(k->metric, 0, nv * nv * sizeof *k->metric);
    for (size_t i = 0; i < nv; i++) k->metric[i * (nv + 1)] = 1 / (m->typical[i] * m->typical[i]);
    SNW_TRY(snw_state_create(m, &x->start));
    return snw_model_geometry_create(m, false, &k->geometry);
}

static snw_status stages_create(const snw_adjoint *a, int room, explicit_stages **out) {
    const snw_model *m = a->m;
    const size_t ny = y_size(m), ns = (size_t)a->nscalar, n = (size_t)room, nq = (size_t)m->nq,
                 nv = (size_t)m->nv, nr = (size_t)m->nconstraint;
    explicit_stages *x = snw_alloc(sizeof *x);
    *out = x;
    if (!x) return SNW_E_MEMORY;
    *x = (explicit_stages){.room = room};
    x->s = snw_alloc(n * sizeof *x->s);
    x->q = snw_alloc(((n + 1) * (nq + nv) + 2 * ny + 1) * sizeof *x->q);
    x->y = snw_alloc((3 * ns * ny + 1) * sizeof *x->y);
    x->block = snw_alloc(((n + 3) * ns * covector_size(m) + 1) * sizeof *x->block);
    x->impulse = snw_alloc(((n + 3) * (nr + nv) + 1) * sizeof *x->impulse);
    if (!x->s || !x->q || !x->y || !x->block || !x->impulse) return SNW_E_MEMORY;
    memset(x->s, 0, n * sizeof *x->s);
    for (size_t i = 0; i < n; i++) SNW_TRY(snw_state_create(m, &x->s[i]));
    x->v = x->q + (n + 1) * nq;
    x->trial = x->v + (n + 1) * nv;
    x->next = x->y + ns * ny;
    x->sum = x->next + ns * ny;
    x->before = x->impulse + (n + 3) * nr;
    return kinematic_create(a, x);
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

// The equations at a state: a map to its accelerations, or of a kinematic step, like a restart.
static snw_map equations_at(const snw_map *map, const snw_state *s, double t_laws,
                            const double *before) {
    snw_map at = *map;
    at.kind = map->ode.locomotion ? SNW_MAP_RESTART : SNW_MAP_ACCELERATIONS;
    at.steady = false;
    at.hard = NULL;
    at.s = *s;
    at.t_laws = t_laws;
    at.h = 0;
    at.z_from = NULL;
    at.before = before;
    at.v0 = NULL;
    at.settles = at.time_moves = at.length_moves = false;
    return at;
}

static double *covector_of(const snw_adjoint *a, const explicit_stages *x, int i, int scalar) {
    return x->block + ((size_t)i * (size_t)a->nscalar + (size_t)scalar) * covector_size(a->m);
}

// Copies the covectors of equation i, and its impulse, into store or from there.
static void copy_covectors(const snw_adjoint *a, const explicit_stages *x, int i, bool keep) {
    const size_t nv = (size_t)a->m->nv, nr = (size_t)a->m->nconstraint;
    for (int k = 0; k <= a->nscalar; k++) {
        const snw_covectors *v = &a->covectors[k < a->nscalar ? k : 0];
        double *own[] = {v->mu, v->y, v->law_rate, v->nu, v->z, v->integrand};
        const size_t n[] = {nv, nv, nv, nr, nr, (size_t)a->m->nsignal};
        double *to = covector_of(a, x, i, k);
        if (k == a->nscalar) {
            to = x->impulse + (size_t)i * nr;
            memcpy(keep ? to : a->impulse, keep ? a->impulse : to, nr * sizeof *to);
            break;
        }
        for (int j = 0; j < 6; j++) {
            memcpy(keep ? to : own[j], keep ? own[j] : to, n[j] * sizeof *to);
            to += n[j];
        }
    }
}

// Driven coordinates of s <- their laws.
static void place_driven(snw_adjoint *a, snw_state *s) {
    adjoint_inputs_at(a, s->t);
    for (int i = 0; i < a->m->ndrive; i++) {
        if (snw_drive_holds(a->m, s, i))
            s->q[a->m->drive[i].q] = snw_drive_target(a->m, a->in, s, i);
    }
}

// The state before a map, with the coordinates and rates that laws give.
static void find_start(snw_adjoint *a, const snw_map *map, const explicit_stages *x, double t) {
    const snw_model *m = a->m;
    snw_state *s = x->start;
    snw_state_copy(m, &map->s, s);
    memcpy(s->q, map->q0, (size_t)m->nq * sizeof *s->q);
    memcpy(s->v, map->v0, (size_t)m->nv * sizeof *s->v);
    if (m->nsignal) memcpy(s->z, map->z_from, (size_t)m->nsignal * sizeof *s->z);
    s->t = t;
    place_driven(a, s);
    for (int i = 0; i < m->ndrive; i++) {
        if (snw_drive_holds(m, s, i)) s->v[m->drive[i].dof] = a->in->drive[i].d;
    }
}

static double start_time(const snw_map *map) {
    const double t = map->s.t - map->h;
    return t + snw_time_resolution(t);
}

// Equations i of a map: those of the stages, then of its end, and of the momentum before it or of
// closing, at its end and at the state from which it is closed.
static snw_map equations_of(const snw_map *map, const explicit_stages *x, size_t nv, int i) {
    const double *before = x->before + (size_t)i * nv;
    if (i < x->n) {
        snw_map at = equations_at(map, x->s[i], x->s[i]->t, before);
        if (adjoint_kinematic_is_open(x->kinematic.lo)) at.v0 = x->v + (size_t)i * nv;
        return at;
    }
    if (i == x->n || (x->closes && i == x->n + 1)) {
        snw_map at = equations_at(map, &map->s, map->t_laws, before);
        if (x->loops) at.kind = i == x->n ? SNW_MAP_RESTART : SNW_MAP_STATIC;
        return at;
    }
    if (x->closes) {
        snw_map at = equations_at(map, x->start, map->t_laws, x->start->v);
        at.kind = SNW_MAP_RESTART;
        return at;
    }
    return equations_at(map, x->start, x->start->t, before);
}

int adjoint_runge_kutta_count(const snw_adjoint *a) {
    const explicit_stages *x = a->explicit_map->stages;
    return x->n + x->ends + x->keeps + 2 * x->closes;
}

snw_map adjoint_runge_kutta_show(const snw_adjoint *a, const snw_map *map, int i, int *part) {
    const explicit_stages *x = a->explicit_map->stages;
    copy_covectors(a, x, i, false);
    // of several steps in one map, the nearest of its three times
    const double at = i < x->n ? (double)STAGES * (i / STAGES + reach[i % STAGES]) / x->n
                      : (i > x->n && !x->closes) || map->h == 0 ? 0
                                                                : 1;
    *part = at < 0.25 ? EXPLICIT_START : at > 0.75 ? EXPLICIT_END : EXPLICIT_MIDDLE;
    return equations_of(map, x, (size_t)a->m->nv, i);
}

void adjoint_runge_kutta_metric(const snw_adjoint *a, const snw_model *m, int i, double *value) {
    const explicit_stages *x = a->explicit_map->stages;
    const double *d = x->kinematic.given;
    if (!x->closes || i != x->n + 2) return;
    for (int k = 0; k < m->nv; k++) {
        const double by = d[k] / (m->typical[k] * m->typical[k]);
        for (int j = 0; j < a->nscalar; j++) value[j] -= a->covectors[j].y[k] * by;
    }
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

// x->before of equation i, for the products of its covectors: the velocities whose jump has a
// momentum.
static void set_before(const snw_adjoint *a, const explicit_stages *x, const snw_map *map, int i) {
    const size_t nv = (size_t)a->m->nv, bytes = nv * sizeof(double);
    const snw_locomotion_class class = snw_locomotion_class_of(x->kinematic.lo);
    double *to = x->before + (size_t)i * nv;
    const bool open = adjoint_kinematic_is_open(x->kinematic.lo);
    if (class == SNW_LOCOMOTION_SYMMETRIC) {
        memset(to, 0, bytes);
    } else if (i == x->n && open) {
        memcpy(to, map->h > 0 ? x->v + (size_t)i * nv : map->v0, bytes);
    } else {
        memcpy(to, i < x->n ? x->s[i]->v : map->s.v, bytes);
    }
}

// Bars back through the equations i at the present state.
static snw_status back_equations(snw_adjoint *a, const snw_map *map, explicit_stages *x, int i,
                                 snw_error *err) {
    const size_t nv = (size_t)a->m->nv;
    if (map->ode.locomotion) {
        set_before(a, x, map, i);
        const snw_map at = equations_of(map, x, nv, i);
        const bool stage = i < x->n;
        const bool momentum = snw_locomotion_base(x->kinematic.lo, NULL) > 0;
        SNW_TRY(adjoint_kinematic_back(a, &at,
                                       stage       ? KINEMATIC_STAGE
                                       : i == x->n ? KINEMATIC_END
                                                   : KINEMATIC_MOMENTUM,
                                       momentum || !stage ? at.before : x->v + (size_t)i * nv,
                                       &x->kinematic, err));
    } else {
        const snw_map at = equations_of(map, x, nv, i);
        SNW_TRY(x->loops ? adjoint_loops_back(a, &at, &x->kinematic, err)
                         : adjoint_accelerations_back(a, &at, err));
    }
    copy_covectors(a, x, i, true);
    return SNW_OK;
}

// ---- a map --------------------------------------------------------------------------------------

// Bars back through the equations at the end of a map.
static snw_status back_end(snw_adjoint *a, const snw_map *map, explicit_stages *x, snw_error *err) {
    const snw_map at = equations_of(map, x, (size_t)a->m->nv, x->n);
    x->ends = map->ode.locomotion || !snw_adjoint_idle(a, &at);
    return x->ends ? back_equations(a, map, x, x->n, err) : SNW_OK;
}

// The state from which the loops are closed at the end of a step: x->start, at the way d to it.
// False: it is so long that its square matters.
static bool find_open(const snw_adjoint *a, const snw_map *map, const explicit_stages *x,
                      double *d) {
    const snw_model *m = a->m;
    snw_state *s = x->start;
    double *y = x->trial;
    memset(y, 0, y_size(m) * sizeof *y);
    memcpy(y, x->q + (size_t)x->n * (size_t)m->nq, (size_t)m->nq * sizeof *y);
    snw_state_copy(m, &map->s, s);
    snw_explicit_to_state(m, y, s);
    if (m->nsignal) memcpy(s->z, map->s.z, (size_t)m->nsignal * sizeof *s->z);
    memset(s->v, 0, (size_t)m->nv * sizeof *s->v);
    memset(s->a, 0, (size_t)m->nv * sizeof *s->a);
    memset(s->lambda, 0, (size_t)m->nconstraint * sizeof *s->lambda);
    return adjoint_loops_are_near(m, s->q, map->s.q, d);
}

// Bars back through the end of a step that closes loops.
static snw_status back_loops(snw_adjoint *a, const snw_map *map, explicit_stages *x,
                             snw_error *err) {
    const size_t nv = (size_t)a->m->nv;
    double *d = x->kinematic.given; // not in use here
    const double *before = map->h > 0 ? x->v + (size_t)x->n * nv : map->v0;
    memcpy(x->before + (size_t)x->n * nv, before, nv * sizeof *before);
    x->ends = true;
    SNW_TRY(back_equations(a, map, x, x->n, err));
    x->closes = map->h > 0;
    if (!x->closes) return SNW_OK;
    (void)find_open(a, map, x, d);
    const snw_map at = equations_at(map, &map->s, map->t_laws, NULL);
    SNW_TRY(adjoint_loops_close_back(a, &at, x->start, d, &x->kinematic, err));
    for (int part = 0; part < 2; part++) { // rows at the end; their directions before
        for (int k = 0; k < a->nscalar && part; k++)
            memset(a->covectors[k].nu, 0, (size_t)a->m->nconstraint * sizeof(double));
        copy_covectors(a, x, x->n + 1 + part, true);
    }
    return SNW_OK;
}

// Has a start given velocities, whose momentum is conserved from then on? Else it is zero.
static bool momentum_is_given(const snw_adjoint *a, const snw_map *map, const explicit_stages *x) {
    const snw_model *m = a->m;
    int base[6];
    const int n = snw_locomotion_base(x->kinematic.lo, base);
    if (!(map->begins && map->h == 0)) return n > 0;
    bool any = n > 0 && m->link_initial[m->base_link];
    for (int k = 0; k < n; k++) any = any || map->v0[base[k]] != 0;
    return any;
}

// Bars back through the momentum of the state before a map, which it conserves.
static snw_status back_momentum(snw_adjoint *a, const snw_map *map, explicit_stages *x,
                                snw_error *err) {
    x->keeps = map->ode.locomotion && momentum_is_given(a, map, x);
    if (!x->keeps) return SNW_OK;
    for (int k = 0; k < a->nscalar; k++)
        memset(a->bars[k].integrand, 0, (size_t)a->m->nsignal * sizeof(double));
    find_start(a, map, x, start_time(map));
    const snw_map at = equations_of(map, x, (size_t)a->m->nv, x->n + 1);
    adjoint_kinematic_find_given(a, &at, &x->kinematic);
    return back_equations(a, map, x, x->n + 1, err);
}

// x->y <- bars of y from those of the state at the end of a step
static void leave_state(const snw_adjoint *a, const explicit_stages *x) {
    const snw_model *m = a->m;
    for (int k = 0; k < a->nscalar; k++) {
        const snw_bars *b = &a->bars[k];
        double *y = x->y + (size_t)k * y_size(m);
        memset(y, 0, (size_t)m->nq * sizeof *y);
        add_place(m, x->q + (size_t)x->n * (size_t)m->nq, b->place, y);
        memcpy(y + m->nq, b->rate, (size_t)m->nv * sizeof *y);
        if (m->nsignal) memcpy(y + m->nq + m->nv, b->z, (size_t)m->nsignal * sizeof *y);
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
        if (m->nsignal) memcpy(b->z, y + m->nq + m->nv, (size_t)m->nsignal * sizeof *y);
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
        begin_stage(a, x, i, STAGES * map->h / x->n);
        SNW_TRY(back_equations(a, map, x, i, err));
        end_stage(a, x, i);
    }
    memcpy(x->y, x->sum, bytes);
    return SNW_OK;
}

// The states of the stages, from the state before the map and the rates of the stages.
static void find_stages(snw_adjoint *a, const snw_map *map, const explicit_stages *x) {
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
        memcpy(x->v + (size_t)i * nv, s->v, nv * sizeof *of);
        memcpy(s->v, of + 1, nv * sizeof *of);
        memcpy(s->a, of + 1 + nv, nv * sizeof *of);
        memcpy(s->lambda, of + 1 + 2 * nv + nz, (size_t)m->nconstraint * sizeof *of);
        if (map->ode.locomotion) place_driven(a, s);
        snw_explicit_configuration_rates(m, at, s, rates);
        memcpy(rates + nq, of + 1 + nv, (nv + nz) * sizeof *of);
        for (size_t k = 0; k < ny; k++) sum[k] += weight[stage] * h * rates[k];
    }
    memcpy(x->q + (size_t)x->n * nq, sum, nq * sizeof *sum);
    memcpy(x->v + (size_t)x->n * nv, sum + nq, nv * sizeof *sum);
}

// Are steps of rk4 of a robot with constraints those of adjoint_loop_stages.c?
static bool loops_apply(snw_adjoint *a, const snw_map *map) {
    snw_error ignored;
    if (a->m->ncondition + a->m->nbranch > 0 || !adjoint_loops_apply(a->m)) return false;
    if (map->h == 0) return true;
    if (stages_open(a, map, &ignored) != SNW_OK) return false;
    const explicit_stages *x = a->explicit_map->stages;
    find_stages(a, map, x);
    return find_open(a, map, x, x->kinematic.given);
}

bool adjoint_runge_kutta_applies(snw_adjoint *a, const snw_map *map) {
    const snw_model *m = a->m;
    if (map->ode.kind != SNW_ODE_RK4 || (map->h > 0 && !map->stage_rates)) return false;
    const snw_locomotion *lo = snw_explicit_locomotion(a->explicit_map->engine);
    if (lo) return adjoint_kinematic_applies(a, lo, &map->ode);
    if (m->nconstraint > 0) return loops_apply(a, map);
    // velocities jump where rates of given strains or poses do
    const bool jumps = memcmp(map->s.v, map->v0, (size_t)m->nv * sizeof *map->v0) != 0;
    return !(map->h == 0 && jumps) && m->ncondition == 0 && m->nbranch == 0;
}

snw_status adjoint_runge_kutta_back(snw_adjoint *a, const snw_map *map, snw_error *err) {
    SNW_TRY(stages_open(a, map, err));
    explicit_stages *x = a->explicit_map->stages;
    x->kinematic.lo = snw_explicit_locomotion(a->explicit_map->engine);
    x->keeps = false;
    for (int k = 0; k < a->nscalar; k++) x->kinematic.momentum[k] = snw_twist_zero();
    x->loops = a->m->nconstraint > 0 && !map->ode.locomotion;
    x->closes = false;
    if (map->h > 0) find_stages(a, map, x);
    SNW_TRY(x->loops ? back_loops(a, map, x, err) : back_end(a, map, x, err));
    if (map->h > 0) {
        leave_state(a, x);
        for (int i = x->n / STAGES - 1; i >= 0; i--) SNW_TRY(back_step(a, map, i, x, err));
        reach_state(a, map, x);
    }
    return back_momentum(a, map, x, err);
}
