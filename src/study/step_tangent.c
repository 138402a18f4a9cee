// SPDX-License-Identifier: MIT
//
// One step of the conserving scheme, of moreau or of collocation with its derivatives. The
// integrator does the step and reports it to a tape, and the adjoint of runs carries derivatives
// forward through it: those of a step of the conserving scheme begin with its reference energy,
// which is that of the state. Where constraints hold, a start makes the velocities consistent
// first; after a step of collocation with wheels they are projected once more.
#include "study/step_tangent.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "integrate/hard_step.h"
#include "integrate/integrator.h"
#include "study/adjoint_private.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const double touching = 1e-9, // gap of a contact that is closed, of the length of the robot
    still = 1e-9;                    // increment of a robot that rests, typical

struct snw_step_tangent {
    const snw_model *m;
    double h;
    snw_integrator integrator;
    snw_tape tape;
    snw_adjoint *adjoint;
    const snw_manual_inputs *manual;
    const snw_map *start, *energy, *step, *settle; // in the tape; all but step NULL: none
    // nv x 2 nv each: consistent velocities by places and velocities, before and after the step
    double *project, *settled;
    double *by;
    int room;                // of by
    snw_touch *near;         // scratch of a search for contacts
    snw_hard_contact *found; // likewise
};

bool snw_step_tangent_always(snw_scheme_kind scheme) {
    const snw_scheme_family family = snw_scheme_table[scheme].family;
    return family == SNW_FAMILY_CONSERVING || family == SNW_FAMILY_MOREAU;
}

bool snw_step_tangent_applies(snw_scheme_kind scheme) {
    return snw_step_tangent_always(scheme) ||
           snw_scheme_table[scheme].family == SNW_FAMILY_COLLOCATION;
}

int snw_step_tangent_most(const snw_model *m) {
    const int conserving = 2 * m->nv + m->nconstraint + 2 + m->nsignal;
    // places, velocities twice after impulses; factors, energies and the length; of each contact a
    // force and its turned parts, an approach and an impulse
    const int hard = 4 * m->nv + 2 * m->nconstraint + 8 + 12 * snw_hard_most(m);
    const int start = 2 * (m->nv + m->nconstraint) + m->nsignal;
    const int stages = SNW_STAGES * (m->nv + m->nsignal + m->nconstraint) + 2 * m->nv;
    int most = conserving > hard ? conserving : hard;
    most = stages > most ? stages : most;
    return start > most ? start : most;
}

// ---- creation -----------------------------------------------------------------------------------

static snw_status check_model(const snw_model *m, snw_scheme_kind kind, snw_error *err) {
    const char *scheme = snw_scheme_table[kind].name;
    if (m->has_slip_friction && snw_scheme_table[kind].family == SNW_FAMILY_MOREAU)
        return snw_fail(err, SNW_E_MODEL,
                        "friction of rods in eyes has no linear model of a step of scheme '%s', "
                        "whose impulses contain it; use bdf2 or generalized-alpha",
                        scheme);
    if (m->nbranch > 0)
        return snw_fail(err, SNW_E_MODEL,
                        "materials that relax have no linear model of a step of scheme '%s'; use "
                        "bdf2 or generalized-alpha",
                        scheme);
    return SNW_OK;
}

static snw_status tangent_open(snw_step_tangent *x, snw_scheme_kind scheme, snw_error *err) {
    const snw_model *m = x->m;
    SNW_TRY(check_model(m, scheme, err));
    snw_step_desc step = snw_step_dynamic(scheme);
    step.step = x->h;
    SNW_TRY(snw_integrator_open(m, &step, x->h, &x->integrator, err));
    snw_tape_begin(&x->tape, m, SIZE_MAX, false);
    x->tape.frames = 1; // the first map is a restart
    x->integrator.set_watch(x->integrator.self,
                            (snw_step_watch){.note = snw_tape_note, .user = &x->tape});
    x->room = snw_step_tangent_most(m);
    x->by = snw_alloc((size_t)x->room * sizeof *x->by);
    const size_t square = (size_t)m->nv * (size_t)m->nv;
    x->project = snw_alloc((4 * square + 1) * sizeof *x->project);
    x->settled = x->project + 2 * square;
    x->near = snw_alloc(((size_t)m->most_touch + 1) * sizeof *x->near);
    x->found = snw_alloc(((size_t)snw_hard_most(m) + 1) * sizeof *x->found);
    if (!x->by || !x->project || !x->near || !x->found ||
        snw_adjoint_create(m, 1, 0, NULL, &x->adjoint) != SNW_OK)
        return snw_fail_memory(err);
    return SNW_OK;
}

snw_status snw_step_tangent_create(const snw_model *m, snw_scheme_kind scheme, double h,
                                   snw_step_tangent **out, snw_error *err) {
    snw_step_tangent *x = snw_alloc(sizeof *x);
    *out = NULL;
    if (!x) return snw_fail_memory(err);
    *x = (snw_step_tangent){.m = m, .h = h};
    const snw_status s = tangent_open(x, scheme, err);
    if (s != SNW_OK) {
        snw_step_tangent_destroy(x);
        return s;
    }
    *out = x;
    return SNW_OK;
}

void snw_step_tangent_destroy(snw_step_tangent *x) {
    if (!x) return;
    if (x->integrator.close) x->integrator.close(x->integrator.self);
    snw_tape_clear(&x->tape);
    snw_adjoint_destroy(x->adjoint);
    snw_free(x->by);
    snw_free(x->project);
    snw_free(x->near);
    snw_free(x->found);
    snw_free(x);
}

// ---- the step -----------------------------------------------------------------------------------

static snw_status name_contact(const snw_step_tangent *x, const snw_hard_contact *c, double t,
                               const char *does, snw_error *err) {
    const snw_model *m = x->m;
    return snw_fail(err, SNW_E_MODEL,
                    "the hard contact '%s' of link '%s' %s in the step to t = %g s, which is not "
                    "smooth there and has no linear model; choose a step before or after it",
                    snw_hard_law_name(m, snw_hard_law(m, c)), snw_hard_link(m, c, 0), does, t);
}

// x->start, energy, step <- of the tape
static snw_status find_maps(snw_step_tangent *x, snw_error *err) {
    int steps = 0;
    x->start = x->energy = x->step = x->settle = NULL;
    if (x->tape.failed) return snw_fail_memory(err);
    for (int i = 0; i < x->tape.n; i++) {
        const snw_map *map = &x->tape.map[i];
        if (map->kind == SNW_MAP_ENERGY) x->energy = map;
        if (map->kind == SNW_MAP_RESTART && x->m->nconstraint > 0 && !x->step) x->start = map;
        if (map->kind == SNW_MAP_RESTART && x->m->nnonholonomic > 0 && x->step &&
            x->step->kind == SNW_MAP_STAGES)
            x->settle = map;
        if (!snw_map_is_step(map)) continue;
        x->step = map;
        steps++;
        for (int k = 0; map->hard && k < map->hard->n; k++) {
            if (map->hard->contact[k].closes)
                return name_contact(x, &map->hard->contact[k].at, map->s.t, "closes", err);
        }
    }
    if (steps == 1) return SNW_OK;
    const double t = snw_step_tangent_end(x)->t;
    if (steps == 0)
        return snw_fail(err, SNW_E_MODEL,
                        "the step to t = %g s has no linear model: redundant loops, or constraints "
                        "within the motion; use another scheme",
                        t);
    return snw_fail(err, SNW_E_DIVERGED,
                    "the step to t = %g s was solved in %d parts; use shorter steps", t, steps);
}

snw_status snw_step_tangent_do(snw_step_tangent *x, const snw_manual_inputs *manual,
                               const snw_state *s, snw_error *err) {
    snw_integrator *it = &x->integrator;
    snw_stats took = {0};
    x->manual = manual;
    x->step = NULL;
    snw_adjoint_set_manual(x->adjoint, manual);
    snw_tape_rewind(&x->tape);
    it->set_manual(it->self, manual);
    SNW_TRY(it->start(it->self, s, err));
    return it->advance(it->self, s->t + x->h, INFINITY, &took, err);
}

int snw_step_tangent_parts(const snw_step_tangent *x) {
    int steps = 0;
    for (int i = 0; i < x->tape.n; i++) steps += snw_map_is_step(&x->tape.map[i]);
    return steps;
}

const snw_state *snw_step_tangent_end(const snw_step_tangent *x) {
    return x->integrator.state(x->integrator.self);
}

bool snw_step_tangent_rests(const snw_step_tangent *x) {
    const snw_map *last = x->tape.n > 0 ? &x->tape.map[x->tape.n - 1] : NULL;
    if (!last || !last->d) return false;
    for (int i = 0; i < x->m->nv; i++) {
        if (!(fabs(last->d[i]) <= still * x->m->typical[i])) return false;
    }
    return true;
}

// Is there a force of a contact in the step?
static bool acts(const snw_step_tangent *x, const snw_hard_contact *at) {
    const snw_hard_step *r = x->step->hard;
    for (int i = 0; i < r->n; i++) {
        if (r->contact[i].in_step != SNW_HARD_OPEN && snw_hard_is_same(x->m, &r->contact[i].at, at))
            return true;
    }
    return false;
}

// Contacts that touch before the step have a force in it, and no others.
static snw_status check_contacts(const snw_step_tangent *x, snw_error *err) {
    const snw_map *map = x->step;
    const snw_model *m = x->m;
    const snw_sampler *own = &x->adjoint->clock;
    const double closed = touching * fmin(1, m->length);
    if (!map->hard || !m->hard) return SNW_OK;
    snw_state_copy(m, &map->s, own->still);
    memcpy(own->still->q, map->hard->q0, (size_t)m->nq * sizeof(double));
    memcpy(own->still->v, map->hard->v0, (size_t)m->nv * sizeof(double));
    snw_inputs_at(m, map->s.t - map->h, own->in);
    snw_kinematics(m, own->in, own->still, true, own->w);
    int n, closes = 0;
    (void)snw_hard_near(m, own->w, closed, closed, x->near, x->found, &n);
    for (int i = 0; i < n; i++) {
        if (!acts(x, &x->found[i])) return name_contact(x, &x->found[i], map->s.t, "opens", err);
    }
    for (int i = 0; i < map->hard->n; i++) {
        const snw_hard_step_contact *c = &map->hard->contact[i];
        closes += c->in_step != SNW_HARD_OPEN;
        if (closes > n) return name_contact(x, &c->at, map->s.t, "closes", err);
    }
    return SNW_OK;
}

// ---- derivatives --------------------------------------------------------------------------------

// out (nv x 2 nv) <- velocities after a restart by places and velocities before it
static snw_status project_velocities(snw_step_tangent *x, const snw_map *map, double *out,
                                     snw_error *err) {
    const size_t nv = (size_t)x->m->nv;
    const snw_bars *b = snw_adjoint_bars(x->adjoint, 0);
    SNW_ASSERT(snw_sensitivity_size(x->adjoint, map) <= x->room);
    memset(x->by, 0, (size_t)x->room * sizeof *x->by);
    SNW_TRY(snw_sensitivity_prepare(x->adjoint, map, err));
    for (size_t k = 0; k < 2 * nv; k++) {
        snw_adjoint_clear(x->adjoint);
        (k < nv ? b->place : b->rate)[k % nv] = 1;
        snw_sensitivity_apply(x->adjoint, map, 0, x->by);
        memcpy(out + nv * k, b->rate, nv * sizeof *b->rate);
    }
    return SNW_OK;
}

snw_status snw_step_tangent_prepare(snw_step_tangent *x, snw_error *err) {
    SNW_TRY(find_maps(x, err));
    SNW_TRY(check_contacts(x, err));
    if (x->start) SNW_TRY(project_velocities(x, x->start, x->project, err));
    if (x->settle) SNW_TRY(project_velocities(x, x->settle, x->settled, err));
    if (x->energy) SNW_TRY(snw_sensitivity_prepare(x->adjoint, x->energy, err));
    SNW_TRY(snw_sensitivity_prepare(x->adjoint, x->step, err));
    SNW_ASSERT(snw_step_tangent_size(x) <= x->room);
    return SNW_OK;
}

snw_step_direction snw_step_tangent_clear(snw_step_tangent *x) {
    const snw_bars *b = snw_adjoint_bars(x->adjoint, 0);
    snw_adjoint_clear(x->adjoint);
    memset(x->by, 0, (size_t)x->room * sizeof *x->by);
    return (snw_step_direction){.place = b->place, .rate = b->rate, .z = b->z, .by = x->by};
}

// Velocities of the direction <- consistent ones, by these derivatives
static void make_consistent(const snw_step_tangent *x, const double *project) {
    const snw_bars *b = snw_adjoint_bars(x->adjoint, 0);
    const int nv = x->m->nv;
    double *rate = b->acc; // no step reads accelerations
    memset(rate, 0, (size_t)nv * sizeof *rate);
    for (int k = 0; k < 2 * nv; k++) {
        const double *column = project + (size_t)nv * (size_t)k;
        const double by = k < nv ? b->place[k] : b->rate[k - nv];
        for (int i = 0; i < nv && by != 0; i++) rate[i] += by * column[i];
    }
    memcpy(b->rate, rate, (size_t)nv * sizeof *rate);
    memset(rate, 0, (size_t)nv * sizeof *rate);
}

snw_status snw_step_tangent_apply(snw_step_tangent *x, snw_error *err) {
    if (x->start) make_consistent(x, x->project);
    const int first = x->energy ? snw_sensitivity_size(x->adjoint, x->energy) : 0;
    if (x->energy) snw_sensitivity_apply(x->adjoint, x->energy, 0, x->by);
    snw_sensitivity_apply(x->adjoint, x->step, 0, x->by + first);
    if (x->settle) make_consistent(x, x->settled);
    return x->step->hard ? snw_sensitivity_check(x->adjoint, x->step, err) : SNW_OK;
}

// ---- inputs -------------------------------------------------------------------------------------

bool snw_step_tangent_settles(const snw_step_tangent *x) { return x->settle != NULL; }

int snw_step_tangent_points(const snw_step_tangent *x) {
    return x->step->kind == SNW_MAP_STAGES ? x->step->points.s : 1;
}

const snw_state *snw_step_tangent_point(const snw_step_tangent *x, int i, snw_inputs *in) {
    const snw_state *s = x->step->kind == SNW_MAP_STAGES ? x->adjoint->stage[i]
                         : x->step->hard                 ? adjoint_hard_middle(x->adjoint)
                                         : adjoint_conserved_middle(x->adjoint, x->step);
    in->manual = x->manual;
    snw_inputs_at(x->m, snw_map_stage_time(x->step, i), in);
    return s;
}

void snw_step_tangent_add_force(const snw_step_tangent *x, int i, const double *G, double *by) {
    const int first = x->energy ? snw_sensitivity_size(x->adjoint, x->energy) : 0;
    if (x->step->kind == SNW_MAP_STAGES) { // residuals contain minus the force
        for (int k = 0; k < x->m->nv; k++) by[first + i * x->m->nv + k] -= G[k];
        return;
    }
    if (x->step->hard) {
        adjoint_hard_add_force(x->adjoint, x->step, G, by + first);
    } else {
        adjoint_conserved_add_force(x->adjoint, G, by + first);
    }
}

int snw_step_tangent_size(const snw_step_tangent *x) {
    return (x->energy ? snw_sensitivity_size(x->adjoint, x->energy) : 0) +
           snw_sensitivity_size(x->adjoint, x->step);
}

snw_status snw_step_tangent_equations(snw_step_tangent *x, const snw_model *m, double shift,
                                      double *out, snw_error *err) {
    snw_sampler other;
    if (!x->step) return SNW_OK; // of no step: a model about rest
    snw_status s = snw_sampler_create(m, &other);
    if (s == SNW_OK) {
        const int first = x->energy ? snw_sensitivity_size(x->adjoint, x->energy) : 0;
        other.in->manual = x->manual;
        other.shift = shift;
        if (x->energy) snw_sampler_equations(&other, x->adjoint, x->energy, out);
        snw_sampler_equations(&other, x->adjoint, x->step, out + first);
    }
    snw_sampler_destroy(&other);
    return s == SNW_OK ? SNW_OK : snw_fail_memory(err);
}
