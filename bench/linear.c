// SPDX-License-Identifier: MIT
//
// Linear models of one Kirchhoff rod in motion: tip force in, tip position out.
#include "bench.h"

#include "sinew/sinew.h"

typedef struct model {
    snw_robot *r;
    snw_linear_model *m;
} model;

static void die(const snw_error *err) {
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

// n functions for each of twist and two bendings
static void model_open(model *k, int n, int nodes) {
    char text[900];
    snw_error err = {0};
    const int size = snprintf(
        text, sizeof text,
        "sinew: 1\nmaterials: {rubber: {young: 1 MPa, poisson: 0.45, density: 1100, damping: 10 "
        "ms}}\n"
        "robot: {arm: {on: world, rod: {length: 0.5, section: {circle: {radius: 1 cm}}, material: "
        "rubber, strain: kirchhoff legendre %d, nodes: %d}}}\n"
        "loads: {push: {on: arm.tip, force: [0 N, 0.1 N, 0 N]}}\nprobes: {tip: {position: "
        "arm.tip}}\n",
        n, nodes);
    if (snw_robot_parse("rod", text, (size_t)size, NULL, 0, NULL, &k->r, &err) != SNW_OK) die(&err);
    for (int i = 0; i < snw_robot_nv(k->r); i++) {
        snw_robot_q(k->r)[i] = 0.3 / (1 + i);
        snw_robot_v(k->r)[i] = 0.5 / (1 + i);
    }
    static const char *const input[] = {"push"}, *const output[] = {"tip"};
    snw_linear_options how = snw_linear_defaults();
    how.ninput = how.noutput = 1;
    how.input = input;
    how.output = output;
    if (snw_robot_linearize(k->r, &how, &k->m, &err) != SNW_OK) die(&err);
}

static void model_close(model *k) {
    snw_linear_close(k->m);
    snw_robot_close(k->r);
}

static void update(void *user) {
    snw_error err = {0};
    if (snw_linear_update(((model *)user)->m, &err) != SNW_OK) die(&err);
}

static void tangents(void *user) {
    static double K[300 * 300], D[300 * 300], M[300 * 300];
    if (snw_robot_tangent(((model *)user)->r, K, D, M) != SNW_OK) exit(1);
}

int main(int argc, char **argv) {
    bench_table b = bench_open("linear", "linear models", argc, argv);
    printf("linear model of a moving rod, 11 nodes: A, B (3 inputs), C (3 outputs), D\n");
    printf("  coordinates   us   target   residual and three tangents us\n");
    for (int n = 3; n <= 12; n *= 2) {
        model k;
        model_open(&k, n, 11);
        const double us = 1e6 * bench_time(update, &k, 0.3),
                     part = 1e6 * bench_time(tangents, &k, 0.3);
        char target[8] = "-", row[32];
        if (n == 3) (void)snprintf(target, sizeof target, "100");
        printf("  %11d   %4.0f   %6s   %30.0f\n", 3 * n, us, target, part);
        (void)snprintf(row, sizeof row, "%d coordinates", 3 * n);
        bench_record(&b, row, "linear model us", us);
        model_close(&k);
    }
    bench_close(&b);
    return 0;
}
