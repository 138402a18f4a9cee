// SPDX-License-Identifier: MIT
//
// Static solves from the straight rod, the whole load in one step: Boyer's second test and others.
#include "bench.h"

#include "oracle/planar.h"
#include "oracle/trial.h"
#include "random_rod.h"

#include <math.h>

typedef struct solve {
    robot r;
    trial t;
    snw_statics *st;
    snw_statics_info info;
} solve;

static void solve_open(solve *k) {
    trial_open(&k->t, &k->r.desc);
    if (snw_statics_create(k->t.m, &k->st) != SNW_OK) abort();
}

static void solve_close(solve *k) {
    snw_statics_destroy(k->st);
    trial_close(&k->t);
    robot_free(&k->r);
}

static void run(void *user) {
    solve *k = user;
    const snw_statics_opts opts = snw_statics_defaults();
    snw_error err = {0};
    memset(k->t.s->q, 0, (size_t)k->t.m->nq * sizeof(double));
    snw_statics_reset(k->st);
    if (snw_statics_solve(k->st, 0, &opts, k->t.s, &k->info, &err) != SNW_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
}

static void report(const bench_table *b, solve *k, const char *name, double target, double error) {
    const double ms = 1e3 * bench_time(run, k, 0.4);
    printf("  %-46s %5d   %5d   %7.3f", name, k->t.m->nv, k->t.m->rod[0].nodes, ms);
    if (target > 0) {
        printf("   %6.1f", target);
    } else {
        printf("   %6s", "-");
    }
    printf("   %10d   %10d   %8.1e\n", k->info.iterations, k->info.increments, error);
    bench_record(b, name, "ms", ms);
    bench_record(b, name, "iterations", k->info.iterations);
    bench_record(b, name, "error", error);
}

// L = 100, EI = 3.5e7, follower force transverse at the tip; references.md B4.2
static void boyer(const bench_table *b, double kN, int magnus, int nodes) {
    solve k = {0};
    robot_init(&k.r, 100, 0.5772);
    k.r.link[0].rod.section.stiffness[14] = number(&k.r, 3.5e7);
    k.r.link[0].rod.section.stiffness_given = true;
    k.r.link[0].rod.magnus = magnus;
    k.r.link[0].rod.nodes = nodes;
    robot_strain(&k.r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 14);
    k.r.load[k.r.desc.nload++] = (snw_load_desc){.name = "push", .on = link_end(0), .body = true};
    k.r.load[0].force[1] = number(&k.r, 1e3 * kN);
    solve_open(&k);
    run(&k);
    const oracle_planar p = {.L = 100, .EI = 3.5e7, .follower = {0, 1e3 * kN}};
    const oracle_planar_tip tip = oracle_planar_solve(&p, 1);
    const snw_vec3 end = trial_end(&k.t, 0).p;
    char name[64];
    snprintf(name, sizeof name, "Boyer 2 at %.0f kN; Magnus %d; nodes %s", kN, magnus,
             nodes ? "given" : "auto");
    report(b, &k, name, kN > 100 ? 5 : 0, hypot(end.x - tip.x, end.y - tip.y) / 100);
    solve_close(&k);
}

// Ufkes' rod under its weight, all six strains; references.md B4.8
static void ufkes(const bench_table *b) {
    solve k = {0};
    robot_init(&k.r, 0.3, 0.03);
    for (int i = 0; i < 6; i++) robot_strain(&k.r, 0, i, SNW_BASIS_CHEBYSHEV, 7);
    k.r.link[0].rod.nodes = 25;
    k.r.desc.gravity[2] = number(&k.r, -9.81);
    solve_open(&k);
    run(&k);
    const double A = M_PI * 9e-4;
    const oracle_planar p = {.L = 0.3,
                             .EI = 1e6 * A * 9e-4 / 4,
                             .stretch = 1 / (1e6 * A),
                             .shear = 3 / (1e6 * A),
                             .weight = 1000 * A * 9.81};
    const oracle_planar_tip tip = oracle_planar_solve(&p, 0);
    const snw_vec3 end = trial_end(&k.t, 0).p;
    report(b, &k, "Ufkes' rod; six strains of degree 6", 0,
           hypot(end.x - tip.x, end.z - tip.y) / 0.3);
    solve_close(&k);
}

int main(int argc, char **argv) {
    bench_table b =
        bench_open("statics", "static solves from the straight rod, all load at once", argc, argv);
    printf("  %-46s %5s   %5s   %7s   %6s   %10s   %10s   %8s\n", "case", "coord", "nodes", "ms",
           "target", "iterations", "increments", "error/L");
    boyer(&b, 10, 4, 0);
    boyer(&b, 60, 4, 0);
    boyer(&b, 130, 4, 0);
    boyer(&b, 130, 6, 0);
    boyer(&b, 130, 6, 40);
    ufkes(&b);
    bench_close(&b);
    return 0;
}
