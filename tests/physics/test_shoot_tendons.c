// SPDX-License-Identifier: MIT
//
// Tendons and chambers in studies by the shooting engine: against the strain engine on the same
// file as both are refined, and refused models.
#include "executed.h"

#include "oracle/till_march.h"
#include "sanitized.h"

#include <stdio.h>

// Tendons that wind around, end before the tip and are pulled by a winch, a chamber, a conditional
// body. %s: more keys of the rod, %s: study.
static const char all[] =
    "sinew: 1\n"
    "gravity: [0, 1, -6]\n"
    "materials: {rubber: {young: 3 MPa, poisson: 0.45, density: 1100, damping: 4 ms}}\n"
    "robot:\n"
    "  arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 8 mm}}, material: rubber, "
    "%s}}\n"
    "  tool: {on: arm.tip, body: {mass: 3 g, box: [10 mm, 6 mm, 4 mm]}, when: t < 500 ms}\n"
    "actuators:\n"
    "  round: {tendon: {along: arm, at: [0, \"6 mm*cos(4*x/L)\", \"6 mm*sin(4*x/L)\"]}, effort: "
    "\"1 N + 60*t\"}\n"
    "  short: {tendon: {along: arm, to: 0.18 m, at: [0, -5 mm, 0]}, effort: 2 N}\n"
    "  winch: {tendon: {along: arm, at: [0, 0, 5 mm], extra: 50 mm, compliance: 5e-3}, shortening: "
    "\"3 mm + 2 mm*poly5(t, 0 s, 0.1 s)\"}\n"
    "  cell: {chamber: {along: arm, at: [0, 2 mm, -3 mm], area: 20 mm^2}, volume: \"6.1 cm^3\"}\n"
    "probes: {tip: {position: arm.tip}, T: {tension: winch}, p: {pressure: cell}, l: {length: "
    "round}, V: {volume: cell}}\n"
    "study: [%s]\n";
enum { TIP = 0, TENSION = 3, PRESSURE = 4, LENGTH = 5, VOLUME = 6 };

static void both_form(const char *rod, const char *study, const snw_shoot_form *form, outcome *o) {
    char text[4096];
    const int n = snprintf(text, sizeof text, all, rod, study);
    assert_true(n > 0 && (size_t)n < sizeof text);
    execute_form(text, form, o);
    if (o->status != SNW_OK) fail_msg("%s", o->err.text);
}

static void both(const char *rod, const char *study, outcome *o) { both_form(rod, study, NULL, o); }

// The march converges to the strain engine's equilibrium with order four.
static void equilibria_converge(void **state) {
    (void)state;
    ONLY_DIGITS();
    outcome a, b;
    // strains are discontinuous where a tendon ends, so an element ends there
    both("strain: cosserat cubic, elements: 20", "static: {tolerance: 1e-11}", &a);
    double apart[3];
    for (int k = 0; k < 3; k++) {
        char study[120];
        (void)snprintf(study, sizeof study,
                       "static: {engine: shooting, tolerance: 1e-12, shooting: {points: %d}}",
                       10 * (1 << k) + 1);
        both("strain: cosserat cubic, elements: 20", study, &b);
        apart[k] = 0;
        for (int i = 0; i < 3; i++) {
            apart[k] = fmax(apart[k], fabs(last(&b, TIP + i) - last(&a, TIP + i)));
        }
        if (k == 2) {
            assert_near(last(&b, TENSION), last(&a, TENSION), 2e-6);
            assert_near(last(&b, PRESSURE) / 1e4, last(&a, PRESSURE) / 1e4, 1e-5);
            assert_near(last(&b, LENGTH), last(&a, LENGTH), 1e-7);
            assert_near(1e6 * last(&b, VOLUME), 6.1, 1e-6);
        }
        snw_series_clear(&b.series);
    }
    assert_near(log2(apart[0] / apart[1]) / 4, 1, 0.15);
    assert_true(apart[2] < 1e-6);
    snw_series_clear(&a.series);
}

// Both engines converge to one motion: their distance falls as the square of the step.
static void motions_converge(void **state) {
    (void)state;
    ONLY_DIGITS();
    double apart[3];
    for (int k = 0; k < 3; k++) {
        char study[240];
        outcome a, b;
        const double h = 8.0 / (1 << k);
        (void)snprintf(study, sizeof study,
                       "static: {}, dynamic: {for: 0.08 s, step: %g ms, scheme: bdf2}", h);
        both("strain: cosserat cubic, elements: 10", study, &a);
        (void)snprintf(study, sizeof study,
                       "static: {engine: shooting, shooting: {points: 41}}, dynamic: {for: 0.08 s, "
                       "step: %g ms, engine: shooting, shooting: {points: 41}}",
                       h);
        both("strain: cosserat cubic, elements: 10", study, &b);
        apart[k] = 0;
        for (int i = 0; i < 3; i++) {
            apart[k] = fmax(apart[k], fabs(last(&a, TIP + i) - last(&b, TIP + i)));
        }
        snw_series_clear(&a.series);
        snw_series_clear(&b.series);
    }
    for (int k = 0; k < 2; k++)
        assert_near(log2(apart[k] / apart[k + 1]) / 2, 1, 0.25); // error of the points: 3e-6
    assert_true(apart[2] < 1e-4);
}

// Both engines with the same scheme: chambers whose areas depend on stretch and pressure.
static void engines_agree_on_areas_that_vary(void **state) {
    (void)state;
    static const char arm[] =
        "sinew: 1\n"
        "gravity: [0, 1, -6]\n"
        "materials: {rubber: {young: 1 MPa, poisson: 0.45, density: 1100, damping: 4 ms}}\n"
        "robot: {arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 8 mm}}, material: "
        "rubber, strain: cosserat cubic, elements: 8}}}\n"
        "actuators:\n"
        "  wide: {chamber: {along: arm, at: [0, 4 mm, 0], area: \"20 mm^2*(1 + pressure/(50 "
        "kPa))/sqrt(stretch)\"}, pressure: \"10 kPa + 20 kPa*poly5(t, 0 s, 0.1 s)\"}\n"
        "  air: {chamber: {along: arm, at: [0, -2 mm, -3 mm], area: \"20 mm^2*(1 + pressure/(80 "
        "kPa))\"}, gas: {moles: 3e-4 mol}}\n"
        "probes: {tip: {position: arm.tip}, p: {pressure: air}, V: {volume: wide}}\n"
        "study: [static: {%s}, dynamic: {for: 0.06 s, step: 4 ms, scheme: bdf2%s%s}]\n";
    static const char shot[] = "engine: shooting, shooting: {points: 61}";
    outcome o[2];
    for (int engine = 0; engine < 2; engine++) {
        char text[2048];
        const int n = snprintf(text, sizeof text, arm, engine ? shot : "", engine ? ", " : "",
                               engine ? shot : "");
        assert_true(n > 0 && (size_t)n < sizeof text);
        execute_ok(text, &o[engine]);
    }
    // equilibria at the start and the end of the same steps: errors of grid and bases
    for (int i = 0; i < 3; i++) {
        assert_near(shown(&o[0], 0, i), shown(&o[1], 0, i), 1e-7);
        assert_near(last(&o[0], i), last(&o[1], i), 2e-6);
    }
    assert_near(shown(&o[0], 0, 3) / 1e4, shown(&o[1], 0, 3) / 1e4, 1e-5);
    assert_near(1e6 * shown(&o[0], 0, 4), 1e6 * shown(&o[1], 0, 4), 1e-5);
    for (int engine = 0; engine < 2; engine++) snw_series_clear(&o[engine].series);
}

// Intervals chosen by their error, from a grid that is much too coarse: the same equilibrium and
// motion as with many points.
static void grids_are_chosen_by_error(void **state) {
    (void)state;
    outcome a, b;
    both("strain: cosserat cubic, elements: 4",
         "static: {engine: shooting, shooting: {points: 101}}, dynamic: {for: 20 ms, step: 4 ms, "
         "start: rest, engine: shooting, shooting: {points: 101}}",
         &a);
    both("strain: cosserat cubic, elements: 4",
         "static: {engine: shooting, shooting: {points: 7, along: dormand-prince, error: 1e-8}}, "
         "dynamic: {for: 20 ms, step: 4 ms, start: rest, engine: shooting, shooting: {points: 7, "
         "along: "
         "dormand-prince, error: 1e-8}}",
         &b);
    assert_int_equal(a.series.nframe, b.series.nframe);
    for (int f = 0; f < a.series.nframe; f++) {
        for (int i = 0; i < 3; i++) {
            assert_near(shown(&b, f, TIP + i), shown(&a, f, TIP + i), 1e-7);
        }
        assert_near(shown(&b, f, TENSION), shown(&a, f, TENSION), 1e-6);
        assert_near(shown(&b, f, PRESSURE), shown(&a, f, PRESSURE), 3e-5); // relative
        assert_near(shown(&b, f, LENGTH), shown(&a, f, LENGTH), 3e-8);
    }
    snw_series_clear(&a.series);
    snw_series_clear(&b.series);
}

// Largest distance of the tips in all frames.
static double tips_apart(const outcome *a, const outcome *b) {
    double most = 0;
    assert_int_equal(a->series.nframe, b->series.nframe);
    for (int f = 0; f < a->series.nframe; f++) {
        for (int i = 0; i < 3; i++) {
            most = fmax(most, fabs(shown(a, f, TIP + i) - shown(b, f, TIP + i)));
        }
    }
    return most;
}

// The order with which the paper's march converges to ours on 161 points, `exact`; `study` contains
// its points.
static double order_of_papers_form(const char *exact, const char *study) {
    static const char strain[] = "strain: cosserat cubic, elements: 4";
    outcome a, b;
    double apart[2];
    both(strain, exact, &a);
    for (int k = 0; k < 2; k++) {
        char text[240];
        (void)snprintf(text, sizeof text, study, 20 * (1 << k) + 1);
        both_form(strain, text, &oracle_till_form, &b);
        apart[k] = tips_apart(&a, &b);
        snw_series_clear(&b.series);
    }
    snw_series_clear(&a.series);
    return log2(apart[0] / apart[1]);
}

// The paper's march is another discretisation of the same equations: with tendons it integrates
// strains. It has order four in equilibrium and order two in motion, since histories between nodes
// are linear.
static void the_papers_form_goes_to_the_same_equilibrium_and_motion(void **state) {
    (void)state;
#define STATIC(how) "static: {engine: shooting, tolerance: " how "}}"
#define MOTION(how)                                                                                \
    "static: {engine: shooting, shooting: &how {" how "}}, dynamic: {for: 12 ms, step: 4 ms, "     \
    "engine: shooting, shooting: *how}"
    const double still = order_of_papers_form(STATIC("1e-11, shooting: {points: 161"),
                                              STATIC("1e-10, shooting: {points: %d"));
    const double moves =
        order_of_papers_form(MOTION("points: 161"), MOTION("points: %d, history: linear"));
    assert_near(still / 4, 1, 0.15);
    assert_near(moves / 2, 1, 0.15);
#undef STATIC
#undef MOTION
}

// Without stretch and shear the force replaces their strains; the tension varies along a tendon
// with friction. With cubic histories the march has order four in motion, too.
static void the_papers_form_without_shear(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "gravity: [0, 1, -6]\n"
        "materials: {rubber: {young: 3 MPa, poisson: 0.45, density: 1100, damping: 4 ms}}\n"
        "robot: {arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 8 mm}}, material: "
        "rubber, strain: kirchhoff cubic, elements: 4}}}\n"
        "actuators:\n"
        "  round: {tendon: {along: arm, at: [0, \"6 mm*cos(4*x/L)\", \"6 mm*sin(4*x/L)\"]}, "
        "effort: "
        "\"1 N + 60*t\"}\n"
        "  winch: {tendon: {along: arm, at: [0, 0, 5 mm], extra: 50 mm, compliance: 5e-3, viscous: "
        "5 s/m}, shortening: \"3 mm + 2 mm*poly5(t, 0 s, 0.1 s)\"}\n"
        "probes: {tip: {position: arm.tip}, T: {tension: winch}}\n"
        "study: [static: {engine: shooting, tolerance: 1e-10, shooting: &how {points: %d%s}}, "
        "dynamic: "
        "{for: 12 ms, step: 4 ms, tolerance: 1e-10, engine: shooting, shooting: *how}]\n";
    static const char *const how[] = {", history: linear", ""};
    char file[2048];
    outcome a, b;
    (void)snprintf(file, sizeof file, text, 321, "");
    execute(file, &a);
    if (a.status != SNW_OK) fail_msg("%s", a.err.text);
    for (int cubic = 0; cubic < 2; cubic++) {
        double apart[2];
        for (int k = 0; k < 2; k++) {
            (void)snprintf(file, sizeof file, text, 40 * (1 << k) + 1, how[cubic]);
            execute_form(file, &oracle_till_form, &b);
            if (b.status != SNW_OK) fail_msg("%s", b.err.text);
            apart[k] = tips_apart(&a, &b);
            if (k == 1) assert_near(last(&b, TENSION), last(&a, TENSION), cubic ? 1e-7 : 5e-4);
            snw_series_clear(&b.series);
        }
        assert_near(log2(apart[0] / apart[1]) / (cubic ? 4 : 2), 1, 0.1);
    }
    snw_series_clear(&a.series);
}

// A chamber alone, which narrows and winds along a rod with varying section.
static void the_papers_form_of_a_narrowing_chamber(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "gravity: [0, 1, -6]\n"
        "materials: {rubber: {young: 0.3 MPa, poisson: 0.45, density: 1100}}\n"
        "robot: {arm: {on: world, rod: {length: 0.1, section: {circle: {radius: \"8 mm - 20 "
        "mm*x\"}}, material: rubber, strain: cosserat cubic, elements: 2}}}\n"
        "actuators: {cell: {chamber: {along: arm, at: [0, \"3 mm*cos(3*x/L)\", \"3 "
        "mm*sin(3*x/L)\"],"
        " area: \"20 mm^2*(1 - 0.4*x/L)\"}, volume: \"1.65 cm^3\"}}\n"
        "probes: {tip: {position: arm.tip}, p: {pressure: cell}}\n"
        "study: [static: {engine: shooting, tolerance: 1e-10, shooting: {points: %d}}]\n";
    char file[2048];
    outcome a, b;
    double apart[2];
    (void)snprintf(file, sizeof file, text, 161);
    execute(file, &a);
    if (a.status != SNW_OK) fail_msg("%s", a.err.text);
    for (int k = 0; k < 2; k++) {
        (void)snprintf(file, sizeof file, text, 20 * (1 << k) + 1);
        execute_form(file, &oracle_till_form, &b);
        if (b.status != SNW_OK) fail_msg("%s", b.err.text);
        apart[k] = tips_apart(&a, &b);
        snw_series_clear(&b.series);
    }
    assert_near(log2(apart[0] / apart[1]) / 4, 1, 0.15);
    snw_series_clear(&a.series);
}

// A tendon with friction on an arm without other losses: the friction loss is heat, as much as with
// the strain engine.
static void friction_is_in_the_energy_account(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "gravity: [0, 0, -6]\n"
        "materials: {rubber: {young: 3 MPa, poisson: 0.45, density: 1100}}\n"
        "robot: {arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 8 mm}}, material: "
        "rubber, strain: cosserat legendre 6}}}\n"
        "actuators: {pull: {tendon: {along: arm, at: [0, 5 mm, 0], viscous: 5 s/m, friction: "
        "0.3%s}, "
        "%s}}\n"
        "probes: {e: energy}\n"
        "study: [%s]\n";
    static const char *const given[][2] = {
        {"", "effort: \"3 N*poly5(t, 0 s, 0.1 s)\""},
        {", compliance: 5e-3 1/N", "shortening: \"8 mm*poly5(t, 0 s, 0.1 s)\""}};
    static const char *const study[] = {
        "dynamic: {for: 0.1 s, step: 1 ms, scheme: bdf2, start: rest}",
        "dynamic: {for: 0.1 s, step: 1 ms, start: rest, engine: shooting, shooting: {points: 61}}"};
    for (int k = 0; k < 2; k++) {
        double heat[2], work[2];
        for (int shoots = 0; shoots < 2; shoots++) {
            char full[2048];
            outcome o;
            (void)snprintf(full, sizeof full, text, given[k][0], given[k][1], study[shoots]);
            execute(full, &o);
            if (o.status != SNW_OK) fail_msg("%s", o.err.text);
            heat[shoots] = last(&o, 3), work[shoots] = last(&o, 4);
            assert_true(fabs(last(&o, 5)) < 0.02 * heat[shoots]); // dissipation of the time formula
            snw_series_clear(&o.series);
        }
        // with a winch the strain engine assumes that the tendon stretches evenly as it slides
        // (theory.md 3.11)
        assert_near(heat[1] / heat[0], 1, 0.01);
        assert_near(work[1] / work[0], 1, 1e-3);
    }
}

// ---- the paper's robots -------------------------------------------------------------------------

// Till's cantilever under a lateral force, his finger with air under its weight, and his arm with
// two tendons pulled; %d: functions of each strain, %s: study. The files are written as users write
// them, one for both engines.
static const char cantilever[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "materials: {steel: {young: 207 GPa, shear: 79 GPa, density: 8000, damping: 1 ms}}\n"
    "robot:\n"
    "  body: {on: world, rod: {length: 0.4 m, section: {circle: {radius: 1 mm}}, material: steel, "
    "nodes: 40, magnus: 6, strain: cosserat legendre %d}}\n"
    "loads: {push: {on: body.tip, force: [0, \"2 N*poly5(t, 0 s, 0.2 s)\", 0]}}\n"
    "probes: {tip: {position: body.tip}}\n"
    "study: [%s]\n";
static const char finger[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "materials: {foam: {young: 20 kPa, shear: 20 kPa/3, density: 300, damping: 5 ms}}\n"
    "robot:\n"
    "  body: {on: world, pose: {x: z, y: x}, rod: {length: 0.1 m, section: {area: 6.8722339e-4, "
    "moments: [7.7440609e-8, 3.9730102e-8, 3.7710507e-8]}, material: foam, nodes: 40, magnus: 6, "
    "strain: cosserat legendre %d}}\n"
    "actuators:\n"
    "  air: {chamber: {along: body, at: [0, -10.285714 mm, 0], area: 1.96349541e-5 m^2}, gas: "
    "{moles: \"8.163e-5 mol + 6e-5 mol*poly5(t, 0 s, 0.2 s)\"}}\n"
    "probes: {tip: {position: body.tip}}\n"
    "study: [%s]\n";
static const char tendon_arm[] =
    "sinew: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "materials: {steel: {young: 207 GPa, shear: 207 GPa/2.6, density: 1.6e4}}\n"
    "robot:\n"
    "  body: {on: world, pose: {x: z, y: x}, rod: {length: 0.24 m, section: {circle: {radius: 0.4 "
    "mm}, damping: {twist: 1e-5, bend_y: 1e-5, bend_z: 1e-5}}, material: steel, nodes: 40, magnus: "
    "6, strain: cosserat legendre %d}}\n"
    "actuators:\n"
    "  one: {tendon: {along: body, at: [0, 9.5 mm, 0], discs: 10 mm}, effort: \"1.5 N*poly5(t, 0 "
    "s, 0.2 s)\"}\n"
    "  two: {tendon: {along: body, at: [0, 0, 9.5 mm], discs: 10 mm}, effort: \"1 N*poly5(t, 0 s, "
    "0.2 s)\"}\n"
    "fluid: {air: {on: body, drag: {square: 0.03 kg/m^2}}}\n"
    "probes: {tip: {position: body.tip}}\n"
    "study: [%s]\n";

static void run_robot(const char *robot, int functions, const char *study, outcome *o) {
    char text[4096];
    const int n = snprintf(text, sizeof text, robot, functions, study);
    assert_true(n > 0 && (size_t)n < sizeof text);
    execute(text, o);
    if (o->status != SNW_OK) fail_msg("%s", o->err.text);
}

static snw_vec3 tip_at(const outcome *o, int frame) {
    return (snw_vec3){{shown(o, frame, TIP), shown(o, frame, TIP + 1), shown(o, frame, TIP + 2)}};
}

static snw_vec3 tip_of(const char *robot, int functions, const char *study) {
    outcome o;
    run_robot(robot, functions, study, &o);
    const snw_vec3 p = tip_at(&o, o.series.nframe - 1);
    snw_series_clear(&o.series);
    return p;
}

// Order four along the rod towards the strain engine's equilibrium, whose own error vanishes with
// that many functions.
static void equilibrium_slopes(const char *robot) {
    const snw_vec3 want = tip_of(robot, 12, "static: {for: 0.2 s, step: 0.05 s, tolerance: 1e-12}");
    double off[3];
    for (int k = 0; k < 3; k++) {
        char study[160];
        (void)snprintf(study, sizeof study,
                       "static: {for: 0.2 s, step: 0.05 s, engine: shooting, tolerance: 1e-13, "
                       "shooting: {points: %d}}",
                       (6 << k) + 1);
        off[k] = snw_norm(snw_sub(tip_of(robot, 4, study), want));
    }
    for (int k = 0; k < 2; k++) assert_near(log2(off[k] / off[k + 1]) / 4, 1, 0.06);
}

// Order two in time of the distance between the engines, root mean square; steps from `longest` ms
// on.
static void motion_slopes(const char *robot, double longest) {
    double off[3] = {0};
    for (int k = 0; k < 3; k++) {
        char study[200];
        outcome a, b;
        const double h = longest / (1 << k);
        (void)snprintf(study, sizeof study,
                       "static: {}, dynamic: {for: 0.2 s, step: %g ms, scheme: bdf2}", h);
        run_robot(robot, 8, study, &a);
        (void)snprintf(study, sizeof study,
                       "static: {engine: shooting, shooting: {points: 81}}, dynamic: {for: 0.2 s, "
                       "step: %g ms, start: rest, engine: shooting, shooting: {points: 81}}",
                       h);
        run_robot(robot, 8, study, &b);
        assert_int_equal(a.series.nframe, b.series.nframe);
        // only the second half: the starts differ
        for (int i = a.series.nframe / 2; i < a.series.nframe; i++) {
            const snw_vec3 x = snw_sub(tip_at(&a, i), tip_at(&b, i));
            off[k] += snw_dot(x, x) * h;
        }
        snw_series_clear(&a.series);
        snw_series_clear(&b.series);
    }
    // steps of tenths of a period are long: the order approaches its value from below
    const double slope[2] = {log2(off[0] / off[1]) / 2, log2(off[1] / off[2]) / 2};
    assert_near(slope[1] / 2, 1, 0.12);
    assert_true(slope[0] < slope[1] + 0.2);
}

static void cantilever_converges_with_the_order(void **state) {
    (void)state;
    ONLY_DIGITS();
    equilibrium_slopes(cantilever);
    motion_slopes(cantilever, 4);
}

static void finger_converges_with_the_order(void **state) {
    (void)state;
    ONLY_DIGITS();
    equilibrium_slopes(finger);
    motion_slopes(finger, 10);
}

static void tendon_arm_converges_with_the_order(void **state) {
    (void)state;
    ONLY_DIGITS();
    equilibrium_slopes(tendon_arm);
    motion_slopes(tendon_arm, 10);
}

// ---- refused models -----------------------------------------------------------------------------

#define ARMS                                                                                       \
    HEAD "materials: {m: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"                           \
         "robot:\n  arm: {on: world, rod: {length: 1, section: {circle: {radius: 10 mm}}, "        \
         "material: m, strain: kirchhoff legendre 2}}\n"
#define SHOOT "study: [static: {engine: shooting}]\n"

static void refuses_what_it_cannot_do(void **state) {
    (void)state;
    refuses(ARMS
            "sites: {eye: {on: world, pose: {xyz: [0, 0.1, 0]}}}\nactuators: {t: {tendon: {path: "
            "[eye, arm.tip]}, effort: 1}}\n" SHOOT,
            "tendons with straight parts beside a rod");
    refuses(ARMS
            "actuators: {t(k=1..5): {tendon: {along: arm, at: [0, \"k*1 mm\", 0]}, shortening: 1 "
            "mm}}\n" SHOOT,
            "more than four");
    refuses(ARMS "probes: {p: {position: arm.tip}}\nactuators: {t: {tendon: {along: arm}, effort: "
                 "\"p.x\"}}\n" SHOOT,
            "read probes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equilibria_converge),
        cmocka_unit_test(motions_converge),
        cmocka_unit_test(engines_agree_on_areas_that_vary),
        cmocka_unit_test(the_papers_form_goes_to_the_same_equilibrium_and_motion),
        cmocka_unit_test(the_papers_form_without_shear),
        cmocka_unit_test(the_papers_form_of_a_narrowing_chamber),
        cmocka_unit_test(grids_are_chosen_by_error),
        cmocka_unit_test(friction_is_in_the_energy_account),
        cmocka_unit_test(cantilever_converges_with_the_order),
        cmocka_unit_test(finger_converges_with_the_order),
        cmocka_unit_test(tendon_arm_converges_with_the_order),
        cmocka_unit_test(refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
