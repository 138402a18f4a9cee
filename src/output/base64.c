// SPDX-License-Identifier: MIT
//
// Streaming base64 encoder for the arrays of pages, glTF and VTK files.
#include "output/base64.h"

#include <string.h>

void snw_base64_begin(snw_base64 *e, snw_sink sink) { *e = (snw_base64){.sink = sink}; }

static void base64_flush(snw_base64 *e) {
    if (!e->failed && e->nout > 0) e->failed = !e->sink.write(e->sink.user, e->out, e->nout);
    e->nout = 0;
}

static void emit_group(snw_base64 *e) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned bits = (unsigned)e->in[0] << 16 | (unsigned)e->in[1] << 8 | (unsigned)e->in[2];
    for (int k = 0; k < 4; k++) {
        const char digit = digits[bits >> (18 - 6 * k) & 63];
        e->out[e->nout++] = k > e->nin ? '=' : digit;
    }
    e->nin = 0;
    e->in[0] = e->in[1] = e->in[2] = 0;
    if (e->nout + 4 > sizeof e->out) base64_flush(e);
}

void snw_base64_bits(snw_base64 *e, uint64_t bits, int bytes) {
    for (int k = 0; k < bytes; k++) {
        e->in[e->nin++] = (unsigned char)(bits >> 8 * k & 0xFF);
        if (e->nin == 3) emit_group(e);
    }
}

void snw_base64_double(snw_base64 *e, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    snw_base64_bits(e, bits, 8);
}

void snw_base64_float(snw_base64 *e, double x) {
    const float single = (float)x;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    snw_base64_bits(e, bits, 4);
}

bool snw_base64_end(snw_base64 *e) {
    if (e->nin > 0) emit_group(e);
    base64_flush(e);
    return !e->failed;
}
