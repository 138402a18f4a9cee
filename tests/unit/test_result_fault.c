// SPDX-License-Identifier: MIT
//
// Writers that are killed, full disks, damaged bytes, and readers during writing. SNW_TEST_KILLS
// sets how many writers are killed (20 unless set), for longer runs by hand.
#include "results/result.h"

#include "result_sample.h"
#include "sanitized.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

// ---- writes to the disk, for kills at each moment -----------------------------------------------

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

// Replaces the function of the C library.
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

// ---- readers and kills -------------------------------------------------------------------------

enum { PAUSES = 3 }; // pauses of a writer, in which a reader must see the file grow

// Child: records without end, or `nframe` frames, and writes them at irregular moments. With
// `nframe` it stops itself a few times and waits to be continued.
static void keep_writing(uint32_t seed, int nframe) {
    snw_results *w = NULL;
    if (snw_results_create(path, 1, one_run, "new", &w, NULL) != SNW_OK) _exit(1);
    const snw_recorder rec = snw_results_recorder(w, 0);
    for (int i = 0; nframe < 0 || i < nframe; i++) {
        if (record(&rec, i, NULL) != SNW_OK) _exit(2);
        const bool pause = nframe > 0 && i % (nframe / (PAUSES + 1)) == 0 && i > 0;
        const bool write = pause || scramble(&seed) % 40 == 0;
        if (write && snw_results_flush(w, 0, NULL) != SNW_OK) _exit(3);
        if (pause) (void)raise(SIGSTOP);
    }
    if (rec.end(rec.user, SNW_OK, "", NULL) != SNW_OK) _exit(4);
    if (snw_results_close(w, NULL) != SNW_OK) _exit(5);
    _exit(0);
}

static void a_reader_follows_a_writer(void **state) {
    (void)state;
    enum { N = AMONG(4000, 20000) };
    (void)unlink(path);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) keep_writing(1, N);
    while (access(path, R_OK) != 0) wait_for(1e-4);
    snw_result *r = open_file(path);
    int last = snw_result_frames(r, 0), seen = 0, status = 0;
    bool ended = false;
    while (snw_result_state_of(r, 0, NULL) != SNW_RESULT_FINISHED) {
        const bool stopped = waitpid(child, &status, WNOHANG | WUNTRACED) == child;
        assert_true(!stopped || WIFSTOPPED(status) || status == 0);
        r = open_again(r);
        assert_true(snw_result_frames(r, 0) >= last);
        seen += snw_result_frames(r, 0) > last;
        last = snw_result_frames(r, 0);
        check_frames(r, 0);
        if (stopped && WIFSTOPPED(status)) assert_int_equal(kill(child, SIGCONT), 0);
        ended = stopped && WIFEXITED(status);
    }
    assert_int_equal(last, N);
    assert_true(seen >= PAUSES - 1);
    check_frames(r, 0);
    snw_result_close(r);
    if (!ended) assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_killed_run_can_be_read(void **state) {
    (void)state;
    const char *times = getenv("SNW_TEST_KILLS");
    const int nkill = times ? (int)strtol(times, NULL, 10) : AMONG(6, 20);
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

// A kill may occur between any two writes, and within a write at the boundary of a memory page:
// from the first frame on the file can be read after each of these kills.
static void every_moment_leaves_a_readable_file(void **state) {
    (void)state;
    enum { N = AMONG(100, 600), PAGE = 4096 };
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

// ---- full disks and damage ---------------------------------------------------------------------

// a limit on the file size simulates a full disk; the writer reaches it at every possible position
static void a_full_disk_keeps_what_was_written(void **state) {
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    int refused = 0, kept = 0;
    for (rlim_t limit = 0; limit < 120000; limit += AMONG(3491, 499)) {
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
            assert_int_equal(end, SNW_OK); // the error is reported once
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

// Open the file and read all of it; false when it is refused.
static bool try_reading(const char *from) {
    snw_result *r = NULL;
    snw_error err = {0};
    if (snw_result_open(from, &r, &err) != SNW_OK) {
        if (err.text[0] == '\0' || r) _exit(2); // refused without a message
        return false;
    }
    bool good = true;
    for (int i = 0; i < snw_result_runs(r); i++) {
        for (int f = 0; f < SNW_RESULT_NFIELD; f++) {
            const int n = snw_result_frames(r, i) < 500 ? snw_result_frames(r, i) : 500;
            const size_t width = snw_result_width(snw_result_info(r, i), (snw_result_field)f);
            double *out = snw_alloc((size_t)n * width * sizeof *out);
            if (!out) _exit(3);
            good = snw_result_read(r, i, (snw_result_field)f, 0, n, out, &err) == SNW_OK && good;
            snw_free(out);
        }
    }
    snw_result_close(r);
    return good;
}

// Exit status of `body` in a separate process: HDF5 may crash on damaged files, and it leaks
// memory.
static int in_child(int (*body)(const unsigned char *bytes, size_t size, bool live),
                    const unsigned char *bytes, size_t size, bool live) {
    (void)fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(body(bytes, size, live));
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

// A finished file (`live` false) or the file of a killed writer, of about 100 frames.
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

// 1: a truncated finished file was accepted
static int cut_everywhere(const unsigned char *bytes, size_t size, bool live) {
    for (size_t length = 0; length < size; length += live ? AMONG(5003, 1021) : AMONG(997, 97)) {
        write_bytes(path, bytes, length);
        if (try_reading(path) && !live) return 1;
    }
    return 0;
}

static void a_truncated_file_is_reported(void **state) {
    (void)state;
    for (int live = 0; live < 2; live++) {
        unsigned char *bytes;
        const size_t size = sample(live, &bytes);
        write_bytes(path, bytes, size);
        assert_true(try_reading(path));
        assert_int_equal(in_child(cut_everywhere, bytes, size, live), 0);
        snw_free(bytes);
    }
}

// 1: almost no damage was detected
static int damage_here_and_there(const unsigned char *bytes, size_t size, bool live) {
    const int tries =
        live ? AMONG(12, 60)
             : AMONG(60, 400); // reading a live file is retried for a while, which takes time
    unsigned char *copy = snw_alloc(size);
    if (!copy) return 3;
    memcpy(copy, bytes, size);
    uint32_t seed = 5;
    int noticed = 0;
    for (int k = 0; k < tries; k++) {
        // most of the structure is at the beginning of the file
        const size_t range = k % 2 ? size : 12000;
        const size_t at = (scramble(&seed) << 8 ^ scramble(&seed)) % range;
        copy[at] = (unsigned char)(bytes[at] ^ (1 + scramble(&seed) % 255));
        write_bytes(path, copy, size);
        noticed += !try_reading(path);
        copy[at] = bytes[at];
    }
    snw_free(copy);
    return noticed > tries / 5 ? 0 : 1;
}

static void damaged_bytes_do_no_harm(void **state) {
    (void)state;
    for (int live = 0; live < 2; live++) {
        unsigned char *bytes;
        const size_t size = sample(live, &bytes);
        assert_int_equal(in_child(damage_here_and_there, bytes, size, live), 0);
        snw_free(bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_follows_a_writer),
        cmocka_unit_test(a_killed_run_can_be_read),
        cmocka_unit_test(every_moment_leaves_a_readable_file),
        cmocka_unit_test(a_full_disk_keeps_what_was_written),
        cmocka_unit_test(a_truncated_file_is_reported),
        cmocka_unit_test(damaged_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
