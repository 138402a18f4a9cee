// SPDX-License-Identifier: MIT
//
// Robots in threads: each has the bits it would have alone, independently of the others. Also built
// with ThreadSanitizer, which finds data races (preset tsan); races in libraries built without it,
// OpenBLAS first of all, show in the bits.
#include "sinew/sinew.h"

#include "sanitized.h"

#include "near.h"
#include "robot_texts.h"
#include "solve/dense.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4 };

// all threads at once
static void in_threads(void *(*work)(void *user), void *user, size_t size) {
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, work, (char *)user + (size_t)i * size),
                         0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
}

// ---- buffers of OpenBLAS ------------------------------------------------------------------------

enum { TAKES = AMONG(20000, 300000) };

// as OpenBLAS calls them, src/solve/blas_buffer.c
void *__wrap_blas_memory_alloc(int where);
void __wrap_blas_memory_free(void *buffer);

static void *take_often(void *user) {
    int *shared = user;
    for (int i = 0; i < TAKES; i++) {
        atomic_int *buffer = __wrap_blas_memory_alloc(0);
        *shared += atomic_exchange(buffer, 1) != 0; // another thread has it
        atomic_store(buffer, 0);
        __wrap_blas_memory_free(buffer);
    }
    return NULL;
}

// without the lock some hundred in a million are taken twice, where two processors are free
static void a_buffer_belongs_to_one_thread(void **state) {
    (void)state;
    int shared[THREADS] = {0};
    in_threads(take_often, shared, sizeof *shared);
    for (int i = 0; i < THREADS; i++) assert_int_equal(shared[i], 0);
}

// ---- matrices -----------------------------------------------------------------------------------

enum { ORDER = 24, FACTORISATIONS = AMONG(300, 3000) };

typedef struct matrix {
    unsigned seed;
    int wrong;
} matrix;

static void factor(unsigned seed, double *A) {
    int pivot[ORDER];
    for (int i = 0; i < ORDER * ORDER; i++) {
        seed = seed * 1664525u + 1013904223u;
        A[i] = (double)seed / 4294967296.0 - 0.5;
    }
    if (snw_lu_factor(ORDER, A, pivot) != SNW_OK) A[0] = 0;
}

static void *factor_often(void *user) {
    matrix *x = user;
    double want[ORDER * ORDER], got[ORDER * ORDER];
    factor(x->seed, want);
    for (int i = 0; i < FACTORISATIONS; i++) {
        factor(x->seed, got);
        x->wrong += memcmp(got, want, sizeof got) != 0;
    }
    return NULL;
}

// OpenBLAS by itself sometimes gives the same buffer to two threads
static void matrices_of_threads_do_not_mix(void **state) {
    (void)state;
    matrix x[THREADS] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}};
    in_threads(factor_often, x, sizeof *x);
    for (int i = 0; i < THREADS; i++) assert_int_equal(x[i].wrong, 0);
}

// ---- robots -------------------------------------------------------------------------------------

static const char soft[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  arm: {on: world, rod: {length: 0.5 m, section: {circle: {radius: 10 mm}}, material: "
    "rubber,\n"
    "        strain: cosserat legendre 4}}\n"
    "actuators: {cord: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0.5 N}}\n"
    "loads: {push: {on: arm.tip, force: [0, 10 mN*sin(9*t/(1 s)), \"5 mN*step(t, 3 ms)\"]}}\n"
    "probes: {tip: {position: arm.tip}, e: energy}\n"
    "study: [static: {}, dynamic: {for: 4 ms, step: 2 ms}]\n";

static const char bars[] = "sinew: 1\n" FOUR_BAR "probes: {tip: {position: a}}\n"
                           "study: [dynamic: {for: 4 ms, step: 2 ms}]\n";

static const char plain[] = "sinew: 1\n"
                            "gravity: 0\n"
                            "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
                            "robot:\n"
                            "  arm: {on: world, rod: {length: 0.5 m, section: {circle: {radius: 10 "
                            "mm}}, material: rubber,\n"
                            "        strain: cosserat legendre 3}}\n"
                            "loads: {push: {on: arm.tip, force: [0, 0, 10 mN]}}\n"
                            "probes: {tip: {position: arm.tip}}\n"
                            "study: [dynamic: {for: 4 ms, step: 2 ms}]\n";

static const struct {
    const char *text, *scheme, *engine;
    bool rests; // it starts at its equilibrium
} robots[] = {
    {soft, "generalized-alpha", NULL, true}, {soft, "gauss4", NULL, false},
    {plain, "conserving", NULL, false},      {bars, "bdf2", NULL, false},
    {plain, "adaptive", NULL, false},        {plain, "bdf2", "shooting", true},
    {soft, "radau5", NULL, false},
};

enum { ROBOTS = sizeof robots / sizeof *robots, STEPS = AMONG(3, 20), NUMBERS = 64 };

typedef struct course {
    int robot;
    char fault[200];
    double number[NUMBERS]; // from its last state and from its probe
} course;

static snw_status take_course(course *c, snw_robot *r, snw_error *err) {
    if (robots[c->robot].rests) {
        const snw_status s = snw_robot_equilibrium(r, 0, err);
        if (s != SNW_OK) return s;
        c->number[0] = snw_robot_stability(r);
    }
    snw_robot_steps how = snw_robot_steps_defaults(2e-3);
    how.scheme = robots[c->robot].scheme;
    how.engine = robots[c->robot].engine;
    snw_status s = snw_robot_start(r, &how, err);
    for (int i = 0; i < STEPS && s == SNW_OK; i++) s = snw_robot_step(r, 2e-3, err);
    const int n = snw_robot_nq(r) < NUMBERS - 4 ? snw_robot_nq(r) : NUMBERS - 4;
    memcpy(c->number + 1, snw_robot_q(r), (size_t)n * sizeof(double));
    if (snw_robot_probe(r, "tip", 3, c->number + NUMBERS - 3) != 3) s = SNW_E_ARGUMENT;
    return s;
}

// reading, statics, motion
static void *live(void *user) {
    course *c = user;
    snw_robot *r = NULL;
    snw_error err = {0};
    const char *text = robots[c->robot].text;
    snw_status s = snw_robot_parse("robot", text, strlen(text), NULL, 0, NULL, &r, &err);
    if (s == SNW_OK) s = take_course(c, r, &err);
    if (s != SNW_OK) {
        (void)snprintf(c->fault, sizeof c->fault, "%s, %.150s", robots[c->robot].scheme, err.text);
    }
    snw_robot_close(r);
    return NULL;
}

// every pair of neighbours in the list at once, and each with itself
static void robots_of_threads_have_the_bits_they_have_alone(void **state) {
    (void)state;
    static course alone[ROBOTS], beside[THREADS];
    for (int i = 0; i < ROBOTS; i++) {
        alone[i].robot = i;
        (void)live(&alone[i]);
        if (alone[i].fault[0]) fail_msg("%s", alone[i].fault);
    }
    for (int k = 0; k < ROBOTS; k++) {
        for (int i = 0; i < THREADS; i++) beside[i] = (course){.robot = (k + i / 2) % ROBOTS};
        in_threads(live, beside, sizeof *beside);
        for (int i = 0; i < THREADS; i++) {
            const course *c = &beside[i];
            if (c->fault[0]) fail_msg("%s", c->fault);
            if (memcmp(c->number, alone[c->robot].number, sizeof c->number) != 0) {
                fail_msg("%s: other bits beside others", robots[c->robot].scheme);
            }
        }
    }
}

// ---- one model --------------------------------------------------------------------------------

typedef struct shared_course {
    snw_robot_model *model;
    course course;
    double frame[NUMBERS]; // of a study, and of a robot with another value
} shared_course;

static snw_status study_and_change(shared_course *c, snw_robot *r, snw_error *err) {
    static const char *const softer[] = {"rubber.young=0.9 MPa"};
    snw_study *study = NULL;
    snw_status s = snw_study_create(c->model, &study, err);
    if (s == SNW_OK) s = snw_study_run(study, 1, NULL, err);
    if (s == SNW_OK && snw_study_frames(study) > 0) {
        const double *column = snw_study_row(study, SNW_FIELD_COLUMN);
        memcpy(c->frame, column, 3 * sizeof *column);
    }
    snw_study_close(study);
    if (s == SNW_OK && robots[c->course.robot].text != bars)
        s = snw_robot_set_parameters(r, 1, softer, err);
    if (s == SNW_OK) memcpy(c->frame + 3, snw_robot_q(r), 3 * sizeof(double));
    if (s == SNW_OK && snw_robot_probe(r, "tip", 3, c->frame + 6) != 3) s = SNW_E_ARGUMENT;
    return s;
}

// a robot of the shared model: motion, a copy that moves on, a study, a change of values
static void *live_with_others(void *user) {
    shared_course *c = user;
    snw_robot *r = NULL, *copy = NULL;
    snw_error err = {0};
    (void)snw_robot_model_share(c->model);
    snw_status s = snw_robot_from_model(c->model, &r, &err);
    if (s == SNW_OK) s = take_course(&c->course, r, &err);
    if (s == SNW_OK && snw_robot_saves(r) > 0) s = snw_robot_copy(r, &copy, &err);
    if (s == SNW_OK && copy) s = snw_robot_step(copy, 2e-3, &err);
    if (s == SNW_OK && copy) memcpy(c->frame + 9, snw_robot_q(copy), 3 * sizeof(double));
    if (s == SNW_OK) s = study_and_change(c, r, &err);
    if (s != SNW_OK) {
        (void)snprintf(c->course.fault, sizeof c->course.fault, "%s, %.150s",
                       robots[c->course.robot].scheme, err.text);
    }
    snw_robot_close(copy);
    snw_robot_close(r);
    snw_robot_model_close(c->model);
    return NULL;
}

static void robots_of_one_model_have_the_bits_they_have_alone(void **state) {
    (void)state;
    for (int k = 0; k < ROBOTS; k++) {
        static shared_course beside[THREADS];
        static course alone;
        snw_robot_model *m = NULL;
        snw_error err = {0};
        alone = (course){.robot = k};
        (void)live(&alone);
        const char *text = robots[k].text;
        assert_int_equal(
            snw_robot_model_parse("robot", text, strlen(text), NULL, 0, NULL, &m, &err), SNW_OK);
        for (int i = 0; i < THREADS; i++) {
            beside[i] = (shared_course){.model = m, .course = {.robot = k}};
        }
        in_threads(live_with_others, beside, sizeof *beside);
        snw_robot_model_close(m);
        for (int i = 0; i < THREADS; i++) {
            const course *c = &beside[i].course;
            if (c->fault[0]) fail_msg("%s", c->fault);
            if (memcmp(c->number, alone.number, sizeof c->number) != 0 ||
                memcmp(beside[i].frame, beside[0].frame, sizeof beside[i].frame) != 0) {
                fail_msg("%s: other bits beside others", robots[k].scheme);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_belongs_to_one_thread),
        cmocka_unit_test(matrices_of_threads_do_not_mix),
        cmocka_unit_test(robots_of_threads_have_the_bits_they_have_alone),
        cmocka_unit_test(robots_of_one_model_have_the_bits_they_have_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
