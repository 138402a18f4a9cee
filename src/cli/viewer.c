// SPDX-License-Identifier: MIT
//
// The embedded page of the viewer, and the call that opens it in a browser.
#include "cli/viewer.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// position of a mark in the page, NULL when there is none
static const char *find_mark(const char *mark) {
    const char *page = (const char *)snw_viewer_page;
    const size_t length = strlen(mark);
    for (size_t i = 0; i + length <= snw_viewer_size; i++) {
        if (memcmp(page + i, mark, length) == 0) return page + i;
    }
    return NULL;
}

bool snw_viewer_split(snw_viewer_pieces *out) {
    const char *page = (const char *)snw_viewer_page, *end = page + snw_viewer_size;
    const char *policy = find_mark(SNW_VIEWER_POLICY), *data = find_mark(SNW_VIEWER_MARK);
    if (!policy || !data || data < policy) return false;
    out->text[0] = page;
    out->text[1] = policy + strlen(SNW_VIEWER_POLICY);
    out->text[2] = data + strlen(SNW_VIEWER_MARK);
    out->size[0] = (size_t)(policy - page);
    out->size[1] = (size_t)(data - out->text[1]);
    out->size[2] = (size_t)(end - out->text[2]);
    return true;
}

// runs in the child process; the output of the opener is discarded
static void open_address(const char *address) {
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(127);
    (void)execlp("xdg-open", "xdg-open", address, (char *)NULL);
    (void)execlp("open", "open", address, (char *)NULL);
    _exit(127);
}

bool snw_viewer_show(const char *address, bool wait) {
    const pid_t child = fork();
    if (child == 0) {
        // without wait the opener is a grandchild, so that no zombie process remains
        if (!wait && fork() != 0) _exit(0);
        open_address(address);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}
