// SPDX-License-Identifier: MIT
//
// Sixteen pendulums on all cores. Each swings with its own amplitude and has the length with which
// this swing takes one second, by the arithmetic-geometric mean of Gauss,
//   T = 2 pi sqrt(l/g) / agm(1, cos(amplitude/2)),
// so all of them are back after a second, at rest.
//
//   cc batch.c $(pkg-config --cflags --libs sinew) -lm -o batch && ./batch
#include <math.h>
#include <sinew/sinew.h>
#include <stdio.h>
#include <string.h>

enum { N = 16 };

static const char pendulum[] = "sinew: 1\n"
                               "gravity: [0, 0, -9.81]\n"
                               "parameters: {l: 0.25 m}\n"
                               "robot:\n"
                               "  bob: {on: world, joint: revolute, axis: y, body: {mass: 1 kg,\n"
                               "        com: [0, 0, -l], inertia: [1e-13, 1e-13, 1e-13]}}\n";

static double mean(double a, double b) {
    while (fabs(a - b) > 1e-15) {
        const double c = sqrt(a * b);
        a = (a + b) / 2;
        b = c;
    }
    return a;
}

static double amplitude(int i) { return 0.1 + 2.5 * i / (N - 1); } // rad

static snw_status swing(snw_batch *b, snw_error *err) {
    for (int i = 0; i < N; i++) {
        const double root = mean(1, cos(amplitude(i) / 2)) / (2 * acos(-1.0));
        char length[40];
        snprintf(length, sizeof length, "l=%.17g", 9.81 * root * root);
        const char *const set[] = {length};
        const snw_status s = snw_robot_set_parameters(snw_batch_robot(b, i), 1, set, err);
        if (s != SNW_OK) return s;
        snw_batch_q(b)[i] = amplitude(i);
    }
    snw_robot_steps how = snw_robot_steps_defaults(1e-3);
    how.scheme = "gauss4";
    const snw_status s = snw_batch_start(b, &how, NULL, err);
    return s == SNW_OK ? snw_batch_step(b, 1e-3, 1000, NULL, err) : s;
}

int main(void) {
    snw_error err = {0};
    snw_robot_model *model = NULL;
    snw_batch *b = NULL;
    snw_status s =
        snw_robot_model_parse("pendulum", pendulum, strlen(pendulum), NULL, 0, NULL, &model, &err);
    if (s == SNW_OK) s = snw_batch_create(model, N, 0, &b, &err);
    if (s == SNW_OK) s = swing(b, &err);
    if (s != SNW_OK) fprintf(stderr, "%s\n", err.text);
    double worst = 0;
    for (int i = 0; s == SNW_OK && i < N; i++) {
        const double angle = snw_batch_q(b)[i], rate = snw_batch_v(b)[i];
        worst = fmax(worst, fmax(fabs(angle - amplitude(i)), fabs(rate)));
    }
    if (s == SNW_OK) {
        printf("%d pendulums on %d threads, after a swing off by %.1g at most\n", N,
               snw_batch_threads(b), worst);
    }
    snw_batch_close(b);
    snw_robot_model_close(model);
    return s != SNW_OK || !(worst < 1e-6);
}
