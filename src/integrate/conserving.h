// SPDX-License-Identifier: MIT
//
// conserving.h: energy-momentum conserving scheme: implicit, of order 2, symmetric in time.
//
// With the increment d over a step of length h, middle configuration q_m = q_0 d/2, mean velocity v
// = d/h and momenta p = M(q) q', the scheme solves (theory.md 6.3)
//
//     p_1 + p_0 = 2 M(q_m) v
//     (p_1 - p_0)/h = dT/dq(q_m, v) - dU/dq(q_m) - D v + Q(q_m) - theta W d
//
// for d alone. theta is Gonzalez' correction: the number for which the step conserves H = T + U
// exactly, apart from heat and the work Q d of the loads.
//
// Ball and free joints: p is in the body frame. In the second equation the momenta of both ends are
// transported to the middle by the coadjoint action, and dT/dq is taken at fixed body velocities.
// So the momentum about the world origin, or about a ball joint on the world, changes only by the
// impulse of external forces; W is zero in the rows of such roots, which makes the correction an
// internal force. In the first equation the momenta are not transported: then p_1 - p_0 does no
// work on d, a rigid body conserves its energy, and weight acts at the mean position of the centre
// of mass over the arc of the step. The error that theta corrects therefore vanishes with the
// relative motion of the links, and theta W d stays small even where a rod is too stiff to absorb
// energy or a joint comes to rest.
//
// Loop closures: forces C(q_m)' lambda, closed at the end of the step; there an impulse C(q_1)' mu,
// of order h^2, projects the velocities onto the constraints. The work of these forces on d is of
// order h^3, since the loops are closed at both ends, and theta compensates it.
//
// Nonholonomic constraints: forces C(q_m)' lambda with C(q_m) v = 0, which do no work on d; and the
// impulse at the end, which is zero for a rigid body whose rows are constant in its frame. Roots
// held by such constraints take part in W: their momentum is not conserved anyway.
//
// Compliant contacts: the elastic force is the discrete gradient of its potential; friction and
// damping act at the middle. Roots in contact keep W = 0; theta has forces between both sides.
//
// Laws that read probes are evaluated at the middle with velocities v; their integrals advance by
// the midpoint rule.
//
// Bases moved by a law: momenta include theirs, p = M q' + b(q, t), and theta is zero: the work of
// the base is known only from the reaction at the middle, to order h^2, and a rod that hardly
// deforms cannot compensate the difference.
//
// Newton's matrix comes from two Jacobian passes at the middle: the static tangent, and the tangent
// of the momenta P = M v, which are the inertia forces of a motion from rest with acceleration v.
// The omitted terms (second derivatives of T, theta) are of order h^2, so one matrix serves a step.
#pragma once

#include "base/fields.h"
#include "constraint/impact.h"
#include "constraint/law_jump.h"
#include "integrate/integrator.h"
#include "solve/broyden.h"
#include "solve/condition.h"

// n unknowns, nv velocities, nr constraint rows, np powers, points: contact points; nb: memory of
// Broyden's method
#define CONSERVING_FIELDS(AT, PACK)                                                                \
    AT(double, d, n, "increments and multipliers of the step")                                     \
    PACK(double, dx, n, "their change in an iteration")                                            \
    PACK(double, best, n, "best iterate")                                                          \
    PACK(double, typical, n, "typical values of the unknowns")                                     \
    PACK(double, p0, n, "momenta at the start of the step")                                        \
    PACK(double, p1, n, "momenta at its end")                                                      \
    PACK(double, r, n, "residual")                                                                 \
    PACK(double, P, n, "dT/dv at the middle")                                                      \
    PACK(double, dT, n, "dT/dq at the middle")                                                     \
    PACK(double, force, n, "forces at the middle")                                                 \
    PACK(double, damping, n, "damping forces at the middle")                                       \
    PACK(double, weight, n, "W of the correction")                                                 \
    PACK(double, mass, n, "typical masses")                                                        \
    PACK(double, equilibration_row, n, "scales of the rows of A before it was factorised")         \
    PACK(double, equilibration_column, n, "scales of its columns")                                 \
    PACK(double, scratch, 2 * n, "for the matrix")                                                 \
    PACK(double, M, nv *nv, "mass matrix and its factor")                                          \
    PACK(double, T, nv *nv, "Newton's matrix without constraints")                                 \
    PACK(double, E, nv *nv, "tangent of the momenta")                                              \
    PACK(double, bordered, nr ? n *n : 0, "T bordered by the constraint rows")                     \
    PACK(double, Z, nv *nr, "for the projection of velocities")                                    \
    PACK(double, S, nr *(nr + 1), "likewise")                                                      \
    PACK(double, rate, nr, "rates of the violations at the middle")                                \
    PACK(double, correction, nv, "force along which the energy is corrected, theta = 1")           \
    PACK(double, gap, points, "gaps of contacts at the start, m; of pieces of rods forces, N")     \
    PACK(double, mean, points, "their mean elastic forces over the step, N")                       \
    PACK(double, slope, points, "derivatives of these by the gap at its end, N/m")                 \
    PACK(double, rods, m->ntouching_rod ? nv : 0, "elastic forces of rods on rods, at the middle") \
    PACK(double, rows, points ? 3 * nv : 0, "of one contact")                                      \
    PACK(double, power, np, "per load, at the middle of the step")                                 \
    PACK(double, work, np, "per load")                                                             \
    PACK(double, broyden_memory, nb, "increments of Broyden's method")                             \
    AT(int, pivot, n, "of the factors of A")

typedef struct snw_conserving {
    const snw_model *m;
    double tolerance;
    int patience; // Newton iterations allowed in one advance; 0: no limit
    snw_interrupt interrupt;
    snw_step_monitor monitor;
    snw_work *w;
    snw_projection *projection; // NULL: no loops or conditions
    snw_impacts *impacts;       // of conditional bodies; NULL: none
    snw_law_jump *law_jump;     // of given strains and moving poses; NULL: none
    snw_inputs *in;             // at the middle of the step
    snw_inputs *unloaded; // without loads; velocities of poses in place of their accelerations
    snw_inputs *last;     // at the end of the step
    bool moving;          // some pose depends on time
    snw_step_watch watch;
    bool shown; // the accelerations at the present state have been reported
    snw_state *now, *mid, *end, *momentum_state;
    int n; // unknowns: increments, then multipliers
    CONSERVING_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    double *A;     // bordered; T itself without constraints
    double *saved; // checkpoint before the last advance; NULL for models without signals
    snw_redundancy *redundancy; // owned by the projection; NULL: no redundancy possible
    double redundant;           // 1: constraint rows are redundant
    int slipping;               // loop whose constraint failed in the last step; -1: none
    double slip_speed;          // its violation, m/s or rad/s
    snw_broyden broyden;
    snw_equilibration equilibration; // scales of A before it was factorised
    bool factored;                   // A holds factors
    double condition;                // cached; NaN: not computed yet
    double heat;
    // nodes of two rods that touch at the start of the step, or at one of its ends; sums of forces
    // of rods that touch, N; 0: none do
    int pair0[2], pair[2];
    double pair_force0, pair_force;
    double shortest_square; // squared increment, weighted, below which theta is zero
    // of the last residual: energy gain of the uncorrected step and weighted square of d, whose
    // quotient is theta where it is not zero
    double gain, length, theta;
    double start_laws, gravity_laws; // times of the inputs of p0 and of `gravity`, s
    double E0; // reference energy at the last instant: that of the start plus work less heat, J
    snw_vec3 gravity; // gravity that E0 refers to
} snw_conserving;

// At the middle, c->mid: P <- dT/dv, dT <- dT/dq; force <- generalised forces that balance
// elasticity, weight, loads and constraints.
void snw_conserving_forces(snw_conserving *c);

// damping (nv) += damping forces of stops, force elements and contacts, after
// snw_conserving_forces. Returns the power that they dissipate, W.
double snw_conserving_damping(snw_conserving *c, double *damping);

// p <- momenta of the motion at s.
void snw_conserving_momenta(snw_conserving *c, const snw_inputs *in, const snw_state *s, double *p);

// s->v <- velocities with momenta p at s->q, at the end of the step; c->M <- factor of the mass
// matrix there. False if that is singular.
bool snw_conserving_velocities(snw_conserving *c, const double *p, snw_state *s);

// Elastic and gravitational energy of the configuration in w, J.
double snw_conserving_potential(const snw_conserving *c, const snw_state *s, snw_work *w);

// ---- a step as a map, for derivatives (conserving_map.c) ----------------------------------------

// A step from the state q, v, z at time t with the reference energy E0, whose unknowns are d.
typedef struct snw_conserved_step {
    const double *q, *v, *z;         // nq, nv, nsignal
    double energy;                   // E0 before the step, J
    double t, h, t_laws;             // its start and length; time of the inputs at its end, s
    double start_laws, gravity_laws; // as of snw_conserving
    const double *d;                 // nv + nconstraint: increments and multipliers
} snw_conserved_step;

// Parts of the equations of a step, in one vector.
typedef struct snw_conserved_parts {
    int residual;   // nv + nconstraint: without theta
    int correction; // nv: force along which the energy is corrected, theta = 1
    int gain;       // energy gain of the uncorrected step, J
    int length;     // theta = gain/length
    int rate;       // nv: velocities at the end
    int energy;     // change of the reference energy over the step
    int memory;     // nsignal, at the end
    int n;          // of all
} snw_conserved_parts;
snw_conserved_parts snw_conserving_parts(const snw_model *m);

// Without integrator: for snw_conserving_evaluate_step and snw_conserving_energy of models that fit
// (snw_model_alike), which are told by snw_conserving_use.
SNW_NODISCARD snw_status snw_conserving_create(const snw_model *m, snw_conserving **out);
void snw_conserving_destroy(snw_conserving *c); // NULL is fine
void snw_conserving_use(snw_conserving *c, const snw_model *m);
// out <- the parts. Returns theta; NaN: the mass matrix is singular.
double snw_conserving_evaluate_step(snw_conserving *c, const snw_conserved_step *x, double *out);
// Energy H at a state with the inputs of time t_laws, to which the reference energy is set by a
// start.
double snw_conserving_energy(snw_conserving *c, const double *q, const double *v, const double *z,
                             double t_laws);

// ---- the parts of a step ------------------------------------------------------------------------

// Residual at c->d; returns its largest entry relative to typical forces. factor: also factorise
// its derivative. Then work, heat and reference energy of the step; memory of the laws at its end.
double snw_conserving_evaluate(snw_conserving *c, double h, bool factor);
void snw_conserving_account(snw_conserving *c, double h);
void snw_conserving_advance_memory(snw_conserving *c);
// Inputs, reference energy, contacts and memory of a step of length h from c->now.
void snw_conserving_begin(snw_conserving *c, double h, double t_laws);
// Weights of the coordinates in the energy correction, and typical values of the unknowns.
void snw_conserving_set_weights(snw_conserving *c);

// c->A <- factors of the derivative of the residual in d, for a step of length h; false if it is
// singular.
bool snw_conserving_factor(snw_conserving *c, double h);

// ---- compliant contacts (conserving_contacts.c) -------------------------------------------------

// c->gap <- gaps at the start of the step.
void snw_conserving_contacts_begin(snw_conserving *c);

// c->mean, c->slope <- mean elastic forces over the step with the increment c->d.
void snw_conserving_contacts_mean(snw_conserving *c);

// Derivative of the mean force of contact point k over two gaps, m, by one of them, N/m.
double snw_conserving_contact_slope(const snw_model *m, int k, double other, double by);

// Contact points in c->w, at the middle <- forces with these as elastic ones.
void snw_conserving_contacts_apply(const snw_conserving *c);

// out (nv) += generalised forces that balance the elastic ones, or damping and friction; after
// snw_jacobian_pass.
void snw_conserving_contacts_forces(snw_conserving *c, bool elastic, double *out);

// out (nv) += forces against the relative motion of both sides, in proportion to the elastic ones;
// returns their work on c->d, J.
double snw_conserving_contacts_correction(snw_conserving *c, double h, double *out);
// The same of one contact point with this mean force, N.
double snw_conserving_contact_correction(const snw_conserving *c, int k, double h, double force,
                                         double *out);

// The same of the two nodes of rods that touch most.
double snw_conserving_pair_correction(const snw_conserving *c, double h, double force, double *out);

// Sum of c->mean and c->pair_force, N.
double snw_conserving_contacts_force(const snw_conserving *c);

// c->rods <- generalised elastic forces of rods on rods at the middle; and out (nv) += forces that
// balance these, or damping and friction, with the motion of the middle in c->w.
void snw_conserving_rods_elastic(snw_conserving *c);
void snw_conserving_rods_forces(const snw_conserving *c, bool elastic, double *out);

// Contact points with mean forces act no more in c->w, for tangents without them.
void snw_conserving_contacts_forget(snw_conserving *c);

// T (nv x nv) += derivatives of the mean forces, of friction and damping, by c->d.
void snw_conserving_contacts_matrix(snw_conserving *c, double h, double *T);
