// SPDX-License-Identifier: MIT
//
// scheme.h: implicit time schemes in one form. With the increment d of the configuration over a
// step,
//
//     rates = a d + f,   accelerations = b d + g,
//
// a and b numbers, f and g vectors made from the past. A solver sees nothing else. On a group d is
// the increment in the Lie algebra, q_new = q_old exp(d), and the same relations hold for body
// rates.
//
// Two families (theory.md 6.1):
//   alpha      Newmark, HHT, WBZ, generalized-alpha with pseudo-accelerations (Arnold and Bruls)
//   levels     v = c0 d - c2 d_before + e v_old, and the same once more for the accelerations:
//   backward Euler,
//              BDF2, BDF-alpha, trapezoidal, for steps of any length
#pragma once

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
    SNW_SCHEME_BDF_ALPHA
} snw_scheme_kind;

typedef struct snw_scheme {
    snw_scheme_kind kind;
    int order;
    bool levels;                // which family
    double am, af, gamma, beta; // alpha family
    double e;                   // levels: weight of the old rate
    bool memory;                // levels: uses the increment before
} snw_scheme;

// rho: spectral radius at infinity (generalized-alpha 0..1, HHT 1/2..1, WBZ 0..1); alpha: of
// BDF-alpha, -1/2..0.
snw_scheme snw_scheme_make(snw_scheme_kind kind, double rho, double alpha);

// What a scheme remembers, n numbers each.
typedef struct snw_history {
    int n;
    double h; // length of the step before, 0: none yet, -1: none, and the next asks no acceleration
              // of it
    double *v, *a;  // rates and accelerations at the last instant
    double *pseudo; // pseudo-accelerations (alpha)
    double *d, *vb; // increment of the step before, rates before it (levels)
} snw_history;

// Doubles needed behind a history.
size_t snw_history_doubles(int n);
snw_history snw_history_on(int n, double *memory);

// Begin from rates v and accelerations a. With `rest` the past is taken as uniform motion:
// accelerations before the first step are zero.
void snw_scheme_start(const snw_scheme *s, const double *v, const double *a, bool rest,
                      snw_history *past);

// Coefficients of a step of length h.
void snw_scheme_begin(const snw_scheme *s, const snw_history *past, double h, double *a, double *b,
                      double *f, double *g);

// Remember the step just taken.
void snw_scheme_end(const snw_scheme *s, double h, const double *d, const double *v,
                    const double *acc, snw_history *past);

// s: begun with accelerations a of a motion far quicker than the step, a scheme makes rates s h a
// of them out of nothing (theory.md 6.10); 0 of schemes that keep the energy of such a motion, and
// of backward Euler.
double snw_scheme_overshoot(const snw_scheme *s);

// s: begun with accelerations a that damping ends far quicker than the step, a scheme leaves the
// place at -s h^2 a out of nothing (theory.md 6.15).
double snw_scheme_displacement(const snw_scheme *s);

// Leading term of the local error of d, i.e. of the configuration, per number: from the change of
// acceleration.
double snw_scheme_error_factor(const snw_scheme *s);
