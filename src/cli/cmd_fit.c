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
    {"error", "find"}, {"shift", "find"},   {"bound", "find"},      {"prior", "find"},
    {"known", "find"}, {"robust", "find"},  {"confidence", "find"}, {"profile", "find"},
    {"free", "shape"}, {"filter", "shape"},
};

static snw_status check_use(const snw_args *args, snw_error *err) {
    const bool find = snw_args_has(args, "find"), shape = snw_args_has(args, "shape");
    if (find == shape) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "%s --find PATH, for values of the model, or --shape ROD, for the "
                        "coordinates of a rod",
                        find ? "give one of" : "what to fit is missing; give");
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
     "a number to find, named as by --set; the search starts from the value in the file, or from "
     "START, e.g. --find rubber.young='1 MPa'. May be repeated"},
    {"shift", 0, "START", false,
     "also find the time shift by which the study is later than the data, starting from START, "
     "e.g. --shift '50 ms'"},
    {"error", 0, "COLUMN=SIZE", true,
     "measurement error of this column, or of all columns of a probe, e.g. --error tip='1 mm'. May "
     "be repeated"},
    {"bound", 0, "PATH=LOW..HIGH", true,
     "bounds of a value to find, one of which may be missing, e.g. --bound rubber.young='0 Pa..'. "
     "May be repeated"},
    {"prior", 0, "PATH=VALUE+-SIGMA", true,
     "what is known of a value to find before: an expected value with its standard deviation, "
     "which counts like a measurement, e.g. --prior rubber.young='2 MPa +- 0.1 MPa'. Needs "
     "--error. May be repeated"},
    {"known", 0, NULL, false,
     "the sizes of --error are standard deviations, from which the intervals follow; without it "
     "they are weights, and the size of the errors is estimated from the residuals. --prior and "
     "--robust imply it"},
    {"robust", 0, "DELTA", false,
     "against outliers: residuals beyond DELTA times their --error count linearly (Huber's loss); "
     "1.345 loses 5 % of the information in normal errors. Needs --error"},
    {"confidence", 0, "PERCENT", false, "level of the confidence intervals, 95 by default"},
    {"profile", 0, NULL, false,
     "confidence intervals by profile likelihood: the other values are fitted again at each end"},
    {"shape", 0, "ROD", false,
     "find the strain coordinates of this rod at each time from points measured along it"},
    {"free", 0, NULL, false,
     "with --shape: also find the pose of the rod's root; it is written after the coordinates"},
    {"filter", 0, "FREQUENCY", false,
     "with --shape: cut-off frequency of a low-pass filter, e.g. --filter '4 Hz' (Butterworth of "
     "order 4, forwards and backwards)"},
    {"output", 'o', "OUT", false,
     "output file: with --find a model file with the values found, with --shape a table"},
    SNW_OPTION_RUN,
    SNW_OPTION_SET,
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_fit = {
    .name = "fit",
    .operands = "FILE DATA.csv...",
    .min_operands = 2,
    .max_operands = 100,
    .brief = "identify values of a model from measurements",
    .about =
        "Finds the values of --find for which the study of FILE fits the measurements best: "
        "nonlinear least squares; every evaluation runs the study.\n\n"
        "DATA.csv has a line of names, then rows of numbers. The first column is 't', the time of "
        "the study, increasing; the others have the names that 'sinew show --csv' prints: tip.x, "
        "turn.ry, wire@3.z. A field may be blank. Several files are fitted together: if "
        "the file has several runs, give one DATA.csv for each, in the order of the runs, or "
        "choose "
        "one run by --run, with which all files are compared.\n\n"
        "Columns are weighted by --error, or, without it, by the largest measured magnitude of "
        "their probe. Values come with standard errors and confidence intervals; the output says "
        "whether the size of the errors was estimated from the residuals (Student's distribution) "
        "or known (--known). A value that ends at its --bound has no interval, and the others are "
        "given with it held there. A warning names values that are correlated, and combinations of "
        "values that no measurement shows. If the "
        "best fit still misses a column, by more than three times its --error, or, without "
        "--error, by more than a tenth of the range of its probe and a hundredth of its magnitude, "
        "the target is not reached: a message says so, and the exit status is 1. A run that fails "
        "during the search only shortens the step.\n\n"
        "With --shape DATA.csv has points of a rod in the world, m: columns t, then x@0.05, "
        "y@0.05, z@0.05, .. at stations of the rod, written as after its name in the model (0.05 "
        "m, 20 %, L/3), or x1, y1, z1, x2, .. at equally spaced stations from root to tip. "
        "Components may be missing or blank. The result is a table of the rod's coordinates that "
        "can drive it: shape: {rod: arm, position: ['table(\"coordinates.csv\", 2)', ..]}. All "
        "other coordinates keep their initial values; poses follow their laws." SNW_ABOUT_IN_FILE,
    .option = options,
    .examples =
        "sinew fit arm.yaml release.csv --find rubber.young --find rubber.damping='5 ms'\n"
        "sinew fit arm.yaml still.csv --find E='10 MPa' --error tip='0.5 mm' -o fitted.yaml\n"
        "sinew fit arm.yaml first.csv second.csv --find E --error tip='0.5 mm' \\\n"
        "  --known --robust 1.345\n"
        "sinew fit arm.yaml light.csv heavy.csv --run light --run heavy \\\n"
        "  --find rubber.young --json\n"
        "sinew fit arm.yaml camera.csv --shape arm --filter '4 Hz' -o coordinates.csv",
    .run = cmd_fit_run,
    .in_file = true,
    .data = "data",
};
