// SPDX-License-Identifier: MIT
//
// Reader of result files: checks the file and all sizes before values are read, since a file may be
// growing, cut off, damaged or of another program.
#include "results/result.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/pool.h"
#include "language/text.h"
#include "results/result_file.h"
#include "results/result_layout.h"
#include "results/result_linear.h"
#include "results/sweep_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    UNWRITTEN_LIMIT = 1 << 16, // frames that a killed writer may leave unwritten, an upper bound
    FILTER_RATIO = 2000        // largest compression ratio of a filter, in repacked files
};

static const size_t pool_limit = (size_t)1 << 30;

typedef struct stored_run {
    snw_run_info info;
    const char *group; // name of its group in /runs
    int nframe;
    snw_result_state state;
    char message[512 + 1];
} stored_run;

struct snw_result {
    snw_file file;
    hid_t h5, runs;
    snw_pool *pool;
    const char *model, *version, *created;
    int nrun;
    stored_run *run;
};

static snw_status damaged(const snw_result *r, const char *what, snw_error *err) {
    return snw_fail(err, SNW_E_PARSE, "results '%.200s': damaged: %s", r->file.path, what);
}

static snw_status result_read_no_memory(const snw_result *r, snw_error *err) {
    return snw_fail(err, SNW_E_MEMORY, "results '%.200s': no memory to read them", r->file.path);
}

// ---- superblock, read without HDF5 -------------------------------------------------------------

static uint64_t little_endian(const unsigned char *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

// Check the superblock of HDF5, version 2 and later: byte 11 holds flags (1: open for writing, 4:
// open for single-writer multiple-reader access), bytes 28 to 35 the length of the file.
static snw_status check_head(snw_result *r, snw_error *err) {
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char head[36];
    struct stat s;
    if (fstat(r->file.fd, &s) != 0) {
        return snw_file_fail_errno(r->file.path, "cannot open", errno, err);
    }
    if (S_ISDIR(s.st_mode)) return snw_file_fail_errno(r->file.path, "cannot open", EISDIR, err);
    const ssize_t n = pread(r->file.fd, head, sizeof head, 0);
    if (n < 0) return snw_file_fail_errno(r->file.path, "cannot read", errno, err);
    if (n < (ssize_t)sizeof head || memcmp(head, signature, sizeof signature) != 0) {
        return snw_fail(err, SNW_E_PARSE,
                        "results '%.200s': not an HDF5 file; 'sinew run' writes one from a model",
                        r->file.path);
    }
    if (head[8] < 2) return SNW_OK;
    if ((head[11] & 1) && !(head[11] & 4)) {
        return snw_fail(err, SNW_E_PARSE,
                        "results '%.200s': the run that wrote it ended before its first frame",
                        r->file.path);
    }
    r->file.live = (head[11] & 4) != 0;
    if (!r->file.live && (uint64_t)s.st_size < little_endian(head + 28)) {
        return snw_fail(err, SNW_E_PARSE,
                        "results '%.200s': truncated, %lld of %llu bytes are there", r->file.path,
                        (long long)s.st_size, (unsigned long long)little_endian(head + 28));
    }
    return SNW_OK;
}

// ---- datasets ----------------------------------------------------------------------------------

// Are the values in this file? External and virtual datasets are refused: they could open any file.
static bool is_in_file(hid_t set) {
    const hid_t plist = H5Dget_create_plist(set);
    if (plist < 0) return false;
    const H5D_layout_t layout = H5Pget_layout(plist);
    const bool own = layout >= 0 && layout != H5D_VIRTUAL && H5Pget_external_count(plist) == 0;
    (void)H5Pclose(plist);
    return own;
}

// Open a dataset for reading; negative with *s set.
static hid_t open_set(const snw_result *r, hid_t where, const char *name, snw_status *s,
                      snw_error *err) {
    const hid_t set = H5Dopen2(where, name, H5P_DEFAULT);
    *s = set < 0 ? snw_file_fail(&r->file, name, err) : SNW_OK;
    if (set < 0 || is_in_file(set)) return set;
    *s = damaged(r, name, err);
    (void)H5Dclose(set);
    return H5I_INVALID_HID;
}

// Are n values stored? HDF5 itself supplies fill values for those that were never written, and
// trusts the extent that a file declares.
static bool is_stored(const snw_result *r, hid_t set, hsize_t n) {
    const hid_t plist = H5Dget_create_plist(set), type = H5Dget_type(set);
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    const bool filtered =
        plist >= 0 && H5Pget_layout(plist) == H5D_CHUNKED && H5Pget_nfilters(plist) > 0;
    if (plist >= 0) (void)H5Pclose(plist);
    if (type >= 0) (void)H5Tclose(type);
    hsize_t stored = H5Dget_storage_size(set);
    struct stat file;
    if (fstat(r->file.fd, &file) != 0) return false;
    if (stored > (hsize_t)file.st_size) stored = (hsize_t)file.st_size;
    return n == 0 || (size > 0 && n <= stored / size * (filtered ? FILTER_RATIO : 1));
}

// ---- texts and tables --------------------------------------------------------------------------

// Is it text of fixed length? *size <- that length.
static bool is_text(hid_t type, size_t *size) {
    *size = H5Tget_size(type);
    return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && *size > 0;
}

// Number of elements; negative when above INT_MAX.
static long long piece_count(hid_t space) {
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    return n <= INT_MAX ? (long long)n : -1;
}

static snw_status read_attribute(snw_result *r, hid_t where, const char *name, const char **out,
                                 snw_error *err) {
    const hid_t attribute = H5Aopen(where, name, H5P_DEFAULT);
    if (attribute < 0) return snw_file_fail(&r->file, name, err);
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    size_t size = 0;
    snw_status s = SNW_OK;
    if (type < 0 || space < 0 || !is_text(type, &size) || piece_count(space) != 1) {
        s = damaged(r, name, err);
    } else {
        char *text = snw_pool_array(r->pool, size < SIZE_MAX ? size + 1 : size, 1);
        if (!text) {
            s = result_read_no_memory(r, err);
        } else if (H5Aread(attribute, type, text) < 0) {
            s = snw_file_fail(&r->file, name, err);
        } else {
            snw_text_clean(text);
        }
        *out = text;
    }
    if (space >= 0) (void)H5Sclose(space);
    if (type >= 0) (void)H5Tclose(type);
    (void)H5Aclose(attribute);
    return s;
}

// text <- n texts of `size` bytes each, NUL-terminated or not; false when memory is out.
static bool split_texts(snw_pool *pool, long long n, size_t size, const char *packed,
                        const char **text) {
    for (long long i = 0; i < n; i++) {
        const char *piece = packed + (size_t)i * size;
        const char *end = memchr(piece, '\0', size);
        char *copy = snw_pool_text(pool, piece, end ? (size_t)(end - piece) : size);
        if (!copy) return false;
        snw_text_clean(copy);
        text[i] = copy;
    }
    return true;
}

// *out <- the texts of a dataset, *n of them.
static snw_status read_texts(snw_result *r, hid_t where, const char *name, int *n,
                             const char *const **out, snw_error *err) {
    snw_status s;
    const hid_t set = open_set(r, where, name, &s, err);
    if (set < 0) return s;
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    size_t size = 0;
    const long long count = space >= 0 ? piece_count(space) : -1;
    if (type < 0 || count < 0 || !is_text(type, &size) || !is_stored(r, set, (hsize_t)count)) {
        s = damaged(r, name, err);
    } else {
        char *packed = snw_pool_array(r->pool, (size_t)count, size);
        const char **text = snw_pool_array(r->pool, (size_t)count, sizeof *text);
        const bool room = packed && text;
        if (room && count > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed) < 0) {
            s = snw_file_fail(&r->file, name, err);
        } else if (!room || !split_texts(r->pool, count, size, packed, text)) {
            s = result_read_no_memory(r, err);
        }
        *n = (int)count;
        *out = text;
    }
    if (space >= 0) (void)H5Sclose(space);
    if (type >= 0) (void)H5Tclose(type);
    (void)H5Dclose(set);
    return s;
}

// out <- a dataset of exactly n numbers.
static snw_status read_numbers(snw_result *r, hid_t where, const char *name, hid_t memory_type,
                               int n, void *out, snw_error *err) {
    snw_status s;
    const hid_t set = open_set(r, where, name, &s, err);
    if (set < 0) return s;
    const hid_t space = H5Dget_space(set);
    if (space < 0 || piece_count(space) != n || !is_stored(r, set, (hsize_t)n)) {
        s = damaged(r, name, err);
    } else if (n > 0 && H5Dread(set, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0) {
        s = snw_file_fail(&r->file, name, err);
    }
    if (space >= 0) (void)H5Sclose(space);
    (void)H5Dclose(set);
    return s;
}

// ---- a run -------------------------------------------------------------------------------------

// Shape of a field: frames, numbers per frame, and for poses the nodes; refreshed from disk if the
// file is live.
static snw_status result_read_read_shape(snw_result *r, hid_t group, snw_result_field field,
                                         hsize_t dims[3], snw_error *err) {
    const char *name = snw_result_field_name(field);
    const int want = field == SNW_RESULT_POSE                             ? 3
                     : field == SNW_RESULT_T || field == SNW_RESULT_STAGE ? 1
                                                                          : 2;
    dims[0] = 0;
    dims[1] = dims[2] = 1;
    snw_status s;
    const hid_t set = open_set(r, group, name, &s, err);
    if (set < 0) return s;
    if (r->file.live && H5Drefresh(set) < 0) s = snw_file_fail(&r->file, name, err);
    const hid_t space = s == SNW_OK ? H5Dget_space(set) : H5I_INVALID_HID;
    if (s == SNW_OK && (space < 0 || H5Sget_simple_extent_ndims(space) != want ||
                        H5Sget_simple_extent_dims(space, dims, NULL) != want)) {
        s = damaged(r, name, err);
    }
    if (space >= 0) (void)H5Sclose(space);
    (void)H5Dclose(set);
    return s;
}

static snw_status open_group(snw_result *r, const stored_run *u, hid_t *group, snw_error *err) {
    *group = H5Gopen2(r->runs, u->group, H5P_DEFAULT);
    return *group >= 0 ? SNW_OK : snw_file_fail(&r->file, u->group, err);
}

// out <- frames of a field, or of one entry of it (`column` >= 0).
static snw_status read_field(snw_result *r, const stored_run *u, snw_result_field field, int column,
                             int first, int nframe, double *out, snw_error *err) {
    const size_t width = snw_result_width(&u->info, field);
    if (nframe == 0 || width == 0) return SNW_OK;
    const char *name = snw_result_field_name(field);
    hid_t group;
    SNW_TRY(open_group(r, u, &group, err));
    snw_status s;
    const hid_t set = open_set(r, group, name, &s, err);
    const hid_t space = set >= 0 ? H5Dget_space(set) : H5I_INVALID_HID;
    const hsize_t start[3] = {(hsize_t)first, column >= 0 ? (hsize_t)column : 0, 0};
    const hsize_t count[3] = {(hsize_t)nframe,
                              column >= 0                ? 1
                              : field == SNW_RESULT_POSE ? (hsize_t)u->info.nnode
                                                         : width,
                              SNW_RESULT_POSE_WIDTH};
    const hsize_t total = (hsize_t)nframe * (column >= 0 ? 1 : width);
    const hid_t memory = H5Screate_simple(1, &total, NULL);
    const bool good = space >= 0 && memory >= 0 &&
                      H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                      H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, out) >= 0;
    if (set >= 0 && !good) s = snw_file_fail(&r->file, name, err);
    if (memory >= 0) (void)H5Sclose(memory);
    if (space >= 0) (void)H5Sclose(space);
    if (set >= 0) (void)H5Dclose(set);
    (void)H5Gclose(group);
    return s;
}

// A killed writer may have left NaN times after the last complete frame: omit these frames.
static snw_status drop_unwritten(snw_result *r, stored_run *u, snw_error *err) {
    enum { PIECE = 1024 };
    double t[PIECE];
    for (int dropped = 0; u->nframe > 0;) {
        const int n = u->nframe < PIECE ? u->nframe : PIECE;
        SNW_TRY(read_field(r, u, SNW_RESULT_T, -1, u->nframe - n, n, t, err));
        int left = n;
        while (left > 0 && isnan(t[left - 1])) left--;
        u->nframe -= n - left;
        if (left > 0) break;
        dropped += n;
        if (dropped > UNWRITTEN_LIMIT) return damaged(r, "times without values", err);
    }
    return SNW_OK;
}

static snw_status read_state(snw_result *r, stored_run *u, hid_t group, snw_error *err) {
    static const char *const words[] = {
#define X(state, word) word,
        SNW_RESULT_STATES(X)
#undef X
    };
    snw_layout_status record = {"", ""};
    const hid_t type = snw_layout_status_type();
    snw_status s = read_numbers(r, group, "status", type, 1, &record, err);
    if (s == SNW_OK) {
        int k = 0;
        const int n = (int)(sizeof words / sizeof *words);
        while (k < n && strncmp(words[k], record.state, sizeof record.state) != 0) k++;
        if (k == n) s = damaged(r, "status", err);
        u->state = (snw_result_state)k;
        memcpy(u->message, record.message, sizeof record.message);
        u->message[sizeof record.message] = '\0';
        snw_text_clean(u->message);
    }
    if (type >= 0) (void)H5Tclose(type);
    return s;
}

// Number of frames and state; they change while the file is live.
static snw_status read_progress(snw_result *r, stored_run *u, hid_t group, snw_error *err) {
    hsize_t nframe = INT_MAX;
    // the state first: then a run read as finished has all its frames
    SNW_TRY(read_state(r, u, group, err));
    for (int f = 0; f < SNW_RESULT_NFIELD; f++) {
        hsize_t dims[3];
        if (!snw_layout_has(&u->info, (snw_result_field)f)) continue;
        SNW_TRY(result_read_read_shape(r, group, (snw_result_field)f, dims, err));
        const hsize_t width = f == SNW_RESULT_POSE ? dims[1] * dims[2] : dims[1];
        if (width != snw_result_width(&u->info, (snw_result_field)f)) {
            return damaged(r, snw_result_field_name((snw_result_field)f), err);
        }
        if (dims[0] < nframe) nframe = dims[0];
    }
    u->nframe = (int)nframe;
    return drop_unwritten(r, u, err);
}

static snw_status check_frames(snw_result *r, const stored_run *u, hid_t group, snw_error *err) {
    for (int f = 0; f < SNW_RESULT_NFIELD; f++) {
        const size_t width = snw_result_width(&u->info, (snw_result_field)f);
        const char *name = snw_result_field_name((snw_result_field)f);
        if (width == 0) continue;
        snw_status s;
        const hid_t set = open_set(r, group, name, &s, err);
        if (set < 0) return s;
        const bool good = is_stored(r, set, (hsize_t)u->nframe * width);
        (void)H5Dclose(set);
        if (!good) return damaged(r, name, err);
    }
    return SNW_OK;
}

static snw_status read_columns(snw_result *r, hid_t group, snw_run_info *info, snw_error *err) {
    int n = 0, n_probe = 0, n_component = 0;
    const char *const *name, *const *probe, *const *component;
    SNW_TRY(read_texts(r, group, "column", &n, &name, err));
    SNW_TRY(read_texts(r, group, "column_probe", &n_probe, &probe, err));
    SNW_TRY(read_texts(r, group, "column_component", &n_component, &component, err));
    if (n_probe != n || n_component != n) return damaged(r, "column", err);
    snw_column *column = snw_pool_array(r->pool, (size_t)n, sizeof *column);
    int *station = snw_pool_array(r->pool, (size_t)n, sizeof *station);
    if (!column || !station) return result_read_no_memory(r, err);
    SNW_TRY(read_numbers(r, group, "column_station", H5T_NATIVE_INT, n, station, err));
    for (int i = 0; i < n; i++) column[i] = (snw_column){probe[i], component[i], station[i]};
    info->ncolumn = n;
    info->column = column;
    return SNW_OK;
}

// *out <- numbers of a checkpoint; 0: the file has none.
static snw_status read_nsave(snw_result *r, hid_t group, int *out, snw_error *err) {
    *out = 0;
    if (H5Lexists(group, SNW_LAYOUT_CHECKPOINT, H5P_DEFAULT) <= 0) return SNW_OK;
    snw_status s;
    const hid_t set = open_set(r, group, SNW_LAYOUT_CHECKPOINT, &s, err);
    if (set < 0) return s;
    const hid_t space = H5Dget_space(set);
    hsize_t dims[2] = {0, 0};
    const bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == 2 &&
                      H5Sget_simple_extent_dims(space, dims, NULL) == 2 &&
                      dims[0] == SNW_LAYOUT_SLOTS && dims[1] > SNW_LAYOUT_CHECKPOINT_HEAD &&
                      dims[1] < INT_MAX / SNW_LAYOUT_SLOTS;
    if (space >= 0) (void)H5Sclose(space);
    (void)H5Dclose(set);
    if (!good) return damaged(r, SNW_LAYOUT_CHECKPOINT, err);
    *out = (int)dims[1] - SNW_LAYOUT_CHECKPOINT_HEAD;
    return SNW_OK;
}

// *out <- number of loads, loops, .. of a field with `each` numbers apiece; 0: no such field.
static snw_status read_count(snw_result *r, hid_t group, snw_result_field field, int each, int *out,
                             snw_error *err) {
    *out = 0;
    const char *name = snw_result_field_name(field);
    if (H5Lexists(group, name, H5P_DEFAULT) <= 0) return SNW_OK;
    hsize_t dims[3];
    SNW_TRY(result_read_read_shape(r, group, field, dims, err));
    if (dims[1] > INT_MAX || dims[1] % (hsize_t)each != 0) return damaged(r, name, err);
    *out = (int)dims[1] / each;
    return SNW_OK;
}

static snw_status read_scene(snw_result *r, hid_t group, const char **out, snw_error *err) {
    *out = NULL;
    if (H5Lexists(group, SNW_LAYOUT_SCENE, H5P_DEFAULT) <= 0) return SNW_OK;
    int n = 0;
    const char *const *text;
    SNW_TRY(read_texts(r, group, SNW_LAYOUT_SCENE, &n, &text, err));
    if (n != 1) return damaged(r, SNW_LAYOUT_SCENE, err);
    *out = text[0];
    return SNW_OK;
}

// Values of the model file that the run overrides; none when the dataset is absent.
static snw_status read_overrides(snw_result *r, hid_t group, snw_run_info *info, snw_error *err) {
    if (H5Lexists(group, SNW_LAYOUT_OVERRIDE, H5P_DEFAULT) <= 0) return SNW_OK;
    int n = 0, ntext = 0, nunit = 0;
    const char *const *path, *const *text, *const *unit;
    SNW_TRY(read_texts(r, group, SNW_LAYOUT_OVERRIDE, &n, &path, err));
    SNW_TRY(read_texts(r, group, SNW_LAYOUT_OVERRIDE "_text", &ntext, &text, err));
    SNW_TRY(read_texts(r, group, SNW_LAYOUT_OVERRIDE "_unit", &nunit, &unit, err));
    if (ntext != n || nunit != n) return damaged(r, SNW_LAYOUT_OVERRIDE, err);
    snw_override_desc *all = snw_pool_array(r->pool, (size_t)n + 1, sizeof *all);
    double *value = snw_pool_array(r->pool, (size_t)n + 1, sizeof *value);
    if (!all || !value) return result_read_no_memory(r, err);
    SNW_TRY(read_numbers(r, group, SNW_LAYOUT_OVERRIDE "_value", H5T_NATIVE_DOUBLE, n, value, err));
    for (int i = 0; i < n; i++) {
        all[i] = (snw_override_desc){path[i], text[i], value[i], unit[i]};
    }
    info->noverride = n;
    info->override = all;
    return SNW_OK;
}

// Constants by which folds are differentiated; none when the dataset is absent.
static snw_status read_fold_columns(snw_result *r, hid_t group, snw_run_info *info,
                                    snw_error *err) {
    int n = 0, named = 0;
    SNW_TRY(read_count(r, group, SNW_RESULT_FOLD, 1, &n, err));
    if (n == 0) return SNW_OK;
    const char *const *by;
    SNW_TRY(read_texts(r, group, SNW_LAYOUT_FOLD_BY, &named, &by, err));
    if (named != n) return damaged(r, SNW_LAYOUT_FOLD_BY, err);
    snw_fold_column *fold = snw_pool_array(r->pool, (size_t)n, sizeof *fold);
    int *step = snw_pool_array(r->pool, (size_t)n, sizeof *step);
    if (!fold || !step) return result_read_no_memory(r, err);
    SNW_TRY(read_numbers(r, group, SNW_LAYOUT_FOLD_STEP, H5T_NATIVE_INT, n, step, err));
    for (int i = 0; i < n; i++) {
        if (step[i] < 0 || step[i] >= info->nstage) return damaged(r, SNW_LAYOUT_FOLD_STEP, err);
        fold[i] = (snw_fold_column){.by = by[i], .stage = step[i]};
    }
    info->nfold = n;
    info->fold = fold;
    return SNW_OK;
}

// Steps that make linear models: groups of `linear` named as them.
static snw_status read_linear_steps(snw_result *r, hid_t group, snw_run_info *info,
                                    snw_error *err) {
    if (H5Lexists(group, SNW_LAYOUT_LINEAR, H5P_DEFAULT) <= 0) return SNW_OK;
    snw_linear_step_info *list = snw_pool_array(r->pool, (size_t)info->nstage + 1, sizeof *list);
    if (!list) return result_read_no_memory(r, err);
    const hid_t all = H5Gopen2(group, SNW_LAYOUT_LINEAR, H5P_DEFAULT);
    if (all < 0) return damaged(r, SNW_LAYOUT_LINEAR, err);
    info->linear = list;
    for (int i = 0; i < info->nstage; i++) {
        char *name = snw_layout_group_name(info->stage[i]);
        if (name && H5Lexists(all, name, H5P_DEFAULT) > 0)
            list[info->nlinear++] = (snw_linear_step_info){.stage = i};
        snw_free(name);
    }
    (void)H5Gclose(all);
    return SNW_OK;
}

static snw_status read_info(snw_result *r, stored_run *u, hid_t group, snw_error *err) {
    snw_run_info *info = &u->info;
    hsize_t dims[3];
    SNW_TRY(read_attribute(r, group, "name", &info->run, err));
    SNW_TRY(read_attribute(r, group, "title", &info->title, err));
    SNW_TRY(read_texts(r, group, "stage", &info->nstage, &info->stage, err));
    SNW_TRY(read_texts(r, group, "q_name", &info->nq, &info->q_name, err));
    SNW_TRY(read_texts(r, group, "node_link", &info->nnode, &info->node_link, err));
    double *x = snw_pool_array(r->pool, (size_t)info->nnode, sizeof *x);
    if (!x) return result_read_no_memory(r, err);
    SNW_TRY(read_numbers(r, group, "node_x", H5T_NATIVE_DOUBLE, info->nnode, x, err));
    info->node_x = x;
    SNW_TRY(result_read_read_shape(r, group, SNW_RESULT_V, dims, err));
    if (dims[1] > INT_MAX) return damaged(r, "v", err);
    info->nv = (int)dims[1];
    SNW_TRY(read_count(r, group, SNW_RESULT_LOAD, 6, &info->nload, err));
    SNW_TRY(read_count(r, group, SNW_RESULT_LOOP, 6, &info->nloop, err));
    SNW_TRY(read_count(r, group, SNW_RESULT_CONTACT, 6, &info->ncontact, err));
    SNW_TRY(read_count(r, group, SNW_RESULT_EFFORT, 1, &info->ntendon, err));
    SNW_TRY(read_count(r, group, SNW_RESULT_PRESENT, 1, &info->ncondition, err));
    SNW_TRY(read_count(r, group, SNW_RESULT_FORCE_FIELD, 3, &info->nforce_field_point, err));
    SNW_TRY(read_scene(r, group, &info->scene, err));
    SNW_TRY(read_nsave(r, group, &info->nsave, err));
    SNW_TRY(read_overrides(r, group, info, err));
    SNW_TRY(read_fold_columns(r, group, info, err));
    SNW_TRY(read_linear_steps(r, group, info, err));
    return read_columns(r, group, info, err);
}

static snw_status read_run(snw_result *r, int i, H5_index_t order, snw_error *err) {
    stored_run *u = &r->run[i];
    H5L_info_t link;
    const hsize_t at = (hsize_t)i;
    if (H5Lget_info_by_idx(r->runs, ".", order, H5_ITER_INC, at, &link, H5P_DEFAULT) < 0) {
        return snw_file_fail(&r->file, "runs", err);
    }
    if (link.type != H5L_TYPE_HARD) return damaged(r, "a run is a link", err);
    const ssize_t length =
        H5Lget_name_by_idx(r->runs, ".", order, H5_ITER_INC, at, NULL, 0, H5P_DEFAULT);
    char *name = length > 0 ? snw_pool_array(r->pool, (size_t)length + 1, 1) : NULL;
    if (!name || H5Lget_name_by_idx(r->runs, ".", order, H5_ITER_INC, at, name, (size_t)length + 1,
                                    H5P_DEFAULT) != length) {
        return snw_file_fail(&r->file, "runs", err);
    }
    u->group = name;
    hid_t group;
    SNW_TRY(open_group(r, u, &group, err));
    snw_status s = read_info(r, u, group, err);
    if (s == SNW_OK) s = read_progress(r, u, group, err);
    if (s == SNW_OK) s = check_frames(r, u, group, err);
    (void)H5Gclose(group);
    return s;
}

// ---- the file ----------------------------------------------------------------------------------

static snw_status read_head(snw_result *r, snw_error *err) {
    const char *format = NULL;
    if (H5Aexists(r->h5, "format") <= 0 || read_attribute(r, r->h5, "format", &format, NULL) ||
        !format || strcmp(format, SNW_LAYOUT_FORMAT) != 0) {
        return snw_fail(err, SNW_E_PARSE, "results '%.200s': %s", r->file.path,
                        snw_sweep_is_file(r->file.path)
                            ? "those of a sweep, which 'sinew sweep', 'plot' and 'view' read"
                            : "an HDF5 file, but not a result file of Sinew");
    }
    int version = 0;
    const hid_t attribute = H5Aopen(r->h5, "format_version", H5P_DEFAULT);
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : H5I_INVALID_HID;
    const bool got =
        space >= 0 && piece_count(space) == 1 && H5Aread(attribute, H5T_NATIVE_INT, &version) >= 0;
    if (space >= 0) (void)H5Sclose(space);
    if (attribute >= 0) (void)H5Aclose(attribute);
    if (!got) return damaged(r, "format_version", err);
    if (version != SNW_LAYOUT_VERSION) {
        return snw_fail(err, SNW_E_PARSE,
                        "results '%.200s': format version %d, this program reads version %d; run "
                        "the model again",
                        r->file.path, version, SNW_LAYOUT_VERSION);
    }
    SNW_TRY(read_attribute(r, r->h5, "sinew_version", &r->version, err));
    SNW_TRY(read_attribute(r, r->h5, "created", &r->created, err));
    int n = 0;
    const char *const *model;
    SNW_TRY(read_texts(r, r->h5, "model", &n, &model, err));
    if (n != 1) return damaged(r, "model", err);
    r->model = model[0];
    return SNW_OK;
}

static snw_status read_runs(snw_result *r, snw_error *err) {
    r->runs = H5Gopen2(r->h5, "runs", H5P_DEFAULT);
    H5G_info_t info;
    if (r->runs < 0 || H5Gget_info(r->runs, &info) < 0) {
        return snw_file_fail(&r->file, "runs", err);
    }
    if (info.nlinks > INT_MAX) return damaged(r, "runs", err);
    r->run = snw_pool_array(r->pool, (size_t)info.nlinks, sizeof *r->run);
    if (!r->run) return result_read_no_memory(r, err);
    // a repacked file may lack the creation order
    const hid_t plist = H5Gget_create_plist(r->runs);
    unsigned order = 0;
    const bool ordered = plist >= 0 && H5Pget_link_creation_order(plist, &order) >= 0 &&
                         (order & H5P_CRT_ORDER_TRACKED);
    if (plist >= 0) (void)H5Pclose(plist);
    r->nrun = (int)info.nlinks;
    for (int i = 0; i < r->nrun; i++) {
        SNW_TRY(read_run(r, i, ordered ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, err));
    }
    return SNW_OK;
}

static snw_status open_all(snw_result *r, const char *path, snw_error *err) {
    r->file.path = snw_pool_text(r->pool, path, strlen(path));
    if (!r->file.path) return snw_fail(err, SNW_E_MEMORY, "no memory to read '%.200s'", path);
    r->file.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // do not block on a pipe
    if (r->file.fd < 0) {
        return snw_fail(err, SNW_E_IO, "results '%.200s': cannot open: %s", path,
                        errno == ENOENT   ? "no such file"
                        : errno == EACCES ? "permission denied"
                                          : "not a file that can be read");
    }
    SNW_TRY(check_head(r, err));
    const hid_t fapl = snw_file_access(&r->file);
    if (fapl < 0) return result_read_no_memory(r, err);
    r->h5 = H5Fopen(path, H5F_ACC_RDONLY | (r->file.live ? H5F_ACC_SWMR_READ : 0U), fapl);
    const snw_status s = r->h5 < 0 ? snw_file_fail(&r->file, "cannot open", err) : SNW_OK;
    (void)H5Pclose(fapl);
    SNW_TRY(s);
    SNW_TRY(read_head(r, err));
    return read_runs(r, err);
}

snw_status snw_result_open(const char *path, snw_result **out, snw_error *err) {
    *out = NULL;
    snw_file_silence_hdf5();
    snw_result *r = snw_alloc(sizeof *r);
    if (!r) return snw_fail(err, SNW_E_MEMORY, "no memory to read '%.200s'", path);
    r->file = (snw_file){.fd = -1};
    r->h5 = r->runs = H5I_INVALID_HID;
    r->pool = snw_pool_create(pool_limit);
    const snw_status s = r->pool ? open_all(r, path, err)
                                 : snw_fail(err, SNW_E_MEMORY, "no memory to read '%.200s'", path);
    if (s == SNW_OK) {
        *out = r;
    } else {
        snw_result_close(r);
    }
    return s;
}

void snw_result_close(snw_result *r) {
    if (!r) return;
    snw_file_silence_hdf5();
    if (r->runs >= 0) (void)H5Gclose(r->runs);
    if (r->h5 >= 0) (void)snw_file_close(r->h5);
    if (r->file.fd >= 0) (void)close(r->file.fd);
    snw_pool_destroy(r->pool);
    snw_free(r);
}

// ---- access ------------------------------------------------------------------------------------

static stored_run *run_at(const snw_result *r, int run) {
    SNW_ASSERT(run >= 0 && run < r->nrun);
    return &r->run[run];
}

const char *snw_result_model(const snw_result *r) { return r->model; }
const char *snw_result_version(const snw_result *r) { return r->version; }
const char *snw_result_created(const snw_result *r) { return r->created; }
int snw_result_runs(const snw_result *r) { return r->nrun; }
const snw_run_info *snw_result_info(const snw_result *r, int run) { return &run_at(r, run)->info; }
int snw_result_frames(const snw_result *r, int run) { return run_at(r, run)->nframe; }

snw_result_state snw_result_state_of(const snw_result *r, int run, const char **message) {
    if (message) *message = run_at(r, run)->message;
    return run_at(r, run)->state;
}

snw_status snw_result_read(snw_result *r, int run, snw_result_field field, int first, int nframe,
                           double *out, snw_error *err) {
    const stored_run *u = run_at(r, run);
    SNW_ASSERT(first >= 0 && nframe >= 0 && first <= u->nframe - nframe);
    snw_file_silence_hdf5();
    return read_field(r, u, field, -1, first, nframe, out, err);
}

snw_status snw_result_read_column(snw_result *r, int run, int column, int first, int nframe,
                                  double *out, snw_error *err) {
    const stored_run *u = run_at(r, run);
    SNW_ASSERT(first >= 0 && nframe >= 0 && first <= u->nframe - nframe);
    SNW_ASSERT(column >= 0 && column < u->info.ncolumn);
    snw_file_silence_hdf5();
    return read_field(r, u, SNW_RESULT_COLUMNS, column, first, nframe, out, err);
}

snw_status snw_result_checkpoint(snw_result *r, int run, int *nframe, double *save,
                                 snw_error *err) {
    const stored_run *u = run_at(r, run);
    *nframe = 0;
    const int nsave = u->info.nsave, width = nsave + SNW_LAYOUT_CHECKPOINT_HEAD;
    if (nsave == 0) return SNW_OK;
    snw_file_silence_hdf5();
    hid_t group;
    SNW_TRY(open_group(r, u, &group, err));
    double *rows = snw_alloc((size_t)width * SNW_LAYOUT_SLOTS * sizeof *rows);
    snw_status s = rows ? SNW_OK : result_read_no_memory(r, err);
    if (s == SNW_OK) {
        s = read_numbers(r, group, SNW_LAYOUT_CHECKPOINT, H5T_NATIVE_DOUBLE,
                         width * SNW_LAYOUT_SLOTS, rows, err);
    }
    double latest = 0;
    for (int i = 0; s == SNW_OK && i < SNW_LAYOUT_SLOTS; i++) {
        // complete, later than the other, and of an existing frame
        const double *row = rows + (size_t)i * (size_t)width;
        snw_layout_checkpoint head;
        memcpy(&head, row, sizeof head);
        row += SNW_LAYOUT_CHECKPOINT_HEAD;
        if (!(head.sequence > latest) || !(head.frames >= 1 && head.frames <= u->nframe)) continue;
        if (head.sum != snw_layout_checksum(&head, nsave, row)) continue;
        latest = head.sequence;
        *nframe = (int)head.frames;
        memcpy(save, row, (size_t)nsave * sizeof *save);
    }
    snw_free(rows);
    (void)H5Gclose(group);
    return s;
}

// ---- linear models ------------------------------------------------------------------------------

// *out <- a matrix by columns, from storage by rows.
static snw_status read_matrix(snw_result *r, hid_t group, const char *name, int rows, int columns,
                              const double **out, snw_error *err) {
    const size_t n = (size_t)rows * (size_t)columns;
    double *by_rows = snw_pool_array(r->pool, 2 * n + 1, sizeof *by_rows), *to = by_rows + n;
    if (!by_rows) return result_read_no_memory(r, err);
    if (n > INT_MAX) return damaged(r, name, err);
    SNW_TRY(read_numbers(r, group, name, H5T_NATIVE_DOUBLE, (int)n, by_rows, err));
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++)
            to[(size_t)j * (size_t)rows + (size_t)i] =
                by_rows[(size_t)i * (size_t)columns + (size_t)j];
    }
    *out = to;
    return SNW_OK;
}

static snw_status read_signals(snw_result *r, hid_t step, const char *of, int *n,
                               const snw_linear_signal **out, snw_error *err) {
    const char *const *name, *const *unit;
    int units = 0;
    const hid_t group = H5Gopen2(step, of, H5P_DEFAULT);
    if (group < 0) return damaged(r, of, err);
    snw_status s = read_texts(r, group, "name", n, &name, err);
    if (s == SNW_OK) s = read_texts(r, group, "unit", &units, &unit, err);
    if (s == SNW_OK && units != *n) s = damaged(r, of, err);
    const size_t count = s == SNW_OK ? (size_t)*n : 0;
    snw_linear_signal *signal = snw_pool_array(r->pool, count + 1, sizeof *signal);
    double *value = snw_pool_array(r->pool, 2 * count + 1, sizeof *value);
    if (s == SNW_OK && (!signal || !value)) s = result_read_no_memory(r, err);
    if (s == SNW_OK) s = read_numbers(r, group, "value", H5T_NATIVE_DOUBLE, *n, value, err);
    if (s == SNW_OK) s = read_numbers(r, group, "exact", H5T_NATIVE_DOUBLE, *n, value + count, err);
    for (size_t i = 0; s == SNW_OK && i < count; i++)
        signal[i] = (snw_linear_signal){
            .name = name[i], .unit = unit[i], .value = value[i], .exact = value[count + i] != 0};
    *out = signal;
    (void)H5Gclose(group);
    return s;
}

static snw_status read_poles(snw_result *r, hid_t step, snw_linear_model *m, snw_error *err) {
    enum { COLUMNS = 7 };
    static const char *const column[COLUMNS] = {
        "re", "im", "frequency", "damping", "controllable", "observable", "parasitic"};
    const size_t n = (size_t)m->nx;
    snw_linear_pole *pole = snw_pool_array(r->pool, n + 1, sizeof *pole);
    double *x = snw_pool_array(r->pool, COLUMNS * n + 1, sizeof *x);
    const hid_t group = H5Gopen2(step, "pole", H5P_DEFAULT);
    if (group < 0) return damaged(r, "pole", err);
    snw_status s = pole && x ? SNW_OK : result_read_no_memory(r, err);
    for (int k = 0; s == SNW_OK && k < COLUMNS; k++)
        s = read_numbers(r, group, column[k], H5T_NATIVE_DOUBLE, m->nx, x + (size_t)k * n, err);
    (void)H5Gclose(group);
    for (size_t i = 0; s == SNW_OK && i < n; i++) {
        pole[i] = (snw_linear_pole){.re = x[i],
                                    .im = x[n + i],
                                    .frequency = x[2 * n + i],
                                    .damping = x[3 * n + i],
                                    .controllable = x[4 * n + i] != 0,
                                    .observable = x[5 * n + i] != 0,
                                    .parasitic = x[6 * n + i] != 0};
        m->ncontrollable += pole[i].controllable;
        m->nobservable += pole[i].observable;
    }
    m->npole = m->nx;
    m->pole = pole;
    return s;
}

static snw_status read_linear(snw_result *r, hid_t step, snw_linear_model *m, snw_error *err) {
    enum { NUMBERS = 7 };
    static const char *const name[NUMBERS] = {"time",       "step", "moving", "residual",
                                              "difference", "idle", "held"};
    double x[NUMBERS] = {0};
    SNW_TRY(read_signals(r, step, "state", &m->nx, &m->state, err));
    SNW_TRY(read_signals(r, step, "input", &m->nu, &m->input, err));
    SNW_TRY(read_signals(r, step, "output", &m->ny, &m->output, err));
    if (m->nx + m->nu + m->ny == 0) return SNW_OK;
    for (int k = 0; k < NUMBERS; k++)
        SNW_TRY(read_numbers(r, step, name[k], H5T_NATIVE_DOUBLE, 1, &x[k], err));
    m->time = x[0];
    m->step = x[1];
    m->moving = x[2] != 0;
    m->residual = x[3];
    m->difference = x[4];
    m->nidle = (int)x[5];
    m->nheld = (int)x[6];
    SNW_TRY(read_matrix(r, step, "A", m->nx, m->nx, &m->A, err));
    SNW_TRY(read_matrix(r, step, "B", m->nx, m->nu, &m->B, err));
    SNW_TRY(read_matrix(r, step, "C", m->ny, m->nx, &m->C, err));
    SNW_TRY(read_matrix(r, step, "D", m->ny, m->nu, &m->D, err));
    return read_poles(r, step, m, err);
}

snw_status snw_result_linear(snw_result *r, int run, int stage, const snw_linear_model **out,
                             snw_error *err) {
    const stored_run *u = run_at(r, run);
    *out = NULL;
    bool there = false;
    for (int i = 0; i < u->info.nlinear; i++) there = there || u->info.linear[i].stage == stage;
    if (!there) return SNW_OK;
    snw_linear_model *m = snw_pool_take(r->pool, sizeof *m);
    char *name = snw_layout_group_name(u->info.stage[stage]);
    hid_t group = H5I_INVALID_HID, all = H5I_INVALID_HID, step = H5I_INVALID_HID;
    snw_status s = m && name ? open_group(r, u, &group, err) : result_read_no_memory(r, err);
    if (s == SNW_OK) all = H5Gopen2(group, SNW_LAYOUT_LINEAR, H5P_DEFAULT);
    if (all >= 0) step = H5Gopen2(all, name, H5P_DEFAULT);
    if (s == SNW_OK && step < 0) s = damaged(r, SNW_LAYOUT_LINEAR, err);
    if (s == SNW_OK) s = read_linear(r, step, m, err);
    if (s == SNW_OK && m->A) *out = m;
    if (step >= 0) (void)H5Gclose(step);
    if (all >= 0) (void)H5Gclose(all);
    if (group >= 0) (void)H5Gclose(group);
    snw_free(name);
    return s;
}
