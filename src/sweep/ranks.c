// SPDX-License-Identifier: MIT
//
// Ranks of MPI as workers. Messages of a worker: rows done and failed since its last message, and
// whether it gives up; the answer: a number of rows, 0 for none, and the rows. bench/sweep_queue.py
// measures what an answer costs, and simulates this queue for many workers.
#include "sweep/ranks.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/on_demand.h"
#include "base/retain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool started_by_mpi(void) {
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    if (size) return strcmp(size, "1") != 0;
    return getenv("PMIX_RANK") != NULL;
}

#ifdef SNW_MPI

#include <mpi.h>

enum { LOT = 1024, TAG = 1, PAUSE = 100000 }; // rows of an answer; ns between looks for messages
static const double INTERVAL = 0.05,          // s, between reports of the progress
    LEAST = 1e-5, // s between answers, on the average: more than one costs rank 0
    REPORT = 1;   // s between messages of a worker, where rows are shorter

// Functions and objects of OpenMPI.
typedef struct mpi_library {
    int (*init)(int *argc, char ***argv);
    int (*finalize)(void);
    int (*size)(MPI_Comm comm, int *size);
    int (*rank)(MPI_Comm comm, int *rank);
    int (*send)(const void *buffer, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm);
    int (*receive)(void *buffer, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                   MPI_Status *status);
    int (*probe)(int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
    MPI_Comm world;
    MPI_Datatype integer;
} mpi_library;

struct snw_sweep_ranks {
    mpi_library mpi;
    int rank, size;
    int active;           // workers that have not been released
    int64_t lot[1 + LOT]; // of rank 0 the answer, of a worker its rows to be done
    // of a worker
    int64_t told[3]; // rows done and failed since the last message, gives up
    int64_t at;
    bool released;
};

snw_status snw_sweep_ranks_open(snw_sweep_ranks **out, snw_error *err) {
    static const char *const names[] = {
        "MPI_Init", "MPI_Finalize", "MPI_Comm_size",       "MPI_Comm_rank",   "MPI_Send",
        "MPI_Recv", "MPI_Iprobe",   "ompi_mpi_comm_world", "ompi_mpi_int64_t"};
    *out = NULL;
    if (!started_by_mpi()) return SNW_OK;
    snw_sweep_ranks *r = snw_alloc(sizeof *r);
    if (!r) return snw_fail_memory(err);
    const int n = (int)(sizeof names / sizeof *names);
    const snw_status s = snw_on_demand(SNW_MPI, "libopenmpi3", "", n, names, &r->mpi, err);
    if (s != SNW_OK) {
        snw_free(r);
        return s;
    }
    if (r->mpi.init(NULL, NULL) != MPI_SUCCESS) {
        snw_free(r);
        return snw_fail(err, SNW_E_IO, "MPI cannot be started");
    }
    (void)r->mpi.size(r->mpi.world, &r->size);
    (void)r->mpi.rank(r->mpi.world, &r->rank);
    r->active = r->size - 1;
    if (r->size > 1) {
        *out = r;
        return SNW_OK;
    }
    (void)r->mpi.finalize();
    snw_free(r);
    return SNW_OK;
}

bool snw_sweep_ranks_leads(const snw_sweep_ranks *r) { return r->rank == 0; }
int snw_sweep_ranks_workers(const snw_sweep_ranks *r) { return r->size - 1; }

// ---- rank 0 -------------------------------------------------------------------------------------

// A message of a worker, if there is one; *from <- its rank.
static bool hear(snw_sweep_ranks *r, int *from, int64_t message[3]) {
    MPI_Status status;
    int flag = 0;
    (void)r->mpi.probe(MPI_ANY_SOURCE, TAG, r->mpi.world, &flag, &status);
    if (!flag) return false;
    *from = status.MPI_SOURCE;
    (void)r->mpi.receive(message, 3, r->mpi.integer, *from, TAG, r->mpi.world, MPI_STATUS_IGNORE);
    return true;
}

static void pause_briefly(void) {
    const struct timespec time = {.tv_nsec = PAUSE};
    (void)nanosleep(&time, NULL);
}

// lot <- the next rows: what a worker does in about a second, so that it reports; fewer towards the
// end, so that workers end together; but whole packs, and as many as all workers do in the time of
// an answer. `rate`: rows that all do in a second, 0 at the beginning.
static void next_lot(const snw_sweep_ranks *r, const snw_sweep_todo *todo, double rate, int64_t *k,
                     int64_t left, int64_t lot[1 + LOT]) {
    const int workers = r->size - 1;
    double n = fmin((double)(left / (4 * workers)), rate * REPORT / workers);
    n = fmax(fmax(n, 1 + LEAST * rate), todo->together);
    n = fmin(n, LOT);
    lot[0] = 0;
    for (const int64_t size = snw_sweep_todo_size(todo); lot[0] < (int64_t)n && *k < size; (*k)++) {
        const int64_t row = snw_sweep_todo_row(todo, *k);
        if (row >= 0) lot[++lot[0]] = row;
    }
}

static void answer(snw_sweep_ranks *r, int to, const int64_t *lot) {
    (void)r->mpi.send(lot, 1 + (int)lot[0], r->mpi.integer, to, TAG, r->mpi.world);
    if (lot[0] == 0) r->active--;
}

snw_status snw_sweep_ranks_lead(snw_sweep_ranks *r, const snw_sweep_todo *todo,
                                const snw_sweep_hooks *hooks, snw_sweep_done *out, snw_error *err) {
    const double start = snw_clock_seconds();
    double next = start;
    int64_t k = 0, all = 0, given = 0;
    for (int64_t i = 0; i < snw_sweep_todo_size(todo); i++) all += snw_sweep_todo_row(todo, i) >= 0;
    snw_status s = SNW_OK;
    *out = (snw_sweep_done){0};
    while (r->active > 0) {
        int from = 0;
        int64_t message[3];
        if (hear(r, &from, message)) {
            out->done += message[0];
            out->failed += message[1];
            if (message[2]) {
                r->active--;
                if (s == SNW_OK) s = snw_fail(err, SNW_E_IO, "rank %d has failed", from);
                continue;
            }
            const double passed = snw_clock_seconds() - start;
            r->lot[0] = 0;
            if (s == SNW_OK) next_lot(r, todo, (double)out->done / passed, &k, all - given, r->lot);
            given += r->lot[0];
            answer(r, from, r->lot);
        } else {
            pause_briefly();
        }
        const double now = snw_clock_seconds();
        if (now < next && r->active > 0) continue;
        next = now + INTERVAL;
        out->seconds = now - start;
        if (hooks->progress)
            hooks->progress(hooks->user, out->done, out->failed, all, out->seconds);
        if (s == SNW_OK && hooks->cancel && hooks->cancel(hooks->user))
            s = snw_fail(err, SNW_E_STOPPED, "stopped");
    }
    return s;
}

// ---- the others ---------------------------------------------------------------------------------

// A lot when there is none; returns whether there are rows.
static bool rank_refill(snw_sweep_ranks *r) {
    if (r->at == r->lot[0]) {
        (void)r->mpi.send(r->told, 3, r->mpi.integer, 0, TAG, r->mpi.world);
        memset(r->told, 0, sizeof r->told);
        (void)r->mpi.receive(r->lot, 1 + LOT, r->mpi.integer, 0, TAG, r->mpi.world,
                             MPI_STATUS_IGNORE);
        r->at = 0;
    }
    r->released = r->lot[0] == 0;
    return !r->released;
}

static int rank_take(void *user, int most, int64_t *row) {
    snw_sweep_ranks *r = user;
    int n = 0;
    if (!rank_refill(r)) return 0;
    while (n < most && r->at < r->lot[0]) row[n++] = r->lot[1 + r->at++];
    return n;
}

static void rank_store(void *user, const snw_sweep_row *row) {
    snw_sweep_ranks *r = user;
    r->told[0]++;
    r->told[1] += row->state != SNW_SWEEP_ROW_DONE;
}

static bool rank_stop(void *user) {
    (void)user;
    return false;
}

snw_status snw_sweep_ranks_follow(snw_sweep_ranks *r, snw_sweep_row_computer *c,
                                  const snw_sweep_parts *parts, snw_error *err) {
    const snw_sweep_queue queue = {
        .user = r, .take = rank_take, .store = rank_store, .stop = rank_stop};
    // rank 0 has created the folder when it answers
    if (!rank_refill(r)) return SNW_OK;
    snw_retain_memory();
    return snw_sweep_work(c, parts, &queue, err);
}

void snw_sweep_ranks_close(snw_sweep_ranks *r) {
    if (!r) return;
    const int64_t none[1] = {0};
    while (r->rank == 0 && r->active > 0) { // after a failure: nothing to be done
        int from = 0;
        int64_t message[3];
        if (!hear(r, &from, message))
            pause_briefly();
        else if (message[2])
            r->active--;
        else
            answer(r, from, none);
    }
    if (r->rank > 0 && !r->released) {
        r->told[2] = 1;
        (void)r->mpi.send(r->told, 3, r->mpi.integer, 0, TAG, r->mpi.world);
    }
    (void)r->mpi.finalize();
    snw_free(r);
}

#else // built without MPI

snw_status snw_sweep_ranks_open(snw_sweep_ranks **out, snw_error *err) {
    *out = NULL;
    if (!started_by_mpi()) return SNW_OK;
    return snw_fail(
        err, SNW_E_IO,
        "started by mpirun, but this sinew was built without OpenMPI; divide the rows by "
        "--shard i/n instead");
}

bool snw_sweep_ranks_leads(const snw_sweep_ranks *r) { return r == NULL; }
int snw_sweep_ranks_workers(const snw_sweep_ranks *r) { return r == NULL; }

snw_status snw_sweep_ranks_lead(snw_sweep_ranks *r, const snw_sweep_todo *todo,
                                const snw_sweep_hooks *hooks, snw_sweep_done *out, snw_error *err) {
    (void)r, (void)todo, (void)hooks, (void)out;
    return snw_fail(err, SNW_E_IO, "built without MPI");
}

snw_status snw_sweep_ranks_follow(snw_sweep_ranks *r, snw_sweep_row_computer *c,
                                  const snw_sweep_parts *parts, snw_error *err) {
    (void)r, (void)c, (void)parts;
    return snw_fail(err, SNW_E_IO, "built without MPI");
}

void snw_sweep_ranks_close(snw_sweep_ranks *r) { (void)r; }

#endif
