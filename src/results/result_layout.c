// SPDX-License-Identifier: MIT
//
// Layout of a result file: creation of groups, attributes and datasets for the writer.
#include "results/result_layout.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "results/result_linear.h"
#include "sinew/version.h"
#include "study/series.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    TEXT_LIMIT = 4096,         // bytes of an attribute's text
    COMPACT_LIMIT = 16 * 1024, // smaller tables are stored in their object header
    CHUNK_BYTES = 4096,        // of a growing dataset, at least CHUNK_FRAMES frames,
    CHUNK_FRAMES = 8,
    CHUNK_LARGE = 64 * 1024 // unless these exceed CHUNK_LARGE
};

// ---- names and shapes --------------------------------------------------------------------------

char *snw_layout_group_name(const char *run) {
    static const char hex[] = "0123456789ABCDEF";
    char *name = snw_alloc(3 * strlen(run) + 2);
    if (!name) return NULL;
    char *to = name;
    if (!*run) *to++ = '%';
    for (const char *c = run; *c; c++) {
        const bool only_dot = *c == '.' && strcmp(run, ".") == 0;
        if (*c == '/' || *c == '%' || only_dot) {
            *to++ = '%';
            *to++ = hex[(unsigned char)*c >> 4];
            *to++ = hex[(unsigned char)*c & 15];
        } else {
            *to++ = *c;
        }
    }
    *to = '\0';
    return name;
}

bool snw_layout_has(const snw_run_info *info, snw_result_field field) {
    return field < SNW_RESULT_LOAD || snw_result_width(info, field) > 0;
}

snw_layout_shape snw_layout_field(const snw_run_info *info, snw_result_field field) {
    const size_t width = snw_result_width(info, field);
    snw_layout_shape shape = {2, {1, width, 1}, width};
    if (field == SNW_RESULT_T || field == SNW_RESULT_STAGE) shape.rank = 1;
    if (field == SNW_RESULT_POSE) {
        shape.rank = 3;
        shape.dims[1] = (hsize_t)info->nnode;
        shape.dims[2] = SNW_RESULT_POSE_WIDTH;
    }
    return shape;
}

// ---- fixed contents ----------------------------------------------------------------------------

hid_t snw_layout_text_type(size_t size) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0) return type;
    if (H5Tset_size(type, size) >= 0 && H5Tset_strpad(type, H5T_STR_NULLTERM) >= 0 &&
        H5Tset_cset(type, H5T_CSET_UTF8) >= 0) {
        return type;
    }
    (void)H5Tclose(type);
    return H5I_INVALID_HID;
}

bool snw_layout_attribute(hid_t where, const char *name, hid_t type, hsize_t n, const void *data) {
    const hid_t space = n ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(where, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = attribute >= 0 && H5Awrite(attribute, type, data) >= 0;
    if (attribute >= 0) (void)H5Aclose(attribute);
    if (space >= 0) (void)H5Sclose(space);
    return good;
}

bool snw_layout_text_attribute(hid_t where, const char *name, const char *text) {
    char copy[TEXT_LIMIT + 1];
    (void)snprintf(copy, sizeof copy, "%s", text);
    if (strlen(text) > TEXT_LIMIT) {
        // do not cut within a character
        size_t end = TEXT_LIMIT;
        while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) end--;
        copy[end] = '\0';
    }
    const hid_t type = snw_layout_text_type(strlen(copy) + 1);
    const bool good = type >= 0 && snw_layout_attribute(where, name, type, 0, copy);
    if (type >= 0) (void)H5Tclose(type);
    return good;
}

bool snw_layout_table(hid_t where, const char *name, hid_t file_type, hid_t memory_type, long n,
                      const void *data) {
    const hsize_t dims = n < 0 ? 1 : (hsize_t)n;
    const size_t bytes = H5Tget_size(file_type) * (size_t)dims;
    const hid_t space = n < 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &dims, NULL);
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    if (bytes > 0 && bytes <= COMPACT_LIMIT) (void)H5Pset_layout(plist, H5D_COMPACT);
    const hid_t set = H5Dcreate2(where, name, file_type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    const bool good = set >= 0 && (n == 0 || H5Dwrite(set, memory_type, H5S_ALL, H5S_ALL,
                                                      H5P_DEFAULT, data) >= 0);
    if (set >= 0) (void)H5Dclose(set);
    if (plist >= 0) (void)H5Pclose(plist);
    if (space >= 0) (void)H5Sclose(space);
    return good;
}

bool snw_layout_texts(hid_t where, const char *name, int n, const char *const *text) {
    size_t size = 1;
    for (int i = 0; i < n; i++) {
        if (strlen(text[i]) >= size) size = strlen(text[i]) + 1;
    }
    char *packed = snw_alloc((size_t)n * size);
    const hid_t type = snw_layout_text_type(size);
    bool good = packed && type >= 0;
    if (good) {
        for (int i = 0; i < n; i++) memcpy(packed + (size_t)i * size, text[i], strlen(text[i]));
        good = snw_layout_table(where, name, type, type, n, packed);
    }
    if (type >= 0) (void)H5Tclose(type);
    snw_free(packed);
    return good;
}

// Add the columns: full names, and the parts of these.
static bool result_layout_add_columns(hid_t group, const snw_run_info *info) {
    const int n = info->ncolumn;
    enum { NAME_SIZE = 512 };
    const char **text = snw_alloc((size_t)n * sizeof *text);
    char *names = snw_alloc((size_t)n * NAME_SIZE);
    int *station = snw_alloc((size_t)n * sizeof *station);
    bool good = text && names && station;
    if (good) {
        for (int i = 0; i < n; i++) {
            text[i] = names + (size_t)i * NAME_SIZE;
            snw_column_name(&info->column[i], names + (size_t)i * NAME_SIZE, NAME_SIZE);
            station[i] = info->column[i].station;
        }
        good = snw_layout_texts(group, "column", n, text);
        for (int i = 0; i < n; i++) text[i] = info->column[i].probe;
        good = good && snw_layout_texts(group, "column_probe", n, text);
        for (int i = 0; i < n; i++) text[i] = info->column[i].component;
        good = good && snw_layout_texts(group, "column_component", n, text) &&
               snw_layout_table(group, "column_station", H5T_STD_I32LE, H5T_NATIVE_INT, n, station);
    }
    snw_free(text);
    snw_free(names);
    snw_free(station);
    return good;
}

// Add the values of the model file that the run overrides.
static bool add_overrides(hid_t group, const snw_run_info *info) {
    const int n = info->noverride;
    if (n == 0) return true;
    const char **text = snw_alloc((size_t)n * sizeof *text);
    double *value = snw_alloc((size_t)n * sizeof *value);
    bool good = text && value;
    if (good) {
        for (int i = 0; i < n; i++) text[i] = info->override[i].path;
        good = snw_layout_texts(group, SNW_LAYOUT_OVERRIDE, n, text);
        for (int i = 0; i < n; i++) text[i] = info->override[i].text;
        good = good && snw_layout_texts(group, SNW_LAYOUT_OVERRIDE "_text", n, text);
        for (int i = 0; i < n; i++) text[i] = info->override[i].unit;
        good = good && snw_layout_texts(group, SNW_LAYOUT_OVERRIDE "_unit", n, text);
        for (int i = 0; i < n; i++) value[i] = info->override[i].value;
        good = good && snw_layout_table(group, SNW_LAYOUT_OVERRIDE "_value", H5T_IEEE_F64LE,
                                        H5T_NATIVE_DOUBLE, n, value);
    }
    snw_free(text);
    snw_free(value);
    return good;
}

// Add the constants by which folds are differentiated, and the steps of these folds.
static bool add_fold_columns(hid_t group, const snw_run_info *info) {
    const int n = info->nfold;
    if (n == 0) return true;
    const char **by = snw_alloc((size_t)n * sizeof *by);
    int *step = snw_alloc((size_t)n * sizeof *step);
    bool good = by && step;
    for (int i = 0; good && i < n; i++) {
        by[i] = info->fold[i].by;
        step[i] = info->fold[i].stage;
    }
    good = good && snw_layout_texts(group, SNW_LAYOUT_FOLD_BY, n, by) &&
           snw_layout_table(group, SNW_LAYOUT_FOLD_STEP, H5T_STD_I32LE, H5T_NATIVE_INT, n, step);
    snw_free(by);
    snw_free(step);
    return good;
}

// ---- growing contents --------------------------------------------------------------------------

static hsize_t chunk_frames(size_t frame_bytes) {
    if (frame_bytes == 0) return CHUNK_BYTES;
    hsize_t n = CHUNK_BYTES / frame_bytes;
    if (n < CHUNK_FRAMES) n = CHUNK_FRAMES;
    if (n * frame_bytes > CHUNK_LARGE) n = CHUNK_LARGE / frame_bytes;
    return n > 0 ? n : 1;
}

static hid_t field_type(snw_result_field field) {
    return field == SNW_RESULT_STAGE ? H5T_STD_I32LE : H5T_IEEE_F64LE;
}

static bool add_names(hid_t set, int n, const char *const *names) {
    char packed[32][32] = {{0}};
    SNW_ASSERT(n <= 32);
    for (int i = 0; i < n; i++) (void)snprintf(packed[i], sizeof packed[i], "%s", names[i]);
    const hid_t type = snw_layout_text_type(sizeof packed[0]);
    const bool good = type >= 0 && snw_layout_attribute(set, "names", type, (hsize_t)n, packed);
    if (type >= 0) (void)H5Tclose(type);
    return good;
}

// Add an empty dataset that grows along the frames.
static bool result_layout_add_field(hid_t group, const snw_run_info *info, snw_result_field field) {
    const snw_layout_shape shape = snw_layout_field(info, field);
    hsize_t dims[3], most[3], chunk[3];
    for (int i = 0; i < 3; i++) {
        dims[i] = shape.dims[i];
        most[i] = chunk[i] = dims[i] ? dims[i] : 1; // chunk dimensions are at least 1
    }
    dims[0] = 0;
    most[0] = H5S_UNLIMITED;
    chunk[0] = chunk_frames(shape.width * sizeof(double));
    const double no_value = NAN;
    const int no_stage = -1;
    const bool is_stage = field == SNW_RESULT_STAGE;
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(shape.rank, dims, most);
    bool good = plist >= 0 && space >= 0 && H5Pset_chunk(plist, shape.rank, chunk) >= 0 &&
                H5Pset_fill_value(plist, is_stage ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE,
                                  is_stage ? (const void *)&no_stage : &no_value) >= 0;
    hid_t set = H5I_INVALID_HID;
    if (good) {
        set = H5Dcreate2(group, snw_result_field_name(field), field_type(field), space, H5P_DEFAULT,
                         plist, H5P_DEFAULT);
    }
    good = set >= 0;
    if (good && field == SNW_RESULT_ENERGY) {
        good = add_names(set, SNW_ENERGIES, snw_energy_name);
    }
    if (good && field == SNW_RESULT_STATS) {
        good = add_names(set, SNW_STATS, snw_stats_name);
    }
    if (set >= 0) (void)H5Dclose(set);
    if (space >= 0) (void)H5Sclose(space);
    if (plist >= 0) (void)H5Pclose(plist);
    return good;
}

hid_t snw_layout_status_type(void) {
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(snw_layout_status));
    const hid_t state = snw_layout_text_type(sizeof((snw_layout_status *)NULL)->state);
    const hid_t message = snw_layout_text_type(sizeof((snw_layout_status *)NULL)->message);
    const bool good =
        H5Tinsert(type, "state", offsetof(snw_layout_status, state), state) >= 0 &&
        H5Tinsert(type, "message", offsetof(snw_layout_status, message), message) >= 0;
    if (message >= 0) (void)H5Tclose(message);
    if (state >= 0) (void)H5Tclose(state);
    if (good) return type;
    if (type >= 0) (void)H5Tclose(type);
    return H5I_INVALID_HID;
}

// Add the status record, allocated on disk at a fixed address.
static bool add_status(hid_t group, haddr_t *at) {
    snw_layout_status record = {"", ""};
    (void)snprintf(record.state, sizeof record.state, "%s",
                   snw_result_state_name(SNW_RESULT_PENDING));
    const hid_t type = snw_layout_status_type();
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    hid_t set = H5I_INVALID_HID;
    if (H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY) >= 0) {
        set = H5Dcreate2(group, "status", type, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    }
    bool good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &record) >= 0;
    if (good) *at = H5Dget_offset(set);
    good = good && *at != HADDR_UNDEF;
    if (set >= 0) (void)H5Dclose(set);
    if (plist >= 0) (void)H5Pclose(plist);
    if (space >= 0) (void)H5Sclose(space);
    if (type >= 0) (void)H5Tclose(type);
    return good;
}

double snw_layout_checksum(const snw_layout_checkpoint *head, int nsave, const double *save) {
    // FNV-1a over the bits, reduced to the integers that a double represents exactly
    uint64_t hash = 14695981039346656037U;
    for (int i = -2; i < nsave; i++) {
        const double x = i == -2 ? head->sequence : i == -1 ? head->frames : save[i];
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        for (int k = 0; k < 8; k++) hash = (hash ^ (bits >> 8 * k & 0xFF)) * 1099511628211U;
    }
    return (double)(hash >> 12);
}

// Add the empty checkpoint rows, allocated on disk at a fixed address.
static bool add_checkpoints(hid_t group, int nsave, haddr_t *at) {
    const hsize_t dims[2] = {SNW_LAYOUT_SLOTS, (hsize_t)nsave + SNW_LAYOUT_CHECKPOINT_HEAD};
    double *empty = snw_alloc((size_t)(dims[0] * dims[1]) * sizeof *empty);
    const hid_t space = H5Screate_simple(2, dims, NULL);
    const hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    hid_t set = H5I_INVALID_HID;
    if (empty && H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY) >= 0) {
        set = H5Dcreate2(group, SNW_LAYOUT_CHECKPOINT, H5T_IEEE_F64LE, space, H5P_DEFAULT, plist,
                         H5P_DEFAULT);
    }
    bool good =
        set >= 0 && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, empty) >= 0;
    if (good) *at = H5Dget_offset(set);
    good = good && *at != HADDR_UNDEF;
    if (set >= 0) (void)H5Dclose(set);
    if (plist >= 0) (void)H5Pclose(plist);
    if (space >= 0) (void)H5Sclose(space);
    snw_free(empty);
    return good;
}

// ---- root and runs -----------------------------------------------------------------------------

bool snw_layout_create_head(hid_t h5, const char *model_text) {
    char created[32] = "";
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) (void)strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    const int version = SNW_LAYOUT_VERSION;
    const hid_t model = snw_layout_text_type(strlen(model_text) + 1);
    const hid_t plist = H5Pcreate(H5P_GROUP_CREATE);
    bool good =
        snw_layout_text_attribute(h5, "format", SNW_LAYOUT_FORMAT) &&
        snw_layout_attribute(h5, "format_version", H5T_NATIVE_INT, 0, &version) &&
        snw_layout_text_attribute(h5, "sinew_version", SNW_VERSION) &&
        snw_layout_text_attribute(h5, "created", created) && model >= 0 &&
        snw_layout_table(h5, "model", model, model, -1, model_text) &&
        H5Pset_link_creation_order(plist, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0;
    if (good) {
        const hid_t runs = H5Gcreate2(h5, "runs", H5P_DEFAULT, plist, H5P_DEFAULT);
        good = runs >= 0;
        if (good) (void)H5Gclose(runs);
    }
    if (plist >= 0) (void)H5Pclose(plist);
    if (model >= 0) (void)H5Tclose(model);
    return good;
}

bool snw_layout_create_run(hid_t group, const snw_run_info *info, haddr_t *status_at,
                           haddr_t *checkpoint_at) {
    bool good = snw_layout_text_attribute(group, "name", info->run) &&
                snw_layout_text_attribute(group, "title", info->title ? info->title : "") &&
                snw_layout_texts(group, "stage", info->nstage, info->stage) &&
                snw_layout_texts(group, "q_name", info->nq, info->q_name) &&
                snw_layout_texts(group, "node_link", info->nnode, info->node_link) &&
                snw_layout_table(group, "node_x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, info->nnode,
                                 info->node_x) &&
                result_layout_add_columns(group, info) && add_overrides(group, info);
    for (int f = 0; good && f < SNW_RESULT_NFIELD; f++) {
        if (!snw_layout_has(info, (snw_result_field)f)) continue;
        good = result_layout_add_field(group, info, (snw_result_field)f);
    }
    good = good && add_fold_columns(group, info) && snw_layout_create_linear(group, info);
    if (info->scene) {
        const hid_t type = snw_layout_text_type(strlen(info->scene) + 1);
        good = good && type >= 0 &&
               snw_layout_table(group, SNW_LAYOUT_SCENE, type, type, -1, info->scene);
        if (type >= 0) (void)H5Tclose(type);
    }
    if (info->nsave > 0) good = good && add_checkpoints(group, info->nsave, checkpoint_at);
    return good && add_status(group, status_at);
}
