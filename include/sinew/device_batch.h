// SPDX-License-Identifier: MIT
//
// device_batch.h: many robots of one model on a graphics processor.
//
// States, inputs and results of n robots lie in the memory of the processor; a call steps all of
// them there, any number of steps without the host. Each robot has the motion of a robot stepped
// alone (sinew/robot.h, implicit schemes of fixed step length) to the tolerance of the solver, and
// to the last bit the same one whatever the others do. The recursion is the library's own, compiled
// for the processor and for this model when the batch is created; kernels are kept on disk in
// $XDG_CACHE_HOME/sinew. Needed are the driver and, unless the kernels are on disk, NVRTC, whose
// path may be in the environment variable SINEW_NVRTC, and further options of it, separated by
// blanks, in SINEW_NVRTC_OPTIONS.
//
// All robots have the same time, and the numbers of the model unless they are given their own.
// After a start, and where the scheme creates energy or contacts ask for it, a robot takes shorter
// steps as one alone does. Conditions change at the ends of steps. A robot that fails, also by a
// state or an input that is not finite, or since a loop closes where it is open or rows of loops
// and wheels contradict each other, stays where it is until it is started again, and does not
// disturb others.
//
// This is experimental: docs/performance.md says which state of the library has run on a processor.
//
// A batch may be used by one thread at a time.
#pragma once

#include "sinew/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct snw_device_batch snw_device_batch;

// n robots in the initial state of the model. device: "cuda", "cuda:1", ..; "host": the same
// program on this processor, for tests. SNW_E_ARGUMENT where the model has parts that the device
// does not compute; err names them. SNW_E_IO where there is no such device. SNW_E_MEMORY where its
// memory does not suffice; err says for how many robots it does. On success *out belongs to the
// caller, who calls snw_device_batch_close.
SNW_API SNW_NODISCARD snw_status snw_device_batch_create(snw_robot_model *m, int n,
                                                         const char *device, snw_device_batch **out,
                                                         snw_error *err);
// Options of a batch; {0}: the defaults. What they cost is in docs/performance.md.
typedef struct snw_device_batch_options {
    // Not 0: steps are computed with single precision, 2^-24 relative, for trees of rods, joints
    // and bodies with loads, tendons and chambers; SNW_E_ARGUMENT for others. Arrays stay doubles.
    // Steps are solved to 1e-6 of typical forces, and are not judged by their energy.
    int single_precision;
    // Not 0: kernels are compiled in seconds instead of minutes, by less optimisation, for first
    // trials: the same motions to rounding, at 0.7 to 0.9 of the rate. NVRTC before 12.9 does not
    // know this, and makes the usual kernels.
    int quick_kernels;
} snw_device_batch_options;

// The same with options; NULL: the defaults.
SNW_API SNW_NODISCARD snw_status snw_device_batch_create_with(snw_robot_model *m, int n,
                                                              const char *device,
                                                              const snw_device_batch_options *how,
                                                              snw_device_batch **out,
                                                              snw_error *err);
// Compile the kernels of a model for processors of an architecture, "sm_90", and keep them on disk,
// where batches with these options on such a processor find them, with the same version of the
// library. No processor and no driver are needed, but NVRTC is: SNW_E_IO without. SNW_E_ARGUMENT as
// above.
SNW_API SNW_NODISCARD snw_status snw_device_batch_compile(snw_robot_model *m,
                                                          const char *architecture,
                                                          const snw_device_batch_options *how,
                                                          snw_error *err);
SNW_API void snw_device_batch_close(snw_device_batch *b); // NULL is fine

SNW_API int snw_device_batch_size(const snw_device_batch *b);
// Sizes of its arrays: coordinates, velocities, inputs.
SNW_API int snw_device_batch_nq(const snw_device_batch *b);
SNW_API int snw_device_batch_nv(const snw_device_batch *b);
SNW_API int snw_device_batch_inputs(const snw_device_batch *b);
// Name of the processor; bytes of its memory that the batch has.
SNW_API const char *snw_device_batch_name(const snw_device_batch *b);
SNW_API size_t snw_device_batch_bytes(const snw_device_batch *b);
SNW_API double snw_device_batch_time(const snw_device_batch *b); // s

// Arrays in the memory of the device, to be used by its programs: number k of robot i is at
// [k * n + i]. Coordinates and velocities are written before a start and read after steps; inputs
// (snw_robot_u) before steps, for actuators that the caller has taken over. Status 0: the robot
// steps; others see snw_device_batch_status_text.
SNW_API double *snw_device_batch_q(snw_device_batch *b);
SNW_API double *snw_device_batch_v(snw_device_batch *b);
SNW_API double *snw_device_batch_u(snw_device_batch *b);
SNW_API int *snw_device_batch_status(snw_device_batch *b);
// State in which snw_device_batch_reset begins: the coordinates, then the velocities, (nq + nv) x
// n. The initial state of the model until the caller writes another one.
SNW_API double *snw_device_batch_home(snw_device_batch *b);
SNW_API const char *snw_device_batch_status_text(int status); // a constant text
// Copies between host and device; they wait for the steps under way.
SNW_API SNW_NODISCARD snw_status snw_device_batch_read(snw_device_batch *b, const void *from,
                                                       size_t bytes, void *to, snw_error *err);
SNW_API SNW_NODISCARD snw_status snw_device_batch_write(snw_device_batch *b, const void *from,
                                                        size_t bytes, void *to, snw_error *err);

// Work of the batch is queued in one stream of the device, at first the legacy default stream
// (NULL), with which PyTorch computes. Queue it in another one from now on (a CUstream, a
// cudaStream_t), behind the work so far. Streams of `host`: none.
SNW_API SNW_NODISCARD snw_status snw_device_batch_set_stream(snw_device_batch *b, void *stream,
                                                             snw_error *err);
SNW_API void *snw_device_batch_stream(const snw_device_batch *b);
// Once, between two programs that share arrays in different streams: what is queued in `stream`
// from now on waits for the work of the batch so far; or, where batch_waits is not 0, the other way
// round.
SNW_API SNW_NODISCARD snw_status snw_device_batch_order(snw_device_batch *b, void *stream,
                                                        int batch_waits, snw_error *err);

// Give robot number `robot` own numbers, those of the model with nset overrides "path=value", such
// as "silicone.young=2 MPa". The robot waits for its next start, and its state of
// snw_device_batch_home becomes that of these numbers. The structure must stay: SNW_E_ARGUMENT
// otherwise, and nothing changes. Robots with own numbers take the memory of a model each. Where
// laws of time or loads differ, the host evaluates them for each such robot at each step.
SNW_API SNW_NODISCARD snw_status snw_device_batch_set_parameters(snw_device_batch *b, int robot,
                                                                 int nset, const char *const *set,
                                                                 snw_error *err);

// Let the column u of an actuator replace its law in the file, for all robots, or the law again.
// Actuators of given effort, pressure or tension can be taken over.
SNW_API SNW_NODISCARD snw_status snw_device_batch_take(snw_device_batch *b, int actuator, int taken,
                                                       snw_error *err);

// Start motions from q and v. `at` (n bytes on the device; NULL: all): 1 for robots to start.
SNW_API SNW_NODISCARD snw_status snw_device_batch_start(snw_device_batch *b,
                                                        const snw_robot_steps *how,
                                                        const unsigned char *at, snw_error *err);
// Start again with the options of the last start.
SNW_API SNW_NODISCARD snw_status snw_device_batch_restart(snw_device_batch *b,
                                                          const unsigned char *at, snw_error *err);
// Start again, with the options of the last start, from the states of snw_device_batch_home. Not 0:
// only robots that have failed.
SNW_API SNW_NODISCARD snw_status snw_device_batch_reset(snw_device_batch *b,
                                                        const unsigned char *at, int only_failed,
                                                        snw_error *err);
// 0: steps are not judged by the energy that the scheme creates, which saves two of some seven
// evaluations of the residual a step; from the next start on. Then too long a step is not noticed.
SNW_API void snw_device_batch_set_account(snw_device_batch *b, int account);
// Advance by `count` steps of h seconds, at most the step of the start. Returns before they are
// done; robots that fail have their status.
SNW_API SNW_NODISCARD snw_status snw_device_batch_step(snw_device_batch *b, double h, int count,
                                                       snw_error *err);
// The same with the inputs of each step: u has count x inputs x n numbers on the device, those of
// the steps one after the other. NULL: snw_device_batch_u for all.
SNW_API SNW_NODISCARD snw_status snw_device_batch_step_inputs(snw_device_batch *b, double h,
                                                              int count, const double *u,
                                                              snw_error *err);
SNW_API SNW_NODISCARD snw_status snw_device_batch_wait(snw_device_batch *b, snw_error *err);

// Positions of `npoint` points at nodes (snw_robot_node) with coordinates `at` (3 npoint, in the
// node's frame, m; NULL: the node itself). *out <- array on the device, 3 npoint x n, written by
// snw_device_batch_update_points.
SNW_API SNW_NODISCARD snw_status snw_device_batch_set_points(snw_device_batch *b, int npoint,
                                                             const int *node, const double *at,
                                                             double **out, snw_error *err);
// Their velocities, m/s, 3 npoint x n on the device, written together with them. NULL: no points.
SNW_API double *snw_device_batch_point_rates(snw_device_batch *b);
SNW_API SNW_NODISCARD snw_status snw_device_batch_update_points(snw_device_batch *b,
                                                                snw_error *err);

// Probes of the file by name: poses, velocities, strains, coordinates and their rates, and length,
// rate and effort of tendons; others are refused with SNW_E_ARGUMENT. *out <- array on the device,
// snw_device_batch_columns(b) x n, columns as in snw_robot_probe, written by
// snw_device_batch_update_points. Rotation vectors are those within half a turn.
SNW_API SNW_NODISCARD snw_status snw_device_batch_set_probes(snw_device_batch *b, int nprobe,
                                                             const char *const *probe, double **out,
                                                             snw_error *err);
SNW_API int snw_device_batch_columns(const snw_device_batch *b); // of these probes
// As snw_device_batch_step_inputs, and probes (count x columns x n numbers on the device; NULL:
// none)
// <- their values at the end of each step.
SNW_API SNW_NODISCARD snw_status snw_device_batch_step_probes(snw_device_batch *b, double h,
                                                              int count, const double *u,
                                                              double *probes, snw_error *err);

// Sums over all robots since their creation: Newton iterations, matrices; robots that have failed.
typedef struct snw_device_batch_counts {
    unsigned long long iterations, tangents;
    int failed;
} snw_device_batch_counts;
SNW_API SNW_NODISCARD snw_status snw_device_batch_count(snw_device_batch *b,
                                                        snw_device_batch_counts *out,
                                                        snw_error *err);

#ifdef __cplusplus
}
#endif
