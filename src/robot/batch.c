// SPDX-License-Identifier: MIT
//
// Many robots of one model on several threads. A call is a task: a function of one robot, or of a
// group of robots that step in packs. Threads wait for a task, take robots or groups by an atomic
// counter until there are none left, and the last one wakes the caller, who takes some too. Between
// them nothing is locked, in a step nothing is shared.

#include "robot/batch_packs.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "sinew/batch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 1024 };
static const double poll_interval = 0.05; // s

// Work of a call on each robot.
typedef struct batch_task {
    snw_status (*run)(snw_batch *b, int i, bool polls, snw_error *err);
    void (*run_group)(snw_batch *b, int g, int thread); // instead of it; NULL: robot by robot
    const unsigned char *at;                            // NULL: all robots
    bool clears;                                        // a success forgets the robot's error
    bool skips;                                         // robots that have failed are left out
    bool records;                                       // a failure is one of the robot's motion
    const snw_robot_steps *how;                         // of a start
    double h;                                           // of steps
    int count;
    const char *probe;
    int columns;
    double *out;
} batch_task;

struct snw_batch {
    int n, nq, nv, ninput, nthread; // nthread: with that of the caller
    snw_robot **robot;
    double *q, *v, *t, *u;
    double *q_read, *v_read; // q and v as the batch wrote them, to see what the caller wrote since
    snw_error *error;        // n: since the last start
    unsigned char *failed;   // n: in the present call
    snw_batch_packs *packs;  // NULL: robots step alone
    int lanes;               // largest number of robots in a pack
    bool single;             // packs of floats
    int (*poll)(void *user);
    void *user;
    double next_poll; // s

    batch_task task;
    atomic_int next;       // robot or group that is taken next
    atomic_int nnumbered;  // threads that have their number
    atomic_bool cancelled; // the present call is to end
    atomic_bool under_way; // a call is running
    pthread_t *thread;     // nthread - 1
    pid_t process;         // that has the threads
    int nstarted;          // threads that exist
    pthread_mutex_t lock;  // guards what follows
    pthread_cond_t given;  // a task was given, or the batch is closed
    pthread_cond_t ended;  // no thread works any more
    unsigned long turn;    // number of tasks given
    int working;           // threads that have not finished the present task
    bool closing;
};

// ---- threads ------------------------------------------------------------------------------------

static bool takes_part(const snw_batch *b, int i) {
    if (b->task.at && !b->task.at[i]) return false;
    return !(b->task.skips && b->error[i].status != SNW_OK);
}

// `thread`: number of the thread, 0 for that of the caller, which polls.
static void take_robots(snw_batch *b, int thread) {
    const bool polls = thread == 0;
    if (b->task.run_group) {
        const int lanes = snw_batch_packs_engine(b->packs)->lanes;
        for (int g; (g = atomic_fetch_add(&b->next, 1)) < (b->n + lanes - 1) / lanes;) {
            if (atomic_load(&b->cancelled)) return;
            b->task.run_group(b, g, thread);
        }
        return;
    }
    for (int i; (i = atomic_fetch_add(&b->next, 1)) < b->n;) {
        if (atomic_load(&b->cancelled)) return;
        if (!takes_part(b, i)) continue;
        snw_error err = {0};
        b->failed[i] = b->task.run(b, i, polls, &err) != SNW_OK;
        if (b->failed[i] ? b->task.records : b->task.clears) b->error[i] = err;
    }
}

static void *worker(void *user) {
    snw_batch *b = user;
    unsigned long seen = 0;
    const int number = 1 + atomic_fetch_add(&b->nnumbered, 1);
    (void)pthread_mutex_lock(&b->lock);
    for (;;) {
        while (b->turn == seen && !b->closing) (void)pthread_cond_wait(&b->given, &b->lock);
        if (b->closing) break;
        seen = b->turn;
        (void)pthread_mutex_unlock(&b->lock);
        take_robots(b, number);
        (void)pthread_mutex_lock(&b->lock);
        if (--b->working == 0) (void)pthread_cond_signal(&b->ended);
    }
    (void)pthread_mutex_unlock(&b->lock);
    return NULL;
}

static double batch_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The caller's thread asks, between steps and while it waits for the others.
static void batch_ask(snw_batch *b) {
    if (!b->poll || atomic_load(&b->cancelled)) return;
    const double now = batch_now();
    if (now < b->next_poll) return;
    b->next_poll = now + poll_interval;
    if (b->poll(b->user)) atomic_store(&b->cancelled, true);
}

static void wait_for_others(snw_batch *b) {
    (void)pthread_mutex_lock(&b->lock);
    while (b->working > 0) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)(poll_interval * 1e9);
        if (until.tv_nsec >= 1000000000L) until.tv_sec++, until.tv_nsec -= 1000000000L;
        (void)pthread_cond_timedwait(&b->ended, &b->lock, &until);
        (void)pthread_mutex_unlock(&b->lock);
        batch_ask(b);
        (void)pthread_mutex_lock(&b->lock);
    }
    (void)pthread_mutex_unlock(&b->lock);
}

static snw_status batch_result(const snw_batch *b, snw_error *err) {
    if (atomic_load(&b->cancelled)) {
        return snw_fail(err, SNW_E_STOPPED, "stopped on request; robots may differ in time");
    }
    int first = -1, failed = 0;
    for (int i = b->n - 1; i >= 0; i--) {
        if (b->failed[i]) first = i, failed++;
    }
    if (failed == 0) return SNW_OK;
    const snw_error *e = b->task.records ? &b->error[first] : snw_robot_error(b->robot[first]);
    if (failed == 1) return snw_fail(err, e->status, "robot %d: %.400s", first, e->text);
    return snw_fail(err, e->status, "robot %d: %.400s; %d of %d robots failed", first, e->text,
                    failed, b->n);
}

// A process made by fork() has the memory of a batch without its threads.
static void forget_lost_threads(snw_batch *b) {
    if (b->nstarted == 0 || b->process == getpid()) return;
    b->nstarted = 0;
    b->nthread = 1;
}

static snw_status batch_execute(snw_batch *b, batch_task task, snw_error *err) {
    forget_lost_threads(b);
    b->task = task;
    memset(b->failed, 0, (size_t)b->n);
    b->next_poll = batch_now() + poll_interval;
    atomic_store(&b->next, 0);
    atomic_store(&b->cancelled, false);
    atomic_store(&b->under_way, true);
    if (b->nstarted > 0) {
        (void)pthread_mutex_lock(&b->lock);
        b->turn++;
        b->working = b->nstarted;
        (void)pthread_cond_broadcast(&b->given);
        (void)pthread_mutex_unlock(&b->lock);
    }
    take_robots(b, 0);
    if (b->nstarted > 0) wait_for_others(b);
    atomic_store(&b->under_way, false);
    return batch_result(b, err);
}

// ---- creation -----------------------------------------------------------------------------------

static snw_status batch_allocate(snw_batch *b, snw_robot_model *m, snw_error *err) {
    const size_t n = (size_t)b->n;
    b->robot = snw_alloc(n * sizeof(snw_robot *));
    b->error = snw_alloc(n * sizeof *b->error);
    b->failed = snw_alloc(n);
    b->thread = snw_alloc((size_t)b->nthread * sizeof *b->thread);
    b->t = snw_alloc(n * sizeof *b->t);
    if (!b->robot || !b->error || !b->failed || !b->thread || !b->t) goto memory;
    for (int i = 0; i < b->n; i++) SNW_TRY(snw_robot_from_model(m, &b->robot[i], err));
    b->nq = snw_robot_nq(b->robot[0]);
    b->nv = snw_robot_nv(b->robot[0]);
    b->ninput = snw_robot_inputs(b->robot[0]);
    b->q = snw_alloc((n * (size_t)b->nq + 1) * sizeof *b->q);
    b->v = snw_alloc((n * (size_t)b->nv + 1) * sizeof *b->v);
    b->u = snw_alloc((n * (size_t)b->ninput + 1) * sizeof *b->u);
    b->q_read = snw_alloc((n * (size_t)b->nq + 1) * sizeof *b->q);
    b->v_read = snw_alloc((n * (size_t)b->nv + 1) * sizeof *b->v);
    if (!b->q || !b->v || !b->u || !b->q_read || !b->v_read) goto memory;
    return SNW_OK;
memory:
    return snw_fail(err, SNW_E_MEMORY, "no memory for %d robots", b->n);
}

// q, v and t of the batch <- those of robot i
static void read_robot(snw_batch *b, int i) {
    const size_t nq = (size_t)b->nq, nv = (size_t)b->nv, q = (size_t)i * nq, v = (size_t)i * nv;
    memcpy(b->q + q, snw_robot_q(b->robot[i]), nq * sizeof *b->q);
    memcpy(b->v + v, snw_robot_v(b->robot[i]), nv * sizeof *b->v);
    memcpy(b->q_read + q, b->q + q, nq * sizeof *b->q);
    memcpy(b->v_read + v, b->v + v, nv * sizeof *b->v);
    b->t[i] = snw_robot_time(b->robot[i]);
}

static void write_robot(snw_batch *b, int i) {
    const size_t nq = (size_t)b->nq, nv = (size_t)b->nv;
    memcpy(snw_robot_q(b->robot[i]), b->q + (size_t)i * nq, nq * sizeof *b->q);
    memcpy(snw_robot_v(b->robot[i]), b->v + (size_t)i * nv, nv * sizeof *b->v);
}

snw_status snw_batch_create(snw_robot_model *m, int n, int threads, snw_batch **out,
                            snw_error *err) {
    if (!m || !out) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", m ? "out" : "the model");
    *out = NULL;
    if (n < 1) return snw_fail(err, SNW_E_ARGUMENT, "a batch needs at least one robot, not %d", n);
    if (threads < 0 || threads > MOST_THREADS) {
        return snw_fail(err, SNW_E_ARGUMENT, "threads must be from 0 to %d, got %d", MOST_THREADS,
                        threads);
    }
    if (threads == 0) threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (threads < 1) threads = 1;
    snw_batch *b = snw_alloc(sizeof *b);
    if (!b) return snw_fail_memory(err);
    b->n = n;
    b->nthread = threads < n ? threads : n;
    b->lanes = SNW_LANES_MOST;
    (void)pthread_mutex_init(&b->lock, NULL);
    (void)pthread_cond_init(&b->given, NULL);
    (void)pthread_cond_init(&b->ended, NULL);
    const snw_status s = batch_allocate(b, m, err);
    if (s != SNW_OK) {
        snw_batch_close(b);
        return s;
    }
    for (int i = 0; i < n; i++) {
        snw_robot_place_inputs(b->robot[i], b->u + (size_t)i * (size_t)b->ninput);
        read_robot(b, i);
    }
    b->process = getpid();
    // with fewer threads than asked for the batch is slower, and as correct
    while (b->nstarted < b->nthread - 1 &&
           pthread_create(&b->thread[b->nstarted], NULL, worker, b) == 0)
        b->nstarted++;
    b->nthread = b->nstarted + 1;
    *out = b;
    return SNW_OK;
}

void snw_batch_close(snw_batch *b) {
    if (!b) return;
    // after a fork the lost threads still count as waiting, and destroying would wait for them
    if (b->process == 0 || b->process == getpid()) {
        (void)pthread_mutex_lock(&b->lock);
        b->closing = true;
        (void)pthread_cond_broadcast(&b->given);
        (void)pthread_mutex_unlock(&b->lock);
        for (int i = 0; i < b->nstarted; i++) (void)pthread_join(b->thread[i], NULL);
        (void)pthread_cond_destroy(&b->ended);
        (void)pthread_cond_destroy(&b->given);
        (void)pthread_mutex_destroy(&b->lock);
    }
    snw_batch_packs_destroy(b->packs);
    for (int i = 0; b->robot && i < b->n; i++) snw_robot_close(b->robot[i]);
    snw_free(b->robot);
    snw_free(b->error);
    snw_free(b->failed);
    snw_free(b->thread);
    snw_free(b->q);
    snw_free(b->v);
    snw_free(b->q_read);
    snw_free(b->v_read);
    snw_free(b->t);
    snw_free(b->u);
    snw_free(b);
}

int snw_batch_size(const snw_batch *b) { return b ? b->n : 0; }
int snw_batch_threads(const snw_batch *b) { return b ? b->nthread : 0; }
double *snw_batch_q(snw_batch *b) { return b ? b->q : NULL; }
double *snw_batch_v(snw_batch *b) { return b ? b->v : NULL; }
double *snw_batch_u(snw_batch *b) { return b ? b->u : NULL; }
const double *snw_batch_time(const snw_batch *b) { return b ? b->t : NULL; }

static bool has_robot(const snw_batch *b, int i) { return b && i >= 0 && i < b->n; }

snw_robot *snw_batch_robot(const snw_batch *b, int i) {
    return has_robot(b, i) ? b->robot[i] : NULL;
}

const snw_error *snw_batch_error(const snw_batch *b, int i) {
    return has_robot(b, i) ? &b->error[i] : NULL;
}

int snw_batch_failures(const snw_batch *b) {
    int n = 0;
    for (int i = 0; b && i < b->n; i++) n += b->error[i].status != SNW_OK;
    return n;
}

void snw_batch_cancel(snw_batch *b) {
    if (b && atomic_load(&b->under_way)) atomic_store(&b->cancelled, true);
}

void snw_batch_set_poll(snw_batch *b, int (*poll)(void *user), void *user) {
    if (!b) return;
    b->poll = poll;
    b->user = user;
}

// ---- calls --------------------------------------------------------------------------------------

static snw_status start_robot(snw_batch *b, int i, bool polls, snw_error *err) {
    if (polls) batch_ask(b);
    write_robot(b, i);
    memset(snw_robot_a(b->robot[i]), 0, (size_t)b->nv * sizeof(double));
    const snw_status s = snw_robot_start(b->robot[i], b->task.how, err);
    read_robot(b, i); // loops are closed by the start
    return s;
}

// Packs as wide as asked for, and the models of robots that have changed.
static snw_status update_packs(snw_batch *b, bool all, snw_error *err) {
    const snw_pack_engine *engine = snw_packs(b->lanes, b->single);
    if (all && b->packs && snw_batch_packs_engine(b->packs) != engine) {
        snw_batch_packs_destroy(b->packs);
        b->packs = NULL;
    }
    snw_status s = SNW_OK;
    if (all && !b->packs && engine)
        s = snw_batch_packs_create(b->robot, b->n, b->nthread, engine, &b->packs);
    if (s == SNW_OK && b->packs) s = snw_batch_packs_update(b->packs);
    if (s == SNW_OK) return s;
    snw_batch_packs_destroy(b->packs);
    b->packs = NULL;
    return snw_fail(err, s, "no memory for packs of robots");
}

snw_status snw_batch_start(snw_batch *b, const snw_robot_steps *how, const unsigned char *at,
                           snw_error *err) {
    if (!b || !how) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", b ? "how" : "the batch");
    const batch_task task = {
        .run = start_robot, .at = at, .clears = true, .records = true, .how = how};
    const snw_status s = batch_execute(b, task, err);
    snw_error why = {0};
    const snw_status packs = update_packs(b, !at || !b->packs, &why);
    if (s == SNW_OK && packs != SNW_OK) *err = why;
    return s == SNW_OK ? packs : s;
}

static snw_status choose_packs(snw_batch *b, int lanes, bool single, snw_error *err) {
    if (lanes != 1 && lanes != 4 && lanes != 8 && lanes != 16)
        return snw_fail(err, SNW_E_ARGUMENT, "a pack has 16, 8, 4 or 1 robots, not %d", lanes);
    if (single && lanes == 4) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "a pack of single precision has 16, 8 or 1 robots, not 4");
    }
    b->lanes = lanes;
    b->single = single;
    return SNW_OK;
}

snw_status snw_batch_set_lanes(snw_batch *b, int lanes, snw_error *err) {
    if (!b) return snw_fail(err, SNW_E_ARGUMENT, "the batch is NULL");
    return choose_packs(b, lanes, b->single, err);
}

snw_status snw_batch_set_precision(snw_batch *b, const char *precision, snw_error *err) {
    if (!b || !precision)
        return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", b ? "precision" : "the batch");
    const bool single = strcmp(precision, "single") == 0;
    if (single || strcmp(precision, "double") == 0) return choose_packs(b, b->lanes, single, err);
    return snw_fail(err, SNW_E_ARGUMENT, "precision is 'double' or 'single', not '%.40s'",
                    precision);
}

const char *snw_batch_engine(const snw_batch *b, int i, const char **why) {
    const char *reason = "there is no such robot", *name = "alone";
    if (has_robot(b, i)) {
        reason = b->lanes == 1              ? "packs are switched off"
                 : !snw_packs(0, b->single) ? "this processor or this build has no packs"
                 : !b->packs                ? "it has not started"
                                            : snw_batch_packs_why(b->packs, i);
        if (!reason) name = snw_batch_packs_engine(b->packs)->name;
    }
    if (why) *why = reason ? reason : "";
    return name;
}

static snw_status equilibrate_robot(snw_batch *b, int i, bool polls, snw_error *err) {
    if (polls) batch_ask(b);
    write_robot(b, i);
    const snw_status s = snw_robot_equilibrium(b->robot[i], snw_robot_time(b->robot[i]), err);
    read_robot(b, i);
    return s;
}

snw_status snw_batch_equilibrium(snw_batch *b, const unsigned char *at, snw_error *err) {
    if (!b) return snw_fail(err, SNW_E_ARGUMENT, "the batch is NULL");
    return batch_execute(b, (batch_task){.run = equilibrate_robot, .at = at, .records = true}, err);
}

static snw_status step_robot(snw_batch *b, int i, bool polls, snw_error *err) {
    snw_status s = SNW_OK;
    for (int k = 0; s == SNW_OK && k < b->task.count && !atomic_load(&b->cancelled); k++) {
        if (polls) batch_ask(b);
        s = snw_robot_step(b->robot[i], b->task.h, err);
    }
    read_robot(b, i);
    return s;
}

// A thread in a call.
typedef struct batch_thread {
    snw_batch *b;
    int number;
} batch_thread;

static bool goes_on(void *user) {
    const batch_thread *at = user;
    if (at->number == 0) batch_ask(at->b);
    return !atomic_load(&at->b->cancelled);
}

// Steps of the robots of a group; a robot that fails leaves it.
static void step_group(snw_batch *b, int g, int thread) {
    const int lanes = snw_batch_packs_engine(b->packs)->lanes, first = g * lanes;
    unsigned char takes[SNW_LANES_MOST] = {0}, failed[SNW_LANES_MOST] = {0};
    snw_error error[SNW_LANES_MOST];
    memset(error, 0, sizeof error);
    for (int l = 0; l < lanes && first + l < b->n; l++) takes[l] = takes_part(b, first + l);
    batch_thread at = {b, thread};
    const snw_batch_steps steps = {
        .h = b->task.h, .count = b->task.count, .goes_on = goes_on, .user = &at};
    snw_batch_packs_step(b->packs, thread, g, &steps, takes, failed, error);
    for (int l = 0; l < lanes; l++) {
        if (!takes[l]) continue;
        b->failed[first + l] = failed[l];
        if (failed[l]) b->error[first + l] = error[l];
        read_robot(b, first + l);
    }
}

// did the caller write into the rows of robot i since the batch did?
static bool has_written(const snw_batch *b, int i) {
    const size_t nq = (size_t)b->nq, nv = (size_t)b->nv, q = (size_t)i * nq, v = (size_t)i * nv;
    return memcmp(b->q + q, b->q_read + q, nq * sizeof *b->q) != 0 ||
           memcmp(b->v + v, b->v_read + v, nv * sizeof *b->v) != 0;
}

// A wrong step is no failure of the robots, nor is a state written after the start.
static snw_status check_steps(const snw_batch *b, double h, const unsigned char *at,
                              snw_error *err) {
    for (int i = 0; i < b->n; i++) {
        const snw_robot *r = b->robot[i];
        if (b->error[i].status != SNW_OK || (at && !at[i])) continue;
        if (!r->integrator.close) {
            return snw_fail(err, SNW_E_ARGUMENT, "call snw_batch_start before the first step");
        }
        SNW_TRY(snw_robot_check_step(r, h, err));
        if (has_written(b, i) || snw_robot_written(r)) {
            return snw_fail(err, SNW_E_ARGUMENT,
                            "the state of robot %d is not that of the end of its last step; to go "
                            "on from another state call snw_batch_start",
                            i);
        }
    }
    return SNW_OK;
}

snw_status snw_batch_step(snw_batch *b, double h, int count, const unsigned char *at,
                          snw_error *err) {
    if (!b) return snw_fail(err, SNW_E_ARGUMENT, "the batch is NULL");
    if (count < 0)
        return snw_fail(err, SNW_E_ARGUMENT, "count must not be negative, got %d", count);
    SNW_TRY(check_steps(b, h, at, err));
    SNW_TRY(update_packs(b, false, err));
    const batch_task task = {.run = step_robot,
                             .run_group = b->packs ? step_group : NULL,
                             .at = at,
                             .skips = true,
                             .records = true,
                             .h = h,
                             .count = count};
    return batch_execute(b, task, err);
}

static snw_status probe_robot(snw_batch *b, int i, bool polls, snw_error *err) {
    (void)polls;
    (void)err;
    double *out = b->task.out + (size_t)i * (size_t)b->task.columns;
    const int n = snw_robot_probe(b->robot[i], b->task.probe, b->task.columns, out);
    return n == b->task.columns ? SNW_OK : SNW_E_ARGUMENT;
}

snw_status snw_batch_probe(snw_batch *b, const char *probe, double *out, snw_error *err) {
    const char *missing = !b ? "the batch" : !probe ? "probe" : !out ? "out" : NULL;
    if (missing) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", missing);
    const snw_robot_model *m = snw_robot_model_of(b->robot[0]);
    snw_part part;
    const int index = snw_robot_model_find(m, SNW_PART_PROBE, probe);
    if (index < 0 || snw_robot_model_part(m, SNW_PART_PROBE, index, &part) != SNW_OK) {
        return snw_fail(err, SNW_E_ARGUMENT, "there is no probe '%.100s'", probe);
    }
    const batch_task task = {.run = probe_robot, .probe = probe, .columns = part.size, .out = out};
    return batch_execute(b, task, err);
}
