// SPDX-License-Identifier: MIT
//
// libFuzzer on the messages of a live simulation, one per line: after any message the simulation
// continues, its replies are complete, and its numbers are finite.
#include "cli/play.h"

#include "output/play_message.h"

#include <glob.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char model[] =
    "sinew: 1\n"
    "parameters: {m: 0.1 kg}\n"
    "materials: {soft: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 50 ms}}\n"
    "robot:\n"
    "  arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 10 mm}}, material: soft, "
    "strain: {bend_y: legendre 2, bend_z: legendre 2}}}\n"
    "  bob: {on: arm.tip, joint: revolute, axis: y, body: {mass: m, com: [0.1 m, 0, 0], inertia: "
    "[1e-4, 1e-4, 1e-4]}}\n"
    "actuators:\n"
    "  cord: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0 N}\n"
    "  hinge: {joint: bob, effort: 0 N*m}\n"
    "probes: {tip: {position: bob}}\n"
    "live: {cord: [0 N, 5 N], hinge: [-1 N*m, 1 N*m], m: [0.05 kg, 1 kg]}\n"
    "study: [static: {}, dynamic: {for: 1 s, step: 10 ms}]\n";

static char folder[] = "/tmp/sinew-libfuzz-XXXXXX";
static snw_play *play;

static void leave(void) { (void)rmdir(folder); }

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    static const snw_run_hooks hooks = {0};
    static snw_play_opts opts = {.path = "m.yaml", .title = "", .run = "main", .output = "out.h5"};
    static snw_live_opts how;
    static snw_document *d;
    static snw_desc *desc;
    static snw_live *live;
    snw_error err = {0};
    // recordings go to a scratch folder
    if (!mkdtemp(folder) || chdir(folder) != 0 || atexit(leave) != 0) abort();
    if (snw_document_parse("m.yaml", model, strlen(model), 0, NULL, &d, &err) != SNW_OK ||
        snw_document_describe(d, 0, &desc, &err) != SNW_OK ||
        snw_live_create(desc, "main", &how, &hooks, &live, &err) != SNW_OK ||
        snw_play_create(d, desc, live, &opts, &play, &err) != SNW_OK) {
        abort();
    }
    return 0;
}

// A text begins as a JSON object and holds no NUL; a frame begins with a finite time.
static void listen(int client) {
    const void *data;
    size_t n;
    bool binary;
    while (snw_play_next(play, client, &data, &n, &binary)) {
        if (n == 0) abort();
        if (!binary && (((const char *)data)[0] != '{' || memchr(data, '\0', n))) abort();
        if (binary) {
            double t;
            memcpy(&t, data, sizeof t);
            if (!isfinite(t)) abort();
        }
    }
}

static void say(int client, const char *text) {
    snw_play_receive(play, client, text, strlen(text));
}

static void remove_recordings(void) {
    glob_t found;
    if (glob("*.h5", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) (void)unlink(found.gl_pathv[i]);
    }
    globfree(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const int before = snw_play_count(play).recordings;
    const int client = snw_play_join(play), watcher = snw_play_join(play);
    if (client < 0 || watcher < 0) abort();
    // it is paused unless a message says otherwise; each message is followed by a step
    say(client, "{\"do\":\"reset\"}");
    say(client, "{\"do\":\"pause\",\"on\":true}");
    int lines = 0;
    for (size_t at = 0; at < size && lines < 30; lines++) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        const size_t n = end ? (size_t)(end - data) - at : size - at;
        // as delivered by a socket: messages that are too long are dropped
        const char *text = (const char *)data + at;
        snw_play_receive(play, client, n > SNW_PLAY_LONGEST ? NULL : text, n);
        if (lines == 2) snw_play_receive(play, watcher, n > SNW_PLAY_LONGEST ? NULL : text, n);
        say(client, "{\"do\":\"step\"}");
        snw_play_tick(play);
        listen(client);
        listen(watcher);
        at += n + 1;
    }
    snw_play_leave(play, watcher);
    say(client, "{\"do\":\"record\",\"on\":false}");
    snw_play_leave(play, client);
    if (snw_play_count(play).recordings != before) remove_recordings();
    return 0;
}
