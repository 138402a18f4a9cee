// SPDX-License-Identifier: MIT
//
// Steps per second of robots on a graphics processor: bench_device_batch MODEL DEVICE H COUNT
// CHECKED N.. For each N: time of COUNT steps of H seconds after as many to warm up. Before, the
// motion of robots pushed differently is compared with robots stepped alone, over CHECKED steps. In
// the environment, NO_ACCOUNT=1: without the account of energy.
#include "sinew/sinew.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static snw_error err;

static void expect(snw_status s, const char *what) {
    if (s == SNW_OK) return;
    (void)fprintf(stderr, "%s: %s\n", what, err.text);
    exit(1);
}

// Velocity k of robot i, in units of a slow motion.
static double push(int i, int k) { return 0.2 * sin(1.7 * i + 2.3 * k + 0.4 * (i % 97) * k); }

// v <- different velocities
static void push_all(snw_device_batch *b) {
    const int n = snw_device_batch_size(b), nv = snw_device_batch_nv(b);
    double *row = malloc((size_t)n * sizeof *row);
    for (int k = 0; k < nv; k++) {
        for (int i = 0; i < n; i++) row[i] = push(i, k);
        expect(snw_device_batch_write(b, row, (size_t)n * sizeof *row,
                                      snw_device_batch_v(b) + (size_t)k * (size_t)n, &err),
               "write");
    }
    free(row);
}

static void compare(snw_robot_model *m, const char *device, double h, int steps) {
    enum { N = 8 };
    snw_device_batch *b;
    double most = 0, size = 0;
    int worst[2] = {0, 0};
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    expect(snw_device_batch_create(m, N, device, &b, &err), "create");
    push_all(b);
    expect(snw_device_batch_start(b, &how, NULL, &err), "start");
    expect(snw_device_batch_step(b, h, steps, &err), "step");
    const int nq = snw_device_batch_nq(b), nv = snw_device_batch_nv(b);
    double *q = malloc((size_t)nq * N * sizeof *q);
    int status[N];
    expect(snw_device_batch_read(b, snw_device_batch_q(b), (size_t)nq * N * sizeof *q, q, &err),
           "read");
    expect(snw_device_batch_read(b, snw_device_batch_status(b), sizeof status, status, &err),
           "read");
    for (int i = 0; i < N; i++) {
        snw_robot *r;
        int done = 0;
        expect(snw_robot_from_model(m, &r, &err), "robot");
        for (int k = 0; k < nv; k++) snw_robot_v(r)[k] = push(i, k);
        expect(snw_robot_start(r, &how, &err), "robot's start");
        const snw_status s = snw_robot_advance(r, h, steps, &done, &err);
        if (status[i] != 0 || s != SNW_OK) {
            printf("  robot %d: device: %s; alone: %s\n", i,
                   snw_device_batch_status_text(status[i]), s == SNW_OK ? "steps" : err.text);
        } else {
            for (int k = 0; k < nq; k++) {
                const double x = snw_robot_q(r)[k];
                if (fabs(q[k * N + i] - x) > most) worst[0] = i, worst[1] = k;
                most = fmax(most, fabs(q[k * N + i] - x));
                size = fmax(size, fabs(x));
            }
        }
        snw_robot_close(r);
    }
    free(q);
    snw_device_batch_close(b);
    printf("  %d steps of %g s: largest difference %.3g of %.3g (robot %d, q %d)\n", steps, h, most,
           size, worst[0], worst[1]);
}

static void measure(snw_robot_model *m, const char *device, double h, int count, int n) {
    snw_device_batch *b;
    snw_device_batch_counts before, after;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    const double t0 = now();
    expect(snw_device_batch_create(m, n, device, &b, &err), "create");
    const double t1 = now();
    push_all(b);
    snw_device_batch_set_account(b, getenv("NO_ACCOUNT") == NULL);
    expect(snw_device_batch_start(b, &how, NULL, &err), "start");
    expect(snw_device_batch_step(b, h, count, &err), "step");
    expect(snw_device_batch_count(b, &before, &err), "count");
    const double t2 = now();
    expect(snw_device_batch_step(b, h, count, &err), "step");
    expect(snw_device_batch_wait(b, &err), "wait");
    const double t3 = now();
    expect(snw_device_batch_count(b, &after, &err), "count");
    const double steps = (double)n * count;
    printf("  %8d robots %6d steps %.4g s: %.4g steps/s, %.4g simulated s/s, %.3g iterations, "
           "%.3g matrices a step, %d failed, %.0f B a robot, made in %.1f s (%s)\n",
           n, count, t3 - t2, steps / (t3 - t2), steps * h / (t3 - t2),
           (double)(after.iterations - before.iterations) / steps,
           (double)(after.tangents - before.tangents) / steps, after.failed,
           (double)snw_device_batch_bytes(b) / n, t1 - t0, snw_device_batch_name(b));
    (void)fflush(stdout);
    snw_device_batch_close(b);
}

int main(int argc, char **argv) {
    if (argc < 6) { // `make bench` calls it so
        printf("bench_device_batch MODEL DEVICE H COUNT CHECKED N..\n");
        return argc == 1 ? 0 : 2;
    }
    snw_robot_model *m;
    expect(snw_robot_model_open(argv[1], NULL, 0, NULL, &m, &err), argv[1]);
    const double h = strtod(argv[3], NULL);
    printf("%s\n", argv[1]);
    if (atoi(argv[5]) > 0) compare(m, argv[2], h, atoi(argv[5]));
    for (int i = 6; i < argc; i++) measure(m, argv[2], h, atoi(argv[4]), atoi(argv[i]));
    snw_robot_model_close(m);
    return 0;
}
