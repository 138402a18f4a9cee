// SPDX-License-Identifier: MIT
//
// The tape of a run: states in blocks of memory that do not move.
#include "study/tape.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/relaxation.h"
#include "integrate/hard_step.h"
#include "study/found_inputs.h"
#include "study/memory.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1 << 20 }; // bytes of a block, or one state

typedef struct tape_block {
    struct tape_block *before;
    size_t used, size; // doubles
    double *x;
} tape_block;

void snw_tape_begin(snw_tape *t, const snw_model *m, size_t most, bool events) {
    *t = (snw_tape){.m = m, .most = most, .stage = -1, .other = NAN, .events = events};
    t->mark.other = NAN;
}

static void free_blocks(snw_tape *t, const tape_block *last) {
    while (t->block != last) {
        tape_block *b = t->block;
        t->block = b->before;
        snw_free(b->x);
        snw_free(b);
    }
}

void snw_tape_clear(snw_tape *t) {
    free_blocks(t, NULL);
    snw_free(t->map);
    t->map = NULL;
    t->n = t->room = 0;
    t->bytes = 0;
}

void snw_tape_rewind(snw_tape *t) {
    tape_block *first = t->block;
    while (first && first->before) first = first->before;
    free_blocks(t, first);
    if (first) first->used = 0;
    t->n = 0;
    t->bytes = 0;
    t->full = t->failed = false;
    t->other = NAN;
    t->held_now = NULL;
    t->mark.n = 0;
    t->mark.held = NULL;
    t->mark.block = first;
    t->mark.used = t->mark.bytes = 0;
    t->mark.other = NAN;
}

// Steps are undone back to the present end.
static void set_mark(snw_tape *t) {
    t->mark.n = t->n;
    t->mark.block = t->block;
    t->mark.used = t->block ? t->block->used : 0;
    t->mark.bytes = t->bytes;
    t->mark.other = t->other;
    t->mark.held = t->held_now;
}

static void return_to_mark(snw_tape *t) {
    if (t->full) return;
    free_blocks(t, t->mark.block);
    if (t->block) t->block->used = t->mark.used;
    t->n = t->mark.n;
    t->bytes = t->mark.bytes;
    t->other = t->mark.other;
    t->held_now = t->mark.held;
}

// n doubles; NULL: no memory
static double *take(snw_tape *t, size_t n) {
    if (!t->block || t->block->used + n > t->block->size) {
        tape_block *b = snw_alloc(sizeof *b);
        const size_t size = n > BLOCK / sizeof(double) ? n : BLOCK / sizeof(double);
        double *x = snw_alloc(size * sizeof *x);
        if (!b || !x) {
            snw_free(b);
            snw_free(x);
            return NULL;
        }
        *b = (tape_block){.before = t->block, .size = size, .x = x};
        t->block = b;
    }
    double *x = t->block->x + t->block->used;
    t->block->used += n;
    t->bytes += n * sizeof *x;
    return x;
}

static double *copy(const double *from, size_t n, double *to) {
    memcpy(to, from, n * sizeof *to);
    return to + n;
}

// The inputs that are held at present into t->held_now, a copy where they have changed.
static void keep_held(snw_tape *t) {
    if (!t->held) return;
    const size_t n = snw_held_doubles(t->held);
    double *x = take(t, n);
    if (!x) {
        t->failed = true;
        return;
    }
    (void)snw_held_save(t->held, x);
    if (t->held_now && memcmp(x, t->held_now, n * sizeof *x) == 0) { // as they were
        t->block->used -= n;
        t->bytes -= n * sizeof *x;
        return;
    }
    t->held_now = x;
}

// A new map with a copy of the state and of one more vector of velocities; NULL: no memory, or the
// bound is passed.
static snw_map *add_map(snw_tape *t, snw_map_kind kind, const snw_state *s, const double *more) {
    if (t->full || t->failed) return NULL;
    if (t->n == t->room) {
        const int room = t->room > 0 ? 2 * t->room : 256;
        snw_map *map = snw_alloc((size_t)room * sizeof *map);
        if (!map) {
            t->failed = true;
            return NULL;
        }
        if (t->n > 0) memcpy(map, t->map, (size_t)t->n * sizeof *map);
        snw_free(t->map);
        t->map = map;
        t->room = room;
    }
    const snw_model *m = t->m;
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv, nz = (size_t)m->nsignal;
    const size_t nr = (size_t)m->nconstraint, nn = (size_t)m->nnonholonomic;
    const size_t nb = (size_t)m->nbranch_coordinate, nf = (size_t)m->nbranch;
    keep_held(t);
    if (t->failed) return NULL;
    snw_map *map = &t->map[t->n];
    *map = (snw_map){.kind = kind,
                     .stage = t->stage,
                     .frame = t->frames,
                     .m = m,
                     .held = t->held_now,
                     .s = {.t = s->t}};
    const bool shows = kind == SNW_MAP_FRAME || kind == SNW_MAP_EVENT || kind == SNW_MAP_SAMPLE ||
                       kind == SNW_MAP_ENERGY || kind == SNW_MAP_KEPT;
    if (shows && t->n > 0) { // that of the last map
        map->s = t->map[t->n++ - 1].s;
        return map;
    }
    if (kind != SNW_MAP_FROM) {
        map->begins = t->begins;
        t->begins = false;
    }
    double *x = take(t, nq + 3 * nv + nz + nr + nn + nb + nf);
    if (!x) {
        t->failed = true;
        return NULL;
    }
    map->s.q = x, x = copy(s->q, nq, x);
    map->s.v = x, x = copy(s->v, nv, x);
    map->s.a = x, x = copy(s->a, nv, x);
    map->s.z = x, x = copy(s->z, nz, x);
    map->s.relaxed = x, x = copy(s->relaxed, nb, x);
    map->s.follow = x, x = copy(s->follow, nf, x);
    map->s.lambda = x, x = copy(s->lambda, nr, x);
    map->s.dropped = x, x = copy(s->dropped, nn, x);
    if (nb) snw_relaxation_fix(m, &map->s);
    if (more) memcpy(x, more, nv * sizeof *x);
    map->d = kind == SNW_MAP_STEP || kind == SNW_MAP_HARD ? x : NULL;
    map->before = kind == SNW_MAP_RESTART ? x : NULL;
    t->n++;
    if (t->bytes <= t->most) return map;
    t->full = true;
    free_blocks(t, NULL);
    t->bytes = 0;
    t->n = 0;
    t->held_now = NULL;
    return NULL;
}

static void describe(const snw_step_report *r, snw_map *map) {
    map->t_laws = r->t_laws;
    map->h = r->h;
    map->history_h = r->history_h;
    map->no_past = r->no_past;
    map->rest = r->rest;
    map->split = r->split;
    if (r->event == SNW_WATCH_STEP) map->scheme = *r->scheme;
}

// The past of a step into its map.
static void keep_past(snw_tape *t, const snw_step_report *r, snw_map *map) {
    if (!t->events || !map || !r->past) return;
    const size_t nv = (size_t)t->m->nv;
    double *x = take(t, 5 * nv);
    if (!x) {
        t->failed = true;
        return;
    }
    map->past = x;
    x = copy(r->past->v, nv, x);
    x = copy(r->past->a, nv, x);
    x = copy(r->past->pseudo, nv, x);
    x = copy(r->past->d, nv, x);
    (void)copy(r->past->vb, nv, x);
}

// `relaxed` and `follow` of s, with which the equations of a map are solved, into the map.
static void keep_branches(snw_tape *t, const snw_state *s, snw_map *map) {
    const size_t nb = (size_t)t->m->nbranch_coordinate, nf = (size_t)t->m->nbranch;
    double *x = nb && map ? take(t, nb + nf) : NULL;
    if (!nb || !map) return;
    if (!x) {
        t->failed = true;
        return;
    }
    map->branch_part = x, map->branch_follow = x + nb;
    x = copy(s->relaxed, nb, x);
    (void)copy(s->follow, nf, x);
}

// The branches before a step and in its equations into its map.
static void keep_relaxation(snw_tape *t, const snw_step_report *r, snw_map *map) {
    const snw_model *m = t->m;
    const size_t nb = (size_t)m->nbranch_coordinate;
    if (!nb || !map) return;
    double *x = take(t, 3 * nb + (size_t)m->nbranch);
    if (!x) {
        t->failed = true;
        return;
    }
    map->branch_from = x, map->branch_place = x + nb;
    map->branch_part = x + 2 * nb, map->branch_follow = x + 3 * nb;
    (void)copy(r->relaxed0, nb, x);
    for (size_t i = 0; i < nb; i++) x[nb + i] = r->q0[snw_relaxation_place(m, (int)i).q];
    snw_state now = map->s;
    now.relaxed = x + 2 * nb, now.follow = x + 3 * nb;
    snw_relaxation_from(m, r->h, r->scheme->order == 1, map->branch_from, map->branch_place, &now);
}

// The branches before a step of collocation into its map.
static void keep_strains(snw_tape *t, const snw_step_report *r, snw_map *map) {
    const size_t nb = (size_t)t->m->nbranch_coordinate;
    double *x = nb ? take(t, nb) : NULL;
    if (nb && !x) t->failed = true;
    if (!x) return;
    map->branch_from = x;
    (void)copy(r->relaxed0, nb, x);
}

static bool has_growing_signals(const snw_model *m) {
    for (int i = 0; i < m->nsignal; i++) {
        if (snw_signal_grows(&m->signal[i])) return true;
    }
    return false;
}

// The multipliers of wheels at the stages, and the velocities before their projection, into the map
// of a step of collocation.
static void keep_wheels(snw_tape *t, const snw_step_report *r, snw_map *map) {
    const snw_model *m = t->m;
    const size_t nr = (size_t)m->nconstraint, nn = (size_t)m->nnonholonomic;
    const int s = r->points->s;
    if (!r->stage_lambda) return;
    double *x = take(t, (size_t)s * nr + nn);
    if (!x) {
        t->failed = true;
        return;
    }
    memset(x, 0, (size_t)s * nr * sizeof *x);
    map->stage_lambda = x, map->stage_dropped = x + (size_t)s * nr;
    const double *from = r->stage_lambda;
    for (int i = 0; i < s; i++) {
        for (int k = 0; k < m->nloop; k++) {
            for (int row = 0; row < m->loop[k].nrow; row++)
                x[(size_t)i * nr + (size_t)(m->loop[k].row + row)] = r->lambda_scale * *from++;
        }
    }
    (void)copy(r->stage_dropped, nn, x + (size_t)s * nr);
    (void)copy(r->before, (size_t)m->nv, map->s.v);
}

// The memory of laws before a step into its map.
static void keep_memory(snw_tape *t, const snw_step_report *r, snw_map *map) {
    if (!map || !r->z0 || !has_growing_signals(t->m)) return;
    const size_t nz = (size_t)t->m->nsignal;
    const bool stages = r->event == SNW_WATCH_STAGES;
    double *x = take(t, nz + (stages ? (size_t)r->points->s : 1) * nz);
    if (!x) {
        t->failed = true;
        return;
    }
    map->z_from = x, map->integrand = x + nz;
    for (size_t i = 0; i < nz; i++) {
        const bool grows = !stages && snw_signal_grows(&t->m->signal[i]);
        x[i] = r->z0[i] + (grows ? 0.5 * r->h * r->integrand[i] : 0);
    }
    (void)copy(r->integrand, (stages ? (size_t)r->points->s : 1) * nz, x + nz);
}

// A step and the projection of its velocities: two maps.
static void add_settled(snw_tape *t, const snw_step_report *r) {
    const size_t nv = (size_t)t->m->nv, nr = (size_t)t->m->nconstraint;
    snw_map *step = add_map(t, SNW_MAP_STEP, r->s, r->d);
    if (!step) return;
    describe(r, step);
    keep_past(t, r, step);
    keep_memory(t, r, step);
    keep_relaxation(t, r, step);
    step->settles = true;
    (void)copy(r->before, nv, step->s.v);
    (void)copy(r->before + nv, nv, step->s.a);
    (void)copy(r->before + 2 * nv, nr, step->s.lambda);
    snw_map *projection = add_map(t, SNW_MAP_RESTART, r->s, r->before);
    if (!projection) return;
    describe(r, projection);
    projection->z_from = t->map[t->n - 2].z_from;
    projection->integrand = t->map[t->n - 2].integrand;
    projection->settles = true;
}

// A step with hard contacts.
static void add_hard(snw_tape *t, const snw_step_report *r) {
    const snw_model *m = t->m;
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv, nr = (size_t)m->nconstraint;
    const size_t own = sizeof(snw_hard_step) / sizeof(double) + 1;
    const size_t contacts = (size_t)r->hard->n * sizeof(snw_hard_step_contact) / sizeof(double) + 1;
    snw_map *map = add_map(t, SNW_MAP_HARD, r->s, r->d);
    if (!map) return;
    double *x = take(t, own + contacts + nq + 3 * nv + nr);
    if (!x) {
        t->failed = true;
        return;
    }
    snw_hard_step *to = (snw_hard_step *)x;
    snw_hard_step_contact *contact = (snw_hard_step_contact *)(x + own);
    *to = *r->hard;
    if (to->n > 0) memcpy(contact, to->contact, (size_t)to->n * sizeof *contact);
    to->contact = contact;
    x += own + contacts;
    to->q0 = x, x = copy(r->hard->q0, nq, x);
    to->v0 = x, x = copy(r->hard->v0, nv, x);
    to->v = x, x = copy(r->hard->v, nv, x);
    to->v1 = x, x = copy(r->hard->v1, nv, x);
    to->impulse = x, (void)copy(r->hard->impulse, nr, x);
    map->hard = to;
    describe(r, map);
}

// The hard contact `at` of an equilibrium with this gap and force, if it touches, into `out`;
// returns their number.
static int add_touching(const snw_model *m, const snw_work *w, snw_hard_contact at, double gap,
                        double force, int n, snw_hard_step_contact *out) {
    static const double CLOSED = 1e-9; // of the length of the robot; equilibria close to 1e-10
    double typical = 0;
    for (int i = 0; i < m->nv; i++)
        typical = fmax(typical, 1e-9 * m->scale[i] * m->typical[i] / m->length);
    if (gap > CLOSED * fmin(1, m->length)) return n;
    const bool carries = force > fmax(w->hard_stiffness * w->hard_smooth, typical);
    out[n] = (snw_hard_step_contact){
        .at = at,
        .in_step = SNW_HARD_SLIDES,
        .P = {force * snw_hard_gradient(w, &at)},
        .unclear = carries ? NULL : "touches without a force, and opens at the slightest change"};
    return n + 1;
}

// The hard contacts that touch in an equilibrium into its map.
static void keep_touching(snw_tape *t, const snw_work *w, snw_map *map) {
    const snw_model *m = t->m;
    if (!map || !m->hard) return;
    const size_t own = sizeof(snw_hard_step) / sizeof(double) + 1;
    const size_t most = (size_t)snw_hard_most(m);
    double *x = take(t, own + (most + 1) * sizeof(snw_hard_step_contact) / sizeof(double) + 1);
    if (!x) {
        t->failed = true;
        return;
    }
    snw_hard_step *to = (snw_hard_step *)x;
    snw_hard_step_contact *contact = (snw_hard_step_contact *)(x + own);
    int n = 0;
    for (int k = 0; k < m->ncontact_point; k++) {
        const snw_contact_point_work *at = &w->contact_point[k];
        if (snw_contact_is_hard(m, k) && snw_contact_exists(m, w, k))
            n = add_touching(m, w, snw_hard_point(k), at->gap,
                             at->in_contact ? at->elastic_force : 0, n, contact);
    }
    for (int i = 0; i < snw_ntouch(m, w) && n < (int)most; i++) {
        const snw_touch *at = &w->touch[i];
        if (at->hard)
            n = add_touching(m, w, snw_hard_rods(at), at->gap, at->elastic_force, n, contact);
    }
    for (int i = 0; i < m->nstop; i++) {
        const snw_stop_work *at = &w->stop[i];
        const snw_hard_contact limit = snw_hard_limit(2 * i + (at->way < 0));
        snw_hard_contact gap = limit;
        if (m->stop[i].hard && snw_seg_is_active(m, w, m->block[m->stop[i].block].seg))
            n = add_touching(m, w, limit, snw_hard_gap(m, w, &gap),
                             at->elastic_force / m->stop[i].arm, n, contact);
    }
    *to = (snw_hard_step){.n = n, .contact = contact};
    map->hard = to;
}

static bool closes_contact(const snw_map *map) {
    bool closes = false;
    for (int i = 0; map->hard && i < map->hard->n; i++)
        closes = closes || map->hard->contact[i].closes;
    return closes;
}

// A step of the conserving scheme with the state before it.
static void add_conserved(snw_tape *t, const snw_step_report *r) {
    const snw_model *m = t->m;
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv, nz = (size_t)m->nsignal;
    const size_t n = nv + (size_t)m->nconstraint;
    snw_map *map = add_map(t, SNW_MAP_CONSERVED, r->s, NULL);
    double *x = map ? take(t, nq + nv + nz + n) : NULL;
    if (!map) return;
    if (!x) {
        t->failed = true;
        return;
    }
    describe(r, map);
    map->q0 = x, x = copy(r->start->q, nq, x);
    map->v0 = x, x = copy(r->start->v, nv, x);
    map->z_from = x, x = copy(r->start->z, nz, x);
    map->d = x, (void)copy(r->d, n, x);
    map->energy = r->energy;
    map->start_laws = r->start_laws;
    map->gravity_laws = r->gravity_laws;
}

// Model of the state before the last map.
static const snw_model *model_before(const snw_tape *t) {
    const snw_map *before = &t->map[t->n - 2];
    const bool kept = before->kind == SNW_MAP_FROM && t->run;
    return kept ? snw_run_model_at(t->run, before->stage) : before->m;
}

// A step, start or restart of an explicit scheme with the state before it.
static void add_explicit(snw_tape *t, const snw_step_report *r) {
    const snw_model *m = t->m;
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv, nz = (size_t)m->nsignal;
    snw_map *map = add_map(t, SNW_MAP_EXPLICIT, r->s, NULL);
    double *x = map ? take(t, nq + nv + nz) : NULL;
    if (!map) return;
    if (!x) {
        t->failed = true;
        return;
    }
    describe(r, map);
    map->q0 = x, x = copy(r->start->q, nq, x);
    map->v0 = x, x = copy(r->start->v, nv, x);
    map->z_from = x, (void)copy(r->start->z, nz, x);
    map->ode = *r->ode;
    map->limit = r->limit;
    map->remembers = r->remembers;
    const size_t n = (size_t)r->nstage * (size_t)snw_explicit_stage_size(m);
    double *stage = n > 0 ? take(t, n) : NULL;
    if (n > 0 && !stage) t->failed = true;
    if (stage) (void)copy(r->stage_rates, n, stage);
    map->stage_rates = stage;
    map->nstage = stage ? r->nstage : 0;
    const bool starts = map->begins && map->h == 0 && !map->ode.locomotion;
    if (starts && t->rests) memset((double *)map->v0, 0, nv * sizeof *map->v0);
    if (starts && map > t->map && model_before(t) != map->m && m->nconstraint > 0) t->closed = true;
    if (map->h > 0) return;
    snw_map *event = map - 1; // as of other restarts
    if (event > t->map && event->kind == SNW_MAP_SAMPLE) event--;
    if (event >= t->map && event->kind == SNW_MAP_EVENT) event->z = map->s.z;
}

// An instant is reached by the last step.
static void add_instant(snw_tape *t, const snw_step_report *r) {
    int last = t->n - 1;
    while (last >= 0 && !snw_map_is_step(&t->map[last])) last--;
    if (last < 0) return;
    t->map[last].end = r->end;
    if (r->end == SNW_END_EVENT) {
        const double t_laws = t->map[last].t_laws;
        const snw_state s = t->map[t->n - 1].s;
        snw_map *map = add_map(t, SNW_MAP_EVENT, &s, NULL);
        if (!map) return;
        map->t_laws = t_laws;
        map->stage = r->stage;
        map->over = r->over;
        map->z = map->s.z;
    }
    set_mark(t);
}

static void add_samples(snw_tape *t, const snw_step_report *r) {
    snw_map *map = add_map(t, SNW_MAP_SAMPLE, r->s, NULL);
    double *x = map ? take(t, (size_t)t->m->nsignal) : NULL;
    if (!map) return;
    if (!x) {
        t->failed = true;
        return;
    }
    for (int i = 0; i < t->m->nsignal; i++) x[i] = snw_memory_takes(t->m, i, r->s->t, r->fresh);
    map->taken = x;
    map->t_laws = r->t_laws;
}

// Step r->stage of the study has ended, or begins from the end of another.
static void add_step_of_study(snw_tape *t, const snw_step_report *r) {
    const bool from = r->event == SNW_WATCH_FROM;
    if (t->run) t->m = snw_run_model_at(t->run, r->stage);
    snw_map *map = add_map(t, from ? SNW_MAP_FROM : SNW_MAP_KEPT, r->s, NULL);
    if (!map) return;
    map->stage = from ? r->from : r->stage;
    map->t_laws = r->s->t;
    set_mark(t);
}

// A copy of n bytes; NULL: no memory.
static void *take_copy(snw_tape *t, const void *from, size_t n) {
    double *x = take(t, n / sizeof(double) + 1);
    if (!x) t->failed = true;
    if (x && n) memcpy(x, from, n);
    return x;
}

// The inputs that an inverse step has found.
static void add_inputs(snw_tape *t, const snw_step_report *r) {
    const snw_found_inputs *from = r->inputs;
    snw_map *map = add_map(t, SNW_MAP_INPUTS, r->s, NULL);
    if (!map) return;
    const size_t nu = (size_t)from->nu, ny = (size_t)from->ny;
    snw_found_inputs *to = take_copy(t, from, sizeof *to);
    map->t_laws = r->t_laws;
    map->stage = r->stage;
    map->inputs = to;
    if (!to) return;
    to->input = take_copy(t, from->input, nu * sizeof *from->input);
    to->target = take_copy(t, from->target, ny * sizeof *from->target);
    to->turns = take_copy(t, from->turns, ny * sizeof *from->turns);
    to->gain = take_copy(t, from->gain, nu * ny * sizeof *from->gain);
    to->before =
        t->held ? take_copy(t, from->before, snw_held_doubles(t->held) * sizeof(double)) : NULL;
}

// The end of a path, from which the following steps begin.
static void add_path_end(snw_tape *t, const snw_step_report *r) {
    if (t->run) t->m = snw_run_model_at(t->run, r->stage);
    const snw_step_desc *step = &t->m->desc->step[r->stage];
    const bool given = r->s->t == step->path.low || r->s->t == step->path.high;
    snw_map *map = add_map(t, SNW_MAP_STATIC, r->s, NULL);
    if (!map) return;
    map->t_laws = r->t_laws;
    map->relaxation = step->relaxation;
    map->place = given ? SNW_PLACE_GIVEN : SNW_PLACE_CHOSEN;
    keep_branches(t, r->s, map);
    set_mark(t);
}

void snw_tape_note(void *user, const snw_step_report *r) {
    snw_tape *t = user;
    if (r->event == SNW_WATCH_INPUTS) {
        add_inputs(t, r);
        return;
    }
    if (r->event == SNW_WATCH_PATH) {
        add_path_end(t, r);
        return;
    }
    if (r->event == SNW_WATCH_BEGIN) {
        t->begins = true;
        t->rests = r->rest;
        if (t->run) t->m = snw_run_model_at(t->run, r->stage);
        return;
    }
    if (r->event == SNW_WATCH_UNDO) {
        return_to_mark(t);
        return;
    }
    if (r->event == SNW_WATCH_INSTANT) {
        add_instant(t, r);
        return;
    }
    if (r->event == SNW_WATCH_SAMPLE) {
        add_samples(t, r);
        return;
    }
    if (r->event == SNW_WATCH_KEEP || r->event == SNW_WATCH_FROM) {
        add_step_of_study(t, r);
        return;
    }
    if (r->event == SNW_WATCH_HARD) {
        add_hard(t, r);
        return;
    }
    if (r->event == SNW_WATCH_STEP && r->before) {
        add_settled(t, r);
        return;
    }
    if (r->event == SNW_WATCH_OTHER) {
        if (isnan(t->other)) t->other = r->s->t;
        return;
    }
    if (r->event == SNW_WATCH_CONSERVED) {
        add_conserved(t, r);
        return;
    }
    if (r->event == SNW_WATCH_EXPLICIT) {
        add_explicit(t, r);
        return;
    }
    if (r->event == SNW_WATCH_ENERGY || r->event == SNW_WATCH_ACCELERATIONS) {
        const bool energy = r->event == SNW_WATCH_ENERGY;
        snw_map *map = add_map(t, energy ? SNW_MAP_ENERGY : SNW_MAP_ACCELERATIONS, r->s, NULL);
        if (map) map->t_laws = r->t_laws;
        return;
    }
    const bool step = r->event == SNW_WATCH_STEP;
    const bool stages = r->event == SNW_WATCH_STAGES;
    const bool initial = !step && !stages && t->frames == 0 && t->n == 0;
    const snw_map_kind kind = step      ? SNW_MAP_STEP
                              : stages  ? SNW_MAP_STAGES
                              : initial ? SNW_MAP_INITIAL
                                        : SNW_MAP_RESTART;
    snw_map *map = add_map(t, kind, r->s, step ? r->d : r->before);
    if (!map) return;
    // velocities after an equilibrium were projected before the restart, from rest: both are one
    if (map->begins && map->before && t->rests)
        memset((double *)map->before, 0, (size_t)t->m->nv * sizeof *map->before);
    if (map->begins && map > t->map && model_before(t) != map->m && t->m->nconstraint > 0)
        t->closed = true;
    if (stages) {
        const size_t nq = (size_t)t->m->nq, nv = (size_t)t->m->nv, ns = (size_t)r->points->s * nv;
        double *x = take(t, nq + nv + ns);
        if (!x) {
            t->failed = true;
            return;
        }
        map->points = *r->points;
        map->q0 = x, x = copy(r->q0, nq, x);
        map->v0 = x, x = copy(r->v0, nv, x);
        map->ddx = x, (void)copy(r->ddx, ns, x);
    }
    describe(r, map);
    if (step) keep_past(t, r, map);
    if (step || stages) keep_memory(t, r, map);
    if (step) keep_relaxation(t, r, map);
    if (stages) keep_strains(t, r, map);
    if (stages) keep_wheels(t, r, map);
    snw_map *event = map - 1;
    if (event > t->map && event->kind == SNW_MAP_SAMPLE) event--;
    if (kind == SNW_MAP_RESTART && event >= t->map && event->kind == SNW_MAP_EVENT)
        event->z = map->s.z;
}

// Does the time at the end of step `stage` of the study, before map i, depend on an event?
static bool kept_time_moves(const snw_tape *t, int i, int stage, bool all) {
    while (--i >= 0) {
        if (t->map[i].kind == SNW_MAP_KEPT && t->map[i].stage == stage) return t->map[i].time_moves;
    }
    return all;
}

void snw_tape_find_times(snw_tape *t, bool all) {
    bool now = all, length = all, start = all; // do they depend on an event?
    for (int i = 0; i < t->n; i++) {
        snw_map *map = &t->map[i];
        const bool step = snw_map_is_step(map);
        if (map->kind == SNW_MAP_FROM) now = kept_time_moves(t, i, map->stage, all);
        // t of a fold varies, that of other points of a path does not
        if (map->place > SNW_PLACE_START) now = map->place == SNW_PLACE_FOLD;
        if (map->begins) start = now;
        const bool grid = step && map->end == SNW_END_GRID && start;
        map->time_moves = now || grid;
        map->length_moves = length;
        if (map->kind == SNW_MAP_RESTART && !map->settles) length = false;
        if (!step) continue;
        length = map->end == SNW_END_EVENT || (map->end != SNW_END_LENGTH && (now || grid));
        now = map->end == SNW_END_EVENT || grid || (map->end == SNW_END_LENGTH && now) ||
              closes_contact(map);
    }
}

// `frame` gets the hard contacts of the last step or equilibrium, whose forces it shows.
static void show_touching(const snw_tape *t, snw_map *frame) {
    for (const snw_map *map = frame; map-- > t->map;) {
        if (snw_map_is_step(map) || map->kind == SNW_MAP_STATIC) {
            frame->touching = map->hard;
            frame->h = map->kind == SNW_MAP_STATIC ? 0 : map->h;
            return;
        }
        if (map->begins || map->kind == SNW_MAP_FROM) return;
    }
}

// Where on its path an equilibrium, or the frame that shows it, is.
static void keep_place(const snw_run_state *at, snw_map *map) {
    const snw_path_desc *path = &at->m->desc->step[at->stage].path;
    map->place = at->place;
    map->range = at->place ? path->high - path->low : 0;
}

snw_status snw_tape_state(void *user, const snw_run_state *at, snw_error *err) {
    snw_tape *t = user;
    if (at->shown) return SNW_OK;
    if (t->run) t->m = snw_run_model_at(t->run, at->stage);
    if (at->m != t->m) t->changed = true;
    t->stage = at->stage;
    snw_map *map = NULL;
    if (!at->moves) {
        const bool fold = at->place == SNW_PLACE_FOLD;
        map = add_map(t, fold ? SNW_MAP_FOLD : SNW_MAP_STATIC, at->s, NULL);
        if (map) keep_place(at, map);
        if (map) map->t_laws = at->in->t;
        if (map) map->relaxation = at->relaxation, map->steady = at->steady;
        keep_branches(t, at->s, map);
        keep_touching(t, at->w, map);
    }
    map = add_map(t, SNW_MAP_FRAME, at->s, NULL);
    if (map) map->t_laws = at->in->t;
    if (map) keep_place(at, map);
    if (map && t->m->hard) show_touching(t, map);
    t->frames++;
    set_mark(t);
    return t->failed ? snw_fail_memory(err) : SNW_OK;
}
