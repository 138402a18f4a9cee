// SPDX-License-Identifier: MIT
//
// hard_contact.h: hard contacts of all kinds, as rows of one problem (theory.md 6.9): contact
// points of links with obstacles (contact.h), places where rods touch rods (rod_contact.h), and
// hard stops of joints (stop.h). Each has a gap, a normal and two tangents; stops have no friction,
// and their rows of the tangents are zero.
#pragma once

#include "dynamics/rod_contact.h"

// A hard contact: a contact point, or (point -1) a limit of a hard stop, or (both -1) a place where
// two rods touch.
typedef struct snw_hard_contact {
    int point;
    int limit; // 2 stop, and 1 more at the upper limit
    snw_touch touch;
} snw_hard_contact;

static inline snw_hard_contact snw_hard_point(int k) {
    return (snw_hard_contact){.point = k, .limit = -1};
}
static inline snw_hard_contact snw_hard_limit(int k) {
    return (snw_hard_contact){.point = -1, .limit = k};
}
static inline snw_hard_contact snw_hard_rods(const snw_touch *touch) {
    return (snw_hard_contact){.point = -1, .limit = -1, .touch = *touch};
}

// Most hard contacts that may be near at the same time.
int snw_hard_most(const snw_model *m);
// Of rods: both placed in the same w.
bool snw_hard_is_same(const snw_model *m, const snw_hard_contact *a, const snw_hard_contact *b);
// Its law: one of m->contact, or -1 less a stop; the name of a law, that of the contact or of the
// link with the stop.
int snw_hard_law(const snw_model *m, const snw_hard_contact *c);
const char *snw_hard_law_name(const snw_model *m, int law);
// mu <- friction coefficients along both tangents; ratio of speeds after and before an impact.
void snw_hard_friction(const snw_model *m, const snw_hard_contact *c, double mu[2]);
double snw_hard_restitution(const snw_model *m, const snw_hard_contact *c);
// Name of the link that touches or stops, k = 0, or of the rod that it touches (NULL: an obstacle
// or a stop), k = 1.
const char *snw_hard_link(const snw_model *m, const snw_hard_contact *c, int k);

// out (2 nstop at most) <- limits of hard stops of active links with gaps below `reach`, m; returns
// their number. After snw_kinematics.
int snw_hard_limits_near(const snw_model *m, const snw_work *w, double reach,
                         snw_hard_contact *out);

// out (snw_hard_most) <- all hard contacts with gaps below these, m, of contact points and stops
// and of rods, *n of them; near (most_touch): scratch. False: more places of rods than there is
// room for. After snw_kinematics.
bool snw_hard_near(const snw_model *m, const snw_work *w, double points, double rods,
                   snw_touch *near, snw_hard_contact *out, int *n);

// Equilibria: no contact of w has a force; contact c has the forces P along its axes.
void snw_hard_release(const snw_model *m, snw_work *w);
void snw_hard_give(const snw_hard_contact *c, const double P[3], snw_work *w);

// Gap in w, m, after snw_kinematics; of rods it also finds the place again, which the functions
// below need.
double snw_hard_gap(const snw_model *m, const snw_work *w, snw_hard_contact *c);
// u <- velocities along the axes, m/s; G (3 columns of nv) <- their derivatives by the generalised
// velocities (contact.h).
void snw_hard_velocity(const snw_model *m, const snw_work *w, const snw_hard_contact *c,
                       double u[3]);
void snw_hard_rows(const snw_model *m, const snw_work *w, const snw_hard_contact *c, double *G);
// Bars of the power of the force f along the axes when the segments move with the twists eta, at
// fixed twists, and wrenches of the force (snw_contact_power_bars); returns the number of segments,
// those of the side that is pushed along the normal first, *own of them. row (2 nv) += derivatives
// of that power by places and rates at the motion in w, from bars whose eta are its velocities.
// After snw_tangent_pass or snw_jacobian_pass, not static. The power of a stop varies with the rate
// of its coordinate alone (but for cones), and with no segment.
int snw_hard_power_bars(const snw_model *m, const snw_work *w, const snw_hard_contact *c,
                        const double f[3], const snw_twist *eta, snw_contact_bars *out, int *own);
void snw_hard_power_row(const snw_model *m, const snw_work *w, int n, const snw_contact_bars *bars,
                        double *row);
// The same of the component of the force along a fixed vector e of the world, by places alone; eta
// (nseg + nobs): zeros, and again afterwards.
int snw_hard_force_bars(const snw_model *m, const snw_work *w, const snw_hard_contact *c,
                        const double f[3], snw_vec3 e, snw_twist *eta, snw_contact_bars *out);
// Size of the gradient of the gap: 1 but for interpolated surfaces.
double snw_hard_gradient(const snw_work *w, const snw_hard_contact *c);
// axis <- axes in those of the segment that is returned; of stops those of the world.
int snw_hard_axes(const snw_model *m, const snw_work *w, const snw_hard_contact *c,
                  snw_vec3 axis[3]);
