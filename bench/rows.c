// SPDX-License-Identifier: MIT
//
// What a row of a sweep costs beside its solution: reading the changed tree, compiling it with what
// rows before have found out, closing its loops, solving, evaluating and storing. Parts are
// processor times of this thread; rows change a stiffness, a length or a motor's angle, which
// leave more or less to be found out again. `alone` is the same row compiled by itself, as by
// `sinew run`.
#include "bench.h"

#include "base/retain.h"
#include "constraint/projection.h"
#include "language/document.h"
#include "study/run.h"
#include "study/series.h"
#include "sweep/reuse.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 24 };

static const char rod_text[] =
    "sinew: 1\n"
    "gravity: 0\n"
    "materials: {rubber: {young: 10 MPa, poisson: 0.45, density: 1100 kg/m^3, damping: 10 ms}}\n"
    "robot: {arm: {on: world, rod: {length: 0.4 m, section: {circle: {radius: 5 mm}}, material: "
    "rubber, strain: {twist: legendre 3, bend_y: legendre 3, bend_z: legendre 3}}}}\n"
    "loads: {tip: {on: arm.tip, force: [0, 0, 0.1 N]}}\n"
    "study: [static: {}]\n"
    "probes: {p: {position: arm.tip}}\n";

static const char tendon_text[] =
    "sinew: 1\n"
    "gravity: 0\n"
    "parameters: {T: 3 N}\n"
    "materials: {rubber: {young: 10 MPa, poisson: 0.45, density: 1100 kg/m^3, damping: 10 ms}}\n"
    "robot: {arm: {on: world, rod: {length: 0.4 m, section: {circle: {radius: 5 mm}}, material: "
    "rubber, strain: {twist: legendre 3, bend_y: legendre 3, bend_z: legendre 3}}}}\n"
    "actuators:\n"
    "  up: {tendon: {along: arm, at: [0, 0, 4 mm]}, effort: T}\n"
    "  down: {tendon: {along: arm, at: [0, 0, -4 mm]}, effort: 1 N}\n"
    "study: [static: {}]\n"
    "probes: {p: {position: arm.tip}}\n";

typedef struct row_kind {
    const char *name, *file, *text, *run, *path;
    double from, to;
    const char *unit;
    bool closes; // kinematics change, so that loops are closed again
} row_kind;

static const row_kind kinds[] = {
    {"rod, stiffness", NULL, rod_text, NULL, "rubber.young", 10e6, 12e6, "Pa", false},
    {"rod, length", NULL, rod_text, NULL, "arm.rod.length", 0.4, 0.42, "m", false},
    {"tendon arm, tension", NULL, tendon_text, NULL, "T", 2, 4, "N", false},
    {"3-RFR, stiffness", "examples/workspace/three_rfr.yaml", NULL, "bent", "steel.young", 190e9,
     210e9, "Pa", false},
    {"3-RFR, angle", "examples/workspace/three_rfr.yaml", NULL, "bent", "motor(1).position", 0.2,
     0.6, "rad", true},
    {"3-RFR, geometry", "examples/workspace/three_rfr.yaml", NULL, "bent", "R", 0.245, 0.255, "m",
     true},
    {"Stewart-Gough, stiffness", "examples/parallel/stewart_gough.yaml", NULL, "home.1",
     "steel.young", 203e9, 210e9, "Pa", false},
    {"Stewart-Gough, load", "examples/parallel/stewart_gough.yaml", NULL, "home.1",
     "plate.body.mass", 0.08, 0.092, "kg", false},
    {"Stewart-Gough, geometry", "examples/parallel/stewart_gough.yaml", NULL, "home.1", "C", 0.087,
     0.0875, "m", true},
};

static void must(snw_status s, const snw_error *err) {
    if (s == SNW_OK) return;
    (void)fprintf(stderr, "bench_rows: %s\n", err->text);
    exit(1);
}

// Processor times of a row, s; they add up.
typedef struct parts {
    double read, compile, solve, store;
} parts;

typedef struct maker {
    snw_document *document;
    int run;
    snw_sweep_reuse *reuse; // NULL: each row by itself
    snw_run_loops *loops;
} maker;

static void make_row(const maker *k, const char *set, double *end, parts *out) {
    snw_desc *desc = NULL;
    snw_run *run = NULL;
    snw_error err = {0};
    bool all = false;
    const double t0 = bench_processor();
    must(snw_document_describe_with(k->document, k->run, 1, &set, NULL, &desc, &err), &err);
    const double t1 = bench_processor();
    if (k->reuse) {
        (void)snw_sweep_reuse_take(k->reuse, 0, desc, &all);
        must(snw_run_create_like(desc, "row", k->loops, &run, &err), &err);
    } else {
        must(snw_run_create(desc, "row", &run, &err), &err);
    }
    const double t2 = bench_processor();
    snw_series frames;
    snw_series_init(&frames, snw_run_describe(run)->ncolumn);
    const snw_recorder recorder = snw_series_recorder(&frames);
    const snw_run_hooks hooks = {.unchecked = true};
    snw_run_totals totals;
    must(snw_run_execute(run, 1, &recorder, &hooks, &totals, &err), &err);
    const double t3 = bench_processor();
    *end = frames.value[(size_t)(frames.nframe - 1) * (size_t)frames.ncolumn];
    snw_series_clear(&frames);
    if (k->reuse) snw_sweep_reuse_restore(k->reuse, 0, desc);
    const bool kept = k->reuse && !all && snw_sweep_reuse_keep(k->reuse, desc, snw_run_model(run));
    snw_run_destroy(run);
    if (!kept) snw_desc_destroy(desc);
    const double t4 = bench_processor();
    *out = (parts){.read = t1 - t0, .compile = t2 - t1, .solve = t3 - t2, .store = t4 - t3};
}

static void least(parts *a, const parts *b) {
    a->read = fmin(a->read, b->read);
    a->compile = fmin(a->compile, b->compile);
    a->solve = fmin(a->solve, b->solve);
    a->store = fmin(a->store, b->store);
}

// Processor time of closing the loops of a row from its initial configuration, s; 0 without loops.
static double closing(const maker *k, const char *set) {
    snw_desc *desc = NULL;
    snw_model *m = NULL;
    snw_error err = {0};
    must(snw_document_describe_with(k->document, k->run, 1, &set, NULL, &desc, &err), &err);
    must(snw_projection_compile(desc, &m, &err), &err);
    double best = 0;
    if (m->nloop > 0) {
        snw_projection *pr;
        snw_inputs *in;
        snw_state *s;
        snw_projection_info info;
        must(snw_projection_create(m, &pr), &err);
        must(snw_inputs_create(m, &in), &err);
        must(snw_state_create(m, &s), &err);
        snw_inputs_at(m, 0, in);
        best = INFINITY;
        for (int i = 0; i < 5; i++) {
            memcpy(s->q, m->q0, (size_t)m->nq * sizeof *s->q);
            const double start = bench_processor();
            must(snw_projection_close(pr, in, s, &info, &err), &err);
            best = fmin(best, bench_processor() - start);
        }
        snw_state_destroy(s);
        snw_inputs_destroy(in);
        snw_projection_destroy(pr);
    }
    snw_model_destroy(m);
    snw_desc_destroy(desc);
    return best;
}

static int find_run(const snw_document *d, const char *name) {
    int i = 0;
    while (name && strcmp(snw_document_run_name(d, i), name) != 0) i++;
    return i;
}

static void measure(bench_table *table, const row_kind *kind) {
    maker like = {0}, alone;
    snw_error err = {0};
    parts best = {INFINITY, INFINITY, INFINITY, INFINITY}, by_itself = best;
    double close = INFINITY;
    if (kind->text) {
        must(snw_document_parse(kind->name, kind->text, strlen(kind->text), 0, NULL, &like.document,
                                &err),
             &err);
    } else {
        must(snw_document_read(kind->file, 0, NULL, &like.document, &err), &err);
    }
    like.run = find_run(like.document, kind->run);
    alone = like;
    must(snw_sweep_reuse_create(1, &like.reuse, &err), &err);
    must(snw_run_loops_create(&like.loops), &err);
    for (int i = 0; i < ROWS; i++) {
        char set[128];
        parts now;
        double end[2];
        (void)snprintf(set, sizeof set, "%s=%.17g %s", kind->path,
                       kind->from + (kind->to - kind->from) * i / (ROWS - 1), kind->unit);
        make_row(&like, set, &end[0], &now);
        if (i > 1) least(&best, &now);
        make_row(&alone, set, &end[1], &now);
        least(&by_itself, &now);
        if (end[0] != end[1]) {
            (void)fprintf(stderr, "bench_rows: %s: row %d differs from itself alone\n", kind->name,
                          i);
            exit(1);
        }
        if (kind->closes && i < 4) close = fmin(close, closing(&like, set));
    }
    if (!kind->closes) close = 0;
    best.compile -= close;
    by_itself.compile -= close;
    const double over = best.read + best.compile + best.store;
    printf("  %-26s %7.3f %9.3f %9.3f %9.3f %7.3f %10.3f %10.3f\n", kind->name, 1e3 * best.read,
           1e3 * best.compile, 1e3 * close, 1e3 * best.solve, 1e3 * best.store, 1e3 * over,
           1e3 * by_itself.compile);
    bench_record(table, kind->name, "read ms", 1e3 * best.read);
    bench_record(table, kind->name, "compile ms", 1e3 * best.compile);
    bench_record(table, kind->name, "close ms", 1e3 * close);
    bench_record(table, kind->name, "solve ms", 1e3 * best.solve);
    bench_record(table, kind->name, "store ms", 1e3 * best.store);
    snw_run_loops_destroy(like.loops);
    snw_sweep_reuse_destroy(like.reuse);
    snw_document_destroy(like.document);
}

// From the root of the repository, where the examples are.
int main(int argc, char **argv) {
    snw_retain_memory(); // as workers of a sweep do
    bench_table b = bench_open("rows", "a row of a sweep: processor time of its parts", argc, argv);
    printf("  row that changes           read ms   compile     close     solve   store   overhead"
           "   compile alone\n");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) measure(&b, &kinds[i]);
    printf("  overhead: read, compile and store. close: initial closing of loops, which the first"
           " equilibrium takes over\n");
    bench_close(&b);
    return 0;
}
