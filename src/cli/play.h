// SPDX-License-Identifier: MIT
//
// play.h: live simulation with several clients: real-time clock, control by one client, messages to
// all, recordings. Independent of the transport, which passes received messages in and fetches
// outgoing ones (play_socket.h).
#pragma once

#include "language/document.h"
#include "results/result.h"
#include "robot/live.h"

#include <stdint.h>

enum {
    SNW_PLAY_CLIENTS = 16,
    SNW_PLAY_RATE = 60 // frames per second
};

typedef struct snw_play_opts {
    const char *path;  // of the model, as given
    const char *title; // may be empty
    const char *run;
    int run_index;
    int nset; // overrides of the command line, for the model text of recordings
    const char *const *set;
    const char *output; // path of the first recording; NULL: name of the model with .play.h5
    bool paused;        // it begins paused
} snw_play_opts;

typedef struct snw_play snw_play;

// `live`, the document and all objects that the options point to must outlive it.
SNW_NODISCARD snw_status snw_play_create(const snw_document *d, const snw_desc *desc,
                                         snw_live *live, const snw_play_opts *opts, snw_play **out,
                                         snw_error *err);
// Also ends a recording. SNW_E_IO when that could not be written. NULL is fine.
SNW_NODISCARD snw_status snw_play_close(snw_play *p, snw_error *err);

// Add a client and return its index, -1 when there are too many; remove it. The first client
// controls the simulation, the others observe; when it leaves, the one that joined next takes over.
int snw_play_join(snw_play *p);
void snw_play_leave(snw_play *p, int client);

// Process a message of a client; NULL: a message that was too long or not text. Errors are reported
// to the client and do not stop the simulation.
void snw_play_receive(snw_play *p, int client, const char *text, size_t length);

// The next message for a client: JSON text or a binary frame. False when there is none. The bytes
// are valid until the next call.
bool snw_play_next(snw_play *p, int client, const void **data, size_t *size, bool *binary);

// Advance the simulation to the current clock time and make a frame; to be called SNW_PLAY_RATE
// times a second. If steps take longer than real time, the clock is delayed.
void snw_play_tick(snw_play *p);

// Totals for the summary at the end.
typedef struct snw_play_totals {
    long frames, steps;
    double stepping; // computing time of all steps, s
    int recordings;
} snw_play_totals;

snw_play_totals snw_play_count(const snw_play *p);
