// SPDX-License-Identifier: MIT
//
// winch.h: the arm of Till's step response (references.md T3.4), one tendon on a winch, written out
// in its plane: non-unit quaternion, Runge-Kutta or Euler's rule along the arm, single shooting
// with a derivative by complex steps. Two forms of the same equations: the strains are marched
// along the rod, and their derivatives have histories of their own, as the reference computes them;
// or the wrench of rod and tendon together is marched.
#pragma once

#include <stdbool.h>

typedef struct winch_instant {
    double x, z, T; // tip, tension
} winch_instant;

typedef struct winch_how {
    int points;
    bool wrench; // otherwise strains
    bool cubic;  // histories between nodes by cubics, otherwise means of two nodes
    bool euler;
} winch_how;

// out[0] <- equilibrium, out[1 .. steps] <- states after each step of 50 ms by BDF2.
void oracle_winch(winch_how how, int steps, winch_instant *out);
