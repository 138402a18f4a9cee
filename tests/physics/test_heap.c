// SPDX-License-Identifier: MIT
//
// Tests that the following make no heap allocation: residual, tangent, mass matrix, factorisation,
// a whole static solve and advances in time. Calls of malloc and related functions are counted for
// the whole process, including those of OpenBLAS, SUNDIALS and the C library.
#include "oracle/trial.h"
#include "sinew/sinew.h"

#include "near.h"
// must follow near.h, because it uses its assertions
#include "heap_calls.h"
#include "integrate/explicit.h"
#include "random_tree.h"
#include "solve/dense.h"

#include <string.h>

// The counter itself works: a known allocation is counted.
static void the_counter_counts(void **state) {
    (void)state;
    count_heap_calls();
    const long before = heap_calls;
    void *volatile p = malloc(100);
    assert_true(heap_calls == before + 1);
    free(p);
    assert_true(heap_calls == before + 2);
    p = calloc(10, 10);
    free(p);
    assert_true(heap_calls == before + 4);
    assert_int_equal(posix_memalign((void **)&p, 64, 100), 0);
    free(p);
    assert_true(heap_calls == before + 6);
}

// ---- the recursion ------------------------------------------------------------------------------

static void recursion_does_not_touch_the_heap(void **state) {
    (void)state;
    dice d = {91};
    for (int k = 0; k < 20; k++) {
        tree room;
        trial t;
        if (k < 12) {
            robot_random(&room.r, &d, k % 2 ? SNW_JOINT_FREE : SNW_JOINT_FIXED, k % 3 == 0);
        } else {
            tree_random(&room, &d, (tree_opts){.nlink = 7});
        }
        robot *const r = &room.r;
        trial_open(&t, &r->desc);
        state_random(t.m, &d, t.s);
        const int n = t.m->nv;
        double *T = malloc((size_t)n * (size_t)n * sizeof *T), *x = malloc((size_t)n * sizeof *x);
        double *power = malloc((size_t)(r->desc.nload + 2) * sizeof *power);
        int *pivot = malloc((size_t)n * sizeof *pivot);

        const long before = heap_calls;
        snw_inputs_at(t.m, 0.3, t.in);
        for (int still = 0; still < 2; still++) {
            snw_residual(t.m, t.in, t.s, still, t.w);
            snw_observe(t.m, t.in, t.s, still, t.w);
            snw_tangent_pass(t.m, NULL, t.w);
            snw_tangent_assemble(t.m, t.in, 1, still ? 0 : 0.1, still ? 0 : 0.01, t.w, T);
            for (int i = 0; i < n; i++) x[i] = t.w->r[i];
            if (snw_lu_factor(n, T, pivot) == SNW_OK) snw_lu_solve(n, T, pivot, x);
        }
        snw_move(t.m, t.s->q, 1e-3, x, t.s->q);
        snw_mass_matrix(t.m, t.in, t.s, t.w, T);
        if (snw_cholesky_factor(n, T) == SNW_OK) snw_cholesky_solve(n, T, x);
        snw_residual(t.m, t.in, t.s, false, t.w);
        snw_load_power(t.m, t.in, t.s, t.w, power);
        const snw_wrench P = snw_momentum(t.m, t.w);
        const double energy = snw_kinetic_energy(t.m, t.w) + snw_elastic_energy(t.m, t.s) +
                              snw_gravity_energy(t.m, t.in, t.w) + P.f.x;
        const long after = heap_calls;

        assert_true(isfinite(energy));
        assert_int_equal(after - before, 0);
        free(T);
        free(x);
        free(power);
        free(pivot);
        trial_close(&t);
        robot_free(r);
    }
}

// ---- a static solve -----------------------------------------------------------------------------

// A static solve and the stability analysis of its result.
static void check_solve(robot *r, int iterations) {
    trial t;
    trial_open(&t, &r->desc);
    snw_statics *st = NULL;
    assert_int_equal(snw_statics_create(t.m, &st), SNW_OK);
    const snw_statics_opts opts = snw_statics_defaults();
    snw_statics_info info;
    snw_error err = {0};

    const long before = heap_calls;
    const snw_status status = snw_statics_solve(st, 0, &opts, t.s, &info, &err);
    const long solved = heap_calls;
    const snw_stability stability = snw_statics_stability(st, t.s);
    const long after = heap_calls;

    assert_int_equal(status, SNW_OK);
    assert_true(info.iterations >= iterations && isfinite(stability.value));
    assert_int_equal(solved - before, 0);
    assert_int_equal(after - solved, 0);
    snw_statics_destroy(st);
    trial_close(&t);
    robot_free(r);
}

// Boyer's second test at full load: many increments and factorisations
static void static_solve_does_not_touch_the_heap(void **state) {
    (void)state;
    robot r;
    robot_init(&r, 100, 0.5772);
    r.material.young = number(&r, 4.015e8);
    robot_strain(&r, 0, SNW_BEND_Z, SNW_BASIS_LEGENDRE, 14);
    r.load[r.desc.nload++] = (snw_load_desc){.name = "push", .on = link_end(0), .body = true};
    r.load[0].force[1] = number(&r, 130e3);
    check_solve(&r, 5);
}

// Large enough for the blocked algorithms of LAPACK, which have buffers of their own.
static void static_solve_of_many_coordinates_does_not_touch_the_heap(void **state) {
    (void)state;
    robot r;
    robot_init(&r, 0.3, 0.03);
    for (int i = 0; i < 6; i++) robot_strain(&r, 0, i, SNW_BASIS_LEGENDRE, 25);
    r.link[0].rod.nodes = 40;
    r.desc.gravity[2] = number(&r, -9.81);
    check_solve(&r, 2);
}

// ---- in time ------------------------------------------------------------------------------------

// All integrators, from the first advance on, including jumps, steps back and failures.
static void advances_in_time_do_not_touch_the_heap(void **state) {
    (void)state;
    for (int kind = SNW_ODE_RK4; kind <= SNW_ODE_BDF; kind++) {
        robot r;
        trial t;
        robot_init(&r, 0.5, 0.02);
        r.material.damping = number(&r, 1e-3);
        r.link[0].joint = SNW_JOINT_FREE;
        for (int i = 0; i < 3; i++) robot_strain(&r, 0, i, SNW_BASIS_LEGENDRE, 3);
        r.load[r.desc.nload++] = (snw_load_desc){.name = "push", .on = link_end(0), .body = true};
        r.load[0].force[1] = law(&r, "if(t < 0.02, 1, sqrt(0.05 - t))");
        trial_open(&t, &r.desc);
        snw_explicit_opts opts = snw_explicit_defaults();
        opts.kind = (snw_ode_kind)kind;
        opts.step = kind == SNW_ODE_RK4 ? 1e-4 : 0;
        snw_explicit *e = NULL;
        snw_error err = {0};
        assert_int_equal(snw_explicit_create(t.m, &opts, &e, &err), SNW_OK);

        const long before = heap_calls;
        snw_status s = snw_explicit_start(e, t.s, &err);
        if (s == SNW_OK) s = snw_explicit_advance(e, 0.01, 0.02, &err);
        if (s == SNW_OK) s = snw_explicit_advance(e, 0.02, 0.02, &err);
        if (s == SNW_OK) s = snw_explicit_advance(e, 0.03, INFINITY, &err);
        if (s == SNW_OK) snw_explicit_undo(e);
        if (s == SNW_OK) s = snw_explicit_advance(e, 0.04, INFINITY, &err);
        const double seen = snw_explicit_work_at(e)->r[0];
        const snw_status failed = snw_explicit_advance(e, 0.06, INFINITY, &err);
        const long after = heap_calls;

        assert_int_equal(s, SNW_OK);
        assert_int_equal(failed, SNW_E_DIVERGED);
        assert_true(isfinite(seen) && snw_explicit_state(e)->t == 0.04);
        if (after != before) fail_msg("kind %d: %ld calls", kind, after - before);
        snw_explicit_destroy(e);
        trial_close(&t);
        robot_free(&r);
    }
}

// A robot with all external actions: ground, fluid, tendons, chambers, a variable-length rod.
// Equilibrium, steps, probes and efforts.
static void external_forces_do_not_touch_the_heap(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "materials: {rubber: {young: 0.5 MPa, poisson: 0.5, density: 1000, damping: 10 ms}}\n"
        "robot:\n"
        "  arm: {on: world, rod: {length: 0.3, section: {circle: {radius: 12 mm}}, material: "
        "rubber, strain: cosserat legendre 2}}\n"
        "  ball: {on: arm.tip, body: {sphere: {radius: 20 mm}, density: 900}}\n"
        "  needle: {on: world, pose: {xyz: [0, 1 m, 0]}, rod: {length: 0.2, section: {circle: "
        "{radius: 10 mm}}, material: rubber, strain: kirchhoff legendre 2}}\n"
        "actuators:\n"
        "  motor: {feed: needle, position: 0.2 m + 50 mm*sin(4*t)}\n"
        "  cord: {tendon: {along: arm, at: [0, 8 mm, 0]}, effort: \"1 N + 0.2 N*sin(50*t)\"}\n"
        "  held: {tendon: {along: arm, at: [0, -8 mm, 0]}, effort: \"20 N/m*len - 1 N*s/m*fast\"}\n"
        "  winch: {tendon: {along: arm, at: [0, 0, 8 mm], compliance: 2e-3 1/N}, shortening: 3 mm "
        "+ "
        "20 mm*t/(1 s)}\n"
        "  bellows: {chamber: {along: arm, at: [0, -6 mm, 0], area: 3e-5 m^2}, effort: 4 kPa}\n"
        "  water: {chamber: {along: arm, at: [0, 0, -6 mm], area: 2.6e-5 m^2}, volume: 7.85e-6 "
        "m^3}\n"
        "  air: {chamber: {along: arm, at: [0, 4 mm, 4 mm], area: 2.7e-5 m^2}, gas: {moles: 3.3e-4 "
        "mol, temperature: 300 K}}\n"
        "fluid:\n"
        "  sea: {on: [arm, ball], density: 1000, added: auto, buoyancy: on}\n"
        "  drag: {on: arm, density: 1000, drag: {normal: 1, tangent: 0.01}}\n"
        "contacts:\n"
        "  floor: {ground: {on: arm, normal: z, at: [0, 0, -15 mm], stiffness: 2 kPa, ends: 20, "
        "damping: 0.1, friction: 0.4}}\n"
        "  stone: {ground: {on: ball, normal: z, at: [0, 0, 120 mm], stiffness: 200, friction: "
        "0.4}}\n"
        "probes: {tip: {position: ball}, len: {length: held}, fast: {rate: held}, push: {reaction: "
        "stone}}\n";
    static const char *const schemes[] = {"generalized-alpha", "bdf2", "adaptive", "stiff"};
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
        snw_robot *r = NULL;
        snw_error err = {0};
        snw_robot_steps how = snw_robot_steps_defaults(1e-3);
        how.scheme = schemes[k];
        if (snw_robot_parse("arm", text, strlen(text), NULL, 0, NULL, &r, &err) != SNW_OK) {
            fail_msg("%d: %s", err.line, err.text);
        }
        const long before = heap_calls;
        snw_status s = snw_robot_equilibrium(r, 0, &err);
        const long balanced = heap_calls;
        if (s == SNW_OK) s = snw_robot_start(r, &how, &err);
        const long started = heap_calls;
        double push[6] = {0}, f;
        for (int i = 0; i < 20 && s == SNW_OK; i++) {
            s = snw_robot_step(r, 1e-3, &err);
            snw_robot_probe(r, "push", 6, push);
            for (int j = 0; j < 7; j++) snw_robot_effort(r, j, &f);
        }
        const long after = heap_calls;
        if (s != SNW_OK) fail_msg("%s: %s", schemes[k], err.text);
        assert_int_equal(balanced - before, 0);
        assert_int_equal(after - started, 0);
        assert_true(push[5] != 0); // the contact is active
        snw_robot_close(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counter_counts),
        cmocka_unit_test(recursion_does_not_touch_the_heap),
        cmocka_unit_test(static_solve_does_not_touch_the_heap),
        cmocka_unit_test(static_solve_of_many_coordinates_does_not_touch_the_heap),
        cmocka_unit_test(advances_in_time_do_not_touch_the_heap),
        cmocka_unit_test(external_forces_do_not_touch_the_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
