// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include "base/fail.h"
#include "cli/stop.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

snw_status snw_output_refuse(const char *what, const char *input, const char *output,
                             snw_error *err) {
    struct stat a, b;
    if (stat(input, &a) || stat(output, &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino) {
        return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT, "results would overwrite the %s '%s'; give another -o",
                    what, input);
}

snw_status snw_output_refuse_model(const snw_document *model, const char *output, snw_error *err) {
    const char *file;
    for (int i = 0; (file = snw_document_file(model, i)) != NULL; i++) {
        SNW_TRY(snw_output_refuse(i == 0 ? "model" : "model's", file, output, err));
    }
    return SNW_OK;
}

static snw_status fail_errno(const char *path, int reason, snw_error *err) {
    char text[128] = "";
    if (strerror_r(reason, text, sizeof text) != 0) {
        (void)snprintf(text, sizeof text, "error %d", reason);
    }
    (void)snw_fail(err, SNW_E_IO, "cannot be written: %s%s", text,
                   reason == ENOENT ? "; does the folder exist?" : "");
    return snw_fail_place(err, SNW_E_IO, path, 0, 0);
}

snw_status snw_output_open(const char *path, snw_output *out, snw_error *err) {
    *out = (snw_output){.path = path};
    // a name of our own: another process may be writing the same
    const int n = snprintf(out->beside, sizeof out->beside, "%s.part-%ld", path, (long)getpid());
    if (n < 0 || (size_t)n >= sizeof out->beside) {
        return snw_fail(err, SNW_E_ARGUMENT, "the name of the output is too long");
    }
    (void)unlink(out->beside);
    out->file = fopen(out->beside, "wx");
    if (!out->file) return fail_errno(path, errno, err);
    snw_stop_unfinished(out->beside);
    return SNW_OK;
}

snw_status snw_output_close(snw_output *o, bool keep, snw_error *err) {
    errno = 0;
    bool good = !ferror(o->file);
    good = fclose(o->file) == 0 && good;
    int reason = errno ? errno : EIO;
    const bool placed = good && keep && rename(o->beside, o->path) == 0;
    if (good && keep && !placed) reason = errno;
    if (!placed) (void)unlink(o->beside);
    snw_stop_unfinished(NULL);
    if (placed) return SNW_OK;
    return keep ? fail_errno(o->path, reason, err) : SNW_OK;
}
