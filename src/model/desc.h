// SPDX-License-Identifier: MIT
//
// desc.h: description of a robot and of what is done with it: editable, as read from a file or made
// by calls. Everything it points to lives in its pool. snw_model_compile checks it and makes a
// model.
//
// Laws are expressions; NULL means "not given" and stands for zero unless the comment says more.
#pragma once

#include "base/pool.h"
#include "math/basis.h"
#include "math/expr.h"
#include "math/rule.h"
#include "math/se3.h"

#include <stdbool.h>

// Where a thing was written, for messages of the compiler; file NULL when made by calls.
typedef struct snw_source_location {
    const char *file;
    int line, column;
} snw_source_location;

typedef const snw_expr *snw_law;

// An override by which a run differs from its file: its path, and the value as written.
typedef struct snw_override_desc {
    const char *path, *text;
    double value;     // SI, NaN where it is no constant number
    const char *unit; // of the value, empty where it has none
} snw_override_desc;

// ---- frames
// -----------------------------------------------------------------------------------------

// A pose: p = xyz, R = R0 * turn[0] * turn[1] * turn[2]. Laws may depend on t. Or, of a loop, as it
// was when the loop closed, which signals remember.
typedef struct snw_turn {
    snw_vec3 axis; // unit
    snw_law angle; // rad
} snw_turn;

typedef struct snw_pose_desc {
    snw_law xyz[3];
    snw_mat3 R0; // set to the identity by snw_pose_desc_identity
    int nturn;
    snw_turn turn[3];
    int met; // 1 + the first of seven signals that have the pose met; 0: none, laws give it
} snw_pose_desc;

snw_pose_desc snw_pose_desc_identity(void);

// The pose at time t, and which variables it depends on (or-ed snw_var; 0: constant).
snw_se3 snw_pose_desc_at(const snw_pose_desc *p, double t);
int snw_pose_desc_vars(const snw_pose_desc *p);

typedef enum snw_site_kind {
    SNW_SITE_WORLD,
    SNW_SITE_END,  // a link's end; of a rod its tip
    SNW_SITE_BASE, // where a link's joint begins, what its pose makes of its parent
    SNW_SITE_ROOT, // a rod's root section
    SNW_SITE_AT    // a rod's section at arc length x
} snw_site_kind;

typedef struct snw_site {
    snw_site_kind kind;
    int link;        // index in links, -1 for the world
    double x;        // SNW_SITE_AT: arc length, m
    snw_law sliding; // of a contact: a law of t in its place, the kind being that of the root
    bool offset;     // pose is used
    snw_se3 pose;    // constant offset of a named site
    snw_source_location location;
} snw_site;

typedef struct snw_named_site {
    const char *name;
    snw_site site;
} snw_named_site;

// ---- links
// ------------------------------------------------------------------------------------------

// One line per joint: enum, name in the language, degrees of freedom, meaning.
#define SNW_JOINT_LIST(X)                                                                          \
    X(SNW_JOINT_FIXED, "fixed", 0, "clamped in its parent, in the pose given; the default")        \
    X(SNW_JOINT_REVOLUTE, "revolute", 1, "turns about its axis")                                   \
    X(SNW_JOINT_PRISMATIC, "prismatic", 1, "slides along its axis")                                \
    X(SNW_JOINT_CYLINDRICAL, "cylindrical", 2, "turns about its axis and slides along it")         \
    X(SNW_JOINT_UNIVERSAL, "universal", 2, "turns about its axis, then about a second one")        \
    X(SNW_JOINT_SPHERICAL, "spherical", 3, "turns about a point")                                  \
    X(SNW_JOINT_PLANAR, "planar", 3, "slides across its axis in two directions, then turns")       \
    X(SNW_JOINT_FREE, "free", 6, "moves freely; a static step needs something to hold it")         \
    X(SNW_JOINT_SCREW, "screw", 1, "turns about its axis and moves along it by its pitch a turn")

typedef enum snw_joint_kind {
#define X(code, name, dof, meaning) code,
    SNW_JOINT_LIST(X)
#undef X
} snw_joint_kind;

#define SNW_CREEP 1e-3 // rate below which dry friction is smoothed unless given, rad/s or m/s

enum { SNW_JOINT_MOST = 3 }; // coordinates of a joint, a free one aside

// A coordinate of a joint; those of a spherical joint are components of its rotation vector.
typedef struct snw_joint_coordinate {
    const char *name; // "angle", "slide", ...
    bool turn;        // an angle, else a length
} snw_joint_coordinate;

const char *snw_joint_name(snw_joint_kind kind); // "fixed", ...
int snw_joint_dof(snw_joint_kind kind);
// The coordinates of a joint in their order; none of fixed and free ones.
const snw_joint_coordinate *snw_joint_coordinates(snw_joint_kind kind, int *n);

// What a joint that moves has besides its kind. Arrays go by coordinate; a spherical joint uses the
// first stiffness, damping, friction and creep for all directions.
typedef struct snw_joint_desc {
    snw_vec3 axis;   // all zero: z
    snw_vec3 second; // of a universal joint; all zero: derived
    double pitch;    // of a screw: how far it moves in a turn, m; negative: a left-handed one
    double stiffness[SNW_JOINT_MOST], damping[SNW_JOINT_MOST]; // not negative
    double friction[SNW_JOINT_MOST];                           // dry: torque or force at full slip
    double creep[SNW_JOINT_MOST];                              // rate that smooths it; 0: SNW_CREEP
    double rest[SNW_JOINT_MOST];                               // where the spring is slack
    bool has_rest_turn;                                        // of a spherical joint:
    snw_mat3 rest_turn;                                        // that rotation
    bool limited[SNW_JOINT_MOST];                              // low and high are given:
    double low[SNW_JOINT_MOST], high[SNW_JOINT_MOST];          // a run warns outside of them
} snw_joint_desc;

// Directions across `axis` (unit; all zero: z): the first two of a planar joint, the second axis of
// a universal one. Of x, y, z they are the next two in turn.
void snw_joint_across(snw_vec3 axis, snw_vec3 *first, snw_vec3 *second);

enum { SNW_TWIST, SNW_BEND_Y, SNW_BEND_Z, SNW_STRETCH, SNW_SHEAR_Y, SNW_SHEAR_Z };
extern const char *const snw_strain_name[6]; // "twist", "bend_y", ...

// Laws of x (and L), evaluated along the rod that uses it. Poisson or shear; damping in s.
typedef struct snw_material_desc {
    const char *name;
    snw_source_location location;
    snw_law young, poisson, shear, density, damping;
} snw_material_desc;

// One line per section: enum, name, how it is told to people. Sizes: radius; outer and inner
// radius; full widths along y and z; area and moments about x, y, z.
#define SNW_SECTION_LIST(X)                                                                        \
    X(SNW_SECTION_NONE, "none", "stiffness given")                                                 \
    X(SNW_SECTION_CIRCLE, "circle", "circle")                                                      \
    X(SNW_SECTION_TUBE, "tube", "tube")                                                            \
    X(SNW_SECTION_RECTANGLE, "rectangle", "rectangle")                                             \
    X(SNW_SECTION_ELLIPSE, "ellipse", "ellipse")                                                   \
    X(SNW_SECTION_GIVEN, "given", "area and moments given")

typedef enum snw_section_kind {
#define X(code, name, told) code,
    SNW_SECTION_LIST(X)
#undef X
} snw_section_kind;

const char *snw_section_name(snw_section_kind kind);
const char *snw_section_label(snw_section_kind kind);

// Laws of x (and L). Outright entries win over what shape and material give, entry by entry.
typedef struct snw_section_desc {
    snw_section_kind kind;
    snw_law size[4];
    snw_law stiffness[36], inertia[36], damping[36]; // row by row, symmetric; NULL: not given
    bool stiffness_given, inertia_given,
        damping_given; // any entry: without a shape the rest is zero
    snw_source_location location;
} snw_section_desc;

typedef struct snw_rod_desc {
    double length;        // m; of a fed rod its free length to begin with
    bool variable_length; // slides through its root: its free length is a coordinate that actuators
                          // act on
    const snw_material_desc *material; // NULL: none
    snw_section_desc section;
    snw_law rest[6];  // reference strain, laws of x; stretch 0 is unstretched
    bool active[6];   // strain components that may change
    snw_law given[6]; // those that follow a law of t, x and L, the whole value; stretch 0 is
                      // unstretched
    snw_basis basis[6];
    int nodes;  // quadrature points of the inertia on the whole rod (per element for piecewise
                // bases: shared out, at least one each); 0: auto
    int magnus; // 2, 4 or 6; default 4. Of other rules:
    snw_rule_kind integrator;
    int points; // of the spectral one
    // Of rk45: its nodes lie so that its error is below this, and `nodes` is the most there may be.
    // 0: they stay.
    double tolerance;
    int ncell; // cells it has now, in room for more; 0: all of the same length, as many as there is
               // room for
    const double *cell; // ncell + 1: their ends, m
    snw_source_location location, length_location, nodes_location;
} snw_rod_desc;

typedef enum snw_body_shape {
    SNW_SHAPE_NONE,
    SNW_SHAPE_BOX,
    SNW_SHAPE_CYLINDER,
    SNW_SHAPE_SPHERE
} snw_body_shape;

// Mass properties in the link's frame.
typedef struct snw_body_desc {
    double mass;
    snw_vec3 com;
    snw_mat3 inertia;     // about the centre of mass, link axes
    double volume;        // of its shape, m^3, 0: not known
    snw_body_shape shape; // about the centre of mass
    snw_vec3 size;        // widths of a box; radius and length of a cylinder; radius of a sphere
    snw_vec3 axis;        // of a cylinder, unit
} snw_body_desc;

typedef struct snw_link_desc {
    const char *name;
    snw_source_location location;
    snw_site on; // parent; links come after their parents
    snw_pose_desc pose;
    snw_joint_kind joint;
    snw_joint_desc moves;
    bool has_rod, has_body;
    snw_rod_desc rod;
    snw_body_desc body; // at the link's end
    snw_law when; // NULL: always; a constant or a gate, which implies that of the link it is on
} snw_link_desc;

// ---- loops
// ------------------------------------------------------------------------------------------

// What forbids velocities only, theory.md 3.15: one line per kind with the rows it has.
typedef enum snw_nonholonomic_kind {
    SNW_NONHOLONOMIC_NONE,  // a closure: poses are forbidden
    SNW_NONHOLONOMIC_WHEEL, // no motion along the axle
    SNW_NONHOLONOMIC_ROLL,  // of a wheel with a radius: what touches the ground rests, along the
                            // axle and across it
    SNW_NONHOLONOMIC_TREAD, // the same but for the axle, along which it slips,
    SNW_NONHOLONOMIC_EDGE,  // the same but for its way, along which it slips,
    SNW_NONHOLONOMIC_SLIP,  // a wheel that slips as it likes: nothing is forbidden
    SNW_NONHOLONOMIC_RING,  // a section moves along its tangent only and does not turn about it
    SNW_NONHOLONOMIC_ANCHOR // a section rests
} snw_nonholonomic_kind;

// Two sites joined by a joint: the pose of b in a is `pose`, then what the joint allows. Laws of t
// drive it.
typedef struct snw_loop_desc {
    const char *name;
    snw_source_location location;
    snw_site a, b;
    snw_joint_kind joint;
    snw_vec3 axis, second; // as in snw_joint_desc
    snw_pose_desc pose;
    snw_law when; // NULL: always; a constant or a gate
    bool drive;   // made for an actuator of that name, which turns a ball
    snw_nonholonomic_kind
        nonholonomic; // made for a contact of that name: b's velocity against a is forbidden,
    snw_vec3 normal;  // of a wheel: of the ground, in the frame of a,
    double radius;    // m
    double slip[2];   // N s/m: what slip along the axle, along the way is resisted by
    bool groove;      // of a ring: one of many along a rod
    bool fixes_frame; // of an anchor that sweeps along a rod: the place rests, not the section
} snw_loop_desc;

// ---- loads
// ------------------------------------------------------------------------------------------

typedef struct snw_load_desc {
    const char *name;
    snw_source_location location;
    bool along; // per length along the rod of link `on.link`; else at the site
    snw_site on;
    snw_law force[3],
        torque[3]; // N, N m (or per metre); laws of t and signals, along a rod also of x, L
    bool body;     // components in the frame of the site or section (follower); else world (dead)
    snw_law when;  // NULL: always; reads no signal but a gate
} snw_load_desc;

// Active stress along a rod, by strain component (muscle). Laws of t, x, L.
typedef struct snw_stress_desc {
    const char *name;
    snw_source_location location;
    int link;
    snw_law stress[6];
    snw_law when;
} snw_stress_desc;

// An actuator on the coordinates of a link's joint or rod: given is the effort on each, or the
// coordinate itself, and then the effort is what follows.
typedef enum snw_motor_kind {
    SNW_MOTOR_EFFORT,   // laws of t and signals
    SNW_MOTOR_POSITION, // laws of t
    SNW_MOTOR_RATE // laws of t: the integral goes on from the initial value, or from where it was
                   // met
} snw_motor_kind;

typedef struct snw_motor_desc {
    const char *name;
    snw_source_location location;
    snw_motor_kind kind;
    int link;
    bool rod;     // its strain coordinates, else those of its joint
    bool feed;    // the free length of its rod instead
    bool passive; // its motion is what the contacts make it, in kinematic steps; one coordinate
    int n;        // all of them, in their order
    const snw_law *law; // n; NULL: no effort, a coordinate that is free
    snw_law when;       // NULL: always; a constant or a gate unless efforts are given
    int met;            // of a rate with a gate: 1 + the first of n signals, coordinate - integral
    bool turns;         // a ball whose rotation is given: it has no laws by coordinate, but follows
    int loop;           // this loop, from where its joint begins to it
    int nsame;  // of wheels with one effort the first: they follow it and are so many; else 0
    int same;   // of these, it included: 1 + the first; else 0
    bool holds; // it follows, and so that this component of that probe keeps to a law:
    int probe, component;
    snw_law target;
} snw_motor_desc;

// ---- measures
// ---------------------------------------------------------------------------------------

// An actuator whose coordinate is a number that the shape of rods makes, theory.md 3.11: the length
// of a tendon, the volume of a chamber.
typedef enum snw_tendon_kind { SNW_TENDON_CABLE, SNW_TENDON_CHAMBER } snw_tendon_kind;

typedef enum snw_tendon_given {
    SNW_TENDON_EFFORT,     // tension or pressure, a law of t and signals
    SNW_TENDON_COORDINATE, // shortening or volume, a law of t
    SNW_TENDON_GAS         // amount of an ideal gas, laws of t
} snw_tendon_given;

// A straight part of a tendon, from site to site.
typedef struct snw_tendon_segment_desc {
    snw_site a, b;
    int after; // how many of the tendon's rods come before
} snw_tendon_segment_desc;

typedef struct snw_tendon_desc {
    const char *name;
    snw_source_location location;
    snw_tendon_kind kind;
    snw_tendon_given given;
    int nlink;
    const int *link;                        // the rods it goes along, in their order
    int nsegment;                           // of a tendon: straight parts between them,
    const snw_tendon_segment_desc *segment; // in their order
    double from, to; // arc length where it begins on the first, and ends on the last one
    snw_law at[2];   // y and z in the section, laws of x and L
    snw_law area;    // of a chamber: a law of x and L
    // of a tendon
    double discs;                 // radius within which discs lead it beyond the section, m
    double extra;                 // length outside of the robot, m
    double compliance;            // strain per tension, 1/N; 0: it does not stretch
    double friction, viscous;     // loss of tension per angle turned: number; per speed, s/m
    double creep;                 // speed that smooths friction, m/s
    snw_law sliding;              // friction where nothing moves: 1 as pulled in, -1 as let out
    snw_law law;                  // what is given; of a gas its moles
    snw_law temperature, ambient; // of a gas: K, Pa
    snw_law when;                 // NULL: always; a constant unless the effort is given
} snw_tendon_desc;

#define SNW_GAS_CONSTANT 8.314462618 // J/(mol K)

// ---- fluid
// ------------------------------------------------------------------------------------------

// Where the added mass comes from: nowhere, the shape, or numbers.
typedef enum snw_added { SNW_ADDED_NONE, SNW_ADDED_AUTO, SNW_ADDED_GIVEN } snw_added;

// What surrounds links: their rods, or bodies where they have none. theory.md 3.12
typedef struct snw_fluid_desc {
    const char *name;
    snw_source_location location;
    int nlink;
    const int *link;
    double density; // kg/m^3, 0: not given
    bool buoyancy;
    snw_added added;
    double given[6]; // of a body about its centre of mass: kg m^2, kg
    // resistance along each axis of the section or body, laws of x and L (of a body constants),
    // NULL: none. Rods have the last three, per length
    snw_law linear[6], square[6];
    snw_law normal, tangent; // coefficients of rods by density, width and perimeter
    snw_law current[3];      // velocity of the fluid in the world, laws of t; NULL: at rest
    snw_law when;            // NULL: always; a constant or a gate
} snw_fluid_desc;

// ---- contacts
// ---------------------------------------------------------------------------------------

// A half-space that links rest on: their rods, or bodies where they have none. theory.md 3.13. Or
// what grips: then all stands in a loop.
typedef struct snw_contact_desc {
    const char *name;
    snw_source_location location;
    int nonholonomic;  // 1 + its loop; 0: a half-space
    int nnonholonomic; // its loops: one, or of rings along a rod one for each station
    int nlink;
    const int *link;
    snw_vec3 normal, at;   // of the surface: unit, out of the ground; a point of it
    double stiffness;      // N/m at each place of a body, N/m^2 along rods
    bool has_ends;         // of rods:
    double ends;           // stiffness at their end sections, N/m
    double damping;        // s/m
    double along, across;  // friction coefficients, along and across a rod; the same for a body
    double creep;          // speed that smooths friction, m/s
    double smooth;         // length over which the force sets in, m
    int npoint;            // of bodies, instead of their shape:
    const snw_vec3 *point; // in the frame of the link
    snw_law when;          // NULL: always; a constant or a gate
} snw_contact_desc;

#define SNW_CONTACT_SMOOTH 1e-4 // m, unless given

// ---- initial state
// ----------------------------------------------------------------------------------

typedef struct snw_initial_desc {
    int link;
    snw_source_location location;
    snw_law strain[6], rate[6]; // fields over x, projected on the basis
    bool has_pose;              // of a free or spherical joint
    snw_se3 pose;
    snw_twist twist;              // of a free joint, body frame; of a spherical one, angular part
    bool has_position, has_speed; // of other joints:
    double position[SNW_JOINT_MOST], speed[SNW_JOINT_MOST]; // zero unless given
} snw_initial_desc;

// ---- probes
// -----------------------------------------------------------------------------------------

// How laws read a probe at once: what it shows of a segment's pose or velocity, or of coordinates.
// Others depend on more than configuration and velocity and are known at instants only, to
// conditions and sampled controllers.
typedef enum snw_reading {
    SNW_READ_LATER,
    SNW_READ_POSITION,
    SNW_READ_ROTATION,
    SNW_READ_POSE,
    SNW_READ_VELOCITY,
    SNW_READ_TWIST,
    SNW_READ_STRAIN,
    SNW_READ_COORDINATE,
    SNW_READ_RATE,
    SNW_READ_TENDON, // length, shortening or volume; its rate; tension or pressure
    SNW_READ_TENDON_RATE,
    SNW_READ_TENDON_EFFORT
} snw_reading;

// One line per quantity: enum, name in the language, how laws read it.
#define SNW_PROBE_LIST(X)                                                                          \
    X(SNW_PROBE_POSITION, "position", SNW_READ_POSITION)                                           \
    X(SNW_PROBE_ROTATION, "rotation", SNW_READ_ROTATION)                                           \
    X(SNW_PROBE_POSE, "pose", SNW_READ_POSE)                                                       \
    X(SNW_PROBE_VELOCITY, "velocity", SNW_READ_VELOCITY)                                           \
    X(SNW_PROBE_TWIST, "twist", SNW_READ_TWIST)                                                    \
    X(SNW_PROBE_ACCELERATION, "acceleration", SNW_READ_LATER)                                      \
    X(SNW_PROBE_STRAIN, "strain", SNW_READ_STRAIN)                                                 \
    X(SNW_PROBE_WRENCH, "wrench", SNW_READ_LATER)                                                  \
    X(SNW_PROBE_REACTION, "reaction", SNW_READ_LATER)                                              \
    X(SNW_PROBE_ANGLE, "angle", SNW_READ_COORDINATE)                                               \
    X(SNW_PROBE_VALUE, "value", SNW_READ_COORDINATE)                                               \
    X(SNW_PROBE_RATE, "rate", SNW_READ_RATE)                                                       \
    X(SNW_PROBE_EFFORT, "effort", SNW_READ_LATER)                                                  \
    X(SNW_PROBE_POWER, "power", SNW_READ_LATER)                                                    \
    X(SNW_PROBE_LENGTH, "length", SNW_READ_LATER)                                                  \
    X(SNW_PROBE_TENSION, "tension", SNW_READ_LATER)                                                \
    X(SNW_PROBE_PULL, "pull", SNW_READ_LATER)                                                      \
    X(SNW_PROBE_VOLUME, "volume", SNW_READ_LATER)                                                  \
    X(SNW_PROBE_PRESSURE, "pressure", SNW_READ_LATER)                                              \
    X(SNW_PROBE_ENERGY, "energy", SNW_READ_LATER)                                                  \
    X(SNW_PROBE_MOMENTUM, "momentum", SNW_READ_LATER)                                              \
    X(SNW_PROBE_CENTER_OF_MASS, "center_of_mass", SNW_READ_LATER)                                  \
    X(SNW_PROBE_STABILITY, "stability", SNW_READ_LATER)                                            \
    X(SNW_PROBE_FREQUENCY, "frequency", SNW_READ_LATER)                                            \
    X(SNW_PROBE_TRANSPORT, "transport", SNW_READ_LATER)                                            \
    X(SNW_PROBE_LAW, "law", SNW_READ_LATER)


typedef enum snw_probe_kind {
#define X(code, name, reading) code,
    SNW_PROBE_LIST(X)
#undef X
} snw_probe_kind;

typedef enum snw_probe_of {
    SNW_PROBE_OF_LINK,
    SNW_PROBE_OF_MOTOR,
    SNW_PROBE_OF_STRESS,
    SNW_PROBE_OF_TENDON,
    SNW_PROBE_OF_LOOP,
    SNW_PROBE_OF_CONTACT
} snw_probe_of;

enum { SNW_LAW_READS = 32, SNW_LAW_WIDTH = 64 }; // numbers a probe's law reads, and of one probe

typedef struct snw_probe_desc {
    const char *name;
    snw_source_location location;
    snw_probe_kind kind;
    snw_site site; // where; for wrench and strain a rod's station, for reaction and joints a link
    snw_joint_kind joint; // of angle, value, rate and effort: that link's
    int along;       // > 0: that many equal stations of the rod of site.link, or coordinates of an
                     // actuator's rod
    snw_probe_of of; // what value, rate, effort, power and reaction are of,
    int item;        // and which one, unless of a link
    bool body;       // `in: body`
    bool tied;       // of pull: where the tendon is tied, else where it is pulled
    double fraction; // of tension: of the way from there to where it is tied
    snw_law law;     // of law: signal SNW_SIGNALS_MAX + k is column read_column[k] of read_probe[k]
    snw_dim dim;     // and of what dimension
    int nread;
    int read_probe[SNW_LAW_READS], read_column[SNW_LAW_READS];
} snw_probe_desc;

// ---- signals
// ----------------------------------------------------------------------------------------

// Numbers that laws and conditions read besides t, x and L. What is remembered of an expression is
// part of the state: an integral goes on with time, a sample is held until the next multiple of its
// period, `once` latches, a gate (the condition of a load that reads probes, or of what comes and
// goes) follows its condition from instant to instant, what was met is kept from the instant at
// which its gate opened.
typedef enum snw_signal_kind {
    SNW_SIGNAL_PROBE,
    SNW_SIGNAL_INTEGRAL,
    SNW_SIGNAL_SAMPLED,
    SNW_SIGNAL_ONCE,
    SNW_SIGNAL_CONDITION, // of a loop 1 + 2 (1 << row) for each row left out while it is closed
    SNW_SIGNAL_MET
} snw_signal_kind;

enum { SNW_SIGNALS_MAX = 256 };

// What one description makes of a remembrance.
typedef struct snw_signal_use {
    snw_law source;
    double period;
} snw_signal_use;

// All descriptions of a study have the same signals in the same order, each with its own sources. A
// source reads signals before its own only.
typedef struct snw_signal_desc {
    snw_signal_kind kind;
    const char *text;  // as it is written
    int probe, column; // SNW_SIGNAL_PROBE: of the probe's columns
    snw_law source;    // else: of what; NULL: nothing in this description uses it
    double period;     // SNW_SIGNAL_SAMPLED, s
} snw_signal_desc;

// ---- what is done
// -----------------------------------------------------------------------------------

typedef enum snw_step_kind {
    SNW_STEP_STATIC,
    SNW_STEP_DYNAMIC,
    SNW_STEP_MODES,
    SNW_STEP_CHANGE
} snw_step_kind;

// How a dynamic step goes through time. One line per scheme: enum, name in the language, meaning.
#define SNW_METHOD_LIST(X)                                                                         \
    X(SNW_METHOD_GENERALIZED_ALPHA, "generalized-alpha", "implicit, order 2, rho at infinity")     \
    X(SNW_METHOD_NEWMARK, "newmark", "implicit, order 2, no damping (1/4, 1/2)")                   \
    X(SNW_METHOD_HHT, "hht", "implicit, order 2, rho from 0.5 to 1")                               \
    X(SNW_METHOD_WBZ, "wbz", "implicit, order 2, rho from 0 to 1")                                 \
    X(SNW_METHOD_EULER, "euler", "backward Euler, order 1")                                        \
    X(SNW_METHOD_TRAPEZOIDAL, "trapezoidal", "implicit, order 2, no damping")                      \
    X(SNW_METHOD_BDF2, "bdf2", "implicit, order 2, strong damping")                                \
    X(SNW_METHOD_BDF3, "bdf3", "implicit, order 3, unstable where steps resolve the motion")       \
    X(SNW_METHOD_BDF_ALPHA, "bdf-alpha", "between bdf2 (alpha 0) and trapezoidal (alpha -0.5)")    \
    X(SNW_METHOD_CONSERVING, "conserving", "implicit, order 2, keeps energy and momentum")         \
    X(SNW_METHOD_GAUSS4, "gauss4", "implicit, order 4, no damping; not with loops")                \
    X(SNW_METHOD_GAUSS6, "gauss6", "implicit, order 6, no damping; not with loops")                \
    X(SNW_METHOD_GAUSS8, "gauss8", "implicit, order 8, no damping; not with loops")                \
    X(SNW_METHOD_RK4, "rk4", "explicit, order 4, fixed steps")                                     \
    X(SNW_METHOD_ADAPTIVE, "adaptive", "explicit Runge-Kutta with error control")                  \
    X(SNW_METHOD_STIFF, "stiff", "implicit multistep with error control")

typedef enum snw_method {
#define X(code, name, meaning) code,
    SNW_METHOD_LIST(X)
#undef X
} snw_method;

const char *snw_method_name(snw_method method);

// Who computes a step. One line per engine: enum, name in the language, meaning.
#define SNW_ENGINE_LIST(X)                                                                         \
    X(SNW_ENGINE_STRAIN, "strain", "coordinates of strain bases, theory 3")                        \
    X(SNW_ENGINE_SHOOTING, "shooting", "full fields, integrated along the rod, theory 10")

typedef enum snw_engine {
#define X(code, name, meaning) code,
    SNW_ENGINE_LIST(X)
#undef X
} snw_engine;

// How the shooting engine integrates along rods, carries histories between nodes, and solves.
#define SNW_SHOOT_ALONG_LIST(X)                                                                    \
    X(SNW_SHOOT_RK4, "rk4", "Runge-Kutta, order 4")                                                \
    X(SNW_SHOOT_EULER, "euler", "Euler, order 1")                                                  \
    X(SNW_SHOOT_DORMAND_PRINCE, "dormand-prince", "Dormand and Prince, order 5")
#define SNW_SHOOT_HISTORY_LIST(X)                                                                  \
    X(SNW_SHOOT_CUBIC, "cubic", "through four nodes")                                              \
    X(SNW_SHOOT_LINEAR, "linear", "means of two, as the paper does: order 2")
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

#define SNW_SHOOT_POINTS 101 // along a rod, unless given

typedef struct snw_shooting_desc {
    int points; // along a rod, both ends included
    snw_shoot_along along;
    snw_shoot_between history;
    snw_shoot_solver solver;
    bool replica; // the march of the paper
    double error; // of dormand-prince: of an interval, by which they are chosen; 0: all alike
} snw_shooting_desc;

typedef struct snw_step_desc {
    const char *name; // unique: its kind, then static.2, unless named
    snw_source_location location;
    snw_step_kind kind;
    snw_engine engine;          // of static and dynamic steps
    snw_shooting_desc shooting; // of that engine
    int from;                   // step to start from, -1: where the last one ended
    // static: a path of equilibria as t goes on; 0: at the present t. dynamic: where steps are
    // chosen by their error (adaptive, stiff, implicit with `control`) `step` is the longest one,
    // 0: no bound
    double duration, step;
    double least;     // live: a step that must be made of shorter ones than that is given up, s
    int patience;     // live: most Newton iterations of a step; 0: no limit
    double tolerance; // of forces (static, fixed implicit steps), 0: default; else of the error
    double march, march_step; // static: damped pseudo-time march of this length, s; 0: Newton
    // dynamic
    snw_method method;
    double rho, alpha; // of the schemes that have them
    bool control;      // implicit: steps chosen by their error, `step` is the longest
    bool split;        // free joints on SO(3) x R^3 instead of SE(3)
    bool uniform_past; // the past before the step is uniform motion: no initial accelerations
    bool fixed_length; // fixed implicit steps are all as long as `step`, also at impacts and starts
    bool undamped_velocities; // velocities at loops as a scheme without damping has them,
                              // theory.md 6.6
    bool kinematic;           // a dynamic step by reduced motion, theory.md 6.8,
    bool projective;          // with torques of the projective form,
    double torque; // in which moments count by this against forces where reactions are shared, 1/m
    snw_law until; // condition on t and signals that ends it, NULL: none
    int count;     // modes: how many beside null motions
    bool steady;   // static, modes: what is driven and moved goes on at its rates, all else rests
                   // beside it
    bool follow; // static: keep to the branch of equilibria the load leads along, also where it is
                 // unstable or ends
    // change: the rest of the study goes on with this description. It has the same coordinates
    // (links, joints, strains, bases), loads, actuators and probes, and shares the study's steps.
    const struct snw_desc *changed;
    const char *paths; // what it changes, for people: "twist, arm.pose"
} snw_step_desc;

#define SNW_STEP_MODES_COUNT 6 // modes, unless given

#define SNW_STEP_ERROR 1e-6 // relative error of a step, where steps are chosen by it

// A dynamic step by this method with the values that hold unless others are given.
snw_step_desc snw_step_dynamic(snw_method method);

// Has the study a kinematic step? Then contacts share what they bear, and none of their rows is
// left out.
bool snw_study_shares_reactions(const struct snw_desc *d);

// What a person may turn while the robot is simulated live (`live:`): an actuator, or a parameter
// of the file.
typedef struct snw_knob_desc {
    const char *name;
    int actuator; // motors, then measures, then stresses, each in their order; -1: a parameter
    double low, high;
    double value; // of a parameter
    snw_dim dim;
} snw_knob_desc;

// Of what dimension that is which is given of an actuator: of coordinate k of a motor; of a tendon
// or chamber.
snw_dim snw_motor_dim(const struct snw_desc *d, const snw_motor_desc *m, int k);
snw_dim snw_tendon_dim(const snw_tendon_desc *m);

typedef struct snw_desc {
    snw_pool *pool;
    const char *title, *about;
    snw_law gravity[3];
    int nlink, nloop, nload, nstress, nmotor, ntendon, nfluid, ncontact, ninitial, nprobe, nsignal,
        nstep;
    snw_link_desc *link;
    snw_loop_desc *loop;
    snw_load_desc *load;
    snw_stress_desc *stress;
    snw_motor_desc *motor;
    snw_tendon_desc *tendon;
    snw_fluid_desc *fluid;
    snw_contact_desc *contact;
    snw_initial_desc *initial;
    snw_probe_desc *probe;
    const snw_signal_desc *signal;
    const snw_signal_use
        *signal_use; // while the description is read, before `signal` is made of it
    snw_step_desc *step;
    double record_every; // 0: every computed instant
    int nrecord;         // probes to record, -1: all
    const int *record;
    int nknob;
    const snw_knob_desc *knob;
    int nnamed; // sites that have names, for who draws them
    const snw_named_site *named;
    int noverride; // of the run and the command line, for who keeps results
    const snw_override_desc *override;
} snw_desc;
