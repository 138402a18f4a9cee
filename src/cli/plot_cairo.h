// SPDX-License-Identifier: MIT
//
// plot_cairo.h: canvas for PNG and PDF files, by cairo. Only the command links it; in a build
// without cairo all functions fail.
#pragma once

#include "output/plot.h"
#include "output/sink.h"

typedef struct snw_cairo snw_cairo;

// SNW_OK, or SNW_E_IO with the package to install when the build has no cairo.
SNW_NODISCARD snw_status snw_cairo_check(snw_error *err);

// A canvas that can only measure texts, for the layout that determines the size of the figure.
SNW_NODISCARD snw_status snw_cairo_create(snw_cairo **out, snw_error *err);
snw_canvas snw_cairo_canvas(snw_cairo *c);
void snw_cairo_destroy(snw_cairo *c); // NULL is fine

// Begin a white page of this size in mm, as PDF (dpi 0) or as PNG with this many pixels per inch.
SNW_NODISCARD snw_status snw_cairo_begin(snw_cairo *c, double width, double height, double dpi,
                                         snw_sink sink, snw_error *err);

// Write the drawing. SNW_E_IO when the sink fails.
SNW_NODISCARD snw_status snw_cairo_end(snw_cairo *c, snw_error *err);
