// SPDX-License-Identifier: MIT
//
// The step of a robot as a map of points, with its exact derivatives, theory.md 7.4: an implicit
// integrator whose steps are never divided, on a robot of its own.
#include "sinew/step_map.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "integrate/implicit.h"
#include "math/se3_tangent.h"
#include "robot/robot_linear.h"
#include "study/linear_inputs.h"
#include "study/step_tangent.h"

#include <math.h>
#include <string.h>

// Where a number of the caller's inputs goes.
typedef struct map_input {
    int u;               // number in u of the robot; -1: component of a load, or a motion
    int load, component; // torque, force
    double *given;       // value, rate or acceleration of a given coordinate, else NULL
    double *since;       // its time, s
} map_input;

struct snw_step_map {
    snw_robot *r; // state, inputs, probes
    snw_implicit *im;
    snw_linear_model *linear;
    snw_step_tangent *tangent; // of the linear model, in place of `im`; NULL: none
    map_input *input;          // nu
    snw_linear_state *state;   // nx
    double *trial;             // a point
    double *increment;         // nv
};

void snw_step_map_close(snw_step_map *map) {
    if (!map) return;
    snw_linear_close(map->linear);
    snw_implicit_destroy(map->im);
    snw_robot_close(map->r);
    snw_free(map->input);
    snw_free(map->state);
    snw_free(map->trial);
    snw_free(map->increment);
    snw_free(map);
}

const snw_linear_model *snw_step_map_model(const snw_step_map *map) {
    return map ? map->linear : NULL;
}

size_t snw_step_map_points(const snw_step_map *map) {
    return map ? snw_implicit_past_size(map->r->m) : 0;
}

void snw_step_map_sizes(const snw_step_map *map, int *nq, int *nv, int *nconstraint) {
    if (nq) *nq = map ? map->r->m->nq : 0;
    if (nv) *nv = map ? map->r->m->nv : 0;
    if (nconstraint) *nconstraint = map ? map->r->m->nconstraint : 0;
}

// ---- inputs -------------------------------------------------------------------------------------

// Gives all coordinates of a motor, or the length of a tendon, by numbers: those that are no inputs
// keep their present values.
static map_input give_motion(snw_step_map *map, const snw_linear_input *from, int derivative) {
    snw_robot *r = map->r;
    const snw_model *m = r->m;
    snw_held_inputs *h = &r->held;
    snw_jet *jet = NULL;
    double *since = NULL;
    for (int i = 0; i < m->ntendon; i++) {
        if (m->tendon[i].row != from->row) continue;
        if (!h->tendon_given[i]) h->tendon[i] = (snw_jet){.v = r->in->tendon[i].v};
        h->tendon_given[i] = true;
        jet = &h->tendon[i];
        since = &h->tendon_since[i];
    }
    for (int i = 0; i < m->ndrive && !jet; i++) {
        if (m->drive[i].row != from->row) continue;
        const int motor = m->drive[i].motor, first = h->motor_first[motor];
        for (int k = 0; k < m->ndrive && !h->motor_given[motor]; k++) {
            if (m->drive[k].motor != motor || m->drive[k].passive) continue;
            h->motor[first + m->drive[k].dof - m->motor[motor].dof] =
                (snw_jet){.v = r->in->drive[k].v};
        }
        h->motor_given[motor] = true;
        jet = &h->motor[first + m->drive[i].dof - m->motor[motor].dof];
        since = &h->motor_since[motor];
    }
    r->inputs_stale = true;
    return (map_input){.u = -1,
                       .given = derivative == 0   ? &jet->v
                                : derivative == 1 ? &jet->d
                                                  : &jet->dd,
                       .since = since};
}

static snw_status list_inputs(snw_step_map *map, snw_error *err) {
    const snw_linear_model *m = map->linear;
    for (int i = 0; i < m->nu; i++) {
        map_input *to = &map->input[i];
        int derivative = 0;
        const snw_linear_input *from = snw_linear_input_at(m, i, &derivative);
        if (from->kind == SNW_LINEAR_OTHER)
            return snw_fail(err, SNW_E_ARGUMENT,
                            "'%s' is no input of a map of steps: inputs are efforts, tensions, "
                            "pressures, gas, activations, given coordinates and components of "
                            "loads",
                            m->input[i].name);
        if (from->kind == SNW_LINEAR_GIVEN) {
            *to = give_motion(map, from, derivative);
            continue;
        }
        *to = (map_input){.u = -1, .load = from->item, .component = from->component};
        if (from->kind == SNW_LINEAR_LOAD) {
            snw_robot *r = map->r;
            snw_residual(r->m, r->in, r->s, false, r->w);
            snw_held_keep_load(&r->held, r->m, to->load, r->in, r->w);
            r->inputs_stale = true;
            continue;
        }
        to->u = snw_robot_model_find(map->r->model, SNW_PART_INPUT, m->input[i].name);
        if (to->u < 0)
            return snw_fail(err, SNW_E_ARGUMENT, "'%s' is no input of the robot", m->input[i].name);
    }
    return SNW_OK;
}

// t: time at which given coordinates have their values and rates
static snw_status set_inputs(snw_step_map *map, double t, const double *u, snw_error *err) {
    snw_robot *r = map->r;
    if (map->linear->nu > 0) SNW_TRY(snw_robot_check_numbers("u", map->linear->nu, u, err));
    for (int i = 0; i < map->linear->nu; i++) {
        const map_input *to = &map->input[i];
        if (to->given) {
            *to->given = u[i];
            *to->since = t;
            r->inputs_stale = true;
        } else if (to->u >= 0) {
            r->u[to->u] = u[i];
        } else {
            r->held.load[to->load].e[to->component] = u[i];
            r->inputs_stale = true;
        }
    }
    return snw_robot_apply_inputs(r, err);
}

// ---- points -------------------------------------------------------------------------------------

static snw_status check_point(const snw_step_map *map, const char *name, const double *point,
                              snw_error *err) {
    if (!map) return snw_fail(err, SNW_E_ARGUMENT, "the map is NULL");
    return snw_robot_check_numbers(name, (int)snw_step_map_points(map), point, err);
}

// point <- time, coordinates and velocities of s; such steps have no other past
static void write_point(const snw_step_map *map, const snw_state *s, double *point) {
    const snw_model *m = map->r->m;
    const double t = s->t; // s may be the robot's
    const snw_past p = snw_past_at(m, point);
    memset(point, 0, snw_step_map_points(map) * sizeof *point);
    *p.t = t;
    memcpy(p.q, s->q, (size_t)m->nq * sizeof *p.q);
    memcpy(p.history, s->v, (size_t)m->nv * sizeof *p.history);
}

// the robot <- a point, with its inputs
static void take_point(snw_step_map *map, const double *point) {
    snw_robot *r = map->r;
    const snw_past p = snw_past_at(r->m, (double *)point);
    r->s->t = *p.t;
    memcpy(r->s->q, p.q, (size_t)r->m->nq * sizeof *p.q);
    memcpy(r->s->v, p.history, (size_t)r->m->nv * sizeof *p.history);
    r->inputs_stale = true;
    snw_robot_refresh_inputs(r);
}

// point <- the state of the robot, where a motion starts
static snw_status start_point(snw_step_map *map, double *point, snw_error *err) {
    if (map->tangent) return write_point(map, map->r->s, point), SNW_OK;
    SNW_TRY(snw_implicit_start(map->im, map->r->s, err));
    snw_implicit_read_past(map->im, point);
    return SNW_OK;
}

// the robot <- state and inputs of the integrator
static void show(snw_step_map *map) {
    snw_state_copy(map->r->m, snw_implicit_state(map->im), map->r->s);
    snw_inputs_copy(snw_implicit_inputs(map->im), map->r->in);
    map->r->inputs_stale = false;
}

snw_status snw_step_map_begin(snw_step_map *map, const snw_robot *r, const double *u, double *point,
                              snw_error *err) {
    if (!map || !r || !point)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL",
                        !map ? "the map"
                        : !r ? "the robot"
                             : "point");
    const snw_model *m = map->r->m;
    if (r->m->nq != m->nq || r->m->nv != m->nv)
        return snw_fail(err, SNW_E_ARGUMENT, "the robot has other coordinates than the map");
    SNW_TRY(set_inputs(map, r->s->t, u, err));
    snw_state *s = map->r->s;
    s->t = r->s->t;
    memcpy(s->q, r->s->q, (size_t)m->nq * sizeof *s->q);
    memcpy(s->v, r->s->v, (size_t)m->nv * sizeof *s->v);
    SNW_TRY(snw_robot_check_state(map->r, err));
    SNW_TRY(snw_robot_project(map->r, err));
    return start_point(map, point, err);
}

snw_status snw_step_map_rest(snw_step_map *map, double t, const double *u, double *point,
                             snw_error *err) {
    if (!map || !point)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", map ? "point" : "the map");
    if (!isfinite(t)) return snw_fail(err, SNW_E_ARGUMENT, "t must be finite, got %g", t);
    SNW_TRY(set_inputs(map, t, u, err));
    map->r->inputs_stale = true;
    SNW_TRY(snw_robot_set_time(map->r, t));
    SNW_TRY(snw_robot_equilibrium(map->r, t, err));
    return start_point(map, point, err);
}

static void show_point(snw_step_map *map, const double *point) {
    if (map->tangent) {
        take_point(map, point);
    } else {
        snw_implicit_write_past(map->im, point);
        show(map);
    }
}

// y (ny; NULL: not wanted) <- outputs at the present state of the robot
static void read_outputs(snw_step_map *map, double *y) {
    if (y) snw_linear_values(map->linear, y);
}

snw_status snw_step_map_step(snw_step_map *map, const double *from, const double *u, int linear,
                             double *to, double *y, snw_error *err) {
    SNW_TRY(check_point(map, "from", from, err));
    if (!to) return snw_fail(err, SNW_E_ARGUMENT, "to is NULL");
    const double t = *snw_past_at(map->r->m, (double *)from).t;
    SNW_TRY(set_inputs(map, t + snw_linear_step_length(map->linear), u, err));
    if (map->tangent) {
        take_point(map, from);
        SNW_TRY(snw_step_tangent_do(map->tangent, &map->r->held.manual, map->r->s, err));
        snw_state_copy(map->r->m, snw_step_tangent_end(map->tangent), map->r->s);
        map->r->inputs_stale = true;
        snw_robot_refresh_inputs(map->r);
    } else {
        snw_implicit_write_past(map->im, from);
        SNW_TRY(snw_linear_do_step(map->linear, map->r, map->im, err));
        memcpy(map->increment, snw_implicit_increment(map->im),
               (size_t)map->r->m->nv * sizeof *map->increment);
    }
    if (linear) {
        SNW_TRY(snw_linear_of_step(map->linear, map->increment, err));
        for (int i = 0; y && i < map->linear->ny; i++) y[i] = map->linear->output[i].value;
    } else {
        read_outputs(map, y);
    }
    if (map->tangent) return write_point(map, snw_step_tangent_end(map->tangent), to), SNW_OK;
    snw_implicit_read_past(map->im, to);
    return SNW_OK;
}

snw_status snw_step_map_outputs(snw_step_map *map, const double *point, const double *u, int linear,
                                double *y, snw_error *err) {
    SNW_TRY(check_point(map, "point", point, err));
    if (!y) return snw_fail(err, SNW_E_ARGUMENT, "y is NULL");
    SNW_TRY(set_inputs(map, *snw_past_at(map->r->m, (double *)point).t, u, err));
    show_point(map, point);
    if (!linear) return read_outputs(map, y), SNW_OK;
    memset(map->increment, 0, (size_t)map->r->m->nv * sizeof *map->increment);
    SNW_TRY(snw_linear_of_step(map->linear, map->tangent ? NULL : map->increment, err));
    for (int i = 0; i < map->linear->ny; i++) y[i] = map->linear->output[i].value;
    return SNW_OK;
}

// Number in the history of a point of a state that is no displacement.
static size_t history_of(const snw_step_map *map, snw_linear_state x) {
    static const int part[] = {[SNW_STATE_RATE] = 0,
                               [SNW_STATE_ACCELERATION] = 1,
                               [SNW_STATE_PSEUDO] = 2,
                               [SNW_STATE_INCREMENT] = 3,
                               [SNW_STATE_RATE_BEFORE] = 4};
    return (size_t)part[x.role] * (size_t)map->r->m->nv + (size_t)x.index;
}

snw_status snw_step_map_difference(snw_step_map *map, const double *from, const double *to,
                                   double *x, snw_error *err) {
    SNW_TRY(check_point(map, "from", from, err));
    SNW_TRY(check_point(map, "to", to, err));
    if (!x) return snw_fail(err, SNW_E_ARGUMENT, "x is NULL");
    const snw_model *m = map->r->m;
    const snw_past a = snw_past_at(m, (double *)from), b = snw_past_at(m, (double *)to);
    snw_difference(m, a.q, b.q, map->increment);
    for (int i = 0; i < map->linear->nx; i++) {
        const snw_linear_state s = map->state[i];
        const size_t k = s.role == SNW_STATE_COORDINATE ? 0 : history_of(map, s);
        x[i] =
            s.role == SNW_STATE_COORDINATE ? map->increment[s.index] : b.history[k] - a.history[k];
    }
    return SNW_OK;
}

snw_status snw_step_map_move(snw_step_map *map, const double *from, const double *x, double *to,
                             snw_error *err) {
    SNW_TRY(check_point(map, "from", from, err));
    SNW_TRY(snw_robot_check_numbers("x", map->linear->nx, x, err));
    if (!to) return snw_fail(err, SNW_E_ARGUMENT, "to is NULL");
    const snw_model *m = map->r->m;
    if (to != from) memcpy(to, from, snw_step_map_points(map) * sizeof *to);
    const snw_past p = snw_past_at(m, to);
    for (int i = 0; i < map->linear->nx; i++) {
        const snw_linear_state s = map->state[i];
        if (s.role == SNW_STATE_COORDINATE) {
            map->increment[s.index] = x[i];
        } else {
            p.history[history_of(map, s)] += x[i];
        }
    }
    memcpy(map->trial, p.q, (size_t)m->nq * sizeof *p.q);
    snw_move(m, map->trial, 1, map->increment, p.q);
    return SNW_OK;
}

snw_status snw_step_map_reset(snw_step_map *map, const double *d, double *T, snw_error *err) {
    if (!map || !T) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", map ? "T" : "the map");
    SNW_TRY(snw_robot_check_numbers("d", map->linear->nx, d, err));
    const snw_model *m = map->r->m;
    const size_t nx = (size_t)map->linear->nx;
    memset(T, 0, nx * nx * sizeof *T);
    for (size_t i = 0; i < nx; i++) T[i * (nx + 1)] = 1;
    for (int k = 0; k < m->nblock; k++) { // displacements are the first nv states, in order
        const snw_block *b = &m->block[k];
        if (b->space == SNW_SPACE_RN) continue;
        snw_twist W = {0};
        for (int i = 0; i < b->n; i++) W.e[i] = d[b->dof + i];
        const snw_lower L = snw_se3_tangent(W);
        for (int j = 0; j < b->n; j++) {
            snw_twist e = {0};
            e.e[j] = 1;
            const snw_twist y = snw_lower_apply(&L, e);
            for (int i = 0; i < b->n; i++)
                T[(size_t)(b->dof + j) * nx + (size_t)(b->dof + i)] = y.e[i];
        }
    }
    return SNW_OK;
}

snw_status snw_step_map_project(snw_step_map *map, const double *from, double *to, double *C,
                                snw_error *err) {
    SNW_TRY(check_point(map, "from", from, err));
    if (!to) return snw_fail(err, SNW_E_ARGUMENT, "to is NULL");
    const snw_model *m = map->r->m;
    if (to != from) memcpy(to, from, snw_step_map_points(map) * sizeof *to);
    if (m->nconstraint == 0) return SNW_OK;
    show_point(map, from);
    SNW_TRY(snw_robot_project(map->r, err));
    const snw_past p = snw_past_at(m, to);
    memcpy(p.q, map->r->s->q, (size_t)m->nq * sizeof *p.q);
    memcpy(p.history, map->r->s->v, (size_t)m->nv * sizeof *p.history);
    return C ? snw_robot_constraint_jacobian(map->r, C, NULL) : SNW_OK;
}

snw_status snw_step_map_state(snw_step_map *map, const double *point, double *t, double *q,
                              double *v, snw_error *err) {
    SNW_TRY(check_point(map, "point", point, err));
    const snw_model *m = map->r->m;
    const snw_past p = snw_past_at(m, (double *)point);
    if (t) *t = *p.t;
    if (q) memcpy(q, p.q, (size_t)m->nq * sizeof *q);
    if (v) memcpy(v, p.history, (size_t)m->nv * sizeof *v);
    return SNW_OK;
}

// ---- creation -----------------------------------------------------------------------------------

static snw_status check_options(const snw_linear_options *how, snw_error *err) {
    if (!how) return snw_fail(err, SNW_E_ARGUMENT, "how is NULL");
    if (!(how->step > 0) || !isfinite(how->step))
        return snw_fail(err, SNW_E_ARGUMENT, "the step must be positive, got %g s", how->step);
    if (how->reduce || how->three_inputs || how->statics)
        return snw_fail(err, SNW_E_ARGUMENT, "a map of steps has no option '%s'",
                        how->reduce         ? "reduce"
                        : how->three_inputs ? "three_inputs"
                                            : "statics");
    return SNW_OK;
}

static snw_status create_stepper(snw_step_map *map, snw_error *err) {
    const snw_model *m = map->r->m;
    for (int i = 0; i < m->nsignal; i++) {
        if (m->signal[i].source)
            return snw_fail(err, SNW_E_MODEL,
                            "laws with integrals, samples, latches or conditions that read probes "
                            "have no map of steps; leave them out");
    }
    if (m->nbranch)
        return snw_fail(err, SNW_E_MODEL,
                        "materials with 'relaxation' have no map of steps; leave it out");
    map->tangent = snw_linear_tangent(map->linear);
    if (map->tangent) return SNW_OK;
    return snw_linear_stepper(map->linear, map->r, &map->im, err);
}

static snw_status map_open(snw_step_map *map, snw_robot *r, const snw_linear_options *how,
                           snw_error *err) {
    SNW_TRY(check_options(how, err));
    SNW_TRY(snw_robot_apply_inputs(r, err));
    SNW_TRY(snw_robot_from_model(r->model, &map->r, err));
    snw_robot_take_over(map->r, r);
    SNW_TRY(snw_linear_prepare(map->r, how, &map->linear, err));
    SNW_TRY(create_stepper(map, err));
    const size_t nv = (size_t)map->r->m->nv;
    map->trial = snw_alloc((snw_step_map_points(map) + 1) * sizeof *map->trial);
    map->increment = snw_alloc((nv + 1) * sizeof *map->increment);
    if (!map->trial || !map->increment) return snw_fail_memory(err);
    // a first computation shows the states
    SNW_TRY(snw_robot_check_state(map->r, err));
    SNW_TRY(snw_robot_project(map->r, err));
    if (map->tangent) {
        snw_robot_refresh_inputs(map->r);
    } else {
        SNW_TRY(snw_implicit_start(map->im, map->r->s, err));
        show(map);
    }
    SNW_TRY(snw_linear_of_step(map->linear, map->tangent ? NULL : map->increment, err));
    const size_t nx = (size_t)map->linear->nx;
    map->state = snw_alloc((nx + 1) * sizeof *map->state);
    map->input = snw_alloc(((size_t)map->linear->nu + 1) * sizeof *map->input);
    if (!map->state || !map->input) return snw_fail_memory(err);
    memcpy(map->state, snw_linear_states(map->linear), nx * sizeof *map->state);
    return list_inputs(map, err);
}

snw_status snw_robot_step_map(snw_robot *r, const snw_linear_options *how, snw_step_map **out,
                              snw_error *err) {
    if (!r || !out) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", r ? "out" : "the robot");
    *out = NULL;
    snw_step_map *map = snw_alloc(sizeof *map);
    if (!map) return snw_fail_memory(err);
    const snw_status s = map_open(map, r, how, err);
    if (s != SNW_OK) {
        snw_step_map_close(map);
        return s;
    }
    *out = map;
    return SNW_OK;
}
