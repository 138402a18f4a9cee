// SPDX-License-Identifier: MIT
//
// The internal wrench of probes: against the differential equations, at the ends, and across loads.
#include "oracle/linear.h"
#include "oracle/strong.h"
#include "oracle/trial.h"

#include "near.h"
#include "random_rod.h"

#include <string.h>

enum { STATIONS = 5 };

// Stations away from the loads; the loads of robot_random are at the ends and at one random
// station.
static const double share[STATIONS] = {0.0712, 0.2391, 0.5013, 0.7907, 0.9604};

static void probe_wrenches(robot *r) {
    for (int i = 0; i < STATIONS; i++) {
        r->probe[r->desc.nprobe++] =
            (snw_probe_desc){.name = "wrench",
                             .kind = SNW_PROBE_WRENCH,
                             .site = rod_at(0, share[i] * r->link[0].rod.length)};
    }
}

// Largest error of the wrenches at the stations relative to the largest wrench.
static double error_with(uint64_t seed, int nodes, bool moving) {
    dice d = {seed};
    robot r;
    trial t;
    robot_random_single(&r, &d, SNW_JOINT_FREE, false, 6, nodes);
    probe_wrenches(&r);
    trial_open(&t, &r.desc);
    state_random(t.m, &d, t.s);
    trial_at(&t, t.s->t);
    for (int i = 0; !moving && i < t.m->nv; i++) t.s->v[i] = t.s->a[i] = 0;
    snw_residual(t.m, t.in, t.s, !moving, t.w);
    snw_observe(t.m, t.in, t.s, !moving, t.w);

    oracle_rod q = {.m = t.m, .s = t.s, .nwatch = STATIONS};
    q.g = snw_se3_from_numbers(t.s->q);
    memcpy(q.V.e, t.s->v, sizeof q.V.e);
    memcpy(q.dV.e, t.s->a, sizeof q.dV.e);
    for (int i = 0; i < STATIONS; i++) q.watch[i] = share[i] * r.link[0].rod.length;
    oracle_answer a = {.r = oracle_alloc((size_t)t.m->nv, sizeof(double))};
    oracle_by_runge_kutta(&q, 1e-13, &a);
    double error = 0, size = 0;
    for (int i = 0; i < STATIONS; i++) {
        const snw_wrench got = snw_internal_wrench(t.m, &t.m->station[i], t.w);
        error = fmax(error, oracle_distance(6, got.e, a.watch[i].e));
        size = fmax(size, oracle_size(6, a.watch[i].e));
    }
    free(a.r);
    trial_close(&t);
    robot_free(&r);
    return error / size;
}

// As nodes are refined: order 6 of the geometry, and fractions of the lumped wrenches that
// integrate polynomials exactly.
static void wrench_agrees_with_the_differential_equations(void **state) {
    (void)state;
    for (uint64_t seed = 71; seed < 79; seed++) {
        for (int moving = 0; moving < 2; moving++) {
            const double coarse = error_with(seed, 24, moving), fine = error_with(seed, 96, moving);
            assert_true(fine <= 1e-9);
            // a quarter of the spacing: 4^6
            assert_true(fine <= coarse / 1000 || fine <= 1e-11);
        }
    }
}

// At the root it is minus the wrench of the base on the rod; at the tip it is the applied wrench.
static void wrench_at_the_ends_is_that_of_base_and_tip(void **state) {
    (void)state;
    dice d = {81};
    for (int k = 0; k < 12; k++) {
        robot r;
        trial t;
        robot_random_single(&r, &d, k % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, k % 3 == 0, 4, 8);
        r.desc.nprobe = 2;
        r.probe[0] =
            (snw_probe_desc){.name = "root", .kind = SNW_PROBE_WRENCH, .site = rod_at(0, 0)};
        r.probe[1] = (snw_probe_desc){.name = "tip", .kind = SNW_PROBE_WRENCH, .site = link_end(0)};
        trial_open(&t, &r.desc);
        state_random(t.m, &d, t.s);
        trial_at(&t, t.s->t);
        snw_residual(t.m, t.in, t.s, false, t.w);
        snw_observe(t.m, t.in, t.s, false, t.w);
        const snw_wrench root = snw_internal_wrench(t.m, &t.m->station[0], t.w);
        const snw_wrench tip = snw_internal_wrench(t.m, &t.m->station[1], t.w);
        const snw_wrench base = snw_wrench_scale(-1, t.w->F[t.m->rod[0].root]);
        const snw_wrench end = snw_wrench_scale(-1, t.w->F[t.m->link_end[0]]);
        // sums in another order, transformed to the world and back: rounding
        assert_true(oracle_distance(6, root.e, base.e) <= 1e-12 * oracle_size(6, base.e));
        assert_true(oracle_distance(6, tip.e, end.e) <= 1e-12 * oracle_size(6, base.e));
        trial_close(&t);
        robot_free(&r);
    }
}

// In equilibrium the active components of the wrench are the constitutive stress, as far as the
// functions can represent it: to rounding where the stress is one of them.
static void wrench_is_the_elastic_stress_of_a_circle(void **state) {
    (void)state;
    robot r;
    trial t;
    robot_init(&r, 1, 0.01);
    robot_strain(&r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 3);
    r.load[r.desc.nload++] = (snw_load_desc){.name = "twist", .on = link_end(0), .body = true};
    r.load[0].torque[2] = number(&r, 0.01);
    probe_wrenches(&r);
    trial_open(&t, &r.desc);
    (void)trial_settle(&t);
    for (int i = 0; i < STATIONS; i++) {
        const snw_wrench F = snw_internal_wrench(t.m, &t.m->station[i], t.w);
        assert_near(F.m.z, 0.01, 1e-14);
        assert_near(snw_norm(F.f), 0, 1e-14);
    }
    trial_close(&t);
    robot_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrench_agrees_with_the_differential_equations),
        cmocka_unit_test(wrench_at_the_ends_is_that_of_base_and_tip),
        cmocka_unit_test(wrench_is_the_elastic_stress_of_a_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
