// SPDX-License-Identifier: MIT
//
// libFuzzer on result files: for any bytes, the file is opened and completely read, or refused with
// a message.
#include "results/result.h"

#include "base/alloc.h"

#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FRAMES = 64, WIDEST = 1 << 20 }; // read in one call; size beyond which a frame is skipped

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void keep_promise(snw_status s, const snw_error *err) {
    if (s != SNW_OK && !err->text[0]) abort();
}

static void read_field(snw_result *r, int run, snw_result_field field, int nframe) {
    const size_t width = snw_result_width(snw_result_info(r, run), field);
    if (width == 0 || width > WIDEST || nframe == 0) return;
    double *out = snw_alloc((size_t)nframe * width * sizeof *out);
    snw_error err = {0};
    if (out) keep_promise(snw_result_read(r, run, field, 0, nframe, out, &err), &err);
    snw_free(out);
}

static void read_run(snw_result *r, int run) {
    const snw_run_info *info = snw_result_info(r, run);
    const char *message;
    (void)snw_result_state_of(r, run, &message);
    const int frames = snw_result_frames(r, run), n = frames < FRAMES ? frames : FRAMES;
#define X(code, ...) read_field(r, run, code, n);
    SNW_RESULT_FIELDS(X)
#undef X
    if (info->nsave <= 0 || info->nsave > WIDEST) return;
    double *save = snw_alloc((size_t)info->nsave * sizeof *save);
    snw_error err = {0};
    int belongs;
    if (save) keep_promise(snw_result_checkpoint(r, run, &belongs, save, &err), &err);
    snw_free(save);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char path[64];
    if (!path[0]) (void)snprintf(path, sizeof path, "/tmp/sinew-libfuzz-%ld.h5", (long)getpid());
    FILE *f = fopen(path, "wb");
    if (!f) abort();
    const bool written = fwrite(data, 1, size, f) == size;
    if (fclose(f) != 0 || !written) abort();
    snw_result *r = NULL;
    snw_error err = {0};
    const snw_status s = snw_result_open(path, &r, &err);
    keep_promise(s, &err);
    for (int i = 0; s == SNW_OK && i < snw_result_runs(r) && i < 4; i++) read_run(r, i);
    snw_result_close(r);
    (void)unlink(path);
    static int calls;
    if (++calls % 64 == 0)
        (void)H5garbage_collect(); // memory that the library keeps would be reported as a leak
    return 0;
}
