// SPDX-License-Identifier: MIT
//
// Search in the columns of compressed matrices.

#include "math/matrix.h"

#include "base/fail.h"

int snw_column_find(const snw_column_entries *c, int i) {
    int low = 0, high = c->count; // the row is at `low` or behind it, and before `high`
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        *(c->row[middle] <= i ? &low : &high) = middle;
    }
    return low < high && c->row[low] == i ? low : -1;
}

double *snw_column_search(snw_column_entries *c, int i) {
    const int at = snw_column_find(c, i);
    SNW_ASSERT(at >= 0);
    c->at = at + 1;
    return c->entry + at;
}
