// SPDX-License-Identifier: MIT
//
// Triangles of glTF 2.0 files: .glb, and .gltf with buffers within the file (base64) or beside it.
// All meshes of the scene are taken with the transforms of their nodes; y upwards becomes z. JSON
// is read into a flat list of values; all counts and offsets are compared with what is there.
#include "language/mesh_builder.h"

#include "language/text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// ---- JSON ---------------------------------------------------------------------------------------

typedef enum json_kind { JSON_OBJECT, JSON_ARRAY, JSON_TEXT, JSON_OTHER } json_kind;

// A value. The children of an object are keys and values in turns, behind it.
typedef struct json_value {
    json_kind kind;
    int next;         // index of the value behind it and its children
    int n;            // children
    const char *text; // of a text without quotes, or of a number or word
    size_t length;
} json_value;

enum { JSON_DEPTH = 64, JSON_MOST = 1000000 };

// Lists at the top of the file; their elements by number.
enum { NODES, MESHES, ACCESSORS, VIEWS, BUFFERS, SCENES, LISTS };
static const char *const list_key[LISTS] = {"nodes",       "meshes",  "accessors",
                                            "bufferViews", "buffers", "scenes"};

typedef struct gltf {
    snw_mesh_builder *r;
    const char *at, *end;
    json_value *value;
    int n, room;
    const char *chunk; // binary chunk of a .glb file; NULL: none
    size_t chunk_length;
    struct { // buffers, once they are read
        const char *bytes;
        size_t length;
    } * buffer;
    struct {
        int n, *item; // indices of its values
    } list[LISTS];
    bool *visited; // nodes
    long steps;    // of searches
} gltf;

static void skip_space(gltf *g) {
    for (; g->at < g->end && strchr(" \t\r\n", *g->at) && *g->at; g->at++)
        g->r->line += *g->at == '\n';
}

static snw_status new_value(gltf *g, json_kind kind, int *out) {
    if (g->n == JSON_MOST) return SNW_MESH_FAIL(g->r, "the file has too many values");
    if (g->n == g->room) {
        const int room = g->room ? 2 * g->room : 1024;
        json_value *more = snw_pool_array(g->r->pool, (size_t)room, sizeof *more);
        if (!more) return snw_mesh_no_memory(g->r);
        if (g->n) memcpy(more, g->value, (size_t)g->n * sizeof *more);
        g->value = more;
        g->room = room;
    }
    g->value[g->n] = (json_value){.kind = kind, .text = g->at};
    *out = g->n++;
    return SNW_OK;
}

// A text; escapes stay as they are: no key that is looked for has any.
static snw_status json_text(gltf *g) {
    int i = 0;
    g->at++;
    SNW_TRY(new_value(g, JSON_TEXT, &i));
    while (g->at < g->end && *g->at != '"' && *g->at != '\n')
        g->at += *g->at == '\\' && g->at + 1 < g->end ? 2 : 1;
    if (g->at >= g->end || *g->at != '"') return SNW_MESH_FAIL(g->r, "a text has no end");
    g->value[i].length = (size_t)(g->at - g->value[i].text);
    g->value[i].next = g->n;
    g->at++;
    return SNW_OK;
}

static snw_status json_read(gltf *g, int depth) {
    skip_space(g);
    if (g->at == g->end) return SNW_MESH_FAIL(g->r, "the file ends within its JSON");
    if (depth == JSON_DEPTH) return SNW_MESH_FAIL(g->r, "values are nested too deeply");
    if (*g->at == '"') return json_text(g);
    int i = 0;
    if (*g->at != '{' && *g->at != '[') { // a number or a word
        SNW_TRY(new_value(g, JSON_OTHER, &i));
        while (g->at < g->end && *g->at && !strchr(",:]}[{\" \t\r\n", *g->at)) g->at++;
        g->value[i].length = (size_t)(g->at - g->value[i].text);
        g->value[i].next = g->n;
        if (g->value[i].length > 0) return SNW_OK;
        return SNW_MESH_FAIL(g->r, "a value is missing in the JSON");
    }
    const bool object = *g->at == '{';
    const char close = object ? '}' : ']';
    SNW_TRY(new_value(g, object ? JSON_OBJECT : JSON_ARRAY, &i));
    g->at++;
    skip_space(g);
    if (g->at < g->end && *g->at == close) {
        g->at++;
        g->value[i].next = g->n;
        return SNW_OK;
    }
    for (;;) {
        if (object) {
            skip_space(g);
            if (g->at == g->end || *g->at != '"')
                return SNW_MESH_FAIL(g->r, "the name of a value is missing in the JSON");
            SNW_TRY(json_text(g));
            skip_space(g);
            if (g->at == g->end || *g->at++ != ':')
                return SNW_MESH_FAIL(g->r, "a ':' is missing in the JSON");
        }
        SNW_TRY(json_read(g, depth + 1));
        g->value[i].n++;
        skip_space(g);
        if (g->at == g->end) return SNW_MESH_FAIL(g->r, "the file ends within its JSON");
        const char c = *g->at++;
        if (c == close) break;
        if (c != ',') return SNW_MESH_FAIL(g->r, "a ',' or '%c' is missing in the JSON", close);
    }
    g->value[i].next = g->n;
    return SNW_OK;
}

enum { STEPS = 100000000 }; // of all searches: a damaged file takes no more

// Index of the value of a key of object i, or of element k of array i; -1: there is none.
static int json_get(gltf *g, int i, const char *key) {
    if (i < 0 || g->value[i].kind != JSON_OBJECT || g->steps > STEPS) return -1;
    for (int k = i + 1; k < g->value[i].next; k = g->value[k + 1].next) {
        g->steps++;
        const json_value *v = &g->value[k];
        if (v->length == strlen(key) && strncmp(v->text, key, v->length) == 0) return k + 1;
    }
    return -1;
}

static int json_item(const gltf *g, int i, int k) {
    if (i < 0 || g->value[i].kind != JSON_ARRAY || k < 0 || k >= g->value[i].n) return -1;
    int at = i + 1;
    for (; k > 0; k--) at = g->value[at].next;
    return at;
}

static snw_status gltf_list(gltf *g, int which) {
    const int of = json_get(g, 0, list_key[which]);
    if (of < 0 || g->value[of].kind != JSON_ARRAY) return SNW_OK;
    int *item = snw_pool_array(g->r->pool, (size_t)g->value[of].n + 1, sizeof *item);
    if (!item) return snw_mesh_no_memory(g->r);
    g->list[which].item = item;
    for (int i = of + 1; i < g->value[of].next; i = g->value[i].next) item[g->list[which].n++] = i;
    return SNW_OK;
}

static int listed(const gltf *g, int which, long k) {
    return k >= 0 && k < g->list[which].n ? g->list[which].item[k] : -1;
}

static double json_number(const gltf *g, int i, double otherwise) {
    char text[64];
    if (i < 0) return otherwise;
    const json_value *v = &g->value[i];
    if (v->kind != JSON_OTHER || v->length >= sizeof text) return NAN;
    memcpy(text, v->text, v->length);
    text[v->length] = '\0';
    char *rest;
    const double x = strtod(text, &rest);
    return *rest || rest == text ? NAN : x;
}

// A value as a whole number from 0 to `most`; -1: it is something else. otherwise: it is not given.
static long whole_number(const gltf *g, int i, long otherwise, long most) {
    const double x = json_number(g, i, (double)otherwise);
    if (x == (double)otherwise) return otherwise;
    return x >= 0 && x <= (double)most && x == floor(x) ? (long)x : -1;
}

static long json_whole(gltf *g, int i, const char *key, long otherwise, long most) {
    return whole_number(g, json_get(g, i, key), otherwise, most);
}

static bool json_is(const gltf *g, int i, const char *text) {
    return i >= 0 && g->value[i].kind == JSON_TEXT && g->value[i].length == strlen(text) &&
           strncmp(g->value[i].text, text, g->value[i].length) == 0;
}

// ---- buffers ------------------------------------------------------------------------------------

static int digit_64(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static snw_status decode_64(gltf *g, const char *text, size_t length, const char **bytes,
                            size_t *size) {
    unsigned char *out = snw_pool_array(g->r->pool, length / 4 * 3 + 3, 1);
    if (!out) return snw_mesh_no_memory(g->r);
    uint32_t bits = 0;
    int have = 0;
    *size = 0;
    for (size_t i = 0; i < length && text[i] != '='; i++) {
        const int d = digit_64(text[i]);
        if (d < 0) return SNW_MESH_FAIL(g->r, "a buffer within the file is no base64");
        bits = bits << 6 | (uint32_t)d;
        have += 6;
        if (have < 8) continue;
        have -= 8;
        out[(*size)++] = (unsigned char)(bits >> have & 0xff);
    }
    *bytes = (const char *)out;
    return SNW_OK;
}

// A file beside this one: a plain name, or one in a folder below.
static snw_status read_beside(gltf *g, const char *uri, size_t length, const char **bytes,
                              size_t *size) {
    const char *slash = strrchr(g->r->path, '/');
    const int folder = slash ? (int)(slash - g->r->path) + 1 : 0;
    char *name = snw_pool_text(g->r->pool, uri, length);
    if (!name) return snw_mesh_no_memory(g->r);
    if (length == 0 || name[0] == '/' || strstr(name, "..") || strchr(name, ':') ||
        strchr(name, '\\'))
        return SNW_MESH_FAIL(g->r, "the buffer '%.100s' is no file beside this one", name);
    char *to = name; // %20 is a blank
    for (const char *c = name; *c; c++) {
        char hex[3] = {0};
        if (*c == '%' && c[1] && c[2]) {
            char *rest;
            hex[0] = c[1], hex[1] = c[2];
            const long code = strtol(hex, &rest, 16);
            if (!*rest && code >= ' ' && code < 127 && code != '/' && code != '.') {
                *to++ = (char)code;
                c += 2;
                continue;
            }
        }
        *to++ = *c;
    }
    *to = '\0';
    const char *path = snw_pool_format(g->r->pool, "%.*s%s", folder, g->r->path, name);
    if (!path) return snw_mesh_no_memory(g->r);
    snw_error why = {0};
    const snw_status s = snw_text_read(g->r->pool, path, SNW_MESH_FILE_MAX, bytes, size, &why);
    if (s == SNW_OK || s == SNW_E_MEMORY) return s;
    return SNW_MESH_FAIL(g->r, "its buffer '%.100s': %.200s", name, why.text);
}

static snw_status gltf_buffer(gltf *g, long k, const char **bytes, size_t *size) {
    if (g->buffer[k].bytes) {
        *bytes = g->buffer[k].bytes, *size = g->buffer[k].length;
        return SNW_OK;
    }
    const int uri = json_get(g, listed(g, BUFFERS, k), "uri");
    static const char data[] = "data:";
    if (uri < 0) {
        if (k > 0 || !g->chunk) return SNW_MESH_FAIL(g->r, "buffer %ld has no bytes", k);
        *bytes = g->chunk, *size = g->chunk_length;
    } else if (g->value[uri].length > 5 && strncmp(g->value[uri].text, data, 5) == 0) {
        static const char form[] = ";base64,";
        const json_value *v = &g->value[uri];
        const char *comma = memchr(v->text, ',', v->length);
        if (!comma || comma - v->text < 12 || strncmp(comma - 7, form, 8) != 0)
            return SNW_MESH_FAIL(g->r, "a buffer within the file is no base64");
        SNW_TRY(decode_64(g, comma + 1, v->length - (size_t)(comma + 1 - v->text), bytes, size));
    } else {
        SNW_TRY(read_beside(g, g->value[uri].text, g->value[uri].length, bytes, size));
    }
    g->buffer[k].bytes = *bytes, g->buffer[k].length = *size;
    return SNW_OK;
}

// ---- accessors ----------------------------------------------------------------------------------

enum { BYTES = 5121, SHORTS = 5123, INTS = 5125, FLOATS = 5126 };

// Elements of numbers in a buffer.
typedef struct accessor {
    const unsigned char *at;
    size_t stride;
    long n;
    int type; // of its components
} accessor;

static snw_status gltf_accessor(gltf *g, long k, bool positions, accessor *out) {
    const int a = listed(g, ACCESSORS, k);
    if (a < 0) return SNW_MESH_FAIL(g->r, "there is no accessor %ld", k);
    if (json_get(g, a, "sparse") >= 0)
        return SNW_MESH_FAIL(g->r, "accessor %ld is sparse, which is not supported; write it whole",
                             k);
    out->n = json_whole(g, a, "count", -1, 3L * SNW_MESH_FACES);
    out->type = (int)json_whole(g, a, "componentType", -1, 10000);
    const int size = out->type == BYTES ? 1 : out->type == SHORTS ? 2 : 4;
    const bool known = positions
                           ? out->type == FLOATS && json_is(g, json_get(g, a, "type"), "VEC3")
                           : (out->type == BYTES || out->type == SHORTS || out->type == INTS) &&
                                 json_is(g, json_get(g, a, "type"), "SCALAR");
    if (!known)
        return SNW_MESH_FAIL(g->r, "accessor %ld: %s", k,
                             positions ? "positions are three floats; quantised ones are not "
                                         "supported"
                                       : "indices are unsigned whole numbers");
    if (out->n < 0)
        return SNW_MESH_FAIL(g->r, "accessor %ld: its 'count' is missing, or more than %d", k,
                             3 * (int)SNW_MESH_FACES);
    const long view = json_whole(g, a, "bufferView", -1, INT32_MAX);
    const int v = listed(g, VIEWS, view);
    const long buffer = json_whole(g, v, "buffer", -1, INT32_MAX);
    if (v < 0 || listed(g, BUFFERS, buffer) < 0)
        return SNW_MESH_FAIL(g->r, "accessor %ld has no buffer", k);
    const char *bytes = NULL;
    size_t length = 0;
    SNW_TRY(gltf_buffer(g, buffer, &bytes, &length));
    const size_t element = (size_t)size * (positions ? 3 : 1);
    const long offset = json_whole(g, v, "byteOffset", 0, INT32_MAX),
               own = json_whole(g, a, "byteOffset", 0, INT32_MAX),
               stride = json_whole(g, v, "byteStride", 0, 252);
    const size_t step = stride > 0 ? (size_t)stride : element;
    if (offset < 0 || own < 0 || stride < 0 || step < element ||
        (out->n > 0 &&
         (size_t)offset + (size_t)own + (size_t)(out->n - 1) * step + element > length))
        return SNW_MESH_FAIL(g->r, "accessor %ld reaches beyond its buffer of %zu bytes", k,
                             length);
    out->stride = step;
    out->at = (const unsigned char *)bytes + offset + own;
    return SNW_OK;
}

static uint32_t gltf_index(const accessor *a, long i) {
    const unsigned char *b = a->at + (size_t)i * a->stride;
    if (a->type == BYTES) return b[0];
    if (a->type == SHORTS) return (uint32_t)b[0] | (uint32_t)b[1] << 8;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static snw_vec3 gltf_position(const accessor *a, long i) {
    snw_vec3 p;
    for (int k = 0; k < 3; k++) {
        const unsigned char *b = a->at + (size_t)i * a->stride + 4 * (size_t)k;
        const uint32_t bits =
            (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        float x;
        memcpy(&x, &bits, sizeof x);
        p.e[k] = x;
    }
    return p;
}

// ---- meshes and nodes ---------------------------------------------------------------------------

enum { TRIANGLES = 4, STRIP = 5, FAN = 6 };

static snw_status gltf_primitive(gltf *g, int p, const snw_affine *at) {
    const long mode = json_whole(g, p, "mode", TRIANGLES, 6);
    if (mode < 0) return SNW_MESH_FAIL(g->r, "a primitive has an unknown 'mode'");
    if (mode < TRIANGLES) return SNW_OK; // points and lines
    const int attributes = json_get(g, p, "attributes");
    const long position = json_whole(g, attributes, "POSITION", -1, INT32_MAX);
    if (position < 0) return SNW_MESH_FAIL(g->r, "a primitive has no 'POSITION'");
    accessor vertex, index = {0};
    SNW_TRY(gltf_accessor(g, position, true, &vertex));
    const bool indexed = json_get(g, p, "indices") >= 0;
    if (indexed)
        SNW_TRY(gltf_accessor(g, json_whole(g, p, "indices", -1, INT32_MAX), false, &index));
    const int first = g->r->nvertex;
    for (long i = 0; i < vertex.n; i++)
        SNW_TRY(snw_mesh_add_vertex_at(g->r, at, gltf_position(&vertex, i)));
    const long n = indexed ? index.n : vertex.n, step = mode == TRIANGLES ? 3 : 1;
    for (long i = 0; i + 3 <= n; i += step) {
        long corner[3] = {mode == FAN ? 0 : i, i + 1, i + 2};
        if (mode == STRIP && i % 2) corner[0] = i + 1, corner[1] = i;
        int of[3];
        for (int k = 0; k < 3; k++) {
            const uint32_t v = indexed ? gltf_index(&index, corner[k]) : (uint32_t)corner[k];
            if (v >= (uint32_t)vertex.n)
                return SNW_MESH_FAIL(g->r, "there is no vertex %u, a primitive has %ld",
                                     (unsigned)v, vertex.n);
            of[k] = first + (int)v;
        }
        SNW_TRY(snw_mesh_add_triangle_at(g->r, at, of[0], of[1], of[2]));
    }
    return SNW_OK;
}

static snw_status gltf_numbers(gltf *g, int i, int n, double *out) {
    if (i >= 0 && (g->value[i].kind != JSON_ARRAY || g->value[i].n != n))
        return SNW_MESH_FAIL(g->r, "%d numbers are wanted in the transform of a node", n);
    for (int k = 0; i >= 0 && k < n; k++) {
        out[k] = json_number(g, json_item(g, i, k), NAN);
        if (!isfinite(out[k]))
            return SNW_MESH_FAIL(g->r, "a number is wanted in the transform of a node");
    }
    return SNW_OK;
}

// Map of a node: a matrix by columns, or translation, rotation (x y z w) and scale.
static snw_status gltf_transform(gltf *g, int node, snw_affine *out) {
    double m[16], t[3] = {0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    const int matrix = json_get(g, node, "matrix");
    if (matrix >= 0) {
        SNW_TRY(gltf_numbers(g, matrix, 16, m));
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) out->A.e[i][j] = m[4 * j + i];
            out->b.e[i] = m[12 + i];
        }
        return SNW_OK;
    }
    SNW_TRY(gltf_numbers(g, json_get(g, node, "translation"), 3, t));
    SNW_TRY(gltf_numbers(g, json_get(g, node, "rotation"), 4, q));
    SNW_TRY(gltf_numbers(g, json_get(g, node, "scale"), 3, s));
    const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(size > 1e-6)) return SNW_MESH_FAIL(g->r, "a node has a rotation of zero");
    out->A = snw_quat_to_mat3((snw_quat){{q[3] / size, q[0] / size, q[1] / size, q[2] / size}});
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) out->A.e[i][j] *= s[j];
        out->b.e[i] = t[i];
    }
    return SNW_OK;
}

static snw_status gltf_node(gltf *g, long k, const snw_affine *parent, int depth) {
    const int node = listed(g, NODES, k);
    if (node < 0) return SNW_MESH_FAIL(g->r, "there is no node %ld", k);
    if (g->visited[k]) return SNW_MESH_FAIL(g->r, "node %ld is in the scene twice", k);
    if (depth == JSON_DEPTH) return SNW_MESH_FAIL(g->r, "nodes are nested too deeply");
    if (g->steps > STEPS) return SNW_MESH_FAIL(g->r, "the file takes too long to read");
    g->visited[k] = true;
    snw_affine own;
    SNW_TRY(gltf_transform(g, node, &own));
    own = snw_affine_mul(parent, &own);
    if (json_get(g, node, "skin") >= 0)
        return SNW_MESH_FAIL(g->r,
                             "node %ld has a skin, whose shape depends on bones; write the "
                             "mesh without it",
                             k);
    const long mesh = json_whole(g, node, "mesh", -1, INT32_MAX);
    if (json_get(g, node, "mesh") >= 0) {
        const int primitives = json_get(g, listed(g, MESHES, mesh), "primitives");
        if (primitives < 0 || g->value[primitives].kind != JSON_ARRAY)
            return SNW_MESH_FAIL(g->r, "there is no mesh %ld", mesh);
        for (int p = primitives + 1; p < g->value[primitives].next; p = g->value[p].next)
            SNW_TRY(gltf_primitive(g, p, &own));
    }
    const int children = json_get(g, node, "children");
    if (children < 0 || g->value[children].kind != JSON_ARRAY) return SNW_OK;
    for (int c = children + 1; c < g->value[children].next; c = g->value[c].next)
        SNW_TRY(gltf_node(g, whole_number(g, c, -1, INT32_MAX), &own, depth + 1));
    return SNW_OK;
}

// ---- the file -----------------------------------------------------------------------------------

static uint32_t word_at(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

// JSON and binary chunk of a .glb file: a header of 12 bytes, then chunks with length and kind.
static snw_status gltf_chunks(gltf *g, const char *bytes, size_t length) {
    enum { HEADER = 12, CHUNK = 8 };
    static const char json[] = "JSON", binary[] = "BIN";
    g->r->line = 0;
    if (length < HEADER + CHUNK || word_at(bytes + 4) != 2 || word_at(bytes + 8) > length)
        return SNW_MESH_FAIL(g->r, "this is no glTF file of version 2, or it is cut off");
    g->at = g->end = NULL;
    for (size_t at = HEADER; at + CHUNK <= length;) {
        const size_t size = word_at(bytes + at);
        const char *from = bytes + at + CHUNK;
        if (size > length - at - CHUNK) return SNW_MESH_FAIL(g->r, "a chunk is cut off");
        if (memcmp(bytes + at + 4, json, 4) == 0 && !g->at) g->at = from, g->end = from + size;
        if (memcmp(bytes + at + 4, binary, 4) == 0 && !g->chunk)
            g->chunk = from, g->chunk_length = size;
        at += CHUNK + (size + 3) / 4 * 4;
    }
    if (g->at) return SNW_OK;
    return SNW_MESH_FAIL(g->r, "the file has no JSON chunk");
}

// Extensions that change what triangles are; those of materials, textures and lights do not.
static snw_status gltf_extensions(gltf *g) {
    static const char *const harmless[] = {"KHR_materials_", "KHR_texture_", "EXT_texture_",
                                           "KHR_lights_",    "MSFT_",        "KHR_xmp"};
    const int required = json_get(g, 0, "extensionsRequired");
    if (required < 0 || g->value[required].kind != JSON_ARRAY) return SNW_OK;
    for (int e = required + 1; e < g->value[required].next; e = g->value[e].next) {
        bool known = false;
        for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
            known = known || strncmp(g->value[e].text, harmless[i], strlen(harmless[i])) == 0;
        if (!known)
            return SNW_MESH_FAIL(g->r,
                                 "the extension '%.*s' is not supported; write the file "
                                 "without it",
                                 (int)(g->value[e].length < 80 ? g->value[e].length : 80),
                                 g->value[e].text);
    }
    return SNW_OK;
}

snw_status snw_mesh_read_gltf(snw_mesh_builder *r, const char *bytes, size_t length) {
    gltf g = {.r = r, .at = bytes, .end = bytes + length};
    if (length >= 4 && memcmp(bytes, "glTF", 4) == 0) SNW_TRY(gltf_chunks(&g, bytes, length));
    SNW_TRY(json_read(&g, 0));
    r->line = 0;
    if (g.value[0].kind != JSON_OBJECT || json_get(&g, 0, "asset") < 0)
        return SNW_MESH_FAIL(r, "this is no glTF file: it has no 'asset'");
    SNW_TRY(gltf_extensions(&g));
    for (int i = 0; i < LISTS; i++) SNW_TRY(gltf_list(&g, i));
    g.buffer = snw_pool_array(r->pool, (size_t)g.list[BUFFERS].n + 1, sizeof *g.buffer);
    g.visited = snw_pool_array(r->pool, (size_t)g.list[NODES].n + 1, sizeof *g.visited);
    if (!g.buffer || !g.visited) return snw_mesh_no_memory(r);
    const long scene = json_whole(&g, 0, "scene", 0, INT32_MAX);
    const int nodes = json_get(&g, listed(&g, SCENES, scene), "nodes");
    if (nodes < 0 || g.value[nodes].kind != JSON_ARRAY)
        return SNW_MESH_FAIL(r, "the file has no scene with nodes");
    // x, y, z with y upwards become x, -z, y
    const snw_affine upright = {.A = {{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}}};
    for (int k = nodes + 1; k < g.value[nodes].next; k = g.value[k].next)
        SNW_TRY(gltf_node(&g, whole_number(&g, k, -1, INT32_MAX), &upright, 0));
    if (r->nface == 0) return SNW_MESH_FAIL(r, "the scene has no triangles");
    r->face_line = NULL; // faces are counted in messages
    return SNW_OK;
}
