// SPDX-License-Identifier: MIT
//
// base64.h: streaming base64 encoder for numbers in little-endian bytes.
#pragma once

#include "output/sink.h"

#include <stdint.h>

typedef struct snw_base64 {
    snw_sink sink;
    bool failed;
    unsigned char in[3];
    int nin;
    char out[4096];
    size_t nout;
} snw_base64;

void snw_base64_begin(snw_base64 *e, snw_sink sink);
// The lowest `bytes` bytes (at most 8).
void snw_base64_bits(snw_base64 *e, uint64_t bits, int bytes);
void snw_base64_double(snw_base64 *e, double x);
void snw_base64_float(snw_base64 *e, double x);
// Flush; false when the sink failed.
bool snw_base64_end(snw_base64 *e);
