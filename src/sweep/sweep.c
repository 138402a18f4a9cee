// SPDX-License-Identifier: MIT
//
// Computes the rows of a plan: the public call. It decides what is to be done, gives it to workers
// or to the ranks of MPI, and puts their rows into the result file.
#include "sinew/sweep.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "sweep/merge.h"
#include "sweep/ranks.h"
#include "sweep/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 1024, MOST_WORKERS = 4096 };

typedef struct sweep_session {
    const snw_sweep_options *how;
    const snw_sweep_hooks *hooks;
    snw_sweep_plan *plan;
    snw_sweep_row_computer *computer;
    char output[PATH];
    snw_sweep_parts parts;
    snw_sweep_shard shard;
    snw_sweep_ranks *mpi; // NULL: one process
    int workers;
    unsigned char *done; // a bit for each row
    int64_t known;       // rows computed before, of all shards
    int64_t own;         // of this shard
    int lock;
    snw_sweep_report report;
} sweep_session;

snw_sweep_options snw_sweep_defaults(void) { return (snw_sweep_options){0}; }

// ---- options ------------------------------------------------------------------------------------

// Name of the plan with .h5, in the current folder.
static void default_output(const char *plan, char *out, size_t size) {
    const char *slash = strrchr(plan, '/'), *name = slash ? slash + 1 : plan,
               *dot = strrchr(name, '.');
    const int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    (void)snprintf(out, size, "%.*s.h5", length, name);
}

static snw_status read_options(sweep_session *s, const char *plan, snw_error *err) {
    const snw_sweep_options *how = s->how;
    s->shard = (snw_sweep_shard){1, 1};
    if (how->shards || how->shard) s->shard = (snw_sweep_shard){how->shard, how->shards};
    if (s->shard.n < 1 || s->shard.n > 1000000 || s->shard.i < 1 || s->shard.i > s->shard.n)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "shard %d/%d: the first number goes from 1 to the second", s->shard.i,
                        s->shard.n);
    if (how->workers < 0 || how->workers > MOST_WORKERS)
        return snw_fail(err, SNW_E_ARGUMENT, "the number of workers goes from 1 to %d, got %d",
                        MOST_WORKERS, how->workers);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    s->workers = how->workers > 0                    ? how->workers
                 : cores > 0 && cores < MOST_WORKERS ? (int)cores
                                                     : 1;
    if (how->resume && how->force)
        return snw_fail(err, SNW_E_ARGUMENT, "--resume keeps the rows, --force does not; give one");
    if (how->force && s->shard.n > 1)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "--force with --shard would remove rows of other shards; remove the old "
                        "results before the shards begin");
    if (how->output && strlen(how->output) + 64 > PATH)
        return snw_fail(err, SNW_E_ARGUMENT, "the name of the output is too long");
    if (how->output)
        (void)snprintf(s->output, sizeof s->output, "%s", how->output);
    else
        default_output(plan, s->output, sizeof s->output);
    return SNW_OK;
}

// ---- rows that are there ------------------------------------------------------------------------

static snw_status mark_row(void *user, const snw_sweep_row *row, snw_error *err) {
    sweep_session *s = user;
    (void)err;
    unsigned char *byte = &s->done[row->row / 8];
    const unsigned char bit = (unsigned char)(1u << row->row % 8);
    if (*byte & bit) return SNW_OK;
    *byte |= bit;
    s->known++;
    s->own += row->row % s->shard.n == s->shard.i - 1;
    return SNW_OK;
}

static snw_status find_rows(sweep_session *s, snw_error *err) {
    memset(s->done, 0, (size_t)s->plan->rows / 8 + 1);
    s->known = s->own = 0;
    return snw_sweep_parts_visit(&s->parts, mark_row, s, err);
}

// Rows of the shard are there: computed by itself before, or by one of another division.
static snw_status refuse_present_shard(const sweep_session *s, snw_error *err) {
    const snw_sweep_shard own = s->shard, other = snw_sweep_parts_other(&s->parts, own);
    char begun[48] = "without --shard";
    if (other.n == 0)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%.200s' has rows of shard %d/%d; --resume computes what is missing of "
                        "it. To compute all again, remove '%.200s' and '%.200s' first",
                        s->output, own.i, own.n, s->output, s->parts.folder);
    if (other.n > 1) (void)snprintf(begun, sizeof begun, "with --shard %d/%d", other.i, other.n);
    return snw_fail(
        err, SNW_E_ARGUMENT,
        "'%.200s' was begun %s; --shard %d/%d divides the rows otherwise, and some rows "
        "are there already. Go on as it was begun, or add --resume, which computes "
        "what is missing of shard %d/%d",
        s->output, begun, own.i, own.n, own.i, own.n);
}

static snw_status refuse_present(const sweep_session *s, snw_error *err) {
    if (s->shard.n > 1) return refuse_present_shard(s, err);
    return snw_fail(err, SNW_E_ARGUMENT,
                    "'%.200s' has rows of this plan; --resume computes what is missing, --force "
                    "computes all again",
                    s->output);
}

// An output that is there must be a sweep; of this plan, unless it is replaced. *complete <- all
// its rows are computed.
static snw_status check_output(const sweep_session *s, bool parts, bool *complete, snw_error *err) {
    uint64_t identity = 0;
    int64_t waiting = 0, rows = 0;
    *complete = false;
    if (access(s->output, F_OK) != 0) return SNW_OK;
    const snw_status read = snw_sweep_identity_read(s->output, &identity, &waiting, &rows, err);
    if (read == SNW_E_PARSE)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%.200s' is not the result of a sweep, or damaged, and is not replaced; "
                        "give another -o",
                        s->output);
    SNW_TRY(read);
    if (s->how->force) return SNW_OK;
    if (identity != s->parts.identity)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%.200s' was computed with another plan or model; give another -o, or "
                        "--force to replace it",
                        s->output);
    if (!s->how->resume && (s->shard.n == 1 || waiting < rows)) return refuse_present(s, err);
    if (waiting > 0 && waiting < rows && !parts)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%.200s' has rows that '%.200s' should hold too, which is gone; %s",
                        s->output, s->parts.folder,
                        s->shard.n > 1 ? "remove it to compute all again"
                                       : "--force computes all again");
    *complete = waiting == 0;
    return SNW_OK;
}

// ---- the work -----------------------------------------------------------------------------------

static snw_status do_rows(sweep_session *s, snw_error *err) {
    const snw_sweep_todo todo = {.rows = s->plan->rows,
                                 .shard = s->shard,
                                 .done = s->done,
                                 .together = snw_sweep_row_lanes(s->computer)};
    snw_sweep_done done = {0};
    const snw_status status =
        s->mpi ? snw_sweep_ranks_lead(s->mpi, &todo, s->hooks, &done, err)
               : snw_sweep_workers(s->computer, &s->parts, &todo, s->workers, s->hooks, &done, err);
    s->report.computed = done.done;
    s->report.seconds = done.seconds;
    return status;
}

static void take_counts(sweep_session *s, const snw_sweep_count *c) {
    s->report.done = c->state[SNW_SWEEP_ROW_DONE];
    s->report.failed = c->state[SNW_SWEEP_ROW_FAILED];
    s->report.refused = c->state[SNW_SWEEP_ROW_REFUSED];
    s->report.crashed = c->state[SNW_SWEEP_ROW_CRASHED];
    s->report.waiting = c->state[SNW_SWEEP_ROW_WAITING];
    s->report.packs = c->engine[SNW_SWEEP_PACKS];
    s->report.work = c->seconds;
    s->report.bad = c->bad;
    (void)snprintf(s->report.message, sizeof s->report.message, "%s", c->message);
}

static snw_status merge_parts(sweep_session *s, snw_error *err) {
    snw_sweep_count count;
    SNW_TRY(snw_sweep_merge(s->plan, s->computer, &s->parts, s->output, &count, err));
    take_counts(s, &count);
    return SNW_OK;
}

// The shard that finds all rows computed writes the result; of several, one after the other.
static snw_status finish_shards(sweep_session *s, snw_error *err) {
    SNW_TRY(find_rows(s, err));
    s->report.done = s->known; // of any state but waiting
    s->report.waiting = s->plan->rows - s->known;
    if (s->report.waiting > 0) return SNW_OK;
    char path[PATH + 32];
    (void)snprintf(path, sizeof path, "%s/shard-0-of-0.lock", s->parts.folder);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    const struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fd < 0 && errno == ENOENT) return SNW_OK; // another has done it
    while (fd >= 0 && fcntl(fd, F_SETLKW, &lock) != 0 && errno == EINTR) continue;
    bool any = false;
    snw_status status = snw_sweep_parts_present(&s->parts, &any, err);
    if (status == SNW_OK && any) {
        status = merge_parts(s, err);
        if (status == SNW_OK) snw_sweep_parts_remove(&s->parts);
    }
    if (fd >= 0) (void)close(fd);
    return status;
}

static snw_status finish(sweep_session *s, snw_status status, snw_error *err) {
    snw_error why = {0};
    const snw_status merged = s->shard.n > 1 ? finish_shards(s, &why) : merge_parts(s, &why);
    if (status == SNW_OK && merged != SNW_OK) {
        *err = why;
        return merged;
    }
    if (status == SNW_OK && s->shard.n == 1 && s->report.waiting == 0)
        snw_sweep_parts_remove(&s->parts);
    return status;
}

// Counts of a complete result.
static snw_status count_complete(sweep_session *s, snw_error *err) {
    snw_pool *pool = snw_pool_create((size_t)8 << 30);
    if (!pool) return snw_fail_memory(err);
    snw_sweep_table t;
    const snw_status status = snw_sweep_table_read(s->output, pool, &t, err);
    snw_sweep_count count = {.bad = -1};
    for (int64_t i = 0; status == SNW_OK && i < t.head.rows; i++) {
        if (t.state[i] < SNW_SWEEP_ROW_STATE_COUNT) count.state[t.state[i]]++;
        count.seconds += t.seconds[i];
    }
    snw_pool_destroy(pool);
    take_counts(s, &count);
    return status;
}

// Results and parts of all rows must find room.
static snw_status check_room(const sweep_session *s, snw_error *err) {
    const snw_sweep_plan *p = s->plan;
    if (access(s->output, F_OK) == 0) return SNW_OK; // it was there before
    // columns of the file: parameters, results, seconds, state and engine
    const double file = 8.0 * (p->nparameter + p->nresult + 1) + 2;
    return snw_sweep_check_room(s->output, p->rows, file + snw_sweep_part_row_size(&s->parts), err);
}

static snw_status run_session(sweep_session *s, snw_error *err) {
    const snw_sweep_plan *p = s->plan;
    bool parts = false, complete = false;
    const snw_sweep_parts *folder = &s->parts;
    SNW_TRY(snw_sweep_row_refuse_output(s->computer, s->output, err));
    SNW_TRY(check_room(s, err));
    // rows that another process computes are not there yet
    if (access(folder->folder, F_OK) == 0)
        SNW_TRY(snw_sweep_parts_lock(folder, s->shard, &s->lock, err));
    if (!s->how->force) SNW_TRY(snw_sweep_parts_present(folder, &parts, err));
    SNW_TRY(check_output(s, parts, &complete, err));
    if (complete) return count_complete(s, err);
    SNW_TRY(snw_sweep_parts_create(folder, err));
    if (s->lock < 0) SNW_TRY(snw_sweep_parts_lock(folder, s->shard, &s->lock, err));
    if (s->how->force) {
        snw_sweep_parts_remove(folder);
        (void)unlink(s->output);
        SNW_TRY(snw_sweep_parts_create(folder, err));
        (void)close(s->lock);
        SNW_TRY(snw_sweep_parts_lock(folder, s->shard, &s->lock, err));
    }
    s->done = snw_alloc((size_t)p->rows / 8 + 1);
    if (!s->done)
        return snw_fail(err, SNW_E_MEMORY, "no memory for a bit of each of %lld rows",
                        (long long)p->rows);
    SNW_TRY(find_rows(s, err));
    if (s->own > 0 && !s->how->resume) return refuse_present(s, err);
    snw_sweep_parts_begin(s->lock);
    // the table of the plan is there before the first row is computed
    if (access(s->output, F_OK) != 0) SNW_TRY(merge_parts(s, err));
    return finish(s, do_rows(s, err), err);
}

// *alone <- the engine "alone" was asked for
static snw_status read_engine(const sweep_session *s, bool *alone, bool *packs, snw_error *err) {
    const char *engine = s->how->engine ? s->how->engine : "auto";
    *alone = strcmp(engine, snw_sweep_engine_name[SNW_SWEEP_ALONE]) == 0;
    *packs = strcmp(engine, snw_sweep_engine_name[SNW_SWEEP_PACKS]) == 0;
    if (*alone || *packs || strcmp(engine, "auto") == 0) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "there is no engine '%.40s'; there are auto, packs, alone",
                    engine);
}

static snw_status open_computer(sweep_session *s, snw_error *err) {
    bool alone, packs;
    SNW_TRY(read_engine(s, &alone, &packs, err));
    SNW_TRY(snw_sweep_row_computer_open(s->plan, alone ? SNW_SWEEP_ALONE : SNW_SWEEP_PACKS,
                                        &s->computer, err));
    const char *why, *engine = snw_sweep_row_packs(s->computer, &why);
    s->report.engine = engine ? engine : snw_sweep_engine_name[SNW_SWEEP_ALONE];
    (void)snprintf(s->report.why, sizeof s->report.why, "%s", why);
    if (engine || !packs) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "the rows cannot be stepped in packs: %s; leave out the engine", why);
}

static snw_status open_session(sweep_session *s, const char *plan, snw_error *err) {
    SNW_TRY(read_options(s, plan, err));
    SNW_TRY(snw_sweep_plan_read(plan, &s->plan, err));
    SNW_TRY(open_computer(s, err));
    (void)snprintf(s->parts.folder, sizeof s->parts.folder, "%.1000s.parts", s->output);
    s->parts.identity = snw_sweep_row_identity(s->computer);
    s->parts.rows = s->plan->rows;
    s->parts.nresult = s->plan->nresult;
    s->parts.nseries = snw_sweep_row_columns(s->computer);
    s->report.rows = s->plan->rows;
    s->report.waiting = s->plan->rows;
    s->report.bad = -1;
    s->report.leads = !s->mpi || snw_sweep_ranks_leads(s->mpi);
    s->report.workers = s->mpi ? snw_sweep_ranks_workers(s->mpi) : s->workers;
    return SNW_OK;
}

snw_status snw_sweep_run(const char *plan, const snw_sweep_options *options,
                         const snw_sweep_hooks *hooks, snw_sweep_report *report, snw_error *err) {
    static const snw_sweep_options usual = {0};
    static const snw_sweep_hooks none = {0};
    if (!plan) return snw_fail(err, SNW_E_ARGUMENT, "plan is NULL");
    sweep_session s = {
        .how = options ? options : &usual, .hooks = hooks ? hooks : &none, .lock = -1};
    snw_error failed = {0};
    snw_status status = snw_sweep_ranks_open(&s.mpi, &failed);
    if (status == SNW_OK) status = open_session(&s, plan, &failed);
    if (status == SNW_OK && s.mpi && !snw_sweep_ranks_leads(s.mpi)) {
        status = snw_sweep_ranks_follow(s.mpi, s.computer, &s.parts, &failed);
    } else if (status == SNW_OK) {
        status = run_session(&s, &failed);
    }
    snw_sweep_ranks_close(s.mpi);
    if (s.lock >= 0) (void)close(s.lock);
    snw_free(s.done);
    snw_sweep_row_computer_close(s.computer);
    snw_sweep_plan_destroy(s.plan);
    if (report) *report = s.report;
    if (status != SNW_OK && err) *err = failed;
    return status;
}
