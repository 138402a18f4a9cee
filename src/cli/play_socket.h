// SPDX-License-Identifier: MIT
//
// play_socket.h: server of a live simulation: the page by HTTP, messages by WebSocket. It listens
// on 127.0.0.1 only. Requests without the token in the address, or with another host or origin, are
// refused, so that neither web pages nor other users of this machine have access.
#pragma once

#include "cli/play.h"
#include "cli/viewer.h"

enum { SNW_TOKEN_LENGTH = 32 }; // hexadecimal digits

typedef struct snw_socket snw_socket;

// SNW_OK, or SNW_E_IO when the build has no libwebsockets.
SNW_NODISCARD snw_status snw_socket_check(snw_error *err);

// Listen on a port; 0 selects a free one. `framed`: pages that this machine serves, such as a
// notebook, may show the page in a frame. SNW_E_IO when the port is in use.
SNW_NODISCARD snw_status snw_socket_open(snw_play *play, const snw_viewer_pieces *page, int port,
                                         bool framed, snw_socket **out, snw_error *err);
void snw_socket_close(snw_socket *s); // NULL is fine

// "http://127.0.0.1:PORT/TOKEN/"
const char *snw_socket_address(const snw_socket *s);

// Serve until `stop` returns true; it is called SNW_PLAY_RATE times a second.
void snw_socket_serve(snw_socket *s, bool (*stop)(void));
