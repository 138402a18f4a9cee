// SPDX-License-Identifier: MIT
//
// Other computations of the same quantities in the papers, as ratios to ours: generalised forces by
// integrating the rod's differential equations, mass matrix column by column.
#include "bench.h"

#include "oracle/columns.h"
#include "oracle/linear.h"
#include "oracle/strong.h"
#include "oracle/trial.h"
#include "random_rod.h"

#include <math.h>

typedef struct routes {
    robot r;
    trial t;
    oracle_rod q;
    oracle_answer a;
    double *M, *velocity, *rest;
    double tol;
    int points;
    bool factor; // collocation with integrating factors
} routes;

typedef struct along {
    snw_rule_kind kind;
    int number, nodes;
    double tolerance; // of rk45, whose mesh is that of the state
    int functions;    // of bending in one plane; 0: three of each strain of the Kirchhoff rod
} along;

static void routes_compile(routes *k, along rule, int ncell, const double *cell) {
    *k = (routes){0};
    robot_init(&k->r, 0.5, 0.01);
    snw_rod_desc *rod = &k->r.link[0].rod;
    rod->nodes = rule.nodes;
    rod->integrator = rule.kind;
    rod->magnus = rod->points = rule.number;
    rod->tolerance = rule.tolerance;
    rod->ncell = ncell, rod->cell = cell;
    if (rule.functions) robot_strain(&k->r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, rule.functions);
    for (int i = 0; !rule.functions && i < 3; i++) robot_strain(&k->r, 0, i, SNW_BASIS_LEGENDRE, 3);
    k->r.desc.gravity[2] = number(&k->r, -9.81);
    trial_open(&k->t, &k->r.desc);
    dice d = {1};
    state_random(k->t.m, &d, k->t.s);
    const size_t n = (size_t)k->t.m->nv;
    k->M = oracle_alloc(n * n, sizeof(double));
    k->velocity = oracle_alloc(n, sizeof(double));
    k->rest = oracle_alloc(n, sizeof(double));
    k->a.r = oracle_alloc(n, sizeof(double));
    k->q = (oracle_rod){.m = k->t.m, .s = k->t.s, .g = snw_se3_identity()};
}

static void routes_close(routes *k) {
    free(k->M);
    free(k->velocity);
    free(k->rest);
    free(k->a.r);
    trial_close(&k->t);
    robot_free(&k->r);
}

static void routes_open(routes *k, along rule) {
    static double cell[1000];
    routes_compile(k, rule, 0, NULL);
    if (rule.tolerance == 0) return;
    const int n = snw_rod_mesh_cells(k->t.m, &k->t.m->rod[0], k->t.s, false, cell);
    routes_close(k);
    routes_compile(k, rule, n, cell);
}

static void ours(void *user) {
    const trial *t = &((routes *)user)->t;
    snw_residual(t->m, t->in, t->s, false, t->w);
}

static void forward(void *user) {
    const trial *t = &((routes *)user)->t;
    snw_kinematics(t->m, t->in, t->s, false, t->w);
}

static void estimate(void *user) {
    const trial *t = &((routes *)user)->t;
    (void)snw_rod_error(t->m, &t->m->rod[0], t->s, false);
}

static void runge_kutta(void *user) {
    routes *k = user;
    oracle_by_runge_kutta(&k->q, k->tol, &k->a);
}

static void collocation(void *user) {
    routes *k = user;
    oracle_by_collocation(&k->q, k->points, &k->a);
}

static void direct(void *user) {
    const routes *k = user;
    snw_mass_matrix(k->t.m, k->t.in, k->t.s, k->t.w, k->M);
}

static void columns(void *user) {
    const routes *k = user;
    oracle_columns(k->t.m, k->t.in, k->t.s, k->t.w, k->M, k->velocity, k->rest);
}

// error of the forces relative to the differential equations at the tightest tolerance
static double error_of(routes *k, const double *r) {
    const size_t n = (size_t)k->t.m->nv;
    double *best = oracle_alloc(n, sizeof *best);
    oracle_answer a = {.r = best};
    oracle_by_runge_kutta(&k->q, 1e-14, &a);
    const double e = oracle_distance(n, r, best) / oracle_size(n, best);
    free(best);
    return e;
}

static void row(const bench_table *b, const char *name, double us, double base, double error) {
    printf("  %-42s %10.2f   %7.1f", name, us, us / base);
    if (error > 0) printf("   %8.1e", error);
    printf("\n");
    bench_record(b, name, "us", us);
    bench_record(b, name, "ratio", us / base);
    if (error > 0) bench_record(b, name, "error", error);
}

static void forces(const bench_table *b) {
    printf("inverse dynamics, 9 coordinates\n");
    printf("  %-42s %10s   %7s   %8s\n", "route", "us", "ratio", "error");
    double base = 0;
    const int nodes[] = {11, 21, 31};
    static const struct {
        snw_rule_kind kind;
        int number;
    } rules[] = {{SNW_RULE_MAGNUS, 4},   {SNW_RULE_MAGNUS, 6},   {SNW_RULE_FER, 4},
                 {SNW_RULE_FER, 6},      {SNW_RULE_RK4, 0},      {SNW_RULE_SPECTRAL, 2},
                 {SNW_RULE_SPECTRAL, 3}, {SNW_RULE_SPECTRAL, 4}, {SNW_RULE_RK45, 0}};
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        for (int i = 0; i < 3; i++) {
            routes k;
            routes_open(
                &k, (along){.kind = rules[r].kind, .number = rules[r].number, .nodes = nodes[i]});
            const double us = 1e6 * bench_time(ours, &k, 0.1);
            if (base == 0) base = us;
            char name[64];
            snprintf(name, sizeof name, "ours: %s %d and %d nodes", snw_rule_name(rules[r].kind),
                     rules[r].number, nodes[i]);
            ours(&k);
            row(b, name, us, base, error_of(&k, k.t.w->r));
            routes_close(&k);
        }
    }
    routes k;
    routes_open(&k, (along){.kind = SNW_RULE_MAGNUS, .number = 4, .nodes = 11});
    const double tol[] = {1e-4, 1e-7, 1e-10};
    for (int i = 0; i < 3; i++) {
        k.tol = tol[i];
        const double us = 1e6 * bench_time(runge_kutta, &k, 0.1);
        char name[64];
        snprintf(name, sizeof name, "Runge-Kutta along the rod; tolerance %.0e", tol[i]);
        row(b, name, us, base, error_of(&k, k.a.r));
    }
    const int points[] = {8, 12, 16};
    for (int i = 0; i < 3; i++) {
        k.points = points[i];
        const double us = 1e6 * bench_time(collocation, &k, 0.1);
        char name[64];
        snprintf(name, sizeof name, "Chebyshev collocation; %d points", points[i]);
        row(b, name, us, base, error_of(&k, k.a.r));
    }
    routes_close(&k);
}

// Forward, backward and all of inverse dynamics by the rule along the rod (references.md G6.4,
// G7.9).
static void rules(const bench_table *b) {
    static const along list[] = {
        {SNW_RULE_RK45, 0, 0, 1e-6, 5},    {SNW_RULE_RK45, 0, 0, 1e-6, 10},
        {SNW_RULE_RK45, 0, 0, 1e-6, 15},   {SNW_RULE_SPECTRAL, 3, 11, 0, 10},
        {SNW_RULE_SPECTRAL, 3, 21, 0, 10}, {SNW_RULE_SPECTRAL, 3, 31, 0, 10},
        {SNW_RULE_MAGNUS, 4, 11, 0, 10},   {SNW_RULE_MAGNUS, 4, 21, 0, 10},
        {SNW_RULE_MAGNUS, 4, 31, 0, 10},   {SNW_RULE_MAGNUS, 6, 21, 0, 10},
        {SNW_RULE_MAGNUS, 6, 61, 0, 10}};
    printf("\nby the rule, bending in a plane, in motion\n");
    printf("  %-42s %10s %10s %10s   %8s\n", "rule", "forward us", "backward", "inverse", "error");
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        routes k;
        char name[80];
        routes_open(&k, list[i]);
        const snw_rod *rod = &k.t.m->rod[0];
        snprintf(name, sizeof name, "%s %d; %d functions; %d nodes", snw_rule_name(list[i].kind),
                 list[i].number, list[i].functions,
                 rod->tolerance > 0 ? 3 * rod->ncell : list[i].nodes);
        const double fk = 1e6 * bench_time(forward, &k, 0.1), id = 1e6 * bench_time(ours, &k, 0.1);
        ours(&k);
        const double error = error_of(&k, k.t.w->r);
        printf("  %-42s %10.2f %10.2f %10.2f   %8.1e\n", name, fk, id - fk, id, error);
        if (rod->tolerance > 0) {
            printf("  %-42s %32.2f\n", "  its error estimated",
                   1e6 * bench_time(estimate, &k, 0.1));
        }
        bench_record(b, name, "forward us", fk);
        bench_record(b, name, "inverse us", id);
        bench_record(b, name, "error", error);
        routes_close(&k);
    }
}

static void grid_forward(void *user) {
    routes *k = user;
    oracle_forward_by_collocation(&k->q, k->points, k->factor, &k->a);
}

static void grid_inverse(void *user) {
    routes *k = user;
    (k->factor ? oracle_by_factor : oracle_by_collocation)(&k->q, k->points, &k->a);
}

// The quickest rule of slices among Magnus 4, Magnus 6 and spectral 4 whose error is not above
// `error`.
static void slices_at(double error, along *best, double *fk, double *id, double *left) {
    static const along rules[] = {{SNW_RULE_MAGNUS, 4, 0, 0, 10},
                                  {SNW_RULE_MAGNUS, 6, 0, 0, 10},
                                  {SNW_RULE_SPECTRAL, 4, 0, 0, 10}};
    *id = INFINITY;
    for (int r = 0; r < 3; r++) {
        for (int nodes = 4; nodes <= 160; nodes += nodes / 8 + 1) {
            routes k;
            along rule = rules[r];
            rule.nodes = nodes;
            routes_open(&k, rule);
            ours(&k);
            const double e = error_of(&k, k.t.w->r);
            const double time = e <= error ? 1e6 * bench_time(ours, &k, 0.05) : INFINITY;
            if (time < *id) {
                *id = time, *best = rule, *left = e;
                *fk = 1e6 * bench_time(forward, &k, 0.05);
            }
            routes_close(&k);
            if (e <= error) break;
        }
    }
}

// One Chebyshev grid for the whole rod in the terms of table 5.3 of Gotelli's thesis: as there, and
// with integrating factors, so that only the rotation needs the solution of a system, by oracles;
// then the rule `chebyshev` of models. Beside each the quickest slices that are as accurate.
static void grids(const bench_table *b) {
    static const int points[] = {11, 21, 31};
    printf("\none Chebyshev grid, the same rod, and the quickest slices of no larger error\n");
    printf("  %-42s %10s %10s %10s   %8s\n", "points", "forward us", "backward", "inverse",
           "error");
    for (int i = 0; i < 9; i++) {
        routes k;
        char name[80];
        const bool rule = i >= 6;
        routes_open(&k, rule ? (along){SNW_RULE_CHEBYSHEV, points[i % 3], 0, 0, 10}
                             : (along){SNW_RULE_MAGNUS, 4, 11, 0, 10});
        k.points = points[i % 3];
        k.factor = i >= 3;
        const double fk = 1e6 * bench_time(rule ? forward : grid_forward, &k, 0.1),
                     id = 1e6 * bench_time(rule ? ours : grid_inverse, &k, 0.1);
        const double error = error_of(&k, rule ? k.t.w->r : k.a.r);
        snprintf(name, sizeof name, "one grid%s; 10 functions; %d points",
                 rule       ? " as a rule"
                 : k.factor ? " with factors"
                            : "",
                 k.points);
        printf("  %-42s %10.2f %10.2f %10.2f   %8.1e\n", name, fk, id - fk, id, error);
        bench_record(b, name, "forward us", fk);
        bench_record(b, name, "inverse us", id);
        bench_record(b, name, "error", error);
        routes_close(&k);
        along best = {0};
        double sfk = 0, sid, left = 0;
        slices_at(error, &best, &sfk, &sid, &left);
        if (isinf(sid)) {
            printf("    no slices up to 160 nodes\n");
            continue;
        }
        snprintf(name, sizeof name, "  %s %d; %d nodes", snw_rule_name(best.kind), best.number,
                 best.nodes);
        printf("  %-42s %10.2f %10.2f %10.2f   %8.1e   %.0f times as fast\n", name, sfk, sid - sfk,
               sid, left, id / sid);
    }
}

static void matrices(const bench_table *b) {
    printf("\nmass matrix, bias and configuration forces; 9 coordinates, Magnus 4, 21 nodes\n");
    printf("  %-42s %10s   %7s\n", "route", "us", "ratio");
    routes k;
    routes_open(&k, (along){.kind = SNW_RULE_MAGNUS, .number = 4, .nodes = 21});
    const double base = 1e6 * bench_time(direct, &k, 0.1), force = 1e6 * bench_time(ours, &k, 0.1);
    row(b, "direct: mass matrix", base, base, 0);
    row(b, "direct: with bias", base + force, base, 0);
    row(b, "columns by inverse dynamics", 1e6 * bench_time(columns, &k, 0.1), base, 0);
    routes_close(&k);
}

int main(int argc, char **argv) {
    bench_table b = bench_open("routes", "routes to the same numbers", argc, argv);
    forces(&b);
    rules(&b);
    grids(&b);
    matrices(&b);
    bench_close(&b);
    return 0;
}
