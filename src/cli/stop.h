// SPDX-License-Identifier: MIT
//
// stop.h: Ctrl-C and the polite kill end a run between increments; a second one ends the process.
#pragma once

#include <stdbool.h>

// From now on SIGINT and SIGTERM only ask, once; a closed pipe and a file grown beyond the user's limit are
// write errors, not signals.
void snw_stop_watch(void);

bool snw_stop_asked(void);
