// SPDX-License-Identifier: MIT
//
// sinew linearize: linear model of a robot about an equilibrium, its initial state or an instant of
// its study, printed and written to a file.
#include "base/alloc.h"
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/linear_print.h"
#include "cli/linear_write.h"
#include "cli/part_number.h"
#include "cli/stop.h"
#include "sinew/linear.h"
#include "sinew/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double same_time = 1e-9, // of a frame, relative
    same_place = 1e-6;                // of a node, relative to its distance or 1 m

// ---- the operating point ------------------------------------------------------------------------

// Frame of a study at a time.
typedef struct instant {
    double t;
    bool end; // the last one, whose time is t then
    bool found;
    int nq, nv, nnode;
    double *q, *v;
    double *pose; // 7 per node
} instant;

static snw_status take_frame(void *user, const snw_study *s) {
    instant *at = user;
    const double t = *snw_study_row(s, SNW_FIELD_TIME);
    if (at->end) at->t = t;
    if (t < at->t - same_time * fmax(1, fabs(at->t))) return SNW_OK;
    if (t > at->t + same_time * fmax(1, fabs(at->t))) return SNW_E_STOPPED;
    memcpy(at->q, snw_study_row(s, SNW_FIELD_Q), (size_t)at->nq * sizeof *at->q);
    memcpy(at->v, snw_study_row(s, SNW_FIELD_V), (size_t)at->nv * sizeof *at->v);
    memcpy(at->pose, snw_study_row(s, SNW_FIELD_POSE), 7 * (size_t)at->nnode * sizeof *at->pose);
    at->found = true; // of several frames at that time the last
    return SNW_OK;
}

// Frames have the strain bases of the file, robots those of the computation. Are they the same?
static snw_status check_coordinates(snw_robot *r, const instant *at, snw_error *err) {
    for (int i = 0; i < at->nnode; i++) {
        double p[3];
        SNW_TRY(snw_robot_node(r, i, p));
        for (int k = 0; k < 3; k++) {
            const double want = at->pose[7 * i + k];
            if (fabs(p[k] - want) <= same_place * fmax(1, fabs(want))) continue;
            return snw_fail(
                err, SNW_E_ARGUMENT,
                "the recorded coordinates are those of a basis of many monomials; write "
                "the strains of the rod as 'legendre'");
        }
    }
    return SNW_OK;
}

static bool study_changes(const snw_robot_model *m) {
    for (int i = 0; i < snw_robot_model_parts(m, SNW_PART_STEP); i++) {
        snw_part step;
        if (snw_robot_model_part(m, SNW_PART_STEP, i, &step) == SNW_OK &&
            strcmp(step.type, "change") == 0)
            return true;
    }
    return false;
}

// robot <- state of the study at the time at->t
static snw_status state_of_study(snw_robot *r, instant *at, snw_error *err) {
    snw_robot_model *m = snw_robot_model_of(r);
    if (study_changes(m))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the study changes the model ('change'), so its states are not those of "
                        "one model; use --at static or start, with --set");
    snw_study *study = NULL;
    SNW_TRY(snw_study_create(m, &study, err));
    snw_error stopped = {0};
    const snw_study_hooks hooks = {.user = at, .frame = take_frame};
    const snw_status s = snw_study_run(study, 0, &hooks, &stopped);
    snw_study_close(study);
    if (s != SNW_OK && s != SNW_E_STOPPED) {
        if (err) *err = stopped;
        return s;
    }
    if (!at->found)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "the study records no frame at t = %g s; choose a recorded instant, or "
                        "change 'record: {every: ..}'",
                        at->t);
    memcpy(snw_robot_q(r), at->q, (size_t)at->nq * sizeof *at->q);
    memcpy(snw_robot_v(r), at->v, (size_t)at->nv * sizeof *at->v);
    SNW_TRY(snw_robot_set_time(r, at->t));
    return check_coordinates(r, at, err);
}

static snw_status go_to_time(snw_robot *r, double t, bool end, snw_error *err) {
    instant at = {.t = t,
                  .end = end,
                  .nq = snw_robot_nq(r),
                  .nv = snw_robot_nv(r),
                  .nnode = snw_robot_nodes(r)};
    const size_t size = (size_t)at.nq + (size_t)at.nv + 7 * (size_t)at.nnode + 1;
    at.q = snw_alloc(size * sizeof *at.q);
    if (!at.q) return snw_fail_memory(err);
    at.v = at.q + at.nq;
    at.pose = at.v + at.nv;
    const snw_status s = state_of_study(r, &at, err);
    snw_free(at.q);
    return s;
}

// Frames have no strains of Maxwell branches, no memory of laws and no inputs that a step found.
static snw_status check_memory(const snw_desc *d, snw_error *err) {
    bool states = false, kept = false, relaxes = false, found = false;
    for (int i = 0; i < d->nsignal; i++) {
        const snw_signal_kind kind = d->signal[i].kind;
        states |= kind == SNW_SIGNAL_STATE || kind == SNW_SIGNAL_INTEGRAL;
        kept |=
            kind == SNW_SIGNAL_SAMPLED || kind == SNW_SIGNAL_ONCE || kind == SNW_SIGNAL_CAPTURED;
    }
    for (int i = 0; i < d->nlink; i++)
        relaxes |= d->link[i].rod.material && d->link[i].rod.material->relaxation.n > 0;
    for (int i = 0; i < d->nstep; i++) found |= d->step[i].kind == SNW_STEP_INVERSE;
    const char *what = states    ? "states and integrals of laws"
                       : kept    ? "samples, latches and captured poses of laws"
                       : relaxes ? "strains of the branches of a material that relaxes"
                       : found   ? "inputs that an inverse step has found"
                                 : NULL;
    if (!what) return SNW_OK;
    return snw_fail(
        err, SNW_E_ARGUMENT,
        "frames do not have the %s; use a 'linearize' step of the study, or --at static", what);
}

static snw_status go_to_point(snw_robot *r, const snw_job *job, const char *at, snw_error *err) {
    if (!at || strcmp(at, "static") == 0) return snw_robot_equilibrium(r, 0, err);
    if (strcmp(at, "start") == 0) return SNW_OK;
    const bool end = strcmp(at, "end") == 0;
    double t = 0;
    snw_error why = {0};
    if (!end && snw_part_time(job, "at", at, &t, &why) != SNW_OK)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "--at takes static, start, end or a time; '%.60s' is none (%.200s)", at,
                        why.text);
    SNW_TRY(check_memory(job->run[0].desc, err));
    return go_to_time(r, t, end, err);
}

// ---- the command --------------------------------------------------------------------------------

static snw_status read_options(const snw_args *args, const snw_job *job, snw_linear_options *how,
                               snw_error *err) {
    how->ninput = snw_args_values(args, "input", &how->input);
    how->noutput = snw_args_values(args, "probe", &how->output);
    how->three_inputs = snw_args_has(args, "three-inputs");
    how->reduce = snw_args_has(args, "reduce");
    how->scheme = snw_args_value(args, "scheme");
    static const char *const steps[] = {"scheme", "rho", "alpha", "reduce"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (snw_args_has(args, steps[i]) && !snw_args_has(args, "step"))
            return snw_fail(err, SNW_E_ARGUMENT, "--%s belongs to --step", steps[i]);
    }
    if (snw_args_has(args, "step")) {
        SNW_TRY(snw_part_time(job, "step", snw_args_value(args, "step"), &how->step, err));
        if (!(how->step > 0))
            return snw_fail(err, SNW_E_ARGUMENT, "--step must be positive, got %g s", how->step);
    }
    SNW_TRY(snw_args_number(args, "rho", 0, 1, &how->rho, err));
    return snw_args_number(args, "alpha", -0.5, 0, &how->alpha, err);
}

static snw_status linearize_job(const snw_args *args, const snw_job *job, snw_reply *reply,
                                snw_error *err) {
    SNW_TRY(snw_stop_at_once(err));
    const char *out = snw_args_value(args, "output");
    if (out) SNW_TRY(snw_linear_format_check(out, err));
    snw_linear_options how = snw_linear_defaults();
    SNW_TRY(read_options(args, job, &how, err));
    const char *const *set = NULL;
    const int nset = snw_args_values(args, "set", &set);
    SNW_TRY(snw_job_one_run(job, args, "a linear model", err));
    snw_robot *r = NULL;
    SNW_TRY(snw_robot_open(job->path, job->run[0].name, nset, set, &r, err));
    snw_linear_model *m = NULL;
    snw_status s = go_to_point(r, job, snw_args_value(args, "at"), err);
    if (s == SNW_OK) s = snw_robot_linearize(r, &how, &m, err);
    if (s == SNW_OK) s = snw_linear_analyse(m, err);
    if (s == SNW_OK && out) s = snw_linear_write(m, out, err);
    if (s == SNW_OK && reply->json) snw_linear_json(reply->json, m);
    if (s == SNW_OK && !reply->json) snw_linear_print(m);
    snw_linear_close(m);
    snw_robot_close(r);
    return s;
}

static int cmd_linearize_run(const snw_args *args, snw_reply *reply) {
    snw_error err = {0};
    snw_job job;
    snw_status s = snw_job_open_args(snw_args_operand(args, 0), args, &job, &err);
    if (s == SNW_OK) s = linearize_job(args, &job, reply, &err);
    if (s != SNW_OK) snw_reply_fail(reply, &err);
    snw_job_close(&job);
    return snw_reply_exit_input(s);
}

static const snw_option options[] = {
    {"at", 0, "POINT", false,
     "'static' (the default): equilibrium under the loads at t = 0; 'start': the initial state of "
     "the file; 'end': that at the end of the study; or a time, e.g. --at '0.3 s': the frame that "
     "the study records then"},
    {"input", 0, "NAME", true,
     "an input: an actuator, a load or its component (push.fy, push.tx), a number of the file "
     "named "
     "as by --set, or t, a shift of the time of all laws. May be repeated; all actuators unless "
     "given"},
    {"probe", 0, "NAME", true,
     "an output: a probe or its column (tip.x). May be repeated; all probes unless given"},
    {"three-inputs", 0, NULL, false,
     "given coordinates enter with value, rate and acceleration as three inputs, not as states"},
    {"step", 0, "TIME", false,
     "the discrete model of a step of this length, e.g. --step '10 ms'; given coordinates enter "
     "with value, rate and acceleration at its end"},
    {"scheme", 0, "NAME", false,
     "with --step: time scheme, implicit, conserving or moreau; generalized-alpha unless given"},
    {"rho", 0, "NUMBER", false, "with --step: spectral radius of the scheme at infinity"},
    {"alpha", 0, "NUMBER", false, "with --step: parameter of bdf-alpha"},
    {"reduce", 0, NULL, false,
     "with --step: displacements and rates as the only states, and the input constant over the "
     "step; for schemes of one step"},
    {"output", 'o', "OUT", false,
     "output file: .mat (MATLAB version 5), .h5 (HDF5) or .csv, by its name"},
    SNW_OPTION_RUN,
    SNW_OPTION_SET,
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_linearize = {
    .name = "linearize",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "linear model of a robot about a state, for control",
    .about =
        "Computes A, B, C, D of x' = A x + B u, y = C x + D u for the deviations from an "
        "equilibrium or from a point of a motion, with loops closed. States are the deviations of "
        "independent coordinates and their rates. Of an actuator whose position, length or volume "
        "is given, the acceleration is the input, and value and rate are states. Directions "
        "without mass follow statically, or, with damping, as states of first order; integrals "
        "and states that laws read are states, and so are the strains of the branches of materials "
        "that relax. With --step it is the discrete model of a step of an implicit "
        "scheme, whose past belongs to the states; roots that belong to the scheme are marked as "
        "parasitic. Steps of conserving and moreau have no past but coordinates, rates and memory; "
        "hard contacts stay closed or open, and a step in which one changes is refused.\n\n"
        "Prints operating values, matrices, poles, and which poles no input reaches or no output "
        "shows. A model about a moving point is that of the instant." SNW_ABOUT_IN_FILE,
    .option = options,
    .examples = "sinew linearize arm.yaml --input pump --probe tip.x -o arm.mat\n"
                "sinew linearize arm.yaml --at '0.3 s' --json\n"
                "sinew linearize arm.yaml --step '10 ms' --scheme trapezoidal --reduce -o arm.h5",
    .run = cmd_linearize_run,
    .in_file = true,
};
