// SPDX-License-Identifier: MIT
#include "near.h"
#include "sinew/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static snw_robot_model *open_text(const char *text) {
    snw_robot_model *m = NULL;
    snw_error err = {0};
    const snw_status s = snw_robot_model_parse("text", text, strlen(text), NULL, 0, NULL, &m, &err);
    if (s != SNW_OK) print_error("%s\n", err.text);
    assert_int_equal(s, SNW_OK);
    return m;
}

// laws of the time of a series of equilibria: a straight line and a decay
static const char line_text[] =
    "sinew: 1\ngravity: 0\nparameters: {a: 0.3, b: 1.2, k: 0.7, idle: 2}\n"
    "robot: {mass: {on: world, joint: prismatic, axis: x, stiffness: 1, body: {mass: 1}}}\n"
    "study: [static: {for: 5 s, step: 0.5 s}]\n"
    "probes: {y: {law: a + b*t/(1 s)}, z: {law: exp(-k*t/(1 s))}}\n";

static const double line_t[] = {0, 1, 2, 3, 4, 5}, line_y[] = {0.11, 0.93, 2.12, 2.88, 4.05, 5.02};

typedef struct line {
    snw_robot_model *model;
    snw_fit_column column;
    snw_fit_data data;
    snw_fit_find find[2];
    snw_fit_options how;
} line;

static void line_open(line *l) {
    l->model = open_text(line_text);
    l->column = (snw_fit_column){.name = "y", .n = 6, .t = line_t, .y = line_y, .error = 0.1};
    l->data = (snw_fit_data){.model = l->model, .ncolumn = 1, .column = &l->column};
    l->find[0] = snw_fit_find_defaults("a");
    l->find[1] = snw_fit_find_defaults("b");
    l->how = snw_fit_defaults();
    l->how.nfind = 2, l->how.find = l->find, l->how.ndata = 1, l->how.data = &l->data;
}

static snw_fit_result *fit_of(const snw_fit_options *how) {
    snw_fit_result *r = NULL;
    snw_error err = {0};
    const snw_status s = snw_fit_models(how, &r, &err);
    if (s != SNW_OK) print_error("%s\n", err.text);
    assert_int_equal(s, SNW_OK);
    return r;
}

// exact regression (references.md K): values, deviations, intervals, a prior, an outlier
static void a_line_is_fitted_as_by_regression(void **state) {
    (void)state;
    line l;
    line_open(&l);
    snw_fit_result *r = fit_of(&l.how);
    assert_near(r->found[0].value, 0.0419047619, 1e-9);
    assert_near(r->found[1].value, 0.9905714286, 1e-9);
    assert_near(r->found[0].error, 0.07687372, 1e-8);
    assert_near(r->found[1].error, 0.02539055, 1e-8);
    assert_near(r->found[1].high - r->found[1].value, 0.07049548, 1e-8);
    assert_near(r->correlation[1], -0.8257228238, 1e-8);
    assert_near(r->variance, 0.011281904762 / 0.01, 1e-8);
    assert_int_equal(r->nvalue, 6);
    assert_near(r->after[3], 0.0419047619 + 3 * 0.9905714286 - 2.88, 1e-9);
    assert_near(r->before[0], 0.3 - 0.11, 1e-12);
    assert_int_equal(r->exact, 1);
    assert_string_equal(r->found[1].path, "b");
    snw_fit_close(r);
    l.how.known = 1;
    r = fit_of(&l.how);
    assert_near(r->found[0].error, 0.07237469, 1e-8);
    assert_near(r->chi2, 4.5127619, 1e-6);
    snw_fit_close(r);
    l.find[1].prior = 0.9, l.find[1].sigma = 0.02;
    r = fit_of(&l.how);
    assert_near(r->found[0].value, 0.17509804, 1e-8);
    assert_near(r->found[1].value, 0.93729412, 1e-8);
    assert_near(r->found[1].error, 0.0153393, 1e-7);
    snw_fit_close(r);
    l.find[1] = snw_fit_find_defaults("b");
    double out[6];
    memcpy(out, line_y, sizeof out);
    out[3] = 4.5;
    l.column.y = out;
    l.how.robust = 1.345;
    r = fit_of(&l.how);
    assert_near(r->found[0].value, 0.07798305, 1e-7);
    assert_near(r->found[1].value, 0.99891525, 1e-7);
    assert_near(r->weight[3], 0.09436801, 1e-6);
    snw_fit_close(r);
    snw_robot_model_close(l.model);
}

// bounds, a value that was not measured, two models, intervals by profile
static void bounds_gaps_models_and_profiles(void **state) {
    (void)state;
    line l;
    line_open(&l);
    double some[6];
    memcpy(some, line_y, sizeof some);
    some[2] = NAN;
    l.column.y = some;
    l.find[0].low = 0.2;
    snw_fit_result *r = fit_of(&l.how);
    assert_int_equal(r->nvalue, 5);
    assert_int_equal(r->found[0].at, -1);
    assert_near(r->found[0].value, 0.2, 1e-15);
    assert_true(isnan(r->found[0].error) && isnan(r->found[0].low));
    snw_fit_close(r);
    // each half of the data belongs to a model of its own: as all in one
    snw_robot_model *other = open_text(line_text);
    const snw_fit_column half[2] = {
        {.name = "y", .n = 3, .t = line_t, .y = line_y, .error = 0.1},
        {.name = "y", .n = 3, .t = line_t + 3, .y = line_y + 3, .error = 0.1}};
    const snw_fit_data data[2] = {{.model = l.model, .ncolumn = 1, .column = &half[0]},
                                  {.model = other, .ncolumn = 1, .column = &half[1]}};
    l.find[0].low = NAN;
    l.how.ndata = 2, l.how.data = data;
    r = fit_of(&l.how);
    assert_near(r->found[0].value, 0.0419047619, 1e-9);
    snw_fit_close(r);
    snw_robot_model_close(other);
    static const double t[] = {0.5, 1, 1.5, 2, 3}, z[] = {0.62, 0.37, 0.23, 0.12, 0.06};
    const snw_fit_column decay = {.name = "z", .n = 5, .t = t, .y = z, .error = 0.02};
    const snw_fit_data one = {.model = l.model, .ncolumn = 1, .column = &decay};
    const snw_fit_find k = snw_fit_find_defaults("k");
    l.how.nfind = 1, l.how.find = &k, l.how.ndata = 1, l.how.data = &one;
    l.how.known = l.how.profile = 1;
    r = fit_of(&l.how);
    assert_near(r->found[0].value, 0.9897109361, 1e-8);
    assert_near(r->found[0].error, 0.0299250757, 1e-7);
    assert_near(r->found[0].low, 0.933406545, 1e-6);
    assert_near(r->found[0].high, 1.050450069, 1e-6);
    snw_fit_close(r);
    snw_robot_model_close(l.model);
}

static void fails(const snw_fit_options *how, snw_status want, const char *why) {
    snw_fit_result *r = NULL;
    snw_error err = {0};
    assert_int_equal(snw_fit_models(how, &r, &err), want);
    if (!strstr(err.text, why)) fail_msg("'%s' lacks '%s'", err.text, why);
    snw_fit_close(r);
}

static void what_cannot_be_found_is_named(void **state) {
    (void)state;
    line l;
    line_open(&l);
    l.find[1] = snw_fit_find_defaults("idle");
    fails(&l.how, SNW_E_SINGULAR, "'idle' cannot be found");
    l.find[1] = snw_fit_find_defaults("nothing");
    fails(&l.how, SNW_E_PARSE, "nothing");
    l.find[1] = snw_fit_find_defaults("b");
    l.find[1].low = 2, l.find[1].high = 3;
    fails(&l.how, SNW_E_ARGUMENT, "outside of its bounds");
    l.find[1] = snw_fit_find_defaults("b");
    l.find[1].prior = 1, l.find[1].sigma = 1;
    fails(&l.how, SNW_E_ARGUMENT, "known");
    l.find[1] = snw_fit_find_defaults("b");
    l.column.name = "x";
    fails(&l.how, SNW_E_ARGUMENT, "no column 'x'");
    l.column.name = "y";
    l.column.error = 0;
    fails(&l.how, SNW_E_ARGUMENT, "positive error");
    l.column.error = 1;
    l.column.n = 1;
    fails(&l.how, SNW_E_ARGUMENT, "not enough");
    static const double late[] = {1, 2, 9};
    l.column.n = 3;
    l.column.t = late;
    fails(&l.how, SNW_E_ARGUMENT, "t = 9 s");
    l.how.robust = 1;
    fails(&l.how, SNW_E_ARGUMENT, "robust");
    l.how.nfind = 0;
    fails(&l.how, SNW_E_ARGUMENT, "missing");
    fails(NULL, SNW_E_ARGUMENT, "NULL");
    snw_robot_model_close(l.model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_fitted_as_by_regression),
        cmocka_unit_test(bounds_gaps_models_and_profiles),
        cmocka_unit_test(what_cannot_be_found_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
