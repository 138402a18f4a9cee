// SPDX-License-Identifier: MIT
//
// A dynamic step. Time advances from instant to instant: points of the time grid, discontinuities
// of the laws, switching times of conditions, the end (theory.md 6.2). Between two instants the
// time integrator advances the state, in shorter steps where necessary.
#include "study/run_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "integrate/integrator.h"
#include "math/vector.h"
#include "shoot/shooter.h"
#include "study/event_search.h"
#include "study/memory.h"
#include "study/target.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- discontinuities of laws -------------------------------------------------------------------

enum { MOST_BREAKS = 20000 };

// Times at which laws, or their rates, jump, in rising order.
typedef struct breaks {
    int n, next;
    double *t;
    bool values; // those of values only, not of rates
} breaks;

// Text for a jump of a law, or of its rate, at an instant and a place; NULL: neither.
static const char *discontinuity(snw_law law, snw_at at) {
    const double e = 1e-9 * (1 + fabs(at.t)), small = 1e-6;
    snw_at before = at, after = at;
    before.t -= e, after.t += e;
    const snw_jet a = snw_expr_jet_t(law, before);
    const snw_jet b = snw_expr_jet_t(law, after);
    if (fabs(b.v - a.v - e * (a.d + b.d)) > small * (1 + fabs(a.v))) return "jumps";
    const double size = fabs(a.d) + fabs(b.d) + e * (fabs(a.dd) + fabs(b.dd)) / small;
    return fabs(b.d - a.d) > small * (1 + size) ? "has a jump in its rate" : NULL;
}

static void dynamic_run_gather_breaks(breaks *b, snw_law law, double t0, double t1) {
    if (!law || !(snw_expr_vars(law) & SNW_VAR_T)) return;
    const int first = b->n;
    b->n += snw_expr_breaks_t(law, t0, t1, b->t + b->n, MOST_BREAKS - b->n);
    if (!b->values) return;
    double any[SNW_FIELD_Y + 2]; // of signals and places: what multiplies them may jump
    for (int i = 0; i < SNW_FIELD_Y + 2; i++) any[i] = 0.37 + 0.01 * i;
    int kept = first;
    for (int i = first; i < b->n; i++) {
        const char *does = discontinuity(law, (snw_at){.t = b->t[i], .signal = any});
        if (does && does[0] == 'j') b->t[kept++] = b->t[i];
    }
    b->n = kept;
}

static void gather_breaks(const snw_desc *d, const snw_step_desc *step, double t0, double t1,
                          breaks *b) {
    for (int i = 0; i < 3; i++) dynamic_run_gather_breaks(b, d->gravity[i], t0, t1);
    for (int i = 0; i < d->nlink; i++) {
        const snw_pose_desc *p = &d->link[i].pose;
        for (int k = 0; k < 3; k++) dynamic_run_gather_breaks(b, p->xyz[k], t0, t1);
        for (int k = 0; k < p->nturn; k++) dynamic_run_gather_breaks(b, p->turn[k].angle, t0, t1);
        for (int k = 0; k < 6; k++) dynamic_run_gather_breaks(b, d->link[i].rod.given[k], t0, t1);
    }
    for (int i = 0; i < d->ntube; i++) dynamic_run_gather_breaks(b, d->tube[i].translation, t0, t1);
    for (int i = 0; i < d->nload; i++) {
        for (int k = 0; k < 3; k++) dynamic_run_gather_breaks(b, d->load[i].force[k], t0, t1);
        for (int k = 0; k < 3; k++) dynamic_run_gather_breaks(b, d->load[i].torque[k], t0, t1);
        dynamic_run_gather_breaks(b, d->load[i].when, t0, t1);
    }
    for (int i = 0; i < d->nstress; i++) {
        for (int k = 0; k < 6; k++) dynamic_run_gather_breaks(b, d->stress[i].stress[k], t0, t1);
        dynamic_run_gather_breaks(b, d->stress[i].when, t0, t1);
    }
    for (int i = 0; i < d->nloop; i++) {
        const snw_pose_desc *p = &d->loop[i].pose;
        for (int k = 0; k < 3; k++) dynamic_run_gather_breaks(b, p->xyz[k], t0, t1);
        for (int k = 0; k < p->nturn; k++) dynamic_run_gather_breaks(b, p->turn[k].angle, t0, t1);
        dynamic_run_gather_breaks(b, d->loop[i].b.sliding, t0, t1);
    }
    for (int i = 0; i < d->ncontact; i++) {
        const snw_pose_desc *p = &d->contact[i].pose;
        for (int k = 0; k < 3; k++) dynamic_run_gather_breaks(b, p->xyz[k], t0, t1);
        for (int k = 0; k < p->nturn; k++) dynamic_run_gather_breaks(b, p->turn[k].angle, t0, t1);
    }
    for (int i = 0; i < d->nmotor; i++) {
        for (int k = 0; k < d->motor[i].n; k++)
            dynamic_run_gather_breaks(b, d->motor[i].law[k], t0, t1);
        dynamic_run_gather_breaks(b, d->motor[i].when, t0, t1);
    }
    for (int i = 0; i < d->ntendon; i++) {
        dynamic_run_gather_breaks(b, d->tendon[i].law, t0, t1);
        dynamic_run_gather_breaks(b, d->tendon[i].temperature, t0, t1);
        dynamic_run_gather_breaks(b, d->tendon[i].ambient, t0, t1);
        dynamic_run_gather_breaks(b, d->tendon[i].when, t0, t1);
    }
    for (int i = 0; i < d->nfluid; i++) {
        for (int k = 0; k < 3; k++) dynamic_run_gather_breaks(b, d->fluid[i].current[k], t0, t1);
    }
    for (int i = 0; i < d->nforce_field; i++) {
        const snw_pose_desc *p = &d->force_field[i].pose;
        for (int k = 0; k < 3; k++) dynamic_run_gather_breaks(b, d->force_field[i].law[k], t0, t1);
        for (int k = 0; k < 3; k++) dynamic_run_gather_breaks(b, p->xyz[k], t0, t1);
        for (int k = 0; k < p->nturn; k++) dynamic_run_gather_breaks(b, p->turn[k].angle, t0, t1);
    }
    for (int i = 0; i < d->nsignal; i++) dynamic_run_gather_breaks(b, d->signal[i].source, t0, t1);
    dynamic_run_gather_breaks(b, step->until, t0, t1);
    qsort(b->t, (size_t)b->n, sizeof *b->t, snw_compare_doubles);
}

static snw_status find_breaks(const snw_desc *d, const snw_step_desc *step, double t0, double t1,
                              breaks *b) {
    b->t = snw_alloc(MOST_BREAKS * sizeof(double));
    if (!b->t) return SNW_E_MEMORY;
    gather_breaks(d, step, t0, t1, b);
    return SNW_OK;
}

snw_status snw_run_law_jumps(const snw_desc *d, int stage, double t0, double t1, int *n,
                             double **t) {
    breaks b = {.values = true};
    const snw_status s = find_breaks(d, &d->step[stage], t0, t1, &b);
    *n = b.n;
    *t = b.t;
    return s;
}

// ---- frames ------------------------------------------------------------------------------------

static double dynamic_run_total_energy(const snw_energy *e) {
    return e->kinetic + e->elastic + e->gravity;
}

double snw_run_mechanical_energy(snw_run *r) {
    if (r->current) {
        const snw_shoot_energy e = snw_shooter_energy(r->current);
        return e.kinetic + e.elastic + e.gravity;
    }
    const snw_model *m = r->now->model;
    snw_work *w = (snw_work *)snw_statics_work_at_time(r->now->statics, r->state, r->state->t);
    const snw_inputs *in = snw_statics_inputs(r->now->statics);
    snw_kinematics(m, in, r->state, false, w);
    return snw_kinetic_energy(m, w) + snw_stored_energy(m, r->state, w) +
           snw_gravity_energy(m, in, w);
}

snw_energy snw_run_energies(const snw_run *r, const snw_integrator *it, const snw_work *w) {
    const snw_model *m = r->now->model;
    const snw_work_done done = it->work(it->self);
    double work = 0;
    for (int i = 0; i < done.n; i++) work += done.work[i];
    snw_energy e = {.kinetic = snw_kinetic_energy(m, w),
                    .elastic = snw_stored_energy(m, it->state(it->self), w),
                    .gravity = snw_gravity_energy(m, it->inputs(it->self), w),
                    .dissipated = r->heat + done.heat,
                    .work = r->work + work,
                    .scheme = r->scheme + done.scheme};
    if (it->shooter) {
        const snw_shoot_energy full = snw_shooter_energy(it->shooter(it->self));
        e.kinetic = full.kinetic, e.elastic = full.elastic, e.gravity = full.gravity;
    }
    e.balance = r->balance + (dynamic_run_total_energy(&e) - r->cursor.start) - work + done.heat +
                done.scheme;
    return e;
}

void snw_run_accumulate_energies(snw_run *r, const snw_energy *e) {
    r->balance = e->balance, r->work = e->work, r->heat = e->dissipated, r->scheme = e->scheme;
}

// Exchanged energy so far, J: the scale for errors of the energy balance.
static double exchanged(const snw_run *r, const snw_energy *e) {
    return fmax(fmax(e->kinetic, fabs(dynamic_run_total_energy(e) - r->cursor.start)),
                fmax(fabs(e->work), e->dissipated));
}

// Frame at the integrator's present. sum: solver statistics since the last frame, then cleared.
static snw_status dynamic_run_frame(snw_run *r, int stage, const snw_integrator *it, snw_stats *sum,
                                    bool last, snw_error *err) {
    const snw_model *m = r->now->model;
    const bool due = !it->shooter && snw_run_error_estimate_due(r, last);
    sum->load = 1;
    sum->stability = NAN;
    // of a local model it takes as long as a factorisation, and writes to the workspace
    sum->condition = it->condition && (due || !m->local) ? it->condition(it->self) : NAN;
    sum->truncation = NAN;
    const snw_work *w = it->work_at(it->self);
    const snw_state *s = it->state(it->self);
    if (!it->shooter) snw_run_warn_indefinite(r, s);
    if (due) {
        sum->geometry = snw_geometry_error(m, s->q, s->t);
        snw_run_estimate_errors(r, s, SNW_TRUNCATION_MOTION, sum);
    }
    const snw_frame_source v = {.state = s,
                                .in = it->inputs(it->self),
                                .w = w,
                                .integrator = it,
                                .fields = it->shooter ? it->shooter(it->self) : NULL,
                                .energy = snw_run_energies(r, it, w),
                                .stats = *sum};
    *sum = (snw_stats){0};
    SNW_TRY(snw_run_check_divergence(r, it, &v.energy, err));
    r->totals.exchanged = fmax(r->totals.exchanged, exchanged(r, &v.energy));
    if (!r->desc->step[stage].kinematic) snw_energy_drift_at_frame(&r->energy_drift, &v.energy);
    r->cursor.done = last;
    return snw_run_frame(r, stage, &v, err);
}

// ---- reports for derivatives -------------------------------------------------------------------

static bool is_watched(const snw_run *r, const snw_integrator *it) {
    return r->hooks && r->hooks->watch.note && it->set_watch;
}

static void report(const snw_run *r, const snw_integrator *it, const snw_step_report *what) {
    if (is_watched(r, it)) r->hooks->watch.note(r->hooks->watch.user, what);
}

static void dynamic_run_undo(const snw_run *r, const snw_integrator *it) {
    it->undo(it->self);
    report(r, it, &(snw_step_report){.event = SNW_WATCH_UNDO});
}

// Does step `stage` follow an equilibrium?
static bool follows_rest(const snw_desc *d, int stage) {
    for (int i = stage;;) {
        i = d->step[i].from >= 0 ? d->step[i].from : i - 1;
        if (i < 0 || d->step[i].kind == SNW_STEP_DYNAMIC) return false;
        if (d->step[i].kind == SNW_STEP_INVERSE || d->step[i].kind == SNW_STEP_PATH) return true;
        if (d->step[i].kind == SNW_STEP_STATIC) return !d->step[i].steady;
    }
}

// The integrator has reached the instant `to`; `jump`: laws change there.
static void report_instant(const snw_run *r, const snw_integrator *it, int stage, bool switched,
                           bool over, bool jump) {
    const snw_step_end end = switched ? SNW_END_EVENT : jump ? SNW_END_TIME : SNW_END_GRID;
    report(r, it,
           &(snw_step_report){
               .event = SNW_WATCH_INSTANT, .end = end, .stage = stage, .over = switched && over});
}

// ---- events at instants ------------------------------------------------------------------------

// All signals at the integrator's state, and the energies there.
typedef struct signal_values {
    const snw_work *w;
    snw_energy energy;
} signal_values;

static signal_values read_signals(snw_run *r, const snw_integrator *it) {
    snw_work *w = (snw_work *)it->work_at(it->self); // the integrator permits writing the signals
    const signal_values x = {w, snw_run_energies(r, it, w)};
    snw_memory_read(r->now->model, it->inputs(it->self), it->state(it->self), &x.energy,
                    r->rotation_scratch, w);
    return x;
}

static bool step_ends(const snw_step_desc *step, double t, const double *signal) {
    return step->until && snw_expr_value(step->until, (snw_at){.t = t, .signal = signal}) != 0;
}

// Does a condition switch, or the step end, with these values at the integrator's state? r->z <-
// the memory of the signals there.
static bool conditions_switch(snw_run *r, const snw_integrator *it, const snw_step_desc *step,
                              const signal_values *x, bool *over) {
    const bool switched = snw_memory_switch(r->now->model, it->state(it->self), x->w, r->z);
    *over = step_ends(step, it->state(it->self)->t, x->w->signal);
    return switched || *over;
}

static bool dynamic_run_switches(snw_run *r, const snw_integrator *it, const snw_step_desc *step,
                                 bool *over) {
    const signal_values x = read_signals(r, it);
    return conditions_switch(r, it, step, &x, over);
}

// A condition switched between `from` and `to`, or the step ended: bring the integrator to such a
// time by bisection, to 1e-9 of the interval, for derivatives to rounding. The advance to `to` has
// been made.
static snw_status dynamic_run_locate(snw_run *r, const snw_integrator *it,
                                     const snw_step_desc *step, double from, double to,
                                     double limit, bool *over, snw_stats *took, snw_error *err) {
    double lo = from, hi = to, at = to;
    const double rounding = 4e-16 * fabs(to), close = fmax(1e-9 * (to - from), rounding);
    // a change at the very start is as close as any
    const double closer = is_watched(r, it) ? fmax(1e-14 * (to - from), rounding) : close;
    // a jump of a law at `limit` is the likely cause: try just before it
    double mid = limit <= to ? to - close : 0.5 * (lo + hi);
    while (hi - lo > (lo > from ? closer : close)) {
        dynamic_run_undo(r, it);
        SNW_TRY(it->advance(it->self, mid, limit, took, err));
        at = mid;
        if (dynamic_run_switches(r, it, step, over)) {
            hi = mid;
        } else {
            lo = mid;
        }
        mid = 0.5 * (lo + hi);
    }
    if (at == hi) return SNW_OK;
    dynamic_run_undo(r, it);
    SNW_TRY(it->advance(it->self, hi, limit, took, err));
    (void)dynamic_run_switches(r, it, step, over);
    return SNW_OK;
}

// ---- conditions that change and change back between two instants --------------------------------

// Monitor of the conditions between the steps of an advance (theory.md (6.19)).
typedef struct condition_monitor {
    snw_run *r;
    const snw_integrator *it;
    const snw_step_desc *step;
    snw_event_search *search; // NULL: no condition varies within steps
    bool begins;              // the search begins anew at the next advance
    bool active;              // not during trial advances
    bool stopped;             // it has ended the advance
    double examined;          // steps that end up to this time were searched before, s
    double last, changed;     // last instant; instant at which a condition had changed, NaN: none
    double unchanged;         // instant before that one
} condition_monitor;

static snw_event_instant monitor_instant(const condition_monitor *x, const signal_values *v) {
    return (snw_event_instant){x->it->state(x->it->self), &v->energy, v->w->signal};
}

// The integrator is at the end of a step. *switched: a condition differs there from its memory, or
// the step ends. Returns whether one has changed and changed back, or may have done so within the
// step.
static bool monitor_look(condition_monitor *x, bool *switched, bool *over) {
    const signal_values v = read_signals(x->r, x->it);
    *switched = conditions_switch(x->r, x->it, x->step, &v, over);
    const double t = x->it->state(x->it->self)->t;
    const bool examined = t <= x->examined;
    if (*switched && !examined && isnan(x->changed)) x->changed = t, x->unchanged = x->last;
    x->last = t;
    if (!isnan(x->changed)) return !*switched;
    return snw_event_search_step(x->search, monitor_instant(x, &v), !examined);
}

static bool monitor_step(void *user) {
    condition_monitor *x = user;
    bool switched, over;
    if (!x->active) return false;
    x->stopped = monitor_look(x, &switched, &over);
    return x->stopped;
}

// Does a condition differ at time t? Advances there, from the start of the last advance.
static snw_status monitor_try(const condition_monitor *x, double t, double limit, bool *differs,
                              bool *over, snw_stats *took, snw_error *err) {
    dynamic_run_undo(x->r, x->it);
    SNW_TRY(x->it->advance(x->it->self, t, limit, took, err));
    *differs = dynamic_run_switches(x->r, x->it, x->step, over);
    return SNW_OK;
}

// A condition may have changed and changed back. *hit: it has, between lo and hi, and the
// integrator is at hi.
static snw_status monitor_confirm(const condition_monitor *x, double limit, bool *hit, double *lo,
                                  double *hi, bool *over, snw_stats *took, snw_error *err) {
    *hit = false;
    if (!isnan(x->changed)) {
        *lo = x->unchanged, *hi = x->changed;
        return monitor_try(x, *hi, limit, hit, over, took, err);
    }
    *lo = snw_event_search_from(x->search);
    while (!*hit && snw_event_search_next(x->search, hi)) {
        snw_error failure = {0};
        const snw_status s = monitor_try(x, *hi, limit, hit, over, took, &failure);
        if (s == SNW_E_STOPPED) {
            if (err) *err = failure;
            return s;
        }
        // a step to that instant may fail although the longer one succeeded
        if (!*hit)
            snw_event_search_reject(x->search, s ? NULL : read_signals(x->r, x->it).w->signal);
    }
    return SNW_OK;
}

// Advance to *to. *switched: a condition differs there from its memory or the step ends (*over),
// for the first time after *lo. *to becomes earlier when that is so within the way.
static snw_status monitor_advance(condition_monitor *x, double *to, double limit, bool *switched,
                                  double *lo, bool *over, snw_stats *took, snw_error *err) {
    const snw_integrator *it = x->it;
    snw_projection *pr = snw_statics_projection(x->r->now->statics);
    *lo = it->state(it->self)->t;
    if (x->begins) {
        const signal_values v = read_signals(x->r, it);
        snw_event_search_begin(x->search, monitor_instant(x, &v));
    }
    x->begins = false;
    snw_event_search_mark(x->search);
    x->examined = -INFINITY;
    for (;;) {
        const double start = it->state(it->self)->t;
        double end = *to;
        x->changed = NAN, x->last = start, x->stopped = false, x->active = true;
        *took = (snw_stats){0};
        const snw_status s =
            snw_integrator_advance(it, pr, x->r->now->rows, &end, limit, took, err);
        x->active = false;
        if (s != SNW_OK) return s;
        if (!x->stopped && !monitor_look(x, switched, over)) {
            *to = end;
            return SNW_OK;
        }
        const double reached = it->state(it->self)->t;
        snw_stats tried = {0};
        SNW_TRY(monitor_confirm(x, limit, switched, lo, &end, over, &tried, err));
        if (*switched) {
            *to = end;
            return SNW_OK;
        }
        // the advance is made again, with the same numbers
        dynamic_run_undo(x->r, it);
        snw_event_search_return(x->search);
        x->examined = reached;
        *lo = start;
    }
}

// r->z <- memory of the signals at the integrator's state, with the samples that are due or in
// r->never_sampled. Returns whether the laws change by it.
static bool dynamic_run_remember(snw_run *r, const snw_integrator *it) {
    snw_work *w = (snw_work *)it->work_at(it->self);
    const snw_energy e = snw_run_energies(r, it, w);
    return snw_memory_update(r->now->model, it->inputs(it->self), it->state(it->self), &e,
                             r->never_sampled, r->rotation_scratch, w, r->z);
}

// Reports the samples that are taken at the integrator's state; returns whether there are any and
// they are watched.
static bool report_samples(const snw_run *r, const snw_integrator *it) {
    const snw_state *s = it->state(it->self);
    bool any = false;
    for (int i = 0; i < r->now->model->nsignal; i++)
        any = any || snw_memory_takes(r->now->model, i, s->t, r->never_sampled);
    if (!any || !is_watched(r, it)) return false;
    report(r, it,
           &(snw_step_report){.event = SNW_WATCH_SAMPLE,
                              .s = s,
                              .t_laws = it->inputs(it->self)->t,
                              .fresh = r->never_sampled});
    return true;
}

// r->never_sampled <- signals that no earlier step has sampled
static void find_never_sampled(snw_run *r, int stage) {
    for (int i = 0; i < r->desc->nsignal; i++) {
        r->never_sampled[i] = true;
        for (int k = 0; k < stage; k++) {
            const snw_desc *d = r->phase[r->phase_of_step[k]].desc;
            if (r->desc->step[k].kind != SNW_STEP_CHANGE && d->signal[i].source)
                r->never_sampled[i] = false;
        }
    }
}

// Start of the step: first samples, and *over when its end condition holds already.
static snw_status dynamic_run_begin(snw_run *r, int stage, const snw_integrator *it, bool *over,
                                    snw_error *err) {
    const snw_step_desc *step = &r->desc->step[stage];
    find_never_sampled(r, stage);
    if (snw_memory_has_events(r->now->model)) {
        const bool changes = dynamic_run_remember(r, it);
        // a sample that happens to keep its value has derivatives all the same
        if (report_samples(r, it) || changes) SNW_TRY(it->restart(it->self, r->z, err));
    }
    for (int i = 0; i < r->desc->nsignal; i++) r->never_sampled[i] = false;
    *over = step_ends(step, r->cursor.t0, read_signals(r, it).w->signal);
    if (!*over) return SNW_OK;
    char text[200];
    (void)snprintf(text, sizeof text,
                   "step '%.100s' ends where it begins: its 'until' holds already at t = %g s",
                   step->name, r->cursor.t0);
    snw_run_warn(r, text);
    return SNW_OK;
}

// ---- time --------------------------------------------------------------------------------------

enum { MOST_SWITCHES = 200 };

// Failure of a condition that switches on and off without end; r->z differs from the state's memory
// where it switched.
static snw_status fail_chattering(const snw_run *r, const snw_integrator *it, snw_error *err) {
    const snw_state *s = it->state(it->self);
    const snw_desc *d = r->now->desc;
    int i = 0;
    while (i < d->nsignal - 1 && r->z[i] == s->z[i]) i++;
    return snw_fail(err, SNW_E_DIVERGED,
                    "the condition '%.100s' changed %d times in a row at t = %.9g s; the results "
                    "so far are kept. Let it switch on and off at different values, or replace it "
                    "by a law that rises smoothly",
                    d->signal[i].text, MOST_SWITCHES, s->t);
}

// Adapt the meshes of the rods to the integrator's state.
static snw_status dynamic_run_adapt_mesh(snw_run *r, const snw_integrator *it,
                                         snw_event_search *search, snw_error *err) {
    bool changed;
    SNW_TRY(snw_run_mesh_adapt(r, it->state(it->self), false, true, &changed, err));
    if (!changed) return SNW_OK;
    it->use(it->self, r->now->model);
    if (search) snw_event_search_use(search, r->now->model);
    if (!it->renew) return it->restart(it->self, NULL, err);
    it->renew(it->self);
    return SNW_OK;
}

// Choose the independent rows of redundant loops at the integrator's state.
static snw_status dynamic_run_choose_rows(snw_run *r, const snw_integrator *it, snw_error *err) {
    return snw_integrator_choose_rows(it, snw_statics_projection(r->now->statics), r->now->rows,
                                      err);
}

// Next time after t at which laws change: a jump or a sample. Times that differ by rounding only
// count as equal.
static double next_change(const snw_model *m, breaks *b, double t, double grid) {
    while (b->next < b->n && b->t[b->next] <= t + 1e-12 * (1 + fabs(t))) b->next++;
    const double jump = b->next < b->n ? b->t[b->next] : INFINITY;
    const double sample = snw_memory_due(m, t), same = 4e-15 * fabs(sample);
    if (isinf(sample) || fabs(sample - jump) <= same) return jump;
    return fmin(jump, fabs(sample - grid) <= same ? grid : sample);
}

// Is a divergence test due between frames? After steps that were halved or needed many iterations,
// and every 16 intervals.
static bool divergence_check_due(const snw_stats *took, double k) {
    return took->increments > 1 || took->iterations > 15 || fmod(k, 16) == 0;
}

// The integrator failed: keep its error, or replace it when the motion had diverged before.
static snw_status dynamic_run_explain(snw_run *r, const snw_integrator *it, snw_error *err) {
    const snw_energy e = snw_run_energies(r, it, it->work_at(it->self));
    SNW_TRY(snw_run_check_divergence(r, it, &e, err));
    return SNW_E_DIVERGED;
}

// Warn of each integral of an error that does not settle by the end of the step.
static void warn_of_targets(const snw_run *r, const snw_step_desc *step, const snw_targets *g) {
    double error, before;
    for (int i = snw_targets_missed(g, 0, &error, &before); i >= 0;
         i = snw_targets_missed(g, i + 1, &error, &before)) {
        char text[320];
        (void)snprintf(text, sizeof text,
                       "run '%s': the integrand of '%.80s' stays at %.3g in the last quarter of "
                       "step '%s' (%.3g in the one before): its target is not reached. Check for "
                       "obstacles and limits of the drive, or use other gains or more time",
                       r->info.run, r->now->desc->signal[i].text, error, step->name, before);
        snw_run_warn(r, text);
    }
}

// Note the steady-state error of proportional laws: it is inherent to them, so not a warning.
static void note_offsets(const snw_run *r, const snw_step_desc *step, const snw_targets *g) {
    snw_offset o;
    for (int i = 0; snw_targets_offset(g, i, &o); i++) {
        char text[512];
        (void)snprintf(
            text, sizeof text,
            "run '%s': '%.60s' keeps %.60s at %.4g, off its reference %.4g (error %.3g), through "
            "the last quarter of step '%.60s': %s",
            r->info.run, o.law, o.probe, o.value, o.reference, o.reference - o.value, step->name,
            o.limited ? "it is at its limit"
                      : "a proportional law has a steady-state error under constant loads; add an "
                        "integral term, or the load itself (feed-forward)");
        snw_run_note(r, text);
    }
}

// Note a condition whose comparisons jump: within a step it is tested at some points only.
static void note_jumping_conditions(const snw_run *r, const snw_step_desc *step,
                                    const snw_event_search *search) {
    const char *condition;
    if (!snw_event_search_jumps(search, &condition)) return;
    char text[480];
    (void)snprintf(text, sizeof text,
                   "run '%s', step '%.60s': '%.100s' compares by ==, or compares a function that "
                   "jumps (mod, floor, ceil, sign, step, if); it is tested at 32 points of each "
                   "step, and where it holds for less than that it may be missed",
                   r->info.run, step->name, condition ? condition : "until");
    snw_run_note(r, text);
}

// Sample the errors of proportional laws at the integrator's state, when due.
static void sample_offsets(snw_run *r, const snw_integrator *it, snw_targets *g, double t) {
    if (!snw_targets_due(g, t)) return;
    snw_targets_record_signals(g, t, read_signals(r, it).w->signal);
}

static snw_status dynamic_run_advance(snw_run *r, int stage, const snw_integrator *it, breaks *b,
                                      snw_targets *targets, snw_event_search *search,
                                      snw_error *err) {
    const snw_step_desc *step = &r->desc->step[stage];
    const double t0 = r->cursor.t0, t1 = t0 + step->duration;
    const double grid = it->grid > 0 ? it->grid : step->duration / 100;
    const bool acts = snw_memory_has_events(r->now->model);
    const bool monitors = acts || (step->until && (snw_expr_vars(step->until) & SNW_VAR_SIGNAL));
    snw_stats sum = {0};
    int nswitch = 0; // consecutive switches within one interval of the grid
    condition_monitor monitor = {.r = r, .it = it, .step = step, .search = search, .begins = true};
    if (search) it->set_monitor(it->self, (snw_step_monitor){monitor_step, &monitor});
    if (r->cursor.done) return SNW_OK;
    if (!r->resuming) {
        r->cursor.k = 1;
        bool over = false;
        SNW_TRY(dynamic_run_begin(r, stage, it, &over, err));
        SNW_TRY(snw_run_check_limits(r, it->state(it->self), err));
        (void)snw_run_frame_due(r, t0, true);
        SNW_TRY(dynamic_run_frame(r, stage, it, &sum, over, err));
        if (over) return SNW_OK;
        if (targets) snw_targets_record(targets, t0, it->state(it->self)->z);
        if (targets) sample_offsets(r, it, targets, t0);
    }
    for (;;) {
        const double t = it->state(it->self)->t;
        if (snw_run_stopped(r)) return snw_fail(err, SNW_E_STOPPED, "stopped at t = %g s", t);
        // next instant: of the grid, of a law, or the end
        double to = t0 + r->cursor.k * grid;
        while (to <= t + 1e-9 * grid) to = t0 + ++r->cursor.k * grid;
        if (to > t1 - 1e-9 * grid) to = t1;
        const double limit = next_change(r->now->model, b, t, to);
        bool jump = limit <= to + 1e-9 * grid, over = false;
        if (jump) to = limit;
        snw_stats took = {0};
        const double asked = to;
        double lo = t;
        bool switched = false;
        snw_projection *pr = snw_statics_projection(r->now->statics);
        const snw_status s =
            search ? monitor_advance(&monitor, &to, limit, &switched, &lo, &over, &took, err)
                   : snw_integrator_advance(it, pr, r->now->rows, &to, limit, &took, err);
        if (s == SNW_E_DIVERGED) return dynamic_run_explain(r, it, err);
        if (s != SNW_OK) return s;
        jump = jump && to == asked;
        if (monitors && !search) switched = dynamic_run_switches(r, it, step, &over);
        if (switched) {
            if (++nswitch > MOST_SWITCHES) {
                if (it->undo) dynamic_run_undo(r, it);
                return fail_chattering(r, it, err);
            }
            // integrators without `back` accept only conditions of time, whose instants are known
            if (it->undo)
                SNW_TRY(dynamic_run_locate(r, it, step, lo, to, limit, &over, &took, err));
            if (it->state(it->self)->t < to) to = it->state(it->self)->t, jump = false;
            jump = jump || acts;
        } else {
            nswitch = 0;
        }
        report_instant(r, it, stage, switched, over, jump);
        sum.iterations += took.iterations;
        sum.tangents += took.tangents;
        sum.increments += took.increments;
        sum.residual = took.residual;
        r->totals.iterations += (int)took.iterations;
        r->totals.tangents += (int)took.tangents;
        r->totals.increments += (int)took.increments;
        if (!(took.residual <= r->totals.worst_residual)) r->totals.worst_residual = took.residual;
        snw_energy_drift_update(r, it, &took);
        if (jump && acts) {
            (void)dynamic_run_remember(r, it);
            (void)report_samples(r, it);
        }
        if (jump) {
            r->energy_drift.jump = to;
            SNW_TRY(it->restart(it->self, acts ? r->z : NULL, err));
            monitor.begins = true;
            r->signals_before[r->now->model->nsignal] = NAN;
            snw_run_warn_dropped_rows(r, it->state(it->self));
        }
        SNW_TRY(dynamic_run_adapt_mesh(r, it, search, err));
        SNW_TRY(dynamic_run_choose_rows(r, it, err));
        if (divergence_check_due(&took, r->cursor.k)) {
            const snw_energy e = snw_run_energies(r, it, it->work_at(it->self));
            SNW_TRY(snw_run_check_divergence(r, it, &e, err));
        }
        if (!monitors) over = step_ends(step, to, NULL);
        SNW_TRY(snw_run_check_limits(r, it->state(it->self), err));
        const bool last = over || to >= t1;
        if (targets && !r->resuming) snw_targets_record(targets, to, it->state(it->self)->z);
        if (targets) sample_offsets(r, it, targets, to);
        snw_run_report_progress(r, stage, to, t0, t1);
        if (snw_run_frame_due(r, to, last))
            SNW_TRY(dynamic_run_frame(r, stage, it, &sum, last, err));
        if (last) return SNW_OK;
    }
}

// Integrators without numerical damping do not damp the noise in the multipliers of loops, which
// may grow (theory.md 6.6). Driven coordinates have no such noise.
static void warn_of_noise(const snw_run *r, const snw_step_desc *step) {
    const bool keeps = snw_scheme_undamped(step->scheme, step->rho, step->alpha);
    const snw_model *m = r->now->model;
    bool closed = false;
    for (int i = 0; i < m->nloop; i++) closed |= m->loop[i].nrow > 0 && !m->loop[i].nonholonomic;
    if (!keeps || !closed || !step->undamped_velocities) return;
    char text[200];
    (void)snprintf(
        text, sizeof text,
        "run '%s', step '%s': %s does not damp oscillations of the loop forces, which may grow "
        "until the run fails; leave out 'loop_velocities: scheme', or use a scheme with damping",
        r->info.run, step->name, snw_scheme_table[step->scheme].name);
    snw_run_warn(r, text);
}

// Project the state onto the constraints, positions and velocities. fields: the shooting fields
// satisfy them already, and the coordinates only approximate the fields.
static snw_status dynamic_run_project(snw_run *r, bool fields, snw_error *err) {
    const snw_model *m = r->now->model;
    if (m->nconstraint == 0 && m->ncondition == 0) return SNW_OK;
    snw_projection *pr = snw_statics_projection(r->now->statics);
    snw_projection_info info;
    snw_run_set_conditions(r);
    if (r->desc->step[r->cursor.stage].kinematic) return SNW_OK; // it projects by itself
    if (r->cursor.stage > 0 && !fields)
        snw_run_warn_violations(r); // the first step has been checked at the start
    (void)snw_statics_work_at_time(r->now->statics, r->state, r->cursor.t0);
    const snw_inputs *in = snw_statics_inputs(r->now->statics);
    if (!fields && snw_projection_violation(pr, in, r->state, NULL) > 1e-12) {
        SNW_TRY(snw_projection_close(pr, in, r->state, &info, err));
    }
    if (m->ncondition) {
        snw_impacts_drop_redundant(snw_statics_impacts(r->now->statics), in, r->state);
        snw_run_warn_dropped_rows(r, r->state);
    }
    return fields ? SNW_OK : snw_projection_velocities(pr, in, r->state, err);
}

// Discontinuities of prescribed motions: the first one, and the number of laws that have one.
typedef struct jumps {
    const char *does, *what, *name;
    double t;
    int n, strains; // strains: of them given strains whose impulse is not computed
} jumps;

// The same for a law along a rod of length L, at the first of some places that show it.
static const char *discontinuity_along(snw_law law, double t, double L) {
    enum { PLACES = 17 };
    for (int k = 0; k <= PLACES; k++) {
        const char *does = discontinuity(law, (snw_at){.t = t, .x = L * k / PLACES, .L = L});
        if (does) return does;
    }
    return NULL;
}

// Does the law jump within t0..t1? rate: it prescribes a velocity, whose rate may jump. L: length
// of the rod along which it holds; 0: none.
static bool jumps_in(snw_law law, bool rate, double L, double t0, double t1, const char **does,
                     double *at) {
    double t[16];
    if (!law || !(snw_expr_vars(law) & SNW_VAR_T)) return false;
    const int n = snw_expr_breaks_t(law, t0, t1, t, (int)(sizeof t / sizeof t[0]));
    for (int i = 0; i < n; i++) {
        *does = t[i] >= t1 ? NULL
                : L > 0    ? discontinuity_along(law, t[i], L)
                           : discontinuity(law, (snw_at){.t = t[i]});
        *at = t[i];
        if (*does && (!rate || (*does)[0] == 'j')) return true; // the first one is enough
    }
    return false;
}

static void collect_jump(jumps *all, snw_law law, bool rate, double L, const char *what,
                         const char *name, double t0, double t1) {
    const char *does;
    double t;
    if (!jumps_in(law, rate, L, t0, t1, &does, &t)) return;
    if (all->n++ == 0) *all = (jumps){.does = does, .what = what, .name = name, .t = t, .n = 1};
}

// Warn of prescribed motions with discontinuities: poses, strains of rods, tubes that slide,
// driven coordinates.
static void warn_of_jumps(const snw_run *r, const snw_step_desc *step, double t0, double t1) {
    const snw_desc *d = r->now->desc;
    jumps all = {0};
    for (int i = 0; i < d->nlink + d->nloop; i++) {
        const bool link = i < d->nlink;
        const snw_pose_desc *p = link ? &d->link[i].pose : &d->loop[i - d->nlink].pose;
        const char *name = link ? d->link[i].name : d->loop[i - d->nlink].name;
        const char *what = link ? "the pose of link" : "the pose of loop";
        for (int k = 0; k < 3; k++) collect_jump(&all, p->xyz[k], false, 0, what, name, t0, t1);
        for (int k = 0; k < p->nturn; k++) {
            collect_jump(&all, p->turn[k].angle, false, 0, what, name, t0, t1);
        }
    }
    for (int i = 0; i < d->nlink; i++) {
        const snw_rod_desc *rod = &d->link[i].rod;
        for (int k = 0; k < 6; k++) {
            const int before = all.n;
            collect_jump(&all, rod->given[k], false, rod->length, "the strain of rod",
                         d->link[i].name, t0, t1);
            // the impulse of rates is known (constraint/law_jump.h), that of values is not
            const char *does;
            double t;
            const bool left_out = step->kinematic || r->now->model->bare ||
                                  jumps_in(rod->given[k], true, rod->length, t0, t1, &does, &t);
            if (all.n > before && left_out) all.strains++;
        }
    }
    for (int i = 0; i < d->ntube; i++)
        collect_jump(&all, d->tube[i].translation, false, 0, "the translation of tube",
                     d->tube[i].name, t0, t1);
    for (int i = 0; i < r->now->model->ndrive; i++) {
        const snw_drive *drive = &r->now->model->drive[i];
        if (drive->row < 0 || drive->passive) continue;
        collect_jump(&all, drive->law, drive->rate_integral, 0, "actuator",
                     d->motor[drive->motor].name, t0, t1);
    }
    if (all.n == 0) return;
    char text[340], others[40] = "";
    if (all.n > 1) {
        (void)snprintf(others, sizeof others, " (and %d more law%s)", all.n - 1,
                       all.n > 2 ? "s" : "");
    }
    (void)snprintf(text, sizeof text,
                   "run '%s': the law of %s '%.60s'%s %s at t = %g s, which causes an impact%s; a "
                   "prescribed motion should be smooth (ramp, poly5)",
                   r->info.run, all.what, all.name, others, all.does, all.t,
                   all.strains ? " whose work the energy account leaves out" : "");
    snw_run_warn(r, text);
}

// Passive actuators belong to kinematic steps. Those that follow contacts have no law for a dynamic
// step; those that hold a probe act at another place than they measure, which the constraint rows
// of a dynamic step cannot express (theory.md 6.8).
static snw_status refuse_passive(const snw_run *r, const snw_step_desc *step, snw_error *err) {
    const snw_desc *d = r->now->desc;
    for (int i = 0; i < d->nmotor; i++) {
        if (step->kinematic || !d->motor[i].passive) continue;
        const bool holds = d->motor[i].holds || d->motor[i].same;
        return snw_fail_at_location(
            err,
            snw_fail(err, SNW_E_MODEL,
                     "actuator '%s' follows %s, which only a kinematic step supports (it also "
                     "integrates the dynamics of motions that contacts leave free); use one, or "
                     "give the actuator a law or %s",
                     d->motor[i].name,
                     holds ? "the law of a probe (hold)" : "the contacts (position: free)",
                     holds ? "an effort that reads the probe" : "an effort"),
            step->location.file, step->location.line, step->location.column);
    }
    return SNW_OK;
}

snw_status snw_run_dynamic(snw_run *r, int stage, snw_error *err) {
    const snw_step_desc *step = &r->desc->step[stage];
    const snw_model *m = r->now->model;
    SNW_TRY(refuse_passive(r, step, err));
    warn_of_noise(r, step);
    snw_integrator it = {0};
    breaks b = {0};
    snw_targets *targets = NULL;
    snw_event_search *search = NULL;
    const double t0 = r->cursor.t0;
    if (!r->resuming) warn_of_jumps(r, step, t0, t0 + step->duration);
    const bool shoots = step->engine == SNW_ENGINE_SHOOTING;
    snw_status s = shoots ? snw_integrator_shooting(m, step, r->current, &it, err)
                          : snw_integrator_open(m, step, r->desc->record_every, &it, err);
    if (s == SNW_OK && r->hooks) {
        it.set_interrupt(it.self, (snw_interrupt){.stop = r->hooks->stop, .user = r->hooks->user});
    }
    if (s == SNW_OK && it.implicit && r->hooks && r->hooks->unchecked)
        snw_implicit_leave_out_estimate(it.implicit);
    if (s == SNW_OK && it.implicit && r->hooks)
        snw_implicit_set_together(it.implicit, r->hooks->together);
    if (s == SNW_OK && r->manual && it.set_manual) it.set_manual(it.self, r->manual);
    if (s == SNW_OK && r->hooks && r->hooks->watch.note && it.set_watch)
        it.set_watch(it.self, r->hooks->watch);
    if (s == SNW_OK) s = snw_targets_create(r->now->compiled, t0, t0 + step->duration, &targets);
    if (s == SNW_OK && it.undo) {
        s = snw_event_search_create(m, step->until, r->manual, r->signals_before, &search);
    }
    if (s == SNW_OK && search && !r->resuming) {
        r->signals_before[m->nsignal] = NAN;
        note_jumping_conditions(r, step, search);
    }
    if (s == SNW_OK) s = find_breaks(r->now->desc, step, t0, t0 + step->duration, &b);
    if (s == SNW_OK && r->resuming) {
        s = it.load(it.self, snw_run_checkpoint_integrator(r), err);
    } else if (s == SNW_OK) {
        report(r, &it,
               &(snw_step_report){.event = SNW_WATCH_BEGIN,
                                  .stage = r->cursor.stage,
                                  .rest = follows_rest(r->desc, stage)});
        s = dynamic_run_project(r, shoots && r->current, err);
        if (s == SNW_OK) s = it.start(it.self, r->state, err);
        if (s == SNW_OK) s = dynamic_run_adapt_mesh(r, &it, search, err);
        if (s == SNW_OK) s = dynamic_run_choose_rows(r, &it, err);
    }
    if (s == SNW_OK) {
        if (!r->resuming) {
            const snw_energy first = snw_run_energies(r, &it, it.work_at(it.self));
            r->cursor.start = dynamic_run_total_energy(&first);
            snw_run_divergence_begin(r, &first);
            if (!isnan(r->energy_before_change))
                r->work += r->cursor.start - r->energy_before_change;
            r->totals.exchanged = 0;
            snw_energy_drift_begin(&r->energy_drift);
        }
        s = dynamic_run_advance(r, stage, &it, &b, targets, search, err);
        if (s == SNW_OK && targets) {
            warn_of_targets(r, step, targets);
            note_offsets(r, step, targets);
        }
        // also after a failure, up to the time reached
        const snw_energy e = snw_run_energies(r, &it, it.work_at(it.self));
        snw_run_accumulate_energies(r, &e);
        r->totals.balance = e.balance, r->totals.scheme = e.scheme;
        r->totals.exchanged = fmax(r->totals.exchanged, exchanged(r, &e));
        r->totals.created = r->energy_drift.created, r->totals.removed = r->energy_drift.removed;
        snw_energy_drift_warn(r, step, it.grid);
        snw_run_warn_time_error(r, step, &it);
        snw_run_warn_contact_law(r, step, &it);
        snw_state_copy(r->now->model, it.state(it.self), r->state);
        const snw_status kept = snw_run_keep_fields(
            r, stage, it.shooter ? it.shooter(it.self) : NULL, s == SNW_OK ? err : NULL);
        if (s == SNW_OK) s = kept;
    }
    if (it.close) it.close(it.self);
    snw_event_search_destroy(search);
    snw_free(b.t);
    snw_targets_destroy(targets);
    if (s == SNW_OK) snw_statics_assume(r->now->statics, r->state->t);
    return s == SNW_E_MEMORY ? snw_fail(err, s, "out of memory") : s;
}
