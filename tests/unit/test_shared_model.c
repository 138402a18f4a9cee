// SPDX-License-Identifier: MIT
//
// A compiled model is never written to: statics, time steps, modes, loops with changing rows and
// adaptive meshes leave its memory as it is, and threads share it with the bits of one alone. Also
// built with ThreadSanitizer (preset tsan).
#include "executed.h"
#include "sanitized.h"

#include "base/fail.h"
#include "constraint/closure_rows.h"
#include "integrate/integrator.h"
#include "robot_texts.h"
#include "solve/blas_buffer.h"
#include "study/modes.h"
#include "study/run_private.h"
#include "study/statics.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 4, MOST_BLOCKS = 64 };

// ---- memory of a model --------------------------------------------------------------------------

// A copy of the memory of a model. Whole pages of it are read-only while they are watched: a write
// to them ends the program. The rest is compared with the copy.
typedef struct watch {
    const snw_model *m;
    snw_model copy;
    int n;
    struct {
        void *at, *copy;
        size_t bytes;
    } block[MOST_BLOCKS];
} watch;

static void protect(void *at, size_t bytes, int protection) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = ((uintptr_t)at + page - 1) / page * page;
    const uintptr_t to = ((uintptr_t)at + bytes) / page * page;
    if (to > from) assert_int_equal(mprotect((void *)from, to - from, protection), 0);
}

static void watch_block(void *user, void *at, size_t bytes) {
    watch *w = user;
    assert_true(w->n < MOST_BLOCKS);
    void *copy = malloc(bytes + 1);
    assert_non_null(copy);
    memcpy(copy, at, bytes);
    w->block[w->n].at = at;
    w->block[w->n].copy = copy;
    w->block[w->n++].bytes = bytes;
    protect(at, bytes, PROT_READ);
}

static void watch_open(watch *w, const snw_model *m) {
    *w = (watch){.m = m, .copy = *m};
    snw_pool_visit(m->pool, watch_block, w);
    assert_true(w->n > 0);
}

static void watch_close(watch *w) {
    assert_memory_equal(w->m, &w->copy, sizeof w->copy);
    for (int i = 0; i < w->n; i++) {
        assert_memory_equal(w->block[i].at, w->block[i].copy, w->block[i].bytes);
        protect(w->block[i].at, w->block[i].bytes, PROT_READ | PROT_WRITE);
        free(w->block[i].copy);
    }
}

// ---- robots -------------------------------------------------------------------------------------

// tendons with friction, feedback with an integral, a fluid, a contact, a conditional body, given
// strains
static const char soft[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  arm: {on: world, rod: {length: 0.5 m, section: {circle: {radius: 10 mm}}, material: "
    "rubber,\n"
    "        strain: {bend_y: legendre 3, bend_z: legendre 2, twist: 0.1*sin(3*t)*x}}}\n"
    "  bob: {on: arm@60%, body: {mass: 20 g}, when: t < 7 ms}\n"
    "actuators:\n"
    "  pull: {tendon: {along: arm, at: [0, 8 mm, 0], friction: 0.2}, effort: 0.2 N + 0.1 "
    "N*sin(100*t)}\n"
    "  winch: {tendon: {along: arm, at: [0, -4 mm, 4 mm], compliance: 1e-3 1/N}, shortening: 1 "
    "mm*sin(20*t)}\n"
    "loads:\n"
    "  push: {on: arm.tip, force: [0, \"-0.3*tip.y - 0.1*integral(tip.z)\", 5 mN]}\n"
    "fluid: {water: {on: arm, density: 1000, added: auto, drag: {square: 5}}}\n"
    "contacts: {floor: {ground: {on: arm, normal: z, at: [0, 0, -0.01], stiffness: 100 N/m^2, "
    "friction: 0.5}}}\n"
    "probes: {tip: {position: arm.tip}}\n";

static const char bars[] = "sinew: 1\n" FOUR_BAR;

// Bricard's chain, whose independent rows change as it turns inside out
// (tests/physics/test_redundant.c)
#define LINK(name, on, pose)                                                                       \
    "  " name ": {on: " on ", " pose                                                               \
    "joint: revolute, axis: z, body: {mass: 1, com: [0.05, 0, 0], inertia: [2e-4, 1e-3, 1e-3]}}\n"
#define TURNED(angle) "pose: {xyz: [0.1, 0, 0], rpy: [" angle " deg, 0, 0]}, "
#define CHAIN                                                                                      \
    "sinew: 1\n"                                                                                   \
    "gravity: [0, 0, 0]\n"                                                                         \
    "materials: {rubber: {young: 0.5 MPa, poisson: 0.4, density: 1000, damping: 5 ms}}\n"          \
    "robot:\n" LINK("l1", "world", "") LINK("l2", "l1", TURNED("90"))                              \
        LINK("l3", "l2", TURNED("-90")) LINK("l4", "l3", TURNED("90"))                             \
            LINK("l5", "l4", TURNED("-90"))
#define RING                                                                                       \
    "sites:\n"                                                                                     \
    "  e: {on: l5, pose: {xyz: [0.1, 0, 0], rpy: [90 deg, 0, 0]}}\n"                               \
    "  g: {on: world, pose: {xyz: [-0.1, 0, 0], rpy: [90 deg, 0, 0]}}\n"                           \
    "loops: {ring: {join: [e, g], as: revolute}}\n"                                                \
    "initial: {l1: {position: 60 deg, rate: 3}, l2: acos(-1/3), l3: 60 deg, l4: acos(-1/3), l5: "  \
    "60 deg}\n"
static const char chain[] = CHAIN RING;

// the same with a rod whose nodes follow its shape
#define WHIP                                                                                       \
    "  whip: {on: l3, rod: {length: 0.3, section: {circle: {radius: 4 mm}}, material: rubber, "    \
    "strain: {bend_y: legendre 3, bend_z: legendre 3}, integrator: rk45, tolerance: 1e-8}}\n"

typedef struct course {
    const snw_model *m; // shared
    snw_scheme_kind scheme;
    int steps;
    double h;   // s
    bool rests; // it starts at its equilibrium, where its modes are computed
    // results
    bool rows_changed;
    char fault[200];
    double number[64]; // coordinates, velocities and multipliers at the end
} course;

typedef struct simulation {
    snw_closure_rows *rows;
    snw_state *s;
    snw_statics *statics;
    snw_inputs *in;
    snw_modes *modes;
    snw_integrator it;
} simulation;

static snw_status start(const course *c, const snw_model *m, simulation *x, snw_error *err) {
    snw_step_desc step = snw_step_dynamic(c->scheme);
    step.step = c->h;
    SNW_TRY(snw_state_create(m, &x->s));
    SNW_TRY(snw_inputs_create(m, &x->in));
    SNW_TRY(snw_statics_create(m, &x->statics));
    snw_statics_choose_rows(x->statics, x->rows);
    snw_inputs_at(m, 0, x->in);
    for (int k = 0; k < m->ncondition; k++) x->s->z[m->condition_signal[k]] = 1;
    snw_projection *pr = snw_statics_projection(x->statics);
    snw_projection_info closing;
    if (c->rests) {
        const snw_statics_opts opts = snw_statics_defaults();
        snw_statics_info info;
        SNW_TRY(snw_statics_solve(x->statics, 0, &opts, x->s, &info, err));
        SNW_TRY(snw_modes_create(m, 3, false, &x->modes));
        SNW_TRY(snw_modes_solve(x->modes, x->s, err));
    } else if (pr) {
        SNW_TRY(snw_projection_close(pr, x->in, x->s, &closing, err));
        SNW_TRY(snw_projection_velocities(pr, x->in, x->s, err));
    }
    SNW_TRY(snw_integrator_open(m, &step, 0, &x->it, err));
    return x->it.start(x->it.self, x->s, err);
}

static snw_status move(course *c, simulation *x, snw_error *err) {
    snw_projection *pr = snw_statics_projection(x->statics);
    for (int i = 1; i <= c->steps; i++) {
        for (double to = i * c->h; x->it.state(x->it.self)->t < i * c->h; to = i * c->h) {
            snw_stats took = {0};
            SNW_TRY(snw_integrator_advance(&x->it, pr, x->rows, &to, INFINITY, &took, err));
            SNW_TRY(snw_integrator_choose_rows(&x->it, pr, x->rows, err));
        }
        c->rows_changed |= x->rows && snw_closure_rows_choice(x->rows, 0) != 0;
    }
    return SNW_OK;
}

static int append(int n, int count, const double *from, double *to, int room) {
    for (int i = 0; i < count && n < room; i++) to[n++] = from[i];
    return n;
}

// statics, modes and motion of one robot on the shared model
static void *simulate(void *user) {
    course *c = user;
    simulation x = {0};
    snw_error err = {0};
    snw_status s = snw_blas_ready(&err);
    if (s == SNW_OK) s = snw_closure_rows_create(c->m, &x.rows);
    const snw_model *m = snw_closure_rows_model(x.rows, c->m);
    if (s == SNW_OK) s = start(c, m, &x, &err);
    if (s == SNW_OK) s = move(c, &x, &err);
    if (s == SNW_OK) {
        const snw_state *end = x.it.state(x.it.self);
        const int room = (int)(sizeof c->number / sizeof *c->number);
        int n = append(0, m->nq, end->q, c->number, room);
        n = append(n, m->nv, end->v, c->number, room);
        (void)append(n, m->nconstraint, end->lambda, c->number, room);
    } else {
        (void)snprintf(c->fault, sizeof c->fault, "status %d, %.150s", (int)s, err.text);
    }
    if (x.it.close) x.it.close(x.it.self);
    snw_modes_destroy(x.modes);
    snw_statics_destroy(x.statics);
    snw_inputs_destroy(x.in);
    snw_state_destroy(x.s);
    snw_closure_rows_destroy(x.rows);
    return NULL;
}

static const struct {
    const char *text;
    snw_scheme_kind scheme;
    int steps;
    double h;
    bool rests;
} robots[] = {
    {soft, SNW_SCHEME_GENERALIZED_ALPHA, AMONG(4, 20), 1e-3, true},
    {soft, SNW_SCHEME_BDF2, AMONG(4, 20), 1e-3, false},
    {bars, SNW_SCHEME_GENERALIZED_ALPHA, AMONG(10, 50), 2e-3, false},
    {bars, SNW_SCHEME_CONSERVING, AMONG(10, 50), 2e-3, false},
    {chain, SNW_SCHEME_GENERALIZED_ALPHA, 80, 20e-3, false},
    {chain, SNW_SCHEME_ADAPTIVE, AMONG(20, 80), 20e-3, false},
};
enum { ROBOTS = sizeof robots / sizeof *robots };

// Each robot alone, then several at once on one model whose memory is read-only. Rows of the chain
// must have been chosen again, which the model must not show.
static void threads_share_a_model(void **state) {
    (void)state;
    bool rows_changed = false;
    for (int k = 0; k < ROBOTS; k++) {
        snw_document *doc;
        snw_desc *desc;
        snw_error err;
        snw_model *m = NULL;
        if (describe(robots[k].text, &doc, &desc, &err) != SNW_OK ||
            snw_projection_compile(desc, &m, &err) != SNW_OK)
            fail_msg("%d:%d: %s", err.line, err.column, err.text);
        watch w;
        watch_open(&w, m);
        const course plan = {.m = m,
                             .scheme = robots[k].scheme,
                             .steps = robots[k].steps,
                             .h = robots[k].h,
                             .rests = robots[k].rests};
        course alone = plan, beside[THREADS];
        (void)simulate(&alone);
        if (alone.fault[0]) fail_msg("robot %d: %s", k, alone.fault);
        pthread_t thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            beside[i] = plan;
            assert_int_equal(pthread_create(&thread[i], NULL, simulate, &beside[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
        for (int i = 0; i < THREADS; i++) {
            if (beside[i].fault[0]) fail_msg("robot %d: %s", k, beside[i].fault);
            assert_memory_equal(beside[i].number, alone.number, sizeof alone.number);
        }
        rows_changed |= alone.rows_changed;
        watch_close(&w);
        snw_model_destroy(m);
        release(doc, desc);
    }
    assert_true(rows_changed);
}

// ---- studies ------------------------------------------------------------------------------------

// a study has one thread, and writes to read-only memory need no sanitizer to be seen
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

static const char *const studies[] = {
    // nodes that follow the shape, together with redundant loops; every kind of step
    CHAIN WHIP RING "study:\n"
                    "  - dynamic: {for: 60 ms, step: 2 ms}\n"
                    "  - change: {rubber.young: 1 MPa}\n"
                    "  - dynamic: {for: 20 ms, step: 2 ms, scheme: bdf2}\n"
                    "  - dynamic: {for: 5 ms, scheme: adaptive}\n",
    "sinew: 1\n"
    "materials: {rubber: {young: 0.5 MPa, poisson: 0.4, density: 1000, damping: 5 ms}}\n"
    "robot: {arm: {on: world, rod: {length: 0.4, section: {circle: {radius: 8 mm}}, material: "
    "rubber, strain: {bend_y: legendre 3, twist: legendre 2}, integrator: rk45, tolerance: "
    "1e-8}}}\n"
    "loads: {push: {on: arm.tip, force: [0, 0.1 N, 0.1 N*sin(20*t)]}}\n"
    "probes: {tip: {position: arm.tip}}\n"
    "study:\n"
    "  - static:\n"
    "  - modes: {count: 3}\n"
    "  - dynamic: {for: 40 ms, step: 2 ms}\n"
    "  - static: {engine: shooting, shooting: {points: 15}}\n"
    "  - modes: {name: later}\n"
    "  - dynamic: {for: 20 ms, step: 2 ms, scheme: conserving}\n",
};

// Studies with changing meshes use other models; those compiled at the start stay as they are.
static void studies_do_not_write_to_their_models(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof studies / sizeof *studies; k++) {
        snw_document *doc;
        snw_desc *desc;
        snw_error err;
        snw_run *run = NULL;
        snw_run_totals totals;
        if (describe(studies[k], &doc, &desc, &err) != SNW_OK ||
            snw_run_create(desc, "main", &run, &err) != SNW_OK)
            fail_msg("%d:%d: %s", err.line, err.column, err.text);
        watch w[4];
        assert_true(run->nphase <= 4);
        for (int i = 0; i < run->nphase; i++) watch_open(&w[i], run->phase[i].compiled);
        for (int n = 0; n < 2; n++) {
            if (snw_run_execute(run, 0, NULL, NULL, &totals, &err) != SNW_OK)
                fail_msg("study %zu: %s", k, err.text);
            assert_true(totals.meshes > 0);
        }
        for (int i = 0; i < run->nphase; i++) watch_close(&w[i]);
        snw_run_destroy(run);
        release(doc, desc);
    }
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_a_model),
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(studies_do_not_write_to_their_models),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
