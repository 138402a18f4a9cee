// SPDX-License-Identifier: MIT
//
// plot_cairo.h: a canvas on PNG and PDF, by cairo. Only the command links it; a build without cairo
// says what is missing.
#pragma once

#include "output/plot.h"
#include "output/sink.h"

typedef struct snw_cairo snw_cairo;

// SNW_OK, or SNW_E_IO with what to install where the build found no cairo.
SNW_NODISCARD snw_status snw_cairo_check(snw_error *err);

// A canvas that measures texts, to find out how large the paper is.
SNW_NODISCARD snw_status snw_cairo_create(snw_cairo **out, snw_error *err);
snw_canvas snw_cairo_canvas(snw_cairo *c);
void snw_cairo_destroy(snw_cairo *c); // NULL is fine

// White paper of this size in mm, as vectors (PDF, dpi 0) or as a picture (PNG) with so many pixels
// an inch.
SNW_NODISCARD snw_status snw_cairo_begin(snw_cairo *c, double width, double height, double dpi,
                                         snw_sink sink, snw_error *err);

// Write what was drawn. SNW_E_IO when the sink takes no more.
SNW_NODISCARD snw_status snw_cairo_end(snw_cairo *c, snw_error *err);
