// SPDX-License-Identifier: MIT
//
// reduced.h: motion from given shapes and contacts, theory.md 6.8. What is driven is known; the other coordinates, mostly those
// of the base, follow from the rows of contacts and loops, and where these leave motions open from the reduced dynamics on
// what they allow. Then forces: efforts of what is driven, and reactions, by least norm where statics leaves them open. A
// few passes of the recursion, so the cost is linear in the bodies.
#pragma once

#include "dynamics/dynamics.h"

// How the motion is found, spec of locomotion 2.3.
typedef enum snw_reduced_class {
    SNW_REDUCED_DRIVEN,   // nothing is open: a manipulator
    SNW_REDUCED_FULL,     // contacts determine it
    SNW_REDUCED_OVER,     // and more: they must agree
    SNW_REDUCED_UNDER,    // contacts and dynamics
    SNW_REDUCED_FREE,     // dynamics alone
    SNW_REDUCED_SYMMETRIC // momentum is kept
} snw_reduced_class;

typedef struct snw_reduced_opts {
    double torque;   // 1/m: weight of moments against forces where reactions are shared, default 1
    bool projective; // torques of the thesis' projective form instead, which are not in balance
} snw_reduced_opts;

typedef struct snw_reduced snw_reduced;

// SNW_E_MODEL: rods with coordinates that nobody drives, given lengths of tendons.
SNW_NODISCARD snw_status snw_reduced_create(const snw_model *m, const snw_reduced_opts *opts,
                                            snw_reduced **out, snw_error *err);
void snw_reduced_destroy(snw_reduced *red); // NULL is fine

// Begin at s: which motions are open is found there and at later times, up to `until`. Where momentum is kept and the file says
// nothing of the base's motion, it begins with none.
SNW_NODISCARD snw_status snw_reduced_start(snw_reduced *red, snw_inputs *in, const snw_state *s,
                                           double until, snw_error *err);
snw_reduced_class snw_reduced_class_of(const snw_reduced *red);
// The class in words, with the numbers of coordinates, rows and open motions.
void snw_reduced_describe(const snw_reduced *red, char *out, size_t size);

// s <- driven coordinates where their laws want them, velocities of all nearest to s->v; accelerations, and
// multipliers. SNW_E_MODEL: contacts contradict each other; SNW_E_SINGULAR: the gait meets a singularity, both named.
SNW_NODISCARD snw_status snw_reduced_motion(snw_reduced *red, snw_inputs *in, snw_state *s,
                                            snw_error *err);

// Motion and forces of that state, as snw_residual finds them.
const snw_work *snw_reduced_look(const snw_reduced *red);

// s->v <- after contacts or driven rates have jumped, or links have come: open motions keep their momentum. `push` (nv; NULL: none)
// and `lacks` are what links that come lack of it, as snw_switches_come says.
SNW_NODISCARD snw_status snw_reduced_strike(snw_reduced *red, snw_inputs *in, const double *push,
                                            snw_wrench lacks, snw_state *s, snw_error *err);
