// SPDX-License-Identifier: MIT
//
// The modes step against beams, strings, pendulums and columns in closed form, and against the
// simulated motion.
#include "oracle/closed.h"
#include "oracle/trial.h"

#include "base/alloc.h"
#include "executed.h"
#include "random_rod.h"
#include "study/modes.h"

#include <stdio.h>

enum { MOST = 40 };

// Modes of the last modes step of a study, and the frames of that step.
typedef struct result {
    outcome run;
    snw_mode_table table;
    snw_mode mode[MOST];
    char moves[MOST][64], idle[MOST][64];
    int shapes; // frames that show modes
    int nnode, nframe;
    snw_vec3 p[MOST][200];
} result;

static snw_status watch(void *user, const snw_frame *f, snw_error *err) {
    (void)err;
    result *r = user;
    if (f->stats.mode == 1) r->nframe = 0;
    if (f->stats.mode > 0) r->shapes++;
    for (int i = 0; i < r->nnode; i++) r->p[r->nframe][i] = f->pose[i].p;
    if (r->nframe + 1 < MOST) r->nframe++;
    return SNW_OK;
}

static snw_status ended(void *user, snw_status status, const char *message, snw_error *err) {
    (void)user, (void)status, (void)message, (void)err;
    return SNW_OK;
}

static void keep(const snw_mode_table *t, result *r) {
    r->table = *t;
    assert_true(t->n <= MOST);
    for (int i = 0; i < t->n; i++) {
        r->mode[i] = t->mode[i];
        (void)snprintf(r->moves[i], sizeof r->moves[i], "%s", t->mode[i].moves);
    }
    for (int i = 0; i < t->nidle; i++)
        (void)snprintf(r->idle[i], sizeof r->idle[i], "%s", t->idle[i]);
}

// Counts warnings about modes; others concern loops that were open or redundant.
static void count_ours(void *user, const char *message) {
    if (strstr(message, "modes at")) count_warning(user, message);
}

// Run the study; r <- the modes of its last modes step.
static void find(const char *text, result *r) {
    *r = (result){0};
    snw_document *doc;
    snw_desc *desc;
    snw_run *run = NULL;
    snw_error err;
    if (describe(text, &doc, &desc, &err) != SNW_OK ||
        snw_run_create(desc, "main", &run, &err) != SNW_OK) {
        fail_msg("%d:%d: %s", err.line, err.column, err.text);
    }
    const snw_run_info *info = snw_run_describe(run);
    r->nnode = info->nnode < 200 ? info->nnode : 200;
    snw_series_init(&r->run.series, info->ncolumn);
    const snw_recorder recorder[] = {snw_series_recorder(&r->run.series), {r, watch, ended}};
    const snw_run_hooks hooks = {.user = &r->run, .warn = count_ours};
    r->run.status = snw_run_execute(run, 2, recorder, &hooks, &r->run.totals, &r->run.err);
    if (r->run.status != SNW_OK) fail_msg("%s", r->run.err.text);
    for (int i = 0; i < info->nstage; i++) {
        const snw_mode_table *t = snw_run_modes_found(run, i);
        if (t) keep(t, r);
    }
    snw_run_destroy(run);
    release(doc, desc);
}

static void done(result *r) { snw_series_clear(&r->run.series); }

static double omega(const result *r, int i) { return 2 * M_PI * r->mode[i].frequency; }

// Root of f between low and high, where f changes sign.
static double solve(double (*f)(double), double low, double high) {
    const bool up = f(high) > 0;
    while (high - low > 1e-14 * high) {
        const double x = 0.5 * (low + high);
        if ((f(x) > 0) == up) {
            high = x;
        } else {
            low = x;
        }
        if (x == low && x == high) break;
        if (nextafter(low, high) >= high) break;
    }
    return 0.5 * (low + high);
}

// Characteristic equations divided by cosh, so that they stay small.
static double both_clamped(double b) { return cos(b) - 1 / cosh(b); } // and both free
static double one_hinged(double b) { return sin(b) - cos(b) * tanh(b); }

// EI = 1, rho A = 1, L = 1, no rotary inertia: frequencies are beta^2. 96 nodes of order 6, 14
// functions: 1e-9 as in test_frequencies.c
#define BEAM_KEYS                                                                                  \
    "rod: {length: 1, section: {stiffness: {bend_z: 1}, inertia: [0, 0, 0, 1, 1, 1]}, strain: "    \
    "{bend_z: legendre 14}, nodes: 96, magnus: 6}"
#define BEAM(joint) HEAD "robot: {arm: {on: world, " joint BEAM_KEYS "}}\n"

static void cantilever_has_its_betas(void **state) {
    (void)state;
    static result r;
    find(BEAM("") "study: [static, modes]\nprobes: {f: frequency}\n", &r);
    assert_int_equal(r.table.n, 6);
    assert_int_equal(r.table.nnull + r.table.nidle, 0);
    assert_true(r.table.conservative);
    assert_int_equal(r.run.warnings, 0);
    for (int i = 0; i < 4; i++) {
        const double b = oracle_cantilever_beta(i + 1);
        assert_near(omega(&r, i) / (b * b), 1, 1e-9);
        assert_true(r.mode[i].damping == 0);
        assert_string_equal(r.moves[i], "arm.bend_z");
    }
    // the probe shows the modes at the end of the step, nothing before, and no more than there are
    assert_int_equal(r.run.series.nframe, 2);
    assert_true(isnan(shown(&r.run, 0, 0)));
    for (int i = 0; i < 6; i++) assert_true(last(&r.run, i) == r.mode[i].frequency);
    assert_true(isnan(last(&r.run, 6)));
    // the tip moves by 5 % of the length, on an arc; in higher modes by less, so that no section
    // turns by more than half a radian
    assert_int_equal(r.shapes, 6);
    for (int k = 0; k < 6; k++) {
        double most = 0;
        for (int i = 0; i < r.nnode; i++)
            most = fmax(most, snw_norm(snw_sub(r.p[k][i], r.p[6][i])));
        if (k < 2) assert_near(most, 0.05, 1e-3);
        assert_true(most > 0.01 && most < 0.06); // an arc
    }
    done(&r);
}

// Five rigid motions; the rotation about its own axis has neither mass nor stiffness here.
static void free_beam_has_its_betas_and_motions(void **state) {
    (void)state;
    static result r;
    find(BEAM("joint: free, ") "study: [modes: {count: 3}]\n", &r);
    assert_int_equal(r.table.nnull, 5);
    assert_int_equal(r.table.n, 5 + 3);
    assert_int_equal(r.table.nidle, 1);
    assert_string_equal(r.idle[0], "arm spins about its axis");
    for (int i = 0; i < 5; i++) {
        assert_true(r.mode[i].null && r.mode[i].frequency == 0 && isnan(r.mode[i].damping));
        for (int j = 0; j < i; j++) assert_string_not_equal(r.moves[i], r.moves[j]);
    }
    for (int i = 0; i < 3; i++) {
        const double b = solve(both_clamped, M_PI * (i + 1.2), M_PI * (i + 1.8));
        assert_near(omega(&r, 5 + i) / (b * b), 1, 1e-9);
    }
    assert_near(solve(both_clamped, 4, 5), 4.7300, 5e-5);
    assert_near(solve(both_clamped, 7, 8.5), 7.8532, 5e-5);
    done(&r);
}

// A rod with mass in all directions: six null motions, each named by a coordinate of its own.
static void free_rod_has_six_null_motions(void **state) {
    (void)state;
    static result r;
    find(
        HEAD
        "materials: {m: {young: 1 GPa, poisson: 0.3, density: 1000}}\n"
        "robot: {arm: {on: world, joint: free, rod: {length: 1, section: {circle: {radius: 1 cm}}, "
        "material: m, strain: cosserat legendre 4}}}\nstudy: [modes]\n",
        &r);
    static const char *const names[] = {
        "arm spins about its axis", "arm.wy", "arm.wz", "arm.vx", "arm.vy", "arm.vz"};
    assert_int_equal(r.table.nnull, 6);
    assert_int_equal(r.table.nidle, 0);
    for (int k = 0; k < 6; k++) {
        int seen = 0;
        for (int i = 0; i < 6; i++) seen += strcmp(r.moves[i], names[k]) == 0;
        assert_int_equal(seen, 1);
    }
    assert_true(r.mode[6].frequency > 1);
    done(&r);
}

// The other end is closed by loops. The row along the axis vanishes to first order for a rod that
// cannot stretch.
static void loops_clamp_and_hinge_the_other_end(void **state) {
    (void)state;
    static result r;
    const char *const tip[] = {"fixed", "revolute"};
    double (*const equation[])(double) = {both_clamped, one_hinged};
    const double start[] = {1.2, 1.0}, stop[] = {1.8, 1.5}, first[] = {4.7300, 3.9266};
    for (int k = 0; k < 2; k++) {
        char text[1000];
        (void)snprintf(
            text, sizeof text,
            BEAM("") "loops: {tip: {join: [world, arm.tip], as: %s, pose: {xyz: [1, 0, 0]}}}\n"
                     "study: [modes: {count: 3}]\n",
            tip[k]);
        find(text, &r);
        assert_int_equal(r.table.n, 3);
        assert_int_equal(r.run.warnings, 0);
        for (int i = 0; i < 3; i++) {
            const double b = solve(equation[k], M_PI * (i + start[k]), M_PI * (i + stop[k]));
            assert_near(omega(&r, i) / (b * b), 1, 1e-8);
            if (i == 0) assert_near(b, first[k], 5e-5);
        }
        done(&r);
    }
}

// Index of mode number i among the bending modes.
static int bending(const result *r, int i) {
    for (int k = 0; k < r->table.n; k++) {
        i -= strcmp(r->moves[k], "arm.bend_z") == 0;
        if (i == 0) return k;
    }
    fail_msg("too few modes bend");
    return 0;
}

// Held between two hinges at 1 + e times its length: with l = 1 + e and T = EA e, omega^2 rho A =
// EI (k pi)^4 / l^2 + T (k pi)^2 / l. Under tension, without stress, below and beyond buckling.
static void stretched_beam_is_a_string_and_a_compressed_one_a_column(void **state) {
    (void)state;
    static result r;
    const double EA = 1e3, e[] = {0.2, 0, -0.005, -0.0095, -0.012};
    for (int k = 0; k < 5; k++) {
        char text[1500];
        (void)snprintf(
            text, sizeof text,
            HEAD
            "robot: {arm: {on: world, joint: revolute, rod: {length: 1, section: {stiffness: "
            "{bend_z: 1, stretch: 1000}, inertia: [0, 0, 0, 1, 1, 1]}, strain: {bend_z: legendre "
            "14, "
            "stretch: legendre 6}, nodes: 96, magnus: 6}}}\n"
            "loops: {tip: {join: [world, arm.tip], as: revolute, pose: {xyz: [%.17g, 0, 0]}}}\n"
            "study: [static: {branch: follow}, modes]\n",
            1 + e[k]);
        find(text, &r);
        assert_int_equal(r.run.warnings, 0);
        assert_true(r.table.conservative);
        for (int i = 1; i <= 3; i++) {
            const double w = i * M_PI, l = 1 + e[k];
            const double square = w * w * w * w / (l * l) + EA * e[k] * w * w / l;
            const double got = omega(&r, bending(&r, i));
            // 1e-9 relative to bending alone, most of which is cancelled near buckling
            assert_near(copysign(got * got, got) / (w * w * w * w), square / (w * w * w * w), 2e-9);
        }
        // the critical strain is -(1 - sqrt(1 - 4 pi^2/EA))/2, near -0.00997
        assert_true((r.mode[0].frequency < 0) == (k == 4));
        assert_true(isnan(r.mode[0].damping) == (k == 4));
        done(&r);
    }
}

// A dead load at the tip of a cantilever: omega^2 goes to zero as 1 - P/Pc, with a finite
// derivative there.
static void frequency_vanishes_where_the_column_buckles(void **state) {
    (void)state;
    static result r;
    double square[3];
    const double share[] = {0.99, 0.999, 1.001}, Pc = oracle_euler_load();
    for (int k = 0; k < 3; k++) {
        char text[1000];
        (void)snprintf(text, sizeof text,
                       BEAM("") "loads: {push: {on: arm.tip, force: [%.17g, 0, 0]}}\nstudy: "
                                "[static: {branch: follow}, modes]\n",
                       -share[k] * Pc);
        find(text, &r);
        square[k] = omega(&r, 0) * fabs(omega(&r, 0));
        done(&r);
    }
    // linear in 1 - P/Pc but for its square
    assert_near(square[0] / square[1], 10, 0.02);
    assert_near(square[2] / square[1], -1, 2e-3);
}

static void pendulums_swing_as_their_closed_forms_say(void **state) {
    (void)state;
    static result r;
    // compound: m g c / (I + m c^2), with a slider at its end that remains idle
    find("sinew: 1\nrobot: {bob: {on: world, pose: {y: x}, joint: revolute, axis: x, "
         "body: {mass: 2 kg, com: [0, 0, -0.3], inertia: [0.07, 0.05, 0.04]}}}\nstudy: [static, "
         "modes]\n",
         &r);
    assert_int_equal(r.table.n, 1);
    done(&r);
    find("sinew: 1\nrobot: {bob: {on: world, joint: revolute, axis: x, "
         "body: {mass: 2 kg, com: [0, 0, -0.3], inertia: [0.07, 0.05, 0.04]}},"
         " light: {on: bob, joint: prismatic, axis: x}}\nstudy: [modes]\n",
         &r);
    assert_int_equal(r.table.n, 1);
    assert_near(omega(&r, 0), sqrt(2 * 9.81 * 0.3 / (0.07 + 2 * 0.09)), 1e-13);
    assert_string_equal(r.moves[0], "bob.angle");
    assert_int_equal(r.table.nidle, 1);
    assert_string_equal(r.idle[0], "light.slide");
    done(&r);
    // double, equal masses and lengths: g/l (2 -+ sqrt 2)
    find("sinew: 1\nrobot:\n  upper: {on: world, joint: revolute, axis: x, body: {mass: 1.5, com: "
         "[0, 0, -0.4]}}\n"
         "  lower: {on: upper, pose: {xyz: [0, 0, -0.4]}, joint: revolute, axis: x, body: {mass: "
         "1.5, com: [0, 0, -0.4]}}\n"
         "study: [static, modes]\n",
         &r);
    assert_int_equal(r.table.n, 2);
    for (int i = 0; i < 2; i++) {
        assert_near(omega(&r, i), sqrt(9.81 / 0.4 * (2 + (i ? 1 : -1) * sqrt(2.0))), 1e-12);
    }
    done(&r);
}

static double disc(double b) { return b * sin(b) - 0.8 * cos(b); } // rho J L / J_disc = 0.8

// A rod clamped at one end with a disc on the other: beta tan(beta) = rho J L / J_disc.
static void shaft_with_a_disc_twists(void **state) {
    (void)state;
    static result r;
    find(HEAD "robot: {shaft: {on: world, rod: {length: 2, section: {stiffness: {twist: 3}, "
              "inertia: [0.02, 0.01, 0.01, 1, 1, 1]}, "
              "strain: {twist: legendre 12}, nodes: 96, magnus: 6}, body: {mass: 1, inertia: "
              "[0.05, 0.03, "
              "0.03]}}}\nstudy: [modes]\n",
         &r);
    for (int i = 0; i < 3; i++) {
        const double b = solve(disc, M_PI * i + 0.01, M_PI * (i + 0.5));
        assert_near(omega(&r, i), b / 2 * sqrt(3 / 0.02), 1e-8);
        assert_string_equal(r.moves[i], "shaft.twist");
    }
    done(&r);
}

// Twist without inertia is quasistatic: the bending is that of a rod that cannot twist.
static void coordinates_without_mass_are_condensed(void **state) {
    (void)state;
    static result r;
    find(HEAD "robot: {arm: {on: world, rod: {length: 1, section: {stiffness: {twist: 0.7, bend_y: "
              "4, bend_z: 1}, "
              "inertia: [0, 0, 0, 1, 1, 1]}, strain: kirchhoff legendre 6, nodes: 48, magnus: "
              "6}}}\nstudy: [modes: {count: 40}]\n",
         &r);
    assert_int_equal(r.table.n, 12);
    assert_int_equal(r.table.nidle, 0);
    const double b = oracle_cantilever_beta(1);
    assert_near(omega(&r, 0) / (b * b), 1, 1e-8); // six functions
    assert_near(omega(&r, 1) / (2 * b * b), 1, 1e-8);
    assert_string_equal(r.moves[1], "arm.bend_y");
    done(&r);
    // in a bent rod twist matters: a weight at the tip of a bent strip twists it, so that motion
    // across its plane is softer
    double across[2];
    for (int k = 0; k < 2; k++) {
        char text[1200];
        (void)snprintf(
            text, sizeof text,
            HEAD "robot: {arm: {on: world, rod: {length: 1, section: {stiffness: {twist: 0.7, "
                 "bend_y: 4, bend_z: 1}, "
                 "inertia: [0, 0, 0, 1, 1, 1]}, rest: {bend_z: 1}, strain: {%sbend_y: legendre 6, "
                 "bend_z: legendre 6}, nodes: 48, magnus: 6}}}\nstudy: [modes]\n",
            k ? "twist: legendre 6, " : "");
        find(text, &r);
        for (int i = 0; i < r.table.n; i++) {
            if (!strcmp(r.moves[i], "arm.bend_y") || !strcmp(r.moves[i], "arm.twist")) {
                across[k] = omega(&r, i);
                break;
            }
        }
        done(&r);
    }
    assert_true(across[1] < 0.95 * across[0]);
}

// A leg between two spherical joints spins without resistance; otherwise it is a beam between
// hinges, in two planes.
static void leg_between_balls_spins(void **state) {
    (void)state;
    static result r;
    find(HEAD "materials: {m: {young: 1 GPa, poisson: 0.3, density: 1000}}\n"
              "robot: {leg: {on: world, joint: spherical, rod: {length: 1, section: {circle: "
              "{radius: 1 mm}}, material: m, "
              "strain: cosserat legendre 8, nodes: 48, magnus: 6}}}\n"
              "loops: {top: {join: [world, leg.tip], as: spherical, pose: {xyz: [1, 0, "
              "0]}}}\nstudy: [modes: {count: 2}]\n",
         &r);
    assert_int_equal(r.table.n, 3);
    assert_int_equal(r.table.nnull, 1);
    assert_string_equal(r.moves[0], "leg spins about its axis");
    // rotary inertia (r/2)^2 and shear change it by 1e-6
    const double want = M_PI * M_PI * 0.5e-3 * sqrt(1e6);
    for (int i = 1; i < 3; i++) assert_near(omega(&r, i) / want, 1, 1e-5);
    done(&r);
}

// D = 0.01 s K: zeta = 0.01 omega / 2, exactly.
static void kelvin_voigt_damps_in_proportion(void **state) {
    (void)state;
    static result r;
    find(
        HEAD
        "materials: {m: {young: 1 MPa, poisson: 0.3, density: 1000, damping: 10 ms}}\n"
        "robot: {arm: {on: world, rod: {length: 1, section: {circle: {radius: 1 cm}}, material: m, "
        "strain: kirchhoff legendre 4}}}\nstudy: [modes]\n",
        &r);
    for (int i = 0; i < r.table.n; i++) {
        assert_near(r.mode[i].damping / (0.005 * omega(&r, i)), 1, 1e-10);
    }
    done(&r);
}

// Beck's column: two frequencies coalesce, then one motion grows while the other decays.
static void follower_force_makes_a_flutter_pair(void **state) {
    (void)state;
    static result r;
    double want, load = oracle_beck_load(&want);
    for (int k = 0; k < 2; k++) {
        char text[1000];
        (void)snprintf(text, sizeof text,
                       BEAM("") "loads: {push: {on: arm.tip, force: [%.17g, 0, 0], frame: "
                                "body}}\nstudy: [static, modes]\n",
                       -load * (k ? 1.0001 : 0.9999));
        find(text, &r);
        assert_false(r.table.conservative);
        const double a = omega(&r, 0), b = omega(&r, 1);
        assert_near(sqrt(a * b), want, 1e-3 * want);
        if (k == 0) {
            assert_true(a < b && r.mode[0].damping == 0 && r.mode[1].damping == 0);
        } else {
            assert_true(a == b && r.mode[0].damping < 0);
            assert_near(r.mode[0].damping + r.mode[1].damping, 0, 1e-12);
        }
        done(&r);
    }
}

// Ziegler's column of two links of length 1 with unit masses at their ends, springs 2 and dampers
// in the hinges, loaded by a force P along the second link. In the hinge angles M = [5 2; 2 1]; the
// force has no arm about the second hinge and one of sin(q2) about the first, K = [2 P; 0 2]; so
//    det(s^2 M + s e D + K) = (5 s^2 + e s d1 + 2)(s^2 + e s d2 + 2) - (2 s^2 + P) 2 s^2
// and ds/de = -(d det/de)/(d det/ds) at e = 0.
static void damping_shifts_the_flutter_pair(void **state) {
    (void)state;
    static result r;
    find(HEAD "robot:\n"
              "  a: {on: world, joint: revolute, stiffness: 2, damping: 0.02, body: {mass: 1, com: "
              "[1, 0, 0]}}\n"
              "  b: {on: a, pose: {xyz: [1, 0, 0]}, joint: revolute, stiffness: 2, damping: 0.01, "
              "body: {mass: 1, com: "
              "[1, 0, 0]}}\n"
              "loads: {push: {on: b, force: [-3, 0, 0], frame: body}}\nstudy: [static, modes]\n",
         &r);
    assert_false(r.table.conservative);
    assert_int_equal(r.table.n, 2);
    const double P = 3, d1 = 0.02, d2 = 0.01;
    // s^2 = -y: y^2 - (12 - 2 P) y + 4 = 0
    const double half = 6 - P, root = sqrt(half * half - 4);
    for (int i = 0; i < 2; i++) {
        const double y = half + (i ? root : -root), w = sqrt(y);
        assert_near(omega(&r, i), w, 1e-12);
        // both derivatives divided by s
        const double de = d1 * (2 - y) + d2 * (2 - 5 * y);
        const double ds = 10 * (2 - y) + 2 * (2 - 5 * y) + 8 * y + 4 * (2 * y - P);
        assert_near(r.mode[i].damping, de / ds / w, 1e-12);
    }
    done(&r);
}

// One coordinate, far from straight under the weight: frequency and damping agree with those of the
// simulated motion.
static void small_motion_has_the_frequency_and_the_damping(void **state) {
    (void)state;
    static result r;
    find("sinew: 1\nmaterials: {m: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 4 ms}}\n"
         "robot: {arm: {on: world, rod: {length: 0.4, section: {circle: {radius: 1 cm}}, material: "
         "m, "
         "strain: {bend_y: legendre 1}}}}\n"
         "loads: {tap: {on: arm.tip, force: [0, 0, 1e-6]}}\n"
         "study:\n  - static: {name: tapped}\n  - change: {tap: off}\n  - static: {name: rest}\n  "
         "- modes:\n"
         "  - dynamic: {from: tapped, for: 20 s, scheme: adaptive, tolerance: 1e-11}\n"
         "record: {every: 2 ms}\nprobes: {tip: {position: arm.tip}}\n",
         &r);
    const snw_series *s = &r.run.series;
    const int first = snw_series_last(s, 3);
    const double level = shown(&r.run, snw_series_last(s, 2), 2);
    // upward crossings of the level, by linear interpolation between frames: errors decrease with
    // the square of 2 ms and cancel
    double crossing[64], peak[64];
    int n = 0;
    double high = 0;
    for (int i = first + 2; i < s->nframe && n < 60; i++) {
        const double a = shown(&r.run, i - 1, 2) - level, b = shown(&r.run, i, 2) - level;
        high = fmax(high, b);
        if (!(a < 0 && b >= 0)) continue;
        peak[n] = high;
        crossing[n++] = s->t[i - 1] + (s->t[i] - s->t[i - 1]) * a / (a - b);
        high = 0;
    }
    assert_true(n > 5);
    const double period = (crossing[n - 1] - crossing[0]) / (n - 1);
    const double lost = log(peak[1] / peak[n - 1]) / (n - 2);
    const double ratio = lost / hypot(lost, 2 * M_PI);
    assert_int_equal(r.table.n, 1);
    assert_near(r.mode[0].damping / ratio, 1, 1e-4);
    assert_near(1 / period / (r.mode[0].frequency * sqrt(1 - ratio * ratio)), 1, 1e-5);
    // far from straight: the frequency of the straight rod is different
    assert_true(fabs(shown(&r.run, snw_series_last(s, 2), 2)) > 0.1);
    done(&r);
}

// A state out of balance is reported, and the study continues from the unchanged state.
static void modes_change_no_state_and_report_motion(void **state) {
    (void)state;
    static result r, plain;
    static const char head[] =
        "sinew: 1\nmaterials: {m: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
        "robot: {arm: {on: world, rod: {length: 0.4, section: {circle: {radius: 1 cm}}, "
        "material: m, strain: kirchhoff legendre 2}}}\nprobes: {tip: {position: arm.tip}}\n";
    char text[1000];
    (void)snprintf(text, sizeof text,
                   "%sstudy: [modes, dynamic: {for: 0.1 s, step: 5 ms}, modes, dynamic: {for: 0.1 "
                   "s, step: 5 ms}]\n",
                   head);
    find(text, &r);
    assert_int_equal(r.run.warnings, 3); // not in balance twice, moving once
    (void)snprintf(
        text, sizeof text,
        "%sstudy: [dynamic: {for: 0.1 s, step: 5 ms}, dynamic: {for: 0.1 s, step: 5 ms}]\n", head);
    find(text, &plain);
    for (int i = 0; i < 3; i++) assert_true(last(&r.run, i) == last(&plain.run, i));
    done(&r);
    done(&plain);
}

// All coordinates are held: only the configuration is recorded.
static void a_fixed_robot_has_no_modes(void **state) {
    (void)state;
    static result r;
    find("sinew: 1\nrobot: {bob: {on: world, joint: revolute, body: {mass: 1, com: [0.1, 0, 0]}}}\n"
         "loops: {lock: {join: [world, bob], as: fixed}}\nstudy: [modes]\n",
         &r);
    assert_int_equal(r.table.n + r.table.nidle, 0);
    assert_int_equal(r.run.series.nframe, 1);
    done(&r);
    find("sinew: 1\nrobot: {bob: {on: world, body: {mass: 1}}}\nstudy: [modes]\n", &r);
    assert_int_equal(r.table.n + r.table.nidle, 0);
    done(&r);
}

static void robot_without_mass_is_refused(void **state) {
    (void)state;
    outcome o;
    execute(HEAD "robot: {arm: {on: world, rod: {length: 1, section: {stiffness: {bend_y: 1}}, "
                 "strain: {bend_y: legendre 2}}}}\nstudy: [modes]\n",
            &o);
    assert_int_equal(o.status, SNW_E_MODEL);
    assert_non_null(strstr(o.err.text, "no mass"));
    snw_series_clear(&o.series);
}

static void nothing_is_allocated_on_the_way(void **state) {
    (void)state;
    dice d = {7};
    for (int k = 0; k < 8; k++) {
        robot r;
        trial t;
        robot_random(&r, &d, k % 2 ? SNW_JOINT_SPHERICAL : SNW_JOINT_FREE, true);
        trial_open(&t, &r.desc);
        state_random(t.m, &d, t.s);
        snw_modes *mo;
        assert_int_equal(snw_modes_create(t.m, 5, false, &mo), SNW_OK);
        snw_error err = {0};
        double *q = malloc((size_t)t.m->nq * sizeof *q);
        const size_t allocations = snw_alloc_count();
        assert_int_equal(snw_modes_solve(mo, t.s, &err), SNW_OK);
        const snw_mode_table *table = snw_modes_table(mo);
        for (int i = 0; i < table->n; i++) snw_modes_shape(mo, i, q);
        assert_true(snw_alloc_count() == allocations);
        // an arbitrary state is not in balance, so the tangent of a spherical or free joint is not
        // symmetric
        assert_true(table->residual > 1e-3);
        assert_false(table->conservative);
        t.s->q[t.m->nq - 1] = NAN;
        assert_int_equal(snw_modes_solve(mo, t.s, &err), SNW_E_DIVERGED);
        assert_int_equal(table->n, 0);
        free(q);
        snw_modes_destroy(mo);
        trial_close(&t);
        robot_free(&r);
    }
}

// A clamped wire whose shear waves are 1e7 times as fast as its bending: rounding hides the
// stiffness of the bending modes. They are no null motions, and the run says so; without shear and
// stretch they have the frequency of a cantilever.
static void a_wire_so_slender_that_rounding_hides_its_bending_is_reported(void **state) {
    (void)state;
    static const char *const form =
        "sinew: 1\ngravity: 0\nmaterials: {m: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
        "robot: {arm: {on: world, rod: {length: 1, section: {circle: {radius: 2e-4}}, material: m, "
        "strain: %s legendre 5}}}\nstudy: [modes: {count: 2}]\nprobes: {f: frequency}\n";
    char text[500];
    outcome o;
    (void)snprintf(text, sizeof text, form, "cosserat");
    execute_ok(text, &o);
    assert_true(o.warnings > 0);
    snw_series_clear(&o.series);
    (void)snprintf(text, sizeof text, form, "kirchhoff");
    execute_ok(text, &o);
    assert_int_equal(o.warnings, 0);
    assert_near(last(&o, 0) / (3.516015 / (2 * M_PI) * 1e-4 * sqrt(1e3)), 1, 1e-5);
    snw_series_clear(&o.series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cantilever_has_its_betas),
        cmocka_unit_test(free_beam_has_its_betas_and_motions),
        cmocka_unit_test(free_rod_has_six_null_motions),
        cmocka_unit_test(loops_clamp_and_hinge_the_other_end),
        cmocka_unit_test(stretched_beam_is_a_string_and_a_compressed_one_a_column),
        cmocka_unit_test(frequency_vanishes_where_the_column_buckles),
        cmocka_unit_test(pendulums_swing_as_their_closed_forms_say),
        cmocka_unit_test(shaft_with_a_disc_twists),
        cmocka_unit_test(coordinates_without_mass_are_condensed),
        cmocka_unit_test(leg_between_balls_spins),
        cmocka_unit_test(kelvin_voigt_damps_in_proportion),
        cmocka_unit_test(follower_force_makes_a_flutter_pair),
        cmocka_unit_test(damping_shifts_the_flutter_pair),
        cmocka_unit_test(small_motion_has_the_frequency_and_the_damping),
        cmocka_unit_test(modes_change_no_state_and_report_motion),
        cmocka_unit_test(a_fixed_robot_has_no_modes),
        cmocka_unit_test(robot_without_mass_is_refused),
        cmocka_unit_test(nothing_is_allocated_on_the_way),
        cmocka_unit_test(a_wire_so_slender_that_rounding_hides_its_bending_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
