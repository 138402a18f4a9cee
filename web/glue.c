// SPDX-License-Identifier: MIT
//
// Functions that engine.ts calls: the command with its output in files, the data of the viewer's
// page, live simulations.
#include "base/alloc.h"
#include "base/fail.h"
#include "output/page.h"
#include "results/result.h"

#include <emscripten.h>
#include <stdio.h>
#include <string.h>

// main of src/cli/main.c, renamed by CMakeLists.txt
int sinew_main(int argc, char **argv);

// Run a command; its output goes to two files. The result is its exit status.
EMSCRIPTEN_KEEPALIVE int web_command(int argc, char **argv);
int web_command(int argc, char **argv) {
    if (!freopen("/tmp/stdout", "w", stdout) || !freopen("/tmp/stderr", "w", stderr)) return 1;
    const int status = sinew_main(argc, argv);
    (void)fflush(stdout);
    (void)fflush(stderr);
    return status;
}

static bool write_stream(void *user, const char *bytes, size_t size) {
    return fwrite(bytes, 1, size, user) == size;
}

// Write the data elements of the viewer's page of all runs with frames to `output`; `name` is shown
// as the name of the file. 0: done.
EMSCRIPTEN_KEEPALIVE int web_page(const char *path, const char *name, const char *output);
int web_page(const char *path, const char *name, const char *output) {
    snw_error err = {0};
    snw_result *r = NULL;
    if (snw_result_open(path, &r, &err) != SNW_OK) return 1;
    const int n = snw_result_runs(r);
    snw_page_source *source = snw_alloc((size_t)n * sizeof *source);
    int frames = 0;
    snw_page_info *info = snw_alloc((size_t)n * sizeof *info);
    FILE *file = fopen(output, "w");
    bool good = source && info && file;
    for (int i = 0; good && i < n; i++) {
        source[i] = (snw_page_source){r, name, i};
        frames += snw_result_frames(r, i);
    }
    if (good && frames > 0) {
        const snw_page_opts opts = snw_page_defaults();
        const snw_sink sink = {file, write_stream};
        good = snw_page_write(n, source, &opts, sink, info, &err) == SNW_OK;
    }
    if (file && fclose(file) != 0) good = false;
    snw_free(source);
    snw_free(info);
    snw_result_close(r);
    return good && frames > 0 ? 0 : 1;
}
