// SPDX-License-Identifier: MIT
//
// play_private.h: a live simulation with people around it, from the inside.
#pragma once

#include "cli/play.h"

typedef struct snw_play_client {
    bool here, told;   // it is there; it has its greeting
    long since;        // number of its arrival
    long state, frame; // what it was told last
    char words[300];   // to be told
} snw_play_client;

// A recording in the making.
typedef struct snw_play_record {
    snw_results *file; // NULL: none
    char path[512];
    snw_recorder recorder;
    snw_run_info info;  // with a column a control behind those of the probes
    snw_column *column; // ncolumn of it
    double *value;
    double every, next; // s
    int frames, count;  // of this one; recordings so far
} snw_play_record;

struct snw_play {
    const snw_document *document;
    const snw_desc *desc;
    snw_live *live;
    snw_play_opts opts;
    char *scene, *text; // what it looks like; the model as recordings keep it
    snw_play_client client[SNW_PLAY_CLIENTS];
    long arrivals;
    int writer; // -1: nobody
    // clock
    double wall0, sim0;                // s: the two went together then
    double mark_wall, mark_sim, ratio; // for how fast it really is
    double wanted;                     // times real time
    double step_time;                  // s, smoothed
    bool paused, failed;
    int single;     // steps asked for while it stands
    double changed; // wall clock at the last change of a parameter
    bool dirty;     // a parameter was turned
    // what is told
    long state, frame;     // numbers of the present ones
    char *hello, *message; // JSON; grow
    size_t hello_size, message_size;
    unsigned char *bytes; // the present frame
    size_t nbytes;
    snw_play_record record;
    snw_play_totals totals;
};

// Something to tell all clients.
void snw_play_say(snw_play *p, const char *words);

// JSON: the greeting, and how things stand for a client; NULL when memory is out. They stay until
// made anew.
const char *snw_play_hello(snw_play *p, size_t *size);
const char *snw_play_state(snw_play *p, int client, size_t *size);
// {"type":"note", ..}
const char *snw_play_note(snw_play *p, int client, size_t *size);
// p->bytes <- the present.
SNW_NODISCARD snw_status snw_play_make_frame(snw_play *p, snw_error *err);
size_t snw_play_frame_size(const snw_play *p);

SNW_NODISCARD snw_status snw_play_record_begin(snw_play *p, snw_error *err);
// A frame, if one is due.
SNW_NODISCARD snw_status snw_play_record_frame(snw_play *p, snw_error *err);
SNW_NODISCARD snw_status snw_play_record_end(snw_play *p, snw_error *err);
