// SPDX-License-Identifier: MIT
//
// page.h: what the viewer's page shows, as elements of HTML: one `script` of JSON that says what
// there is, then one of base64 for each array. Nothing in them can end an element or be taken for
// markup, whatever a result file holds.
//
// Long runs are thinned: frames are kept evenly in time, with the first and last one of each stage,
// instants that come twice and shapes of modes; of what lies between two kept frames the page has
// the smallest and largest value of every probe and energy.
#pragma once

#include "output/json.h"
#include "output/sink.h"
#include "results/result.h"

typedef struct snw_page_opts {
    const char *name; // of the result file, as the page shows it
    size_t bytes;     // of all arrays, before base64; more frames than fit are left out
    int frames;       // kept of a run at most
} snw_page_opts;

snw_page_opts snw_page_defaults(void);

// Fields that the viewer needs to know of any run, recorded or live: how many of what, and the
// names of columns.
void snw_page_run(snw_json *j, const snw_run_info *info);

// What was written of each run.
typedef struct snw_page_info {
    int frames, kept;
} snw_page_info;

// Write the elements of runs `run` (n indices). `info` has room for n.
SNW_NODISCARD snw_status snw_page_write(snw_result *r, int n, const int *run,
                                        const snw_page_opts *opts, snw_sink sink,
                                        snw_page_info *info, snw_error *err);
