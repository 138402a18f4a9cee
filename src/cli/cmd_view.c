// SPDX-License-Identifier: MIT
//
// sinew view: writes a result file as one HTML page with the viewer and the data.
#include "base/alloc.h"
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/output.h"
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

// Measurements of --data, and the runs that they belong to.
typedef struct view_data {
    int n;
    snw_measured *file;
} view_data;

static snw_status write_page(snw_result *file, const char *input, int n, const int *chosen,
                             const view_data *data, snw_sink to, snw_page_info *info,
                             snw_error *err) {
    snw_viewer_pieces page;
    if (!snw_viewer_split(&page)) return SNW_E_IO; // reported by view_run
    const char *slash = strrchr(input, '/');
    snw_page_opts opts = snw_page_defaults();
    opts.name = slash ? slash + 1 : input;
    opts.nmeasured = data->n;
    opts.measured = data->file;
    (void)to.write(to.user, page.text[0], page.size[0]);
    (void)to.write(to.user, policy, sizeof policy - 1);
    (void)to.write(to.user, page.text[1], page.size[1]);
    SNW_TRY(snw_page_write(file, n, chosen, &opts, to, info, err));
    (void)to.write(to.user, page.text[2], page.size[2]);
    return SNW_OK; // write errors are reported when the file is closed
}

// ---- the command -------------------------------------------------------------------------------

// out <- name of OUT.h5 with the extension .html, in the current folder
static void view_default_output(const char *path, char *out, size_t size) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    const int length = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    (void)snprintf(out, size, "%.*s.html", length, name);
}

static void view_report(snw_reply *reply, const char *output, const snw_result *file, int n,
                        const int *chosen, const snw_page_info *info) {
    if (reply->json) {
        snw_field_text(reply->json, "page", output);
        snw_field_list(reply->json, "runs");
        for (int i = 0; i < n; i++) {
            snw_field_object(reply->json, NULL);
            snw_field_text(reply->json, "run", snw_result_info(file, chosen[i])->run);
            snw_field_integer(reply->json, "frames", info[i].frames);
            snw_field_integer(reply->json, "kept", info[i].kept);
            snw_json_close(reply->json);
        }
        snw_json_close(reply->json);
        return;
    }
    for (int i = 0; i < n; i++) {
        if (info[i].kept == info[i].frames) continue;
        printf("run '%s': %d of %d frames are shown; curves keep all extremes\n",
               snw_result_info(file, chosen[i])->run, info[i].kept, info[i].frames);
    }
    printf("page in %s\n", output);
}

static snw_status view_choose(const snw_result *file, const snw_args *args, int *chosen, int *n,
                              snw_error *err) {
    const char *const *wanted;
    const int nwanted = snw_args_values(args, "run", &wanted);
    const int total = snw_result_runs(file);
    const char **name = snw_alloc((size_t)total * sizeof *name);
    if (!name) return snw_fail_memory(err);
    int frames = 0;
    for (int i = 0; i < total; i++) name[i] = snw_result_info(file, i)->run;
    snw_status status = snw_choose_runs(total, name, nwanted, wanted, chosen, n, err);
    for (int i = 0; status == SNW_OK && i < *n; i++) frames += snw_result_frames(file, chosen[i]);
    if (status == SNW_OK && frames == 0) {
        status = snw_fail(err, SNW_E_ARGUMENT,
                          "there is no frame to show yet; wait for the run, or see 'sinew show'");
    }
    snw_free(name);
    return status;
}

// Has the file a column of a run that it belongs to?
static bool view_matches(const snw_result *file, const snw_measured *m, int n, const int *chosen) {
    for (int i = 0; i < n; i++) {
        const snw_run_info *info = snw_result_info(file, chosen[i]);
        for (int k = 0; (m->run < 0 || m->run == i) && k < info->ncolumn; k++) {
            if (snw_measured_column(&m->table, &info->column[k]) > 0) return true;
        }
    }
    return false;
}

// As many files as runs: one for each, in their order; else all files belong to all runs.
static snw_status view_read_data(snw_pool *pool, const snw_result *file, const snw_args *args,
                                 int n, const int *chosen, view_data *data, snw_error *err) {
    const char *const *path;
    data->n = snw_args_values(args, "data", &path);
    data->file = snw_pool_array(pool, (size_t)data->n + 1, sizeof *data->file);
    if (!data->file) return snw_fail_memory(err);
    for (int i = 0; i < data->n; i++) {
        const char *slash = strrchr(path[i], '/');
        snw_measured *m = &data->file[i];
        *m = (snw_measured){.file = slash ? slash + 1 : path[i], .run = data->n == n ? i : -1};
        SNW_TRY(snw_measured_read(pool, path[i], &m->table, err));
        if (!view_matches(file, m, n, chosen)) return snw_measured_fail(&m->table, m->file, err);
    }
    return SNW_OK;
}

static snw_status view_file(snw_result *file, const snw_args *args, const char *output,
                            snw_reply *reply, snw_error *err) {
    const char *input = snw_args_operand(args, 0);
    const size_t total = (size_t)snw_result_runs(file);
    int n = 0;
    int *chosen = snw_alloc(total * sizeof *chosen);
    snw_page_info *info = snw_alloc(total * sizeof *info);
    snw_status status = chosen && info ? SNW_OK : snw_fail_memory(err);
    if (status == SNW_OK) status = view_choose(file, args, chosen, &n, err);
    snw_pool *pool = snw_pool_create(POOL_LIMIT);
    view_data data = {0};
    if (status == SNW_OK && !pool) status = snw_fail_memory(err);
    if (status == SNW_OK) status = view_read_data(pool, file, args, n, chosen, &data, err);
    if (status == SNW_OK) status = snw_job_refuse_output("results", input, output, err);
    snw_output out;
    if (status == SNW_OK) status = snw_output_open(output, &out, err);
    if (status == SNW_OK) {
        status = write_page(file, input, n, chosen, &data, snw_output_sink(&out), info, err);
        status = snw_output_close(&out, status, err);
    }
    if (status == SNW_OK) view_report(reply, output, file, n, chosen, info);
    snw_pool_destroy(pool);
    snw_free(chosen);
    snw_free(info);
    return status;
}

static int view_run(const snw_args *args, snw_reply *reply) {
    const char *path = snw_args_operand(args, 0);
    char own[512];
    const char *output = snw_args_value(args, "output");
    if (!output) view_default_output(path, own, sizeof own);
    if (!output) output = own;
    snw_error err = {0};
    snw_viewer_pieces page;
    if (!snw_viewer_split(&page)) {
        (void)snw_fail(&err, SNW_E_IO, "this sinew was built without its viewer: %s",
                       snw_viewer_missing);
        snw_reply_fail(reply, &err);
        return SNW_EXIT_FAILED;
    }
    snw_result *file;
    snw_status status = snw_result_open(path, &file, &err);
    const bool opened = status == SNW_OK;
    if (opened) {
        status = view_file(file, args, output, reply, &err);
        snw_result_close(file);
    }
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
    {"output", 'o', "FILE", false, "output file (default: OUT.html in the current folder)"},
    {"open", 0, NULL, false, "open the page in a browser when it is written"},
    {"run", 0, "NAME", true, "only this run; may be repeated"},
    {"data", 0, "FILE.csv", true,
     "measurements, drawn as dots in curves and, of positions, over the robot: columns t, then "
     "names of probe components, tip.x, in SI; blank fields are left out. May be repeated: as many "
     "files as runs belong to one run each, in their order"},
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_view = {
    .name = "view",
    .operands = "OUT.h5",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "write a page that animates the robot",
    .about = "Converts a result file to one page for any browser, without network: the robot in "
             "three dimensions, to rotate, play and scrub, and beside it probes, energies, stages "
             "and solver statistics. A run can be compared with another one, overlaid or side by "
             "side. A click on a rod shows its section there: strains, internal moment and force, "
             "stress. Pictures (PNG, SVG) and films (GIF, and MP4 or WebM where the browser has an "
             "encoder) are saved from the page. Press ? in it for its keys.\n\n"
             "Of long runs some thousand frames are kept, evenly spaced in time and with the ends "
             "of all stages; curves keep the smallest and largest value between them, and the page "
             "notes it. The run may still be writing the file.",
    .option = options,
    .examples = "sinew view boyer2_follower.h5 --open\n"
                "sinew view sweep.h5 --run load.3 -o load3.html\n"
                "sinew view young.h5 --data young.csv --open",
    .run = view_run,
};
