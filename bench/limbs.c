// SPDX-License-Identifier: MIT
//
// Robots of many branches: k identical flexible limbs that close on one platform, with dense and
// with sparse factors; a long chain of rigid links; the RFRFR robot of references.md G7.7; Till's
// Stewart-Gough robot with legs of variable length.
#include "bench.h"

#include "constraint/projection.h"
#include "dynamics/constraint.h"
#include "integrate/implicit.h"
#include "language/document.h"
#include "limbs.h"
#include "study/run.h"

#include <math.h>

// a chain of rigid links, hinges about y and z in turn, released from the horizontal
static const char chain_text[] =
    "sinew: 1\n"
    "parameters: {n: 100}\n"
    "robot:\n"
    "  link(1): {on: world, joint: revolute, axis: y, body: {box: [10 cm, 2 cm, 2 cm], mass: 0.1 "
    "kg, com: [5 cm, 0, 0]}}\n"
    "  link(k=2..n): {on: link(k - 1), pose: {xyz: [10 cm, 0, 0]}, joint: revolute, axis: [0, k "
    "- 2*floor(k/2), 1 - k + 2*floor(k/2)], damping: 1e-3, body: {box: [10 cm, 2 cm, 2 cm], mass: "
    "0.1 kg, com: "
    "[5 cm, 0, 0]}}\n"
    "study: [dynamic: {for: 1 s, step: 5 ms}]\n";

// references.md G7.7 from the closed triangle on
static const char rfrfr_text[] =
    "sinew: 1\n"
    "gravity: 0\n"
    "parameters:\n"
    "  n: 3\n"
    "  rise: 0.5 N*m*poly5(t, 1 s, 2 s)\n"
    "  shake: \"if(t > 4 s and t <= 7 s, 0.04 N*m*(1 - cos(2*pi*(t - 4 s)/(1 s))), 0 N*m)\"\n"
    "materials: {steel: {young: 210 GPa, shear: 80 GPa, density: 7800 kg/m^3}}\n"
    "robot:\n"
    "  limb(k=1..2): {on: world, pose: {xyz: [0.4 m*(k - 1.5), 0, 0]}, joint: revolute, rod: "
    "{length: 1 m, section: {circle: {radius: 1 mm}}, material: steel, strain: {bend_z: legendre "
    "n}, nodes: 31}}\n"
    "initial: {limb(1): acos(0.2), limb(2): pi - acos(0.2)}\n"
    "loops: {tip: {join: [limb(1).tip, limb(2).tip], as: revolute}}\n"
    "loads:\n"
    "  motor(1): {on: limb(1).root, torque: [0, 0, shake - rise]}\n"
    "  motor(2): {on: limb(2).root, torque: [0, 0, rise]}\n"
    "study: [dynamic: {for: 10 s, step: 10 ms, rho: 0.5}]\n";

// examples/parallel/stewart_gough.yaml, its plate oscillating about its home position
static const char stewart_text[] =
    "sinew: 1\n"
    "parameters:\n"
    "  C: 87 mm\n"
    "  A: [-10 deg, 10 deg, 110 deg, 130 deg, 230 deg, 250 deg]\n"
    "  B: [-50 deg, 50 deg, 70 deg, 170 deg, 190 deg, 290 deg]\n"
    "materials: {steel: {young: 207 GPa, poisson: 0.3, density: 8000 kg/m^3}}\n"
    "robot:\n"
    "  leg(k=1..6): {on: world, pose: {xyz: [C*cos(A(k)), C*sin(A(k)), 0], x: z}, rod: {length: "
    "0.504238 m, section: {circle: {radius: 1 mm}}, material: steel, strain: cosserat legendre "
    "5}}\n"
    "  plate: {on: world, pose: {xyz: [0, 0, 0.5 m]}, joint: free, body: {mass: 92.1 g, inertia: "
    "[1.91e-4, 1.91e-4, 3.81e-4]}}\n"
    "sites: {hole(k=1..6): {on: plate, pose: {xyz: [C*cos(B(k)), C*sin(B(k)), 0], x: z}}}\n"
    "loops: {clamp(k=1..6): {join: [leg(k).tip, hole(k)], as: fixed}}\n"
    "actuators: {feed(k=1..6): {feed: leg(k), position: 0.504238 m + 2 cm*sin(2*pi*t/(1 s))*sin(60 "
    "deg*k)}}\n"
    "study: [static: {}, dynamic: {for: 5 s, step: 1 s/120, scheme: bdf-alpha, alpha: -0.2}]\n";

typedef struct robot {
    snw_document *doc;
    snw_desc *desc;
    snw_model *m;
    snw_state *s;
} robot;

static void must(snw_status s, const snw_error *err) {
    if (s == SNW_OK) return;
    fprintf(stderr, "%d:%d: %s\n", err->line, err->column, err->text);
    exit(1);
}

static void robot_open(robot *r, const char *text, int n) {
    char set[16];
    snw_error err = {0};
    snprintf(set, sizeof set, "n=%d", n);
    const char *const sets[] = {set};
    must(snw_document_parse("bench", text, strlen(text), 1, sets, &r->doc, &err), &err);
    must(snw_document_describe(r->doc, 0, &r->desc, &err), &err);
    must(snw_projection_compile(r->desc, &r->m, &err), &err);
    must(snw_state_create(r->m, &r->s), &err);
}

static void robot_close(robot *r) {
    snw_state_destroy(r->s);
    snw_model_destroy(r->m);
    snw_desc_destroy(r->desc);
    snw_document_destroy(r->doc);
}

// processor time of this thread, s
static double processor(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { MOST_STEPS = 1000 };

typedef struct timing {
    double step;  // seconds, mean over the steps of the smallest of several repetitions
    double start; // the same for the start
    double iterations, matrices; // per step
} timing;

static timing run(const robot *r, snw_algebra algebra, double rho, double h, int steps, int times) {
    static double best[MOST_STEPS];
    snw_implicit_opts o = snw_implicit_defaults();
    o.scheme = snw_implicit_scheme(SNW_SCHEME_GENERALIZED_ALPHA, rho, 0);
    o.algebra = algebra;
    snw_implicit *im = NULL;
    snw_error err = {.text = "out of memory"};
    must(snw_implicit_create(r->m, &o, &im), &err);
    timing t = {0};
    for (int k = 0; k < times; k++) {
        t.iterations = t.matrices = 0;
        const double before = processor();
        must(snw_implicit_start(im, r->s, &err), &err);
        double at = processor();
        t.start = k == 0 ? at - before : fmin(t.start, at - before);
        for (int i = 0; i < steps; i++) {
            snw_chord_info info;
            snprintf(err.text, sizeof err.text, "step %d fails", i);
            must(snw_implicit_step(im, h, h * (i + 1), &info), &err);
            const double now = processor();
            best[i] = k == 0 ? now - at : fmin(best[i], now - at);
            at = now;
            t.iterations += (double)info.iterations / steps;
            t.matrices += (double)info.tangents / steps;
        }
    }
    for (int i = 0; i < steps; i++) t.step += best[i] / steps;
    snw_implicit_destroy(im);
    return t;
}

// Newton's matrix of a robot at its start, for both kinds of factors
typedef struct factors {
    snw_bordered_matrix *T;
    double *x, *b;
    double *A; // dense factors overwrite the matrix
} factors;

static void factors_open(factors *f, const robot *r, snw_algebra algebra) {
    snw_inputs *in = NULL;
    snw_work *w = NULL;
    snw_error err = {.text = "out of memory"};
    must(snw_bordered_matrix_create(r->m, algebra, &f->T), &err);
    must(snw_inputs_create(r->m, &in), &err);
    must(snw_work_create(r->m, &w), &err);
    const size_t n = (size_t)f->T->n;
    f->x = calloc(2 * n, sizeof *f->x);
    f->A = malloc(n * n * sizeof *f->A);
    if (!f->x || !f->A) abort();
    f->b = f->x + n;
    for (size_t i = 0; i < n; i++) f->b[i] = 1 + (double)(i % 7);
    snw_inputs_at(r->m, 0, in);
    snw_residual(r->m, in, r->s, false, w);
    snw_tangent_pass(r->m, NULL, w);
    snw_bordered_matrix_clear(f->T);
    snw_tangent_add(r->m, in, 1, 400, 160e3, w, f->T->A);
    snw_constraints_place(r->m, w, 1e4, f->T->A);
    memcpy(f->A, f->T->A.entry, n * n * sizeof *f->A);
    snw_inputs_destroy(in);
    snw_work_destroy(w);
}

static void factors_close(factors *f) {
    snw_bordered_matrix_destroy(f->T);
    free(f->x);
    free(f->A);
}

static void factor(void *user) {
    factors *f = user;
    if (f->T->overwritten) {
        const size_t n = (size_t)f->T->n;
        snw_bordered_matrix_clear(f->T);
        memcpy(f->T->A.entry, f->A, n * n * sizeof *f->A);
    }
    if (snw_bordered_matrix_factor(f->T) != SNW_OK) abort();
}

static void solve(void *user) {
    factors *f = user;
    memcpy(f->x, f->b, (size_t)f->T->n * sizeof *f->x);
    snw_bordered_matrix_solve(f->T, f->x);
}

static void crossover(const bench_table *b) {
    printf("factors of that matrix, and solves with them\n");
    printf("  %3s  %6s  %14s  %14s  %13s  %13s\n", "k", "size", "sparse factor", "dense factor",
           "sparse solve", "dense solve");
    static const int limbs_n[] = {1, 2, 3, 4, 6, 8, 16, 32, 64};
    for (size_t i = 0; i < sizeof limbs_n / sizeof limbs_n[0]; i++) {
        robot r;
        robot_open(&r, limbs_text, limbs_n[i]);
        double us[4];
        for (int k = 0; k < 2; k++) {
            factors f;
            factors_open(&f, &r, k == 0 ? SNW_ALGEBRA_SPARSE : SNW_ALGEBRA_DENSE);
            us[k] = 1e6 * bench_time(factor, &f, 0.1);
            us[k + 2] = 1e6 * bench_time(solve, &f, 0.1);
            factors_close(&f);
        }
        printf("  %3d  %6d  %14.1f  %14.1f  %13.2f  %13.2f\n", limbs_n[i],
               r.m->nv + r.m->nconstraint, us[0], us[1], us[2], us[3]);
        char row[32];
        snprintf(row, sizeof row, "%d limbs", limbs_n[i]);
        static const char *const figure[] = {"us a sparse factor", "us a dense factor",
                                             "us a sparse solve", "us a dense solve"};
        for (int k = 0; k < 4; k++) bench_record(b, row, figure[k], us[k]);
        robot_close(&r);
    }
    printf("\n");
}

static void limbs(const bench_table *b) {
    printf("k limbs of 12 coordinates on one free platform, spherical tips: generalized-alpha, "
           "steps of 5 ms\n");
    printf("  %3s  %6s  %11s  %6s  %11s  %6s  %10s  %9s  %9s\n", "k", "size", "sparse us", "slope",
           "dense us", "slope", "iterations", "matrices", "start ms");
    double first = 0, before[2] = {0};
    for (int k = 2; k <= 64; k *= 2) {
        robot r;
        robot_open(&r, limbs_text, k);
        const int times = k > 16 ? 400 / k : 40;
        const timing s = run(&r, SNW_ALGEBRA_SPARSE, 0.9, 0.005, 100, times),
                     d = run(&r, SNW_ALGEBRA_DENSE, 0.9, 0.005, 100, k > 16 ? 2 : times);
        printf("  %3d  %6d  %11.1f  %6.2f  %11.1f  %6.2f  %10.2f  %9.3f  %9.2f\n", k,
               r.m->nv + r.m->nconstraint, 1e6 * s.step,
               before[0] > 0 ? log2(s.step / before[0]) : NAN, 1e6 * d.step,
               before[1] > 0 ? log2(d.step / before[1]) : NAN, s.iterations, s.matrices,
               1e3 * s.start);
        char row[32];
        snprintf(row, sizeof row, "%d limbs", k);
        bench_record(b, row, "us a step; sparse", 1e6 * s.step);
        bench_record(b, row, "us a step; dense", 1e6 * d.step);
        before[0] = s.step, before[1] = d.step;
        if (k == 2) first = s.step;
        robot_close(&r);
    }
    printf("  slope from 2 to 64 limbs, sparse: %.2f (target: 1.2 at most)\n\n",
           log2(before[0] / first) / 5);
    bench_record(b, "2 to 64 limbs", "slope; sparse", log2(before[0] / first) / 5);
}

static void chain(const bench_table *b) {
    printf("rigid links in a row, hinges about y and z in turn, falling: steps of 5 ms\n");
    printf("  %5s  %9s  %10s  %9s\n", "links", "us/step", "iterations", "matrices");
    for (int n = 25; n <= 100; n *= 2) {
        robot r;
        robot_open(&r, chain_text, n);
        const timing t = run(&r, SNW_ALGEBRA_AUTO, 0.9, 0.005, 40, 20);
        printf("  %5d  %9.1f  %10.2f  %9.3f\n", n, 1e6 * t.step, t.iterations, t.matrices);
        char row[32];
        snprintf(row, sizeof row, "chain of %d", n);
        bench_record(b, row, "us a step", 1e6 * t.step);
        robot_close(&r);
    }
    printf("\n");
}

static void rfrfr(const bench_table *b) {
    robot r;
    robot_open(&r, rfrfr_text, 3);
    const timing t = run(&r, SNW_ALGEBRA_AUTO, 0.5, 0.01, 1000, 20);
    const double ratio = t.step / 0.01;
    printf(
        "RFRFR robot of references.md G7.7, 31 nodes, 10 s in steps of 10 ms: %.1f us a step, %.2f "
        "iterations, %.3f matrices, compute time over real time %.4f (target 0.02)\n",
        1e6 * t.step, t.iterations, t.matrices, ratio);
    bench_record(b, "rfrfr", "time over simulated time", ratio);
    robot_close(&r);
}

static void stewart(const bench_table *b) {
    snw_document *doc = NULL;
    snw_desc *desc = NULL;
    snw_error err = {0};
    double best = INFINITY;
    snw_run_totals totals = {0};
    must(snw_document_parse("bench", stewart_text, strlen(stewart_text), 0, NULL, &doc, &err),
         &err);
    must(snw_document_describe(doc, 0, &desc, &err), &err);
    for (int k = 0; k < 3; k++) {
        snw_run *r = NULL;
        must(snw_run_create(desc, "main", &r, &err), &err);
        const double before = processor();
        must(snw_run_execute(r, 0, NULL, NULL, &totals, &err), &err);
        best = fmin(best, processor() - before);
        snw_run_destroy(r);
    }
    printf("Stewart-Gough robot with variable-length legs, 30 functions and a length each, 5 s in "
           "steps of "
           "1/120 s: "
           "%.1f us a step, %.2f iterations, compute time over real time %.3f (Till, 200 points a "
           "leg: 0.13)\n",
           1e6 * best / 600, totals.iterations / 600.0, best / 5);
    bench_record(b, "stewart", "time over simulated time", best / 5);
    snw_desc_destroy(desc);
    snw_document_destroy(doc);
}

int main(int argc, char **argv) {
    bench_table b = bench_open("limbs", "robots of many branches", argc, argv);
    limbs(&b);
    crossover(&b);
    chain(&b);
    rfrfr(&b);
    stewart(&b);
    bench_close(&b);
    return 0;
}
