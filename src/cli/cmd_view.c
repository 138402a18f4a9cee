// SPDX-License-Identifier: MIT
//
// sinew view: writes result files as one HTML page with the viewer and the data.
#include "base/alloc.h"
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/view_sweep.h"
#include "cli/viewer.h"
#include "job/choice.h"
#include "job/job.h"
#include "output/page.h"

#include <string.h>

// ---- the page ----------------------------------------------------------------------------------

static const size_t POOL_LIMIT = (size_t)1 << 30; // bytes of measurements

// Content security policy: the page may make no network request.
static const char policy[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">";

// Result files, and their chosen runs in one list.
typedef struct view {
    int nfile;
    snw_result **file;
    const char **name; // of each file, for display
    int n;
    snw_page_source *source;
    snw_page_info *info;
    int nmeasured; // files of --data
    snw_measured *measured;
    bool is_sweep; // the file is that of a sweep
    snw_view_sweep sweep;
} view;

static const char *run_name(const snw_page_source *s) {
    return snw_result_info(s->file, s->run)->run;
}

static snw_status write_page(const view *v, snw_sink to, snw_error *err) {
    snw_viewer_pieces page;
    if (!snw_viewer_split(&page)) return SNW_E_IO; // reported by view_run
    snw_page_opts opts = snw_page_defaults();
    opts.nmeasured = v->nmeasured;
    opts.measured = v->measured;
    if (v->is_sweep) opts.sweep = &v->sweep.page;
    (void)to.write(to.user, page.text[0], page.size[0]);
    (void)to.write(to.user, policy, sizeof policy - 1);
    (void)to.write(to.user, page.text[1], page.size[1]);
    SNW_TRY(snw_page_write(v->n, v->source, &opts, to, v->info, err));
    (void)to.write(to.user, page.text[2], page.size[2]);
    return SNW_OK; // write errors are reported when the file is closed
}

// ---- files and runs ----------------------------------------------------------------------------

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Name of a file without its folder, or its whole path where another file has the same name.
static const char *view_name(const snw_args *args, int i) {
    const char *path = snw_args_operand(args, i);
    for (int k = 0; k < snw_args_operands(args); k++) {
        const char *other = snw_args_operand(args, k);
        if (k != i && strcmp(base_name(path), base_name(other)) == 0) return path;
    }
    return base_name(path);
}

static snw_status view_open(view *v, const snw_args *args, snw_error *err) {
    const int n = snw_args_operands(args);
    v->file = snw_alloc((size_t)n * sizeof *v->file);
    v->name = snw_alloc((size_t)n * sizeof *v->name);
    if (!v->file || !v->name) return snw_fail_memory(err);
    v->is_sweep = n == 1 && snw_sweep_is_file(snw_args_operand(args, 0));
    if (v->is_sweep) {
        SNW_TRY(snw_view_sweep_open(&v->sweep, snw_args_operand(args, 0), args, &v->file[0], err));
        v->name[0] = view_name(args, 0);
        v->nfile = 1;
        return SNW_OK;
    }
    if (snw_args_has(args, "rows"))
        return snw_fail(err, SNW_E_ARGUMENT, "--rows is for the results of one sweep");
    for (int i = 0; i < n; i++) {
        if (snw_sweep_is_file(snw_args_operand(args, i)))
            return snw_fail(err, SNW_E_ARGUMENT,
                            "'%s' is the results of a sweep, which has a page of its own",
                            snw_args_operand(args, i));
        for (int k = 0; k < i; k++) {
            if (strcmp(snw_args_operand(args, i), snw_args_operand(args, k)) != 0) continue;
            return snw_fail(err, SNW_E_ARGUMENT,
                            "'%s' is given twice; two runs of one file are "
                            "compared in its own page",
                            snw_args_operand(args, i));
        }
        SNW_TRY(snw_result_open(snw_args_operand(args, i), &v->file[i], err));
        v->name[i] = view_name(args, i);
        v->nfile++;
    }
    return SNW_OK;
}

static void view_close(view *v) {
    for (int i = 0; i < v->nfile; i++) snw_result_close(v->file[i]);
    snw_free(v->file);
    snw_free(v->name);
    snw_free(v->source);
    snw_free(v->info);
    snw_view_sweep_close(&v->sweep);
}

// v->source <- runs selected by --run, of all files
static snw_status view_choose(view *v, const snw_args *args, snw_error *err) {
    const char *const *wanted;
    const int nwanted = snw_args_values(args, "run", &wanted);
    int total = 0, frames = 0;
    for (int i = 0; i < v->nfile; i++) total += snw_result_runs(v->file[i]);
    v->source = snw_alloc((size_t)total * sizeof *v->source);
    v->info = snw_alloc((size_t)total * sizeof *v->info);
    const char **name = snw_alloc((size_t)total * sizeof *name);
    int *chosen = snw_alloc((size_t)total * sizeof *chosen);
    snw_status status = v->source && v->info && name && chosen ? SNW_OK : snw_fail_memory(err);
    for (int i = 0, k = 0; status == SNW_OK && i < v->nfile; i++) {
        for (int r = 0; r < snw_result_runs(v->file[i]); r++, k++) {
            v->source[k] = (snw_page_source){v->file[i], v->name[i], r};
            name[k] = run_name(&v->source[k]);
        }
    }
    if (status == SNW_OK) {
        status = snw_choose_runs(total, name, nwanted, wanted, chosen, &v->n, err);
    }
    for (int i = 0; status == SNW_OK && i < v->n; i++) {
        v->source[i] = v->source[chosen[i]]; // the indices increase
        frames += snw_result_frames(v->source[i].file, v->source[i].run);
    }
    if (status == SNW_OK && frames == 0) {
        status = snw_fail(err, SNW_E_ARGUMENT,
                          "there is no frame to show yet; wait for the run, or see 'sinew show'");
    }
    snw_free(name);
    snw_free(chosen);
    return status;
}

// ---- measurements ------------------------------------------------------------------------------

// Has the file a column of a run that it belongs to?
static bool view_matches(const view *v, const snw_measured *m) {
    for (int i = 0; i < v->n; i++) {
        const snw_run_info *info = snw_result_info(v->source[i].file, v->source[i].run);
        for (int k = 0; (m->run < 0 || m->run == i) && k < info->ncolumn; k++) {
            if (snw_measured_column(&m->table, &info->column[k]) > 0) return true;
        }
    }
    return false;
}

// As many files as runs: one for each, in their order; else all files belong to all runs.
static snw_status view_read_data(view *v, snw_pool *pool, const snw_args *args, snw_error *err) {
    const char *const *path;
    v->nmeasured = snw_args_values(args, "data", &path);
    v->measured = snw_pool_array(pool, (size_t)v->nmeasured + 1, sizeof *v->measured);
    if (!v->measured) return snw_fail_memory(err);
    for (int i = 0; i < v->nmeasured; i++) {
        snw_measured *m = &v->measured[i];
        *m = (snw_measured){.file = base_name(path[i]), .run = v->nmeasured == v->n ? i : -1};
        SNW_TRY(snw_measured_read(pool, path[i], &m->table, err));
        if (!view_matches(v, m)) return snw_measured_fail(&m->table, m->file, err);
    }
    return SNW_OK;
}

// ---- the command -------------------------------------------------------------------------------

// out <- name of OUT.h5 with the extension .html, in the current folder
static void view_default_output(const char *path, char *out, size_t size) {
    const char *name = base_name(path);
    const char *dot = strrchr(name, '.');
    const int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    (void)snprintf(out, size, "%.*s.html", length, name);
}

static void view_report(snw_reply *reply, const char *output, const view *v) {
    if (reply->json) {
        snw_field_text(reply->json, "page", output);
        snw_field_list(reply->json, "runs");
        for (int i = 0; i < v->n; i++) {
            snw_field_object(reply->json, NULL);
            if (v->nfile > 1) snw_field_text(reply->json, "file", v->source[i].name);
            snw_field_text(reply->json, "run", run_name(&v->source[i]));
            snw_field_integer(reply->json, "frames", v->info[i].frames);
            snw_field_integer(reply->json, "kept", v->info[i].kept);
            snw_json_close(reply->json);
        }
        snw_json_close(reply->json);
        return;
    }
    for (int i = 0; i < v->n; i++) {
        if (v->info[i].kept == v->info[i].frames) continue;
        if (v->nfile > 1) printf("%s: ", v->source[i].name);
        printf("run '%s': %d of %d frames are shown; curves keep all extremes\n",
               run_name(&v->source[i]), v->info[i].kept, v->info[i].frames);
    }
    printf("page in %s\n", output);
}

static snw_status view_write(view *v, const snw_args *args, const char *output, snw_reply *reply,
                             snw_error *err) {
    snw_status status = view_choose(v, args, err);
    snw_pool *pool = snw_pool_create(POOL_LIMIT);
    if (status == SNW_OK && !pool) status = snw_fail_memory(err);
    if (status == SNW_OK) status = view_read_data(v, pool, args, err);
    for (int i = 0; status == SNW_OK && i < v->nfile; i++) {
        status = snw_job_refuse_output("results", snw_args_operand(args, i), output, err);
    }
    snw_output out;
    if (status == SNW_OK) status = snw_output_open(output, &out, err);
    if (status == SNW_OK) {
        status = write_page(v, snw_output_sink(&out), err);
        status = snw_output_close(&out, status, err);
    }
    if (status == SNW_OK) view_report(reply, output, v);
    snw_pool_destroy(pool);
    return status;
}

static int view_run(const snw_args *args, snw_reply *reply) {
    char own[512];
    const char *output = snw_args_value(args, "output");
    if (!output) view_default_output(snw_args_operand(args, 0), own, sizeof own);
    if (!output) output = own;
    snw_error err = {0};
    snw_viewer_pieces page;
    if (!snw_viewer_split(&page)) {
        (void)snw_fail(&err, SNW_E_IO, "this sinew was built without its viewer: %s",
                       snw_viewer_missing);
        snw_reply_fail(reply, &err);
        return SNW_EXIT_FAILED;
    }
    view v = {0};
    snw_status status = view_open(&v, args, &err);
    const bool opened = status == SNW_OK;
    if (opened) status = view_write(&v, args, output, reply, &err);
    view_close(&v);
    if (status != SNW_OK) {
        snw_reply_fail(reply, &err);
        return opened ? snw_reply_exit_work(status) : snw_reply_exit_input(status);
    }
    if (snw_args_has(args, "open") && !snw_viewer_show(output, true)) {
        snw_reply_warn(reply, output, "no browser could be started; open the page yourself");
    }
    return SNW_EXIT_DONE;
}

static const snw_option options[] = {
    {"output", 'o', "FILE", false,
     "output file (default: OUT.html of the first file, in the current folder)"},
    {"open", 0, NULL, false, "open the page in a browser when it is written"},
    {"run", 0, "NAME", true, "only this run, in all files that have it; may be repeated"},
    {"rows", 0, "LIST", false,
     "of a sweep: rows whose robots are in the page, such as 3,17,40-43 (default: up to 24, with "
     "the "
     "least and the greatest value of each result)"},
    {"data", 0, "FILE.csv", true,
     "measurements, drawn as dots in curves and, of positions, over the robot: columns t, then "
     "names of probe components, tip.x, in SI; blank fields are left out. May be repeated: as many "
     "files as runs belong to one run each, in their order"},
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_view = {
    .name = "view",
    .operands = "OUT.h5...",
    .min_operands = 1,
    .max_operands = 100,
    .brief = "write a page that animates the robot",
    .about =
        "Converts result files to one page for any browser, without network: the robot in "
        "three dimensions, to rotate, play and scrub, and beside it probes, energies, stages "
        "and solver statistics. A run can be compared with others, of the same or of another "
        "file, overlaid or side by side; with several files the first runs of the first two "
        "are. A click on a rod shows its section there: strains, internal moment and force, "
        "stress. Pictures (PNG, SVG) and films (GIF, and MP4 or WebM where the browser has an "
        "encoder) are saved from the page. Press ? in it for its keys.\n\n"
        "Of long runs some thousand frames are kept, evenly spaced in time and with the ends "
        "of all stages; curves keep the smallest and largest value between them, and the page "
        "notes it. The run may still be writing the file.\n\n"
        "Of the results of a sweep the page has a chart of all parameters and results side by "
        "side, a line for each row (of more than 2000 rows some), and the robots of chosen "
        "rows beside each other. Drag along axes of the chart to choose rows; click a line for "
        "one more. The robots are computed again from the stored model, up to 24 of them, or "
        "those of --rows.",
    .option = options,
    .examples = "sinew view boyer2_follower.h5 --open\n"
                "sinew view sweep.h5 --run load.3 -o load3.html\n"
                "sinew view soft.h5 stiff.h5 -o both.html\n"
                "sinew view young.h5 --data young.csv --open\n"
                "sinew view scatter.h5 --rows 3,17,40-43 --open",
    .run = view_run,
};
