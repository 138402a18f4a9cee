// SPDX-License-Identifier: MIT
//
// result_file.h: how HDF5 reaches the disk. A driver of our own stands below it, for three reasons:
// a failed write keeps its errno; HDF5 never sees that failure, because closing a file after one is
// where it crashes or fails again and again; and no file locks are taken, so that readers may come
// and go during a run and on network file systems.
#pragma once

#include "sinew/status.h"

#include <hdf5.h>
#include <stdbool.h>

typedef struct snw_file {
    const char *path; // for messages; not owned
    int fd;           // not owned by HDF5
    bool writing;
    bool live;  // reader: a writer may be at work
    int reason; // errno of the first failure, 0 when there was none; a writer stores nothing after
    bool cut_short; // reader: stored values lie beyond the end of the file
} snw_file;

// A new file access list for HDF5 that works on `f`, which must outlive the HDF5 file; negative
// when there is no memory.
hid_t snw_file_access(snw_file *f);

// Store bytes at a known place, past HDF5.
void snw_file_put(snw_file *f, haddr_t at, size_t size, const void *bytes);

// Fail with SNW_E_IO (a reader whose file is damaged: SNW_E_PARSE): path, `what` was being done,
// and the reason as errno or else HDF5 tells it. To be called before HDF5 is asked anything else.
snw_status snw_file_fail(const snw_file *f, const char *what, snw_error *err);

// The same for a failure outside of HDF5; SNW_E_MEMORY when that is the reason.
snw_status snw_file_fail_errno(const char *path, const char *what, int reason, snw_error *err);

// No error stack is printed for calls of this thread.
void snw_file_hush(void);
