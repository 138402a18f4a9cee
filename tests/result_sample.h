// SPDX-License-Identifier: MIT
//
// result_sample.h: a run in which every number is known, and result files of it in a temporary
// folder.
#pragma once

#include "base/alloc.h"
#include "results/result.h"

#include "near.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// ---- a run with known frames --------------------------------------------------------------------

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
static const snw_fold_column folds[] = {{"rise", 0}, {"EI", 1}};
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
                                 .column = columns,
                                 .nload = 1,
                                 .nloop = 2,
                                 .ncontact = 1,
                                 .ntendon = 3,
                                 .ncondition = 1,
                                 .nfold = 2,
                                 .fold = folds,
                                 .scene = "{\"scene\":1}\n"};
static const snw_run_info *const one_run[] = {&arm};

// Number k of a field in frame i. Poses have the position p_i + k and a rotation by `angle` about
// (1, 2, 2)/3.
static inline double number(int i, snw_result_field field, int k) {
    if (field == SNW_RESULT_T) return 0.01 * i;
    if (field == SNW_RESULT_STAGE) return i >= 3;
    return 1000 * (int)field + i + k / 64.0;
}

static double angle(int i, int node) { return 0.3 * i + node; }

typedef struct frame_data {
    double q[NQ], v[NV], column[NCOLUMN], load[6], loop[12], contact[6], effort[3], present[1];
    double fold[2];
    snw_se3 pose[NNODE];
} frame_data;

static inline snw_se3 turned(double a, double p) {
    const double c = cos(a), s = sin(a), x = 1.0 / 3, y = 2.0 / 3, z = 2.0 / 3;
    const double d = 1 - c;
    const snw_se3 g = {{{{c + x * x * d, x * y * d - z * s, x * z * d + y * s},
                         {x * y * d + z * s, c + y * y * d, y * z * d - x * s},
                         {x * z * d - y * s, y * z * d + x * s, c + z * z * d}}},
                       {{p, p + 1, p + 2}}};
    return g;
}

static inline snw_frame make_frame(int i, frame_data *d) {
    for (int k = 0; k < NQ; k++) d->q[k] = number(i, SNW_RESULT_Q, k);
    for (int k = 0; k < NV; k++) d->v[k] = number(i, SNW_RESULT_V, k);
    for (int k = 0; k < NCOLUMN; k++) d->column[k] = number(i, SNW_RESULT_COLUMNS, k);
    for (int k = 0; k < 6; k++) d->load[k] = number(i, SNW_RESULT_LOAD, k);
    for (int k = 0; k < 12; k++) d->loop[k] = number(i, SNW_RESULT_LOOP, k);
    for (int k = 0; k < 6; k++) d->contact[k] = number(i, SNW_RESULT_CONTACT, k);
    for (int k = 0; k < 3; k++) d->effort[k] = number(i, SNW_RESULT_EFFORT, k);
    d->present[0] = number(i, SNW_RESULT_PRESENT, 0);
    for (int k = 0; k < 2; k++) d->fold[k] = number(i, SNW_RESULT_FOLD, k);
    for (int k = 0; k < NNODE; k++) d->pose[k] = turned(angle(i, k), i + 10 * k);
    snw_frame f = {.stage = i >= 3, .t = 0.01 * i};
    f.q = d->q;
    f.v = d->v;
    f.pose = d->pose;
    f.column = d->column;
    f.load = d->load;
    f.loop = d->loop;
    f.contact = d->contact;
    f.effort = d->effort;
    f.present = d->present;
    f.fold = d->fold;
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

static inline snw_status record(const snw_recorder *r, int i, snw_error *err) {
    frame_data d;
    const snw_frame f = make_frame(i, &d);
    return r->frame(r->user, &f, err);
}

static inline void check_poses(const double *pose, int first, int n) {
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

// The file must contain the recorded frames and nothing else.
static inline void check_frames(snw_result *r, int run) {
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

// ---- files --------------------------------------------------------------------------------------

static char folder[] = "/tmp/sinew_result_XXXXXX";
static char path[64];

// Write `nframe` frames in one run and close.
static inline void write_file(const char *to, int nframe, const char *model) {
    snw_results *w = NULL;
    snw_error err = {0};
    if (snw_results_create(to, 1, one_run, model, &w, &err) != SNW_OK) fail_msg("%s", err.text);
    const snw_recorder rec = snw_results_recorder(w, 0);
    for (int i = 0; i < nframe; i++) assert_int_equal(record(&rec, i, &err), SNW_OK);
    assert_int_equal(rec.end(rec.user, SNW_OK, "", &err), SNW_OK);
    assert_int_equal(snw_results_close(w, &err), SNW_OK);
}

static inline snw_result *open_file(const char *from) {
    snw_result *r = NULL;
    snw_error err = {0};
    if (snw_result_open(from, &r, &err) != SNW_OK) fail_msg("%s", err.text);
    return r;
}

// Open the file with a second reader before the first one is closed; it must see the frames that
// the writer has added since.
static inline snw_result *open_again(snw_result *r) {
    snw_result *next = open_file(path);
    snw_result_close(r);
    return next;
}

// Count the files in the folder whose name contains `part`, and remove them if `removed` is set.
static inline int count_files(const char *part, bool removed) {
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

static inline size_t read_bytes(const char *from, unsigned char **bytes) {
    FILE *f = fopen(from, "rb");
    assert_non_null(f);
    struct stat s;
    assert_int_equal(fstat(fileno(f), &s), 0);
    *bytes = snw_alloc((size_t)s.st_size);
    assert_int_equal(fread(*bytes, 1, (size_t)s.st_size, f), s.st_size);
    (void)fclose(f);
    return (size_t)s.st_size;
}

static inline void write_bytes(const char *to, const unsigned char *bytes, size_t size) {
    FILE *f = fopen(to, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    (void)fclose(f);
}

// Pseudo-random numbers, the same in each run.
static inline uint32_t scramble(uint32_t *seed) {
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

static inline void wait_for(double seconds) {
    const struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    (void)nanosleep(&t, NULL);
}

static inline int set_up(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    (void)snprintf(path, sizeof path, "%s/out.h5", folder);
    return 0;
}

static inline int tear_down(void **state) {
    (void)state;
    (void)count_files("", true);
    return rmdir(folder);
}
