// SPDX-License-Identifier: MIT
//
// result_layout.h: layout of a result file, for its writer and its reader. There are no
// variable-length data, which HDF5 does not permit in a file that is read while it grows.
#pragma once

#include "results/result.h"

#include <hdf5.h>

#define SNW_LAYOUT_FORMAT "sinew results"
enum { SNW_LAYOUT_VERSION = 4 };

// Shape of one frame of a field in its dataset: {1}, {1, width} or {1, nodes, 7}.
typedef struct snw_layout_shape {
    int rank;
    hsize_t dims[3]; // 1 beyond the rank
    size_t width;    // their product
} snw_layout_shape;

// Does the dataset exist? Fields of forces are absent when their width is 0, and in files of older
// versions.
bool snw_layout_has(const snw_run_info *info, snw_result_field field);

snw_layout_shape snw_layout_field(const snw_run_info *info, snw_result_field field);

// The one record per run that is rewritten in place.
typedef struct snw_layout_status {
    char state[16], message[512];
} snw_layout_status;

// Scene for drawing, a text (output/scene.h); may be absent.
#define SNW_LAYOUT_SCENE "scene"

// Paths of the run's overrides; beside them _text, _unit and _value. Absent when there is none.
#define SNW_LAYOUT_OVERRIDE "override"

// Constants by which folds are differentiated, and the steps of these folds; beside the field of
// the derivatives. Absent when there is none.
#define SNW_LAYOUT_FOLD_BY   "fold_by"
#define SNW_LAYOUT_FOLD_STEP "fold_step"

// Checkpoints are rewritten in place too: two rows, written alternately, so that a kill during a
// write damages only one. A row is this head, then info.nsave numbers.
#define SNW_LAYOUT_CHECKPOINT "checkpoint"
typedef struct snw_layout_checkpoint {
    double sequence; // 1, 2, ..; the larger one is the later
    double frames;   // number of frames after which the run continues
    double sum;      // checksum of the rest of the row, snw_layout_checksum
} snw_layout_checkpoint;
enum { SNW_LAYOUT_SLOTS = 2, SNW_LAYOUT_CHECKPOINT_HEAD = 3 };

// Checksum, an integer, that distinguishes a complete row from one cut off or never written.
double snw_layout_checksum(const snw_layout_checkpoint *head, int nsave, const double *save);

// HDF5 type of UTF-8 text of fixed size, NUL included; to be closed by the caller.
hid_t snw_layout_text_type(size_t size);

// Add an attribute of n elements; n = 0: a scalar. False when HDF5 fails, as of the next three.
bool snw_layout_attribute(hid_t where, const char *name, hid_t type, hsize_t n, const void *data);
// Add an attribute of text, cut to what an attribute holds.
bool snw_layout_text_attribute(hid_t where, const char *name, const char *text);
// Add a dataset of fixed size: n values of `file_type` (n < 0: a scalar) from `data`.
bool snw_layout_table(hid_t where, const char *name, hid_t file_type, hid_t memory_type, long n,
                      const void *data);
// Add a dataset of n texts, padded with NUL to the longest.
bool snw_layout_texts(hid_t where, const char *name, int n, const char *const *text);

// HDF5 type of snw_layout_status, to be closed by the caller; negative when memory is out.
hid_t snw_layout_status_type(void);

// Name of a run's group in /runs, with '/', '%' and the name "." escaped as %XX and "%" for the
// empty name. Free with snw_free; NULL when memory is out.
char *snw_layout_group_name(const char *run);

// Create the attributes of the root, the model's text and the empty group /runs; false with HDF5's
// error stack set.
bool snw_layout_create_head(hid_t h5, const char *model_text);

// Create the datasets of a run, without frames. *status_at, *checkpoint_at <- addresses of its
// status record and its checkpoints in the file.
bool snw_layout_create_run(hid_t group, const snw_run_info *info, haddr_t *status_at,
                           haddr_t *checkpoint_at);
