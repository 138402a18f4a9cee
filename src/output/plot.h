// SPDX-License-Identifier: MIT
//
// plot.h: a figure as data: stacked panels with a common horizontal axis and curves in SI units.
// The figure is independent of the source of the data and of the canvas it is drawn on. Lengths on
// paper are in mm, y downwards.
#pragma once

#include "base/pool.h"
#include "output/plot_scale.h"
#include "sinew/status.h"

#include <stdbool.h>

// ---- the figure --------------------------------------------------------------------------------

typedef struct snw_pen {
    unsigned colour; // 0xRRGGBB
    double width;
    int dash; // 0: solid; 1, 2, ..: different dash patterns
} snw_pen;

typedef struct snw_curve {
    const char *name;  // in the legend; NULL: no entry
    const char *probe; // of a probe over time: its column, "tip.x"; else NULL
    int n;
    double *x, *y; // NaN makes a gap
    snw_pen pen;
    bool marks; // a dot at every point
    bool bare;  // no line between the points
    bool area;  // the points are outlines of areas, separated by NaN, which the colour fills
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
    bool tight;           // no margin along x, as over time; names stand at the ends of the curves
    bool listed;          // all the same, names are listed in the order of the curves
    bool equal;           // equal scales along x and y
    bool counted;         // x are integers
    bool log_x, log_y;    // logarithmic axes; values that are not positive make a gap
    bool beside;          // the figure to its left has the same axes along y, with their texts
    double width, height; // mm; height 0: chosen by the layout
} snw_figure;

// Dash lengths in line widths: *n of them, 0 for a solid line.
const double *snw_pen_dashes(int dash, int *n);

// Colours that remain distinct for colour-blind readers and in black-and-white print: the i-th of a
// palette, and a gradient from 0 to 1.
enum { SNW_PLOT_COLOURS = 7 };
unsigned snw_plot_colour(int i);
unsigned snw_plot_gradient(double at);
unsigned snw_plot_paler(unsigned colour, double fraction);  // towards white
unsigned snw_plot_darker(unsigned colour, double fraction); // towards black

// ---- the canvas --------------------------------------------------------------------------------

typedef struct snw_box {
    double x, y, w, h;
} snw_box;

typedef enum snw_align { SNW_ALIGN_LEFT, SNW_ALIGN_MIDDLE, SNW_ALIGN_RIGHT } snw_align;

static const double SNW_PLOT_SEAM = 0.08; // mm

typedef struct snw_canvas {
    void *user;
    double (*measure)(void *user, const char *text, double size);
    // Clip to the box until the next call; NULL: no clipping.
    void (*clip)(void *user, const snw_box *box);
    void (*line)(void *user, int n, const double (*p)[2], snw_pen pen);
    void (*dot)(void *user, const double p[2], double radius, unsigned colour);
    // Fill the areas within outlines that are separated by NaN, all turned the same way. They are
    // drawn with a line of SNW_PLOT_SEAM, so that no seam shows between neighbours.
    void (*fill)(void *user, int n, const double (*p)[2], unsigned colour);
    // `at` is on the base line; upright text is rotated to read upwards.
    void (*text)(void *user, const double at[2], double size, snw_align align, bool upright,
                 const char *text);
} snw_canvas;

// ---- the layout --------------------------------------------------------------------------------

typedef struct snw_plot_axis {
    snw_unit_scale scale;
    bool log;
    double lo, hi; // range in the unit of the scale, or base-10 logarithms of it
    snw_ticks ticks;
    char title[160]; // "position (mm)"
} snw_plot_axis;

typedef struct snw_plot_panel_layout {
    snw_box area; // between the axes
    snw_plot_axis y;
    double *label; // ncurve: y of the middle of each name
} snw_plot_panel_layout;

typedef struct snw_plot_layout {
    double width, height; // of the paper
    double font;          // font size
    double sample;        // length of the line sample before a name
    double mark;          // length of a tick
    double side;          // base line of the titles along y
    bool beside;          // no texts along y
    snw_plot_axis x;
    snw_plot_panel_layout *panel;
    double (*path)[2]; // scratch: points of the longest curve
} snw_plot_layout;

// Position of an SI value on the axis, in the units of lo and hi; NaN when it has none.
double snw_plot_axis_value(const snw_plot_axis *a, double value);

// Layout of a figure with at least one panel and one number, allocated in the pool. SNW_E_ARGUMENT
// when the paper is too small.
SNW_NODISCARD snw_status snw_plot_lay_out(const snw_figure *f, const snw_canvas *canvas,
                                          snw_pool *pool, snw_plot_layout *out, snw_error *err);

void snw_plot_draw(const snw_figure *f, const snw_plot_layout *l, const snw_canvas *canvas);
