// SPDX-License-Identifier: MIT
//
// stop.h: handling of SIGINT (Ctrl-C) and SIGTERM. By default they end the process at once and
// remove the unfinished output file. While results are computed they end the run between two
// increments; a second signal ends the process.
#pragma once

#include "sinew/status.h"

#include <stdbool.h>

// Install the default handlers. A closed pipe and a file that exceeds the user's limit become write
// errors instead of signals.
void snw_stop_install(void);

// From now on the first SIGINT or SIGTERM only sets a flag; the caller polls snw_stop_asked.
void snw_stop_defer(void);
bool snw_stop_asked(void);
// From now on a signal ends the process at once again: for computations that keep nothing.
// SNW_E_STOPPED when there was one before.
SNW_NODISCARD snw_status snw_stop_at_once(snw_error *err);
// The same as a hook of runs (snw_run_hooks).
bool snw_stop_hook(void *user);

// SNW_E_STOPPED when the flag is set; for use between the parts of reading a model, before anything
// is computed.
SNW_NODISCARD snw_status snw_stop_check(snw_error *err);

// Set the path of an incomplete file, which is removed when a signal ends the process; NULL: none.
// The text is not copied.
void snw_stop_unfinished(const char *path);
