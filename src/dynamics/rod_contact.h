// SPDX-License-Identifier: MIT
//
// rod_contact.h: contact of rods with each other and with themselves, theory.md 3.20. A touch is a
// place where two surfaces come closer than `smooth`/2: where rods cross, one pair of points with a
// stiffness k; along nearly parallel rods, sections of each against the centre line of the other,
// with a stiffness per length. Both have weights that depend on the angle, and energies
//   zeta(angle) k I(-gap).
// The forces are the exact derivatives of these energies; Hunt-Crossley damping and regularised dry
// friction act at the common point of both surfaces. All forces are internal: they have no
// resultant and no moment.
#pragma once

#include "dynamics/contact.h"

// w->touch <- places where rods touch, with their forces; no friction and damping if is_static.
// Part of snw_kinematics.
void snw_rod_contacts_motion(const snw_model *m, bool is_static, snw_work *w);
// The search in it: boxes around all slices, and from pairs of near slices the places, without
// their forces.
void snw_rod_contacts_search(const snw_model *m, snw_work *w);

// w->F -= wrenches. Part of snw_residual, before wrenches are transmitted to the root.
void snw_rod_contacts_add(const snw_model *m, snw_work *w);

// T (columns ld apart) += cq dr/dq + cv dr/dv. After snw_tangent_pass.
void snw_rod_contacts_tangent(const snw_model *m, double cq, double cv, const snw_work *w,
                              snw_matrix T);

// Derivatives of the wrenches on four segments, own frames, by their poses (g^-1 dg) and
// velocities, column by column.
typedef struct snw_touch_jacobian {
    double by_pose[24][24], by_velocity[24][24];
} snw_touch_jacobian;
// Those of all touches of two slices, which follow each other from touch i on; seg <- their four
// segments. Returns the first touch of the next two slices.
int snw_rod_contacts_slices(const snw_model *m, const snw_work *w, int i, int seg[4],
                            snw_touch_jacobian *out);

// Stored energy, J, and its rate, W; power dissipated, W. After snw_kinematics; rates not static.
double snw_rod_contacts_energy(const snw_model *m, const snw_work *w);
double snw_rod_contacts_energy_rate(const snw_model *m, const snw_work *w);
double snw_rod_contacts_heat(const snw_model *m, const snw_work *w);

// Number of touches in use, of those found.
static inline int snw_ntouch(const snw_model *m, const snw_work *w) {
    return w->ntouch < m->most_touch ? w->ntouch : m->most_touch;
}

// Wrench of a contact on its first rod, world frame, moment about the origin.
snw_wrench snw_rod_contact_wrench(const snw_model *m, const snw_work *w, int contact);

// As snw_contact_summarise, for a contact of rods with rods.
snw_contact_summary snw_rod_contact_summarise(const snw_model *m, const snw_work *w, int contact);

// Smallest gap of the rods of a contact, m, INFINITY without such rods; touch <- where, with its
// slices, fractions, gap and place.
double snw_rod_contact_nearest(const snw_model *m, const snw_work *w, int contact,
                               snw_touch *touch);

// ---- hard contacts of rods, theory.md (3.20.12)

enum { SNW_HARD_STATIONS = 2 }; // sections of a slice that touch slices nearly parallel to it

// out (most) <- those with gaps below `reach`, m; returns their number, which may be larger. After
// snw_kinematics.
int snw_hard_touches_near(const snw_model *m, const snw_work *w, double reach, int most,
                          snw_touch *out);
// touch <- its slices, fractions, gap, normal, direction of the first rod and place in w. The
// minimum of the gap moves along the rods with them.
void snw_hard_touch_place(const snw_model *m, const snw_work *w, snw_touch *touch);
// Are they the same minimum of the gap, both placed in the same w?
bool snw_hard_touch_is_same(const snw_model *m, const snw_touch *a, const snw_touch *b);
// Axes in the world: normal, and tangents along and across the first rod.
void snw_hard_touch_axes(const snw_touch *touch, snw_vec3 axis[3]);
// As snw_contact_velocity and snw_contact_rows, of the first rod relative to the second. After
// snw_hard_touch_place.
void snw_hard_touch_velocity(const snw_model *m, const snw_work *w, const snw_touch *touch,
                             double u[3]);
void snw_hard_touch_rows(const snw_model *m, const snw_work *w, const snw_touch *touch, double *G);
// As snw_contact_power_bars, of the four nodes of both slices. After snw_hard_touch_place.
void snw_hard_touch_power_bars(const snw_model *m, const snw_work *w, const snw_touch *touch,
                               const double f[3], const snw_twist *eta, snw_contact_bars *out);

// Bound of the speed of one rod relative to another, m/s.
double snw_touching_speed(const snw_model *m, const snw_work *w);

// Longest step, at most h (s), in which no rod can pass through another, theory.md (3.20.9): from
// the velocities and accelerations in w.
double snw_rod_contacts_step_limit(const snw_model *m, const snw_work *w, double h);

// Touch (-1: none) so deep that the rods are about to pass through each other.
int snw_rod_contacts_too_deep(const snw_model *m, const snw_work *w);

// Have two rods passed through each other on the straight way of their nodes from `before`, places
// of snw_contact_places, to the present? *where <- the slices.
bool snw_rod_contacts_passed(const snw_model *m, const snw_work *w, const snw_vec3 *before,
                             snw_touch *where);

// Name of the link of side k of a touch.
static inline const char *snw_touch_link(const snw_model *m, const snw_touch *touch, int k) {
    const int rod = m->touching_rod[m->touching_slice[touch->slice[k]].rod].rod;
    return m->label.link[m->rod[rod].link].name;
}
