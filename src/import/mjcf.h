// SPDX-License-Identifier: MIT
//
// mjcf.h: reads the elements of an MJCF file (the format of MuJoCo).
#pragma once

#include "import/import.h"
#include "language/element.h"

// r->pool, r->path are set; the rest is filled. Elements <include> of root are replaced by those of
// their files. Errors have the file and the line.
SNW_NODISCARD snw_status snw_mjcf_read(snw_element *root, const snw_import_opts *opts,
                                       snw_imported_robot *r, snw_error *err);
