// SPDX-License-Identifier: MIT
//
// Malicious result files: small, well formed, and declaring more data than they store.
#include "results/result.h"

#include "result_sample.h"

#include <hdf5.h>

// Replace a dataset of the run by another of `n` rows that were never stored; they would read as
// zero.
static void never_stored(hid_t group, const char *name, hsize_t n) {
    hid_t old = H5Dopen2(group, name, H5P_DEFAULT), space = H5Dget_space(old);
    hsize_t dims[3], most[3], chunk[3];
    const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    assert_true(rank >= 1 && rank <= 3);
    dims[0] = n;
    for (int i = 0; i < rank; i++) most[i] = chunk[i] = dims[i];
    most[0] = H5S_UNLIMITED;
    chunk[0] = 16;
    const hid_t type = H5Dget_type(old), plist = H5Pcreate(H5P_DATASET_CREATE);
    const long long zero[8] = {0};
    assert_true(H5Pset_chunk(plist, rank, chunk) >= 0);
    if (H5Tget_class(type) != H5T_STRING) {
        assert_true(H5Pset_fill_value(plist, type, zero) >= 0);
    }
    (void)H5Sclose(space);
    (void)H5Dclose(old);
    assert_true(H5Ldelete(group, name, H5P_DEFAULT) >= 0);
    space = H5Screate_simple(rank, dims, most);
    old = H5Dcreate2(group, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    assert_true(old >= 0);
    (void)H5Dclose(old);
    (void)H5Sclose(space);
    (void)H5Pclose(plist);
    (void)H5Tclose(type);
}

// The same with values stored in another file, as raw bytes or as a dataset.
static void elsewhere(hid_t group, const char *name, const char *where, bool bytes) {
    const hsize_t n = 3;
    const hid_t space = H5Screate_simple(1, &n, NULL), plist = H5Pcreate(H5P_DATASET_CREATE);
    assert_true((bytes ? H5Pset_external(plist, where, 0, H5F_UNLIMITED)
                       : H5Pset_virtual(plist, space, where, "/t", space)) >= 0);
    assert_true(H5Ldelete(group, name, H5P_DEFAULT) >= 0);
    const hid_t set =
        H5Dcreate2(group, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    assert_true(set >= 0);
    (void)H5Dclose(set);
    (void)H5Pclose(plist);
    (void)H5Sclose(space);
}

static hid_t open_run(hid_t *file) {
    write_file(path, 3, "");
    *file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(*file >= 0);
    return H5Gopen2(*file, "runs/main", H5P_DEFAULT);
}

static void expect_damage(hid_t file, hid_t group, const char *name) {
    (void)H5Gclose(group);
    assert_true(H5Fclose(file) >= 0);
    snw_result *r = NULL;
    snw_error err = {0};
    assert_int_equal(snw_result_open(path, &r, &err), SNW_E_PARSE);
    if (!strstr(err.text, "damaged") || !strstr(err.text, name)) fail_msg("%s", err.text);
}

// all datasets of a run, so that none shows that there are fewer rows; then a single field, whose
// three frames were never stored
static void frames_that_were_never_stored_are_refused(void **state) {
    (void)state;
    hid_t file, group = open_run(&file);
    for (int f = 0; f < SNW_RESULT_NFIELD; f++) {
        const char *name = snw_result_field_name((snw_result_field)f);
        // what the robot does not have, such as fields of force, is not stored
        if (H5Lexists(group, name, H5P_DEFAULT) > 0) never_stored(group, name, 1000000000);
    }
    expect_damage(file, group, "t");
    group = open_run(&file);
    never_stored(group, "pose", 1000000000);
    expect_damage(file, group, "pose");
}

static void names_that_were_never_stored_are_refused(void **state) {
    (void)state;
    static const char *const all[] = {"stage", "q_name", "node_link", "column", "fold_by"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        hid_t file, group = open_run(&file);
        never_stored(group, all[i], 10000000);
        expect_damage(file, group, all[i]);
    }
}

// derivatives of folds whose step is none of the study
static void folds_of_no_step_are_refused(void **state) {
    (void)state;
    const int outside[] = {-1, arm.nstage};
    for (int i = 0; i < 2; i++) {
        hid_t file, group = open_run(&file);
        const hid_t set = H5Dopen2(group, "fold_step", H5P_DEFAULT);
        const int step[2] = {0, outside[i]};
        assert_true(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, step) >= 0);
        (void)H5Dclose(set);
        expect_damage(file, group, "fold_step");
    }
}

static void values_of_other_files_are_refused(void **state) {
    (void)state;
    char pipe[300];
    (void)snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    assert_int_equal(mkfifo(pipe, 0600), 0); // reading it would block for ever
    for (int bytes = 0; bytes < 2; bytes++) {
        hid_t file, group = open_run(&file);
        elsewhere(group, "t", pipe, bytes);
        expect_damage(file, group, "t");
    }
    assert_int_equal(unlink(pipe), 0);
}

static void control_characters_are_not_shown(void **state) {
    (void)state;
    snw_run_info info = arm;
    info.title = "\033]0;mine\007 \xC2\x9B\x33m \xff\xC3\xA9\xE2\x82";
    const snw_run_info *const run[] = {&info};
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, run, "", &w, NULL), SNW_OK);
    const snw_recorder rec = snw_results_recorder(w, 0);
    assert_int_equal(record(&rec, 0, NULL), SNW_OK);
    assert_int_equal(rec.end(rec.user, SNW_E_DIVERGED, "at \033[2J", NULL), SNW_OK);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
    snw_result *r = open_file(path);
    const char *message = NULL;
    assert_string_equal(snw_result_info(r, 0)->title, "?]0;mine? ??3m ?\xC3\xA9??");
    (void)snw_result_state_of(r, 0, &message);
    assert_string_equal(message, "at ?[2J");
    snw_result_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_that_were_never_stored_are_refused),
        cmocka_unit_test(names_that_were_never_stored_are_refused),
        cmocka_unit_test(folds_of_no_step_are_refused),
        cmocka_unit_test(values_of_other_files_are_refused),
        cmocka_unit_test(control_characters_are_not_shown),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
