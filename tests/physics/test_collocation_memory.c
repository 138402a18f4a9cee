// SPDX-License-Identifier: MIT
//
// Variables of first order in Gauss and Radau collocation (theory.md 6.8a): materials that relax
// and states of laws keep the order of the scheme and the energy account, against the same
// equations integrated by a plain Runge-Kutta method in fine steps; steps far longer than a
// relaxation time.
#include "executed.h"
#include "near.h"

#include <math.h>
#include <stdio.h>

// ---- plain equations

// columns of the probe of energies
enum {
#define X(name) ENERGY_##name,
    SNW_ENERGY_LIST(X)
#undef X
        ENERGY_total,
    ENERGY_COLUMNS
};

enum { MOST = 6 };
typedef void rates_fn(double t, const double *y, double *dy);

// y <- after the time T by the classical Runge-Kutta method of order 4.
static void integrate(rates_fn *f, int n, double T, int steps, double *y) {
    const double h = T / steps;
    for (int k = 0; k < steps; k++) {
        double a[MOST], b[MOST], c[MOST], d[MOST], at[MOST];
        f(k * h, y, a);
        for (int i = 0; i < n; i++) at[i] = y[i] + h / 2 * a[i];
        f((k + 0.5) * h, at, b);
        for (int i = 0; i < n; i++) at[i] = y[i] + h / 2 * b[i];
        f((k + 0.5) * h, at, c);
        for (int i = 0; i < n; i++) at[i] = y[i] + h * c[i];
        f((k + 1) * h, at, d);
        for (int i = 0; i < n; i++) y[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
    }
}

// ---- a mass on a rod that relaxes

// x, v, a_1, a_2: 1 kg on 500 N/m at once, ratios 0.3, 0.2 with 0.05 and 0.5 s, pulled by 10 N
// sin(9 t).
static void relaxing(double t, const double *y, double *dy) {
    const double k = 500;
    dy[0] = y[1];
    dy[1] = 10 * sin(9 * t) - k * y[0] + 0.3 * k * y[2] + 0.2 * k * y[3];
    dy[2] = (y[0] - y[2]) / 0.05;
    dy[3] = (y[0] - y[3]) / 0.5;
}

typedef struct motion {
    double x, v, balance, scheme, heat;
} motion;

// Error of place and velocity.
static double error_of(motion a, const double *y) { return hypot(a.x - y[0], 0.1 * (a.v - y[1])); }

// after 0.6 s
static motion relaxing_rod(const char *scheme, double step) {
    char text[1500];
    outcome o;
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\ngravity: 0\n"
        "materials: {gel: {young: 1 MPa, poisson: 0.5, density: 0, relaxation: {of: instant, "
        "ratios: [0.3, 0.2], times: [0.05, 0.5]}}}\n"
        "robot:\n"
        "  rod: {on: world, rod: {length: 0.2, material: gel, section: {rectangle: {y: 10 mm, z: "
        "10 mm}}, strain: {stretch: legendre 1}}}\n"
        "  mass: {on: rod.tip, body: {mass: 1}}\n"
        "loads: {push: {on: mass, force: [10 N*sin(9*t), 0, 0]}}\n"
        "probes: {at: {position: mass}, v: {velocity: mass}, e: energy}\n"
        "study: [dynamic: {for: 0.6 s, step: %g, scheme: %s}]\n",
        step, scheme);
    execute_ok(text, &o);
    const int energy = o.series.ncolumn - ENERGY_COLUMNS;
    const motion out = {last(&o, 0) - 0.2, last(&o, 3), last(&o, energy + ENERGY_balance),
                        last(&o, energy + ENERGY_scheme), last(&o, energy + ENERGY_dissipated)};
    snw_series_clear(&o.series);
    return out;
}

static void relaxation_keeps_order_and_energy(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int order;
        double step;
    } scheme[] = {
        {"gauss4", 4, 0.02}, {"gauss6", 6, 0.04}, {"radau3", 3, 0.01}, {"radau5", 5, 0.03}};
    double y[4] = {0};
    integrate(relaxing, 4, 0.6, 20000, y);
    for (size_t k = 0; k < sizeof scheme / sizeof *scheme; k++) {
        const motion a = relaxing_rod(scheme[k].name, scheme[k].step),
                     b = relaxing_rod(scheme[k].name, scheme[k].step / 2);
        const double order = log2(error_of(a, y) / error_of(b, y));
        if (!(fabs(order - scheme[k].order) < 0.5))
            print_error("%s: order %g, errors %g %g\n", scheme[k].name, order, error_of(a, y),
                        error_of(b, y));
        assert_true(fabs(order - scheme[k].order) < 0.5);
        assert_true(b.heat > 0.05);
        // exact for a linear robot up to the quadrature of the load's work
        assert_true(fabs(b.balance) < (scheme[k].order == 3 ? 1e-5 : 1e-6) * b.heat);
        assert_true(scheme[k].order % 2 ? b.scheme > 0 : b.scheme == 0);
    }
}

// Of a linear robot without a load the account is exact to rounding for any step, also with a
// relaxation time far below it.
static void a_released_rod_keeps_its_account(void **state) {
    (void)state;
    static const char *const scheme[] = {"gauss4", "gauss8", "radau3", "radau5"};
    for (size_t k = 0; k < sizeof scheme / sizeof *scheme; k++) {
        char text[1500];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n"
            "materials: {gel: {young: 1 MPa, poisson: 0.45, density: 1000, relaxation: "
            "{of: relaxed, ratios: [0.3, 0.8], times: [1e-6, 0.1]}}}\n"
            "robot:\n"
            "  rod: {on: world, rod: {length: 0.3, material: gel, section: {circle: "
            "{radius: 5 mm}}, strain: {stretch: legendre 3}}}\n"
            "  mass: {on: rod.tip, body: {mass: 0.5}}\n"
            "initial: {rod: {strain: {stretch: 0.1}}}\n"
            "probes: {e: energy}\n"
            "study: [dynamic: {for: 0.5 s, step: 25 ms, scheme: %s, tolerance: 1e-13}]\n",
            scheme[k]);
        execute_ok(text, &o);
        const double stored = shown(&o, 0, ENERGY_elastic);
        const double balance = last(&o, ENERGY_balance) / stored;
        if (!(fabs(balance) < 1e-12)) print_error("%s: balance %g\n", scheme[k], balance);
        assert_true(fabs(balance) < 1e-12);
        assert_true(last(&o, ENERGY_dissipated) > 0.05 * stored);
        snw_series_clear(&o.series);
    }
}

// ---- states

// x, v, p, r: a nonlinear rate, and two states that read each other
static void valves(double t, const double *y, double *dy) {
    dy[0] = y[1];
    dy[1] = -50 * y[0] - 20 * y[2];
    dy[2] = (0.7 + sin(3 * t) - y[2] + 30 * y[0]) / 0.2 - 4 * sin(y[3]);
    dy[3] = 6 * (y[2] - y[3]) / (1 + y[3] * y[3]);
}

static motion valve(const char *scheme, double step) {
    char text[1200];
    outcome o;
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\ngravity: 0\n"
        "robot: {cart: {on: world, joint: prismatic, axis: x, stiffness: 50, body: {mass: "
        "1}}}\n"
        "initial: {cart: 0.1}\n"
        "states: {p: {initial: 0.3, rate: \"(0.7 + sin(3*t/(1 s)) - p + 30*at/(1 "
        "m))/(0.2 s) - 4*sin(r)/(1 s)\"}, r: {initial: 0, rate: 6*(p - r)/(1 + r^2)/(1 s)}}\n"
        "probes: {at: {value: cart}, v: {rate: cart}}\n"
        "actuators: {motor: {joint: cart, effort: -20 N*p}}\n"
        "study: [dynamic: {for: 0.6 s, step: %g, scheme: %s}]\n",
        step, scheme);
    execute_ok(text, &o);
    const motion out = {.x = last(&o, 0), .v = last(&o, 1)};
    snw_series_clear(&o.series);
    return out;
}

static void states_keep_the_order(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int order;
        double step;
    } scheme[] = {
        {"gauss4", 4, 0.01}, {"gauss6", 6, 0.01}, {"radau3", 3, 0.005}, {"radau5", 5, 0.01}};
    double y[4] = {0.1, 0, 0.3, 0};
    integrate(valves, 4, 0.6, 20000, y);
    for (size_t k = 0; k < sizeof scheme / sizeof *scheme; k++) {
        const double a = error_of(valve(scheme[k].name, scheme[k].step), y),
                     b = error_of(valve(scheme[k].name, scheme[k].step / 2), y);
        if (!(fabs(log2(a / b) - scheme[k].order) < 0.5))
            print_error("%s: order %g, errors %g %g\n", scheme[k].name, log2(a / b), a, b);
        assert_true(fabs(log2(a / b) - scheme[k].order) < 0.5);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relaxation_keeps_order_and_energy),
        cmocka_unit_test(a_released_rod_keeps_its_account),
        cmocka_unit_test(states_keep_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
