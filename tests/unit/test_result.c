// SPDX-License-Identifier: MIT
//
// SNW_TEST_KILLS sets how many writers are killed (20 unless set), for longer runs by hand.
#include "io/result.h"

#include "base/alloc.h"

#include "near.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// ---- a run with known frames -------------------------------------------------------------------

enum { NQ = 3, NV = 2, NNODE = 4, NCOLUMN = 5 };

static const char *const stages[] = {"rolled", "dynamic.2"};
static const char *const q_names[] = {"arm.bend_y.0", "arm.bend_y.1", "hinge"};
static const char *const links[] = {"arm", "arm", "arm", "load(2)"};
static const double node_x[] = {0, 0.5, 1, 0};
static const snw_column columns[] = {{"tip", "x", -1},
                                     {"tip", "qw", -1},
                                     {"wire", "my", 0},
                                     {"wire", "my", 1},
                                     {"\xC3\xA9nergie", "", -1}};
static const snw_run_info arm = {.run = "main",
                                 .title = "Clamped rod, \xC2\xB5m thin",
                                 .nstage = 2,
                                 .stage = stages,
                                 .nq = NQ,
                                 .nv = NV,
                                 .q_name = q_names,
                                 .nnode = NNODE,
                                 .node_link = links,
                                 .node_x = node_x,
                                 .ncolumn = NCOLUMN,
                                 .column = columns};
static const snw_run_info *const one_run[] = {&arm};

// Number k of a field in frame i; poses are made of p_i + k and a turn by `angle` about (1, 2,
// 2)/3.
static double number(int i, snw_result_field field, int k) {
    if (field == SNW_RESULT_T) return 0.01 * i;
    if (field == SNW_RESULT_STAGE) return i >= 3;
    return 1000 * (int)field + i + k / 64.0;
}

static double angle(int i, int node) { return 0.3 * i + node; }

typedef struct frame_data {
    double q[NQ], v[NV], column[NCOLUMN];
    snw_se3 pose[NNODE];
} frame_data;

static snw_se3 turned(double a, double p) {
    const double c = cos(a), s = sin(a), x = 1.0 / 3, y = 2.0 / 3, z = 2.0 / 3;
    const double d = 1 - c;
    const snw_se3 g = {{{{c + x * x * d, x * y * d - z * s, x * z * d + y * s},
                         {x * y * d + z * s, c + y * y * d, y * z * d - x * s},
                         {x * z * d - y * s, y * z * d + x * s, c + z * z * d}}},
                       {{p, p + 1, p + 2}}};
    return g;
}

static snw_frame make_frame(int i, frame_data *d) {
    for (int k = 0; k < NQ; k++) d->q[k] = number(i, SNW_RESULT_Q, k);
    for (int k = 0; k < NV; k++) d->v[k] = number(i, SNW_RESULT_V, k);
    for (int k = 0; k < NCOLUMN; k++) d->column[k] = number(i, SNW_RESULT_COLUMNS, k);
    for (int k = 0; k < NNODE; k++) d->pose[k] = turned(angle(i, k), i + 10 * k);
    snw_frame f = {.stage = i >= 3, .t = 0.01 * i};
    f.q = d->q;
    f.v = d->v;
    f.pose = d->pose;
    f.column = d->column;
    int k = 0;
#define X(name) f.energy.name = number(i, SNW_RESULT_ENERGY, k++);
    SNW_ENERGY_LIST(X)
#undef X
    k = 0;
#define X(name, meaning) f.stats.name = number(i, SNW_RESULT_STATS, k++);
    SNW_STATS_LIST(X)
#undef X
    return f;
}

static snw_status record(const snw_recorder *r, int i, snw_error *err) {
    frame_data d;
    const snw_frame f = make_frame(i, &d);
    return r->frame(r->user, &f, err);
}

static void check_poses(const double *pose, int first, int n) {
    for (int i = first; i < first + n; i++) {
        for (int k = 0; k < NNODE; k++, pose += SNW_RESULT_POSE_WIDTH) {
            const double c = cos(0.5 * angle(i, k)), s = sin(0.5 * angle(i, k));
            const double sign = c < 0 ? -1 : 1;
            const double want[] = {i + 10.0 * k, i + 10.0 * k + 1, i + 10.0 * k + 2, sign * c,
                                   sign * s / 3, sign * s * 2 / 3, sign * s * 2 / 3};
            for (int m = 0; m < SNW_RESULT_POSE_WIDTH; m++) assert_near(pose[m], want[m], 1e-14);
        }
    }
}

// All that the file has of a run is what was recorded.
static void check_frames(snw_result *r, int run) {
    enum { BLOCK = 100 };
    static double out[BLOCK * NNODE * SNW_RESULT_POSE_WIDTH];
    const int nframe = snw_result_frames(r, run);
    snw_error err = {0};
    for (int first = 0; first < nframe; first += BLOCK) {
        const int n = nframe - first < BLOCK ? nframe - first : BLOCK;
        for (int f = 0; f < SNW_RESULT_NFIELD; f++) {
            const snw_result_field field = (snw_result_field)f;
            if (snw_result_read(r, run, field, first, n, out, &err) != SNW_OK)
                fail_msg("%s", err.text);
            if (field == SNW_RESULT_POSE) {
                check_poses(out, first, n);
                continue;
            }
            const int width = (int)snw_result_width(&arm, field);
            for (int i = 0; i < n * width; i++) {
                if (out[i] == number(first + i / width, field, i % width)) continue;
                fail_msg("frame %d of %d: %s is %g", first + i / width, nframe,
                         snw_result_field_name(field), out[i]);
            }
        }
    }
}

// ---- what reaches the disk, for dying at each moment
// ---------------------------------------------

typedef struct disk_write {
    off_t at;
    size_t size;
    unsigned char *bytes;
} disk_write;

static struct {
    bool on;
    int n;
    disk_write write[20000];
} disk;

// Stands in for the one of the C library.
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    if (disk.on) {
        assert_true(disk.n < (int)(sizeof disk.write / sizeof *disk.write));
        disk_write *w = &disk.write[disk.n++];
        *w = (disk_write){at, size, snw_alloc(size)};
        assert_non_null(w->bytes);
        memcpy(w->bytes, bytes, size);
    }
    return lseek(fd, at, SEEK_SET) == at ? write(fd, bytes, size) : -1;
}

// ---- files -------------------------------------------------------------------------------------

static char folder[] = "/tmp/sinew_result_XXXXXX";
static char path[64];

// Write `nframe` frames in one run and close.
static void write_file(const char *to, int nframe, const char *model) {
    snw_results *w = NULL;
    snw_error err = {0};
    if (snw_results_create(to, 1, one_run, model, &w, &err) != SNW_OK) fail_msg("%s", err.text);
    const snw_recorder rec = snw_results_recorder(w, 0);
    for (int i = 0; i < nframe; i++) assert_int_equal(record(&rec, i, &err), SNW_OK);
    assert_int_equal(rec.end(rec.user, SNW_OK, "", &err), SNW_OK);
    assert_int_equal(snw_results_close(w, &err), SNW_OK);
}

static snw_result *open_file(const char *from) {
    snw_result *r = NULL;
    snw_error err = {0};
    if (snw_result_open(from, &r, &err) != SNW_OK) fail_msg("%s", err.text);
    return r;
}

// Files in the folder whose name contains `part`; removed on the way if wanted.
static int count_files(const char *part, bool removed) {
    DIR *d = opendir(folder);
    assert_non_null(d);
    int n = 0;
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.' && (!e->d_name[1] || e->d_name[1] == '.')) continue;
        if (!strstr(e->d_name, part)) continue;
        n++;
        if (removed) assert_int_equal(unlinkat(dirfd(d), e->d_name, 0), 0);
    }
    (void)closedir(d);
    return n;
}

static size_t read_bytes(const char *from, unsigned char **bytes) {
    FILE *f = fopen(from, "rb");
    assert_non_null(f);
    struct stat s;
    assert_int_equal(fstat(fileno(f), &s), 0);
    *bytes = snw_alloc((size_t)s.st_size);
    assert_int_equal(fread(*bytes, 1, (size_t)s.st_size, f), s.st_size);
    (void)fclose(f);
    return (size_t)s.st_size;
}

static void write_bytes(const char *to, const unsigned char *bytes, size_t size) {
    FILE *f = fopen(to, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    (void)fclose(f);
}

// Numbers that look random and are the same each time.
static uint32_t scramble(uint32_t *seed) {
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

static void wait_for(double seconds) {
    const struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    (void)nanosleep(&t, NULL);
}

// ---- what is written is read -------------------------------------------------------------------

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
    assert_int_equal(snw_result_find(r, "main"), 0);
    assert_int_equal(snw_result_find(r, "mai"), -1);
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

// 100 KiB would be a nuisance in a sweep of a thousand
static void a_single_frame_makes_a_small_file(void **state) {
    (void)state;
    write_file(path, 1, "");
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
    // frames of all runs in turn, then the last one falls silent
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
        assert_int_equal(snw_result_find(r, names[i]), i);
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

// nothing to record but the time
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
    // well ended: nothing to record is a result too
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
    for (int k = 1; k <= 2; k++) { // dangling, then not
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

// ---- while it grows ----------------------------------------------------------------------------

static void frames_wait_no_longer_than_asked(void **state) {
    (void)state;
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, one_run, "", &w, NULL), SNW_OK);
    const snw_recorder rec = snw_results_recorder(w, 0);
    for (int i = 0; i < 10; i++) assert_int_equal(record(&rec, i, NULL), SNW_OK);
    snw_result *r = open_file(path);
    assert_int_equal(snw_result_frames(r, 0), 1);
    assert_int_equal(snw_results_flush(w, 60, NULL), SNW_OK);
    assert_int_equal(snw_result_refresh(r, NULL), SNW_OK);
    assert_int_equal(snw_result_frames(r, 0), 1);
    assert_int_equal(snw_results_flush(w, 0, NULL), SNW_OK);
    assert_int_equal(snw_result_refresh(r, NULL), SNW_OK);
    assert_int_equal(snw_result_frames(r, 0), 10);
    // a second after the oldest one waiting
    assert_int_equal(record(&rec, 10, NULL), SNW_OK);
    wait_for(1.01);
    assert_int_equal(record(&rec, 11, NULL), SNW_OK);
    assert_int_equal(snw_result_refresh(r, NULL), SNW_OK);
    assert_int_equal(snw_result_frames(r, 0), 12);
    check_frames(r, 0);
    assert_int_equal(rec.end(rec.user, SNW_E_STOPPED, "enough", NULL), SNW_OK);
    assert_int_equal(snw_result_refresh(r, NULL), SNW_OK);
    const char *message = NULL;
    assert_int_equal(snw_result_state_of(r, 0, &message), SNW_RESULT_STOPPED);
    assert_string_equal(message, "enough");
    snw_result_close(r);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
}

// Child: records without end, or `nframe` frames, and writes them at irregular moments.
static void keep_writing(uint32_t seed, int nframe) {
    snw_results *w = NULL;
    if (snw_results_create(path, 1, one_run, "new", &w, NULL) != SNW_OK) _exit(1);
    const snw_recorder rec = snw_results_recorder(w, 0);
    for (int i = 0; nframe < 0 || i < nframe; i++) {
        if (record(&rec, i, NULL) != SNW_OK) _exit(2);
        if (scramble(&seed) % 40 == 0 && snw_results_flush(w, 0, NULL) != SNW_OK) _exit(3);
    }
    if (rec.end(rec.user, SNW_OK, "", NULL) != SNW_OK) _exit(4);
    if (snw_results_close(w, NULL) != SNW_OK) _exit(5);
    _exit(0);
}

static void a_reader_follows_a_writer(void **state) {
    (void)state;
    enum { N = 20000 };
    (void)unlink(path);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) keep_writing(1, N);
    while (access(path, R_OK) != 0) wait_for(1e-4);
    snw_result *r = open_file(path);
    int last = snw_result_frames(r, 0), seen = 0;
    snw_error err = {0};
    while (snw_result_state_of(r, 0, NULL) != SNW_RESULT_FINISHED) {
        if (snw_result_refresh(r, &err) != SNW_OK) fail_msg("%s", err.text);
        assert_true(snw_result_frames(r, 0) >= last);
        seen += snw_result_frames(r, 0) > last;
        last = snw_result_frames(r, 0);
        check_frames(r, 0);
        // another one comes and goes
        snw_result *second = open_file(path);
        assert_true(snw_result_frames(second, 0) >= last);
        snw_result_close(second);
    }
    assert_int_equal(last, N);
    assert_true(seen > 1);
    check_frames(r, 0);
    snw_result_close(r);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_killed_run_can_be_read(void **state) {
    (void)state;
    const char *times = getenv("SNW_TEST_KILLS");
    const int nkill = times ? (int)strtol(times, NULL, 10) : 20;
    int old = 0, frames = 0;
    for (int k = 0; k < nkill; k++) {
        write_file(path, 17, "old");
        uint32_t seed = (uint32_t)k + 1;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) keep_writing(seed, -1);
        wait_for(1e-6 * (double)(scramble(&seed) % 20000));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        snw_result *r = open_file(path);
        if (strcmp(snw_result_model(r), "old") == 0) {
            assert_int_equal(snw_result_frames(r, 0), 17);
            old++;
        } else {
            assert_true(snw_result_frames(r, 0) >= 1);
            frames += snw_result_frames(r, 0);
        }
        check_frames(r, 0);
        snw_result_close(r);
        (void)count_files("partial", true);
    }
    print_message("%d killed: %d before the first frame, %d frames in the others\n", nkill, old,
                  frames);
}

// A kill may come between any two writes, and within one where it goes over to another page of
// memory: from the first frame on the file can be read at each of these moments.
static void every_moment_leaves_a_readable_file(void **state) {
    (void)state;
    enum { N = 600, PAGE = 4096 };
    disk.on = true;
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, one_run, "new", &w, NULL), SNW_OK);
    const snw_recorder rec = snw_results_recorder(w, 0);
    int placed = 0;
    for (int i = 0; i < N; i++) {
        assert_int_equal(record(&rec, i, NULL), SNW_OK);
        if (i == 0) placed = disk.n;
        if (i % 7 == 0) assert_int_equal(snw_results_flush(w, 0, NULL), SNW_OK);
    }
    assert_int_equal(rec.end(rec.user, SNW_OK, "", NULL), SNW_OK);
    const int ended = disk.n;
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
    disk.on = false;

    const int fd = open(path, O_RDWR | O_TRUNC);
    assert_true(fd >= 0);
    int last = 0, moments = 0;
    for (int k = 0; k < disk.n; k++) {
        const disk_write *d = &disk.write[k];
        for (size_t done = 0; done < d->size;) {
            const size_t page = PAGE - ((size_t)d->at + done) % PAGE;
            const size_t n = d->size - done < page ? d->size - done : page;
            assert_int_equal(pwrite(fd, d->bytes + done, n, d->at + (off_t)done), n);
            done += n;
            if (k < placed - 1) continue;
            snw_result *r = open_file(path);
            moments++;
            assert_true(snw_result_frames(r, 0) >= last);
            last = snw_result_frames(r, 0);
            assert_true(last > 0);
            if (k % 16 == 0) check_frames(r, 0);
            if (k >= ended) assert_int_equal(last, N);
            snw_result_close(r);
        }
        snw_free(d->bytes);
    }
    disk.n = 0;
    (void)close(fd);
    print_message("%d moments\n", moments);
}

// ---- what goes wrong ---------------------------------------------------------------------------

static void expect_refusal(const char *to, const char *reason) {
    snw_results *w = NULL;
    snw_error err = {0};
    assert_int_equal(snw_results_create(to, 1, one_run, "", &w, &err), SNW_E_IO);
    assert_null(w);
    if (!strstr(err.text, reason)) fail_msg("'%s' does not say '%s'", err.text, reason);
}

static void places_that_cannot_be_are_refused(void **state) {
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
    // root may write everywhere
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

// the limit on the size of a file stands for a full disk; the writer meets it at every possible
// place
static void a_full_disk_keeps_what_was_written(void **state) {
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    int refused = 0, kept = 0;
    for (rlim_t limit = 0; limit < 120 * 1024; limit += 499) {
        write_file(path, 17, "old");
        const struct rlimit small = {limit, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        snw_results *w = NULL;
        snw_error err = {0};
        snw_status s = snw_results_create(path, 1, one_run, "new", &w, &err), closed = SNW_E_IO;
        if (s == SNW_OK) {
            const snw_recorder rec = snw_results_recorder(w, 0);
            for (int i = 0; s == SNW_OK && i < 100000; i++) {
                s = record(&rec, i, &err);
                if (s == SNW_OK && i % 20 == 0) s = snw_results_flush(w, 0, &err);
            }
            snw_error second = {0};
            const snw_status end = rec.end(rec.user, s, err.text, &second);
            closed = snw_results_close(w, &second);
            assert_int_equal(end, SNW_OK); // told once
        }
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(s, SNW_E_IO);
        assert_int_equal(closed, SNW_E_IO);
        assert_non_null(strstr(err.text, "File too large"));
        assert_non_null(strstr(err.text, path));
        assert_int_equal(count_files("partial", false), 0);
        snw_result *r = open_file(path);
        if (strcmp(snw_result_model(r), "old") == 0) {
            refused++;
            assert_int_equal(snw_result_frames(r, 0), 17);
        } else {
            const char *message = NULL;
            kept++;
            assert_true(snw_result_frames(r, 0) >= 1);
            assert_int_equal(snw_result_state_of(r, 0, &message), SNW_RESULT_FAILED);
            assert_string_equal(message, err.text);
        }
        check_frames(r, 0);
        snw_result_close(r);
    }
    assert_true(refused > 0 && kept > 0);
    (void)signal(SIGXFSZ, handler);
}

// Open and read all there is: no crash; false when the file is refused.
static bool try_reading(const char *from) {
    snw_result *r = NULL;
    snw_error err = {0};
    const snw_status opened = snw_result_open(from, &r, &err);
    if (opened != SNW_OK) {
        assert_true(opened == SNW_E_PARSE || opened == SNW_E_IO || opened == SNW_E_MEMORY);
        assert_true(err.text[0] != '\0' && !r);
        return false;
    }
    bool good = true;
    for (int i = 0; i < snw_result_runs(r); i++) {
        for (int f = 0; f < SNW_RESULT_NFIELD; f++) {
            const int n = snw_result_frames(r, i) < 500 ? snw_result_frames(r, i) : 500;
            const size_t width = snw_result_width(snw_result_info(r, i), (snw_result_field)f);
            assert_true(width < 10000);
            double *out = snw_alloc((size_t)n * width * sizeof *out);
            good = snw_result_read(r, i, (snw_result_field)f, 0, n, out, &err) == SNW_OK && good;
            snw_free(out);
        }
    }
    snw_result_close(r);
    return good;
}

// A finished file (`live` false) or one as a killed writer leaves it, of about 100 frames.
static size_t sample(bool live, unsigned char **bytes) {
    if (!live) {
        write_file(path, 100, "model");
        return read_bytes(path, bytes);
    }
    snw_results *w = NULL;
    assert_int_equal(snw_results_create(path, 1, one_run, "model", &w, NULL), SNW_OK);
    const snw_recorder rec = snw_results_recorder(w, 0);
    for (int i = 0; i < 100; i++) assert_int_equal(record(&rec, i, NULL), SNW_OK);
    assert_int_equal(snw_results_flush(w, 0, NULL), SNW_OK);
    const size_t size = read_bytes(path, bytes);
    assert_int_equal(snw_results_close(w, NULL), SNW_OK);
    return size;
}

static void a_cut_file_is_told(void **state) {
    (void)state;
    for (int live = 0; live < 2; live++) {
        unsigned char *bytes;
        const size_t size = sample(live, &bytes);
        write_bytes(path, bytes, size);
        assert_true(try_reading(path));
        for (size_t length = 0; length < size; length += live ? 1021 : 97) {
            write_bytes(path, bytes, length);
            // values at the end may be missing from a live file before it is noticed, never half of
            // one
            if (try_reading(path) && !live) fail_msg("cut to %zu bytes, and not noticed", length);
        }
        snw_free(bytes);
    }
}

static void damaged_bytes_do_no_harm(void **state) {
    (void)state;
    uint32_t seed = 5;
    int noticed = 0, tried = 0;
    for (int live = 0; live < 2; live++) {
        unsigned char *bytes;
        const size_t size = sample(live, &bytes);
        // a live file is tried again for a while, which takes time
        for (int k = 0; k < (live ? 60 : 400); k++) {
            // metadata lies in front for the most part
            const size_t range = k % 2 ? size : 12 * 1024;
            const size_t at = (scramble(&seed) << 8 ^ scramble(&seed)) % range;
            const unsigned char was = bytes[at];
            bytes[at] = (unsigned char)(was ^ (1 + scramble(&seed) % 255));
            write_bytes(path, bytes, size);
            noticed += !try_reading(path);
            tried++;
            bytes[at] = was;
        }
        snw_free(bytes);
    }
    print_message("%d of %d damages noticed\n", noticed, tried);
    assert_true(noticed > 0);
}

static void expect_foreign(const char *from, const char *reason) {
    snw_result *r = NULL;
    snw_error err = {0};
    assert_int_not_equal(snw_result_open(from, &r, &err), SNW_OK);
    assert_null(r);
    if (!strstr(err.text, reason)) fail_msg("'%s' does not say '%s'", err.text, reason);
}

static void foreign_files_are_told(void **state) {
    (void)state;
    (void)unlink(path);
    expect_foreign(path, "no such file");
    expect_foreign(folder, "directory");
    expect_foreign("/dev/null", "not an HDF5 file");
    write_bytes(path, (const unsigned char *)"sinew: 1\n", 9);
    expect_foreign(path, "not an HDF5 file");
    write_bytes(path, (const unsigned char *)"", 0);
    expect_foreign(path, "not an HDF5 file");
    // what a writer leaves that was killed at the very start
    unsigned char *bytes;
    const size_t size = sample(false, &bytes);
    bytes[11] = 1;
    write_bytes(path, bytes, size);
    expect_foreign(path, "before its first frame");
    snw_free(bytes);
}

// ---- the lot -----------------------------------------------------------------------------------

static int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    (void)snprintf(path, sizeof path, "%s/out.h5", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    (void)count_files("", true);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_reads_back),
        cmocka_unit_test(a_single_frame_makes_a_small_file),
        cmocka_unit_test(runs_keep_their_names_order_and_ends),
        cmocka_unit_test(runs_of_one_name_are_refused),
        cmocka_unit_test(empty_sizes_are_fine),
        cmocka_unit_test(recording_does_not_allocate),
        cmocka_unit_test(a_run_without_frames_leaves_the_old_file),
        cmocka_unit_test(the_first_frame_puts_the_file_in_place),
        cmocka_unit_test(a_link_to_the_file_stays_a_link),
        cmocka_unit_test(frames_wait_no_longer_than_asked),
        cmocka_unit_test(a_reader_follows_a_writer),
        cmocka_unit_test(a_killed_run_can_be_read),
        cmocka_unit_test(every_moment_leaves_a_readable_file),
        cmocka_unit_test(places_that_cannot_be_are_refused),
        cmocka_unit_test(a_folder_without_permission_is_refused),
        cmocka_unit_test(a_full_disk_keeps_what_was_written),
        cmocka_unit_test(a_cut_file_is_told),
        cmocka_unit_test(damaged_bytes_do_no_harm),
        cmocka_unit_test(foreign_files_are_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
