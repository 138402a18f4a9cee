// SPDX-License-Identifier: MIT
//
// Parsers of STL and OBJ files. Counts in a file are compared with its size before anything is
// allocated.
#include "language/mesh_file.h"

#include "base/fail.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// A mesh that is being read.
typedef struct mesh_reader {
    snw_pool *pool;
    const char *path;
    double scale;
    const char *at, *end; // of texts
    int line;
    int nvertex, vertex_room, nface, face_room;
    snw_vec3 *vertex;
    int (*face)[3];
    int *face_line;
    snw_error *err;
} mesh_reader;

#define FAIL(r, ...)                                                                               \
    (snw_fail_text((r)->err, SNW_E_PARSE, __VA_ARGS__),                                            \
     snw_fail_at_location((r)->err, SNW_E_PARSE, (r)->path, (r)->line, 1))

static snw_status mesh_no_memory(mesh_reader *r) {
    return snw_fail(r->err, SNW_E_MEMORY, "no memory for the mesh of '%.200s'", r->path);
}

// Room for n elements in an array that doubles.
static bool more_room(snw_pool *pool, int n, int *room, size_t size, void **array) {
    if (n < *room) return true;
    const int twice = *room ? 2 * *room : 256;
    void *more = snw_pool_array(pool, (size_t)twice, size);
    if (!more) return false;
    if (n > 0) memcpy(more, *array, (size_t)n * size);
    *room = twice;
    *array = more;
    return true;
}

static snw_status add_vertex(mesh_reader *r, snw_vec3 p) {
    for (int k = 0; k < 3; k++) {
        p.e[k] *= r->scale;
        if (!isfinite(p.e[k]) || fabs(p.e[k]) > 1e9)
            return FAIL(r, "a coordinate of vertex %d is not a number, or beyond 1e9 m",
                        r->nvertex + 1);
    }
    if (r->nvertex >= 3 * SNW_MESH_FACES)
        return FAIL(r, "a mesh has at most %d vertices", 3 * (int)SNW_MESH_FACES);
    void *array = r->vertex;
    if (!more_room(r->pool, r->nvertex, &r->vertex_room, sizeof *r->vertex, &array))
        return mesh_no_memory(r);
    r->vertex = array;
    r->vertex[r->nvertex++] = p;
    return SNW_OK;
}

static snw_status add_face(mesh_reader *r, int a, int b, int c) {
    if (r->nface >= SNW_MESH_FACES)
        return FAIL(r, "a mesh has at most %d faces", (int)SNW_MESH_FACES);
    if (a == b || b == c || c == a)
        return FAIL(r, "face %d has the same vertex twice", r->nface + 1);
    void *face = r->face, *line = r->face_line;
    int room = r->face_room;
    if (!more_room(r->pool, r->nface, &r->face_room, sizeof *r->face, &face) ||
        !more_room(r->pool, r->nface, &room, sizeof *r->face_line, &line))
        return mesh_no_memory(r);
    r->face = face;
    r->face_line = line;
    r->face[r->nface][0] = a, r->face[r->nface][1] = b, r->face[r->nface][2] = c;
    r->face_line[r->nface++] = r->line;
    return SNW_OK;
}

// ---- words --------------------------------------------------------------------------------------

enum { WORD = 64 };

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Next word of the line; false at its end. A word that is too long is cut, and is then no number.
static bool next_word(mesh_reader *r, char word[WORD]) {
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
static bool next_line(mesh_reader *r) {
    while (r->at < r->end && *r->at != '\n') r->at++;
    if (r->at < r->end) r->at++;
    r->line++;
    return r->at < r->end;
}

// First word of the next line that has one, from the present place; false at the end.
static bool first_word(mesh_reader *r, char word[WORD]) {
    while (!next_word(r, word)) {
        if (!next_line(r)) return false;
    }
    return true;
}

static snw_status read_coordinates(mesh_reader *r, const char *what, snw_vec3 *out) {
    char word[WORD];
    for (int k = 0; k < 3; k++) {
        char *rest = word;
        const bool any = next_word(r, word);
        if (any && strspn(word, "0123456789+-.eE") == strlen(word)) out->e[k] = strtod(word, &rest);
        if (!any || rest == word || *rest)
            return FAIL(r, "'%s' needs three numbers, got '%.40s'", what, any ? word : "");
    }
    return SNW_OK;
}

// ---- STL ----------------------------------------------------------------------------------------

enum { STL_HEADER = 80, STL_COUNT = 4, STL_FACE = 50, STL_NORMAL = 12, STL_CORNER = 12 };

static uint32_t little_endian(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static snw_status read_binary(mesh_reader *r, const char *bytes, uint32_t n) {
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
            SNW_TRY(add_vertex(r, p));
        }
        SNW_TRY(add_face(r, r->nvertex - 3, r->nvertex - 2, r->nvertex - 1));
    }
    return SNW_OK;
}

// The words that must follow, over lines.
static snw_status expect_words(mesh_reader *r, int n, const char *const *want) {
    char word[WORD];
    for (int i = 0; i < n; i++) {
        if (!first_word(r, word)) return FAIL(r, "the file ends before '%s'", want[i]);
        if (strcmp(word, want[i]) != 0)
            return FAIL(r, "'%s' is expected here, got '%.40s'", want[i], word);
    }
    return SNW_OK;
}

static snw_status read_facet(mesh_reader *r) {
    static const char *const before[] = {"outer", "loop"}, *const corner[] = {"vertex"},
                             *const after[] = {"endloop", "endfacet"};
    char word[WORD];
    if (!next_word(r, word) || strcmp(word, "normal") != 0)
        return FAIL(r, "'facet normal' and three numbers are expected here");
    // the normal is that of the corners, and often written wrongly
    (void)next_line(r);
    SNW_TRY(expect_words(r, 2, before));
    for (int k = 0; k < 3; k++) {
        snw_vec3 p;
        SNW_TRY(expect_words(r, 1, corner));
        SNW_TRY(read_coordinates(r, "vertex", &p));
        SNW_TRY(add_vertex(r, p));
    }
    SNW_TRY(add_face(r, r->nvertex - 3, r->nvertex - 2, r->nvertex - 1));
    return expect_words(r, 2, after);
}

static snw_status read_text_stl(mesh_reader *r) {
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
            return FAIL(r, "'%s' is expected here, got '%.40s'",
                        open ? "facet' or 'endsolid" : "solid", word);
        }
    }
    return open ? FAIL(r, "the file ends before 'endsolid'") : SNW_OK;
}

static snw_status read_stl(mesh_reader *r, const char *bytes, size_t length) {
    const size_t head = STL_HEADER + STL_COUNT;
    const uint32_t n = length >= head ? little_endian(bytes + STL_HEADER) : 0;
    if (length >= head && length == head + (size_t)n * STL_FACE) {
        if (n > SNW_MESH_FACES) {
            r->line = 0;
            return FAIL(r, "a mesh has at most %d faces, this one %u", (int)SNW_MESH_FACES,
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
        return FAIL(r,
                    "%zu bytes are no STL file: it begins with 'solid', or with a header of 84 "
                    "bytes",
                    length);
    }
    return FAIL(r,
                "a binary STL file of %u faces has %zu bytes, this one has %zu: it is cut off or "
                "damaged",
                (unsigned)n, head + (size_t)n * STL_FACE, length);
}

// ---- OBJ ----------------------------------------------------------------------------------------

// Vertex of a face: `7`, `7/1`, `7//3`, `7/1/3`; negative: counted from the last one.
static snw_status read_index(mesh_reader *r, const char *word, int *out) {
    char *rest;
    const long i = strtol(word, &rest, 10);
    if (rest == word || (*rest && *rest != '/'))
        return FAIL(r, "'%.40s' is not the number of a vertex", word);
    const long from_first = i < 0 ? r->nvertex + i : i - 1;
    if (i == 0 || i == LONG_MIN || i == LONG_MAX || from_first < 0 || from_first >= r->nvertex)
        return FAIL(r, "there is no vertex %ld, %d are given so far", i, r->nvertex);
    *out = (int)from_first;
    return SNW_OK;
}

static snw_status read_polygon(mesh_reader *r) {
    char word[WORD];
    int first = 0, last = 0, now = 0, n = 0;
    while (next_word(r, word)) {
        SNW_TRY(read_index(r, word, &now));
        if (n == 0) first = now;
        if (n >= 2) SNW_TRY(add_face(r, first, last, now));
        last = now;
        n++;
    }
    return n >= 3 ? SNW_OK : FAIL(r, "a face has three vertices or more, got %d", n);
}

static snw_status read_obj(mesh_reader *r) {
    static const char *const other[] = {"vn", "vt", "vp", "o",   "g",      "s",
                                        "l",  "p",  "mg", "lod", "usemtl", "mtllib"};
    char word[WORD];
    while (first_word(r, word)) {
        if (strcmp(word, "v") == 0) {
            snw_vec3 p;
            SNW_TRY(read_coordinates(r, "v", &p));
            SNW_TRY(add_vertex(r, p));
        } else if (strcmp(word, "f") == 0) {
            SNW_TRY(read_polygon(r));
        } else if (word[0] != '#') {
            bool known = false;
            for (size_t i = 0; i < sizeof other / sizeof *other; i++)
                known = known || strcmp(word, other[i]) == 0;
            if (!known) return FAIL(r, "'%.40s' is not understood; faces are 'v' and 'f'", word);
        }
        (void)next_line(r);
    }
    return SNW_OK;
}

// ---- both ---------------------------------------------------------------------------------------

static bool ends_with(const char *path, const char *end) {
    const size_t n = strlen(path), k = strlen(end);
    if (n < k) return false;
    for (size_t i = 0; i < k; i++) {
        const char c = path[n - k + i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != end[i]) return false;
    }
    return true;
}

snw_status snw_mesh_file_parse(snw_pool *pool, const char *path, const char *bytes, size_t length,
                               double scale, snw_triangle_mesh *out, snw_error *err) {
    mesh_reader r = {.pool = pool,
                     .path = path,
                     .scale = scale,
                     .at = bytes,
                     .end = bytes + length,
                     .line = 1,
                     .err = err};
    if (ends_with(path, ".obj")) {
        SNW_TRY(read_obj(&r));
    } else if (ends_with(path, ".stl")) {
        SNW_TRY(read_stl(&r, bytes, length));
    } else {
        r.line = 0;
        return FAIL(&r, "a mesh is read from a file whose name ends with .stl or .obj");
    }
    *out = (snw_triangle_mesh){r.nvertex, r.nface, r.vertex, r.face, r.face_line};
    return SNW_OK;
}
