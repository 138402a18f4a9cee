// SPDX-License-Identifier: MIT
//
// Kinematics of the public robot: poses, twists, accelerations, Jacobians and their rates of nodes,
// sites and sections against each other, against differences and against probes; strains and
// internal wrenches along rods.
#include "sinew/sinew.h"

#include "opened.h"
// after near.h: it asserts
#include "heap_calls.h"

#include "robot_texts.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TREE                                                                                       \
    SOFT_TREE                                                                                      \
    "  wheel: {on: side.tip, joint: revolute, body: {mass: 0.1, inertia: [1e-3, 1e-3, 1e-3]}}\n"   \
    "sites: {eye: {on: lower@40%%, pose: {xyz: [10 mm, 20 mm, 30 mm], rpy: [0, 30 deg, 0]}}}\n"    \
    "actuators: {spin: {joint: wheel, position: 0.3*sin(2*t/(1 s))}}\n"                            \
    "loads: {push: {on: lower.tip, force: [0.1 N, 0, 0.2 N]}}\n"                                   \
    "probes:\n"                                                                                    \
    "  at: {pose: upper@37%%}\n"                                                                   \
    "  moves: {twist: lower@81%%}\n"                                                               \
    "  turns: {twist: lower@81%%, in: body}\n"                                                     \
    "  speeds: {acceleration: eye}\n"                                                              \
    "  strained: {strain: upper@37%%}\n"                                                           \
    "  pulled: {wrench: upper@37%%}\n"                                                             \
    "  pulled_here: {wrench: lower@66%%}\n"

static snw_robot *opened_tree(void) {
    static char text[6000];
    (void)snprintf(text, sizeof text, TREE); // a format: %% for %
    snw_robot *r = opened(text);
    assert_int_equal(snw_robot_set_time(r, 0.3), SNW_OK);
    return r;
}

// a configuration, velocities and accelerations without symmetry
static snw_robot *moving(void) {
    snw_robot *r = opened_tree();
    const int nv = snw_robot_nv(r);
    double *dx = calloc((size_t)nv, sizeof *dx);
    for (int i = 0; i < nv; i++) {
        dx[i] = 0.4 * sin(3 * i + 1);
        snw_robot_v(r)[i] = 0.7 * cos(2 * i);
        snw_robot_a(r)[i] = 1.3 * sin(5 * i + 2);
    }
    assert_int_equal(snw_robot_move(r, dx), SNW_OK);
    free(dx);
    return r;
}

static snw_place place_of(const snw_robot *r, const char *name) {
    snw_place at;
    assert_int_equal(snw_robot_find_place(r, name, &at), SNW_OK);
    return at;
}

static int rod_of(const snw_robot *r, const char *name) {
    const int rod = snw_robot_model_find(snw_robot_model_of(r), SNW_PART_ROD, name);
    assert_true(rod >= 0);
    return rod;
}

static snw_place section(const snw_robot *r, const char *rod, double fraction) {
    snw_part part;
    const int index = rod_of(r, rod);
    assert_int_equal(snw_robot_model_part(snw_robot_model_of(r), SNW_PART_ROD, index, &part),
                     SNW_OK);
    return (snw_place){SNW_PLACE_ROD, index, fraction * part.value};
}

enum { PLACES = 7 };

static snw_place place(const snw_robot *r, int k) {
    switch (k) {
    case 0:
        return place_of(r, "eye");
    case 1:
        return place_of(r, "wheel");
    case 2:
        return place_of(r, "upper.root");
    case 3:
        return section(r, "upper", 0.37);
    case 4:
        return section(r, "lower", 0.81);
    case 5:
        return section(r, "side", 1);
    default:
        return (snw_place){SNW_PLACE_NODE, 5, 0};
    }
}

static void probes_agree(void **state) {
    (void)state;
    snw_robot *r = moving();
    double want[19], pose[16], got[6];
    assert_int_equal(snw_robot_probe(r, "at", 19, want), 19);
    assert_int_equal(snw_robot_pose(r, section(r, "upper", 0.37), pose), SNW_OK);
    for (int i = 0; i < 3; i++) {
        assert_near(pose[12 + i], want[i], 1e-15);
        for (int j = 0; j < 3; j++) assert_near(pose[4 * j + i], want[10 + 3 * i + j], 1e-15);
        assert_true(pose[4 * i + 3] == 0);
    }
    assert_true(pose[15] == 1);
    assert_int_equal(snw_robot_probe(r, "moves", 6, want), 6);
    assert_int_equal(snw_robot_twist(r, section(r, "lower", 0.81), SNW_AXES_WORLD, got), SNW_OK);
    for (int i = 0; i < 6; i++) assert_near(got[i], want[i], 1e-15);
    assert_int_equal(snw_robot_probe(r, "turns", 6, want), 6);
    assert_int_equal(snw_robot_twist(r, section(r, "lower", 0.81), SNW_AXES_BODY, got), SNW_OK);
    for (int i = 0; i < 6; i++) assert_near(got[i], want[i], 1e-15);
    // linear part first in this probe
    assert_int_equal(snw_robot_probe(r, "speeds", 6, want), 6);
    assert_int_equal(snw_robot_acceleration(r, place_of(r, "eye"), SNW_AXES_WORLD, got), SNW_OK);
    for (int i = 0; i < 6; i++) assert_near(got[i], want[(i + 3) % 6], 1e-13);
    snw_robot_close(r);
}

static void strains_and_wrenches_are_those_of_probes(void **state) {
    (void)state;
    snw_robot *r = moving();
    double want[6], got[6];
    const snw_place a = section(r, "upper", 0.37), b = section(r, "lower", 0.66);
    assert_int_equal(snw_robot_probe(r, "strained", 6, want), 6);
    assert_int_equal(snw_robot_strain(r, a.index, a.x, got), SNW_OK);
    for (int i = 0; i < 6; i++) assert_true(got[i] == want[i]);
    assert_int_equal(snw_robot_probe(r, "pulled", 6, want), 6);
    assert_int_equal(snw_robot_wrench(r, a.index, a.x, got), SNW_OK);
    for (int i = 0; i < 6; i++) assert_near(got[i], want[i], 1e-14);
    assert_int_equal(snw_robot_probe(r, "pulled_here", 6, want), 6);
    assert_int_equal(snw_robot_wrench(r, b.index, b.x, got), SNW_OK);
    for (int i = 0; i < 6; i++) assert_near(got[i], want[i], 1e-14);
    snw_robot_close(r);
}

// a straight rod at rest carries the weight beyond a section: closed form at every x
static void the_wrench_along_a_hanging_rod_is_its_weight(void **state) {
    (void)state;
    static const char text[] =
        "sinew: 1\n"
        "robot: {rope: {on: world, pose: {rpy: [0, 90 deg, 0]}, rod: {length: 2 m, section: "
        "{stiffness: {bend_y: 1 N*m^2}, inertia: {shear_y: 3 kg/m, shear_z: 3 kg/m, stretch: 3 "
        "kg/m}}, strain: {bend_y: legendre 3}}}}\n";
    snw_robot *r = opened(text);
    for (int k = 0; k <= 20; k++) {
        double F[6];
        const double x = 0.1 * k;
        assert_int_equal(snw_robot_wrench(r, 0, x, F), SNW_OK);
        for (int i = 0; i < 6; i++) assert_near(F[i], i == 3 ? 3 * 9.81 * (2 - x) : 0, 1e-12);
    }
    snw_robot_close(r);
}

// ---- derivatives --------------------------------------------------------------------------------

// Sixth-order differences, e = 1e-2: an error of 1e-12 times the seventh derivative over 140, and
// rounding over e.
enum { POINTS = 6 };
static const double E = 1e-2;
static const double offsets[POINTS] = {-3, -2, -1, 1, 2, 3};
static const double weights[POINTS] = {-1. / 60, 9. / 60, -45. / 60, 45. / 60, -9. / 60, 1. / 60};

// twist of a pose with derivative d, in the axes asked for
static void twist_from(const double *pose, const double *d, snw_axes axes, double *out) {
    double W[3][3] = {{0}}, V[3] = {0}; // body: R' dR, R' dp; world: dR R', dp
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) {
                W[i][j] += axes == SNW_AXES_BODY ? pose[4 * i + k] * d[4 * j + k]
                                                 : d[4 * k + i] * pose[4 * k + j];
            }
            if (axes == SNW_AXES_BODY) V[i] += pose[4 * i + j] * d[12 + j];
        }
        if (axes == SNW_AXES_WORLD) V[i] = d[12 + i];
        out[3 + i] = V[i];
    }
    out[0] = W[2][1], out[1] = W[0][2], out[2] = W[1][0];
}

// state of r <- that of `at`, moved by e dx, with velocities v + e a, at time t + e dt
static void move_to(snw_robot *r, snw_robot *at, double e, const double *dx, double dt,
                    bool motion) {
    const int nv = snw_robot_nv(r);
    double *step = calloc((size_t)nv, sizeof *step);
    memcpy(snw_robot_q(r), snw_robot_q(at), (size_t)snw_robot_nq(r) * sizeof(double));
    for (int i = 0; i < nv; i++) {
        step[i] = e * dx[i];
        snw_robot_a(r)[i] = snw_robot_a(at)[i];
        snw_robot_v(r)[i] = snw_robot_v(at)[i] + (motion ? e * snw_robot_a(at)[i] : 0);
    }
    assert_int_equal(snw_robot_move(r, step), SNW_OK);
    assert_int_equal(snw_robot_set_time(r, snw_robot_time(at) + e * dt), SNW_OK);
    free(step);
}

static void jacobians_are_derivatives_of_poses(void **state) {
    (void)state;
    snw_robot *r = moving(), *moved = opened_tree();
    const int nv = snw_robot_nv(r);
    double *J = calloc(6 * (size_t)nv, sizeof *J), *dx = calloc((size_t)nv, sizeof *dx);
    for (int k = 0; k < PLACES; k++) {
        for (int axes = 0; axes < 2; axes++) {
            double pose[16], beside_pose[16], want[6];
            const snw_place at = place(r, k);
            assert_int_equal(snw_robot_jacobian(r, at, (snw_axes)axes, J, NULL), SNW_OK);
            assert_int_equal(snw_robot_pose(r, at, pose), SNW_OK);
            for (int j = 0; j < nv; j++) {
                double d[16] = {0};
                for (int i = 0; i < nv; i++) dx[i] = i == j;
                for (int p = 0; p < POINTS; p++) {
                    move_to(moved, r, E * offsets[p], dx, 0, false);
                    assert_int_equal(snw_robot_pose(moved, at, beside_pose), SNW_OK);
                    for (int i = 0; i < 16; i++) d[i] += weights[p] / E * beside_pose[i];
                }
                twist_from(pose, d, (snw_axes)axes, want);
                for (int i = 0; i < 6; i++) assert_near(J[6 * j + i], want[i], 1e-11);
            }
        }
    }
    free(J);
    free(dx);
    snw_robot_close(r);
    snw_robot_close(moved);
}

static void rates_are_derivatives_along_the_motion(void **state) {
    (void)state;
    snw_robot *r = moving(), *moved = opened_tree();
    const int nv = snw_robot_nv(r);
    const size_t size = 6 * (size_t)nv;
    double *J = calloc(size, sizeof *J), *dJ = calloc(size, sizeof *J),
           *d = calloc(size, sizeof *J);
    for (int k = 0; k < PLACES; k++) {
        for (int a = 0; a < 2; a++) {
            const snw_place at = place(r, k);
            const snw_axes axes = (snw_axes)a;
            double V[6], A[6], dV[6] = {0}, pose[16], dpose[16] = {0}, twist[6], want[6];
            memset(d, 0, size * sizeof *d);
            for (int p = 0; p < POINTS; p++) {
                move_to(moved, r, E * offsets[p], snw_robot_v(r), 1, true);
                const double w = weights[p] / E;
                assert_int_equal(snw_robot_jacobian(moved, at, axes, J, NULL), SNW_OK);
                assert_int_equal(snw_robot_twist(moved, at, axes, V), SNW_OK);
                assert_int_equal(snw_robot_pose(moved, at, pose), SNW_OK);
                for (size_t i = 0; i < size; i++) d[i] += w * J[i];
                for (int i = 0; i < 6; i++) dV[i] += w * V[i];
                for (int i = 0; i < 16; i++) dpose[i] += w * pose[i];
            }
            assert_int_equal(snw_robot_jacobian(r, at, axes, J, dJ), SNW_OK);
            assert_int_equal(snw_robot_twist(r, at, axes, twist), SNW_OK);
            assert_int_equal(snw_robot_acceleration(r, at, axes, A), SNW_OK);
            assert_int_equal(snw_robot_pose(r, at, pose), SNW_OK);
            twist_from(pose, dpose, axes, want);
            for (size_t i = 0; i < size; i++) assert_near(dJ[i], d[i], 1e-10);
            for (int i = 0; i < 6; i++) {
                assert_near(twist[i], want[i], 1e-10);
                assert_near(A[i], dV[i], 1e-9);
            }
        }
    }
    free(J);
    free(dJ);
    free(d);
    snw_robot_close(r);
    snw_robot_close(moved);
}

// without laws of motion: V = J v, A = J a + dJ v
static void twist_and_acceleration_follow_from_the_jacobian(void **state) {
    (void)state;
    snw_robot *r = moving();
    const int nv = snw_robot_nv(r);
    double *J = calloc(6 * (size_t)nv, sizeof *J), *dJ = calloc(6 * (size_t)nv, sizeof *dJ);
    for (int axes = 0; axes < 2; axes++) {
        const snw_place at = section(r, "upper", 0.37); // the lower rod has a given twist
        double V[6], A[6];
        assert_int_equal(snw_robot_jacobian(r, at, (snw_axes)axes, J, dJ), SNW_OK);
        assert_int_equal(snw_robot_twist(r, at, (snw_axes)axes, V), SNW_OK);
        assert_int_equal(snw_robot_acceleration(r, at, (snw_axes)axes, A), SNW_OK);
        for (int i = 0; i < 6; i++) {
            double v = 0, a = 0;
            for (int j = 0; j < nv; j++) {
                v += J[6 * j + i] * snw_robot_v(r)[j];
                a += J[6 * j + i] * snw_robot_a(r)[j] + dJ[6 * j + i] * snw_robot_v(r)[j];
            }
            assert_near(V[i], v, 1e-13);
            assert_near(A[i], a, 1e-12);
        }
    }
    free(J);
    free(dJ);
    snw_robot_close(r);
}

static void all_poses_are_those_of_the_nodes(void **state) {
    (void)state;
    snw_robot *r = moving();
    const int n = snw_robot_nodes(r);
    double *all = calloc(16 * (size_t)n, sizeof *all), one[16], p[3];
    assert_int_equal(snw_robot_poses(r, all), SNW_OK);
    for (int i = 0; i < n; i++) {
        assert_int_equal(snw_robot_pose(r, (snw_place){SNW_PLACE_NODE, i, 0}, one), SNW_OK);
        assert_int_equal(snw_robot_node(r, i, p), SNW_OK);
        for (int k = 0; k < 16; k++) assert_near(all[16 * i + k], one[k], 1e-15);
        for (int k = 0; k < 3; k++) assert_near(one[12 + k], p[k], 1e-15);
    }
    free(all);
    snw_robot_close(r);
}

static void kinematics_allocate_nothing(void **state) {
    (void)state;
    snw_robot *r = moving();
    double *J = calloc(12 * (size_t)snw_robot_nv(r), sizeof *J), x[16];
    snw_place at[PLACES];
    for (int k = 0; k < PLACES; k++) at[k] = place(r, k);
    const long before = heap_calls;
    bool good = true;
    for (int k = 0; k < PLACES; k++) {
        good &= snw_robot_pose(r, at[k], x) == SNW_OK;
        good &= snw_robot_twist(r, at[k], SNW_AXES_WORLD, x) == SNW_OK;
        good &= snw_robot_acceleration(r, at[k], SNW_AXES_BODY, x) == SNW_OK;
        good &= snw_robot_jacobian(r, at[k], SNW_AXES_WORLD, J, J + 6 * snw_robot_nv(r)) == SNW_OK;
    }
    good &= snw_robot_strain(r, 0, 0.1, x) == SNW_OK && snw_robot_wrench(r, 0, 0.1, x) == SNW_OK;
    const long after = heap_calls;
    assert_true(good);
    assert_int_equal(after, before);
    free(J);
    snw_robot_close(r);
}

static void assert_refused(const snw_robot *r, snw_status s, const char *name) {
    assert_int_equal(s, SNW_E_ARGUMENT);
    if (!strstr(snw_robot_error(r)->text, name))
        fail_msg("'%s' does not name '%s'", snw_robot_error(r)->text, name);
}

static void bad_places_are_refused(void **state) {
    (void)state;
    snw_robot *r = moving();
    double x[16], *J = calloc(6 * (size_t)snw_robot_nv(r), sizeof *J);
    snw_place at;
    const snw_place good = {SNW_PLACE_NODE, 0, 0};
    assert_refused(r, snw_robot_find_place(r, "nothing", &at), "nothing");
    assert_refused(r, snw_robot_find_place(r, "wheel.tip", &at), "wheel.tip");
    assert_refused(r, snw_robot_find_place(r, NULL, &at), "name");
    assert_refused(r, snw_robot_pose(r, (snw_place){SNW_PLACE_NODE, -1, 0}, x), "node");
    assert_refused(r, snw_robot_pose(r, (snw_place){SNW_PLACE_NODE, 100000, 0}, x), "node");
    assert_refused(r, snw_robot_pose(r, (snw_place){SNW_PLACE_SITE, 1, 0}, x), "site");
    assert_refused(r, snw_robot_pose(r, (snw_place){SNW_PLACE_ROD, 3, 0}, x), "rod");
    assert_refused(r, snw_robot_pose(r, (snw_place){SNW_PLACE_ROD, 0, -0.1}, x), "x = ");
    assert_refused(r, snw_robot_pose(r, (snw_place){SNW_PLACE_ROD, 0, 0.6}, x), "x = ");
    assert_refused(r, snw_robot_pose(r, (snw_place){SNW_PLACE_ROD, 0, NAN}, x), "x = ");
    assert_refused(r, snw_robot_pose(r, (snw_place){(snw_place_kind)7, 0, 0}, x), "kind");
    assert_refused(r, snw_robot_pose(r, good, NULL), "pose");
    assert_refused(r, snw_robot_poses(r, NULL), "poses");
    assert_refused(r, snw_robot_twist(r, good, (snw_axes)2, x), "axes");
    assert_refused(r, snw_robot_twist(r, good, SNW_AXES_BODY, NULL), "twist");
    assert_refused(r, snw_robot_acceleration(r, good, SNW_AXES_BODY, NULL), "acceleration");
    assert_refused(r, snw_robot_jacobian(r, good, SNW_AXES_BODY, NULL, NULL), "J");
    assert_refused(r, snw_robot_strain(r, -1, 0, x), "rod");
    assert_refused(r, snw_robot_strain(r, 0, 0, NULL), "strain");
    assert_refused(r, snw_robot_wrench(r, 0, 7, x), "x = ");
    assert_refused(r, snw_robot_wrench(r, 0, 0, NULL), "wrench");
    assert_int_equal(snw_robot_pose(NULL, good, x), SNW_E_ARGUMENT);
    snw_robot_v(r)[0] = NAN;
    assert_refused(r, snw_robot_jacobian(r, good, SNW_AXES_BODY, J, NULL), "v[0]");
    free(J);
    snw_robot_close(r);
}

// a rod that slides through a loop is two rods, and its tip that of the second
static void the_tip_of_a_sliding_rod_is_beyond_the_loop(void **state) {
    (void)state;
    const char text[] =
        "sinew: 1\nmaterials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
        "robot: {arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 1 cm}}, material: "
        "rubber, strain: {bend_z: legendre 2}}}}\n"
        "loops: {eye: {join: [world, arm@60%], as: spherical, pose: {xyz: [0.6, 0, 0]}, slides: "
        "on}}\n";
    snw_robot *r = opened(text);
    const char *names[] = {"arm.root", "arm.tip", "arm"};
    for (int i = 0; i < 3; i++) {
        double pose[16];
        assert_int_equal(snw_robot_pose(r, place_of(r, names[i]), pose), SNW_OK);
        assert_near(pose[12], i > 0, 1e-14);
    }
    snw_robot_close(r);
}

int main(void) {
    count_heap_calls();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tip_of_a_sliding_rod_is_beyond_the_loop),
        cmocka_unit_test(probes_agree),
        cmocka_unit_test(strains_and_wrenches_are_those_of_probes),
        cmocka_unit_test(the_wrench_along_a_hanging_rod_is_its_weight),
        cmocka_unit_test(jacobians_are_derivatives_of_poses),
        cmocka_unit_test(rates_are_derivatives_along_the_motion),
        cmocka_unit_test(twist_and_acceleration_follow_from_the_jacobian),
        cmocka_unit_test(all_poses_are_those_of_the_nodes),
        cmocka_unit_test(kinematics_allocate_nothing),
        cmocka_unit_test(bad_places_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
