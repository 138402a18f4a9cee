// SPDX-License-Identifier: MIT
//
// frame_selection.h: selection of frames of a long run for pages and exports.
#pragma once

#include <stdbool.h>

// keep[0..*kept-1] <- increasing indices of at most `most` (2 or more) of n frames, including the
// first and the last. When n > most: first the frames before and after a change of stage, repeated
// instants and frames with `mark`, provided that they fill at most half of the room; then the
// others evenly in time, or by frame number where the time repeats. `keep` has room for n.
void snw_select_frames(int n, const double *t, const double *stage, const bool *mark, int most,
                       int *keep, int *kept);
