// SPDX-License-Identifier: MIT
//
// Many robots on a graphics processor: one robot on the host that has the model, checks the options
// and evaluates the laws of the file; all states, inputs and steps on the device
// (gpu/device_engine.inc). The device "host" runs the same program on this processor. Here:
// opening, kernels, models, and access to what a batch has.
#include "robot/device_batch_private.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "gpu/device_text.h"
#include "study/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Threads that a processor has at a time, about: with fewer robots several share one.
enum { RESIDENT = 1 << 15, MOST_CONSTANTS = 260, CONSTANT_LENGTH = 48 };
enum { MOST_UNKNOWNS = 600 };      // of a step: matrices are dense
enum { THREAD_BYTES = 448 << 10 }; // of a thread's stack for its workspace; CUDA allows 512 kB

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

// Does the recursion evaluate laws: of signals, of conditional tendons, of springs?
static bool has_recursion_laws(const snw_model *m) {
    bool any = m->nlive + m->ncondition > 0;
    for (int i = 0; i < m->ntendon; i++) any |= m->tendon[i].when != NULL;
    for (int i = 0; i < m->nforce_element; i++) any |= m->force_element[i].force != NULL;
    return any;
}

// Are there obstacles that are terrain, or meshes?
static bool has_surfaces(const snw_model *m, bool terrain) {
    bool any = false;
    for (int i = 0; i < m->ncontact; i++) {
        const snw_obstacle *o = &m->contact[i].obstacle;
        any |= terrain ? o->height != NULL : o->grid != NULL;
    }
    return any;
}

static snw_status compile_kernels(snw_device_batch *b, const void *model, size_t scratch,
                                  snw_error *err) {
    static const char *const names[SNW_DEVICE_CALLS] = {"snw_start", "snw_steps", "snw_points"};
    device_options *o = snw_alloc(sizeof *o);
    if (!o) return snw_fail_memory(err);
    b->engine->constants(model, take_constant, o);
    take_constant(o, "SNW_POINTS", magnus_points(b->robot->m));
    take_constant(o, "SNW_SCRATCH", (int)scratch);
    take_constant(o, "SNW_BLOCK", SNW_DEVICE_BLOCK);
    take_constant(o, "SNW_LAWS", b->stream->laws);
    if (b->single) take_constant(o, "SNW_FLOATS", 1);
    take_constant(o, "SNW_TIME_LAWS", b->time_laws);
    take_constant(o, "SNW_RECURSION_LAWS", has_recursion_laws(b->robot->m));
    take_constant(o, "SNW_TERRAIN", has_surfaces(b->robot->m, true));
    take_constant(o, "SNW_MESHES", has_surfaces(b->robot->m, false));
    if (b->quick) {
        o->option[o->n++] = SNW_CUDA_QUICK;
        o->option[o->n++] = SNW_CUDA_INLINE;
    }
    snw_status s = b->cuda ? snw_cuda_compile(b->cuda, snw_device_text, snw_device_pieces,
                                              o->option, o->n, err)
                           : snw_cuda_keep(b->architecture, snw_device_text, snw_device_pieces,
                                           o->option, o->n, err);
    snw_free(o);
    for (int i = 0; b->cuda && s == SNW_OK && i < SNW_DEVICE_CALLS; i++)
        s = snw_cuda_kernel(b->cuda, names[i], &b->kernel[i], err);
    return s;
}

snw_status snw_device_launch(snw_device_batch *b, snw_device_call call, snw_error *err) {
    if (b->cuda) {
        void *arguments[] = {&b->args};
        int lanes = call == SNW_DEVICE_POINTS ? 1 : b->most_lanes;
        while (lanes > 1 && b->n > RESIDENT / lanes) lanes /= 2;
        b->args.lanes = lanes;
        return snw_cuda_launch(b->cuda, b->kernel[call], b->n * lanes, SNW_DEVICE_BLOCK, arguments,
                               err);
    }
    for (int i = 0; i < b->n; i++) b->engine->call[call](&b->args, i, b->scratch);
    return SNW_OK;
}

// Upper bound of the bytes that the device's form of the model takes: each number of the stream
// belongs to an array whose elements are at most the largest struct of the model.
static size_t model_room(const snw_model *m, const snw_model_stream *stream) {
    const size_t elements =
        (size_t)(m->nseg + m->npath + m->npose + m->nblock + m->nspring + m->nslice + m->nrod +
                 m->nload + m->nload_point + m->ntendon + m->ntendon_point + m->ntendon_segment +
                 m->nv + m->nloop + m->ndrive + m->nforce_element + m->nfluid + m->nfluid_point +
                 m->nvariable_node + m->nsignal + m->nstation + m->nstress + m->npoint + m->nmotor +
                 m->nobs + m->ncontact + m->ncontact_point + m->nstop + m->nlaw_point + m->nfield +
                 m->nforce_field + m->nforce_field_point + m->ncondition + m->nconditional + 64);
    const size_t rows = (size_t)(m->nv + m->nconstraint); // of the matrix
    return sizeof *m + (stream->nwhole + stream->nnumber) * 16 + elements * (sizeof(snw_rod) + 64) +
           (size_t)m->nslice * SNW_MAGNUS_POINTS * sizeof(snw_twist) +
           rows * (rows + 8) * sizeof(size_t) + 4096; // order of elimination
}

snw_status snw_device_make_models(snw_device_batch *b, int n, snw_error *err) {
    const snw_model_stream *stream = b->stream;
    size_t nnumber = stream->nnumber, room = b->model_bytes;
    int is_bad = 0;
    if (b->cuda) {
        void *kernel, *bad = NULL;
        SNW_TRY(snw_cuda_kernel(b->cuda, "snw_model", &kernel, err));
        SNW_TRY(snw_device_alloc(b, sizeof(int), &bad, err)); // zero
        void *arguments[] = {&b->whole, &b->number, &nnumber, &b->model, &room, &n, &bad};
        snw_status s = snw_cuda_launch(b->cuda, kernel, n, SNW_DEVICE_BLOCK, arguments, err);
        if (s == SNW_OK) s = snw_device_read(b, bad, sizeof is_bad, &is_bad, err);
        snw_device_free(b, bad);
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
    SNW_TRY(snw_device_alloc(b, s->nwhole * sizeof(int), &b->whole, err));
    SNW_TRY(snw_device_alloc(b, s->nnumber * sizeof(double), &b->number, err));
    SNW_TRY(snw_device_alloc(b, b->model_bytes, &b->model, err));
    SNW_TRY(snw_device_write(b, s->whole, s->nwhole * sizeof(int), b->whole, err));
    SNW_TRY(snw_device_write(b, s->number, s->nnumber * sizeof(double), b->number, err));
    return snw_device_make_models(b, 1, err);
}

static snw_status create_arrays(snw_device_batch *b, snw_error *err) {
    const snw_model *m = b->robot->m;
    const size_t nq = (size_t)m->nq, nv = (size_t)m->nv;
    const size_t ninput = (size_t)b->ninput;
    const size_t energies = (size_t)snw_device_energies(snw_npower(m), snw_touches(m));
    const size_t nconstraint = (size_t)m->nconstraint, nsignal = (size_t)m->nsignal;
    const size_t nbranch = (size_t)m->nbranch_coordinate;
    size_t n = 1, each = 0;
#define X(name, bytes, meaning) each += bytes;
    DEVICE_BATCH_FIELDS(X)
#undef X
    SNW_TRY(snw_device_check_room(b, each, b->model_bytes, err));
    n = (size_t)b->n;
#define X(name, bytes, meaning) SNW_TRY(snw_device_alloc(b, bytes, &b->name, err));
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
    if (s == SNW_OK) s = snw_device_write(b, status, n * sizeof *status, b->status, err);
    for (int k = 0; s == SNW_OK && k < m->nq + m->nv; k++) {
        const double x = k < m->nq ? b->robot->s->q[k] : b->robot->s->v[k - m->nq];
        for (size_t i = 0; i < n; i++) row[i] = x;
        double *to = k < m->nq ? (double *)b->q + (size_t)k * n
                               : (double *)b->past + (size_t)(k - m->nq) * n;
        s = snw_device_write(b, row, n * sizeof *row, to, err);
        if (s == SNW_OK)
            s = snw_device_write(b, row, n * sizeof *row, (double *)b->home + (size_t)k * n, err);
    }
    snw_free(status);
    snw_free(row);
    return s;
}

// Samples, latches and conditions change at the ends of steps, by probes that the device reads.
static const char *refuse_memory(const snw_model *m) {
    if (!snw_memory_has_events(m)) return NULL;
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal *signal = &m->signal[i];
        if (!signal->source || snw_signal_grows(signal)) continue;
        for (int k = 0; k < i; k++) {
            const snw_signal *of = &m->signal[k];
            if (of->kind != SNW_SIGNAL_PROBE || !snw_expr_reads(signal->source, k)) continue;
            if (of->reading == SNW_READ_LATER || of->reading == SNW_READ_NEVER)
                return "samples, latches and conditions of other than poses, velocities, strains, "
                       "coordinates "
                       "and tendons";
            if (of->reading == SNW_READ_STRAIN && of->station >= 0 && !of->table)
                return "samples, latches and conditions of strains which vary with the material or "
                       "by a law";
        }
    }
    return NULL;
}

const char *snw_device_refuses(const snw_implicit *im) {
    const snw_model *m = im->m;
    if (m->nv + m->nconstraint > MOST_UNKNOWNS)
        return "robots of more than 600 coordinates and rows";
    for (int i = 0; i < m->nloop; i++) {
        if (m->loop[i].nredundant > 0) return "loops with redundant constraint rows";
    }
    const char *memory = refuse_memory(m);
    if (memory) return memory;
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
    const char *why = snw_device_refuses(b->robot->integrator.implicit);
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

// The program for the model: its stream, its size, kernels.
static snw_status make_program(snw_device_batch *b, snw_robot_model *m, int index, snw_error *err) {
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
    b->time_laws = b->stream->laws;
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
    const bool compiles = b->cuda || b->architecture;
    b->scratch_bytes = compiles && scratch > THREAD_BYTES ? (scratch + 15) / 16 * 16 : 0;
    if (s == SNW_OK) b->most_lanes = b->scratch_bytes ? 1 : b->engine->lanes(host);
    if (s == SNW_OK && compiles) s = compile_kernels(b, host, b->scratch_bytes ? 16 : scratch, err);
    if (s == SNW_OK && !compiles && !(b->scratch = snw_alloc(scratch))) s = snw_fail_memory(err);
    snw_free(host);
    return s;
}

static snw_status device_open(snw_device_batch *b, snw_robot_model *m, int index, snw_error *err) {
    SNW_TRY(make_program(b, m, index, err));
    const size_t nlaw = 3 + snw_inputs_doubles(b->robot->m);
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
                                .relaxed = b->relaxed,
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

static void take_options(snw_device_batch *b, const snw_device_batch_options *how) {
    b->single = how && how->single_precision;
    b->quick = how && how->quick_kernels;
    b->engine = b->single ? &snw_device_single : &snw_device_double;
}

snw_status snw_device_batch_create(snw_robot_model *m, int n, const char *device,
                                   snw_device_batch **out, snw_error *err) {
    return snw_device_batch_create_with(m, n, device, NULL, out, err);
}

snw_status snw_device_batch_create_with(snw_robot_model *m, int n, const char *device,
                                        const snw_device_batch_options *how, snw_device_batch **out,
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
    take_options(b, how);
    const snw_status s = device_open(b, m, index, err);
    if (s != SNW_OK) {
        snw_device_batch_close(b);
        return s;
    }
    *out = b;
    return SNW_OK;
}

// "sm_90", "sm_100a"
static bool is_architecture(const char *text) {
    size_t digits = 0;
    if (strncmp(text, "sm_", 3) != 0) return false;
    while (text[3 + digits] >= '0' && text[3 + digits] <= '9') digits++;
    const char *rest = text + 3 + digits;
    return (digits == 2 || digits == 3) && (*rest == 0 || (rest[0] == 'a' && rest[1] == 0));
}

snw_status snw_device_batch_compile(snw_robot_model *m, const char *architecture,
                                    const snw_device_batch_options *how, snw_error *err) {
    if (!m || !architecture)
        return snw_fail(err, SNW_E_ARGUMENT, "the model or the architecture is NULL");
    if (!is_architecture(architecture))
        return snw_fail(err, SNW_E_ARGUMENT,
                        "there is no architecture '%.40s'; they are called sm_80, sm_90 and so on",
                        architecture);
    snw_device_batch *b = snw_alloc(sizeof *b);
    if (!b) return snw_fail_memory(err);
    b->n = 1;
    take_options(b, how);
    b->architecture = architecture;
    const snw_status s = make_program(b, m, -1, err);
    snw_device_batch_close(b);
    return s;
}

void snw_device_batch_close(snw_device_batch *b) {
    if (!b) return;
#define X(name, bytes, meaning) snw_device_free(b, b->name);
    DEVICE_BATCH_FIELDS(X)
#undef X
    snw_device_free(b, b->model), snw_device_free(b, b->whole), snw_device_free(b, b->number);
    device_room *const rooms[] = {&b->taken_laws,   &b->zero,       &b->one,       &b->laws,
                                  &b->steady_steps, &b->maps,       &b->point_seg, &b->point_at,
                                  &b->point,        &b->point_rate, &b->columns,   &b->column_phi,
                                  &b->probe};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) snw_device_free(b, rooms[i]->at);
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
        return "it takes too many short steps; ask for shorter ones";
    case SNW_DEVICE_DEPENDENT:
        return "rows of its loops, wheels or contacts without slip contradict each other, or the "
               "configuration is singular, which only a robot on the processor's cores resolves";
    }
    return "unknown";
}

snw_status snw_device_batch_read(snw_device_batch *b, const void *from, size_t bytes, void *to,
                                 snw_error *err) {
    if (!b || !from || !to) return snw_fail(err, SNW_E_ARGUMENT, "an argument is NULL");
    return snw_device_read(b, from, bytes, to, err);
}

snw_status snw_device_batch_write(snw_device_batch *b, const void *from, size_t bytes, void *to,
                                  snw_error *err) {
    if (!b || !from || !to) return snw_fail(err, SNW_E_ARGUMENT, "an argument is NULL");
    return snw_device_write(b, from, bytes, to, err);
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
