// SPDX-License-Identifier: MIT
//
// Selection of frames of a long run: important frames first, the others evenly in time.
#include "output/frame_selection.h"

// Priority of a frame: 2 at the ends of stages, 1 for marked and repeated instants, else 0.
static int frame_priority(int n, const double *t, const double *stage, const bool *mark, int i) {
    if (i == 0 || i == n - 1 || stage[i] != stage[i - 1] || stage[i] != stage[i + 1]) return 2;
    return mark[i] || !(t[i] > t[i - 1]) || !(t[i + 1] > t[i]) ? 1 : 0;
}

// Distance of frame i from the one before: by time, or as one frame where the time repeats.
static double frame_stride(const double *t, int i, double per_second, double per_frame) {
    const double dt = t[i] - t[i - 1];
    return dt > 0 ? dt * per_second : per_frame;
}

void snw_select_frames(int n, const double *t, const double *stage, const bool *mark, int most,
                       int *keep, int *kept) {
    *kept = 0;
    if (n <= most) {
        for (int i = 0; i < n; i++) keep[(*kept)++] = i;
        return;
    }
    int nrepeat = 0, least = 3, special[3] = {0};
    double duration = 0;
    for (int i = 1; i < n; i++) {
        if (t[i] > t[i - 1]) {
            duration += t[i] - t[i - 1];
        } else {
            nrepeat++;
        }
    }
    for (int i = 0; i < n; i++) special[frame_priority(n, t, stage, mark, i)]++;
    if (special[2] <= most / 2) least = special[1] + special[2] <= most / 2 ? 1 : 2;
    const int room = most - (least < 3 ? special[2] + (least == 1 ? special[1] : 0) : 2);
    // total progress is 1, divided between time and repeated instants
    const double per_frame = 1.0 / n,
                 per_second = duration > 0 ? (1 - nrepeat * per_frame) / duration : 0;
    double progress = 0, next = 0;
    for (int i = 0; i < n && *kept < most; i++) {
        if (i > 0) progress += frame_stride(t, i, per_second, per_frame);
        const bool due = progress * room >= next && i > 0 && i < n - 1 && *kept < most - 1;
        const bool must = i == 0 || i == n - 1 || frame_priority(n, t, stage, mark, i) >= least;
        if (!due && !must) continue;
        if (due) next = (double)(long)(progress * room) + 1;
        keep[(*kept)++] = i;
    }
    if (keep[*kept - 1] != n - 1) keep[*kept - 1] = n - 1;
}
