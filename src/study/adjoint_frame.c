// SPDX-License-Identifier: MIT
//
// Derivatives of outputs at a frame of a run by the state there, into the bars of the scalars:
// theory.md (7.5.52) where they are known, rows (3.7.1) of strains and tendons, differences along
// all coordinates of what is left.
#include "study/adjoint_private.h"

#include "base/fail.h"
#include "dynamics/relaxation.h"
#include "integrate/hard_step.h"
#include "model/probe_kind.h"
#include "study/probe.h"
#include "study/probe_row.h"

#include <math.h>
#include <string.h>

static const double sample_move = 1e-3, // of coordinates in differences, typical
    sample_rate = 1e-2,                 // of velocities, accelerations, multipliers
    same_value = 1e-6,                  // relative difference of a value from that of the run
    no_memory = 1e-15; // stored signals that never were larger are zeros, up to rounding
// columns of the probe of energies
enum {
#define X(name) ENERGY_##name,
    SNW_ENERGY_LIST(X)
#undef X
        ENERGY_total
};

bool adjoint_has_interaction(const snw_adjoint *a, int output) {
    const snw_adjoint_output *o = &a->output[output];
    return a->m->desc->probe[o->probe].kind == SNW_PROBE_ENERGY &&
           (o->column == ENERGY_elastic || o->column == ENERGY_total);
}

// a->interaction <- derivatives of the energy of contacts, springs and stops along coordinates: its
// rates at unit velocities, less that of moving surroundings.
static void find_interaction(snw_adjoint *a, const snw_map *map) {
    const snw_model *m = a->m;
    snw_state *s = a->still;
    snw_work *w = a->clock.w;
    if (!snw_has_interactions(m)) {
        memset(a->interaction, 0, (size_t)m->nv * sizeof *a->interaction);
        return;
    }
    snw_state_copy(m, &map->s, s);
    memset(s->v, 0, (size_t)m->nv * sizeof *s->v);
    snw_kinematics(m, a->in, s, false, w);
    const double still = snw_interaction_energy_rate(m, w);
    for (int k = 0; k < m->nv; k++) {
        s->v[k] = 1;
        snw_kinematics(m, a->in, s, false, w);
        a->interaction[k] = snw_interaction_energy_rate(m, w) - still;
        s->v[k] = 0;
    }
}

// y (noutput) <- outputs at s, evaluated in w
void adjoint_read_outputs(const snw_adjoint *a, const snw_model *m, const snw_inputs *in,
                          const snw_state *s, snw_work *w, snw_vec3 *rotation, double *column,
                          double *y) {
    snw_rotations_update(m, w, rotation);
    const snw_readings more = {.energy = {.kinetic = snw_kinetic_energy(m, w),
                                          .elastic = snw_stored_energy(m, s, w),
                                          .gravity = snw_gravity_energy(m, in, w)},
                               .stability = NAN,
                               .rotation = rotation};
    for (int i = 0, before = -1; i < a->noutput; i++) {
        const snw_adjoint_output *o = &a->output[i];
        if (o->probe != before) snw_probe_read(m, o->probe, in, s, w, &more, column);
        before = o->probe;
        y[i] = column[o->column];
    }
}

int adjoint_frame_forces(const snw_map *map, double *forces) {
    const snw_hard_step *r = map->touching;
    for (int i = 0; r && i < r->n; i++) {
        const snw_hard_step_contact *c = &r->contact[i];
        const bool means = map->h > 0; // of a step, impacts included; else of an equilibrium
        for (int j = 0; j < 3; j++) forces[3 * i + j] = means ? c->p[j] / map->h : c->P[j];
    }
    return r ? r->n : 0;
}

void adjoint_evaluate(const snw_model *m, const snw_map *map, const double *forces,
                      const snw_inputs *in, const snw_state *s, snw_work *w) {
    if (map->touching) adjoint_hard_show(m, map->touching, forces, w);
    snw_residual(m, in, s, false, w);
    snw_observe(m, in, s, false, w);
    if (map->touching) adjoint_hard_show(m, NULL, NULL, w);
}

static snw_status check_outputs(const snw_adjoint *a, const snw_map *map, const double *y,
                                snw_error *err) {
    for (int i = 0; i < a->noutput; i++) {
        if (a->output[i].of_run < 0) continue;
        const double run = y[a->output[i].of_run];
        if (fabs(a->now[i] - run) <= same_value * fmax(fabs(run), 1e-3)) continue;
        return snw_fail(err, SNW_E_MODEL,
                        "probe '%s' has no derivative at t = %g s: it depends on more than the "
                        "state there (%s)",
                        a->m->desc->probe[a->output[i].probe].name, map->s.t,
                        "a rotation beyond half a turn, a sum over the run");
    }
    return SNW_OK;
}

void snw_adjoint_note_memory(snw_adjoint *a, const snw_map *map) {
    for (int i = 0; i < a->m->nsignal && map->s.z; i++)
        a->largest[i] = fmax(a->largest[i], fabs(map->s.z[i]));
}

bool adjoint_output_by_memory(const snw_adjoint *a, int i, int signal, double *out) {
    return snw_probe_by_memory(a->m, a->output[i].probe, a->output[i].column, a->in, a->w, signal,
                               out);
}

double adjoint_memory_size(const snw_adjoint *a, const snw_map *map, int signal) {
    const double z = fmax(a->largest[signal], fabs(map->s.z[signal]));
    return z > no_memory ? z : 1e-3;
}

// Are all forces linear in accelerations, multipliers and strains of branches, and of second degree
// in velocities, and with them energies, accelerations and reactions?
static bool forces_are_quadratic(const snw_model *m) {
    bool friction = false;
    for (int i = 0; i < m->nloop; i++) friction = friction || m->loop[i].friction != 0;
    for (int i = 0; i < m->ntendon; i++) friction = friction || m->tendon[i].has_friction;
    for (int i = 0; i < m->nspring; i++) friction = friction || m->spring[i].friction != 0;
    return !friction && m->nlive == 0 && m->nfluid_point == 0 && m->ncontact_point == 0 &&
           m->ntouching_rod == 0 && m->nstop == 0 && m->nforce_element == 0 && m->nlaw_point == 0;
}

// Does an output depend on what moves in such a robot, and as its forces do?
static bool is_mechanical(snw_probe_kind kind) {
    return kind == SNW_PROBE_ENERGY || kind == SNW_PROBE_ACCELERATION ||
           kind == SNW_PROBE_MOMENTUM || kind == SNW_PROBE_REACTION || kind == SNW_PROBE_WRENCH;
}

// Bars of all scalars += y_bar of the outputs without exact row times their derivative along
// coordinate k of a part of the state, by differences; of: 0 configuration, 1 rate, 2 acceleration,
// 3 multipliers, 4 memory of the laws, 5 strains of Maxwell branches, 6 forces of hard contacts.
// `known` (noutput): not of these outputs; `exact`: two values are.
static void difference_outputs(snw_adjoint *a, const snw_map *map, const double *y_bar, int of,
                               int k, const bool *known, bool exact) {
    const snw_model *m = a->m;
    const int samples = exact ? 1 : ADJOINT_SAMPLES;
    double *unit = a->line, *sum = a->sample;
    const double h = of == 0   ? sample_move * m->typical[k]
                     : of == 3 ? sample_rate * fmax(1, fabs(map->s.lambda[k]))
                     : of == 4 ? sample_rate * adjoint_memory_size(a, map, k)
                     : of == 5 ? sample_move * m->typical[snw_relaxation_place(m, k).dof]
                     : of == 6 ? sample_rate * fmax(1e-3, fabs(a->touch[k - k % 3]))
                     : of == 2 ? sample_rate * fmax(m->typical[k], fabs(map->s.a[k]))
                               : sample_rate * m->typical[k];
    memset(unit, 0, (size_t)m->nv * sizeof *unit);
    for (int j = -samples; j <= samples; j++) {
        if (j == 0) continue;
        const double weight = exact ? 0.5 : adjoint_weight[(j < 0 ? -j : j) - 1];
        const double c = (j < 0 ? -weight : weight) / h;
        snw_state_copy(m, &map->s, a->s);
        if (of == 0) {
            unit[k] = j * h;
            snw_move(m, map->s.q, 1, unit, a->s->q);
            unit[k] = 0;
        }
        if (of == 1) a->s->v[k] += j * h;
        if (of == 2) a->s->a[k] += j * h;
        if (of == 3) a->s->lambda[k] += j * h;
        if (of == 4) a->s->z[k] += j * h;
        if (of == 5) a->s->relaxed[k] += j * h;
        if (of == 6) a->touch[k] += j * h;
        adjoint_evaluate(m, map, a->touch, a->in, a->s, a->w);
        if (of == 6) (void)adjoint_frame_forces(map, a->touch);
        memcpy(a->rotation_now, a->rotation, (size_t)(m->nseg + m->nobs) * sizeof *a->rotation_now);
        adjoint_read_outputs(a, m, a->in, a->s, a->w, a->rotation_now, a->column, sum);
        const double interaction = snw_interaction_energy(m, a->w);
        for (int s = 0; s < a->nscalar; s++) {
            double *const part[] = {a->bars[s].place,  a->bars[s].rate, a->bars[s].acc,
                                    a->bars[s].lambda, a->bars[s].z,    a->bars[s].branch,
                                    a->bars[s].touch};
            for (int i = 0; i < a->noutput; i++) {
                const double less = adjoint_has_interaction(a, i) ? interaction : 0;
                if (!known[i])
                    part[of][k] +=
                        y_bar[(size_t)s * (size_t)a->noutput + (size_t)i] * c * (sum[i] - less);
            }
        }
    }
}

// a->w, a->now <- motion, forces and outputs at a frame.
static snw_status evaluate_frame(snw_adjoint *a, const snw_map *map, const double *y,
                                 snw_error *err) {
    const snw_model *m = a->m;
    adjoint_inputs_at(a, map->t_laws);
    (void)adjoint_frame_forces(map, a->touch);
    adjoint_evaluate(m, map, a->touch, a->in, &map->s, a->w);
    memset(a->rotation, 0, (size_t)(m->nseg + m->nobs) * sizeof *a->rotation);
    adjoint_read_outputs(a, m, a->in, &map->s, a->w, a->rotation, a->column, a->now);
    if (y) SNW_TRY(check_outputs(a, map, y, err));
    for (int i = 0; i < a->noutput; i++) {
        const snw_probe_desc *p = &m->desc->probe[a->output[i].probe];
        if (m->hard && p->kind == SNW_PROBE_ACCELERATION)
            return snw_fail(err, SNW_E_MODEL,
                            "there is no derivative of probe '%s': accelerations of a robot with "
                            "hard contacts are means of steps",
                            p->name);
    }
    return SNW_OK;
}

// a->rows, a->exact <- of output i, after snw_tangent_pass
static void find_row(snw_adjoint *a, const snw_map *map, int i) {
    const snw_adjoint_output *o = &a->output[i];
    double *row = a->rows + 2 * (size_t)a->m->nv * (size_t)i;
    a->exact[i] = snw_probe_row(a->m, a->observer, o->probe, o->column, a->in, &map->s, a->rotation,
                                a->w, row);
    if (a->exact[i]) adjoint_fix_row(a->m, &map->s, row);
}

snw_status adjoint_rows(snw_adjoint *a, const snw_map *map, const double *y, snw_error *err) {
    bool interacts = false;
    SNW_TRY(evaluate_frame(a, map, y, err));
    snw_tangent_pass(a->m, NULL, a->w);
    for (int i = 0; i < a->noutput; i++) {
        find_row(a, map, i);
        interacts = interacts || adjoint_has_interaction(a, i);
    }
    if (interacts) find_interaction(a, map);
    return SNW_OK;
}

bool adjoint_knows(const snw_adjoint *a, int i) {
    if (!a->known[i]) return false;
    const snw_signal signal = snw_probe_signal(a->m, a->output[i].probe, a->output[i].column);
    if (signal.reading != SNW_READ_ROTATION && signal.reading != SNW_READ_POSE) return true;
    const int seg = a->m->station[signal.station].seg;
    return snw_within_half_turn(a->w->g[seg].R, a->rotation[seg]);
}

// Does some scalar depend on the output?
static bool is_used(const snw_adjoint *a, const double *y_bar, int i) {
    for (int s = 0; s < a->nscalar; s++) {
        if (y_bar[(size_t)s * (size_t)a->noutput + (size_t)i] != 0) return true;
    }
    return false;
}

// Bars of all scalars += y_bar times the derivatives of the outputs that are known.
static void add_known(snw_adjoint *a, const snw_map *map, const double *y_bar) {
    for (int s = 0; s < a->nscalar; s++) {
        bool any = false;
        for (int i = 0; i < a->noutput; i++) {
            const double bar = y_bar[(size_t)s * (size_t)a->noutput + (size_t)i];
            a->known_bar[i] = adjoint_knows(a, i) ? bar : 0;
            any = any || a->known_bar[i] != 0;
        }
        const snw_bars *b = &a->bars[s];
        const snw_state_bars to = {b->place, b->rate, b->acc, b->lambda};
        if (any)
            snw_output_bars_add(a->output_bars, a->noutput, a->output, a->known_bar, a->in, &map->s,
                                a->w, &to);
    }
}

// Is the probe smooth enough for differences? The onset of the force of a compliant contact is not;
// hard contacts keep their states.
static bool is_smooth(const snw_model *m, int probe) {
    static const bool of_motion[SNW_PROBE_COUNT] = {
        [SNW_PROBE_RELATIVE] = true,      [SNW_PROBE_ACCELERATION] = true,
        [SNW_PROBE_ENERGY] = true,        [SNW_PROBE_MOMENTUM] = true,
        [SNW_PROBE_LENGTH] = true,        [SNW_PROBE_VOLUME] = true,
        [SNW_PROBE_CENTER_OF_MASS] = true};
    bool touches = false;
    for (int i = 0; i < m->ncontact; i++) touches = touches || !m->contact[i].hard;
    return !touches || of_motion[m->desc->probe[probe].kind];
}

// Bars of all scalars += y_bar times the derivatives of the outputs that have an exact row; what do
// the others read?
typedef struct rest_of_outputs {
    bool any, all_places, still, quadratic;
} rest_of_outputs;

static snw_status add_rows(snw_adjoint *a, const double *y_bar, rest_of_outputs *rest,
                           snw_error *err) {
    const snw_model *m = a->m;
    const int nv = m->nv;
    bool of_motion = true;
    *rest = (rest_of_outputs){.all_places = true, .quadratic = forces_are_quadratic(m)};
    for (int i = 0; i < a->noutput; i++) {
        if (adjoint_knows(a, i) || !is_used(a, y_bar, i)) continue;
        const snw_probe_kind kind = m->desc->probe[a->output[i].probe].kind;
        if (!a->exact[i] && !is_smooth(m, a->output[i].probe))
            return snw_fail(err, SNW_E_MODEL,
                            "there is no exact derivative of probe '%s' of a robot with "
                            "contacts, whose forces it reads; use a probe of motions, strains "
                            "or energies",
                            m->desc->probe[a->output[i].probe].name);
        if (!a->exact[i]) {
            rest->any = true;
            rest->all_places = rest->all_places && snw_probe_is_configuration(kind);
            of_motion = of_motion && (kind == SNW_PROBE_ENERGY || kind == SNW_PROBE_MOMENTUM);
            rest->quadratic = rest->quadratic && is_mechanical(kind);
            continue;
        }
        const double *row = a->rows + 2 * (size_t)nv * (size_t)i;
        for (int s = 0; s < a->nscalar; s++) {
            const double bar = y_bar[(size_t)s * (size_t)a->noutput + (size_t)i];
            for (int k = 0; k < nv && bar != 0; k++) {
                a->bars[s].place[k] += bar * row[k];
                a->bars[s].rate[k] += bar * row[nv + k];
            }
        }
    }
    rest->still = rest->quadratic && of_motion; // not functions of accelerations and multipliers
    return SNW_OK;
}

// Bars of all scalars += y_bar times the derivatives of the energies of interactions.
static void add_interactions(snw_adjoint *a, const snw_map *map, const double *y_bar) {
    bool found = false;
    for (int i = 0; i < a->noutput; i++) {
        if (!adjoint_has_interaction(a, i) || !is_used(a, y_bar, i)) continue;
        if (!found) find_interaction(a, map);
        found = true;
        for (int s = 0; s < a->nscalar; s++) {
            const double bar = y_bar[(size_t)s * (size_t)a->noutput + (size_t)i];
            for (int k = 0; k < a->m->nv; k++) a->bars[s].place[k] += bar * a->interaction[k];
        }
    }
}

// Bars of the memory of all scalars += y_bar times the derivatives by it of the outputs for which
// they are written down, which others are not in a->by_memory.
static void add_memory(snw_adjoint *a, const double *y_bar) {
    for (int i = 0; i < a->noutput; i++) {
        a->by_memory[i] = true;
        if (adjoint_knows(a, i) || !is_used(a, y_bar, i)) continue; // no function of the memory
        for (int k = 0; k < a->m->nsignal; k++) {
            double by;
            if (!adjoint_is_memory(a->m, k)) continue;
            a->by_memory[i] = adjoint_output_by_memory(a, i, k, &by);
            for (int s = 0; s < a->nscalar && a->by_memory[i]; s++)
                a->bars[s].z[k] += y_bar[(size_t)s * (size_t)a->noutput + (size_t)i] * by;
        }
    }
}

static bool all_known_by_memory(const snw_adjoint *a) {
    for (int i = 0; i < a->noutput; i++) {
        if (!a->by_memory[i]) return false;
    }
    return true;
}

// The same of the outputs without exact derivatives, by differences along all that they read.
static void add_differences(snw_adjoint *a, const snw_map *map, const double *y_bar,
                            const rest_of_outputs *rest) {
    const snw_model *m = a->m;
    for (int i = 0; i < a->noutput; i++) a->exact[i] = a->exact[i] || adjoint_knows(a, i);
    for (int k = 0; k < m->nv; k++) {
        difference_outputs(a, map, y_bar, 0, k, a->exact, false);
        if (rest->all_places) continue;
        difference_outputs(a, map, y_bar, 1, k, a->exact, rest->quadratic);
        if (!rest->still) difference_outputs(a, map, y_bar, 2, k, a->exact, rest->quadratic);
    }
    if (rest->all_places) return;
    for (int k = 0; !rest->still && k < m->nconstraint; k++)
        difference_outputs(a, map, y_bar, 3, k, a->exact, rest->quadratic);
    const int touching = map->touching ? 3 * map->touching->n : 0;
    for (int k = 0; k < touching; k++) {
        if (a->touch[k - k % 3] != 0) difference_outputs(a, map, y_bar, 6, k, a->exact, false);
    }
    for (int k = 0; k < m->nbranch_coordinate; k++)
        difference_outputs(a, map, y_bar, 5, k, a->exact, false);
    for (int k = 0; k < m->nsignal && !all_known_by_memory(a); k++) {
        if (adjoint_is_memory(m, k)) difference_outputs(a, map, y_bar, 4, k, a->by_memory, false);
    }
}

snw_status snw_adjoint_frame(snw_adjoint *a, const snw_map *map, const double *y_bar,
                             const double *y, snw_error *err) {
    rest_of_outputs rest;
    bool any = false, rows = false;
    for (int i = 0; i < a->nscalar * a->noutput; i++) any = any || y_bar[i] != 0;
    if (!any) return SNW_OK;
    adjoint_split_end(a, &map->s);
    SNW_TRY(evaluate_frame(a, map, y, err));
    for (int i = 0; i < a->noutput; i++)
        rows = rows || (is_used(a, y_bar, i) && !adjoint_knows(a, i));
    if (rows) snw_tangent_pass(a->m, NULL, a->w);
    for (int i = 0; i < a->noutput; i++) {
        a->exact[i] = false;
        if (is_used(a, y_bar, i) && !adjoint_knows(a, i)) find_row(a, map, i);
    }
    SNW_TRY(add_rows(a, y_bar, &rest, err));
    add_memory(a, y_bar);
    add_interactions(a, map, y_bar);
    add_known(a, map, y_bar);
    a->dear.frames += rest.any;
    if (rest.any) add_differences(a, map, y_bar, &rest);
    return SNW_OK;
}
