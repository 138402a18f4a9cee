// SPDX-License-Identifier: MIT
//
// Canvas that writes SVG.
#include "output/plot_svg.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// A coordinate, to 1e-3 mm.
static void plot_svg_put_number(snw_svg *s, char before, double x) {
    snw_xml_print(&s->out, "%c%.3f", before, x == 0 ? 0 : x);
}

// Widths of the Helvetica characters from space to tilde, in thousandths of the font size. Arial
// and Liberation Sans have the same widths; a substitute font may be wider, hence RESERVE.
static const short letter[] = {
    278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, //
    556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, //
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, //
    667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, //
    333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, //
    556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};
static const double RESERVE = 1.15; // DejaVu Sans, the usual one where there is no other

static double plot_svg_measure(void *user, const char *text, double size) {
    (void)user;
    double sum = 0;
    for (const char *c = text; *c; c++) {
        const unsigned char u = (unsigned char)*c;
        if ((u & 0xc0) == 0x80) continue; // continuation byte
        sum += u >= 0x20 && u < 0x7f ? letter[u - 0x20] : 556;
    }
    return RESERVE * size * sum / 1000;
}

static void plot_svg_clip(void *user, const snw_box *box) {
    snw_svg *s = user;
    if (s->clipped) snw_xml_print(&s->out, "</g>\n");
    s->clipped = box != NULL;
    if (!box) return;
    s->nclip++;
    snw_xml_print(
        &s->out,
        "<clipPath id=\"c%d\"><rect x=\"%.3f\" y=\"%.3f\" width=\"%.3f\" height=\"%.3f\"/>"
        "</clipPath>\n<g clip-path=\"url(#c%d)\">\n",
        s->nclip, box->x, box->y, box->w, box->h, s->nclip);
}

static void plot_svg_line(void *user, int n, const double (*p)[2], snw_pen pen) {
    snw_svg *s = user;
    snw_xml_print(
        &s->out,
        "<path fill=\"none\" stroke-linejoin=\"round\" stroke=\"#%06x\" stroke-width=\"%.3f\"",
        pen.colour, pen.width);
    int count;
    const double *dash = snw_pen_dashes(pen.dash, &count);
    for (int i = 0; i < count; i++) {
        snw_xml_print(&s->out, "%s%.3f", i ? " " : " stroke-dasharray=\"", dash[i] * pen.width);
    }
    snw_xml_print(&s->out, "%s d=\"", count ? "\"" : " stroke-linecap=\"round\"");
    for (int i = 0; i < n; i++) {
        plot_svg_put_number(s, i ? 'L' : 'M', p[i][0]);
        plot_svg_put_number(s, ' ', p[i][1]);
    }
    snw_xml_print(&s->out, "\"/>\n");
}

static void plot_svg_dot(void *user, const double p[2], double radius, unsigned colour) {
    snw_svg *s = user;
    snw_xml_print(&s->out, "<circle cx=\"%.3f\" cy=\"%.3f\" r=\"%.3f\" fill=\"#%06x\"/>\n", p[0],
                  p[1], radius, colour);
}

static void plot_svg_fill(void *user, int n, const double (*p)[2], unsigned colour) {
    snw_svg *s = user;
    bool begins = true;
    snw_xml_print(&s->out, "<path fill=\"#%06x\" stroke=\"#%06x\" stroke-width=\"%.3f\" d=\"",
                  colour, colour, SNW_PLOT_SEAM);
    for (int i = 0; i < n; i++) {
        if (isnan(p[i][0])) {
            begins = true;
            continue;
        }
        plot_svg_put_number(s, begins ? 'M' : 'L', p[i][0]);
        plot_svg_put_number(s, ' ', p[i][1]);
        begins = false;
    }
    snw_xml_print(&s->out, "\"/>\n");
}

static void plot_svg_text(void *user, const double at[2], double size, snw_align align,
                          bool upright, const char *what) {
    snw_svg *s = user;
    static const char *const anchor[] = {"start", "middle", "end"};
    snw_xml_print(&s->out, "<text x=\"%.3f\" y=\"%.3f\" font-size=\"%.3f\" text-anchor=\"%s\"",
                  at[0], at[1], size, anchor[align]);
    if (upright) snw_xml_print(&s->out, " transform=\"rotate(-90 %.3f %.3f)\"", at[0], at[1]);
    snw_xml_print(&s->out, ">");
    snw_xml_escaped(&s->out, what);
    snw_xml_print(&s->out, "</text>\n");
}

snw_canvas snw_svg_canvas(snw_svg *svg) {
    return (snw_canvas){.user = svg,
                        .measure = plot_svg_measure,
                        .clip = plot_svg_clip,
                        .line = plot_svg_line,
                        .dot = plot_svg_dot,
                        .fill = plot_svg_fill,
                        .text = plot_svg_text};
}

void snw_svg_begin(snw_svg *svg, double width, double height, const char *title) {
    snw_xml_print(&svg->out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%gmm\" height=\"%gmm\" "
                  "viewBox=\"0 0 %g %g\" role=\"img\" fill=\"#1a1a1a\" "
                  "font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n<title>",
                  width, height, width, height);
    snw_xml_escaped(&svg->out, title);
    snw_xml_print(&svg->out,
                  "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n");
}

void snw_svg_end(snw_svg *svg) { snw_xml_print(&svg->out, "</svg>\n"); }
