// SPDX-License-Identifier: MIT
//
// locomotion.h: motion from given shapes and contacts, theory.md 6.8. What is driven is known; the
// other coordinates, mostly those of the base, follow from the rows of contacts and loops, and
// where these leave motions open from the reduced dynamics on what they allow. Then forces: efforts
// of what is driven, and reactions, by least norm where statics leaves them open. A few passes of
// the recursion, so the cost is linear in the bodies.
#pragma once

#include "dynamics/dynamics.h"

// How the motion is found, spec of locomotion 2.3.
typedef enum snw_locomotion_class {
    SNW_LOCOMOTION_DRIVEN,   // nothing is open: a manipulator
    SNW_LOCOMOTION_FULL,     // contacts determine it
    SNW_LOCOMOTION_OVER,     // and more: they must agree
    SNW_LOCOMOTION_UNDER,    // contacts and dynamics
    SNW_LOCOMOTION_FREE,     // dynamics alone
    SNW_LOCOMOTION_SYMMETRIC // momentum is kept
} snw_locomotion_class;

typedef struct snw_locomotion_opts {
    double torque;   // 1/m: weight of moments against forces where reactions are shared, default 1
    bool projective; // torques of the thesis' projective form instead, which are not in balance
} snw_locomotion_opts;

typedef struct snw_locomotion snw_locomotion;

// SNW_E_MODEL: rods with coordinates that nobody drives, given lengths of tendons.
SNW_NODISCARD snw_status snw_locomotion_create(const snw_model *m, const snw_locomotion_opts *opts,
                                               snw_locomotion **out, snw_error *err);
void snw_locomotion_destroy(snw_locomotion *lo); // NULL is fine

// Begin at s: which motions are open is found there and at later times, up to `until`. Where
// momentum is kept and the file says nothing of the base's motion, it begins with none.
SNW_NODISCARD snw_status snw_locomotion_start(snw_locomotion *lo, snw_inputs *in,
                                              const snw_state *s, double until, snw_error *err);
snw_locomotion_class snw_locomotion_class_of(const snw_locomotion *lo);
// The class in words, with the numbers of coordinates, rows and open motions.
void snw_locomotion_describe(const snw_locomotion *lo, char *out, size_t size);

// s <- driven coordinates where their laws want them, velocities of all nearest to s->v;
// accelerations, and multipliers. SNW_E_MODEL: contacts contradict each other; SNW_E_SINGULAR: the
// gait meets a singularity, both named.
SNW_NODISCARD snw_status snw_locomotion_motion(snw_locomotion *lo, snw_inputs *in, snw_state *s,
                                               snw_error *err);

// Motion and forces of that state, as snw_residual finds them.
const snw_work *snw_locomotion_work(const snw_locomotion *lo);

// s->v <- after contacts or driven rates have jumped, or links have come: open motions keep their
// momentum. `push` (nv; NULL: none) and `lacks` are what links that come lack of it, as
// snw_impacts_activated_momentum says.
SNW_NODISCARD snw_status snw_locomotion_impact(snw_locomotion *lo, snw_inputs *in,
                                               const double *push, snw_wrench lacks, snw_state *s,
                                               snw_error *err);
