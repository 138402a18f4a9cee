// SPDX-License-Identifier: MIT
//
// Locomotion with prescribed shape, in addition to the examples: driven strains of every class,
// balance at the head, wrenches of the projective form against the references, distribution of
// the reactions over redundant contacts, axles perpendicular to their board. theory.md 6.8
#include "base/alloc.h"
#include "constraint/locomotion_private.h"
#include "executed.h"
#include "near.h"
#include "oracle/projective.h"
#include "setting.h"

#include <math.h>
#include <stdio.h>

// ---- strain classes -----------------------------------------------------------------------------

// The seven classes of Ali 2011, table 5.1: which strains are actuated. A floating body starts and
// stays without momentum, the wrenches at both of its ends are zero, and the work of its strains is
// its kinetic energy.
static void driven_strains_of_every_class(void **state) {
    (void)state;
    static const struct {
        const char *name, *strain;
    } class[] = {
        {"snake with skin",
         "twist: 2*sin(3*t)*x, bend_y: 3*cos(4*x - 2*t), bend_z: 2*sin(3*x + t), "
         "stretch: 0.2*sin(5*x - 3*t), shear_y: 0.1*cos(t + x), shear_z: "
         "0.1*sin(2*t)*x"},
        {"extensible", "twist: 2*sin(3*t)*x, bend_y: 3*cos(4*x - 2*t), bend_z: 2*sin(3*x + t), "
                       "stretch: 0.2*sin(5*x - 3*t)"},
        {"inextensible", "twist: 2*sin(3*t)*x, bend_y: 3*cos(4*x - 2*t), bend_z: 2*sin(3*x + t)"},
        {"without torsion", "bend_y: 3*cos(4*x - 2*t), bend_z: 2*sin(3*x + t)"},
        {"planar", "bend_z: 2*sin(3*x + t)"},
        {"planar, sheared", "bend_z: 2*sin(3*x + t), shear_y: 0.2*cos(2*x - t)"},
        {"worm", "stretch: 0.3*sin(5*x - 3*t)"},
    };
    enum { MOMENTUM = 0, FIRST = 6, LAST = 12, BALANCE = 18 + 6 };
    for (size_t i = 0; i < sizeof class / sizeof class[0]; i++) {
        char text[1500];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\nmaterials: {flesh: {young: 1, poisson: 0.5, density: 1000}}\n"
            "robot: {body: {on: world, joint: free, rod: {length: 0.8 m, nodes: 24, magnus: 6, "
            "section: {circle: {radius: 2 cm}}, material: flesh, strain: {%s}}}}\n"
            "probes: {h: momentum, head: {wrench: body.root}, tail: {wrench: body.tip}, e: "
            "energy}\n"
            "study: [kinematic: {for: 0.5 s, step: 5 ms}]\nrecord: {every: 50 ms}\n",
            class[i].strain);
        execute_ok(text, &o);
        for (int f = 0; f < o.series.nframe; f++) {
            for (int k = 0; k < 6; k++) {
                assert_near(shown(&o, f, MOMENTUM + k), 0, 1e-12);
                assert_near(shown(&o, f, FIRST + k), 0, 1e-10);
                assert_near(shown(&o, f, LAST + k), 0, 1e-10);
            }
            assert_near(shown(&o, f, BALANCE), 0, 1e-8);
        }
        snw_series_clear(&o.series);
    }
}

// ---- Hirose's snake -----------------------------------------------------------------------------

// examples/locomotion/wheeled_snake.yaml with a variable number of modules, and without its study
#define SNAKE                                                                                      \
    "sinew: 1\ngravity: 0\n"                                                                       \
    "parameters:\n"                                                                                \
    "  n: 10\n  l: 0.1 m\n  a: [0.2, 0.6, -0.2, 0.6, 0.2]\n"                                       \
    "  phase: [pi/16, 9*pi/16, 0, 7*pi/16, -pi/16]\n  r(j): a(j)*sin(t + phase(j))\n"              \
    "  I: 0.25 kg*(2*l)^2/12\n  Iw: 0.05 kg*(0.1 m)^2/12\n"                                        \
    "robot:\n"                                                                                     \
    "  link(1): {on: world, joint: planar, body: {mass: 0.25, inertia: [I, I, I]}}\n"              \
    "  link(2): {on: link(1), pose: {xyz: [l, 0, 0]}, joint: revolute, body: {mass: 0.25, com: "   \
    "[l, 0, 0], inertia: [I, I, I]}}\n"                                                            \
    "  link(k=3..n): {on: link(k-1), pose: {xyz: [2*l, 0, 0]}, joint: revolute, body: {mass: "     \
    "0.25, com: [l, 0, 0], inertia: [I, I, I]}}\n"                                                 \
    "  axle(1): {on: link(1), joint: revolute, body: {mass: 0.05, inertia: [Iw, Iw, Iw]}}\n"       \
    "  axle(k=2..n): {on: link(k), pose: {xyz: [l, 0, 0]}, joint: revolute, body: {mass: 0.05, "   \
    "inertia: [Iw, Iw, Iw]}}\n"                                                                    \
    "actuators:\n"                                                                                 \
    "  steer(k=1..3): {joint: axle(k), position: r(2*k - 1)}\n"                                    \
    "  steer(k=4..n): {joint: axle(k), position: 0}\n"                                             \
    "  bend(k=2..3): {joint: link(k), position: r(2*k - 2)}\n"                                     \
    "  bend(k=4..n): {joint: link(k), position: free}\n"                                           \
    "contacts: {wheels(k=1..n): {wheel: {on: axle(k), axis: y}}}\n"                                \
    "probes: {angle(k=4..n): {value: link(k)}}\n"                                                  \
    "study: [kinematic: {for: 10 s, step: 10 ms}]\nrecord: {every: 10 s}\n"

enum { FOLLOWERS = 7 };

typedef struct gait {
    setting set;
    snw_locomotion *red;
} gait;

static void gait_open(gait *g) {
    snw_error err = {0};
    const snw_locomotion_opts opts = {.torque = 1};
    setting_open(&g->set, SNAKE);
    assert_int_equal(snw_locomotion_create(g->set.g.m, &opts, &g->red, &err), SNW_OK);
    assert_int_equal(snw_locomotion_start(g->red, g->set.g.in, g->set.g.s, 20, &err), SNW_OK);
}

static void gait_close(gait *g) {
    snw_locomotion_destroy(g->red);
    setting_close(&g->set);
}

// angles of the passive joints at t = 10 s, references.md A3 check 5
static const double printed_angle[FOLLOWERS] = {-0.22654, 0.79513, 0.43129, -0.56899,
                                                -0.67568, 0.29760, 0.99969};

// motion at t with the passive joints at their angles at that time
static void gait_at(gait *g, double t, const double angle[FOLLOWERS]) {
    snw_error err = {0};
    const snw_model *m = g->set.g.m;
    for (int k = 0; k < FOLLOWERS; k++) {
        for (int l = 0; l < m->desc->nlink; l++) {
            char name[20];
            (void)snprintf(name, sizeof name, "link(%d)", k + 4);
            if (strcmp(m->desc->link[l].name, name) != 0) continue;
            g->set.g.s->q[m->block[m->link_block[l]].q] = angle[k];
        }
    }
    g->set.g.s->t = t;
    snw_inputs_at(m, t, g->set.g.in);
    if (snw_locomotion_motion(g->red, g->set.g.in, g->set.g.s, &err) != SNW_OK) {
        fail_msg("%s", err.text);
    }
    snw_residual(m, g->set.g.in, g->set.g.s, false, g->set.g.w);
}

// all coordinates are in balance, including those of the head
static void no_wrench_remains_on_the_head(void **state) {
    (void)state;
    gait g;
    gait_open(&g);
    gait_at(&g, 10, printed_angle);
    for (int i = 0; i < g.set.g.m->nv; i++) assert_near(g.set.g.w->r[i], 0, 1e-14);
    gait_close(&g);
}

// angles of the passive joints at 10 s, integrated from the start
static void integrate_angles(double angle[FOLLOWERS]) {
    outcome o;
    execute_ok(SNAKE, &o);
    for (int k = 0; k < FOLLOWERS; k++) {
        angle[k] = last(&o, k);
        assert_near(angle[k], printed_angle[k], 5e-6);
    }
    snw_series_clear(&o.series);
}

// effort tau of the motor with this name
static double effort_of(const snw_model *m, const double *tau, const char *name) {
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (strcmp(m->desc->motor[d->motor].name, name) == 0) return tau[d->row];
    }
    fail_msg("no drive '%s'", name);
    return NAN;
}

// Ali's projective form leaves a wrench on the head, and with it the powers are in balance: tau'r'
// + F'eta = T'. references.md A3 check 6
static void the_projective_form_leaves_a_wrench(void **state) {
    (void)state;
    static const double printed[] = {33.991e-3, 29.451e-3, 24.695e-3, 21.486e-3, 17.829e-3,
                                     14.485e-3, 10.111e-3, 5.9979e-3, 1.3528e-3};
    gait g;
    double angle[FOLLOWERS];
    integrate_angles(angle);
    gait_open(&g);
    gait_at(&g, 10, angle);
    const snw_model *m = g.set.g.m;
    const double balanced = effort_of(m, g.set.g.s->lambda, "steer(1)");
    snw_wrench *P = snw_alloc((size_t)m->nseg * sizeof *P);
    double *tau = snw_alloc((size_t)m->nconstraint * sizeof *tau);
    oracle_projective(m, g.set.g.in, g.set.g.s, g.set.g.w, P, tau);
    for (int k = 2; k <= 10; k++) {
        char name[20];
        (void)snprintf(name, sizeof name, "bend(%d)", k);
        assert_near(effort_of(m, tau, name), printed[k - 2], k < 9 ? 5e-7 : 5e-8);
    }
    // torques of axles are the same in both forms
    assert_near(effort_of(m, tau, "steer(1)"), -2.2537e-5, 5e-10);
    assert_near(effort_of(m, tau, "steer(1)"), balanced, 1e-14);
    const int head = m->link_end[0];
    const snw_wrench F = P[head];
    assert_near(F.f.x, -0.0057922, 6e-8);
    assert_near(F.f.y, 0.028899, 6e-7);
    assert_near(F.m.z, 0.035535, 6e-7);
    // T' = v'(M a), from the residual without multipliers, which contains inertial forces only
    double given = snw_power(F, g.set.g.w->V[head]), grown = 0;
    for (int i = 0; i < m->ndrive; i++) {
        const snw_drive *d = &m->drive[i];
        if (d->row >= 0) given += tau[d->row] * g.set.g.s->v[d->dof];
    }
    for (int i = 0; i < m->nv; i++) grown += g.set.g.w->r[i] * g.set.g.s->v[i];
    assert_near(given, grown, 1e-12);
    // the form of the library has the same torques, and the reactions with which the wrench is left
    const snw_locomotion_opts opts = {.torque = 1, .form = SNW_REACTIONS_PROJECTIVE};
    snw_error err = {0};
    snw_locomotion_destroy(g.red);
    assert_int_equal(snw_locomotion_create(m, &opts, &g.red, &err), SNW_OK);
    assert_int_equal(snw_locomotion_start(g.red, g.set.g.in, g.set.g.s, 20, &err), SNW_OK);
    gait_at(&g, 10, angle);
    for (int i = 0; i < m->ndrive; i++) {
        const int row = m->drive[i].row;
        if (row >= 0) assert_near(g.set.g.s->lambda[row], tau[row], 1e-14);
    }
    assert_near(snw_power(g.set.g.w->F[head], g.set.g.w->V[head]),
                snw_locomotion_unbalanced_power(g.red, g.set.g.s), 1e-14);
    for (int e = 0; e < 6; e++) assert_near(g.set.g.w->F[head].e[e], F.e[e], 1e-14);
    snw_free(P);
    snw_free(tau);
    gait_close(&g);
}

#define PAIR                                                                                       \
    "sinew: 1\ngravity: 0\nrobot:\n"                                                               \
    "  a: {on: world, joint: planar, body: {mass: 1, inertia: [1, 1, 1]}}\n"                       \
    "  b: {on: a, joint: revolute, body: {mass: 1, inertia: [1, 1, 1], com: [1, 0, 0]}}\n"         \
    "  c: {on: b, pose: {xyz: [1, 0, 0]}}\n"                                                       \
    "actuators: {m: {joint: b, position: sin(t)}}\n"
#define FORM "study: [kinematic: {for: 1 s, step: 0.1 s, reactions: {form: balanced}}]\n"

// what the projective form does not know is refused by name
static void the_projective_form_says_what_it_cannot(void **state) {
    (void)state;
    fails_with(PAIR "contacts: {w: {wheel: {on: a, axis: y}}}\n"
                    "study: [kinematic: {for: 1 s, step: 0.1 s, reactions: {form: projective, "
                    "least: efforts}}]\n",
               "remove one of 'least' and 'form'");
    fails_with(PAIR "contacts: {w: {wheel: {on: c, axis: y}, carrier: a}}\n" FORM,
               "contacts between links ('w')");
    fails_with("sinew: 1\ngravity: 0\nmaterials: {f: {young: 1, poisson: 0.5, density: 1000}}\n"
               "robot:\n  s: {on: world, joint: planar, rod: {length: 1, material: f, section: "
               "{circle: {radius: 0.02}}, strain: {bend_z: 1}}}\n"
               "contacts: {r: {ring: {on: \"s@(0.2 + 0.1*t)\"}}}\n" FORM,
               "contacts that slide ('r')");
}

// ---- distribution of reactions ------------------------------------------------------------------

enum { POSTS = 5 };

// reactions of five rings around a snake in space, with this weight of moments: forces y and z,
// moment x of each
static void reactions(double weight, double *out) {
    char text[2000];
    outcome o;
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\ngravity: 0\nparameters: {V: -0.5, A: 10, k: 2*pi}\n"
        "materials: {flesh: {young: 1, poisson: 0.5, density: 1000}}\n"
        "robot: {snake: {on: world, joint: free, rod: {length: 1.25 m, nodes: 60, magnus: 6, "
        "section: {circle: {radius: 2 cm}}, material: flesh, strain: {bend_y: -A*sin(k*(x + V*t)), "
        "bend_z: A*cos(k*(x + V*t))}}}}\n"
        "contacts: {post(i=1..5): {ring: {on: \"snake@((i - 0.5)*0.25 m)\"}}}\n"
        "probes: {N(i=1..5): {reaction: post(i), in: body}}\n"
        "study: [kinematic: {for: 10 ms, step: 10 ms, reactions: {torque: %.17g}}]\n",
        weight);
    execute_ok(text, &o);
    for (int i = 0; i < POSTS; i++) {
        out[3 * i] = shown(&o, 0, 6 * i + 4);
        out[3 * i + 1] = shown(&o, 0, 6 * i + 5);
        out[3 * i + 2] = shown(&o, 0, 6 * i);
    }
    snw_series_clear(&o.series);
}

static double size_by(double weight, const double *l) {
    double sum = 0;
    for (int i = 0; i < 3 * POSTS; i++) sum += pow(i % 3 == 2 ? weight * l[i] : l[i], 2);
    return sum;
}

// Among all reactions that balance the robot, those found with a weight have the smallest norm with
// that weight.
static void moments_count_by_their_weight(void **state) {
    (void)state;
    static const double weight[] = {0.2, 1, 30};
    double l[3][3 * POSTS];
    for (int i = 0; i < 3; i++) reactions(weight[i], l[i]);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            if (i == j) continue;
            assert_true(size_by(weight[i], l[i]) < 0.999 * size_by(weight[i], l[j]));
            // a combination with the others, which is in balance too, has a larger norm
            double half[3 * POSTS];
            for (int k = 0; k < 3 * POSTS; k++) half[k] = 0.99 * l[i][k] + 0.01 * l[j][k];
            assert_true(size_by(weight[i], l[i]) < size_by(weight[i], half));
        }
    }
}

// ---- axles perpendicular to the board -----------------------------------------------------------

// p of the momentum, d/dt p = -kappa sin(phi) psi'', by Simpson's rule; psi = sin 2t, phi = 1.8 sin
// 2t
static double board_momentum(double end) {
    const int n = 4000;
    const double h = end / n, kappa = 0.15;
    double sum = 0;
    for (int i = 0; i <= n; i++) {
        const double t = i * h, w = i == 0 || i == n ? 1 : i % 2 ? 4 : 2;
        sum += w * kappa * sin(1.8 * sin(2 * t)) * 4 * sin(2 * t);
    }
    return sum * h / 3;
}

// Where the axles of a snakeboard are perpendicular to its board their rows are redundant, and the
// reduced momentum p/cos(phi) has a pole; the motion, vx = -2 l cos(phi) p and wz = 2 sin(phi) p,
// has none and continues.
static void a_snakeboard_goes_through_full_lock(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\ngravity: 0\nparameters: {phi: 1.8*sin(2*t)}\n"
        "robot:\n"
        "  board: {on: world, joint: planar, body: {mass: 4.6, inertia: [0.1, 0.1, 0.1494]}}\n"
        "  rotor: {on: board, joint: revolute, body: {mass: 1, inertia: [0.05, 0.05, 0.072]}}\n"
        "  axle(k=1..2): {on: board, pose: {xyz: [-(-1)^k*0.2, 0, 0]}, joint: revolute, body: "
        "{mass: 0.2, inertia: [1e-3, 1e-3, 1.3e-3]}}\n"
        "actuators: {spin: {joint: rotor, position: sin(2*t)}, steer(k=1..2): {joint: axle(k), "
        "position: (-1)^k*phi}}\n"
        "contacts: {wheels(k=1..2): {wheel: {on: axle(k), axis: y}}}\n"
        "probes: {v: {twist: board, in: body}}\n"
        "study: [kinematic: {for: 1.4 s, step: 2 ms}]\nrecord: {every: 0.2 s}\n",
        &o);
    for (int f = 0; f < o.series.nframe; f++) {
        const double t = o.series.t[f], phi = 1.8 * sin(2 * t), p = board_momentum(t);
        assert_near(shown(&o, f, 2), 2 * sin(phi) * p, 1e-6);
        assert_near(shown(&o, f, 3), -2 * 0.2 * cos(phi) * p, 1e-6);
        assert_near(shown(&o, f, 4), 0, 1e-9);
    }
    snw_series_clear(&o.series);
}

// A strain whose rate jumps moves the rod by an impulse, whose work is in the account: this is
// told, also where the law is a product with a wave along the rod, and not where it is smooth.
static void jumps_of_given_strain_rates_are_told(void **state) {
    (void)state;
    static const char *const envelope[] = {"linear(t, 0 s, 3 ms)", "poly5(t, 0 s, 3 ms)"};
    for (int i = 0; i < 2; i++) {
        char text[600];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\nmaterials: {f: {young: 1, poisson: 0.5, density: "
                       "1000}}\nrobot:\n  s: {on: world, joint: planar, rod: {length: 1, material: "
                       "f, section: {circle: {radius: 0.02}}, strain: {bend_z: "
                       "\"1e-3*sin(3*x)*%s\"}}}\nprobes: {e: energy}\n"
                       "study: [dynamic: {for: 5 ms, step: 1 ms}]\n",
                       envelope[i]);
        execute_ok(text, &o);
        const bool told =
            strstr(o.first, "the strain of rod 's' has a jump in its rate at t = 0.003 s") != NULL;
        assert_int_equal(told, i == 0);
        assert_null(strstr(o.first, "whose work the energy account leaves out"));
        snw_series_clear(&o.series);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(driven_strains_of_every_class),
        cmocka_unit_test(no_wrench_remains_on_the_head),
        cmocka_unit_test(the_projective_form_leaves_a_wrench),
        cmocka_unit_test(the_projective_form_says_what_it_cannot),
        cmocka_unit_test(jumps_of_given_strain_rates_are_told),
        cmocka_unit_test(moments_count_by_their_weight),
        cmocka_unit_test(a_snakeboard_goes_through_full_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
