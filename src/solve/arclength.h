// SPDX-License-Identifier: MIT
//
// arclength.h: one step of pseudo-arc-length continuation along the solutions of r(x, p) = 0, n
// equations for n + 1 unknowns on a vector space or a Lie group: tangent, corrector, null vectors.
// theory.md 5.2
//
// A point has nx + 1 numbers: x, then p. A direction has n + 1 numbers, increments of x and of p;
// its norm divides them by their sizes, so that radians, metres and the parameter can be added.
#pragma once

#include "base/arena.h"
#include "sinew/status.h"

typedef struct snw_path_problem {
    int n, nx;
    void *user;
    // r <- residual at a point; J <- dr/dx, column major n x n, and r_p (n) <- dr/dp unless NULL
    snw_status (*equations)(void *user, const double *point, double *r, double *J, double *r_p);
    // out <- x (nx numbers) moved by step * dx
    void (*move)(void *user, const double *x, double step, const double *dx, double *out);
    const double *scale; // n: typical magnitudes of r
    const double *size;  // n + 1: typical magnitudes of increments, the last of p
    const double
        *weight; // n + 1: weights of the increments so divided in the norm; 0: not measured
} snw_path_problem;

typedef struct snw_arclength_info {
    int iterations;
    double residual; // largest scaled residual
} snw_arclength_info;

// Inner product of two directions.
double snw_arclength_dot(const snw_path_problem *p, const double *a, const double *b);

// direction <- times a number such that its norm is one; returns the norm before.
double snw_arclength_normalise(const snw_path_problem *p, double *direction);

// out <- point moved by `distance` along a direction; out may be point.
void snw_arclength_move(const snw_path_problem *p, const double *point, double distance,
                        const double *direction, double *out);

// Scratch taken from the arena by each of the functions below, in bytes.
size_t snw_arclength_scratch(int n);

// point <- solution in the plane through point normal to `normal`, by Newton's method. A singular
// matrix, as at a bifurcation, is solved with minimum norm. SNW_E_DIVERGED: none found.
SNW_NODISCARD snw_status snw_arclength_correct(const snw_path_problem *p, const double *normal,
                                               double tolerance, snw_arena *scratch, double *point,
                                               snw_arclength_info *info);

// tangent <- unit tangent of the solutions at a point, on the side of `like`. *sign (unless NULL)
// <- sign of the determinant of [J r_p; tangent'], which changes at simple bifurcations and not at
// folds.
SNW_NODISCARD snw_status snw_arclength_tangent(const snw_path_problem *p, const double *point,
                                               const double *like, snw_arena *scratch,
                                               double *tangent, int *sign);

// b <- the next point of the path beyond a, with its tangent and sign as above. *step: in, the
// length tried, halved until the corrector converges and the tangents turn by less than 15 degrees;
// out, that of the next step, at most `longest`. Returns the distance between the points in
// *length. SNW_E_DIVERGED: no step was short enough.
SNW_NODISCARD snw_status snw_arclength_advance(const snw_path_problem *p, const double *a,
                                               const double *tangent, double longest,
                                               double tolerance, snw_arena *scratch, double *step,
                                               double *length, double *b, double *b_tangent,
                                               int *sign, snw_arclength_info *info);

// At a point where J is singular: phi (n) and psi (n) <- right and left null vectors of J;
// *psi_p <- psi' r_p, not zero at a fold, for psi such that the largest of psi_i scale_i is one.
SNW_NODISCARD snw_status snw_arclength_null(const snw_path_problem *p, const double *point,
                                            snw_arena *scratch, double *phi, double *psi,
                                            double *psi_p);

// other <- unit direction orthogonal to `tangent` in the null space of [J r_p] at a bifurcation:
// the direction of another branch in the first approximation, its largest component positive.
SNW_NODISCARD snw_status snw_arclength_switch(const snw_path_problem *p, const double *point,
                                              const double *tangent, snw_arena *scratch,
                                              double *other);
