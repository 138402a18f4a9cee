// SPDX-License-Identifier: MIT
//
// sinew sweep: computes the rows of a plan on all cores or ranks, and reports the results of one.
#include "base/clock.h"
#include "base/fail.h"
#include "cli/cells.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/stop.h"
#include "cli/sweep_report.h"
#include "results/sweep_file.h"
#include "sinew/sweep.h"
#include "sweep/part.h"
#include "sweep/plan.h"
#include "sweep/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- hooks --------------------------------------------------------------------------------------

// The screen of a sweep while it runs, where standard error is a terminal.
typedef struct sweep_screen {
    snw_meter meter;
    int lines;   // of the live table
    double told; // time of its last lines, s
    bool logs;   // standard error is no terminal, as in jobs: lines of the progress now and then
    double next; // time of the next one from the begin, s
} sweep_screen;

enum { HEADED = 20, FIRST = 60 }; // lines below a heading; lines before the table slows down
static const double BLOCK = 0.02, PAUSE = 1, // s: lines that are told together, pause between
    FIRST_LOG = 10, LONGEST = 600; // s: first line of a job, longest time between two lines

static void sweep_progress(void *user, int64_t done, int64_t failed, int64_t all, double seconds) {
    sweep_screen *screen = user;
    char line[160], left[40] = "", bad[40] = "";
    const double rate = seconds > 0 ? (double)done / seconds : 0;
    if (done > 0 && rate > 0) {
        char time[32];
        snw_duration_text((double)(all - done) / rate, time, sizeof time);
        (void)snprintf(left, sizeof left, "  %s left", time);
    }
    if (failed > 0) (void)snprintf(bad, sizeof bad, ", %lld failed", (long long)failed);
    (void)snprintf(line, sizeof line, "%3.0f %%  %lld of %lld rows%s  %.4g rows/s%s",
                   100.0 * (double)done / (double)all, (long long)done, (long long)all, bad, rate,
                   left);
    snw_meter_text(&screen->meter, line);
    if (!screen->logs || seconds < screen->next) return;
    (void)fprintf(stderr, "%s\n", line);
    screen->next = seconds + fmin(seconds, LONGEST);
}

// A row of the live table, above the line of the progress.
static void sweep_row(void *user, const char *heading, const char *line) {
    sweep_screen *screen = user;
    if (!screen->meter.on) return;
    // a long sweep has some lines a second, not all that the terminal can take
    const double now = snw_clock_seconds(), since = now - screen->told;
    if (screen->lines >= FIRST && since > BLOCK && since < PAUSE) return;
    screen->told = now;
    snw_meter_clear(&screen->meter);
    if (screen->lines++ % HEADED == 0) (void)fprintf(stderr, "%s\n", heading);
    (void)fprintf(stderr, "%s\n", line);
}

static int sweep_cancel(void *user) {
    (void)user;
    return snw_stop_asked();
}

// ---- options ------------------------------------------------------------------------------------

static snw_status read_shard(const snw_args *args, snw_sweep_options *how, snw_error *err) {
    const char *text = snw_args_value(args, "shard");
    if (!text) return SNW_OK;
    int used = 0;
    if (sscanf(text, "%d/%d%n", &how->shard, &how->shards, &used) == 2 && !text[used] &&
        how->shards >= 1)
        return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "--shard takes i/n, the i-th of n, such as 3/8; got '%.60s'", text);
}

static snw_status sweep_read_options(const snw_args *args, snw_sweep_options *how, snw_error *err) {
    *how = snw_sweep_defaults();
    double workers = 0;
    SNW_TRY(snw_args_number(args, "jobs", 1, 4096, &workers, err));
    if (workers != floor(workers))
        return snw_fail(err, SNW_E_ARGUMENT, "--jobs takes a whole number, got %g", workers);
    how->workers = (int)workers;
    how->output = snw_args_value(args, "output");
    how->resume = snw_args_has(args, "resume");
    how->force = snw_args_has(args, "force");
    how->engine = snw_args_value(args, "engine");
    return read_shard(args, how, err);
}

// ---- the table of a plan ------------------------------------------------------------------------

static void write_rows(const snw_sweep_plan *p, double *value, const snw_sink *to) {
    snw_cell_text(to, "row");
    for (int k = 0; k < p->nparameter; k++) {
        snw_cell_comma(to);
        snw_cell_text(to, p->parameter[k].path);
    }
    snw_cell_end(to);
    for (int64_t i = 0; i < p->rows; i++) {
        char number[32];
        (void)snprintf(number, sizeof number, "%lld", (long long)i);
        snw_cell_text(to, number);
        snw_sweep_plan_values(p, i, value);
        for (int k = 0; k < p->nparameter; k++) {
            const char *const *label = p->parameter[k].label;
            if (label) {
                snw_cell_comma(to);
                snw_cell_text(to, label[(int)value[k]]);
            } else {
                snw_cell_number(to, value[k]);
            }
        }
        snw_cell_end(to);
    }
}

// Check plan and model, and write the rows of the plan as a table; nothing is computed.
static snw_status write_plan(const char *path, const char *table, bool quiet, snw_reply *reply,
                             snw_error *err) {
    snw_sweep_plan *p = NULL;
    snw_sweep_row_computer *c = NULL;
    SNW_TRY(snw_sweep_plan_read(path, &p, err));
    snw_status s = snw_sweep_row_computer_open(p, SNW_SWEEP_ALONE, &c, err);
    if (s == SNW_OK) s = snw_sweep_row_refuse_output(c, table, err);
    // a digit and a comma of each number, and the end of the line
    if (s == SNW_OK) s = snw_sweep_check_room(table, p->rows, 2.0 * (p->nparameter + 1), err);
    double *value =
        s == SNW_OK ? snw_pool_array(p->pool, (size_t)p->nparameter, sizeof *value) : NULL;
    snw_output out;
    if (s == SNW_OK && !value) s = snw_fail_memory(err);
    if (s == SNW_OK) s = snw_output_open(table, &out, err);
    if (s == SNW_OK) {
        const snw_sink to = snw_output_sink(&out);
        write_rows(p, value, &to);
        s = snw_output_close(&out, SNW_OK, err);
    }
    if (s == SNW_OK && reply->json) {
        snw_field_text(reply->json, "table", table);
        snw_field_integer(reply->json, "rows", p->rows);
    } else if (s == SNW_OK && !quiet) {
        printf("%lld rows in %s\n", (long long)p->rows, table);
    }
    snw_sweep_row_computer_close(c);
    snw_sweep_plan_destroy(p);
    return s;
}

// ---- the command --------------------------------------------------------------------------------

static void print_counts(const snw_sweep_report *r, snw_reply *reply) {
    if (reply->json) {
        snw_field_integer(reply->json, "rows", r->rows);
        snw_field_integer(reply->json, "done", r->done);
        snw_field_integer(reply->json, "failed", r->failed);
        snw_field_integer(reply->json, "refused", r->refused);
        snw_field_integer(reply->json, "crashed", r->crashed);
        snw_field_integer(reply->json, "waiting", r->waiting);
        snw_field_integer(reply->json, "computed", r->computed);
        snw_field_integer(reply->json, "workers", r->workers);
        snw_field_integer(reply->json, "packs", r->packs);
        snw_field_text(reply->json, "engine", r->engine);
        snw_field_text(reply->json, "alone", r->why);
        if (r->bad >= 0) {
            snw_field_integer(reply->json, "first_bad", r->bad);
            snw_field_text(reply->json, "message", r->message);
        }
        snw_field_number(reply->json, "seconds", r->seconds);
        snw_field_number(reply->json, "work", r->work);
        return;
    }
    printf("%lld rows: %lld done", (long long)r->rows, (long long)r->done);
    if (r->failed) printf(", %lld failed", (long long)r->failed);
    if (r->refused) printf(", %lld refused", (long long)r->refused);
    if (r->crashed) printf(", %lld crashed", (long long)r->crashed);
    if (r->waiting) printf(", %lld waiting", (long long)r->waiting);
    printf("\n");
    if (r->bad >= 0) printf("row %lld: %s\n", (long long)r->bad, r->message);
    if (r->computed > 0)
        printf("%lld computed in %.3g s, %.4g rows/s, by %d worker%s, %s%s%s%s\n",
               (long long)r->computed, r->seconds, (double)r->computed / r->seconds, r->workers,
               r->workers == 1 ? "" : "s", r->why[0] ? "" : "in ", r->engine, r->why[0] ? ": " : "",
               r->why);
}

// *begun <- plan and model were right.
static snw_status run_plan(const snw_args *args, const char *path, snw_reply *reply, bool *begun,
                           snw_error *err) {
    snw_sweep_options how;
    SNW_TRY(sweep_read_options(args, &how, err));
    snw_stop_defer();
    const bool quiet = snw_args_has(args, "quiet");
    sweep_screen screen = {.meter = snw_meter_start(1, quiet || reply->json), .next = FIRST_LOG};
    screen.logs = !screen.meter.on && !quiet && !reply->json;
    reply->meter = &screen.meter;
    const snw_sweep_hooks hooks = {.user = &screen,
                                   .progress = sweep_progress,
                                   .cancel = sweep_cancel,
                                   .row = screen.meter.on ? sweep_row : NULL};
    snw_sweep_report r = {0};
    const snw_status s = snw_sweep_run(path, &how, &hooks, &r, err);
    snw_meter_clear(&screen.meter);
    reply->meter = NULL;
    *begun = r.rows > 0;
    if ((s == SNW_OK || s == SNW_E_STOPPED) && r.rows > 0 && r.leads && (!quiet || reply->json))
        print_counts(&r, reply);
    if (s == SNW_E_STOPPED && r.rows > 0)
        return snw_fail(err, s,
                        "stopped; the rows so far are kept, and --resume computes the rest");
    if (s == SNW_E_IO && r.computed > 0) {
        const snw_error why = *err;
        return snw_fail(err, s, "%.300s; the rows so far are kept, and --resume computes the rest",
                        why.text);
    }
    return s;
}

static bool ends_in_h5(const char *path) {
    const size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".h5") == 0;
}

static snw_status sweep_or_report(const snw_args *args, snw_reply *reply, bool *begun,
                                  snw_error *err) {
    static const char *const reports[] = {"pareto", "csv", "result"};
    static const char *const works[] = {"output", "jobs",  "shard", "resume",
                                        "force",  "table", "engine"};
    const char *path = snw_args_operand(args, 0);
    const bool report = ends_in_h5(path);
    for (size_t i = 0; !report && i < sizeof reports / sizeof *reports; i++) {
        if (snw_args_has(args, reports[i]))
            return snw_fail(err, SNW_E_ARGUMENT,
                            "--%s is for the results of a sweep: sinew sweep OUT.h5 --%s",
                            reports[i], reports[i]);
    }
    for (size_t i = 0; report && i < sizeof works / sizeof *works; i++) {
        if (snw_args_has(args, works[i]))
            return snw_fail(err, SNW_E_ARGUMENT, "--%s is for a plan; '%.100s' are results",
                            works[i], path);
    }
    if (report) return snw_sweep_print_report(args, path, reply, err);
    const char *table = snw_args_value(args, "table");
    return table ? write_plan(path, table, snw_args_has(args, "quiet"), reply, err)
                 : run_plan(args, path, reply, begun, err);
}

static int cmd_sweep_run(const snw_args *args, snw_reply *reply) {
    snw_error err = {0};
    bool begun = false;
    const snw_status s = sweep_or_report(args, reply, &begun, &err);
    if (s == SNW_OK) return SNW_EXIT_DONE;
    snw_reply_fail(reply, &err);
    return begun ? snw_reply_exit_work(s) : snw_reply_exit_input(s);
}

static const snw_option options[] = {
    {"output", 'o', "FILE", false,
     "result file, .h5 (default: name of the plan with .h5, in the current folder)"},
    {"jobs", 'j', "N", false, "processes that compute rows (default: one for each processor)"},
    {"shard", 0, "I/N", false,
     "only every N-th row, from the I-th on: for arrays of jobs on several machines. The last "
     "shard writes the result file; --resume does so where none did"},
    {"resume", 0, NULL, false,
     "compute the rows that an interrupted sweep has left; rows that are there, also failed ones, "
     "are kept"},
    {"engine", 0, "NAME", false,
     "auto: implicit steps of 4 or 8 rows at once in packs where processor, scheme and model allow "
     "it, equal to the tolerance of the solver; alone: each row as sinew run, to the last bit; "
     "packs: as auto, but refused where packs do not serve (default: auto)"},
    {"force", 'f', NULL, false, "replace results of another sweep, and compute all rows again"},
    {"table", 0, "FILE.csv", false,
     "only write the numbered rows of the plan, in SI units; nothing is computed"},
    {"result", 0, "NAMES", true,
     "of OUT.h5: only these results in the report. May be repeated (default: all)"},
    {"pareto", 0, "A,B", false,
     "of OUT.h5: rows for which neither of two results can be smaller unless the other is larger; "
     "-A means that A should be large"},
    {"csv", 0, "FILE.csv", false, "of OUT.h5: all rows as a table"},
    {"quiet", 'q', NULL, false,
     "no progress and no summary, only messages; of OUT.h5: only the front of --pareto"},
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_sweep = {
    .name = "sweep",
    .operands = "PLAN.yaml|OUT.h5",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "run a model for many values of its numbers, on all cores",
    .about =
        "Reads a plan, which names a model, the numbers of it that vary (grid, list, table, Latin "
        "hypercube, Sobol' sequence, normal and other distributions) and the results to keep, and "
        "computes its rows. The rows are numbered and depend on the plan and its seed only. The "
        "result is one HDF5 file: parameters, states and results as columns, series on request.\n\n"
        "Workers are processes of one machine, or the ranks of mpirun, where rank 0 gives out the "
        "rows. With --shard the rows are divided among jobs that know nothing of each other. Each "
        "row is stored when it is done, in the folder OUT.h5.parts, until the result is complete. "
        "A row that fails or crashes is a row of the results. Ctrl-C and kills lose the rows in "
        "hand only; --resume computes what is missing.\n\n"
        "Given results instead of a plan, prints statistics of the results and how they depend on "
        "the parameters: indices of Sobol' (plans with method saltelli) or of Morris with "
        "intervals of 95 %, else correlations.",
    .option = options,
    .examples = "sinew sweep finger.sweep.yaml\n"
                "sinew sweep finger.sweep.yaml -j 4 -o finger.h5\n"
                "sinew sweep finger.sweep.yaml --resume\n"
                "sinew sweep finger.sweep.yaml --table rows.csv\n"
                "sinew sweep finger.sweep.yaml --shard 3/8\n"
                "mpirun -n 64 sinew sweep finger.sweep.yaml\n"
                "sinew sweep finger.h5 --pareto force,-reach",
    .run = cmd_sweep_run,
};
