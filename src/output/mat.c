// SPDX-License-Identifier: MIT
//
// MATLAB files of version 5. A file is a header of 128 bytes and data elements: type and number of
// bytes (32 bits each), then the bytes, filled up to a multiple of 8. A variable is an element of
// type MATRIX that consists of elements: flags with the class, dimensions, name, contents.
#include "output/mat.h"

#include <stdint.h>
#include <string.h>

enum { INT8 = 1, UINT16 = 4, INT32 = 5, UINT32 = 6, DOUBLE = 9, MATRIX = 14 }; // of elements
enum { CELL_CLASS = 1, CHAR_CLASS = 4, DOUBLE_CLASS = 6, COMPLEX = 0x800 };
enum { TAG = 8, HEADER = 128, TEXT = 116 };

static void mat_bytes(snw_mat *m, const void *bytes, size_t size) {
    if (!m->failed && size > 0) m->failed = !m->sink.write(m->sink.user, bytes, size);
}

static size_t padded(size_t size) { return (size + 7) / 8 * 8; }

static void mat_tag(snw_mat *m, uint32_t type, size_t size) {
    const uint32_t tag[2] = {type, (uint32_t)size};
    mat_bytes(m, tag, sizeof tag);
}

static void mat_element(snw_mat *m, uint32_t type, size_t size, const void *bytes) {
    static const char zero[8] = {0};
    mat_tag(m, type, size);
    mat_bytes(m, bytes, size);
    mat_bytes(m, zero, padded(size) - size);
}

// size of flags, dimensions and name of a variable
static size_t head_size(const char *name) { return 3 * (size_t)TAG + 16 + padded(strlen(name)); }

static void mat_head(snw_mat *m, uint32_t flags, int rows, int columns, const char *name) {
    const uint32_t words[2] = {flags, 0};
    const int32_t dimensions[2] = {rows, columns};
    mat_element(m, UINT32, sizeof words, words);
    mat_element(m, INT32, sizeof dimensions, dimensions);
    mat_element(m, INT8, strlen(name), name);
}

snw_mat snw_mat_begin(snw_sink sink, const char *text) {
    snw_mat m = {.sink = sink};
    char header[HEADER];
    memset(header, ' ', sizeof header);
    const size_t n = strlen(text);
    memcpy(header, text, n < TEXT ? n : TEXT);
    memset(header + TEXT, 0, 8); // no subsystem
    const uint16_t version[2] = {0x0100, 'M' << 8 | 'I'};
    memcpy(header + HEADER - sizeof version, version, sizeof version);
    mat_bytes(&m, header, sizeof header);
    return m;
}

void snw_mat_matrix(snw_mat *m, const char *name, int rows, int columns, const double *re,
                    const double *im) {
    const size_t size = (size_t)rows * (size_t)columns * sizeof *re, part = TAG + padded(size);
    mat_tag(m, MATRIX, head_size(name) + part + (im ? part : 0));
    mat_head(m, DOUBLE_CLASS | (im ? COMPLEX : 0), rows, columns, name);
    mat_element(m, DOUBLE, size, re);
    if (im) mat_element(m, DOUBLE, size, im);
}

// Number of UTF-16 units of a UTF-8 text; they are written to m unless it is NULL.
static size_t utf16(const char *text, snw_mat *m) {
    size_t n = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        const int more = *c < 0xc0 ? 0 : *c < 0xe0 ? 1 : *c < 0xf0 ? 2 : 3;
        uint32_t code = more == 0 ? *c : *c & (0x3fu >> more);
        c++;
        for (int i = 0; i < more && *c; i++, c++) code = code << 6 | (*c & 0x3f);
        const bool two = code >= 0x10000;
        const uint16_t unit[2] = {(uint16_t)(two ? 0xd800 + ((code - 0x10000) >> 10) : code),
                                  (uint16_t)(0xdc00 + ((code - 0x10000) & 0x3ff))};
        if (m) mat_bytes(m, unit, two ? sizeof unit : sizeof *unit);
        n += two ? 2 : 1;
    }
    return n;
}

static size_t text_size(const char *text) {
    return head_size("") + TAG + padded(2 * utf16(text, NULL));
}

// Units of a text, one at a time: names have no limit.
static void mat_text(snw_mat *m, const char *text) {
    static const char zero[8] = {0};
    const size_t units = utf16(text, NULL), size = 2 * units;
    mat_tag(m, MATRIX, text_size(text));
    mat_head(m, CHAR_CLASS, units > 0, (int)units, "");
    mat_tag(m, UINT16, size);
    (void)utf16(text, m);
    mat_bytes(m, zero, padded(size) - size);
}

void snw_mat_texts(snw_mat *m, const char *name, int n, const char *const *text) {
    size_t size = head_size(name);
    for (int i = 0; i < n; i++) size += TAG + text_size(text[i]);
    mat_tag(m, MATRIX, size);
    mat_head(m, CELL_CLASS, n, 1, name);
    for (int i = 0; i < n; i++) mat_text(m, text[i]);
}
