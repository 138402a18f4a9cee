// SPDX-License-Identifier: MIT
#include "output/page_keep.h"

// frames that say something by themselves: 2 ends of stages, 1 other ones
static int page_keep_weight(int n, const double *t, const double *stage, const bool *mark, int i) {
    if (i == 0 || i == n - 1 || stage[i] != stage[i - 1] || stage[i] != stage[i + 1]) return 2;
    return mark[i] || !(t[i] > t[i - 1]) || !(t[i + 1] > t[i]) ? 1 : 0;
}

// how far frame i is from the one before: by time, or as one frame where time stands still
static double stride(const double *t, int i, double per_second, double per_frame) {
    const double dt = t[i] - t[i - 1];
    return dt > 0 ? dt * per_second : per_frame;
}

void snw_page_keep(int n, const double *t, const double *stage, const bool *mark, int most,
                   int *keep, int *kept) {
    *kept = 0;
    if (n <= most) {
        for (int i = 0; i < n; i++) keep[(*kept)++] = i;
        return;
    }
    int still = 0, least = 3, special[3] = {0};
    double span = 0;
    for (int i = 1; i < n; i++) {
        if (t[i] > t[i - 1]) {
            span += t[i] - t[i - 1];
        } else {
            still++;
        }
    }
    for (int i = 0; i < n; i++) special[page_keep_weight(n, t, stage, mark, i)]++;
    if (special[2] <= most / 2) least = special[1] + special[2] <= most / 2 ? 1 : 2;
    const int room = most - (least < 3 ? special[2] + (least == 1 ? special[1] : 0) : 2);
    // the whole way is 1: time its share, frames at the same time theirs
    const double per_frame = 1.0 / n, per_second = span > 0 ? (1 - still * per_frame) / span : 0;
    double way = 0, next = 0;
    for (int i = 0; i < n && *kept < most; i++) {
        if (i > 0) way += stride(t, i, per_second, per_frame);
        const bool due = way * room >= next && i > 0 && i < n - 1 && *kept < most - 1;
        const bool must = i == 0 || i == n - 1 || page_keep_weight(n, t, stage, mark, i) >= least;
        if (!due && !must) continue;
        if (due) next = (double)(long)(way * room) + 1;
        keep[(*kept)++] = i;
    }
    if (keep[*kept - 1] != n - 1) keep[*kept - 1] = n - 1;
}
