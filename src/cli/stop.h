// SPDX-License-Identifier: MIT
//
// stop.h: Ctrl-C and the polite kill. They end a command at once, and what it was writing with it; where results are computed
// they end the run between increments, and a second one the process.
#pragma once

#include <stdbool.h>

// From now on a closed pipe and a file grown beyond the user's limit are write errors, not signals.
void snw_stop_watch(void);

// From now on SIGINT and SIGTERM only ask, once: whoever calls this looks at snw_stop_asked again and again.
void snw_stop_politely(void);
bool snw_stop_asked(void);

// A file that is not complete, removed when a signal ends the process; NULL: there is none. The text stays the caller's.
void snw_stop_unfinished(const char *path);
