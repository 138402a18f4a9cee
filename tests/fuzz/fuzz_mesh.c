// SPDX-License-Identifier: MIT
//
// Damaged mesh files, STL, OBJ, glTF and COLLADA: none may crash, hang or be accepted without
// enclosing a solid.
//
// usage: fuzz_mesh [seed [count]]
#include "language/mesh_file.h"
#include "model/convex_hull.h"
#include "model/distance_grid.h"

#include "draw.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOM = 8192 };

typedef struct mesh_bytes {
    char s[ROOM + 1];
    size_t n;
    const char *path;
} mesh_bytes;

static int faults;

static void promise(bool kept, const char *what, const mesh_bytes *b) {
    if (kept) return;
    faults++;
    (void)fprintf(stderr, "%s: %s, %zu bytes\n%.*s\n", what, b->path, b->n, (int)b->n, b->s);
}

// ---- files --------------------------------------------------------------------------------------

static const float corner[8][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0},
                                   {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}};
static const int face[12][3] = {{3, 2, 1}, {3, 1, 0}, {0, 1, 5}, {0, 5, 4}, {1, 2, 6}, {1, 6, 5},
                                {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}, {4, 5, 6}, {4, 6, 7}};

static void put_text(mesh_bytes *b, const char *text) {
    const size_t n = strlen(text);
    if (b->n + n > ROOM) return;
    memcpy(b->s + b->n, text, n);
    b->n += n;
}

static void write_obj(mesh_bytes *b) {
    char line[100];
    b->path = "cube.obj";
    for (int i = 0; i < 8; i++) {
        (void)snprintf(line, sizeof line, "v %g %g %g\n", (double)corner[i][0],
                       (double)corner[i][1], (double)corner[i][2]);
        put_text(b, line);
    }
    for (int f = 0; f < 12; f++) {
        (void)snprintf(line, sizeof line, f % 2 ? "f %d %d//1 %d/1/1\n" : "f %d %d %d\n",
                       face[f][0] + 1, face[f][1] + 1, face[f][2] + 1);
        put_text(b, line);
    }
}

static void write_text_stl(mesh_bytes *b) {
    char line[100];
    b->path = "cube.stl";
    put_text(b, "solid cube\n");
    for (int f = 0; f < 12; f++) {
        put_text(b, "facet normal 0 0 0\nouter loop\n");
        for (int k = 0; k < 3; k++) {
            const float *p = corner[face[f][k]];
            (void)snprintf(line, sizeof line, "vertex %g %g %g\n", (double)p[0], (double)p[1],
                           (double)p[2]);
            put_text(b, line);
        }
        put_text(b, "endloop\nendfacet\n");
    }
    put_text(b, "endsolid cube\n");
}

static void write_binary_stl(mesh_bytes *b) {
    b->path = "cube.stl";
    memset(b->s, 0, sizeof b->s);
    b->s[80] = 12;
    b->n = 84 + 12 * 50;
    for (int f = 0; f < 12; f++) {
        for (int k = 0; k < 3; k++)
            memcpy(b->s + 84 + 50 * f + 12 + 12 * k, corner[face[f][k]], sizeof corner[0]);
    }
}

static void put_bytes(mesh_bytes *b, const void *from, size_t n) {
    if (b->n + n > ROOM) return;
    memcpy(b->s + b->n, from, n);
    b->n += n;
}

static void put_word(mesh_bytes *b, uint32_t x) {
    unsigned char bytes[4];
    for (int k = 0; k < 4; k++) bytes[k] = (unsigned char)(x >> 8 * k & 0xff);
    put_bytes(b, bytes, 4);
}

// Corners and faces as floats and bytes.
static size_t cube_buffer(unsigned char out[200]) {
    size_t n = 0;
    for (int i = 0; i < 24; i++, n += 4) memcpy(out + n, &corner[i / 3][i % 3], 4);
    for (int i = 0; i < 36; i++) out[n++] = (unsigned char)face[i / 3][i % 3];
    return n;
}

#define GLTF(BUFFER)                                                                               \
    "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{"       \
    "\"children\":"                                                                                \
    "[1],\"translation\":[1,2,3]},{\"mesh\":0,\"rotation\":[0,0,0.6,0.8],\"scale\":[1,2,-1]}],"    \
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"mode\":4}]}],"  \
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"type\":\"VEC3\",\"count\":8},{"     \
    "\"bufferView\":1,\"componentType\":5121,\"type\":\"SCALAR\",\"count\":36}],\"bufferViews\":[" \
    "{"                                                                                            \
    "\"buffer\":0,\"byteOffset\":0,\"byteLength\":96},{\"buffer\":0,\"byteOffset\":96,"            \
    "\"byteLength\":36}],\"buffers\":[{\"byteLength\":132" BUFFER "}]}"

static void write_glb(mesh_bytes *b) {
    static const char json[] = GLTF("");
    unsigned char data[200];
    const size_t n = cube_buffer(data), text = (sizeof json - 1 + 3) / 4 * 4;
    b->path = "cube.glb";
    put_text(b, "glTF");
    put_word(b, 2);
    put_word(b, (uint32_t)(28 + text + n));
    put_word(b, (uint32_t)text);
    put_text(b, "JSON");
    put_text(b, json);
    while (b->n % 4) put_text(b, " ");
    put_word(b, (uint32_t)n);
    put_bytes(b, "BIN\0", 4);
    put_bytes(b, data, n);
}

static void write_gltf(mesh_bytes *b) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char data[200];
    char text[300];
    size_t k = 0;
    const size_t n = cube_buffer(data);
    for (size_t i = 0; i < n; i += 3) { // n is a multiple of three
        const uint32_t x = (uint32_t)data[i] << 16 | (uint32_t)data[i + 1] << 8 | data[i + 2];
        for (int s = 18; s >= 0; s -= 6) text[k++] = digit[x >> s & 63];
    }
    text[k] = '\0';
    static const char json[] = GLTF(",\"uri\":\"data:application/octet-stream;base64,@\"");
    const char *mark = strchr(json, '@');
    b->path = "cube.gltf";
    put_bytes(b, json, (size_t)(mark - json));
    put_text(b, text);
    put_text(b, mark + 1);
}

static void write_dae(mesh_bytes *b) {
    char line[100];
    b->path = "cube.dae";
    put_text(b, "<COLLADA><asset><unit meter=\"0.5\"/><up_axis>Y_UP</up_axis></asset>"
                "<library_geometries><geometry id=\"g\"><mesh><source id=\"s\"><float_array>");
    for (int i = 0; i < 24; i++) {
        (void)snprintf(line, sizeof line, "%g ", (double)corner[i / 3][i % 3]);
        put_text(b, line);
    }
    put_text(b, "</float_array><technique_common><accessor count=\"8\" stride=\"3\"/>"
                "</technique_common></source><vertices id=\"v\"><input semantic=\"POSITION\" "
                "source=\"#s\"/></vertices><polylist><input semantic=\"VERTEX\" source=\"#v\" "
                "offset=\"0\"/><vcount>");
    for (int f = 0; f < 12; f++) put_text(b, "3 ");
    put_text(b, "</vcount><p>");
    for (int i = 0; i < 36; i++) {
        (void)snprintf(line, sizeof line, "%d ", face[i / 3][i % 3]);
        put_text(b, line);
    }
    put_text(b, "</p></polylist></mesh></geometry></library_geometries><library_visual_scenes>"
                "<visual_scene id=\"w\"><node><rotate>0 0 1 30</rotate><instance_geometry "
                "url=\"#g\"/></node></visual_scene></library_visual_scenes><scene>"
                "<instance_visual_scene url=\"#w\"/></scene></COLLADA>");
}

// ---- damage -------------------------------------------------------------------------------------

static const char *const scraps[] = {
    "nan",    "inf",  "-1", "1e999", "9999999999", "v", "f", "\n",         "solid", "facet", "0",
    "1e-300", "1e30", " ",  "f 1 2", "endsolid",   "#", "/", "2147483648", "-0",    "\xff"};

static void damage(mesh_bytes *b) {
    const size_t at = b->n ? draw(b->n) : 0, left = b->n - at, some = left ? 1 + draw(left) : 0;
    switch (draw(6)) {
    case 0:
        if (left) b->s[at] = (char)draw(256);
        break;
    case 1: // cut off
        b->n = at;
        break;
    case 2: // leave out
        memmove(b->s + at, b->s + at + some % 60, left - some % 60);
        b->n -= some % 60;
        break;
    case 3: { // insert
        const char *what = scraps[draw(sizeof scraps / sizeof *scraps)];
        const size_t n = strlen(what);
        if (b->n + n > ROOM) break;
        memmove(b->s + at + n, b->s + at, left);
        memcpy(b->s + at, what, n);
        b->n += n;
        break;
    }
    case 4: // repeat
        if (b->n + some > ROOM) break;
        memmove(b->s + at + some, b->s + at, left);
        b->n += some;
        break;
    default: // exchange two bytes
        if (left) {
            const char keep = b->s[at];
            b->s[at] = b->s[at + some - 1];
            b->s[at + some - 1] = keep;
        }
    }
}

// ---- trials -------------------------------------------------------------------------------------

// Returns whether the file was accepted.
static bool try_bytes(const mesh_bytes *b) {
    snw_pool *pool = snw_pool_create((size_t)64 << 20);
    char *copy = malloc(b->n + 1); // so that reading beyond the end is seen
    if (!pool || !copy) abort();
    memcpy(copy, b->s, b->n);
    copy[b->n] = '\0';
    snw_triangle_mesh m;
    snw_convex_hull *hull;
    snw_distance_grid *grid;
    snw_error err = {0};
    snw_status s = snw_mesh_file_parse(pool, b->path, copy, b->n, 0.01, &m, &err);
    if (s == SNW_OK) s = snw_mesh_weld(pool, &m, &err);
    if (s == SNW_OK) {
        snw_error why = {0};
        const snw_status of_hull = snw_convex_hull_create(pool, m.nvertex, m.vertex, &hull, &why);
        promise(of_hull == SNW_OK || why.text[0], "silent failure of a hull", b);
        s = snw_mesh_check(pool, &m, &err);
    }
    if (s == SNW_OK) s = snw_distance_grid_create(pool, &m, 8, 0.01, &grid, &err);
    if (s == SNW_OK) {
        snw_vec3 n;
        snw_mat3 H;
        promise(snw_mesh_volume(&m) > 0, "no volume", b);
        promise(isfinite(snw_distance_grid_at(grid, m.vertex[0], &n, &H)), "no distance", b);
    } else {
        promise(err.text[0], "silent failure", b);
    }
    snw_pool_destroy(pool);
    free(copy);
    return s == SNW_OK;
}

int main(int argc, char **argv) {
    static void (*const write[])(mesh_bytes *) = {write_obj, write_text_stl, write_binary_stl,
                                                  write_glb, write_gltf,     write_dae};
    enum { KINDS = sizeof write / sizeof *write };
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const long count = argc > 2 ? strtol(argv[2], NULL, 10) : 3000;
    long accepted = 0;
    double slowest = 0;
    for (long i = 0; i < count && faults < 20; i++) {
        mesh_bytes b = {.n = 0};
        write[i % KINDS](&b);
        for (int k = i < KINDS ? 0 : 1 + (int)draw(4); k > 0; k--) damage(&b);
        const clock_t before = clock();
        const bool good = try_bytes(&b);
        const double took = (double)(clock() - before) / CLOCKS_PER_SEC;
        promise(i >= KINDS || good, "refused although it is sound", &b);
        accepted += good;
        if (took > slowest) slowest = took;
        promise(took < 5, "too slow", &b);
    }
    (void)printf("%ld files, %ld accepted, slowest %.3g s, %d faults\n", count, accepted, slowest,
                 faults);
    return faults > 0;
}
