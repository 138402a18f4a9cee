// SPDX-License-Identifier: MIT
//
// Rows of a shard, and the loop of a worker.
#include "sweep/queue.h"

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
    snw_status s = SNW_OK;
    int64_t row;
    while (s == SNW_OK && queue->take(queue->user, &row)) {
        snw_sweep_row out;
        s = snw_sweep_row_compute(c, row, queue->stop, queue->user, &out, err);
        if (s == SNW_OK) s = snw_sweep_part_add(part, &out, err);
        if (s == SNW_OK) queue->store(queue->user, &out);
    }
    snw_sweep_part_close(part);
    return s;
}
