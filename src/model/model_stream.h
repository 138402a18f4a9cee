// SPDX-License-Identifier: MIT
//
// model_stream.h: a compiled model as two sequences, of its whole numbers and of its numbers. Two
// models whose whole numbers are equal have the same structure: their numbers correspond to each
// other, so that packs of robots can hold one of each (integrate/packs.h).
#pragma once

#include "model/model.h"

// Behind the parts that packs read are places of probes and parts that packs refuse (conditions,
// nonlinear materials, given strains, fields, terrain), and the laws if some depend on time or read
// signals, with all that they act on: for engines that evaluate them (gpu/device_engine.inc).
typedef struct snw_model_stream {
    size_t nwhole, nnumber;
    int *whole;
    double *number;
    // not in the copy of this struct in pack_engine.cpp
    size_t nstructure, nown; // of these, those that packs read
    size_t nplace;           // whole numbers without the laws
    bool laws;               // there are laws
} snw_model_stream;

// The caller frees *out with snw_model_stream_destroy. The model must be one that packs support.
SNW_NODISCARD snw_status snw_model_stream_create(const snw_model *m, snw_model_stream **out);
void snw_model_stream_destroy(snw_model_stream *s); // NULL is fine

// Have both the same structure?
bool snw_model_stream_alike(const snw_model_stream *a, const snw_model_stream *b);
// Have places and laws, if a has some, the same structure, too? Numbers in laws may differ,
// operations may not.
bool snw_model_stream_same_laws(const snw_model_stream *a, const snw_model_stream *b);

// Does a law of forces, poses, drives or gravity vary with time?
bool snw_model_varies(const snw_model *m);
