// SPDX-License-Identifier: MIT
#include "output/csv.h"

#include "near.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/sinew_csv_XXXXXX";
static char path[64];

static const snw_column columns[] = {
    {"tip", "x", -1}, {"a \"quoted\", name", "", -1}, {"wire", "my", 2}, {"e", "", -1}};
static const snw_run_info info = {.run = "main", .title = "", .ncolumn = 4, .column = columns};

static void write_file(int nframe) {
    const snw_run_info *const list[] = {&info};
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, list, "", &w, NULL), SNW_OK);
    const snw_recorder r = snw_results_recorder(w, 0);
    for (int i = 0; i < nframe; i++) {
        const double value[] = {1.0 / (i + 3), i, i == 1 ? NAN : -0.5, i * 1e-20};
        const snw_frame f = {.t = 0.1 * i, .column = value};
        assert_int_equal(r.frame(r.user, &f, NULL), SNW_OK);
    }
    assert_int_equal(r.end(r.user, SNW_OK, "", NULL), SNW_OK);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
}

static void columns_are_chosen_and_names_quoted(void **state) {
    (void)state;
    write_file(3);
    snw_result *r = NULL;
    assert_int_equal(snw_result_open(path, &r, NULL), SNW_OK);
    char text[512] = "";
    FILE *f = tmpfile();
    assert_non_null(f);
    const int chosen[] = {2, 0, 1};
    assert_int_equal(snw_csv_write(r, 0, 3, chosen, snw_sink_stream(f), NULL), SNW_OK);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    (void)fclose(f);
    assert_string_equal(text, "t,wire@2.my,tip.x,\"a \"\"quoted\"\", name\"\n"
                              "0,-0.5,0.3333333333333333,0\n"
                              "0.1,nan,0.25,1\n"
                              "0.2,-0.5,0.2,2\n");
    snw_result_close(r);
}

static bool refuse(void *user, const char *bytes, size_t size) {
    (void)bytes;
    size_t *left = user;
    if (size > *left) {
        errno = EPIPE;
        return false;
    }
    *left -= size;
    return true;
}

static void every_number_reads_back(void **state) {
    (void)state;
    enum { N = 20000 }; // several blocks
    write_file(N);
    snw_result *r = NULL;
    assert_int_equal(snw_result_open(path, &r, NULL), SNW_OK);
    FILE *f = tmpfile();
    assert_non_null(f);
    assert_int_equal(snw_csv_write(r, 0, 0, NULL, snw_sink_stream(f), NULL), SNW_OK);
    rewind(f);
    char line[256];
    assert_non_null(fgets(line, sizeof line, f));
    for (int i = 0; i < N; i++) {
        assert_non_null(fgets(line, sizeof line, f));
        char *next = line;
        assert_true(strtod(next, &next) == 0.1 * i && *next == ',');
        assert_true(strtod(next + 1, &next) == 1.0 / (i + 3) && *next == ',');
        assert_true(strtod(next + 1, &next) == i && *next == ',');
        const double third = strtod(next + 1, &next);
        assert_true(i == 1 ? isnan(third) : third == -0.5);
        assert_true(strtod(next + 1, &next) == i * 1e-20 && *next == '\n');
    }
    assert_null(fgets(line, sizeof line, f));
    (void)fclose(f);
    snw_result_close(r);
}

static void a_broken_pipe_is_reported(void **state) {
    (void)state;
    write_file(5000);
    snw_result *r = NULL;
    assert_int_equal(snw_result_open(path, &r, NULL), SNW_OK);
    size_t left = 20000;
    snw_error err = {0};
    assert_int_equal(snw_csv_write(r, 0, 0, NULL, (snw_sink){&left, refuse}, &err), SNW_E_IO);
    assert_non_null(strstr(err.text, "Broken pipe"));
    snw_result_close(r);
}

static void no_frames_give_a_header(void **state) {
    (void)state;
    write_file(0);
    snw_result *r = NULL;
    assert_int_equal(snw_result_open(path, &r, NULL), SNW_OK);
    char text[64] = "";
    FILE *f = tmpfile();
    assert_non_null(f);
    const int chosen[] = {3};
    assert_int_equal(snw_csv_write(r, 0, 1, chosen, snw_sink_stream(f), NULL), SNW_OK);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    (void)fclose(f);
    assert_string_equal(text, "t,e\n");
    snw_result_close(r);
}

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    (void)snprintf(path, sizeof path, "%s/out.h5", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_chosen_and_names_quoted),
        cmocka_unit_test(every_number_reads_back),
        cmocka_unit_test(a_broken_pipe_is_reported),
        cmocka_unit_test(no_frames_give_a_header),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
