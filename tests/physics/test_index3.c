// SPDX-License-Identifier: MIT
//
// Implicit schemes on robots with loops: orders of positions, velocities and multipliers against
// references and closed forms, and the components that are damped, with their decay rates.
// theory.md 6.6
#include "closed_robot.h"
#include "robot_texts.h"

#include "integrate/integrator_private.h"
#include "oracle/closed.h"
#include "oracle/linear.h"

#include <stdio.h>

// ---- robots -------------------------------------------------------------------------------------

// Rigid links, joint coordinates.
static const char four_bar[] =
    "sinew: 1\n"
    "gravity: [0, -9.81, 0]\n" FOUR_BAR "initial: {crank: {position: 0.7, rate: 3}}\n";

// Rods, joint coordinates, one motor.
static const char limbs[] =
    "sinew: 1\n"
    "gravity: [0, -9.81, 0]\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
    "robot:\n"
    "  limb(k=1..2): {on: world, pose: {xyz: [0.3*(k - 1), 0, 0]}, joint: revolute, rod: {length: "
    "0.5, section: {circle: {radius: 15 mm}}, material: rubber, nodes: 8, strain: {bend_z: "
    "legendre 2}}}\n"
    "  plate: {on: limb(1), body: {mass: 0.1, inertia: [5e-4, 5e-4, 1e-3]}}\n"
    "loops: {pin: {join: [plate, limb(2).tip], as: revolute}}\n"
    "actuators: {motor: {joint: limb(1), effort: 0.3*sin(7*t)}}\n"
    "initial: {limb(1): {position: 1.2, rate: 1}, limb(2): 1.9}\n";

// Rods clamped to a free platform, which is a chart of its own.
static const char platform[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
    "robot:\n"
    "  top: {on: world, pose: {xyz: [0, 0, -0.4]}, joint: free, body: {mass: 0.5, com: [0.02, 0, "
    "0.01], inertia: [2e-3, 3e-3, 4e-3]}}\n"
    "  limb(k=1..2): {on: world, pose: {xyz: [0.2*(2*k - 3), 0, 0], x: -z}, joint: universal, rod: "
    "{length: 0.4, section: {circle: {radius: 12 mm}}, material: rubber, nodes: 6, strain: "
    "{bend_y: legendre 1, bend_z: legendre 1, stretch: legendre 1}}}\n"
    "sites: {seat(k=1..2): {on: top, pose: {xyz: [0.2*(2*k - 3), 0, 0]}}}\n"
    "loops: {ball(k=1..2): {join: [limb(k).tip, seat(k)], as: spherical}}\n"
    "initial: {top: {twist: [1, 2, 3, 0.3, 0.2, 0.1]}}\n";

// ---- orders -------------------------------------------------------------------------------------

typedef struct named {
    const char *name;
    snw_scheme_kind kind;
    double rho, alpha;
} named;

// Schemes that damp unresolved components.
static const named damped[] = {
    {"hht 0.7", SNW_SCHEME_HHT, 0.7, 0},
    {"wbz 0.6", SNW_SCHEME_WBZ, 0.6, 0},
    {"generalized-alpha 0", SNW_SCHEME_GENERALIZED_ALPHA, 0, 0},
    {"generalized-alpha 0.5", SNW_SCHEME_GENERALIZED_ALPHA, 0.5, 0},
    {"generalized-alpha 0.8", SNW_SCHEME_GENERALIZED_ALPHA, 0.8, 0},
    {"generalized-alpha 0.9", SNW_SCHEME_GENERALIZED_ALPHA, 0.9, 0},
    {"euler", SNW_SCHEME_EULER, 0, 0},
    {"bdf2", SNW_SCHEME_BDF2, 0, 0},
    {"bdf-alpha -0.3", SNW_SCHEME_BDF_ALPHA, 0, -0.3},
};
// Schemes that do not.
static const named undamped[] = {
    {"newmark", SNW_SCHEME_NEWMARK, 1, 0},
    {"trapezoidal", SNW_SCHEME_TRAPEZOIDAL, 0, 0},
    {"generalized-alpha 1", SNW_SCHEME_GENERALIZED_ALPHA, 1, 0},
};
enum { DAMPED = sizeof damped / sizeof damped[0], UNDAMPED = sizeof undamped / sizeof undamped[0] };

enum {
    LOOKS = 5,
    MOST = 64
}; // instants between the middle and the end of a motion; most numbers of each kind

typedef struct motion {
    double q[LOOKS][MOST], v[LOOKS][MOST], l[LOOKS][MOST];
} motion;

typedef struct errors {
    double q, v, l;
} errors;

static double instant(double time, int look) { return time * (LOOKS + look) / (2 * LOOKS - 1); }

static void look_at(const snw_model *m, const snw_state *s, int look, motion *out) {
    assert_true(m->nq <= MOST && m->nconstraint <= MOST);
    memcpy(out->q[look], s->q, (size_t)m->nq * sizeof(double));
    memcpy(out->v[look], s->v, (size_t)m->nv * sizeof(double));
    memcpy(out->l[look], s->lambda, (size_t)m->nconstraint * sizeof(double));
}

static void reference(const closed_robot *c, double time, motion *out) {
    snw_explicit *e = closed_robot_reference(c, 1e-13);
    snw_error err = {0};
    for (int k = 0; k < LOOKS; k++) {
        if (snw_explicit_advance(e, instant(time, k), INFINITY, &err) != SNW_OK) {
            fail_msg("%s", err.text);
        }
        look_at(c->m, snw_explicit_state(e), k, out);
    }
    snw_explicit_destroy(e);
}

// `plain`: with the velocities of the scheme alone.
static snw_implicit_opts opts_of(const named *k, snw_chart chart, bool plain) {
    snw_implicit_opts o = snw_implicit_defaults();
    o.undamped_velocities = plain;
    o.scheme = snw_implicit_scheme(k->kind, k->rho, k->alpha);
    o.chart = chart;
    o.tolerance = 1e-13;
    return o;
}

// Largest errors in n steps; n is a multiple of 2 LOOKS - 1. With `mean`, errors of the mean
// multipliers (l_- + 2 l + l_+)/4 over three instants instead of the multipliers themselves.
static errors run(const closed_robot *c, const snw_implicit_opts *opts, const char *name, bool mean,
                  double time, int n, const motion *want) {
    const snw_implicit_opts o = *opts;
    snw_implicit *im = closed_robot_motion(c, &o);
    const snw_state *s = snw_implicit_state(im);
    const int part = n / (2 * LOOKS - 1), nr = c->m->nconstraint;
    double l[MOST] = {0};
    errors e = {0};
    for (int i = 1; i <= n + 1; i++) {
        snw_chord_info info;
        if (snw_implicit_step(im, time / n, time * i / n, &info) != SNW_OK) {
            fail_msg("%s: step %d of %d", name, i, n);
        }
        const int look = (i + 1) / part - LOOKS, phase = (i + 1) % part; // 1: at the instant
        if (look < 0 || phase > 2) continue;
        for (int r = 0; r < nr; r++) {
            l[r] = (phase ? l[r] : 0) + (phase == 1 ? 0.5 : 0.25) * s->lambda[r];
        }
        if (phase == 1) {
            e.q = fmax(e.q, oracle_distance((size_t)c->m->nq, s->q, want->q[look]));
            e.v = fmax(e.v, oracle_distance((size_t)c->m->nv, s->v, want->v[look]));
        }
        if (phase == (mean ? 2 : 1)) {
            e.l = fmax(e.l, oracle_distance((size_t)nr, mean ? l : s->lambda, want->l[look]));
        }
    }
    snw_implicit_destroy(im);
    return e;
}

// All schemes but backward Euler have order two in positions, velocities and multipliers, some
// steps after the start. Schemes without damping, used alone, keep the noise of their start in the
// multipliers: halving the step does not reduce it, while the means have order two.
static void slopes(const char *text, const char *name, bool both, double time, int n) {
    closed_robot c;
    closed_robot_open(&c, text);
    static motion want;
    reference(&c, time, &want);
    for (int k = 0; k < DAMPED + 2 * UNDAMPED; k++) {
        const bool rings = k >= DAMPED + UNDAMPED;
        const named *s = k < DAMPED ? &damped[k] : &undamped[(k - DAMPED) % UNDAMPED];
        const int order = s->kind == SNW_SCHEME_EULER ? 1 : 2;
        const int steps = order == 1 ? 4 * n : n; // its errors are a hundred times as large
        for (int chart = 0; chart <= both; chart++) {
            const snw_implicit_opts o = opts_of(s, (snw_chart)chart, rings);
            const errors a = run(&c, &o, s->name, rings, time, steps, &want),
                         b = run(&c, &o, s->name, rings, time, 2 * steps, &want);
            const double q = log2(a.q / b.q), v = log2(a.v / b.v), l = log2(a.l / b.l);
            printf("%-9s %-22s %-5s %-6s  q %.1e %.2f  v %.1e %.2f  l %.1e %.2f\n", name, s->name,
                   rings ? "plain" : "", chart ? "SO3xR3" : "SE3", b.q, q, b.v, v, b.l, l);
            // terms of the next order are a few per cent at these steps
            if (!(fabs(q - order) < 0.15 && fabs(v - order) < 0.15 && fabs(l - order) < 0.15)) {
                fail_msg("%s, %s: slopes %.3f of positions, %.3f of velocities, %.3f of "
                         "multipliers",
                         name, s->name, q, v, l);
            }
        }
        if (!rings) continue;
        const snw_implicit_opts o = opts_of(s, SNW_CHART_SE3, true);
        const errors a = run(&c, &o, s->name, false, time, n, &want),
                     b = run(&c, &o, s->name, false, time, 2 * n, &want);
        printf("%-9s %-22s multipliers themselves %.2e, with half the step %.2e\n", name, s->name,
               a.l, b.l);
        assert_true(fabs(log2(a.l / b.l)) < 0.05);
    }
    closed_robot_close(&c);
}

static void rigid_loops_have_the_order_of_the_scheme(void **state) {
    (void)state;
    slopes(four_bar, "four-bar", false, 0.4, 450);
}

static void loops_of_rods_have_the_order_of_the_scheme(void **state) {
    (void)state;
    slopes(limbs, "limbs", false, 0.3, 450);
}

static void platforms_have_the_order_of_the_scheme(void **state) {
    (void)state;
    slopes(platform, "platform", true, 0.3, 450);
}

static errors run_conserving(const closed_robot *c, double time, int n, const motion *want) {
    const snw_step_desc step = {.scheme = SNW_SCHEME_CONSERVING, .step = time / n};
    snw_integrator it = {0};
    snw_error err = {0};
    if (snw_integrator_open(c->m, &step, 0, &it, &err) != SNW_OK) fail_msg("%s", err.text);
    if (it.start(it.self, c->s, &err) != SNW_OK) fail_msg("%s", err.text);
    const int part = n / (2 * LOOKS - 1);
    errors e = {0};
    for (int i = 1; i <= n; i++) {
        snw_stats took = {0};
        if (it.advance(it.self, time * i / n, INFINITY, &took, &err) != SNW_OK) {
            fail_msg("%s", err.text);
        }
        const int look = i / part - LOOKS;
        if (i % part || look < 0) continue;
        (void)it.work_at(it.self); // accelerations and multipliers of this instant
        const snw_state *s = it.state(it.self);
        e.q = fmax(e.q, oracle_distance((size_t)c->m->nq, s->q, want->q[look]));
        e.v = fmax(e.v, oracle_distance((size_t)c->m->nv, s->v, want->v[look]));
        e.l = fmax(e.l, oracle_distance((size_t)c->m->nconstraint, s->lambda, want->l[look]));
    }
    it.close(it.self);
    return e;
}

// Velocities that satisfy the loop closures are free of noise, although nothing is damped.
static void the_conserving_scheme_has_order_two_and_no_noise(void **state) {
    (void)state;
    static const char *const texts[] = {four_bar, limbs, platform};
    static motion want;
    for (int k = 0; k < 3; k++) {
        closed_robot c;
        closed_robot_open(&c, texts[k]);
        reference(&c, 0.3, &want);
        const errors a = run_conserving(&c, 0.3, 450, &want),
                     b = run_conserving(&c, 0.3, 900, &want);
        const double q = log2(a.q / b.q), v = log2(a.v / b.v), l = log2(a.l / b.l);
        printf("conserving: q %.1e %.2f  v %.1e %.2f  l %.1e %.2f\n", b.q, q, b.v, v, b.l, l);
        assert_true(fabs(q - 2) < 0.1 && fabs(v - 2) < 0.1 && fabs(l - 2) < 0.1);
        closed_robot_close(&c);
    }
}

// ---- energy balance -----------------------------------------------------------------------------

static double energy(snw_implicit *im, const snw_model *m) {
    const snw_work *w = snw_implicit_work_at(im);
    return snw_kinetic_energy(m, w) + snw_elastic_energy(m, snw_implicit_state(im)) +
           snw_gravity_energy(m, snw_implicit_inputs(im), w);
}

// Largest energy not accounted for, in n steps.
static double left_over(const closed_robot *c, const named *k, bool plain, int n) {
    const snw_implicit_opts o = opts_of(k, SNW_CHART_SE3, plain);
    snw_implicit *im = closed_robot_motion(c, &o);
    const double first = energy(im, c->m);
    double most = 0;
    for (int i = 1; i <= n; i++) {
        snw_chord_info info;
        assert_int_equal(snw_implicit_step(im, 0.3 / n, 0.3 * i / n, &info), SNW_OK);
        const snw_work_done done = snw_implicit_work_done(im);
        double left = energy(im, c->m) - first + done.heat + done.scheme;
        for (int j = 0; j < done.n; j++) left -= done.work[j];
        most = fmax(most, fabs(left));
    }
    snw_implicit_destroy(im);
    return most;
}

// The energy balance closes with twice the order, as without loops (test_schemes.c). Alternating
// multipliers spoil it, because velocities that violate the rows are of second order only.
static void energy_accounts_close_with_twice_the_order_unless_multipliers_oscillate(void **state) {
    (void)state;
    static const char *const texts[] = {four_bar, limbs};
    for (int r = 0; r < 2; r++) {
        closed_robot c;
        closed_robot_open(&c, texts[r]);
        for (int k = 0; k < DAMPED + 2 * UNDAMPED; k++) {
            const bool rings = k >= DAMPED + UNDAMPED;
            const named *name = k < DAMPED ? &damped[k] : &undamped[(k - DAMPED) % UNDAMPED];
            if (name->kind == SNW_SCHEME_EULER) continue; // of order one, far from its limit here
            const double slope =
                log2(left_over(&c, name, rings, 100) / left_over(&c, name, rings, 200));
            if (!(fabs(slope - (rings ? 2 : 4)) < 0.2)) fail_msg("%s: %.2f", name->name, slope);
        }
        closed_robot_close(&c);
    }
}

// ---- a pendulum whose bearing is a loop ---------------------------------------------------------

// Released at rest: sin(angle/2) = k cn/dn with Jacobi's functions, and the bearing carries the
// weight and the inertial force of the centre of mass. The simulated motion begins at the time
// `late`, when the pendulum moves.
enum { PENDULUM_STEPS = 400 };
static const double arm = 0.7, released = 1.2, bob = 2, bob_inertia = 0.05, weight = 9.81,
                    late = 0.3;

static const char pendulum[] =
    "sinew: 1\ngravity: [0, -9.81, 0]\n"
    "robot: {bob: {on: world, joint: planar, body: {mass: 2, inertia: [0.05, 0.05, 0.05]}}}\n"
    "sites: {eye: {on: bob, pose: {xyz: [0, 0.7, 0]}}}\n"
    "loops: {bearing: {join: [world, eye], as: revolute}}\n"
    "initial: {bob: {position: [%.17g, %.17g, %.17g], rate: [%.17g, %.17g, %.17g]}}\n";

// Angle and, during its first descent, its rate.
static double swing(double t, double *rate, double force[2]) {
    const double w = sqrt(bob * weight * arm / (bob_inertia + bob * arm * arm));
    const double k = sin(released / 2);
    double sn, cn, dn;
    oracle_jacobi(w * t, k, &sn, &cn, &dn);
    const double angle = 2 * asin(k * cn / dn);
    const double turns = -w * w * sin(angle), swift = 2 * w * w * (cos(angle) - cos(released));
    *rate = -sqrt(swift);
    force[0] = bob * arm * (turns * cos(angle) - swift * sin(angle));
    force[1] = bob * (arm * (turns * sin(angle) + swift * cos(angle)) + weight);
    return angle;
}

// Largest error of the bearing force from the instant `from` on, in n steps over two seconds.
static double bearing_error(const closed_robot *c, const named *k, bool plain, double from, int n) {
    const snw_implicit_opts o = opts_of(k, SNW_CHART_SE3, plain);
    snw_implicit *im = closed_robot_motion(c, &o);
    double most = 0;
    for (int i = 1; i <= n; i++) {
        snw_chord_info info;
        assert_int_equal(snw_implicit_step(im, 2.0 / n, 2.0 * i / n, &info), SNW_OK);
        double rate, want[2];
        (void)swing(late + 2.0 * i / n, &rate, want);
        if (2.0 * i / n < from) continue;
        most = fmax(most, oracle_distance(2, snw_implicit_state(im)->lambda, want));
    }
    snw_implicit_destroy(im);
    return most;
}

// Schemes with damping lose the effect of their start within a second. Schemes without damping have
// the order of the scheme from the first step on, and noise where they are used alone.
static void force_of_a_pendulums_bearing_has_the_order_of_the_scheme(void **state) {
    (void)state;
    closed_robot c;
    char text[600];
    double rate, force[2];
    const double angle = swing(late, &rate, force), x = arm * sin(angle), y = -arm * cos(angle);
    (void)snprintf(text, sizeof text, pendulum, x, y, angle, -y * rate, x * rate, rate);
    closed_robot_open(&c, text);
    assert_int_equal(c.m->nconstraint, 2);
    for (int k = 0; k < DAMPED + 2 * UNDAMPED; k++) {
        const bool keeps = k >= DAMPED, rings = k >= DAMPED + UNDAMPED;
        const named *name = keeps ? &undamped[(k - DAMPED) % UNDAMPED] : &damped[k];
        const double from = keeps ? 0 : 1;
        const int n = PENDULUM_STEPS * (name->kind == SNW_SCHEME_EULER ? 8 : 1);
        const double a = bearing_error(&c, name, rings, from, n);
        const double b = bearing_error(&c, name, rings, from, 2 * n), slope = log2(a / b);
        printf("pendulum %-22s %-5s %.1e %.2f\n", name->name, rings ? "plain" : "", b, slope);
        const double order = rings ? 0 : name->kind == SNW_SCHEME_EULER ? 1 : 2;
        if (!(fabs(slope - order) < 0.1)) fail_msg("%s: %.3f", name->name, slope);
    }
    closed_robot_close(&c);
}

// ---- a loop without freedom: multipliers of the schemes -----------------------------------------

#define SLIDE(law)                                                                                 \
    "sinew: 1\ngravity: 0\n"                                                                       \
    "robot: {block: {on: world, joint: prismatic, axis: x, body: {mass: 2, inertia: [1e-3, 1e-3, " \
    "1e-3]}}}\n"                                                                                   \
    "loops: {lead: {join: [world, block], as: spherical, pose: {xyz: [" law ", 0, 0]}}}\n"

// The position is phi(t) at every step, so that d is exact and the scheme alone determines rates
// and accelerations. With the trapezoidal rule v' = 2 d/h - v and a' = 2 (v' - v)/h - a. The rate
// has the error h^2/12 (phi'''(0) (-1)^n - phi''') and the multiplier is m (phi'' + (-1)^n
// phi'''(0) t/3): noise that grows with time and does not decrease with the step.
static void noise_of_the_trapezoidal_rule_is_a_third_of_the_first_jerk_times_time(void **state) {
    (void)state;
    const double mass = 2, jerk = -0.1 * 27;
    closed_robot c;
    closed_robot_open(&c, SLIDE("0.1*sin(3*t)"));
    assert_int_equal(c.m->nconstraint, 1);
    for (int k = 0; k < UNDAMPED; k++) {
        const snw_implicit_opts o = opts_of(&undamped[k], SNW_CHART_SE3, true);
        for (int n = 100; n <= 400; n *= 2) {
            snw_implicit *im = closed_robot_motion(&c, &o);
            const double h = 2.0 / n;
            double worst = 0;
            for (int i = 1; i <= n; i++) {
                snw_chord_info info;
                assert_int_equal(snw_implicit_step(im, h, h * i, &info), SNW_OK);
                const double t = h * i, l = snw_implicit_state(im)->lambda[0];
                const double noise = l / mass + 0.9 * sin(3 * t);
                worst = fmax(worst, fabs(noise - (i % 2 ? -1 : 1) * jerk * t / 3));
            }
            // h^2 phi''''/6 from the smooth part and as much from the noise, for 2 s
            if (!(worst <= 5 * h * h)) fail_msg("%s: %g of %g", undamped[k].name, worst, h * h);
            snw_implicit_destroy(im);
        }
    }
    closed_robot_close(&c);
}

// Backward Euler has q' = d/h, the rate at the middle of the step. A uniform acceleration a
// therefore becomes a (h + h_before)/(2 h): half of it in the first step, all of it between equal
// steps, a different value where the step length changes.
static void multipliers_of_backward_euler_notice_a_change_of_step(void **state) {
    (void)state;
    static const double h[] = {0.01, 0.01, 0.01, 0.005, 0.005, 0.02};
    closed_robot c;
    closed_robot_open(&c, SLIDE("t^2"));
    const named euler = {"euler", SNW_SCHEME_EULER, 0, 0};
    const snw_implicit_opts o = opts_of(&euler, SNW_CHART_SE3, false);
    snw_implicit *im = closed_robot_motion(&c, &o);
    double t = 0;
    for (size_t i = 0; i < sizeof h / sizeof h[0]; i++) {
        snw_chord_info info;
        t += h[i];
        assert_int_equal(snw_implicit_step(im, h[i], t, &info), SNW_OK);
        // positions are exact to 1e-16, divided by the square of the step
        assert_near(snw_implicit_state(im)->lambda[0], 4 * (h[i] + (i ? h[i - 1] : 0)) / (2 * h[i]),
                    1e-9);
    }
    snw_implicit_destroy(im);
    closed_robot_close(&c);
}

// ---- damped components and decay rates ----------------------------------------------------------

// Roots at infinity. Alpha schemes: those of the Newmark part, equal for these beta, and that of
// the pseudo-accelerations. Schemes with levels: the weight of the old rate.
static void roots_at_infinity(const named *k, const snw_scheme *s, double root[3]) {
    if (s->levels.past > 0) {
        root[0] = root[1] = root[2] = s->e;
        return;
    }
    root[0] = root[1] = 1 - 2 / (s->gamma + 0.5);
    root[2] = s->af / (s->af - 1);
    // rho is the requested value
    assert_near(root[0], -k->rho, 1e-15);
    assert_true(fabs(root[2]) <= k->rho + 1e-15);
}

// Residual of x_3 - (sum of roots) x_2 + ... = 0 for four successive numbers, relative to the
// largest.
static double off_recursion(const double root[3], const double x[4]) {
    const double s1 = root[0] + root[1] + root[2];
    const double s2 = root[0] * root[1] + root[1] * root[2] + root[2] * root[0];
    const double s3 = root[0] * root[1] * root[2];
    double size = 0;
    for (int i = 0; i < 4; i++) size = fmax(size, fabs(x[i]));
    return fabs(x[3] - s1 * x[2] + s2 * x[1] - s3 * x[0]) / size;
}

enum { DECAY = 30 };

// All x after the first steps, which depend on the start, down to the level of rounding.
static void check_decay(const named *k, const double root[3], const double *x, double tolerance,
                        double rounding) {
    for (int i = 3; i + 3 < DECAY && fabs(x[i]) > rounding; i++) {
        const double off = off_recursion(root, x + i);
        if (!(off <= tolerance)) fail_msg("%s: step %d, %g", k->name, i, off);
    }
}

// Every scheme of order two is exact for uniform acceleration. From wrong initial accelerations the
// multipliers converge to their value at the rate given by rho.
static void errors_of_multipliers_decay_as_rho_says(void **state) {
    (void)state;
    closed_robot c;
    closed_robot_open(&c, SLIDE("t^2"));
    for (int k = 0; k < DAMPED + UNDAMPED; k++) {
        const named *name = k < DAMPED ? &damped[k] : &undamped[k - DAMPED];
        snw_implicit_opts o = opts_of(name, SNW_CHART_SE3, true);
        o.uniform_past = true; // accelerations before the start are zero, not 2
        if (o.scheme.order == 1) continue;
        double root[3], x[DECAY], largest = 0;
        roots_at_infinity(name, &o.scheme, root);
        snw_implicit *im = closed_robot_motion(&c, &o);
        for (int i = 0; i < DECAY; i++) {
            snw_chord_info info;
            assert_int_equal(snw_implicit_step(im, 0.01, 0.01 * (i + 1), &info), SNW_OK);
            x[i] = snw_implicit_state(im)->lambda[0] - 4;
            largest = fmax(largest, fabs(x[i]));
        }
        assert_true(largest > 0.5);
        check_decay(name, root, x, 1e-5, 1e-5); // rounding 1e-16 over step^2
        snw_implicit_destroy(im);
    }
    closed_robot_close(&c);
}

// A parallelogram with a spring is the oscillator J q'' = -k q with J = 2 (0.01 + 0.5 0.15^2) + 2
// 0.3^2 at any inclination, because the bar does not rotate. With 300 radians a step the amplitude
// decays as given by rho, up to the square of 1/300.
static void stiff_coordinates_in_loops_decay_as_rho_says(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\ngravity: 0\n"
        "robot:\n"
        "  left: {on: world, joint: revolute, axis: y, stiffness: 2.0025e8, body: {mass: 0.5, com: "
        "[0, 0, -0.15], inertia: [0.01, 0.01, 0.01]}}\n"
        "  right: {on: world, pose: {xyz: [0.5, 0, 0]}, joint: revolute, axis: y, body: {mass: "
        "0.5, com: [0, 0, -0.15], inertia: [0.01, 0.01, 0.01]}}\n"
        "  bar: {on: left, pose: {xyz: [0, 0, -0.3]}, joint: revolute, axis: y, body: {mass: 2, "
        "com: [0.25, 0, 0], inertia: [0.01, 0.1, 0.1]}}\n"
        "sites: {end: {on: bar, pose: {xyz: [0.5, 0, 0]}}, foot: {on: right, pose: {xyz: [0, 0, "
        "-0.3]}}}\n"
        "loops: {pin: {join: [end, foot], as: revolute, axis: y}}\n"
        "initial: {left: 1e-5, right: 1e-5, bar: -1e-5}\n";
    closed_robot c;
    closed_robot_open(&c, text);
    assert_near(c.s->a[0], -1e-5 * 3e4 * 3e4, 1e-9);
    for (int k = 0; k < DAMPED + UNDAMPED; k++) {
        const named *name = k < DAMPED ? &damped[k] : &undamped[k - DAMPED];
        const snw_implicit_opts o = opts_of(name, SNW_CHART_SE3, true);
        double root[3], x[DECAY];
        roots_at_infinity(name, &o.scheme, root);
        snw_implicit *im = closed_robot_motion(&c, &o);
        for (int i = 0; i < DECAY; i++) {
            snw_chord_info info;
            assert_int_equal(snw_implicit_step(im, 0.01, 0.01 * (i + 1), &info), SNW_OK);
            x[i] = snw_implicit_state(im)->q[0];
        }
        printf("%-22s %9.2e %9.2e %9.2e %9.2e .. %9.2e\n", name->name, x[0], x[1], x[2], x[3],
               x[DECAY - 1]);
        // the roots change by some 1/300^2; forces balance to 1e-13 of typical ones
        check_decay(name, root, x, 20.0 / (300 * 300), 1e-9);
        snw_implicit_destroy(im);
    }
    closed_robot_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_loops_have_the_order_of_the_scheme),
        cmocka_unit_test(loops_of_rods_have_the_order_of_the_scheme),
        cmocka_unit_test(platforms_have_the_order_of_the_scheme),
        cmocka_unit_test(the_conserving_scheme_has_order_two_and_no_noise),
        cmocka_unit_test(energy_accounts_close_with_twice_the_order_unless_multipliers_oscillate),
        cmocka_unit_test(force_of_a_pendulums_bearing_has_the_order_of_the_scheme),
        cmocka_unit_test(noise_of_the_trapezoidal_rule_is_a_third_of_the_first_jerk_times_time),
        cmocka_unit_test(multipliers_of_backward_euler_notice_a_change_of_step),
        cmocka_unit_test(errors_of_multipliers_decay_as_rho_says),
        cmocka_unit_test(stiff_coordinates_in_loops_decay_as_rho_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
