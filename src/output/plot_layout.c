// SPDX-License-Identifier: MIT
//
// Layout of a figure: ranges, axes, ticks, areas of panels and positions of curve names, in mm.
#include "base/fail.h"
#include "output/plot.h"

#include <math.h>
#include <stdio.h>

// Lengths in mm unless stated otherwise.
static const double LETTERS = 2.9;          // font size, 8.2 pt as journals require
static const double EDGE = 1.5;             // margin of the paper
static const double GAP = 4.5;              // between panels
static const double MARK = 1.2;             // length of a tick
static const double SAMPLE = 5;             // length of the line sample before a name
static const double LINE = 1.25;            // line spacing of names, in font sizes
static const double MARGIN = 0.05;          // fraction of the range left free around curves
static const double PANEL = 44, ALONE = 72; // height of one of several panels, and of a single one
static const double HIGHEST = 125; // largest height of an equal-scale figure without a given height
static const double LEAST = 10;    // smallest side of a panel

// ---- ranges ------------------------------------------------------------------------------------

static const double BOUND = 1e290;

typedef struct range {
    double lo, hi;
} range;

static range no_range(void) { return (range){INFINITY, -INFINITY}; }

// `log`, `other_log`: of the axis of the values and of the other one.
static void plot_layout_widen(range *r, const double *value, bool log, const double *other,
                              bool other_log, int n) {
    for (int i = 0; i < n; i++) {
        // omit diverged values
        if (!(fabs(value[i]) < BOUND && fabs(other[i]) < BOUND)) continue;
        if ((log && !(value[i] > 0)) || (other_log && !(other[i] > 0))) continue;
        const double at = log ? log10(value[i]) : value[i];
        r->lo = fmin(r->lo, at);
        r->hi = fmax(r->hi, at);
    }
}

double snw_plot_axis_value(const snw_plot_axis *a, double value) {
    if (!a->log) return value / a->scale.size;
    return value > 0 ? log10(value / a->scale.size) : NAN;
}

// Range of x values, or of their logarithms.
static range range_x(const snw_figure *f) {
    range r = no_range();
    for (int p = 0; p < f->npanel; p++) {
        for (int c = 0; c < f->panel[p].ncurve; c++) {
            const snw_curve *k = &f->panel[p].curve[c];
            plot_layout_widen(&r, k->x, f->log_x, k->y, f->log_y, k->n);
        }
    }
    return r;
}

static range range_y(const snw_figure *f, int panel) {
    const snw_panel *p = &f->panel[panel];
    range r = no_range();
    for (int c = 0; c < p->ncurve; c++) {
        const snw_curve *k = &p->curve[c];
        plot_layout_widen(&r, k->y, f->log_y, k->x, f->log_x, k->n);
    }
    return r;
}

static double largest_in(bool log, range r) {
    if (!(r.lo <= r.hi)) return 1;
    return log ? pow(10, r.hi) : fmax(fabs(r.lo), fabs(r.hi));
}

// Range with margin; a default one for no values and for constant values.
static range padded_range(range r, double air) {
    if (!(r.lo <= r.hi)) return (range){0, 1};
    const double size = fmax(fabs(r.lo), fabs(r.hi)), span = r.hi - r.lo;
    if (!(span > 1e-9 * size)) {
        const double half = size > 0 ? 0.1 * size : 1;
        return (range){r.lo - half, r.hi + half};
    }
    return (range){r.lo - air * span, r.hi + air * span};
}

// ---- axes --------------------------------------------------------------------------------------

static void set_title(const char *quantity, snw_plot_axis *a) {
    if (a->scale.unit[0]) {
        (void)snprintf(a->title, sizeof a->title, "%s (%s)", quantity, a->scale.unit);
    } else {
        (void)snprintf(a->title, sizeof a->title, "%s", quantity);
    }
}

static void set_axis(const char *quantity, const char *unit, bool log, range r, double largest,
                     snw_plot_axis *a) {
    a->scale = snw_unit_scale_make(unit, largest);
    a->log = log;
    a->lo = log ? r.lo - log10(a->scale.size) : r.lo / a->scale.size;
    a->hi = log ? r.hi - log10(a->scale.size) : r.hi / a->scale.size;
    set_title(quantity, a);
}

static double widest_tick(const snw_plot_axis *a, const snw_canvas *canvas, double font) {
    double most = 0;
    for (int i = 0; i < a->ticks.n; i++) {
        char text[SNW_TICK_SIZE];
        snw_tick_text(&a->ticks, i, text);
        most = fmax(most, canvas->measure(canvas->user, text, font));
    }
    return most;
}

// Ticks along x, as many as their texts leave room for with `gap` between them; returns whether
// there are two or more.
static bool try_ticks_x(const snw_figure *f, const snw_canvas *canvas, double font, double gap,
                        double width, snw_plot_axis *a) {
    const double whole = f->counted ? fmax(2, floor(a->hi - a->lo) + 1) : 11;
    for (int most = (int)fmin(11, whole); most >= 2; most--) {
        a->ticks = a->log ? snw_ticks_log(a->lo, a->hi, most) : snw_ticks_make(a->lo, a->hi, most);
        // of ticks at 1, 2, 5 the pair 1, 2 is closest
        const double step = a->ticks.log == 3 ? log10(2) : a->ticks.step;
        const double apart = width * step / (a->hi - a->lo);
        if (widest_tick(a, canvas, font) + gap <= apart) return a->ticks.n >= 2;
    }
    return false;
}

// A single tick does not show a scale: rather two that stand closer.
static void set_ticks_x(const snw_figure *f, const snw_canvas *canvas, double font, double width,
                        snw_plot_axis *a) {
    if (try_ticks_x(f, canvas, font, 2 * font, width, a)) return;
    if (try_ticks_x(f, canvas, font, 0.5 * font, width, a)) return;
    (void)try_ticks_x(f, canvas, font, 2 * font, width, a);
}

static void set_ticks_y(double font, double height, snw_plot_axis *a) {
    const int fit = (int)(height / (2.4 * font)), most = fit < 2 ? 2 : fit > 9 ? 9 : fit;
    a->ticks = a->log ? snw_ticks_log(a->lo, a->hi, most) : snw_ticks_make(a->lo, a->hi, most);
}

// ---- names of curves ---------------------------------------------------------------------------

static double widest_name(const snw_figure *f, const snw_canvas *canvas, double font) {
    double most = 0;
    for (int p = 0; p < f->npanel; p++) {
        for (int c = 0; c < f->panel[p].ncurve; c++) {
            const char *name = f->panel[p].curve[c].name;
            if (name) most = fmax(most, canvas->measure(canvas->user, name, font));
        }
    }
    return most;
}

// Vertical position of the last point of a curve, mm; the middle of the panel when it has none.
static double curve_end(const snw_curve *c, const snw_plot_panel_layout *at) {
    for (int i = c->n - 1; i >= 0; i--) {
        const double shown = snw_plot_axis_value(&at->y, c->y[i]);
        if (!isfinite(c->x[i]) || !isfinite(shown)) continue;
        const double fraction = (shown - at->y.lo) / (at->y.hi - at->y.lo);
        return at->area.y + (1 - fraction) * at->area.h;
    }
    return at->area.y + at->area.h / 2;
}

// Move names apart to distances of at least `apart`, symmetrically about the mean of the
// overlapping ones. order: the n curves from top to bottom.
static void spread_names(int n, const int *order, double apart, range within, double *label) {
    for (int round = 0; round < 4 * n; round++) {
        bool moved = false;
        for (int i = 0; i + 1 < n; i++) {
            double *a = &label[order[i]], *b = &label[order[i + 1]];
            const double lack = apart - (*b - *a);
            if (lack <= 1e-6) continue;
            *a -= lack / 2;
            *b += lack / 2;
            moved = true;
        }
        if (!moved) break;
    }
    // enforce the distances, and the ends of the panel
    double floor = within.lo;
    for (int i = 0; i < n; i++) {
        label[order[i]] = fmax(label[order[i]], floor);
        floor = label[order[i]] + apart;
    }
    double ceiling = within.hi;
    for (int i = n - 1; i >= 0; i--) {
        label[order[i]] = fmin(label[order[i]], ceiling);
        ceiling = label[order[i]] - apart;
    }
}

static snw_status layout_names(const snw_figure *f, int panel, double font, snw_pool *pool,
                               snw_plot_panel_layout *at, snw_error *err) {
    const snw_panel *p = &f->panel[panel];
    at->label = snw_pool_array(pool, (size_t)p->ncurve, sizeof *at->label);
    int *order = snw_pool_array(pool, (size_t)p->ncurve, sizeof *order);
    if (!at->label || !order) return snw_fail_memory(err);
    int n = 0;
    for (int c = 0; c < p->ncurve; c++) {
        if (!p->curve[c].name) continue;
        // otherwise names are listed from the top in the order of the curves
        at->label[c] = f->tight && !f->listed ? curve_end(&p->curve[c], at)
                                              : at->area.y + (0.5 + LINE * n) * font;
        int k = n++;
        for (; k > 0 && at->label[order[k - 1]] > at->label[c]; k--) order[k] = order[k - 1];
        order[k] = c;
    }
    const double room = at->area.h + font;
    if (n * font > room) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "%d curves in a panel of %.0f mm leave no room for their names; choose "
                        "fewer, or a larger --size",
                        n, at->area.h);
    }
    const double apart = fmin(LINE * font, room / n);
    const range within = {at->area.y, at->area.y + at->area.h};
    spread_names(n, order, apart, within, at->label);
    return SNW_OK;
}

// ---- the figure --------------------------------------------------------------------------------

// Give both axes the same unit and the same scale in mm, extending the range of one of them.
static void equalise_scales(const snw_figure *f, range x, range y, snw_plot_layout *l) {
    const double largest =
        fmax(largest_in(f->log_x, range_x(f)), largest_in(f->log_y, range_y(f, 0)));
    snw_plot_panel_layout *at = &l->panel[0];
    const double per = fmax((x.hi - x.lo) / at->area.w, (y.hi - y.lo) / at->area.h);
    const double more_x = (per * at->area.w - (x.hi - x.lo)) / 2,
                 more_y = (per * at->area.h - (y.hi - y.lo)) / 2;
    set_axis(f->quantity, f->unit, f->log_x, (range){x.lo - more_x, x.hi + more_x}, largest, &l->x);
    set_axis(f->panel[0].quantity, f->panel[0].unit, f->log_y,
             (range){y.lo - more_y, y.hi + more_y}, largest, &at->y);
}

// Use the coarser tick step on both axes, unless one would have fewer than two ticks.
static void equalise_ticks(snw_plot_axis *x, snw_plot_axis *y) {
    snw_plot_axis *fine = x->ticks.step < y->ticks.step ? x : y, *coarse = fine == x ? y : x;
    const snw_ticks like = snw_ticks_like(&coarse->ticks, fine->lo, fine->hi);
    if (like.n >= 2) fine->ticks = like;
}

static int most_names(const snw_figure *f) {
    int most = 0;
    for (int p = 0; p < f->npanel; p++) {
        int n = 0;
        for (int c = 0; c < f->panel[p].ncurve; c++) n += f->panel[p].curve[c].name != NULL;
        if (n > most) most = n;
    }
    return most;
}

// Default height of a panel. An equal-scale figure may also reduce the width *inner.
static double default_height(const snw_figure *f, range x, range y, double font, double *inner) {
    const double names = most_names(f) * LINE * font;
    if (!f->equal) return fmax(f->npanel == 1 ? ALONE : PANEL, names);
    const double ratio = (y.hi - y.lo) / (x.hi - x.lo);
    const double height = fmin(fmax(*inner * ratio, 30), HIGHEST);
    *inner = fmin(*inner, fmax(height / ratio, 40));
    return fmax(height, names);
}

static int plot_layout_longest(const snw_figure *f) {
    int most = 1;
    for (int p = 0; p < f->npanel; p++) {
        for (int c = 0; c < f->panel[p].ncurve; c++) {
            if (f->panel[p].curve[c].n > most) most = f->panel[p].curve[c].n;
        }
    }
    return most;
}

// Axes and areas of the panels, for tick texts of width `numbers`.
static snw_status layout_panels(const snw_figure *f, const snw_canvas *canvas, double numbers,
                                snw_plot_layout *out, snw_error *err) {
    const double font = out->font, names = widest_name(f, canvas, font);
    const double texts = LINE * font + font / 2 + numbers + font / 2;
    const double left = EDGE + (f->beside ? 0 : texts) + MARK;
    const double right = EDGE + (names > 0 ? font / 2 + SAMPLE + font / 2 + names : 2 * font);
    const double top = EDGE + font / 2, below = EDGE + 2 * LINE * font + MARK + font / 2;
    double inner = f->width - left - right;
    const range x = padded_range(range_x(f), f->tight ? 0 : MARGIN),
                y = padded_range(range_y(f, 0), MARGIN);
    const double frame = top + below + (f->npanel - 1) * GAP;
    const double each =
        f->height > 0 ? (f->height - frame) / f->npanel : default_height(f, x, y, font, &inner);
    out->height = f->height > 0 ? f->height : frame + f->npanel * each;
    out->width = left + inner + right;
    if (!(inner >= LEAST) || !(each >= LEAST)) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "%.0f x %.0f mm is too small for %d panel%s with these names; give --size "
                        "at least %.0fx%.0f",
                        f->width, out->height, f->npanel, f->npanel == 1 ? "" : "s",
                        ceil(left + right + LEAST),
                        ceil(top + below + f->npanel * (LEAST + GAP) - GAP));
    }
    for (int p = 0; p < f->npanel; p++) {
        out->panel[p].area = (snw_box){left, top + p * (each + GAP), inner, each};
        const range r = padded_range(range_y(f, p), MARGIN);
        set_axis(f->panel[p].quantity, f->panel[p].unit, f->log_y, r,
                 largest_in(f->log_y, range_y(f, p)), &out->panel[p].y);
    }
    set_axis(f->quantity, f->unit, f->log_x, x, largest_in(f->log_x, range_x(f)), &out->x);
    if (f->equal) equalise_scales(f, x, y, out);
    set_ticks_x(f, canvas, font, inner, &out->x);
    for (int p = 0; p < f->npanel; p++) set_ticks_y(font, each, &out->panel[p].y);
    if (f->equal) equalise_ticks(&out->x, &out->panel[0].y);
    return SNW_OK;
}

snw_status snw_plot_lay_out(const snw_figure *f, const snw_canvas *canvas, snw_pool *pool,
                            snw_plot_layout *out, snw_error *err) {
    *out = (snw_plot_layout){.width = f->width,
                             .font = LETTERS,
                             .sample = SAMPLE,
                             .mark = MARK,
                             .side = EDGE + 0.8 * LETTERS,
                             .beside = f->beside};
    out->panel = snw_pool_array(pool, (size_t)f->npanel, sizeof *out->panel);
    out->path = snw_pool_array(pool, (size_t)plot_layout_longest(f), sizeof *out->path);
    if (!out->panel || !out->path) return snw_fail_memory(err);
    // the width of the tick texts depends on the ticks, and these on the height: two passes
    double numbers = 0;
    for (int pass = 0; pass < 2; pass++) {
        SNW_TRY(layout_panels(f, canvas, numbers, out, err));
        for (int p = 0; p < f->npanel; p++) {
            numbers = fmax(numbers, widest_tick(&out->panel[p].y, canvas, out->font));
        }
    }
    for (int p = 0; p < f->npanel; p++) {
        SNW_TRY(layout_names(f, p, out->font, pool, &out->panel[p], err));
    }
    return SNW_OK;
}
