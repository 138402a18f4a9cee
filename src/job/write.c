// SPDX-License-Identifier: MIT
//
// Executes the runs of a model file and writes them to a result file.
#include "job/write.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "job/resume.h"
#include "output/scene.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

// Data of all runs. Threads share it; hooks and errors are used under the lock.
typedef struct session {
    const snw_job *job;
    const char *output;
    const snw_job_hooks *hooks;
    snw_results *results; // NULL: all runs were finished
    snw_job_outcome *outcome;
    int increments;
    bool stopped;    // a hook asked for the end
    bool ended;      // no further run begins: stopped, or a file cannot be written
    snw_error flush; // error of a write between frames
    snw_error first; // first failure
    int workers;
    double *fraction; // of each run that is done
    _Atomic int next; // run to be taken by a thread
    pthread_mutex_t lock;
} session;

// Data of the hooks of one run.
typedef struct run_session {
    session *s;
    int index;
} run_session;

// ---- recorder of the last frame ----------------------------------------------------------------

typedef struct last_frame {
    snw_job_outcome *outcome;
    int ncolumn;
} last_frame;

static snw_status keep_frame(void *user, const snw_frame *f, snw_error *err) {
    (void)err;
    const last_frame *last = user;
    last->outcome->frames++;
    last->outcome->t = f->t;
    if (last->ncolumn > 0) {
        memcpy(last->outcome->value, f->column, (size_t)last->ncolumn * sizeof *f->column);
    }
    return SNW_OK;
}

static snw_status keep_end(void *user, snw_status status, const char *message, snw_error *err) {
    (void)message, (void)err;
    const last_frame *last = user;
    last->outcome->status = status;
    return SNW_OK;
}

// ---- hooks -------------------------------------------------------------------------------------

static void write_progress(void *user, const snw_progress *p) {
    const run_session *r = user;
    session *s = r->s;
    const snw_job_hooks *h = s->hooks;
    if (!h->progress) return;
    (void)pthread_mutex_lock(&s->lock);
    snw_progress all = *p;
    if (s->workers > 1) { // the runs together, as one
        s->fraction[r->index] = p->fraction;
        all.fraction = 0;
        for (int i = 0; i < s->job->n; i++) all.fraction += s->fraction[i];
        if (h->begin) h->begin(h->user, 0, s->job->run[r->index].name);
    }
    h->progress(h->user, &all);
    (void)pthread_mutex_unlock(&s->lock);
}

// called between increments; also flushes frames that have waited for a second
static bool write_should_stop(void *user) {
    session *s = ((const run_session *)user)->s;
    snw_error err = {0};
    const bool written = snw_results_flush(s->results, 1, &err) == SNW_OK;
    (void)pthread_mutex_lock(&s->lock);
    if (!written && s->flush.status == SNW_OK) s->flush = err;
    if (s->hooks->stop && s->hooks->stop(s->hooks->user)) s->stopped = true;
    const bool stop = s->stopped || s->flush.status != SNW_OK;
    (void)pthread_mutex_unlock(&s->lock);
    return stop;
}

static void pass_text(void *user, void (*hook)(void *user, const char *text), const char *text) {
    session *s = ((const run_session *)user)->s;
    if (!hook) return;
    (void)pthread_mutex_lock(&s->lock);
    hook(s->hooks->user, text);
    (void)pthread_mutex_unlock(&s->lock);
}

static void pass_warning(void *user, const char *text) {
    pass_text(user, ((const run_session *)user)->s->hooks->warn, text);
}

static void pass_note(void *user, const char *text) {
    pass_text(user, ((const run_session *)user)->s->hooks->note, text);
}

static void pass_failure(session *s, const snw_error *err) {
    if (s->first.status == SNW_OK) s->first = *err;
    if (s->hooks->fail) s->hooks->fail(s->hooks->user, err);
}

// ---- execution ---------------------------------------------------------------------------------

static snw_status create_results(const snw_job *job, const char *output, snw_results **out,
                                 snw_error *err) {
    const snw_run_info **info = snw_alloc((size_t)job->n * sizeof *info);
    snw_run_info *drawn = snw_alloc((size_t)job->n * sizeof *drawn);
    char **scene = snw_alloc((size_t)job->n * sizeof *scene);
    snw_status status = info && drawn && scene ? SNW_OK : SNW_E_MEMORY;
    if (status != SNW_OK) (void)snw_fail(err, status, "out of memory");
    for (int i = 0; status == SNW_OK && i < job->n; i++) {
        drawn[i] = *snw_run_describe(job->run[i].run);
        status = snw_scene_of_run(job->run[i].run, &scene[i], err);
        drawn[i].scene = scene[i];
        info[i] = &drawn[i];
    }
    if (status == SNW_OK) {
        status = snw_results_create(output, job->n, info, job->text, out, err);
    }
    for (int i = 0; scene && i < job->n; i++) snw_free(scene[i]);
    snw_free(scene);
    snw_free(drawn);
    snw_free(info);
    return status;
}

static snw_status execute(session *s, const snw_job_run *r, int index, snw_error *err) {
    snw_job_outcome *o = &s->outcome[index];
    last_frame last = {o, snw_run_describe(r->run)->ncolumn};
    const snw_recorder recorder[] = {snw_results_recorder(s->results, index),
                                     {&last, keep_frame, keep_end}};
    run_session own = {s, index};
    const snw_run_hooks hooks = {.user = &own,
                                 .progress = write_progress,
                                 .stop = write_should_stop,
                                 .warn = pass_warning,
                                 .note = pass_note,
                                 .increments = s->increments};
    const snw_status status = snw_run_execute(r->run, 2, recorder, &hooks, &o->totals, err);
    (void)pthread_mutex_lock(&s->lock);
    const snw_error flush = s->flush;
    (void)pthread_mutex_unlock(&s->lock);
    if (flush.status != SNW_OK) {
        *err = flush;
        return o->status = err->status;
    }
    return o->status = status;
}

// report a failure with the name of the run, if there are several, and the results that are kept
static void report_failure(session *s, int index, snw_error *err) {
    const snw_job *job = s->job;
    const snw_job_outcome *o = &s->outcome[index];
    char run[80] = "";
    if (job->n > 1) (void)snprintf(run, sizeof run, "run '%.60s': ", job->run[index].name);
    // a failed write is not an error of the model file
    if (!err->file[0] && err->status != SNW_E_IO) {
        (void)snprintf(err->file, sizeof err->file, "%s", job->path);
    }
    char text[sizeof err->text], kept[160] = "";
    if (o->frames > 0 && snw_results_in_place(s->results)) {
        (void)snprintf(kept, sizeof kept, "results kept in %.128s", s->output);
    }
    if (err->status == SNW_E_STOPPED && kept[0]) {
        (void)snprintf(text, sizeof text, "%sstopped at t = %g s, %s", run, o->t, kept);
    } else if (err->status == SNW_E_STOPPED) {
        (void)snprintf(text, sizeof text, "%sstopped before its first frame", run);
    } else {
        (void)snprintf(text, sizeof text, "%s%.240s%s%s", run, err->text, kept[0] ? "; " : "",
                       kept);
    }
    memcpy(err->text, text, sizeof text);
    pass_failure(s, err);
}

// Execute one run; the others continue after a failed one.
static void execute_one(session *s, int i) {
    const snw_job *job = s->job;
    snw_error err = {0};
    (void)pthread_mutex_lock(&s->lock);
    const bool skip = s->ended || s->outcome[i].kept;
    if (!skip && s->workers == 1 && s->hooks->begin)
        s->hooks->begin(s->hooks->user, i, job->run[i].name);
    (void)pthread_mutex_unlock(&s->lock);
    if (skip) return;
    const snw_status status = execute(s, &job->run[i], i, &err);
    (void)pthread_mutex_lock(&s->lock);
    s->fraction[i] = 1;
    const bool limited = status == SNW_E_STOPPED && !s->stopped; // limit of increments
    if (status != SNW_OK && !limited) {
        report_failure(s, i, &err);
        if (err.status == SNW_E_STOPPED || err.status == SNW_E_IO) s->ended = true;
    }
    (void)pthread_mutex_unlock(&s->lock);
}

static void *execute_some(void *user) {
    session *s = user;
    int i;
    while ((i = atomic_fetch_add(&s->next, 1)) < s->job->n) execute_one(s, i);
    return NULL;
}

// Execute all runs: in sequence, or by threads that take the next run each.
static void execute_all(session *s) {
    enum { MOST = 256 };
    pthread_t thread[MOST];
    int n = 0;
    for (int i = 0; i < s->job->n; i++) {
        s->outcome[i].status = s->outcome[i].kept ? SNW_OK : SNW_E_STOPPED;
        s->fraction[i] = s->outcome[i].kept;
    }
    // this thread works too; where no other can be started it does all
    while (n < s->workers - 1 && n < MOST && n < s->job->n - 1) {
        if (pthread_create(&thread[n], NULL, execute_some, s) != 0) break;
        n++;
    }
    (void)execute_some(s);
    for (int i = 0; i < n; i++) (void)pthread_join(thread[i], NULL);
}

// ---- beginning and end -------------------------------------------------------------------------

static bool has_failed_write(const session *s) {
    for (int i = 0; i < s->job->n; i++) {
        if (s->outcome[i].status == SNW_E_IO) return true;
    }
    return false;
}

void snw_job_outcomes_free(const snw_job *job, snw_job_outcome *outcomes) {
    for (int i = 0; outcomes && i < job->n; i++) snw_free(outcomes[i].value);
    snw_free(outcomes);
}

static snw_status create_outcomes(session *s, snw_error *err) {
    snw_job_outcome *o = s->outcome = snw_alloc((size_t)s->job->n * sizeof *o);
    s->fraction = snw_alloc((size_t)s->job->n * sizeof *s->fraction);
    bool good = o != NULL && s->fraction;
    for (int i = 0; good && i < s->job->n; i++) {
        const int ncolumn = snw_run_describe(s->job->run[i].run)->ncolumn;
        good = (o[i].value = snw_alloc((size_t)ncolumn * sizeof *o->value)) != NULL;
    }
    return good ? SNW_OK : snw_fail_memory(err);
}

// copy the frames of interrupted and finished runs to the new file
static snw_status copy_old_frames(session *s, snw_result *old, snw_error *err) {
    for (int i = 0; i < s->job->n; i++) {
        snw_resume_state left;
        snw_job_outcome *o = &s->outcome[i];
        SNW_TRY(snw_resume_run(old, s->job, i, s->results, &left, o->value, err));
        o->kept = left.finished;
        o->frames = left.frames;
        o->t = left.t;
    }
    return SNW_OK;
}

// Create the result file; none is created when all runs of continued results are finished.
static snw_status begin_results(session *s, snw_result *old, snw_error *err) {
    const bool complete = old && snw_resume_complete(old);
    if (!complete) SNW_TRY(create_results(s->job, s->output, &s->results, err));
    const snw_status status = old ? copy_old_frames(s, old, err) : SNW_OK;
    if (status == SNW_OK) return SNW_OK;
    // report the first failure
    snw_error second = {0};
    return snw_results_close(s->results, &second) == SNW_OK ? status : err->status;
}

snw_status snw_job_write(const snw_job *job, const char *output, int workers, int increments,
                         snw_result *old, const snw_job_hooks *hooks, snw_job_outcome **outcomes,
                         snw_error *err) {
    static const snw_job_hooks none = {0};
    session s = {.job = job,
                 .output = output,
                 .hooks = hooks ? hooks : &none,
                 .increments = increments,
                 .workers = workers < 1        ? 1
                            : workers < job->n ? workers
                                               : job->n};
    (void)pthread_mutex_init(&s.lock, NULL);
    snw_error failed = {0};
    *outcomes = NULL;
    snw_status status = create_outcomes(&s, &failed);
    if (status == SNW_OK) status = begin_results(&s, old, &failed);
    snw_result_close(old);
    if (status != SNW_OK) {
        pass_failure(&s, &failed);
        snw_job_outcomes_free(job, s.outcome);
        snw_free(s.fraction);
        (void)pthread_mutex_destroy(&s.lock);
        *err = failed;
        return status;
    }
    execute_all(&s);
    snw_free(s.fraction);
    (void)pthread_mutex_destroy(&s.lock);
    // a failed write was already reported when it ended the run
    if (snw_results_close(s.results, &failed) != SNW_OK && !has_failed_write(&s)) {
        pass_failure(&s, &failed);
    }
    *outcomes = s.outcome;
    if (s.first.status != SNW_OK) *err = s.first;
    return s.first.status;
}
