// SPDX-License-Identifier: MIT
//
// tendon_friction.h: capstan friction (Euler-Eytelwein) along a tendon, theory.md (3.11.4) to
// (3.11.6). From point to point the tension decreases with the angle of the path, along rods and at
// corners, depending on the sliding speed towards the pulled end. In statics the sliding direction
// is an input of the model.
#pragma once

#include "dynamics/dynamics.h"

// Sliding speed by the remaining path c_k, nu_k = -r (c_k' - a c_k), with c the whole
// path: b = 1/(c + extra), rate c'; of given tension r = 1 and a = b = 0.
typedef struct snw_tendon_slide {
    double r, a, b, rate;
} snw_tendon_slide;

snw_tendon_slide snw_tendon_slide_at(const snw_model *m, int tendon, const snw_work *w);

// Parts of the tangent at a point on a rod, theory.md (3.11.6).
typedef struct snw_tendon_friction_point {
    double d1[6], d2[6];        // df/dxi and in motion d2f/dxi2 xi'
    double of_xi[6], of_dxi[6]; // derivatives of the angle per length by xi and its derivative in x
    double by_speed;            // relative loss of tension before the point, by the sliding speed
    double before, after; // the same by the angle per length here: before the point, behind it
    double corner;        // the same by the angle of the corner before the point
} snw_tendon_friction_point;

// w->tendon_point <- sliding speeds and tension fractions at the points of a tendon with friction,
// w->tendon[].tied_fraction <- that at the fixed end; w->G <- generalised force per unit effort.
// After strains, densities and their rates.
void snw_tendon_friction_distribute(const snw_model *m, int tendon, double t, const snw_state *s,
                                    snw_work *w);

// Tension at the winch of an elastic tendon with friction, such that the unstretched lengths of all
// points sum to the length paid out.
double snw_tendon_friction_winch(const snw_model *m, int tendon, double paid_out,
                                 const snw_work *w);

// Does friction act on the tendon in w? out (3) <- derivatives of -sum w_k T_k f_k', the power of
// its tensions for the rates of its points in `rates`, by friction, viscous friction and creep
// speed.
bool snw_tendon_friction_acts(const snw_model *m, int tendon, const snw_work *w);
void snw_tendon_friction_slopes(const snw_model *m, int tendon, const snw_work *w,
                                const snw_work *rates, double *out);

// Point k of a tendon at which friction acts; of a straight segment without derivatives by strains.
snw_tendon_friction_point snw_tendon_friction_point_at(const snw_model *m, int tendon, int k,
                                                       const snw_work *w);

// Power dissipated by friction at the effort in w->tendon, W, >= 0.
double snw_tendon_friction_heat(const snw_model *m, int tendon, const snw_work *w);

// T += cq dr/dq + cv dr/dv from the variation of the tensions along the path, theory.md (3.11.6);
// the second derivative of the lengths is not included. fraction: that of the winch tension that
// acts.
void snw_tendon_friction_tangent(const snw_model *m, int tendon, double paid_out, double fraction,
                                 double cq, double cv, snw_work *w, snw_matrix T);
