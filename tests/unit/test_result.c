// SPDX-License-Identifier: MIT
#include "results/result.h"

#include "result_sample.h"

#include <pthread.h>

// ---- written data is read back ------------------------------------------------------------------

static void a_run_reads_back(void **state) {
    (void)state;
    const char *model = "sinew: 1\ntitle: \xC2\xB5\n";
    write_file(path, 1234, model);
    assert_int_equal(count_files("partial", false), 0);
    snw_result *r = open_file(path);
    assert_string_equal(snw_result_model(r), model);
    assert_int_equal(strlen(snw_result_created(r)), 20);
    assert_true(snw_result_version(r)[0] != '\0');
    assert_int_equal(snw_result_runs(r), 1);
    const snw_run_info *info = snw_result_info(r, 0);
    assert_string_equal(info->run, arm.run);
    assert_string_equal(info->title, arm.title);
    assert_int_equal(info->nstage, 2);
    assert_string_equal(info->stage[1], stages[1]);
    assert_true(info->nq == NQ && info->nv == NV);
    for (int i = 0; i < NQ; i++) assert_string_equal(info->q_name[i], q_names[i]);
    assert_int_equal(info->nnode, NNODE);
    for (int i = 0; i < NNODE; i++) {
        assert_string_equal(info->node_link[i], links[i]);
        assert_true(info->node_x[i] == node_x[i]);
    }
    assert_int_equal(info->ncolumn, NCOLUMN);
    for (int i = 0; i < NCOLUMN; i++) {
        assert_string_equal(info->column[i].probe, columns[i].probe);
        assert_string_equal(info->column[i].component, columns[i].component);
        assert_int_equal(info->column[i].station, columns[i].station);
    }
    const char *message = NULL;
    assert_int_equal(snw_result_state_of(r, 0, &message), SNW_RESULT_FINISHED);
    assert_string_equal(message, "");
    assert_int_equal(snw_result_frames(r, 0), 1234);
    check_frames(r, 0);
    double some[10];
    assert_int_equal(snw_result_read_column(r, 0, 3, 500, 10, some, NULL), SNW_OK);
    for (int i = 0; i < 10; i++) assert_true(some[i] == number(500 + i, SNW_RESULT_COLUMNS, 3));
    assert_int_equal(snw_result_read(r, 0, SNW_RESULT_Q, 1234, 0, some, NULL), SNW_OK);
    snw_result_close(r);
}

// 100 KiB would be too much in a sweep of a thousand
static void a_single_frame_makes_a_small_file(void **state) {
    (void)state;
    // a robot without loads; loads and the like have datasets of their own
    snw_run_info idle = arm;
    idle.nload = idle.nloop = idle.ncontact = idle.ntendon = idle.ncondition = idle.nfold = 0;
    const snw_run_info *const runs[] = {&idle};
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, runs, "", &w, NULL), SNW_OK);
    const snw_recorder recorder = snw_results_recorder(w, 0);
    assert_int_equal(record(&recorder, 0, NULL), SNW_OK);
    assert_int_equal(recorder.end(recorder.user, SNW_OK, "", NULL), SNW_OK);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    assert_in_range(s.st_size, 1, 64 * 1024);
}

static void runs_keep_their_names_order_and_ends(void **state) {
    (void)state;
    const char *names[] = {"text", "load.10", "load.2", "leg(1)", "a/b%", ".", "", "\xC3\xA4"};
    enum { N = sizeof names / sizeof *names };
    snw_run_info info[N];
    const snw_run_info *list[N];
    for (int i = 0; i < N; i++) {
        info[i] = arm;
        info[i].run = names[i];
        list[i] = &info[i];
    }
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, N, list, "m", &w, NULL), SNW_OK);
    // frames of all runs in turn; the last run then records nothing more
    for (int k = 0; k < 7; k++) {
        for (int i = 0; i < N - 1; i++) {
            const snw_recorder rec = snw_results_recorder(w, i);
            if (k <= i) assert_int_equal(record(&rec, k, NULL), SNW_OK);
        }
    }
    const snw_status end[] = {SNW_OK, SNW_E_DIVERGED, SNW_E_STOPPED, SNW_OK, SNW_OK, SNW_OK};
    char reason[2000];
    memset(reason, 'x', sizeof reason);
    reason[sizeof reason - 1] = '\0';
    for (int i = 0; i < N - 2; i++) {
        const snw_recorder rec = snw_results_recorder(w, i);
        const char *why = end[i] == SNW_E_STOPPED ? reason : "no equilibrium";
        assert_int_equal(rec.end(rec.user, end[i], why, NULL), SNW_OK);
    }
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);

    snw_result *r = open_file(path);
    assert_int_equal(snw_result_runs(r), N);
    const snw_result_state states[] = {
        SNW_RESULT_FINISHED, SNW_RESULT_FAILED,   SNW_RESULT_STOPPED, SNW_RESULT_FINISHED,
        SNW_RESULT_FINISHED, SNW_RESULT_FINISHED, SNW_RESULT_STOPPED, SNW_RESULT_PENDING};
    for (int i = 0; i < N; i++) {
        assert_string_equal(snw_result_info(r, i)->run, names[i]);
        assert_int_equal(snw_result_frames(r, i), i == N - 1 ? 0 : i + 1);
        assert_int_equal(snw_result_state_of(r, i, NULL), states[i]);
        check_frames(r, i);
    }
    const char *message = NULL;
    (void)snw_result_state_of(r, 1, &message);
    assert_string_equal(message, "no equilibrium");
    (void)snw_result_state_of(r, 2, &message);
    assert_int_equal(strlen(message), 511);
    snw_result_close(r);
}

static void runs_of_one_name_are_refused(void **state) {
    (void)state;
    const snw_run_info *const twice[] = {&arm, &arm};
    (void)unlink(path);
    snw_results *w = NULL;
    snw_error err = {0};
    assert_int_equal(snw_results_create(path, 2, twice, "", &w, &err), SNW_E_ARGUMENT);
    assert_non_null(strstr(err.text, "'main'"));
    assert_null(w);
    assert_int_equal(count_files("", false), 0);
}

// no data but the time
static void empty_sizes_are_fine(void **state) {
    (void)state;
    const snw_run_info bare = {.run = "bare"};
    const snw_run_info *const list[] = {&bare};
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, list, NULL, &w, NULL), SNW_OK);
    const snw_recorder rec = snw_results_recorder(w, 0);
    for (int i = 0; i < 5; i++) {
        const snw_frame f = {.t = i};
        assert_int_equal(rec.frame(rec.user, &f, NULL), SNW_OK);
    }
    assert_int_equal(rec.end(rec.user, SNW_OK, NULL, NULL), SNW_OK);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
    snw_result *r = open_file(path);
    double t[5], none = 7;
    assert_string_equal(snw_result_model(r), "");
    assert_string_equal(snw_result_info(r, 0)->title, "");
    assert_int_equal(snw_result_frames(r, 0), 5);
    assert_int_equal(snw_result_read(r, 0, SNW_RESULT_T, 0, 5, t, NULL), SNW_OK);
    assert_true(t[0] == 0 && t[4] == 4);
    assert_int_equal(snw_result_read(r, 0, SNW_RESULT_POSE, 0, 5, &none, NULL), SNW_OK);
    assert_true(none == 7);
    snw_result_close(r);
}

static void recording_does_not_allocate(void **state) {
    (void)state;
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, one_run, "", &w, NULL), SNW_OK);
    const snw_recorder rec = snw_results_recorder(w, 0);
    assert_int_equal(record(&rec, 0, NULL), SNW_OK);
    const size_t before = snw_alloc_count();
    for (int i = 1; i < 5000; i++) assert_int_equal(record(&rec, i, NULL), SNW_OK);
    assert_int_equal(snw_alloc_count(), before);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
}

typedef struct writer {
    pthread_t thread;
    snw_recorder recorder;
    snw_status status;
} writer;

static void *write_run(void *user) {
    writer *w = user;
    for (int i = 0; i < 4000 && w->status == SNW_OK; i++) w->status = record(&w->recorder, i, NULL);
    const snw_status s = w->recorder.end(w->recorder.user, w->status, "", NULL);
    if (w->status == SNW_OK) w->status = s;
    return NULL;
}

static void runs_are_written_from_several_threads(void **state) {
    (void)state;
    enum { N = 4 };
    const char *const names[N] = {"a", "b", "c", "d"};
    snw_run_info info[N];
    const snw_run_info *list[N];
    for (int i = 0; i < N; i++) {
        info[i] = arm;
        info[i].run = names[i];
        list[i] = &info[i];
    }
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, N, list, "", &w, NULL), SNW_OK);
    writer writers[N];
    for (int i = 0; i < N; i++) {
        writers[i] = (writer){.recorder = snw_results_recorder(w, i)};
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_run, &writers[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(pthread_join(writers[i].thread, NULL), 0);
        assert_int_equal(writers[i].status, SNW_OK);
    }
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
    snw_result *r = open_file(path);
    for (int i = 0; i < N; i++) {
        assert_int_equal(snw_result_frames(r, i), 4000);
        check_frames(r, i);
    }
    snw_result_close(r);
}

// ---- the older file ----------------------------------------------------------------------------

static void check_old(void) {
    snw_result *r = open_file(path);
    assert_string_equal(snw_result_model(r), "old");
    assert_int_equal(snw_result_frames(r, 0), 17);
    check_frames(r, 0);
    snw_result_close(r);
}

static void a_run_without_frames_leaves_the_old_file(void **state) {
    (void)state;
    write_file(path, 17, "old");
    snw_results *w = NULL;
    // failed
    assert_int_equal(snw_results_create(path, 1, one_run, "new", &w, NULL), SNW_OK);
    const snw_recorder rec = snw_results_recorder(w, 0);
    assert_int_equal(count_files(".out.h5.partial-", false), 1);
    assert_int_equal(rec.end(rec.user, SNW_E_DIVERGED, "no", NULL), SNW_OK);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
    check_old();
    // never ended
    assert_int_equal(snw_results_create(path, 1, one_run, "new", &w, NULL), SNW_OK);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
    check_old();
    assert_int_equal(count_files("partial", false), 0);
    // ended without an error: a run without data is a result too
    write_file(path, 0, "new");
    snw_result *r = open_file(path);
    assert_string_equal(snw_result_model(r), "new");
    assert_int_equal(snw_result_frames(r, 0), 0);
    assert_int_equal(snw_result_state_of(r, 0, NULL), SNW_RESULT_FINISHED);
    snw_result_close(r);
}

static void the_first_frame_puts_the_file_in_place(void **state) {
    (void)state;
    write_file(path, 17, "old");
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, one_run, "new", &w, NULL), SNW_OK);
    check_old();
    const snw_recorder rec = snw_results_recorder(w, 0);
    assert_int_equal(record(&rec, 0, NULL), SNW_OK);
    assert_int_equal(count_files("partial", false), 0);
    snw_result *r = open_file(path);
    assert_string_equal(snw_result_model(r), "new");
    assert_int_equal(snw_result_frames(r, 0), 1);
    assert_int_equal(snw_result_state_of(r, 0, NULL), SNW_RESULT_RUNNING);
    snw_result_close(r);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
}

static void a_link_to_the_file_stays_a_link(void **state) {
    (void)state;
    char link_path[80], target[80];
    (void)snprintf(link_path, sizeof link_path, "%s/latest.h5", folder);
    (void)snprintf(target, sizeof target, "%s/run_7.h5", folder);
    assert_int_equal(symlink("run_7.h5", link_path), 0);
    for (int k = 1; k <= 2; k++) { // first with a dangling link, then with a valid one
        write_file(link_path, k, "");
        struct stat s;
        assert_int_equal(lstat(link_path, &s), 0);
        assert_true(S_ISLNK(s.st_mode));
        snw_result *r = open_file(target);
        assert_int_equal(snw_result_frames(r, 0), k);
        snw_result_close(r);
    }
    assert_int_equal(unlink(link_path) + unlink(target), 0);
}

// ---- reading while it grows ---------------------------------------------------------------------

static double seconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void frames_wait_no_longer_than_asked(void **state) {
    (void)state;
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, one_run, "", &w, NULL), SNW_OK);
    const snw_recorder rec = snw_results_recorder(w, 0);
    const double begin = seconds();
    for (int i = 0; i < 10; i++) assert_int_equal(record(&rec, i, NULL), SNW_OK);
    // on a machine so busy that this takes a second they may be written already
    snw_result *r = open_file(path);
    const int at_once = snw_result_frames(r, 0);
    assert_true(at_once == 1 || seconds() - begin > 0.9);
    assert_int_equal(snw_results_flush(w, 60, NULL), SNW_OK);
    r = open_again(r);
    assert_int_equal(snw_result_frames(r, 0), at_once);
    assert_int_equal(snw_results_flush(w, 0, NULL), SNW_OK);
    r = open_again(r);
    assert_int_equal(snw_result_frames(r, 0), 10);
    // one second after the oldest frame in the buffer
    assert_int_equal(record(&rec, 10, NULL), SNW_OK);
    wait_for(1.01);
    assert_int_equal(record(&rec, 11, NULL), SNW_OK);
    r = open_again(r);
    assert_int_equal(snw_result_frames(r, 0), 12);
    check_frames(r, 0);
    assert_int_equal(rec.end(rec.user, SNW_E_STOPPED, "enough", NULL), SNW_OK);
    r = open_again(r);
    const char *message = NULL;
    assert_int_equal(snw_result_state_of(r, 0, &message), SNW_RESULT_STOPPED);
    assert_string_equal(message, "enough");
    snw_result_close(r);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
}

// ---- faults -------------------------------------------------------------------------------------

static void expect_refusal(const char *to, const char *reason) {
    snw_results *w = NULL;
    snw_error err = {0};
    assert_int_equal(snw_results_create(to, 1, one_run, "", &w, &err), SNW_E_IO);
    assert_null(w);
    if (!strstr(err.text, reason)) fail_msg("'%s' does not say '%s'", err.text, reason);
}

static void impossible_paths_of_files_are_refused(void **state) {
    (void)state;
    char name[8192];
    expect_refusal(folder, "directory");
    (void)snprintf(name, sizeof name, "%s/", folder);
    expect_refusal(name, "directory");
    (void)snprintf(name, sizeof name, "%s/none/out.h5", folder);
    expect_refusal(name, "No such file");
    expect_refusal("/dev/null", "regular");
    expect_refusal("", "No such file");
    memset(name, 'x', 5000);
    name[5000] = '\0';
    expect_refusal(name, "too long");
    (void)snprintf(name, sizeof name, "%s/loop.h5", folder);
    assert_int_equal(symlink("loop.h5", name), 0);
    expect_refusal(name, "links");
    assert_int_equal(unlink(name), 0);
    assert_int_equal(count_files("partial", false), 0);
}

static void a_folder_without_permission_is_refused(void **state) {
    (void)state;
    char closed[80], inside[96];
    (void)snprintf(closed, sizeof closed, "%s/closed", folder);
    (void)snprintf(inside, sizeof inside, "%s/out.h5", closed);
    assert_int_equal(mkdir(closed, 0555), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    // root may write to any folder
    const bool root = geteuid() == 0;
    if (root) assert_int_equal(seteuid(65534), 0);
    snw_results *w = NULL;
    snw_error err = {0};
    const snw_status s = snw_results_create(inside, 1, one_run, "", &w, &err);
    if (root) assert_int_equal(seteuid(0), 0);
    assert_int_equal(rmdir(closed), 0);
    assert_int_equal(s, SNW_E_IO);
    assert_non_null(strstr(err.text, "Permission denied"));
    assert_non_null(strstr(err.text, inside));
}

static void expect_foreign(const char *from, const char *reason) {
    snw_result *r = NULL;
    snw_error err = {0};
    assert_int_not_equal(snw_result_open(from, &r, &err), SNW_OK);
    assert_null(r);
    if (!strstr(err.text, reason)) fail_msg("'%s' does not say '%s'", err.text, reason);
}

static void foreign_files_are_reported(void **state) {
    (void)state;
    (void)unlink(path);
    expect_foreign(path, "no such file");
    expect_foreign(folder, "directory");
    expect_foreign("/dev/null", "not an HDF5 file");
    write_bytes(path, (const unsigned char *)"sinew: 1\n", 9);
    expect_foreign(path, "not an HDF5 file");
    write_bytes(path, (const unsigned char *)"", 0);
    expect_foreign(path, "not an HDF5 file");
    // the file of a writer that was killed at the very start
    unsigned char *bytes;
    write_file(path, 3, "");
    const size_t size = read_bytes(path, &bytes);
    bytes[11] = 1;
    write_bytes(path, bytes, size);
    expect_foreign(path, "before its first frame");
    snw_free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_reads_back),
        cmocka_unit_test(a_single_frame_makes_a_small_file),
        cmocka_unit_test(runs_keep_their_names_order_and_ends),
        cmocka_unit_test(runs_of_one_name_are_refused),
        cmocka_unit_test(empty_sizes_are_fine),
        cmocka_unit_test(recording_does_not_allocate),
        cmocka_unit_test(runs_are_written_from_several_threads),
        cmocka_unit_test(a_run_without_frames_leaves_the_old_file),
        cmocka_unit_test(the_first_frame_puts_the_file_in_place),
        cmocka_unit_test(a_link_to_the_file_stays_a_link),
        cmocka_unit_test(frames_wait_no_longer_than_asked),
        cmocka_unit_test(impossible_paths_of_files_are_refused),
        cmocka_unit_test(a_folder_without_permission_is_refused),
        cmocka_unit_test(foreign_files_are_reported),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
