// SPDX-License-Identifier: MIT
//
// result_layout.h: what lies where in a result file, for its writer and its reader. No data of
// variable length: a file that is read while it grows must not have any.
#pragma once

#include "results/result.h"

#include <hdf5.h>

#define SNW_LAYOUT_FORMAT "sinew results"
enum { SNW_LAYOUT_VERSION = 2 };

// One frame of a field as a piece of its dataset: {1}, {1, width} or {1, nodes, 7}.
typedef struct snw_layout_shape {
    int rank;
    hsize_t dims[3]; // 1 beyond the rank
    size_t width;    // their product
} snw_layout_shape;

// Is there such a dataset? What acts has none where there is nothing, nor in files written before
// it was kept.
bool snw_layout_has(const snw_run_info *info, snw_result_field field);

snw_layout_shape snw_layout_field(const snw_run_info *info, snw_result_field field);

// The one record per run that is rewritten in place.
typedef struct snw_layout_status {
    char state[16], message[512];
} snw_layout_status;

// What the robot looks like, a text; may be absent.
#define SNW_LAYOUT_SCENE "scene"

// Paths of the run's overrides; beside them _text, _unit and _value. Absent when there is none.
#define SNW_LAYOUT_OVERRIDE "override"

// Checkpoints are rewritten in place too: two rows, written by turns, so that a kill within a write
// costs one only. A row is this head, then info.nsave numbers.
#define SNW_LAYOUT_CHECKPOINT "checkpoint"
typedef struct snw_layout_checkpoint {
    double sequence; // 1, 2, ..; the larger one is the later
    double frames;   // the run goes on after that many
    double sum;      // of the rest of the row, see snw_layout_sum
} snw_layout_checkpoint;
enum { SNW_LAYOUT_SLOTS = 2, SNW_LAYOUT_CHECKPOINT_HEAD = 3 };

// A whole number that tells a row from one that was cut off or never written.
double snw_layout_sum(const snw_layout_checkpoint *head, int nsave, const double *save);

// HDF5 type, to be closed by the caller; negative when there is no memory.
hid_t snw_layout_status_type(void);

// Name of a run's group in /runs: '/', '%' and what else HDF5 cannot have as %XX. For snw_free;
// NULL when there is no memory.
char *snw_layout_group_name(const char *run);

// Attributes of the root, the model's text and the empty group /runs; false with HDF5's error stack
// set.
bool snw_layout_create_head(hid_t h5, const char *model_text);

// All that a run has before its first frame; *status_at, *checkpoint_at <- where in the file its
// status record and its checkpoints lie.
bool snw_layout_create_run(hid_t group, const snw_run_info *info, haddr_t *status_at,
                           haddr_t *checkpoint_at);
