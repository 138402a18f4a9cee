// SPDX-License-Identifier: MIT
//
// reply.h: output of a command: results on standard output, messages on standard error, and the
// exit status.
#pragma once

#include "cli/progress.h"
#include "output/json_field.h"
#include "sinew/status.h"

// Exit status of every command.
enum {
    SNW_EXIT_DONE = 0,
    SNW_EXIT_FAILED = 1, // computation failed, or an expected value was missed
    SNW_EXIT_USAGE = 2   // wrong usage or bad input
};

enum { SNW_REPLY_WARNINGS = 64 }; // stored, so that each is printed once

typedef struct snw_reply {
    snw_json *json;   // --json: open object for the results; NULL: text
    snw_meter *meter; // progress line, erased before messages; NULL: none
    snw_error error;  // the first failure reported, SNW_OK when there is none
    bool unwritten;   // a write to standard output failed
    int nwarning;
    unsigned long long warning[SNW_REPLY_WARNINGS]; // hashes of the warnings printed
} snw_reply;

// Print an error on standard error, `file:line:column: text`; the first one is stored for --json.
void snw_reply_fail(snw_reply *r, const snw_error *err);

// Print a warning, `file: warning: text`, once even if several runs issue it.
void snw_reply_warn(snw_reply *r, const char *file, const char *text);
// The same for a note, `file: note: text`, about correct but unexpected behaviour.
void snw_reply_note(snw_reply *r, const char *file, const char *text);

// Write an error as an object with status, file, line, column and text; null for SNW_OK.
void snw_reply_json_error(snw_json *j, const char *key, const snw_error *err);

// Exit status of a failure while the input is read and checked.
int snw_reply_exit_input(snw_status s);

// Exit status of a later failure: a failed write is not an error of the input.
int snw_reply_exit_work(snw_status s);

// Flush standard output. False when it could not be written (full disk, closed pipe), which is
// reported once; the command should end then.
bool snw_reply_flush(snw_reply *r);

// Report that standard output could not be written.
void snw_reply_unwritten(snw_reply *r, const snw_error *err);
