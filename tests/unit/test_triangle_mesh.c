// SPDX-License-Identifier: MIT
//
// Mesh files, checks of meshes, distances from them, and convex hulls.
#include "base/fail.h"
#include "language/mesh_file.h"
#include "model/convex_hull.h"
#include "model/triangle_mesh.h"

#include "model/obstacle_kind.h"
#include "near.h"
#include "random_tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CUBE_VERTICES    "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 0 0 2\nv 2 0 2\nv 2 2 2\nv 0 2 2\n"
#define CUBE_WITHOUT_TOP CUBE_VERTICES "f 4 3 2 1\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"

static snw_status read_mesh(snw_pool *pool, const char *path, const char *bytes, size_t length,
                            snw_triangle_mesh *m, snw_error *err) {
    *err = (snw_error){0};
    SNW_TRY(snw_mesh_file_parse(pool, path, bytes, length, 1, m, err));
    SNW_TRY(snw_mesh_weld(pool, m, err));
    return snw_mesh_check(pool, m, err);
}

static void faulty_meshes_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *path, *text, *says;
        int line;
    } cases[] = {
        {"a.obj", CUBE_WITHOUT_TOP, "the surface is open: the edge from (0, 0, 2) to", 0},
        {"a.obj", CUBE_WITHOUT_TOP "f 5 6 7 8\nf 5 6 7 8\n", "faces meet at the edge", 0},
        {"a.obj", CUBE_WITHOUT_TOP "f 8 7 6 5\n", "one of them is inside out", 0},
        {"a.obj", CUBE_WITHOUT_TOP "f 5 6 7 9\n", "there is no vertex 9, 8 are given", 14},
        {"a.obj", CUBE_WITHOUT_TOP "f 5 6 0\n", "there is no vertex 0", 14},
        {"a.obj", CUBE_WITHOUT_TOP "f 5 6 7.5\n", "not the number of a vertex", 14},
        {"a.obj", CUBE_WITHOUT_TOP "f 5 5 7\n", "same vertex twice", 14},
        {"a.obj", CUBE_WITHOUT_TOP "f 5 6\n", "three vertices or more", 14},
        {"a.obj", CUBE_WITHOUT_TOP "f 99999999999999999999 6 7\n", "there is no vertex", 14},
        {"a.obj", "v 0 0 nan\n", "needs three numbers, got 'nan'", 1},
        {"a.obj", "v 0 0 1e999\n", "not a number", 1},
        {"a.obj", "v 0 0\n", "needs three numbers", 1},
        {"a.obj", "cstype bspline\n", "not understood", 1},
        {"a.obj", "", "0 faces enclose no solid", 0},
        {"a.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\nf 1 4 2\nf 2 4 3\n",
         "the face of line 5 has no area", 0},
        {"a.obj",
         "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\nv 0.1 0.1 -1\nv "
         "2.1 "
         "0.1 -1\nv 0.1 2.1 -1\nv 0.1 0.1 1\nf 5 7 6\nf 5 6 8\nf 6 7 8\nf 7 5 8\n",
         "cuts itself: the edge", 0},
        {"a.obj",
         "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\nv -2 0 0\nv 0 -2 "
         "0\nv 0 0 -2\nf 1 5 6\nf 1 7 5\nf 1 6 7\nf 5 7 6\n",
         "meet in the single vertex (0, 0, 0)", 0},
        {"a.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n",
         "ends before 'vertex'", 0},
        {"a.stl", "solid a\nfacet normal 0 0 1\nouter ring\n",
         "'loop' is expected here, got 'ring'", 3},
        {"a.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 x 0\n",
         "needs three numbers, got 'x'", 4},
        {"a.stl", "solid a\n", "ends before 'endsolid'", 0},
        {"a.stl", "hello", "5 bytes are no STL file", 0},
        {"a.ply", "ply", ".stl, .obj, .glb, .gltf or .dae", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snw_pool *pool = snw_pool_create(1 << 24);
        snw_triangle_mesh m;
        snw_error err;
        const snw_status s =
            read_mesh(pool, cases[i].path, cases[i].text, strlen(cases[i].text), &m, &err);
        if (s != SNW_E_PARSE || !strstr(err.text, cases[i].says) ||
            (cases[i].line > 0 && err.line != cases[i].line))
            fail_msg("case %zu: %d, line %d: %s", i, (int)s, err.line, err.text);
        snw_pool_destroy(pool);
    }
}

// Bytes of a binary STL file of a tetrahedron that says it has n faces.
static size_t tetrahedron(unsigned n, char *out) {
    static const float corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
    memset(out, 0, 84 + 4 * 50);
    (void)snprintf(out, 80, "solid of four faces, although it is binary");
    for (int k = 0; k < 4; k++) out[80 + k] = (char)(n >> (8 * k) & 255);
    for (int f = 0; f < 4; f++) {
        for (int k = 0; k < 3; k++)
            memcpy(out + 84 + 50 * f + 12 + 12 * k, corner[face[f][k]], sizeof corner[0]);
    }
    return 84 + 4 * 50;
}

static void binary_files_are_read(void **state) {
    (void)state;
    char bytes[400];
    snw_pool *pool = snw_pool_create(1 << 24);
    snw_triangle_mesh m;
    snw_error err;
    size_t n = tetrahedron(4, bytes);
    assert_int_equal(read_mesh(pool, "a.STL", bytes, n, &m, &err), SNW_OK);
    assert_int_equal(m.nvertex, 4);
    assert_near(snw_mesh_volume(&m), 1.0 / 6, 1e-15);
    assert_int_equal(read_mesh(pool, "a.stl", bytes, n - 7, &m, &err), SNW_E_PARSE);
    assert_non_null(strstr(err.text, "cut off or damaged"));
    n = tetrahedron(4000000000U, bytes);
    assert_int_equal(read_mesh(pool, "a.stl", bytes, n, &m, &err), SNW_E_PARSE);
    assert_non_null(strstr(err.text, "4000000000 faces"));
    n = tetrahedron(4, bytes);
    const float nan = NAN;
    memcpy(bytes + 84 + 12, &nan, sizeof nan);
    assert_int_equal(read_mesh(pool, "a.stl", bytes, n, &m, &err), SNW_E_PARSE);
    assert_non_null(strstr(err.text, "vertex 1 is not a number"));
    snw_pool_destroy(pool);
}

// Distances from a cube, as a mesh and as the hull of its corners, are those of the box; a mesh
// that is inside out is turned.
static void distances_are_those_of_the_box(void **state) {
    (void)state;
    static const char turned[] =
        CUBE_VERTICES "f 1 2 3 4\nf 5 6 2 1\nf 6 7 3 2\nf 7 8 4 3\nf 8 5 1 4\nf 8 7 6 5\n";
    static const char plain[] = CUBE_WITHOUT_TOP "f 5 6 7 8\n";
    for (int k = 0; k < 2; k++) {
        const char *text = k ? turned : plain;
        snw_pool *pool = snw_pool_create(1 << 24);
        snw_triangle_mesh m;
        snw_convex_hull *hull;
        snw_error err;
        assert_int_equal(read_mesh(pool, "a.obj", text, strlen(text), &m, &err), SNW_OK);
        assert_near(snw_mesh_volume(&m), 8, 1e-14);
        assert_int_equal(snw_convex_hull_create(pool, m.nvertex, m.vertex, &hull, &err), SNW_OK);
        assert_near(hull->inner, 1, 1e-14);
        const snw_mesh_search *s = snw_mesh_search_create(pool, &m);
        const snw_obstacle box = {.kind = SNW_OBSTACLE_BOX, .half = {{1, 1, 1}}};
        dice d = {31 + (uint64_t)k};
        for (int i = 0; i < 2000; i++) {
            const snw_vec3 y = roll_vec3(&d, 3);
            snw_vec3 n, other;
            snw_mat3 H, also;
            const snw_vec3 at = snw_add(y, (snw_vec3){{1, 1, 1}});
            const double want = snw_obstacle_distance(&box, y, &n, &H);
            assert_near(snw_mesh_distance(s, at, NULL), want, 1e-14);
            assert_near(snw_convex_hull_distance(hull, at, &other, &also), want, 1e-14);
            for (int a = 0; a < 3; a++) {
                assert_near(other.e[a], n.e[a], 1e-13);
                for (int b = 0; b < 3; b++) assert_near(also.e[a][b], H.e[a][b], 1e-10);
            }
        }
        snw_pool_destroy(pool);
    }
}

// The hull of random points contains them, and is closed and convex; points within change nothing.
static void hulls_contain_their_points(void **state) {
    (void)state;
    enum { POINTS = 300 };
    dice d = {33};
    for (int k = 0; k < 20; k++) {
        snw_vec3 point[POINTS];
        snw_convex_hull *hull;
        snw_error err;
        snw_pool *pool = snw_pool_create(1 << 24);
        for (int i = 0; i < POINTS; i++) {
            point[i] = roll_vec3(&d, 1);
            if (k % 2) { // on a grid: many in common planes and twice
                for (int c = 0; c < 3; c++) {
                    const double corner = i >> c & 1 ? 2 : -2;
                    point[i].e[c] = i < 8 ? corner : round(2 * point[i].e[c]);
                }
            }
        }
        assert_int_equal(snw_convex_hull_create(pool, POINTS, point, &hull, &err), SNW_OK);
        snw_pool *scratch = snw_pool_create(1 << 24);
        if (k % 2 == 0) assert_int_equal(snw_mesh_check(scratch, &hull->mesh, &err), SNW_OK);
        snw_pool_destroy(scratch);
        assert_true(snw_mesh_volume(&hull->mesh) > 0);
        if (k % 2) assert_near(snw_mesh_volume(&hull->mesh), 64, 1e-12);
        for (int i = 0; i < POINTS; i++) {
            snw_vec3 n;
            snw_mat3 H;
            assert_true(snw_convex_hull_distance(hull, point[i], &n, &H) < 1e-9);
        }
        snw_pool_destroy(pool);
    }
}

static void flat_hulls_are_refused(void **state) {
    (void)state;
    snw_pool *pool = snw_pool_create(1 << 24);
    snw_convex_hull *hull;
    snw_error err;
    const snw_vec3 flat[5] = {
        {{0, 0, 1}}, {{1, 0, 1}}, {{0, 1, 1}}, {{1, 1, 1}}, {{0.3, 0.2, 1 + 1e-12}}};
    for (int n = 0; n <= 5; n++) {
        assert_int_equal(snw_convex_hull_create(pool, n, flat, &hull, &err), SNW_E_MODEL);
        assert_non_null(strstr(err.text, "in a plane"));
    }
    snw_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faulty_meshes_are_refused),
        cmocka_unit_test(binary_files_are_read),
        cmocka_unit_test(distances_are_those_of_the_box),
        cmocka_unit_test(hulls_contain_their_points),
        cmocka_unit_test(flat_hulls_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
