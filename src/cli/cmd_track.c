// SPDX-License-Identifier: MIT
//
// sinew track: inputs for which outputs of a robot follow a desired motion: inverse dynamics over a
// horizon.
#include "base/fail.h"
#include "cli/cells.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/output.h"
#include "cli/part_number.h"
#include "cli/stop.h"
#include "language/table.h"
#include "sinew/track.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const size_t POOL_LIMIT = (size_t)1 << 30;

// ---- targets ------------------------------------------------------------------------------------

// value of a column at time t, linear between its rows; NaN outside and beside blank fields
static double column_at(const snw_data_table *table, int column, double t) {
    const double *time = table->value, *x = time + (size_t)column * (size_t)table->nrow;
    const double near = 1e-9 * fmax(1, fabs(t));
    for (int i = 0; i < table->nrow; i++) {
        if (fabs(time[i] - t) <= near) return x[i];
        if (i > 0 && time[i - 1] < t && t < time[i])
            return x[i - 1] + (x[i] - x[i - 1]) * (t - time[i - 1]) / (time[i] - time[i - 1]);
    }
    return NAN;
}

// the limit of an input, new where it has none
static snw_track_limit *limit_of(snw_track_limit *limit, int *n, const char *name) {
    for (int i = 0; i < *n; i++) {
        if (strcmp(limit[i].input, name) == 0) return &limit[i];
    }
    limit[*n] = (snw_track_limit){.input = name, .low = NAN, .high = NAN, .rate = NAN};
    return &limit[(*n)++];
}

// inputs by name, with the limits of --actuator and --rate
static snw_status track_inputs(const snw_args *args, const snw_part_place *place, snw_pool *pool,
                               snw_track_options *how, snw_error *err) {
    const char *const *actuator = NULL, *const *rate = NULL;
    int n = 0, nrate = 0;
    SNW_TRY(snw_part_texts(args, "actuator", pool, &n, &actuator, err));
    SNW_TRY(snw_part_texts(args, "rate", pool, &nrate, &rate, err));
    const char **input = snw_pool_array(pool, (size_t)n + 1, sizeof *input);
    snw_track_limit *limit = snw_pool_array(pool, (size_t)(n + nrate) + 1, sizeof *limit);
    if (!input || !limit) return snw_fail_memory(err);
    for (int i = 0; i < n; i++) {
        char *name, *range;
        SNW_TRY(snw_part_split(pool, actuator[i], &name, &range, err));
        input[i] = name;
        if (!range) continue;
        snw_track_limit *own = limit_of(limit, &how->nlimit, name);
        SNW_TRY(snw_part_range(place, "--actuator", name, range, &own->low, &own->high, err));
    }
    for (int i = 0; i < nrate; i++) {
        char *name, *value;
        SNW_TRY(snw_part_split(pool, rate[i], &name, &value, err));
        if (!value)
            return snw_fail(err, SNW_E_ARGUMENT, "--rate takes NAME=VALUE, got '%.100s'", rate[i]);
        SNW_TRY(snw_part_number(place, "--rate", name, value, true,
                                &limit_of(limit, &how->nlimit, name)->rate, err));
    }
    how->ninput = n;
    how->input = input;
    how->limit = limit;
    return SNW_OK;
}

static snw_status track_options(const snw_args *args, const snw_part_place *place, double start,
                                snw_pool *pool, snw_track_options *how, snw_error *err) {
    *how = snw_track_defaults();
    snw_data_table table;
    SNW_TRY(snw_measured_read(pool, snw_args_value(args, "targets"), &table, err));
    if (table.ncolumn < 2 || strcmp(table.name[0], "t") != 0 || table.nrow < 1)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the first column of --targets is 't', then come columns of probes, such "
                        "as 'tip.x'");
    SNW_TRY(snw_part_time(place->job, "step", snw_args_value(args, "step"), &how->step, err));
    const double steps = (table.value[table.nrow - 1] - start) / how->step;
    if (!(how->step > 0) || !(steps >= 0.5 && steps < 1e6))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "from t = %g s to the last target are %g steps of %g s; at least one and "
                        "at most 1e6 are wanted",
                        start, steps, how->step);
    how->nstep = (int)lround(steps);
    how->noutput = table.ncolumn - 1;
    how->output = table.name + 1;
    double *target =
        snw_pool_array(pool, (size_t)how->nstep * (size_t)how->noutput, sizeof *target);
    if (!target) return snw_fail_memory(err);
    for (int n = 0; n < how->nstep; n++) {
        for (int k = 0; k < how->noutput; k++)
            target[(size_t)n * (size_t)how->noutput + (size_t)k] =
                column_at(&table, k + 1, start + (n + 1) * how->step);
    }
    how->target = target;
    SNW_TRY(track_inputs(args, place, pool, how, err));
    double iterations = how->iterations;
    SNW_TRY(snw_args_number(args, "effort", 1e-30, 1e30, &how->effort, err));
    SNW_TRY(snw_args_number(args, "smooth", 0, 1e30, &how->smooth, err));
    SNW_TRY(snw_args_number(args, "iterations", 1, 1e6, &iterations, err));
    how->iterations = (int)iterations;
    return SNW_OK;
}

// ---- output -------------------------------------------------------------------------------------

// inputs over each step and outputs at its end, a line for each
static void track_table(const snw_track_result *r, double start, double step, const snw_sink *to) {
    snw_cell_text(to, "t");
    for (int i = 0; i < r->ninput; i++) snw_cell_comma(to), snw_cell_text(to, r->input[i].name);
    for (int i = 0; i < r->noutput; i++) snw_cell_comma(to), snw_cell_text(to, r->output[i].name);
    snw_cell_end(to);
    for (int n = 0; n < r->nstep; n++) {
        char time[SNW_NUMBER_SIZE];
        snw_number_text(start + (n + 1) * step, time);
        (void)to->write(to->user, time, strlen(time));
        for (int i = 0; i < r->ninput; i++) snw_cell_number(to, r->u[n * r->ninput + i]);
        for (int i = 0; i < r->noutput; i++) snw_cell_number(to, r->y[n * r->noutput + i]);
        snw_cell_end(to);
    }
}

// The largest error of an output, in its unit, and the step at whose end it is; -1: no targets.
static int largest_error(const snw_track_result *r, const double *target, int output,
                         double *error) {
    int at = -1;
    *error = 0;
    for (int n = 0; n < r->nstep; n++) {
        const double e = fabs(r->y[n * r->noutput + output] - target[n * r->noutput + output]);
        if (!isnan(e) && (at < 0 || e > *error)) *error = e, at = n;
    }
    return at;
}

static void track_json(snw_json *j, const snw_track_result *r, const snw_track_options *how,
                       double start) {
    snw_field_bool(j, "converged", r->converged);
    snw_field_integer(j, "iterations", r->iterations);
    snw_field_number(j, "mean_error", r->error);
    snw_field_number(j, "largest", r->largest);
    snw_field_number(j, "squares", r->squares);
    snw_field_number(j, "cost", r->cost);
    snw_field_integer(j, "limited", r->limited);
    snw_field_number(j, "alternation", r->alternation);
    snw_field_number(j, "start_moved", r->start_moved);
    for (int side = 0; side < 2; side++) {
        const int n = side ? r->noutput : r->ninput;
        const snw_track_column *column = side ? r->output : r->input;
        const double *value = side ? r->y : r->u;
        snw_field_list(j, side ? "outputs" : "inputs");
        for (int i = 0; i < n; i++) {
            snw_field_object(j, NULL);
            snw_field_text(j, "name", column[i].name);
            snw_field_text(j, "unit", column[i].unit);
            double error;
            const int worst = side ? largest_error(r, how->target, i, &error) : -1;
            if (worst >= 0) {
                snw_field_number(j, "largest_error", error);
                snw_field_number(j, "at", start + (worst + 1) * how->step);
            }
            snw_field_list(j, "values");
            for (int k = 0; k < r->nstep; k++) snw_field_number(j, NULL, value[k * n + i]);
            snw_json_close(j);
            snw_json_close(j);
        }
        snw_json_close(j);
    }
}

static void track_print(const snw_track_result *r, const snw_track_options *how, double start) {
    printf("%d steps, %d iterations%s\n", r->nstep, r->iterations,
           r->converged ? "" : ", not converged");
    printf("weighted error: root of the mean square %.6g, largest %.6g\n", r->error, r->largest);
    for (int i = 0; i < r->noutput; i++) {
        double error;
        const int worst = largest_error(r, how->target, i, &error);
        if (worst >= 0)
            printf("  %-26s largest error %.6g %s at t = %.6g s\n", r->output[i].name, error,
                   r->output[i].unit, start + (worst + 1) * how->step);
    }
    printf("integral of the squares of the inputs: %.9g\n", r->squares);
    if (r->multiplier)
        printf("limits hold %d of %d inputs of steps\n", r->limited, r->nstep * r->ninput);
    for (int i = 0; i < r->ninput; i++) {
        double low = INFINITY, high = -INFINITY;
        for (int n = 0; n < r->nstep; n++) {
            low = fmin(low, r->u[n * r->ninput + i]);
            high = fmax(high, r->u[n * r->ninput + i]);
        }
        printf("  %-26s %13.6g to %13.6g %s\n", r->input[i].name, low, high, r->input[i].unit);
    }
}

// Inputs that alternate are told: between the ends of steps the outputs then do not follow.
static void warn_of_alternation(const snw_track_result *r, const char *path, snw_reply *reply) {
    const double many = 0.1; // of smooth inputs (w h)^4/16, of those that switch a few times less
    if (!(r->alternation > many)) return;
    char text[240];
    (void)snprintf(
        text, sizeof text,
        "%.0f %% of the squares of the inputs alternate from step to step, which the "
        "targets at the ends of steps hardly show; --smooth 1e-5 or more, targets without "
        "corners or longer steps make the inputs smooth",
        100 * r->alternation);
    snw_reply_warn(reply, path, text);
}

// A start that is not closed is told: the motion begins elsewhere than the file says.
static void warn_of_start(const snw_track_result *r, const char *path, snw_reply *reply) {
    char text[320];
    if (!(r->start_moved > 0)) return;
    (void)snprintf(text, sizeof text,
                   "the initial state does not close the loops, or its rates do not respect them "
                   "and the wheels: the motion begins at the nearest state that does, which moves "
                   "link '%.60s' most, by %.3g of a typical deformation; give initial: values of "
                   "the closed robot",
                   r->start_link, r->start_moved);
    snw_reply_warn(reply, path, text);
}

// ---- the command --------------------------------------------------------------------------------

static snw_status track_robot(const snw_args *args, const snw_job *job, snw_robot *r,
                              snw_pool *pool, snw_reply *reply, bool *converged, snw_error *err) {
    if (!snw_args_has(args, "targets") || !snw_args_has(args, "step"))
        return snw_fail(err, SNW_E_ARGUMENT, "--targets and --step are needed");
    const char *where = snw_args_value(args, "at"), *path = snw_args_value(args, "output");
    if (where && strcmp(where, "static") != 0 && strcmp(where, "start") != 0)
        return snw_fail(err, SNW_E_ARGUMENT, "--at is 'static' or 'start', got '%.60s'", where);
    if (path) SNW_TRY(snw_job_refuse_output("targets", snw_args_value(args, "targets"), path, err));
    if (!where || strcmp(where, "static") == 0) SNW_TRY(snw_robot_equilibrium(r, 0, err));
    const double start = snw_robot_time(r);
    snw_track_options how;
    const snw_part_place place = {.job = job, .model = snw_robot_model_of(r)};
    SNW_TRY(track_options(args, &place, start, pool, &how, err));
    snw_track_result *found = NULL;
    SNW_TRY(snw_robot_track(r, &how, &found, err));
    *converged = found->converged;
    warn_of_start(found, job->path, reply);
    warn_of_alternation(found, job->path, reply);
    snw_status s = SNW_OK;
    if (path) {
        snw_output out;
        s = snw_output_open(path, &out, err);
        if (s == SNW_OK) {
            const snw_sink to = snw_output_sink(&out);
            track_table(found, start, how.step, &to);
            s = snw_output_close(&out, SNW_OK, err);
        }
    }
    if (s == SNW_OK && reply->json) track_json(reply->json, found, &how, start);
    if (s == SNW_OK && !reply->json) track_print(found, &how, start);
    snw_track_close(found);
    return s;
}

static snw_status track_job(const snw_args *args, const snw_job *job, snw_reply *reply,
                            bool *converged, snw_error *err) {
    SNW_TRY(snw_stop_at_once(err));
    const char *const *set = NULL;
    const int nset = snw_args_values(args, "set", &set);
    if (job->n > 1 && snw_args_has(args, "run"))
        return snw_fail(err, SNW_E_ARGUMENT, "the inputs are those of one run; choose one");
    const char *path = snw_args_value(args, "output");
    if (path) SNW_TRY(snw_job_refuse_output("model", job->path, path, err));
    snw_robot *r = NULL;
    SNW_TRY(snw_robot_open(job->path, job->run[0].name, nset, set, &r, err));
    snw_pool *pool = snw_pool_create(POOL_LIMIT);
    const snw_status s =
        pool ? track_robot(args, job, r, pool, reply, converged, err) : snw_fail_memory(err);
    snw_pool_destroy(pool);
    snw_robot_close(r);
    return s;
}

static int cmd_track_run(const snw_args *args, snw_reply *reply) {
    snw_error err = {0};
    snw_job job;
    bool converged = true;
    snw_status s = snw_job_open_args(snw_args_operand(args, 0), args, &job, &err);
    if (s == SNW_OK) s = track_job(args, &job, reply, &converged, &err);
    if (s == SNW_OK && !converged)
        s = snw_fail(
            &err, SNW_E_DIVERGED,
            "the search did not converge; its last motion and errors are given. Try more "
            "--iterations, a slower motion, shorter steps, limits of the inputs or a larger "
            "--effort");
    if (s != SNW_OK) snw_reply_fail(reply, &err);
    snw_job_close(&job);
    return snw_reply_exit_input(s);
}

static const snw_option options[] = {
    {"targets", 0, "FILE.csv", false,
     "the desired motion: columns t, then columns of probes, tip.x, in SI, linear between rows; "
     "blank fields are free, and so are times outside of the rows"},
    {"step", 0, "TIME", false, "of the integration; inputs are constant over each step"},
    {"actuator", 'a', "NAME=LOW..HIGH", true,
     "an actuator, one of its inputs, or a component of a load (push.fz) that may change, and its "
     "limits, e.g. --actuator 'motor=-2 N*m..2 N*m'; either or both may be left out: no limit, but "
     "tensions are not negative. cord(k=1..3) are three. May be repeated; all actuators unless "
     "given"},
    {"rate", 0, "NAME=VALUE", true,
     "largest change per second of an input, from the one at the beginning on"},
    {"effort", 0, "VALUE", false,
     "weight of the squares of inputs, relative to what each does to the targets in the first "
     "step alone, 1e-9 unless given"},
    {"smooth", 0, "VALUE", false,
     "weight of the squares of the changes of inputs from step to step while targets are given, "
     "relative likewise, 0 unless given; 1e-6 to 1e-4 where inputs alternate from step to step, as "
     "they "
     "may "
     "for short steps or targets with corners"},
    {"iterations", 0, "N", false,
     "at most so many in a search, 100 unless given; with limits three times as many. A search "
     "that does not converge is repeated over parts of the horizon that grow"},
    {"at", 0, "WHERE", false,
     "the motion begins at the equilibrium of the file (static, the default) or at its initial "
     "state (start)"},
    {"output", 'o', "FILE.csv", false,
     "table of the times at the ends of steps, inputs over them and outputs there"},
    SNW_OPTION_RUN,
    SNW_OPTION_SET,
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_track = {
    .name = "track",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "inputs for a desired motion of probes: inverse dynamics over a horizon",
    .about =
        "Computes the inputs of actuators for which probes follow a desired motion from t = 0 to "
        "the "
        "last row of the targets, by least squares over all steps. The robot may have fewer inputs "
        "than coordinates. Where an output moves the other way first, such as the tip of a "
        "flexible "
        "link, give the inputs time: rows of targets that keep the output at rest before and after "
        "its motion. Limits hold at every step, and the motion is then the nearest that they "
        "allow.\n\n"
        "Steps are those of the trapezoidal rule; of robots with loops those of the scheme "
        "conserving, with given coordinates, which follow their laws, of moreau. Efforts of given "
        "coordinates are probes of the study." SNW_ABOUT_IN_FILE,
    .option = options,
    .examples =
        "sinew track link.yaml --targets tip.csv --step '10 ms' -o torque.csv\n"
        "sinew track arm.yaml --targets tip.csv --step '5 ms' -a 'cord(1)' -a 'cord(2)' --json\n"
        "sinew track link.yaml --targets tip.csv --step '10 ms' -a 'motor=-2..2 N*m' \\\n"
        "  --rate 'motor=20 N*m/s'",
    .run = cmd_track_run,
    .in_file = true,
};
