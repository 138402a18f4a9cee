// SPDX-License-Identifier: MIT
//
// track.h: inputs for which outputs of a robot follow a desired motion: inverse dynamics of
// under-actuated robots, by least squares over a horizon. Equations in docs/theory.md 5.6. Efforts
// of coordinates whose motion is given need no search: give their `position` in the file and read
// their effort.
//
//   snw_track_options o = snw_track_defaults();
//   const char *const tip[] = {"tip.x"};
//   o.noutput = 1, o.output = tip, o.nstep = 400, o.step = 5e-3, o.target = wanted;
//   snw_track_result *found;
//   if (snw_robot_track(arm, &o, &found, &err) == SNW_OK) {
//       printf("largest error %g\n", found->largest);
//       snw_track_close(found);
//   }
#pragma once

#include "sinew/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

// Limits of an input. NaN: none; of tensions the low one is then 0, also where no limits are given.
typedef struct snw_track_limit {
    const char *input; // an input, or the actuator or load of several
    double low, high;
    double
        rate; // largest change per second: between steps, and from the present input to the first
} snw_track_limit;

typedef struct snw_track_options {
    int ninput; // efforts, tensions, pressures or components of loads; none: all actuators
    const char *const *input;
    int noutput; // probes or columns of places, angles and velocities
    const char *const *output;
    int nstep;
    double step;          // s
    const double *target; // nstep rows of outputs, at the ends of the steps; NaN: free there
    const double *weight; // noutput, per unit; NULL: 1 for angles, 1/length of the robot for
                          // lengths, else 1
    double effort;        // weight of the squares of inputs, relative to what an input in the first
                          // step alone does to the targets; default 1e-9
    // weight of the squares of the changes of inputs from step to step where targets follow each
    // other, relative likewise; default 0. Where steps are short, or targets have corners, inputs
    // without it alternate from one step to the next, which hardly moves the outputs (`alternation`
    // of the result); 1e-6 makes them smooth
    double smooth;
    const double *first; // nstep rows of inputs, from which the search begins; NULL: the present
                         // inputs
    int nlimit;          // of inputs; the others have none
    const snw_track_limit *limit;
    int iterations; // most in a search, default 100; with limits three times as many. A search that
                    // does not converge is repeated over parts of the horizon that grow
    // relative fall of the cost at which the search ends, default 1e-10. It also ends where the
    // errors are 1e-4 of those of the first motion and the cost falls by less than 1 % in an
    // iteration, unless this is 0
    double tolerance;
} snw_track_options;

SNW_API snw_track_options snw_track_defaults(void);

typedef struct snw_track_column {
    const char *name, *unit;
} snw_track_column;

// All belongs to the result.
typedef struct snw_track_result {
    int nstep, ninput, noutput;
    const snw_track_column *input, *output;
    const double *u; // nstep rows of inputs, constant over each step
    const double *y; // nstep rows of outputs at the ends of the steps
    double error;    // root of the mean square of the weighted errors, where there are targets
    double largest;  // weighted error
    double cost;     // half the sum of the squares of weighted errors and inputs
    double squares;  // integral of the squares of the inputs, SI
    // nstep rows of inputs: fall of the cost per unit by which the limit that holds the input, or
    // its change from the step before, is moved outwards; NULL: no limits
    const double *multiplier, *rate_multiplier;
    double alternation; // part of the squares of the inputs, without their means, that alternates
                        // from step to step: 0 to 1; of smooth inputs far below 0.01
    int limited;        // inputs of steps that a limit or a rate holds
    int iterations;
    int converged;
    // By how much the present state was moved so that its loops are closed and its rates respect
    // them: the largest change of a coordinate, or of a rate times the step, over a typical
    // deformation (for joints 1 rad, or the length of the robot), and the link; 0, NULL: none.
    double start_moved;
    const char *start_link;
} snw_track_result;

// Inputs, constant over each step of the trapezoidal rule, for which the motion from the present
// state is nearest to the targets in the sense of least squares. With loops the steps are
// those of the scheme `conserving`, with given coordinates, which follow their laws, of `moreau`.
// A state whose loops are open is closed first, which the result tells.
// Targets that begin late or end early leave inputs free before and after: what an output that
// moves the other way first needs. Limits hold at every step; they are kept by an interior-point
// method, so that inputs at a limit come within a millionth of the cost to it. The robot stays as
// it is. On success *out belongs to the caller, who calls snw_track_close. Allocates memory.
// SNW_E_ARGUMENT: a name or a number is wrong, or limits contradict each other; SNW_E_MODEL:
// motions without mass, laws with integrals, or what these schemes do not have; SNW_E_SINGULAR: to
// first order no input moves the targets; SNW_E_DIVERGED: no motion.
SNW_API SNW_NODISCARD snw_status snw_robot_track(snw_robot *r, const snw_track_options *how,
                                                 snw_track_result **out, snw_error *err);
SNW_API void snw_track_close(snw_track_result *result); // NULL is fine

#ifdef __cplusplus
}
#endif
