// SPDX-License-Identifier: MIT
//
// queue.h: where workers take their rows from, and the loop of a worker.
#pragma once

#include "sweep/part.h"

// Rows still to be done of one shard, each of which is taken once.
typedef struct snw_sweep_todo {
    int64_t rows;
    snw_sweep_shard shard;
    const unsigned char *done; // a bit for each row of the plan: computed before
    int together;              // rows that are best computed at once
} snw_sweep_todo;

// Row `k` of those of the shard, in order; -1: computed before. k is below snw_sweep_todo_size.
int64_t snw_sweep_todo_row(const snw_sweep_todo *t, int64_t k);
int64_t snw_sweep_todo_size(const snw_sweep_todo *t);

typedef struct snw_sweep_queue {
    void *user;
    // row (most) <- the next rows; returns how many, 0: there are no more.
    int (*take)(void *user, int most, int64_t *row);
    void (*store)(void *user, const snw_sweep_row *row); // it has been written
    bool (*stop)(void *user);                            // asked between increments
} snw_sweep_queue;

// Take as many rows as are best computed at once (snw_sweep_row_lanes), compute them and add them
// to a part, until there are no more.
SNW_NODISCARD snw_status snw_sweep_work(snw_sweep_row_computer *c, const snw_sweep_parts *parts,
                                        const snw_sweep_queue *queue, snw_error *err);
