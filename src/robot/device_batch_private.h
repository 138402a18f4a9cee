// SPDX-License-Identifier: MIT
//
// device_batch_private.h: a batch of robots on a graphics processor, and what the files
// device_batch*.c share.
#pragma once

#include "sinew/device_batch.h"

#include "robot/robot_private.h"

#include "gpu/device_cuda.h"
#include "gpu/device_host.h"
#include "integrate/implicit_private.h"
#include "model/model_stream.h"

enum { SNW_DEVICE_BLOCK = 64 }; // threads of a block

// Arrays of a batch on its device.
#define DEVICE_BATCH_FIELDS(X)                                                                     \
    X(q, nq *n * sizeof(double), "coordinates")                                                    \
    X(past, 5 * nv * n * sizeof(double), "history of the scheme")                                  \
    X(h, n * sizeof(double), "length of the last step")                                            \
    X(mass, nv *n * sizeof(double), "diagonal of the mass matrix")                                 \
    X(onset, 4 * n * sizeof(double), "limit of steps after a start")                               \
    X(lambda, nconstraint *n * sizeof(double), "multipliers")                                      \
    X(z, 2 * nsignal * n * sizeof(double), "memory of laws, rates of integrals and states")        \
    X(relaxed, nbranch *n * sizeof(double), "strains of Maxwell branches")                         \
    X(energy, energies *n * sizeof(double), "account of energy")                                   \
    X(status, n * sizeof(int), "of each robot")                                                    \
    X(iterations, n * sizeof(unsigned), "of each robot")                                           \
    X(tangents, n * sizeof(unsigned), "of each robot")                                             \
    X(u, ninput *n * sizeof(double), "inputs")                                                     \
    X(workspace, b->scratch_bytes *n, "of robots whose workspace no thread's stack holds")         \
    X(home, (nq + nv) * n * sizeof(double), "state in which robots begin again")

// Memory on the device that grows.
typedef struct device_room {
    void *at;
    size_t bytes;
} device_room;

struct snw_device_batch {
    snw_robot *robot; // on the host
    int n, ninput, most_lanes;
    bool single;                     // precision
    bool quick;                      // kernels are compiled quickly
    const snw_device_engine *engine; // of this precision, on the host
    snw_cuda *cuda;                  // NULL: the host
    const char *architecture;        // kernels are compiled for it and kept only; NULL: it steps
    void *kernel[SNW_DEVICE_CALLS];
#define X(name, bytes, meaning) void *name;
    DEVICE_BATCH_FIELDS(X)
#undef X
    size_t bytes;
    snw_model_stream *stream; // structure and numbers of the model
    size_t model_bytes;       // of a model on the device
    void *model;              // the model, or n of them
    void *whole, *number;     // of the stream, on the device; numbers of each robot (n x nnumber)
    bool models_stale;        // numbers have changed since the models were made
    snw_robot_model **own;    // n, of robots whose laws or loads differ; NULL: those of the model
    int nown;
    snw_inputs *own_in;                // scratch
    size_t scratch_bytes;              // of a robot in `workspace`; 0: a thread's stack has it
    unsigned char *scratch;            // of the host
    bool *taken;                       // actuators whose inputs the caller gives
    snw_device_map *map;               // of their inputs
    int nmap, map_room;                //
    double *law[2];                    // of a call, on the host; of the call before
    size_t law_room[2];                // their numbers
    size_t nsent;                      // numbers of law[0] that are on the device
    bool steady_sent;                  // they are constant within all of these steps
    unsigned char *steady;             // of steps of a call
    int steady_room;                   // steps
    double *block[2];                  // scratch of laws
    bool time_laws;                    // laws of time are evaluated on the device
    device_room taken_laws, zero, one; // of actuators that the caller has taken over
    device_room laws, steady_steps, maps, point_seg, point_at, point, point_rate;
    device_room columns, column_phi, probe; // of probes
    int npoint;
    bool started, account;
    snw_device_args args;
};

// ---- memory (device_batch_memory.c) -------------------------------------------------------------

// *out <- zeroed bytes on the device
snw_status snw_device_alloc(snw_device_batch *b, size_t bytes, void **out, snw_error *err);
void snw_device_free(snw_device_batch *b, void *p);
// Between the host and the device, after the calls before.
snw_status snw_device_write(snw_device_batch *b, const void *from, size_t bytes, void *to,
                            snw_error *err);
snw_status snw_device_read(snw_device_batch *b, const void *from, size_t bytes, void *to,
                           snw_error *err);
// SNW_E_MEMORY unless `each` bytes for every robot and `common` ones are free on the device.
snw_status snw_device_check_room(const snw_device_batch *b, size_t each, size_t common,
                                 snw_error *err);
// room <- these bytes
snw_status snw_device_fill(snw_device_batch *b, device_room *room, const void *from, size_t bytes,
                           snw_error *err);

// ---- models and calls (device_batch.c, device_batch_inputs.c) -----------------------------------

// Why the device does not serve these steps, in words; NULL: it does.
const char *snw_device_refuses(const snw_implicit *im);
// Makes `n` models, one after the other, from as many rows of numbers on the device.
snw_status snw_device_make_models(snw_device_batch *b, int n, snw_error *err);
// Numbers of a row of laws.
size_t snw_device_law_width(const snw_device_batch *b);
// Models with the present numbers, and the laws of a call of `count` steps of h seconds.
snw_status snw_device_prepare(snw_device_batch *b, double h, int count, snw_error *err);
// All robots, each by a thread or several; the call goes on while the device computes.
snw_status snw_device_launch(snw_device_batch *b, snw_device_call call, snw_error *err);
