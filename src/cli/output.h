// SPDX-License-Identifier: MIT
//
// output.h: text files that a command writes: whole or not at all, and never over its own input.
#pragma once

#include "io/document.h"

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
    char beside[1024]; // where it is written until it is complete
} snw_output;

// Write to `file`; what was at `path` stays until snw_output_close, to which `out` must live.
SNW_NODISCARD snw_status snw_output_open(const char *path, snw_output *out, snw_error *err);
// Put it in its place; when not all could be written, or `keep` is false, there is no trace of it.
SNW_NODISCARD snw_status snw_output_close(snw_output *o, bool keep, snw_error *err);
