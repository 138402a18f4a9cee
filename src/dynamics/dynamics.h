// SPDX-License-Identifier: MIT
//
// dynamics.h: the recursion. Poses, velocities, accelerations root to leaves; wrenches leaves to
// root, projected on the coordinates; the exact derivative of both. theory.md 3.
#pragma once

#include "dynamics/inputs.h"
#include "dynamics/state.h"
#include "dynamics/work.h"

// w->h .. w->A, w->slice <- motion of all segments of the physics at state s. With `still`, v and a
// are taken as zero and not read.
void snw_kinematics(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                    snw_work *w);

// The same for the observers; after snw_kinematics.
void snw_observe(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                 snw_work *w);
// The same for those that laws need.
void snw_observe_read(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                      snw_work *w);

// What laws read and do at the motion in w (theory.md 3.7): w->signal, w->load, and active stress
// and efforts that follow signals taken off w->r. Part of snw_residual.
void snw_feedback(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w);
// T -= (what laws do per signal) (cq dsignal/dq + cv dsignal/dv)'. Part of snw_tangent_assemble.
void snw_feedback_tangent(const snw_model *m, const snw_inputs *in, double cq, double cv,
                          snw_work *w, size_t ld, double *T);

// Power of active stress and efforts that follow signals, W.
double snw_feedback_power(const snw_model *m, const snw_inputs *in, const snw_state *s,
                          const snw_work *w);

// The loads that act, after snw_residual.
static inline const snw_wrench *snw_loads(const snw_model *m, const snw_inputs *in,
                                          const snw_work *w) {
    return m->nlive ? w->load : in->load;
}

// w->r <- generalised forces that the motion (q, v, a) needs beyond those that act: zero when in
// balance. w->F <- wrench each segment gets from its parent. Inverse dynamics, rods.md 3.2.
void snw_residual(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                  snw_work *w);
// The same at the motion that is in w already, with other multipliers.
void snw_forces(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                snw_work *w);

// Columns of the derivative of the residual just computed. Once per residual; then any combination
//   T <- cq dr/dq + cv dr/dv + ca dr/da     (nv x nv, column major)
// can be assembled. Variations of free joints are body twists: delta g = g zeta^, with zeta, its
// rate and the rate of that as columns, rods.md 3.4; or, with `chart`, what snw_chart_jacobian
// makes of a step's increments.
void snw_tangent_pass(const snw_model *m, const double *chart, snw_work *w);
void snw_tangent_assemble(const snw_model *m, const snw_inputs *in, double cq, double cv, double ca,
                          snw_work *w, double *T);
// The same added to T, whose columns stand ld apart, and nothing else of T touched: entries of
// coordinates that share no path, no loop and no law stay as they are.
void snw_tangent_add(const snw_model *m, const snw_inputs *in, double cq, double cv, double ca,
                     snw_work *w, size_t ld, double *T);

// w->J, w->dJ <- columns of the motion and their rates alone, after snw_kinematics.
void snw_jacobian_pass(const snw_model *m, snw_work *w);

// M <- mass matrix at q (nv x nv), symmetric to the last bit. Overwrites w.
void snw_mass_matrix(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w,
                     double *M);

// K, D <- elastic stiffness and damping of rods and joints (nv x nv), either may be NULL; of a ball
// at rest.
void snw_elastic_matrices(const snw_model *m, double *K, double *D);

// D (nv x nv) += derivative of the dry friction in joints at the velocities v.
void snw_friction_matrix(const snw_model *m, const double *v, double *D);

// out (nv) <- elastic forces of rods and joints; their damping forces, dry friction included.
void snw_elastic_forces(const snw_model *m, const double *q, double *out);
void snw_damping_forces(const snw_model *m, const double *v, double *out);

// ---- energy and momentum, after snw_kinematics
// ------------------------------------------------------

// That of a fluid's added mass included; gravity's, buoyancy.
double snw_kinetic_energy(const snw_model *m, const snw_work *w);
double snw_elastic_energy(const snw_model *m, const double *q); // of all rods and joints
// of those that are there, and of the ground
double snw_stored_energy(const snw_model *m, const double *q, const snw_work *w);
double snw_gravity_energy(const snw_model *m, const snw_inputs *in,
                          const snw_work *w); // zero at the origin
// Power turned into heat in rods and joints, W; and that by fluids, at contacts, along tendons and
// by feeding, after snw_residual.
double snw_dissipation(const snw_model *m, const double *v);
// Its two parts: that of damping, a quadratic form of v, and that of dry friction in joints, which
// grows as |v|.
double snw_viscous_dissipation(const snw_model *m, const double *v);
double snw_friction_dissipation(const snw_model *m, const double *v);
double snw_other_heat(const snw_model *m, const snw_state *s, const snw_work *w);

// power[i] <- power of load i, W; power[nload] that of active stress and given efforts, power[nload
// + 1] that of given motion: poses, driven coordinates and strains, and of fluids but for their
// resistance; where rods are fed power[nload + 2] what material brings with it (after
// snw_residual).
static inline int snw_npower(const snw_model *m) { return m->desc->nload + 2 + (m->nfeed > 0); }
void snw_load_power(const snw_model *m, const snw_inputs *in, const snw_state *s, const snw_work *w,
                    double *power);

// That of active stress, efforts and given motion alone.
double snw_drive_power(const snw_model *m, const snw_inputs *in, const snw_state *s,
                       const snw_work *w);

// Momentum in the world frame, angular part about its origin; mass and centre of mass: of the robot
// without fluid.
snw_wrench snw_momentum(const snw_model *m, const snw_work *w);
double snw_center_of_mass(const snw_model *m, const snw_work *w, snw_vec3 *c);

// Internal wrench at a watched station of a rod, section frame: what the tip side exerts on the
// root side. After snw_residual and snw_observe.
snw_wrench snw_internal_wrench(const snw_model *m, const snw_station *at, const snw_work *w);

// Largest estimated error of a rod's tip position relative to its length: every segment cut in two.
double snw_geometry_error(const snw_model *m, const double *q, double t);

// Of a rod with a tolerance: the largest estimated error of its slices at s, of the pose and,
// unless still, of velocities and accelerations relative to what these add up to along it;
// model/rod_mesh.h.
double snw_rod_error(const snw_model *m, const snw_rod *rod, const snw_state *s, bool is_static);
// cell (room + 1) <- ends of the cells it should have at s. How many; 0: there is no room.
int snw_rod_mesh_cells(const snw_model *m, const snw_rod *rod, const snw_state *s, bool is_static,
                       double *cell);
// The pose at x along the rod, from those of all segments at s.
snw_se3 snw_rod_pose(const snw_model *m, const snw_rod *rod, const snw_state *s, const snw_se3 *g,
                     double x);
