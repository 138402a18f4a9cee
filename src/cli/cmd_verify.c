// SPDX-License-Identifier: MIT
//
// sinew verify: executes the studies of model files in memory and compares probes with the values
// of `expect:`.
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/grid.h"
#include "cli/job.h"
#include "cli/stop.h"
#include "language/expect.h"
#include "model/special.h"

#include <math.h>
#include <string.h>

typedef struct tally {
    int files, values, misses, bare; // bare: files without expected values
} tally;

typedef struct session {
    snw_reply *reply;
    const char *path;
    snw_meter meter;
    snw_grid *grid; // of the current file; NULL with --json
    tally *tally;
    bool all; // show every value, not only the worst of each table
} session;

// ---- hooks -------------------------------------------------------------------------------------

static void verify_show_progress(void *user, const snw_progress *p) {
    session *s = user;
    snw_meter_show(&s->meter, p);
}

static void verify_pass_warning(void *user, const char *message) {
    session *s = user;
    snw_reply_warn(s->reply, s->path, message);
}

static void verify_pass_note(void *user, const char *message) {
    session *s = user;
    snw_reply_note(s->reply, s->path, message);
}

// ---- one expectation ---------------------------------------------------------------------------

// Time of an expected value as text: "end", "after push", "t = 0.5 s", "max of 0 .. 2 s",
// "rms of 40 rows of arm.csv"
static void where_text(const snw_expect *e, double t, char *out, size_t size) {
    static const char *const is_name[] = {"min", "max", "mean", "range", "period", "size"};
    switch (e->when) {
    case SNW_EXPECT_AT:
        (void)snprintf(out, size, "t = %g s", e->t0);
        return;
    case SNW_EXPECT_ROWS:
        (void)snprintf(out, size, isnan(t) ? "rows" : "t = %g s", t);
        return;
    case SNW_EXPECT_DATA:
        if (isnan(t)) {
            (void)snprintf(out, size, "rms of %d rows of %.60s", e->nrow, e->data);
        } else {
            (void)snprintf(out, size, "max, t = %g s of %.60s", t, e->data);
        }
        return;
    case SNW_EXPECT_END:
        (void)snprintf(out, size, "end");
        return;
    case SNW_EXPECT_AFTER:
        (void)snprintf(out, size, "after %s", e->after);
        return;
    case SNW_EXPECT_POINT:
        (void)snprintf(out, size, "%s %d", snw_special_name((snw_special)e->point), e->number);
        return;
    case SNW_EXPECT_OVER:
        if (isinf(e->t0) && isinf(e->t1)) {
            (void)snprintf(out, size, "%s of all", is_name[e->is]);
        } else {
            (void)snprintf(out, size, "%s of %g .. %g s", is_name[e->is], e->t0, e->t1);
        }
        return;
    }
}

static bool is_limit(const snw_expect *e) {
    return e->how == SNW_EXPECT_BELOW || e->how == SNW_EXPECT_ABOVE;
}

static void add_head(session *s) {
    const char *const head[] = {"",       "probe", "run",       "where", "got",
                                "wanted", "error", "tolerance", "source"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) snw_grid_cell(s->grid, "%s", head[i]);
}

// of: number of rows of which this is the worst
static void add_cell(session *s, const char *run, const snw_expect *e, const snw_expect_cell *c,
                     int of) {
    char where[128], note[32] = "";
    where_text(e, c->t, where, sizeof where);
    if (of > 1) (void)snprintf(note, sizeof note, ", worst of %d", of);
    const char *sign = e->how == SNW_EXPECT_BELOW ? "< " : e->how == SNW_EXPECT_ABOVE ? "> " : "";
    snw_grid_cell(s->grid, "%s", c->ok ? "ok" : "MISS");
    snw_grid_cell(s->grid, "%s", c->column);
    snw_grid_cell(s->grid, "%s", run);
    snw_grid_cell(s->grid, "%s%s", where, note);
    snw_grid_number(s->grid, 9, c->got);
    if (isnan(c->wanted)) {
        snw_grid_cell(s->grid, "-");
    } else {
        snw_grid_cell(s->grid, "%s%.9g", sign, c->wanted);
    }
    snw_grid_number(s->grid, e->when == SNW_EXPECT_DATA ? 4 : 2, is_limit(e) ? NAN : c->error);
    snw_grid_number(s->grid, 2, is_limit(e) || isinf(c->allowed) ? NAN : c->allowed);
    snw_grid_cell(s->grid, "%s", e->source ? e->source : "");
}

// line of an expected value for which there was nothing to compare
static void add_reason(session *s, const char *run, const snw_expect *e, const char *reason) {
    char where[128];
    where_text(e, NAN, where, sizeof where);
    snw_grid_cell(s->grid, "MISS");
    snw_grid_cell(s->grid, "%s%s", e->column[0], e->ncolumn > 1 ? ", ..." : "");
    snw_grid_cell(s->grid, "%s", run);
    snw_grid_cell(s->grid, "%s", where);
    for (int i = 0; i < 4; i++) snw_grid_cell(s->grid, "-");
    snw_grid_cell(s->grid, "%s", reason);
}

// error relative to the tolerance, for choosing the worst cell
static double relative_error(const snw_expect_cell *c) {
    if (isnan(c->error)) return INFINITY;
    return c->allowed > 0 ? c->error / c->allowed : c->error;
}

// one line per column with the worst row of a table; all rows with --all, and every miss
static void add_outcome(session *s, const char *run, const snw_expect *e,
                        const snw_expect_outcome *o) {
    for (int i = 0; e->when == SNW_EXPECT_DATA && i < o->ncell; i++) {
        add_cell(s, run, e, &o->cell[i], 1);
    }
    for (int c = 0; e->when != SNW_EXPECT_DATA && c < e->ncolumn && o->ncell > 0; c++) {
        int worst = c, misses = 0;
        for (int i = c; i < o->ncell; i += e->ncolumn) {
            if (relative_error(&o->cell[i]) > relative_error(&o->cell[worst])) worst = i;
            if (s->all || !o->cell[i].ok) add_cell(s, run, e, &o->cell[i], 1);
            misses += !o->cell[i].ok;
        }
        if (!s->all && misses == 0) add_cell(s, run, e, &o->cell[worst], e->nrow);
    }
    if (o->ncell == 0) add_reason(s, run, e, o->reason);
}

static void json_outcome(session *s, const char *run, const snw_expect *e,
                         const snw_expect_outcome *o) {
    static const char *const how_name[] = {"within", "relative", "below", "above"};
    snw_json *j = s->reply->json;
    for (int i = 0; i < (o->ncell > 0 ? o->ncell : 1); i++) {
        const snw_expect_cell none = {
            .column = e->column[0], .t = NAN, .got = NAN, .wanted = NAN, .error = NAN};
        const snw_expect_cell *c = o->ncell > 0 ? &o->cell[i] : &none;
        char where[128];
        where_text(e, c->t, where, sizeof where);
        snw_field_object(j, NULL);
        snw_field_bool(j, "ok", c->ok);
        snw_field_text(j, "probe", c->column);
        snw_field_text(j, "run", run);
        snw_field_text(j, "where", where);
        snw_field_number(j, "got", c->got);
        snw_field_number(j, "wanted", c->wanted);
        snw_field_number(j, "error", c->error);
        const bool data = e->when == SNW_EXPECT_DATA;
        snw_field_text(j, "how", !data ? how_name[e->how] : c->rms ? "rms" : "max");
        snw_field_number(j, "tolerance", data ? c->allowed : e->tolerance);
        snw_field_text(j, "reason", o->ncell > 0 ? NULL : o->reason);
        snw_field_text(j, "source", e->source);
        snw_field_integer(j, "line", e->location.line);
        snw_json_close(j);
    }
}

static void report(session *s, const char *run, const snw_expect *e, const snw_expect_outcome *o) {
    s->tally->values += snw_expect_cells(e);
    for (int i = 0; i < o->ncell; i++) s->tally->misses += !o->cell[i].ok;
    if (o->ncell == 0) s->tally->misses += snw_expect_cells(e);
    if (s->reply->json) {
        json_outcome(s, run, e, o);
    } else {
        add_outcome(s, run, e, o);
    }
}

// ---- the runs of a file ------------------------------------------------------------------------

static snw_status compare_run(session *s, const snw_job *job, const snw_job_run *r,
                              const snw_series *series, snw_error *err) {
    const snw_expect *expect;
    int n;
    SNW_TRY(snw_document_expects(job->document, r->index, r->desc, &n, &expect, err));
    for (int i = 0; i < n; i++) {
        snw_expect_outcome outcome;
        const snw_status status =
            snw_expect_check(&expect[i], snw_run_describe(r->run), series, &outcome);
        if (status != SNW_OK) return snw_fail(err, status, "out of memory");
        report(s, r->name, &expect[i], &outcome);
        snw_expect_outcome_clear(&outcome);
    }
    return SNW_OK;
}

static snw_status verify_run(session *s, const snw_job *job, int index, snw_error *err) {
    const snw_job_run *r = &job->run[index];
    snw_meter_run(&s->meter, index, r->name);
    snw_series series;
    snw_series_init(&series, snw_run_describe(r->run)->ncolumn);
    const snw_recorder recorder = snw_series_recorder(&series);
    const snw_run_hooks hooks = {.user = s,
                                 .progress = verify_show_progress,
                                 .stop = snw_stop_hook,
                                 .warn = verify_pass_warning,
                                 .note = verify_pass_note};
    snw_run_totals totals;
    snw_status status = snw_run_execute(r->run, 1, &recorder, &hooks, &totals, err);
    snw_meter_clear(&s->meter);
    // the frames of a failed run are compared as well
    snw_error second = {0};
    if (status != SNW_E_STOPPED) {
        const snw_status compared = compare_run(s, job, r, &series, &second);
        if (status == SNW_OK && compared != SNW_OK) {
            *err = second;
            status = compared;
        }
    }
    snw_series_clear(&series);
    return status;
}

// read the expected values of all runs before the first run, so that bad input is reported at once
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

static void prefix_run_name(const char *run, snw_error *err) {
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
        if (job->n > 1) prefix_run_name(job->run[i].name, err);
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
        snw_field_list(s->reply->json, "values");
    } else if (snw_grid_create("llllrrrrl", &s->grid, err) != SNW_OK) {
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
        if (total == 0) printf("  runs, but has no 'expect:' for these runs\n");
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
        snw_field_object(j, NULL);
        snw_field_text(j, "file", path);
    }
    const snw_status status = snw_job_open_args(path, args, &job, &err);
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

static int cmd_verify_run(const snw_args *args, snw_reply *reply) {
    tally count = {0};
    session s = {.reply = reply, .tally = &count, .all = snw_args_has(args, "all")};
    int exit_status = SNW_EXIT_DONE;
    if (reply->json) snw_field_list(reply->json, "files");
    for (int i = 0; i < snw_args_operands(args) && !snw_stop_asked(); i++) {
        const int one = verify_file(&s, snw_args_operand(args, i), args);
        if (one > exit_status) exit_status = one;
        if (!snw_reply_flush(reply)) return SNW_EXIT_FAILED;
    }
    if (reply->json) {
        snw_json_close(reply->json);
        snw_field_integer(reply->json, "values", count.values);
        snw_field_integer(reply->json, "misses", count.misses);
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
    .brief = "run a model file and compare with its expected values",
    .about = "Runs the study of each file, in memory, and compares the probes with its 'expect:' "
             "entries. Every line shows the computed value, the expected value, the error, the "
             "tolerance, and the source of the expected value.\n\n"
             "The exit status is 1 when a value is missed or a run could not be computed.",
    .option = options,
    .examples = "sinew verify examples/rods/*.yaml\n"
                "sinew verify arm.yaml --run fine --all",
    .run = cmd_verify_run,
};
