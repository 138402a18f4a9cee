// SPDX-License-Identifier: MIT
//
// sdf.h: reads the elements of an SDF file (Simulation Description Format of Gazebo).
#pragma once

#include "import/import.h"
#include "language/element.h"

// r->pool, r->path are set; the rest is filled. Errors have the file and the line.
SNW_NODISCARD snw_status snw_sdf_read(const snw_element *root, const snw_import_opts *opts,
                                      snw_imported_robot *r, snw_error *err);
