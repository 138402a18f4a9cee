// SPDX-License-Identifier: MIT
//
// Redundant contacts, theory.md 3.15: reactions have the minimum norm of all that balance the
// robot, the motion is that of independent contacts, by every scheme. A snake on many wheels is
// tested against a closed form and against prescribed shapes; contradictory rows are named.
#include "executed.h"
#include "floating_tree.h"
#include "sanitized.h"

#include "base/alloc.h"
#include "constraint/projection.h"
#include "dynamics/constraint.h"
#include "solve/dense.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- random trees -------------------------------------------------------------------------------

// A floating tree of n bodies, some joints driven, and `copies` wheels in a row on each wheeled
// body: of them two are independent in the plane, four in space, since they are parallel.
static void random_robot(dice *d, int n, int copies, bool planar, char *out, size_t size) {
    size_t at = 0;
#define SAY(...) at += (size_t)snprintf(out + at, size - at, __VA_ARGS__)
    SAY("sinew: 1\ngravity: [%g, %g, 0]\n", roll(d, -3, 3), roll(d, -3, 3));
    at += floating_tree(d, n, planar, out + at, size - at);
    SAY("actuators:\n  m1: {joint: b1, position: 0.4*sin(%g*t + 1)}\n", roll(d, 0.5, 2));
    const double axis = roll(d, -1, 1);
    SAY("sites:\n");
    for (int k = 0; k < copies; k++) {
        SAY("  s%d: {on: b%d, pose: {xyz: [%g, %g, %g]}}\n", k, n - 1, roll(d, -0.3, 0.3),
            roll(d, -0.3, 0.3), planar ? 0.0 : roll(d, -0.3, 0.3));
    }
    SAY("contacts:\n  w: {wheel: {on: b0, axis: [%g, 1, 0]}}\n", roll(d, -1, 1));
    for (int k = 0; k < copies; k++)
        SAY("  w%d: {wheel: {on: s%d, axis: [%g, 1, 0]}}\n", k, k, axis);
#undef SAY
}

static double largest(const double *x, int n) {
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

// Accelerations and multipliers satisfy the equations with all rows: forces balance and every row
// holds. Multipliers have minimum norm if they lie in the span of the columns of the rows for
// coordinates that are not driven.
static void check_shared(const snw_model *m, const snw_inputs *in, snw_state *s) {
    const int nv = m->nv, nr = m->nconstraint;
    snw_work *w;
    assert_int_equal(snw_work_create(m, &w), SNW_OK);
    double *bend = calloc((size_t)(2 * nr + nv * nr), sizeof *bend), *x = bend + nr, *A = x + nr;
    snw_residual(m, in, s, false, w);
    const double force = largest(s->lambda, nr);
    assert_true(force > 1e-3);
    for (int i = 0; i < nv; i++) assert_near(w->r[i], 0, 1e-9 * force);
    snw_constraints_rates(m, in, s, w, x, bend);
    for (int k = 0; k < nr; k++) {
        assert_near(x[k], 0, 1e-10);
        assert_near(bend[k], 0, 1e-8 * fmax(1, largest(s->a, nv)));
    }
    snw_tangent_pass(m, NULL, w);
    snw_constraints_jacobian(m, w);
    const int contacts = m->loop[m->nloop - 1].row + m->loop[m->nloop - 1].nrow;
    for (int k = 0; k < contacts; k++) {
        const snw_constraint row = snw_constraint_at(m, w, k);
        for (int j = 0; j < row.n; j++) {
            if (row.dof[j] != m->drive[0].dof) A[row.dof[j] * contacts + k] = row.C[j];
        }
        x[k] = s->lambda[k];
    }
    // l = A y, y by least squares
    double *y = calloc((size_t)(nv + nr), sizeof *y), *B = calloc((size_t)(nv * nr), sizeof *B);
    snw_arena scratch = {.size = snw_minimum_norm_scratch(contacts, nv)};
    scratch.base = malloc(scratch.size);
    for (int k = 0; k < contacts; k++) y[k] = x[k];
    for (int i = 0; i < nv * contacts; i++) B[i] = A[i];
    int rank;
    assert_int_equal(snw_minimum_norm(contacts, nv, B, 1e-10, &scratch, y, &rank), SNW_OK);
    assert_true(rank < contacts);
    for (int k = 0; k < contacts; k++) {
        double sum = 0;
        for (int i = 0; i < nv; i++) sum += A[i * contacts + k] * y[i];
        assert_near(sum, x[k], 1e-8 * force);
    }
    free(scratch.base);
    free(B);
    free(y);
    free(bend);
    snw_work_destroy(w);
}

static void reactions_have_minimum_norm(void **state) {
    (void)state;
    dice d = {29};
    for (int k = 0; k < 20; k++) {
        char text[4000];
        snw_error err;
        snw_document *doc;
        snw_desc *desc;
        snw_model *m;
        snw_inputs *in;
        snw_state *s;
        snw_projection *pr;
        random_robot(&d, 3 + k % 4, 5, k % 2 == 0, text, sizeof text);
        if (describe(text, &doc, &desc, &err) != SNW_OK) fail_msg("%s\n%s", text, err.text);
        if (snw_projection_compile(desc, &m, &err) != SNW_OK) fail_msg("%s\n%s", text, err.text);
        assert_int_equal(snw_inputs_create(m, &in), SNW_OK);
        assert_int_equal(snw_state_create(m, &s), SNW_OK);
        assert_int_equal(snw_projection_create(m, &pr), SNW_OK);
        state_random(m, &d, s);
        s->t = 0.3;
        snw_inputs_at(m, 0.3, in);
        s->q[m->drive[0].q] = in->drive[0].v;
        const size_t before = snw_alloc_count();
        if (snw_projection_velocities(pr, in, s, &err) != SNW_OK) fail_msg("%s", err.text);
        if (snw_projection_accelerations(pr, in, s, &err) != SNW_OK) fail_msg("%s", err.text);
        assert_int_equal(snw_alloc_count(), before);
        check_shared(m, in, s);
        snw_projection_destroy(pr);
        snw_state_destroy(s);
        snw_inputs_destroy(in);
        snw_model_destroy(m);
        release(doc, desc);
    }
}

// ---- motion -------------------------------------------------------------------------------------

static const char *const schemes[] = {"generalized-alpha, rho: 0.8, step: 10 ms",
                                      "hht, rho: 0.8, step: 10 ms",
                                      "newmark, step: 10 ms",
                                      "bdf2, step: 10 ms",
                                      "euler, step: 10 ms",
                                      "rk4, step: 10 ms",
                                      "adaptive, tolerance: 1e-10",
                                      "gauss4, step: 10 ms",
                                      "gauss6, step: 20 ms",
                                      "radau5, step: 20 ms",
                                      "kinematic"};
enum { NSCHEME = sizeof schemes / sizeof schemes[0] };

static void say_study(const char *scheme, double length, char *out, size_t size) {
    if (strcmp(scheme, "kinematic") == 0) {
        (void)snprintf(out, size, "study: [kinematic: {for: %g, step: 10 ms}]\n", length);
    } else {
        (void)snprintf(out, size, "study: [dynamic: {for: %g, scheme: %s}]\n", length, scheme);
    }
}

// A car with four wheels and one with two: the same motion, and front and rear wheels together
// carry the same as single ones.
static void more_wheels_change_nothing(void **state) {
    (void)state;
#define CAR                                                                                        \
    "sinew: 1\ngravity: 0\n"                                                                       \
    "robot:\n"                                                                                     \
    "  car: {on: world, joint: planar, body: {mass: 10, com: [0.1, 0, 0], inertia: [1, 1, 1]}}\n"  \
    "  arm: {on: car, joint: revolute, body: {mass: 2, com: [0.5, 0, 0], inertia: [1, 1, 0.2]}}\n" \
    "  fork: {on: car, pose: {xyz: [1, 0, 0]}, joint: revolute, body: {mass: 1, inertia: [1, 1, "  \
    "0.1]}}\n"                                                                                     \
    "sites: {l: {on: car, pose: {xyz: [0, 0.3, 0]}}, r: {on: car, pose: {xyz: [0, -0.3, 0]}}, "    \
    "fl: {on: fork, pose: {xyz: [0, 0.1, 0]}}, fr: {on: fork, pose: {xyz: [0, -0.1, 0]}}}\n"       \
    "actuators: {steer: {joint: fork, position: 0.3*sin(t)}, wave: {joint: arm, position: "        \
    "sin(2*t)}}\n"                                                                                 \
    "initial: {car: {rate: [1, 0, 0]}}\n"
#define ONE "contacts: {a: {wheel: {on: l, axis: y}}, b: {wheel: {on: fl, axis: y}}}\n"
#define TWO                                                                                        \
    "contacts: {a: {wheel: {on: l, axis: y}}, b: {wheel: {on: fl, axis: y}}, c: {wheel: {on: r, "  \
    "axis: y}}, d: {wheel: {on: fr, axis: y}}}\n"
#define SEEN                                                                                       \
    "probes: {p: {pose: car}, t: {effort: steer}, a: {reaction: a, in: body}, b: {reaction: b, "   \
    "in: body}, e: energy}\nrecord: {every: 0.1 s}\n"
    for (int i = 0; i < NSCHEME; i++) {
        char study[200], text[3000];
        outcome one, two;
        say_study(schemes[i], 2, study, sizeof study);
        (void)snprintf(text, sizeof text, "%s%s%s%s", CAR, ONE, SEEN, study);
        execute_ok(text, &one);
        (void)snprintf(text, sizeof text, "%s%s%s%s", CAR, TWO, SEEN, study);
        execute_ok(text, &two);
        assert_int_equal(two.warnings, 0);
        for (int f = 0; f < one.series.nframe; f++) {
            for (int c = 0; c < 19; c++) assert_near(shown(&one, f, c), shown(&two, f, c), 1e-8);
            // each wheel of a pair carries the same
            assert_near(shown(&one, f, 24), 2 * shown(&two, f, 24), 2e-7);
            assert_near(shown(&one, f, 30), 2 * shown(&two, f, 30), 2e-7);
        }
        snw_series_clear(&one.series);
        snw_series_clear(&two.series);
    }
}

// A snake with a travelling wave of curvature slides along its track: eight wheels, of which three
// suffice. Speed and position in closed form at the order of every scheme, reactions as with
// prescribed shapes, and no slip.
static void a_snake_on_many_wheels_runs(void **state) {
    (void)state;
#define SNAKE                                                                                      \
    "sinew: 1\ngravity: 0\nparameters: {V: -0.5, A: 6}\n"                                          \
    "materials: {flesh: {young: 1, poisson: 0.5, density: 1000}}\n"                                \
    "robot: {snake: {on: world, joint: planar, rod: {length: 1.25, section: {circle: {radius: 20 " \
    "mm}}, material: flesh, nodes: 120, magnus: 6, strain: {bend_z: A*cos(2*pi*(x + V*t))}}}}\n"   \
    "contacts: {w(i=1..8): {wheel: {on: \"snake@(i*11)%\", axis: y}}}\n"                           \
    "probes: {p: {pose: snake.root}, v: {velocity: snake@44%, in: body}, r(i=1..8): {reaction: "   \
    "w(i), in: body}, e: energy}\nrecord: {every: 0.1 s}\n"
    outcome want;
    char study[200], text[3000];
    say_study("kinematic", 1, study, sizeof study);
    (void)snprintf(text, sizeof text, "%s%s", SNAKE, study);
    execute_ok(text, &want);
    for (int i = 0; i < NSCHEME - 1; i += AMONG(5, 1)) {
        const bool fine = i >= 5;
        outcome o;
        say_study(schemes[i], 1, study, sizeof study);
        (void)snprintf(text, sizeof text, "%s%s", SNAKE, study);
        execute_ok(text, &o);
        for (int f = 0; f < o.series.nframe; f++) {
            for (int c = 0; c < 19; c++) {
                const double off = fine ? 1e-7 : i == 4 ? 5e-2 : 5e-4;
                assert_near(shown(&o, f, c), shown(&want, f, c), off);
            }
            assert_near(shown(&o, f, 20), 0, 1e-10); // at the fourth wheel
            for (int k = 0; k < 8 && fine; k++) {
                assert_near(shown(&o, f, 26 + 6 * k), shown(&want, f, 26 + 6 * k), 1e-7);
            }
        }
        snw_series_clear(&o.series);
    }
    double error[2];
    for (int n = 0; n < 2; n++) {
        outcome o;
        (void)snprintf(text, sizeof text,
                       "%sstudy: [dynamic: {for: 1 s, scheme: generalized-alpha, rho: 0.8, step: "
                       "%g ms}]\n",
                       SNAKE, n ? 10.0 : 20.0);
        execute_ok(text, &o);
        error[n] = hypot(last(&o, 0) - last(&want, 0), last(&o, 1) - last(&want, 1));
        snw_series_clear(&o.series);
    }
    assert_near(log2(error[0] / error[1]), 2, 0.1);
    snw_series_clear(&want.series);
}

// Ten links, each with an axle that is steered so that all of them are consistent with one motion
// of the head, v = (0.3, 0.05 sin t), w = 0.2 cos t: the velocity of link k follows from that of
// the one before it, v_k = R(-r)(v + w x l) and w_k = w + r', and its axle is perpendicular to it.
// Ten rows for three unknowns; any three of them may become dependent. The head moves exactly by
// the laws with every scheme, and the reactions of the axles are those of prescribed shapes.
enum { LINKS = 10 };

static void say_snake(char *out, size_t size) {
    size_t at = 0;
#define SAY(...) at += (size_t)snprintf(out + at, size - at, __VA_ARGS__)
    SAY("sinew: 1\ngravity: 0\nparameters:\n  l: 0.1\n  r(k): 0.4*sin(t + 0.7*k)\n");
    SAY("  x1: 0.3\n  y1: 0.05*sin(t)\n  w1: 0.2*cos(t)\n");
    for (int k = 2; k <= LINKS;
         k++) { // at the joint, its arm l behind the first one's axle, 2 l behind the others'
        const int b = k - 1;
        SAY("  s%d: y%d + %s*w%d\n", k, b, b == 1 ? "l" : "2*l", b);
        SAY("  x%d: cos(r(%d))*x%d + sin(r(%d))*s%d\n", k, k, b, k, k);
        SAY("  y%d: cos(r(%d))*s%d - sin(r(%d))*x%d\n", k, k, k, k, b);
        SAY("  w%d: w%d + 0.4*cos(t + 0.7*%d)\n", k, b, k);
    }
    SAY("robot:\n  k1: {on: world, joint: planar, body: {mass: 0.25, inertia: [1, 1, 1e-3]}}\n");
    for (int k = 2; k <= LINKS; k++) {
        SAY("  k%d: {on: k%d, pose: {xyz: [%s, 0, 0]}, joint: revolute, body: {mass: 0.25, com: "
            "[l, "
            "0, 0], inertia: [1, 1, 1e-3]}}\n",
            k, k - 1, k == 2 ? "l" : "2*l");
    }
    for (int k = 1; k <= LINKS; k++) {
        SAY("  a%d: {on: k%d, pose: {xyz: [%s, 0, 0]}, joint: revolute, body: {mass: 0.05, "
            "inertia: "
            "[1, 1, 1e-5]}}\n",
            k, k, k == 1 ? "0" : "l");
    }
    SAY("actuators:\n");
    for (int k = 2; k <= LINKS; k++) SAY("  m%d: {joint: k%d, position: r(%d)}\n", k, k, k);
    for (int k = 1; k <= LINKS; k++) {
        SAY("  t%d: {joint: a%d, position: \"atan((y%d + %s*w%d)/x%d)\"}\n", k, k, k,
            k == 1 ? "0" : "l", k, k);
    }
    SAY("contacts:\n");
    for (int k = 1; k <= LINKS; k++) SAY("  g(%d): {wheel: {on: a%d, axis: y}}\n", k, k);
#undef SAY
}

static void a_steered_snake_moves_as_its_axles_require(void **state) {
    (void)state;
    char snake[8000], study[200], text[9000];
    outcome want = {0};
    say_snake(snake, sizeof snake);
    for (int i = NSCHEME - 1; i >= 0; i -= AMONG(3, 1)) {
        outcome o;
        say_study(schemes[i], 1, study, sizeof study);
        (void)snprintf(text, sizeof text,
                       "%sinitial: {k1: {rate: [0.3, 0, 0.2]}}\nprobes: {v: {twist: k1, in: body}, "
                       "p: {pose: k1}, f(k=1..%d): {reaction: g(k), in: body}, e: energy}\nrecord: "
                       "{every: 0.1 s}\n%s",
                       snake, LINKS, study);
        execute(text, &o);
        if (o.status != SNW_OK) fail_msg("%s: %s\n%s", schemes[i], o.err.text, text);
        for (int f = 0; f < o.series.nframe; f++) {
            const double t = o.series.t[f];
            assert_near(shown(&o, f, 2), 0.2 * cos(t), 1e-9);
            assert_near(shown(&o, f, 3), 0.3, 1e-9);
            assert_near(shown(&o, f, 4), 0.05 * sin(t), 1e-9);
            for (int k = 0; k < LINKS && i >= 5 && i < NSCHEME - 1; k++) {
                const int c = 6 + 19 + 6 * k + 4;
                assert_near(shown(&o, f, c), shown(&want, f, c), 1e-8);
            }
        }
        if (i == NSCHEME - 1) {
            want = o;
        } else {
            snw_series_clear(&o.series);
        }
    }
    snw_series_clear(&want.series);
}

// Three links locked along a circle, each with an axle through its centre: two rows determine the
// motion, and the train moves on the circle at its speed. The third axle is independent nearby, so
// that no rule of the model detects the redundancy, only the configuration.
static void a_locked_train_runs_round(void **state) {
    (void)state;
    for (int i = 0; i < NSCHEME; i++) {
        char study[200], text[3000];
        outcome o;
        say_study(schemes[i], 2, study, sizeof study);
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\nparameters: {l: 0.1, bend: 0.3}\n"
            "robot:\n"
            "  a: {on: world, joint: planar, body: {mass: 1, inertia: [1, 1, 0.01]}}\n"
            "  b: {on: a, pose: {xyz: [l, 0, 0]}, joint: revolute, body: {mass: 1, com: [l, 0, 0], "
            "inertia: [1, 1, 0.01]}}\n"
            "  c: {on: b, pose: {xyz: [2*l, 0, 0]}, joint: revolute, body: {mass: 1, com: [l, 0, "
            "0], inertia: [1, 1, 0.01]}}\n"
            "sites: {B: {on: b, pose: {xyz: [l, 0, 0]}}, C: {on: c, pose: {xyz: [l, 0, 0]}}}\n"
            "actuators: {p: {joint: b, position: bend}, q: {joint: c, position: bend}}\n"
            "contacts: {x: {wheel: {on: a, axis: y}}, y: {wheel: {on: B, axis: y}}, z: {wheel: "
            "{on: C, axis: y}}}\n"
            "initial: {a: {rate: [0.2, 0, 0.2*tan(bend/2)/l]}, b: bend, c: bend}\n"
            "probes: {v: {twist: a, in: body}, e: energy, x: {reaction: x, in: body}, y: "
            "{reaction: y, in: body}, z: {reaction: z, in: body}}\nrecord: {every: 0.1 s}\n%s",
            study);
        execute(text, &o);
        if (o.status != SNW_OK) fail_msg("%s: %s", schemes[i], o.err.text);
        const double v = 0.2, w = v * tan(0.15) / 0.1;
        const double off = i < 4 ? 1e-5 : i == 4 ? 1e-3 : 1e-9; // accuracy of the schemes
        for (int f = 0; f < o.series.nframe; f++) {
            assert_near(shown(&o, f, 2), w, off);
            assert_near(shown(&o, f, 3), v, off);
            assert_near(shown(&o, f, 4), 0, 1e-10);
        }
        // Towards the centre of the circle each could carry m v w, the force its own link needs.
        // Forces (1, -2 cos(bend), 1) through the centre are in balance by themselves; the former
        // less their projection on the latter have minimum norm
        const double cosine = cos(0.3), part = (2 - 2 * cosine) / (2 + 4 * cosine * cosine);
        const double bears[3] = {1 - part, 1 + 2 * cosine * part, 1 - part};
        for (int k = 0; k < 3; k++) {
            assert_near(last(&o, o.series.ncolumn - 2 - 6 * k), bears[k] * v * w, 10 * off);
        }
        snw_series_clear(&o.series);
    }
}

// Three links in one line: their axles are parallel and do not determine the motion along it; the
// joints begin to turn. If a velocity exists with which the rows continue to hold, the motion
// starts with it, as with prescribed shapes; otherwise an error is reported.
static void singular_starts_have_their_limit(void **state) {
    (void)state;
    static const struct {
        const char *p, *q, *said;
    } law[] = {{"0.5*sin(t)", "-0.5*sin(t)", NULL},
               {"0.5*(1 - cos(t))", "0.2*(1 - cos(t))", "singular"},
               {"0.5*sin(t)", "0.5*sin(t)", "contradicts"}};
    static const int some[] = {0, 3, 5, 7, 8, NSCHEME - 1}; // error control does not see a limit
    for (size_t n = 0; n < sizeof law / sizeof law[0]; n++) {
        double want[2] = {0};
        for (size_t i = sizeof some / sizeof some[0]; i-- > 0;) {
            char study[200], text[2500];
            outcome o;
            say_study(schemes[some[i]], 0.5, study, sizeof study);
            (void)snprintf(
                text, sizeof text,
                "sinew: 1\ngravity: 0\nparameters: {l: 0.1}\nrobot:\n"
                "  a: {on: world, joint: planar, body: {mass: 1, inertia: [1, 1, 0.01]}}\n"
                "  b: {on: a, pose: {xyz: [l, 0, 0]}, joint: revolute, body: {mass: 1, com: [l, 0, "
                "0], inertia: [1, 1, 0.01]}}\n"
                "  c: {on: b, pose: {xyz: [2*l, 0, 0]}, joint: revolute, body: {mass: 1, com: [l, "
                "0, 0], inertia: [1, 1, 0.01]}}\n"
                "sites: {B: {on: b, pose: {xyz: [l, 0, 0]}}, C: {on: c, pose: {xyz: [l, 0, 0]}}}\n"
                "actuators: {p: {joint: b, position: \"%s\"}, q: {joint: c, position: \"%s\"}}\n"
                "contacts: {x: {wheel: {on: a, axis: y}}, y: {wheel: {on: B, axis: y}}, z: {wheel: "
                "{on: C, axis: y}}}\nprobes: {v: {twist: a, in: body}}\n%s",
                law[n].p, law[n].q, study);
            execute(text, &o);
            if (law[n].said && (o.status == SNW_OK || !strstr(o.err.text, law[n].said))) {
                fail_msg("%s: '%s'", schemes[some[i]], o.err.text);
            } else if (!law[n].said && o.status != SNW_OK) {
                fail_msg("%s: %s", schemes[some[i]], o.err.text);
            }
            if (!law[n].said && some[i] == NSCHEME - 1)
                want[0] = last(&o, 2), want[1] = last(&o, 3);
            if (!law[n].said) assert_near(last(&o, 2), want[0], 1e-8);
            if (!law[n].said) assert_near(last(&o, 3), want[1], 1e-8);
            snw_series_clear(&o.series);
        }
    }
}

// Two blades on one axle engage a sledge: one impact, whatever their number.
static void blades_are_activated_together(void **state) {
    (void)state;
    double heat[2];
    for (int n = 1; n <= 2; n++) {
        for (int i = 0; i < NSCHEME; i++) {
            char study[200], text[2000];
            outcome o;
            say_study(schemes[i], 1, study, sizeof study);
            (void)snprintf(
                text, sizeof text,
                "sinew: 1\ngravity: 0\n"
                "robot: {s: {on: world, joint: planar, body: {mass: 2, inertia: [1, 1, 0.3]}}}\n"
                "sites: {k(i=1..2): {on: s, pose: {xyz: [-0.5, 0.1*i, 0]}}}\n"
                "initial: {s: {rate: [1, 2, 0]}}\n"
                "contacts: {b(i=1..%d): {wheel: {on: k(i), axis: y}, when: t > 0.5 s}}\n"
                "probes: {v: {twist: s, in: body}, e: energy}\n%s",
                n, study);
            execute_ok(text, &o);
            const double p = -2 / (1 / 2.0 + 0.25 / 0.3);
            heat[n - 1] = 0.5 * p * p * (1 / 2.0 + 0.25 / 0.3);
            int c = 6; // kinetic, elastic, gravity, dissipated
            assert_near(last(&o, c + 3), heat[n - 1], 1e-9);
            snw_series_clear(&o.series);
        }
    }
    assert_near(heat[0], heat[1], 0);
}

// ---- inconsistent and singular models -----------------------------------------------------------

// Four axles, of which the last one is steered away from the others' centre after a while; and one
// that becomes active where its row contradicts the others.
static void contradictions_are_named(void **state) {
    (void)state;
    static const char *const law[] = {"0.2*max(t - 0.43, 0)^2", "0"};
    static const char *const when[] = {"on", "t > 0.43 s"};
    for (int n = 0; n < 2; n++) {
        for (int i = 0; i < NSCHEME; i++) {
            char study[200], text[2000];
            outcome o;
            say_study(schemes[i], 1, study, sizeof study);
            (void)snprintf(
                text, sizeof text,
                "sinew: 1\ngravity: 0\n"
                "robot:\n  a: {on: world, joint: planar, body: {mass: 1, inertia: [1, 1, 1]}}\n"
                "  b: {on: a, pose: {xyz: [0.4, 0, 0]}, joint: revolute, body: {mass: 1, inertia: "
                "[1, 1, 1]}}\n"
                "sites: {c: {on: a, pose: {xyz: [-0.4, 0, 0]}}, d: {on: a, pose: {xyz: [-0.2, "
                "0, 0]}}}\n"
                "actuators: {m: {joint: b, position: \"%s\"}, go: {joint: a, rate: [0.3, free, "
                "free]}}\n"
                "contacts: {one: {wheel: {on: a, axis: y}}, two: {wheel: {on: c, axis: y}}, last: "
                "{wheel: {on: %s, axis: %s}, when: %s}}\n%s",
                law[n], n ? "d" : "b", n ? "[0.5, 1, 0]" : "y", when[n], study);
            snw_document *doc;
            snw_desc *desc;
            snw_run *run = NULL;
            snw_status s = describe(text, &doc, &desc, &o.err);
            if (s != SNW_OK) fail_msg("%s", o.err.text);
            s = snw_run_create(desc, "main", &run, &o.err);
            snw_run_destroy(run);
            release(doc, desc);
            if (s == SNW_OK) {
                execute(text, &o);
                s = o.status;
                snw_series_clear(&o.series);
            }
            if (s == SNW_OK || !strstr(o.err.text, "contradicts")) {
                fail_msg("%d %s: '%s'", n, schemes[i], s == SNW_OK ? "runs" : o.err.text);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reactions_have_minimum_norm),
        cmocka_unit_test(more_wheels_change_nothing),
        cmocka_unit_test(a_snake_on_many_wheels_runs),
        cmocka_unit_test(a_steered_snake_moves_as_its_axles_require),
        cmocka_unit_test(a_locked_train_runs_round),
        cmocka_unit_test(singular_starts_have_their_limit),
        cmocka_unit_test(blades_are_activated_together),
        cmocka_unit_test(contradictions_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
