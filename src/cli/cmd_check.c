// SPDX-License-Identifier: MIT
//
// sinew check: reads and compiles a model file and prints a summary of it, without running it.
#include "base/alloc.h"
#include "base/fail.h"
#include "cli/args_file.h"
#include "cli/commands.h"
#include "cli/explain.h"
#include "cli/job.h"
#include "study/rod_grid.h"

#include <math.h>

// *values <- number of values the file expects of a run; reading them also checks them
static snw_status check_count_values(const snw_job *job, int run, int *values, snw_error *err) {
    const snw_expect *expect;
    int n;
    const snw_job_run *r = &job->run[run];
    SNW_TRY(snw_document_expects(job->document, r->index, r->desc, &n, &expect, err));
    *values = 0;
    for (int i = 0; i < n; i++) *values += expect[i].nrow * expect[i].ncolumn;
    return SNW_OK;
}

// Largest number of coordinates for which idle joints are searched; the cost is cubic.
enum { MOST_IDLE = 400 };

// *idle (nlink, freed by the caller) <- joints that move no mass
static snw_status check_find_idle(const snw_job_run *r, bool **idle, snw_error *err) {
    *idle = snw_alloc((size_t)r->desc->nlink * sizeof **idle);
    if (!*idle) return snw_fail_memory(err);
    return snw_run_describe(r->run)->nv <= MOST_IDLE ? snw_run_idle_joints(r->run, *idle, err)
                                                     : SNW_OK;
}

// The shapes of all rods on grids of n points, as text, or as a key of the open JSON object;
// theory.md (3.1d).
static snw_status tell_grids(const snw_job_run *r, int n, snw_json *j, snw_error *err) {
    if (n == 0) return SNW_OK;
    if (j) snw_field_object(j, "grids");
    if (!j) printf("\none Chebyshev grid of %d points for each piece of a rod, rest shape\n", n);
    for (int i = 0; i < r->desc->nlink; i++) {
        snw_grid_info g;
        if (!r->desc->link[i].has_rod) continue;
        SNW_TRY(snw_run_grid(r->run, i, n, &g, err));
        if (!j) {
            const bool grid = r->desc->link[i].rod.integrator == SNW_RULE_CHEBYSHEV;
            printf("  %s  %d piece%s, tip differs from that by %s by %.1e of the length, "
                   "| |h| - 1 | up to %.1e\n",
                   r->desc->link[i].name, g.pieces, g.pieces == 1 ? "" : "s",
                   grid ? "its own grid" : "slices", g.difference, g.drift);
            continue;
        }
        snw_field_object(j, r->desc->link[i].name);
        snw_field_integer(j, "points", n);
        snw_field_integer(j, "pieces", g.pieces);
        snw_field_number(j, "difference", g.difference);
        snw_field_number(j, "drift", g.drift);
        snw_field_list(j, "tip");
        for (int k = 0; k < 3; k++) snw_field_number(j, NULL, g.tip.p.e[k]);
        snw_json_close(j);
        snw_json_close(j);
    }
    if (j) snw_json_close(j);
    return SNW_OK;
}

// A line of the list of runs.
typedef struct check_line {
    int freedom, nnode, ncolumn, values;
} check_line;

// Compiles a run; its line.
static snw_status check_compile(snw_job *job, int i, check_line *line, snw_error *err) {
    SNW_TRY(snw_job_compile(job, i, err));
    const snw_run_info *info = snw_run_describe(job->run[i].run);
    *line = (check_line){.freedom = info->freedom, .nnode = info->nnode, .ncolumn = info->ncolumn};
    return check_count_values(job, i, &line->values, err);
}

// Lines of all runs, of which the first one stays: runs of large robots are not held at once. The
// first run that fails tells why.
static snw_status check_compile_all(snw_job *job, check_line *line, snw_error *err) {
    snw_status status = SNW_OK;
    for (int i = 1; status == SNW_OK && i < job->n; i++) {
        status = check_compile(job, i, &line[i], err);
        snw_job_release(job, i);
    }
    snw_error own = {0};
    const snw_status first =
        status == SNW_E_STOPPED ? SNW_OK : check_compile(job, 0, &line[0], &own);
    if (first == SNW_OK) return status;
    *err = own;
    return first;
}

static snw_status print_job(snw_job *job, const check_line *line, double curvature, int grid,
                            snw_error *err) {
    const snw_desc *first = job->run[0].desc;
    printf("%s: %s\n", job->path, first->title && first->title[0] ? first->title : "(no title)");
    if (first->about && first->about[0]) printf("  %s\n", first->about);
    printf("\nruns\n");
    for (int i = 0; i < job->n; i++) {
        printf("  %s  %d degree%s of freedom, %d nodes, %d recorded values, %d expected\n",
               job->run[i].name, line[i].freedom, line[i].freedom == 1 ? "" : "s", line[i].nnode,
               line[i].ncolumn, line[i].values);
    }
    if (job->n > 1) printf("\nrun '%s' in full (--run chooses another):\n", job->run[0].name);
    bool *idle;
    snw_status s = check_find_idle(&job->run[0], &idle, err);
    if (s == SNW_OK)
        s = snw_explain_print(first, snw_run_describe(job->run[0].run), idle, curvature);
    snw_free(idle);
    return s == SNW_OK ? tell_grids(&job->run[0], grid, NULL, err) : s;
}

static snw_status json_job(snw_json *j, const snw_job *job, double curvature, int grid,
                           snw_error *err) {
    snw_field_text(j, "file", job->path);
    snw_field_text(j, "title", job->run[0].desc->title);
    snw_field_list(j, "runs");
    for (int i = 0; i < job->n; i++) {
        const snw_job_run *r = &job->run[i];
        int values = 0;
        SNW_TRY(check_count_values(job, i, &values, err));
        snw_field_object(j, NULL);
        snw_field_text(j, "run", r->name);
        snw_field_integer(j, "expected", values);
        bool *idle;
        snw_status s = check_find_idle(r, &idle, err);
        if (s == SNW_OK)
            s = snw_explain_json(j, r->desc, snw_run_describe(r->run), idle, curvature);
        snw_free(idle);
        SNW_TRY(s);
        SNW_TRY(tell_grids(r, grid, j, err));
        snw_json_close(j);
    }
    snw_json_close(j);
    return SNW_OK;
}

// Opens the job; as text only its first run stays compiled, line <- those of all.
static snw_status check_open(const snw_args *args, bool as_json, snw_job *job, check_line **line,
                             snw_error *err) {
    const char *path = snw_args_operand(args, 0);
    if (as_json) return snw_job_open_args(path, args, job, err);
    SNW_TRY(snw_job_open_one_by_one(path, args, job, err));
    *line = snw_alloc((size_t)job->n * sizeof **line);
    return *line ? check_compile_all(job, *line, err) : snw_fail_memory(err);
}

static int cmd_check_run(const snw_args *args, snw_reply *reply) {
    snw_error err = {0};
    snw_job job;
    double curvature = 0;
    check_line *line = NULL;
    snw_status status = check_open(args, reply->json != NULL, &job, &line, &err);
    if (status == SNW_OK) {
        status = snw_args_number(args, "curvature", 1e-9, 1e9, &curvature, &err);
    }
    for (int i = 0; i < job.n && status == SNW_OK; i++)
        status = snw_args_check_file(job.document, job.run[i].index, &err);
    double grid = 0;
    if (status == SNW_OK) {
        status = snw_args_number(args, "grid", SNW_GRID_LEAST, SNW_GRID_MOST, &grid, &err);
    }
    if (status == SNW_OK && grid != floor(grid)) {
        status =
            snw_fail(&err, SNW_E_ARGUMENT, "'--grid' is a whole number of points, got %g", grid);
    }
    if (status == SNW_OK) {
        status = reply->json ? json_job(reply->json, &job, curvature, (int)grid, &err)
                             : print_job(&job, line, curvature, (int)grid, &err);
    }
    if (status != SNW_OK) snw_reply_fail(reply, &err);
    snw_free(line);
    snw_job_close(&job);
    return snw_reply_exit_input(status);
}

static const snw_option options[] = {
    SNW_OPTION_RUN,
    SNW_OPTION_SET,
    {"curvature", 0, "NUMBER", false,
     "a bound on each curvature of the rods, 1/m: tell the lengths of slices for which the "
     "expansion along a rod converges"},
    {"grid", 0, "POINTS", false,
     "the shape of each rod at rest by spectral integration on one Chebyshev grid of 3 to 41 "
     "points for each piece between breaks, compared with that by slices"},
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_check = {
    .name = "check",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "read a model file and explain it, without running it",
    .about =
        "Reads and checks a model file and describes its content: the runs and their degrees of "
        "freedom (driven ones do not count), the tree of links with their rods (with errors of the "
        "nodes, in the shape and in integrals along the rod, estimated at trial shapes, and for "
        "rods curved at rest the slice that comes nearest to the bound up to which the expansion "
        "along it converges) and "
        "limits, loops and which of their constraint rows are identically satisfied or redundant, "
        "loads, actuators, probes and the steps of the study. A robot that cannot be closed, loops "
        "and drives that contradict each other, and motions without mass are errors. Numbers are "
        "SI; f(t) and f(x) stand for laws of time and of the arc length along a rod.",
    .option = options,
    .examples = "sinew check examples/rods/boyer2_follower.yaml\n"
                "sinew check arm.yaml --set arm.rod.strain='cosserat cubic'",
    .run = cmd_check_run,
};
