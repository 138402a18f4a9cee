// SPDX-License-Identifier: MIT
//
// urdf.h: reads the elements of a URDF file (Unified Robot Description Format of ROS).
#pragma once

#include "import/import.h"
#include "language/element.h"

// r->pool, r->path are set; the rest is filled. Errors have the file and the line.
SNW_NODISCARD snw_status snw_urdf_read(const snw_element *root, const snw_import_opts *opts,
                                       snw_imported_robot *r, snw_error *err);
