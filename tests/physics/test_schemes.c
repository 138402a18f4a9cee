// SPDX-License-Identifier: MIT
//
// Time schemes: their order, on clamped and on free rods, and the energy they remove.
#include "study/motion.h"

#include "random_rod.h"

#include "near.h"

#include <stdio.h>
#include <string.h>

typedef struct named {
    const char *name;
    snw_scheme_kind kind;
    double rho, alpha;
    snw_chart chart;
} named;

static const named schemes[] = {
    {"newmark", SNW_SCHEME_NEWMARK, 1, 0, SNW_CHART_SE3},
    {"newmark, SO3xR3", SNW_SCHEME_NEWMARK, 1, 0, SNW_CHART_SO3R3},
    {"hht", SNW_SCHEME_HHT, 0.7, 0, SNW_CHART_SE3},
    {"wbz", SNW_SCHEME_WBZ, 0.6, 0, SNW_CHART_SE3},
    {"generalized-alpha", SNW_SCHEME_GENERALIZED_ALPHA, 0.5, 0, SNW_CHART_SE3},
    {"generalized-alpha, SO3xR3", SNW_SCHEME_GENERALIZED_ALPHA, 0.8, 0, SNW_CHART_SO3R3},
    {"euler", SNW_SCHEME_EULER, 0, 0, SNW_CHART_SE3},
    {"trapezoidal", SNW_SCHEME_TRAPEZOIDAL, 0, 0, SNW_CHART_SE3},
    {"bdf2", SNW_SCHEME_BDF2, 0, 0, SNW_CHART_SE3},
    {"bdf2, SO3xR3", SNW_SCHEME_BDF2, 0, 0, SNW_CHART_SO3R3},
    {"bdf-alpha", SNW_SCHEME_BDF_ALPHA, 0, -0.3, SNW_CHART_SE3},
};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

// a soft rod with a muscle and weight, clamped or free, moving at the start
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

// q at t = 0.4 s after n steps
static void run(const snw_model *m, const named *k, int n, double *q) {
    snw_motion_opts o = snw_motion_defaults();
    o.scheme = snw_scheme_make(k->kind, k->rho, k->alpha);
    o.chart = k->chart;
    o.tolerance = 1e-13;
    snw_motion *mo = NULL;
    snw_state *s = NULL;
    snw_error err = {0};
    assert_int_equal(snw_motion_create(m, &o, &mo), SNW_OK);
    assert_int_equal(snw_state_create(m, &s), SNW_OK);
    begin(m, s);
    if (snw_motion_start(mo, s, &err) != SNW_OK) fail_msg("%s", err.text);
    for (int i = 0; i < n; i++) {
        snw_motion_info info;
        if (snw_motion_step(mo, 0.4 / n, 0.4 * (i + 1) / n, &info) != SNW_OK)
            fail_msg("%s: step %d of %d fails", k->name, i, n);
    }
    memcpy(q, snw_motion_state(mo)->q, (size_t)m->nq * sizeof *q);
    snw_motion_destroy(mo);
    snw_state_destroy(s);
}

static double distance(const snw_model *m, const double *a, const double *b) {
    double d = 0;
    for (int i = 0; i < m->nq; i++) d = fmax(d, fabs(a[i] - b[i]));
    return d;
}

// classical Runge-Kutta of order 4 on (q, v), with exact moves of free joints by their increments (order kept
// by small steps): an independent reference
static void reference(const snw_model *m, double *q) {
    // generalized-alpha at three fine steps, extrapolated: error h^4 and far below what is compared
    const named fine = {"fine", SNW_SCHEME_NEWMARK, 1, 0, SNW_CHART_SO3R3};
    double a[64], b[64];
    run(m, &fine, 3200, a);
    run(m, &fine, 6400, b);
    for (int i = 0; i < m->nq; i++) q[i] = (4 * b[i] - a[i]) / 3;
}

static void slopes(snw_joint_kind joint) {
    robot r;
    snw_model *m = soft_rod(&r, joint);
    double want[64], a[64], b[64];
    reference(m, want);
    for (int i = 0; i < SCHEMES; i++) {
        const snw_scheme s = snw_scheme_make(schemes[i].kind, schemes[i].rho, schemes[i].alpha);
        run(m, &schemes[i], 200, a);
        run(m, &schemes[i], 400, b);
        const double ea = distance(m, a, want), eb = distance(m, b, want), slope = log2(ea / eb);
        if (!(fabs(slope - s.order) < 0.15)) {
            fail_msg("%s: errors %.3g and %.3g, slope %.3f, order %d", schemes[i].name, ea, eb,
                     slope, s.order);
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

// ---- what the scheme removes -----------------------------------------------------------------------

typedef struct books {
    double scheme, balance; // largest over the motion, J
} books;

static double energy(snw_motion *mo, const snw_model *m) {
    const snw_work *w = snw_motion_look(mo);
    return snw_kinetic_energy(m, w) + snw_elastic_energy(m, snw_motion_state(mo)->q) +
           snw_gravity_energy(m, snw_motion_inputs(mo), w);
}

// what is left of the energy gained since the start when all that is known is taken off
static double left_over(snw_motion *mo, const snw_model *m, double start) {
    const snw_work_done done = snw_motion_work(mo);
    double sum = energy(mo, m) - start + done.heat + done.scheme;
    for (int i = 0; i < done.n; i++) sum -= done.work[i];
    return sum;
}

static snw_motion *open_motion(const snw_model *m, const named *k, const snw_state *s) {
    snw_motion_opts o = snw_motion_defaults();
    o.scheme = snw_scheme_make(k->kind, k->rho, k->alpha);
    o.chart = k->chart;
    o.tolerance = 1e-13;
    snw_motion *mo = NULL;
    snw_error err = {0};
    assert_int_equal(snw_motion_create(m, &o, &mo), SNW_OK);
    if (snw_motion_start(mo, s, &err) != SNW_OK) fail_msg("%s", err.text);
    return mo;
}

static books keep_books(const snw_model *m, const named *k, int n) {
    snw_state *s = NULL;
    assert_int_equal(snw_state_create(m, &s), SNW_OK);
    begin(m, s);
    snw_motion *mo = open_motion(m, k, s);
    const double start = energy(mo, m);
    books b = {0};
    for (int i = 1; i <= n; i++) {
        snw_motion_info info;
        if (snw_motion_step(mo, 0.4 / n, 0.4 * i / n, &info) != SNW_OK)
            fail_msg("%s: step %d of %d fails", k->name, i, n);
        b.balance = fmax(b.balance, fabs(left_over(mo, m, start)));
        b.scheme = fmax(b.scheme, fabs(snw_motion_work(mo).scheme));
    }
    snw_motion_destroy(mo);
    snw_state_destroy(s);
    return b;
}

// a damped rod under weight and wind, held, free, on a moving base: what the scheme removes is of its order, what is
// left over falls with twice that
static void what_is_left_over_falls_with_twice_the_order(void **state) {
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
            const int order = schemes[i].kind == SNW_SCHEME_EULER ? 1 : 2;
            const books a = keep_books(m, &schemes[i], 40), b = keep_books(m, &schemes[i], 80);
            const double removed = log2(a.scheme / b.scheme), left = log2(a.balance / b.balance);
            if (!(fabs(removed - order) < 0.1 && fabs(left - 2 * order) < 0.2 &&
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

// one coordinate with tiny strains: mass, stiffness and damping of an oscillator
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
    o->stiffness = 2 * snw_elastic_energy(o->m, (const double[]){1});
    o->damping = snw_dissipation(o->m, (const double[]){1});
    snw_work_destroy(w);
    snw_inputs_destroy(in);
    o->s->q[0] = 1e-4; // curvature; what is not linear is 1e-9 of the rest
}

static void close_oscillator(oscillator *o) {
    snw_state_destroy(o->s);
    snw_model_destroy(o->m);
    robot_free(&o->r);
}

// Energy that the method of Chung and Hulbert removes from the oscillator in n steps, in its textbook form
//   m [(1 - am) a1 + am a0] + k [(1 - af) q1 + af q0] = 0,  q1 = q0 + h v0 + h^2 [(1/2 - beta) a0 + beta a1],
//   v1 = v0 + h [(1 - gamma) a0 + gamma a1]
static double textbook_loss(const oscillator *o, const snw_scheme *s, double h, int n) {
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

// steps that resolve the swing and steps that do not
static void an_oscillator_loses_what_the_textbook_says(void **state) {
    (void)state;
    oscillator o;
    open_oscillator(&o, 0);
    const double omega = sqrt(o.stiffness / o.mass), all = 0.5 * o.stiffness * 1e-8;
    for (int i = 0; i < SCHEMES; i++) {
        const snw_scheme scheme =
            snw_scheme_make(schemes[i].kind, schemes[i].rho, schemes[i].alpha);
        for (double wh = 0.1; wh < 20; wh *= 10) {
            const double h = wh / omega;
            snw_motion *mo = open_motion(o.m, &schemes[i], o.s);
            const double start = energy(mo, o.m);
            double euler = 0, q = o.s->q[0], v = 0;
            for (int n = 1; n <= 50; n++) {
                snw_motion_info info;
                assert_int_equal(snw_motion_step(mo, h, n * h, &info), SNW_OK);
                const snw_state *now = snw_motion_state(mo);
                // backward Euler: half of k (q1 - q0)^2 + m (v1 - v0)^2 a step
                euler +=
                    0.5 * (o.stiffness * pow(now->q[0] - q, 2) + o.mass * pow(now->v[0] - v, 2));
                q = now->q[0], v = now->v[0];
                const double got = snw_motion_work(mo).scheme;
                assert_near(left_over(mo, o.m, start), 0, 1e-8 * all);
                if (!scheme.levels) {
                    assert_near(got, textbook_loss(&o, &scheme, h, n), 1e-7 * all);
                } else if (scheme.kind == SNW_SCHEME_EULER) {
                    assert_near(got, euler, 1e-7 * all);
                } else if (scheme.kind == SNW_SCHEME_TRAPEZOIDAL) {
                    assert_near(got, 0, 1e-7 * all);
                }
            }
            snw_motion_destroy(mo);
        }
    }
    close_oscillator(&o);
}

// steps of 50 radians: velocities ring from step to step, the motion between them does not; the trapezoidal rule turns
// exactly h d/h D d/h into heat, and that must be what is booked
static void ringing_is_not_booked_as_heat(void **state) {
    (void)state;
    oscillator o;
    open_oscillator(&o, 1e-3);
    const named trapezoidal = {"trapezoidal", SNW_SCHEME_TRAPEZOIDAL, 0, 0, SNW_CHART_SE3};
    const double h = 50 * sqrt(o.mass / o.stiffness), all = 0.5 * o.stiffness * 1e-8;
    snw_motion *mo = open_motion(o.m, &trapezoidal, o.s);
    const double start = energy(mo, o.m);
    for (int n = 1; n <= 100; n++) {
        snw_motion_info info;
        assert_int_equal(snw_motion_step(mo, h, n * h, &info), SNW_OK);
    }
    const double lost = start - energy(mo, o.m);
    assert_true(lost > 1e-3 * all);
    assert_near(snw_motion_work(mo).heat, lost, 1e-6 * lost);
    snw_motion_destroy(mo);
    close_oscillator(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clamped_rods_converge_at_the_order),
        cmocka_unit_test(free_rods_converge_at_the_order),
        cmocka_unit_test(what_is_left_over_falls_with_twice_the_order),
        cmocka_unit_test(an_oscillator_loses_what_the_textbook_says),
        cmocka_unit_test(ringing_is_not_booked_as_heat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
