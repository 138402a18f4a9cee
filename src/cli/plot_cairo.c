// SPDX-License-Identifier: MIT
//
// Canvas for PNG and PDF files by cairo.
#include "cli/plot_cairo.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/on_demand.h"

#ifdef SNW_CAIRO

#include <cairo-pdf.h>
#include <cairo.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

// clang-format off
#define CAIRO_FUNCTIONS(X) \
    X(arc) X(clip) X(create) X(destroy) X(fill) X(fill_preserve) X(font_options_create) X(font_options_destroy) \
    X(font_options_set_antialias) X(font_options_set_hint_metrics) \
    X(font_options_set_hint_style) X(image_surface_create) X(line_to) X(move_to) X(new_path) \
    X(paint) X(pdf_surface_create_for_stream) X(rectangle) X(reset_clip) X(restore) X(rotate) \
    X(save) X(scale) X(select_font_face) X(set_dash) X(set_font_options) X(set_font_size) \
    X(set_line_cap) X(set_line_join) X(set_line_width) X(set_source_rgb) X(show_text) \
    X(status) X(status_to_string) X(stroke) X(surface_destroy) X(surface_finish) \
    X(surface_status) X(surface_write_to_png_stream) X(text_extents) X(translate)
// clang-format on
// Functions of cairo, loaded by snw_cairo_check; written once, before any use.
#define FIELD(name) __typeof__(cairo_##name) *name;
#define NAME(name)  #name,
static struct { CAIRO_FUNCTIONS(FIELD) } cairo;
static const char *const cairo_names[] = {CAIRO_FUNCTIONS(NAME)};

static const double POINT = 72 / 25.4; // points per mm

struct snw_cairo {
    cairo_surface_t *surface;
    cairo_t *cr;
    double dpi; // 0: PDF
    snw_sink sink;
    size_t written;
};

snw_status snw_cairo_check(snw_error *err) {
    enum { N = sizeof cairo_names / sizeof cairo_names[0] };
    return snw_on_demand(SNW_CAIRO, "libcairo2", "cairo_", N, cairo_names, &cairo, err);
}

static snw_status fail_cairo(cairo_status_t status, snw_error *err) {
    return snw_fail(err, status == CAIRO_STATUS_NO_MEMORY ? SNW_E_MEMORY : SNW_E_IO,
                    "cannot draw: %s", cairo.status_to_string(status));
}

static bool write_bytes(snw_cairo *c, const unsigned char *bytes, size_t n) {
    c->written += n;
    return n == 0 || c->sink.write(c->sink.user, (const char *)bytes, n);
}

static void put_big_endian(uint32_t x, unsigned char *out) {
    for (int i = 0; i < 4; i++) out[i] = (unsigned char)(x >> (24 - 8 * i));
}

// Write the chunk pHYs with the size of a pixel, which cairo omits; without it the printed size is
// undefined. It ends with the CRC of its name and data (PNG specification, annex D).
static bool write_pixel_size(snw_cairo *c) {
    unsigned char chunk[21] = {0, 0, 0, 9, 'p', 'H', 'Y', 's'};
    const uint32_t per_metre = (uint32_t)lround(c->dpi / 0.0254);
    put_big_endian(per_metre, chunk + 8);
    put_big_endian(per_metre, chunk + 12);
    chunk[16] = 1; // unit: metre
    uint32_t sum = 0xffffffffU;
    for (int i = 4; i < 17; i++) {
        sum ^= chunk[i];
        for (int k = 0; k < 8; k++) sum = sum & 1 ? 0xedb88320U ^ sum >> 1 : sum >> 1;
    }
    put_big_endian(~sum, chunk + 17);
    return write_bytes(c, chunk, sizeof chunk);
}

static cairo_status_t cairo_write(void *user, const unsigned char *bytes, unsigned n) {
    enum { HEAD = 8 + 25 }; // signature and header of a PNG
    snw_cairo *c = user;
    bool good = true;
    if (c->dpi > 0 && c->written < HEAD && c->written + n >= HEAD) {
        const size_t first = HEAD - c->written;
        good = write_bytes(c, bytes, first) && write_pixel_size(c);
        bytes += first;
        n -= (unsigned)first;
    }
    return good && write_bytes(c, bytes, n) ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

// take ownership of the surface; drawing coordinates are mm
static snw_status open_surface(snw_cairo *c, cairo_surface_t *surface, double scale,
                               snw_error *err) {
    if (c->cr) cairo.destroy(c->cr);
    if (c->surface) cairo.surface_destroy(c->surface);
    c->surface = surface;
    c->cr = cairo.create(surface);
    cairo.scale(c->cr, scale, scale);
    // cairo substitutes a similar family if this one is missing
    cairo.select_font_face(c->cr, "Helvetica", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_font_options_t *font = cairo.font_options_create();
    cairo.font_options_set_hint_metrics(font, CAIRO_HINT_METRICS_OFF);
    cairo.font_options_set_hint_style(font, CAIRO_HINT_STYLE_NONE);
    cairo.font_options_set_antialias(font, CAIRO_ANTIALIAS_GRAY);
    cairo.set_font_options(c->cr, font);
    cairo.font_options_destroy(font);
    const cairo_status_t status = cairo.status(c->cr);
    return status == CAIRO_STATUS_SUCCESS ? SNW_OK : fail_cairo(status, err);
}

snw_status snw_cairo_create(snw_cairo **out, snw_error *err) {
    SNW_TRY(snw_cairo_check(err));
    snw_cairo *c = snw_alloc(sizeof *c);
    if (!c) return snw_fail_memory(err);
    const snw_status status =
        open_surface(c, cairo.image_surface_create(CAIRO_FORMAT_RGB24, 1, 1), 300 / 25.4, err);
    if (status != SNW_OK) {
        snw_cairo_destroy(c);
        return status;
    }
    *out = c;
    return SNW_OK;
}

void snw_cairo_destroy(snw_cairo *c) {
    if (!c) return;
    if (c->cr) cairo.destroy(c->cr);
    if (c->surface) cairo.surface_destroy(c->surface);
    snw_free(c);
}

snw_status snw_cairo_begin(snw_cairo *c, double width, double height, double dpi, snw_sink sink,
                           snw_error *err) {
    c->sink = sink;
    c->dpi = dpi;
    const double scale = dpi > 0 ? dpi / 25.4 : POINT;
    cairo_surface_t *surface =
        dpi > 0
            ? cairo.image_surface_create(CAIRO_FORMAT_RGB24, (int)lround(width * scale),
                                         (int)lround(height * scale))
            : cairo.pdf_surface_create_for_stream(cairo_write, c, width * scale, height * scale);
    SNW_TRY(open_surface(c, surface, scale, err));
    cairo.set_source_rgb(c->cr, 1, 1, 1);
    cairo.paint(c->cr);
    return SNW_OK;
}

snw_status snw_cairo_end(snw_cairo *c, snw_error *err) {
    cairo_status_t status = cairo.status(c->cr);
    if (status == CAIRO_STATUS_SUCCESS && c->dpi > 0) {
        status = cairo.surface_write_to_png_stream(c->surface, cairo_write, c);
    }
    cairo.surface_finish(c->surface);
    if (status == CAIRO_STATUS_SUCCESS) status = cairo.surface_status(c->surface);
    return status == CAIRO_STATUS_SUCCESS ? SNW_OK : fail_cairo(status, err);
}

// ---- the canvas --------------------------------------------------------------------------------

static void set_colour(const snw_cairo *c, unsigned colour) {
    cairo.set_source_rgb(c->cr, (colour >> 16 & 0xff) / 255.0, (colour >> 8 & 0xff) / 255.0,
                         (colour & 0xff) / 255.0);
}

// Exponents are drawn as small digits above the line: many fonts lack some of Unicode's own, and
// cairo then leaves them out without a word.
static const char *const exponent[] = {"⁻", "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
static const char *const plain[] = {"\u2212", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
static const double small = 0.7, raised = 0.36; // of the size

// Number of the exponent that begins at *text, which moves past it; -1: another character.
static int take_exponent(const char **text) {
    for (int k = 0; k < (int)(sizeof exponent / sizeof exponent[0]); k++) {
        const size_t n = strlen(exponent[k]);
        if (strncmp(*text, exponent[k], n) != 0) continue;
        *text += n;
        return k;
    }
    return -1;
}

// piece <- the next characters of *text that are all exponents, as plain ones, or none; is it one
// of exponents?
static bool next_piece(const char **text, size_t size, char *piece) {
    size_t used = 0;
    const char *next = *text;
    const bool above = take_exponent(&next) >= 0;
    while (**text) {
        next = *text;
        const int k = take_exponent(&next);
        if ((k >= 0) != above) break;
        if (k < 0) next = *text + 1;
        while (k < 0 && (*next & 0xc0) == 0x80) next++; // a character of UTF-8
        const char *from = k >= 0 ? plain[k] : *text;
        const size_t n = k >= 0 ? strlen(from) : (size_t)(next - *text);
        if (used + n >= size) break;
        memcpy(piece + used, from, n);
        used += n;
        *text = next;
    }
    piece[used] = '\0';
    return above;
}

// Width of a text; drawn from the present origin on if `draw`.
static double pieces(const snw_cairo *c, const char *text, double size, bool draw) {
    double width = 0;
    char piece[512];
    while (*text) {
        const char *before = text;
        const bool above = next_piece(&text, sizeof piece, piece);
        if (text == before) break;
        cairo_text_extents_t extents;
        cairo.set_font_size(c->cr, above ? small * size : size);
        cairo.text_extents(c->cr, piece, &extents);
        if (draw) {
            cairo.move_to(c->cr, width, above ? -raised * size : 0);
            cairo.show_text(c->cr, piece);
        }
        width += extents.x_advance;
    }
    return width;
}

static double measure(void *user, const char *text, double size) {
    return pieces(user, text, size, false);
}

static void clip(void *user, const snw_box *box) {
    const snw_cairo *c = user;
    cairo.reset_clip(c->cr);
    if (!box) return;
    cairo.rectangle(c->cr, box->x, box->y, box->w, box->h);
    cairo.clip(c->cr);
}

static void line(void *user, int n, const double (*p)[2], snw_pen pen) {
    const snw_cairo *c = user;
    int count;
    const double *dash = snw_pen_dashes(pen.dash, &count);
    double length[8];
    for (int i = 0; i < count; i++) length[i] = dash[i] * pen.width;
    cairo.set_dash(c->cr, length, count, 0);
    cairo.set_line_cap(c->cr, count ? CAIRO_LINE_CAP_BUTT : CAIRO_LINE_CAP_ROUND);
    cairo.set_line_join(c->cr, CAIRO_LINE_JOIN_ROUND);
    cairo.set_line_width(c->cr, pen.width);
    set_colour(c, pen.colour);
    cairo.new_path(c->cr); // drawing a text leaves a current point
    for (int i = 0; i < n; i++) cairo.line_to(c->cr, p[i][0], p[i][1]);
    cairo.stroke(c->cr);
}

static void dot(void *user, const double p[2], double radius, unsigned colour) {
    const snw_cairo *c = user;
    set_colour(c, colour);
    cairo.new_path(c->cr);
    cairo.arc(c->cr, p[0], p[1], radius, 0, 2 * acos(-1.0));
    cairo.fill(c->cr);
}

static void fill(void *user, int n, const double (*p)[2], unsigned colour) {
    const snw_cairo *c = user;
    bool begins = true;
    set_colour(c, colour);
    cairo.new_path(c->cr);
    for (int i = 0; i < n; i++) {
        if (isnan(p[i][0])) {
            begins = true;
            continue;
        }
        begins ? cairo.move_to(c->cr, p[i][0], p[i][1]) : cairo.line_to(c->cr, p[i][0], p[i][1]);
        begins = false;
    }
    cairo.set_dash(c->cr, NULL, 0, 0);
    cairo.set_line_width(c->cr, SNW_PLOT_SEAM);
    cairo.fill_preserve(c->cr);
    cairo.stroke(c->cr);
}

static void text(void *user, const double at[2], double size, snw_align align, bool upright,
                 const char *what) {
    const snw_cairo *c = user;
    const double width = measure(user, what, size);
    const double back = align == SNW_ALIGN_RIGHT    ? width
                        : align == SNW_ALIGN_MIDDLE ? width / 2
                                                    : 0;
    set_colour(c, 0x1a1a1a);
    cairo.save(c->cr);
    cairo.translate(c->cr, at[0], at[1]);
    if (upright) cairo.rotate(c->cr, -acos(-1.0) / 2);
    cairo.translate(c->cr, -back, 0);
    (void)pieces(c, what, size, true);
    cairo.restore(c->cr);
}

snw_canvas snw_cairo_canvas(snw_cairo *c) {
    return (snw_canvas){.user = c,
                        .measure = measure,
                        .clip = clip,
                        .line = line,
                        .dot = dot,
                        .fill = fill,
                        .text = text};
}

#else

snw_status snw_cairo_check(snw_error *err) {
    return snw_fail(err, SNW_E_IO,
                    "this sinew was built without cairo, which draws PNG and PDF: install it "
                    "(Debian: libcairo2-dev) and build again, or write SVG, -o FIG.svg");
}

snw_status snw_cairo_create(snw_cairo **out, snw_error *err) {
    *out = NULL;
    return snw_cairo_check(err);
}

void snw_cairo_destroy(snw_cairo *c) { (void)c; }

snw_canvas snw_cairo_canvas(snw_cairo *c) { return (snw_canvas){.user = c}; }

snw_status snw_cairo_begin(snw_cairo *c, double width, double height, double dpi, snw_sink sink,
                           snw_error *err) {
    (void)c, (void)width, (void)height, (void)dpi, (void)sink;
    return snw_cairo_check(err);
}

snw_status snw_cairo_end(snw_cairo *c, snw_error *err) {
    (void)c;
    return snw_cairo_check(err);
}

#endif
