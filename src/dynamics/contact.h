// SPDX-License-Identifier: MIT
//
// contact.h: contact with obstacles, theory.md 3.13. A contact point with the gap g above the
// surface and the slip velocity u along it gets the force
//   N n - N (mu u)/sqrt(u^2 + creep^2),   N = k p(-g) c(1 - damping g'),
// with p and c smooth positive parts (penalty stiffness k, Hunt-Crossley damping) and mu a tensor
// with the friction coefficients along and across a rod (regularised Coulomb friction). N >= 0.
#pragma once

#include "dynamics/dynamics.h"

// w->contact_point <- gaps, velocities and forces; no friction and damping if is_static. Part of
// snw_kinematics.
void snw_contact_motion(const snw_model *m, bool is_static, snw_work *w);

// w->F -= contact wrenches, on the segments in contact and on those of obstacles. Part of
// snw_residual, before wrenches are transmitted to the root.
void snw_contact_add(const snw_model *m, snw_work *w);

// A, B (6 x 6, row major) <- derivatives of the wrench of point k on its segment by pose (body
// twist) and velocity, those of the obstacle being constant; B is zero in statics. Returns false,
// and leaves A and B alone, without contact.
bool snw_contact_point_jacobian(const snw_model *m, const snw_work *w, int k, double A[36],
                                double B[36]);

// Derivatives of -eta'F by poses (body twists, at fixed body rates) and velocities, F the wrenches
// of contact point k and eta (by segment) virtual twists; of the segments that it couples, that of
// the obstacle last. Returns their number, 0 without contact. Not of wheels.
enum { SNW_CONTACT_SEGMENTS = 4 };
typedef struct snw_contact_bars {
    int seg[SNW_CONTACT_SEGMENTS];
    snw_wrench pose[SNW_CONTACT_SEGMENTS], V[SNW_CONTACT_SEGMENTS];
} snw_contact_bars;
int snw_contact_point_bars(const snw_model *m, const snw_work *w, int k, const snw_twist *eta,
                           snw_contact_bars *out);
// The same of the power of a force f, given along the axes of contact point k, when the segments
// move with the twists eta: by poses at fixed twists, and by the twists, which are the wrenches of
// the force. The obstacle counts also where no coordinate moves it.
int snw_contact_power_bars(const snw_model *m, const snw_work *w, int k, const double f[3],
                           const snw_twist *eta, snw_contact_bars *out);

// Does contact point p couple several segments: a piece of rod, or one whose obstacle coordinates
// move?
bool snw_contact_is_pair(const snw_model *m, const snw_contact_point *p);

// T (columns ld apart) += cq dr/dq + cv dr/dv of such contacts. After snw_tangent_pass.
void snw_contact_pairs_tangent(const snw_model *m, double cq, double cv, const snw_work *w,
                               snw_matrix T);

// Is contact point k a hard one (theory.md 6.9)? Is it there, in the present conditions?
bool snw_contact_is_hard(const snw_model *m, int k);
bool snw_contact_exists(const snw_model *m, const snw_work *w, int k);
// Axes of contact point k in its segment's axes: normal, and tangents along and across a rod. After
// snw_kinematics.
void snw_contact_axes(const snw_work *w, int k, snw_vec3 axis[3]);
// u <- velocity of the touching point relative to the obstacle along these axes, m/s; the first is
// the rate of the gap. After snw_kinematics, not static.
void snw_contact_velocity(const snw_model *m, const snw_work *w, int k, double u[3]);
// G (3 columns of nv) <- derivatives of these velocities by the generalised ones: forces f along
// the axes are generalised forces G f. After snw_jacobian_pass.
void snw_contact_rows(const snw_model *m, const snw_work *w, int k, double *G);
// Velocities in w <- displacements since the poses `before` (nseg) of the segments: those of
// contacts are then their slips, theory.md (5.16). Until the next snw_kinematics.
void snw_contact_displace(const snw_model *m, const snw_se3 *before, snw_work *w);
// Stores the force f along the axes, and the velocity; w->F and w->r do not change. After the gap
// is known, not static.
void snw_contact_set_force(const snw_model *m, snw_work *w, int k, const double f[3]);

// Compliant contact point k <- the force with a given elastic part N, and the velocity; w->F and
// w->r do not change. After snw_kinematics, not static.
void snw_contact_set_elastic(const snw_model *m, snw_work *w, int k, double N);
// out (nv) += J' F of the wrench F on a segment, own frame. After snw_jacobian_pass.
void snw_add_generalised(const snw_model *m, const snw_work *w, int seg, snw_wrench F, double *out);

// Elastic energy of contacts, J, and its rate, W; power dissipated, W. After snw_kinematics; rates
// not static.
double snw_contact_energy(const snw_model *m, const snw_work *w);
double snw_contact_energy_rate(const snw_model *m, const snw_work *w);
double snw_contact_point_energy(const snw_model *m, const snw_work *w, int k); // of one point
double snw_contact_heat(const snw_model *m, const snw_work *w);

// Wrench of contact point k on its segment, in the segment's frame.
snw_wrench snw_contact_point_wrench(const snw_work *w, int k);

// Wrench of a contact on the robot, or of rods with rods on the first of them, world frame, moment
// about the origin. Wheels are not included; see snw_loop_wrench.
snw_wrench snw_contact_wrench(const snw_model *m, const snw_work *w, int contact);

// A contact as a whole: smallest gap (m, NaN without points), number of points in contact, their
// mean in the world, weighted by the elastic force, or the touching point with the smallest gap;
// largest slip speed of points in contact (m/s); energy stored (J), sum of the elastic forces (N),
// and the point with the smallest gap (-1: of rods with rods).
typedef struct snw_contact_summary {
    double gap, slip, energy, force;
    int touching, nearest;
    snw_vec3 place;
} snw_contact_summary;
snw_contact_summary snw_contact_summarise(const snw_model *m, const snw_work *w, int contact);

// Longest step, at most `longest` (s), in which no contact point can pass through an obstacle and
// no rod through another, from the velocities and accelerations in w, theory.md (3.13.10). Has the
// model something that can be passed through, as a half-space cannot?
double snw_contact_step_limit(const snw_model *m, const snw_work *w, double longest);
bool snw_contact_has_curved(const snw_model *m);

// Contact point (-1: none) so deep in its obstacle that it is about to come out on another side.
int snw_contact_too_deep(const snw_model *m, const snw_work *w);

// out (snw_contact_nplace) <- centres of the contact points in the axes of their obstacles, of
// pieces of rods both ends, then the nodes of touching slices in the world; first contact point
// (-1: none; rods: rod_contact.h) whose straight way from `before` to the present goes deep through
// its obstacle.
enum { SNW_CONTACT_PLACES = 2 };
static inline size_t snw_contact_nplace(const snw_model *m) {
    return (size_t)(SNW_CONTACT_PLACES * m->ncontact_point + 2 * m->ntouching_slice);
}
void snw_contact_places(const snw_model *m, const snw_work *w, snw_vec3 *out);
int snw_contact_passed(const snw_model *m, const snw_work *w, const snw_vec3 *before);
