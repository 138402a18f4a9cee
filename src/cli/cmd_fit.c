// SPDX-License-Identifier: MIT
//
// sinew fit: options of parameter identification (fit_values.c) and shape estimation (fit_shape.c).
#include "base/fail.h"
#include "cli/commands.h"
#include "cli/fit.h"

// Options that are valid only with --find or only with --shape.
static const struct {
    const char *option, *use;
} belongs[] = {
    {"error", "find"},
    {"shift", "find"},
    {"free", "shape"},
    {"filter", "shape"},
};

static snw_status check_use(const snw_args *args, snw_error *err) {
    const bool find = snw_args_has(args, "find"), shape = snw_args_has(args, "shape");
    if (find == shape) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "%s --find PATH, for values of the model, or --shape ROD, for the "
                        "coordinates of a rod",
                        find ? "give one of" : "say what to fit:");
    }
    for (size_t i = 0; i < sizeof belongs / sizeof *belongs; i++) {
        if (snw_args_has(args, belongs[i].option) && !snw_args_has(args, belongs[i].use)) {
            return snw_fail(err, SNW_E_ARGUMENT, "--%s belongs to --%s", belongs[i].option,
                            belongs[i].use);
        }
    }
    return SNW_OK;
}

static int cmd_fit_run(const snw_args *args, snw_reply *reply) {
    snw_error err = {0};
    if (check_use(args, &err) != SNW_OK) {
        snw_reply_fail(reply, &err);
        return SNW_EXIT_USAGE;
    }
    return snw_args_has(args, "shape") ? snw_fit_shape(args, reply) : snw_fit_values(args, reply);
}

static const snw_option options[] = {
    {"find", 0, "PATH[=START]", true,
     "a number to find, named as by --set; the search starts from what the file says, or from "
     "START, e.g. --find rubber.young='1 MPa'. May be repeated"},
    {"shift", 0, "START", false,
     "find also by how much the study's time is later than that of the data, from START, e.g. "
     "--shift '50 ms'"},
    {"error", 0, "COLUMN=SIZE", true,
     "how large errors of this column, or of all columns of a probe, are, e.g. --error tip='1 mm'. "
     "May be repeated"},
    {"shape", 0, "ROD", false,
     "find the strain coordinates of this rod at each time from points measured along it"},
    {"free", 0, NULL, false,
     "with --shape: the root of the rod may be anywhere; its pose is found too, and written behind "
     "the coordinates"},
    {"filter", 0, "FREQUENCY", false,
     "with --shape: take away what is faster, e.g. --filter '4 Hz', by a Butterworth filter of "
     "order 4, forwards and backwards"},
    {"output", 'o', "OUT", false,
     "where the outcome goes: with --find a model file with the values found, with --shape a "
     "table"},
    SNW_OPTION_RUN,
    SNW_OPTION_SET,
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_fit = {
    .name = "fit",
    .operands = "FILE DATA.csv...",
    .min_operands = 2,
    .max_operands = 100,
    .brief = "find values of a model from measurements",
    .about = "Finds the values of --find at which the study of FILE comes nearest to what was "
             "measured: least squares, by "
             "running the study again and again.\n\n"
             "DATA.csv has a line of names, then rows of numbers. The first column is 't', the "
             "time of the study, and rises; "
             "the others are named as 'sinew show --csv' names them: tip.x, turn.ry, wire@3.z. A "
             "field may be blank. Of a file "
             "with several runs choose one by --run, or give one DATA.csv for each, in the order "
             "of the runs.\n\n"
             "Columns are weighed by --error, and else by the largest magnitude that their probe "
             "was measured to have. Values "
             "come with their standard errors, which take the scatter about the best fit as the "
             "error of measurement; a "
             "warning names those that the data cannot tell apart or do not determine. Where the "
             "nearest "
             "that the model comes still misses a column, by more than three of its --error, or, "
             "where none is "
             "given, by more than a tenth of how far its probe moves and a hundredth of its size, "
             "the target is "
             "not reached: this is said, and the exit status is 1. A run that fails during the "
             "search only shortens the "
             "step.\n\n"
             "With --shape DATA.csv has points of a rod in the world, m: columns t, then x@0.05, "
             "y@0.05, z@0.05, .. at stations "
             "of the rod, as they are written behind its name in the model (0.05 m, 20 %, L/3), or "
             "x1, y1, z1, x2, .. at equal "
             "ones from root to tip. Components may be missing or blank. The outcome is a table of "
             "the rod's coordinates that "
             "can drive it: shape: {rod: arm, position: ['table(\"coordinates.csv\", 2)', ..]}. "
             "What else moves is where it is at the "
             "start; poses follow their laws.",
    .option = options,
    .examples =
        "sinew fit arm.yaml release.csv --find rubber.young --find rubber.damping='5 ms'\n"
        "sinew fit arm.yaml still.csv --find E='10 MPa' --error tip='0.5 mm' -o fitted.yaml\n"
        "sinew fit arm.yaml light.csv heavy.csv --run light --run heavy --find rubber.young "
        "--json\n"
        "sinew fit arm.yaml camera.csv --shape arm --filter '4 Hz' -o coordinates.csv",
    .run = cmd_fit_run,
};
