// SPDX-License-Identifier: MIT
//
// variable_length.h: rods that slide through their root, theory.md 3.14. The free length l is a
// coordinate; nodes stay at fractions x of it and are no material points: with y = 1 - x and the
// strain xi there, the material at a node moves with
//   V_m = V + l' y xi,   A_m = A + l'' y xi + 2 l' y xi' + l' y ad_V xi + (l' y)^2/l dxi/dx,
// and is displaced by zeta + y xi dl when the node is by zeta. All of it weighs l/L of what the
// model says.
#pragma once

#include "dynamics/dynamics.h"

// How much longer a rod is than in the model.
static inline double snw_rod_length_ratio(const snw_rod *rod, const double *q) {
    return rod->feed < 0 ? 1 : q[rod->feed_q] / rod->L;
}

// The material at segment i: its velocity, and how much of it there is for one in the model; after
// snw_kinematics.
static inline snw_twist snw_material_velocity(const snw_model *m, const snw_work *w, int i) {
    return m->seg[i].variable_node ? w->variable_node[m->seg[i].variable_node - 1].V : w->V[i];
}
static inline double snw_material_scale(const snw_model *m, const snw_work *w, int i) {
    const int f = m->seg[i].variable_node - 1;
    return f < 0 ? 1 : w->feed[m->variable_node[f].rod].l / m->rod[m->variable_node[f].rod].L;
}

// Its inertia, for one in the model.
static inline const snw_inertia *snw_material_inertia(const snw_model *m, const snw_work *w,
                                                      int i) {
    const int f = m->seg[i].variable_node - 1;
    return f >= 0 && m->rod[m->variable_node[f].rod].section_varies ? &w->variable_node[f].M
                                                                    : &m->seg[i].M;
}

// w->feed, w->variable_node <- free lengths and the motion of the material at nodes. Part of
// snw_kinematics.
void snw_variable_length_motion(const snw_model *m, const snw_state *s, bool is_static,
                                snw_work *w);

// What node f of a fed rod needs when F is that of the length in the model; its work on the feed is
// added to w->r.
snw_wrench snw_variable_length_node_wrench(const snw_model *m, int f, snw_wrench F, snw_work *w);

// w->r += elastic and damping forces of a fed rod.
void snw_variable_length_elastic(const snw_model *m, const snw_rod *rod, const snw_state *s,
                                 bool is_static, snw_work *w);

// Power turned into heat in fed rods, W; power of their elastic forces; what material brings with
// it, kinetic and potential energy, W (after snw_kinematics).
double snw_variable_length_heat(const snw_model *m, const double *q, const double *v);
double snw_variable_length_storing(const snw_model *m, const double *q, const double *v);
double snw_variable_length_inflow(const snw_model *m, const snw_inputs *in, const snw_work *w);

// ---- the tangent ------------------------------------------------------------

// S[0], S[1], S[2] <- the column of the feed of a slice and its rates, from those of its Magnus map
// Y (6 x SNW_MAGNUS_LD) and of its tangent map T; the first alone when still. *along <- Y a L, a as
// in (3.14.1).
void snw_variable_length_slice(const snw_model *m, int slice, const snw_work *w,
                               const double *const Y[3], const snw_lower T[3], snw_twist S[3],
                               snw_twist *along);

// w->feed_part <- no curvature.
void snw_variable_length_clear_curvature(const snw_model *m, snw_work *w);
// Rows and columns of the feed in the curvature of a slice that carries F, added to w->feed_part.
void snw_variable_length_curvature(const snw_model *m, int slice, const double *Y, snw_twist along,
                                   snw_wrench F, snw_work *w);

// WJ, P += cq d/dx + cv d/dx' + ca d/dx'' of what the node of a fed rod needs, segment i.
void snw_variable_length_node_tangent(const snw_model *m, const snw_wrench *load, snw_work *w,
                                      int i, double cq, double cv, double ca, double *WJ,
                                      double *P);

// T += the same for elastic and damping forces, and for the curvature of the slices.
void snw_variable_length_rod_tangent(const snw_model *m, const snw_rod *rod, const snw_work *w,
                                     double cq, double cv, size_t ld, double *T);

// ---- sections that vary, fed_taper.c ----------------------------------------

// The same of one rod whose section travels with its material: forces, energy (J), heat and storing
// (W), tangent.
void snw_section_varies_elastic(const snw_model *m, const snw_rod *rod, const snw_state *s,
                                bool is_static, snw_work *w);
double snw_section_varies_energy(const snw_model *m, const snw_rod *rod, const double *q);
double snw_section_varies_heat(const snw_model *m, const snw_rod *rod, const double *q,
                               const double *v);
double snw_section_varies_storing(const snw_model *m, const snw_rod *rod, const double *q,
                                  const double *v);
void snw_section_varies_tangent(const snw_model *m, const snw_rod *rod, const snw_work *w,
                                double cq, double cv, size_t ld, double *T);

// ---- rest strains that vary -------------------------------------------------

// rest[0..3] <- rest strain at y = 1 - x/L of a rod that is out by l, and its derivatives by l;
// *slope <- that in x/L, unless NULL.
void snw_variable_length_rest(const snw_model *m, const snw_rod *rod, double l, double y,
                              snw_twist rest[4], snw_twist *rest_d1);
