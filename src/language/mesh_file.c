// SPDX-License-Identifier: MIT
//
// Parsers of STL and OBJ files; glTF and COLLADA files have their own (mesh_gltf.c, mesh_dae.c).
// Counts in a file are compared with its size before anything is allocated.
#include "language/mesh_file.h"

#include "language/mesh_builder.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// ---- words --------------------------------------------------------------------------------------

enum { WORD = 64 };

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Next word of the line; false at its end. A word that is too long is cut, and is then no number.
static bool next_word(snw_mesh_builder *r, char word[WORD]) {
    size_t n = 0;
    while (r->at < r->end && is_blank(*r->at)) r->at++;
    while (r->at < r->end && !is_blank(*r->at) && *r->at != '\n') {
        if (n < WORD - 1) word[n++] = *r->at;
        r->at++;
    }
    word[n] = '\0';
    return n > 0;
}

// To the beginning of the next line; false at the end of the file.
static bool next_line(snw_mesh_builder *r) {
    while (r->at < r->end && *r->at != '\n') r->at++;
    if (r->at < r->end) r->at++;
    r->line++;
    return r->at < r->end;
}

// First word of the next line that has one, from the present place; false at the end.
static bool first_word(snw_mesh_builder *r, char word[WORD]) {
    while (!next_word(r, word)) {
        if (!next_line(r)) return false;
    }
    return true;
}

static snw_status read_coordinates(snw_mesh_builder *r, const char *what, snw_vec3 *out) {
    char word[WORD];
    for (int k = 0; k < 3; k++) {
        char *rest = word;
        const bool any = next_word(r, word);
        if (any && strspn(word, "0123456789+-.eE") == strlen(word)) out->e[k] = strtod(word, &rest);
        if (!any || rest == word || *rest)
            return SNW_MESH_FAIL(r, "'%s' needs three numbers, got '%.40s'", what, any ? word : "");
    }
    return SNW_OK;
}

// ---- STL ----------------------------------------------------------------------------------------

enum { STL_HEADER = 80, STL_COUNT = 4, STL_FACE = 50, STL_NORMAL = 12, STL_CORNER = 12 };

static uint32_t little_endian(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static snw_status read_binary(snw_mesh_builder *r, const char *bytes, uint32_t n) {
    const char *at = bytes + STL_HEADER + STL_COUNT;
    for (uint32_t f = 0; f < n; f++, at += STL_FACE) {
        for (int c = 0; c < 3; c++) {
            snw_vec3 p;
            for (int k = 0; k < 3; k++) {
                const uint32_t bits = little_endian(at + STL_NORMAL + c * STL_CORNER + 4 * k);
                float value;
                memcpy(&value, &bits, sizeof value);
                p.e[k] = value;
            }
            SNW_TRY(snw_mesh_add_vertex(r, p));
        }
        SNW_TRY(snw_mesh_add_face(r, r->nvertex - 3, r->nvertex - 2, r->nvertex - 1));
    }
    return SNW_OK;
}

// The words that must follow, over lines.
static snw_status expect_words(snw_mesh_builder *r, int n, const char *const *want) {
    char word[WORD];
    for (int i = 0; i < n; i++) {
        if (!first_word(r, word)) return SNW_MESH_FAIL(r, "the file ends before '%s'", want[i]);
        if (strcmp(word, want[i]) != 0)
            return SNW_MESH_FAIL(r, "'%s' is expected here, got '%.40s'", want[i], word);
    }
    return SNW_OK;
}

static snw_status read_facet(snw_mesh_builder *r) {
    static const char *const before[] = {"outer", "loop"}, *const corner[] = {"vertex"},
                             *const after[] = {"endloop", "endfacet"};
    char word[WORD];
    if (!next_word(r, word) || strcmp(word, "normal") != 0)
        return SNW_MESH_FAIL(r, "'facet normal' and three numbers are expected here");
    // the normal is that of the corners, and often written wrongly
    (void)next_line(r);
    SNW_TRY(expect_words(r, 2, before));
    for (int k = 0; k < 3; k++) {
        snw_vec3 p;
        SNW_TRY(expect_words(r, 1, corner));
        SNW_TRY(read_coordinates(r, "vertex", &p));
        SNW_TRY(snw_mesh_add_vertex(r, p));
    }
    SNW_TRY(snw_mesh_add_face(r, r->nvertex - 3, r->nvertex - 2, r->nvertex - 1));
    return expect_words(r, 2, after);
}

static snw_status read_text_stl(snw_mesh_builder *r) {
    char word[WORD];
    bool open = false;
    while (first_word(r, word)) {
        if (strcmp(word, "solid") == 0 && !open) {
            open = true;
            (void)next_line(r); // the rest is a name
        } else if (strcmp(word, "endsolid") == 0 && open) {
            open = false;
            (void)next_line(r);
        } else if (strcmp(word, "facet") == 0 && open) {
            SNW_TRY(read_facet(r));
        } else {
            return SNW_MESH_FAIL(r, "'%s' is expected here, got '%.40s'",
                                 open ? "facet' or 'endsolid" : "solid", word);
        }
    }
    return open ? SNW_MESH_FAIL(r, "the file ends before 'endsolid'") : SNW_OK;
}

static snw_status read_stl(snw_mesh_builder *r, const char *bytes, size_t length) {
    const size_t head = STL_HEADER + STL_COUNT;
    const uint32_t n = length >= head ? little_endian(bytes + STL_HEADER) : 0;
    if (length >= head && length == head + (size_t)n * STL_FACE) {
        if (n > SNW_MESH_FACES) {
            r->line = 0;
            return SNW_MESH_FAIL(r, "a mesh has at most %d faces, this one %u", (int)SNW_MESH_FACES,
                                 (unsigned)n);
        }
        r->line = 0;
        const snw_status s = read_binary(r, bytes, n);
        r->face_line = NULL; // faces are counted in messages
        return s;
    }
    const size_t blank = strspn(bytes, " \t\r\n");
    if (length >= blank + 5 && strncmp(bytes + blank, "solid", 5) == 0 && !memchr(bytes, 0, length))
        return read_text_stl(r);
    r->line = 0;
    if (length < head) {
        return SNW_MESH_FAIL(
            r,
            "%zu bytes are no STL file: it begins with 'solid', or with a header of 84 "
            "bytes",
            length);
    }
    return SNW_MESH_FAIL(
        r,
        "a binary STL file of %u faces has %zu bytes, this one has %zu: it is cut off or "
        "damaged",
        (unsigned)n, head + (size_t)n * STL_FACE, length);
}

// ---- OBJ ----------------------------------------------------------------------------------------

// Vertex of a face: `7`, `7/1`, `7//3`, `7/1/3`; negative: counted from the last one.
static snw_status read_index(snw_mesh_builder *r, const char *word, int *out) {
    char *rest;
    const long i = strtol(word, &rest, 10);
    if (rest == word || (*rest && *rest != '/'))
        return SNW_MESH_FAIL(r, "'%.40s' is not the number of a vertex", word);
    const long from_first = i < 0 ? r->nvertex + i : i - 1;
    if (i == 0 || i == LONG_MIN || i == LONG_MAX || from_first < 0 || from_first >= r->nvertex)
        return SNW_MESH_FAIL(r, "there is no vertex %ld, %d are given so far", i, r->nvertex);
    *out = (int)from_first;
    return SNW_OK;
}

static snw_status read_polygon(snw_mesh_builder *r) {
    char word[WORD];
    int first = 0, last = 0, now = 0, n = 0;
    while (next_word(r, word)) {
        SNW_TRY(read_index(r, word, &now));
        if (n == 0) first = now;
        if (n >= 2) SNW_TRY(snw_mesh_add_face(r, first, last, now));
        last = now;
        n++;
    }
    return n >= 3 ? SNW_OK : SNW_MESH_FAIL(r, "a face has three vertices or more, got %d", n);
}

static snw_status read_obj(snw_mesh_builder *r) {
    static const char *const other[] = {"vn", "vt", "vp", "o",   "g",      "s",
                                        "l",  "p",  "mg", "lod", "usemtl", "mtllib"};
    char word[WORD];
    while (first_word(r, word)) {
        if (strcmp(word, "v") == 0) {
            snw_vec3 p;
            SNW_TRY(read_coordinates(r, "v", &p));
            SNW_TRY(snw_mesh_add_vertex(r, p));
        } else if (strcmp(word, "f") == 0) {
            SNW_TRY(read_polygon(r));
        } else if (word[0] != '#') {
            bool known = false;
            for (size_t i = 0; i < sizeof other / sizeof *other; i++)
                known = known || strcmp(word, other[i]) == 0;
            if (!known)
                return SNW_MESH_FAIL(r, "'%.40s' is not understood; faces are 'v' and 'f'", word);
        }
        (void)next_line(r);
    }
    return SNW_OK;
}

// ---- both ---------------------------------------------------------------------------------------

bool snw_mesh_file_is(const char *path, const char *end) {
    const size_t n = strlen(path), k = strlen(end);
    if (n < k) return false;
    for (size_t i = 0; i < k; i++) {
        const char c = path[n - k + i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != end[i]) return false;
    }
    return true;
}

bool snw_mesh_file_known(const char *path) {
    static const char *const end[] = {".stl", ".obj", ".glb", ".gltf", ".dae"};
    for (size_t i = 0; i < sizeof end / sizeof *end; i++) {
        if (snw_mesh_file_is(path, end[i])) return true;
    }
    return false;
}

snw_status snw_mesh_file_parse(snw_pool *pool, const char *path, const char *bytes, size_t length,
                               double scale, snw_triangle_mesh *out, snw_error *err) {
    snw_mesh_builder r = {.pool = pool,
                          .path = path,
                          .scale = scale,
                          .at = bytes,
                          .end = bytes + length,
                          .line = 1,
                          .err = err};
    if (snw_mesh_file_is(path, ".obj")) {
        SNW_TRY(read_obj(&r));
    } else if (snw_mesh_file_is(path, ".stl")) {
        SNW_TRY(read_stl(&r, bytes, length));
    } else if (snw_mesh_file_is(path, ".glb") || snw_mesh_file_is(path, ".gltf")) {
        SNW_TRY(snw_mesh_read_gltf(&r, bytes, length));
    } else if (snw_mesh_file_is(path, ".dae")) {
        SNW_TRY(snw_mesh_read_dae(&r, bytes, length));
    } else {
        r.line = 0;
        return SNW_MESH_FAIL(&r, "a mesh is read from a file whose name ends with " SNW_MESH_FILES);
    }
    *out = (snw_triangle_mesh){r.nvertex, r.nface, r.vertex, r.face, r.face_line};
    return SNW_OK;
}
