// SPDX-License-Identifier: MIT
//
// rod_mesh.h: adaptive mesh of a rod with a tolerance, theory.md 3.16. The rod is divided into
// cells with SNW_ROD_MESH_CELL_NODES Gauss points each, as long as the tolerance allows. Two errors
// are estimated: that of pose, velocity and acceleration from node to node, by the embedded formula
// of the rule (3.16.1); and that of the Gauss points in the integrals of squared position, velocity
// and acceleration, by the Kronrod extension (3.16.2).
#pragma once

#include "math/rule.h"

enum { SNW_ROD_MESH_CELL_NODES = 3 };

// Fraction of the tolerance for which cells are chosen, so that the mesh remains valid while the
// shape changes.
#define SNW_ROD_MESH_AIM 0.25

// xi <- strain at x and its first two time derivatives, in the element that contains `toward`.
typedef void snw_strain_fn(void *user, double x, double toward, snw_twist xi[3]);

typedef struct snw_rod_mesh {
    const snw_rule *rule; // rk45
    double L;             // length of the rod, m
    snw_strain_fn *strain;
    void *user;      // argument of strain
    bool is_static;  // strain rates are zero
    double size[3];  // reference sizes for errors of pose, velocity, acceleration; 0: not estimated
    double whole[3]; // integrals of their squares over the rod; 0: not estimated
} snw_rod_mesh;

// Motion of a section relative to the root.
typedef struct snw_section_motion {
    snw_se3 g;
    snw_twist V, A;
} snw_section_motion;

// c->size, c->whole <- reference sizes, to about one digit. Call it before the functions below.
void snw_rod_mesh_errors(snw_rod_mesh *c);

// Error estimate of the slice from a to b: the largest of pose, velocity and acceleration.
double snw_rod_mesh_error(const snw_rod_mesh *c, double a, double b);

// Error estimate of the integrals over the cell from a to b, the largest of the three; s <- motion
// at b from the motion at a.
double snw_rod_mesh_quadrature(const snw_rod_mesh *c, double a, double b, snw_section_motion *s);

// cell (room + 1) <- ends of cells from 0 to L with error estimates up to `target`, none across a
// break (nelem + 1) and at least `least` per element. Returns their number; 0 when more than `room`
// would be needed.
int snw_rod_mesh_march(const snw_rod_mesh *c, int nelem, const double *breaks, int least,
                       double target, int room, double *cell);
