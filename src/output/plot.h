// SPDX-License-Identifier: MIT
//
// plot.h: a figure as data: panels above each other on one horizontal axis, with curves in SI
// units. Who draws it need not know where it comes from, and who makes it need not know on what it
// is drawn. Lengths on paper are mm, y downwards.
#pragma once

#include "base/pool.h"
#include "output/plot_scale.h"
#include "sinew/status.h"

#include <stdbool.h>

// ---- the figure --------------------------------------------------------------------------------

typedef struct snw_pen {
    unsigned colour; // 0xRRGGBB
    double width;
    int dash; // 0: drawn through; 1, 2, ..: ever other dashes
} snw_pen;

typedef struct snw_curve {
    const char *name;  // in the legend; NULL: not there
    const char *probe; // of a probe over time: its component, "tip.x"; else NULL
    int n;
    double *x, *y; // a gap where one is no number
    snw_pen pen;
    bool marks; // a dot at every point,
    bool bare;  // and no line between them
} snw_curve;

typedef struct snw_panel {
    const char *quantity, *unit; // along y; the unit as in snw_dim_unit
    int ncurve;
    snw_curve *curve;
} snw_panel;

typedef struct snw_figure {
    const char *quantity, *unit; // along x
    int npanel;
    snw_panel *panel;
    bool tight;   // curves go from edge to edge, as over time, and their names stand at their ends
    bool equal;   // a metre is as long upwards as sideways
    bool counted; // x are whole numbers
    bool log;     // both axes are logarithmic; what is not positive is a gap
    double width, height; // height 0: what suits it
} snw_figure;

// Dash lengths of a pen, in widths of it: *n of them, 0 when it is drawn through.
const double *snw_pen_dashes(int dash, int *n);

// Colours that stay apart for the colour-blind and on a black-and-white printer: the i-th of a few,
// and those of a course from 0 to 1.
enum { SNW_PLOT_COLOURS = 7 };
unsigned snw_plot_colour(int i);
unsigned snw_plot_course(double at);
unsigned snw_plot_paler(unsigned colour, double share);  // towards white
unsigned snw_plot_darker(unsigned colour, double share); // towards black

// ---- what it is drawn on -----------------------------------------------------------------------

typedef struct snw_box {
    double x, y, w, h;
} snw_box;

typedef enum snw_align { SNW_ALIGN_LEFT, SNW_ALIGN_MIDDLE, SNW_ALIGN_RIGHT } snw_align;

typedef struct snw_canvas {
    void *user;
    double (*measure)(void *user, const char *text, double size);
    // Nothing is drawn outside of the box until NULL comes.
    void (*clip)(void *user, const snw_box *box);
    void (*line)(void *user, int n, const double (*p)[2], snw_pen pen);
    void (*dot)(void *user, const double p[2], double radius, unsigned colour);
    // `at` is on the base line; upright text reads from below.
    void (*text)(void *user, const double at[2], double size, snw_align align, bool upright,
                 const char *text);
} snw_canvas;

// ---- where everything goes ---------------------------------------------------------------------

typedef struct snw_plot_axis {
    snw_unit_scale scale;
    bool log;
    double lo, hi; // of what is shown, in the unit of the scale, or their logarithms to base ten
    snw_ticks ticks;
    char title[160]; // "position (mm)"
} snw_plot_axis;

typedef struct snw_plot_place {
    snw_box area; // between the axes
    snw_plot_axis y;
    double *label; // ncurve: height of the middle of each name
} snw_plot_place;

typedef struct snw_plot_layout {
    double width, height; // of the paper
    double font;          // size of letters
    double sample;        // piece of a curve before its name
    double mark;          // length of a tick
    double side;          // base line of the titles along y
    snw_plot_axis x;
    snw_plot_place *panel;
    double (*path)[2]; // room for the points of the longest curve
} snw_plot_layout;

// Where a value lies between lo and hi; no number where it has no place.
double snw_plot_shown(const snw_plot_axis *a, double value);

// Places for the parts of a figure with at least one panel and number; what is in it lives in the
// pool. SNW_E_ARGUMENT when the paper is too small.
SNW_NODISCARD snw_status snw_plot_lay_out(const snw_figure *f, const snw_canvas *canvas,
                                          snw_pool *pool, snw_plot_layout *out, snw_error *err);

void snw_plot_draw(const snw_figure *f, const snw_plot_layout *l, const snw_canvas *canvas);
