// SPDX-License-Identifier: MIT
//
// Paths of equilibria: random robots against static steps and against their own folds at other
// values of a parameter; published folds with their derivatives; both turns of Lee's frame on one
// path; branches, flutter, double bifurcations, cusps; refusals.
#include "executed.h"
#include "random_rod.h"
#include "sanitized.h"
#include "study/special_table.h"

#include <stdarg.h>
#include <stdio.h>

// ---- running -----------------------------------------------------------------------------------

// What a study with path steps has found.
typedef struct found {
    outcome o;
    int n;
    snw_special_point point[32];
} found;

// Run the study of a text; its first step with special points is kept.
static void follow(const char *text, found *f) {
    *f = (found){0};
    snw_document *doc;
    snw_desc *desc;
    snw_run *run = NULL;
    snw_status s = describe(text, &doc, &desc, &f->o.err);
    if (s == SNW_OK) s = snw_run_create(desc, "main", &run, &f->o.err);
    if (s != SNW_OK) fail_msg("%d:%d: %s", f->o.err.line, f->o.err.column, f->o.err.text);
    snw_series_init(&f->o.series, snw_run_describe(run)->ncolumn);
    const snw_recorder recorder = snw_series_recorder(&f->o.series);
    const snw_run_hooks hooks = {.user = &f->o, .warn = count_warning};
    f->o.status = snw_run_execute(run, 1, &recorder, &hooks, &f->o.totals, &f->o.err);
    for (int i = 0; i < desc->nstep; i++) {
        const snw_special_table *t = snw_run_special_points(run, i);
        for (int k = 0; t && k < t->n && f->n < 32; k++) f->point[f->n++] = t->point[k];
    }
    snw_run_destroy(run);
    release(doc, desc);
}

static void follow_ok(const char *text, found *f) {
    follow(text, f);
    if (f->o.status != SNW_OK) fail_msg("%d: %s", f->o.err.line, f->o.err.text);
}

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
write_text(char text[4000], const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text, 4000, format, args);
    va_end(args);
    assert_true(n > 0 && n < 4000);
}

// Special point `number` of a kind.
static const snw_special_point *special(const found *f, snw_special kind, int number) {
    for (int i = 0; i < f->n; i++) {
        if (f->point[i].kind == kind && f->point[i].number == number) return &f->point[i];
    }
    fail_msg("no %s %d", snw_special_name(kind), number);
    return NULL;
}

static void free_found(found *f) { snw_series_clear(&f->o.series); }

// ---- random robots -----------------------------------------------------------------------------

// A random robot in a random static load that grows with t: a rod in space on a ball joint with
// springs, a tendon, a link on its tip; or two such rods joined in a loop.
static void random_robot(dice *d, bool loop, const char *study, char text[4000]) {
    double u[8];
    for (int i = 0; i < 8; i++) u[i] = roll(d, 0, 1);
    write_text(
        text,
        "sinew: 1\ngravity: [0, \"-3 m/s^3*t\", \"-2 m/s^3*t\"]\n"
        "materials: {soft: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
        "parameters: {s: %g}\n"
        "robot:\n"
        "  base: {on: world, joint: spherical, stiffness: %g N*m, body: {mass: 10 g}}\n"
        "  arm: {on: base, rod: {length: %g, section: {circle: {radius: 2 cm}}, material: soft, "
        "strain: kirchhoff legendre 4, nodes: 14, magnus: 6}}\n"
        "  hand: {on: arm, joint: revolute, axis: z, stiffness: %g N*m, body: {mass: 20 g, com: "
        "[5 cm, 1 cm, 0]}}\n"
        "%s"
        "actuators: {pull: {tendon: {along: arm, at: [0, 1.5 cm, 0]}, effort: \"s*%g N/s*t\"}}\n"
        "loads: {push: {on: hand, force: [\"%g N/s*t\", \"%g N/s*t\", \"%g N/s*s*t\"]}}\n"
        "study: [%s]\n"
        "probes: {hand: {position: hand}, arm: {position: arm@50%%}, stable: stability}\n",
        0.8 + 0.4 * u[0], 0.1 + 0.2 * u[1], 0.2 + 0.4 * u[2], 0.02 + 0.05 * u[3],
        loop ? "  leg: {on: world, pose: {xyz: [0.1, 0.5, 0]}, joint: spherical, stiffness: 0.05 "
               "N*m, rod: {length: 0.6, section: {circle: {radius: 1 cm}}, material: soft, strain: "
               "kirchhoff legendre 3, nodes: 10}}\nloops: {tie: {join: [hand, leg.tip], as: "
               "spherical}}\n"
             : "",
        u[4], u[5] - 0.5, u[6] - 0.5, u[7] - 0.5, study);
}

// The end of a path that is stable and has not turned back is the equilibrium of a static step
// that goes there by itself.
static void paths_end_where_static_steps_end(void **state) {
    (void)state;
    dice d = {7};
    int compared = 0;
    for (int k = 0; k < AMONG(2, 8); k++) {
        char text[2][4000];
        found f[2];
        dice same = d;
        random_robot(&d, k % 2 == 1, "{path: {range: [0 s, 1 s]}}", text[0]);
        random_robot(&same, k % 2 == 1, "{static: {for: 1 s, step: 50 ms}}", text[1]);
        for (int i = 0; i < 2; i++) follow_ok(text[i], &f[i]);
        if (f[0].n == 0) { // no fold or bifurcation on the way
            compared++;
            for (int c = 0; c < 6; c++) assert_near(last(&f[0].o, c), last(&f[1].o, c), 1e-9);
            assert_near(last(&f[0].o, 6), last(&f[1].o, 6), 1e-7);
        }
        assert_true(f[0].o.totals.worst_residual <= 1e-11);
        for (int i = 0; i < 2; i++) free_found(&f[i]);
    }
    assert_true(compared >= AMONG(1, 6));
}

// A random arch of two rods, one clamped and one hinged, that a load presses through; t is the
// load.
static void random_arch(dice *d, double change, char text[4000]) {
    const double rise = roll(d, 0.25, 0.35), at = roll(d, 0.45, 0.55), stiff = roll(d, 0.5, 1.5);
    const double rest = roll(d, 0, 0.3);
    write_text(
        text,
        HEAD "parameters: {h: %.17g, e: %.17g, turn: %.17g}\n"
             "robot:\n"
             "  foot: {on: world, joint: revolute, stiffness: 0.1 N*m, pose: {axis: z, angle: "
             "\"atan(2*h) + turn\"}, body: {mass: 1 g}}\n"
             "  left: {on: foot, rod: &rod {length: 0.55, section: {stiffness: {bend_z: e*%g, "
             "stretch: 400}}, rest: {bend_z: -%g}, strain: {bend_z: legendre 5, stretch: legendre "
             "2}, nodes: 14, magnus: 6}}\n"
             "  right: {on: left, rod: *rod}\n"
             "loops: {pin: {join: [world, right.tip], as: revolute, axis: z, pose: {xyz: [1, 0, "
             "0]}}}\n"
             "loads: {press: {on: left@%g%%, force: [0, \"-1 N/s*t\", 0]}}\n"
             "study: [{path: {range: [-40 s, 40 s], points: 60, by: [h, e, turn]}}]\n"
             "probes: {at: {position: left.tip}, s: stability}\n",
        rise, 1 + change, 0.05, stiff, rest, 100 * at + 40);
}

// at a fold t is stationary along the path and an eigenvalue vanishes; its derivative by a
// parameter is the difference of the folds of two robots
static void folds_of_random_arches_move_as_told(void **state) {
    (void)state;
    dice d = {3};
    int folds = 0;
    for (int k = 0; k < AMONG(2, 5); k++) {
        const double h = 1e-4;
        char text[3][4000];
        found f[3];
        for (int i = 0; i < 3; i++) {
            dice same = d;
            random_arch(i == 2 ? &d : &same, (i - 1) * h, text[i]);
            follow_ok(text[i], &f[i]);
        }
        // the last one may lie beyond the last point of one of them
        for (int i = 0; i < f[0].n && i < f[1].n && i < f[2].n; i++) {
            assert_int_equal(f[0].point[i].kind, f[1].point[i].kind);
            assert_int_equal(f[2].point[i].kind, f[1].point[i].kind);
            if (f[1].point[i].kind != SNW_SPECIAL_FOLD) continue;
            folds++;
            // e scales all but the spring of the foot and the stretch; here e = 1
            const double slope = (f[2].point[i].t - f[0].point[i].t) / (2 * h);
            assert_near(f[1].point[i].derivative[1], slope, 1e-6 * (1 + fabs(slope)));
        }
        const snw_series *s = &f[1].o.series;
        for (int i = 1; i + 1 < s->nframe; i++) {
            if (s->special[i] != SNW_SPECIAL_FOLD) continue;
            assert_true((s->t[i] - s->t[i - 1]) * (s->t[i] - s->t[i + 1]) > 0);
        }
        for (int i = 0; i < 3; i++) free_found(&f[i]);
    }
    assert_true(folds >= AMONG(1, 4));
}

// ---- folds of the literature -------------------------------------------------------------------

static const char truss[] =
    HEAD "parameters: {b: 1 m, H: 0.2 m, k: 1000 N/m}\n"
         "robot: {apex: {on: world, pose: {xyz: [0, H, 0]}, joint: prismatic, axis: y, body: "
         "{mass: 1 kg}}}\n"
         "springs:\n"
         "  left: {spring: [{xyz: [-b, 0, 0]}, apex], rest: \"sqrt(b^2 + H^2)\", stiffness: k}\n"
         "  right: {spring: [{xyz: [b, 0, 0]}, apex], rest: \"sqrt(b^2 + H^2)\", stiffness: k}\n"
         "loads: {press: {on: apex, force: [0, \"-1 N/s*t\", 0]}}\n";

// P* = 2 k b ((l_0/b)^(2/3) - 1)^(3/2): fold, derivatives and a curve of folds in the rise
static void the_truss_snaps_at_its_closed_form(void **state) {
    (void)state;
    char text[4000];
    found f;
    write_text(text,
               "%sstudy: [{path: {range: [-60 s, 60 s], step: 0.05, by: [H, b, k], folds: {of: H, "
               "range: [0.05 m, 0.5 m]}}}]\nprobes: {y: {position: apex}, rise: {law: H}}\n",
               truss);
    follow_ok(text, &f);
    const snw_special_point *p = special(&f, SNW_SPECIAL_FOLD, 1);
    assert_near(p->t, 3.0191474033, 1e-9);
    assert_near(p->derivative[0], 44.7015455347, 1e-7);
    assert_near(p->derivative[1], -5.9211617036, 1e-7);
    assert_near(p->derivative[2], 0.003019147403, 1e-11);
    assert_near(special(&f, SNW_SPECIAL_FOLD, 2)->t, -3.0191474033, 1e-9);
    // every point of the curve
    const snw_series *s = &f.o.series;
    int on = 0;
    for (int i = 0; i < s->nframe; i++) {
        const double H = shown(&f.o, i, 3), l0 = hypot(1, H);
        const double P = 2000 * pow(pow(l0, 2.0 / 3) - 1, 1.5);
        if (H == 0.2 || !(s->t[i] > 0)) continue;
        on++;
        assert_near(s->t[i], P, 1e-9 * (1 + P));
    }
    assert_true(on > 5);
    assert_near(last(&f.o, 3), 0.05, 0);
    free_found(&f);
}

// The rise of the truss varied under a load: the path ends in a fold where P*(H) is the load, and
// every point is in balance, P = 2 k (l_0/l - 1) y. The state after it is that before.
static void a_constant_of_the_file_is_varied(void **state) {
    (void)state;
    char text[4000];
    found f;
    write_text(text,
               "%sstudy: [static, path: {of: H, range: [0 m, 0.3 m], start: down}, static: {name: "
               "again}]\nprobes: {y: {position: apex}, rise: {law: H}}\n",
               truss);
    char *load = strstr(text, "-1 N/s*t");
    memcpy(load, "-0.5 N  ", 8);
    follow_ok(text, &f);
    const double H = special(&f, SNW_SPECIAL_FOLD, 1)->t, l0 = hypot(1, H);
    assert_near(2000 * pow(pow(l0, 2.0 / 3) - 1, 1.5), 0.5, 1e-9);
    const snw_series *s = &f.o.series;
    for (int i = 0; i < s->nframe; i++) {
        const double y = shown(&f.o, i, 1), rise = shown(&f.o, i, 3);
        assert_near(2000 * (hypot(1, rise) / hypot(1, y) - 1) * y, 0.5, 1e-9);
    }
    assert_near(last(&f.o, 1), shown(&f.o, 0, 1), 1e-12);
    assert_near(last(&f.o, 3), 0.2, 0);
    free_found(&f);
}

// Two rods hinged at their tips, and a deep arch: folds and their derivatives by angles, of an
// independent program
static void published_folds_move_as_published(void **state) {
    (void)state;
    static const char hinged[] = HEAD
        "parameters: {q1: 100 deg, q2: 90 deg}\n"
        "robot:\n"
        "  left: {on: world, pose: {xyz: [-0.4, 0, 0], axis: z, angle: q1}, rod: &rod {length: 1, "
        "section: {stiffness: {bend_z: 1}}, strain: {bend_z: legendre 14}, nodes: 30, magnus: 6}}\n"
        "  right: {on: world, pose: {xyz: [0.4, 0, 0], axis: z, angle: q2}, rod: *rod}\n"
        "loops: {tip: {join: [left.tip, right.tip], as: revolute, axis: z}}\n"
        "loads: {press: {on: left.tip, force: [0, \"-1 N/s*t\", 0]}}\n"
        "study: [{path: {range: [0 s, 30 s], points: 40, by: [q1, q2]}}]\n"
        "probes: {tip: {position: left.tip}}\n";
    static const char arch[] = HEAD "parameters: {half: 107.5 deg}\n"
                                    "robot:\n"
                                    "  left: {on: world, pose: {xyz: [-sin(half)*1 m, -(1 - "
                                    "cos(half))*1 m, 0], axis: z, angle: half}, "
                                    "rod: &rod {length: half*1 m, section: {stiffness: {bend_z: "
                                    "1}}, rest: {bend_z: -1}, strain: "
                                    "{bend_z: legendre 18}, nodes: 36, magnus: 6}}\n"
                                    "  right: {on: left, rod: *rod}\n"
                                    "loops: {hinge: {join: [world, right.tip], as: revolute, axis: "
                                    "z, pose: {xyz: [sin(half)*1 m, "
                                    "-(1 - cos(half))*1 m, 0]}}}\n"
                                    "loads: {press: {on: left.tip, force: [0, \"-1 N/s*t\", 0]}}\n"
                                    "study: [{path: {range: [0 s, 9.5 s], points: 90, by: half}}]\n"
                                    "probes: {crown: {position: left.tip}}\n";
    found f;
    follow_ok(hinged, &f);
    const snw_special_point *p = special(&f, SNW_SPECIAL_FOLD, 1);
    assert_near(p->t, 23.789472821, 1e-7 * 24);
    assert_near(p->derivative[0], -6.87178167, 1e-6 * 7);
    assert_near(p->derivative[1], 6.71819997, 1e-6 * 7);
    free_found(&f);
    follow_ok(arch, &f);
    p = special(&f, SNW_SPECIAL_FOLD, 1);
    assert_near(p->t, 8.973089972, 2e-7 * 9);
    assert_near(p->derivative[0], -38.5306342, 1e-6 * 39);
    free_found(&f);
}

// Extreme of a column between three frames about frame i, by the parabola through them in their
// order; x: the frames' values of the abscissa.
static double parabola(const double x[3], const double y[3]) {
    const double a = (y[1] - y[0]) / (x[1] - x[0]), b = (y[2] - y[1]) / (x[2] - x[1]);
    const double c = (b - a) / (x[2] - x[0]);
    const double at = 0.5 * (x[0] + x[1]) - a / (2 * c);
    return y[0] + a * (at - x[0]) + c * (at - x[0]) * (at - x[1]);
}

// Both folds in load and both turns in displacement on one path, without choosing what is given;
// the derivative of the folds by the place of the load and by the stiffness.
static void lee_s_frame_turns_in_load_and_displacement(void **state) {
    (void)state;
    static const char text[] = HEAD
        "parameters: {EI: 1440 N*m^2, a: 24 m}\n"
        "robot:\n"
        "  column: {on: world, joint: revolute, pose: {x: y, z: z}, rod: &rod {length: 120 m, "
        "section: {stiffness: {bend_z: EI}}, strain: {bend_z: legendre 10}, nodes: 24, magnus: "
        "6}}\n"
        "  near: {on: column, pose: {x: -y, z: z}, rod: {<<: *rod, length: a, strain: {bend_z: "
        "legendre 6}, nodes: 10}}\n"
        "  far: {on: near, rod: {<<: *rod, length: 120 m - a}}\n"
        "loops: {pin: {join: [world, far.tip], as: revolute, axis: z, pose: {xyz: [120, 120, "
        "0]}}}\n"
        "loads: {push: {on: near.tip, force: [0, \"-1 N/s*t\", 0]}}\n"
        "study: [{path: {range: [-2 s, 2 s], step: 0.05, by: [a, EI]}}]\n"
        "probes: {at: {position: near.tip}}\n";
    found f;
    follow_ok(text, &f);
    const snw_special_point *p = special(&f, SNW_SPECIAL_FOLD, 1);
    assert_near(p->t, 1.855874654, 1e-7);
    assert_near(p->derivative[0], -0.009240520, 1e-7);
    assert_near(p->derivative[1], 0.0012888018, 1e-9); // P*/EI
    p = special(&f, SNW_SPECIAL_FOLD, 2);
    assert_near(p->t, -0.942128745, 1e-7);
    assert_near(p->derivative[0], -0.027385269, 1e-6);
    // turns of the displacements u and v, by parabolas in the arc length, which frames have in
    // steps of 0.05: errors of the third order
    const snw_series *s = &f.o.series;
    double turn_v[8] = {0}, turn_u[8] = {0};
    int nv = 0, nu = 0;
    for (int i = 1; i + 1 < s->nframe; i++) {
        if (s->special[i - 1] || s->special[i] || s->special[i + 1]) continue;
        double arc[3] = {0}, u[3], v[3];
        for (int k = 0; k < 3; k++) {
            u[k] = shown(&f.o, i - 1 + k, 0) - 24;
            v[k] = 120 - shown(&f.o, i - 1 + k, 1);
            const double before = k ? hypot(hypot(u[k] - u[k - 1], v[k] - v[k - 1]),
                                            40 * (s->t[i - 1 + k] - s->t[i - 2 + k]))
                                    : 0;
            arc[k] = k ? arc[k - 1] + before : 0;
        }
        if ((v[1] - v[0]) * (v[2] - v[1]) < 0 && nv < 8) turn_v[nv++] = parabola(arc, v);
        if ((u[1] - u[0]) * (u[2] - u[1]) < 0 && nu < 8) turn_u[nu++] = parabola(arc, u);
    }
    assert_int_equal(nv, 2);
    assert_near(turn_v[0], 61.012363, 1e-3);
    assert_near(turn_v[1], 50.731337, 1e-3);
    assert_true(nu >= 1);
    assert_near(turn_u[0], 94.380637, 1e-3);
    free_found(&f);
}

// ---- bifurcations ------------------------------------------------------------------------------

// A column that the load presses straight: at Euler's load a branch leaves to either side, both
// stable, and the heads are mirrored. Along the branch P/P_cr is that of elliptic integrals.
static void a_column_bends_to_both_sides(void **state) {
    (void)state;
    static const char text[] = HEAD
        "robot: {column: {on: world, pose: {x: z}, rod: {length: 1, section: {stiffness: {bend_y: "
        "1}}, strain: {bend_y: legendre 10}, nodes: 20, magnus: 6}}}\n"
        "loads: {press: {on: column.tip, force: [0, 0, \"-pi^2/4*1 N/s*t\"]}}\n"
        "study: [{path: {range: [0 s, 1.51838879329 s], branches: 1}}]\n"
        "probes: {head: {position: column.tip}, s: stability}\n";
    found f;
    follow_ok(text, &f);
    const snw_special_point *p = special(&f, SNW_SPECIAL_BRANCH, 1);
    assert_near(p->t, 1, 1e-10);
    assert_int_equal(p->multiplicity, 1);
    assert_int_equal(f.n, 1);
    const snw_series *s = &f.o.series;
    int ends = 0;
    for (int i = 0; i < s->nframe; i++) {
        if (fabs(s->t[i] - 1.51838879329) > 1e-12) continue;
        ends++;
        const double x = shown(&f.o, i, 0), stable = shown(&f.o, i, 3);
        if (ends == 1) { // the straight column
            assert_near(x, 0, 1e-12);
            assert_near(stable, 1 - 1.51838879329, 1e-9);
            continue;
        }
        assert_near(fabs(x), 0.791539496537, 1e-8); // head turned by 100 degrees
        assert_near(shown(&f.o, i, 2), 0.348989300415, 1e-8);
        assert_true(stable > 0);
    }
    assert_int_equal(ends, 3);
    free_found(&f);
}

// A round column: both bending eigenvalues vanish together, and no determinant changes its sign.
static void a_round_column_has_a_double_bifurcation(void **state) {
    (void)state;
    static const char text[] = HEAD
        "robot: {column: {on: world, pose: {x: z}, rod: {length: 1, section: {stiffness: {bend_y: "
        "1, bend_z: 1}}, strain: {bend_y: legendre 8, bend_z: legendre 8}, nodes: 16, magnus: "
        "6}}}\n"
        "loads: {press: {on: column.tip, force: [0, 0, \"-pi^2/4*1 N/s*t\"]}}\n"
        "study: [{path: {range: [0 s, 1.3 s], branches: 1, points: 40}}]\n"
        "probes: {head: {position: column.tip}, s: stability}\n";
    found f;
    follow_ok(text, &f);
    const snw_special_point *p = special(&f, SNW_SPECIAL_BRANCH, 1);
    assert_near(p->t, 1, 1e-9);
    assert_int_equal(p->multiplicity, 2);
    // a circle of equilibria: the branch bends in some plane, neutral about the axis
    assert_near(last(&f.o, 3), 0, 1e-6);
    assert_true(hypot(last(&f.o, 0), last(&f.o, 1)) > 0.5);
    free_found(&f);
}

// A load that rises by t - t^2 beyond Euler's and falls again: the straight column becomes unstable
// and stable again, within a single long step, and only its eigenvalue in between tells. At the
// load that it just touches, it touches zero.
static void crossings_within_a_step_are_found(void **state) {
    (void)state;
    static const double most[3] = {1.02, 1, 0.999};
    for (int k = 0; k < 3; k++) {
        char text[4000];
        found f;
        write_text(text,
                   HEAD
                   "robot: {column: {on: world, pose: {x: z}, rod: {length: 1, section: "
                   "{stiffness: {bend_y: 1}}, strain: {bend_y: legendre 8}, nodes: 16, magnus: "
                   "6}}}\n"
                   "loads: {press: {on: column.tip, force: [0, 0, \"-pi^2/4*%.17g*(1 - 1/(1 "
                   "s^2)*(t - 0.5 s)^2)*1 N\"]}}\n"
                   "study: [{path: {range: [0 s, 0.95 s], step: 0.5}}]\n"
                   "probes: {head: {position: column.tip}, s: stability}\n",
                   most[k]);
        follow_ok(text, &f);
        if (k == 0) { // 1.02 (1 - d^2) = 1
            const double d = sqrt(1 - 1 / 1.02);
            assert_int_equal(f.n, 2);
            assert_near(special(&f, SNW_SPECIAL_BRANCH, 1)->t, 0.5 - d, 1e-8);
            assert_near(special(&f, SNW_SPECIAL_BRANCH, 2)->t, 0.5 + d, 1e-8);
        } else if (k == 1) {
            assert_int_equal(f.n, 1);
            assert_near(special(&f, SNW_SPECIAL_BRANCH, 1)->t, 0.5, 1e-4); // where 1 - P is flat
        } else {
            assert_int_equal(f.n, 0);
        }
        free_found(&f);
    }
}

// ---- follower loads ----------------------------------------------------------------------------

// Frequencies of Beck's column meet at P* = 20.05 and w* = 11.0156: no equilibrium becomes singular
// before.
static void a_follower_force_makes_a_column_flutter(void **state) {
    (void)state;
    static const char beck[] =
        "sinew: 1\ngravity: 0\nparameters: {side: 0.05 mm}\n"
        "materials: {m: {young: 12 N*m^2/side^4, poisson: 0, density: 1 kg/m/side^2}}\n"
        "robot: {column: {on: world, rod: {length: 1, section: {rectangle: {y: side, z: side}}, "
        "material: m, strain: {bend_z: legendre 10}, nodes: 28, magnus: 6}}}\n"
        "loads: {press: {on: column.tip, force: [\"-1 N/s*t\", 0, 0], frame: body}}\n"
        "study: [{path: {range: [0 s, 25 s]}}]\nprobes: {tip: {position: column.tip}}\n";
    found f;
    follow_ok(beck, &f);
    assert_int_equal(f.n, 1);
    const snw_special_point *p = special(&f, SNW_SPECIAL_FLUTTER, 1);
    assert_near(p->t, 20.050953618974, 1e-6);
    assert_near(2 * acos(-1) * p->frequency, 11.015557640923, 1e-3);
    assert_int_equal(f.o.warnings, 0);
    free_found(&f);
}

// Without mass flutter cannot be judged, and the path says so.
static void a_follower_force_on_a_massless_rod_is_not_judged(void **state) {
    (void)state;
    static const char text[] = ROD("section: {stiffness: {bend_z: 1}}, strain: {bend_z: legendre "
                                   "4}") "loads: {press: {on: arm.tip, force: [\"-1 N/s*t\", 0, "
                                         "0], frame: body}}\n"
                                         "study: [{path: {range: [0 s, 1 s]}}]\nprobes: {tip: "
                                         "{position: arm.tip}}\n";
    found f;
    follow_ok(text, &f);
    assert_non_null(strstr(f.o.said, "density"));
    free_found(&f);
}

// ---- two parameters ----------------------------------------------------------------------------

// A rigid bar on a hinge with spring k, pressed by P and pushed sideways by H, moment about the
// hinge: P sin a + H cos a = k (a + c a^2): the folds of an imperfect, asymmetric column. With c =
// 0 both folds of the curve meet at the cusp H = 0, P = k.
static void folds_meet_at_the_cusp_of_a_column(void **state) {
    (void)state;
    static const char text[] = HEAD
        "parameters: {H: 0.05, side: -1}\n"
        "robot: {bar: {on: world, joint: revolute, axis: z, stiffness: 1, body: {mass: 1, com: [1, "
        "0, 0]}}}\n"
        "sites: {end: {on: bar, pose: {xyz: [1, 0, 0]}}}\n"
        "loads: {press: {on: end, force: [\"-1 N/s*(t + 1.5 s)\", side*H*1 N, 0]}}\n"
        "study: [static, change: {side: 1}, path: {range: [-1.4 s, 1 s], start: down, step: 0.05, "
        "folds: {of: H, range: [-0.2, 0.2]}}]\n"
        "probes: {a: {value: bar}, push: {law: H}}\n";
    found f;
    follow_ok(text, &f);
    const snw_special_point *p = special(&f, SNW_SPECIAL_CUSP, 1);
    assert_near(p->t + 1.5, 1, 1e-6);
    // every fold: P cos a - H sin a = 1 besides the equilibrium
    const snw_series *s = &f.o.series;
    int on = 0;
    for (int i = s->nframe - 1; i > 0 && shown(&f.o, i, 1) != 0.05; i--, on++) {
        const double P = s->t[i] + 1.5, a = shown(&f.o, i, 0), H = shown(&f.o, i, 1);
        assert_near(P * sin(a) + H * cos(a), a, 1e-9);
        assert_near(P * cos(a) - H * sin(a), 1, 1e-9);
    }
    assert_true(on > 5);
    free_found(&f);
}

// ---- refusals ----------------------------------------------------------------------------------

static void bad_paths_are_refused(void **state) {
    (void)state;
#define PATHS(keys)                                                                                \
    ROD("section: {stiffness: {bend_z: 1}}, strain: {bend_z: legendre 4}")                         \
    "parameters: {h: 1, law: 2*t}\nstudy: [{path: " keys "}]\nprobes: {tip: {position: "           \
    "arm.tip}}\n"
    refuses(PATHS(""), "needs 'range'");
    refuses(PATHS("{points: 3}"), "needs 'range'");
    refuses(PATHS("{range: [1 s, 0 s]}"), "lower bound");
    refuses(PATHS("{range: 1 s}"), "[low, high]");
    refuses(PATHS("{range: [0 s, 1 s], step: 0}"), "step");
    refuses(PATHS("{range: [0 s, 1 s], step: 11}"), "at most");
    refuses(PATHS("{range: [0 s, 1 s], by: q}"), "no parameter");
    refuses(PATHS("{range: [0 s, 1 s], by: law}"), "not a constant");
    refuses(PATHS("{of: h, range: [0, 2], by: h}"), "beside 'of'");
    refuses(PATHS("{of: h, range: [0 s, 2 s]}"), "got a time");
    refuses(PATHS("{range: [0 s, 1 s], folds: {of: h}}"), "needs 'of' and 'range'");
    refuses(PATHS("{range: [0 s, 1 s], folds: {of: h, range: [2, 3]}}"), "must contain");
    found f;
    follow(PATHS("{range: [1 s, 2 s]}"), &f);
    assert_int_equal(f.o.status, SNW_E_MODEL);
    assert_non_null(strstr(f.o.err.text, "outside of its range"));
    free_found(&f);
    follow(PATHS("{range: [0 s, 1 s], folds: {of: h, range: [0, 3]}}"), &f);
    assert_int_equal(f.o.status, SNW_E_DIVERGED);
    assert_non_null(strstr(f.o.err.text, "no fold"));
    free_found(&f);
    // a length cannot become negative
    follow(HEAD
           "parameters: {l: 0.2}\nrobot: {arm: {on: world, rod: {length: l, section: {stiffness: "
           "{bend_z: 1}}, strain: {bend_z: legendre 3}, nodes: 5}}}\nloads: {pull: {on: arm.tip, "
           "force: [0, 1, 0]}}\nstudy: [{path: {of: l, range: [-1, 1], start: down}}]\nprobes: "
           "{tip: {position: arm.tip}}\n",
           &f);
    assert_int_equal(f.o.status, SNW_E_DIVERGED);
    assert_non_null(strstr(f.o.err.text, "length"));
    assert_true(f.o.series.nframe > 3);
    free_found(&f);
    follow(PATHS("{range: [0 s, 1 s], points: 3}"), &f);
    assert_int_equal(f.o.status, SNW_OK);
    assert_non_null(strstr(f.o.said, "more 'points'"));
    free_found(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_end_where_static_steps_end),
        cmocka_unit_test(folds_of_random_arches_move_as_told),
        cmocka_unit_test(the_truss_snaps_at_its_closed_form),
        cmocka_unit_test(a_constant_of_the_file_is_varied),
        cmocka_unit_test(published_folds_move_as_published),
        cmocka_unit_test(lee_s_frame_turns_in_load_and_displacement),
        cmocka_unit_test(a_column_bends_to_both_sides),
        cmocka_unit_test(a_round_column_has_a_double_bifurcation),
        cmocka_unit_test(crossings_within_a_step_are_found),
        cmocka_unit_test(a_follower_force_makes_a_column_flutter),
        cmocka_unit_test(a_follower_force_on_a_massless_rod_is_not_judged),
        cmocka_unit_test(folds_meet_at_the_cusp_of_a_column),
        cmocka_unit_test(bad_paths_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
