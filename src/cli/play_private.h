// SPDX-License-Identifier: MIT
//
// play_private.h: state of a live simulation, shared by the files play*.c.
#pragma once

#include "cli/play.h"

typedef struct snw_play_client {
    bool connected, greeted; // greeted: the greeting was sent
    long arrival;            // serial number of its connection
    long state, frame;       // serial numbers of the last state and frame sent
    char note[300];          // pending note
    double watch;            // samples a second instead of frames; 0: frames
    double next;             // simulated time of its next sample, s
    bool due;                // a sample is to be sent
} snw_play_client;

// The current recording.
typedef struct snw_play_record {
    snw_results *file; // NULL: none
    char path[512];
    snw_recorder recorder;
    snw_run_info info;  // columns of the probes, then one per control
    snw_column *column; // info.ncolumn
    double *value;      // info.ncolumn
    double every, next; // period of frames, time of the next one, s
    int frames, count;  // frames of this recording; number of recordings so far
} snw_play_record;

struct snw_play {
    const snw_document *document;
    const snw_desc *desc;
    snw_live *live;
    snw_play_opts opts;
    char *scene, *text; // scene of the viewer; model text of recordings
    snw_play_client client[SNW_PLAY_CLIENTS];
    long arrivals;
    int writer; // client in control, -1: none
    // clock
    double wall0, sim0;                // wall-clock and simulated time of the synchronisation, s
    double mark_wall, mark_sim, ratio; // measurement of the actual speed
    double wanted;                     // requested speed, as a multiple of real time
    double step_time;                  // computing time of a step, smoothed, s
    bool paused, failed;
    int single;     // number of single steps to make while paused
    double changed; // wall-clock time of the last change of a parameter, s
    bool dirty;     // a parameter has changed
    // outgoing messages
    long state, frame;     // serial numbers of the current state and frame
    char *hello, *message; // JSON, from open_memstream
    size_t hello_size, message_size;
    unsigned char *bytes; // current frame
    double *column;       // its probes
    size_t nbytes;
    snw_play_record record;
    snw_play_totals totals;
};

// Queue a note for all clients.
void snw_play_notify(snw_play *p, const char *note);

// JSON messages to a client: the greeting with the model, the state of the simulation, a note; NULL
// when out of memory. Each is valid until the next call.
const char *snw_play_hello(snw_play *p, size_t *size);
const char *snw_play_state(snw_play *p, int client, size_t *size);
const char *snw_play_note(snw_play *p, int client, size_t *size);
const char *snw_play_sample(snw_play *p, size_t *size); // probes and controls of the current frame
// p->bytes <- frame of the current state.
SNW_NODISCARD snw_status snw_play_make_frame(snw_play *p, snw_error *err);
size_t snw_play_frame_size(const snw_play *p);

SNW_NODISCARD snw_status snw_play_record_begin(snw_play *p, snw_error *err);
// Record a frame if one is due.
SNW_NODISCARD snw_status snw_play_record_frame(snw_play *p, snw_error *err);
SNW_NODISCARD snw_status snw_play_record_end(snw_play *p, snw_error *err);
