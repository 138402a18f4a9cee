// SPDX-License-Identifier: MIT
//
// Motions and equilibria of variable-length rods, against closed forms and against a rod in
// material coordinates (tests/oracle/variable_length_motion.h).
#include "oracle/variable_length_motion.h"

#include "executed.h"

#include <math.h>
#include <stdio.h>

#define STEEL "materials: {steel: {young: 200 GPa, poisson: 0.3, density: 8000 kg/m^3}}\n"
#define PROBES                                                                                     \
    "probes: {tip: {position: arm}, out: {value: push}, pace: {rate: push}, force: {effort: "      \
    "push}, "                                                                                      \
    "books: energy, root: {wrench: arm@0 m}}\n"
// Columns of the probes.
enum { TIP = 0, OUT = 3, RATE, FORCE, ENERGIES, BALANCE = ENERGIES + 6, ROOT = ENERGIES + 8 };

static const double pi = 3.14159265358979323846;

// A straight rod that is pushed out needs rhoA l (l'' + g), with any strain basis.
static void a_straight_rod_needs_its_mass_times_acceleration(void **state) {
    (void)state;
    const char *strains[] = {"rigid", "{bend_y: legendre 3}", "kirchhoff legendre 2",
                             "{bend_z: linear}, elements: 3"};
    for (int k = 0; k < 4; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: [-9.81, 0, 0]\n" STEEL
            "robot: {arm: {on: world, rod: {length: 0.3 m, material: steel, section: {circle: "
            "{radius: 1 mm}}, strain: %s}}}\n"
            "actuators: {push: {feed: arm, position: 0.3 m + 0.05 m*sin(2*t/(1 s))}}\n" PROBES
            "study: [{dynamic: {for: 1 s, step: 10 ms}}]\n",
            strains[k]);
        execute_ok(text, &o);
        for (int i = 0; i < o.series.nframe; i++) {
            const double t = o.series.t[i], l = 0.3 + 0.05 * sin(2 * t), a = -0.2 * sin(2 * t);
            assert_near(shown(&o, i, OUT), l, 1e-14);
            assert_near(shown(&o, i, TIP), l, 1e-13);
            assert_near(shown(&o, i, FORCE), 8000 * pi * 1e-6 * l * (a + 9.81), 1e-12);
        }
        snw_series_clear(&o.series);
    }
}

// A rod in a sleeve with the moment M and the tension N at the mouth is pushed out of the sleeve by
// M^2/2EI in addition to N.
static void a_bent_rod_is_pushed_out_of_its_sleeve(void **state) {
    (void)state;
    const double EI = 200e9 * pi / 4 * 1e-12, loads[3][2] = {{0, 0.4}, {-0.3, 0.5}, {0.5, 1.0}};
    for (int k = 0; k < 3; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n" STEEL
            "robot: {arm: {on: world, rod: {length: 0.7 m, material: steel, section: {circle: "
            "{radius: 1 mm}}, strain: {bend_z: legendre 9}, nodes: 40, magnus: 6}}}\n"
            "actuators: {push: {feed: arm, position: 0.5 m}}\n" PROBES
            "loads: {pull: {on: arm, force: [%g, %g, 0]}}\n"
            "study: [static]\n",
            loads[k][0], loads[k][1]);
        execute_ok(text, &o);
        const double M = last(&o, ROOT + 2);
        assert_true(M > 0.15);
        assert_near(last(&o, ROOT + 3), loads[k][0], 1e-12);
        // nine functions: the error falls by an order of magnitude with each
        assert_near(last(&o, FORCE), -loads[k][0] - M * M / (2 * EI), 3e-8);
        snw_series_clear(&o.series);
    }
}

// The inverse problem: with the force of the sleeve given, the length is found; the weight holds
// the rod.
static void given_force_and_given_length_agree(void **state) {
    (void)state;
    const char *form = "sinew: 1\ngravity: [-9.81, 0, 0]\n" STEEL
                       "robot: {arm: {on: world, rod: {length: 0.44 m, material: steel, section: "
                       "{circle: {radius: 1 mm}}, strain: {bend_z: legendre 6}, nodes: 24}}}\n"
                       "actuators: {push: {feed: arm, %s}}\n" PROBES
                       "loads: {pull: {on: arm, force: [0, 0.1 N, 0]}}\n"
                       "study: [static]\n";
    char text[2000], given[60];
    outcome o;
    (void)snprintf(text, sizeof text, form, "position: 0.5 m");
    execute_ok(text, &o);
    const double force = last(&o, FORCE), y = last(&o, TIP + 1);
    snw_series_clear(&o.series);
    (void)snprintf(given, sizeof given, "effort: %.17g N", force);
    (void)snprintf(text, sizeof text, form, given);
    execute_ok(text, &o);
    assert_near(last(&o, OUT), 0.5, 1e-10);
    assert_near(last(&o, TIP + 1), y, 1e-10);
    snw_series_clear(&o.series);
}

// ---- a rod in material coordinates --------------------------------------------------------------

enum { FUNCTIONS = 4 };

static oracle_variable_length_rod rubber(int given,
                                         void (*laws)(double t, oracle_variable_length_laws *out)) {
    const double r = 0.01;
    return (oracle_variable_length_rod){.n = FUNCTIONS,
                                        .EI = 2e6 * pi / 4 * pow(r, 4),
                                        .rhoA = 1000 * pi * r * r,
                                        .rhoI = 1000 * pi / 4 * pow(r, 4),
                                        .damping = 0.02,
                                        .gravity = {-3, -9.81},
                                        .given = given,
                                        .laws = laws};
}

#define RUBBER                                                                                     \
    "sinew: 1\ngravity: [-3, -9.81, 0]\n"                                                          \
    "materials: {rubber: {young: 2 MPa, density: 1000 kg/m^3, damping: 20 ms}}\n"
#define RUBBER_ROD                                                                                 \
    "rod: {length: 0.4 m, material: rubber, section: {circle: {radius: 1 cm}}, strain: {bend_z: "  \
    "chebyshev 4}, nodes: 30, magnus: 6}"
#define BENT "initial: {arm: {strain: {bend_z: \"2/(1 m) + 3/(1 m)*(2*x/L - 1)\"}}}\n"

static void still(double t, oracle_variable_length_laws *out) {
    *out = (oracle_variable_length_laws){
        .l = {0.4 + 0.15 * sin(3 * t), 0.45 * cos(3 * t), -1.35 * sin(3 * t)}};
}

static void carried(double t, oracle_variable_length_laws *out) {
    still(t, out);
    out->x[0] = 0.1 * sin(4 * t), out->x[1] = 0.4 * cos(4 * t), out->x[2] = -1.6 * sin(4 * t);
    out->y[0] = 0.2 * t * t, out->y[1] = 0.4 * t, out->y[2] = 0.4;
    out->angle[0] = 0.8 * sin(2 * t), out->angle[1] = 1.6 * cos(2 * t);
    out->angle[2] = -3.2 * sin(2 * t);
}

static void pushed(double t, oracle_variable_length_laws *out) {
    *out = (oracle_variable_length_laws){.push = 1.2 + 2 * sin(9 * t)};
}

// Tip and force at the end of a motion of the oracle from the bent rod, l in y after the rates.
static void oracle_motion(oracle_variable_length_rod rod, double end, double tip[2], double *push,
                          double *y) {
    oracle_variable_length_motion *m = oracle_variable_length_create(&rod);
    memset(y, 0, (2 * FUNCTIONS + 2) * sizeof *y);
    y[0] = 2, y[1] = 3, y[2 * FUNCTIONS] = 0.4;
    oracle_variable_length_go(m, 0, end, 1e-11, y);
    oracle_variable_length_at(m, end, y, tip, push);
    oracle_variable_length_destroy(m);
}

static void compare(const char *text, oracle_variable_length_rod rod, double end) {
    outcome o;
    double tip[2], push, y[2 * FUNCTIONS + 2];
    execute_ok(text, &o);
    oracle_motion(rod, end, tip, &push, y);
    // tolerances of both integrators; quadrature is exact to rounding at these nodes
    assert_near(last(&o, TIP), tip[0], 2e-8);
    assert_near(last(&o, TIP + 1), tip[1], 2e-8);
    if (rod.given) assert_near(last(&o, FORCE), push, 1e-6);
    if (!rod.given) assert_near(last(&o, OUT), y[2 * FUNCTIONS], 1e-8);
    assert_near(last(&o, BALANCE), 0, 1e-8);
    snw_series_clear(&o.series);
}

static void a_given_length_moves_as_in_coordinates_of_the_material(void **state) {
    (void)state;
    compare(RUBBER "robot: {arm: {on: world, " RUBBER_ROD "}}\n" BENT PROBES
                   "actuators: {push: {feed: arm, position: 0.4 m + 0.15 m*sin(3*t/(1 s))}}\n"
                   "study: [{dynamic: {for: 0.5 s, scheme: adaptive, tolerance: 1e-10}}]\n",
            rubber(1, still), 0.5);
}

static void a_moving_root_moves_as_in_coordinates_of_the_material(void **state) {
    (void)state;
    compare(RUBBER "robot: {arm: {on: world, pose: {xyz: [\"0.1 m*sin(4*t/(1 s))\", \"0.2 "
                   "m*(t/(1 s))^2\", 0], axis: z, angle: \"0.8*sin(2*t/(1 s))\"}, " RUBBER_ROD
                   "}}\n" BENT PROBES
                   "actuators: {push: {feed: arm, position: 0.4 m + 0.15 m*sin(3*t/(1 s))}}\n"
                   "study: [{dynamic: {for: 0.5 s, scheme: adaptive, tolerance: 1e-10}}]\n",
            rubber(1, carried), 0.5);
}

static void a_given_force_moves_as_in_coordinates_of_the_material(void **state) {
    (void)state;
    compare(RUBBER "robot: {arm: {on: world, " RUBBER_ROD "}}\n" BENT PROBES
                   "actuators: {push: {feed: arm, effort: 1.2 N + 2 N*sin(9*t/(1 s))}}\n"
                   "study: [{dynamic: {for: 0.4 s, scheme: adaptive, tolerance: 1e-10}}]\n",
            rubber(0, pushed), 0.4);
}

static void collocation_moves_as_in_coordinates_of_the_material(void **state) {
    (void)state;
    static const char *const feeds[] = {"position: 0.4 m + 0.15 m*sin(3*t/(1 s))",
                                        "effort: 1.2 N + 2 N*sin(9*t/(1 s))"};
    for (int f = 0; f < 2; f++) {
        char text[2000];
        (void)snprintf(text, sizeof text,
                       RUBBER "robot: {arm: {on: world, " RUBBER_ROD "}}\n" BENT PROBES
                              "actuators: {push: {feed: arm, %s}}\n"
                              "study: [{dynamic: {for: 0.2 s, step: 1 ms, scheme: gauss6}}]\n",
                       feeds[f]);
        compare(text, rubber(f == 0, f ? pushed : still), 0.2);
    }
}

// 1 - 0.9 z + 0.5 z^2 times the radius at the tip, z = 0.4 m - x from the tip.
#define TAPERED_ROD                                                                                \
    "rod: {length: 0.4 m, material: rubber, section: {circle: {radius: \"1 cm*(1 - 0.9*(0.4 - "    \
    "x/(1 m)) + 0.5*(0.4 - x/(1 m))^2)\"}}, strain: {bend_z: chebyshev 4}, nodes: 60, magnus: 6}"

static void a_rod_of_varying_section_moves_as_in_coordinates_of_the_material(void **state) {
    (void)state;
    static const char *const feeds[] = {"position: 0.4 m + 0.15 m*sin(3*t/(1 s))",
                                        "effort: 1.2 N + 2 N*sin(9*t/(1 s))"};
    for (int f = 0; f < 2; f++) {
        char text[2000];
        oracle_variable_length_rod rod = rubber(f == 0, f ? pushed : still);
        rod.radius_series[0] = -0.9, rod.radius_series[1] = 0.5;
        (void)snprintf(text, sizeof text,
                       RUBBER "robot: {arm: {on: world, " TAPERED_ROD "}}\n" BENT PROBES
                              "actuators: {push: {feed: arm, %s}}\n"
                              "study: [{dynamic: {for: 0.3 s, scheme: adaptive, tolerance: "
                              "1e-10}}]\n",
                       feeds[f]);
        compare(text, rod, 0.3);
    }
}

// ---- laws of the material coordinate ------------------------------------------------------------

// A rod with the free length l is an ordinary rod of that length with shifted laws: the material at
// x is l - L further from the root; the laws are functions of x - S. Tip, wrench at the root and
// strains agree.
static void compare_moved(const char *laws, double l, double tolerance) {
    outcome o[2];
    for (int variable = 0; variable < 2; variable++) {
        char text[3000], feed[100] = "";
        if (variable)
            (void)snprintf(feed, sizeof feed, "actuators: {push: {feed: arm, position: %.17g m}}\n",
                           l);
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: [-3, -9.81, 2]\nparameters: {S: %.17g m}\n"
                       "materials: {rubber: {young: 2 MPa, poisson: 0.4, density: \"1 g/cm^3*(1 + "
                       "((x - S)/(1 m))^2)\"}}\n"
                       "robot: {arm: {on: world, rod: {length: %.17g m, material: rubber, %s, "
                       "strain: {twist: legendre 3, bend_y: legendre 4, bend_z: legendre 4, "
                       "stretch: legendre 2}, nodes: 24, magnus: 6}}}\n%s"
                       "probes: {tip: {position: arm}, root: {wrench: arm@0 m}, mid: {strain: "
                       "arm@30%%}}\nstudy: [static]\n",
                       variable ? 0 : l - 0.4, variable ? 0.4 : l, laws, feed);
        execute(text, &o[variable]);
        if (o[variable].status != SNW_OK) fail_msg("%s", o[variable].err.text);
    }
    for (int c = 0; c < 15; c++) {
        if (!(fabs(last(&o[1], c) - last(&o[0], c)) <= tolerance))
            fail_msg("l = %g, column %d: %.12g, %.12g", l, c, last(&o[1], c), last(&o[0], c));
    }
    for (int k = 0; k < 2; k++) snw_series_clear(&o[k].series);
}

static const double lengths[] = {0.1, 0.25, 0.4, 0.55};

static void a_rod_of_varying_section_is_an_ordinary_one_with_its_section_moved(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        // Newton's tolerance; then the interpolation error of a sine in pieces of L/32
        compare_moved("section: {circle: {radius: \"8 mm*(1 - 0.7*(x - S)/(1 m))\"}}", lengths[k],
                      1e-9);
        compare_moved("section: {rectangle: {y: \"8 mm + 2 mm*sin((x - S)/(5 cm))\", z: 1 cm}}",
                      lengths[k], 1e-6);
    }
}

// A catheter that is curved in front and straight behind takes this shape as it comes out.
static void a_catheter_takes_its_shape_as_it_comes_out(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        compare_moved("section: {circle: {radius: 8 mm}}, rest: {bend_z: \"15/(1 m)*poly5(x - S, "
                      "0.2 m, 0.3 m)\", twist: \"2/(1 m)*poly5(x - S, 0.1 m, 0.3 m)\"}",
                      lengths[k], 1e-9);
    }
    // without load: an arc of the free length, then a straight line, and no push force
    for (int k = 0; k < 2; k++) {
        char text[2000];
        outcome o;
        const double l = k ? 0.3 : 0.1, arc = fmin(l, 0.2), behind = l - arc;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\n" STEEL
                       "robot: {arm: {on: world, rod: {length: 0.4 m, material: steel, section: "
                       "{circle: {radius: 1 mm}}, rest: {bend_z: \"if(x > 0.2 m, 4/(1 m), 0/(1 "
                       "m))\"}, strain: {bend_z: legendre 4}, nodes: %d}}}\n"
                       "actuators: {push: {feed: arm, position: %g m}}\n" PROBES
                       "study: [static]\n",
                       k ? 100 : 10, l);
        execute_ok(text, &o);
        // the end of the arc is rounded over L/32, which moves it by half of that at most
        const double tolerance = k ? 4 * 0.2 * 0.4 / 64 : 1e-12;
        assert_near(last(&o, TIP), behind + sin(4 * arc) / 4, tolerance);
        assert_near(last(&o, TIP + 1), (1 - cos(4 * arc)) / 4, tolerance);
        assert_near(last(&o, FORCE), 0, 1e-9);
        snw_series_clear(&o.series);
    }
}

// The force that pushes a bent rod out is M^2/2EI with EI at the mouth.
static void a_rod_of_varying_section_is_pushed_by_the_energy_at_its_root(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        const double l = k ? 0.8 : 0.5, r = 1 - 0.4 * (0.7 - l),
                     EI = 200e9 * pi / 4 * 1e-12 * pow(r, 4);
        char text[2000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n" STEEL
            "robot: {arm: {on: world, rod: {length: 0.7 m, material: steel, section: {circle: "
            "{radius: \"1 mm*(1 - 0.4*x/(1 m))\"}}, strain: {bend_z: legendre 12}, nodes: 40, "
            "magnus: 6}}}\n"
            "actuators: {push: {feed: arm, position: %g m}}\n" PROBES
            "loads: {pull: {on: arm, force: [-0.2, 0.25, 0]}}\nstudy: [static]\n",
            l);
        execute_ok(text, &o);
        const double M = last(&o, ROOT + 2);
        assert_true(M > 0.1);
        // twelve functions
        assert_near(last(&o, FORCE), 0.2 - M * M / (2 * EI), 3e-7);
        snw_series_clear(&o.series);
    }
}

// A straight needle on a spring and a damper that read its length: rhoA l l'' = k (l_0 - l) - c l',
// by Runge-Kutta.
static double needle(double l, double v) {
    const double rhoA = 8000 * pi * 1e-6;
    return (2 * (0.5 - l) - 0.02 * v) / (rhoA * l);
}

static void laws_read_the_length(void **state) {
    (void)state;
    static const char *const schemes[] = {"scheme: adaptive, tolerance: 1e-11", "step: 0.1 ms"};
    double l = 0.3, v = 0;
    const double h = 1e-4;
    for (int i = 0; i < 5000; i++) {
        const double a = needle(l, v), b = needle(l + h / 2 * v, v + h / 2 * a),
                     c = needle(l + h / 2 * v + h * h / 4 * a, v + h / 2 * b),
                     d = needle(l + h * v + h * h / 2 * b, v + h * c);
        l += h * v + h * h / 6 * (a + b + c);
        v += h / 6 * (a + 2 * b + 2 * c + d);
    }
    for (int k = 0; k < 2; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\n" STEEL
                       "robot: {arm: {on: world, rod: {length: 0.3 m, material: steel, section: "
                       "{circle: {radius: 1 mm}}, strain: {bend_y: legendre 2}}}}\n"
                       "actuators: {push: {feed: arm, effort: \"2 N/m*(0.5 m - out) - 20 "
                       "mN*s/m*pace\"}}\n" PROBES "study: [{dynamic: {for: 0.5 s, %s}}]\n",
                       schemes[k]);
        execute_ok(text, &o);
        // tolerance; and the error of generalized-alpha
        assert_near(last(&o, OUT), l, k ? 1e-6 : 1e-9);
        assert_near(last(&o, RATE), v, k ? 1e-5 : 1e-8);
        snw_series_clear(&o.series);
    }
}

// ---- schemes ------------------------------------------------------------------------------------

// A rod of constant free length moves as an ordinary rod.
static void a_length_at_rest_is_an_ordinary_rod(void **state) {
    (void)state;
    const char *form = RUBBER
        "robot: {arm: {on: world, pose: {axis: z, angle: \"0.8*sin(2*t/(1 s))\"}, " RUBBER_ROD
        "}}\n" BENT "%s"
        "probes: {tip: {position: arm}, root: {wrench: arm@0 m}}\n"
        "study: [{dynamic: {for: 0.2 s, step: 2 ms}}]\n";
    char text[2000];
    outcome o[2];
    for (int k = 0; k < 2; k++) {
        (void)snprintf(text, sizeof text, form,
                       k ? "actuators: {push: {feed: arm, position: 0.4 m}}\n" : "");
        execute(text, &o[k]);
        assert_int_equal(o[k].status, SNW_OK);
    }
    // Newton's tolerance
    for (int i = 0; i < o[0].series.nframe; i++) {
        for (int c = 0; c < 9; c++) assert_near(shown(&o[1], i, c), shown(&o[0], i, c), 1e-9);
    }
    for (int k = 0; k < 2; k++) snw_series_clear(&o[k].series);
}

enum { LOOKS = 10 };

// Largest distance of the tip from that of the oracle, at instants 20 ms apart.
static double distance(const outcome *o, double (*tip)[2]) {
    double worst = 0;
    for (int k = 0; k < LOOKS; k++) {
        double at[2];
        for (int i = 0; i < 2; i++) {
            assert_true(snw_series_at(&o->series, TIP + i, 0.02 * (k + 1), &at[i]));
        }
        worst = fmax(worst, hypot(at[0] - tip[k][0], at[1] - tip[k][1]));
    }
    return worst;
}

// Errors fall with the order of the scheme, and the energy account closes.
static void schemes_have_their_order(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int order;
    } schemes[] = {{"generalized-alpha", 2}, {"newmark", 2}, {"hht", 2},       {"wbz", 2},
                   {"trapezoidal", 2},       {"bdf2", 2},    {"bdf-alpha", 2}, {"euler", 1}};
    static const char *const feeds[] = {"position: 0.4 m + 0.15 m*sin(3*t/(1 s))",
                                        "effort: 1.2 N + 2 N*sin(9*t/(1 s))"};
    for (int f = 0; f < 2; f++) {
        double tip[LOOKS][2], push, y[2 * FUNCTIONS + 2];
        for (int k = 0; k < LOOKS; k++) {
            oracle_motion(rubber(f == 0, f ? pushed : still), 0.02 * (k + 1), tip[k], &push, y);
        }
        for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
            double error[2], balance[2];
            for (int h = 0; h < 2; h++) {
                char text[2000];
                outcome o;
                (void)snprintf(text, sizeof text,
                               RUBBER "robot: {arm: {on: world, " RUBBER_ROD "}}\n" BENT PROBES
                                      "actuators: {push: {feed: arm, %s}}\n"
                                      "study: [{dynamic: {for: 0.2 s, step: %g ms, scheme: %s, "
                                      "shorten: off}}]\n",
                               feeds[f], h ? 0.5 : 1.0, schemes[k].name);
                execute(text, &o);
                if (o.status != SNW_OK) fail_msg("%s: %s", schemes[k].name, o.err.text);
                error[h] = distance(&o, tip);
                balance[h] = fabs(last(&o, BALANCE));
                snw_series_clear(&o.series);
            }
            assert_true(balance[1] <=
                        fmax(balance[0] / (schemes[k].order == 1 ? 1.8 : 3.5), 1e-11));
            const double order = log2(error[0] / error[1]);
            if (!(fabs(order - schemes[k].order) < 0.3)) {
                fail_msg("%s, %s: order %g, errors %g, %g", feeds[f], schemes[k].name, order,
                         error[0], error[1]);
            }
        }
    }
}

// ---- refused models -----------------------------------------------------------------------------

static void expect_refusal(const char *text, const char *word) {
    snw_document *doc;
    snw_desc *desc;
    snw_error err = {0};
    snw_run *run = NULL;
    snw_status s = describe(text, &doc, &desc, &err);
    if (s == SNW_OK) s = snw_run_create(desc, "main", &run, &err);
    if (s == SNW_OK) {
        snw_run_totals totals;
        s = snw_run_execute(run, 0, NULL, NULL, &totals, &err);
    }
    assert_int_not_equal(s, SNW_OK);
    if (!strstr(err.text, word)) fail_msg("'%s' lacks '%s'", err.text, word);
    snw_run_destroy(run);
    release(doc, desc);
}

#define VARIABLE_LENGTH(keys, more)                                                                \
    RUBBER "robot: {arm: {on: world, rod: {length: 0.4 m, material: rubber, section: {circle: "    \
           "{radius: 1 cm}}, " keys "}}}\nactuators: {push: {feed: arm, position: 0.4 m}}\n" more
#define PLAIN "strain: {bend_z: legendre 2}"

static void unsupported_elements_are_refused(void **state) {
    (void)state;
    expect_refusal(VARIABLE_LENGTH("strain: {bend_z: constant}, elements: 3", "study: [static]\n"),
                   "linear");
    expect_refusal(
        VARIABLE_LENGTH("strain: {bend_z: \"1/(1 m)*sin(t/(1 s))\"}", "study: [static]\n"),
        "basis");
    expect_refusal(RUBBER
                   "robot: {arm: {on: world, rod: {length: 0.4 m, material: rubber, section: "
                   "{circle: {radius: \"1 cm + 0.1*x\"}}, " PLAIN "}}}\n"
                   "actuators: {push: {feed: arm, position: 0.6 m}}\nstudy: [static]\n",
                   "radius");
    expect_refusal(
        VARIABLE_LENGTH(PLAIN,
                        "loads: {poke: {on: arm@0.1 m, force: [0, 1, 0]}}\nstudy: [static]\n"),
        "between its ends");
    expect_refusal(
        VARIABLE_LENGTH(PLAIN, "study: [{dynamic: {for: 1 s, step: 1 ms, scheme: conserving}}]\n"),
        "generalized-alpha");
    expect_refusal(VARIABLE_LENGTH(PLAIN,
                                   "contacts: {floor: {ground: {on: arm, normal: z, stiffness: 1 "
                                   "kPa}}}\nstudy: [static]\n"),
                   "ground");
    expect_refusal(RUBBER "robot: {arm: {on: world, " RUBBER_ROD "}}\n"
                          "actuators: {push: {feed: arm, position: 0.4 m - 1 m/s*t}}\n"
                          "study: [{dynamic: {for: 1 s, step: 10 ms}}]\n",
                   "arm");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_straight_rod_needs_its_mass_times_acceleration),
        cmocka_unit_test(a_bent_rod_is_pushed_out_of_its_sleeve),
        cmocka_unit_test(given_force_and_given_length_agree),
        cmocka_unit_test(a_given_length_moves_as_in_coordinates_of_the_material),
        cmocka_unit_test(a_moving_root_moves_as_in_coordinates_of_the_material),
        cmocka_unit_test(a_given_force_moves_as_in_coordinates_of_the_material),
        cmocka_unit_test(collocation_moves_as_in_coordinates_of_the_material),
        cmocka_unit_test(a_rod_of_varying_section_moves_as_in_coordinates_of_the_material),
        cmocka_unit_test(a_rod_of_varying_section_is_an_ordinary_one_with_its_section_moved),
        cmocka_unit_test(a_catheter_takes_its_shape_as_it_comes_out),
        cmocka_unit_test(a_rod_of_varying_section_is_pushed_by_the_energy_at_its_root),
        cmocka_unit_test(laws_read_the_length),
        cmocka_unit_test(a_length_at_rest_is_an_ordinary_rod),
        cmocka_unit_test(schemes_have_their_order),
        cmocka_unit_test(unsupported_elements_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
