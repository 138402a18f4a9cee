// SPDX-License-Identifier: MIT
//
// page_keep.h: which frames of a long run a page keeps. Private to the writer of pages.
#pragma once

#include <stdbool.h>

// keep[0..*kept-1] <- rising indices of at most `most` (2 or more) of n frames, the first and last
// of all among them. With more frames than that: first those before and behind a change of stage,
// instants that come twice and frames with `mark`, as long as they leave half of the room; the
// others evenly in time, or one by one where time stands still. `keep` has room for n.
void snw_page_keep(int n, const double *t, const double *stage, const bool *mark, int most,
                   int *keep, int *kept);
