// SPDX-License-Identifier: MIT
//
// stats.h: energy account at an instant, and counts of the solver since the last frame.
#pragma once

// Energies at one instant, J. dissipated, work and scheme are integrals over the dynamic steps so
// far; scheme is the energy removed by an implicit scheme itself; balance is the energy that the
// other terms do not account for. theory.md (6.4)
#define SNW_ENERGY_LIST(X)                                                                         \
    X(kinetic)                                                                                     \
    X(elastic)                                                                                     \
    X(gravity)                                                                                     \
    X(dissipated)                                                                                  \
    X(work)                                                                                        \
    X(scheme)                                                                                      \
    X(balance)

typedef struct snw_energy {
#define X(name) double name;
    SNW_ENERGY_LIST(X)
#undef X
} snw_energy;

// Statistics of the solver at a frame.
#define SNW_STATS_LIST(X)                                                                          \
    X(iterations, "Newton iterations since the last frame")                                        \
    X(tangents, "matrices factorised since the last frame")                                        \
    X(increments, "load increments or time steps since the last frame")                            \
    X(load,                                                                                        \
      "share of the change of load reached: below 1 only in the last frame of a failed step")      \
    X(residual, "largest scaled residual at the frame")                                            \
    X(stability, "smallest eigenvalue of the tangent relative to the unloaded stiffness")          \
    X(geometry, "estimated error of the node positions, relative to the rod's length")             \
    X(quadrature, "estimated relative error of integrals along rods; 0: not estimated")            \
    X(truncation,                                                                                  \
      "estimated distance to the configuration with more strain functions, relative to the rod's " \
      "length; of a mode the relative error of its frequency; NaN: not known")                     \
    X(mode, "number of the mode whose shape the frame shows; 0: none")                             \
    X(frequency, "its frequency, Hz")                                                              \
    X(damping, "its damping ratio; NaN if it does not vibrate")                                    \
    X(condition, "estimated condition number of Newton's matrix; NaN where there is none")         \
    X(path, "number of the path of equilibria, from 1; 0: none")                                   \
    X(arc, "arc length from its start")                                                            \
    X(parameter, "parameter of the path: t, or the constant that it varies, SI")                   \
    X(special, "special point of a path: 1 fold, 2 branch, 3 flutter, 4 cusp; 0: none")            \
    X(multiplicity, "eigenvalues that vanish together at a bifurcation of a path")                 \
    X(negative, "unstable directions of an equilibrium of a path")                                 \
    X(distance, "weighted distance from the targets of an inverse step; 0 elsewhere")

typedef struct snw_stats {
#define X(name, meaning) double name;
    SNW_STATS_LIST(X)
#undef X
} snw_stats;
