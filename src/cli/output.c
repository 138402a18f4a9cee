// SPDX-License-Identifier: MIT
//
// Output files, written under a temporary name and renamed when complete.
#include "cli/output.h"

#include "base/fail.h"
#include "cli/stop.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

snw_status snw_output_status(int reason) {
    static const int place[] = {ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, EROFS, ENAMETOOLONG, ELOOP};
    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        if (place[i] == reason) return SNW_E_ARGUMENT;
    }
    return SNW_E_IO;
}

snw_status snw_output_fail(const char *path, int reason, snw_error *err) {
    const snw_status status = snw_output_status(reason);
    char text[128] = "";
    if (strerror_r(reason, text, sizeof text) != 0) {
        (void)snprintf(text, sizeof text, "error %d", reason);
    }
    const bool full = reason == ENOSPC || reason == EDQUOT;
    (void)snw_fail(err, status, "cannot be written: %s%s", text,
                   reason == ENOENT ? "; does the folder exist?"
                   : full           ? "; the disk is full: make room, or write elsewhere by -o"
                                    : "");
    return snw_fail_at_location(err, status, path, 0, 0);
}

snw_status snw_output_open(const char *path, snw_output *out, snw_error *err) {
    *out = (snw_output){.path = path};
    // a unique name, since another process may write the same file
    const int n =
        snprintf(out->temporary, sizeof out->temporary, "%s.part-%ld", path, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof out->temporary) {
        return snw_fail(err, SNW_E_ARGUMENT, "the name of the output is too long");
    }
    (void)unlink(out->temporary);
    snw_stop_unfinished(
        out->temporary); // before the file exists, so that no signal leaves it behind
    out->file = fopen(out->temporary, "wx");
    if (out->file) return SNW_OK;
    const int reason = errno;
    snw_stop_unfinished(NULL);
    return snw_output_fail(path, reason, err);
}

// Stores the reason of the first failure, since later calls change errno.
static bool output_write_file(void *user, const char *bytes, size_t size) {
    snw_output *o = user;
    errno = 0;
    if (fwrite(bytes, 1, size, o->file) == size) return true;
    if (!o->reason) o->reason = errno ? errno : EIO;
    return false;
}

snw_sink snw_output_sink(snw_output *o) {
    return (snw_sink){.user = o, .write = output_write_file};
}

snw_status snw_output_finish(snw_output *o, snw_status status, snw_error *err) {
    const bool failed = ferror(o->file) != 0;
    errno = 0;
    const bool closed = fclose(o->file) == 0;
    if (!o->reason && !closed) o->reason = errno ? errno : EIO;
    if (!o->reason && failed) { // a write without the sink failed: errno is lost
        struct statvfs disk;
        const bool full = statvfs(o->path, &disk) == 0 && disk.f_bavail == 0;
        o->reason = full ? ENOSPC : EIO;
    }
    // the reason of a failed write is more specific than the status of the writer
    return o->reason ? snw_output_fail(o->path, o->reason, err) : status;
}

snw_status snw_output_close(snw_output *o, snw_status status, snw_error *err) {
    status = snw_output_finish(o, status, err);
    if (status == SNW_OK && rename(o->temporary, o->path) != 0) {
        status = snw_output_fail(o->path, errno, err);
    }
    if (status != SNW_OK) (void)unlink(o->temporary);
    snw_stop_unfinished(NULL);
    return status;
}
