// SPDX-License-Identifier: MIT
//
// Motion from prescribed shapes and contacts, theory.md 6.8: against the dense equations of
// constrained motion on random robots, against dynamic steps; classes, singular and contradictory
// gaits, and the convergence of the discrete snake to the continuous one.
#include "executed.h"
#include "floating_tree.h"

#include "base/alloc.h"
#include "constraint/locomotion.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- dense equations ----------------------------------------------------------------------------

// A floating tree of n bodies, all joints driven, with wheels, a ring or an anchor on some of them.
static void random_robot(dice *d, int n, bool planar, char *out, size_t size) {
    size_t at = 0;
#define SAY(...) at += (size_t)snprintf(out + at, size - at, __VA_ARGS__)
    SAY("sinew: 1\ngravity: [%g, %g, %g]\n", roll(d, -3, 3), roll(d, -3, 3), planar ? 0.0 : -9.81);
    at += floating_tree(d, n, planar, out + at, size - at);
    SAY("actuators:\n");
    for (int i = 1; i < n; i++) {
        SAY("  m%d: {joint: b%d, position: %g*sin(%g*t + %g)}\n", i, i, roll(d, 0.2, 0.6),
            roll(d, 0.5, 2), roll(d, 0, 6));
    }
    SAY("contacts:\n");
    const int wheels = planar ? pick_int(d, 1, 3) : pick_int(d, 2, 4);
    for (int i = 0; i < wheels; i++) {
        SAY("  w%d: {wheel: {on: b%d, axis: [%g, 1, %g]}}\n", i, i % n, roll(d, -1, 1),
            planar ? 0.0 : roll(d, -1, 1));
    }
    if (!planar && wheels < 4 && pick_int(d, 0, 1)) SAY("  r: {ring: {on: b%d}}\n", n - 1);
#undef SAY
}

typedef struct dense {
    int nv, nr, n;
    double *K, *x;
    int *pivot;
} dense;

// [M -C'; C 0] (a, l) = (-r0, -bend) with all rows, by LU; bend: the rates of the rows at a = 0.
static void solve_dense(const snw_model *m, snw_inputs *in, snw_state *s, dense *e) {
    snw_work *w;
    assert_int_equal(snw_work_create(m, &w), SNW_OK);
    const int nv = m->nv, nr = m->nconstraint, n = nv + nr;
    *e = (dense){.nv = nv, .nr = nr, .n = n};
    e->K = calloc((size_t)(n * n + n + nv * nv + nr), sizeof *e->K);
    e->pivot = calloc((size_t)n, sizeof *e->pivot);
    e->x = e->K + n * n;
    double *M = e->x + n, *bend = M + nv * nv;
    for (int i = 0; i < nv; i++) s->a[i] = 0;
    for (int i = 0; i < nr; i++) s->lambda[i] = 0;
    snw_mass_matrix(m, in, s, w, M);
    snw_residual(m, in, s, false, w);
    for (int i = 0; i < nv; i++) e->x[i] = -w->r[i];
    snw_constraints_rates(m, in, s, w, NULL, bend);
    for (int i = 0; i < nr; i++) e->x[nv + i] = -bend[i];
    snw_tangent_pass(m, NULL, w);
    snw_constraints_jacobian(m, w);
    for (int j = 0; j < nv; j++) {
        for (int i = 0; i < nv; i++) e->K[j * n + i] = M[j * nv + i];
    }
    for (int k = 0; k < nr; k++) {
        const snw_constraint row = snw_constraint_at(m, w, k);
        for (int j = 0; j < row.n; j++) {
            e->K[row.dof[j] * n + nv + k] = row.C[j];
            e->K[(nv + k) * n + row.dof[j]] = -row.C[j];
        }
    }
    assert_int_equal(snw_lu_factor(n, e->K, e->pivot), SNW_OK);
    snw_lu_solve(n, e->K, e->pivot, e->x);
    snw_work_destroy(w);
}

// Velocities, accelerations, reactions and efforts agree with Lagrange's equations with
// multipliers.
static void random_robots_move_as_dense_equations_say(void **state) {
    (void)state;
    dice d = {71};
    int met = 0; // the others are close to a singularity, which is reported
    for (int k = 0; k < 24; k++) {
        char text[4000];
        snw_error err;
        snw_document *doc;
        snw_desc *desc;
        snw_model *m;
        snw_inputs *in;
        snw_state *s;
        snw_locomotion *lo;
        random_robot(&d, 3 + k % 6, k % 2 == 0, text, sizeof text);
        if (describe(text, &doc, &desc, &err) != SNW_OK) fail_msg("%s\n%s", text, err.text);
        assert_int_equal(snw_model_compile(desc, &m, &err), SNW_OK);
        assert_int_equal(snw_inputs_create(m, &in), SNW_OK);
        assert_int_equal(snw_state_create(m, &s), SNW_OK);
        const snw_locomotion_opts opts = {.torque = 1};
        assert_int_equal(snw_locomotion_create(m, &opts, &lo, &err), SNW_OK);
        state_random(m, &d, s);
        s->t = 0.3;
        if (snw_locomotion_start(lo, in, s, 1.3, &err) != SNW_OK) fail_msg("%s", err.text);
        snw_inputs_at(m, 0.3, in);
        const size_t before = snw_alloc_count();
        const snw_status status = snw_locomotion_motion(lo, in, s, &err);
        assert_int_equal(snw_alloc_count(), before);
        if (status != SNW_OK && status != SNW_E_SINGULAR) {
            fail_msg("robot %d: %s\n%s", k, err.text, text);
        }
        met += status == SNW_OK;
        double *a = calloc((size_t)(m->nv + m->nconstraint), sizeof *a), *l = a + m->nv;
        for (int i = 0; i < m->nv; i++) a[i] = s->a[i];
        for (int i = 0; i < m->nconstraint; i++) l[i] = s->lambda[i];
        dense e;
        solve_dense(m, in, s, &e);
        double size = 0, force = 0;
        for (int i = 0; i < m->nv; i++) size = fmax(size, fabs(e.x[i]));
        for (int i = 0; i < m->nconstraint; i++) force = fmax(force, fabs(e.x[m->nv + i]));
        for (int i = 0; i < m->nv && status == SNW_OK; i++) {
            assert_near(a[i], e.x[i], 1e-9 * size);
        }
        for (int i = 0; i < m->nconstraint && status == SNW_OK; i++) {
            assert_near(l[i], e.x[m->nv + i], 1e-8 * force);
        }
        free(a);
        free(e.K);
        free(e.pivot);
        snw_locomotion_destroy(lo);
        snw_state_destroy(s);
        snw_inputs_destroy(in);
        snw_model_destroy(m);
        release(doc, desc);
    }
    assert_true(met > 18);
}

// ---- classes ------------------------------------------------------------------------------------

#define AXLES                                                                                      \
    "sinew: 1\ngravity: 0\nparameters: {l: 0.1}\n"                                                 \
    "robot:\n"                                                                                     \
    "  a: {on: world, joint: planar, body: {mass: 1, inertia: [1, 1, 0.01]}}\n"                    \
    "  b: {on: a, pose: {xyz: [l, 0, 0]}, joint: revolute, body: {mass: 1, com: [l, 0, 0], "       \
    "inertia: [1, 1, 0.01]}}\n"                                                                    \
    "  c: {on: b, pose: {xyz: [2*l, 0, 0]}, joint: revolute, body: {mass: 1, com: [l, 0, 0], "     \
    "inertia: [1, 1, 0.01]}}\n"                                                                    \
    "sites: {B: {on: b, pose: {xyz: [l, 0, 0]}}, C: {on: c, pose: {xyz: [l, 0, 0]}}}\n"            \
    "actuators: {p: {joint: b, position: 0.5*sin(t)}, q: {joint: c, position: 0.4*cos(t)}}\n"
#define STEP "study: [kinematic: {for: 1 s, step: 10 ms}]\n"

static void class_is(const char *text, snw_locomotion_class want) {
    snw_document *doc;
    snw_desc *desc;
    snw_error err;
    snw_model *m;
    snw_inputs *in;
    snw_state *s;
    snw_locomotion *lo;
    if (describe(text, &doc, &desc, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_model_compile(desc, &m, &err), SNW_OK);
    assert_int_equal(snw_inputs_create(m, &in), SNW_OK);
    assert_int_equal(snw_state_create(m, &s), SNW_OK);
    const snw_locomotion_opts opts = {.torque = 1};
    assert_int_equal(snw_locomotion_create(m, &opts, &lo, &err), SNW_OK);
    assert_int_equal(snw_locomotion_start(lo, in, s, 1, &err), SNW_OK);
    assert_int_equal(snw_locomotion_class_of(lo), want);
    snw_locomotion_destroy(lo);
    snw_state_destroy(s);
    snw_inputs_destroy(in);
    snw_model_destroy(m);
    release(doc, desc);
}

static void classes_are_found(void **state) {
    (void)state;
    class_is(AXLES STEP, SNW_LOCOMOTION_SYMMETRIC);
    class_is(AXLES "loads: {f: {on: a, force: [1, 0, 0]}}\n" STEP, SNW_LOCOMOTION_FREE);
    class_is(AXLES "contacts: {x: {wheel: {on: a, axis: y}}, y: {wheel: {on: B, axis: y}}}\n" STEP,
             SNW_LOCOMOTION_UNDER);
    class_is(AXLES "contacts: {x: {wheel: {on: a, axis: y}}, y: {wheel: {on: B, axis: y}}, z: "
                   "{wheel: {on: C, axis: y}}}\n" STEP,
             SNW_LOCOMOTION_FULL);
    class_is(AXLES "contacts: {x: {wheel: {on: a, axis: y}}, y: {wheel: {on: B, axis: y}}, z: "
                   "{wheel: {on: C, axis: y}}, w: {wheel: {on: a, axis: y}}}\n" STEP,
             SNW_LOCOMOTION_OVER);
}

#define MASSLESS                                                                                   \
    "sinew: 1\ngravity: 0\nmaterials: {f: {young: 1, poisson: 0.5, density: 0}}\nrobot:\n"         \
    "  a: {on: world, joint: planar, rod: {length: 1, material: f, section: {circle: {radius: "    \
    "0.02}}, strain: {bend_z: sin(t + 3*x)}}}\n"

// without mass resistance determines what contacts leave open, where it is linear
static void resistance_moves_what_has_no_mass(void **state) {
    (void)state;
    class_is(MASSLESS "fluid: {honey: {on: a, drag: {linear: [1, 2, 2]}}}\n" STEP,
             SNW_LOCOMOTION_VISCOUS);
    class_is(MASSLESS "contacts: {w: {wheel: {on: a.tip, axis: y}}}\n"
                      "fluid: {honey: {on: a, drag: {linear: [1, 2, 2]}}}\n" STEP,
             SNW_LOCOMOTION_VISCOUS);
    fails_with(MASSLESS "fluid: {honey: {on: a, drag: {square: [1, 2, 2]}}}\n" STEP,
               "its resistance is not linear in the velocities");
    fails_with(
        "sinew: 1\ngravity: 0\nmaterials: {f: {young: 1, poisson: 0.5, density: 0}}\nrobot:\n"
        "  a: {on: world, joint: planar, rod: {length: 1, material: f, section: {circle: "
        "{radius: 0.02}}, strain: rigid}}\n"
        "fluid: {honey: {on: a, drag: {linear: [0, 2, 2]}}}\n" STEP,
        "nothing resists a motion");
}

// Without mass a rod in a fluid is moved by a force as slowly as its drag allows, and a wheel takes
// its share: along the rod 1 N s/m^2 per length, so v = F/L; the efforts are in balance.
static void a_wheel_and_a_force_on_a_rod_in_honey(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\ngravity: 0\nmaterials: {f: {young: 1, poisson: 0.5, density: 0}}\nrobot:\n"
        "  a: {on: world, joint: planar, rod: {length: 2, material: f, section: {circle: "
        "{radius: 0.02}}, strain: rigid}}\n"
        "contacts: {w: {wheel: {on: a.tip, axis: y}}}\n"
        "loads: {p: {on: a.root, force: [3, 0.5, 0]}}\n"
        "fluid: {honey: {on: a, drag: {linear: [1, 2, 2]}}}\n"
        "probes: {v: {twist: a.root, in: body}, w: {reaction: w}, acc: {acceleration: a.root}, "
        "e: energy}\n"
        "study: [kinematic: {for: 1 ms, step: 1 ms}]\n",
        &o);
    // turning about the tip: 0.5 N times 2 m = 2 N s/m^2 times 8 m^3/3 omega
    const double omega = -0.5 * 2 / (2 * 8.0 / 3);
    assert_near(shown(&o, 0, 3), 1.5, 1e-12);
    assert_near(shown(&o, 0, 4), -2 * omega, 1e-12);
    assert_near(shown(&o, 0, 2), omega, 1e-12);
    // force across: 0.5 N + wheel = 2 N s/m^2 times the integral of the velocity, 2 m times 1 m
    assert_near(shown(&o, 0, 10), -0.5 - 2 * 2 * omega, 1e-12);
    // as the rod turns, the load's components do: v_x = (3 cos + 0.5 sin)/2
    assert_near(shown(&o, 0, 12), 0.25 * omega + 2 * omega * omega, 1e-9);
    snw_series_clear(&o.series);
}

// ---- against dynamic steps ----------------------------------------------------------------------

// Two axles: contacts and dynamics determine the motion. By the locomotion equations, with the
// multipliers of index 1 (adaptive) and of index 2 (generalized-alpha).
static void dynamic_steps_find_the_same_motion(void **state) {
    (void)state;
#define TWO                                                                                        \
    AXLES "contacts: {x: {wheel: {on: a, axis: y}}, y: {wheel: {on: B, axis: y}}}\n"               \
          "initial: {a: {rate: [0.2, 0, 0.1]}}\n"                                                  \
          "probes: {p: {position: a}, q: {effort: q}, e: energy, r: {reaction: y, in: body}}\n"
    static const char *const study[3] = {
        "study: [kinematic: {for: 2 s, step: 5 ms}]\n",
        "study: [dynamic: {for: 2 s, scheme: adaptive, tolerance: 1e-11}]\n",
        "study: [dynamic: {for: 2 s, scheme: generalized-alpha, rho: 0.8, step: 1 ms}]\n"};
    outcome o[3];
    for (int i = 0; i < 3; i++) {
        char text[3000];
        (void)snprintf(text, sizeof text, "%s%s", TWO, study[i]);
        execute(text, &o[i]);
        if (o[i].status != SNW_OK) fail_msg("%s", o[i].err.text);
    }
    for (int c = 0; c < 4; c++) {
        assert_near(last(&o[0], c), last(&o[1], c), 1e-9);
        assert_near(last(&o[0], c), last(&o[2], c), 2e-5);
    }
    assert_near(last(&o[0], 4), last(&o[1], 4), 1e-9); // kinetic energy
    for (int i = 0; i < 3; i++) snw_series_clear(&o[i].series);
}

// A blade engages a sledge that slides and swings its arm, and is released again: the class
// changes, and the impact conserves the momentum of the free motions. By the locomotion equations
// and by those of index 1.
static void contacts_are_activated_and_deactivated(void **state) {
    (void)state;
#define SLEDGE                                                                                     \
    "sinew: 1\ngravity: 0\n"                                                                       \
    "robot:\n  a: {on: world, joint: planar, body: {mass: 2, inertia: [1, 1, 0.3]}}\n"             \
    "  b: {on: a, pose: {xyz: [0.2, 0, 0]}, joint: revolute, body: {mass: 1, com: [0.1, 0, 0], "   \
    "inertia: [1, 1, 0.1]}}\n"                                                                     \
    "sites: {heel: {on: a, pose: {xyz: [-0.5, 0, 0]}}}\n"                                          \
    "actuators: {m: {joint: b, position: 0.7*sin(2*t)}}\n"                                         \
    "initial: {a: {rate: [1, 2, 0]}}\n"                                                            \
    "contacts: {blade: {wheel: {on: heel, axis: y}, when: t > 0.5 s and t < 1.1 s}}\n"             \
    "probes: {p: {pose: a}, v: {twist: a, in: body}, h: momentum, e: energy, s: {velocity: heel, " \
    "in: body}}\n"
    outcome o[2];
    execute(SLEDGE "study: [kinematic: {for: 1.5 s, step: 2 ms}]\n", &o[0]);
    execute(SLEDGE "study: [dynamic: {for: 1.5 s, scheme: rk4, step: 2 ms}]\n", &o[1]);
    for (int i = 0; i < 2; i++) {
        if (o[i].status != SNW_OK) fail_msg("%s", o[i].err.text);
    }
    for (int c = 0; c < o[0].series.ncolumn; c++) assert_near(last(&o[0], c), last(&o[1], c), 1e-8);
    for (int i = 0; i < 2; i++) snw_series_clear(&o[i].series);
}

// ---- inconsistent and singular models -----------------------------------------------------------

static void faults_are_named_before_damage(void **state) {
    (void)state;
    static const struct {
        const char *text, *said, *also;
    } fault[] = {
        // the axles meet in a point, and the laws are not consistent there
        {AXLES "contacts: {x: {wheel: {on: a, axis: y}}, y: {wheel: {on: B, axis: y}}, z: {wheel: "
               "{on: C, axis: y}}}\n" STEP,
         "singular", "'"},
        // four axles, two driven joints
        {AXLES "contacts: {x: {wheel: {on: a, axis: y}}, y: {wheel: {on: B, axis: y}}, z: {wheel: "
               "{on: C, axis: y}}, w: {wheel: {on: c, axis: y}}}\n" STEP,
         "contradicts", "slip"},
        {"sinew: 1\ngravity: 0\nmaterials: {m: {young: 1 MPa, poisson: 0.4, density: "
         "1000}}\nrobot: {r: {on: world, joint: planar, rod: {length: 1, "
         "section: {circle: {radius: 1 cm}}, material: m, strain: {bend_z: legendre 2}}}}\n" STEP,
         "coordinates that are not driven", "'r'"},
        {"sinew: 1\ngravity: 0\nrobot:\n  a: {on: world, joint: planar, body: {mass: 1, inertia: "
         "[1, 1, 1]}}\n  b: {on: a, joint: "
         "revolute, body: {mass: 1, inertia: [1, 1, 1]}}\nactuators: {f: {joint: b, position: "
         "free}}\n" STEP,
         "is passive", "'b'"},
    };
    for (size_t i = 0; i < sizeof fault / sizeof fault[0]; i++) {
        outcome o;
        execute(fault[i].text, &o);
        if (o.status == SNW_OK || !strstr(o.err.text, fault[i].said) ||
            !strstr(o.err.text, fault[i].also)) {
            fail_msg("%zu: %d '%s' instead of '%s'", i, o.status, o.err.text, fault[i].said);
        }
        snw_series_clear(&o.series);
    }
}

// ---- discrete and continuous --------------------------------------------------------------------

// Speed of the head of n links whose joints turn by the curvature at their positions, with wheels
// at the first, middle and last link.
static double chain_speed(int n) {
    char *text = malloc(200 * (size_t)n + 2000);
    size_t at = 0;
#define SAY(...) at += (size_t)snprintf(text + at, 200, __VA_ARGS__)
    SAY("sinew: 1\ngravity: 0\nparameters: {n: %d, h: 1.25/n}\nrobot:\n", n);
    SAY("  b(1): {on: world, joint: planar, body: {mass: 1, com: [h/2, 0, 0], inertia: [1, 1, "
        "1]}}\n");
    SAY("  b(k=2..n): {on: b(k-1), pose: {xyz: [h, 0, 0]}, joint: revolute, body: {mass: 1, com: ");
    SAY("[h/2, 0, 0], inertia: [1, 1, 1]}}\n");
    SAY("actuators: {m(k=2..n): {joint: b(k), position: 10*h*cos(2*pi*((k - 1)*h - 0.5*(t + "
        "0.3)))}}\n");
    SAY("sites: {w1: {on: b(1), pose: {xyz: [h/2, 0, 0]}}, w2: {on: b(n/2), pose: {xyz: [h/2, 0, "
        "0]}}, ");
    SAY("w3: {on: b(n), pose: {xyz: [h/2, 0, 0]}}}\n");
    SAY("contacts: {a: {wheel: {on: w1, axis: y}}, b: {wheel: {on: w2, axis: y}}, ");
    SAY("c: {wheel: {on: w3, axis: y}}}\n");
    SAY("study: [kinematic: {for: 10 ms, step: 10 ms}]\nprobes: {v: {velocity: w1, in: body}}\n");
#undef SAY
    outcome o;
    execute(text, &o);
    if (o.status != SNW_OK) fail_msg("%s", o.err.text);
    const double v = shown(&o, 0, 0);
    snw_series_clear(&o.series);
    free(text);
    return v;
}

// The error of links of length h against the rod is h^2, the more accurately the more links there
// are, up to a thousand.
static void many_links_are_a_rod(void **state) {
    (void)state;
    double before = fabs(chain_speed(32) + 0.5);
    for (int n = 64; n <= 1024; n *= 2) {
        const double e = fabs(chain_speed(n) + 0.5), order = log2(before / e);
        if (!(fabs(order - 2) < 4.0 / n)) fail_msg("%d links: order %g", n, order); // next: h^3
        before = e;
    }
    assert_true(before < 1e-5);
}

// Every fixed step is recorded unless `every` sets the interval; with adaptive steps, every
// hundredth of the motion.
static void every_fixed_step_is_shown(void **state) {
    (void)state;
    static const struct {
        const char *study;
        int frames;
    } cases[] = {{"kinematic: {for: 1 s, step: 0.1 s}", 11},
                 {"kinematic: {for: 1 s, step: 2 ms}", 501},
                 {"dynamic: {for: 1 s, step: 0.1 s, scheme: rk4}", 11},
                 {"kinematic: {for: 1 s, tolerance: 1e-6}", 101},
                 {"dynamic: {for: 1 s, scheme: adaptive}", 101},
                 {"kinematic: {for: 1 s, step: 0.1 s}]\nrecord: {every: 0.25 s}\nx-end: [", 5},
                 {"kinematic: {for: 1 s, step: 2 ms}]\nrecord: {every: 0.25 s}\nx-end: [", 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\nrobot: {arm: {on: world, joint: revolute, body: {mass: 1, com: "
                       "[0.3, 0, 0], inertia: [1, 1, 1]}}}\n"
                       "actuators: {m: {joint: arm, position: sin(t)}}\n"
                       "probes: {q: {value: arm}}\nstudy: [%s]\n",
                       cases[i].study);
        execute_ok(text, &o);
        if (o.series.nframe != cases[i].frames) {
            fail_msg("%s: %d frames", cases[i].study, o.series.nframe);
        }
        assert_near(last(&o, 0), sin(1), 1e-12);
        snw_series_clear(&o.series);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_robots_move_as_dense_equations_say),
        cmocka_unit_test(classes_are_found),
        cmocka_unit_test(resistance_moves_what_has_no_mass),
        cmocka_unit_test(a_wheel_and_a_force_on_a_rod_in_honey),
        cmocka_unit_test(dynamic_steps_find_the_same_motion),
        cmocka_unit_test(contacts_are_activated_and_deactivated),
        cmocka_unit_test(faults_are_named_before_damage),
        cmocka_unit_test(many_links_are_a_rod),
        cmocka_unit_test(every_fixed_step_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
