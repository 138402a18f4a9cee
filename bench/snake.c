// SPDX-License-Identifier: MIT
//
// A snake of n modules whose shape is given, three of them on wheels: time of a rate (motion, torques, reactions) and of a step of
// Runge and Kutta's method of order 4, by n. And Hirose's snake with all modules on wheels, of which all but the first joints follow.
#include "bench.h"

#include "io/document.h"
#include "study/explicit.h"
#include "study/reduced.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// of the gait of 2 pi s; the head of the ten-module snake is then right to 1e-6 m after 20 s (examples/locomotion/wheeled_snake.yaml)
static const double STEP = 0.1;

static char *snake_text(int n, bool follow) {
    static char text[3000];
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
        "contacts:\n  wheel(k=1..3): {wheel: {on: axle(k), axis: y}}\n%s",
        n, follow ? "free" : "r(k)",
        follow ? "  wheel(k=4..n): {wheel: {on: axle(k), axis: y}}\n" : "");
    return text;
}

typedef struct run {
    snw_reduced *red;
    snw_inputs *in;
    snw_state *s;
    snw_explicit *e;
    bool failed;
} run;

static void one_rate(void *user) {
    run *r = user;
    r->failed |= snw_reduced_motion(r->red, r->in, r->s, NULL) != SNW_OK;
}

static void one_step(void *user) {
    run *r = user;
    const double t = snw_explicit_state(r->e)->t;
    r->failed |= snw_explicit_advance(r->e, t + STEP, INFINITY, NULL) != SNW_OK;
}

// seconds of a rate and of a step
static void measure(int n, bool follow, double *rate, double *step) {
    snw_document *doc = NULL;
    snw_desc *desc = NULL;
    snw_model *m = NULL;
    snw_inputs *in = NULL;
    snw_state *s = NULL;
    snw_reduced *red = NULL;
    snw_explicit *e = NULL;
    snw_error err = {0};
    const char *text = snake_text(n, follow);
    const snw_reduced_opts opts = {.torque = 1};
    snw_explicit_opts o = snw_explicit_defaults();
    o.kind = SNW_ODE_RK4, o.step = STEP, o.reduced = true, o.torque = 1, o.duration = 1;
    bool failed = false;
    *rate = *step = NAN;
    if (snw_document_parse("snake.yaml", text, strlen(text), 0, NULL, &doc, &err) == SNW_OK &&
        snw_document_describe(doc, 0, &desc, &err) == SNW_OK &&
        snw_model_compile(desc, &m, &err) == SNW_OK && snw_inputs_create(m, &in) == SNW_OK &&
        snw_state_create(m, &s) == SNW_OK && snw_reduced_create(m, &opts, &red, &err) == SNW_OK &&
        snw_reduced_start(red, in, s, 1, &err) == SNW_OK &&
        snw_explicit_create(m, &o, &e, &err) == SNW_OK &&
        snw_explicit_start(e, s, 0, &err) == SNW_OK) {
        snw_inputs_at(m, 0.1, in);
        run r = {.red = red, .in = in, .s = s, .e = e};
        *rate = bench_time(one_rate, &r, 0.2);
        *step = bench_time(one_step, &r, 0.2);
        failed = r.failed;
    }
    if (failed) fprintf(stderr, "n = %d: a step failed\n", n);
    if (err.status != SNW_OK) fprintf(stderr, "n = %d: %s\n", n, err.text);
    snw_explicit_destroy(e);
    snw_reduced_destroy(red);
    snw_state_destroy(s);
    snw_inputs_destroy(in);
    snw_model_destroy(m);
    snw_desc_destroy(desc);
    snw_document_destroy(doc);
}

static void table(const bench_table *t, const char *what, bool follow, int most) {
    printf("%s\n\n| n | rate, us | us per module | step, us | times real time "
           "|\n|---|---|---|---|---|\n",
           what);
    for (int n = 4; n <= most; n *= 2) {
        double rate, step;
        char row[40];
        measure(n, follow, &rate, &step);
        printf("| %d | %.1f | %.2f | %.0f | %.0f |\n", n, 1e6 * rate, 1e6 * rate / n, 1e6 * step,
               STEP / step);
        (void)snprintf(row, sizeof row, "%s %d", follow ? "follow" : "driven", n);
        bench_record(t, row, "rate us", 1e6 * rate);
        bench_record(t, row, "step us", 1e6 * step);
    }
    printf("\n");
}

int main(int argc, char **argv) {
    bench_table t = bench_open("snake", "Snakes of given shape, steps of 100 ms", argc, argv);
    table(&t, "all joints driven, three axles on wheels", false, 512);
    table(&t, "all axles on wheels, all but two joints follow", true, 8);
    bench_close(&t);
    return 0;
}
