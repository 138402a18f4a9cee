// SPDX-License-Identifier: MIT
//
// scheme.h: implicit time integration schemes in one form. With the increment d of the
// configuration over a step,
//
//       rates = a d + f,   accelerations = b d + g,
//
// where a and b are numbers, f and g vectors computed from the past. A solver needs nothing else.
// On a Lie group d is the increment in the Lie algebra, q_new = q_old exp(d), and the same
// relations hold for body rates.
//
// Two families (theory.md 6.1):
//   alpha    Newmark, HHT, WBZ, generalised-alpha with pseudo-accelerations (Arnold and Bruls)
//   levels   v = c0 d - c2 d_before + e v_old, and the same again for the accelerations: backward
//            Euler, BDF2, BDF-alpha, trapezoidal, for steps of any length (math/time_formula.h)
#pragma once

#include "math/time_formula.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct snw_scheme {
    int order;
    double am, af, gamma, beta; // alpha family
    bool loss_known;            // the energy that resolved steps lose is known, theory.md (6.17)
    snw_levels levels;          // levels family, past 1 or 2; alpha family: past 0
    double e;                   // levels: weight of the old rate
} snw_scheme;

// Of the alpha family, with these weights of the old acceleration and of the old forces; of the
// levels family.
snw_scheme snw_scheme_of_weights(double am, double af);
snw_scheme snw_scheme_of_levels(snw_levels levels);

// Past of a scheme, n numbers each.
typedef struct snw_history {
    int n;
    double h; // length of the previous step; 0: none yet; -1: none, and the next step ignores past
              // accelerations
    double *v, *a;  // rates and accelerations at the last instant
    double *pseudo; // pseudo-accelerations (alpha)
    double *d, *vb; // previous increment, rates before it (levels)
} snw_history;

// Doubles needed for a history.
size_t snw_history_doubles(int n);
snw_history snw_history_on(int n, double *memory);

// Start from rates v and accelerations a. With `rest` the past is taken as uniform motion:
// accelerations before the first step are zero.
void snw_scheme_start(const snw_scheme *s, const double *v, const double *a, bool rest,
                      snw_history *past);

// Coefficients of a step of length h.
void snw_scheme_begin(const snw_scheme *s, const snw_history *past, double h, double *a, double *b,
                      double *f, double *g);

// Store the accepted step.
void snw_scheme_end(const snw_scheme *s, double h, const double *d, const double *v,
                    const double *acc, snw_history *past);

// Parts of the past: configuration, then those of snw_history.
typedef enum snw_past_part {
    SNW_PAST_PLACE,
    SNW_PAST_RATE,
    SNW_PAST_ACCELERATION,
    SNW_PAST_PSEUDO,
    SNW_PAST_INCREMENT,
    SNW_PAST_RATE_BEFORE,
    SNW_PAST_PARTS
} snw_past_part;

// A step of a scheme as a linear map: f and g by the parts of the past; the new pseudo-acceleration
// by the past and by the new acceleration.
typedef struct snw_scheme_map {
    double a, b, f[SNW_PAST_PARTS], g[SNW_PAST_PARTS];
    double pseudo[SNW_PAST_PARTS], pseudo_acc;
} snw_scheme_map;

// Map of a step of length h after one of length `before` (as in snw_history). `ends_anew`: the end
// of the step is stored as that of a step that ignores past accelerations.
snw_scheme_map snw_scheme_map_of(const snw_scheme *s, double h, double before, bool ends_anew);

// s: started with accelerations a of a motion far faster than the step, a scheme creates spurious
// rates s h a (theory.md (6.10)); 0 for schemes that conserve the energy of such a motion, and for
// backward Euler.
double snw_scheme_overshoot(const snw_scheme *s);

// s: started with accelerations a that damping ends far faster than the step, a scheme creates a
// spurious displacement -s h^2 a (theory.md (6.15)).
double snw_scheme_displacement(const snw_scheme *s);

// Factor of the leading term of the local error of d, i.e. of the configuration: times h^2 and the
// change of acceleration.
double snw_scheme_error_factor(const snw_scheme *s);
