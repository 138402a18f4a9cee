// SPDX-License-Identifier: MIT
//
// Signal handlers of the command.
#include "cli/stop.h"

#include "base/fail.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

// globals, since signal handlers have no other data
static volatile sig_atomic_t asked;
static const char *volatile unfinished;

static void request_stop(int signal) {
    (void)signal;
    asked = 1;
}

// SA_RESETHAND has restored the default action, so raise ends the process
static void end_process(int signal) {
    if (unfinished) (void)unlink(unfinished);
    (void)raise(signal);
}

static void set_handlers(void (*handler)(int)) {
    struct sigaction once = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    (void)sigemptyset(&once.sa_mask);
    (void)sigaction(SIGINT, &once, NULL);
    (void)sigaction(SIGTERM, &once, NULL);
}

void snw_stop_install(void) {
    set_handlers(end_process);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGXFSZ, &ignore, NULL);
}

void snw_stop_defer(void) {
    if (!asked) set_handlers(request_stop);
}

snw_status snw_stop_at_once(snw_error *err) {
    SNW_TRY(snw_stop_check(err));
    set_handlers(end_process);
    return SNW_OK;
}

bool snw_stop_asked(void) { return asked != 0; }

bool snw_stop_hook(void *user) {
    (void)user;
    return snw_stop_asked();
}

snw_status snw_stop_check(snw_error *err) {
    if (!asked) return SNW_OK;
    return snw_fail(err, SNW_E_STOPPED, "stopped while the model was read; nothing was computed");
}

void snw_stop_unfinished(const char *path) { unfinished = path; }
