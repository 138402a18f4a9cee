// SPDX-License-Identifier: MIT
//
// linear.h: linear models of a robot about its present state, for control and estimation.
//
// Continuous: x' = A x + B u, y = C x + D u of the deviations from an equilibrium, a steady motion
// or a point of a trajectory. Discrete: x(n+1) = A x(n) + B u(n), y(n) = C x(n) + D u(n) of a step
// of an implicit scheme, with u(n) the inputs at the end of that step; of conserving and moreau
// those in its middle, and hard contacts stay as they are; of collocation constant ones. Loops and
// given coordinates are eliminated. Equations in docs/theory.md 7.3.
//
//   snw_linear_options o = snw_linear_defaults();
//   snw_linear_model *lin;
//   if (snw_robot_linearize(arm, &o, &lin, &err) == SNW_OK) {
//       double a01 = lin->A[1 * lin->nx + 0]; // stored by columns
//       snw_linear_close(lin);
//   }
#pragma once

#include "sinew/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct snw_linear_options {
    // Names of inputs: an actuator, or one of its inputs ("drive.2"); a load, or one of its
    // components ("push.fy", "push.tx"); a number of the model file ("silicone.young"); "t": a
    // shift of the time at which laws are evaluated. The last two have derivatives by differences
    // of order 6, and `difference` estimates their error. 0: all actuators; -1: no input.
    int ninput;
    const char *const *input;
    // Names of outputs: probes, or columns of them ("tip.x"). None: all probes that the model has.
    int noutput;
    const char *const *output;
    int three_inputs;   // not 0: given coordinates enter with value, rate and acceleration as three
                        // inputs. 0: with the acceleration; value and rate are states
    double step;        // s; > 0: discrete model of one step
    const char *scheme; // of the step, default "generalized-alpha"
    double rho, alpha;  // parameters of the schemes that have them; NaN: default
    int statics; // not 0: no states: D has the derivatives of the outputs by constant inputs in
                 // equilibrium, the state of the robot. Robots without mass have them too; inputs
                 // are no numbers of the file
    int reduce;  // not 0: states are displacements and rates only, the input is constant over
                 // the step; for schemes of one step: euler, trapezoidal, newmark, gauss*,
                 // radau*
} snw_linear_options;

SNW_API snw_linear_options snw_linear_defaults(void);

// A state, input or output.
typedef struct snw_linear_signal {
    const char *name;
    const char *unit; // SI; empty: a plain number
    double value;     // at the operating point; 0 for rotations and free joints, whose states are
                      // body twists from there, and for massless motions
    int exact;        // outputs, inputs: 1; 0: derivatives by differences of order 6
} snw_linear_signal;

// A root of A: s (1/s), or z of a discrete model.
typedef struct snw_linear_pole {
    double re, im;
    double frequency, damping;    // Hz, undamped, of s or log(z)/step; fraction of critical damping
    int controllable, observable; // 0: no input reaches it; no output shows it
    int parasitic;                // discrete model: 1: a root of the scheme, not of the robot
} snw_linear_pole;

// Matrices are stored by columns. All belongs to the model.
typedef struct snw_linear_model {
    int nx, nu, ny;
    const double *A, *B, *C, *D; // nx x nx, nx x nu, ny x nx, ny x nu
    const snw_linear_signal *state, *input, *output;
    double time;       // s
    double step;       // s; 0: continuous
    int moving;        // 1: about a moving point, the model of that instant
    double residual;   // forces out of balance at the operating point, relative to typical ones
    double difference; // largest relative error estimate of derivatives by differences; 0: none
    int nidle;         // motions without mass and stiffness, left out
    int nheld;         // samples and latches that laws read, held
    int nleft; // outputs and inputs that were not named, and that the model does not have: left
               // out (forces and given motions where hard contacts hold; accelerations,
               // forces and given motions of steps of moreau and conserving)
    // after snw_linear_analyse, else 0
    int npole, ncontrollable, nobservable; // poles, and ranks
    const snw_linear_pole *pole;           // by rising modulus
} snw_linear_model;

// Linear model at the present state and time of the robot, under its inputs. (Motions without
// stiffness are left out of static gains, and counted in nidle.) Accelerations and
// multipliers are those of the robot where they balance, as after snw_robot_equilibrium or a step,
// else those of forward dynamics; a discrete model about a moving point does the step on a copy.
// The state of the robot stays. On success *out belongs to the caller, who calls snw_linear_close.
// SNW_E_ARGUMENT: a name is unknown, or an option is not possible; SNW_E_MODEL, SNW_E_SINGULAR:
// there is no linear model, err says why.
SNW_API SNW_NODISCARD snw_status snw_robot_linearize(snw_robot *r, const snw_linear_options *how,
                                                     snw_linear_model **out, snw_error *err);
// The same again at the present state of the robot from which it was made, in place. Allocates
// nothing for a continuous model without parameters of the file as inputs.
SNW_API SNW_NODISCARD snw_status snw_linear_update(snw_linear_model *m, snw_error *err);
// Poles with frequencies and damping, and ranks of controllability and observability. Allocates.
SNW_API SNW_NODISCARD snw_status snw_linear_analyse(snw_linear_model *m, snw_error *err);
// NULL is fine. Before the robot is closed.
SNW_API void snw_linear_close(snw_linear_model *m);

#ifdef __cplusplus
}
#endif
