// SPDX-License-Identifier: MIT
//
// play_message.h: parser for messages of the viewer page, or of a controller, to a live simulation:
// one flat JSON object, e.g. {"do":"set","control":2,"value":0.5}. Anything else is refused with a
// reason and has no effect. Does not allocate.
#pragma once

#include "sinew/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { SNW_PLAY_LONGEST = 512 }; // bytes of a message

// Requests: code, word, required keys, meaning.
#define SNW_PLAY_VERBS(X)                                                                          \
    X(SNW_PLAY_SET, "set", "control value", "set a control")                                       \
    X(SNW_PLAY_FREE, "free", "control", "return a control to its law in the file")                 \
    X(SNW_PLAY_PULL, "pull", "node at to strength", "pull a point of a node towards a target")     \
    X(SNW_PLAY_DROP, "drop", "", "let go")                                                         \
    X(SNW_PLAY_PAUSE, "pause", "on", "pause or continue")                                          \
    X(SNW_PLAY_STEP, "step", "", "one step, while paused")                                         \
    X(SNW_PLAY_RESET, "reset", "", "reset to the start")                                           \
    X(SNW_PLAY_RECORD, "record", "on", "start or end a recording to a result file")                \
    X(SNW_PLAY_SPEED, "speed", "value", "speed of the clock, 1 is real time")                      \
    X(SNW_PLAY_TAKE, "take", "", "take control of the robot from another client")                  \
    X(SNW_PLAY_APPLY, "apply", "control value",                                                    \
      "set an effort at once, without the filter of set")                                          \
    X(SNW_PLAY_WATCH, "watch", "value", "samples, so many a second, instead of frames; 0: frames") \
    X(SNW_PLAY_ADVANCE, "advance", "value", "pause, simulate so many seconds at once, and sample")

typedef enum snw_play_verb {
#define X(code, word, keys, meaning) code,
    SNW_PLAY_VERBS(X)
#undef X
} snw_play_verb;

typedef struct snw_play_message {
    snw_play_verb verb;
    int control, node;
    double value, strength; // finite
    double at[3], to[3];
    bool on;
} snw_play_message;

// *out <- the message. SNW_E_PARSE when it is not valid; `out` is then undefined.
SNW_NODISCARD snw_status snw_play_read(const char *text, size_t length, snw_play_message *out,
                                       snw_error *err);
