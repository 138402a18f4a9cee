// SPDX-License-Identifier: MIT
//
// Rods in contact with rods: n rods side by side on a floor of rods, each touching its neighbours;
// time of the search with all forces in one evaluation of the motion, beside the rest of it.
#include "bench.h"

#include "described.h"
#include "dynamics/rod_contact.h"

typedef struct bundle {
    snw_document *doc;
    snw_desc *desc;
    snw_model *m;
    snw_state *s;
    snw_inputs *in;
    snw_work *w;
} bundle;

static const char text[] =
    "sinew: 1\n"
    "parameters: {n: %d}\n"
    "materials: {m: {young: 1 MPa, density: 1000}}\n"
    "robot:\n"
    "  r(k=1..n): {on: world, pose: {xyz: [0, 19.9 mm*(k - 10*floor(k/10)), 19.9 mm*floor(k/10)], "
    "rpy: [0, 0, 0.01*(k - 2*floor(k/2))]}, rod: {length: 0.3, section: {circle: {radius: 10 mm}}, "
    "material: m, strain: {bend_y: legendre 2, bend_z: legendre 2}}}\n"
    "%s";

static void bundle_open(bundle *b, int n, bool touches) {
    char all[1000];
    snw_error err = {0};
    (void)snprintf(all, sizeof all, text, n,
                   touches ? "contacts: {c: {rods: {between: all, stiffness: 1 kPa}}}\n" : "");
    if (describe(all, &b->doc, &b->desc, &err) != SNW_OK ||
        snw_model_compile(b->desc, &b->m, &err) != SNW_OK ||
        snw_state_create(b->m, &b->s) != SNW_OK || snw_inputs_create(b->m, &b->in) != SNW_OK ||
        snw_work_create(b->m, &b->w) != SNW_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    snw_inputs_at(b->m, 0, b->in);
}

static void bundle_close(bundle *b) {
    snw_work_destroy(b->w);
    snw_inputs_destroy(b->in);
    snw_state_destroy(b->s);
    snw_model_destroy(b->m);
    release(b->doc, b->desc);
}

static void evaluate(void *user) {
    bundle *b = user;
    snw_kinematics(b->m, b->in, b->s, false, b->w);
}

int main(int argc, char **argv) {
    bench_table t = bench_open("bundle", "A bundle of rods, ten in a row, that touch", argc, argv);
    printf("%8s %8s %10s %10s %14s %14s %12s\n", "rods", "slices", "compared", "touches",
           "motion us", "contact us", "us per rod");
    for (int n = 10; n <= 640; n *= 2) {
        bundle b, free;
        char row[16];
        bundle_open(&b, n, true);
        bundle_open(&free, n, false);
        const double all = 1e6 * bench_time(evaluate, &b, 0.3),
                     motion = 1e6 * bench_time(evaluate, &free, 0.3);
        printf("%8d %8d %10ld %10d %14.1f %14.1f %12.2f\n", n, b.m->ntouching_slice,
               b.w->near_slices, b.w->ntouch, motion, all - motion, (all - motion) / n);
        (void)snprintf(row, sizeof row, "%d", n);
        bench_record(&t, row, "contact us", all - motion);
        bundle_close(&b);
        bundle_close(&free);
    }
    bench_close(&t);
    return 0;
}
