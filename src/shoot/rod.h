// SPDX-License-Identifier: MIT
//
// rod.h: a rod as the boundary-value engine sees it: its strong form, implicit in time, an ordinary
// differential equation in arc length. theory.md 10
//
// The rod is a row of pieces, each cut into equal intervals, and behind each piece a station: a
// section with point loads and a body; the last one is the tip. Nodes are the ends of intervals. A
// break has two nodes, one of either side, since strains jump there; nothing is interpolated across
// it. Between two nodes the method along the rod looks at `method->np` points; tables of sections,
// loads and histories go by points.
//
// In body frames, with the strain xi = rest + e, the velocity V and the wrench F that the part
// beyond exerts,
//   g_s = g xi^,   V_s = e_t - ad_xi V,   F_s = M V_t - ad_V'(M V) + ad_xi' F - Phi,   F = K e + B
//   e_t,
// and x_t = c_0 x + x^h for e, V and z, whose histories x^h are tables. A law (below) may replace
// the last equation, and has quantities z of its own along the rod: z_s = its slope. So tendons,
// chambers and unknown parameters come in.
#pragma once

#include "math/se3.h"
#include "model/inertia.h"
#include "shoot/time_formula.h"
#include "sinew/status.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    SNW_SHOOT_Z = 8,     // most quantities of a law
    SNW_SHOOT_ROWS = 26, // of a variation: pose 6, velocity 6, wrench 6, z
    SNW_SHOOT_STAGES = 6 // most stages of a method
};

// Where the rows of a variation (zeta = g^-1 dg, dV, dF, dz) begin.
enum { SNW_ROW_G = 0, SNW_ROW_V = 6, SNW_ROW_F = 12, SNW_ROW_Z = 18 };

// ---- the method along the rod
// -----------------------------------------------------------------------

typedef enum snw_space_kind { SNW_ALONG_EULER, SNW_ALONG_RK4, SNW_ALONG_DP5 } snw_space_kind;

// An explicit Runge-Kutta method; its points in an interval are numbered by rising abscissae, the
// first is the node itself, the one with number np the next node.
typedef struct snw_along {
    snw_space_kind kind;
    int stages, np;
    int at[SNW_SHOOT_STAGES];       // point of each stage
    double c[SNW_SHOOT_STAGES + 1]; // abscissa of each point
    double a[SNW_SHOOT_STAGES][SNW_SHOOT_STAGES], b[SNW_SHOOT_STAGES];
} snw_along;

const snw_along *snw_along_of(snw_space_kind kind);

// How histories are carried from nodes to points between: as the paper does, or by cubics through
// four nodes.
typedef enum snw_history_interpolation {
    SNW_HISTORY_CUBIC,
    SNW_HISTORY_LINEAR
} snw_history_interpolation;

// ---- what is known at a point
// -----------------------------------------------------------------------

// C = (K + c_0 B)^-1 on the strains that may change and zero on the others, so that e = C (F - B
// e^h); made by snw_shoot_formula when c_0 changes. A rod without shear and stretch is one with
// zeros there.
typedef struct snw_shoot_section {
    double C[36], B[36];
    snw_twist rest;
    snw_inertia M;
    double drag[3]; // of v|v| along each axis, kg/m^2
} snw_shoot_section;

// Per length, world axes but for `body`; weight is not in it.
typedef struct snw_shoot_density {
    snw_vec3 force, torque;
    snw_wrench body;
} snw_shoot_density;

typedef struct snw_shoot_history {
    snw_twist e, V;
} snw_shoot_history;

// ---- laws
// -------------------------------------------------------------------------------------------

// What a law is asked at a point, and what it answers.
typedef struct snw_law_in {
    int point;
    double c0;
    snw_wrench F;         // the total wrench, what tendons and fluids carry included
    snw_twist eh;         // history of e
    const double *z, *zh; // nz, and their histories
    const snw_shoot_section *section;
} snw_law_in;

typedef struct snw_law_out {
    snw_twist e;
    double zs[SNW_SHOOT_Z]; // slopes of z along the rod
    // derivatives of (e, zs) by (F, z): rows of 6 + SNW_SHOOT_Z
    double D[6 + SNW_SHOOT_Z][6 + SNW_SHOOT_Z];
} snw_law_out;

// A part of a law that is linear: at a point it carries -T a of the wrench, and z + 1 grows by
// a.xi, where z is the effort T.
typedef struct snw_law_linear_term {
    int z;               // T among the law's quantities; -1: it is given
    const double *given; // there
    const snw_wrench *a; // npoint
} snw_law_linear_term;

enum { SNW_LAW_TERMS = 16 };

// Replaces e = C (F - B e^h). Unknown parameters (a tension, a pressure) are z with slope zero and
// an unknown value at the base; lengths and volumes z with their densities as slopes. For each
// unknown value there is an equation at the tip. Nothing here may allocate.
typedef struct snw_shoot_law {
    void *user;
    int nz;
    double typical[SNW_SHOOT_Z]; // of z, to measure them by
    // D is filled when `slopes`.
    void (*strain)(void *user, const snw_law_in *in, bool slopes, snw_law_out *out);
    int nfree,
        free[SNW_SHOOT_Z]; // z whose values at the base are unknown; the others: base_z of the rod
    // gap (nfree) <- what does not hold, of the order of one, for the z at the tip and at the base;
    // slope (nfree rows of 2 nz) <- its derivatives by both.
    void (*close)(void *user, const double *tip, const double *base, double *gap, double *slope);
    // What tendons and fluids carry of the wrench where the strain less rest is e, and how that
    // changes along the rod where e has the slope es and z the slope zs (NULL: none); `bends`: it
    // depends on e. The paper's march asks (replica.h); F and histories are not looked at.
    bool depends_on_strain;
    void (*wrench)(void *user, const snw_law_in *in, snw_twist e, snw_twist es, const double *zs,
                   snw_wrench *W, snw_wrench *along);
    // Of a law that consists of such parts alone, on a rod with principal axes: marches without
    // derivatives need not ask.
    int nterm;
    snw_law_linear_term term[SNW_LAW_TERMS];
} snw_shoot_law;

// ---- stations
// ---------------------------------------------------------------------------------------

enum { SNW_SHOOT_LOADS = 8 }; // most point loads of a station

typedef struct snw_shoot_load {
    bool body;    // components in the section's frame; else in the world's
    snw_vec3 arm; // where it acts, in the section's frame
    snw_wrench W;
} snw_shoot_load;

// F(-) - F(+) = sum of loads + weight of the body - d/dt of its momentum; at the tip F(+) is
// `beyond`, what a platform, say, exerts there on top.
typedef struct snw_shoot_station {
    int nload;
    snw_shoot_load load[SNW_SHOOT_LOADS];
    bool has_body;
    snw_inertia M;
} snw_shoot_station;

typedef struct snw_shoot_piece {
    int node, n; // first node, and how many intervals
    int point;   // first point
    double s, h; // arc length where it begins, and length of an interval
} snw_shoot_piece;

// ---- the rod
// ----------------------------------------------------------------------------------------

typedef struct snw_shoot_rod {
    const snw_along *method;
    snw_history_interpolation interpolation;
    int npiece, nnode, npoint;
    snw_shoot_piece *piece;
    snw_shoot_station *station; // npiece
    bool uniform;               // one section for all points
    bool diagonal; // C and B are diagonal, M has its centre on the line and principal axes
    bool damped;   // B is not zero somewhere
    bool drags;    // a drag is not zero somewhere
    snw_shoot_section *section; // npoint, or 1
    double *K;                  // 36 for each section: stiffness, for energies and C
    bool active[6];             // strains that may change
    double stretch_compliance; // compliance of a stretch that may not, 1/N, while an equilibrium is
                               // looked for
    snw_shoot_density *density; // npoint; NULL: none
    snw_vec3 gravity;
    const snw_shoot_law *law; // NULL: none
    double length;
    double force; // a typical force, N; moments are measured by force times length

    // of the present time step
    snw_time_formula formula;
    double stretch_compliance_used; // that C was made with
    snw_shoot_history *history;     // npoint
    double *zh;                     // npoint x nz: histories of z
    snw_se3 base; // of the frame that holds it, and its velocity; the rod itself may go through
    snw_twist base_V;
    double feed_rate; // rate of the free length of a fed rod, by the formula
    double base_z[SNW_SHOOT_Z];

    // at nodes; where segments begin the unknowns of the solver
    snw_se3 *g;
    snw_twist *V;
    snw_wrench *F;
    double *z;    // nnode x nz
    snw_twist *W; // from the node to the next: g exp(W)
    // at nodes, of the last instants, the newest first
    snw_shoot_history *level[SNW_TIME_LEVELS]; // e and V
    snw_shoot_history *rate;                   // their rates at the newest
    snw_shoot_history *node_history;           // scratch
    double *zlevel[SNW_TIME_LEVELS], *zrate, *znode;
    // likewise the slope of e along the rod, which the paper's march with tendons remembers
    // (replica.h)
    snw_twist *strain_d1[SNW_TIME_LEVELS], *strain_d1_rate, *strain_d1_node, *strain_d1_history;
    double step[SNW_TIME_LEVELS];            // lengths of the steps that led to the levels
    double free_length[SNW_TIME_LEVELS + 1]; // free length: of the present step, then of the
                                             // levels; equal unless it is fed
    double free_length_rate;                 // at the newest
    bool replica;                            // march as the paper does (replica.h)
    bool world;                              // the world's axes matter: gravity, or loads in them
    void *block;
} snw_shoot_rod;

// A state at one station.
typedef struct snw_shoot_state {
    snw_se3 g;
    snw_twist V;
    snw_wrench F;
    double z[SNW_SHOOT_Z];
} snw_shoot_state;

// Are strains carried along the rod, and slopes of them through time?
static inline bool snw_shoot_integrates_strain(const snw_shoot_rod *r) {
    return r->replica && r->law && r->law->depends_on_strain;
}

static inline int snw_shoot_nz(const snw_shoot_rod *r) { return r->law ? r->law->nz : 0; }

// What a rod is made of; laws along it are looked at through `section` and `rest`.
typedef struct snw_shoot_opts {
    snw_space_kind along;
    snw_history_interpolation interpolation;
    int npiece;
    const double *length; // of each piece, m
    const int *intervals; // of each piece, one at least (cubic histories: three)
} snw_shoot_opts;

// One block of memory for everything; sections, stations and loads are the caller's to fill, then
// snw_shoot_ready.
SNW_NODISCARD snw_status snw_shoot_create(const snw_shoot_opts *opts, const snw_shoot_law *law,
                                          bool uniform, bool loads, snw_shoot_rod **out);
void snw_shoot_destroy(snw_shoot_rod *r); // NULL is fine

// Arc length of a point, and of a node.
double snw_shoot_point_s(const snw_shoot_rod *r, int point);
double snw_shoot_node_s(const snw_shoot_rod *r, int node);
// The piece a node is of.
int snw_shoot_piece_of(const snw_shoot_rod *r, int node);

// After sections and stations are filled in, and again when loads come or go: what kind of rod it
// is, and its typical force from stiffness, weight and `applied` (the largest force that acts, N).
// SNW_E_SINGULAR: a strain that may change has no stiffness.
SNW_NODISCARD snw_status snw_shoot_ready(snw_shoot_rod *r, double applied);

// At rest in its rest strain from `base` on, without wrench: nodes and all levels.
void snw_shoot_set_unstressed(snw_shoot_rod *r, snw_se3 base);

// Poses of the nodes from that of the base, by what the last march found: for rods whose marches
// need none.
void snw_shoot_poses(snw_shoot_rod *r);

// w (n = 2 .. 4) <- weights of values at 0, 1, .. for the polynomial through them at x.
void snw_shoot_lagrange(int n, double x, double *w);

// How much a disturbance of the linear rod can grow over a length s with the present formula: exp
// of this.
double snw_shoot_growth(const snw_shoot_rod *r, double s);

// ---- time
// -------------------------------------------------------------------------------------------

// The free length, at the end of the step to come, of a rod of one piece that slides through its
// base; before snw_shoot_formula. Points stay at the same shares of the length; rates are those of
// the material that passes, or, with linear histories, as the paper has them: those at the points.
void snw_shoot_set_length(snw_shoot_rod *r, double length);
// Velocity of the first section, which carries F: of the base, and what is fed passes through it
// along the strain there, or, with linear histories, along the unturned base.
snw_twist snw_shoot_root_V(const snw_shoot_rod *r, snw_wrench F);
// Does it depend on F? By feed times C then.
bool snw_shoot_root_depends_on_wrench(const snw_shoot_rod *r);

// The step to come: its formula (of SNW_TIME_STATIC none, and h means nothing), histories at
// points, C of the sections.
void snw_shoot_formula(snw_shoot_rod *r, snw_time_kind kind, double alpha, double h);
// The step is solved: the nodes become the newest level, with rates of the formula. Then level[0]
// and rate are the fields of the present: strain less rest and velocity, their rates.
void snw_shoot_accept(snw_shoot_rod *r, double h);
// Forget the past: motion was uniform until now with the present rates, in steps of h; or at rest:
// they become zero.
void snw_shoot_begin(snw_shoot_rod *r, bool rest, double h);
// Slopes that the paper's march remembers, of strains that come from elsewhere: by cubics through
// nodes.
void snw_shoot_derivatives(snw_shoot_rod *r);

// ---- stations
// ---------------------------------------------------------------------------------------

// Of the present step of time: rates of the velocity are c0 V + Vh.
typedef struct snw_station_step {
    snw_vec3 gravity;
    double c0;
    snw_twist Vh;
} snw_station_step;

// What acts on a section, or on a body by itself, in its frame: loads and weight, less what its
// momentum takes. y: pose and velocity.
snw_wrench snw_station_external_wrench(const snw_shoot_station *st, const snw_station_step *now,
                                       const snw_shoot_state *y);
// Its variation when the frame turns by theta and the velocity changes by dV.
snw_wrench snw_station_wrench_variation(const snw_shoot_station *st, const snw_station_step *now,
                                        const snw_shoot_state *y, snw_vec3 theta, snw_twist dV);

// What acts at the station behind a piece on the section there: F(-) - F(+). y: the state before
// it.
snw_wrench snw_station_wrench(const snw_shoot_rod *r, int piece, const snw_shoot_state *y);
// dW (6 rows of `columns`) <- its variation for S (rows as in march.h).
void snw_station_vary(const snw_shoot_rod *r, int piece, const snw_shoot_state *y, int columns,
                      const double *S, double *dW);

// ---- energies
// ---------------------------------------------------------------------------------------

typedef struct snw_shoot_energy {
    double kinetic, elastic, gravity;
} snw_shoot_energy;

// Of the body of a station in its place.
snw_shoot_energy snw_station_energies(const snw_shoot_station *st, snw_vec3 gravity, snw_se3 g,
                                      snw_twist V);
// Of node j of a piece in integrals along it, m: a rule of the order of the march; with linear
// histories and in the paper's march the trapezoidal one.
double snw_shoot_weight(const snw_shoot_rod *r, const snw_shoot_piece *piece, int j);
// Of the newest level, by these weights, bodies included.
snw_shoot_energy snw_shoot_energies(const snw_shoot_rod *r);
