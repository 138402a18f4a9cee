// SPDX-License-Identifier: MIT
//
// sinew plot: draws probes, phase plots, shapes, energies or convergence of result files as a
// figure.
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/converge.h"
#include "cli/optimize_log.h"
#include "cli/output.h"
#include "cli/plot_cairo.h"
#include "job/choice.h"
#include "job/job.h"
#include "output/plot_data.h"
#include "output/plot_family.h"
#include "output/plot_map.h"
#include "output/plot_svg.h"
#include "output/plot_sweep.h"
#include "results/sweep_file.h"
#include "results/workspace_file.h"
#include "study/series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PANELS = 8, MOST_RUNS = 64, SHAPES = 8, MOST_SHAPES = 100 };
static const double WIDTH = 160;                   // mm, text width of most journals
static const double MAP = 100;                     // mm, of one of several maps
static const double SMALLEST = 20, LARGEST = 2000; // width and height of the figure, mm
static const double DPI = 300;

typedef enum format { SVG, PNG, PDF } format;

// Arguments of the command, the open result files, and the figure.
typedef struct job {
    const snw_args *args;
    snw_pool *pool;
    int nfile, nrun;
    snw_result **file;
    snw_plot_run *run;
    const char *output;
    format format;
    snw_figure figure;
    snw_figure_row row; // figures side by side; of all but sweeps the one above
    double width, height;
    snw_converge converge; // --convergence
    bool map;              // the file is a map of a workspace
    const char *title;     // of a sweep; NULL: of the first run
} job;

// ---- values of options -------------------------------------------------------------------------

// All values of an option, split at commas.
static snw_status plot_read_list(const job *j, const char *option, int *n, const char ***out,
                                 snw_error *err) {
    const char *const *value;
    const int given = snw_args_values(j->args, option, &value);
    size_t most = 0;
    for (int i = 0; i < given; i++) {
        most++;
        for (const char *c = value[i]; *c; c++) most += *c == ',';
    }
    *n = 0;
    *out = snw_pool_array(j->pool, most, sizeof **out);
    if (!*out) return snw_fail_memory(err);
    for (int i = 0; i < given; i++) {
        for (const char *c = value[i]; c; c = strchr(c, ',') ? strchr(c, ',') + 1 : NULL) {
            const size_t length = strcspn(c, ",");
            (*out)[*n] = snw_pool_text(j->pool, c, length);
            if (!(*out)[(*n)++]) return snw_fail_memory(err);
        }
    }
    return SNW_OK;
}

static bool plot_number(const char *text, const char *rest, double *out) {
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return end != text && errno == 0 && isfinite(*out) && strcmp(end, rest) == 0;
}

// width, height of --size, "160x90", in mm
static snw_status read_size(const snw_args *args, double *width, double *height, snw_error *err) {
    const char *text = snw_args_value(args, "size");
    *width = WIDTH;
    *height = 0;
    if (!text) return SNW_OK;
    char first[32] = "";
    const char *x = strchr(text, 'x');
    if (x && (size_t)(x - text) < sizeof first) memcpy(first, text, (size_t)(x - text));
    if (x && plot_number(first, "", width) && plot_number(x + 1, "", height) &&
        *width >= SMALLEST && *width <= LARGEST && *height >= SMALLEST && *height <= LARGEST) {
        return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT,
                    "--size takes width x height in mm from %g to %g, e.g. 160x90, not '%s'",
                    SMALLEST, LARGEST, text);
}

static snw_status plot_read_format(const char *output, format *out, snw_error *err) {
    static const char *const ending[] = {".svg", ".png", ".pdf"};
    const size_t length = strlen(output);
    for (int i = 0; i < 3; i++) {
        if (length > 4 && strcmp(output + length - 4, ending[i]) == 0) {
            *out = (format)i;
            return *out == SVG ? SNW_OK : snw_cairo_check(err);
        }
    }
    return snw_fail(err, SNW_E_ARGUMENT, "figures are .svg, .png or .pdf; '%s' is none of these",
                    output);
}

// the times of --at
static snw_status read_times(const job *j, int *n, double **out, snw_error *err) {
    const char **text;
    SNW_TRY(plot_read_list(j, "at", n, &text, err));
    *out = snw_pool_array(j->pool, (size_t)*n, sizeof **out);
    if (!*out) return snw_fail_memory(err);
    for (int i = 0; i < *n; i++) {
        if (plot_number(text[i], "", &(*out)[i])) continue;
        return snw_fail(err, SNW_E_ARGUMENT, "--at takes times in seconds, e.g. 0,0.5,1, not '%s'",
                        text[i]);
    }
    return SNW_OK;
}

static snw_status plot_read_shape(const job *j, snw_shape_opts *o, snw_error *err) {
    static const char axes[] = "xyz";
    const char **text;
    *o = (snw_shape_opts){.count = SHAPES, .plane = {-1, -1}};
    SNW_TRY(plot_read_list(j, "link", &o->nlink, &text, err));
    o->link = text;
    double *time;
    SNW_TRY(read_times(j, &o->ntime, &time, err));
    o->time = time;
    const char *count = snw_args_value(j->args, "count"), *plane = snw_args_value(j->args, "plane");
    double value;
    if (count) {
        if (!plot_number(count, "", &value) || value != floor(value) || value < 1 ||
            value > MOST_SHAPES) {
            return snw_fail(err, SNW_E_ARGUMENT, "--count takes a number from 1 to %d, not '%s'",
                            MOST_SHAPES, count);
        }
        o->count = (int)value;
    }
    if (!plane) return SNW_OK;
    for (int i = 0; i < 2; i++) {
        const char *axis = plane[0] && plane[i] ? strchr(axes, plane[i]) : NULL;
        o->plane[i] = axis ? (int)(axis - axes) : -1;
    }
    if (strlen(plane) == 2 && o->plane[0] >= 0 && o->plane[1] >= 0 && plane[0] != plane[1]) {
        return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT, "--plane takes two of x, y and z, e.g. xz, not '%s'",
                    plane);
}

// ---- files and runs ----------------------------------------------------------------------------

// name of a file without folder and extension
static const char *stem(snw_pool *pool, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return snw_pool_text(pool, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static snw_status plot_choose_runs(const job *j, const snw_result *file, int *chosen, int *n,
                                   snw_error *err) {
    const char **wanted;
    int nwanted;
    SNW_TRY(plot_read_list(j, "run", &nwanted, &wanted, err));
    const int total = snw_result_runs(file);
    const char **name = snw_pool_array(j->pool, (size_t)total, sizeof *name);
    if (!name) return snw_fail_memory(err);
    for (int i = 0; i < total; i++) name[i] = snw_result_info(file, i)->run;
    return snw_choose_runs(total, name, nwanted, wanted, chosen, n, err);
}

// Open all files and list the selected runs that have frames.
static snw_status open_runs(job *j, snw_error *err) {
    const int nfile = snw_args_operands(j->args);
    j->file = snw_pool_array(j->pool, (size_t)nfile, sizeof(snw_result *));
    j->run = snw_pool_array(j->pool, MOST_RUNS, sizeof *j->run);
    if (!j->file || !j->run) return snw_fail_memory(err);
    for (int i = 0; i < nfile; i++) {
        const char *path = snw_args_operand(j->args, i);
        SNW_TRY(snw_result_open(path, &j->file[i], err));
        j->nfile = i + 1;
        int n;
        int *chosen = snw_pool_array(j->pool, (size_t)snw_result_runs(j->file[i]), sizeof *chosen);
        const char *own = stem(j->pool, path);
        if (!chosen || !own) return snw_fail_memory(err);
        SNW_TRY(plot_choose_runs(j, j->file[i], chosen, &n, err));
        for (int k = 0; k < n; k++) {
            if (snw_result_frames(j->file[i], chosen[k]) == 0) continue;
            if (j->nrun == MOST_RUNS) {
                return snw_fail(err, SNW_E_ARGUMENT,
                                "a figure shows at most %d runs; choose with --run", MOST_RUNS);
            }
            const char *run = snw_result_info(j->file[i], chosen[k])->run;
            const char *name = nfile == 1 ? run
                               : n == 1   ? own
                                          : snw_pool_format(j->pool, "%s %s", own, run);
            if (!name) return snw_fail_memory(err);
            j->run[j->nrun++] = (snw_plot_run){.file = j->file[i], .run = chosen[k], .name = name};
        }
    }
    if (j->nrun == 1) j->run[0].name = NULL;
    if (j->nrun > 0) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "there is no frame to show yet; wait for the run, or see 'sinew show'");
}

// ---- columns -----------------------------------------------------------------------------------

// Is the column itself among the wanted names, not only its probe?
static bool plot_is_named(const snw_column *c, int n, const char *const *wanted) {
    char name[256];
    snw_column_name(c, name, sizeof name);
    for (int i = 0; i < n; i++) {
        if (strcmp(name, wanted[i]) == 0) return true;
    }
    return false;
}

static snw_status choose_probes(const job *j, snw_error *err) {
    const char **wanted;
    int n;
    SNW_TRY(plot_read_list(j, "probe", &n, &wanted, err));
    for (int i = 0; i < j->nrun; i++) {
        const snw_run_info *info = snw_result_info(j->run[i].file, j->run[i].run);
        int *chosen = snw_pool_array(j->pool, (size_t)info->ncolumn, sizeof *chosen);
        int all, kept = 0;
        if (!chosen) return snw_fail_memory(err);
        SNW_TRY(snw_choose_columns(info, n, wanted, chosen, &all, err));
        for (int k = 0; k < all; k++) {
            const snw_column *c = &info->column[chosen[k]];
            if (snw_column_is_brief(c) || plot_is_named(c, n, wanted)) chosen[kept++] = chosen[k];
        }
        if (kept == 0) {
            return snw_fail(err, SNW_E_ARGUMENT, "run '%s' has no probes; try --shape or --energy",
                            info->run);
        }
        j->run[i].ncolumn = kept;
        j->run[i].column = chosen;
    }
    return SNW_OK;
}

// the two columns of --phase, in the order given
static snw_status choose_phase_columns(const job *j, snw_error *err) {
    const char **wanted;
    int n;
    SNW_TRY(plot_read_list(j, "phase", &n, &wanted, err));
    if (n != 2) {
        return snw_fail(err, SNW_E_ARGUMENT, "--phase takes two probes, e.g. tip.x,tip.z");
    }
    for (int i = 0; i < j->nrun; i++) {
        const snw_run_info *info = snw_result_info(j->run[i].file, j->run[i].run);
        int *pair = snw_pool_array(j->pool, 2, sizeof *pair);
        int *chosen = snw_pool_array(j->pool, (size_t)info->ncolumn, sizeof *chosen);
        if (!pair || !chosen) return snw_fail_memory(err);
        for (int k = 0; k < 2; k++) {
            int count;
            SNW_TRY(snw_choose_columns(info, 1, &wanted[k], chosen, &count, err));
            if (count != 1) {
                char name[256];
                snw_column_name(&info->column[chosen[0]], name, sizeof name);
                return snw_fail(err, SNW_E_ARGUMENT,
                                "'%s' has %d components; choose one for --phase, e.g. %s",
                                wanted[k], count, name);
            }
            pair[k] = chosen[0];
        }
        j->run[i].ncolumn = 2;
        j->run[i].column = pair;
    }
    return SNW_OK;
}

// ---- the figure --------------------------------------------------------------------------------

// figure of errors over a parameter in which the runs differ
static snw_status make_convergence(job *j, snw_error *err) {
    int n;
    double *time;
    SNW_TRY(read_times(j, &n, &time, err));
    if (n > 1) {
        return snw_fail(err, SNW_E_ARGUMENT, "--convergence takes one time, --at has %d", n);
    }
    SNW_TRY(choose_probes(j, err));
    return snw_converge_make(j->pool, j->args, j->nrun, j->run, n > 0 ? time : NULL, &j->converge,
                             &j->figure, err);
}

static snw_status check_panels(const job *j, snw_error *err) {
    if (j->figure.npanel <= MOST_PANELS) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "%d quantities are more than the %d panels a figure has; choose with --probe",
                    j->figure.npanel, MOST_PANELS);
}

// add measured data of --data to the probes of the first run
static snw_status add_data(job *j, snw_error *err) {
    const char *const *path;
    const int n = snw_args_values(j->args, "data", &path);
    for (int i = 0; i < n; i++) {
        snw_data_table m;
        const char *slash = strrchr(path[i], '/');
        SNW_TRY(snw_measured_read(j->pool, path[i], &m, err));
        SNW_TRY(snw_plot_measured(j->pool, &j->run[0], &m, slash ? slash + 1 : path[i], &j->figure,
                                  err));
    }
    return SNW_OK;
}

static snw_status make_figure(job *j, snw_error *err) {
    static const char *const kinds[] = {"probe", "phase", "shape", "energy"};
    if (snw_args_has(j->args, "data") &&
        (snw_args_has(j->args, "phase") || snw_args_has(j->args, "shape") ||
         snw_args_has(j->args, "energy") || snw_args_has(j->args, "convergence"))) {
        return snw_fail(err, SNW_E_ARGUMENT, "--data needs probes over time");
    }
    if (snw_args_has(j->args, "convergence")) {
        if (snw_args_has(j->args, "phase") || snw_args_has(j->args, "shape") ||
            snw_args_has(j->args, "energy")) {
            return snw_fail(err, SNW_E_ARGUMENT,
                            "--convergence takes only --probe; leave out the others");
        }
        SNW_TRY(make_convergence(j, err));
        return check_panels(j, err);
    }
    int given = 0;
    for (int i = 0; i < 4; i++) given += snw_args_has(j->args, kinds[i]);
    if (given > 1) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "a figure shows one of --probe, --phase, --shape and --energy");
    }
    SNW_TRY(snw_plot_family(j->pool, j->nrun, j->run, err));
    if (snw_args_has(j->args, "phase")) {
        SNW_TRY(choose_phase_columns(j, err));
        return snw_plot_phase(j->pool, j->nrun, j->run, &j->figure, err);
    }
    if (snw_args_has(j->args, "energy")) {
        return snw_plot_energy(j->pool, j->nrun, j->run, &j->figure, err);
    }
    if (snw_args_has(j->args, "shape")) {
        snw_shape_opts opts;
        SNW_TRY(plot_read_shape(j, &opts, err));
        return snw_plot_shape(j->pool, j->nrun, j->run, &opts, &j->figure, err);
    }
    SNW_TRY(choose_probes(j, err));
    SNW_TRY(snw_plot_probes(j->pool, j->nrun, j->run, &j->figure, err));
    SNW_TRY(add_data(j, err));
    return check_panels(j, err);
}

// figure of a map of a workspace, instead of results
static snw_status make_map(job *j, snw_error *err) {
    static const char *const others[] = {"probe", "shape", "energy", "convergence", "data", "run"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (snw_args_has(j->args, others[i]))
            return snw_fail(err, SNW_E_ARGUMENT,
                            "a map of a workspace takes --phase and --size, not --%s", others[i]);
    }
    if (snw_args_operands(j->args) > 1)
        return snw_fail(err, SNW_E_ARGUMENT, "a figure shows one map; give one file");
    const char **column;
    int n;
    SNW_TRY(plot_read_list(j, "phase", &n, &column, err));
    if (n != 0 && n != 2)
        return snw_fail(err, SNW_E_ARGUMENT, "--phase takes two columns, e.g. tip.x,tip.z");
    snw_workspace map;
    SNW_TRY(snw_workspace_read(snw_args_operand(j->args, 0), j->pool, &map, err));
    return snw_plot_map(j->pool, &map, n ? column : NULL, &j->figure, err);
}

// figures of the results of a sweep over its parameters
static snw_status make_sweep(job *j, snw_error *err) {
    static const char *const others[] = {"phase", "shape", "energy", "convergence", "data", "run"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (snw_args_has(j->args, others[i]))
            return snw_fail(err, SNW_E_ARGUMENT,
                            "a sweep takes --probe, its results, --over and --size, not --%s",
                            others[i]);
    }
    if (snw_args_operands(j->args) > 1)
        return snw_fail(err, SNW_E_ARGUMENT, "a figure shows one sweep; give one file");
    snw_sweep_figure how;
    const char **text;
    SNW_TRY(plot_read_list(j, "probe", &how.nresult, &text, err));
    how.result = text;
    SNW_TRY(plot_read_list(j, "over", &how.nover, &text, err));
    how.over = text;
    snw_sweep_table *t = snw_pool_take(j->pool, sizeof *t);
    if (!t) return snw_fail_memory(err);
    SNW_TRY(snw_sweep_table_read(snw_args_operand(j->args, 0), j->pool, t, err));
    j->title = t->head.title[0] ? snw_plot_text(j->pool, t->head.title) : "Sweep";
    SNW_TRY(snw_plot_sweep(j->pool, t, &how, &j->row, err));
    j->figure = j->row.figure[0];
    // maps have legends of their own
    const snw_panel *panel = j->figure.panel;
    bool names = false;
    for (int i = 0; i < panel->ncurve; i++) names = names || panel->curve[i].name;
    if (names && !snw_args_has(j->args, "size")) j->width = fmax(WIDTH, MAP * j->row.n);
    return SNW_OK;
}

static snw_status write_svg(job *j, snw_sink to, snw_plot_row_layout *l, snw_error *err) {
    snw_svg svg = {.out.sink = to};
    const snw_canvas canvas = snw_svg_canvas(&svg);
    SNW_TRY(snw_plot_row_lay_out(&j->row, j->width, j->height, &canvas, j->pool, l, err));
    const char *title =
        j->title ? j->title
        : j->map ? "Workspace"
        : j->nrun > 0
            ? snw_plot_text(j->pool, snw_result_info(j->run[0].file, j->run[0].run)->title)
            : "Course of an optimisation";
    snw_svg_begin(&svg, l->width, l->height, title && title[0] ? title : "Figure");
    snw_plot_row_draw(&j->row, l, &canvas);
    snw_svg_end(&svg);
    return SNW_OK; // write errors are reported when the file is closed
}

static snw_status write_cairo(job *j, snw_sink to, snw_plot_row_layout *l, snw_error *err) {
    snw_cairo *cairo;
    SNW_TRY(snw_cairo_create(&cairo, err));
    const snw_canvas canvas = snw_cairo_canvas(cairo);
    snw_status status =
        snw_plot_row_lay_out(&j->row, j->width, j->height, &canvas, j->pool, l, err);
    if (status == SNW_OK) {
        status = snw_cairo_begin(cairo, l->width, l->height, j->format == PNG ? DPI : 0, to, err);
    }
    if (status == SNW_OK) {
        snw_plot_row_draw(&j->row, l, &canvas);
        status = snw_cairo_end(cairo, err);
    }
    snw_cairo_destroy(cairo);
    return status;
}

static snw_status write_figure(job *j, snw_plot_row_layout *l, snw_error *err) {
    for (int i = 0; i < snw_args_operands(j->args); i++) {
        SNW_TRY(snw_job_refuse_output("results", snw_args_operand(j->args, i), j->output, err));
    }
    snw_output out;
    SNW_TRY(snw_output_open(j->output, &out, err));
    const snw_sink to = snw_output_sink(&out);
    const snw_status status =
        j->format == SVG ? write_svg(j, to, l, err) : write_cairo(j, to, l, err);
    return snw_output_close(&out, status, err);
}

// ---- the command -------------------------------------------------------------------------------

static void plot_report(snw_reply *reply, const job *j, const snw_plot_row_layout *l) {
    if (!reply->json) {
        printf("figure in %s\n", j->output);
        return;
    }
    snw_field_text(reply->json, "figure", j->output);
    snw_field_number(reply->json, "width", l->width);
    snw_field_number(reply->json, "height", l->height);
    snw_field_integer(reply->json, "runs", j->nrun);
    snw_field_list(reply->json, "panels");
    for (int k = 0; k < j->row.n; k++) {
        const snw_figure *f = &j->row.figure[k];
        for (int i = 0; i < f->npanel; i++) {
            snw_field_object(reply->json, NULL);
            snw_field_text(reply->json, "axis", l->figure[k].panel[i].y.title);
            snw_field_integer(reply->json, "curves", f->panel[i].ncurve);
            snw_json_close(reply->json);
        }
    }
    snw_json_close(reply->json);
}

// A table of `sinew optimize --log`, not a result file?
static bool is_search(const char *path) {
    const size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".csv") == 0;
}

static snw_status plot(job *j, snw_reply *reply, snw_error *err) {
    j->output = snw_args_value(j->args, "output");
    if (!j->output) {
        const char *own = stem(j->pool, snw_args_operand(j->args, 0));
        j->output = own ? snw_pool_format(j->pool, "%s.svg", own) : NULL;
        if (!j->output) return snw_fail_memory(err);
    }
    SNW_TRY(plot_read_format(j->output, &j->format, err));
    SNW_TRY(read_size(j->args, &j->width, &j->height, err));
    j->map = snw_workspace_is_file(snw_args_operand(j->args, 0));
    const bool sweep = !j->map && snw_sweep_is_file(snw_args_operand(j->args, 0));
    if (!sweep && snw_args_has(j->args, "over"))
        return snw_fail(err, SNW_E_ARGUMENT, "--over names parameters of a sweep; these are none");
    if (is_search(snw_args_operand(j->args, 0))) {
        if (snw_args_operands(j->args) > 1)
            return snw_fail(err, SNW_E_ARGUMENT, "the table of an optimisation is drawn by itself");
        SNW_TRY(snw_job_refuse_output("table", snw_args_operand(j->args, 0), j->output, err));
        SNW_TRY(snw_optimize_log_figure(j->pool, snw_args_operand(j->args, 0), &j->figure, err));
    } else if (j->map) {
        SNW_TRY(make_map(j, err));
    } else if (sweep) {
        SNW_TRY(make_sweep(j, err));
    } else {
        SNW_TRY(open_runs(j, err));
        SNW_TRY(make_figure(j, err));
    }
    if (j->row.n == 0) j->row = (snw_figure_row){.n = 1, .figure = &j->figure};
    snw_plot_row_layout layout;
    SNW_TRY(write_figure(j, &layout, err));
    if (j->nrun > 0 && snw_args_has(j->args, "convergence")) {
        SNW_TRY(snw_converge_print(&j->converge, j->nrun, j->run, reply, err));
    }
    plot_report(reply, j, &layout);
    return SNW_OK;
}

static int plot_run(const snw_args *args, snw_reply *reply) {
    const size_t limit = (size_t)2 << 30;
    snw_error err = {0};
    job j = {.args = args, .pool = snw_pool_create(limit)};
    const snw_status status = j.pool ? plot(&j, reply, &err) : snw_fail_memory(&err);
    for (int i = 0; i < j.nfile; i++) snw_result_close(j.file[i]);
    snw_pool_destroy(j.pool);
    if (status == SNW_OK) return SNW_EXIT_DONE;
    snw_reply_fail(reply, &err);
    const bool missing = j.format != SVG && snw_cairo_check(NULL) != SNW_OK;
    if (missing) return SNW_EXIT_FAILED;
    return j.figure.npanel > 0 ? snw_reply_exit_work(status) : snw_reply_exit_input(status);
}

static const snw_option options[] = {
    {"output", 'o', "FILE", false,
     "output file, .svg, .png or .pdf (default: OUT.svg in the current folder)"},
    {"probe", 0, "NAMES", true,
     "these probes over time, one panel per quantity: tip, or tip.x,tip.z. May be repeated "
     "(default: all probes, if no other option chooses the figure)"},
    {"over", 0, "NAMES", true,
     "of a sweep: over these parameters. One: lines, a curve for each combination of the others; "
     "two: maps, with contours where the rows are a grid; more: a scatter matrix. May be repeated "
     "(default: all that vary)"},
    {"data", 0, "FILE.csv", true,
     "measurements, drawn as dots beside the probes: columns t, then names of probe components, "
     "tip.x, in SI; blank fields are left out. May be repeated"},
    {"phase", 0, "X,Y", false,
     "one probe over another, e.g. tip.x,tip.z; of a path of equilibria the unstable parts dashed, "
     "folds and branch points as dots; of a map, its columns (default: the two of largest extent)"},
    {"shape", 0, NULL, false, "rods, bodies and tendons at some instants"},
    {"link", 0, "NAMES", true, "with --shape: only these links. May be repeated"},
    {"at", 0, "TIMES", true,
     "with --shape: the instants in seconds, e.g. 0,0.5,1; with --convergence: one, instead of "
     "the end"},
    {"count", 0, "N", false,
     "with --shape: number of instants, evenly spaced in time (default: 8)"},
    {"plane", 0, "AXES", false,
     "with --shape: plane of projection, xy, xz or yz (default: the one with most motion)"},
    {"energy", 0, NULL, false, "energies over time, and below the error of their balance"},
    SNW_OPTION_CONVERGENCE,
    {"size", 0, "WxH", false,
     "size of the paper in mm, e.g. 160x90 (default: 160 wide, height chosen)"},
    {"run", 0, "NAMES", true,
     "only these runs; the name before the dot chooses all runs of an `each`. May be repeated"},
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_plot = {
    .name = "plot",
    .operands = "OUT.h5...",
    .min_operands = 1,
    .max_operands = 16,
    .brief = "draw a figure of results for print",
    .about =
        "Draws a figure for a paper from result files: probes over time, one over another, "
        "shapes of the robot, its energies, or the convergence of errors from run to run; "
        "of a table of 'sinew optimize --log' cost and violation over the evaluations. "
        "Runs, also of several files, are drawn in the same panels; runs of an `each` are named by "
        "the values in which they differ, and shaded in their order. Axes have round numbers "
        "and SI prefixes; the colours are distinguishable for the colour-blind.\n\n"
        "The file may also be a map by sinew workspace: what is reached, coloured by its "
        "distance to singularity, and the boundary by its kinds; or the results of sinew sweep, "
        "which are drawn over its parameters.\n\n"
        "Text in SVG stays text. PNG has 300 pixels per inch. The run may still be writing "
        "the file.",
    .option = options,
    .examples = "sinew plot arm.h5 --probe tip.x,tip.z -o tip.pdf\n"
                "sinew plot slow.h5 fast.h5 --phase tip.x,tip.z -o path.svg\n"
                "sinew plot arm.h5 --shape --count 12 --plane xz -o shapes.png\n"
                "sinew plot arm.h5 --energy --size 85x60\n"
                "sinew plot sweep.h5 --over silicone.young --probe reach\n"
                "sinew plot steps.h5 --convergence swing.step --probe tip.z -o order.svg",
    .run = plot_run,
};
