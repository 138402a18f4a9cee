// SPDX-License-Identifier: MIT
//
// Sinks to a stream and to memory; numbers that read back exactly; XML.
#include "output/sink.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool write_stream(void *user, const char *bytes, size_t size) {
    return fwrite(bytes, 1, size, user) == size;
}

snw_sink snw_sink_stream(FILE *stream) {
    const snw_sink sink = {stream, write_stream};
    return sink;
}

static bool write_memory(void *user, const char *bytes, size_t size) {
    snw_buffer *to = user;
    if (to->text) memcpy(to->text + to->size, bytes, size);
    to->size += size;
    return true;
}

snw_sink snw_sink_buffer(snw_buffer *to) {
    const snw_sink sink = {to, write_memory};
    return sink;
}

// Replace the locale's decimal mark, which may have several bytes.
static void point_as_mark(char *text) {
    const size_t before = strspn(text, "+-0123456789");
    const size_t mark = strcspn(text + before, "e0123456789");
    if (mark == 0) return;
    text[before] = '.';
    memmove(text + before + 1, text + before + mark, strlen(text + before + mark) + 1);
}

static void not_finite_text(double x, char text[SNW_NUMBER_SIZE]) {
    (void)snprintf(text, SNW_NUMBER_SIZE, "%s", isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

void snw_number_text(double x, char text[SNW_NUMBER_SIZE]) {
    if (!isfinite(x)) {
        not_finite_text(x, text);
        return;
    }
    if (x == (int)fmax(fmin(x, 1e6), -1e6) && !(x == 0 && signbit(x))) { // a short integer
        (void)snprintf(text, SNW_NUMBER_SIZE, "%d", (int)x);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, SNW_NUMBER_SIZE, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    point_as_mark(text);
}

void snw_number_single(double x, char text[SNW_NUMBER_SIZE]) {
    if (!isfinite(x)) {
        not_finite_text(x, text);
        return;
    }
    (void)snprintf(text, SNW_NUMBER_SIZE, "%.9g", (double)(float)x);
    point_as_mark(text);
}

// entity of a character; NULL: the character itself
static const char *xml_entity(char c) {
    const unsigned char u = (unsigned char)c;
    return c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
           : u < 0x20 ? " "
                      : NULL;
}

bool snw_xml_bytes(void *user, const char *bytes, size_t size) {
    snw_xml *x = user;
    if (!x->failed && size > 0) x->failed = !x->sink.write(x->sink.user, bytes, size);
    return !x->failed;
}

void snw_xml_print(snw_xml *x, const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (n > 0) (void)snw_xml_bytes(x, text, strlen(text));
}

void snw_xml_escaped(snw_xml *x, const char *text) {
    for (const char *c = text; *c; c++) {
        const char *name = xml_entity(*c);
        (void)snw_xml_bytes(x, name ? name : c, name ? strlen(name) : 1);
    }
}
