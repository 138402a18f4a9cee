// SPDX-License-Identifier: MIT
//
// Runs of a model file in several threads: the same bits as in sequence. Also run under the thread
// sanitizer.
#include "near.h"

#include "job/write.h"
#include "results/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// rods with a change on the way, a motion, and a path that reads the file again
static const char text[] =
    "sinew: 1\n"
    "gravity: 0\n"
    "parameters: {C: 1 N*m, F: 0 N}\n"
    "materials: {rubber: {young: 100 MPa, poisson: 0.5, density: 1000 kg/m^3}}\n"
    "robot:\n"
    "  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 10 mm}}, material: rubber,\n"
    "        strain: {bend_y: legendre 3}}}\n"
    "loads:\n"
    "  roll: {on: arm.tip, torque: [0, C, 0], frame: body}\n"
    "  push: {on: arm.tip, force: [F, 0, 0]}\n"
    "study:\n"
    "  - static: {name: rolled}\n"
    "  - change: {C: 0.5 N*m}\n"
    "  - dynamic: {for: 20 ms, step: 2 ms}\n"
    "  - path: {of: F, range: [0 N, 0.1 N], name: pushed}\n"
    "probes: {tip: {position: arm.tip}, e: energy}\n"
    "runs: {load: {C: {each: [1 N*m, 2 N*m, 3 N*m, 4 N*m]}}}\n";

typedef struct told {
    int begun, warnings;
    double fraction;
} told;

static void tell_begin(void *user, int index, const char *name) {
    (void)index, (void)name;
    ((told *)user)->begun++;
}

static void tell_progress(void *user, const snw_progress *p) {
    ((told *)user)->fraction = p->fraction;
}

static void tell_warning(void *user, const char *message) {
    (void)message;
    ((told *)user)->warnings++;
}

static void write_runs(const char *model, const char *output, int workers) {
    const snw_job_choice choice = {0};
    told seen = {0};
    const snw_job_hooks hooks = {
        .user = &seen, .begin = tell_begin, .progress = tell_progress, .warn = tell_warning};
    snw_job job;
    snw_error err = {0};
    snw_job_outcome *outcomes = NULL;
    if (snw_job_open(model, &choice, &job, &err) != SNW_OK) fail_msg("%s", err.text);
    const snw_status s = snw_job_write(&job, output, workers, 0, NULL, &hooks, &outcomes, &err);
    if (s != SNW_OK) fail_msg("%s", err.text);
    for (int i = 0; i < job.n; i++) assert_int_equal(outcomes[i].status, SNW_OK);
    assert_true(seen.begun > 0 && seen.fraction <= 4);
    snw_job_outcomes_free(&job, outcomes);
    snw_job_close(&job);
}

static void compare_files(const char *a, const char *b) {
    snw_result *x, *y;
    snw_error err = {0};
    assert_int_equal(snw_result_open(a, &x, &err), SNW_OK);
    assert_int_equal(snw_result_open(b, &y, &err), SNW_OK);
    assert_int_equal(snw_result_runs(x), snw_result_runs(y));
    for (int r = 0; r < snw_result_runs(x); r++) {
        const int n = snw_result_frames(x, r);
        const snw_run_info *info = snw_result_info(x, r);
        assert_int_equal(n, snw_result_frames(y, r));
        assert_string_equal(info->run, snw_result_info(y, r)->run);
        static const snw_result_field fields[] = {SNW_RESULT_T, SNW_RESULT_Q, SNW_RESULT_COLUMNS};
        for (int f = 0; f < 3; f++) {
            const size_t size = (size_t)n * snw_result_width(info, fields[f]) * sizeof(double);
            double *p = malloc(size), *q = malloc(size);
            assert_int_equal(snw_result_read(x, r, fields[f], 0, n, p, &err), SNW_OK);
            assert_int_equal(snw_result_read(y, r, fields[f], 0, n, q, &err), SNW_OK);
            assert_memory_equal(p, q, size);
            free(p);
            free(q);
        }
    }
    snw_result_close(x);
    snw_result_close(y);
}

static void threads_give_the_bits_of_a_sequence(void **state) {
    (void)state;
    char folder[] = "/tmp/sinew-threads-XXXXXX", path[3][64];
    assert_non_null(mkdtemp(folder));
    static const char *const name[3] = {"m.yaml", "one.h5", "three.h5"};
    for (int i = 0; i < 3; i++) (void)snprintf(path[i], sizeof path[i], "%s/%s", folder, name[i]);
    FILE *file = fopen(path[0], "w");
    assert_non_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
    write_runs(path[0], path[1], 1);
    write_runs(path[0], path[2], 3);
    compare_files(path[1], path[2]);
    for (int i = 0; i < 3; i++) (void)unlink(path[i]);
    (void)rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_give_the_bits_of_a_sequence)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
