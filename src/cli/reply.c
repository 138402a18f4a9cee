// SPDX-License-Identifier: MIT
//
// Errors, warnings and notes of a command, and its exit status.
#include "cli/reply.h"

#include "base/fail.h"
#include "language/text.h"

#include <errno.h>
#include <string.h>

void snw_reply_fail(snw_reply *r, const snw_error *err) {
    if (r->error.status == SNW_OK) r->error = *err;
    snw_meter_clear(r->meter);
    snw_error shown = *err; // file names and arguments may contain control characters
    snw_text_clean(shown.file);
    snw_text_clean(shown.text);
    const char *text = shown.text[0] ? shown.text : snw_status_text(err->status);
    if (err->file[0] && err->line > 0) {
        (void)fprintf(stderr, "%s:%d:%d: %s\n", shown.file, err->line, err->column, text);
    } else {
        (void)fprintf(stderr, "%s: %s\n", err->file[0] ? shown.file : "sinew", text);
    }
}

// FNV-1a hash
static unsigned long long reply_hash(unsigned long long h, const char *text) {
    for (; *text; text++) h = (h ^ (unsigned char)*text) * 0x100000001b3ULL;
    return h;
}

static bool is_new_warning(snw_reply *r, const char *file, const char *text) {
    const unsigned long long h = reply_hash(reply_hash(0xcbf29ce484222325ULL, file), text);
    for (int i = 0; i < r->nwarning; i++) {
        if (r->warning[i] == h) return false;
    }
    if (r->nwarning < SNW_REPLY_WARNINGS) r->warning[r->nwarning++] = h;
    return true;
}

static void print_once(snw_reply *r, const char *file, const char *kind, const char *text) {
    if (!is_new_warning(r, file, text)) return;
    snw_meter_clear(r->meter);
    (void)fprintf(stderr, "%s: %s: %s\n", file, kind, text);
}

void snw_reply_warn(snw_reply *r, const char *file, const char *text) {
    print_once(r, file, "warning", text);
}

void snw_reply_note(snw_reply *r, const char *file, const char *text) {
    print_once(r, file, "note", text);
}

void snw_reply_json_error(snw_json *j, const char *key, const snw_error *err) {
    if (err->status == SNW_OK) {
        snw_field_null(j, key);
        return;
    }
    snw_field_object(j, key);
    snw_field_text(j, "status", snw_status_text(err->status));
    snw_field_text(j, "file", err->file[0] ? err->file : NULL);
    if (err->line > 0) {
        snw_field_integer(j, "line", err->line);
        snw_field_integer(j, "column", err->column);
    }
    snw_field_text(j, "text", err->text);
    snw_json_close(j);
}

int snw_reply_exit_input(snw_status s) {
    switch (s) {
    case SNW_OK:
        return SNW_EXIT_DONE;
    case SNW_E_ARGUMENT:
    case SNW_E_IO:
    case SNW_E_PARSE:
    case SNW_E_MODEL:
        return SNW_EXIT_USAGE;
    case SNW_E_MEMORY:
    case SNW_E_SINGULAR:
    case SNW_E_DIVERGED:
    case SNW_E_STOPPED:
        return SNW_EXIT_FAILED;
    }
    return SNW_EXIT_FAILED;
}

int snw_reply_exit_work(snw_status s) {
    return s == SNW_E_IO ? SNW_EXIT_FAILED : snw_reply_exit_input(s);
}

bool snw_reply_flush(snw_reply *r) {
    if (r->unwritten) return false;
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    snw_error err = {0};
    (void)snw_fail(&err, SNW_E_IO, "could not write to standard output: %s",
                   errno ? strerror(errno) : "write error");
    snw_reply_unwritten(r, &err);
    return false;
}

void snw_reply_unwritten(snw_reply *r, const snw_error *err) {
    if (!r->unwritten) snw_reply_fail(r, err);
    r->unwritten = true;
}
