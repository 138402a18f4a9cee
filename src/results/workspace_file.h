// SPDX-License-Identifier: MIT
//
// workspace_file.h: a map of the workspace as an HDF5 file (docs/results.md).
#pragma once

#include "base/pool.h"
#include "sinew/workspace.h"

#include <stdbool.h>

// *bytes (to be freed by snw_free), *size <- contents of the file. SNW_E_IO: HDF5 failed.
SNW_NODISCARD snw_status snw_workspace_image(const snw_workspace *map, void **bytes, size_t *size,
                                             snw_error *err);

// Is there a map in this file?
bool snw_workspace_is_file(const char *path);
// *out <- the map, in the pool; not to be closed. SNW_E_PARSE: the file is damaged.
SNW_NODISCARD snw_status snw_workspace_read(const char *path, snw_pool *pool, snw_workspace *out,
                                            snw_error *err);
