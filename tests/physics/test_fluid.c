// SPDX-License-Identifier: MIT
//
// Fluids: added mass, buoyancy, drag and currents against closed forms, tables and balances, their
// derivatives against differences, and elongated-body theory against its planar form.
#include "dynamics/fluid.h"
#include "random_rod.h"
#include "robot_texts.h"
#include "sanitized.h"
#include "setting.h"

#include <stdio.h>

// ---- derivatives --------------------------------------------------------------------------------

// A free box with an offset centre, a rod that stretches and shears, one that does not, a flat one
// on its side, a rigid one and a sphere; two fluids, each with its current.
static const char robot_text[] = SOFT_TREE
    "  stiff: {on: lower.tip, joint: revolute, rod: {length: 0.2, section: {circle: {radius: 10 "
    "mm*(1 - x/L)}}, material: rubber, strain: rigid}}\n"
    "  ball: {on: side.tip, joint: universal, body: {sphere: {radius: 40 mm}, density: 700, com: "
    "[0.1, 0, 0.02]}}\n"
    "fluid:\n"
    "  water: {on: [upper, lower, side, stiff, ball], density: 1100, added: auto, buoyancy: on, "
    "current: "
    "[\"0.3 m/s*sin(2*t)\", 0.2, -0.1*t]}\n"
    "  friction: {on: [upper, side], density: 1100, drag: {normal: 1.2 + x/L, "
    "tangent: 0.02, linear: [0.3, 0.6, 0.5]}, current: [\"0.3 m/s*sin(2*t)\", 0.2, -0.1*t]}\n"
    "  box: {on: base, density: 900, buoyancy: on, added: [0.01, 0.02, 0.03, 1, 2, 3], drag: "
    "{linear: [0.1, 0.2, "
    "0.1, 2, 1, 3]}}\n"
    "%s";
static const char square_text[] =
    "  air: {on: [upper, lower, side], drag: {square: [0.7, 1.3, 2.1*(1 + x/L)]}}\n"
    "  hull: {on: [base, ball], drag: {square: [0.1, 0.1, 0.2, 1, 2, 3]}}\n";

static void robot_open(setting *s, bool square) {
    char text[4000];
    (void)snprintf(text, sizeof text, robot_text, square ? square_text : "");
    setting_open(s, text);
}

static void fluids_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {81};
    for (int k = 0; k < 5; k++) {
        setting s;
        robot_open(&s, false);
        state_random(s.g.m, &d, s.g.s);
        snw_inputs_at(s.g.m, s.g.s->t, s.g.in);
        rig_check(&s.g);
        setting_close(&s);
    }
}

// v|v| is not smooth where a component of the velocity changes its sign: here none does
static void square_drag_has_exact_derivatives(void **state) {
    (void)state;
    dice d = {82};
    for (int k = 0; k < 4; k++) {
        setting s;
        robot_open(&s, true);
        const snw_model *m = s.g.m;
        for (int i = 0; i < m->nv; i++) {
            s.g.s->v[i] = roll(&d, -0.2, 0.2), s.g.s->a[i] = roll(&d, -2, 2);
        }
        const double speed[6] = {0.6, -0.7, 0.5, 9, -8, 7};
        for (int i = 0; i < 6; i++) s.g.s->v[i] = speed[i];
        for (int i = 0; i < m->nrod; i++) {
            const snw_rod *rod = &m->rod[i];
            for (int j = 0; j < rod->ndof; j++) {
                s.g.s->q[rod->dof0 + rod->shift + j] = roll(&d, -0.1, 0.1);
            }
        }
        s.g.s->t = roll(&d, 0, 1);
        snw_inputs_at(m, s.g.s->t, s.g.in);
        rig_check(&s.g);
        setting_close(&s);
    }
}

// in statics only the fluid moves
static void currents_have_exact_stiffness(void **state) {
    (void)state;
    dice d = {83};
    setting s;
    robot_open(&s, false);
    rig *g = &s.g;
    state_random(g->m, &d, g->s);
    g->s->t = 0.7;
    snw_inputs_at(g->m, 0.7, g->in);
    rig_check_stiffness(g);
    setting_close(&s);
}

#ifndef SNW_NUMBERS // tests without derivatives

// The mass matrix is the derivative of the residual with respect to the accelerations, and
// symmetric; it includes the added mass.
static void added_mass_is_in_the_mass_matrix(void **state) {
    (void)state;
    dice d = {84};
    setting s;
    robot_open(&s, false);
    rig *g = &s.g;
    const int n = g->m->nv;
    double *M = malloc((size_t)(n * n) * sizeof *M), *r = malloc((size_t)n * sizeof *r);
    state_random(g->m, &d, g->s);
    snw_inputs_at(g->m, g->s->t, g->in);
    snw_mass_matrix(g->m, g->in, g->s, g->w, M);
    for (int j = 0; j < n; j++) {
        snw_residual(g->m, g->in, g->s, false, g->w);
        memcpy(r, g->w->r, (size_t)n * sizeof *r);
        const double was = g->s->a[j];
        g->s->a[j] += 1;
        snw_residual(g->m, g->in, g->s, false, g->w);
        g->s->a[j] = was;
        for (int i = 0; i < n; i++) assert_near(M[j * n + i], g->w->r[i] - r[i], 1e-10);
    }
    // v' M v / 2 is the kinetic energy without prescribed strain rates and currents
    for (int f = 0; f < g->m->nfluid; f++) g->in->current[f] = (snw_vec3){{0}};
    for (int f = 0; f < g->m->nfield; f++) g->in->dxi[f] = (snw_twist){0};
    snw_kinematics(g->m, g->in, g->s, false, g->w);
    double energy = 0;
    for (int i = 0; i < n * n; i++) energy += 0.5 * g->s->v[i / n] * M[i] * g->s->v[i % n];
    assert_near(snw_kinetic_energy(g->m, g->w), energy, 1e-10 * energy);
    free(M);
    free(r);
    setting_close(&s);
}

// ---- closed forms -------------------------------------------------------------------------------

static void done(const char *text, outcome *o) {
    execute(text, o);
    if (o->status != SNW_OK) fail_msg("%s", o->err.text);
}

// one number that a model reports at its end
static double found(const char *text) {
    outcome o;
    done(text, &o);
    const double x = last(&o, 0);
    snw_series_clear(&o.series);
    return x;
}

// A rigid rod of length 1 m pushed along y or else held by a spring there; x is its axis.
#define SLIDER(section, axis, rest)                                                                \
    "sinew: 1\ngravity: 0\n"                                                                       \
    "materials: {stuff: {young: 1 MPa, density: 800}}\n"                                           \
    "robot: {rod: {on: world, joint: prismatic, axis: " axis ", stiffness: 30 N/m, rod: {length: " \
    "1 m, section: {" section "}, material: stuff, strain: rigid}}}\n"                             \
    "loads: {push: {on: rod.root, force: [1, 2, 3]}}\n"                                            \
    "fluid: {water: {on: rod, density: 1000, added: auto}}\n" rest

static void added_masses_are_those_of_plane_flow(void **state) {
    (void)state;
#define PUSHED                                                                                     \
    "study: [dynamic: {for: 1 us, scheme: rk4, step: 1 us}]\nrecord: {every: 1 us}\n"              \
    "probes: {a: {acceleration: rod.root}}\n"
    const double circle = M_PI * 0.05 * 0.05, ellipse = M_PI * 0.05 * 0.02;
    outcome o;
    done(SLIDER("circle: {radius: 50 mm}", "y", PUSHED), &o);
    assert_near(shown(&o, 0, 1), 2 / (1800 * circle), 1e-12);
    snw_series_clear(&o.series);
    done(SLIDER("circle: {radius: 50 mm}", "x", PUSHED), &o);
    assert_near(shown(&o, 0, 0), 1 / (800 * circle), 1e-12);
    snw_series_clear(&o.series);
    done(SLIDER("tube: {radius: 50 mm, inner: 40 mm}", "z", PUSHED), &o);
    assert_near(shown(&o, 0, 2), 3 / (1000 * circle + 800 * M_PI * (0.0025 - 0.0016)), 1e-12);
    snw_series_clear(&o.series);
    done(SLIDER("ellipse: {y: 100 mm, z: 40 mm}", "y", PUSHED), &o);
    assert_near(shown(&o, 0, 1), 2 / (800 * ellipse + 1000 * M_PI * 0.02 * 0.02), 1e-12);
    snw_series_clear(&o.series);
    done(SLIDER("ellipse: {y: 100 mm, z: 40 mm}", "z", PUSHED), &o);
    assert_near(shown(&o, 0, 2), 3 / (800 * ellipse + 1000 * M_PI * 0.05 * 0.05), 1e-12);
    snw_series_clear(&o.series);
#undef PUSHED
}

// A rectangle of half widths a across and b along the motion, over rho pi a^2: the table of
// DNV-RP-C205, three digits.
static void rectangles_have_the_tabled_added_mass(void **state) {
    (void)state;
    static const double table[][2] = {{10, 1.14}, {5, 1.21},   {2, 1.36},  {1, 1.51},
                                      {0.5, 1.7}, {0.2, 1.98}, {0.1, 2.23}};
    for (int i = 0; i < 7; i++) {
        const double a = table[i][0];
        char text[2000];
        setting s;
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\nmaterials: {m: {young: 1, density: 1}}\n"
                       "robot: {rod: {on: world, joint: prismatic, rod: {length: 1, section: "
                       "{rectangle: {y: %g, z: 2}}, material: m, strain: rigid}}}\n",
                       2 * a);
        setting_open(&s, text);
        snw_outline o;
        snw_error err;
        assert_int_equal(snw_section_outline(&s.desc->link[0].rod, "rod", 0, &o, &err), SNW_OK);
        assert_near(o.added[1] / (M_PI * a * a), table[i][1], 0.006); // motion along z
        setting_close(&s);
    }
    // a flat plate
    snw_rod_desc rod = {.length = 1, .section = {.kind = SNW_SECTION_RECTANGLE}};
    snw_pool *pool = snw_pool_create(1 << 16);
    rod.section.size[0] = snw_expr_constant(pool, 2);
    rod.section.size[1] = snw_expr_constant(pool, 1e-9);
    snw_outline o;
    snw_error err;
    assert_int_equal(snw_section_outline(&rod, "rod", 0, &o, &err), SNW_OK);
    assert_near(o.added[1], M_PI, 1e-7);
    assert_near(o.perimeter, 4, 1e-8);
    rod.section.kind = SNW_SECTION_ELLIPSE; // the same as a degenerate ellipse
    assert_int_equal(snw_section_outline(&rod, "rod", 0, &o, &err), SNW_OK);
    assert_near(o.added[1], M_PI, 1e-12);
    assert_near(o.perimeter, 4, 1e-8);
    snw_pool_destroy(pool);
}

static void frequencies_fall_in_water(void **state) {
    (void)state;
    const double m = 1800 * M_PI * 0.05 * 0.05;
    const double f = found(SLIDER("circle: {radius: 50 mm}", "y",
                                  "study: [modes: {count: 1}]\nprobes: {f: frequency}\n"));
    assert_near(f, sqrt(30 / m) / (2 * M_PI), 1e-10);
    // a bending rod, so thin that the rotation of its sections is negligible
    double submerged[2];
    for (int k = 0; k < 2; k++) {
        char text[2000];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\nmaterials: {m: {young: 1 GPa, density: 1500}}\n"
                       "robot: {arm: {on: world, rod: {length: 1, section: {circle: {radius: 0.5 "
                       "mm}}, material: m, strain: {bend_y: legendre 6}}}}\n"
                       "fluid: {water: {on: arm, density: 1000, added: auto, when: %s}}\n"
                       "study: [static:, modes: {count: 2}]\nprobes: {f: frequency}\n",
                       k ? "on" : "off");
        submerged[k] = found(text);
    }
    assert_near(submerged[1] / submerged[0], sqrt(1500.0 / 2500), 1e-6);
}

// m v' = W - drag: an exponential, or a hyperbolic tangent
static void bodies_and_rods_reach_their_terminal_velocity(void **state) {
    (void)state;
    static const char form[] =
        "sinew: 1\nmaterials: {stuff: {young: 1 MPa, density: 3000}}\n"
        "robot: {it: {on: world, joint: prismatic, axis: [0, 0, -1], %s}}\n"
        "fluid: {water: {on: it, density: 1000, added: auto, buoyancy: on, drag: {%s}}}\n"
        "study: [dynamic: {for: 0.8 s, scheme: adaptive, tolerance: 1e-11}]\n"
        "record: {every: 0.1 s}\nprobes: {v: {rate: it}, e: energy}\n";
    static const char ball[] = "body: {sphere: {radius: 50 mm}, density: 3000}";
    static const char rod[] = "rod: {length: 2, section: {ellipse: {y: 60 mm, z: 20 mm}}, "
                              "material: stuff, strain: rigid}";
    static const char tilted[] = "pose: {rpy: [0, 90 deg, 0]}, rod: {length: 2, section: {ellipse: "
                                 "{y: 60 mm, z: 20 mm}}, material: stuff, strain: rigid}";
    const double V = 4 * M_PI / 3 * 0.05 * 0.05 * 0.05, A = M_PI * 0.03 * 0.01;
    double perimeter = 0; // of the ellipse, by a fine polygon
    for (int i = 0; i < 4000; i++) {
        const double t = 2 * M_PI * (i + 0.5) / 4000;
        perimeter += 2 * M_PI / 4000 * hypot(0.03 * sin(t), 0.01 * cos(t));
    }
    const struct {
        const char *what, *drag;
        double weight, mass, linear, square;
    } cases[] = {
        {ball, "linear: 7 kg/s", 2000 * V, 3500 * V, 7, 0},
        {ball, "square: [0, 0, 0, 1, 2, 5 kg/m]", 2000 * V, 3500 * V, 0, 5},
        {rod, "linear: [1, 2, 30 kg/m/s]", 4000 * A, 6000 * A + 2000 * M_PI * 9e-4, 60, 0},
        {rod, "normal: 1.1", 4000 * A, 6000 * A + 2000 * M_PI * 9e-4, 0, 1000 * 1.1 * 0.06},
        {tilted, "tangent: 0.04", 4000 * A, 6000 * A, 0, 1000 * 0.04 * perimeter},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[2000];
        outcome o;
        // the tilted rod falls along its axis: the joint follows the pose
        const bool along = cases[k].what == tilted;
        (void)snprintf(text, sizeof text, form, cases[k].what, cases[k].drag);
        char *axis = strstr(text, "[0, 0, -1]");
        if (along) memcpy(axis, "x         ", 10);
        done(text, &o);
        const double W = 9.81 * cases[k].weight, c = cases[k].linear, s = cases[k].square;
        for (int f = 0; f < o.series.nframe; f++) {
            const double t = 0.1 * f, vt = s > 0 ? sqrt(W / s) : W / c;
            const double want = s > 0 ? vt * tanh(sqrt(W * s) * t / cases[k].mass)
                                      : vt * (1 - exp(-c * t / cases[k].mass));
            if (!(fabs(shown(&o, f, 0) - want) <= 1e-8 * vt)) {
                fail_msg("%s, %s: %.10g, want %.10g", cases[k].what, cases[k].drag, shown(&o, f, 0),
                         want);
            }
            assert_near(shown(&o, f, 1 + 6), 0, 1e-8);
        }
        assert_true(last(&o, 0) > 0.5);
        snw_series_clear(&o.series);
    }
}

static void a_neutrally_buoyant_body_stays_at_rest(void **state) {
    (void)state;
    outcome o;
    done(
        "sinew: 1\nmaterials: {jelly: {young: 10 kPa, poisson: 0.5, density: 1020}}\n"
        "robot:\n"
        "  arm: {on: world, rod: {length: 0.5, section: {rectangle: {y: 20 mm, z: 30 mm*(1 - "
        "x/L/2)}}, material: jelly, strain: cosserat legendre 4}}\n"
        "  end: {on: arm.tip, body: {box: [0.1, 0.05, 0.05], density: 1020, com: [0.05, 0, 0.1]}}\n"
        "fluid: {water: {on: [arm, end], density: 1020, buoyancy: on}}\n"
        "study: [static:, dynamic: {for: 0.1 s, step: 10 ms}]\n"
        "probes: {tip: {position: end}, e: energy, root: {wrench: arm.root}}\n",
        &o);
    for (int f = 0; f < o.series.nframe; f++) {
        assert_near(shown(&o, f, 0), 0.5, 1e-12);
        for (int c = 1; c < 3; c++) assert_near(shown(&o, f, c), 0, 1e-12);
        for (int c = 3; c < 11 + 6; c++) assert_near(shown(&o, f, c), 0, 1e-11);
    }
    snw_series_clear(&o.series);
}

// ---- balances -----------------------------------------------------------------------------------

static const char swimmer_text[] =
    "sinew: 1\ngravity: [0, 0, -2]\n"
    "materials: {rubber: {young: 0.3 MPa, poisson: 0.4, density: 1000, damping: 1 ms}}\n"
    "robot:\n"
    "  head: {on: world, joint: free, body: {sphere: {radius: 60 mm}, density: 900, com: [0.01, 0, "
    "0.02]}}\n"
    "  body: {on: head, rod: {length: 0.6, section: {ellipse: {y: 30 mm, z: 60 mm + 20 mm*x/L}}, "
    "material: rubber, strain: %s}}\n"
    "loads: {wave: {along: body, torque: [0, 0.5 N*sin(5*t), 2 N*sin(8*t - 6*x)], frame: body}}\n"
    "fluid:\n"
    "  water: {on: [head, body], density: 1000, added: auto, buoyancy: on%s}\n"
    "  slow: {on: body, density: 1000, drag: {normal: 1, tangent: 0.1, linear: "
    "0.1}%s}\n"
    "  ball: {on: head, drag: {square: 3, linear: [0.01, 0.01, 0.01, 0.2, 0.2, 0.2]}%s}\n"
    "initial: {head: {twist: [0.3, 0.2, 0.5, %s]}}\n"
    "study: [dynamic: {for: 1 s, %s}]\n"
    "record: {every: 50 ms}\n"
    "probes: {e: energy, nose: {position: head}, tip: {position: body.tip}}\n";
enum { KINETIC, ELASTIC, GRAVITY, DISSIPATED, WORK, SCHEME, BALANCE, TOTAL, NOSE, TIP = 11 };

static void swim(const char *strain, const char *flow, const char *start, const char *how,
                 outcome *o) {
    char text[4000];
    (void)snprintf(text, sizeof text, swimmer_text, strain, flow, flow, flow, start, how);
    done(text, o);
}

static void energy_is_accounted_for(void **state) {
    (void)state;
    static const char *const strains[] = {"kirchhoff legendre 3", "cosserat legendre 2"};
    static const char *const flows[] = {
        "", ", current: [0.5, \"0.4 m/s*sin(3*t)\", \"0.2 m/s*cos(t)\"]"};
    for (int k = 0; k < 4; k += AMONG(3, 1)) {
        outcome o;
        swim(strains[k % 2], flows[k / 2], "0, 0, 0", "scheme: stiff, tolerance: 1e-9", &o);
        double most = 0;
        for (int f = 0; f < o.series.nframe; f++) {
            most = fmax(most, shown(&o, f, KINETIC) + shown(&o, f, DISSIPATED));
            assert_near(shown(&o, f, BALANCE), 0, 2e-7);
            if (f > 0) assert_true(shown(&o, f, DISSIPATED) > shown(&o, f - 1, DISSIPATED));
        }
        printf("energy turned over %.3g J\n", most);
        assert_true(most > 0.1);
        snw_series_clear(&o.series);
    }
}

// only the motion relative to the fluid matters
static void a_current_carries_everything_along(void **state) {
    (void)state;
    static const char how[] = "scheme: stiff, tolerance: 1e-10";
    outcome still, moved;
    swim("kirchhoff legendre 3", "", "0, 0, 0", how, &still);
    swim("kirchhoff legendre 3", ", current: [0.7, -0.4, 0.2]", "0.7, -0.4, 0.2", how, &moved);
    const double U[3] = {0.7, -0.4, 0.2};
    for (int c = 0; c < 6; c++) {
        assert_near(last(&moved, NOSE + c) - U[c % 3], last(&still, NOSE + c), 1e-7);
    }
    assert_true(fabs(last(&still, NOSE)) > 1e-3);
    snw_series_clear(&still.series);
    snw_series_clear(&moved.series);
}

// A robot of the fluid's density moves with the fluid, also where the fluid accelerates.
static void an_accelerated_fluid_accelerates_bodies_in_it(void **state) {
    (void)state;
    outcome o;
    done("sinew: 1\nmaterials: {jelly: {young: 10 kPa, poisson: 0.5, density: 1000}}\n"
         "robot:\n"
         "  ball: {on: world, joint: free, body: {sphere: {radius: 0.1}, density: 1000}}\n"
         "  tail: {on: ball, rod: {length: 0.5, section: {circle: {radius: 20 mm}}, material: "
         "jelly, strain: kirchhoff legendre 3}}\n"
         "fluid: {water: {on: [ball, tail], density: 1000, added: auto, buoyancy: on, current: "
         "[\"0.5 m/s*sin(4*t)\", \"0.3 m/s*sin(6*t)\", \"1 m/s^2*t\"]}}\n"
         "study: [dynamic: {for: 0.5 s, scheme: adaptive, tolerance: 1e-11}]\n"
         "record: {every: 0.1 s}\nprobes: {v: {velocity: tail.tip}, e: energy}\n",
         &o);
    for (int f = 0; f < o.series.nframe; f++) {
        const double t = 0.1 * f;
        assert_near(shown(&o, f, 0), 0.5 * sin(4 * t), 1e-8);
        assert_near(shown(&o, f, 1), 0.3 * sin(6 * t), 1e-8);
        assert_near(shown(&o, f, 2), t, 1e-8);
        assert_near(shown(&o, f, 3 + BALANCE), 0, 1e-8);
    }
    snw_series_clear(&o.series);
}

static void implicit_steps_keep_their_order(void **state) {
    (void)state;
    static const char *const ways[] = {"scheme: stiff, tolerance: 1e-10", "step: 4 ms",
                                       "step: 2 ms"};
    outcome o[3];
    double error[2] = {0};
    for (int k = 0; k < 3; k++) {
        swim("kirchhoff legendre 3", ", current: [0.5, \"0.4 m/s*sin(3*t)\", 0]", "0, 0, 0",
             ways[k], &o[k]);
    }
    for (int k = 0; k < 2; k++) {
        for (int c = NOSE; c < TIP + 3; c++) {
            error[k] = fmax(error[k], fabs(last(&o[k + 1], c) - last(&o[0], c)));
        }
    }
    const double slope = log2(error[0] / error[1]);
    const double book = log2(fabs(last(&o[1], BALANCE)) / fabs(last(&o[2], BALANCE)));
    printf("errors %.2e, %.2e m, slope %.2f; balance %.2e, %.2e J, slope %.2f\n", error[0],
           error[1], slope, last(&o[1], BALANCE), last(&o[2], BALANCE), book);
    assert_true(error[1] < 1e-3);
    assert_true(slope > 1.8 && slope < 2.2);
    for (int k = 0; k < 3; k++) snw_series_clear(&o[k].series);
}

// ---- elongated-body theory ----------------------------------------------------------------------

// Lighthill's forces on a slender body in the plane, per length: f_t = -m' w^2/2 along it, f_n = -m
// w' + m' u w + m (K w^2/2 + u Omega - K u^2) across it, u and w its velocity along and across,
// integrated along the rod on a fine grid with independent kinematics. Coordinates: x, y, angle,
// then curvature in Legendre polynomials.
enum { MODES = 3, PLANE = 3 + MODES, GRID = 4000 };

static double legendre(int j, double s) {
    const double z = 2 * s - 1;
    return j == 0 ? 1 : j == 1 ? z : 0.5 * (3 * z * z - 1);
}

static void lighthill(const double *q, const double *v, const double *a, double L, double *Q) {
    // along the rod: angle, velocity and acceleration; their derivatives with respect to each
    // coordinate
    double th = q[2], dth = v[2], ddth = a[2];
    double dp[2] = {v[0], v[1]}, ddp[2] = {a[0], a[1]};
    double turn[PLANE] = {0, 0, 1}, px[PLANE] = {1}, py[PLANE] = {0, 1};
    const double h = L / GRID;
    for (int j = 0; j < PLANE; j++) Q[j] = 0;
    for (int i = 0; i < GRID; i++) {
        // to the middle of the interval and from there to its end: midpoint rule for all
        double K = 0, dK = 0, ddK = 0, phi[MODES];
        const double s = (i + 0.5) / GRID;
        for (int j = 0; j < MODES; j++) {
            phi[j] = legendre(j, s);
            K += phi[j] * q[3 + j], dK += phi[j] * v[3 + j], ddK += phi[j] * a[3 + j];
        }
        const double c = cos(th + 0.5 * h * K), n = sin(th + 0.5 * h * K);
        const double W = dth + 0.5 * h * dK, dW = ddth + 0.5 * h * ddK;
        // tangent (c, n), normal (-n, c); velocities and accelerations at the middle
        double mdp[2], mddp[2];
        const double rate[2] = {-n * W, c * W};
        const double bend[2] = {-n * dW - c * W * W, c * dW - n * W * W};
        for (int k = 0; k < 2; k++) {
            mdp[k] = dp[k] + 0.5 * h * rate[k], mddp[k] = ddp[k] + 0.5 * h * bend[k];
        }
        const double u = c * mdp[0] + n * mdp[1], w = -n * mdp[0] + c * mdp[1];
        const double dw = -n * mddp[0] + c * mddp[1] - W * u;
        // half height 40 mm + 60 mm s - 50 mm s^2
        const double z = 0.04 + 0.06 * s - 0.05 * s * s, dz = (0.06 - 0.1 * s) / L;
        const double m = 1000 * M_PI * z * z, dm = 2000 * M_PI * z * dz;
        const double ft = -0.5 * dm * w * w;
        const double fn = -m * dw + dm * u * w + m * (0.5 * K * w * w + u * W - K * u * u);
        const double fx = ft * c - fn * n, fy = ft * n + fn * c;
        for (int j = 0; j < PLANE; j++) {
            const double mid = turn[j] + (j >= 3 ? 0.5 * h * phi[j - 3] : 0);
            const double mx = px[j] - 0.5 * h * n * mid, my = py[j] + 0.5 * h * c * mid;
            Q[j] += h * (fx * mx + fy * my);
            px[j] -= h * n * mid, py[j] += h * c * mid;
            if (j >= 3) turn[j] += h * phi[j - 3];
        }
        th += h * K, dth += h * dK, ddth += h * ddK;
        for (int k = 0; k < 2; k++) dp[k] += h * rate[k], ddp[k] += h * bend[k];
    }
}

static void slender_bodies_feel_the_forces_of_lighthill(void **state) {
    (void)state;
    static const char form[] =
        "sinew: 1\ngravity: 0\nmaterials: {m: {young: 1 kPa, density: 1000}}\n"
        "robot: {fish: {on: world, joint: planar, rod: {length: 0.8, nodes: 30, magnus: 6, "
        "section: {ellipse: {y: 40 mm, z: 80 mm + 120 mm*x/L - 100 mm*(x/L)^2}}, material: m, "
        "strain: {bend_z: legendre 3}}}}\n"
        "fluid: {water: {on: fish, density: 1000, added: auto, when: %s}}\n";
    dice d = {85};
    for (int k = 0; k < 5; k++) {
        double r[2][PLANE], Q[PLANE], q[PLANE], v[PLANE], a[PLANE];
        for (int j = 0; j < PLANE; j++) {
            q[j] = roll(&d, -2, 2), v[j] = roll(&d, -3, 3), a[j] = roll(&d, -9, 9);
        }
        for (int submerged = 0; submerged < 2; submerged++) {
            char text[2000];
            setting s;
            (void)snprintf(text, sizeof text, form, submerged ? "on" : "off");
            setting_open(&s, text);
            assert_int_equal(s.g.m->nv, PLANE);
            memcpy(s.g.s->q, q, sizeof q);
            memcpy(s.g.s->v, v, sizeof v);
            memcpy(s.g.s->a, a, sizeof a);
            snw_inputs_at(s.g.m, 0, s.g.in);
            snw_residual(s.g.m, s.g.in, s.g.s, false, s.g.w);
            memcpy(r[submerged], s.g.w->r, sizeof r[submerged]);
            setting_close(&s);
        }
        lighthill(q, v, a, 0.8, Q);
        double size = 0;
        for (int j = 0; j < PLANE; j++) size = fmax(size, fabs(Q[j]));
        // error of the grid: h^2/24 times the second derivative
        for (int j = 0; j < PLANE; j++) {
            if (!(fabs(r[0][j] - r[1][j] - Q[j]) <= 2e-6 * size)) {
                fail_msg("row %d: %.10g, Lighthill %.10g", j, r[0][j] - r[1][j], Q[j]);
            }
        }
    }
}

// A cylinder clamped at both ends, free to slide at one, in a flow along it: E I w_xxxx + m U^2
// w_xx = 0 is a column under m U^2, which buckles at 4 pi^2 E I/L^2 (Paidoussis 1966). Its
// stability is one less that fraction of the load.
static void flow_along_a_cylinder_makes_it_buckle(void **state) {
    (void)state;
    static const double part[3] = {0, 0.5, 1.3};
    for (int k = 0; k < 3; k++) {
        const double EI = 1e6 * M_PI / 4 * 1e-8, m = 1000 * M_PI * 1e-4;
        const double U = sqrt(part[k] * 4 * M_PI * M_PI * EI / m);
        char text[2000];
        (void)snprintf(text, sizeof text,
                       "sinew: 1\ngravity: 0\nmaterials: {rubber: {young: 1 MPa, density: 1000}}\n"
                       "robot: {tube: {on: world, rod: {length: 1, section: {circle: {radius: 1 "
                       "cm}}, material: rubber, strain: {bend_y: legendre 10}}}}\n"
                       "loops: {end: {join: [world, tube.tip], as: prismatic, axis: x, pose: {xyz: "
                       "[1, 0, 0]}}}\n"
                       "fluid: {water: {on: tube, density: 1000, added: auto, current: [%.17g, 0, "
                       "0]}}\n"
                       "study: [static: {branch: follow}]\nprobes: {s: stability}\n",
                       U);
        assert_near(found(text), 1 - part[k], 1e-6);
    }
}

// The fluid acts along rods, not at their ends: the wrench at a free tip is zero, and the wrench
// within a rod equals the wrench between two rods obtained by a cut at that station.
static void wrenches_within_a_rod_include_the_flow(void **state) {
    (void)state;
    static const char form[] =
        "sinew: 1\nmaterials: {m: {young: 0.1 MPa, density: 800}}\n"
        "robot:\n"
        "  head: {on: world, joint: free, rod: {length: %s, section: {ellipse: {y: 40 mm, z: 60 mm "
        "+ 0.1*x}}, material: m, strain: rigid, nodes: 20}}\n"
        "  tail: {on: head.tip, rod: {length: %s, section: {ellipse: {y: 40 mm, z: %s + 0.1*x}}, "
        "material: m, strain: rigid, nodes: 20}}\n"
        "fluid: {water: {on: [head, tail], density: 1000, added: auto, drag: {normal: 1}, current: "
        "[1, 2, 3]}}\n"
        "probes: {cut: {wrench: %s}, end: {wrench: tail.tip}, root: {wrench: head.root}}\n";
    dice d = {86};
    double twist[12], seen[2][6];
    for (int i = 0; i < 12; i++) twist[i] = roll(&d, -3, 3);
    for (int k = 0; k < 2; k++) {
        char text[2000];
        setting s;
        // the station is 0.3 m from the root of the head
        (void)snprintf(text, sizeof text, form, k ? "0.3" : "0.7", k ? "0.5" : "0.1",
                       k ? "90 mm" : "130 mm", k ? "tail.root" : "head@0.3 m");
        setting_open(&s, text);
        rig *g = &s.g;
        memcpy(g->s->v, twist, 6 * sizeof *twist);
        memcpy(g->s->a, twist + 6, 6 * sizeof *twist);
        snw_inputs_at(g->m, 0, g->in);
        snw_residual(g->m, g->in, g->s, false, g->w);
        snw_observe(g->m, g->in, g->s, false, g->w);
        snw_wrench F[3];
        for (int i = 0; i < 3; i++) {
            F[i] = snw_internal_wrench(g->m, &g->m->station[g->m->probe_station[i]], g->w);
        }
        memcpy(seen[k], F[0].e, sizeof seen[k]);
        const snw_wrench held = g->w->F[g->m->link_first[1]];
        for (int i = 0; i < 6; i++) {
            assert_near(F[1].e[i], 0, 1e-10);
            assert_near(F[2].e[i], -g->w->r[i], 1e-9); // the free joint carries the root
            if (k) assert_near(F[0].e[i], -held.e[i], 1e-9);
        }
        setting_close(&s);
    }
    for (int i = 0; i < 6; i++) assert_near(seen[0][i], seen[1][i], 1e-8);
    assert_true(fabs(seen[0][4]) > 1);
}

// ---- refused models, changes --------------------------------------------------------------------

static void impossible_fluids_are_reported(void **state) {
    (void)state;
    static const char head[] =
        "sinew: 1\nmaterials: {m: {young: 1 MPa, poisson: 0.4, density: 1000}}\n"
        "robot:\n"
        "  bare: {on: world, rod: {length: 1, section: {area: 1e-4, moments: [1, 1, 1]}, material: "
        "m, strain: {bend_y: legendre 2}}}\n"
        "  led: {on: world, rod: {length: 1, section: {circle: {radius: 1 cm}}, material: m, "
        "strain: "
        "{bend_y: legendre 2, stretch: 0.1*sin(t)}}}\n"
        "  thin: {on: world, rod: {length: 1, section: {circle: {radius: 1 cm*(1 - x/L)}}, "
        "material: "
        "m, strain: {bend_y: legendre 2}}}\n"
        "  stone: {on: world, joint: free, body: {mass: 1, inertia: [1, 1, 1]}}\n"
        "  frame: {on: world}\n"
        "study: [dynamic: {for: 1 s, step: 10 ms, scheme: conserving}]\n";
    static const struct {
        const char *fluid, *said;
    } cases[] = {
        {"w: {on: bare, density: 1, added: auto}", "needs the shape"},
        {"w: {on: led, density: 1, added: auto}", "stretch or shear given"},
        {"v: {on: thin, density: 1, added: auto}, w: {on: thin, density: 1, added: auto}",
         "already"},
        {"w: {on: thin, density: 1, drag: {normal: -1 + x/L}}", "not negative"},
        {"w: {on: thin, drag: {linear: 1/(x - x)}}", "a number"},
        {"w: {on: stone, density: 1, added: auto}", "only the added mass of a sphere"},
        {"w: {on: stone, density: 1, buoyancy: on}", "needs its shape"},
        {"w: {on: stone, density: 1, drag: {normal: 1}}", "for rods"},
        {"w: {on: thin, added: [1, 1, 1, 1, 1, 1]}", "'added: auto'"},
        {"w: {on: frame, density: 1, added: auto}", "neither a rod nor a body"},
        {"w: {on: thin, density: 1, added: auto}", "conserving scheme does not support"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[2000];
        snw_document *doc;
        snw_desc *desc;
        snw_error err;
        snw_run *run = NULL;
        snw_run_totals totals;
        (void)snprintf(text, sizeof text, "%sfluid: {%s}\n", head, cases[k].fluid);
        if (describe(text, &doc, &desc, &err) != SNW_OK) fail_msg("%s", err.text);
        snw_status s = snw_run_create(desc, "main", &run, &err);
        if (s == SNW_OK) s = snw_run_execute(run, 0, NULL, &(snw_run_hooks){0}, &totals, &err);
        assert_int_equal(s, SNW_E_MODEL);
        if (!strstr(err.text, cases[k].said)) fail_msg("%s: %s", cases[k].fluid, err.text);
        snw_run_destroy(run);
        release(doc, desc);
    }
}

// A stone dropped from 1 m into water: it falls freely, then sinks against linear drag, v+ = v- at
// the surface.
static void a_body_that_falls_into_water_is_slowed(void **state) {
    (void)state;
    static const char *const ways[] = {"scheme: adaptive, tolerance: 1e-11", "step: 2 ms",
                                       "scheme: adaptive, tolerance: 1e-11"};
    for (int k = 0; k < 3; k++) {
        char text[2000];
        outcome o;
        // in the last case the stone is conditional too, active from the start
        (void)snprintf(
            text, sizeof text,
            "sinew: 1\n"
            "robot:\n"
            "  slide: {on: world, pose: {xyz: [0, 0, 1]}, joint: prismatic, axis: [0, 0, "
            "-1], body: {mass: 1 g}}\n"
            "  stone: {on: slide, body: {sphere: {radius: 0.1}, density: 2000}, when: "
            "%s}\n"
            "fluid: {pond: {on: stone, density: 1000, added: auto, buoyancy: on, drag: "
            "{linear: 20 kg/s}, when: h.z < 0}}\n"
            "study: [dynamic: {for: 1 s, %s}]\n"
            "probes: {h: {position: stone}, v: {rate: slide}, e: energy}\n",
            k == 2 ? "t >= -1 s" : "on", ways[k]);
        done(text, &o);
        const double m = 2000 * 4 * M_PI / 3 * 1e-3 + 1e-3, submerged = m + 0.25 * (m - 1e-3),
                     c = 20;
        const double t = sqrt(2 / 9.81), v0 = 9.81 * t, W = 9.81 * (m - 0.5 * (m - 1e-3));
        const double want = W / c + (v0 - W / c) * exp(-c * (1 - t) / submerged);
        assert_near(last(&o, 3), want, k == 1 ? 1e-5 : 1e-8);
        assert_near(last(&o, 4 + BALANCE), 0, k == 1 ? 1e-5 : 1e-7);
        snw_series_clear(&o.series);
    }
}

// The fluid is removed by a change: the ball then falls as it would without it.
static void a_fluid_can_be_deactivated(void **state) {
    (void)state;
    outcome o;
    done("sinew: 1\n"
         "robot: {ball: {on: world, joint: prismatic, axis: [0, 0, -1], body: {sphere: {radius: "
         "0.1}, density: 2000}}}\n"
         "fluid: {pond: {on: ball, density: 1000, added: auto, buoyancy: on}}\n"
         "study: [dynamic: {for: 0.5 s, step: 10 ms}, change: {pond: off}, dynamic: {for: 0.5 s, "
         "step: 10 ms}]\nprobes: {v: {rate: ball}, e: energy}\n",
         &o);
    // 2.5 a = 1 g, then g
    assert_near(last(&o, 0), 0.5 * 9.81 / 2.5 + 0.5 * 9.81, 1e-9);
    assert_near(last(&o, 1 + BALANCE), 0, 1e-9);
    snw_series_clear(&o.series);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fluids_have_exact_derivatives),
        cmocka_unit_test(square_drag_has_exact_derivatives),
#ifndef SNW_WIDE
        cmocka_unit_test(currents_have_exact_stiffness),
#endif
#ifndef SNW_NUMBERS
        cmocka_unit_test(added_mass_is_in_the_mass_matrix),
        cmocka_unit_test(added_masses_are_those_of_plane_flow),
        cmocka_unit_test(rectangles_have_the_tabled_added_mass),
        cmocka_unit_test(frequencies_fall_in_water),
        cmocka_unit_test(bodies_and_rods_reach_their_terminal_velocity),
        cmocka_unit_test(a_neutrally_buoyant_body_stays_at_rest),
        cmocka_unit_test(energy_is_accounted_for),
        cmocka_unit_test(a_current_carries_everything_along),
        cmocka_unit_test(an_accelerated_fluid_accelerates_bodies_in_it),
        cmocka_unit_test(implicit_steps_keep_their_order),
        cmocka_unit_test(slender_bodies_feel_the_forces_of_lighthill),
        cmocka_unit_test(flow_along_a_cylinder_makes_it_buckle),
        cmocka_unit_test(wrenches_within_a_rod_include_the_flow),
        cmocka_unit_test(impossible_fluids_are_reported),
        cmocka_unit_test(a_fluid_can_be_deactivated),
        cmocka_unit_test(a_body_that_falls_into_water_is_slowed),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
