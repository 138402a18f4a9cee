// SPDX-License-Identifier: MIT
//
// Studies of the public API in memory and to a file: the same numbers, frames one by one, progress,
// cancellation and continuation, failures.
#include "sinew/sinew.h"

#include "near.h"
#include "results/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  hip: {on: world, joint: spherical, stiffness: 5 N*m, body: {mass: 0.1, inertia: [1e-3, "
    "1e-3, "
    "1e-3]}}\n"
    "  arm: {on: hip, rod: {length: 0.5 m, section: {circle: {radius: 10 mm}}, material: rubber,\n"
    "        strain: {bend_y: monomial 10, bend_z: legendre 3}}}\n"
    "  crank: {on: world, joint: revolute, body: {mass: 1, com: [0.1, 0, 0], inertia: [1e-3, 1e-3, "
    "2e-3]}}\n"
    "sites: {a: {on: crank, pose: {xyz: [0.2, 0, 0]}}, b: {on: world, pose: {xyz: [0.2, 0, 0]}}}\n"
    "loops: {hold: {join: [a, b], as: spherical, when: t > 20 ms}}\n"
    "actuators: {cord: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0.5 N}}\n"
    "loads: {push: {on: arm.tip, force: [0, 10 mN, 0]}, wind: {along: arm, force: [0, 5 mN/m, "
    "0]}}\n"
    "contacts: {floor: {ground: {on: arm, normal: z, at: [0, 0, -0.1], stiffness: 1e3 N/m^2}}}\n"
    "probes: {tip: {position: arm.tip}, e: energy, inside: {wrench: arm, along: 3}}\n"
    "study:\n"
    "  - static: {}\n"
    "  - dynamic: {name: swing, for: 50 ms, step: 2 ms}\n"
    "  - modes: {count: 2}\n"
    "record: {only: [tip, inside]}\n";

static snw_robot_model *parsed(const char *model) {
    snw_robot_model *m = NULL;
    snw_error err = {0};
    if (snw_robot_model_parse("model", model, strlen(model), NULL, 0, NULL, &m, &err) != SNW_OK)
        fail_msg("%s:%d:%d: %s", err.file, err.line, err.column, err.text);
    return m;
}

static snw_study *created(const char *model) {
    snw_robot_model *m = parsed(model);
    snw_study *s = NULL;
    snw_error err = {0};
    if (snw_study_create(m, &s, &err) != SNW_OK) fail_msg("%s", err.text);
    snw_robot_model_close(m); // the study keeps it
    return s;
}

// ---- the result file ----------------------------------------------------------------------------

typedef struct watch {
    int asked;
    double fraction, stop_at;
    char step[64];
} watch;

static int stop_later(void *user) {
    watch *w = user;
    w->asked++;
    return w->fraction > w->stop_at;
}

static void note_progress(void *user, const char *step, double t, double fraction) {
    watch *w = user;
    (void)t;
    assert_true(fraction >= w->fraction);
    w->fraction = fraction;
    (void)snprintf(w->step, sizeof w->step, "%s", step);
}

// the same study to a file, cancelled on the way and continued
static void run_to_file(const char *path) {
    char model[] = "robot_study_XXXXXX";
    const int made = mkstemp(model);
    FILE *f = fdopen(made, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0 && fclose(f) == 0);
    snw_error err = {0};
    watch w = {.stop_at = 0.5};
    const snw_study_hooks hooks = {.user = &w, .cancel = stop_later, .progress = note_progress};
    snw_study_choice choice = {0};
    assert_int_equal(snw_study_write(model, path, &choice, &hooks, &err), SNW_E_STOPPED);
    assert_non_null(strstr(err.text, "results kept in"));
    assert_string_equal(w.step, "swing");
    choice.resume = 1;
    w = (watch){.stop_at = 2};
    if (snw_study_write(model, path, &choice, &hooks, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_true(w.asked > 5 && w.fraction == 1);
    // wrong arguments
    assert_int_equal(snw_study_write(NULL, path, NULL, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_study_write(model, NULL, NULL, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_study_write(model, model, NULL, NULL, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "overwrite the model"));
    const char *const run[] = {"mian"};
    choice = (snw_study_choice){.nrun = 1, .run = run};
    assert_int_equal(snw_study_write(model, path, &choice, NULL, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "did you mean 'main'"));
    choice = (snw_study_choice){.nset = 1};
    assert_int_equal(snw_study_write(model, path, &choice, NULL, &err), SNW_E_ARGUMENT);
    (void)unlink(model);
}

static void arrays_are_those_of_the_result_file(void **state) {
    (void)state;
    static const char *const name[] = {
#define X(field, word) word,
        SNW_FIELD_LIST(X)
#undef X
    };
    char path[] = "robot_study_XXXXXX";
    const int made = mkstemp(path);
    assert_true(made >= 0);
    (void)close(made);
    snw_study *s = created(text);
    snw_error err = {0};
    if (snw_study_run(s, 1, NULL, &err) != SNW_OK) fail_msg("%s", err.text);
    run_to_file(path);
    snw_result *file = NULL;
    assert_int_equal(snw_result_open(path, &file, &err), SNW_OK);
    (void)unlink(path); // it stays until it is closed
    const int n = snw_result_frames(file, 0);
    assert_int_equal(snw_study_frames(s), n);
    assert_true(n > 25);
    assert_int_equal(SNW_FIELDS, SNW_RESULT_NFIELD);
    for (int f = 0; f < SNW_FIELDS; f++) {
        assert_string_equal(name[f], snw_result_field_name((snw_result_field)f));
        const size_t width = snw_result_width(snw_result_info(file, 0), (snw_result_field)f);
        assert_int_equal(snw_study_width(s, (snw_field_kind)f), width);
        assert_true((width > 0) ==
                    (f != SNW_FIELD_FOLD && f != SNW_FIELD_FORCE_FIELD)); // there is no path
        double *want = calloc((size_t)n * width + 1, sizeof *want);
        assert_int_equal(snw_result_read(file, 0, (snw_result_field)f, 0, n, want, &err), SNW_OK);
        const double *got = snw_study_array(s, (snw_field_kind)f);
        for (size_t i = 0; i < (size_t)n * width; i++) {
            if (got[i] == want[i] || (isnan(got[i]) && isnan(want[i]))) continue;
            fail_msg("%s[%zu] = %.17g, in the file %.17g", name[f], i, got[i], want[i]);
        }
        free(want);
    }
    assert_string_equal(snw_study_column(s, 0), "tip.x");
    assert_string_equal(snw_study_column(s, 3 + 6), "inside@1.mx");
    assert_null(snw_study_column(s, 21));
    assert_null(snw_study_column(s, -1));
    snw_result_close(file);
    snw_study_close(s);
}

// ---- hooks --------------------------------------------------------------------------------------

typedef struct seen {
    int frames, limit, warnings;
    double t, fraction;
    char step[40];
    snw_status answer; // after `limit` frames
} seen;

static snw_status see_frame(void *user, const snw_study *s) {
    seen *x = user;
    x->frames++;
    x->t = *snw_study_row(s, SNW_FIELD_TIME);
    assert_int_equal(snw_study_frames(s), 0); // none is kept
    return x->limit > 0 && x->frames >= x->limit ? x->answer : SNW_OK;
}

static void see_progress(void *user, const char *step, double t, double fraction) {
    seen *x = user;
    assert_true(fraction >= x->fraction - 1e-12 && fraction <= 1 + 1e-12);
    x->fraction = fraction;
    x->t = t;
    (void)snprintf(x->step, sizeof x->step, "%s", step);
}

static int see_cancel(void *user) { return ((const seen *)user)->t > 0.02; }

static void see_warning(void *user, const char *line) {
    seen *x = user;
    assert_null(strchr(line, '\n'));
    x->warnings++;
}

static void frames_come_one_by_one(void **state) {
    (void)state;
    snw_study *s = created(text);
    snw_error err = {0};
    seen x = {0};
    const snw_study_hooks hooks = {
        .user = &x, .frame = see_frame, .progress = see_progress, .warn = see_warning};
    assert_null(snw_study_row(s, SNW_FIELD_TIME));
    assert_int_equal(snw_study_run(s, 0, &hooks, &err), SNW_OK);
    assert_true(x.frames > 25);
    assert_near(x.t, 0.05, 1e-12);
    assert_true(x.fraction > 0.5);
    assert_int_equal(snw_study_frames(s), 0);
    assert_null(snw_study_array(s, SNW_FIELD_TIME));
    assert_non_null(snw_study_row(s, SNW_FIELD_POSE));
    // again, kept: the same frames
    const int n = x.frames;
    assert_int_equal(snw_study_run(s, 1, NULL, &err), SNW_OK);
    assert_int_equal(snw_study_frames(s), n);
    snw_study_close(s);
}

static void a_cancelled_study_keeps_its_frames(void **state) {
    (void)state;
    snw_study *s = created(text), *whole = created(text);
    snw_error err = {0};
    seen x = {0};
    const snw_study_hooks hooks = {.user = &x, .progress = see_progress, .cancel = see_cancel};
    assert_int_equal(snw_study_run(s, 1, &hooks, &err), SNW_E_STOPPED);
    assert_int_equal(snw_study_run(whole, 1, NULL, &err), SNW_OK);
    const int n = snw_study_frames(s);
    assert_true(n > 5 && n < snw_study_frames(whole) - 5);
    assert_memory_equal(snw_study_array(s, SNW_FIELD_Q), snw_study_array(whole, SNW_FIELD_Q),
                        (size_t)n * (size_t)snw_study_width(s, SNW_FIELD_Q) * sizeof(double));
    snw_study_close(s);
    snw_study_close(whole);
}

static void the_receiver_of_frames_may_end_a_study(void **state) {
    (void)state;
    snw_study *s = created(text);
    snw_error err = {0};
    seen x = {.limit = 4, .answer = SNW_E_STOPPED};
    const snw_study_hooks hooks = {.user = &x, .frame = see_frame};
    assert_int_equal(snw_study_run(s, 0, &hooks, &err), SNW_E_STOPPED);
    assert_int_equal(x.frames, 4);
    x = (seen){.limit = 2, .answer = SNW_E_IO};
    assert_int_equal(snw_study_run(s, 0, &hooks, &err), SNW_E_IO);
    snw_study_close(s);
}

// a mechanism has no equilibrium under a follower torque that grows without end
static void a_failed_study_tells_why(void **state) {
    (void)state;
    static const char hopeless[] =
        "sinew: 1\n"
        "robot: {bar: {on: world, joint: revolute, axis: y, body: {mass: 1, com: [1, 0, 0], "
        "inertia: [1, 1, 1]}}}\n"
        "loads: {twist: {on: bar, torque: [0, 100 N*m, 0]}}\n"
        "probes: {a: {angle: bar}}\n"
        "study: [static: {}]\n";
    snw_study *s = created(hopeless);
    snw_error err = {0};
    assert_int_not_equal(snw_study_run(s, 1, NULL, &err), SNW_OK);
    assert_true(strlen(err.text) > 10);
    snw_study_close(s);
}

// von Mises' truss: folds of the load at +-P*, P* = 2 k b ((l_0/b)^(2/3) - 1)^(3/2), and dP*/dk =
// P*/k
static void special_points_of_a_path_are_listed(void **state) {
    (void)state;
    static const char truss[] =
        "sinew: 1\ngravity: 0\nparameters: {k: 1000 N/m}\n"
        "robot: {apex: {on: world, pose: {xyz: [0, 0.2, 0]}, joint: prismatic, axis: y, body: "
        "{mass: 1 kg}}}\n"
        "springs: {bar(s=1..2): {spring: [{xyz: [2*s - 3, 0, 0]}, apex], rest: sqrt(1.04), "
        "stiffness: k}}\n"
        "loads: {press: {on: apex, force: [0, \"-1 N/s*t\", 0]}}\n"
        "study: [static, path: {range: [-4 s, 4 s], by: k}]\nprobes: {y: {position: apex}}\n";
    snw_study *s = created(truss);
    snw_error err = {0};
    snw_special_record r;
    assert_int_equal(snw_study_special_points(s), 0);
    assert_int_equal(snw_study_run(s, 1, NULL, &err), SNW_OK);
    assert_int_equal(snw_study_special_points(s), 2);
    for (int k = 0; k < 2; k++) {
        const double P = (k ? -1 : 1) * 3.0191474033;
        assert_int_equal(snw_study_special_point(s, k, &r), SNW_OK);
        assert_string_equal(r.kind, "fold");
        assert_string_equal(r.moves, "apex.slide");
        assert_int_equal(r.step, 1);
        assert_int_equal(r.number, k + 1);
        assert_int_equal(r.path, 1);
        assert_near(r.t, P, 1e-9);
        assert_near(snw_study_fold_derivative(s, k, "k"), P / 1000, 1e-10);
        assert_true(isnan(snw_study_fold_derivative(s, k, "b")));
    }
    // the frames of the folds have the same derivatives, other frames none
    assert_int_equal(snw_study_width(s, SNW_FIELD_FOLD), 1);
    int step = -1;
    assert_string_equal(snw_study_fold_column(s, 0, &step), "k");
    assert_int_equal(step, 1);
    assert_string_equal(snw_study_fold_column(s, 0, NULL), "k");
    assert_null(snw_study_fold_column(s, 1, &step));
    assert_null(snw_study_fold_column(s, -1, &step));
    assert_null(snw_study_fold_column(NULL, 0, &step));
    for (int i = 0, k = 0; i < snw_study_frames(s); i++) {
        const double found = snw_study_array(s, SNW_FIELD_FOLD)[i];
        if (!isnan(found)) assert_true(found == snw_study_fold_derivative(s, k++, "k"));
        if (i + 1 == snw_study_frames(s)) assert_int_equal(k, 2);
    }
    assert_int_equal(snw_study_special_point(s, 2, &r), SNW_E_ARGUMENT);
    assert_int_equal(snw_study_special_point(s, -1, &r), SNW_E_ARGUMENT);
    assert_int_equal(snw_study_special_point(NULL, 0, &r), SNW_E_ARGUMENT);
    assert_int_equal(snw_study_special_points(NULL), 0);
    assert_true(isnan(snw_study_fold_derivative(s, 0, NULL)));
    snw_study_close(s);
}

static void bad_arguments_are_refused(void **state) {
    (void)state;
    snw_robot_model *m = parsed(text);
    snw_study *s = NULL;
    snw_error err = {0};
    assert_int_equal(snw_study_create(NULL, &s, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_study_create(m, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_study_run(NULL, 1, NULL, &err), SNW_E_ARGUMENT);
    assert_int_equal(snw_study_create(m, &s, &err), SNW_OK);
    assert_int_equal(snw_study_width(s, SNW_FIELDS), 0);
    assert_int_equal(snw_study_width(s, (snw_field_kind)-1), 0);
    assert_null(snw_study_array(s, SNW_FIELDS));
    assert_null(snw_study_row(NULL, SNW_FIELD_TIME));
    assert_int_equal(snw_study_frames(NULL), 0);
    snw_study_close(s);
    snw_study_close(NULL);
    snw_robot_model_close(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_those_of_the_result_file),
        cmocka_unit_test(frames_come_one_by_one),
        cmocka_unit_test(a_cancelled_study_keeps_its_frames),
        cmocka_unit_test(the_receiver_of_frames_may_end_a_study),
        cmocka_unit_test(a_failed_study_tells_why),
        cmocka_unit_test(special_points_of_a_path_are_listed),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
