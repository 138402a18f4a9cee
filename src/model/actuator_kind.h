// SPDX-License-Identifier: MIT
//
// actuator_kind.h: kinds of actuators and the quantities that control them, one row of a table
// each. Reader, help, checks, compilation, inputs, public API, live simulation, listings, scene and
// viewer read these rows. A new actuator along a path is a line of the list here, a row in
// actuator_kind.c, its own keys in language/read_tendon.c and, if its effort follows from what is
// given in a new way, a case of effort_of (dynamics/tendon.c).
#pragma once

#include "math/units.h"

#include <stdbool.h>
#include <stddef.h>

// ---- kinds

// Enumerator; name, value and meaning of its key under `actuators`.
#define SNW_ACTUATOR_LIST(X)                                                                       \
    X(SNW_ACTUATOR_JOINT, "joint", "a joint's link", "a motor on the coordinates of its joint")    \
    X(SNW_ACTUATOR_ROD, "rod", "a rod's link", "a drive on its strain coordinates, always a list") \
    X(SNW_ACTUATOR_FEED, "feed", "a rod's link",                                                   \
      "varies the length of the rod: feeds it out of its root or draws it in; its position is "    \
      "the free length")                                                                           \
    X(SNW_ACTUATOR_GROW, "grow", "a rod's link",                                                   \
      "lengthens the rod at its tip, as a vine robot that everts; its position is the length")     \
    X(SNW_ACTUATOR_WHEELS, "wheels", "a list of links",                                            \
      "one motor for all: the same effort on each revolute joint")                                 \
    X(SNW_ACTUATOR_TENDON, "tendon", "a tendon", "a cable through sections of rods")               \
    X(SNW_ACTUATOR_CHAMBER, "chamber", "a chamber", "a cavity along rods, filled with a fluid")    \
    X(SNW_ACTUATOR_MCKIBBEN, "mckibben", "a McKibben muscle",                                      \
      "a bladder in a braid of threads: pressure shortens it")                                     \
    X(SNW_ACTUATOR_STRESS, "stress", "active stress", "a muscle along a rod")

typedef enum snw_actuator_kind {
#define X(code, name, form, meaning) code,
    SNW_ACTUATOR_LIST(X)
#undef X
        SNW_ACTUATOR_COUNT
} snw_actuator_kind;

// Description of an actuator, by what it acts on.
typedef enum snw_actuator_class {
    SNW_ACTUATES_COORDINATES, // of joints and rods: snw_motor_desc, theory.md 3.9
    SNW_ACTUATES_PATH,        // length or volume along a path: snw_tendon_desc, theory.md 3.11
    SNW_ACTUATES_STRAIN       // stress along a rod: snw_stress_desc
} snw_actuator_class;

// ---- controls

// Enumerator; name, value and meaning of a key that controls an actuator.
#define SNW_CONTROL_LIST(X)                                                                        \
    X(SNW_CONTROL_EFFORT, "effort", "N m or N, laws of t and probes",                              \
      "given effort, by coordinate; of a spherical joint three torques, in its own axes; tension " \
      "of a tendon, N; pressure in a chamber above ambient, Pa")                                   \
    X(SNW_CONTROL_POSITION, "position", "rad or m, laws of t",                                     \
      "given coordinate, its effort is an output; free in a list: not driven, free alone: "        \
      "determined by contacts; of a spherical joint a rotation")                                   \
    X(SNW_CONTROL_RATE, "rate", "rad/s or m/s, laws of t",                                         \
      "the coordinate given by its rate, from the initial value, or from its value when the "      \
      "actuator becomes active")                                                                   \
    X(SNW_CONTROL_HOLD, "hold", "{probe.component: law of t}",                                     \
      "of a joint or of wheels in kinematic steps: the effort keeps that velocity or rate on "     \
      "that law, and is an output")                                                                \
    X(SNW_CONTROL_SHORTENING, "shortening", "m, law of t",                                         \
      "of a tendon: given length pulled in; its tension is an output")                             \
    X(SNW_CONTROL_VOLUME, "volume", "m^3, law of t",                                               \
      "of a chamber: given volume; its pressure is an output")                                     \
    X(SNW_CONTROL_GAS, "gas", "a gas",                                                             \
      "given amount of gas in a chamber; its pressure is an output")                               \
    X(SNW_CONTROL_PRESSURE, "pressure", "Pa, law of t and probes",                                 \
      "of a chamber: given pressure above ambient, another word for its effort; of a McKibben "    \
      "muscle, whose tension is an output")

typedef enum snw_control_key {
#define X(code, name, form, meaning) code,
    SNW_CONTROL_LIST(X)
#undef X
        SNW_CONTROL_COUNT,
    SNW_CONTROL_NO_KEY = SNW_CONTROL_COUNT // controlled in live simulations and by the API only
} snw_control_key;

// The given quantity in the equations.
typedef enum snw_given {
    SNW_GIVEN_EFFORT,    // effort, law of t and signals
    SNW_GIVEN_MOTION,    // coordinate, law of t; the effort is a Lagrange multiplier, or the
                         // tension of an elastic tendon
    SNW_GIVEN_RATE,      // rate of the coordinate, law of t; integrated from its initial value, or
                         // from its value when the condition became true
    SNW_GIVEN_GAS,       // amount of an ideal gas, law of t; the effort is its pressure
    SNW_GIVEN_SOURCE,    // quantity, law of t and signals, from which and from the coordinate the
                         // effort follows by `effort` of the kind
    SNW_GIVEN_ACTIVATION // factor on the laws of the file
} snw_given;

// Is the effort an input?
static inline bool snw_gives_effort(snw_given given) { return given == SNW_GIVEN_EFFORT; }
// Is it a load, of which load steps apply a fraction and whose law may read signals?
static inline bool snw_gives_load(snw_given given) {
    return given == SNW_GIVEN_EFFORT || given == SNW_GIVEN_SOURCE;
}
// Is the motion of the coordinate an input?
static inline bool snw_gives_motion(snw_given given) {
    return given == SNW_GIVEN_MOTION || given == SNW_GIVEN_RATE;
}
static inline bool snw_gives_rate(snw_given given) { return given == SNW_GIVEN_RATE; }

typedef struct snw_control_type {
    snw_control_key key;
    snw_given given;
    const char *name;  // of the quantity in tables: "tension"
    const char *about; // and in sentences; NULL: the name
    snw_dim dim;       // along a path; of motors by coordinate, snw_motor_dim
    bool positive;     // ranges of live simulations begin at zero
    // Can the quantity have this value? `length`: reference length of a path and its extra length,
    // m. NULL: any; rule: the others, in messages.
    bool (*admissible)(double value, double length);
    const char *rule;
} snw_control_type;

enum { SNW_ACTUATOR_CONTROLS = 4, SNW_ACTUATOR_CONSTANTS = 5 };

// Effort e by a law of the given quantity x and the coordinate y, and its derivatives.
typedef struct snw_path_effort {
    double e, by_x, by_y;
} snw_path_effort;

// ---- table

typedef struct snw_actuator_type {
    const char *name; // key in the model language
    const char *noun; // in messages: "chamber"
    const char *form; // as it is written, in messages: "chamber: {along: ..}"
    snw_actuator_class acts;
    // on coordinates
    const char *element; // in listings: "joint", "rod", "feed"
    bool strains;        // strain coordinates of a rod
    bool feeds;          // free length of a rod
    bool grows;          // at its tip, not at its root
    // along a path
    bool is_length;     // its coordinate is the shortening of the path; false: a volume
    bool only_pulls;    // an effort below zero is zero
    const char *symbol; // drawing: "line", or "tube" with the radius at its points
    // law of an effort that follows from a given source; its constants, at first the values of the
    // keys of the kind, and the reference length or volume, m or m^3. prepare: constants of the
    // law; returns the rule that they break, NULL: none. exceeds: rule that a coordinate breaks.
    const char *(*prepare)(double reference, double constant[SNW_ACTUATOR_CONSTANTS]);
    snw_path_effort (*effort)(const double *constant, double x, double y);
    const char *(*exceeds)(const double *constant, double y);
    // Lengths of a braid and of its threads, m: drawing of a tube that widens as it shortens; NULL:
    // its radius is constant.
    void (*braid)(const double *constant, double *length, double *thread);
    int ncontrol;
    snw_control_type control[SNW_ACTUATOR_CONTROLS];
} snw_actuator_type;

extern const snw_actuator_type snw_actuator_table[SNW_ACTUATOR_COUNT];

// Key that controls an actuator: "effort", ...
const char *snw_control_name(snw_control_key key);
// Row of the quantity given to a kind of actuator; the first if there are several.
const snw_control_type *snw_control_of(snw_actuator_kind kind, snw_given given);
// Row of a key; NULL: this kind does not take it.
const snw_control_type *snw_control_by_key(snw_actuator_kind kind, snw_control_key key);
// The only kind that takes this key; -1: there are several.
int snw_control_owner(snw_control_key key);
// out <- keys of a kind: "'effort' (its tension) and 'shortening'"; `last` is the last conjunction.
void snw_control_names(snw_actuator_kind kind, const char *last, char *out, size_t size);
// out <- all kinds as they are written: "'joint: link', 'rod: link' or ..."
void snw_actuator_forms(char *out, size_t size);

// Unit and name of the effort along a path: tension in N, or pressure in Pa.
const char *snw_path_effort_unit(snw_actuator_kind kind);
