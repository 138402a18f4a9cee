// SPDX-License-Identifier: MIT
//
// Robots of several parts on the boundary-value engine: simulated seconds per second of processor
// time, compared with the paper (Till, Aloi and Rucker 2019) and with the authors' public program
// on this kind of machine.
#include "bench.h"

#include "stewart.h"
#include "tendon_rod.h"

typedef struct setting {
    int points, steps, legs;
    snw_space_kind along;
    bool gas;
    // results
    bool failed;
    double simulated, seconds;
    int iterations, tangents;
} setting;

// ---- the tendon robot on a winch ----------------------------------------------------------------

static void winch(void *user) {
    setting *b = user;
    tendon_rod a = {.pool = snw_pool_create(1 << 20)};
    shooting_case s = tendon_rod_step_robot();
    s.points = b->points;
    s.along = b->along;
    tendon_rod_winch(&a, 0.0151, 1.6e-3, s.L);
    a.c.tendon[0].viscous = 5;
    b->failed = tendon_rod_make(&s, 5e-4, NULL, &a) != SNW_OK || tendon_rod_static(&a) != SNW_OK;
    if (!b->failed) tendon_rod_begin(&a, 0.05);
    a.s.iterations = a.s.tangents = 0;
    const double start = bench_processor();
    for (int i = 1; i <= b->steps && !b->failed; i++) {
        // during the oscillation
        const double t = 3.6 + 0.05 * i;
        a.c.tendon[0].value = tendon_rod_winch_at(t);
        a.c.tendon[0].rate = tendon_rod_winch_rate(t);
        b->failed = tendon_rod_step(&a, SNW_SCHEME_BDF2, 0, 0.05) != SNW_OK;
    }
    b->seconds = bench_processor() - start;
    b->simulated = 0.05 * b->steps;
    b->iterations = a.s.iterations, b->tangents = a.s.tangents;
    tendon_rod_free(&a);
}

// ---- the arm that carries an object -------------------------------------------------------------

static void transfer(void *user) {
    setting *b = user;
    tendon_rod a = {.pool = snw_pool_create(1 << 20)};
    shooting_case s = tendon_rod_transfer();
    s.points = b->points;
    s.along = b->along;
    s.gravity = (snw_vec3){{0, 0, -9.81}};
    tendon_rod_ring(&a, 4, 9.5e-3, 0, s.L);
    b->failed = tendon_rod_make(&s, 1e-6, NULL, &a) != SNW_OK || tendon_rod_static(&a) != SNW_OK;
    if (!b->failed) tendon_rod_begin(&a, 1.0 / 60);
    a.s.iterations = a.s.tangents = 0;
    const double start = bench_processor();
    for (int i = 1; i <= b->steps && !b->failed; i++) {
        const double t = i / 60.0;
        a.c.tendon[0].value = 2 * fmin(t, 1);
        a.c.tendon[1].value = fmin(fmax(t - 1, 0), 1);
        a.s.r->station[0].has_body = t > 1 && t <= 2.5;
        a.s.r->station[0].M = (snw_inertia){.m = 1e-3};
        b->failed = tendon_rod_step(&a, SNW_SCHEME_BDF_ALPHA, -0.03, 1.0 / 60) != SNW_OK;
    }
    b->seconds = bench_processor() - start;
    b->simulated = b->steps / 60.0;
    b->iterations = a.s.iterations, b->tangents = a.s.tangents;
    tendon_rod_free(&a);
}

// ---- the finger ---------------------------------------------------------------------------------

static void finger(void *user) {
    setting *b = user;
    tendon_rod a = {.pool = snw_pool_create(1 << 20)};
    b->failed = tendon_rod_finger(b->gas, b->points, SNW_HISTORY_CUBIC, &a) != SNW_OK;
    a.c.tendon[0].value = tendon_rod_finger_at(b->gas, 0);
    if (!b->failed) b->failed = tendon_rod_static(&a) != SNW_OK;
    if (!b->failed) tendon_rod_begin(&a, 0.01);
    a.s.iterations = a.s.tangents = 0;
    const double start = bench_processor();
    for (int i = 1; i <= b->steps && !b->failed; i++) {
        a.c.tendon[0].value = tendon_rod_finger_at(b->gas, fmin(0.005 * i, 1));
        b->failed = tendon_rod_step(&a, SNW_SCHEME_BDF_ALPHA, -0.3, 0.01) != SNW_OK;
    }
    b->seconds = bench_processor() - start;
    b->simulated = 0.01 * b->steps;
    b->iterations = a.s.iterations, b->tangents = a.s.tangents;
    tendon_rod_free(&a);
}

// ---- the platform -------------------------------------------------------------------------------

static void platform(void *user) {
    static stewart_path path;
    setting *b = user;
    stewart s;
    b->failed = !stewart_read("examples/parallel/stewart_gough.csv", &path) ||
                stewart_make(b->points, b->along, SNW_HISTORY_CUBIC, &s) != SNW_OK;
    if (b->failed) return;
    stewart_feed(&s, &path, 0);
    b->failed = stewart_static(&s) != SNW_OK;
    snw_platform_begin(s.p, true, 1.0 / 120);
    s.iterations = s.tangents = 0;
    const double start = bench_processor();
    for (int i = 1; i <= b->steps && !b->failed; i++) {
        stewart_feed(&s, &path, i / 120.0);
        b->failed = stewart_step(&s, -0.2, 1.0 / 120) != SNW_OK;
    }
    b->seconds = bench_processor() - start;
    b->simulated = b->steps / 120.0;
    b->iterations = s.iterations, b->tangents = s.tangents;
    stewart_free(&s);
}

// ---- any number of legs -------------------------------------------------------------------------

enum { MOST_LEGS = 96 };

// a heavy plate on legs in a ring, set into oscillation by a force
static void ring(void *user) {
    setting *b = user;
    snw_shoot_rod *rod[MOST_LEGS] = {NULL};
    snw_leg_end end[MOST_LEGS];
    snw_platform *p = NULL;
    const shooting_case s = {.L = 0.5,
                             .radius = 1e-3,
                             .E = 207e9,
                             .G = 207e9 / 2.6,
                             .rho = 8000,
                             .points = b->points,
                             .gravity = {{0, 0, -9.81}}};
    const int n = b->points - 1;
    const snw_shoot_opts o = {.along = b->along, .npiece = 1, .length = &s.L, .intervals = &n};
    b->failed = false;
    for (int i = 0; i < b->legs && !b->failed; i++) {
        b->failed = snw_shoot_create(&o, NULL, true, false, &rod[i]) != SNW_OK ||
                    shooting_fill(&s, rod[i]) != SNW_OK;
        if (b->failed) break;
        const snw_se3 g = {shooting_base().R, stewart_hole(360.0 * i / b->legs)};
        snw_shoot_set_unstressed(rod[i], g);
        end[i] = (snw_leg_end){
            .rod = rod[i],
            .tip_frame = snw_se3_identity(),
            .plate_frame = {shooting_base().R, stewart_hole(360.0 * i / b->legs + 40)}};
    }
    const snw_boundary_opts opts = snw_boundary_defaults();
    const snw_se3 home = {snw_mat3_identity(), {{0, 0, 0.49}}};
    b->failed = b->failed || snw_platform_create(b->legs, end, home, &opts, &p) != SNW_OK;
    if (!b->failed) {
        // load and mass per leg are constant
        p->plate.has_body = true;
        p->plate.M = (snw_inertia){.m = 0.015 * b->legs,
                                   .I = {3e-5 * b->legs, 3e-5 * b->legs, 6e-5 * b->legs}};
        p->plate.nload = 1;
        p->plate.load[0].W.f = (snw_vec3){{0.02 * b->legs, 0, 0}};
        snw_platform_ready(p);
        snw_platform_formula(p, (snw_levels){0}, 1);
        snw_boundary_info info;
        b->failed = snw_platform_solve(p, &info) != SNW_OK;
        if (!b->failed) snw_platform_accept(p, 1);
    }
    b->iterations = b->tangents = 0;
    const double start = bench_processor();
    if (!b->failed) {
        p->plate.nload = 0;
        snw_platform_begin(p, true, 1.0 / 120);
    }
    for (int i = 1; i <= b->steps && !b->failed; i++) {
        snw_boundary_info info;
        snw_platform_formula(p, snw_scheme_levels(SNW_SCHEME_BDF_ALPHA, -0.2), 1.0 / 120);
        b->failed = snw_platform_solve(p, &info) != SNW_OK;
        if (!b->failed) snw_platform_accept(p, 1.0 / 120);
        b->iterations += info.iterations, b->tangents += info.tangents;
    }
    b->seconds = bench_processor() - start;
    b->simulated = b->steps / 120.0;
    snw_platform_destroy(p);
    for (int i = 0; i < b->legs; i++) snw_shoot_destroy(rod[i]);
}

// ---- tables -------------------------------------------------------------------------------------

// the fastest of some runs
static double run(bench_fn *fn, setting *b) {
    double best = INFINITY;
    for (int i = 0; i < 8; i++) {
        fn(b);
        if (b->failed) return NAN;
        if (b->seconds < best) best = b->seconds;
    }
    return b->simulated / best;
}

static void line(const bench_table *t, const char *name, bench_fn *fn, setting b,
                 const char *others) {
    const double ratio = run(fn, &b);
    printf("%-26s %7d %14.1f %12.1f %10.2f   %s\n", name, b.points, ratio,
           b.iterations / (double)b.steps, b.tangents / (double)b.steps, others);
    bench_record(t, name, "real_time_ratio", ratio);
}

static void ratios(const bench_table *t) {
    const setting euler = {.points = 200, .steps = 100, .along = SNW_ALONG_EULER};
    const setting rk4 = {.points = 51, .steps = 100, .along = SNW_ALONG_RK4};
    printf("\n%-26s %7s %14s %12s %10s   %s\n", "robot", "points", "of real time", "iterations",
           "tangents", "others");
    line(t, "winch, friction, Euler", winch, euler, "public program 5");
    line(t, "winch, friction, RK4", winch, rk4, "");
    line(t, "four tendons, Euler", transfer, euler, "paper above 3.5");
    line(t, "four tendons, RK4", transfer, rk4, "");
    setting soft = {.points = 50, .steps = 450};
    line(t, "finger with water, RK4", finger, soft, "paper 26 to 32");
    soft.gas = true;
    line(t, "finger with air, RK4", finger, soft, "paper about 28");
    setting plate = {.points = 200, .steps = 120, .along = SNW_ALONG_EULER};
    line(t, "Stewart-Gough, Euler", platform, plate,
         "paper 7 to 8, three threads; public program 0.10");
    plate.points = 41;
    plate.along = SNW_ALONG_RK4;
    line(t, "Stewart-Gough, RK4", platform, plate, "");
}

static void costs(void) {
    printf("\n%-8s %18s %18s\n", "points", "winch, ms a step", "platform, ms a step");
    for (int n = 100; n <= 400; n *= 2) {
        setting w = {.points = n, .steps = 10, .along = SNW_ALONG_EULER}, p = w;
        const double a = run(winch, &w), c = run(platform, &p);
        printf("%-8d %18.3f %18.3f\n", n, 50 / a, 1e3 / (120 * c));
    }
}

// cost by the number of legs, and the power: the slope of the line through the logarithms
static void legs(const bench_table *t) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    int count = 0;
    printf("\n%-8s %14s %14s %12s\n", "legs", "ms a step", "ms a leg", "iterations");
    for (int n = 3; n <= MOST_LEGS; n *= 2, count++) {
        setting b = {.points = 41, .steps = 40, .along = SNW_ALONG_RK4, .legs = n};
        const double ms = 1e3 / (120 * run(ring, &b)), x = log(n), y = log(ms);
        printf("%-8d %14.3f %14.4f %12.1f\n", n, ms, ms / n, b.iterations / (double)b.steps);
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    const double slope = (count * sxy - sx * sy) / (count * sxx - sx * sx);
    printf("cost grows with the power %.3f of the legs\n", slope);
    bench_record(t, "legs on a plate", "power_of_cost", slope);
}

int main(int argc, char **argv) {
    bench_table t = bench_open("coupled",
                               "Boundary-value engine: tendons, chambers, platform of Till et al. "
                               "2019, simulated seconds per second",
                               argc, argv);
    ratios(&t);
    costs();
    legs(&t);
    bench_close(&t);
    return 0;
}
