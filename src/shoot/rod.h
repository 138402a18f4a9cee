// SPDX-License-Identifier: MIT
//
// rod.h: a rod in the boundary-value engine (theory.md 10). The strong form of the rod equations is
// discretised in time by an implicit formula. The equation left at each instant is an ordinary
// differential equation in arc length.
//
// The rod consists of pieces, each divided into equal intervals. A station, a section with point
// loads and possibly a body, ends each piece; the last station is the tip. Nodes are the ends of
// intervals. Two pieces meet in two nodes, one on each side, since strains may jump there; no field
// is interpolated across. The integration method evaluates `method->np` points per interval; the
// tables of sections, loads and histories have one entry per point.
//
// In body frames, with strain xi = rest + e, velocity V and wrench F of the part beyond the
// section,
//   g_s = g xi^,   V_s = e_t - ad_xi V,   F_s = M V_t - ad_V'(M V) + ad_xi' F - Phi,
//   F = K e + B e_t                                                                (10.1)
// where Phi is the external wrench per length and x_t = c_0 x + x^h for e, V and z; the histories
// x^h are tabulated. A law (snw_shoot_law) may replace the last equation. It may have states z of
// its own along the rod, with given derivatives z_s: tendons, chambers and unknown parameters.
#pragma once

#include "math/se3.h"
#include "math/time_formula.h"
#include "model/inertia.h"
#include "sinew/status.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    SNW_SHOOT_Z = 8,     // most states of a law
    SNW_SHOOT_ROWS = 26, // of a variation: pose 6, velocity 6, wrench 6, z
    SNW_SHOOT_STAGES = 6 // most stages of a method
};

// First row of each part of a variation (zeta = g^-1 dg, dV, dF, dz).
enum { SNW_ROW_G = 0, SNW_ROW_V = 6, SNW_ROW_F = 12, SNW_ROW_Z = 18 };

// ---- integration along the rod ------------------------------------------------------------------

typedef enum snw_space_kind { SNW_ALONG_EULER, SNW_ALONG_RK4, SNW_ALONG_DP5 } snw_space_kind;

// Explicit Runge-Kutta method. Its points in an interval are numbered by increasing abscissa: the
// first is the node itself, point np is the next node.
typedef struct snw_along {
    snw_space_kind kind;
    int stages, np;
    int at[SNW_SHOOT_STAGES];       // point of each stage
    double c[SNW_SHOOT_STAGES + 1]; // abscissa of each point
    double a[SNW_SHOOT_STAGES][SNW_SHOOT_STAGES], b[SNW_SHOOT_STAGES];
} snw_along;

const snw_along *snw_along_of(snw_space_kind kind);

// Interpolation of histories from nodes to the points between them: cubic through four nodes, or
// linear as in Till 2019.
typedef enum snw_history_interpolation {
    SNW_HISTORY_CUBIC,
    SNW_HISTORY_LINEAR
} snw_history_interpolation;

// ---- data of a point ----------------------------------------------------------------------------

// C = (K + c_0 B)^-1 on the active strains and zero on the others, so that e = C (F - B e^h).
// Computed by snw_shoot_formula when c_0 changes. A rod without shear and stretch has zeros there.
typedef struct snw_shoot_section {
    double C[36], B[36];
    snw_twist rest;
    snw_inertia M;
    double drag[3]; // coefficient of v|v| along each axis, kg/m^2
} snw_shoot_section;

// Loads per length, in world axes; `body` in section axes. Weight is not included.
typedef struct snw_shoot_density {
    snw_vec3 force, torque;
    snw_wrench body;
} snw_shoot_density;

typedef struct snw_shoot_history {
    snw_twist e, V;
} snw_shoot_history;

// ---- laws ---------------------------------------------------------------------------------------

// Input of a law at a point, and its output.
typedef struct snw_law_in {
    int point;
    double c0;
    snw_wrench F;         // total wrench, the parts of tendons and fluids included
    snw_twist eh;         // history of e
    const double *z, *zh; // nz states, and their histories
    const snw_shoot_section *section;
} snw_law_in;

typedef struct snw_law_out {
    snw_twist e;
    double zs[SNW_SHOOT_Z]; // derivatives of z along the rod
    // derivatives of (e, zs) by (F, z): rows of 6 + SNW_SHOOT_Z
    double D[6 + SNW_SHOOT_Z][6 + SNW_SHOOT_Z];
} snw_law_out;

// A linear term of a law: it contributes -T a to the wrench, and state z + 1 has the derivative
// a.xi along the rod, where state z is the effort T.
typedef struct snw_law_linear_term {
    int z;               // index of T among the states; -1: T is given
    const double *given; // T where it is given
    const snw_wrench *a; // npoint
} snw_law_linear_term;

enum { SNW_LAW_TERMS = 16 };

// Replaces e = C (F - B e^h). Unknown parameters (a tension, a pressure) are states z with zero
// derivative and an unknown value at the base; lengths and volumes are states z whose derivatives
// are their densities. There is one boundary condition per unknown value at the base. The functions
// do not allocate.
typedef struct snw_shoot_law {
    void *user;
    int nz;
    double typical[SNW_SHOOT_Z]; // typical values of z, for scaling
    // fills out->D if `derivatives`
    void (*strain)(void *user, const snw_law_in *in, bool derivatives, snw_law_out *out);
    int nfree,
        free[SNW_SHOOT_Z]; // states with unknown values at the base; the others are base_z of the
                           // rod
    bool closes[SNW_SHOOT_Z]; // nfree: is this condition at the tip of this rod? Of a tree only
    // residual (nfree) <- boundary conditions in z at the tip and at the base, scaled to order one;
    // jacobian (nfree rows of 2 nz) <- their derivatives by both
    void (*close)(void *user, const double *tip, const double *base, double *residual,
                  double *jacobian);
    // W <- wrench of tendons and fluids at the elastic strain e (strain less rest); along <- its
    // derivative along the rod, where e and z have the derivatives es and zs (NULL: zero).
    // depends_on_strain: W depends on e. For forms of the equations in other variables
    // (snw_shoot_form); called without F and histories.
    bool depends_on_strain;
    void (*wrench)(void *user, const snw_law_in *in, snw_twist e, snw_twist es, const double *zs,
                   snw_wrench *W, snw_wrench *along);
    // set if the law is a sum of linear terms and the rod has principal axes: marches without
    // derivatives then do not call `strain`
    int nterm;
    snw_law_linear_term term[SNW_LAW_TERMS];
} snw_shoot_law;

// ---- stations -----------------------------------------------------------------------------------

enum { SNW_SHOOT_LOADS = 8 }; // most point loads of a station

typedef struct snw_shoot_load {
    bool body;    // components in the section frame; otherwise in the world frame
    snw_vec3 arm; // point of application, in the section frame
    snw_wrench W;
} snw_shoot_load;

// F(-) - F(+) = sum of the loads + weight of the body - rate of its momentum. At the tip F(+) is
// the wrench of the plate (platform.h), or zero.
typedef struct snw_shoot_station {
    int nload;
    snw_shoot_load load[SNW_SHOOT_LOADS];
    bool has_body;
    snw_inertia M;
} snw_shoot_station;

typedef struct snw_shoot_piece {
    int node, n; // first node, number of intervals
    int point;   // first point
    double s, h; // arc length of its first node, length of an interval, m
} snw_shoot_piece;

// ---- fields -------------------------------------------------------------------------------------

// Fields of force, whose wrench depends on the pose of the section. The functions do not allocate.
typedef struct snw_shoot_force_field {
    void *user;
    // W <- wrench per length at a point of the rod whose section has the pose g, in its frame; A
    // (36, row major) <- its derivative by motions of the section, unless NULL
    void (*along)(void *user, int point, const snw_se3 *g, snw_wrench *W, double *A);
    // likewise the wrench on the body of the station that ends a piece
    void (*at_station)(void *user, int piece, const snw_se3 *g, snw_wrench *W, double *A);
} snw_shoot_force_field;

// ---- branches -----------------------------------------------------------------------------------

// Straight part of a tendon between the section and the base of a branch. It adds
// length/(1 + compliance T) to the path length, state z + 1 beside the tension z.
typedef struct snw_shoot_straight {
    int z;
    double length, compliance; // m, 1/N
} snw_shoot_straight;

// Another rod whose base is fixed to the section of a station, at g in its frame, or moves there as
// prescribed. F(-) - F(+) of the station includes the wrench at that base.
typedef struct snw_shoot_branch {
    int piece; // that ends at the station
    snw_se3 g;
    snw_twist u;  // velocity of the base relative to the section, in the frame of the base
    snw_wrench F; // wrench at the base, in its frame
    int nstraight;
    snw_shoot_straight straight[SNW_SHOOT_Z / 2];
} snw_shoot_branch;

// ---- forms of the equations ---------------------------------------------------------------------

struct snw_shoot_rod;
struct snw_shoot_state;

// Equations (10.1) along the rod in other variables than march.h. The solvers, the time formulas
// and the results are the same. Programs set it; the model language has no key for it. The form of
// Till 2019, to whose printed digits tests compare, is tests/oracle/till_march.c.
typedef struct snw_shoot_form {
    // as snw_shoot_march and snw_shoot_march_vary, always with poses
    void (*march)(struct snw_shoot_rod *r, int node, int n, const struct snw_shoot_state *start,
                  struct snw_shoot_state *end);
    void (*march_vary)(struct snw_shoot_rod *r, int node, int n,
                       const struct snw_shoot_state *start, int columns, double *S,
                       struct snw_shoot_state *end);
    // if the law depends on the strain: derivative of e along the rod, at a node and its point
    snw_twist (*strain_d1)(const struct snw_shoot_rod *r, int point, int node);
    // velocity V of a plate at pose g, and its rate, by the formula f; at the previous instants,
    // newest first, the poses `past` and velocities `V_past`, and the rate A at the newest
    snw_twist (*pose_rate)(const snw_time_formula *f, snw_se3 g, const snw_se3 *past,
                           const snw_twist *V_past);
    snw_twist (*velocity_rate)(const snw_time_formula *f, snw_se3 g, snw_twist V,
                               const snw_se3 *past, const snw_twist *V_past, snw_twist A);
} snw_shoot_form;

// ---- the rod ------------------------------------------------------------------------------------

typedef struct snw_shoot_rod {
    const snw_along *method;
    snw_history_interpolation interpolation;
    int npiece, nnode, npoint;
    snw_shoot_piece *piece;
    snw_shoot_station *station; // npiece
    bool uniform;               // one section for all points
    bool diagonal; // C and B are diagonal, and M has its centre on the axis and principal axes
    bool damped;   // B is nonzero somewhere
    bool drags;    // a drag coefficient is nonzero somewhere
    snw_shoot_section *section; // npoint, or 1
    double *K;                  // 36 per section: stiffness
    bool active[6];             // strains that may change
    double stretch_compliance; // artificial compliance of an inactive stretch during the search for
                               // an equilibrium, 1/N
    snw_shoot_density *density; // npoint; NULL: no distributed loads
    snw_vec3 gravity;
    const snw_shoot_law *law;           // NULL: none
    const snw_shoot_force_field *field; // NULL: none
    int nbranch;
    snw_shoot_branch *branch; // nbranch: rods on this one; owned by the caller
    bool carried; // the base is on another rod, which gives base, base_V and base_z (tree.h)
    double length;
    double force; // typical force, N; moments are scaled by force times length

    // of the present time step
    snw_time_formula formula;
    double stretch_compliance_used; // value with which C was computed
    snw_shoot_history *history;     // npoint
    double *zh;                     // npoint x nz: histories of z
    snw_se3 base;                   // frame of the clamp; a variable-length rod slides through it
    snw_twist base_V;
    double feed_rate; // rate of the free length of a variable-length rod, by the time formula, m/s
    double base_z[SNW_SHOOT_Z];

    // state at the nodes; at the starts of segments the unknowns of the solver
    snw_se3 *g;
    snw_twist *V;
    snw_wrench *F;
    double *z;    // nnode x nz
    snw_twist *W; // pose increment to the next node: g exp(W)
    // at nodes, at the previous instants, newest first
    snw_shoot_history *level[SNW_TIME_LEVELS]; // e and V
    snw_shoot_history *rate;                   // their rates at the newest instant
    snw_shoot_history *node_history;           // scratch
    double *zlevel[SNW_TIME_LEVELS], *zrate, *znode;
    // likewise the derivative of e along the rod, for a form that integrates strains
    snw_twist *strain_d1[SNW_TIME_LEVELS], *strain_d1_rate, *strain_d1_node, *strain_d1_history;
    double step[SNW_TIME_LEVELS];            // lengths of the time steps that ended at the levels
    double free_length[SNW_TIME_LEVELS + 1]; // m; of the present step, then of the levels
    double free_length_rate;                 // at the newest level
    const snw_shoot_form *form;              // NULL: that of march.h
    bool world;  // the orientation matters: gravity, or loads in world axes
    bool placed; // the position matters too: fields; then `world` is set
    void *block;
} snw_shoot_rod;

// State at one section.
typedef struct snw_shoot_state {
    snw_se3 g;
    snw_twist V;
    snw_wrench F;
    double z[SNW_SHOOT_Z];
} snw_shoot_state;

// Does the march integrate strains instead of wrenches, with histories of their derivatives?
static inline bool snw_shoot_integrates_strain(const snw_shoot_rod *r) {
    return r->form && r->law && r->law->depends_on_strain;
}

static inline int snw_shoot_nz(const snw_shoot_rod *r) { return r->law ? r->law->nz : 0; }

// Layout of a rod. Its properties are set by the caller in `section`, `station` and `density`.
typedef struct snw_shoot_opts {
    snw_space_kind along;
    snw_history_interpolation interpolation;
    int npiece;
    const double *length; // of each piece, m
    const int *intervals; // of each piece, at least one (with cubic histories three)
} snw_shoot_opts;

// Allocates everything in one block. The caller fills sections, stations and loads, then calls
// snw_shoot_ready.
SNW_NODISCARD snw_status snw_shoot_create(const snw_shoot_opts *opts, const snw_shoot_law *law,
                                          bool uniform, bool loads, snw_shoot_rod **out);
void snw_shoot_destroy(snw_shoot_rod *r); // NULL is fine

// Arc length of a point, and of a node, m.
double snw_shoot_point_s(const snw_shoot_rod *r, int point);
double snw_shoot_node_s(const snw_shoot_rod *r, int node);
// Point of a node of this piece.
static inline int snw_shoot_point_of(const snw_shoot_rod *r, int piece, int node) {
    return r->piece[piece].point + (node - r->piece[piece].node) * r->method->np;
}
// Index of the piece that contains a node.
int snw_shoot_piece_of(const snw_shoot_rod *r, int node);

// Call after sections and stations are filled in, and again when the set of loads changes.
// Classifies the rod and sets its typical force from stiffness, weight and `applied` (the largest
// applied force, N). SNW_E_SINGULAR: an active strain has no stiffness.
SNW_NODISCARD snw_status snw_shoot_ready(snw_shoot_rod *r, double applied);

// Nodes and all levels <- the unstressed rod at rest, in its rest strain, with the clamp at `base`.
void snw_shoot_set_unstressed(snw_shoot_rod *r, snw_se3 base);

// Poses of the nodes <- integrated from the base with the pose increments of the last march. For
// rods whose march does not need poses.
void snw_shoot_poses(snw_shoot_rod *r);

// w (n = 2 .. 4) <- weights of the values at 0, 1, .. in their interpolation polynomial at x.
void snw_shoot_lagrange(int n, double x, double *w);

// Exponent of the largest growth of a disturbance of the linear rod over a length s, with the
// present time formula (theory.md 10.4).
double snw_shoot_growth(const snw_shoot_rod *r, double s);

// ---- time ---------------------------------------------------------------------------------------

// Set the free length at the end of the next step, for a rod of one piece that slides through its
// base; call before snw_shoot_formula. Points stay at constant fractions of the length. Rates are
// material rates; with linear histories they are rates at the points, as in Till 2019.
void snw_shoot_set_length(snw_shoot_rod *r, double length);
// Velocity of the first section, where the wrench is F: velocity of the base plus feed rate times
// the strain there; with linear histories, times the rest strain without its rotation.
snw_twist snw_shoot_root_V(const snw_shoot_rod *r, snw_wrench F);
// Does that velocity depend on F? If so, its derivative is feed rate times C.
bool snw_shoot_root_depends_on_wrench(const snw_shoot_rod *r);

// Start a step: computes its time formula, histories at points, and C of the sections.
// No rates with past 0; h is then ignored.
void snw_shoot_formula(snw_shoot_rod *r, snw_levels levels, double h);
// Accept the solved step: the nodes become the newest level, with rates by the formula. level[0]
// and rate are then the present fields: elastic strain and velocity, and their rates.
void snw_shoot_accept(snw_shoot_rod *r, double h);
// Restart the time integration: levels <- a motion with the constant present rates, in steps of h.
// With `rest` the rates become zero.
void snw_shoot_begin(snw_shoot_rod *r, bool rest, double h);
// strain_d1 <- derivatives of the strains along the rod, by cubics through nodes. Needed when the
// strains were set by other means than a march.
void snw_shoot_derivatives(snw_shoot_rod *r);

// ---- stations -----------------------------------------------------------------------------------

// Present time step: the rate of the velocity is c0 V + Vh.
typedef struct snw_station_step {
    snw_vec3 gravity;
    double c0;
    snw_twist Vh;
} snw_station_step;

// External wrench on a section, or on a free body, in its frame: loads and weight less the rate of
// momentum. y: pose and velocity.
snw_wrench snw_station_external_wrench(const snw_shoot_station *st, const snw_station_step *now,
                                       const snw_shoot_state *y);
// Its variation for a rotation theta of the frame and a change dV of the velocity.
snw_wrench snw_station_wrench_variation(const snw_shoot_station *st, const snw_station_step *now,
                                        const snw_shoot_state *y, snw_vec3 theta, snw_twist dV);

// Wrench at the station that ends a piece, branches included: F(-) - F(+). y: state before the
// station.
snw_wrench snw_station_wrench(const snw_shoot_rod *r, int piece, const snw_shoot_state *y);
// dW (6 rows of `columns`) <- its variation for the variations S (rows as in march.h), with
// constant wrenches of the branches.
void snw_station_vary(const snw_shoot_rod *r, int piece, const snw_shoot_state *y, int columns,
                      const double *S, double *dW);

// ---- energies -----------------------------------------------------------------------------------

typedef struct snw_shoot_energy {
    double kinetic, elastic, gravity;
} snw_shoot_energy;

// Energies of the body of a station at pose g and velocity V, J.
snw_shoot_energy snw_station_energies(const snw_shoot_station *st, snw_vec3 gravity, snw_se3 g,
                                      snw_twist V);
// Quadrature weight of node j of a piece, m: Gregory's rule of the order of the march (10.5); with
// linear histories and in other forms of the equations the trapezoidal rule.
double snw_shoot_weight(const snw_shoot_rod *r, const snw_shoot_piece *piece, int j);
// Energies of the newest level by this quadrature, bodies included, J.
snw_shoot_energy snw_shoot_energies(const snw_shoot_rod *r);
