// SPDX-License-Identifier: MIT
//
// play_mask.h: whether what a browser sends by WebSocket is masked. RFC 6455, 5.1: a client masks
// every frame, and a server that gets one without a mask closes the connection. libwebsockets takes
// both and does not say which it was, so this looks at the bytes it reads.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Where in the stream of one connection the next byte is.
typedef struct snw_mask_watch {
    bool framed;   // frames come; else the head of a request
    bool unmasked; // one had no mask
    bool early;    // something stood behind the head, before it was answered
    int at;        // byte of a frame's head, or how much of the blank line behind a request's
    int more;      // bytes of the length still to come
    unsigned long long left; // bytes of mask and length, then of payload, still to come
} snw_mask_watch;

// The next n bytes of the stream.
void snw_mask_look(snw_mask_watch *w, const unsigned char *bytes, size_t n);

// Frames begin. False: some came before the handshake was answered, which a client must wait for.
bool snw_mask_begin(snw_mask_watch *w);
