// SPDX-License-Identifier: MIT
//
// Drawing of a laid-out figure on a canvas: grid, axes, curves, legend; colours and dashes.
#include "output/plot.h"

#include <math.h>

static const unsigned INK = 0x1a1a1a, GRID = 0xe4e4e4, ZERO = 0xb0b0b0;
static const double AXIS = 0.2, HAIR = 0.14; // widths of lines, mm
static const double NEAR = 0.02;             // mm; points nearer to the last one drawn are omitted

// ---- colours and dashes ------------------------------------------------------------------------

// The palette of Okabe and Ito without yellow, which is hardly visible on paper.
unsigned snw_plot_colour(int i) {
    static const unsigned list[SNW_PLOT_COLOURS] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                                    0x56b4e9, 0xe69f00, 0x333333};
    return list[i % SNW_PLOT_COLOURS];
}

static unsigned draw_mix(unsigned a, unsigned b, double fraction) {
    unsigned out = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        const double x = (a >> shift) & 0xff, y = (b >> shift) & 0xff;
        out |= (unsigned)lround(x + fraction * (y - x)) << shift;
    }
    return out;
}

// Light green to blue to dark violet, with uniformly decreasing lightness.
unsigned snw_plot_gradient(double at) {
    static const unsigned stop[] = {0x7ad151, 0x22a884, 0x2a788e, 0x414487, 0x440154};
    const double position = 4 * fmin(fmax(at, 0), 1);
    const int k = position < 3 ? (int)position : 3;
    return draw_mix(stop[k], stop[k + 1], position - k);
}

unsigned snw_plot_paler(unsigned colour, double fraction) {
    return draw_mix(colour, 0xffffff, fraction);
}
unsigned snw_plot_darker(unsigned colour, double fraction) { return draw_mix(colour, 0, fraction); }

const double *snw_pen_dashes(int dash, int *n) {
    static const double list[3][4] = {{5, 2, 5, 2}, {1.2, 1.6, 1.2, 1.6}, {6, 1.8, 1.4, 1.8}};
    *n = dash > 0 ? 4 : 0;
    return list[dash > 0 ? (dash - 1) % 3 : 0];
}

// ---- axes --------------------------------------------------------------------------------------

static double at_x(const snw_plot_layout *l, const snw_box *area, double shown) {
    return area->x + area->w * (shown - l->x.lo) / (l->x.hi - l->x.lo);
}

static double at_y(const snw_plot_panel_layout *p, double shown) {
    return p->area.y + p->area.h * (1 - (shown - p->y.lo) / (p->y.hi - p->y.lo));
}

static void draw_segment(const snw_canvas *c, double x0, double y0, double x1, double y1,
                         unsigned colour, double width) {
    const double p[2][2] = {{x0, y0}, {x1, y1}};
    c->line(c->user, 2, p, (snw_pen){.colour = colour, .width = width});
}

static void draw_grid(const snw_plot_layout *l, const snw_plot_panel_layout *p,
                      const snw_canvas *c) {
    const snw_box *a = &p->area;
    for (int i = 0; i < l->x.ticks.n; i++) {
        const double x = at_x(l, a, snw_tick_value(&l->x.ticks, i));
        draw_segment(c, x, a->y, x, a->y + a->h, GRID, HAIR);
    }
    for (int i = 0; i < p->y.ticks.n; i++) {
        const double value = snw_tick_value(&p->y.ticks, i), y = at_y(p, value);
        draw_segment(c, a->x, y, a->x + a->w, y, value == 0 && !p->y.log ? ZERO : GRID, HAIR);
    }
}

static void draw_axes(const snw_plot_layout *l, const snw_plot_panel_layout *p, bool last,
                      const snw_canvas *c) {
    const snw_box *a = &p->area;
    const double bottom = a->y + a->h, font = l->font;
    char text[SNW_TICK_SIZE];
    draw_segment(c, a->x, a->y, a->x, bottom, INK, AXIS);
    draw_segment(c, a->x, bottom, a->x + a->w, bottom, INK, AXIS);
    for (int i = 0; i < p->y.ticks.n; i++) {
        const double y = at_y(p, snw_tick_value(&p->y.ticks, i));
        draw_segment(c, a->x - l->mark, y, a->x, y, INK, AXIS);
        snw_tick_text(&p->y.ticks, i, text);
        const double at[2] = {a->x - l->mark - font / 3, y + 0.36 * font};
        if (!l->beside) c->text(c->user, at, font, SNW_ALIGN_RIGHT, false, text);
    }
    for (int i = 0; i < l->x.ticks.n; i++) {
        const double x = at_x(l, a, snw_tick_value(&l->x.ticks, i));
        draw_segment(c, x, bottom, x, bottom + l->mark, INK, AXIS);
        snw_tick_text(&l->x.ticks, i, text);
        const double at[2] = {x, bottom + l->mark + 1.1 * font};
        if (last) c->text(c->user, at, font, SNW_ALIGN_MIDDLE, false, text);
    }
    const double up[2] = {l->side, a->y + a->h / 2};
    // reduce the font of a title longer than its panel
    const double size = fmin(1, (a->h + 3) / c->measure(c->user, p->y.title, font)) * font;
    if (!l->beside) c->text(c->user, up, size, SNW_ALIGN_MIDDLE, true, p->y.title);
    const double along[2] = {a->x + a->w / 2, bottom + l->mark + 2.5 * font};
    if (last) c->text(c->user, along, font, SNW_ALIGN_MIDDLE, false, l->x.title);
}

// ---- curves ------------------------------------------------------------------------------------

// Draw the n collected points as a line, or as a dot when there is one only. `part`: it is a short
// piece of a longer line, whose points were too near to each other to be collected.
static void draw_stroke(const snw_plot_layout *l, int n, bool part, snw_pen pen,
                        const snw_canvas *c) {
    if (n == 1) c->dot(c->user, l->path[0], (part ? 0.5 : 2) * pen.width, pen.colour);
    if (n > 1) c->line(c->user, n, (const double(*)[2])l->path, pen);
}

// Limit a coordinate to values that any canvas accepts, far outside the clip.
static double on_paper(double x) { return fmin(fmax(x, -1e4), 1e4); }

// Position of a point of a curve; false: it has none.
static bool place_point(const snw_plot_layout *l, const snw_plot_panel_layout *p,
                        const snw_curve *k, int i, double at[2]) {
    const double x = snw_plot_axis_value(&l->x, k->x[i]), y = snw_plot_axis_value(&p->y, k->y[i]);
    if (!isfinite(x) || !isfinite(y)) return false;
    at[0] = on_paper(at_x(l, &p->area, x));
    at[1] = on_paper(at_y(p, y));
    return true;
}

static void draw_areas(const snw_plot_layout *l, const snw_plot_panel_layout *p, const snw_curve *k,
                       const snw_canvas *c) {
    for (int i = 0; i < k->n; i++) {
        if (!place_point(l, p, k, i, l->path[i])) l->path[i][0] = l->path[i][1] = NAN;
    }
    c->fill(c->user, k->n, (const double(*)[2])l->path, k->pen.colour);
}

static void draw_curve(const snw_plot_layout *l, const snw_plot_panel_layout *p, const snw_curve *k,
                       const snw_canvas *c) {
    int n = 0, all = 0;
    bool gap = false;
    if (k->area) {
        draw_areas(l, p, k, c);
        return;
    }
    for (int i = 0; i < k->n; i++) {
        double at[2];
        if (!place_point(l, p, k, i, at)) {
            draw_stroke(l, n, all > 1, k->pen, c);
            n = all = 0;
            gap = true;
            continue;
        }
        if (k->marks) c->dot(c->user, at, 2 * k->pen.width, k->pen.colour);
        if (k->bare) continue;
        all++;
        if (n > 0 && hypot(at[0] - l->path[n - 1][0], at[1] - l->path[n - 1][1]) < NEAR) continue;
        l->path[n][0] = at[0];
        l->path[n][1] = at[1];
        n++;
    }
    draw_stroke(l, n, gap && all > 1, k->pen, c);
}

static void draw_names(const snw_plot_layout *l, const snw_plot_panel_layout *p,
                       const snw_panel *panel, const snw_canvas *c) {
    for (int i = 0; i < panel->ncurve; i++) {
        const snw_curve *k = &panel->curve[i];
        if (!k->name) continue;
        const double x = p->area.x + p->area.w + l->font / 2, y = p->label[i];
        const double piece[2][2] = {{x, y}, {x + l->sample, y}};
        const double middle[2] = {x + l->sample / 2, y};
        if (k->area) {
            const double half = 0.4 * l->font, box[4][2] = {{middle[0] - half, y - half},
                                                            {middle[0] + half, y - half},
                                                            {middle[0] + half, y + half},
                                                            {middle[0] - half, y + half}};
            c->fill(c->user, 4, box, k->pen.colour);
        } else if (k->bare) {
            c->dot(c->user, middle, 2 * k->pen.width, k->pen.colour);
        } else {
            c->line(c->user, 2, piece, k->pen);
        }
        const double at[2] = {x + l->sample + l->font / 2, y + 0.36 * l->font};
        c->text(c->user, at, l->font, SNW_ALIGN_LEFT, false, k->name);
    }
}

void snw_plot_draw(const snw_figure *f, const snw_plot_layout *l, const snw_canvas *canvas) {
    for (int i = 0; i < f->npanel; i++) {
        const snw_plot_panel_layout *p = &l->panel[i];
        draw_grid(l, p, canvas);
        // lines and dots may extend beyond the axes by half their width
        double over = 0.5;
        for (int c = 0; c < f->panel[i].ncurve; c++) {
            const snw_curve *k = &f->panel[i].curve[c];
            if (k->marks) over = fmax(over, 2 * k->pen.width);
        }
        const snw_box clip = {p->area.x - over, p->area.y - over, p->area.w + 2 * over,
                              p->area.h + 2 * over};
        canvas->clip(canvas->user, &clip);
        for (int c = 0; c < f->panel[i].ncurve; c++) {
            draw_curve(l, p, &f->panel[i].curve[c], canvas);
        }
        canvas->clip(canvas->user, NULL);
        draw_axes(l, p, i + 1 == f->npanel, canvas);
        draw_names(l, p, &f->panel[i], canvas);
    }
}
