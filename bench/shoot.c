// SPDX-License-Identifier: MIT
//
// The boundary-value engine on the paper's benchmark (Till, Aloi and Rucker 2019, tables 3 and 4,
// figures 2 and 3): a steel cantilever, 0.4 m, bent by 0.5 N at its tip and released; 1 s in steps
// of 5 ms, 150 points.
#include "bench.h"

#include "decay.h"
#include "oracle/till_march.h"
#include "scalar_law.h"
#include "shooting_rod.h"

enum { STEPS = 200, LONG = 2000 };

typedef struct setting {
    shooting_case s;
    snw_scheme_kind time;
    double alpha, h;
    int steps;
    bool failed;
    shooting_rod rod;
    double E[LONG + 1]; // energy at each instant
} setting;

// the bent rod before its release
static bool bend(setting *b) {
    if (shooting_make(&b->s, &b->rod) != SNW_OK || shooting_static(&b->rod) != SNW_OK) return false;
    return true;
}

// the motion from the bent rod; the caller creates b->rod anew
static void swing(setting *b, bool energies) {
    b->failed = shooting_release(&b->rod, b->h) != SNW_OK;
    if (energies) b->E[0] = snw_shoot_energies(b->rod.r).elastic;
    for (int i = 1; i <= b->steps && !b->failed; i++) {
        b->failed = shooting_step(&b->rod, b->time, b->alpha, b->h) != SNW_OK;
        if (!energies) continue;
        const snw_shoot_energy E = snw_shoot_energies(b->rod.r);
        b->E[i] = E.elastic + E.kinetic;
    }
}

// seconds of processor time of the motion alone, the smallest of some runs
static double seconds(setting *b) {
    double best = INFINITY;
    for (int i = 0; i < 12; i++) {
        if (!bend(b)) return NAN;
        const double start = bench_processor();
        swing(b, false);
        const double took = bench_processor() - start;
        shooting_free(&b->rod);
        if (took < best) best = took;
    }
    return best;
}

// ---- damping ------------------------------------------------------------------------------------

static double time_constant(const setting *b) { return decay_fit(b->steps + 1, b->h, b->E); }

// the shortest step, in ms, with which 20 steps succeed, reduced by a twentieth at a time
static double shortest(setting b) {
    double h = b.h;
    b.steps = 20;
    for (double next = h; next > 5e-6; next /= 1.05) {
        b.h = next;
        const bool bent = bend(&b);
        if (bent) swing(&b, false);
        shooting_free(&b.rod);
        if (!bent || b.failed) break;
        h = next;
    }
    return 1e3 * h;
}

static const struct {
    const char *name;
    snw_scheme_kind time;
    double alpha;
    // the paper's tables 3 and 4: time constants, s, compute time of a second, s, and shortest
    // stable steps, ms; of each Cosserat and Kirchhoff by Euler, then by RK4
    const char *tau[4], *takes[4], *least[4];
} schemes[] = {
    {"backward Euler",
     SNW_SCHEME_EULER,
     0,
     {"0.13", "0.13", "0.13", "0.13"},
     {"0.35", "0.20", "1.31", "0.36"},
     {"0.8", "0.5", "0.8", "0.5"}},
    {"BDF2",
     SNW_SCHEME_BDF2,
     0,
     {"3.86", "3.87", "3.88", "3.84"},
     {"0.46", "0.26", "1.83", "0.50"},
     {"1.3", "1.0", "1.4", "0.9"}},
    {"BDF-alpha -0.2",
     SNW_SCHEME_BDF_ALPHA,
     -0.2,
     {"7.57", "7.58", "7.63", "7.54"},
     {"0.48", "0.27", "1.88", "0.51"},
     {"1.5", "1.1", "1.6", "1.1"}},
    {"BDF-alpha -0.48",
     SNW_SCHEME_BDF_ALPHA,
     -0.48,
     {"161.8", "161.8", "201.6", "186.7"},
     {"0.56", "0.29", "2.23", "0.54"},
     {"3.8", "1.7", "4.1", "1.4"}},
    {"trapezoidal",
     SNW_SCHEME_TRAPEZOIDAL,
     0,
     {"none", "none", "none", "none"},
     {"0.62", "0.30", "2.46", "0.57"},
     {"4.2", "1.8", "4.4", "1.5"}},
    {"BDF3",
     SNW_SCHEME_BDF3,
     0,
     {"unstable", "unstable", "unstable", "unstable"},
     {"-", "-", "-", "-"},
     {"48.2", "32.8", "48.4", "40.3"}},
};
static const double first_frequency = 2 * 3.141592653589793 * 8.895193; // rad/s, of its first mode
enum { NSCHEME = sizeof schemes / sizeof schemes[0] };

static setting benchmark(int along, bool kirchhoff, int scheme) {
    setting b = {.s = shooting_benchmark(),
                 .time = schemes[scheme].time,
                 .alpha = schemes[scheme].alpha,
                 .h = 5e-3,
                 .steps = STEPS};
    b.s.along = along ? SNW_ALONG_RK4 : SNW_ALONG_EULER;
    b.s.kirchhoff = kirchhoff;
    return b;
}

// Time constants of minutes, as in the paper's figure 2: over ten seconds, when higher modes have
// decayed.
static void slow_damping(const bench_table *t) {
    static const int scheme = 3; // BDF-alpha -0.48
    printf("\n%-8s %-16s %14s %10s\n", "along", "scheme", "tau over 10 s", "paper");
    for (int along = 0; along < 2; along++) {
        setting b = benchmark(along, false, scheme);
        b.s.interpolation = SNW_HISTORY_LINEAR;
        b.steps = LONG;
        bool done = bend(&b);
        b.rod.r->form = &oracle_till_form;
        if (done) done = shooting_static(&b.rod) == SNW_OK;
        if (done) swing(&b, true);
        shooting_free(&b.rod);
        if (!done || b.failed) continue;
        printf("%-8s %-16s %14.4g %10s\n", along ? "RK4" : "Euler", schemes[scheme].name,
               time_constant(&b), schemes[scheme].tau[2 * along]);
        bench_record(t, along ? "rk4 slow" : "euler slow", "tau_s", time_constant(&b));
    }
}

static void damping(const bench_table *t) {
    printf("tables 3 and 4: time constants of the amplitude at 5 ms, what a second takes (banded), "
           "and the shortest stable step of single shooting (of BDF3 by its closed law)\n");
    printf("%-8s %-16s %-10s %10s %10s %12s %10s %10s %10s %10s\n", "along", "scheme", "rod",
           "tau, s", "paper", "E(1s)/E(0)", "takes, s", "paper", "from, ms", "paper");
    for (int along = 0; along < 2; along++) {
        for (int i = 0; i < NSCHEME; i++) {
            for (int kirchhoff = 0; kirchhoff < 2; kirchhoff++) {
                setting b = benchmark(along, kirchhoff, i);
                // as in the paper: linear histories, world axes
                b.s.interpolation = SNW_HISTORY_LINEAR;
                bool done = bend(&b);
                b.rod.r->form = &oracle_till_form;
                if (done) done = shooting_static(&b.rod) == SNW_OK;
                if (done) swing(&b, true);
                shooting_free(&b.rod);
                const bool stable = done && !b.failed && b.E[b.steps] < 1.5 * b.E[0];
                char tau[32] = "unstable", row[64];
                if (stable) (void)snprintf(tau, sizeof tau, "%.4g", time_constant(&b));
                setting one = benchmark(along, kirchhoff, i), all = one;
                one.s.kind = SNW_BOUNDARY_NEWTON;
                const double time = stable ? seconds(&all) : NAN;
                // BDF3 is stable where W h > sqrt(15)/2
                const double least = stable ? shortest(one) : 1e3 * sqrt(15) / 2 / first_frequency;
                const int p = 2 * along + kirchhoff;
                printf("%-8s %-16s %-10s %10s %10s %12.4f %10.4f %10s %10.2f %10s\n",
                       along ? "RK4" : "Euler", schemes[i].name,
                       kirchhoff ? "Kirchhoff" : "Cosserat", tau, schemes[i].tau[p],
                       b.E[b.steps] / b.E[0], time, schemes[i].takes[p], least,
                       schemes[i].least[p]);
                (void)snprintf(row, sizeof row, "%s %s %s", along ? "rk4" : "euler",
                               schemes[i].name, kirchhoff ? "kirchhoff" : "cosserat");
                if (stable) bench_record(t, row, "tau_s", time_constant(&b));
                if (stable) bench_record(t, row, "banded_s", time);
            }
        }
    }
}

// ---- speed --------------------------------------------------------------------------------------

static void speed(const bench_table *t) {
    static const char *const solver[] = {"banded", "single, Newton"};
    printf("\n%-8s %-16s %12s %10s %14s %14s\n", "along", "solver", "1 s takes, s", "target",
           "marches a step", "tangents");
    for (int along = 1; along >= 0; along--) {
        for (int k = 1; k >= 0; k--) {
            setting b = benchmark(along, false, 1);
            b.s.kind = (snw_boundary_kind)k;
            const double time = seconds(&b), target = along ? 0.035 : 0.015;
            if (bend(&b)) swing(&b, false);
            printf("%-8s %-16s %12.4f %10.3f %14.2f %14.2f\n", along ? "RK4" : "Euler",
                   solver[!k ? 0 : 1], time, k ? target : 3 * target, b.rod.marches / (double)STEPS,
                   b.rod.tangents / (double)STEPS);
            shooting_free(&b.rod);
            char row[32];
            (void)snprintf(row, sizeof row, "%s %s", along ? "rk4" : "euler",
                           k ? "single" : "banded");
            bench_record(t, row, "seconds", time);
        }
    }
    printf("\n%-12s %10s %18s\n", "step, ms", "segments", "ms a step");
    for (double h = 5e-3; h > 9e-6; h /= 5) {
        setting b = benchmark(1, false, 1);
        b.h = h;
        const double time = seconds(&b);
        int segments = 0;
        if (bend(&b)) swing(&b, false);
        segments = b.rod.b->segments->n;
        shooting_free(&b.rod);
        printf("%-12.4g %10d %18.3f\n", 1e3 * h, b.failed ? -1 : segments, 1e3 * time / STEPS);
    }
}

// ---- figures ------------------------------------------------------------------------------------

// energies from step 10 to 40 of the rod bent into its first mode; returns the decay rate of the
// amplitude
static double first_mode(int scheme, double h) {
    double E[31];
    shooting_rod a;
    bool failed = shooting_first_mode(151, &a) != SNW_OK || shooting_release(&a, h) != SNW_OK;
    for (int i = 1; i <= 40 && !failed; i++) {
        failed = shooting_step(&a, schemes[scheme].time, schemes[scheme].alpha, h) != SNW_OK;
        const snw_shoot_energy e = snw_shoot_energies(a.r);
        if (i >= 10) E[i - 10] = e.elastic + e.kinetic;
    }
    shooting_free(&a);
    return failed ? NAN : decay_log(31, h, E);
}

// Figure 2: the time constant over the step. The paper releases a rod bent by a force for 10 s and
// reads powers -1 and -3 off a plot, at short steps those of several modes at once; here the rod is
// in its first mode, and the closed form for that mode is printed beside it.
static void figure_2(const bench_table *t) {
    static const double steps[] = {1e-3, 2e-3, 5e-3, 10e-3, 20e-3};
    enum { NSTEP = sizeof steps / sizeof steps[0] };
    const double w = first_frequency;
    printf("\nfigure 2: time constant over the step: first mode of the rod (closed law), and the "
           "power between neighbours; the paper reads -1 of backward Euler, -3 of the others\n");
    printf("%-16s", "step, ms");
    for (int k = 0; k < NSTEP; k++) printf(" %24.0f", 1e3 * steps[k]);
    printf("\n");
    for (int i = 0; i < 4; i++) {
        double before = NAN;
        printf("%-16s", schemes[i].name);
        for (int k = 0; k < NSTEP; k++) {
            const double tau = first_mode(i, steps[k]);
            const double law = scalar_law(schemes[i].time, schemes[i].alpha, w, steps[k]);
            char cell[64], row[64];
            const int n = snprintf(cell, sizeof cell, "%.4g (%.4g)", tau, law);
            if (k > 0) {
                const double power = log(tau / before) / log(steps[k] / steps[k - 1]);
                (void)snprintf(cell + n, sizeof cell - (size_t)n, " %.2f", power);
            }
            printf(" %24s", cell);
            (void)snprintf(row, sizeof row, "%s %g ms", schemes[i].name, 1e3 * steps[k]);
            bench_record(t, row, "tau_s", tau);
            before = tau;
        }
        printf("\n");
    }
}

// Figure 3: seconds over points, 5 to 500, BDF2 at 5 ms. The line is a least-squares fit of
// relative errors through all of them.
static void figure_3(const bench_table *t) {
    static const int points[] = {5, 10, 20, 50, 100, 200, 500};
    enum { N = sizeof points / sizeof points[0] };
    double time[N], a = 0, b = 0, aa = 0, ab = 0, bb = 0;
    for (int i = 0; i < N; i++) {
        setting s = benchmark(1, false, 1);
        s.s.points = points[i];
        time[i] = seconds(&s);
        const double x = (points[i] - 1) / time[i], one = 1 / time[i];
        aa += one * one, ab += one * x, bb += x * x, a += one, b += x;
    }
    const double slope = (aa * b - ab * a) / (aa * bb - ab * ab), base = (a - slope * ab) / aa;
    printf(
        "\nfigure 3: cost over points; line %.3g ms + %.3g us a point; in the paper a line, too\n",
        1e3 * base, 1e6 * slope);
    printf("%-8s %14s %14s %18s\n", "points", "1 s takes, s", "line", "us a point a step");
    for (int i = 0; i < N; i++) {
        printf("%-8d %14.5f %14.5f %18.3f\n", points[i], time[i], base + slope * (points[i] - 1),
               1e6 * time[i] / (points[i] - 1) / STEPS);
        char row[32];
        (void)snprintf(row, sizeof row, "%d points", points[i]);
        bench_record(t, row, "seconds", time[i]);
    }
}

int main(int argc, char **argv) {
    bench_table t = bench_open(
        "shoot",
        "Boundary-value engine: the benchmark cantilever of Till et al. 2019, 1 s in 200 steps",
        argc, argv);
    speed(&t);
    figure_2(&t);
    figure_3(&t);
    printf("\n");
    damping(&t);
    slow_damping(&t);
    bench_close(&t);
    return 0;
}
