// SPDX-License-Identifier: MIT
#include "cli/stop.h"

#include "base/fail.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

// a signal handler can reach nothing but globals
static volatile sig_atomic_t asked;
static const char *volatile unfinished;

static void ask(int signal) {
    (void)signal;
    asked = 1;
}

// the handler is reset by now: what is raised ends the process
static void stop_end(int signal) {
    if (unfinished) (void)unlink(unfinished);
    (void)raise(signal);
}

static void on_request(void (*handler)(int)) {
    struct sigaction once = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    (void)sigemptyset(&once.sa_mask);
    (void)sigaction(SIGINT, &once, NULL);
    (void)sigaction(SIGTERM, &once, NULL);
}

void snw_stop_watch(void) {
    on_request(stop_end);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGXFSZ, &ignore, NULL);
}

void snw_stop_politely(void) {
    if (!asked) on_request(ask);
}

bool snw_stop_asked(void) { return asked != 0; }

snw_status snw_stop_check(snw_error *err) {
    if (!asked) return SNW_OK;
    return snw_fail(err, SNW_E_STOPPED, "stopped while the model was read; nothing was computed");
}

void snw_stop_unfinished(const char *path) { unfinished = path; }
