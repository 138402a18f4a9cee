// SPDX-License-Identifier: MIT
//
// part.h: files in which workers store their rows as they are done, in a folder beside the result
// file: each has one writer, a row is one write, and a row that was cut off by a kill is recognised
// by its checksum. Rows of all parts are put together when the result file is written.
#pragma once

#include "sweep/row.h"

// Division of the rows: this process does rows with row % n == i - 1.
typedef struct snw_sweep_shard {
    int i, n; // 1 of 1: all
} snw_sweep_shard;

// Properties that all parts of one sweep share.
typedef struct snw_sweep_parts {
    char folder[1024];
    uint64_t identity; // of plan and model
    int64_t rows;
    int nresult, nseries; // numbers of a row; columns of its series
} snw_sweep_parts;

// Bytes of a row in a part, without series and message.
double snw_sweep_part_row_size(const snw_sweep_parts *p);

// ---- the folder ---------------------------------------------------------------------------------

// Create the folder, unless it is there.
SNW_NODISCARD snw_status snw_sweep_parts_create(const snw_sweep_parts *p, snw_error *err);
// Does it hold parts? SNW_E_ARGUMENT when they belong to another plan or model.
SNW_NODISCARD snw_status snw_sweep_parts_present(const snw_sweep_parts *p, bool *any,
                                                 snw_error *err);
// Remove all parts and the folder; files of others are left.
void snw_sweep_parts_remove(const snw_sweep_parts *p);

// Lock a shard for this process, until it ends; *fd holds the lock. SNW_E_ARGUMENT: another process
// computes it, or a shard of another division.
SNW_NODISCARD snw_status snw_sweep_parts_lock(const snw_sweep_parts *p, snw_sweep_shard shard,
                                              int *fd, snw_error *err);
// Note in the lock that its shard has begun: a shard that is refused leaves a lock too.
void snw_sweep_parts_begin(int fd);
// A shard of another division that has begun, now or before; n is 0 where there is none.
snw_sweep_shard snw_sweep_parts_other(const snw_sweep_parts *p, snw_sweep_shard own);

// Fail when the file system of `path` has less room than `rows` rows of `each` bytes need. Where
// its room is not known, this succeeds.
SNW_NODISCARD snw_status snw_sweep_check_room(const char *path, int64_t rows, double each,
                                              snw_error *err);

// ---- writing ------------------------------------------------------------------------------------

typedef struct snw_sweep_part snw_sweep_part;

// A new part, for the only writer.
SNW_NODISCARD snw_status snw_sweep_part_create(const snw_sweep_parts *p, snw_sweep_part **out,
                                               snw_error *err);
// Add a row. SNW_E_IO: it could not be written (disk full); the rows before it are kept.
SNW_NODISCARD snw_status snw_sweep_part_add(snw_sweep_part *part, const snw_sweep_row *row,
                                            snw_error *err);
void snw_sweep_part_close(snw_sweep_part *part); // NULL is fine; one without rows is removed

// ---- reading ------------------------------------------------------------------------------------

// Visit all complete rows, part by part, in the order written; the row is valid during the call.
// Rows that were cut off are passed over. Another result than SNW_OK ends with it.
typedef snw_status snw_sweep_visit(void *user, const snw_sweep_row *row, snw_error *err);
SNW_NODISCARD snw_status snw_sweep_parts_visit(const snw_sweep_parts *p, snw_sweep_visit *visit,
                                               void *user, snw_error *err);
