// SPDX-License-Identifier: MIT
//
// Implicit steps per second of processor time of a batch on one thread: robots one by one, and in
// packs of 4 and 8. Steps of 5 ms, generalized-alpha, rods of silicone in different motions.
#include "sinew/sinew.h"

#include "bench.h"

#include <math.h>

enum { N = 64, SECONDS = 1 };

static const char head[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  arm: {on: world, rod: {length: 0.3 m, section: {circle: {radius: 10 mm}},\n"
    "        material: rubber, ";
static const struct {
    const char *name, *rod;
} robots[] = {{"rod, 9 coordinates, 8 nodes", "nodes: 8, strain: kirchhoff legendre 3}}\n"},
              {"rod, 36 coordinates, 20 nodes", "nodes: 20, strain: kirchhoff legendre 12}}\n"},
              {"rod, 9 coordinates, two tendons",
               "nodes: 8, strain: kirchhoff legendre 3}}\n"
               "actuators:\n"
               "  a: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0.5 N}\n"
               "  b: {tendon: {along: arm, at: [0, 7 mm, 0]}, effort: 0.2 N}\n"}};

// steps per second of processor time, the best of several runs
static double rate(snw_robot_model *m, int lanes, const char **engine, const char **why) {
    static const double h = 5e-3;
    snw_batch *b = NULL;
    snw_error err = {0};
    double best = 0;
    const snw_robot_steps how = snw_robot_steps_defaults(h);
    if (snw_batch_create(m, N, 1, &b, &err) != SNW_OK ||
        snw_batch_set_lanes(b, lanes, &err) != SNW_OK)
        goto failed;
    const int nq = snw_robot_nq(snw_batch_robot(b, 0));
    for (double end = bench_now() + SECONDS; bench_now() < end;) {
        for (int i = 0; i < N * nq; i++)
            snw_batch_q(b)[i] = (i % nq < 6 ? 3 : 0.2) * sin(1.7 * (i / nq) + 2.3 * (i % nq));
        for (int i = 0; i < N * nq; i++) snw_batch_v(b)[i] = 0;
        if (snw_batch_start(b, &how, NULL, &err) != SNW_OK ||
            snw_batch_step(b, h, 10, NULL, &err) != SNW_OK) // short steps after the start
            goto failed;
        const double start = bench_processor();
        if (snw_batch_step(b, h, 40, NULL, &err) != SNW_OK) goto failed;
        best = fmax(best, 40 * N / (bench_processor() - start));
    }
    *engine = snw_batch_engine(b, 0, why);
    snw_batch_close(b);
    return best;
failed:
    fprintf(stderr, "%s\n", err.text);
    snw_batch_close(b);
    return NAN;
}

int main(void) {
    printf("%-34s %-22s %12s %8s\n", "robot", "engine", "steps/s", "ratio");
    for (size_t k = 0; k < sizeof robots / sizeof *robots; k++) {
        char text[2000];
        snw_robot_model *m = NULL;
        snw_error err = {0};
        (void)snprintf(text, sizeof text, "%s%s", head, robots[k].rod);
        if (snw_robot_model_parse("rod", text, strlen(text), NULL, 0, NULL, &m, &err) != SNW_OK) {
            fprintf(stderr, "%d:%d: %s\n", err.line, err.column, err.text);
            return 1;
        }
        double alone = 0;
        for (int lanes = 1; lanes <= 8; lanes += lanes == 1 ? 3 : 4) {
            const char *engine = "", *why = "";
            const double r = rate(m, lanes, &engine, &why);
            if (lanes == 1) alone = r;
            printf("%-34s %-22s %12.0f %8.2f %s\n", robots[k].name, engine, r, r / alone,
                   lanes > 1 ? why : "");
        }
        snw_robot_model_close(m);
    }
    return 0;
}
