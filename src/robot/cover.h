// SPDX-License-Identifier: MIT
//
// cover.h: adaptive cover of a box in one to three dimensions: cells that are bisected, their
// corners (nodes) and edges. Places are integers on the lattice of the finest cells.
#pragma once

#include "sinew/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SNW_COVER_CORNERS = 8, SNW_COVER_EDGES = 12 };

typedef struct snw_cover_node {
    int at[3];
    int level; // bisections of the cells with which it came
} snw_cover_node;

typedef struct snw_cover_edge {
    int node[2]; // in the direction of rising places
    int level;
} snw_cover_edge;

typedef struct snw_cover_cell {
    int at[3]; // lowest corner
    int level;
    bool split;                  // into cells of the next level
    int node[SNW_COVER_CORNERS]; // corner k is displaced by bit j of k along axis j
    int edge[SNW_COVER_EDGES];
} snw_cover_cell;

// Numbers by keys.
typedef struct snw_cover_table {
    uint64_t *key; // plus 1; 0: free
    int *value;
    size_t room;
} snw_cover_table;

typedef struct snw_cover {
    int n, levels;
    int size[3]; // finest cells along each axis
    int nnode, nedge, ncell;
    snw_cover_node *node;
    snw_cover_edge *edge;
    snw_cover_cell *cell;
    int node_room, edge_room, cell_room;
    snw_cover_table nodes, edges;
} snw_cover;

// Cover of a box of n dimensions by `cells` along each axis, which may be bisected `levels` times.
// Its memory is freed by snw_cover_free, also on SNW_E_MEMORY.
SNW_NODISCARD snw_status snw_cover_create(int n, const int cells[3], int levels, snw_cover *out);
void snw_cover_free(snw_cover *c);

// Divide a cell into 2^n; new nodes, edges and cells follow the others.
SNW_NODISCARD snw_status snw_cover_split(snw_cover *c, int cell);

// Corners and edges of each cell.
int snw_cover_corners(const snw_cover *c);
int snw_cover_edges(const snw_cover *c);

// edge <- the smallest edges around a cell of two dimensions, those of divided neighbours among
// them, in their order; backward[k]: from node 1 to node 0. Returns their number, at most
// snw_cover_outline_most.
int snw_cover_outline_most(const snw_cover *c);
int snw_cover_outline(const snw_cover *c, int cell, int *edge, bool *backward);

// Is the edge on the surface of the box?
bool snw_cover_outside(const snw_cover *c, int edge);
