// SPDX-License-Identifier: MIT
//
// moreau.h: time stepping with hard contacts, in the manner of Moreau and Jean (theory.md 6.9).
//
// With the increment d over a step of length h, q_m = q_0 theta d, v_m = d/h and v_1 = v_0 + (v_m -
// v_0)/theta, in a chart in which free joints have world linear velocities, the step solves
//
//     r(q_m, v_m, (v_1 - v_0)/h) = G(q_m)' P                                               (6.51)
//     0 <= g(q_1) _|_ P_n >= 0,   Coulomb's law for P_t and the slip h u_t(q_m, v_m)
//
// for d and the contact forces P. No contact penetrates at the end of a step, and a contact that
// sticks does not move at all. Then an impulse at q_1 makes the velocities agree with the contacts:
//
//     M (v_1+ - v_1) = G(q_1)' (p - h P),   u_n + e u_n0 >= 0 _|_ p_n >= 0,   Coulomb       (6.52)
//
// with the impulse p of the whole step in the friction cone. theta is 1/2, order 2. It is 1 in a
// step that closes a contact, since the middle rule would reflect the robot there. At last the
// velocities are scaled such that neither the middle rule nor contacts create energy, (6.53).
#pragma once

#include "base/fields.h"
#include "constraint/impact.h"
#include "constraint/law_jump.h"
#include "dynamics/hard_contact.h"
#include "integrate/hard_step.h"
#include "integrate/integrator.h"
#include "solve/coulomb.h"

enum { SNW_MOREAU_CONTACTS = 200 }; // most contact points that may act in one step

// n unknowns, nv velocities, nc contacts that may act, np powers, points: all contact points, rods:
// room for contacts of rods with rods, stops: those of joints
#define MOREAU_FIELDS(AT, PACK)                                                                    \
    AT(double, d, n, "increments and multipliers of the step")                                     \
    PACK(double, y, n, "solution without contacts")                                                \
    PACK(double, r, nv, "residual without contact forces")                                         \
    PACK(double, rate0, nv, "velocities in the chart at the start of the step")                    \
    PACK(double, rate, nv, "velocities in the chart")                                              \
    PACK(double, acc, nv, "accelerations in the chart")                                            \
    PACK(double, part, nv, "increment up to the middle")                                           \
    PACK(double, chart_jacobian, 108 * (size_t)m->nlie_block, "Jacobian of the chart")             \
    PACK(double, violation, nr, "violation of the constraint rows at the end of the step")         \
    PACK(double, mass, nv, "typical masses")                                                       \
    PACK(double, A, n *n, "Newton's matrix bordered by the constraint rows, and its factors")      \
    PACK(double, G, nv * 3 * nc, "contact Jacobian: three columns for each contact")               \
    PACK(double, X, n * 3 * nc, "increments by contact forces")                                    \
    PACK(double, W, 9 * nc * nc, "displacements of contacts by contact forces")                    \
    PACK(double, b, 3 * nc, "displacements without contact forces")                                \
    PACK(double, force, 3 * nc, "contact forces")                                                  \
    PACK(double, impulse, 3 * nc, "impulses of the step")                                          \
    PACK(double, u, 3 * nc, "gaps and slips at the end, then velocities")                          \
    PACK(double, approach, nc, "rate of the gap at the start of the step, m/s")                    \
    PACK(double, gap, nc, "gap at the start of the step, m")                                       \
    PACK(double, mu, 2 * nc, "friction coefficients")                                              \
    PACK(double, point_force, 3 * points, "forces at all contact points in the last step")         \
    PACK(double, stop_force, 6 * stops,                                                            \
         "the same of both limits of stops, along the normal first")                               \
    PACK(double, power, np, "per load, at the middle of the step")                                 \
    PACK(double, work, np, "per load")                                                             \
    AT(int, pivot, n, "of the factors of A")                                                       \
    AT(snw_hard_contact, candidate, nc, "contacts that may act in the step")                       \
    PACK(snw_hard_contact, found, (size_t)snw_hard_most(m), "contacts that are near")              \
    PACK(snw_touch, near, (size_t)m->most_touch, "contacts of rods that are near")                 \
    PACK(snw_touch, touch, rods, "contacts of rods with forces in the last step, ntouch")          \
    AT(double, v_step, nv, "velocities before the impulse of the step")                            \
    PACK(double, v_impulse, nv, "velocities after it")                                             \
    PACK(double, row_impulse, nr, "impulses of the constraint rows in it")                         \
    PACK(snw_hard_step_contact, acting, nc, "contacts that act in the step, for derivatives")

typedef struct snw_moreau {
    const snw_model *m;
    double tolerance;
    int patience; // Newton iterations allowed in one advance; 0: no limit
    snw_interrupt interrupt;
    snw_step_monitor monitor;
    snw_step_watch watch;
    snw_work *w, *end_work;     // at the middle of the step, and at its end
    snw_projection *projection; // NULL: no loops and conditions
    snw_impacts *impacts;       // NULL: no conditions
    snw_law_jump *law_jump;     // of given strains and moving poses; NULL: none
    snw_inputs *in, *last;      // at the middle and at the end of the step
    snw_state *now, *mid, *end;
    int n;        // unknowns: increments, then multipliers
    int nc, most; // contacts that may act; room for them
    int nfound, ntouch;
    int nstep;      // contacts that act in the step before those that close at its end
    double slowest; // m/s: slower impacts are plastic
    double reach;   // gap of rods, m, that may close in the present step
    double t_laws;  // end of the present step for the laws, s
    double scale;   // of constraint rows and multipliers
    double theta;
    MOREAU_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
    snw_arena scratch;
    double *saved; // checkpoint before the last advance; NULL for models without signals
    double heat, scheme, energy; // dissipated; removed by the scheme; kinetic and potential, J
    double given, warmed;        // work and heat of the last step, without contacts, J
    snw_vec3 gravity;            // that `energy` refers to
    bool driven;                 // something moves by a law
    bool floats;                 // all is carried by free joints
    double typical_energy;       // largest typical force times typical coordinate, J
    double violated;             // violation of (6.50) by the last contact forces
    int violator;                // law of that contact (snw_hard_law)
    double step_violated;        // largest in the present step, with its contact
    int step_violator;
    double worst[3];  // largest since the start: violation, time (s), law of the contact
    bool full;        // there was no room for all contacts that may act
    bool impact;      // a contact closed in the last step
    bool closed_only; // contacts that close are not candidates: search of an impact
    int cuts;         // steps that ended at an impact in the present advance
} snw_moreau;

// ---- energy (moreau_energy.c) -------------------------------------------------------------------

void snw_moreau_prepare_energy(snw_moreau *c);

// Kinetic and potential energy at s, J, whose kinematics are evaluated in w.
double snw_moreau_energy(const snw_moreau *c, const snw_inputs *in, const snw_state *s,
                         snw_work *w);

// Work of the contact forces on the displacements of the step, J, <= 0 but for rounding.
double snw_moreau_contact_work(const snw_moreau *c);

// c->power, c->given, c->warmed <- powers, work and heat of the step without contacts, at its
// middle.
void snw_moreau_smooth_work(snw_moreau *c, double h);

// Scales the velocities at the end such that the energy there is `target`, (6.53). With lower_only
// an energy below the target stays. Returns the energy, J.
double snw_moreau_conserve(snw_moreau *c, double target, bool lower_only, snw_hard_scaling *by);

// May the middle rule create this energy in a resolved step that ends with `energy`? J
bool snw_moreau_is_resolved(const snw_moreau *c, double created, double energy);

// Counts work and heat of a step that ends with `energy`, and whose contacts take the heat `taken`.
void snw_moreau_account(snw_moreau *c, double h, double taken, double energy);

// ---- report for derivatives (moreau_report.c) ---------------------------------------------------

// c->acting <- the acting contacts with the forces of the step, before they are turned.
void snw_moreau_note_forces(snw_moreau *c, double h);
// The rest of them after the impulse; `bounced`: with restitution.
void snw_moreau_note_impulses(snw_moreau *c, bool bounced);
// Reports a step to c->end, with what c->acting and r say.
void snw_moreau_report(const snw_moreau *c, double h, snw_hard_step *r);
