// SPDX-License-Identifier: MIT
//
// sinew show: prints a summary of a result file, time series of probes, or a comparison of runs.
#include "base/alloc.h"
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/compare.h"
#include "cli/grid.h"
#include "cli/linear_print.h"
#include "cli/special_points.h"
#include "job/choice.h"
#include "output/csv.h"
#include "results/result.h"
#include "study/series.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SHOWN_VALUES = 60 }; // last values in the summary of a run
enum { BLOCK = 1 << 14 };   // approximate number of values read at a time

// Reader of one run: blocks of frames, and the selected columns.
typedef struct cursor {
    snw_result *file;
    int run, ncolumn, nchosen, nframe, capacity;
    int *chosen;
    double *t, *value; // capacity, ncolumn x capacity
} cursor;

static void close_cursor(cursor *c) {
    snw_free(c->chosen);
    snw_free(c->t);
    snw_free(c->value);
    *c = (cursor){0};
}

static snw_status open_cursor(snw_result *file, int run, const snw_args *args, cursor *c,
                              snw_error *err) {
    const char *const *probe;
    const int nprobe = snw_args_values(args, "probe", &probe);
    const snw_run_info *info = snw_result_info(file, run);
    *c = (cursor){.file = file,
                  .run = run,
                  .ncolumn = info->ncolumn,
                  .nframe = snw_result_frames(file, run),
                  .capacity = info->ncolumn < BLOCK ? BLOCK / (info->ncolumn + 1) + 1 : 1};
    c->chosen = snw_alloc((size_t)c->ncolumn * sizeof *c->chosen);
    c->t = snw_alloc((size_t)c->capacity * sizeof *c->t);
    c->value = snw_alloc((size_t)c->capacity * (size_t)c->ncolumn * sizeof *c->value);
    if (!c->chosen || !c->t || !c->value) return snw_fail_memory(err);
    return snw_choose_columns(info, nprobe, probe, c->chosen, &c->nchosen, err);
}

// number of frames in the block that begins at `first`
static int block_at(const cursor *c, int first) {
    return c->nframe - first < c->capacity ? c->nframe - first : c->capacity;
}

static snw_status show_read_frames(cursor *c, int first, int n, snw_error *err) {
    SNW_TRY(snw_result_read(c->file, c->run, SNW_RESULT_T, first, n, c->t, err));
    return snw_result_read(c->file, c->run, SNW_RESULT_COLUMNS, first, n, c->value, err);
}

static double show_value_of(const cursor *c, int frame, int chosen) {
    return c->value[(size_t)frame * (size_t)c->ncolumn + (size_t)c->chosen[chosen]];
}

static void show_column_name(const cursor *c, int chosen, char *out, size_t size) {
    snw_column_name(&snw_result_info(c->file, c->run)->column[c->chosen[chosen]], out, size);
}

// ---- series ------------------------------------------------------------------------------------

// table of t and the selected columns, one line per frame
static snw_status print_series(cursor *c, snw_reply *reply, snw_error *err) {
    char name[256];
    printf("%12s", "t");
    for (int i = 0; i < c->nchosen; i++) {
        show_column_name(c, i, name, sizeof name);
        printf(" %16s", name);
    }
    printf("\n");
    for (int first = 0, n; first < c->nframe; first += n) {
        n = block_at(c, first);
        SNW_TRY(show_read_frames(c, first, n, err));
        for (int f = 0; f < n; f++) {
            printf("%12.6g", c->t[f]);
            for (int i = 0; i < c->nchosen; i++) printf(" %16.9g", show_value_of(c, f, i));
            printf("\n");
        }
        if (!snw_reply_flush(reply)) return SNW_OK;
    }
    return SNW_OK;
}

// one list of numbers; column -1 is the time
static snw_status json_column(snw_json *j, const char *key, const cursor *c, int column,
                              double *buffer, snw_error *err) {
    snw_field_list(j, key);
    for (int first = 0, n; first < c->nframe; first += n) {
        n = c->nframe - first < BLOCK ? c->nframe - first : BLOCK;
        if (column < 0) {
            SNW_TRY(snw_result_read(c->file, c->run, SNW_RESULT_T, first, n, buffer, err));
        } else {
            SNW_TRY(snw_result_read_column(c->file, c->run, column, first, n, buffer, err));
        }
        for (int i = 0; i < n; i++) snw_field_number(j, NULL, buffer[i]);
    }
    snw_json_close(j);
    return SNW_OK;
}

static snw_status json_series(snw_json *j, const cursor *c, snw_error *err) {
    double *buffer = snw_alloc(BLOCK * sizeof *buffer);
    if (!buffer) return snw_fail_memory(err);
    snw_status status = json_column(j, "t", c, -1, buffer, err);
    snw_field_object(j, "values");
    for (int i = 0; i < c->nchosen && status == SNW_OK; i++) {
        char name[256];
        show_column_name(c, i, name, sizeof name);
        status = json_column(j, name, c, c->chosen[i], buffer, err);
    }
    if (status == SNW_OK) snw_json_close(j);
    snw_free(buffer);
    return status;
}

// ---- summary -----------------------------------------------------------------------------------

// Largest estimated errors of the discretisation among all frames.
typedef struct errors {
    double geometry, quadrature;
    double truncation, frequency; // by the strain bases: of shapes, of frequencies; NaN: unknown
} errors;

static snw_status worst_errors(const cursor *c, errors *out, snw_error *err) {
    snw_stats *row = snw_alloc(BLOCK * sizeof *row);
    if (!row) return snw_fail_memory(err);
    *out = (errors){.truncation = NAN, .frequency = NAN};
    snw_status status = SNW_OK;
    for (int first = 0, n; first < c->nframe && status == SNW_OK; first += n) {
        n = c->nframe - first < BLOCK ? c->nframe - first : BLOCK;
        status = snw_result_read(c->file, c->run, SNW_RESULT_STATS, first, n, (double *)row, err);
        for (int i = 0; i < n && status == SNW_OK; i++) {
            out->geometry = fmax(out->geometry, row[i].geometry);
            out->quadrature = fmax(out->quadrature, row[i].quadrature);
            double *cut = row[i].mode > 0 ? &out->frequency : &out->truncation;
            *cut = fmax(*cut, row[i].truncation);
        }
    }
    snw_free(row);
    return status;
}

static snw_status print_errors(const cursor *c, snw_error *err) {
    errors e;
    if (c->nframe == 0) return SNW_OK;
    SNW_TRY(worst_errors(c, &e, err));
    printf("  estimated errors: geometry %.1e, quadrature %.1e", e.geometry, e.quadrature);
    if (!isnan(e.truncation)) printf(", basis %.1e", e.truncation);
    if (!isnan(e.frequency)) printf(", frequencies %.1e", e.frequency);
    printf("\n");
    return SNW_OK;
}

static snw_status json_errors(snw_json *j, const cursor *c, snw_error *err) {
    errors e;
    SNW_TRY(worst_errors(c, &e, err));
    snw_field_object(j, "errors");
    snw_field_number(j, "geometry", e.geometry);
    snw_field_number(j, "quadrature", e.quadrature);
    snw_field_number(j, "basis", e.truncation);
    snw_field_number(j, "frequencies", e.frequency);
    snw_json_close(j);
    return SNW_OK;
}

// Special points of the paths of a run: a table for each step, or fields of the list `special`.
static snw_status show_special(const cursor *c, snw_json *j, snw_error *err) {
    const snw_run_info *info = snw_result_info(c->file, c->run);
    snw_status s = SNW_OK;
    if (j) snw_field_list(j, "special");
    for (int i = 0; i < info->nstage && s == SNW_OK; i++) {
        snw_special_table table;
        s = snw_special_read(c->file, c->run, i, &table, err);
        if (s == SNW_OK && j) snw_special_json(j, &table, info->stage[i]);
        if (s == SNW_OK && !j) s = snw_special_print(&table, info->stage[i], err);
        snw_special_free(&table);
    }
    if (j) snw_json_close(j);
    return s;
}

// Linear models of the steps of a run: sizes and poles, or objects of the list `linear`; of one
// step alone all of it. `only`: the step of this name; NULL: all.
static snw_status show_linear(const cursor *c, const char *only, snw_json *j, snw_error *err) {
    const snw_run_info *info = snw_result_info(c->file, c->run);
    bool known = !only;
    if (j) snw_field_list(j, "linear");
    for (int i = 0; i < info->nlinear; i++) {
        const int stage = info->linear[i].stage;
        const snw_linear_model *m;
        if (only && strcmp(only, info->stage[stage]) != 0) continue;
        known = true;
        SNW_TRY(snw_result_linear(c->file, c->run, stage, &m, err));
        if (!m && only)
            return snw_fail(err, SNW_E_ARGUMENT, "run '%.100s' has not reached step '%.100s' yet",
                            info->run, only);
        if (m && j) snw_linear_json_step(j, m, info->stage[stage]);
        if (m && !j && only) snw_linear_print(m);
        if (m && !j && !only) snw_linear_print_step(m, info->stage[stage]);
    }
    if (j) snw_json_close(j);
    if (known) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "run '%.100s' has no linearize step '%.100s'", info->run,
                    only);
}

static snw_status print_summary(cursor *c, snw_error *err) {
    const snw_run_info *info = snw_result_info(c->file, c->run);
    const char *message;
    const snw_result_state state = snw_result_state_of(c->file, c->run, &message);
    printf("\n%s: %s, %d frames", info->run, snw_result_state_name(state), c->nframe);
    if (c->nframe > 0) {
        SNW_TRY(show_read_frames(c, 0, 1, err));
        const double t0 = c->t[0];
        SNW_TRY(show_read_frames(c, c->nframe - 1, 1, err));
        printf(", t = %g to %g s", t0, c->t[0]);
    }
    printf(", %d coordinate%s, %d nodes\n", info->nv, info->nv == 1 ? "" : "s", info->nnode);
    if (message && message[0]) printf("  %s\n", message);
    printf("  stages:");
    for (int i = 0; i < info->nstage; i++) printf(" %s", info->stage[i]);
    printf("\n");
    for (int i = 0; i < info->noverride; i++) {
        printf("%s%s: %s", i ? ", " : "  overrides: ", info->override[i].path,
               info->override[i].text);
    }
    if (info->noverride > 0) printf("\n");
    SNW_TRY(print_errors(c, err));
    if (c->nframe == 0 || c->nchosen == 0) return SNW_OK;

    snw_grid *g;
    SNW_TRY(snw_grid_create("lr", &g, err));
    snw_grid_cell(g, "probe");
    snw_grid_cell(g, "last value");
    int shown = 0;
    for (int i = 0; i < c->nchosen && shown < SHOWN_VALUES; i++) {
        if (!snw_column_is_brief(&info->column[c->chosen[i]])) continue;
        shown++;
        char name[256];
        show_column_name(c, i, name, sizeof name);
        snw_grid_cell(g, "%s", name);
        snw_grid_number(g, 9, show_value_of(c, 0, i));
    }
    const snw_status status = snw_grid_print(g, stdout, err);
    snw_grid_destroy(g);
    if (c->nchosen > shown) printf("  ... and %d more, see --probe\n", c->nchosen - shown);
    SNW_TRY(status);
    SNW_TRY(show_special(c, NULL, err));
    return show_linear(c, NULL, NULL, err);
}

static snw_status json_run(snw_json *j, cursor *c, const snw_args *args, snw_error *err) {
    const bool series = snw_args_has(args, "probe") || snw_args_has(args, "csv");
    const snw_run_info *info = snw_result_info(c->file, c->run);
    const char *message;
    const snw_result_state state = snw_result_state_of(c->file, c->run, &message);
    snw_field_object(j, NULL);
    snw_field_text(j, "run", info->run);
    snw_field_text(j, "state", snw_result_state_name(state));
    snw_field_text(j, "message", message && message[0] ? message : NULL);
    snw_field_integer(j, "frames", c->nframe);
    snw_field_integer(j, "degrees_of_freedom", info->nv);
    snw_field_integer(j, "nodes", info->nnode);
    snw_compare_json_overrides(j, info);
    snw_field_list(j, "stages");
    for (int i = 0; i < info->nstage; i++) snw_field_text(j, NULL, info->stage[i]);
    snw_json_close(j);
    SNW_TRY(json_errors(j, c, err));
    SNW_TRY(show_special(c, j, err));
    SNW_TRY(show_linear(c, snw_args_value(args, "linear"), j, err));
    if (series) SNW_TRY(json_series(j, c, err));
    snw_field_object(j, "last");
    if (c->nframe > 0) {
        SNW_TRY(show_read_frames(c, c->nframe - 1, 1, err));
        snw_field_number(j, "t", c->t[0]);
        for (int i = 0; i < c->nchosen; i++) {
            char name[256];
            show_column_name(c, i, name, sizeof name);
            snw_field_number(j, name, show_value_of(c, 0, i));
        }
    }
    snw_json_close(j);
    snw_json_close(j);
    return SNW_OK;
}

// ---- the command -------------------------------------------------------------------------------

static snw_status show_run(snw_result *file, int run, const snw_args *args, snw_reply *reply,
                           snw_error *err) {
    const bool csv = snw_args_has(args, "csv"), series = snw_args_has(args, "probe");
    cursor c;
    snw_status status = open_cursor(file, run, args, &c, err);
    if (status == SNW_OK && reply->json) {
        status = json_run(reply->json, &c, args, err);
    } else if (status == SNW_OK && snw_args_has(args, "linear")) {
        status = show_linear(&c, snw_args_value(args, "linear"), NULL, err);
    } else if (status == SNW_OK && csv) {
        status = snw_csv_write(file, run, c.nchosen, c.chosen, snw_sink_stream(stdout), err);
    } else if (status == SNW_OK && series) {
        status = print_series(&c, reply, err);
    } else if (status == SNW_OK) {
        status = print_summary(&c, err);
    }
    close_cursor(&c);
    return status;
}

// is only a table of numbers printed, without a summary?
static bool wants_lines(const snw_args *args) {
    return snw_args_has(args, "csv") || snw_args_has(args, "probe") || snw_args_has(args, "linear");
}

static snw_status show_choose_runs(const snw_result *file, const snw_args *args, int *chosen,
                                   int *n, snw_error *err) {
    const char *const *wanted;
    const int nwanted = snw_args_values(args, "run", &wanted);
    const int total = snw_result_runs(file);
    const char **name = snw_alloc((size_t)total * sizeof *name);
    if (!name) return snw_fail_memory(err);
    for (int i = 0; i < total; i++) name[i] = snw_result_info(file, i)->run;
    snw_status status = snw_choose_runs(total, name, nwanted, wanted, chosen, n, err);
    if (status == SNW_OK && *n > 1 && wants_lines(args) && !snw_compare_asked(args) &&
        !snw_args_has(args, "json")) {
        status = snw_fail(err, SNW_E_ARGUMENT,
                          "a table over time or a linear model is that of one run, and there are "
                          "%d; choose, e.g. --run %s, or compare them, --at end",
                          *n, name[chosen[0]]);
    }
    snw_free(name);
    return status;
}

static snw_status show_file(snw_result *file, const snw_args *args, snw_reply *reply,
                            snw_error *err) {
    int n;
    int *chosen = snw_alloc((size_t)snw_result_runs(file) * sizeof *chosen);
    if (!chosen) return snw_fail_memory(err);
    snw_status status = show_choose_runs(file, args, chosen, &n, err);
    const bool lines = wants_lines(args) || snw_compare_asked(args);
    if (status == SNW_OK && reply->json) {
        snw_field_text(reply->json, "file", snw_args_operand(args, 0));
        snw_field_text(reply->json, "version", snw_result_version(file));
        snw_field_text(reply->json, "created", snw_result_created(file));
        snw_field_list(reply->json, "runs");
    } else if (status == SNW_OK && !lines) {
        const char *title = n > 0 ? snw_result_info(file, chosen[0])->title : "";
        printf("%s: %s\nwritten by sinew %s, %s\n", snw_args_operand(args, 0),
               title && title[0] ? title : "(no title)", snw_result_version(file),
               snw_result_created(file));
    }
    if (status == SNW_OK && snw_compare_asked(args)) {
        status = snw_compare_runs(file, n, chosen, args, reply, err);
        n = 0;
    }
    for (int i = 0; status == SNW_OK && i < n; i++) {
        status = show_run(file, chosen[i], args, reply, err);
    }
    snw_free(chosen);
    return status;
}

static int cmd_show_run(const snw_args *args, snw_reply *reply) {
    const char *path = snw_args_operand(args, 0);
    snw_error err = {0};
    snw_result *file;
    snw_status status = snw_result_open(path, &file, &err);
    if (status == SNW_OK) {
        if (snw_args_has(args, "model") && !reply->json) {
            (void)fputs(snw_result_model(file), stdout);
        } else {
            status = show_file(file, args, reply, &err);
        }
        snw_result_close(file);
    }
    if (status != SNW_OK && ferror(stdout)) {
        snw_reply_unwritten(reply, &err);
        return SNW_EXIT_FAILED;
    }
    if (status != SNW_OK) snw_reply_fail(reply, &err);
    return snw_reply_exit_input(status);
}

static const snw_option options[] = {
    {"run", 0, "NAME", true, "only this run; may be repeated"},
    {"probe", 0, "NAMES", true,
     "the values of these probes at every instant: tip, or components, tip.x,tip.z. May be "
     "repeated"},
    {"csv", 0, NULL, false, "a header line, then t and the components, separated by commas"},
    SNW_OPTION_COMPARE,
    {"linear", 0, "STEP", false, "the linear model that this linearize step has made"},
    {"model", 0, NULL, false, "the text of the model the results were computed from"},
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_show = {
    .name = "show",
    .operands = "OUT.h5",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "print results",
    .about = "Lists the contents of a result file: its runs, how they ended, their stages, frames "
             "and last values. With --probe or --csv it prints values over time; with --at or --is "
             "it compares the runs, one line each, with the overrides in which they differ; with "
             "--linear it prints a linear model. The run may still be writing the file, or have "
             "been killed.",
    .option = options,
    .examples = "sinew show boyer2_follower.h5\n"
                "sinew show boyer2_follower.h5 --probe tip\n"
                "sinew show sweep.h5 --run load.3 --csv > load3.csv\n"
                "sinew show sweep.h5 --at end --probe tip\n"
                "sinew show sweep.h5 --is size --probe e.balance\n"
                "sinew show eel.h5 --is mean --over 5..6 --probe go.speed",
    .run = cmd_show_run,
};
