// SPDX-License-Identifier: MIT
//
// Study steps by the shooting engine: against the strain engine on the same file, as both are
// refined; its energy account; steps without a solution; and refused models.
#include "constraint/projection.h"
#include "executed.h"
#include "shoot/shooter.h"

#include <stdio.h>
#include <stdlib.h>

#define RUN(text) execute(text, &o)

// A model with all features of the engine: a rod with varying section and rest strain on a base
// that moves, bodies, concentrated and distributed dead and follower loads, damping, drag, gravity.
// %s: strain, %s: study.
static const char all[] =
    "sinew: 1\n"
    "gravity: [1, -2, -6]\n"
    "materials: {rubber: {young: 3 MPa, poisson: 0.45, density: 1100, damping: 4 ms}}\n"
    "robot:\n"
    "  hand: {on: world, pose: {xyz: [0, \"20 mm*poly5(t, 0 s, 0.2 s)\", 0], axis: y, angle: 30 "
    "deg}}\n"
    "  arm: {on: hand, rod: {length: 0.3, section: {circle: {radius: \"8 mm*(1 - x/L/3)\"}}, "
    "material: rubber,\n"
    "        rest: {bend_y: 1.5, bend_z: \"2*x/L\"}, strain: %s}}\n"
    "  ball: {on: arm@0.12 m, pose: {xyz: [0, 5 mm, 0]}, body: {mass: 4 g, sphere: {radius: 5 "
    "mm}}}\n"
    "  tool: {on: arm.tip, pose: {xyz: [10 mm, 0, 0], axis: z, angle: 20 deg}, body: {mass: 3 g, "
    "box: [10 mm, 6 mm, 4 mm]}}\n"
    "loads:\n"
    "  push: {on: tool, force: [0, 0.02*sin(20*t), 0], torque: [0, 0, 1e-3], frame: body}\n"
    "  pull: {on: arm@0.21 m, force: [0, 0, 0.03]}\n"
    "  wind: {along: arm, force: [0, \"0.2*x/L\", 0], torque: [1e-3, 0, 0]}\n"
    "  skin: {along: arm, force: [0, 0, 0.1], frame: body}\n"
    "fluid: {air: {on: [arm], drag: {square: 0.02}}}\n"
    "probes: {tip: {position: tool}, e: energy, s: {strain: arm@0.05 m}, f: {wrench: arm@0.05 m}, "
    "v: {velocity: arm@0.2 m},\n"
    "         root: {reaction: arm}, held: {reaction: tool}, a: {acceleration: tool}}\n"
    "study: [%s]\n";
enum {
    TIP = 0,
    ENERGY = 3,
    STRAIN = 11,
    WRENCH = 17,
    SPEED = 23,
    ROOT = 26,
    HELD = 32,
    RATE = 38,
    NCOLUMN = 44
};

static void both(const char *strain, const char *study, outcome *o) {
    char text[4096];
    const int n = snprintf(text, sizeof text, all, strain, study);
    assert_true(n > 0 && (size_t)n < sizeof text);
    execute(text, o);
    if (o->status != SNW_OK) fail_msg("%s", o->err.text);
    assert_int_equal(o->series.ncolumn, NCOLUMN);
}

// ---- statics ------------------------------------------------------------------------------------

static void equilibria_are_those_of_the_strain_engine(void **state) {
    (void)state;
    outcome a, b;
    both("cosserat cubic, elements: 20", "static: {}", &a);
    both("cosserat cubic, elements: 20", "static: {engine: shooting, shooting: {points: 121}}", &b);
    for (int i = 0; i < 3; i++) assert_near(last(&b, TIP + i), last(&a, TIP + i), 1e-8);
    // elastic energy by the trapezoidal rule on the nodes: 1e-4 of it; gravity likewise
    for (int i = 1; i < 3; i++) assert_near(last(&b, ENERGY + i), last(&a, ENERGY + i), 3e-6);
    for (int i = 0; i < 6; i++) {
        assert_near(last(&b, STRAIN + i), last(&a, STRAIN + i),
                    2e-4); // converges slowly in a basis
        assert_near(last(&b, WRENCH + i), last(&a, WRENCH + i), 1e-6);
        assert_near(last(&b, ROOT + i), last(&a, ROOT + i), 1e-6);
        assert_near(last(&b, HELD + i), last(&a, HELD + i), 1e-9);
    }
    snw_series_clear(&a.series);
    snw_series_clear(&b.series);
}

// A uniform cantilever: the strain engine converges to the fields faster than any power, the march
// with order four.
static void static_fields_converge(void **state) {
    (void)state;
    static const char text[] =
        HEAD "materials: {m: {young: 20 MPa, poisson: 0.4, density: 1000}}\n"
             "robot: {arm: {on: world, rod: {length: 1, section: {circle: {radius: 10 mm}},\n"
             "  material: m, strain: cosserat legendre "
             "%d}}}\n"
             "loads: {tip: {on: arm.tip, force: [0, 0, 1]}}\n"
             "probes: {p: {position: arm.tip}}\nstudy: [static: {%s}]\n";
    char full[1024];
    double want, x[3], y[3];
    outcome o;
    (void)snprintf(full, sizeof full, text, 14, "tolerance: 1e-12");
    RUN(full);
    want = last(&o, 2);
    snw_series_clear(&o.series);
    for (int k = 0; k < 3; k++) {
        char how[96];
        (void)snprintf(how, sizeof how,
                       "engine: shooting, tolerance: 1e-13, shooting: {points: %d}", (8 << k) + 1);
        (void)snprintf(full, sizeof full, text, 4, how);
        RUN(full);
        assert_int_equal(o.status, SNW_OK);
        x[k] = fabs(last(&o, 2) - want);
        snw_series_clear(&o.series);
        (void)snprintf(full, sizeof full, text, 3 + 2 * k, "tolerance: 1e-12");
        RUN(full);
        y[k] = fabs(last(&o, 2) - want);
        snw_series_clear(&o.series);
    }
    assert_near(log2(x[1] / x[2]) / 4, 1, 0.05);
    assert_true(y[1] < 0.1 * y[0] && y[2] < 0.1 * y[1]);
}

// ---- stability ----------------------------------------------------------------------------------

// A slender upright steel column: gravity, and a force on its tip along it. %s
static const char column[] =
    "sinew: 1\ngravity: [0, 0, %.17g]\nmaterials: {m: {young: 200 GPa, poisson: 0.3, density: "
    "7800}}\n"
    "robot: {arm: {on: world, pose: {x: z}, rod: {length: 1, section: {circle: {radius: 2 mm}}, "
    "material: m,\n"
    "  strain: {bend_y: legendre 5, bend_z: legendre 5, twist: legendre 5}}}}\n"
    "loads: {tip: {on: arm.tip, force: [0, 0, %.17g]}}\n"
    "probes: {s: stability, p: {position: arm.tip}}\nstudy: [static: {engine: shooting}]\n";
static const double column_EI = 200e9 * 3.14159265358979323846 / 4 * 16e-12,
                    column_mass = 7800 * 3.14159265358979323846 * 4e-6;

static void stand(double g, double f, outcome *o) {
    char text[1024];
    (void)snprintf(text, sizeof text, column, g, f);
    execute_ok(text, o);
}

// Eigenvalues of a column are one minus its load over the critical load: Euler's, and Greenhill's
// under its own weight, which is 4/9 of a square of the first zero of the Bessel function of order
// -1/3.
static void stability_of_a_column_is_its_margin_to_buckling(void **state) {
    (void)state;
    const double pi = acos(-1), euler = pi * pi / 4 * column_EI, zero = 1.8663508589; // of J_-1/3
    const double greenhill = 9.0 / 4 * zero * zero * column_EI / column_mass;
    outcome o;
    for (int k = 0; k < 3; k++) {
        const double share = 0.1 + 0.4 * k;
        stand(0, -share * euler, &o);
        assert_near(last(&o, 0), 1 - share, 1e-7);
        assert_int_equal(o.warnings, 0);
        snw_series_clear(&o.series);
        stand(-share * greenhill, 0, &o);
        assert_near(last(&o, 0), 1 - share, 1e-7);
        assert_int_equal(o.warnings, 0);
        snw_series_clear(&o.series);
    }
    stand(0, 5 * euler, &o); // tension does not make it softer
    assert_near(last(&o, 0), 1, 1e-12);
    snw_series_clear(&o.series);
}

// Complete elliptic integrals K and E by the arithmetic-geometric mean.
static void elliptic(double m, double *K, double *E) {
    double a = 1, b = sqrt(1 - m), sum = m / 2, two = 1;
    while (fabs(a - b) > 1e-15) {
        const double next = 0.5 * (a + b), c = 0.5 * (a - b);
        b = sqrt(a * b);
        a = next;
        sum += two * c * c;
        two *= 2;
    }
    *K = acos(-1) / (2 * a);
    *E = *K * (1 - sum);
}

// Beyond buckling the column has left the straight line, where Newton's method stays, for the
// elastica, to either side.
static void a_column_beyond_buckling_is_an_elastica(void **state) {
    (void)state;
    double K, E;
    elliptic(0.5, &K, &E); // the tip has turned by a right angle
    outcome o;
    stand(0, -K * K * column_EI, &o);
    assert_int_equal(o.warnings, 1);
    assert_near(last(&o, 0), 0, 1e-7); // it may rotate about the line of the load
    assert_near(last(&o, 3), 2 * E / K - 1, 1e-7);
    assert_near(hypot(last(&o, 1), last(&o, 2)), 2 * sqrt(0.5) / K, 1e-7);
    snw_series_clear(&o.series);
}

// A pole that buckles under its own weight, pushed to the side, one that a tendon bends in
// addition, and one with a torque, which has no potential: the first solution of Newton's method
// stands upright. Both engines give the same position and stability.
static void both_engines_find_the_stable_equilibrium(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\nmaterials: {m: {young: 0.1 MPa, poisson: 0.5, density: 1070}}\n"
        "robot: {arm: {on: world, pose: {x: z}, rod: {length: 1 m, section: {circle: {radius: 60 "
        "mm}}, material: m, strain: kirchhoff legendre 14, nodes: 50}}}\n"
        "actuators: {c: {tendon: {along: arm, at: [0, 20 mm, 30 mm]}, effort: %g}}\n"
        "loads: {side: {on: arm.tip, force: [10 mN, 0, 0], torque: [0, %g, 0]}}\n"
        "probes: {s: stability, p: {position: arm.tip}}\n"
        "study: [static: {%s}]\n";
    static const double pull[] = {0, 5, 0}, turn[] = {0, 0, 0.02};
    for (int k = 0; k < 3; k++) {
        char full[1024];
        outcome a, b;
        (void)snprintf(full, sizeof full, text, pull[k], turn[k], "");
        execute_ok(full, &a);
        (void)snprintf(full, sizeof full, text, pull[k], turn[k],
                       "engine: shooting, shooting: {points: 201}");
        execute_ok(full, &b);
        assert_int_equal(b.warnings, 1);
        assert_true(last(&a, 0) > 0);
        if (turn[k] == 0) assert_near(last(&b, 0), last(&a, 0), 1e-4);
        for (int i = 1; i < 4; i++) assert_near(last(&b, i), last(&a, i), 1e-4);
        snw_series_clear(&a.series);
        snw_series_clear(&b.series);
    }
}

// ---- motion -------------------------------------------------------------------------------------

// Both engines, each with its own second-order time formula, converge to one motion: their distance
// falls as the square of the step.
static void motions_are_those_of_the_strain_engine(void **state) {
    (void)state;
    double apart[3], fields[3];
    for (int k = 0; k < 3; k++) {
        char study[200];
        outcome a, b;
        const double h = 4.0 / (1 << k);
        (void)snprintf(study, sizeof study,
                       "dynamic: {for: 0.16 s, step: %g ms, scheme: bdf2, start: rest}", h);
        both("cosserat cubic, elements: 10", study, &a);
        (void)snprintf(
            study, sizeof study,
            "dynamic: {for: 0.16 s, step: %g ms, start: rest, engine: shooting, shooting: {points: "
            "61}}",
            h);
        both("cosserat cubic, elements: 10", study, &b);
        apart[k] = fields[k] = 0;
        for (int i = 0; i < 3; i++) {
            apart[k] = fmax(apart[k], fabs(last(&a, TIP + i) - last(&b, TIP + i)));
            fields[k] = fmax(fields[k], fabs(last(&a, SPEED + i) - last(&b, SPEED + i)));
        }
        snw_series_clear(&a.series);
        snw_series_clear(&b.series);
    }
    for (int k = 0; k < 2; k++) assert_near(log2(apart[k] / apart[k + 1]) / 2, 1, 0.15);
    for (int k = 0; k < 2; k++) assert_near(log2(fields[k] / fields[k + 1]) / 2, 1, 0.25);
    assert_true(apart[2] < 2e-4);
}

// A rod begins to fall, and 40 ms later a force jumps: order two by every formula, order one where
// the past before the start is taken for uniform. The reference is the strain engine's, with its
// own scheme and steps chosen by their error.
static void sudden_loads_keep_the_order(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\ngravity: [0, 0, -9.81]\n"
        "materials: {m: {young: 1 MPa, poisson: 0.45, density: 1070, damping: 20 ms}}\n"
        "robot: {arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 10 mm}},\n"
        "  material: m, strain: cosserat legendre 8}}}\n"
        "loads: {tip: {on: arm.tip, force: [0, \"0.02*step(t, 0.04)\", 0]}}\n"
        "probes: {p: {position: arm.tip}}\n"
        "study: [dynamic: {for: 80 ms, %s}]\n";
    static const struct {
        const char *how;
        double order;
    } way[] = {{"scheme: bdf2", 2},
               {"scheme: bdf-alpha", 2},
               {"scheme: trapezoidal", 2},
               {"scheme: bdf3", 2},
               {"scheme: bdf2, start: rest", 1}};
    char full[1024];
    outcome o;
    (void)snprintf(full, sizeof full, text, "scheme: stiff, tolerance: 1e-9");
    RUN(full);
    if (o.status != SNW_OK) fail_msg("%s", o.err.text);
    const snw_vec3 want = {{last(&o, 0), last(&o, 1), last(&o, 2)}};
    snw_series_clear(&o.series);
    for (size_t w = 0; w < sizeof way / sizeof way[0]; w++) {
        double off[3];
        for (int k = 0; k < 3; k++) {
            char how[160];
            (void)snprintf(how, sizeof how,
                           "step: %g ms, %s, engine: shooting, shooting: {points: 61}",
                           4.0 / (1 << k), way[w].how);
            (void)snprintf(full, sizeof full, text, how);
            RUN(full);
            if (o.status != SNW_OK) fail_msg("%s", o.err.text);
            off[k] = snw_norm(snw_sub((snw_vec3){{last(&o, 0), last(&o, 1), last(&o, 2)}}, want));
            snw_series_clear(&o.series);
        }
        for (int k = 0; k < 2; k++) assert_near(log2(off[k] / off[k + 1]) / way[w].order, 1, 0.08);
    }
}

// Energy that is neither work nor heat is dissipation of the formula, and vanishes with the step.
static void the_energy_account_closes_with_the_step(void **state) {
    (void)state;
    double scheme[2], heat[2];
    for (int k = 0; k < 2; k++) {
        char study[200];
        outcome o;
        (void)snprintf(
            study, sizeof study,
            "dynamic: {for: 0.16 s, step: %g ms, engine: shooting, shooting: {points: 61}}",
            k ? 2.0 : 4.0);
        both("cosserat legendre 3", study, &o);
        scheme[k] = last(&o, ENERGY + 5);
        heat[k] = last(&o, ENERGY + 3);
        assert_near(last(&o, ENERGY + 6), 0, 1e-12); // balance
        snw_series_clear(&o.series);
    }
    assert_true(heat[1] > 1e-5);
    assert_near(heat[0] / heat[1], 1, 0.02);
    assert_true(fabs(scheme[1]) < 0.6 * fabs(scheme[0]) && fabs(scheme[1]) < 0.05 * heat[1]);
}

// Fields continue from step to step without conversion to coordinates, also through changes.
static void fields_continue_from_step_to_step(void **state) {
    (void)state;
    outcome o;
    both("kirchhoff constant, elements: 1",
         "static: {engine: shooting}, change: {gravity: [1, -2, -6.001]}, "
         "dynamic: {for: 1 ms, step: 1 ms, engine: shooting}",
         &o);
    // Frames: equilibrium, start, end.
    assert_int_equal(o.series.nframe, 3);
    for (int i = 0; i < 3; i++) assert_near(shown(&o, 1, TIP + i), shown(&o, 0, TIP + i), 1e-14);
    for (int i = 0; i < 6; i++)
        assert_near(shown(&o, 1, STRAIN + i), shown(&o, 0, STRAIN + i), 1e-13);
    snw_series_clear(&o.series);
}

// Intervals chosen by their error, from a grid that is much too coarse: the continuum along the rod
// (references.md T4.1, to 1e-8), and again when the motion needs more of them.
static void grids_are_chosen_by_error(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\ngravity: [-98.1, 0, 0]\n"
        "materials: {steel: {young: 207 GPa, poisson: 0.3, density: 8000}}\n"
        "robot: {rod: {on: world, pose: {x: z, y: x}, rod: {length: 0.4, material: steel,\n"
        "  section: {circle: {radius: 1.2 mm}}, strain: cosserat legendre 3}}}\n"
        "probes: {p: {position: rod.tip}}\n"
        "study: [dynamic: {for: 50 ms, step: 5 ms, start: rest, engine: shooting, shooting: "
        "{along: "
        "dormand-prince, points: %d%s}}]\n";
    static const char *const how[] = {"", ", error: 1e-5", ", error: 1e-9"};
    double off[3];
    for (int k = 0; k < 3; k++) {
        char full[1024];
        outcome o;
        (void)snprintf(full, sizeof full, text, 5, how[k]);
        RUN(full);
        if (o.status != SNW_OK) fail_msg("%s", o.err.text);
        off[k] = fabs(last(&o, 0) + 0.064438732);
        snw_series_clear(&o.series);
    }
    assert_true(off[0] > 5e-5);
    assert_true(off[1] < 0.05 * off[0]);
    assert_true(off[2] < 3e-8); // histories are cubics with every method
    outcome a, b;
    both("cosserat cubic, elements: 20", "static: {engine: shooting, shooting: {points: 121}}", &a);
    both("cosserat cubic, elements: 20",
         "static: {engine: shooting, shooting: {points: 7, along: dormand-prince, error: 1e-9}}",
         &b);
    for (int i = 0; i < 3; i++)
        assert_near(last(&b, TIP + i), last(&a, TIP + i), 2e-8); // with some twenty intervals
    snw_series_clear(&a.series);
    snw_series_clear(&b.series);
}

// ---- no solution --------------------------------------------------------------------------------

#define STEEL                                                                                      \
    "sinew: 1\ngravity: 0\nmaterials: {steel: {young: 207 GPa, shear: 79 GPa, density: 8000}}\n"   \
    "robot: {arm: {on: world, rod: {length: 0.4, section: {circle: {radius: 1 mm}}, strain: "      \
    "cosserat legendre 4,\n"                                                                       \
    "  material: steel}}}\n"                                                                       \
    "probes: {p: {position: arm.tip}}\n"

// Single shooting at a step much too short for it: halving does not help, the message says so, and
// the results so far are kept.
static void failures_keep_the_results_so_far(void **state) {
    (void)state;
    outcome o;
    RUN(STEEL "loads: {tip: {on: arm.tip, force: [0, 0, 0.5], when: t >= 1 ms}}\n"
              "study: [dynamic: {for: 10 ms, step: 20 us, engine: shooting, shooting: {solver: "
              "newton, points: 150}}]\n");
    assert_int_equal(o.status, SNW_E_DIVERGED);
    assert_true(o.series.nframe >= 2);
    assert_non_null(strstr(o.err.text, "no motion found beyond t = 0.001"));
    assert_non_null(strstr(o.err.text, "solver: banded"));
    snw_series_clear(&o.series);
    // the default solver has no such limit
    RUN(STEEL
        "loads: {tip: {on: arm.tip, force: [0, 0, 0.5], when: t >= 1 ms}}\n"
        "study: [dynamic: {for: 2 ms, step: 20 us, engine: shooting, shooting: {points: 150}}]\n");
    assert_int_equal(o.status, SNW_OK);
    snw_series_clear(&o.series);
}

// A sudden load that rolls the rod up: twelve steps of 5 ms, some of them halved, and the motion
// continues.
static void steps_are_halved_where_they_must(void **state) {
    (void)state;
    outcome o;
    RUN(STEEL
        "loads: {tip: {on: arm.tip, force: [0, 0, \"60 N*hat(t, 0 s, 40 ms)\"]}}\n"
        "study: [dynamic: {for: 60 ms, step: 5 ms, engine: shooting, shooting: {points: 60}}]\n");
    assert_int_equal(o.status, SNW_OK);
    assert_int_equal(o.series.nframe, 13);
    assert_true(o.totals.increments > 12);
    assert_true(o.totals.worst_residual <= 1e-10);
    snw_series_clear(&o.series);
}

// Steps so short that there are more segments than a checkpoint has room for: it saves what fits,
// and nothing is written beyond its end.
static void saves_fit_after_short_steps(const char *text) {
    snw_document *doc;
    snw_desc *desc;
    snw_error err = {0};
    snw_model *m;
    snw_state *s;
    snw_shooter *e;
    if (describe(text, &doc, &desc, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_non_null(desc);
    if (snw_projection_compile(desc, &m, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_state_create(m, &s), SNW_OK);
    if (snw_shooter_create(m, &desc->step[0], &e, &err) != SNW_OK) fail_msg("%s", err.text);
    snw_boundary_info info;
    double reached;
    snw_shooter_set_state(e, s);
    assert_int_equal(snw_shooter_static(e, 0, &info, &reached), SNW_OK);
    const double whole = desc->step[0].step;
    snw_shooter_begin(e, whole);
    const size_t n = snw_shooter_checkpoint_size(e);
    double *row = calloc(n + 64, sizeof *row);
    assert_non_null(row);
    for (int k = 0; k < 3; k++) {
        const double h = whole / (k < 2 ? 256 : 1);
        const double t = snw_shooter_time(e) + h;
        assert_int_equal(snw_shooter_step(e, snw_scheme_levels(SNW_SCHEME_EULER, 0), h, t, &info),
                         SNW_OK);
        assert_true(snw_shooter_checkpoint_fits(e));
        assert_int_equal(snw_shooter_checkpoint_size(e), n);
        snw_shooter_save(e, row);
        for (size_t i = n; i < n + 64; i++) assert_true(row[i] == 0);
        assert_int_equal(snw_shooter_restore(e, row, &err), SNW_OK);
    }
    free(row);
    snw_shooter_destroy(e);
    snw_state_destroy(s);
    snw_model_destroy(m);
    release(doc, desc);
}

static void a_checkpoint_fits_however_short_steps_have_been(void **state) {
    (void)state;
    saves_fit_after_short_steps(STEEL
                                "study: [dynamic: {for: 1 s, step: 20 ms, engine: shooting}]\n");
    saves_fit_after_short_steps(
        "sinew: 1\nmaterials: {steel: {young: 200 GPa, poisson: 0.3, density: 7800}}\n"
        "robot:\n"
        "  leg(k=1..2): {on: world, pose: {xyz: [0.1*k, 0, 0], x: z}, rod: {length: 0.4, section: "
        "{circle: {radius: 1 mm}}, material: steel, strain: cosserat legendre 4}}\n"
        "  plate: {on: world, pose: {xyz: [0.15, 0, 0.4]}, joint: free, body: {mass: 50 g, "
        "inertia: "
        "[1e-4, 1e-4, 1e-4]}}\n"
        "sites: {hole(k=1..2): {on: plate, pose: {xyz: [0.1*k - 0.15, 0, 0], x: z}}}\n"
        "loops: {clamp(k=1..2): {join: [leg(k).tip, hole(k)], as: fixed}}\n"
        "study: [dynamic: {for: 1 s, step: 20 ms, engine: shooting}]\n");
}

// A ball that hangs at the tip is released and attached again: the energy that it takes away and
// brings is work, in both engines.
static void deactivated_bodies_count_as_work(void **state) {
    (void)state;
    enum { WORK = 4, SCHEME = 5 };
    static const char *const engine[] = {"", ", engine: shooting, shooting: {points: 81}"};
    double work[2][2], scheme[2];
    for (int i = 0; i < 2; i++) {
        char text[2048];
        const int n = snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "materials: {rubber: {young: 3 MPa, poisson: 0.45, density: 1100, damping: 4 ms}}\n"
            "robot:\n"
            "  arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 8 mm}}, material: "
            "rubber, strain: {bend_y: legendre 6}}}\n"
            "  ball: {on: arm.tip, body: {mass: 20 g}, when: t <= 20 ms or t > 60 ms}\n"
            "probes: {e: energy, p: {position: arm.tip}}\n"
            "study: [static: {}, dynamic: {for: 40 ms, step: 0.5 ms, scheme: bdf2%s}]\n",
            engine[i]);
        assert_true(n > 0 && (size_t)n < sizeof text);
        outcome o;
        execute_ok(text, &o);
        for (int f = 1; f < o.series.nframe; f++) {
            if (o.series.t[f] < 0.02 - 1e-9) work[i][0] = shown(&o, f, WORK);
        }
        work[i][1] = last(&o, WORK);
        scheme[i] = last(&o, SCHEME);
        const double z = shown(&o, 1, 8 + 2); // its height while attached
        assert_near(work[i][0], 0, 1e-9);
        assert_near(work[i][1] / (-0.02 * 9.81 * z), 1, 1e-6);
        assert_true(fabs(scheme[i]) < 1e-3 * fabs(work[i][1]));
        snw_series_clear(&o.series);
    }
}

// A load too large for the first guess is applied in increments.
static void large_loads_are_built_up(void **state) {
    (void)state;
    outcome o;
    RUN(STEEL "loads: {tip: {on: arm.tip, force: [-30, 2, 20]}}\n"
              "study: [static: {engine: shooting}, static: {}]\n");
    assert_int_equal(o.status, SNW_OK);
    snw_series_clear(&o.series);
}

// ---- refused models -----------------------------------------------------------------------------

#define ARM(keys)                                                                                  \
    HEAD "materials: {m: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"                           \
         "robot: {arm: {on: world, " keys "rod: {length: 1, section: {circle: {radius: 10 mm}},\n" \
         "  material: m, strain: kirchhoff legendre "                                              \
         "2}}}\n"
#define SHOOT "study: [static: {engine: shooting}]\n"

static void refuses_what_it_cannot_do(void **state) {
    (void)state;
    refuses(ARM("joint: revolute, ") SHOOT, "joints whose position no actuator gives");
    refuses(ARM("joint: free, ") SHOOT, "rods on free bodies");
    refuses(ARM("joint: spherical, ") SHOOT, "joints whose position no actuator gives");
    refuses(ARM("joint: revolute, ") "actuators: {turn: {joint: arm, effort: 1}}\n" SHOOT,
            "joints whose position no actuator gives");
    refuses(HEAD "robot: {a: {on: world, body: {mass: 1}}}\n" SHOOT, "without rods");
    refuses(ARM("") "loops: {l: {join: [world, arm.tip], as: spherical, pose: {xyz: [1, 0, "
                    "0]}}}\n" SHOOT,
            "loops");
    refuses(ARM("") "contacts: {g: {ground: {on: arm, stiffness: 10}}}\n" SHOOT, "contacts");
    refuses(ARM("") "fluid: {w: {on: arm, density: 1000, added: auto}}\n" SHOOT, "square drag");
    refuses(ARM("") "probes: {p: {position: arm.tip}}\nloads: {l: {on: arm.tip, force: [\"-p.x\", "
                    "0, 0]}}\n" SHOOT,
            "read probes");
    refuses(ARM("") "actuators: {muscle: {stress: {along: arm, bend_z: 1}}}\n" SHOOT, "muscles");
    refuses(ARM("") "actuators: {braid: {mckibben: {along: arm, radius: 1 mm, angle: 20 deg}, "
                    "pressure: 1 bar}}\n" SHOOT,
            "actuators whose effort depends on their length");
}

static void refuses_bad_numbers(void **state) {
    (void)state;
    refuses(ARM("") "study: [static: {engine: shooting, shooting: {points: 2}}]\n", "points");
    refuses(ARM("") "study: [static: {engine: shooting, shooting: {points: 0}}]\n", "points");
    refuses(ARM("") "study: [static: {engine: shooting, shooting: {along: rk5}}]\n", "rk5");
    refuses(ARM("") "study: [static: {engine: shooting, shooting: {error: 1e-6}}]\n",
            "dormand-prince");
    refuses(ARM("") "study: [static: {engine: aiming}]\n", "aiming");
    refuses(ARM("") "study: [static: {shooting: {points: 50}}]\n", "add 'engine: shooting'");
    refuses(ARM("") "study: [static: {engine: shooting, march: 1 s}]\n", "has no 'march'");
    refuses(ARM("") "study: [dynamic: {for: 1 s, engine: shooting}]\n", "needs 'step'");
    refuses(ARM("") "study: [dynamic: {for: 1 s, step: 0, engine: shooting}]\n", "step");
    refuses(ARM("") "study: [dynamic: {for: 1 s, step: 2 s, engine: shooting}]\n",
            "must not be longer");
    refuses(ARM("") "study: [dynamic: {for: 1 s, step: -1 ms, engine: shooting}]\n", "step");
    refuses(ARM("") "study: [dynamic: {for: 1 s, step: 1 ms, scheme: rk4, engine: shooting}]\n",
            "no scheme 'rk4'");
    refuses(ARM("") "study: [dynamic: {for: 1 s, step: 1 ms, adapt: on, engine: shooting}]\n",
            "no 'adapt'");
    refuses(ARM("") "study: [dynamic: {for: 1 s, step: 1 ms, scheme: bdf3}]\n",
            "needs 'engine: shooting'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equilibria_are_those_of_the_strain_engine),
        cmocka_unit_test(static_fields_converge),
        cmocka_unit_test(stability_of_a_column_is_its_margin_to_buckling),
        cmocka_unit_test(a_column_beyond_buckling_is_an_elastica),
        cmocka_unit_test(both_engines_find_the_stable_equilibrium),
        cmocka_unit_test(motions_are_those_of_the_strain_engine),
        cmocka_unit_test(sudden_loads_keep_the_order),
        cmocka_unit_test(the_energy_account_closes_with_the_step),
        cmocka_unit_test(fields_continue_from_step_to_step),
        cmocka_unit_test(grids_are_chosen_by_error),
        cmocka_unit_test(failures_keep_the_results_so_far),
        cmocka_unit_test(steps_are_halved_where_they_must),
        cmocka_unit_test(a_checkpoint_fits_however_short_steps_have_been),
        cmocka_unit_test(large_loads_are_built_up),
        cmocka_unit_test(deactivated_bodies_count_as_work),
        cmocka_unit_test(refuses_what_it_cannot_do),
        cmocka_unit_test(refuses_bad_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
