// SPDX-License-Identifier: MIT
//
// stop.h: Ctrl-C and the polite kill. They end a command at once, and what it was writing with it;
// where results are computed they end the run between increments, and a second one the process.
#pragma once

#include "sinew/status.h"

#include <stdbool.h>

// From now on a closed pipe and a file grown beyond the user's limit are write errors, not signals.
void snw_stop_watch(void);

// From now on SIGINT and SIGTERM only ask, once: whoever calls this looks at snw_stop_asked again
// and again.
void snw_stop_politely(void);
bool snw_stop_asked(void);

// SNW_E_STOPPED when they have asked, for use between the parts of reading and preparing a model,
// when nothing is computed yet.
SNW_NODISCARD snw_status snw_stop_check(snw_error *err);

// A file that is not complete, removed when a signal ends the process; NULL: there is none. The
// text stays the caller's.
void snw_stop_unfinished(const char *path);
