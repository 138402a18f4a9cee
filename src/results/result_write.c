// SPDX-License-Identifier: MIT
//
// Writer of result files. All objects are created first; then the file is switched to HDF5's
// single-writer, multiple-reader mode, in which every flush leaves a readable file. A batch of
// frames is appended to all datasets but `t` and flushed, then to `t` and flushed again. The length
// of `t` is therefore the number of complete frames, whenever the process is killed.
#include "results/result.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fail.h"
#include "results/result_file.h"
#include "results/result_layout.h"
#include "results/result_linear.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_SIZE = 4096,
    NAME_SHOWN = 200,          // bytes of the target's name in the partial file's name
    BUFFER_BYTES = 1024 * 1024 // frames of a run waiting to be written
};

static const double flush_period = 1; // s

typedef struct run {
    snw_results *file;
    char *group; // name of its group in /runs
    snw_layout_shape shape[SNW_RESULT_NFIELD];
    bool stored[SNW_RESULT_NFIELD];   // the dataset exists
    hid_t data[SNW_RESULT_NFIELD];    // datasets, open from the first frame to the end
    double *buffer;                   // frames to be written, allocated likewise
    double *field[SNW_RESULT_NFIELD]; // parts of the buffer, capacity x width
    int capacity, waiting;
    double since; // arrival of the oldest buffered frame, s
    hsize_t written;
    haddr_t status_at, checkpoint_at;
    char **stage; // nstage: names of the steps; NULL of those without a linear model
    int nstage;
    int nsave;
    double *row; // next checkpoint: head, numbers
    bool saved;  // row is to be written
    bool ended, succeeded;
} run;

struct snw_results {
    snw_file file;
    pthread_mutex_t lock;
    hid_t h5, groups; // the file and its group /runs
    bool partial_exists, published, copying;
    int nrun;
    run *run;
    char path[PATH_SIZE], target[PATH_SIZE], partial[PATH_SIZE];
};

// ---- paths -------------------------------------------------------------------------------------

// Length of the folder part, slash included.
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

// target <- path with symbolic links of its last component resolved, so that the file is replaced
// and not the link
static snw_status follow_links(const char *path, char *target, snw_error *err) {
    if (strlen(path) >= PATH_SIZE) {
        return snw_file_fail_errno(path, "cannot create", ENAMETOOLONG, err);
    }
    (void)snprintf(target, PATH_SIZE, "%s", path);
    for (int hops = 0; hops < 16; hops++) {
        char to[PATH_SIZE];
        const ssize_t n = readlink(target, to, sizeof to - 1);
        if (n < 0) return SNW_OK; // not a link, or absent
        to[n] = '\0';
        const size_t keep = to[0] == '/' ? 0 : folder_length(target);
        if (keep + (size_t)n >= PATH_SIZE) break;
        memcpy(target + keep, to, (size_t)n + 1);
    }
    return snw_file_fail_errno(path, "cannot follow the link", ELOOP, err);
}

// Check that the folder is writable and that an existing target may be replaced.
static snw_status result_write_check_target(const snw_results *r, snw_error *err) {
    const size_t n = folder_length(r->target);
    if (!r->target[0] || !r->target[n]) {
        return snw_file_fail_errno(r->path, "cannot create", r->target[0] ? EISDIR : ENOENT, err);
    }
    char folder[PATH_SIZE];
    if (n == 0) {
        (void)snprintf(folder, sizeof folder, ".");
    } else {
        memcpy(folder, r->target, n);
        folder[n] = '\0';
    }
    struct stat s;
    if (stat(r->target, &s) == 0) {
        if (S_ISDIR(s.st_mode)) {
            return snw_file_fail_errno(r->path, "cannot create", EISDIR, err);
        }
        if (!S_ISREG(s.st_mode)) {
            return snw_fail(err, SNW_E_IO,
                            "results '%.200s': there is no regular file there to replace", r->path);
        }
        if (faccessat(AT_FDCWD, r->target, W_OK, AT_EACCESS) != 0) {
            return snw_file_fail_errno(r->path, "cannot replace", errno, err);
        }
    }
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0) {
        return snw_file_fail_errno(r->path, "cannot create", errno, err);
    }
    return SNW_OK;
}

// Create `.NAME.partial-PID` beside the target, with a number appended when that exists.
static snw_status create_partial(snw_results *r, snw_error *err) {
    const size_t n = folder_length(r->target);
    for (int k = 0; k < 1000; k++) {
        char more[16] = "";
        if (k > 0) (void)snprintf(more, sizeof more, "-%d", k);
        const int length =
            snprintf(r->partial, sizeof r->partial, "%.*s.%.*s.partial-%ld%s", (int)n, r->target,
                     NAME_SHOWN, r->target + n, (long)getpid(), more);
        if (length < 0 || length >= PATH_SIZE) {
            return snw_file_fail_errno(r->path, "cannot create", ENAMETOOLONG, err);
        }
        r->file.fd = open(r->partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (r->file.fd >= 0) {
            r->partial_exists = true;
            return SNW_OK;
        }
        if (errno != EEXIST) break;
    }
    return snw_file_fail_errno(r->path, "cannot create", errno, err);
}

static snw_status result_write_publish(snw_results *r, snw_error *err) {
    if (r->published) return SNW_OK;
    if (rename(r->partial, r->target) != 0) {
        return snw_file_fail_errno(r->path, "cannot put the new file in place", errno, err);
    }
    r->published = true;
    r->partial_exists = false;
    return SNW_OK;
}

// ---- creation ----------------------------------------------------------------------------------

static void write_status(snw_results *r, const run *u, snw_result_state state,
                         const char *message) {
    snw_layout_status record = {"", ""};
    (void)snprintf(record.state, sizeof record.state, "%s", snw_result_state_name(state));
    (void)snprintf(record.message, sizeof record.message, "%s", message);
    snw_file_write_at(&r->file, u->status_at, sizeof record, &record);
}

// Set the shapes of the run's fields; false when a frame is too large to be stored.
static bool set_sizes(run *u, const snw_run_info *info) {
    size_t frame = 0;
    for (int f = 0; f < SNW_RESULT_NFIELD; f++) {
        u->shape[f] = snw_layout_field(info, (snw_result_field)f);
        u->stored[f] = snw_layout_has(info, (snw_result_field)f);
        const size_t bytes = u->shape[f].width * sizeof(double);
        if (bytes > UINT32_MAX) return false; // HDF5's largest chunk
        frame += bytes;
    }
    const size_t fit = BUFFER_BYTES / frame;
    u->capacity = fit < 1 ? 1 : (int)fit;
    return true;
}

// Names of the steps that make linear models, which are written when these are known.
static snw_status keep_stages(run *u, const snw_run_info *info, snw_error *err) {
    u->stage = snw_alloc(((size_t)info->nstage + 1) * sizeof *u->stage);
    if (!u->stage) return snw_fail_memory(err);
    u->nstage = info->nstage;
    for (int i = 0; i < info->nlinear; i++) {
        const int k = info->linear[i].stage;
        const size_t size = strlen(info->stage[k]) + 1;
        u->stage[k] = snw_alloc(size);
        if (!u->stage[k]) return snw_fail_memory(err);
        memcpy(u->stage[k], info->stage[k], size);
    }
    return SNW_OK;
}

static snw_status result_write_add_run(snw_results *r, run *u, const snw_run_info *info,
                                       snw_error *err) {
    if (!set_sizes(u, info)) {
        return snw_fail(err, SNW_E_ARGUMENT, "run '%.100s': a frame of %d nodes is too large",
                        info->run, info->nnode);
    }
    u->group = snw_layout_group_name(info->run);
    u->nsave = info->nsave;
    u->row = snw_alloc(((size_t)u->nsave + SNW_LAYOUT_CHECKPOINT_HEAD) * sizeof *u->row);
    if (!u->group || !u->row)
        return snw_fail(err, SNW_E_MEMORY, "no memory to write run '%.100s'", info->run);
    SNW_TRY(keep_stages(u, info, err));
    if (H5Lexists(r->groups, u->group, H5P_DEFAULT) > 0) {
        return snw_fail(err, SNW_E_ARGUMENT, "two runs are named '%.100s'", info->run);
    }
    const hid_t group = H5Gcreate2(r->groups, u->group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool good =
        group >= 0 && snw_layout_create_run(group, info, &u->status_at, &u->checkpoint_at);
    snw_status s = SNW_OK;
    if (!good || r->file.reason) s = snw_file_fail(&r->file, "cannot write", err);
    if (group >= 0) (void)H5Gclose(group);
    return s;
}

// Free the memory after the HDF5 file was closed; the file on disk is unchanged.
static void result_write_release(snw_results *r) {
    for (int i = 0; r->run && i < r->nrun; i++) {
        snw_free(r->run[i].buffer);
        snw_free(r->run[i].group);
        snw_free(r->run[i].row);
        for (int k = 0; k < r->run[i].nstage; k++) snw_free(r->run[i].stage[k]);
        snw_free(r->run[i].stage);
    }
    snw_free(r->run);
    (void)pthread_mutex_destroy(&r->lock);
    snw_free(r);
}

// Close HDF5 and the descriptor; remove a partial file.
static snw_status close_file(snw_results *r, snw_error *err) {
    snw_status s = SNW_OK;
    if (r->groups >= 0) (void)H5Gclose(r->groups);
    if (r->h5 >= 0 && snw_file_close(r->h5) < 0) s = snw_file_fail(&r->file, "cannot close", err);
    // HDF5 may still use a file that it could not close: keep the memory
    const bool keep = s != SNW_OK;
    if (s == SNW_OK && r->file.reason) s = snw_file_fail(&r->file, "cannot write", err);
    if (!keep && r->file.fd >= 0 && close(r->file.fd) != 0 && errno != EINTR && s == SNW_OK) {
        s = snw_file_fail_errno(r->path, "cannot close", errno, err);
    }
    if (r->partial_exists) (void)unlink(r->partial);
    if (keep) {
        r->file.reason = EIO;
        return s;
    }
    result_write_release(r);
    return s;
}

static snw_status result_write_begin(snw_results *r, const snw_run_info *const *info,
                                     const char *model_text, snw_error *err) {
    SNW_TRY(follow_links(r->path, r->target, err));
    SNW_TRY(result_write_check_target(r, err));
    SNW_TRY(create_partial(r, err));
    const hid_t fapl = snw_file_access(&r->file);
    if (fapl < 0) return snw_fail(err, SNW_E_MEMORY, "no memory to write '%.200s'", r->path);
    r->h5 = H5Fcreate(r->partial, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    if (r->h5 < 0 || !snw_layout_create_head(r->h5, model_text)) {
        const snw_status s = snw_file_fail(&r->file, "cannot create", err);
        (void)H5Pclose(fapl);
        return s;
    }
    (void)H5Pclose(fapl);
    r->groups = H5Gopen2(r->h5, "runs", H5P_DEFAULT);
    if (r->groups < 0) return snw_file_fail(&r->file, "cannot create", err);
    for (int i = 0; i < r->nrun; i++) SNW_TRY(result_write_add_run(r, &r->run[i], info[i], err));
    if (H5Fflush(r->h5, H5F_SCOPE_LOCAL) < 0 || H5Fstart_swmr_write(r->h5) < 0 || r->file.reason) {
        return snw_file_fail(&r->file, "cannot write", err);
    }
    return SNW_OK;
}

snw_status snw_results_create(const char *path, int nrun, const snw_run_info *const *info,
                              const char *model_text, snw_results **out, snw_error *err) {
    *out = NULL;
    snw_file_silence_hdf5();
    snw_results *r = snw_alloc(sizeof *r);
    if (!r) return snw_fail(err, SNW_E_MEMORY, "no memory to write '%.200s'", path);
    r->file = (snw_file){.path = r->path, .fd = -1, .writing = true};
    r->h5 = r->groups = H5I_INVALID_HID;
    (void)pthread_mutex_init(&r->lock, NULL);
    (void)snprintf(r->path, sizeof r->path, "%s", path);
    r->run = snw_alloc((size_t)nrun * sizeof *r->run);
    snw_status s = SNW_OK;
    if (!r->run) {
        s = snw_fail(err, SNW_E_MEMORY, "no memory to write '%.200s'", path);
    } else if (strlen(path) >= PATH_SIZE) {
        s = snw_file_fail_errno(path, "cannot create", ENAMETOOLONG, err);
    } else {
        r->nrun = nrun;
        for (int i = 0; i < nrun; i++) {
            r->run[i].file = r;
            for (int f = 0; f < SNW_RESULT_NFIELD; f++) r->run[i].data[f] = H5I_INVALID_HID;
        }
        s = result_write_begin(r, info, model_text ? model_text : "", err);
    }
    if (s == SNW_OK) {
        *out = r;
        return SNW_OK;
    }
    (void)close_file(r, NULL);
    return s;
}

// ---- frames ------------------------------------------------------------------------------------

static bool open_run(snw_results *r, run *u) {
    const hid_t group = H5Gopen2(r->groups, u->group, H5P_DEFAULT);
    bool good = group >= 0;
    for (int f = 0; good && f < SNW_RESULT_NFIELD; f++) {
        if (!u->stored[f]) continue;
        u->data[f] = H5Dopen2(group, snw_result_field_name((snw_result_field)f), H5P_DEFAULT);
        good = u->data[f] >= 0;
    }
    if (group >= 0) (void)H5Gclose(group);
    return good;
}

// Close the datasets of a run and free its buffer.
static void close_run(run *u) {
    for (int f = 0; f < SNW_RESULT_NFIELD; f++) {
        if (u->data[f] >= 0) (void)H5Dclose(u->data[f]);
        u->data[f] = H5I_INVALID_HID;
    }
    snw_free(u->buffer);
    u->buffer = NULL;
}

static bool append_field(const run *u, int field) {
    const int rank = u->shape[field].rank;
    const hid_t set = u->data[field];
    const hsize_t start[3] = {u->written, 0, 0};
    hsize_t count[3] = {(hsize_t)u->waiting, u->shape[field].dims[1], u->shape[field].dims[2]};
    const hsize_t size[3] = {u->written + count[0], count[1], count[2]};
    if (H5Dset_extent(set, size) < 0) return false;
    if (u->shape[field].width == 0) return true;
    const hid_t space = H5Dget_space(set);
    const hid_t memory = H5Screate_simple(rank, count, NULL);
    const bool good =
        space >= 0 && memory >= 0 &&
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
        H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, u->field[field]) >= 0;
    if (memory >= 0) (void)H5Sclose(memory);
    if (space >= 0) (void)H5Sclose(space);
    return good;
}

static bool append_all(snw_results *r, run *u) {
    if (u->data[0] < 0 && !open_run(r, u)) return false;
    for (int f = 0; f < SNW_RESULT_NFIELD; f++) {
        if (f != SNW_RESULT_T && u->stored[f] && !append_field(u, f)) return false;
    }
    return H5Fflush(r->h5, H5F_SCOPE_LOCAL) >= 0 && append_field(u, SNW_RESULT_T) &&
           H5Fflush(r->h5, H5F_SCOPE_LOCAL) >= 0;
}

// Buffer the checkpoint of the last frame.
static void buffer_checkpoint(run *u, const double *save) {
    if (u->nsave == 0 || !save) return;
    memcpy(u->row + SNW_LAYOUT_CHECKPOINT_HEAD, save, (size_t)u->nsave * sizeof *save);
    u->row[1] = (double)u->written + u->waiting;
    u->saved = true;
}

// Write the buffered checkpoint in place, alternating the rows; after the frames it belongs to.
static void write_checkpoint(snw_results *r, run *u) {
    if (!u->saved) return;
    snw_layout_checkpoint head = {u->row[0] + 1, u->row[1], 0};
    head.sum = snw_layout_checksum(&head, u->nsave, u->row + SNW_LAYOUT_CHECKPOINT_HEAD);
    memcpy(u->row, &head, sizeof head);
    const size_t bytes = ((size_t)u->nsave + SNW_LAYOUT_CHECKPOINT_HEAD) * sizeof *u->row;
    const haddr_t slot = (haddr_t)fmod(head.sequence, SNW_LAYOUT_SLOTS);
    snw_file_write_at(&r->file, u->checkpoint_at + slot * bytes, bytes, u->row);
    u->saved = false;
}

bool snw_results_in_place(const snw_results *r) {
    struct stat s;
    return r->published && (fstat(r->file.fd, &s) != 0 || s.st_nlink > 0);
}

// Fail when the file was removed or replaced: its results would be lost.
static snw_status check_in_place(snw_results *r, snw_error *err) {
    if (!r->published || snw_results_in_place(r)) return SNW_OK;
    r->file.reason = ESTALE;
    return snw_fail(err, SNW_E_IO,
                    "results '%.200s': the file was removed, or replaced by another run", r->path);
}

// Write the buffered frames; the first frames of all also move the file to its target.
static snw_status result_write_append(snw_results *r, run *u, snw_error *err) {
    if (u->waiting == 0) return SNW_OK;
    if (r->file.reason) return snw_file_fail(&r->file, "cannot write", err);
    SNW_TRY(check_in_place(r, err));
    if (!append_all(r, u) || r->file.reason) {
        const snw_status s = snw_file_fail(&r->file, "cannot write", err);
        // stop all writing: the file stays as the last successful flush left it
        if (!r->file.reason) r->file.reason = EIO;
        return s;
    }
    if (u->written == 0) write_status(r, u, SNW_RESULT_RUNNING, "");
    u->written += (hsize_t)u->waiting;
    u->waiting = 0;
    write_checkpoint(r, u);
    return r->copying ? SNW_OK : result_write_publish(r, err);
}

static snw_status alloc_buffer(run *u, snw_error *err) {
    size_t frame = 0;
    for (int f = 0; f < SNW_RESULT_NFIELD; f++) frame += u->shape[f].width;
    u->buffer = snw_alloc(frame * (size_t)u->capacity * sizeof(double));
    if (!u->buffer) return snw_fail(err, SNW_E_MEMORY, "no memory to record frames");
    double *next = u->buffer;
    for (int f = 0; f < SNW_RESULT_NFIELD; f++) {
        u->field[f] = next;
        next += u->shape[f].width * (size_t)u->capacity;
    }
    return SNW_OK;
}

static void buffer_frame(run *u, const snw_frame *f) {
    double *row[SNW_RESULT_NFIELD];
    size_t width[SNW_RESULT_NFIELD];
    for (int i = 0; i < SNW_RESULT_NFIELD; i++) {
        width[i] = u->shape[i].width;
        row[i] = u->field[i] + (size_t)u->waiting * width[i];
    }
    snw_result_rows(f, width, row);
    u->waiting++;
}

// The linear model of step `stage` of a run.
static snw_status write_linear(snw_results *r, const run *u, int stage, const snw_linear_model *m,
                               snw_error *err) {
    if (r->file.reason) return snw_file_fail(&r->file, "cannot write", err);
    const hid_t group = H5Gopen2(r->groups, u->group, H5P_DEFAULT);
    const bool good = group >= 0 && snw_layout_write_linear(group, u->stage[stage], m);
    snw_status s = SNW_OK;
    if (!good || r->file.reason) s = snw_file_fail(&r->file, "cannot write", err);
    if (group >= 0) (void)H5Gclose(group);
    return s;
}

static snw_status result_write_record_frame(void *user, const snw_frame *f, snw_error *err) {
    run *u = user;
    snw_results *r = u->file;
    snw_status s = SNW_OK;
    (void)pthread_mutex_lock(&r->lock);
    SNW_ASSERT(!u->ended);
    if (!u->buffer) s = alloc_buffer(u, err);
    if (s == SNW_OK && f->linear) {
        snw_file_silence_hdf5();
        s = write_linear(r, u, f->stage, f->linear, err);
    }
    if (s == SNW_OK) {
        const double now = snw_clock_seconds();
        if (u->waiting == 0) u->since = now;
        buffer_frame(u, f);
        buffer_checkpoint(u, f->save);
        if (u->written == 0 || u->waiting == u->capacity || now - u->since >= flush_period) {
            snw_file_silence_hdf5();
            s = result_write_append(r, u, err);
        }
    }
    (void)pthread_mutex_unlock(&r->lock);
    return s;
}

static snw_status result_write_record_end(void *user, snw_status status, const char *message,
                                          snw_error *err) {
    run *u = user;
    snw_results *r = u->file;
    (void)pthread_mutex_lock(&r->lock);
    SNW_ASSERT(!u->ended);
    snw_file_silence_hdf5();
    snw_error own = {0};
    snw_status s = result_write_append(r, u, &own);
    // an earlier failure is the reason for this end: do not report it again
    if (s != SNW_OK && status == SNW_OK) {
        if (err) *err = own;
        status = s;
        message = own.text;
    } else {
        s = SNW_OK;
    }
    u->ended = true;
    u->succeeded = status == SNW_OK;
    write_status(r, u,
                 status == SNW_OK          ? SNW_RESULT_FINISHED
                 : status == SNW_E_STOPPED ? SNW_RESULT_STOPPED
                                           : SNW_RESULT_FAILED,
                 message && status != SNW_OK ? message : "");
    close_run(u);
    (void)pthread_mutex_unlock(&r->lock);
    return s;
}

snw_recorder snw_results_recorder(snw_results *r, int index) {
    SNW_ASSERT(index >= 0 && index < r->nrun);
    const snw_recorder recorder = {&r->run[index], result_write_record_frame,
                                   result_write_record_end};
    return recorder;
}

// ---- frames of another file --------------------------------------------------------------------

// Linear models of steps that have been done.
static snw_status copy_linear(snw_results *r, const run *u, snw_result *from, int which,
                              snw_error *err) {
    const snw_run_info *info = snw_result_info(from, which);
    for (int i = 0; i < info->nlinear; i++) {
        const snw_linear_model *m;
        const int stage = info->linear[i].stage;
        SNW_TRY(snw_result_linear(from, which, stage, &m, err));
        if (m && stage < u->nstage && u->stage[stage]) SNW_TRY(write_linear(r, u, stage, m, err));
    }
    return SNW_OK;
}

static snw_status copy_frames(snw_results *r, run *u, snw_result *from, int which, int nframe,
                              const double *save, snw_error *err) {
    for (int first = 0; first < nframe; first += u->capacity) {
        const int n = nframe - first < u->capacity ? nframe - first : u->capacity;
        for (int f = 0; f < SNW_RESULT_NFIELD; f++) {
            SNW_TRY(snw_result_read(from, which, (snw_result_field)f, first, n, u->field[f], err));
        }
        u->waiting = n;
        if (first + n == nframe) buffer_checkpoint(u, save);
        SNW_TRY(result_write_append(r, u, err));
    }
    return SNW_OK;
}

snw_status snw_results_copy(snw_results *r, int index, snw_result *from, int which, int nframe,
                            const double *save, bool whole, snw_error *err) {
    SNW_ASSERT(index >= 0 && index < r->nrun);
    run *u = &r->run[index];
    const snw_run_info *info = snw_result_info(from, which);
    for (int f = 0; f < SNW_RESULT_NFIELD; f++) {
        if (snw_result_width(info, (snw_result_field)f) == u->shape[f].width) continue;
        return snw_fail(err, SNW_E_ARGUMENT, "run '%.100s': '%s' has another size in '%.100s'",
                        info->run, snw_result_field_name((snw_result_field)f), r->path);
    }
    (void)pthread_mutex_lock(&r->lock);
    SNW_ASSERT(u->written == 0 && u->waiting == 0 && !u->ended);
    snw_file_silence_hdf5();
    r->copying = true;
    snw_status s = u->buffer ? SNW_OK : alloc_buffer(u, err);
    if (s == SNW_OK) s = copy_linear(r, u, from, which, err);
    if (s == SNW_OK) s = copy_frames(r, u, from, which, nframe, save, err);
    r->copying = false;
    if (s == SNW_OK && whole) {
        u->ended = u->succeeded = true;
        write_status(r, u, SNW_RESULT_FINISHED, "");
        close_run(u);
    }
    (void)pthread_mutex_unlock(&r->lock);
    return s;
}

snw_status snw_results_flush(snw_results *r, double age, snw_error *err) {
    snw_status s = SNW_OK;
    (void)pthread_mutex_lock(&r->lock);
    snw_file_silence_hdf5();
    const double now = snw_clock_seconds();
    for (int i = 0; i < r->nrun && s == SNW_OK; i++) {
        run *u = &r->run[i];
        if (u->waiting > 0 && now - u->since >= age) s = result_write_append(r, u, err);
    }
    (void)pthread_mutex_unlock(&r->lock);
    return s;
}

snw_status snw_results_close(snw_results *r, snw_error *err) {
    if (!r) return SNW_OK;
    snw_file_silence_hdf5();
    snw_status s = SNW_OK;
    bool succeeded = true;
    for (int i = 0; i < r->nrun; i++) {
        run *u = &r->run[i];
        succeeded = succeeded && u->ended && u->succeeded;
        if (!u->ended) {
            const snw_status t = result_write_append(r, u, s == SNW_OK ? err : NULL);
            if (s == SNW_OK) s = t;
            if (u->written > 0) write_status(r, u, SNW_RESULT_STOPPED, "closed before its end");
        }
        close_run(u);
    }
    if (s == SNW_OK && succeeded && !r->file.reason) s = result_write_publish(r, err);
    const snw_status t = close_file(r, s == SNW_OK ? err : NULL);
    return s == SNW_OK ? t : s;
}
