// SPDX-License-Identifier: MIT
//
// Writes and reads the HDF5 file of a sweep.
#include "results/sweep_file.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "results/result_file.h"
#include "results/result_layout.h"
#include "sinew/version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char FORMAT[] = "sinew sweep";
enum { VERSION = 1, CHUNK = 4096, MESSAGE = 256, PATH = 1024, MOST_PARTIALS = 10000 };
static const hsize_t MOST_ROWS = (hsize_t)1 << 40;

struct snw_sweep_writer {
    snw_file file;
    char path[PATH], partial[PATH];
    hid_t h5;
    hid_t parameters, results, series; // groups; series negative: none
    const snw_sweep_head *head;
    int64_t frames; // of series so far
    int64_t messages;
};

// ---- writing ------------------------------------------------------------------------------------

static snw_status write_failed(const snw_sweep_writer *w, snw_error *err) {
    return snw_file_fail(&w->file, "cannot write", err);
}

// A dataset of one column, `n` long; growing where n is 0. Rows are stored in chunks.
static bool add_set(hid_t where, const char *name, hid_t type, int64_t n, int width) {
    const hsize_t dims[2] = {(hsize_t)n, (hsize_t)width}, most[2] = {H5S_UNLIMITED, dims[1]};
    const hsize_t chunk[2] = {n > 0 && n < CHUNK ? (hsize_t)n : CHUNK, dims[1]};
    const int rank = width > 0 ? 2 : 1;
    const hid_t space = H5Screate_simple(rank, dims, most), plist = H5Pcreate(H5P_DATASET_CREATE);
    (void)H5Pset_chunk(plist, rank, chunk);
    const hid_t set = H5Dcreate2(where, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    if (set >= 0) (void)H5Dclose(set);
    if (space >= 0) (void)H5Sclose(space);
    if (plist >= 0) (void)H5Pclose(plist);
    return set >= 0;
}

// Write n rows from `at` on; a dataset that is shorter grows.
static bool put_rows(hid_t where, const char *name, hid_t type, int64_t at, int64_t n, int width,
                     const void *data) {
    const hid_t set = H5Dopen2(where, name, H5P_DEFAULT);
    if (set < 0) return false;
    const int rank = width > 0 ? 2 : 1;
    hsize_t dims[2] = {0, 0};
    const hsize_t start[2] = {(hsize_t)at, 0}, count[2] = {(hsize_t)n, (hsize_t)width};
    hid_t space = H5Dget_space(set);
    bool good = space >= 0 && H5Sget_simple_extent_dims(space, dims, NULL) == rank;
    if (good && dims[0] < start[0] + count[0]) {
        dims[0] = start[0] + count[0];
        good = H5Dset_extent(set, dims) >= 0;
        (void)H5Sclose(space);
        space = H5Dget_space(set);
    }
    const hid_t memory = H5Screate_simple(rank, count, NULL);
    good = good && space >= 0 && memory >= 0 &&
           H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
           H5Dwrite(set, type, memory, space, H5P_DEFAULT, data) >= 0;
    if (memory >= 0) (void)H5Sclose(memory);
    if (space >= 0) (void)H5Sclose(space);
    (void)H5Dclose(set);
    return good;
}

static hid_t add_group(hid_t where, const char *name) {
    const hid_t plist = H5Pcreate(H5P_GROUP_CREATE);
    (void)H5Pset_link_creation_order(plist, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    const hid_t group = H5Gcreate2(where, name, H5P_DEFAULT, plist, H5P_DEFAULT);
    (void)H5Pclose(plist);
    return group;
}

static bool add_columns(hid_t group, int n, const snw_sweep_column *column, int64_t rows) {
    bool good = group >= 0;
    for (int i = 0; good && i < n; i++) {
        const snw_sweep_column *c = &column[i];
        good = add_set(group, c->name, H5T_IEEE_F64LE, rows, 0);
        const hid_t set = good ? H5Dopen2(group, c->name, H5P_DEFAULT) : H5I_INVALID_HID;
        good = set >= 0 && snw_layout_text_attribute(set, "unit", c->unit) &&
               snw_layout_text_attribute(set, "about", c->about);
        size_t size = 1;
        for (int k = 0; k < c->nlabel; k++)
            size = strlen(c->label[k]) + 1 > size ? strlen(c->label[k]) + 1 : size;
        char *packed = c->nlabel ? snw_alloc((size_t)c->nlabel * size) : NULL;
        const hid_t type = packed ? snw_layout_text_type(size) : H5I_INVALID_HID;
        for (int k = 0; packed && k < c->nlabel; k++)
            memcpy(packed + (size_t)k * size, c->label[k], strlen(c->label[k]));
        if (c->nlabel)
            good = good && type >= 0 &&
                   snw_layout_attribute(set, "labels", type, (hsize_t)c->nlabel, packed);
        if (type >= 0) (void)H5Tclose(type);
        snw_free(packed);
        if (set >= 0) (void)H5Dclose(set);
    }
    return good;
}

static bool add_text(hid_t where, const char *name, const char *text) {
    const hid_t type = snw_layout_text_type(strlen(text) + 1);
    const bool good = type >= 0 && snw_layout_table(where, name, type, type, -1, text);
    if (type >= 0) (void)H5Tclose(type);
    return good;
}

static bool add_head(hid_t h5, const snw_sweep_head *d) {
    char created[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) (void)strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    const int version = VERSION;
    return snw_layout_text_attribute(h5, "format", FORMAT) &&
           snw_layout_attribute(h5, "format_version", H5T_NATIVE_INT, 0, &version) &&
           snw_layout_text_attribute(h5, "sinew_version", SNW_VERSION) &&
           snw_layout_text_attribute(h5, "created", created) &&
           snw_layout_text_attribute(h5, "title", d->title) &&
           snw_layout_text_attribute(h5, "method", d->method) &&
           snw_layout_attribute(h5, "seed", H5T_NATIVE_UINT64, 0, &d->seed) &&
           snw_layout_attribute(h5, "identity", H5T_NATIVE_UINT64, 0, &d->identity) &&
           snw_layout_attribute(h5, "rows", H5T_NATIVE_INT64, 0, &d->rows) &&
           snw_layout_attribute(h5, "count", H5T_NATIVE_INT64, 0, &d->count) &&
           snw_layout_attribute(h5, "levels", H5T_NATIVE_INT, 0, &d->levels) &&
           add_text(h5, "plan", d->plan) && add_text(h5, "model", d->model);
}

static bool add_series(snw_sweep_writer *w) {
    const snw_sweep_head *d = w->head;
    if (d->nseries == 0) return true;
    w->series = add_group(w->h5, "series");
    return w->series >= 0 && snw_layout_texts(w->series, "column", d->nseries, d->series) &&
           add_set(w->series, "first", H5T_STD_I64LE, d->rows, 0) &&
           add_set(w->series, "frames", H5T_STD_I32LE, d->rows, 0) &&
           add_set(w->series, "t", H5T_IEEE_F64LE, 0, 0) &&
           add_set(w->series, "value", H5T_IEEE_F64LE, 0, d->nseries);
}

static bool write_head(snw_sweep_writer *w, snw_sweep_words states, snw_sweep_words engines) {
    const snw_sweep_head *d = w->head;
    w->parameters = add_group(w->h5, "parameters");
    w->results = add_group(w->h5, "results");
    const hid_t message = add_group(w->h5, "message"), text = snw_layout_text_type(MESSAGE);
    const bool good = add_head(w->h5, d) &&
                      snw_layout_texts(w->h5, "state_name", states.n, states.name) &&
                      snw_layout_texts(w->h5, "engine_name", engines.n, engines.name) &&
                      add_columns(w->parameters, d->nparameter, d->parameter, d->rows) &&
                      add_columns(w->results, d->nresult, d->result, d->rows) &&
                      add_set(w->h5, "state", H5T_STD_I8LE, d->rows, 0) &&
                      add_set(w->h5, "engine", H5T_STD_I8LE, d->rows, 0) &&
                      add_set(w->h5, "seconds", H5T_IEEE_F64LE, d->rows, 0) && message >= 0 &&
                      text >= 0 && add_set(message, "row", H5T_STD_I64LE, 0, 0) &&
                      add_set(message, "text", text, 0, 0) && add_series(w);
    if (message >= 0) (void)H5Gclose(message);
    if (text >= 0) (void)H5Tclose(text);
    return good;
}

static void writer_free(snw_sweep_writer *w) {
    if (w->file.fd >= 0) (void)close(w->file.fd);
    snw_free(w);
}

snw_status snw_sweep_writer_create(const char *path, const snw_sweep_head *head,
                                   snw_sweep_words states, snw_sweep_words engines,
                                   snw_sweep_writer **out, snw_error *err) {
    *out = NULL;
    snw_file_silence_hdf5();
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) + 1 : 0;
    if (strlen(path) + 60 > PATH)
        return snw_fail(err, SNW_E_ARGUMENT, "the path '%.100s..' is too long", path);
    snw_sweep_writer *w = snw_alloc(sizeof *w);
    if (!w) return snw_fail_memory(err);
    (void)snprintf(w->path, sizeof w->path, "%s", path);
    w->head = head;
    w->h5 = w->parameters = w->results = w->series = H5I_INVALID_HID;
    w->file = (snw_file){.path = w->path, .writing = true};
    w->file.fd = -1;
    // processes of different machines and containers may have the same number
    for (int k = 0; w->file.fd < 0 && k < MOST_PARTIALS; k++) {
        (void)snprintf(w->partial, sizeof w->partial, "%.*s.%s.partial-%ld-%d", folder, path,
                       path + folder, (long)getpid(), k);
        w->file.fd = open(w->partial, O_RDWR | O_CREAT | O_EXCL, 0666);
        if (w->file.fd < 0 && errno != EEXIST) break;
    }
    if (w->file.fd < 0) {
        const snw_status s = snw_file_fail_errno(path, "cannot create", errno, err);
        writer_free(w);
        return s;
    }
    const hid_t fapl = snw_file_access(&w->file);
    w->h5 = fapl < 0 ? fapl : H5Fcreate(w->partial, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    if (fapl >= 0) (void)H5Pclose(fapl);
    if (w->h5 >= 0 && write_head(w, states, engines) && !w->file.reason) {
        *out = w;
        return SNW_OK;
    }
    const snw_status s = snw_file_fail(&w->file, "cannot create", err);
    return snw_sweep_writer_close(w, s, err);
}

snw_status snw_sweep_writer_block(snw_sweep_writer *w, const snw_sweep_block *b, snw_error *err) {
    const snw_sweep_head *d = w->head;
    bool good = true;
    for (int i = 0; good && i < d->nparameter; i++)
        good = put_rows(w->parameters, d->parameter[i].name, H5T_NATIVE_DOUBLE, b->at, b->n, 0,
                        b->parameter + (size_t)i * (size_t)b->n);
    for (int i = 0; good && i < d->nresult; i++)
        good = put_rows(w->results, d->result[i].name, H5T_NATIVE_DOUBLE, b->at, b->n, 0,
                        b->result + (size_t)i * (size_t)b->n);
    good = good && put_rows(w->h5, "state", H5T_NATIVE_INT8, b->at, b->n, 0, b->state) &&
           put_rows(w->h5, "engine", H5T_NATIVE_INT8, b->at, b->n, 0, b->engine) &&
           put_rows(w->h5, "seconds", H5T_NATIVE_DOUBLE, b->at, b->n, 0, b->seconds);
    if (w->series >= 0)
        good = good && put_rows(w->series, "first", H5T_NATIVE_INT64, b->at, b->n, 0, b->first) &&
               put_rows(w->series, "frames", H5T_NATIVE_INT32, b->at, b->n, 0, b->frames);
    return good && !w->file.reason ? SNW_OK : write_failed(w, err);
}

snw_status snw_sweep_writer_series(snw_sweep_writer *w, int64_t first, int nframe,
                                   const double *series, snw_error *err) {
    const size_t n = (size_t)nframe, k = (size_t)w->head->nseries;
    if (n == 0) return SNW_OK;
    double *t = snw_alloc(n * (k + 1) * sizeof *t);
    if (!t) return snw_fail_memory(err);
    double *value = t + n;
    for (size_t i = 0; i < n; i++) {
        t[i] = series[i * (k + 1)];
        memcpy(value + i * k, series + i * (k + 1) + 1, k * sizeof *value);
    }
    const bool good = put_rows(w->series, "t", H5T_NATIVE_DOUBLE, first, nframe, 0, t) &&
                      put_rows(w->series, "value", H5T_NATIVE_DOUBLE, first, nframe, (int)k, value);
    snw_free(t);
    return good && !w->file.reason ? SNW_OK : write_failed(w, err);
}

snw_status snw_sweep_writer_message(snw_sweep_writer *w, int64_t row, const char *message,
                                    snw_error *err) {
    char text[MESSAGE] = "";
    size_t n = strlen(message) < MESSAGE - 1 ? strlen(message) : MESSAGE - 1;
    while (n > 0 && ((unsigned char)message[n] & 0xC0) == 0x80) n--; // whole characters
    memcpy(text, message, n);
    const hid_t type = snw_layout_text_type(MESSAGE);
    const bool good = type >= 0 &&
                      put_rows(w->h5, "message/row", H5T_NATIVE_INT64, w->messages, 1, 0, &row) &&
                      put_rows(w->h5, "message/text", type, w->messages, 1, 0, text);
    if (type >= 0) (void)H5Tclose(type);
    w->messages++;
    return good && !w->file.reason ? SNW_OK : write_failed(w, err);
}

snw_status snw_sweep_writer_close(snw_sweep_writer *w, snw_status status, snw_error *err) {
    if (w->parameters >= 0) (void)H5Gclose(w->parameters);
    if (w->results >= 0) (void)H5Gclose(w->results);
    if (w->series >= 0) (void)H5Gclose(w->series);
    if (w->h5 >= 0 && snw_file_close(w->h5) < 0 && status == SNW_OK) status = write_failed(w, err);
    if (w->file.reason && status == SNW_OK) status = write_failed(w, err);
    if (status == SNW_OK && rename(w->partial, w->path) != 0)
        status = snw_file_fail_errno(w->path, "cannot replace", errno, err);
    if (status != SNW_OK) (void)unlink(w->partial);
    writer_free(w);
    return status;
}

// ---- reading ------------------------------------------------------------------------------------

// A file open for reading.
typedef struct sweep_source {
    snw_file file;
    hid_t h5;
    snw_pool *pool;
} sweep_source;

static void close_source(sweep_source *s) {
    if (s->h5 >= 0) (void)snw_file_close(s->h5);
    if (s->file.fd >= 0) (void)close(s->file.fd);
}

static bool read_attribute(hid_t where, const char *name, hid_t type, void *out) {
    const hid_t a = H5Aopen(where, name, H5P_DEFAULT);
    if (a < 0) return false;
    const hid_t space = H5Aget_space(a);
    const bool good =
        space >= 0 && H5Sget_simple_extent_npoints(space) == 1 && H5Aread(a, type, out) >= 0;
    if (space >= 0) (void)H5Sclose(space);
    (void)H5Aclose(a);
    return good;
}

// *out <- texts of fixed length of an attribute or dataset that was opened, in the pool
static bool unpack_texts(snw_pool *pool, hid_t type, hid_t space, hid_t attribute, hid_t set,
                         int *n, const char ***out) {
    const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    if (count < 0 || count > 1000000 || size == 0 || size > 1 << 26 ||
        H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0)
        return false;
    char *packed = snw_pool_array(pool, (size_t)count + 1, size);
    *out = snw_pool_array(pool, (size_t)count + 1, sizeof **out);
    if (!packed || !*out) return false;
    if (count > 0 &&
        (attribute >= 0 ? H5Aread(attribute, type, packed)
                        : H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed)) < 0)
        return false;
    for (hssize_t i = 0; i < count; i++) {
        (*out)[i] = snw_pool_text(pool, packed + (size_t)i * size,
                                  strnlen(packed + (size_t)i * size, size));
        if (!(*out)[i]) return false;
    }
    *n = (int)count;
    return true;
}

static bool read_texts(snw_pool *pool, hid_t where, const char *name, int *n, const char ***out) {
    const hid_t set = H5Dopen2(where, name, H5P_DEFAULT);
    if (set < 0) return false;
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    const bool good = unpack_texts(pool, type, space, H5I_INVALID_HID, set, n, out);
    if (type >= 0) (void)H5Tclose(type);
    if (space >= 0) (void)H5Sclose(space);
    (void)H5Dclose(set);
    return good;
}

static bool read_text_attributes(snw_pool *pool, hid_t where, const char *name, int *n,
                                 const char ***out) {
    const hid_t a = H5Aopen(where, name, H5P_DEFAULT);
    if (a < 0) return false;
    const hid_t type = H5Aget_type(a), space = H5Aget_space(a);
    const bool good = unpack_texts(pool, type, space, a, H5I_INVALID_HID, n, out);
    if (type >= 0) (void)H5Tclose(type);
    if (space >= 0) (void)H5Sclose(space);
    (void)H5Aclose(a);
    return good;
}

static bool read_text_attribute(snw_pool *pool, hid_t where, const char *name, const char **out) {
    const char **text = NULL;
    int n = 0;
    if (!read_text_attributes(pool, where, name, &n, &text) || n != 1) return false;
    *out = text[0];
    return true;
}

// out <- a column of n numbers
static bool read_column(hid_t where, const char *name, hid_t type, int64_t n, void *out) {
    const hid_t set = H5Dopen2(where, name, H5P_DEFAULT);
    if (set < 0) return false;
    const hid_t space = H5Dget_space(set);
    hsize_t dims = 0;
    const bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                      H5Sget_simple_extent_dims(space, &dims, NULL) == 1 && dims == (hsize_t)n &&
                      (n == 0 || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
    if (space >= 0) (void)H5Sclose(space);
    (void)H5Dclose(set);
    return good;
}

// Names of the members of a group in the order of their creation.
static bool read_members(const sweep_source *s, hid_t group, int *n, snw_sweep_column **out) {
    H5G_info_t info;
    if (H5Gget_info(group, &info) < 0 || info.nlinks > 100000) return false;
    snw_sweep_column *column = *out =
        snw_pool_array(s->pool, (size_t)info.nlinks + 1, sizeof *column);
    if (!column) return false;
    *n = (int)info.nlinks;
    for (int i = 0; i < *n; i++) {
        const ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC,
                                                  (hsize_t)i, NULL, 0, H5P_DEFAULT);
        char *name = length > 0 ? snw_pool_take(s->pool, (size_t)length + 1) : NULL;
        if (!name || H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, (hsize_t)i,
                                        name, (size_t)length + 1, H5P_DEFAULT) < 0)
            return false;
        column[i].name = name;
    }
    return true;
}

static bool read_group(const sweep_source *s, const char *name, int64_t rows, int *n,
                       const snw_sweep_column **out, const double **values) {
    const hid_t group = H5Gopen2(s->h5, name, H5P_DEFAULT);
    snw_sweep_column *column = NULL;
    bool good = group >= 0 && read_members(s, group, n, &column);
    double *value =
        good ? snw_pool_array(s->pool, (size_t)rows * (size_t)*n + 1, sizeof *value) : NULL;
    good = good && value;
    for (int i = 0; good && i < *n; i++) {
        good = read_column(group, column[i].name, H5T_NATIVE_DOUBLE, rows,
                           value + (size_t)i * (size_t)rows);
        const hid_t set = good ? H5Dopen2(group, column[i].name, H5P_DEFAULT) : H5I_INVALID_HID;
        const char **label = NULL;
        good = set >= 0 && read_text_attribute(s->pool, set, "unit", &column[i].unit) &&
               read_text_attribute(s->pool, set, "about", &column[i].about);
        if (good && H5Aexists(set, "labels") > 0) {
            good = read_text_attributes(s->pool, set, "labels", &column[i].nlabel, &label);
            column[i].label = label;
        }
        if (set >= 0) (void)H5Dclose(set);
    }
    if (group >= 0) (void)H5Gclose(group);
    *out = column;
    *values = value;
    return good;
}

static bool read_head(const sweep_source *s, snw_sweep_head *d) {
    const char *format = NULL, **text = NULL;
    int n = 0;
    if (!read_text_attribute(s->pool, s->h5, "format", &format) || strcmp(format, FORMAT) != 0)
        return false;
    bool good = read_text_attribute(s->pool, s->h5, "title", &d->title) &&
                read_text_attribute(s->pool, s->h5, "method", &d->method) &&
                read_attribute(s->h5, "seed", H5T_NATIVE_UINT64, &d->seed) &&
                read_attribute(s->h5, "identity", H5T_NATIVE_UINT64, &d->identity) &&
                read_attribute(s->h5, "rows", H5T_NATIVE_INT64, &d->rows) &&
                read_attribute(s->h5, "count", H5T_NATIVE_INT64, &d->count) &&
                read_attribute(s->h5, "levels", H5T_NATIVE_INT, &d->levels) && d->rows > 0 &&
                (hsize_t)d->rows <= MOST_ROWS;
    good = good && read_texts(s->pool, s->h5, "plan", &n, &text) && n == 1;
    if (good) d->plan = text[0];
    good = good && read_texts(s->pool, s->h5, "model", &n, &text) && n == 1;
    if (good) d->model = text[0];
    if (good && H5Lexists(s->h5, "series", H5P_DEFAULT) > 0) {
        good = read_texts(s->pool, s->h5, "series/column", &d->nseries, &text);
        d->series = text;
    }
    return good;
}

static bool read_messages(const sweep_source *s, snw_sweep_table *t) {
    const char **text = NULL;
    if (!read_texts(s->pool, s->h5, "message/text", &t->nmessage, &text)) return false;
    int64_t *row = snw_pool_array(s->pool, (size_t)t->nmessage + 1, sizeof *row);
    if (!row || !read_column(s->h5, "message/row", H5T_NATIVE_INT64, t->nmessage, row))
        return false;
    t->message_row = row;
    t->message = text;
    return true;
}

// The engines of the rows, which older files do not have.
static bool read_engines(const sweep_source *s, snw_sweep_table *t) {
    const char **name = NULL;
    int8_t *engine = snw_pool_array(s->pool, (size_t)t->head.rows, sizeof *engine);
    if (!engine || !read_texts(s->pool, s->h5, "engine_name", &t->engines.n, &name) ||
        !read_column(s->h5, "engine", H5T_NATIVE_INT8, t->head.rows, engine))
        return false;
    for (int64_t i = 0; i < t->head.rows; i++) {
        if (engine[i] < 0 || engine[i] >= t->engines.n) return false;
    }
    t->engines.name = name;
    t->engine = engine;
    return true;
}

static bool read_table(const sweep_source *s, snw_sweep_table *t) {
    snw_sweep_head *d = &t->head;
    const char **name = NULL;
    if (!read_head(s, d) || !read_texts(s->pool, s->h5, "state_name", &t->states.n, &name))
        return false;
    t->states.name = name;
    const size_t n = (size_t)d->rows;
    int8_t *state = snw_pool_array(s->pool, n, sizeof *state);
    double *seconds = snw_pool_array(s->pool, n, sizeof *seconds);
    if (!state || !seconds || !read_column(s->h5, "state", H5T_NATIVE_INT8, d->rows, state) ||
        !read_column(s->h5, "seconds", H5T_NATIVE_DOUBLE, d->rows, seconds))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (state[i] < 0 || state[i] >= t->states.n) return false;
    }
    t->state = state;
    t->seconds = seconds;
    if (H5Lexists(s->h5, "engine", H5P_DEFAULT) > 0 && !read_engines(s, t)) return false;
    return read_group(s, "parameters", d->rows, &d->nparameter, &d->parameter, &t->parameter) &&
           read_group(s, "results", d->rows, &d->nresult, &d->result, &t->result) &&
           read_messages(s, t);
}

static snw_status open_source(const char *path, snw_pool *pool, sweep_source *out, snw_error *err) {
    snw_file_silence_hdf5();
    *out = (sweep_source){.file = {.path = path}, .h5 = H5I_INVALID_HID, .pool = pool};
    out->file.fd = open(path, O_RDONLY | O_NONBLOCK);
    if (out->file.fd < 0) return snw_file_fail_errno(path, "cannot open", errno, err);
    const hid_t fapl = snw_file_access(&out->file);
    out->h5 = fapl < 0 ? fapl : H5Fopen(path, H5F_ACC_RDONLY, fapl);
    if (fapl >= 0) (void)H5Pclose(fapl);
    if (out->h5 >= 0) return SNW_OK;
    close_source(out);
    return snw_fail(err, SNW_E_PARSE, "'%.200s' is no HDF5 file, or damaged", path);
}

bool snw_sweep_is_file(const char *path) {
    snw_pool *pool = snw_pool_create((size_t)1 << 20);
    sweep_source s;
    if (!pool || open_source(path, pool, &s, NULL) != SNW_OK) {
        snw_pool_destroy(pool);
        return false;
    }
    const char *format = NULL;
    const bool sweep =
        read_text_attribute(pool, s.h5, "format", &format) && strcmp(format, FORMAT) == 0;
    close_source(&s);
    snw_pool_destroy(pool);
    return sweep;
}

snw_status snw_sweep_table_read(const char *path, snw_pool *pool, snw_sweep_table *out,
                                snw_error *err) {
    sweep_source s;
    *out = (snw_sweep_table){0};
    SNW_TRY(open_source(path, pool, &s, err));
    const bool good = read_table(&s, out);
    close_source(&s);
    if (good) return SNW_OK;
    return snw_fail(err, SNW_E_PARSE, "'%.200s' is not the file of a sweep, or damaged", path);
}

snw_status snw_sweep_identity_read(const char *path, uint64_t *identity, int64_t *waiting,
                                   int64_t *rows, snw_error *err) {
    snw_pool *pool = snw_pool_create((size_t)4 << 30);
    if (!pool) return snw_fail_memory(err);
    sweep_source s;
    snw_status status = open_source(path, pool, &s, err);
    if (status == SNW_OK) {
        snw_sweep_head d = {0};
        int8_t *state = NULL;
        bool good = read_head(&s, &d);
        if (good) state = snw_pool_array(pool, (size_t)d.rows, sizeof *state);
        good = good && state && read_column(s.h5, "state", H5T_NATIVE_INT8, d.rows, state);
        close_source(&s);
        *waiting = 0;
        for (int64_t i = 0; good && i < d.rows; i++) *waiting += state[i] == 0;
        *rows = d.rows;
        *identity = d.identity;
        if (!good) status = snw_fail(err, SNW_E_PARSE, "'%.200s' is not the file of a sweep", path);
    }
    snw_pool_destroy(pool);
    return status;
}
