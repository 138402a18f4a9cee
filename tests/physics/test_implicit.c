// SPDX-License-Identifier: MIT
//
// Time integration of rods by all schemes: jumps of loads, steps that are too long, laws that end,
// error control against references, stability at very long steps, the invariants of the conserving
// scheme, energy balances, no heap allocation in a step.
#include "integrate/integrator_private.h"

#include "executed.h"
#include "random_rod.h"

#include "near.h"
// must follow near.h, because it uses its assertions
#include "heap_calls.h"
#include "sanitized.h"

#include <stdio.h>
#include <string.h>

// ---- help: integrators --------------------------------------------------------------------------

typedef struct scene {
    robot r;
    snw_model *m;
    snw_state *s;
    snw_step_desc step;
    snw_integrator mv;
} scene;

static void compile(scene *c) {
    snw_error err = {0};
    if (snw_model_compile(&c->r.desc, &c->m, &err) != SNW_OK) fail_msg("%s", err.text);
    assert_int_equal(snw_state_create(c->m, &c->s), SNW_OK);
}

static void begin(scene *c, snw_step_desc step) {
    c->step = step;
    snw_error err = {0};
    if (snw_integrator_open(c->m, &c->step, 0, &c->mv, &err) != SNW_OK) fail_msg("%s", err.text);
    if (c->mv.start(c->mv.self, c->s, &err) != SNW_OK) fail_msg("%s", err.text);
}

static void go(scene *c, double t, snw_stats *took) {
    snw_error err = {0};
    if (c->mv.advance(c->mv.self, t, INFINITY, took, &err) != SNW_OK) fail_msg("%s", err.text);
}

static void end(scene *c) {
    c->mv.close(c->mv.self);
    c->mv = (snw_integrator){0};
}

static void finish(scene *c) {
    if (c->mv.close) end(c);
    snw_state_destroy(c->s);
    snw_model_destroy(c->m);
    robot_free(&c->r);
}

typedef struct view {
    double kinetic, energy;
    snw_wrench momentum;
} view;

static view see(scene *c) {
    const snw_work *w = c->mv.work_at(c->mv.self);
    const double T = snw_kinetic_energy(c->m, w);
    return (view){.kinetic = T,
                  .energy = T + snw_elastic_energy(c->m, c->mv.state(c->mv.self)) +
                            snw_gravity_energy(c->m, c->mv.inputs(c->mv.self), w),
                  .momentum = snw_momentum(c->m, w)};
}

// Change of energy - work + heat, J.
static double balance(scene *c, double before, double *exchanged) {
    const snw_work_done w = c->mv.work(c->mv.self);
    double sum = see(c).energy - before + w.heat;
    *exchanged = w.heat;
    for (int i = 0; i < w.n; i++) sum -= w.work[i], *exchanged += fabs(w.work[i]);
    return fabs(sum);
}

// A soft rod that swings on a joint or floats in space.
static void soft_rod(scene *c, snw_joint_kind joint, bool weight, bool driven) {
    *c = (scene){0};
    robot_init(&c->r, 0.5, 0.02);
    c->r.material.young = number(&c->r, 2e4);
    robot_strain(&c->r, 0, SNW_TWIST, SNW_BASIS_LEGENDRE, 1);
    robot_strain(&c->r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 2);
    robot_strain(&c->r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 2);
    c->r.link[0].joint = joint;
    c->r.link[0].rod.nodes = 6;
    if (weight) c->r.desc.gravity[2] = number(&c->r, -2);
    if (driven) {
        c->r.material.damping = number(&c->r, 5e-3);
        snw_load_desc *load = &c->r.load[c->r.desc.nload++];
        *load = (snw_load_desc){.name = "wind", .on = link_end(0)};
        load->force[1] = law(&c->r, "0.05*sin(3*t)");
    }
    compile(c);
    for (int i = 0; i < c->m->nv; i++) c->s->v[i] = 0.5 * cos(1.7 * i);
}

// Compile after a change of the description.
static void compile_again(scene *c) {
    snw_state *moving = c->s;
    snw_model_destroy(c->m);
    compile(c);
    snw_state_copy(c->m, moving, c->s);
    snw_state_destroy(moving);
}

static void stiffen(scene *c, double stiffer) {
    c->r.material.young = number(&c->r, 2e4 * stiffer);
    compile_again(c);
}

static double distance(const scene *c, const double *want) {
    const double *q = c->mv.state(c->mv.self)->q;
    double d = 0;
    for (int i = 0; i < c->m->nq; i++) d = fmax(d, fabs(q[i] - want[i]));
    return d;
}

static void reference(scene *c, double t, double *q) {
    begin(c, (snw_step_desc){.scheme = SNW_SCHEME_ADAPTIVE, .tolerance = 1e-12, .duration = t});
    go(c, t, &(snw_stats){0});
    memcpy(q, c->mv.state(c->mv.self)->q, (size_t)c->m->nq * sizeof *q);
    end(c);
}

// ---- jumps --------------------------------------------------------------------------------------

// A soft rod is pulled aside and released at a time that is on no time grid.
static double released_tip(const char *how, int axis) {
    char text[1024];
    snprintf(text, sizeof text,
             "sinew: 1\n"
             "gravity: [0, 0, -2 m/s^2]\n"
             "materials: {gel: {young: 20 kPa, poisson: 0.5, density: 1000, damping: 2 ms}}\n"
             "robot: {arm: {on: world, rod: {length: 50 cm, section: {circle: {radius: 20 mm}},\n"
             "  material: gel, nodes: 6, strain: {bend_y: legendre 2, bend_z: legendre 2}}}}\n"
             "loads:\n"
             "  pull: {on: arm.tip, force: [0, 0.2 N, 0], when: 't < 0.13717 s'}\n"
             "study:\n"
             "  - dynamic: {for: 0.4 s, %s}\n"
             "probes: {tip: {position: arm.tip}}\n",
             how);
    outcome o;
    execute(text, &o);
    if (o.status != SNW_OK) fail_msg("%s: %s", how, o.err.text);
    assert_near(o.series.t[o.series.nframe - 1], 0.4, 1e-14);
    const double p = last(&o, axis);
    snw_series_clear(&o.series);
    return p;
}

static void a_release_off_the_grid_keeps_the_order(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int order;
    } schemes[] = {{"generalized-alpha, rho: 0.7", 2},
                   {"newmark", 2},
                   {"hht", 2},
                   {"wbz", 2},
                   {"trapezoidal", 2},
                   {"bdf2", 2},
                   {"bdf-alpha", 2},
                   {"conserving", 2},
                   {"moreau", 2},
                   {"gauss4", 4},
                   {"gauss6", 6},
                   {"radau3", 3},
                   {"radau5", 5}};
    double want[3];
    for (int k = 1; k < 3; k++)
        want[k] = released_tip("scheme: adaptive, tolerance: 1e-12, step: 10 ms", k);
    assert_true(fabs(want[1]) > 0.01);
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        double e[2] = {0};
        for (int fine = 0; fine < 2; fine++) {
            char how[128];
            const double h = schemes[i].order == 2 ? 1 : 5 * schemes[i].order;
            snprintf(how, sizeof how, "scheme: %s, step: %g ms, tolerance: 1e-12", schemes[i].name,
                     fine ? 0.5 * h : h);
            for (int k = 1; k < 3; k++)
                e[fine] = fmax(e[fine], fabs(released_tip(how, k) - want[k]));
        }
        const double slope = log2(e[0] / e[1]);
        // the lengths of the steps that are cut at the release are arbitrary
        if (!(fabs(slope - schemes[i].order) < 0.125 * schemes[i].order)) {
            fail_msg("%s: errors %.3g and %.3g, slope %.3f", schemes[i].name, e[0], e[1], slope);
        }
    }
}

// ---- steps too long, laws that end --------------------------------------------------------------

// One step of half a second for a rod that whirls about ten times in it: Newton's method fails, and
// converges in shorter steps.
static void a_step_too_long_is_halved(void **state) {
    (void)state;
    scene c;
    soft_rod(&c, SNW_JOINT_FREE, true, false);
    for (int i = 0; i < c.m->nv; i++) c.s->v[i] *= 30;
    const snw_scheme_kind methods[] = {SNW_SCHEME_GENERALIZED_ALPHA, SNW_SCHEME_CONSERVING,
                                       SNW_SCHEME_GAUSS6, SNW_SCHEME_RADAU5};
    for (int k = 0; k < 4; k++) {
        begin(&c, (snw_step_desc){.scheme = methods[k], .step = 0.5, .rho = 0.9, .duration = 1});
        const double before = see(&c).energy;
        snw_stats took = {0};
        go(&c, 0.5, &took);
        assert_true(took.increments > 4);
        assert_true(c.mv.state(c.mv.self)->t == 0.5);
        // steps at the limit of convergence are far from accurate, but the energy remains bounded
        const double after = see(&c).energy;
        if (!(after > 0 && after < 1.2 * before))
            fail_msg("method %d: energy from %.3g to %.3g J", (int)methods[k], before, after);
        end(&c);
    }
    finish(&c);
}

// The wind has a finite value only until 0.1 s.
static void an_impossible_step_is_reported_and_earlier_results_are_kept(void **state) {
    (void)state;
    const snw_scheme_kind methods[] = {SNW_SCHEME_GENERALIZED_ALPHA, SNW_SCHEME_BDF2,
                                       SNW_SCHEME_CONSERVING, SNW_SCHEME_GAUSS4};
    for (int k = 0; k < 4; k++) {
        scene c = {0};
        robot_init(&c.r, 0.5, 0.02);
        robot_strain(&c.r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 2);
        snw_load_desc *load = &c.r.load[c.r.desc.nload++];
        *load = (snw_load_desc){.name = "wind", .on = link_end(0)};
        load->force[1] = law(&c.r, "sqrt(0.1 - t)");
        compile(&c);
        begin(&c, (snw_step_desc){.scheme = methods[k], .step = 0.01, .rho = 0.9, .duration = 1});
        snw_status s = SNW_OK;
        snw_error err = {0};
        for (int i = 1; s == SNW_OK && i < 100; i++) {
            snw_stats took = {0};
            s = c.mv.advance(c.mv.self, 0.01 * i + 0.005, INFINITY, &took, &err);
        }
        assert_int_equal(s, SNW_E_DIVERGED);
        const snw_state *reached = c.mv.state(c.mv.self);
        assert_non_null(strstr(err.text, "no motion found beyond t = 0.1"));
        assert_non_null(strstr(err.text, "load 'wind' has no finite value at t = 0.1"));
        assert_non_null(strstr(err.text, "the results so far are kept"));
        // the conserving scheme evaluates laws in the middle of a step of 10 ms
        const double beyond = methods[k] == SNW_SCHEME_CONSERVING ? 0.005 : 0;
        assert_true(reached->t > 0.1 - 1e-8 && reached->t < 0.1 + beyond + 1e-8);
        for (int j = 0; j < 2; j++) assert_true(isfinite(reached->q[j]) && isfinite(reached->v[j]));
        assert_true(isfinite(see(&c).energy));
        finish(&c);
    }
}

static void a_law_that_ends_keeps_the_frames_before(void **state) {
    (void)state;
    static const char *const schemes[] = {
        "generalized-alpha", "bdf2", "conserving", "moreau", "gauss6", "radau5", "rk4", "adaptive"};
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "sinew: 1\ngravity: 0\n"
            "materials: {gel: {young: 20 kPa, poisson: 0.5, density: 1000}}\n"
            "robot: {arm: {on: world, rod: {length: 50 cm, section: {circle: {radius: 20 mm}},\n"
            "  material: gel, strain: {bend_y: legendre 2}}}}\n"
            "loads: {wind: {on: arm.tip, force: [0, 0, '0.1 N*sqrt(0.1 - t/(1 s))']}}\n"
            "study:\n  - dynamic: {for: 1 s, scheme: %s, step: 5 ms}\n"
            "record: {every: 5 ms}\n"
            "probes: {tip: {position: arm.tip}, e: energy}\n",
            schemes[i]);
        outcome o;
        execute(text, &o);
        assert_true(o.err.text[0] != 0);
        assert_int_equal(o.status, SNW_E_DIVERGED);
        assert_int_equal(o.series.status, SNW_E_DIVERGED);
        assert_true(o.series.nframe >= 20 && o.series.nframe <= 22);
        for (int f = 0; f < o.series.nframe; f++) {
            assert_near(o.series.t[f], 5e-3 * f, 1e-12);
            for (int k = 0; k < o.series.ncolumn; k++)
                assert_true(isfinite(o.series.value[f * o.series.ncolumn + k]));
        }
        snw_series_clear(&o.series);
    }
}

// ---- error control ------------------------------------------------------------------------------

// The error of a step may equal the tolerance, so the step length follows its cube root and the
// error at the end its power 2/3. For collocation the controlled error is that within a step, h^(s
// + 2), and the error at the end is h^(2 s).
static void errors_follow_the_tolerance(void **state) {
    (void)state;
    for (int joint = 0; joint < 2; joint++) {
        scene c;
        soft_rod(&c, joint ? SNW_JOINT_FREE : SNW_JOINT_FIXED, true, true);
        double want[32];
        reference(&c, 1, want);
        const snw_scheme_kind methods[] = {SNW_SCHEME_GENERALIZED_ALPHA, SNW_SCHEME_NEWMARK,
                                           SNW_SCHEME_TRAPEZOIDAL,       SNW_SCHEME_BDF2,
                                           SNW_SCHEME_BDF_ALPHA,         SNW_SCHEME_GAUSS4};
        for (int k = 0; k < 6; k++) {
            const bool few =
                methods[k] == SNW_SCHEME_GAUSS4; // few steps per output instant, the last cut
            const double power = few ? 1 : 2.0 / 3, play = few ? 0.2 : 0.1;
            double before = NAN, steps = 0;
            for (double tolerance = 1e-5; tolerance > 0.5e-7; tolerance *= 0.1) {
                begin(&c, (snw_step_desc){.scheme = methods[k],
                                          .control = true,
                                          .step = 0.1,
                                          .rho = 0.9,
                                          .alpha = -0.2,
                                          .tolerance = tolerance,
                                          .duration = 1});
                snw_stats took = {0};
                for (int i = 1; i <= 10; i++) go(&c, 0.1 * i, &took);
                const double e = distance(&c, want), slope = log10(before / e);
                if (!(e <= (few ? 20 : 10) * pow(tolerance, power)) || slope < (1 - play) * power ||
                    slope > (1.02 + play) * power || (steps > 0 && took.increments > 2.3 * steps)) {
                    fail_msg("method %d, tolerance %.0e: error %.3g, slope %.3f, %g steps",
                             (int)methods[k], tolerance, e, slope, took.increments);
                }
                before = e, steps = took.increments;
                end(&c);
            }
        }
        finish(&c);
    }
}

// ---- huge steps ---------------------------------------------------------------------------------

// references.md G7.1, check 8: stiff-B, E times 0.01, 1 and 100, released; steps of 0.1 s. From
// rest with Newmark's scheme, as in the reference; from consistent accelerations with a scheme that
// damps. Without damping the soft rod reaches a step whose equations have two solutions, and Newton
// may converge to the one with four times the energy.
static void rods_of_any_stiffness_take_huge_steps(void **state) {
    (void)state;
    for (int start = 0; start < 2; start++) {
        for (double stiffer = 0.01; stiffer < 200; stiffer *= 100) {
            char text[1024];
            snprintf(text, sizeof text,
                     "sinew: 1\ngravity: [9.81 m/s^2, 0, 0]\n"
                     "materials: {steel: {young: %g GPa, poisson: 0.3, density: 8000}}\n"
                     "robot: {arm: {on: world, rod: {length: 0.4 m, section: {circle: {diameter: 2 "
                     "mm}},\n"
                     "  material: steel, nodes: 20, strain: {bend_z: chebyshev 3}}}}\n"
                     "loads: {pull: {on: arm.tip, force: [0, 0.1 N, 0]}}\n"
                     "study:\n  - static:\n  - change: {pull: off}\n"
                     "  - dynamic: {for: 10 s, step: 0.1 s, %s}\n"
                     "probes: {tip: {position: arm.tip}, e: energy}\n",
                     2 * stiffer,
                     start ? "scheme: newmark, start: rest"
                           : "scheme: generalized-alpha, rho: 0.5");
            outcome o;
            execute(text, &o);
            printf("E x %g, %s: %d iterations, %d steps\n", stiffer,
                   start ? "newmark from rest" : "generalized-alpha", o.totals.iterations,
                   o.totals.increments);
            if (o.status != SNW_OK) fail_msg("E x %g: %s", stiffer, o.err.text);
            assert_near(o.series.t[o.series.nframe - 1], 10, 1e-12);
            assert_true(hypot(last(&o, 0), last(&o, 1)) <= 0.4 * (1 + 1e-4));
            snw_series_clear(&o.series);
        }
    }
}

// ---- the conserving scheme ----------------------------------------------------------------------

// 2000 steps, short and long: 150 and 30 per period of the slowest mode. The bound is Newton's
// tolerance: the error of a step is corrected in the next one, because each step aims at the exact
// energy.
static void a_clamped_rod_keeps_its_energy(void **state) {
    (void)state;
    const double steps[] = {0.002, 0.01}, tolerance = 1e-12;
    for (int k = 0; k < 2; k++) {
        scene c;
        soft_rod(&c, SNW_JOINT_FIXED, true, false);
        begin(&c, (snw_step_desc){
                      .scheme = SNW_SCHEME_CONSERVING, .step = steps[k], .tolerance = tolerance});
        const double before = see(&c).energy;
        double worst = 0, exchanged = 0;
        for (int i = 1; i <= AMONG(400, 2000); i++) {
            go(&c, steps[k] * i, &(snw_stats){0});
            const view v = see(&c);
            worst = fmax(worst, fabs(v.energy - before));
            exchanged = fmax(exchanged, v.kinetic);
        }
        if (!(worst <= tolerance * exchanged))
            fail_msg("steps of %g s: %.3g J of %.3g J exchanged", steps[k], worst, exchanged);
        finish(&c);
    }
}

// Largest energy not accounted for over 1 s, relative to the work and heat exchanged.
static double driven_balance(snw_joint_kind joint, double h, double stiffer) {
    scene c;
    soft_rod(&c, joint, true, true);
    stiffen(&c, stiffer);
    begin(&c, (snw_step_desc){.scheme = SNW_SCHEME_CONSERVING, .step = h});
    const double before = see(&c).energy;
    double worst = 0, exchanged = 0;
    for (int i = 1; i * h < 1 + 1e-9; i++) {
        go(&c, h * i, &(snw_stats){0});
        worst = fmax(worst, balance(&c, before, &exchanged));
    }
    finish(&c);
    return worst / exchanged;
}

// Bound: Newton's tolerance, which is relative to elastic forces.
static void with_damping_and_loads_the_balance_closes(void **state) {
    (void)state;
    for (double stiffer = 1; stiffer < 2e4; stiffer *= 100) {
        const double held = driven_balance(SNW_JOINT_FIXED, 0.005, stiffer),
                     free = driven_balance(SNW_JOINT_FREE, 0.005, stiffer);
        printf("stiffness x %g: balance %.1e held, %.1e free\n", stiffer, held, free);
        const double bound = 1e-11 + 1e-12 * stiffer;
        assert_true(held <= bound && free <= bound);
    }
}

static const double FLIGHT = AMONG(1.6, 8);

typedef struct drift {
    double momentum, energy; // relative to their magnitudes
} drift;

// Several seconds of a free rod without loads.
static drift fly(double h, double stiffer) {
    scene c;
    soft_rod(&c, SNW_JOINT_FREE, false, false);
    stiffen(&c, stiffer);
    begin(&c, (snw_step_desc){.scheme = SNW_SCHEME_CONSERVING, .step = h, .tolerance = 1e-14});
    const view first = see(&c);
    const snw_wrench P = first.momentum;
    const double turn = sqrt(snw_dot(P.m, P.m)), push = sqrt(snw_dot(P.f, P.f));
    drift d = {0};
    for (int i = 1; i * h < FLIGHT * (1 + 1e-9); i++) {
        go(&c, h * i, &(snw_stats){0});
        const view v = see(&c);
        for (int k = 0; k < 3; k++) {
            d.momentum = fmax(d.momentum, fabs(v.momentum.m.e[k] - P.m.e[k]) / turn);
            d.momentum = fmax(d.momentum, fabs(v.momentum.f.e[k] - P.f.e[k]) / push);
        }
        d.energy = fmax(d.energy, fabs(v.energy - first.energy) / first.energy);
    }
    finish(&c);
    return d;
}

// Six momenta and the energy are constant to Newton's tolerance, also where the rod is so stiff
// that it vibrates within a step.
static void a_free_rod_keeps_its_momenta_and_its_energy(void **state) {
    (void)state;
    for (double stiffer = 1; stiffer < AMONG(2, 2e4); stiffer *= 100) {
        const drift coarse = fly(0.008, stiffer), fine = fly(0.004, stiffer);
        printf("stiffness x %g: momentum %.1e, %.1e; energy %.1e, %.1e\n", stiffer, coarse.momentum,
               fine.momentum, coarse.energy, fine.energy);
        assert_true(coarse.momentum <= 1e-10 && fine.momentum <= 1e-10);
        assert_true(coarse.energy <= 1e-11 && fine.energy <= 1e-11);
    }
}

// Error of the conserving scheme after 0.5 s, and energy not accounted for relative to the energy
// exchanged.
static void conserve(scene *c, double h, const double *want, double *error, double *rest) {
    begin(c, (snw_step_desc){.scheme = SNW_SCHEME_CONSERVING, .step = h, .tolerance = 1e-13});
    const double before = see(c).energy;
    double exchanged = 0;
    *rest = 0;
    for (int i = 1; i * h < 0.5 * (1 + 1e-9); i++) {
        go(c, h * i, &(snw_stats){0});
        *rest = fmax(*rest, balance(c, before, &exchanged));
    }
    *rest /= exchanged;
    *error = distance(c, want);
    end(c);
}

// The base is shaken and rotated; the work of the base is known by quadrature.
static void on_a_moving_base_conserving_is_of_order_two(void **state) {
    (void)state;
    scene c;
    soft_rod(&c, SNW_JOINT_FIXED, true, true);
    c.r.link[0].pose.xyz[0] = law(&c.r, "0.05*sin(5*t)");
    c.r.link[0].pose.nturn = 1;
    c.r.link[0].pose.turn[0] = (snw_turn){{{0, 1, 0}}, law(&c.r, "0.3*sin(4*t)")};
    compile_again(&c);
    double want[32], error[2], rest[2];
    reference(&c, 0.5, want);
    for (int i = 0; i < 2; i++) conserve(&c, i ? 0.0025 : 0.005, want, &error[i], &rest[i]);
    printf("moving base: error %.1e, %.1e; balance %.1e, %.1e\n", error[0], error[1], rest[0],
           rest[1]);
    assert_true(fabs(log2(error[0] / error[1]) - 2) < 0.1);
    assert_true(fabs(log2(rest[0] / rest[1]) - 2) < 0.1 && rest[1] < 1e-3);
    finish(&c);
}

// Changing gravity changes the energy; the scheme must not correct this change.
static void under_changing_gravity_conserving_is_of_order_two(void **state) {
    (void)state;
    for (int joint = 0; joint < 2; joint++) {
        scene c;
        soft_rod(&c, joint ? SNW_JOINT_FREE : SNW_JOINT_FIXED, false, true);
        c.r.desc.gravity[2] = law(&c.r, "-2*cos(7*t)");
        compile_again(&c);
        double want[32], error[2], rest;
        reference(&c, 0.5, want);
        for (int i = 0; i < 2; i++) conserve(&c, i ? 0.0025 : 0.005, want, &error[i], &rest);
        const double slope = log2(error[0] / error[1]);
        if (!(fabs(slope - 2) < 0.1))
            fail_msg("joint %d: %.3g, %.3g, slope %.2f", joint, error[0], error[1], slope);
        finish(&c);
    }
}

// 1e5 steps, about a thousand periods, of a rod with one bending coordinate
enum { EVER = AMONG(2000, 100000) };

static void energy_is_conserved_over_many_steps(void **state) {
    (void)state;
    scene c = {0};
    robot_init(&c.r, 0.5, 0.02);
    c.r.material.young = number(&c.r, 2e4);
    robot_strain(&c.r, 0, SNW_BEND_Y, SNW_BASIS_LEGENDRE, 2);
    c.r.link[0].rod.nodes = 3;
    c.r.desc.gravity[2] = number(&c.r, -2);
    compile(&c);
    begin(&c, (snw_step_desc){.scheme = SNW_SCHEME_CONSERVING, .step = 0.01, .tolerance = 1e-13});
    const double before = see(&c).energy;
    double worst = 0, exchanged = 0;
    for (int i = 1; i <= EVER; i++) {
        go(&c, 0.01 * i, &(snw_stats){0});
        if (i % 97) continue;
        const view v = see(&c);
        worst = fmax(worst, fabs(v.energy - before));
        exchanged = fmax(exchanged, v.kinetic);
    }
    printf("%d steps: %.1e of what was exchanged\n", (int)EVER, worst / exchanged);
    assert_true(worst <= 1e-11 * exchanged);
    finish(&c);
}

// ---- explicit -----------------------------------------------------------------------------------

// Work and heat are integrated along with the motion. Runge-Kutta: within ten tolerances. Each step
// of the multistep method has an error of the tolerance, in the worst case all of the same sign.
static void the_balance_of_explicit_integrators_closes_at_the_tolerance(void **state) {
    (void)state;
    const snw_scheme_kind methods[] = {SNW_SCHEME_ADAPTIVE, SNW_SCHEME_STIFF};
    for (int k = 0; k < 2; k++) {
        for (double tolerance = 1e-5; tolerance > 0.5e-11; tolerance *= 1e-2) {
            scene c;
            soft_rod(&c, SNW_JOINT_FREE, true, true);
            begin(&c, (snw_step_desc){.scheme = methods[k], .tolerance = tolerance});
            const double before = see(&c).energy;
            double exchanged, worst = 0;
            snw_stats took = {0};
            for (int i = 1; i <= 10; i++) {
                go(&c, 0.1 * i, &took);
                worst = fmax(worst, balance(&c, before, &exchanged));
            }
            const double bound =
                (methods[k] == SNW_SCHEME_STIFF ? took.increments : 10) * tolerance;
            if (!(worst <= bound * exchanged)) {
                fail_msg("method %d, tolerance %.0e: %.3g of what was exchanged", (int)methods[k],
                         tolerance, worst / exchanged);
            }
            finish(&c);
        }
    }
}

// ---- speed --------------------------------------------------------------------------------------

// A rod at rest is pulled by a force that grows from zero. The accelerations at the start are tiny
// but must not be subnormal: the matrix computed there serves for many steps, and arithmetic with
// subnormal numbers is slow.
static void a_force_that_grows_from_nothing_leaves_no_subnormal_numbers(void **state) {
    (void)state;
    scene c;
    soft_rod(&c, SNW_JOINT_FREE, false, true);
    memset(c.s->v, 0, (size_t)c.m->nv * sizeof *c.s->v);
    begin(&c, (snw_step_desc){.scheme = SNW_SCHEME_GENERALIZED_ALPHA, .step = 0.01, .rho = 0.9});
    const double *a = c.mv.state(c.mv.self)->a;
    double largest = 0;
    for (int i = 0; i < c.m->nv; i++) largest = fmax(largest, fabs(a[i]));
    assert_true(largest < 1e-20);
    assert_true(largest == 0 || largest > 1e-100);
    finish(&c);
}

// ---- heap ---------------------------------------------------------------------------------------

// Steps of all schemes, including undone and failed ones, restarts, evaluations, and whole advances
// of the integrators.
static void steps_do_not_touch_the_heap(void **state) {
    (void)state;
    count_heap_calls();
    const long none = heap_calls;
    void *volatile p = malloc(10);
    free(p);
    assert_true(heap_calls == none + 2);
    for (int kind = SNW_SCHEME_GENERALIZED_ALPHA; kind <= SNW_SCHEME_BDF_ALPHA; kind++) {
        if (!(snw_scheme_table[kind].works & SNW_SCHEME_ON_STRAIN)) continue;
        scene c;
        soft_rod(&c, kind % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, true, true);
        snw_implicit_opts o = snw_implicit_defaults();
        o.scheme = snw_implicit_scheme((snw_scheme_kind)kind, 0.8, -0.2);
        snw_implicit *im = NULL;
        snw_error err = {0};
        snw_chord_info info;
        assert_int_equal(snw_implicit_create(c.m, &o, &im), SNW_OK);

        const long before = heap_calls;
        snw_status s = snw_implicit_start(im, c.s, &err);
        for (int i = 1; s == SNW_OK && i <= 20; i++) {
            s = snw_implicit_step(im, 0.005, 0.005 * i, &info);
            if (s == SNW_OK && i % 7 == 0) {
                snw_implicit_undo(im);
                s = snw_implicit_step(im, 0.005, 0.005 * i, &info);
            }
            if (s == SNW_OK && i == 10) s = snw_implicit_restart(im, NULL, &err);
        }
        const double seen = snw_implicit_work_at(im)->r[0] + snw_implicit_error(im);
        const snw_status failed = snw_implicit_step(im, NAN, NAN, &info);
        const long after = heap_calls;

        assert_int_equal(s, SNW_OK);
        assert_int_equal(failed, SNW_E_DIVERGED);
        assert_true(isfinite(seen));
        if (after != before) fail_msg("scheme %d: %ld calls", kind, after - before);
        snw_implicit_destroy(im);
        finish(&c);
    }
    const snw_scheme_kind methods[] = {SNW_SCHEME_GENERALIZED_ALPHA, SNW_SCHEME_CONSERVING,
                                       SNW_SCHEME_GAUSS6, SNW_SCHEME_RADAU5};
    for (int k = 0; k < 4; k++) {
        scene c;
        soft_rod(&c, SNW_JOINT_FREE, true, true);
        begin(&c, (snw_step_desc){.scheme = methods[k], .step = 0.01, .rho = 0.9});
        snw_stats took = {0};
        snw_error err = {0};
        snw_status s = SNW_OK;
        const long before = heap_calls;
        for (int i = 1; s == SNW_OK && i <= 20; i++) {
            s = c.mv.advance(c.mv.self, 0.01 * i, INFINITY, &took, &err);
        }
        const long after = heap_calls;
        assert_int_equal(s, SNW_OK);
        if (after != before) fail_msg("method %d: %ld calls", (int)methods[k], after - before);
        finish(&c);
    }
}

// A body slides on a rail with the friction F = 2 N: its heat is F times the displacement, (1/2) m
// (v0^2 - v1^2); for a spherical joint F times the angle. Smoothing below the speed c removes
// (c/v)^2/2 of it. The scheme itself changes no energy.
static void friction_of_joints_is_heat(void **state) {
    (void)state;
    static const char *const joints[] = {
        "joint: prismatic, axis: x, friction: 2 N, body: {mass: 1}",
        "joint: spherical, friction: 2 N*m, body: {mass: 1, inertia: [1, 1, 1]}"};
    static const char *const rates[] = {"3 m/s", "[3, 0, 0]"};
    enum { KINETIC = 0, DISSIPATED = 3, SCHEME = 5 };
    for (int k = 0; k < 2; k++) {
        for (int h = 0; h < 2; h++) {
            char text[600];
            outcome o;
            (void)snprintf(text, sizeof text,
                           "sinew: 1\ngravity: 0\n"
                           "robot: {b: {on: world, %s}}\n"
                           "initial: {b: {rate: %s}}\n"
                           "study: [dynamic: {for: 1 s, step: %s}]\n"
                           "probes: {e: energy}\n",
                           joints[k], rates[k], h ? "2 ms" : "20 ms");
            execute_ok(text, &o);
            // from 3 to 1: 2 (9 - 1)/4 J = 4 J
            assert_near(last(&o, DISSIPATED), 4, 1e-5);
            assert_near(last(&o, KINETIC), 0.5, 1e-5);
            assert_true(fabs(last(&o, SCHEME)) < 1e-5);
            snw_series_clear(&o.series);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_of_joints_is_heat),
        cmocka_unit_test(a_release_off_the_grid_keeps_the_order),
        cmocka_unit_test(a_step_too_long_is_halved),
        cmocka_unit_test(an_impossible_step_is_reported_and_earlier_results_are_kept),
        cmocka_unit_test(a_law_that_ends_keeps_the_frames_before),
        cmocka_unit_test(errors_follow_the_tolerance),
        cmocka_unit_test(rods_of_any_stiffness_take_huge_steps),
        cmocka_unit_test(a_clamped_rod_keeps_its_energy),
        cmocka_unit_test(with_damping_and_loads_the_balance_closes),
        cmocka_unit_test(a_free_rod_keeps_its_momenta_and_its_energy),
        cmocka_unit_test(on_a_moving_base_conserving_is_of_order_two),
        cmocka_unit_test(under_changing_gravity_conserving_is_of_order_two),
        cmocka_unit_test(energy_is_conserved_over_many_steps),
        cmocka_unit_test(the_balance_of_explicit_integrators_closes_at_the_tolerance),
        cmocka_unit_test(a_force_that_grows_from_nothing_leaves_no_subnormal_numbers),
        cmocka_unit_test(steps_do_not_touch_the_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
