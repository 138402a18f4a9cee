// SPDX-License-Identifier: MIT
//
// scheme.h: the time schemes. Each is one row of a table: name, order, family, the options of a
// dynamic step that it takes, the steps and robots it supports, its parameters. The reader, the
// help, checks, integrators and live simulation read the row.
#pragma once

#include "math/time_formula.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum snw_scheme_kind {
    SNW_SCHEME_GENERALIZED_ALPHA,
    SNW_SCHEME_NEWMARK,
    SNW_SCHEME_HHT,
    SNW_SCHEME_WBZ,
    SNW_SCHEME_EULER,
    SNW_SCHEME_TRAPEZOIDAL,
    SNW_SCHEME_BDF2,
    SNW_SCHEME_BDF3,
    SNW_SCHEME_BDF_ALPHA,
    SNW_SCHEME_CONSERVING,
    SNW_SCHEME_MOREAU,
    SNW_SCHEME_GAUSS4,
    SNW_SCHEME_GAUSS6,
    SNW_SCHEME_GAUSS8,
    SNW_SCHEME_RADAU3,
    SNW_SCHEME_RADAU5,
    SNW_SCHEME_RK4,
    SNW_SCHEME_ADAPTIVE,
    SNW_SCHEME_STIFF
} snw_scheme_kind;
enum { SNW_SCHEME_COUNT = SNW_SCHEME_STIFF + 1 };

// Schemes of a family have one integrator.
typedef enum snw_scheme_family {
    SNW_FAMILY_ALPHA,       // accelerations weighted between the ends of a step
    SNW_FAMILY_LEVELS,      // rates from values at the last instants
    SNW_FAMILY_CONSERVING,  // energy and momentum
    SNW_FAMILY_MOREAU,      // impulses of hard contacts
    SNW_FAMILY_COLLOCATION, // accelerations at the stages of a step
    SNW_FAMILY_ODE          // first-order equations, solve/ode.h
} snw_scheme_family;

// Keys of a dynamic step that a scheme may take, besides those that all take.
enum {
    SNW_SCHEME_TAKES_RHO = 1,
    SNW_SCHEME_TAKES_ALPHA = 2,
    SNW_SCHEME_TAKES_ADAPT = 4,
    SNW_SCHEME_TAKES_TOLERANCE = 8,
    SNW_SCHEME_TAKES_BASE = 16,
    SNW_SCHEME_TAKES_START = 32,
    SNW_SCHEME_TAKES_SHORTEN = 64,
    SNW_SCHEME_TAKES_LOOP_VELOCITIES = 128 // it damps nothing, for some rho or alpha
};

// Steps and robots that a scheme supports.
enum {
    SNW_SCHEME_ON_STRAIN = 1,      // strain engine
    SNW_SCHEME_ON_SHOOTING = 2,    // shooting engine
    SNW_SCHEME_ON_LOOPS = 4,       // loop closures, given lengths and volumes
    SNW_SCHEME_ON_DRAG_SPRING = 8, // pull by hand
};

typedef struct snw_scheme_info {
    const char *name;    // in the model language
    const char *meaning; // for help
    snw_scheme_family family;
    int order;   // 0: varies
    int options; // SNW_SCHEME_TAKES_*
    int works;   // SNW_SCHEME_ON_*
    bool implicit;
    bool chooses_steps; // always by their error; others where they take `adapt`, and it is on
    // Alpha family: weights am of the old acceleration and af of the old forces, by the spectral
    // radius rho at infinity.
    void (*weights)(double rho, double *am, double *af);
    double rho;        // default, or the only value of a scheme that takes none
    double rho_min;    // of a given rho
    bool loss_known;   // the energy that resolved steps lose is known, theory.md (6.17)
    snw_levels levels; // levels family; alpha: default, or the only value
    int stages;        // collocation
} snw_scheme_info;

extern const snw_scheme_info snw_scheme_table[SNW_SCHEME_COUNT];

// Kind of this name; -1: there is none.
int snw_scheme_find(const char *name);

// out <- names of the schemes that take any of the options or work there: "hht, wbz and newmark".
void snw_scheme_names(int options, int works, char *out, size_t size);

// The parameters of a scheme, with the given values where it takes them.
double snw_scheme_rho(snw_scheme_kind kind, double given);
snw_levels snw_scheme_levels(snw_scheme_kind kind, double alpha);

// Does it damp no motion, however fast, with these parameters?
bool snw_scheme_undamped(snw_scheme_kind kind, double rho, double alpha);
