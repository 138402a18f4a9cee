// SPDX-License-Identifier: MIT
//
// Snakes of n modules with prescribed shape, by n: time to read one, of a rate (motion, torques,
// reactions), of a step of the Runge-Kutta method of order 4, and of a step of the whole study with
// all torques and reactions recorded. Three axles on wheels and all joints driven; and Hirose's
// snake with all modules on wheels, in which all but the first joints are passive.
#include "bench.h"

#include "constraint/locomotion.h"
#include "constraint/projection.h"
#include "integrate/explicit.h"
#include "language/document.h"
#include "study/run.h"
#include "study/series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// s, of the gait of 2 pi s; the head of the ten-module snake is then accurate to 1e-6 m after 20 s
// (examples/locomotion/wheeled_snake.yaml)
static const double STEP = 0.1;
enum { STUDY_STEPS = 50 };

// a bend that starts abruptly propagates along n passive joints in waves that are shorter for
// larger n: steps decrease with n
static double step_of(int n, bool follow) { return follow ? STEP * 4 / n : STEP; }

static char *snake_text(int n, bool follow) {
    static char text[3000];
    const double step = step_of(n, follow);
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\ngravity: 0\nparameters: {n: %d, l: 0.1, r(k): 0.4*sin(t - 0.35*k)}\nrobot:\n"
        "  link(1): {on: world, joint: planar, body: {mass: 0.3, inertia: [1e-3, 1e-3, 1e-3]}}\n"
        "  link(2): {on: link(1), pose: {xyz: [l, 0, 0]}, joint: revolute, body: {mass: 0.3, com: "
        "[l, 0, 0], inertia: [1e-3, 1e-3, 1e-3]}}\n"
        "  link(k=3..n): {on: link(k-1), pose: {xyz: [2*l, 0, 0]}, joint: revolute, body: {mass: "
        "0.3, com: [l, 0, 0], inertia: [1e-3, 1e-3, 1e-3]}}\n"
        "sites:\n  axle(1): {on: link(1)}\n  axle(k=2..n): {on: link(k), pose: {xyz: [l, 0, 0]}}\n"
        "actuators:\n  bend(k=2..3): {joint: link(k), position: r(k)}\n"
        "  bend(k=4..n): {joint: link(k), position: %s}\n"
        "contacts:\n  wheel(k=1..3): {wheel: {on: axle(k), axis: y}}\n%s"
        "study: [kinematic: {for: %g s, step: %g s}]\nrecord: {every: %g s}\n"
        "probes: {tau(k=2..n): {effort: bend(k)}, w(k=1..%s): {reaction: wheel(k)}, e: energy}\n",
        n, follow ? "free" : "r(k)",
        follow ? "  wheel(k=4..n): {wheel: {on: axle(k), axis: y}}\n" : "", STUDY_STEPS * step,
        step, step, follow ? "n" : "3");
    return text;
}

typedef struct figures {
    double read, rate, step, study; // s
} figures;

typedef struct motion {
    snw_locomotion *red;
    snw_inputs *in;
    snw_state *s;
    snw_explicit *e;
    double h;
    bool failed;
} motion;

static void one_rate(void *user) {
    motion *r = user;
    r->failed |= snw_locomotion_motion(r->red, r->in, r->s, NULL) != SNW_OK;
}

static void one_step(void *user) {
    motion *r = user;
    const double t = snw_explicit_state(r->e)->t;
    r->failed |= snw_explicit_advance(r->e, t + r->h, INFINITY, NULL) != SNW_OK;
}

// the smallest processor time of single calls: those of long snakes take so long that other
// processes interrupt them
static double processor_time(bench_fn *fn, void *user) {
    double best = INFINITY, spent = 0;
    for (int i = 0; i < 20 || spent < 0.2; i++) {
        const double start = bench_processor();
        fn(user);
        const double took = bench_processor() - start;
        best = fmin(best, took);
        spent += took;
    }
    return best;
}

// seconds for a rate and for a step
static snw_status measure_steps(const snw_desc *desc, const snw_model *m, double h, figures *f,
                                snw_error *err) {
    motion r = {.h = h};
    const snw_locomotion_opts opts = {.torque = 1};
    snw_explicit_opts o = snw_explicit_defaults();
    o.kind = SNW_ODE_RK4, o.step = h, o.locomotion = true, o.torque = 1;
    o.duration = desc->step[0].duration;
    snw_status s = snw_inputs_create(m, &r.in);
    if (s == SNW_OK) s = snw_state_create(m, &r.s);
    if (s == SNW_OK) s = snw_locomotion_create(m, &opts, &r.red, err);
    if (s == SNW_OK) s = snw_locomotion_start(r.red, r.in, r.s, 1, err);
    if (s == SNW_OK) s = snw_explicit_create(m, &o, &r.e, err);
    if (s == SNW_OK) s = snw_explicit_start(r.e, r.s, err);
    if (s == SNW_OK) {
        snw_inputs_at(m, 0.1, r.in);
        f->rate = bench_time(one_rate, &r, 0.2);
        f->step = processor_time(one_step, &r);
        if (r.failed) s = SNW_E_DIVERGED;
    }
    snw_explicit_destroy(r.e);
    snw_locomotion_destroy(r.red);
    snw_state_destroy(r.s);
    snw_inputs_destroy(r.in);
    return s;
}

// processor time per step of the fastest of three studies
static snw_status measure_study(const snw_desc *desc, figures *f, snw_error *err) {
    snw_status s = SNW_OK;
    f->study = INFINITY;
    for (int i = 0; i < 3 && s == SNW_OK; i++) {
        snw_run *run = NULL;
        snw_series series;
        s = snw_run_create(desc, "main", &run, err);
        if (s != SNW_OK) break;
        snw_series_init(&series, snw_run_describe(run)->ncolumn);
        const snw_recorder recorder = snw_series_recorder(&series);
        const double start = bench_processor();
        s = snw_run_execute(run, 1, &recorder, NULL, NULL, err);
        f->study = fmin(f->study, (bench_processor() - start) / STUDY_STEPS);
        snw_series_clear(&series);
        snw_run_destroy(run);
    }
    return s;
}

static figures measure(int n, bool follow) {
    figures f = {NAN, NAN, NAN, NAN};
    snw_document *doc = NULL;
    snw_desc *desc = NULL;
    snw_model *m = NULL;
    snw_error err = {0};
    const char *text = snake_text(n, follow);
    const double start = bench_processor();
    snw_status s = snw_document_parse("snake.yaml", text, strlen(text), 0, NULL, &doc, &err);
    if (s == SNW_OK) s = snw_document_describe(doc, 0, &desc, &err);
    if (s == SNW_OK) s = snw_projection_compile_for(desc, SNW_USE_KINEMATIC, &m, &err);
    f.read = bench_processor() - start;
    if (s == SNW_OK) s = measure_steps(desc, m, step_of(n, follow), &f, &err);
    if (s == SNW_OK) s = measure_study(desc, &f, &err);
    if (s != SNW_OK) fprintf(stderr, "n = %d: %s\n", n, err.text[0] ? err.text : "a step failed");
    snw_model_destroy(m);
    snw_desc_destroy(desc);
    snw_document_destroy(doc);
    return f;
}

// slope: exponent of the rate's time in n, from n/2 to n
static void table(const bench_table *t, const char *what, bool follow) {
    double before = NAN;
    printf(
        "%s\n\n| n | read, ms | rate, us | us per module | slope | step, us | of the study | times "
        "real time |\n|---|---|---|---|---|---|---|---|\n",
        what);
    for (int n = 4; n <= 1024; n *= 2) {
        char row[40];
        const figures f = measure(n, follow);
        printf("| %d | %.1f | %.1f | %.2f | %.2f | %.0f | %.0f | %.3g |\n", n, 1e3 * f.read,
               1e6 * f.rate, 1e6 * f.rate / n, log2(f.rate / before), 1e6 * f.step, 1e6 * f.study,
               step_of(n, follow) / f.step);
        before = f.rate;
        (void)snprintf(row, sizeof row, "%s %d", follow ? "follow" : "driven", n);
        bench_record(t, row, "rate us", 1e6 * f.rate);
        bench_record(t, row, "step us", 1e6 * f.step);
        bench_record(t, row, "study us", 1e6 * f.study);
        bench_record(t, row, "read ms", 1e3 * f.read);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    bench_table t = bench_open("snake", "Snakes of given shape", argc, argv);
    table(&t, "all joints driven, three axles on wheels, steps of 100 ms", false);
    table(&t, "all axles on wheels, all but two joints follow, steps of 400 ms / n", true);
    bench_close(&t);
    return 0;
}
