// SPDX-License-Identifier: MIT
//
// page.h: writes runs of result files as HTML elements for the viewer: one `script` element with a
// JSON description, then one with base64 data for each array. The text is escaped so that nothing
// in it can end an element or act as markup, whatever a result file contains.
//
// Long runs are thinned: frames are selected evenly in time, with the first and last one of each
// stage, repeated instants and mode shapes (frame_selection.h). For the frames between two selected
// ones the page has the smallest and largest value of every probe and energy.
#pragma once

#include "output/json.h"
#include "output/measured.h"
#include "output/sink.h"
#include "results/result.h"
#include "results/sweep_file.h"

// The rows of a sweep, for a chart of them.
typedef struct snw_page_sweep {
    const snw_sweep_table *table;
    int n; // rows of the page, all or some
    const int64_t *row;
    const int *run; // of each the run of the page that shows its robot; -1: none
} snw_page_sweep;

typedef struct snw_page_opts {
    size_t bytes;  // limit on all arrays before base64; frames beyond it are omitted
    int frames;    // largest number of frames of a run
    int nmeasured; // files of measurements
    const snw_measured *measured;
    const snw_page_sweep *sweep; // NULL: none
} snw_page_opts;

snw_page_opts snw_page_defaults(void);

// Fields of the description that recorded and live runs share: sizes and names of columns.
void snw_page_run(snw_json *j, const snw_run_info *info);

// A run of a result file. Runs of one file are adjacent.
typedef struct snw_page_source {
    snw_result *file;
    const char *name; // of the file, for display; differs from those of other files
    int run;
} snw_page_source;

// Number of frames of a run, and of those written.
typedef struct snw_page_info {
    int frames, kept;
} snw_page_info;

// Write the elements of n runs. `info` has room for n.
SNW_NODISCARD snw_status snw_page_write(int n, const snw_page_source *source,
                                        const snw_page_opts *opts, snw_sink sink,
                                        snw_page_info *info, snw_error *err);
