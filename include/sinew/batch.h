// SPDX-License-Identifier: MIT
//
// batch.h: many robots of one model, stepped together on several threads.
//
// A batch has n robots with states, inputs and, by snw_robot_set_parameters, values of the model of
// their own. A call steps all of them; the threads are made once with the batch, and each takes the
// next robots when it is done with some. Steps allocate nothing.
//
// Where processor, scheme and model allow it (snw_batch_engine), robots step in packs of 8
// (AVX-512) or 4 (AVX2): one instruction computes a number of all robots of a pack. Each robot has
// then the motion of a robot stepped alone to the tolerance of the solver, with single precision
// (snw_batch_set_precision) nearly so, and to the last bit the same one whatever the others do,
// wherever it is in the batch, and however many threads there are. A step that a pack does not
// solve is done alone. All other robots have the numbers of a robot stepped alone to the last bit.
//
// A batch may be used by one thread at a time, its robots between its calls. In a process made by
// fork() it goes on with the thread of the caller alone.
#pragma once

#include "sinew/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct snw_batch snw_batch;

// n robots in the initial state of the model, and `threads` threads with that of the caller; 0: as
// many as there are processors. On success *out belongs to the caller, who calls snw_batch_close.
SNW_API SNW_NODISCARD snw_status snw_batch_create(snw_robot_model *m, int n, int threads,
                                                  snw_batch **out, snw_error *err);
SNW_API void snw_batch_close(snw_batch *b); // NULL is fine

SNW_API int snw_batch_size(const snw_batch *b);
SNW_API int snw_batch_threads(const snw_batch *b);
// Robot i; it belongs to the batch. NULL: there is none.
SNW_API snw_robot *snw_batch_robot(const snw_batch *b, int i);

// Engine of robot i, in words: "packs of 8 (AVX-512)", "packs of 4 (AVX2)", "packs of 16, single
// precision (AVX-512)", "packs of 8, single precision (AVX2)" or "alone". *why (NULL: not asked
// for) <- the reason, where it is "alone"; empty otherwise. Both are constant texts. Before its
// start and for a robot that does not exist it is "alone". A step that did not fit a pack is not
// reported here.
SNW_API const char *snw_batch_engine(const snw_batch *b, int i, const char **why);
// Largest number of robots in a pack: 16, 8, 4, or 1 for none; from the next start of all robots
// on.
SNW_API SNW_NODISCARD snw_status snw_batch_set_lanes(snw_batch *b, int lanes, snw_error *err);
// Numbers with which packs solve the equations of a step: "double", or "single" (floats) with 16
// (AVX-512) or 8 (AVX2) robots in a pack, about twice as fast; from the next start of all robots
// on. q, v, u, states, histories and all that is computed outside of packs remain doubles, and a
// step that floats cannot solve is done alone with doubles. Residuals are then 5e-6 of typical
// forces; differences of motions from those by doubles are in docs/performance.md.
SNW_API SNW_NODISCARD snw_status snw_batch_set_precision(snw_batch *b, const char *precision,
                                                         snw_error *err);

// Coordinates (n x nq) and velocities (n x nv), robot by robot: written by the caller before
// snw_batch_start, by the batch after each step. A step refuses rows written after their start.
// Times (n), s, to read.
SNW_API double *snw_batch_q(snw_batch *b);
SNW_API double *snw_batch_v(snw_batch *b);
SNW_API const double *snw_batch_time(const snw_batch *b);
// Inputs of the actuators (n x snw_robot_inputs), to read and to write: the arrays snw_robot_u of
// the robots.
SNW_API double *snw_batch_u(snw_batch *b);

// Start motions from the rows of q and v at the times of the robots. `at` (n; NULL: all): 1 for
// robots that are started, 0 for others. Forgets the errors of the robots it starts.
SNW_API SNW_NODISCARD snw_status snw_batch_start(snw_batch *b, const snw_robot_steps *how,
                                                 const unsigned char *at, snw_error *err);
// Move the robots `at` (NULL: all) to stable equilibria under the inputs at their times; see
// snw_robot_equilibrium. From the rows of q, and to them; v <- 0.
SNW_API SNW_NODISCARD snw_status snw_batch_equilibrium(snw_batch *b, const unsigned char *at,
                                                       snw_error *err);
// Advance by `count` steps of h seconds each robot `at` (NULL: all) that has not failed since its
// start.
SNW_API SNW_NODISCARD snw_status snw_batch_step(snw_batch *b, double h, int count,
                                                const unsigned char *at, snw_error *err);
// out (n x columns of the probe) <- present values of a probe; see snw_robot_probe.
SNW_API SNW_NODISCARD snw_status snw_batch_probe(snw_batch *b, const char *probe, double *out,
                                                 snw_error *err);

// The four calls above go on with the other robots where one fails. They return the status of the
// robot with the smallest number among those that failed in this call; err has its number, its
// message, and how many failed. A robot whose start, equilibrium or step failed is left out by
// snw_batch_step, in its state before the failed step, until it is started again. A wrong step (h)
// and a state written after its start are refused as a whole.
//
// Number of robots that have failed since their start, and the error of each; its status is SNW_OK
// when there is none. The pointer belongs to the batch. NULL: there is no robot i.
SNW_API int snw_batch_failures(const snw_batch *b);
SNW_API const snw_error *snw_batch_error(const snw_batch *b, int i);

// End the present call with SNW_E_STOPPED, between two steps: robots then differ in time. May be
// called from any thread and from a signal handler. Without a call under way it does nothing.
SNW_API void snw_batch_cancel(snw_batch *b);
// `poll(user)` is asked by the thread of the caller about 20 times a second while a call takes that
// long; a result that is not 0 cancels. NULL: none.
SNW_API void snw_batch_set_poll(snw_batch *b, int (*poll)(void *user), void *user);

#ifdef __cplusplus
}
#endif
