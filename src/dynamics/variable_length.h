// SPDX-License-Identifier: MIT
//
// variable_length.h: rods that slide through their root frame, theory.md 3.14. The free length l is
// a coordinate. Nodes stay at fractions x of it and are not material points: with y = 1 - x and xi
// the strain there, the material at a node moves with
//   V_m = V + l' y xi,   A_m = A + l'' y xi + 2 l' y xi' + l' y ad_V xi + (l' y)^2/l dxi/dx,
// and is displaced by zeta + y xi dl when the node is displaced by zeta. Masses, loads and
// stiffness of the model are those of the length L; they are scaled by l/L.
#pragma once

#include "dynamics/dynamics.h"

// Free length over the length in the model, l/L; 1 for a rod of constant length.
static inline double snw_rod_length_ratio(const snw_rod *rod, const double *q) {
    return rod->feed < 0 ? 1 : q[rod->feed_q] / rod->L;
}

// Material at segment i: its body twist, and the scale l/L of its mass; after snw_kinematics.
static inline snw_twist snw_material_velocity(const snw_model *m, const snw_work *w, int i) {
    return m->seg[i].variable_node ? w->variable_node[m->seg[i].variable_node - 1].V : w->V[i];
}
static inline double snw_material_scale(const snw_model *m, const snw_work *w, int i) {
    const int f = m->seg[i].variable_node - 1, n = m->seg[i].tube_node - 1;
    if (n >= 0) return w->tube_piece[m->tube_node[n].piece].ratio.v;
    return f < 0 ? 1 : w->feed[m->variable_node[f].rod].l / m->rod[m->variable_node[f].rod].L;
}

// Its inertia for the length in the model, before scaling by l/L.
static inline const snw_inertia *snw_material_inertia(const snw_model *m, const snw_work *w,
                                                      int i) {
    const int f = m->seg[i].variable_node - 1;
    return f >= 0 && m->rod[m->variable_node[f].rod].section_varies ? &w->variable_node[f].M
                                                                    : &m->seg[i].M;
}

// w->feed, w->variable_node <- free lengths and motion of the material at nodes. Part of
// snw_kinematics.
void snw_variable_length_motion(const snw_model *m, const snw_state *s, bool is_static,
                                snw_work *w);

// Wrench of inertia and loads at node f, from F, that for the length in the model; w->r += its work
// on the free length, theory.md (3.14.3).
snw_wrench snw_variable_length_node_wrench(const snw_model *m, int f, snw_wrench F, snw_work *w);

// w->r += elastic and damping forces of a variable-length rod, theory.md (3.14.4).
void snw_variable_length_elastic(const snw_model *m, const snw_rod *rod, const snw_state *s,
                                 bool is_static, snw_work *w);

// Variable-length rods, W: power dissipated; rate of the elastic energy; kinetic and potential
// energy carried in with the material, theory.md (3.14.5) (after snw_kinematics).
double snw_variable_length_heat(const snw_model *m, const double *q, const double *v);
double snw_variable_length_energy_rate(const snw_model *m, const double *q, const double *v);
double snw_variable_length_inflow(const snw_model *m, const snw_inputs *in, const snw_work *w);

// ---- tangent ----------------------------------------------------------------

// S[0], S[1], S[2] <- column of the free length for a slice and its rates, from the Jacobian Y of
// its Magnus map (6 x SNW_MAGNUS_LD), its tangent map T and their rates; S[0] only if w->is_static.
// *along <- Y a L with a of (3.14.1).
void snw_variable_length_slice(const snw_model *m, int slice, const snw_work *w,
                               const double *const Y[3], const snw_lower T[3], snw_twist S[3],
                               snw_twist *along);

// w->feed_part <- zero curvature.
void snw_variable_length_clear_curvature(const snw_model *m, snw_work *w);
// w->feed_part += rows and columns of the free length in the second derivative of a slice that
// transmits F.
void snw_variable_length_curvature(const snw_model *m, int slice, const double *Y, snw_twist along,
                                   snw_wrench F, snw_work *w);

// WJ, P += cq d/dx + cv d/dx' + ca d/dx'' of the wrench at a node, segment i.
void snw_variable_length_node_tangent(const snw_model *m, const snw_wrench *load, snw_work *w,
                                      int i, double cq, double cv, double ca, double *WJ,
                                      double *P);

// T += the same for elastic and damping forces and for the curvature of the slices.
void snw_variable_length_rod_tangent(const snw_model *m, const snw_rod *rod, const snw_work *w,
                                     double cq, double cv, size_t ld, double *T);

// ---- varying sections, variable_length_section.c ----------------------------

// The same for one rod whose section varies along the material: w->r += forces, elastic energy (J),
// dissipated power and rate of the elastic energy (W), tangent.
void snw_section_varies_elastic(const snw_model *m, const snw_rod *rod, const snw_state *s,
                                bool is_static, snw_work *w);
double snw_section_varies_energy(const snw_model *m, const snw_rod *rod, const double *q);
double snw_section_varies_heat(const snw_model *m, const snw_rod *rod, const double *q,
                               const double *v);
double snw_section_varies_energy_rate(const snw_model *m, const snw_rod *rod, const double *q,
                                      const double *v);
void snw_section_varies_tangent(const snw_model *m, const snw_rod *rod, const snw_work *w,
                                double cq, double cv, size_t ld, double *T);

// ---- varying rest strains ---------------------------------------------------

// rest[0..3] <- rest strain at y = 1 - x/L for the free length l, and its derivatives by l;
// *rest_d1
// <- derivative by x/L, unless NULL.
void snw_variable_length_rest(const snw_rod *rod, double l, double y, snw_twist rest[4],
                              snw_twist *rest_d1);
