// SPDX-License-Identifier: MIT
//
// Many robots on a graphics processor: one robot on the host that has the model, checks the options
// and evaluates the laws of the file; all states, inputs and steps on the device
// (gpu/device_engine.inc). The device "host" runs the same program on this processor.

#include "sinew/device_batch.h"

#ifdef SNW_DEVICES

#include "robot/robot_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "gpu/device_cuda.h"
#include "gpu/device_host.h"
#include "gpu/device_text.h"
#include "integrate/implicit_private.h"
#include "integrate/step_account.h"
#include "math/expr_op.h"
#include "model/model_stream.h"
#include "model/signal.h"
#include "study/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Threads of a block, and threads that a processor has at a time, about: with fewer robots several
// threads share one.
enum { BLOCK = 64, RESIDENT = 1 << 15, MOST_CONSTANTS = 260, CONSTANT_LENGTH = 48 };
static const double SINGLE_TOLERANCE = 1e-6; // of residuals, near their rounding errors
enum { MOST_UNKNOWNS = 600 };                // of a step: matrices are dense
enum { THREAD_BYTES = 448 << 10 }; // of a thread's stack for its workspace; CUDA allows 512 kB

// Arrays of a batch on its device.
#define DEVICE_BATCH_FIELDS(X)                                                                     \
    X(q, nq *n * sizeof(double), "coordinates")                                                    \
    X(past, 5 * nv * n * sizeof(double), "history of the scheme")                                  \
    X(h, n * sizeof(double), "length of the last step")                                            \
    X(mass, nv *n * sizeof(double), "diagonal of the mass matrix")                                 \
    X(onset, 3 * n * sizeof(double), "limit of steps after a start")                               \
    X(lambda, nconstraint *n * sizeof(double), "multipliers")                                      \
    X(z, 2 * nsignal * n * sizeof(double), "integrals and states of laws, and their rates")        \
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
    const snw_device_engine *engine; // of this precision, on the host
    snw_cuda *cuda;                  // NULL: the host
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

// ---- memory -------------------------------------------------------------------------------------

static snw_status device_alloc(snw_device_batch *b, size_t bytes, void **out, snw_error *err) {
    if (b->cuda) {
        snw_cuda_address p = 0;
        SNW_TRY(snw_cuda_alloc(b->cuda, bytes, &p, err));
        *out = (void *)(uintptr_t)p;
    } else if (!(*out = snw_alloc(bytes + 1))) {
        return snw_fail_memory(err);
    }
    b->bytes += bytes;
    return SNW_OK;
}

static void device_free(snw_device_batch *b, void *p) {
    if (b->cuda) {
        snw_cuda_free(b->cuda, (snw_cuda_address)(uintptr_t)p);
    } else {
        snw_free(p);
    }
}

static snw_status device_write(snw_device_batch *b, const void *from, size_t bytes, void *to,
                               snw_error *err) {
    if (b->cuda) return snw_cuda_write(b->cuda, (snw_cuda_address)(uintptr_t)to, from, bytes, err);
    if (bytes) memcpy(to, from, bytes);
    return SNW_OK;
}

static snw_status device_read(snw_device_batch *b, const void *from, size_t bytes, void *to,
                              snw_error *err) {
    if (b->cuda) return snw_cuda_read(b->cuda, to, (snw_cuda_address)(uintptr_t)from, bytes, err);
    if (bytes) memcpy(to, from, bytes);
    return SNW_OK;
}

static size_t device_free_bytes(const snw_device_batch *b) {
    if (b->cuda) return snw_cuda_free_bytes(b->cuda);
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGE_SIZE);
}

// SNW_E_MEMORY unless `each` bytes for every robot and `common` ones are free on the device.
static snw_status check_room(const snw_device_batch *b, size_t each, size_t common,
                             snw_error *err) {
    const size_t unused = device_free_bytes(b), n = (size_t)b->n;
    if (common < unused && n <= (unused - common) / each) return SNW_OK;
    const size_t most = common < unused ? (unused - common) / each : 0;
    return snw_fail(err, SNW_E_MEMORY,
                    "%d robots need %zu MB on device '%s', which has %zu MB%s: enough for %zu "
                    "robots of this model",
                    b->n, (n * each + common) >> 20, snw_device_batch_name(b), unused >> 20,
                    b->cuda ? " free" : "", most);
}

// room <- these bytes
static snw_status device_fill(snw_device_batch *b, device_room *room, const void *from,
                              size_t bytes, snw_error *err) {
    if (room->bytes < bytes) {
        device_free(b, room->at);
        b->bytes -= room->bytes;
        *room = (device_room){0};
        SNW_TRY(device_alloc(b, bytes, &room->at, err));
        room->bytes = bytes;
    }
    return device_write(b, from, bytes, room->at, err);
}

// ---- kernels ------------------------------------------------------------------------------------

typedef struct device_options {
    int n;
    char text[MOST_CONSTANTS][CONSTANT_LENGTH];
    const char *option[MOST_CONSTANTS];
} device_options;

static void take_constant(void *user, const char *name, int value) {
    device_options *o = user;
    SNW_ASSERT(o->n < MOST_CONSTANTS);
    (void)snprintf(o->text[o->n], CONSTANT_LENGTH, "-D%s=%d", name, value);
    o->option[o->n] = o->text[o->n];
    o->n++;
}

// Points of the rule with the most points along a slice.
static int magnus_points(const snw_model *m) {
    int most = 1;
    for (int i = 0; i < m->nrod; i++) most = most > m->rod[i].nc ? most : m->rod[i].nc;
    return most;
}

static snw_status compile_kernels(snw_device_batch *b, const void *model, size_t scratch,
                                  snw_error *err) {
    static const char *const names[SNW_DEVICE_CALLS] = {"snw_start", "snw_steps", "snw_points"};
    device_options *o = snw_alloc(sizeof *o);
    if (!o) return snw_fail_memory(err);
    b->engine->constants(model, take_constant, o);
    take_constant(o, "SNW_POINTS", magnus_points(b->robot->m));
    take_constant(o, "SNW_SCRATCH", (int)scratch);
    take_constant(o, "SNW_BLOCK", BLOCK);
    take_constant(o, "SNW_LAWS", b->stream->laws);
    if (b->single) take_constant(o, "SNW_FLOATS", 1);
    take_constant(o, "SNW_TIME_LAWS", b->time_laws);
    snw_status s =
        snw_cuda_compile(b->cuda, snw_device_text, snw_device_pieces, o->option, o->n, err);
    snw_free(o);
    for (int i = 0; s == SNW_OK && i < SNW_DEVICE_CALLS; i++)
        s = snw_cuda_kernel(b->cuda, names[i], &b->kernel[i], err);
    return s;
}

static snw_status launch(snw_device_batch *b, snw_device_call call, snw_error *err) {
    if (b->cuda) {
        void *arguments[] = {&b->args};
        int lanes = call == SNW_DEVICE_POINTS ? 1 : b->most_lanes;
        while (lanes > 1 && b->n > RESIDENT / lanes) lanes /= 2;
        b->args.lanes = lanes;
        return snw_cuda_launch(b->cuda, b->kernel[call], b->n * lanes, BLOCK, arguments, err);
    }
    for (int i = 0; i < b->n; i++) b->engine->call[call](&b->args, i, b->scratch);
    return SNW_OK;
}

// ---- model --------------------------------------------------------------------------------------

// Upper bound of the bytes that the device's form of the model takes: each number of the stream
// belongs to an array whose elements are at most the largest struct of the model.
static size_t model_room(const snw_model *m, const snw_model_stream *stream) {
    const size_t elements =
        (size_t)(m->nseg + m->npath + m->npose + m->nblock + m->nspring + m->nslice + m->nrod +
                 m->nload + m->nload_point + m->ntendon + m->ntendon_point + m->ntendon_segment +
                 m->nv + m->nloop + m->ndrive + m->nforce_element + m->nfluid + m->nfluid_point +
                 m->nvariable_node + m->nsignal + m->nstation + m->nstress + m->npoint + m->nmotor +
                 m->nobs + m->ncontact + m->ncontact_point + m->nstop + 64);
    const size_t rows = (size_t)(m->nv + m->nconstraint); // of the matrix
    return sizeof *m + (stream->nwhole + stream->nnumber) * 16 + elements * (sizeof(snw_rod) + 64) +
           (size_t)m->nslice * SNW_MAGNUS_POINTS * sizeof(snw_twist) +
           rows * (rows + 8) * sizeof(size_t) + 4096; // order of elimination
}

// Makes `n` models, one after the other, from as many rows of numbers on the device.
static snw_status make_models(snw_device_batch *b, int n, snw_error *err) {
    const snw_model_stream *stream = b->stream;
    size_t nnumber = stream->nnumber, room = b->model_bytes;
    int is_bad = 0;
    if (b->cuda) {
        void *kernel, *bad = NULL;
        SNW_TRY(snw_cuda_kernel(b->cuda, "snw_model", &kernel, err));
        SNW_TRY(device_alloc(b, sizeof(int), &bad, err)); // zero
        void *arguments[] = {&b->whole, &b->number, &nnumber, &b->model, &room, &n, &bad};
        snw_status s = snw_cuda_launch(b->cuda, kernel, n, BLOCK, arguments, err);
        if (s == SNW_OK) s = device_read(b, bad, sizeof is_bad, &is_bad, err);
        device_free(b, bad);
        b->bytes -= sizeof(int);
        SNW_TRY(s);
    } else {
        for (int i = 0; i < n; i++) {
            const double *number = (const double *)b->number + (size_t)i * nnumber;
            unsigned char *to = (unsigned char *)b->model + (size_t)i * room;
            memset(to, 0, room);
            is_bad |= !b->engine->model(b->whole, number, stream->laws, to, room);
        }
    }
    b->models_stale = false;
    if (!is_bad) return SNW_OK;
    return snw_fail(err, SNW_E_MEMORY, "the model does not fit its memory on the device");
}

// The model that all robots have until they get numbers of their own.
static snw_status create_model(snw_device_batch *b, snw_error *err) {
    const snw_model_stream *s = b->stream;
    SNW_TRY(device_alloc(b, s->nwhole * sizeof(int), &b->whole, err));
    SNW_TRY(device_alloc(b, s->nnumber * sizeof(double), &b->number, err));
    SNW_TRY(device_alloc(b, b->model_bytes, &b->model, err));
    SNW_TRY(device_write(b, s->whole, s->nwhole * sizeof(int), b->whole, err));
    SNW_TRY(device_write(b, s->number, s->nnumber * sizeof(double), b->number, err));
    return make_models(b, 1, err);
}

static snw_status create_arrays(snw_device_batch *b, snw_error *err) {
    const snw_model *m = b->robot->m;
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv;
    const size_t ninput = (size_t)b->ninput;
    const size_t energies = (size_t)snw_device_energies(snw_npower(m), snw_touches(m));
    const size_t nconstraint = (size_t)m->nconstraint, nsignal = (size_t)m->nsignal;
    size_t n = 1, each = 0;
#define X(name, bytes, meaning) each += bytes;
    DEVICE_BATCH_FIELDS(X)
#undef X
    SNW_TRY(check_room(b, each, b->model_bytes, err));
    n = (size_t)b->n;
#define X(name, bytes, meaning) SNW_TRY(device_alloc(b, bytes, &b->name, err));
    DEVICE_BATCH_FIELDS(X)
#undef X
    return SNW_OK;
}

// q, v and the state to begin again in <- the initial state of the robot on the host.
static snw_status fill_arrays(snw_device_batch *b, snw_error *err) {
    const snw_model *m = b->robot->m;
    const size_t n = (size_t)b->n;
    int *status = snw_alloc(n * sizeof *status);
    double *row = snw_alloc(n * sizeof *row);
    snw_status s = status && row ? SNW_OK : snw_fail_memory(err);
    for (size_t i = 0; s == SNW_OK && i < n; i++) status[i] = SNW_DEVICE_NOT_STARTED;
    if (s == SNW_OK) s = device_write(b, status, n * sizeof *status, b->status, err);
    for (int k = 0; s == SNW_OK && k < m->nq + m->nv; k++) {
        const double x = k < m->nq ? b->robot->s->q[k] : b->robot->s->v[k - m->nq];
        for (size_t i = 0; i < n; i++) row[i] = x;
        double *to = k < m->nq ? (double *)b->q + (size_t)k * n
                               : (double *)b->past + (size_t)(k - m->nq) * n;
        s = device_write(b, row, n * sizeof *row, to, err);
        if (s == SNW_OK)
            s = device_write(b, row, n * sizeof *row, (double *)b->home + (size_t)k * n, err);
    }
    snw_free(status);
    snw_free(row);
    return s;
}

// Why the device does not serve these steps, in words; NULL: it does.
static const char *device_refuses(const snw_implicit *im) {
    const snw_model *m = im->m;
    if (m->nv + m->nconstraint > MOST_UNKNOWNS)
        return "robots of more than 600 coordinates and rows";
    for (int i = 0; i < m->nloop; i++) {
        if (m->loop[i].nredundant > 0) return "loops with redundant constraint rows";
    }
    if (snw_memory_has_events(m)) return "samples, latches and conditions in laws";
    for (int i = 0; i < m->nlive; i++) {
        const snw_signal *signal = &m->signal[m->live[i]];
        if (signal->reading == SNW_READ_STRAIN && signal->station >= 0 && !signal->table)
            return "laws that read strains which vary with the material or by a law";
    }
    return snw_packs_refuse(im, true);
}

// SNW_E_ARGUMENT where the device does not serve this model.
static snw_status check_model(snw_device_batch *b, snw_error *err) {
    const snw_robot_steps steps = snw_robot_steps_defaults(1e-3);
    SNW_TRY(snw_robot_start(b->robot, &steps, err));
    const char *why = device_refuses(b->robot->integrator.implicit);
    if (!why) return SNW_OK;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "graphics processors do not compute %s; use a batch on the processor's cores",
                    why);
}

// "cuda" or "cuda:1" -> its number; "host" -> -1
static snw_status parse_device(const char *device, int *index, snw_error *err) {
    char *end = NULL;
    *index = -1;
    if (strcmp(device, "host") == 0) return SNW_OK;
    *index = 0;
    if (strcmp(device, "cuda") == 0) return SNW_OK;
    if (strncmp(device, "cuda:", 5) == 0 && device[5] >= '0' && device[5] <= '9') {
        const long number = strtol(device + 5, &end, 10);
        *index = (int)number;
        if (*end == 0 && number < 1000) return SNW_OK;
    }
    return snw_fail(err, SNW_E_ARGUMENT,
                    "there is no device '%.40s'; there are cuda, cuda:1 and so on, and host",
                    device);
}

// Can the device evaluate the laws of time? Integrals of rates and given strains are left to the
// host.
static bool device_evaluates_laws(const snw_model *m) {
    bool can = m->nfield == 0;
    for (int i = 0; i < m->ndrive; i++) can &= !m->drive[i].rate_integral;
    return can;
}

static snw_status device_open(snw_device_batch *b, snw_robot_model *m, int index, snw_error *err) {
    SNW_TRY(snw_robot_from_model(m, &b->robot, err));
    SNW_TRY(check_model(b, err));
    const snw_model *compiled = b->robot->m;
    b->ninput = snw_robot_inputs(b->robot);
    b->taken = snw_alloc((size_t)snw_actuators(b->robot->desc) + 1);
    const size_t nlaw = 3 + snw_inputs_doubles(compiled);
    b->block[0] = snw_alloc(nlaw * sizeof(double));
    b->block[1] = snw_alloc(nlaw * sizeof(double));
    if (!b->taken || !b->block[0] || !b->block[1]) return snw_fail_memory(err);
    if (index >= 0) SNW_TRY(snw_cuda_open(index, &b->cuda, err));
    SNW_TRY(snw_model_stream_create(compiled, &b->stream));
    b->time_laws = b->stream->laws && device_evaluates_laws(compiled);
    SNW_TRY(snw_inputs_create(compiled, &b->own_in));
    const size_t room = model_room(compiled, b->stream);
    unsigned char *host = snw_alloc(room);
    snw_status s = host ? SNW_OK : snw_fail_memory(err);
    const size_t used =
        host ? b->engine->model(b->stream->whole, b->stream->number, b->stream->laws, host, room)
             : 0;
    if (s == SNW_OK && !used) s = snw_fail(err, SNW_E_MEMORY, "the model does not fit its memory");
    b->model_bytes = (used + 255) / 256 * 256; // the device's form is not larger
    const size_t scratch = s == SNW_OK ? b->engine->scratch(host) : 0;
    if (s == SNW_OK && b->single && !b->engine->is_compact(host))
        s = snw_fail(err, SNW_E_ARGUMENT,
                     "single precision serves trees of rods, joints and bodies with loads, laws of "
                     "time, tendons and chambers only; take double precision for loops, driven "
                     "coordinates, fluids, variable lengths, springs between sites and laws that "
                     "read signals");
    // the workspace of a large robot does not fit the stack of a thread
    b->scratch_bytes = b->cuda && scratch > THREAD_BYTES ? (scratch + 15) / 16 * 16 : 0;
    if (s == SNW_OK) b->most_lanes = b->scratch_bytes ? 1 : b->engine->lanes(host);
    if (s == SNW_OK && b->cuda) s = compile_kernels(b, host, b->scratch_bytes ? 16 : scratch, err);
    if (s == SNW_OK && !b->cuda && !(b->scratch = snw_alloc(scratch))) s = snw_fail_memory(err);
    snw_free(host);
    SNW_TRY(s);
    SNW_TRY(create_arrays(b, err));
    SNW_TRY(create_model(b, err));
    b->args = (snw_device_args){.model = b->model,
                                .n = b->n,
                                .q = b->q,
                                .past = b->past,
                                .h = b->h,
                                .mass = b->mass,
                                .onset = b->onset,
                                .lambda = b->lambda,
                                .z = b->z,
                                .time_laws = b->time_laws,
                                .energy = b->energy,
                                .status = b->status,
                                .iterations = b->iterations,
                                .tangents = b->tangents,
                                .u = b->u,
                                .scratch = b->scratch_bytes ? b->workspace : NULL,
                                .scratch_bytes = b->scratch_bytes,
                                .nlaw = (int)nlaw};
    return fill_arrays(b, err);
}

snw_status snw_device_batch_create(snw_robot_model *m, int n, const char *device,
                                   snw_device_batch **out, snw_error *err) {
    return snw_device_batch_create_with(m, n, device, 0, out, err);
}

snw_status snw_device_batch_create_with(snw_robot_model *m, int n, const char *device,
                                        int single_precision, snw_device_batch **out,
                                        snw_error *err) {
    int index = 0;
    if (!m || !device || !out)
        return snw_fail(err, SNW_E_ARGUMENT, "the model, the device or the result is NULL");
    *out = NULL;
    if (n < 1) return snw_fail(err, SNW_E_ARGUMENT, "a batch needs at least one robot, got %d", n);
    SNW_TRY(parse_device(device, &index, err));
    snw_device_batch *b = snw_alloc(sizeof *b);
    if (!b) return snw_fail_memory(err);
    b->n = n;
    b->account = true;
    b->single = single_precision != 0;
    b->engine = b->single ? &snw_device_single : &snw_device_double;
    const snw_status s = device_open(b, m, index, err);
    if (s != SNW_OK) {
        snw_device_batch_close(b);
        return s;
    }
    *out = b;
    return SNW_OK;
}

void snw_device_batch_close(snw_device_batch *b) {
    if (!b) return;
#define X(name, bytes, meaning) device_free(b, b->name);
    DEVICE_BATCH_FIELDS(X)
#undef X
    device_free(b, b->model), device_free(b, b->whole), device_free(b, b->number);
    device_room *const rooms[] = {&b->taken_laws,   &b->zero,       &b->one,       &b->laws,
                                  &b->steady_steps, &b->maps,       &b->point_seg, &b->point_at,
                                  &b->point,        &b->point_rate, &b->columns,   &b->column_phi,
                                  &b->probe};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) device_free(b, rooms[i]->at);
    snw_cuda_close(b->cuda);
    for (int i = 0; b->own && i < b->n; i++) snw_robot_model_close(b->own[i]);
    snw_free(b->own);
    snw_inputs_destroy(b->own_in);
    snw_model_stream_destroy(b->stream);
    snw_robot_close(b->robot);
    snw_free(b->scratch);
    snw_free(b->taken);
    snw_free(b->map);
    snw_free(b->law[0]);
    snw_free(b->law[1]);
    snw_free(b->steady);
    snw_free(b->block[0]);
    snw_free(b->block[1]);
    snw_free(b);
}

int snw_device_batch_size(const snw_device_batch *b) { return b ? b->n : 0; }
int snw_device_batch_nq(const snw_device_batch *b) { return b ? b->robot->m->nq : 0; }
int snw_device_batch_nv(const snw_device_batch *b) { return b ? b->robot->m->nv : 0; }
int snw_device_batch_inputs(const snw_device_batch *b) { return b ? b->ninput : 0; }
const char *snw_device_batch_name(const snw_device_batch *b) {
    return b && b->cuda ? snw_cuda_name(b->cuda) : "host";
}
size_t snw_device_batch_bytes(const snw_device_batch *b) { return b ? b->bytes : 0; }
double snw_device_batch_time(const snw_device_batch *b) { return b ? b->robot->s->t : NAN; }
double *snw_device_batch_q(snw_device_batch *b) { return b ? b->q : NULL; }
double *snw_device_batch_v(snw_device_batch *b) { return b ? b->past : NULL; }
double *snw_device_batch_u(snw_device_batch *b) { return b ? b->u : NULL; }
double *snw_device_batch_home(snw_device_batch *b) { return b ? b->home : NULL; }
int *snw_device_batch_status(snw_device_batch *b) { return b ? b->status : NULL; }

const char *snw_device_batch_status_text(int status) {
    switch ((snw_device_status)status) {
    case SNW_DEVICE_OK:
        return "it steps";
    case SNW_DEVICE_NOT_STARTED:
        return "it has not been started";
    case SNW_DEVICE_NOT_FINITE:
        return "a number of its state, or a force, is not finite";
    case SNW_DEVICE_MASSLESS:
        return "its mass matrix is singular";
    case SNW_DEVICE_DIVERGED:
        return "no motion was found, however short the steps";
    case SNW_DEVICE_ENERGY:
        return "the scheme creates or loses energy: its steps are too long; ask for shorter ones";
    case SNW_DEVICE_DRAWN:
        return "a law draws a rod of variable length in completely";
    case SNW_DEVICE_OPEN:
        return "its loops cannot be closed from here, or driven coordinates cannot follow their "
               "laws";
    case SNW_DEVICE_SHORT_STEPS:
        return "it needs shorter steps than asked for while laws of the file vary; ask for shorter "
               "ones";
    case SNW_DEVICE_DEEP:
        return "a link is nearly as deep in an obstacle as its middle and would come out on "
               "another side; write a larger stiffness";
    case SNW_DEVICE_MANY:
        return "contacts ask for too many short steps; ask for shorter ones";
    case SNW_DEVICE_DEPENDENT:
        return "rows of its wheels or contacts without slip are redundant in this configuration, "
               "which only a robot on the processor's cores resolves";
    }
    return "unknown";
}

snw_status snw_device_batch_read(snw_device_batch *b, const void *from, size_t bytes, void *to,
                                 snw_error *err) {
    if (!b || !from || !to) return snw_fail(err, SNW_E_ARGUMENT, "an argument is NULL");
    return device_read(b, from, bytes, to, err);
}

snw_status snw_device_batch_write(snw_device_batch *b, const void *from, size_t bytes, void *to,
                                  snw_error *err) {
    if (!b || !from || !to) return snw_fail(err, SNW_E_ARGUMENT, "an argument is NULL");
    return device_write(b, from, bytes, to, err);
}

snw_status snw_device_batch_set_stream(snw_device_batch *b, void *stream, snw_error *err) {
    if (!b) return snw_fail(err, SNW_E_ARGUMENT, "the batch is NULL");
    return b->cuda ? snw_cuda_use_stream(b->cuda, stream, err) : SNW_OK;
}

void *snw_device_batch_stream(const snw_device_batch *b) {
    return b && b->cuda ? snw_cuda_stream(b->cuda) : NULL;
}

snw_status snw_device_batch_order(snw_device_batch *b, void *stream, int batch_waits,
                                  snw_error *err) {
    if (!b) return snw_fail(err, SNW_E_ARGUMENT, "the batch is NULL");
    if (!b->cuda || stream == snw_cuda_stream(b->cuda)) return SNW_OK;
    void *own = snw_cuda_stream(b->cuda);
    return snw_cuda_order(b->cuda, batch_waits ? stream : own, batch_waits ? own : stream, err);
}

// ---- parameters ---------------------------------------------------------------------------------

// Arrays of own numbers and models, with those of the model for all robots.
static snw_status create_own_models(snw_device_batch *b, snw_error *err) {
    const size_t n = (size_t)b->n, row = b->stream->nnumber * sizeof(double);
    void *number = NULL, *model = NULL;
    if (b->args.model_bytes) return SNW_OK;
    SNW_TRY(check_room(b, b->model_bytes + row, 0, err));
    b->own = snw_alloc(n * sizeof *b->own);
    if (!b->own) return snw_fail_memory(err);
    snw_status s = device_alloc(b, n * row, &number, err);
    if (s == SNW_OK) s = device_alloc(b, n * b->model_bytes, &model, err);
    for (size_t i = 0; s == SNW_OK && i < n; i++)
        s = device_write(b, b->stream->number, row, (char *)number + i * row, err);
    if (s != SNW_OK) {
        device_free(b, number), device_free(b, model);
        snw_free(b->own);
        b->own = NULL;
        return s;
    }
    device_free(b, b->number), device_free(b, b->model);
    b->bytes -= row + b->model_bytes;
    b->number = number, b->model = model;
    b->args.model = model;
    b->args.model_bytes = b->model_bytes;
    b->models_stale = true;
    return SNW_OK;
}

static bool same_law(snw_law a, snw_law b) { return a == b || (a && b && snw_expr_same(a, b)); }

static bool same_laws(int n, const snw_law *a, const snw_law *b) {
    bool same = true;
    for (int i = 0; i < n; i++) same &= same_law(a[i], b[i]);
    return same;
}

// Are gravity and inputs of both models, of one structure, the same at all times?
static bool same_inputs(const snw_model *a, const snw_model *b) {
    bool same = same_laws(3, a->gravity, b->gravity);
    for (int i = 0; i < a->npose; i++) {
        const snw_pose_desc *x = &a->pose[i], *y = &b->pose[i];
        same &= same_laws(3, x->xyz, y->xyz) && memcmp(&x->R0, &y->R0, sizeof x->R0) == 0;
        for (int k = 0; k < x->nturn; k++)
            same &= same_law(x->turn[k].angle, y->turn[k].angle) &&
                    memcmp(&x->turn[k].axis, &y->turn[k].axis, sizeof x->turn[k].axis) == 0;
    }
    for (int i = 0; i < a->nload; i++) {
        same &= same_laws(3, a->load[i].force, b->load[i].force) &&
                same_laws(3, a->load[i].torque, b->load[i].torque) &&
                same_law(a->load[i].when, b->load[i].when);
    }
    for (int i = 0; i < a->nload_point; i++)
        same &=
            a->load_point[i].w == b->load_point[i].w && a->load_point[i].x == b->load_point[i].x;
    for (int i = 0; i < a->nstress; i++) {
        same &= same_laws(6, a->stress[i].stress, b->stress[i].stress) &&
                same_law(a->stress[i].when, b->stress[i].when);
    }
    for (int i = 0; a->nstress && i < a->nrod; i++) same &= a->rod[i].L == b->rod[i].L;
    for (int i = 0; a->nstress && i < a->npoint; i++) same &= a->point[i].w == b->point[i].w;
    for (int i = 0; i < a->nmotor; i++) {
        const snw_motor *x = &a->motor[i], *y = &b->motor[i];
        same &= same_law(x->when, y->when) && !x->law == !y->law &&
                (!x->law || same_laws(x->n, x->law, y->law));
    }
    for (int i = 0; i < a->ntendon; i++) {
        const snw_tendon *x = &a->tendon[i], *y = &b->tendon[i];
        same &= same_law(x->law, y->law) && same_law(x->when, y->when) &&
                same_law(x->temperature, y->temperature) && same_law(x->ambient, y->ambient);
    }
    // laws of parts that the device refuses or that are rare are taken to differ
    return same && !a->ndrive && !a->nfield && !a->nfluid;
}

snw_status snw_device_batch_set_parameters(snw_device_batch *b, int robot, int nset,
                                           const char *const *set, snw_error *err) {
    if (!b || (nset > 0 && !set)) return snw_fail(err, SNW_E_ARGUMENT, "an argument is NULL");
    if (robot < 0 || robot >= b->n)
        return snw_fail(err, SNW_E_ARGUMENT, "there is no robot %d, the batch has %d", robot, b->n);
    if (b->robot->rows)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "robots whose loops have redundant rows have no parameters of their own on "
                        "a device");
    snw_robot_model *model = NULL;
    snw_model_stream *stream = NULL;
    const snw_model *base = b->robot->m;
    SNW_TRY(snw_robot_model_sample(b->robot->model, nset, set, base, &model, err));
    const snw_model *m = model->compiled;
    snw_status s = snw_model_stream_create(m, &stream);
    const bool alike = s == SNW_OK && snw_model_stream_alike(stream, b->stream);
    if (alike && !snw_model_stream_same_laws(b->stream, stream))
        s = snw_fail(err, SNW_E_ARGUMENT,
                     "these parameters change the operations of a law or the place of a probe, "
                     "which all robots of a batch have in common: a law that becomes constant, or "
                     "an exponent; choose values that only change numbers in it");
    if (s == SNW_OK && !alike)
        s = snw_fail(err, SNW_E_ARGUMENT,
                     "these parameters change the structure of the model, which all robots of a "
                     "batch have in common");
    if (s == SNW_OK) s = create_own_models(b, err);
    const size_t n = (size_t)b->n, i = (size_t)robot, row = b->stream->nnumber * sizeof(double);
    if (s == SNW_OK) s = device_write(b, stream->number, row, (char *)b->number + i * row, err);
    for (int k = 0; s == SNW_OK && k < m->nq + m->nv; k++) {
        const double x = k < m->nq ? m->q0[k] : m->v0[k - m->nq];
        s = device_write(b, &x, sizeof x, (double *)b->home + (size_t)k * n + i, err);
    }
    const int waits = SNW_DEVICE_NOT_STARTED;
    if (s == SNW_OK) s = device_write(b, &waits, sizeof waits, (int *)b->status + i, err);
    snw_model_stream_destroy(stream);
    if (s != SNW_OK) {
        snw_robot_model_close(model);
        return s;
    }
    const bool same = b->time_laws || same_inputs(m, base); // as far as the host evaluates them
    b->nown += (same ? 0 : 1) - (b->own[i] ? 1 : 0);
    snw_robot_model_close(b->own[i]);
    b->own[i] = same ? NULL : model;
    if (same) snw_robot_model_close(model);
    b->args.own_laws = b->nown > 0;
    b->models_stale = true;
    return SNW_OK;
}

// ---- inputs -------------------------------------------------------------------------------------

// block <- gravity and inputs at time t; inputs that the caller gives are those in robot->u
static snw_status laws_at(snw_device_batch *b, double t, double *block, snw_error *err) {
    const snw_model *m = b->robot->m;
    SNW_TRY(snw_robot_apply_inputs(b->robot, err));
    snw_inputs_at(m, t, b->robot->in);
    b->robot->inputs_stale = true;
    memcpy(block, b->robot->in->gravity.e, 3 * sizeof *block);
    memcpy(block + 3, b->robot->in->block, snw_inputs_doubles(m) * sizeof *block);
    return SNW_OK;
}

static snw_status add_map(snw_device_batch *b, int input, int at, double by, snw_error *err) {
    if (b->nmap == b->map_room) {
        const int room = 2 * b->map_room + 16;
        snw_device_map *map = snw_alloc((size_t)room * sizeof *map);
        if (!map) return snw_fail_memory(err);
        if (b->nmap) memcpy(map, b->map, (size_t)b->nmap * sizeof *map);
        snw_free(b->map);
        b->map = map;
        b->map_room = room;
    }
    b->map[b->nmap++] = (snw_device_map){.input = input, .at = at, .by = by};
    return SNW_OK;
}

// Numbers of the inputs that change with input k of robot->u, which is 0, found by setting it to 1
// and to 2, now and later: they must be proportional to it and must not depend on time.
static snw_status map_input(snw_device_batch *b, int k, const char *name, snw_error *err) {
    const size_t n = snw_inputs_doubles(b->robot->m);
    for (int later = 0; later < 2; later++) {
        const double t = b->robot->s->t + 0.37 * later;
        for (int twice = 0; twice < 2; twice++) {
            b->robot->u[k] = 0;
            SNW_TRY(laws_at(b, t, b->block[0], err));
            b->robot->u[k] = 1 + twice;
            SNW_TRY(laws_at(b, t, b->block[1], err));
            b->robot->u[k] = 0;
            int found = 0;
            for (size_t i = 0; i < n; i++) {
                const double by = (b->block[1][3 + i] - b->block[0][3 + i]) / (1 + twice);
                double known = 0;
                for (int j = 0; j < b->nmap; j++) {
                    if (b->map[j].input == k && b->map[j].at == (int)i)
                        known = b->map[j].by, found++;
                }
                if (later == 0 && twice == 0) {
                    if (by != 0) SNW_TRY(add_map(b, k, (int)i, by, err));
                } else if (!(fabs(by - known) <= 1e-12 * fabs(known))) {
                    return snw_fail(err, SNW_E_ARGUMENT,
                                    "actuator '%s' cannot be taken over on the device: its action "
                                    "is not a constant times its input",
                                    name);
                }
            }
        }
    }
    return SNW_OK;
}

// To the device: motors and tendons whose laws do not act since the caller gives their inputs.
static snw_status send_taken(snw_device_batch *b, snw_error *err) {
    const snw_model *m = b->robot->m;
    const snw_manual_inputs *manual = b->robot->in->manual;
    const size_t nmotor = (size_t)m->nmotor, ntendon = (size_t)m->ntendon;
    const size_t ntaken = nmotor + ntendon + (size_t)m->nload, nzero = 18 + nmotor + 3 * ntendon;
    bool *taken = snw_alloc(ntaken + 1);
    double *number = snw_alloc((nzero + (size_t)m->nstress) * sizeof *number);
    snw_status s = taken && number ? SNW_OK : snw_fail_memory(err);
    for (size_t i = 0; s == SNW_OK && manual && i < nmotor + ntendon; i++)
        taken[i] = i < nmotor ? manual->motor_given[i] : manual->tendon_given[i - nmotor];
    for (int i = 0; s == SNW_OK && i < m->nstress; i++) { // in the precision of the device
        if (b->single) {
            const float one = 1;
            memcpy((float *)(number + nzero) + i, &one, sizeof one);
        } else {
            number[nzero + (size_t)i] = 1;
        }
    }
    if (s == SNW_OK) s = device_fill(b, &b->taken_laws, taken, ntaken, err);
    if (s == SNW_OK) s = device_fill(b, &b->zero, number, nzero * sizeof *number, err);
    if (s == SNW_OK)
        s = device_fill(b, &b->one, number + nzero, (size_t)m->nstress * sizeof *number, err);
    snw_free(taken);
    snw_free(number);
    b->args.taken = b->taken_laws.at;
    b->args.zero = b->zero.at;
    b->args.one = b->one.at;
    return s;
}

// The inputs of all actuators that are taken, again.
static snw_status map_inputs(snw_device_batch *b, snw_error *err) {
    snw_robot *r = b->robot;
    b->nmap = 0;
    for (int a = 0, first = 0; a < snw_actuators(r->desc); a++) {
        const int size = snw_robot_actuator_size(r, a);
        for (int k = 0; k < size; k++) r->u[first + k] = b->taken[a] ? 0 : snw_input_law();
        if (!b->taken[a] && snw_actuator_at(r->desc, a).stress) r->u[first] = 1;
        first += size;
    }
    for (int a = 0, first = 0; a < snw_actuators(r->desc); a++) {
        const int size = snw_robot_actuator_size(r, a);
        for (int k = 0; b->taken[a] && k < size; k++)
            SNW_TRY(map_input(b, first + k, snw_actuator_at(r->desc, a).name, err));
        first += size;
    }
    SNW_TRY(snw_robot_apply_inputs(r, err));
    SNW_TRY(device_fill(b, &b->maps, b->map, (size_t)b->nmap * sizeof *b->map, err));
    b->args.map = b->maps.at;
    b->args.nmap = b->nmap;
    return b->stream->laws ? send_taken(b, err) : SNW_OK;
}

snw_status snw_device_batch_take(snw_device_batch *b, int actuator, int taken, snw_error *err) {
    if (!b) return snw_fail(err, SNW_E_ARGUMENT, "the batch is NULL");
    SNW_TRY(snw_robot_check_actuator(b->robot, actuator, err));
    const snw_actuator a = snw_actuator_at(b->robot->desc, actuator);
    if (taken && (a.stress || a.control->given != SNW_GIVEN_EFFORT)) {
        return snw_fail(err, SNW_E_ARGUMENT,
                        "actuator '%s' cannot be taken over on the device: only efforts, tensions "
                        "and pressures can",
                        a.name);
    }
    const bool before = b->taken[actuator];
    b->taken[actuator] = taken != 0;
    snw_status s = map_inputs(b, err);
    if (s != SNW_OK) {
        snw_error ignored = {0};
        b->taken[actuator] = before;
        (void)!map_inputs(b, &ignored);
    }
    return s;
}

// ---- motion -------------------------------------------------------------------------------------

// Numbers of a row of laws.
static size_t law_width(const snw_device_batch *b) {
    return (size_t)b->args.nlaw * (b->args.own_laws ? (size_t)b->n : 1);
}

// row <- laws at time t, of each robot where some have laws of their own
static snw_status law_row(snw_device_batch *b, double t, double *row, snw_error *err) {
    if (!b->args.own_laws) return laws_at(b, t, row, err);
    const size_t n = (size_t)b->n, nlaw = (size_t)b->args.nlaw;
    const snw_model *m = b->robot->m;
    double *own = b->block[1];
    SNW_TRY(laws_at(b, t, b->block[0], err));
    b->own_in->manual = b->robot->in->manual;
    for (size_t i = 0; i < n; i++) {
        if (b->own[i]) {
            snw_inputs_at(b->own[i]->compiled, t, b->own_in);
            memcpy(own, b->own_in->gravity.e, 3 * sizeof *own);
            memcpy(own + 3, b->own_in->block, snw_inputs_doubles(m) * sizeof *own);
        }
        const double *from = b->own[i] ? own : b->block[0];
        for (size_t k = 0; k < nlaw; k++) row[k * n + i] = from[k];
    }
    return SNW_OK;
}

// Room for the rows of `count` steps, and one more.
static snw_status reserve_laws(snw_device_batch *b, int count, snw_error *err) {
    const size_t numbers = (size_t)(3 * count + 2) * law_width(b);
    if (b->law_room[0] < numbers) {
        snw_free(b->law[0]);
        b->law_room[0] = 0;
        b->law[0] = snw_alloc(numbers * sizeof(double));
        if (!b->law[0]) return snw_fail_memory(err);
        b->law_room[0] = numbers;
    }
    if (b->steady_room < count + 1) {
        snw_free(b->steady);
        b->steady_room = 0;
        b->steady = snw_alloc((size_t)(count + 1));
        if (!b->steady) return snw_fail_memory(err);
        b->steady_room = count + 1;
    }
    return SNW_OK;
}

// Rows of laws of `count` steps of h seconds, and whether they are constant within each.
static snw_status set_laws(snw_device_batch *b, double h, int count, snw_error *err) {
    const size_t n = law_width(b), row = n * sizeof(double);
    static const double within[] = {0.29, 0.53, 0.83};
    bool steady = true;
    double *const was = b->law[1];
    const size_t room = b->law_room[1], nsent = b->nsent;
    b->law[1] = b->law[0], b->law_room[1] = b->law_room[0]; // on the device
    b->law[0] = was, b->law_room[0] = room;
    b->nsent = 0;
    SNW_TRY(reserve_laws(b, count, err));
    double t = b->robot->s->t, *law = b->law[0];
    const size_t numbers = (size_t)(3 * count + 1) * n;
    SNW_TRY(law_row(b, t + snw_time_resolution(t), law, err));
    for (int k = 0; k < count; k++) {
        double *begin = law + 3 * (size_t)k * n, *end = begin + 3 * n;
        SNW_TRY(law_row(b, t + h, end, err));
        b->steady[k] = memcmp(end, begin, row) == 0;
        for (size_t j = 0; b->steady[k] && j < sizeof within / sizeof *within; j++) {
            SNW_TRY(law_row(b, t + within[j] * h, law + numbers, err));
            b->steady[k] = memcmp(end, law + numbers, row) == 0;
        }
        steady &= b->steady[k];
        for (size_t j = 0; j < SNW_ACCOUNT_POINTS; j++)
            SNW_TRY(law_row(b, t + snw_account_point[j] * h, begin + (1 + j) * n, err));
        t = t + h;
    }
    // copies to the device wait for the steps before: none where the laws are those of the last
    // call
    if (!steady || !b->steady_sent || nsent != numbers ||
        memcmp(law, b->law[1], numbers * sizeof *law) != 0) {
        SNW_TRY(device_fill(b, &b->laws, law, numbers * sizeof *law, err));
        SNW_TRY(device_fill(b, &b->steady_steps, b->steady, (size_t)count, err));
    }
    b->nsent = numbers;
    b->steady_sent = steady;
    b->args.law = b->laws.at;
    b->args.steady = b->steady_steps.at;
    return SNW_OK;
}

// Models with the present numbers, and the laws of a call.
static snw_status prepare_call(snw_device_batch *b, double h, int count, snw_error *err) {
    if (b->models_stale) SNW_TRY(make_models(b, b->n, err));
    b->args.t = b->robot->s->t;
    b->args.count = count;
    b->args.step = h;
    return b->time_laws ? SNW_OK : set_laws(b, h, count, err);
}

snw_status snw_device_batch_start(snw_device_batch *b, const snw_robot_steps *how,
                                  const unsigned char *at, snw_error *err) {
    if (!b || !how) return snw_fail(err, SNW_E_ARGUMENT, "%s is NULL", b ? "how" : "the batch");
    const double t = b->robot->s->t;
    SNW_TRY(snw_robot_start(b->robot, how, err));
    b->robot->s->t = t;
    const snw_implicit *im = b->robot->integrator.implicit;
    const char *why = im ? device_refuses(im) : "schemes other than those of one implicit step";
    if (why)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "graphics processors do not compute %s; use a batch on the processor's "
                        "cores",
                        why);
    const snw_scheme backward_euler = snw_scheme_of_levels((snw_levels){.past = 1});
    _Static_assert(sizeof b->args.scheme == sizeof im->opts.scheme, "the same members");
    memcpy(&b->args.scheme, &im->opts.scheme, sizeof b->args.scheme);
    memcpy(&b->args.euler, &backward_euler, sizeof b->args.euler);
    b->args.patience = SNW_LIVE_PATIENCE;
    b->args.tighten = im->opts.tighten;
    b->args.tolerance = b->single ? fmax(im->opts.tolerance, SINGLE_TOLERANCE) : im->opts.tolerance;
    b->args.max_iter = im->opts.max_iter;
    b->args.longest = b->robot->how.step;
    b->args.loss_limit = im->loss_limit;
    b->args.project_end = im->undamped && !im->opts.undamped_velocities;
    b->args.account = b->account && !b->single &&
                      (snw_touches(im->m) ||
                       (im->opts.scheme.loss_known && snw_scheme_overshoot(&im->opts.scheme) > 0));
    b->started = true;
    return snw_device_batch_restart(b, at, err);
}

snw_status snw_device_batch_restart(snw_device_batch *b, const unsigned char *at, snw_error *err) {
    if (!b || !b->started)
        return snw_fail(err, SNW_E_ARGUMENT, "call snw_device_batch_start first");
    SNW_TRY(prepare_call(b, 0, 0, err));
    b->args.at = at;
    const snw_status s = launch(b, SNW_DEVICE_START, err);
    b->args.at = NULL;
    return s;
}

snw_status snw_device_batch_reset(snw_device_batch *b, const unsigned char *at, int only_failed,
                                  snw_error *err) {
    if (!b) return snw_fail(err, SNW_E_ARGUMENT, "the batch is NULL");
    b->args.home = b->home;
    b->args.only_failed = only_failed != 0;
    const snw_status s = snw_device_batch_restart(b, at, err);
    b->args.home = NULL;
    b->args.only_failed = 0;
    return s;
}

void snw_device_batch_set_account(snw_device_batch *b, int account) {
    if (b) b->account = account != 0;
}

enum { LAW_NUMBERS = 1 << 25 }; // most in the rows of laws of a launch

// Steps in one launch, or in a launch each where `probes` take their values at its end.
static snw_status queue_steps(snw_device_batch *b, double h, int count, double *probes, int most,
                              const double *u, snw_error *err) {
    snw_status s = SNW_OK;
    const size_t row = (size_t)b->args.ncolumn * (size_t)b->n;
    if (probes) most = 1;
    if (u) b->args.u_step = (size_t)b->ninput * (size_t)b->n;
    for (int done = 0; s == SNW_OK && done < count;) {
        const int now = count - done < most ? count - done : most;
        if (u) b->args.u = u + (size_t)done * b->args.u_step;
        s = prepare_call(b, h, now, err);
        if (s == SNW_OK) s = launch(b, SNW_DEVICE_STEPS, err);
        for (int k = 0; s == SNW_OK && k < now; k++) b->robot->s->t = b->robot->s->t + h;
        if (probes && s == SNW_OK) {
            b->args.probe = probes + (size_t)done * row;
            s = prepare_call(b, 0, 0, err);
            if (s == SNW_OK) s = launch(b, SNW_DEVICE_POINTS, err);
        }
        done += now;
    }
    b->args.probe = b->probe.at;
    b->args.u = b->u;
    b->args.u_step = 0;
    return s;
}

snw_status snw_device_batch_step_probes(snw_device_batch *b, double h, int count, const double *u,
                                        double *probes, snw_error *err) {
    if (probes && b && b->args.ncolumn == 0)
        return snw_fail(err, SNW_E_ARGUMENT, "call snw_device_batch_set_probes first");
    if (!b || !b->started)
        return snw_fail(err, SNW_E_ARGUMENT, "call snw_device_batch_start before the first step");
    if (count < 0 || count > 1000000)
        return snw_fail(err, SNW_E_ARGUMENT, "count must be from 0 to 1000000, got %d", count);
    SNW_TRY(snw_robot_check_step(b->robot, h, err));
    const size_t fit = LAW_NUMBERS / (3 * law_width(b));
    const int most = fit < 1 ? 1 : b->time_laws || fit > 1000000 ? 1000000 : (int)fit;
    return queue_steps(b, h, count, probes, most, u, err);
}

snw_status snw_device_batch_step_inputs(snw_device_batch *b, double h, int count, const double *u,
                                        snw_error *err) {
    return snw_device_batch_step_probes(b, h, count, u, NULL, err);
}

snw_status snw_device_batch_step(snw_device_batch *b, double h, int count, snw_error *err) {
    return snw_device_batch_step_inputs(b, h, count, NULL, err);
}

snw_status snw_device_batch_wait(snw_device_batch *b, snw_error *err) {
    if (!b) return snw_fail(err, SNW_E_ARGUMENT, "the batch is NULL");
    return b->cuda ? snw_cuda_wait(b->cuda, err) : SNW_OK;
}

// ---- results ------------------------------------------------------------------------------------

snw_status snw_device_batch_set_points(snw_device_batch *b, int npoint, const int *node,
                                       const double *at, double **out, snw_error *err) {
    if (!b || !node || !out || npoint < 1)
        return snw_fail(err, SNW_E_ARGUMENT, "an argument is NULL, or there is no point");
    const size_t n = (size_t)npoint;
    int *seg = snw_alloc(n * sizeof *seg);
    double *place = snw_alloc(3 * n * sizeof *place);
    double *none = snw_alloc(3 * n * (size_t)b->n * sizeof *none);
    snw_status s = seg && place && none ? SNW_OK : snw_fail_memory(err);
    for (int i = 0; s == SNW_OK && i < npoint; i++) {
        if (node[i] < 0 || node[i] >= snw_robot_nodes(b->robot))
            s = snw_fail(err, SNW_E_ARGUMENT, "there is no node number %d, the robot has %d",
                         node[i], snw_robot_nodes(b->robot));
        seg[i] = node[i] + 1;
        for (int k = 0; k < 3; k++) place[3 * i + k] = at ? at[3 * i + k] : 0;
    }
    if (s == SNW_OK) s = device_fill(b, &b->point_seg, seg, n * sizeof *seg, err);
    if (s == SNW_OK) s = device_fill(b, &b->point_at, place, 3 * n * sizeof *place, err);
    if (s == SNW_OK) s = device_fill(b, &b->point, none, 3 * n * (size_t)b->n * sizeof *none, err);
    if (s == SNW_OK)
        s = device_fill(b, &b->point_rate, none, 3 * n * (size_t)b->n * sizeof *none, err);
    snw_free(seg);
    snw_free(place);
    snw_free(none);
    SNW_TRY(s);
    b->args.npoint = npoint;
    b->args.point_seg = b->point_seg.at;
    b->args.point_at = b->point_at.at;
    b->args.point_rate = b->point_rate.at;
    *out = b->args.point = b->point.at;
    return SNW_OK;
}

// ---- probes -------------------------------------------------------------------------------------

// Columns of probes while they are listed; without arrays they are counted.
typedef struct column_list {
    int n, nphi;
    snw_device_column *column;
    double *phi;
} column_list;

static snw_status refuse_probe(const char *name, const char *why, snw_error *err) {
    return snw_fail(err, SNW_E_ARGUMENT, "probe '%.100s' is not read on a device: %s", name, why);
}

// Component k of a strain at a station: its rest strain and shape functions.
static snw_status add_strain(const snw_model *m, const snw_station *at, int k, const char *name,
                             column_list *list, snw_device_column *column, snw_error *err) {
    const snw_rod *rod = &m->rod[at->rod];
    int first[6], count[6];
    double phi[6 * SNW_BASIS_MAX_FUNCTIONS];
    if (rod->rest_varies || rod->together || rod->given[k])
        return refuse_probe(name, "the strain varies with the material or by a law", err);
    const double end = rod->L * (1 - 1e-15);
    (void)snw_rod_basis(rod, at->x, at->x < rod->L ? at->x : end, first, count, phi);
    column->phi = list->nphi;
    if (list->phi) list->phi[list->nphi] = snw_rod_rest(rod, at->x).e[k] - (k == SNW_STRETCH);
    list->nphi++;
    const double *from = phi;
    for (int a = 0; a < rod->na; from += count[a], a++) {
        if (rod->comp[a] != k) continue;
        column->of = rod->dof[a] + first[a] + rod->shift;
        column->count = count[a];
        for (int j = 0; j < count[a]; j++, list->nphi++) {
            if (list->phi) list->phi[list->nphi] = from[j];
        }
    }
    return SNW_OK;
}

static snw_status add_column(const snw_model *m, int probe, int station, int component,
                             column_list *list, snw_error *err) {
    const snw_probe_desc *p = &m->desc->probe[probe];
    const snw_signal signal = snw_signal_of_probe(m, probe, component);
    snw_device_column column = {.reading = signal.reading, .column = component};
    if (signal.reading == SNW_READ_LATER || signal.reading == SNW_READ_NEVER)
        return refuse_probe(p->name, "only poses, velocities, strains, coordinates and tendons are",
                            err);
    if (signal.tendon >= 0) {
        column.of = signal.tendon;
        column.flag = signal.is_length;
    } else if (signal.block >= 0) {
        const snw_block *block = &m->block[signal.block];
        column.of = signal.reading == SNW_READ_RATE ? block->dof : block->q;
    } else {
        const snw_station *at = &m->station[m->probe_station[probe] + station];
        if (signal.reading == SNW_READ_STRAIN) {
            SNW_TRY(add_strain(m, at, component, p->name, list, &column, err));
        } else {
            int depth = 0;
            for (int seg = at->seg; seg >= m->nseg; seg = m->seg[seg].parent) depth++;
            if (depth > 8) return refuse_probe(p->name, "its frame has more than 8 others", err);
            column.of = at->seg;
            column.flag = signal.body;
        }
    }
    if (list->column) list->column[list->n] = column;
    list->n++;
    return SNW_OK;
}

static snw_status list_columns(const snw_model *m, int nprobe, const char *const *probe,
                               column_list *list, snw_error *err) {
    list->n = list->nphi = 0;
    for (int i = 0; i < nprobe; i++) {
        int at = 0;
        while (at < m->desc->nprobe && strcmp(m->desc->probe[at].name, probe[i]) != 0) at++;
        if (at == m->desc->nprobe)
            return snw_fail(err, SNW_E_ARGUMENT, "there is no probe '%.100s'", probe[i]);
        const snw_probe_desc *p = &m->desc->probe[at];
        const int nstation = p->along > 0 ? p->along : 1;
        if (nstation > 1 && p->of == SNW_PROBE_OF_TENDON)
            return refuse_probe(p->name, "it has values along a tendon", err);
        for (int k = 0; k < snw_probe_columns(p); k++) {
            const int width = snw_probe_columns(p) / nstation;
            SNW_TRY(add_column(m, at, k / width, k % width, list, err));
        }
    }
    return SNW_OK;
}

snw_status snw_device_batch_set_probes(snw_device_batch *b, int nprobe, const char *const *probe,
                                       double **out, snw_error *err) {
    if (!b || (nprobe > 0 && !probe) || !out || nprobe < 0)
        return snw_fail(err, SNW_E_ARGUMENT, "an argument is NULL, or the number is negative");
    const snw_model *m = b->robot->m;
    column_list list = {0};
    SNW_TRY(list_columns(m, nprobe, probe, &list, err));
    list.column = snw_alloc(((size_t)list.n + 1) * sizeof *list.column);
    list.phi = snw_alloc(((size_t)list.nphi + 1) * sizeof *list.phi);
    const size_t numbers = (size_t)list.n * (size_t)b->n;
    double *none = snw_alloc((numbers + 1) * sizeof *none);
    snw_status s = list.column && list.phi && none ? SNW_OK : snw_fail_memory(err);
    if (s == SNW_OK) s = list_columns(m, nprobe, probe, &list, err);
    if (s == SNW_OK)
        s = device_fill(b, &b->columns, list.column, (size_t)list.n * sizeof *list.column, err);
    if (s == SNW_OK)
        s = device_fill(b, &b->column_phi, list.phi, (size_t)list.nphi * sizeof *list.phi, err);
    if (s == SNW_OK) s = device_fill(b, &b->probe, none, numbers * sizeof *none, err);
    snw_free(list.column);
    snw_free(list.phi);
    snw_free(none);
    SNW_TRY(s);
    b->args.ncolumn = list.n;
    b->args.column = b->columns.at;
    b->args.column_phi = b->column_phi.at;
    *out = b->args.probe = b->probe.at;
    return SNW_OK;
}

int snw_device_batch_columns(const snw_device_batch *b) { return b ? b->args.ncolumn : 0; }

double *snw_device_batch_point_rates(snw_device_batch *b) { return b ? b->point_rate.at : NULL; }

snw_status snw_device_batch_update_points(snw_device_batch *b, snw_error *err) {
    if (!b || b->args.npoint + b->args.ncolumn == 0)
        return snw_fail(err, SNW_E_ARGUMENT,
                        "call snw_device_batch_set_points or snw_device_batch_set_probes first");
    SNW_TRY(prepare_call(b, 0, 0, err));
    return launch(b, SNW_DEVICE_POINTS, err);
}

snw_status snw_device_batch_count(snw_device_batch *b, snw_device_batch_counts *out,
                                  snw_error *err) {
    if (!b || !out) return snw_fail(err, SNW_E_ARGUMENT, "an argument is NULL");
    const size_t n = (size_t)b->n;
    unsigned *x = snw_alloc(3 * n * sizeof *x);
    if (!x) return snw_fail_memory(err);
    snw_status s = device_read(b, b->iterations, n * sizeof *x, x, err);
    if (s == SNW_OK) s = device_read(b, b->tangents, n * sizeof *x, x + n, err);
    if (s == SNW_OK) s = device_read(b, b->status, n * sizeof *x, x + 2 * n, err);
    *out = (snw_device_batch_counts){0};
    for (size_t i = 0; s == SNW_OK && i < n; i++) {
        out->iterations += x[i];
        out->tangents += x[n + i];
        out->failed += x[2 * n + i] > SNW_DEVICE_NOT_STARTED;
    }
    snw_free(x);
    return s;
}
#else

#include "base/fail.h"

snw_status snw_device_batch_create(snw_robot_model *m, int n, const char *device,
                                   snw_device_batch **out, snw_error *err) {
    return snw_device_batch_create_with(m, n, device, 0, out, err);
}
snw_status snw_device_batch_create_with(snw_robot_model *m, int n, const char *device,
                                        int single_precision, snw_device_batch **out,
                                        snw_error *err) {
    (void)m, (void)n, (void)device, (void)single_precision;
    if (out) *out = NULL;
    return snw_fail(err, SNW_E_ARGUMENT,
                    "this build of the library has no batches on graphics processors: they need "
                    "gcc with C++ and Python when it is built");
}

// There is no batch.
#define NONE(result, name, ...)                                                                    \
    result snw_device_batch_##name(__VA_ARGS__) { return (result)0; }
#define REFUSE(name, ...)                                                                          \
    snw_status snw_device_batch_##name(__VA_ARGS__) {                                              \
        return snw_fail(err, SNW_E_ARGUMENT, "the batch is NULL");                                 \
    }
void snw_device_batch_close(snw_device_batch *b) { (void)b; }
void snw_device_batch_set_account(snw_device_batch *b, int account) { (void)b, (void)account; }
NONE(int, size, const snw_device_batch *b __attribute__((unused)))
NONE(int, nq, const snw_device_batch *b __attribute__((unused)))
NONE(int, nv, const snw_device_batch *b __attribute__((unused)))
NONE(int, columns, const snw_device_batch *b __attribute__((unused)))
NONE(int, inputs, const snw_device_batch *b __attribute__((unused)))
NONE(const char *, name, const snw_device_batch *b __attribute__((unused)))
NONE(size_t, bytes, const snw_device_batch *b __attribute__((unused)))
NONE(double, time, const snw_device_batch *b __attribute__((unused)))
NONE(double *, q, snw_device_batch *b __attribute__((unused)))
NONE(double *, v, snw_device_batch *b __attribute__((unused)))
NONE(double *, u, snw_device_batch *b __attribute__((unused)))
NONE(double *, point_rates, snw_device_batch *b __attribute__((unused)))
NONE(double *, home, snw_device_batch *b __attribute__((unused)))
NONE(void *, stream, const snw_device_batch *b __attribute__((unused)))
NONE(int *, status, snw_device_batch *b __attribute__((unused)))
NONE(const char *, status_text, int status __attribute__((unused)))
#define UNUSED __attribute__((unused))
REFUSE(read, snw_device_batch *b UNUSED, const void *from UNUSED, size_t bytes UNUSED,
       void *to UNUSED, snw_error *err)
REFUSE(write, snw_device_batch *b UNUSED, const void *from UNUSED, size_t bytes UNUSED,
       void *to UNUSED, snw_error *err)
REFUSE(take, snw_device_batch *b UNUSED, int actuator UNUSED, int taken UNUSED, snw_error *err)
REFUSE(start, snw_device_batch *b UNUSED, const snw_robot_steps *how UNUSED,
       const unsigned char *at UNUSED, snw_error *err)
REFUSE(restart, snw_device_batch *b UNUSED, const unsigned char *at UNUSED, snw_error *err)
REFUSE(reset, snw_device_batch *b UNUSED, const unsigned char *at UNUSED, int only_failed UNUSED,
       snw_error *err)
REFUSE(set_stream, snw_device_batch *b UNUSED, void *stream UNUSED, snw_error *err)
REFUSE(order, snw_device_batch *b UNUSED, void *stream UNUSED, int batch_waits UNUSED,
       snw_error *err)
REFUSE(set_parameters, snw_device_batch *b UNUSED, int robot UNUSED, int nset UNUSED,
       const char *const *set UNUSED, snw_error *err)
REFUSE(step_inputs, snw_device_batch *b UNUSED, double h UNUSED, int count UNUSED,
       const double *u UNUSED, snw_error *err)
REFUSE(step, snw_device_batch *b UNUSED, double h UNUSED, int count UNUSED, snw_error *err)
REFUSE(wait, snw_device_batch *b UNUSED, snw_error *err)
REFUSE(set_points, snw_device_batch *b UNUSED, int npoint UNUSED, const int *node UNUSED,
       const double *at UNUSED, double **out UNUSED, snw_error *err)
REFUSE(update_points, snw_device_batch *b UNUSED, snw_error *err)
REFUSE(set_probes, snw_device_batch *b UNUSED, int nprobe UNUSED, const char *const *probe UNUSED,
       double **out UNUSED, snw_error *err)
REFUSE(step_probes, snw_device_batch *b UNUSED, double h UNUSED, int count UNUSED,
       const double *u UNUSED, double *probes UNUSED, snw_error *err)
REFUSE(count, snw_device_batch *b UNUSED, snw_device_batch_counts *out UNUSED, snw_error *err)
#endif
