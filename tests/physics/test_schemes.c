// SPDX-License-Identifier: MIT
//
// Time schemes: their order, on clamped and on free rods, and the energy they dissipate
// numerically.
#include "integrate/integrator.h"

#include "random_rod.h"

#include "near.h"

#include <complex.h>
#include <stdio.h>
#include <string.h>

typedef struct named {
    const char *name;
    int order;
    snw_step_desc step;
} named;

#define SCHEME(text, p, ...)                                                                       \
    {                                                                                              \
        text, p, { __VA_ARGS__, .tolerance = 1e-13 }                                               \
    }

static const named schemes[] = {
    SCHEME("newmark", 2, .scheme = SNW_SCHEME_NEWMARK),
    SCHEME("newmark, SO3xR3", 2, .scheme = SNW_SCHEME_NEWMARK, .split = true),
    SCHEME("hht", 2, .scheme = SNW_SCHEME_HHT, .rho = 0.7),
    SCHEME("wbz", 2, .scheme = SNW_SCHEME_WBZ, .rho = 0.6),
    SCHEME("generalized-alpha", 2, .scheme = SNW_SCHEME_GENERALIZED_ALPHA, .rho = 0.5),
    SCHEME("generalized-alpha, SO3xR3", 2, .scheme = SNW_SCHEME_GENERALIZED_ALPHA, .rho = 0.8,
           .split = true),
    SCHEME("euler", 1, .scheme = SNW_SCHEME_EULER),
    SCHEME("trapezoidal", 2, .scheme = SNW_SCHEME_TRAPEZOIDAL),
    SCHEME("bdf2", 2, .scheme = SNW_SCHEME_BDF2),
    SCHEME("bdf2, SO3xR3", 2, .scheme = SNW_SCHEME_BDF2, .split = true),
    SCHEME("bdf-alpha", 2, .scheme = SNW_SCHEME_BDF_ALPHA, .alpha = -0.3),
    SCHEME("moreau", 2, .scheme = SNW_SCHEME_MOREAU),
    SCHEME("gauss4", 4, .scheme = SNW_SCHEME_GAUSS4),
    SCHEME("gauss4, SO3xR3", 4, .scheme = SNW_SCHEME_GAUSS4, .split = true),
    SCHEME("gauss6", 6, .scheme = SNW_SCHEME_GAUSS6),
    SCHEME("gauss6, SO3xR3", 6, .scheme = SNW_SCHEME_GAUSS6, .split = true),
    SCHEME("gauss8", 8, .scheme = SNW_SCHEME_GAUSS8),
    SCHEME("radau3", 3, .scheme = SNW_SCHEME_RADAU3),
    SCHEME("radau3, SO3xR3", 3, .scheme = SNW_SCHEME_RADAU3, .split = true),
    SCHEME("radau5", 5, .scheme = SNW_SCHEME_RADAU5),
    SCHEME("radau5, SO3xR3", 5, .scheme = SNW_SCHEME_RADAU5, .split = true),
};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

static bool is_radau(const named *k) {
    return k->step.scheme == SNW_SCHEME_RADAU3 || k->step.scheme == SNW_SCHEME_RADAU5;
}

// A soft rod under weight and a wind load, clamped or free, moving at the start.
static snw_model *soft_rod(robot *r, snw_joint_kind joint) {
    robot_init(r, 0.5, 0.02);
    r->material.young = number(r, 2e4);
    robot_strain(r, 0, SNW_TWIST, SNW_BASIS_LEGENDRE, 1);
    robot_strain(r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 2);
    robot_strain(r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 2);
    r->link[0].joint = joint;
    r->link[0].rod.nodes = 6;
    r->desc.gravity[2] = number(r, -2);
    snw_load_desc *load = &r->load[r->desc.nload++];
    *load = (snw_load_desc){.name = "wind", .on = link_end(0)};
    load->force[1] = law(r, "0.05*sin(3*t)");
    snw_model *m = NULL;
    snw_error err = {0};
    if (snw_model_compile(&r->desc, &m, &err) != SNW_OK) fail_msg("%s", err.text);
    return m;
}

static void begin(const snw_model *m, snw_state *s) {
    for (int i = 0; i < m->nv; i++) s->v[i] = 0.5 * cos(1.7 * i);
    s->t = 0;
}

static void open_integrator(const snw_model *m, const named *k, double h, const snw_state *s,
                            snw_integrator *it) {
    snw_step_desc step = k->step;
    step.step = h;
    snw_error err = {0};
    if (snw_integrator_open(m, &step, 0, it, &err) != SNW_OK) fail_msg("%s", err.text);
    if (it->start(it->self, s, &err) != SNW_OK) fail_msg("%s", err.text);
}

static void advance(const snw_integrator *it, const char *name, double t) {
    snw_stats took = {0};
    snw_error err = {0};
    if (it->advance(it->self, t, INFINITY, &took, &err) != SNW_OK)
        fail_msg("%s: %s", name, err.text);
    // a halved implicit step would change the measured order
    if (it->grid > 0 && took.increments != 1) fail_msg("%s: step to %g s fails", name, t);
}

// q at t = 0.4 s after n steps.
static void run(const snw_model *m, const named *k, int n, double *q) {
    snw_integrator it;
    snw_state *s = NULL;
    assert_int_equal(snw_state_create(m, &s), SNW_OK);
    begin(m, s);
    open_integrator(m, k, 0.4 / n, s, &it);
    for (int i = 0; i < n; i++) advance(&it, k->name, 0.4 * (i + 1) / n);
    memcpy(q, it.state(it.self)->q, (size_t)m->nq * sizeof *q);
    it.close(it.self);
    snw_state_destroy(s);
}

static double distance(const snw_model *m, const double *a, const double *b) {
    double d = 0;
    for (int i = 0; i < m->nq; i++) d = fmax(d, fabs(a[i] - b[i]));
    return d;
}

// Number of steps in 0.4 s for which the errors, and those with half the step, are above rounding
// and in the asymptotic range.
static int coarse_steps(int order) { return order <= 2 ? 200 : 96 / order; }

static void slopes(snw_joint_kind joint) {
    robot r;
    snw_model *m = soft_rod(&r, joint);
    // Runge-Kutta on quaternions, with error control
    const named fine = SCHEME("fine", 8, .scheme = SNW_SCHEME_ADAPTIVE);
    double want[64], a[64], b[64];
    run(m, &fine, 1, want);
    for (int i = 0; i < SCHEMES; i++) {
        const int order = schemes[i].order, n = coarse_steps(order);
        run(m, &schemes[i], n, a);
        run(m, &schemes[i], 2 * n, b);
        const double ea = distance(m, a, want), eb = distance(m, b, want), slope = log2(ea / eb);
        if (!(fabs(slope - order) < 0.15 * fmax(1, order / 2))) {
            fail_msg("%s: errors %.3g and %.3g, slope %.3f, order %d", schemes[i].name, ea, eb,
                     slope, order);
        }
        printf("%-28s %10.2e %10.2e  %.3f\n", schemes[i].name, ea, eb, slope);
    }
    snw_model_destroy(m);
    robot_free(&r);
}

static void clamped_rods_converge_at_the_order(void **state) {
    (void)state;
    slopes(SNW_JOINT_FIXED);
}

static void free_rods_converge_at_the_order(void **state) {
    (void)state;
    slopes(SNW_JOINT_FREE);
}

// ---- numerical dissipation ----------------------------------------------------------------------

typedef struct energy_errors {
    double scheme, balance; // largest over the motion, J
} energy_errors;

static double energy(const snw_integrator *it, const snw_model *m) {
    const snw_work *w = it->work_at(it->self);
    return snw_kinetic_energy(m, w) + snw_elastic_energy(m, it->state(it->self)) +
           snw_gravity_energy(m, it->inputs(it->self), w);
}

// Energy gained since the start that work, heat and the dissipation of the scheme do not account
// for.
static double balance_error(const snw_integrator *it, const snw_model *m, double start) {
    const snw_work_done done = it->work(it->self);
    double sum = energy(it, m) - start + done.heat + done.scheme;
    for (int i = 0; i < done.n; i++) sum -= done.work[i];
    return sum;
}

static energy_errors measure_energy_errors(const snw_model *m, const named *k, int n) {
    snw_state *s = NULL;
    snw_integrator it;
    assert_int_equal(snw_state_create(m, &s), SNW_OK);
    begin(m, s);
    open_integrator(m, k, 0.4 / n, s, &it);
    const double start = energy(&it, m);
    energy_errors b = {0};
    for (int i = 1; i <= n; i++) {
        advance(&it, k->name, 0.4 * i / n);
        b.balance = fmax(b.balance, fabs(balance_error(&it, m, start)));
        b.scheme = fmax(b.scheme, fabs(it.work(it.self).scheme));
    }
    it.close(it.self);
    snw_state_destroy(s);
    return b;
}

// Radau collocation removes energy at its order, and its account is far more accurate.
static void check_damped_collocation(const named *k, const snw_model *m) {
    const int n = coarse_steps(k->order);
    const energy_errors a = measure_energy_errors(m, k, n), b = measure_energy_errors(m, k, 2 * n);
    const double removed = log2(a.scheme / b.scheme);
    printf("%-28s removes %8.1e J (%.2f), leaves %8.1e J (from %8.1e J)\n", k->name, b.scheme,
           removed, b.balance, a.balance);
    const double rounding = 1e-14; // for energies of some hundredths of a joule, over tens of steps
    if (!(fabs(removed - k->order) < 0.15 * k->order / 2 &&
          b.balance < fmax(1e-4 * b.scheme, rounding) &&
          (b.balance < rounding || log2(a.balance / b.balance) > k->order)))
        fail_msg("%s: removed %.3g and %.3g J, slope %.2f; left %.3g and %.3g J", k->name, a.scheme,
                 b.scheme, removed, a.balance, b.balance);
}

// Gauss collocation has no account of its own losses: the sums over the stages have its order, and
// so has the energy balance.
static void check_collocation(const named *k, const snw_model *m) {
    const int n = coarse_steps(k->order);
    const energy_errors a = measure_energy_errors(m, k, n), b = measure_energy_errors(m, k, 2 * n);
    const double left = log2(a.balance / b.balance);
    printf("%-28s leaves %8.1e J (%.2f)\n", k->name, b.balance, left);
    const double rounding = 2e-15; // for energies of some hundredths of a joule, over tens of steps
    if (!(left > k->order - 0.15 * k->order / 2 || b.balance < rounding) || a.scheme != 0)
        fail_msg("%s: left %.3g and %.3g J, slope %.2f", k->name, a.balance, b.balance, left);
}

// A damped rod under weight and wind, clamped, free, on a moving base: the dissipation of the
// scheme has its order, the remaining error of the balance falls with twice that order.
static void the_energy_error_falls_with_twice_the_order(void **state) {
    (void)state;
    for (int robots = 0; robots < 4; robots++) {
        robot r;
        snw_model *m = soft_rod(&r, robots % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED);
        snw_model_destroy(m);
        r.material.damping = number(&r, 5e-3);
        if (robots / 2) r.link[0].pose.xyz[0] = law(&r, "0.05*sin(5*t)");
        snw_error err = {0};
        if (snw_model_compile(&r.desc, &m, &err) != SNW_OK) fail_msg("%s", err.text);
        for (int i = 0; i < SCHEMES; i++) {
            const int order = schemes[i].order;
            if (is_radau(&schemes[i])) {
                check_damped_collocation(&schemes[i], m);
                continue;
            }
            if (order > 2) {
                check_collocation(&schemes[i], m);
                continue;
            }
            const energy_errors a = measure_energy_errors(m, &schemes[i], 40),
                                b = measure_energy_errors(m, &schemes[i], 80);
            const double removed = log2(a.scheme / b.scheme), left = log2(a.balance / b.balance);
            // The steps for hard contacts close the account by their velocities (6.53); where a law
            // moves the base they do not, and all that is missing is the error of the scheme.
            const bool takes_all = schemes[i].step.scheme == SNW_SCHEME_MOREAU;
            const bool closes = takes_all && robots / 2 == 0;
            if (closes ? !(a.scheme < 1e-14 && b.scheme < 1e-14 && b.balance < 1e-14)
                       : !(fabs(removed - order) < 0.1 &&
                           (takes_all || fabs(left - 2 * order) < 0.2) &&
                           b.balance < 1e-3 * b.scheme)) {
                fail_msg("%s, robot %d: removed %.3g and %.3g J, slope %.2f; left %.3g and %.3g J, "
                         "slope %.2f",
                         schemes[i].name, robots, a.scheme, b.scheme, removed, a.balance, b.balance,
                         left);
            }
            if (robots == 0)
                printf("%-28s removes %8.1e J (%.2f), leaves %8.1e J (%.2f)\n", schemes[i].name,
                       b.scheme, removed, b.balance, left);
        }
        snw_model_destroy(m);
        robot_free(&r);
    }
}

// One coordinate with tiny strains: mass, stiffness and damping of an oscillator.
typedef struct oscillator {
    robot r;
    snw_model *m;
    snw_state *s;
    double mass, stiffness, damping;
} oscillator;

static void open_oscillator(oscillator *o, double damping) {
    *o = (oscillator){0};
    robot_init(&o->r, 0.5, 0.02);
    o->r.material.young = number(&o->r, 2e4);
    if (damping > 0) o->r.material.damping = number(&o->r, damping);
    robot_strain(&o->r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 1);
    o->r.link[0].rod.nodes = 4;
    snw_error err = {0};
    if (snw_model_compile(&o->r.desc, &o->m, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_state_create(o->m, &o->s), SNW_OK);
    snw_work *w = NULL;
    snw_inputs *in = NULL;
    assert_int_equal(snw_work_create(o->m, &w), SNW_OK);
    assert_int_equal(snw_inputs_create(o->m, &in), SNW_OK);
    snw_inputs_at(o->m, 0, in);
    snw_mass_matrix(o->m, in, o->s, w, &o->mass);
    o->stiffness = 2 * snw_elastic_energy(o->m, &(const snw_state){.q = (double[]){1}});
    o->damping = snw_dissipation(o->m, (const double[]){1});
    snw_work_destroy(w);
    snw_inputs_destroy(in);
    o->s->q[0] = 1e-4; // curvature; nonlinear terms are 1e-9 of the others
}

static void close_oscillator(oscillator *o) {
    snw_state_destroy(o->s);
    snw_model_destroy(o->m);
    robot_free(&o->r);
}

// Energy that the method of Chung and Hulbert removes from the oscillator in n steps, in its
// textbook form
//   m [(1 - am) a1 + am a0] + k [(1 - af) q1 + af q0] = 0,
//   q1 = q0 + h v0 + h^2 [(1/2 - beta) a0 + beta a1],
//   v1 = v0 + h [(1 - gamma) a0 + gamma a1]
static double textbook_loss(const oscillator *o, const named *way, double h, int n) {
    const snw_scheme scheme = snw_implicit_scheme(way->step.scheme, way->step.rho, 0), *s = &scheme;
    const double m = o->mass, k = o->stiffness;
    double q = o->s->q[0], v = 0, a = -k / m * q;
    const double start = 0.5 * k * q * q;
    for (int i = 0; i < n; i++) {
        const double q_bare = q + h * v + h * h * (0.5 - s->beta) * a;
        const double a1 = -(m * s->am * a + k * ((1 - s->af) * q_bare + s->af * q)) /
                          (m * (1 - s->am) + k * (1 - s->af) * h * h * s->beta);
        v += h * ((1 - s->gamma) * a + s->gamma * a1);
        q = q_bare + h * h * s->beta * a1;
        a = a1;
    }
    return start - 0.5 * (k * q * q + m * v * v);
}

// Stability function of Radau's methods of order 3 and 5: the Pade approximations of exp(z) with
// denominators of degree 2 and 3. Hairer and Wanner, Solving Ordinary Differential Equations II,
// (IV.3.12) and (IV.5.8)
static double complex radau_stability(int order, double complex z) {
    return order == 3
               ? (1 + z / 3) / (1 - 2 * z / 3 + z * z / 6)
               : (1 + 2 * z / 5 + z * z / 20) / (1 - 3 * z / 5 + 3 * z * z / 20 - z * z * z / 60);
}

// Motions far faster than the step, with damping and without, leave in one step what the stability
// function says: the less the faster they are.
static void radau_steps_end_fast_motions(void **state) {
    (void)state;
    for (int i = 0; i < SCHEMES; i++) {
        const named *k = &schemes[i];
        if (!is_radau(k)) continue;
        for (int damped = 0; damped < 2; damped++) {
            for (double wh = 1e2; wh < 2e4; wh *= 100) {
                oscillator o;
                open_oscillator(&o, damped ? 1e-3 : 0);
                const double omega = sqrt(o.stiffness / o.mass), h = wh / omega;
                const double d = 0.5 * o.damping / o.mass / omega; // of critical damping
                // eigenvalues z and its conjugate of the state (w q, v)
                const double complex root = csqrt(d * d - 1);
                const double complex z1 = wh * (-d + root), z2 = wh * (-d - root);
                const double complex r1 = radau_stability(k->order, z1),
                                     r2 = radau_stability(k->order, z2);
                // from w q = 1, v = 0
                const double complex q = (z1 * r2 - z2 * r1) / (z1 - z2);
                snw_integrator it;
                open_integrator(o.m, k, h, o.s, &it);
                advance(&it, k->name, h);
                const double got = it.state(it.self)->q[0] / o.s->q[0];
                assert_near(got, creal(q), 1e-3 * fabs(creal(q)) + 1e-9);
                assert_true(fabs(got) < 10 / wh);
                it.close(it.self);
                close_oscillator(&o);
            }
        }
    }
}

// Steps that resolve the oscillation and steps that do not.
static void an_oscillator_loses_what_the_textbook_says(void **state) {
    (void)state;
    oscillator o;
    open_oscillator(&o, 0);
    const double omega = sqrt(o.stiffness / o.mass), all = 0.5 * o.stiffness * 1e-8;
    for (int i = 0; i < SCHEMES; i++) {
        const named *k = &schemes[i];
        const snw_scheme_kind way = k->step.scheme;
        for (double wh = 0.1; wh < 20; wh *= 10) {
            const double h = wh / omega;
            snw_integrator it;
            open_integrator(o.m, k, h, o.s, &it);
            const double start = energy(&it, o.m);
            double euler = 0, q = o.s->q[0], v = 0;
            for (int n = 1; n <= 50; n++) {
                advance(&it, k->name, n * h);
                const snw_state *now = it.state(it.self);
                // Backward Euler: half of k (q1 - q0)^2 + m (v1 - v0)^2 a step.
                euler +=
                    0.5 * (o.stiffness * pow(now->q[0] - q, 2) + o.mass * pow(now->v[0] - v, 2));
                q = now->q[0], v = now->v[0];
                const double got = it.work(it.self).scheme;
                // Gauss collocation conserves the energy of linear oscillators, and this one is
                // linear to the square of its strain.
                assert_near(balance_error(&it, o.m, start), 0, (k->order > 2 ? 1e-7 : 1e-8) * all);
                if (way <= SNW_SCHEME_WBZ) {
                    assert_near(got, textbook_loss(&o, k, h, n), 1e-7 * all);
                } else if (way == SNW_SCHEME_EULER) {
                    assert_near(got, euler, 1e-7 * all);
                } else if (is_radau(k)) {
                    const double kept = pow(cabs(radau_stability(k->order, I * wh)), 2 * n);
                    assert_near(got, (1 - kept) * all, 1e-7 * all);
                } else if (way == SNW_SCHEME_TRAPEZOIDAL || k->order > 2) {
                    assert_near(got, 0, 1e-7 * all);
                }
            }
            it.close(it.self);
        }
    }
    close_oscillator(&o);
}

// Steps of 50 radians: velocities oscillate from step to step, the motion between them does not.
// The trapezoidal rule dissipates exactly h d/h D d/h, and the energy account must contain that as
// heat.
static void oscillations_are_not_counted_as_heat(void **state) {
    (void)state;
    oscillator o;
    open_oscillator(&o, 1e-3);
    const named trapezoidal = SCHEME("trapezoidal", 2, .scheme = SNW_SCHEME_TRAPEZOIDAL);
    const double h = 50 * sqrt(o.mass / o.stiffness), all = 0.5 * o.stiffness * 1e-8;
    snw_integrator it;
    open_integrator(o.m, &trapezoidal, h, o.s, &it);
    const double start = energy(&it, o.m);
    for (int n = 1; n <= 100; n++) advance(&it, trapezoidal.name, n * h);
    const double lost = start - energy(&it, o.m);
    assert_true(lost > 1e-3 * all);
    assert_near(it.work(it.self).heat, lost, 1e-6 * lost);
    it.close(it.self);
    close_oscillator(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clamped_rods_converge_at_the_order),
        cmocka_unit_test(free_rods_converge_at_the_order),
        cmocka_unit_test(the_energy_error_falls_with_twice_the_order),
        cmocka_unit_test(an_oscillator_loses_what_the_textbook_says),
        cmocka_unit_test(radau_steps_end_fast_motions),
        cmocka_unit_test(oscillations_are_not_counted_as_heat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
