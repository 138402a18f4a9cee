// SPDX-License-Identifier: MIT
#include "base/alloc.h"
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/grid.h"
#include "cli/job.h"
#include "cli/stop.h"
#include "io/verdict.h"

#include <math.h>
#include <string.h>

typedef struct tally {
    int files, values, misses, bare; // bare: files that expect nothing
} tally;

typedef struct session {
    snw_reply *reply;
    const char *path;
    snw_meter meter;
    snw_grid *grid; // of the file under way; NULL with --json
    tally *tally;
    bool all; // show every value, not the worst of each table
} session;

// ---- hooks
// ------------------------------------------------------------------------------------------

static void show_progress(void *user, const snw_progress *p) {
    session *s = user;
    snw_meter_show(&s->meter, p);
}

static bool should_stop(void *user) {
    (void)user;
    return snw_stop_asked();
}

static void pass_warning(void *user, const char *message) {
    session *s = user;
    snw_reply_warn(s->reply, s->path, message);
}

// ---- one verdict
// ------------------------------------------------------------------------------------

static void add_row(session *s, const char *run, const snw_verdict *v, int of) {
    const snw_expect *e = v->expect;
    char where[128], wanted[64], tolerance[64], note[32] = "";
    snw_verdict_where(v, where, sizeof where);
    if (of > 1) (void)snprintf(note, sizeof note, ", worst of %d", of);
    const char *sign = e->how == SNW_EXPECT_BELOW ? "< " : e->how == SNW_EXPECT_ABOVE ? "> " : "";
    (void)snprintf(wanted, sizeof wanted, "%s%.9g", sign, v->want);
    (void)snprintf(tolerance, sizeof tolerance, "%g%s", e->tolerance,
                   e->how == SNW_EXPECT_RELATIVE ? " rel" : "");
    const bool limit = e->how == SNW_EXPECT_BELOW || e->how == SNW_EXPECT_ABOVE;
    snw_grid_cell(s->grid, "%s", v->ok ? "ok" : "MISS");
    snw_grid_cell(s->grid, "%s", v->column);
    snw_grid_cell(s->grid, "%s", run);
    snw_grid_cell(s->grid, "%s%s", where, note);
    snw_grid_number(s->grid, 9, v->got);
    snw_grid_cell(s->grid, "%s", wanted);
    snw_grid_number(s->grid, 2, limit ? NAN : v->error);
    snw_grid_cell(s->grid, "%s", limit ? "" : tolerance);
    snw_grid_cell(s->grid, "%s", v->why ? v->why : e->source ? e->source : "");
}

static void json_row(session *s, const char *run, const snw_verdict *v) {
    static const char *const how_name[] = {"within", "relative", "below", "above"};
    snw_json *j = s->reply->json;
    char where[128];
    snw_verdict_where(v, where, sizeof where);
    snw_json_object(j, NULL);
    snw_json_bool(j, "ok", v->ok);
    snw_json_text(j, "probe", v->column);
    snw_json_text(j, "run", run);
    snw_json_text(j, "where", where);
    snw_json_number(j, "got", v->got);
    snw_json_number(j, "wanted", v->want);
    snw_json_number(j, "error", v->error);
    snw_json_text(j, "how", how_name[v->expect->how]);
    snw_json_number(j, "tolerance", v->expect->tolerance);
    snw_json_text(j, "why", v->why);
    snw_json_text(j, "source", v->expect->source);
    snw_json_integer(j, "line", v->expect->place.line);
    snw_json_close(j);
}

static void add_head(session *s) {
    const char *const head[] = {"",       "probe", "run",       "where", "got",
                                "wanted", "error", "tolerance", "source"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) snw_grid_cell(s->grid, "%s", head[i]);
}

// how far off a verdict is, to choose the one to show: a miss without a number before all others
static double badness(const snw_verdict *v) {
    if (v->why || isnan(v->error)) return INFINITY;
    return v->ok ? v->error : 1e100 + v->error;
}

// rows of a table make one line per column, the worst; all of them when asked, and every miss
static void report(session *s, const char *run, const snw_expect *e, const snw_verdict *v) {
    const int n = snw_verdict_count(e);
    for (int i = 0; i < n; i++) {
        s->tally->values++;
        s->tally->misses += !v[i].ok;
        if (s->reply->json) json_row(s, run, &v[i]);
    }
    if (s->reply->json) return;
    for (int c = 0; c < e->ncolumn; c++) {
        int worst = c, misses = 0;
        for (int i = c; i < n; i += e->ncolumn) {
            if (badness(&v[i]) > badness(&v[worst])) worst = i;
            if (s->all || !v[i].ok) add_row(s, run, &v[i], 1);
            misses += !v[i].ok;
        }
        if (!s->all && misses == 0) add_row(s, run, &v[worst], e->nrow);
    }
}

// ---- the runs of a file
// -----------------------------------------------------------------------------

static snw_status judge_run(session *s, const snw_job *job, const snw_job_run *r,
                            const snw_series *series, snw_error *err) {
    const snw_expect *expect;
    int n;
    SNW_TRY(snw_document_expects(job->document, r->index, r->desc, &n, &expect, err));
    for (int i = 0; i < n; i++) {
        snw_verdict *v = snw_alloc((size_t)snw_verdict_count(&expect[i]) * sizeof *v);
        if (!v) return snw_fail(err, SNW_E_MEMORY, "out of memory");
        snw_verdict_judge(&expect[i], snw_run_describe(r->run), series, v);
        report(s, r->name, &expect[i], v);
        snw_free(v);
    }
    return SNW_OK;
}

static snw_status verify_run(session *s, const snw_job *job, int index, snw_error *err) {
    const snw_job_run *r = &job->run[index];
    snw_meter_run(&s->meter, index, r->name);
    snw_series series;
    snw_series_init(&series, snw_run_describe(r->run)->ncolumn);
    const snw_recorder recorder = snw_series_recorder(&series);
    const snw_run_hooks hooks = {s, show_progress, should_stop, pass_warning};
    snw_run_totals totals;
    snw_status status = snw_run_execute(r->run, 1, &recorder, &hooks, &totals, err);
    snw_meter_clear(&s->meter);
    // what a run that broke off has shown is judged all the same
    snw_error second = {0};
    if (status != SNW_E_STOPPED) {
        const snw_status judged = judge_run(s, job, r, &series, &second);
        if (status == SNW_OK && judged != SNW_OK) {
            *err = second;
            status = judged;
        }
    }
    snw_series_clear(&series);
    return status;
}

// expectations of all runs are read before any run is done: bad input is said at once
static snw_status count_expects(const snw_job *job, int *total, snw_error *err) {
    *total = 0;
    for (int i = 0; i < job->n; i++) {
        const snw_expect *expect;
        int n;
        SNW_TRY(snw_document_expects(job->document, job->run[i].index, job->run[i].desc, &n,
                                     &expect, err));
        *total += n;
    }
    return SNW_OK;
}

static void name_run(const char *run, snw_error *err) {
    char text[sizeof err->text];
    (void)snprintf(text, sizeof text, "run '%.60s': %.400s", run, err->text);
    memcpy(err->text, text, sizeof text);
}

static int verify_runs(session *s, const snw_job *job, snw_error *err) {
    int exit_status = SNW_EXIT_DONE;
    s->meter = snw_meter_start(job->n, false);
    s->reply->meter = &s->meter;
    for (int i = 0; i < job->n; i++) {
        *err = (snw_error){0};
        if (verify_run(s, job, i, err) == SNW_OK) continue;
        exit_status = SNW_EXIT_FAILED;
        if (!err->file[0]) (void)snprintf(err->file, sizeof err->file, "%s", job->path);
        if (job->n > 1) name_run(job->run[i].name, err);
        snw_reply_fail(s->reply, err);
        if (err->status == SNW_E_STOPPED) break;
    }
    s->reply->meter = NULL;
    return exit_status;
}

static int verify_job(session *s, const snw_job *job, snw_error *err) {
    int total;
    const snw_status status = count_expects(job, &total, err);
    if (status != SNW_OK) {
        snw_reply_fail(s->reply, err);
        return snw_reply_exit_input(status);
    }
    if (s->reply->json) {
        snw_json_list(s->reply->json, "values");
    } else if (snw_grid_create("llllrrrll", &s->grid, err) != SNW_OK) {
        snw_reply_fail(s->reply, err);
        return SNW_EXIT_FAILED;
    }
    if (s->grid && total > 0) add_head(s);
    const int before = s->tally->misses;
    int exit_status = verify_runs(s, job, err);
    if (s->tally->misses > before) exit_status = SNW_EXIT_FAILED;
    s->tally->bare += total == 0;
    if (s->reply->json) {
        snw_json_close(s->reply->json);
    } else {
        const char *title = job->run[0].desc->title;
        printf("%s%s%s\n", job->path, title && title[0] ? ": " : "", title ? title : "");
        if (total == 0) printf("  runs, but expects nothing: it has no 'expect:' for these runs\n");
        if (snw_grid_print(s->grid, stdout, err) != SNW_OK) {
            snw_reply_fail(s->reply, err);
            exit_status = SNW_EXIT_FAILED;
        }
        snw_grid_destroy(s->grid);
        s->grid = NULL;
    }
    return exit_status;
}

static int verify_file(session *s, const char *path, const snw_args *args) {
    snw_error err = {0};
    snw_job job;
    s->path = path;
    s->tally->files++;
    snw_json *j = s->reply->json;
    if (j) {
        snw_json_object(j, NULL);
        snw_json_text(j, "file", path);
    }
    const snw_status status = snw_job_open(path, args, &job, &err);
    int exit_status = snw_reply_exit_input(status);
    if (status != SNW_OK) {
        snw_reply_fail(s->reply, &err);
    } else {
        exit_status = verify_job(s, &job, &err);
    }
    if (j) {
        snw_reply_json_error(j, "error", &err);
        snw_json_close(j);
    }
    snw_job_close(&job);
    return exit_status;
}

static int run(const snw_args *args, snw_reply *reply) {
    tally count = {0};
    session s = {.reply = reply, .tally = &count, .all = snw_args_has(args, "all")};
    int exit_status = SNW_EXIT_DONE;
    if (reply->json) snw_json_list(reply->json, "files");
    for (int i = 0; i < snw_args_operands(args) && !snw_stop_asked(); i++) {
        const int one = verify_file(&s, snw_args_operand(args, i), args);
        if (one > exit_status) exit_status = one;
        if (!snw_reply_flush(reply)) return SNW_EXIT_FAILED;
    }
    if (reply->json) {
        snw_json_close(reply->json);
        snw_json_integer(reply->json, "values", count.values);
        snw_json_integer(reply->json, "misses", count.misses);
        return exit_status;
    }
    printf("%d file%s, %d value%s, %d missed", count.files, count.files == 1 ? "" : "s",
           count.values, count.values == 1 ? "" : "s", count.misses);
    if (count.bare) printf(", %d without expectations", count.bare);
    printf("\n");
    return exit_status;
}

static const snw_option options[] = {
    SNW_OPTION_RUN,
    SNW_OPTION_SET,
    {"all", 'a', NULL, false, "every row of a table of expected values, not only its worst"},
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_verify = {
    .name = "verify",
    .operands = "FILE...",
    .min_operands = 1,
    .max_operands = 1 << 30,
    .brief = "run and compare with the values a model file expects",
    .about = "Does the study of each file, in memory, and compares the probes with its 'expect:' "
             "entries. Every "
             "line shows what came out, what was wanted, the error, the tolerance, and where the "
             "wanted value "
             "comes from.\n\n"
             "The exit status is 1 when a value is missed or a run could not be computed.",
    .option = options,
    .examples = "sinew verify examples/rods/*.yaml\n"
                "sinew verify arm.yaml --run fine --all",
    .run = run,
};
