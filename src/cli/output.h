// SPDX-License-Identifier: MIT
//
// output.h: text files that a command writes: whole or not at all, and never over its own input.
#pragma once

#include "language/document.h"
#include "output/sink.h"

#include <stdbool.h>
#include <stdio.h>

// SNW_E_ARGUMENT when `output` is the file `input`, which is a `what` ("model", "data").
SNW_NODISCARD snw_status snw_output_refuse(const char *what, const char *input, const char *output,
                                           snw_error *err);

// The same for all files that a model was read from, tables included.
SNW_NODISCARD snw_status snw_output_refuse_model(const snw_document *model, const char *output,
                                                 snw_error *err);

typedef struct snw_output {
    FILE *file;
    const char *path;
    int reason;        // errno of the first write that failed, 0: none did
    char beside[1024]; // where it is written until it is complete
} snw_output;

// Write to `file`; what was at `path` stays until snw_output_close, to which `out` must live.
SNW_NODISCARD snw_status snw_output_open(const char *path, snw_output *out, snw_error *err);
// To `file`, remembering why a write failed.
snw_sink snw_output_sink(snw_output *o);
// Put it in its place; when not all could be written, or `status` of what wrote it is a failure,
// there is no trace of it. A write that failed is told with its reason, whatever `status` says.
SNW_NODISCARD snw_status snw_output_close(snw_output *o, snw_status status, snw_error *err);
// The same without a place to put it: close the file.
SNW_NODISCARD snw_status snw_output_shut(snw_output *o, snw_status status, snw_error *err);
// `path` cannot be written, by errno: SNW_E_ARGUMENT where it is no place for a file, else
// SNW_E_IO.
snw_status snw_output_status(int reason);
snw_status snw_output_fail(const char *path, int reason, snw_error *err);
