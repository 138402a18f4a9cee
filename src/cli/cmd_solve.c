// SPDX-License-Identifier: MIT
//
// sinew solve: inputs of actuators for desired values of probes in equilibrium, within limits.
#include "base/alloc.h"
#include "base/fail.h"
#include "base/pool.h"
#include "cli/cells.h"
#include "cli/commands.h"
#include "cli/inverse_write.h"
#include "cli/job.h"
#include "cli/output.h"
#include "cli/part_number.h"
#include "cli/stop.h"
#include "language/table.h"
#include "sinew/inverse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POOL_LIMIT = 1 << 24 };

// ---- options ------------------------------------------------------------------------------------

// Options with their context.
typedef struct solve_options {
    const snw_args *args;
    snw_part_place place;
    snw_pool *pool;
    snw_inverse_options how;
    snw_inverse_target *target;
    snw_inverse_actuator *actuator;
    snw_data_table series; // --targets
} solve_options;

static snw_status needs_value(const char *option, const char *text, snw_error *err) {
    return snw_fail(err, SNW_E_ARGUMENT, "%s takes NAME=VALUE, got '%.100s'", option, text);
}

// A target: values separated by commas outside parentheses, in brackets or not.
static snw_status read_target(solve_options *o, const char *text, snw_inverse_target *to,
                              snw_error *err) {
    char *name, *rest;
    SNW_TRY(snw_part_split(o->pool, text, &name, &rest, err));
    if (!rest) return needs_value("--target", text, err);
    double *value = snw_pool_array(o->pool, strlen(rest) + 1, sizeof *value);
    if (!value) return snw_fail_memory(err);
    *to = (snw_inverse_target){.output = name, .value = value, .weight = NAN};
    rest += strspn(rest, " ");
    const size_t length = strlen(rest);
    if (length > 1 && rest[0] == '[' && rest[length - 1] == ']') {
        rest[length - 1] = 0;
        rest++;
    }
    while (rest) {
        char *end = rest;
        for (int depth = 0; *end && (depth > 0 || *end != ','); end++)
            depth += *end == '(' || *end == '[' ? 1 : *end == ')' || *end == ']' ? -1 : 0;
        const bool last = *end == 0;
        *end = 0;
        SNW_TRY(snw_part_number(&o->place, "--target", name, rest, false, &value[to->n++], err));
        rest = last ? NULL : end + 1;
    }
    return SNW_OK;
}

// An actuator: NAME or NAME=LOW..HIGH, where either may be missing.
static snw_status read_actuator(solve_options *o, const char *text, snw_inverse_actuator *to,
                                snw_error *err) {
    char *name, *range;
    SNW_TRY(snw_part_split(o->pool, text, &name, &range, err));
    *to = (snw_inverse_actuator){.name = name, .low = NAN, .high = NAN, .rate = NAN, .rest = NAN};
    if (!range) return SNW_OK;
    return snw_part_range(&o->place, "--actuator", name, range, &to->low, &to->high, err);
}

// Values NAME=VALUE of an option for parts that were named before: rates, rests, weights.
static snw_status read_values(solve_options *o, const char *option, bool per_second,
                              double *(*place)(solve_options *o, const char *name),
                              snw_error *err) {
    const char *const *text = NULL;
    int n = 0;
    SNW_TRY(snw_part_texts(o->args, option, o->pool, &n, &text, err));
    char flag[20];
    (void)snprintf(flag, sizeof flag, "--%s", option);
    for (int i = 0; i < n; i++) {
        char *name, *value;
        SNW_TRY(snw_part_split(o->pool, text[i], &name, &value, err));
        if (!value) return needs_value(flag, text[i], err);
        double *to = place(o, name);
        if (!to)
            return snw_fail(err, SNW_E_ARGUMENT,
                            "%s: '%.60s' is named by no %s before; name it there, too", flag, name,
                            strcmp(option, "weight") == 0 ? "--target" : "--actuator");
        if (strcmp(option, "weight") == 0) {
            SNW_TRY(snw_part_number(&o->place, flag, "", value, false, to, err));
        } else {
            SNW_TRY(snw_part_number(&o->place, flag, name, value, per_second, to, err));
        }
    }
    return SNW_OK;
}

static snw_inverse_actuator *find_actuator(const solve_options *o, const char *name) {
    for (int i = 0; i < o->how.nactuator; i++) {
        if (strcmp(o->actuator[i].name, name) == 0) return &o->actuator[i];
    }
    return NULL;
}
static double *place_of_rate(solve_options *o, const char *name) {
    snw_inverse_actuator *a = find_actuator(o, name);
    return a ? &a->rate : NULL;
}
static double *place_of_rest(solve_options *o, const char *name) {
    snw_inverse_actuator *a = find_actuator(o, name);
    return a ? &a->rest : NULL;
}
static double *place_of_weight(solve_options *o, const char *name) {
    for (int i = 0; i < o->how.ntarget; i++) {
        if (strcmp(o->target[i].output, name) == 0) return &o->target[i].weight;
    }
    return NULL;
}

static snw_status read_time(const solve_options *o, const char *option, double *out,
                            snw_error *err) {
    const char *text = snw_args_value(o->args, option);
    if (!text) return SNW_OK;
    return snw_part_time(o->place.job, option, text, out, err);
}

// the file of --targets: a column of times, then one for each target
static snw_status read_series(solve_options *o, snw_error *err) {
    SNW_TRY(snw_measured_read(o->pool, snw_args_value(o->args, "targets"), &o->series, err));
    if (o->series.ncolumn < 2 || strcmp(o->series.name[0], "t") != 0)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the first column of --targets is 't', then come columns of probes, such "
                        "as 'tip.x'");
    o->how.ntarget = o->series.ncolumn - 1;
    return SNW_OK;
}

static snw_status read_options(solve_options *o, snw_error *err) {
    o->how = snw_inverse_defaults();
    const char *const *target = NULL, *const *actuator = NULL;
    SNW_TRY(snw_part_texts(o->args, "target", o->pool, &o->how.ntarget, &target, err));
    SNW_TRY(snw_part_texts(o->args, "actuator", o->pool, &o->how.nactuator, &actuator, err));
    const bool series = snw_args_has(o->args, "targets");
    if (o->how.ntarget == 0 && !series)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "there is no target; give one, such as --target 'tip.x=10 cm'");
    if (o->how.ntarget > 0 && series)
        return snw_fail(err, SNW_E_ARGUMENT, "give either --target or a file of --targets");
    if (!series && snw_args_has(o->args, "output"))
        return snw_fail(
            err, SNW_E_ARGUMENT,
            "--output is for a file of --targets; in a run, an 'inverse' step finds the "
            "inputs of one target and holds them");
    if (series) SNW_TRY(read_series(o, err));
    o->target = snw_pool_array(o->pool, (size_t)o->how.ntarget + 1, sizeof *o->target);
    o->actuator = snw_pool_array(o->pool, (size_t)o->how.nactuator + 1, sizeof *o->actuator);
    if (!o->target || !o->actuator) return snw_fail_memory(err);
    for (int i = 0; i < o->how.ntarget; i++) {
        if (series) {
            o->target[i] =
                (snw_inverse_target){.output = o->series.name[i + 1], .n = 1, .weight = NAN};
        } else {
            SNW_TRY(read_target(o, target[i], &o->target[i], err));
        }
    }
    for (int i = 0; i < o->how.nactuator; i++)
        SNW_TRY(read_actuator(o, actuator[i], &o->actuator[i], err));
    o->how.target = o->target;
    o->how.actuator = o->actuator;
    SNW_TRY(read_values(o, "rate", true, place_of_rate, err));
    SNW_TRY(read_values(o, "rest", false, place_of_rest, err));
    SNW_TRY(read_values(o, "weight", false, place_of_weight, err));
    SNW_TRY(read_time(o, "interval", &o->how.interval, err));
    if (snw_args_has(o->args, "rate") && !(o->how.interval > 0) && !series)
        return snw_fail(err, SNW_E_ARGUMENT, "--rate needs the --interval over which it holds");
    return read_time(o, "time", &o->how.time, err);
}

// ---- a series of targets ------------------------------------------------------------------------

// A line of names, or of the numbers of one solution: time, inputs, how near, and the limits of
// inputs, -1 for a low and 1 for a high one, with their multipliers.
static void table_line(const snw_sink *to, double t, const snw_inverse_result *r, bool names) {
    if (names) {
        snw_cell_text(to, "t");
        for (int i = 0; i < r->ninput; i++) snw_cell_comma(to), snw_cell_text(to, r->input[i].name);
        static const char own[] = ",reached,distance,stability";
        (void)to->write(to->user, own, sizeof own - 1);
        for (int i = 0; i < r->ninput; i++) {
            char name[200];
            (void)snprintf(name, sizeof name, "%.150s.limit", r->input[i].name);
            snw_cell_comma(to), snw_cell_text(to, name);
            (void)snprintf(name, sizeof name, "%.150s.multiplier", r->input[i].name);
            snw_cell_comma(to), snw_cell_text(to, name);
        }
        snw_cell_end(to);
        return;
    }
    char time[SNW_NUMBER_SIZE];
    snw_number_text(t, time);
    (void)to->write(to->user, time, strlen(time));
    for (int i = 0; i < r->ninput; i++) snw_cell_number(to, r->input[i].value);
    snw_cell_number(to, r->reached);
    snw_cell_number(to, r->distance);
    snw_cell_number(to, r->stability);
    for (int i = 0; i < r->ninput; i++) {
        const snw_limit limit = r->input[i].limit;
        const bool low = limit == SNW_LIMIT_LOW || limit == SNW_LIMIT_FALL;
        snw_cell_number(to, limit == SNW_LIMIT_NONE ? 0 : low ? -1 : 1);
        snw_cell_number(to, r->input[i].multiplier);
    }
    snw_cell_end(to);
}

static void print_line(double t, const snw_inverse_result *r, bool first) {
    if (first) {
        printf("             t");
        for (int i = 0; i < r->ninput; i++) printf(" %16.16s", r->input[i].name);
        printf("     distance\n");
    }
    printf("%14.9g", t);
    for (int i = 0; i < r->ninput; i++) printf(" %16.9g", r->input[i].value);
    printf(" %12.4g", r->distance);
    if (!r->reached) printf("  not reached");
    for (int i = 0; i < r->ninput; i++) {
        if (r->input[i].limit != SNW_LIMIT_NONE)
            printf("; %s at %s", r->input[i].name, snw_limit_name(r->input[i].limit));
    }
    if (r->ended) printf("; equilibria end");
    printf("\n");
}

// One row: its targets, those that are not blank, from the equilibrium of the row before.
static snw_status solve_row(solve_options *o, snw_robot *r, int row, const snw_sink *to,
                            snw_reply *reply, bool *reached, snw_error *err) {
    const snw_data_table *table = &o->series;
    snw_inverse_options how = o->how;
    how.time = table->value[row];
    if (row > 0) how.interval = how.time - table->value[row - 1];
    how.ntarget = 0;
    snw_inverse_target *target =
        snw_pool_array(o->pool, (size_t)o->how.ntarget + 1, sizeof *target);
    if (!target) return snw_fail_memory(err);
    for (int k = 0; k < o->how.ntarget; k++) {
        const double *value = table->value + (size_t)(k + 1) * (size_t)table->nrow + (size_t)row;
        if (isnan(*value)) continue;
        target[how.ntarget] = o->target[k];
        target[how.ntarget++].value = value;
    }
    how.target = target;
    snw_inverse_result *found = NULL;
    snw_error why = {0};
    const snw_status s = snw_robot_solve_inverse(r, &how, &found, &why);
    if (s != SNW_OK) return snw_fail(err, s, "targets at t = %g s: %.400s", how.time, why.text);
    *reached = *reached && found->reached;
    if (to && row == 0) table_line(to, how.time, found, true);
    if (to) table_line(to, how.time, found, false);
    if (reply->json) {
        snw_field_object(reply->json, NULL);
        snw_field_number(reply->json, "t", how.time);
        snw_inverse_json(reply->json, found);
        snw_json_close(reply->json);
    } else {
        print_line(how.time, found, row == 0);
    }
    snw_inverse_close(found);
    if (!snw_stop_asked()) return SNW_OK;
    return snw_fail(err, SNW_E_STOPPED, "stopped after the targets at t = %g s", how.time);
}

static snw_status solve_series(solve_options *o, snw_robot *r, snw_reply *reply, bool *reached,
                               snw_error *err) {
    const char *path = snw_args_value(o->args, "output");
    snw_output out;
    if (path) {
        SNW_TRY(snw_job_refuse_output("model", o->place.job->path, path, err));
        SNW_TRY(snw_job_refuse_output("targets", snw_args_value(o->args, "targets"), path, err));
        SNW_TRY(snw_output_open(path, &out, err));
    }
    const snw_sink to = path ? snw_output_sink(&out) : (snw_sink){0};
    *reached = true;
    if (reply->json) snw_field_list(reply->json, "rows");
    snw_status s = SNW_OK;
    for (int row = 0; row < o->series.nrow && s == SNW_OK; row++)
        s = solve_row(o, r, row, path ? &to : NULL, reply, reached, err);
    if (reply->json) snw_json_close(reply->json);
    if (!path) return s;
    if (s != SNW_E_STOPPED) return snw_output_close(&out, s, err);
    SNW_TRY(snw_output_close(&out, SNW_OK, err)); // the rows so far
    return s;
}

// ---- the command --------------------------------------------------------------------------------

static snw_status solve_robot(solve_options *o, snw_robot *r, snw_reply *reply, bool *reached,
                              snw_error *err) {
    o->place.model = snw_robot_model_of(r);
    SNW_TRY(read_options(o, err));
    if (snw_args_has(o->args, "targets")) return solve_series(o, r, reply, reached, err);
    snw_inverse_result *found = NULL;
    SNW_TRY(snw_stop_at_once(err));
    SNW_TRY(snw_robot_solve_inverse(r, &o->how, &found, err));
    *reached = found->reached;
    if (reply->json) {
        snw_inverse_json(reply->json, found);
    } else {
        snw_inverse_print(found);
    }
    snw_inverse_close(found);
    return SNW_OK;
}

static snw_status solve_job(const snw_args *args, const snw_job *job, snw_reply *reply,
                            bool *reached, snw_error *err) {
    const char *const *set = NULL;
    const int nset = snw_args_values(args, "set", &set);
    if (job->n > 1 && snw_args_has(args, "run"))
        return snw_fail(err, SNW_E_ARGUMENT, "the inputs are those of one run; choose one");
    snw_robot *r = NULL;
    SNW_TRY(snw_robot_open(job->path, job->run[0].name, nset, set, &r, err));
    solve_options o = {.args = args, .place.job = job, .pool = snw_pool_create(POOL_LIMIT)};
    const snw_status s = o.pool ? solve_robot(&o, r, reply, reached, err) : snw_fail_memory(err);
    snw_pool_destroy(o.pool);
    snw_robot_close(r);
    return s;
}

static int cmd_solve_run(const snw_args *args, snw_reply *reply) {
    snw_error err = {0};
    snw_job job;
    bool reached = false;
    snw_status s = snw_job_open_args(snw_args_operand(args, 0), args, &job, &err);
    if (s == SNW_OK) s = solve_job(args, &job, reply, &reached, &err);
    if (s == SNW_OK && !reached)
        s = snw_fail(&err, SNW_E_DIVERGED, "%s; the nearest point is given",
                     snw_args_has(args, "targets") ? "some targets were not reached"
                                                   : "the target was not reached");
    if (s != SNW_OK) snw_reply_fail(reply, &err);
    snw_job_close(&job);
    return snw_reply_exit_input(s);
}

static const snw_option options[] = {
    {"target", 't', "NAME=VALUE", true,
     "a desired value of a column of a probe, e.g. --target 'tip.x=10 cm', or of all columns of a "
     "probe: --target 'tip=10 cm, 0, 20 cm'. May be repeated"},
    {"targets", 0, "FILE.csv", false,
     "a series of targets instead: columns t, then columns of probes, tip.x, in SI; blank fields "
     "are "
     "free. Each row begins at the equilibrium of the row before, rates hold between rows, laws of "
     "the file are evaluated at t"},
    {"output", 'o', "FILE.csv", false,
     "with --targets: table of the inputs found, which laws of a file can read: position: "
     "'table(\"inputs.csv\", \"motor\")'"},
    {"actuator", 'a', "NAME=LOW..HIGH", true,
     "an actuator that may change, or one of its inputs, or a load (push.fz), or a number of the "
     "file (silicone.young), and its limits, e.g. --actuator 'pump=0 kPa..80 kPa'; either may be "
     "left out: no limit, but tensions are not negative. cord(k=1..3) are "
     "three. May be repeated; all actuators unless given"},
    {"rate", 0, "NAME=VALUE", true,
     "with --interval: largest change per second of an actuator named before"},
    {"interval", 0, "TIME", false, "time over which rates hold, from the state of the file"},
    {"rest", 0, "NAME=VALUE", true,
     "value of an actuator to which redundancy leads, 0 unless given; of a number of the file its "
     "value there"},
    {"weight", 0, "NAME=VALUE", true,
     "weight of a target, per SI unit: 1 for angles, 1/length of the robot for lengths unless "
     "given"},
    {"time", 0, "TIME", false, "time at which laws of the file are evaluated, 0 unless given"},
    SNW_OPTION_RUN,
    SNW_OPTION_SET,
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_solve = {
    .name = "solve",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "actuation for desired values of probes: inverse statics and kinematics",
    .about =
        "Computes the inputs of actuators for which probes have desired values in equilibrium, "
        "within limits. The search starts at the equilibrium of the file, follows equilibria, and "
        "does not pass where they end or become unstable. Among several solutions it takes the one "
        "next to rest, each input measured by the range of its limits.\n\n"
        "A target that cannot be reached is answered by the nearest point that was found (a local "
        "minimum of the weighted distance), the limits that hold it and what the distance would "
        "fall per unit beyond each; the exit status is then 1." SNW_ABOUT_IN_FILE,
    .option = options,
    .examples =
        "sinew solve arm.yaml -t 'tip.x=8 cm' -t 'tip.y=-5 cm'\n"
        "sinew solve arm.yaml --targets path.csv -a 'pump=0..80 kPa' --rate 'pump=20 kPa/s' \\\n"
        "  -o inputs.csv\n"
        "sinew solve arm.yaml -t 'tip=10 cm, 0, 20 cm' -a 'pump(1)=0..80 kPa' \\\n"
        "  -a 'pump(2)=0..80 kPa' --json\n"
        "sinew solve arm.yaml -t 'tip.z=-10 cm' -a 'silicone.young=0.1 MPa..10 MPa'\n"
        "sinew solve plate.yaml -t 'plate.z=0.4' -t 'plate.rx=5 deg' -t 'plate.ry=0' \\\n"
        "  -t 'plate.rz=0'",
    .run = cmd_solve_run,
    .in_file = true,
};
