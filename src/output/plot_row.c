// SPDX-License-Identifier: MIT
//
// Figures side by side: each is drawn on a canvas that is moved to the right.
#include "output/plot_row.h"

#include "base/fail.h"

#include <math.h>

// Width beside the panels of a figure, mm.
static double row_texts(const snw_plot_layout *l) { return l->width - l->panel[0].area.w; }

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
        out->width += out->figure[i].width;
        out->height = fmax(out->height, out->figure[i].height);
    }
    return SNW_OK;
}

typedef struct moved_canvas {
    const snw_canvas *to;
    double by; // mm
} moved_canvas;

static double moved_measure(void *user, const char *text, double size) {
    const moved_canvas *m = user;
    return m->to->measure(m->to->user, text, size);
}

static void moved_clip(void *user, const snw_box *box) {
    const moved_canvas *m = user;
    if (box) {
        const snw_box there = {box->x + m->by, box->y, box->w, box->h};
        m->to->clip(m->to->user, &there);
    } else {
        m->to->clip(m->to->user, NULL);
    }
}

// In parts that share a point, since the points of a line are not ours to move.
static void moved_line(void *user, int n, const double (*p)[2], snw_pen pen) {
    const moved_canvas *m = user;
    enum { PART = 256 };
    double part[PART][2];
    for (int first = 0; first + 1 < n || first == 0; first += PART - 1) {
        const int count = n - first < PART ? n - first : PART;
        for (int i = 0; i < count; i++) {
            part[i][0] = p[first + i][0] + m->by;
            part[i][1] = p[first + i][1];
        }
        m->to->line(m->to->user, count, (const double(*)[2])part, pen);
        if (first + count >= n) break;
    }
}

static void moved_dot(void *user, const double p[2], double radius, unsigned colour) {
    const moved_canvas *m = user;
    m->to->dot(m->to->user, (const double[]){p[0] + m->by, p[1]}, radius, colour);
}

static void moved_text(void *user, const double at[2], double size, snw_align align, bool upright,
                       const char *text) {
    const moved_canvas *m = user;
    m->to->text(m->to->user, (const double[]){at[0] + m->by, at[1]}, size, align, upright, text);
}

void snw_plot_row_draw(const snw_figure_row *row, const snw_plot_row_layout *l,
                       const snw_canvas *canvas) {
    moved_canvas moved = {.to = canvas};
    const snw_canvas there = {.user = &moved,
                              .measure = moved_measure,
                              .clip = moved_clip,
                              .line = moved_line,
                              .dot = moved_dot,
                              .text = moved_text};
    for (int i = 0; i < row->n; i++) {
        // a single figure is drawn as it is
        snw_plot_draw(&row->figure[i], &l->figure[i], row->n > 1 ? &there : canvas);
        moved.by += l->figure[i].width;
    }
}
