// SPDX-License-Identifier: MIT
//
// result_file.h: HDF5 virtual file driver of the result files, for three reasons. It keeps the
// errno of a failed write. It hides that failure from HDF5, which may crash or fail repeatedly when
// it closes a file after one. It takes no file locks, so a file can be read during a run and on
// network file systems.
#pragma once

#include "sinew/status.h"

#include <hdf5.h>
#include <stdbool.h>

typedef struct snw_file {
    const char *path; // for messages; not owned
    int fd;           // not owned by HDF5
    bool writing;
    bool live;      // reader: a writer may be active
    int reason;     // errno of the first failure, 0: none; nothing is written after it
    bool cut_short; // reader: stored values lie beyond the end of the file
} snw_file;

// New HDF5 file access list with the driver on `f`, which must outlive the HDF5 file; negative when
// memory is out.
hid_t snw_file_access(snw_file *f);

// H5Fclose of a file with this driver.
herr_t snw_file_close(hid_t h5);

// Write bytes at a known address, bypassing HDF5.
void snw_file_write_at(snw_file *f, haddr_t at, size_t size, const void *bytes);

// Fail with SNW_E_IO (SNW_E_PARSE when a reader's file is damaged). The message has the path, the
// operation `what`, and the reason by errno or by HDF5's error stack. Call it before any other HDF5
// function.
snw_status snw_file_fail(const snw_file *f, const char *what, snw_error *err);

// The same for a failure outside of HDF5; SNW_E_MEMORY when that is the reason.
snw_status snw_file_fail_errno(const char *path, const char *what, int reason, snw_error *err);

// Suppress HDF5's printed error stack for this thread.
void snw_file_silence_hdf5(void);
