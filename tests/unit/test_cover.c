// SPDX-License-Identifier: MIT
//
// Adaptive cover of a box: numbers of nodes, edges and cells, shared by neighbours, and bisection.
#include "robot/cover.h"

#include "near.h"

#include <stdlib.h>
#include <string.h>

// n cells along each axis have (n + 1)^d nodes and d n (n + 1)^(d - 1) edges
static void a_grid_has_as_many_nodes_and_edges_as_it_should(void **state) {
    (void)state;
    for (int d = 1; d <= 3; d++) {
        const int n = 4, cells[3] = {n, n, n};
        snw_cover c;
        assert_int_equal(snw_cover_create(d, cells, 2, &c), SNW_OK);
        int nodes = 1, volume = 1, across = 1;
        for (int k = 0; k < d; k++) nodes *= n + 1, volume *= n;
        for (int k = 1; k < d; k++) across *= n + 1;
        assert_int_equal(c.ncell, volume);
        assert_int_equal(c.nnode, nodes);
        assert_int_equal(c.nedge, d * n * across);
        snw_cover_free(&c);
    }
}

// All cells bisected give the grid of half the spacing, with the old nodes among the new.
static void bisection_of_all_cells_is_a_finer_grid(void **state) {
    (void)state;
    for (int d = 1; d <= 3; d++) {
        const int cells[3] = {3, 2, 2};
        snw_cover c;
        assert_int_equal(snw_cover_create(d, cells, 1, &c), SNW_OK);
        const int old = c.ncell, edges = c.nedge;
        for (int i = 0; i < old; i++) assert_int_equal(snw_cover_split(&c, i), SNW_OK);
        int nodes = 1, fine = 0;
        for (int k = 0; k < d; k++) nodes *= 2 * cells[k] + 1;
        for (int k = 0; k < d; k++) {
            int n = 2 * cells[k];
            for (int j = 0; j < d; j++) n *= j == k ? 1 : 2 * cells[j] + 1;
            fine += n;
        }
        assert_int_equal(c.nnode, nodes);
        assert_int_equal(c.nedge, edges + fine);
        for (int i = 0; i < c.nedge; i++) { // ends differ by the spacing along one axis
            const int *a = c.node[c.edge[i].node[0]].at, *b = c.node[c.edge[i].node[1]].at;
            int sum = 0;
            for (int k = 0; k < 3; k++) sum += b[k] - a[k];
            assert_int_equal(sum, c.edge[i].level ? 1 : 2);
        }
        snw_cover_free(&c);
    }
}

// Neighbours share the nodes and edges of their common side; the surface of the box is known.
static void neighbours_share_their_side(void **state) {
    (void)state;
    const int cells[3] = {2, 1, 0};
    snw_cover c;
    assert_int_equal(snw_cover_create(2, cells, 0, &c), SNW_OK);
    assert_int_equal(c.cell[0].node[1], c.cell[1].node[0]);
    assert_int_equal(c.cell[0].node[3], c.cell[1].node[2]);
    int outside = 0;
    for (int i = 0; i < c.nedge; i++) outside += snw_cover_outside(&c, i);
    assert_int_equal(outside, 6);
    assert_int_equal(c.nedge, 7);
    snw_cover_free(&c);
}

// Of cells bisected at random the outlines are closed and turn to the left, and neighbours of any
// sizes share the edges between them.
static void outlines_are_closed_and_shared(void **state) {
    (void)state;
    enum { LEVELS = 4 };
    const int cells[3] = {3, 2, 0};
    uint64_t seed = 7;
    snw_cover c;
    assert_int_equal(snw_cover_create(2, cells, LEVELS, &c), SNW_OK);
    for (int i = 0; i < c.ncell; i++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        if (c.cell[i].level < LEVELS && (seed >> 60) < 9)
            assert_int_equal(snw_cover_split(&c, i), SNW_OK);
    }
    int edge[4 << LEVELS], most = 0;
    bool backward[4 << LEVELS];
    assert_int_equal(snw_cover_outline_most(&c), 4 << LEVELS);
    int *times = calloc((size_t)c.nedge, sizeof *times);
    assert_non_null(times);
    for (int i = 0; i < c.ncell; i++) {
        if (c.cell[i].split) continue;
        const int n = snw_cover_outline(&c, i, edge, backward), h = 1 << (LEVELS - c.cell[i].level);
        int area = 0; // twice
        for (int k = 0; k < n; k++) {
            const int *node = c.edge[edge[k]].node, *next = c.edge[edge[(k + 1) % n]].node;
            const int *a = c.node[node[backward[k]]].at, *b = c.node[node[!backward[k]]].at;
            assert_int_equal(node[!backward[k]], next[backward[(k + 1) % n]]);
            area += a[0] * b[1] - a[1] * b[0];
            times[edge[k]]++;
        }
        assert_int_equal(area, 2 * h * h);
        most = n > most ? n : most;
    }
    assert_true(most > 5); // some have divided neighbours
    for (int e = 0; e < c.nedge; e++) {
        if (times[e]) assert_int_equal(times[e], snw_cover_outside(&c, e) ? 1 : 2);
    }
    free(times);
    snw_cover_free(&c);
}

// Many nodes: tables grow, and no two nodes have one place.
static void large_covers_keep_their_nodes_apart(void **state) {
    (void)state;
    const int cells[3] = {30, 30, 0};
    snw_cover c;
    assert_int_equal(snw_cover_create(2, cells, 3, &c), SNW_OK);
    for (int level = 0; level < 3; level++) {
        const int n = c.ncell;
        for (int i = 0; i < n; i++) {
            if (c.cell[i].level == level && c.cell[i].at[0] == c.cell[i].at[1])
                assert_int_equal(snw_cover_split(&c, i), SNW_OK);
        }
    }
    for (int i = 0; i < c.nnode; i++) {
        for (int k = 0; k < i; k++)
            assert_int_not_equal(memcmp(c.node[i].at, c.node[k].at, sizeof c.node[i].at), 0);
    }
    snw_cover_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grid_has_as_many_nodes_and_edges_as_it_should),
        cmocka_unit_test(bisection_of_all_cells_is_a_finer_grid),
        cmocka_unit_test(neighbours_share_their_side),
        cmocka_unit_test(outlines_are_closed_and_shared),
        cmocka_unit_test(large_covers_keep_their_nodes_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
