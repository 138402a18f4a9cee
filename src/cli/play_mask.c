// SPDX-License-Identifier: MIT
#include "cli/play_mask.h"

#include <limits.h>

// of a frame's head: opcode, mask and length, longer length, mask
enum { OPCODE, LENGTH, LONGER, PAYLOAD };

static void look_at_head(snw_mask_watch *w, unsigned char c) {
    static const char blank[] = "\r\n\r\n";
    w->early = w->at == 4; // until the next request begins
    if (w->at == 4) w->at = 0;
    w->at = c == (unsigned char)blank[w->at] ? w->at + 1 : c == '\r';
}

static void look_at_frame(snw_mask_watch *w, unsigned char c) {
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
    if (w->left < ULLONG_MAX - 4) w->left += 4; // of the mask
}

void snw_mask_look(snw_mask_watch *w, const unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n && !w->unmasked; i++) {
        if (w->framed && w->at == PAYLOAD) { // at once to its last byte
            const size_t rest = n - i - 1;
            const size_t skip = w->left - 1 < rest ? (size_t)(w->left - 1) : rest;
            w->left -= skip;
            i += skip;
        }
        if (w->framed) {
            look_at_frame(w, bytes[i]);
        } else {
            look_at_head(w, bytes[i]);
        }
    }
}

bool snw_mask_begin(snw_mask_watch *w) {
    const bool early = w->early || w->at != 4;
    *w = (snw_mask_watch){.framed = true, .at = OPCODE};
    return !early;
}
