// SPDX-License-Identifier: MIT
//
// Live simulation: clients and their messages, synchronisation with the wall clock, changes of
// parameters between steps.
#include "cli/play_private.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "cli/job.h"
#include "output/play_message.h"
#include "output/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double step_fraction = 0.85; // fraction of a frame period available for steps
static const double max_lag = 0.1;        // s: lag behind the clock before the clock is delayed
// s: shortest time between changes of parameters, each of which compiles the model
static const double change_interval = 0.05;

// ---- construction ------------------------------------------------------------------------------

// synchronise the simulated time with the wall clock
static void set_clock(snw_play *p) {
    p->wall0 = p->mark_wall = snw_clock_seconds();
    p->sim0 = p->mark_sim = snw_live_time(p->live);
}

static snw_status play_make(snw_play *p, snw_error *err) {
    p->writer = -1;
    p->wanted = p->ratio = 1;
    SNW_TRY(snw_scene_make(snw_live_model(p->live), &p->scene, err));
    SNW_TRY(snw_job_text(p->document, p->opts.nset, p->opts.set, &p->text, err));
    p->nbytes = snw_play_frame_size(p);
    p->bytes = snw_alloc(p->nbytes);
    p->column = snw_alloc((size_t)snw_live_describe(p->live)->ncolumn * sizeof *p->column);
    if (!p->bytes || !p->column) return snw_fail_memory(err);
    set_clock(p);
    return snw_play_make_frame(p, err);
}

snw_status snw_play_create(const snw_document *d, const snw_desc *desc, snw_live *live,
                           const snw_play_opts *opts, snw_play **out, snw_error *err) {
    *out = NULL;
    snw_play *p = snw_alloc(sizeof *p);
    if (!p) return snw_fail_memory(err);
    p->document = d;
    p->desc = desc;
    p->live = live;
    p->opts = *opts;
    p->paused = opts->paused;
    const snw_status s = play_make(p, err);
    snw_error second = {0};
    if (s != SNW_OK) return snw_play_close(p, &second) == SNW_OK ? s : err->status;
    *out = p;
    return s;
}

snw_status snw_play_close(snw_play *p, snw_error *err) {
    if (!p) return SNW_OK;
    const snw_status s = snw_play_record_end(p, err);
    snw_free(p->scene);
    snw_free(p->text);
    free(p->hello); // allocated by open_memstream
    free(p->message);
    snw_free(p->bytes);
    snw_free(p->column);
    snw_free(p);
    return s;
}

snw_play_totals snw_play_count(const snw_play *p) { return p->totals; }

void snw_play_notify(snw_play *p, const char *note) {
    for (int i = 0; i < SNW_PLAY_CLIENTS; i++) {
        (void)snprintf(p->client[i].note, sizeof p->client[i].note, "%.250s", note);
    }
}

// ---- clients -----------------------------------------------------------------------------------

// give control to the connected client that joined first
static void choose_writer(snw_play *p) {
    p->writer = -1;
    for (int i = 0; i < SNW_PLAY_CLIENTS; i++) {
        if (!p->client[i].connected) continue;
        if (p->writer < 0 || p->client[i].arrival < p->client[p->writer].arrival) p->writer = i;
    }
    p->state++;
}

static bool has_clients(const snw_play *p) { return p->writer >= 0; }

int snw_play_join(snw_play *p) {
    int i = 0;
    while (i < SNW_PLAY_CLIENTS && p->client[i].connected) i++;
    if (i == SNW_PLAY_CLIENTS) return -1;
    if (!has_clients(p)) set_clock(p); // the simulation was waiting for a client
    p->client[i] =
        (snw_play_client){.connected = true, .arrival = p->arrivals++, .state = -1, .frame = -1};
    choose_writer(p);
    return i;
}

void snw_play_leave(snw_play *p, int client) {
    p->client[client].connected = false;
    const bool pulled = client == p->writer;
    choose_writer(p);
    if (pulled) snw_live_release(p->live); // release the mouse spring of the client that left
}

bool snw_play_next(snw_play *p, int client, const void **data, size_t *size, bool *binary) {
    snw_play_client *c = &p->client[client];
    *binary = false;
    if (!c->greeted) {
        c->greeted = true;
        *data = snw_play_hello(p, size);
        return *data != NULL;
    }
    if (c->state != p->state) {
        c->state = p->state;
        *data = snw_play_state(p, client, size);
        return *data != NULL;
    }
    if (c->note[0]) {
        *data = snw_play_note(p, client, size);
        c->note[0] = '\0';
        return *data != NULL;
    }
    if (c->due) {
        c->due = false;
        *data = snw_play_sample(p, size);
        return *data != NULL;
    }
    if (c->watch > 0 || c->frame == p->frame) return false;
    c->frame = p->frame;
    *binary = true;
    *data = p->bytes;
    *size = p->nbytes;
    return true;
}

// ---- one step -----------------------------------------------------------------------------------

// a step failed: pause the simulation and report the reason to all clients
static void pause_after_failure(snw_play *p, const snw_error *err) {
    char note[300];
    (void)snprintf(note, sizeof note,
                   "%.220s; the simulation is stopped: reset it, or undo the last change",
                   err->text);
    snw_play_notify(p, note);
    p->paused = p->failed = true;
    p->state++;
}

static bool play_step(snw_play *p) {
    snw_error err = {0};
    const double before = snw_clock_seconds();
    snw_status s = snw_live_step(p->live, &err);
    const double took = snw_clock_seconds() - before;
    p->step_time += (p->totals.steps ? 0.05 : 1) * (took - p->step_time);
    p->totals.steps++;
    p->totals.stepping += took;
    if (s == SNW_OK) s = snw_play_record_frame(p, &err);
    if (s != SNW_OK) pause_after_failure(p, &err);
    return s == SNW_OK;
}

// ---- messages of clients -----------------------------------------------------------------------

static void play_release(void *owner) { snw_desc_destroy(owner); }

// read and compile the model with the current parameters, and continue with it
static snw_status apply_parameters(snw_play *p, snw_error *err) {
    const int n = snw_live_controls(p->live);
    char(*set)[160] = snw_alloc((size_t)n * sizeof *set);
    const char **list = snw_alloc((size_t)n * sizeof *list);
    snw_desc *desc = NULL;
    int nset = 0;
    snw_status s = set && list ? SNW_OK : snw_fail_memory(err);
    for (int i = 0; s == SNW_OK && i < n; i++) {
        const snw_control *c = snw_live_control(p->live, i);
        if (c->actuator >= 0 || isnan(c->wanted)) continue;
        (void)snprintf(set[nset], sizeof set[nset], "%s=%.17g", c->name, c->wanted);
        list[nset] = set[nset];
        nset++;
    }
    if (s == SNW_OK) {
        s = snw_document_change(p->document, p->opts.run_index, snw_live_step_index(p->desc), nset,
                                list, p->desc, &desc, err);
    }
    snw_free(list);
    snw_free(set);
    return s == SNW_OK ? snw_live_change(p->live, desc, play_release, desc, err) : s;
}

static snw_status restart(snw_play *p, snw_error *err) {
    p->dirty = p->failed = false;
    p->single = 0;
    SNW_TRY(snw_play_record_end(p, err));
    SNW_TRY(snw_live_reset(p->live, err));
    set_clock(p);
    return SNW_OK;
}

// Simulate `span` seconds, at least one step, whatever the clock says.
static snw_status advance_by(snw_play *p, double span, snw_error *err) {
    const double most = 10; // s: others wait meanwhile
    if (!(span >= 0) || span > most)
        return snw_fail(err, SNW_E_ARGUMENT, "advance takes 0 to %g s at once, not %g", most, span);
    p->state += !p->paused;
    p->paused = true;
    p->single = 0;
    if (p->dirty) SNW_TRY(apply_parameters(p, err));
    p->dirty = false;
    const double steps = round(span / snw_live_step_length(p->live));
    bool good = !p->failed;
    for (double i = 0; good && i < fmax(steps, 1); i++) good = play_step(p);
    return snw_play_make_frame(p, err);
}

// Does a message change the state that clients are told?
static bool changes_state(snw_play_verb verb) {
    return verb != SNW_PLAY_PULL && verb != SNW_PLAY_APPLY && verb != SNW_PLAY_WATCH &&
           verb != SNW_PLAY_ADVANCE;
}

static snw_status watch(snw_play *p, int client, double rate, snw_error *err) {
    if (!(rate >= 0) || rate > SNW_PLAY_RATE)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "watch takes 0 to %d samples a second, not %g; advance is answered by one "
                        "whenever it is asked",
                        SNW_PLAY_RATE, rate);
    p->client[client].watch = rate;
    p->client[client].next = snw_live_time(p->live);
    return SNW_OK;
}

static snw_status execute_message(snw_play *p, const snw_play_message *m, snw_error *err) {
    p->state += changes_state(m->verb);
    switch (m->verb) {
    case SNW_PLAY_SET:
    case SNW_PLAY_FREE:
        SNW_TRY(snw_live_set(p->live, m->control, m->verb == SNW_PLAY_SET ? m->value : NAN, err));
        p->dirty |= snw_live_control(p->live, m->control)->actuator < 0;
        return SNW_OK;
    case SNW_PLAY_APPLY:
        SNW_TRY(snw_live_apply(p->live, m->control, m->value, err));
        p->dirty |= snw_live_control(p->live, m->control)->actuator < 0;
        return SNW_OK;
    case SNW_PLAY_ADVANCE:
        return advance_by(p, m->value, err);
    case SNW_PLAY_TAKE: // handled before
    case SNW_PLAY_WATCH:
        return SNW_OK;
    case SNW_PLAY_PULL:
        return snw_live_pull(p->live, m->node, m->at, m->to, m->strength, err);
    case SNW_PLAY_DROP:
        snw_live_release(p->live);
        return SNW_OK;
    case SNW_PLAY_PAUSE:
        p->paused = m->on;
        p->single = 0;
        set_clock(p);
        return SNW_OK;
    case SNW_PLAY_STEP:
        if (p->paused && p->single < SNW_PLAY_RATE) p->single++;
        return SNW_OK;
    case SNW_PLAY_RESET:
        return restart(p, err);
    case SNW_PLAY_RECORD:
        return m->on ? snw_play_record_begin(p, err) : snw_play_record_end(p, err);
    case SNW_PLAY_SPEED:
        p->wanted = fmin(fmax(m->value, 0.01), 1);
        set_clock(p);
        return SNW_OK;
    }
    return SNW_OK;
}

static snw_status handle_message(snw_play *p, int client, const char *text, size_t length,
                                 snw_error *err) {
    snw_play_message m;
    if (!text) {
        return snw_fail(err, SNW_E_PARSE, "a message was refused: it is too long, or not text");
    }
    SNW_TRY(snw_play_read(text, length, &m, err));
    if (m.verb == SNW_PLAY_ADVANCE) p->client[client].due = true; // also if it is refused
    if (m.verb == SNW_PLAY_WATCH) return watch(p, client, m.value, err);
    if (m.verb == SNW_PLAY_TAKE) {
        snw_live_release(p->live);
        p->writer = client;
        p->state++;
        return SNW_OK;
    }
    if (client == p->writer) return execute_message(p, &m, err);
    return snw_fail(err, SNW_E_ARGUMENT,
                    "another window controls the robot; this one only shows it");
}

void snw_play_receive(snw_play *p, int client, const char *text, size_t length) {
    snw_error err = {0};
    if (handle_message(p, client, text, length, &err) == SNW_OK) return;
    // reported to the sender only; a later error replaces an earlier one
    (void)snprintf(p->client[client].note, sizeof p->client[client].note, "%.250s", err.text);
}

// ---- steps by the clock ------------------------------------------------------------------------

// ratio of simulated to real time, over half a second
static void measure_speed(snw_play *p, double now) {
    const double span = now - p->mark_wall, t = snw_live_time(p->live);
    if (span < 0.5) return;
    p->ratio = (t - p->mark_sim) / span;
    p->mark_wall = now;
    p->mark_sim = t;
}

// step up to the clock time, as far as the time of a frame permits; else delay the clock
static void advance(snw_play *p, double begin) {
    const double h = snw_live_step_length(p->live), budget = step_fraction / SNW_PLAY_RATE;
    const double target = p->sim0 + p->wanted * (begin - p->wall0);
    bool good = true;
    while (good && snw_live_time(p->live) + 0.5 * h <= target &&
           snw_clock_seconds() - begin < budget) {
        good = play_step(p);
    }
    if (!good) return;
    const double now = snw_clock_seconds();
    if (p->sim0 + p->wanted * (now - p->wall0) - snw_live_time(p->live) > max_lag * p->wanted) {
        p->wall0 = now;
        p->sim0 = snw_live_time(p->live);
    }
    measure_speed(p, now);
}

static void apply_pending_parameters(snw_play *p, double now) {
    if (!p->dirty || now - p->changed < change_interval) return;
    snw_error err = {0};
    p->dirty = false;
    p->changed = now;
    if (apply_parameters(p, &err) != SNW_OK) snw_play_notify(p, err.text);
}

// Samples that are due after the steps of a tick.
static void mark_samples(snw_play *p) {
    const double t = snw_live_time(p->live), h = snw_live_step_length(p->live);
    for (int i = 0; i < SNW_PLAY_CLIENTS; i++) {
        snw_play_client *c = &p->client[i];
        if (!c->connected || !(c->watch > 0)) continue;
        if (t < c->next - 1 / c->watch) c->next = t; // the simulation began again
        if (t < c->next - 0.5 * h) continue;
        c->due = true;
        c->next += ceil((t + 0.5 * h - c->next) * c->watch) / c->watch;
    }
}

void snw_play_tick(snw_play *p) {
    const double now = snw_clock_seconds();
    if (!has_clients(p) && !p->record.file) return;
    apply_pending_parameters(p, now);
    if (!p->paused) {
        advance(p, now);
    } else {
        for (; p->single > 0; p->single--) {
            if (!play_step(p)) break;
        }
    }
    snw_error err = {0};
    // write recorded frames at once: the next ones may take long
    if (p->record.file && snw_results_flush(p->record.file, 1, &err) != SNW_OK)
        pause_after_failure(p, &err);
    if (snw_play_make_frame(p, &err) != SNW_OK) pause_after_failure(p, &err);
    if (!p->paused) mark_samples(p);
    p->totals.frames++;
}
