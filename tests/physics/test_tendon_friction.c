// SPDX-License-Identifier: MIT
//
// Tendons with friction along their path: derivatives, closed forms of the capstan, and the energy
// account.
#include "dynamics/tendon.h"
#include "sanitized.h"
#include "setting.h"

#include <stdio.h>

// Two rods in a row on a moving base, a third beside. Tendons run along the rods and wind around
// them, with Coulomb friction and with friction that depends on the sliding speed, pulled by laws
// of time and of probes and by winches. Some strains are given, some rods have a curved rest shape.
static const char robot_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  base: {on: world, joint: free, body: {mass: 1, inertia: [0.1, 0.2, 0.3]}}\n"
    "  upper: {on: base, rod: {length: 0.5, section: {circle: {radius: 20 mm}}, material: rubber, "
    "strain: cosserat legendre 3, rest: {bend_y: 0.5*x/L}}}\n"
    "  lower: {on: upper.tip, rod: {length: 0.4, section: {circle: {radius: 15 mm}}, material: "
    "rubber, strain: {bend_y: quadratic, bend_z: linear, stretch: cubic, twist: "
    "1.5*sin(3*t)*x}, elements: 3}}\n"
    "  side: {on: upper@60%, rod: {length: 0.3, section: {circle: {radius: 15 mm}}, material: "
    "rubber, strain: kirchhoff fourier 3}}\n"
    "actuators:\n"
    "  long: {tendon: {along: [upper, lower], at: [0, 10 mm*cos(5*x), 8 mm], from: 0.1 m, to: "
    "L/2, friction: 0.3, creep: 0.2 m/s, sliding: 0.7}, effort: 5 N*cos(t)^2}\n"
    "  winch: {tendon: {along: upper, at: [0, -8 mm, 6 mm*(1 - x/L)], extra: 50 mm, compliance: "
    "2e-2 1/N, viscous: 2 s/m}, shortening: 0.2 m + 10 mm*sin(t)}\n"
    "  both: {tendon: {along: side, at: [0, 6 mm*sin(20*x), 6 mm*cos(20*x)], compliance: 1e-2 1/N, "
    "friction: 0.2, viscous: 1 s/m, creep: 0.1 m/s, sliding: -1}, shortening: 0.1 m + 30 "
    "mm*sin(4*t)}\n"
    "  follows: {tendon: {along: side, at: [0, 9 mm, 0], friction: 0.4, creep: 0.05 m/s}, effort: "
    "\"3 N + 1 N/m*tip.x*1 + 0.1 N*s/m*speed.vy + 0.5 N/m*far + 0.2 N*s/m*fast\"}\n"
    "probes: {tip: {position: side.tip}, speed: {velocity: lower.tip}, far: {length: long}, fast: "
    "{rate: both}}\n";

enum { MEASURES = 4 };

static void friction_has_exact_derivatives(void **state) {
    (void)state;
    dice d = {81};
    double most[MEASURES] = {0};
    for (int k = 0; k < 6; k++) {
        setting s;
        setting_random(&s, robot_text, &d);
        rig_check(&s.g);
        for (int i = 0; i < MEASURES; i++) {
            const snw_tendon *x = &s.g.m->tendon[i];
            assert_true(s.g.w->tendon[i].effort > 0);
            for (int j = x->point_adr; j < x->point_adr + x->npoint; j++) {
                most[i] = fmax(most[i], fabs(s.g.w->tendon_point[j].tension_fraction - 1));
            }
        }
        setting_close(&s);
    }
    for (int i = 0; i < MEASURES; i++) assert_true(most[i] > 1e-3);
}

#ifndef SNW_NUMBERS // no derivatives

// The power of a tendon is the power on the robot plus the friction loss, and the friction loss is
// never negative.
static void friction_only_dissipates(void **state) {
    (void)state;
    dice d = {82};
    for (int k = 0; k < 40; k++) {
        setting s;
        setting_random(&s, robot_text, &d);
        rig *g = &s.g;
        const int n = g->m->nv;
        double *r = calloc((size_t)n, sizeof *r), got = 0;
        snw_residual(g->m, g->in, g->s, false, g->w);
        memcpy(r, g->w->r, (size_t)n * sizeof *r);
        const double given = snw_tendons_power(g->m, g->w), lost = snw_tendons_heat(g->m, g->w);
        double work = 0; // on strains given by laws, on which the tendon works, too
        for (int i = 0; i < MEASURES; i++) {
            const snw_tendon *x = &g->m->tendon[i];
            double heat = 0, before = 1;
            for (int j = x->point_adr; j < x->point_adr + x->npoint; j++) {
                const snw_tendon_point_work *at = &g->w->tendon_point[j];
                heat += (before - at->tension_fraction) * at->nu;
                assert_true((before - at->tension_fraction) * at->nu >= 0 &&
                            at->tension_fraction > 0);
                before = at->tension_fraction;
                work += g->w->tendon[i].effort * at->tension_fraction * g->m->tendon_point[j].w *
                        at->df;
            }
            assert_true(heat > 0);
        }
        assert_near(given - lost, -work, 1e-12 * (fabs(given) + fabs(lost)));
        // the same from the forces themselves, where no strain is given
        *g->in->signal_fraction = 0;
        for (int i = 0; i < MEASURES; i++) {
            if (snw_gives_effort(g->m->desc->tendon[i].given)) g->in->tendon[i].v = 0;
        }
        double rods = 0;
        for (int i = 0; i < MEASURES; i++) {
            const snw_tendon *x = &g->m->tendon[i];
            for (int j = 0; j < x->ndof; j++) {
                rods += g->w->tendon[i].effort * g->w->G[x->store + (size_t)j] * g->s->v[x->dof[j]];
            }
        }
        snw_residual(g->m, g->in, g->s, false, g->w);
        for (int i = 0; i < n; i++) got += (g->w->r[i] - r[i]) * g->s->v[i];
        assert_near(got, rods, 1e-10 * (fabs(rods) + 1));
        free(r);
        setting_close(&s);
    }
}

// A rod held at constant curvature, or a helix around a straight rod, followed by a rod that is
// compressed so that the tendon slides evenly: exp(-friction times the angle).
static void tension_falls_as_at_a_capstan(void **state) {
    (void)state;
    static const char form[] =
        "sinew: 1\n"
        "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
        "robot:\n"
        "  held: {on: world, rod: {length: 0.5, section: {circle: {radius: 20 mm}}, material: "
        "rubber, strain: {bend_y: \"%s\"}}}\n"
        "  pulled: {on: held.tip, rod: {length: 0.1, section: {circle: {radius: 20 mm}}, material: "
        "rubber, strain: {stretch: constant}}}\n"
        "actuators: {cord: {tendon: {along: [held, pulled], at: [0, %s], friction: 0.3, creep: 1 "
        "um/s}, effort: 2 N}}\n";
    const double f = 12, d = 0.01;
    const struct {
        const char *bend, *at;
        double turning; // rad/m
    } cases[] = {{"3", "0, 8 mm", 3},
                 {"0", "10 mm*sin(12*x), 10 mm*cos(12*x)", d * f * f / sqrt(1 + d * d * f * f)},
                 {"0", "4 mm, 1 mm", 0}};
    for (int k = 0; k < 3; k++) {
        for (int way = -1; way <= 1; way += 2) {
            char text[2000];
            setting s;
            (void)snprintf(text, sizeof text, form, cases[k].bend, cases[k].at);
            setting_open(&s, text);
            snw_inputs_at(s.g.m, 0, s.g.in);
            s.g.s->v[s.g.m->nv - 1] = way; // stretch rate of 1 per second
            snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
            for (int i = 0; i < s.g.m->ntendon_point; i++) {
                const snw_tendon_point *p = &s.g.m->tendon_point[i];
                if (p->rod != s.g.m->link_rod[0]) continue;
                // friction is regularised over an angle of 1e-5 rad on the whole path
                const double want = exp(way * 0.3 * cases[k].turning * p->x);
                assert_near(s.g.w->tendon_point[i].tension_fraction, want, 0.3 * 1e-5 * want);
            }
            setting_close(&s);
        }
    }
}

// Corners: over an eye by any angle, there and back, into a straight rod and out of it, and from
// rod to rod. A block that moves along the last part makes the tendon slide evenly.
static void tension_falls_at_corners_as_at_a_capstan(void **state) {
    (void)state;
    static const char head[] =
        "sinew: 1\n"
        "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
        "robot:\n"
        "  block: {on: world, joint: prismatic, axis: %s, pose: {xyz: [%s]}, body: {mass: "
        "1}}\n"
        "  held: {on: world, rod: {length: 0.5, section: {circle: {radius: 20 mm}}, material: "
        "rubber, strain: {bend_y: \"0\"}}}\n"
        "  drawn: {on: held.tip, pose: {rpy: [0, 0, 0.7]}, rod: {length: 0.1, section: {circle: "
        "{radius: 20 mm}}, material: rubber, strain: {stretch: constant}}}\n"
        "sites: {post: {on: world, pose: {xyz: [%.17g, %.17g, 0]}}}\n"
        "actuators: {cord: {tendon: {path: [%s], friction: 0.3, creep: 1 um/s}, effort: 2 N}}\n";
    static const struct {
        const char *axis, *block, *path;
        double post, angle, more; // the first part runs from there at this angle to x
    } cases[] = {{"x", "0.4, 0, 0", "post, world, block", 0.7, 0, 0},
                 {"x", "0.4, 0, 0", "post, world, block", 0.7, 0.4, 0},
                 {"x", "0.4, 0, 0", "post, world, block", 0.7, 1.3, 0},
                 {"x", "0.4, 0, 0", "post, world, block", 0.7, 3, 0},
                 {"x", "0.4, 0, 0", "post, world, block", 0.7, M_PI, 0},
                 {"z", "0.5, 0, 0.3", "post, held, block", 0.2, 0.6, M_PI / 2},
                 {"x", "0, 0, 0", "post, held, drawn", 0.2, 0.6, 0.7},
                 {"x", "0, 0, 0", "held, drawn", 0.2, 0, 0.7}};
    for (int k = 0; k < 8; k++) {
        for (int way = -1; way <= 1; way += 2) {
            char text[2000];
            setting s;
            (void)snprintf(text, sizeof text, head, cases[k].axis, cases[k].block,
                           -cases[k].post * cos(cases[k].angle),
                           -cases[k].post * sin(cases[k].angle), cases[k].path);
            setting_open(&s, text);
            const snw_model *m = s.g.m;
            snw_inputs_at(m, 0, s.g.in);
            s.g.s->v[0] = s.g.s->v[m->nv - 1] = way; // block and stretch
            snw_residual(m, s.g.in, s.g.s, false, s.g.w);
            const double want = exp(way * 0.3 * (cases[k].angle + cases[k].more));
            // each angle is regularised by 1e-5 rad, at both of its ends
            const double rounded = expm1(0.3 * 2 * 1e-5 * m->ntendon_corner) + 1e-12;
            assert_near(s.g.w->tendon_point[m->ntendon_point - 1].tension_fraction, want,
                        rounded * want);
            if (k == 0)
                assert_near(s.g.w->tendon_point[m->ntendon_point - 1].tension_fraction, 1, 0);
            assert_near(s.g.w->tendon_point[0].tension_fraction, 1, 1e-15);
            setting_close(&s);
        }
    }
}

#define ARM                                                                                        \
    "sinew: 1\n"                                                                                   \
    "materials: {rubber: {young: 0.5 MPa, poisson: 0.5, density: 1000, damping: 5 ms}}\n"          \
    "gravity: [0, 0, -9.81]\n"                                                                     \
    "robot: {arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 12 mm}}, material: "   \
    "rubber, strain: cosserat legendre 3}}}\n"

#define UNTIL AMONG("10 ms", "0.12 s")

// A swing with two tendons with friction: energy supplied, stored and lost balance; implicit steps
// converge to the same motion with order two; and negligible friction has a negligible effect.
static void the_energy_account_closes_with_friction(void **state) {
    (void)state;
    static const struct {
        const char *way, *friction;
    } runs[] = {{"scheme: adaptive, tolerance: 1e-10", "friction: 0.4, viscous: 3 s/m"},
                {"step: 2 ms, tolerance: 1e-12", "friction: 0.4, viscous: 3 s/m"},
                {"step: 1 ms, tolerance: 1e-12", "friction: 0.4, viscous: 3 s/m"},
                {"scheme: adaptive, tolerance: 1e-10", "extra: 0"},
                {"scheme: adaptive, tolerance: 1e-10", "friction: 1e-9, viscous: 1e-9 s/m"}};
    enum { RUNS = 5, Z = 2, LOST = 3 + 3, BALANCE = 3 + 6 };
    double z[RUNS], lost[RUNS];
    for (int k = 0; k < RUNS; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(
            text, sizeof text,
            ARM "actuators:\n"
                "  cord: {tendon: {along: arm, at: [0, 3 mm, 8 mm*(1 - x/L)], creep: 1 cm/s, %s}, "
                "effort: \"1.5 N*sin(9*t)^2\"}\n"
                "  hold: {tendon: {along: arm, at: [0, 0, 8 mm], extra: 20 mm, compliance: 3e-2 "
                "1/N, friction: %s, creep: 1 cm/s}, shortening: 30 mm + 5 mm*sin(9*t)^2}\n"
                "study: [static:, dynamic: {for: " UNTIL ", %s}]\n"
                "probes: {tip: {position: arm.tip}, e: energy}\n",
            runs[k].friction,
            k < 3    ? "0.3"
            : k == 3 ? "0"
                     : "1e-9",
            runs[k].way);
        execute(text, &o);
        if (o.status != SNW_OK) fail_msg("%s: %s", runs[k].way, o.err.text);
        z[k] = last(&o, Z), lost[k] = last(&o, LOST);
        // tolerance of the integrator for energies of about 0.1 J
        if (k == 0 || k > 2) assert_near(last(&o, BALANCE), 0, 1e-9);
        snw_series_clear(&o.series);
    }
    if (AMONG(true, false)) return; // too short a motion for the checks below
    const double slope = log2(fabs(z[1] - z[0]) / fabs(z[2] - z[0]));
    printf("errors %.2e, %.2e m, slope %.2f; lost %.3e J, without friction %.3e J\n", z[1] - z[0],
           z[2] - z[0], slope, lost[0], lost[3]);
    assert_true(slope > 1.8 && slope < 2.2);
    assert_true(lost[0] > 1.02 * lost[3] && fabs(z[0] - z[3]) > 1e-5);
    assert_near(z[4], z[3], 1e-9);
}

// Probes show the tension along the path and the forces at its ends: behind a rod of constant
// curvature the capstan's tension, inside it that of a part of the angle, and forces at the ends
// along the path.
static void probes_show_tensions_and_ends(void **state) {
    (void)state;
    outcome o;
    execute_ok(
        "sinew: 1\n"
        "gravity: 0\n"
        "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
        "robot:\n"
        "  held: {on: world, rod: {length: 0.5, section: {circle: {radius: 20 mm}}, material: "
        "rubber, strain: {bend_y: 3, twist: constant}, elements: 1}}\n"
        "  pulled: {on: held.tip, rod: {length: 0.1, section: {circle: {radius: 20 mm}}, "
        "material: rubber, strain: {stretch: \"-0.5*t\"}}}\n"
        "actuators: {cord: {tendon: {along: [held, pulled], at: [0, 0, 8 mm], friction: 0.3, "
        "creep: 1 um/s}, effort: 2 N}}\n"
        "study: [dynamic: {for: 0.1 s, step: 10 ms}]\n"
        "probes: {T: {tension: cord}, end: {tension: cord.tip}, mid: {tension: cord@40%}, all: "
        "{tension: cord, along: 3}, root: {pull: cord.root}, tip: {pull: cord.tip}, own: "
        "{pull: cord.tip, in: body}, l: {length: cord}}\n",
        &o);
    enum { T, END, MID, ALL, ROOT = ALL + 3, TIP = ROOT + 6, OWN = TIP + 6, LENGTH = OWN + 6 };
    const double tied = 2 * exp(-0.3 * 1.5), stretch = 1 + 3 * 0.008; // of the path in the bent rod
    assert_near(last(&o, T), 2, 0);
    assert_near(last(&o, END), tied, 1e-5 * tied);
    const double x = 0.4 * last(&o, LENGTH) / stretch;
    assert_near(last(&o, MID), 2 * exp(-0.3 * 3 * x), 2e-5); // the angle is regularised
    assert_near(last(&o, ALL), 2, 1e-12);
    assert_near(last(&o, ALL + 2), last(&o, END), 1e-12);
    // forces along the path, moments about the centre; the tip has turned by 1.5 rad about y
    const double root[6] = {0, 2 * 0.008, 0, 2, 0, 0}, c = cos(1.5), s = sin(1.5);
    const double own[6] = {0, -tied * 0.008, 0, -tied, 0, 0};
    const double tip[6] = {0, -tied * 0.008, 0, -tied * c, 0, tied * s};
    for (int i = 0; i < 6; i++) {
        assert_near(last(&o, ROOT + i), root[i], 1e-9);
        assert_near(last(&o, OWN + i), own[i], 1e-5);
        assert_near(last(&o, TIP + i), tip[i], 1e-5);
    }
    snw_series_clear(&o.series);
}
// On an arc that is compressed everywhere the tendon slides up to its end: the tension there is
// that of the capstan's law for the whole angle, also beyond the last quadrature point.
static void tension_falls_up_to_the_fixed_end(void **state) {
    (void)state;
    outcome o;
    execute_ok("sinew: 1\n"
               "gravity: 0\n"
               "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
               "robot: {arm: {on: world, rod: {length: 0.5, section: {circle: {radius: 20 mm}}, "
               "material: rubber, strain: {bend_y: 3, stretch: \"-0.05*t\"}}}}\n"
               "actuators: {cord: {tendon: {along: arm, at: [0, 0, 8 mm], friction: 0.3, creep: 1 "
               "nm/s}, effort: 2 N}}\n"
               "study: [dynamic: {for: 20 ms, step: 10 ms}]\n"
               "probes: {end: {tension: cord.tip}, all: {tension: cord, along: 21}, tip: {pull: "
               "cord.tip}}\n",
               &o);
    enum { END, ALL, TIP = ALL + 21 };
    const double tied = 2 * exp(-0.3 * 1.5), rounded = 1e-5; // of the angle, on the whole path
    assert_near(last(&o, END), tied, rounded * tied);
    for (int k = 0; k <= 20; k++) {
        const double want = 2 * exp(-0.3 * 1.5 * k / 20);
        assert_near(last(&o, ALL + k), want, rounded * want);
    }
    const double pull =
        sqrt(last(&o, TIP + 3) * last(&o, TIP + 3) + last(&o, TIP + 4) * last(&o, TIP + 4) +
             last(&o, TIP + 5) * last(&o, TIP + 5));
    assert_near(pull, tied, rounded * tied);
    snw_series_clear(&o.series);
}
// The static tangent, by central differences: tendons around a rod and over its end into another,
// pulled and on a winch.
static void friction_at_rest_has_exact_derivatives(void **state) {
    (void)state;
    setting s;
    setting_open(
        &s,
        "sinew: 1\nmaterials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
        "robot:\n"
        "  upper: {on: world, rod: {length: 0.5, section: {circle: {radius: 20 mm}}, material: "
        "rubber, strain: cosserat legendre 3}}\n"
        "  lower: {on: upper.tip, rod: {length: 0.4, section: {circle: {radius: 15 mm}}, "
        "material: rubber, strain: {bend_y: quadratic, stretch: linear}}}\n"
        "actuators:\n"
        "  long: {tendon: {along: [upper, lower], at: [0, 10 mm*cos(5*x), 8 mm], friction: 0.3, "
        "sliding: 0.7}, effort: 5 N}\n"
        "  winch: {tendon: {along: upper, at: [0, 6 mm*sin(20*x), 6 mm*cos(20*x)], compliance: "
        "1e-2 1/N, friction: 0.2, sliding: -1}, shortening: 60 mm}\n");
    const int n = s.g.m->nv;
    double *T = calloc((size_t)(n * n), sizeof *T), *r = calloc((size_t)(2 * n), sizeof *r);
    dice d = {7};
    for (int i = 0; i < n; i++) s.g.s->q[i] = 0.3 * roll(&d, -1, 1) * s.g.m->typical[i];
    snw_inputs_at(s.g.m, 0, s.g.in);
    snw_residual(s.g.m, s.g.in, s.g.s, true, s.g.w);
    for (int i = 0; i < 2; i++) assert_true(s.g.w->tendon[i].effort > 0);
    snw_tangent_pass(s.g.m, NULL, s.g.w);
    snw_tangent_assemble(s.g.m, s.g.in, 1, 0, 0, s.g.w, T);
    for (int j = 0; j < n; j++) {
        const double at = s.g.s->q[j], h = 1e-5 * s.g.m->typical[j];
        for (int k = 0; k < 2; k++) {
            s.g.s->q[j] = at + (k == 0 ? h : -h);
            snw_residual(s.g.m, s.g.in, s.g.s, true, s.g.w);
            memcpy(r + k * n, s.g.w->r, (size_t)n * sizeof *r);
        }
        s.g.s->q[j] = at;
        for (int i = 0; i < n; i++) {
            const double size = s.g.m->scale[i] / s.g.m->typical[j];
            assert_near(T[j * n + i] / size, (r[i] - r[n + i]) / (2 * h) / size, 1e-7);
        }
    }
    free(T);
    free(r);
    setting_close(&s);
}

// In statics friction acts in the direction given in the model: EI kappa = T d along a planar rod,
// so T' = -mu kappa T in closed form, for a tendon that was pulled in, one that was let out and one
// that sticks halfway; by both engines. Without a given direction there is no friction, and a
// message says so.
static void static_friction_acts_against_the_last_sliding(void **state) {
    (void)state;
    enum { TURN = 4, END = 16, MID = 17 };
    const double d = 8e-3, T = 4, mu = 0.4, EI = 0.02, L = 0.5;
    static const double sigma[] = {1, -1, 0.5};
    for (int k = 0; k < 6; k++) {
        char text[2000];
        outcome o;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\n"
                       "robot: {arm: {on: world, rod: {length: 0.5, section: {stiffness: {bend_y: "
                       "0.02, bend_z: 0.02, twist: 0.02}}, strain: {bend_y: legendre 8, bend_z: "
                       "linear, twist: linear}, nodes: 60}}}\n"
                       "actuators: {cord: {tendon: {along: arm, at: [0, 0, 8 mm], friction: 0.4, "
                       "sliding: %g}, effort: 4 N}}\n"
                       "study: [static: {%s}]\n"
                       "probes: {rot: {rotation: arm.tip}, end: {tension: cord.tip}, mid: "
                       "{tension: cord@50%%}}\n",
                       sigma[k % 3], k < 3 ? "" : "engine: shooting, shooting: {points: 201}");
        execute_ok(text, &o);
        const double s = mu * sigma[k % 3], lost = s * d * T / EI;
        assert_int_equal(o.warnings, 0);
        // the angle is regularised by 1e-5 rad on the whole path
        assert_near(last(&o, TURN + 1), -log(1 + lost * L) / s, 1e-5);
        assert_near(last(&o, END), T / (1 + lost * L), 1e-5 * T);
        snw_series_clear(&o.series);
    }
    outcome o;
    execute_ok(
        "sinew: 1\nrobot: {arm: {on: world, rod: {length: 0.5, section: {stiffness: {bend_y: "
        "0.02}}, strain: {bend_y: linear}}}}\n"
        "actuators: {cord: {tendon: {along: arm, at: [0, 0, 8 mm], friction: 0.4}, effort: 4 "
        "N}}\nstudy: [static: {}]\nprobes: {end: {tension: cord.tip}}\n",
        &o);
    assert_int_equal(o.warnings, 1);
    assert_near(last(&o, 0), 4, 1e-12);
    snw_series_clear(&o.series);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_has_exact_derivatives),
#ifndef SNW_NUMBERS
        cmocka_unit_test(friction_only_dissipates),
        cmocka_unit_test(tension_falls_as_at_a_capstan),
        cmocka_unit_test(tension_falls_at_corners_as_at_a_capstan),
        cmocka_unit_test(the_energy_account_closes_with_friction),
        cmocka_unit_test(probes_show_tensions_and_ends),
        cmocka_unit_test(tension_falls_up_to_the_fixed_end),
        cmocka_unit_test(friction_at_rest_has_exact_derivatives),
        cmocka_unit_test(static_friction_acts_against_the_last_sliding),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
