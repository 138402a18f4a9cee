// SPDX-License-Identifier: MIT
//
// conserving.h: the conserving scheme: implicit, of order 2, symmetric in time.
//
// With the increment d over a step of length h, mid configuration q_m = q_0 d/2, mid velocity v =
// d/h, momenta p = M(q) q', the scheme asks for
//
//     p_1 + p_0 = 2 M(q_m) v                                         (velocity is the one of the
//     mean momentum) (p_1 - p_0)/h = dT/dq(q_m, v) - dU/dq(q_m) - D v + Q(q_m) - theta W d
//
// so d alone is unknown. theta is Gonzalez' correction: the number for which the step keeps H = T +
// U exactly but for heat and the work Q d of the loads.
//
// Balls and free joints: p is taken in the frame of the body. In the second equation momenta of the
// beginning and the end are carried to the middle by the coadjoint action, dT/dq is that at given
// body rates. So the momentum about the world's origin, or about a ball on the world, changes by
// the impulse of what acts and nothing else; W is zero in the rows of such roots, the correction an
// internal force. In the first equation they are not carried: then a rigid body keeps its energy,
// for p_1 - p_0 does no work on d, and weight acts in the mean over the arc of its centre. So what
// theta has to make up for vanishes with the motion of links against each other, and theta W d
// stays small also where a rod is too stiff to take up energy, or a joint comes to rest.
//
// Loops: forces C(q_m)' l with multipliers l, loops closed at the end; there an impulse C(q_1)' x,
// of order h^2, makes velocities that keep them closed. What these forces do on d is of order h^3,
// since loops are closed at both ends, and theta takes it off the energy.
//
// Contacts that grip: forces C(q_m)' l too, with C(q_m) v = 0 there, so that they do no work on d;
// and the impulse at the end. Of a rigid body, whose rows stand still in its frame, this is zero.
// Roots that they hold take part in W: their momentum is not kept anyway.
//
// Laws that read probes are asked at the middle, velocities v: integrals go on by the midpoint
// rule.
//
// Bases moved by a law: momenta include theirs, p = M q' + b(q, t). There theta is zero: what a
// base gives is not known but by the reaction at the middle, to order h^2, and the rod, which may
// hardly deform, cannot make up for that.
//
// Newton's matrix comes from two sweeps at the middle: the static tangent, and the tangent of the
// momenta P = M v, which are the inertia forces of a motion that starts from rest with acceleration
// v. What it lacks (second derivatives of T, theta) is of order h^2, so one matrix serves a step.
#pragma once

#include "constraint/impact.h"
#include "integrate/integrator.h"
#include "solve/broyden.h"
#include "solve/condition.h"

typedef struct snw_conserving {
    const snw_model *m;
    double tolerance;
    int patience; // most iterations of an advance; 0: any number
    snw_interrupt interrupt;
    snw_work *w;
    snw_projection *projection; // NULL: no loops
    snw_impacts *impacts;       // of bodies that come and go; NULL: none
    snw_inputs *in;             // at the middle of the step
    snw_inputs *unloaded; // nothing acts, velocities of poses are in the place of accelerations
    snw_inputs *last;     // at the end of the step
    bool moving;          // some pose depends on time
    snw_state *now, *mid, *end, *momentum_state;
    double *memory;
    double *saved; // before the last advance; NULL for models without signals
    int n;         // unknowns: increments, then multipliers of loops
    double *d, *dx, *best, *typical, *p0, *p1, *r, *P, *dT, *force, *weight, *mass;
    double *scratch; // 2 n
    double *M, *T, *E;
    double *A;                  // n x n: T bordered by the rows of loops; T itself without
    double *Z, *S;              // of loops: nv x nrow; nrow x (nrow + 1)
    double *rate;               // nrow: of the rows at the middle
    snw_redundancy *redundancy; // of contacts; NULL: none
    double redundant;           // whether they say the same
    int slipping;      // the contact that could not hold in the last step; -1: none did not
    double slip_speed; // and how fast it would have to go
    snw_broyden broyden;
    int *pivot;
    snw_gauge gauge;      // of A before it was factorised,
    bool factored;        // which it is
    double condition;     // asked for since; NaN: not yet
    double *power, *work; // per load; power at the middle of the step
    double heat;
    double shortest_square; // square of an increment, by `weight`, that is short
    double E0; // energy there should be at the last instant: at the start, plus work, less heat
    snw_vec3 gravity; // of that energy
} snw_conserving;

// At the middle, c->mid: P <- dT/dv, dT <- dT/dq; force <- what elasticity, weight, loads and loops
// need to be held.
void snw_conserving_forces(snw_conserving *c);

// p <- momenta of the motion at s.
void snw_conserving_momenta(snw_conserving *c, const snw_inputs *in, const snw_state *s, double *p);

// s->v <- velocities of momenta p at s->q, at the end of the step; c->M a factor of the mass matrix
// there. False when that is singular.
bool snw_conserving_velocities(snw_conserving *c, const double *p, snw_state *s);

// Of what is elastic and heavy, at the motion in w.
double snw_conserving_potential(const snw_conserving *c, const snw_state *s, snw_work *w);

// c->A <- factors of the derivative of the residual in d, for a step of length h; false when it is
// singular.
bool snw_conserving_factor(snw_conserving *c, double h);
