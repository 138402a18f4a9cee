// SPDX-License-Identifier: MIT
//
// sinew run: executes the study of a model file, writes the results and prints a summary.
#include "base/alloc.h"
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/grid.h"
#include "cli/inverse_write.h"
#include "cli/job.h"
#include "cli/linear_print.h"
#include "cli/output.h"
#include "cli/replace.h"
#include "cli/special_points.h"
#include "cli/stop.h"
#include "job/choice.h"
#include "job/resume.h"
#include "job/write.h"
#include "study/modes.h"
#include "study/series.h"

#include <limits.h>
#include <math.h>
#include <string.h>

// Limits of the summary: with up to SHOWN_RUNS runs one column per run and SHOWN_VALUES lines, else
// one line per run and SHOWN_COLUMNS values.
enum { SHOWN_RUNS = 5, SHOWN_VALUES = 24, SHOWN_COLUMNS = 8 };

// Data of the hooks.
typedef struct session {
    snw_reply *reply;
    const char *path; // of the model
    snw_meter meter;
} session;

// ---- hooks -------------------------------------------------------------------------------------

static void cmd_run_begin(void *user, int index, const char *name) {
    session *s = user;
    snw_meter_run(&s->meter, index, name);
}

static void cmd_run_show_progress(void *user, const snw_progress *p) {
    session *s = user;
    snw_meter_show(&s->meter, p);
}

static bool cmd_run_should_stop(void *user) {
    (void)user;
    return snw_stop_asked();
}

static void cmd_run_pass_warning(void *user, const char *message) {
    session *s = user;
    snw_reply_warn(s->reply, s->path, message);
}

static void cmd_run_pass_note(void *user, const char *message) {
    session *s = user;
    snw_reply_note(s->reply, s->path, message);
}

static void cmd_run_report(void *user, const snw_error *err) {
    session *s = user;
    snw_reply_fail(s->reply, err);
}

// out <- name of FILE with the extension .h5, in the current folder
static void cmd_run_default_output(const char *path, char *out, size_t size) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    const int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    (void)snprintf(out, size, "%.*s.h5", length, name);
}

// ---- the summary -------------------------------------------------------------------------------

static snw_status cmd_run_print_totals(const snw_job *job, const snw_job_outcome *outcomes,
                                       snw_error *err) {
    snw_grid *g;
    // energy balance of dynamic runs: energy removed by the integrator, unaccounted energy, and
    // energy exchanged
    bool moved = false;
    for (int i = 0; i < job->n; i++) moved |= outcomes[i].totals.exchanged > 0;
    const int columns = moved ? 15 : 11;
    SNW_TRY(snw_grid_create(moved ? "llrrrrrrrrrrrrr" : "llrrrrrrrrr", &g, err));
    const char *const head[] = {"run",        "",         "frames",     "increments",
                                "iterations", "residual", "condition",  "geometry error",
                                "quadrature", "basis",    "time",       "scheme",
                                "balance",    "of",       "x real time"};
    for (int i = 0; i < columns; i++) snw_grid_cell(g, "%s", head[i]);
    for (int i = 0; i < job->n; i++) {
        const snw_job_outcome *o = &outcomes[i];
        const snw_run_totals *t = &o->totals;
        snw_grid_cell(g, "%s", job->run[i].name);
        snw_grid_cell(g, "%s",
                      o->kept                      ? "kept"
                      : o->status == SNW_OK        ? "done"
                      : o->status == SNW_E_STOPPED ? "stopped"
                                                   : "failed");
        snw_grid_cell(g, "%d", o->frames);
        for (int k = 3; o->kept && k < columns; k++) snw_grid_cell(g, "%s", "");
        if (o->kept) continue;
        snw_grid_cell(g, "%d", t->increments);
        snw_grid_cell(g, "%d", t->iterations);
        snw_grid_number(g, 2, t->worst_residual);
        snw_grid_number(g, 2, t->worst_condition > 0 ? t->worst_condition : NAN);
        snw_grid_number(g, 2, t->worst_geometry);
        snw_grid_number(g, 2, t->worst_quadrature);
        snw_grid_number(g, 2, t->worst_truncation);
        snw_grid_cell(g, "%.3g s", t->seconds);
        if (moved) snw_grid_cell(g, "%.2g J", t->scheme);
        if (moved) snw_grid_cell(g, "%.2g J", t->balance);
        if (moved) snw_grid_cell(g, "%.3g J", t->exchanged);
        if (moved) snw_grid_cell(g, "%.3g", t->wall > 0 ? t->simulated / t->wall : 0);
    }
    const snw_status status = snw_grid_print(g, stdout, err);
    snw_grid_destroy(g);
    return status;
}

// numbers of nodes of rods with adaptive nodes (rk45)
static void print_nodes(const snw_job *job, const snw_job_outcome *outcomes) {
    for (int i = 0; i < job->n; i++) {
        const snw_run_totals *t = &outcomes[i].totals;
        if (t->most_nodes == 0) continue;
        printf("  %s: at most %d nodes on rods integrated by rk45, placed %d time%s\n",
               job->run[i].name, t->most_nodes, t->meshes, t->meshes == 1 ? "" : "s");
    }
}

// last value of the column of this name, NaN when the run has none: overrides may change probes
static double last_value(const snw_job_run *r, const snw_job_outcome *o, const char *wanted) {
    const snw_run_info *info = snw_run_describe(r->run);
    for (int i = 0; o->frames > 0 && i < info->ncolumn; i++) {
        char name[256];
        snw_column_name(&info->column[i], name, sizeof name);
        if (!strcmp(name, wanted)) return o->value[i];
    }
    return NAN;
}

// last values, one line per run
static snw_status cmd_run_print_lines(const snw_job *job, const snw_job_outcome *outcomes,
                                      snw_error *err) {
    const snw_run_info *info = snw_run_describe(job->run[0].run);
    char name[SHOWN_COLUMNS][256], align[SHOWN_COLUMNS + 2] = "l";
    int n = 0;
    for (int i = 0; i < info->ncolumn && n < SHOWN_COLUMNS; i++) {
        if (!snw_column_is_brief(&info->column[i])) continue;
        snw_column_name(&info->column[i], name[n++], sizeof *name);
    }
    memset(align + 1, 'r', (size_t)n);
    snw_grid *g;
    SNW_TRY(snw_grid_create(align, &g, err));
    snw_grid_cell(g, "last value");
    for (int i = 0; i < n; i++) snw_grid_cell(g, "%s", name[i]);
    for (int r = 0; r < job->n; r++) {
        snw_grid_cell(g, "%s", job->run[r].name);
        for (int i = 0; i < n; i++) {
            snw_grid_number(g, 9, last_value(&job->run[r], &outcomes[r], name[i]));
        }
    }
    printf("\n");
    const snw_status status = snw_grid_print(g, stdout, err);
    snw_grid_destroy(g);
    if (n < info->ncolumn) printf("  ... %d values in all, see 'sinew show'\n", info->ncolumn);
    return status;
}

// last values, one column per run
static snw_status print_values(const snw_job *job, const snw_job_outcome *outcomes,
                               snw_error *err) {
    const snw_run_info *info = snw_run_describe(job->run[0].run);
    const int nrun = job->n;
    if (info->ncolumn == 0) return SNW_OK;
    if (nrun > SHOWN_RUNS) return cmd_run_print_lines(job, outcomes, err);
    char align[SHOWN_RUNS + 2] = "l";
    memset(align + 1, 'r', (size_t)nrun);
    snw_grid *g;
    SNW_TRY(snw_grid_create(align, &g, err));
    snw_grid_cell(g, "last value");
    for (int r = 0; r < nrun; r++) snw_grid_cell(g, "%s", job->run[r].name);
    int shown = 0;
    for (int i = 0; i < info->ncolumn && shown < SHOWN_VALUES; i++) {
        if (!snw_column_is_brief(&info->column[i])) continue;
        shown++;
        char name[256];
        snw_column_name(&info->column[i], name, sizeof name);
        snw_grid_cell(g, "%s", name);
        for (int r = 0; r < nrun; r++) {
            snw_grid_number(g, 9, last_value(&job->run[r], &outcomes[r], name));
        }
    }
    printf("\n");
    const snw_status status = snw_grid_print(g, stdout, err);
    snw_grid_destroy(g);
    if (shown < info->ncolumn) {
        printf("  ... %d values in all, see 'sinew show'\n", info->ncolumn);
    }
    return status;
}

static void mode_row(snw_grid *g, const char *number, const snw_mode *mode) {
    snw_grid_cell(g, "%s", number);
    if (mode->null) {
        snw_grid_cell(g, "null");
    } else if (mode->frequency < 0) {
        snw_grid_cell(g, "grows by %.6g 1/s", -2 * acos(-1.0) * mode->frequency);
    } else {
        snw_grid_cell(g, "%.6g Hz", mode->frequency);
    }
    if (isfinite(mode->damping)) {
        snw_grid_cell(g, "%.3g", mode->damping);
    } else {
        snw_grid_cell(g, "%s", "");
    }
    snw_grid_number(g, 2, mode->truncation);
    snw_grid_cell(g, "%s", mode->moves);
}

// table of modes: frequency, damping ratio, estimated error of the frequency, link that moves most;
// then idle motions
static snw_status print_mode_table(const snw_mode_table *t, const char *step, snw_error *err) {
    snw_grid *g;
    SNW_TRY(snw_grid_create("lrrrl", &g, err));
    const char *const head[] = {step, "frequency", "damping", "basis", "moves most"};
    for (int i = 0; i < 5; i++) snw_grid_cell(g, "%s", head[i]);
    for (int i = 0; i < t->n; i++) {
        char number[16];
        (void)snprintf(number, sizeof number, "%d", i + 1);
        mode_row(g, number, &t->mode[i]);
    }
    for (int i = 0; i < t->nidle; i++) {
        const char *const cell[] = {"idle", "no mass", "", "", t->idle[i]};
        for (int k = 0; k < 5; k++) snw_grid_cell(g, "%s", cell[k]);
    }
    printf("\n");
    const snw_status status = snw_grid_print(g, stdout, err);
    snw_grid_destroy(g);
    return status;
}

// "path", or "load.1: path" where there are several runs
static void step_name(const snw_job *job, const snw_run_info *info, int stage, char *out,
                      size_t size) {
    (void)snprintf(out, size, "%.60s%s%.60s", job->n > 1 ? info->run : "", job->n > 1 ? ": " : "",
                   info->stage[stage]);
}

static snw_status print_modes(const snw_job *job, snw_error *err) {
    for (int r = 0; r < job->n && job->n <= SHOWN_RUNS; r++) {
        const snw_run_info *info = snw_run_describe(job->run[r].run);
        for (int i = 0; i < info->nstage; i++) {
            const snw_mode_table *t = snw_run_modes_found(job->run[r].run, i);
            if (!t) continue;
            char step[160];
            step_name(job, info, i, step, sizeof step);
            SNW_TRY(print_mode_table(t, step, err));
        }
    }
    return SNW_OK;
}

static snw_status print_special(const snw_job *job, snw_error *err) {
    for (int r = 0; r < job->n && job->n <= SHOWN_RUNS; r++) {
        const snw_run_info *info = snw_run_describe(job->run[r].run);
        for (int i = 0; i < info->nstage; i++) {
            const snw_special_table *t = snw_run_special_points(job->run[r].run, i);
            char step[160];
            step_name(job, info, i, step, sizeof step);
            if (t) SNW_TRY(snw_special_print(t, step, err));
        }
    }
    return SNW_OK;
}

static void print_inverse(const snw_job *job) {
    for (int r = 0; r < job->n && job->n <= SHOWN_RUNS; r++) {
        const snw_run_info *info = snw_run_describe(job->run[r].run);
        for (int i = 0; i < info->nstage; i++) {
            const snw_inverse_result *found = snw_run_inverse_found(job->run[r].run, i);
            if (!found) continue;
            char step[160];
            step_name(job, info, i, step, sizeof step);
            printf("\n%s\n", step);
            snw_inverse_print(found);
        }
    }
}

static void json_inverse(snw_json *j, const snw_run *run) {
    const snw_run_info *info = snw_run_describe(run);
    snw_field_list(j, "inverse");
    for (int i = 0; i < info->nstage; i++) {
        const snw_inverse_result *found = snw_run_inverse_found(run, i);
        if (!found) continue;
        snw_field_object(j, NULL);
        snw_field_text(j, "step", info->stage[i]);
        snw_inverse_json(j, found);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static void print_linear(const snw_job *job) {
    for (int r = 0; r < job->n && job->n <= SHOWN_RUNS; r++) {
        const snw_run_info *info = snw_run_describe(job->run[r].run);
        for (int i = 0; i < info->nstage; i++) {
            const snw_linear_model *found = snw_run_linear_found(job->run[r].run, i);
            char step[160];
            step_name(job, info, i, step, sizeof step);
            if (found) snw_linear_print_step(found, step);
        }
    }
}

static void json_linear(snw_json *j, const snw_run *run) {
    const snw_run_info *info = snw_run_describe(run);
    snw_field_list(j, "linear");
    for (int i = 0; i < info->nstage; i++) {
        const snw_linear_model *found = snw_run_linear_found(run, i);
        if (found) snw_linear_json_step(j, found, info->stage[i]);
    }
    snw_json_close(j);
}

static void json_special(snw_json *j, const snw_run *run) {
    const snw_run_info *info = snw_run_describe(run);
    snw_field_list(j, "special");
    for (int i = 0; i < info->nstage; i++) {
        const snw_special_table *t = snw_run_special_points(run, i);
        if (t) snw_special_json(j, t, info->stage[i]);
    }
    snw_json_close(j);
}

static void json_modes(snw_json *j, const snw_run *run) {
    const snw_run_info *info = snw_run_describe(run);
    snw_field_list(j, "modes");
    for (int i = 0; i < info->nstage; i++) {
        const snw_mode_table *t = snw_run_modes_found(run, i);
        for (int k = 0; t && k < t->n; k++) {
            snw_field_object(j, NULL);
            snw_field_text(j, "step", info->stage[i]);
            snw_field_integer(j, "mode", k + 1);
            snw_field_bool(j, "null", t->mode[k].null);
            snw_field_number(j, "frequency", t->mode[k].frequency);
            snw_field_number(j, "damping", t->mode[k].damping);
            snw_field_number(j, "basis", t->mode[k].truncation);
            snw_field_text(j, "moves", t->mode[k].moves);
            snw_json_close(j);
        }
    }
    snw_json_close(j);
}

static void json_summary(snw_json *j, const snw_job *job, const snw_job_outcome *outcomes) {
    snw_field_list(j, "runs");
    for (int r = 0; r < job->n; r++) {
        const snw_run_info *info = snw_run_describe(job->run[r].run);
        const snw_job_outcome *o = &outcomes[r];
        snw_field_object(j, NULL);
        snw_field_text(j, "run", job->run[r].name);
        snw_field_text(j, "status", snw_status_text(o->status));
        snw_field_bool(j, "kept", o->kept);
        snw_field_integer(j, "frames", o->frames);
        snw_field_integer(j, "increments", o->totals.increments);
        snw_field_integer(j, "iterations", o->totals.iterations);
        snw_field_number(j, "worst_residual", o->totals.worst_residual);
        snw_field_number(j, "worst_condition",
                         o->totals.worst_condition > 0 ? o->totals.worst_condition : NAN);
        snw_field_number(j, "worst_geometry", o->totals.worst_geometry);
        snw_field_number(j, "worst_quadrature", o->totals.worst_quadrature);
        snw_field_number(j, "worst_truncation", o->totals.worst_truncation);
        snw_field_integer(j, "grids", o->totals.meshes);
        snw_field_integer(j, "most_nodes", o->totals.most_nodes);
        snw_field_number(j, "scheme", o->totals.scheme);
        snw_field_number(j, "created", o->totals.created);
        snw_field_number(j, "removed", o->totals.removed);
        snw_field_number(j, "astray", o->totals.time_error);
        snw_field_number(j, "balance", o->totals.balance);
        snw_field_number(j, "exchanged", o->totals.exchanged);
        snw_field_number(j, "seconds", o->totals.seconds);
        snw_field_number(j, "real_time",
                         o->totals.wall > 0 ? o->totals.simulated / o->totals.wall : NAN);
        snw_field_number(j, "t", o->frames > 0 ? o->t : NAN);
        json_modes(j, job->run[r].run);
        json_linear(j, job->run[r].run);
        json_special(j, job->run[r].run);
        json_inverse(j, job->run[r].run);
        snw_field_object(j, "last");
        for (int i = 0; o->frames > 0 && i < info->ncolumn; i++) {
            char name[256];
            snw_column_name(&info->column[i], name, sizeof name);
            snw_field_number(j, name, o->value[i]);
        }
        snw_json_close(j);
        snw_json_close(j);
    }
    snw_json_close(j);
}

static snw_status cmd_run_summarise(const session *s, const snw_job *job, const char *output,
                                    const snw_job_outcome *outcomes, snw_error *err) {
    int frames = 0;
    for (int i = 0; i < job->n; i++) frames += outcomes[i].frames;
    if (s->reply->json) {
        snw_field_text(s->reply->json, "file", job->path);
        snw_field_text(s->reply->json, "output", frames > 0 ? output : NULL);
        json_summary(s->reply->json, job, outcomes);
        return SNW_OK;
    }
    const char *title = job->run[0].desc->title;
    printf("%s%s%s\n", job->path, title && title[0] ? ": " : "", title ? title : "");
    SNW_TRY(cmd_run_print_totals(job, outcomes, err));
    print_nodes(job, outcomes);
    SNW_TRY(print_modes(job, err));
    print_linear(job);
    SNW_TRY(print_special(job, err));
    print_inverse(job);
    SNW_TRY(print_values(job, outcomes, err));
    if (frames > 0) printf("\nresults in %s\n", output);
    return SNW_OK;
}

static bool all_kept(const snw_job *job, const snw_job_outcome *outcomes) {
    for (int i = 0; i < job->n; i++) {
        if (!outcomes[i].kept) return false;
    }
    return true;
}

static int run_job(const snw_job *job, const char *output, int workers, int increments,
                   snw_result *old, bool quiet, snw_reply *reply) {
    session s = {.reply = reply, .path = job->path, .meter = snw_meter_start(job->n, quiet)};
    const snw_job_hooks hooks = {.user = &s,
                                 .begin = cmd_run_begin,
                                 .progress = cmd_run_show_progress,
                                 .stop = cmd_run_should_stop,
                                 .warn = cmd_run_pass_warning,
                                 .note = cmd_run_pass_note,
                                 .fail = cmd_run_report};
    snw_error err = {0};
    snw_job_outcome *outcomes = NULL;
    reply->meter = &s.meter;
    snw_status status =
        snw_job_write(job, output, workers, increments, old, &hooks, &outcomes, &err);
    snw_meter_clear(&s.meter);
    reply->meter = NULL;
    if (outcomes && all_kept(job, outcomes) && !reply->json && !quiet) {
        printf("%s: all runs are finished, nothing to resume\n\n", output);
    }
    if (outcomes && (reply->json || !quiet)) {
        const snw_status shown = cmd_run_summarise(&s, job, output, outcomes, &err);
        if (shown != SNW_OK) snw_reply_fail(reply, &err);
        if (status == SNW_OK) status = shown;
    }
    snw_job_outcomes_free(job, outcomes);
    return status == SNW_OK ? SNW_EXIT_DONE : SNW_EXIT_FAILED;
}

static int cmd_run_run(const snw_args *args, snw_reply *reply) {
    const char *path = snw_args_operand(args, 0);
    char name[256];
    cmd_run_default_output(path, name, sizeof name);
    const char *output = snw_args_has(args, "output") ? snw_args_value(args, "output") : name;
    snw_error err = {0};
    snw_job job = {0};
    double increments = 0, workers = 1;
    snw_status status = snw_args_number(args, "increments", 1, INT_MAX, &increments, &err);
    if (status == SNW_OK) status = snw_args_number(args, "jobs", 1, 256, &workers, &err);
    if (status == SNW_OK) status = snw_job_open_args(path, args, &job, &err);
    if (status == SNW_OK) status = snw_job_refuse_output_model(job.document, output, &err);
    snw_result *old = NULL;
    if (status == SNW_OK && snw_args_has(args, "resume")) {
        status = snw_resume_open(output, &job, &old, &err);
    } else if (status == SNW_OK) {
        status = snw_replace_check(output, snw_args_has(args, "output"),
                                   snw_args_has(args, "force"), args, &job, reply, &err);
    }
    int exit_status = snw_reply_exit_input(status);
    if (status != SNW_OK) {
        snw_reply_fail(reply, &err);
    } else {
        exit_status = run_job(&job, output, (int)workers, (int)increments, old,
                              snw_args_has(args, "quiet"), reply);
    }
    snw_job_close(&job);
    return exit_status;
}

static const snw_option options[] = {
    {"output", 'o', "OUT.h5", false,
     "result file (default: FILE's name with .h5 in the current folder)"},
    SNW_OPTION_RUN,
    SNW_OPTION_SET,
    {"resume", 0, NULL, false, "continue the runs of OUT.h5 that were stopped, killed or failed"},
    {"force", 'f', NULL, false,
     "replace older results even if they were made with another --set or other runs"},
    {"increments", 0, "N", false,
     "end each run after N increments or time steps, as Ctrl-C would; the current equilibrium is "
     "finished, and --resume continues"},
    {"jobs", 'j', "N", false,
     "runs that are computed at the same time, by threads; the results have the same bits "
     "(default: "
     "1)"},
    {"quiet", 'q', NULL, false, "no progress and no summary, only messages"},
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_run = {
    .name = "run",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "run the study of a model file and write the results",
    .about =
        "Reads a model file, runs its study, once for each of its runs, and writes the results to "
        "an HDF5 file. Everything is checked before anything is written, and an older file of that "
        "name is replaced only when the new run has its first frame. Without -o an older file is "
        "not replaced if it was made with another --set, or contains runs that --run leaves out: "
        "give another name, or --force.\n\n"
        "Ctrl-C ends a run between two increments; the results computed so far are kept, also when "
        "a run fails or is killed. While the model is being read, Ctrl-C ends the command with "
        "status 1 and nothing is written. A second Ctrl-C ends the process at once.\n\n"
        "With --increments each run ends after that many increments. This is no failure: the "
        "status is 0, and the table and the file show the run as stopped.\n\n"
        "With --resume finished runs are kept, and the others continue from their last checkpoint; "
        "the results are identical to the last bit to those of an uninterrupted run. The model, "
        "--set and --run must be the same.",
    .option = options,
    .examples = "sinew run examples/rods/boyer2_follower.yaml\n"
                "sinew run arm.yaml -o soft.h5 --set rubber.young='1 MPa'\n"
                "sinew run sweep.yaml --run load --json\n"
                "sinew run sweep.yaml -j 4\n"
                "sinew run arm.yaml --increments 100\n"
                "sinew run arm.yaml -o soft.h5 --set rubber.young='1 MPa' --resume",
    .run = cmd_run_run,
};
