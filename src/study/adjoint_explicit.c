// SPDX-License-Identifier: MIT
//
// Maps of explicit schemes, of kinematic steps above all, theory.md (7.5.33): a step, a start or a
// restart takes x_0 = (configuration, velocities, memory) to x_1 = (configuration, velocities,
// accelerations, multipliers, memory). It is done again from states that are moved along each
// coordinate, with the same length, ranks and classes of locomotion; differences of order 6 of what
// it leads to are its derivatives. Other models, and laws at one of the times at which a step reads
// them, likewise.
#include "study/adjoint_explicit_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vector.h"

#include <math.h>
#include <string.h>

static const double move_place = 1e-3, move_rate = 1e-2, // of typical values
    move_length = 1e-3,                                  // of the length of a step
    move_time = 0.05;                                    // of times, likewise

static int out_size(const snw_model *m) { return 3 * m->nv + m->nconstraint + m->nsignal; }
static int in_size(const snw_model *m) { return 2 * m->nv + m->nsignal; }

void adjoint_explicit_destroy(snw_adjoint *a) {
    struct adjoint_explicit *x = a->explicit_map;
    if (!x) return;
    snw_explicit_destroy(x->engine);
    snw_state_destroy(x->s);
    adjoint_runge_kutta_destroy(x->stages);
    snw_free(x->J);
    snw_free(x->idle);
    snw_free(x);
}

// ---- a map once more ----------------------------------------------------------------------------

// x->s <- the state before a map, moved in time
static void place_start(const snw_model *m, struct adjoint_explicit *x, const snw_map *map,
                        double shift) {
    snw_state_copy(m, &map->s, x->s);
    x->s->t = map->s.t - map->h + shift;
    memcpy(x->s->q, map->q0, (size_t)m->nq * sizeof *x->s->q);
    memcpy(x->s->v, map->v0, (size_t)m->nv * sizeof *x->s->v);
    if (m->nsignal) memcpy(x->s->z, map->z_from, (size_t)m->nsignal * sizeof *x->s->z);
}

// out (nout) <- where the map leads from x->s, with another length; z: memory after a restart. NaN:
// nowhere
static void repeat(const snw_model *m, struct adjoint_explicit *x, const snw_map *map, double h,
                   const double *z, double *out) {
    snw_error ignored = {0};
    snw_explicit *e = x->engine;
    snw_status status = SNW_OK;
    if (map->begins && map->h == 0) {
        status = snw_explicit_start(e, x->s, &ignored);
    } else if (map->h == 0) {
        snw_explicit_place(e, x->s);
        status = snw_explicit_restart(e, map->remembers ? z : NULL, &ignored);
    } else {
        snw_explicit_place(e, x->s);
        const double to = x->s->t + h, later = to - map->s.t;
        status = snw_explicit_advance(e, to, map->limit + fmax(later, 0), &ignored);
    }
    const int nv = m->nv;
    for (int i = 0; i < x->nout && status != SNW_OK; i++) out[i] = NAN;
    if (status != SNW_OK) return;
    const snw_state *s = snw_explicit_state(e);
    snw_difference(m, map->s.q, s->q, out);
    memcpy(out + nv, s->v, (size_t)nv * sizeof *out);
    memcpy(out + 2 * nv, s->a, (size_t)nv * sizeof *out);
    if (m->nconstraint) memcpy(out + 3 * nv, s->lambda, (size_t)m->nconstraint * sizeof *out);
    if (m->nsignal) memcpy(out + 3 * nv + m->nconstraint, s->z, (size_t)m->nsignal * sizeof *out);
}

// Moves number k of x_0 by `by`; z: of a restart, the memory after it, which is moved instead.
static void move_input(const snw_model *m, const snw_map *map, int k, double by, double *line,
                       snw_state *s, double *z) {
    const int nv = m->nv;
    if (k < nv) {
        memset(line, 0, (size_t)nv * sizeof *line);
        line[k] = by;
        snw_move(m, map->q0, 1, line, s->q);
    } else if (k < 2 * nv) {
        s->v[k - nv] += by;
    } else {
        s->z[k - 2 * nv] += by;
        if (z) z[k - 2 * nv] += by;
    }
}

// ---- derivatives --------------------------------------------------------------------------------

static snw_status explicit_open(snw_adjoint *a, const snw_map *map, snw_error *err) {
    const snw_model *m = a->m;
    struct adjoint_explicit *x = a->explicit_map;
    if (!x) {
        a->explicit_map = x = snw_alloc(sizeof *x);
        if (!x) return snw_fail_memory(err);
        x->nin = in_size(m), x->nout = out_size(m);
        const size_t nin = (size_t)x->nin, nout = (size_t)x->nout;
        x->J = snw_alloc((nout * (nin + 4 + (size_t)a->nscalar) + (size_t)m->nsignal + 1) *
                         sizeof *x->J);
        x->idle = snw_alloc((nin + 1) * sizeof *x->idle);
        if (!x->J || !x->idle || snw_state_create(m, &x->s) != SNW_OK) return snw_fail_memory(err);
        x->by_h = x->J + nout * nin;
        x->by_t = x->by_h + nout;
        x->base = x->by_t + nout;
        x->sample = x->base + nout;
        x->bar = x->sample + nout;
        x->condition = x->bar + nout * (size_t)a->nscalar;
    }
    // ranks and classes are those of the motion with these conditions
    bool same = x->engine && !x->stale && memcmp(&x->opts, &map->ode, sizeof x->opts) == 0;
    for (int i = 0; i < m->nsignal && same; i++) {
        const snw_signal_kind kind = m->signal[i].kind;
        const bool switches = kind == SNW_SIGNAL_CONDITION || kind == SNW_SIGNAL_ONCE;
        same = !switches || x->condition[i] == map->z_from[i];
    }
    if (same) return SNW_OK;
    snw_explicit_destroy(x->engine);
    x->engine = NULL;
    SNW_TRY(snw_explicit_create(m, &map->ode, &x->engine, err));
    snw_explicit_set_manual(x->engine, a->in->manual);
    x->opts = map->ode;
    x->stale = false;
    if (m->nsignal) memcpy(x->condition, map->z_from, (size_t)m->nsignal * sizeof *x->condition);
    place_start(m, x, map, 0);
    return snw_explicit_start(x->engine, x->s, err);
}

// Is the coordinate given by a law at any time?
static bool is_given(const snw_model *m, int dof) {
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->dof == dof && d->row >= 0 && d->condition < 0 && !d->passive) return true;
    }
    return false;
}

// x->idle <- numbers of x_0 on which nothing depends: given coordinates, memory that is no state,
// all velocities where the contacts determine them, which a sample tells.
static void find_idle(snw_adjoint *a, const snw_map *map) {
    const snw_model *m = a->m;
    struct adjoint_explicit *x = a->explicit_map;
    const int nv = m->nv;
    bool rates = false;
    place_start(m, x, map, 0);
    for (int i = 0; i < nv; i++) {
        x->idle[i] = map->ode.locomotion && is_given(m, i);
        x->idle[nv + i] = false; // those of given coordinates are a momentum, too
        x->s->v[i] += (0.013 + 0.001 * (i % 7)) * m->typical[i];
    }
    for (int i = 0; i < m->nsignal; i++) x->idle[2 * nv + i] = !adjoint_is_memory(m, i);
    repeat(m, x, map, map->h, map->s.z, x->sample);
    for (int i = 0; i < x->nout; i++) {
        const double size = i < nv ? m->typical[i] : fabs(x->base[i]) + m->typical[i % nv];
        rates = rates || !(fabs(x->sample[i] - x->base[i]) <= 1e-12 * size);
    }
    for (int i = 0; i < nv && !rates && map->ode.locomotion; i++) x->idle[nv + i] = true;
}

// x->base <- where a map leads
static void find_base(snw_adjoint *a, const snw_map *map) {
    struct adjoint_explicit *x = a->explicit_map;
    place_start(a->m, x, map, 0);
    repeat(a->m, x, map, map->h, map->s.z, x->base);
}

// Column k of x->J, or (nin, nin + 1) by_h and by_t
static void difference_column(snw_adjoint *a, const snw_map *map, int k) {
    const snw_model *m = a->m;
    struct adjoint_explicit *x = a->explicit_map;
    const int nv = m->nv, nz = m->nsignal;
    const size_t nout = (size_t)x->nout;
    const bool length = k == x->nin, time = k == x->nin + 1;
    const double h = map->h > 0 ? map->h : a->longest;
    const double step = length       ? move_length * map->h
                        : time       ? move_time * (h > 0 ? h : 1e-3)
                        : k < nv     ? move_place * m->typical[k]
                        : k < 2 * nv ? move_rate * m->typical[k - nv]
                                     : 1e-2 * adjoint_memory_size(a, map, k - 2 * nv);
    double *column = x->J + nout * (size_t)k, *z = a->memory;
    memset(column, 0, nout * sizeof *column);
    if (length && map->h == 0) return;
    for (int j = -ADJOINT_SAMPLES; j <= ADJOINT_SAMPLES; j++) {
        if (j == 0) continue;
        const double c = (j < 0 ? -adjoint_weight[-j - 1] : adjoint_weight[j - 1]) / step;
        place_start(m, x, map, time ? j * step : 0);
        if (nz) memcpy(z, map->s.z, (size_t)nz * sizeof *z);
        if (k < x->nin) move_input(m, map, k, j * step, a->line, x->s, z);
        repeat(m, x, map, map->h + (length ? j * step : 0), z, x->sample);
        for (size_t i = 0; i < nout; i++) column[i] += c * (x->sample[i] - x->base[i]);
    }
}

static void find_times(snw_adjoint *a, const snw_map *map) {
    difference_column(a, map, a->explicit_map->nin);
    difference_column(a, map, a->explicit_map->nin + 1);
}

snw_status adjoint_explicit_prepare(snw_adjoint *a, const snw_map *map, snw_error *err) {
    SNW_TRY(explicit_open(a, map, err));
    struct adjoint_explicit *x = a->explicit_map;
    const size_t nout = (size_t)x->nout;
    find_base(a, map);
    find_idle(a, map);
    a->dear.steps++;
    memset(x->J, 0, nout * (size_t)(x->nin + 2) * sizeof *x->J); // and by_h, by_t
    for (int k = 0; k < x->nin; k++) {
        if (!x->idle[k]) difference_column(a, map, k);
    }
    if (adjoint_moves(map)) find_times(a, map);
    for (size_t i = 0; i < nout * (size_t)(x->nin + 2); i++) {
        if (isfinite(x->J[i])) continue;
        return snw_fail(err, SNW_E_SINGULAR,
                        "there is no derivative at t = %g s: the motion does not exist for the "
                        "slightest change of the state",
                        map->s.t);
    }
    return SNW_OK;
}

// ---- back and forward ---------------------------------------------------------------------------

// The parts of bars that are numbers of x_1, or, `before`, of x_0.
enum { PARTS = 5 };
static int parts_of(const snw_model *m, const snw_bars *b, bool before, double *part[PARTS],
                    int n[PARTS]) {
    int k = 0;
    part[k] = b->place, n[k++] = m->nv;
    part[k] = b->rate, n[k++] = m->nv;
    if (!before) part[k] = b->acc, n[k++] = m->nv;
    if (!before) part[k] = b->lambda, n[k++] = m->nconstraint;
    part[k] = b->z, n[k++] = m->nsignal;
    return k;
}

// to <- numbers of bars, or (back) bars <- them
static void copy_parts(const snw_model *m, const snw_bars *b, bool before, bool back, double *x) {
    double *part[PARTS];
    int n[PARTS];
    const int count = parts_of(m, b, before, part, n);
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < n[k]; i++) *(back ? &part[k][i] : &x[i]) = back ? x[i] : part[k][i];
        x += n[k];
    }
}

static void clear_past(const snw_model *m, const snw_bars *b) {
    memset(b->acc, 0, 4 * (size_t)m->nv * sizeof *b->acc);
    memset(b->lambda, 0, (size_t)m->nconstraint * sizeof *b->lambda);
    memset(b->integrand, 0, (size_t)m->nsignal * sizeof *b->integrand);
}

static void back_times(snw_adjoint *a, const snw_map *map, int scalar) {
    const struct adjoint_explicit *x = a->explicit_map;
    const double *bar = x->bar + (size_t)scalar * (size_t)x->nout;
    double *t = a->bars[scalar].time;
    const double by_start = t[SNW_TIME_NOW] + snw_vector_dot(x->nout, x->by_t, bar);
    const double by_length =
        t[SNW_TIME_NOW] + t[SNW_TIME_LENGTH] + snw_vector_dot(x->nout, x->by_h, bar);
    const bool given = map->h > 0 && (map->end == SNW_END_TIME || map->end == SNW_END_GRID);
    t[SNW_TIME_NOW] = given ? by_start - by_length : by_start;
    if (given && map->end == SNW_END_GRID) t[SNW_TIME_START] += by_length;
    t[SNW_TIME_LENGTH] = 0;
    a->by_free[scalar] = by_length;
}

// Bars at the start of a map from x->bar, by the differences x->J.
static void back_scalar(const snw_adjoint *a, int scalar) {
    const snw_model *m = a->m;
    const struct adjoint_explicit *x = a->explicit_map;
    const snw_bars *b = &a->bars[scalar];
    const double *bar = x->bar + (size_t)scalar * (size_t)x->nout;
    double *to = x->sample;
    for (int i = 0; i < x->nin; i++)
        to[i] = snw_vector_dot(x->nout, x->J + (size_t)x->nout * (size_t)i, bar);
    // memory that is no state stays as it is
    for (int i = 0; i < m->nsignal; i++) {
        if (!adjoint_is_memory(m, i)) to[2 * m->nv + i] = b->z[i];
    }
    copy_parts(m, b, true, true, to);
}

snw_status adjoint_explicit_back(snw_adjoint *a, const snw_map *map, snw_error *err) {
    SNW_TRY(explicit_open(a, map, err));
    struct adjoint_explicit *x = a->explicit_map;
    if (map->h == 0 && map->remembers && a->m->ncondition > 0) { // ranks and class after it
        find_base(a, map);
        x->stale = true;
    }
    const bool written = adjoint_runge_kutta_applies(a, map), moves = adjoint_moves(map);
    x->written = written;
    if (!written) SNW_TRY(adjoint_explicit_prepare(a, map, err));
    for (int k = 0; k < a->nscalar; k++)
        copy_parts(a->m, &a->bars[k], false, false, x->bar + (size_t)k * (size_t)x->nout);
    if (written && moves) {
        find_base(a, map);
        find_times(a, map);
    }
    if (written) SNW_TRY(adjoint_runge_kutta_back(a, map, err));
    for (int k = 0; k < a->nscalar; k++) {
        if (!written) back_scalar(a, k);
        if (moves) back_times(a, map, k);
        clear_past(a->m, &a->bars[k]);
    }
    return SNW_OK;
}

void adjoint_explicit_apply(snw_adjoint *a, const snw_map *map, int k, const double *by,
                            double before, double length) {
    const snw_model *m = a->m;
    const struct adjoint_explicit *x = a->explicit_map;
    const snw_bars *b = &a->bars[k];
    const int parts = snw_map_parts(map);
    double *out = x->sample, *in = x->bar; // of the sweep back, which does not use it here
    copy_parts(m, b, true, false, in);
    for (int i = 0; i < x->nout; i++) {
        out[i] = x->by_t[i] * before + x->by_h[i] * length;
        for (int j = 0; j < parts; j++) out[i] += by[j * x->nout + i];
    }
    for (int i = 0; i < x->nin; i++) {
        const double *column = x->J + (size_t)x->nout * (size_t)i;
        for (int j = 0; j < x->nout && in[i] != 0; j++) out[j] += column[j] * in[i];
    }
    for (int i = 0; i < m->nsignal; i++) {
        if (!adjoint_is_memory(m, i)) out[x->nout - m->nsignal + i] = in[2 * m->nv + i];
    }
    clear_past(m, b);
    copy_parts(m, b, false, true, out);
}

// ---- other models -------------------------------------------------------------------------------

int adjoint_explicit_size(const snw_model *m, const snw_map *map) {
    return snw_map_parts(map) * out_size(m);
}

int adjoint_explicit_stage(const snw_model *m, int i) { return i / out_size(m); }

int adjoint_explicit_parts(const snw_map *map) { return map->h > 0 ? 3 : 1; }

double adjoint_explicit_time(const snw_map *map, int part) {
    const double t0 = map->s.t - map->h;
    if (map->h == 0 || part == EXPLICIT_END) return map->t_laws;
    return part == EXPLICIT_START ? t0 + snw_time_resolution(t0) : t0 + 0.5 * map->h;
}

// out (nout) <- where the map leads by the model of the sampler, at the times of one part only
// unless `part` is negative
static void repeat_with(const snw_sampler *y, const snw_adjoint *a, const snw_map *map, int part,
                        double *out) {
    struct adjoint_explicit *x = a->explicit_map;
    const double t = part < 0 ? 0 : adjoint_explicit_time(map, part), near = 0.25 * map->h;
    place_start(a->m, x, map, y->shift);
    if (part < 0 || map->h == 0) {
        snw_explicit_use(x->engine, y->m);
        repeat(y->m, x, map, map->h, map->s.z, out);
        snw_explicit_use(x->engine, a->m);
        return;
    }
    snw_explicit_use_between(x->engine, y->m, t - near, t + near);
    repeat(a->m, x, map, map->h, map->s.z, out);
    snw_explicit_use_between(x->engine, NULL, 0, 0);
}

void adjoint_explicit_equations(const snw_sampler *y, const snw_adjoint *a, const snw_map *map,
                                double *out) {
    const struct adjoint_explicit *x = a->explicit_map;
    for (int i = 0; i < snw_map_parts(map); i++) {
        double *to = out + (size_t)i * (size_t)x->nout;
        if (y->law || i == 0) {
            repeat_with(y, a, map, y->law ? i : -1, to);
            for (int k = 0; k < x->nout; k++) to[k] -= x->base[k];
        } else {
            memset(to, 0, (size_t)x->nout * sizeof *to);
        }
    }
}

void adjoint_explicit_sample(snw_sampler *y, const snw_adjoint *a, const snw_map *map,
                             double *value) {
    const struct adjoint_explicit *x = a->explicit_map;
    if (x->written) {
        for (int k = 0; k < a->nscalar; k++) value[k] = 0;
        for (int i = 0; i < adjoint_runge_kutta_count(a); i++) {
            int part;
            const snw_map at = adjoint_runge_kutta_show(a, map, i, &part);
            if (y->stage > 0 && map->h > 0 && part != y->stage - 1) continue;
            snw_sampler_map(y, a, &at, a->product);
            for (int k = 0; k < a->nscalar; k++) value[k] += a->product[k];
            adjoint_runge_kutta_metric(a, y->m, i, value);
        }
        return;
    }
    repeat_with(y, a, map, y->stage - 1, x->sample);
    for (int i = 0; i < x->nout; i++) x->sample[i] -= x->base[i];
    for (int k = 0; k < a->nscalar; k++)
        value[k] = -snw_vector_dot(x->nout, x->bar + (size_t)k * (size_t)x->nout, x->sample);
}

double adjoint_explicit_magnitude(const snw_adjoint *a, int scalar) {
    const struct adjoint_explicit *x = a->explicit_map;
    if (x->written) return adjoint_runge_kutta_magnitude(a, scalar);
    double sum = 0;
    for (int i = 0; i < x->nout; i++)
        sum += fabs(x->bar[(size_t)scalar * (size_t)x->nout + (size_t)i] * x->base[i]);
    return sum;
}
