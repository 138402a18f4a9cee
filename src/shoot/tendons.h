// SPDX-License-Identifier: MIT
//
// tendons.h: tendons and chambers along one rod as its law (rod.h), in the total-wrench form.
// theory.md 10.5
//
// The wrench F of rod, tendons and fluid together passes from section to section as if there were
// none. What they carry of it follows from the strain there,
//   K e + B e_t + sum T_i g_i(e) = F,   tendon g = d|u|/dxi, T its tension;  chamber g = dV'/dxi, T
//   = -pressure,
// which is monotone in e while tensions are not negative; Newton's matrix is its symmetric
// derivative.
//
// Efforts that are not given are quantities z of the law, and beside each stands a length or a
// volume:
//   length given   tension (unknown at the base), path from the winch on as if not stretched;
//   volume, gas    pressure (unknown), volume;
//   rubbing        tension, given or not at the base, which falls along the path, and path; of a
//   given tension from the tip.
#pragma once

#include "model/model.h"
#include "shoot/checkpoint.h"
#include "shoot/rod.h"

typedef enum snw_shoot_tendon_given {
    SNW_SHOOT_TENDON_EFFORT, // tension or gauge pressure
    SNW_SHOOT_TENDON_LENGTH, // of a tendon, what a winch paid out; it never pushes
    SNW_SHOOT_TENDON_VOLUME, // of a chamber
    SNW_SHOOT_TENDON_GAS     // moles times R times temperature, of a chamber
} snw_shoot_tendon_given;

typedef struct snw_shoot_tendon {
    bool chamber;
    snw_shoot_tendon_given given;
    double extra, compliance;        // as in desc.h
    double friction, viscous, creep; // likewise
    double from, to;                 // arc lengths; ends of pieces
    snw_law at[2], area;             // as in desc.h
    // at the present instant
    double value;   // what is given
    double rate;    // of a given length, its rate: friction asks for it
    double sliding; // at rest: what part of friction acts, and which way
    double ambient; // pressure around a gas
    // made by snw_shoot_tendons_place
    int z;                   // its effort among the law's quantities; -1: not among them
    double reference;        // length or volume as the rod was made
    double typical;          // effort that is neither small nor large
    snw_tendon_point *point; // npoint: where it is; weight w is zero where it is not
} snw_shoot_tendon;

enum { SNW_SHOOT_TENDONS = SNW_LAW_TERMS }; // most along one rod

typedef struct snw_shoot_tendons {
    snw_shoot_law law;
    const snw_shoot_rod *r;
    int n;
    snw_shoot_tendon tendon[SNW_SHOOT_TENDONS];
    bool fluids;      // there are no tendons
    double c0;        // that KB is of
    double *KB;       // 36 for each section: K + c0 B
    snw_twist *guess; // npoint: the last strain found there,
    double *inverse;  // 36 each: and Newton's matrix inverted where its last tangent was,
    bool *known;      // if there was one since c0 changed
    void *block;
} snw_shoot_tendons;

// Does a tendon lose tension along its path?
static inline bool snw_shoot_tendon_has_friction(const snw_shoot_tendon *c) {
    return c->friction > 0 || c->viscous > 0;
}

// From c->n and c->cord as far as the caller knows them: which quantities there are, c->law.
// SNW_E_ARGUMENT: more than SNW_SHOOT_Z.
SNW_NODISCARD snw_status snw_shoot_tendons_law(snw_shoot_tendons *c);
// For a rod made with c->law whose sections are filled: tables. The caller releases them.
SNW_NODISCARD snw_status snw_shoot_tendons_place(snw_shoot_tendons *c, const snw_shoot_rod *r);
void snw_shoot_tendons_release(snw_shoot_tendons *c);
// Where the searches of the next step begin (saving.h).
void snw_shoot_tendons_checkpoint(snw_shoot_tendons *c, snw_shoot_checkpoint *row);

// Before a step, after `value`s have changed: values at the base.
void snw_shoot_tendons_base(const snw_shoot_tendons *c, snw_shoot_rod *r);

// Of the newest level of the rod: effort at the base (of a slack tendon zero), and length or
// volume.
double snw_shoot_tendon_effort(const snw_shoot_tendons *c, int i);
double snw_shoot_tendon_length_or_volume(const snw_shoot_tendons *c, int i);
// Effort at a node.
double snw_shoot_tendon_effort_at(const snw_shoot_tendons *c, int i, int node);
