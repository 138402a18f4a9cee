// SPDX-License-Identifier: MIT
//
// play_socket.h: a live simulation behind a port of this machine: the page by HTTP, the rest by
// WebSocket. Only 127.0.0.1 is listened on; an address without the token, a host or an origin of
// another name is refused, so that no page of the web and nobody else on this machine gets in by
// guessing.
#pragma once

#include "cli/play.h"
#include "cli/viewer.h"

enum { SNW_TOKEN_LENGTH = 32 }; // hexadecimal digits

typedef struct snw_socket snw_socket;

// Whether this build can: SNW_E_IO says what is missing.
SNW_NODISCARD snw_status snw_socket_check(snw_error *err);

// Listen; port 0 takes a free one. SNW_E_IO: the port is taken.
SNW_NODISCARD snw_status snw_socket_open(snw_play *play, const snw_viewer_pieces *page, int port,
                                         snw_socket **out, snw_error *err);
void snw_socket_close(snw_socket *s); // NULL is fine

// "http://127.0.0.1:PORT/TOKEN/"
const char *snw_socket_address(const snw_socket *s);

// Serve until `stop` says so, which is asked at the rate of pictures.
void snw_socket_serve(snw_socket *s, bool (*stop)(void));
