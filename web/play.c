// SPDX-License-Identifier: MIT
//
// One live simulation with one client, the page: messages as `sinew play` exchanges them over its
// socket.
#include "cli/play.h"
#include "base/fail.h"
#include "base/pool.h"
#include "cli/reply.h"

#include <emscripten.h>
#include <stdio.h>
#include <string.h>

static struct {
    snw_document *document;
    snw_desc *desc;
    snw_live *live;
    snw_play *play;
    int client;
    snw_reply reply;
    snw_pool *pool; // overrides
    char path[256];
    // the message fetched last
    const void *data;
    size_t size;
    bool binary;
} now;

static void play_warn(void *user, const char *message) {
    (void)user;
    snw_reply_warn(&now.reply, now.path, message);
}

static snw_status find_run(const char *name, int *out, snw_error *err) {
    for (*out = 0; *out < snw_document_runs(now.document); ++*out) {
        if (!*name || strcmp(snw_document_run_name(now.document, *out), name) == 0) return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT, "there is no run '%s'; the first is '%s'", name,
                    snw_document_run_name(now.document, 0));
}

// *out <- copies, which the simulation keeps
static snw_status copy_sets(int nset, const char *const *set, const char *const **out,
                            snw_error *err) {
    now.pool = snw_pool_create((size_t)16 << 20);
    const char **copy = now.pool ? snw_pool_array(now.pool, (size_t)nset, sizeof *copy) : NULL;
    bool good = copy != NULL;
    for (int i = 0; good && i < nset; i++) {
        good = (copy[i] = snw_pool_text(now.pool, set[i], strlen(set[i]))) != NULL;
    }
    *out = copy;
    return good ? SNW_OK : snw_fail_memory(err);
}

static snw_status play_open(const char *run, int nset, const char *const *set, snw_error *err) {
    const snw_run_hooks hooks = {.warn = play_warn};
    const snw_live_opts how = {0};
    snw_play_opts opts = {.path = now.path, .nset = nset};
    SNW_TRY(copy_sets(nset, set, &opts.set, err));
    SNW_TRY(snw_document_read(now.path, nset, opts.set, &now.document, err));
    SNW_TRY(find_run(run, &opts.run_index, err));
    SNW_TRY(snw_document_describe(now.document, opts.run_index, &now.desc, err));
    opts.title = now.desc->title ? now.desc->title : "";
    opts.run = snw_document_run_name(now.document, opts.run_index);
    SNW_TRY(snw_live_create(now.desc, opts.run, &how, &hooks, &now.live, err));
    SNW_TRY(snw_play_create(now.document, now.desc, now.live, &opts, &now.play, err));
    now.client = snw_play_join(now.play);
    return SNW_OK;
}

EMSCRIPTEN_KEEPALIVE void web_play_close(void);
void web_play_close(void) {
    snw_error err = {0};
    (void)snw_play_close(now.play, &err);
    snw_live_destroy(now.live);
    snw_desc_destroy(now.desc);
    snw_document_destroy(now.document);
    snw_pool_destroy(now.pool);
    memset(&now, 0, sizeof now);
}

// Begin a simulation of a run ("": the first) with overrides; an earlier one ends. 0: done; else
// the message is in /tmp/stderr.
EMSCRIPTEN_KEEPALIVE int web_play_open(const char *path, const char *run, int nset,
                                       const char *const *set);
int web_play_open(const char *path, const char *run, int nset, const char *const *set) {
    web_play_close();
    if (!freopen("/tmp/stdout", "w", stdout) || !freopen("/tmp/stderr", "w", stderr)) return 1;
    (void)snprintf(now.path, sizeof now.path, "%s", path);
    snw_error err = {0};
    const snw_status s = play_open(run, nset, set, &err);
    if (s != SNW_OK) {
        if (!err.file[0]) (void)snprintf(err.file, sizeof err.file, "%s", path);
        snw_reply_fail(&now.reply, &err);
        web_play_close();
    }
    (void)fflush(stderr);
    return s == SNW_OK ? 0 : 1;
}

// Advance to the present time of the clock.
EMSCRIPTEN_KEEPALIVE void web_play_tick(void);
void web_play_tick(void) {
    if (now.play) snw_play_tick(now.play);
}

EMSCRIPTEN_KEEPALIVE void web_play_send(const char *text, int length);
void web_play_send(const char *text, int length) {
    if (now.play) snw_play_receive(now.play, now.client, text, (size_t)length);
}

// The next message to the page, NULL when there is none; its size and kind.
EMSCRIPTEN_KEEPALIVE const void *web_play_next(void);
const void *web_play_next(void) {
    const bool there =
        now.play && snw_play_next(now.play, now.client, &now.data, &now.size, &now.binary);
    return there ? now.data : NULL;
}
EMSCRIPTEN_KEEPALIVE int web_play_size(void);
int web_play_size(void) { return (int)now.size; }
EMSCRIPTEN_KEEPALIVE int web_play_binary(void);
int web_play_binary(void) { return now.binary; }
