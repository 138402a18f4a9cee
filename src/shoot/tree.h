// SPDX-License-Identifier: MIT
//
// tree.h: rods on rods (theory.md 10.8). Each limb of the tree is one rod. Its base is clamped, or
// carried by a section of another limb, with a rigid piece between them; any number of limbs may be
// carried by one section, and there may be several trees.
//
// The unknowns of a limb are those of segments.h; of a carried one also the motion of its base, so
// that disturbances do not grow from limb to limb. A carried limb is condensed to the wrench at its
// base as a linear function of the motion of that base, which acts on the carrying limb like the
// station there. Newton's equations are thus eliminated from the leaves to the roots and solved
// from the roots to the leaves; the cost is linear in the number of limbs.
#pragma once

#include "base/fields.h"
#include "shoot/boundary.h"

typedef struct snw_limb_end {
    snw_shoot_rod *rod; // owned by the caller
    int parent;         // limb that carries it, with a smaller index; -1: clamped
    int branch;         // its index among the branches of the rod of the parent
} snw_limb_end;

typedef struct snw_limb {
    snw_limb_end end;
    snw_boundary *b;
    double residual[6];           // of the wrench at the tip
    double defect[SNW_SEGMENT_A]; // of a carried limb: base by its parent less its first start
    // derivatives of the conditions of the law that this limb fulfils, by z at its tip
    double by_tip[SNW_SHOOT_Z][SNW_SHOOT_Z];
    // Wa: wrench at the tip by the motion there, branches included; closing: LU factors of the
    // equations of the tip
    double Wa[6][SNW_SEGMENT_A], closing[36];
    int pivot[6];
    // variations for the parameters p of the limb (segments.h) and for the defects in it and
    // beyond: wrench at the tip X p + x, at the base Z p + z; conditions of the law C p + c
    double X[6][SNW_SEGMENT_A], x[6], Z[6][SNW_SEGMENT_A], z[6];
    double C[SNW_SHOOT_Z][SNW_SEGMENT_A], c[SNW_SHOOT_Z];
    double p[SNW_SEGMENT_A];
    // of a root: conditions of the law in its tree, their derivatives by z at its base, and LU
    // factors of the equations of the unknown z
    bool closes[SNW_SHOOT_Z];
    double condition[SNW_SHOOT_Z], by_base[SNW_SHOOT_Z][SNW_SHOOT_Z];
    double root[SNW_SHOOT_Z * SNW_SHOOT_Z];
    int root_pivot[SNW_SHOOT_Z];
} snw_limb;

// n limbs, rows: unknowns of all limbs
#define SNW_TREE_FIELDS(AT, PACK)                                                                  \
    AT(snw_limb, limb, n, "the limbs, parents before children")                                    \
    PACK(double, delta, rows, "Newton step")                                                       \
    PACK(double, weight, rows, "scales of its entries for the secants")                            \
    PACK(double, memory, snw_secants_doubles((int)rows, SNW_BOUNDARY_SECANTS), "of the secants")

typedef struct snw_tree {
    snw_boundary_opts opts;
    int n;
    size_t rows;
    bool factored;
    double c0; // c_0 of the factors
    snw_secants secants;
    SNW_TREE_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
} snw_tree;

// The rods must be ready, their branches known; laws of all rods have the same states.
SNW_NODISCARD snw_status snw_tree_create(int n, const snw_limb_end *end,
                                         const snw_boundary_opts *opts, snw_tree **out);
void snw_tree_destroy(snw_tree *t); // NULL is fine; the rods are not destroyed

// Call after the rods are ready (snw_shoot_ready): rotations, and positions, matter for all if they
// do for one.
void snw_tree_ready(snw_tree *t);

// base, base_V and base_z of a carried limb <- from the nodes of its parent. Part of a solution;
// call it where nodes were set by other means.
void snw_tree_carry(const snw_tree *t, int limb);

// These correspond, for one rod, to snw_shoot_formula, snw_boundary_solve, snw_shoot_accept with
// snw_boundary_accept, and snw_shoot_begin.
void snw_tree_formula(snw_tree *t, snw_levels levels, double h);
SNW_NODISCARD snw_status snw_tree_solve(snw_tree *t, snw_boundary_info *info);
void snw_tree_accept(snw_tree *t, double h);
void snw_tree_begin(snw_tree *t, bool rest, double h);
// Take the next initial guess from the nodes.
void snw_tree_reset_guess(snw_tree *t);

// Parts of a solution, for tests: residual of the present starts, with `derivatives` their
// variations; factors; the Newton step t->delta.
double snw_tree_march(snw_tree *t, bool derivatives, snw_boundary_info *info);
SNW_NODISCARD snw_status snw_tree_factor(snw_tree *t);
void snw_tree_increment(snw_tree *t);
