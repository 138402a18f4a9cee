// SPDX-License-Identifier: MIT
//
// Figures side by side: the layout of each is moved to the right.
#include "output/plot_row.h"

#include "base/fail.h"

#include <math.h>

// Width beside the panels of a figure, mm.
static double row_texts(const snw_plot_layout *l) { return l->width - l->panel[0].area.w; }

static void move_right(const snw_figure *f, double by, snw_plot_layout *l) {
    l->side += by;
    for (int i = 0; i < f->npanel; i++) l->panel[i].area.x += by;
}

snw_status snw_plot_row_lay_out(const snw_figure_row *row, double width, double height,
                                const snw_canvas *canvas, snw_pool *pool, snw_plot_row_layout *out,
                                snw_error *err) {
    *out =
        (snw_plot_row_layout){.figure = snw_pool_array(pool, (size_t)row->n, sizeof *out->figure)};
    if (!out->figure) return snw_fail_memory(err);
    // panels of equal width: what the paper leaves beside their texts
    double texts = 0;
    for (int i = 0; i < row->n; i++) {
        row->figure[i].width = width / row->n;
        row->figure[i].height = height;
        const snw_status s = snw_plot_lay_out(&row->figure[i], canvas, pool, &out->figure[i], err);
        if (s == SNW_E_ARGUMENT && row->n > 1)
            return snw_fail(err, s,
                            "%.0f mm are too few for %d figures side by side; give --size a larger "
                            "width, or choose fewer",
                            width, row->n);
        SNW_TRY(s);
        texts += row_texts(&out->figure[i]);
    }
    for (int i = 0; i < row->n; i++) {
        row->figure[i].width = row_texts(&out->figure[i]) + (width - texts) / row->n;
        SNW_TRY(snw_plot_lay_out(&row->figure[i], canvas, pool, &out->figure[i], err));
        move_right(&row->figure[i], out->width, &out->figure[i]);
        out->width += out->figure[i].width;
        out->height = fmax(out->height, out->figure[i].height);
    }
    return SNW_OK;
}

void snw_plot_row_draw(const snw_figure_row *row, const snw_plot_row_layout *l,
                       const snw_canvas *canvas) {
    for (int i = 0; i < row->n; i++) snw_plot_draw(&row->figure[i], &l->figure[i], canvas);
}
