// SPDX-License-Identifier: MIT
//
// Parser of the frame heads of a WebSocket stream, for the check of masks.
#include "cli/play_mask.h"

#include <limits.h>

// Parts of a frame: opcode, mask bit and length, extended length, mask and payload.
enum { OPCODE, LENGTH, LONGER, PAYLOAD };

static void parse_request_head(snw_mask_parser *w, unsigned char c) {
    static const char blank[] = "\r\n\r\n";
    w->early = w->at == 4; // a byte after the blank line; reset by the next byte of a request
    if (w->at == 4) w->at = 0;
    w->at = c == (unsigned char)blank[w->at] ? w->at + 1 : c == '\r';
}

static void parse_frame(snw_mask_parser *w, unsigned char c) {
    switch (w->at) {
    case OPCODE:
        w->at = LENGTH;
        return;
    case LENGTH:
        w->unmasked |= !(c & 0x80);
        w->left = c & 0x7f;
        w->more = w->left == 126 ? 2 : w->left == 127 ? 8 : 0;
        w->at = w->more > 0 ? LONGER : PAYLOAD;
        if (w->more > 0) w->left = 0;
        break;
    case LONGER:
        w->left = w->left << 8 | c;
        if (--w->more > 0) return;
        w->at = PAYLOAD;
        break;
    default:
        if (--w->left == 0) w->at = OPCODE;
        return;
    }
    if (w->at != PAYLOAD) return;
    if (w->left < ULLONG_MAX - 4) w->left += 4; // length of the mask
}

void snw_mask_parse(snw_mask_parser *w, const unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n && !w->unmasked; i++) {
        if (w->framed && w->at == PAYLOAD) { // skip to the last byte
            const size_t rest = n - i - 1;
            const size_t skip = w->left - 1 < rest ? (size_t)(w->left - 1) : rest;
            w->left -= skip;
            i += skip;
        }
        if (w->framed) {
            parse_frame(w, bytes[i]);
        } else {
            parse_request_head(w, bytes[i]);
        }
    }
}

bool snw_mask_begin(snw_mask_parser *w) {
    const bool early = w->early || w->at != 4;
    *w = (snw_mask_parser){.framed = true, .at = OPCODE};
    return !early;
}
