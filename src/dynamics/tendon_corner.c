// SPDX-License-Identifier: MIT
//
// Angle of the path of a tendon at a corner and its derivative, theory.md (3.11.9) and (3.11.10),
// for tendon friction. The unit directions d_0 before and d_1 after the corner enclose the angle
// theta, S = |d_1 - d_0|^2/4 = sin(theta/2)^2. It is rounded by e where the path continues straight
// and where it reverses, so that its derivative exists there:
//   theta = 2 atan2(a, b) - 2 atan2(e, (1 + e^2)^(1/2)),   a^2 = S + e^2,   b^2 = 1 - S + e^2
//   dtheta = dS/(a b),   dS = (d_1 - d_0).(dd_1 - dd_0)/2
// A straight segment has d = n. A duct has d = R t with the unit tangent t in the section's frame
// and dd = R (z x t + dt), z the rotation of the section.

#include "dynamics/tendon_corner.h"

#include "dynamics/tendon_point.h"
#include "dynamics/tendon_segment.h"

#include <math.h>

// sine of half the rounding angle of 1e-5 rad
static const double rounding = 5e-6;

static snw_vec3 corner_direction(const snw_model *m, const snw_tendon_corner *k, int side, double t,
                                 const snw_state *s, const snw_work *w, snw_twist *xi) {
    const snw_duct *duct = &k->duct[side];
    if (duct->end.rod < 0) return w->tendon_point[k->point - 1 + side].n;
    snw_tendon_point_strain(m, &duct->end, t, s, xi, NULL);
    return snw_rotate(w->g[duct->seg].R, snw_tendon_point_tangent(&duct->end, *xi));
}

// a and b of the formula above
static void half_angle_sides(const snw_tendon_corner_work *at, double *a, double *b) {
    const snw_vec3 chord = snw_sub(at->d[1], at->d[0]), sum = snw_add(at->d[1], at->d[0]);
    *a = sqrt(0.25 * snw_dot(chord, chord) + rounding * rounding);
    *b = sqrt(0.25 * snw_dot(sum, sum) + rounding * rounding);
}

double snw_tendon_corner_angle(const snw_model *m, int i, double t, const snw_state *s,
                               snw_work *w) {
    snw_tendon_corner_work *at = &w->tendon_corner[i];
    double a, b;
    for (int k = 0; k < 2; k++)
        at->d[k] = corner_direction(m, &m->tendon_corner[i], k, t, s, w, &at->xi[k]);
    half_angle_sides(at, &a, &b);
    const double angle = 2 * (atan2(a, b) - atan2(rounding, sqrt(1 + rounding * rounding)));
    return angle > 0 ? angle : 0; // rounding errors may make it negative
}

// to += g . dd/dq, d the direction of a duct
static void scatter_duct(const snw_model *m, const snw_duct *duct, const snw_work *w, snw_twist xi,
                         snw_vec3 d, snw_vec3 g, double *to) {
    const snw_path *path = &m->path[m->seg[duct->seg].path];
    const double *J = w->J + m->seg_store[duct->seg];
    const snw_mat3 R = w->g[duct->seg].R;
    const snw_twist own = {{.v = snw_rotate_inv(R, g)}};
    const snw_vec3 lever = snw_cross(snw_rotate_inv(R, d), own.v);
    for (int j = duct->skip; j < path->n; j++) {
        const snw_vec3 turn = {{J[j], J[path->ld + j], J[2 * path->ld + j]}};
        to[duct->of[j - duct->skip]] += snw_dot(lever, turn);
    }
    double d1[6];
    snw_tendon_point_d2(&duct->end, xi, own, d1);
    snw_tendon_point_scatter(m, &duct->end, m->tendon_phi + duct->end.phi, 1, d1, to);
}

snw_vec3 snw_tendon_corner_slope(int i, const snw_work *w) {
    const snw_tendon_corner_work *at = &w->tendon_corner[i];
    double a, b;
    half_angle_sides(at, &a, &b);
    return snw_scale(0.5 / (a * b), snw_sub(at->d[1], at->d[0]));
}

void snw_tendon_corner_jacobian(const snw_model *m, int i, const snw_work *w, double factor,
                                double *to) {
    if (factor == 0) return;
    const snw_tendon_corner *k = &m->tendon_corner[i];
    const snw_tendon_corner_work *at = &w->tendon_corner[i];
    const snw_vec3 g = snw_scale(factor, snw_tendon_corner_slope(i, w));
    for (int side = 0; side < 2; side++) {
        const snw_vec3 own = snw_scale(side == 0 ? -1 : 1, g);
        const int point = k->point - 1 + side;
        if (k->duct[side].end.rod < 0) {
            snw_tendon_segment_direction_jacobian(
                m, &m->tendon_segment[m->tendon_point[point].segment], w, &w->tendon_point[point],
                own, to);
        } else {
            scatter_duct(m, &k->duct[side], w, at->xi[side], at->d[side], own, to);
        }
    }
}
