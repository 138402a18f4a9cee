// SPDX-License-Identifier: MIT
//
// tendons.h: tendons and chambers along one rod as its law (rod.h), in the total-wrench form
// (theory.md 10.5).
//
// F is the wrench of rod, tendons and fluid together; its equation along the rod does not depend on
// them. The strain of a section follows from
//   K e + B e_t + sum T_i g_i(e) = F                                              (10.2)
// with, for a tendon, g = d|u|/dxi and T its tension, for a chamber g = dV'/dxi and T = -pressure.
// The left-hand side is monotone in e while tensions are not negative; its derivative, the matrix
// of Newton's method, is symmetric. A chamber of variable area contributes -F dl/dxi with the force
// F of (3.11.14) instead.
//
// Efforts that are not given are states z of the law. Each has a length or volume as the next
// state:
//   length given   tension (unknown at the base), unstretched length of the path from the winch on;
//   volume, gas    pressure (unknown), volume;
//   friction       tension, given or unknown at the base, which falls along the path, and length of
//                  the path, counted from the tip if the tension is given.
#pragma once

#include "base/fields.h"
#include "model/model.h"
#include "shoot/checkpoint.h"
#include "shoot/rod.h"

typedef enum snw_shoot_tendon_given {
    SNW_SHOOT_TENDON_EFFORT, // tension, N, or gauge pressure, Pa
    SNW_SHOOT_TENDON_LENGTH, // of a tendon, paid out by a winch; the tension is never negative
    SNW_SHOOT_TENDON_VOLUME, // of a chamber
    SNW_SHOOT_TENDON_GAS     // of a chamber: moles times R times temperature, J
} snw_shoot_tendon_given;

typedef struct snw_shoot_tendon {
    bool chamber;
    snw_shoot_tendon_given given;
    double extra, compliance;        // as in desc.h
    double friction, viscous, creep; // likewise
    double from, to;     // arc lengths, ends of pieces; from > to: it does not run along this rod
    double straight;     // length of its straight parts before the base of this rod, m
    snw_law at[2], area; // as in desc.h
    const snw_chamber_area *varies; // chamber whose area depends on stretch or pressure; else NULL
    // at the present instant
    double value;   // given effort, length, volume or n R T
    double rate;    // rate of a given length, for friction, m/s
    double sliding; // in statics: fraction of the friction that acts, with the sign of sliding
    double ambient; // pressure around a gas
    // set by snw_shoot_tendons_place
    int z;                   // index of its effort among the states of the law; -1: none
    double reference;        // length or volume of the unstressed rod
    double typical;          // typical effort, for scaling
    snw_tendon_point *point; // npoint; weight w is zero outside [from, to]
} snw_shoot_tendon;

enum { SNW_SHOOT_TENDONS = SNW_LAW_TERMS }; // most along one rod

// n tendons, np points and ns sections of the rod
#define SNW_SHOOT_TENDONS_FIELDS(AT, PACK)                                                         \
    AT(snw_tendon_point, point, n *np, "places of the tendons in the sections, by tendon")         \
    PACK(snw_twist, guess, np, "the last strain found at each point")                              \
    PACK(snw_wrench, line, fluids ? n *np : 0, "wrench per pressure of the chambers, by chamber")  \
    PACK(double, KB, 36 * ns, "K + c0 B of each section")                                          \
    PACK(double, inverse, 36 * np, "inverses of Newton's matrices at the last tangent")            \
    PACK(bool, known, np, "is `inverse` valid for c0?")

typedef struct snw_shoot_tendons {
    snw_shoot_law law;
    const snw_shoot_rod *r;
    int n;
    snw_shoot_tendon tendon[SNW_SHOOT_TENDONS];
    bool fluids; // there are chambers only
    double c0;   // c_0 of KB
    SNW_SHOOT_TENDONS_FIELDS(SNW_FIELD_POINTER, SNW_FIELD_POINTER)
    void *block;
} snw_shoot_tendons;

// Does friction reduce the tension along the path?
static inline bool snw_shoot_tendon_has_friction(const snw_shoot_tendon *c) {
    return c->friction > 0 || c->viscous > 0;
}

// c->law and the states <- from c->n and the description of c->tendon. SNW_E_ARGUMENT: more than
// SNW_SHOOT_Z states.
SNW_NODISCARD snw_status snw_shoot_tendons_law(snw_shoot_tendons *c);
// Tables for a rod that was made with c->law and whose sections are filled. The caller releases
// them.
SNW_NODISCARD snw_status snw_shoot_tendons_place(snw_shoot_tendons *c, const snw_shoot_rod *r);
void snw_shoot_tendons_release(snw_shoot_tendons *c);
// Initial guesses of the next step, saved or loaded (checkpoint.h).
void snw_shoot_tendons_checkpoint(snw_shoot_tendons *c, snw_shoot_checkpoint *row);

// Scales of tendon i, which place finds for this rod, <- reference length or volume and typical
// effort of a tendon along several rods.
void snw_shoot_tendon_scale(snw_shoot_tendons *c, int i, double reference, double typical);

// r->base_z <- values at the base. Call before a step, after a `value` has changed.
void snw_shoot_tendons_base(const snw_shoot_tendons *c, snw_shoot_rod *r);

// At the newest level of the rod: effort at the base (zero for a slack tendon), and length or
// volume.
double snw_shoot_tendon_effort(const snw_shoot_tendons *c, int i);
double snw_shoot_tendon_length_or_volume(const snw_shoot_tendons *c, int i);
// Effort at a node.
double snw_shoot_tendon_effort_at(const snw_shoot_tendons *c, int i, int node);
