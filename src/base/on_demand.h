// SPDX-License-Identifier: MIT
//
// on_demand.h: functions of shared libraries that few commands need. They are loaded at first use,
// so that the others start without them.
#pragma once

#include "base/fail.h"

// Load the library `file` (its soname) and put the addresses of the functions `prefix` + names[i]
// into out[i], an array of n function pointers. SNW_E_IO when the library or a function is missing;
// the message names the Debian package.
SNW_NODISCARD snw_status snw_on_demand(const char *file, const char *package, const char *prefix,
                                       int n, const char *const names[], void *out, snw_error *err);
