// SPDX-License-Identifier: MIT
//
// Parts of a sweep: files of rows, appended by one writer each, and locks of shards.
#include "sweep/part.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "results/result_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { PATH = 1200, MOST_PARTS = 1000000, MESSAGE = 512 };
static const uint32_t MAGIC = 0x574E5352; // of a record
static const char HEAD[8] = "snwpart1";

typedef struct part_head {
    char magic[8];
    uint64_t identity;
    int64_t rows;
    int32_t nresult, nseries;
} part_head;

// A record: this head, results, series, message; `sum` is that of all else.
typedef struct record_head {
    uint32_t magic;
    uint16_t state, engine;
    int64_t row;
    double seconds;
    uint32_t nframe, ntext;
    uint64_t sum;
} record_head;

struct snw_sweep_part {
    int fd;
    char path[PATH];
    const snw_sweep_parts *of;
    off_t end; // of the complete rows
    unsigned char *bytes;
    size_t room;
};

static part_head head_of(const snw_sweep_parts *p) {
    part_head h = {
        .identity = p->identity, .rows = p->rows, .nresult = p->nresult, .nseries = p->nseries};
    memcpy(h.magic, HEAD, sizeof h.magic);
    return h;
}

static uint64_t checksum(const record_head *h, const unsigned char *bytes, size_t n) {
    record_head plain = *h;
    plain.sum = 0;
    uint64_t sum = 0xCBF29CE484222325u; // FNV-1a on words of eight bytes
    const unsigned char *part[2] = {(const unsigned char *)&plain, bytes};
    const size_t size[2] = {sizeof plain, n};
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < size[k]; i += 8) {
            uint64_t word = 0;
            memcpy(&word, part[k] + i, size[k] - i < 8 ? size[k] - i : 8);
            sum = (sum ^ word) * 0x100000001B3u;
            sum ^= sum >> 29;
        }
    }
    return sum;
}

static size_t body_size(const snw_sweep_parts *p, const record_head *h) {
    return ((size_t)p->nresult + (size_t)h->nframe * ((size_t)p->nseries + 1)) * sizeof(double) +
           h->ntext;
}

double snw_sweep_part_row_size(const snw_sweep_parts *p) {
    return (double)(sizeof(record_head) + (size_t)p->nresult * sizeof(double));
}

// ---- the folder ---------------------------------------------------------------------------------

snw_status snw_sweep_parts_create(const snw_sweep_parts *p, snw_error *err) {
    if (mkdir(p->folder, 0777) == 0 || errno == EEXIST) return SNW_OK;
    return snw_file_fail_errno(p->folder, "cannot create the folder", errno, err);
}

static bool ends_in(const char *name, const char *ending) {
    const size_t n = strlen(name), k = strlen(ending);
    return n > k && strcmp(name + n - k, ending) == 0;
}

static bool is_part(const char *name) {
    return strncmp(name, "part-", 5) == 0 && ends_in(name, ".rows");
}

static bool is_lock(const char *name) {
    return strncmp(name, "shard-", 6) == 0 && ends_in(name, ".lock");
}

static bool file_path(const snw_sweep_parts *p, const char *name, char out[PATH]) {
    return snprintf(out, PATH, "%s/%s", p->folder, name) < PATH;
}

// Open part `name` behind its head; -1: not a part of this sweep, *foreign: of another.
static int open_part(const snw_sweep_parts *p, const char *name, bool *foreign) {
    char path[PATH];
    const part_head own = head_of(p);
    part_head head;
    *foreign = false;
    const int fd = file_path(p, name, path) ? open(path, O_RDONLY) : -1;
    if (fd < 0) return -1;
    const ssize_t n = read(fd, &head, sizeof head);
    if (n == (ssize_t)sizeof head && memcmp(&head, &own, sizeof head) == 0) return fd;
    *foreign = n == (ssize_t)sizeof head; // a shorter one was cut off at its beginning
    (void)close(fd);
    return -1;
}

snw_status snw_sweep_parts_present(const snw_sweep_parts *p, bool *any, snw_error *err) {
    *any = false;
    DIR *folder = opendir(p->folder);
    if (!folder && (errno == ENOENT || errno == ENOTDIR)) return SNW_OK;
    if (!folder) return snw_file_fail_errno(p->folder, "cannot read the folder", errno, err);
    const struct dirent *e;
    bool foreign = false;
    while (!foreign && (e = readdir(folder))) {
        if (!is_part(e->d_name)) continue;
        *any = true;
        const int fd = open_part(p, e->d_name, &foreign);
        if (fd >= 0) (void)close(fd);
    }
    (void)closedir(folder);
    if (!foreign) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "the rows in '%.200s' were computed with another plan or model; give another "
                    "-o, or --force to compute all again",
                    p->folder);
}

void snw_sweep_parts_remove(const snw_sweep_parts *p) {
    char path[PATH];
    DIR *folder = opendir(p->folder);
    const struct dirent *e;
    while (folder && (e = readdir(folder))) {
        if ((is_part(e->d_name) || is_lock(e->d_name)) && file_path(p, e->d_name, path))
            (void)unlink(path);
    }
    if (folder) (void)closedir(folder);
    (void)rmdir(p->folder);
}

// A size in bytes for people: "42 TB".
static void size_text(double bytes, char out[32]) {
    static const char *const unit[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    int k = 0;
    for (; k < 6 && bytes >= 1000; k++) bytes /= 1000;
    (void)snprintf(out, 32, "%.3g %s", bytes, unit[k]);
}

snw_status snw_sweep_check_room(const char *path, int64_t rows, double each, snw_error *err) {
    const char *slash = strrchr(path, '/');
    char folder[PATH] = ".";
    if (slash) (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    struct statvfs disk;
    struct stat file;
    if (stat(path, &file) == 0 && !S_ISREG(file.st_mode)) return SNW_OK; // a device
    if (statvfs(folder, &disk) != 0 || disk.f_blocks == 0) return SNW_OK;
    const double room = (double)disk.f_bavail * (double)disk.f_frsize, need = (double)rows * each;
    if (need <= room) return SNW_OK;
    char needed[32], there[32];
    size_text(need, needed);
    size_text(room, there);
    return snw_fail(err, SNW_E_ARGUMENT,
                    "%lld rows need %s at least, and '%.200s' has %s left; take fewer rows, or "
                    "write elsewhere",
                    (long long)rows, needed, folder, there);
}

// Is the whole file locked by another process? *who <- its number where it is known.
static bool is_locked(int fd, long *who) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return false;
    *who = (long)lock.l_pid;
    return true;
}

static snw_status shard_busy(snw_sweep_shard busy, long who, bool other, snw_error *err) {
    char what[48] = "the sweep";
    if (busy.n > 1) (void)snprintf(what, sizeof what, "shard %d/%d", busy.i, busy.n);
    return snw_fail(err, SNW_E_ARGUMENT,
                    "%s is being computed by another process%s (number %ld); wait for it%s", what,
                    other ? ", of another division of the rows" : "", who,
                    other && busy.n > 1 ? ", or use the same division" : "");
}

// Is file `name` of the folder the lock of a shard of another division than `own`? *other <- its.
static bool is_other_lock(const char *name, snw_sweep_shard own, snw_sweep_shard *other) {
    return is_lock(name) && sscanf(name, "shard-%d-of-%d", &other->i, &other->n) == 2 &&
           other->n != own.n;
}

// Shards of another division that are being computed would do rows twice.
static snw_status check_divisions(const snw_sweep_parts *p, snw_sweep_shard own, snw_error *err) {
    DIR *folder = opendir(p->folder);
    if (!folder) return snw_file_fail_errno(p->folder, "cannot read the folder", errno, err);
    const struct dirent *e;
    snw_status s = SNW_OK;
    while (s == SNW_OK && (e = readdir(folder))) {
        snw_sweep_shard other = {0, 0};
        char path[PATH];
        long who = 0;
        if (!is_other_lock(e->d_name, own, &other) || !file_path(p, e->d_name, path)) continue;
        const int fd = open(path, O_RDWR);
        if (fd < 0) continue;
        if (is_locked(fd, &who)) s = shard_busy(other, who, true, err);
        (void)close(fd);
    }
    (void)closedir(folder);
    return s;
}

snw_status snw_sweep_parts_lock(const snw_sweep_parts *p, snw_sweep_shard shard, int *out,
                                snw_error *err) {
    char name[64], path[PATH];
    (void)snprintf(name, sizeof name, "shard-%d-of-%d.lock", shard.i, shard.n);
    if (!file_path(p, name, path))
        return snw_fail(err, SNW_E_ARGUMENT, "the path '%.100s..' is too long", p->folder);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return snw_file_fail_errno(path, "cannot create", errno, err);
    const struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    long who = 0;
    snw_status s = SNW_OK;
    if (fcntl(fd, F_SETLK, &lock) != 0) {
        const int reason = errno;
        s = is_locked(fd, &who) ? shard_busy(shard, who, false, err)
                                : snw_file_fail_errno(path, "cannot lock", reason, err);
    }
    if (s == SNW_OK) s = check_divisions(p, shard, err);
    if (s != SNW_OK) {
        (void)close(fd);
        return s;
    }
    *out = fd;
    return SNW_OK;
}

void snw_sweep_parts_begin(int fd) {
    static const char begun[] = "begun\n";
    // only what a message says hangs on it
    if (pwrite(fd, begun, sizeof begun - 1, 0) < 0) return;
}

snw_sweep_shard snw_sweep_parts_other(const snw_sweep_parts *p, snw_sweep_shard own) {
    DIR *folder = opendir(p->folder);
    const struct dirent *e;
    snw_sweep_shard found = {0, 0};
    while (folder && found.n == 0 && (e = readdir(folder))) {
        snw_sweep_shard other = {0, 0};
        char path[PATH];
        struct stat file;
        if (is_other_lock(e->d_name, own, &other) && other.n > 0 && file_path(p, e->d_name, path) &&
            stat(path, &file) == 0 && file.st_size > 0)
            found = other;
    }
    if (folder) (void)closedir(folder);
    return found;
}

// ---- writing ------------------------------------------------------------------------------------

// Write all bytes; 0 or errno.
static int write_all(int fd, const void *bytes, size_t n) {
    const char *from = bytes;
    while (n > 0) {
        const ssize_t k = write(fd, from, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return k < 0 ? errno : EIO;
        from += k;
        n -= (size_t)k;
    }
    return 0;
}

snw_status snw_sweep_part_create(const snw_sweep_parts *p, snw_sweep_part **out, snw_error *err) {
    snw_sweep_part *part = *out = snw_alloc(sizeof *part);
    if (!part) return snw_fail_memory(err);
    *part = (snw_sweep_part){.fd = -1, .of = p};
    int reason = EEXIST;
    // numbers from that of the process on, so that few are tried
    for (int k = 0; part->fd < 0 && reason == EEXIST && k < MOST_PARTS; k++) {
        char name[64];
        (void)snprintf(name, sizeof name, "part-%07ld-%d.rows", (long)getpid() % 10000000, k);
        if (!file_path(p, name, part->path))
            reason = ENAMETOOLONG;
        else
            part->fd = open(part->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (part->fd < 0 && reason == EEXIST) reason = errno;
    }
    const part_head head = head_of(p);
    if (part->fd >= 0) reason = write_all(part->fd, &head, sizeof head);
    part->end = (off_t)sizeof head;
    if (reason == 0) return SNW_OK;
    const snw_status s = snw_file_fail_errno(part->path, "cannot create", reason, err);
    snw_sweep_part_close(part);
    *out = NULL;
    return s;
}

snw_status snw_sweep_part_add(snw_sweep_part *part, const snw_sweep_row *row, snw_error *err) {
    const snw_sweep_parts *p = part->of;
    record_head head = {.magic = MAGIC,
                        .state = (uint16_t)row->state,
                        .engine = (uint16_t)row->engine,
                        .row = row->row,
                        .seconds = row->seconds,
                        .nframe = (uint32_t)row->nframe,
                        .ntext = (uint32_t)strlen(row->message)};
    const size_t body = body_size(p, &head), size = sizeof head + body,
                 results = (size_t)p->nresult * sizeof(double),
                 series = body - results - head.ntext;
    if (size > part->room) {
        snw_free(part->bytes);
        part->bytes = snw_alloc(2 * size);
        part->room = part->bytes ? 2 * size : 0;
        if (!part->bytes) return snw_fail_memory(err);
    }
    unsigned char *to = part->bytes + sizeof head;
    memcpy(to, row->result, results);
    if (series > 0) memcpy(to + results, row->series, series);
    memcpy(to + results + series, row->message, head.ntext);
    head.sum = checksum(&head, to, body);
    memcpy(part->bytes, &head, sizeof head);
    const int reason = write_all(part->fd, part->bytes, size);
    if (reason == 0) {
        part->end += (off_t)size;
        return SNW_OK;
    }
    (void)!ftruncate(part->fd, part->end); // whole rows only
    (void)lseek(part->fd, part->end, SEEK_SET);
    return snw_file_fail_errno(part->path, "cannot write", reason, err);
}

void snw_sweep_part_close(snw_sweep_part *part) {
    if (!part) return;
    if (part->fd >= 0 && part->end <= (off_t)sizeof(part_head)) (void)unlink(part->path);
    if (part->fd >= 0) (void)close(part->fd);
    snw_free(part->bytes);
    snw_free(part);
}

// ---- reading ------------------------------------------------------------------------------------

// A part that is read through a buffer.
typedef struct part_reader {
    const snw_sweep_parts *of;
    FILE *file;
    double *body;
    size_t room; // bytes
} part_reader;

static snw_status reader_room(part_reader *r, size_t n, snw_error *err) {
    if (n <= r->room) return SNW_OK;
    snw_free(r->body);
    r->body = snw_alloc(2 * n);
    r->room = r->body ? 2 * n : 0;
    return r->body ? SNW_OK : snw_fail_memory(err);
}

// Visit the rows of a part up to its end or to a row that was cut off.
static snw_status visit_rows(part_reader *r, long long size, snw_sweep_visit *visit, void *user,
                             snw_error *err) {
    const snw_sweep_parts *p = r->of;
    long long left = size - (long long)sizeof(part_head);
    record_head h;
    while (left > (long long)sizeof h && fread(&h, sizeof h, 1, r->file) == 1) {
        left -= (long long)sizeof h;
        if (h.magic != MAGIC || h.state >= SNW_SWEEP_ROW_STATE_COUNT ||
            h.engine >= SNW_SWEEP_ENGINE_COUNT || h.row < 0 || h.row >= p->rows ||
            h.ntext >= MESSAGE)
            return SNW_OK;
        const size_t body = body_size(p, &h);
        if ((long long)body > left) return SNW_OK;
        SNW_TRY(reader_room(r, body + 1, err));
        if (fread(r->body, 1, body, r->file) != body) return SNW_OK;
        left -= (long long)body;
        if (checksum(&h, (unsigned char *)r->body, body) != h.sum) return SNW_OK;
        ((char *)r->body)[body] = '\0';
        const snw_sweep_row row = {.row = h.row,
                                   .state = (snw_sweep_row_state)h.state,
                                   .engine = (snw_sweep_engine)h.engine,
                                   .seconds = h.seconds,
                                   .result = r->body,
                                   .nframe = (int)h.nframe,
                                   .series = r->body + p->nresult,
                                   .message = (char *)r->body + body - h.ntext};
        SNW_TRY(visit(user, &row, err));
    }
    return SNW_OK;
}

static snw_status visit_part(const snw_sweep_parts *p, const char *name, snw_sweep_visit *visit,
                             void *user, snw_error *err) {
    bool foreign;
    const int fd = open_part(p, name, &foreign);
    struct stat info;
    if (fd < 0) return SNW_OK; // cut off before its first row
    part_reader r = {.of = p, .file = fstat(fd, &info) == 0 ? fdopen(fd, "rb") : NULL};
    if (!r.file) {
        (void)close(fd);
        return snw_file_fail_errno(p->folder, "cannot read", errno, err);
    }
    const snw_status s = visit_rows(&r, (long long)info.st_size, visit, user, err);
    (void)fclose(r.file);
    snw_free(r.body);
    return s;
}

snw_status snw_sweep_parts_visit(const snw_sweep_parts *p, snw_sweep_visit *visit, void *user,
                                 snw_error *err) {
    DIR *folder = opendir(p->folder);
    if (!folder && errno == ENOENT) return SNW_OK;
    if (!folder) return snw_file_fail_errno(p->folder, "cannot read the folder", errno, err);
    const struct dirent *e;
    snw_status s = SNW_OK;
    while (s == SNW_OK && (e = readdir(folder))) {
        if (is_part(e->d_name)) s = visit_part(p, e->d_name, visit, user, err);
    }
    (void)closedir(folder);
    return s;
}
