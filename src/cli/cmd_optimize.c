// SPDX-License-Identifier: MIT
//
// sinew optimize: variables of a model for which the cost of its block `optimize` is least.
#include "base/clock.h"
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/fit.h"
#include "cli/grid.h"
#include "cli/job.h"
#include "cli/optimize_log.h"
#include "cli/stop.h"
#include "sinew/study.h"

#include <math.h>
#include <string.h>

enum { SHOWN_KNOTS = 24, SHOWN_COLUMNS = 6 };

typedef struct session {
    const snw_args *args;
    snw_reply *reply;
    const snw_job *job;
    snw_meter meter;
    double begin;
    int evaluations; // at most
    int nset;        // overrides of the command line
    const char *const *set;
    snw_optimize_log log;
    const char **entry; // names of the entries of the variables, of a log
    snw_status failed;  // of the log
    snw_error why;
    snw_optimize_result *found;
} session;

static const char *const gradient_name[] = {"", "adjoint", "forward", "differences"};

// ---- hooks --------------------------------------------------------------------------------------

static snw_status show_evaluation(void *user, const snw_optimize_evaluation *e) {
    session *s = user;
    if (s->log.path && e->number == 1) { // not before: a model that is wrong leaves a table alone
        s->failed = snw_optimize_log_open(&s->log, s->entry, &s->why);
        if (s->failed != SNW_OK) return SNW_E_STOPPED;
    }
    snw_optimize_log_add(&s->log, e);
    const double spent = snw_clock_seconds() - s->begin,
                 left = spent / e->number * (s->evaluations - e->number);
    char line[160];
    (void)snprintf(
        line, sizeof line,
        "evaluation %d of at most %d  cost %.8g  violation %.2g  %.0f s, at most %.0f s left",
        e->number, s->evaluations, e->cost, e->violation, spent, fmax(left, 0));
    snw_meter_text(&s->meter, line);
    return snw_stop_asked() || s->log.mismatch ? SNW_E_STOPPED : SNW_OK;
}

static int recall_evaluation(void *user, int number, const double *p, double *J, double *dJ) {
    session *s = user;
    return snw_optimize_log_recall(&s->log, number, p, J, dJ);
}

// ---- table of evaluations -----------------------------------------------------------------------

static uint64_t add_hash(uint64_t hash, const char *text) {
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u; // FNV-1a
    return (hash ^ 255) * 1099511628211u;
}

// Names of the entries of p, as gradients name them.
static snw_status name_entries(const snw_optimize_options *how, snw_pool *pool, int *n,
                               const char ***out, snw_error *err) {
    size_t most = 1;
    for (int i = 0; i < how->nvariable; i++) most += (size_t)how->variable[i].of.nknot + 1;
    const char **name = snw_pool_array(pool, most, sizeof *name);
    if (!name) return snw_fail_memory(err);
    *n = 0;
    for (int i = 0; i < how->nvariable; i++) {
        const snw_gradient_variable *v = &how->variable[i].of;
        for (int k = 0; k < (v->nknot > 0 ? v->nknot : 1); k++) {
            name[*n] = v->nknot > 0 ? snw_pool_format(pool, "%s[%d]", v->name, k) : v->name;
            if (!name[(*n)++]) return snw_fail_memory(err);
        }
    }
    *out = name;
    return SNW_OK;
}

// The rows of the table are read; it is written from the first evaluation on.
static snw_status prepare_log(session *s, const snw_optimize_options *how, snw_pool *pool,
                              snw_error *err) {
    s->log.path = snw_args_value(s->args, "log");
    const bool resume = snw_args_has(s->args, "resume");
    if (!s->log.path && resume)
        return snw_fail(err, SNW_E_ARGUMENT, "--resume goes on from a table; name it by --log");
    if (!s->log.path) return SNW_OK;
    SNW_TRY(snw_job_refuse_output_model(s->job->document, s->log.path, err));
    SNW_TRY(name_entries(how, pool, &s->log.nvariable, &s->entry, err));
    s->log.nscalar = snw_optimize_scalars(how);
    s->log.identity = add_hash(14695981039346656037u, snw_document_text(s->job->document));
    s->log.identity = add_hash(s->log.identity, s->job->run[0].name);
    for (int i = 0; i < s->nset; i++) s->log.identity = add_hash(s->log.identity, s->set[i]);
    return resume ? snw_optimize_log_read(&s->log, err) : SNW_OK;
}

// ---- output -------------------------------------------------------------------------------------

static snw_status print_variables(const snw_optimize_result *r, snw_error *err) {
    snw_grid *g;
    SNW_TRY(snw_grid_create("lrlll", &g, err));
    const char *const head[] = {"variable", "value", "", "start", ""};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) snw_grid_cell(g, "%s", head[i]);
    for (int k = 0; k < r->nvariable && k < SHOWN_KNOTS; k++) {
        const snw_optimize_entry *v = &r->variable[k];
        snw_grid_cell(g, "%s", v->name);
        snw_grid_number(g, 10, v->value);
        snw_grid_cell(g, "%s", v->unit);
        snw_grid_cell(g, "%.6g", v->start);
        if (v->at) {
            snw_grid_cell(g, "at its %s bound, price %.6g", v->at < 0 ? "lower" : "upper",
                          v->price);
        } else if (v->idle) {
            snw_grid_cell(g, "%s", "changes neither cost nor constraints");
        } else {
            snw_grid_cell(g, "%s", "");
        }
    }
    const snw_status status = snw_grid_print(g, stdout, err);
    snw_grid_destroy(g);
    if (r->nvariable > SHOWN_KNOTS)
        printf("  ... and %d more, see --json\n", r->nvariable - SHOWN_KNOTS);
    return status;
}

static snw_status print_constraints(const snw_optimize_result *r, snw_error *err) {
    if (r->nconstraint == 0) return SNW_OK;
    snw_grid *g;
    SNW_TRY(snw_grid_create("lrrrl", &g, err));
    const char *const head[] = {"constraint", "value", "low", "high", "price of its limit"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) snw_grid_cell(g, "%s", head[i]);
    for (int i = 0; i < r->nconstraint; i++) {
        const snw_optimize_limit *c = &r->constraint[i];
        snw_grid_cell(g, "%s", c->name);
        snw_grid_number(g, 10, c->value);
        snw_grid_number(g, 6, isinf(c->low) ? NAN : c->low);
        snw_grid_number(g, 6, isinf(c->high) ? NAN : c->high);
        if (c->at) {
            snw_grid_cell(g, "%.9g", c->price);
        } else {
            snw_grid_cell(g, "%s", "-");
        }
    }
    const snw_status status = snw_grid_print(g, stdout, err);
    snw_grid_destroy(g);
    printf("\n");
    return status;
}

static snw_status print_best(const session *s, snw_error *err) {
    const snw_optimize_result *r = s->found;
    printf("%s: %d variable%s, %d evaluation%s: %s\n\n", s->job->path, r->nvariable,
           r->nvariable == 1 ? "" : "s", r->evaluations, r->evaluations == 1 ? "" : "s",
           r->reason[0] ? r->reason : "stopped");
    SNW_TRY(print_variables(r, err));
    printf("\n");
    SNW_TRY(print_constraints(r, err));
    printf("  cost %.12g, violation of constraints %.2g", r->cost, r->violation);
    if (!isnan(r->optimality)) printf(", rest of the gradient %.2g", r->optimality);
    printf("\n");
    printf("  gradient: %s", gradient_name[r->gradient.method]);
    if (r->gradient.method == SNW_GRADIENT_DIFFERENCES) printf(" of whole runs, order 6");
    if (r->gradient.error > 0) printf(", estimated relative error %.1g", r->gradient.error);
    if (r->gradient.cut_steps > 0)
        printf(", through %d steps with lengths that the motion chose: cost and constraints jump "
               "where one of these changes (see 'sinew gradient'), a shorter 'step' makes this "
               "less",
               r->gradient.cut_steps);
    if (r->gradient.cut_steps > 0 && r->gradient.cut_effect > 0)
        printf("; other lengths change the gradient at the end by up to %.1g of its largest part",
               r->gradient.cut_effect);
    printf("\n");
    return SNW_OK;
}

static void json_best(const session *s, bool converged) {
    snw_json *j = s->reply->json;
    const snw_optimize_result *r = s->found;
    snw_field_bool(j, "converged", converged);
    snw_field_text(j, "reason", r->reason);
    snw_field_number(j, "cost", r->cost);
    snw_field_number(j, "violation", r->violation);
    snw_field_number(j, "optimality", r->optimality);
    snw_field_integer(j, "evaluations", r->evaluations);
    snw_field_text(j, "gradient", gradient_name[r->gradient.method]);
    snw_field_number(j, "gradient_error", r->gradient.error);
    snw_field_integer(j, "cut_steps", r->gradient.cut_steps);
    snw_field_number(j, "cut_effect", r->gradient.cut_effect);
    snw_field_list(j, "variables");
    for (int k = 0; k < r->nvariable; k++) {
        const snw_optimize_entry *v = &r->variable[k];
        snw_field_object(j, NULL);
        snw_field_text(j, "name", v->name);
        snw_field_text(j, "unit", v->unit);
        snw_field_number(j, "value", v->value);
        snw_field_number(j, "start", v->start);
        snw_field_text(j, "bound", v->at < 0 ? "low" : v->at > 0 ? "high" : "");
        snw_field_number(j, "price", v->price);
        snw_field_bool(j, "idle", v->idle);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_list(j, "constraints");
    for (int i = 0; i < r->nconstraint; i++) {
        const snw_optimize_limit *c = &r->constraint[i];
        snw_field_object(j, NULL);
        snw_field_text(j, "value_of", c->name);
        snw_field_number(j, "value", c->value);
        snw_field_bool(j, "active", c->at != 0);
        snw_field_number(j, "price", c->price);
        snw_json_close(j);
    }
    snw_json_close(j);
}

// ---- files --------------------------------------------------------------------------------------

// A model file with the values, and the run with them.
static snw_status write_best(const session *s, snw_pool *pool, snw_error *err) {
    const char *output = snw_args_value(s->args, "output"),
               *result = snw_args_value(s->args, "result");
    const int n = s->nset + s->found->nset;
    const char **set = snw_pool_array(pool, (size_t)n + 1, sizeof *set);
    if (!set) return snw_fail_memory(err);
    for (int i = 0; i < n; i++) set[i] = i < s->nset ? s->set[i] : s->found->set[i - s->nset];
    snw_job one = *s->job;
    one.n = 1;
    if (output) SNW_TRY(snw_fit_write(&one, n, set, "sinew optimize", output, err));
    if (!result) return SNW_OK;
    const char *run = s->job->run[0].name;
    const snw_study_choice choice = {.nset = n, .set = set, .nrun = 1, .run = &run};
    return snw_study_write(s->job->path, result, &choice, NULL, err);
}

static snw_status check_outputs(const session *s, snw_error *err) {
    const char *output = snw_args_value(s->args, "output"),
               *result = snw_args_value(s->args, "result");
    if (result) SNW_TRY(snw_job_refuse_output_model(s->job->document, result, err));
    if (!output) return SNW_OK;
    SNW_TRY(snw_job_refuse_output_model(s->job->document, output, err));
    return snw_fit_can_name(s->job->path, output, err);
}

// ---- the command --------------------------------------------------------------------------------

static snw_status read_gradient(const snw_args *args, snw_optimize_options *how, snw_error *err) {
    const char *method = snw_args_value(args, "gradient");
    if (!method) return SNW_OK;
    for (int i = 1; i <= SNW_GRADIENT_DIFFERENCES; i++) {
        if (strcmp(method, gradient_name[i]) != 0) continue;
        how->gradient = (snw_gradient_method)i;
        return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT,
                    "--gradient is adjoint, forward or differences, got '%.60s'", method);
}

static snw_status optimize_model(session *s, snw_robot_model *model, snw_pool *pool,
                                 snw_error *err) {
    const snw_optimize_options *block = snw_robot_model_optimize(model);
    if (!block)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "'%.200s' has no block 'optimize' with variables and a cost; 'sinew help "
                        "optimize' shows one",
                        s->job->path);
    snw_optimize_options how = *block;
    double most = how.evaluations > 0 ? how.evaluations : 500;
    SNW_TRY(snw_args_number(s->args, "evaluations", 1, 1e6, &most, err));
    how.evaluations = s->evaluations = (int)most;
    SNW_TRY(read_gradient(s->args, &how, err));
    SNW_TRY(check_outputs(s, err));
    SNW_TRY(prepare_log(s, &how, pool, err));
    how.user = s;
    how.evaluated = show_evaluation;
    how.recall = s->log.nrow > 0 ? recall_evaluation : NULL;
    s->begin = snw_clock_seconds();
    s->meter = snw_meter_start(1, false);
    s->reply->meter = &s->meter;
    const snw_status status = snw_optimize_run(model, &how, &s->found, err);
    snw_meter_clear(&s->meter);
    s->reply->meter = NULL;
    if (s->failed != SNW_OK) {
        *err = s->why;
        return s->failed;
    }
    if (s->log.mismatch)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the table '%.200s' is that of another search; leave out --resume to begin "
                        "again",
                        s->log.path);
    if (status == SNW_E_STOPPED)
        return snw_fail(err, status, "the search was stopped%s",
                        s->log.path ? "; --resume goes on" : "; with --log it could be resumed");
    return status;
}

static snw_status optimize_job(session *s, snw_pool *pool, snw_error *err) {
    SNW_TRY(snw_job_one_run(s->job, s->args, "an optimisation", err));
    snw_robot_model *model = NULL;
    s->nset = snw_args_values(s->args, "set", &s->set);
    SNW_TRY(snw_robot_model_open(s->job->path, s->job->run[0].name, s->nset, s->set, &model, err));
    snw_status status = optimize_model(s, model, pool, err);
    snw_error second = {0};
    snw_status shown = SNW_OK;
    if (s->found && s->reply->json) {
        json_best(s, status == SNW_OK);
    } else if (s->found) {
        shown = print_best(s, &second);
    }
    if (status == SNW_OK && shown == SNW_OK) shown = write_best(s, pool, &second);
    if (status == SNW_OK && shown != SNW_OK) {
        status = shown;
        *err = second;
    }
    snw_optimize_close(s->found);
    snw_optimize_log_close(&s->log);
    snw_robot_model_close(model);
    return status;
}

static int cmd_optimize_run(const snw_args *args, snw_reply *reply) {
    enum { POOL_LIMIT = 1 << 26 };
    snw_error err = {0};
    snw_job job;
    session s = {.args = args, .reply = reply, .job = &job};
    snw_pool *pool = snw_pool_create(POOL_LIMIT);
    snw_status status = pool ? SNW_OK : snw_fail_memory(&err);
    if (status == SNW_OK) status = snw_job_open_args(snw_args_operand(args, 0), args, &job, &err);
    if (status == SNW_OK) status = optimize_job(&s, pool, &err);
    if (status != SNW_OK) snw_reply_fail(reply, &err);
    if (pool) snw_job_close(&job);
    snw_pool_destroy(pool);
    return snw_reply_exit_input(status);
}

static const snw_option options[] = {
    {"output", 'o', "OUT.yaml", false, "a model file that includes FILE, with the values found"},
    {"result", 0, "OUT.h5", false, "result file of the run with the values found"},
    {"log", 0, "LOG.csv", false,
     "table of all evaluations: number, cost, violation, variables, scalars, derivatives"},
    {"resume", 0, NULL, false,
     "go on with an interrupted search from the table of --log, as if it had not been interrupted"},
    {"evaluations", 0, "NUMBER", false, "most evaluations, instead of that of the file"},
    {"gradient", 0, "NAME", false,
     "adjoint, forward or differences of whole runs; chosen by the numbers of scalars and "
     "variables unless given"},
    SNW_OPTION_RUN,
    SNW_OPTION_SET,
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_optimize = {
    .name = "optimize",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "numbers and laws of a model for which a cost is least",
    .about =
        "Finds the variables of the block 'optimize' of FILE for which its cost is least, within "
        "bounds and constraints:\n\n"
        "optimize: {variables: {A: {low: 0, high: 5}}, maximise: end(tip.x), subject: [{value: "
        "end(e), below: 2}]}\n\n"
        "Cost and constraints are scalars of the study, as of 'sinew gradient': end(e), at(T, e), "
        "integral(e), sum(e), mean(e), max(e), min(e), fold(K, e) of expressions of columns of "
        "probes, plain "
        "numbers in SI units. A variable is a number of the file, named as by --set, or a law "
        "through knots. "
        "The search needs gradients, by the way that the output names. It finds the nearest "
        "minimum, which need not be the lowest: try other starts.\n\n"
        "A limit 'below' of max(e), or 'above' of min(e), holds at all instants. A maximum as a "
        "cost "
        "has corners; make it a variable p with a probe peak: {law: p}, minimise end(peak), "
        "subject "
        "to {value: max(e - peak), below: 0}.\n\n"
        "The price of a limit is the change of the least cost per unit by which the limit is "
        "moved. If constraints cannot be met, or the evaluations are used up, a message says so, "
        "the last point is printed, and the exit status is 1.",
    .option = options,
    .examples = "sinew optimize gait.yaml -o best.yaml --result best.h5\n"
                "sinew optimize slew.yaml --log slew.csv\n"
                "sinew optimize slew.yaml --log slew.csv --resume --json",
    .run = cmd_optimize_run,
};
