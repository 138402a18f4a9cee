// SPDX-License-Identifier: MIT
//
// strong.h: inverse dynamics of one rod from its differential equations, theory.md 2, by two
// methods of the papers: adaptive Runge-Kutta along the rod, and Chebyshev collocation. Neither
// uses segments, Magnus expansions or the recursion; strain functions, sections and laws are those
// of the description.
//
//   g' = g xi^,  V' = -ad_xi V + dxi,  A' = -ad_xi A - ad_dxi V + ddxi               from the root,
//   Lambda' = ad_xi' Lambda + M A - ad_V' M V - F                                    from the tip,
//   r = integral of Phi' B' (H (xi - xi0) + D dxi + Lambda_active - Lambda)          over the rod:
// zero when the stress that balances the motion is the one the strain gives.
#pragma once

#include "model/model.h"

#include "dynamics/state.h"

enum { ORACLE_MOST_WATCHES = 16 };

// Input: rod number `rod` of the model, alone on its base, in the state s.
typedef struct oracle_rod {
    const snw_model *m;
    int rod;
    const snw_state *s;
    snw_se3 g;       // pose of the root section
    snw_twist V, dV; // its body twist and the rate of that
    int nwatch;
    double watch[ORACLE_MOST_WATCHES]; // stations where Lambda is wanted, ascending, inside the rod
} oracle_rod;

typedef struct oracle_answer {
    snw_se3 tip;
    snw_twist V, dV; // twist of the tip and its rate
    double kinetic, gravity;
    snw_wrench root; // Lambda(0), the wrench of the rod on its root section
    snw_wrench watch[ORACLE_MOST_WATCHES];
    double *r;  // ndof generalised forces out of balance; memory of the caller
    long calls; // evaluations of the fields
} oracle_answer;

// Local errors below tol.
void oracle_by_runge_kutta(const oracle_rod *q, double tol, oracle_answer *a);

// `points` Chebyshev points on each stretch between breaks of the bases, loads and stations.
void oracle_by_collocation(const oracle_rod *q, int points, oracle_answer *a);
// The same with integrating factors: all but the rotation are integrals at these points.
void oracle_by_factor(const oracle_rod *q, int points, oracle_answer *a);
// Their part from the root to the tip alone: tip, V and dV of the answer.
void oracle_forward_by_collocation(const oracle_rod *q, int points, bool factor, oracle_answer *a);

// ---- common to both: the fields along the rod ---------------------------------------------------

enum { ORACLE_MOST_FUNCTIONS = 64 };

// All fields at a station.
typedef struct oracle_fields {
    snw_twist xi, dxi, ddxi;
    snw_wrench stress; // from strain, strain rate and activation
    snw_inertia M;     // per length
    snw_wrench follow; // distributed load in section axes,
    snw_wrench dead;   // and in world axes
    int n;             // number of functions that are not zero here:
    int dof[ORACLE_MOST_FUNCTIONS],
        comp[ORACLE_MOST_FUNCTIONS];   // coordinate and component of each,
    double phi[ORACLE_MOST_FUNCTIONS]; // its value
} oracle_fields;

// Fields at x, on the side of the stretch whose middle is `middle`.
void oracle_fields_at(const oracle_rod *q, double x, double middle, oracle_fields *f);

// Stations where a field is discontinuous: 0, breaks, loads, stations of Lambda, L. Returns their
// number.
int oracle_stretches(const oracle_rod *q, double x[], int most);

// Wrench on the rod at station x from concentrated loads and, at the tip, from the body there, for
// a section that moves with V, dV.
snw_wrench oracle_lump(const oracle_rod *q, double x, snw_se3 g, snw_twist V, snw_twist dV);

// Wrench that moves a slice of inertia M, without gravity and loads: M dV - ad_V' M V - gravity.
snw_wrench oracle_inertia(const oracle_rod *q, const snw_inertia *M, snw_mat3 R, snw_twist V,
                          snw_twist dV);

double oracle_kinetic(const snw_inertia *M, snw_twist V);
double oracle_potential(const oracle_rod *q, const snw_inertia *M, snw_se3 g);

// Body at the tip; NULL when there is none.
const snw_inertia *oracle_body(const oracle_rod *q, snw_inertia *store);
