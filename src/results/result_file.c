// SPDX-License-Identifier: MIT
//
// HDF5 virtual file driver of the result files, and messages for their failures.
#include "results/result_file.h"

#include "base/alloc.h"
#include "base/fail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- messages ----------------------------------------------------------------------------------

enum { PATH_SHOWN = 200 }; // bytes of a path in a message, so that the reason still fits

snw_status snw_file_fail_errno(const char *path, const char *what, int reason, snw_error *err) {
    char text[128] = "";
    if (strerror_r(reason, text, sizeof text) != 0) {
        (void)snprintf(text, sizeof text, "error %d", reason);
    }
    const char *hint = "";
    if (reason == ENOSPC || reason == EDQUOT) hint = "; free some space or write elsewhere";
    if (reason == ENOENT) hint = "; does the folder exist?";
    const size_t length = strlen(path);
    const bool shorten = length > PATH_SHOWN;
    const snw_status status = reason == ENOMEM ? SNW_E_MEMORY : SNW_E_IO;
    return snw_fail(err, status, "results '%s%s': %s: %s%s", shorten ? "..." : "",
                    shorten ? path + length - PATH_SHOWN : path, what, text, hint);
}

// user (160 bytes) <- text of the innermost entry of the error stack
static herr_t first_cause(unsigned n, const H5E_error2_t *e, void *user) {
    if (n == 0 && e->desc) (void)snprintf(user, 160, "%s", e->desc);
    return 0;
}

snw_status snw_file_fail(const snw_file *f, const char *what, snw_error *err) {
    char cause[160] = "";
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_cause, cause);
    if (f->reason) return snw_file_fail_errno(f->path, what, f->reason, err);
    const size_t length = strlen(f->path);
    const bool shorten = length > PATH_SHOWN;
    const char *dots = shorten ? "..." : "";
    const char *path = shorten ? f->path + length - PATH_SHOWN : f->path;
    if (f->cut_short) {
        return snw_fail(err, SNW_E_PARSE, "results '%s%s': %s: the file is truncated", dots, path,
                        what);
    }
    return snw_fail(err, f->writing ? SNW_E_IO : SNW_E_PARSE, "results '%s%s': %s: %s%s", dots,
                    path, what, f->writing ? "" : "damaged or not a result file: ",
                    cause[0] ? cause : "HDF5 gives no reason; memory may be exhausted");
}

void snw_file_silence_hdf5(void) { (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL); }

// ---- bytes -------------------------------------------------------------------------------------

static void file_write(snw_file *f, off_t at, size_t size, const char *bytes) {
    while (size > 0 && !f->reason) {
        const ssize_t n = pwrite(f->fd, bytes, size, at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            f->reason = errno;
        } else if (n == 0) {
            f->reason = ENOSPC;
        } else {
            size -= (size_t)n;
            bytes += n;
            at += n;
        }
    }
}

void snw_file_write_at(snw_file *f, haddr_t at, size_t size, const void *bytes) {
    // overwrites existing bytes, which works on a full disk: an earlier failure does not prevent it
    const int before = f->reason;
    f->reason = 0;
    file_write(f, (off_t)at, size, bytes);
    if (before) f->reason = before;
}

// Returns the bytes read, fewer than `size` at the end of the file; negative on failure.
static ssize_t file_read(snw_file *f, off_t at, size_t size, char *bytes) {
    size_t done = 0;
    while (done < size) {
        const ssize_t n = pread(f->fd, bytes + done, size - done, at + (off_t)done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            f->reason = errno;
            return -1;
        }
        if (n == 0) break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

// ---- the driver --------------------------------------------------------------------------------

typedef struct driver {
    H5FD_t public; // must be first
    snw_file *file;
    haddr_t eoa, eof;
} driver;

enum { PAGE = 4096, RECORD = 1024 };

static const haddr_t address_limit = ((haddr_t)1 << 62) - 1;

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
    (void)name;
    (void)maxaddr;
    snw_file *const *file = H5Pget_driver_info(fapl);
    struct stat s;
    if (!file || fstat((*file)->fd, &s) != 0) return NULL;
    // do not truncate an empty file: ext4 would flush it when it is closed
    const bool truncate = (flags & H5F_ACC_TRUNC) != 0;
    if (truncate && s.st_size > 0 && ftruncate((*file)->fd, 0) != 0) return NULL;
    driver *d = snw_alloc(sizeof *d);
    if (!d) (*file)->reason = ENOMEM;
    if (!d) return NULL;
    d->file = *file;
    d->eof = truncate ? 0 : (haddr_t)s.st_size;
    // the end recorded by an active writer may lie beyond the file's: accept it
    if (flags & H5F_ACC_SWMR_READ) d->eof = address_limit;
    return &d->public;
}

static herr_t driver_close(H5FD_t *base) {
    snw_free(base);
    return 0;
}

// Each opening counts as a different file, so one process may write and read the same results.
static int driver_compare(const H5FD_t *a, const H5FD_t *b) { return (a > b) - (a < b); }

static herr_t driver_query(const H5FD_t *base, unsigned long *flags) {
    (void)base;
    // no aggregation of allocations: driver_alloc must see each one
    *flags = H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_SUPPORTS_SWMR_IO |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

// Linux may end a write at a page boundary when the process is killed. Records that HDF5 rewrites
// in place are small and have a checksum. Kept within one page, a record is either old or new.
static haddr_t driver_alloc(H5FD_t *base, H5FD_mem_t type, hid_t dxpl, hsize_t size) {
    (void)dxpl;
    driver *d = (driver *)base;
    haddr_t at = d->eoa;
    const hsize_t within = type == H5FD_MEM_DRAW ? RECORD : PAGE; // chunks are not rewritten
    if (size <= within && at % PAGE + size > PAGE) at += PAGE - at % PAGE;
    if (size > address_limit - at) return HADDR_UNDEF;
    d->eoa = at + size;
    return at;
}

static haddr_t driver_get_eoa(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    return ((const driver *)base)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *base, H5FD_mem_t type, haddr_t at) {
    (void)type;
    ((driver *)base)->eoa = at;
    return 0;
}

// A reader queries the size each time: the file may have grown since it was opened, and HDF5
// compares the size with the end recorded by the writer.
static haddr_t driver_get_eof(const H5FD_t *base, H5FD_mem_t type) {
    (void)type;
    const driver *d = (const driver *)base;
    struct stat s;
    if (d->file->writing || fstat(d->file->fd, &s) != 0) return d->eof;
    return (haddr_t)s.st_size;
}

static herr_t driver_read(H5FD_t *base, H5FD_mem_t type, hid_t dxpl, haddr_t at, size_t size,
                          void *bytes) {
    (void)dxpl;
    snw_file *f = ((driver *)base)->file;
    if (at > address_limit || size > address_limit - at) return -1;
    const ssize_t n = file_read(f, (off_t)at, size, bytes);
    if (n < 0) return -1;
    if ((size_t)n == size) return 0;
    // HDF5 may read metadata past the end and detects it by the checksum; raw data have none
    memset((char *)bytes + n, 0, size - (size_t)n);
    if (type != H5FD_MEM_DRAW || f->writing) return 0;
    f->cut_short = true;
    return -1;
}

static herr_t driver_write(H5FD_t *base, H5FD_mem_t type, hid_t dxpl, haddr_t at, size_t size,
                           const void *bytes) {
    (void)type;
    (void)dxpl;
    driver *d = (driver *)base;
    if (at > address_limit || size > address_limit - at) return -1;
    file_write(d->file, (off_t)at, size, bytes);
    if (at + size > d->eof) d->eof = at + size;
    return 0;
}

static herr_t driver_truncate(H5FD_t *base, hid_t dxpl, hbool_t closing) {
    (void)dxpl;
    (void)closing;
    driver *d = (driver *)base;
    if (d->eoa == d->eof || !d->file->writing) return 0;
    if (!d->file->reason && ftruncate(d->file->fd, (off_t)d->eoa) != 0) d->file->reason = errno;
    d->eof = d->eoa;
    return 0;
}

static const H5FD_class_t driver_class = {
    .name = "sinew",
    .maxaddr = ((haddr_t)1 << 62) - 1,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(snw_file *),
    .open = driver_open,
    .close = driver_close,
    .cmp = driver_compare,
    .query = driver_query,
    .alloc = driver_alloc,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t snw_file_access(snw_file *f) {
    const hid_t driver_id = H5FDregister(&driver_class);
    const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    // a reader beside a writer retries metadata that is being written; HDF5 doubles its pause from
    // 1 ns: 24 attempts last 17 ms, its default of 100 would never end
    const unsigned attempts = f->live ? 24 : 1;
    const bool good = driver_id >= 0 && fapl >= 0 && H5Pset_driver(fapl, driver_id, &f) >= 0 &&
                      H5Pset_fclose_degree(fapl, H5F_CLOSE_STRONG) >= 0 &&
                      H5Pset_metadata_read_attempts(fapl, attempts) >= 0 &&
                      H5Pset_libver_bounds(fapl, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0;
    // the list keeps its own reference to the driver
    if (driver_id >= 0) (void)H5FDunregister(driver_id);
    if (good) return fapl;
    if (fapl >= 0) (void)H5Pclose(fapl);
    return H5I_INVALID_HID;
}

// HDF5 1.10 gives up the file's reference to the driver before it calls the driver for the last
// time; without another reference it would read freed memory.
herr_t snw_file_close(hid_t h5) {
    const hid_t fapl = H5Fget_access_plist(h5);
    const herr_t closed = H5Fclose(h5);
    if (fapl >= 0) (void)H5Pclose(fapl);
    return closed;
}
