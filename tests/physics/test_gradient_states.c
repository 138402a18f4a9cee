// SPDX-License-Identifier: MIT
//
// Gradients of materials that relax and of states of laws, theory.md (7.5.18), (7.5.31): a mass on
// a rod that relaxes and one on a state against the complex step of the same recursion, creep in
// closed form, rods, chambers, events and changes against differences of whole runs; the sweep back
// equals sensitivities along the run.
#include "asked_gradient.h"
#include "sanitized.h"

#include <complex.h>

// ---- complex step -------------------------------------------------------------------------------

// A mass on a rod that relaxes, under a force from an equilibrium that has lasted a time T, by the
// trapezoidal rule: place x, energy U.
typedef struct relaxing {
    double complex x, U;
} relaxing;

static relaxing relaxing_mass(const double complex *at, double h, int n) {
    const double complex E = at[0], g[2] = {at[1], at[2]}, tau[2] = {at[3], at[4]};
    const double complex F = at[5], m = at[6], L = 0.2, A = 1e-4, k = E * A / L;
    const double T = 0.05;
    double complex soft = k, a[2], v = 0, x;
    for (int i = 0; i < 2; i++) soft -= k * g[i] * (1 - cexp(-T / tau[i]));
    x = F / soft;
    for (int i = 0; i < 2; i++) a[i] = (1 - cexp(-T / tau[i])) * x;
    double complex acc = 0, F1 = F;
    for (int step = 0; step < n; step++) {
        if (step == 10) { // the force jumps, and accelerations with it
            F1 = 2 * F;
            acc = (F1 - k * x + k * g[0] * a[0] + k * g[1] * a[1]) / m;
        }
        // x_1 = x + h/2 (v + v_1), v_1 = v + h/2 (acc + acc_1), a_1 = b + f x_1
        double complex b[2], f[2], stiff = k, force = F1;
        for (int i = 0; i < 2; i++) {
            const double complex c = h / (2 * tau[i]);
            b[i] = ((1 - c) * a[i] + c * x) / (1 + c);
            f[i] = c / (1 + c);
            stiff -= k * g[i] * f[i];
            force += k * g[i] * b[i];
        }
        const double complex still = x + h * v + h * h / 4 * acc;
        x = (still + h * h / 4 * force / m) / (1 + h * h / 4 * stiff / m);
        const double complex acc_1 = (force - stiff * x) / m;
        v += h / 2 * (acc + acc_1);
        acc = acc_1;
        for (int i = 0; i < 2; i++) a[i] = b[i] + f[i] * x;
    }
    double complex U = k * x * x / 2;
    for (int i = 0; i < 2; i++) U += k * g[i] * (a[i] * a[i] / 2 - x * a[i]);
    return (relaxing){x, U};
}

static void a_mass_on_a_rod_that_relaxes(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {E: 2 MPa, g1: 0.3, g2: 0.2, tau1: 100 ms, tau2: 2 s, F: 30 N, m: 1 kg}\n"
        "gravity: 0\n"
        "materials: {gel: {young: E, poisson: 0.5, density: 0, relaxation: {of: instant, ratios: "
        "[g1, g2], times: [tau1, tau2]}}}\n"
        "robot:\n"
        "  rod: {on: world, rod: {length: 0.2, material: gel, section: {rectangle: {y: 10 mm, z: "
        "10 mm}}, strain: {stretch: legendre 1}}}\n"
        "  mass: {on: rod.tip, body: {mass: m}}\n"
        "loads: {push: {on: mass, force: [\"F*(1 + step(t, 50 ms))\", 0, 0]}}\n"
        "probes: {at: {position: mass}, e: energy}\n"
        "study: [static: {relaxation: 50 ms}, dynamic: {for: 0.5 s, step: 5 ms, scheme: "
        "trapezoidal, shorten: off}]\n";
    static outcome got;
    const double value[7] = {2e6, 0.3, 0.2, 0.1, 2, 30, 1};
    for (int method = 0; method < 2; method++) {
        answer(&(question){.text = text,
                           .nby = 7,
                           .by = {"E", "g1", "g2", "tau1", "tau2", "F", "m"},
                           .nof = 2,
                           .of = {"at.x", "e.elastic"},
                           .method = method ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT},
               &got);
        for (int k = 0; k < 7; k++) {
            double complex at[7];
            for (int i = 0; i < 7; i++) at[i] = value[i];
            at[k] += 1e-100 * I;
            const relaxing want = relaxing_mass(at, 5e-3, 100);
            assert_near(got.J[0], 0.2 + creal(want.x), 1e-11);
            assert_near(got.J[1], creal(want.U), 1e-11);
            const double x = cimag(want.x) / 1e-100, U = cimag(want.U) / 1e-100;
            assert_near(got.dJ[k] * value[k], x * value[k], 1e-10);
            assert_near(got.dJ[7 + k] * value[k], U * value[k], 1e-9);
        }
    }
}

// m x" = -k x - c p, T p' = u - p + s x + w p', by the trapezoidal rule; two states that read each
// other: p' = (u - p + s x)/T - w r, r' = p - r.
static double complex state_mass(const double complex *at, double h, int n) {
    const double complex k = at[0], c = at[1], T = at[2], u = at[3], s = at[4], w = at[5];
    double complex x = 0.1, v = 0, p = at[6], r = 0;
    for (int step = 0; step < n; step++) {
        // y_1 = y + h/2 (A y + A y_1 + 2 b): four equations by elimination
        double complex M[4][5] = {{0}};
        const double complex A[4][4] = {
            {0, 1, 0, 0}, {-k, 0, -c, 0}, {s / T, 0, -1 / T, -w}, {0, 0, 1, -1}};
        const double complex y[4] = {x, v, p, r}, b[4] = {0, 0, u / T, 0};
        for (int i = 0; i < 4; i++) {
            M[i][4] = y[i] + h * b[i];
            for (int j = 0; j < 4; j++) {
                M[i][j] = (i == j) - h / 2 * A[i][j];
                M[i][4] += h / 2 * A[i][j] * y[j];
            }
        }
        for (int e = 0; e < 4; e++) {
            for (int i = 0; i < 4; i++) {
                const double complex f = i == e ? 0 : M[i][e] / M[e][e];
                for (int j = e; j < 5 && i != e; j++) M[i][j] -= f * M[e][j];
            }
        }
        x = M[0][4] / M[0][0], v = M[1][4] / M[1][1];
        p = M[2][4] / M[2][2], r = M[3][4] / M[3][3];
    }
    return x;
}

static void a_mass_on_states(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "parameters: {k: 50 N/m, c: 20 N, T: 0.2 s, u: 0.7, s: 30 1/m, w: 4 1/s, p0: 0.3}\n"
        "gravity: 0\n"
        "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: k, body: {mass: 1}}}\n"
        "initial: {cart: 0.1}\n"
        "states: {p: {initial: p0, rate: \"(u - p + s*at)/T - w*r\"}, r: {initial: 0, rate: (p - "
        "r)/(1 s)}}\n"
        "probes: {at: {value: cart}}\n"
        "actuators: {motor: {joint: cart, effort: -c*p}}\n"
        "study: [dynamic: {for: 1 s, step: 5 ms, scheme: trapezoidal, shorten: off}]\n";
    static outcome got;
    const double value[7] = {50, 20, 0.2, 0.7, 30, 4, 0.3};
    for (int method = 0; method < 2; method++) {
        answer(&(question){.text = text,
                           .nby = 7,
                           .by = {"k", "c", "T", "u", "s", "w", "p0"},
                           .nof = 1,
                           .of = {"at"},
                           .method = method ? SNW_GRADIENT_FORWARD : SNW_GRADIENT_ADJOINT},
               &got);
        double want[7];
        for (int k = 0; k < 7; k++) {
            double complex at[7];
            for (int i = 0; i < 7; i++) at[i] = value[i];
            at[k] += 1e-100 * I;
            const double complex x = state_mass(at, 5e-3, 200);
            assert_near(got.J[0], creal(x), 1e-11);
            want[k] = cimag(x) / 1e-100;
        }
        near_all(7, got.dJ, want, 1e-9);
    }
}

// ---- differences of whole runs ------------------------------------------------------------------

#define GEL                                                                                        \
    "sinew: 1\n"                                                                                   \
    "parameters: {E: 0.4 MPa, g: 0.4, tau: 50 ms, l: 0.2 m, m: 20 g, F: 0.3 N}\n"                  \
    "gravity: [0, -9.81 m/s^2, 0]\n"                                                               \
    "materials: {gel: {young: E, poisson: 0.45, density: 1000, damping: 2 ms, relaxation: {of: "   \
    "relaxed, ratios: [g, 0.3], times: [tau, 2 ms], shear_ratios: [0.1, 0]}}}\n"                   \
    "robot:\n"                                                                                     \
    "  arm: {on: world, rod: {length: l, material: gel, section: {circle: {radius: 8 mm}}, "       \
    "strain: {bend_z: legendre 2, bend_y: legendre 1, twist: legendre 1}, nodes: 6}}\n"            \
    "  tool: {on: arm.tip, body: {mass: m, com: [0, 5 mm, 5 mm]}}\n"                               \
    "loads: {push: {on: tool, force: [0, 0, F], frame: body}}\n"                                   \
    "probes: {tip: {position: tool}, v: {velocity: tool}, e: energy, bend: {strain: arm@50%%}}\n"

static const problem problems[] = {
    {"a rod that relaxes, from a sudden load",
     GEL "study: [static: {relaxation: instant}, dynamic: {for: 60 ms, step: 3 ms, scheme: %s}]\n",
     6,
     4,
     {"E", "g", "tau", "l", "m", "F"},
     {"tip.y", "integral(tip.z^2 + 0.1*v.vy)", "e.elastic", "bend.bend_z"}},
    {"equilibria with two rules, motions between, no past of the first",
     GEL "study: [static: {relaxation: 20 ms}, dynamic: {for: 20 ms, step: 2 ms, scheme: %s}, "
         "static: {relaxation: instant}, dynamic: {for: 20 ms, step: 2.5 ms}]\n",
     6,
     3,
     {"E", "g", "tau", "l", "m", "F"},
     {"tip.y", "tip.z", "e.total"}},
    {"an event ends a step; a change",
     GEL "study: [static: {relaxation: relaxed}, change: {push.force: [0, 0, 3*F]}, dynamic: {for: "
         "0.5 s, step: 3 ms, scheme: %s, until: tip.z > 0.02 m}, dynamic: {for: 20 ms, step: 2 "
         "ms}]\n",
     6,
     3,
     {"E", "g", "tau", "l", "m", "F"},
     {"tip.y", "v.vz", "t"}},
    {"pressures as states, a latch and a filter",
     "sinew: 1\n"
     "parameters: {E: 0.4 MPa, G: 0.2, V: 8, n0: 2e-4 mol, T: 30 ms, m: 20 g}\n"
     "gravity: [0, -9.81 m/s^2, 0]\n"
     "materials: {gel: {young: E, poisson: 0.45, density: 1000, damping: 4 ms}}\n"
     "robot:\n"
     "  arm: {on: world, rod: {length: 0.2, material: gel, section: {circle: {radius: 8 mm}}, "
     "strain: {bend_z: legendre 2, stretch: legendre 1}, nodes: 6}}\n"
     "  tool: {on: arm.tip, body: {mass: m}}\n"
     "actuators:\n"
     "  cell: {chamber: {along: arm, at: [0, 4 mm, 0], area: 30 mm^2}, pressure: 2400 "
     "J/mol*n/V1}\n"
     "  side: {chamber: {along: arm, at: [0, -4 mm, 0], area: 20 mm^2}, pressure: 2400 "
     "J/mol*k/V2}\n"
     "states:\n"
     "  n: {initial: n0, rate: \"(5*n0*(1 + 0.2*sin(20*t/(1 s))) - n)*V/(1 s) + G*(k - "
     "n)*50/(1 s) + 1e-3 mol/m/s*slow\"}\n"
     "  k: {initial: 2e-4 mol, rate: \"G*(n - k)*50/(1 s)*exp(-k/(1e-3 mol))\"}\n"
     "  slow: {initial: 0 m, rate: (tip.y - slow)/T}\n"
     "probes: {tip: {position: tool}, V1: {volume: cell}, V2: {volume: side}, p: {law: n*k/(1 "
     "mol)}, v: {velocity: tool}}\n"
     "study: [static, dynamic: {for: 60 ms, step: 3 ms, scheme: %s}, dynamic: {for: 1 s, step: 2 "
     "ms, until: n > 8e-4 mol}]\n",
     6,
     3,
     {"E", "G", "V", "n0", "T", "m"},
     {"tip.y", "integral(p)*1e8", "t"}},
};

static void relaxation_and_states_follow_differences(void **state) {
    (void)state;
    static const char *const scheme[] = {"bdf2", "generalized-alpha, rho: 0.5", "trapezoidal",
                                         "euler"};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        for (size_t j = 0; j < sizeof scheme / sizeof *scheme; j++) {
            if ((i + j) % AMONG(4, 2) == 0) follow_differences(&problems[i], scheme[j], 1e-10);
        }
    }
}

// The states of the last problem at the stages of collocation.
static void states_at_stages_follow_differences(void **state) {
    (void)state;
    static const char *const scheme[] = {"gauss4", "radau5", "gauss6"};
    for (int j = 0; j < AMONG(3, 1); j++)
        follow_differences(&problems[sizeof problems / sizeof *problems - 1], scheme[j], 1e-10);
}

// Materials that relax at the stages, with an event and a change
static void relaxation_at_stages_follows_differences(void **state) {
    (void)state;
    follow_differences(&problems[0], "radau5", 1e-10);
    follow_differences(&problems[2], "gauss4", 1e-10);
}

static void checkpoints_give_the_same(void **state) {
    (void)state;
    static outcome kept, again;
    for (int k = 0; k < 2; k++) {
        char text[TEXT];
        (void)snprintf(text, sizeof text, problems[3 * k].text, "bdf2");
        question q = {
            .text = text, .nby = 2, .by = {"E", "m"}, .nof = 1, .of = {"integral(tip.y)"}};
        answer(&q, &kept);
        q.memory = 8000;
        answer(&q, &again);
        assert_true(again.info.recomputed > kept.info.steps / 2);
        assert_memory_equal(kept.J, again.J, sizeof kept.J);
        for (int i = 0; i < 2; i++) assert_near(again.dJ[i], kept.dJ[i], 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mass_on_a_rod_that_relaxes),
        cmocka_unit_test(a_mass_on_states),
        cmocka_unit_test(relaxation_and_states_follow_differences),
        cmocka_unit_test(states_at_stages_follow_differences),
        cmocka_unit_test(relaxation_at_stages_follows_differences),
        cmocka_unit_test(checkpoints_give_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
