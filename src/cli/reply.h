// SPDX-License-Identifier: MIT
//
// reply.h: how a command answers: results on standard output, messages on standard error, a status.
#pragma once

#include "cli/progress.h"
#include "output/json_field.h"
#include "sinew/status.h"

// Exit status of every command.
enum {
    SNW_EXIT_DONE = 0,
    SNW_EXIT_FAILED = 1, // could not be computed, or an expectation missed
    SNW_EXIT_USAGE = 2   // wrong usage or bad input
};

enum { SNW_REPLY_WARNINGS = 64 }; // that are remembered

typedef struct snw_reply {
    snw_json *json;   // where results go with --json, inside an open object; NULL: text is wanted
    snw_meter *meter; // progress on the terminal, out of the way of messages; NULL: none
    snw_error error;  // the first failure said, SNW_OK when there is none
    bool unwritten;   // standard output could not take it
    int nwarning;
    unsigned long long warning[SNW_REPLY_WARNINGS]; // hashes of what was said
} snw_reply;

// Say on standard error what went wrong, `file:line:column: text`, and keep the first for --json.
void snw_reply_fail(snw_reply *r, const snw_error *err);

// Say something worth knowing that is no failure, `file: warning: text`; once, however many runs
// have cause to say it.
void snw_reply_warn(snw_reply *r, const char *file, const char *text);
// The same of what is right but may surprise, `file: note: text`.
void snw_reply_note(snw_reply *r, const char *file, const char *text);

// As an object with status, file, line, column and text.
void snw_reply_json_error(snw_json *j, const char *key, const snw_error *err);

// Exit status for a failure met while the input was read and checked.
int snw_reply_exit_input(snw_status s);

// Exit status for a failure met afterwards: what cannot be written is no fault of the input.
int snw_reply_exit_work(snw_status s);

// Hand over what was printed so far. False when it could not be written (full disk, closed pipe),
// which is said once; there is no point in going on then.
bool snw_reply_flush(snw_reply *r);

// Say that standard output could not take what was printed.
void snw_reply_unwritten(snw_reply *r, const snw_error *err);
