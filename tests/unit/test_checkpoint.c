// SPDX-License-Identifier: MIT
//
// Checkpoints in a result file: the reader finds the latest complete one, and it belongs to frames
// that are stored.
#include "results/result.h"

#include "result_sample.h"

enum { NSAVE = 700 }; // more than a page

static double save[NSAVE];

static const double *checkpoint(int i) {
    for (int k = 0; k < NSAVE; k++) save[k] = i + k / 1024.0;
    return save;
}

static snw_run_info with_checkpoints(void) {
    snw_run_info info = arm;
    info.nsave = NSAVE;
    return info;
}

static void record_saved(const snw_recorder *rec, int i, bool saved) {
    frame_data d;
    snw_frame f = make_frame(i, &d);
    if (saved) f.save = checkpoint(i);
    assert_int_equal(rec->frame(rec->user, &f, NULL), SNW_OK);
}

// frames 0 .. n - 1, each flushed; the last `bare` ones have no checkpoint
static void write_saved(int n, int bare, bool close) {
    const snw_run_info info = with_checkpoints();
    const snw_run_info *const runs[] = {&info};
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, runs, "", &w, NULL), SNW_OK);
    const snw_recorder rec = snw_results_recorder(w, 0);
    for (int i = 0; i < n; i++) {
        record_saved(&rec, i, i < n - bare);
        assert_int_equal(snw_results_flush(w, 0, NULL), SNW_OK);
    }
    if (close) assert_int_equal(rec.end(rec.user, SNW_OK, "", NULL), SNW_OK);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
}

// the checkpoint found is that of frame `last`; -1: none
static void expect_checkpoint(const char *from, int last) {
    static double got[NSAVE];
    snw_result *r = open_file(from);
    int nframe = -1;
    assert_int_equal(snw_result_info(r, 0)->nsave, NSAVE);
    assert_int_equal(snw_result_checkpoint(r, 0, &nframe, got, NULL), SNW_OK);
    assert_int_equal(nframe, last + 1);
    if (last >= 0) assert_memory_equal(got, checkpoint(last), sizeof got);
    snw_result_close(r);
}

static void the_latest_one_is_found(void **state) {
    (void)state;
    for (int n = 1; n < 6; n++) {
        write_saved(n, 0, true);
        expect_checkpoint(path, n - 1);
    }
    write_saved(6, 2, false);
    expect_checkpoint(path, 3);
    write_saved(3, 3, false);
    expect_checkpoint(path, -1);
}

static void a_file_without_checkpoints_has_none(void **state) {
    (void)state;
    write_file(path, 3, "");
    snw_result *r = open_file(path);
    int nframe = -1;
    assert_int_equal(snw_result_checkpoint(r, 0, &nframe, NULL, NULL), SNW_OK);
    assert_int_equal(nframe, 0);
    snw_result_close(r);
}

// offset in the file at which the numbers of the checkpoint of frame i are stored
static size_t find(const unsigned char *bytes, size_t size, int i) {
    const double *want = checkpoint(i);
    for (size_t at = 0; at + sizeof save <= size; at++) {
        if (memcmp(bytes + at, want, sizeof save) == 0) return at;
    }
    fail_msg("no checkpoint of frame %d", i);
    return 0;
}

// a killed writer leaves the beginning of the new row before the rest of an older one
static void one_cut_off_gives_way_to_the_one_before(void **state) {
    (void)state;
    write_saved(5, 0, false);
    unsigned char *bytes;
    const size_t size = read_bytes(path, &bytes), at = find(bytes, size, 4);
    const double *older = checkpoint(2);
    for (size_t n = 8; n < sizeof save; n += 1000) {
        memcpy(bytes + at + sizeof save - n, (const char *)older + sizeof save - n, n);
        write_bytes(path, bytes, size);
        expect_checkpoint(path, 3);
        older = checkpoint(2);
    }
    bytes[find(bytes, size, 3)] ^= 1;
    write_bytes(path, bytes, size);
    expect_checkpoint(path, -1);
    snw_free(bytes);
}

static void a_copy_goes_on(void **state) {
    (void)state;
    char old[80];
    (void)snprintf(old, sizeof old, "%s/old.h5", folder);
    write_saved(2000, 100, false);
    assert_int_equal(rename(path, old), 0);
    write_file(path, 1, "older");
    const snw_run_info info = with_checkpoints();
    const snw_run_info *const runs[] = {&info};
    snw_result *from = open_file(old);
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, runs, "", &w, NULL), SNW_OK);
    assert_int_equal(snw_results_copy(w, 0, from, 0, 1900, checkpoint(1899), false, NULL), SNW_OK);
    snw_result_close(from);
    // copies of frames alone do not replace an existing file
    snw_result *r = open_file(path);
    assert_string_equal(snw_result_model(r), "older");
    snw_result_close(r);
    const snw_recorder rec = snw_results_recorder(w, 0);
    for (int i = 1900; i < 1950; i++) record_saved(&rec, i, false);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
    r = open_file(path);
    assert_int_equal(snw_result_frames(r, 0), 1950);
    check_frames(r, 0);
    snw_result_close(r);
    expect_checkpoint(path, 1899);
}

static void a_copy_of_another_size_is_refused(void **state) {
    (void)state;
    snw_run_info other = with_checkpoints();
    other.nv--;
    const snw_run_info *const runs[] = {&other};
    char to[80];
    (void)snprintf(to, sizeof to, "%s/other.h5", folder);
    write_saved(3, 0, true);
    snw_result *from = open_file(path);
    snw_results *w = NULL;
    snw_error err = {0};
    assert_int_equal(snw_results_create(to, 1, runs, "", &w, NULL), SNW_OK);
    assert_int_equal(snw_results_copy(w, 0, from, 0, 3, NULL, true, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "another size"));
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
    snw_result_close(from);
    assert_int_equal(count_files("other", false), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_one_is_found),
        cmocka_unit_test(a_file_without_checkpoints_has_none),
        cmocka_unit_test(one_cut_off_gives_way_to_the_one_before),
        cmocka_unit_test(a_copy_goes_on),
        cmocka_unit_test(a_copy_of_another_size_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
