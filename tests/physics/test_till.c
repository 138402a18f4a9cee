// SPDX-License-Identifier: MIT
//
// The digits of Till 2019 and of the tables of references.md T4 on whole studies: models of
// tests/oracle/till, each an example in the form in which the paper integrates along the rod.
#include "near.h"

#include "base/alloc.h"
#include "language/expect.h"
#include "oracle/till_march.h"
#include "sanitized.h"
#include "study/run.h"

#include <stdio.h>

// steps with linear histories or Euler's method along the rod are those of the paper; others bring
// the robot to its start
static void set_form(snw_desc *desc) {
    for (int i = 0; i < desc->nstep; i++) {
        snw_shooting_desc *how = &desc->step[i].shooting;
        if (how->history == SNW_SHOOT_LINEAR || how->along == SNW_SHOOT_EULER)
            how->form = &oracle_till_form;
    }
}

static int failed_cells(const char *run, const snw_expect *e, const snw_run_info *info,
                        const snw_series *series) {
    snw_expect_outcome o;
    assert_int_equal(snw_expect_check(e, info, series, &o), SNW_OK);
    if (o.ncell == 0) fail_msg("%s: %s", run, o.reason);
    int failed = 0;
    for (int i = 0; i < o.ncell; i++) {
        const snw_expect_cell *c = &o.cell[i];
        if (c->ok) continue;
        print_message("%s: %s at %g s is %.10g, not %.10g within %.2g\n", run, c->column, c->t,
                      c->got, c->wanted, c->allowed);
        failed++;
    }
    snw_expect_outcome_clear(&o);
    return failed;
}

// all expected values of one run of a file
static void check_run(const snw_document *doc, int index, int *values) {
    const char *name = snw_document_run_name(doc, index);
    snw_error err = {0};
    snw_desc *desc;
    snw_run *run;
    const snw_expect *expect;
    int n;
    if (snw_document_describe(doc, index, &desc, &err) != SNW_OK) fail_msg("%s", err.text);
    set_form(desc);
    if (snw_run_create(desc, name, &run, &err) != SNW_OK) fail_msg("%s", err.text);
    snw_series series;
    snw_series_init(&series, snw_run_describe(run)->ncolumn);
    const snw_recorder recorder = snw_series_recorder(&series);
    const snw_run_hooks hooks = {0};
    snw_run_totals totals;
    if (snw_run_execute(run, 1, &recorder, &hooks, &totals, &err) != SNW_OK) {
        fail_msg("%s: %s", name, err.text);
    }
    assert_int_equal(snw_document_expects(doc, index, desc, &n, &expect, &err), SNW_OK);
    int failed = 0;
    for (int i = 0; i < n; i++) {
        failed += failed_cells(name, &expect[i], snw_run_describe(run), &series);
        *values += snw_expect_cells(&expect[i]);
    }
    snw_series_clear(&series);
    snw_run_destroy(run);
    snw_desc_destroy(desc);
    if (failed > 0) fail_msg("%s: %d values", name, failed);
}

static void check_file(const char *name, int values) {
    char path[512];
    snw_error err = {0};
    snw_document *doc;
    (void)snprintf(path, sizeof path, "%s/tests/oracle/till/%s.yaml", SNW_SOURCE_DIR, name);
    if (snw_document_read(path, 0, NULL, &doc, &err) != SNW_OK) {
        fail_msg("%s:%d: %s", name, err.line, err.text);
    }
    int checked = 0;
    for (int i = 0; i < snw_document_runs(doc); i++) check_run(doc, i, &checked);
    assert_int_equal(checked, values);
    snw_document_destroy(doc);
}

// appendix B, T4.1
static void the_falling_rod(void **state) {
    (void)state;
    check_file("falling", 22);
}

// energies and positions of the benchmark, T4.2 and T4.3
static void the_benchmark(void **state) {
    (void)state;
    check_file("benchmark", 13);
}

static void the_benchmark_without_shear(void **state) {
    (void)state;
    check_file("kirchhoff", 5);
}

// T4.5
static void the_released_rod(void **state) {
    (void)state;
    check_file("release", 4);
    check_file("identification", 6);
}

static void the_struck_rod(void **state) {
    (void)state;
    check_file("impulse", 24);
}

// T4.6
static void the_platform_that_loses_stability(void **state) {
    (void)state;
    check_file("stewart_gough", 36);
}

// T4.7
static void the_winch(void **state) {
    (void)state;
    check_file("step", 17);
}

static void the_object_transfer(void **state) {
    (void)state;
    check_file("transfer", 24);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_falling_rod),
        cmocka_unit_test(the_benchmark),
        cmocka_unit_test(the_benchmark_without_shear),
        cmocka_unit_test(the_released_rod),
        cmocka_unit_test(the_struck_rod),
        cmocka_unit_test(the_platform_that_loses_stability),
        cmocka_unit_test(the_winch),
        cmocka_unit_test(the_object_transfer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
