// SPDX-License-Identifier: MIT
//
// Integrators with error control: conserved quantities are constant to the tolerance; the energy
// balance closes; implicit schemes converge to the same motion; tests 5 and 6 of Boyer et al.
// (references.md B4.6, B4.7).
#include "integrate/explicit.h"

#include "random_rod.h"

#include "near.h"
#include "sanitized.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

// ---- helpers ------------------------------------------------------------------------------------

typedef struct scene {
    robot r;
    snw_model *m;
    snw_state *s;
    snw_explicit *e;
} scene;

static void compile(scene *c) {
    snw_error err = {0};
    if (snw_model_compile(&c->r.desc, &c->m, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_state_create(c->m, &c->s), SNW_OK);
}

static void begin(scene *c, snw_ode_kind kind, double tolerance) {
    snw_explicit_opts o = snw_explicit_defaults();
    o.kind = kind, o.tolerance = tolerance;
    if (kind == SNW_ODE_RK4) o.step = tolerance;
    snw_error err = {0};
    if (snw_explicit_create(c->m, &o, &c->e, &err) != SNW_OK) fail_msg("%s", err.text);
    if (snw_explicit_start(c->e, c->s, &err) != SNW_OK) fail_msg("%s", err.text);
}

static void go(scene *c, double t) {
    snw_error err = {0};
    if (snw_explicit_advance(c->e, t, INFINITY, &err) != SNW_OK) fail_msg("%s", err.text);
}

static void end(scene *c) {
    snw_explicit_destroy(c->e);
    c->e = NULL;
}

static void finish(scene *c) {
    end(c);
    snw_state_destroy(c->s);
    snw_model_destroy(c->m);
    robot_free(&c->r);
}

typedef struct view {
    double kinetic, elastic, gravity, size; // J; sum of the magnitudes
    snw_wrench momentum;
    double turn, push; // sums of the magnitudes of the segments' momenta
} view;

static view see(scene *c) {
    const snw_work *w = snw_explicit_work_at(c->e);
    const snw_state *s = snw_explicit_state(c->e);
    view v = {.kinetic = snw_kinetic_energy(c->m, w),
              .elastic = snw_elastic_energy(c->m, s),
              .gravity = snw_gravity_energy(c->m, snw_explicit_inputs(c->e), w),
              .momentum = snw_momentum(c->m, w)};
    v.size = v.kinetic + v.elastic + fabs(v.gravity);
    for (int i = 0; i < c->m->nseg; i++) {
        if (!c->m->seg[i].has_mass) continue;
        const snw_wrench P =
            snw_wrench_to_parent(w->g[i], snw_inertia_apply(&c->m->seg[i].M, w->V[i]));
        v.turn += sqrt(snw_dot(P.m, P.m));
        v.push += sqrt(snw_dot(P.f, P.f));
    }
    return v;
}

static double total(view v) { return v.kinetic + v.elastic + v.gravity; }

// one or two random rods, with enough nodes for a regular mass matrix
static void random_rods(scene *c, dice *d, snw_joint_kind joint, bool moving) {
    *c = (scene){0};
    robot_random(&c->r, d, joint, moving);
    for (int l = 0; l < c->r.desc.nlink; l++) c->r.link[l].rod.nodes = 12;
}

static void conservative(scene *c) {
    c->r.desc.nload = c->r.desc.nstress = 0;
    c->r.material.damping = NULL;
}

// ---- conservation -------------------------------------------------------------------------------

typedef struct drift {
    double energy, turn, push; // relative to the largest seen
} drift;

// over n advances of h seconds; momentum only where no external force acts
static drift watch(scene *c, int n, double h, bool momentum) {
    drift worst = {0};
    const view first = see(c);
    double size = first.size, turn = first.turn, push = first.push;
    for (int i = 1; i <= n; i++) {
        go(c, h * i);
        const view v = see(c);
        size = fmax(size, v.size), turn = fmax(turn, v.turn), push = fmax(push, v.push);
        worst.energy = fmax(worst.energy, fabs(total(v) - total(first)) / size);
        for (int k = 0; momentum && k < 3; k++) {
            const double dL = v.momentum.m.e[k] - first.momentum.m.e[k];
            const double dp = v.momentum.f.e[k] - first.momentum.f.e[k];
            worst.turn = fmax(worst.turn, fabs(dL) / turn);
            worst.push = fmax(worst.push, fabs(dp) / push);
        }
    }
    return worst;
}

static void check_drift(drift d, double bound, const char *what) {
    if (d.energy <= bound && d.turn <= bound && d.push <= bound) return;
    fail_msg("%s: energy %.3g, angular momentum %.3g, linear momentum %.3g, bound %.3g", what,
             d.energy, d.turn, d.push, bound);
}

// Random rods in violent motion: bound of ten tolerances plus the tolerances of the steps, added as
// a random walk.
static void random_drift(snw_joint_kind joint, bool weight, snw_ode_kind kind, double tolerance) {
    dice d = {7};
    for (int trial = 0; trial < AMONG(1, 4); trial++) {
        scene c;
        random_rods(&c, &d, joint, false);
        conservative(&c);
        if (!weight) {
            for (int i = 0; i < 3; i++) c.r.desc.gravity[i] = NULL;
        }
        compile(&c);
        state_random(c.m, &d, c.s);
        c.s->t = 0;
        begin(&c, kind, tolerance);
        const drift worst = watch(&c, 3, 0.005, joint == SNW_JOINT_FREE && !weight);
        const double steps = (double)snw_explicit_statistics(c.e).steps;
        check_drift(worst, (10 + sqrt(steps)) * tolerance, "random rod");
        finish(&c);
    }
}

// one soft rod that swings, or moves freely and rotates, for a second: drift below ten tolerances
static void soft_drift(snw_joint_kind joint, bool weight, snw_ode_kind kind, double tolerance) {
    scene c = {0};
    robot_init(&c.r, 0.5, 0.02);
    c.r.material.young = number(&c.r, 2e4);
    robot_strain(&c.r, 0, SNW_TWIST, SNW_BASIS_LEGENDRE, 1);
    robot_strain(&c.r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 2);
    robot_strain(&c.r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 2);
    c.r.link[0].joint = joint;
    c.r.link[0].rod.nodes = 6;
    if (weight) c.r.desc.gravity[2] = number(&c.r, -2);
    compile(&c);
    for (int i = 0; i < c.m->nv; i++) c.s->v[i] = 0.5 * cos(1.7 * i);
    begin(&c, kind, tolerance);
    const drift worst = watch(&c, AMONG(2, 10), 0.1, joint == SNW_JOINT_FREE && !weight);
    check_drift(worst, 10 * tolerance, "soft rod");
    finish(&c);
}

static void clamped_rods_keep_their_energy(void **state) {
    (void)state;
    soft_drift(SNW_JOINT_FIXED, true, SNW_ODE_RK54, 1e-6);
    soft_drift(SNW_JOINT_FIXED, true, SNW_ODE_RK87, 1e-11);
    random_drift(SNW_JOINT_FIXED, true, SNW_ODE_RK54, 1e-6);
    random_drift(SNW_JOINT_FIXED, true, SNW_ODE_RK87, 1e-10);
}

static void free_rods_keep_energy_and_momentum(void **state) {
    (void)state;
    soft_drift(SNW_JOINT_FREE, false, SNW_ODE_RK54, 1e-6);
    soft_drift(SNW_JOINT_FREE, true, SNW_ODE_RK54, 1e-6);
    soft_drift(SNW_JOINT_FREE, false, SNW_ODE_RK87, 1e-11);
    random_drift(SNW_JOINT_FREE, false, SNW_ODE_RK54, 1e-6);
    random_drift(SNW_JOINT_FREE, true, SNW_ODE_RK87, 1e-10);
}

// ---- balance ------------------------------------------------------------------------------------

// energy gained - work done + heat, relative to the energy exchanged
static double balance(scene *c, double before) {
    const snw_work_done w = snw_explicit_work_done(c->e);
    double sum = total(see(c)) - before + w.heat, exchanged = w.heat;
    for (int i = 0; i < w.n; i++) sum -= w.work[i], exchanged += fabs(w.work[i]);
    return fabs(sum) / exchanged;
}

// damping, dead and follower loads, muscle, moving base: all of them together
static void the_balance_of_energy_closes(void **state) {
    (void)state;
    dice d = {11};
    double worst = 0;
    for (int trial = 0; trial < AMONG(3, 6); trial++) {
        scene c;
        const bool moving = trial % 3 == 1;
        random_rods(&c, &d, trial % 3 == 0 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, moving);
        c.r.material.damping = number(&c.r, 2e-5);
        compile(&c);
        for (int i = 0; i < c.m->nv; i++) c.s->v[i] = roll(&d, -1, 1);
        c.s->t = 0.1;
        begin(&c, SNW_ODE_RK87, 1e-11);
        const double before = total(see(&c));
        for (int i = 1; i <= 2; i++) {
            go(&c, 0.1 + 0.01 * i);
            worst = fmax(worst, balance(&c, before));
        }
        const snw_work_done w = snw_explicit_work_done(c.e);
        assert_true(w.heat > 0);
        for (int i = 0; i < w.n - 2; i++) assert_true(w.work[i] != 0);
        assert_true(w.work[w.n - 2] != 0);
        assert_true((w.work[w.n - 1] != 0) == moving);
        finish(&c);
    }
    assert_true(worst <= 1e-10);
}

// ---- schemes against each other -----------------------------------------------------------------

// a soft rod under a wind load that jumps at 0.2 s
static void windy_rod(scene *c, snw_joint_kind joint) {
    *c = (scene){0};
    robot_init(&c->r, 0.5, 0.02);
    c->r.material.young = number(&c->r, 2e4);
    c->r.material.damping = number(&c->r, 2e-3);
    robot_strain(&c->r, 0, SNW_TWIST, SNW_BASIS_LEGENDRE, 1);
    robot_strain(&c->r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 2);
    robot_strain(&c->r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 2);
    c->r.link[0].joint = joint;
    c->r.link[0].rod.nodes = 6;
    c->r.desc.gravity[2] = number(&c->r, -2);
    snw_load_desc *load = &c->r.load[c->r.desc.nload++];
    *load =
        (snw_load_desc){.name = "wind", .on = link_end(0), .when = law(&c->r, "if(t > 0.2, 1, 0)")};
    load->force[1] = number(&c->r, 0.05);
    compile(c);
    for (int i = 0; i < c->m->nv; i++) c->s->v[i] = 0.5 * cos(1.7 * i);
}

// state at 0.4 s, with one step ending exactly at the jump
static void pass_jump(scene *c, double *q) {
    snw_error err = {0};
    if (snw_explicit_advance(c->e, 0.1, 0.2, &err) != SNW_OK) fail_msg("%s", err.text);
    if (snw_explicit_advance(c->e, 0.2, 0.2, &err) != SNW_OK) fail_msg("%s", err.text);
    // at the left limit there is no wind load, at the right there is
    assert_true(snw_explicit_inputs(c->e)->load[0].f.e[1] == 0);
    assert_true(snw_explicit_work_done(c->e).work[0] == 0);
    go(c, 0.4);
    memcpy(q, snw_explicit_state(c->e)->q, (size_t)c->m->nq * sizeof *q);
}

static double distance(int n, const double *a, const double *b) {
    double d = 0;
    for (int i = 0; i < n; i++) d = fmax(d, fabs(a[i] - b[i]));
    return d;
}

static void all_integrators_find_the_same_motion(void **state) {
    (void)state;
    for (int joint = 0; joint < 2; joint++) {
        scene c;
        windy_rod(&c, joint ? SNW_JOINT_FREE : SNW_JOINT_FIXED);
        double want[32], q[32];
        begin(&c, SNW_ODE_RK87, 1e-12);
        pass_jump(&c, want);
        end(&c);
        const struct {
            snw_ode_kind kind;
            double tolerance, bound;
        } k[] = {
            {SNW_ODE_RK54, 1e-6, 1e-5},
            {SNW_ODE_RK54, 1e-9, 1e-8},
            {SNW_ODE_BDF, 1e-8, 1e-6}, // multistep: errors of many steps add up
            {SNW_ODE_RK4, 1e-3, 1e-9}, // the first number is the step
        };
        for (int i = 0; i < 4; i++) {
            begin(&c, k[i].kind, k[i].tolerance);
            pass_jump(&c, q);
            const double e = distance(c.m->nq, q, want);
            if (!(e <= k[i].bound)) fail_msg("kind %d: off by %.3g", (int)k[i].kind, e);
            end(&c);
        }
        finish(&c);
    }
}

// of order 2 in the step, for clamped and free rods
static void implicit_schemes_tend_to_the_explicit_reference(void **state) {
    (void)state;
    for (int joint = 0; joint < 2; joint++) {
        scene c;
        windy_rod(&c, joint ? SNW_JOINT_FREE : SNW_JOINT_FIXED);
        double want[32], e[2];
        begin(&c, SNW_ODE_RK87, 1e-12);
        go(&c, 0.15);
        memcpy(want, snw_explicit_state(c.e)->q, (size_t)c.m->nq * sizeof *want);
        const snw_scheme_kind kinds[] = {SNW_SCHEME_GENERALIZED_ALPHA, SNW_SCHEME_NEWMARK,
                                         SNW_SCHEME_BDF2};
        for (int k = 0; k < 3; k++) {
            for (int fine = 0; fine < 2; fine++) {
                const int n = 150 << fine;
                snw_implicit_opts o = snw_implicit_defaults();
                o.scheme = snw_implicit_scheme(kinds[k], 0.8, 0);
                o.tolerance = 1e-13;
                snw_implicit *im = NULL;
                snw_error err = {0};
                assert_int_equal(snw_implicit_create(c.m, &o, &im), SNW_OK);
                if (snw_implicit_start(im, c.s, &err) != SNW_OK) fail_msg("%s", err.text);
                for (int i = 0; i < n; i++) {
                    snw_chord_info info;
                    assert_int_equal(snw_implicit_step(im, 0.15 / n, 0.15 * (i + 1) / n, &info),
                                     SNW_OK);
                }
                e[fine] = distance(c.m->nq, snw_implicit_state(im)->q, want);
                snw_implicit_destroy(im);
            }
            const double slope = log2(e[0] / e[1]);
            if (!(fabs(slope - 2) < 0.2)) {
                fail_msg("scheme %d: errors %.3g, %.3g, slope %.3f", (int)kinds[k], e[0], e[1],
                         slope);
            }
        }
        finish(&c);
    }
}

// ---- steps back, failures -----------------------------------------------------------------------

static void an_advance_can_be_undone(void **state) {
    (void)state;
    for (int kind = SNW_ODE_RK54; kind <= SNW_ODE_BDF; kind++) {
        scene c;
        windy_rod(&c, SNW_JOINT_FREE);
        begin(&c, (snw_ode_kind)kind, 1e-8);
        go(&c, 0.05);
        double q[32], work = snw_explicit_work_done(c.e).heat;
        memcpy(q, snw_explicit_state(c.e)->q, (size_t)c.m->nq * sizeof *q);
        go(&c, 0.3);
        snw_explicit_undo(c.e);
        assert_true(snw_explicit_state(c.e)->t == 0.05 && snw_explicit_work_done(c.e).heat == work);
        assert_memory_equal(snw_explicit_state(c.e)->q, q, (size_t)c.m->nq * sizeof *q);
        go(&c, 0.1);
        assert_true(snw_explicit_state(c.e)->t == 0.1);
        finish(&c);
    }
}

// twisting a string without rotary inertia moves no mass: the mass matrix is singular
static void a_coordinate_without_mass_is_named(void **state) {
    (void)state;
    scene c = {0};
    robot_init(&c.r, 1, 0.01);
    robot_strain(&c.r, 0, SNW_TWIST, SNW_BASIS_LEGENDRE, 1);
    snw_section_desc *section = &c.r.link[0].rod.section;
    section->inertia_given = true;
    for (int i = 0; i < 36; i++) section->inertia[i] = number(&c.r, i % 7 == 0 && i >= 21 ? 1 : 0);
    compile(&c);
    snw_explicit_opts o = snw_explicit_defaults();
    snw_error err = {0};
    assert_int_equal(snw_explicit_create(c.m, &o, &c.e, &err), SNW_OK);
    assert_int_equal(snw_explicit_start(c.e, c.s, &err), SNW_E_SINGULAR);
    assert_non_null(strstr(err.text, "at t = 0 s the mass matrix is singular"));
    finish(&c);
}

// the law is the square root of a negative number from 0.1 s on
static void a_law_that_ends_is_reported_with_its_time(void **state) {
    (void)state;
    for (int kind = SNW_ODE_RK4; kind <= SNW_ODE_BDF; kind++) {
        scene c = {0};
        robot_init(&c.r, 0.5, 0.02);
        robot_strain(&c.r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 2);
        snw_load_desc *load = &c.r.load[c.r.desc.nload++];
        *load = (snw_load_desc){.name = "wind", .on = link_end(0)};
        load->force[1] = law(&c.r, "sqrt(0.1 - t)");
        compile(&c);
        begin(&c, (snw_ode_kind)kind, kind == SNW_ODE_RK4 ? 1e-3 : 1e-6);
        go(&c, 0.05);
        double q[2];
        memcpy(q, snw_explicit_state(c.e)->q, sizeof q);
        snw_error err = {0};
        const snw_status got = snw_explicit_advance(c.e, 0.2, INFINITY, &err);
        if (got != SNW_E_DIVERGED) fail_msg("kind %d: %s", kind, err.text);
        if (!strstr(err.text, "load 'wind' has no finite value at t = 0.1"))
            fail_msg("'%s'", err.text);
        assert_true(snw_explicit_state(c.e)->t == 0.05);
        assert_memory_equal(snw_explicit_state(c.e)->q, q, sizeof q);
        finish(&c);
    }
}

// ---- tests 5 and 6 of Boyer et al. --------------------------------------------------------------

static snw_vec3 tip(scene *c) { return snw_explicit_work_at(c->e)->g[c->m->link_end[0]].p; }

typedef struct position_at {
    double t, p[3];
} position_at;

// references.md B4.6: a string without stiffness, a mass at its tip, its root driven along a circle
static void string_with_tip_mass(const char *linear_density, int n, int npositions,
                                 const position_at *positions) {
    scene c = {0};
    robot_init(&c.r, 1, 0.005);
    snw_rod_desc *rod = &c.r.link[0].rod;
    rod->material = NULL;
    rod->section = (snw_section_desc){.stiffness_given = true, .inertia_given = true};
    for (int i = 21; i < 36; i += 7) rod->section.inertia[i] = law(&c.r, linear_density);
    rod->nodes = 24, rod->magnus = 6;
    robot_strain(&c.r, 0, SNW_BEND_Y, SNW_BASIS_CHEBYSHEV, n);
    robot_strain(&c.r, 0, SNW_BEND_Z, SNW_BASIS_CHEBYSHEV, n);
    c.r.link[0].has_body = true;
    c.r.link[0].body = (snw_body_desc){.mass = 0.03};
    c.r.link[0].pose.xyz[1] = law(&c.r, "0.15*sin(2*pi*t)");
    c.r.link[0].pose.xyz[2] = law(&c.r, "0.15*sin(2*pi*t + pi/2)");
    c.r.desc.gravity[0] = number(&c.r, 9.81);
    compile(&c);
    begin(&c, SNW_ODE_RK87, 1e-10);
    const double before = total(see(&c));
    for (int i = 0; i < npositions; i++) {
        go(&c, positions[i].t);
        const snw_vec3 p = tip(&c);
        for (int k = 0; k < 3; k++) assert_near(p.e[k], positions[i].p[k], 1.5e-6); // six digits
        assert_true(balance(&c, before) < 1e-8);
    }
    finish(&c);
}

static void test_5_light_string(void **state) {
    (void)state;
    const position_at s[] = {
        {0.15, {0.997834, 0.141127, 0.148708}},  {0.30, {0.973771, 0.274689, 0.129863}},
        {0.60, {0.868006, 0.385987, -0.050402}}, {0.90, {0.891716, 0.119021, -0.263668}},
        {1.50, {0.852049, -0.342985, 0.220964}}, {2.00, {0.997276, 0.071165, 0.143984}}};
    string_with_tip_mass("7.85e-5", 3, 6, s);
}

static void test_5_heavy_string(void **state) {
    (void)state;
    const position_at s[] = {
        {0.15, {0.994617, 0.141820, 0.150714}},   {0.30, {0.961234, 0.283232, 0.150239}},
        {0.60, {0.777219, 0.459642, -0.055917}},  {0.90, {0.811408, 0.004161, -0.410140}},
        {1.50, {0.603590, -0.133374, 0.556095}},  {2.00, {0.868587, 0.283621, -0.230386}},
        {2.50, {0.915946, -0.272619, -0.174740}}, {3.00, {0.966271, -0.177228, 0.137771}}};
    string_with_tip_mass("7.85e-2", 3, 8, s);
    const position_at five[] = {{0.30, {0.961390, 0.282744, 0.149874}},
                                {0.90, {0.809223, 0.030628, -0.414841}},
                                {2.00, {0.898798, 0.277239, -0.163409}},
                                {3.00, {0.913232, -0.264636, 0.046132}}};
    string_with_tip_mass("7.85e-2", 5, 4, five);
}

// references.md B4.7: a free rod bent by waves of internal stress
static void muscle_rod(scene *c, int n) {
    *c = (scene){0};
    robot_init(&c->r, 1, 0.01);
    c->r.material.young = number(&c->r, 1e8);
    c->r.material.damping = number(&c->r, 1e-3);
    c->r.link[0].joint = SNW_JOINT_FREE;
    robot_strain(&c->r, 0, SNW_BEND_Y, SNW_BASIS_CHEBYSHEV, n);
    robot_strain(&c->r, 0, SNW_BEND_Z, SNW_BASIS_CHEBYSHEV, n);
    snw_stress_desc *s = &c->r.stress[c->r.desc.nstress++];
    *s = (snw_stress_desc){.name = "muscle"};
#define RAMP "(min(4*t, 1) - sin(2*pi*min(4*t, 1))/(2*pi))"
    s->stress[SNW_BEND_Y] = law(&c->r, RAMP "*0.2*sin(2*pi*(x - t))");
    s->stress[SNW_BEND_Z] = law(&c->r, RAMP "*0.2*sin(2*pi*(2*x - 4*t))");
#undef RAMP
    compile(c);
}

static void test_6_free_rod_with_muscles(void **state) {
    (void)state;
    const struct {
        double t, base[3], tip[3], K[2], T, U;
    } want[] = {
        {0.1,
         {0.00754, 0.24063, 1.23710},
         {-0.00986, -0.68849, -0.73995},
         {-0.01961697, -0.00774417},
         0.00006234,
         0.00085224},
        {0.3,
         {0.15838, -3.78436, 3.98393},
         {-0.16121, -1.94044, 6.06822},
         {-0.15563771, -0.08239955},
         0.00042500,
         0.01170893},
        {1.0,
         {0.10096, -0.69551, 3.32360},
         {-0.15921, 2.32161, -5.28946},
         {0.01440513, 0.01566290},
         0.00018668,
         0.00990603},
        {2.0,
         {0.12527, 0.07616, 4.50091},
         {-0.14574, 3.56712, -3.93091},
         {-0.00638383, 0.02933977},
         0.00051150,
         0.00999026},
    };
    const snw_ode_kind kinds[] = {SNW_ODE_RK87, SNW_ODE_BDF};
    for (int k = 0; k < 2; k++) {
        scene c;
        muscle_rod(&c, 3);
        begin(&c, kinds[k], k ? 1e-10 : 1e-9);
        const clock_t start = clock();
        for (int i = 0; i < 4; i++) {
            go(&c, want[i].t);
            const view v = see(&c);
            const snw_work *w = snw_explicit_work_at(c.e);
            const snw_state *s = snw_explicit_state(c.e);
            const snw_vec3 root = w->g[c.m->block[0].seg].p, end_ = tip(&c);
            const snw_twist xi = snw_rod_strain(&c.m->rod[0], s->q, 0, 0.5);
            for (int j = 0; j < 3; j++) {
                assert_near(1e3 * root.e[j], want[i].base[j], 1.5e-5); // printed digits of mm
                assert_near(1e3 * (end_.e[j] - (j == 0)), want[i].tip[j], 1.5e-5);
            }
            assert_near(xi.e[1], want[i].K[0], 1.5e-8);
            assert_near(xi.e[2], want[i].K[1], 1.5e-8);
            assert_near(v.kinetic, want[i].T, 1.5e-8);
            assert_near(v.elastic, want[i].U, 1.5e-8);
            // no external forces: momentum stays zero, the centre of mass stays fixed
            for (int j = 0; j < 6; j++) assert_near(v.momentum.e[j], 0, 1e-9);
            snw_vec3 com;
            (void)snw_center_of_mass(c.m, w, &com);
            for (int j = 0; j < 3; j++) assert_near(com.e[j], j == 0 ? 0.5 : 0, 1e-8);
            assert_true(balance(&c, 0) < 1e-6);
        }
        const snw_ode_stats stats = snw_explicit_statistics(c.e);
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        printf("test 6: kind %d, %ld steps, %ld rates, %.3g us a rate, %.3g s a simulated second\n",
               (int)kinds[k], stats.steps, stats.rates, 1e6 * seconds / (double)stats.rates,
               seconds / 2);
        finish(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clamped_rods_keep_their_energy),
        cmocka_unit_test(free_rods_keep_energy_and_momentum),
        cmocka_unit_test(the_balance_of_energy_closes),
        cmocka_unit_test(all_integrators_find_the_same_motion),
        cmocka_unit_test(implicit_schemes_tend_to_the_explicit_reference),
        cmocka_unit_test(an_advance_can_be_undone),
        cmocka_unit_test(a_coordinate_without_mass_is_named),
        cmocka_unit_test(a_law_that_ends_is_reported_with_its_time),
        cmocka_unit_test(test_5_light_string),
        cmocka_unit_test(test_5_heavy_string),
        cmocka_unit_test(test_6_free_rod_with_muscles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
