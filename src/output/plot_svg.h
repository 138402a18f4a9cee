// SPDX-License-Identifier: MIT
//
// plot_svg.h: canvas that writes SVG. Texts are written as text elements, so they can be searched,
// read aloud and edited.
#pragma once

#include "output/plot.h"
#include "output/sink.h"

typedef struct snw_svg {
    snw_xml out;
    int nclip;
    bool clipped;
} snw_svg;

// Canvas that draws into `svg`, which must outlive it.
snw_canvas snw_svg_canvas(snw_svg *svg);

// Head, with a title for screen readers, and end of the document.
void snw_svg_begin(snw_svg *svg, double width, double height, const char *title);
void snw_svg_end(snw_svg *svg);
