// SPDX-License-Identifier: MIT
//
// plot_svg.h: a canvas that writes SVG. Texts stay texts: to be searched, read aloud and edited.
#pragma once

#include "output/plot.h"
#include "output/sink.h"

typedef struct snw_svg {
    snw_sink sink;
    bool failed; // the sink took no more
    int nclip;
    bool clipped;
} snw_svg;

// Draws into `svg`, which must outlive it.
snw_canvas snw_svg_canvas(snw_svg *svg);

// What stands before all drawing, with a title for those who cannot see it, and behind.
void snw_svg_begin(snw_svg *svg, double width, double height, const char *title);
void snw_svg_end(snw_svg *svg);
