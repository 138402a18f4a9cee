// SPDX-License-Identifier: MIT
//
// plot_row.h: figures side by side on one paper, as the columns of a scatter matrix.
#pragma once

#include "output/plot.h"

typedef struct snw_figure_row {
    int n;
    snw_figure *figure; // widths and heights are set by the layout
} snw_figure_row;

typedef struct snw_plot_row_layout {
    double width, height;
    snw_plot_layout *figure; // n
} snw_plot_row_layout;

// Lay out the figures on a paper of this width, in mm, with panels of the same width; height 0:
// chosen. SNW_E_ARGUMENT when the paper is too small.
SNW_NODISCARD snw_status snw_plot_row_lay_out(const snw_figure_row *row, double width,
                                              double height, const snw_canvas *canvas,
                                              snw_pool *pool, snw_plot_row_layout *out,
                                              snw_error *err);

void snw_plot_row_draw(const snw_figure_row *row, const snw_plot_row_layout *l,
                       const snw_canvas *canvas);
