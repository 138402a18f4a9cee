// SPDX-License-Identifier: MIT
//
// dynamics.h: kinematics, inverse dynamics and their exact derivative (theory.md 3 and 4). Poses,
// velocities and accelerations are computed from the root to the leaves, wrenches from the leaves
// to the root and projected on the generalised coordinates.
#pragma once

#include "dynamics/inputs.h"
#include "dynamics/state.h"
#include "dynamics/work.h"
#include "math/matrix.h"

// w->h .. w->A, w->slice <- motion of all mechanical segments at state s, theory.md (3.2). With
// is_static, v and a are taken as zero and not read.
void snw_kinematics(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                    snw_work *w);

// The same for the segments of sensor stations; after snw_kinematics.
void snw_observe(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                 snw_work *w);
// The same for the stations that laws read.
void snw_observe_read(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                      snw_work *w);

// Feedback laws at the motion in w (theory.md 3.7): w->signal <- signals, w->load <- loads, w->r -=
// active stress and efforts of laws that read signals. Part of snw_residual.
void snw_feedback(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w);
// T -= sum over signals of dQ/dsignal (cq dsignal/dq + cv dsignal/dv)', Q the generalised forces of
// the laws, theory.md (3.7.2). Part of snw_tangent_assemble.
void snw_feedback_tangent(const snw_model *m, const snw_inputs *in, double cq, double cv,
                          snw_work *w, size_t ld, double *T);

// Power of active stress and efforts that read signals, W.
double snw_feedback_power(const snw_model *m, const snw_inputs *in, const snw_state *s,
                          const snw_work *w);

// Loads of the last snw_residual.
static inline const snw_wrench *snw_loads(const snw_model *m, const snw_inputs *in,
                                          const snw_work *w) {
    return m->nlive ? w->load : in->load;
}

// Inverse dynamics, theory.md (3.3). w->r <- generalised forces that the motion (q, v, a) needs
// beyond the applied ones, zero in balance; w->F <- wrench transmitted to each segment by its
// parent.
void snw_residual(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                  snw_work *w);
// The same without snw_kinematics: at the motion in w, with the multipliers of s.
void snw_forces(const snw_model *m, const snw_inputs *in, const snw_state *s, bool is_static,
                snw_work *w);

// Exact Jacobian of the residual just computed, theory.md 4. snw_tangent_pass computes the columns
// of all segments once per residual; then any combination
//   T <- cq dr/dq + cv dr/dv + ca dr/da     (nv x nv, column major)
// can be assembled. Variations of free joints are body twists, delta g = g zeta^; with `chart`
// (from snw_chart_jacobian; NULL: none) they are increments in the local chart of a time step.
void snw_tangent_pass(const snw_model *m, const double *chart, snw_work *w);
void snw_tangent_assemble(const snw_model *m, const snw_inputs *in, double cq, double cv, double ca,
                          snw_work *w, double *T);
// The same added to T. Entries between coordinates that share no path, loop or law are not touched.
void snw_tangent_add(const snw_model *m, const snw_inputs *in, double cq, double cv, double ca,
                     snw_work *w, snw_matrix T);
// May T be compressed? Not with feedback, rods of variable length, tubes and conditional links.
bool snw_tangent_compresses(const snw_model *m);

// Both in one pass: T += cq dr/dq + cv dr/dv + ca dr/da, as snw_tangent_pass and snw_tangent_add.
// Of the columns only those of segments that are `kept` (model.h) remain, which is enough for the
// Jacobians of constraints and tendons.
void snw_tangent_once(const snw_model *m, const snw_inputs *in, const double *chart, double cq,
                      double cv, double ca, snw_work *w, snw_matrix T);

// w->J, w->dJ <- body Jacobians of all segments and their rates only, after snw_kinematics.
void snw_jacobian_pass(const snw_model *m, snw_work *w);
// The same for the stations that laws read, from those of the segments that they are attached to.
void snw_jacobian_read(const snw_model *m, snw_work *w);

// M <- mass matrix at q (nv x nv), exactly symmetric. Overwrites w; its Jacobians are undefined.
void snw_mass_matrix(const snw_model *m, const snw_inputs *in, const snw_state *s, snw_work *w,
                     double *M);

// The same by composite bodies at the motion in w; m->composite.
void snw_composite_mass(const snw_model *m, snw_work *w, double *M);

// x (nv) <- solution of M x = x by articulated bodies at the motion in w; m->articulated. Returns
// -1, or the block of coordinates that moves no mass.
int snw_articulated_solve(const snw_model *m, snw_work *w, double *x);

// K, D <- stiffness and damping of rods and joints (nv x nv), spherical joints at their rest
// orientation; either may be NULL.
void snw_elastic_matrices(const snw_model *m, double *K, double *D);

// D (nv x nv) += derivative of the dry friction in joints at the velocities v.
void snw_friction_matrix(const snw_model *m, const double *v, double *D);

// out (nv) <- elastic forces of rods and joints; their damping forces including dry friction.
void snw_elastic_forces(const snw_model *m, const double *q, double *out);
void snw_damping_forces(const snw_model *m, const double *v, double *out);

// ---- energy and momentum, after snw_kinematics ------------------------------

// Energies, J. Kinetic: includes the added mass of fluids. Gravity: includes buoyancy, zero at the
// origin. Stored: elastic energy of the active rods and joints, and of interactions: contacts,
// force elements, stops of joints.
double snw_kinetic_energy(const snw_model *m, const snw_work *w);
double snw_elastic_energy(const snw_model *m, const snw_state *s); // all rods, joints
double snw_stored_energy(const snw_model *m, const snw_state *s, const snw_work *w);
double snw_interaction_energy(const snw_model *m, const snw_work *w);
double snw_interaction_energy_rate(const snw_model *m, const snw_work *w); // W
double snw_gravity_energy(const snw_model *m, const snw_inputs *in, const snw_work *w);
// The same by link (nlink of the description), with the fluid and contact points on it.
typedef struct snw_link_energy {
    double kinetic, elastic, gravity;
} snw_link_energy;
void snw_energy_by_link(const snw_model *m, const snw_inputs *in, const snw_state *s,
                        const snw_work *w, snw_link_energy *out);
// Power dissipated in rods and joints, W, and its two parts: viscous damping, a quadratic form of
// v, and dry friction in joints, proportional to |v| for large v.
double snw_dissipation(const snw_model *m, const double *v);
double snw_viscous_dissipation(const snw_model *m, const double *v);
double snw_friction_dissipation(const snw_model *m, const double *v);
// Power dissipated by fluids, interactions, tendon friction and variable-length rods, W; after
// snw_residual.
double snw_other_heat(const snw_model *m, const snw_state *s, const snw_work *w);

// power (snw_npower) <- W, after snw_residual:
//   [i]          load i
//   [nload]      active stress, given efforts, drag spring
//   [nload + 1]  given motion (poses, driven coordinates, strains) and fluids except their drag
//   [nload + 2]  with variable-length rods or tubes that slide: energy that material carries in
static inline int snw_npower(const snw_model *m) {
    return m->nload + 2 + (m->nfeed > 0 || m->ntube_piece > 0);
}
void snw_load_power(const snw_model *m, const snw_inputs *in, const snw_state *s, const snw_work *w,
                    double *power);

// Power of active stress, efforts and given motion only, W.
double snw_drive_power(const snw_model *m, const snw_inputs *in, const snw_state *s,
                       const snw_work *w);

// Momentum in the world frame, angular part about its origin. Total mass (returned) and centre of
// mass. Without added mass of fluids.
snw_wrench snw_momentum(const snw_model *m, const snw_work *w);
double snw_center_of_mass(const snw_model *m, const snw_work *w, snw_vec3 *c);

// Internal wrench at a sensor station of a rod, section frame: exerted by the tip side on the root
// side. After snw_residual and snw_observe.
snw_wrench snw_internal_wrench(const snw_model *m, const snw_station *at, const snw_work *w);
// The same at a section that is no segment, with its pose g and body twist V; at->seg is not read.
snw_wrench snw_internal_wrench_at(const snw_model *m, const snw_station *at, snw_se3 g, snw_twist V,
                                  const snw_work *w);

// Largest estimated error of a rod's tip position relative to its length, from halving every
// segment.
double snw_geometry_error(const snw_model *m, const double *q, double t);

// Rod with a tolerance: largest estimated error of its slices at s, in pose and, unless is_static,
// in velocity and acceleration relative to their integrals along the rod; model/rod_mesh.h.
double snw_rod_error(const snw_model *m, const snw_rod *rod, const snw_state *s, bool is_static);
// cell (room + 1) <- boundaries of the mesh cells that the tolerance needs at s. Returns the number
// of cells; 0: more than rod->room.
int snw_rod_mesh_cells(const snw_model *m, const snw_rod *rod, const snw_state *s, bool is_static,
                       double *cell);
// Pose at x along the rod, from the poses g of all segments at s.
snw_se3 snw_rod_pose(const snw_model *m, const snw_rod *rod, const snw_state *s, const snw_se3 *g,
                     double x);
