// SPDX-License-Identifier: MIT
//
// sinew gradient: derivatives of results of a study by numbers of its model.
#include "base/alloc.h"
#include "base/fail.h"
#include "base/pool.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/part_number.h"
#include "cli/stop.h"
#include "language/document.h"
#include "sinew/gradient.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Variables: names from --by, separated by commas outside parentheses, and laws from --knots.
typedef struct names {
    int n;
    snw_gradient_variable *variable;
    const char **place; // of each in a file, NULL: on the command line
    char *text;
    snw_pool *pool; // of the laws
} names;

enum { MOST_KNOTS = 100000, POOL_LIMIT = 64 << 20 };

static char *trimmed(char *text) {
    while (*text == ' ') text++;
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' ';) text[--n] = 0;
    return text;
}

// NAME=RULE,NUMBER,UNTIL,UNIT: a law through equally spaced knots from t = 0 on.
static snw_status read_law(const snw_job *job, const char *given, snw_pool *pool,
                           snw_gradient_variable *out, snw_error *err) {
    static const char *const rule[] = {"hold", "linear", "smooth"};
    char *name = snw_pool_text(pool, given, strlen(given)), *part[4] = {NULL};
    if (!name) return snw_fail_memory(err);
    const char *equals = snw_set_equals(name);
    int n = 0;
    for (char *p = equals ? name + (equals - name) : NULL; p && n < 4; p = strchr(p, ',')) {
        *p++ = 0;
        part[n++] = p;
    }
    for (int i = 0; i < n; i++) part[i] = trimmed(part[i]);
    int k = 0;
    while (n > 0 && k < 3 && strcmp(part[0], rule[k]) != 0) k++;
    const bool hold = k == SNW_KNOTS_HOLD;
    char *end = NULL;
    const long count = n > 1 ? strtol(part[1], &end, 10) : 0;
    if (n < 3 || k == 3 || *end || count < (hold ? 1 : 2) || count > MOST_KNOTS)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "--knots takes NAME=RULE,NUMBER,UNTIL,UNIT with the rule hold, linear or "
                        "smooth and %s knots, e.g. 'motor.effort=linear, 11, 1 s, N*m', got "
                        "'%.100s'",
                        hold ? "1 to 100000" : "2 to 100000", given);
    double until = 0, *knot = snw_pool_array(pool, (size_t)count, sizeof *knot);
    if (!knot) return snw_fail_memory(err);
    SNW_TRY(snw_part_time(job, "knots", part[2], &until, err));
    if (!(until > 0))
        return snw_fail(err, SNW_E_ARGUMENT, "--knots: the last time must be positive, got %g s",
                        until);
    for (long i = 0; i < count; i++)
        knot[i] = (double)i * until / (double)(hold ? count : count - 1);
    *out = (snw_gradient_variable){.name = trimmed(name),
                                   .nknot = (int)count,
                                   .knot = knot,
                                   .rule = (snw_knot_rule)k,
                                   .unit = n > 3 ? part[3] : ""};
    return SNW_OK;
}

static snw_status add_laws(const snw_args *args, const snw_job *job, names *out, snw_error *err) {
    const char *const *value = NULL;
    const int n = snw_args_values(args, "knots", &value);
    out->pool = snw_pool_create(POOL_LIMIT);
    if (!out->pool) return snw_fail_memory(err);
    for (int i = 0; i < n; i++) {
        out->place[out->n] = snw_args_place(args, "knots", i);
        SNW_TRY(read_law(job, value[i], out->pool, &out->variable[out->n++], err));
    }
    if (out->n > 0) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "give the variables, e.g. --by silicone.young,arm.length");
}

static snw_status split_names(const snw_args *args, names *out, snw_error *err) {
    const char *const *value = NULL;
    const int n = snw_args_values(args, "by", &value);
    size_t length = 1;
    for (int i = 0; i < n; i++) length += strlen(value[i]) + 1;
    const size_t laws = (size_t)snw_args_values(args, "knots", NULL);
    out->text = snw_alloc(length);
    out->variable = snw_alloc((length + laws) * sizeof *out->variable);
    out->place = snw_alloc((length + laws) * sizeof *out->place);
    if (!out->text || !out->variable || !out->place) return snw_fail_memory(err);
    char *to = out->text;
    for (int i = 0; i < n; i++) {
        int depth = 0;
        char *begin = to;
        for (const char *p = value[i];; p++) {
            depth += (*p == '(') - (*p == ')');
            if (*p && (*p != ',' || depth > 0)) {
                *to++ = *p;
                continue;
            }
            *to++ = '\0';
            out->place[out->n] = snw_args_place(args, "by", i);
            if (*begin) out->variable[out->n++] = (snw_gradient_variable){.name = begin};
            begin = to;
            if (!*p) break;
        }
    }
    return SNW_OK;
}

// A name with its number among the variables.
typedef struct named {
    const char *name;
    int i;
} named;

static int by_name(const void *a, const void *b) {
    const named *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : x->i - y->i;
}

static const char *option_of(const names *by, int i) {
    return by->variable[i].nknot > 0 ? "knots" : "by";
}

static snw_status fail_twice(const names *by, int first, int second, snw_error *err) {
    const char *name = by->variable[first].name, *at[2] = {by->place[first], by->place[second]};
    const char *of[2] = {option_of(by, first), option_of(by, second)};
    const char *remedy =
        strcmp(of[0], of[1]) == 0 ? "" : ": the law through knots takes the place of the number";
    if (at[0] && at[1])
        return snw_fail(err, SNW_E_ARGUMENT,
                        "%.200s: '%.100s' is a variable twice, by '%s' here and by '%s' at %.200s; "
                        "leave one of them out%s",
                        at[1], name, of[1], of[0], at[0], remedy);
    return snw_fail(err, SNW_E_ARGUMENT,
                    "'%.100s' is a variable twice, by %s%s%.200s and by %s%s%.200s; leave one of "
                    "them out%s",
                    name, at[0] ? of[0] : "--", at[0] ? " at " : of[0], at[0] ? at[0] : "",
                    at[1] ? of[1] : "--", at[1] ? " at " : of[1], at[1] ? at[1] : "", remedy);
}

// SNW_E_ARGUMENT: a variable is given twice.
static snw_status check_names(const names *by, snw_error *err) {
    named *list = snw_alloc(((size_t)by->n + 1) * sizeof *list);
    snw_status s = list ? SNW_OK : snw_fail_memory(err);
    for (int i = 0; i < by->n && list; i++) list[i] = (named){by->variable[i].name, i};
    if (list) qsort(list, (size_t)by->n, sizeof *list, by_name);
    for (int i = 1; i < by->n && s == SNW_OK; i++) {
        if (strcmp(list[i - 1].name, list[i].name) == 0)
            s = fail_twice(by, list[i - 1].i, list[i].i, err);
    }
    snw_free(list);
    return s;
}

// ---- output -------------------------------------------------------------------------------------

static const char *const method_name[] = {"", "adjoint", "forward", "differences"};

static void print_cuts(const snw_gradient_info *info) {
    if (info->cut_steps == 0) return;
    printf("%d of the steps have lengths that the motion chose (contacts, stops, cables, starts, "
           "errors), which do not follow the variables: results jump where a variable changes one "
           "of them, and the derivatives are those between two jumps",
           info->cut_steps);
    if (isnan(info->cut_effect)) {
        printf("; with other lengths of these steps there are none");
    } else if (info->cut_effect > 0) {
        printf("; other lengths of these steps change the derivatives by up to %.1g of the largest",
               info->cut_effect);
    }
    printf(". A shorter 'step' (with 'adapt' a smaller 'tolerance') makes this less\n");
}

static void print_gradient(const snw_gradient *g, int nscalar, const char *const *of,
                           const double *p, const double *J, const double *dJ) {
    const int n = snw_gradient_size(g);
    bool sampled = false;
    for (int i = 0; i < nscalar; i++) {
        printf("%s%s = %.12g\n", i > 0 ? "\n" : "", of[i], J[i]);
        printf("  %-28s %18s %18s  %s\n", "by", "value", "derivative", "unit of the variable");
        for (int k = 0; k < n; k++)
            printf("  %-28s %18.10g %18.10g  %s\n", snw_gradient_name(g, k), p[k],
                   dJ[(size_t)i * (size_t)n + (size_t)k], snw_gradient_unit(g, k));
    }
    const snw_gradient_info info = snw_gradient_report(g);
    printf("\n%d steps, by %s", info.steps, method_name[info.method]);
    if (info.recomputed > 0) printf(", %d steps computed again", info.recomputed);
    printf("; run %.3g s, derivatives %.3g s\n", info.run_seconds, info.gradient_seconds);
    for (int k = 0, before = 0; k < n; k++) {
        if (!snw_gradient_sampled(g, k)) continue;
        printf("%s%s", before++ ? ", " : "taken one by one at each step, at a cost of their own: ",
               snw_gradient_name(g, k));
        sampled = true;
    }
    if (sampled) printf("\n");
    if (info.differenced_steps > 0)
        printf(
            "%d steps were differentiated by differences along all coordinates, at the cost of "
            "many runs; another scheme, such as bdf2, or fewer results that are forces, may need "
            "none\n",
            info.differenced_steps);
    if (info.differenced_results > 0)
        printf(
            "results at %d instants were differentiated by differences along all coordinates, at "
            "the cost of several runs; results that are motions, strains or efforts need none\n",
            info.differenced_results);
    print_cuts(&info);
    if (info.error > 0)
        printf("largest estimated error of parameter times derivative, relative to the largest of "
               "these and of the scalars: %.1g\n",
               info.error);
}

static void csv_gradient(const snw_gradient *g, int nscalar, const char *const *of, const double *J,
                         const double *dJ) {
    const int n = snw_gradient_size(g);
    printf("of,value");
    for (int k = 0; k < n; k++) printf(",\"%s\"", snw_gradient_name(g, k));
    printf("\n");
    for (int i = 0; i < nscalar; i++) {
        printf("\"%s\",%.17g", of[i], J[i]);
        for (int k = 0; k < n; k++) printf(",%.17g", dJ[(size_t)i * (size_t)n + (size_t)k]);
        printf("\n");
    }
}

static void json_gradient(snw_json *j, const snw_gradient *g, int nscalar, const char *const *of,
                          const double *p, const double *J, const double *dJ) {
    const int n = snw_gradient_size(g);
    const snw_gradient_info info = snw_gradient_report(g);
    snw_field_list(j, "variables");
    for (int k = 0; k < n; k++) {
        snw_field_object(j, NULL);
        snw_field_text(j, "name", snw_gradient_name(g, k));
        snw_field_text(j, "unit", snw_gradient_unit(g, k));
        snw_field_number(j, "value", p[k]);
        snw_field_bool(j, "sampled", snw_gradient_sampled(g, k));
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_list(j, "scalars");
    for (int i = 0; i < nscalar; i++) {
        snw_field_object(j, NULL);
        snw_field_text(j, "of", of[i]);
        snw_field_number(j, "value", J[i]);
        snw_field_list(j, "derivative");
        for (int k = 0; k < n; k++)
            snw_field_number(j, NULL, dJ[(size_t)i * (size_t)n + (size_t)k]);
        snw_json_close(j);
        snw_json_close(j);
    }
    snw_json_close(j);
    snw_field_text(j, "method", method_name[info.method]);
    snw_field_integer(j, "steps", info.steps);
    snw_field_integer(j, "recomputed", info.recomputed);
    snw_field_integer(j, "sweeps", info.sweeps);
    snw_field_integer(j, "models", info.models);
    snw_field_integer(j, "differenced_steps", info.differenced_steps);
    snw_field_integer(j, "differenced_results", info.differenced_results);
    snw_field_integer(j, "cut_steps", info.cut_steps);
    snw_field_number(j, "cut_effect", info.cut_effect);
    snw_field_number(j, "estimated_error", info.error); // 'error' is that of the command
}

// ---- the command --------------------------------------------------------------------------------

static snw_status read_method(const snw_args *args, snw_gradient_options *how, snw_error *err) {
    const char *method = snw_args_value(args, "method");
    for (int i = 1; method && i <= SNW_GRADIENT_DIFFERENCES; i++) {
        if (strcmp(method, method_name[i]) != 0) continue;
        how->method = (snw_gradient_method)i;
        return SNW_OK;
    }
    if (!method) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT, "--method is adjoint, forward or differences, got '%.60s'",
                    method);
}

static snw_status show_gradient(const snw_args *args, snw_robot_model *model,
                                const snw_gradient_options *how, snw_reply *reply, snw_error *err) {
    snw_gradient *g = NULL;
    SNW_TRY(snw_gradient_create(model, how, &g, err));
    const size_t n = (size_t)snw_gradient_size(g), m = (size_t)how->nscalar;
    double *p = snw_alloc((n + m + m * n) * sizeof *p), *J = p + n, *dJ = J + m;
    snw_status s = p ? SNW_OK : snw_fail_memory(err);
    if (s == SNW_OK) s = snw_gradient_start(g, p, err);
    if (s == SNW_OK) s = snw_gradient_evaluate(g, p, J, dJ, err);
    if (s == SNW_OK && reply->json) {
        json_gradient(reply->json, g, how->nscalar, how->scalar, p, J, dJ);
    } else if (s == SNW_OK && snw_args_has(args, "csv")) {
        csv_gradient(g, how->nscalar, how->scalar, J, dJ);
    } else if (s == SNW_OK) {
        print_gradient(g, how->nscalar, how->scalar, p, J, dJ);
    }
    snw_free(p);
    snw_gradient_close(g);
    return s;
}

static snw_status gradient_job(const snw_args *args, const snw_job *job, snw_reply *reply,
                               snw_error *err) {
    SNW_TRY(snw_stop_at_once(err));
    SNW_TRY(snw_job_one_run(job, args, "a gradient", err));
    snw_gradient_options how = snw_gradient_defaults();
    SNW_TRY(read_method(args, &how, err));
    double megabytes = how.memory / 1e6;
    SNW_TRY(snw_args_number(args, "memory", 0.001, 1e6, &megabytes, err));
    how.memory = 1e6 * megabytes;
    how.cut_effect = 1;
    how.nscalar = snw_args_values(args, "of", &how.scalar);
    if (how.nscalar == 0)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "say of what, e.g. --of 'end(tip.x)' or --of 'integral(tip.z^2)'");
    const char *const *set = NULL;
    const int nset = snw_args_values(args, "set", &set);
    names by = {0};
    snw_robot_model *model = NULL;
    snw_status s = split_names(args, &by, err);
    if (s == SNW_OK) s = add_laws(args, job, &by, err);
    if (s == SNW_OK) s = check_names(&by, err);
    how.nvariable = by.n;
    how.variable = by.variable;
    if (s == SNW_OK) s = snw_robot_model_open(job->path, job->run[0].name, nset, set, &model, err);
    if (s == SNW_OK) s = show_gradient(args, model, &how, reply, err);
    snw_robot_model_close(model);
    snw_free(by.variable);
    snw_free((void *)by.place);
    snw_free(by.text);
    snw_pool_destroy(by.pool);
    return s;
}

static int cmd_gradient_run(const snw_args *args, snw_reply *reply) {
    snw_error err = {0};
    snw_job job;
    snw_status s = snw_job_open_args(snw_args_operand(args, 0), args, &job, &err);
    if (s == SNW_OK) s = gradient_job(args, &job, reply, &err);
    if (s != SNW_OK) snw_reply_fail(reply, &err);
    snw_job_close(&job);
    return snw_reply_exit_input(s);
}

static const snw_option options[] = {
    {"of", 0, "EXPRESSION", true,
     "a scalar: an expression of end(e), at(T, e), integral(e), sum(e), mean(e), max(e), min(e), "
     "fold(K, e), "
     "with e an expression of columns of probes, plain numbers in SI units; a column beside these "
     "words is its value at the end. fold(K, e) is the value at fold K of a path. May be repeated"},
    {"by", 0, "NAMES", true,
     "variables, separated by commas: numbers of the file named as by --set; q(NAME) and v(NAME), "
     "an initial coordinate and its velocity. May be repeated"},
    {"knots", 0, "NAME=RULE,NUMBER,UNTIL,UNIT", true,
     "a law of the file as variables: it is replaced by the law through its values at so many "
     "equally spaced times from 0 to UNTIL; between them it is hold, linear or smooth, e.g. "
     "--knots "
     "'motor.effort=linear, 11, 1 s, N*m'. May be repeated"},
    {"method", 0, "NAME", false,
     "adjoint, forward or differences of whole runs; chosen by the numbers of scalars and "
     "variables unless given"},
    {"memory", 0, "MEGABYTES", false,
     "bound on the memory for states of the run, 256 unless given; beyond it steps are computed "
     "again"},
    {"csv", 0, NULL, false, "print a table, one line per scalar"},
    SNW_OPTION_RUN,
    SNW_OPTION_SET,
    SNW_OPTION_JSON,
    SNW_OPTION_END};

const snw_command snw_cmd_gradient = {
    .name = "gradient",
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .brief = "derivatives of results by parameters, initial values and laws",
    .about =
        "Computes how results of the study change with numbers of the model: static, "
        "dynamic (implicit schemes and rk4), kinematic and inverse steps, ends and folds of paths, "
        "by transposing the very steps taken, so that the derivatives "
        "are those of the computed numbers, to rounding. The cost hardly grows with the number "
        "of variables: initial values, materials, loads, tensions, gains, lengths, rest strains, "
        "poses, routings, given motions, coefficients of contacts and fluids. Those that must be "
        "taken one by "
        "one are named below the table. Lengths that steps choose (at contacts, by 'adapt: on') "
        "are of a fixed scale, so that the derivatives are those of the run as long as no variable "
        "changes one of them; their number is told, and how much the derivatives depend on them. "
        "What has no derivative is refused with its name." SNW_ABOUT_IN_FILE,
    .option = options,
    .examples =
        "sinew gradient arm.yaml --of 'end(tip.x)' --by silicone.young,arm.rod.length\n"
        "sinew gradient swing.yaml --of 'integral((bob.x - 0.3)^2)' --by 'm,v(upper.angle)'\n"
        "sinew gradient slew.yaml --of 'end(tip.x)' --knots 'motor.effort=hold, 100, 1 s, N*m'",
    .run = cmd_gradient_run,
    .in_file = true,
};
