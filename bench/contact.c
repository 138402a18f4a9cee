// SPDX-License-Identifier: MIT
//
// Contacts: hard contacts with implicit steps of 5 ms beside an explicit penalty method, whose
// longest stable step is measured: a ball that bounces, and a rod that falls on a floor with
// friction and slides to rest. The penalty method is that of explicit rod codes: point masses with
// axial and bending springs, forces of the floor at the masses, velocities then places (symplectic
// Euler).
#include "bench.h"

#include "sinew/sinew.h"

#include <math.h>

static const double G = 9.81;

// ---- this library -------------------------------------------------------------------------------

typedef struct outcome {
    double seconds; // of processor time
    double value;   // what the case compares
} outcome;

static void stop(const snw_error *err) {
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

// Smallest time of a motion of `duration` in steps of h; value: `probe` at its end
static outcome simulate(const char *text, double duration, double h, const char *probe,
                        int column) {
    enum { TIMES = 5, COLUMNS = 8 };
    outcome out = {.seconds = INFINITY};
    for (int k = 0; k < TIMES; k++) {
        snw_robot *r = NULL;
        snw_error err = {0};
        double read[COLUMNS];
        if (snw_robot_parse("bench", text, strlen(text), NULL, 0, NULL, &r, &err) != SNW_OK)
            stop(&err);
        snw_robot_steps how = snw_robot_steps_defaults(h);
        how.scheme = "moreau";
        if (snw_robot_start(r, &how, &err) != SNW_OK) stop(&err);
        const double start = bench_processor();
        if (snw_robot_advance(r, h, (int)lround(duration / h), NULL, &err) != SNW_OK) stop(&err);
        out.seconds = fmin(out.seconds, bench_processor() - start);
        snw_robot_probe(r, probe, COLUMNS, read);
        out.value = read[column];
        snw_robot_close(r);
    }
    return out;
}

// ---- explicit penalty method --------------------------------------------------------------------

enum { MOST = 128 };

// A chain of masses in a vertical plane; one mass: a ball
typedef struct chain {
    int n;
    double m, l, axial, bending, damping; // mass, length, EA/l, EI/l^3, 1/s
    double k, d, mu;                      // floor: N/m, s/m of Hunt and Crossley, friction
    double x[MOST], z[MOST], u[MOST], w[MOST];
} chain;

static double chain_energy(const chain *c) {
    double sum = 0;
    for (int i = 0; i < c->n; i++) {
        sum += 0.5 * c->m * (c->u[i] * c->u[i] + c->w[i] * c->w[i]) + c->m * G * c->z[i];
        if (c->z[i] < 0) sum += 0.5 * c->k * c->z[i] * c->z[i];
        if (i + 1 < c->n) {
            const double s = hypot(c->x[i + 1] - c->x[i], c->z[i + 1] - c->z[i]) - c->l;
            sum += 0.5 * c->axial * s * s;
        }
        if (i > 0 && i + 1 < c->n) {
            const double a = c->x[i + 1] - 2 * c->x[i] + c->x[i - 1],
                         b = c->z[i + 1] - 2 * c->z[i] + c->z[i - 1];
            sum += 0.5 * c->bending * (a * a + b * b);
        }
    }
    return sum;
}

static void chain_step(chain *c, double h) {
    double fx[MOST] = {0}, fz[MOST] = {0};
    for (int i = 0; i < c->n; i++) {
        fz[i] -= c->m * G;
        fx[i] -= c->damping * c->m * c->u[i], fz[i] -= c->damping * c->m * c->w[i];
        if (c->z[i] < 0) {
            const double N = -c->k * c->z[i] * fmax(1 - c->d * c->w[i], 0);
            fz[i] += N;
            fx[i] -= c->mu * N * c->u[i] / sqrt(c->u[i] * c->u[i] + 1e-6);
        }
        if (i + 1 < c->n) {
            const double a = c->x[i + 1] - c->x[i], b = c->z[i + 1] - c->z[i], s = hypot(a, b);
            const double f = c->axial * (s - c->l) / s;
            fx[i] += f * a, fz[i] += f * b, fx[i + 1] -= f * a, fz[i + 1] -= f * b;
        }
        if (i > 0 && i + 1 < c->n) {
            const double a = c->bending * (c->x[i + 1] - 2 * c->x[i] + c->x[i - 1]),
                         b = c->bending * (c->z[i + 1] - 2 * c->z[i] + c->z[i - 1]);
            fx[i - 1] -= a, fx[i] += 2 * a, fx[i + 1] -= a;
            fz[i - 1] -= b, fz[i] += 2 * b, fz[i + 1] -= b;
        }
    }
    for (int i = 0; i < c->n; i++) {
        c->u[i] += h * fx[i] / c->m, c->w[i] += h * fz[i] / c->m;
        c->x[i] += h * c->u[i], c->z[i] += h * c->w[i];
    }
}

// Does a motion with steps of h gain no more than 1 % of its energy?
static bool chain_runs(chain c, double duration, double h) {
    const double start = chain_energy(&c);
    for (long k = 0; k < lround(duration / h); k++) {
        chain_step(&c, h);
        if (k % 16 == 0 && !(chain_energy(&c) <= 1.01 * start)) return false;
    }
    return chain_energy(&c) <= 1.01 * start;
}

// Longest stable step, to 3 %, and the time of the motion with it; value: x of the last mass
static outcome penalise(const chain *c, double duration, double *step) {
    double low = 1e-8, high = 1e-2;
    while (high > 1.03 * low) {
        const double h = sqrt(low * high);
        if (chain_runs(*c, duration, h)) {
            low = h;
        } else {
            high = h;
        }
    }
    *step = low;
    chain now = *c;
    const double start = bench_processor();
    for (long k = 0; k < lround(duration / low); k++) chain_step(&now, low);
    return (outcome){.seconds = bench_processor() - start, .value = now.x[now.n - 1]};
}

// ---- cases --------------------------------------------------------------------------------------

static void report(const bench_table *b, const char *name, double step, double duration, outcome o,
                   const char *depth) {
    printf("  %-44s %10.3g   %10.0f   %9.3g   %s\n", name, 1e3 * step, duration / step,
           1e3 * o.seconds / duration, depth);
    bench_record(b, name, "step_ms", 1e3 * step);
    bench_record(b, name, "ms_per_s", 1e3 * o.seconds / duration);
}

// 1 kg falls 0.5 m; impacts are found, so that the apex does not depend on the step
static void ball(const bench_table *b) {
    static const char text[] =
        "sinew: 1\n"
        "robot: {ball: {on: world, joint: free, body: {sphere: {radius: 0.05}, mass: 1}}}\n"
        "contacts: {floor: {ground: {on: ball, hard: true, restitution: 0.8}}}\n"
        "initial: {ball: {pose: {xyz: [0, 0, 0.55]}}}\n"
        "probes: {ball: {position: ball}}\n";
    const double duration = 2, h = 5e-3;
    report(b, "ball, hard", h, duration, simulate(text, duration, h, "ball", 2), "0");
    static const double depth[] = {1e-2, 1e-3, 1e-4};
    for (int i = 0; i < 3; i++) {
        // the deepest point of an elastic impact with the speed v is v sqrt(m/k)
        chain c = {.n = 1, .m = 1, .k = 2 * G * 0.5 / (depth[i] * depth[i]), .d = 0.1};
        char name[64], shown[32];
        double step;
        c.z[0] = 0.5;
        const outcome o = penalise(&c, duration, &step);
        snprintf(name, sizeof name, "ball, penalty, explicit");
        snprintf(shown, sizeof shown, "%.0e m", depth[i]);
        report(b, name, step, duration, o, shown);
    }
}

// The rod of PyElastica's snake: 0.35 m, radius 3.85 mm, 1 MPa, 50 elements; thrown on the floor
static void rod(const bench_table *b, double young, double depth) {
    const double L = 0.35, r = 3.85e-3, rho = 1000, duration = 1, h = 5e-3;
    char text[900], name[64], shown[32];
    snprintf(text, sizeof text,
             "sinew: 1\n"
             "materials: {rubber: {young: %g, poisson: 0.5, density: %g, damping: 10 ms}}\n"
             "robot: {rod: {on: world, joint: free, rod: {length: %g, section: {circle: {radius: "
             "%g}}, material: rubber, strain: {bend_y: legendre 4}, nodes: 10}}}\n"
             "contacts: {floor: {ground: {on: rod, hard: true, friction: 0.3}}}\n"
             "initial: {rod: {pose: {xyz: [0, 0, 0.03], rpy: [0, -0.1, 0]}, twist: [0, 0, 0, 0.5, "
             "0, 0]}}\n"
             "probes: {tip: {position: rod.tip}}\n",
             young, rho, L, r);
    snprintf(name, sizeof name, "rod, %.0f MPa, hard", 1e-6 * young);
    report(b, name, h, duration, simulate(text, duration, h, "tip", 0), "0");
    const int n = 51;
    const double l = L / (n - 1), A = M_PI * r * r, I = 0.25 * A * r * r;
    chain c = {.n = n,
               .m = rho * A * L / n,
               .l = l,
               .axial = young * A / l,
               .bending = young * I / (l * l * l),
               .damping = 2,
               .d = 0.1,
               .mu = 0.3};
    c.k = c.m * G / depth; // at rest the rod sinks in by `depth`
    for (int i = 0; i < n; i++) {
        c.x[i] = l * i * cos(0.1), c.z[i] = 0.03 - r + l * i * sin(0.1);
        c.u[i] = 0.5 * cos(0.1), c.w[i] = 0.5 * sin(0.1);
    }
    double step;
    const outcome o = penalise(&c, duration, &step);
    snprintf(name, sizeof name, "rod, %.0f MPa, penalty, explicit", 1e-6 * young);
    snprintf(shown, sizeof shown, "%.0e m", depth);
    report(b, name, step, duration, o, shown);
}

int main(int argc, char **argv) {
    bench_table b = bench_open("contact",
                               "contacts: hard with implicit steps, and by an explicit "
                               "penalty method with its longest stable step",
                               argc, argv);
    printf("  %-44s %10s   %10s   %9s   %s\n", "case", "step, ms", "steps", "ms per s",
           "penetration");
    ball(&b);
    rod(&b, 1e6, 1e-5);
    rod(&b, 1e8, 1e-5);
    rod(&b, 1e9, 1e-5);
    bench_close(&b);
    return 0;
}
