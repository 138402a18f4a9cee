// SPDX-License-Identifier: MIT
//
// play.h: a live simulation with people around it: its clock, who may turn it, what each of them is
// told, its recordings. It knows nothing of sockets: those hand in what comes and fetch what goes
// out.
#pragma once

#include "language/document.h"
#include "results/result.h"
#include "robot/live.h"

#include <stdint.h>

enum {
    SNW_PLAY_CLIENTS = 16,
    SNW_PLAY_RATE = 60 // pictures a second
};

typedef struct snw_play_opts {
    const char *path;  // of the model, as it was given
    const char *title; // may be empty
    const char *run;
    int run_index;
    int nset; // overrides of the command line, for the text that recordings keep
    const char *const *set;
    const char *output; // of the first recording; NULL: the model's name with .play.h5
} snw_play_opts;

typedef struct snw_play snw_play;

// `live`, the document and what the options point to must outlive it.
SNW_NODISCARD snw_status snw_play_create(const snw_document *d, const snw_desc *desc,
                                         snw_live *live, const snw_play_opts *opts, snw_play **out,
                                         snw_error *err);
// Ends a recording. SNW_E_IO: it could not be written. NULL is fine.
SNW_NODISCARD snw_status snw_play_close(snw_play *p, snw_error *err);

// A client comes, -1: there are too many; and goes. The first one may turn things, the others
// watch; when it goes, the one that has been there longest takes its place.
int snw_play_join(snw_play *p);
void snw_play_leave(snw_play *p, int client);

// A message of a client, NULL: one that was too long or no text. Whatever it is, the simulation
// goes on.
void snw_play_receive(snw_play *p, int client, const char *text, size_t length);

// The next message for a client: JSON, or a frame in binary. False: there is none at present. The
// bytes stay until the next call.
bool snw_play_next(snw_play *p, int client, const void **data, size_t *size, bool *binary);

// To be called at the rate of pictures: goes on to where the clock is, and makes a frame. Where
// steps take longer than they last, the clock waits for them.
void snw_play_tick(snw_play *p);

// Totals, for a closing word.
typedef struct snw_play_totals {
    long frames, steps;
    double stepping; // s
    int recordings;
} snw_play_totals;

snw_play_totals snw_play_count(const snw_play *p);
