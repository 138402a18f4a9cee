// SPDX-License-Identifier: MIT
//
// Rods in motion: compute time over simulated time of the rods of references.md G7.1 to G7.3 and of
// the falling steel cantilever of references.md T4.1; error at the end over compute time, for all
// schemes on two of them.
#include "bench.h"

#include "integrate/integrator.h"
#include "oracle/trial.h"
#include "random_rod.h"

#include <math.h>

typedef struct rod {
    robot r;
    trial t; // state at the start
    snw_step_desc step;
    snw_integrator mv;
    double seconds, every; // duration of the motion, and of an advance
    snw_stats took;
} rod;

static void integrator_open(rod *k, snw_step_desc step) {
    snw_error err = {0};
    k->step = step;
    if (snw_integrator_open(k->t.m, &k->step, 0, &k->mv, &err) != SNW_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
}

static void integrator_close(rod *k) {
    k->mv.close(k->mv.self);
    k->mv = (snw_integrator){0};
}

static void rod_close(rod *k) {
    trial_close(&k->t);
    robot_free(&k->r);
}

enum { MOST_ADVANCES = 2000 };

// processor time of this thread, s
static double processor(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds for the whole motion: for each advance the smallest time of `times` repetitions, which
// reduces the influence of a busy machine. NAN when it cannot be computed.
static double motion_time(rod *k, int times) {
    static double best[MOST_ADVANCES];
    const int n = (int)lround(k->seconds / k->every);
    if (n > MOST_ADVANCES) abort();
    snw_error err = {0};
    double start = 0, sum = 0;
    for (int r = 0; r < times; r++) {
        k->took = (snw_stats){0};
        const double before = processor();
        if (k->mv.start(k->mv.self, k->t.s, &err) != SNW_OK) return NAN;
        double at = processor();
        start = r == 0 ? at - before : fmin(start, at - before);
        for (int i = 0; i < n; i++) {
            const double to = k->seconds * (i + 1) / n;
            if (k->mv.advance(k->mv.self, to, INFINITY, &k->took, &err) != SNW_OK) return NAN;
            const double now = processor();
            best[i] = r == 0 ? now - at : fmin(best[i], now - at);
            at = now;
        }
    }
    for (int i = 0; i < n; i++) sum += best[i];
    return start + sum;
}

static double must(double seconds) {
    if (isfinite(seconds)) return seconds;
    fprintf(stderr, "a motion cannot be computed\n");
    exit(1);
}

static double energy(rod *k) {
    const snw_work *w = k->mv.work_at(k->mv.self);
    return snw_kinetic_energy(k->t.m, w) + snw_elastic_energy(k->t.m, k->mv.state(k->mv.self)) +
           snw_gravity_energy(k->t.m, k->mv.inputs(k->mv.self), w);
}

static snw_vec3 tip(rod *k) { return k->mv.work_at(k->mv.self)->g[k->t.m->link_end[0]].p; }

// ---- rods ---------------------------------------------------------------------------------------

// references.md G7.1: hangs along gravity, deflected by a force at its tip that is removed at t = 0
static void cantilever(rod *k, double length, double diameter, double density, double young,
                       double force) {
    *k = (rod){0};
    robot_init(&k->r, length, diameter / 2);
    k->r.material.young = number(&k->r, young);
    k->r.material.poisson = number(&k->r, 0.3);
    k->r.material.density = number(&k->r, density);
    k->r.link[0].rod.nodes = 20;
    robot_strain(&k->r, 0, SNW_BEND_Z, SNW_BASIS_CHEBYSHEV, 3);
    k->r.desc.gravity[0] = number(&k->r, 9.81);
    k->r.load[k->r.desc.nload++] = (snw_load_desc){.name = "pull", .on = link_end(0)};
    k->r.load[0].force[1] = number(&k->r, force);
    trial_open(&k->t, &k->r.desc);
    (void)trial_settle(&k->t);
    double q[3];
    memcpy(q, k->t.s->q, sizeof q);
    trial_close(&k->t);
    k->r.desc.nload = 0;
    trial_open(&k->t, &k->r.desc);
    memcpy(k->t.s->q, q, sizeof q);
}

static void soft_cantilever(rod *k) { cantilever(k, 10, 0.01, 7800, 1e11, 50); }
static void stiff_cantilever(rod *k) { cantilever(k, 0.4, 0.002, 8000, 2e11, 10); }
static void stiff_cantilever_b(rod *k) { cantilever(k, 0.4, 0.002, 8000, 2e9, 0.1); }

// free, inclined in the plane of x and y, with a force at its root
static void flying(rod *k, double length, double radius) {
    *k = (rod){0};
    robot_init(&k->r, length, radius);
    k->r.link[0].joint = SNW_JOINT_FREE;
    k->r.link[0].rod.nodes = 20;
    for (int i = 0; i < 3; i++) robot_strain(&k->r, 0, i, SNW_BASIS_CHEBYSHEV, 3);
    k->r.link[0].pose.xyz[0] = number(&k->r, 0.6 * length);
    k->r.link[0].pose.nturn = 1;
    k->r.link[0].pose.turn[0] = (snw_turn){{{0, 0, 1}}, number(&k->r, atan2(0.8, -0.6))};
    k->r.load[k->r.desc.nload++] =
        (snw_load_desc){.name = "push", .on = {.kind = SNW_SITE_ROOT, .link = 0}};
}

// references.md G7.2: Simo and Vu-Quoc
static void soft_flying(rod *k) {
    flying(k, 10, 0.1);
    snw_section_desc *s = &k->r.link[0].rod.section;
    s->stiffness_given = s->inertia_given = true;
    for (int i = 0; i < 6; i++) {
        s->stiffness[7 * i] = number(&k->r, i < 3 ? 500 : 1e4);
        s->inertia[7 * i] = number(&k->r, i < 3 ? 10 : 1);
    }
#define TRIANGLE "max(0, min(t, 5 - t))/2.5"
    k->r.load[0].force[0] = law(&k->r, "20*" TRIANGLE);
    k->r.load[0].torque[1] = law(&k->r, "100*" TRIANGLE);
    k->r.load[0].torque[2] = law(&k->r, "-200*" TRIANGLE);
    trial_open(&k->t, &k->r.desc);
}

// references.md G7.3
static void stiff_flying(rod *k) {
    flying(k, 1, 0.05);
    k->r.load[0].force[0] = law(&k->r, "2*" TRIANGLE);
    k->r.load[0].force[2] = law(&k->r, "1*" TRIANGLE);
#undef TRIANGLE
    trial_open(&k->t, &k->r.desc);
}

// references.md T4.1: steel, straight, under ten times its weight transversally
static void falling(rod *k, int n, int nodes, bool planar) {
    *k = (rod){0};
    robot_init(&k->r, 0.4, 0.0012);
    k->r.material.young = number(&k->r, 207e9);
    k->r.material.poisson = number(&k->r, 0.3);
    k->r.material.density = number(&k->r, 8000);
    k->r.link[0].rod.nodes = nodes;
    for (int i = 0; i < 3; i++) {
        if (!planar || i == SNW_BEND_Y) robot_strain(&k->r, 0, i, SNW_BASIS_CHEBYSHEV, n);
    }
    k->r.desc.gravity[2] = number(&k->r, -98.1);
    trial_open(&k->t, &k->r.desc);
}

// ---- comparison with targets --------------------------------------------------------------------

typedef void rod_fn(rod *k);

static void ratio(const bench_table *b, const char *name, rod_fn *make, double seconds,
                  double target, double thesis, double want) {
    rod k;
    make(&k);
    k.seconds = seconds, k.every = 0.01;
    integrator_open(&k, (snw_step_desc){.scheme = SNW_SCHEME_NEWMARK, .step = 0.01});
    const double s = must(motion_time(&k, 10)) / seconds;
    const double steps = seconds / 0.01;
    printf("  %-34s %5d   %7.4f   %6.2f   %6.1f   %11.0f   %10.2f   %8.1f   %9.4f   %9.4f\n", name,
           k.t.m->nv, s, target, thesis, thesis / s, k.took.iterations / steps, 1e4 * s, energy(&k),
           want);
    bench_record(b, name, "time over simulated time", s);
    bench_record(b, name, "iterations per step", k.took.iterations / steps);
    integrator_close(&k);
    rod_close(&k);
}

static void four_rods(const bench_table *b) {
    printf("rods of Gotelli's table 3.1: Newmark, steps of 10 ms, 3 functions a strain, 20 nodes "
           "(thesis: its best entry)\n");
    printf("  %-34s %5s   %7s   %6s   %6s   %11s   %10s   %8s   %9s   %9s\n", "rod", "coord",
           "ratio", "target", "thesis", "thesis/ours", "iterations", "us/step", "energy J", "spec");
    ratio(b, "cantilever; soft", soft_cantilever, 10, 0.01, 1.9, -186.9381);
    ratio(b, "cantilever; stiff", stiff_cantilever, 1, 0.01, 4.5, 0.694075);
    ratio(b, "cantilever; stiff of 2 GPa", stiff_cantilever_b, 1, 0.01, 4.5, -0.010383);
    ratio(b, "flying; soft", soft_flying, 10, 0.02, 1.6, 880.24);
    ratio(b, "flying; stiff", stiff_flying, 10, 0.02, 7.2, 2.0118);
}

// largest distance of the tip from the table of references.md T4.1, which has the same scheme and
// steps, relative to its amplitude
static double falling_error(rod *k) {
    static const struct {
        int step;
        double z, x;
    } want[] = {{1, -0.0013349988, 0.3999975444},  {2, -0.0051865944, 0.3999640842},
                {5, -0.0308600858, 0.3986353721},  {10, -0.0644629953, 0.3939625619},
                {20, -0.0030697499, 0.3999874440}, {30, -0.0623877114, 0.3943517383},
                {40, -0.0058607628, 0.3999536100}, {49, -0.0615048816, 0.3945124700}};
    double worst = 0;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        k->seconds = 0.005 * want[i].step;
        (void)must(motion_time(k, 1));
        const snw_vec3 p = tip(k);
        worst = fmax(worst, hypot(p.z - want[i].z, p.x - want[i].x));
    }
    return worst / 0.0645;
}

static void steel(const bench_table *b) {
    printf(
        "\nfalling steel cantilever: BDF2, steps of 5 ms, twist and two bendings (target 0.01 s a "
        "simulated second; public C++ 0.05 s)\n");
    printf("  %-10s %5s   %5s   %19s   %10s   %12s\n", "functions", "coord", "nodes",
           "s a simulated second", "iterations", "error/swing");
    const int n[][2] = {{2, 8}, {3, 10}, {4, 12}, {5, 20}};
    for (int i = 0; i < 4; i++) {
        rod k;
        falling(&k, n[i][0], n[i][1], false);
        k.every = 0.005;
        integrator_open(
            &k, (snw_step_desc){.scheme = SNW_SCHEME_BDF2, .step = 0.005, .uniform_past = true});
        const double error = falling_error(&k);
        k.seconds = 1;
        const double s = must(motion_time(&k, 20));
        printf("  %-10d %5d   %5d   %19.4f   %10.2f   %12.1e\n", n[i][0], k.t.m->nv, n[i][1], s,
               k.took.iterations / 200, error);
        char row[40];
        snprintf(row, sizeof row, "falling; %d functions", n[i][0]);
        bench_record(b, row, "s a simulated second", s);
        bench_record(b, row, "error over swing", error);
        integrator_close(&k);
        rod_close(&k);
    }
}

enum { SEEN = 200 }; // instants of 5 ms

static void path(rod *k, snw_vec3 p[SEEN]) {
    const int n = (int)lround(0.005 / k->every);
    snw_error err = {0};
    snw_stats took = {0};
    snw_status s = k->mv.start(k->mv.self, k->t.s, &err);
    for (int i = 1; i <= SEEN * n && s == SNW_OK; i++) {
        s = k->mv.advance(k->mv.self, k->every * i, INFINITY, &took, &err);
        if (i % n == 0) p[i / n - 1] = tip(k);
    }
    (void)must(s == SNW_OK ? 1 : NAN);
}

// largest distance among the first n instants, relative to the amplitude
static double apart(const snw_vec3 *p, const snw_vec3 *want, int n) {
    double worst = 0, swing = 0;
    for (int i = 0; i < SEEN; i++) swing = fmax(swing, fabs(want[i].z));
    for (int i = 0; i < n; i++) {
        const snw_vec3 miss = snw_sub(p[i], want[i]);
        worst = fmax(worst, sqrt(snw_dot(miss, miss)));
    }
    return worst / swing;
}

// cost of the motion itself: errors of the schemes in time, compared with `stiff` at 1e-10 with the
// same functions
static void steel_in_time(const bench_table *b) {
    printf("\nfalling steel cantilever, bending in the plane, three functions, 6 nodes: error in "
           "time\n");
    printf("  %-28s   %19s   %14s   %14s\n", "", "s a simulated second", "to 0.05 s", "to 1 s");
    static const struct {
        const char *name;
        snw_step_desc step;
    } way[] = {
        {"bdf2, 5 ms, from rest", {.scheme = SNW_SCHEME_BDF2, .step = 0.005, .uniform_past = true}},
        {"bdf2, 1 ms, from rest", {.scheme = SNW_SCHEME_BDF2, .step = 0.001, .uniform_past = true}},
        {"newmark, 5 ms", {.scheme = SNW_SCHEME_NEWMARK, .step = 0.005}},
        {"newmark, 2.5 ms", {.scheme = SNW_SCHEME_NEWMARK, .step = 0.0025}},
        {"newmark, 1.25 ms", {.scheme = SNW_SCHEME_NEWMARK, .step = 0.00125}},
        {"newmark, 0.5 ms", {.scheme = SNW_SCHEME_NEWMARK, .step = 0.0005}},
        {"gauss4, 5 ms", {.scheme = SNW_SCHEME_GAUSS4, .step = 0.005}},
        {"gauss6, 5 ms", {.scheme = SNW_SCHEME_GAUSS6, .step = 0.005}},
        {"gauss8, 5 ms", {.scheme = SNW_SCHEME_GAUSS8, .step = 0.005}},
        {"rk4, 1.25 ms", {.scheme = SNW_SCHEME_RK4, .step = 0.00125}},
        {"stiff, 1e-3", {.scheme = SNW_SCHEME_STIFF, .tolerance = 1e-3}},
        {"adaptive, 1e-3", {.scheme = SNW_SCHEME_ADAPTIVE, .tolerance = 1e-3}},
    };
    static snw_vec3 want[SEEN], got[SEEN];
    rod k;
    falling(&k, 3, 6, true);
    k.seconds = 1, k.every = 0.005;
    integrator_open(&k, (snw_step_desc){.scheme = SNW_SCHEME_STIFF, .tolerance = 1e-10});
    path(&k, want);
    integrator_close(&k);
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        const double h = way[i].step.step;
        k.every = h > 0 ? h : 0.005;
        integrator_open(&k, way[i].step);
        const double s = must(motion_time(&k, 20));
        path(&k, got);
        const double soon = apart(got, want, 10), late = apart(got, want, SEEN);
        printf("  %-28s   %19.4f   %14.1e   %14.1e\n", way[i].name, s, soon, late);
        char row[64];
        snprintf(row, sizeof row, "falling in the plane; %s", way[i].name);
        bench_record(b, row, "s a simulated second", s);
        bench_record(b, row, "error in time to 0.05 s", soon);
        bench_record(b, row, "error in time to 1 s", late);
        integrator_close(&k);
    }
    rod_close(&k);
}

// the motion itself: all errors, in time and by the functions, compared with seven functions and
// gauss8 with 0.25 ms, to which tests/oracle/planar_motion.c converges
// (examples/rods/falling_motion.yaml)
static void steel_motion(const bench_table *b) {
    printf(
        "\nfalling steel cantilever, bending in the plane, steps of 5 ms: error of the motion\n");
    printf("  %-10s %-10s %5s   %20s   %10s   %14s   %14s\n", "functions", "scheme", "nodes",
           "s a simulated second", "iterations", "to 0.05 s", "to 1 s");
    static snw_vec3 want[SEEN], got[SEEN];
    rod k;
    falling(&k, 7, 24, true);
    k.every = 0.00025;
    integrator_open(&k, (snw_step_desc){.scheme = SNW_SCHEME_GAUSS8, .step = k.every});
    path(&k, want);
    integrator_close(&k);
    rod_close(&k);
    const int n[][2] = {{3, 6}, {4, 7}, {5, 7}};
    for (int i = 0; i < 3; i++) {
        for (int m = SNW_SCHEME_GAUSS4; m <= SNW_SCHEME_GAUSS8; m++) {
            falling(&k, n[i][0], n[i][1], true);
            k.seconds = 1, k.every = 0.005;
            integrator_open(&k, (snw_step_desc){.scheme = (snw_scheme_kind)m, .step = k.every});
            const double s = must(motion_time(&k, 20));
            path(&k, got);
            const char *name = snw_scheme_table[m].name;
            const double soon = apart(got, want, 10), late = apart(got, want, SEEN);
            printf("  %-10d %-10s %5d   %20.4f   %10.2f   %14.1e   %14.1e\n", n[i][0], name,
                   n[i][1], s, k.took.iterations / 200, soon, late);
            char row[64];
            snprintf(row, sizeof row, "falling; %s; %d functions", name, n[i][0]);
            bench_record(b, row, "s a simulated second", s);
            bench_record(b, row, "error of the motion to 1 s", late);
            integrator_close(&k);
            rod_close(&k);
        }
    }
}

// ---- work and precision -------------------------------------------------------------------------

static void precision(const bench_table *b, const char *name, rod_fn *make, double seconds) {
    rod k;
    make(&k);
    k.seconds = k.every = seconds;
    integrator_open(&k, (snw_step_desc){.scheme = SNW_SCHEME_ADAPTIVE, .tolerance = 1e-12});
    (void)must(motion_time(&k, 1));
    const snw_vec3 want = tip(&k);
    integrator_close(&k);
    const double length = k.r.link[0].rod.length;
    printf("\n%s, %g s: ms, error of the tip at the end over the length\n", name, seconds);
    printf("  %-18s  %-24s  %-24s  %-24s\n", "", "10 ms or 1e-4", "5 ms or 1e-6", "1 ms or 1e-8");
    for (int m = 0; m < SNW_SCHEME_COUNT; m++) {
        if (!(snw_scheme_table[m].works & SNW_SCHEME_ON_STRAIN)) continue;
        const bool fixed = !snw_scheme_table[m].chooses_steps;
        const double step[] = {0.01, 0.005, 0.001}, tolerance[] = {1e-4, 1e-6, 1e-8};
        printf("  %-18s", snw_scheme_table[m].name);
        for (int i = 0; i < 3; i++) {
            integrator_open(&k, (snw_step_desc){.scheme = (snw_scheme_kind)m,
                                                .step = fixed ? step[i] : 0,
                                                .tolerance = fixed ? 0 : tolerance[i],
                                                .rho = 0.9,
                                                .alpha = -0.2});
            k.every = fixed ? step[i] : seconds;
            const double s = motion_time(&k, 7);
            const snw_vec3 miss = snw_sub(tip(&k), want);
            const double error = sqrt(snw_dot(miss, miss)) / length;
            printf("  %10.2f  %-12.1e", 1e3 * s, isfinite(s) ? error : NAN);
            char row[64], figure[64];
            snprintf(row, sizeof row, "%s; %s", name, snw_scheme_table[m].name);
            snprintf(figure, sizeof figure, fixed ? "ms at %g s" : "ms at tolerance %g",
                     fixed ? step[i] : tolerance[i]);
            bench_record(b, row, figure, 1e3 * s);
            snprintf(figure, sizeof figure, fixed ? "error at %g s" : "error at tolerance %g",
                     fixed ? step[i] : tolerance[i]);
            bench_record(b, row, figure, error);
            integrator_close(&k);
        }
        printf("\n");
    }
    rod_close(&k);
}

int main(int argc, char **argv) {
    bench_table b = bench_open("motion", "rods in motion", argc, argv);
    four_rods(&b);
    steel(&b);
    steel_in_time(&b);
    steel_motion(&b);
    precision(&b, "cantilever of 200 GPa let go", stiff_cantilever, 0.2);
    precision(&b, "flying stiff rod", stiff_flying, 2);
    bench_close(&b);
    return 0;
}
