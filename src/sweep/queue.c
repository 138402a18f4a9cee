// SPDX-License-Identifier: MIT
//
// Rows of a shard, and the loop of a worker.
#include "sweep/queue.h"

#include "base/alloc.h"
#include "base/fail.h"

int64_t snw_sweep_todo_size(const snw_sweep_todo *t) {
    return (t->rows - t->shard.i + t->shard.n) / t->shard.n;
}

int64_t snw_sweep_todo_row(const snw_sweep_todo *t, int64_t k) {
    const int64_t row = t->shard.i - 1 + k * t->shard.n;
    return t->done[row / 8] >> row % 8 & 1 ? -1 : row;
}

snw_status snw_sweep_work(snw_sweep_row_computer *c, const snw_sweep_parts *parts,
                          const snw_sweep_queue *queue, snw_error *err) {
    snw_sweep_part *part = NULL;
    SNW_TRY(snw_sweep_part_create(parts, &part, err));
    const int lanes = snw_sweep_row_lanes(c);
    int64_t *row = snw_alloc((size_t)lanes * sizeof *row);
    snw_sweep_row *out = snw_alloc((size_t)lanes * sizeof *out);
    snw_status s = row && out ? SNW_OK : snw_fail_memory(err);
    for (int n; s == SNW_OK && (n = queue->take(queue->user, lanes, row)) > 0;) {
        s = snw_sweep_rows_compute(c, n, row, queue->stop, queue->user, out, err);
        for (int i = 0; s == SNW_OK && i < n; i++) {
            s = snw_sweep_part_add(part, &out[i], err);
            if (s == SNW_OK) queue->store(queue->user, &out[i]);
        }
    }
    snw_free(row);
    snw_free(out);
    snw_sweep_part_close(part);
    return s;
}
