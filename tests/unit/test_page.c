// SPDX-License-Identifier: MIT
#include "output/page.h"

#include "base/alloc.h"
#include "output/frame_selection.h"
#include "result_sample.h"

// ---- which frames are kept ---------------------------------------------------------------------

enum { MANY = 5000 };

static void check_kept(int n, const double *t, const double *stage, const bool *mark, int most) {
    static int keep[MANY];
    int kept = 0;
    snw_select_frames(n, t, stage, mark, most, keep, &kept);
    assert_true(kept >= (n < 2 ? n : 2) && kept <= most && kept <= n);
    assert_int_equal(keep[0], 0);
    assert_int_equal(keep[kept - 1], n - 1);
    for (int k = 1; k < kept; k++) assert_true(keep[k] > keep[k - 1]);
}

static void frames_are_kept_evenly_in_time(void **state) {
    (void)state;
    static double t[MANY], stage[MANY];
    static bool mark[MANY];
    static int keep[MANY];
    // steps of two sizes: half of the frames in a tenth of the time
    for (int i = 0; i < MANY; i++) t[i] = i < MANY / 2 ? 1e-3 * i : 2.5 + 9e-3 * (i - MANY / 2);
    int kept = 0;
    snw_select_frames(MANY, t, stage, mark, 500, keep, &kept);
    check_kept(MANY, t, stage, mark, 500);
    assert_true(kept > 450);
    const double mean = (t[MANY - 1] - t[0]) / (kept - 1);
    for (int k = 1; k < kept; k++) assert_true(t[keep[k]] - t[keep[k - 1]] < 1.5 * mean);
}

static void ends_of_stages_and_instants_that_come_twice_are_kept(void **state) {
    (void)state;
    static double t[MANY], stage[MANY];
    static bool mark[MANY], is_kept[MANY];
    static int keep[MANY];
    for (int i = 0; i < MANY; i++) {
        stage[i] = i / 1000;
        t[i] = 0.01 * (i - (i >= 2345)); // 2345 is at the time of 2344
        mark[i] = i == 777;
    }
    int kept = 0;
    snw_select_frames(MANY, t, stage, mark, 100, keep, &kept);
    check_kept(MANY, t, stage, mark, 100);
    for (int k = 0; k < kept; k++) is_kept[keep[k]] = true;
    const int must[] = {777, 999, 1000, 1999, 2000, 2344, 2345, 2999, 3000, 3999, 4000};
    for (size_t i = 0; i < sizeof must / sizeof *must; i++) assert_true(is_kept[must[i]]);
}

// for any times and stages in a file, NaN included
static void any_frames_can_be_thinned(void **state) {
    (void)state;
    static double t[MANY], stage[MANY];
    static bool mark[MANY];
    uint32_t seed = 7;
    for (int trial = 0; trial < 300; trial++) {
        const int n = 1 + (int)(scramble(&seed) % 400), sort = trial % 4;
        for (int i = 0; i < n; i++) {
            const double x = (double)(scramble(&seed) % 1000) / 1000;
            t[i] = sort == 0 ? 0 : sort == 1 ? i : sort == 2 ? x : x < 0.1 ? NAN : 1e300 * x;
            stage[i] = scramble(&seed) % 3;
            mark[i] = scramble(&seed) % 5 == 0;
        }
        check_kept(n, t, stage, mark, 2 + (int)(scramble(&seed) % 60));
    }
}

// ---- the page ----------------------------------------------------------------------------------

typedef struct memory {
    char *text;
    size_t size, room;
} memory;

static bool keep_bytes(void *user, const char *bytes, size_t size) {
    memory *to = user;
    if (to->size + size > to->room) return false;
    memcpy(to->text + to->size, bytes, size);
    to->size += size;
    return true;
}

static void write_page(const snw_page_opts *opts, const char *file_name, memory *to,
                       snw_page_info *info) {
    snw_result *r = NULL;
    snw_error err = {0};
    to->room = (size_t)64 << 20;
    to->text = snw_alloc(to->room + 1);
    assert_int_equal(snw_result_open(path, &r, NULL), SNW_OK);
    const snw_page_source source = {r, file_name, 0};
    if (snw_page_write(1, &source, opts, (snw_sink){to, keep_bytes}, info, &err) != SNW_OK) {
        fail_msg("%s", err.text);
    }
    snw_result_close(r);
}

// numbers of an array of the page
static double *decode(const memory *page, const char *name, bool twice, int *n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char tag[64];
    (void)snprintf(tag, sizeof tag, "id=\"sinew-0-%s\">", name);
    const char *p = strstr(page->text, tag);
    if (!p) fail_msg("there is no %s", name);
    p += strlen(tag);
    const size_t length = strcspn(p, "=<");
    unsigned char *bytes = snw_alloc(length + 8);
    size_t nbyte = 0;
    uint32_t bits = 0;
    int have = 0;
    for (size_t i = 0; i < length; i++) {
        bits = bits << 6 | (uint32_t)(strchr(digits, p[i]) - digits);
        have += 6;
        if (have < 8) continue;
        have -= 8;
        bytes[nbyte++] = (unsigned char)(bits >> have);
    }
    *n = (int)(nbyte / (twice ? 8 : 4));
    double *out = snw_alloc(((size_t)*n + 1) * sizeof *out);
    for (int i = 0; i < *n; i++) {
        float single;
        memcpy(&single, bytes + 4 * (size_t)i, 4);
        out[i] = single;
        if (twice) memcpy(&out[i], bytes + 8 * (size_t)i, 8);
    }
    snw_free(bytes);
    return out;
}

static void short_runs_are_kept_completely(void **state) {
    (void)state;
    write_file(path, 50, "model");
    const snw_page_opts opts = snw_page_defaults();
    snw_page_info info;
    memory page = {0};
    write_page(&opts, "arm.h5", &page, &info);
    assert_int_equal(info.kept, 50);
    int n;
    double *t = decode(&page, "t", true, &n);
    assert_int_equal(n, 50);
    for (int i = 0; i < n; i++) assert_near(t[i], 0.01 * i, 0);
    snw_free(t);
    double *column = decode(&page, "columns", true, &n);
    assert_int_equal(n, 50 * NCOLUMN);
    for (int i = 0; i < n; i++) {
        assert_near(column[i], number(i / NCOLUMN, SNW_RESULT_COLUMNS, i % NCOLUMN), 0);
    }
    snw_free(column);
    double *pose = decode(&page, "pose", false, &n);
    assert_int_equal(n, 50 * NNODE * SNW_RESULT_POSE_WIDTH);
    // x of the first two nodes of frame 7 are 7 and 17: after subtraction of the offset their
    // distance is unchanged
    assert_near(pose[(7 * NNODE + 1) * 7] - pose[7 * NNODE * 7], 10, 1e-5);
    snw_free(pose);
    assert_null(strstr(page.text, "columns-low"));
    snw_free(page.text);
}

static void extremes_between_kept_frames_stay(void **state) {
    (void)state;
    enum { N = 1000 };
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, one_run, "model", &w, NULL), SNW_OK);
    const snw_recorder recorder = snw_results_recorder(w, 0);
    for (int i = 0; i < N; i++) {
        frame_data d;
        snw_frame f = make_frame(i, &d);
        d.column[0] = i == 333 ? 1e6 : i == 667 ? -1e6 : 0; // two frames with extreme values
        assert_int_equal(recorder.frame(recorder.user, &f, NULL), SNW_OK);
    }
    assert_int_equal(recorder.end(recorder.user, SNW_OK, "", NULL), SNW_OK);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
    snw_page_opts opts = snw_page_defaults();
    opts.frames = 20;
    snw_page_info info;
    memory page = {0};
    write_page(&opts, "arm.h5", &page, &info);
    assert_int_equal(info.frames, N);
    assert_true(info.kept <= 20);
    int n;
    double *low = decode(&page, "columns-low", true, &n), least = 0, most = 0;
    assert_int_equal(n, info.kept * NCOLUMN);
    double *high = decode(&page, "columns-high", true, &n);
    for (int k = 0; k < info.kept; k++) {
        least = fmin(least, low[k * NCOLUMN]);
        most = fmax(most, high[k * NCOLUMN]);
        assert_true(low[k * NCOLUMN] <= high[k * NCOLUMN]);
    }
    assert_near(least, -1e6, 0);
    assert_near(most, 1e6, 0);
    snw_free(low);
    snw_free(high);
    snw_free(page.text);
}

static void texts_cannot_leave_their_element(void **state) {
    (void)state;
    snw_run_info hostile = arm;
    hostile.run = "</script><script>alert(1)</script>";
    hostile.title = "<!--<script>";
    const snw_run_info *const runs[] = {&hostile};
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, runs, "</script>", &w, NULL), SNW_OK);
    const snw_recorder recorder = snw_results_recorder(w, 0);
    assert_int_equal(record(&recorder, 0, NULL), SNW_OK);
    assert_int_equal(recorder.end(recorder.user, SNW_OK, "", NULL), SNW_OK);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
    const snw_page_opts opts = {.bytes = 1 << 20, .frames = 10};
    snw_page_info info;
    memory page = {0};
    write_page(&opts, "</script>.h5", &page, &info);
    int begun = 0, ended = 0;
    for (const char *p = page.text; (p = strchr(p, '<')); p++) {
        begun += strncmp(p, "<script type=\"application/", 26) == 0;
        ended += strncmp(p, "</script>\n", 10) == 0;
    }
    assert_int_equal(begun, ended);
    assert_int_equal(begun, 14); // the JSON and thirteen arrays
    for (const char *p = page.text; (p = strchr(p, '<')); p++) {
        assert_true(strncmp(p, "<script type", 12) == 0 || strncmp(p, "</script>\n", 10) == 0);
    }
    assert_non_null(strstr(page.text, "\\u003c/script>\\u003cscript>alert(1)"));
    snw_free(page.text);
}

static void hundred_thousand_frames_fit(void **state) {
    (void)state;
    write_file(path, 100000, "model");
    const snw_page_opts opts = snw_page_defaults();
    snw_page_info info;
    memory page = {0};
    write_page(&opts, "arm.h5", &page, &info);
    assert_int_equal(info.frames, 100000);
    assert_true(info.kept > 1000 && info.kept <= opts.frames);
    assert_true(page.size < 60000000);
    snw_free(page.text);
}

static void a_full_disk_is_reported(void **state) {
    (void)state;
    write_file(path, 50, "model");
    snw_result *r = NULL;
    assert_int_equal(snw_result_open(path, &r, NULL), SNW_OK);
    const snw_page_source source = {r, "arm.h5", 0};
    const snw_page_opts opts = snw_page_defaults();
    snw_page_info info;
    char text[3000];
    for (size_t room = 0; room < sizeof text; room += 700) {
        memory to = {.text = text, .room = room};
        snw_error err = {0};
        assert_int_equal(
            snw_page_write(1, &source, &opts, (snw_sink){&to, keep_bytes}, &info, &err), SNW_E_IO);
        assert_non_null(strstr(err.text, "cannot write"));
    }
    snw_result_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_kept_evenly_in_time),
        cmocka_unit_test(ends_of_stages_and_instants_that_come_twice_are_kept),
        cmocka_unit_test(any_frames_can_be_thinned),
        cmocka_unit_test(short_runs_are_kept_completely),
        cmocka_unit_test(extremes_between_kept_frames_stay),
        cmocka_unit_test(texts_cannot_leave_their_element),
        cmocka_unit_test(hundred_thousand_frames_fit),
        cmocka_unit_test(a_full_disk_is_reported),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
