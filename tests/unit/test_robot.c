// SPDX-License-Identifier: MIT
//
// The public robot: what a user of the library sees.
#include "sinew/sinew.h"

#include "near.h"

#include <math.h>
#include <string.h>

static const char arm[] =
    "sinew: 1\n"
    "gravity: 0\n"
    "parameters: {C: 2 N*m}\n"
    "materials: {rubber: {young: 100 MPa, poisson: 0.5, density: 1000, damping: 1 ms}}\n"
    "robot:\n"
    "  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 10 mm}}, material: rubber,\n"
    "        strain: {bend_y: legendre 3}}}\n"
    "loads:\n"
    "  twist: {on: arm.tip, torque: [0, C, 0], frame: body}\n"
    "probes: {tip: {position: arm.tip}, e: energy}\n"
    "runs: {weak: {C: 1 N*m}, strong: {}}\n";

static snw_robot *open_arm(const char *run, int nset, const char *const *set) {
    snw_robot *r = NULL;
    snw_error err = {0};
    if (snw_robot_parse("arm", arm, strlen(arm), run, nset, set, &r, &err) != SNW_OK) {
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
    }
    return r;
}

// an arc of a circle of curvature C/EI: rods.md 4.1
static void equilibrium_is_the_arc(void **state) {
    (void)state;
    snw_robot *r = open_arm("strong", 0, NULL);
    snw_error err = {0};
    assert_int_equal(snw_robot_equilibrium(r, 0, &err), SNW_OK);
    double tip[3];
    assert_int_equal(snw_robot_probe(r, "tip", 3, tip), 3);
    const double k = 2 / (M_PI / 4);
    assert_near(tip[0], sin(k) / k, 1e-10);
    assert_near(tip[2], -(1 - cos(k)) / k, 1e-10);
    assert_near(snw_robot_stability(r), 1, 1e-9); // pure bending in a plane: no geometric stiffness
    assert_int_equal(snw_robot_probe(r, "tap", 3, tip), 0);
    snw_robot_close(r);
}

static void runs_and_overrides_are_chosen(void **state) {
    (void)state;
    const char *const set[] = {"C=0 N*m"};
    snw_robot *r = open_arm(NULL, 1, set);
    snw_error err = {0};
    assert_int_equal(snw_robot_equilibrium(r, 0, &err), SNW_OK);
    for (int i = 0; i < snw_robot_nq(r); i++) assert_near(snw_robot_q(r)[i], 0, 1e-14);
    snw_robot_close(r);

    assert_int_equal(snw_robot_parse("arm", arm, strlen(arm), "none", 0, NULL, &r, &err),
                     SNW_E_ARGUMENT);
    assert_null(r);
    assert_non_null(strstr(err.text, "'none'"));
}

// forward dynamics undoes inverse dynamics, and its power is what the energy gains
static void forward_dynamics_balances(void **state) {
    (void)state;
    snw_robot *r = open_arm("strong", 0, NULL);
    snw_error err = {0};
    const int n = snw_robot_nv(r);
    for (int i = 0; i < n; i++) {
        snw_robot_q(r)[i] = 0.3 * (i + 1);
        snw_robot_v(r)[i] = 1 - 0.4 * i;
    }
    assert_int_equal(snw_robot_forward_dynamics(r, &err), SNW_OK);
    double tau[3], M[9], K[9];
    snw_robot_inverse_dynamics(r, tau);
    for (int i = 0; i < n; i++) assert_near(tau[i], 0, 1e-12);
    snw_robot_mass(r, M);
    snw_robot_energies e;
    snw_robot_energy(r, &e);
    double twice = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) twice += snw_robot_v(r)[i] * M[i + n * j] * snw_robot_v(r)[j];
    }
    assert_near(e.kinetic, twice / 2, 1e-14);
    assert_true(e.dissipation > 0);
    snw_robot_tangent(r, K, NULL, M);
    assert_true(K[0] > 0);
    snw_robot_close(r);
}

static void bad_files_leave_nothing(void **state) {
    (void)state;
    snw_robot *r = NULL;
    snw_error err = {0};
    assert_int_equal(snw_robot_open("no such file.yaml", NULL, 0, NULL, &r, &err), SNW_E_IO);
    assert_null(r);
    const char *const set[] = {"arm.rod.lenght=2 m"};
    assert_int_equal(snw_robot_parse("arm", arm, strlen(arm), NULL, 1, set, &r, &err), SNW_E_PARSE);
    assert_null(r);
    assert_non_null(strstr(err.text, "did you mean 'length'"));
}

// laws see the present state, and so do conditions; there is no past
static void laws_and_conditions_read_the_present_state(void **state) {
    (void)state;
    static const char cart[] =
        "sinew: 1\n"
        "gravity: 0\n"
        "robot: {cart: {on: world, joint: free, body: {mass: 2, inertia: [1, 1, 1]}}}\n"
        "loads:\n"
        "  law: {on: cart, force: [-3*p.x - 4*v.vx - 100*integral(p.x), 0, 0]}\n"
        "  gate: {on: cart, force: [0, 5, 0], when: p.x > 1}\n"
        "  held: {on: cart, force: [0, 0, \"sampled(p.x, 1 s)\"], when: once(e.kinetic < 10)}\n"
        "probes: {p: {position: cart}, v: {velocity: cart}, e: energy}\n";
    snw_robot *r = NULL;
    snw_error err = {0};
    assert_int_equal(snw_robot_parse("c", cart, strlen(cart), NULL, 0, NULL, &r, &err), SNW_OK);
    const double x[] = {0.5, 2, 0.7}, v[] = {1, -1, 10};
    for (int i = 0; i < 3; i++) {
        snw_robot_q(r)[4] = x[i];
        snw_robot_v(r)[3] = v[i];
        assert_int_equal(snw_robot_forward_dynamics(r, &err), SNW_OK);
        const double *a = snw_robot_a(r);
        assert_near(a[3], (-3 * x[i] - 4 * v[i]) / 2, 1e-13);
        assert_near(a[4], x[i] > 1 ? 2.5 : 0, 1e-13);
        assert_near(a[5], v[i] * v[i] < 10 ? x[i] / 2 : 0, 1e-13);
        double K[36], C[36];
        snw_robot_tangent(r, K, C, NULL);
        assert_near(K[3 * 6 + 3], 3, 1e-13);
        assert_near(C[3 * 6 + 3], 4, 1e-13);
    }
    snw_robot_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equilibrium_is_the_arc),
        cmocka_unit_test(runs_and_overrides_are_chosen),
        cmocka_unit_test(forward_dynamics_balances),
        cmocka_unit_test(bad_files_leave_nothing),
        cmocka_unit_test(laws_and_conditions_read_the_present_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
