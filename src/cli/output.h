// SPDX-License-Identifier: MIT
//
// output.h: output files of a command, written completely or not at all.
#pragma once

#include "output/sink.h"
#include "sinew/status.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct snw_output {
    FILE *file;
    const char *path;
    int reason;           // errno of the first failed write, 0: none
    char temporary[1024]; // temporary name until the file is complete
} snw_output;

// Open a temporary file for writing. A file at `path` is kept until snw_output_close. `out` must
// not move until then.
SNW_NODISCARD snw_status snw_output_open(const char *path, snw_output *out, snw_error *err);
// Sink that writes to the file and stores the reason of a failure.
snw_sink snw_output_sink(snw_output *o);
// Close the file and rename it to `path`. It is removed when a write failed or when `status`, that
// of the writer, is a failure. A failed write is reported with its reason in preference to
// `status`.
SNW_NODISCARD snw_status snw_output_close(snw_output *o, snw_status status, snw_error *err);
// Only close the file and report failed writes.
SNW_NODISCARD snw_status snw_output_finish(snw_output *o, snw_status status, snw_error *err);
// Status for an errno: SNW_E_ARGUMENT when the path is unsuitable, else SNW_E_IO; and the message
// that `path` cannot be written.
snw_status snw_output_status(int reason);
snw_status snw_output_fail(const char *path, int reason, snw_error *err);
