// SPDX-License-Identifier: MIT
//
// Long rods: one rod with a local basis, n elements, as a local model. Processor time of inverse
// dynamics, and of factorisation and solution of Newton's equations; the same with a spring, a loop
// and a tendon of given length, a border of ten unknowns.
#include "bench.h"

#include "constraint/elimination.h"
#include "described.h"

#include <math.h>

typedef struct long_rod {
    snw_document *doc;
    snw_desc *desc;
    snw_model *m;
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
    snw_elimination *e;
    double *x;
} long_rod;

static const char text[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "materials: {gel: {young: 5 MPa, poisson: 0.45, density: 1100, damping: 5 ms}}\n"
    "robot:\n"
    "  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 10 mm}}, material: gel,"
    " strain: kirchhoff linear, elements: %d}}\n%s";

static const char border[] =
    "springs: {stay: {spring: [arm@30%, arm.tip], rest: 0.5, stiffness: 2}}\n"
    "loops: {pin: {join: [world, arm@80%], as: spherical, pose: {xyz: [0.8, 0, 0]}}}\n"
    "actuators: {wire: {tendon: {along: arm, at: [0, 4 mm, 0]}, shortening: 1 mm}}\n";

static void open_rod(long_rod *r, int n, const char *more) {
    char all[2000];
    snw_error err = {0};
    (void)snprintf(all, sizeof all, text, n, more);
    if (describe(all, &r->doc, &r->desc, &err) != SNW_OK ||
        snw_model_compile_for(r->desc, SNW_USE_LOCAL, &r->m, &err) != SNW_OK ||
        snw_state_create(r->m, &r->s) != SNW_OK || snw_inputs_create(r->m, &r->in) != SNW_OK ||
        snw_work_create(r->m, &r->w) != SNW_OK || snw_elimination_create(r->m, &r->e) != SNW_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    r->x = calloc((size_t)(r->m->nv + r->m->nconstraint), sizeof *r->x);
    for (int i = 0; i < r->m->nv; i++) r->s->q[i] = 0.5 * sin(i), r->s->v[i] = 0.1 * cos(i);
    snw_inputs_at(r->m, 0, r->in);
}

static void close_rod(long_rod *r) {
    free(r->x);
    snw_elimination_destroy(r->e);
    snw_work_destroy(r->w);
    snw_inputs_destroy(r->in);
    snw_state_destroy(r->s);
    snw_model_destroy(r->m);
    release(r->doc, r->desc);
}

static void inverse_dynamics(void *user) {
    long_rod *r = user;
    snw_residual(r->m, r->in, r->s, false, r->w);
}

static void factor(void *user) {
    long_rod *r = user;
    const snw_tangent_at at = {.in = r->in, .cq = 1, .cv = 2e3, .ca = 4e6, .rows = 1};
    if (snw_elimination_factor(r->e, &at, r->w) != SNW_OK) exit(1);
}

static void solve(void *user) {
    long_rod *r = user;
    for (int i = 0; i < r->m->nv; i++) r->x[i] = r->w->r[i];
    snw_elimination_solve(r->e, r->x);
}

// Milliseconds of processor time of a call, the smallest of some: a call is longer than the time
// that the system gives a process at once.
static double processor_ms(bench_fn *fn, void *user) {
    double best = INFINITY;
    for (int i = 0; i < 12; i++) {
        const double start = bench_processor();
        fn(user);
        best = fmin(best, bench_processor() - start);
    }
    return 1e3 * best;
}

int main(int argc, char **argv) {
    bench_table t = bench_open("long", "One rod with a local basis, kirchhoff linear", argc, argv);
    for (int k = 0; k < 2; k++) {
        printf("%s\n%9s %12s %12s %12s %12s %16s\n",
               k ? "\nwith a spring, a loop and a given length" : "", "elements", "coordinates",
               "residual ms", "factor ms", "solve ms", "products/coord.");
        for (int n = 30; n <= 10000; n = n % 3 ? 3 * n : 10 * n / 3) {
            long_rod r;
            char row[32];
            open_rod(&r, n, k ? border : "");
            const double residual = processor_ms(inverse_dynamics, &r),
                         factors = processor_ms(factor, &r), solution = processor_ms(solve, &r);
            printf("%9d %12d %12.3f %12.3f %12.3f %16.0f\n", n, r.m->nv, residual, factors,
                   solution, snw_elimination_operations(r.e) / r.m->nv);
            (void)snprintf(row, sizeof row, "%d%s", r.m->nv, k ? " border" : "");
            bench_record(&t, row, "factor ms", factors);
            close_rod(&r);
        }
    }
    bench_close(&t);
    return 0;
}
