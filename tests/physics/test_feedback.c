// SPDX-License-Identifier: MIT
//
// Laws that read probes: their derivatives against differences, the values they read against the
// recorded probes, and no heap allocation in steps with feedback.
#include "described.h"
#include "random_rod.h"
#include "tangent_rig.h"
#ifndef SNW_NUMBERS
#include "executed.h"
#include "integrate/integrator.h"
#include "study/memory.h"
// after near.h: it uses assertions
#include "heap_calls.h"
#endif

#include <stdio.h>

// ---- robots -------------------------------------------------------------------------------------

// a free and a clamped rod; every quantity that a law may read, nonlinear, with integrals and
// sampled values
static const char robot_text[] =
    "sinew: 1\n"
    "parameters: {e: mid.x - 0.2*tip.y}\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  arm: {on: world, joint: %s, rod: {length: 0.8, section: {circle: {radius: 20 mm}}, "
    "material: rubber, strain: cosserat legendre 2}}\n"
    "  hand: {on: arm.tip, pose: {xyz: [0.1, 0.02, 0], x: y}, "
    "body: {mass: 0.2, inertia: [1e-3, 2e-3, 3e-3]}}\n"
    "sites: {eye: {on: arm@30%%, pose: {xyz: [0, 0.05, 0.01], x: z}}}\n"
    "loads:\n"
    "  spring: {on: arm.tip, force: [3 kg/s/m*tip.x*speed.vy, -0.3*speed.vx^2, 2 N*sin(tip.z)], "
    "torque: [0, 1 N*m*mid.qx, 1 N*m*mid.rz]}\n"
    "  follow: {on: hand, frame: body, force: [1 kg*spin.wx*spin.vy, 1 N*s*look.zx*body.wz, "
    "1 N*s/m*body.vx], torque: [1 N/s*integral(e), 1 N*s*look.rx*body.vz, "
    "\"1 N*m*s*limit(body.wy, -100, 100)\"]}\n"
    "  wind: {along: arm, force: [0, -x*1 N*s/m^3*gust.vz, "
    "\"1 N/m^2*sampled(tip.x, 10 ms)*palm.qw\"], frame: body}\n"
    "actuators:\n"
    "  muscle: {stress: {along: arm, bend_y: -0.05 N*m*curve.bend_y*x, "
    "stretch: 2 N*curve.stretch + 1 N*s/m*speed.vz}}\n"
    "  winch: {tendon: {along: arm, at: [0, -8 mm, 6 mm*(1 - x/L)], compliance: 2e-3 1/N}, "
    "shortening: 0.5 m + 10 mm*sin(t)}\n"
    "  air: {chamber: {along: arm, at: [0, 0, 6 mm], area: 5e-5 m^2*(1 + x/L)}, gas: {moles: 5e-3 "
    "mol, temperature: 300 K}}\n"
    "  cord: {tendon: {along: arm, at: [0, 9 mm*cos(5*x), 5 mm]}, effort: \"30 N + 5 N/m*far + 2 "
    "N*s/m^2*hauled*own + 0.02*pull - 1e-6 m^2*press + 1e4 N/m^3*full + 3 N/m*limit(wound, -9, "
    "9)\"}\n"
    "  blown: {chamber: {along: arm, at: [0, 5 mm, 0], area: 3e-5 m^2}, effort: 1 kPa*own/far + 1 "
    "kPa*s/m*reeled}\n"
    "probes:\n"
    "  tip: {position: arm.tip}\n"
    "  speed: {velocity: arm.tip}\n"
    "  mid: {pose: arm@55%%}\n"
    "  look: {rotation: eye}\n"
    "  gust: {velocity: eye}\n"
    "  spin: {twist: hand}\n"
    "  body: {twist: hand, in: body}\n"
    "  palm: {pose: hand}\n"
    "  curve: {strain: arm@70%%}\n"
    "  own: {length: cord}\n"
    "  hauled: {rate: cord}\n"
    "  far: {length: winch}\n"
    "  wound: {value: winch}\n"
    "  reeled: {rate: winch}\n"
    "  pull: {tension: winch}\n"
    "  full: {volume: air}\n"
    "  press: {pressure: air}\n";

typedef struct setting {
    snw_document *doc;
    snw_desc *desc;
    rig g;
} setting;

static void setting_open(setting *s, const char *joint, dice *d) {
    char text[4000];
    snw_error err;
    (void)snprintf(text, sizeof text, robot_text, joint);
    if (describe(text, &s->doc, &s->desc, &err) != SNW_OK) {
        fail_msg("%d:%d %s", err.line, err.column, err.text);
    }
    rig_open(&s->g, s->desc);
    state_random(s->g.m, d, s->g.s);
    snw_inputs_at(s->g.m, s->g.s->t, s->g.in);
    for (int i = 0; i < s->g.m->nsignal; i++) s->g.s->z[i] = roll(d, -1, 1);
    s->g.in->integral_step = roll(d, 0.1, 1);
    *s->g.in->signal_fraction = roll(d, 0.5, 1);
}

static void setting_close(setting *s) {
    rig_close(&s->g);
    release(s->doc, s->desc);
}

// ---- properties ---------------------------------------------------------------------------------

static void laws_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {7};
    for (int i = 0; i < 12; i++) {
        setting s;
        setting_open(&s, i % 2 ? "free" : "fixed", &d);
        assert_true(s.g.m->nlive > 15);
        rig_check(&s.g);
        for (int k = 0; k < s.g.m->ntendon; k++) assert_true(s.g.w->tendon[k].effort != 0);
        setting_close(&s);
    }
}

// A variable-length rod whose varying section and rest strain move past the stations that are read.
static const char variable_length_text[] =
    "sinew: 1\n"
    "materials: {rubber: {young: 1 MPa, poisson: 0.4, density: 1000, damping: 10 ms}}\n"
    "robot:\n"
    "  arm: {on: world, rod: {length: 0.5, section: {circle: {radius: 20 mm - 0.01*x}}, material: "
    "rubber, rest: {bend_y: \"2/(1 m) - 3*x/(1 m^2) + 4*x^3/(1 m^4)\"}, strain: cosserat legendre "
    "2}}\n"
    "loads: {follow: {on: arm.tip, force: [1 N*m*curve.bend_y, 2 N*s/m*gust.vz, 3 N/m*mid.x]}}\n"
    "actuators: {push: {feed: arm, effort: 1 N*m^2*curve.bend_y^2 + 1 N/m*mid.z}}\n"
    "probes: {curve: {strain: arm@40%}, gust: {velocity: arm@70%}, mid: {pose: arm@60%}}\n";

static void laws_that_read_a_variable_length_rod_have_exact_derivatives(void **state) {
    (void)state;
    dice d = {9};
    snw_document *doc;
    snw_desc *desc;
    snw_error err;
    if (describe(variable_length_text, &doc, &desc, &err) != SNW_OK) fail_msg("%s", err.text);
    for (int i = 0; i < 4; i++) {
        rig g;
        rig_open(&g, desc);
        state_random(g.m, &d, g.s);
        g.s->q[g.m->rod[0].feed_q] = roll(&d, 0.3, 0.8);
        snw_inputs_at(g.m, g.s->t, g.in);
        *g.in->signal_fraction = 1;
        assert_int_equal(g.m->nlive, 4);
        rig_check(&g);
        rig_close(&g);
    }
    release(doc, desc);
}

#ifndef SNW_NUMBERS // studies

// studies and laws evaluate probes by separate code
static void laws_read_what_probes_show(void **state) {
    (void)state;
    dice d = {8};
    for (int i = 0; i < 12; i++) {
        setting s;
        setting_open(&s, i % 2 ? "free" : "fixed", &d);
        const snw_model *m = s.g.m;
        double column[20];
        snw_vec3 *rotation = calloc((size_t)(m->nseg + m->nobs), sizeof *rotation);
        snw_residual(m, s.g.in, s.g.s, false, s.g.w);
        snw_observe(m, s.g.in, s.g.s, false, s.g.w);
        for (int k = 0; k < m->nseg + m->nobs; k++) rotation[k] = snw_so3_log(s.g.w->g[k].R);
        const snw_readings more = {.rotation = rotation};
        for (int k = 0; k < m->nlive; k++) {
            const snw_signal_desc *signal = &m->desc->signal[m->live[k]];
            if (signal->kind != SNW_SIGNAL_PROBE) continue;
            snw_probe_read(m, signal->probe, s.g.in, s.g.s, s.g.w, &more, column);
            assert_near(s.g.w->signal[m->live[k]], column[signal->column], 1e-14);
        }
        free(rotation);
        setting_close(&s);
    }
}

// an integral is the stored value plus the contribution of the step
static void integrals_are_stored_values_plus_the_part_of_the_step(void **state) {
    (void)state;
    dice d = {9};
    setting s;
    setting_open(&s, "fixed", &d);
    const snw_model *m = s.g.m;
    snw_residual(m, s.g.in, s.g.s, false, s.g.w);
    int seen = 0;
    for (int i = 0; i < m->nsignal; i++) {
        const snw_signal_desc *signal = &m->desc->signal[i];
        if (signal->kind != SNW_SIGNAL_INTEGRAL) continue;
        const double e = snw_expr_value(signal->source, (snw_at){.signal = s.g.w->signal});
        assert_near(s.g.w->signal[i], s.g.s->z[i] + s.g.in->integral_step * e, 1e-14);
        seen++;
    }
    assert_int_equal(seen, 1);
    setting_close(&s);
}

// Neither in steps, nor in undone steps, nor in samples and restarts between steps; half a
// millisecond, before the winch has compressed the gas to a vanishing volume.
static void closed_loops_do_not_touch_the_heap(void **state) {
    (void)state;
    static const snw_scheme_kind methods[] = {
        SNW_SCHEME_GENERALIZED_ALPHA, SNW_SCHEME_BDF2,  SNW_SCHEME_RK4,
        SNW_SCHEME_ADAPTIVE,          SNW_SCHEME_STIFF, SNW_SCHEME_GAUSS6};
    dice d = {10};
    count_heap_calls();
    for (int i = 0; i < 12; i++) {
        setting s;
        setting_open(&s, i % 2 ? "free" : "fixed", &d);
        const snw_model *m = s.g.m;
        snw_state *start = NULL;
        snw_integrator it = {0};
        snw_error err = {0};
        const snw_step_desc step = {.scheme = methods[i / 2], .step = 5e-5, .rho = 0.9};
        assert_int_equal(snw_state_create(m, &start), SNW_OK);
        assert_int_equal(snw_integrator_open(m, &step, 5e-4, &it, &err), SNW_OK);
        snw_vec3 *rotation = calloc((size_t)(m->nseg + m->nobs), sizeof *rotation);
        double *z = calloc((size_t)m->nsignal, sizeof *z);
        bool *fresh = calloc((size_t)m->nsignal, sizeof *fresh);
        snw_stats took = {0};
        const snw_energy none = {0};

        const long before = heap_calls;
        snw_status ok = it.start(it.self, start, &err);
        for (int k = 1; k <= 10 && ok == SNW_OK; k++) {
            ok = it.advance(it.self, k * 5e-5, INFINITY, &took, &err);
            it.undo(it.self);
            if (ok == SNW_OK) ok = it.advance(it.self, k * 5e-5, INFINITY, &took, &err);
            snw_work *w = (snw_work *)it.work_at(it.self);
            snw_memory_read(m, it.inputs(it.self), it.state(it.self), &none, rotation, w);
            (void)snw_memory_sample(m, it.state(it.self), w, fresh, z);
            if (ok == SNW_OK) ok = it.restart(it.self, z, &err);
        }
        const long after = heap_calls;

        if (ok != SNW_OK) fail_msg("%s", err.text);
        if (after != before) fail_msg("method %d: %ld calls", i / 2, after - before);
        free(rotation);
        free(z);
        free(fresh);
        it.close(it.self);
        snw_state_destroy(start);
        setting_close(&s);
    }
}


// A winch is a spring: a tension by a law of the tendon's length, and a pressure by a law of the
// chamber's volume, are equivalent to a winch and a gas, in equilibrium and in motion.
static void laws_of_lengths_are_springs(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "materials: {rubber: {young: 0.5 MPa, poisson: 0.5, density: 1000, damping: 10 ms}}\n"
        "robot: {arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 12 mm}}, material: "
        "rubber, strain: cosserat legendre 2}}}\n"
        "parameters: {paid: 0.33 m - 5 mm*sin(20*t), moles: 4e-4 mol}\n"
        "actuators:\n"
        "  cord: {tendon: {along: arm, at: [0, 8 mm, 0], extra: 30 mm, compliance: 2e-3 1/N}, %s}\n"
        "  air: {chamber: {along: arm, at: [0, -6 mm, 4 mm], area: 3e-5 m^2}, %s}\n"
        "study: [static:, dynamic: {for: 0.1 s, step: 2 ms}]\n"
        "probes: {tip: {position: arm.tip}, T: {tension: cord}, p: {pressure: air}, l: {length: "
        "cord}, V: {volume: air}}\n";
    outcome o[2];
    for (int k = 0; k < 2; k++) {
        char full[4000];
        (void)snprintf(full, sizeof full, text,
                       k ? "effort: \"max(0, (l + 0.03)/paid - 1)/(2e-3 1/N)\""
                         : "shortening: 0.33 m - paid",
                       k ? "effort: \"moles*8.31446261815324 J/mol/K*300 K/V - 101325 Pa\""
                         : "gas: {moles: moles, temperature: 300 K}");
        execute(full, &o[k]);
        if (o[k].status != SNW_OK) fail_msg("%s", o[k].err.text);
    }
    assert_int_equal(o[0].series.nframe, o[1].series.nframe);
    for (int i = 0; i < o[0].series.nframe; i++) {
        for (int c = 0; c < 7; c++) {
            const double a = shown(&o[0], i, c), b = shown(&o[1], i, c);
            assert_true(fabs(a - b) <= 1e-8 * (c == 4 ? 1e5 : 1)); // different last iterates
        }
    }
    assert_true(last(&o[0], 3) > 0.5);
    for (int k = 0; k < 2; k++) snw_series_clear(&o[k].series);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_have_exact_derivatives),
        cmocka_unit_test(laws_that_read_a_variable_length_rod_have_exact_derivatives),
#ifndef SNW_NUMBERS
        cmocka_unit_test(laws_read_what_probes_show),
        cmocka_unit_test(integrals_are_stored_values_plus_the_part_of_the_step),
        cmocka_unit_test(closed_loops_do_not_touch_the_heap),
        cmocka_unit_test(laws_of_lengths_are_springs),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
