// SPDX-License-Identifier: MIT
#include "cli/stop.h"

#include <signal.h>
#include <stddef.h>

// a signal handler can reach nothing but a global
static volatile sig_atomic_t asked;

static void ask(int signal) {
    (void)signal;
    asked = 1;
}

void snw_stop_watch(void) {
    struct sigaction once = {.sa_handler = ask, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    (void)sigemptyset(&once.sa_mask);
    (void)sigaction(SIGINT, &once, NULL);
    (void)sigaction(SIGTERM, &once, NULL);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGXFSZ, &ignore, NULL);
}

bool snw_stop_asked(void) { return asked != 0; }
