// SPDX-License-Identifier: MIT
//
// Rods on rods by the shooting engine: a rod cut in two against the whole, random trees against the
// strain engine in equilibrium and in motion, tendons and chambers through joints, stability, the
// energy account, saved states, and what it refuses.
#include "executed.h"
#include "sinew/robot.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 6000 };

// Largest difference of the last values of `n` columns.
static double differ(const outcome *a, const outcome *b, int column, int n) {
    double most = 0;
    for (int i = column; i < column + n; i++) most = fmax(most, fabs(last(a, i) - last(b, i)));
    return most;
}

static void execute_with(const char *text, const char *study, outcome *o) {
    char full[MOST];
    assert_true((size_t)snprintf(full, sizeof full, "%sstudy: [%s]\n", text, study) < sizeof full);
    execute_ok(full, o);
}

// ---- a rod cut in two ---------------------------------------------------------------------------

// A rod with a load in its middle, which makes both grids the same, and tendons: one of given
// tension, one of given length, a chamber of given volume, all along the whole of it.
#define TENDONS(along)                                                                             \
    "actuators:\n"                                                                                 \
    "  pull: {tendon: {along: " along ", at: [0, 3 mm, 0]}, effort: \"2 + t\"}\n"                  \
    "  wind: {tendon: {along: " along ", at: [0, -2 mm, 2 mm], compliance: 2e-3, extra: 0.1}, "    \
    "shortening: \"4 mm + 10 mm*t\"}\n"                                                            \
    "  blow: {chamber: {along: " along ", at: [0, 0, -3 mm], area: 8 mm^2}, volume: 2.5 cm^3}\n"   \
    "loads: {inner: {on: MIDDLE, force: [0, 0.02, 0.03*cos(30*t)]}, outer: {on: END, "             \
    "force: [0, -0.05, 0], torque: [1e-3, 0, 0], frame: body}}\n"
#define SOFT                                                                                       \
    "sinew: 1\ngravity: [1, -3, -6]\n"                                                             \
    "materials: {m: {young: 2 MPa, poisson: 0.45, density: 1100, damping: 3 ms}}\n"
#define PART(name, on, length)                                                                     \
    "  " name ": {on: " on ", rod: {length: " length ", section: {circle: {radius: 6 mm}}, "       \
    "material: m, strain: cosserat legendre 4}}\n"
#define CUT_PROBES                                                                                 \
    "probes: {p: {position: END}, v: {velocity: END}, e: energy, f: {wrench: arm.root}, "          \
    "T: {tension: wind}, P: {pressure: blow}, s: {value: pull}, w: {rate: wind}}\n"

static const char whole[] = SOFT "robot:\n" PART("arm", "world", "0.3") TENDONS("arm") CUT_PROBES;
static const char halves[] = SOFT "robot:\n" PART("arm", "world", "0.15")
    PART("fore", "arm.tip", "0.15") TENDONS("[arm, fore]") CUT_PROBES;

// the text with its places MIDDLE and END
static void placed(const char *text, const char *middle, const char *end, char *out) {
    size_t n = 0;
    while (*text) {
        const bool is_middle = strncmp(text, "MIDDLE", 6) == 0,
                   is_end = strncmp(text, "END", 3) == 0;
        const char *put = is_middle ? middle : is_end ? end : NULL;
        if (put) {
            n += (size_t)snprintf(out + n, MOST - n, "%s", put);
            text += is_middle ? 6 : 3;
        } else {
            out[n++] = *text++;
        }
    }
    out[n] = '\0';
}

static void a_rod_cut_in_two_is_the_same(void **state) {
    (void)state;
    static char text[2][MOST];
    static const char *const study[2] = {
        "static: {engine: shooting, shooting: {points: %d}}",
        "static: {engine: shooting, shooting: {points: %d}}, dynamic: {engine: shooting, for: 0.05 "
        "s, step: 1 ms, scheme: bdf-alpha, alpha: -0.3, shooting: {points: %d}}"};
    placed(whole, "arm@0.15 m", "arm.tip", text[0]);
    placed(halves, "arm.tip", "fore.tip", text[1]);
    for (int k = 0; k < 2; k++) {
        outcome o[2];
        for (int i = 0; i < 2; i++) {
            char how[400];
            const int points = i == 0 ? 41 : 21;
            (void)snprintf(how, sizeof how, study[k], points, points);
            execute_with(text[i], how, &o[i]);
        }
        // position, velocity, energies without the solver's account, wrench, tension, pressure
        assert_near(differ(&o[0], &o[1], 0, 6), 0, 1e-10);
        assert_near(differ(&o[0], &o[1], 6, 3), 0, 1e-10);
        assert_near(differ(&o[0], &o[1], 14, 6), 0, 1e-9);
        assert_near(last(&o[1], 20) / last(&o[0], 20), 1, 1e-9);
        assert_near(last(&o[1], 21) / last(&o[0], 21), 1, 1e-9);
        assert_near(differ(&o[0], &o[1], 22, 2), 0, 1e-10);
        assert_true(last(&o[0], 20) > 0.1);
        for (int i = 0; i < 2; i++) snw_series_clear(&o[i].series);
    }
}

// A rod on the middle of another: the same as on the joint of its halves. Loads in the middle of
// both make the grids the same.
#define BRANCH(length)                                                                             \
    "{length: " length ", section: {circle: {radius: 4 mm}}, material: m, strain: cosserat "       \
    "legendre 4}}\n"
#define TURNED ", pose: {xyz: [0, 10 mm, 0], axis: z, angle: 1}, rod: "
#define SEEN(side, middle, end)                                                                    \
    "actuators: {t: {tendon: {along: " side ", at: [0, 2 mm, 0], compliance: 1e-3}, shortening: "  \
    "\"2 mm + 5 mm*t\"}}\n"                                                                        \
    "loads: {a: {on: " end ", force: [0.02, 0, 0]}, b: {on: " middle ", force: [0, 0.01, 0]}}\n"   \
    "probes: {p: {position: " end "}, v: {velocity: " end                                          \
    "}, f: {wrench: arm.root}, T: {tension: "                                                      \
    "t}}\n"

static void a_rod_on_the_middle_is_on_the_joint_of_halves(void **state) {
    (void)state;
    static const char *const text[2] = {
        SOFT "robot:\n" PART("arm", "world", "0.3") "  side: {on: arm@0.15 m" TURNED BRANCH("0.1")
            SEEN("side", "side@0.05 m", "side.tip"),
        SOFT "robot:\n" PART("arm", "world", "0.15")
            PART("fore", "arm.tip", "0.15") "  side: {on: arm.tip" TURNED BRANCH(
                "0.05") "  more: {on: side.tip, rod: " BRANCH("0.05")
                SEEN("[side, more]", "side.tip", "more.tip")};
    outcome o[2];
    for (int i = 0; i < 2; i++) {
        char how[300];
        const int points = i == 0 ? 41 : 21;
        (void)snprintf(how, sizeof how,
                       "static: {engine: shooting, shooting: {points: %d}}, dynamic: {engine: "
                       "shooting, for: 0.05 s, step: 1 ms, scheme: bdf2, shooting: {points: %d}}",
                       points, points);
        execute_with(text[i], how, &o[i]);
    }
    assert_near(differ(&o[0], &o[1], 0, 6), 0, 1e-10);
    assert_near(differ(&o[0], &o[1], 6, 6), 0, 1e-9);
    assert_near(last(&o[1], 12) / last(&o[0], 12), 1, 1e-9);
    for (int i = 0; i < 2; i++) snw_series_clear(&o[i].series);
}

// ---- random trees -------------------------------------------------------------------------------

static unsigned long long seed = 3;
static double any(void) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(seed >> 33) / 2147483648.0;
}

enum { LIMBS = 5 };

// Rods on the tips of others, rigid pieces with mass between them, one of them on a driven hinge,
// tendons along one or two of them, loads at tips and along rods. Strains are smooth along each
// rod, as the bases of the strain engine are.
static void random_tree(char *text) {
    size_t n = (size_t)snprintf(
        text, MOST,
        "sinew: 1\ngravity: [%.3f, %.3f, -6]\nmaterials: {m: {young: 3 MPa, poisson: 0.45, "
        "density: 1100, damping: 8 ms}}\nrobot:\n",
        any(), any());
    int parent[LIMBS];
#define ADD(...) n += (size_t)snprintf(text + n, MOST - n, __VA_ARGS__)
    for (int i = 0; i < LIMBS; i++) {
        char on[64] = "world";
        parent[i] = i == 0 ? -1 : (int)(any() * i);
        if (i > 0) {
            ADD("  palm%d: {on: rod%d.tip, pose: {xyz: [%.4f, %.4f, 0], axis: [1, %.3f, 0.5], "
                "angle: %.3f}, body: {mass: 2 g, box: [6 mm, 4 mm, 3 mm]}}\n",
                i, parent[i], 0.01 * any(), 0.01 * any(), any(), any());
            (void)snprintf(on, sizeof on, "palm%d", i);
        }
        if (i == 2) {
            ADD("  hinge: {on: %s, joint: revolute, axis: [0, 0.6, 0.8]}\n", on);
            (void)snprintf(on, sizeof on, "hinge");
        }
        ADD("  rod%d: {on: %s, pose: {xyz: [%.4f, 0, 0], axis: [%.3f, 1, %.3f], angle: %.3f}, rod: "
            "{length: 0.08, section: {circle: {radius: %.2f mm}}, material: m, strain: cosserat "
            "legendre 8, rest: {bend_z: %.2f}}}\n",
            i, on, 0.01 * any(), any(), any(), 2 * any(), 4 + 2 * any(), 6 * any());
    }
    ADD("actuators:\n  turn: {joint: hinge, position: \"0.5*poly5(t, 0 s, 0.1 s)\"}\n");
    for (int i = 0; i < LIMBS; i++) {
        char along[32];
        if (i > 0 && i != 2) {
            (void)snprintf(along, sizeof along, "[rod%d, rod%d]", parent[i], i);
        } else {
            (void)snprintf(along, sizeof along, "rod%d", i);
        }
        if (i == 1) {
            ADD("  t%d: {tendon: {along: %s, at: [0, 2 mm, 1 mm], compliance: 1e-3}, shortening: "
                "\"1 mm + 3 mm*t\"}\n",
                i, along);
        } else {
            ADD("  t%d: {tendon: {along: %s, at: [0, -1 mm, %.2f mm]}, effort: \"%.3f + t\"}\n", i,
                along, 2 * any(), any());
        }
    }
    ADD("loads:\n");
    for (int i = 0; i < LIMBS; i++) {
        ADD("  l%d: {on: rod%d.tip, force: [%.3f, 0, \"0.02*sin(40*t)\"]%s}\n", i, i, 0.03 * any(),
            i % 2 ? ", frame: body" : "");
        ADD("  d%d: {along: rod%d, force: [0, %.3f, 0]}\n", i, i, 0.3 * any());
    }
    ADD("probes: {e: energy");
    for (int i = 0; i < LIMBS; i++) ADD(", p%d: {position: rod%d.tip}", i, i);
    ADD(", root: {reaction: rod0}, q: {effort: turn}, T: {tension: t1}}\n");
#undef ADD
    assert_true(n < MOST);
}

enum { ENERGIES = 8, TIPS = 3 * LIMBS, ROOT = ENERGIES + TIPS };

static void random_trees_balance_as_with_strains(void **state) {
    (void)state;
    static char text[MOST];
    for (int k = 0; k < 6; k++) {
        outcome a, b;
        random_tree(text);
        execute_with(text, "static: {tolerance: 1e-9}", &a);
        execute_with(text, "static: {engine: shooting, shooting: {points: 41}}", &b);
        assert_near(differ(&a, &b, ENERGIES, TIPS), 0, 1e-6);
        assert_near(differ(&a, &b, ROOT, 6), 0, 1e-6);
        assert_near(last(&b, ROOT + 7) / last(&a, ROOT + 7), 1, 1e-5);
        snw_series_clear(&a.series);
        snw_series_clear(&b.series);
    }
}

// In motion both engines have errors of second order in the time step: that of the difference falls
// with its square. The energy account closes.
static void random_trees_move_as_with_strains(void **state) {
    (void)state;
    static char text[MOST];
    outcome a, b[2];
    random_tree(text);
    execute_with(text,
                 "static: {tolerance: 1e-9}, dynamic: {for: 0.1 s, step: 0.5 ms, scheme: "
                 "generalized-alpha}",
                 &a);
    for (int k = 0; k < 2; k++) {
        char how[300];
        (void)snprintf(how, sizeof how,
                       "static: {engine: shooting, shooting: {points: 31}}, dynamic: {engine: "
                       "shooting, for: 0.1 s, step: %g, scheme: bdf2, shooting: {points: 31}}",
                       2e-3 / (1 << k));
        execute_with(text, how, &b[k]);
    }
    const double off[2] = {differ(&a, &b[0], ENERGIES, TIPS), differ(&a, &b[1], ENERGIES, TIPS)};
    assert_true(off[1] < 0.35 * off[0]);
    assert_near(off[1], 0, 3e-5);
    for (int k = 0; k < 2; k++) {
        // kinetic + elastic + gravity + dissipated - work = what the formula took out, of order two
        const double scheme = last(&b[k], 5);
        assert_true(fabs(scheme) < 0.01 * last(&b[k], 4));
        snw_series_clear(&b[k].series);
    }
    snw_series_clear(&a.series);
}

// ---- fields -------------------------------------------------------------------------------------

// Magnetised rods, one on the other, and a magnet on their tip near a dipole that a motor moves; a
// field with a potential that changes with time, and one without.
static void fields_act_as_with_strains(void **state) {
    (void)state;
    static const char text[] = SOFT
        "robot:\n"
        "  slide: {on: world, pose: {xyz: [0.1, 0.06, 0.02]}, joint: prismatic, axis: y}\n"
        "  arm: {on: world, rod: {length: 0.06, section: {circle: {radius: 3 mm}}, material: m, "
        "strain: cosserat legendre 7}, magnetic_moment: [\"0.3*(1 + x/L)\", 0.05, 0]}\n"
        "  fore: {on: arm.tip, pose: {axis: z, angle: 0.3}, rod: {length: 0.04, section: {circle: "
        "{radius: 2 mm}}, material: m, strain: cosserat legendre 7}, magnetic_moment: [0.2, 0, "
        "0.1]}\n"
        "  magnet: {on: fore.tip, pose: {xyz: [2 mm, 1 mm, 0]}, body: {mass: 0.3 g, sphere: "
        "{radius: "
        "1.5 mm}}, magnetic_moment: [0.01, 0, 0.004]}\n"
        "actuators: {shift: {joint: slide, position: \"-10 mm*poly5(t, 0 s, 0.1 s)\"}}\n"
        "fields:\n"
        "  coil: {dipole: [0, -0.6, 0.1], on: slide, links: [arm, fore, magnet]}\n"
        "  home: {magnetic: [\"2e-3*(1 + sin(20*t))\", \"1e-3 + 0.01*x\", \"-0.01*z\"], links: "
        "[arm, magnet]}\n"
        "  bed: {potential: \"(2 + 10*t)*y^2 + z^2\", links: [fore]}\n"
        "  swirl: {force: [\"-0.5*y\", \"0.5*x\", 0], links: [arm]}\n"
        "  drift: {acceleration: [0, \"2*cos(30*t)\", \"-3*z\"], links: [arm, fore, magnet]}\n"
        "probes: {p: {position: magnet}, e: energy, f: {reaction: arm}, h: {reaction: magnet}, q: "
        "{effort: shift}}\n";
    outcome a, b[2];
    execute_with(text, "static: {tolerance: 1e-10}", &a);
    execute_with(text, "static: {engine: shooting, shooting: {points: 61}}", &b[0]);
    assert_near(differ(&a, &b[0], 0, 3), 0, 1e-7);
    assert_near(differ(&a, &b[0], 11, 12), 0, 1e-7);
    assert_near(differ(&a, &b[0], 3, 3), 0, 1e-8); // energies
    snw_series_clear(&a.series);
    snw_series_clear(&b[0].series);
    execute_with(text,
                 "static: {tolerance: 1e-10}, dynamic: {for: 0.1 s, step: 0.25 ms, scheme: "
                 "generalized-alpha}",
                 &a);
    for (int k = 0; k < 2; k++) {
        char how[300];
        (void)snprintf(how, sizeof how,
                       "static: {engine: shooting, shooting: {points: 31}}, dynamic: {engine: "
                       "shooting, for: 0.1 s, step: %g, scheme: bdf2, shooting: {points: 31}}",
                       2e-3 / (1 << k));
        execute_with(text, how, &b[k]);
    }
    const double off[2] = {differ(&a, &b[0], 0, 3), differ(&a, &b[1], 0, 3)};
    // stored and kinetic energy, heat and work close to what the formula of time takes out
    const double lost[2] = {fabs(last(&b[0], 8)), fabs(last(&b[1], 8))},
                 work = fabs(last(&b[1], 7));
    assert_true(off[1] < 0.35 * off[0] && off[1] < 2e-5);
    assert_true(lost[1] < 0.35 * lost[0] && lost[1] < 0.02 * work);
    assert_near(last(&b[1], 7), last(&a, 7), 0.01 * work);
    for (int k = 0; k < 2; k++) snw_series_clear(&b[k].series);
    snw_series_clear(&a.series);
}

// ---- stability ----------------------------------------------------------------------------------

// A column of two rods: its load of Euler is that of one rod of their length, and it leaves the
// straight equilibrium beyond.
static void a_column_of_two_rods_buckles_at_eulers_load(void **state) {
    (void)state;
    outcome o;
    char text[MOST];
    const double EI = 1e6 * acos(-1) * pow(5e-3, 4) / 4, P = acos(-1) * acos(-1) * EI / (4 * 0.04);
    for (int k = 0; k < 2; k++) {
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: [0, 0, 0]\nmaterials: {m: {young: 1 MPa, poisson: 0.3, "
                       "density: 1000}}\n"
                       "robot:\n"
                       "  a: {on: world, rod: {length: 0.12, section: {circle: {radius: 5 mm}}, "
                       "material: m, strain: kirchhoff legendre 5}}\n"
                       "  b: {on: a.tip, rod: {length: 0.08, section: {circle: {radius: 5 mm}}, "
                       "material: m, strain: kirchhoff legendre 5}}\n"
                       "loads: {f: {on: b.tip, force: [%.15g, 0, 0]}}\n"
                       "probes: {s: stability, p: {position: b.tip}}\n"
                       "study: [static: {engine: shooting, shooting: {points: 61}}]\n",
                       -P * (k == 0 ? 0.8 : 1.2));
        execute_ok(text, &o);
        if (k == 0) assert_near(last(&o, 0), 0.2, 1e-6);
        if (k == 1) assert_true(last(&o, 0) > 0 && hypot(last(&o, 2), last(&o, 3)) > 0.05);
        snw_series_clear(&o.series);
    }
}

// ---- saved states -------------------------------------------------------------------------------

static void saved_trees_go_on(void **state) {
    (void)state;
    static const char *const file[] = {"/examples/shooting/gripper.yaml",
                                       "/examples/shooting/three_sections.yaml"};
    for (int c = 0; c < 2; c++) {
        snw_robot *r;
        snw_error err = {0};
        char path[512];
        snw_robot_steps how = snw_robot_steps_defaults(2e-3);
        how.scheme = "bdf-alpha", how.alpha = -0.2, how.engine = "shooting", how.points = 21;
        (void)snprintf(path, sizeof path, "%s%s", SNW_SOURCE_DIR, file[c]);
        if (snw_robot_open(path, NULL, 0, NULL, &r, &err) != SNW_OK) fail_msg("%s", err.text);
        assert_int_equal(snw_robot_equilibrium(r, 0, &err), SNW_OK);
        if (snw_robot_start(r, &how, &err) != SNW_OK) fail_msg("%s", err.text);
        double out[3][3];
        const size_t n = snw_robot_saves(r);
        double *kept = malloc(n * sizeof *kept);
        assert_true(n > 0 && kept);
        for (int k = 0; k < 3; k++) {
            if (k == 1) snw_robot_save(r, kept);
            if (k == 2) snw_robot_restore(r, kept);
            for (int i = 0; i < 8; i++) assert_int_equal(snw_robot_step(r, 2e-3, &err), SNW_OK);
            assert_int_equal(snw_robot_probe(r, "tip", 3, out[k]), 3);
        }
        assert_memory_equal(out[1], out[2], sizeof out[1]);
        assert_true(fabs(out[1][0] - out[0][0]) > 1e-12);
        free(kept);
        snw_robot_close(r);
    }
}

// ---- refused models -----------------------------------------------------------------------------

#define LINK                                                                                       \
    "rod: {length: 1, section: {circle: {radius: 10 mm}}, material: m, strain: kirchhoff "         \
    "legendre 2}"
#define ARM   SOFT "robot:\n  arm: {on: world, " LINK "}\n"
#define ON    "  more: {on: arm.tip, " LINK "}\n"
#define SHOOT "study: [static: {engine: shooting}]\n"

static void refuses_what_it_cannot_do(void **state) {
    (void)state;
    refuses(SOFT "robot:\n  arm: {on: world, magnetic_moment: [1, 0, 0], " LINK "}\n"
                 "  more: {on: world, " LINK "}\n"
                 "fields: {f: {dipole: [0, 0, 1], on: more.tip, links: [arm]}}\n" SHOOT,
            "dipoles that a rod carries");
    refuses(ARM "  hinge: {on: arm.tip, joint: revolute}\n  more: {on: hinge, " LINK "}\n" SHOOT,
            "joints whose position no actuator gives");
    refuses(ARM "  free: {on: world, joint: free, body: {mass: 1}}\n  more: {on: free, " LINK
                "}\n" SHOOT,
            "rods on free bodies");
    refuses(ARM ON "loops: {tie: {join: [more.tip, world], as: spherical}}\n" SHOOT,
            "rods on other rods in a robot with loops");
    refuses(ARM ON "actuators: {f: {feed: more, position: 0.5}}\n" SHOOT,
            "rods of variable length that carry rods or are carried");
    refuses(ARM ON "study: [static: {engine: shooting, shooting: {solver: dogleg}}]\n",
            "several rods with this solver");
    refuses(ARM ON
            "study: [static: {engine: shooting, shooting: {along: dormand-prince, error: 1e-6}}]\n",
            "points chosen by error along several rods");
    refuses(ARM ON
            "actuators: {t: {tendon: {along: [arm, more], friction: 0.1}, effort: 1}}\n" SHOOT,
            "tendons with friction along several rods");
    refuses(ARM "  more: {on: arm@0.5 m, " LINK "}\n"
                "actuators: {t: {tendon: {along: [arm, more]}, effort: 1}}\n" SHOOT,
            "one is not on the tip of the other");
    refuses(ARM ON "sites: {eye: {on: arm@0.5 m, pose: {xyz: [0, 0.1, 0]}}}\n"
                   "actuators: {t: {tendon: {path: [arm, eye, more]}, effort: 1}}\n" SHOOT,
            "straight parts of tendons other than through the rigid piece");
    refuses(ARM "  hinge: {on: arm.tip, joint: revolute}\n"
                "  more: {on: hinge, body: {mass: 1 g}}\n"
                "actuators: {spin: {joint: hinge, position: t}}\n" SHOOT,
            "bodies that move relative to a rod");
    refuses(ARM "  hinge: {on: arm.tip, joint: revolute}\n  more: {on: hinge, " LINK "}\n"
                "actuators: {spin: {joint: hinge, position: t}}\n"
                "loads: {f: {on: hinge, force: [1, 0, 0]}}\n" SHOOT,
            "loads on what moves relative to a rod");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rod_cut_in_two_is_the_same),
        cmocka_unit_test(a_rod_on_the_middle_is_on_the_joint_of_halves),
        cmocka_unit_test(random_trees_balance_as_with_strains),
        cmocka_unit_test(random_trees_move_as_with_strains),
        cmocka_unit_test(fields_act_as_with_strains),
        cmocka_unit_test(a_column_of_two_rods_buckles_at_eulers_load),
        cmocka_unit_test(saved_trees_go_on),
        cmocka_unit_test(refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
