// SPDX-License-Identifier: MIT
//
// Processes that compute rows, and the process that starts and watches them.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS; NOLINT(bugprone-reserved-identifier)
#include "sweep/workers.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/retain.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INTERVAL = 50, MOST_DEATHS = 20 }; // ms; deaths between rows, one after the other

enum { SHOWN = 4, LINE = 240 }; // parameters and results in a line of the live table
enum { IN_HAND = 64 };          // most rows that a worker computes at once
enum { ASKED = 64 };            // the parent is looked for once in so many times
enum { MOST_KILLS = 5 };        // of the process of one row, alone, before it has crashed

// The row that a worker stored last. `version` is odd while it is written.
typedef struct stored_row {
    _Atomic unsigned version;
    _Atomic int64_t row;
    _Atomic int state;
    _Atomic double result[SHOWN];
} stored_row;

// State of one worker in shared memory. The worker writes it, except `again`.
typedef struct worker_slot {
    _Atomic int64_t row[IN_HAND]; // in hand, -1: none. All -1 between rows
    _Atomic int64_t done, failed; // rows stored
    int nagain;                   // rows to begin with, one by one: the process that had them died
    int64_t again[IN_HAND];
    bool retries; // the row in hand is one of these
    int killed;   // times that its process was killed from outside
    stored_row last;
    snw_error err;
} worker_slot;

typedef struct worker_shared {
    _Atomic int64_t next; // of the rows of the shard
    _Atomic int stop;
    worker_slot slot[];
} worker_shared;

typedef struct worker_pool {
    snw_sweep_row_computer *computer;
    const snw_sweep_parts *parts;
    const snw_sweep_todo *todo;
    worker_shared *shared;
    int n, alive, deaths;
    pid_t *pid;           // 0: it has ended
    struct pollfd *watch; // of each worker the end of a pipe that closes when it ends; fd -1: none
    int64_t all;          // rows to be done
    int64_t added;        // crashed rows, stored by this process
    unsigned *seen;       // of each worker the version of its last row that was told
    snw_sweep_part *own;
    double start;
} worker_pool;

// ---- a worker -----------------------------------------------------------------------------------

typedef struct worker {
    worker_shared *shared;
    worker_slot *slot;
    const snw_sweep_todo *todo;
    int nresult, nworker;
    pid_t parent;
    unsigned asked; // times that it was asked to stop
} worker;

// Ends too when the process that started it is gone.
static bool worker_stop(void *user) {
    worker *w = user;
    if (atomic_load(&w->shared->stop) != 0) return true;
    return ++w->asked % ASKED == 0 && getppid() != w->parent;
}

// Rows to be taken at once: fewer towards the end, so that workers end together.
static int64_t worker_share(const worker *w, int most) {
    const int64_t left = snw_sweep_todo_size(w->todo) - atomic_load(&w->shared->next);
    const int64_t share = (left + w->nworker - 1) / w->nworker, least = (most + 1) / 2;
    return share > most ? most : share > least ? share : least;
}

static int worker_take(void *user, int most, int64_t *row) {
    worker *w = user;
    worker_slot *slot = w->slot;
    if (worker_stop(user) || getppid() != w->parent) return 0;
    most = most < IN_HAND ? most : IN_HAND;
    if (slot->nagain > 0) { // alone, so that the row that ends the process is found
        row[0] = slot->again[slot->nagain - 1];
        slot->retries = true;
        atomic_store(&slot->row[0], row[0]);
        slot->nagain--;
        return 1;
    }
    slot->retries = false;
    const int64_t size = snw_sweep_todo_size(w->todo), share = worker_share(w, most);
    int n = 0;
    while (n < share) {
        const int64_t k = atomic_fetch_add(&w->shared->next, 1);
        if (k >= size) break;
        row[n] = snw_sweep_todo_row(w->todo, k);
        if (row[n] >= 0) atomic_store(&slot->row[n], row[n]), n++;
    }
    return n;
}

static void publish(stored_row *to, const snw_sweep_row *row, int nresult) {
    atomic_fetch_add(&to->version, 1);
    atomic_store(&to->row, row->row);
    atomic_store(&to->state, (int)row->state);
    for (int i = 0; i < nresult && i < SHOWN; i++) atomic_store(&to->result[i], row->result[i]);
    atomic_fetch_add(&to->version, 1);
}

static void worker_store(void *user, const snw_sweep_row *row) {
    worker *w = user;
    publish(&w->slot->last, row, w->nresult);
    w->slot->killed = 0;
    atomic_fetch_add(&w->slot->done, 1);
    if (row->state != SNW_SWEEP_ROW_DONE) atomic_fetch_add(&w->slot->failed, 1);
    for (int i = 0; i < IN_HAND; i++) {
        if (atomic_load(&w->slot->row[i]) == row->row) atomic_store(&w->slot->row[i], -1);
    }
}

// Exit status: 0 all done, 1 a failure that is in the slot.
static int worker_main(worker_pool *p, int i, pid_t parent) {
    // the terminal sends Ctrl-C to all processes; the first of them decides
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_DFL);
    worker w = {.shared = p->shared,
                .slot = &p->shared->slot[i],
                .todo = p->todo,
                .nresult = p->parts->nresult,
                .nworker = p->n,
                .parent = parent};
    snw_retain_memory();
    const snw_sweep_queue queue = {
        .user = &w, .take = worker_take, .store = worker_store, .stop = worker_stop};
    snw_error err = {0};
    const snw_status s = snw_sweep_work(p->computer, p->parts, &queue, &err);
    if (s == SNW_OK || s == SNW_E_STOPPED) return 0;
    w.slot->err = err;
    return 1;
}

static snw_status start_worker(worker_pool *p, int i, snw_error *err) {
    const pid_t parent = getpid();
    int ends[2];
    const bool piped = pipe(ends) == 0;
    const pid_t pid = piped ? fork() : -1;
    if (pid < 0) {
        const int reason = errno;
        if (piped) (void)close(ends[0]), (void)close(ends[1]);
        return snw_fail(err, SNW_E_MEMORY, "cannot start worker %d: %s", i + 1, strerror(reason));
    }
    if (pid == 0) {
        (void)close(ends[0]);
        _exit(worker_main(p, i, parent));
    }
    (void)close(ends[1]);
    p->watch[i] = (struct pollfd){.fd = ends[0]};
    p->pid[i] = pid;
    p->alive++;
    return SNW_OK;
}

// ---- the watching process -----------------------------------------------------------------------

static snw_status add_crashed(worker_pool *p, int64_t row, int how, snw_error *err) {
    char message[128];
    (void)snprintf(message, sizeof message,
                   "the process that computed the row was ended again and again, by signal %d (%s)",
                   how, strsignal(how));
    double none[1] = {0};
    double *result =
        p->parts->nresult > 0 ? snw_alloc((size_t)p->parts->nresult * sizeof *result) : none;
    if (!result) return snw_fail_memory(err);
    for (int i = 0; i < p->parts->nresult; i++) result[i] = 0.0 / 0.0;
    const snw_sweep_row crashed = {
        .row = row, .state = SNW_SWEEP_ROW_CRASHED, .result = result, .message = message};
    snw_status s = p->own ? SNW_OK : snw_sweep_part_create(p->parts, &p->own, err);
    if (s == SNW_OK) s = snw_sweep_part_add(p->own, &crashed, err);
    if (p->parts->nresult > 0) snw_free(result);
    p->added++;
    return s;
}

// Was a process ended from outside, by a person or for want of memory, not by a fault of its own?
static bool is_kill(int how) { return how == SIGKILL || how == SIGTERM || how == SIGHUP; }

// A worker was ended by a signal: start it again with the rows it had in hand. A row that it had
// again, alone, has crashed; one that was killed is tried some more times.
static snw_status replace_worker(worker_pool *p, int i, int how, snw_error *err) {
    worker_slot *slot = &p->shared->slot[i];
    bool any = false;
    for (int k = 0; k < IN_HAND; k++) {
        const int64_t row = atomic_load(&slot->row[k]);
        if (row < 0) continue;
        any = true;
        atomic_store(&slot->row[k], -1);
        // it may have ended between taking the row and counting it
        if (slot->retries && slot->nagain > 0 && slot->again[slot->nagain - 1] == row)
            slot->nagain--;
        if (!slot->retries || (is_kill(how) && ++slot->killed < MOST_KILLS)) {
            slot->again[slot->nagain++] = row;
            continue;
        }
        slot->killed = 0;
        SNW_TRY(add_crashed(p, row, how, err));
    }
    if (!any && ++p->deaths > MOST_DEATHS)
        return snw_fail(err, SNW_E_IO, "workers were ended again and again, the last by signal %d",
                        how);
    if (any) p->deaths = 0;
    return start_worker(p, i, err);
}

static snw_status end_of_worker(worker_pool *p, int i, int status, snw_error *err) {
    p->pid[i] = 0;
    p->alive--;
    if (WIFSIGNALED(status) && !atomic_load(&p->shared->stop))
        return replace_worker(p, i, WTERMSIG(status), err);
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
        *err = p->shared->slot[i].err;
        return err->status != SNW_OK ? err->status
                                     : snw_fail(err, SNW_E_IO, "worker %d failed", i + 1);
    }
    return SNW_OK;
}

static snw_status collect_workers(worker_pool *p, snw_error *err) {
    for (int i = 0; i < p->n; i++) {
        int status = 0;
        if (p->pid[i] == 0 || !p->watch[i].revents) continue;
        while (waitpid(p->pid[i], &status, 0) < 0 && errno == EINTR) continue;
        (void)close(p->watch[i].fd);
        p->watch[i] = (struct pollfd){.fd = -1};
        const snw_status s = end_of_worker(p, i, status, err);
        if (s != SNW_OK) return s;
    }
    return SNW_OK;
}

static void count_rows(const worker_pool *p, snw_sweep_done *out) {
    *out = (snw_sweep_done){
        .done = p->added, .failed = p->added, .seconds = snw_clock_seconds() - p->start};
    for (int i = 0; i < p->n; i++) {
        out->done += atomic_load(&p->shared->slot[i].done);
        out->failed += atomic_load(&p->shared->slot[i].failed);
    }
}

// ---- live table ---------------------------------------------------------------------------------

// Adds a column to a line of LINE characters, as far as there is room.
static void add_cell(char *line, const char *text) {
    const size_t used = strlen(line);
    (void)snprintf(line + used, LINE - used, " %14.14s", text);
}

static void add_number(char *line, double x) {
    char text[32];
    (void)snprintf(text, sizeof text, "%.6g", x);
    add_cell(line, text);
}

static void table_heading(const snw_sweep_plan *p, char *line) {
    (void)snprintf(line, LINE, "%9s %-8s", "row", "state");
    for (int i = 0; i < p->nparameter && i < SHOWN; i++) add_cell(line, p->parameter[i].path);
    for (int i = 0; i < p->nresult && i < SHOWN; i++) add_cell(line, p->result[i].name);
}

static void table_line(const snw_sweep_plan *p, double *value, const stored_row *row, char *line) {
    const int64_t number = atomic_load(&row->row);
    snw_sweep_plan_values(p, number, value);
    (void)snprintf(line, LINE, "%9lld %-8s", (long long)number,
                   snw_sweep_row_state_name[atomic_load(&row->state)]);
    for (int i = 0; i < p->nparameter && i < SHOWN; i++) {
        const snw_sweep_parameter *x = &p->parameter[i];
        x->label ? add_cell(line, x->label[(int)value[i]]) : add_number(line, value[i]);
    }
    for (int i = 0; i < p->nresult && i < SHOWN; i++)
        add_number(line, atomic_load(&row->result[i]));
}

// Tells the rows stored since the last call, of each worker the latest.
static void tell_rows(worker_pool *p, const snw_sweep_hooks *hooks) {
    const snw_sweep_plan *plan = snw_sweep_row_plan(p->computer);
    char heading[LINE], line[LINE];
    double *value = snw_alloc(((size_t)plan->nparameter + 1) * sizeof *value);
    if (!value) return; // a table without these rows
    table_heading(plan, heading);
    for (int i = 0; i < p->n; i++) {
        const stored_row *row = &p->shared->slot[i].last;
        const unsigned version = atomic_load(&row->version);
        if (version % 2 || version == p->seen[i]) continue;
        table_line(plan, value, row, line);
        if (atomic_load(&row->version) != version) continue; // the next one already
        p->seen[i] = version;
        hooks->row(hooks->user, heading, line);
    }
    snw_free(value);
}

static snw_status watch_workers(worker_pool *p, const snw_sweep_hooks *hooks, snw_sweep_done *out,
                                snw_error *err) {
    snw_status s = SNW_OK;
    while (p->alive > 0) {
        if (poll(p->watch, (nfds_t)p->n, INTERVAL) < 0) {
            for (int i = 0; i < p->n; i++) p->watch[i].revents = 0; // a signal came
        }
        snw_error why = {0};
        const snw_status now = collect_workers(p, &why);
        if (now != SNW_OK && s == SNW_OK) {
            s = now;
            *err = why;
        }
        count_rows(p, out);
        if (hooks->row) tell_rows(p, hooks);
        if (hooks->progress)
            hooks->progress(hooks->user, out->done, out->failed, p->all, out->seconds);
        if (s == SNW_OK && hooks->cancel && hooks->cancel(hooks->user))
            s = snw_fail(err, SNW_E_STOPPED, "stopped");
        if (s != SNW_OK) atomic_store(&p->shared->stop, 1);
    }
    return s;
}

static snw_status start_all(worker_pool *p, snw_error *err) {
    for (int i = 0; i < p->n; i++) {
        for (int k = 0; k < IN_HAND; k++) atomic_store(&p->shared->slot[i].row[k], -1);
    }
    for (int i = 0; i < p->n; i++) {
        const snw_status s = start_worker(p, i, err);
        if (s == SNW_OK) continue;
        if (i > 0) break; // fewer than wanted
        return s;
    }
    return SNW_OK;
}

snw_status snw_sweep_workers(snw_sweep_row_computer *c, const snw_sweep_parts *parts,
                             const snw_sweep_todo *todo, int n, const snw_sweep_hooks *hooks,
                             snw_sweep_done *out, snw_error *err) {
    worker_pool p = {
        .computer = c, .parts = parts, .todo = todo, .n = n, .start = snw_clock_seconds()};
    *out = (snw_sweep_done){0};
    for (int64_t k = 0; k < snw_sweep_todo_size(todo); k++)
        p.all += snw_sweep_todo_row(todo, k) >= 0;
    if (p.all == 0) return SNW_OK;
    if (p.n > p.all) p.n = (int)p.all;
    const size_t size = sizeof *p.shared + (size_t)p.n * sizeof *p.shared->slot;
    p.shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    p.pid = snw_alloc((size_t)p.n * sizeof *p.pid);
    p.watch = snw_alloc((size_t)p.n * sizeof *p.watch);
    p.seen = snw_alloc((size_t)p.n * sizeof *p.seen);
    snw_status s = SNW_OK;
    if (p.shared == MAP_FAILED || !p.pid || !p.watch || !p.seen)
        s = snw_fail(err, SNW_E_MEMORY, "no memory for %d workers", p.n);
    for (int i = 0; s == SNW_OK && i < p.n; i++) p.watch[i].fd = -1;
    if (s == SNW_OK) s = start_all(&p, err);
    if (s == SNW_OK) s = watch_workers(&p, hooks, out, err);
    snw_sweep_part_close(p.own);
    if (p.shared != MAP_FAILED) (void)munmap(p.shared, size);
    snw_free(p.pid);
    snw_free(p.watch);
    snw_free(p.seen);
    return s;
}
