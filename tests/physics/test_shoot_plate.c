// SPDX-License-Identifier: MIT
//
// Rods joined by a body, with both engines from one text: equilibria and motions converge to each
// other as both are refined, at the orders of their methods; symmetry and weight; time formulas;
// steps without allocation; refused models.
#include "executed.h"

#include "heap_calls.h"
#include "sanitized.h"
#include "sinew/sinew.h"

#include <math.h>
#include <stdio.h>

#define MOST 8192

// ---- a plate on variable-length legs ------------------------------------------------------------

// Till's Stewart-Gough robot, damped, with different feeds of its legs. %s: laws of the feeds,
// functions of a leg's strains; study.
static const char stewart_text[] =
    "sinew: 1\ngravity: [0, 0, -9.81]\nparameters:\n"
    "  C: 87 mm\n"
    "  A: [-10 deg, 10 deg, 110 deg, 130 deg, 230 deg, 250 deg]\n"
    "  B: [-50 deg, 50 deg, 70 deg, 170 deg, 190 deg, 290 deg]\n"
    "  D: [20 mm, 20 mm, -1 mm, 19 mm, 18 mm, 0 mm]\n"
    "materials: {steel: {young: 207 GPa, poisson: 0.3, density: 8000, damping: 20 ms}}\n"
    "robot:\n"
    "  leg(k=1..6): {on: world, pose: {xyz: [C*cos(A(k)), C*sin(A(k)), 0], x: z},\n"
    "    rod: {length: 0.504238, section: {circle: {radius: 1 mm}}, material: steel, strain: "
    "cosserat legendre %d, magnus: 6}}\n"
    "  plate: {on: world, pose: {xyz: [0, 0, 0.5]}, joint: free, body: {mass: 92.1 g, inertia: "
    "[1.91e-4, 1.91e-4, 3.81e-4]}}\n"
    "sites: {hole(k=1..6): {on: plate, pose: {xyz: [C*cos(B(k)), C*sin(B(k)), 0], x: z}}}\n"
    "loops: {clamp(k=1..6): {join: [leg(k).tip, hole(k)], as: fixed}}\n"
    "actuators: {feed(k=1..6): {feed: leg(k), position: '0.504238 + D(k)*%s'}}\n"
    "loads: {pull: {on: plate, force: ['0.5*poly5(t, 0 s, 0.1 s)', 0, 0]}}\n"
    "probes: {plate: {position: plate}, base(k=1..6): {reaction: leg(k)}, push(k=1..6): "
    "{effort: feed(k)}, clamp: {reaction: clamp(2)}, v: {twist: plate}}\n"
    "study: [%s]\n";
enum { PLATE = 0, BASE = 3, PUSH = 39, CLAMP = 45, TWIST = 51, STEWART_COLUMNS = 57 };

static void stewart(int functions, const char *feed, const char *study, outcome *o) {
    char text[MOST];
    const int n = snprintf(text, sizeof text, stewart_text, functions, feed, study);
    assert_true(n > 0 && (size_t)n < sizeof text);
    execute_ok(text, o);
    assert_int_equal(o->series.ncolumn, STEWART_COLUMNS);
}

// The largest difference of columns at the end.
static double apart(const outcome *a, const outcome *b, int first, int n) {
    double worst = 0;
    for (int i = first; i < first + n; i++) worst = fmax(worst, fabs(last(a, i) - last(b, i)));
    return worst;
}

static void clear(outcome *a, outcome *b) {
    snw_series_clear(&a->series);
    snw_series_clear(&b->series);
}

// Shooting converges with order four, the strain engine faster than any power.
static void equilibria_converge(void **state) {
    (void)state;
    ONLY_DIGITS();
    double place[3], force[3], strain[3];
    outcome a;
    stewart(12, "1", "static: {tolerance: 1e-12}", &a);
    for (int k = 0; k < 3; k++) {
        char how[120];
        outcome b, c;
        (void)snprintf(how, sizeof how,
                       "static: {engine: shooting, tolerance: 1e-12, shooting: {points: %d}}",
                       (10 << k) + 1);
        stewart(4, "1", how, &b);
        stewart(2 + 2 * k, "1", "static: {tolerance: 1e-12}", &c);
        place[k] = apart(&a, &b, PLATE, 3);
        force[k] = apart(&a, &b, BASE, 36);
        strain[k] = apart(&a, &c, BASE, 36);
        assert_true(b.totals.worst_residual <= 1e-12);
        clear(&b, &c);
    }
    snw_series_clear(&a.series);
    assert_near(log2(place[1] / place[2]) / 4, 1, 0.05);
    assert_near(log2(force[1] / force[2]) / 4, 1, 0.1);
    assert_true(strain[1] < 0.1 * strain[0] && strain[2] < 0.1 * strain[1]);
}

// Both engines with a formula of order two: poses, velocities, forces and efforts converge to the
// same values.
static void motions_with_variable_length_converge(void **state) {
    (void)state;
    ONLY_DIGITS();
    static const char feed[] = "poly5(t, 0 s, 0.3 s)";
    double speed[3], force[3], effort[3];
    for (int k = 0; k < 3; k++) {
        const double h = 8.0 / (1 << k);
        char how[300];
        outcome a, b;
        (void)snprintf(how, sizeof how,
                       "static: {}, dynamic: {for: 0.16 s, step: %g ms, scheme: bdf2, start: rest}",
                       h);
        stewart(8, feed, how, &a);
        (void)snprintf(how, sizeof how,
                       "static: {engine: shooting}, dynamic: {for: 0.16 s, step: %g ms, engine: "
                       "shooting, shooting: {points: 81}}",
                       h);
        stewart(4, feed, how, &b);
        speed[k] = apart(&a, &b, TWIST, 6);
        force[k] = fmax(apart(&a, &b, BASE, 36), apart(&a, &b, CLAMP, 6));
        effort[k] = apart(&a, &b, PUSH, 6);
        assert_true(b.totals.worst_residual <= 1e-10);
        clear(&a, &b);
    }
    for (int k = 0; k < 2; k++) {
        assert_near(log2(force[k] / force[k + 1]) / 2, 1, 0.05);
        assert_near(log2(effort[k] / effort[k + 1]) / 2, 1, 0.05);
    }
    // velocities reach the error of the points along the rods
    assert_true(speed[1] < 0.35 * speed[0] && speed[2] < 1e-6 && force[2] < 2e-5);
}

// A formula of order p, from rest: each halving of the step divides the error of the plate's
// velocity by 2^p. The trapezoidal rule does not damp noise; its steps are longer.
static void formulas_have_their_orders(void **state) {
    (void)state;
    ONLY_DIGITS();
    static const struct {
        const char *scheme;
        int order;
        double step; // ms
    } formula[] = {{"euler", 1, 4},
                   {"bdf2", 2, 4},
                   {"trapezoidal", 2, 8},
                   {"bdf-alpha, alpha: -0.2", 2, 4},
                   {"bdf3", 3, 4}};
    for (size_t i = 0; i < sizeof formula / sizeof formula[0]; i++) {
        double x[3];
        for (int k = 0; k < 3; k++) {
            char how[300];
            outcome o;
            (void)snprintf(
                how, sizeof how,
                "static: {engine: shooting, shooting: {points: 21}}, dynamic: {for: 0.16 "
                "s, step: %g ms, scheme: %s, engine: shooting, shooting: {points: 21}}",
                formula[i].step / (1 << k), formula[i].scheme);
            stewart(4, "0", how, &o);
            x[k] = last(&o, TWIST + 3);
            snw_series_clear(&o.series);
        }
        assert_near(log2((x[0] - x[1]) / (x[1] - x[2])) / formula[i].order, 1, 0.08);
    }
}

// ---- hinges and driven feet ---------------------------------------------------------------------

// Two limbs turned by motors at their feet, with a hinge at their tips, one of which carries a
// tool; bodies and loads along them.
static void motions_of_hinged_limbs_converge(void **state) {
    (void)state;
    ONLY_DIGITS();
    static const char text[] =
        "sinew: 1\ngravity: [0, -3, -2]\n"
        "materials: {m: {young: 2 GPa, poisson: 0.3, density: 7800, damping: 10 ms}}\n"
        "robot:\n"
        "  limb(k=1..2): {on: world, pose: {xyz: [0.4*(k - 1.5), 0, 0]}, joint: revolute, rod: "
        "{length: 0.5, section: {circle: {radius: 4 mm}}, material: m, strain: cosserat cubic, "
        "elements: 5}}\n"
        "  tool: {on: limb(1).tip, pose: {xyz: [20 mm, 0, 0]}, body: {mass: 30 g, sphere: {radius: "
        "5 mm}}}\n"
        "  bead: {on: limb(2)@0.2 m, pose: {xyz: [0, 10 mm, 0]}, body: {mass: 10 g}}\n"
        "initial: {limb(k=1..2): 90 deg}\n"
        "loops: {tip: {join: [limb(1).tip, limb(2).tip], as: revolute}}\n"
        "actuators:\n"
        "  motor(1): {joint: limb(1), position: \"70 deg + 20 deg*poly5(t, 0 s, 0.2 s)\"}\n"
        "  motor(2): {joint: limb(2), position: \"110 deg + 5 deg*poly5(t, 0 s, 0.2 s)\"}\n"
        "loads:\n"
        "  push: {on: tool, force: [0, 0, 0.2*sin(20*t)]}\n"
        "  pull: {on: limb(1)@0.3 m, force: [0, 0.1, 0.1], frame: body}\n"
        "  wind: {along: limb(2), force: [0.3, 0, 0.1]}\n"
        "probes: {tip: {position: limb(1).tip}, other: {position: limb(2).tip}, hinge: {reaction: "
        "tip}, motor(k=1..2): {effort: motor(k)}, foot: {reaction: limb(1)}, tool: {reaction: "
        "tool}, bead: {acceleration: bead}, w: {wrench: limb(2)@0.1 m}}\n"
        "study: [static: {%s}, dynamic: {for: 0.2 s, step: %g ms, scheme: bdf2, %s}]\n";
    enum { TIP = 0, OTHER = 3, HINGE = 6, FORCES = 24, COLUMNS = 38 };
    double place[2], force[2];
    for (int k = 0; k < 2; k++) {
        char full[MOST];
        outcome a, b;
        const double h = 2.0 / (1 << k);
        (void)snprintf(full, sizeof full, text, "", h, "start: rest");
        execute_ok(full, &a);
        (void)snprintf(full, sizeof full, text, "engine: shooting, shooting: {points: 61}", h,
                       "engine: shooting, shooting: {points: 61}");
        execute_ok(full, &b);
        assert_int_equal(a.series.ncolumn, COLUMNS);
        for (int i = 0; i < COLUMNS; i++) assert_near(shown(&b, 0, i), shown(&a, 0, i), 2e-6);
        place[k] = apart(&a, &b, TIP, 6);
        force[k] = apart(&a, &b, HINGE, FORCES);
        for (int i = 0; i < 3; i++) assert_near(last(&b, TIP + i), last(&b, OTHER + i), 1e-9);
        assert_true(b.totals.worst_residual <= 1e-10);
        clear(&a, &b);
    }
    assert_near(log2(place[0] / place[1]) / 2, 1, 0.1);
    assert_near(log2(force[0] / force[1]) / 2, 1, 0.1);
}

// ---- legs of any number -------------------------------------------------------------------------

// A plate on n steel legs that lean in turns, clamped or with spherical joints.
static void crown(int n, const char *as, const char *study, outcome *o) {
    char text[MOST];
    (void)snprintf(text, sizeof text,
                   "sinew: 1\ngravity: [0, 0, -9.81]\nmaterials: {steel: {young: 200 GPa, poisson: "
                   "0.3, density: 7800}}\n"
                   "robot:\n"
                   "  leg(k=1..%d): {on: world, pose: {xyz: [0.1*cos(2*pi*k/%d), "
                   "0.1*sin(2*pi*k/%d), 0], x: z}, rod: {length: 0.4, section: {circle: "
                   "{radius: 1 mm}}, material: steel, strain: kirchhoff legendre 4}}\n"
                   "  plate: {on: world, pose: {xyz: [0, 0, 0.4]}, joint: free, body: {mass: "
                   "0.1, cylinder: {radius: 0.12, length: 5 mm}}}\n"
                   "sites: {hole(k=1..%d): {on: plate, pose: {xyz: [0.1*cos(2*pi*k/%d + 0.4), "
                   "0.1*sin(2*pi*k/%d + 0.4), 0], x: z}}}\n"
                   "loops: {tie(k=1..%d): {join: [leg(k).tip, hole(k)], as: %s}}\n"
                   "loads: {push: {on: plate, force: [0, 0, -2], torque: [0, 0, 0.01]}}\n"
                   "probes: {plate: {position: plate}, base(k=1..%d): {reaction: leg(k)}, q: "
                   "{rotation: plate}}\nstudy: [%s]\n",
                   n, n, n, n, n, n, n, as, n, study);
    execute_ok(text, o);
}

// Every leg carries the same load; together they carry plate, load and their own weight.
static void legs_share_the_weight(void **state) {
    (void)state;
    static const int counts[] = {2, 3, 7, 12};
    static const char *const joint[] = {"fixed", "fixed", "spherical", "fixed"};
    for (int c = 0; c < 4; c++) {
        outcome o;
        crown(counts[c], joint[c],
              "static: {engine: shooting, tolerance: 1e-12, shooting: {points: 31}}", &o);
        const double leg = 7800 * acos(-1) * 1e-6 * 0.4, all = (0.1 + counts[c] * leg) * 9.81 + 2;
        double sum[3] = {0, 0, 0}, moment = 0;
        for (int k = 0; k < counts[c]; k++) {
            const double a = 2 * acos(-1) * (k + 1) / counts[c];
            const int at = 3 + 6 * k;
            for (int i = 0; i < 3; i++) sum[i] += last(&o, at + 3 + i);
            moment +=
                last(&o, at + 2) + 0.1 * (cos(a) * last(&o, at + 4) - sin(a) * last(&o, at + 3));
            // legs that hardly bend are stiff: a violation of 1e-12 is a force of 1e-8
            assert_near(last(&o, at + 5), all / counts[c], 2e-8);
        }
        assert_near(sum[0], 0, 1e-9);
        assert_near(sum[1], 0, 1e-9);
        assert_near(sum[2], all, 1e-9);
        assert_near(moment, -0.01, 1e-9);
        snw_series_clear(&o.series);
    }
}

// ---- live simulation and allocation -------------------------------------------------------------

// Legs with feeds set by the caller follow the same motion as with laws; steps do not allocate.
static void leg_lengths_are_set_by_manual_inputs(void **state) {
    (void)state;
    const double h = 1.0 / 120;
    snw_robot *r[2];
    snw_error err = {0};
    snw_robot_steps how = snw_robot_steps_defaults(h);
    how.scheme = "bdf-alpha", how.alpha = -0.2, how.engine = "shooting", how.points = 41;
    for (int k = 0; k < 2; k++) {
        assert_int_equal(snw_robot_open(SNW_SOURCE_DIR "/examples/parallel/stewart_gough.yaml",
                                        "sway", 0, NULL, &r[k], &err),
                         SNW_OK);
        assert_int_equal(snw_robot_equilibrium(r[k], 0, &err), SNW_OK);
        if (snw_robot_start(r[k], &how, &err) != SNW_OK) fail_msg("%s", err.text);
    }
    long before = 0;
    for (int i = 1; i <= 60; i++) {
        if (i == 2) before = heap_calls; // the first step sets up the matrix
        assert_int_equal(snw_robot_step(r[0], h, &err), SNW_OK);
        for (int k = 0; k < 6; k++) {
            char name[32];
            (void)snprintf(name, sizeof name, "out(%d)", k + 1);
            double length;
            assert_int_equal(snw_robot_probe(r[0], name, 1, &length), 1);
            (void)snprintf(name, sizeof name, "feed(%d)", k + 1);
            assert_int_equal(snw_robot_set_motion(r[1], snw_robot_actuator(r[1], name), &length,
                                                  NULL, NULL, &err),
                             SNW_OK);
        }
        assert_int_equal(snw_robot_step(r[1], h, &err), SNW_OK);
    }
    assert_int_equal(heap_calls, before);
    double a[19], b[19];
    assert_int_equal(snw_robot_probe(r[0], "plate", 19, a), 19);
    assert_int_equal(snw_robot_probe(r[1], "plate", 19, b), 19);
    for (int i = 0; i < 19; i++) assert_near(a[i], b[i], 1e-9);
    assert_near(a[0], -0.04, 1e-3); // the start is sudden
    for (int k = 0; k < 2; k++) snw_robot_close(r[k]);
}

static void goes_on(snw_robot *r, int steps, double out[19]) {
    snw_error err = {0};
    for (int i = 0; i < steps; i++) {
        assert_int_equal(snw_robot_step(r, 1.0 / 120, &err), SNW_OK);
    }
    assert_int_equal(snw_robot_probe(r, "plate", 19, out), 19);
}

// A robot saved in motion and restored continues with the same bits; plate, legs and feeds.
static void saved_robots_go_on(void **state) {
    (void)state;
    static const char *const file[] = {"/examples/parallel/stewart_gough.yaml",
                                       "/examples/parallel/three_rods.yaml"};
    static const char *const run[] = {"sway", "motors"};
    for (int c = 0; c < 2; c++) {
        snw_robot *r;
        snw_error err = {0};
        char path[512];
        snw_robot_steps how = snw_robot_steps_defaults(1.0 / 120);
        how.scheme = "bdf-alpha", how.alpha = -0.2, how.engine = "shooting", how.points = 31;
        (void)snprintf(path, sizeof path, "%s%s", SNW_SOURCE_DIR, file[c]);
        assert_int_equal(snw_robot_open(path, run[c], 0, NULL, &r, &err), SNW_OK);
        assert_int_equal(snw_robot_equilibrium(r, 0, &err), SNW_OK);
        assert_int_equal(snw_robot_start(r, &how, &err), SNW_OK);
        double once[19], again[19];
        goes_on(r, 12, once);
        const size_t n = snw_robot_saves(r);
        assert_true(n > 0);
        double *kept = malloc(n * sizeof *kept);
        snw_robot_save(r, kept);
        goes_on(r, 12, once);
        snw_robot_restore(r, kept);
        goes_on(r, 12, again);
        assert_memory_equal(once, again, sizeof once);
        free(kept);
        snw_robot_close(r);
    }
}

// Feet turned by the caller, positions only: the time formula gives the rates, which differ from
// those of the law by its error. The solver's usual tolerance would show beside it.
static void feet_are_rotated_by_manual_inputs(void **state) {
    (void)state;
    double away[2];
    for (int c = 0; c < 2; c++) {
        const double h = 1e-2 / (1 << c);
        snw_robot *r[2];
        snw_error err = {0};
        snw_robot_steps how = snw_robot_steps_defaults(h);
        how.scheme = "bdf2", how.engine = "shooting", how.points = 31, how.tolerance = 1e-12;
        for (int k = 0; k < 2; k++) {
            assert_int_equal(snw_robot_open(SNW_SOURCE_DIR "/examples/parallel/three_rods.yaml",
                                            "motors", 0, NULL, &r[k], &err),
                             SNW_OK);
            assert_int_equal(snw_robot_equilibrium(r[k], 0, &err), SNW_OK);
            if (snw_robot_start(r[k], &how, &err) != SNW_OK) fail_msg("%s", err.text);
        }
        const double up = -asin(0.25), pi = acos(-1);
        for (int i = 1; i * h < 0.5001; i++) {
            const double t = i * h;
            const double q = up + (pi / 9 - up) * t * t * t * (10 + t * (6 * t - 15));
            assert_int_equal(snw_robot_step(r[0], h, &err), SNW_OK);
            for (int k = 0; k < 3; k++) {
                char name[32];
                (void)snprintf(name, sizeof name, "motor(%d)", k + 1);
                assert_int_equal(snw_robot_set_motion(r[1], snw_robot_actuator(r[1], name), &q,
                                                      NULL, NULL, &err),
                                 SNW_OK);
            }
            assert_int_equal(snw_robot_step(r[1], h, &err), SNW_OK);
        }
        double a[6], b[6];
        assert_int_equal(snw_robot_probe(r[0], "ball(1)", 6, a), 6);
        assert_int_equal(snw_robot_probe(r[1], "ball(1)", 6, b), 6);
        away[c] = 0;
        for (int i = 0; i < 6; i++) away[c] = fmax(away[c], fabs(a[i] - b[i]));
        for (int k = 0; k < 2; k++) snw_robot_close(r[k]);
    }
    assert_near(log2(away[0] / away[1]) / 2, 1, 0.1);
    assert_true(away[1] < 8e-8); // without rates of the feet: 9e-5 with half the step
}

// ---- refused models -----------------------------------------------------------------------------

#define LEGS(joint)                                                                                \
    HEAD "materials: {m: {young: 1 GPa, poisson: 0.4, density: 1000}}\n"                           \
         "robot:\n"                                                                                \
         "  leg(k=1..2): {on: world, pose: {xyz: [0.1*k, 0, 0], x: z}, " joint                     \
         "rod: {length: 1, section: {circle: {radius: 10 mm}}, material: m, strain: cosserat "     \
         "legendre 2}}\n"
#define PLATE_AT "  plate: {on: world, pose: {xyz: [0.1, 0, 1]}, joint: free, body: {mass: 1}}\n"
#define HOLES    "sites: {hole(k=1..2): {on: plate, pose: {xyz: [0.1*k - 0.1, 0, 0], x: z}}}\n"
#define TIES     "loops: {tie(k=1..2): {join: [leg(k).tip, hole(k)], as: fixed}}\n"
#define SHOOT    "study: [static: {engine: shooting}]\n"

// ---- legs that are rigid in some directions -----------------------------------------------------

// Upright legs that only bend in the plane, clamped to a plate: a portal frame, whose beams are
// guided at both ends. They do not let the plate rotate, so a small push displaces it by u = F L^3
// / (12 n EI), and by -3/5 u^2/L along the legs.
static void a_portal_frame_gives_way_as_its_beams(void **state) {
    (void)state;
    // 200 GPa, a radius of 1 mm.
    const double EI = 2e11 * 1e-12 * 3.14159265358979323846 / 4, L = 0.3;
    const double F = 0.05 * EI / (L * L), u = F * L * L * L / (12 * 3 * EI);
    char text[MOST];
    outcome o;
    (void)snprintf(
        text, sizeof text,
        "sinew: 1\ngravity: 0\n"
        "materials: {m: {young: 200 GPa, poisson: 0.3, density: 1000}}\n"
        "robot:\n"
        "  leg(k=1..3): {on: world, pose: {xyz: [0.1*k, 0, 0], x: z}, rod: {length: 0.3, section: "
        "{circle: {radius: 1 mm}}, material: m, strain: {bend_y: legendre 4}}}\n"
        "  plate: {on: world, pose: {xyz: [0, 0, 0.3]}, joint: free, body: {mass: 1 g, box: [0.3, "
        "0.1, 0.01]}}\n"
        "sites: {hole(k=1..3): {on: plate, pose: {xyz: [0.1*k, 0, 0], x: z}}}\n"
        "loops: {clamp(k=1..3): {join: [leg(k).tip, hole(k)], as: fixed}}\n"
        "loads: {push: {on: plate, force: [%.17g, 0, 0]}}\n"
        "probes: {plate: {position: plate}, turn: {rotation: plate}}\n"
        "study: [{static: {engine: shooting}}]\n",
        F);
    execute_ok(text, &o);
    assert_near(last(&o, 0) / u, 1, 1e-4);
    assert_near((last(&o, 2) - L) / (0.6 * u * u / L), -1, 1e-3);
    for (int c = 0; c < 3; c++) assert_near(last(&o, 3 + c), c == 0, 1e-9);
    snw_series_clear(&o.series);
}

// The same frame under 1.05 of the load pi^2 EI/L^2 that each upright leg can carry: both engines
// leave that equilibrium for the same stable one, and keep it with the option to follow the branch.
// Below that load they stay.
static void a_loaded_portal_frame_is_not_left_upright(void **state) {
    (void)state;
    static const char *strain[] = {"{bend_y: legendre 10}", "kirchhoff legendre 10"};
    static const char *engine[] = {"strain", "shooting", "shooting, branch: follow"};
    const double critical = 3.14159265358979323846 * 3.14159265358979323846;
    for (int i = 0; i < 4; i++) {
        const bool beyond = i % 2;
        outcome o[3];
        for (int k = 0; k < 3; k++) {
            char text[MOST];
            (void)snprintf(
                text, sizeof text,
                "sinew: 1\ngravity: 0\n"
                "robot:\n"
                "  leg(k=1..2): {on: world, pose: {xyz: [0.4*k, 0, 0], x: z}, rod: {length: 1, "
                "section: {stiffness: {twist: 30, bend_y: 1, bend_z: 20, stretch: 1e6}}, strain: "
                "%s, nodes: 40}}\n"
                "  plate: {on: world, pose: {xyz: [0, 0, 1]}, joint: free, body: {mass: 1, box: "
                "[0.4, 0.1, 0.01]}}\n"
                "sites: {hole(k=1..2): {on: plate, pose: {xyz: [0.4*k, 0, 0], x: z}}}\n"
                "loops: {clamp(k=1..2): {join: [leg(k).tip, hole(k)], as: fixed}}\n"
                "loads: {push(k=1..2): {on: hole(k), force: [0, 0, %.17g]}}\n"
                "probes: {plate: {position: plate}}\n"
                "study: [{static: {engine: %s}}]\n",
                strain[i / 2], (beyond ? -1.05 : -0.95) * critical, engine[k]);
            execute_ok(text, &o[k]);
        }
        assert_near(last(&o[2], 0), 0, 1e-9);
        assert_true((fabs(last(&o[1], 0)) > 0.1) == beyond);
        assert_true(apart(&o[0], &o[1], 0, 3) < 1e-5);
        assert_true(!beyond == !strstr(o[1].said, "was left for a stable one"));
        assert_true(!beyond == !strstr(o[2].said, "is unstable; see the probe 'stability'"));
        for (int k = 0; k < 3; k++) snw_series_clear(&o[k].series);
    }
}

// The same frame far beyond that load. Between 80.76 and 88.83 EI/L^2 the stiffness of the plate
// against swaying, P/((2/b) tan(bL/2) - L) with b^2 = P/EI, is positive again, although the
// stability eigenvalue of a leg between fixed ends, 1 - P/(4 pi^2 EI/L^2), is negative.
static void legs_that_buckle_between_fixed_ends_are_reported(void **state) {
    (void)state;
    const double load[] = {9, 11, 79, 82, 85, 88, 90, 120};
    const double clamped = 4 * 3.14159265358979323846 * 3.14159265358979323846;
    for (int i = 0; i < 16; i++) {
        const double P = load[i / 2];
        char text[MOST];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n"
            "robot:\n"
            "  leg(k=1..2): {on: world, pose: {xyz: [0.4*k, 0, 0], x: z}, rod: {length: 1, "
            "section: {stiffness: {twist: 30, bend_y: 1, bend_z: %d, stretch: 1e6}}, strain: "
            "kirchhoff legendre 10, nodes: 40}}\n"
            "  plate: {on: world, pose: {xyz: [0, 0, 1]}, joint: free, body: {mass: 1, box: "
            "[0.4, 0.1, 0.01]}}\n"
            "sites: {hole(k=1..2): {on: plate, pose: {xyz: [0.4*k, 0, 0], x: z}}}\n"
            "loops: {clamp(k=1..2): {join: [leg(k).tip, hole(k)], as: fixed}}\n"
            "loads: {push(k=1..2): {on: hole(k), force: [0, 0, %.17g]}}\n"
            "probes: {plate: {position: plate}, s: stability}\n"
            "study: [{static: {engine: shooting, branch: follow}}]\n",
            i % 2 ? 200 : 1, -P);
        execute_ok(text, &o);
        assert_near(last(&o, 0), 0, 1e-9);
        // round legs first buckle out of the plane of the frame, as cantilevers at 2.47 EI/L^2
        assert_true((last(&o, 3) > 0) == (P < 9.8 && i % 2));
        if (P > clamped) assert_near(last(&o, 3), 1 - P / clamped, 1e-4);
        snw_series_clear(&o.series);
    }
}

// Legs whose joints hold directions that the strains do not allow, the same for all legs; two
// spherical joints, where nothing holds the plate about the line through them.
static const struct {
    const char *strain, *as, *push;
    int n;
    double lean;
} rigid_plates[] = {
    {"{bend_y: legendre 5}", "fixed", "[0.4, 0, -1]", 3, 0.02},
    {"{bend_y: legendre 5, stretch: legendre 5}", "revolute, axis: y", "[0.4, 0, -1]", 4, 0.02},
    {"{bend_y: legendre 5}", "spherical", "[0.3, 0, -0.6]", 4, 0.01},
    {"{bend_y: legendre 5, bend_z: legendre 5}", "fixed", "[0.4, 0.3, -1]", 4, 0.02},
    {"{bend_y: legendre 5, bend_z: legendre 5}", "spherical", "[-0.75, -1.1, -2.9]", 2, 0.016},
    {"kirchhoff legendre 5", "spherical", "[-0.75, -1.1, -2.9]", 2, 0.016},
};

static void legs_that_are_rigid_in_some_directions_balance(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rigid_plates / sizeof rigid_plates[0]; i++) {
        outcome o[2];
        for (int k = 0; k < 2; k++) {
            char text[MOST];
            (void)snprintf(
                text, sizeof text,
                "sinew: 1\n"
                "materials: {m: {young: 15.4 MPa, poisson: 0.48, density: 1100}}\n"
                "parameters: {n: %d, w: %g}\n"
                "robot:\n"
                "  plate: {on: world, pose: {xyz: [0, 0, 0.117]}, joint: free, body: {mass: 11 g, "
                "box: [0.06, 0.06, 6 mm]}}\n"
                "  leg(k=1..n): {on: world, pose: {xyz: [0.05*(2*(k - 1)/(n - 1) - 1) + w*k, 0, "
                "0], "
                "x: [-w*k, 0, 0.117]}, rod: {length: 'sqrt(0.117^2 + (w*k)^2)', section: {circle: "
                "{radius: 8.7 mm}}, material: m, strain: %s}}\n"
                "sites: {seat(k=1..n): {on: plate, pose: {xyz: [0.05*(2*(k - 1)/(n - 1) - 1), 0, "
                "0], x: [-w*k, 0, 0.117]}}}\n"
                "loops: {joint(k=1..n): {join: [seat(k), leg(k).tip], as: %s}}\n"
                "loads: {push: {on: plate, force: %s}}\n"
                "study: [{static: {engine: %s}}]\n"
                "probes: {plate: {position: plate}}\n",
                rigid_plates[i].n, rigid_plates[i].lean, rigid_plates[i].strain, rigid_plates[i].as,
                rigid_plates[i].push, k == 0 ? "strain" : "shooting");
            execute_ok(text, &o[k]);
        }
        const double d = apart(&o[0], &o[1], 0, 3);
        if (!(d <= 2e-5 * 0.117)) fail_msg("plate %zu: engines are %.3g m apart", i, d);
        clear(&o[0], &o[1]);
    }
}

static void refuses_what_it_cannot_do(void **state) {
    (void)state;
    refuses(LEGS("") PLATE_AT HOLES
            "loops: {tie: {join: [leg(1).tip, hole(1)], as: fixed}}\n" SHOOT,
            "whose tip is not joined");
    refuses(LEGS("") PLATE_AT HOLES
            "loops: {tie(k=1..2): {join: [leg(k).tip, hole(k)], as: universal}}\n" SHOOT,
            "not fixed, revolute or spherical");
    refuses(LEGS("") PLATE_AT HOLES
            "loops: {tie(k=1..2): {join: [leg(k)@0.5 m, hole(k)], as: fixed}}\n" SHOOT,
            "from the tip of a rod");
    refuses(LEGS("joint: revolute, ") PLATE_AT HOLES TIES SHOOT,
            "joints whose position no actuator gives");
    refuses(LEGS("") PLATE_AT
            "  more: {on: world, joint: free, body: {mass: 1}}\n" HOLES TIES SHOOT,
            "more than one free body");
    refuses(LEGS("") PLATE_AT HOLES TIES
            "actuators: {t: {tendon: {along: leg(1), at: [0, 5 mm, 0]}, effort: 1}}\n" SHOOT,
            "tendons and chambers of rods on a common body");
    refuses(LEGS("") PLATE_AT HOLES TIES
            "study: [static: {engine: shooting, shooting: {solver: dogleg}}]\n",
            "with this solver");
    refuses(LEGS("") PLATE_AT HOLES TIES
            "study: [static: {engine: shooting, shooting: {along: dormand-prince, error: 1e-6}}]\n",
            "chosen by error");
    refuses(LEGS("") PLATE_AT HOLES TIES "actuators: {f: {feed: leg(1), effort: 1}}\n" SHOOT,
            "rods whose feed no actuator gives");
}

int main(void) {
    count_heap_calls();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equilibria_converge),
        cmocka_unit_test(motions_with_variable_length_converge),
        cmocka_unit_test(formulas_have_their_orders),
        cmocka_unit_test(motions_of_hinged_limbs_converge),
        cmocka_unit_test(legs_share_the_weight),
        cmocka_unit_test(leg_lengths_are_set_by_manual_inputs),
        cmocka_unit_test(saved_robots_go_on),
        cmocka_unit_test(feet_are_rotated_by_manual_inputs),
        cmocka_unit_test(a_portal_frame_gives_way_as_its_beams),
        cmocka_unit_test(a_loaded_portal_frame_is_not_left_upright),
        cmocka_unit_test(legs_that_buckle_between_fixed_ends_are_reported),
        cmocka_unit_test(legs_that_are_rigid_in_some_directions_balance),
        cmocka_unit_test(refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
