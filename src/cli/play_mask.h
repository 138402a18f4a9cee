// SPDX-License-Identifier: MIT
//
// play_mask.h: checks that the frames of a WebSocket client are masked. RFC 6455, 5.1: a client
// masks every frame, and a server closes the connection when it receives one without a mask.
// libwebsockets accepts both and does not report which, so the received bytes are parsed here.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// State of the parser of one connection.
typedef struct snw_mask_parser {
    bool framed;   // the stream consists of frames; else of an HTTP request head
    bool unmasked; // a frame without mask was received
    bool early;    // bytes followed the request head before it was answered
    int at;        // part of the frame; or number of matched bytes of the blank line of a request
    int more;      // remaining bytes of the extended length
    unsigned long long left; // remaining bytes of mask and payload
} snw_mask_parser;

// Parse the next n bytes of the stream.
void snw_mask_parse(snw_mask_parser *w, const unsigned char *bytes, size_t n);

// The handshake is complete: frames follow. False when the client did not wait for the answer.
bool snw_mask_begin(snw_mask_parser *w);
