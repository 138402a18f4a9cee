// SPDX-License-Identifier: MIT
//
// desc.h: editable description of a robot and of the study to run on it. The reader of model files
// or a program fills it; all memory it points to belongs to its pool. snw_model_compile checks it
// and makes a model (model.h).
//
// A law is an expression in time t (s), arc length x (m) and length L (m) of a rod, and signals
// (below); each field says which of these it may use. A law that is NULL is not given and counts as
// zero unless the field says otherwise. SI units and radians.
#pragma once

#include "base/pool.h"
#include "base/source_location.h"
#include "math/expr.h"
#include "math/function_set.h"
#include "math/rule.h"
#include "math/se3.h"
#include "model/actuator_kind.h"
#include "model/force_element_kind.h"
#include "model/joint_kind.h"
#include "model/obstacle_kind.h"
#include "model/probe_kind.h"
#include "model/scheme.h"
#include "model/section_kind.h"
#include "model/section_law.h"

#include <stdbool.h>

typedef const snw_expr *snw_law;

// Most signals of a study, and most states among them.
enum { SNW_SIGNALS_MAX = 256, SNW_STATES_MAX = 16 };

// Override of one entry of the file by a run or by the command line.
typedef struct snw_override_desc {
    const char *path; // of the entry, "arm.length"
    const char *text; // new value as written
    double value;     // new value in SI units; NaN when it is not a constant number
    const char *unit; // SI unit of value, empty when dimensionless
} snw_override_desc;

// ---- frames

// Rotation about a fixed axis by a law of t.
typedef struct snw_turn {
    snw_vec3 axis; // unit vector
    snw_law angle; // rad
} snw_turn;

// Pose of a frame in its parent frame: position xyz, rotation R0 turn[0] turn[1] turn[2]; laws of
// t. The pose of a loop may instead be captured when the loop closes; the state then stores it in
// seven signals (snw_se3_to_signals).
typedef struct snw_pose_desc {
    snw_law xyz[3]; // m
    snw_mat3 R0;    // constant rotation; snw_pose_desc_identity sets the identity
    int nturn;      // rotations in use
    snw_turn turn[3];
    int captured; // captured pose: 1 + index of the first of its seven signals; 0: given by the
                  // laws
} snw_pose_desc;

snw_pose_desc snw_pose_desc_identity(void);

// Pose at time t, and the variables it depends on (bitwise or of snw_var; 0: constant).
snw_se3 snw_pose_desc_at(const snw_pose_desc *p, double t);
int snw_pose_desc_vars(const snw_pose_desc *p);

// Frame to which links, loads, loops and probes are attached.
typedef enum snw_site_kind {
    SNW_SITE_WORLD,
    SNW_SITE_END,  // end frame of a link: behind its joint, or the tip of its rod
    SNW_SITE_BASE, // base frame of a link: behind its pose, in front of its joint
    SNW_SITE_ROOT, // root section of a rod
    SNW_SITE_AT    // section of a rod at arc length x
} snw_site_kind;

typedef struct snw_site {
    snw_site_kind kind;
    int link;        // index in links, -1 for the world
    double x;        // SNW_SITE_AT: arc length, m
    snw_law sliding; // contacts only: arc length as a law of t; kind is then SNW_SITE_ROOT
    bool offset;     // the offset below applies
    snw_se3 pose;    // constant pose of a named site in the frame above
    snw_source_location location;
} snw_site;

// Site with a name in the file.
typedef struct snw_named_site {
    const char *name;
    snw_site site;
} snw_named_site;

// ---- links

// Default regularisation velocity of Coulomb friction, rad/s or m/s.
#define SNW_CREEP 1e-3

// Axes, spring, damper and friction of a joint (theory.md (3.4)). Arrays have one entry per
// coordinate; a spherical joint uses entry 0 of stiffness, damping, friction and creep for all
// directions. Units follow from the coordinate: N m/rad for angles, N/m for lengths, and so on.
typedef struct snw_joint_desc {
    snw_vec3 axis;                    // unit vector; zero: z
    snw_vec3 second;                  // second axis, across the first; zero: snw_joint_across
    double pitch;                     // screw: advance per turn, m; negative: left-handed
    double stiffness[SNW_JOINT_MOST]; // of the spring, >= 0
    double damping[SNW_JOINT_MOST];   // viscous, >= 0
    double friction[SNW_JOINT_MOST];  // Coulomb torque or force
    double creep[SNW_JOINT_MOST];     // regularisation velocity of the friction; 0: SNW_CREEP
    double armature[SNW_JOINT_MOST];  // reflected inertia of a rotor, kg m^2 or kg, >= 0
    double rest[SNW_JOINT_MOST];      // coordinate at which the spring is unloaded
    bool by_axis;                 // spherical, free: the reader has made a bushing of the spring
    bool has_rest_turn;           // spherical joint: rest_turn is given, else the identity
    snw_mat3 rest_turn;           // rotation at which its spring is unloaded
    bool limited[SNW_JOINT_MOST]; // low and high are given
    double low[SNW_JOINT_MOST], high[SNW_JOINT_MOST]; // a run warns when the coordinate leaves them
    // stops at the limits, theory.md (3.4a); without stiffness there are none
    double stop_stiffness[SNW_JOINT_MOST];
    double stop_damping[SNW_JOINT_MOST]; // Hunt-Crossley damping, s/rad or s/m
    double stop_smooth[SNW_JOINT_MOST];  // depth over which the force is smoothed, rad or m
    bool stop_hard;                      // instead: reactions, theory.md (3.4d)
    double stop_restitution;             // of hard stops, 0 to 1
} snw_joint_desc;

// Unit vectors that complete `axis` (unit; zero: z) to a right-handed frame. The first is the
// default second axis of a joint. For the axes x, y, z they are the two axes that follow
// cyclically.
void snw_joint_across(snw_vec3 axis, snw_vec3 *first, snw_vec3 *second);

// axes <- axes of a joint by snw_joint_axis: `axis` (zero: z), `second` (zero: snw_joint_across),
// and their cross product.
void snw_joint_axes(snw_vec3 axis, snw_vec3 second, snw_vec3 axes[3]);

// Components of the strain xi = (K, Gamma), in the axes of the section; x is the tangent.
enum { SNW_TWIST, SNW_BEND_Y, SNW_BEND_Z, SNW_STRETCH, SNW_SHEAR_Y, SNW_SHEAR_Z };
extern const char *const snw_strain_name[6]; // "twist", "bend_y", ...

// Prony series of a generalised Maxwell material, theory.md 2.5: the branches carry these fractions
// of the instantaneous modulus and relax with these times.
enum { SNW_BRANCHES = 8 };
typedef struct snw_relaxation_series {
    int n;                            // 0: none
    double time[SNW_BRANCHES];        // s
    double fraction[2][SNW_BRANCHES]; // of Young's modulus; of the shear modulus
    double instant[2]; // instantaneous over given modulus: 1, or 1 + sum if that is the relaxed one
    snw_source_location location;
} snw_relaxation_series;

// Strains of Maxwell branches in an equilibrium: kept as they are, or those of a strain that has
// lasted for `time`, s (INFINITY: for ever).
typedef enum snw_relaxation_kind {
    SNW_RELAXED_NOT_STATED,
    SNW_RELAXED_INSTANT,
    SNW_RELAXED_AFTER
} snw_relaxation_kind;
typedef struct snw_relaxation_rule {
    snw_relaxation_kind kind;
    double time;
} snw_relaxation_rule;

// Reactions of contacts in kinematic steps (theory.md 6.8).
typedef enum snw_reaction_form {
    SNW_REACTIONS_DISTRIBUTIVE, // all contacts together balance the base
    SNW_REACTIONS_PROJECTIVE,   // each takes what it can; a wrench is left on the base
    SNW_REACTIONS_BALANCED      // likewise, and all together balance that wrench
} snw_reaction_form;

// Viscoelastic (Kelvin-Voigt, generalised Maxwell) or hyperelastic material. Laws of x and L,
// evaluated along the rod.
typedef struct snw_material_desc {
    const char *name;
    snw_source_location location;
    snw_law young;   // Young's modulus E, Pa
    snw_law poisson; // Poisson's ratio, used when shear is not given: G = E/(2 (1 + poisson))
    snw_law shear;   // shear modulus G, Pa
    snw_law density; // kg/m^3
    snw_law damping; // retardation time tau, s: section damping is tau times section stiffness
    snw_hyperelastic hyperelastic; // fibres of rods; young and shear are then those without strain
    snw_relaxation_series relaxation; // generalised Maxwell material; young is then that of `of`
} snw_material_desc;

// Section of a rod; laws of x and L. The 6x6 matrices (stiffness H, inertia and damping per length)
// follow from shape and material; entries given here replace the derived ones one by one.
typedef struct snw_section_desc {
    snw_section_kind kind;
    snw_law size[SNW_SECTION_SIZES]; // in the order of the kind; m, m^2, m^4
    bool polar_torsion; // torsion constant: the second moment about x, not that of the kind
    snw_law stiffness[36], inertia[36], damping[36];    // symmetric, by rows; NULL: derived
    bool stiffness_given, inertia_given, damping_given; // some entry is given; without a shape the
                                                        // other entries are then zero
    // nonlinear law (section_law.h): energy per length, J/m, or stresses, N m and N, as expressions
    // of the strains or tables; NULL: none
    snw_law energy, stress[6];
    const snw_monotone_cubic *stress_table[6];
    snw_source_location law_location;
    snw_source_location location;
} snw_section_desc;

// size <- sizes of a section at x of a rod of length L; 0 where there is none.
void snw_section_sizes(const snw_section_desc *d, double x, double L,
                       double size[SNW_SECTION_SIZES]);

// Cosserat rod parametrised by its strain field, theory.md 2 and 3. Each strain component is
// active (a field with coordinates), given (a law) or fixed at its rest value.
typedef struct snw_rod_desc {
    double length;        // m; of a rod of variable length: initial free length
    bool variable_length; // the rod slides through its root and its free length is a coordinate
    bool fixed_root;      // variable length: it is fixed at its root and passes its tip instead
    bool grows;           // fixed root: material is added at the tip, not passed on beyond a loop
    const snw_material_desc *material; // NULL: none
    snw_section_desc section;
    snw_law rest[6];    // rest strain, laws of x and L; stretch counts from 0 (unstretched)
    bool active[6];     // components with a strain basis, hence with coordinates
    snw_law given[6];   // prescribed components: total strain, laws of t, x, L; stretch from 0
    snw_basis basis[6]; // of the active components
    bool together[6];   // active components whose functions share their coordinates
    // Integration along the rod: poses by the rule `integrator`, inertia at quadrature nodes.
    int nodes; // Gauss points of the inertia, divided evenly among the elements of a piecewise
               // basis, at least one each; 0: automatic
    int strain_points; // of the rule for functions of the strain, per element; 0: chosen by errors.
                       // If given, `nodes` is, and no errors are computed
    int magnus;        // order of the Magnus or Fer expansion: 2, 4 or 6; default 4
    snw_rule_kind integrator;
    int points;       // collocation points of the spectral rule, or of the whole rod (chebyshev)
    double tolerance; // rk45: relative error to which nodes are placed (theory.md 3.16), `nodes`
                      // being the maximum; 0: nodes are fixed
    int ncell; // rk45 with tolerance: cells in use; 0: all there is room for, of equal length
    const double *cell; // ncell + 1: ends of the cells, m
    snw_source_location location, length_location, nodes_location;
} snw_rod_desc;

// Does an expression or table of the section determine this component of the stress?
bool snw_section_law_gives(const snw_section_desc *section, int component);
// Has the rod a nonlinear elastic law?
bool snw_rod_has_law(const snw_rod_desc *rod);
// Do strains of the rod share coordinates?
bool snw_rod_together(const snw_rod_desc *rod);
// text <- warning that the functions given for a strain of a rod are nearly dependent; empty when
// they are not.
void snw_rod_describe_functions(const snw_rod_desc *rod, const char *link, int strain, char *text,
                                size_t size);

// Number of the rod's integration rule (rule.h): its order or its points, 0 where it has none.
static inline int snw_rod_rule_number(const snw_rod_desc *rod) {
    switch (rod->integrator) {
    case SNW_RULE_MAGNUS:
    case SNW_RULE_FER:
        return rod->magnus;
    case SNW_RULE_SPECTRAL:
    case SNW_RULE_CHEBYSHEV:
        return rod->points;
    case SNW_RULE_RK4:
    case SNW_RULE_RK45:
        break;
    }
    return 0;
}

// Solid of a body, for contact, fluids and drawing: a sphere, capsule, box, cylinder, mesh or hull.
typedef struct snw_body_solid {
    snw_obstacle shape;
    snw_se3 pose; // of its axes in the end frame of the link
} snw_body_solid;

// Rigid body, in the end frame of its link.
typedef struct snw_body_desc {
    double mass;      // kg
    snw_vec3 com;     // centre of mass, m
    snw_mat3 inertia; // about the centre of mass, kg m^2
    double volume;    // of its solids, if their centre is that of mass, m^3; 0: unknown
    int nsolid;
    snw_body_solid *solid; // one, centred at the centre of mass, or those of `shapes`
    bool several;          // of `shapes`, which may be one
    int nvisual;           // shapes that are drawn instead of the solids; 0: the solids
    snw_body_solid *visual;
} snw_body_desc;

// Link: parent site, pose, joint, then a rod, a body or both. Links are listed behind their
// parents.
typedef struct snw_link_desc {
    const char *name;
    snw_source_location location;
    snw_site on;        // parent site
    snw_pose_desc pose; // base frame in the frame of the parent site
    snw_joint_kind joint;
    snw_joint_desc moves; // properties of the joint
    int nlayer;
    const char *const *layer; // names of groups, for contacts
    bool has_rod, has_body;
    snw_rod_desc rod;
    snw_body_desc body;
    snw_law when;        // condition under which the link exists: NULL (always), a constant, or a
                         // condition signal that implies the condition of the parent
    snw_law magnetic[3]; // magnetic moment in the axes of the section, per length, laws of x and L,
                         // A m; of a body without a rod in the axes of its end frame, at the centre
                         // of mass, A m^2; NULL: 0
    bool hidden;         // its rod is the torsion of a tube, not a part in space: not drawn
    int beyond; // its rod slides through a loop: 1 + link of the part beyond it; 0: it does not
} snw_link_desc;

// Tube of a concentric-tube robot, theory.md 3.19. All tubes of a robot share the centreline of the
// rod of link `host`, whose frame is that of the first, innermost tube. Behind the exit, where the
// centreline begins, a tube is straight: its link `base` has the joint that rotates it and, unless
// its length is zero, a rod that twists. Beyond the exit its twist is that of the rod of `own`: the
// host itself, or a link that nothing else is attached to.
typedef struct snw_tube_desc {
    const char *name;
    snw_source_location location, radius_location, translation_location;
    int host, base, own;               // links
    double radius;                     // outer, m; 0: not given
    double inner;                      // m
    const snw_material_desc *material; // NULL: none
    double bending, torsion;           // stiffness EI and GJ, N m^2
    double mass;                       // per length, kg/m
    double rotary;                     // rotary inertia per length about y and z, kg m
    double damping;                    // retardation time, s
    double straight_part, curved_part; // lengths from its base on, m
    double curvature;                  // of the curved part without stress, about local y, 1/m
    snw_law rotation;     // of its base, rad, law of t; NULL: 0, or an actuator turns it
    snw_law translation;  // of its base along x, m, law of t; not positive
    int degree, elements; // of the strains in an element; elements of a piece, 0: automatic
    // by snw_tubes_place
    double length;       // beyond the exit, m
    double straight;     // of which straight: curved from there on
    double placed;       // translation of its base for which it was placed, m
    bool slides;         // a tube of its robot slides by a law of t
    bool bend_is_beyond; // it becomes curved beyond the exit, not behind it
    bool moves;          // for motions, not for equilibria alone
} snw_tube_desc;

// ---- loops

// Coordinate of a joint in a linear constraint.
typedef struct snw_coupled_desc {
    int link; // its joint has one coordinate
    double factor;
} snw_coupled_desc;

// Loop closure: sites a and b are connected by a joint, with frame b at `pose` in frame a when the
// joint coordinates are zero. A pose that depends on t drives the loop. Loops also represent
// actuators that give the rotation of a spherical joint, and, with velocity-level rows, the
// contacts of wheels, rings and anchors.
typedef struct snw_loop_desc {
    const char *name;
    snw_source_location location;
    snw_site a, b;
    snw_joint_kind joint;
    snw_vec3 axis, second; // as in snw_joint_desc
    snw_pose_desc pose;
    snw_law when; // condition under which it is closed: NULL (always), a constant or a condition
                  // signal
    bool drive;   // belongs to the actuator of the same name, which drives a spherical joint
    snw_nonholonomic_kind nonholonomic; // not NONE: belongs to the contact of the same name
    snw_vec3 normal;                    // wheel: ground normal in frame a, unit vector
    double radius;                      // wheel: m; 0: none
    double pitch;                       // screw: advance per turn, m; negative: left-handed
    double slip[2];   // wheel: viscous resistance to slip along the axle, along its rolling
                      // direction, N s/m
    double weight;    // contact: of its reaction in the norm of redundant ones; 0: not a contact
    double preload;   // wheel: preferred reaction along the axle in kinematic steps, N
    bool groove;      // ring: one of several along a rod that follows a groove
    bool fixes_frame; // sliding anchor at x(t): V + xi dx/dt = 0 (the frame at x(t) is at rest)
                      // instead of V = 0 (the material section is at rest)
    bool slides;      // the rod of link b passes through it; b is the section at the loop
    double friction, creep; // slides: coefficient, and rate below which it is smoothed, m/s
    snw_law open;      // slides: condition under which it is open, and a lock holds the arc length
    bool keeps_length; // no joint: the two parts of the rod of link b, which slides through a loop,
                       // have a constant total length
    int ncoupled;      // no joint: sum of factor times coordinate over these is `offset`
    const snw_coupled_desc *coupled; // that of `mimic` first
    double offset;
} snw_loop_desc;

// Is it a constraint on coordinates, not a closure of sites?
static inline bool snw_loop_couples(const snw_loop_desc *d) {
    return d->keeps_length || d->ncoupled > 0;
}

// ---- loads

// External load: force and torque at a site, or per length along a rod.
typedef struct snw_load_desc {
    const char *name;
    snw_source_location location;
    bool along; // true: distributed over the rod of link on.link; false: concentrated at the site
    snw_site on;
    snw_law force[3], torque[3]; // N, N m (distributed: per metre); laws of t and signals,
                                 // distributed also of x and L
    bool body;    // components in the frame of the site or section (follower load); else in the
                  // world frame (dead load)
    snw_law when; // condition: NULL (always); a law of t, or a condition signal
} snw_load_desc;

// Active stress of a rod (muscle), theory.md (2.2).
typedef struct snw_stress_desc {
    const char *name;
    snw_source_location location;
    int link;
    snw_law stress[6]; // by strain component, N m and N; laws of t, x, L and signals
    snw_law when;      // condition; NULL: always
} snw_stress_desc;

// Actuator on the coordinates of a joint or rod, theory.md 3.9. Either the efforts are given, or
// the motion is given and the efforts are the Lagrange multipliers that enforce it.
typedef struct snw_motor_desc {
    const char *name;
    snw_source_location location;
    snw_actuator_kind kind;
    snw_given given; // efforts, coordinates or rates
    int link;
    bool rod;     // true: strain coordinates of the rod, false: coordinates of the joint
    bool feed;    // free length of the rod instead of both
    bool passive; // kinematic steps: neither motion nor effort is given; contacts determine both
    int n;        // number of coordinates
    const snw_law *law; // n, in their order; NULL: no effort, or that coordinate is not driven
    snw_law when;       // condition: NULL (always), a constant, or a condition signal; efforts: any
    int captured; // rate with a condition: 1 + first of n signals that hold coordinate - integral
                  // at the time it became active; 0: none
    bool turns;   // spherical joint whose rotation is given; `loop` enforces it instead of laws
    int loop;     // loop closure from the base frame of the joint to its end
    int nsame;    // first of several wheels that share one effort: their number; else 0
    int same;     // each of these wheels: 1 + index of the first; else 0
    bool holds; // kinematic steps: the effort is determined so that a component of a probe follows
                // `target`
    int probe, component;
    snw_law target;
    // n: largest effort, N m or N, and rate, rad/s or m/s, of each coordinate; NULL: none. A law of
    // the effort is cut off there, a rate and the effort of a given motion are only reported.
    const double *effort_limit, *rate_limit;
} snw_motor_desc;

// ---- tendons and chambers

// Actuator whose coordinate is an integral along rods, theory.md 3.11: the length of a tendon, the
// volume of a chamber.

// Straight segment of a tendon between two sites.
typedef struct snw_tendon_segment_desc {
    snw_site a, b;
    int after; // number of rods of the tendon in front of it
} snw_tendon_segment_desc;

typedef struct snw_tendon_desc {
    const char *name;
    snw_source_location location;
    snw_actuator_kind kind;
    snw_given given; // tension or gauge pressure, shortening or volume, amount of gas
    // routing
    int nlink;
    const int *link;                        // links of the rods it runs along, actuated end first
    int nsegment;                           // tendon: straight segments between the rods,
    const snw_tendon_segment_desc *segment; // in their order
    double from, to; // arc length of its start on the first rod and of its end on the last, m
    snw_law at[2];   // y and z in the section, laws of x and L, m
    snw_law area;    // chamber: area of its section, m^2, law of x and L, and of its own stretch
                     // and pressure (chamber_area.h)
    double radius;   // drawing of a tube whose area is not given, m
    double constant[SNW_ACTUATOR_CONSTANTS]; // of the law of its effort, by kind
    // properties of a tendon
    double discs;      // radius up to which discs guide it outside of the section, m; 0: none
    double extra;      // length between the winch and the robot, m
    double compliance; // strain per tension, 1/N; 0: inextensible
    double friction;   // coefficient of capstan friction (Euler-Eytelwein)
    double viscous;    // viscous loss of relative tension per angle and sliding speed, s/m
    double creep;      // regularisation velocity of the friction, m/s
    snw_law sliding;   // statics: direction of sliding that the friction assumes, 1 pulled in to
                       // -1 let out, theory.md 3.11
    snw_law law;       // prescribed quantity; gas: mol
    snw_law temperature, ambient; // gas: K, and ambient pressure, Pa
    snw_law when; // condition: NULL (always), a constant; any law when the effort is given
} snw_tendon_desc;

#define SNW_GAS_CONSTANT 8.314462618 // J/(mol K)

// ---- fluid

// Added mass: none, from the shape, or given.
typedef enum snw_added { SNW_ADDED_NONE, SNW_ADDED_AUTO, SNW_ADDED_GIVEN } snw_added;

// Fluid around the rods of links, or around the bodies of links without a rod, theory.md 3.12.
typedef struct snw_fluid_desc {
    const char *name;
    snw_source_location location;
    int nlink;
    const int *link;
    double density; // kg/m^3; 0: not given
    bool buoyancy;
    snw_added added;
    double given[6]; // added mass of a body about its centre of mass: 3 x kg m^2, 3 x kg
    // Drag c v and c v|v| along each axis of the section or body (angular, linear). Rods: linear
    // components only, per length, laws of x and L; bodies: constants. NULL: none.
    snw_law linear[6], square[6];
    snw_law normal, tangent; // drag coefficients of rods (Taylor, Morison), laws of x and L
    snw_law current[3];      // velocity of the fluid in the world frame, laws of t, m/s
    snw_law when;            // condition: NULL (always), a constant or a condition signal
} snw_fluid_desc;

// ---- contacts

// Unilateral contact of links (their rods, or the bodies of links without a rod) with a half-space
// or another obstacle, or of rods with rods, by penalty forces and regularised Coulomb friction,
// theory.md 3.13 and 3.20; or a nonholonomic contact, whose data are in its loops.
typedef struct snw_contact_desc {
    const char *name;
    snw_source_location location;
    int nonholonomic;  // nonholonomic contact: 1 + index of its first loop; 0: ground or obstacle
    int nnonholonomic; // number of its loops: 1, or one per station for rings along a rod
    int nlink;
    const int *link;
    bool is_obstacle; // obstacle with the shape, carrier and pose below; false: ground
    snw_obstacle obstacle;
    const snw_body_desc *body; // obstacle: the body whose solids it is, or NULL; the first of them
                               // is above, with its pose below
    snw_site on;               // obstacle: the frame that carries it
    snw_pose_desc pose;        // obstacle: its pose in that frame, laws of t
    snw_vec3 normal;           // ground: of the surface, unit vector out of it, world frame
    snw_vec3 at;               // ground: point of the surface, m, world frame
    double stiffness;      // penalty stiffness: N/m per contact point of a body, N/m^2 along rods
    bool nearest;          // obstacle: rods touch it where their gap is smallest; stiffness N/m
    bool hard;             // no penetration, theory.md 6.9; it has no stiffness
    double restitution;    // hard: speed after an impact over that before it
    bool has_ends;         // `ends` is given; else half the smaller width times stiffness
    double ends;           // rods: penalty stiffness of their end sections, N/m
    double damping;        // Hunt-Crossley damping, relative to the normal force, s/m
    double along, across;  // friction coefficients along and across a rod; equal for bodies
    double creep;          // regularisation velocity of the friction, m/s
    double smooth;         // gap over which the normal force is smoothed, m
    double spacing;        // of contact points along edges of boxes and cylinders, m; 0: automatic
    int npoint;            // bodies: contact points that replace the shape; 0: shape
    const snw_vec3 *point; // in the end frame of the link, m
    // contact of rods with rods, theory.md 3.20: those of `link` with each other, or with `against`
    bool is_rods;
    int nagainst;
    const int *against; // links; none: those of `link`
    bool grouped;       // of layers: rods that are joined do not touch, be they only two
    bool inside;        // those of `link` are in the bore of the rod of against[0]
    double bore;        // its radius, m; 0: that of the section
    bool self;          // each rod also touches itself
    int nexcept;
    const int *except; // 2 nexcept: pairs of links that do not touch
    double radius;     // of the surfaces, m; 0: that of the sections
    double crossing;   // penalty stiffness where rods cross and at their ends, N/m; 0: stiffness
                       // times the sum of both radii
    snw_law when;      // condition: NULL (always), a constant or a condition signal
} snw_contact_desc;

#define SNW_CONTACT_SMOOTH 1e-4 // default of `smooth`, m; of stops of angles rad

// ---- force elements

// Spring, cable, damper or bushing between two sites, theory.md 3.17. The line of a spring, cable
// or damper joins the origins of its ends; its tension counts positive when it pulls.
typedef struct snw_force_element_desc {
    const char *name;
    snw_source_location location;
    snw_force_element_kind kind;
    snw_site end[2];
    bool has_pose[2];
    snw_pose_desc pose[2];    // of each end in the frame of its site, laws of t
    double rest;              // spring, cable: length without tension, m
    double stiffness;         // spring, cable: N/m
    snw_law force;            // spring: tension, N, law of the elongation x (m) and of the rest
                              // length L; NULL: stiffness
    double damping;           // spring, damper: N s/m; cable: Hunt-Crossley damping, s/m
    double smooth;            // cable: elongation over which the tension is smoothed, m
    double axis_stiffness[6]; // bushing: N m/rad about x y z, N/m along x y z of the first end
    double axis_damping[6];   // bushing: N m s/rad, N s/m
    const double *coupling;   // bushing: 36, by rows: stiffness beside the diagonal; NULL: none
    int joint;                // 1 + link whose joint has this spring; 0: one under `springs`
    snw_law when;             // condition: NULL (always), a constant or a condition signal
} snw_force_element_desc;

// ---- fields

// Fields of space that act on links, theory.md 3.21. Enumerator, key of the model language.
#define SNW_FORCE_FIELD_LIST(X)                                                                    \
    X(SNW_FORCE_FIELD_MAGNETIC, "magnetic")                                                        \
    X(SNW_FORCE_FIELD_DIPOLE, "dipole")                                                            \
    X(SNW_FORCE_FIELD_FORCE, "force")                                                              \
    X(SNW_FORCE_FIELD_ACCELERATION, "acceleration")                                                \
    X(SNW_FORCE_FIELD_POTENTIAL, "potential")

typedef enum snw_force_field_kind {
#define X(code, name) code,
    SNW_FORCE_FIELD_LIST(X)
#undef X
        SNW_FORCE_FIELD_KINDS
} snw_force_field_kind;
extern const char *const snw_force_field_name[SNW_FORCE_FIELD_KINDS];

// A law of a place in the world is a law of t and x whose signals SNW_FIELD_Y and the next one are
// y and z.
enum { SNW_FIELD_Y = SNW_SIGNALS_MAX };

// Field of force, or magnetic field. Its laws are those of t and of the place: components of the
// flux density (T), of the force (per length of a rod, N/m; on a body N) or of the force per mass
// (m/s^2) in the world; the potential energy (J/m; of a body J) is law[0]. Those of a dipole are
// laws of t: its moment (A m^2) in the axes of its frame.
typedef struct snw_force_field_desc {
    const char *name;
    snw_source_location location;
    snw_force_field_kind kind;
    snw_law law[3];
    snw_site on;        // dipole: what carries it
    snw_pose_desc pose; // dipole: of its frame there, laws of t
    int nlink;
    const int *link; // on which it acts
    snw_law when;    // condition: NULL (always), a constant or a condition signal
} snw_force_field_desc;

// ---- initial state

// Initial state of a link. Links without one start at zero coordinates and velocities.
typedef struct snw_initial_desc {
    int link;
    snw_source_location location;
    snw_law strain[6], rate[6]; // strain and strain-rate fields, laws of x, projected on the basis
    bool has_pose;              // free and spherical joints: pose is given
    snw_se3 pose;               // of the end frame of the joint in its base frame
    snw_twist twist;            // free joint: body twist; spherical joint: its angular part
    bool has_position, has_speed;                           // other joints: the arrays are given
    double position[SNW_JOINT_MOST], speed[SNW_JOINT_MOST]; // by coordinate
} snw_initial_desc;

// ---- probes

// Element to which a probe refers.
typedef enum snw_probe_of {
    SNW_PROBE_OF_LINK,
    SNW_PROBE_OF_MOTOR,
    SNW_PROBE_OF_STRESS,
    SNW_PROBE_OF_TENDON,
    SNW_PROBE_OF_LOOP,
    SNW_PROBE_OF_CONTACT,
    SNW_PROBE_OF_FORCE_ELEMENT,
    SNW_PROBE_OF_TUBE
} snw_probe_of;

enum {
    SNW_LAW_READS = 32, // most columns of other probes that the law of a probe reads
    SNW_LAW_WIDTH = 64  // most columns of a probe that a law can read
};

// Probe: a measured quantity with one or more columns (probe_kind.h).
typedef struct snw_probe_desc {
    const char *name;
    snw_source_location location;
    snw_probe_kind kind;
    snw_site site;        // wrench, strain: station of a rod; reaction and joint quantities: link
    snw_site from;        // relative: the first site; `site` is the second
    snw_joint_kind joint; // angle, value, rate, effort: joint of that link
    int along;            // > 0: number of equally spaced stations of the rod of site.link, or of
                          // coordinates of the rod of an actuator; 0: one station
    snw_probe_of of;      // element of value, rate, effort, power and reaction,
    int item;             // and its index, unless it is a link
    int other;            // curvature: the second actuator
    bool body;            // components in the body frame (`in: body`)
    bool tied;            // pull: at the fixed end of the tendon, else at the actuated end
    double fraction;      // tension: fraction of the path from the actuated to the fixed end
    // law: value of an expression of other probes
    snw_law law; // its signal read_slot[k] is column read_column[k] of probe read_probe[k]
    snw_dim dim; // its dimension
    int nread;
    int read_probe[SNW_LAW_READS], read_column[SNW_LAW_READS]; // probe -1: state, by its signal
    int read_slot[SNW_LAW_READS]; // from SNW_SIGNALS_MAX on; below: a signal of the parameters
} snw_probe_desc;

snw_reading snw_probe_reading(const snw_probe_desc *p); // its reading by laws

// Number of columns of a probe: components times stations, by station.
int snw_probe_columns(const snw_probe_desc *p);

// ---- signals

// Signals: numbers that laws and conditions read besides t, x and L, theory.md 3.7. All but probes
// are part of the state and change between steps only, integrals and states excepted.
typedef enum snw_signal_kind {
    SNW_SIGNAL_PROBE,     // a column of a probe, at the present state
    SNW_SIGNAL_INTEGRAL,  // time integral of an expression
    SNW_SIGNAL_STATE,     // state with a rate that may read all states
    SNW_SIGNAL_SAMPLED,   // sample of an expression, constant until the next multiple of its period
    SNW_SIGNAL_ONCE,      // latch: 0 until the condition has been true, then 1
    SNW_SIGNAL_CONDITION, // 1 while the condition of a load or conditional element is true, else 0;
                          // of a loop plus 2 (1 << row) for each row left out as redundant
    SNW_SIGNAL_CAPTURED   // pose or coordinate captured when a condition became true
} snw_signal_kind;

// Source and period of a stored signal in one description.
typedef struct snw_signal_use {
    snw_law source;
    double period;  // SNW_SIGNAL_SAMPLED, s
    double initial; // SNW_SIGNAL_STATE: value at the start
} snw_signal_use;

// All descriptions of a study have the same signals in the same order, each with its own sources.
// The source of a signal reads earlier signals only, that of a state also states, but no
// integrals.
typedef struct snw_signal_desc {
    snw_signal_kind kind;
    const char *text;  // expression as written
    int probe, column; // SNW_SIGNAL_PROBE: column of that probe
    snw_law source;    // other kinds: expression; NULL: not used in this description
    double period;     // SNW_SIGNAL_SAMPLED, s
    double initial;    // SNW_SIGNAL_STATE: value at the start
} snw_signal_desc;

// ---- study

typedef enum snw_step_kind {
    SNW_STEP_STATIC,   // equilibrium, or a path of equilibria
    SNW_STEP_DYNAMIC,  // motion in time
    SNW_STEP_MODES,    // natural frequencies and modes
    SNW_STEP_CHANGE,   // change of the description
    SNW_STEP_PATH,     // path of equilibria through folds, by arc length
    SNW_STEP_INVERSE,  // inputs for desired values of probes in equilibrium, then held
    SNW_STEP_LINEARIZE // linear model about the present state, which stays
} snw_step_kind;

// Engines: enumerator, name in the model language, meaning.
#define SNW_ENGINE_LIST(X)                                                                         \
    X(SNW_ENGINE_STRAIN, "strain", "coordinates of strain bases, theory 3")                        \
    X(SNW_ENGINE_SHOOTING, "shooting", "full fields, integrated along the rod, theory 10")

typedef enum snw_engine {
#define X(code, name, meaning) code,
    SNW_ENGINE_LIST(X)
#undef X
} snw_engine;

// Shooting engine: integrator along the rod, interpolation of histories between points, solver of
// the boundary-value problem (theory.md 10).
#define SNW_SHOOT_ALONG_LIST(X)                                                                    \
    X(SNW_SHOOT_RK4, "rk4", "Runge-Kutta, order 4")                                                \
    X(SNW_SHOOT_EULER, "euler", "Euler, order 1")                                                  \
    X(SNW_SHOOT_DORMAND_PRINCE, "dormand-prince", "Dormand and Prince, order 5")
#define SNW_SHOOT_HISTORY_LIST(X)                                                                  \
    X(SNW_SHOOT_CUBIC, "cubic", "through four nodes")                                              \
    X(SNW_SHOOT_LINEAR, "linear", "means of two, as in the paper: order 2")
#define SNW_SHOOT_SOLVER_LIST(X)                                                                   \
    X(SNW_SHOOT_BANDED, "banded", "multiple shooting, any time step")                              \
    X(SNW_SHOOT_NEWTON, "newton", "single shooting")                                               \
    X(SNW_SHOOT_LEVENBERG, "levenberg", "single shooting by Levenberg and Marquardt")              \
    X(SNW_SHOOT_DOGLEG, "dogleg", "single shooting by Powell's dogleg")

#define X(code, name, meaning) code,
typedef enum snw_shoot_along { SNW_SHOOT_ALONG_LIST(X) } snw_shoot_along;
typedef enum snw_shoot_between { SNW_SHOOT_HISTORY_LIST(X) } snw_shoot_between;
typedef enum snw_shoot_solver { SNW_SHOOT_SOLVER_LIST(X) } snw_shoot_solver;
#undef X

#define SNW_SHOOT_POINTS 101 // default of `points`

typedef struct snw_shooting_desc {
    int points; // per rod, both ends included
    snw_shoot_along along;
    snw_shoot_between history;
    snw_shoot_solver solver;
    const struct snw_shoot_form *form; // of the equations (shoot/rod.h), for programs; NULL: the
                                       // engine's own
    double error; // dormand-prince: error per interval by which their lengths are chosen; 0: equal
                  // lengths
} snw_shooting_desc;

// Parameter of the file, a constant number.
typedef struct snw_parameter_desc {
    const char *name;
    double value; // SI units
    snw_dim dim;
} snw_parameter_desc;

// Descriptions that differ in the values of parameters, or of other numbers of the file.
struct snw_desc;
typedef struct snw_desc_family {
    int nparameter;
    const snw_parameter_desc *parameter; // named as overrides are
    // *out <- description with these values (SI units) of the n parameters k, the same coordinates
    // and elements; owned by its pool. The changes of the study before step `until` apply; < 0:
    // those before the step of the family.
    snw_status (*at)(void *user, int until, int n, const int *k, const double *value,
                     struct snw_desc **out, snw_error *err);
    void *user;
} snw_desc_family;

enum { SNW_PARAMETERS = 16 }; // most parameters of a step

// Path of equilibria.
typedef struct snw_path_desc {
    int of;                       // parameter that is varied; -1: t
    double low, high;             // range of t, s, or of the parameter
    bool down;                    // it falls at the start
    double arc;                   // longest step; 0: default
    int points;                   // most points of a path; 0: default
    int branches;                 // bifurcations whose other branches are followed
    int curve;                    // parameter of the curve of folds; -1: none
    double curve_low, curve_high; // its range
    snw_desc_family family;       // derivatives of the folds by these
} snw_path_desc;

// A column of a probe with its desired value.
typedef struct snw_inverse_target_desc {
    int probe, column;
    const char *name; // of the column
    snw_dim dim;
    snw_law value; // of t
    double weight; // per SI unit; NaN: default
} snw_inverse_target_desc;

// An input that an inverse step may change: a coordinate of an actuator, a component of a load, or
// a number of the file.
typedef struct snw_inverse_input_desc {
    int parameter; // 1 + its number in the family of the step; 0: none
    int actuator;  // number as of snw_actuator_at; -1: a load
    int load;      // its number, without an actuator
    int component; // coordinate; of a load: torque x, y, z, then force x, y, z
    const char *name;
    double low, high, rate, rest; // NaN: default
    bool fixed;                   // keeps its value: another coordinate of its actuator may change
} snw_inverse_input_desc;

typedef struct snw_inverse_desc {
    int ntarget;
    const snw_inverse_target_desc *target;
    bool all; // all actuators may change, and `input` is empty
    int ninput;
    const snw_inverse_input_desc *input;
    double interval; // s, over which rates hold at the first instant; 0: they do not
    bool nearest;    // go on at the nearest point where the target is not reached
    snw_desc_family family;
} snw_inverse_desc;

// Linear model; its time scheme, rho, alpha and step are those of the step.
typedef struct snw_linearize_desc {
    bool all; // inputs are all actuators, and `input` is empty
    int ninput;
    const snw_inverse_input_desc *input; // names only
    int noutput;
    const snw_inverse_target_desc *output; // names only
    bool three;                            // given coordinates are three inputs each
    bool reduce;                           // displacements and rates are the only states of a step
    snw_desc_family family;                // the parameter "t" is the time of laws
} snw_linearize_desc;

// Step of a study. Fields that do not concern its kind are ignored.
typedef struct snw_step_desc {
    const char *name; // unique; default: the kind, then static.2, ...
    snw_source_location location;
    snw_step_kind kind;
    snw_engine engine;          // static and dynamic steps
    snw_shooting_desc shooting; // options of the shooting engine
    int from;                   // step whose final state is the initial state; -1: the previous one
    double duration;  // s; static: equilibria along this interval of t, 0: at the present t only
    double step;      // s; maximum where an error estimate controls the step size (adaptive, stiff,
                      // or `control`), 0: no maximum; else the step size
    double least;     // live: smallest substep, s; a step that needs shorter ones fails
    int patience;     // live: most Newton iterations per step; 0: no limit
    double tolerance; // static, fixed implicit steps: of the residual, 0: default; inverse:
                      // weighted distance that counts as reached; else of the error estimate
    double march, march_step; // static: duration and step size of a damped pseudo-transient
                              // continuation, s; 0: Newton iteration
    double march_gain;        // 1/s, rate at which loops close in a march; 0: in every step
    bool march_flow;          // its pseudo-time is t, and its path is the result, theory.md (5.2a)
    double penalty;           // static: stiffness of loops, N/m, theory.md (5.2d); 0: exact loops
    double penalty_length;    // m, by which rotations of loops count in it
    int penalty_updates;      // updates of their multipliers; -1: until they are closed
    // dynamic
    snw_scheme_kind scheme;
    double rho, alpha;        // parameters of the schemes that have them
    bool control;             // implicit: step size from an error estimate
    bool split;               // free joints on SO(3) x R^3 instead of SE(3)
    bool uniform_past;        // start as if in uniform motion, without initial accelerations
    double length_part;       // of the lengths that a motion chooses for its steps, by which they
                              // are shorter; 0: 1
    bool fixed_length;        // all implicit steps have size `step`, at impacts and starts too
    bool undamped_velocities; // constraint velocities without numerical damping, theory.md 6.6
    bool kinematic;           // locomotion with prescribed shape, theory.md 6.8
    double torque;            // weight of moments against forces in minimum-norm multipliers, 1/m
    bool least_efforts;       // kinematic: redundant reactions for which efforts are least
    snw_reaction_form form;   // kinematic: which contacts balance what
    snw_law until;            // law of t and signals; the step ends when it is true; NULL: none
    // modes, static
    int count;   // modes: number of modes besides rigid-body motions
    bool steady; // about a steady motion: drives and moving poses keep their rates, all else is at
                 // rest relative to them (theory.md 7.1)
    bool follow; // static: stay on the branch of equilibria, also where it is unstable or ends
    bool friction;                  // static: of hard contacts, along the path of the loads
    snw_relaxation_rule relaxation; // static: of materials that relax
    snw_path_desc path;
    snw_inverse_desc inverse;
    snw_linearize_desc linearize;
    // change
    const bool *releases;           // actuators, then loads: follow their laws again; NULL: none
    const struct snw_desc *changed; // description of the following steps: same coordinates (links,
                                    // joints, strains, bases), loads, actuators, probes and steps
    const char *paths;              // list of changed entries for output: "twist, arm.pose"
} snw_step_desc;

#define SNW_STEP_MODES_COUNT 6 // default of `count`

#define SNW_STEP_ERROR 1e-6 // default relative tolerance of schemes with step-size control

// Dynamic step by this scheme with default options.
snw_step_desc snw_step_dynamic(snw_scheme_kind scheme);

// Does the study have a kinematic step? Then redundant contact rows are all kept, and reactions are
// minimum-norm multipliers.
bool snw_study_shares_reactions(const struct snw_desc *d);

// Does the study record this probe?
bool snw_desc_records(const struct snw_desc *d, int probe);

// Control of a live simulation (`live:`): an actuator, or a parameter of the file.
typedef struct snw_knob_desc {
    const char *name;
    int actuator;     // number as of snw_actuator_at; -1: a parameter
    double low, high; // range, SI units
    double value;     // initial value of a parameter
    snw_dim dim;
} snw_knob_desc;

// Dimension of the quantity given for coordinate k of a motor.
snw_dim snw_motor_dim(const struct snw_desc *d, const snw_motor_desc *m, int k);

typedef struct snw_desc {
    snw_pool *pool; // owns all that the description points to
    const char *title, *about;
    snw_law gravity[3]; // world frame, laws of t, m/s^2
    int nlink, ntube, nloop, nload, nstress, nmotor, ntendon, nfluid, ncontact, nforce_element,
        nforce_field, ninitial, nprobe, nsignal, nstep;
    snw_link_desc *link;
    snw_tube_desc *tube; // of each concentric-tube robot from the inside out
    snw_loop_desc *loop;
    snw_load_desc *load;
    snw_stress_desc *stress;
    snw_motor_desc *motor;
    snw_tendon_desc *tendon;
    snw_fluid_desc *fluid;
    snw_contact_desc *contact;
    snw_force_element_desc *force_element;
    snw_force_field_desc *force_field;
    snw_initial_desc *initial;
    snw_probe_desc *probe;
    const snw_signal_desc *signal;
    const snw_signal_use *signal_use; // used by the reader before `signal` exists
    snw_step_desc *step;
    double record_every; // recording interval, s; 0: every step
    int nrecord;         // recorded probes; -1: all
    const int *record;
    int nknob;
    const snw_knob_desc *knob;
    int nnamed; // named sites, for the viewer
    const snw_named_site *named;
    int noverride; // overrides by the run and the command line, stored with the results
    const snw_override_desc *override;
} snw_desc;

// ---- actuators by number

// An actuator: its row, what controls it, and its description, one of three. Actuators are numbered
// by class: on coordinates, along paths, stress along rods; each in the order of the file.
typedef struct snw_actuator {
    const snw_actuator_type *type;
    const snw_control_type *control;
    const char *name;
    int item; // index of its description
    int n;    // number of given values
    const snw_motor_desc *motor;
    const snw_tendon_desc *tendon;
    const snw_stress_desc *stress;
} snw_actuator;

int snw_actuators(const snw_desc *d); // their number
snw_actuator snw_actuator_at(const snw_desc *d, int actuator);
int snw_actuator_find(const snw_desc *d, const char *name); // -1: none
// Dimension of the quantity given for coordinate k.
snw_dim snw_actuator_dim(const snw_desc *d, int actuator, int k);
// unit (48 bytes) <- SI unit of that quantity, "rad" and "rad/s" of angles included.
void snw_actuator_unit(const snw_desc *d, int actuator, int k, char unit[48]);
