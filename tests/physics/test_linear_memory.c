// SPDX-License-Identifier: MIT
//
// Variables of first order in linear models, modes and models of steps (theory.md 7.5a): strains of
// Maxwell branches and states of laws, against closed forms, rates of the robot and its steps.
#include "closed_robot.h"

#include "integrate/implicit.h"
#include "solve/linear_system.h"
#include "study/linear_private.h"
#include "study/modes.h"

#include "base/alloc.h"

#include "near.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A mass of 1 kg on a rod that stretches, with 5 Hz at once: series E_inf 1 MPa, E 0.6 and 0.4 MPa,
// tau 0.1 and 2 s.
#define RELAXING                                                                                   \
    "sinew: 1\ngravity: 0\n"                                                                       \
    "materials: {gel: {young: 2 MPa, poisson: 0.5, density: 0, relaxation: {of: instant, ratios: " \
    "[0.3, 0.2], times: [0.1, 2]}}}\n"                                                             \
    "robot:\n"                                                                                     \
    "  rod: {on: world, rod: {length: 0.2, material: gel, section: {rectangle: {y: 10 mm, z: "     \
    "9.869604401089358 mm}}, strain: {stretch: legendre 1}}}\n"                                    \
    "  mass: {on: rod.tip, body: {mass: 1}}\n"                                                     \
    "loads: {push: {on: mass, force: [0 N, 0, 0]}}\n"                                              \
    "probes: {tip: {position: mass}}\n"

static const double complex relaxing_root[3] = {-1.477952554 + 31.063244399 * I, -7.189213932,
                                                -0.354880960};

// Distance of s to the nearest eigenvalue of A.
static double to_nearest(int n, const double *A, double complex s) {
    snw_arena scratch = {.size = snw_system_scratch(n, 1)};
    scratch.base = snw_alloc(scratch.size);
    double *re = malloc(2 * (size_t)n * sizeof *re), *im = re + n, least = INFINITY;
    bool *lost = malloc(2 * (size_t)n * sizeof *lost);
    assert_int_equal(snw_system_analyse(n, A, 0, NULL, 0, NULL, &scratch, re, im, lost, lost + n),
                     SNW_OK);
    for (int i = 0; i < n; i++) least = fmin(least, cabs(re[i] + I * im[i] - s));
    snw_free(scratch.base);
    free(re);
    free(lost);
    return least;
}

static void solve(snw_linear *l, closed_robot *c) {
    snw_error err = {0};
    snw_vec3 *rotation = calloc((size_t)(c->m->nseg + c->m->nobs), sizeof *rotation);
    if (snw_linear_solve(l, c->in, c->s, rotation, c->w, &err) != SNW_OK) fail_msg("%s", err.text);
    free(rotation);
}

// x (n) <- (s - A)^-1 b.
static void resolvent(int n, const double *A, double complex s, const double *b,
                      double complex *x) {
    double complex M[8][9];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) M[i][j] = (i == j) * s - A[j * n + i];
        M[i][n] = b[i];
    }
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k; i < n; i++) p = cabs(M[i][k]) > cabs(M[p][k]) ? i : p;
        for (int j = k; j <= n; j++) {
            const double complex swap = M[k][j];
            M[k][j] = M[p][j], M[p][j] = swap;
        }
        for (int i = 0; i < n; i++) {
            const double complex f = i == k ? 0 : M[i][k] / M[k][k];
            for (int j = k; j <= n && i != k; j++) M[i][j] -= f * M[k][j];
        }
    }
    for (int i = 0; i < n; i++) x[i] = M[i][n] / M[i][i];
}

// Poles of the specification; storage and loss modulus from the response of the tip to a force.
static void a_relaxing_rod_has_the_poles_and_moduli_of_its_series(void **state) {
    (void)state;
    static const double modulus[][3] = {
        {0.1, 1015444.609, 82922.477}, {0.5, 1201496.259, 229925.187},
        {1, 1325940.594, 219405.941},  {5, 1516039.604, 279603.960},
        {10, 1699002.494, 319950.125}, {50, 1976883.081, 119384.215}};
    closed_robot c;
    closed_robot_open(&c, RELAXING);
    const snw_linear_input push = {.kind = SNW_LINEAR_LOAD, .component = 3};
    snw_linear_output tip = {.probe = 0, .column = 0};
    snw_linear *l;
    assert_int_equal(snw_linear_create(c.m, 1, &push, 1, &tip, false, true, &l), SNW_OK);
    solve(l, &c);
    const snw_linear_system *x = snw_linear_result(l);
    assert_int_equal(x->nx, 4);
    for (int i = 0; i < 3; i++) // digits of the specification
        assert_near(to_nearest(4, x->A, relaxing_root[i]), 0, 1e-9);
    const double k0 = 100 * acos(-1.0) * acos(-1.0);
    for (size_t i = 0; i < sizeof modulus / sizeof *modulus; i++) {
        const double w = modulus[i][0];
        double complex y[4], gain = x->D[0];
        resolvent(4, x->A, I * w, x->B, y);
        for (int j = 0; j < 4; j++) gain += x->C[j] * y[j];
        const double complex E = 2e6 * (1 / gain + w * w) / k0;
        assert_near(creal(E) / modulus[i][1], 1, 1e-9);
        assert_near(cimag(E) / modulus[i][2], 1, 2e-8);
    }
    // steps of the trapezoidal rule map s to (1 + s h/2)/(1 - s h/2), Euler's to 1/(1 - s h)
    const double h = 0.05;
    for (int euler = 0; euler < 2; euler++) {
        snw_error err = {0};
        const snw_linear_step step = {.scheme = euler ? SNW_SCHEME_EULER : SNW_SCHEME_TRAPEZOIDAL,
                                      .h = h};
        solve(l, &c);
        if (snw_linear_discretise(l, &step, c.s, &err) != SNW_OK) fail_msg("%s", err.text);
        for (int i = 0; i < 3; i++) {
            const double complex s = relaxing_root[i] * h;
            const double complex z = euler ? 1 / (1 - s) : (1 + s / 2) / (1 - s / 2);
            assert_near(to_nearest(x->nx, x->A, z), 0, 1e-10);
        }
    }
    // Gauss' method maps s to the diagonal approximant of Pade, of exp(s h)
    for (int gauss6 = 0; gauss6 < 2; gauss6++) {
        snw_error err = {0};
        const snw_linear_step step = {.scheme = gauss6 ? SNW_SCHEME_GAUSS6 : SNW_SCHEME_GAUSS4,
                                      .h = h};
        solve(l, &c);
        if (snw_linear_discretise(l, &step, c.s, &err) != SNW_OK) fail_msg("%s", err.text);
        assert_int_equal(x->nx, 4);
        for (int i = 0; i < 3; i++) {
            const double complex s = relaxing_root[i] * h, third = gauss6 ? s * s * s / 120 : 0,
                                 even = 1 + s * s / (gauss6 ? 10 : 12);
            assert_near(to_nearest(x->nx, x->A, (even + s / 2 + third) / (even - s / 2 - third)), 0,
                        1e-10);
        }
    }
    snw_linear_destroy(l);
    closed_robot_close(&c);
}

// Vibrations first, then decays by their rate.
static void modes_of_a_relaxing_rod_are_its_poles(void **state) {
    (void)state;
    closed_robot c;
    closed_robot_open(&c, RELAXING);
    snw_modes *mo;
    snw_error err = {0};
    assert_int_equal(snw_modes_create(c.m, 9, false, &mo), SNW_OK);
    if (snw_modes_solve(mo, c.s, &err) != SNW_OK) fail_msg("%s", err.text);
    const snw_mode_table *table = snw_modes_table(mo);
    assert_int_equal(table->n, 3);
    assert_int_equal(table->nnull, 0);
    const double size = cabs(relaxing_root[0]), pi = acos(-1.0);
    assert_near(table->mode[0].frequency, size / (2 * pi), 1e-9);
    assert_near(table->mode[0].damping, -creal(relaxing_root[0]) / size, 1e-10);
    assert_near(table->mode[1].frequency, 0.354880960 / (2 * pi), 1e-10);
    assert_near(table->mode[2].frequency, 7.189213932 / (2 * pi), 1e-10);
    assert_near(table->mode[2].damping, 1, 0);
    snw_modes_destroy(mo);
    closed_robot_close(&c);
}

// Each mode of an undamped rod at once, of omega, becomes the roots of s^2 + omega^2 E(s)/E_0 = 0:
// one series for all moduli; also for a massless stretch that follows, and floating.
static void every_mode_relaxes_alike(void **state) {
    (void)state;
    static const char *const on[] = {"world", "world, joint: free"};
    for (int k = 0; k < 2; k++) {
        char text[900];
        snw_error err = {0};
        double omega[4] = {0};
        for (int relaxing = 0; relaxing < 2; relaxing++) {
            (void)snprintf(text, sizeof text,
                           "sinew: 1\ngravity: 0\nmaterials: {gel: {young: 2e5, poisson: 0.4, "
                           "density: 1000%s}}\nrobot: {rod: {on: %s, rod: {length: 0.3, material: "
                           "gel, section: {circle: {radius: 0.01}}, strain: {bend_y: legendre 2, "
                           "bend_z: legendre 2, twist: legendre 1}}}}\n",
                           relaxing
                               ? ", relaxation: {of: instant, ratios: [0.3, 0.2], times: [0.1, "
                                 "2]}"
                               : "",
                           on[k]);
            closed_robot c;
            closed_robot_open(&c, text);
            snw_modes *mo;
            assert_int_equal(snw_modes_create(c.m, 40, false, &mo), SNW_OK);
            if (snw_modes_solve(mo, c.s, &err) != SNW_OK) fail_msg("%s", err.text);
            const snw_mode_table *t = snw_modes_table(mo);
            assert_int_equal(t->nnull, k ? 6 : 0);
            assert_int_equal(t->n, (relaxing ? 3 : 1) * 5 + t->nnull);
            for (int i = 0; i < 4; i++) {
                const snw_mode *mode = &t->mode[t->nnull + i];
                const double f = 2 * acos(-1.0) * mode->frequency;
                if (!relaxing) omega[i] = f;
                if (!relaxing) continue;
                const double complex s = f * (-mode->damping + I * sqrt(1 - pow(mode->damping, 2)));
                const double complex E =
                    0.5 + 0.3 * 0.1 * s / (1 + 0.1 * s) + 0.2 * 2 * s / (1 + 2 * s);
                assert_near(cabs(s * s + omega[i] * omega[i] * E) / (omega[i] * omega[i]), 0, 1e-9);
            }
            snw_modes_destroy(mo);
            closed_robot_close(&c);
        }
    }
}

// m x" + c x' + k x = p, T p' = -p - g x - b x': roots of (m s^2 + c s + k)(T s + 1) + g + b s.
static void a_state_couples_with_the_motion(void **state) {
    (void)state;
    closed_robot c;
    closed_robot_open(&c,
                      "sinew: 1\ngravity: 0\nrobot: {car: {on: world, joint: prismatic, axis: x, "
                      "stiffness: 50, damping: 0.3, body: {mass: 2}}}\n"
                      "states: {p: {initial: 0, rate: (-p - 30*x.x/1 m - 4*v.vx/1 m*1 s)/0.2 s}, "
                      "idle: {initial: 1, rate: -3 1/s*idle}}\n"
                      "loads: {pull: {on: car, force: [1 N*p, 0, 0]}}\n"
                      "probes: {x: {position: car}, v: {velocity: car}}\n");
    snw_linear *l;
    snw_error err = {0};
    assert_int_equal(snw_linear_create(c.m, 0, NULL, 0, NULL, false, false, &l), SNW_OK);
    solve(l, &c);
    const snw_linear_system *x = snw_linear_result(l);
    assert_int_equal(x->nx, 3); // without the state that does not act
    snw_modes *mo;
    assert_int_equal(snw_modes_create(c.m, 9, false, &mo), SNW_OK);
    if (snw_modes_solve(mo, c.s, &err) != SNW_OK) fail_msg("%s", err.text);
    const snw_mode_table *t = snw_modes_table(mo);
    assert_int_equal(t->n, 2);
    for (int i = 0; i < 2; i++) {
        const double f = 2 * acos(-1.0) * t->mode[i].frequency, d = t->mode[i].damping;
        const double complex s = f * (-d + I * sqrt(fmax(1 - d * d, 0)));
        const double complex p = (2 * s * s + 0.3 * s + 50) * (0.2 * s + 1) + 30 + 4 * s;
        assert_near(cabs(p) / 100, 0, 1e-12);
        assert_near(to_nearest(3, x->A, s), 0, 1e-12);
    }
    snw_modes_destroy(mo);
    snw_linear_destroy(l);
    closed_robot_close(&c);
}

// ---- random points ------------------------------------------------------------------------------

// Rods that relax, one of them without shear relaxation, chambers on states, an integral: all
// coordinates have mass.
static const char whole_text[] =
    "sinew: 1\ngravity: [0, 0, -9.81]\n"
    "materials:\n"
    "  gel: {young: 1e5, poisson: 0.4, density: 1000, damping: 5 ms, relaxation: {of: instant, "
    "ratios: [0.3, 0.2], times: [0.1, 2], shear_ratios: [0, 0]}}\n"
    "  rubber: {young: 2e5, poisson: 0.45, density: 1100, relaxation: {of: relaxed, ratios: [0.5], "
    "times: [0.3]}}\n"
    "robot:\n"
    "  base: {on: world, joint: revolute, axis: y, stiffness: 2, body: {mass: 0.5, inertia: [0.01, "
    "0.01, 0.01]}}\n"
    "  a: {on: base, rod: {length: 0.2, material: gel, section: {circle: {radius: 0.012}}, strain: "
    "{bend_y: legendre 2, bend_z: legendre 2, twist: legendre 1}}}\n"
    "  b: {on: a.tip, rod: {length: 0.15, material: rubber, section: {circle: {radius: 0.01}}, "
    "strain: {bend_y: legendre 2, stretch: legendre 1}}}\n"
    "actuators:\n"
    "  cell: {chamber: {along: a, at: [0, 5 mm, 5 mm], area: 50 mm^2}, pressure: 2 J/mol*n/V}\n"
    "  drive: {joint: base, effort: \"-0.2 N*m*lag - 0.3 N*m/rad/s*integral(r.angle)\"}\n"
    "states:\n"
    "  n: {initial: 1e-4 mol, rate: \"1e-4 mol/s*(1 - n/2e-4 mol)*cos(t) + 200 mol/m^3/s*V*lag\"}\n"
    "  lag: {initial: 0.3, rate: \"5 1/s*(v.vz/1 m/s - lag) + 2e4 1/mol/s*n\"}\n"
    "probes: {V: {volume: cell}, v: {velocity: b.tip}, r: {value: base}}\n";

static void open_whole(closed_robot *c, bool moving) {
    char text[sizeof whole_text];
    memcpy(text, whole_text, sizeof text);
    char *name = strstr(text, "r.angle"); // the value of a joint has no column
    memmove(name + 1, name + 7, strlen(name + 7) + 1);
    closed_robot_open(c, text);
    for (int i = 0; i < c->m->nv; i++) {
        c->s->q[i] = 0.3 * sin(1 + 2 * i);
        c->s->v[i] = moving ? 0.4 * cos(3 * i) : 0;
    }
    for (int i = 0; i < c->m->nbranch_coordinate; i++) c->s->relaxed[i] = 0.2 * sin(5 + 3 * i);
    closed_robot_settle(c, 0);
}

// Number i of the state that variable `of` is.
static double *number_of(snw_state *s, snw_linear_state of) {
    double *const of_role[] = {[SNW_STATE_COORDINATE] = s->q,
                               [SNW_STATE_RATE] = s->v,
                               [SNW_STATE_INTEGRAL] = s->z,
                               [SNW_STATE_BRANCH] = s->relaxed};
    return of_role[of.role] + of.index;
}

// out <- residual at the state displaced by `step` along column k, then the rates of the variables.
static void equations_at(const snw_linear *l, closed_robot *c, int k, double step, snw_state *s,
                         double *out) {
    const snw_model *m = c->m;
    const double *const part[] = {l->x, l->dv, l->da};
    double *number = out + m->nv;
    snw_state_copy(m, c->s, s);
    double *const to[] = {s->q, s->v, s->a};
    for (int j = 0; j < 3; j++) { // all coordinates are numbers
        for (int i = 0; i < m->nv; i++) to[j][i] += step * part[j][(size_t)(m->nv * k + i)];
    }
    if (k >= 2 * m->nv) *number_of(s, l->state[k]) += step;
    snw_residual(m, c->in, s, false, c->w);
    memcpy(out, c->w->r, (size_t)m->nv * sizeof *out);
    snw_linear_memory_rates(m, c->in, s, c->w, number);
}

// Along each column the equations of motion hold to first order, and A has the derivatives of the
// rates of the variables, also in motion: differences of order 6.
static void the_model_is_that_of_the_equations(void **state) {
    (void)state;
    static const double weight[3] = {3.0 / 4, -3.0 / 20, 1.0 / 60};
    for (int moving = 0; moving < 2; moving++) {
        closed_robot c;
        open_whole(&c, moving);
        const snw_model *m = c.m;
        const int nv = m->nv, n = nv + snw_linear_memory_numbers(m);
        snw_linear *l;
        assert_int_equal(snw_linear_create(m, 0, NULL, 0, NULL, false, false, &l), SNW_OK);
        solve(l, &c);
        assert_true(l->full);
        // branches: bending of a by two, all of b by one; n, lag, the integral
        assert_int_equal(l->ni, 3 + 2 * 4 + 3);
        snw_state *s;
        assert_int_equal(snw_state_create(m, &s), SNW_OK);
        double *sum = malloc(2 * (size_t)n * sizeof *sum), *at = sum + n;
        for (int k = 0; k < l->nx; k++) {
            const double *column = l->A + (size_t)l->nx * (size_t)k;
            const bool gas =
                k >= 2 * nv && fabs(*number_of(c.s, l->state[k])) == 1e-4; // moles of the cell
            const double h = gas ? 1e-6 : 1e-3;
            memset(sum, 0, (size_t)n * sizeof *sum);
            for (int j = 1; j <= 3; j++) {
                for (int sign = -1; sign <= 1; sign += 2) {
                    equations_at(l, &c, k, sign * j * h, s, at);
                    for (int i = 0; i < n; i++) sum[i] += sign * weight[j - 1] / h * at[i];
                }
            }
            double force = 1e-2; // of the terms that cancel; all forces, of 1 N, are rounded
            for (int i = 0; i < nv; i++) {
                double terms = 0;
                for (int j = 0; j < nv; j++) {
                    const int at_j = nv * k + j;
                    terms += fabs(l->d->M[j * nv + i] * l->da[at_j]) +
                             fabs(l->d->D[j * nv + i] * l->dv[at_j]) +
                             fabs(l->d->K[j * nv + i] * l->x[at_j]);
                }
                force = fmax(force, terms);
            }
            for (int i = 0; i < nv; i++) assert_near(sum[i] / force, 0, 1e-9);
            double size = 1;
            for (int i = 2 * nv; i < l->nx; i++) size = fmax(size, fabs(column[i]));
            for (int i = 2 * nv; i < l->nx; i++) {
                const int number = nv + snw_linear_memory_number(m, l->state[i]);
                assert_near(column[i] / size, sum[number] / size, 1e-10);
            }
        }
        free(sum);
        snw_state_destroy(s);
        snw_linear_destroy(l);
        closed_robot_close(&c);
    }
}

// ---- steps --------------------------------------------------------------------------------------

// Two steps of a linear robot are what the model of a step says: from displaced variables of first
// order, and all coordinates at rest.
static void steps_follow_their_model(void **state) {
    (void)state;
    static const snw_scheme_kind scheme[] = {SNW_SCHEME_EULER, SNW_SCHEME_TRAPEZOIDAL,
                                             SNW_SCHEME_GENERALIZED_ALPHA};
    closed_robot c;
    closed_robot_open(
        &c, "sinew: 1\ngravity: 0\n"
            "materials: {gel: {young: 2 MPa, poisson: 0.5, density: 0, relaxation: {of: "
            "instant, ratios: [0.3, 0.2], times: [0.004, 2]}}}\n"
            "robot:\n"
            "  rod: {on: world, rod: {length: 0.2, material: gel, section: {circle: "
            "{radius: 5 mm}}, strain: {stretch: legendre 1}}}\n"
            "  mass: {on: rod.tip, joint: prismatic, axis: x, stiffness: 300, damping: 2, "
            "body: {mass: 1}}\n"
            "  ballast: {on: rod.tip, body: {mass: 0.4}}\n"
            "states: {p: {initial: 0, rate: (-p - 30*x.x/1 m + 6)/0.2 s}}\n"
            "loads: {pull: {on: mass, force: [10 N*p, 0, 0]}}\n"
            "probes: {x: {position: mass}}\n");
    const snw_model *m = c.m;
    snw_linear *l;
    snw_state *s;
    snw_error err = {0};
    const double h = 0.02;
    assert_int_equal(snw_linear_create(m, 0, NULL, 0, NULL, false, true, &l), SNW_OK);
    assert_int_equal(snw_state_create(m, &s), SNW_OK);
    for (size_t k = 0; k < sizeof scheme / sizeof *scheme; k++) {
        snw_implicit_opts o = snw_implicit_defaults();
        o.scheme = snw_implicit_scheme(scheme[k], 0.8, 0);
        o.fixed_length = o.undamped_velocities = o.control = true;
        o.tolerance = 1e-13;
        solve(l, &c);
        const snw_linear_step step = {.scheme = scheme[k], .rho = 0.8, .h = h};
        if (snw_linear_discretise(l, &step, c.s, &err) != SNW_OK) fail_msg("%s", err.text);
        const snw_linear_system *x = snw_linear_result(l);
        assert_int_equal(l->ni, 3);
        for (int j = x->nx - 3; j < x->nx; j++) {
            snw_implicit *im;
            snw_chord_info info;
            snw_state_copy(m, c.s, s);
            *number_of(s, x->state[j]) += 0.1;
            assert_int_equal(snw_implicit_create(m, &o, &im), SNW_OK);
            assert_int_equal(snw_implicit_start(im, s, &err), SNW_OK);
            double now[32] = {0}, next[32];
            now[j] = 0.1;
            // accelerations at the start follow from the displaced variable
            const snw_state *at = snw_implicit_state(im);
            for (int i = 0; i < x->nx; i++) {
                const bool past = x->state[i].role == SNW_STATE_ACCELERATION ||
                                  x->state[i].role == SNW_STATE_PSEUDO;
                if (past) now[i] = at->a[x->state[i].index];
            }
            for (int n = 1; n <= 2; n++) {
                assert_int_equal(snw_implicit_step(im, h, n * h, &info), SNW_OK);
                memset(next, 0, sizeof next);
                for (int a = 0; a < x->nx; a++) {
                    for (int b = 0; b < x->nx; b++) next[a] += x->A[b * x->nx + a] * now[b];
                }
                memcpy(now, next, sizeof now);
                at = snw_implicit_state(im);
                for (int i = 0; i < x->nx; i++) {
                    if (x->state[i].role > SNW_STATE_BRANCH) continue;
                    const double was = *number_of(c.s, x->state[i]);
                    snw_state_copy(m, at, s);
                    assert_near(*number_of(s, x->state[i]) - was, now[i], 1e-12);
                }
            }
            snw_implicit_destroy(im);
        }
    }
    snw_state_destroy(s);
    snw_linear_destroy(l);
    closed_robot_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_relaxing_rod_has_the_poles_and_moduli_of_its_series),
        cmocka_unit_test(modes_of_a_relaxing_rod_are_its_poles),
        cmocka_unit_test(every_mode_relaxes_alike),
        cmocka_unit_test(a_state_couples_with_the_motion),
        cmocka_unit_test(the_model_is_that_of_the_equations),
        cmocka_unit_test(steps_follow_their_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
