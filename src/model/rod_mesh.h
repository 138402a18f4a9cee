// SPDX-License-Identifier: MIT
//
// rod_mesh.h: where a rod with a tolerance has its nodes. It is cut in cells with
// SNW_ROD_MESH_CELL_NODES Gauss points each, which are as long as the tolerance allows. Two errors
// count: by how much the pose and its two rates err from node to node, as the rule's embedded
// formula has it; and by how much the Gauss points err in the integral of squared positions,
// velocities and accelerations, which stand for weight and inertia, as Kronrod's points around them
// have it. theory.md 3.16.
#pragma once

#include "math/rule.h"

enum { SNW_ROD_MESH_CELL_NODES = 3 };

// Cells are made for this part of the tolerance, so that the shape may change before they must be
// made anew.
#define SNW_ROD_MESH_AIM 0.25

// xi <- strain at x and its two rates, of the side towards `toward`.
typedef void snw_strain_fn(void *user, double x, double toward, snw_twist xi[3]);

typedef struct snw_rod_mesh {
    const snw_rule *rule; // rk45
    double L;             // length of the rod, by which positions are measured
    snw_strain_fn *strain;
    void *user;
    bool is_static;  // there are no rates
    double size[3];  // of pose, velocity, acceleration: what their errors are relative to,
    double whole[3]; // and their squares, integrated; 0: not looked at
} snw_rod_mesh;

// Motion of a section relative to the root.
typedef struct snw_section_motion {
    snw_se3 g;
    snw_twist V, A;
} snw_section_motion;

// c->size, c->whole <- those of the rod, roughly.
void snw_rod_mesh_errors(snw_rod_mesh *c);

// Estimated error of the slice from a to b, the largest of the three.
double snw_rod_mesh_error(const snw_rod_mesh *c, double a, double b);

// Estimated error of the integrals over the cell from a to b, the largest of the three; s <- motion
// at b, from that at a.
double snw_rod_mesh_quadrature(const snw_rod_mesh *c, double a, double b, snw_section_motion *s);

// cell (room + 1) <- ends of cells from 0 to L, none of them across a break (nelem + 1), at least
// `least` in each element, that err by `target` at the most. How many; 0 when there is no room for
// them.
int snw_rod_mesh_march(const snw_rod_mesh *c, int nelem, const double *breaks, int least,
                       double target, int room, double *cell);
